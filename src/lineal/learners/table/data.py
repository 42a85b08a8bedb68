"""What learners of tables learn from: a table with the kind of each column, or a sparse matrix of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.data.columns import Column, Table, read_table
from lineal.deferred import sparse as sp
from lineal.errors import InputError, ParameterError
from lineal.features.kinds import Kind, inferred

WORDS = ("number", "boolean", "category", "date", "text")
_CELL_BYTES = 4  # a fit on so many cells costs about as much as on so much text


@dataclass(frozen=True)
class TableData:
    """The columns that are learned from, and the kind of each: a word, or an object that says more."""

    table: Table
    kinds: Mapping[str, str | Kind]

    def __len__(self) -> int:
        return self.table.n_rows

    def take(self, rows: NDArray[np.int64], /) -> TableData:
        return replace(self, table=rows_of(self.table, rows))

    def of_kind(self, word: str) -> list[str]:
        """The columns of a kind, in the table's order."""
        return [name for name, kind in self.kinds.items() if kind == word]

    def part(self, names: list[str]) -> Table:
        """Some of the columns."""
        columns = {name: self.table.columns[name] for name in names}
        return Table(columns, self.table.n_rows, has_names=True)

    def texts(self, name: str) -> list[str]:
        """The values of a text column; a missing one is empty."""
        return texts_of(self.table.columns[name])

    @property
    def n_bytes(self) -> float:
        """About how much there is to read: characters of texts, four bytes for any other cell."""
        texts = self.of_kind("text")
        characters = sum(len(text) for name in texts for text in self.texts(name))
        return float(characters + _CELL_BYTES * len(self) * (len(self.kinds) - len(texts)))


@dataclass(frozen=True)
class MatrixData:
    """Rows of a sparse matrix: all columns are numbers, and unstored zeros stay unstored."""

    X: sp.csr_matrix

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def take(self, rows: NDArray[np.int64], /) -> MatrixData:
        return MatrixData(self.X[rows])

    @property
    def n_bytes(self) -> float:
        """Four bytes for each stored number."""
        return float(_CELL_BYTES * self.X.nnz)


def table_data(table: Table, kinds: Mapping[str, str | Kind] | None) -> TableData:
    """A table with the kinds that were asked for, and the others inferred from its values.

    Columns without any value, and those to drop, are left out.
    """
    asked = checked_kinds(kinds)
    unknown = [name for name in asked if name not in table.columns]
    if unknown:
        raise ParameterError(
            f"kinds names columns that the table does not have: {few(unknown)}. It has {few(table.columns)}."
        )
    found: dict[str, str | Kind] = {}
    for name, column in table.columns.items():
        kind = asked.get(name)
        if kind != "drop" and not column.missing.all():
            found[name] = inferred(column) if kind is None else kind
    if not found:
        raise InputError(
            f"no column of the table has anything to learn from: it has {few(table.columns) or 'none'}."
        )
    return TableData(replace(table, columns={name: table.columns[name] for name in found}), found)


def checked_kinds(kinds: Any) -> Mapping[str, str | Kind]:
    """Kinds by column name, each of them a word or an object."""
    if kinds is not None and not isinstance(kinds, Mapping):
        raise ParameterError(f"kinds must be a dict of kinds by column name, got {kinds!r}.")
    for name, asked in (kinds or {}).items():
        if not isinstance(asked, Kind) and asked not in (*WORDS, "drop"):
            words = ", ".join(map(repr, (*WORDS, "drop")))
            raise ParameterError(
                f"the kind of column {name!r} must be one of {words} or an object such as Numbers(), "
                f"got {asked!r}."
            )
    return kinds or {}


def rows_of(table: Table, rows: NDArray[Any]) -> Table:
    """Some rows of a table."""
    columns = {
        name: replace(column, values=column.values[rows], missing=column.missing[rows])
        for name, column in table.columns.items()
    }
    return replace(table, columns=columns, n_rows=len(rows))


def texts_of(column: Column) -> list[str]:
    """The values of a column as text; a missing one is empty."""
    return [
        "" if gone else value if isinstance(value, str) else str(value)
        for value, gone in zip(column.values.tolist(), column.missing, strict=True)
    ]


def filled(column: Column, with_value: Any = None) -> Column:
    """A column without gaps: a value stands in them, or those that are there, evenly from least to greatest.

    So it has the quantiles of what was there, and what is learned from it says nothing of missing values.
    """
    if not column.missing.any():
        return column
    values = column.values.copy()
    n_missing = int(column.missing.sum())
    if with_value is not None:
        values[column.missing] = with_value
    else:
        present = np.sort(column.present)
        values[column.missing] = present[np.linspace(0, len(present) - 1, n_missing).astype(np.intp)]
    return replace(column, values=values, missing=np.zeros(len(values), dtype=bool))


def table_of(X: Any) -> Table:
    """A table from outside; a mapping of single values is one row."""
    if isinstance(X, Mapping) and X and not any(_is_column(value) for value in X.values()):
        X = [X]
    return read_table(X)


def few(names: Any) -> str:
    """The first of the names, quoted."""
    names = list(names)
    shown = ", ".join(repr(name) for name in names[:8])
    return shown + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _is_column(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes))
