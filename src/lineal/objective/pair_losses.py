"""The losses of a ranking: one for each pair of rows of a query, of the difference of their scores.

For scores z and pairs (i, j) of rows of one query in which row i has the higher grade, with weights p_ij::

    F(z)  =  sum over pairs p_ij loss(z_i - z_j)
    F*(g) <= sum over pairs p_ij loss*(-a_ij),      g = -sum over pairs p_ij a_ij (e_i - e_j)

That is the loss of targets +1 on the differences x_i - x_j, and no difference is ever formed: one walk over
the sorted scores gives values, slopes and conjugates of all pairs.

A dual point is the slopes a_ij of all pairs at some scores. A hinge is rounded over a bend of width mu for
that, a = clip(t / mu, 0, 1) at t = margin - (z_i - z_j): those slopes are feasible for the hinge itself,
whose conjugate at them is -margin a. So a point is told by scores, a width and a factor (``PairSlopes``);
points of different widths cannot be added.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lineal.objective.intercept_refit import Refit
from lineal.objective.loss_sums import LossSum
from lineal.objective.losses import FloatArray, Loss
from lineal.objective.ranking_pairs import Pairs, Places

# No bend is narrower than this share of the margin: slopes are differences of scores over it.
NARROWEST = 1e-9
# Widths of the bend that a proof from the weights alone tries, in units of the margin.
_WIDTHS = 4.0 ** -np.arange(16)


@dataclass(frozen=True, eq=False)
class PairSlopes:
    """The slopes of all pairs at scores z, (n,), a hinge rounded over a width, times a factor."""

    z: FloatArray
    width: float
    factor: float = 1.0


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums over all pairs at some scores.

    Attributes
    ----------
    value : float
        Of the losses, a hinge rounded.
    exact : float
        Of the losses themselves.
    conjugates : float
        -sum p loss*(-a) at the slopes a, of the losses themselves.
    half_square : float
        sum p a^2 / 2, for a rounded hinge; else 0.
    slope, curvature : (n,) arrays
        Derivatives of ``value`` in the scores, in the order of the rows.
    z : (n,) array
        The scores, in the order of the pairs.
    """

    value: float
    exact: float
    conjugates: float
    half_square: float
    slope: FloatArray
    curvature: FloatArray
    z: FloatArray


@dataclass(frozen=True, eq=False)
class PairLosses(LossSum):
    """The losses of all pairs, walked over in the core.

    Attributes
    ----------
    pairs : Pairs
    loss : Hinge, SquaredHinge or Log
        Of a difference of scores, with target +1.
    width : float or None
        Of the bend over which a hinge is rounded; None for the hinge itself.
    n_threads : int
        Changes the time, never a bit.
    """

    pairs: Pairs
    loss: Loss
    width: float | None = None
    n_threads: int = 1
    _latest: dict[float, tuple[FloatArray, PairSums]] = field(default_factory=dict, repr=False)

    can_be_smoothed = True
    has_array_duals = False
    refits_constants = False
    has_common_shift = True

    @property
    def ranking(self) -> PairLosses:
        return self

    @property
    def shape(self) -> tuple[int, int]:
        return self.pairs.n_rows, 1

    @property
    def names(self) -> str:
        return f"{self.loss} of pairs"

    @property
    def is_smooth(self) -> bool:  # type: ignore[override]
        return self.loss.is_smooth or self.width is not None

    @property
    def is_rounded(self) -> bool:  # type: ignore[override]
        return self.width is not None

    @property
    def total_weight(self) -> float:
        return self.pairs.weight

    @property
    def margin(self) -> float:
        """What a difference must reach to cost nothing."""
        return float(getattr(self.loss, "margin", 0.0))

    # ---- one walk over the pairs --------------------------------------------------------------

    def walk(self, z: FloatArray, width: float) -> PairSums:
        """All sums at scores z; the latest are kept, for value and slopes are mostly asked for together."""
        known = self._latest.get(width)
        if known is not None and np.array_equal(known[0], z):
            return known[1]
        found = self._walk(z, width)
        self._latest.clear()
        self._latest[width] = (z.copy(), found)
        return found

    def _walk(self, z: FloatArray, width: float) -> PairSums:
        pairs = self.pairs
        placed = np.ascontiguousarray(z[pairs.order])
        slope, curvature = np.empty_like(placed), np.empty_like(placed)
        if not np.isfinite(placed).all():
            return PairSums(np.inf, np.inf, -np.inf, 0.0, slope, curvature, placed)
        half_square = 0.0
        if self.loss.is_likelihood:
            value, _, _ = pairs.native.log_slopes(placed, slope, curvature, self.n_threads)
            exact, conjugates = value, value - float(slope @ (placed - placed[pairs.starts()]))
        else:
            value, hinge, slopes = pairs.native.bent_slopes(
                placed, *self._bend(width), slope, curvature, self.n_threads
            )
            exact = hinge if self.loss.is_hinge else value
            conjugates = self.margin * slopes - (0.0 if self.loss.is_hinge else value)
            if self.loss.is_hinge:
                met = float(slope @ (placed - placed[pairs.starts()])) + self.margin * slopes
                half_square = max(met - value, 0.0) / width
        spread = self.in_order_of_rows
        return PairSums(value, exact, conjugates, half_square, spread(slope), spread(curvature), placed)

    def _bend(self, width: float) -> tuple[float, float, float]:
        return (self.margin, 1 / width, width) if self.loss.is_hinge else (self.margin, 2.0, np.inf)

    def beyond(self, z: FloatArray, width: float) -> FloatArray:
        """The slopes of the pairs that lie beyond the bend of a rounded hinge, in the scores."""
        placed = np.ascontiguousarray(z[self.pairs.order])
        slope, unused = np.empty_like(placed), np.empty_like(placed)
        edge = 1e-12 * width  # a hinge whose bend is next to none begins where the other one ends
        self.pairs.native.bent_slopes(
            placed, max(self.margin - width, 0.0), 1 / edge, edge, slope, unused, self.n_threads
        )
        return self.in_order_of_rows(slope)

    def products(self, at: PairSums, width: float, V: FloatArray) -> FloatArray:
        """The Hessian in the scores times V, (n, k), both in the order of the pairs."""
        out = np.empty_like(V)
        if self.loss.is_likelihood:
            self.pairs.native.log_products(at.z, V, out, self.n_threads)
        else:
            self.pairs.native.bent_products(at.z, *self._bend(width), V, out, self.n_threads)
        return out

    def in_order_of_rows(self, placed: FloatArray) -> FloatArray:
        """From the order of the pairs to that of the rows."""
        spread = np.empty_like(placed)
        spread[self.pairs.order] = placed
        return spread

    @property
    def _own_width(self) -> float:
        """That of the bend; of a hinge itself the narrowest, whose slopes are subgradients."""
        return NARROWEST * (self.margin or 1.0) if self.width is None else self.width

    # ---- as a sum of losses -------------------------------------------------------------------

    def value(self, Z: FloatArray) -> float:
        at = self.walk(Z[:, 0], self._own_width)
        return at.exact if self.width is None else at.value

    def slopes(self, Z: FloatArray) -> PairSlopes:
        return PairSlopes(Z[:, 0].copy(), self._own_width)

    def pull(self, U: PairSlopes) -> FloatArray:
        return U.factor * self.walk(U.z, U.width).slope[:, None]

    def conjugate(self, U: PairSlopes) -> float:
        at, t = self.walk(U.z, U.width), U.factor
        if self.loss.is_hinge:
            return -t * at.conjugates + (self.width or 0.0) * t * t * at.half_square
        if t == 1.0 or self.loss.is_likelihood:
            return -t * at.conjugates  # conjugates are convex and 0 at 0, so t times is above
        return -t * (at.conjugates + at.value) + t * t * at.value

    def half_square(self, U: PairSlopes) -> float:
        return U.factor * U.factor * self.walk(U.z, U.width).half_square

    def curvatures(self, Z: FloatArray) -> FloatArray:
        return self.walk(Z[:, 0], self._own_width).curvature[:, None]

    def curvature_product(self, Z: FloatArray, M: FloatArray) -> FloatArray:
        at = self.walk(Z[:, 0], self._own_width)
        placed = np.ascontiguousarray(M[self.pairs.order])
        return self.in_order_of_rows(self.products(at, self._own_width, placed))

    def anchor(self) -> PairSlopes:
        return PairSlopes(np.zeros(self.shape[0]), self.margin or 1.0, 0.0)

    def shrink(self, U: PairSlopes, factor: float) -> PairSlopes:
        return replace(U, factor=U.factor * factor)

    def refit(self, Z: FloatArray) -> Refit:
        return Refit(np.zeros(1), self.slopes(Z))

    def smoothed(self, width: float) -> LossSum:
        return replace(self, width=width, _latest={}) if self.loss.is_hinge else self

    def dual_candidates(self, Z: FloatArray) -> Iterator[tuple[str, Any]]:
        """Slopes of bends of many widths: which proves most, scores alone do not tell."""
        widths = self.margin * _WIDTHS if self.loss.is_hinge else [1.0]
        return (("slopes of the losses", PairSlopes(Z[:, 0], float(width))) for width in widths)


@dataclass(frozen=True, eq=False)
class NumpyPairLosses(PairLosses):
    """The same from every pair, a few rows at a time, in NumPy: a road that owes nothing to the core."""

    def _walk(self, z: FloatArray, width: float) -> PairSums:
        loss, target = self.loss, np.ones(1)
        rounded: Loss = loss.smoothed(width) if loss.is_hinge else loss
        low, high = (float(end[0]) for end in loss.domain(target))
        placed = z[self.pairs.order]
        slope = np.zeros_like(placed)
        value = exact = conjugates = half_square = 0.0
        for better, worse, weight in _blocks(self.pairs):
            margins = placed[better][:, None] - placed[worse]
            u = np.clip(rounded.derivative(target, margins), low, high)
            value += float(np.vdot(weight, rounded.value(target, margins)))
            exact += float(np.vdot(weight, loss.value(target, margins)))
            conjugates -= float(np.vdot(weight, loss.conjugate(target, u)))
            half_square += 0.5 * float(np.vdot(weight, u * u)) if loss.is_hinge else 0.0
            slope[better] += (weight * u).sum(axis=1)
            slope[worse] -= (weight * u).sum(axis=0)
        spread = self.in_order_of_rows(slope)
        return PairSums(value, exact, conjugates, half_square, spread, np.zeros_like(spread), placed)

    def worst(self, Z: FloatArray, U: PairSlopes) -> float:
        """The largest term of one pair."""
        loss, target, worst = self.loss, np.ones(1), 0.0
        rounded: Loss = loss.smoothed(U.width) if loss.is_hinge else loss
        low, high = (float(end[0]) for end in loss.domain(target))
        z, at = Z[self.pairs.order, 0], U.z[self.pairs.order]
        for better, worse, weight in _blocks(self.pairs):
            margins = z[better][:, None] - z[worse]
            u = np.clip(rounded.derivative(target, at[better][:, None] - at[worse]), low, high) * U.factor
            terms = loss.value(target, margins) + loss.conjugate(target, u) - margins * u
            worst = max(worst, float((weight * terms).max(initial=0.0)))
        return worst


def _blocks(pairs: Pairs, most: int = 1 << 20) -> Iterator[tuple[Places, Places, FloatArray]]:
    """All pairs, some rows of one grade at a time: better rows, the rows below them, (k, m) weights."""
    for q, (first, last) in enumerate(zip(pairs.query_first[:-1], pairs.query_first[1:], strict=True)):
        begin = pairs.group_first[first]
        for group in range(first + 1, last):
            worse = np.arange(begin, pairs.group_first[group])
            better = np.arange(pairs.group_first[group], pairs.group_first[group + 1])
            for rows in np.array_split(better, -(-len(better) * len(worse) // most)):
                yield rows, worse, pairs.c[q] * pairs.s[rows][:, None] * pairs.s[worse]
