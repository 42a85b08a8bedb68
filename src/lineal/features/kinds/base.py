"""What a kind of column is, and what it learns from one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from lineal.data.columns import Column
from lineal.errors import ParameterError
from lineal.model.encodings.base import Encoding, checked


class Kind(ABC):
    """A kind of column: a function from a column of the training data to its encoding.

    A frozen value object. ``missing="refuse"`` refuses missing values, in training and afterwards.
    """

    word: ClassVar[str]  # how it is asked for: "number", "date" ...
    missing: Any

    def __call__(self, column: Column) -> Encoding | None:
        """Learns from a column; None if it holds no values to learn from."""
        column = self.checked(column)
        return None if column.missing.all() else self.learn(column)

    def learn_many(self, columns: Sequence[Column], y: Any = None) -> Sequence[Encoding | None]:
        """Learns from each of some columns, and from labels where the kind makes use of them."""
        return [self(column) for column in columns]

    def checked(self, column: Column) -> Column:
        """The column with values of this kind, and missing values refused if they are to be."""
        return checked(column, self.read, refuses_missing=self._refuses_missing)

    @property
    def _refuses_missing(self) -> bool:
        return isinstance(self.missing, str) and self.missing == "refuse"

    def _usual(self, column: Column) -> tuple[str, bool, bool]:
        """What every encoding of a column knows: its name, and what it does about missing values."""
        return column.name, bool(column.missing.any()), self._refuses_missing

    @abstractmethod
    def read(self, column: Column) -> Column:
        """The column with values of this kind; what cannot be read so is refused with its row."""

    @abstractmethod
    def learn(self, column: Column) -> Encoding:
        """Learns from a column that was read and has at least one value."""


def one_of(option: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """Refuses an option that is none of the words allowed."""
    if value not in allowed:
        raise ParameterError(f"{option} must be one of {', '.join(map(repr, allowed))}, got {value!r}.")
