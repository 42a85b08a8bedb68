"""Parquet, which has no lines: rows are counted from 0."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from lineal.data.doctor.collector import Collector, shown
from lineal.data.doctor.frame import Frame
from lineal.data.doctor.gathering import Gatherer
from lineal.data.doctor.lines import Rows

_BATCH = 10_000


def gather_parquet(
    path: Path | None, pieces: Iterator[bytes], gatherer: Gatherer, found: Collector
) -> tuple[Frame, int]:
    """The rows of a Parquet file, and how many bytes it has; ``pieces`` are those of the standard input."""
    import pyarrow.parquet as pq  # it brings network file systems with it, which take long to load

    gatherer.has_lines = False
    source = path if path is not None else io.BytesIO(b"".join(pieces))
    n_bytes = path.stat().st_size if path is not None else 0
    try:
        with pq.ParquetFile(source) as file:
            kept = _flat(file.schema_arrow, found)
            for batch in file.iter_batches(batch_size=_BATCH, columns=kept):
                columns = {name: batch.column(name).to_pylist() for name in batch.schema.names}
                gatherer.add(Rows(range(batch.num_rows), columns))
    except (pa.ArrowException, OSError) as flaw:
        found.add("unreadable", why=f"pyarrow says {flaw}.")
    return gatherer.frame(found.file, "parquet"), n_bytes


def _flat(schema: pa.Schema, found: Collector) -> list[str]:
    """The columns that hold single values; others are said."""
    kept = []
    for field in schema:
        if not pa.types.is_nested(field.type):
            kept.append(field.name)
            continue
        found.add(
            "nested-value",
            column=field.name,
            kind=f"of type {field.type}",
            text=shown(field.name),
            advice="Make columns of its parts: pyarrow.parquet.write_table(table.flatten(), ...)",
        )
    return kept
