"""A fit: epochs until a limit, convergence, a budget, a callback or Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lineal.learners.perceptron.keepers import Keeper
from lineal.learners.perceptron.online import Epoch, OnlineWeights
from lineal.objective.rows import NativeRows
from lineal.solvers.driver import Interruption

# The clock is looked at after so many multiplications: some milliseconds.
_PIECE = 1 << 22


class Run:
    """Epochs over rows, and why they ended; the weights are as after the last example, however that was.

    Attributes
    ----------
    mistakes : list of int
        For each epoch that was begun.
    reason : str
    is_converged : bool
        Whether the last epoch was whole and without a mistake.
    """

    def __init__(
        self,
        rows: NativeRows,
        codes: NDArray[np.int32],
        weights: OnlineWeights,
        keeper: Keeper,
        until_convergence: bool,
        max_seconds: float | None,
        callbacks: Sequence[Callable[[Epoch], object]],
    ) -> None:
        self._rows, self._codes = rows, codes
        self._weights, self._keeper = weights, keeper
        self._until_convergence = until_convergence
        self._max_seconds = max_seconds
        self._callbacks = callbacks
        self._before = 0  # mistakes before this epoch
        self.mistakes = [0]
        self.reason = ""
        self.is_converged = False

    def go(self, epochs: Iterable[NDArray[np.int64]]) -> None:
        """Meets the rows of each epoch, in its order."""
        self._began = time.perf_counter()
        stream = self._pieces(epochs)
        with Interruption() as interruption:
            while interruption.following(stream) is not None:
                pass
            if interruption.requested and not self.reason:
                self.reason = "interrupted: these are the weights so far"
                self._count()

    def _pieces(self, epochs: Iterable[NDArray[np.int64]]) -> Iterator[bool]:
        for number, order in enumerate(epochs, start=1):
            self._before = self._weights.mistakes
            self.mistakes += [0] * (number > 1)
            self.is_converged = False
            for piece in self._cut(number, order):
                self._keeper.meet(self._weights, self._rows, self._codes, piece)
                self._count()
                yield True
                if self._max_seconds is not None and self._seconds() >= self._max_seconds:
                    self.reason = f"max_seconds={self._max_seconds} reached"
                    break
            is_whole = self._weights.seen == number * len(order)
            if is_whole:
                self._keeper.end(self._weights)
                self.is_converged = self.mistakes[-1] == 0
                self.reason = self._why_stop(number) or self.reason
            if self.reason:
                return
        self.reason = "all epochs were run"

    def _cut(self, number: int, order: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """An epoch in pieces of some milliseconds, with the keeper's look between two of them."""
        per_row = self._rows.n_stored * self._weights.n_scores / self._rows.n_rows + 1
        step = max(1, int(_PIECE / per_row))
        look = self._keeper.cut(number, len(order))
        bounds = {*range(0, len(order), step), len(order)} | ({look} if look is not None else set())
        places = sorted(bounds)
        for first, last in pairwise(places):
            if first == look:
                self._keeper.look(self._weights)
            yield order[first:last]

    def _count(self) -> None:
        self.mistakes[-1] = self._weights.mistakes - self._before

    def _why_stop(self, number: int) -> str:
        told = Epoch(number, self.mistakes[-1], self._weights.mistakes, self._seconds())
        answers = [callback(told) for callback in self._callbacks]
        if self._until_convergence and self.is_converged:
            return "an epoch without a mistake"
        if any(isinstance(answer, (bool, np.bool_)) and answer for answer in answers):
            return "a callback asked to stop"
        return ""

    def _seconds(self) -> float:
        return time.perf_counter() - self._began
