"""Intervals with a formula: proportions, their differences, medians; and the bootstrap of any statistic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lineal.deferred import stats
from lineal.errors import InputError, ParameterError
from lineal.evaluation.distributions import fair_tosses_below, normal_quantile
from lineal.evaluation.inputs import checked_confidence, checked_count, generator, one_sample
from lineal.evaluation.records import Interval
from lineal.evaluation.resampling import RowWeights, percentile_ends, resample
from lineal.objective.losses import FloatArray

# Numbers that are resampled at a time.
_BATCH = 2_000_000


def z_value(confidence: float) -> float:
    """How many standard deviations on either side hold this share of a normal distribution."""
    return normal_quantile((1 + confidence) / 2)


def wilson_interval(successes: float, n: float, *, confidence: float = 0.95) -> Interval:
    """Wilson's score interval of a proportion.

    With p = successes / n and z the normal quantile: centre (p + z²/2n) / (1 + z²/n), half width
    z / (1 + z²/n) · sqrt(p (1 - p) / n + z²/4n²). It never leaves [0, 1] and is honest at p = 0 and 1.

    Parameters
    ----------
    successes, n : float
        0 <= successes <= n. They need not be whole, as with weights.
    confidence : float

    Returns
    -------
    Interval

    Examples
    --------
    >>> from lineal.evaluation import wilson_interval
    >>> print(wilson_interval(93, 100))
    0.8625 .. 0.9657
    """
    confidence = checked_confidence(confidence)
    if not (np.isfinite(n) and n > 0 and 0 <= successes <= n):
        raise InputError(f"wilson_interval needs 0 <= successes <= n and n > 0, got {successes} of {n}.")
    low, high = wilson_ends(np.array(successes / n), np.array(n), confidence)
    return Interval(float(low), float(high), confidence, "Wilson")


def wilson_ends(p: FloatArray, n: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Wilson's ends for arrays of proportions; (0, 1) where n is 0."""
    z = z_value(confidence)
    with np.errstate(divide="ignore", invalid="ignore"):
        shrink = 1 / (1 + z * z / n)
        centre = shrink * (p + z * z / (2 * n))
        half = shrink * z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        # At p = 0 and 1 an end is exact, where rounding would put it a hair inside.
        low = np.where(p <= 0, 0.0, np.maximum(centre - half, 0.0))
        high = np.where(p >= 1, 1.0, np.minimum(centre + half, 1.0))
    empty = ~(np.asarray(n) > 0)
    return np.where(empty, 0.0, low), np.where(empty, 1.0, high)


def combined_ends(
    value: float, parts: FloatArray, low: FloatArray, high: FloatArray, shares: FloatArray
) -> tuple[float, float]:
    """Ends for sum_k share_k part_k of independent parts from the ends of each (Zou and Donner 2008)."""
    down = float(np.sqrt(np.sum((shares * (parts - low)) ** 2)))
    up = float(np.sqrt(np.sum((shares * (high - parts)) ** 2)))
    return value - down, value + up


def paired_proportions_ends(
    only_first: float, only_second: float, n: float, confidence: float
) -> tuple[float, float]:
    """Ends for p1 - p2 on the same rows, from the discordant ones (Bonett and Price 2012)."""
    p, q = (only_first + 1) / (n + 2), (only_second + 1) / (n + 2)
    half = z_value(confidence) * float(np.sqrt((p + q - (p - q) ** 2) / (n + 2)))
    return max(p - q - half, -1.0), min(p - q + half, 1.0)


def median_ends(values: FloatArray, s: FloatArray, size: float, confidence: float) -> tuple[float, float]:
    """Order statistics around the median, interpolated (Hettmansperger and Sheather 1986).

    Of n rows, the d-th from below and from above hold the median with the chance of d to n - d heads in n
    fair tosses. Whole ranks have more confidence than was asked for, or less; the ends are between the last d
    that has more and the next. Weights give ranks on the scale of ``size`` rows, of which a part of one is
    dropped. The least and the greatest value are the ends where even they have too little confidence.
    """
    n = max(int(size + 1e-9), 1)

    def held(d: int) -> float:
        return max(1 - 2 * fair_tosses_below(d - 1, n), 0.0)

    # The quantile is infinite where a confidence is 1 but for rounding.
    reach = min(z_value(confidence), np.sqrt(n)) * np.sqrt(n)
    d = min(max(int(0.5 * (n - reach)), 1), max(n // 2, 1))
    while d > 1 and held(d) < confidence:
        d -= 1
    while 2 * (d + 1) <= n and held(d + 1) >= confidence:
        d += 1
    excess = max(held(d) - confidence, 0.0)
    part = excess / (held(d) - held(d + 1)) if excess > 0 else 0.0
    part = (n - d) * part / (d + (n - 2 * d) * part)
    ends = (_between_ranks(values, s, n, d, part), -_between_ranks(-values, s, n, d, part))
    return min(ends), max(ends)  # they cross where so little confidence is wanted that two rows have more


def _between_ranks(values: FloatArray, s: FloatArray, n: int, d: int, part: float) -> float:
    """Between the d-th smallest of n rows and the next one, so far from the former."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(s[order]) * (n / s.sum())
    places = np.searchsorted(reached, np.array([d, d + 1]) - 1e-9 * n)  # rounding of sums of weights
    first, second = values[order[np.minimum(places, len(order) - 1)]].tolist()
    return float((1 - part) * first + part * second)


def bootstrap_interval(
    values: ArrayLike,
    statistic: Callable[[FloatArray], float] | None = None,
    *,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    method: str = "BCa",
    random_state: Any = 0,
) -> Interval:
    """The bootstrap interval of any statistic of a sample.

    Parameters
    ----------
    values : (n,) numbers
    statistic : function of an array, optional
        The mean if not given, which is much faster.
    confidence : float
    n_resamples : int
    method : "BCa" or "percentile"
        BCa (Efron 1987) corrects percentiles for bias and skewness; it costs n more calls of the statistic.
    random_state : seed

    Returns
    -------
    Interval

    Examples
    --------
    >>> from lineal.evaluation import bootstrap_interval
    >>> interval = bootstrap_interval([1, 2, 2, 3, 3, 3, 4, 9], n_resamples=500)
    >>> 3.375 in interval
    True
    """
    sample = one_sample("values", values)
    confidence, n_resamples = checked_confidence(confidence), checked_count("n_resamples", n_resamples, 10)
    if method not in ("BCa", "percentile"):
        raise ParameterError(f"method must be 'BCa' or 'percentile', got {method!r}.")
    name = f"bootstrap ({method})"
    if np.ptp(sample) == 0:
        value = float(sample[0] if statistic is None else statistic(sample))
        return Interval(value, value, confidence, name)
    if statistic is None:
        return _of_the_mean(sample, confidence, n_resamples, method, generator(random_state))
    found = stats.bootstrap(
        (sample,),
        statistic,
        vectorized=False,
        batch=max(1, _BATCH // len(sample)),
        confidence_level=confidence,
        n_resamples=n_resamples,
        method=method,
        random_state=generator(random_state),
    ).confidence_interval
    return Interval(float(found.low), float(found.high), confidence, name)


def _of_the_mean(
    sample: FloatArray, confidence: float, n_resamples: int, method: str, rng: np.random.Generator
) -> Interval:
    """By sums, whose time does not grow with the square of the sample as that of n calls would."""
    found = resample(sample[:, None], RowWeights.of(None, len(sample)), n_resamples, rng)

    def mean(sums: FloatArray) -> FloatArray:
        return sums[:, 0] / len(sample)

    if method == "BCa":
        return found.interval(mean, confidence)
    ends = percentile_ends(mean(found.draws), confidence)
    return Interval(*ends, confidence, "bootstrap (percentile)")
