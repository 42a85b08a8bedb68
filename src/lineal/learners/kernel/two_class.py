"""One support vector machine of two classes: posed, solved, and its threshold chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lineal.errors import NotSeparableError
from lineal.learners.kernel.machine import certificate_of
from lineal.objective.certificate import Certificate, Stop
from lineal.objective.losses import FloatArray
from lineal.solvers.base import Progress
from lineal.solvers.driver import Budget
from lineal.solvers.kernel_dual import Dual, KernelMachine, KernelSolution, KernelValues, classification
from lineal.solvers.kernel_dual.duals import IntArray

# Two convex combinations, one of each class, that are nearer to each other than this share of the largest
# length prove that no margin worth the name exists.
_NEAREST = 1e-7
# A coefficient of a hard margin, times the largest squared length.
_MOST = 1e16
# Where steps end without a separation, combinations as near as this are taken for the proof that they are.
_NEAR = 2e-5


@dataclass(frozen=True, eq=False)
class TwoClassMachine:
    """A solved machine.

    Attributes
    ----------
    beta : (n,) y_i alpha_i of its rows
    b : float
    f : (n,) scores of its rows, without b
    certificate : Certificate
    trace : certified points on the way
    """

    beta: FloatArray
    b: float
    f: FloatArray
    certificate: Certificate
    trace: tuple[Progress, ...]


def solved(
    values: KernelValues,
    rows: IntArray,
    y: FloatArray,
    bound: FloatArray,
    *,
    C: float,
    tol: float,
    budget: Budget,
    n_threads: int,
) -> TwoClassMachine:
    """The machine of these rows, with sum_i s_i hinge_i + |w|^2 / (2 C) as its objective; |w|^2 / 2 at C =
    inf.
    """
    if not (np.any(y > 0) and np.any(y < 0)):
        return _one_sided(y)
    if np.isinf(C):
        # Coefficients sum to 1 / margin^2: those of a margin that could be told from none are far below this.
        # Where there is none they would grow for ever, until they are no numbers.
        largest = float(np.abs(values.centred.diagonal()[rows]).max())
        bound = np.full(len(rows), _MOST / largest if largest > 0 else _MOST)
    dual = classification(y, bound, rows)
    machine = KernelMachine(values, dual, n_threads=n_threads)
    if np.isinf(C):
        return _hard(values, machine, dual, tol, budget)
    solution = machine.run(tol, budget=budget, unit=1.0 / C)
    return finished(machine, dual, solution, tol=tol, unit=1.0 / C)


def _one_sided(y: FloatArray) -> TwoClassMachine:
    """No row of one class has weight: f = 0 and b = -1 or 1 cost nothing."""
    b = float(y[0]) if len(y) else 0.0
    certificate = Certificate.of_proof(0.0, 0.0, size=0.0, tol=0.0, worst=0.0, solver="kernel_dual")
    return TwoClassMachine(np.zeros(len(y)), b, np.zeros(len(y)), certificate, ())


def finished(
    machine: KernelMachine, dual: Dual, solution: KernelSolution, *, tol: float, unit: float
) -> TwoClassMachine:
    """The threshold, and the proof with it.

    b is the mean of y - f over the margin vectors, 0 < alpha < bound, where the gap at it is still within the
    tolerance; else the b of the least gap.
    """
    f = solution.f
    b, gap = float(solution.b[0]), solution.gap
    free = dual.free(solution.beta)
    if free.any():
        mean = float(np.mean(dual.c[free] - f[free]))
        gap_at_mean = machine.gap_at([mean])
        if gap_at_mean <= max(gap, tol * max(abs(solution.dual + gap_at_mean), abs(solution.dual))):
            b, gap = mean, gap_at_mean
    is_done = gap <= tol * max(abs(solution.dual + gap), abs(solution.dual))
    if is_done and solution.stop is Stop.STALLED:  # at another threshold
        solution = solution.certified()
    if not is_done:
        stretched = _without_slack(machine, dual, gap, tol, unit)
        if stretched is not None:
            return stretched
    worst = float(dual.terms(solution.beta, f, np.array([b])).max(initial=0.0))
    certificate = certificate_of(solution, gap, tol, unit, worst)
    return TwoClassMachine(solution.beta, b, f, certificate, solution.trace)


def _without_slack(
    machine: KernelMachine, dual: Dual, gap: float, tol: float, unit: float
) -> TwoClassMachine | None:
    """Where classes are separated and C is so large that a slack of rounding costs more than the margin: the
    machine stretched until there is none, if that is better.
    """
    if not _margin(dual.c, machine.snapshot().f)[0] > 0:
        return None
    solution = None if machine.is_cut else machine.exact_snapshot()
    if solution is None:
        return None
    street = _Street.of(dual.c, solution)
    if not street.margin > 0 or not street.gap < gap:
        return None
    is_done = street.gap <= tol * max(abs(solution.dual + street.gap), abs(solution.dual))
    found = solution.certified() if is_done else solution
    return street.machine(found, certificate_of(found, street.gap, tol, unit, street.worst))


@dataclass(frozen=True, eq=False)
class _Street:
    """A machine stretched until no row has slack.

    Attributes
    ----------
    y, solution : the machine
    margin, b : half of what lies between the classes (negative if they overlap), and the middle of it
    dual, gap : D, and |f|^2 / 2 of the stretched machine less it: with every doubt about f against them
    """

    y: FloatArray
    solution: KernelSolution
    margin: float
    b: float
    dual: float
    gap: float

    @classmethod
    def of(cls, y: FloatArray, solution: KernelSolution) -> _Street:
        """That of a solution whose f is in float64."""
        beta, f = solution.beta, solution.f
        margin, b = _margin(y, f)
        squared = max(float(beta @ f), 0.0) + solution.doubt * float(np.abs(beta).sum())
        dual, sure = float(y @ beta) - 0.5 * squared, margin - solution.doubt
        gap = max(0.5 * squared / sure**2 - dual, 0.0) if sure > 0 else np.inf
        return cls(y, solution, margin, b, dual, gap)

    @property
    def worst(self) -> float:
        """The largest term of the gap."""
        beta, f = self.solution.beta, self.solution.f
        return float(np.max(np.abs(beta) * np.abs(self.y * (f + self.b) / self.margin - 1)))

    def machine(self, solution: KernelSolution, certificate: Certificate) -> TwoClassMachine:
        """The stretched machine."""
        return TwoClassMachine(
            solution.beta / self.margin, self.b / self.margin, solution.f / self.margin, certificate,
            solution.trace,
        )  # fmt: skip


def _hard(
    values: KernelValues, machine: KernelMachine, dual: Dual, tol: float, budget: Budget
) -> TwoClassMachine:
    """No slack at all: P = |w|^2 / 2 where every y (f + b) >= 1, which scaling sees to once all are positive.

    Where none exists D grows without bound, and alpha, divided by its sum, shows why: two convex
    combinations, one of each class, that meet.
    """
    y, rows = dual.c, dual.item
    radius = float(np.sqrt(values.centred.diagonal()[rows].max()))

    def is_enough(solution: KernelSolution) -> bool:
        squared = max(float(solution.beta @ solution.f), 0.0)
        total = float(np.abs(solution.beta).sum()) / 2
        if total > 0 and np.sqrt(squared) <= _NEAREST * radius * total:
            return True
        street = _Street.of(y, solution)
        return street.margin > 0 and street.gap <= 0.5 * tol * abs(street.dual)

    def is_done(point: Progress) -> bool:
        # What float32 claims is looked at in float64; if it does not hold there, steps go on from there.
        if not is_enough(machine.snapshot()):
            return False
        exact = machine.exact_snapshot()
        return exact is not None and is_enough(exact)

    machine.run(
        0.0,
        budget=Budget(budget.max_seconds, budget.max_epochs, [*budget.callbacks, is_done]),
        is_priced=False,
    )
    exact = None if machine.is_cut else machine.exact_snapshot()
    solution = machine.stand() if exact is None else exact
    street, beta = _Street.of(y, solution), solution.beta
    if street.margin <= 0:
        half = max(float(np.abs(beta).sum()) / 2, 1e-300)
        distance = np.sqrt(max(float(beta @ solution.f), 0.0)) / half
        if distance <= _NEAR * radius and not machine.is_cut:
            raise NotSeparableError(distance, np.abs(beta) / half)
        # Stopped before either was found: separation, or a proof that there is none.
        certificate = certificate_of(solution, np.inf, tol, 1.0, np.inf)
        return TwoClassMachine(beta, street.b, solution.f, certificate, solution.trace)
    found = replace(solution, dual=street.dual)
    found = found.certified() if street.gap <= tol * street.dual else found
    return street.machine(found, certificate_of(found, street.gap, tol, 1.0, street.worst))


def _margin(y: FloatArray, f: FloatArray) -> tuple[float, float]:
    """Half of what lies between the classes (negative if they overlap), and the middle of it."""
    least, most = float(f[y > 0].min()), float(f[y < 0].max())
    return 0.5 * (least - most), -0.5 * (least + most)
