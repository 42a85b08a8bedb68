"""Columns one after another, each the one that adds most to what was chosen (Fleuret 2004)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lineal.features.categories import Categorised
from lineal.features.labelled import Labelled
from lineal.features.relevance import categories_of, conditional
from lineal.objective.losses import FloatArray

_BATCH = 256  # columns that are brought up to date together


class _Columns:
    """Categories column by column, so that some columns can be looked at by themselves."""

    def __init__(self, data: Labelled, max_values: int) -> None:
        found = categories_of(data, max_values)
        order = np.argsort(found.column, kind="stable")
        self.all = found.taken(order).numbered()
        self.number = self.all.key - self.all.column * np.int64(self.all.n_codes)
        self.start = np.searchsorted(self.all.column, np.arange(data.n_columns + 1))

    def some(self, columns: NDArray[np.intp]) -> Categorised:
        """These columns, numbered from 0."""
        sizes = self.start[columns + 1] - self.start[columns]
        place = np.repeat(np.arange(len(columns)), sizes).astype(np.int32)
        shift = np.repeat(self.start[columns] - (np.cumsum(sizes) - sizes), sizes)
        entries = np.arange(sizes.sum()) + shift
        key = place * np.int64(self.all.n_codes) + self.number[entries]
        row, n_codes = self.all.row[entries], self.all.n_codes
        return Categorised(row, place, key, n_codes, len(columns), self.all.s)

    def values(self, column: int) -> NDArray[np.int32]:
        """The category of every row in one column."""
        entries = slice(self.start[column], self.start[column + 1])
        found = np.zeros(len(self.all.s), dtype=np.int32)
        found[self.all.row[entries]] = self.number[entries]
        return found


def picks(data: Labelled, max_values: int, k: int) -> tuple[FloatArray, None, NDArray[np.intp]]:
    """Scores (NaN for columns that were not chosen), no law, and the k chosen columns in their order.

    A column's score only falls as more are chosen, so those that were low already need no new look: only the
    best are brought up to date, until one that is up to date is the best of all.
    """
    columns, K = _Columns(data, max_values), data.n_classes
    bound = columns.all.counted(data.codes, K).information()
    n_seen = np.zeros(len(bound), dtype=np.intp)  # how many of the chosen a column was held against
    scores = np.full(len(bound), np.nan)
    chosen: list[int] = []
    given: list[NDArray[np.int32]] = []
    for _ in range(k):
        while n_seen[j := int(bound.argmax())] < len(chosen):
            stale = np.flatnonzero((n_seen < len(chosen)) & (bound >= 0))
            if len(stale) > _BATCH:
                stale = stale[np.argpartition(bound[stale], len(stale) - _BATCH)[-_BATCH:]]
            _bring_up_to_date(columns, np.union1d(stale, [j]), data, given, bound, n_seen)
        chosen.append(j)
        given.append(columns.values(j))
        scores[j], bound[j] = bound[j], -1.0
    return scores, None, np.array(chosen, dtype=np.intp)


def _bring_up_to_date(
    columns: _Columns,
    batch: NDArray[np.intp],
    data: Labelled,
    given: list[NDArray[np.int32]],
    bound: FloatArray,
    n_seen: NDArray[np.intp],
) -> None:
    for place in range(int(n_seen[batch].min()), len(given)):
        late = batch[n_seen[batch] <= place]
        n_values = int(given[place].max()) + 1
        adds = conditional(columns.some(late), data.codes, data.n_classes, given[place], n_values)
        bound[late] = np.minimum(bound[late], adds)
    n_seen[batch] = len(given)
