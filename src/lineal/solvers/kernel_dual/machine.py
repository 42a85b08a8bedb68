"""The run of a kernel machine: blocks until the gap is certified.

The core makes steps (one block each); here is decided when the gap is worth a proof, when F = K beta must be
computed anew in float64, and when to end. Items that are equal share a kernel row and, where their variables
pull the same way, a variable: bounds add up, and coefficients are dealt out at the end.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lineal import _core
from lineal.objective.losses import FloatArray
from lineal.solvers.base import Progress
from lineal.solvers.driver import Budget, Interruption
from lineal.solvers.kernel_dual.duals import Dual, IntArray, dealt
from lineal.solvers.kernel_dual.values import KernelValues, power_of_two

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

CERTIFIED = "the gap is certified"
INTERRUPTED = "interrupted: this is the best model so far"
STALLED = "no further progress: float32 increments gain nothing more"


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
    """

    beta: FloatArray
    f: FloatArray
    b: FloatArray
    gap: float
    dual: float
    violation: float
    epochs: int
    seconds: float
    reason: str
    n_values: int
    trace: tuple[Progress, ...]


class KernelMachine:
    """A dual problem under way; ``run`` may be called again after ``scale``.

    The core works in units of its own, powers of two in which kernel values and slopes are of ordinary size:
    kernel values of ``values.unit``, slopes of ``_slope``, and so coefficients of ``_slope / unit``.

    Cost: a block of q variables takes q^2 / 2 kernel values, and n more for each of its variables that moved.
    """

    def __init__(
        self, values: KernelValues, dual: Dual, *, block_size: int | None = None, n_threads: int = 1
    ) -> None:
        self._dual = dual
        self._n_threads = n_threads
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
        self._native = _core.KernelDual.make(
            values.native, self._rows, place[kept].astype(np.int64), dual.group[kept],
            dual.c[kept] / self._slope, self._lo, self._hi, start, self._block,
        )  # fmt: skip
        self._has_F = not np.any(dual.start)
        self._ending: tuple[float, int, float, str, tuple[Progress, ...]] = (np.inf, 0, 0.0, "", ())
        self._D: float | None = None  # in float64, of where a run ended

    def scale(self, factor: float) -> None:
        """Multiplies bounds and coefficients: the start for another C."""
        self._native.scale(factor)
        self._D = None
        self._lo, self._hi = factor * self._lo, factor * self._hi
        self._dual = self._dual.scaled(factor)

    def run(
        self,
        tol: float,
        *,
        budget: Budget | None = None,
        unit: float = 1.0,
        settled: float = np.inf,
        floor: float = 0.0,
    ) -> KernelSolution:
        """Blocks until ``gap <= tol max(|P|, |D|, floor)`` is certified and slopes agree up to ``settled``.

        P and D are reported to callbacks as ``unit P`` and ``unit D``.
        """
        budget = budget or Budget()
        unit, settled, floor = unit * self._value, settled / self._slope, floor / self._value
        began, self._D = time.perf_counter(), None
        if not self._has_F:
            self._native.refresh(True, self._n_threads)
            self._has_F = True
        trace: list[Progress] = []
        epochs, rounds, reason, last = 0, 0, "", np.inf
        violation, quiet, marks = np.inf, 0, (np.inf, np.inf)
        _, share, max_inner = pace_of(len(self._lo), self._block)
        with Interruption() as interruption:
            while not reason:
                violation, _, n_changed = self._native.step(share, max_inner, self._n_threads)
                epochs += 1
                _, gap, dual = self._native.gap(False)
                relative = _relative(gap, dual, floor)
                is_settled = violation <= settled
                # A hard margin that is not there has an infinite gap, which never falls.
                has_gained = gap < _GAIN * marks[0] or violation < _GAIN * marks[1]
                quiet = 0 if has_gained else quiet + 1
                marks = min(gap, marks[0]), min(violation, marks[1])
                is_over = n_changed == 0 or quiet >= _PATIENCE
                if (relative <= CLAIM * tol and is_settled) or is_over:
                    gap, dual = self._proved()
                    relative = _relative(gap, dual, floor)
                    if relative <= tol and is_settled:
                        reason = CERTIFIED
                    else:
                        rounds += 1
                        if not relative <= _STALL * last or rounds > _MAX_ROUNDS:
                            reason = STALLED
                        last, quiet, marks = relative, 0, (np.inf, np.inf)
                        self._native.refresh(True, self._n_threads)
                point = Progress(epochs, unit * (dual + gap), unit * dual, unit * gap,
                                 time.perf_counter() - began)  # fmt: skip
                trace.append(point)
                asked = _why_stop(budget, point, interruption)  # callbacks hear of the last point, too
                reason = reason or asked
                self._grow_block()
            if reason != CERTIFIED:
                self._proved()
        self._D = self._native.exact_dual(self._n_threads) * self._value
        self._ending = (violation, epochs, time.perf_counter() - began, reason, tuple(trace))
        return self.snapshot()

    def snapshot(self, *, exactly: bool = False) -> KernelSolution:
        """Where the machine stands; ``exactly`` computes K beta anew in float64."""
        if exactly:
            self._native.refresh(True, self._n_threads)
        b, gap, dual = self._native.gap(True)
        D = dual * self._value if self._D is None else self._D
        violation, epochs, seconds, reason, trace = self._ending
        return KernelSolution(
            beta=self._dealt(self._native.beta * self._coefficient),
            f=self._native.F[self._place] * self._slope, b=b * self._slope, gap=gap * self._value,
            dual=D, violation=violation * self._slope, epochs=epochs, seconds=seconds,
            reason=reason, n_values=self._native.n_values, trace=trace,
        )  # fmt: skip

    def gap_at(self, b: Sequence[float]) -> float:
        """The gap at other thresholds, as far as it is certified."""
        return float(self._native.gap_at([each / self._slope for each in b])[1]) * self._value

    def _proved(self) -> tuple[float, float]:
        self._native.correct(self._n_threads)
        _, gap, dual = self._native.gap(True)
        return gap, dual

    def _grow_block(self) -> None:
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


def _relative(gap: float, dual: float, floor: float) -> float:
    """With the primal for the size of things; 1 where nothing was done yet."""
    size = max(abs(dual + gap), abs(dual), floor)
    return gap / size if size > 0 else (0.0 if gap == 0 else 1.0)


def _why_stop(budget: Budget, point: Progress, interruption: Interruption) -> str:
    asked = [callback(point) for callback in budget.callbacks]
    if interruption.requested:
        return INTERRUPTED
    if any(isinstance(answer, (bool, np.bool_)) and answer for answer in asked):
        return "a callback asked to stop"
    if budget.max_epochs is not None and point.epoch >= budget.max_epochs:
        return f"max_epochs={budget.max_epochs} reached"
    if budget.max_seconds is not None and point.seconds >= budget.max_seconds:
        return f"max_seconds={budget.max_seconds} reached"
    return ""
