"""Labels in the order in which a stream brought them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.learners.catalogue import Catalogue


@dataclass(frozen=True)
class Arrivals:
    """Labels by arrival. A label is known from its first row on, or from the start if it was named.

    Attributes
    ----------
    known : Catalogue
        The same labels, sorted.
    order : (n,) int32
        For each of the sorted labels, its number by arrival.
    """

    known: Catalogue = field(default_factory=lambda: Catalogue(np.empty(0, dtype=object)))
    order: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, dtype=np.int32))

    def __len__(self) -> int:
        return len(self.known)

    @property
    def labels(self) -> NDArray[Any]:
        """The labels by arrival."""
        by_arrival = np.empty_like(self.known.values)
        by_arrival[self.order] = self.known.values
        return by_arrival

    def first(self, n: int) -> Arrivals:
        """The n labels that came first."""
        is_there = self.order < n
        return Arrivals(Catalogue(self.known.values[is_there]), self.order[is_there])

    def named(self, labels: NDArray[Any]) -> Arrivals:
        """These and more, which are known from now on."""
        more = Catalogue.of(labels)
        return self._joined(more, more.places(more.values))

    def met(self, labels: NDArray[Any]) -> tuple[Arrivals, NDArray[np.int32], NDArray[np.int64]]:
        """With the labels of some rows: each row's number by arrival, and from which row each label is known.

        -1 for one that was known before.
        """
        if len(self):
            at = self.known.places(labels)
            if (at < len(self)).all():  # the usual case
                return self, self.order[at], np.full(len(self), -1, dtype=np.int64)
        own = Catalogue.of(labels)
        places = own.places(labels)
        first = np.full(len(own), len(labels), dtype=np.int64)
        first[places[::-1]] = np.arange(len(labels))[::-1]
        joined = self._joined(own, first)
        number = _numbers(joined, own)
        known_from = np.full(len(joined), -1, dtype=np.int64)
        is_new = number >= len(self)
        known_from[number[is_new]] = first[is_new]
        return joined, number[places].astype(np.int32), known_from

    def _joined(self, more: Catalogue, first: NDArray[Any]) -> Arrivals:
        """With what is new among ``more``, which arrives in the order of ``first``."""
        known = self.known.joined(more)
        if known is self.known:
            return self
        n = len(self)
        is_new = self.known.places(more.values) == n if n else np.ones(len(more), dtype=bool)
        arriving = more.values[is_new][np.argsort(first[is_new], kind="stable")]
        order = np.empty(len(known), dtype=np.int32)
        order[known.places(self.known.values)] = self.order
        order[known.places(arriving)] = np.arange(n, len(known))
        return Arrivals(known, order)


def _numbers(arrivals: Arrivals, labels: Catalogue) -> NDArray[np.int32]:
    """The numbers by arrival of labels that are all there."""
    return arrivals.order[arrivals.known.places(labels.values)]
