"""Indexes: training points, made ready to be asked for the nearest of them.

They hold plain arrays and build their native side when it is first needed, so they can be pickled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.deferred import sparse as sp
from lineal.neighbors.spaces import HammingSpace, PairSpace, Space, Strings
from lineal.objective.linear_maps import native_csr
from lineal.objective.losses import FloatArray

Rows = NDArray[np.int64]


class NeighborIndex:
    """Points of a space.

    Parameters
    ----------
    space : Space
        Has learnt from the training data.
    points : what the space made of them
    """

    def __init__(self, space: Space, points: Any) -> None:
        self.space = space
        self.points = points
        self._native: Any = None

    def search(self, queries: Any, k: int, n_threads: int) -> tuple[FloatArray, Rows]:
        """(distances, rows), (n_queries, k) each, ordered by (distance, row); queries have been placed."""
        if self._native is None:
            self._native = self._built()
        distances, rows = self._native.search(self._asked(queries), k, n_threads)
        return self.space.distances(distances), rows

    def distances(self, queries: Any, n_threads: int) -> FloatArray:
        """(n_queries, n_points) distances; queries have been placed."""
        return self.space.distances(self._all(self._asked(queries), n_threads))

    def _built(self) -> Any:
        raise NotImplementedError

    def _asked(self, queries: Any) -> Any:
        return queries

    def _all(self, queries: Any, n_threads: int) -> FloatArray:
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_native": None}


class DenseIndex(NeighborIndex):
    """Dense points whose distances are summed over columns."""

    def _asked(self, queries: Any) -> FloatArray:
        return np.ascontiguousarray(queries.toarray() if sp.issparse(queries) else queries)

    def _all(self, queries: FloatArray, n_threads: int) -> FloatArray:
        measure = _core.cosine_distances if self.space.name == "cosine" else _core.euclidean_distances
        return measure(self.points, queries, n_threads)


class KdTreeIndex(DenseIndex):
    """A kd-tree."""

    def _built(self) -> Any:
        return _core.KdTree(self.points)

    def visits(self, queries: FloatArray, k: int) -> float:
        """How many nodes a search for k points visits, in the mean over some queries; the tree is built."""
        if self._native is None:
            self._native = self._built()
        return float(self._native.n_visits(np.ascontiguousarray(queries), k))


class ProductIndex(DenseIndex):
    """All points, filtered by blocks of a matrix product."""

    def _built(self) -> Any:
        is_cosine = self.space.name == "cosine"
        return (_core.CosineProduct if is_cosine else _core.EuclideanProduct)(self.points)


class SparseIndex(NeighborIndex):
    """All rows of a sparse matrix."""

    def _asked(self, queries: Any) -> _core.Matrix:
        return native_csr(sp.csr_array(queries), 1).matrix

    def _all(self, queries: _core.Matrix, n_threads: int) -> FloatArray:
        measure = _core.cosine_distances if self.space.name == "cosine" else _core.euclidean_distances
        return measure(self._asked(self.points), queries, n_threads)

    def search(self, queries: Any, k: int, n_threads: int) -> tuple[FloatArray, Rows]:
        """Every row, exactly."""
        find = _core.cosine_search if self.space.name == "cosine" else _core.euclidean_search
        distances, rows = find(self._asked(self.points), self._asked(queries), k, n_threads)
        return self.space.distances(distances), rows


class InvertedIndex(SparseIndex):
    """An inverted index."""

    search = NeighborIndex.search

    def _built(self) -> Any:
        is_cosine = self.space.name == "cosine"
        return (_core.CosineInverted if is_cosine else _core.EuclideanInverted)(self._asked(self.points))


class CodeIndex(NeighborIndex):
    """Rows of codes."""

    def _built(self) -> Any:
        assert isinstance(self.space, HammingSpace)
        weights = self.space.column_weights
        kinds = {np.uint8: _core.Codes8, np.uint16: _core.Codes16, np.int32: _core.Codes32}
        return kinds[self.space.dtype](self.points, np.zeros(0) if weights is None else weights)

    def _all(self, queries: Any, n_threads: int) -> FloatArray:
        if self._native is None:
            self._native = self._built()
        return self._native.distances(queries, n_threads)


class StringIndex(NeighborIndex):
    """Strings by length."""

    def _built(self) -> _core.StringIndex:
        return _core.StringIndex(self.points.symbols, self.points.start)

    def search(self, queries: Strings, k: int, n_threads: int) -> tuple[FloatArray, Rows]:
        """Nearest lengths first."""
        if self._native is None:
            self._native = self._built()
        return self._native.search(queries.symbols, queries.start, k, n_threads)

    def _all(self, queries: Strings, n_threads: int) -> FloatArray:
        if self._native is None:
            self._native = self._built()
        return self._native.distances(queries.symbols, queries.start, n_threads)


class PairIndex(NeighborIndex):
    """Rows for a function of two rows."""

    def search(self, queries: FloatArray, k: int, n_threads: int) -> tuple[FloatArray, Rows]:
        """Every pair; the sort is stable, so equal distances stay in the order of rows."""
        D = self.distances(queries, n_threads)
        rows = np.argsort(D, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(D, rows, axis=1), rows.astype(np.int64)

    def _all(self, queries: FloatArray, n_threads: int) -> FloatArray:
        assert isinstance(self.space, PairSpace)
        between = self.space.between
        return np.array([[between(q, x) for x in self.points] for q in queries], dtype=np.float64)
