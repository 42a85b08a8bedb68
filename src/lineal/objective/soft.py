"""Losses of soft labels: y l(z, +1) + (1 - y) l(z, -1) for a probability y of the label +1.

They exist for the two losses whose sides differ by a line, l(z, +1) - l(z, -1) = -slope z: then the sum is
l(z, -1) - slope y z, convex for any y, and its conjugate is that of l moved by slope y.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, xlogy

from lineal.objective.losses import FloatArray, Log, Loss, Squared, Targets


@dataclass(frozen=True)
class SoftLoss(Loss):
    """What both share.

    Attributes
    ----------
    slope : float
        l(z, -1) - l(z, +1) = slope z.
    """

    slope: ClassVar[float]


@dataclass(frozen=True)
class SoftLog(SoftLoss):
    """y log(1 + exp(-z)) + (1 - y) log(1 + exp(z)) for y in [0, 1]: the cross-entropy."""

    slope: ClassVar[float] = 1.0
    _curvature: ClassVar[float | None] = 0.25

    def value(self, y: Targets, z: FloatArray) -> FloatArray:
        return y * np.logaddexp(0.0, -z) + (1 - y) * np.logaddexp(0.0, z)

    def derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        return (1 - y) * expit(z) - y * expit(-z)

    def second_derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        return expit(z) * expit(-z)

    def conjugate(self, y: Targets, u: FloatArray) -> FloatArray:
        a, rest = np.clip(u + y, 0.0, 1.0), np.clip((1 - y) - u, 0.0, 1.0)
        low, high = self.domain(y)
        return np.where((low <= u) & (u <= high), xlogy(a, a) + xlogy(rest, rest), np.inf)

    def domain(self, y: Targets) -> tuple[FloatArray, FloatArray]:
        y = np.asarray(y, dtype=float)
        return -y, 1 - y


@dataclass(frozen=True)
class SoftSquared(SoftLoss):
    """y (z - 1)^2 / 2 + (1 - y) (z + 1)^2 / 2 = (z - t)^2 / 2 + 2 y (1 - y) with t = 2 y - 1."""

    slope: ClassVar[float] = 2.0
    _curvature: ClassVar[float | None] = 1.0

    def value(self, y: Targets, z: FloatArray) -> FloatArray:
        return (z - (2 * y - 1)) ** 2 / 2 + 2 * y * (1 - y)

    def derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        return np.asarray(z - (2 * y - 1))

    def second_derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        return np.ones_like(z)

    def conjugate(self, y: Targets, u: FloatArray) -> FloatArray:
        return u * (2 * y - 1) + u * u / 2 - 2 * y * (1 - y)

    def domain(self, y: Targets) -> tuple[FloatArray, FloatArray]:
        y = np.asarray(y, dtype=float)
        return np.full_like(y, -np.inf), np.full_like(y, np.inf)


def softened(loss: Loss) -> SoftLoss | None:
    """The loss of soft labels that extends one of labels -1 and +1; None where it would not be convex."""
    if isinstance(loss, Log):
        return SoftLog()
    return SoftSquared() if isinstance(loss, Squared) else None
