"""Whole records from files: tables of CSV, TSV, JSON lines, Parquet, folders, lines; rows of LIBSVM, VW."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from lineal.data.blocks import Window, as_utf8, check_encoding, ends_lines_with_returns
from lineal.data.compression import Fingerprint, Tapped, compression_of, raw_pieces
from lineal.data.corpus import named_in_errors
from lineal.data.csv_records import DelimitedTables, Dialect, dialect, is_blank
from lineal.data.formats import HEAD, check_format, refuse_strangers, resolve
from lineal.data.sparse_records import SparseOptions, SparseRows, sparse_parts
from lineal.errors import InputError, ParameterError

Source = str | os.PathLike[str]


@dataclass(frozen=True)
class Records:
    """Records that were read from a file, or a part of them.

    Attributes
    ----------
    format : str
        What they were read as, such as ``"csv"``.
    path : str
        Where they came from; ``"-"`` is the standard input.
    n_rows, n_bytes : int
        How many records, and of how many bytes when unpacked.
    table : pyarrow.Table or None
        Their columns, for all formats but LIBSVM and VW.
    rows : SparseRows or None
        Their rows, for LIBSVM and VW.
    notes : tuple of str
        What a person should know: a name that says another format, a column that was read as text.
    fingerprint : Fingerprint or None
        Of what came through the standard input so far. For files there is `lineal.data.fingerprint`.
    """

    format: str
    path: str
    n_rows: int
    n_bytes: int
    table: Any = None
    rows: SparseRows | None = None
    notes: tuple[str, ...] = ()
    fingerprint: Fingerprint | None = None

    def __repr__(self) -> str:
        n_columns = self.table.num_columns if self.rows is None else self.rows.n_columns
        shape = f"{self.n_rows} rows, {n_columns} columns"
        return f"Records({self.format}, {shape}, {self.n_bytes} bytes)"


@dataclass(frozen=True, kw_only=True)
class _Options:
    path: Path | None  # None: the standard input
    format: str | None
    columns: tuple[str, ...] | None
    drop: tuple[str, ...]
    header: bool
    delimiter: str | None
    quoting: bool | None
    encoding: str
    errors: str
    as_text: bool
    sparse: SparseOptions


def read_records(
    path: Source,
    *,
    format: str | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    header: bool = True,
    delimiter: str | None = None,
    quoting: bool | None = None,
    encoding: str = "utf-8",
    errors: str = "strict",
    as_text: bool = False,
    n_columns: int | None = None,
    names: Sequence[str] | None = None,
    first_index: int | None = None,
) -> Records:
    """All records of a file or a folder.

    Parameters
    ----------
    path
        A file, a folder of texts, or ``"-"`` for the standard input. A file may be compressed with gzip, xz,
        bzip2 or Zstandard, whatever its name is.
    format
        ``"csv"``, ``"tsv"``, ``"jsonl"`` (also one array of objects), ``"lines"``, ``"parquet"``,
        ``"libsvm"`` (also SVMlight and SVMrank), ``"vw"`` or ``"folder"``; by default what the name ends
        with, or else what the content looks like.
    columns, drop
        Names of the columns to read, in this order, and of those to leave out.
    header, delimiter, quoting
        Of CSV and TSV: whether the first record holds names (else they are "0", "1" ...), what is between
        fields, and whether fields may be in quotes. By default CSV has quotes and TSV has not.
    encoding, errors
        Of text that is not UTF-8: a name that Python knows, and ``"replace"`` to read on over flaws.
    as_text
        Cells of CSV and TSV as they are written, and dates in JSON as text.
    n_columns, first_index
        Of LIBSVM: how many columns to read, and the index of the first, 0 or 1. By default 1, unless an
        index 0 is met.
    names
        Of VW: the only features to read, by column. By default all, numbered as they come.

    Returns
    -------
    Records

    Raises
    ------
    InputError
        With file, line (as an editor counts) and byte: what is wrong there and how to go on.

    Notes
    -----
    A blank cell of CSV or TSV is null, and so are the usual spellings of "missing" in columns of numbers;
    other formats have a null of their own. Whole numbers with leading zeros are codes and stay text, as do
    numbers with separators of thousands.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "people.csv")
    >>> _ = path.write_text("name,age,zip\\nAda,36,00123\\nAlan,,04567\\n")
    >>> read_records(path).table.to_pylist()
    [{'name': 'Ada', 'age': 36, 'zip': '00123'}, {'name': 'Alan', 'age': None, 'zip': '04567'}]
    """
    sparse = _sparse(n_columns, names, first_index)
    options = _options(
        path, format, columns, drop, header, delimiter, quoting, encoding, errors, as_text, sparse
    )
    parts = list(_parts(options, None))
    if len(parts) == 1:
        return parts[0]
    raise AssertionError("a file that is read as a whole has one part")


def stream_records(
    path: Source,
    *,
    n_bytes: int = 1 << 22,
    format: str | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    header: bool = True,
    delimiter: str | None = None,
    quoting: bool | None = None,
    encoding: str = "utf-8",
    errors: str = "strict",
    as_text: bool = False,
    n_columns: int | None = None,
    names: Sequence[str] | None = None,
    first_index: int | None = None,
) -> Iterator[Records]:
    """The same, in parts of about ``n_bytes`` of the file, so that one larger than memory can be read.

    A few times ``n_bytes`` are in memory at once, or a few times the longest record. The parameters are those
    of `read_records`. With ``as_text`` every cell of CSV is text in every part; without, columns have the
    types of the first part, and a later cell that does not fit is refused with its line. JSON columns keep
    the type they first had where nothing is lost, and a key that first appears in a later part is a column
    from then on. A flaw is raised when the part that it lies in is reached.
    """
    if isinstance(n_bytes, bool) or not isinstance(n_bytes, (int, np.integer)) or n_bytes < 1:
        raise ParameterError(f"n_bytes must be a positive whole number, got {n_bytes!r}.")
    sparse = _sparse(n_columns, names, first_index)
    options = _options(
        path, format, columns, drop, header, delimiter, quoting, encoding, errors, as_text, sparse
    )
    return _parts(options, int(n_bytes))


def _options(
    path: Source,
    format: str | None,
    columns: Sequence[str] | None,
    drop: Sequence[str],
    header: bool,
    delimiter: str | None,
    quoting: bool | None,
    encoding: str,
    errors: str,
    as_text: bool,
    sparse: SparseOptions,
) -> _Options:
    """Checked before the file is opened."""
    check_format(format)
    check_encoding(encoding, errors)
    if isinstance(columns, str) or isinstance(drop, str):
        raise ParameterError("columns and drop are lists of names, not one name.")
    dialect(format or "csv", delimiter, quoting, header)
    return _Options(
        path=_existing(path, format),
        format=format,
        columns=None if columns is None else tuple(columns),
        drop=tuple(drop),
        header=header,
        delimiter=delimiter,
        quoting=quoting,
        encoding=encoding,
        errors=errors,
        as_text=as_text,
        sparse=sparse,
    )


def _sparse(n_columns: int | None, names: Sequence[str] | None, first_index: int | None) -> SparseOptions:
    given = None if names is None else tuple(names)
    sparse = SparseOptions(n_columns=n_columns, names=given, first_index=first_index)
    sparse.check()
    return sparse


def _existing(path: Source, format: str | None) -> Path | None:
    """The path of something that is there; None for the standard input."""
    if str(path) == "-":
        if format == "folder":
            raise ParameterError("A folder cannot come through the standard input.")
        return None
    found = Path(path)
    if not found.exists():
        raise InputError(f"There is no file or folder {found}. The current folder is {Path.cwd()}.")
    if found.is_dir() and format not in (None, "folder"):
        raise InputError(f"{found} is a folder. Leave out format=, or name a file in it.")
    if format == "folder" and not found.is_dir():
        raise InputError(f"{found} is a file, not a folder. Leave out format=, or name the folder.")
    return found


@dataclass
class _Opened:
    """A file whose first bytes were looked at."""

    format: str
    raw: Iterator[bytes]
    is_packed: bool
    is_old_mac: bool
    notes: list[str] = field(default_factory=list)
    tap: list[Tapped] = field(default_factory=list)


def _parts(options: _Options, n_bytes: int | None) -> Iterator[Records]:
    name = "-" if options.path is None else str(options.path)
    if options.path is not None and options.path.is_dir():
        from lineal.data.folders import said_of_unlabelled
        from lineal.data.stored_records import folder_tables

        said = said_of_unlabelled(options.path)
        found = folder_tables(
            options.path, n_bytes, options.encoding, options.errors, options.columns, options.drop
        )
        for table, size in found:
            yield Records("folder", name, len(table), size, table, notes=(said,) if said else ())
        return
    with named_in_errors(options.path or Path("standard input")):
        opened = _opened(options, n_bytes)
        for found, size in _contents(opened, options, n_bytes):
            is_sparse = isinstance(found, SparseRows)
            yield Records(
                opened.format,
                name,
                found.n_rows if is_sparse else len(found),
                size,
                None if is_sparse else found,
                found if is_sparse else None,
                tuple(opened.notes),
                opened.tap[0].fingerprint if opened.tap else None,
            )


def _opened(options: _Options, n_bytes: int | None) -> _Opened:
    tap: list[Tapped] = []
    raw = raw_pieces(options.path, n_bytes, tap=tap)
    pieces: list[bytes] = []
    n_read = 0
    while n_read < HEAD and (piece := next(raw, b"")):
        pieces.append(piece)
        n_read += len(piece)
    head = b"".join(piece[:HEAD] for piece in pieces)[:HEAD]
    refuse_strangers(head)
    _refuse_wide(head, options.encoding)
    if codecs.lookup(options.encoding).name not in ("utf-8", "utf-8-sig"):
        head = head.decode(options.encoding, "replace").encode("utf-8", "replace")
    format, note = resolve(options.path, options.format, head)
    _refuse_useless(format, options)
    is_old_mac = format != "parquet" and ends_lines_with_returns(head)
    notes = [note] if note else []
    if is_old_mac:
        notes.append("lines end with a carriage return alone; they were read as lines.")
    return _Opened(format, chain(pieces, raw), _is_packed(options.path), is_old_mac, notes, tap)


def _is_packed(path: Path | None) -> bool:
    if path is None or not path.is_file():
        return True
    with path.open("rb") as file:
        return compression_of(file.read(8)) is not None


def _refuse_wide(head: bytes, encoding: str) -> None:
    """UTF-16 begins with a mark, or has a NUL in every other byte."""
    is_utf8 = codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
    if not is_utf8 or head.startswith(b"PAR1"):
        return
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError('the file begins like UTF-16, not UTF-8. Read it with encoding="utf-16".')
    if len(head) > 3 and head.count(0) > 0.4 * len(head):
        order = "le" if head[1::2].count(0) > head[::2].count(0) else "be"
        raise InputError(
            "nearly every other byte is NUL: the file looks like UTF-16. "
            f'Read it with encoding="utf-16-{order}".'
        )


def _refuse_useless(format: str, options: _Options) -> None:
    """An option that the format has no use for is a mistake."""
    given = (options.header, options.delimiter, options.quoting) != (True, None, None)
    if format not in ("csv", "tsv") and given:
        raise ParameterError(f"header, delimiter and quoting are options of csv and tsv, not of {format}.")
    is_sparse = format in ("libsvm", "vw")
    if is_sparse and (options.columns is not None or options.drop):
        raise ParameterError(f"columns and drop are names of columns of tables; {format} has none.")
    if not is_sparse and options.sparse != SparseOptions():
        raise ParameterError(
            f"n_columns, names and first_index are options of libsvm and vw, not of {format}."
        )
    if format == "parquet" and (options.encoding, options.errors) != ("utf-8", "strict"):
        raise ParameterError("Parquet holds UTF-8: leave out encoding= and errors=.")


def _contents(opened: _Opened, options: _Options, n_bytes: int | None) -> Iterator[tuple[Any, int]]:
    chosen, dropped = options.columns, options.drop
    if opened.format == "parquet":
        source = b"".join(opened.raw) if opened.is_packed or options.path is None else options.path
        from lineal.data.stored_records import parquet_tables

        return parquet_tables(source, n_bytes, chosen, dropped)
    text = as_utf8(opened.raw, options.encoding, options.errors)
    if opened.is_old_mac:  # lines end with a carriage return alone
        text = (piece.replace(b"\r", b"\n") for piece in text)
    if n_bytes is None:
        text = iter([b"".join(text)])
    if opened.format in ("libsvm", "vw"):
        return sparse_parts(Window(_sliced(text)), opened.format, options.sparse, is_whole=n_bytes is None)
    window = Window(text)
    if opened.format == "lines":
        from lineal.data.stored_records import line_tables

        return line_tables(window, chosen, dropped)
    if opened.format == "jsonl":
        from lineal.data.json_records import JsonTables

        return JsonTables(window, chosen, dropped, options.as_text, opened.notes).parts()
    spoken = dialect(opened.format, options.delimiter, options.quoting, options.header)
    return _delimited(window, spoken, options, opened.notes)


def _delimited(
    window: Window, spoken: Dialect, options: _Options, notes: list[str]
) -> Iterator[tuple[Any, int]]:
    while is_blank(window.bytes) and not window.is_last:
        window.more()
    if is_blank(window.bytes):
        raise InputError("the file is empty: there is not even a header in it.")
    return DelimitedTables(window, spoken, options.columns, options.drop, options.as_text, notes).parts()


def _sliced(text: Iterator[bytes]) -> Iterator[bytes]:
    """Pieces that the core is done with in a moment, so that Ctrl-C is heard."""
    for piece in text:
        for start in range(0, len(piece), 1 << 25):
            yield piece[start : start + (1 << 25)]
