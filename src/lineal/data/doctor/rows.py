"""Rows that occur twice: in one file, with different labels, or in the training and the test file."""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.data.doctor.codes import mended
from lineal.data.doctor.collector import Collector, shown
from lineal.data.doctor.frame import Column, Frame, Ints, Texts

_MOST_CELLS = 20_000_000
_MIX = np.uint64(0x9E3779B97F4A7C15)


def check_rows(frame: Frame, found: Collector, *, is_classes: bool) -> None:
    """Looks for rows, and for texts, that occur more than once."""
    is_copy = _rows_twice(frame, found)
    for texts in frame.texts.values():
        _texts_twice(frame, texts, found, is_copy, is_classes=is_classes)


def row_hashes(frame: Frame) -> NDArray[np.uint64] | None:
    """A number for each row, equal for equal rows; None if there are too many values to look at."""
    if frame.n_rows * len(frame.columns) > _MOST_CELLS or not (frame.columns or frame.texts):
        return None
    total = np.zeros(frame.n_rows, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for name in sorted([*frame.columns, *frame.texts]):
            if name in frame.texts:
                part = frame.texts[name].exact.view(np.uint64)
            elif frame.columns[name].is_flat:
                part = _value_hashes(frame.columns[name])
            else:
                return None
            # Order matters, so that swapped values are another row.
            total = (total ^ part) * _MIX
            total ^= total >> np.uint64(29)
    return total


def _value_hashes(column: Column) -> NDArray[np.uint64]:
    numbers = column.numbers
    if numbers is not None:
        return (numbers + 0.0).view(np.uint64)  # + 0.0: -0 is 0
    of_level = np.array([hash(level) for level in [*column.levels, None]], dtype=np.int64)
    return of_level.view(np.uint64)[column.codes]


def firsts(hashes: Any) -> Ints:
    """(n,) the first row with the same hash; the row itself where it is the first."""
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    return first[inverse].astype(np.int64)


def _rows_twice(frame: Frame, found: Collector) -> NDArray[np.bool_]:
    """Says which rows are copies; returns them."""
    nothing = np.zeros(frame.n_rows, dtype=bool)
    hashes = row_hashes(frame)
    if hashes is None or frame.n_rows < 2:
        return nothing
    first = firsts(hashes)
    rows = np.flatnonzero(first != np.arange(frame.n_rows))
    if not len(rows) or _expected_copies(frame) > 0.3 * len(rows):
        return nothing
    file = shlex.quote(frame.file)
    advice = f"awk '!seen[$0]++' {file} > {shlex.quote(mended(frame.file))}"
    if not frame.is_lines:
        advice = "Drop the copies: table.drop_duplicates() in pandas."
    found.add(
        "duplicate-row",
        count=len(rows),
        first=frame.place(int(first[rows[0]])),
        n_first="",
        advice=advice,
        **frame.places(rows[:5]),
    )
    nothing[rows] = True
    return nothing


def _expected_copies(frame: Frame) -> float:
    """Copies to expect if columns were independent: few values make equal rows by chance."""
    if frame.texts:
        return 0.0
    log_same = 0.0
    for column in frame.columns.values():
        counts = np.bincount(column.codes + 1)
        log_same += float(np.log(((counts / counts.sum()) ** 2).sum()))
    n = frame.n_rows
    return float(n * (n - 1) / 2 * np.exp(log_same))


def _texts_twice(
    frame: Frame, texts: Texts, found: Collector, is_copy: NDArray[np.bool_], *, is_classes: bool
) -> None:
    """Texts that are the same when folded, and whether their labels are."""
    first = firsts(texts.folded)
    rows = np.flatnonzero((first != np.arange(len(first))) & (texts.folded != 0))
    if not len(rows):
        return
    label = frame.labels
    differs = np.zeros(len(rows), dtype=bool)
    if is_classes and label is not None:
        here, there = label.codes[rows], label.codes[first[rows]]
        differs = (here != there) & (here >= 0) & (there >= 0)
    if differs.any():
        assert label is not None
        wrong = rows[differs]
        row, other = int(wrong[0]), int(first[wrong[0]])
        places = frame.places(wrong[:5])
        found.add(
            "contradiction",
            column=texts.name,
            count=len(wrong),
            label=shown(label.levels[label.codes[row]]),
            other=shown(label.levels[label.codes[other]]),
            first=frame.place(other),
            text=shown(texts.head(row)),
            place=(places.get("lines") or places["rows"])[0],
            examples=[texts.head(row) for row in wrong[:5]],
            **places,
        )
    same = rows[~differs & ~is_copy[rows]]
    if len(same):
        found.add(
            "duplicate-text",
            column=texts.name,
            count=len(same),
            first=frame.place(int(first[same[0]])),
            but="" if texts.exact[same[0]] == texts.exact[first[same[0]]] else ", but for capitals and space",
            text=shown(texts.head(int(same[0]))),
            examples=[texts.head(row) for row in same[:5]],
            **frame.places(same[:5]),
        )
