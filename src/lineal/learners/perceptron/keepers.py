"""Which of the weights met on the way become the model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedShuffleSplit

from lineal.errors import InputError, ParameterError
from lineal.learners.perceptron.online import OnlineWeights
from lineal.learners.perceptron.survivors import Changes
from lineal.model.answers import winners
from lineal.objective.linear_maps import NativeRows, native_csr, native_dense
from lineal.objective.losses import FloatArray

Weights = tuple[FloatArray, FloatArray]


class Keeper:
    """Watches a run: may look at the weights once inside an epoch, and sees those at the end of each."""

    is_averaged = False
    is_logged = False

    def cut(self, epoch: int, n_examples: int) -> int | None:
        """Before which of the epoch's examples to call ``look``; None for no look."""
        return None

    def look(self, weights: OnlineWeights) -> None:
        """Sees the weights at the cut."""

    def meet(
        self, weights: OnlineWeights, rows: NativeRows, codes: NDArray[np.int32], order: NDArray[np.int64]
    ) -> None:
        """Has the weights meet rows, and notes their mistakes where they are logged."""
        if not self.is_logged:
            weights.meet(rows, codes, order)
            return
        before = weights.mistakes
        log = np.empty((len(order), 3), dtype=np.int64)
        try:
            weights.meet(rows, codes, order, log)
        finally:  # Ctrl-C may end the pass: what was changed until then is noted all the same
            self.note(log[: weights.mistakes - before].copy())

    def note(self, log: NDArray[np.int64]) -> None:
        """Sees mistakes: (example, row, class predicted)."""

    def settle(self, rows: NativeRows, codes: NDArray[np.int32], numbers: NDArray[np.integer[Any]]) -> None:
        """Takes from the rows what is kept of them; classes get the ``numbers`` that they have for good."""

    def end(self, weights: OnlineWeights) -> None:
        """Sees the weights at the end of an epoch."""

    def kept(self, weights: OnlineWeights) -> Weights:
        """The model, when the run is over."""
        return weights.current()


class Last(Keeper):
    """The last weights."""


class Average(Keeper):
    """The mean of the weights after each example."""

    is_averaged = True

    def kept(self, weights: OnlineWeights) -> Weights:
        return weights.average()


class RandomDraw(Keeper):
    """The weights before one example, each of those met as likely as any other.

    The number of epochs need not be known: the e-th takes the place of those before with probability 1 / e.
    """

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng([seed, 1])
        self._drawn: Weights | None = None

    def cut(self, epoch: int, n_examples: int) -> int | None:
        is_taken = self._generator.random() < 1.0 / epoch
        place = int(self._generator.integers(n_examples))
        return place if is_taken else None

    def look(self, weights: OnlineWeights) -> None:
        self._drawn = weights.current()

    def kept(self, weights: OnlineWeights) -> Weights:
        return self._drawn if self._drawn is not None else weights.current()


class Best(Keeper):
    """The weights at the end of the first epoch of highest accuracy on held-out rows."""

    def __init__(self, rows: NativeRows, codes: NDArray[np.int32]) -> None:
        self._rows = rows
        self._codes = codes
        self._best: Weights | None = None
        self.scores: list[float] = []
        self.best_epoch = 0

    @classmethod
    def on_fraction(
        cls, rows: NativeRows, codes: NDArray[np.int32], fraction: float, seed: int
    ) -> tuple[NDArray[np.int64], Best]:
        """The rows that are left to learn from, and a keeper that judges on a share of each class."""
        if not 0 < fraction < 1:
            raise ParameterError(f"a validation fraction must be between 0 and 1, got {fraction!r}.")
        splitter = StratifiedShuffleSplit(1, test_size=fraction, random_state=seed % 2**32)
        try:
            train, test = next(splitter.split(codes, codes))
        except ValueError as error:
            raise InputError(
                f"validation={fraction:g} cannot hold out rows of every class and leave some: {error} "
                "Give validation=(X, y)."
            ) from error
        train, test = np.sort(train), np.sort(test)
        return train, cls(taken(rows, test), codes[test])

    def end(self, weights: OnlineWeights) -> None:
        coef, intercept = weights.current()
        score = float(np.mean(winners(self._rows.dot(coef.T) + intercept) == self._codes))
        if not self.scores or score > max(self.scores):
            self._best, self.best_epoch = (coef, intercept), len(self.scores) + 1
        self.scores.append(score)

    def kept(self, weights: OnlineWeights) -> Weights:
        return self._best if self._best is not None else weights.current()


def taken(rows: NativeRows, places: NDArray[np.int64]) -> NativeRows:
    """Those rows alone."""
    if rows.dense is not None:
        return native_dense(np.ascontiguousarray(rows.dense[places]), rows.n_threads)
    return native_csr(rows.csr()[places], rows.n_threads)


class Every(Keeper):
    """All weights, as the changes between them."""

    is_logged = True

    def __init__(self) -> None:
        self._logs: list[NDArray[np.int64]] = []
        self._changes: list[Changes] = []

    def note(self, log: NDArray[np.int64]) -> None:
        self._logs.append(log)

    def settle(self, rows: NativeRows, codes: NDArray[np.int32], numbers: NDArray[np.integer[Any]]) -> None:
        log = np.concatenate([np.empty((0, 3), dtype=np.int64), *self._logs])
        self._logs = []
        if len(log):
            self._changes.append(Changes.of(rows, codes, log, numbers))

    def changes(self, n_columns: int) -> Changes:
        """All that was settled, in so many columns."""
        self._changes = [Changes.joined(self._changes, n_columns)]
        return self._changes[0]
