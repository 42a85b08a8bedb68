"""Tables of numbers as sparse rows, and sparse rows as tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.data.corpus import LABEL_NAMES
from lineal.data.sparse_records import SparseRows
from lineal.errors import InputError

QUERY, IMPORTANCE = "qid", "importance"  # columns with a place of their own in LIBSVM and in VW
_MOST_CELLS = 10**8  # of a table that is made from sparse rows: most of them zeros


def table_of(rows: SparseRows) -> Any:
    """Columns ``label``, ``qid`` and ``importance`` where there are any, and one for each index or name."""
    import pyarrow as pa

    if rows.n_rows * rows.n_columns > _MOST_CELLS:
        raise InputError(
            f"{rows.n_rows} rows of {rows.n_columns} columns would be a table of mostly zeros, "
            f"larger than {_MOST_CELLS:,} cells. Keep them sparse: libsvm or vw."
        )
    names = rows.names or [str(k + 1) for k in range(rows.n_columns)]
    columns: dict[str, Any] = {"label": pa.array(rows.labels, from_pandas=True)}
    if rows.queries is not None:
        columns[QUERY] = pa.array(rows.queries)
    if rows.weights is not None:
        columns[IMPORTANCE] = pa.array(rows.weights)
    taken = [name for name in names if name in columns]
    if taken:
        raise InputError(f"a feature is called {taken[0]!r}, as another column is. Rename it.")
    cells = np.zeros((rows.n_columns, rows.n_rows))
    cells[rows.indices, np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))] = rows.values
    return pa.table({**columns, **{name: pa.array(cells[k]) for k, name in enumerate(names)}})


def rows_of(table: Any, format: str, label: str | None) -> SparseRows:
    """The numbers of a table, zeros left out; a column of anything else is refused by its name."""
    names = table.column_names
    label = label_column(names, label)
    special = (QUERY if format == "libsvm" else IMPORTANCE) if label is not None else None
    features = [name for name in names if name not in (label, special)]
    labels = np.full(len(table), np.nan) if label is None else _numbers(table, label, format)
    cells = np.zeros((len(table), len(features)))
    for place, name in enumerate(features):
        cells[:, place] = _numbers(table, name, format)
    is_there = cells != 0
    indptr = np.concatenate(([0], np.cumsum(is_there.sum(axis=1)))).astype(np.int64)
    extra = _numbers(table, special, format) if special is not None and special in names else None
    return SparseRows(
        labels,
        indptr,
        np.nonzero(is_there)[1].astype(np.int32),
        cells[is_there],
        len(features),
        extra.astype(np.int64) if extra is not None and special == QUERY else None,
        extra if special == IMPORTANCE else None,
        _named_by=features,
    )


def label_column(names: Sequence[str], label: str | None) -> str | None:
    """The column with the labels: the named one, or else one with a usual name, or none."""
    if label is not None:
        if label not in names:
            shown = ", ".join(map(repr, names[:30]))
            raise InputError(f"there is no column {label!r} to be the label. There are {shown}.")
        return label
    usual = [name for name in names if name.strip().lower() in LABEL_NAMES]
    if len(usual) > 1:
        raise InputError(f"{usual[0]!r} and {usual[1]!r} may both be the label. Choose with label=.")
    return usual[0] if usual else None


def _numbers(table: Any, name: str, format: str) -> NDArray[np.float64]:
    import pyarrow as pa

    column = table.column(name)
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise InputError(
            f"{format} holds numbers only, but column {name!r} is {kind}. Leave it out with drop=; "
            "`lineal train` makes numbers of text, categories and dates by itself."
        )
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise InputError(
            f"row {row}: column {name!r} has no value, which {format} has no way to say. Fill it, or drop "
            "the row."
        )
    if pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    values = np.asarray(column.cast(pa.float64()), dtype=np.float64)
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        raise InputError(f"row {row}: column {name!r} holds {values[row]}, where a finite number is needed.")
    return values


def vw_names(rows: SparseRows) -> list[str]:
    """Names that VW can hold: spaces, colons and bars become underscores."""
    given = rows.names or [str(k + 1) for k in range(rows.n_columns)]
    names = [re.sub(r"[\s:|]", "_", name) or "_" for name in given]
    seen: dict[str, str] = {}
    for before, name in zip(given, names, strict=True):
        if name in seen:
            raise InputError(
                f"columns {seen[name]!r} and {before!r} would both be {name!r} in VW, where a name has no "
                "spaces, colons or bars. Rename one."
            )
        seen[name] = before
    return names
