"""Runs a solver until its result is certified, or a budget, a callback or the user says stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from lineal.cancellation import CancellationToken, cancellable, following, shielded
from lineal.errors import CombinationError, InputError
from lineal.objective.bounds import Bound, lower_bound_by_scores, worst_term
from lineal.objective.certificate import Certificate, Stop
from lineal.objective.dual_points import closer_point, feasible, gradient_point, likely_point
from lineal.objective.losses import FloatArray
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.base import BEYOND, Iterate, Progress, Solution, Solver, Start, zeros
from lineal.solvers.blas import OneBlasThread
from lineal.solvers.catalogue import SOLVERS
from lineal.solvers.offsets import near_zero

Callback = Callable[[Progress], object]

# An epoch whose own estimate is within this factor of the tolerance is worth a certificate: estimates run
# behind the truth, by a factor of 1.2 to 3 where that was looked at.
_HOPE = 1.25
# A solver that does not expect to be done is certified all the same after so many epochs, and again
# each time the count has grown by this share: a run that creeps must be seen to creep.
_EVERY, _GROWTH = 20, 0.25
# A bound that takes a solver's word for how far W is from -V / strength may pay this share of the gap for it;
# above that V is worth a pass over X.
_CHARGE = 0.1
# After so many epochs, and again each time their count has grown by this share, a dearer dual point is tried:
# the slopes of weights that are nearly right can prove very little where columns are nearly collinear.
_FIRST_LOOK, _LOOK_GROWTH = 30, 0.5
# Where a Hessian takes at most so many multiplications, milliseconds, a prover may take so many steps.
_SMALL, _PROOF_STEPS = 5e6, 60
# So many of these stretches in a row that gain less than 1 % of the gap, and less than this share of the
# tolerance in P: the solver is at its floor. While another solver stands behind it, one that gains less than
# half of the gap is enough to hand over, unless it is known to be worth its time.
_PATIENCE, _FALL = 14, 0.01
# From so many stored numbers on a pass over sparse rows takes longer than a look for BLAS's libraries, 1 ms.
_MANY_STORED = 1_000_000


@dataclass
class Budget:
    """When to stop short of the tolerance, and whom to tell on the way.

    Callbacks get one event each epoch, and change no bit by listening. Whoever needs more certificates
    than the driver does asks for one every so many epochs, ``certify_every``.
    """

    max_seconds: float | None = None
    max_epochs: int | None = None
    callbacks: Sequence[Callback] = ()
    certify_every: int | None = None

    def asks_for(self, epoch: int) -> bool:
        """Whether this epoch must be certified."""
        return self.certify_every is not None and epoch % self.certify_every == 0

    def tell(self, event: Progress) -> bool:
        """Tells all callbacks; whether one of them asks to stop."""
        answers = [callback(event) for callback in self.callbacks]
        return any(isinstance(answer, (bool, np.bool_)) and bool(answer) for answer in answers)

    def detail(self, stop: Stop) -> object:
        """The limit that was reached, for ``Stop.sentence``."""
        return {Stop.SECONDS: self.max_seconds, Stop.EPOCHS: self.max_epochs}.get(stop)


@dataclass
class _Best:
    """The best weights and the best bound so far; they need not come from the same epoch."""

    W: FloatArray
    b: FloatArray
    primal: float = np.inf
    Z: FloatArray | None = None
    bound: Bound | None = None
    is_borrowed: bool = False  # W and b are the solver's own
    is_bound_tight: bool = False  # there is nothing left to gain from a higher bound
    latest: Iterate | None = None  # where the solver is
    trace: list[Progress] = field(default_factory=list)

    @property
    def dual(self) -> float:
        return -np.inf if self.bound is None else self.bound.dual

    def raise_to(self, problem: Problem, bound: Bound) -> None:
        """Takes a bound that was found apart from the weights, if it is higher and proves anything."""
        if bound.dual > self.dual and problem.relative_gap(self.primal, bound.dual) < np.inf:
            self.bound = replace(bound, worst_weight=None)

    def keep(self) -> None:
        """Weights borrowed from the solver are copied before it goes on."""
        if self.is_borrowed:
            self.W, self.b, self.is_borrowed = self.W.copy(), self.b.copy(), False


def minimise(
    problem: Problem,
    solvers: Sequence[Solver],
    *,
    tol: float,
    budget: Budget | None = None,
    start: Start | None = None,
    seed: int = 0,
) -> Solution:
    """Minimises P until the relative gap is certified to be at most ``tol``.

    ``solvers`` are tried in turn, each from where the last one stalled. The result is the best seen, with
    its certificate, however the run ended.
    """
    for solver in solvers:
        if (refusal := solver.refusal(problem)) is not None:
            raise CombinationError(refusal + ".")
    problem.losses.check()
    if (moved := near_zero(problem)) is not None:
        found = _minimised(moved.problem, solvers, tol, budget or Budget(), moved.start(start), seed)
        return moved.solution(found, tol)
    return _minimised(problem, solvers, tol, budget or Budget(), start, seed)


def _minimised(
    problem: Problem,
    solvers: Sequence[Solver],
    tol: float,
    budget: Budget,
    start: Start | None,
    seed: int,
) -> Solution:
    problem = problem.in_core()
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(problem.losses.at_zero):
            raise InputError(BEYOND)
    began = time.perf_counter()
    W, b = (start.W, start.b) if start is not None else zeros(problem)
    best = _Best(W, b)
    epochs, used = 0, []
    stop: Stop | None = None
    # Values beyond float64 end in infinities that no certificate accepts; the reader needs no warnings.
    quiet = np.errstate(over="ignore", invalid="ignore")
    with (
        cancellable() as caller,
        quiet,
        _cores_for_passes(problem),
        _overflow_in_words(problem, best),
    ):
        own = CancellationToken(seconds=budget.max_seconds, parent=caller)
        for place, solver in enumerate(solvers):
            used.append(solver.name)
            goes_on = place == len(solvers) - 1 or solver.is_patient(problem)
            gain, patience = (0.99, _PATIENCE) if goes_on else (0.5, 1)
            waited, due, mark, height = 0, epochs + _EVERY, np.inf, np.inf
            look_due = epochs + _FIRST_LOOK
            stream = solver.iterates(problem, start, tol, seed)
            latest: Iterate | None = None
            is_fresh, doubt = False, 1.0
            while (iterate := following(stream, own)) is not None:
                latest = best.latest = iterate
                epochs += 1
                seconds = time.perf_counter() - began
                is_last = _exhausted(budget, epochs, seconds) or own.is_over
                expected = iterate.expected_gap
                is_promising = expected is None or doubt * expected <= _HOPE * tol
                is_fresh = is_last or is_promising or epochs >= due or budget.asks_for(epochs)
                if is_fresh:
                    _certify(problem, iterate, best)
                    if epochs >= look_due and not own.is_over:
                        look_due = epochs + int(_LOOK_GROWTH * epochs)
                        with own:
                            _look_closer(problem, best, tol)
                    point = _record(best, solver, iterate, epochs, began)
                    if epochs >= due:
                        # A bound may say nothing until the weights are nearly right: then P alone can tell.
                        has_fallen = goes_on and point.primal < height - _FALL * tol * abs(height)
                        waited = 0 if point.gap < gain * mark or has_fallen else waited + 1
                        due = epochs + max(_EVERY, int(_GROWTH * epochs))
                        mark, height = point.gap, point.primal
                is_asked = bool(budget.callbacks) and budget.tell(
                    best.trace[-1] if is_fresh else _event(best, solver, iterate, epochs, began)
                )
                if is_asked and not is_fresh:
                    is_fresh = True
                    _certify(problem, iterate, best)
                    _record(best, solver, iterate, epochs, began)
                if is_fresh:
                    stop = _why_stop(
                        problem, best, tol, budget, caller, is_asked=is_asked, is_stalled=waited >= patience
                    )
                    if stop is not None:
                        break
                    if is_promising and expected:
                        # A certificate can cost many epochs: an estimate that was too low is believed less.
                        found = problem.relative_gap(best.primal, best.dual)
                        doubt = max(1.0, min(found / expected, 1e6))
                    best.keep()
            is_broken_off = own.is_over and stop is None
            if latest is not None and not is_fresh:
                # An epoch that was broken off may have moved weights on: what was known of them is void.
                _certify(
                    problem, replace(latest, bound=None, residue=None) if is_broken_off else latest, best
                )
                _record(best, solver, latest, epochs, began)
                stop = _why_stop(problem, best, tol, budget, caller, is_asked=False, is_stalled=False)
            if own.is_over and stop is None:
                stop = Stop.CANCELLED if caller.is_over else Stop.SECONDS
            if stop not in (None, Stop.STALLED):
                break
            stop = Stop.STALLED
            start = Start(best.W.astype(np.float64), best.b, None if best.bound is None else best.bound.U)
        return _finish(problem, best, "+".join(used), epochs, time.perf_counter() - began, tol, stop, budget)


_AT_THE_FLOOR = "the last solver gained less than 1 % an attempt, or has no step left"


def _cores_for_passes(problem: Problem) -> AbstractContextManager[None]:
    """Threads of BLAS step aside where the time goes to threaded passes over sparse rows."""
    X = problem.X
    if X.is_sparse and (X.n_threads or 1) > 1 and X.n_stored >= _MANY_STORED:
        return OneBlasThread()
    return nullcontext()


@contextmanager
def _overflow_in_words(problem: Problem, best: _Best) -> Iterator[None]:
    """LAPACK gives up on infinities, and says nothing of where they come from; all else it says itself."""
    try:
        yield
    except np.linalg.LinAlgError as error:
        if _is_beyond(problem, best):
            raise InputError(BEYOND) from error
        raise


def _is_beyond(problem: Problem, best: _Best) -> bool:
    """Whether squares, of the data or of the scores where the solver is, overflow or vanish."""
    W, b = (best.W, best.b) if best.latest is None else best.latest.weights()
    Z = problem.scores(W, b)
    squares = problem.X.squared_adjoint(problem.losses.weighted(np.ones_like(Z)))
    if not all(np.isfinite(total) for total in (squares.sum(), *(np.square(v).sum() for v in (W, b, Z)))):
        return True
    is_small = squares < np.finfo(np.float64).tiny  # a column of zeros is none of those that vanish
    return bool(problem.X.dot(np.where(is_small, 1e150, 0.0)).any())


def _exhausted(budget: Budget, epochs: int, seconds: float) -> bool:
    return (budget.max_epochs is not None and epochs >= budget.max_epochs) or (
        budget.max_seconds is not None and seconds >= budget.max_seconds
    )


def _certify(problem: Problem, iterate: Iterate, best: _Best) -> None:
    """Proves what it can of an iterate, also after the token is over."""
    with shielded():
        _prove(problem, iterate, best)


def _prove(problem: Problem, iterate: Iterate, best: _Best) -> None:
    W, b = iterate.weights()
    b, Z, U = _refitted(problem, problem.scores(W, b), b)
    # A loss may take NaN for a score that costs nothing.
    primal = problem.primal(W, b, Z) if np.isfinite(Z).all() else np.inf
    bound = iterate.bound
    if bound is None and iterate.dual is not None and iterate.residue is not None:
        penalty = problem.penalty_value(W, b)
        bound = lower_bound_by_scores(problem, iterate.dual(), b, Z, penalty, iterate.residue)
        if bound is not None and (bound.worst_weight or 0.0) > _CHARGE * (primal - bound.dual):
            bound = None
    if bound is None:
        if iterate.dual is not None:
            U = iterate.dual()
        elif U is None or problem.penalty.has_free_columns:
            U = likely_point(problem, W, b, Z) if problem.losses.is_smooth else gradient_point(problem, Z)
        bound = feasible(problem, U, W, b)
    if bound.dual > primal and problem.relative_gap(primal, bound.dual) == np.inf:
        bound = feasible(problem, problem.losses.anchor(), W, b)  # no lower bound is above P
    is_better, is_higher = primal < best.primal, best.bound is None or bound.dual > best.dual
    if is_better:
        best.W, best.b, best.Z, best.primal, best.is_borrowed = W, b, Z, primal, True
    if is_higher:
        best.bound = bound
    if best.bound is not None and is_better != is_higher:
        # Weights and bound of different epochs: what was said about the pair holds no longer.
        best.bound = replace(best.bound, worst_weight=None)


def _look_closer(problem: Problem, best: _Best, tol: float) -> None:
    """Tries for a better bound: from the best weights alone, then from where a prover gets from there.

    A bound holds whoever finds it. Noisy or creeping solvers have good weights long before their own slopes
    can prove it.
    """
    if best.Z is None or best.is_bound_tight or problem.relative_gap(best.primal, best.dual) <= tol:
        return
    W, b = best.W.astype(np.float64), best.b.astype(np.float64)
    U = closer_point(problem, W, b, best.Z)
    if U is not None:
        best.raise_to(problem, feasible(problem, U, W, b))
    for iterate in _prover_steps(problem, Start(W, b), tol):
        if problem.relative_gap(best.primal, best.dual) <= tol:
            return
        there = iterate.weights()
        U = problem.losses.slopes(problem.scores(*there)) if iterate.dual is None else iterate.dual()
        best.raise_to(problem, feasible(problem, U, *there) if iterate.bound is None else iterate.bound)
        if problem.relative_gap(problem.primal(*there), best.dual) <= 0.1 * tol:
            best.is_bound_tight = True
            return


def _prover_steps(problem: Problem, start: Start, tol: float) -> Iterator[Iterate]:
    """The first steps of a solver that proves, where the problem is small."""
    d, width = problem.weight_shape
    size, n_apart = (d, width) if problem.losses.is_by_output else (d * width, 1)
    work = (problem.X.n_rows + size) * size**2 * n_apart
    able = (SOLVERS[name]() for name in ("prox_cd", "newton", "lbfgs"))
    prover = next((each for each in able if each.refusal(problem) is None), None)
    if prover is None or work > _SMALL:
        return iter(())
    return islice(prover.iterates(problem, start, tol, 0), _PROOF_STEPS)


def _refitted(
    problem: Problem, Z: FloatArray, b: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """A free intercept moved to where the losses are least: no pass over X, and it can only help."""
    if problem.intercept is Intercept.FREE:
        losses = problem.losses
        refit = losses.refit(Z)
        if np.any(refit.shift) and losses.value(Z + refit.shift) <= losses.value(Z):
            return b + refit.shift, Z + refit.shift, refit.U
    return b, Z, None


def _event(best: _Best, solver: Solver, iterate: Iterate, epoch: int, began: float) -> Progress:
    """What is known after an epoch that was not certified."""
    expected = iterate.expected_gap
    estimate = float(expected) if expected is not None and np.isfinite(expected) else None
    gap, seconds = best.primal - best.dual, time.perf_counter() - began
    return Progress(epoch, best.primal, best.dual, gap, seconds, False, estimate, solver.name)


def _record(best: _Best, solver: Solver, iterate: Iterate, epoch: int, began: float) -> Progress:
    """Adds a certified point to the trace."""
    best.trace.append(replace(_event(best, solver, iterate, epoch, began), is_proved=True))
    return best.trace[-1]


def _why_stop(
    problem: Problem,
    best: _Best,
    tol: float,
    budget: Budget,
    caller: CancellationToken,
    *,
    is_asked: bool,
    is_stalled: bool,
) -> Stop | None:
    point = best.trace[-1]
    if problem.relative_gap(best.primal, best.dual) <= tol:
        return Stop.CERTIFIED
    if caller.is_over:
        return Stop.CANCELLED
    if is_asked:
        return Stop.CALLBACK
    if budget.max_epochs is not None and point.epoch >= budget.max_epochs:
        return Stop.EPOCHS
    if budget.max_seconds is not None and point.seconds >= budget.max_seconds:
        return Stop.SECONDS
    if _is_separated(problem, best):
        return Stop.NO_MINIMUM
    return Stop.STALLED if is_stalled else None


def _is_separated(problem: Problem, best: _Best) -> bool:
    """Whether the scores prove that an unpenalised likelihood has no minimiser."""
    if not problem.penalty.is_zero or best.Z is None:
        return False
    return problem.losses.is_separated(best.Z, are_together=problem.has_shared_weights)


def _finish(
    problem: Problem,
    best: _Best,
    name: str,
    epochs: int,
    seconds: float,
    tol: float,
    stop: Stop | None,
    budget: Budget,
) -> Solution:
    if best.bound is None:
        _certify(problem, Iterate(lambda: (best.W, best.b)), best)
    if best.Z is None or best.bound is None:  # no weights had an objective that is a number
        raise InputError(BEYOND)
    relative = problem.relative_gap(best.primal, best.dual)
    # The start may be good enough for a budget of no epoch.
    stop = Stop.CERTIFIED if relative <= tol else stop or Stop.STALLED
    certificate = Certificate(
        primal=best.primal,
        dual=best.dual,
        gap=best.primal - best.dual,
        relative_gap=relative,
        kkt_violation=worst_term(problem, best.W, best.b, best.Z, best.bound),
        solver=name,
        epochs=epochs,
        seconds=seconds,
        converged=bool(relative <= tol),
        reason=stop.sentence(budget.detail(stop) or _AT_THE_FLOOR),
        stop=stop,
    )
    return Solution(best.W, best.b, best.bound.U, certificate, tuple(best.trace))
