"""Which kind a column is, by what it holds."""

from __future__ import annotations

from lineal.data.columns import Column
from lineal.data.prose import is_date, is_prose


def inferred(column: Column) -> str:
    """The word for the kind of a column with at least one value: see the table in ``TableVectorizer``."""
    if column.is_category:
        return "category"
    kind = column.values.dtype.kind
    if kind != "O":
        return {"b": "boolean", "M": "date"}.get(kind, "number")
    present = column.present.tolist()
    if not all(isinstance(value, str) for value in present):
        return "category"
    if all(map(is_date, present)):
        return "date"
    return "text" if is_prose(present) else "category"
