"""Parquet files, folders of texts and plain lines as tables."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lineal import _core
from lineal.data.blocks import Window, pieces
from lineal.data.corpus import named_in_errors
from lineal.data.csv_records import choose, refuse_duplicates
from lineal.data.folders import labelled_files
from lineal.errors import InputError


def parquet_tables(
    source: Path | bytes,
    n_bytes: int | None,
    chosen: Sequence[str] | None,
    dropped: Sequence[str],
    skipped: list[str] | None = None,
) -> Iterator[tuple[Any, int]]:
    """Tables of about ``n_bytes``, or all at once; only the chosen columns are read.

    Nested columns that were not chosen are refused, or added to ``skipped``.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(source if isinstance(source, Path) else io.BytesIO(source)) as file:
            names = [name for name in file.schema_arrow.names if not name.startswith("__index_level_")]
            refuse_duplicates(names, "Rename one where the file is made")
            columns = choose(names, chosen, dropped)
            if skipped is not None and chosen is None:
                schema = file.schema_arrow
                skipped += [name for name in columns if pa.types.is_nested(schema.field(name).type)]
                columns = [name for name in columns if name not in skipped]
            _refuse_nested(file.schema_arrow, columns)
            total = sum(
                file.metadata.row_group(k).total_byte_size for k in range(file.metadata.num_row_groups)
            )
            bytes_a_row = max(1, total // max(1, file.metadata.num_rows))
            if n_bytes is None or file.metadata.num_rows == 0:
                yield _plain(file.read(columns=columns).select(columns)), total
                return
            for batch in file.iter_batches(batch_size=max(1, n_bytes // bytes_a_row), columns=columns):
                yield _plain(pa.Table.from_batches([batch]).select(columns)), bytes_a_row * len(batch)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as flaw:
        raise InputError(
            f"pyarrow cannot read the file: {str(flaw)[:300]}. Is it Parquet, and complete?"
        ) from None


def _refuse_nested(schema: Any, columns: Sequence[str]) -> None:
    import pyarrow as pa

    for name in columns:
        kind = schema.field(name).type
        if pa.types.is_nested(kind):
            raise InputError(
                f"column {name!r} holds {kind}, where single values are needed. Take it apart before, or "
                "leave it out with drop=."
            )


def _plain(table: Any) -> Any:
    """The table without the metadata of other programs and with text as text, decimals as numbers."""
    import pyarrow as pa

    table = table.replace_schema_metadata(None)
    for place, column in enumerate(table.schema):
        kind = column.type
        if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            try:
                cast = table.column(place).cast(
                    pa.string() if pa.types.is_binary(kind) else pa.large_string()
                )
            except pa.ArrowInvalid:
                raise InputError(
                    f"column {column.name!r} holds bytes that are not UTF-8 text. Leave it out with drop=."
                ) from None
        elif pa.types.is_decimal(kind):
            cast = table.column(place).cast(pa.float64())
        elif pa.types.is_float16(kind):
            cast = table.column(place).cast(pa.float32())
        else:
            continue
        table = table.set_column(place, column.name, cast)
    table.validate(full=True)  # a damaged page may hold text that is not UTF-8; pyarrow does not look
    return table


def line_tables(
    window: Window, chosen: Sequence[str] | None, dropped: Sequence[str]
) -> Iterator[tuple[Any, int]]:
    """Plain lines as a column ``text``, an empty line as an empty text."""
    import pyarrow as pa

    choose(["text"], chosen, dropped)
    if window.is_last and not window.bytes:
        raise InputError("the file is empty: there are no lines in it.")
    reader = _core.PlainLines()
    is_first = True
    while True:
        found, _, _, n_done = reader.scan(window.bytes, window.is_last)
        if len(found) or (is_first and window.is_last):
            yield pa.table({"text": pa.array([found[row] for row in range(len(found))], pa.string())}), n_done
            is_first = False
        if window.is_last:
            return
        window.more(n_done)


def folder_tables(
    folder: Path,
    n_bytes: int | None,
    encoding: str,
    errors: str,
    chosen: Sequence[str] | None,
    dropped: Sequence[str],
) -> Iterator[tuple[Any, int]]:
    """A file to a row: ``text``, ``label`` (its sub-folder, where there are any) and ``file``."""
    import pyarrow as pa

    has_labels, files = labelled_files(folder)
    names = ["text", "label", "file"] if has_labels else ["text", "file"]
    columns = choose(names, chosen, dropped)
    found: dict[str, list[str]] = {"text": [], "label": [], "file": []}
    size, n_parts = 0, 0

    def part() -> Any:
        return pa.table({name: pa.array(found[name], pa.string()) for name in columns})

    for label, path in files:
        with named_in_errors(path):
            raw = b"".join(pieces(path, None, encoding, errors)).removeprefix(codecs.BOM_UTF8)
            found["text"].append(_decoded(raw))
        found["label"].append(label)
        found["file"].append(path.relative_to(folder).as_posix())
        size += len(raw)
        if n_bytes is not None and size >= n_bytes:
            yield part(), size
            n_parts += 1
            found, size = {"text": [], "label": [], "file": []}, 0
    if found["text"]:
        yield part(), size
    elif n_parts == 0:
        raise InputError(f"There are no files in {folder}. Put each document into a file of its own.")


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as flaw:
        line = 1 + raw.count(b"\n", 0, flaw.start)
        raise InputError(
            f"line {line}, byte {flaw.start - raw.rfind(bytes([10]), 0, flaw.start)}: this is not UTF-8 "
            f'(0x{raw[flaw.start]:02x}). Give the encoding with encoding=, or read on with errors="replace".'
        ) from None
