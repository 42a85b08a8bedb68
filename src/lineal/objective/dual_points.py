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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.deferred import optimize
from lineal.objective.bounds import Bound, bound_within_rounding, lower_bound
from lineal.objective.linear_maps import LinearMap
from lineal.objective.losses import FloatArray
from lineal.objective.problem import Intercept, Problem

# A dense system of this many unknowns is solved directly; above it, by conjugate gradients.
DIRECT_LIMIT = 2000
# With at most so many parameters a dearer point costs about as much as twenty passes over X.
_CLOSER_LIMIT = 600
# Rounds of refinement for what rounding, and the ridge of a singular matrix, leave of a solution.
_REFINEMENTS = 3
# Times that dual variables are moved towards a V, again for what rounding left; and where it is to be met to
# the last bits.
_ROUNDS, _MANY_ROUNDS = 2, 10
# The share of the losses below which a penalty may be left out of a proof.
_LITTLE = 1e-3
# As many multiplications singular values may take, ten times over.
_MOST_ROTATED = 1e8
# As many products of numbers of X may be made for a dearer point.
_MOST_PRODUCTS = 1e10
# Combinations of unit columns that are so small are rounding.
_VANISHED = 1e-13


# ---- repairs ------------------------------------------------------------------------------------


def feasible(problem: Problem, U: Any, W: FloatArray, b: FloatArray) -> Bound:
    """The lower bound that U gives after it is made feasible."""
    U = repaired(problem, U)
    return scaled(problem, U, None if problem.penalty.is_ridge else problem.pull(U), W, b)


def repaired(problem: Problem, U: Any) -> Any:
    """U inside the losses' domain, its sums balanced under a free intercept: all but the penalty's part."""
    losses, penalty = problem.losses, problem.penalty
    if penalty.has_free_columns:
        # V = 0 survives scaling alone: clipping or balancing would break it.
        U = U if penalty.is_zero else _apart_from_free_columns(problem, U)
        return losses.shrink(U, losses.factor_into_domain(U))
    U = losses.into_domain(U)
    return losses.balance(U) if problem.intercept is Intercept.FREE else U


def _apart_from_free_columns(problem: Problem, U: FloatArray) -> FloatArray:
    """U less what the free columns, and a free intercept, explain of it: near it, with V = 0 there."""
    losses, free = problem.losses, problem.penalty.free_columns(problem.X.n_columns)
    if free is None or not (losses.has_array_duals and problem.is_by_output):
        return U
    shape = problem.weight_shape
    in_play = np.broadcast_to(free[:, None], shape)
    is_free = np.full(problem.n_outputs, problem.intercept is Intercept.FREE)
    return _move(problem, U, in_play, np.zeros(shape), is_free, np.zeros(problem.n_outputs), _ROUNDS)


def best_within_rounding(
    problem: Problem, W: FloatArray, b: FloatArray, Z: FloatArray, kept: Any
) -> tuple[Bound | None, str]:
    """The best bound that rounding of V is charged to, not its penalty, and what its point is called.

    ``kept`` is a point of a solver's, or None.
    """
    is_apart = problem.losses.has_array_duals and not problem.has_shared_weights
    is_known = problem.penalty.is_elastic or problem.penalty.has_groups
    if not is_apart or problem.penalty.has_free_columns or not is_known:
        return None, ""
    points: list[tuple[str, Any]] = [] if kept is None else [("kept by the fit", kept)]
    if problem.losses.is_by_row and _has_small_system(problem, problem.penalty.are_off_kinks(W)):
        if kept is not None:
            points.append(("kept by the fit, moved", align(problem, kept, W, b, is_whole=True)))
        slopes = gradient_point(problem, Z) if problem.losses.is_smooth else kept
        if problem.losses.is_smooth:
            points.append(("slopes, moved", align(problem, slopes, W, b, is_whole=True)))
        is_little = problem.penalty_value(W, b) <= _LITTLE * problem.losses.value(Z)
        if slopes is not None and is_little and _has_small_system(problem, np.ones(W.shape, bool)):
            # A penalty that is next to nothing is left out: where columns are combinations of others, no U
            # may have the V that signs of weights ask for.
            points.append(("slopes, moved", _move_to(problem, slopes, np.ones(W.shape, bool), 0 * W, b)))
    best, source = None, ""
    for name, U in points:
        bound = bound_within_rounding(problem, U, W, b)
        if bound is not None and (best is None or bound.dual > best.dual):
            best, source = bound, f"{name}, to rounding"
    return best, source


def _has_small_system(problem: Problem, in_play: NDArray[np.bool_]) -> bool:
    """Whether the weights in play are so few that their system is made and solved in seconds."""
    size = int(in_play.any(axis=1).sum()) * (1 if problem.is_by_output else problem.n_outputs)
    return size <= DIRECT_LIMIT and problem.X.n_stored * size * problem.n_outputs <= _MOST_PRODUCTS


def align(
    problem: Problem, U: FloatArray, W: FloatArray, b: FloatArray, *, is_whole: bool = False
) -> FloatArray:
    """A point near U with V = -R'(W) where D knows no other: for weights off the kinks of R that is linear
    there (free ones, and under L1 or in groups those that are not 0), and so for the intercept; ``is_whole``:
    for all off kinks.

    Of weights that are nearly optimal it proves what they are worth, where those of U that are at an end of
    their domain are so at the optimum.
    """
    penalty = problem.penalty
    if penalty.is_strongly_convex and not (is_whole or penalty.has_groups):  # it is linear nowhere
        return _move_to(problem, U, np.zeros(W.shape, dtype=bool), W, b, _ROUNDS)
    in_play = penalty.are_off_kinks(W)
    if not (is_whole or penalty.has_groups):
        in_play = in_play & (penalty.second_derivative(W) == 0)
    target = -penalty.derivative(W)
    return _move_to(problem, U, in_play, target, b, _MANY_ROUNDS if is_whole else _ROUNDS)


def _move_to(
    problem: Problem,
    U: FloatArray,
    in_play: NDArray[np.bool_],
    target: FloatArray,
    b: FloatArray,
    n_rounds: int = _MANY_ROUNDS,
) -> FloatArray:
    """U moved to where V is the target for the weights in play, and its sums what the intercept asks for."""
    on_b, move = -problem.constants_penalty.derivative(b), _move if problem.is_by_output else _move_jointly
    return move(problem, U, in_play, target, _intercept_is_active(problem, b), on_b, n_rounds)


def _move_jointly(
    problem: Problem,
    U: FloatArray,
    in_play: NDArray[np.bool_],
    target: FloatArray,
    has_constant: NDArray[np.bool_],
    on_b: FloatArray,
    n_rounds: int,
) -> FloatArray:
    """The same for a joint loss: the u of a row move in proportion to their room, and their sum stays."""
    losses, K = problem.losses, problem.n_outputs
    U = losses.into_domain(U)
    room = losses.room(U)
    total = room.sum(axis=1, keepdims=True)
    share = np.divide(room, total, out=np.zeros_like(room), where=total > 0)

    def respond(Z: FloatArray) -> FloatArray:
        return room * (Z - (share * Z).sum(axis=1, keepdims=True))

    columns, is_bordered = np.flatnonzero(in_play.any(axis=1)), bool(has_constant.any())
    kept = np.flatnonzero(np.append(in_play[columns], has_constant if is_bordered else []))
    if not len(kept):
        return U
    X, aim = problem.X.take_columns(columns), np.append(target[columns], on_b)[kept]
    work = problem.X.n_rows * K * float(len(columns) + 1) ** 2 * K**2
    is_exact = n_rounds > _ROUNDS and work <= 10 * _MOST_ROTATED
    dense = problem.X.dense_array(_MOST_ROTATED) if is_exact else None
    if dense is None:
        G = X.joint_gram(
            lambda l: losses.weighted(respond(np.broadcast_to(np.eye(K)[l], room.shape))), K, is_bordered
        )
        G = np.ascontiguousarray(G[np.ix_(kept, kept)])

        def answer(v: FloatArray) -> FloatArray:
            c = np.zeros((len(columns) + 1) * K)
            c[kept] = _solve_symmetric(G, v)
            C = c.reshape(-1, K)
            return respond(X.dot(C[:-1]) + C[-1])

    else:
        # room (1 - share') = F F' with F = root (1 - r r'), r = root / |root|: singular values of F'A.
        root = np.sqrt(room)
        r = np.sqrt(share)
        F = root[:, :, None] * (np.eye(K) - r[:, :, None] * r[:, None, :])
        A = np.column_stack([dense[:, columns], np.ones(len(dense))])
        sheet = np.einsum("ilk,ij->ikjl", F, A).reshape(len(A) * K, -1)[:, kept]
        explain = _explaining_rows(sheet * np.sqrt(losses.weighted(np.ones((len(A), 1)))).repeat(K, axis=0))
        back = 1 / np.sqrt(losses.weighted(np.ones((len(A), 1))))

        def answer(v: FloatArray) -> FloatArray:
            return back * np.einsum("ilk,ik->il", F, explain(v).reshape(-1, K))

    for _ in range(n_rounds):
        g = losses.pull(U)
        U = U - answer(np.append(X.adjoint(g), g.sum(axis=0))[kept] - aim)
    return U


def _move(
    problem: Problem,
    U: FloatArray,
    in_play: NDArray[np.bool_],
    target: FloatArray,
    has_constant: NDArray[np.bool_],
    on_b: FloatArray,
    n_rounds: int,
) -> FloatArray:
    """U moved to where V is the target for the weights in play, and its sums are ``on_b``.

    Each u moves in proportion to the room that it has in its domain, so that those at an end stay there.
    """
    losses = problem.losses
    U = losses.into_domain(U)
    room = losses.room(U)
    if not losses.is_smooth:  # the tube of a loss is a kink of its conjugate, at 0
        room = np.minimum(room, np.abs(U))
    weights, U = losses.weighted(room), U.copy()
    if not in_play.any():  # sums alone
        total = weights.sum(axis=0)
        is_open = has_constant & (total > 0)
        for _ in range(2):
            U -= room * np.divide(losses.sums(U) - on_b, total, out=np.zeros_like(total), where=is_open)
        return U
    for k in range(problem.n_outputs):
        columns = np.flatnonzero(in_play[:, k])
        aim = np.append(target[columns, k], on_b[k : k + 1] if has_constant[k] else [])
        if not len(aim):
            continue
        X = problem.X if len(columns) == len(in_play) else problem.X.take_columns(columns)
        explain = _explaining(
            problem.X, columns, np.ascontiguousarray(weights[:, k]), bool(has_constant[k]), n_rounds > _ROUNDS
        )
        for _ in range(n_rounds):
            g = losses.pull(U)[:, k]
            pulled = X.adjoint(np.ascontiguousarray(g[:, None]))[:, 0]
            U[:, k] -= room[:, k] * explain((np.append(pulled, g.sum()) if has_constant[k] else pulled) - aim)
    return U


def _explaining(
    X: LinearMap, columns: NDArray[np.intp], weights: FloatArray, has_constant: bool, is_exact: bool
) -> Callable[[FloatArray], FloatArray]:
    """From a vector v to scores z of these columns, and a constant, with X'diag(weights) z = v.

    To the last bits it takes singular values: a Gram matrix has half the digits.
    """
    is_exact = is_exact and X.n_rows * (len(columns) + 1) ** 2 <= 10 * _MOST_ROTATED
    dense = X.dense_array(_MOST_ROTATED) if is_exact else None
    if dense is None:
        X = X if len(columns) == X.n_columns else X.take_columns(columns)
        G = X.gram(weights, has_constant)

        def by_products(v: FloatArray) -> FloatArray:
            c = _solve_symmetric(G, v)
            return np.asarray(X.dot(c[: X.n_columns, None])[:, 0] + (c[-1] if has_constant else 0.0))

        return by_products
    A = np.column_stack([dense[:, columns].astype(np.float64), np.ones((len(dense), int(has_constant)))])
    root = np.sqrt(weights)
    explain, back = (
        _explaining_rows(A * root[:, None]),
        np.divide(1.0, root, out=np.zeros_like(root), where=root > 0),
    )
    return lambda v: back * explain(v)


def _explaining_rows(A: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """From a vector v to the z among the columns of A with A'z = v, or nearly where A has a lower rank."""
    unit = units(np.square(A).sum(axis=0))
    left, sizes, right = np.linalg.svd(A * unit, full_matrices=False)
    inverse = np.divide(
        1.0, sizes, out=np.zeros_like(sizes), where=sizes > _VANISHED * sizes.max(initial=0.0)
    )
    return lambda v: np.asarray(left @ (inverse * (right @ (unit * v))))


def scaled(problem: Problem, U: Any, V: FloatArray | None, W: FloatArray, b: FloatArray) -> Bound:
    """The lower bound of a repaired U and its V (None under a ridge), both scaled into the dual ball of R."""
    losses = problem.losses
    factor = 1.0 if V is None else problem.penalty.scaling(V)
    if problem.intercept is Intercept.PENALIZED:
        own = problem.constants_penalty
        factor = min(factor, own.scaling(losses.sums(U)) if own.is_bounded else 1.0)
    if factor < 1.0:
        U, V = losses.shrink(U, factor), None if V is None else V * factor
    bound = lower_bound(problem, U, V, W, b)
    if bound.dual > -np.inf:
        return bound
    # The anchor is feasible always: losses are bounded below by -loss*(0).
    U = losses.anchor()
    return lower_bound(problem, U, None if V is None else problem.pull(U), W, b)


# ---- points -------------------------------------------------------------------------------------


def likely_point(problem: Problem, W: FloatArray, b: FloatArray, Z: FloatArray) -> Any:
    """The cheapest point that can be tight for this penalty: some must be met exactly."""
    is_exact = problem.penalty.is_bounded or problem.penalty.has_free_columns
    if is_exact and problem.losses.has_array_duals:
        return newton_point(problem, W, b, Z)
    return gradient_point(problem, Z)


def closer_point(problem: Problem, W: FloatArray, b: FloatArray, Z: FloatArray) -> FloatArray | None:
    """A point whose bound depends on how good the weights are and not on the Hessian's condition number.

    None where that is dear, with many parameters, or unknown, for a loss with kinks.
    """
    size = len(W) if problem.losses.is_by_output else W.size
    if size > _CLOSER_LIMIT or not (problem.losses.is_smooth and problem.losses.has_array_duals):
        return None
    return newton_point(problem, W, b, Z)


def gradient_point(problem: Problem, Z: FloatArray) -> Any:
    """The slopes at Z, with a free intercept at the slopes' own zero."""
    losses = problem.losses
    return losses.refit(Z).U if problem.intercept is Intercept.FREE else losses.slopes(Z)


def newton_point(problem: Problem, W: FloatArray, b: FloatArray, Z: FloatArray) -> FloatArray:
    """Slopes one Newton step ahead, linearised: u + h X c, where c is the step on the weights in play.

    Under a penalty with kinks those are the weights off them, otherwise all. Needs a smooth loss. Near the
    optimum the bound it gives is as tight as the weights are good.
    """
    U = problem.losses.slopes(Z)
    active = problem.penalty.are_off_kinks(W)
    if not problem.is_by_output or (problem.n_outputs > 1 and not problem.penalty.is_by_weight):
        return U + _joint_step(problem, W, b, Z, U, active)
    ahead, H, G = np.empty_like(U), problem.losses.curvatures(Z), problem.losses.pull(U)
    for k in range(problem.n_outputs):
        ahead[:, k] = U[:, k] + _single_step(problem, W, b, H[:, k], G[:, k], np.flatnonzero(active[:, k]), k)
    return ahead


def _intercept_is_active(problem: Problem, b: FloatArray) -> NDArray[np.bool_]:
    """Which intercepts a Newton step may move: a penalised one at 0 stays there under L1."""
    if problem.intercept is Intercept.PENALIZED:
        return problem.constants_penalty.are_off_kinks(b)
    return np.full(b.shape, problem.intercept is not Intercept.NONE)


def _single_step(
    problem: Problem,
    W: FloatArray,
    b: FloatArray,
    h: FloatArray,
    g: FloatArray,
    columns: NDArray[np.int64],
    k: int,
) -> FloatArray:
    """h X c for output k, c solving (X'S H X + R'') c = -(R' + V) on ``columns`` and the intercept."""
    has_constant = bool(_intercept_is_active(problem, b)[k])
    is_all = len(columns) == problem.X.n_columns
    X = problem.X if is_all else problem.X.take_columns(columns)
    penalty = problem.penalty if is_all else problem.penalty.take(columns)
    w = W[columns, k]
    sh = problem.losses.weighted(h[:, None])[:, 0]
    slope = X.adjoint(np.ascontiguousarray(g[:, None]))[:, 0] + penalty.derivative(w)
    on_b = 0.0
    if has_constant:
        own = problem.constants_penalty
        slope = np.append(slope, g.sum() + own.derivative(b[k : k + 1]))
        on_b = float(own.second_derivative(b[k : k + 1])[0])
    if len(slope) == 0:
        return np.zeros_like(h)
    if len(slope) <= DIRECT_LIMIT:
        G = X.gram(sh, has_constant)
        penalty.add_hessian(G, w)
        if has_constant:
            G[-1, -1] += on_b
        c = _solve_symmetric(G, -slope)
    else:

        def product(c: FloatArray) -> FloatArray:
            c = np.ravel(c)
            zc = sh * (X.dot(c[: len(columns), None])[:, 0] + (c[-1] if has_constant else 0.0))
            back = X.adjoint(zc[:, None])[:, 0] + penalty.hessian_product(w, c[: len(columns)])
            return np.append(back, zc.sum() + on_b * c[-1]) if has_constant else back

        squares = X.squared_adjoint(sh[:, None])[:, 0] + penalty.second_derivative(w)
        diagonal = np.append(squares, sh.sum() + on_b) if has_constant else squares
        c = _solve_operator(product, diagonal, -slope)
    return h * (X.dot(c[: len(columns), None])[:, 0] + (c[-1] if has_constant else 0.0))


def _joint_step(
    problem: Problem, W: FloatArray, b: FloatArray, Z: FloatArray, U: FloatArray, active: NDArray[np.bool_]
) -> FloatArray:
    """The same for outputs that meet, all together: directly if few, else by conjugate gradients."""
    losses, own = problem.losses, problem.constants_penalty
    in_play = _intercept_is_active(problem, b)
    has_constant = bool(in_play.any())
    columns = np.flatnonzero(active.any(axis=1))
    X, w, penalty = problem.X.take_columns(columns), W[columns], problem.penalty.take(columns)

    def flat(inner: FloatArray, constants: FloatArray) -> FloatArray:
        return np.append(inner, constants) if has_constant else inner.ravel()

    def back(G: FloatArray) -> FloatArray:
        return flat(X.adjoint(G), G.sum(axis=0))

    bent = losses.bending(Z)

    def spread(c: FloatArray) -> FloatArray:
        zc = X.dot(c[: w.size].reshape(w.shape))
        return bent(zc + c[w.size :] if has_constant else zc)

    mask = flat(active[columns].astype(float), in_play.astype(float))
    slope = flat(penalty.derivative(w), own.derivative(b))
    right = -(back(losses.pull(U)) + slope) * mask
    if len(right) <= _CLOSER_LIMIT and losses.is_by_row:
        G = joint_hessian(problem, X, Z, has_constant)
        penalty.add_hessian(G, w)
        if has_constant:
            own.add_hessian(G[w.size :, w.size :], b)
        kept = np.flatnonzero(mask)
        c = np.zeros(len(G))
        c[kept] = _solve_symmetric(G[np.ix_(kept, kept)], right[kept])
        return spread(c)

    def product(c: FloatArray) -> FloatArray:
        c = np.ravel(c)
        curved = flat(
            penalty.hessian_product(w, c[: w.size].reshape(w.shape)), own.hessian_product(b, c[w.size :])
        )
        return (back(losses.weighted(spread(c))) + curved) * mask

    SH = losses.weighted(losses.curvatures(Z))
    bend = flat(penalty.second_derivative(w), own.second_derivative(b))
    diagonal = flat(X.squared_adjoint(SH), SH.sum(axis=0)) + bend
    return spread(_solve_operator(product, diagonal, right))


def joint_hessian(problem: Problem, X: LinearMap, Z: FloatArray, has_constant: bool) -> FloatArray:
    """The Hessian of the losses, S diag(d2 loss / dz_k dz_l) between the scores k and l of each row."""
    K, losses = problem.n_outputs, problem.losses
    bent = losses.bending(Z)

    def curvature(l: int) -> FloatArray:
        towards = np.zeros(Z.shape)
        towards[:, l] = 1.0
        return losses.weighted(bent(towards))

    return X.joint_gram(curvature, K, has_constant)


def _solve_symmetric(G: FloatArray, right: FloatArray) -> FloatArray:
    """A c with G c = right, or nearly where G is singular: few rows may curve, and joint losses have shifts.

    A ridge that lets such a matrix be factorised is taken back by the refinements, in all directions that
    rounding leaves; what the others gain moves no row's score. The residue of the correction is what a bound
    is later charged for.
    """
    return _core.solve_positive(G, right, _REFINEMENTS)


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
    losses = problem.losses.rows
    if losses is None or not problem.is_by_output:
        return None
    y, s, loss = losses.y, losses.s, losses.loss
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
        columns = np.flatnonzero(problem.penalty.are_off_kinks(W)[:, k])
        if len(free) == 0:
            continue
        if len(free) > DIRECT_LIMIT or len(free) * len(columns) > 20_000_000:
            return None
        fixed = U[:, k].copy()
        fixed[free] = 0.0
        X = problem.X.take_columns(columns)
        target = -problem.penalty.derivative(W)[columns, k] - X.adjoint((s * fixed)[:, None])[:, 0]
        chosen = np.zeros((problem.X.n_rows, len(free)))
        chosen[free, np.arange(len(free))] = s[free]
        A = X.adjoint(chosen)
        if has_constant:
            weight = max(1.0, float(np.abs(A).max(initial=0.0))) * 1e3
            edge = problem.constants_penalty.derivative(b)[k]
            A = np.vstack([A, weight * s[free]])
            target = np.append(target, weight * (-edge - s @ fixed))
        U[free, k] = optimize.lsq_linear(A, target, bounds=(low[free], high[free]), tol=1e-14, max_iter=500).x
    return U
