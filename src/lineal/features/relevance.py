"""How much each column tells about the classes: one score for each, computed without densifying.

Every function takes (X, y, sample_weight) and returns (n_columns,) scores of at least 0, the larger the more
relevant. X is an array, a sparse matrix or a data frame; y holds labels. A weight of 2 counts the row twice
and a weight of 0 not at all; the unstored zeros of a sparse matrix count like any value, so sparse and dense
data have the same scores. With more than two classes the scores that compare two (``pearson``,
``signal_to_noise``, ``t_statistic``) take each class against all the others, and the largest.

====================  ===================================================================================
``information_gain``  H(class) - H(class | column), in nats: the mutual information
``chi2``              sum over classes of (observed - expected)^2 / expected, of sums of the column
``pearson``           abs correlation of the column with being of the class
``signal_to_noise``   abs (mean - mean') / (deviation + deviation') (Golub et al. 1999)
``t_statistic``       abs Student's t with one variance for both: t^2 is the F of an analysis of variance
====================  ===================================================================================

``information_gain`` needs categories. A column with at most ``max_values`` (16) different values is taken as
it is; one with more is cut at its deciles, so the zeros of a rare word are one category, the rest another.

Scores do not depend on the units of a column, ``chi2`` excepted. Deviations count as at least 2^-52 of a
column's largest number, so a column that separates the classes without any spread has a huge score, not an
infinite one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy
from sklearn.utils.validation import check_array, column_or_1d

from lineal.errors import InputError, ParameterError
from lineal.features.matrices import canonical, weights_of_rows

FloatArray = NDArray[np.float64]
_N_BINS = 10


@dataclass(frozen=True)
class _Table:
    """Columns of numbers, their stored entries one after another, beside rows of classes and weights."""

    column: NDArray[np.intp]  # of each stored entry, rising
    value: FloatArray
    row: NDArray[np.intp]
    codes: NDArray[np.intp]  # of each row
    s: FloatArray
    n_columns: int
    n_classes: int

    def sums(self, values: FloatArray) -> FloatArray:
        """(n_classes, n_columns) weighted sums over the stored entries of each class."""
        place = self.codes[self.row] * self.n_columns + self.column
        flat = np.bincount(place, self.s[self.row] * values, self.n_classes * self.n_columns)
        return np.asarray(flat, dtype=np.float64).reshape(self.n_classes, self.n_columns)

    @property
    def totals(self) -> FloatArray:
        """(n_classes,) weights of the classes."""
        return np.asarray(np.bincount(self.codes, self.s, self.n_classes), dtype=np.float64)

    def in_units(self) -> _Table:
        """Each column times a power of two that brings its largest number to about 1; nothing is rounded."""
        largest = np.zeros(self.n_columns)
        np.maximum.at(largest, self.column, np.abs(self.value))
        unit = np.ldexp(1.0, -np.clip(np.frexp(largest)[1], -1000, 1000))
        fields = (self.row, self.codes, self.s, self.n_columns, self.n_classes)
        return _Table(self.column, self.value * unit[self.column], *fields)


def _table(X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> _Table:
    X = check_array(X, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32))
    labels = column_or_1d(y)
    if len(labels) != X.shape[0]:
        raise InputError(f"X has {X.shape[0]} rows, but y has {len(labels)} labels.")
    classes, codes = np.unique(labels, return_inverse=True)
    s = weights_of_rows(sample_weight, X.shape[0])
    if sp.issparse(X):
        X = canonical(X)
    stored = sp.csc_array(X).astype(np.float64)
    stored.sort_indices()
    column = np.repeat(np.arange(stored.shape[1]), np.diff(stored.indptr))
    counts = (stored.data != 0) & (s[stored.indices] > 0)
    return _Table(
        column[counts], stored.data[counts], stored.indices[counts].astype(np.intp), codes, s, X.shape[1],
        len(classes),
    )  # fmt: skip


# ---- entropy --------------------------------------------------------------------------------------


def information_gain(
    X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, max_values: int = 16
) -> FloatArray:
    """The mutual information of each column and the class, in nats; see the module for continuous columns.

    Examples
    --------
    >>> from lineal.features import information_gain
    >>> information_gain([[0, 5], [0, 7], [1, 5], [1, 7]], ["no", "no", "yes", "yes"]).round(4)
    array([0.6931, 0.    ])
    """
    table = _table(X, y, sample_weight)
    bins, column_of_bin = _categories(table, max_values)
    K, totals = table.n_classes, table.totals
    place = bins * K + table.codes[table.row]
    filled = np.bincount(place, table.s[table.row], len(column_of_bin) * K).reshape(-1, K).astype(np.float64)
    # What a class weighs beyond its stored entries are zeros: category j of column j, with the entries that
    # were cut into the same bin.
    unstored = totals - table.sums(np.ones_like(table.value)).T
    filled[: table.n_columns] += np.where(unstored > 1e-12 * totals.sum(), unstored, 0.0)
    gain = np.bincount(column_of_bin, _terms(filled, totals), table.n_columns)
    return np.maximum(gain / totals.sum(), 0.0)


def _terms(counts: FloatArray, totals: FloatArray) -> FloatArray:
    """sum_c n_bc log(n_bc N / (n_b n_c)) for each category b."""
    expected = counts.sum(axis=1, keepdims=True) * totals / totals.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(counts > 0, counts / expected, 1.0)
    return xlogy(counts, ratio).sum(axis=1)


def _categories(table: _Table, max_values: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """A category for each stored entry, numbered over all columns, and the column of each category.

    Category j < n_columns is that of column j's zeros, which has no stored entry unless the column was cut.
    """
    order = np.lexsort((table.value, table.column))
    column, value = table.column[order], table.value[order]
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (column[1:] != column[:-1]) | (value[1:] != value[:-1])
    n_values = np.bincount(column[is_new], minlength=table.n_columns)
    has_zero = _has_zero(table)
    bins = np.empty(len(order), dtype=np.intp)
    bins[order] = table.n_columns + np.cumsum(is_new) - 1
    columns = [np.arange(table.n_columns), column[is_new]]
    start = np.searchsorted(column, np.arange(table.n_columns + 1))
    n_bins = table.n_columns + int(is_new.sum())
    for j in np.flatnonzero(n_values + has_zero > max_values):
        entries = order[start[j] : start[j + 1]]
        edges = _deciles(table.value[entries], table.s[table.row[entries]], table.s.sum())
        cut = np.searchsorted(edges, table.value[entries], side="left")
        at_zero = int(np.searchsorted(edges, 0.0, side="left"))
        bins[entries] = np.where(cut == at_zero, j, n_bins + cut)
        columns.append(np.full(len(edges) + 1, j))
        n_bins += len(edges) + 1
    return bins, np.concatenate(columns)


def _has_zero(table: _Table) -> NDArray[np.bool_]:
    n_stored = np.bincount(table.column, minlength=table.n_columns)
    return n_stored < np.count_nonzero(table.s > 0)


def _deciles(value: FloatArray, weight: FloatArray, total: float) -> FloatArray:
    """The values at tenths of the weight, with all that is not given as zeros; each once."""
    missing = total - weight.sum()
    value = np.append(value, 0.0)
    weight = np.append(weight, missing if missing > 1e-12 * total else 0.0)
    order = np.argsort(value, kind="stable")
    reached = np.cumsum(weight[order])
    # A hair less than a tenth: sums of weights round.
    tenths = total * (np.arange(1, _N_BINS) / _N_BINS) * (1 - 1e-12)
    return np.unique(value[order][np.searchsorted(reached, tenths)])


# ---- sums -----------------------------------------------------------------------------------------


def chi2(X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> FloatArray:
    """The chi-squared statistic of the sums of each column over the classes; X >= 0, counts or presence.

    As ``sklearn.feature_selection.chi2``. A column of zeros scores 0.

    Examples
    --------
    >>> from lineal.features import chi2
    >>> chi2([[1, 1], [1, 1], [0, 1], [0, 1]], [0, 0, 1, 1])
    array([2., 0.])
    """
    table = _table(X, y, sample_weight)
    if (table.value < 0).any():
        j = int(table.column[table.value < 0][0])
        raise InputError(
            f"chi2 needs values >= 0, such as counts, but column {j} has one below. "
            "Use information_gain, or t_statistic."
        )
    observed = table.sums(table.value)
    expected = table.totals[:, None] / table.totals.sum() * observed.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(expected > 0, (observed - expected) / expected, 0.0)
    return np.asarray((share * (observed - expected)).sum(axis=0))


@dataclass(frozen=True)
class _Moments:
    """Of each column, of a class and of all other rows: (n_classes, n_columns) arrays."""

    weight: FloatArray  # (n_classes, 1)
    other_weight: FloatArray
    mean: FloatArray
    other_mean: FloatArray
    squares: FloatArray  # weighted squares around the mean
    other_squares: FloatArray


def _moments(table: _Table) -> _Moments:
    n, total = table.totals[:, None], table.totals.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        sums = table.sums(table.value)
        mean = np.where(n > 0, sums / n, 0.0)
        rest = total - n
        other = np.where(rest > 1e-12 * total, (sums.sum(axis=0) - sums) / rest, 0.0)
    zeros = np.maximum(n - table.sums(np.ones_like(table.value)), 0.0)
    around = table.sums((table.value - mean[table.codes[table.row], table.column]) ** 2) + zeros * mean**2
    # The others' squares: those within each other class, and those of its mean around theirs.
    within = around.sum(axis=0) - around
    between = np.stack([(n * (mean - other[c]) ** 2).sum(axis=0) - n[c] * (mean[c] - other[c]) ** 2
                        for c in range(len(n))])  # fmt: skip
    return _Moments(n, rest, mean, other, around, np.maximum(within + between, 0.0))


def pearson(X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> FloatArray:
    """The largest absolute correlation of each column with being of a class; constants score 0.

    Examples
    --------
    >>> from lineal.features import pearson
    >>> pearson([[1.0, 2.0], [2.0, 2.0], [3.0, 2.0]], ["a", "a", "b"]).round(4)
    array([0.866, 0.   ])
    """
    table = _table(X, y, sample_weight)
    scores = [_correlation(table, (table.codes == c).astype(np.float64)) for c in range(table.n_classes)]
    return np.abs(scores).max(axis=0)


def pearson_of_numbers(X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> FloatArray:
    """The correlation, with its sign, of each column with numbers; constants have 0."""
    numbers = np.asarray(column_or_1d(y), dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise InputError("y must be finite numbers to be correlated with.")
    return _correlation(_table(X, np.zeros(len(numbers)), sample_weight), numbers)


def _correlation(table: _Table, numbers: FloatArray) -> FloatArray:
    table = table.in_units()
    s, total = table.s / table.s.max(), float(table.s.sum() / table.s.max())
    largest = np.abs(numbers).max(initial=0.0)
    numbers = numbers / largest if largest > 0 else numbers
    numbers = numbers - np.average(numbers, weights=s)
    weight = s[table.row]
    mean = np.bincount(table.column, weight * table.value, table.n_columns) / total
    around = table.value - mean[table.column]
    zeros = np.maximum(total - np.bincount(table.column, weight, table.n_columns), 0.0)
    squares = np.bincount(table.column, weight * around**2, table.n_columns) + zeros * mean**2
    product = np.bincount(table.column, weight * table.value * numbers[table.row], table.n_columns)
    size = np.sqrt(squares * float(np.sum(s * numbers**2)))
    # Below this a column, or the targets, vary by rounding alone.
    is_constant = size <= 2.0**-50 * total * np.maximum(np.abs(mean), 2.0**-50)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(is_constant, 0.0, np.clip(product / size, -1.0, 1.0))


def signal_to_noise(X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> FloatArray:
    """The largest |mean - mean'| / (deviation + deviation') of a class against the others.

    Deviations are those of the data, divided by the weight of the class.

    Examples
    --------
    >>> from lineal.features import signal_to_noise
    >>> signal_to_noise([[1.0], [3.0], [6.0], [8.0]], [0, 0, 1, 1])
    array([2.5])
    """
    of = _moments(_table(X, y, sample_weight).in_units())
    with np.errstate(invalid="ignore", divide="ignore"):
        noise = np.sqrt(of.squares / of.weight) + np.sqrt(of.other_squares / of.other_weight)
        score = np.abs(of.mean - of.other_mean) / np.maximum(noise, 2.0**-52)
    return _largest(score, of)


def t_statistic(X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> FloatArray:
    """The largest |t| of a class against the others, with one variance for both.

    With two classes t^2 is the F of ``sklearn.feature_selection.f_classif``.

    Examples
    --------
    >>> from lineal.features import t_statistic
    >>> t_statistic([[1.0], [3.0], [6.0], [8.0]], [0, 0, 1, 1]).round(4)
    array([3.5355])
    """
    table = _table(X, y, sample_weight)
    freedom = float(table.s.sum()) - 2.0
    if freedom <= 0:
        raise InputError(
            f"t_statistic needs rows of total weight above 2, but n_samples = {len(table.s)} rows weigh "
            f"{freedom + 2:g}."
        )
    of = _moments(table.in_units())
    with np.errstate(invalid="ignore", divide="ignore"):
        deviation = np.sqrt((of.squares + of.other_squares) / freedom)
        error = np.maximum(deviation, 2.0**-52) * np.sqrt(1 / of.weight + 1 / of.other_weight)
        score = np.abs(of.mean - of.other_mean) / error
    return _largest(score, of)


def _largest(score: FloatArray, of: _Moments) -> FloatArray:
    """Over classes that have rows and others beside them; 0 where there are none."""
    compares = (of.weight > 0) & (of.other_weight > 1e-12 * of.weight.sum())
    return np.where(compares, score, 0.0).max(axis=0)


SCORES: dict[str, Callable[..., FloatArray]] = {
    "information_gain": information_gain,
    "chi2": chi2,
    "pearson": pearson,
    "signal_to_noise": signal_to_noise,
    "t": t_statistic,
}


def score_columns(name: str, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> FloatArray:
    """The scores by their name."""
    if name not in SCORES:
        raise ParameterError(f"A score must be one of {', '.join(map(repr, SCORES))}, got {name!r}.")
    return SCORES[name](X, y, sample_weight)
