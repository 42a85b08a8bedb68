"""The non-negative risk of any loss: not convex, descended in stages that are watched.

What has a corner, the max and perhaps the loss, is rounded over a width; the rounded risk is descended by
L-BFGS; the width is divided by four and so on. A stage's weights are taken only if the true risk, corners and
all, has not risen, so the values that are kept never rise. Where it ends depends on where it began.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from lineal.cancellation import is_over
from lineal.deferred import optimize
from lineal.learners.scenarios.pu_risk import PURows
from lineal.objective.losses import FloatArray, Loss

_STAGES, _STEPS = 7, 200
# Two stages in a row that gain less than the tolerance end it.
_QUIET = 2


@dataclass
class Descent:
    """Where a descent got to.

    Attributes
    ----------
    w : (d,) weights
    b : float
    values : list of float
        The true objective at the start and after every stage, never rising.
    n_steps : int
    """

    w: FloatArray
    b: float
    values: list[float] = field(default_factory=list)
    n_steps: int = 0


@dataclass(frozen=True, eq=False)
class _Objective:
    """Positive part + max(0, negative part) + strength |w|^2 / 2, rounded over a width; 0 is the true one."""

    data: PURows
    loss: Loss
    strength: float
    has_intercept: bool
    width: float = 0.0

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        data, loss = self.data, self.loss.smoothed(self.width) if self.width else self.loss
        w, b = self.split(theta)
        Z = data.rows.dot(w[:, None]) + b
        positive, negative = data.sums(loss, Z)
        bound = self.width * data.weight
        if negative <= 0:
            part, steep = 0.0, 0.0
        elif negative < bound:
            part, steep = negative * negative / (2 * bound), negative / bound
        else:
            part, steep = negative - bound / 2, 1.0
        value = positive + part + self.strength / 2 * float(w @ w)
        z, ones = Z[:, 0], np.ones(len(Z))
        as_positive, as_negative = loss.derivative(ones, z), loss.derivative(-ones, z)
        slopes = data.s * np.where(
            data.is_positive, data.factor * (as_positive - steep * as_negative), steep * as_negative
        )
        gradient = data.rows.adjoint(slopes[:, None])[:, 0] + self.strength * w
        return value, np.append(gradient, slopes.sum()) if self.has_intercept else gradient

    def split(self, theta: FloatArray) -> tuple[FloatArray, float]:
        return (theta[:-1], float(theta[-1])) if self.has_intercept else (theta, 0.0)


def descend(
    data: PURows,
    loss: Loss,
    strength: float,
    *,
    has_intercept: bool,
    start: tuple[FloatArray, float],
    tol: float,
    max_seconds: float | None = None,
) -> Descent:
    """Descends from a start until two stages gain less than ``tol``, relative to the objective."""
    began = time.perf_counter()
    true = _Objective(data, loss, strength, has_intercept)
    theta = np.append(start[0], start[1]) if has_intercept else start[0]
    found = Descent(start[0], start[1], [true(theta)[0]])
    width, quiet = 1.0, 0
    for _ in range(_STAGES):
        rounded = _Objective(data, loss, strength, has_intercept, width)
        reached = optimize.minimize(
            rounded, theta, jac=True, method="L-BFGS-B", options={"maxiter": _STEPS, "ftol": 1e-2 * tol}
        )
        found.n_steps += int(reached.nit)
        before, value = found.values[-1], true(reached.x)[0]
        if value <= before:
            theta = reached.x
            found.w, found.b = true.split(theta)
            found.values.append(value)
        quiet = quiet + 1 if before - value <= tol * abs(before) else 0
        width /= 4
        if (
            quiet >= _QUIET
            or is_over()
            or (max_seconds is not None and time.perf_counter() - began > max_seconds)
        ):
            break
    return found
