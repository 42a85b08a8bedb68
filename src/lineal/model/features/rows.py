"""Rows of numbers, as they come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lineal.data.matrices import checked_matrix, is_sparse
from lineal.data.rows import Arrays, from_dense
from lineal.errors import InputError, InputTypeError
from lineal.model.answers import FloatArray
from lineal.model.explanation import Explanation
from lineal.model.features.base import MOST_GOLDEN, Features, stored_in
from lineal.model.record import Draft, Spec
from lineal.model.row_explanation import RowBlock, explained_row
from lineal.model.rows import MatrixRows

MOST_COLUMNS = 2**31 - 1
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


@dataclass(frozen=True, eq=False)
class RowFeatures(Features):
    """A matrix of numbers.

    Attributes
    ----------
    width : how many columns there are
    own_names : their names, or None
    is_open : whether sparse matrices may have more or fewer columns, as those of streams may
    """

    kind: ClassVar[str] = "rows"

    width: int
    own_names: tuple[str, ...] | None = None
    is_open: bool = False

    @property
    def n_columns(self) -> int:
        return self.width

    @property
    def n_inputs(self) -> int:
        return self.width

    def rows(self, X: Any, n_threads: int) -> MatrixRows:
        array = self._read(X)
        if array.shape[1] != self.width and not (self.is_open and is_sparse(array)):
            raise InputError(
                f"X has {array.shape[1]} features, but the model is expecting {self.width} features as input."
            )
        matrix, dense = checked_matrix(array, n_threads, self.own_names, in_order=False)
        if matrix.n_columns == self.width:
            return MatrixRows(matrix, n_threads, dense)
        # Columns that the model has not met have no weight.
        starts, columns, values = MatrixRows(matrix, n_threads).stored()
        is_known = columns < self.width
        kept = np.concatenate(([0], np.cumsum(is_known)))
        arrays = (kept[starts], columns[is_known], values[is_known])
        known = MatrixRows.of(arrays, self.width, n_threads)
        if is_known.all():
            return known
        with np.errstate(over="ignore"):
            squares = np.where(is_known, 0.0, np.square(values, dtype=np.float64))
            rows = np.repeat(np.arange(known.n_rows), np.diff(starts))
            beyond: Any = np.bincount(rows, weights=squares, minlength=known.n_rows)
            return replace(known, beyond=beyond)

    def _read(self, X: Any) -> Any:
        """X as a float array or sparse matrix."""
        if is_sparse(X):
            if len(X.shape) != 2 or X.dtype.kind not in "biuf":
                raise InputTypeError(f"X must be a matrix of numbers, got {X.dtype} of shape {X.shape}.")
            return X if X.dtype in _FLOATS else X.astype(np.float64)
        self._hold_to_names(X)
        if isinstance(X, Mapping):
            X = np.column_stack([np.asarray(X[name]) for name in self.own_names or ()])
        return float_array(X)

    def _hold_to_names(self, X: Any) -> None:
        own = None if self.own_names is None else list(self.own_names)
        if isinstance(X, Mapping):
            if own is None or set(X) != set(own):
                needed = "a matrix" if own is None else f"columns {own[:8]}"
                raise InputError(f"the model needs {needed}, but a dict with {list(X)[:8]} came.")
            return
        names = _names_of(X)
        if own is not None and names is not None and names != own:
            raise InputError(
                "The feature names should match those that were passed during fit, in their order: "
                f"{own[:8]}, got {names[:8]}."
            )

    def names(self) -> list[str]:
        return list(self.own_names) if self.own_names is not None else [f"x{j}" for j in range(self.width)]

    def names_of(self, columns: Sequence[int]) -> list[str]:
        return [self.own_names[j] if self.own_names is not None else f"x{j}" for j in columns]

    def input_names(self) -> list[str] | None:
        return None if self.own_names is None else list(self.own_names)

    def single(self, x: Any) -> Any:
        if is_sparse(x):
            return x
        if isinstance(x, Mapping):
            unknown = [name for name in x if self.own_names is None or name not in self.own_names]
            if unknown:
                known = self.names_of(range(min(self.width, 8)))
                raise InputError(f"the model has no columns {unknown[:8]}. It has {known}.")
            return [[float(x.get(name, 0.0)) for name in self.own_names or ()]]
        array = float_array(x if np.ndim(x) == 2 else [x])
        return array

    def inputs_with(self, rows: Arrays) -> Any:
        return rows

    def made_up(self, heavy: Sequence[int]) -> Any:
        columns = np.unique(np.asarray(heavy[:64], dtype=np.int32)) if len(heavy) else np.empty(0, np.int32)
        block = np.zeros((8, len(columns)))
        for row in range(1, 8):  # one stays empty
            places = np.arange(row - 1, len(columns), row)
            block[row, places] = 1.0 + 0.25 * row - 0.5 * (places % 3)
        starts, places, values = from_dense(block)
        return starts, columns[places], values

    def explanation(
        self, x: Any, rows: MatrixRows, label: Any, weights: FloatArray, intercept: float
    ) -> Explanation:
        return explained_columns(self, rows, label, weights, intercept)

    def golden_rows(self, made: Any) -> MatrixRows:
        return MatrixRows.of(made, self.width, 1)

    def put_golden(self, draft: Draft, place: str, made: Any) -> dict[str, Any]:
        for name, array in zip(("starts", "columns", "values"), made, strict=True):
            draft.put(place, name, array)
        return {}

    def read_golden(self, spec: Spec) -> Any:
        starts = spec.tensor("starts", (np.int64,), (None,))
        columns = spec.tensor("columns", (np.int32,), (None,))
        arrays = (starts, columns, spec.tensor("values", (np.float64,), columns.shape))
        if not 1 <= len(starts) <= MOST_GOLDEN + 1 or starts[0] != 0 or starts[-1] != len(columns):
            spec.refuse("starts", f"places of at most {MOST_GOLDEN} rows", starts.tolist()[:8])
        flaw = MatrixRows.of(arrays, self.width, 1).matrix.check(1)[0]
        if flaw:
            spec.refuse("columns", "sorted rows of finite numbers", flaw)
        return arrays

    def put(self, draft: Draft, place: str) -> dict[str, Any]:
        if self.own_names is not None:
            draft.put_strings(place, "names", self.own_names)
        return {"kind": self.kind, "n_columns": self.width, "is_open": self.is_open}

    @classmethod
    def read(cls, spec: Spec) -> RowFeatures:
        """What ``put`` kept."""
        width = spec.whole("n_columns", 1, MOST_COLUMNS)
        names = tuple(spec.strings("names")) if spec.has_tensor("names.bytes") else None
        if names is not None and len(names) != width:
            spec.refuse("names", f"names of {width} columns", f"{len(names)} names")
        return cls(width, names, spec.flag("is_open"))


def explained_columns(
    features: Features, rows: MatrixRows, label: Any, weights: FloatArray, intercept: float
) -> Explanation:
    """The explanation of a row whose columns are what people know."""
    columns, values = stored_in(rows)
    names = features.names_of(columns)
    of = np.asarray(weights[columns], dtype=np.float64)
    return explained_row(label, [RowBlock(names, names, np.array(values), of)], intercept)


def float_array(X: Any) -> NDArray[Any]:
    """A 2-D array of float64, or of float32 where it came so."""
    try:
        array = np.asarray(X)
        if array.dtype.kind in "US":
            raise ValueError("they are text")
        if array.dtype.kind not in "biufO":
            raise TypeError(f"they are of type {array.dtype}")
        array = array if array.dtype in _FLOATS else array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputTypeError(f"X must be rows of numbers, but could not be read as such: {error}.") from error
    if array.ndim != 2:
        raise InputError(
            f"Expected 2D array, got {array.ndim}D array instead. Reshape your data: array.reshape(-1, 1) "
            f"for one "
            "column, array.reshape(1, -1) for one row."
        )
    return array


def _names_of(X: Any) -> list[str] | None:
    """The names of a data frame's columns, if they are text."""
    if isinstance(X, np.ndarray) or not hasattr(X, "columns"):
        return None
    names = list(X.columns)
    return names if all(isinstance(name, str) for name in names) else None
