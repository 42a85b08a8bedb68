"""A joint map's way through examples, from the first one on: passes of a fit, pieces of a stream.

Labels may be new at any example, and phi may name features that are new. phi is asked for the labels that are
known by then, the example's own included, so that the features have the same order whatever the pieces are.
The first example of a label that was not named before is a mistake: it could not be predicted.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.cancellation import cancellable, raise_if_over, shielded
from lineal.features.joint import JointMap, stacked
from lineal.learners.joint.online import JointWeights, Terms
from lineal.learners.online.arrivals import Arrivals
from lineal.objective.linear_maps import native_csr
from lineal.objective.losses import FloatArray


@dataclass(frozen=True)
class _Segment:
    """Examples that are met while the same labels are known."""

    labels: Arrivals
    is_new: bool  # whether it is the first example of a label
    codes: NDArray[np.int32]
    matrix: Any
    n_known: list[int]  # features after each example

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True)
class Piece:
    """Examples that were read and are to be met."""

    known: Arrivals  # labels before the first of them
    segments: list[_Segment]
    n_columns: int  # features before the first of them


class JointStream:
    """All that is known after the examples met so far; more can be met at any time.

    Attributes
    ----------
    terms : Terms
    weights : JointWeights
    columns : dict
        The place of every feature.
    labels : Arrivals
        Those that are known.
    """

    def __init__(
        self,
        terms: Terms,
        weights: JointWeights | None = None,
        columns: dict[Hashable, int] | None = None,
        labels: Arrivals | None = None,
    ) -> None:
        self.terms = terms
        self.weights = JointWeights(terms, 0) if weights is None else weights
        self.columns = {} if columns is None else columns
        self.labels = Arrivals() if labels is None else labels
        self._n_unguessed = 0
        self._unjudged = (0, 0, 0.0)

    def judge_from(self, seen: int, mistakes: int, suffered: float) -> None:
        """Examples met so far that say nothing of new ones, as those of a second epoch do."""
        self._unjudged = (seen, mistakes, suffered)

    # ---- meeting examples ---------------------------------------------------------------------

    def read(self, phi: JointMap, things: NDArray[Any], labels: NDArray[Any], known: Arrivals) -> Piece:
        """What phi says of examples; ``known`` are the labels that may be chosen from the first one on.

        What is refused is refused here, and changes nothing.
        """
        n_columns = len(self.columns)
        try:
            piece = Piece(known, list(self._segments(phi, things, labels, known)), n_columns)
            self.weights.make_room(max(1, len(self.columns)))
        except BaseException:
            self._forget_columns(n_columns)
            raise
        return piece

    def meet(self, piece: Piece) -> None:
        """Meets examples that were read, in their order.

        Ctrl-C leaves everything as after the last example that was met.
        """
        before = self.weights.seen
        try:
            for segment in piece.segments:
                self._pass(segment)
        finally:
            with cancellable(), shielded():  # labels and features are those of the examples that were met
                self._settle(piece, self.weights.seen - before)

    def _segments(
        self, phi: JointMap, things: NDArray[Any], labels: NDArray[Any], known: Arrivals
    ) -> Iterator[_Segment]:
        by_the_end, numbers, known_from = known.met(labels)
        bounds = [(0, known, False)]
        for n, first in enumerate(known_from[len(known) :].tolist(), start=len(known) + 1):
            arrivals = by_the_end.first(n)
            bounds += [(first, arrivals, True), (first + 1, arrivals, False)]
        lasts = [first for first, _, _ in bounds[1:]] + [len(things)]
        largest = self.terms.largest(self.weights.unit)
        for (first, arrivals, is_new), last in zip(bounds, lasts, strict=True):
            if first == last:
                continue
            n_known: list[int] = []
            matrix = stacked(
                phi, things[first:last], arrivals.known.values.tolist(), self.columns, is_learning=True,
                largest=largest, first_row=first, n_known=n_known,
            )  # fmt: skip
            places = np.argsort(arrivals.order).astype(np.int32)  # of each number among the sorted labels
            yield _Segment(arrivals, is_new, places[numbers[first:last]], matrix, n_known)

    def _pass(self, segment: _Segment) -> None:
        if len(segment.labels) < 2:
            self.weights.pass_by(len(segment))
            return
        rows = native_csr(segment.matrix, 1)
        self.weights.meet(rows, segment.codes, np.arange(len(segment)), is_new=segment.is_new)
        raise_if_over()

    def _settle(self, piece: Piece, n_met: int) -> None:
        self._n_unguessed += int(not len(piece.known) and n_met > 0)
        self.labels, n_columns = piece.known, piece.n_columns
        for segment in piece.segments:
            if n_met <= 0:
                break
            self.labels = segment.labels
            n_columns = segment.n_known[min(n_met, len(segment)) - 1]
            n_met -= len(segment)
        self._forget_columns(n_columns)

    def _forget_columns(self, n_columns: int) -> None:
        while len(self.columns) > n_columns:
            self.columns.popitem()  # the last that came

    # ---- what was met -------------------------------------------------------------------------

    @property
    def n_judged(self) -> int:
        """Examples that were new when they were predicted."""
        return self.weights.seen - self._unjudged[0]

    @property
    def n_wrong(self) -> int:
        """Those of them that were predicted wrong."""
        return self.weights.mistakes + self._n_unguessed - self._unjudged[1]

    @property
    def suffered(self) -> float:
        """The sum of their losses."""
        return self.weights.suffered - self._unjudged[2]

    def coef(self) -> FloatArray:
        """A weight for each feature."""
        return self.weights.kept(len(self.columns)) / self.weights.unit
