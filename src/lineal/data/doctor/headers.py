"""The first line of CSV and TSV: whether it holds names of columns, or is a row already."""

from __future__ import annotations

from lineal.data.doctor.collector import Collector, shown
from lineal.data.doctor.cutting import joined
from lineal.data.doctor.frame import Frame
from lineal.data.doctor.spellings import shape

_FEW_LEVELS = 50


def check_header(frame: Frame, found: Collector) -> None:
    """Says so if the names look like values: one is a value of its column, or a number above numbers."""
    if not frame.has_header or frame.header_line is None:
        return
    why = _why(frame)
    if why is None:
        return
    n = len(frame.raw_names)
    usual = {1: ["text"], 2: ["label", "text"]}.get(n, [f"column_{k + 1}" for k in range(n)])
    if n == 2 and len(frame.raw_names[0]) > len(frame.raw_names[1]):
        usual.reverse()
    found.add("header-missing", line=frame.header_line, why=why, names=joined(usual, frame.delimiter))


def _why(frame: Frame) -> str | None:
    """Why the first line looks like data: in every column whose values can tell, the name is one of them."""
    first = None
    for name, written in zip(frame.names, frame.raw_names, strict=False):
        column = frame.columns.get(name)
        if column is None or not written.strip() or not column.levels:
            continue
        reason = None
        if column.numbers is not None and len(column.levels) > 1:
            if shape(written) == "number":
                reason = f"{shown(written)} is a number, like all below it"
        elif column.is_string and len(column.levels) <= min(_FEW_LEVELS, max(2, len(column) // 2)):
            n = int(column.counts[column.levels.index(written)]) if written in column.levels else 0
            if n > 1:
                reason = f"{shown(written)} is the value of {n:,} other lines"
        else:
            continue
        if reason is None:  # one name is enough for a line of names
            return None
        first = first or reason
    return first
