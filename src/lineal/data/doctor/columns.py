"""Checks of columns that are no texts: constant, missing, identifiers, values not all of one kind."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import Any

import numpy as np

from lineal.data.csv_records import MISSING
from lineal.data.doctor.collector import Collector, percent, shown
from lineal.data.doctor.frame import Column, Frame
from lineal.data.doctor.spellings import DATE_NAMES, iso, plain, shape

_IDENTIFIER = re.compile(r"(.*[_\s-])?(id|uuid|guid|key|index|rownum|row)|unnamed(: ?\d+)?|", re.IGNORECASE)
_LEAST_IDENTIFIER = 20
_MOSTLY = 0.8
_HALF = 0.5
# Distinct values that are looked at one by one where speed counts.
QUICK_LEVELS = 20_000


def check_columns(frame: Frame, found: Collector, *, is_quick: bool = False) -> None:
    """Looks at each column by itself."""
    for column in frame.columns.values():
        is_label = column.name == frame.label
        if not column.is_flat or not len(column):
            continue
        if not is_label and _is_useless(frame, column, found, is_quick=is_quick):
            continue
        if column.is_string and (column.numbers is None or not np.isfinite(column.numbers).all()):
            _check_strings(frame, column, found, is_label=is_label, is_quick=is_quick)
        elif column.numbers is not None and not is_label:
            if np.isfinite(column.numbers).all():
                continue  # nothing is missing, either
            _check_numbers(frame, column, found)
        if not is_label:
            _check_missing(frame, column, found)


def _is_useless(frame: Frame, column: Column, found: Collector, *, is_quick: bool) -> bool:
    """Whether there is nothing to learn from the column, which is said."""
    n = len(column)
    head = column.values[: min(n, 200)]
    if is_quick and head.null_count == 0 and len(head.unique()) > 1 and not _may_count(column):
        return False
    if not column.levels and found.has("nested-value", column.name):
        return True  # its values are there, but none that is read
    if not column.levels:
        found.add("all-missing", column=column.name, count=n)
        return True
    if len(column.levels) == 1 and n > 1 and (column.codes >= 0).all():
        found.add("constant-column", column=column.name, value=shown(column.levels[0]), count=n)
        return True
    if n >= _LEAST_IDENTIFIER and len(column.levels) == n:
        how = _identifies(column)
        if how:
            found.add("identifier", column=column.name, how=how)
    return False


def _may_count(column: Column) -> bool:
    return column.is_string or _IDENTIFIER.fullmatch(column.name.strip()) is not None


def _identifies(column: Column) -> str | None:
    """Why a column with a value for each row identifies rows; None if its values may mean something."""
    n = len(column)
    numbers = column.numbers
    if numbers is not None:
        is_whole = bool((numbers == np.round(numbers)).all())
        if is_whole and (np.abs(np.diff(numbers)) == 1).all():
            return f"all {n:,} values differ and go {'up' if numbers[-1] > numbers[0] else 'down'} one by one"
        if is_whole and _IDENTIFIER.fullmatch(column.name.strip()):
            return f"all {n:,} values differ"
        return None
    if column.is_string and all(shape(value) not in DATE_NAMES for value in column.levels[:20]):
        return f"all {n:,} values differ"
    return None


def _check_numbers(frame: Frame, column: Column, found: Collector) -> None:
    numbers = column.numbers
    assert numbers is not None
    rows = np.flatnonzero(np.isinf(numbers))
    if len(rows):
        text = f"{numbers[rows[0]]:g}"
        found.add("not-finite", column=column.name, count=len(rows), text=text, **frame.places(rows[:5]))


def _check_missing(frame: Frame, column: Column, found: Collector) -> None:
    numbers = column.numbers
    is_missing = np.isnan(numbers) if numbers is not None else None
    if is_missing is None:
        if not column.is_string and column.values.null_count == 0:
            return
        is_missing = column.codes < 0
    rows = np.flatnonzero(is_missing)
    if len(rows) and not (
        found.has("missing-spelling", column.name) or found.has("missing-sign", column.name)
    ):
        share = percent(len(rows) / len(column))
        found.add("missing-value", column=column.name, count=len(rows), share=share, **frame.places(rows[:5]))


def _check_strings(frame: Frame, column: Column, found: Collector, *, is_label: bool, is_quick: bool) -> None:
    """Values that came as strings: how they are spelled, level by level."""
    if is_quick and len(column.levels) > QUICK_LEVELS:
        return
    shapes: dict[str, list[int]] = defaultdict(list)
    for level, value in enumerate(column.levels):
        shapes[shape(value)].append(level)
    weight = {name: int(column.counts[levels].sum()) for name, levels in shapes.items()}
    total = sum(weight.values())
    n_numbers = weight.get("number", 0) + weight.get("comma", 0) + weight.get("thousands", 0)
    n_present = max(1, total - weight.get("missing", 0))
    _spaces(frame, column, found)
    if is_label:
        return
    is_numeric = n_numbers + weight.get("infinite", 0) >= _MOSTLY * n_present and n_numbers > 0
    _spelled_missing(frame, column, found, shapes["missing"], is_numeric=is_numeric)
    if is_numeric:
        _written_numbers(frame, column, found, shapes)
        levels = [*shapes["other"], *shapes["unit"], *(n for d in DATE_NAMES for n in shapes[d])]
        _mixed(frame, column, found, levels, n_numbers / n_present)
    elif n_numbers >= _HALF * n_present and shapes["unit"]:
        _mixed(frame, column, found, shapes["unit"], n_numbers / n_present)
    _dates(frame, column, found, shapes, n_present)


def _places(frame: Frame, column: Column, levels: list[int]) -> dict[str, Any]:
    """Places and count of the rows with one of some levels, the first row first."""
    rows = np.flatnonzero(np.isin(column.codes, levels))
    return {"count": len(rows), **frame.places(rows[:5])}


def _first(column: Column, levels: list[int]) -> str:
    """The value that occurs first."""
    return str(column.levels[min(levels, key=lambda level: column.first_rows[level])])


def _spaces(frame: Frame, column: Column, found: Collector) -> None:
    levels = [level for level, value in enumerate(column.levels) if value != value.strip()]
    if frame.label == column.name:
        # What differs from another label in space alone is said as a variant of it.
        spelled = Counter(map(plain, column.levels))
        levels = [level for level in levels if spelled[plain(column.levels[level])] == 1]
    if levels:
        text = _first(column, levels)
        found.add(
            "space-around-value",
            column=column.name,
            text=shown(text),
            plain=shown(text.strip()),
            examples=[column.levels[level] for level in levels[:5]],
            **_places(frame, column, levels),
        )


def _spelled_missing(
    frame: Frame, column: Column, found: Collector, levels: list[int], *, is_numeric: bool
) -> None:
    has_blanks = bool((column.codes < 0).any())
    spellings = {str(column.levels[level]).strip().casefold() for level in levels}
    if not levels or not (is_numeric or len(spellings) + has_blanks > 1):
        return
    for level in levels:
        text = str(column.levels[level])
        if is_numeric:
            where = " in a column of numbers"
        else:
            other = (
                "others are empty"
                if has_blanks
                else f"others are {shown(min(spellings - {text.strip().casefold()}))}"
            )
            where = f", but {other}"
        line = frame.places(column.rows_of(level, 1)).get("lines")
        edit = f"edit line {line[0]}, or " if line else ""
        found.add(
            "missing-sign" if is_numeric and text.strip() not in MISSING else "missing-spelling",
            column=column.name,
            key=text,
            text=shown(text),
            where=where,
            command=f"{edit}{_without(frame, column, text)}",
            examples=[text],
            **_places(frame, column, [level]),
        )


def _without(frame: Frame, column: Column, text: str) -> str:
    """How to have pandas take a value for a missing one."""
    if frame.format in ("csv", "tsv"):
        return f"read with pandas.read_csv({frame.file!r}, na_values=[{text!r}])"
    return f"in pandas, table[{column.name!r}].replace({text!r}, None)"


def _read_anew(frame: Frame, column: Column, option: str, changes: dict[str, str]) -> str:
    """How to have pandas read numbers that are written in another way."""
    if frame.format in ("csv", "tsv"):
        return f"pandas.read_csv({frame.file!r}, sep={frame.delimiter!r}, {option})"
    steps = "".join(f".str.replace({old!r}, {new!r})" for old, new in changes.items())
    return f"table[{column.name!r}]{steps}.astype(float) in pandas"


def _written_numbers(frame: Frame, column: Column, found: Collector, shapes: dict[str, list[int]]) -> None:
    if shapes["infinite"]:
        levels = shapes["infinite"]
        text = shown(_first(column, levels))
        found.add("not-finite", column=column.name, text=text, **_places(frame, column, levels))
    commas, thousands = shapes["comma"], shapes["thousands"]
    if commas:
        # 1,234 is a decimal fraction where its neighbours are.
        is_fraction = {
            n for n in thousands if column.levels[n].count(",") == 1 and "." not in column.levels[n]
        }
        commas, thousands = [*commas, *is_fraction], [n for n in thousands if n not in is_fraction]
        text = _first(column, commas).strip()
        number = text.replace(".", "").replace(",", ".")
        found.add(
            "decimal-comma",
            column=column.name,
            text=shown(text),
            number=number,
            command=_read_anew(frame, column, "decimal=','", {".": "", ",": "."}),
            **_places(frame, column, commas),
        )
    if thousands:
        text = _first(column, thousands).strip()
        separator = next(sign for sign in text if not sign.isdigit() and sign not in "+-")
        found.add(
            "thousands-separator",
            column=column.name,
            text=shown(text),
            number=text.replace(separator, "").replace(",", "."),
            command=_read_anew(frame, column, f"thousands={separator!r}", {separator: ""}),
            **_places(frame, column, thousands),
        )


def _mixed(frame: Frame, column: Column, found: Collector, levels: list[int], share: float) -> None:
    if not levels:
        return
    text = _first(column, levels)
    places = _places(frame, column, levels)
    digits = re.search(r"[+-]?\d+(\.\d+)?", text)
    where = f"line {places['lines'][0]}" if places.get("lines") else f"row {places['rows'][0]}"
    advice = f"Write {digits[0]} in {where}." if digits else f"Write a number in {where}, or nothing."
    found.add(
        "mixed-types",
        column=column.name,
        text=shown(text),
        share=percent(share),
        advice=advice,
        examples=[str(column.levels[level]) for level in levels[:5]],
        **places,
    )


def _dates(
    frame: Frame, column: Column, found: Collector, shapes: dict[str, list[int]], n_present: int
) -> None:
    counts = {name: int(column.counts[shapes[name]].sum()) for name in DATE_NAMES if shapes[name]}
    if len(counts) < 2 or sum(counts.values()) < _MOSTLY * n_present:
        return
    usual = max(counts, key=lambda name: counts[name])
    for name, n in counts.items():
        if name == usual or n == 0:
            continue
        text = _first(column, shapes[name])
        places = _places(frame, column, shapes[name])
        found.add(
            "mixed-dates",
            column=column.name,
            key=name,
            text=shown(text),
            this=name,
            n_other=counts[usual],
            other=usual,
            iso=iso(text, name),
            place=(places.get("lines") or places["rows"])[0],
            **places,
        )
