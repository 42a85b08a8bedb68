"""What a scaler learns about each column: least, greatest, mean and deviation, dense or sparse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.deferred import sparse as sp

FloatArray = NDArray[np.float64]

_CELLS = 1 << 18  # of columns that are looked at together: they stay in a cache


@dataclass(frozen=True)
class Ranges:
    """Of each column, in its own unit: a power of two that brings its greatest size to about 1.

    Powers of two round nothing, and squares of numbers near 1 neither overflow nor vanish.
    """

    unit: FloatArray  # (n_columns,) powers of two: value in units = value * unit
    least: FloatArray
    greatest: FloatArray


@dataclass(frozen=True)
class Moments(Ranges):
    """Those, and where the numbers lie between them."""

    mean: FloatArray
    deviation: FloatArray  # sqrt(sum_i s_i (x_i - mean)^2 / sum_i s_i); exactly 0 for a constant


def moments(X: Any, s: FloatArray) -> Moments:
    """One pass for the sizes, two for the mean and the deviation; sparse matrices stay sparse.

    Parameters
    ----------
    X : array, CSR or CSC matrix with sorted indices and no duplicates
    s : (n_rows,) weights, some of them positive; rows of weight 0 do not count at all
    """
    X, s = _with_weight(X, s)
    s = s / s.max()  # a sum of huge weights would overflow
    if sp.issparse(X):
        return _sparse(sp.csc_array(X), s)
    return _by_columns(X, s) if X.flags.f_contiguous else _by_rows(X, s)


def ranges(X: Any, s: FloatArray) -> Ranges:
    """The first of these passes alone."""
    X, _ = _with_weight(X, s)
    return _sparse_ranges(sp.csc_array(X)) if sp.issparse(X) else _dense_ranges(X)


def _with_weight(X: Any, s: FloatArray) -> tuple[Any, FloatArray]:
    return (X, s) if s.all() else (X[s > 0], s[s > 0])


def _units(size: FloatArray) -> FloatArray:
    """2^-e for sizes in [2^(e-1), 2^e); kept within what a double can hold and invert."""
    _, exponent = np.frexp(size)
    return np.ldexp(1.0, -np.clip(np.where(size > 0, exponent, 0), -1000, 1000))


def are_ordinary(unit: FloatArray) -> bool:
    """Whether all columns are of a size whose squares are doubles like others."""
    return bool(unit.size and unit.min() >= 2.0**-300 and unit.max() <= 2.0**300)


def _dense_ranges(X: Any) -> Ranges:
    if X.flags.c_contiguous and X.dtype.type in (np.float64, np.float32):
        least, greatest = np.empty(X.shape[1], X.dtype), np.empty(X.shape[1], X.dtype)
        _core.column_ranges(X, least, greatest)
    else:
        least, greatest = X.min(axis=0), X.max(axis=0)
    least, greatest = least.astype(np.float64), greatest.astype(np.float64)
    unit = _units(np.maximum(np.abs(least), np.abs(greatest)))
    return Ranges(unit, least * unit, greatest * unit)


def _by_rows(X: Any, s: FloatArray) -> Moments:
    """Of rows that lie side by side: blocks of them, joined (Chan, Golub and LeVeque 1983)."""
    of = _dense_ranges(X)
    # Units change no bit where no square can overflow or vanish.
    is_ordinary = are_ordinary(of.unit)
    unit = np.ones(X.shape[1]) if is_ordinary else of.unit
    least = of.least / of.unit * unit
    mean, squares, total = np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0.0
    step = max(16, _CELLS // 8 // X.shape[1])
    is_plain = bool((s == 1).all())
    for first in range(0, len(X), step):
        rows, w = X[first : first + step], s[first : first + step, None]
        z = (
            rows - least if is_ordinary else rows * unit - least
        )  # seen from its least value a constant is 0, whatever its size
        weight = float(w.sum())
        m = (z if is_plain else z * w).sum(axis=0) / weight
        z -= m
        z *= z if is_plain else z * w
        apart, share = m - mean, weight / (total + weight)
        squares += z.sum(axis=0) + (total * share) * apart**2
        mean += share * apart
        total += weight
    mean, deviation = mean * (of.unit / unit), np.sqrt(squares / total) * (of.unit / unit)
    return Moments(of.unit, of.least, of.greatest, of.least + mean, deviation)


def _by_columns(X: Any, s: FloatArray) -> Moments:
    of = _dense_ranges(X)
    mean, deviation = np.empty(X.shape[1]), np.empty(X.shape[1])
    step = max(1, _CELLS // max(len(X), 1))
    for first in range(0, X.shape[1], step):  # a few columns of doubles are all the memory it takes
        j = slice(first, first + step)
        # Seen from its least value a constant is 0, whatever its size. A row of z is a column: sums along it
        # have the bits of those of the column alone.
        z = X[:, j].T.astype(np.float64, order="C") * of.unit[j, None] - of.least[j, None]
        m = np.average(z, axis=1, weights=s)
        around = (z - m[:, None]) ** 2
        mean[j], deviation[j] = of.least[j] + m, np.sqrt(np.average(around, axis=1, weights=s))
    return Moments(of.unit, of.least, of.greatest, mean, deviation)


def _sparse_ranges(X: Any) -> Ranges:
    n_rows, n_columns = X.shape
    stored = np.diff(X.indptr)
    least, greatest = np.zeros(n_columns), np.zeros(n_columns)
    filled = np.flatnonzero(stored)
    if len(filled):
        starts = X.indptr[filled]
        least[filled] = np.minimum.reduceat(X.data, starts)
        greatest[filled] = np.maximum.reduceat(X.data, starts)
    has_zero = stored < n_rows
    least = np.where(has_zero, np.minimum(least, 0.0), least)
    greatest = np.where(has_zero, np.maximum(greatest, 0.0), greatest)
    unit = _units(np.maximum(np.abs(least), np.abs(greatest)))
    return Ranges(unit, least * unit, greatest * unit)


def _sparse(X: Any, s: FloatArray) -> Moments:
    n_rows, n_columns = X.shape
    of, stored = _sparse_ranges(X), np.diff(X.indptr)
    column, has_zero = np.repeat(np.arange(n_columns), stored), stored < n_rows
    z, weight = X.data.astype(np.float64) * of.unit[column], s[X.indices]

    def over_columns(values: FloatArray) -> FloatArray:
        return np.bincount(column, weights=weight * values, minlength=n_columns) / s.sum()

    mean = over_columns(z)
    zeros = np.maximum(1.0 - over_columns(np.ones_like(z)), 0.0) * has_zero
    around = z - mean[column]
    # What rounding left in the mean is taken out of the variance again.
    slip = over_columns(around) - zeros * mean
    variance = np.maximum(over_columns(around**2) + zeros * mean**2 - slip**2, 0.0)
    is_constant = of.least == of.greatest
    mean = np.where(is_constant, of.least, mean + slip)
    deviation = np.where(is_constant, 0.0, np.sqrt(variance))
    return Moments(of.unit, of.least, of.greatest, mean, deviation)
