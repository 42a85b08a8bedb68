"""What an encoding of a column is, and how its cells are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
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

    def put(self, draft: Draft, place: str) -> dict[str, Any]:
        """Keeps all of it in a record."""
        return {
            "kind": self.kind,
            "has_indicator": self.has_indicator,
            "refuses_missing": self.refuses_missing,
            **self.put_own(draft, place),
        }

    @abstractmethod
    def put_own(self, draft: Draft, place: str) -> dict[str, Any]:
        """Keeps what this kind has learned."""

    @classmethod
    @abstractmethod
    def read_own(cls, spec: Spec, column: str, has_indicator: bool, refuses_missing: bool) -> Encoding:
        """What ``put`` kept."""


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
