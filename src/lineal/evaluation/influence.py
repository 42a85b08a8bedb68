"""A value with what each row adds to its deviation: closed-form variances, and paired tests from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lineal.evaluation.distributions import normal_below
from lineal.evaluation.intervals import z_value
from lineal.evaluation.records import Interval, Significance
from lineal.evaluation.resampling import RowWeights
from lineal.objective.losses import FloatArray


@dataclass(frozen=True, eq=False)
class Linearised:
    """A statistic that is, near its true value, a sum over rows.

    Attributes
    ----------
    value : float
    terms : (n,) array
        Their sum of squares is the variance that the rows show.
    """

    value: float
    terms: FloatArray

    @property
    def seen(self) -> float:
        """The sum of the squared terms."""
        return float(np.sum(self.terms**2))

    @property
    def variance(self) -> float:
        """What rows show, and what they cannot."""
        return self.seen + self.unseen(self)

    def unseen(self, other: Linearised) -> float:
        """The variance that rows cannot show, if the value were the mean of this one and another."""
        return 0.0

    def interval(self, confidence: float) -> Interval:
        """Normal around the value."""
        half = z_value(confidence) * float(np.sqrt(self.variance))
        return Interval(self.value - half, self.value + half, confidence, "delta method")


@dataclass(frozen=True, eq=False)
class Correlation(Linearised):
    """One in [-1, 1]."""

    def interval(self, confidence: float) -> Interval:
        """Normal on Fisher's scale, artanh."""
        room = 1 - self.value**2
        if room < 1e-12:
            return Interval(self.value, self.value, confidence, "delta method (Fisher's z)")
        centre, half = np.arctanh(self.value), z_value(confidence) * np.sqrt(self.variance) / room
        low, high = np.tanh([centre - half, centre + half]).tolist()
        return Interval(low, high, confidence, "delta method (Fisher's z)")


def difference_test(a: Linearised, b: Linearised, confidence: float, test: str) -> Significance:
    """The normal test of the difference of two values on the same rows."""
    difference = a.value - b.value
    spread = float(np.sqrt(np.sum((a.terms - b.terms) ** 2) + a.unseen(b) + b.unseen(a)))
    half = z_value(confidence) * spread
    if spread > 1e-12:
        z = difference / spread
        p = 2 * normal_below(-abs(z))
    else:
        z, p = (0.0, 1.0) if abs(difference) < 1e-12 else (float(np.copysign(np.inf, difference)), 0.0)
    interval = Interval(difference - half, difference + half, confidence, "normal")
    effect = z / float(np.sqrt(len(a.terms))) if np.isfinite(z) else None
    return Significance(
        *(test, z, p, "z"), difference=difference, interval=interval, effect=effect, effect_name="Cohen's d"
    )


def rank_correlation(x: FloatArray, y: FloatArray, weights: RowWeights) -> Correlation:
    """Spearman's correlation: Pearson's of the weighted mid-ranks, and its derivative in each weight.

    A weight moves the ranks of all rows above it, which is a sum over those rows: O(n log n) in all. The
    value is NaN where x or y does not vary.
    """
    s = weights.s
    u, u_codes = _midranks(x, s)
    v, v_codes = _midranks(y, s)
    uv, uu, vv = float(s @ (u * v)), float(s @ u**2), float(s @ v**2)
    if uu <= 0 or vv <= 0:
        return Correlation(float("nan"), np.full(len(s), np.nan))
    value = uv / np.sqrt(uu * vv)
    d_uv = u * v + _above(u_codes, s * v) + _above(v_codes, s * u)
    d_uu = u * u + 2 * _above(u_codes, s * u)
    d_vv = v * v + 2 * _above(v_codes, s * v)
    slopes = d_uv / np.sqrt(uu * vv) - 0.5 * value * (d_uu / uu + d_vv / vv)
    size = weights.size()
    return Correlation(value, slopes * np.sqrt(weights.variances() * size / max(size - 1, 1)))


def _midranks(x: FloatArray, s: FloatArray) -> tuple[FloatArray, NDArray[np.intp]]:
    """Weighted mid-ranks less their mean, and the place of each value among the different ones."""
    codes = np.unique(x, return_inverse=True)[1]
    height = np.bincount(codes, weights=s)
    return (np.cumsum(height) - 0.5 * height)[codes] - 0.5 * s.sum(), codes


def _above(codes: NDArray[np.intp], terms: FloatArray) -> FloatArray:
    """For each row the sum of the terms of rows with a larger value, and half of those with its own."""
    height = np.bincount(codes, weights=terms)
    return np.asarray((height.sum() - np.cumsum(height) + 0.5 * height)[codes])
