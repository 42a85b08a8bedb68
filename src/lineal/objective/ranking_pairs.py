"""Who is compared with whom in a ranking: rows by query and grade, without a list of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.objective.losses import FloatArray

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs of rows of one query with different grades, weighted.

    A pair (i, j) of query q has the weight ``c_q s_i s_j``: two rows of weight 1 are one row of weight 2.

    Attributes
    ----------
    order : (n,) places
        The rows by query and rising grade.
    group_first : (G + 1,) places
        Where the groups, runs of one query and one grade, begin in that order.
    query_first : (Q + 1,) places
        The first group of each query.
    s : (n,) array
        The weights of the rows, in that order.
    c : (Q,) array
        The weights of the queries.
    total : (Q,) array
        The sums of s_i s_j over the pairs of each query.
    """

    order: Places
    group_first: Places
    query_first: Places
    s: FloatArray
    c: FloatArray
    total: FloatArray

    @classmethod
    def of(
        cls,
        grades: FloatArray,
        queries: NDArray[Any],
        s: FloatArray,
        query_weight: FloatArray,
        *,
        is_by_query: bool,
    ) -> Pairs:
        """Sorts the rows. ``queries`` are codes 0 .. Q - 1; ``is_by_query`` divides by each query's total."""
        order = np.lexsort((grades, queries)).astype(np.int64)
        query, grade, weights = queries[order], grades[order], np.ascontiguousarray(s[order])
        is_new_query = np.r_[True, query[1:] != query[:-1]]
        is_new = is_new_query | np.r_[True, grade[1:] != grade[:-1]]
        firsts = np.flatnonzero(is_new)
        group_first = np.r_[firsts, len(order)].astype(np.int64)
        query_first = np.r_[np.flatnonzero(is_new_query[firsts]), len(firsts)].astype(np.int64)
        sizes = np.add.reduceat(weights, firsts)
        of_group = np.repeat(np.arange(len(query_first) - 1), np.diff(query_first))
        # The weight of the worse groups of the same query; subtracting from one long sum would cancel.
        before = np.empty_like(sizes)
        for first, last in zip(query_first[:-1].tolist(), query_first[1:].tolist(), strict=True):
            before[first:last] = np.r_[0.0, np.cumsum(sizes[first : last - 1])]
        total = np.zeros(len(query_weight))
        np.add.at(total, of_group, sizes * before)
        c = query_weight
        if is_by_query:
            c = np.divide(c, total, out=np.zeros_like(c), where=total > 0)
        return cls(order, group_first, query_first, weights, np.ascontiguousarray(c), total)

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return len(self.order)

    @property
    def weight(self) -> float:
        """The weight of all pairs."""
        return float(self.c @ self.total)

    @property
    def n_pairs(self) -> int:
        """How many pairs there are, whatever they weigh."""
        sizes = np.diff(self.group_first)
        starts = self.group_first[self.query_first[:-1]]
        of_group = np.repeat(starts, np.diff(self.query_first))
        return int(sizes @ (self.group_first[:-1] - of_group))

    @cached_property
    def native(self) -> _core.RankingPairs:
        """The same for the core."""
        return _core.RankingPairs(self.group_first, self.query_first, self.s, self.c)

    def disorder(self, scores: FloatArray, n_threads: int = 1) -> tuple[FloatArray, FloatArray]:
        """(Q,) the weights of the pairs in the wrong order, and of those with equal scores: O(n log n)."""
        wrong, tied = np.empty(len(self.c)), np.empty(len(self.c))
        self.native.disorder(np.ascontiguousarray(scores[self.order]), wrong, tied, n_threads)
        return wrong, tied

    def starts(self) -> Places:
        """(n,) for each row, in the order of the pairs, the first row of its query."""
        firsts = self.group_first[self.query_first]
        return np.repeat(firsts[:-1], np.diff(firsts))
