"""A fit: epochs until a limit, convergence, a budget, a callback or Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lineal.cancellation import cancellable, following
from lineal.learners.perceptron.keepers import Keeper
from lineal.learners.perceptron.online import Epoch, OnlineWeights
from lineal.objective.certificate import Stop
from lineal.objective.linear_maps import NativeRows

# The clock is looked at after so many multiplications: some milliseconds.
_PIECE = 1 << 22


def examples_of_a_piece(n_products: float) -> int:
    """How many examples of so many multiplications are met between two looks at the clock."""
    return max(1, int(_PIECE / (n_products + 1)))


class Learning(Protocol):
    """What learns from examples, one by one, whatever its weights are."""

    @property
    def seen(self) -> int:
        """Examples met."""

    @property
    def mistakes(self) -> int:
        """Examples that changed something."""

    def pieces(self, epoch: int, order: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """An epoch in pieces of some milliseconds."""

    def meet(self, order: NDArray[np.int64]) -> None:
        """Meets rows, in this order."""

    def end(self) -> None:
        """Sees that an epoch is over."""


@dataclass(frozen=True)
class OnRows:
    """Weights that learn from rows, and their keeper."""

    rows: NativeRows
    codes: NDArray[np.int32]
    weights: OnlineWeights
    keeper: Keeper

    @property
    def seen(self) -> int:
        """Examples met."""
        return self.weights.seen

    @property
    def mistakes(self) -> int:
        """Examples that changed the weights."""
        return self.weights.mistakes

    def pieces(self, epoch: int, order: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """An epoch in pieces of some milliseconds, with the keeper's look between two of them."""
        step = examples_of_a_piece(self.rows.n_stored * self.weights.n_scores / self.rows.n_rows)
        look = self.keeper.cut(epoch, len(order))
        bounds = {*range(0, len(order), step), len(order)} | ({look} if look is not None else set())
        places = sorted(bounds)
        for first, last in pairwise(places):
            if first == look:
                self.keeper.look(self.weights)
            yield order[first:last]

    def meet(self, order: NDArray[np.int64]) -> None:
        """Meets rows, in this order."""
        self.keeper.meet(self.weights, self.rows, self.codes, order)

    def end(self) -> None:
        """Shows the keeper the weights at the end of an epoch."""
        self.keeper.end(self.weights)


class Run:
    """Epochs over rows, and why they ended; the weights are as after the last example, however that was.

    Attributes
    ----------
    mistakes : list of int
        For each epoch that was begun.
    reason : str
        Why they ended, in words.
    stop : Stop or None
        Why they ended early: CANCELLED, SECONDS or CALLBACK; None where they did not.
    is_converged : bool
        Whether the last epoch was whole and without a mistake.
    """

    def __init__(
        self,
        learning: Learning,
        until_convergence: bool,
        max_seconds: float | None,
        callbacks: Sequence[Callable[[Epoch], object]],
    ) -> None:
        self._learning = learning
        self._until_convergence = until_convergence
        self._max_seconds = max_seconds
        self._callbacks = callbacks
        self._before = 0  # mistakes before this epoch
        self.mistakes = [0]
        self.reason = ""
        self.stop: Stop | None = None
        self.is_converged = False

    def go(self, epochs: Iterable[NDArray[np.int64]]) -> None:
        """Meets the rows of each epoch, in its order."""
        self._began = time.perf_counter()
        stream = self._pieces(epochs)
        with cancellable() as token:
            while following(stream, token) is not None:
                pass
            if token.is_over and not self.reason:
                self.stop, self.reason = Stop.CANCELLED, "interrupted: these are the weights so far"
                self._count()

    def _pieces(self, epochs: Iterable[NDArray[np.int64]]) -> Iterator[bool]:
        for number, order in enumerate(epochs, start=1):
            self._before = self._learning.mistakes
            self.mistakes += [0] * (number > 1)
            self.is_converged = False
            for piece in self._learning.pieces(number, order):
                self._learning.meet(piece)
                self._count()
                yield True
                if self._max_seconds is not None and self._seconds() >= self._max_seconds:
                    self.stop, self.reason = Stop.SECONDS, Stop.SECONDS.sentence(self._max_seconds)
                    break
            is_whole = self._learning.seen == number * len(order)
            if is_whole:
                self._learning.end()
                self.is_converged = self.mistakes[-1] == 0
                self.reason = self._why_stop(number) or self.reason
            if self.reason:
                return
        self.reason = "all epochs were run"

    def _count(self) -> None:
        self.mistakes[-1] = self._learning.mistakes - self._before

    def _why_stop(self, number: int) -> str:
        told = Epoch(number, self.mistakes[-1], self._learning.mistakes, self._seconds())
        answers = [callback(told) for callback in self._callbacks]
        if self._until_convergence and self.is_converged:
            return "an epoch without a mistake"
        if any(isinstance(answer, (bool, np.bool_)) and answer for answer in answers):
            self.stop = Stop.CALLBACK
            return self.stop.sentence()
        return ""

    def _seconds(self) -> float:
        return time.perf_counter() - self._began
