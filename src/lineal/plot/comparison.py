"""Several solvers on one problem: who certifies which gap when."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.cancellation import cancellable
from lineal.errors import LinealError, ParameterError
from lineal.learners.model import LinearModel
from lineal.objective import Certificate, Problem
from lineal.objective.losses import FloatArray
from lineal.plot.choice import Choice, chosen_plans, pose, positive, whole
from lineal.plot.comparison_picture import draw
from lineal.solvers import Budget, Iterate, Plan, Progress, Solver, Start, minimise

# The gaps of the table, as far as the comparison asked for them.
_GAPS = (1e-1, 1e-3, 1e-6)
# A certificate is asked for each time the epochs have grown by this share: all of the first 40, and then so
# few that certifying does not eat the budget.
_STRIDE = 0.05


def compare_solvers(
    learner: LinearModel,
    X: Any,
    y: ArrayLike,
    *,
    solvers: Choice | None = None,
    tol: float = 1e-6,
    max_seconds: float = 10.0,
    max_epochs: int | None = None,
    sample_weight: ArrayLike | None = None,
) -> Comparison:
    """Runs several solvers on what a learner minimises, and keeps how far each was when.

    Data are checked and the problem is posed once; every solver starts from 0.

    Parameters
    ----------
    learner : LinearClassifier, LinearRegressor or a preset
        Says what is minimised. It is not changed, and its own solver, tolerance and budgets play no part.
    X, y, sample_weight
        The training data, as for ``fit``.
    solvers : list of names or Solver objects, or dict of label to either, optional
        ``"auto"`` is the planner's choice. Not given: every solver that takes the problem; the others are in
        ``refused`` with their reasons.
    tol : float
        The relative gap at which a solver is done.
    max_seconds, max_epochs
        The budget of each solver, certificates included.

    Returns
    -------
    Comparison

    Notes
    -----
    Ctrl-C ends the comparison after the present epoch and returns what there is, ``is_complete`` being False.

    Examples
    --------
    >>> import numpy as np
    >>> from lineal import LogisticRegression
    >>> from lineal.plot import compare_solvers
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3))
    >>> y = X[:, 0] + rng.normal(size=100) > 0
    >>> result = compare_solvers(LogisticRegression(), X, y, solvers=["gd", "newton"], tol=1e-4)
    >>> result.first_at(1e-4, by="epochs")
    'newton'
    """
    tol, seconds = (
        positive("compare_solvers", "tol", tol),
        positive("compare_solvers", "max_seconds", max_seconds),
    )
    limit = None if max_epochs is None else whole("compare_solvers", "max_epochs", max_epochs)
    reader, problem = pose("compare_solvers", learner, X, y, sample_weight)
    plans, refused = chosen_plans(problem, solvers)
    # The first to run would pay for the first touch of the data.
    problem.pull(problem.losses.slopes(np.zeros(problem.losses.shape)))
    seed = reader._seed()  # one for all, also where a generator draws it
    traces: list[SolverTrace] = []
    with cancellable() as token:
        for label, plan in plans.items():
            try:
                traces.append(_run(label, problem, plan, tol, Budget(seconds, limit), seed))
            except LinealError as error:
                # A solver that looks at the numbers first, such as one that needs counts.
                if solvers is not None:
                    raise
                refused[label] = str(error)
            if token.is_over:
                break
    title = f"{type(learner).__name__}, {problem.X.n_rows:,} rows, {problem.X.n_columns:,} columns"
    is_complete = len(traces) + sum(label in refused for label in plans) == len(plans)
    return Comparison(tuple(traces), refused, tol, title, is_complete and not token.is_over)


# ---- one run --------------------------------------------------------------------------------------


@dataclass
class _Stopwatch:
    """A solver's own time at each of its epochs, without what certifying took.

    Attributes
    ----------
    seconds, yielded
        For each epoch: the solver's own time so far, and when it ended on the clock.
    """

    used: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    yielded: list[float] = field(default_factory=list)
    due: int = 1

    def stop(self, began: float) -> None:
        """An epoch ends that began then."""
        now = time.perf_counter()
        self.seconds.append((self.seconds[-1] if self.seconds else 0.0) + now - began)
        self.yielded.append(now)

    def asking(self, iterate: Iterate) -> Iterate:
        """The iterate, with the wish for a certificate where the next one is due."""
        epoch = len(self.seconds)
        if epoch < self.due:
            return iterate
        self.due = epoch + max(1, int(_STRIDE * epoch))
        return replace(iterate, expected_gap=None)


@dataclass(frozen=True)
class _Timed(Solver):
    """Another solver, timed."""

    solver: Solver
    watch: _Stopwatch

    name = "timed"

    def refusal(self, problem: Problem) -> str | None:
        return self.solver.refusal(problem)

    def iterates(self, problem: Problem, start: Start | None, tol: float, seed: int) -> Iterator[Iterate]:
        self.watch.used.append(self.solver.name)
        began = time.perf_counter()
        for iterate in self.solver.iterates(problem, start, tol, seed):
            self.watch.stop(began)
            yield self.watch.asking(iterate)
            began = time.perf_counter()


def _run(label: str, problem: Problem, plan: Plan, tol: float, budget: Budget, seed: int) -> SolverTrace:
    watch = _Stopwatch()
    began = time.perf_counter()
    solution = minimise(
        problem, [_Timed(solver, watch) for solver in plan.solvers], tol=tol, budget=budget, seed=seed
    )
    certificate = replace(solution.certificate, solver="+".join(watch.used))
    seconds = [_until(point, watch, began) for point in solution.trace]
    gaps = [problem.relative_gap(point.primal, point.dual) for point in solution.trace]
    return SolverTrace.of(label, solution.trace, seconds, gaps, certificate)


def _until(point: Progress, watch: _Stopwatch, began: float) -> float:
    """The solver's own time up to an epoch, and one certificate there."""
    certifying = began + point.seconds - watch.yielded[point.epoch - 1]
    return watch.seconds[point.epoch - 1] + max(certifying, 0.0)


# ---- the result -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SolverTrace:
    """The certified points of one solver's run: weights and bounds are the best so far.

    Attributes
    ----------
    label : str
    epochs : (m,) array
        Iterates of the solver so far. Most primal solvers count their start as the first.
    seconds : (m,) array
        The solver's own time up to there and one certificate: what a fit takes that stops there. Certificates
        on the way are not counted.
    primal, dual, relative_gap : (m,) arrays
        The best objective, the best bound under every objective, and what ``tol`` is compared with: the
        first falls, the second rises, and once it is >= 0 the third falls too.
    certificate : Certificate
        How the run ended.
    """

    label: str
    epochs: NDArray[np.int64]
    seconds: FloatArray
    primal: FloatArray
    dual: FloatArray
    relative_gap: FloatArray
    certificate: Certificate

    @classmethod
    def of(
        cls,
        label: str,
        points: Sequence[Progress],
        seconds: Sequence[float],
        gaps: Sequence[float],
        certificate: Certificate,
    ) -> SolverTrace:
        """A trace from the points of a run."""
        # One certificate may be slower than the next one and an epoch. The later point is at least as good,
        # so its time holds for the earlier one too.
        falling = np.minimum.accumulate(np.array(seconds, dtype=np.float64)[::-1])[::-1]
        return cls(
            label,
            np.array([point.epoch for point in points], dtype=np.int64),
            falling,
            np.array([point.primal for point in points]),
            np.array([point.dual for point in points]),
            np.array(gaps, dtype=np.float64),
            certificate,
        )

    def first(self, gap: float) -> int | None:
        """The place of the first point whose certified relative gap is at most this, or None."""
        places = np.flatnonzero(self.relative_gap <= gap)
        return int(places[0]) if len(places) else None


@dataclass(frozen=True, eq=False)
class Comparison:
    """The runs of several solvers on one problem; ``print`` shows who was first.

    Attributes
    ----------
    traces : tuple of SolverTrace
        In the order asked for.
    refused : dict
        The solvers that cannot take the problem, each with the reason.
    tol : float
        The relative gap at which a run ended.
    title : str
        The learner and the size of the data.
    is_complete : bool
        False after Ctrl-C.
    """

    traces: tuple[SolverTrace, ...]
    refused: dict[str, str]
    tol: float
    title: str
    is_complete: bool = True

    def __len__(self) -> int:
        return len(self.traces)

    def __getitem__(self, label: str) -> SolverTrace:
        for trace in self.traces:
            if trace.label == label:
                return trace
        raise KeyError(
            f"{label!r} did not run; these did: {', '.join(trace.label for trace in self.traces)}."
        )

    @property
    def bound(self) -> float:
        """The best lower bound that any of the solvers proved: no weights have an objective below it."""
        return max(float(trace.dual.max()) for trace in self.traces)

    def suboptimality(self, label: str) -> FloatArray:
        """(m,) P - the best bound of all: at least what a solver's objective misses, whatever it proved."""
        return self[label].primal - self.bound

    def seconds_to(self, gap: float) -> dict[str, float]:
        """The time in which each solver certified this relative gap; infinite where it did not."""
        return self._to(gap, lambda trace, place: float(trace.seconds[place]))

    def epochs_to(self, gap: float) -> dict[str, float]:
        """The same in epochs."""
        return self._to(gap, lambda trace, place: float(trace.epochs[place]))

    def _to(self, gap: float, cost: Callable[[SolverTrace, int], float]) -> dict[str, float]:
        places = {trace.label: trace.first(gap) for trace in self.traces}
        return {
            label: np.inf if place is None else cost(self[label], place) for label, place in places.items()
        }

    def first_at(self, gap: float, *, by: str = "seconds") -> str | None:
        """Who certified this relative gap first, by ``"seconds"`` or ``"epochs"``; None: nobody."""
        if by not in ("seconds", "epochs"):
            raise ParameterError(f"by must be 'seconds' or 'epochs', got {by!r}.")
        costs = self.seconds_to(gap) if by == "seconds" else self.epochs_to(gap)
        winner = min(costs, key=lambda label: costs[label])
        return winner if costs[winner] < np.inf else None

    def ranking(self) -> list[str]:
        """Labels from the first at the tightest gap to the last; those that missed it by looser ones."""
        gaps = sorted({self.tol, *(gap for gap in _GAPS if gap >= self.tol)})
        costs = [self.seconds_to(gap) for gap in gaps]
        return sorted(
            costs[0],
            key=lambda label: (*(cost[label] for cost in costs), self[label].certificate.relative_gap),
        )

    # ---- for people ---------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"<Comparison of {len(self)} solvers: {self.title}>"

    def __str__(self) -> str:
        return self.table()

    def table(self, gaps: Sequence[float] | None = None) -> str:
        """Seconds and epochs to each gap, an arrow at who was first; the solvers by ``ranking``."""
        if gaps is None:
            gaps = [gap for gap in _GAPS if gap >= self.tol] or [self.tol]
        columns = [("solver", self.ranking())]
        for gap in gaps:
            seconds, epochs, first = self.seconds_to(gap), self.epochs_to(gap), self.first_at(gap)
            cells = [
                f"{'→ ' if label == first else ''}{_brief(seconds[label])} s ({epochs[label]:.0f})"
                if seconds[label] < np.inf
                else "–"
                for label in self.ranking()
            ]
            columns.append((f"gap {gap:.0e}", cells))
        columns.append(("ended at", [_ending(self[label].certificate) for label in self.ranking()]))
        end = "" if self.is_complete else "; stopped by Ctrl-C"
        lines = [f"{self.title}: {len(self)} solvers, time and (epochs) to certified relative gaps{end}", ""]
        lines += _aligned(columns)
        lines += [f"not run: {reason}" for reason in self.refused.values()]
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> list[Any]:
        """Certified gaps and suboptimality against seconds and epochs, on logarithmic axes.

        Parameters
        ----------
        ax : matplotlib Axes, or up to four of them, optional
            They take in turn: gap against seconds, gap against epochs, suboptimality against seconds,
            suboptimality against epochs. Not given: a new figure with all four.

        Returns
        -------
        The axes that were drawn on, as a list.
        """
        return draw(self, ax)


def _brief(seconds: float) -> str:
    return f"{seconds:.2g}" if seconds < 99.5 else f"{seconds:.0f}"


def _ending(certificate: Certificate) -> str:
    reason = "" if certificate.converged else f": {certificate.reason.partition(':')[0]}"
    return f"{max(certificate.relative_gap, 0.0):.0e}{reason}"


def _aligned(columns: list[tuple[str, list[str]]]) -> list[str]:
    """Lines of a table: the first and the last column from the left, the others from the right."""
    last = len(columns) - 1
    filled = []
    for place, (name, cells) in enumerate(columns):
        width = max(len(name), *map(len, cells))
        filled.append([c.ljust(width) if place in (0, last) else c.rjust(width) for c in (name, *cells)])
    return ["  ".join(row).rstrip() for row in zip(*filled, strict=True)]
