"""Losses of K scores at once, for more than two classes.

Targets are codes 0..K-1, scores are (n, K). With p = u + e_y the domain of every conjugate is the
probability simplex, p >= 0 and sum p = 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.deferred import special
from lineal.errors import ParameterError
from lineal.objective.losses import BlockEpoch, FloatArray, Loss, QuadraticConjugate, Targets

Codes = NDArray[np.int32]


def one_hot(y: Codes, n_classes: int) -> FloatArray:
    """Row i is the unit vector of class y_i."""
    out = np.zeros((len(y), n_classes))
    out[np.arange(len(y)), y] = 1.0
    return out


def project_simplex(v: FloatArray) -> FloatArray:
    """Each row's nearest point of the probability simplex (sort, then one threshold)."""
    v = v - v.max(axis=1, keepdims=True)  # the projection ignores a common shift; large ones cost digits
    ordered = -np.sort(-v, axis=1)
    excess = np.cumsum(ordered, axis=1) - 1.0
    count = np.arange(1, v.shape[1] + 1)
    rank = np.sum(ordered * count > excess, axis=1)
    theta = excess[np.arange(len(v)), rank - 1] / rank
    return np.maximum(v - theta[:, None], 0.0)


@dataclass(frozen=True)
class JointLoss(Loss):
    """What every loss of K scores states: values per row, derivatives and u of shape (n, K)."""

    is_joint: ClassVar[bool] = True
    is_margin: ClassVar[bool] = True

    @property
    def has_dual_step(self) -> bool:
        return self.block_epoch is not None

    refits_constants: ClassVar[bool] = False

    def simplex_conjugate(self, y: Codes, p: FloatArray) -> FloatArray:
        """loss*(y, p - e_y) for p in the simplex."""
        raise NotImplementedError(f"{type(self).__name__} must state its conjugate")

    def conjugate(self, y: Codes, u: FloatArray) -> FloatArray:
        """loss*(y, u), +inf where u + e_y leaves the simplex by more than rounding."""
        p = u + one_hot(y, u.shape[1])
        feasible = (p.min(axis=1) >= -1e-15) & (np.abs(p.sum(axis=1) - 1) <= 1e-12)
        return np.where(feasible, self.simplex_conjugate(y, np.clip(p, 0.0, 1.0)), np.inf)

    def domain(self, y: Codes) -> tuple[FloatArray, FloatArray]:
        """The box around the simplex: -1 <= u_y <= 0 and 0 <= u_k <= 1, for as many classes as y names."""
        gold = one_hot(y, int(y.max(initial=0)) + 1)
        return -gold, 1.0 - gold

    def second_derivative(self, y: Codes, z: FloatArray) -> FloatArray:
        """The diagonal of the Hessian."""
        return self.curvature_diagonal(y, z)

    def curvature_diagonal(self, y: Codes, z: FloatArray) -> FloatArray:
        """The diagonal of the Hessian in the scores, (n, K); only smooth losses have one."""
        raise ParameterError(f"{self} has kinks, so it has no second derivative.")

    def curvature_product(self, y: Codes, z: FloatArray, d: FloatArray) -> FloatArray:
        """The Hessian in the scores, row by row, times d; only smooth losses have one."""
        raise ParameterError(f"{self} has kinks, so it has no second derivative.")


def _margins(y: Codes, z: FloatArray, cost: float) -> FloatArray:
    """z_k + cost [k != y] - z_y."""
    rows = np.arange(len(y))
    margins = z - z[rows, y][:, None] + cost
    margins[rows, y] = 0.0
    return margins


def _worst_rival(y: Codes, margins: FloatArray) -> FloatArray:
    """e_k* - e_y where the largest margin over k != y is positive, else 0; ties to the lowest k."""
    rows = np.arange(len(y))
    rivals = margins.copy()
    rivals[rows, y] = -np.inf
    rival = rivals.argmax(axis=1)
    active = rivals[rows, rival] > 0
    u = np.zeros_like(margins)
    u[rows[active], rival[active]] = 1.0
    u[rows[active], y[active]] = -1.0
    return u


@dataclass(frozen=True)
class Softmax(JointLoss):
    """logsumexp(z) - z_y: maximum entropy, multinomial logistic regression."""

    is_likelihood: ClassVar[bool] = True
    keeps_logs: ClassVar[bool] = True
    refits_constants: ClassVar[bool] = True
    _curvature: ClassVar[float | None] = 0.5

    @property
    def native(self) -> type[_core.Softmax]:
        return _core.Softmax

    @property
    def block_epoch(self) -> BlockEpoch:
        return lambda matrix, y, *state: _core.softmax_dual_cd_epoch(matrix, *state)

    def row_slopes(self, y: Codes, n_outputs: int) -> _core.RowSlopes:
        return _core.RowSlopes.softmax(y, n_outputs)

    def constants_hessian(self, y: Codes, u: FloatArray, s: FloatArray) -> FloatArray:
        p = u + one_hot(y, u.shape[1])
        return np.diag(s @ p) - (p * s[:, None]).T @ p

    def value(self, y: Codes, z: FloatArray) -> FloatArray:
        # In differences from the largest: a row that is told apart has all digits of the little it costs.
        rows, top = np.arange(len(y)), z.argmax(axis=1)
        beyond = np.exp(z - z[rows, top][:, None])
        beyond[rows, top] = 0.0
        return z[rows, top] - z[rows, y] + np.log1p(beyond.sum(axis=1))

    def derivative(self, y: Codes, z: FloatArray) -> FloatArray:
        p, rows = special.softmax(z, axis=1), np.arange(len(y))
        p[rows, y] = 0.0
        p[rows, y] = -p.sum(axis=1)
        return p

    def conjugate(self, y: Codes, u: FloatArray) -> FloatArray:
        # The entropy of p = u + e_y, whose entry near 1 is known better as what the others leave.
        rows, others = np.arange(len(y)), np.maximum(u, 0.0)
        others[rows, y] = 0.0
        left = np.clip(-others.sum(axis=1), -1.0, 0.0)
        entropy = special.xlogy(others, others).sum(axis=1) + special.xlog1py(1.0 + left, left)
        return np.where(np.isfinite(super().conjugate(y, u)), entropy, np.inf)

    def curvature_product(self, y: Codes, z: FloatArray, d: FloatArray) -> FloatArray:
        p = special.softmax(z, axis=1)
        pd = p * d
        return pd - p * pd.sum(axis=1, keepdims=True)

    def curvature_diagonal(self, y: Codes, z: FloatArray) -> FloatArray:
        p = special.softmax(z, axis=1)
        return p * (1 - p)

    def simplex_conjugate(self, y: Codes, p: FloatArray) -> FloatArray:
        return special.xlogy(p, p).sum(axis=1)


@dataclass(frozen=True)
class CrammerSinger(JointLoss):
    """max(0, 1 + max_{k != y} z_k - z_y): the multi-class hinge."""

    has_quadratic_conjugate: ClassVar[bool] = True

    def quadratic_conjugate(self, y: Targets) -> QuadraticConjugate:
        """-sum_{k != y} u_k on the simplex u >= -e_y."""
        return QuadraticConjugate(-y, np.full(y.shape, np.inf), y - 1.0)

    @property
    def block_epoch(self) -> BlockEpoch:
        return _core.crammer_singer_dual_cd_epoch

    def row_slopes(self, y: Codes, n_outputs: int) -> _core.RowSlopes:
        return _core.RowSlopes.crammer_singer(y, n_outputs)

    def value(self, y: Codes, z: FloatArray) -> FloatArray:
        return _margins(y, z, 1.0).max(axis=1)

    def derivative(self, y: Codes, z: FloatArray) -> FloatArray:
        return _worst_rival(y, _margins(y, z, 1.0))

    def simplex_conjugate(self, y: Codes, p: FloatArray) -> FloatArray:
        return p[np.arange(len(y)), y] - 1.0

    def smoothed(self, width: float) -> Loss:
        return SmoothedCrammerSinger(width)


@dataclass(frozen=True)
class SmoothedCrammerSinger(JointLoss):
    """Crammer-Singer with its kinks rounded: max over the simplex of u.z - loss* - (mu/2)|u|^2."""

    width: float
    is_rounded: ClassVar[bool] = True

    @property
    def curvature(self) -> float:
        """1 / width."""
        return 1 / self.width

    def row_slopes(self, y: Codes, n_outputs: int) -> _core.RowSlopes:
        return _core.RowSlopes.smoothed_crammer_singer(y, n_outputs, self.width)

    def _probabilities(self, y: Codes, z: FloatArray) -> FloatArray:
        gold = one_hot(y, z.shape[1])
        return project_simplex(gold + (z + 1.0 - gold) / self.width)

    def value(self, y: Codes, z: FloatArray) -> FloatArray:
        u = self._probabilities(y, z) - one_hot(y, z.shape[1])
        linear = (u * z).sum(axis=1) - u[np.arange(len(y)), y]
        return linear - self.width / 2 * (u * u).sum(axis=1)

    def derivative(self, y: Codes, z: FloatArray) -> FloatArray:
        return self._probabilities(y, z) - one_hot(y, z.shape[1])

    def curvature_product(self, y: Codes, z: FloatArray, d: FloatArray) -> FloatArray:
        # A projection's derivative: on the classes it keeps, subtract their mean.
        kept = self._probabilities(y, z) > 0
        mean = (kept * d).sum(axis=1, keepdims=True) / kept.sum(axis=1, keepdims=True)
        return kept * (d - mean) / self.width

    def curvature_diagonal(self, y: Codes, z: FloatArray) -> FloatArray:
        kept = self._probabilities(y, z) > 0
        return kept * (1 - 1 / kept.sum(axis=1, keepdims=True)) / self.width

    def simplex_conjugate(self, y: Codes, p: FloatArray) -> FloatArray:
        u = p - one_hot(y, p.shape[1])
        return u[np.arange(len(y)), y] + self.width / 2 * (u * u).sum(axis=1)


@dataclass(frozen=True)
class JointPerceptron(JointLoss):
    """max_k z_k - z_y; degenerate as an objective, like the loss of one score."""

    has_minimum: ClassVar[bool] = False

    def value(self, y: Codes, z: FloatArray) -> FloatArray:
        return _margins(y, z, 0.0).max(axis=1)

    def derivative(self, y: Codes, z: FloatArray) -> FloatArray:
        return _worst_rival(y, _margins(y, z, 0.0))

    def simplex_conjugate(self, y: Codes, p: FloatArray) -> FloatArray:
        return np.zeros(len(y))
