"""Losses of one score z against a target y.

Each loss is a frozen value object with three formulas in one convention: the value, the derivative in z
(at a kink the subgradient nearest 0), and the convex conjugate ``loss*(y, u) = max_z u z - loss(y, z)``,
which is +inf outside its domain. Margin losses want y in {-1, +1} and are written with m = y z and
a = -y u; regression losses are written with r = z - y. All methods broadcast.

    Squared, Huber carry the factor 1/2; SquaredHinge, ModifiedHuber, SquaredEpsilonInsensitive do not.

With more than two classes ``Log``, ``Hinge`` and ``Perceptron`` have a joint form (``loss.joint``, see
:mod:`lineal.objective.joint`); the others are applied one-vs-rest.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.deferred import special
from lineal.errors import ParameterError

FloatArray = NDArray[np.float64]
# Numbers for a loss of one score, class codes for a joint loss.
Targets = NDArray[Any]
BlockEpoch = Callable[..., float]


def as_number(value: Any) -> float:
    """An option as a number; what is none becomes NaN, which no range contains."""
    if type(value) is float:  # to ask whether it is a kind of number takes as long as to make a loss
        return value
    return float(value) if isinstance(value, numbers.Real) else np.nan


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ParameterError(message)


def _soft(t: FloatArray, threshold: float | FloatArray) -> FloatArray:
    return np.sign(t) * np.maximum(np.abs(t) - threshold, 0.0)


def _inside(domain: NDArray[np.bool_], value: FloatArray) -> FloatArray:
    return np.where(domain, value, np.inf)


@dataclass(frozen=True)
class QuadraticConjugate:
    """A conjugate that is quadratic on an interval: place u + tube |u| + bend u^2 / 2 for low <= u <= high.

    Losses that have one are piecewise linear or quadratic. An interval may be unbounded where bend > 0.

    Attributes
    ----------
    low, high, place : arrays
        One entry for each target.
    tube, bend : float
        >= 0, the same for all.
    """

    low: FloatArray
    high: FloatArray
    place: FloatArray
    tube: float = 0.0
    bend: float = 0.0

    def value(self, u: FloatArray) -> FloatArray:
        """loss*(y, u), +inf outside the interval."""
        inside = (self.low <= u) & (u <= self.high)
        return _inside(inside, self.place * u + self.tube * np.abs(u) + self.bend / 2 * u * u)


@dataclass(frozen=True)
class Loss(ABC):
    """What every loss of one score states.

    Attributes
    ----------
    is_margin : bool
        Whether targets are -1 and +1 (classification) rather than numbers (regression).
    is_joint : bool
        Whether it takes the K scores of a row together.
    is_of_difference : bool
        Whether it knows z - y alone, so that scores and targets may be moved together.
    is_rounded : bool
        Whether it is a kink made smooth: curved only in a narrow bend.
    is_quadratic : bool
        Whether it is (z - y)^2 / 2, whose minimum a linear system has.
    is_likelihood : bool
        Whether it is -log p of a logistic model: without a penalty, classes that can be separated have none.
    is_hinge : bool
        Whether it is max(0, margin - y z): its conjugate is linear, on a box.
    has_minimum : bool
        Whether minimising it means anything: the perceptron's is minimised by w = 0.
    refits_constants : bool
        Whether the constants that suit given scores are sought.
    keeps_logs : bool
        Whether dual ascent carries logarithms of its dual variables along.
    has_quadratic_conjugate : bool
        Whether ``quadratic_conjugate`` states it: the loss is piecewise linear or quadratic.
    has_whole_domain : bool
        Whether the conjugate is finite everywhere: the loss grows faster than any line.
    """

    is_margin: ClassVar[bool] = False
    is_joint: ClassVar[bool] = False
    is_of_difference: ClassVar[bool] = False
    is_rounded: ClassVar[bool] = False
    is_quadratic: ClassVar[bool] = False
    is_likelihood: ClassVar[bool] = False
    is_hinge: ClassVar[bool] = False
    has_minimum: ClassVar[bool] = True
    refits_constants: ClassVar[bool] = True
    keeps_logs: ClassVar[bool] = False
    has_quadratic_conjugate: ClassVar[bool] = False
    has_whole_domain: ClassVar[bool] = False
    _curvature: ClassVar[float | None] = None

    @abstractmethod
    def value(self, y: Targets, z: FloatArray) -> FloatArray:
        """loss(y, z)."""

    def __call__(self, y: Targets, z: FloatArray) -> FloatArray:
        """loss(y, z): a loss is a function."""
        return self.value(np.asarray(y, dtype=float), np.asarray(z, dtype=float))

    @abstractmethod
    def derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        """The slope in z; at a kink, the subgradient nearest 0."""

    @abstractmethod
    def conjugate(self, y: Targets, u: FloatArray) -> FloatArray:
        """loss*(y, u), +inf outside the domain."""

    @abstractmethod
    def domain(self, y: Targets) -> tuple[FloatArray, FloatArray]:
        """The interval [low, high] of u on which the conjugate is finite; it contains 0."""

    def quadratic_conjugate(self, y: Targets) -> QuadraticConjugate:
        """The conjugate where it is quadratic on an interval; see ``has_quadratic_conjugate``.

        A joint loss gets its targets as unit vectors, (n, K), and means u whose sum over each row is 0.
        """
        raise ParameterError(f"{self} has no conjugate that is quadratic on an interval.")

    def second_derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        """The curvature in z where it exists (0 at a bend); only smooth losses have one."""
        raise ParameterError(f"{self} has kinks, so it has no second derivative.")

    def kinks(self, y: Targets) -> tuple[tuple[FloatArray, FloatArray, FloatArray], ...]:
        """Each kink as (place in z, lowest subgradient there, highest); none for smooth losses."""
        return ()

    def smoothed(self, width: float) -> Loss:
        """The Moreau envelope of width mu: smooth, below this loss by at most mu max(u)^2 / 2."""
        return self

    @property
    def joint(self) -> Callable[[], Loss] | None:
        """Makes the loss of K scores that this one stands for with more than two classes."""
        return None

    @property
    def native(self) -> Any | None:
        """The same loss in the native core; None where it has none."""
        return None

    @property
    def has_dual_step(self) -> bool:
        """Whether the core maximises the dual over one row exactly."""
        return self.native is not None and not self.is_rounded

    @property
    def block_epoch(self) -> BlockEpoch | None:
        """An epoch of dual ascent on K outputs in the core: (matrix, y, s, norms, ..., W, b) -> gap.

        None where the core has none. Joint losses carry p = u + e_y, and those that ``keep_logs`` log p too.
        """
        native: Any = self.native
        return lambda matrix, y, *state: _core.elementwise_dual_cd_epoch(native, matrix, y, *state)

    def constants_hessian(self, y: Targets, u: FloatArray, s: FloatArray) -> FloatArray | None:
        """sum_i s_i times the Hessian in the scores, (K, K), where slopes are u; None if unknown."""
        return None

    def row_slopes(self, y: Targets, n_outputs: int) -> _core.RowSlopes | None:
        """The slopes of single rows in the core, for stochastic steps; None where it has none."""
        if self.native is None:
            return None
        return _core.RowSlopes.of_scores(self.native, np.ascontiguousarray(y, dtype=np.float64))

    @property
    def curvature(self) -> float | None:
        """Lipschitz constant of the derivative; None where the loss has kinks."""
        return self._curvature

    @property
    def is_smooth(self) -> bool:
        """Whether the derivative is Lipschitz."""
        return self.curvature is not None

    def check(self, y: Targets) -> None:
        """Raises ParameterError where the loss is not what it says it is; the library's own are tested."""
        return None

    def curvature_diagonal(self, y: Targets, z: FloatArray) -> FloatArray:
        """The second derivatives in the scores, one by one."""
        return self.second_derivative(y, z)

    def curvature_product(self, y: Targets, z: FloatArray, d: FloatArray) -> FloatArray:
        """The Hessian in the scores, row by row, times d."""
        return self.second_derivative(y, z) * d


class _MarginLoss(Loss):
    """Shared domain of the margin losses: 0 <= a <= ``steepest``."""

    is_margin = True
    steepest: ClassVar[float] = 1.0

    def domain(self, y: Targets) -> tuple[FloatArray, FloatArray]:
        """u = -y a with 0 <= a <= steepest."""
        y = np.asarray(y, dtype=float)
        return np.where(y > 0, -self.steepest, 0.0), np.where(y > 0, 0.0, self.steepest)

    def _conjugate_of_slope(self, a: FloatArray, value: FloatArray) -> FloatArray:
        return _inside((a >= 0) & (a <= self.steepest), value)


class _Rounded:
    """Shared curvature of the smoothed losses."""

    is_rounded: ClassVar[bool] = True
    width: float

    @property
    def curvature(self) -> float:
        """1 / width."""
        return 1 / self.width


class _RegressionLoss(Loss):
    is_margin = False
    is_of_difference = True
    low: ClassVar[float] = -np.inf
    high: ClassVar[float] = np.inf

    def domain(self, y: Targets) -> tuple[FloatArray, FloatArray]:
        """The same interval for every target."""
        y = np.asarray(y, dtype=float)
        return np.full_like(y, self.low), np.full_like(y, self.high)


@dataclass(frozen=True)
class Perceptron(_MarginLoss):
    """max(0, -m): zero on the right side, linear on the wrong one.

    As an objective it is degenerate (w = 0 is always optimal), so no learner minimises it; the
    algorithm that is called by the same name is ``lineal.Perceptron``.
    """

    has_minimum: ClassVar[bool] = False

    def value(self, y: Targets, z: FloatArray) -> FloatArray:
        return np.maximum(0.0, -y * z)

    def derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        return np.where(y * z < 0, -y, 0.0)

    def conjugate(self, y: Targets, u: FloatArray) -> FloatArray:
        a = -y * u
        return self._conjugate_of_slope(a, np.zeros_like(a))

    def kinks(self, y: Targets) -> tuple[tuple[FloatArray, FloatArray, FloatArray], ...]:
        return ((np.zeros_like(y), *self.domain(y)),)

    @property
    def joint(self) -> Callable[[], Loss]:
        from lineal.objective.joint import JointPerceptron

        return JointPerceptron


@dataclass(frozen=True)
class Hinge(_MarginLoss):
    """max(0, margin - m), the support vector machine's loss; Crammer-Singer with K > 2 classes."""

    margin: float = 1.0
    is_hinge: ClassVar[bool] = True
    has_quadratic_conjugate: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _require(as_number(self.margin) > 0, f"Hinge needs margin > 0, got {self.margin!r}.")

    def value(self, y: Targets, z: FloatArray) -> FloatArray:
        return np.maximum(0.0, self.margin - y * z)

    def derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        return np.where(y * z < self.margin, -y, 0.0)

    def conjugate(self, y: Targets, u: FloatArray) -> FloatArray:
        a = -y * u
        return self._conjugate_of_slope(a, -self.margin * a)

    def kinks(self, y: Targets) -> tuple[tuple[FloatArray, FloatArray, FloatArray], ...]:
        return ((self.margin * y, *self.domain(y)),)

    def smoothed(self, width: float) -> Loss:
        return SmoothedHinge(self.margin, width)

    @property
    def joint(self) -> Callable[[], Loss] | None:
        from lineal.objective.joint import CrammerSinger

        return CrammerSinger if self.margin == 1.0 else None

    def quadratic_conjugate(self, y: Targets) -> QuadraticConjugate:
        return QuadraticConjugate(*self.domain(y), self.margin * y)

    @property
    def native(self) -> Any:
        return _core.Hinge(self.margin)


@dataclass(frozen=True)
class SquaredHinge(_MarginLoss):
    """max(0, margin - m)^2."""

    margin: float = 1.0
    _curvature: ClassVar[float | None] = 2.0
    steepest: ClassVar[float] = np.inf
    has_quadratic_conjugate: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _require(as_number(self.margin) > 0, f"SquaredHinge needs margin > 0, got {self.margin!r}.")

    def value(self, y: Targets, z: FloatArray) -> FloatArray:
        return np.maximum(0.0, self.margin - y * z) ** 2

    def derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        return -2.0 * y * np.maximum(0.0, self.margin - y * z)

    def second_derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        return np.where(y * z < self.margin, 2.0, 0.0)

    def conjugate(self, y: Targets, u: FloatArray) -> FloatArray:
        a = -y * u
        return self._conjugate_of_slope(a, -self.margin * a + a * a / 4)

    def quadratic_conjugate(self, y: Targets) -> QuadraticConjugate:
        return QuadraticConjugate(*self.domain(y), self.margin * y, bend=0.5)

    @property
    def native(self) -> Any:
        return _core.SquaredHinge(self.margin)


@dataclass(frozen=True)
class Log(_MarginLoss):
    """log(1 + exp(-m)), the logistic loss; softmax with K > 2 classes."""

    is_likelihood: ClassVar[bool] = True
    _curvature: ClassVar[float | None] = 0.25

    def value(self, y: Targets, z: FloatArray) -> FloatArray:
        return np.logaddexp(0.0, -y * z)

    def derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        return -y * special.expit(-y * z)

    def second_derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        return special.expit(z) * special.expit(-z)

    def conjugate(self, y: Targets, u: FloatArray) -> FloatArray:
        a = -y * u
        inside = np.clip(a, 0.0, 1.0)
        return self._conjugate_of_slope(
            a, special.xlogy(inside, inside) + special.xlogy(1 - inside, 1 - inside)
        )

    @property
    def joint(self) -> Callable[[], Loss]:
        from lineal.objective.joint import Softmax

        return Softmax

    @property
    def native(self) -> Any:
        return _core.Log()


@dataclass(frozen=True)
class ModifiedHuber(_MarginLoss):
    """max(0, 1 - m)^2 for m >= -1, else -4 m: a squared hinge that grows linearly."""

    _curvature: ClassVar[float | None] = 2.0
    steepest: ClassVar[float] = 4.0
    has_quadratic_conjugate: ClassVar[bool] = True

    def value(self, y: Targets, z: FloatArray) -> FloatArray:
        m = y * z
        near = np.clip(1 - m, 0.0, 2.0)  # far out the square is not used, and would overflow
        return np.where(m >= -1, near * near, -4 * m)

    def derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        return -y * np.clip(2 * (1 - y * z), 0.0, 4.0)

    def second_derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        m = y * z
        return np.where((m < 1) & (m > -1), 2.0, 0.0)

    def conjugate(self, y: Targets, u: FloatArray) -> FloatArray:
        a = -y * u
        return self._conjugate_of_slope(a, -a + a * a / 4)

    def quadratic_conjugate(self, y: Targets) -> QuadraticConjugate:
        return QuadraticConjugate(*self.domain(y), np.asarray(y), bend=0.5)

    @property
    def native(self) -> Any:
        return _core.ModifiedHuber()


@dataclass(frozen=True)
class Squared(_RegressionLoss):
    """r^2 / 2: least squares."""

    is_quadratic: ClassVar[bool] = True
    _curvature: ClassVar[float | None] = 1.0
    has_quadratic_conjugate: ClassVar[bool] = True
    has_whole_domain: ClassVar[bool] = True

    def value(self, y: Targets, z: FloatArray) -> FloatArray:
        return (z - y) ** 2 / 2

    def derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        return np.asarray(z - y)

    def second_derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        return np.ones_like(z)

    def conjugate(self, y: Targets, u: FloatArray) -> FloatArray:
        return u * y + u * u / 2

    def quadratic_conjugate(self, y: Targets) -> QuadraticConjugate:
        return QuadraticConjugate(*self.domain(y), np.asarray(y), bend=1.0)

    @property
    def native(self) -> Any:
        return _core.Squared()


@dataclass(frozen=True)
class Huber(_RegressionLoss):
    """r^2 / 2 for |r| <= delta, else delta (|r| - delta / 2)."""

    delta: float = 1.0
    _curvature: ClassVar[float | None] = 1.0
    has_quadratic_conjugate: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _require(as_number(self.delta) > 0, f"Huber needs delta > 0, got {self.delta!r}.")

    def domain(self, y: Targets) -> tuple[FloatArray, FloatArray]:
        y = np.asarray(y, dtype=float)
        return np.full_like(y, -self.delta), np.full_like(y, self.delta)

    def value(self, y: Targets, z: FloatArray) -> FloatArray:
        r = np.abs(z - y)
        near = np.minimum(r, self.delta)  # r * r would overflow far out, where it is not used
        return np.where(r <= self.delta, near * near / 2, self.delta * (r - self.delta / 2))

    def derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        return np.clip(z - y, -self.delta, self.delta)

    def second_derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        return np.where(np.abs(z - y) < self.delta, 1.0, 0.0)

    def conjugate(self, y: Targets, u: FloatArray) -> FloatArray:
        return _inside(np.abs(u) <= self.delta, u * y + u * u / 2)

    def quadratic_conjugate(self, y: Targets) -> QuadraticConjugate:
        return QuadraticConjugate(*self.domain(y), np.asarray(y), bend=1.0)

    @property
    def native(self) -> Any:
        return _core.Huber(self.delta)


@dataclass(frozen=True)
class EpsilonInsensitive(_RegressionLoss):
    """max(0, |r| - epsilon): errors inside the tube are free."""

    epsilon: float = 0.1
    low: ClassVar[float] = -1.0
    high: ClassVar[float] = 1.0
    has_quadratic_conjugate: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _require(
            as_number(self.epsilon) >= 0, f"EpsilonInsensitive needs epsilon >= 0, got {self.epsilon!r}."
        )

    def value(self, y: Targets, z: FloatArray) -> FloatArray:
        return np.maximum(0.0, np.abs(z - y) - self.epsilon)

    def derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        r = z - y
        return np.where(np.abs(r) > self.epsilon, np.sign(r), 0.0)

    def conjugate(self, y: Targets, u: FloatArray) -> FloatArray:
        return _inside(np.abs(u) <= 1, u * y + self.epsilon * np.abs(u))

    def kinks(self, y: Targets) -> tuple[tuple[FloatArray, FloatArray, FloatArray], ...]:
        zero, one = np.zeros_like(y), np.ones_like(y)
        if self.epsilon == 0:
            return ((y, -one, one),)
        return ((y - self.epsilon, -one, zero), (y + self.epsilon, zero, one))

    def smoothed(self, width: float) -> Loss:
        return SmoothedEpsilonInsensitive(self.epsilon, width)

    def quadratic_conjugate(self, y: Targets) -> QuadraticConjugate:
        return QuadraticConjugate(*self.domain(y), np.asarray(y), tube=self.epsilon)

    @property
    def native(self) -> Any:
        return _core.EpsilonInsensitive(self.epsilon)


@dataclass(frozen=True)
class Absolute(EpsilonInsensitive):
    """|r|: least absolute deviations, the median's loss."""

    epsilon: float = 0.0

    def __post_init__(self) -> None:
        _require(self.epsilon == 0, "Absolute has no tube; use EpsilonInsensitive(epsilon).")

    def __repr__(self) -> str:
        return "Absolute()"


@dataclass(frozen=True)
class SquaredEpsilonInsensitive(_RegressionLoss):
    """max(0, |r| - epsilon)^2."""

    epsilon: float = 0.1
    _curvature: ClassVar[float | None] = 2.0
    has_quadratic_conjugate: ClassVar[bool] = True
    has_whole_domain: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _require(
            as_number(self.epsilon) >= 0,
            f"SquaredEpsilonInsensitive needs epsilon >= 0, got {self.epsilon!r}.",
        )

    def value(self, y: Targets, z: FloatArray) -> FloatArray:
        return np.maximum(0.0, np.abs(z - y) - self.epsilon) ** 2

    def derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        return 2 * _soft(z - y, self.epsilon)

    def second_derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        return np.where(np.abs(z - y) > self.epsilon, 2.0, 0.0)

    def conjugate(self, y: Targets, u: FloatArray) -> FloatArray:
        return u * y + self.epsilon * np.abs(u) + u * u / 4

    def quadratic_conjugate(self, y: Targets) -> QuadraticConjugate:
        return QuadraticConjugate(*self.domain(y), np.asarray(y), tube=self.epsilon, bend=0.5)

    @property
    def native(self) -> Any:
        return _core.SquaredEpsilonInsensitive(self.epsilon)


@dataclass(frozen=True)
class Quantile(_RegressionLoss):
    """q max(-r, 0) + (1 - q) max(r, 0): its minimiser is the q-quantile."""

    q: float = 0.5
    has_quadratic_conjugate: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _require(0 < as_number(self.q) < 1, f"Quantile needs 0 < q < 1, got {self.q!r}.")

    def domain(self, y: Targets) -> tuple[FloatArray, FloatArray]:
        y = np.asarray(y, dtype=float)
        return np.full_like(y, -self.q), np.full_like(y, 1 - self.q)

    def value(self, y: Targets, z: FloatArray) -> FloatArray:
        r = z - y
        return np.where(r < 0, -self.q * r, (1 - self.q) * r)

    def derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        r = z - y
        return np.where(r < 0, -self.q, np.where(r > 0, 1 - self.q, 0.0))

    def conjugate(self, y: Targets, u: FloatArray) -> FloatArray:
        return _inside((u >= -self.q) & (u <= 1 - self.q), u * y)

    def kinks(self, y: Targets) -> tuple[tuple[FloatArray, FloatArray, FloatArray], ...]:
        return ((y, *self.domain(y)),)

    def smoothed(self, width: float) -> Loss:
        return SmoothedQuantile(self.q, width)

    def quadratic_conjugate(self, y: Targets) -> QuadraticConjugate:
        return QuadraticConjugate(*self.domain(y), np.asarray(y))

    @property
    def native(self) -> Any:
        return _core.Quantile(self.q)


# ---- smoothing: loss_mu(z) = max_u  u z - loss*(u) - mu u^2 / 2  --------------------------------
#
# Each envelope has the same domain as its loss, so its dual points are feasible for the true problem:
# minimising with a small mu and certifying with the true loss is a proof about the true loss.


@dataclass(frozen=True)
class SmoothedHinge(_Rounded, _MarginLoss):
    """Hinge with its kink rounded over a width mu."""

    margin: float
    width: float

    def _slope(self, y: Targets, z: FloatArray) -> FloatArray:
        return np.clip((self.margin - y * z) / self.width, 0.0, 1.0)

    def value(self, y: Targets, z: FloatArray) -> FloatArray:
        a = self._slope(y, z)
        return a * (self.margin - y * z) - self.width * a * a / 2

    def derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        return -y * self._slope(y, z)

    def second_derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        slack = self.margin - y * z
        return np.where((slack > 0) & (slack < self.width), 1 / self.width, 0.0)

    def conjugate(self, y: Targets, u: FloatArray) -> FloatArray:
        a = -y * u
        return self._conjugate_of_slope(a, -self.margin * a + self.width * a * a / 2)

    @property
    def native(self) -> Any:
        return _core.SmoothedHinge(self.margin, self.width)


@dataclass(frozen=True)
class SmoothedEpsilonInsensitive(_Rounded, _RegressionLoss):
    """EpsilonInsensitive with both kinks rounded over a width mu."""

    epsilon: float
    width: float
    low: ClassVar[float] = -1.0
    high: ClassVar[float] = 1.0

    def value(self, y: Targets, z: FloatArray) -> FloatArray:
        excess = np.maximum(0.0, np.abs(z - y) - self.epsilon)
        a = np.clip(excess / self.width, 0.0, 1.0)
        return a * excess - self.width * a * a / 2

    def derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        return np.clip(_soft(z - y, self.epsilon) / self.width, -1.0, 1.0)

    def second_derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        excess = np.abs(z - y) - self.epsilon
        is_bent = (excess < self.width) & (
            (excess > 0) | (self.epsilon == 0)
        )  # without a tube, no flat inside
        return np.where(is_bent, 1 / self.width, 0.0)

    def conjugate(self, y: Targets, u: FloatArray) -> FloatArray:
        return _inside(np.abs(u) <= 1, u * y + self.epsilon * np.abs(u) + self.width * u * u / 2)

    @property
    def native(self) -> Any:
        return _core.SmoothedEpsilonInsensitive(self.epsilon, self.width)


@dataclass(frozen=True)
class SmoothedQuantile(_Rounded, _RegressionLoss):
    """Quantile with its kink rounded over a width mu."""

    q: float
    width: float

    def domain(self, y: Targets) -> tuple[FloatArray, FloatArray]:
        return Quantile(self.q).domain(y)

    def value(self, y: Targets, z: FloatArray) -> FloatArray:
        u = self.derivative(y, z)
        return u * (z - y) - self.width * u * u / 2

    def derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        return np.clip((z - y) / self.width, -self.q, 1 - self.q)

    def second_derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        scaled = (z - y) / self.width
        return np.where((scaled > -self.q) & (scaled < 1 - self.q), 1 / self.width, 0.0)

    def conjugate(self, y: Targets, u: FloatArray) -> FloatArray:
        return _inside((u >= -self.q) & (u <= 1 - self.q), u * y + self.width * u * u / 2)

    @property
    def native(self) -> Any:
        return _core.SmoothedQuantile(self.q, self.width)


@dataclass(frozen=True)
class ZeroOne:
    """1 where sign(z) differs from y, with sign(0) = +1: for evaluation; nothing can minimise it."""

    def value(self, y: Targets, z: FloatArray) -> FloatArray:
        """0 or 1."""
        return np.where(np.where(np.asarray(z) >= 0, 1.0, -1.0) == y, 0.0, 1.0)
