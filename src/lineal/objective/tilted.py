"""A problem with a linear term in the weights: P(w, b) - tilt . w."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lineal.objective.losses import FloatArray
from lineal.objective.penalties import L2
from lineal.objective.problem import Intercept, Problem


@dataclass(frozen=True, eq=False)
class TiltedL2(L2):
    """strength / 2 * sum_j w_j^2 - sum_j tilt_j w_j: a parabola whose lowest point is tilt / strength."""

    tilt: FloatArray = field(default_factory=lambda: np.zeros(1))

    def terms(self, w: FloatArray) -> FloatArray:
        return super().terms(w) - self.tilt * w

    def conjugate_terms(self, v: FloatArray) -> FloatArray:
        return super().conjugate_terms(v + self.tilt)

    def prox(self, w: FloatArray, step: float | FloatArray) -> FloatArray:
        return super().prox(w + step * self.tilt, step)

    def derivative(self, w: FloatArray) -> FloatArray:
        return super().derivative(w) - self.tilt


@dataclass(frozen=True)
class TiltedProblem(Problem):
    """A problem of one output under ``TiltedL2``.

    Its dual is that of :class:`Problem` with R*(tilt - V) = |tilt - V|^2 / (2 strength) for the penalty, so a
    certificate means here what it means elsewhere. Solvers that ask the penalty for its value and slope
    (newton, lbfgs and the other batch methods) minimise it as it is; those that know L2 by its strength alone
    (closed_form, dual_cd, sgd) must not be given it.
    """

    def __post_init__(self) -> None:
        assert isinstance(self.penalty, TiltedL2)
        assert self.n_outputs == 1
        assert self.intercept is not Intercept.PENALIZED
        assert self.loss.native is None  # solvers take a native loss over into a problem without the tilt

    def penalty_value(self, W: FloatArray, b: FloatArray) -> float:
        """R(w) - tilt . w; the tilt belongs to columns, so the weights are not cut into pieces."""
        return self.penalty.value(W[:, 0].astype(np.float64, copy=False))

    def pulled(self, U: FloatArray, W: FloatArray, b: FloatArray) -> tuple[float, float]:
        """The penalty's conjugate at -V, and the largest term of the gap among the weights."""
        assert isinstance(self.penalty, TiltedL2)
        V = self.X.adjoint(self.weighted(U))[:, 0]
        largest = float(np.abs(V + self.penalty.derivative(W[:, 0])).max(initial=0.0))
        return self.penalty.conjugate(-V), largest * largest / (2 * self.penalty.strength)
