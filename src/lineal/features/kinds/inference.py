"""Which kind a column is, by what it holds."""

from __future__ import annotations

import datetime as dt
import re

from lineal.data.columns import Column

# From here on text is prose: so many words a value, and more distinct values than half of the rows.
_WORDS_OF_PROSE = 4
_DISTINCT_OF_PROSE = 0.5
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?")


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
    if all(map(_is_date, present)):
        return "date"
    words = sum(len(value.split()) for value in present)
    is_prose = words >= _WORDS_OF_PROSE * len(present) and len(set(present)) > _DISTINCT_OF_PROSE * len(
        present
    )
    return "text" if is_prose else "category"


def _is_date(text: str) -> bool:
    if _ISO_DATE.fullmatch(text) is None:
        return False
    try:
        dt.datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
