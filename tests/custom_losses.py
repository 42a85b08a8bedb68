"""Custom losses for tests: the library's own restated by value and derivative, and some that it lacks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from lineal.objective import CustomLoss, Hinge, Huber, Loss, Quantile, Squared, SquaredHinge


class CustomLog(CustomLoss):
    def value(self, y, z):
        return np.logaddexp(0.0, -y * z)

    def derivative(self, y, z):
        return -y * expit(-y * z)


@dataclass(frozen=True)
class Restated(CustomLoss):
    """A loss of the library of which only value and derivative are known."""

    loss: Loss

    @property
    def is_margin(self):
        return self.loss.is_margin

    @property
    def has_kinks(self):
        return not self.loss.is_smooth

    def value(self, y, z):
        return self.loss.value(y, z)

    def derivative(self, y, z):
        return self.loss.derivative(y, z)


class Poisson(CustomLoss):
    """exp(z) - y z: a slope that overflows on one side."""

    def value(self, y, z):
        return np.exp(z) - y * z

    def derivative(self, y, z):
        return np.exp(z) - y


class Exponential(CustomLoss):
    """exp(-y z), the loss of boosting."""

    is_margin = True

    def value(self, y, z):
        return np.exp(-y * z)

    def derivative(self, y, z):
        return -y * np.exp(-y * z)


class DistanceWeighted(CustomLoss):
    """1 - m for m <= 1/2, else 1 / (4 m): a slope that dies away as 1 / z^2."""

    is_margin = True

    def value(self, y, z):
        m = y * z
        return np.where(m <= 0.5, 1 - m, 0.25 / np.maximum(m, 0.5))

    def derivative(self, y, z):
        m = np.maximum(y * z, 0.5)
        return -y * np.minimum(1.0, 0.25 / m / m)


class CarelessLog(CustomLoss):
    """The logistic loss as it is first written down: infinity over infinity at large scores."""

    def value(self, y, z):
        return np.log(1 + np.exp(-y * z))

    def derivative(self, y, z):
        return -y * np.exp(-y * z) / (1 + np.exp(-y * z))


RESTATED = [Restated(loss) for loss in (Squared(), Huber(0.7), SquaredHinge(), Hinge(), Quantile(0.3))]


def targets_for(loss, rng, size):
    """Legal targets: signs, counts or numbers."""
    if isinstance(loss, Poisson):
        return rng.poisson(2.0, size).astype(float)
    is_margin = loss.is_margin or isinstance(loss, (CustomLog, CarelessLog))
    return rng.choice([-1.0, 1.0], size) if is_margin else rng.normal(0, 3, size)
