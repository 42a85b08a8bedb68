"""Newton's method on the pairs of a ranking, a hinge rounded over a bend that narrows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from lineal.learners.scenarios.ranking.problem import Losses, RankingProblem
from lineal.objective.losses import FloatArray, Hinge
from lineal.solvers.newton import solve_positive

# Up to so many columns, and so many numbers in them, the Hessian is built and factorised.
_DIRECT_COLUMNS, _DIRECT_NUMBERS = 300, 1 << 26
# The bend narrows to this share at a time, where its part of the gap is the larger one.
_NARROWER = 0.25
# No bend is narrower than this share of the margin: slopes are differences of scores over it.
_NARROWEST = 1e-9
# A line search is content when the slope has fallen to this share, or after so many trials.
_FLAT_ENOUGH, _TRIALS = 0.05, 30
_CG_STEPS, _FORCING = 250, 1e-3
# It narrows when its part of the gap is so many times that of the slope.
_STEEP = 100.0


@dataclass(frozen=True, eq=False)
class Iterate:
    """Weights with their objective, and a dual point with its bound.

    The dual point is the slopes of the losses, rounded over ``width``, at the scores of ``slopes_at``;
    ``v`` is its pull.
    """

    w: FloatArray
    primal: float
    slopes_at: FloatArray
    width: float
    v: FloatArray
    dual: float


@dataclass(frozen=True, eq=False)
class _Point:
    w: FloatArray
    z: FloatArray
    at: Losses


def newton_iterates(problem: RankingProblem, w: FloatArray) -> Iterator[Iterate]:
    """One iterate for each step, and two for each narrowing, until there is no step left.

    Notes
    -----
    Needs a positive strength. Guarantees: the rounded objective falls at every step, and every iterate has a
    true lower bound. A step costs a Hessian (as many products as columns) where columns are few, and else
    some conjugate-gradient steps of two passes over X each; a walk over the pairs goes with each product.
    After Chapelle and Keerthi 2010 and Lee and Lin 2014; the bend after Nesterov 2005.
    """
    is_rounded = isinstance(problem.loss, Hinge)
    z = problem.scores(w)
    width = _first_width(problem, w, z) if is_rounded else 1.0
    point = _Point(w, z, problem.losses(z, width))
    inverse_of = _inverses(problem)
    while True:
        v = problem.pull(point.at.slope)
        gradient = problem.strength * point.w + v
        primal, dual = problem.primal(point.at, point.w), problem.dual(point.at, v)
        yield Iterate(point.w, primal, point.w, width, v, dual)
        inverse = inverse_of(point, width)
        newton = inverse(gradient)
        steep = float(gradient @ gradient) / (2 * problem.strength)
        # What rounding adds to the gap, beside what is left of the slope.
        is_done = is_rounded and primal - dual - steep > _STEEP * steep
        following = None if is_done else _step(problem, point, width, gradient, -newton)
        if following is None:
            if not is_rounded or width <= _NARROWEST * problem.margin:
                return
            sharp, following = _narrowed(problem, point, width, newton, inverse)
            yield Iterate(sharp.w, problem.primal(sharp.at, sharp.w), point.w, width, v, dual)
            width *= _NARROWER
        point = following


def _first_width(problem: RankingProblem, w: FloatArray, z: FloatArray) -> float:
    """The margin, or, where there are weights to begin with, the bend that proves most about them."""
    width = problem.margin
    best, found = -np.inf, width
    while w.any() and width > _NARROWEST * problem.margin:
        at = problem.losses(z, width)
        dual = problem.dual(at, problem.pull(at.slope))
        best, found = (dual, width) if dual > best else (best, found)
        width *= _NARROWER
    return found


def _narrowed(
    problem: RankingProblem, point: _Point, width: float, newton: FloatArray, inverse: _Inverse
) -> tuple[_Point, _Point]:
    """Where the optimum goes when the bend narrows: to nothing, and to its next width.

    While no pair enters or leaves the bend, the optimum is linear in its width, so that its limit is known
    long before the bend is narrow: the dual point of a wide bend proves what the weights of none are worth.
    """
    inside = point.at.slope - problem.beyond(point.z, width)  # the slopes of the pairs in the bend
    move = inverse(problem.pull(inside))

    def at(share: float, new_width: float) -> _Point:
        w = point.w - newton - (1 - share) * move
        z = problem.scores(w)
        return _Point(w, z, problem.losses(z, new_width))

    following = at(_NARROWER, _NARROWER * width)
    stayed = _Point(point.w, point.z, problem.losses(point.z, _NARROWER * width))
    is_lower = problem.rounded(following.at, following.w) < problem.rounded(stayed.at, stayed.w)
    return at(0.0, width), following if is_lower else stayed


# ---- the inverse of the Hessian -----------------------------------------------------------------

_Inverse = Callable[[FloatArray], FloatArray]


def _inverses(problem: RankingProblem) -> Callable[[_Point, float], _Inverse]:
    d = problem.X.n_columns
    if d <= _DIRECT_COLUMNS and d * problem.X.n_rows <= _DIRECT_NUMBERS:
        columns = problem.columns()

        def direct(point: _Point, width: float) -> _Inverse:
            H = problem.hessian(point.at, width, columns)
            bend = np.full(d, problem.strength)
            return lambda right: solve_positive(H, bend, right)

        return direct
    return lambda point, width: lambda right: _conjugate_gradients(problem, point, width, right)


def _conjugate_gradients(
    problem: RankingProblem, point: _Point, width: float, right: FloatArray
) -> FloatArray:
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
    problem: RankingProblem, point: _Point, width: float, gradient: FloatArray, direction: FloatArray
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
        at = problem.losses(z, width)
        slope = own + t * square + float(at.slope @ moved) if np.isfinite(at.value) else np.inf
        return slope, _Point(w + t * direction, z, at)

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
    before, after = problem.rounded(point.at, w), problem.rounded(best.at, best.w)
    return best if after < before else None
