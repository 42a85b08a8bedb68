"""What the driver asks of a problem: to prove how good an iterate is.

A proof is an objective P at weights and a bound D below every objective. The two need not come from the same
iterate: a bound holds whoever finds it. ``LinearProver`` proves for a :class:`~lineal.objective.Problem`;
machines with kernels, whose weights and dual variables are one, prove by themselves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np

from lineal.errors import InputError
from lineal.objective.bounds import Bound, lower_bound_by_scores, worst_term
from lineal.objective.certificate import ABOVE, relative_gap
from lineal.objective.dual_points import (
    best_within_rounding,
    closer_point,
    feasible,
    gradient_point,
    likely_point,
)
from lineal.objective.losses import FloatArray
from lineal.objective.problem import Intercept, Problem
from lineal.solvers import separation
from lineal.solvers.base import BEYOND, Iterate, Progress, Start, State, zeros
from lineal.solvers.blas import OneBlasThread
from lineal.solvers.catalogue import SOLVERS
from lineal.solvers.separation import Separation

# A bound that takes a solver's word for how far W is from -V / strength may pay this share of the gap for it;
# above that V is worth a pass over X.
_CHARGE = 0.1
# Sums of losses that differ by less are equal.
_ROUNDING = 4 * float(np.finfo(np.float64).eps)
# Where a Hessian takes at most so many multiplications, milliseconds, a prover may take so many steps.
_SMALL, _PROOF_STEPS = 5e6, 60
# From so many stored numbers on a pass over sparse rows takes longer than a look for BLAS's libraries, 1 ms.
_MANY_STORED = 1_000_000
# Scores that differ by so much after so many proofs may grow for ever: it is asked whether they do where a
# step towards the answer takes at most so many multiplications, some tenths of a second.
_LARGE_SCORES, _MANY_PROOFS, _MOST_WORK = 10.0, 8, 1e9
# The share of P by which an epoch lowers it where there is little left to fall; and how many times the epochs
# before a direction was known are enough in any case.
_SETTLED, _AGAIN = 1e-5, 2


@dataclass(frozen=True)
class Proof:
    """What is proved of an iterate.

    Attributes
    ----------
    primal : float
        P at the weights; inf where it is no number.
    bound : Bound
        A dual point and its D.
    W, b : arrays
        The weights; they may be the solver's own and hold until the next iterate.
    Z : array or None
        Their scores, where they were computed.
    is_settled : bool
        Whether all is determined that the gap alone does not tell (the threshold of one class).
    is_whole : bool
        Whether weights and bound are one thing, so that they are kept together.
    """

    primal: float
    bound: Bound
    W: FloatArray
    b: FloatArray
    Z: FloatArray | None = None
    is_settled: bool = True
    is_whole: bool = False


@dataclass
class Best:
    """The best weights and the best bound so far; they need not come from the same epoch."""

    W: FloatArray
    b: FloatArray
    primal: float = np.inf
    Z: FloatArray | None = None
    bound: Bound | None = None
    is_settled: bool = True
    is_borrowed: bool = False  # W and b are the solver's own
    is_bound_tight: bool = False  # there is nothing left to gain from a higher bound
    latest: Iterate | None = None  # where the solver is
    trace: list[Progress] = field(default_factory=list)
    separation: Separation | None = None  # the proof that there is no minimiser
    is_asked: bool = False  # whether there is one
    asked_at: int = 0  # after so many epochs

    @property
    def dual(self) -> float:
        """D."""
        return -np.inf if self.bound is None else self.bound.dual

    @property
    def gap(self) -> float:
        """P - D."""
        return self.primal - self.dual

    def take(self, proof: Proof) -> None:
        """Keeps the weights if they are better, and the bound if it is higher."""
        is_better = proof.primal < self.primal
        # No bound is above P: one that was charged for rounding by weights far from these is void.
        is_refuted = self.dual > proof.primal + ABOVE * abs(proof.primal)
        is_higher = self.bound is None or proof.bound.dual > self.dual or is_refuted
        if proof.is_whole:
            is_nearer = proof.primal - proof.bound.dual < self.gap
            is_known = proof.is_settled > self.is_settled or (
                proof.is_settled == self.is_settled and is_nearer
            )
            is_better = is_higher = self.bound is None or is_known
        if is_better:
            self.W, self.b, self.Z, self.primal = proof.W, proof.b, proof.Z, proof.primal
            self.is_borrowed, self.is_settled = True, proof.is_settled
        if is_higher:
            self.bound = proof.bound
        if self.bound is not None and is_better != is_higher:
            # Weights and bound of different epochs: what was said about the pair holds no longer.
            self.bound = replace(self.bound, worst_weight=None)

    def keep(self) -> None:
        """Weights borrowed from the solver are copied before it goes on."""
        if self.is_borrowed:
            self.W, self.b, self.is_borrowed = self.W.copy(), self.b.copy(), False


class Prover(ABC):
    """What the driver asks of a problem.

    Attributes
    ----------
    is_dear : bool
        Whether proofs are worth their price only where a solver asks for one.
    """

    is_dear: bool = False

    @abstractmethod
    def prove(self, iterate: Iterate) -> Proof:
        """What can be proved of an iterate."""

    @abstractmethod
    def yardstick(self, primal: float) -> float:
        """What a gap is compared with."""

    @abstractmethod
    def worst(self, best: Best) -> float:
        """The largest term of the gap."""

    def relative_gap(self, best: Best) -> float:
        """What ``tol`` is compared with."""
        return relative_gap(best.gap, self.yardstick(best.primal))

    def start(self, start: Start | None) -> tuple[FloatArray, FloatArray]:
        """Weights to begin with, in case that nothing better is found."""
        return (np.zeros((0, 0)), np.zeros(0)) if start is None else (start.W, start.b)

    def identity(self) -> State | None:
        """What tells the problem from others, for checkpoints; None: there are none of it."""
        return None

    def look_closer(self, best: Best, tol: float) -> None:
        """Tries for a better bound than solvers give, at a higher price."""
        return None

    def look_once_more(self, best: Best) -> None:
        """Tries for a better bound where a solver has no step left."""
        return None

    def has_no_minimum(self, best: Best, *, is_last: bool = False) -> bool:
        """Whether it is proved that the objective has no minimiser; ``is_last``: no step is left."""
        return False

    def guess(self) -> Iterate | None:
        """Weights that may be optimal at a glance, to be proved before any solver is asked."""
        return None

    def is_at_floor(self, best: Best) -> bool:
        """Whether the gap is rounding of the objective, whatever the tolerance."""
        return False

    def is_rounding(self, best: Best) -> bool:
        """Whether targets are explained to rounding, and the gap is no more than rounding of the scores."""
        return False

    def is_blind(self, best: Best) -> bool:
        """Whether rounding of the dual points is worth more than the gap, so that no proof is to come."""
        return False

    def is_beyond(self, best: Best) -> bool:
        """Whether numbers of the problem overflow or vanish."""
        return False

    def threads(self) -> AbstractContextManager[Any]:
        """A scope in which threads are where they are needed."""
        return nullcontext()


@dataclass(frozen=True)
class LinearProver(Prover):
    """Proofs for a map, losses and a penalty."""

    problem: Problem

    def __post_init__(self) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(self.problem.losses.at_zero):
                raise InputError(BEYOND)

    def start(self, start: Start | None) -> tuple[FloatArray, FloatArray]:
        return zeros(self.problem) if start is None else (start.W, start.b)

    def yardstick(self, primal: float) -> float:
        return self.problem.yardstick(primal)

    def prove(self, iterate: Iterate) -> Proof:
        problem = self.problem
        W, b = iterate.weights()
        Z, U, losses = (problem.scores(W, b) if iterate.scores is None else iterate.scores()), None, None
        if not iterate.has_own_intercept:
            b, Z, U, losses = self._refitted(Z, b)
        # A loss may take NaN for a score that costs nothing.
        primal = np.inf
        if iterate.primal is not None and iterate.has_own_intercept and np.isfinite(iterate.primal):
            primal = iterate.primal
        elif np.isfinite(Z).all():
            primal = (problem.losses.value(Z) if losses is None else losses) + problem.penalty_value(W, b)
        if problem.is_next_to_nothing(primal) and (constants := problem.best_constants).primal <= primal:
            # Constants explain all there is to explain: what other weights add is rounding.
            W, b = zeros(problem)[0], constants.b
            Z, primal = problem.scores(W, b), constants.primal
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
        elif problem.is_next_to_nothing(primal):
            # Slopes are rounding, and so is what they prove; most losses are at least 0.
            anchored = feasible(problem, problem.losses.anchor(), W, b)
            bound = anchored if bound.dual < anchored.dual <= primal else bound
        return Proof(primal, bound, W, b, Z)

    def _refitted(self, Z: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray, Any, float | None]:
        """A free intercept moved to where the losses are least: no pass over X, and it can only help.

        (b, Z, slopes, losses), the last two where they are known. Around kinks many intercepts may be best:
        then all of what leads there ends at the same one.
        """
        if self.problem.intercept is Intercept.FREE:
            losses = self.problem.losses
            refit = losses.refit(Z)
            if not refit.shift.any():
                # Where slopes are as good a dual point as any, these are they.
                is_best = losses.is_smooth and not self.problem.penalty.is_bounded
                return b, Z, refit.U if is_best else None, refit.before
            before = losses.value(Z) if refit.before is None else refit.before
            moved = Z + refit.shift
            after = losses.value(moved) if refit.after is None else refit.after
            as_good = 1.0 if losses.is_smooth else 1 + _ROUNDING
            if after <= as_good * before:
                return b + refit.shift, moved, refit.U, after
            return b, Z, None, before
        return b, Z, None, None

    def worst(self, best: Best) -> float:
        if best.Z is None or best.bound is None:  # no weights had an objective that is a number
            raise InputError(BEYOND)
        return worst_term(self.problem, best.W, best.b, best.Z, best.bound)

    def identity(self) -> State:
        """Its size, and what made-up weights say of all rows, in their order, and of the objective."""
        problem, made_up = self.problem, np.random.default_rng(0)
        W, b = made_up.standard_normal(problem.weight_shape), np.zeros(problem.n_outputs)
        with np.errstate(over="ignore", invalid="ignore"):
            Z = problem.scores(W, b)
            scores, objective = np.vdot(Z, made_up.uniform(1.0, 2.0, Z.shape)), problem.primal(W, b, Z)
        shapes = {"the shape of the weights": W.shape, "the shape of the scores": Z.shape}
        return {**shapes, "the sum of made-up scores": float(scores), "their objective": float(objective)}

    def has_no_minimum(self, best: Best, *, is_last: bool = False) -> bool:
        """Whether a likelihood has no minimiser for want of a penalty, with the direction that proves it.

        Scores may tell. Else it is asked once, where proofs do not come and scores grow, or no step is left;
        a fit with a minimiser near 0 never pays for the answer.
        """
        problem = self.problem
        if not (problem.losses.is_likelihood and problem.penalty.has_free_columns) or best.Z is None:
            return False
        if best.separation is None:
            best.separation = separation.by_scores(problem, best.W, best.b, best.Z)
        if best.separation is None and not best.is_asked and (is_last or self._runs_away(best)):
            best.is_asked, found = True, separation.decide(problem)
            best.asked_at = best.trace[-1].epoch if best.trace else 0
            if isinstance(found, Separation):
                best.separation = found
                self._take_direction(best, found)
        found = best.separation
        if found is None or is_last or found.is_complete:
            return found is not None
        return found.is_exact and self._has_settled(best)

    def _has_settled(self, best: Best) -> bool:
        """Whether P is near its infimum: where some rows are told apart, the others are still to be fitted.

        A solver has as many epochs for that as it had before it was asked.
        """
        if len(best.trace) < 2:
            return False
        before, now = best.trace[-2:]
        fallen = before.primal - now.primal
        n_epochs = max(now.epoch - before.epoch, 1)
        return now.epoch >= _AGAIN * best.asked_at or fallen <= _SETTLED * n_epochs * abs(now.primal)

    def _take_direction(self, best: Best, found: Separation) -> None:
        """A direction that separates all rows is as good a model as any: far enough along it P is below."""
        losses = self.problem.losses
        if not found.is_complete or not best.primal > 0:
            return
        least = float(found.margins[found.margins > 0].min())
        # A row costs at most its K exp(-margin).
        enough = max(np.log(losses.total_weight * losses.shape[1] / best.primal), 1.0) / least
        W, b = enough * found.W, enough * found.b
        Z = self.problem.scores(W, b)
        if best.bound is not None and np.isfinite(Z).all():
            best.take(Proof(self.problem.primal(W, b, Z), best.bound, W, b, Z))

    def _runs_away(self, best: Best) -> bool:
        """Whether a fit shows signs of having no end, and asking takes as long as some of Newton's steps."""
        if len(best.trace) < _MANY_PROOFS or best.Z is None or separation.work(self.problem) > _MOST_WORK:
            return False
        return float(np.ptp(best.Z)) > _LARGE_SCORES

    def guess(self) -> Iterate | None:
        """The constant that all targets are."""
        problem, rows = self.problem, self.problem.losses.rows
        is_constant = (
            rows is not None
            and rows.y.ndim == 2
            and len(rows.y) > 0
            and problem.intercept is Intercept.FREE
            and not (rows.y[-1] != rows.y[0]).any()
            and not (rows.y != rows.y[0]).any()
        )
        if not is_constant or not problem.is_next_to_nothing(problem.best_constants.primal):
            return None
        anchor = problem.losses.anchor()
        return Iterate(lambda: (zeros(problem)[0], problem.best_constants.b), lambda: anchor)

    def is_at_floor(self, best: Best) -> bool:
        """Whether targets are constants to rounding, and the weights too: b cannot be stated more exactly."""
        problem = self.problem
        return problem.is_next_to_nothing(best.primal) and best.gap <= problem.best_constants.rounding

    def is_rounding(self, best: Best) -> bool:
        """Whether targets are explained to rounding, and the gap is no more than rounding of the scores."""
        return self.problem.is_rounding(best.primal, best.dual, best.W, best.b)

    def is_blind(self, best: Best) -> bool:
        """Where P is next to nothing: whether slopes, rounded as scores are, prove less than is known.

        A slope that is off by e_i costs x_i^2 e_i^2 / (2 l2) of D: with strength 1e-16 times the square of
        the data that is more than all of the penalty. Dual points of a solver's own are another matter.
        """
        problem, latest, Z = self.problem, best.latest, best.Z
        if Z is None or latest is None or not latest.is_by_slopes:
            return False
        penalty, losses = problem.penalty, problem.losses
        if not (problem.is_next_to_nothing(best.primal) and losses.is_smooth and penalty.is_strongly_convex):
            return False
        moved = Z * (1 + float(np.finfo(np.float64).eps))
        off = losses.weighted(losses.slopes(moved) - losses.slopes(Z))
        return float(problem.X.squared_adjoint(off**2).sum()) >= 2 * float(np.min(penalty.l2)) * best.gap

    def look_closer(self, best: Best, tol: float) -> None:
        """Tries for a better bound: from the best weights alone, then from where a prover gets from there.

        A bound holds whoever finds it. Noisy or creeping solvers have good weights long before their own
        slopes can prove it.
        """
        problem = self.problem
        if best.Z is None or best.is_bound_tight or self.relative_gap(best) <= tol:
            return
        W, b = best.W.astype(np.float64), best.b.astype(np.float64)
        U = closer_point(problem, W, b, best.Z)
        if U is not None:
            self._raise_to(best, feasible(problem, U, W, b))
        for iterate in self._prover_steps(Start(W, b), tol):
            if self.relative_gap(best) <= tol:
                return
            there = iterate.weights()
            U = problem.losses.slopes(problem.scores(*there)) if iterate.dual is None else iterate.dual()
            self._raise_to(best, feasible(problem, U, *there) if iterate.bound is None else iterate.bound)
            if problem.relative_gap(problem.primal(*there), best.dual) <= 0.1 * tol:
                best.is_bound_tight = True
                return

    def look_once_more(self, best: Best) -> None:
        """The slopes one Newton step ahead, and bounds that are charged for rounding of V alone."""
        problem = self.problem
        if best.Z is None or not np.isfinite(best.primal):
            return
        W, b = best.W.astype(np.float64), best.b.astype(np.float64)
        U = closer_point(problem, W, b, best.Z)
        if U is not None:
            self._raise_to(best, feasible(problem, U, W, b))
        latest = best.latest
        kept = None if latest is None or latest.dual is None else latest.dual()
        try:
            bound, _ = best_within_rounding(problem, W, b, best.Z, kept)
        except np.linalg.LinAlgError:  # infinities
            return
        if bound is not None:
            self._raise_to(best, bound)

    def _raise_to(self, best: Best, bound: Bound) -> None:
        """Takes a bound that was found apart from the weights, if it is higher and proves anything."""
        if bound.dual > best.dual and self.problem.relative_gap(best.primal, bound.dual) < np.inf:
            best.bound = replace(bound, worst_weight=None)

    def _prover_steps(self, start: Start, tol: float) -> Iterator[Iterate]:
        """The first steps of a solver that proves, where the problem is small."""
        problem = self.problem
        d, width = problem.weight_shape
        size, n_apart = (d, width) if problem.losses.is_by_output else (d * width, 1)
        work = (problem.X.n_rows + size) * size**2 * n_apart
        able = (SOLVERS[name]() for name in ("prox_cd", "newton", "lbfgs"))
        prover = next((each for each in able if each.refusal(problem) is None), None)
        if prover is None or work > _SMALL:
            return iter(())
        return islice(prover.iterates(problem, start, tol, 0), _PROOF_STEPS)

    def is_beyond(self, best: Best) -> bool:
        """Whether squares, of the data or of the scores where the solver is, overflow or vanish."""
        problem = self.problem
        W, b = (best.W, best.b) if best.latest is None else best.latest.weights()
        Z = problem.scores(W, b)
        squares = problem.X.squared_adjoint(problem.losses.weighted(np.ones_like(Z)))
        if not all(np.isfinite(total) for total in (squares.sum(), *(np.square(v).sum() for v in (W, b, Z)))):
            return True
        is_small = squares < np.finfo(np.float64).tiny  # a column of zeros is none of those that vanish
        return bool(problem.X.dot(np.where(is_small, 1e150, 0.0)).any())

    def threads(self) -> AbstractContextManager[None]:
        """Threads of BLAS step aside where the time goes to threaded passes over sparse rows."""
        X = self.problem.X
        if X.is_sparse and (X.n_threads or 1) > 1 and X.n_stored >= _MANY_STORED:
            return OneBlasThread()
        return nullcontext()
