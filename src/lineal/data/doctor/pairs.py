"""Checks of a training and a test file against each other: rows in both, columns, labels, and drift."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lineal.data.doctor.collector import Collector, percent, shown
from lineal.data.doctor.frame import Column, Frame, Texts
from lineal.data.doctor.rows import row_hashes
from lineal.data.doctor.spellings import plain

_LEAST_DRIFT_ROWS = 50
_DRIFT = 0.35


def check_pair(train: Frame, test: Frame, found: Collector, *, is_classes: bool) -> None:
    """Looks for what the two files have in common and should not, and the other way round."""
    _columns(train, test, found)
    if is_classes:
        _labels(train, test, found)
    shared = [name for name in train.texts if name in test.texts]
    for name in shared:
        _texts(train, test, train.texts[name], test.texts[name], found)
    if not shared and set(train.columns) == set(test.columns):
        _rows(train, test, found)
    for column in train.features:
        if column.name in test.columns and column.is_flat:
            _drift(train, column, test, test.columns[column.name], found)


def _columns(train: Frame, test: Frame, found: Collector) -> None:
    here, there = [*test.columns, *test.texts], [*train.columns, *train.texts]
    for name in there:
        if name not in here:
            near = [other for other in here if other not in there and plain(other) == plain(name)]
            advice = f"Add the column, or leave it out of training: lineal train {train.file} --drop {name}"
            if near:
                advice = f"Rename {near[0]!r} to {name!r}."
            found.add(
                "test-columns",
                file=test.file,
                column=name,
                what=f"the column is in {train.file} and not here",
                advice=advice,
            )


def _labels(train: Frame, test: Frame, found: Collector) -> None:
    known, label = train.labels, test.labels
    if known is None or label is None:
        return
    names = {str(level): level for level in known.levels}
    for level, name in enumerate(label.levels):
        if str(name) in names:
            continue
        near = [other for other in names if plain(other) == plain(str(name))]
        found.add(
            "test-label",
            column=label.name,
            key=name,
            count=int(label.counts[level]),
            label=shown(name),
            n=int(label.counts[level]),
            other=train.file,
            near=f" (to {near[0]!r})" if near else "",
            **test.places(label.rows_of(level)),
        )


def _texts(train: Frame, test: Frame, known: Texts, texts: Texts, found: Collector) -> None:
    rows, there = _met(known.folded, texts.folded)
    keep = texts.folded[rows] != 0
    rows, there = rows[keep], there[keep]
    if len(rows):
        found.add(
            "test-overlap",
            column=texts.name,
            count=len(rows),
            what="text",
            other=train.file,
            there=train.place(int(there[0])),
            text=f": {shown(texts.head(int(rows[0])))}",
            **test.places(rows[:5]),
        )


def _rows(train: Frame, test: Frame, found: Collector) -> None:
    known, hashes = row_hashes(train), row_hashes(test)
    if known is None or hashes is None:
        return
    rows, there = _met(known, hashes)
    # With few different values, equal rows in both files are no accident of drawing but the rule.
    if len(rows) and len(np.unique(known)) > 0.9 * len(known):
        found.add(
            "test-overlap",
            count=len(rows),
            what="row",
            other=train.file,
            there=train.place(int(there[0])),
            text="",
            **test.places(rows[:5]),
        )


def _met(
    known: NDArray[np.generic], hashes: NDArray[np.generic]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows whose hash is known, and the first row where it is."""
    distinct, first = np.unique(known, return_index=True)
    if not len(distinct):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    places = np.minimum(np.searchsorted(distinct, hashes), len(distinct) - 1)
    rows = np.flatnonzero(distinct[places] == hashes)
    return rows, first[places[rows]].astype(np.int64)


def _drift(train: Frame, column: Column, test: Frame, other: Column, found: Collector) -> None:
    """A large difference between distributions: Kolmogorov's distance, or total variation of names."""
    if min(len(column), len(other)) < _LEAST_DRIFT_ROWS:
        return
    first, second = column.numbers, other.numbers
    if first is not None and second is not None:
        how = _drift_of_numbers(first[np.isfinite(first)], second[np.isfinite(second)], train.file)
    elif first is None and second is None and len(column.levels) <= 0.2 * len(column):
        how = _drift_of_names(column, other, train.file)
    else:
        return
    if how:
        found.add("test-drift", file=test.file, column=column.name, how=how)


def _drift_of_numbers(first: NDArray[np.float64], second: NDArray[np.float64], file: str) -> str | None:
    if min(len(first), len(second)) < _LEAST_DRIFT_ROWS:
        return None
    both = np.sort(np.concatenate((first, second)))
    shares = [np.searchsorted(np.sort(part), both, side="right") / len(part) for part in (first, second)]
    if np.abs(shares[0] - shares[1]).max() < _DRIFT:
        return None
    before, after = float(np.median(first)), float(np.median(second))
    word = "larger" if after > before else "smaller" if after < before else "spread otherwise"
    return f"the values are mostly {word} than in {file} (median {after:g}, not {before:g})"


def _drift_of_names(column: Column, other: Column, file: str) -> str | None:
    shares: list[dict[str, float]] = []
    for part in (column, other):
        total = max(1, int(part.counts.sum()))
        shares.append({str(name): n / total for name, n in zip(part.levels, part.counts, strict=True)})
    names = {*shares[0], *shares[1]}
    change = {name: shares[1].get(name, 0.0) - shares[0].get(name, 0.0) for name in names}
    if sum(map(abs, change.values())) / 2 < _DRIFT:
        return None
    name = max(sorted(change), key=lambda name: abs(change[name]))
    after, before = (percent(part.get(name, 0.0)) for part in (shares[1], shares[0]))
    return f"{shown(name)} is {after} of the values, and {before} in {file}"
