"""Learners under scikit-learn's names and in its dialect.

Each preset is a loss and a penalty with other people's parameter names: ``C = 1 / strength``, and for
``Lasso``, ``ElasticNet``, ``QuantileRegressor``, ``SGDClassifier`` and ``SGDRegressor`` an ``alpha`` that
stands beside the *mean* loss. Changing the import is enough. Three things are Lineal's own everywhere:

- ``tol`` is the certified relative duality gap;
- the intercept is not penalised (scikit-learn's ``LinearSVC`` and ``LinearSVR`` do penalise theirs:
  ``penalize_intercept=True`` reproduces that);
- ``max_iter`` is a budget of passes over the data, without limit by default, because the certificate
  says when to stop.

Options of scikit-learn that only steer its own solvers (``dual``, ``intercept_scaling``, ``selection``,
``precompute``, ``copy_X``, ``verbose``) are accepted and change nothing.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy.special import log_expit, softmax

from lineal.errors import ParameterError
from lineal.learners.classifier import BaseLinearClassifier
from lineal.learners.regressor import BaseLinearRegressor
from lineal.objective import Loss, losses, penalties
from lineal.objective.losses import FloatArray
from lineal.objective.penalties import L1, L2, NoPenalty, Penalty
from lineal.objective.problem import Problem
from lineal.solvers import SOLVERS, Solver

# scikit-learn's solver names and what does their work here.
_DIALECT = {
    "lbfgs": "lbfgs",
    "liblinear": "auto",
    "newton-cg": "newton",
    "newton-cholesky": "newton",
    "sag": "auto",
    "saga": "auto",
    "svd": "closed_form",
    "cholesky": "closed_form",
    "lsqr": "auto",
    "sparse_cg": "newton",
    "highs": "auto",
    "highs-ds": "auto",
    "highs-ipm": "auto",
}


def _solver(name: str | Solver) -> str | Solver:
    if isinstance(name, Solver) or (isinstance(name, str) and (name == "auto" or name in SOLVERS)):
        return name
    if not isinstance(name, str) or name not in _DIALECT:
        raise ParameterError(f"solver={name!r} is not known; choose 'auto' or one of {sorted(SOLVERS)}.")
    return _DIALECT[name]


def _positive(owner: str, name: str, value: float) -> float:
    if not isinstance(value, numbers.Real) or not value > 0:
        raise ParameterError(f"{owner} needs {name} > 0, got {value!r}.")
    return float(value)


def _not_negative(owner: str, name: str, value: float) -> float:
    if not isinstance(value, numbers.Real) or not (value >= 0 and np.isfinite(value)):
        raise ParameterError(f"{owner} needs a finite {name} >= 0, got {value!r}.")
    return float(value)


class _Dialect:
    """Reads scikit-learn's names for budgets and solvers where the shared code asks for Lineal's."""

    solver: str | Solver = "auto"
    max_iter: int | None = None
    _averages_losses: ClassVar[bool] = False

    def _strength_option(self, strength: float, total_weight: float) -> dict[str, Any]:
        if hasattr(self, "C"):
            return {"C": 1.0 / strength}
        return {"alpha": strength / total_weight if self._averages_losses else strength}

    def _epoch_limit(self) -> int | None:
        return None if self.max_iter is None or self.max_iter < 0 else self.max_iter

    def _chosen_solver(self) -> str | Solver:
        return _solver(self.solver)


class LogisticRegression(_Dialect, BaseLinearClassifier):
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
    'newton then dual_cd: few columns and many rows (4 rows, 1 columns): a small Hessian ...'
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
        return losses.Log(), _classifier_penalty(self, self.penalty, self.C, self.l1_ratio)


def _classifier_penalty(owner: Any, penalty: str | None, C: float, l1_ratio: float | None) -> Penalty:
    name = type(owner).__name__
    strength = 1.0 / _positive(name, "C", C)
    if penalty is None or penalty == "none" or strength == 0.0:
        return NoPenalty()
    if penalty == "l2" and not l1_ratio:
        return L2(strength)
    if penalty == "l1":
        return L1(strength)
    # scikit-learn 1.8 chooses by l1_ratio alone: given beside the default penalty, it decides.
    if penalty in ("elasticnet", "l2"):
        if l1_ratio is None or not 0 <= l1_ratio <= 1:
            raise ParameterError(
                f"{name} with penalty='elasticnet' needs 0 <= l1_ratio <= 1, got {l1_ratio!r}."
            )
        return _mixed(strength, l1_ratio)
    raise ParameterError(f"{name} knows penalty='l2', 'l1', 'elasticnet' and None, got {penalty!r}.")


def _mixed(strength: float, l1_ratio: float) -> Penalty:
    if l1_ratio == 0:
        return L2(strength)
    if l1_ratio == 1:
        return L1(strength)
    return penalties.ElasticNet(strength * l1_ratio, strength * (1 - l1_ratio))


class LinearSVC(_Dialect, BaseLinearClassifier):
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
        known = {"hinge": losses.Hinge(), "squared_hinge": losses.SquaredHinge()}
        if self.loss not in known:
            raise ParameterError(f"LinearSVC knows loss='hinge' and 'squared_hinge', got {self.loss!r}.")
        if self.multi_class not in ("ovr", "crammer_singer"):
            raise ParameterError(
                f"LinearSVC knows multi_class='ovr' and 'crammer_singer', got {self.multi_class!r}."
            )
        loss = losses.Hinge() if self.multi_class == "crammer_singer" else known[self.loss]
        return loss, _classifier_penalty(self, self.penalty, self.C, None)

    def _one_vs_rest(self) -> bool:
        return self.multi_class == "ovr"


class RidgeClassifier(_Dialect, BaseLinearClassifier):
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
        _refuse_positive(self)
        return losses.Squared(), _ridge_penalty(self)


class LinearSVR(_Dialect, BaseLinearRegressor):
    """Linear support vector regression: ``C sum_i s_i loss_i + |w|^2/2`` with an epsilon-insensitive loss."""

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float | None = None,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: Any = "auto",
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int | None = None,
        penalize_intercept: bool = False,
        solver: str | Solver = "auto",
        warm_start: bool = False,
        max_seconds: float | None = None,
        n_threads: int | None = None,
        progress: bool = False,
        callbacks: Any = (),
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.penalize_intercept = penalize_intercept
        self.solver = solver
        self.warm_start = warm_start
        self.max_seconds = max_seconds
        self.n_threads = n_threads
        self.progress = progress
        self.callbacks = callbacks

    def _objective(self, total_weight: float, n_classes: int) -> tuple[Loss, Penalty]:
        known = {
            "epsilon_insensitive": losses.EpsilonInsensitive,
            "squared_epsilon_insensitive": losses.SquaredEpsilonInsensitive,
        }
        if self.loss not in known:
            raise ParameterError(f"LinearSVR knows loss in {sorted(known)}, got {self.loss!r}.")
        epsilon = _not_negative("LinearSVR", "epsilon", self.epsilon)
        return known[self.loss](epsilon), _classifier_penalty(self, "l2", self.C, None)


class LinearRegression(_Dialect, BaseLinearRegressor):
    """Ordinary least squares, in closed form; collinear columns get the weights of least norm.

    Examples
    --------
    >>> from lineal import LinearRegression
    >>> model = LinearRegression().fit([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]], [3.0, 5.0, 7.0])
    >>> model.coef_.round(6), round(model.intercept_, 6)
    (array([1., 1.]), 1.0)
    """

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float | None = 1e-6,
        n_jobs: int | None = None,
        positive: bool = False,
        solver: str | Solver = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive
        self.solver = solver
        self.n_threads = n_threads

    def _objective(self, total_weight: float, n_classes: int) -> tuple[Loss, Penalty]:
        _refuse_positive(self)
        return losses.Squared(), NoPenalty()


class Ridge(_Dialect, BaseLinearRegressor):
    """Half the squared errors and ``alpha |w|^2 / 2``: MAP with alpha = sigma^2 / tau^2."""

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float | None = 1e-6,
        solver: str | Solver = "auto",
        positive: bool = False,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.n_threads = n_threads

    def _objective(self, total_weight: float, n_classes: int) -> tuple[Loss, Penalty]:
        _refuse_positive(self)
        return losses.Squared(), _ridge_penalty(self)


def _ridge_penalty(owner: Any) -> Penalty:
    alpha = _not_negative(type(owner).__name__, "alpha", owner.alpha)
    return NoPenalty() if alpha == 0 else L2(alpha)


def _refuse_positive(owner: Any) -> None:
    if owner.positive:
        raise ParameterError(
            f"{type(owner).__name__} does not constrain the signs of weights: positive=False."
        )


class ElasticNet(_Dialect, BaseLinearRegressor):
    """Least squares with both penalties, in the mean-loss dialect.

    Minimises ``sum_i s_i r_i^2 / (2 sum s) + alpha l1_ratio |w|_1 + alpha (1 - l1_ratio) |w|^2 / 2``.
    """

    _averages_losses = True

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        precompute: bool = False,
        max_iter: int | None = None,
        copy_X: bool = True,
        tol: float | None = None,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        solver: str | Solver = "auto",
        max_seconds: float | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.solver = solver
        self.max_seconds = max_seconds
        self.n_threads = n_threads

    def _objective(self, total_weight: float, n_classes: int) -> tuple[Loss, Penalty]:
        _refuse_positive(self)
        name = type(self).__name__
        strength = _not_negative(name, "alpha", self.alpha) * total_weight
        if not 0 <= self.l1_ratio <= 1:
            raise ParameterError(f"{name} needs 0 <= l1_ratio <= 1, got {self.l1_ratio!r}.")
        return losses.Squared(), NoPenalty() if strength == 0 else _mixed(strength, self.l1_ratio)


class Lasso(ElasticNet):
    """Least squares with an L1 penalty: ``sum_i s_i r_i^2 / (2 sum s) + alpha |w|_1``."""

    l1_ratio = 1.0

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: bool = False,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float | None = None,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        solver: str | Solver = "auto",
        max_seconds: float | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.solver = solver
        self.max_seconds = max_seconds
        self.n_threads = n_threads


class HuberRegressor(_Dialect, BaseLinearRegressor):
    """Regression that large errors cannot bend: Huber's loss with a fixed bend, and an L2 penalty.

    Minimises ``sum_i s_i huber_i + alpha |w|^2 / 2``, quadratic within ``epsilon`` of the target and linear
    beyond. scikit-learn's namesake also estimates a scale of the errors, which makes ``epsilon`` relative;
    here ``epsilon`` is in the units of y.
    """

    def __init__(
        self,
        *,
        epsilon: float = 1.35,
        max_iter: int | None = None,
        alpha: float = 0.0001,
        warm_start: bool = False,
        fit_intercept: bool = True,
        tol: float | None = None,
        solver: str | Solver = "auto",
        max_seconds: float | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.alpha = alpha
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.solver = solver
        self.max_seconds = max_seconds
        self.n_threads = n_threads

    def _objective(self, total_weight: float, n_classes: int) -> tuple[Loss, Penalty]:
        return losses.Huber(_positive("HuberRegressor", "epsilon", self.epsilon)), _ridge_penalty(self)


class QuantileRegressor(_Dialect, BaseLinearRegressor):
    """The q-quantile of y given x, with an L1 penalty in the mean-loss dialect.

    Minimises ``sum_i s_i pinball_i / sum s + alpha |w|_1``.
    """

    _averages_losses = True

    def __init__(
        self,
        *,
        quantile: float = 0.5,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        solver: str | Solver = "auto",
        solver_options: Any = None,
        tol: float | None = None,
        max_iter: int | None = None,
        max_seconds: float | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.quantile = quantile
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.solver_options = solver_options
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.n_threads = n_threads

    def _objective(self, total_weight: float, n_classes: int) -> tuple[Loss, Penalty]:
        strength = _not_negative("QuantileRegressor", "alpha", self.alpha) * total_weight
        return losses.Quantile(self.quantile), NoPenalty() if strength == 0 else L1(strength)


# ---- named after their solver -------------------------------------------------------------------

_SGD_LOSSES: dict[str, Callable[[float], Loss]] = {
    "hinge": lambda epsilon: losses.Hinge(),
    "log_loss": lambda epsilon: losses.Log(),
    "modified_huber": lambda epsilon: losses.ModifiedHuber(),
    "squared_hinge": lambda epsilon: losses.SquaredHinge(),
    "squared_error": lambda epsilon: losses.Squared(),
    "huber": losses.Huber,
    "epsilon_insensitive": losses.EpsilonInsensitive,
    "squared_epsilon_insensitive": losses.SquaredEpsilonInsensitive,
}
_SGD_REGRESSION = ("squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive")
_SGD_SCHEDULES = ("optimal", "constant", "invscaling", "adaptive")


class _StochasticDialect(_Dialect):
    """What SGDClassifier and SGDRegressor share: mean losses, and names of losses and penalties."""

    _averages_losses = True

    loss: str
    penalty: str | None
    alpha: float
    l1_ratio: float
    epsilon: float
    learning_rate: str
    early_stopping: bool

    def _sgd_objective(self, total_weight: float, known: tuple[str, ...]) -> tuple[Loss, Penalty]:
        name = type(self).__name__
        if self.loss == "perceptron":
            raise ParameterError(
                f"{name} minimises an objective, and that of loss='perceptron' is least at w = 0: use "
                "loss='hinge'."
            )
        if self.loss not in known:
            raise ParameterError(f"{name} knows loss in {sorted(known)}, got {self.loss!r}.")
        if self.early_stopping:
            raise ParameterError(
                f"{name} ends at a certified optimum, not where a validation score stops rising: "
                "early_stopping=False, and choose alpha by validation, with lineal.path or a grid search."
            )
        if self.learning_rate not in _SGD_SCHEDULES:
            raise ParameterError(
                f"{name} knows learning_rate in {sorted(_SGD_SCHEDULES)}, none of which changes the optimum, "
                f"got {self.learning_rate!r}: passive-aggressive steps minimise no objective."
            )
        needs = _positive if self.loss == "huber" else _not_negative
        loss = _SGD_LOSSES[self.loss](needs(name, "epsilon", self.epsilon))
        return loss, self._sgd_penalty(_not_negative(name, "alpha", self.alpha) * total_weight)

    def _sgd_penalty(self, strength: float) -> Penalty:
        name = type(self).__name__
        if self.penalty not in ("l2", "l1", "elasticnet", None):
            raise ParameterError(
                f"{name} knows penalty='l2', 'l1', 'elasticnet' and None, got {self.penalty!r}."
            )
        if not 0 <= self.l1_ratio <= 1:
            raise ParameterError(f"{name} needs 0 <= l1_ratio <= 1, got {self.l1_ratio!r}.")
        if self.penalty is None or strength == 0:
            return NoPenalty()
        return _mixed(strength, {"l2": 0.0, "l1": 1.0}.get(self.penalty, self.l1_ratio))


class SGDClassifier(_StochasticDialect, BaseLinearClassifier):
    """Linear classification by stochastic gradients, in the mean-loss dialect, and certified.

    Minimises ``sum_i s_i loss_i / sum s + alpha R(w)``, one-vs-rest with more than two classes. ``loss`` is
    "hinge", "log_loss", "modified_huber", "squared_hinge" or, on targets -1 and +1, "squared_error",
    "huber", "epsilon_insensitive", "squared_epsilon_insensitive" (with ``epsilon``); ``penalty`` is "l2",
    "l1", "elasticnet" (with ``l1_ratio``) or None.

    ``solver="auto"`` lets the planner choose, which is sooner there than stochastic gradients are;
    ``solver="sgd"`` takes them all the same, with Pegasos' steps (scikit-learn's "optimal" ones with a safe
    start), averaged, and may need long to prove more than two digits.

    So the model is the optimum to within ``tol``, a certified gap, and what only steers the way there is
    accepted and changes nothing: ``learning_rate``, ``eta0``, ``power_t``, ``average``, ``shuffle``,
    ``n_iter_no_change``, ``validation_fraction``, ``verbose``, ``n_jobs``. ``early_stopping=True`` is
    refused.
    ``predict_proba`` comes with "log_loss" (of several classes each one's own, divided by their sum), with
    other losses by ``probability=True``, which calibrates.

    Examples
    --------
    >>> from lineal import SGDClassifier
    >>> model = SGDClassifier(alpha=0.01).fit([[0.0], [1.0], [3.0], [4.0]], ["low", "low", "high", "high"])
    >>> model.predict([[0.5], [9.0]])
    array(['low', 'high'], dtype='<U4')
    >>> model.certificate_.converged
    True
    """

    def __init__(
        self,
        loss: str = "hinge",
        *,
        penalty: str | None = "l2",
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int | None = None,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        epsilon: float = 0.1,
        n_jobs: int | None = None,
        random_state: Any = None,
        learning_rate: str = "optimal",
        eta0: float = 0.01,
        power_t: float = 0.5,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
        average: bool | int = False,
        probability: bool = False,
        solver: str | Solver = "auto",
        max_seconds: float | None = None,
        n_threads: int | None = None,
        progress: bool = False,
        callbacks: Any = (),
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.average = average
        self.probability = probability
        self.solver = solver
        self.max_seconds = max_seconds
        self.n_threads = n_threads
        self.progress = progress
        self.callbacks = callbacks

    def _objective(self, total_weight: float, n_classes: int) -> tuple[Loss, Penalty]:
        return self._sgd_objective(total_weight, tuple(_SGD_LOSSES))

    def _one_vs_rest(self) -> bool:
        return True

    @staticmethod
    def _is_likelihood(problem: Problem) -> bool:
        return isinstance(problem.loss, losses.Log)

    def _probabilities(self, Z: FloatArray) -> FloatArray:
        if self.loss != "log_loss" or Z.shape[1] == 1:
            return super()._probabilities(Z)
        # Each class's own probability, divided by their sum; in logarithms, for they may all underflow.
        p: FloatArray = softmax(log_expit(Z), axis=1)
        return p


class SGDRegressor(_StochasticDialect, BaseLinearRegressor):
    """Linear regression by stochastic gradients, in the mean-loss dialect, and certified.

    Minimises ``sum_i s_i loss_i / sum s + alpha R(w)`` with ``loss`` "squared_error" (half the square),
    "huber", "epsilon_insensitive" or "squared_epsilon_insensitive"; all else is as in
    :class:`SGDClassifier`.

    Examples
    --------
    >>> from lineal import SGDRegressor
    >>> model = SGDRegressor(alpha=1e-6, tol=1e-9).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.coef_.round(3), round(model.intercept_, 3)
    (array([2.]), 1.0)
    """

    def __init__(
        self,
        loss: str = "squared_error",
        *,
        penalty: str | None = "l2",
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int | None = None,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        epsilon: float = 0.1,
        random_state: Any = None,
        learning_rate: str = "invscaling",
        eta0: float = 0.01,
        power_t: float = 0.25,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        warm_start: bool = False,
        average: bool | int = False,
        solver: str | Solver = "auto",
        max_seconds: float | None = None,
        n_threads: int | None = None,
        progress: bool = False,
        callbacks: Any = (),
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.average = average
        self.solver = solver
        self.max_seconds = max_seconds
        self.n_threads = n_threads
        self.progress = progress
        self.callbacks = callbacks

    def _objective(self, total_weight: float, n_classes: int) -> tuple[Loss, Penalty]:
        return self._sgd_objective(total_weight, _SGD_REGRESSION)
