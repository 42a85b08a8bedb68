"""A problem whose losses are evaluated in the native core."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from lineal import _core
from lineal.objective.losses import FloatArray, Loss
from lineal.objective.problem import Problem
from lineal.objective.rows import NativeRows
from lineal.objective.shared_rows import SharedRows


@dataclass(frozen=True)
class NativeProblem(Problem):
    """The same objective with its sums over losses taken in the core, threaded.

    ``Problem`` itself stays NumPy alone, which is what ``verify`` relies on; this is what solvers and the
    driver use where the loss has a native twin. The two agree to rounding, formula by formula.
    """

    X: NativeRows | SharedRows

    def loss_sum(self, Z: FloatArray) -> float:
        return _core.loss_sum(self._native, self.y, self.s, np.ascontiguousarray(Z), self.X.n_threads)

    def slopes(self, Z: FloatArray) -> FloatArray:
        U = np.empty(Z.shape)
        _core.slopes(self._native, self.y, np.ascontiguousarray(Z), U, self.X.n_threads)
        return U

    def curvatures(self, Z: FloatArray) -> FloatArray:
        H = np.empty(Z.shape)
        _core.curvatures(self._native, self.y, np.ascontiguousarray(Z), H, self.X.n_threads)
        return H

    def along(self, Z: FloatArray, M: FloatArray, t: float) -> tuple[float, float, float]:
        Z, M = np.ascontiguousarray(Z), np.ascontiguousarray(M)
        return _core.along(self._native, self.y, self.s, Z, M, t, self.X.n_threads)

    def conjugate_sum(self, U: FloatArray) -> float:
        return _core.conjugate_sum(self._native, self.y, self.s, np.ascontiguousarray(U), self.X.n_threads)

    def worst_row(self, Z: FloatArray, U: FloatArray) -> float:
        Z, U = np.ascontiguousarray(Z), np.ascontiguousarray(U)
        return _core.worst_residual(self._native, self.y, self.s, Z, U, self.X.n_threads)

    def with_loss(self, loss: Loss) -> Problem:
        parts = {field.name: getattr(self, field.name) for field in fields(Problem)}
        return native_problem(Problem(**{**parts, "loss": loss}))

    @property
    def _native(self) -> Any:
        return self.loss.native


def native_problem(problem: Problem) -> Problem:
    """The problem over the core's losses where it has them, else as it is."""
    has_twin = problem.loss.native is not None and not problem.loss.is_joint
    rows = problem.X.inner if isinstance(problem.X, SharedRows) else problem.X
    if isinstance(problem, NativeProblem) or not (has_twin and isinstance(rows, NativeRows)):
        return problem
    parts = {field.name: getattr(problem, field.name) for field in fields(Problem)}
    parts["y"] = np.ascontiguousarray(problem.y, dtype=np.float64)
    parts["s"] = np.ascontiguousarray(problem.s, dtype=np.float64)
    return NativeProblem(**parts)
