"""SGDClassifier and SGDRegressor: mean losses, and names for losses and penalties of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lineal.errors import ParameterError
from lineal.learners.classifier import BaseLinearClassifier
from lineal.learners.online.recipe import Recipe
from lineal.learners.presets.dialect import Dialect, mixed, not_negative, positive, share
from lineal.learners.regressor import BaseLinearRegressor
from lineal.model.answers import log_expit, log_softmax, own_probabilities
from lineal.objective import Loss, losses
from lineal.objective.losses import FloatArray
from lineal.objective.penalties import NoPenalty, Penalty
from lineal.objective.problem import Problem
from lineal.solvers import Solver

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


class _StochasticDialect(Dialect):
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
                "loss='hinge', or lineal.Perceptron for the algorithm."
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
                f"got {self.learning_rate!r}: PassiveAggressiveClassifier takes passive-aggressive steps."
            )
        needs = positive if self.loss == "huber" else not_negative
        loss = _SGD_LOSSES[self.loss](needs(name, "epsilon", self.epsilon))
        return loss, self._sgd_penalty(not_negative(name, "alpha", self.alpha) * total_weight)

    def _sgd_penalty(self, strength: float) -> Penalty:
        name = type(self).__name__
        if self.penalty not in ("l2", "l1", "elasticnet", None):
            raise ParameterError(
                f"{name} knows penalty='l2', 'l1', 'elasticnet' and None, got {self.penalty!r}."
            )
        l1_ratio = share(name, self.l1_ratio)
        if self.penalty is None or strength == 0:
            return NoPenalty()
        return mixed(strength, {"l2": 0.0, "l1": 1.0}.get(self.penalty, l1_ratio))


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
        return problem.losses.is_likelihood and problem.losses.is_by_score

    def _is_stream_likelihood(self, recipe: Recipe, n_classes: int) -> bool:
        return isinstance(recipe.loss, losses.Log)

    def _probabilities(self, Z: FloatArray) -> FloatArray:
        if self.loss != "log_loss" or Z.shape[1] == 1:
            return super()._probabilities(Z)
        return own_probabilities(Z)

    def _log_probabilities(self, Z: FloatArray) -> FloatArray:
        if self.loss != "log_loss" or Z.shape[1] == 1:
            return super()._log_probabilities(Z)
        return log_softmax(log_expit(Z))


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
