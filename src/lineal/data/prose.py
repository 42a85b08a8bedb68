"""What a column of strings looks like: prose, or dates."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence

# From here on text is prose: so many words a value, and more distinct values than half of the rows.
_WORDS_OF_PROSE = 4
_DISTINCT_OF_PROSE = 0.5
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?")


def n_words(values: Sequence[str]) -> int:
    """How many words all values have."""
    return sum(len(value.split()) for value in values)


def is_prose(values: Sequence[str], words: int | None = None) -> bool:
    """Whether values are texts to be read, not names that are repeated; ``words``: how many they have."""
    is_worded = (n_words(values) if words is None else words) >= _WORDS_OF_PROSE * len(values)
    return is_worded and len(set(values)) > _DISTINCT_OF_PROSE * len(values)


def is_date(text: str) -> bool:
    """Whether a text is a date, perhaps with a time, in ISO 8601."""
    if _ISO_DATE.fullmatch(text) is None:
        return False
    try:
        dt.datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
