"""Sums of kernel values with support vectors: what a stored kernel machine takes from rows.

As the core sums them for the learner, with the same bits: in float64, for every row by itself, whatever the
number of threads. Nothing is computed from the file until a row comes, and no memory is taken but for its
arrays and a part of the rows at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.data.matrices import csr_matrix
from lineal.data.rows import Arrays, from_dense
from lineal.model.answers import FloatArray
from lineal.model.kernel_profile import Profile
from lineal.model.record import Draft, Spec
from lineal.model.rows import MatrixRows

# Numbers that are held beside the rows: 32 MB.
_PIECE = 1 << 22
# The core has a number for each column of sparse rows, in every thread; with more columns than these it is
# shown those alone that hold something.
_WIDE = 1 << 22


@dataclass(frozen=True, eq=False)
class SupportVectors:
    """Rows of float64, dense or sparse: sorted, in range and finite."""

    n_columns: int
    dense: FloatArray | None = None
    sparse: Arrays | None = None

    def __len__(self) -> int:
        return len(self.dense) if self.dense is not None else len(self._arrays[0]) - 1

    @property
    def _arrays(self) -> Arrays:
        assert self.sparse is not None
        return self.sparse

    def matrix(self) -> _core.Matrix:
        """As the core reads them."""
        if self.dense is not None:
            return _core.Matrix.from_dense(self.dense, self.dense)
        return csr_matrix(*self._arrays, self.n_columns)

    def scaled(self, factor: float) -> SupportVectors:
        """The same rows times a number."""
        if factor == 1.0:
            return self
        if self.dense is not None:
            return SupportVectors(self.n_columns, self.dense * factor)
        starts, columns, values = self._arrays
        return SupportVectors(self.n_columns, None, (starts, columns, values * factor))

    def column_sizes(self, weights: FloatArray) -> FloatArray:
        """(n_columns,) sums of absolute values times the weights of rows."""
        if self.dense is not None:
            return np.asarray(np.abs(self.dense).T @ weights)
        starts, columns, values = self._arrays
        parts = np.abs(values) * np.repeat(weights, np.diff(starts))
        return np.asarray(np.bincount(columns, weights=parts, minlength=self.n_columns), dtype=np.float64)

    def dot(self, coefficients: FloatArray) -> FloatArray:
        """(n_columns, n_outputs) sums of rows times coefficients (n_outputs, n)."""
        if self.dense is not None:
            return np.ascontiguousarray(self.dense.T @ coefficients.T)
        starts, columns, values = self._arrays
        of_entries = np.repeat(coefficients, np.diff(starts), axis=1) * values
        sums = [np.bincount(columns, weights=part, minlength=self.n_columns) for part in of_entries]
        return np.ascontiguousarray(np.transpose(sums))

    def first(self, n_most: int) -> Arrays:
        """A few of the rows, sparse: spread evenly over all of them."""
        places = np.unique(np.linspace(0, len(self) - 1, min(n_most, len(self))).astype(np.int64))
        if self.dense is not None:
            return from_dense(self.dense[places])
        starts, columns, values = self._arrays
        sizes = np.diff(starts)[places]
        at = np.concatenate([np.arange(starts[k], starts[k + 1]) for k in places] or [np.empty(0, np.int64)])
        ends = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        return ends, columns[at].astype(np.int32), values[at]

    # ---- record -------------------------------------------------------------------------------

    def put(self, draft: Draft, place: str) -> None:
        """Keeps the rows; numbers that float32 holds exactly take half the room."""
        if self.dense is not None:
            draft.put(place, "vectors", _short(self.dense))
            return
        starts, columns, values = self._arrays
        draft.put(place, "starts", np.array(starts, dtype=np.int64))
        draft.put(place, "columns", np.array(columns, dtype=np.int32))
        draft.put(place, "values", _short(values))

    @classmethod
    def read(cls, spec: Spec, n_columns: int) -> SupportVectors:
        """What ``put`` kept, of so many columns."""
        if spec.has_tensor("vectors"):
            dense = spec.tensor("vectors", (np.float64, np.float32), (None, n_columns))
            found = cls(n_columns, np.ascontiguousarray(dense, dtype=np.float64))
            if not np.isfinite(dense).all():
                spec.refuse("vectors", "finite numbers", "some that are not")
            return found
        starts = spec.tensor("starts", (np.int64,), (None,))
        columns = spec.tensor("columns", (np.int32,), (None,))
        values = spec.tensor("values", (np.float64, np.float32), columns.shape)
        if not len(starts) or starts[0] != 0 or starts[-1] != len(columns) or (np.diff(starts) < 0).any():
            spec.refuse("starts", f"places that rise from 0 to {len(columns)}", "something else")
        found = cls(n_columns, None, (starts, columns, np.asarray(values, dtype=np.float64)))
        flaw = found.matrix().check(1)[0]
        if flaw:
            spec.refuse("columns", "sorted rows of finite numbers", flaw)
        return found


@dataclass(frozen=True, eq=False)
class KernelSums:
    """Sums over support vectors of coefficients times kernel values.

    Attributes
    ----------
    profile : the kernel
    vectors : the n support vectors
    coefficients : (n_outputs, n) finite
    ends : (n_segments + 1,) where parts of the support vectors that are summed apart begin and end
    scale, unit : powers of two, of :meth:`Profile.native`
    """

    profile: Profile
    vectors: SupportVectors
    coefficients: FloatArray
    ends: NDArray[np.int64]
    scale: float = 1.0
    unit: float = 1.0

    @classmethod
    def of_one(cls, profile: Profile, vectors: SupportVectors, coefficients: FloatArray) -> KernelSums:
        """Sums over all support vectors."""
        return cls(profile, vectors, coefficients, np.array([0, len(vectors)], dtype=np.int64))

    @property
    def n_segments(self) -> int:
        """How many parts are summed apart."""
        return len(self.ends) - 1

    def pieces(self, rows: MatrixRows) -> Iterator[tuple[slice, FloatArray]]:
        """(n, n_segments, n_outputs) sums of some rows after others."""
        n_numbers = self.n_segments * len(self.coefficients)
        needs_dense = self.vectors.dense is not None and rows.dense is None
        n_numbers = max(n_numbers, self.vectors.n_columns if needs_dense else 1, 1)
        step = max(1, _PIECE // n_numbers)
        for first in range(0, rows.n_rows, step):
            part = slice(first, min(first + step, rows.n_rows))
            yield part, self._of(rows, part)

    def whole(self, rows: MatrixRows) -> FloatArray:
        """The sums of all rows."""
        out = np.empty((rows.n_rows, self.n_segments, len(self.coefficients)))
        for part, sums in self.pieces(rows):
            out[part] = sums
        return out

    def _of(self, rows: MatrixRows, part: slice) -> FloatArray:
        if not len(self.vectors):
            return np.zeros((part.stop - part.start, self.n_segments, len(self.coefficients)))
        if self.vectors.dense is not None:
            dense = _dense(rows, part, self.scale)
            native, others = self._native, _core.Matrix.from_dense(dense, dense)
        else:
            sparse = _sparse(rows, part, self.scale)
            native, others = self._meeting(sparse)
        # Coefficients first: they are small where kernel values are large.
        sums = native.expand(others, self._rows, self._told, self.ends, rows.n_threads)
        if rows.beyond is not None and self.profile.kind == "gaussian" and self.profile.gamma > 0:
            sums *= np.exp(-self.profile.gamma * rows.beyond[part])[:, None, None]
        return np.asarray(sums)

    @cached_property
    def _native(self) -> _core.KernelValues:
        return self.profile.native(self.vectors.scaled(self.scale).matrix(), self.scale, self.unit)

    @cached_property
    def _rows(self) -> NDArray[np.int64]:
        return np.arange(len(self.vectors), dtype=np.int64)

    @cached_property
    def _told(self) -> FloatArray:
        return np.ascontiguousarray(self.coefficients * self.unit, dtype=np.float64)

    def _meeting(self, rows: Arrays) -> tuple[_core.KernelValues, _core.Matrix]:
        """Both sides as the core compares them: of very many columns those that are met, in their order."""
        width = self.vectors.n_columns
        if width <= _WIDE:
            return self._native, csr_matrix(*rows, width)
        starts, columns, values = self.vectors.scaled(self.scale)._arrays
        met = np.union1d(columns, rows[1])
        own = SupportVectors(len(met), None, (starts, np.searchsorted(met, columns), values))
        matrix = csr_matrix(rows[0], np.searchsorted(met, rows[1]), rows[2], max(len(met), 1))
        own = own if len(met) else SupportVectors(1, None, (starts, columns, values))
        return self.profile.native(own.matrix(), self.scale, self.unit), matrix

    # ---- what it knows of itself --------------------------------------------------------------

    def column_sizes(self) -> FloatArray:
        """(n_columns,) how much each column is in what the sums rest on."""
        return self.vectors.column_sizes(np.abs(self.coefficients).max(axis=0, initial=0.0))

    def rounding(self, rows: MatrixRows) -> float:
        """What rounding in another order may come to: a share of the largest sum that there could be."""
        size = float(np.abs(self.coefficients).sum(axis=1).max(initial=0.0))
        if self.profile.kind != "gaussian":
            lengths = _greatest_square(self.vectors), _greatest_square(_as_vectors(rows))
            with np.errstate(over="ignore", invalid="ignore"):
                base = abs(self.profile.gamma) * np.sqrt(lengths[0]) * np.sqrt(lengths[1])
                size *= float(np.power(base + abs(self.profile.c), float(self.profile.degree)))
        return 1e-12 * size if math.isfinite(size) else math.inf

    # ---- record -------------------------------------------------------------------------------

    def put(self, draft: Draft, place: str) -> dict[str, Any]:
        """Keeps all of it in a record."""
        self.vectors.put(draft, place)
        draft.put(place, "coefficients", np.array(self.coefficients, dtype=np.float64, order="C"))
        draft.put(place, "ends", np.array(self.ends, dtype=np.int64))
        return {"kernel": self.profile.put(), "scale": self.scale, "unit": self.unit}

    @classmethod
    def read(cls, spec: Spec, n_columns: int, n_segments: int, n_outputs: int) -> KernelSums:
        """What ``put`` kept; so many parts and outputs must be there."""
        scale, unit = (_power_of_two(spec, name) for name in ("scale", "unit"))
        profile = Profile.read(spec.child("kernel"), scale, unit)
        vectors = SupportVectors.read(spec, n_columns)
        shape = (n_outputs, len(vectors))
        coefficients = spec.tensor("coefficients", (np.float64,), shape)
        if not np.isfinite(coefficients).all():
            spec.refuse("coefficients", "finite numbers", "some that are not")
        ends = spec.tensor("ends", (np.int64,), (n_segments + 1,))
        if ends[0] != 0 or ends[-1] != len(vectors) or (np.diff(ends) < 0).any():
            spec.refuse("ends", f"places that rise from 0 to {len(vectors)}", "something else")
        return cls(profile, vectors, coefficients, ends, scale, unit)


def _power_of_two(spec: Spec, name: str) -> float:
    value = spec.number(name, 0.0, is_above=True)
    if not math.isfinite(value) or math.frexp(value)[0] != 0.5:
        spec.refuse(name, "a power of two", value)
    return value


def _short(array: NDArray[Any]) -> NDArray[Any]:
    with np.errstate(over="ignore"):
        half = np.ascontiguousarray(array, dtype=np.float32)
    return half if np.array_equal(half, array) else np.ascontiguousarray(array, dtype=np.float64)


def _dense(rows: MatrixRows, part: slice, scale: float) -> FloatArray:
    """Some rows with their zeros, in float64."""
    if rows.dense is not None:
        array = np.ascontiguousarray(rows.dense[part], dtype=np.float64)
        return array if scale == 1.0 else array * scale
    starts, columns, values = _sparse(rows, part, scale)
    array = np.zeros((len(starts) - 1, rows.n_columns))
    array[np.repeat(np.arange(len(array)), np.diff(starts)), columns] = values
    return array


def _sparse(rows: MatrixRows, part: slice, scale: float) -> Arrays:
    """What some rows hold, in float64."""
    if rows.dense is not None:
        starts, columns, values = from_dense(rows.dense[part])
    else:
        starts, columns, values = rows.stored()
        inside = slice(starts[part.start], starts[part.stop])
        starts, columns, values = starts[part.start : part.stop + 1], columns[inside], values[inside]
        starts = starts - starts[0]
    values = values.astype(np.float64, copy=False)
    return starts, columns, values if scale == 1.0 else values * scale


def _as_vectors(rows: MatrixRows) -> SupportVectors:
    return SupportVectors(rows.n_columns, None, _sparse(rows, slice(0, rows.n_rows), 1.0))


def _greatest_square(vectors: SupportVectors) -> float:
    """Of the rows' lengths."""
    with np.errstate(over="ignore"):
        if vectors.dense is not None:
            return float(np.square(vectors.dense).sum(axis=1).max(initial=0.0))
        starts, _, values = vectors._arrays
        sums = np.concatenate(([0.0], np.cumsum(np.square(values))))
        return float((sums[starts[1:]] - sums[starts[:-1]]).max(initial=0.0))
