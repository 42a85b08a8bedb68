"""Columns of categories."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from lineal.errors import ParameterError
from lineal.features.columns import Column
from lineal.features.kinds.base import Encoding, Kind, indicator_of, one_hot, one_of, refuse


@dataclass(frozen=True)
class Categories(Kind):
    """A column of categories: a column of zeros and ones for each level, ``name=level``.

    Levels are told apart by their text, so 3, 3.0 and "3" are one level. They are sorted: as numbers if all
    are numbers, else as text.

    Parameters
    ----------
    min_count : int
        Levels with fewer training rows share one column, ``name is rare``.
    max_levels : int, optional
        The most frequent levels that keep a column of their own; the others are rare too.
    unseen : "rare", "zero" or "refuse"
        A level that the training data did not have is rare if there is such a column, else it has no 1
        anywhere; with "zero" it never has one; "refuse" stops with its row.
    missing : "indicate" or "refuse"
        A missing value has no 1 among the levels. If the training data had some, a column ``name is missing``
        is added.
    """

    word: ClassVar[str] = "category"

    min_count: int = 1
    max_levels: int | None = None
    unseen: str = "rare"
    missing: str = "indicate"

    def __post_init__(self) -> None:
        for option, value in (("min_count", self.min_count), ("max_levels", self.max_levels)):
            if value is not None and (not isinstance(value, Integral) or value < 1):
                raise ParameterError(f"{option} must be a whole number >= 1, got {value!r}.")
        one_of("unseen", self.unseen, ("rare", "zero", "refuse"))
        one_of("missing", self.missing, ("indicate", "refuse"))

    def read(self, column: Column) -> Column:
        values = np.empty(len(column), dtype=object)
        values[~column.missing] = list(_levels(column))
        return replace(column, values=values)

    def learn(self, column: Column) -> Encoding:
        counts = Counter(column.present.tolist())
        levels = sorted(level for level in counts if counts[level] >= self.min_count)
        if self.max_levels is not None:  # a stable sort: of equally frequent levels the first stay
            levels = sorted(sorted(levels, key=lambda level: -counts[level])[: self.max_levels])
        levels = _in_order(levels)
        rare = (f"{column.name} is rare",) if len(levels) < len(counts) else ()
        parts = tuple(f"{column.name}={level}" for level in levels) + rare
        places = {level: place for place, level in enumerate(levels)}
        return _Categories(self, parts, indicator_of(column), places, frozenset(counts) - places.keys())


@dataclass(frozen=True)
class _Categories(Encoding):
    places: dict[str, int]
    rare: frozenset[str]

    def block(self, column: Column) -> Any:
        levels = column.values.tolist()
        codes = np.array([self.places.get(level, -1) for level in levels], dtype=np.intp)
        for row in np.flatnonzero((codes < 0) & ~column.missing):
            codes[row] = self._other(column, int(row), levels[row])
        return one_hot(codes, len(self.parts))

    def _other(self, column: Column, row: int, level: str) -> int:
        if level not in self.rare:
            assert isinstance(self.kind, Categories)
            if self.kind.unseen == "refuse":
                refuse(column, row, level, f"one of the {len(self.places)} levels of the training data")
            if self.kind.unseen == "zero":
                return -1
        return len(self.places) if self.rare else -1


def _levels(column: Column) -> Iterator[str]:
    """The text of each value that is there."""
    if column.values.dtype.kind != "O":  # few distinct values are written many times
        distinct, codes = np.unique(column.present, return_inverse=True)
        texts = [text_of(value) for value in distinct.tolist()]
        return (texts[code] for code in codes)
    for row in np.flatnonzero(~column.missing):
        if isinstance(column.values[row], (dict, list, set, np.ndarray)):
            refuse(column, int(row), column.values[row], "one value in each cell")
    return (value if type(value) is str else text_of(value) for value in column.present)


def text_of(value: Any) -> str:
    """What a level is called; whole numbers look the same whatever type holds them."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return str(int(float(value))) if float(value).is_integer() else str(float(value))
    return value.isoformat() if isinstance(value, (dt.date, dt.time)) else str(value)


def _in_order(levels: list[str]) -> list[str]:
    """As numbers if all are, else as they are; equal numbers, such as 1 and 1.0 in text, by their text."""
    try:
        sizes = {level: float(level) for level in levels}
    except ValueError:
        return levels
    return (
        sorted(levels, key=lambda level: (sizes[level], level))
        if np.isfinite([*sizes.values()]).all()
        else levels
    )
