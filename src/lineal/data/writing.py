"""Records to files, in every format but folders, packed as the name ends, whole or not at all."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np

from lineal import _core
from lineal.data.compression import SUFFIXES as PACKED
from lineal.data.compression import packing
from lineal.data.conversions import rows_of, table_of, vw_names
from lineal.data.formats import FILE_FORMATS, check_format, suffix_format
from lineal.data.records import Records
from lineal.data.sparse_records import SparseRows
from lineal.errors import InputError, ParameterError

_NO_QUERIES = np.empty(0, dtype=np.int64)
_NO_WEIGHTS = np.empty(0)


def write_records(
    records: Any, path: str | os.PathLike[str], *, format: str | None = None, label: str | None = None
) -> int:
    """Writes records, or a stream of them, to a file; an old file of that name stays until all is written.

    Parameters
    ----------
    records
        `Records`, an iterator over parts such as `stream_records` returns, or a pyarrow table.
    path
        Where to; ``"-"`` is the standard output. A name that ends with ``.gz``, ``.xz``, ``.zst`` or ``.bz2``
        is packed so.
    format
        ``"csv"``, ``"tsv"``, ``"jsonl"``, ``"lines"``, ``"parquet"``, ``"libsvm"`` or ``"vw"``; by default
        what the name ends with.
    label
        Of LIBSVM and VW: the column with the labels; by default the one with a usual name, such as ``label``.

    Returns
    -------
    int
        How many rows were written.

    Raises
    ------
    InputError
        For what the format cannot hold, such as text in LIBSVM, with column and row.

    Notes
    -----
    CSV and TSV tell no difference between null and an empty text. LIBSVM numbers columns from 1 and drops
    their names; sparse rows in a table have a column for each index or name. Tags of VW are not written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lineal.data import read_records
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "flowers.csv").write_text("width,height,label\\n0.5,0,1\\n2,3,-1\\n")
    >>> write_records(read_records(folder / "flowers.csv"), folder / "flowers.libsvm")
    2
    >>> print((folder / "flowers.libsvm").read_text())
    1 1:0.5
    -1 1:2 2:3
    """
    check_format(format, FILE_FORMATS)
    target = None if str(path) == "-" else Path(path)
    chosen = format or (suffix_format(target) if target is not None else None)
    if chosen is None:
        where = "the standard output" if target is None else repr(target.name)
        raise ParameterError(
            f"{where} does not tell a format. Give format=, one of {', '.join(FILE_FORMATS)}."
        )
    packed = PACKED.get(target.suffix.lower()) if target is not None else None
    if chosen == "parquet" and packed is not None:
        raise ParameterError("Parquet is packed inside. Leave out the second suffix.")
    if label is not None and chosen not in ("libsvm", "vw"):
        raise ParameterError(f"label is an option of libsvm and vw, not of {chosen}.")
    parts = _Counted(_parts(records))
    with replacing(target) as file:
        if chosen == "parquet":
            _write_parquet(parts.tables(), file)
        else:
            stream = packing(file, packed)
            for text in _texts(parts, chosen, label):
                stream.write(text)
            if stream is not file:
                stream.close()
    return parts.n_rows


@contextmanager
def replacing(target: Path | None) -> Iterator[IO[bytes]]:
    """A file that takes its place under the name when all went well; None is the standard output."""
    if target is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as flaw:
        raise InputError(f"{target} cannot be written: {flaw.strerror or flaw}.") from None
    finally:
        temporary.unlink(missing_ok=True)


def _parts(records: Any) -> Iterator[Any]:
    """Tables and sparse rows, one after the other."""
    if isinstance(records, Records):
        records = [records]
    elif hasattr(records, "schema") and hasattr(records, "column_names"):
        return iter([records])
    elif not isinstance(records, Iterable):
        raise ParameterError(
            f"records must be Records, parts of them or a table, got {type(records).__name__}."
        )
    return ((part.table if part.rows is None else part.rows) for part in records)


class _Counted:
    """Parts that are counted as they pass."""

    def __init__(self, parts: Iterator[Any]) -> None:
        self._parts = parts
        self.n_rows = 0

    def __iter__(self) -> Iterator[Any]:
        for part in self._parts:
            self.n_rows += part.n_rows if isinstance(part, SparseRows) else len(part)
            yield part

    def tables(self) -> Iterator[Any]:
        """Every part as a table with the columns of the first."""
        names: list[str] | None = None
        for part in self:
            table = table_of(part) if isinstance(part, SparseRows) else part
            names = table.column_names if names is None else names
            other = [name for name in table.column_names if name not in names]
            if other or len(table.column_names) != len(names):
                raise InputError(
                    f"a later part has other columns than the first ({other or 'fewer'}). "
                    "Read the file as a whole."
                )
            yield table.select(names)


def _texts(parts: _Counted, format: str, label: str | None) -> Iterator[bytes]:
    if format in ("csv", "tsv"):
        return _delimited(parts.tables(), format)
    if format == "jsonl":
        return chain.from_iterable(map(_json_lines, parts.tables()))
    if format == "lines":
        return map(_plain_lines, parts.tables())
    return (_sparse_lines(part, format, label) for part in parts)


def _delimited(tables: Iterator[Any], format: str) -> Iterator[bytes]:
    import pyarrow as pa

    is_first = True
    for table in tables:
        if is_first:
            header = pa.table({name: [name] for name in table.column_names})
            yield _joined(header, format)
        is_first = False
        for start in range(0, len(table), 1 << 16):
            yield _joined(table.slice(start, 1 << 16), format)


def _joined(table: Any, format: str) -> bytes:
    """Rows as lines; cells in quotes where they must be."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = []
    for name in table.column_names:
        texts = as_text(table.column(name), name)
        if format == "tsv":
            _refuse_breaks(texts, name, r"[\t\n\r]", "TSV has no way to write a tab or an end of line")
        else:
            must_quote = pc.match_substring_regex(texts, r'[,"\n\r]|^\s|\s$')
            quoted = pc.binary_join_element_wise('"', pc.replace_substring(texts, '"', '""'), '"', "")
            texts = pc.if_else(must_quote, quoted, texts)
        texts = pc.fill_null(texts, "")
        if table.num_columns == 1:
            # A blank line would be no record.
            if format == "tsv" and pc.any(pc.equal(texts, "")).as_py():
                raise InputError(
                    f"column {name!r} is alone and blank in a row, which TSV cannot hold. Use csv."
                )
            texts = pc.if_else(pc.equal(texts, ""), '""', texts)
        cells.append(texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts)
    lines = pc.binary_join_element_wise(*cells, "," if format == "csv" else "\t")
    return "".join([line + "\n" for line in lines.to_pylist()]).encode("utf-8")


def as_text(column: Any, name: str) -> Any:
    """Cells as text that is read back as the same: numbers in the fewest digits, dates as in ISO 8601."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise InputError(f"column {name!r} is {kind}, which is no text, number or date. Leave it out.")
    if pa.types.is_floating(kind):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column)
        texts = column.cast(pa.string())
        # Numbers that happen to be whole stay numbers that need not be.
        return pc.if_else(
            pc.match_substring_regex(texts, r"^-?\d+$"), pc.binary_join_element_wise(texts, ".0", ""), texts
        )
    if pa.types.is_timestamp(kind):
        with suppress(pa.ArrowInvalid):  # parts of a second are written where there are any
            column = column.cast(pa.timestamp("s", kind.tz))
    return column if pa.types.is_string(kind) else column.cast(pa.string())


def _refuse_breaks(texts: Any, name: str, pattern: str, what: str) -> None:
    import pyarrow.compute as pc

    has_break = pc.fill_null(pc.match_substring_regex(texts, pattern), False)
    if pc.any(has_break).as_py():
        row = pc.index(has_break, True).as_py()
        raise InputError(f"column {name!r}, row {row}: {what}. Use csv or jsonl.")


def _json_lines(table: Any) -> Iterator[bytes]:
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, column in enumerate(table.schema):
        kind = column.type
        if pa.types.is_floating(kind):
            cells = table.column(place)
            # JSON has no number that is none.
            cells = pc.if_else(pc.is_finite(cells), cells, pa.scalar(None, kind))
            table = table.set_column(place, column.name, cells)
        elif not (pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind)):
            table = table.set_column(place, column.name, as_text(table.column(place), column.name))
    for start in range(0, len(table), 1 << 14):
        rows = table.slice(start, 1 << 14).to_pylist()
        yield "".join([json.dumps(row, ensure_ascii=False) + "\n" for row in rows]).encode("utf-8")


def _plain_lines(table: Any) -> bytes:
    if table.num_columns != 1:
        raise InputError(f"plain lines have one column, got {table.column_names}. Choose one with columns=.")
    texts = as_text(table.column(0), table.column_names[0])
    _refuse_breaks(texts, table.column_names[0], r"[\n\r]", "a line cannot hold an end of line")
    return "".join([(line or "") + "\n" for line in texts.to_pylist()]).encode("utf-8")


def _sparse_lines(part: Any, format: str, label: str | None) -> bytes:
    if isinstance(part, SparseRows):
        if label is not None:
            raise ParameterError("label is the name of a column of a table; sparse rows have their labels.")
        rows = part
    else:
        rows = rows_of(part, format, label)
    is_missing = np.isnan(rows.labels)
    if format == "libsvm":
        if is_missing.any() and not is_missing.all():
            raise InputError(f"row {int(np.argmax(is_missing))}: there is no label, but other rows have one.")
        if rows.weights is not None and (rows.weights != 1).any():
            raise InputError("the rows have importances, which LIBSVM has no place for. Use vw.")
        queries = _NO_QUERIES if rows.queries is None else rows.queries
        return _core.spell_libsvm(rows.labels, rows.indptr, rows.indices, rows.values, queries, 1)
    if rows.queries is not None:
        raise InputError("the rows have queries (qid:), which VW has no place for. Use libsvm.")
    weights = _NO_WEIGHTS if rows.weights is None else rows.weights
    return _core.spell_vw(rows.labels, rows.indptr, rows.indices, rows.values, weights, vw_names(rows))


def _write_parquet(tables: Iterator[Any], file: IO[bytes]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    try:
        for table in tables:
            if writer is None:
                writer = pq.ParquetWriter(file, table.schema, compression="zstd")
            writer.write_table(table.cast(writer.schema))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as flaw:
        raise InputError(
            f"a part has columns of other types than the first: {flaw}. Read it whole."
        ) from None
    finally:
        if writer is not None:
            writer.close()
