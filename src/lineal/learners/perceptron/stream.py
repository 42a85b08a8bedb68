"""A perceptron's way through rows, from its first example on: passes of a fit, pieces of a stream.

Labels may be new at any row. One label alone is what is predicted, and nothing has to change. Two have one
vector of weights, more have a row each (``OnlineWeights.divide``). The first row of a label that was not
named before is a mistake: it could not be predicted.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.cancellation import cancellable, nothing_done, raise_if_over, shielded
from lineal.learners.online.arrivals import Arrivals
from lineal.learners.perceptron.keepers import Average, Every, Keeper, Last, taken
from lineal.learners.perceptron.online import OnlineWeights
from lineal.learners.perceptron.survivors import Survivors
from lineal.model.answers import winners
from lineal.objective.linear_maps import NativeRows

KEEPERS: dict[str, type[Keeper]] = {"averaged": Average, "plain": Last, "voted": Every}


@dataclass(frozen=True)
class Terms:
    """What stays as it is from the first example on."""

    variant: str
    rate: float
    has_intercept: bool


class MistakeStream:
    """All that is known after the examples met so far; more can be met at any time.

    Attributes
    ----------
    terms : Terms
    labels : Arrivals
        Those that are known. Weights are in the order in which they are sorted.
    weights : OnlineWeights
    keeper : Keeper
    unit : float
        What the weights are multiplied by.
    """

    def __init__(
        self,
        terms: Terms,
        keeper: Keeper,
        weights: OnlineWeights,
        *,
        labels: Arrivals | None = None,
        unit: float = 1.0,
        fitted: Sequence[int] = (),
    ) -> None:
        self.terms, self.keeper, self.weights, self.unit = terms, keeper, weights, unit
        self.labels = Arrivals() if labels is None else labels
        self._fitted = list(fitted)
        self._n_fitted = weights.seen
        self._n_unguessed = 0
        self._model: dict[str, Any] | None = None

    @classmethod
    def begun(cls, terms: Terms) -> MistakeStream:
        """Before the first example."""
        keeper = KEEPERS[terms.variant]()
        weights = OnlineWeights(
            0, 2, has_intercept=terms.has_intercept, rate=terms.rate, is_averaged=keeper.is_averaged
        )
        return cls(terms, keeper, weights)

    # ---- meeting rows -------------------------------------------------------------------------

    def make_ready(self, n_columns: int, known: Arrivals) -> None:
        """Room for columns, and for labels that are known from now on; all of it, or an error and nothing."""
        weights = copy(self.weights)  # room is made in new arrays
        weights.make_room(n_columns)
        self._divide(weights, known)
        self.weights, self.labels, self._model = weights, known, None

    def meet(self, rows: NativeRows, labels: NDArray[Any], order: NDArray[np.int64]) -> None:
        """Meets the rows of ``order``, for whose columns all is ready; their labels may be new.

        Ctrl-C leaves everything as after the last row that was met.
        """
        known = self.labels
        by_the_end, numbers, known_from = known.met(labels[order])
        codes = np.zeros(rows.n_rows, dtype=np.int32)
        begin = 0
        for n, first in enumerate(known_from[len(known) :].tolist(), start=len(known) + 1):
            self._pass(rows, codes, order[begin:first], numbers[begin:first])
            with cancellable() as token, shielded():  # labels and weights change together
                self._meet_new(rows, codes, int(order[first]), by_the_end.first(n))
            if token.is_over:
                raise nothing_done()
            begin = first + 1
        self._pass(rows, codes, order[begin:], numbers[begin:])

    def _know(self, labels: Arrivals) -> None:
        self._divide(self.weights, labels)
        self.labels = labels

    def _divide(self, weights: OnlineWeights, labels: Arrivals) -> None:
        if labels is not self.labels:
            weights.divide(labels.known.places(self.labels.known.values), len(labels))

    def _places(self) -> NDArray[np.intp]:
        """Where the label of each number stands among the sorted ones."""
        return np.argsort(self.labels.order)

    def _pass(
        self,
        rows: NativeRows,
        codes: NDArray[np.int32],
        order: NDArray[np.int64],
        numbers: NDArray[np.int32],
    ) -> None:
        """Meets rows whose labels are known."""
        if len(self.labels) < 2:
            self.weights.pass_by(len(order))
            return
        codes[order] = self._places()[numbers]
        try:
            self.keeper.meet(self.weights, rows, codes, order)
            raise_if_over()
        finally:
            self.keeper.settle(rows, codes, self.labels.order)

    def _meet_new(self, rows: NativeRows, codes: NDArray[np.int32], row: int, labels: Arrivals) -> None:
        """Meets the first row of the last of ``labels``."""
        before = self.labels.order
        if not len(before):
            self._know(labels)
            self._n_unguessed += 1
            self.weights.pass_by(1)
            return
        x = taken(rows, np.array([row]))
        predicted = winners(self.weights.scores(x))[0] if len(before) > 1 else 0
        self._know(labels)
        places = self._places()
        gained, lost = int(places[-1]), int(places[before[predicted]])
        codes[row] = gained
        self.keeper.note(np.array([[self.weights.seen, row, lost]]))
        self.weights.change(x, gained, lost)
        self.keeper.settle(rows, codes, labels.order)

    # ---- what was met -------------------------------------------------------------------------

    @property
    def n_seen(self) -> int:
        """Rows met since the fit, if there was one."""
        return self.weights.seen - self._n_fitted

    @property
    def mistakes(self) -> list[int]:
        """Rows predicted wrong in each epoch of the fit, if there was one, and since then."""
        return [*self._fitted, self.weights.mistakes - sum(self._fitted) + self._n_unguessed]

    def model(self) -> dict[str, Any]:
        """What is kept, by the names that users know."""
        if self._model is None:
            self._model = self._survivors() if isinstance(self.keeper, Every) else self._kept()
        return self._model

    def _survivors(self) -> dict[str, Any]:
        assert isinstance(self.keeper, Every)
        survivors = Survivors.of(
            self.keeper.changes(self.weights.n_columns),
            seen=self.weights.seen,
            places=self._places(),
            has_intercept=self.terms.has_intercept,
            rate=self.terms.rate,
        )
        return {"survivors_": survivors, "counts_": survivors.counts}

    def _kept(self) -> dict[str, Any]:
        coef, intercept = self.keeper.kept(self.weights)
        return {"coef_": coef / self.unit, "intercept_": intercept / self.unit}

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_model": None}  # which is made again when it is asked for
