"""Rows of data as the objective meets them: X W, X'U and a few relatives.

Two implementations of one small protocol. ``NativeRows`` runs in the core, threaded, with the same bits
for any number of threads. ``NumpyRows`` is NumPy and SciPy alone: the independent road that ``verify``
takes. Weights are feature-major, (n_columns, K); scores and dual variables are (n_rows, K).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lineal import _core
from lineal.objective.losses import FloatArray

# Up to so many columns the core builds a dense Gram matrix faster than BLAS does, and without copying X.
_NARROW = 64


class Rows(Protocol):
    """What the objective and the solvers ask of data."""

    @property
    def n_rows(self) -> int:
        """How many rows."""

    @property
    def n_columns(self) -> int:
        """How many columns."""

    @property
    def is_sparse(self) -> bool:
        """Whether zeros are left out."""

    def dot(self, W: FloatArray) -> FloatArray:
        """X W."""

    def adjoint(self, U: FloatArray) -> FloatArray:
        """X'U."""

    def adjoint_summary(self, U: FloatArray, W: FloatArray, strength: float) -> tuple[float, float]:
        """|V|^2 and the largest |V + strength W| for V = X'U."""

    def squared_adjoint(self, H: FloatArray) -> FloatArray:
        """(X*X)'H, with squares entry by entry: the diagonal of X'diag(h)X for each column h of H."""

    def gram(self, h: FloatArray, with_constant: bool) -> FloatArray:
        """X'diag(h)X, or [X 1]'diag(h)[X 1]."""

    def take_columns(self, wanted: NDArray[np.int64]) -> Rows:
        """Those columns alone, in increasing order."""


@dataclass(frozen=True)
class NativeRows:
    """Rows in the native core.

    Attributes
    ----------
    matrix : _core.Matrix
        Checked arrays: finite, sorted, in range.
    n_threads : int
        Changes the time, never the bits.
    dense : array or None
        The same numbers as an ndarray when they are dense, for BLAS.
    """

    matrix: _core.Matrix
    n_threads: int = 1
    dense: FloatArray | None = None

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return self.matrix.n_rows

    @property
    def n_columns(self) -> int:
        """How many columns."""
        return self.matrix.n_columns

    @property
    def is_sparse(self) -> bool:
        """Whether zeros are left out."""
        return self.matrix.is_sparse

    @property
    def n_stored(self) -> int:
        """How many numbers are stored."""
        return self.matrix.n_stored

    def dot(self, W: FloatArray) -> FloatArray:
        """X W."""
        Z = np.empty((self.n_rows, W.shape[1]))
        self.matrix.dot(_side_by_side(W), Z, self.n_threads)
        return Z

    def adjoint(self, U: FloatArray) -> FloatArray:
        """X'U."""
        V = np.empty((self.n_columns, U.shape[1]))  # NumPy's large arrays come in huge pages
        self.matrix.adjoint(np.ascontiguousarray(U), V, self.n_threads)
        return V

    def adjoint_summary(self, U: FloatArray, W: FloatArray, strength: float) -> tuple[float, float]:
        """|V|^2 and the largest |V + strength W| for V = X'U, which is never held."""
        return self.matrix.adjoint_summary(
            np.ascontiguousarray(U), _side_by_side(W), strength, self.n_threads
        )

    def squared_adjoint(self, H: FloatArray) -> FloatArray:
        """(X*X)'H."""
        V = np.empty((self.n_columns, H.shape[1]))
        self.matrix.squared_adjoint(np.ascontiguousarray(H), V, self.n_threads)
        return V

    def squared_norms(self) -> FloatArray:
        """|x_i|^2 for each row."""
        return self.matrix.squared_norms(self.n_threads)

    def gram(self, h: FloatArray, with_constant: bool) -> FloatArray:
        """X'diag(h)X; dense data go through BLAS, unless there is too little of a row to be worth it."""
        if self.dense is None or self.n_columns <= _NARROW:
            return self.matrix.gram(np.ascontiguousarray(h), with_constant, self.n_threads)
        return NumpyRows(self.dense).gram(h, with_constant)

    def take_columns(self, wanted: NDArray[np.int64]) -> NativeRows:
        """Those columns alone."""
        if self.dense is not None:
            return native_dense(np.ascontiguousarray(self.dense[:, wanted], dtype=np.float64), self.n_threads)
        columns = np.ascontiguousarray(wanted, dtype=np.int64)
        return NativeRows(self.matrix.take_columns(columns, self.n_threads), self.n_threads)

    def transposed(self) -> NativeRows:
        """Columns as rows, sparse float64: what column-wise descent walks over."""
        if self.dense is not None:
            return native_csr(sp.csr_array(self.dense.T, dtype=np.float64), self.n_threads)
        start, index, value = self.matrix.arrays()
        flipped = sp.csr_array((value, index, start), shape=(self.n_rows, self.n_columns)).T.tocsr()
        return native_csr(flipped.astype(np.float64, copy=False), self.n_threads)


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


@dataclass(frozen=True)
class NumpyRows:
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
    def is_sparse(self) -> bool:
        """Whether zeros are left out."""
        return bool(sp.issparse(self.X))

    def dot(self, W: FloatArray) -> FloatArray:
        """X W."""
        return np.asarray(self.X @ W, dtype=np.float64)

    def adjoint(self, U: FloatArray) -> FloatArray:
        """X'U."""
        return np.asarray(self.X.T @ U, dtype=np.float64)

    def adjoint_summary(self, U: FloatArray, W: FloatArray, strength: float) -> tuple[float, float]:
        """|V|^2 and the largest |V + strength W| for V = X'U."""
        V = self.adjoint(U)
        return float(np.vdot(V, V)), float(np.abs(V + strength * W).max(initial=0.0))

    def squared_adjoint(self, H: FloatArray) -> FloatArray:
        """(X*X)'H."""
        squares = self.X.multiply(self.X) if self.is_sparse else self.X * self.X
        return np.asarray(squares.T @ H, dtype=np.float64)

    def gram(self, h: FloatArray, with_constant: bool) -> FloatArray:
        """X'diag(h)X, or with a column of ones beside X."""
        X = sp.csr_array(self.X) if self.is_sparse else self.X
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
