"""Lines of a file, as an editor counts them, of the rows that were read from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from lineal.data.compression import SUFFIXES as PACKED
from lineal.data.records import Records

_BLOCK = 1 << 20


def first_line(records: Records, path: str, reading: dict[str, Any]) -> int | None:
    """The line of row 0, where every row is one line; None where that is not so, or cannot be known."""
    if records.format not in ("csv", "tsv", "jsonl", "lines") or path == "-" or path.endswith(tuple(PACKED)):
        return None
    n_lines, is_ended, block = 0, True, np.empty(_BLOCK, dtype=np.uint8)
    with Path(path).open("rb", buffering=0) as file:
        while size := file.readinto(block.data):
            # Python's own count looks at one byte after another.
            n_lines += int(np.count_nonzero(block[:size] == ord("\n")))
            is_ended = bool(block[size - 1] == ord("\n"))
    n_lines += not is_ended
    n_names = int(records.format in ("csv", "tsv") and reading.get("header", True))
    # Blank lines, and line ends in quotes, would make more lines than rows.
    return 1 + n_names if n_lines == records.n_rows + n_names else None


def place_of(row: int, first: int | None) -> str:
    """A row in words: its line, or its number and how it is counted."""
    return f"row {row} (the first is row 0)" if first is None else f"line {row + first}"
