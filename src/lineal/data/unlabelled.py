"""Texts to be labelled, from files of every format, by the core itself wherever it reads the format.

Files are opened as `lineal.data.stream_records` opens them, so that what can be learned from can be labelled.
Lines, CSV, TSV and JSON lines need no pyarrow: a line is labelled before that could be imported.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lineal import _core
from lineal.data.blocks import Reader, Window, scanned
from lineal.data.corpus import LABEL_NAMES, TEXT_NAMES, choose_columns, named_in_errors
from lineal.data.csv_records import DelimitedTables, dialect, is_blank
from lineal.data.folders import read_folder
from lineal.data.formats import resolve, sniff
from lineal.data.opening import Opened, ReadOptions, open_file, reading
from lineal.errors import InputError

_MARKS = {"\t": "tsv", ",": "csv", ";": "csv", "|": "csv"}
_JSON = re.compile(rb"\s*(\{|\[\s*(\{|\]\s*$))")
_WORD = re.compile(r"[^\W\d][\w.-]*")


@dataclass(frozen=True)
class TextColumn:
    """Which column holds the texts: the one that was asked for, or else the one that is usual.

    Formats without columns have texts alone, whatever is usual. Where neither is known, it is the column with
    a usual name, such as ``text``.
    """

    asked: str | None = None
    usual: str | None = None

    @property
    def name(self) -> str | None:
        """The name that must be there; None if any will do."""
        return self.asked or self.usual

    def among(self, names: Sequence[str], *, with_text: Sequence[str] | None = None) -> str:
        """The name of the column; a file without it is refused."""
        return names[choose_columns(names, self.name, False, with_text=with_text)[0]]

    def refuse_columns(self) -> None:
        """For formats that have none."""
        if self.asked is not None:
            raise InputError(f"there is no column {self.asked!r}: texts are alone here. Leave out text=.")


def stream_unlabelled(
    path: str,
    *,
    text: str | None = None,
    usual: str | None = None,
    n_bytes: int = 1 << 22,
    format: str | None = None,
    header: bool = True,
    delimiter: str | None = None,
    quoting: bool | None = None,
    encoding: str = "utf-8",
    errors: str = "strict",
) -> Iterator[_core.Documents]:
    """The texts of a file or folder, piece by piece; missing ones are empty.

    Parameters
    ----------
    path
        As for `lineal.data.stream_records`. What comes through the standard input, ``"-"``, is handed on as
        it comes, up to its last whole line; its first lines tell the format: objects of JSON, or names of
        columns with the text's among them. Anything else is a text to a line, but a table without the text
        is refused.
    text, usual
        The column of texts that was asked for, and the one to read if none was.
    n_bytes, format, header, delimiter, quoting, encoding, errors
        As for `lineal.data.stream_records`.
    """
    column = TextColumn(text, usual)
    options = reading(
        path, format, header=header, delimiter=delimiter, quoting=quoting, encoding=encoding, errors=errors,
        as_text=True, nested="skip",
    )  # fmt: skip
    if options.path is not None and options.path.is_dir():
        with named_in_errors(options.path):
            column.refuse_columns()
        parts = read_folder(options.path, n_bytes, encoding, errors, has_labels=False)
        return (part.documents for part in parts)
    return _streamed(options, column, n_bytes)


def _streamed(options: ReadOptions, column: TextColumn, n_bytes: int) -> Iterator[_core.Documents]:
    is_piped = options.path is None

    def guess(path: Path | None, asked: str | None, head: bytes) -> tuple[str, str | None]:
        if is_piped and asked is None:
            return _piped(head, column, has_dialect=options.has_dialect), None
        return resolve(path, asked, head)

    with named_in_errors(options.path or Path("standard input")):
        opened = open_file(options, n_bytes, guess=guess, waits=not is_piped)
        if opened.format in ("libsvm", "vw"):
            raise InputError(
                f"these are sparse rows of numbers ({opened.format}), but the model reads texts. "
                'If every line is a text, say format="lines".'
            )
        if opened.format == "parquet":
            yield from _of_tables(opened, options, column, n_bytes)
            return
        window = Window(opened.text(options), looks_ahead=not is_piped)
        if opened.format == "lines":
            yield from _of_lines(window, column)
            return
        while is_blank(window.bytes) and not window.is_last:
            window.more()
        if is_blank(window.bytes):
            raise InputError("the file is empty: there are no documents in it.")
        if opened.format == "jsonl":
            yield from _of_json(window, column)
        else:
            yield from _of_delimited(window, opened, options, column)


def _piped(head: bytes, column: TextColumn, *, has_dialect: bool) -> str:
    """The format of what comes through a pipe: of a table only if it is clearly one."""
    found = sniff(head)
    if found in ("parquet", "libsvm", "vw"):
        return found
    if _JSON.match(head.removeprefix(codecs.BOM_UTF8)):
        return "jsonl"
    if has_dialect:
        return "tsv" if found == "tsv" else "csv"
    lines = head.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace").splitlines()
    first = lines[0].strip() if lines else ""
    wanted = TEXT_NAMES if column.name is None else (column.name,)
    for mark, format in _MARKS.items():
        names = [name.strip().strip('"') for name in first.split(mark)]
        if any(name in wanted for name in names) and (len(names) > 1 or first == column.name):
            return format
        if len(names) > 1 and found in ("csv", "tsv") and _are_names(first.split(mark), len(lines) < 2):
            shown = ", ".join(map(repr, names[:20]))
            raise InputError(
                f"the first line looks like names of columns, but {wanted[0]!r} is not among them: {shown}. "
                'Choose the column of texts with text=, or say format="lines" if every line is a text.'
            )
    if column.asked is not None:
        raise InputError(f"there is no column {column.asked!r} in the first line, {first[:60]!r}.")
    return "lines"


def _are_names(fields: Sequence[str], is_alone: bool) -> bool:
    """Whether evenly split lines begin with these as names of columns, not as parts of a text.

    One of them is a usual name, or all are single words without the space that follows a comma in a sentence;
    of a line without others, both.
    """
    fields = [field.strip('"') for field in fields]
    has_usual = any(field.strip().lower() in (*TEXT_NAMES, *LABEL_NAMES) for field in fields)
    are_words = len(set(fields)) == len(fields) and all(_WORD.fullmatch(field) for field in fields)
    return has_usual and are_words if is_alone else has_usual or are_words


def _of_lines(window: Window, column: TextColumn) -> Iterator[_core.Documents]:
    column.refuse_columns()
    if window.is_last and not window.bytes:
        raise InputError("the file is empty: there are no documents in it.")
    yield from _documents(window, _core.PlainLines())


def _of_delimited(
    window: Window, opened: Opened, options: ReadOptions, column: TextColumn
) -> Iterator[_core.Documents]:
    spoken = dialect(opened.format, options.delimiter, options.quoting, options.header)
    table = DelimitedTables(window, spoken, None, (), as_text=True)
    yield from _documents(window, table.reader_of(column.among(table.names)))


def _of_json(window: Window, column: TextColumn) -> Iterator[_core.Documents]:
    if window.bytes.lstrip()[:1] == b"[":
        from lineal.data.json_records import JsonTables

        for table, _ in JsonTables(window, None, (), as_text=True, skipped=[]).parts():
            yield _texts_of(table, column)
        return
    while b"\n" not in window.bytes.lstrip() and not window.is_last:
        window.more()
    block = window.bytes if window.is_last else window.bytes[: window.bytes.rfind(b"\n") + 1]
    # The core looks at every line first, and says the place of what is no object.
    name = column.name
    is_there = name is not None and _core.JsonLines(name, None, True).scan(block, True)[0].n_bytes > 0
    if not is_there:
        name = _key_among(block, column)
    assert name is not None
    yield from _documents(window, _core.JsonLines(name, None, True))


def _key_among(block: bytes, column: TextColumn) -> str:
    """The key of the texts in the first objects; one that none of them has was misspelled."""
    _core.JsonLines("", None, True).scan(block, True)
    keys: dict[str, bool] = {}  # whether a key was met with a text
    for line in filter(None, map(bytes.strip, block.split(b"\n"))):
        try:
            record: dict[str, Any] = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            raise InputError("there is a JSON object that Python cannot read.") from None
        for key, value in record.items():
            keys[key] = keys.get(key, False) or isinstance(value, str)
        if column.name in keys:
            break
    if not keys:
        raise InputError("the objects have no keys, so that there are no columns.")
    return column.among(list(keys), with_text=[key for key, is_text in keys.items() if is_text])


def _documents(window: Window, reader: Reader) -> Iterator[_core.Documents]:
    is_empty = True
    for found, _, _ in scanned(window, reader):
        is_empty = False
        yield found
    if is_empty:
        yield _core.Documents.from_sequence(())


def _of_tables(
    opened: Opened, options: ReadOptions, column: TextColumn, n_bytes: int
) -> Iterator[_core.Documents]:
    """Of formats that pyarrow reads."""
    from lineal.data.records import contents

    wanted = None if column.name is None else (column.name,)
    for table, _ in contents(opened, replace(options, columns=wanted), n_bytes):
        yield _texts_of(table, column)


def _texts_of(table: Any, column: TextColumn) -> _core.Documents:
    from lineal.data.documents import documents

    return documents(table.column(column.among(table.column_names)), missing="empty")
