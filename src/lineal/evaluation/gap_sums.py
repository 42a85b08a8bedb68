"""The interval of a calibration error: a sum of absolute gaps, which noise makes larger and never smaller.

The value that is held is that of the bins given: sum_b share_b |mean confidence_b - chance of being right_b|.
Of all gaps with the sum T, the likeliest are those seen, drawn towards 0 or away from it by a multiple of
their variances. With them, how many rows of each bin are right is drawn anew, and so the sum that would be
seen. T is in the interval where the sum that was seen is among the likelier 95 % of those, compared with the
T that makes it likeliest (Feldman and Cousins 1998, Chuang and Lai 2000). So a calibrated model has 0 in its
interval in 95 % of samples, whatever the number of bins, and the interval is never empty.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lineal.evaluation.distributions import root_between
from lineal.objective.losses import FloatArray

_N_SUMS = 33  # sums that are tried; ends lie between them on straight lines
_N_DRAWS = 800  # for each


@dataclass(frozen=True, eq=False)
class Bins:
    """Bins that hold rows.

    Attributes
    ----------
    share : (m,) array
        Of the weight of all rows.
    confidence, right : (m,) arrays
        The mean confidence, and the share of rows that are right.
    size : (m,) array
        How many rows of weight 1 would be as informative.
    """

    share: FloatArray
    confidence: FloatArray
    right: FloatArray
    size: FloatArray

    @property
    def gaps(self) -> FloatArray:
        """(m,) what each bin adds to mean confidence - accuracy."""
        return self.share * (self.confidence - self.right)

    def variances(self) -> FloatArray:
        """(m,) of the gaps; one right and one wrong row more, as no bin without errors is without doubt."""
        chance = (self.size * self.right + 1) / (self.size + 2)
        return np.asarray(self.share**2 * chance * (1 - chance) / self.size)


def gap_sum_ends(bins: Bins, confidence: float, rng: np.random.Generator) -> tuple[float, float]:
    """The ends for the sum of the absolute gaps."""
    seen, variances = float(np.abs(bins.gaps).sum()), bins.variances()
    spread = float(np.sqrt(variances.sum()))
    # What noise can add at most, if no gap is there, and four deviations.
    least = max(0.0, seen - float(np.sqrt(2 / np.pi * variances).sum()) - 4 * spread)
    rooms = _rooms(bins, variances)
    most = min(seen + 5 * spread, float(rooms.sum()))
    tried = np.linspace(least, max(least, most), _N_SUMS)
    sizes = np.array([_likeliest(np.abs(bins.gaps), variances, rooms, total) for total in tried])
    chances = _chances(bins, sizes)
    sums = np.abs(bins.share * (bins.confidence - chances)).sum(axis=1)
    return _accepted(seen, sums, _drawn(bins, chances, rng), confidence)


def _rooms(bins: Bins, variances: FloatArray) -> FloatArray:
    """(m,) how large each gap can be with a chance of being right from 0 to 1.

    That is on the side where it was seen, or on the other if there is more room, and if what was seen would
    not be four deviations away from there.
    """
    to_none, to_all = bins.share * bins.confidence, bins.share * (1 - bins.confidence)
    own, other = np.where(bins.gaps < 0, to_all, to_none), np.where(bins.gaps < 0, to_none, to_all)
    is_likely = np.abs(bins.gaps) + own < 4 * np.sqrt(variances)
    return np.where(is_likely, np.maximum(own, other), own)


def _likeliest(sizes: FloatArray, variances: FloatArray, rooms: FloatArray, total: float) -> FloatArray:
    """The sizes of gaps of this sum, none above its room, at which normal gaps as seen are likeliest."""

    def pulled(by: float) -> FloatArray:
        return np.clip(sizes - by * variances, 0.0, rooms)

    if total <= 0 or total >= rooms.sum():
        return rooms if total > 0 else np.zeros_like(rooms)
    outwards = sizes + max(0.0, total - float(sizes.sum())) / variances.sum() * variances
    if total >= sizes.sum() and (outwards <= rooms).all():  # the usual case needs no search
        return np.asarray(outwards)
    ends = -float(np.max((rooms - sizes) / variances)), float(np.max(sizes / variances))
    return pulled(root_between(lambda by: float(pulled(by).sum()) - total, *ends))


def _chances(bins: Bins, sizes: FloatArray) -> FloatArray:
    """(T, m) chances of being right; a gap that would need one outside [0, 1] is taken the other way."""
    steps = np.where(bins.gaps < 0, -sizes, sizes) / bins.share
    chances = bins.confidence - steps
    # A chance of 1 and some rounding is one of 1.
    is_outside = (chances < -1e-9) | (chances > 1 + 1e-9)
    return np.clip(np.where(is_outside, bins.confidence + steps, chances), 0.0, 1.0)


def _drawn(bins: Bins, chances: FloatArray, rng: np.random.Generator) -> FloatArray:
    """(T, B) sums of absolute gaps that would be seen."""
    trials = np.maximum(np.rint(bins.size), 1).astype(np.int64)
    # Draws with the same chance stand together: so the generator prepares each chance once.
    shape = (*chances.shape, _N_DRAWS)
    right = rng.binomial(trials[:, None], chances[:, :, None], size=shape)
    gaps = np.abs(bins.confidence[:, None] - right / trials[:, None])
    return np.asarray(np.einsum("m,tmb->tb", bins.share, gaps))


def _accepted(seen: float, sums: FloatArray, drawn: FloatArray, confidence: float) -> tuple[float, float]:
    """The outermost sums at which the one seen is not among the least likely draws."""
    means, deviations = drawn.mean(axis=1), drawn.std(axis=1) + 1e-9

    def log_likelihood(values: FloatArray) -> FloatArray:
        apart = (values[..., None] - means) / deviations
        return np.asarray(-0.5 * apart**2 - np.log(deviations))

    table = log_likelihood(drawn)
    own = np.einsum("tbt->tb", table)
    least = np.quantile(own - table.max(axis=2), 1 - confidence, axis=1)
    at_seen = log_likelihood(np.array(seen))
    # Draws that are what was seen, but for rounding, are as likely as it is.
    margin = at_seen - at_seen.max() - least + 1e-6
    inside = np.flatnonzero(margin >= 0)  # never empty: where at_seen is largest, the margin is -least >= 0
    return _edge(sums, margin, inside[0], -1), _edge(sums, margin, inside[-1], 1)


def _edge(sums: FloatArray, margin: FloatArray, last: int, step: int) -> float:
    """Where the margin is 0 between the last sum inside and the next one."""
    following = last + step
    if not 0 <= following < len(sums):
        return float(sums[last])
    part = margin[last] / (margin[last] - margin[following])
    return float(sums[last] + part * (sums[following] - sums[last]))
