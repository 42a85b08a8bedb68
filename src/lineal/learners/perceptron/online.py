"""The perceptron's weights on their way: rows are met one by one, and every mistake changes them.

Two classes share one score, and 0 speaks for the second (+1): on a mistake w += y x. More classes have a
score each, and the first of the highest wins: on a mistake w_y += x and w_k -= x for the class k that was
predicted. The intercept is the weight of a constant 1.

The weights after every example, averaged, cost nothing at examples that were right: with Delta_t the change
at example t = 0, 1, ..., T - 1, sum_t t Delta_t is kept beside w, and the average is w less that sum over T.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.objective.linear_maps import NativeRows
from lineal.objective.losses import FloatArray


@dataclass(frozen=True)
class Epoch:
    """What a callback is told after each pass over the data.

    Attributes
    ----------
    epoch : int
        1 for the first.
    mistakes : int
        Made in this epoch.
    updates : int
        Made so far.
    seconds : float
        Since the fit began.
    """

    epoch: int
    mistakes: int
    updates: int
    seconds: float


@dataclass(frozen=True)
class Step:
    """The weights after one example.

    Attributes
    ----------
    example : int
        How many examples were met, this one included.
    row : int
        Its place in X.
    predicted : label
        What the weights before it said.
    is_mistake : bool
        Whether the weights were changed.
    coef, intercept : arrays
        (1, d) and (1,) for two classes, (K, d) and (K,) for more.
    average_coef, average_intercept : arrays
        The same, averaged over the weights after each example so far.
    """

    example: int
    row: int
    predicted: Any
    is_mistake: bool
    coef: FloatArray
    intercept: FloatArray
    average_coef: FloatArray
    average_intercept: FloatArray


class OnlineWeights:
    """The state after the examples met so far; more can be met at any time.

    Parameters
    ----------
    n_columns, n_classes : int
    has_intercept : bool
    rate : float
        The factor of every change.
    is_averaged : bool
        Whether the average is wanted too.
    """

    def __init__(
        self, n_columns: int, n_classes: int, *, has_intercept: bool, rate: float, is_averaged: bool
    ) -> None:
        self.n_scores = n_classes if n_classes > 2 else 1
        self._has_intercept = has_intercept
        self._rate = rate
        # w, and sum_t t Delta_t where the average is wanted: column by column, the intercept last.
        self._sums = np.zeros((1 + is_averaged, (n_columns + has_intercept) * self.n_scores))
        self._tally = np.zeros(2, dtype=np.int64)

    @property
    def seen(self) -> int:
        """Examples met."""
        return int(self._tally[0])

    @property
    def mistakes(self) -> int:
        """Examples that changed the weights."""
        return int(self._tally[1])

    @property
    def n_columns(self) -> int:
        """Columns that have weights."""
        return self._sums.shape[1] // self.n_scores - self._has_intercept

    def meet(
        self,
        rows: NativeRows,
        codes: NDArray[np.int32],
        order: NDArray[np.int64],
        log: NDArray[np.int64] | None = None,
    ) -> None:
        """Meets rows, in this order; ``log`` gets a row (example, row, class predicted) for each mistake.

        Ctrl-C ends it after some example: all that is held here, and the log, are as after that one.
        """
        late = self._sums[1] if len(self._sums) > 1 else None
        _core.perceptron_pass(
            rows.given, codes, order, self._rate, self.n_scores, self._sums[0], late, self._tally, log
        )

    def pass_by(self, n_rows: int) -> None:
        """Meets rows that can change nothing."""
        self._tally[0] += n_rows

    def change(self, x: NativeRows, gained: int, lost: int) -> None:
        """Meets the one row of ``x``, a mistake whatever the scores: its class was not there to be chosen."""
        signs = np.zeros(self.n_scores)
        if self.n_scores == 1:
            signs[0] = self._rate if gained == 1 else -self._rate
        else:
            signs[gained], signs[lost] = self._rate, -self._rate
        _, columns, values = x.given.arrays() if x.dense is None else (0, slice(x.n_columns), x.dense[0])
        for table, factor in zip(self._tables(), (1.0, float(self.seen)), strict=False):
            table[columns] += np.multiply.outer(values.astype(np.float64), factor * signs)
            table[x.n_columns :] += factor * signs  # the intercept, if there is one
        self._tally += 1

    # ---- columns and classes that are new -----------------------------------------------------

    def make_room(self, n_columns: int) -> None:
        """So many columns from now on; what is new starts at 0."""
        tables, n_known = self._tables(), self.n_columns
        if n_columns > n_known:
            new = np.zeros((len(tables), n_columns - n_known, self.n_scores))
            parts = [tables[:, :n_known], new, tables[:, n_known:]]
            self._sums = np.concatenate(parts, axis=1).reshape(len(tables), -1)

    def divide(self, places: NDArray[np.intp], n_classes: int) -> None:
        """Classes that are new start at 0; ``places`` is where the known ones stand from now on.

        The one vector of two classes becomes w for the second and -w for the first: the rows that the
        algorithm of more classes would have by now, since what it adds to one it takes from the other.
        """
        if n_classes <= 2:
            return
        tables = self._tables()
        rows = np.concatenate([0.0 - tables, tables], axis=2) if self.n_scores == 1 else tables
        divided = np.zeros((*tables.shape[:2], n_classes))
        divided[:, :, places] = rows[:, :, : len(places)]  # with fewer than two classes all are 0
        self._sums, self.n_scores = divided.reshape(len(tables), -1), n_classes

    # ---- what may be kept ---------------------------------------------------------------------

    def scores(self, rows: NativeRows) -> FloatArray:
        """(n, K) as they are now."""
        table = self._tables()[0]
        return rows.dot(table[: self.n_columns]) + table[self.n_columns :].sum(axis=0)

    def current(self) -> tuple[FloatArray, FloatArray]:
        """coef (K, d) and intercept (K,) as they are now."""
        return self._shaped(self._sums[0])

    def average(self) -> tuple[FloatArray, FloatArray]:
        """The same for the average of the weights after each example; 0 before the first."""
        return self._shaped(self._sums[0] - self._sums[1] / max(self.seen, 1))

    def _tables(self) -> FloatArray:
        """The sums as (n_sums, n_columns + 1, n_scores), without the 1 where there is no intercept."""
        return self._sums.reshape(len(self._sums), -1, self.n_scores)

    def _shaped(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        # Column by column as they are met, so that scores of new rows need no copy of them either.
        table = theta.reshape(-1, self.n_scores)
        if not self._has_intercept:
            return table.copy().T, np.zeros(self.n_scores)
        return table[:-1].copy().T, table[-1].copy()

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Arrays may come as read-only maps of a file.
        writable = {name: np.require(state[name], requirements="W") for name in ("_sums", "_tally")}
        self.__dict__.update(state | writable)


def orders(n_rows: int, n_epochs: int, *, is_shuffled: bool, seed: int) -> Iterator[NDArray[np.int64]]:
    """The order of the rows in each epoch."""
    generator = np.random.default_rng([seed, 0])
    for _ in range(n_epochs):
        order = np.arange(n_rows, dtype=np.int64)
        if is_shuffled:
            generator.shuffle(order)
        yield order
