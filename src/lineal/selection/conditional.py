"""Columns one after another, each the one that adds most to what was chosen (Fleuret 2004)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lineal.deferred import special
from lineal.features.categories import summed
from lineal.features.labelled import Labelled
from lineal.features.relevance import categories_of
from lineal.objective.losses import FloatArray

# Columns that are brought up to date together: a few to know what is reached, then more.
_FIRST, _BATCH = 8, 256
_MOST_PAIRS, _MOST_CELLS = 1024, 1 << 22  # of a column and a chosen one, and of their tables, at a time
_ROUNDING = 1e-12  # of all weight


def picks(data: Labelled, max_values: int, k: int) -> tuple[FloatArray, None, NDArray[np.intp]]:
    """Scores (NaN for columns that were not chosen), no law, and the k chosen columns in their order.

    A column's score only falls as more are chosen. Those that are low already need no new look: only columns
    above the best that is up to date are held against what was chosen since, and no longer than they stay
    above it.
    """
    pairs = _Pairs(data, max_values, k)
    bound = pairs.information()
    n_seen = np.zeros(len(bound), dtype=np.intp)  # how many of the chosen a column was held against
    scores = np.full(len(bound), np.nan)
    chosen: list[int] = []
    for _ in range(k):
        while n_seen[j := int(bound.argmax())] < len(chosen):
            is_fresh = n_seen == len(chosen)
            reached = float(bound.max(where=is_fresh, initial=-1.0))
            stale = np.flatnonzero(~is_fresh & (bound >= max(reached, 0.0)))
            n = _FIRST if reached < 0 else _BATCH
            if len(stale) > n:
                stale = np.union1d(stale[np.argpartition(bound[stale], len(stale) - n)[-n:]], [j])
            _bring_up_to_date(pairs, stale, len(chosen), bound, n_seen, reached)
        pairs.choose(j, len(chosen))
        chosen.append(j)
        scores[j], bound[j] = bound[j], -1.0
    return scores, None, np.array(chosen, dtype=np.intp)


def _bring_up_to_date(
    pairs: _Pairs,
    batch: NDArray[np.intp],
    n_chosen: int,
    bound: FloatArray,
    n_seen: NDArray[np.intp],
    reached: float,
) -> None:
    """Holds columns against the chosen ones they have not met, until they fall below what is reached."""
    stretch = 1  # how many of the chosen at a time
    while len(late := batch[(n_seen[batch] < n_chosen) & (bound[batch] >= reached)]):
        late = late[: max(1, pairs.most // stretch)]
        n_each = np.minimum(n_chosen - n_seen[late], stretch)
        first = np.cumsum(n_each) - n_each
        column = np.repeat(late, n_each)
        given = np.arange(n_each.sum()) - np.repeat(first - n_seen[late], n_each)
        adds = pairs.conditional(column, given)
        bound[late] = np.minimum(bound[late], np.minimum.reduceat(adds, first))
        n_seen[late] += n_each
        stretch = min(2 * stretch, pairs.most)


class _Pairs:
    """Categories column by column, and of the chosen columns row by row."""

    def __init__(self, data: Labelled, max_values: int, k: int) -> None:
        found = categories_of(data, max_values)
        order = np.argsort(found.column, kind="stable")
        self._all = found.taken(order).numbered()
        self._number = self._all.key - self._all.column * np.int64(self._all.n_codes)
        self._start = np.searchsorted(self._all.column, np.arange(data.n_columns + 1))
        self._codes, self._s, self._K = data.codes, data.s, data.n_classes
        self._is_counting = bool((data.s == 1).all())
        L = self._all.n_codes
        self._values = np.zeros((k, len(data.s)), dtype=np.min_scalar_type(L))  # of the chosen, row by row
        self._table = np.zeros((k, L, self._K))  # weights by value of the chosen and class
        self.most = min(_MOST_PAIRS, max(1, _MOST_CELLS // (L * self._K)))

    def information(self) -> FloatArray:
        """I(column; class)."""
        return self._all.counted(self._codes, self._K).information()

    def choose(self, column: int, place: int) -> None:
        """Columns can be held against this one from now on, by its place."""
        entries = slice(self._start[column], self._start[column + 1])
        self._values[place, self._all.row[entries]] = self._number[entries]
        _, L, K = self._table.shape
        cell = self._values[place].astype(np.int64) * K + self._codes
        self._table[place] = np.bincount(cell, self._s, L * K).reshape(L, K)

    def conditional(self, column: NDArray[np.intp], given: NDArray[np.intp]) -> FloatArray:
        """I(column; class | chosen) for each pair of a column and the place of a chosen one.

        sum n(x, v, y) log(n(x, v, y) n(v) / (n(x, v) n(v, y))) / N, over stored categories x and over zeros.
        """
        _, L, K = self._table.shape
        n_pairs, N, n_codes = len(column), self._s.sum(), self._all.n_codes
        sizes = self._start[column + 1] - self._start[column]
        pair = np.repeat(np.arange(n_pairs), sizes)
        entries = np.arange(sizes.sum()) + np.repeat(self._start[column] - (np.cumsum(sizes) - sizes), sizes)
        row = self._all.row[entries]
        code = self._values[given[pair], row].astype(np.int64) * K + self._codes[row]
        weight = None if self._is_counting else self._s[row]
        key, n_xvy = summed((pair * n_codes + self._number[entries]) * (L * K) + code, weight)
        pair, code = key // (n_codes * L * K), key % (L * K)
        n_vy = self._table[given]  # (n_pairs, L, K)
        n_v = n_vy.sum(axis=2)
        found = np.zeros(n_pairs)
        if len(key):
            group = key // K  # of a category and a value: rising with the key
            first = np.flatnonzero(np.concatenate([[True], group[1:] != group[:-1]]))
            n_xv = np.repeat(np.add.reduceat(n_xvy, first), np.diff(first, append=len(key)))
            expected = n_xv * n_vy.reshape(n_pairs, -1)[pair, code] / n_v[pair, code // K]
            found += np.bincount(pair, special.xlogy(n_xvy, n_xvy / expected), n_pairs)
        stored = np.bincount(pair * (L * K) + code, n_xvy, n_pairs * L * K).reshape(n_vy.shape)
        zeros = n_vy - stored
        zeros = np.where(zeros > _ROUNDING * N, zeros, 0.0)
        n_zv = zeros.sum(axis=2)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = zeros * n_v[:, :, None] / (n_zv[:, :, None] * n_vy)
        found += special.xlogy(zeros, np.where(zeros > 0, ratio, 1.0)).sum(axis=(1, 2))
        return np.maximum(found / N, 0.0)
