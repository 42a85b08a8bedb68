"""Rows of data as the objective meets them: X W, X'U and a few relatives.

Two implementations of one small protocol. ``NativeRows`` runs in the core, threaded, with the same bits
for any number of threads. ``NumpyRows`` is NumPy and SciPy alone: the independent road that ``verify``
takes. Weights are feature-major, (n_columns, K); scores and dual variables are (n_rows, K).

``JointRows`` are a joint map phi(x, y) over either of the two: K rows of features for each row of data, one
for each label, which share one column of weights, (n_columns, 1), and give it K scores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.deferred import sparse as sp
from lineal.objective.losses import FloatArray

# From a score l to how the slopes of all scores change with it, (n, K).
Curvature = Callable[[int], FloatArray]

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

    @property
    def n_scores(self) -> int:
        """How many scores a column of weights gives a row: 1, or one for each label of a joint map."""

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

    def joint_gram(self, H: Curvature, n_outputs: int, with_constant: bool) -> FloatArray:
        """The Hessian, in the flat weights and constants, of losses that see a row's K scores together."""

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

    @property
    def n_scores(self) -> int:
        """Each column of weights gives a row one score."""
        return 1

    def dot(self, W: FloatArray) -> FloatArray:
        """X W."""
        Z = np.empty((self.n_rows, W.shape[1]))
        self.matrix.dot(_side_by_side(W), Z, self.n_threads)
        return Z

    def adjoint(self, U: FloatArray) -> FloatArray:
        """X'U."""
        V = _core.large_array(self.n_columns, U.shape[1])
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

    def sum_of_squares(self, W: FloatArray) -> float:
        """|W|^2 in float64, whatever W is."""
        return _core.sum_of_squares(_side_by_side(W), self.n_threads)

    def gram(self, h: FloatArray, with_constant: bool) -> FloatArray:
        """X'diag(h)X; dense data go through BLAS, unless there is too little of a row to be worth it."""
        if self.dense is None or self.n_columns <= _NARROW:
            return self.matrix.gram(np.ascontiguousarray(h), with_constant, self.n_threads)
        return NumpyRows(self.dense).gram(h, with_constant)

    def joint_gram(self, H: Curvature, n_outputs: int, with_constant: bool) -> FloatArray:
        """A Gram matrix for each pair of scores."""
        return _block_gram(self, H, n_outputs, with_constant)

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
        flipped = self.csr().T.tocsr()
        return native_csr(flipped.astype(np.float64, copy=False), self.n_threads)

    def csr(self) -> sp.csr_array:
        """The rows for SciPy."""
        if self.dense is not None:
            return sp.csr_array(self.dense)
        start, index, value = self.matrix.arrays()
        return sp.csr_array((value, index, start), shape=(self.n_rows, self.n_columns))


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

    @property
    def n_scores(self) -> int:
        """Each column of weights gives a row one score."""
        return 1

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

    def joint_gram(self, H: Curvature, n_outputs: int, with_constant: bool) -> FloatArray:
        """A Gram matrix for each pair of scores."""
        return _block_gram(self, H, n_outputs, with_constant)

    def take_columns(self, wanted: NDArray[np.int64]) -> NumpyRows:
        """Those columns alone."""
        X = sp.csc_array(self.X) if self.is_sparse else self.X
        return NumpyRows(X[:, wanted])

    def csr(self) -> sp.csr_array:
        """The rows for SciPy."""
        return sp.csr_array(self.X)


def _block_gram(X: Rows, H: Curvature, K: int, with_constant: bool) -> FloatArray:
    """The (k, l) block is [X 1]'diag(h_kl)[X 1]; blocks lie side by side, score by score in each column."""
    size = X.n_columns + with_constant
    G = np.empty((size, K, size, K))
    for l in range(K):
        h = H(l)
        for k in range(l + 1):
            G[:, k, :, l] = G[:, l, :, k] = X.gram(np.ascontiguousarray(h[:, k]), with_constant)
    return G.reshape(size * K, size * K)


@dataclass(frozen=True)
class JointRows:
    """A joint map: row i K + k of ``stacked`` is phi(x_i, label k), and z_ik = w . phi(x_i, label k).

    All labels share the one column of w, so U goes back as one column too: V = sum_ik u_ik phi(x_i, label k).
    """

    stacked: NativeRows | NumpyRows
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
    def is_sparse(self) -> bool:
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
