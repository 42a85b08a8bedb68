"""The run of a kernel machine: blocks until the gap is certified.

The core makes steps (one block each); here is decided when the gap is worth a proof, when F = K beta must be
computed anew in float64, and when to end. Items that are equal share a kernel row and, where their variables
pull the same way, a variable: bounds add up, and coefficients are dealt out at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lineal import _core
from lineal.cancellation import is_over, shielded
from lineal.objective.bounds import Bound
from lineal.objective.certificate import Stop, relative_gap
from lineal.objective.losses import FloatArray
from lineal.solvers.base import Iterate, Progress, Solver, Start
from lineal.solvers.blas import OneBlasThread
from lineal.solvers.driver import Budget, drive
from lineal.solvers.kernel_dual.duals import Dual, IntArray, dealt, sums_by
from lineal.solvers.kernel_dual.interior import InteriorProblem, interior_point
from lineal.solvers.kernel_dual.values import KernelValues, Weighed, expanded, power_of_two
from lineal.solvers.proving import Best, Proof, Prover

# A block: 64 MiB of float32. It must hold the free variables with room to spare, so it may grow. Few
# variables make one block.
BLOCK, SMALLEST_BLOCK, LARGEST_BLOCK = 4096, 256, 8192
_FEW = 512
# How far a block is solved, as a share of what is wrong with the whole; and at most so many steps in it
# for each of its variables.
_SHARE, _SHARE_OF_LARGE, _MAX_INNER = 0.03, 0.1, 50
# A gap claimed from float32 is worth a proof when it is this share of the tolerance; after that a round of
# refinement (F in float64, then increments) that leaves this share of the gap is a stall.
CLAIM, _STALL = 0.5, 0.7
_MAX_ROUNDS = 40
# So many blocks without a gain of 1 %, in the gap or in what slopes disagree by, are a stall as well.
_PATIENCE, _GAIN = 30, 0.99

# After so many steps a variable inside blocks, and where blocks stall, a method that factorises goes ahead:
# for up to so many rows, or such an amount of work where the kernel is linear and columns are few.
_CREEPING, _FACTORISED, _MOST_WORK = 2000, 2000, 2e9
# Slopes that disagree by less, as a share of the largest sum of kernel values, disagree by rounding; and sums
# that are less, as a share of what they could be, are 0.
_SETTLED, _NOTHING = 1e-11, 1e-3
# Coefficients whose sums are right up to this share of them.
_BALANCED = 1e-12

_AT_THE_FLOOR = "float32 increments gain nothing more"


@dataclass(frozen=True, eq=False)
class KernelSolution:
    """Coefficients and what was proved about them, in units in which the penalty is |w|^2 / 2.

    Attributes
    ----------
    beta : (m,) coefficients of the variables
    f : (m,) K beta at the items of the variables; where the gap depends on it, in float64
    b : thresholds, one a group
    gap, dual : float
    violation : float
        By how much slopes of a group disagree at most.
    epochs : int
        Blocks that were solved.
    doubt : float
        By how much an f may be off at most.
    """

    beta: FloatArray
    f: FloatArray
    b: FloatArray
    gap: float
    dual: float
    violation: float
    epochs: int
    seconds: float
    stop: Stop
    reason: str
    n_values: int
    doubt: float
    trace: tuple[Progress, ...]

    def certified(self) -> KernelSolution:
        """The same, proved in another way."""
        return replace(self, stop=Stop.CERTIFIED, reason=Stop.CERTIFIED.sentence())


class KernelMachine:
    """A dual problem under way; ``run`` may be called again after ``scale``.

    The core works in units of its own, powers of two in which kernel values and slopes are of ordinary size:
    kernel values of ``values.unit``, slopes of ``_slope``, and so coefficients of ``_slope / unit``.

    Cost: a block of q variables takes q^2 / 2 kernel values, and n more for each of its variables that moved.

    Cancelled in a block, or in a pass for F, a machine goes back to where it was before that, within a tenth
    of a second. It is proved still: n_near kernel values in float64 for each support vector, where n_near
    rows lie near their margins (``correct``), and half of those of every two support vectors for D. Nothing
    is to be paid at coefficients 0, where one class and nu-SVR do not start: their F takes n for each.
    """

    def __init__(
        self, values: KernelValues, dual: Dual, *, block_size: int | None = None, n_threads: int = 1
    ) -> None:
        self._dual = dual
        self._n_threads = n_threads
        # Where coefficients sum to 0 the kernel may be taken around any point: that changes b alone.
        self._is_balanced = abs(float(dual.start.sum())) <= _BALANCED * float(np.abs(dual.start).sum())
        self._given = values
        self._values = values = values.centred if self._is_balanced else values
        self._scores: FloatArray | None = None  # of moved rows, as predictions will be rounded
        self._weighed: Weighed | None = None  # what a proof rests on in place of the core's
        first = values.first_equal[dual.item]
        if values.has_copies and _has_twins(first, values.n_rows):
            self._rows, self._place = np.unique(first, return_inverse=True)
            self._owner, kept = _merged(self._place, dual)
        elif len(dual.item) > values.n_rows:
            self._rows, self._place = np.unique(first, return_inverse=True)
            self._owner = kept = np.arange(len(first))
        else:  # every variable stands on a row of its own
            self._rows = first
            self._place = self._owner = kept = np.arange(len(first))
        place, m = self._place, len(kept)
        self._slope, self._coefficient = _units(dual, values.unit)
        self._value = self._slope * self._coefficient  # of D and the gap
        self._lo, self._hi, start = (
            np.bincount(self._owner, weights=each, minlength=m) / self._coefficient
            for each in (dual.lo, dual.hi, dual.start)
        )
        self._block = pace_of(m, block_size)[0]
        self._at, self._group = place[kept].astype(np.int64), dual.group[kept]
        self._c, self._start = dual.c[kept] / self._slope, start
        self._n_values = 0  # of machines that were left
        self._native = self._made(start)
        self._has_F = not np.any(dual.start)
        self._ending: tuple[float, int, float, Stop, str, tuple[Progress, ...]]
        self._ending = np.inf, 0, 0.0, Stop.STALLED, "", ()
        self._D: float | None = None  # in float64, of where a run ended

    def scale(self, factor: float) -> None:
        """Multiplies bounds and coefficients: the start for another C."""
        self._native.scale(factor)
        self._D = None
        self._lo, self._hi, self._start = factor * self._lo, factor * self._hi, factor * self._start
        self._dual = self._dual.scaled(factor)

    def run(
        self,
        tol: float,
        *,
        budget: Budget | None = None,
        unit: float = 1.0,
        settled: float = np.inf,
        size: float = 0.0,
        floor: float = 0.0,
        is_priced: bool = True,
    ) -> KernelSolution:
        """Blocks until ``gap <= tol max(|P|, |D|, floor)`` is certified and slopes of a group agree up to
        ``settled``, a share of what K beta differs by among the rows; where K beta is next to nothing beside
        ``size``, a share of that.

        P and D are reported to callbacks as ``unit P`` and ``unit D``. What ends without that is the point of
        the least P that was proved on the way, the start among them; unless P has no meaning (``is_priced``).
        """
        budget = budget or Budget()
        self._D, self._scores, self._weighed = None, None, None
        goal = _Goal(tol, unit * self._value, settled, size, floor / self._value)
        blocks = _Blocks(self, goal)
        ended = drive(_MachineProver(goal), None, [blocks], tol=tol, budget=budget, floor=_AT_THE_FLOOR)
        found = ended.certificate
        violation, stop = blocks.violation, found.stop or Stop.STALLED
        if stop is not Stop.CERTIFIED:
            with shielded():
                self.begin()
                if is_priced:
                    gap, dual = self._return_to(blocks.least)
                    violation = self._violation()
                    is_proved = goal.relative(gap, dual) <= tol and self.is_settled(violation, goal)
                    stop = Stop.CERTIFIED if is_proved and stop is Stop.STALLED else stop
                else:
                    self.proved()
        self._D = self._exact_dual()
        if self._values.offsets is not None:
            self._scores = self._given_scores()
        reason = stop.sentence(budget.detail(stop) or _AT_THE_FLOOR)
        self._ending = (violation, found.epochs, found.seconds, stop, reason, ended.trace)
        return self.snapshot()

    def _exact_dual(self) -> float:
        """D in float64, in the kernel's units."""
        beta = self._beta()
        t = sums_by(self._place, beta, len(self._rows))
        squared = self._values.squared_norm(self._rows, t)
        if squared is None:
            return float(self._native.exact_dual(self._n_threads)) * self._value
        return float(self._dual.c @ beta) - 0.5 * squared

    # ---- what blocks are made of ----------------------------------------------------------------

    @property
    def n_variables(self) -> int:
        """How many coefficients there are, equal ones merged."""
        return len(self._lo)

    def begin(self) -> None:
        """F = K beta of coefficients that a run starts with, where it is not known yet."""
        if not self._has_F:
            self.refresh()
            self._has_F = True

    def step(self) -> tuple[float, int, int]:
        """Solves a block: by how much slopes disagreed, how many steps that took, how many moved."""
        _, share, max_inner = pace_of(len(self._lo), self._block)
        return self._native.step(share, max_inner, self._n_threads)

    def claimed(self) -> tuple[float, float]:
        """The gap and D, from float32 increments."""
        _, gap, dual = self._native.gap(False)
        return gap, dual

    def refresh(self) -> None:
        """F = K beta anew, in float64."""
        self._native.refresh(True, self._n_threads)

    def proved_by_weights(self, goal: _Goal) -> tuple[float, float]:
        """The gap and D in float64; from weights of columns where that is needed and can be."""
        gap, dual = self.proved()
        return (gap, dual) if goal.relative(gap, dual) <= goal.tol else self._weighed_gap(gap, dual)

    def forget_weights(self) -> None:
        """Proofs rest on the core again."""
        self._weighed = None

    def snapshot(self, *, exactly: bool = False) -> KernelSolution:
        """Where the machine stands; ``exactly`` computes K beta anew in float64."""
        if exactly:
            self._native.refresh(True, self._n_threads)
        b, gap, dual = self._native.gap(True)
        beta = self._beta()
        moved = self._moved(beta)
        b = b * self._slope - moved
        D = dual * self._value if self._D is None else self._D
        violation, epochs, seconds, stop, reason, trace = self._ending
        return KernelSolution(
            beta=beta, f=self._f(moved), b=b, gap=self._sure_gap(gap * self._value, beta, b), dual=D,
            violation=violation * self._slope, epochs=epochs, seconds=seconds, stop=stop, reason=reason,
            n_values=self._n_values + self._native.n_values, doubt=self._doubt(), trace=trace,
        )  # fmt: skip

    def gap_at(self, b: Sequence[float]) -> float:
        """The gap at other thresholds, as far as it is certified."""
        beta = self._beta()
        moved = self._moved(beta)
        gap = float(self._native.gap_at([(each + moved) / self._slope for each in b])[1])
        return self._sure_gap(gap * self._value, beta, np.asarray(b, dtype=np.float64))

    def _f(self, moved: float) -> FloatArray:
        """Scores of the variables, in the units of the kernel and where rows were."""
        if self._scores is not None:
            return self._scores
        return self._solved_f() + moved

    def _solved_f(self) -> FloatArray:
        if self._weighed is not None:
            return self._weighed.f[self._place]
        return np.asarray(self._native.F[self._place] * self._slope)

    def _sure_gap(self, gap: float, beta: FloatArray, b: FloatArray) -> float:
        """The core's gap, or that of weights in its place; and no less than with scores as predictions will
        be rounded, for rows that were moved: what was solved near 0 may have more digits.
        """
        if self._weighed is not None:
            moved = self._moved(beta)
            gap = float(self._dual.terms(beta, self._solved_f(), b + moved, self._weighed.doubt).sum())
        if self._scores is None:
            return gap
        return max(gap, float(self._dual.terms(beta, self._scores, b).sum()))

    def _doubt(self) -> float:
        """By how much a score may be off."""
        doubt = float(self._native.doubt) * self._slope if self._weighed is None else self._weighed.doubt
        if self._scores is None:
            return doubt
        exact = self._solved_f() + self._moved(self._beta())
        return doubt + float(np.abs(self._scores - exact).max(initial=0.0))

    def _weighed_gap(self, gap: float, dual: float) -> tuple[float, float]:
        """The gap and D in the core's units from weights of columns, where these are few; as they were if
        not.
        """
        V = self._values.factor(self._rows, _MOST_WORK)
        if V is None:
            return gap, dual
        beta, b = self._beta(), self._native.gap(True)[0] * self._slope
        t = sums_by(self._place, beta, len(self._rows))
        self._weighed = Weighed.of(V, t)
        squared, doubt = self._weighed.squared, self._weighed.doubt
        gap = float(self._dual.terms(beta, self._solved_f(), b, doubt).sum())
        return gap / self._value, (float(self._dual.c @ beta) - 0.5 * squared) / self._value

    def _beta(self) -> FloatArray:
        return self._dealt(self._native.beta * self._coefficient)

    def _given_scores(self) -> FloatArray:
        """K beta at the variables, of the rows as they were given."""
        beta = self._beta()
        weights = sums_by(self._dual.item, beta, self._given.n_rows)
        support = np.flatnonzero(weights)
        f = expanded(self._given, self._given.items, support, weights[None, support])[:, 0, 0]
        return np.asarray(f[self._dual.item])

    def _moved(self, beta: FloatArray) -> float:
        """What f has beyond the f of the kernel around another point."""
        offsets = self._values.offsets
        return 0.0 if offsets is None else float(offsets[self._dual.item] @ beta)

    def _made(self, beta: FloatArray) -> _core.KernelDual:
        """The core's machine, at these coefficients."""
        return _core.KernelDual.make(
            self._values.native, self._rows, self._at, self._group, self._c, self._lo, self._hi, beta,
            self._block,
        )  # fmt: skip

    def _go_to(self, beta: FloatArray) -> None:
        """Goes on from other coefficients, with F in float64."""
        there = self._made(beta)
        there.refresh(True, self._n_threads)
        self._n_values += self._native.n_values
        self._native = there

    def _return_to(self, best: tuple[float, FloatArray]) -> tuple[float, float]:
        """The point of the least P: this one, the best that was proved, or the start. Its gap and D."""
        here = self._standing()
        for primal, beta in (best, (-np.inf, self._start)):
            if primal < sum(here) and not np.array_equal(beta, self._native.beta):
                before = self._native, self._weighed
                self._go_to(beta)
                there = self._standing()
                if sum(there) < sum(here):
                    here = there
                else:
                    self._native, self._weighed = before
        return here

    def _standing(self) -> tuple[float, float]:
        """The gap and D, from the core or from weights, whichever proves less of P."""
        self._weighed = None
        here = self.proved()[0], self._native.exact_dual(self._n_threads)
        weighed = self._weighed_gap(*here)
        if sum(weighed) < sum(here):
            return weighed
        self._weighed = None
        return here if np.isfinite(sum(here)) else (np.inf, 0.0)

    def is_settled(self, violation: float, goal: _Goal) -> bool:
        """Whether slopes of a group agree as far as it was asked for."""
        if goal.settled == np.inf:
            return True
        F = self._native.F
        lowest, highest, size = float(F.min()), float(F.max()), goal.size / self._slope
        largest = max(abs(lowest), abs(highest))
        spread = highest - lowest if largest > _NOTHING * size else size
        return violation <= max(goal.settled * spread, _SETTLED * largest)

    def _violation(self) -> float:
        """By how much slopes of a group disagree at most."""
        beta, v = self._native.beta, self._c - self._native.F[self._at]
        n_groups = int(self._group.max()) + 1
        up, down = np.full(n_groups, -np.inf), np.full(n_groups, np.inf)
        np.maximum.at(up, self._group, np.where(beta < self._hi, v, -np.inf))
        np.minimum.at(down, self._group, np.where(beta > self._lo, v, np.inf))
        return max(0.0, float((up - down).max()))

    def help(self, tol: float) -> bool:
        """Goes to a point from the inside of the bounds, in float64; whether that was possible."""
        moves, V, K = self._lo < self._hi, self._values.factor(self._rows, _MOST_WORK), None
        if V is not None:
            V /= np.sqrt(self._values.unit)
        else:
            if len(self._rows) > _FACTORISED:
                return False
            K = self._values.block(self._rows)
            if self._is_balanced:  # around the mean, in the kernel's space
                K -= K.mean(axis=0)
                K -= K.mean(axis=1)[:, None]
        fixed, n_groups = np.where(moves, 0.0, self._lo), int(self._group.max()) + 1
        sums = sums_by(self._group, self._start, n_groups)
        problem = InteriorProblem(
            K, V, self._at[moves], self._group[moves], self._c[moves], self._lo[moves], self._hi[moves],
            sums - sums_by(self._group, fixed, n_groups),
        )  # fmt: skip
        with OneBlasThread(), np.errstate(all="ignore"):
            found = interior_point(problem, tol=tol, is_over=is_over)
        beta = fixed.copy()
        beta[moves] = found
        missing = np.abs(sums_by(self._group, beta, n_groups) - sums)
        if not (np.isfinite(beta).all() and (missing <= _BALANCED * float(np.abs(beta).sum())).all()):
            return False
        self._go_to(beta)
        return True

    def proved(self) -> tuple[float, float]:
        self._native.correct(self._n_threads)
        _, gap, dual = self._native.gap(True)
        return gap, dual

    def grow_block(self) -> None:
        """A block that free variables fill makes no progress: they must be solved together."""
        if self._block >= min(LARGEST_BLOCK, len(self._lo)):
            return
        if self._native.n_free > 0.4 * self._block:
            self._block = min(2 * self._block, LARGEST_BLOCK)
            self._native.set_block_size(self._block)

    def _dealt(self, merged: FloatArray) -> FloatArray:
        """Coefficients of merged variables dealt to those that they stand for, each filled before the
        next.
        """
        if len(merged) == len(self._owner):
            return merged if self._owner is self._place else merged[self._owner]
        return dealt(merged[self._owner], self._owner, self._dual.hi - self._dual.lo)


@dataclass(frozen=True)
class _Goal:
    """What a run is to reach: a relative gap, and slopes that agree; ``unit`` times P is told to people."""

    tol: float
    unit: float
    settled: float
    size: float
    floor: float

    def relative(self, gap: float, dual: float) -> float:
        """A gap with the primal for the size of things."""
        return relative_gap(gap, max(abs(dual + gap), self.floor))


@dataclass(frozen=True)
class _Standing:
    """What was proved of a machine: its gap and D in the core's units, and whether slopes agree."""

    gap: float
    dual: float
    is_settled: bool


class _MachineProver(Prover):
    """Machines prove by themselves: coefficients are weights and dual point at once."""

    is_dear = True

    def __init__(self, goal: _Goal) -> None:
        self._goal = goal

    def prove(self, iterate: Iterate) -> Proof:
        W, b = iterate.weights()
        if iterate.dual is None:  # nothing was done yet
            return Proof(np.inf, Bound(None, None, -np.inf), W, b, is_whole=True)
        found: _Standing = iterate.dual()
        primal, dual = (self._goal.unit * value for value in (found.dual + found.gap, found.dual))
        return Proof(primal, Bound(None, None, dual), W, b, is_settled=found.is_settled, is_whole=True)

    def yardstick(self, primal: float) -> float:
        return max(abs(primal), self._goal.unit * self._goal.floor)

    def worst(self, best: Best) -> float:
        return best.gap  # the terms are told by whoever chooses the threshold


class _Blocks(Solver):
    """Blocks of coefficients; F = K beta anew in float64 after a proof that failed; help where they creep.

    Attributes
    ----------
    least : the least P that was proved, and its coefficients
    violation : by how much slopes of a group disagree
    """

    name = "kernel_dual"

    def __init__(self, machine: KernelMachine, goal: _Goal) -> None:
        self._machine, self._goal = machine, goal
        self.least = (np.inf, machine._start)
        self.violation = np.inf
        self._proof: _Standing | None = None

    def iterates(self, problem: Any, start: Start | None, tol: float, seed: int) -> Iterator[Iterate]:
        """One iterate a block."""
        machine, goal = self._machine, self._goal
        rounds, last, quiet, marks = 0, np.inf, 0, (np.inf, np.inf)
        steps, is_helped = 0, False
        machine.begin()
        while True:
            self.violation, n_inner, n_changed = machine.step()
            steps += n_inner
            gap, dual = machine.claimed()
            relative = goal.relative(gap, dual)
            # A hard margin that is not there has an infinite gap, which never falls.
            has_gained = gap < _GAIN * marks[0] or self.violation < _GAIN * marks[1]
            quiet = 0 if has_gained else quiet + 1
            marks = min(gap, marks[0]), min(self.violation, marks[1])
            is_claimed = relative <= CLAIM * tol and machine.is_settled(self.violation, goal)
            has_ended, is_stalled = n_changed == 0 or quiet >= _PATIENCE, False
            yield self._iterate(relative, machine.proved, is_worth_a_proof=is_claimed or has_ended)
            if (proof := self._taken()) is not None:
                rounds += 1
                relative = goal.relative(proof.gap, proof.dual)
                is_stalled = not relative <= _STALL * last or rounds > _MAX_ROUNDS
                last, quiet, marks = relative, 0, (np.inf, np.inf)
                machine.refresh()
            if not is_helped and (is_stalled or steps > _CREEPING * machine.n_variables):
                is_helped = True
                if machine.help(tol):
                    rounds, last, is_stalled = 0, np.inf, False
                    self.violation = machine._violation()
                    yield self._iterate(None, lambda: machine.proved_by_weights(goal), is_worth_a_proof=True)
                    self._taken()
                    machine.forget_weights()
            if is_stalled:
                return
            machine.grow_block()

    def _iterate(
        self, estimate: float | None, proved: Callable[[], tuple[float, float]], *, is_worth_a_proof: bool
    ) -> Iterate:
        is_settled = self._machine.is_settled(self.violation, self._goal)

        def prove() -> _Standing:
            self._proof = _Standing(*proved(), is_settled)
            return self._proof

        nothing = np.zeros((0, 0)), np.zeros(0)
        return Iterate(lambda: nothing, prove, estimate, is_worth_a_proof=is_worth_a_proof)

    def _taken(self) -> _Standing | None:
        """The proof that was asked for since the last time, if one was."""
        proof, self._proof = self._proof, None
        if proof is not None and proof.gap + proof.dual < self.least[0]:
            self.least = (proof.gap + proof.dual, self._machine._native.beta)
        return proof


def pace_of(m: int, block_size: int | None = None) -> tuple[int, float, int]:
    """For m variables: the size of a block, how far it is solved, and in how many steps at most."""
    # Few variables matter of most: a quarter of them in a block leaves little to do twice.
    block = block_size or (_FEW if m <= _FEW else min(BLOCK, max(SMALLEST_BLOCK, m // 4)))
    share = _SHARE if block < BLOCK else _SHARE_OF_LARGE
    return block, share, 1000 + _MAX_INNER * min(block, m)


def _has_twins(rows: IntArray, n_rows: int) -> bool:
    """Whether a row is there twice."""
    is_there = np.zeros(n_rows, dtype=bool)
    is_there[rows] = True
    return int(np.count_nonzero(is_there)) < len(rows)


def _merged(place: IntArray, dual: Dual) -> tuple[IntArray, IntArray]:
    """Which variable each one becomes part of, and a representative of each: same row, c, group and
    direction.
    """
    _, code = np.unique(dual.c, return_inverse=True)
    way = 2 * dual.group.astype(np.int64) + (dual.hi > 0)
    key = (place.astype(np.int64) * (int(code.max()) + 1) + code) * (int(way.max()) + 1) + way
    _, kept, owner = np.unique(key, return_index=True, return_inverse=True)
    return owner, kept


def _units(dual: Dual, unit: float) -> tuple[float, float]:
    """In which slopes, and so coefficients, are of ordinary size; given that of kernel values."""
    largest = float(np.abs(dual.c).max(initial=0.0))
    slope = power_of_two(largest) if largest > 0 else unit  # one class: slopes are sums of kernel values
    coefficient = slope / unit
    if not 0.0 < slope * coefficient < np.inf:  # D itself would vanish, or be beyond float64
        return 1.0, 1.0 / unit
    return slope, coefficient
