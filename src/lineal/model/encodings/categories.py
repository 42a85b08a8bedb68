"""Columns of categories."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

from lineal.data.columns import Column
from lineal.data.rows import Arrays, one_hot
from lineal.model.encodings.base import Encoding, put_flags, read_usual, refuse
from lineal.model.record import Draft, Spec

UNSEEN = ("rare", "zero", "refuse")


@dataclass(frozen=True, eq=False)
class CategoriesEncoding(Encoding):
    """Categories as a 1 among zeros.

    Attributes
    ----------
    levels : those with a feature of their own, in its order
    rare : those that share the last feature, if there are any
    unseen : "rare", "zero" or "refuse"
    """

    kind: ClassVar[str] = "categories"

    levels: tuple[str, ...]
    rare: frozenset[str]
    unseen: str

    @property
    def n_parts(self) -> int:
        return len(self.levels) + bool(self.rare)

    @property
    def parts(self) -> tuple[str, ...]:
        own = tuple(f"{self.column}={level}" for level in self.levels)
        return own + ((f"{self.column} is rare",) if self.rare else ())

    @cached_property
    def _places(self) -> dict[str, int]:
        return {level: place for place, level in enumerate(self.levels)}

    def read(self, column: Column) -> Column:
        return read_levels(column)

    def block(self, column: Column, n_threads: int) -> Arrays:
        levels = column.values.tolist()
        codes = np.array([self._places.get(level, -1) for level in levels], dtype=np.intp)
        for row in np.flatnonzero((codes < 0) & ~column.missing):
            codes[row] = self._other(column, int(row), levels[row])
        return one_hot(codes)

    def _other(self, column: Column, row: int, level: str) -> int:
        if level not in self.rare:
            if self.unseen == "refuse":
                refuse(column, row, level, f"one of the {len(self.levels)} levels of the training data")
            if self.unseen == "zero":
                return -1
        return len(self.levels) if self.rare else -1

    def made_up(self, turn: int) -> Any:
        known = (*self.levels, *sorted(self.rare)[:1])
        return known[turn % len(known)] if turn < 7 or self.unseen == "refuse" else "never seen before"

    @classmethod
    def put_many(cls, draft: Draft, place: str, encodings: Sequence[Any]) -> dict[str, Any]:
        put_flags(draft, place, encodings)
        for name, groups in (
            ("levels", [own.levels for own in encodings]),
            ("rare", [sorted(own.rare) for own in encodings]),
        ):
            draft.put_strings(place, name, [level for levels in groups for level in levels])
            draft.put(place, f"n_{name}", np.array([len(levels) for levels in groups], dtype=np.int64))
        draft.put(place, "unseen", np.array([UNSEEN.index(own.unseen) for own in encodings], dtype=np.uint8))
        return {}

    @classmethod
    def read_many(cls, spec: Spec, columns: Sequence[str]) -> Sequence[Encoding]:
        unseen = spec.tensor("unseen", (np.uint8,), (len(columns),))
        if (unseen >= len(UNSEEN)).any():
            spec.refuse("unseen", f"numbers below {len(UNSEEN)}", "others")
        own = zip(
            read_usual(spec, columns), _parted(spec, "levels", len(columns)),
            _parted(spec, "rare", len(columns)), unseen.tolist(), strict=True,
        )  # fmt: skip
        return [
            cls(*usual, *_levels_and_rare(spec, levels, rare), UNSEEN[way])
            for usual, levels, rare, way in own
        ]

    @classmethod
    def read_own(cls, spec: Spec, column: str, has_indicator: bool, refuses_missing: bool) -> Self:
        kept = _levels_and_rare(spec, spec.strings("levels"), spec.strings("rare"))
        return cls(column, has_indicator, refuses_missing, *kept, spec.text("unseen", UNSEEN))


def _parted(spec: Spec, name: str, n_columns: int) -> Iterator[list[str]]:
    """The strings of each column, out of those of all."""
    strings, counts = spec.strings(name), spec.tensor(f"n_{name}", (np.int64,), (n_columns,))
    # Bounded one by one, so that their sum does not overflow.
    if (counts < 0).any() or (counts > len(strings)).any() or counts.sum() != len(strings):
        spec.refuse(f"n_{name}", f"numbers of strings, {len(strings)} in all", "others")
    ends = np.cumsum(counts).tolist()
    return (strings[end - n : end] for end, n in zip(ends, counts.tolist(), strict=True))


def _levels_and_rare(
    spec: Spec, levels: list[str], rare: list[str]
) -> tuple[tuple[str, ...], frozenset[str]]:
    known = set(levels)
    if len(known) < len(levels) or known.intersection(rare) or (not levels and not rare):
        spec.refuse("levels", "levels that differ", "some twice, or none")
    return tuple(levels), frozenset(rare)


def read_levels(column: Column) -> Column:
    """A column of the text of each value."""
    values = np.empty(len(column), dtype=object)
    values[~column.missing] = list(_levels(column))
    return replace(column, values=values)


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
