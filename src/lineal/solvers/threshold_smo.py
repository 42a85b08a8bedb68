"""Sequential minimal optimisation for hinges that share weights: one direction, several thresholds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lineal.kernels import Linear
from lineal.objective.certificate import Stop
from lineal.objective.loss_sums import RowLosses
from lineal.objective.losses import FloatArray
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.base import Iterate, Need, Solver, Start, Weights
from lineal.solvers.kernel_dual.duals import Dual
from lineal.solvers.kernel_dual.machine import KernelMachine
from lineal.solvers.kernel_dual.values import KernelValues

# The machine's own gap falls by this factor between looks; it may be below the driver's tolerance, never
# above, for thresholds are found anew there.
_FIRST, _FALL, _LAST = 1e-1, 10.0, 1e-12

_NEEDS = (
    Need(
        "Hinge() and L2",
        "loss and penalty",
        lambda p: p.losses.rows is not None and p.losses.is_hinge and p.penalty.is_ridge,
    ),
    Need(
        "thresholds that share weights, over rows in the core",
        "",
        lambda p: (
            p.X.direction is not None
            and p.X.direction.native_rows is not None
            and p.intercept is Intercept.FREE
        ),
    ),
)


class ThresholdSMO(Solver):
    """Blocks of dual variables of hinges, a group for each threshold.

    Notes
    -----
    Needs ``Hinge``, L2, and free thresholds on shared weights. Row i and threshold k are a variable on item i
    in group k, whose coefficients sum to 0: the machine of kernels, with the linear kernel. Guarantees: the
    dual rises with every block. A block costs products of its rows with all that moved; X is held once.
    Published: Platt 1998; Keerthi et al. 2001; for thresholds Chu and Keerthi 2007.
    """

    name = "smo"

    @property
    def needs(self) -> tuple[Need, ...]:
        """Hinges, L2 and thresholds."""
        return _NEEDS

    def is_patient(self, problem: Problem) -> bool:
        """Its looks are far apart, and each gains much."""
        return True

    def iterates(self, problem: Problem, start: Start | None, tol: float, seed: int) -> Iterator[Iterate]:
        """One iterate each time the machine's gap has fallen by another factor of ten."""
        losses, direction, strength = problem.losses.rows, problem.X.direction, problem.penalty.l2
        assert losses is not None
        assert direction is not None
        inner = direction.native_rows
        assert inner is not None
        rows, columns = np.nonzero((losses.y != 0) & (losses.s[:, None] > 0))
        y, bound = losses.y[rows, columns], losses.s[rows] / strength
        zeros = np.zeros(len(rows))
        dual = Dual(
            rows.astype(np.int64), columns.astype(np.int32), _margin(losses) * y,
            np.where(y > 0, 0.0, -bound), np.where(y > 0, bound, 0.0), zeros,
        )  # fmt: skip
        kernel = Linear()
        items = kernel.checked(inner.dense if inner.dense is not None else inner.csr())
        machine = KernelMachine(KernelValues(kernel, items, inner.n_threads), dual, n_threads=inner.n_threads)
        goal = _FIRST
        while goal >= _LAST:
            solution = machine.run(goal)
            beta = np.zeros(losses.y.shape)
            beta[rows, columns] = solution.beta
            b = np.zeros(problem.n_outputs)
            b[: len(solution.b)] = solution.b
            yield _iterate(problem, losses.s[:, None], beta, b, strength)
            if solution.stop is Stop.STALLED:
                return
            goal /= _FALL


def _iterate(problem: Problem, s: FloatArray, beta: FloatArray, b: FloatArray, strength: float) -> Iterate:
    """w = X'beta, and the dual point u = -strength beta / s."""

    def weights() -> Weights:
        return problem.X.adjoint(beta), b

    return Iterate(weights, lambda: np.divide(-strength * beta, s, out=np.zeros_like(beta), where=s > 0))


def _margin(losses: RowLosses) -> float:
    """Where the kink of a hinge lies, for a target of +1."""
    ((place, _, _),) = losses.loss.kinks(np.ones(1))
    return float(place[0])
