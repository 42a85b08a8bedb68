"""What searching learners of numbers share, whatever they read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.errors import InputError
from lineal.learners.searched.folds import Fold, folds_of_numbers
from lineal.learners.searched.model import SearchedModel
from lineal.learners.targets import plain_array, require_targets
from lineal.model.explanation import TopFeature
from lineal.protocol import RegressorMixin


class SearchedRegressor(RegressorMixin, SearchedModel):
    """Numbers, held out by chance; the best has the least squared error."""

    def _fit_numbers(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> None:
        require_targets(self, y)
        self._fit(X, self._targets(y), sample_weight, groups)

    def _targets(self, y: ArrayLike) -> NDArray[np.float64]:
        targets = plain_array(y)
        if targets.ndim != 1:
            raise InputError(
                f"y should be a 1d array of numbers, got an array of shape {targets.shape} instead."
            )
        try:
            targets = targets.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"y must be numbers for {type(self).__name__}: {error}.") from error
        if not np.isfinite(targets).all():
            raise InputError(
                f"y contains NaN or infinity at row {int(np.flatnonzero(~np.isfinite(targets))[0])}."
            )
        return targets

    def top_features(self, k: int = 10) -> dict[str, list[TopFeature]]:
        """The k features that raise the number most, and the k that lower it most, with their weights."""
        weights = np.ravel(self.coef_)
        return {"raise": self._top(weights, k), "lower": self._top(weights, k, sign=-1.0)}

    def _score_name(self) -> str:
        return "minus the mean squared error" if self.scoring is None else "score"

    def _folds(self, y: NDArray[Any], groups: NDArray[Any] | None) -> list[Fold]:
        return folds_of_numbers(y, groups, self.n_folds, self.random_state)

    def _score(self, y: NDArray[Any], predicted: NDArray[Any]) -> float:
        return (
            -float(np.mean((y - predicted) ** 2)) if self.scoring is None else self._own_score(y, predicted)
        )
