"""A loss that some scores of a row take no part in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lineal.objective.losses import FloatArray, Loss, Targets


@dataclass(frozen=True)
class Masked(Loss):
    """loss(y, z) for y = -1 and +1, and 0 for y = 0.

    The conjugate of 0 is 0 at u = 0 and +inf elsewhere, so such a score has no say in the dual either.
    """

    loss: Loss

    def value(self, y: Targets, z: FloatArray) -> FloatArray:
        return np.where(y != 0, self.loss.value(y, z), 0.0)

    def derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        return np.where(y != 0, self.loss.derivative(y, z), 0.0)

    def second_derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        return np.where(y != 0, self.loss.second_derivative(y, z), 0.0)

    def conjugate(self, y: Targets, u: FloatArray) -> FloatArray:
        return np.where(y != 0, self.loss.conjugate(y, u), np.where(u == 0, 0.0, np.inf))

    def domain(self, y: Targets) -> tuple[FloatArray, FloatArray]:
        low, high = self.loss.domain(y)
        return np.where(y != 0, low, 0.0), np.where(y != 0, high, 0.0)

    def kinks(self, y: Targets) -> tuple[tuple[FloatArray, FloatArray, FloatArray], ...]:
        """Those of the loss; where it takes no part they rise by 0."""
        used = np.asarray(y) != 0
        return tuple(
            (place, np.where(used, bottom, 0.0), np.where(used, top, 0.0))
            for place, bottom, top in self.loss.kinks(y)
        )

    def smoothed(self, width: float) -> Loss:
        return Masked(self.loss.smoothed(width))

    def check(self, y: Targets) -> None:
        self.loss.check(np.where(np.asarray(y) != 0, y, 1.0))

    @property
    def is_rounded(self) -> bool:  # type: ignore[override]
        """As the loss."""
        return self.loss.is_rounded

    @property
    def is_hinge(self) -> bool:  # type: ignore[override]
        """As the loss."""
        return self.loss.is_hinge

    @property
    def curvature(self) -> float | None:
        return self.loss.curvature

    @property
    def is_smooth(self) -> bool:
        return self.loss.is_smooth

    def __str__(self) -> str:
        return str(self.loss)

    @property
    def native(self) -> Any | None:
        """None: the core knows no such mask."""
        return None
