"""What an encoding of a column is, and how its cells are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NoReturn

import numpy as np

from lineal.data.columns import Column
from lineal.data.rows import Arrays, one_hot, side_by_side
from lineal.errors import CellError
from lineal.model.record import Draft, Spec


@dataclass(frozen=True)
class Encoding(ABC):
    """How one column becomes features, as learned from the training data.

    Attributes
    ----------
    column : its name
    has_indicator : whether a last feature says where values are missing
    refuses_missing : whether missing values are refused
    """

    kind: ClassVar[str]

    column: str
    has_indicator: bool
    refuses_missing: bool

    @property
    @abstractmethod
    def n_parts(self) -> int:
        """How many features there are beside the indicator."""

    @property
    @abstractmethod
    def parts(self) -> tuple[str, ...]:
        """Their names."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all features."""
        return self.parts + ((f"{self.column} is missing",) if self.has_indicator else ())

    @property
    def n_columns(self) -> int:
        """How many features there are."""
        return self.n_parts + self.has_indicator

    def encode(self, column: Column, n_threads: int = 1) -> Arrays:
        """(starts, columns, values) of the rows."""
        column = checked(column, self.read, refuses_missing=self.refuses_missing)
        block = self.block(column, n_threads)
        if not self.has_indicator:
            return block
        missing = one_hot(np.where(column.missing, 0, -1))
        return side_by_side([(block, self.n_parts), (missing, 1)])

    @abstractmethod
    def read(self, column: Column) -> Column:
        """The column with values of this kind; what cannot be read so is refused with its row."""

    @abstractmethod
    def block(self, column: Column, n_threads: int) -> Arrays:
        """The rows of a column that was read, without the indicator."""

    @abstractmethod
    def made_up(self, turn: int) -> Any:
        """A cell for golden predictions, another one for each turn."""

    # ---- record -------------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def put_many(cls, draft: Draft, place: str, encodings: Sequence[Encoding]) -> dict[str, Any]:
        """Keeps what this kind has learned of some columns, in arrays that they share where that can be."""

    @classmethod
    @abstractmethod
    def read_many(cls, spec: Spec, columns: Sequence[str]) -> Sequence[Encoding]:
        """What ``put_many`` kept of columns with these names."""

    @classmethod
    @abstractmethod
    def read_own(cls, spec: Spec, column: str, has_indicator: bool, refuses_missing: bool) -> Encoding:
        """What version 1 of the format kept of one column."""


def put_flags(draft: Draft, place: str, encodings: Sequence[Encoding]) -> None:
    """Keeps what every encoding knows."""
    for name in ("has_indicator", "refuses_missing"):
        draft.put(place, name, np.array([getattr(own, name) for own in encodings], dtype=bool))


def read_usual(spec: Spec, columns: Sequence[str]) -> list[tuple[str, bool, bool]]:
    """What every encoding knows, of columns with these names."""
    flags = [
        spec.tensor(name, (np.bool_,), (len(columns),)).tolist()
        for name in ("has_indicator", "refuses_missing")
    ]
    return list(zip(columns, *flags, strict=True))


def put_each(draft: Draft, place: str, encodings: Sequence[Any]) -> dict[str, Any]:
    """Keeps columns that share no arrays, each with an object of its own."""
    put_flags(draft, place, encodings)
    return {"each": [own.put_own(draft, f"{place}.each.{k}") for k, own in enumerate(encodings)]}


def read_each(made: Any, spec: Spec, columns: Sequence[str]) -> list[Any]:
    """What ``put_each`` kept, for the class that it was kept of."""
    each, usual = spec.children("each"), read_usual(spec, columns)
    if len(each) != len(usual):
        spec.refuse("each", f"objects of {len(usual)} columns", f"{len(each)} objects")
    return [made.read_own(own, *known) for own, known in zip(each, usual, strict=True)]


def checked(column: Column, read: Any, *, refuses_missing: bool) -> Column:
    """The column with values of a kind, and missing values refused if they are to be."""
    if column.missing.all():  # then its type means nothing: a container without values may choose any
        column = replace(column, values=np.full(len(column), None, dtype=object))
    column = read(column)
    if refuses_missing and column.missing.any():
        raise CellError(
            f"column {column.name!r} has no value at ",
            int(np.argmax(column.missing)),
            ", and its kind says missing='refuse'. Fill the value, drop the row, or choose another way to "
            "treat it.",
        )
    return column


def parsed(column: Column, needed: str, parse: Any, dtype: Any) -> Column:
    """A column of objects, each parsed; blank text is missing, and what does not parse is refused."""
    values, missing = np.zeros(len(column), dtype=dtype), column.missing.copy()
    for row in np.flatnonzero(~missing):
        value = column.values[row]
        if isinstance(value, str) and not value.strip():
            missing[row] = True
            continue
        try:
            values[row] = parse(value)
        except (TypeError, ValueError, OverflowError):
            refuse(column, int(row), value, needed)
    return replace(column, values=values, missing=missing)


def refuse(column: Column, row: int, value: Any, needed: str) -> NoReturn:
    """Refuses a value with its place."""
    shown = repr(value) if len(repr(value)) <= 40 else repr(value)[:37] + "..."
    raise CellError(
        f"column {column.name!r} needs {needed}, but ",
        row,
        f" has {shown}. Correct the value, or give the column another kind.",
    )
