"""How sure scores are: a temperature that makes probabilities of them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lineal.model.answers import probabilities
from lineal.objective.losses import FloatArray

_GOLDEN = (3.0 - math.sqrt(5.0)) / 2.0


def fitted_temperature(Z: FloatArray, codes: NDArray[np.int32], s: FloatArray) -> float:
    """The temperature of least log loss, found on a logarithmic scale."""
    rows = np.arange(len(codes))
    size = float(np.abs(Z).max(initial=0.0))
    unit = size if 0 < size < np.inf else 1.0  # scores may come in any units

    def log_loss(log_temperature: float) -> float:
        p = probabilities(Z / unit, float(np.exp(log_temperature)))[rows, codes]
        return float(-np.dot(s, np.log(np.maximum(p, 1e-300))))

    return unit * float(np.exp(lowest_between(log_loss, -10.0, 10.0)))


def lowest_between(function: Callable[[float], float], low: float, high: float, tol: float = 1e-5) -> float:
    """Where a function of one valley is lowest: parabolas, and golden sections where they fail (Brent 1973).

    Right to ``tol``, or to the square root of the rounding error where that is more.
    """
    best = second = third = low + _GOLDEN * (high - low)
    at_best = at_second = at_third = function(best)
    step = before = 0.0
    while True:
        middle = 0.5 * (low + high)
        least = 1.5e-8 * abs(best) + tol / 3.0
        if abs(best - middle) <= 2.0 * least - 0.5 * (high - low):
            return best
        # The lowest point of the parabola through the three best points, as best + top / bottom.
        r = (best - second) * (at_best - at_third)
        q = (best - third) * (at_best - at_second)
        top, bottom = (best - third) * q - (best - second) * r, 2.0 * (q - r)
        top, bottom = (-top, bottom) if bottom > 0.0 else (top, -bottom)
        is_inside = bottom * (low - best) < top < bottom * (high - best)
        if is_inside and abs(top) < abs(0.5 * bottom * before):
            before, step = step, top / bottom
            if min(best + step - low, high - best - step) < 2.0 * least:
                step = math.copysign(least, middle - best)
        else:
            before = (low if best >= middle else high) - best
            step = _GOLDEN * before
        tried = best + (step if abs(step) >= least else math.copysign(least, step))
        at_tried = function(tried)
        if at_tried <= at_best:
            low, high = (best, high) if tried >= best else (low, best)
            third, at_third, second, at_second = second, at_second, best, at_best
            best, at_best = tried, at_tried
            continue
        low, high = (tried, high) if tried < best else (low, tried)
        if at_tried <= at_second or second == best:
            third, at_third, second, at_second = second, at_second, tried, at_tried
        elif at_tried <= at_third or third in (best, second):
            third, at_third = tried, at_tried
