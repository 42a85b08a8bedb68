"""Distinct values in order, which may grow: the labels of a model, the categories of a column."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.data.targets import in_order

_NUMBERS, _TEXTS = "biuf", "US"
_FEW = 8  # texts that are looked for one by one
_NARROW, _LARGE = 4096, 2**62  # the reach of tables of whole numbers; sizes whose differences cannot overflow


@dataclass(frozen=True)
class Catalogue:
    """Values, sorted and each once; those that cannot be compared sort by type and text.

    Numbers are told apart by value, so 3 and 3.0 are one of them; 3 and "3" are two.
    """

    values: NDArray[Any]

    @classmethod
    def of(cls, values: NDArray[Any]) -> Catalogue:
        """All that an array holds."""
        if values.dtype.kind == "O":
            return cls(_in_order(values.tolist()))
        if _is_narrow(values):  # counting beats sorting
            least = int(values.min())
            met = np.flatnonzero(np.bincount(_above(values, least)))
            return cls((met + least).astype(values.dtype))
        if values.dtype.kind in _TEXTS and (few := _few(values)) is not None:
            return cls(few)
        return cls(np.unique(values))

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
        if _is_narrow(self.values) and values.dtype.kind in "iu":
            least, greatest = int(self.values[0]), int(self.values[-1])
            table = np.full(greatest - least + 1, n, dtype=np.intp)
            table[_above(self.values, least)] = np.arange(n)
            is_inside = (values >= least) & (values <= greatest)
            if is_inside.all():
                return table[_above(values, least)]
            return np.where(is_inside, table[np.where(is_inside, _above(values, least), 0)], n)
        if n <= _FEW and self.values.dtype.kind in _TEXTS and _are_alike(self.values, values):
            places = np.full(len(values), n, dtype=np.intp)
            for k, value in enumerate(self.values):
                places[values == value] = k
            return places
        if self.values.dtype.kind != "O" and _are_alike(self.values, values):
            at = np.searchsorted(self.values, values)
            found = self.values[np.minimum(at, n - 1)] == values if n else np.zeros(len(values), dtype=bool)
            return np.where(found, at, n)
        place = {value: k for k, value in enumerate(self.values.tolist())}
        listed = values.tolist()
        return np.fromiter((place.get(value, n) for value in listed), dtype=np.intp, count=len(listed))


def _above(values: NDArray[Any], least: int) -> NDArray[np.int64]:
    """Whole numbers from the least on, whatever type they have; those out of reach mean nothing."""
    return values.astype(np.int64) - least


def _is_narrow(values: NDArray[Any]) -> bool:
    """Whether a table from the least to the greatest of some whole numbers is a small one."""
    if values.dtype.kind not in "iu" or not len(values):
        return False
    least, greatest = int(values.min()), int(values.max())
    return greatest - least < _NARROW and max(abs(least), abs(greatest)) < _LARGE


def _few(values: NDArray[Any]) -> NDArray[Any] | None:
    """The distinct ones, sorted, where they are few: each is compared with all that are left."""
    found: list[Any] = []
    left = values
    while len(left) and len(found) < _FEW:
        found.append(left[0])
        left = left[left != left[0]]
    return None if len(left) else np.sort(np.array(found, dtype=values.dtype))


def _are_alike(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether NumPy puts both into one array without changing what they mean."""
    kinds = {a.dtype.kind, b.dtype.kind}
    return kinds <= set(_NUMBERS) or (len(kinds) == 1 and "O" not in kinds)


def _in_order(values: Iterable[Any]) -> NDArray[Any]:
    distinct = in_order(values)
    return np.fromiter(distinct, dtype=object, count=len(distinct))
