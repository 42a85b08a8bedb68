"""Columns brought to a common size, with the factors of the training data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils.validation import check_array, validate_data

from lineal.data.matrices import require_sound
from lineal.deferred import sparse as sp
from lineal.errors import InputError, ParameterError
from lineal.features.matrices import canonical, refuse_overflow, weights_of_rows
from lineal.features.moments import FloatArray, Moments, are_ordinary, moments, ranges
from lineal.model.encodings.numeric import Affine
from lineal.protocol import BaseEstimator, TransformerMixin, check_is_fitted
from lineal.protocol.whole_fits import all_or_nothing

_TARGETS = ("[-1,1]", "[0,1]", "variance")
_CELLS = 1 << 15  # of rows that are scaled together
_ACCEPTED: dict[str, Any] = {"accept_sparse": ("csr", "csc"), "dtype": (np.float64, np.float32)}


class ColumnScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Scales every column to [-1, 1], to [0, 1] or to variance 1.

    A column becomes ``(x - offset_) / scale_``. Both numbers come from the training data and are used again
    at test time, where a value beyond the training range leaves the interval.

    Without ``shift`` the offset is 0, so 0 stays 0: sparse matrices stay sparse, and a dense array of the
    same numbers gives the same answer. With it the column also moves, which sparse matrices refuse.

    ============  ==================================================  =====================================
    ``to``        ``shift=False``                                     ``shift=True``
    ============  ==================================================  =====================================
    "[-1,1]"      x / max abs x                                       least to -1, greatest to 1
    "[0,1]"       x / max x; columns with values below 0 are refused  least to 0, greatest to 1
    "variance"    x / deviation                                       (x - mean) / deviation
    ============  ==================================================  =====================================

    The unstored zeros of a sparse matrix count like any value.

    Parameters
    ----------
    to : "[-1,1]", "[0,1]" or "variance"
        The deviation is that of the data, divided by the sum of weights and not by one less.
    shift : bool
        Whether columns may be moved as well as stretched.

    Attributes
    ----------
    scale_, offset_ : (n_columns,) float64
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    A constant column has ``scale_`` 1 where the deviation or, with ``shift``, the range would be 0; so has a
    column of zeros. Sums run in float64 and in units of powers of two, so neither 1e300 nor 1e-300 overflows
    or vanishes. float32 comes back as float32. It costs three passes to fit and one to transform.

    Examples
    --------
    >>> from lineal import ColumnScaler
    >>> scaler = ColumnScaler("[-1,1]").fit([[1.0, -20.0], [4.0, 10.0]])
    >>> scaler.transform([[2.0, 40.0]])
    array([[0.5, 2. ]])
    """

    def __init__(self, to: str = "[-1,1]", *, shift: bool = False) -> None:
        self.to = to
        self.shift = shift

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learns a scale and an offset for each column.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
        y : ignored
        sample_weight : sequence of n_rows numbers >= 0, optional
            A weight of 2 means the row twice; a row of weight 0 has no part in any of the three.

        Returns
        -------
        self
        """
        if self.to not in _TARGETS:
            raise ParameterError(f"to must be one of {', '.join(map(repr, _TARGETS))}, got {self.to!r}.")
        X = self._checked(X, reset=True)
        self._learn(X, weights_of_rows(sample_weight, X.shape[0]))
        return self

    def of_columns(self, rows: FloatArray, names: Sequence[str]) -> list[Affine]:
        """What ``fit`` to columns of finite numbers would make of each, for whoever has checked them.

        The columns are the rows of a matrix, one after the other in memory.
        """
        if self.to not in _TARGETS:
            raise ParameterError(f"to must be one of {', '.join(map(repr, _TARGETS))}, got {self.to!r}.")
        learned = ColumnScaler(self.to, shift=self.shift)
        learned._learn(rows.T, np.ones(rows.shape[1]), names)
        found = (learned._unit.tolist(), learned._offset.tolist(), learned._scale.tolist())
        return [Affine(*own) for own in zip(*found, strict=True)]

    def _learn(self, X: Any, s: FloatArray, names: Sequence[str] | None = None) -> None:
        of = moments(X, s) if self.to == "variance" else ranges(X, s)
        if isinstance(of, Moments):
            scale, offset = of.deviation, of.mean
        elif not self.shift:
            scale, offset = np.maximum(np.abs(of.least), np.abs(of.greatest)), np.zeros(len(of.least))
            if self.to == "[0,1]" and (of.least < 0).any():
                j = int(np.flatnonzero(of.least < 0)[0])
                called = self._name(j) if names is None else repr(names[j])
                raise InputError(
                    f"'[0,1]' without a shift needs values of at least 0, but column {called} goes "
                    f"down to {of.least[j] / of.unit[j]:g}. Use to='[-1,1]', or shift=True on a dense array."
                )
        elif self.to == "[0,1]":
            scale, offset = of.greatest - of.least, of.least
        else:
            scale, offset = (of.greatest - of.least) / 2, of.least + (of.greatest - of.least) / 2
        # In units; a scale of 0 is a constant, which stays as it is.
        self._unit = of.unit
        self._scale = np.where(scale > 0, scale, of.unit)
        self._offset = offset if self.shift else np.zeros(len(scale))
        with np.errstate(over="ignore"):  # the range of a column that spans all doubles is shown as inf
            self.scale_, self.offset_ = self._scale / of.unit, self._offset / of.unit

    def transform(self, X: Any) -> Any:
        """(n_rows, n_columns) scaled numbers, in the layout and precision of X; X is left as it is."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        is_finite = False
        with np.errstate(over="ignore", invalid="ignore"):
            if sp.issparse(X):
                column = _column_of_stored(X)
                scaled = _with_data(X, X.data * self._unit[column] / self._scale[column])
            else:
                scaled, is_finite = self._moved(X)
        if not is_finite:
            advice = "The data are far from those of the fit: check their units."
            refuse_overflow(scaled, "a scaled value", advice)
        return scaled

    def _moved(self, X: NDArray[Any]) -> tuple[NDArray[Any], bool]:
        """(X unit - offset) / scale by doubles, and whether all are finite.

        A few rows after another: they stay in a cache on the way. Units are powers of two, which change no
        bit where all columns are of an ordinary size.
        """
        is_ordinary = are_ordinary(self._unit)
        offset, scale = (self.offset_, self.scale_) if is_ordinary else (self._offset, self._scale)
        scaled, is_finite = np.empty_like(X), True
        step = max(1, _CELLS // X.shape[1])
        for first in range(0, len(X), step):
            x, z = X[first : first + step], scaled[first : first + step]
            y = z if z.dtype == np.float64 else np.empty(z.shape)
            if not is_ordinary:
                x = np.multiply(x, self._unit, out=y)
            if self.shift:
                x = np.subtract(x, offset, out=y)
            np.divide(x, scale, out=z, casting="same_kind")
            is_finite = is_finite and bool(np.isfinite(z.sum()))
        return scaled, is_finite

    def take_scales(self, unit: FloatArray, offset: FloatArray, scale: FloatArray) -> None:
        """Scales from now on with numbers that were learned by a scaler with these options."""
        self._unit, self._offset, self._scale = unit, offset, scale
        with np.errstate(over="ignore"):
            self.scale_, self.offset_ = scale / unit, offset / unit

    def inverse_transform(self, X: Any) -> Any:
        """Numbers as they were before ``transform``, up to rounding."""
        check_is_fitted(self)
        X = self._sparse_or_dense(check_array(require_sound(X), **_ACCEPTED))
        if X.shape[1] != self.n_features_in_:
            raise InputError(f"X has {X.shape[1]} columns, but the fit had {self.n_features_in_}.")
        with np.errstate(over="ignore"):
            if sp.issparse(X):
                column = _column_of_stored(X)
                back = _with_data(X, X.data * self._scale[column] / self._unit[column])
            else:
                back = ((X * self._scale + self._offset) / self._unit).astype(X.dtype, copy=False)
        refuse_overflow(back, "a value", "Numbers this large did not come out of transform.")
        return back

    def _checked(self, X: Any, *, reset: bool) -> Any:
        return self._sparse_or_dense(validate_data(self, require_sound(X), reset=reset, **_ACCEPTED))

    def _sparse_or_dense(self, X: Any) -> Any:
        if not sp.issparse(X):
            return X
        if self.shift:
            raise InputError(
                f"shift=True would turn every 0 of a sparse matrix of shape {X.shape} into a stored number. "
                "Use shift=False, which stretches only, or make X dense."
            )
        return canonical(X)

    def _name(self, j: int) -> str:
        names = getattr(self, "feature_names_in_", None)
        return f"{j}" if names is None else f"{j} ({names[j]!r})"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.shift
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _column_of_stored(X: Any) -> NDArray[Any]:
    return X.indices if X.format == "csr" else np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))


def _with_data(X: Any, data: NDArray[Any]) -> Any:
    """The same layout around other numbers, in the precision of X."""
    return type(X)((data.astype(X.dtype, copy=False), X.indices.copy(), X.indptr.copy()), shape=X.shape)
