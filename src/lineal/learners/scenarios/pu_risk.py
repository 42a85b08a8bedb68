"""The risk of a classifier, estimated from positive and unlabelled rows.

With the prior pi, the share of positives among the unlabelled rows::

    R = pi E_P[l(z, +)] + E_U[l(z, -)] - pi E_P[l(z, -)]                 unbiased (du Plessis et al. 2014)
    R = pi E_P[l(z, +)] + max(0, E_U[l(z, -)] - pi E_P[l(z, -)])         non-negative (Kiryo et al. 2017)

because the unlabelled are a mixture: E_U = pi E_P + (1 - pi) E_N. What is in the max estimates the risk of
the negatives, (1 - pi) E_N[l(z, -)], which cannot be negative; its estimate can.

If l(z, +) - l(z, -) = -slope z, as for Log (1), Squared (2) and ModifiedHuber (4), both are convex: the first
is E_U of a soft label pi minus a linear term, the second is the larger of that and pi E_P[l(z, +)].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lineal.objective.losses import FloatArray, Loss
from lineal.objective.penalties import L2
from lineal.objective.problem import Intercept
from lineal.objective.rows import Rows
from lineal.objective.soft import SoftLabel
from lineal.objective.tilted import TiltedL2, TiltedProblem


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

    rows: Rows
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

    def tilt(self, slope: float) -> FloatArray:
        """slope pi S_U (mean of x over P - mean of x over U): what is linear in w, apart from soft labels."""
        pull = np.where(self.is_positive, self.factor * self.s, -self.prior * self.s)
        return slope * self.rows.adjoint(pull[:, None])[:, 0]

    def problem(
        self, soft: SoftLabel, strength: float, intercept: Intercept, share: float = 1.0
    ) -> TiltedProblem:
        """Positive part + share * negative part + strength |w|^2 / 2, for a loss that softens.

        Each unlabelled row has the soft label pi and the weight share s; a labelled one the label 1 and the
        weight (1 - share) pi S_U / S_P s. What is left is linear in w.
        """
        y = np.where(self.is_positive, 1.0, self.prior)[:, None]
        s = np.where(self.is_positive, (1 - share) * self.factor * self.s, share * self.s)
        penalty = TiltedL2(strength, share * self.tilt(soft.slope))
        return TiltedProblem(self.rows, y, s, soft, penalty, intercept, 1)


@dataclass(frozen=True)
class NonNegativeProblem(TiltedProblem):
    """The non-negative risk as the larger of two convex functions.

    For every share in [0, 1] it is at least positive part + share * negative part + penalty, whose dual
    therefore bounds it from below; for the best share the bound is tight.
    """

    data: PURows | None = None
    plain: Loss | None = None

    @classmethod
    def of(cls, data: PURows, plain: Loss, mixture: TiltedProblem) -> NonNegativeProblem:
        """The risk of plain labels over the dual of a mixture."""
        parts = (mixture.X, mixture.y, mixture.s, mixture.loss, mixture.penalty, mixture.intercept, 1)
        return cls(*parts, data, plain)

    def primal(self, W: FloatArray, b: FloatArray, Z: FloatArray | None = None) -> float:
        """Positive part + max(0, negative part) + penalty."""
        assert self.data is not None
        assert self.plain is not None
        Z = self.scores(W, b) if Z is None else Z
        positive, negative = self.data.sums(self.plain, Z)
        assert isinstance(self.penalty, L2)
        return positive + max(0.0, negative) + L2(self.penalty.strength).value(W[:, 0])
