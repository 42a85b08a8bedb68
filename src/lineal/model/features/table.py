"""Tables of columns of several kinds, read by readers that stand side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from lineal.data.columns import Column, Table, empty_column, few, read_table
from lineal.data.rows import side_by_side
from lineal.errors import InputError
from lineal.model.answers import FloatArray
from lineal.model.encodings import Encoding, NumbersBlock, NumbersEncoding, TextEncoding
from lineal.model.encodings.texts import read_texts
from lineal.model.explanation import Explanation
from lineal.model.features.base import Features, stored_in
from lineal.model.features.table_reader import TableReader, warn_of_names
from lineal.model.record import Draft, Spec
from lineal.model.row_explanation import RowBlock, explained_row
from lineal.model.rows import MatrixRows
from lineal.text.occurrences import Places


@dataclass(frozen=True)
class UsedColumns:
    """Which columns of a table a learner of tables looks at; the others may be anything.

    Attributes
    ----------
    used : their names
    n_columns : how many the table of the fit had
    has_names : whether it had names
    names : all of them, if it had
    owner : who is named in messages
    """

    used: tuple[str, ...]
    n_columns: int
    has_names: bool
    names: tuple[str, ...]
    owner: str

    def matched(self, table: Table, stacklevel: int = 5) -> Table:
        """The columns in use, by name if both tables have names, else by place; no others."""
        came = list(table.columns)
        if not (self.has_names and table.has_names):
            if len(came) != self.n_columns:
                raise InputError(
                    f"X has {len(came)} features, but {self.owner} is expecting {self.n_columns} features as "
                    "input."
                )
            warn_of_names(self.owner, self.has_names, table.has_names, stacklevel + 1)
            # By place, whatever the table calls them; without names they are x0, x1 ...
            own = self.names if self.has_names else tuple(f"x{j}" for j in range(self.n_columns))
            table = replace(table, columns=dict(zip(own, table.columns.values(), strict=True)))
        absent = [name for name in self.used if name not in table.columns]
        if absent and table.is_complete and table.has_names:
            raise InputError(
                f"the table lacks columns of the fit: {few(absent)}. It has {few(came)}. Add them; cells may "
                f"be "
                "missing values."
            )
        n = table.n_rows
        columns = {name: table.columns.get(name) or empty_column(name, n) for name in self.used}
        return Table(columns, n, has_names=True)


class GoldenCells(NamedTuple):
    """Golden inputs: the cells of columns of numbers, NaN where they are missing, and those of others."""

    numbers: FloatArray  # (n_inputs, n_columns)
    inputs: list[dict[str, Any]]


@dataclass(frozen=True, eq=False)
class TableFeatures(Features):
    """A table as rows.

    Attributes
    ----------
    readers : how columns become features, in the order of theirs
    columns : which columns are looked at; None: the one reader says itself
    is_dense : whether rows are arrays with their zeros, as ``sparse_output=False`` makes them
    """

    kind: ClassVar[str] = "table"

    readers: tuple[TableReader, ...]
    columns: UsedColumns | None = None
    is_dense: bool = False

    @property
    def n_columns(self) -> int:
        return sum(reader.n_columns for reader in self.readers)

    @property
    def n_inputs(self) -> int:
        return len(self.readers[0].encodings) if self.columns is None else self.columns.n_columns

    def rows(self, X: Any, n_threads: int) -> MatrixRows:
        table = self._table(X)
        blocks = [
            (reader.rows(reader.matched(table), n_threads), reader.n_columns) for reader in self.readers
        ]
        rows = MatrixRows.of(side_by_side(blocks), self.n_columns, n_threads)
        return rows.made_dense() if self.is_dense else rows

    def _table(self, X: Any) -> Table:
        if isinstance(X, Table):
            return X
        if isinstance(X, Mapping) and X and not any(_is_column(value) for value in X.values()):
            X = [X]  # one row
        table = read_table(X)
        return table if self.columns is None else self.columns.matched(table)

    # ---- names --------------------------------------------------------------------------------

    def names(self) -> list[str]:
        return [name for reader in self.readers for name in reader.names()]

    def names_of(self, columns: Sequence[int]) -> list[str]:
        return [name for name, _ in self._named(columns)]

    def _named(self, columns: Sequence[int]) -> list[tuple[str, str]]:
        """The names of features and the columns that they come from."""
        found: dict[int, tuple[str, str]] = {}
        first = 0
        for reader in self.readers:
            own = [column - first for column in columns if first <= column < first + reader.n_columns]
            names = reader.names_of(own) if own else []
            found.update((column + first, pair) for column, pair in zip(own, names, strict=True))
            first += reader.n_columns
        return [found[column] for column in columns]

    def input_names(self) -> list[str] | None:
        if self.columns is not None:
            return list(self.columns.names) if self.columns.has_names else None
        return list(self.readers[0].encodings) if self.readers[0].has_names else None

    # ---- explanations -------------------------------------------------------------------------

    def single(self, x: Any) -> Any:
        if isinstance(x, np.ndarray) and x.ndim == 1 and x.dtype.names is None:
            return x[None, :]
        is_row = isinstance(x, (list, tuple)) and x and not isinstance(x[0], (list, tuple, dict, np.ndarray))
        return [x] if is_row or (isinstance(x, Mapping) and not any(map(_is_column, x.values()))) else x

    def explanation(
        self, x: Any, rows: MatrixRows, label: Any, weights: FloatArray, intercept: float
    ) -> Explanation:
        stored, numbers = stored_in(rows)
        columns, values = np.array(stored, dtype=np.int64), np.array(numbers)
        named = self._named(columns.tolist())
        table, blocks, first = self._table(self.single(x)), [], 0
        for reader in self.readers:
            own_table = reader.matched(table)
            for name, encoding in reader.encodings.items():
                if encoding is None:
                    continue
                is_own = (columns >= first) & (columns < first + encoding.n_columns)
                first += encoding.n_columns
                own = columns[is_own]
                if len(own):
                    names, origins = zip(*(named[k] for k in np.flatnonzero(is_own)), strict=True)
                    of = np.asarray(weights[own], dtype=np.float64)
                    text = _text(encoding, own_table, name)
                    blocks.append(RowBlock(names, origins, values[is_own].astype(np.float64), of, text))
        return explained_row(label, blocks, intercept)

    # ---- record -------------------------------------------------------------------------------

    @cached_property
    def _golden(self) -> tuple[list[str], NumbersBlock, dict[str, Encoding]]:
        """The columns of golden inputs: numbers, which an array holds, and the others."""
        first: dict[str, Encoding] = {}
        for reader in self.readers:
            for name, encoding in reader.encodings.items():
                if encoding is not None:
                    first.setdefault(name, encoding)
        numbers = {name: own for name, own in first.items() if isinstance(own, NumbersEncoding)}
        others = {name: own for name, own in first.items() if name not in numbers}
        return list(numbers), NumbersBlock(tuple(numbers.values())), others

    def made_up(self, heavy: Sequence[int]) -> GoldenCells:
        _, block, others = self._golden
        numbers = block.made_up()
        numbers[6, [not own.refuses_missing for own in block.encodings]] = np.nan
        inputs = [
            {
                name: None if turn == 6 and not encoding.refuses_missing else encoding.made_up(turn)
                for name, encoding in others.items()
            }
            for turn in range(8)
        ]
        return GoldenCells(numbers, inputs)

    def golden_rows(self, made: GoldenCells) -> MatrixRows:
        """The rows of made-up inputs, whatever the columns of the table are called."""
        names, n_rows = self._golden[0], len(made.inputs)
        others = dict.fromkeys(name for row in made.inputs for name in row)
        columns = read_table([{name: row.get(name) for name in others} for row in made.inputs]).columns
        is_missing = np.isnan(made.numbers)
        if made.numbers.size:
            columns |= {
                name: Column(name, made.numbers[:, k], is_missing[:, k]) for k, name in enumerate(names)
            }
        blocks = []
        for reader in self.readers:
            own = {name: columns.get(name) or empty_column(name, n_rows) for name in reader.encodings}
            blocks.append((reader.rows(Table(own, n_rows, True), 1), reader.n_columns))
        rows = MatrixRows.of(side_by_side(blocks), self.n_columns, 1)
        return rows.made_dense() if self.is_dense else rows

    def put_golden(self, draft: Draft, place: str, made: GoldenCells) -> dict[str, Any]:
        draft.put(place, "numbers", made.numbers)
        return {"inputs": made.inputs}

    def read_golden(self, spec: Spec) -> GoldenCells:
        inputs = super().read_golden(spec)
        if not all(isinstance(row, dict) for row in inputs):
            spec.refuse("inputs", "rows of a table", inputs)
        if not spec.has_tensor("numbers"):  # version 1 of the format had all cells in the rows
            return GoldenCells(np.empty((len(inputs), 0)), inputs)
        return GoldenCells(spec.tensor("numbers", (np.float64,), (len(inputs), len(self._golden[0]))), inputs)

    def put(self, draft: Draft, place: str) -> dict[str, Any]:
        columns = self.columns
        return {
            "kind": self.kind,
            "is_dense": self.is_dense,
            "readers": [reader.put(draft, f"{place}.readers.{k}") for k, reader in enumerate(self.readers)],
            "columns": None
            if columns is None
            else {
                "used": list(columns.used),
                "n_columns": columns.n_columns,
                "has_names": columns.has_names,
                "names": list(columns.names),
                "owner": columns.owner,
            },
        }

    @classmethod
    def read(cls, spec: Spec) -> TableFeatures:
        """What ``put`` kept."""
        readers = tuple(TableReader.read(child) for child in spec.children("readers"))
        columns = _read_columns(spec.child("columns")) if spec.has("columns") else None
        n = sum(reader.n_columns for reader in readers)
        if not readers or not 1 <= n < 2**31 or (columns is None and len(readers) > 1):
            spec.refuse("readers", "readers of 1 to 2^31 - 1 features together", f"{len(readers)} readers")
        return cls(readers, columns, spec.flag("is_dense"))


def _read_columns(spec: Spec) -> UsedColumns:
    used, names = spec.texts("used"), spec.texts("names")
    n, has_names = spec.whole("n_columns", 1, 2**31 - 1), spec.flag("has_names")
    if has_names and len(names) != n:
        spec.refuse("names", f"names of {n} columns", f"{len(names)} names")
    return UsedColumns(tuple(used), n, has_names, tuple(names), spec.text("owner"))


def _text(encoding: Any, table: Table, name: str) -> tuple[list[str], Places] | None:
    """The pieces of a text column's text and where its terms are in them."""
    if not isinstance(encoding, TextEncoding) or name not in table.columns:
        return None
    tokens = read_texts(table.columns[name]).values[0].split()
    return tokens, encoding.reader.occurrences(tokens)


def _is_column(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes))
