"""Lower bounds on the objective: D at a feasible dual point, honest about rounding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.objective.losses import FloatArray
from lineal.objective.problem import Intercept, Problem

# Sums of n terms that cancel are 0 to a few of these, times the terms' size.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Bound:
    """A lower bound on the objective: D at a feasible U.

    Attributes
    ----------
    U : dual point
        The feasible point.
    V : array or None
        X'G, or what stands for it to rounding; not kept under a ridge, where its size says all.
    dual : float
        D(U).
    worst_weight : float or None
        Under a ridge, the largest term of the gap among the weights that the bound was asked for with, or the
        sum of all of them where only that is known.
    """

    U: Any
    V: FloatArray | None
    dual: float
    worst_weight: float | None = None


def lower_bound(problem: Problem, U: Any, V: FloatArray | None, W: FloatArray, b: FloatArray) -> Bound:
    """D(U) for a U that is feasible up to rounding; V = X'G is not needed under a ridge.

    Sums that should be exactly 0 (those of G under a free intercept, V where nothing is penalised) are 0 to
    rounding only. A residue above rounding gives no bound at all; what a smaller one could be worth at
    the optimum is charged to the bound, with the largest of the present weights, doubled, standing in for
    the optimal ones; weights are compared in units of their columns.
    """
    charge, is_sound = 0.0, True
    penalty = problem.penalty
    if problem.intercept is Intercept.FREE:
        left, size = problem.losses.balance_left(U)
        residue = np.abs(left)
        size = size if problem.is_by_output else size.max(keepdims=True)
        is_sound = bool((residue <= _ROUNDING * size).all())
        charge += 2 * float(residue @ np.abs(b))
    worst_weight = None
    if penalty.is_ridge:
        conjugate, worst_weight = problem.pulled(U, W, b)
    else:
        assert V is not None
        free = penalty.free_columns(len(V))
        if free is None:
            conjugate = penalty.conjugate_total(-V)
        else:
            conjugate = 0.0 if free.all() else penalty.conjugate_total(np.where(free[:, None], 0.0, -V))
            cost, is_zero = _charge_of_free(problem, U, V, W, free)
            charge, is_sound = charge + cost, is_sound and is_zero
        if problem.intercept is Intercept.PENALIZED:
            conjugate += problem.constants_penalty.conjugate(-problem.losses.sums(U))
    dual = -problem.losses.conjugate(U) - conjugate - charge
    return Bound(U, V, dual if is_sound and np.isfinite(dual) else -np.inf, worst_weight)


def _charge_of_free(
    problem: Problem, U: FloatArray, V: FloatArray, W: FloatArray, free: NDArray[np.bool_]
) -> tuple[float, bool]:
    """What is left of V where it should be 0 can be worth so much; and whether it is rounding."""
    # Cauchy and Schwarz bound what |v_j| could be, had its terms nothing to do with each other.
    ones = np.ones((problem.X.n_rows, 1))
    columns = np.sqrt(problem.X.squared_adjoint(problem.losses.weighted(ones)))
    squares = problem.losses.weighted(U * U).sum(axis=0).reshape(W.shape[1], -1)  # by column of W
    size = np.sqrt(squares.sum(axis=1))
    if not problem.is_by_output:  # a class that is told apart has next to nothing, and the rounding of others
        size = np.full_like(size, size.max())
    V = np.where(free[:, None], V, 0.0)
    is_zero = bool(np.all(np.abs(V) <= _ROUNDING * columns * size))
    if free.all():
        is_zero &= _is_faint_part_rounding(problem, U, V, columns, size)
    # v_j w_j does not know the unit of column j: v_j / |x_j| and |x_j| w_j do neither.
    residue = np.divide(np.abs(V), columns, out=np.zeros_like(V), where=columns > 0).sum(axis=0)
    return 2 * float(residue @ (columns * np.abs(W)).max(axis=0, initial=0.0)), is_zero


def _is_faint_part_rounding(
    problem: Problem, U: FloatArray, V: FloatArray, columns: FloatArray, size: FloatArray
) -> bool:
    """Whether V is 0 to the last bits along combinations of columns that nearly vanish in every row.

    Weights may be as large there as they please: a column of 10^9 +- 1 beside an intercept tells classes
    apart with weights 10^9 times its own unit. A residue far below that of other directions can be worth all
    of the objective.
    """
    directions = problem.faint_directions
    if not directions.size:
        return True
    sizes, residue = columns, V
    if problem.intercept is Intercept.FREE:
        total = problem.losses.weighted(np.ones((problem.X.n_rows, 1))).sum()
        sizes = np.vstack([columns, np.full((1, 1), np.sqrt(total))])
        residue = np.vstack([V, problem.losses.pull(U).sum(axis=0)])
    part = directions.T @ np.divide(residue, sizes, out=np.zeros_like(residue), where=sizes > 0)
    bits = np.finfo(np.float64).eps * (30 + 4 * np.sqrt(problem.X.n_rows))
    return bool(np.all(np.abs(part) <= bits * size))


def bound_within_rounding(problem: Problem, U: FloatArray, W: FloatArray, b: FloatArray) -> Bound | None:
    """A lower bound from a U whose V is right to rounding, where that is worth more than the penalty.

    V sums terms that cancel, and is known to some bits of their size: a column of 10^13 beside a strength of
    1 leaves none of it. Whatever V is, with any v beside it::

        P(w*)  >=  -F*(G) - R*(-v) + (V - v).w*        for the optimal w*

    so v may be what the weights ask for, -R'(W), as far as rounding allows, and the difference is charged,
    with the largest of the present weights, doubled and in units of their columns, standing in for w*. None
    where parts of the penalty are not known, or scores share weights.
    """
    losses, penalty = problem.losses, problem.penalty
    is_known = (penalty.is_elastic and not penalty.has_free_columns) or penalty.has_groups
    is_known = is_known and losses.has_array_duals
    if not is_known or problem.has_shared_weights or problem.intercept is Intercept.PENALIZED:
        return None
    U = losses.into_domain(U)
    rows = losses.weighted(np.ones((problem.X.n_rows, 1)))
    columns, size = np.sqrt(problem.X.squared_adjoint(rows)), np.sqrt(losses.weighted(U * U).sum(axis=0))
    V, eps = problem.pull(U), np.finfo(np.float64).eps
    slack = eps * (30 + np.sqrt(problem.X.n_rows)) * columns * size
    if penalty.has_groups:
        grouping = penalty.grouping(len(V))
        over = grouping.norms(V) / penalty.slopes_at_0(len(V))
        wanted = V / grouping.spread(np.maximum(over, 1.0), V)
    else:
        l1 = np.broadcast_to(np.reshape(penalty.l1, (-1, 1)), V.shape)
        is_curved = penalty.are_off_kinks(W) & (np.reshape(penalty.l2, (-1, 1)) > 0) & (np.abs(V) > l1)
        wanted = np.where(is_curved, -penalty.derivative(W), np.clip(V, -l1, l1))
    near = np.clip(wanted, V - slack, V + slack)
    factor = penalty.scaling(near)
    if factor < 1.0:
        U, V, near = losses.shrink(U, factor), V * factor, near * factor
    largest = (columns * np.abs(W)).max(axis=0, initial=0.0)
    reach = 2 * np.divide(largest, columns, out=np.zeros_like(V), where=columns > 0)
    worth = (np.abs(V - near) + 2 * eps * columns * size) * reach
    charge = float(worth.sum())
    if problem.intercept is Intercept.FREE:
        left, whole = losses.balance_left(U)
        whole = whole if problem.is_by_output else whole.max(keepdims=True)
        if not (np.abs(left) <= _ROUNDING * whole).all():
            return None
        charge += 2 * float(np.abs(left) @ (np.abs(b) + largest / np.sqrt(rows.sum())))
    dual = -losses.conjugate(U) - penalty.conjugate_total(-near) - charge
    return Bound(U, near, dual) if np.isfinite(dual) else None


def lower_bound_by_scores(
    problem: Problem, U: FloatArray, b: FloatArray, Z: FloatArray, penalty: float, residue: float
) -> Bound | None:
    """D(U) under a ridge without a pass over X: by the scores and the penalty of W near -V / strength.

    With E = V + strength W, the norm of E at most ``residue``, and V.W = G.Z because z = W'x::

        |V|^2 = |E|^2 - 2 strength G.Z - strength^2 |W|^2

    so the gap is that of the rows and |E|^2 / (2 strength), which is what is charged and told as
    ``worst_weight``. None where U is not feasible as it is.
    """
    losses = problem.losses.rows
    own_penalty = problem.intercept_penalty is not None
    if not problem.penalty.is_ridge or losses is None or not losses.is_by_score or own_penalty:
        return None
    if problem.intercept is Intercept.FREE or not losses.is_inside(U):
        return None
    strength, G = problem.penalty.l2, losses.pull(U)
    if problem.intercept is Intercept.PENALIZED:
        residue = float(np.hypot(residue, np.linalg.norm(G.sum(axis=0) + strength * b)))
    charge = residue * residue / (2 * strength)
    dual = -losses.conjugate(U) + float(np.vdot(G, Z)) + penalty - charge
    return Bound(U, None, dual, charge) if np.isfinite(dual) else None


def worst_term(problem: Problem, W: FloatArray, b: FloatArray, Z: FloatArray, bound: Bound) -> float:
    """The largest Fenchel-Young residual among rows and weights; see ``Certificate.kkt_violation``."""
    penalty, worst = problem.penalty, problem.losses.worst(Z, bound.U)
    if penalty.is_ridge and bound.V is None:
        worst_weight = problem.pulled(bound.U, W, b)[1] if bound.worst_weight is None else bound.worst_weight
        return max(worst, worst_weight)
    assert bound.V is not None
    free = penalty.free_columns(len(bound.V))
    if free is None:
        worst = max(worst, penalty.worst_residual(W, bound.V))
    else:
        if not free.all():
            held = np.where(free[:, None], 0.0, bound.V)
            worst = max(worst, penalty.worst_residual(np.where(free[:, None], 0.0, W), held))
        worst = max(worst, float(np.abs(bound.V * W)[free].max(initial=0.0)))
    if problem.intercept is Intercept.PENALIZED:
        v = problem.losses.sums(bound.U)
        worst = max(worst, float(problem.constants_penalty.residuals(b, v).max(initial=0.0)))
    return worst
