"""A sum of losses with a part that is linear in the scores: F(Z) - tilt . Z."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lineal.objective.loss_sums import LossSum, RowLosses
from lineal.objective.losses import FloatArray, Loss


@dataclass(frozen=True)
class TiltedLosses(RowLosses):
    """sum_i s_i loss(y_i, z_i) - sum_i tilt_i z_i.

    Its conjugate at G = S U - tilt is sum_i s_i loss*(y_i, u_i), so that dual points are those of the losses
    and only what they pull is moved. Solvers that walk over rows know losses alone and must not be given it.

    Attributes
    ----------
    tilt : (n, K) array
        Its sums over rows are 0, so that constants do not feel it.
    """

    tilt: FloatArray = field(default_factory=lambda: np.zeros((1, 1)))

    @property
    def rows(self) -> None:  # type: ignore[override]
        return None

    def value(self, Z: FloatArray) -> float:
        return super().value(Z) - float(np.vdot(self.tilt, Z))

    def pull(self, U: FloatArray) -> FloatArray:
        return super().pull(U) - self.tilt

    def sums(self, U: FloatArray) -> FloatArray:
        return super().sums(U) - self.tilt.sum(axis=0)

    def with_loss(self, loss: Loss) -> TiltedLosses:
        return TiltedLosses(loss, self.y, self.s, self.n_outputs, self.tilt)

    def in_core(self, n_threads: int) -> LossSum:
        return self
