"""The bootstrap by sums: resample rows once, and every function of their sums follows.

A statistic T(S) of the sums S = sum_i w_i f_i of a few numbers for each row has the bootstrap distribution
T(sum_i c_i f_i), with c_i how often row i is drawn. All draws are one matrix product. Rows beyond
``MOST_UNITS`` are put into that many random groups of one size, and groups are drawn: rows are exchangeable,
so the sums of groups have the same spread and skewness, and time no longer grows with the rows.

What a weight means is the caller's choice. "counts": so many rows; the sums then vary as if a row of weight w
were w rows. "importance": one row that counts for w, such as one drawn with a chance other than its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lineal.data.targets import weights_of_rows
from lineal.deferred import is_sparse
from lineal.deferred import sparse as sp
from lineal.errors import ParameterError
from lineal.evaluation.distributions import POISSON_LEVELS, normal_below, normal_quantile
from lineal.evaluation.records import Interval
from lineal.objective.losses import FloatArray

# So many units give a standard deviation to within 1 %, less than the 2 % that 2,000 resamples add.
MOST_UNITS = 4096
# Entries of the matrix of draws that is held at a time: what fits into a cache.
_BLOCK = 250_000
# Poisson(1) at 65,536 even levels: five times as fast as drawing it, mean and variance right to four digits.
_POISSON = np.searchsorted(POISSON_LEVELS, (np.arange(2**16) + 0.5) / 2**16).astype(np.float64)

Statistic = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class RowWeights:
    """Weights of rows and what they mean.

    Attributes
    ----------
    s : (n,) array
    kind : "none", "counts" or "importance"
    """

    s: FloatArray
    kind: str

    @classmethod
    def of(cls, sample_weight: Any, n_rows: int, weights: str = "counts") -> RowWeights:
        """Checked weights; all 1 if there are none."""
        if weights not in ("counts", "importance"):
            raise ParameterError(f"weights must be 'counts' or 'importance', got {weights!r}.")
        return cls(weights_of_rows(sample_weight, n_rows), "none" if sample_weight is None else weights)

    def variances(self) -> FloatArray:
        """(n,) the variance of each row's share in a sum of ones."""
        return self.s**2 if self.kind == "importance" else self.s

    @property
    def are_rows(self) -> bool:
        """Whether they are numbers of rows, so that rows can be written out."""
        return self.kind != "importance" and bool((self.s == np.round(self.s)).all() and self.s.sum() < 1e7)

    def quantiles(self, values: FloatArray, levels: FloatArray) -> FloatArray:
        """NumPy's quantiles; a row of weight 2 is the row twice. Of other weights the mean is a row."""
        if self.kind == "none":
            return np.asarray(np.quantile(values, levels))
        order = np.argsort(values, kind="stable")
        counts = self.s[order] * (1.0 if self.are_rows else len(values) / self.s.sum())
        ends = np.cumsum(counts) - 1e-9 * len(values)  # whose rounding is to move no row
        place = np.maximum(counts.sum() - 1.0, 0.0) * levels
        whole = np.floor(place)
        below, above = (
            values[order[np.minimum(np.searchsorted(ends, at, side="right"), len(order) - 1)]]
            for at in (whole, whole + 1.0)
        )
        return np.asarray(below + (above - below) * (place - whole))

    def take(self, rows: Any) -> RowWeights:
        """Those of some rows."""
        return RowWeights(self.s[rows], self.kind)

    def size(self, rows: Any = slice(None)) -> float:
        """How many rows of weight 1 would be as informative (Kish's effective size)."""
        spread = float(self.variances()[rows].sum())
        return float(self.s[rows].sum()) ** 2 / spread if spread > 0 else 0.0


@dataclass(frozen=True, eq=False)
class Resampled:
    """Sums over the rows, over resamples of them, and what each unit adds.

    Attributes
    ----------
    sums : (d,) array
    draws : (B, d) array
    units : (m, d) array
        The share of each resampled unit, for influence and acceleration.
    """

    sums: FloatArray
    draws: FloatArray
    units: FloatArray

    def interval(self, statistic: Statistic, confidence: float) -> Interval:
        """The BCa interval of T(S) (Efron 1987), the influence of a unit by the slope of T at S."""
        if len(self.units) < 2:  # one row does not say how rows differ
            return Interval(float("nan"), float("nan"), confidence, "bootstrap (BCa)")
        value = float(statistic(self.sums[None])[0])
        draws = statistic(self.draws)
        influence = (self.units - self.units.mean(axis=0)) @ self._slope(statistic)
        low, high = bca_ends(value, draws, influence, confidence)
        return Interval(low, high, confidence, "bootstrap (BCa)")

    def _slope(self, statistic: Statistic) -> FloatArray:
        """(d,) central differences, with a step that is small beside what resampling does."""
        step = np.maximum(1e-3 * self.draws.std(axis=0), 1e-9 * np.abs(self.sums))
        used = np.flatnonzero(step > 0)
        moves = np.zeros((len(used), len(step)))
        moves[np.arange(len(used)), used] = step[used]
        slope = np.zeros(len(step))
        with np.errstate(all="ignore"):
            rise = statistic(self.sums + moves) - statistic(self.sums - moves)
        slope[used] = np.nan_to_num(rise / (2 * step[used]), posinf=0.0, neginf=0.0)
        return slope


def resample(parts: Any, weights: RowWeights, n_resamples: int, rng: np.random.Generator) -> Resampled:
    """Draws the sums of ``parts``, (n, d), dense or sparse, over resamples of the rows."""
    sums = np.asarray(parts.T @ weights.s, dtype=np.float64)
    own = {"none": None, "counts": np.sqrt(weights.s), "importance": weights.s}[weights.kind]
    units = _units(parts, own, rng)
    draws = np.empty((n_resamples, len(sums)))
    done = 0
    for counts in _multiplicities(len(units), n_resamples, own is None, rng):
        # With weights, sqrt(w) f in units of variance 1 has the variance of w rows f; the mean stays S.
        counts -= 1.0
        draws[done : done + len(counts)] = sums + counts @ units
        done += len(counts)
    return Resampled(sums, draws, units)


def _units(parts: Any, own: FloatArray | None, rng: np.random.Generator) -> FloatArray:
    """(m, d) what is drawn: rows, or the sums of random groups of them."""
    n = parts.shape[0]
    if n <= MOST_UNITS:
        rows = parts.toarray() if is_sparse(parts) else np.asarray(parts, dtype=np.float64)
        return rows if own is None else rows * own[:, None]
    group = np.empty(n, dtype=np.int64)
    group[rng.permutation(n)] = np.arange(n) * MOST_UNITS // n
    heights = np.ones(n) if own is None else own
    if is_sparse(parts):
        grouping = sp.csr_array((heights, (group, np.arange(n))), shape=(MOST_UNITS, n))
        return np.asarray((grouping @ parts).toarray())
    order = np.argsort(group, kind="stable")
    first = np.flatnonzero(np.diff(group[order], prepend=-1))
    return np.add.reduceat(parts[order] * heights[order, None], first, axis=0)


def _multiplicities(
    n_units: int, n_resamples: int, is_exact: bool, rng: np.random.Generator
) -> Iterator[FloatArray]:
    """How often each unit is drawn, some resamples at a time.

    Exact: n draws with replacement. Else Poisson(1), independent, which sums with weights need: n fixed draws
    would hide what is common to all units.
    """
    height = max(1, _BLOCK // n_units)
    for first in range(0, n_resamples, height):
        rows = min(height, n_resamples - first)
        if is_exact:
            drawn = rng.integers(0, n_units, size=(rows, n_units), dtype=np.uint16)
            places = drawn + np.arange(rows)[:, None] * n_units
            counts = np.bincount(places.ravel(), minlength=rows * n_units)
            yield counts.reshape(rows, n_units).astype(np.float64)
        else:
            yield _POISSON[rng.integers(0, 2**16, size=(rows, n_units), dtype=np.uint16)]


def bca_ends(
    value: float, draws: FloatArray, influence: FloatArray, confidence: float
) -> tuple[float, float]:
    """Bias-corrected and accelerated percentiles; plain ones where nothing varies."""
    draws = draws[np.isfinite(draws)]
    if not len(draws) or not np.isfinite(value):
        return float("nan"), float("nan")
    below = (np.sum(draws < value) + 0.5 * np.sum(draws == value)) / len(draws)
    bias = normal_quantile(float(np.clip(below, 1 / (len(draws) + 1), len(draws) / (len(draws) + 1))))
    spread = float(np.sum(influence**2))
    acceleration = float(np.sum(influence**3)) / (6 * spread**1.5) if spread > 0 else 0.0
    reach = normal_quantile((1 + confidence) / 2)
    levels = [normal_below(bias + z / max(1 - acceleration * z, 1e-3)) for z in (bias - reach, bias + reach)]
    low, high = np.quantile(draws, levels)
    return float(low), float(high)


def percentile_ends(draws: FloatArray, confidence: float) -> tuple[float, float]:
    """The middle share of the draws."""
    finite = draws[np.isfinite(draws)]
    if not len(finite):
        return float("nan"), float("nan")
    low, high = np.quantile(finite, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)
