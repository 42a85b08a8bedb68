"""Products of columns: which there are, how many, where each stands, and their values.

A monomial of degree k is a tuple of k column indices: any tuple if *ordered* (x0 x1 and x1 x0 are two), else
a non-decreasing one; with *distinct* indices no column is taken twice. Tuples stand in lexicographic order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, combinations_with_replacement, pairwise, permutations, product
from math import comb, factorial, perm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.deferred import sparse as sp

_CHUNK = 1 << 20  # products that are made at a time; temporary arrays are a few times as large


@dataclass(frozen=True)
class Monomials:
    """All monomials of one degree >= 1."""

    degree: int
    ordered: bool = False
    distinct: bool = False
    weighted: bool = False  # each by the square root of how many ordered tuples it stands for

    def count(self, n_columns: int) -> int:
        """How many there are of so many columns."""
        if self.ordered:
            return perm(n_columns, self.degree) if self.distinct else n_columns**self.degree
        return comb(n_columns if self.distinct else n_columns + self.degree - 1, self.degree)

    def tuples(self, n_columns: int) -> Iterator[tuple[int, ...]]:
        """Their indices, in order."""
        columns = range(n_columns)
        if self.ordered:
            return (
                permutations(columns, self.degree) if self.distinct else product(columns, repeat=self.degree)
            )
        choose = combinations if self.distinct else combinations_with_replacement
        return choose(columns, self.degree)

    def weights(self, n_columns: int) -> NDArray[np.float64]:
        """(count,) what each product is multiplied with."""
        if self.ordered or not self.weighted:
            return np.ones(self.count(n_columns))
        return self._weights(self._table(n_columns))

    def runs(self, n_columns: int, before: int) -> list[tuple[int, int, int]]:
        """How the core makes the products from those of a degree less, the first of which stands ``before``.

        Each run is (column, place, size): the column times so many neighbours from that place on.
        """
        tails = replace(self, degree=self.degree - 1)
        n_tails, columns = tails.count(n_columns), range(n_columns)
        if self.ordered and not self.distinct:
            return [(j, before, n_tails) for j in columns]
        if not self.ordered:  # the tails that begin with the column, or behind it, are the last ones
            rest = [tails.count(n_columns - j - self.distinct) for j in columns]
            return [(j, before + n_tails - n, n) for j, n in zip(columns, rest, strict=True) if n]
        index, runs = tails._table(n_columns), []
        for j in columns:  # the tails without the column
            edges = np.diff(np.concatenate(([0], (index != j).all(axis=0), [0])))
            starts, stops = np.flatnonzero(edges > 0), np.flatnonzero(edges < 0)
            runs += [(j, before + int(a), int(b - a)) for a, b in zip(starts, stops, strict=True)]
        return runs

    def sparse(self, X: Any) -> Any:
        """The products of the stored numbers of each row of a canonical CSR matrix, as CSR.

        Rows with equally many numbers have the same products of the first, second ... number, so each such
        group is a small dense problem; what is left is to say in which columns the products stand.
        """
        n_rows, n_columns = X.shape
        stored = np.diff(X.indptr)
        sizes, group = np.unique(stored, return_inverse=True)
        counts = np.array([self.count(int(m)) for m in sizes], dtype=np.int64)
        indptr = np.concatenate(([0], np.cumsum(counts[group])))
        wide = max(self.count(n_columns), int(indptr[-1])) > np.iinfo(np.int32).max
        column = np.empty(indptr[-1], dtype=np.int64 if wide else np.int32)
        data = np.empty(indptr[-1], dtype=X.dtype)
        for g in np.flatnonzero(counts):
            index = self._table(int(sizes[g]))
            weight = self._weights(index).astype(X.dtype)
            members = np.flatnonzero(group == g)
            for part in _chunks(len(members), index.shape[1]):
                source = X.indptr[members[part], None] + np.arange(sizes[g])
                target = indptr[members[part], None] + np.arange(counts[g])
                data[target] = _products(X.data[source], index, weight)
                column[target] = self._places(X.indices[source].astype(np.int64), index, n_columns)
        return sp.csr_array(
            (data, column, indptr.astype(column.dtype)), shape=(n_rows, self.count(n_columns))
        )

    def _table(self, n_columns: int) -> NDArray[np.intp]:
        """(degree, count) indices."""
        flat = (index for one in self.tuples(n_columns) for index in one)
        shape = (self.count(n_columns), self.degree)
        return np.ascontiguousarray(np.fromiter(flat, np.intp, shape[0] * shape[1]).reshape(shape).T)

    def _weights(self, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """sqrt(degree! / (k1! k2! ...)), the k being how often each column occurs in a monomial."""
        run, divisor = np.ones(index.shape[1]), np.ones(index.shape[1])
        if self.ordered or not self.weighted:
            return divisor
        for before, now in pairwise(index):
            run = np.where(before == now, run + 1, 1)
            divisor *= run
        return np.sqrt(factorial(self.degree) / divisor)

    def _places(self, columns: NDArray[np.int64], index: NDArray[np.intp], n: int) -> NDArray[np.int64]:
        """The rank of each tuple of columns among all tuples of n columns."""
        k = self.degree
        at = [columns[:, position] for position in index]
        if not self.ordered:
            # Added to its position, a non-decreasing tuple is an increasing one of n + k - 1 columns; the
            # tuples behind an increasing one are those that leave it upwards at position t, t = 0 ... k - 1.
            N = n if self.distinct else n + k - 1
            behind = sum(_choose(N - 1 - (i if self.distinct else i + t), k - t) for t, i in enumerate(at))
            return comb(N, k) - 1 - np.asarray(behind)
        place = np.zeros_like(at[0])
        for t, i in enumerate(at):
            free = i - sum(before < i for before in at[:t]) if self.distinct else i
            place += free * (perm(n - 1 - t, k - 1 - t) if self.distinct else n ** (k - 1 - t))
        return place


def _products(X: NDArray[Any], index: NDArray[np.intp], weight: NDArray[Any]) -> NDArray[Any]:
    made = X[:, index[-1]]
    for position in index[-2::-1]:  # from the right, as the core does
        made *= X[:, position]
    made *= weight
    return made


def _chunks(n_rows: int, width: int) -> Iterator[slice]:
    step = max(1, _CHUNK // max(width, 1))
    return (slice(start, start + step) for start in range(0, n_rows, step))


def _choose(n: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """n over k; every division is exact, because k numbers in a row contain a multiple of k."""
    result = np.ones_like(n)
    for r in range(k):
        result = result * (n - r) // (r + 1)
    return result
