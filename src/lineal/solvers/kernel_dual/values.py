"""Where kernel values come from: the core, for kernels of dot products; a Gram matrix, for all others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.cancellation import whole_or_nothing
from lineal.data import checked_rows
from lineal.errors import InputError
from lineal.kernels import Kernel
from lineal.objective.losses import FloatArray

IntArray = NDArray[np.int64]

# Rows of kernel values that are computed at once for prediction: so many numbers.
_PIECE = 8_000_000
# Rows whose longer twins are held at once.
_FEW_ROWS = 4096
# Sizes that float32 is at home with, squares and products included; others are brought there.
_ORDINARY = 2.0**-12, 2.0**12


@dataclass(frozen=True, eq=False)
class KernelValues:
    """A kernel on items that it has checked.

    Kernels with a ``profile`` (linear, polynomial, Gaussian) are computed in the core when they are needed,
    and take no memory to speak of. Every other kernel gives its Gram matrix once: 8 n^2 bytes. So does the
    Gaussian kernel of a ``table`` of the same items.

    Attributes
    ----------
    offsets : (n,) or None
        x.m of items that were moved by m, their mean (``centred``).
    """

    kernel: Kernel
    items: Any
    n_threads: int
    table: ProductTable | None = None
    offsets: FloatArray | None = None

    @property
    def n_rows(self) -> int:
        """How many items."""
        return self.kernel.size(self.items)

    @cached_property
    def scale(self) -> float:
        """A power of two that items are multiplied by in the core, where their size is out of the ordinary.

        It changes no bit of what follows, but float32 neither overflows nor vanishes.
        """
        entries = self.items.data if hasattr(self.items, "tocsr") else self.items
        return 1.0 / power_of_two(float(np.abs(entries).max(initial=0.0)))

    @cached_property
    def unit(self) -> float:
        """A power of two: kernel values of the core times it are the kernel's."""
        profile = self.kernel.profile
        if profile is not None and profile.kind == "gaussian":
            return 1.0
        return power_of_two(float(np.abs(self.diagonal()).max(initial=0.0)))

    @cached_property
    def centred(self) -> KernelValues:
        """These values for sums of coefficients that are 0: for the linear kernel, of dense rows around their
        mean where that is far from 0 beside what rows differ by.

        sum_i beta_i x_i.z is then the same but for one number, the sum of beta_i times ``offsets``; but the
        digits that all rows share are no longer in the way.
        """
        if not self.kernel.is_linear or hasattr(self.items, "tocsr") or not self.n_rows:
            return self
        with np.errstate(over="ignore", invalid="ignore"):
            mean = self.items.mean(axis=0, dtype=np.float64)
            moved = self.items - mean
            offsets, spread = moved @ mean, float(np.vdot(moved, moved))
            if not float(mean @ mean) * self.n_rows > spread or not np.isfinite(offsets).all():
                return self
        return KernelValues(self.kernel, moved, self.n_threads, offsets=offsets)

    def factor(self, rows: IntArray, most_work: float) -> FloatArray | None:
        """(n, d) V with V V' = the values of some rows, where the kernel is linear and columns are few; or
        None.
        """
        if not self.kernel.is_linear:
            return None
        d = self.items.shape[1]
        if 3 * d > len(rows) or len(rows) * d * d > most_work:
            return None
        part = self.items[rows]
        return np.asarray(part.toarray() if hasattr(part, "tocsr") else part, dtype=np.float64)

    def squared_norm(self, rows: IntArray, t: FloatArray) -> float | None:
        """|sum_i t_i x_i|^2 of some rows where the kernel is linear, summed by columns: what cancels does so
        before squares are taken. None for other kernels.
        """
        if not self.kernel.is_linear:
            return None
        part = self.items[rows]
        w = np.asarray(t @ part) if hasattr(part, "tocsr") else _long_sums(part, t).astype(np.float64)
        return float(w @ w)

    def block(self, rows: IntArray) -> FloatArray:
        """The values of some rows divided by ``unit``, in float64."""
        if self.kernel.profile is None:
            return self.gram[np.ix_(rows, rows)] / self.unit
        return self.kernel.compute(self.kernel.take(self.items, rows), None, self.n_threads) / self.unit

    @cached_property
    def matrix(self) -> _core.Matrix | None:
        """The items as the core sees them, where it computes the kernel."""
        return None if self.kernel.profile is None else self.matrix_of(self.items)

    def matrix_of(self, items: Any) -> _core.Matrix:
        """Items as the core is to see them beside these."""
        return checked_rows(items if self.scale == 1.0 else items * self.scale, self.n_threads).matrix

    @cached_property
    def native(self) -> _core.KernelValues:
        """The source that the core reads from: kernel values divided by ``unit``."""
        profile = self.kernel.profile
        if profile is None:
            G = self.gram / self.unit if self.unit != 1.0 else self.gram
            return _core.KernelValues.from_gram(G, G)
        if self.table is not None:
            assert profile.kind == "gaussian"
            return self.table.gaussian(profile.gamma / self.scale / self.scale)
        assert self.matrix is not None
        return profile.native(self.matrix, self.scale, self.unit)

    @cached_property
    def gram(self) -> FloatArray:
        """All values, in float64."""
        G = whole_or_nothing(lambda: self.kernel.compute(self.items, None, self.n_threads))
        if not np.isfinite(G).all():
            i, j = (int(k) for k in np.argwhere(~np.isfinite(G))[0])
            raise InputError(f"{self.kernel} {self.kernel.fault} for rows {i} and {j}. {self.kernel.remedy}")
        return np.ascontiguousarray(G, dtype=np.float64)

    @cached_property
    def first_equal(self) -> IntArray:
        """For each item the first one equal to it, where the core can tell; itself elsewhere."""
        if self.matrix is None:
            return np.arange(self.n_rows, dtype=np.int64)
        return _core.first_equal_rows(self.matrix)

    @cached_property
    def has_copies(self) -> bool:
        """Whether some items are known to be equal."""
        return bool(np.any(self.first_equal != np.arange(self.n_rows)))

    def with_kernel(self, kernel: Kernel) -> KernelValues:
        """Another kernel of dot products on the same items; what was found out about them stays."""
        values = replace(self, kernel=kernel)
        for name in ("scale", "matrix", "first_equal", "has_copies"):
            values.__dict__[name] = getattr(self, name)
        return values

    def diagonal(self) -> FloatArray:
        """k(x, x) of every item; the largest kernel values there are, so these are checked for all."""
        with np.errstate(over="ignore"):
            values = self.kernel.compute_diagonal(self.items)
        if not np.isfinite(values).all():
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            raise InputError(
                f"{self.kernel} {self.kernel.fault} for row {row} with itself. {self.kernel.remedy}"
            )
        return values


class ProductTable:
    """Dot products of every two rows, for Gaussian kernels of one gamma after another: 12 n^2 bytes.

    Values for a gamma overwrite those for the last one.
    """

    def __init__(self, values: KernelValues, n_threads: int) -> None:
        assert values.matrix is not None
        matrix = values.matrix
        self._native = whole_or_nothing(lambda: _core.ProductTable.make(matrix, n_threads))
        self._values = np.empty((values.n_rows, values.n_rows))
        self._n_threads = n_threads

    @staticmethod
    def size(n_rows: int) -> int:
        """In bytes."""
        return 12 * n_rows * n_rows

    def gaussian(self, gamma: float) -> _core.KernelValues:
        """The source that the core reads from."""
        return self._native.gaussian(gamma, self._values, self._values, self._n_threads)


@dataclass(frozen=True, eq=False)
class Weighed:
    """Scores V w of rows V with w = V't: few digits are lost where w is small beside what it is summed of.

    Attributes
    ----------
    f : (n,) scores
    squared : |w|^2
    doubt : by how much a score may be off at most (Higham 2002, 3.1)
    """

    f: FloatArray
    squared: float
    doubt: float

    @classmethod
    def of(cls, V: FloatArray, t: FloatArray) -> Weighed:
        """With w summed in the longest floating point numbers that there are."""
        n, d = V.shape
        weights = _long_sums(V, t).astype(np.float64)
        lengths = np.sqrt(np.einsum("ij,ij->i", V, V))
        in_w = (n + 4) * float(np.finfo(np.longdouble).eps) * float(np.abs(t) @ lengths)
        in_w += float(np.finfo(np.float64).eps) * float(np.linalg.norm(weights))
        off = (d + 4) * float(np.finfo(np.float64).eps) * float(np.linalg.norm(weights)) + in_w
        return cls(V @ weights, float(weights @ weights), off * float(lengths.max(initial=0.0)))

    @classmethod
    def quickly(cls, V: Any, t: FloatArray) -> Weighed:
        """With w summed in float64, of dense or sparse rows: two passes over V."""
        n, d = V.shape
        eps = float(np.finfo(np.float64).eps)
        squares = V.multiply(V).sum(axis=1) if hasattr(V, "tocsr") else np.einsum("ij,ij->i", V, V)
        lengths = np.sqrt(np.asarray(squares, dtype=np.float64).ravel())
        weights = np.asarray(t @ V, dtype=np.float64).ravel()
        size = float(np.linalg.norm(weights))
        off = (d + 8) * eps * size + (n + 8) * eps * float(np.abs(t) @ lengths)
        return cls(np.asarray(V @ weights), float(weights @ weights), off * float(lengths.max(initial=0.0)))


def _long_sums(V: FloatArray, t: FloatArray) -> NDArray[np.longdouble]:
    """V't, summed in the longest floating point numbers that there are."""
    w = np.zeros(V.shape[1], dtype=np.longdouble)
    for first in range(0, len(V), _FEW_ROWS):
        part = slice(first, first + _FEW_ROWS)
        w += t[part].astype(np.longdouble) @ V[part].astype(np.longdouble)
    return w


def expanded(
    values: KernelValues,
    others: Any,
    rows: IntArray,
    coefficients: FloatArray,
    segments: IntArray | None = None,
) -> FloatArray:
    """(n, n_segments, n_outputs) sums of coefficients times kernel values, in float64.

    ``rows`` are items of ``values``, ``coefficients`` (n_outputs, n) theirs, and ``segments`` says where
    parts of them begin and end that are summed apart. ``others`` are items that the kernel has checked.
    """
    if segments is None:
        segments = np.array([0, len(rows)], dtype=np.int64)
    n, n_outputs = values.kernel.size(others), len(coefficients)
    if not len(rows) or not n:
        return np.zeros((n, len(segments) - 1, n_outputs))
    if _meets(values, others):
        # Coefficients first: they are small where kernel values are large.
        told = np.ascontiguousarray(coefficients * values.unit, dtype=np.float64)
        return values.native.expand(values.matrix_of(others), rows, told, segments, values.n_threads)
    support = values.kernel.take(values.items, rows)
    out = np.empty((n, len(segments) - 1, n_outputs))
    step = max(1, _PIECE // len(rows))
    for start in range(0, n, step):
        piece = np.arange(start, min(start + step, n))
        K = values.kernel.compute(values.kernel.take(others, piece), support, values.n_threads)
        for s in range(len(segments) - 1):
            part = slice(segments[s], segments[s + 1])
            out[piece, s] = K[:, part] @ coefficients[:, part].T
    return out


def summed(values: KernelValues, at: IntArray, rows: IntArray, coefficients: FloatArray) -> FloatArray:
    """(n,) sums of coefficients of ``rows`` times kernel values with items ``at``, in float64."""
    told = np.ascontiguousarray(coefficients * values.unit, dtype=np.float64)
    return values.native.sums(at, rows, told, values.n_threads)


def voted(
    values: KernelValues,
    others: Any,
    rows: IntArray,
    coefficients: FloatArray,
    segments: IntArray,
    intercepts: FloatArray,
) -> IntArray | None:
    """The class that wins the most of its pairs for each item, the first of equals; None where the core
    cannot tell.

    Segments are classes and coefficients in LIBSVM's layout. A pair's score, ``intercepts`` included, speaks
    for the first class unless it is below 0.
    """
    if not len(rows) or not values.kernel.size(others) or not _meets(values, others):
        return None
    told = np.ascontiguousarray(coefficients * values.unit, dtype=np.float64)
    return values.native.votes(values.matrix_of(others), rows, told, segments, intercepts, values.n_threads)


def _meets(values: KernelValues, others: Any) -> bool:
    """Whether the core computes the kernel, and both are in one layout."""
    return values.matrix is not None and hasattr(others, "tocsr") == hasattr(values.items, "tocsr")


def power_of_two(size: float) -> float:
    """The power of two just below a size out of the ordinary; 1 for others."""
    if _ORDINARY[0] <= size <= _ORDINARY[1] or not 0.0 < size < np.inf:
        return 1.0
    return float(2.0 ** np.floor(np.log2(size)))
