"""The hard margin of rows: the widest street between classes that can be told apart, or the proof of none.

    P(w) = |w|^2 / 2   where every margin is >= 1,        D(alpha) = sum alpha - |M'alpha|^2 / 2,   alpha >= 0

Three steps, none of which guesses. A separation is decided first (``separation``); where there is none its
shares are the proof. A direction v with margins >= 1 is a point of P, so that sum alpha = |w|^2 <= |v|^2 at
the optimum: with a price of slack C above that no slack pays, and the soft margin *is* the hard one. It is
solved by whoever suits it, and certified anew: the weights are stretched until the worst row is at 1, and the
dual point is the best multiple of alpha. Slack of rounding costs a stretch, and no more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lineal.cancellation import cancellable, is_over, unless_over
from lineal.errors import NotSeparableError
from lineal.objective.certificate import Certificate, Stop
from lineal.objective.dual_points import feasible
from lineal.objective.hard_margin import HardMargin, JointHardMargin
from lineal.objective.loss_sums import RowLosses
from lineal.objective.losses import FloatArray, Hinge, Log
from lineal.objective.penalties import L2, NoPenalty
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.base import Solution
from lineal.solvers.driver import Budget, minimise
from lineal.solvers.offsets import near_zero
from lineal.solvers.planner import Plan, plan
from lineal.solvers.separation import Separation, decide, work

# The price of slack, in units of the squared norm that is known to be enough.
_PRICE = 2.0
# Of the tolerance, what the soft margin is solved to: at first, and where a stretch cost more.
_FIRST, _FINER, _ROUNDS, _FINEST = 0.05, 1e-3, 3, 1e-13
# Prices in units of the longest row, how well they are solved, and how near to 0 in that unit a mean of rows
# is taken for the proof that nothing separates them.
_PRICES, _ROUGH, _NEAR = (1e2, 1e4, 1e6, 1e8), 1e-2, 1e-5


def hard(problem: Problem) -> Problem:
    """The hard margin of a problem of hinges, of one score or joint."""
    rows = _rows(problem)
    losses: HardMargin | JointHardMargin
    if rows.is_by_score:
        losses = HardMargin(rows.y, rows.s)
    else:
        losses = JointHardMargin(rows.y, rows.s, rows.n_outputs)
    return replace(problem, losses=losses, penalty=L2(1.0))


def widest_margin(
    problem: Problem, *, tol: float, budget: Budget | None = None, seed: int = 0
) -> tuple[Solution, Plan]:
    """The hard margin of a problem of hinges (its penalty apart), certified; and how the soft one was solved.

    Raises
    ------
    NotSeparableError
        With shares of rows that prove that no weights separate the classes.
    """
    exact, enough = hard(problem), _squared_norm(problem, budget, seed)
    soft = _soft(problem, _PRICE * enough)
    chosen, share = plan(soft), _FIRST
    found: Solution | None = None
    for _ in range(_ROUNDS):
        aim = max(share * tol, _FINEST)
        solved = minimise(soft, chosen.solvers, tol=aim, budget=budget, seed=seed)
        again = _stretched(exact, solved, _PRICE * enough, tol)
        if found is None or again.certificate.relative_gap < found.certificate.relative_gap:
            found = again
        if found.certificate.converged or solved.certificate.stop is not Stop.CERTIFIED or aim == _FINEST:
            break
        share *= _FINER
    assert found is not None
    reason = f"the hard margin, as a soft one whose slack does not pay; {chosen.reason}"
    return found, replace(chosen, reason=reason)


def _rows(problem: Problem) -> RowLosses:
    rows = problem.losses.rows
    assert rows is not None
    return rows


def _soft(problem: Problem, price: float) -> Problem:
    """The soft margin at a price of slack that is the same for every row that has weight."""
    rows, joint = _rows(problem), Hinge().joint
    assert joint is not None
    loss = Hinge() if rows.is_by_score else joint()
    each = RowLosses(loss, rows.y, np.where(rows.s > 0, 1.0, 0.0), rows.n_outputs)
    return replace(problem, losses=each, penalty=L2(1.0 / price))


def free_likelihood(problem: Problem) -> Problem:
    """The problem of which ``separation`` decides whether some weights tell all rows apart."""
    rows = _rows(problem)
    return replace(
        problem, losses=rows.with_loss(Log() if rows.is_by_score else Log().joint()), penalty=NoPenalty(),
        intercept_penalty=None,
        intercept=Intercept.NONE if problem.intercept is Intercept.NONE else Intercept.FREE,
    )  # fmt: skip


def _squared_norm(problem: Problem, budget: Budget | None, seed: int) -> float:
    """|v|^2 of some weights whose margins are all >= 1."""
    free = free_likelihood(problem)
    if work(free) == np.inf:
        return _squared_norm_by_prices(problem, budget, seed)
    moved = near_zero(free)
    near = free if moved is None else moved.problem
    with cancellable(None if budget is None else budget.max_seconds) as token:
        found = unless_over(lambda: decide(near), token)
    if found is None:
        return _squared_norm_by_prices(problem, budget, seed)
    if not isinstance(found, Separation) or not found.is_complete:
        assert found.shares is not None
        raise _refusal(near, found.shares)
    b = found.b if moved is None else found.b - moved.by @ found.W
    squares = (found.W**2).sum() + ((b**2).sum() if problem.intercept is Intercept.PENALIZED else 0.0)
    return float(squares / found.margins[found.margins > 0].min() ** 2)


def _squared_norm_by_prices(problem: Problem, budget: Budget | None, seed: int) -> float:
    """The same where that was not decided, for more columns than a system may have: by soft margins of rising
    price.

    Where none of them separates, their shares may prove that nothing does; else the last one is all there is.
    """
    losses: Any = hard(problem).losses
    X = problem.X.native_rows
    assert X is not None
    radius = float(np.sqrt(X.squared_norms.max(initial=0.0)))
    for price in _PRICES:
        soft = _soft(problem, price / max(radius * radius, 1e-300))
        found = minimise(soft, plan(soft).solvers, tol=_ROUGH, budget=budget, seed=seed)
        least = losses.least(problem.scores(found.W.astype(np.float64), found.b))
        if found.certificate.stop in (Stop.CANCELLED, Stop.SECONDS) or is_over():
            return price / max(radius * radius, 1e-300)
        if (least > 0).all():
            squares = (found.W.astype(np.float64) ** 2).sum(axis=0)
            squares = squares + (found.b**2 if problem.intercept is Intercept.PENALIZED else 0.0)
            return float((squares / least**2).sum())
    refusal = _refusal(problem, np.abs(losses.into_domain(found.U)))
    if refusal.distance <= _NEAR * radius:
        raise refusal
    return price / max(radius * radius, 1e-300)


def _refusal(problem: Problem, shares: FloatArray) -> NotSeparableError:
    """The proof that no weights have margins above 0: shares of rows, or of wrong classes, that cancel."""
    rows, place = _rows(problem), None
    if rows.is_by_score:
        output = int(np.argmax(shares.sum(axis=0) > 0))
        place = output if rows.n_outputs > 1 else None
        shares = shares[:, output : output + 1]
        G = rows.y[:, output : output + 1] * shares
    else:
        shares = shares.copy()
        shares[np.arange(len(shares)), rows.y] = 0.0
        G = -shares
        G[np.arange(len(G)), rows.y] += shares.sum(axis=1)
    sums = shares.sum(axis=1)
    # With an intercept either class has half of the shares.
    whole = float(sums.sum()) / (2 if rows.is_by_score and problem.intercept is not Intercept.NONE else 1)
    if not whole > 0:
        return NotSeparableError(np.nan, sums, place)
    return NotSeparableError(float(np.linalg.norm(problem.X.adjoint(G))) / whole, sums / whole, place)


def _stretched(problem: Problem, found: Solution, price: float, tol: float) -> Solution:
    """The hard margin's weights and dual point, from those of the soft one."""
    losses: Any = problem.losses
    W, b = found.W.astype(np.float64), found.b.astype(np.float64)
    if isinstance(losses, HardMargin) and problem.intercept is Intercept.FREE:
        b = b + _middle(losses, problem.scores(W, b))
    least = losses.least(problem.scores(W, b))
    U = price * found.U
    if not (least > 0).all():
        primal = np.inf
    else:
        W, b = W / least, b / least
        primal = problem.primal(W, b)
    bound = feasible(problem, _best_multiple(problem, losses.into_domain(U)), W, b)
    known = found.certificate
    is_done = known.stop is Stop.CERTIFIED
    certificate = Certificate.of_proof(
        primal, bound.dual, size=abs(primal), tol=tol, worst=losses.worst(problem.scores(W, b), bound.U),
        solver=known.solver, epochs=known.epochs, seconds=known.seconds,
        stop=known.stop, reason="" if is_done else known.reason, detail="the floor of the arithmetic",
    )  # fmt: skip
    if certificate.converged:
        certificate = replace(certificate, reason=Stop.CERTIFIED.sentence())
    return replace(found, W=W, b=b, U=bound.U, certificate=certificate)


def _middle(losses: HardMargin, Z: FloatArray) -> FloatArray:
    """(K,) to be added to scores, so that the nearest rows of either side are as far from 0."""
    used = losses.weighted(np.ones(Z.shape)) > 0
    above = np.where(used & (losses.y > 0), Z, np.inf).min(axis=0)
    below = np.where(used & (losses.y < 0), Z, -np.inf).max(axis=0)
    return np.asarray(-(above + below) / 2)


def _best_multiple(problem: Problem, U: FloatArray) -> FloatArray:
    """t U of the highest D: sum alpha t - |V|^2 t^2 / 2 is known in t."""
    linear = -problem.losses.conjugate(U)
    W, b = np.zeros(problem.weight_shape), np.zeros(problem.n_outputs)
    square = 2 * problem.pulled(U, W, b)[0]
    return U * (linear / square) if square > 0 else U
