"""Regressors that learn from a stream."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal import _core
from lineal.data import checked_rows
from lineal.errors import InputError
from lineal.learners.online.model import StreamedModel
from lineal.learners.online.recipe import Recipe
from lineal.learners.online.stream import Stream
from lineal.learners.reading import read_growing
from lineal.learners.targets import numbers_of_rows, require_targets, weights_of_rows
from lineal.objective.linear_maps import NativeRows
from lineal.objective.losses import FloatArray


class StreamedRegressor(StreamedModel):
    """Numbers, one to a row or several."""

    _n_targets: int | None  # None: y has one dimension

    def partial_fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Meets more rows, in their order: predicts each, is judged by it, and learns from it.

        Pieces of any size give the model of one pass, bit for bit. After ``fit`` it goes on from the weights
        that were fitted.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
            New columns may come at any time, behind the known ones.
        y : (n_rows,) numbers, or (n_rows, K) for K regressions at once
        sample_weight : sequence of n_rows numbers >= 0, optional
            How often a row's loss counts; rows of weight 0 are not met.

        Returns
        -------
        self
        """
        require_targets(self, y)
        stream, (array, shape) = self._begun(), read_growing(self, X)
        rows = checked_rows(array, 1, shape.get("feature_names_in_"), as_stored=True)
        return self._learn_from(stream, rows, shape, y, sample_weight)

    def _learn_from(
        self,
        stream: Stream,
        rows: NativeRows,
        shape: dict[str, Any],
        y: ArrayLike,
        sample_weight: Any,
        order: NDArray[np.int64] | None = None,
    ) -> Self:
        """Learns from rows that were checked; ``shape`` is what they make of the columns.

        Dense rows may be met in an order, which is that of y and of the weights then.
        """
        steps, s, attributes = self._targets_of_stream(stream, y, rows.n_rows, sample_weight)
        stream.make_room(shape["n_features_in_"], attributes["_n_targets"] or 1)
        self._meet(stream, {**shape, **attributes}, lambda: stream.learn(rows, steps, s, order))
        return self

    def _learn_texts(self, texts: _core.HashedTexts, y: ArrayLike, sample_weight: Any) -> None:
        """Learns from texts while they are hashed, without a matrix."""
        stream = self._begun()
        steps, s, attributes = self._targets_of_stream(stream, y, len(texts), sample_weight)
        attributes["n_features_in_"] = self._width_of(texts)
        stream.make_room(texts.n_columns, attributes["_n_targets"] or 1)
        self._meet(stream, attributes, lambda: stream.learn_texts(texts, steps, s))

    def _targets_of_stream(
        self, stream: Stream, y: ArrayLike, n_rows: int, sample_weight: Any
    ) -> tuple[Any, FloatArray, dict[str, Any]]:
        """Steps and weights of rows, and what their targets make of this model."""
        targets = numbers_of_rows(y, n_rows, type(self).__name__)
        s = weights_of_rows(sample_weight, n_rows)
        n_targets = None if targets.ndim == 1 else targets.shape[1]
        is_begun = stream.n_scores > 0
        if is_begun and n_targets != self._known_targets():
            known = self._known_targets()
            raise InputError(
                f"y has {'one number' if n_targets is None else f'{n_targets} columns'}, but the stream "
                f"began with {'one number' if known is None else f'{known} columns'} to a row."
            )
        columns = np.ascontiguousarray(targets.reshape(n_rows, -1))
        steps = _core.RowSteps.of_numbers(stream.recipe.native_loss, columns)
        return steps, s, {"_n_targets": n_targets}

    def _known_targets(self) -> int | None:
        if self._stream is not None:
            return self._n_targets
        return None if np.ndim(self.coef_) == 1 else len(self.coef_)

    def _fitted_stream(self, recipe: Recipe) -> Stream:
        n_rows = len(getattr(self, "dual_", ())) or self._n_fitted
        return Stream.from_fit(recipe, np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_), n_rows)

    def _public(self, W: FloatArray, b: FloatArray) -> tuple[FloatArray, Any]:
        W = np.ascontiguousarray(W)
        return (W[0], float(b[0])) if self._n_targets is None else (W, b)

    def predict(self, X: Any) -> FloatArray:
        """X w + b; (n,) or (n, K) as the targets were."""
        Z = self._scores(X)
        is_one = np.ndim(self.coef_) == 1 if self._stream is None else self._n_targets is None
        return Z[:, 0] if is_one else Z
