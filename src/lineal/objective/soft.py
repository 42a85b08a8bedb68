"""Losses of soft labels: y l(z, +1) + (1 - y) l(z, -1) for a probability y of the label +1.

They exist for losses whose sides differ by a line, l(z, -1) - l(z, +1) = slope z: then the sum is
l(z, -1) - slope y z, convex for any y, and its conjugate is that of l(., -1) moved by slope y.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lineal.objective.losses import FloatArray, Log, Loss, ModifiedHuber, Squared, Targets

_SLOPES = {Log: 1.0, Squared: 2.0, ModifiedHuber: 4.0}


@dataclass(frozen=True)
class SoftLabel(Loss):
    """y l(z, +1) + (1 - y) l(z, -1) for y in [0, 1]; of ``Log`` it is the cross-entropy.

    Attributes
    ----------
    loss : Loss
    slope : float
        l(z, -1) - l(z, +1) = slope z.
    """

    loss: Loss
    slope: float

    def value(self, y: Targets, z: FloatArray) -> FloatArray:
        one = np.ones_like(z)
        return y * self.loss.value(one, z) + (1 - y) * self.loss.value(-one, z)

    def derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        one = np.ones_like(z)
        return y * self.loss.derivative(one, z) + (1 - y) * self.loss.derivative(-one, z)

    def second_derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        return self.loss.second_derivative(-np.ones_like(z), z)

    def conjugate(self, y: Targets, u: FloatArray) -> FloatArray:
        other = -np.ones_like(u)
        low, high = self.domain(y)
        # What is inside must not be carried over the edge by the rounding of the sum.
        moved = np.clip(u + self.slope * y, *self.loss.domain(other))
        return np.where((low <= u) & (u <= high), self.loss.conjugate(other, moved), np.inf)

    def domain(self, y: Targets) -> tuple[FloatArray, FloatArray]:
        y = np.asarray(y, dtype=float)
        low, high = self.loss.domain(-np.ones_like(y))
        return low - self.slope * y, high - self.slope * y

    @property
    def curvature(self) -> float | None:
        return self.loss.curvature


def softened(loss: Loss) -> SoftLabel | None:
    """The loss of soft labels that extends one of labels -1 and +1; None where it would not be convex."""
    slope = _SLOPES.get(type(loss))
    return None if slope is None else SoftLabel(loss, slope)
