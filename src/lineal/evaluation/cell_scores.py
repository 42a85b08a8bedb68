"""Intervals of scores of the whole confusion matrix: macro F1 and Matthews' correlation.

Near its value such a score is a sum over rows, and a row adds what its cell does: the derivative of the score
in the weight of the cell. So its variance is in closed form. The interval is Wilson's, between the bounds of
the score, at the number of independent rows that would have this variance (Korn and Graubard 1998). One row
more is spread over the cells as if truth and prediction were independent before the variance is taken:
a matrix without errors would seem to have none.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lineal.evaluation.intervals import wilson_ends
from lineal.objective.losses import FloatArray

Slopes = Callable[[FloatArray], tuple[float, FloatArray]]


def cell_score_ends(
    value: float,
    slopes: Slopes,
    weight: FloatArray,
    variance: FloatArray,
    bounds: tuple[float, float],
    confidence: float,
) -> tuple[float, float]:
    """The ends of a score of (K, K) cells with these weights, whose variances are ``variance``."""
    total = weight.sum()
    unit = variance.sum() / total
    added = unit * np.outer(weight.sum(axis=1), weight.sum(axis=0)) / total**2
    low, height = bounds[0], bounds[1] - bounds[0]
    near, slope = slopes(weight + added)
    spread = float(np.sum((variance + unit * added) * slope**2)) / height**2
    share, near = (value - low) / height, (near - low) / height
    # One class alone is right or wrong as an accuracy is, and else has a score of 0 whatever the rows are.
    alone = total / unit if share in (0.0, 1.0) else np.inf
    size = near * (1 - near) / spread if spread > 1e-24 else alone
    bottom, top = wilson_ends(np.array(share), np.array(size), confidence)
    return float(low + height * bottom), float(low + height * top)


def f1_slopes(cells: FloatArray) -> tuple[float, FloatArray]:
    """The mean F1 of the classes that occur or are predicted, and its derivative in each cell."""
    both, either = np.diag(cells), cells.sum(axis=1) + cells.sum(axis=0)
    is_there = either > 0
    inverse = np.divide(1.0, either, out=np.zeros_like(either), where=is_there) / is_there.sum()
    f1 = np.divide(2 * both, either, out=np.zeros_like(either), where=is_there)
    slope = -(f1 * inverse)[:, None] - (f1 * inverse)[None, :] + np.diag(2 * inverse)
    return float(f1[is_there].mean()), slope


def mcc_slopes(cells: FloatArray) -> tuple[float, FloatArray]:
    """Matthews' correlation and its derivative in each cell; 0 where truth or prediction do not vary."""
    true, said, total = cells.sum(axis=1), cells.sum(axis=0), cells.sum()
    rooms = [total**2 - float(np.sum(margin**2)) for margin in (true, said)]
    if min(rooms) <= 1e-12 * total**2:
        return 0.0, np.zeros_like(cells)
    right, scale = float(np.trace(cells)), float(np.sqrt(rooms[0] * rooms[1]))
    value = (right * total - float(true @ said)) / scale
    slope = (total * np.eye(len(cells)) + right - said[:, None] - true[None, :]) / scale
    slope -= value * ((total - true)[:, None] / rooms[0] + (total - said)[None, :] / rooms[1])
    return value, slope
