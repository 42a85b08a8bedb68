"""The run of a kernel machine: blocks until the gap is certified.

The core makes steps (one block each); here is decided when the gap is worth a proof, when F = K beta must be
computed anew in float64, and when to end. Items that are equal share a kernel row and, where their variables
pull the same way, a variable: bounds add up, and coefficients are dealt out at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lineal import _core
from lineal.cancellation import (
    BrokenOff,
    CancellationToken,
    break_off_if_over,
    cancellable,
    is_over,
    shielded,
    unless_over,
)
from lineal.kernels.products import squared_lengths
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
# Multiplications in float64 that a machine may still make once it is cancelled: 0.02 to 0.05 s of one thread,
# where that was measured. A kernel value costs so many beyond its products, or where it is read from a
# matrix, or found from differences of rows far apart (gamma R^2).
_AFTER_THE_END, _PER_VALUE, _PER_ENTRY, _PER_DIFFERENCE, _FAR = 5e8, 16, 64, 256, 2.0**14
# Coefficients that are worse than the start are halved so often.
_MOST_HALVINGS = 12
_EPS = float(np.finfo(np.float64).eps)

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
        ``dual + gap`` is P, or above it where the machine was cancelled; ``dual`` is a bound then, be it of
        ``beta`` or not.
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

    Cancelled in a block, in a pass for F or in a proof, a machine goes back to where it was before that,
    within a tenth of a second, and says what is sure there without another kernel value: P and D with F as
    far off as float32 can have made it, in passes over the variables. What takes some 0.05 s in float64 is
    still done (``_AFTER_THE_END``), and scores by weights of columns where the kernel is linear: that proof
    is as good as any. Cancelled before the first F of one class, which does not start at 0, all that is known
    of F is the size of kernel values.
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
        self._caller: CancellationToken | None = None  # of the present run
        self._token: CancellationToken | None = None  # with its deadline
        self._is_cut, self._slack = False, 0.0  # whether that ended a proof; what D may be above ``_D``
        self._known_F: tuple[FloatArray, float] | None = None  # of the least P that was proved
        self._budget = Budget()

    @property
    def is_cut(self) -> bool:
        """Whether the last run was cancelled before it was proved in float64."""
        return self._is_cut

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
        self._D, self._scores, self._weighed, self._known_F = None, None, None, None
        self._is_cut, self._slack, self._budget = False, 0.0, budget
        goal = _Goal(tol, unit * self._value, settled, size, floor / self._value)
        blocks = _Blocks(self, goal)
        with cancellable() as caller:
            self._caller, self._token = caller, CancellationToken(seconds=budget.max_seconds, parent=caller)
            ended = drive(_MachineProver(goal), None, [blocks], tol=tol, budget=budget, floor=_AT_THE_FLOOR)
            found = ended.certificate
            stop = found.stop or Stop.STALLED
            proved = unless_over(lambda: self._prove_end(blocks, stop, is_priced=is_priced), self._token)
            if proved is None:
                with shielded():
                    violation = self._stand(blocks.least, is_priced=is_priced)
                stop = self._why_cut()
            else:
                violation, stop = proved
        reason = stop.sentence(budget.detail(stop) or _AT_THE_FLOOR)
        self._ending = (violation, found.epochs, found.seconds, stop, reason, ended.trace)
        return self.snapshot()

    def _prove_end(self, blocks: _Blocks, stop: Stop, *, is_priced: bool) -> tuple[float, Stop]:
        """Proves in float64 where a run ended: by how much slopes disagree there, and why it ended."""
        violation, goal = blocks.violation, blocks.goal
        if stop is not Stop.CERTIFIED:
            self.begin()
            if is_priced:
                gap, dual = self._return_to(blocks.least)
                violation = self._violation()
                is_proved = goal.relative(gap, dual) <= goal.tol and self.is_settled(violation, goal)
                stop = Stop.CERTIFIED if is_proved and stop is Stop.STALLED else stop
            else:
                self._correct()
        D = self._exact_dual()
        scores = None if self._values.offsets is None else self._given_scores()
        self._D, self._scores = D, scores
        return violation, stop

    # ---- what is sure after a cancel ------------------------------------------------------------

    def stand(self) -> KernelSolution:
        """Where the machine stands, cancelled after its run was over."""
        violation, epochs, seconds, stop, reason, trace = self._ending
        if not self._is_cut:
            stop = self._why_cut()
            reason = stop.sentence(self._budget.detail(stop))
        with shielded():
            violation = self._stand((np.inf, self._start), is_priced=False)
        self._ending = violation, epochs, seconds, stop, reason, trace
        return self.snapshot()

    def _stand(self, least: tuple[float, FloatArray], *, is_priced: bool) -> float:
        """Goes to the least P that is known of, and finds out what is sure there; by how much slopes
        disagree.
        """
        self._is_cut, self._D, self._scores, self._weighed = True, None, None, None
        if not self._has_F:
            beta = self._native.beta
            largest = float(np.abs(self._values.diagonal()).max(initial=0.0)) / self._values.unit
            doubt = 0.0 if self._is_start_nothing else largest * float(np.abs(beta).sum())
            self._native.assume(np.zeros(len(self._rows)), doubt)
        low, high = self._sure()
        low = max(low, self._bound_towards_start(low))
        if is_priced and self._return_at_once(least):
            also_low, high = self._sure()
            low = max(low, also_low)  # a bound holds whoever finds it
        self._D, self._slack = low, high - low
        return self._violation()

    def _why_cut(self) -> Stop:
        return Stop.CANCELLED if self._caller is not None and self._caller.is_over else Stop.SECONDS

    def _sure(self) -> tuple[float, float]:
        """A bound below every objective, and one above D here."""
        found = self._weighed_at_once()
        if found is not None:
            return found
        if self._work(self._native.beta) <= _AFTER_THE_END:
            self._native.refresh(True, self._n_threads)
        low, high = self._native.stand()
        return low * self._value, high * self._value

    def _work(self, beta: FloatArray) -> float:
        """Multiplications of F in float64."""
        values, n_values = self._values, float(np.count_nonzero(beta)) * len(self._rows)
        profile, items = values.kernel.profile, values.items
        if profile is None or values.table is not None:
            return n_values * _PER_ENTRY
        is_sparse = hasattr(items, "tocsr")
        lengths = squared_lengths(items)
        is_far = profile.kind == "gaussian" and profile.gamma * float(lengths.max(initial=0.0)) > _FAR
        n_products = items.nnz / max(items.shape[0], 1) if is_sparse else items.shape[1]
        return n_values * (n_products + (_PER_DIFFERENCE if is_far else _PER_VALUE))

    def _return_at_once(self, least: tuple[float, FloatArray]) -> bool:
        """To the point of the least P, by F as it is known: this one, the best that was proved, or these
        coefficients halved until P grows, where 0 is the start and better. Whether it is another one.
        """
        is_other = False
        if self._known_F is not None:
            there = self._made(least[1])
            there.assume(*self._known_F)
            if there.likely_primal() < self._native.likely_primal():
                self._native, is_other = there, True
        if not np.any(self._start):
            is_other |= self._native.retreat()
        elif self._is_start_nothing:
            is_other |= self._retreat_to_start()
        return is_other

    @property
    def _is_start_nothing(self) -> bool:
        """Whether coefficients of the start are not 0, but cancel on every row: nu-SVR's."""
        return bool(np.any(self._start)) and not np.any(sums_by(self._at, self._start, len(self._rows)))

    def _retreat_to_start(self) -> bool:
        """Halves the way from such a start if that is better, until P grows; whether it did."""
        beta, F, doubt = self._native.beta, self._native.F, self._native.doubt
        here = self._native.likely_primal()
        nearest = self._on_the_way(0.0, beta, F, doubt)
        if not nearest.likely_primal() < here:
            return False
        best, least = nearest, nearest.likely_primal()
        for k in range(1, _MOST_HALVINGS + 1):
            there = self._on_the_way(0.5**k, beta, F, doubt)
            primal = there.likely_primal()
            if best is not nearest and not primal < least:
                break
            if primal < least:
                best, least = there, primal
        self._native = best
        return True

    def _on_the_way(self, t: float, beta: FloatArray, F: FloatArray, doubt: float) -> _core.KernelDual:
        there = self._made(np.clip(self._start + t * (beta - self._start), self._lo, self._hi))
        there.assume(t * F, t * doubt)
        return there

    def _bound_towards_start(self, low: float) -> float:
        """The best bound on the way from such a start to here, where ``low`` is sure."""
        if not self._is_start_nothing:
            return low
        beta = self._native.beta
        at_start, here = float(self._c @ self._start), float(self._c @ beta)
        rounding = (len(beta) + 8) * _EPS * float(np.abs(self._c) @ (np.abs(beta) + np.abs(self._start)))
        most = max(2.0 * (here - low / self._value + rounding), 0.0)
        t = float(np.clip((here - at_start) / most, 0.0, 1.0)) if most > 0 else 1.0
        return (at_start + t * (here - at_start) - 0.5 * t * t * most - rounding) * self._value

    def _weighed_at_once(self) -> tuple[float, float] | None:
        """The same from weights of columns in float64, for the linear kernel, whose scores these are then."""
        values, beta = self._values, self._beta()
        if not values.kernel.is_linear:
            return None
        weighed = Weighed.quickly(values.items[self._rows], sums_by(self._place, beta, len(self._rows)))
        if values.offsets is not None:
            weighed = replace(weighed, doubt=weighed.doubt + self._doubt_of_moving(beta))
        if not np.isfinite(weighed.doubt):
            return None
        f, total = weighed.f[self._place], float(np.abs(beta).sum())
        rounding = (len(beta) + 8) * _EPS * float(np.abs(self._dual.c * beta).sum() + np.abs(beta * f).sum())
        linear, squared, off = float(self._dual.c @ beta), float(beta @ f), total * weighed.doubt
        most = max(squared + off, 0.0)
        is_from_zero = not np.any(self._start)  # multiples have the right sums
        t = max(linear / most, 0.0) if is_from_zero and linear < most else 1.0
        low, high = t * linear - 0.5 * t * t * most, linear - 0.5 * max(squared - off, 0.0)
        self._weighed = weighed
        return low - rounding, high + rounding

    def _doubt_of_moving(self, beta: FloatArray) -> float:
        """What scores of rows as they were given may differ by from those of moved ones and ``_moved``: sums
        of coefficients that are not quite 0, and rounding.
        """
        offsets = self._values.offsets
        assert offsets is not None
        mean = self._given.items.mean(axis=0, dtype=np.float64)
        sizes = np.abs(offsets) + float(mean @ mean)
        off = (len(beta) + 8) * _EPS * float(sizes[self._dual.item] @ np.abs(beta))
        return off + float(sizes.max()) * abs(math.fsum(beta.tolist()))

    # ---- proofs ---------------------------------------------------------------------------------

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
        if goal.relative(gap, dual) <= goal.tol or (self._token is not None and self._token.is_over):
            return gap, dual
        return self._weighed_gap(gap, dual)

    def forget_weights(self) -> None:
        """Proofs rest on the core again."""
        self._weighed = None

    def exact_snapshot(self) -> KernelSolution | None:
        """Where the machine stands, with K beta anew in float64; None where there is no time left."""
        assert self._token is not None
        return unless_over(self._refreshed_snapshot, self._token)

    def _refreshed_snapshot(self) -> KernelSolution:
        self.refresh()
        return self.snapshot()

    def snapshot(self) -> KernelSolution:
        """Where the machine stands."""
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
        gap += self._slack
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
                try:
                    there = self._standing()
                except BrokenOff:
                    self._native, self._weighed = before
                    raise
                if sum(there) < sum(here):
                    here = there
                else:
                    self._native, self._weighed = before
        return here

    def _standing(self) -> tuple[float, float]:
        """The gap and D, from the core or from weights, whichever proves less of P."""
        self._weighed = None
        here = self._correct()[0], self._native.exact_dual(self._n_threads)
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
        if is_over() and self._work(beta) <= _AFTER_THE_END:
            with shielded():
                before = self._native
                self._go_to(beta)
                if self._native.likely_primal() > before.likely_primal():
                    self._native = before
            break_off_if_over()
        self._go_to(beta)
        return True

    def proved(self) -> tuple[float, float]:
        """The gap and D in float64, in the core's units; of a run that is cancelled bounds of them."""
        assert self._token is not None
        proved = unless_over(self._correct, self._token)
        if proved is not None:
            return proved
        low, high = self._native.stand()
        return float(self._native.gap(True)[1]) + (high - low), low

    def _correct(self) -> tuple[float, float]:
        self._native.correct(self._n_threads)
        _, gap, dual = self._native.gap(True)
        return gap, dual

    def remember(self) -> None:
        """What F is at the least P that was proved."""
        self._known_F = self._native.F, float(self._native.doubt)

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
        self._machine, self.goal = machine, goal
        self.least = (np.inf, machine._start)
        self.violation = np.inf
        self._proof: _Standing | None = None
        self._is_least = False  # of the latest proof

    def iterates(self, problem: Any, start: Start | None, tol: float, seed: int) -> Iterator[Iterate]:
        """One iterate a block."""
        machine, goal = self._machine, self.goal
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
                if self._is_least:
                    machine.remember()
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
        is_settled = self._machine.is_settled(self.violation, self.goal)

        def prove() -> _Standing:
            self._proof = _Standing(*proved(), is_settled)
            return self._proof

        nothing = np.zeros((0, 0)), np.zeros(0)
        return Iterate(lambda: nothing, prove, estimate, is_worth_a_proof=is_worth_a_proof)

    def _taken(self) -> _Standing | None:
        """The proof that was asked for since the last time, if one was."""
        proof, self._proof = self._proof, None
        self._is_least = proof is not None and proof.gap + proof.dual < self.least[0]
        if proof is not None and self._is_least:
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
