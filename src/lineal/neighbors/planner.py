"""Which index, and why.

The choice changes the time, never the neighbours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from lineal.deferred import sparse as sp
from lineal.errors import CombinationError, ParameterError
from lineal.neighbors.indexes import (
    CodeIndex,
    InvertedIndex,
    KdTreeIndex,
    NeighborIndex,
    PairIndex,
    ProductIndex,
    SparseIndex,
    StringIndex,
)
from lineal.neighbors.spaces import Space

ALGORITHMS = ("auto", "kd_tree", "brute", "inverted")
# Bytes that the columns of an inverted index may take besides the data.
_ROOM = 1 << 30
# Rows from which on a tree is tried where columns are many but hang together, columns up to which, and by how
# many of the rows and neighbours each. A node that is visited takes as long as products with so many rows for
# each column.
_MANY_ROWS, _MOST_TRIED, _TRIALS, _NEIGHBORS, _NODE = 4096, 32, 64, 5, 24


@dataclass(frozen=True)
class IndexPlan:
    """An index and the reason for it."""

    name: str
    reason: str
    kind: type[NeighborIndex]

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}."


def checked_algorithm(algorithm: Any) -> str:
    """The name of an algorithm."""
    if algorithm not in ALGORITHMS:
        raise ParameterError(
            f"algorithm must be one of {', '.join(map(repr, ALGORITHMS))}, got {algorithm!r}. "
            "All of them give the same neighbours."
        )
    return str(algorithm)


def chosen_index(space: Space, points: Any, algorithm: str = "auto") -> tuple[NeighborIndex, IndexPlan]:
    """The index that suits the points of a space best, or the one that was asked for."""
    checked_algorithm(algorithm)
    plan = _asked(space, points, algorithm) if algorithm != "auto" else _best(space, points)
    if algorithm == "auto" and plan.kind is ProductIndex and space.name != "cosine":
        tree = KdTreeIndex(space, points)
        if (visits := _visits_of_a_tree(tree)) is not None:
            reason = f"{points.shape[1]} columns hang together: a search visits {visits:.0f} nodes"
            return tree, IndexPlan("kd_tree", reason, KdTreeIndex)
    return plan.kind(space, points), plan


def _best(space: Space, points: Any) -> IndexPlan:
    """The table, from the most special case on."""
    if space.name == "callable":
        return IndexPlan("brute", "your own metric is called for every pair", PairIndex)
    if space.name == "levenshtein":
        return IndexPlan(
            "brute", "strings by length, 64 characters at a time, up to the worst kept", StringIndex
        )
    if space.name == "hamming":
        return IndexPlan("brute", "codes are compared a register of rows at a time", CodeIndex)
    n, d = points.shape
    if sp.issparse(points):
        if _bytes_of_columns(n, d) > _ROOM + 12 * points.nnz:
            return IndexPlan("brute", f"an inverted index of {d} columns would outgrow the data", SparseIndex)
        return IndexPlan(
            "inverted", f"sparse rows with {points.nnz / max(n, 1):.0f} of {d} columns", InvertedIndex
        )
    if space.name == "cosine":
        return IndexPlan("brute", f"{n} dense rows, filtered by a matrix product", ProductIndex)
    most, columns = _columns_of_a_tree(n), "1 column is" if d == 1 else f"{d} columns are"
    if d <= most:
        return IndexPlan("kd_tree", f"{columns} few for {n} rows (up to {most})", KdTreeIndex)
    why = f"{columns} many for a kd-tree of {n} rows (up to {most}); filtered by a matrix product"
    return IndexPlan("brute", why, ProductIndex)


def _bytes_of_columns(n: int, d: int) -> int:
    """What an inverted index holds for its columns, whatever is in them."""
    return 12 * d * -(-n // 2**15) + 8 * d


def _columns_of_a_tree(n: int) -> int:
    """Up to how many columns of normal numbers a tree was measured to be faster than products."""
    return int(math.log2(n) / 3 + 1)


def _visits_of_a_tree(tree: KdTreeIndex) -> float | None:
    """How many nodes of a tree a search visits where that is sooner over than all products, else None.

    Numbers that hang together lie near fewer dimensions than they have columns. Some searches of a tree tell
    whether near enough; it is built where the spread of the columns, (sum of its eigenvalues)^2 by the sum of
    their squares, is that of as few dimensions as are known to do.
    """
    points = tree.points
    n, d = points.shape
    if n < _MANY_ROWS or d > _MOST_TRIED:
        return None
    spread = np.atleast_2d(np.cov(points, rowvar=False))
    # |spread|^2 is the sum of the squares of its eigenvalues.
    size, square = float(np.trace(spread)), float(np.vdot(spread, spread))
    if not 0.0 < size * size <= _columns_of_a_tree(n) * square < np.inf:
        return None
    visits = tree.visits(points[:: n // _TRIALS][:_TRIALS], _NEIGHBORS)
    return visits if visits * _NODE * d <= n else None


def _asked(space: Space, points: Any, algorithm: str) -> IndexPlan:
    is_sparse = sp.issparse(points)
    if algorithm == "brute":
        best = _best(space, points)
        if space.name not in ("euclidean", "mahalanobis", "cosine"):
            return IndexPlan("brute", f"asked for; {best.reason}", best.kind)
        how = "every sparse row" if is_sparse else "filtered by a matrix product"
        return IndexPlan("brute", f"asked for; {how}", SparseIndex if is_sparse else ProductIndex)
    what = f"metric={space.name!r} on {'sparse' if is_sparse else 'dense'} data"
    if algorithm == "kd_tree":
        if is_sparse or space.name not in ("euclidean", "mahalanobis"):
            raise CombinationError(
                "algorithm='kd_tree' needs 'euclidean' or 'mahalanobis' distances of dense data, got "
                f"{what}. Use algorithm='auto'."
            )
        return IndexPlan("kd_tree", "asked for", KdTreeIndex)
    if not is_sparse:
        raise CombinationError(
            f"algorithm='inverted' needs 'cosine' or 'euclidean' distances of sparse data, got {what}. "
            "Use algorithm='auto', or give a scipy.sparse matrix."
        )
    return IndexPlan("inverted", "asked for", InvertedIndex)
