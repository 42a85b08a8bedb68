"""The objective of a ranking: what is minimised, its dual, and the gap between them.

For scores z = X w and the pairs (i, j) of rows of one query in which row i has the higher grade::

    P(w) =  sum over pairs p_ij loss(z_i - z_j) + (lam / 2) |w|^2
    D(a) = -sum over pairs p_ij loss*(-a_ij) - |v|^2 / (2 lam),    v = -sum over pairs p_ij a_ij (x_i - x_j)
    P - D >= 0  for every w and every a in the domain of loss*, and = 0 at the optimum.

That is :class:`lineal.objective.Problem` on the differences x_i - x_j with target +1 and no intercept, and no
difference is ever formed. Slopes of a smooth loss are a dual point, and so are those of a hinge rounded over
a bend of width mu, a = clip(t / mu, 0, 1) at t = margin - (z_i - z_j): they are feasible for the hinge
itself, whose conjugate at them is -margin a. So one walk over the sorted scores gives P, D and the gradient.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lineal.objective.linear_maps import LinearMap
from lineal.objective.losses import FloatArray, Hinge, Log, Loss, SquaredHinge
from lineal.objective.ranking_pairs import Pairs

# Columns of the Hessian that are made at a time: the sums of a query over them stay in a cache.
_BLOCK = 16
# |P| alone is no yardstick when the optimum is 0 (pairs that can all be ordered, and next to no penalty).
_FLOOR = 1e-12


@dataclass(frozen=True, eq=False)
class Losses:
    """The losses of all pairs at some scores.

    Attributes
    ----------
    value : float
        The sum of the losses, a hinge rounded.
    exact : float
        The sum of the losses themselves.
    conjugates : float
        -sum p loss*(-a) at the slopes a: the dual objective without its penalty.
    slope, curvature : (n,) arrays
        Derivatives of ``value`` in the scores.
    z : (n,) array
        The scores, in the order of the pairs.
    """

    value: float
    exact: float
    conjugates: float
    slope: FloatArray
    curvature: FloatArray
    z: FloatArray


@dataclass(frozen=True, eq=False)
class RankingProblem:
    """Rows, their pairs, a loss of differences and a strength; see the module.

    Attributes
    ----------
    X : LinearMap
    pairs : Pairs
    loss : Hinge, SquaredHinge or Log
    strength : float
        lam.
    n_threads : int
        Changes the time, never a bit.
    """

    X: LinearMap
    pairs: Pairs
    loss: Loss
    strength: float
    n_threads: int = 1

    @property
    def margin(self) -> float:
        """What a difference must reach to cost nothing."""
        return float(self.loss.margin) if isinstance(self.loss, (Hinge, SquaredHinge)) else 0.0

    def scores(self, w: FloatArray) -> FloatArray:
        """z = X w."""
        return self.X.dot(w[:, None])[:, 0]

    def pull(self, slope: FloatArray) -> FloatArray:
        """v = X' slope."""
        return self.X.adjoint(slope[:, None])[:, 0]

    # ---- in the scores ------------------------------------------------------------------------

    def _bend(self, width: float) -> tuple[float, float, float]:
        return (
            (self.margin, 2.0, np.inf)
            if isinstance(self.loss, SquaredHinge)
            else (self.margin, 1 / width, width)
        )

    def losses(self, z: FloatArray, width: float) -> Losses:
        """All sums over pairs; scores that are no numbers have infinite losses."""
        pairs = self.pairs
        placed = np.ascontiguousarray(z[pairs.order])
        slope, curvature = np.empty_like(placed), np.empty_like(placed)
        if not np.isfinite(placed).all():
            return Losses(np.inf, np.inf, -np.inf, slope, curvature, placed)
        if isinstance(self.loss, Log):
            value, _, _ = pairs.native.log_slopes(placed, slope, curvature, self.n_threads)
            exact, conjugates = value, value - float(slope @ (placed - placed[pairs.starts()]))
        else:
            value, hinge, slopes = pairs.native.bent_slopes(
                placed, *self._bend(width), slope, curvature, self.n_threads
            )
            is_hinge = isinstance(self.loss, Hinge)
            exact = hinge if is_hinge else value
            conjugates = self.margin * slopes - (0.0 if is_hinge else value)
        return Losses(value, exact, conjugates, self._spread(slope), self._spread(curvature), placed)

    def beyond(self, z: FloatArray, width: float) -> FloatArray:
        """The slopes of the pairs that lie beyond the bend of a rounded hinge, in the scores."""
        placed = np.ascontiguousarray(z[self.pairs.order])
        slope, unused = np.empty_like(placed), np.empty_like(placed)
        edge = 1e-12 * width  # a hinge whose bend is next to none begins where the other one ends
        self.pairs.native.bent_slopes(
            placed, max(self.margin - width, 0.0), 1 / edge, edge, slope, unused, self.n_threads
        )
        return self._spread(slope)

    def products(self, at: Losses, width: float, V: FloatArray) -> FloatArray:
        """The Hessian in the scores times V, (n, k), both in the order of the pairs."""
        out = np.empty_like(V)
        if isinstance(self.loss, Log):
            self.pairs.native.log_products(at.z, V, out, self.n_threads)
        else:
            self.pairs.native.bent_products(at.z, *self._bend(width), V, out, self.n_threads)
        return out

    def _spread(self, placed: FloatArray) -> FloatArray:
        """From the order of the pairs to that of the rows."""
        spread = np.empty_like(placed)
        spread[self.pairs.order] = placed
        return spread

    # ---- in the weights -----------------------------------------------------------------------

    def primal(self, at: Losses, w: FloatArray) -> float:
        """P(w)."""
        return at.exact + 0.5 * self.strength * float(w @ w)

    def rounded(self, at: Losses, w: FloatArray) -> float:
        """P(w) with a hinge rounded."""
        return at.value + 0.5 * self.strength * float(w @ w)

    def dual(self, at: Losses, v: FloatArray) -> float:
        """D at the slopes, whose pull is v."""
        return at.conjugates - float(v @ v) / (2 * self.strength)

    def relative_gap(self, primal: float, dual: float) -> float:
        """(P - D) / max(|P|, 1e-12 P(0)), what ``tol`` is compared with."""
        at_zero = float(self.loss.value(np.ones(1), np.zeros(1))[0])
        scale = max(abs(primal), _FLOOR * at_zero * self.pairs.weight)
        if scale == 0.0:
            return 0.0 if primal <= dual else np.inf
        return (primal - dual) / scale

    def hessian_product(self, at: Losses, width: float, direction: FloatArray) -> FloatArray:
        """The Hessian of the losses times a direction: two passes over X."""
        moved = self.scores(direction)[self.pairs.order]
        bent = self.products(at, width, np.ascontiguousarray(moved[:, None]))[:, 0]
        return self.pull(self._spread(bent))

    def hessian(self, at: Losses, width: float, columns: FloatArray) -> FloatArray:
        """The Hessian of the losses; ``columns`` are the columns of X in the order of the pairs."""
        d = self.X.n_columns
        H = np.empty((d, d))
        for first in range(0, d, _BLOCK):
            block = np.ascontiguousarray(columns[:, first : first + _BLOCK])
            bent = np.empty_like(block)
            bent[self.pairs.order] = self.products(at, width, block)
            H[:, first : first + _BLOCK] = self.X.adjoint(bent)
        return 0.5 * (H + H.T)

    def columns(self) -> FloatArray:
        """(n, d) the rows of X in the order of the pairs, dense."""
        d = self.X.n_columns
        return np.hstack(
            [self.X.dot(np.eye(d, min(_BLOCK, d - first), -first)) for first in range(0, d, _BLOCK)]
        )[self.pairs.order]
