"""Newton's method on the pairs of a ranking, a hinge rounded over a bend that narrows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from lineal.objective.bounds import Bound
from lineal.objective.linear_maps import LinearMap
from lineal.objective.losses import FloatArray
from lineal.objective.pair_losses import NARROWEST, PairLosses, PairSlopes, PairSums
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.base import Iterate, Need, Solver, Start
from lineal.solvers.newton import solve_positive

# Up to so many columns, and so many numbers in them, the Hessian is built and factorised.
_DIRECT_COLUMNS, _DIRECT_NUMBERS = 300, 1 << 26
# Columns of the Hessian that are made at a time: the sums of a query over them stay in a cache.
_BLOCK = 16
# The bend narrows to this share at a time, where its part of the gap is the larger one.
_NARROWER = 0.25
# A line search is content when the slope has fallen to this share, or after so many trials.
_FLAT_ENOUGH, _TRIALS = 0.05, 30
_CG_STEPS, _FORCING = 250, 1e-3
# It narrows when its part of the gap is so many times that of the slope.
_STEEP = 100.0

_NEEDS = (
    Need("the losses of pairs of a ranking", "loss", lambda p: p.losses.ranking is not None),
    Need("L2", "penalty", lambda p: p.penalty.is_ridge),
    Need("no intercept", "", lambda p: p.intercept is Intercept.NONE),
)


class RankingNewton(Solver):
    """Second-order steps over all pairs.

    Notes
    -----
    Needs losses of pairs under L2. Guarantees: the rounded objective falls at every step, and every iterate
    has a true lower bound. A step costs a Hessian (as many products as columns) where columns are few, and
    else some conjugate-gradient steps of two passes over X each; a walk over the pairs goes with each
    product. Published: Chapelle and Keerthi 2010; Lee and Lin 2014; the bend: Nesterov 2005.
    """

    name = "newton"

    @property
    def needs(self) -> tuple[Need, ...]:
        """Pairs, and a ridge."""
        return _NEEDS

    def iterates(self, problem: Problem, start: Start | None, tol: float, seed: int) -> Iterator[Iterate]:
        """One iterate for each step, and two for each narrowing, until there is no step left."""
        losses = problem.losses.ranking
        assert losses is not None
        w = np.zeros(problem.X.n_columns) if start is None else start.W[:, 0].copy()
        return _iterates(_Ranking(problem, problem.X, losses, float(problem.penalty.l2)), w)


@dataclass(frozen=True, eq=False)
class _Point:
    w: FloatArray
    z: FloatArray
    at: PairSums


@dataclass(frozen=True, eq=False)
class _Ranking:
    """The objective in the weights, (d,)."""

    problem: Problem
    X: LinearMap
    losses: PairLosses
    strength: float

    def scores(self, w: FloatArray) -> FloatArray:
        """z = X w."""
        return self.X.dot(w[:, None])[:, 0]

    def pull(self, slope: FloatArray) -> FloatArray:
        """v = X' slope."""
        return self.X.adjoint(slope[:, None])[:, 0]

    def at(self, w: FloatArray, z: FloatArray, width: float) -> _Point:
        return _Point(w, z, self.losses.walk(z, width))

    def primal(self, point: _Point) -> float:
        """P."""
        return point.at.exact + 0.5 * self.strength * float(point.w @ point.w)

    def rounded(self, point: _Point) -> float:
        """P with a hinge rounded."""
        return point.at.value + 0.5 * self.strength * float(point.w @ point.w)

    def dual(self, at: PairSums, v: FloatArray) -> float:
        """D at the slopes, whose pull is v."""
        return at.conjugates - float(v @ v) / (2 * self.strength)

    def iterate(self, weights: _Point, slopes: _Point, width: float, dual: float) -> Iterate:
        """Weights, and the slopes at a point with what they prove."""
        U = PairSlopes(slopes.z, width)
        gap = self.problem.relative_gap(self.primal(weights), dual)
        return Iterate(lambda: (weights.w[:, None], np.zeros(1)), lambda: U, gap, bound=Bound(U, None, dual))

    def hessian_product(self, at: PairSums, width: float, direction: FloatArray) -> FloatArray:
        """The Hessian of the losses times a direction: two passes over X."""
        moved = self.scores(direction)[self.losses.pairs.order]
        bent = self.losses.products(at, width, np.ascontiguousarray(moved[:, None]))[:, 0]
        return self.pull(self.losses.in_order_of_rows(bent))

    def hessian(self, at: PairSums, width: float, columns: FloatArray) -> FloatArray:
        """The Hessian of the losses; ``columns`` are the columns of X in the order of the pairs."""
        d = self.X.n_columns
        H = np.empty((d, d))
        for first in range(0, d, _BLOCK):
            block = np.ascontiguousarray(columns[:, first : first + _BLOCK])
            H[:, first : first + _BLOCK] = self.X.adjoint(
                self.losses.in_order_of_rows(self.losses.products(at, width, block))
            )
        return 0.5 * (H + H.T)

    def columns(self) -> FloatArray:
        """(n, d) the rows of X in the order of the pairs, dense."""
        d = self.X.n_columns
        return np.hstack(
            [self.X.dot(np.eye(d, min(_BLOCK, d - first), -first)) for first in range(0, d, _BLOCK)]
        )[self.losses.pairs.order]


def _iterates(problem: _Ranking, w: FloatArray) -> Iterator[Iterate]:
    is_rounded, margin = problem.losses.loss.is_hinge, problem.losses.margin
    z = problem.scores(w)
    width = _first_width(problem, w, z) if is_rounded else 1.0
    point = problem.at(w, z, width)
    inverse_of = _inverses(problem)
    while True:
        v = problem.pull(point.at.slope)
        gradient = problem.strength * point.w + v
        primal, dual = problem.primal(point), problem.dual(point.at, v)
        yield problem.iterate(point, point, width, dual)
        inverse = inverse_of(point, width)
        newton = inverse(gradient)
        steep = float(gradient @ gradient) / (2 * problem.strength)
        # What rounding adds to the gap, beside what is left of the slope.
        is_done = is_rounded and primal - dual - steep > _STEEP * steep
        following = None if is_done else _step(problem, point, width, gradient, -newton)
        if following is None:
            if not is_rounded or width <= NARROWEST * margin:
                return
            sharp, following = _narrowed(problem, point, width, newton, inverse)
            yield problem.iterate(sharp, point, width, dual)
            width *= _NARROWER
        point = following


def _first_width(problem: _Ranking, w: FloatArray, z: FloatArray) -> float:
    """The margin, or, where there are weights to begin with, the bend that proves most about them."""
    margin = problem.losses.margin
    width, best, found = margin, -np.inf, margin
    while w.any() and width > NARROWEST * margin:
        at = problem.losses.walk(z, width)
        dual = problem.dual(at, problem.pull(at.slope))
        best, found = (dual, width) if dual > best else (best, found)
        width *= _NARROWER
    return found


def _narrowed(
    problem: _Ranking, point: _Point, width: float, newton: FloatArray, inverse: _Inverse
) -> tuple[_Point, _Point]:
    """Where the optimum goes when the bend narrows: to nothing, and to its next width.

    While no pair enters or leaves the bend, the optimum is linear in its width, so that its limit is known
    long before the bend is narrow: the dual point of a wide bend proves what the weights of none are worth.
    """
    inside = point.at.slope - problem.losses.beyond(point.z, width)  # the slopes of the pairs in the bend
    move = inverse(problem.pull(inside))

    def at(share: float, new_width: float) -> _Point:
        w = point.w - newton - (1 - share) * move
        return problem.at(w, problem.scores(w), new_width)

    following = at(_NARROWER, _NARROWER * width)
    stayed = problem.at(point.w, point.z, _NARROWER * width)
    is_lower = problem.rounded(following) < problem.rounded(stayed)
    return at(0.0, width), following if is_lower else stayed


# ---- the inverse of the Hessian -----------------------------------------------------------------

_Inverse = Callable[[FloatArray], FloatArray]


def _inverses(problem: _Ranking) -> Callable[[_Point, float], _Inverse]:
    d = problem.X.n_columns
    if d <= _DIRECT_COLUMNS and d * problem.X.n_rows <= _DIRECT_NUMBERS:
        columns = problem.columns()

        def direct(point: _Point, width: float) -> _Inverse:
            H = problem.hessian(point.at, width, columns)
            bend = np.full(d, problem.strength)
            return lambda right: solve_positive(H, bend, right)

        return direct
    return lambda point, width: lambda right: _conjugate_gradients(problem, point, width, right)


def _conjugate_gradients(problem: _Ranking, point: _Point, width: float, right: FloatArray) -> FloatArray:
    """The inverse Hessian times a vector, roughly; the diagonal preconditions."""
    lam = problem.strength
    # A bound on the diagonal, at most twice as large: (x_i - x_j)^2 <= 2 x_i^2 + 2 x_j^2.
    diagonal = lam + problem.X.squared_adjoint(point.at.curvature[:, None])[:, 0]
    step, residual = np.zeros_like(right), right
    scaled = residual / diagonal
    direction, square = scaled, float(residual @ scaled)
    enough = _FORCING * square
    for _ in range(_CG_STEPS):
        bent = problem.hessian_product(point.at, width, direction) + lam * direction
        curvature = float(direction @ bent)
        if not curvature > 0:
            break
        t = square / curvature
        step = step + t * direction
        residual = residual - t * bent
        scaled = residual / diagonal
        fresh = float(residual @ scaled)
        if fresh <= enough:
            break
        direction, square = scaled + (fresh / square) * direction, fresh
    return step


# ---- steps --------------------------------------------------------------------------------------


def _step(
    problem: _Ranking, point: _Point, width: float, gradient: FloatArray, direction: FloatArray
) -> _Point | None:
    """The lowest point along a direction, nearly; None where nothing can be gained.

    The slope along the line is piecewise smooth and rising: its zero is bracketed, and closed in on by
    secants that stay off the ends of the bracket. A trial costs a walk over the pairs and no pass over X.
    """
    lam, w = problem.strength, point.w
    moved = problem.scores(direction)
    own, square = lam * float(w @ direction), lam * float(direction @ direction)
    start = float(direction @ gradient)
    if not start < 0:
        return None

    def trial(t: float) -> tuple[float, _Point]:
        z = point.z + t * moved
        there = problem.at(w + t * direction, z, width)
        slope = own + t * square + float(there.at.slope @ moved) if np.isfinite(there.at.value) else np.inf
        return slope, there

    low, low_slope, high, high_slope = 0.0, start, np.inf, np.inf
    t, best = 1.0, None
    for _ in range(_TRIALS):
        slope, there = trial(t)
        if slope <= 0:
            low, low_slope, best = t, slope, there
        else:
            high, high_slope = t, slope
        if abs(slope) <= _FLAT_ENOUGH * abs(start):
            best = there
            break
        if high == np.inf:
            t *= 2
            continue
        if np.isfinite(high_slope):
            inside = 0.1 * (high - low)
            secant = (low * high_slope - high * low_slope) / (high_slope - low_slope)
            t = min(max(secant, low + inside), high - inside)
        else:
            t = 0.5 * (low + high)
        if not low < t < high:
            break
    if best is None:
        return None
    return best if problem.rounded(best) < problem.rounded(point) else None
