"""Regression by nearest neighbours."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.errors import InputError
from lineal.features.relevance import pearson_of_numbers
from lineal.learners.neighbors.base import BaseNeighbors
from lineal.learners.targets import numbers_of_rows, require_targets
from lineal.learners.whole_fits import all_or_nothing
from lineal.objective.losses import FloatArray
from lineal.protocol import RegressorMixin, check_is_fitted


class KNeighborsRegressor(RegressorMixin, BaseNeighbors):
    """The mean of the nearest training rows' targets, weighted by nearness if you like.

    With ``n_neighbors="all"`` every training row has its say: ``weights="inverse_square"`` is then Shepard's
    interpolation, and a kernel such as ``weights="gaussian"`` the Nadaraya-Watson estimator.

    Parameters and attributes are those of :class:`KNeighborsClassifier`, but of the scores of columns
    ``feature_weights`` takes "pearson" alone: the others need classes.

    Examples
    --------
    >>> from lineal import KNeighborsRegressor
    >>> X, y = [[0.0], [1.0], [3.0]], [0.0, 1.0, 9.0]
    >>> KNeighborsRegressor(2).fit(X, y).predict([[2.2]])
    array([5.])
    >>> shepard = KNeighborsRegressor("all", weights="inverse_square").fit(X, y)
    >>> shepard.predict([[1.0], [2.0]])
    array([1.        , 4.44444444])
    """

    _scores_of_columns = ("pearson",)

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Keeps the training rows in an index.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns), or strings
        y : (n_rows,) numbers, or (n_rows, K) for K targets at once
        sample_weight : sequence of n_rows numbers >= 0, optional
            A weight of 2 means the row twice.

        Returns
        -------
        self
        """
        require_targets(self, y)
        self._check_options()
        data = self._read(X, reset=True)
        n_rows = len(data) if isinstance(data, list) else data.shape[0]
        targets = numbers_of_rows(y, n_rows, type(self).__name__, keeps_column=True)
        self._fit(data, targets, sample_weight)
        return self

    def _column_scores(self, name: str, X: Any, targets: NDArray[Any], s: FloatArray) -> FloatArray:
        if X.dtype.kind == "O":
            raise InputError(f"feature_weights={name!r} needs numbers, but X has categories. Give an array.")
        columns = targets.reshape(len(targets), -1).T
        return np.max([np.abs(pearson_of_numbers(X, column, s)) for column in columns], axis=0)

    def predict(self, X: Any) -> FloatArray:
        """Weighted means of targets; (n,) or (n, K) as the targets were."""
        check_is_fitted(self, "index_")
        found = []
        for rows, weights in self._neighborhoods(X):
            weights = weights / weights.sum(axis=1, keepdims=True)
            columns = self._targets.reshape(len(self._targets), -1).T
            found.append(np.stack([(weights * column[rows]).sum(axis=1) for column in columns], axis=1))
        means = np.concatenate(found)
        return means[:, 0] if self._targets.ndim == 1 else means

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
