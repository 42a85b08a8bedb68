"""The linear regressor, and what its presets share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from lineal.errors import ParameterError
from lineal.learners.model import LinearModel, Task
from lineal.learners.online.streamed_regressor import StreamedRegressor
from lineal.learners.targets import numbers_of_rows, require_targets, weights_of_rows
from lineal.learners.whole_fits import all_or_nothing
from lineal.objective import L2, Loss, Penalty, Problem, Squared
from lineal.objective.block_penalty import as_penalty
from lineal.objective.linear_maps import LinearMap
from lineal.objective.losses import FloatArray
from lineal.protocol import RegressorMixin
from lineal.solvers import Solution, Solver
from lineal.solvers.driver import Callback


class BaseLinearRegressor(RegressorMixin, StreamedRegressor, LinearModel):
    """Shared by the regressor and its presets."""

    _needs_tol = 1e-4
    _example_loss = "Squared()"
    # What scikit-learn's twin makes of y of one column: flattened with a warning; of its own shape
    # throughout; or of the intercept's shape alone.
    _one_column: Literal["flat", "kept", "intercept"] = "flat"

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fits the weights and proves how good they are.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
        y : (n_rows,) numbers, or (n_rows, K) for K regressions at once
        sample_weight : sequence of n_rows numbers >= 0, optional
            A weight of 2 means the row twice.

        Returns
        -------
        self
        """
        task = self._task(X, y, sample_weight)
        self._learn(task, self._solve(task.problem, self._start(task.problem)))
        self._warn_unless_certified()
        return self

    def _task(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Task:
        require_targets(self, y)
        self._check_options()
        rows = self._rows(X, reset=True)
        targets = self._targets(y, rows.n_rows)
        s = weights_of_rows(sample_weight, rows.n_rows)
        return Task(self._pose(rows, targets.reshape(rows.n_rows, -1), s), targets, s)

    def _learn(self, task: Task, solution: Solution) -> None:
        super()._learn(task, solution)
        is_column = task.targets.shape[1:] == (1,) and self._one_column == "intercept"
        if task.targets.ndim == 1 or is_column:
            self.coef_ = self.coef_[0].copy()
        if task.targets.ndim == 1:
            self.intercept_ = float(self.intercept_[0])

    def _targets(self, y: ArrayLike, n_rows: int) -> FloatArray:
        keeps = self._one_column != "flat"
        return numbers_of_rows(y, n_rows, type(self).__name__, keeps_column=keeps)

    def _pose(self, rows: LinearMap, y: FloatArray, s: FloatArray) -> Problem:
        loss, penalty = self._objective(float(s.sum()), 0)
        if loss.is_margin:
            raise ParameterError(
                f"{type(self).__name__} needs a regression loss such as Squared(), got {loss!r}."
            )
        return self._posed(rows, np.ascontiguousarray(y), s, loss, penalty, y.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class LinearRegressor(BaseLinearRegressor):
    """A linear regressor: any regression loss, any penalty, a certificate with every fit.

    The objective is stated in :class:`lineal.objective.Problem`; parameters and attributes are those of
    :class:`LinearClassifier`, with ``Squared()`` as the default loss and 1e-4 as the default ``tol``.

    Examples
    --------
    >>> from lineal import LinearRegressor
    >>> from lineal.objective import Absolute, NoPenalty
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [1.0, 3.0, 5.0, 7.0, 90.0]
    >>> model = LinearRegressor(loss=Absolute(), penalty=NoPenalty(), tol=1e-8).fit(X, y)
    >>> model.coef_.round(3), round(model.intercept_, 3)
    (array([2.]), 1.0)
    """

    def __init__(
        self,
        loss: Loss = Squared(),
        penalty: Penalty | Mapping[Any, Penalty] = L2(1.0),
        *,
        solver: str | Solver = "auto",
        tol: float | None = None,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        max_seconds: float | None = None,
        max_epochs: int | None = None,
        n_threads: int | None = None,
        random_state: Any = None,
        progress: bool = False,
        callbacks: Sequence[Callback] = (),
        warm_start: bool = False,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.solver = solver
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.max_seconds = max_seconds
        self.max_epochs = max_epochs
        self.n_threads = n_threads
        self.random_state = random_state
        self.progress = progress
        self.callbacks = callbacks
        self.warm_start = warm_start

    def _objective(self, total_weight: float, n_classes: int) -> tuple[Loss, Penalty]:
        return self.loss, as_penalty(self.penalty)

    def _strength_option(self, strength: float, total_weight: float) -> dict[str, Any]:
        return {"penalty": as_penalty(self.penalty).at_strength(strength)}
