"""The dual perceptron on its way: examples are met one by one, and each mistake adds to their coefficients.

A score is a sum over mistakes of k(x_i, x): with two classes one score f, to which a mistake at row i adds
t_i k(x_i, .); with more a score for each class, of which the row's own gains k(x_i, .) and the predicted one
loses it. Rows are met in blocks: their scores are computed at once, from the rows that were mistakes before,
and a mistake inside the block changes those of the rows that follow. So the answers are those of one row
after the other, and only kernel values between the block and earlier mistakes are ever computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.kernels import Kernel
from lineal.kernels.blocks import value_blocks, values
from lineal.objective.losses import FloatArray

# Rows are met so many at a time.
BLOCK = 256
Order = NDArray[np.int64]


class Values:
    """Kernel values between training rows; kept where all of them fit into ``cache_bytes``."""

    def __init__(self, kernel: Kernel, items: Any, n_threads: int, cache_bytes: float) -> None:
        self.kernel, self.items = kernel, items
        self._n_threads = n_threads
        self.n_rows = kernel.size(items)
        is_kept = 8.0 * self.n_rows**2 <= cache_bytes
        self._all = values(kernel, items, None, n_threads) if is_kept else None

    def between(self, rows: Order, others: Order) -> FloatArray:
        """k of each row with each of the others."""
        if self._all is not None:
            return self._all[np.ix_(rows, others)]
        kernel = self.kernel
        return values(kernel, kernel.take(self.items, rows), kernel.take(self.items, others), self._n_threads)

    def sums(self, rows: Order, others: Order, coefficients: FloatArray) -> FloatArray:
        """For each row the sums of k with the others, times their coefficients."""
        if self._all is not None:
            return self._all[np.ix_(rows, others)] @ coefficients
        kernel = self.kernel
        result = np.zeros((len(rows), coefficients.shape[1]))
        part = kernel.take(self.items, rows)
        # The others are the many: their blocks are rows here, and are summed over.
        of_others = value_blocks(kernel, kernel.take(self.items, others), part, self._n_threads)
        for block, K in of_others:
            result += K.T @ coefficients[block]
        return result


@dataclass(frozen=True, eq=False)
class Log:
    """Mistakes, in their order.

    Attributes
    ----------
    when : (M,) how many examples were met before
    row : (M,) where
    gained, lost : (M,) the row's class, and the class that was predicted
    seen : how many examples were met in all
    """

    when: Order
    row: Order
    gained: Order
    lost: Order
    seen: int

    def signs(self, n_scores: int) -> FloatArray:
        """(M, 1) or (M, K): the factor of k(x_row, .) in each score's change."""
        if n_scores == 1:
            return np.where(self.gained == 1, 1.0, -1.0)[:, None]
        signs = np.zeros((len(self.row), n_scores))
        mistakes = np.arange(len(self.row))
        signs[mistakes, self.gained] = 1.0
        signs[mistakes, self.lost] = -1.0
        return signs

    def coefficients(self, n_rows: int, n_scores: int) -> FloatArray:
        """(n, K): those of the scores after the last example."""
        total = np.zeros((n_rows, n_scores))
        np.add.at(total, self.row, self.signs(n_scores))
        return total

    def averages(self, n_rows: int, n_scores: int) -> FloatArray:
        """(n, K): the mean of the coefficients after each example.

        A change at example t = 0, 1, .. is there after T - t of the T examples.
        """
        total = np.zeros((n_rows, n_scores))
        late = (self.seen - self.when) / max(self.seen, 1)
        np.add.at(total, self.row, late[:, None] * self.signs(n_scores))
        return total

    def counts(self) -> Order:
        """(M + 1,): after how many examples each function was held, that before any mistake first."""
        return np.diff(np.concatenate([[0], self.when, [self.seen]]))


class DualWeights:
    """Coefficients of the rows after the examples met so far."""

    def __init__(self, table: Values, codes: NDArray[np.int32], n_classes: int) -> None:
        self._values, self._codes = table, codes
        self.n_scores = n_classes if n_classes > 2 else 1
        self._sums = np.zeros((table.n_rows, self.n_scores))
        # What is told at the end comes from here: an entry is whole or not there, whenever Ctrl-C comes.
        # Of each block: examples and mistakes so far, and its own mistakes.
        self._blocks: list[tuple[int, int, NDArray[np.int64]]] = []

    @property
    def seen(self) -> int:
        """Examples met."""
        return self._blocks[-1][0] if self._blocks else 0

    @property
    def mistakes(self) -> int:
        """Examples that changed something."""
        return self._blocks[-1][1] if self._blocks else 0

    def pieces(self, epoch: int, order: Order) -> Iterator[Order]:
        """An epoch in blocks."""
        for first in range(0, len(order), BLOCK):
            yield order[first : first + BLOCK]

    def end(self) -> None:
        """Nothing is done between epochs."""

    def meet(self, order: Order) -> None:
        """Meets rows, in this order."""
        support = np.flatnonzero(self._sums.any(axis=1))
        scores = self._values.sums(order, support, self._sums[support])
        among = self._values.between(order, order)
        codes = self._codes[order]
        log, first = [], 0
        while (place := _next_mistake(scores, codes, first)) is not None:
            gained, lost = int(codes[place]), _winner(scores[place])
            _add(scores, among[place], gained, lost)
            log.append((self.seen + place, int(order[place]), gained, lost))
            first = place + 1
        done = np.array(log, dtype=np.int64).reshape(-1, 4)
        self._blocks.append((self.seen + len(order), self.mistakes + len(done), done))
        for _, row, gained, lost in log:
            _add(self._sums[row][None, :], np.ones(1), gained, lost)

    def log(self) -> Log:
        """All mistakes so far."""
        log = np.concatenate([np.empty((0, 4), dtype=np.int64), *(done for _, _, done in self._blocks)])
        return Log(log[:, 0], log[:, 1], log[:, 2], log[:, 3], self.seen)


def _winner(scores: FloatArray) -> int:
    """With two classes the second from 0 on; with more the first of the highest."""
    return int(scores[0] >= 0) if len(scores) == 1 else int(scores.argmax())


def _next_mistake(scores: FloatArray, codes: NDArray[np.int32], first: int) -> int | None:
    rest = scores[first:]
    told = rest[:, 0] >= 0 if scores.shape[1] == 1 else rest.argmax(axis=1)
    wrong = np.flatnonzero(told != codes[first:])
    return first + int(wrong[0]) if len(wrong) else None


def _add(scores: FloatArray, values_of: FloatArray, gained: int, lost: int) -> None:
    """A mistake's change of scores, in place."""
    if scores.shape[1] == 1:
        scores[:, 0] += values_of if gained == 1 else -values_of
    else:
        scores[:, gained] += values_of
        scores[:, lost] -= values_of
