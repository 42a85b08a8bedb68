"""The Forgetron: a kernel perceptron that never keeps more than B examples (Dekel, Shalev-Shwartz and Singer
2008).

A mistake adds z, the change of the function: t k(x, .) with two classes, k(x, .) to one score and -k(x, .) to
another with more. When that makes B + 1 examples, the whole function w is shrunk by a factor phi in (0, 1],
and the oldest z, whose coefficient has become lambda by all shrinking since, is removed. In units in which
|z| <= 1 this can spoil the progress of a mistake by at most

    Psi = lambda^2 |z|^2 + 2 lambda - 2 lambda <w, z>,    w the function after shrinking,

and phi is the greatest for which the sum Q of all Psi stays within 15/32 of the mistakes so far
("self-tuned").

For every u and its hinge losses max(0, 1 - <u, z_t>) over the examples met, with S = sum of (1 - phi) / (1 +
phi),

    mistakes <= (1 + S) R^2 |u|^2 + 2 losses + Q,        R = the greatest |z|,

which holds for every run, by the sum of |w_t - u|^2 - |w_{t+1} - u|^2: a mistake's addition gains 1 - 2 loss,
shrinking costs at most R^2 |u|^2 (1 - phi) / (1 + phi), removal Psi. Their theorem bounds S as well: for B >=
83 and R |u| <= sqrt((B + 1) / ln(B + 1)) / 4, mistakes <= 2 R^2 |u|^2 + 4 losses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lineal.learners.kernel.perceptron.mistakes import BLOCK, Order, Values, _add, _next_mistake, _winner
from lineal.objective.losses import FloatArray

_SHARE = 15 / 32


@dataclass(frozen=True, eq=False)
class Kept:
    """The examples that are kept, oldest first, and what has happened so far.

    Attributes
    ----------
    row, gained, lost : (m,) as in a log of mistakes
    weight : (m,) their coefficients, in (0, 1]
    seen, mistakes : so far
    deviation : Q
    shrinkage : S
    """

    row: Order
    gained: Order
    lost: Order
    weight: FloatArray
    seen: int = 0
    mistakes: int = 0
    deviation: float = 0.0
    shrinkage: float = 0.0

    @classmethod
    def nothing(cls) -> Kept:
        """Before the first example."""
        none = np.empty(0, dtype=np.int64)
        return cls(none, none, none, np.empty(0))

    def signed(self, n_scores: int) -> FloatArray:
        """(m, 1) or (m, K): the coefficient of each k(x, .) in each score."""
        signs = np.zeros((len(self.row), n_scores))
        if n_scores == 1:
            signs[:, 0] = np.where(self.gained == 1, self.weight, -self.weight)
            return signs
        every = np.arange(len(self.row))
        signs[every, self.gained] = self.weight
        signs[every, self.lost] = -self.weight
        return signs


class Forgetron:
    """A perceptron on a budget, after the examples met so far."""

    def __init__(
        self, table: Values, codes: NDArray[np.int32], n_classes: int, budget: int, diagonal: FloatArray
    ) -> None:
        self._values, self._codes = table, codes
        self.n_scores = n_classes if n_classes > 2 else 1
        self._budget = budget
        # |z|^2 = k(x, x), or 2 k(x, x) for a difference of two scores.
        self._lengths = diagonal * (1.0 if self.n_scores == 1 else 2.0)
        self._unit = max(float(self._lengths.max(initial=0.0)), 1e-300)
        self.kept = Kept.nothing()
        self._among = np.empty((0, 0))  # k between the examples that are kept

    @property
    def seen(self) -> int:
        """Examples met."""
        return self.kept.seen

    @property
    def mistakes(self) -> int:
        """Examples that changed something."""
        return self.kept.mistakes

    @property
    def radius(self) -> float:
        """The greatest |z|."""
        return float(np.sqrt(self._unit))

    def pieces(self, epoch: int, order: Order) -> Iterator[Order]:
        """An epoch in blocks."""
        for first in range(0, len(order), BLOCK):
            yield order[first : first + BLOCK]

    def end(self) -> None:
        """Nothing is done between epochs."""

    def meet(self, order: Order) -> None:
        """Meets rows, in this order; at Ctrl-C it is as after the last whole block."""
        block = _Block(self, order)
        kept = block.run()
        among = block.among(kept)
        self._among, self.kept = among, kept


class _Block:
    """Rows on their way through: kept examples and new rows in one table of values, by their places in it."""

    def __init__(self, machine: Forgetron, order: Order) -> None:
        self._machine, self._order = machine, order
        kept = machine.kept
        self._kept = kept
        self._n_old = len(kept.row)
        old = machine._values.between(order, kept.row)
        new = machine._values.between(order, order)
        self._table = np.block([[machine._among, old.T], [old, new]])
        self._place = np.arange(self._n_old, dtype=np.int64)

    def run(self) -> Kept:
        """What is kept after the block."""
        machine, n_old = self._machine, self._n_old
        codes = machine._codes[self._order]
        state, place = self._kept, self._place
        # Scores of the new rows alone; those of a kept example are summed when it is to be removed.
        scores = self._table[n_old:, :n_old] @ state.signed(machine.n_scores)
        first = 0
        while (at := _next_mistake(scores, codes, first)) is not None:
            gained, lost = int(codes[at]), _winner(scores[at])
            _add(scores, self._table[n_old:, n_old + at], gained, lost)
            state = replace(
                state,
                row=np.append(state.row, self._order[at]),
                gained=np.append(state.gained, gained),
                lost=np.append(state.lost, lost),
                weight=np.append(state.weight, 1.0),
                mistakes=state.mistakes + 1,
            )
            place = np.append(place, n_old + at)
            if len(state.row) > machine._budget:
                state = self._forget(state, place, scores)
                place = place[1:]
            first = at + 1
        self._place = place
        return replace(state, seen=self._kept.seen + len(self._order))

    def _forget(self, state: Kept, place: Order, scores: FloatArray) -> Kept:
        """Shrinks all, and removes the oldest."""
        machine = self._machine
        values = self._table[place[0], place] @ state.signed(machine.n_scores)
        gained, lost = int(state.gained[0]), int(state.lost[0])
        margin = (
            (values[0] if gained == 1 else -values[0])
            if machine.n_scores == 1
            else (values[gained] - values[lost])
        )
        weight, unit = float(state.weight[0]), machine._unit
        length = machine._lengths[state.row[0]] / unit
        room = _SHARE * state.mistakes - state.deviation
        phi = _shrinking(weight, float(margin) / unit, float(length), room)
        scores *= phi
        _add(scores, -phi * weight * self._table[self._n_old :, place[0]], gained, lost)
        return replace(
            state,
            row=state.row[1:],
            gained=state.gained[1:],
            lost=state.lost[1:],
            weight=phi * state.weight[1:],
            deviation=state.deviation + _psi(phi, weight, float(margin) / unit, float(length)),
            shrinkage=state.shrinkage + (1 - phi) / (1 + phi),
        )

    def among(self, kept: Kept) -> FloatArray:
        """k between the examples that are kept in the end."""
        return np.asarray(self._table[np.ix_(self._place, self._place)])


def _psi(phi: float, weight: float, margin: float, length: float) -> float:
    """What removal costs after shrinking by phi; margin = <w, z> before it."""
    removed = phi * weight
    return removed**2 * length + 2 * removed - 2 * removed * phi * margin


def _shrinking(weight: float, margin: float, length: float, room: float) -> float:
    """The greatest phi in (0, 1] with Psi <= room: 1, or the lesser root of a quadratic through 0."""
    if _psi(1.0, weight, margin, length) <= room:
        return 1.0
    a, b = weight**2 * length - 2 * weight * margin, 2 * weight
    # Psi(phi) = a phi^2 + b phi exceeds room at 1, so it has a root before; this form of it does not cancel.
    return min(1.0, 2 * room / (b + float(np.sqrt(max(b * b + 4 * a * room, 0.0)))))
