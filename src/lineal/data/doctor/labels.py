"""Checks of the labels: missing, misspelt, rare, lopsided, sorted, or numbers that are no classes."""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np

from lineal.data.doctor.codes import mended
from lineal.data.doctor.collector import Collector, percent, shown
from lineal.data.doctor.frame import Column, Frame, is_number
from lineal.data.doctor.spellings import MISSING_WORDS, closest, plain

# Whole numbers with more values than this are numbers to predict, not names of classes.
MOST_NUMBERED_CLASSES = 30
_MAJORITY = 0.8
_MANY_TIMES = 10
_FEW_ROWS = 5
_LEAST_SORTED = 20


def is_target(column: Column, most_classes: float = MOST_NUMBERED_CLASSES) -> bool:
    """Whether labels are numbers to predict: with fractions, or more of them than classes would have."""
    if not (is_number(column.values.type) or column.is_string):
        return False
    numbers = column.numbers
    if numbers is None or not column.levels:
        return False
    present = numbers[~np.isnan(numbers)]
    if len(present) == 0:
        return False
    finite = present[np.isfinite(present)]
    return (
        len(finite) < len(present)
        or bool((finite != np.round(finite)).any())
        or (len(column.levels) > most_classes)
    )


def check_labels(frame: Frame, found: Collector, task: str | None) -> bool:
    """Looks at the labels; returns whether they are classes, which other checks need to know."""
    label = frame.labels
    if label is None:
        return False
    _missing(frame, label, found)
    if not label.levels:
        return False
    # Whole numbers are all that LIBSVM has for names of classes.
    most = np.inf if frame.format in ("libsvm", "vw") else MOST_NUMBERED_CLASSES
    if task == "regression" or (task is None and is_target(label, most)):
        _numbers(frame, label, found, said=task is None)
        return False
    if len(label.levels) == 1:
        found.add("label-constant", column=label.name, label=shown(label.levels[0]))
        return True
    misspelt = _variants(frame, label, found) | _typos(frame, label, found)
    _rare(frame, label, found, misspelt)
    _imbalance(label, found, misspelt)
    _sorted(frame, label, found)
    return True


def _missing(frame: Frame, label: Column, found: Collector) -> None:
    rows = np.flatnonzero(label.codes < 0)
    if len(rows):
        found.add("label-missing", column=label.name, count=len(rows), spelled="", **frame.places(rows[:5]))
    for level, value in enumerate(label.levels):
        is_word = isinstance(value, str) and plain(value) in MISSING_WORDS
        if is_word and 2 * label.counts[level] < len(label):
            found.add(
                "label-missing",
                column=label.name,
                key=value,
                count=int(label.counts[level]),
                spelled=f" but {shown(value)}, which would be a class",
                **frame.places(label.rows_of(level)),
            )


def _numbers(frame: Frame, label: Column, found: Collector, *, said: bool) -> None:
    numbers = label.numbers
    if numbers is None:
        return
    is_infinite = np.isinf(numbers)
    if is_infinite.any():
        rows = np.flatnonzero(is_infinite)
        text = f"{numbers[rows[0]]:g}"
        found.add("label-not-finite", column=label.name, count=len(rows), text=text, **frame.places(rows[:5]))
    finite = numbers[np.isfinite(numbers)]
    if said and len(finite):
        found.add(
            "label-numeric", column=label.name, n=len(label.levels), low=finite.min(), high=finite.max()
        )


def _command(frame: Frame, wrong: str, right: str, rows: Any, count: int) -> str:
    """An edit that puts a label right, and touches nothing else of its lines."""
    edit = _edit(frame, wrong, right)
    if edit is None or frame.lines is None or count > len(rows):
        return f"in pandas, table[{frame.label!r}].replace({wrong!r}, {right!r})"
    edits = ";".join(f"{frame.lines[row]}{edit}" for row in rows)
    return f"sed -i {shlex.quote(edits)} {shlex.quote(frame.file)}"


def _edit(frame: Frame, wrong: str, right: str) -> str | None:
    """What sed does to a line whose label stands first or last; None where a pattern cannot be sure of it.

    The same letters may stand in a text before the label, and a field between others begins and ends in no
    place that a pattern knows, since commas may be in quotes.
    """
    is_known = frame.format in ("csv", "tsv") and frame.is_lines and len(frame.names) > 1
    if not is_known or any(sign in wrong + right for sign in (frame.delimiter, '"', "\n", "\r")):
        return None
    old, between = (
        "".join(f"\\{sign}" if sign in "\\/.*[^$" else sign for sign in text)
        for text in (wrong, frame.delimiter)
    )
    between = between.replace("\t", "\\t")
    new = "".join(f"\\{sign}" if sign in "\\/&" else sign for sign in right)
    if frame.label == frame.names[-1]:
        return rf's/{between}\("*\){old}\("*\r*\)$/{between}\1{new}\2/'
    if frame.label == frame.names[0]:
        return rf's/^\("*\){old}\("*\){between}/\1{new}\2{between}/'
    return None


def _variants(frame: Frame, label: Column, found: Collector) -> set[int]:
    """Labels that differ in capitals and space alone from a more frequent one."""
    groups: dict[str, list[int]] = {}
    for level, value in enumerate(label.levels):
        if isinstance(value, str):
            groups.setdefault(plain(value), []).append(level)
    wrong: set[int] = set()
    for members in groups.values():
        best = max(members, key=lambda level: (label.counts[level], -level))
        for level in members:
            if level == best:
                continue
            wrong.add(level)
            this, other = label.levels[level], label.levels[best]
            rows, count = label.rows_of(level), int(label.counts[level])
            differs = [
                *(["capitals"] if " ".join(this.split()) != " ".join(other.split()) else []),
                *(["space"] if this.casefold() != other.casefold() else []),
            ]
            found.add(
                "label-variant",
                column=label.name,
                key=this,
                count=count,
                label=shown(this),
                other=shown(other),
                what=" and ".join(differs),
                n_other=int(label.counts[best]),
                command=_command(frame, this, other, rows, count),
                examples=[this],
                **frame.places(rows),
            )
    return wrong


def _typos(frame: Frame, label: Column, found: Collector) -> set[int]:
    """Rare labels a letter or two from a frequent one."""
    wrong: set[int] = set()
    names = {level: value for level, value in enumerate(label.levels) if isinstance(value, str)}
    for level, best in closest(names, label.counts).items():
        wrong.add(level)
        rows, count = label.rows_of(level), int(label.counts[level])
        found.add(
            "label-typo",
            column=label.name,
            key=names[level],
            count=count,
            label=shown(names[level]),
            n=count,
            rows_word="row" if count == 1 else "rows",
            other=shown(names[best]),
            n_other=int(label.counts[best]),
            command=_command(frame, names[level], names[best], rows, count),
            examples=[names[level]],
            **frame.places(rows),
        )
    return wrong


def _rare(frame: Frame, label: Column, found: Collector, misspelt: set[int]) -> None:
    for level in np.flatnonzero(label.counts < _FEW_ROWS).tolist():
        if level in misspelt:
            continue
        n = int(label.counts[level])
        code = "label-single" if n == 1 else "label-rare"
        name = label.levels[level]
        places = frame.places(label.rows_of(level))
        found.add(code, column=label.name, key=name, count=n, label=shown(name), n=n, **places)


def _imbalance(label: Column, found: Collector, misspelt: set[int]) -> None:
    total = int(label.counts.sum())
    meant = [level for level in range(len(label.levels)) if level not in misspelt]
    large = max(meant, key=lambda level: label.counts[level])
    small = min(meant, key=lambda level: label.counts[level])
    n_large, n_small = int(label.counts[large]), int(label.counts[small])
    is_lopsided = len(label.levels) <= 20 and n_large > _MANY_TIMES * n_small and n_large > 0.5 * total
    if large != small and total >= _LEAST_SORTED and (n_large >= _MAJORITY * total or is_lopsided):
        found.add(
            "label-imbalance",
            column=label.name,
            share=percent(n_large / total),
            largest=shown(label.levels[large]),
            n_largest=n_large,
            smallest=shown(label.levels[small]),
            n_smallest=n_small,
        )


def is_sorted(codes: Any) -> bool:
    """Whether classes lie in blocks, where mixed rows would have many more runs."""
    codes = codes[codes >= 0]
    n_classes = len(np.unique(codes))
    if len(codes) < _LEAST_SORTED or n_classes < 2:
        return False
    n_runs = 1 + int((codes[1:] != codes[:-1]).sum())
    shares = np.bincount(codes) / len(codes)
    expected = 1 + (len(codes) - 1) * (1 - float((shares**2).sum()))
    return n_runs <= n_classes + n_classes // 10 and expected >= 3 * n_runs


def _sorted(frame: Frame, label: Column, found: Collector) -> None:
    if frame.files is not None or not is_sorted(label.codes):
        return
    codes = label.codes[label.codes >= 0]
    first_run = int(np.argmax(codes != codes[0]))
    file, out = shlex.quote(frame.file), shlex.quote(mended(frame.file))
    shuffle = f"shuf {file} > {out}"
    if frame.has_header:
        shuffle = f"(head -n 1 {file}; tail -n +2 {file} | shuf) > {out}"
    if not frame.is_lines:
        shuffle = "table.sample(frac=1, random_state=0) in pandas"
    first, then = (shown(label.levels[code]) for code in (codes[0], codes[first_run]))
    runs = f"the first {first_run:,} are {first}, then {then} follows"
    found.add("sorted-by-label", column=label.name, runs=runs, shuffle=shuffle)
