"""The risk of a classifier, estimated from positive and unlabelled rows.

With the prior pi, the share of positives among the unlabelled rows::

    R = pi E_P[l(z, +)] + E_U[l(z, -)] - pi E_P[l(z, -)]                 unbiased (du Plessis et al. 2014)
    R = pi E_P[l(z, +)] + max(0, E_U[l(z, -)] - pi E_P[l(z, -)])         non-negative (Kiryo et al. 2017)

because the unlabelled are a mixture: E_U = pi E_P + (1 - pi) E_N. What is in the max estimates the risk of
the negatives, (1 - pi) E_N[l(z, -)], which cannot be negative; its estimate can.

If l(z, +) - l(z, -) = -slope z, as for Log (1), Squared (2) and ModifiedHuber (4), both are convex: the first
is E_U of a soft label pi minus what is linear in the scores, the second is the larger of that and
pi E_P[l(z, +)].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lineal.objective.intercept_refit import Refit
from lineal.objective.linear_maps import LinearMap
from lineal.objective.loss_sums import LossSum
from lineal.objective.losses import FloatArray, Loss
from lineal.objective.soft import SoftLabel
from lineal.objective.tilted import TiltedLosses


@dataclass(frozen=True)
class PURisk:
    """An estimate of E[l(z, y)], in its two parts.

    Attributes
    ----------
    positive : float
        pi E_P[l(z, +)]: what positives contribute.
    negative : float
        E_U[l(z, -)] - pi E_P[l(z, -)]: what negatives contribute, as far as it can be told. Below 0 it is
        sampling error, or a sign of too large a prior or of overfitting.
    """

    positive: float
    negative: float

    @property
    def unbiased(self) -> float:
        """The sum, right on average over samples."""
        return self.positive + self.negative

    @property
    def nonnegative(self) -> float:
        """The sum with a negative part below 0 taken as 0."""
        return self.positive + max(0.0, self.negative)


@dataclass(frozen=True, eq=False)
class PURows:
    """Rows that are labelled positive or not labelled.

    Objectives are risks times the weight of the unlabelled rows, so that strengths mean what they would if
    those rows were labelled.
    """

    rows: LinearMap
    is_positive: NDArray[np.bool_]
    s: FloatArray
    prior: float

    @cached_property
    def weight(self) -> float:
        """The weight of the unlabelled rows."""
        return float(self.s[~self.is_positive].sum())

    @cached_property
    def factor(self) -> float:
        """pi S_U / S_P: what a labelled row counts for."""
        return self.prior * self.weight / float(self.s[self.is_positive].sum())

    def sums(self, loss: Loss, Z: FloatArray) -> tuple[float, float]:
        """The positive and the negative part times the weight of the unlabelled rows; Z is (n, 1)."""
        is_positive, s, z = self.is_positive, self.s, Z[:, 0]
        zp, sp = z[is_positive], self.factor * s[is_positive]
        ones = np.ones_like(zp)
        as_negative = loss.value(-np.ones(len(z) - len(zp)), z[~is_positive])
        negative = float(s[~is_positive] @ as_negative) - float(sp @ loss.value(-ones, zp))
        return float(sp @ loss.value(ones, zp)), negative

    def risk(self, loss: Loss, Z: FloatArray) -> PURisk:
        """The parts of the risk."""
        positive, negative = self.sums(loss, Z)
        return PURisk(positive / self.weight, negative / self.weight)

    def losses(self, soft: SoftLabel, share: float = 1.0) -> TiltedLosses:
        """Positive part + share * negative part, for a loss that softens.

        Each unlabelled row has the soft label pi and the weight share s; a labelled one the label 1 and the
        weight (1 - share) pi S_U / S_P s. What is left is linear in the scores: slope times their mean over P
        less that over U.
        """
        y = np.where(self.is_positive, 1.0, self.prior)[:, None]
        s = np.where(self.is_positive, (1 - share) * self.factor * self.s, share * self.s)
        pull = np.where(self.is_positive, self.factor * self.s, -self.prior * self.s)
        return TiltedLosses(soft, y, s, 1, share * soft.slope * pull[:, None])


@dataclass(frozen=True, eq=False)
class SharedDual:
    """A dual point of the non-negative risk: a share of the negative part, and the slopes of its losses."""

    share: float
    U: FloatArray


@dataclass(frozen=True, eq=False)
class NonNegativeLosses(LossSum):
    """Positive part + max(0, negative part): the larger of two convex functions.

    For every share in [0, 1] it is at least positive part + share * negative part, whose conjugate therefore
    is an upper bound of its own; for the best share the bound is tight.
    """

    data: PURows
    loss: Loss
    soft: SoftLabel

    is_smooth = False  # where the negative part is 0
    has_array_duals = False
    refits_constants = False

    @property
    def shape(self) -> tuple[int, int]:
        return self.data.rows.n_rows, 1

    @property
    def names(self) -> str:
        return f"the non-negative risk of {self.loss}"

    @property
    def total_weight(self) -> float:
        return self.data.weight

    def mixture(self, share: float) -> TiltedLosses:
        """The losses of a share."""
        return self.data.losses(self.soft, share)

    def value(self, Z: FloatArray) -> float:
        positive, negative = self.data.sums(self.loss, Z)
        return positive + max(0.0, negative)

    def slopes(self, Z: FloatArray) -> SharedDual:
        share = 1.0 if self.data.sums(self.loss, Z)[1] > 0 else 0.0
        return SharedDual(share, self.mixture(share).slopes(Z))

    def pull(self, U: SharedDual) -> FloatArray:
        return self.mixture(U.share).pull(U.U)

    def conjugate(self, U: SharedDual) -> float:
        return self.mixture(U.share).conjugate(U.U)

    def anchor(self) -> SharedDual:
        return SharedDual(0.0, np.zeros(self.shape))

    def into_domain(self, U: SharedDual) -> SharedDual:
        return SharedDual(U.share, self.mixture(U.share).into_domain(U.U))

    def balance(self, U: SharedDual) -> SharedDual:
        return SharedDual(U.share, self.mixture(U.share).balance(U.U))

    def weighted(self, H: FloatArray) -> FloatArray:
        return self.mixture(1.0).weighted(H)

    def half_square(self, U: SharedDual) -> float:
        return self.mixture(U.share).half_square(U.U)

    def refit(self, Z: FloatArray) -> Refit:
        return Refit(np.zeros(1), self.slopes(Z))
