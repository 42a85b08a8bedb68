"""JSON lines as tables: by pyarrow, or line by line in Python where a column is of several kinds.

Keys that a line lacks are null there. The core looks at every line first, and says line and byte of what is
no object; what pyarrow still refuses, or counts otherwise, goes through Python.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from lineal import _core
from lineal.data.blocks import Window
from lineal.data.csv_records import choose, is_blank
from lineal.data.formats import HEAD
from lineal.errors import InputError

_LARGEST_ARRAY = 1 << 28  # bytes of a file that is one JSON array; it takes some ten times that in memory
_NO_KEY = "a key that no object has"  # the core looks for one, and only checks the others
_LOOSE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


@dataclass
class JsonTables:
    """Tables of the objects of a file, part by part.

    A part has the columns that were chosen, or all that were met so far. A column keeps the type that it
    first had, where that loses nothing.
    """

    window: Window
    chosen: Sequence[str] | None
    dropped: Sequence[str]
    as_text: bool
    notes: list[str] = field(default_factory=list)
    skipped: list[str] | None = None  # nested columns, as they are met; None refuses them

    def __post_init__(self) -> None:
        self._line = 1
        self._checker = _core.JsonLines(_NO_KEY, None, True)
        self._types: dict[str, Any] = {}
        self._met: dict[str, None] = {}  # every key so far, in order
        self._dates: set[str] = set()  # columns of text that pyarrow would take for dates

    def parts(self) -> Iterator[tuple[Any, int]]:
        """Every part's table and how many bytes it was read from."""
        while is_blank(self.window.bytes) and not self.window.is_last:
            self.window.more()
        head = b"" if is_blank(self.window.bytes) else self.window.bytes[:HEAD].lstrip()[:1]
        if not head:
            raise InputError("the file is empty: there are no records in it.")
        if head == b"[":
            yield self._array()
            return
        n_rows = 0
        while True:
            block = self.window.bytes
            if not self.window.is_last:
                block = block[: block.rfind(b"\n") + 1]
            if not is_blank(block):
                table = self._table(block)
                n_rows += len(table)
                yield table, len(block)
            if self.window.is_last:
                break
            self._line += block.count(b"\n")
            self.window.more(len(block))
        if n_rows and self.chosen is not None:
            self._refuse_unknown()

    def _refuse_unknown(self) -> None:
        """A column that no line has was misspelled; a stream can only tell at its end."""
        choose(list(self._met), self.chosen, ())

    def _array(self) -> tuple[Any, int]:
        """A file that is one array of objects, as a whole."""
        while not self.window.is_last:
            if len(self.window.bytes) > _LARGEST_ARRAY:
                raise InputError(
                    f"the file is one JSON array of more than {_LARGEST_ARRAY >> 20} MB, which would have to "
                    "be in memory as a whole. Write one object to a line: jq -c '.[]' file.json > file.jsonl"
                )
            self.window.more()
        whole = self.window.bytes
        try:
            records = json.loads(whole)
        except UnicodeDecodeError as flaw:
            raise InputError(_not_utf8(whole, flaw.start, 1)) from None
        except (ValueError, RecursionError) as flaw:
            raise InputError(f"the file begins like a JSON array, but is none: {flaw}.") from None
        _refuse_halves(whole, records, "the JSON array")
        for number, record in enumerate(records):
            if not isinstance(record, dict):
                raise InputError(f"item {number} of the JSON array is {_kind(record)}, not an object.")
        table = self._of_records(records, [f"item {number}" for number in range(len(records))])
        table = self._steady(table, len(records))
        if self.chosen is not None:
            self._refuse_unknown()
        return table, len(whole)

    def _table(self, block: bytes) -> Any:
        # The core refuses what is no object to a line, with its byte, and what crashes pyarrow: lines of null
        # and values that are nested very deep.
        n_rows = len(self._checker.scan(block, True)[0])
        flaw = _core.Documents.from_sequence([block]).check()
        if flaw is not None:
            raise InputError(_not_utf8(block, flaw[1], self._line))
        table = self._by_arrow(block, n_rows)
        return self._steady(self._by_line(block) if table is None else table, n_rows)

    def _by_arrow(self, block: bytes, n_rows: int) -> Any:
        """pyarrow's table; None where it cannot, or where values are nested."""
        import pyarrow as pa

        table = self._parse(block)
        if table is None or len(table) != n_rows:
            return None
        met = table.column_names
        self._met.update(dict.fromkeys(met))
        kept = [name for name in self._wanted(met) if name in met]
        table = table.select(kept)
        nested = [column.name for column in table.schema if pa.types.is_nested(column.type)]
        if not all(map(self._may_skip, nested)):
            return None
        table = table.select(kept := [name for name in kept if name not in nested])
        if self.as_text and (dates := [f.name for f in table.schema if pa.types.is_temporal(f.type)]):
            self._dates.update(dates)
            table = self._parse(block).select(kept)
        return table

    def _parse(self, block: bytes) -> Any:
        import pyarrow as pa
        import pyarrow.json as arrow_json

        size = 1 << 20
        # pyarrow takes text that looks like dates for dates, unless it is told.
        schema = pa.schema([(name, pa.string()) for name in sorted(self._dates)]) if self._dates else None
        while True:
            try:
                return arrow_json.read_json(
                    pa.BufferReader(block),
                    read_options=arrow_json.ReadOptions(block_size=size),
                    parse_options=arrow_json.ParseOptions(explicit_schema=schema),
                )
            except (pa.ArrowException, UnicodeDecodeError) as flaw:
                # An object that is longer than pyarrow's block is refused by it: "straddling object".
                if "straddl" not in str(flaw) or size >= len(block):
                    return None
                size = min(8 * size, 1 << 30)

    def _wanted(self, met: Sequence[str]) -> list[str]:
        out = (*self.dropped, *(self.skipped or ()))
        return [name for name in (met if self.chosen is None else self.chosen) if name not in out]

    def _may_skip(self, name: str) -> bool:
        """Whether a nested column is left out from here on: not if it was chosen, or had single values."""
        import pyarrow as pa

        if self.skipped is None or self.chosen is not None:
            return False
        if name not in self.skipped:
            if not pa.types.is_null(self._types.get(name, pa.null())):
                return False
            self.skipped.append(name)
        return True

    def _by_line(self, block: bytes) -> Any:
        records, places = [], []
        for number, line in enumerate(block.split(b"\n"), start=self._line):
            if line.strip():
                records.append(_object(line, number))
                places.append(f"line {number}")
        return self._of_records(records, places)

    def _of_records(self, records: list[dict[str, Any]], places: list[str]) -> Any:
        import pyarrow as pa

        met = dict.fromkeys(name for record in records for name in record)
        self._met.update(met)
        names = [name for name in self._wanted(list(met)) if name in met]
        columns = {}
        for name in names:
            values = [record.get(name) for record in records]
            nested = next((row for row, value in enumerate(values) if isinstance(value, (dict, list))), None)
            if nested is not None and self._may_skip(name):
                continue
            if nested is not None:
                raise InputError(
                    f"{places[nested]}: key {name!r} holds {_kind(values[nested])}, where a column needs "
                    "single values. Take it apart before, or leave it out with drop=."
                )
            columns[name] = self._column(name, values)
        return pa.table(columns)

    def _column(self, name: str, values: list[Any]) -> Any:
        """The narrowest type that holds all: truth values, whole numbers, numbers, or text."""
        import pyarrow as pa

        kinds = {type(value) for value in values if value is not None}
        if not kinds:
            return pa.nulls(len(values))
        if kinds == {bool}:
            return pa.array(values, pa.bool_())
        if kinds == {int} and all(value is None or -(2**63) <= value < 2**63 for value in values):
            return pa.array(values, pa.int64())
        if kinds <= {int, float}:
            try:
                return pa.array([None if value is None else float(value) for value in values], pa.float64())
            except OverflowError:
                pass
        if kinds != {str}:
            self.notes.append(f"column {name!r} holds values of several kinds: it was read as text.")
        texts = pa.array([None if value is None else _as_text(value) for value in values], pa.string())
        if kinds == {str} and not self.as_text:
            try:
                return texts.cast(pa.timestamp("s"))  # as pyarrow's own reader does
            except pa.ArrowInvalid:
                pass
        return texts

    def _steady(self, table: Any, n_rows: int) -> Any:
        """The part with the columns and, where nothing is lost, the types of the parts before it."""
        import pyarrow as pa

        self._remember(table)
        known = [name for name in self._types if self.chosen is None or name in self.chosen]
        columns: dict[str, Any] = {}
        for name in self._wanted(known if self.chosen is None else self.chosen):
            kind = self._types.get(name)
            if name not in table.column_names:
                columns[name] = pa.nulls(n_rows, kind or pa.null())
                continue
            column = table.column(name)
            if kind is not None and _widens(pa, column.type, kind):
                with suppress(pa.ArrowInvalid):  # whole numbers past 2^53 stay whole
                    column = column.cast(kind)
            columns[name] = column
        if not columns:
            if not self.skipped:
                raise InputError("the objects have no keys, so that there are no columns.")
            keys = ", ".join(map(repr, self.skipped))
            raise InputError(
                "the objects have no values that are single, so that there are no columns: below their keys "
                f"({keys}) lie lists or objects. Write texts, labels and numbers directly below a key."
            )
        return pa.table(columns)

    def _remember(self, table: Any) -> None:
        import pyarrow as pa

        for column in table.schema:
            if self._types.get(column.name) is None or pa.types.is_null(self._types[column.name]):
                self._types[column.name] = column.type


def _widens(pa: Any, kind: Any, to: Any) -> bool:
    return bool(pa.types.is_null(kind) or (pa.types.is_integer(kind) and pa.types.is_floating(to)))


def _object(line: bytes, number: int) -> dict[str, Any]:
    """The object of a line that the core found to be one."""
    try:
        record: dict[str, Any] = json.loads(line, parse_constant=_LOOSE.__getitem__)
    except (ValueError, RecursionError) as flaw:
        raise InputError(f"line {number}: Python cannot read this JSON object: {flaw}.") from None
    _refuse_halves(line, record, f"line {number}")
    return record


def _not_utf8(text: bytes, at: int, first_line: int) -> str:
    begin = text.rfind(b"\n", 0, at) + 1
    return (
        f"line {first_line + text.count(bytes([10]), 0, at)}, byte {at - begin + 1}: this is not UTF-8 "
        f'(0x{text[at]:02x}). Say which encoding it is with encoding=, or read on with errors="replace".'
    )


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _kind(value: Any) -> str:
    return {dict: "an object", list: "an array", str: "a string", bool: "a truth value"}.get(
        type(value), "null" if value is None else "a number"
    )


def _refuse_halves(text: bytes, value: Any, where: str) -> None:
    """Python's JSON lets half of a surrogate pair through, which is no character."""
    if b"\\ud" not in text and b"\\uD" not in text:
        return
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{where}: half of a surrogate pair (\\ud800 to \\udfff) stands alone. Write the whole character."
        ) from None
