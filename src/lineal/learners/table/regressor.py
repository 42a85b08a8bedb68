"""Rows of a table in, numbers out."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.learners.regressor import LinearRegressor
from lineal.learners.searched.regression import SearchedRegressor
from lineal.learners.table.base import BaseTableModel
from lineal.learners.targets import numbers_of_rows, plain_array, require_targets
from lineal.learners.whole_fits import all_or_nothing
from lineal.model.row_explanation import RowExplanation
from lineal.objective import L2, Squared
from lineal.protocol import check_is_fitted, clone


class TableRegressor(SearchedRegressor, BaseTableModel):
    """Predicts a number from a row of a table: reads columns of any kind and learns what they add.

    Parameters
    ----------
    kinds, n_folds, search_bytes, random_state, n_threads, progress
        As for :class:`TableClassifier`.
    learner
        A linear regressor to use as it is; ``None``: least squares with an L2 penalty.
    strengths
        Strengths of the penalty to choose from; recipes are compared at the first. One number is taken as
        it is; ``None``: 1, 10, 0.1, 100.
    scoring
        What is best: a function of targets and predictions; ``None``: minus the mean squared error.

    Attributes
    ----------
    kinds_, plan_, trials_, vectorizers_, model_, strength_, certificate_, coef_, intercept_
        As for :class:`TableClassifier`.

    Notes
    -----
    Columns are read as :class:`TableClassifier` reads them, and texts as :class:`TextRegressor` does.

    Examples
    --------
    >>> from lineal import TableRegressor
    >>> table = {"rooms": [1, 2, 3, 4, 5] * 6, "garden": [True, False] * 15}
    >>> rent = [300 * rooms + 200 * garden for rooms, garden in zip(table["rooms"], table["garden"])]
    >>> model = TableRegressor(strengths=0.01).fit(table, rent)
    >>> model.predict([{"rooms": 2, "garden": True}]).round(-1).tolist()
    [800.0]
    """

    _strengths = (1.0, 10.0, 0.1, 100.0)
    _has_classes = False

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learns from rows and their numbers, as :meth:`TableClassifier.fit` does."""
        self._fit_numbers(X, y, sample_weight, groups)
        return self

    def partial_fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learns from more rows, as :meth:`TableClassifier.partial_fit` does."""
        require_targets(self, y)
        self._partial_fit(X, y, sample_weight)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The number of each row."""
        matrix = self._matrix(X)
        return self.model_.predict(matrix)

    def explain(self, row: Any) -> RowExplanation:
        """Why a row got its number: every feature's and column's exact share."""
        check_is_fitted(self, "model_")
        return self._explained(row, "prediction", 0, 1.0)

    def _targets(self, y: ArrayLike) -> NDArray[np.float64]:
        return super()._targets(numbers_of_rows(y, len(plain_array(y)), type(self).__name__))

    def _learner(self, strength: float, is_trial: bool) -> Any:
        if self.learner is not None:
            return clone(self.learner)
        tol = 1e-2 if is_trial else 1e-4
        return LinearRegressor(loss=Squared(), penalty=L2(strength), tol=tol, n_threads=self.n_threads)
