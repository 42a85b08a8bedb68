"""Dot products and squared distances between all rows of two sets, dense or sparse.

Dense rows go through BLAS, sparse rows through the core, block by block: nothing is densified as a whole, and
Ctrl-C is answered between blocks. A set with itself costs half, and its matrix is exactly symmetric.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lineal import _core
from lineal.cancellation import break_off_if_over
from lineal.data.matrices import csr_matrix
from lineal.errors import InputError
from lineal.objective.linear_maps import native_csr, native_dense
from lineal.objective.losses import FloatArray

_BLOCK = 128  # rows of a table that are worked on at once: they stay in the cache
_PANEL = 64  # rows that meet sparse rows at once
_PANEL_BYTES = 1 << 27
# Matching stored entries one by one costs so many times what an entry of a panel costs.
_MATCHING = 27
# Below this share of |x|^2 + |z|^2 a distance has lost too many digits to the difference of the two.
_NEAR = 1e-3


def dots(X: Any, Z: Any | None, n_threads: int) -> FloatArray:
    """x.z for all rows of X and Z, or of X and X."""
    K = _upper_dots(X, Z, n_threads)
    return mirrored(K) if Z is None else K


def _upper_dots(X: Any, Z: Any | None, n_threads: int) -> FloatArray:
    """x.z; of a set with itself on and above the diagonal, below it anything."""
    if sp.issparse(X) or sp.issparse(Z):
        return _sparse_dots(sp.csr_array(X), None if Z is None else sp.csr_array(Z), n_threads)
    K = np.empty((len(X), len(X) if Z is None else len(Z)))
    # Larger blocks than those of a table: BLAS wants some width. Kernel.gram says what is beyond float64.
    with np.errstate(over="ignore", invalid="ignore"):
        for first in range(0, len(X), 4 * _BLOCK):
            break_off_if_over()
            rows, begin = slice(first, first + 4 * _BLOCK), 0 if Z is not None else first
            np.matmul(X[rows], (X if Z is None else Z)[begin:].T, out=K[rows, begin:])
    return K


def mirrored(K: FloatArray, block: int = 128) -> FloatArray:
    """K with its upper triangle copied to the lower one, in place."""
    for first in range(0, len(K), block):
        last = min(first + block, len(K))
        tile = K[first:last, first:last]
        np.copyto(tile, tile.T.copy(), where=np.tri(last - first, k=-1, dtype=bool))
        K[last:, first:last] = K[first:last, last:].T
    return K


def _sparse_dots(X: sp.csr_array, Z: sp.csr_array | None, n_threads: int) -> FloatArray:
    others = X if Z is None else Z
    m, d = others.shape[0], X.shape[1]
    if not d:  # nothing that two rows could share
        return np.zeros((X.shape[0], m))
    n_matches = int(np.bincount(X.indices, minlength=d) @ np.bincount(others.indices, minlength=d))
    width = min(_PANEL, _PANEL_BYTES // max(8 * d, 1))
    # Also where there are so many columns that a panel of rows is too large.
    if width < 4 or _MATCHING * n_matches < X.nnz * m:
        return np.asarray((X @ others.T).toarray())
    K = np.empty((X.shape[0], m))
    for first in range(0, m, width):
        panel = np.ascontiguousarray(others[first : first + width].toarray().T)
        n = X.shape[0] if Z is not None else min(first + width, m)
        end = X.indptr[n]
        rows = csr_matrix(X.indptr[: n + 1], X.indices[:end], X.data[:end], d)
        break_off_if_over()
        products = np.empty((n, panel.shape[1]))
        rows.dot(panel, products, n_threads)
        K[:n, first : first + width] = products
    return K


def squared_lengths(X: Any) -> FloatArray:
    """|x|^2 of each row, summed in an order that depends on the row alone."""
    with np.errstate(over="ignore"):
        if sp.issparse(X):
            return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
        return np.asarray(np.einsum("ij,ij->i", X, X))


def squared_distances(
    X: Any, Z: Any | None, factor: float, n_threads: int, finish: Callable[[FloatArray], object]
) -> FloatArray:
    """finish(factor |x - z|^2) for all rows of X and Z, or of X and X: of exactly 0 for equal rows.

    |x|^2 + |z|^2 - 2 x.z of centred data (sparse data stay where they are), and the sum of squared
    differences of the data themselves where that difference would lose digits. ``finish`` changes a block of
    distances in place, while it is in the cache.
    """
    scale = float(np.sqrt(factor))
    placed, others_placed = _placed(X, Z, scale)
    D = _upper_dots(placed, others_placed, n_threads)
    a = squared_lengths(placed)
    b = a if others_placed is None else squared_lengths(others_placed)
    differences = Differences(X, Z, scale)
    n_near, n_enough = 0, D.size // 32
    with np.errstate(over="ignore", invalid="ignore"):
        for first in range(0, len(D), _BLOCK):
            break_off_if_over()
            begin = 0 if Z is not None else first
            block = D[first : first + _BLOCK, begin:]
            total = a[first : first + _BLOCK, None] + b[begin:]
            block *= -2.0
            block += total
            total *= _NEAR
            is_near = ~(block > total)  # NaN, of infinite lengths, is near too
            if n_here := int(np.count_nonzero(is_near)):
                n_near += n_here
                if n_near > n_enough + len(D):
                    return differences.everywhere(finish, n_threads)
                i, j = np.nonzero(is_near)
                block[i, j] = differences(first + i, begin + j)
            finish(block)
    return mirrored(D) if Z is None else D


class Differences:
    """scale^2 |x - z|^2 from the differences of the data as they are."""

    def __init__(self, X: Any, Z: Any | None, scale: float) -> None:
        self._is_sparse = sp.issparse(X) or sp.issparse(Z)
        others = X if Z is None else Z
        self._X, self._Z = (sp.csr_array(X), sp.csr_array(others)) if self._is_sparse else (X, others)
        self._scale = scale

    def __call__(self, i: NDArray[np.int64], j: NDArray[np.int64]) -> FloatArray:
        """Of some pairs."""
        D = np.empty(len(i))
        step = max(1, (1 << 20) // max(self._X.shape[1], 1))
        for first in range(0, len(i), step):
            some = slice(first, first + step)
            D[some] = squared_lengths((self._X[i[some]] - self._Z[j[some]]) * self._scale)
        return D

    def everywhere(self, finish: Callable[[FloatArray], object], n_threads: int) -> FloatArray:
        """Of all pairs: symmetric to the bit for a set with itself."""
        X, Z = self._X, self._Z
        points, queries = (native_csr(Z, 1).matrix, native_csr(X, 1).matrix) if self._is_sparse else (Z, X)
        D = _core.euclidean_distances(points, queries, n_threads)
        D *= self._scale
        finish(np.square(D, out=D))
        return D


def _placed(X: Any, Z: Any | None, scale: float) -> tuple[Any, Any]:
    """Both sets in units in which the kernel decays, dense ones around 0."""
    if sp.issparse(X) or sp.issparse(Z):
        X, Z = sp.csr_array(X), None if Z is None else sp.csr_array(Z)
        placed = [None if part is None else part * scale for part in (X, Z)]
        values = [part.data for part in placed if part is not None]
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            centre = X.mean(axis=0) if len(X) else 0.0
            centre = np.where(np.isfinite(centre), centre, 0.0)
            placed = [None if part is None else (part - centre) * scale for part in (X, Z)]
        values = [part for part in placed if part is not None]
    if not all(np.isfinite(part).all() for part in values):
        raise InputError("Distances between rows of X are beyond float64. Scale its columns.")
    return placed[0], placed[1]


def absolute_distances(X: Any, Z: Any | None, n_threads: int) -> FloatArray:
    """sum_j |x_j - z_j| for all rows of X and Z, or of X and X."""
    if sp.issparse(X) or sp.issparse(Z):
        X, Z = sp.csr_array(X), None if Z is None else sp.csr_array(Z)
        rows, others = (None if part is None else native_csr(part, 1).matrix for part in (X, Z))
    else:
        rows, others = (None if part is None else native_dense(part, 1).matrix for part in (X, Z))
    assert rows is not None
    return _core.absolute_distances(rows, others, n_threads)
