"""Intervals of means, and of ratios of means, over rows of which few may be large.

Where losses are skewed, a sample without its share of large ones has a mean and a deviation that are both too
small, and intervals of resamples of it are too short. Three corrections, each in closed form:

- Hall's transformation (1992) of the studentised mean takes its skewness off and stays monotone;
- the normal quantile becomes Student's, with the degrees of freedom of the variance seen: 2 / (k - 1 - g²)
  for each row, with skewness g and kurtosis k, which is what the mean leaves open of the variance;
- each end allows for a part of a row that was not seen: n rows say little of what one row in n does. Fay and
  Feuer (1997) have such a row in their interval of weighted counts. The next record is further out than the
  last: it is half as far again from the mean as the furthest row on its side, or, where no row can be beyond
  a bound, half way to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from lineal.evaluation.distributions import normal_quantile
from lineal.evaluation.resampling import RowWeights
from lineal.objective.losses import FloatArray

# How much of a row that was not seen an end allows for: without a bound, with one, and for a ratio, of which
# both means lack some. Chosen by simulation in the situations of benchmarks/evaluation, among some twenty
# rules: between means of skewed rows, which want more, and those of 100 ordinary rows, which want less.
_UNSEEN, UNSEEN_BOUNDED, UNSEEN_BY_RATIO = 0.15, 0.25, 0.6
_FURTHER = 1.5
# Of a ratio's ends: 2^-40 of the bracket.
_HALVINGS = 40


def mean_ends(
    values: FloatArray,
    weights: RowWeights,
    confidence: float,
    *,
    unseen: float | None = None,
    most: float = math.inf,
) -> tuple[float, float]:
    """The ends for the weighted mean of numbers up to ``most``; NaN for fewer than two rows.

    Where rows do not differ it is a point, or, with a bound, what a row not seen can add.
    """
    value = float(np.average(values, weights=weights.s))
    if len(values) < 2:
        return float("nan"), float("nan")
    if unseen is None:
        unseen = _UNSEEN if math.isinf(most) else UNSEEN_BOUNDED
    rooms = {-1: math.inf, 1: max(most - value, 0.0)}
    low, high = (
        _reach(values - value, weights, confidence, unseen, side, room) for side, room in rooms.items()
    )
    return value + low, value + high


def ratio_ends(
    top: FloatArray, bottom: FloatArray, weights: RowWeights, confidence: float
) -> tuple[float, float]:
    """The ends for mean(top) / mean(bottom) of numbers that are not negative.

    They hold the ratios r for which the interval of the mean of top - r bottom holds 0 (Fieller 1954). The
    upper one is infinite where the rows do not say that the mean of the bottom is above 0.
    """
    if len(top) < 2:
        return float("nan"), float("nan")
    value = float(weights.s @ top) / float(weights.s @ bottom)

    def beyond(side: int) -> Callable[[float], float]:
        return lambda ratio: mean_ends(top - ratio * bottom, weights, confidence, unseen=UNSEEN_BY_RATIO)[
            side
        ]

    if value == 0:
        return 0.0, 0.0
    outside = 2 * value
    while beyond(1)(outside) > 0:
        outside *= 2
        if outside > 1e6 * value:
            return _turn(beyond(0), 0.0, value), float("inf")
    return _turn(beyond(0), 0.0, value), _turn(beyond(1), value, outside)


def _turn(falling: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function passes 0; ``low`` where it is not above 0 there."""
    if falling(low) <= 0:
        return low
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return high


def _reach(
    apart: FloatArray, weights: RowWeights, confidence: float, unseen: float, side: int, room: float
) -> float:
    """How far from the mean an end is, the lower one (side -1) or the upper; ``apart`` has mean 0."""
    unit = float(np.max(np.abs(apart)))
    if not 1e-50 < unit < 1e50 and 0 < unit < math.inf:  # fourth powers need room
        return unit * _reach(apart / unit, weights, confidence, unseen, side, room / unit)
    total, size = float(weights.s.sum()), weights.size()
    # A row that counts for w is w rows, or one that is w times as large.
    shares = apart / total if weights.kind != "importance" else apart * weights.s / total
    counts = np.ones_like(shares) if weights.kind == "importance" else weights.s
    squares = shares * shares
    seen = float(np.max(side * shares, where=weights.s > 0, initial=0.0))
    # Of importance, a row that was not seen has what a row has in the mean, by weight.
    limit = room / total * (total / size if weights.kind == "importance" else 1.0)
    furthest = side * (_FURTHER * seen if math.isinf(room) else 0.5 * (seen + max(limit, seen)))
    second, third, fourth = (
        float(counts @ powers) + unseen * furthest**k
        for k, powers in ((2, squares), (3, squares * shares), (4, squares * squares))
    )
    if second <= 0:
        return 0.0
    skewness = third / second**1.5
    rows = max(size - 1, 1.0)
    looseness = min(max(0.5 * (fourth / second**2 - 1 / size - skewness**2), 1 / rows), 1.0)
    quantile = _student(normal_quantile((1 + confidence) / 2), looseness)
    return -_undone(-side * quantile, skewness) * math.sqrt(second * size / rows)


def _student(z: float, looseness: float) -> float:
    """Student's quantile from the normal one, by two terms in 1 / degrees of freedom: to 2 % from 4 on."""
    first, second = (z * z + 1) / 4, (5 * z**4 + 16 * z * z + 3) / 96
    return z * (1 + first * looseness + second * looseness**2)


def _undone(z: float, skewness: float) -> float:
    """The studentised mean t at which Hall's t + g t²/3 + g² t³/27 + g/6 is z; g that of the mean."""
    if abs(skewness) < 1e-6:  # the formula is 0 / 0, and t is z to as many digits
        return z
    return float(np.cbrt(1 + skewness * (z - skewness / 6)) - 1) * 3 / skewness
