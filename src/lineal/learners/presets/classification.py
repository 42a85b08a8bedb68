"""Classifiers in scikit-learn's dialect."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.errors import NotSeparableError, ParameterError
from lineal.learners.classifier import BaseLinearClassifier
from lineal.learners.online.recipe import Recipe
from lineal.learners.presets.dialect import (
    Dialect,
    penalty_of_c,
    refuse_positive,
    ridge_penalty,
)
from lineal.objective import Loss, Problem, losses, penalties
from lineal.objective.linear_maps import LinearMap, NativeRows
from lineal.objective.losses import FloatArray
from lineal.objective.penalties import Penalty
from lineal.solvers import Budget, Solution, Solver, Start
from lineal.solvers.hard_margin import hard, widest_margin


class LogisticRegression(Dialect, BaseLinearClassifier):
    """Logistic regression; with more than two classes, softmax.

    Minimises ``C sum_i s_i log-loss_i + R(w)``. Parameters are scikit-learn's (see this module's notes);
    ``penalty`` is "l2", "l1", "elasticnet" (with ``l1_ratio``) or None.

    Examples
    --------
    >>> from lineal import LogisticRegression
    >>> model = LogisticRegression(C=10, tol=1e-8)
    >>> model = model.fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> model.predict_proba([[0.0]]).round(2)
    array([[0.98, 0.02]])
    >>> str(model.plan_)
    'newton then dual_cd: few columns: a small Hessian converges in a few steps (4 rows, 1 columns) ...'
    """

    def __init__(
        self,
        penalty: str | None = "l2",
        *,
        C: float = 1.0,
        l1_ratio: float | None = None,
        dual: bool = False,
        tol: float | None = None,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        random_state: Any = None,
        solver: str | Solver = "auto",
        max_iter: int | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        penalize_intercept: bool = False,
        max_seconds: float | None = None,
        n_threads: int | None = None,
        progress: bool = False,
        callbacks: Any = (),
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.penalize_intercept = penalize_intercept
        self.max_seconds = max_seconds
        self.n_threads = n_threads
        self.progress = progress
        self.callbacks = callbacks

    def _objective(self, total_weight: float, n_classes: int) -> tuple[Loss, Penalty]:
        return losses.Log(), penalty_of_c(self, self.penalty, self.C, self.l1_ratio)


class LinearSVC(Dialect, BaseLinearClassifier):
    """Linear support vector classification.

    Minimises ``C sum_i s_i loss_i + R(w)`` with ``loss`` "squared_hinge" or "hinge". More than two classes
    go one-vs-rest (``multi_class="ovr"``) or jointly (``"crammer_singer"``, which uses the hinge).
    ``probability=True`` calibrates ``predict_proba`` on held-out folds.

    Examples
    --------
    >>> from lineal import LinearSVC
    >>> LinearSVC().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).predict([[-1.0], [4.0]])
    array([0, 1])
    """

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: Any = "auto",
        tol: float | None = None,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int | None = None,
        penalize_intercept: bool = False,
        probability: bool = False,
        solver: str | Solver = "auto",
        warm_start: bool = False,
        max_seconds: float | None = None,
        n_threads: int | None = None,
        progress: bool = False,
        callbacks: Any = (),
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.penalize_intercept = penalize_intercept
        self.probability = probability
        self.solver = solver
        self.warm_start = warm_start
        self.max_seconds = max_seconds
        self.n_threads = n_threads
        self.progress = progress
        self.callbacks = callbacks

    def _objective(self, total_weight: float, n_classes: int) -> tuple[Loss, Penalty]:
        known = {"hinge": losses.Hinge, "squared_hinge": losses.SquaredHinge}
        if self.loss not in known:
            raise ParameterError(f"LinearSVC knows loss='hinge' and 'squared_hinge', got {self.loss!r}.")
        if self.multi_class not in ("ovr", "crammer_singer"):
            raise ParameterError(
                f"LinearSVC knows multi_class='ovr' and 'crammer_singer', got {self.multi_class!r}."
            )
        is_hard = self._is_hard
        loss = losses.Hinge() if self.multi_class == "crammer_singer" or is_hard else known[self.loss]()
        if not is_hard:
            return loss, penalty_of_c(self, self.penalty, self.C, None)
        if self.penalty != "l2":
            raise ParameterError(
                f"C=inf is the hard margin, of penalty='l2': take that, or a finite C, got {self.penalty!r}."
            )
        return loss, penalties.L2(1.0)

    @property
    def _is_hard(self) -> bool:
        return isinstance(self.C, numbers.Real) and bool(np.inf == self.C)

    def _pose(self, rows: LinearMap, codes: NDArray[np.int32], s: FloatArray) -> Problem:
        posed = super()._pose(rows, codes, s)
        return hard(posed) if self._is_hard and not isinstance(rows, NativeRows) else posed

    def _solve(self, problem: Problem, start: Start | None) -> Solution:
        if not self._is_hard:
            return super()._solve(problem, start)
        budget = Budget(self._seconds(problem), self._epoch_limit(), [*self.callbacks])
        try:
            found, self.plan_ = widest_margin(problem, tol=self._tolerance, budget=budget, seed=self._seed())
        except NotSeparableError as refused:
            name = "" if refused.output is None else f"class {self.classes_.tolist()[refused.output]!r}"
            raise NotSeparableError(refused.distance, refused.weights, refused.output, name) from None
        return found

    def _recipe(self) -> Recipe:
        if self._is_hard:
            raise ParameterError(
                "C=inf, no slack at all, is no promise that a stream can keep: take a finite C."
            )
        return super()._recipe()

    def _one_vs_rest(self) -> bool:
        return self.multi_class == "ovr"


class RidgeClassifier(Dialect, BaseLinearClassifier):
    """Least squares on -1 and +1, one-vs-rest, with an L2 penalty of strength ``alpha``."""

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float | None = 1e-4,
        class_weight: Any = None,
        solver: str | Solver = "auto",
        positive: bool = False,
        random_state: Any = None,
        probability: bool = False,
        n_threads: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.probability = probability
        self.n_threads = n_threads

    def _objective(self, total_weight: float, n_classes: int) -> tuple[Loss, Penalty]:
        refuse_positive(self)
        return losses.Squared(), ridge_penalty(self)
