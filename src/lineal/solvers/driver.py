"""Runs a solver until its result is certified, or a budget, a callback or the user says stop.

One loop for everything convex: it asks a solver for iterates and a :class:`~lineal.solvers.proving.Prover`
for proofs, keeps the best weights and the best bound, tells callbacks, decides when to hand over to the next
solver and when to stop, and makes the certificate.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from lineal.cancellation import CancellationToken, cancellable, following, shielded, unless_over
from lineal.errors import CombinationError, InputError, ParameterError
from lineal.objective.certificate import ALL_ROUNDING, Certificate, Stop
from lineal.objective.problem import Problem
from lineal.solvers.base import BEYOND, Iterate, Progress, Solution, Solver, Start, State
from lineal.solvers.checkpoint import Checkpoint, terms_of
from lineal.solvers.costs import Cost
from lineal.solvers.offsets import near_zero
from lineal.solvers.proving import Best, LinearProver, Prover

Callback = Callable[[Progress], object]

# An epoch whose own estimate is within this factor of the tolerance is worth a certificate: estimates run
# behind the truth, by a factor of 1.2 to 3 where that was looked at.
_HOPE = 1.25
# A solver that does not expect to be done is certified all the same after so many epochs, and again
# each time the count has grown by this share: a run that creeps must be seen to creep.
_EVERY, _GROWTH = 20, 0.25
# After so many epochs, and again each time their count has grown by this share, a dearer dual point is tried:
# the slopes of weights that are nearly right can prove very little where columns are nearly collinear.
_FIRST_LOOK, _LOOK_GROWTH = 30, 0.5
# So many of these stretches in a row that gain less than 1 % of the gap, and less than this share of the
# tolerance in P: the solver is at its floor. While another solver stands behind it, one that gains less than
# half of the gap is enough to hand over, unless it is known to be worth its time.
_PATIENCE, _FALL = 14, 0.01
# P that falls by less than this share of itself in a stretch may do so for ever, whatever the tolerance.
_LEAST_FALL = 1e-6
# Steps that are few lower P by so much in a stretch while they are still on their way.
_STEADY = 1e-4
# No solver is left before so many epochs; and after so many spans of the next one's time it is, whatever it
# gained.
_LEAST_EPOCHS, _MOST_SPANS = 5, 4
# A solver that said what it takes in all is believed up to so many times that.
_OVERTIME = 3
# One that aims below the tolerance has so many epochs for it, from when it is within the tolerance.
_MORE = 4

_AT_THE_FLOOR = "the last solver gained less than 1 % an attempt, or has no step left"
_BLIND = "what the penalty adds is less than the rounding of the losses' slopes, so nothing can be proved"


@dataclass
class Budget:
    """When to stop short of the tolerance, and whom to tell on the way.

    Callbacks get one event each epoch, and change no bit by listening. Whoever needs more certificates
    than the driver does asks for one every so many epochs, ``certify_every``.

    ``checkpoint`` gets a :class:`~lineal.solvers.checkpoint.Checkpoint` every so many epochs or seconds; each
    epoch, where neither is said. To take one changes no bit, so that may hang on the clock. A fit that goes
    on from one counts epochs and seconds from where that one did.
    """

    max_seconds: float | None = None
    max_epochs: int | None = None
    callbacks: Sequence[Callback] = ()
    certify_every: int | None = None
    checkpoint: Callable[[Checkpoint], object] | None = None
    checkpoint_every: int | None = None
    checkpoint_seconds: float | None = None

    def __post_init__(self) -> None:
        for name in ("certify_every", "checkpoint_every"):
            if (every := getattr(self, name)) is not None and every < 1:
                raise ParameterError(f"{name} must be at least 1, got {every!r}.")

    def wants_checkpoint(self, epoch: int, seconds: float) -> bool:
        """Whether one is due, so many seconds after the last."""
        every, pause = self.checkpoint_every, self.checkpoint_seconds
        if every is None and pause is None:
            return True
        return (every is not None and epoch % every == 0) or (pause is not None and seconds >= pause)

    def asks_for(self, epoch: int) -> bool:
        """Whether this epoch must be certified."""
        return self.certify_every is not None and epoch % self.certify_every == 0

    def is_used_up(self, epochs: int, seconds: float) -> bool:
        """Whether there is nothing left."""
        return (self.max_epochs is not None and epochs >= self.max_epochs) or (
            self.max_seconds is not None and seconds >= self.max_seconds
        )

    def tell(self, event: Progress) -> bool:
        """Tells all callbacks; whether one of them asks to stop."""
        answers = [callback(event) for callback in self.callbacks]
        return any(isinstance(answer, (bool, np.bool_)) and bool(answer) for answer in answers)

    def detail(self, stop: Stop) -> object:
        """The limit that was reached, for ``Stop.sentence``."""
        return {Stop.SECONDS: self.max_seconds, Stop.EPOCHS: self.max_epochs}.get(stop)


def minimise(
    problem: Problem,
    solvers: Sequence[Solver],
    *,
    tol: float,
    budget: Budget | None = None,
    start: Start | Checkpoint | None = None,
    seed: int = 0,
    costs: Sequence[Cost] = (),
) -> Solution:
    """Minimises P until the relative gap is certified to be at most ``tol``.

    ``solvers`` are tried in turn, each from where the last one stalled. The result is the best seen, with
    its certificate, however the run ended. ``costs`` are what they are predicted to take, where that was
    counted before.

    From a :class:`~lineal.solvers.checkpoint.Checkpoint` the same fit goes on: with the same problem,
    solvers, ``tol``, seed and ``certify_every`` to the same bits, where the solver at work gives its state,
    and to the same optimum where it does not.

    Raises
    ------
    InputError
        The checkpoint is of another fit.
    """
    for solver in solvers:
        if (refusal := solver.refusal(problem)) is not None:
            raise CombinationError(refusal + ".")
    problem.losses.check()
    moved = near_zero(problem)
    near = (problem if moved is None else moved.problem).in_core()
    begin = start if moved is None or isinstance(start, Checkpoint) else moved.start(start)
    known = costs if moved is None else ()
    found = drive(
        LinearProver(near), near, solvers, tol=tol, budget=budget, start=begin, seed=seed, costs=known
    )
    return found if moved is None else moved.solution(found, tol)


def drive(
    prover: Prover,
    problem: Any,
    solvers: Sequence[Solver],
    *,
    tol: float,
    budget: Budget | None = None,
    start: Start | Checkpoint | None = None,
    seed: int = 0,
    floor: str = _AT_THE_FLOOR,
    costs: Sequence[Cost] = (),
) -> Solution:
    """Runs solvers of a problem for which a prover proves; ``floor`` says what a stall means."""
    if len(costs) < len(solvers) > 1:
        costs = tuple(solver.cost(problem) for solver in solvers)
    budget, kept = budget or Budget(), start if isinstance(start, Checkpoint) else None
    terms: State = {}
    if budget.checkpoint is not None or kept is not None:
        terms = terms_of(prover, solvers, tol, seed)
    if isinstance(start, Checkpoint):
        start.check(terms)
        run, start = _Run(prover, tol, budget, start.restored_best()), start.start()
    else:
        run = _Run(prover, tol, budget, Best(*prover.start(start)))
    run.terms = terms
    # Values beyond float64 end in infinities that no certificate accepts; the reader needs no warnings.
    quiet = np.errstate(over="ignore", invalid="ignore")
    with cancellable() as caller, quiet, prover.threads():
        run.caller = caller
        first = 0 if kept is None else run.go_on(kept, solvers)
        given = start if kept is None else None
        limit = budget.max_seconds
        run.own = CancellationToken(seconds=None if limit is None else limit - run.kept, parent=caller)
        try:
            for place in range(first, len(solvers)):
                run.place, solver = place, solvers[place]
                progress = _Progress(tol, run.epochs, problem, solver, costs[place : place + 2])
                stream, again = solver.iterates(problem, start, progress.aim, seed), None
                if kept is None and place == 0 and (guess := prover.guess()) is not None:
                    stream = chain([guess], stream)
                if kept is not None and place == kept.place:
                    vars(progress).update(kept.decisions)
                    if kept.state is not None:
                        again = following(stream, run.own)  # the iterate that the checkpoint was taken at
                run.follow(solver, stream, progress, again)
                run.look_once_more()
                run.look_for_a_minimum()
                if run.stop not in (None, Stop.STALLED) or run.is_certified or run.is_at_floor:
                    break
                run.stop, best = Stop.STALLED, run.best
                start = Start(best.W.astype(np.float64), best.b, None if best.bound is None else best.bound.U)
            if given is not None and run.stop is Stop.EPOCHS and not run.is_certified:
                run.compare(given)
            return run.solution(floor)
        except np.linalg.LinAlgError as error:
            # LAPACK gives up on infinities, and says nothing of where they come from.
            if prover.is_beyond(run.best):
                raise InputError(BEYOND) from error
            raise


class _Run:
    """A fit under way."""

    caller: CancellationToken
    own: CancellationToken  # with the deadline of this fit

    def __init__(self, prover: Prover, tol: float, budget: Budget, best: Best) -> None:
        self.prover, self.tol, self.budget, self.best = prover, tol, budget, best
        self.began = time.perf_counter()
        self.epochs = 0
        self.used: list[str] = []
        self.stop: Stop | None = None
        self.terms: State = {}
        self.place = 0
        self.kept = 0.0  # seconds at the last checkpoint

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began

    @property
    def is_certified(self) -> bool:
        """Whether the tolerance is met."""
        return self.best.is_settled and self._is_within(self.tol)

    def _is_within(self, goal: float) -> bool:
        """Whether the gap is that small, or can be no smaller."""
        return self.prover.relative_gap(self.best) <= goal or self.prover.is_rounding(self.best)

    @property
    def is_at_floor(self) -> bool:
        """Whether what is left of the gap is rounding."""
        return self.prover.is_at_floor(self.best)

    def go_on(self, kept: Checkpoint, solvers: Sequence[Solver]) -> int:
        """Stands where a checkpoint was taken; returns which solver is next."""
        self.epochs, self.kept = kept.epochs, kept.seconds
        self.began -= kept.seconds
        self.used = [solver.name for solver in solvers[: kept.place]]
        if self.budget.max_epochs is not None and self.epochs >= self.budget.max_epochs:
            self.used.append(solvers[kept.place].name)
            self.stop = Stop.EPOCHS
            return len(solvers)
        return kept.place

    def follow(
        self, solver: Solver, stream: Iterator[Iterate], progress: _Progress, latest: Iterate | None = None
    ) -> None:
        """Follows one solver until there is a reason to stop, it stalls, or it has no step left.

        ``latest`` is the iterate that it goes on from, if any.
        """
        prover, best, budget, tol = self.prover, self.best, self.budget, self.tol
        self.used.append(solver.name)
        while (iterate := following(stream, self.own)) is not None:
            is_first, latest = latest is None and self.epochs == 0, iterate
            best.latest = iterate
            if is_first and budget.max_epochs == 1 and self._is_where_it_began(iterate):
                continue  # of the only epoch something is to come
            self.epochs += 1
            is_end = budget.is_used_up(self.epochs, self.seconds) or self.own.is_over
            expected = iterate.expected_gap
            is_promising = iterate.is_worth_a_proof
            if is_promising is None:
                is_promising = expected is None or progress.promises(expected)
            is_due = self.epochs >= progress.due and not prover.is_dear
            progress.is_fresh = is_fresh = is_end or is_promising or is_due or budget.asks_for(self.epochs)
            if is_fresh:
                self._certify(iterate)
                if self.epochs >= progress.look_due and not self.own.is_over:
                    progress.look_due = self.epochs + int(_LOOK_GROWTH * self.epochs)
                    with self.own:
                        prover.look_closer(best, tol)
                self._record(solver, iterate)
                progress.look(self.epochs, best, prover)
            is_asked = bool(budget.callbacks) and budget.tell(
                best.trace[-1] if is_fresh else self._event(solver, iterate)
            )
            if is_asked and not is_fresh:
                progress.is_fresh = is_fresh = True
                self._certify(iterate)
                self._record(solver, iterate)
            if is_fresh:
                self.stop = self._why_stop(progress.goal, is_asked=is_asked, is_stalled=progress.is_stalled)
                if self.stop is not None:
                    break
                if is_promising and expected and iterate.is_worth_a_proof is None:
                    # A certificate can cost many epochs: an estimate that was too low is believed less.
                    progress.doubt = max(1.0, min(prover.relative_gap(best) / expected, 1e6))
                best.keep()
            if budget.checkpoint is not None and not self.own.is_over:
                self._give_checkpoint(iterate, progress, budget.checkpoint)
        is_broken_off = self.own.is_over and self.stop is None
        if latest is not None and not progress.is_fresh:
            # An epoch that was broken off may have moved weights on: what was known of them is void.
            self._certify(replace(latest, bound=None, residue=None) if is_broken_off else latest)
            self._record(solver, latest)
            self.stop = self._why_stop(tol, is_asked=False, is_stalled=False)
        if self.own.is_over and self.stop is None:
            self.stop = Stop.CANCELLED if self.caller.is_over else Stop.SECONDS

    def _is_where_it_began(self, iterate: Iterate) -> bool:
        """Whether no step has been taken yet."""
        W, b = iterate.weights()
        return np.array_equal(W, self.best.W) and np.array_equal(b, self.best.b)

    def _certify(self, iterate: Iterate) -> None:
        """Proves what it can of an iterate, also after the token is over."""
        with shielded():
            self.best.take(self.prover.prove(iterate))

    def _give_checkpoint(
        self, iterate: Iterate, progress: _Progress, listener: Callable[[Checkpoint], object]
    ) -> None:
        seconds = self.seconds
        if self.budget.wants_checkpoint(self.epochs, seconds - self.kept):
            self.kept = seconds
            listener(
                Checkpoint.of(
                    self.best,
                    **self.terms,
                    place=self.place,
                    epochs=self.epochs,
                    epochs_here=self.epochs - progress.began,
                    seconds=seconds,
                    decisions=vars(progress),
                    state=None if iterate.state is None else iterate.state(),
                )
            )

    def _event(self, solver: Solver, iterate: Iterate, *, is_proved: bool = False) -> Progress:
        """What is known after an epoch."""
        expected, best = iterate.expected_gap, self.best
        estimate = float(expected) if expected is not None and math.isfinite(expected) else None
        dual = min(best.dual, best.primal)  # rounding may put it an ulp above
        return Progress(
            self.epochs, best.primal, dual, best.primal - dual, self.seconds, is_proved, estimate, solver.name
        )

    def _record(self, solver: Solver, iterate: Iterate) -> None:
        """Adds a certified point to the trace."""
        self.best.trace.append(self._event(solver, iterate, is_proved=True))

    def _why_stop(self, goal: float, *, is_asked: bool, is_stalled: bool) -> Stop | None:
        point, budget = self.best.trace[-1], self.budget
        if self.best.is_settled and self._is_within(goal):
            return Stop.CERTIFIED
        if self.caller.is_over:
            return Stop.CANCELLED
        if is_asked:
            return Stop.CALLBACK
        if budget.max_epochs is not None and point.epoch >= budget.max_epochs:
            return Stop.EPOCHS
        if budget.max_seconds is not None and point.seconds >= budget.max_seconds:
            return Stop.SECONDS
        if unless_over(lambda: self.prover.has_no_minimum(self.best), self.own):
            return Stop.NO_MINIMUM
        return Stop.STALLED if is_stalled or self.is_at_floor else None

    def look_once_more(self) -> None:
        """Where a solver came to an end without a proof: whether dearer bounds have one."""
        if self.stop not in (None, Stop.STALLED) or self.is_certified or self.best.bound is None:
            return
        before = self.best.dual
        unless_over(lambda: self.prover.look_once_more(self.best), self.own)
        if self.best.dual > before and self.best.trace:
            event, best = self.best.trace[-1], self.best
            dual = min(best.dual, best.primal)
            best.trace[-1] = replace(event, primal=best.primal, dual=dual, gap=best.primal - dual)
        if self.is_certified:
            self.stop = Stop.CERTIFIED

    def look_for_a_minimum(self) -> None:
        """Where a solver came to an end without a proof: whether there is a minimiser at all."""
        if self.stop not in (None, Stop.STALLED) or self.is_certified or self.best.bound is None:
            return
        if unless_over(lambda: self.prover.has_no_minimum(self.best, is_last=True), self.own):
            self.stop = Stop.NO_MINIMUM

    def compare(self, start: Start) -> None:
        """Keeps the weights and the bound that a few epochs began with, where they made nothing better."""
        U = start.U
        self._certify(Iterate(lambda: (start.W, start.b), None if U is None else lambda: U))
        best, trace = self.best, self.best.trace
        best.keep()
        if trace:
            dual = min(best.dual, best.primal)
            trace[-1] = replace(trace[-1], primal=best.primal, dual=dual, gap=best.primal - dual)

    def solution(self, floor: str) -> Solution:
        """The best that was seen, and the proof."""
        best = self.best
        if best.bound is None:
            self._certify(Iterate(lambda: (best.W, best.b)))
        worst = self.prover.worst(best)
        assert best.bound is not None
        stop = self.stop or Stop.STALLED
        if self.is_at_floor:
            floor = ALL_ROUNDING
        elif stop is Stop.STALLED and self.prover.is_blind(best):
            floor = _BLIND
        certificate = Certificate.of_proof(
            best.primal,
            best.dual,
            size=self.prover.yardstick(best.primal),
            tol=self.tol if best.is_settled else -np.inf,
            worst=worst,
            solver="+".join(self.used),
            epochs=self.epochs,
            seconds=self.seconds,
            stop=stop,
            detail=self.budget.detail(stop) or (floor if best.separation is None else best.separation),
            is_rounding=best.is_settled and self.prover.is_rounding(best),
        )
        separation = best.separation if certificate.stop is Stop.NO_MINIMUM else None
        return Solution(
            best.W,
            best.b,
            best.bound.U,
            certificate,
            tuple(best.trace),
            separation,
            Z=best.Z,
            V=best.bound.V,
        )


class _Progress:
    """Whether a solver is to go on, judged by counted work and proved gaps, never by the clock.

    Where the next solver can say what is enough for its whole run, T, the present one is looked at each time
    it has used T again: it stays if the gap fell by at least what is left to fall, and hands over
    if not. So nobody leaves before T, what is left halves with each stay, and k spans cost (k + 1) T at most.
    Where nothing can be said to be enough, and the present one is known to creep, T is what the next one
    should take. Else, and for the last solver, stretches that gain nothing are counted: few are enough once a
    solver has used several times what it said it would take, or where rounding leaves nothing to prove.

    A solver may aim below the tolerance. It then has a few more epochs, from when it is within it.
    """

    def __init__(self, tol: float, epochs: int, problem: Any, solver: Solver, costs: Sequence[Cost]) -> None:
        """``costs`` are its own and that of the next solver; where there is none, they do not matter."""
        self._tol, self._is_last = tol, len(costs) < 2
        self.aim, self._n_within = solver.aim(problem, tol), 0
        self.began, self.look_due = epochs, epochs + _FIRST_LOOK
        self.is_fresh = False  # the latest iterate was certified
        self.doubt = 1.0  # how much larger gaps turned out than the solver expected
        self._mark, self._height, self._waited = np.inf, np.inf, 0
        self._n_spans, self._gap = 0, 1.0
        self._span, self._ends = np.inf, np.inf
        self._is_steady = False  # it goes on while P falls, where the next one could promise no end
        if not self._is_last:
            own, following = costs
            is_patient = solver.is_patient(problem)
            enough = following.expected if following.total is None and not is_patient else following.total
            if enough is not None:
                self._span = max(_LEAST_EPOCHS, int(np.ceil(enough / own.epoch)))
            self._is_steady = is_patient and following.total is None
            if is_patient:
                self._ends = np.inf if own.total is None else epochs + _OVERTIME * own.total / own.epoch
            else:
                self._ends = epochs
        self._span_ends = epochs + self._span
        self.due = int(epochs + min(_EVERY, self._span))
        self.is_stalled = False

    @property
    def goal(self) -> float:
        """The relative gap at which it may stop."""
        return self.aim if self._n_within < _MORE else self._tol

    def promises(self, expected: float) -> bool:
        """Whether an epoch's own estimate is worth a certificate."""
        estimate = self.doubt * expected / _HOPE
        self._n_within += estimate <= self._tol
        return estimate <= self.goal

    def look(self, epochs: int, best: Best, prover: Prover) -> None:
        """Takes note of a certified epoch."""
        if epochs >= self._span_ends:
            relative = prover.relative_gap(best)
            self._span_ends = epochs + self._span
            self._n_spans += 1
            # It fell by gap / relative, and relative / tol is left.
            self.is_stalled = self._gap * self._tol < relative**2 or self._n_spans >= _MOST_SPANS
            self._gap = min(relative, self._gap)
        if epochs < self.due:
            return
        # Where rounding will let nothing be proved, P that creeps leads nowhere.
        goes_on = (self._is_last or epochs < self._ends) and not prover.is_blind(best)
        gain, patience = (0.99, _PATIENCE) if goes_on else (0.5, 1)
        # A bound may say nothing until the weights are nearly right: then P alone can tell.
        enough = max(_FALL * self._tol, _LEAST_FALL) * abs(self._height)
        has_fallen = goes_on and best.primal < self._height - enough
        has_fallen |= self._is_steady and best.primal < (1 - _STEADY) * self._height
        self._waited = 0 if best.gap < gain * self._mark or has_fallen else self._waited + 1
        self.due = int(min(epochs + max(_EVERY, int(_GROWTH * epochs)), self._span_ends))
        self._mark, self._height = best.gap, best.primal
        if self._span == np.inf:
            self.is_stalled = self._waited >= patience
