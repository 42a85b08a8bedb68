"""Sequential minimal optimisation for hinges that share weights: one direction, several thresholds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lineal.kernels import Linear
from lineal.objective.certificate import Stop
from lineal.objective.losses import FloatArray, Hinge, Loss
from lineal.objective.masked import Masked
from lineal.objective.penalties import L2
from lineal.objective.problem import Intercept, Problem
from lineal.objective.rows import NativeRows
from lineal.objective.shared_rows import SharedRows
from lineal.solvers.base import Iterate, Solver, Start, Weights, instead
from lineal.solvers.kernel_dual.duals import Dual
from lineal.solvers.kernel_dual.machine import KernelMachine
from lineal.solvers.kernel_dual.values import KernelValues

# The machine's own gap falls by this factor between looks; it may be below the driver's tolerance, never
# above, for thresholds are found anew there.
_FIRST, _FALL, _LAST = 1e-1, 10.0, 1e-12


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

    def refusal(self, problem: Problem) -> str | None:
        """Needs hinges, L2 and thresholds."""
        if not isinstance(_bare(problem.loss), Hinge) or not isinstance(problem.penalty, L2):
            came = f"{problem.loss} and {problem.penalty}"
            return f"smo needs Hinge() and L2, not {came}: use {instead(problem)}"
        if not problem.has_shared_weights or problem.intercept is not Intercept.FREE or problem.loss.is_joint:
            return f"smo needs thresholds that share weights: use {instead(problem)}"
        return None

    def is_patient(self, problem: Problem) -> bool:
        """Its looks are far apart, and each gains much."""
        return True

    def iterates(self, problem: Problem, start: Start | None, tol: float, seed: int) -> Iterator[Iterate]:
        """One iterate each time the machine's gap has fallen by another factor of ten."""
        assert isinstance(problem.penalty, L2)
        assert isinstance(problem.X, SharedRows)
        inner, strength = problem.X.inner, problem.penalty.strength
        assert isinstance(inner, NativeRows)
        rows, columns = np.nonzero((problem.y != 0) & (problem.s[:, None] > 0))
        y, bound = problem.y[rows, columns], problem.s[rows] / strength
        loss = _bare(problem.loss)
        assert isinstance(loss, Hinge)
        zeros = np.zeros(len(rows))
        dual = Dual(
            rows.astype(np.int64), columns.astype(np.int32), loss.margin * y,
            np.where(y > 0, 0.0, -bound), np.where(y > 0, bound, 0.0), zeros,
        )  # fmt: skip
        kernel = Linear()
        items = kernel.checked(inner.dense if inner.dense is not None else inner.csr())
        machine = KernelMachine(KernelValues(kernel, items, inner.n_threads), dual, n_threads=inner.n_threads)
        goal = _FIRST
        while goal >= _LAST:
            solution = machine.run(goal)
            beta = np.zeros(problem.y.shape)
            beta[rows, columns] = solution.beta
            b = np.zeros(problem.n_outputs)
            b[: len(solution.b)] = solution.b
            yield _iterate(problem, beta, b, strength)
            if solution.stop is Stop.STALLED:
                return
            goal /= _FALL


def _iterate(problem: Problem, beta: FloatArray, b: FloatArray, strength: float) -> Iterate:
    """w = X'beta, and the dual point u = -strength beta / s."""
    s = problem.s[:, None]

    def weights() -> Weights:
        return problem.X.adjoint(beta), b

    return Iterate(weights, lambda: np.divide(-strength * beta, s, out=np.zeros_like(beta), where=s > 0))


def _bare(loss: Loss) -> Loss:
    return loss.loss if isinstance(loss, Masked) else loss
