"""Whole records from files: tables of CSV, TSV, JSON lines, Parquet, folders, lines; rows of LIBSVM, VW."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lineal.data.blocks import Window
from lineal.data.compression import Fingerprint
from lineal.data.corpus import named_in_errors
from lineal.data.csv_records import DelimitedTables, Dialect, dialect, is_blank
from lineal.data.opening import Opened, ReadOptions, Source, open_file, reading
from lineal.data.sparse_records import SparseOptions, SparseRows, sparse_parts
from lineal.errors import InputError, ParameterError


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
    skipped : tuple of str
        Columns that were left out so far, since their values are nested.
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
    skipped: tuple[str, ...] = ()

    def __repr__(self) -> str:
        n_columns = self.table.num_columns if self.rows is None else self.rows.n_columns
        shape = f"{self.n_rows} rows, {n_columns} columns"
        return f"Records({self.format}, {shape}, {self.n_bytes} bytes)"


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
    nested: str = "refuse",
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
    nested
        Of JSON and Parquet: ``"refuse"`` or ``"skip"``, what to do with columns of objects or lists that are
        not among ``columns``.

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
    options = reading(
        path, format, columns, drop, header, delimiter, quoting, encoding, errors, as_text, sparse, nested
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
    nested: str = "refuse",
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
    options = reading(
        path, format, columns, drop, header, delimiter, quoting, encoding, errors, as_text, sparse, nested
    )
    return _parts(options, int(n_bytes))


def _sparse(n_columns: int | None, names: Sequence[str] | None, first_index: int | None) -> SparseOptions:
    given = None if names is None else tuple(names)
    sparse = SparseOptions(n_columns=n_columns, names=given, first_index=first_index)
    sparse.check()
    return sparse


def _parts(options: ReadOptions, n_bytes: int | None) -> Iterator[Records]:
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
        opened = open_file(options, n_bytes)
        for found, size in contents(opened, options, n_bytes):
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
                tuple(opened.skipped),
            )


def contents(opened: Opened, options: ReadOptions, n_bytes: int | None) -> Iterator[tuple[Any, int]]:
    """Every part of an opened file, a table or sparse rows, and how many bytes it was read from."""
    chosen, dropped = options.columns, options.drop
    skipped = opened.skipped if options.skips_nested else None
    if opened.format == "parquet":
        source = b"".join(opened.raw) if opened.is_packed or options.path is None else options.path
        from lineal.data.stored_records import parquet_tables

        return parquet_tables(source, n_bytes, chosen, dropped, skipped)
    text = opened.text(options)
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

        return JsonTables(window, chosen, dropped, options.as_text, opened.notes, skipped).parts()
    spoken = dialect(opened.format, options.delimiter, options.quoting, options.header)
    return _delimited(window, spoken, options, opened.notes)


def _delimited(
    window: Window, spoken: Dialect, options: ReadOptions, notes: list[str]
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
