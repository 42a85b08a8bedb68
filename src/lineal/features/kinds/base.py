"""What a kind of column is, and what it learns from one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lineal.errors import InputError, ParameterError
from lineal.features.columns import Column


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

    def checked(self, column: Column) -> Column:
        """The column with values of this kind, and missing values refused if they are to be."""
        if column.missing.all():  # then its type means nothing: a container without values may choose any
            column = replace(column, values=np.full(len(column), None, dtype=object))
        column = self.read(column)
        if self.missing == "refuse" and column.missing.any():
            raise InputError(
                f"column {column.name!r} has no value at row {int(np.argmax(column.missing))}, and its kind "
                "says missing='refuse'. Fill the value, drop the row, or choose another way to treat it."
            )
        return column

    @abstractmethod
    def read(self, column: Column) -> Column:
        """The column with values of this kind; what cannot be read so is refused with its row."""

    @abstractmethod
    def learn(self, column: Column) -> Encoding:
        """Learns from a column that was read and has at least one value."""


@dataclass(frozen=True)
class Encoding(ABC):
    """How one column becomes features, as learned from the training data."""

    kind: Kind
    parts: tuple[str, ...]  # the names of the block's columns
    indicator: tuple[str, ...]  # the name of the column that says where values are missing, if there is one

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns."""
        return self.parts + self.indicator

    def encode(self, column: Column) -> Any:
        """(n_rows, len(names)) numbers, sparse or dense."""
        column = self.kind.checked(column)
        block = self.block(column)
        if not self.indicator:
            return block
        missing = one_hot(np.where(column.missing, 0, -1), 1)
        return sp.hstack([sp.csr_array(block), missing], format="csr")

    @abstractmethod
    def block(self, column: Column) -> Any:
        """(n_rows, len(parts)) numbers of a column that was read."""


def indicator_of(column: Column) -> tuple[str, ...]:
    """The name of the indicator of a training column: there is one if values were missing."""
    return (f"{column.name} is missing",) if column.missing.any() else ()


def one_hot(codes: NDArray[Any], n_features: int) -> Any:
    """A 1 in the column of each row's code, and nothing for codes below 0."""
    there = codes >= 0
    indptr = np.concatenate(([0], np.cumsum(there)))
    return sp.csr_array((np.ones(indptr[-1]), codes[there], indptr), shape=(len(codes), n_features))


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
    raise InputError(
        f"column {column.name!r} needs {needed}, but row {row} has {shown}. "
        "Correct the value, or give the column another kind."
    )


def one_of(option: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """Refuses an option that is none of the words allowed."""
    if value not in allowed:
        raise ParameterError(f"{option} must be one of {', '.join(map(repr, allowed))}, got {value!r}.")
