"""The weights of a joint map's features on their way: examples are met one by one.

With y the label of x and r the label of the highest score among the others (the first of them), a perceptron
adds phi(x, y) - phi(x, r) where r is predicted; a passive-aggressive learner adds as much of it as gives y a
lead of 1 over r (Crammer, Dekel, Keshet, Shalev-Shwartz and Singer 2006). Averages are kept as in
``lineal.learners.perceptron.online``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.learners.perceptron.run import examples_of_a_piece
from lineal.learners.perceptron.sizes import LARGEST, largest_in_stream
from lineal.objective.linear_maps import NativeRows
from lineal.objective.losses import FloatArray


@dataclass(frozen=True)
class MistakeTerms:
    """What stays as it is from a perceptron's first example on."""

    variant: str
    rate: float

    @property
    def is_averaged(self) -> bool:
        """Whether the mean of the weights after each example is kept."""
        return self.variant == "averaged"

    def step(self, unit: float) -> _core.MistakeStep:
        """The native rule, for weights that are multiplied by a unit."""
        return _core.MistakeStep(self.rate * unit)

    def largest(self, unit: float) -> float:
        """The largest number that a stream may bring."""
        return largest_in_stream(self.rate, unit)


@dataclass(frozen=True)
class PassiveAggressiveTerms:
    """What stays as it is from a passive-aggressive learner's first example on."""

    variant: str
    C: float
    is_averaged: bool

    def step(self, unit: float) -> _core.PassiveAggressiveStep:
        """The native rule."""
        most = self.C if self.variant == "PA-I" else np.inf
        return _core.PassiveAggressiveStep(most, 0.5 / self.C if self.variant == "PA-II" else 0.0)

    def largest(self, unit: float) -> float:
        """The largest number that a stream may bring: its square is far inside float64."""
        return LARGEST


Terms = MistakeTerms | PassiveAggressiveTerms


class JointWeights:
    """The state after the examples met so far; more can be met at any time.

    Attributes
    ----------
    unit : float
        What the weights are multiplied by.
    """

    def __init__(self, terms: Terms, n_columns: int, unit: float = 1.0) -> None:
        self._terms, self.unit = terms, unit
        # w, and sum_t t Delta_t where the average is wanted.
        self._sums = np.zeros((1 + terms.is_averaged, n_columns))
        self._tally = np.zeros(2, dtype=np.int64)
        self._suffered = np.zeros(1)

    @property
    def seen(self) -> int:
        """Examples met."""
        return int(self._tally[0])

    @property
    def mistakes(self) -> int:
        """Examples whose label was not the one predicted."""
        return int(self._tally[1])

    @property
    def suffered(self) -> float:
        """The sum of their losses; a perceptron counts none."""
        return float(self._suffered[0])

    def make_room(self, n_columns: int) -> None:
        """Room for so many features; what is new starts at 0."""
        n_sums, n_before = self._sums.shape
        if n_columns > n_before:  # at least twice as many: a stream that goes on growing copies little
            sums = np.zeros((n_sums, max(n_columns, 2 * n_before)))
            sums[:, :n_before] = self._sums
            self._sums = sums

    def meet(
        self, rows: NativeRows, codes: NDArray[np.int32], order: NDArray[np.int64], *, is_new: bool = False
    ) -> None:
        """Meets examples, in this order; row i K + k of ``rows`` is phi(x_i, label k).

        With ``is_new`` their labels were not there to be chosen. Ctrl-C ends it after some example: all that
        is held here is as after that one.
        """
        late = self._sums[1] if len(self._sums) > 1 else None
        step = self._terms.step(self.unit)
        _core.joint_pass(
            rows.matrix, codes, order, step, is_new, self._sums[0], late, self._tally, self._suffered
        )

    def pass_by(self, n_examples: int) -> None:
        """Meets examples that can change nothing."""
        self._tally[0] += n_examples

    def kept(self, n_columns: int) -> FloatArray:
        """The model: the last weights, or their average after each example; 0 before the first."""
        w = self._sums[0, :n_columns]
        kept = w - self._sums[1, :n_columns] / max(self.seen, 1) if len(self._sums) > 1 else w
        return np.array(kept)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Arrays may come as read-only maps of a file.
        names = ("_sums", "_tally", "_suffered")
        self.__dict__.update(state | {name: np.require(state[name], requirements="W") for name in names})


@dataclass(frozen=True)
class OnStack:
    """Weights that learn from the stacked rows of a joint map."""

    rows: NativeRows
    codes: NDArray[np.int32]
    weights: JointWeights

    @property
    def seen(self) -> int:
        """Examples met."""
        return self.weights.seen

    @property
    def mistakes(self) -> int:
        """Examples that were predicted wrong."""
        return self.weights.mistakes

    def pieces(self, epoch: int, order: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """An epoch in pieces of some milliseconds."""
        step = examples_of_a_piece(self.rows.n_stored / len(self.codes))
        for first in range(0, len(order), step):
            yield order[first : first + step]

    def meet(self, order: NDArray[np.int64]) -> None:
        """Meets examples, in this order."""
        self.weights.meet(self.rows, self.codes, order)

    def end(self) -> None:
        """Nothing is done at the end of an epoch."""
