"""Columns of numbers that cannot tell the label, found many at a time.

To look at one column takes dozens of calls, which cost more than its values where there are thousands of
columns. Here they are sorted as the rows of a matrix. Whoever is not acquitted here is looked at alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lineal.data.doctor.frame import Column, Ints

Floats = NDArray[np.float64]

CHANCE = float(np.log(1e-6))
PROMISING = 0.98
CORRELATED = 1 - 1e-9
# Sums in another order differ by rounding: whoever is so close to a bound is looked at alone.
_ROUNDING = 1e-6
_CELLS = 1 << 19  # of a matrix that is worked on at once
_WHOLE = 2.0**53  # larger whole numbers are not all told apart as float64


def acquitted_of_classes(columns: Sequence[Column], labels: Ints, sample: Ints) -> set[str]:
    """Columns of numbers in which neither values nor thresholds tell the label.

    ``sample`` are rows that are looked at first: a column that is not pure there is not pure anywhere.
    """
    found: set[str] = set()
    is_all = len(sample) == len(labels)
    for names, numbers in _matrices(columns, labels):
        suspects = np.arange(len(names))
        if not is_all:
            seen = _Sorted.of(numbers[:, sample], labels[sample])
            suspects = np.flatnonzero((seen.purity >= PROMISING) | seen.may_be_cut)
        if len(suspects):
            seen = _Sorted.of(numbers[suspects], labels)
            has_few_levels = seen.n_levels * 10 <= len(labels)
            is_suspect = seen.may_be_cut | ((seen.purity >= PROMISING) & has_few_levels)
            is_suspect |= (seen.purity == 1) & (seen.log_chance <= CHANCE + _ROUNDING)
            suspects = suspects[is_suspect]
        # 0 and -0 are one number and two values.
        is_zero, is_minus = numbers == 0, np.signbit(numbers)
        two_zeros = (is_zero & is_minus).any(axis=1) & (is_zero & ~is_minus).any(axis=1)
        kept = {*suspects.tolist(), *np.flatnonzero(two_zeros).tolist()}
        found |= {name for place, name in enumerate(names) if place not in kept}
    return found


def acquitted_of_numbers(columns: Sequence[Column], targets: Floats) -> set[str]:
    """Columns of numbers that are not the targets up to scale and shift."""
    found: set[str] = set()
    if not np.isfinite(targets).all():
        return found
    y = targets - targets.mean()
    for names, numbers in _matrices(columns, targets):
        with np.errstate(invalid="ignore", over="ignore"):
            x = numbers - numbers.mean(axis=1)[:, None]
            scale = np.sqrt((x * x).sum(axis=1) * (y @ y))
            is_far = np.abs((x * y).sum(axis=1)) < (CORRELATED - _ROUNDING) * scale
        is_far &= np.isfinite(scale)
        found |= {name for name, far in zip(names, is_far.tolist(), strict=True) if far}
    return found


class _Sorted:
    """What there is to see of columns once rows are sorted by their numbers, and equal ones by label.

    Attributes
    ----------
    purity : share of rows with the most frequent label of their value; missing values are one
    n_levels : how many values there are
    log_chance : logarithm of the chance that each value of an unrelated column has one label
    may_be_cut : whether there are no more runs of labels than labels, and no value has two
    """

    def __init__(self, purity: Floats, n_levels: Ints, log_chance: Floats, may_be_cut: Any) -> None:
        self.purity, self.n_levels = purity, n_levels
        self.log_chance, self.may_be_cut = log_chance, may_be_cut

    @classmethod
    def of(cls, numbers: Floats, labels: Ints) -> _Sorted:
        """(m, n) numbers, a row of the matrix for each column, and (n,) labels, -1 where there is none."""
        rows = np.argsort(labels, kind="stable")
        rows = rows[labels[rows] >= 0]
        m, n = len(numbers), len(rows)
        if n == 0:
            return cls(np.zeros(m), np.zeros(m, np.int64), np.zeros(m), np.zeros(m, bool))
        labels = labels[rows]
        order = np.argsort(numbers[:, rows], axis=1, kind="stable")
        values, its_labels = np.take_along_axis(numbers[:, rows], order, axis=1), labels[order]
        missing = np.isnan(values)  # they are last
        is_level, is_run = np.ones((m, n), dtype=bool), np.ones((m, n), dtype=bool)
        is_level[:, 1:] = (values[:, 1:] != values[:, :-1]) & ~(missing[:, 1:] & missing[:, :-1])
        differs = its_labels[:, 1:] != its_labels[:, :-1]
        is_run[:, 1:] = is_level[:, 1:] | differs
        # Of all columns one after the other: where values begin, and how often each has each label.
        starts = np.flatnonzero(is_level)
        runs = np.flatnonzero(is_run)
        sizes = np.diff(runs, append=m * n)
        most = np.maximum.reduceat(sizes, np.searchsorted(runs, starts))
        of_column = starts // n
        purity = np.bincount(of_column, weights=most, minlength=m) / n
        n_levels = is_level.sum(axis=1)
        alike = _log_alike(np.diff(starts, append=m * n), labels)
        chance = np.bincount(of_column, weights=alike, minlength=m).astype(np.float64)
        is_there = ~missing[:, 1:]
        n_changes = (differs & is_there).sum(axis=1)
        is_mixed = (differs & is_there & ~is_level[:, 1:]).any(axis=1)
        n_classes = len(np.unique(labels))
        return cls(purity, n_levels, chance, ~is_mixed & (n_changes > 0) & (n_changes < n_classes))


def _log_alike(sizes: Ints, labels: Ints) -> Floats:
    """Logarithms of the chances that so many rows drawn at random have one label."""
    logs_of_shares = np.log(np.unique(labels, return_counts=True)[1] / len(labels))
    distinct = np.flatnonzero(np.bincount(sizes))
    logs = logs_of_shares[None, :] * distinct[:, None]
    top = logs.max(axis=1)
    of_size = np.zeros(distinct[-1] + 1)
    # exp underflows below -745, so the largest term is taken out of the sum.
    of_size[distinct] = top + np.log(np.exp(logs - top[:, None]).sum(axis=1))
    chances: Floats = of_size[sizes]
    return chances


def _matrices(columns: Sequence[Column], labels: NDArray[Any]) -> Iterator[tuple[list[str], Floats]]:
    """Names and (m, n) numbers of the columns that are numbers as they came, some at a time."""
    plain = [column for column in columns if _is_plain(column)]
    step = max(1, _CELLS // max(len(labels), 1))
    for first in range(0, len(plain), step):
        part = plain[first : first + step]
        numbers = np.array([column.numbers for column in part])
        is_whole = np.array([pa.types.is_integer(column.values.type) for column in part])
        kept = np.flatnonzero(~(is_whole & (np.abs(numbers) >= _WHOLE).any(axis=1)))
        if len(kept):
            yield [part[k].name for k in kept], numbers if len(kept) == len(part) else numbers[kept]


def _is_plain(column: Column) -> bool:
    kind = column.values.type
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))
