"""Runs the solver until its result is certified, or a budget, a callback or the user says stop."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from lineal.cancellation import CancellationToken, cancellable, following
from lineal.learners.scenarios.ranking.newton import Iterate, newton_iterates
from lineal.learners.scenarios.ranking.problem import RankingProblem
from lineal.objective.certificate import Certificate, Stop
from lineal.objective.losses import FloatArray
from lineal.solvers.base import Progress
from lineal.solvers.driver import Budget

# So many iterates in a row that gain less than 1 % of the gap: the solver is at its floor.
_PATIENCE = 60


@dataclass(frozen=True, eq=False)
class RankingSolution:
    """Weights, the proof, the dual point of the proof (see ``Iterate``), and the way there."""

    w: FloatArray
    certificate: Certificate
    slopes_at: FloatArray
    width: float
    trace: tuple[Progress, ...]


def minimise_pairs(
    problem: RankingProblem, start: FloatArray, *, tol: float, budget: Budget
) -> RankingSolution:
    """Minimises P until the relative gap is certified to be at most ``tol``; gives the best that was seen."""
    began = time.perf_counter()
    best: Iterate | None = None  # the least primal
    proof: Iterate | None = None  # the highest dual
    trace: list[Progress] = []
    mark, waited = np.inf, 0
    stop: Stop | None = None
    with cancellable() as caller, np.errstate(over="ignore", invalid="ignore"):
        own = CancellationToken(seconds=budget.max_seconds, parent=caller)
        stream = newton_iterates(problem, start)
        while stop is None and (iterate := following(stream, own)) is not None:
            best = iterate if best is None or iterate.primal < best.primal else best
            proof = iterate if proof is None or iterate.dual > proof.dual else proof
            gap = best.primal - proof.dual
            seconds = time.perf_counter() - began
            point = Progress(len(trace) + 1, best.primal, proof.dual, gap, seconds, solver="newton")
            trace.append(point)
            waited, mark = (0, gap) if not gap >= 0.99 * mark else (waited + 1, mark)
            is_certified = problem.relative_gap(best.primal, proof.dual) <= tol
            stop = _why_stop(is_certified, budget, point, waited)
        if stop is None:
            stop = Stop.CANCELLED if caller.is_over else Stop.SECONDS if own.is_over else Stop.STALLED
        if best is None or proof is None:  # ended before the first iterate: the start is certified
            best = proof = next(newton_iterates(problem, start))
    seconds = time.perf_counter() - began
    certificate = _certificate(problem, best, proof, len(trace), seconds, tol, stop, budget)
    return RankingSolution(best.w, certificate, proof.slopes_at, proof.width, tuple(trace))


_AT_THE_FLOOR = "rounding, or a bend as narrow as it can be, leaves no step"


def _why_stop(is_certified: bool, budget: Budget, point: Progress, waited: int) -> Stop | None:
    is_asked = budget.tell(point)
    if is_certified:
        return Stop.CERTIFIED
    if is_asked:
        return Stop.CALLBACK
    if budget.max_epochs is not None and point.epoch >= budget.max_epochs:
        return Stop.EPOCHS
    if budget.max_seconds is not None and point.seconds >= budget.max_seconds:
        return Stop.SECONDS
    return Stop.STALLED if waited >= _PATIENCE else None


def _certificate(
    problem: RankingProblem,
    best: Iterate,
    proof: Iterate,
    epochs: int,
    seconds: float,
    tol: float,
    stop: Stop,
    budget: Budget,
) -> Certificate:
    """The gap's terms of the weights are known one by one; those of the pairs as a sum, which bounds each."""
    gap = best.primal - proof.dual
    lam = problem.strength
    of_weights = 0.5 * lam * (best.w + proof.v / lam) ** 2
    of_pairs = max(gap - float(of_weights.sum()), 0.0)
    relative = problem.relative_gap(best.primal, proof.dual)
    return Certificate(
        primal=best.primal,
        dual=proof.dual,
        gap=gap,
        relative_gap=relative,
        kkt_violation=max(of_pairs, float(of_weights.max(initial=0.0))),
        solver="newton",
        epochs=epochs,
        seconds=seconds,
        converged=bool(relative <= tol),
        reason=stop.sentence(budget.detail(stop) or _AT_THE_FLOOR),
        stop=stop,
    )
