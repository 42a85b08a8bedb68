"""Columns that tell the label: by a label to a value, by a threshold, by the order of rows, or by saying it.

A column is accused only if chance does not explain it: were it unrelated to the label, it would look like
this once in a million times at most.
"""

from __future__ import annotations

from math import lgamma
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.data.doctor.arrow import row_numbers
from lineal.data.doctor.collector import Collector, percent, shown
from lineal.data.doctor.frame import Column, Frame, Ints, encoded
from lineal.data.doctor.labels import is_sorted
from lineal.data.doctor.many_columns import (
    CHANCE,
    CORRELATED,
    PROMISING,
    acquitted_of_classes,
    acquitted_of_numbers,
)

_SAMPLE = 1000
_NEARLY = 0.995
_LEAST_ROWS = 20


def check_leaks(frame: Frame, found: Collector, *, is_classes: bool) -> None:
    """Looks for columns that decide the label alone."""
    label = frame.labels
    if label is None or len(label) < _LEAST_ROWS:
        return
    columns = [column for column in frame.features if column.is_flat]
    if is_classes:
        if len(label.levels) > 1:
            acquitted = acquitted_of_classes(columns, label.codes, drawn(len(label), _SAMPLE))
            for column in columns:
                if column.name not in acquitted:
                    _check_classes(column, label, found)
    elif label.numbers is not None:
        acquitted = acquitted_of_numbers(columns, label.numbers)
        for column in columns:
            if column.name not in acquitted:
                _check_target(column, label, found)


def drawn(n_rows: int, size: int) -> Ints:
    """Some rows, in order; drawn, for labels that alternate would be all alike in every tenth row."""
    if n_rows <= size:
        return np.arange(n_rows)
    return np.unique(np.random.default_rng(0).integers(0, n_rows, size))


def _check_classes(column: Column, label: Column, found: Collector) -> None:
    n_classes = len(label.levels)
    # What is pure is pure in a sample: most columns are acquitted without a look at all rows.
    rows = drawn(len(label), _SAMPLE)
    is_all = len(rows) == len(label)
    sampled = column.codes if is_all else encoded(column.values.take(row_numbers(rows)))[0]
    is_promising = _purity(sampled, label.codes[rows], n_classes)[0] >= PROMISING
    numbers = column.numbers
    has_threshold = numbers is not None and _in_intervals(numbers[rows], label.codes[rows])
    if not (is_promising or has_threshold):
        return
    how = _by_level(column, label) or (_by_threshold(numbers, column, label) if numbers is not None else None)
    if how is not None:
        found.add("decides-label", column=column.name, target=label.name, how=how)
    elif is_promising:
        _nearly(column, label, found)


def _purity(codes: Ints, labels: Ints, n_classes: int) -> tuple[float, NDArray[np.int64]]:
    """Share of rows with the most frequent label of their value, and the table of values and labels."""
    known = (labels >= 0) & (codes >= -1)
    codes, labels = codes[known] + 1, labels[known]
    if not len(codes):
        return 0.0, np.zeros((0, n_classes), dtype=np.int64)
    n_levels = int(codes.max()) + 1
    if n_levels * n_classes > 50_000_000:
        return 0.0, np.zeros((0, n_classes), dtype=np.int64)
    joint = np.bincount(codes * n_classes + labels, minlength=n_levels * n_classes)
    joint = joint.reshape(n_levels, n_classes)
    return float(joint.max(axis=1).sum() / len(codes)), joint


def _log_chance(joint: NDArray[np.int64]) -> float:
    """Logarithm of the chance that all values of an unrelated column have one label each."""
    sizes = joint.sum(axis=1)
    shares = joint.sum(axis=0) / joint.sum()
    distinct, counts = np.unique(sizes[sizes > 0], return_counts=True)
    # exp underflows below -745, so the largest term is taken out of the sum.
    logs = np.log(shares[shares > 0])[None, :] * distinct[:, None]
    top = logs.max(axis=1)
    return float((counts * (top + np.log(np.exp(logs - top[:, None]).sum(axis=1)))).sum())


def _by_level(column: Column, label: Column) -> str | None:
    share, joint = _purity(column.codes, label.codes, len(label.levels))
    if share < 1 or _log_chance(joint) > CHANCE:
        return None
    level = int(joint[1:].sum(axis=1).argmax()) if len(joint) > 1 else -1
    if level < 0:
        return None
    value, its_label = column.levels[level], label.levels[int(joint[level + 1].argmax())]
    if (column.codes < 0).any() and len(column.levels) == 1:
        return f"rows with a value are {shown(its_label)}, rows without are not"
    return f"each of its {len(column.levels):,} values has one label ({shown(value)} has {shown(its_label)})"


def _runs(numbers: NDArray[np.float64], labels: Ints) -> Ints | None:
    """Labels of runs when rows are sorted by number; None if equal numbers have different labels."""
    known = ~np.isnan(numbers) & (labels >= 0)
    if known.sum() < min(_LEAST_ROWS, len(labels)):
        return None
    numbers, labels = numbers[known], labels[known]
    order = np.argsort(numbers, kind="stable")
    numbers, labels = numbers[order], labels[order]
    changes = labels[1:] != labels[:-1]
    if (changes & (numbers[1:] == numbers[:-1])).any():
        return None
    return labels[np.concatenate(([True], changes))]


def _in_intervals(numbers: NDArray[np.float64], labels: Ints) -> bool:
    """Whether each class has an interval of its own."""
    runs = _runs(numbers, labels)
    return runs is not None and len(runs) > 1 and len(np.unique(runs)) == len(runs)


def _by_threshold(numbers: NDArray[np.float64], column: Column, label: Column) -> str | None:
    if np.isnan(numbers).mean() > 0.05 or not _in_intervals(numbers, label.codes):
        return None
    counts = label.counts[label.counts > 0]
    log_chance = sum(lgamma(n + 1) for n in counts) - lgamma(counts.sum() + 1) + lgamma(len(counts) + 1)
    if log_chance > CHANCE:
        return None
    order = np.argsort(numbers)
    if is_sorted(label.codes) and (np.diff(numbers[~np.isnan(numbers)]) >= 0).all():
        return "it goes up with the rows, and they are sorted by label"
    first, last = (shown(label.levels[label.codes[order[place]]]) for place in (0, len(counts) and -1))
    if len(counts) > 2:
        return f"each label has a range of its values to itself, from {first} to {last}"
    low_class = label.codes[order[0]]
    low = float(np.nanmax(numbers[label.codes == low_class]))
    high = float(np.nanmin(numbers[(label.codes != low_class) & (label.codes >= 0)]))
    return f"up to {low:g} it is {first}, from {high:g} on {last}"


def _nearly(column: Column, label: Column, found: Collector) -> None:
    share, joint = _purity(column.codes, label.codes, len(label.levels))
    counts = joint.sum(axis=0)
    baseline = float(counts.max() / max(counts.sum(), 1))
    n_levels = int((joint.sum(axis=1) > 0).sum())
    # Many values of few rows each are nearly pure whatever they mean.
    if share < _NEARLY or baseline > 0.95 or n_levels * 10 > len(label):
        return
    found.add(
        "nearly-decides-label",
        column=column.name,
        target=label.name,
        share=percent(share),
        baseline=percent(baseline),
    )


def _check_target(column: Column, label: Column, found: Collector) -> None:
    """Of numbers to predict: a column that is the label up to scale and shift."""
    numbers, targets = column.numbers, label.numbers
    if numbers is None or targets is None:
        return
    known = np.isfinite(numbers) & np.isfinite(targets)
    if known.sum() < _LEAST_ROWS:
        return
    x, y = numbers[known], targets[known]
    x, y = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((x @ x) * (y @ y)))
    if scale > 0 and abs(float(x @ y)) >= CORRELATED * scale:
        how = "it is the label itself, up to scale and shift"
        found.add("decides-label", column=column.name, target=label.name, how=how)


def label_in_text(texts: list[str], labels: list[Any]) -> str | None:
    """How texts say their labels: ``"begins"``, ``"contains"``, or None if they do not in almost all rows."""
    pairs = [(text.casefold(), str(label).casefold()) for text, label in zip(texts, labels, strict=True)]
    pairs = [(text, label) for text, label in pairs if len(label) > 1 or not label.isdigit()]
    if len(pairs) < _LEAST_ROWS or len({label for _, label in pairs}) < 2:
        return None
    n_begin = sum(text.lstrip(" \"'[(<_").startswith(label) for text, label in pairs)
    if n_begin >= 0.95 * len(pairs):
        return "begins"
    # A label of a letter or two is in almost every text.
    if min(len(label) for _, label in pairs) > 2:
        n_contain = sum(label in text for text, label in pairs)
        labels_all = list({label for _, label in pairs})[:20]
        n_other = sum(any(o in text for o in labels_all if o != label) for text, label in pairs)
        if n_contain >= 0.95 * len(pairs) and n_other <= 0.5 * len(pairs):
            return "contains"
    return None
