"""CSV and TSV as tables: cut into records and checked by the core, typed by pyarrow.

The core finds where records end and refuses what is not RFC 4180 with line and byte, so that pyarrow is only
given whole records with equally many fields, and never guesses.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from lineal import _core
from lineal.data.blocks import Window
from lineal.data.formats import HEAD
from lineal.errors import InputError, ParameterError

# Cells that stand for a missing number or date. Text keeps them: NA is a country, too.
MISSING = ["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "-NaN", "NULL", "null", "None", "none", "?"]
_OTHER_DELIMITERS = ";\t|"
_BLOCK_ROWS = 1000  # that pyarrow reads at least at once


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How fields are written: what is between them, whether they may be in quotes, whether the first record
    holds names."""

    delimiter: str | None
    quoting: bool
    header: bool


def dialect(format: str, delimiter: str | None, quoting: bool | None, header: bool) -> Dialect:
    """Checked before a file is opened. Without a delimiter CSV may turn out to have semicolons."""
    if delimiter is not None and (
        len(delimiter.encode("utf-8", "replace")) != 1 or delimiter in '"\r\n' or len(delimiter) != 1
    ):
        raise ParameterError(
            f"delimiter must be one ASCII character, no quote and no end of line, got {delimiter!r}."
        )
    if delimiter is None and format == "tsv":
        delimiter = "\t"
    return Dialect(
        delimiter=delimiter, quoting=format == "csv" if quoting is None else quoting, header=header
    )


@dataclass
class DelimitedTables:
    """Tables of the records of a file, part by part.

    Every part has the same columns. Without ``as_text`` the types of the first part hold for all.
    """

    window: Window
    dialect: Dialect
    chosen: Sequence[str] | None
    dropped: Sequence[str]
    as_text: bool
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.delimiter = self.dialect.delimiter or self._guessed_delimiter()
        names, self._skip, n_lines = self._header()
        if self.dialect.header:
            self.names = self._checked(names)
        else:
            self.names, self._skip, n_lines = [str(k) for k in range(len(names))], 0, 0
        self.columns = choose(self.names, self.chosen, self.dropped)
        self._line = 1 + n_lines
        self._types: dict[str, Any] = {}
        self._reader = self.reader_of(self.names[0])

    def reader_of(self, name: str) -> _core.Delimited:
        """The core's reader of one column as texts, for whoever needs no table."""
        place = self.names.index(name)
        return _core.Delimited(
            self.delimiter, self.dialect.quoting, len(self.names), place, None, self._skip, self._line
        )

    def parts(self) -> Iterator[tuple[Any, int]]:
        """Every part's table and how many bytes it was read from; one of none without records."""
        is_first = True
        while True:
            block = self.window.bytes
            found, _, _, n_done = self._reader.scan(block, self.window.is_last)
            start, self._skip = self._skip, 0
            if len(found) or (is_first and self.window.is_last):
                block = block[start:n_done] if start or n_done < len(block) else block
                self._refuse_encoding(block)
                yield self._table(block, len(found)), n_done
                is_first = False
            if self.window.is_last:
                return
            self._line += self.window.bytes.count(b"\n", start, n_done)
            self.window.more(n_done)

    def _header(self) -> tuple[list[str], int, int]:
        while True:
            found = _core.Delimited.header(
                self.window.bytes, self.window.is_last, self.delimiter, self.dialect.quoting
            )
            if found is not None:
                return found
            if self.window.is_last:
                raise InputError("the file is empty: there is not even a header in it.")
            self.window.more()

    def _guessed_delimiter(self) -> str:
        """The comma, unless the first records have none and another mark splits them evenly."""
        while (
            not self.window.is_last and self.window.bytes.count(b"\n") < 2 and len(self.window.bytes) < HEAD
        ):
            self.window.more()
        head = self.window.bytes[:HEAD]
        is_last = self.window.is_last and len(head) == len(self.window.bytes)

        def widths(mark: str) -> list[int]:
            rest, found = head, []
            try:
                for _ in range(2):
                    record = _core.Delimited.header(rest, is_last, mark, self.dialect.quoting)
                    if record is None:
                        break
                    found.append(len(record[0]))
                    rest = rest[record[1] :]
            except InputError:
                return []
            return found

        if (widths(",") or [2])[0] > 1:
            return ","
        for mark in _OTHER_DELIMITERS:
            counts = widths(mark)
            if len(set(counts)) == 1 and counts[0] > 1:
                self.notes.append(f"fields are split at {mark!r}; delimiter= says otherwise.")
                return mark
        return ","

    def _checked(self, fields: list[str]) -> list[str]:
        names = [name.strip() for name in fields]
        for place, name in enumerate(names):
            if not name:
                names[place] = str(place)
                self.notes.append(
                    f"field {place + 1} of the header is empty: its column is called '{place}'."
                )
        refuse_duplicates(names, "Rename one in the header, or read with header=False")
        return names

    def _refuse_encoding(self, block: bytes) -> None:
        flaw = _core.Documents.from_sequence([block]).check()
        if flaw is None:
            return
        at = flaw[1]
        begin = block.rfind(b"\n", 0, at) + 1
        raise InputError(
            f"line {self._line + block.count(bytes([10]), 0, at)}, byte {at - begin + 1}: this is not UTF-8 "
            f"(0x{block[at]:02x}). "
            'Say which encoding it is with encoding= ("latin-1" is common), or read on with errors="replace".'
        )

    def _table(self, block: bytes, n_rows: int) -> Any:
        import pyarrow as pa

        if n_rows == 0:
            kind = pa.string() if self.as_text else pa.null()
            return pa.table({name: pa.array([], self._types.get(name, kind)) for name in self.columns})
        if self.as_text:
            return self._texts(block, n_rows, self.columns)
        if self._types:
            return self._typed(block, n_rows)
        table = self._settled(self._parse(block, n_rows, self.columns, None), block, n_rows)
        # A column without a value in the first part may hold anything in the next.
        self._types = {f.name: pa.string() if pa.types.is_null(f.type) else f.type for f in table.schema}
        return table

    def _typed(self, block: bytes, n_rows: int) -> Any:
        """A later part, read as the first one was."""
        import pyarrow as pa

        try:
            table = self._parse(block, n_rows, self.columns, self._types)
        except pa.ArrowInvalid:
            self._refuse_cell(block, n_rows)
        for name in sorted(self._codes()):
            if pa.types.is_integer(self._types.get(name, pa.null())):
                raise InputError(
                    f"line {self._line} and after: column {name!r} holds codes that begin with 0, but "
                    "numbers in the parts before. Read the file as a whole, or as text: as_text=True."
                )
        return blanks_to_null(table)

    def _codes(self) -> set[str]:
        """Columns with cells such as 007."""
        return {name for name, is_coded in zip(self.names, self._reader.is_coded(), strict=True) if is_coded}

    def _refuse_cell(self, block: bytes, n_rows: int) -> NoReturn:
        """Says which cell is not of its column's type."""
        import pyarrow as pa

        texts = self._texts(block, n_rows, self.columns)
        for row in range(n_rows):
            for name, kind in self._types.items():
                cell = texts.column(name)[row]
                if cell.as_py() in (None, *MISSING):
                    continue
                try:
                    pa.scalar(cell.as_py().strip()).cast(kind)
                except pa.ArrowInvalid:
                    raise InputError(
                        f"line {self._line_of(block, row)}: column {name!r} holds {cell.as_py()[:60]!r}, but "
                        f"{kind} in the parts before. Read the file as a whole, or as text: as_text=True."
                    ) from None
        raise InputError("pyarrow reads a part of the file otherwise than the first. Use as_text=True.")

    def _line_of(self, block: bytes, row: int) -> int:
        rest, line = block, self._line
        for _ in range(row + 1):
            record = _core.Delimited.header(rest, True, self.delimiter, self.dialect.quoting)
            if record is None:
                break
            here, rest = record[2], rest[record[1] :]
            line += here
        return line - here

    def _texts(self, block: bytes, n_rows: int, columns: Sequence[str]) -> Any:
        import pyarrow as pa

        table = self._parse(block, n_rows, columns, dict.fromkeys(columns, pa.string()))
        return blanks_to_null(table)

    def _quoted(self, block: bytes) -> bytes:
        """The same records with every field in quotes."""
        import pyarrow as pa
        import pyarrow.csv as arrow_csv

        places = range(len(self.names))
        cells = []
        for place in places:
            reader = _core.Delimited(
                self.delimiter, self.dialect.quoting, len(self.names), place, None, 0, self._line
            )
            found = reader.scan(block, True)[0]
            cells.append(pa.array([found[row] for row in range(len(found))], pa.string()))
        sink = pa.BufferOutputStream()
        options = arrow_csv.WriteOptions(
            include_header=False, delimiter=self.delimiter, quoting_style="all_valid"
        )
        arrow_csv.write_csv(pa.table(cells, names=self.names), sink, options)
        return sink.getvalue().to_pybytes()

    def _parse(self, block: bytes, n_rows: int, columns: Sequence[str], types: Any) -> Any:
        """pyarrow's table of records that are sound."""
        import pyarrow as pa
        import pyarrow.csv as arrow_csv

        quote = '"' if self.dialect.quoting else False
        # pyarrow ends lines at a lone carriage return and skips a byte-order mark, unless they are in quotes.
        has_lone_return = b"\r" in block and block.count(b"\r") != block.count(b"\r\n")
        if has_lone_return or block.startswith(codecs.BOM_UTF8):
            block, quote = self._quoted(block), '"'
        # Every block makes an array of each column, so that blocks of few rows cost more than their cells.
        size = max(1 << 20, min(len(block) // max(n_rows, 1) * _BLOCK_ROWS, 1 << 30))
        while True:
            try:
                table = arrow_csv.read_csv(
                    pa.BufferReader(block),
                    read_options=arrow_csv.ReadOptions(column_names=self.names, block_size=size),
                    parse_options=arrow_csv.ParseOptions(
                        delimiter=self.delimiter, quote_char=quote, newlines_in_values=bool(quote)
                    ),
                    convert_options=arrow_csv.ConvertOptions(
                        include_columns=list(columns), null_values=MISSING, column_types=types
                    ),
                )
                break
            except pa.ArrowInvalid as flaw:
                # A record that is longer than pyarrow's block is refused by it: "straddling object".
                if "straddl" not in str(flaw) or size >= len(block):
                    if types is not None:  # a cell that does not fit them, which the caller looks for
                        raise
                    raise InputError(
                        f"line {self._line} and after: pyarrow cannot read them: {str(flaw)[:300]}. "
                        "Is a byte-order mark in the middle of the file?"
                    ) from None
                size = min(8 * size, 1 << 30)
        if len(table) != n_rows:
            raise InputError(
                f"line {self._line} and after: pyarrow finds {len(table)} records where there are {n_rows}. "
                "Is a quote or an end of line in a field that is not in quotes?"
            )
        return table

    def _settled(self, table: Any, block: bytes, n_rows: int) -> Any:
        """The table with numbers as they were meant.

        Whole numbers that begin with 0 are codes and stay text, as do times of day; a blank among numbers is
        a missing one.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        codes = self._codes()
        no_numbers = [
            field.name
            for field in table.schema
            if pa.types.is_time(field.type) or (pa.types.is_integer(field.type) and field.name in codes)
        ]
        as_written = self._texts(block, n_rows, no_numbers) if no_numbers else table
        for name in no_numbers:
            table = replaced(table, name, as_written.column(name))
        for name in table.column_names:
            column = table.column(name)
            if pa.types.is_string(column.type) and pc.any(pc.utf8_is_space(column)).as_py():
                table = replaced(table, name, _as_numbers(column))
            elif pa.types.is_floating(column.type):
                self._note_large(name, column)
        return blanks_to_null(table)

    def _note_large(self, name: str, column: Any) -> None:
        import pyarrow.compute as pc

        ends = pc.min_max(column)
        if all(end is None or abs(end) < 2.0**63 for end in (ends["min"].as_py(), ends["max"].as_py())):
            return
        largest = pc.max(pc.if_else(pc.is_finite(column), pc.abs(column), None)).as_py()
        if largest is not None and largest >= 2.0**63:
            self.notes.append(
                f"column {name!r} holds numbers up to {largest:.3g}, which are rounded to 16 digits; "
                "if they are identifiers, drop the column."
            )


def _as_numbers(column: Any) -> Any:
    """A column of text with blanks in it: numbers if all other cells are, or else the text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(column)
    trimmed = pc.if_else(pc.is_in(trimmed, value_set=pa.array(MISSING)), None, trimmed)
    if trimmed.null_count == len(trimmed):
        return column
    starts_with_zero = pc.and_(pc.starts_with(trimmed, "0"), pc.greater(pc.binary_length(trimmed), 1))
    for kind in (pa.int64(), pa.float64()):
        if pa.types.is_integer(kind) and pc.any(starts_with_zero).as_py():
            continue
        try:
            numbers = trimmed.cast(kind)
        except pa.ArrowInvalid:
            continue
        is_code = pc.match_substring_regex(trimmed, r"^0\d")
        return column if pc.any(is_code).as_py() else numbers
    return column


def blanks_to_null(table: Any) -> Any:
    """The table with text cells that hold nothing, or spaces alone, as null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in table.column_names:
        column = table.column(name)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            is_blank = pc.or_(pc.equal(column, ""), pc.utf8_is_space(column))
            if pc.any(is_blank).as_py():
                table = replaced(table, name, pc.if_else(is_blank, pa.scalar(None, column.type), column))
    return table


def missing_to_null(table: Any, columns: Sequence[str]) -> Any:
    """The table with the usual spellings of "missing" as null in columns that were read as text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in columns:
        column = table.column(name)
        if pa.types.is_string(column.type):
            is_missing = pc.is_in(pc.utf8_trim_whitespace(column), value_set=pa.array(MISSING))
            if pc.any(is_missing).as_py():
                table = replaced(table, name, pc.if_else(is_missing, pa.scalar(None, column.type), column))
    return table


def is_blank(block: bytes) -> bool:
    """Whether there is nothing but white space, which is looked at no further than needed."""
    return not block or block.isspace()


def replaced(table: Any, name: str, column: Any) -> Any:
    """The table with another column of that name in its place."""
    return table.set_column(table.column_names.index(name), name, column)


def refuse_duplicates(names: Sequence[str], what_to_do: str) -> None:
    """Two columns of one name cannot be told apart."""
    places: dict[str, int] = {}
    for place, name in enumerate(names, start=1):
        if name in places:
            raise InputError(f"columns {places[name]} and {place} are both called {name!r}. {what_to_do}.")
        places[name] = place


def choose(names: Sequence[str], chosen: Sequence[str] | None, dropped: Sequence[str]) -> list[str]:
    """The columns to read, in the order that was asked for; unknown ones are refused."""
    shown = ", ".join(map(repr, names[:30])) + (", ..." if len(names) > 30 else "")
    for name in (*(chosen or ()), *dropped):
        if name not in names:
            raise InputError(f"there is no column {name!r}. There are {shown}.")
    return [name for name in (names if chosen is None else chosen) if name not in dropped]
