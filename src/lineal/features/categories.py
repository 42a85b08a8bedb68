"""Columns of numbers as categories, and the tables of categories and classes that information is made of.

A column with at most ``max_values`` different values is taken as it is; one with more is cut at its deciles.
Categorised of zeros are never stored: what a class weighs beyond its stored entries is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.deferred import special

FloatArray = NDArray[np.float64]
Ints = NDArray[np.int64]

_N_BINS = 10
_MOST_WHOLE = 1 << 20  # whole numbers in a range of at most this number themselves
_ROUNDING = 1e-12  # of all weight: less than this is what sums of weights round by
# Tenths of the weight, a hair less: sums of weights round.
_TENTHS = np.arange(1, _N_BINS) / _N_BINS * (1 - 1e-9)


def summed(key: Ints, weight: FloatArray | None) -> tuple[Ints, FloatArray]:
    """Each key once, in order, with the sum of its weights; None: every weight is 1."""
    if weight is None:
        key = np.sort(key)  # several times faster than finding the order
    else:
        order = np.argsort(key, kind="stable")
        key, weight = key[order], weight[order]
    is_first = np.ones(len(key), dtype=bool)
    is_first[1:] = key[1:] != key[:-1]
    first = np.flatnonzero(is_first)
    if weight is None:
        return key[first], np.diff(first, append=len(key)).astype(np.float64)
    return key[first], np.add.reduceat(weight, first) if len(first) else weight


def _added(place: NDArray[Any], weight: FloatArray, n_places: int) -> FloatArray:
    return np.bincount(place, weight, n_places).astype(np.float64, copy=False)


@dataclass(frozen=True)
class Categorised:
    """Entries of columns that are not in the category of the column's zeros; ``key`` names the category."""

    row: NDArray[np.intp]
    column: NDArray[np.int32]
    key: Ints  # column * n_codes + a number within the column
    n_codes: int
    n_columns: int
    s: FloatArray  # weights of all rows

    def taken(self, entries: NDArray[Any]) -> Categorised:
        """Some entries alone."""
        fields = (self.row[entries], self.column[entries], self.key[entries])
        return Categorised(*fields, self.n_codes, self.n_columns, self.s)

    def numbered(self) -> Categorised:
        """The same with small numbers for keys: 1, 2, ... in each column, 0 being its zeros."""
        found, place = np.unique(self.key, return_inverse=True)
        column = found // self.n_codes
        start = np.searchsorted(column, np.arange(self.n_columns))
        number = np.arange(len(found)) - start[column] + 1
        n_codes = int(number.max(initial=0)) + 1
        key = self.column * np.int64(n_codes) + number[place]
        return Categorised(self.row, self.column, key, n_codes, self.n_columns, self.s)

    def counted(self, codes: NDArray[Any], n_classes: int) -> Cells:
        """Their table with classes of all rows."""
        common = self.s[0] if (self.s == self.s[0]).all() else None
        totals = _added(codes, self.s, n_classes)
        weight = self.s[self.row] if common is None else None
        key, found = summed(self.key * n_classes + codes[self.row], weight)
        if common is not None:
            found *= common
        return Cells.of(key, found, totals, self.n_codes, self.n_columns)


@dataclass(frozen=True)
class Cells:
    """The cells of a table of categories and classes, for many columns at once, that some row is in.

    Classes all of whose rows are 0 in a column are one class there, which changes no measure of dependence.
    """

    category: Ints  # of each cell
    weight: FloatArray
    class_weight: FloatArray  # of the cell's class
    column_of_category: Ints
    weight_of_category: FloatArray
    n_columns: int
    totals: FloatArray  # (n_classes,)

    @classmethod
    def of(cls, key: Ints, weight: FloatArray, totals: FloatArray, n_codes: int, n_columns: int) -> Cells:
        """From the cells that are stored: keys are (column * n_codes + number) * n_classes + class."""
        K, N = len(totals), totals.sum()
        name, code = np.divmod(key, K)
        is_first = np.ones(len(name), dtype=bool)
        is_first[1:] = name[1:] != name[:-1]
        category = np.cumsum(is_first) - 1
        column = name // n_codes
        pair, stored = summed(column * K + code, weight)
        column_of_pair, code_of_pair = np.divmod(pair, K)
        zeros = N - _added(column_of_pair, stored, n_columns)
        has_zeros = zeros > _ROUNDING * N
        # The classes without an entry in a column, as one; columns without entries have this cell alone.
        rest = N - _added(column_of_pair, totals[code_of_pair], n_columns)
        rest = np.where(rest > _ROUNDING * N, rest, 0.0)
        beside = totals[code_of_pair] - stored
        is_cell = has_zeros[column_of_pair] & (beside > _ROUNDING * N)
        is_rest = has_zeros & (rest > 0)
        # Zeros come behind the other categories.
        n_stored = int(is_first.sum())
        place = n_stored + np.cumsum(has_zeros) - 1
        return cls(
            np.concatenate([category, place[column_of_pair[is_cell]], place[is_rest]]),
            np.concatenate([weight, beside[is_cell], rest[is_rest]]),
            np.concatenate([totals[code], totals[code_of_pair[is_cell]], rest[is_rest]]),
            np.concatenate([column[is_first], np.flatnonzero(has_zeros)]),
            np.concatenate([_added(category, weight, n_stored), zeros[has_zeros]]),
            n_columns,
            totals,
        )

    @property
    def _expected(self) -> FloatArray:
        """Weights of the cells if categories and classes were independent."""
        return self.weight_of_category[self.category] * (self.class_weight / self.totals.sum())

    def _over_columns(self, of_cells: FloatArray) -> FloatArray:
        return _added(self.column_of_category[self.category], of_cells, self.n_columns)

    def information(self) -> FloatArray:
        """sum p(x, y) log(p(x, y) / (p(x) p(y))), in nats."""
        terms = special.xlogy(self.weight, self.weight / self._expected)
        return np.maximum(self._over_columns(terms) / self.totals.sum(), 0.0)

    def chi2(self) -> FloatArray:
        """sum (observed - expected)^2 / expected over all cells, also those that nothing is in."""
        expected = self._expected
        seen = self._over_columns((self.weight - expected) ** 2 / expected)
        covered = _added(self.category, self.class_weight, len(self.weight_of_category))
        empty = np.maximum(1.0 - covered / self.totals.sum(), 0.0)
        empty = np.where(empty > _ROUNDING, empty, 0.0) * self.weight_of_category
        return seen + _added(self.column_of_category, empty, self.n_columns)

    def entropy(self) -> FloatArray:
        """H of the categories of each column, in nats."""
        share = self.weight_of_category / self.totals.sum()
        return _added(self.column_of_category, special.entr(share), self.n_columns)

    def freedom(self) -> FloatArray:
        """(categories - 1)(classes - 1) of each column."""
        n_categories = np.bincount(self.column_of_category, minlength=self.n_columns)
        return (n_categories - 1.0) * (np.count_nonzero(self.totals) - 1.0)


# ---- from numbers to categories -------------------------------------------------------------------


def categories(X: Any, s: FloatArray, max_values: int, n_classes: int) -> Categorised:
    """The categories of the columns of a CSR matrix without stored zeros."""
    n_rows, n_columns = X.shape
    row = np.repeat(np.arange(n_rows), np.diff(X.indptr))
    column, room = X.indices, (2**62 // max(n_columns, 1)) // max(n_classes, 1)
    code, n_codes, zero = _codes(X.data, room)
    entries = Categorised(row, column, column * np.int64(n_codes) + code, n_codes, n_columns, s)
    has_zero = np.bincount(column, minlength=n_columns) < n_rows
    weight = None if (s == s[0]).all() else s[row]
    value, of_value = summed(entries.key, weight)
    of_value = of_value * s[0] if weight is None else of_value
    n_values = np.bincount(value // n_codes, minlength=n_columns)
    is_cut = n_values + has_zero > max_values
    return _cut(entries, value, of_value, is_cut, is_cut & has_zero, zero) if is_cut.any() else entries


def _codes(value: NDArray[Any], room: int) -> tuple[Ints, int, int]:
    """A whole number >= 0 for each value, in their order; how many there can be; and what 0 would have."""
    least, greatest = float(value.min(initial=0.0)), float(value.max(initial=0.0))
    if greatest - least < min(_MOST_WHOLE, room) and (value == np.trunc(value)).all():
        return value.astype(np.int64) - int(least), int(greatest - least) + 1, -int(least)
    if value.dtype == np.float32 and room >= 2**32:
        # The bits of positive floats rise with them, those of negative ones fall.
        bits = value.view(np.int32)
        rising = np.where(bits < 0, bits ^ np.int32(0x7FFFFFFF), bits)
        return rising.astype(np.int64) + 2**31, 2**32, 2**31
    found, place = np.unique(np.append(value, 0.0), return_inverse=True)
    return place[:-1].astype(np.int64), len(found), int(place[-1])


def _cut(
    entries: Categorised,
    value: Ints,
    weight: FloatArray,
    is_cut: NDArray[np.bool_],
    is_cut_with_zero: NDArray[np.bool_],
    zero: int,
) -> Categorised:
    """Columns with many values by their deciles; what falls into the bin of the zeros leaves."""
    n_codes, N = entries.n_codes, entries.s.sum()
    column = value // n_codes
    missing = np.maximum(N - _added(column, weight, entries.n_columns), 0.0)
    with_zero = np.flatnonzero(is_cut_with_zero)
    is_wanted = is_cut[column]
    value = np.concatenate([value[is_wanted], with_zero * np.int64(n_codes) + zero])
    weight = np.concatenate([weight[is_wanted], missing[with_zero]])
    order = np.argsort(value, kind="stable")
    value, weight = value[order], weight[order]
    edge = value[_is_edge(value // n_codes, weight, N)]
    first = np.searchsorted(edge // n_codes, np.arange(entries.n_columns))
    at_zero = np.full(entries.n_columns, -1, dtype=np.int64)
    at_zero[with_zero] = np.searchsorted(edge, with_zero * np.int64(n_codes) + zero) - first[with_zero]
    # A bin's number is how many edges lie below it: less than the column has values, so the keys have room.
    mine = np.flatnonzero(is_cut[entries.column])
    place = entries.column[mine]
    cut = np.searchsorted(edge, entries.key[mine]) - first[place]
    key = entries.key.copy()
    key[mine] = place * np.int64(n_codes) + cut
    is_kept = np.ones(len(key), dtype=bool)
    is_kept[mine] = cut != at_zero[place]
    kept = Categorised(entries.row, entries.column, key, n_codes, entries.n_columns, entries.s)
    return kept.taken(is_kept)


def _is_edge(column: Ints, weight: FloatArray, total: float) -> NDArray[np.bool_]:
    """Whether a tenth of the weight of all rows is reached at a value; values rise within each column."""
    reached = np.cumsum(weight)  # exact for whole weights, over all columns
    is_first = np.ones(len(column), dtype=bool)
    is_first[1:] = column[1:] != column[:-1]
    first = np.flatnonzero(is_first)[np.cumsum(is_first) - 1]
    reached = reached - (reached[first] - weight[first])
    passed = np.searchsorted(total * _TENTHS, reached, side="right")
    return passed > np.searchsorted(total * _TENTHS, reached - weight, side="right")


def classes_of_numbers(y: FloatArray, s: FloatArray, max_values: int) -> NDArray[np.int32]:
    """Numbers as classes: each value one, or their deciles where there are more than ``max_values``."""
    found, place = np.unique(y, return_inverse=True)
    if len(found) <= max_values:
        return place.astype(np.int32)
    weight = _added(place, s, len(found))
    edge = found[_is_edge(np.zeros(len(found), dtype=np.int64), weight, float(s.sum()))]
    return np.searchsorted(edge, y).astype(np.int32)
