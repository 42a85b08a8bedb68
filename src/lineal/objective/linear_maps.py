"""Data as the objective meets them: a linear map A from weights to scores, and its adjoint.

``LinearMap`` says what the objective and the solvers ask, at the grain of one pass over the data a call. A
map of one's own states ``dot`` and ``adjoint``; everything else has a default that is made of the two.
Weights are feature-major, (n_columns, K); scores and dual variables are (n_rows, K).

========================  ==================================================================================
``NativeRows``            rows in the core, threaded, with the same bits for any number of threads
``DenseColumns``          some columns of dense rows, each in one run: a working set
``NumpyRows``             rows of NumPy and SciPy alone: the independent road that ``verify`` takes
``JointRows``             a joint map phi(x, y): K rows of features a row of data share one column of weights
``SharedRows``            one direction for all K scores of a row; intercepts alone tell them apart
``OperatorMap``           a SciPy ``LinearOperator``, or anything with ``shape``, ``matvec`` and ``rmatvec``
========================  ==================================================================================

What a map has beyond passes it declares: ``native_rows`` for solvers that walk over rows one by one,
``n_scores`` for scores that share weights, ``near_zero`` for columns that lie far from 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.cancellation import break_off_if_over
from lineal.deferred import sparse as sp
from lineal.objective.losses import FloatArray

# From a score l to how the slopes of all scores change with it, (n, K).
Curvature = Callable[[int], FloatArray]

# Up to so many columns the core builds a dense Gram matrix faster than BLAS does, and without copying X.
_NARROW = 256
# Columns that are met at a time where a map is known by its products alone.
_PANEL = 16
# So many deviations from 0 are far, among so many rows at first; of sparse rows, among fewer before that.
_FAR, _GLANCE, _FIRST_GLANCE = 1e4, 64, 4
# What float32 rounds of a row, relative to its length, if that lies between these two: numbers below the
# normal ones of float32 are then nothing beside it.
FLOAT32_ROUNDING = 1.001 * float(np.finfo(np.float32).eps) / 2
_LEAST_OF_FLOAT32, _MOST_OF_FLOAT32 = 1e-30, 1e30


class LinearMap(ABC):
    """What the objective and the solvers ask of data.

    Attributes
    ----------
    n_scores : int
        How many scores a column of weights gives a row: 1, or one for each label of a joint map.
    is_sparse : bool
        Whether zeros are left out.
    n_threads : int or None
        How many threads the core has for losses of these rows; None where they are not in the core.
    is_dear : bool
        Whether a pass takes about as long as a fit (kernels): proofs then ask for no more than they need.
    """

    n_scores: int = 1
    is_sparse: bool = False
    n_threads: int | None = None
    is_dear: bool = False

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """How many rows."""

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """How many columns."""

    @abstractmethod
    def dot(self, W: FloatArray) -> FloatArray:
        """X W."""

    @abstractmethod
    def adjoint(self, U: FloatArray) -> FloatArray:
        """X'U."""

    # ---- what can be made of these two --------------------------------------------------------

    def curved(self, w: FloatArray, constant: float, h: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        """z = X w + constant, X'(h z) and the sum of h z, for one column of weights."""
        z = self.dot(w[:, None])[:, 0] + constant
        return z, self.adjoint((h * z)[:, None])[:, 0], float(h @ z)

    @property
    def n_stored(self) -> int:
        """How many numbers a pass meets."""
        return self.n_rows * self.n_columns

    @property
    def native_rows(self) -> NativeRows | None:
        """The rows in the core, for solvers that walk over them; None where there are none."""
        return None

    @property
    def direction(self) -> LinearMap | None:
        """The map to the one score that all scores of a row share, apart from constants, if they do."""
        return None

    def near_zero(self) -> tuple[LinearMap, FloatArray] | None:
        """The rows with columns moved near 0, and by how much; None where none lie far from it."""
        return None

    def dense_array(self, most: float) -> FloatArray | None:
        """The numbers as an ndarray: where they are one, or where there are few of them."""
        return None

    def adjoint_summary(self, U: FloatArray, W: FloatArray, strength: float) -> tuple[float, float]:
        """|V|^2 and the largest |V + strength W| for V = X'U."""
        V = self.adjoint(U)
        return float(np.vdot(V, V)), float(np.abs(V + strength * W).max(initial=0.0))

    def sum_of_squares(self, W: FloatArray) -> float:
        """|W|^2 in float64, whatever W is."""
        W = W.astype(np.float64, copy=False)
        return float(np.vdot(W, W))

    def squared_adjoint(self, H: FloatArray) -> FloatArray:
        """(X*X)'H, with squares entry by entry: the diagonal of X'diag(h)X for each column h of H.

        From products alone it takes a pass for every 16 columns; a map that knows its entries does better.
        """
        return np.concatenate([(panel * panel).T @ H for _, panel in self._panels()])

    def gram(self, h: FloatArray, with_constant: bool) -> FloatArray:
        """X'diag(h)X, or [X 1]'diag(h)[X 1]; from products alone, two passes for every 16 columns."""
        d = self.n_columns
        G = np.empty((d + with_constant, d + with_constant))
        for part, panel in self._panels():
            G[:d, part] = self.adjoint(h[:, None] * panel)
        G[:d, :d] = 0.5 * (G[:d, :d] + G[:d, :d].T)
        if with_constant:
            G[:d, d] = G[d, :d] = self.adjoint(h[:, None])[:, 0]
            G[d, d] = h.sum()
        return G

    def grams(self, H: FloatArray, with_constant: bool) -> FloatArray:
        """(K, d, d): the same for each column of H."""
        found = []
        for h in H.T:
            break_off_if_over()
            found.append(self.gram(np.ascontiguousarray(h), with_constant))
        return np.stack(found)

    def _panels(self) -> Iterator[tuple[slice, FloatArray]]:
        """(n, k) columns, some at a time."""
        d = self.n_columns
        for first in range(0, d, _PANEL):
            part = slice(first, min(first + _PANEL, d))
            break_off_if_over()
            yield part, self.dot(np.eye(d, part.stop - first, -first))

    def joint_gram(self, H: Curvature, n_outputs: int, with_constant: bool) -> FloatArray:
        """The Hessian, in the flat weights and constants, of losses that see a row's K scores together.

        The (k, l) block is [X 1]'diag(h_kl)[X 1]; blocks lie side by side, score by score in each column.
        """
        size, K = self.n_columns + with_constant, n_outputs
        G = np.empty((size, K, size, K))
        for l in range(K):
            found = self.grams(H(l)[:, : l + 1], with_constant)
            G[:, : l + 1, :, l] = found.transpose(1, 0, 2)
            G[:, l, :, : l + 1] = found.transpose(1, 2, 0)
        return G.reshape(size * K, size * K)

    def take_columns(self, wanted: NDArray[np.int64]) -> LinearMap:
        """Those columns alone, in increasing order."""
        return _SomeColumns(self, wanted)


@dataclass(frozen=True)
class _SomeColumns(LinearMap):
    """Some columns of a map that is known by its products: the others have weights 0."""

    whole: LinearMap
    wanted: NDArray[np.int64]

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return self.whole.n_rows

    @property
    def n_columns(self) -> int:
        """How many columns."""
        return len(self.wanted)

    def dot(self, W: FloatArray) -> FloatArray:
        """X W."""
        every = np.zeros((self.whole.n_columns, W.shape[1]))
        every[self.wanted] = W
        return self.whole.dot(every)

    def adjoint(self, U: FloatArray) -> FloatArray:
        """X'U."""
        return self.whole.adjoint(U)[self.wanted]


@dataclass(frozen=True)
class NativeRows(LinearMap):
    """Rows in the native core.

    Attributes
    ----------
    given : _core.Matrix
        Checked arrays: finite, in range, no column twice in a row. Columns come in any order: whoever walks
        over single rows adds up in that order.
    n_threads : int
        Changes the time, never the bits.
    dense : array or None
        The same numbers as an ndarray when they are dense, for BLAS.
    kept : KeptColumns or None
        Columns that were taken before, where many fits on the same rows follow one another.
    """

    given: _core.Matrix
    n_threads: int = 1
    dense: FloatArray | None = None
    kept: KeptColumns | None = None

    @cached_property
    def matrix(self) -> _core.Matrix:
        """The same with columns that increase in each row: a copy, where they do not as they are given."""
        return self.given if self.given.is_ordered else self.given.ordered(self.n_threads)

    @cached_property
    def n_rows(self) -> int:
        """How many rows."""
        return self.given.n_rows

    @cached_property
    def n_columns(self) -> int:
        """How many columns."""
        return self.given.n_columns

    @cached_property
    def is_sparse(self) -> bool:  # type: ignore[override]
        """Whether zeros are left out."""
        return self.given.is_sparse

    @cached_property
    def n_stored(self) -> int:
        """How many numbers are stored."""
        return self.given.n_stored

    @property
    def native_rows(self) -> NativeRows:
        """These."""
        return self

    def near_zero(self) -> tuple[NativeRows, FloatArray] | None:
        """The rows with columns moved near 0: a copy, in which zeros of far sparse columns become numbers."""
        if self.kept is None:
            return self._moved_near_zero()
        if not self.kept.was_moved:
            found = self._moved_near_zero()
            self.kept.was_moved = True
            self.kept.moved = None if found is None else (found[0].keeping_columns(), found[1])
        return self.kept.moved

    def _moved_near_zero(self) -> tuple[NativeRows, FloatArray] | None:
        if self.dense is not None:
            by = far_from_zero(self.dense) if may_be_far(self.dense) else None
            return None if by is None else (native_dense(_moved(self.dense, by), self.n_threads), by)
        by = _stored_far_from_zero(*self.given.arrays(), self.n_columns)
        return None if by is None else (native_csr(_moved_stored(self.csr(), by), self.n_threads), by)

    def dense_array(self, most: float) -> FloatArray | None:
        """The numbers as an ndarray: always where they are one; sparse rows up to so many multiplications."""
        n, d = self.n_rows, self.n_columns
        if self.dense is None and n * d * min(n, d) <= most:
            return np.asarray(self.csr().toarray())
        return self.dense

    def dot(self, W: FloatArray) -> FloatArray:
        """X W."""
        Z = np.empty((self.n_rows, W.shape[1]))
        self.given.dot(_side_by_side(W), Z, self.n_threads)
        return Z

    def adjoint(self, U: FloatArray) -> FloatArray:
        """X'U."""
        V = _core.large_array(self.n_columns, U.shape[1])
        self._for_sums(U).adjoint(np.ascontiguousarray(U), V, self.n_threads)
        return V

    def curved(self, w: FloatArray, constant: float, h: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        """The same, dense rows being met once."""
        if self.is_sparse:
            return super().curved(w, constant, h)
        z, V = np.empty(self.n_rows), np.empty(self.n_columns)
        return z, V, self.given.curved(w, constant, h, z, V, self.n_threads)

    def adjoint_summary(self, U: FloatArray, W: FloatArray, strength: float) -> tuple[float, float]:
        """|V|^2 and the largest |V + strength W| for V = X'U, which is never held."""
        return self._for_sums(U).adjoint_summary(
            np.ascontiguousarray(U), _side_by_side(W), strength, self.n_threads
        )

    def _for_sums(self, U: FloatArray) -> _core.Matrix:
        """Rows for sums by columns: those out of order need room for as many sums again."""
        return self.given if U.shape[1] == 1 else self.matrix

    def squared_adjoint(self, H: FloatArray) -> FloatArray:
        """(X*X)'H."""
        V = np.empty((self.n_columns, H.shape[1]))
        self.matrix.squared_adjoint(np.ascontiguousarray(H), V, self.n_threads)
        return V

    @cached_property
    def squared_norms(self) -> FloatArray:
        """|x_i|^2 for each row."""
        return self.given.squared_norms(self.n_threads)

    def sum_of_squares(self, W: FloatArray) -> float:
        """|W|^2 in float64, whatever W is."""
        return _core.sum_of_squares(_side_by_side(W), self.n_threads)

    def gram(self, h: FloatArray, with_constant: bool) -> FloatArray:
        """X'diag(h)X; dense data go through BLAS, unless there is too little of a row to be worth it."""
        known = self.__dict__.get("_even_gram")
        if known is not None and known[0] == with_constant and (h == known[1]).all():
            return np.array(known[2])
        if self.dense is None or self.n_columns <= _NARROW:
            G = self.matrix.gram(np.ascontiguousarray(h), with_constant, self.n_threads)
        else:
            G = NumpyRows(self.dense).gram(h, with_constant)
        if self.n_columns <= _FEW_COLUMNS and len(h) and (h == h[0]).all():
            # Least squares, and what is proved of them, ask for it again.
            self.__dict__["_even_gram"] = with_constant, float(h[0]), np.array(G)
        return G

    def grams(self, H: FloatArray, with_constant: bool) -> FloatArray:
        """The same for each column of H, in one call unless BLAS has them."""
        if self.dense is None or self.n_columns <= _NARROW:
            return self.matrix.grams(np.ascontiguousarray(H), with_constant, self.n_threads)
        return super().grams(H, with_constant)

    def row_products(self, weights: FloatArray) -> FloatArray:
        """(n, n) products of every two rows, each column with its weight: X diag(weights) X'."""
        if self.dense is not None:
            wide = self.dense.astype(np.float64, copy=False)
            if np.all(weights == 1.0):
                return np.asarray(wide @ wide.T)  # BLAS computes half of it
            return np.asarray((wide * weights) @ wide.T)
        return self.transposed().gram(weights, False)

    def in_float32(self) -> NativeRows | None:
        """Sparse float64 rows with numbers of half as many bits, in the same places: to walk over often.

        The rows differ by at most ``FLOAT32_ROUNDING`` of their lengths. None where rows are of another kind,
        or float32 has no numbers that large, or nearly none that small.
        """
        if self.dense is not None or self.given.is_float32:
            return None
        norms = self.squared_norms
        least, most = norms.min(initial=np.inf, where=norms > 0), norms.max(initial=0.0)
        if not (least >= _LEAST_OF_FLOAT32**2 and most <= _MOST_OF_FLOAT32**2):
            return None
        return NativeRows(self.given.in_float32(self.n_threads), self.n_threads)

    def take_columns(self, wanted: NDArray[np.int64]) -> NativeRows | DenseColumns:
        """Those columns alone."""
        if self.dense is not None:
            if self.kept is not None:
                return self.kept.take(self.dense, wanted, self.n_threads)
            return DenseColumns(_columns_of(self.dense, wanted), self.n_threads)
        columns = np.ascontiguousarray(wanted, dtype=np.int64)
        return NativeRows(self.matrix.take_columns(columns, self.n_threads), self.n_threads)

    def keeping_columns(self) -> NativeRows:
        """The same rows, which keep what is taken of them: for many fits that follow one another."""
        return replace(self, kept=KeptColumns(self.n_rows, self.n_columns))

    def as_columns(self) -> NativeRows:
        """The columns as rows, dense or sparse as they are: what column-wise descent walks over."""
        if self.dense is None:
            return self.transposed()
        return native_dense(_columns_of(self.dense, np.arange(self.n_columns)), self.n_threads)

    def transposed(self) -> NativeRows:
        """Columns as rows, sparse float64."""
        return NativeRows(self.given.transposed(), self.n_threads)

    def csr(self) -> sp.csr_array:
        """The rows for SciPy."""
        if self.dense is not None:
            return without_zeros(self.dense)
        start, index, value = self.matrix.arrays()
        return sp.csr_array((value, index, start), shape=(self.n_rows, self.n_columns))


def without_zeros(X: FloatArray) -> sp.csr_array:
    """Rows of an array as SciPy's, which makes them by way of triples of numbers, many times slower."""
    n, d = X.shape
    place = np.flatnonzero(X)
    kind = np.int32 if max(len(place), d) < 2**31 else np.int64
    column = np.tile(np.arange(d, dtype=kind), n) if len(place) == n * d else (place % d).astype(kind)
    start = np.concatenate(([0], np.cumsum(np.count_nonzero(X, axis=1)))).astype(kind)
    return sp.csr_array((X.ravel()[place], column, start), shape=X.shape)


def _side_by_side(W: FloatArray) -> FloatArray:
    """W itself where each of its rows is one run of floats, however far the rows are apart; else a copy."""
    is_run = W.shape[1] <= 1 or W.strides[1] == W.itemsize
    is_apart = W.shape[0] <= 1 or W.strides[0] >= W.shape[1] * W.itemsize
    return W if is_run and is_apart else np.ascontiguousarray(W)


def native_dense(X: NDArray[Any], n_threads: int) -> NativeRows:
    """A dense C-contiguous float array, borrowed."""
    return NativeRows(_core.Matrix.from_dense(X, X), n_threads, X)


def native_csr(X: sp.csr_array, n_threads: int) -> NativeRows:
    """A sparse matrix with sorted rows; float values are borrowed, indices too when they are 32 bits."""
    start = np.ascontiguousarray(X.indptr, dtype=np.int64)
    index = np.ascontiguousarray(X.indices, dtype=np.int32)
    value = np.ascontiguousarray(X.data)
    owner = (start, index, value)
    return NativeRows(_core.Matrix.from_csr(start, index, value, X.shape[1], owner), n_threads)


# Of so many columns the Gram matrix of even weights is kept.
_FEW_COLUMNS = 1000
# So many columns more than are asked for do no harm.
_FEW_OTHERS = 50
# Products of columns that float32 holds with room to spare.
_MOST_NARROW = 1e25
# Numbers that fill a gigabyte.
_MUCH_ROOM = 2**27
# Rows that are met at a time where columns are copied out of them.
_STRIP = 512


def _columns_of(
    dense: NDArray[Any], wanted: NDArray[np.integer[Any]], columns: FloatArray | None = None
) -> FloatArray:
    """(m, n) float64: columns as rows."""
    columns = np.empty((len(wanted), len(dense))) if columns is None else columns
    is_all = len(wanted) == dense.shape[1]
    for first in range(0, len(dense), _STRIP):
        strip = dense[first : first + _STRIP]
        columns[:, first : first + _STRIP] = (strip if is_all else strip[:, wanted]).T
    return columns


def _gram_of_columns(columns: NDArray[Any], h: NDArray[Any], with_constant: bool) -> NDArray[Any]:
    """C diag(h) C' for columns that are the rows of C, a constant one behind them."""
    m = len(columns)
    G = np.empty((m + with_constant, m + with_constant), dtype=columns.dtype)
    if np.all(h == h[:1]):
        np.matmul(columns, columns.T, out=G[:m, :m])
        G[:m, :m] *= h[0] if len(h) else 0.0
    elif h.min() < 0:
        np.matmul(columns * h, columns.T, out=G[:m, :m])
    else:
        scaled = columns * np.sqrt(h)
        np.matmul(scaled, scaled.T, out=G[:m, :m])
    if with_constant:
        G[m, :m] = G[:m, m] = columns @ h
        G[m, m] = h.sum()
    return G


@dataclass(frozen=True)
class DenseColumns(LinearMap):
    """Some columns of dense rows, each in one run.

    Attributes
    ----------
    columns : (m, n) array
    threads : int
    kept, places : KeptColumns and array, or None
        Where these columns are kept, and in which places, if they are.
    """

    columns: FloatArray
    threads: int = 1
    kept: KeptColumns | None = None
    places: NDArray[np.int64] | None = None

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return self.columns.shape[1]

    @property
    def n_columns(self) -> int:
        """How many columns."""
        return len(self.columns)

    @property
    def n_threads(self) -> int:  # type: ignore[override]
        """Those of the rows."""
        return self.threads

    @cached_property
    def _matrix(self) -> _core.Matrix:
        return _core.Matrix.from_dense(self.columns, self.columns)

    def dot(self, W: FloatArray) -> FloatArray:
        """X W."""
        Z = np.zeros((self.n_rows, W.shape[1]))
        if self.n_columns:
            self._matrix.adjoint(np.ascontiguousarray(W, dtype=np.float64), Z, self.threads)
        return Z

    def adjoint(self, U: FloatArray) -> FloatArray:
        """X'U."""
        V = np.zeros((self.n_columns, U.shape[1]))
        if self.n_columns:
            self._matrix.dot(_side_by_side(U), V, self.threads)
        return V

    def squared_adjoint(self, H: FloatArray) -> FloatArray:
        """(X*X)'H."""
        if H.shape[1] == 1 and np.all(H[:1] == H):  # without an array of squares
            return np.einsum("ij,ij->i", self.columns, self.columns)[:, None] * H[:1]
        return np.asarray(np.square(self.columns) @ H)

    def gram(self, h: FloatArray, with_constant: bool) -> FloatArray:
        """X'diag(h)X by BLAS, or what is kept of it."""
        if self.kept is not None and self.places is not None:
            return self.kept.gram(self.places, h, with_constant)
        return _gram_of_columns(self.columns, h, with_constant)

    def take_columns(self, wanted: NDArray[np.int64]) -> DenseColumns:
        """Those columns alone."""
        return DenseColumns(self.columns[wanted], self.threads)

    def csr(self) -> sp.csr_array:
        """The rows for SciPy."""
        return sp.csr_array(self.columns.T)

    def as_columns(self) -> NativeRows:
        """The columns as rows."""
        return native_dense(self.columns, self.threads)


class KeptColumns:
    """Columns of dense rows that were taken before, and their Gram matrix under some weights of the rows.

    Along a path working sets grow and hardly change: a column is copied once, and a product of two columns
    under the same weights, as those of least squares are, is computed once. Costs what is taken: n numbers
    a column, and as many more as there are columns; half of that again where products are float32.

    Attributes
    ----------
    weights : (n,) array or None
        Of the rows, in the products that are here.
    is_narrow : bool
        Whether these are float32: half of the work, for models whose steps are looked at where they end.
    notes : dict
        What a solver made of these products, such as factors; gone when the weights change.
    """

    def __init__(self, n_rows: int, n_columns: int) -> None:
        self._place = np.full(n_columns, -1, dtype=np.int64)
        self._order = np.empty(n_columns, dtype=np.int64)
        self._n = 0
        self._columns: FloatArray = np.empty((0, n_rows))
        self.weights: FloatArray | None = None
        self.is_narrow = False
        self._narrow: NDArray[np.float32] = np.empty((0, n_rows), dtype=np.float32)
        self._n_narrow = 0
        # The smallest and largest squares of columns that are here, and how many were looked at.
        self._squares, self._n_squares = (np.inf, 0.0), 0
        # The products, with room for the border of a constant, and those with it.
        self._G: NDArray[Any] = np.empty((1, 1))
        self._sums: FloatArray = np.empty(0)
        self._n_products = 0
        self.notes: dict[str, Any] = {}
        self.near: KeptColumns | None = None  # others that were copied, whose products nobody asked for
        self.priced: Any = None  # what is known of all columns at the latest dual points
        self.was_moved = False
        self.moved: tuple[NativeRows, FloatArray] | None = None  # the same rows near 0

    def take(self, dense: NDArray[Any], wanted: NDArray[np.int64], n_threads: int) -> DenseColumns:
        """Some columns, copied from the rows where they are not here."""
        self._add(dense, wanted)
        places = self._place[wanted]
        if self._are_all(places):
            return DenseColumns(self._columns[: self._n], n_threads, self, places)
        return DenseColumns(self._columns[places], n_threads, self, places)

    def with_others(self, dense: NDArray[Any], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
        """Some columns, and with them all that are here, in their order here, unless these are many more.

        Nothing need be copied of all that are here.
        """
        self._add(dense, wanted)
        return wanted if self._n > 2 * len(wanted) + _FEW_OTHERS else self._order[: self._n].copy()

    def products(self, dense: NDArray[Any], wanted: NDArray[np.int64], u: FloatArray) -> FloatArray:
        """x_j.u of some columns, which are copied apart from those that are taken."""
        if self.near is None:
            self.near = KeptColumns(dense.shape[0], len(self._place))
        self.near._add(dense, wanted, self)
        out = np.empty(len(wanted))
        _core.some_products(self.near._columns, self.near._place[wanted], u, out)
        return out

    def _are_all(self, places: NDArray[np.int64]) -> bool:
        return len(places) == self._n and bool(np.all(places == np.arange(self._n)))

    def _add(self, dense: NDArray[Any], wanted: NDArray[np.int64], beside: KeptColumns | None = None) -> None:
        """Copies columns that are not here: from the rows, or from where they were copied to before."""
        beside = self.near if beside is None else beside
        new = wanted[self._place[wanted] < 0]
        if len(new):
            n = self._n
            if n + len(new) > (capacity := len(self._columns)):
                # Where that is not much there is room for all, which the system makes as it is filled.
                is_much = len(self._place) * len(dense) > _MUCH_ROOM
                capacity = max(2 * capacity, n + len(new)) if is_much else len(self._place)
                larger = _core.large_array(min(capacity, len(self._place)), len(dense))
                larger[:n] = self._columns[:n]
                self._columns = larger
            room = self._columns[n : n + len(new)]
            place = np.full(len(new), -1) if beside is None else beside._place[new]
            if np.any(place >= 0):
                assert beside is not None
                room[place >= 0] = beside._columns[place[place >= 0]]
                room[place < 0] = _columns_of(dense, new[place < 0])
            else:
                _columns_of(dense, new, room)
            self._place[new] = np.arange(n, n + len(new))
            self._order[n : n + len(new)] = new
            self._n += len(new)

    def weigh(self, h: FloatArray, *, is_narrow: bool = False) -> None:
        """From now on products have these weights of the rows, and so many digits."""
        if self.weights is None or is_narrow != self.is_narrow or not np.array_equal(self.weights, h):
            self.weights, self._n_products = h.copy(), 0
            self.notes.clear()
        if is_narrow != self.is_narrow:
            self.is_narrow, self._G = (
                is_narrow,
                np.empty((1, 1), dtype=np.float32 if is_narrow else np.float64),
            )

    def suits_float32(self, h: FloatArray) -> bool:
        """Whether products of the columns that are here are well inside what float32 can hold."""
        if self._n_squares < self._n:
            new = self._columns[self._n_squares : self._n]
            squares = np.einsum("ij,ij->i", new, new)
            least, most = self._squares
            some = squares[squares > 0]
            self._squares = min(least, some.min(initial=np.inf)), max(most, float(squares.max()))
            self._n_squares = self._n
        least, most = self._squares
        top = float(h.max(initial=0.0))
        return max(most, most * top) < _MOST_NARROW and min(least, least * top) > 1 / _MOST_NARROW

    def gram(self, places: NDArray[np.int64], h: FloatArray, with_constant: bool) -> FloatArray:
        """The Gram matrix of columns in some places; a view, until the next one, where they are all."""
        is_known = self.weights is not None and (h is self.weights or np.array_equal(self.weights, h))
        if self.is_narrow or not is_known:
            return _gram_of_columns(self._columns[places], h, with_constant)
        return self.kept_gram(places, with_constant)

    def kept_gram(self, places: NDArray[np.int64], with_constant: bool) -> NDArray[Any]:
        """The same under the weights that are here, float32 where products are."""
        assert self.weights is not None
        h = self.weights
        are_all = self._are_all(places)
        self._multiply()
        m = len(places)
        if are_all:
            G = self._G[: m + with_constant, : m + with_constant]
            if with_constant:
                G[m, :m] = G[:m, m] = self._sums[:m]
                G[m, m] = h.sum()
            return G
        G = np.empty((m + with_constant, m + with_constant), dtype=self._G.dtype)
        G[:m, :m] = self._G[places[:, None], places]
        if with_constant:
            G[m, :m] = G[:m, m] = self._sums[places]
            G[m, m] = h.sum()
        return G

    def _multiply(self) -> None:
        """Completes the products of all columns that are here."""
        old, n, h = self._n_products, self._n, self.weights
        if old == n or h is None:
            return
        if len(self._G) <= n:
            room = min(len(self._place), 2 * n)
            larger = _room(room + 1, room + 1, is_narrow=self.is_narrow)
            larger[:old, :old] = self._G[:old, :old]
            self._G = larger
            sums = np.empty(room)
            sums[:old] = self._sums[:old]
            self._sums = sums
        columns: NDArray[Any] = self._narrowed() if self.is_narrow else self._columns
        new, size = columns[old:n], h.astype(columns.dtype, copy=False)
        if old:
            weighted = new if np.all(size == 1.0) else new * size
            np.matmul(weighted, columns[:old].T, out=self._G[old:n, :old])
            self._G[:old, old:n] = self._G[old:n, :old].T
        self._G[old:n, old:n] = _gram_of_columns(new, size, False)
        self._sums[old:n] = self._columns[old:n] @ h
        self._n_products = n

    def _narrowed(self) -> NDArray[np.float32]:
        """The columns that are here in float32, each copied once."""
        old, n = self._n_narrow, self._n
        if len(self._narrow) < n:
            larger = _room(len(self._columns), self._columns.shape[1], is_narrow=True)
            larger[:old] = self._narrow[:old]
            self._narrow = larger
        self._narrow[old:n] = self._columns[old:n]
        self._n_narrow = n
        return self._narrow


def _room(n_rows: int, n_columns: int, *, is_narrow: bool) -> NDArray[Any]:
    """Numbers of either width, not set."""
    if not is_narrow:
        return _core.large_array(n_rows, n_columns)
    return _core.large_array(n_rows, (n_columns + 1) // 2).view(np.float32)[:, :n_columns]


@dataclass(frozen=True)
class NumpyRows(LinearMap):
    """Rows as a NumPy array or a SciPy matrix."""

    X: Any

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return int(self.X.shape[0])

    @property
    def n_columns(self) -> int:
        """How many columns."""
        return int(self.X.shape[1])

    @property
    def is_sparse(self) -> bool:  # type: ignore[override]
        """Whether zeros are left out."""
        return bool(sp.issparse(self.X))

    def near_zero(self) -> tuple[NumpyRows, FloatArray] | None:
        """The rows with columns moved near 0: a copy."""
        if not self.is_sparse:
            by = far_from_zero(np.asarray(self.X))
            return None if by is None else (NumpyRows(_moved(np.asarray(self.X), by)), by)
        X = self.csr()
        by = _stored_far_from_zero(X.indptr, X.indices, X.data, self.n_columns)
        return None if by is None else (NumpyRows(_moved_stored(X, by)), by)

    def dot(self, W: FloatArray) -> FloatArray:
        """X W."""
        return np.asarray(self.X @ W, dtype=np.float64)

    def adjoint(self, U: FloatArray) -> FloatArray:
        """X'U."""
        return np.asarray(self.X.T @ U, dtype=np.float64)

    def squared_adjoint(self, H: FloatArray) -> FloatArray:
        """(X*X)'H."""
        squares = self.X.multiply(self.X) if self.is_sparse else self.X * self.X
        return np.asarray(squares.T @ H, dtype=np.float64)

    def gram(self, h: FloatArray, with_constant: bool) -> FloatArray:
        """X'diag(h)X, or with a column of ones beside X."""
        X = sp.csr_array(self.X) if self.is_sparse else self.X
        if not self.is_sparse and len(h) and np.all(h == h[0]):
            G = np.asarray(X.T @ X, dtype=np.float64) * h[0]  # BLAS computes half of it
        elif not self.is_sparse and np.all(h >= 0):
            weighted = X * np.sqrt(h)[:, None]
            G = np.asarray(weighted.T @ weighted, dtype=np.float64)
        else:
            weighted = X.multiply(h[:, None]) if self.is_sparse else X * h[:, None]
            inner = weighted.T @ X
            G = inner.toarray() if sp.issparse(inner) else np.asarray(inner, dtype=np.float64)
        if not with_constant:
            return G
        edge = np.asarray(X.T @ h, dtype=np.float64)
        return np.block([[G, edge[:, None]], [edge[None, :], np.array([[h.sum()]])]])

    def take_columns(self, wanted: NDArray[np.int64]) -> NumpyRows:
        """Those columns alone."""
        X = sp.csc_array(self.X) if self.is_sparse else self.X
        return NumpyRows(X[:, wanted])

    def csr(self) -> sp.csr_array:
        """The rows for SciPy."""
        return sp.csr_array(self.X)


@dataclass(frozen=True)
class JointRows(LinearMap):
    """A joint map: row i K + k of ``stacked`` is phi(x_i, label k), and z_ik = w . phi(x_i, label k).

    All labels share the one column of w, so U goes back as one column too: V = sum_ik u_ik phi(x_i, label k).
    """

    stacked: NativeRows | DenseColumns | NumpyRows
    n_scores: int

    @property
    def n_rows(self) -> int:
        """How many rows of data."""
        return self.stacked.n_rows // self.n_scores

    @property
    def n_columns(self) -> int:
        """How many features."""
        return self.stacked.n_columns

    @property
    def is_sparse(self) -> bool:  # type: ignore[override]
        """Whether zeros are left out."""
        return self.stacked.is_sparse

    def dot(self, W: FloatArray) -> FloatArray:
        """Z, (n, K), for W of shape (d, 1)."""
        return self.stacked.dot(W).reshape(self.n_rows, self.n_scores)

    def adjoint(self, U: FloatArray) -> FloatArray:
        """V, (d, 1)."""
        return self.stacked.adjoint(self._column(U))

    def adjoint_summary(self, U: FloatArray, W: FloatArray, strength: float) -> tuple[float, float]:
        """|V|^2 and the largest |V + strength W|."""
        return self.stacked.adjoint_summary(self._column(U), W, strength)

    def squared_adjoint(self, H: FloatArray) -> FloatArray:
        """sum_ik h_ik phi(x_i, label k)^2, (d, 1); one column of H stands for all labels."""
        return self.stacked.squared_adjoint(self._column(H))

    def gram(self, h: FloatArray, with_constant: bool) -> FloatArray:
        """One weight for all scores of a row: the scores do not meet."""
        return self.joint_gram(lambda l: np.outer(h, np.eye(self.n_scores)[l]), self.n_scores, with_constant)

    def joint_gram(self, H: Curvature, n_outputs: int, with_constant: bool) -> FloatArray:
        """sum_i Phi_i' H_i Phi_i, with Phi_i the K rows of x_i; the constants are K more columns."""
        n, K, Phi = self.n_rows, self.n_scores, self.stacked.csr()
        if with_constant:
            Phi = sp.hstack([Phi, np.tile(np.eye(K), (n, 1))], format="csr")
        blocks = np.stack([H(l) for l in range(K)], axis=2)
        curved = sp.bsr_array((blocks, np.arange(n), np.arange(n + 1)), shape=(n * K, n * K)) @ Phi
        return np.asarray((Phi.T @ curved).toarray(), dtype=np.float64)

    def take_columns(self, wanted: NDArray[np.int64]) -> JointRows:
        """Those features alone."""
        return JointRows(self.stacked.take_columns(wanted), self.n_scores)

    def _column(self, U: FloatArray) -> FloatArray:
        return np.broadcast_to(U, (self.n_rows, self.n_scores)).reshape(-1, 1)


@dataclass(frozen=True)
class SharedRows(LinearMap):
    """One column of weights gives every row the same score K times; intercepts alone tell the K apart.

    With K - 1 thresholds it is the problem of n (K - 1) rows (x, -e_k) of an ordinal model, and X is held and
    walked over once: what is n (K - 1) large are scores, targets and dual variables.
    """

    inner: NativeRows | DenseColumns | NumpyRows
    n_scores: int

    @property
    def n_rows(self) -> int:
        """How many rows of data."""
        return self.inner.n_rows

    @property
    def n_columns(self) -> int:
        """How many columns."""
        return self.inner.n_columns

    @property
    def is_sparse(self) -> bool:  # type: ignore[override]
        """Whether zeros are left out."""
        return self.inner.is_sparse

    @property
    def n_threads(self) -> int | None:  # type: ignore[override]
        """Those of the rows."""
        return self.inner.n_threads

    @property
    def direction(self) -> LinearMap:
        """The rows, once."""
        return self.inner

    def dot(self, W: FloatArray) -> FloatArray:
        """(n, K) with equal columns, for W of shape (d, 1); a view, not to be written to."""
        return np.broadcast_to(self.inner.dot(W), (self.n_rows, self.n_scores))

    def adjoint(self, U: FloatArray) -> FloatArray:
        """X'(sum_k u_k), (d, 1)."""
        return self.inner.adjoint(self._summed(U))

    def adjoint_summary(self, U: FloatArray, W: FloatArray, strength: float) -> tuple[float, float]:
        """|V|^2 and the largest |V + strength W|."""
        return self.inner.adjoint_summary(self._summed(U), W, strength)

    def squared_adjoint(self, H: FloatArray) -> FloatArray:
        """sum_ik h_ik x_i^2, (d, 1); one column of H stands for all scores."""
        return self.inner.squared_adjoint(self._summed(H))

    def gram(self, h: FloatArray, with_constant: bool) -> FloatArray:
        """The same weight for all scores of a row: the scores do not meet."""
        return self.joint_gram(lambda l: np.outer(h, np.eye(self.n_scores)[l]), self.n_scores, with_constant)

    def joint_gram(self, H: Curvature, n_outputs: int, with_constant: bool) -> FloatArray:
        """One Gram matrix of X, whatever K is, bordered by K columns for the constants."""
        K = self.n_scores
        edges, corner = np.zeros((self.n_rows, K)), np.empty((K, K))
        for l in range(K):
            h = H(l)
            edges[:, l] = h.sum(axis=1)
            corner[l] = h.sum(axis=0)
        G = self.inner.gram(np.ascontiguousarray(edges.sum(axis=1)), False)
        if not with_constant:
            return G
        side = self.inner.adjoint(edges)
        return np.block([[G, side], [side.T, corner]])

    def take_columns(self, wanted: NDArray[np.int64]) -> SharedRows:
        """Those columns alone."""
        return SharedRows(self.inner.take_columns(wanted), self.n_scores)

    def _summed(self, U: FloatArray) -> FloatArray:
        return np.broadcast_to(U, (self.n_rows, self.n_scores)).sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class OperatorMap(LinearMap):
    """A map that is known by its products: ``operator.matvec(w)`` and ``operator.rmatvec(u)``.

    A SciPy ``LinearOperator`` is one (convolutions, FFTs, wavelets, rows that are made when they are met).
    Solvers that ask for passes alone take it, and certify as they do for rows.
    """

    operator: Any

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return int(self.operator.shape[0])

    @property
    def n_columns(self) -> int:
        """How many columns."""
        return int(self.operator.shape[1])

    def dot(self, W: FloatArray) -> FloatArray:
        """X W, a column of weights after another."""
        return np.column_stack([np.ravel(self.operator.matvec(w)) for w in W.T.astype(np.float64)])

    def adjoint(self, U: FloatArray) -> FloatArray:
        """X'U, a column of dual variables after another."""
        return np.column_stack([np.ravel(self.operator.rmatvec(u)) for u in np.asarray(U).T])


# ---- columns far from 0 -------------------------------------------------------------------------
#
# A year, a time in seconds, a number of an order. With a free intercept a column may be moved by any amount:
# X W + b and (X - 1 m') W + (b + m' W) are the same scores, nothing else in the objective sees b, and
# sum_i s_i u_i = 0 makes V the same too. Solvers cannot do without it: where a column is c of its deviations
# away from 0, products of columns agree in all but the last 1 / c^2 of their digits, and what tells the
# column from the constant is lost.
#
# A column moves by its value in the first row: what is left is exact, whole numbers stay whole, and a column
# that hardly changes is 0 nearly everywhere.
#
# Cost: a look at some rows. Where there is such a column, a copy of X.


def may_be_far(dense: NDArray[Any]) -> bool:
    """A glance by the core, which mostly says that no column is far from 0."""
    return _core.is_any_far(dense, max(1, len(dense) // _GLANCE), _FAR)


def far_from_zero(dense: NDArray[Any]) -> FloatArray | None:
    """By how much to move each column so that it lies near 0; None where none is far from it."""
    if not len(dense):
        return None
    far = _far(dense[:: max(1, len(dense) // _GLANCE)], np.arange(dense.shape[1]))
    far = _far(dense, far) if len(far) else far
    if not len(far):
        return None
    by = np.zeros(dense.shape[1])
    by[far] = dense[0, far]
    return by


def _moved(dense: NDArray[Any], by: FloatArray) -> NDArray[Any]:
    return np.ascontiguousarray(dense - by.astype(dense.dtype))


def _far(rows: NDArray[np.floating[Any]], columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """Those of the columns that are far from 0 in these rows."""
    some = rows[:, columns].astype(np.float64)
    first = some[0].copy()
    with np.errstate(over="ignore", invalid="ignore"):
        some -= first
        spread = np.sqrt(np.mean(np.square(some - some.mean(axis=0)), axis=0))
        # A constant is no column to tell from the intercept, and moved only where it is large.
        return columns[np.abs(first + some.mean(axis=0)) > _FAR * np.where(spread > 0, spread, 1.0)]


def _stored_far_from_zero(
    start: NDArray[Any], index: NDArray[Any], value: NDArray[Any], n_columns: int
) -> FloatArray | None:
    """The same for sparse rows, zeros left out: a column that is far from 0 is stored in every row.

    One 0 among n numbers around c leaves a deviation of c / sqrt(n): up to 10^8 rows that is not far. A
    glance at a few rows mostly leaves no column to look at.
    """
    n = len(start) - 1
    if n < 1:
        return None
    glance = np.arange(0, n, max(1, n // _GLANCE))
    columns: NDArray[Any] = index[start[0] : start[1]]
    for rows in (glance[:_FIRST_GLANCE], glance, np.arange(n)):
        columns, table = _stored_in_all(start, index, value, rows, columns)
        columns = columns[_far(table, np.arange(len(columns)))]
        if not len(columns):
            return None
    by = np.zeros(n_columns)
    first = slice(start[0], start[1])
    at = np.isin(index[first], columns)
    by[index[first][at]] = value[first][at]
    return by


def _stored_in_all(
    start: NDArray[Any],
    index: NDArray[Any],
    value: NDArray[Any],
    rows: NDArray[np.intp],
    among: NDArray[Any],
) -> tuple[NDArray[Any], FloatArray]:
    """The columns that each of some rows stores, out of some, and their numbers, a row for each."""
    spans = [slice(start[row], start[row + 1]) for row in rows]
    at, numbers = (np.concatenate([each[span] for span in spans]) for each in (index, value))
    wanted = np.isin(at, among)
    at, numbers = at[wanted], numbers[wanted]
    columns, counts = np.unique(at, return_counts=True)
    columns = columns[counts == len(rows)]
    kept = np.isin(at, columns)
    by_column = np.argsort(at[kept], kind="stable")  # rows stay in order
    return columns, numbers[kept][by_column].reshape(len(columns), len(rows)).T.astype(np.float64)


def _moved_stored(X: sp.csr_array, by: FloatArray) -> sp.csr_array:
    moved = X.copy()
    moved.data = moved.data - by[moved.indices].astype(moved.dtype)
    return moved
