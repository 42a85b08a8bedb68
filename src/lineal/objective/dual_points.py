"""Feasible dual points, found from weights and scores alone.

A certificate is a statement about (W, b); its U may come from anywhere as long as it is feasible, so one
tries several and keeps the best bound. In order of cost:

``gradient_point``   the slopes of the losses, the intercept refitted so that they sum to 0;
``newton_point``     the slopes one Newton step ahead: as tight as the true suboptimality near the optimum;
``kink_point``       for losses with kinks, the best subgradients of the few rows that sit on one.

``feasible`` turns any U into a bound: clip to the domain, balance the sums, scale into the penalty's dual
ball. Each repair stays inside the domain, because 0 is in every domain and domains are convex.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lineal.deferred import linalg, optimize
from lineal.objective.certificate import Bound, lower_bound
from lineal.objective.joint import CrammerSinger, Softmax, one_hot
from lineal.objective.losses import FloatArray
from lineal.objective.penalties import L1, L2, ElasticNet, NoPenalty
from lineal.objective.problem import Intercept, Problem
from lineal.objective.rows import Rows

# A dense system of this many unknowns is solved directly; above it, by conjugate gradients.
DIRECT_LIMIT = 2000
# With at most so many parameters a dearer point costs about as much as twenty passes over X.
_CLOSER_LIMIT = 600
# The ridge of a singular matrix of unit diagonal: above the rounding of its factors.
_RIDGE = 1e-10


# ---- repairs ------------------------------------------------------------------------------------


def feasible(problem: Problem, U: FloatArray, W: FloatArray, b: FloatArray) -> Bound:
    """The lower bound that U gives after it is made feasible."""
    U = repaired(problem, U)
    return scaled(problem, U, None if isinstance(problem.penalty, L2) else problem.pull(U), W, b)


def repaired(problem: Problem, U: FloatArray) -> FloatArray:
    """U inside the losses' domain, its sums balanced under a free intercept: all but the penalty's part."""
    if isinstance(problem.penalty, NoPenalty):
        # V = 0 survives scaling alone: clipping or balancing would break it.
        return U * _largest_factor(problem, U)
    U = into_domain(problem, U)
    return _balance(problem, U) if problem.intercept is Intercept.FREE else U


def scaled(problem: Problem, U: FloatArray, V: FloatArray | None, W: FloatArray, b: FloatArray) -> Bound:
    """The lower bound of a repaired U and its V (None under L2), both scaled into the penalty's dual ball."""
    factor = 1.0 if V is None else problem.penalty.scaling(V)
    if V is not None and factor < 1.0:
        U, V = U * factor, V * factor
    bound = lower_bound(problem, U, V, W, b)
    if bound.dual > -np.inf:
        return bound
    # 0 is feasible always: losses are bounded below by -loss*(0).
    return lower_bound(problem, np.zeros_like(U), None if V is None else np.zeros_like(V), W, b)


def into_domain(problem: Problem, U: FloatArray) -> FloatArray:
    """The nearest U (one score) or a near one (joint) on which the conjugate is finite."""
    if not problem.loss.is_joint:
        return np.clip(U, *problem.domain)
    gold = one_hot(problem.y, problem.n_outputs)
    p = np.maximum(U + gold, 0.0)
    total = p.sum(axis=1, keepdims=True)
    # Nothing is left of a row that was below the simplex in every class: 0 is feasible.
    return np.divide(p, total, out=gold.copy(), where=total > 0) - gold


def _largest_factor(problem: Problem, U: FloatArray) -> float:
    """The largest factor in [0, 1] that brings all of U into the domain."""
    if problem.loss.is_joint:
        gold = one_hot(problem.y, problem.n_outputs)
        low, high = -gold, 1.0 - gold
    else:
        low, high = problem.loss.domain(problem.y)
    used = problem.s > 0
    below, above = (low > U) & used[:, None], (high < U) & used[:, None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        factors = np.concatenate([(low / U)[below], (high / U)[above]])
    # One rounding less than the exact factor: the product must not step over the edge again.
    return 1.0 if factors.size == 0 else float(max(factors.min(), 0.0)) * (1 - 4e-16)


def _balance(problem: Problem, U: FloatArray) -> FloatArray:
    """Brings sum_i s_i u_i to 0 by moving every u_i towards 0 (one score) or inside the simplex (joint)."""
    s = problem.s
    if not problem.loss.is_joint:
        up, down = s @ np.maximum(U, 0.0), s @ np.maximum(-U, 0.0)
        lighter = np.minimum(up, down)
        with np.errstate(invalid="ignore", divide="ignore"):
            keep_up = np.where(up > 0, lighter / up, 1.0)
            keep_down = np.where(down > 0, lighter / down, 1.0)
        return np.where(U > 0, U * keep_up, U * keep_down)
    # Take the excess of each overfull class away in proportion, and hand it to the classes that lack.
    gold = one_hot(problem.y, problem.n_outputs)
    p = U + gold
    mass, wanted = s @ p, s @ gold
    excess, lack = np.maximum(mass - wanted, 0.0), np.maximum(wanted - mass, 0.0)
    if lack.sum() == 0:
        return U
    taken = np.divide(excess, mass, out=np.zeros_like(excess), where=mass > 0)
    freed = p @ taken
    return p * (1 - taken) + freed[:, None] * (lack / lack.sum()) - gold


# ---- the intercept that suits given weights -----------------------------------------------------

_BLOCK = 1 << 17  # scores that are looked at together: a megabyte
_MANY_OUTPUTS = 100


@dataclass(frozen=True)
class Refit:
    """The shift of the intercept that minimises the sum of losses, and the slopes there."""

    shift: FloatArray
    U: FloatArray


def refit_intercept(problem: Problem, Z: FloatArray) -> Refit:
    """Minimises sum s loss(y, z + shift) over the shift; at the minimum the slopes sum to 0."""
    if isinstance(problem.loss, CrammerSinger) or (problem.loss.is_joint and not problem.loss.is_smooth):
        return Refit(np.zeros(problem.n_outputs), problem.slopes(Z))
    if problem.loss.is_joint:
        return _refit_joint(problem, Z)
    # A custom loss does not list its kinks: there the bracket closes around the best shift.
    is_piecewise = not problem.loss.is_smooth and len(problem.loss.kinks(problem.y)) > 0
    return _refit_piecewise(problem, Z) if is_piecewise else _refit_smooth(problem, Z)


def _refit_smooth(problem: Problem, Z: FloatArray) -> Refit:
    """Some outputs at a time, so that what their steps go over again and again stays in the cache."""
    n_rows, n_outputs = Z.shape
    width = max(1, _BLOCK // max(n_rows, 1))
    if n_outputs <= width or problem.has_shared_weights:
        return _refit_block(problem, Z)
    shift, U = np.empty(n_outputs), np.empty_like(Z)
    for first in range(0, n_outputs, width):
        own = slice(first, min(first + width, n_outputs))
        y = np.ascontiguousarray(problem.y[:, own])
        part = replace(problem, y=y, n_outputs=y.shape[1])
        found = _refit_block(part, np.ascontiguousarray(Z[:, own]))
        shift[own], U[:, own] = found.shift, found.U
    return Refit(shift, U)


def _refit_block(problem: Problem, Z: FloatArray) -> Refit:
    """Newton on each output's monotone sum of slopes, inside a bracket that shrinks."""
    s = problem.s
    shift = np.zeros(problem.n_outputs)
    low, high = np.full_like(shift, -np.inf), np.full_like(shift, np.inf)
    reach, moved = np.ones_like(shift), Z
    U = problem.slopes(Z)
    for _ in range(100):
        slope = s @ U
        settled = np.abs(slope) <= 1e-14 * (s @ np.abs(U)) + 1e-300
        if settled.all():
            break
        low, high = np.where(slope < 0, shift, low), np.where(slope > 0, shift, high)
        bend = s @ problem.curvatures(moved)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(bend > 0, -slope / bend, np.inf)
        # Where the losses are flat Newton knows nothing: walk, doubling, until the bracket closes.
        walk = shift - np.sign(slope) * reach
        with np.errstate(invalid="ignore"):
            middle = np.where(np.isfinite(low) & np.isfinite(high), (low + high) / 2, walk)
        bold = np.abs(step) <= 4 * reach + 4 * np.abs(shift)
        newton = shift + np.where(bold, step, 0.0)
        inside = bold & (newton > low) & (newton < high)
        following = np.where(settled, shift, np.where(inside, newton, middle))
        reach = np.where(inside, reach, 2 * reach)
        if np.all(np.abs(following - shift) <= 1e-16 * np.abs(shift)) or not np.isfinite(following).all():
            break
        shift, moved = following, Z + following
        U = problem.slopes(moved)
    return Refit(shift, U)


def _refit_piecewise(problem: Problem, Z: FloatArray) -> Refit:
    """Exact for piecewise-linear losses: walk over the kinks in order until the slopes sum to 0."""
    y, s = problem.y, problem.s
    kinks = problem.loss.kinks(y)
    low, _ = problem.loss.domain(y)
    shift, U = np.zeros(problem.n_outputs), low.copy()
    for k in range(problem.n_outputs):
        place = np.concatenate([at[:, k] - Z[:, k] for at, _, _ in kinks])
        rise = np.concatenate([top[:, k] - bottom[:, k] for _, bottom, top in kinks])
        row = np.tile(np.arange(len(s)), len(kinks))
        order = np.argsort(place, kind="stable")
        climbed = float(s @ low[:, k]) + np.cumsum((s[row] * rise)[order])
        stop = min(int(np.searchsorted(climbed, 0.0)), len(order) - 1)
        shift[k] = place[order[stop]]
        np.add.at(U[:, k], row[order[:stop]], rise[order[:stop]])
        last = order[stop]
        missing = -float(s @ U[:, k])
        if s[row[last]] > 0:
            U[row[last], k] += np.clip(missing / s[row[last]], 0.0, rise[last])
    return Refit(shift, U)


def _refit_joint(problem: Problem, Z: FloatArray) -> Refit:
    """Damped Newton in the K shifts; the Hessian is K x K and costs no pass over X."""
    s, K = problem.s, problem.n_outputs
    shift = np.zeros(K)
    value, U = problem.loss_sum(Z), problem.slopes(Z)
    if not isinstance(problem.loss, Softmax):
        return Refit(shift, U)
    gold = one_hot(problem.y, K)
    for _ in range(30):
        slope = s @ U
        # What is left, balancing takes away; below this the steps are rounding.
        if np.abs(slope).max() <= 1e-10 * float(s.sum()):
            break
        p = U + gold
        H = np.diag(s @ p) - (p * s[:, None]).T @ p
        step = -_solved_apart_from_a_shift(H, slope)
        step -= step.mean()
        length = 1.0
        while length > 1e-4:
            following = problem.loss_sum(Z + shift + length * step)
            if following <= value + 1e-4 * length * float(slope @ step) + 1e-14 * abs(value):
                break
            length /= 2
        else:
            break
        shift = shift + length * step
        value, U = following, problem.slopes(Z + shift)
    return Refit(shift, U)


def _solved_apart_from_a_shift(H: FloatArray, right: FloatArray) -> FloatArray:
    """H^+ right, where a common shift has no curvature and right has no part in it.

    Least squares by singular values take any H, in a time that grows fifty times as fast with many outputs.
    """
    size = float(np.trace(H)) / len(H)
    if len(H) > _MANY_OUTPUTS and size > 0:
        curved = H + size / len(H)  # the shift gets a curvature of its own
        curved.ravel()[:: len(H) + 1] += 1e-12 * size
        try:
            return np.asarray(linalg.cho_solve(linalg.cho_factor(curved, check_finite=False), right))
        except np.linalg.LinAlgError:
            pass  # labels without any chance: flat in more than one direction
    return np.asarray(np.linalg.lstsq(H, right, rcond=1e-12)[0])


# ---- points -------------------------------------------------------------------------------------


def likely_point(problem: Problem, W: FloatArray, b: FloatArray, Z: FloatArray) -> FloatArray:
    """The cheapest point that can be tight for this penalty."""
    if isinstance(problem.penalty, (L1, NoPenalty)):
        return newton_point(problem, W, b, Z)
    return gradient_point(problem, Z)


def closer_point(problem: Problem, W: FloatArray, b: FloatArray, Z: FloatArray) -> FloatArray | None:
    """A point whose bound depends on how good the weights are and not on the Hessian's condition number.

    None where that is dear, with many parameters, or unknown, for a loss with kinks.
    """
    size = W.size if problem.loss.is_joint else len(W)
    if size > _CLOSER_LIMIT or not problem.loss.is_smooth:
        return None
    return newton_point(problem, W, b, Z)


def gradient_point(problem: Problem, Z: FloatArray) -> FloatArray:
    """The slopes at Z, with a free intercept at the slopes' own zero."""
    return refit_intercept(problem, Z).U if problem.intercept is Intercept.FREE else problem.slopes(Z)


def newton_point(problem: Problem, W: FloatArray, b: FloatArray, Z: FloatArray) -> FloatArray:
    """Slopes one Newton step ahead, linearised: u + h X c, where c is the step on the weights in play.

    Under L1 and elastic net those are the non-zero weights, otherwise all. Needs a smooth loss. Near the
    optimum the bound it gives is as tight as the weights are good.
    """
    U = problem.slopes(Z)
    active = np.abs(W) > 0 if isinstance(problem.penalty, (L1, ElasticNet)) else np.ones(W.shape, dtype=bool)
    if problem.loss.is_joint or problem.has_shared_weights:
        return U + _joint_step(problem, W, b, Z, U, active)
    ahead, H = np.empty_like(U), problem.curvatures(Z)
    for k in range(problem.n_outputs):
        ahead[:, k] = U[:, k] + _single_step(problem, W, b, H[:, k], U, np.flatnonzero(active[:, k]), k)
    return ahead


def _intercept_is_active(problem: Problem, b: FloatArray) -> NDArray[np.bool_]:
    """Which intercepts a Newton step may move: a penalised one at 0 stays there under L1."""
    if problem.intercept is Intercept.PENALIZED and isinstance(problem.penalty, (L1, ElasticNet)):
        return np.abs(b) > 0
    return np.full(b.shape, problem.intercept is not Intercept.NONE)


def _single_step(
    problem: Problem,
    W: FloatArray,
    b: FloatArray,
    h: FloatArray,
    U: FloatArray,
    columns: NDArray[np.int64],
    k: int,
) -> FloatArray:
    """h X c for output k, c solving (X'S H X + R'') c = -(R' + V) on ``columns`` and the intercept."""
    has_constant = bool(_intercept_is_active(problem, b)[k])
    s = problem.s
    X = problem.X.take_columns(columns) if len(columns) < problem.X.n_columns else problem.X
    w = W[columns, k]
    su = s * U[:, k]
    slope = X.adjoint(su[:, None])[:, 0] + problem.penalty.derivative(w)
    bend = problem.penalty.second_derivative(w)
    if has_constant:
        extra = problem.intercept is Intercept.PENALIZED
        edge = problem.penalty.derivative(b[k : k + 1]) if extra else np.zeros(1)
        slope = np.append(slope, su.sum() + edge)
        bend = np.append(bend, problem.penalty.second_derivative(b[k : k + 1]) if extra else np.zeros(1))
    if len(slope) == 0:
        return np.zeros_like(h)
    if len(slope) <= DIRECT_LIMIT:
        G = X.gram(s * h, has_constant)
        G[np.diag_indices_from(G)] += bend
        c = _solve_symmetric(G, -slope)
    else:

        def product(c: FloatArray) -> FloatArray:
            c = np.ravel(c)
            zc = s * h * (X.dot(c[: len(columns), None])[:, 0] + (c[-1] if has_constant else 0.0))
            back = X.adjoint(zc[:, None])[:, 0]
            return (np.append(back, zc.sum()) if has_constant else back) + bend * c

        SH = (s * h)[:, None]
        squares = X.squared_adjoint(SH)[:, 0]
        diagonal = (np.append(squares, SH.sum()) if has_constant else squares) + bend
        c = _solve_operator(product, diagonal, -slope)
    return h * (X.dot(c[: len(columns), None])[:, 0] + (c[-1] if has_constant else 0.0))


def _joint_step(
    problem: Problem, W: FloatArray, b: FloatArray, Z: FloatArray, U: FloatArray, active: NDArray[np.bool_]
) -> FloatArray:
    """The same for outputs that meet, all together: directly if few, else by conjugate gradients."""
    loss, y = problem.loss, problem.y
    in_play = _intercept_is_active(problem, b)
    has_constant = bool(in_play.any())
    columns = np.flatnonzero(active.any(axis=1))
    X, w, penalty = problem.X.take_columns(columns), W[columns], problem.penalty
    extra = problem.intercept is Intercept.PENALIZED

    def flat(inner: FloatArray, constants: FloatArray) -> FloatArray:
        return np.append(inner, constants) if has_constant else inner.ravel()

    def back(U: FloatArray) -> FloatArray:
        SU = problem.weighted(U)
        return flat(X.adjoint(SU), SU.sum(axis=0))

    def spread(c: FloatArray) -> FloatArray:
        zc = X.dot(c[: w.size].reshape(w.shape))
        return loss.curvature_product(y, Z, zc + c[w.size :] if has_constant else zc)

    mask = flat(active[columns].astype(float), in_play.astype(float))
    slope = flat(penalty.derivative(w), penalty.derivative(b) if extra else np.zeros_like(b))
    bend = flat(penalty.second_derivative(w), penalty.second_derivative(b) if extra else np.zeros_like(b))
    right = -(back(U) + slope) * mask
    if len(right) <= _CLOSER_LIMIT:
        G = joint_hessian(problem, X, Z, has_constant)
        G[np.diag_indices_from(G)] += bend
        kept = np.flatnonzero(mask)
        c = np.zeros(len(G))
        c[kept] = _solve_symmetric(G[np.ix_(kept, kept)], right[kept])
        return spread(c)

    def product(c: FloatArray) -> FloatArray:
        c = np.ravel(c)
        return (back(spread(c)) + bend * c) * mask

    SH = problem.weighted(problem.curvatures(Z))
    diagonal = flat(X.squared_adjoint(SH), SH.sum(axis=0)) + bend
    return spread(_solve_operator(product, diagonal, right))


def joint_hessian(problem: Problem, X: Rows, Z: FloatArray, has_constant: bool) -> FloatArray:
    """The Hessian of the losses, S diag(d2 loss / dz_k dz_l) between the scores k and l of each row."""
    K = problem.n_outputs

    def curvature(l: int) -> FloatArray:
        towards = np.broadcast_to(np.eye(K)[l], Z.shape)
        return problem.weighted(problem.loss.curvature_product(problem.y, Z, towards))

    return X.joint_gram(curvature, K, has_constant)


def _solve_symmetric(G: FloatArray, right: FloatArray) -> FloatArray:
    """A c with G c = right, or nearly where G is singular: few rows may curve, and joint losses have shifts.

    A ridge that lets such a matrix be factorised is taken back by the refinements, in all directions that
    rounding leaves; what the others gain moves no row's score.
    """
    unit = units(np.diag(G))
    A, right = G * unit[:, None] * unit, unit * right
    for ridge, refinements in ((0.0, 1), (_RIDGE, 3)):
        try:
            factor = linalg.cho_factor(A + ridge * np.eye(len(A)), check_finite=False)
        except np.linalg.LinAlgError:
            continue
        c = linalg.cho_solve(factor, right, check_finite=False)
        # The residue of the correction is what the bound is later charged for.
        for _ in range(refinements):
            c = c + linalg.cho_solve(factor, right - A @ c, check_finite=False)
        return np.asarray(unit * c)
    return np.zeros_like(right)


def units(squares: FloatArray) -> FloatArray:
    """1 / the root of each column's square, so that its own unit does not matter; an empty column keeps 1."""
    return 1 / np.sqrt(np.where(squares > 0, squares, 1.0))


def _solve_operator(
    product: Callable[[FloatArray], FloatArray], diagonal: FloatArray, right: FloatArray
) -> FloatArray:
    """The same by conjugate gradients, from products with a matrix and its diagonal."""
    from scipy.sparse.linalg import LinearOperator, cg

    scale = units(diagonal)
    operator = LinearOperator(
        (len(right), len(right)), matvec=lambda c: scale * product(scale * np.ravel(c)), dtype=np.float64
    )
    return np.asarray(scale * cg(operator, scale * right, rtol=1e-8, maxiter=250)[0])


def kink_point(
    problem: Problem, W: FloatArray, b: FloatArray, Z: FloatArray, primal: float, dual: float
) -> FloatArray | None:
    """For losses with kinks: slopes off the kinks, and on them the subgradients that best meet R'(W).

    Rows within a distance of a kink that the present gap allows are free inside the subdifferential of
    that kink; a bounded least-squares problem chooses them. None where too many rows are free, or where
    scores share weights and cannot be chosen one after another.
    """
    if problem.loss.is_joint or problem.has_shared_weights:
        return None
    y, s, loss = problem.y, problem.s, problem.loss
    U = gradient_point(problem, Z)
    has_constant = problem.intercept is not Intercept.NONE
    for k in range(problem.n_outputs):
        yk, zk = y[:, k], Z[:, k]
        low, high = U[:, k].copy(), U[:, k].copy()
        span = np.maximum(np.abs(zk), np.abs(yk)) + 1.0
        reach = span * np.clip((primal - dual) / max(abs(primal), 1e-300), 1e-9, 1e-2)
        for place, bottom, top in loss.kinks(yk):
            near = (np.abs(zk - place) <= reach) & (s > 0)
            low, high = (
                np.where(near, np.minimum(bottom, top), low),
                np.where(near, np.maximum(bottom, top), high),
            )
        free = np.flatnonzero(low < high)
        used = W[:, k] != 0 if isinstance(problem.penalty, (L1, ElasticNet)) else np.ones(len(W), dtype=bool)
        columns = np.flatnonzero(used)
        if len(free) == 0:
            continue
        if len(free) > DIRECT_LIMIT or len(free) * len(columns) > 20_000_000:
            return None
        fixed = U[:, k].copy()
        fixed[free] = 0.0
        X = problem.X.take_columns(columns)
        target = -problem.penalty.derivative(W[columns, k]) - X.adjoint((s * fixed)[:, None])[:, 0]
        chosen = np.zeros((problem.X.n_rows, len(free)))
        chosen[free, np.arange(len(free))] = s[free]
        A = X.adjoint(chosen)
        if has_constant:
            weight = max(1.0, float(np.abs(A).max(initial=0.0))) * 1e3
            edge = (
                problem.penalty.derivative(b[k : k + 1])[0]
                if problem.intercept is Intercept.PENALIZED
                else 0.0
            )
            A = np.vstack([A, weight * s[free]])
            target = np.append(target, weight * (-edge - s @ fixed))
        U[free, k] = optimize.lsq_linear(A, target, bounds=(low[free], high[free]), tol=1e-14, max_iter=500).x
    return U
