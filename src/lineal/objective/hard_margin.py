"""No slack: 0 where every margin is at least 1, else infinite.

With |w|^2 / 2 beside it P is the hard margin: the least norm at which every row is 1 away from the border, so
that the street between the classes is as wide as it can be, 1 / |w| on either side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lineal.objective.loss_sums import LossSum
from lineal.objective.losses import FloatArray

# A margin may be short of 1 by so much: rows on the border are there up to rounding.
SHORT = 1e-9


@dataclass(frozen=True, eq=False)
class HardMargin(LossSum):
    """Of one score: 0 where every y_i z_i >= 1, else infinite; F*(g) = y.g where no y_i g_i > 0.

    Attributes
    ----------
    y : array
        (n, K) of -1 and 1.
    s : array or None
        (n,) weights of the rows; those of weight 0 have no say.
    """

    y: FloatArray
    s: FloatArray | None = None
    at_zero: ClassVar[float] = 0.0  # no yardstick: nothing but P is

    is_smooth = False
    is_by_score = True
    is_by_row = True
    is_by_output = True
    refits_constants = False

    @property
    def shape(self) -> tuple[int, int]:
        return self.y.shape[0], self.y.shape[1]

    @property
    def _is_used(self) -> NDArray[np.bool_]:
        return np.ones((len(self.y), 1), dtype=bool) if self.s is None else self.s[:, None] > 0

    def weighted(self, H: FloatArray) -> FloatArray:
        return np.where(self._is_used, H, 0.0)

    def least(self, Z: FloatArray) -> FloatArray:
        """(K,) the smallest margin of each output."""
        return np.where(self._is_used, self.y * Z, np.inf).min(axis=0, initial=np.inf)

    def value(self, Z: FloatArray) -> float:
        return 0.0 if float(self.least(Z).min()) >= 1.0 - SHORT else np.inf

    def slopes(self, Z: FloatArray) -> FloatArray:
        return np.zeros(Z.shape)

    def conjugate(self, U: FloatArray) -> float:
        return float(np.vdot(self.y, U)) if (self.y * U <= 0).all() else np.inf

    def into_domain(self, U: FloatArray) -> FloatArray:
        return np.where((self.y * U < 0) & self._is_used, U, 0.0)

    def balance(self, U: FloatArray) -> FloatArray:
        """Sums of 0, up to one rounding: the heavier side of each output is scaled down."""
        up, down = np.maximum(U, 0.0).sum(axis=0), np.maximum(-U, 0.0).sum(axis=0)
        light = np.minimum(up, down)
        kept_up, kept_down = (
            np.divide(light, side, out=np.zeros_like(side), where=side > 0) for side in (up, down)
        )
        return np.asarray(U * np.where(U > 0, kept_up, kept_down))

    def worst(self, Z: FloatArray, U: FloatArray) -> float:
        return float(np.max(U * (self.y - Z), initial=0.0))


@dataclass(frozen=True, eq=False)
class JointHardMargin(LossSum):
    """Of K scores: 0 where every z_iy - z_ik >= 1, else infinite.

    F*(g) = -sum_i sum_{k != y} g_ik where those are >= 0 and the g of a row add up to 0.

    Attributes
    ----------
    y : array
        (n,) codes of the classes.
    s : array
        (n,) weights of the rows; those of weight 0 have no say.
    n_outputs : int
        K.
    """

    y: NDArray[np.int32]
    s: FloatArray
    n_outputs: int
    at_zero: ClassVar[float] = 0.0

    is_smooth = False
    is_by_row = True
    refits_constants = False
    has_common_shift = True

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.y), self.n_outputs

    def weighted(self, H: FloatArray) -> FloatArray:
        return np.where(self.s[:, None] > 0, H, 0.0)

    def _own(self) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        return np.arange(len(self.y)), self.y

    def least(self, Z: FloatArray) -> FloatArray:
        """(1,) the smallest margin."""
        margins = Z[self._own()][:, None] - Z
        margins[self._own()] = np.inf
        return np.array([margins[self.s > 0].min(initial=np.inf)])

    def value(self, Z: FloatArray) -> float:
        return 0.0 if float(self.least(Z)[0]) >= 1.0 - SHORT else np.inf

    def slopes(self, Z: FloatArray) -> FloatArray:
        return np.zeros(Z.shape)

    def conjugate(self, U: FloatArray) -> float:
        rivals = U.copy()
        rivals[self._own()] = 0.0
        is_inside = (rivals >= 0).all() and (U[self._own()] == -rivals.sum(axis=1)).all()
        return -float(rivals.sum()) if is_inside else np.inf

    def into_domain(self, U: FloatArray) -> FloatArray:
        rivals = np.where(self.s[:, None] > 0, np.maximum(U, 0.0), 0.0)
        rivals[self._own()] = 0.0
        rivals[self._own()] = -rivals.sum(axis=1)
        return rivals

    def shrink(self, U: FloatArray, factor: float) -> FloatArray:
        return self.into_domain(U * factor)

    def balance(self, U: FloatArray) -> FloatArray:
        """Sums of 0 for each class: what one takes from the others in excess is taken less of.

        Shares a_ik of row i against class k are flows from k to y_i; scaling those that leave a class whose
        rows are given less, again and again, ends where as much leaves as comes (Sinkhorn).
        """
        U = self.into_domain(U)
        for _ in range(_ROUNDS):
            out = np.maximum(U, 0.0)
            out[self._own()] = 0.0
            taken, given = out.sum(axis=0), np.bincount(self.y, out.sum(axis=1), minlength=self.n_outputs)
            if (np.abs(taken - given) <= _EVEN * (taken + given)).all():
                break
            factor = np.sqrt(
                np.divide(given, taken, out=np.ones_like(given), where=(taken > 0) & (given > 0))
            )
            U = self.into_domain(out * factor / factor[self.y][:, None])
        return U

    def worst(self, Z: FloatArray, U: FloatArray) -> float:
        short = 1.0 - (Z[self._own()][:, None] - Z)
        short[self._own()] = 0.0
        return float(np.max(np.maximum(U, 0.0) * -short, initial=0.0))


# Rounds of balancing, and how even sums then are.
_ROUNDS, _EVEN = 200, 1e-15
