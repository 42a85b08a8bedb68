"""Regressors in scikit-learn's dialect."""

from __future__ import annotations

from typing import Any

from lineal.errors import ParameterError
from lineal.learners.presets.dialect import (
    Dialect,
    mixed,
    not_negative,
    penalty_of_c,
    positive,
    refuse_positive,
    ridge_penalty,
    share,
)
from lineal.learners.regressor import BaseLinearRegressor
from lineal.objective import Loss, losses
from lineal.objective.penalties import L1, NoPenalty, Penalty
from lineal.solvers import Solver


class LinearSVR(Dialect, BaseLinearRegressor):
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
        epsilon = not_negative("LinearSVR", "epsilon", self.epsilon)
        return known[self.loss](epsilon), penalty_of_c(self, "l2", self.C, None)


class LinearRegression(Dialect, BaseLinearRegressor):
    """Ordinary least squares, in closed form; collinear columns get the weights of least norm.

    Examples
    --------
    >>> from lineal import LinearRegression
    >>> model = LinearRegression().fit([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]], [3.0, 5.0, 7.0])
    >>> model.coef_.round(6), round(model.intercept_, 6)
    (array([1., 1.]), 1.0)
    """

    _one_column = "kept"

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
        refuse_positive(self)
        return losses.Squared(), NoPenalty()


class Ridge(Dialect, BaseLinearRegressor):
    """Half the squared errors and ``alpha |w|^2 / 2``: MAP with alpha = sigma^2 / tau^2."""

    _one_column = "intercept"

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
        refuse_positive(self)
        return losses.Squared(), ridge_penalty(self)


class ElasticNet(Dialect, BaseLinearRegressor):
    """Least squares with both penalties, in the mean-loss dialect.

    Minimises ``sum_i s_i r_i^2 / (2 sum s) + alpha l1_ratio |w|_1 + alpha (1 - l1_ratio) |w|^2 / 2``.
    """

    _averages_losses = True

    _one_column = "intercept"

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
        refuse_positive(self)
        name = type(self).__name__
        strength = not_negative(name, "alpha", self.alpha) * total_weight
        l1_ratio = share(name, self.l1_ratio)
        return losses.Squared(), NoPenalty() if strength == 0 else mixed(strength, l1_ratio)


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


class HuberRegressor(Dialect, BaseLinearRegressor):
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
        return losses.Huber(positive("HuberRegressor", "epsilon", self.epsilon)), ridge_penalty(self)


class QuantileRegressor(Dialect, BaseLinearRegressor):
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
        strength = not_negative("QuantileRegressor", "alpha", self.alpha) * total_weight
        return losses.Quantile(self.quantile), NoPenalty() if strength == 0 else L1(strength)
