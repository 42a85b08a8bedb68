"""Distinct values in order, which may grow: the labels of a model, the categories of a column."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_NUMBERS = "biuf"


@dataclass(frozen=True)
class Catalogue:
    """Values, sorted and each once; those that cannot be compared sort by type and text.

    Numbers are told apart by value, so 3 and 3.0 are one of them; 3 and "3" are two.
    """

    values: NDArray[Any]

    @classmethod
    def of(cls, values: NDArray[Any]) -> Catalogue:
        """All that an array holds."""
        return cls(_in_order(values.tolist()) if values.dtype.kind == "O" else np.unique(values))

    def __len__(self) -> int:
        return len(self.values)

    def joined(self, other: Catalogue) -> Catalogue:
        """The values of both; this very catalogue if the other has nothing new."""
        if len(self) and not (self.places(other.values) == len(self)).any():
            return self
        if not len(self):
            return other
        if _are_alike(self.values, other.values):
            return Catalogue(np.unique(np.concatenate([self.values, other.values])))
        return Catalogue(_in_order([*self.values.tolist(), *other.values.tolist()]))

    def places(self, values: NDArray[Any]) -> NDArray[np.intp]:
        """Where each value stands; as many as there are for one that does not."""
        n = len(self)
        if self.values.dtype.kind != "O" and _are_alike(self.values, values):
            at = np.searchsorted(self.values, values)
            found = self.values[np.minimum(at, n - 1)] == values if n else np.zeros(len(values), dtype=bool)
            return np.where(found, at, n)
        place = {value: k for k, value in enumerate(self.values.tolist())}
        listed = values.tolist()
        return np.fromiter((place.get(value, n) for value in listed), dtype=np.intp, count=len(listed))


def _are_alike(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether NumPy puts both into one array without changing what they mean."""
    kinds = {a.dtype.kind, b.dtype.kind}
    return kinds <= set(_NUMBERS) or (len(kinds) == 1 and "O" not in kinds)


def _in_order(values: Iterable[Any]) -> NDArray[Any]:
    distinct = list(dict.fromkeys(values))
    try:
        distinct.sort()
    except TypeError:
        distinct.sort(key=lambda value: (type(value).__name__, repr(value)))
    return np.fromiter(distinct, dtype=object, count=len(distinct))
