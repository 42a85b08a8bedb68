"""What keeps a perceptron's weights and scores inside float64, however large or small its rows are.

A weight is a sum of rate x, a score one of rate x x'. Weights start at 0, so that a factor of all of them
changes no prediction: fits take a power of 2, the unit, that brings both back where they would leave float64,
and streams, which do not know what is to come, leave out rows that are too large.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lineal.errors import InputError
from lineal.objective.linear_maps import NativeRows
from lineal.objective.losses import FloatArray

# Products of numbers between here and one over it stay inside float64, and so do sums of them.
LARGEST = 1e140
# Single changes of weights up to here leave room for sums of as many as there may ever be.
_LARGEST_CHANGE = 1e290
# Scores up to 2 to this power leave room for the sums over columns and changes.
_SCORE_BITS = 984


def unit_of(rows: NativeRows, rate: float) -> float:
    """1, or a power of 2 that keeps weights and scores of enormous or minute rows inside float64."""
    if _are_ordinary(rows, np.sqrt(rate)):
        return 1.0
    largest = _largest_of(rows)
    if largest == 0.0 or 1.0 / LARGEST < np.sqrt(rate) * largest < LARGEST:
        return 1.0
    if np.log2(rate) + np.log2(largest) >= 1024:
        raise InputError(
            f"learning_rate={rate:g} times {largest:g}, the largest number in X, is a weight that float64 "
            "does not hold. Scale the columns, or take a lower learning_rate."
        )
    # Changes of weights are then 1; where that lets scores overflow, less.
    above = max(0.0, np.ceil(np.log2(largest)) - _SCORE_BITS)
    exponent = np.round(np.log2(rate) + np.log2(largest)) + above
    return float(2.0 ** -np.clip(exponent, -1000, 1070))


def require_finite(coef: FloatArray, intercept: FloatArray, unit: float) -> None:
    """Refuses weights that overflow as soon as the unit is taken out of them."""
    with np.errstate(over="ignore"):
        largest = np.maximum(np.abs(coef).max(initial=0.0), np.abs(intercept).max(initial=0.0)) / unit
    if not np.isfinite(largest):
        raise InputError(
            "the weights became larger than float64 holds. Scale the columns, or take a lower learning_rate."
        )


def largest_in_stream(rate: float, unit: float) -> float:
    """The largest number that a row of a stream may have."""
    return float(min(LARGEST / np.sqrt(rate * unit), _LARGEST_CHANGE / rate))


def moderate(rows: NativeRows, largest: float) -> NDArray[np.int64]:
    """The places of rows without numbers beyond ``largest``; refuses where there are none."""
    with np.errstate(over="ignore"):
        if np.sqrt(rows.squared_norms.max(initial=0.0)) <= largest:  # the usual case
            return np.arange(rows.n_rows)
    sizes = abs(rows.dense).max(axis=1) if rows.dense is not None else abs(rows.csr()).max(axis=1)
    sizes = sizes.toarray().ravel() if rows.dense is None else sizes
    order = np.flatnonzero(sizes <= largest)
    if not len(order):
        raise InputError(f"every row has numbers beyond {largest:g}. Scale the columns.")
    return order


def longest(rows: NativeRows, places: NDArray[np.int64], constant: float) -> float:
    """The largest norm of those rows, a constant feature included; infinite only beyond float64."""
    largest = 1.0 if _are_ordinary(rows, 1.0) else _largest_of(rows)
    if largest == 0.0 or 1.0 / LARGEST < largest < LARGEST:
        return float(np.sqrt(rows.squared_norms[places].max() + constant**2))
    unit = float(2.0 ** -np.clip(np.round(np.log2(max(largest, constant))), -1000, 1000))
    X = (rows.dense if rows.dense is not None else rows.csr())[places].astype(np.float64) * unit
    with np.errstate(over="ignore"):
        return float(np.sqrt((X**2).sum(axis=1).max() + (constant * unit) ** 2) / unit)


def smallest_margin(
    Z: FloatArray, codes: NDArray[np.int32], coef: FloatArray, intercept: FloatArray
) -> float:
    """The smallest margin of a row, weights scaled to norm 1; 0 for weights that are all 0."""
    size = float(max(np.abs(coef).max(initial=0.0), np.abs(intercept).max(initial=0.0)))
    if size == 0.0:
        return 0.0
    norm = float(np.sqrt(((coef / size) ** 2).sum() + ((intercept / size) ** 2).sum()))
    if Z.shape[1] == 1:
        margins = np.where(codes == 1, 1.0, -1.0) * Z[:, 0]
    else:
        every = np.arange(len(codes))
        gold = Z[every, codes]
        Z[every, codes] = -np.inf
        margins = gold - Z.max(axis=1)
    return float(margins.min()) / size / norm


def _are_ordinary(rows: NativeRows, factor: float) -> bool:
    """Whether norms say that the largest number, times the factor, is inside."""
    with np.errstate(over="ignore"):
        norm = factor * float(np.sqrt(rows.squared_norms.max(initial=0.0)))
    return norm < LARGEST and norm > np.sqrt(rows.n_columns) / LARGEST


def _largest_of(rows: NativeRows) -> float:
    values = rows.dense if rows.dense is not None else rows.csr().data
    return float(max(values.max(initial=0.0), -values.min(initial=0.0)))
