"""What learners of streams share: rows that may bring new columns, and weights that are read when asked for.

``partial_fit`` meets rows one by one, in their order: each is predicted, judged, and learned from. So pieces
of any size give the model of one pass, bit for bit, and ``online_loss_`` (of classifiers ``online_accuracy_``
too) is an honest estimate for the rows that come next, without any rows held out.

All options and data of a piece are checked before its first row is met. Ctrl-C leaves the model as after
the last row that was.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from lineal import _core
from lineal.data import checked_rows
from lineal.errors import InputError, ParameterError, PrecisionWarning
from lineal.learners.matrix import MatrixModel
from lineal.learners.online.recipe import Recipe
from lineal.learners.online.stream import Stream
from lineal.learners.reading import read_grown
from lineal.objective.linear_maps import NativeRows
from lineal.objective.losses import FloatArray
from lineal.protocol import check_is_fitted

# What a stream tells of its predictions.
ONLINE = ("online_loss_", "online_accuracy_")
# What a fit leaves behind and a stream does not have.
_OF_FITS = (
    "coef_",
    "intercept_",
    "certificate_",
    "trace_",
    "plan_",
    "dual_",
    "n_iter_",
    "temperature_",
    "separation_",
)


class StreamedModel(MatrixModel):
    """Linear scores that are fitted, or learned from a stream."""

    _stream: Stream | None = None
    _n_fitted: int = 0  # the rows of a fit whose dual point was not stored with it
    online_loss_: float
    n_seen_: int

    def _recipe(self) -> Recipe:
        """What a stream is learned with; refuses options that cannot be."""
        raise NotImplementedError

    def _public(self, W: FloatArray, b: FloatArray) -> tuple[FloatArray, Any]:
        """Weights and intercepts of a stream in the shape and order that users know them in."""
        raise NotImplementedError

    def _fitted_stream(self, recipe: Recipe) -> Stream:
        """A stream that goes on from a fit."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        # Asked for only where there is no such attribute. To make them after every piece would cost more than
        # to learn from it, where columns are many and pieces are small.
        stream = self.__dict__.get("_stream")
        if name in ("coef_", "intercept_") and stream is not None:
            return self._public(*stream.weights())[name == "intercept_"]
        return object.__getattribute__(self, name)  # which says why there is none

    def _scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        if self._stream is None:
            return super()._scores(X)
        rows = checked_rows(read_grown(self, X), 1, getattr(self, "feature_names_in_", None))
        assert isinstance(rows, NativeRows)
        return self._stream.scores(rows)

    def _width_of(self, texts: _core.HashedTexts) -> int:
        """The columns of hashed texts, which must be those of the stream so far."""
        known = self.__dict__.get("n_features_in_", texts.n_columns)
        if known != texts.n_columns:
            raise InputError(
                f"the texts are hashed to {texts.n_columns} columns, but the stream has {known}."
            )
        return texts.n_columns

    def _begun(self) -> Stream:
        """The stream so far, a new one, or one that goes on from a fit."""
        recipe = self._recipe()
        if self._stream is None:
            return self._fitted_stream(recipe) if "coef_" in self.__dict__ else Stream(recipe)
        if self._stream.recipe != recipe:
            raise ParameterError(
                f"options of {type(self).__name__} were changed in the middle of a stream, which began with "
                f"{self._stream.recipe} and is now {recipe}. Set them back, or begin anew with a clone."
            )
        return self._stream

    def _meet(self, stream: Stream, attributes: dict[str, Any], learn: Callable[[], None]) -> None:
        """Makes the stream this model's, and learns."""
        for name in _OF_FITS:
            self.__dict__.pop(name, None)
        self.__dict__.update(attributes)
        self._stream = stream
        refused = stream.total("refused")
        try:
            learn()
        finally:
            self._tell(stream)
        if stream.total("refused") > refused:
            warnings.warn(
                f"{stream.total('refused') - refused:.0f} rows have numbers whose squares, or whose loss, "
                "are more than float64 can hold, and were left out. Scale them.",
                PrecisionWarning,
                stacklevel=4,
            )

    def _forget_stream(self) -> None:
        """What a stream leaves behind and a fit does not have."""
        for name in ("_stream", "_arrivals", "_n_targets", "n_seen_", *ONLINE):
            self.__dict__.pop(name, None)

    def _tell(self, stream: Stream) -> None:
        """What the tally means."""
        weight = stream.total("weight")
        self.online_loss_ = stream.total("loss") / weight if weight > 0 else float(np.nan)
        self.n_seen_ = int(stream.total("rows"))
