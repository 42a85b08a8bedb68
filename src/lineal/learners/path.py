"""A whole regularisation path: one learner at many strengths, each point certified."""

from __future__ import annotations

import copy
import numbers
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.cancellation import cancellable, nothing_done
from lineal.errors import InputError, LinealError, NotCertifiedWarning, ParameterError
from lineal.learners.classifier import BaseLinearClassifier
from lineal.learners.model import LinearModel
from lineal.learners.path_plot import draw
from lineal.learners.regressor import BaseLinearRegressor
from lineal.model.answers import winners
from lineal.objective import Certificate, Penalty
from lineal.objective.linear_maps import LinearMap, without_zeros
from lineal.objective.losses import FloatArray
from lineal.objective.strengths import largest_strength
from lineal.solvers import Solution, Start
from lineal.solvers.condensed import condense


def path(
    learner: LinearModel,
    X: Any,
    y: ArrayLike,
    *,
    strengths: ArrayLike | None = None,
    n_strengths: int = 30,
    ratio: float = 1e-3,
    sample_weight: ArrayLike | None = None,
    X_test: Any = None,
    y_test: ArrayLike | None = None,
) -> Path:
    """Fits a learner at many strengths of its penalty, from the strongest down.

    Data are checked and the problem is posed once; each point starts from the solution before it, and each
    has its own certificate, at the learner's ``tol``. A point is what ``fit`` would give at that strength, up
    to ``tol``.

    Parameters
    ----------
    learner : LinearClassifier, LinearRegressor or a preset with a penalty
        It is not changed, and its own strength plays no part. Its options hold at every point: ``tol``,
        ``solver``, and its budgets, which are budgets of one point.
    X, y, sample_weight
        The training data, as for ``fit``.
    strengths : numbers > 0, optional
        Strengths of the penalty as :class:`lineal.objective.Problem` states it, whatever the learner's
        dialect: ``1 / C``, ``alpha``, or ``alpha`` times the sum of weights where losses are averaged
        (``Lasso``, ``ElasticNet``, ``QuantileRegressor``, the ``SGD`` presets); for an elastic net l1 + l2,
        whose ratio stays. In any order: they are taken from the largest down, each once.
    n_strengths, ratio
        Without ``strengths``: so many, evenly on a logarithmic scale, from the strength at which all weights
        are 0 (L1, elastic net, groups) or the constant model is within 1 % of the optimum (L2, Lp), down to
        ``ratio`` times that.
    X_test, y_test : optional
        Data to score the points on: accuracy for classifiers, R^2 for regressors.

    Returns
    -------
    Path

    Notes
    -----
    Ctrl-C ends the path after the present epoch and returns the points that are done; before the first one
    is done, and at the second Ctrl-C, ``KeyboardInterrupt`` is raised.

    Examples
    --------
    >>> import numpy as np
    >>> from lineal import Lasso, path
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 8))
    >>> y = 3 * X[:, 2] - X[:, 5] + rng.normal(size=90)
    >>> points = path(Lasso(), X[:60], y[:60], n_strengths=5, X_test=X[60:], y_test=y[60:])
    >>> points.n_nonzero
    array([0, 2, 3, 7, 8])
    >>> model = points.model(points.best())
    >>> model.coef_.nonzero()[0]
    array([1, 2, 5])
    """
    penalty = _penalty(learner)
    given = None if strengths is None else _decreasing(strengths)
    _check_grid(n_strengths, ratio)
    if (X_test is None) != (y_test is None):
        raise ParameterError("a test set needs both X_test and y_test, got one of them.")
    template: LinearModel = type(learner)(**learner.get_params(deep=False))
    task = template._task(X, y, sample_weight)
    if (rows := task.problem.X.native_rows) is not None and rows is task.problem.X:
        task = replace(task, problem=replace(task.problem, X=rows.keeping_columns()))
    problem = task.problem.in_core()
    judges = {"train": _Judge(problem.X, task.targets, task.s)}
    if X_test is not None:
        judges["test"] = _Judge.of(template, X_test, y_test)
    if given is None:
        top = largest_strength(problem)
        if not 0 < top < np.inf:
            raise InputError(
                "the weights are 0 at every strength, because the constant model has nothing to gain: "
                "check y, or pass strengths=."
            )
        given = np.geomspace(top, ratio * top, int(n_strengths))
    is_sparse = penalty.has_corners or penalty.has_groups
    few = condense(problem, len(given))
    points: list[_Point] = []
    latest: list[tuple[float, Start]] = []
    moves_on_lines = is_sparse and problem.losses.has_array_duals
    with cancellable() as token:
        for strength in given.tolist():
            option = template._strength_option(strength, problem.losses.total_weight)
            model = copy.copy(template)
            for name, value in option.items():
                setattr(model, name, value)
            posed = replace(problem, penalty=problem.penalty.at_strength(strength))
            at = few.at(posed.penalty) if few else posed
            begin = latest[-1][1] if latest else None
            if len(latest) == 2 and moves_on_lines:
                (first, before), (second, start) = latest
                begin = start.beyond(before, min(1.0, (strength - second) / (second - first)), at)
            found = solution = model._solve(at, begin)
            if few is not None:
                solution = few.solution(found, model._tolerance)
                if found.certificate.converged and not solution.certificate.converged:
                    # Rounding of products is in the way: with all rows from here on.
                    few, latest = None, []
                    found = solution = model._solve(posed, Start(solution.W, solution.b))
            if token.is_over and not solution.certificate.converged:
                break
            model._learn(replace(task, problem=posed), solution)
            scores = {name: judge.score(model, solution) for name, judge in judges.items() if name == "test"}
            if few is not None and found.Z is not None and isinstance(model, BaseLinearRegressor):
                scores["train"] = _share_explained(*few.unexplained(found.Z))
            else:
                scores["train"] = judges["train"].score(model, solution, solution.Z)
            points.append(_Point.of(model, strength, option, scores, is_sparse))
            latest = [*latest[-1:], (strength, found.as_start())]
            if token.is_over:
                break
    if not points:
        raise nothing_done()
    result = Path(tuple(points), len(given))
    result._warn_unless_certified()
    return result


# ---- what may be asked ----------------------------------------------------------------------------


def _penalty(learner: Any) -> Penalty:
    """The learner's penalty, if it has a strength to vary."""
    if not isinstance(learner, (BaseLinearClassifier, BaseLinearRegressor)):
        raise ParameterError(
            f"path needs a learner such as LinearClassifier(penalty=L1(1.0)) or Lasso(), got {learner!r}."
        )
    learner._check_options()
    _, penalty = learner._objective(1.0, 2)
    if penalty.is_zero:
        raise ParameterError(
            f"path varies the strength of a penalty, and {learner!r} has none: use a learner with an L1, L2, "
            "Lp, group or elastic-net penalty, such as LogisticRegression(penalty='l1') or Ridge()."
        )
    if getattr(learner, "probability", False):
        raise ParameterError(
            "path does not calibrate probabilities: use probability=False, and fit the chosen strength with "
            "probability=True."
        )
    return penalty


def _decreasing(strengths: ArrayLike) -> FloatArray:
    """Strengths from the largest down, each once."""
    try:
        values = np.asarray(strengths, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"strengths must be numbers > 0: {error}.") from error
    if values.ndim != 1 or values.size == 0:
        raise ParameterError(
            f"strengths must be a sequence of at least one number, got an array of shape {values.shape}."
        )
    bad = ~(np.isfinite(values) & (values > 0))
    if bad.any():
        raise ParameterError(
            f"strengths must be finite and > 0, got {values[bad][0]} at place {int(np.flatnonzero(bad)[0])}."
        )
    return np.unique(values)[::-1]


def _check_grid(n_strengths: int, ratio: float) -> None:
    if not isinstance(n_strengths, numbers.Integral) or n_strengths < 1:
        raise ParameterError(f"n_strengths must be a whole number >= 1, got {n_strengths!r}.")
    if not isinstance(ratio, numbers.Real) or not 0 < float(ratio) < 1:
        raise ParameterError(f"ratio must lie between 0 and 1, got {ratio!r}.")


# ---- one point ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Judge:
    """Scores models on one set of data, whose rows are built once."""

    rows: LinearMap
    targets: NDArray[Any]
    s: FloatArray

    @classmethod
    def of(cls, template: LinearModel, X: Any, y: Any) -> _Judge:
        try:
            rows = template._rows(X, reset=False)
            if isinstance(template, BaseLinearClassifier):
                return cls(rows, template._labels(y, rows.n_rows), np.ones(rows.n_rows))
            assert isinstance(template, BaseLinearRegressor)
            return cls(rows, template._targets(y, rows.n_rows), np.ones(rows.n_rows))
        except LinealError as error:
            raise type(error)(f"in the test set: {error}") from error

    def score(self, model: LinearModel, solution: Solution, Z: FloatArray | None = None) -> float:
        """What ``model.score`` gives: accuracy or R^2, with the rows' weights; Z, if the scores are known."""
        Z = self.rows.dot(solution.W) + solution.b if Z is None else Z
        if isinstance(model, BaseLinearClassifier):
            is_right = model.classes_[winners(Z)] == self.targets
            return float(np.average(is_right, weights=self.s))
        return _determination(np.asarray(self.targets, dtype=np.float64).reshape(len(Z), -1), Z, self.s)


def _determination(targets: FloatArray, Z: FloatArray, s: FloatArray) -> float:
    """R^2, the mean over outputs: scikit-learn's ``r2_score`` less its checks, which cost a fit."""
    if len(targets) < 2:
        return float("nan")
    left = s @ np.square(targets - Z)
    return _share_explained(left, s @ np.square(targets - np.average(targets, axis=0, weights=s)))


def _share_explained(left: FloatArray, whole: FloatArray) -> float:
    """R^2 from the squares that are left of each output and those about its mean."""
    share = np.divide(left, whole, out=(left > 0).astype(np.float64), where=whole > 0)
    return float(np.mean(1 - share))


@dataclass(frozen=True)
class _Point:
    """A fitted model, its weights kept apart: where many are 0 those that are not, with their places."""

    strength: float
    option: dict[str, Any]
    shell: LinearModel
    weights: FloatArray
    places: NDArray[np.intp] | None  # in a raveled (K, d); None where all are kept
    shape: tuple[int, ...]
    intercept: FloatArray
    scores: dict[str, float]

    @classmethod
    def of(
        cls,
        model: LinearModel,
        strength: float,
        option: dict[str, Any],
        scores: dict[str, float],
        is_sparse: bool,
    ) -> _Point:
        coef, shape = np.ravel(model.coef_), model.coef_.shape
        del model.coef_, model.dual_  # n numbers a point, which nothing but a proof needs
        places = np.flatnonzero(coef) if is_sparse else None
        kept = np.array(coef if places is None else coef[places])
        return cls(strength, option, model, kept, places, shape, np.atleast_1d(model.intercept_), scores)

    @property
    def n_nonzero(self) -> int:
        """How many weights are not 0."""
        return int(np.count_nonzero(self.weights))

    @property
    def dense(self) -> FloatArray:
        """(K, d), the caller's own."""
        every = self.weights
        if self.places is not None:
            every = np.zeros(int(np.prod(self.shape)), dtype=every.dtype)
            every[self.places] = self.weights
        return np.array(np.atleast_2d(every.reshape(self.shape)))

    @cached_property
    def coef(self) -> Any:
        """(K, d): a SciPy CSR array where many are 0, made when it is first asked for."""
        return self.dense if self.places is None else without_zeros(self.dense)

    def model(self) -> LinearModel:
        """A fitted learner of its own."""
        model = copy.copy(self.shell)
        model.coef_ = self.dense.reshape(self.shape)
        return model


# ---- the result -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Path:
    """The points of a path, from the largest strength down; ``print`` shows them as a table.

    The weights are kept as SciPy CSR arrays where the penalty sets some to 0 and as NumPy arrays otherwise,
    so that a long path over many columns costs what is not 0. The dual points of the certificates, n numbers
    for each point and output, are not kept.
    """

    _points: tuple[_Point, ...]
    _n_asked: int

    def __len__(self) -> int:
        return len(self._points)

    @property
    def strengths(self) -> FloatArray:
        """(n,) strengths of the penalty, decreasing."""
        return np.array([point.strength for point in self._points])

    @property
    def coefs(self) -> list[Any]:
        """n arrays of shape (K, d), sparse or dense; ``coef_array`` has them as one."""
        return [point.coef for point in self._points]

    def coef_array(self) -> FloatArray:
        """(n, K, d): all weights as one dense array."""
        return np.stack([point.dense for point in self._points])

    @property
    def intercepts(self) -> FloatArray:
        """(n, K)."""
        return np.stack([point.intercept for point in self._points])

    @property
    def certificates(self) -> list[Certificate]:
        """What was proved at each point."""
        return [point.shell.certificate_ for point in self._points]

    @property
    def n_nonzero(self) -> NDArray[np.int64]:
        """(n,) how many weights are not 0, over all outputs."""
        return np.array([point.n_nonzero for point in self._points])

    @property
    def seconds(self) -> FloatArray:
        """(n,) time of each fit."""
        return np.array([certificate.seconds for certificate in self.certificates])

    @property
    def train_scores(self) -> FloatArray:
        """(n,) accuracy or R^2 on the training data, with their weights."""
        return np.array([point.scores["train"] for point in self._points])

    @property
    def test_scores(self) -> FloatArray | None:
        """(n,) accuracy or R^2 on the test set, if there was one."""
        if "test" not in self._points[0].scores:
            return None
        return np.array([point.scores["test"] for point in self._points])

    @property
    def is_complete(self) -> bool:
        """False if Ctrl-C ended the path early."""
        return len(self) == self._n_asked

    def best(self) -> int:
        """The place of the best test score; among equals the strongest penalty, so the simplest model."""
        if self.test_scores is None:
            raise ParameterError(
                "the best point needs a test set, because the training data prefer the weakest penalty: "
                "call path(..., X_test=, y_test=)."
            )
        return int(np.argmax(self.test_scores))

    def model(self, i: int) -> LinearModel:
        """The learner at point i, fitted: it predicts, and its options say the strength."""
        return self._points[i].model()

    def _warn_unless_certified(self) -> None:
        failed = [point for point in self._points if not point.shell.certificate_.converged]
        if failed:
            first = failed[0]
            message = (
                f"{len(failed)} of {len(self)} points of the path are not certified, first at strength "
                f"{first.strength:.4g}: {first.shell.certificate_}."
            )
            warnings.warn(message, NotCertifiedWarning, stacklevel=3)

    def weight_name(self, place: int) -> str:
        """The name of a weight by its place in a raveled (K, d): its column's, and its output's if K > 1."""
        shell, (K, d) = self._points[0].shell, self.coefs[0].shape
        output, column = divmod(place, d)
        names = getattr(shell, "feature_names_", getattr(shell, "feature_names_in_", None))
        name = f"x{column}" if names is None else str(names[column])
        if K == 1:
            return name
        return f"{name} ({shell.classes_[output] if isinstance(shell, BaseLinearClassifier) else output})"

    # ---- for people ---------------------------------------------------------------------------

    @property
    def score_name(self) -> str:
        """What the scores are."""
        return "accuracy" if isinstance(self._points[0].shell, BaseLinearClassifier) else "R²"

    def __repr__(self) -> str:
        return f"<Path of {type(self._points[0].shell).__name__}: {len(self)} strengths>"

    def __str__(self) -> str:
        best = self.best() if self.test_scores is not None else None
        header, lines = self._table()
        marked = [
            f"{'→' if i == best else ' '} {line}{'  best' if i == best else ''}"
            for i, line in enumerate(lines)
        ]
        return "\n".join([self._title(), "", f"  {header}", *marked])

    def _title(self) -> str:
        n_failed = sum(not certificate.converged for certificate in self.certificates)
        shell = self._points[0].shell
        proof = "all" if n_failed == 0 else f"{len(self) - n_failed} of them"
        end = "" if self.is_complete else f"; stopped by Ctrl-C after {len(self)} of {self._n_asked}"
        return (
            f"{type(shell).__name__}: {len(self)} strengths, {proof} certified to {shell._tolerance:.0e}, "
            f"{self.seconds.sum():.2g} s{end}"
        )

    def _table(self) -> tuple[str, list[str]]:
        """The header and a line for each point; a preset's own parameter stands beside the strength."""
        columns: list[tuple[str, list[str]]] = [("strength", [f"{s:.4g}" for s in self.strengths])]
        (option,) = self._points[0].option
        if option != "penalty":
            columns.append((option, [f"{point.option[option]:.4g}" for point in self._points]))
        columns.append(("weights", [f"{count:,}" for count in self.n_nonzero]))
        scores = {"train": self.train_scores, "test": self.test_scores}
        for name, values in scores.items():
            if values is not None:
                columns.append((f"{name} {self.score_name}", [f"{value:.4f}" for value in values]))
        columns.append(
            (
                "gap",
                [f"{max(c.relative_gap, 0.0):.0e}{'' if c.converged else ' !'}" for c in self.certificates],
            )
        )
        columns.append(("seconds", [f"{seconds:.3f}" for seconds in self.seconds]))
        widths = [max(len(name), *map(len, cells)) for name, cells in columns]
        header = "  ".join(name.rjust(width) for (name, _), width in zip(columns, widths, strict=True))
        rows = zip(*(cells for _, cells in columns), strict=True)
        lines = ["  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in rows]
        return header, lines

    def plot(self, ax: Any = None) -> Any:
        """Weights against the strength, on a logarithmic axis, and the scores below.

        Draws at most 300 weights, those that grow largest, and names the 20 largest. The penalty weakens from
        left to right. The title says how far from the optimum the points are at most; those that are not
        certified are crossed.

        Parameters
        ----------
        ax : matplotlib Axes, or a pair of them, optional
            One is for the weights alone, a pair for weights and scores; a new figure if not given.

        Returns
        -------
        The axes that were drawn on, as a list.
        """
        return draw(self, ax)
