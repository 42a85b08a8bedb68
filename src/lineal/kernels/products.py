"""Dot products and squared distances between all rows of two sets, dense or sparse.

Dense rows go through BLAS, sparse rows through the core, block by block: nothing is densified as a whole, and
Ctrl-C is answered between blocks. A set with itself costs half, and its matrix is exactly symmetric.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from lineal import _core
from lineal.errors import InputError
from lineal.objective.losses import FloatArray
from lineal.objective.rows import native_csr, native_dense

_BLOCK = 1024  # rows of a dense product at once
_PANEL = 64  # rows that meet sparse rows at once
_PANEL_BYTES = 1 << 27
# Below this share of |x|^2 + |z|^2 a distance has lost too many digits to the difference of the two.
_NEAR = 1e-3


def dots(X: Any, Z: Any | None, n_threads: int) -> FloatArray:
    """x.z for all rows of X and Z, or of X and X."""
    if sp.issparse(X) or sp.issparse(Z):
        return _sparse_dots(sp.csr_array(X), None if Z is None else sp.csr_array(Z), n_threads)
    n, m = len(X), len(X) if Z is None else len(Z)
    K = np.empty((n, m))
    with np.errstate(over="ignore", invalid="ignore"):  # Kernel.gram says what is beyond float64
        for first in range(0, n, _BLOCK):
            rows = slice(first, first + _BLOCK)
            if Z is None:
                np.matmul(X[rows], X[first:].T, out=K[rows, first:])
            else:
                np.matmul(X[rows], Z.T, out=K[rows])
    return mirrored(K) if Z is None else K


def mirrored(K: FloatArray, block: int = 512) -> FloatArray:
    """K with its upper triangle copied to the lower one, in place."""
    for first in range(0, len(K), block):
        last = min(first + block, len(K))
        tile = K[first:last, first:last]
        np.copyto(tile, np.triu(tile) + np.triu(tile, 1).T)
        K[last:, first:last] = K[first:last, last:].T
    return K


def _sparse_dots(X: sp.csr_array, Z: sp.csr_array | None, n_threads: int) -> FloatArray:
    others = X if Z is None else Z
    n, m, d = X.shape[0], others.shape[0], X.shape[1]
    width = min(_PANEL, _PANEL_BYTES // max(8 * d, 1))
    if width < 4:  # so many columns that even a panel of rows is too large: entries are matched one by one
        K = np.asarray((X @ others.T).toarray())
        return mirrored(K) if Z is None else K
    K = np.empty((n, m))
    rows = native_csr(X, n_threads)
    for first in range(0, m, width):
        panel = np.ascontiguousarray(others[first : first + width].toarray().T)
        K[:, first : first + width] = rows.dot(panel)
    return mirrored(K) if Z is None else K


def squared_lengths(X: Any) -> FloatArray:
    """|x|^2 of each row, summed in an order that depends on the row alone."""
    with np.errstate(over="ignore"):
        if sp.issparse(X):
            return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
        return np.asarray(np.einsum("ij,ij->i", X, X))


def squared_distances(X: Any, Z: Any | None, factor: float, n_threads: int) -> FloatArray:
    """factor |x - z|^2 for all rows of X and Z, or of X and X: exactly 0 for equal rows.

    |x|^2 + |z|^2 - 2 x.z of centred data (sparse data stay where they are), and the sum of squared
    differences of the data themselves where that difference would lose digits.
    """
    scale = float(np.sqrt(factor))
    placed, others_placed = _placed(X, Z, scale)
    D = dots(placed, others_placed, n_threads)
    a = squared_lengths(placed)
    b = a if others_placed is None else squared_lengths(others_placed)
    n_near = 0
    with np.errstate(over="ignore", invalid="ignore"):
        for first in range(0, len(D), _BLOCK):
            block = D[first : first + _BLOCK]
            total = a[first : first + _BLOCK, None] + b
            block *= -2.0
            block += total
            # NaN, of infinite lengths, is near too.
            block[~(block > _NEAR * total)] = -1.0
            n_near += int((block == -1.0).sum())
    if Z is None:
        np.fill_diagonal(D, 0.0)
        n_near -= len(D)
    return _with_near_pairs(D, n_near, X, X if Z is None else Z, scale, n_threads)


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


def _with_near_pairs(
    D: FloatArray, n_near: int, X: Any, others: Any, scale: float, n_threads: int
) -> FloatArray:
    """D with the distances that are marked by -1 summed from differences."""
    if n_near == 0:
        return D
    if sp.issparse(X) or sp.issparse(others):
        X, others = sp.csr_array(X), sp.csr_array(others)
    if n_near > D.size // 16:
        points, queries = (
            (native_csr(others, 1).matrix, native_csr(X, 1).matrix) if sp.issparse(X) else (others, X)
        )
        with np.errstate(over="ignore"):
            return np.square(scale * _core.euclidean_distances(points, queries, n_threads))
    rows, columns = np.nonzero(D == -1.0)
    step = max(1, (1 << 22) // max(X.shape[1], 1))
    with np.errstate(over="ignore"):
        for first in range(0, len(rows), step):
            i, j = rows[first : first + step], columns[first : first + step]
            D[i, j] = squared_lengths((X[i] - others[j]) * scale)
    return D


def absolute_distances(X: Any, Z: Any | None, n_threads: int) -> FloatArray:
    """sum_j |x_j - z_j| for all rows of X and Z, or of X and X."""
    if sp.issparse(X) or sp.issparse(Z):
        X, Z = sp.csr_array(X), None if Z is None else sp.csr_array(Z)
        rows, others = (None if part is None else native_csr(part, 1).matrix for part in (X, Z))
    else:
        rows, others = (None if part is None else native_dense(part, 1).matrix for part in (X, Z))
    assert rows is not None
    return _core.absolute_distances(rows, others, n_threads)
