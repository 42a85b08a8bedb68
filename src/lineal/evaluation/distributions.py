"""The few distributions that most tests and intervals need, without SciPy's, which take long to import."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lineal.objective.losses import FloatArray

# Poisson(1) at or below 0, 1, ..., 19.
POISSON_LEVELS: FloatArray = np.cumsum([math.exp(-1.0) / math.factorial(k) for k in range(20)])


def normal_quantile(level: float) -> float:
    """Where a standard normal variable is below with a chance of ``level``; infinite at 0 and 1."""
    from statistics import NormalDist

    if level <= 0.0 or level >= 1.0:
        return math.inf if level >= 1.0 else -math.inf
    return NormalDist().inv_cdf(level)


def normal_below(z: float) -> float:
    """The chance of a standard normal variable below z; small chances to all digits."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def chi_squared_above(x: float) -> float:
    """The chance above x of a chi-squared variable of one degree of freedom, the square of a normal one."""
    return math.erfc(math.sqrt(x / 2.0))


def fair_tosses_chance(k: int, n: int) -> float:
    """The chance of k heads in n fair tosses."""
    return math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) - n * math.log(2.0))


def fair_tosses_below(k: int, n: int) -> float:
    """The chance of at most k heads in n fair tosses: the largest term, and those below it as parts of it."""
    total = term = 1.0
    for j in range(k, 0, -1):
        term *= j / (n - j + 1)
        total += term
        if term < 1e-18 * total:
            break
    return min(1.0, total * fair_tosses_chance(k, n))


def root_between(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that changes its sign between two numbers is 0, by halving: to the last digit."""
    is_rising = function(high) > 0
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            return middle
        if (function(middle) > 0) == is_rising:
            high = middle
        else:
            low = middle


def ranks(values: FloatArray) -> FloatArray:
    """(n,) or (n, K) places in rising order, from 1 on; equal values share the mean of theirs."""
    if values.ndim == 2:
        return np.column_stack([ranks(column) for column in values.T])
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    means: NDArray[np.float64] = last - 0.5 * (counts - 1)
    return means[place]
