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
from lineal.objective.losses import FloatArray
from lineal.objective.rows import NativeRows


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
        self.n_scores = 1 if n_classes == 2 else n_classes
        self._has_intercept = has_intercept
        self._rate = rate
        self._theta = np.zeros((n_columns + has_intercept) * self.n_scores)
        self._late = np.zeros_like(self._theta) if is_averaged else None
        self._tally = np.zeros(2, dtype=np.int64)

    @property
    def seen(self) -> int:
        """Examples met."""
        return int(self._tally[0])

    @property
    def mistakes(self) -> int:
        """Examples that changed the weights."""
        return int(self._tally[1])

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
        _core.perceptron_pass(
            rows.matrix, codes, order, self._rate, self.n_scores, self._theta, self._late, self._tally, log
        )

    def current(self) -> tuple[FloatArray, FloatArray]:
        """coef (K, d) and intercept (K,) as they are now."""
        return self._shaped(self._theta)

    def average(self) -> tuple[FloatArray, FloatArray]:
        """The same for the average of the weights after each example; 0 before the first."""
        assert self._late is not None
        return self._shaped(self._theta - self._late / max(self.seen, 1))

    def _shaped(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        # Column by column as they are met, so that scores of new rows need no copy of them either.
        table = theta.reshape(-1, self.n_scores)
        if not self._has_intercept:
            return table.copy().T, np.zeros(self.n_scores)
        return table[:-1].copy().T, table[-1].copy()


def orders(n_rows: int, n_epochs: int, *, is_shuffled: bool, seed: int) -> Iterator[NDArray[np.int64]]:
    """The order of the rows in each epoch."""
    generator = np.random.default_rng([seed, 0])
    for _ in range(n_epochs):
        order = np.arange(n_rows, dtype=np.int64)
        if is_shuffled:
            generator.shuffle(order)
        yield order
