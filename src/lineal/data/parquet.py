"""Documents from Parquet files, by pyarrow; the texts stay where it put them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.data.corpus import Corpus, Label, Name, choose_columns
from lineal.data.documents import checked
from lineal.data.targets import plain_array
from lineal.errors import InputError, InputTypeError


def read_parquet(
    path: Path, n_bytes: int | None, text: Name | None, label: Label, missing_is_empty: bool
) -> Iterator[Corpus]:
    """Parts of about ``n_bytes``, or all at once; only the chosen columns are read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            schema = file.schema_arrow
            names: list[Name] = list(schema.names)
            with_text = [name for name in names if _holds_text(pa, schema.field(name).type)]
            text_place, label_place = choose_columns(names, text, label, with_text=with_text)
            columns = [str(names[place]) for place in (text_place, label_place) if place is not None]
            first_row = 0
            for table in _tables(pa, file, columns, n_bytes):
                yield _part(table, columns, first_row, missing_is_empty)
                first_row += len(table)
    except (pa.ArrowException, OSError) as flaw:
        raise InputError(f"pyarrow cannot read the file: {flaw}. Is it Parquet, and complete?") from None


def _tables(pa: Any, file: Any, columns: list[str], n_bytes: int | None) -> Iterator[Any]:
    if n_bytes is None:
        yield file.read(columns=columns)
        return
    total = sum(file.metadata.row_group(k).total_byte_size for k in range(file.metadata.num_row_groups))
    bytes_a_row = max(1, total // max(1, file.metadata.num_rows))
    for batch in file.iter_batches(batch_size=max(1, n_bytes // bytes_a_row), columns=columns):
        yield pa.Table.from_batches([batch])


def _part(table: Any, columns: list[str], first_row: int, missing_is_empty: bool) -> Corpus:
    found = _core.ArrowTexts(table.column(columns[0]), None, missing_is_empty, first_row).read()
    texts = _core.Documents.from_sequence(()) if found is None else checked(found, first_row)
    labels = None if len(columns) == 1 else _label_array(table.column(columns[1]), columns[1], first_row)
    return Corpus(texts, labels)


def _label_array(column: Any, name: str, first_row: int) -> NDArray[Any]:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if column.null_count:
        row = first_row + int(np.argmax(column.is_null().to_numpy()))
        raise InputError(
            f"row {row}: there is no label, column {name!r} is null. Drop the row, or use label=False."
        )
    if _holds_text(pa, kind):
        names = column.to_pylist()
        return plain_array(names) if names else np.array([], dtype=np.str_)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        values = np.asarray(column.to_numpy())
        if values.dtype.kind == "f" and (missing := np.isnan(values)).any():
            row = first_row + int(np.argmax(missing))
            raise InputError(f"row {row}: there is no label, column {name!r} is NaN. Drop the row.")
        return values
    raise InputTypeError(
        f"labels are needed as strings, numbers or truth values, but column {name!r} is {kind}. "
        "Choose another with label=."
    )


def _holds_text(pa: Any, kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return str(kind) in ("string", "large_string", "string_view")
