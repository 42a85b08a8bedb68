"""What classifier and regressor share: options, data, and the run of a plan."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.data import thread_count
from lineal.errors import NotCertifiedWarning, ParameterError
from lineal.learners.online.model import StreamedModel
from lineal.learners.online.recipe import Recipe, Steps, Strengths
from lineal.learners.progress import GapBar
from lineal.objective import Intercept, Loss, Penalty, Problem
from lineal.objective.linear_maps import LinearMap, native_dense
from lineal.objective.losses import FloatArray
from lineal.solvers import Budget, Plan, Solution, Solver, Start, minimise, plan
from lineal.solvers.driver import Callback

# Kinds of learners, losses, penalties and solvers that were found to go together.
_SUITED: set[tuple[object, ...]] = set()
_MOST_SUITED = 1000


@dataclass(frozen=True)
class Task:
    """Data that were checked, and the problem that they pose to a learner.

    Attributes
    ----------
    problem : Problem
    targets : array
        Labels, or numbers of shape (n,) or (n, K), as they came.
    s : array
        (n,) weights of the rows as they came: without the factors of their classes.
    """

    problem: Problem
    targets: NDArray[Any]
    s: FloatArray


class LinearModel(StreamedModel):
    """What classifier, regressor and presets share: from X, y and options to a certified fit.

    A subclass says what its loss and penalty are (``_objective``), how data become a problem (``_task``)
    and how a solution becomes attributes (``_learn``); everything else happens here.
    """

    _needs_tol: ClassVar[float]
    _n_classes: ClassVar[int] = 0  # that an objective is asked for before there are data

    # Options that presets may not have, with what they mean when absent.
    solver: str | Solver = "auto"
    tol: float | None = None
    fit_intercept: bool = True
    penalize_intercept: bool = False
    max_seconds: float | None = None
    max_epochs: int | None = None
    progress: bool = False
    callbacks: Sequence[Callback] = ()
    _certify_every: int | None = None  # for curves that need every epoch proved; of no use to a model
    warm_start: bool = False

    # ---- what subclasses say ------------------------------------------------------------------

    def _objective(self, total_weight: float, n_classes: int) -> tuple[Loss, Penalty]:
        """The loss and the penalty; ``n_classes`` is 0 for regression."""
        raise NotImplementedError

    def _strength_option(self, strength: float, total_weight: float) -> dict[str, Any]:
        """The option that gives the penalty this strength."""
        raise NotImplementedError

    def _task(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Task:
        """Checks options and data and poses the problem; learns what data alone tell, such as classes."""
        raise NotImplementedError

    _example_loss: ClassVar[str] = "Log()"

    def _epoch_limit(self) -> int | None:
        return self.max_epochs

    def _seconds(self, problem: Problem) -> float | None:
        """How long to look for weights."""
        return self.max_seconds

    def _chosen_solver(self) -> str | Solver:
        return self.solver

    def _plan(self, problem: Problem) -> Plan:
        return plan(problem, self._chosen_solver())

    # ---- options ------------------------------------------------------------------------------

    def set_params(self, **params: Any) -> Self:
        """Sets options; ``penalty__strength=2.0`` replaces the penalty by one of that strength."""
        plain: dict[str, Any] = {}
        inner: dict[str, Any] = {}
        for name, value in params.items():
            owner, _, field = name.partition("__")
            is_inner = field and isinstance(getattr(self, owner, None), (Loss, Penalty))
            (inner if is_inner else plain)[name] = value
        super().set_params(**plain)
        for name, value in inner.items():
            owner, _, field = name.partition("__")
            before = getattr(self, owner)
            if field not in getattr(before, "__dataclass_fields__", ()):
                raise ParameterError(f"{before!r} has no {field!r} to set.")
            setattr(self, owner, replace(before, **{field: value}))
        return self

    @property
    def _tolerance(self) -> float:
        if self.tol is None:
            return self._needs_tol
        if not isinstance(self.tol, numbers.Real) or not self.tol > 0:
            raise ParameterError(f"tol is a relative duality gap and must be > 0, got {self.tol!r}.")
        return float(self.tol)

    def _check_options(self) -> None:
        """Refuses impossible options and pairs before any data are read."""
        _ = self._tolerance, self._seed(), thread_count(self.n_threads)
        seconds, limit = self.max_seconds, self._epoch_limit()
        if seconds is not None and not (isinstance(seconds, numbers.Real) and seconds > 0):
            raise ParameterError(f"max_seconds must be a number > 0 or None, got {seconds!r}.")
        if limit is not None and not (isinstance(limit, numbers.Integral) and limit >= 1):
            raise ParameterError(f"the limit on epochs must be a whole number >= 1 or None, got {limit!r}.")
        if not isinstance(self.callbacks, Iterable) or not all(callable(c) for c in self.callbacks):
            raise ParameterError(f"callbacks must be a sequence of functions, got {self.callbacks!r}.")
        loss, penalty = self._objective(1.0, 2)
        if not isinstance(penalty, Penalty):
            raise ParameterError(
                f"penalty must be a Penalty such as L2(1.0), or a dict of blocks, got {penalty!r}."
            )
        if not isinstance(loss, Loss) or loss.is_joint:
            hint = (
                "; with more than two classes Log(), Hinge() and Perceptron() take their joint form unasked"
            )
            raise ParameterError(
                f"loss must be a loss of one score such as {self._example_loss}, got {loss!r}"
                f"{hint if getattr(loss, 'is_joint', False) else ''}."
            )
        self._require_a_plan(loss, penalty)

    def _require_a_plan(self, loss: Loss, penalty: Penalty) -> None:
        """Refuses a loss, a penalty and a solver that do not go together.

        That does not depend on the data: one row tells, and those of the library need to be asked once.
        """
        asked = (type(self), loss, penalty, self._chosen_solver())
        try:
            if asked in _SUITED:
                return
        except TypeError:  # not hashable, as blocks of columns are
            self._plan(self._smallest(loss, penalty))
            return
        self._plan(self._smallest(loss, penalty))
        is_own = all(type(each).__module__.startswith("lineal.") for each in (self, loss, penalty))
        if is_own and isinstance(asked[-1], str) and len(_SUITED) < _MOST_SUITED:
            _SUITED.add(asked)

    def _recipe(self) -> Recipe:
        self._check_options()
        (loss, one), (_, two) = (self._objective(total, self._n_classes) for total in (1.0, 2.0))
        is_for_intercept = bool(self.fit_intercept and self.penalize_intercept)
        strengths = Strengths.of(one, two, is_for_intercept=is_for_intercept)
        return Recipe(loss, self._joint_name(loss), strengths, Steps(), bool(self.fit_intercept))

    def _joint_name(self, loss: Loss) -> str:
        """What the loss becomes with more than two classes, as streams know it."""
        return ""

    def _smallest(self, loss: Loss, penalty: Penalty) -> Problem:
        """A problem of one row."""
        rows = native_dense(np.zeros((1, 1)), 1)
        return Problem.of_rows(rows, np.ones((1, 1)), np.ones(1), loss, penalty, Intercept.NONE, 1)

    def _posed(
        self, rows: LinearMap, y: NDArray[Any], s: FloatArray, loss: Loss, penalty: Penalty, n_outputs: int
    ) -> Problem:
        """The problem of these rows, the penalty bound to their columns and to the intercept."""
        own = penalty.on_intercept
        if own is not None and not self.fit_intercept:
            raise ParameterError(
                "the penalty has a block 'intercept', but fit_intercept=False: drop one of them."
            )
        intercept = self._intercept(penalty)
        names = getattr(self, "feature_names_in_", None)
        bound = penalty.for_columns(rows.n_columns, None if names is None else list(names))
        if own is not None:
            intercept = Intercept.FREE if own.is_zero else Intercept.PENALIZED
        elif (
            intercept is Intercept.PENALIZED
            and bound is not penalty
            and not bound.is_uniform
            and bound.is_elastic
        ):
            raise ParameterError(
                "penalize_intercept=True says nothing of how, where blocks have penalties of their own: "
                "give a block 'intercept'."
            )
        return Problem.of_rows(
            rows, y, s, loss, bound, intercept, n_outputs, own if intercept is Intercept.PENALIZED else None
        )

    def _intercept(self, penalty: Penalty) -> Intercept:
        if not self.fit_intercept:
            return Intercept.NONE
        # Nothing is penalised by NoPenalty, whatever it is shown.
        penalised = self.penalize_intercept and not penalty.is_zero
        return Intercept.PENALIZED if penalised else Intercept.FREE

    # ---- fitting ------------------------------------------------------------------------------

    def _solve(self, problem: Problem, start: Start | None) -> Solution:
        """Runs the plan."""
        tol = self._tolerance
        self.plan_: Plan = self._plan(problem)
        if start is not None and start.U is not None and self._chosen_solver() == "auto":
            self.plan_ = self.plan_.resumed(problem, self._epoch_limit())
        bar = GapBar(tol) if self.progress else None
        callbacks: list[Callback] = [*self.callbacks, *([bar] if bar else [])]
        budget = Budget(self._seconds(problem), self._epoch_limit(), callbacks, self._certify_every)
        try:
            return minimise(
                problem,
                self.plan_.solvers,
                tol=tol,
                budget=budget,
                start=start,
                seed=self._seed(),
                costs=self.plan_.costs,
            )
        finally:
            if bar:
                bar.close()

    def _learn(self, task: Task, solution: Solution) -> None:
        """Stores what every learner stores; subclasses give coef_ and intercept_ their shapes."""
        self._forget_stream()
        self.certificate_ = solution.certificate
        self.trace_ = solution.trace
        self.n_iter_ = max(1, solution.certificate.epochs)
        self.dual_ = solution.U
        self.__dict__.pop("separation_", None)
        if solution.separation is not None:
            self.separation_ = solution.separation
        b = solution.b
        if task.problem.losses.has_common_shift and task.problem.intercept is Intercept.FREE:
            b = b - b.mean()  # only differences of scores count: a common shift is a convention
        self.coef_ = solution.W.T
        self.intercept_ = b

    def _warn_unless_certified(self) -> None:
        if not self.certificate_.converged:
            message = f"{type(self).__name__} is {self.certificate_}."
            warnings.warn(message, NotCertifiedWarning, stacklevel=4)

    def _start(self, problem: Problem) -> Start | None:
        """The last fit's weights, where a warm start is wanted and they suit the problem."""
        if not self.warm_start or not hasattr(self, "coef_"):
            return None
        W, b = np.atleast_2d(self.coef_).T, np.atleast_1d(self.intercept_)
        if W.shape != problem.weight_shape or not (np.isfinite(W).all() and np.isfinite(b).all()):
            return None
        U = getattr(self, "dual_", None)
        if U is not None and U.shape != (problem.X.n_rows, problem.n_outputs):
            U = None
        return Start(W.astype(np.float64), b.astype(np.float64), U)
