"""Penalties on the weights, with the strength inside.

Each is a frozen value object: the value, the proximal step, the conjugate ``R*(v) = max_w v.w - R(w)``
(as one number for each term of the sum, so that the gap can be told term by term), and the derivative where
there is one. Strengths multiply a *sum* of losses, so they do not change meaning with the weights of rows.

A penalty is asked about weights of shape (d, K), a row for each column of X, or (d,), one for each. It says
what it is made of, so that nobody has to ask for its class::

    R(w) = sum_j l1_j |w_j| + l2_j / 2 w_j^2        where ``is_elastic``
    R(W) = strength sum_g weight_g |W_g|            where ``has_groups``

``l1`` and ``l2`` are its parts: numbers, or arrays with one entry for each column; the groups are those of
``grouping``. The other declarations
(``is_smooth``, ``has_corners``, ``is_ridge`` ...) are what solvers choose by.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lineal.errors import ParameterError
from lineal.objective.grouping import Grouping
from lineal.objective.losses import FloatArray, _soft, as_number

# Sums walk over weights in pieces that stay in a cache.
_PIECE = 1 << 15
# Below this p the curvature of |w|^p at 0 explodes, and steps of second order with it.
_LEAST_P_WITH_CURVATURE = 1.2
# Under a penalty without corners, weights are nearly 0 when W = 0 is so close to the optimum.
_NEAR = 0.01

# One number for all columns, or one for each.
Part = float | FloatArray


def _positive(name: str, value: float) -> None:
    if not 0 < as_number(value) < np.inf:
        raise ParameterError(
            f"{name} must be a positive finite number, got {value!r}. For no penalty use NoPenalty()."
        )


def pieces(array: FloatArray) -> Iterator[FloatArray]:
    """An array's entries in float64, in flat pieces that fit a cache."""
    if array.size <= _PIECE:
        yield array.ravel().astype(np.float64, copy=False)
        return
    array = np.atleast_2d(array)
    n_rows = max(1, _PIECE // max(1, array.shape[1]))
    for first in range(0, max(1, len(array)), n_rows):
        yield np.ravel(array[first : first + n_rows]).astype(np.float64, copy=False)


@dataclass(frozen=True)
class Penalty(ABC):
    """What every penalty states. ``terms`` and ``conjugate_terms`` sum to R and R*.

    Attributes
    ----------
    l1, l2 : float or array
        The parts of an elastic penalty.
    is_smooth : bool
        Whether R is differentiable.
    is_elastic : bool
        Whether R is made of its parts l1 and l2 alone.
    has_corners : bool
        Whether R has the kinks of |w|, and no others: it is smooth in every orthant.
    is_ridge : bool
        Whether R is l2 / 2 |w|^2 with one l2 > 0 for all weights, and nothing else.
    is_strongly_convex : bool
        Whether R has an l2 > 0 for every weight.
    is_zero : bool
        Whether nothing is penalised at all.
    has_bounded_curvature : bool
        Whether the second derivative stays bounded where weights vanish, as Newton's method needs.
    has_free_columns : bool
        Whether some columns cost nothing, so that V must be 0 there.
    is_bounded : bool
        Whether the conjugate is finite on a bounded set only, into which ``scaling`` brings dual points.
    is_uniform : bool
        Whether R treats all weights alike, so that they may be asked about in any order and in parts.
    is_by_weight : bool
        Whether R is a sum over weights, so that its Hessian is diagonal and outputs do not meet in it.
    has_groups : bool
        Whether R is a sum of norms of groups of columns, the weights of all outputs together.
    """

    l1: ClassVar[Any] = 0.0
    l2: ClassVar[Any] = 0.0
    is_smooth: ClassVar[bool] = False
    is_elastic: ClassVar[bool] = False
    has_corners: ClassVar[bool] = False
    is_ridge: ClassVar[bool] = False
    is_strongly_convex: ClassVar[bool] = False
    is_zero: ClassVar[bool] = False
    has_bounded_curvature: ClassVar[bool] = True
    has_free_columns: ClassVar[bool] = False
    is_bounded: ClassVar[bool] = False
    is_uniform: ClassVar[bool] = True
    is_by_weight: ClassVar[bool] = True
    has_groups: ClassVar[bool] = False

    @abstractmethod
    def terms(self, w: FloatArray) -> FloatArray:
        """R(w), term by term: a term for each weight, or for each group of weights."""

    @abstractmethod
    def conjugate_terms(self, v: FloatArray) -> FloatArray:
        """R*(v), term by term; +inf outside the domain."""

    @abstractmethod
    def prox(self, w: FloatArray, step: float | FloatArray) -> FloatArray:
        """argmin over x of R(x) + |x - w|^2 / (2 step); a step for each weight, or one for all."""

    @abstractmethod
    def derivative(self, w: FloatArray) -> FloatArray:
        """The slope of R where R has one; 0 at a kink."""

    @abstractmethod
    def second_derivative(self, w: FloatArray) -> FloatArray:
        """The curvature of R where R has one, weight by weight."""

    @abstractmethod
    def at_strength(self, strength: float) -> Penalty:
        """The same kind of penalty, so strong."""

    def value(self, w: FloatArray) -> float:
        """R(w)."""
        return float(self.terms(w).sum())

    def __call__(self, w: FloatArray) -> float:
        """R(w): a penalty is a function."""
        return self.value(np.asarray(w, dtype=float))

    def conjugate(self, v: FloatArray) -> float:
        """R*(v)."""
        return float(self.conjugate_terms(v).sum())

    def residuals(self, w: FloatArray, v: FloatArray) -> FloatArray:
        """R(w) + R*(-v) + w.v, term by term: each is >= 0, and 0 where -v is a slope of R at w."""
        return self.terms(w) + self.conjugate_terms(-v) + w * v

    def scaling(self, v: FloatArray) -> float:
        """The largest factor in [0, 1] that brings v into the domain of the conjugate."""
        return 1.0

    def take(self, columns: NDArray[np.int64] | slice) -> Penalty:
        """The penalty on the weights of those columns alone."""
        return self

    def for_columns(self, n_columns: int, names: Sequence[str] | None = None) -> Penalty:
        """The penalty of so many columns with these names; raises ParameterError where they do not suit."""
        return self

    @property
    def on_intercept(self) -> Penalty | None:
        """What it says of the intercept by itself; None where it says nothing."""
        return None

    def for_constants(self, n_outputs: int) -> Penalty:
        """The penalty of the intercepts of so many outputs, where they are penalised too."""
        return self

    def grouping(self, n_columns: int) -> Grouping:
        """The groups of a penalty that has them."""
        raise NotImplementedError(f"{self} has no groups")

    def free_columns(self, n_columns: int) -> NDArray[np.bool_] | None:
        """(d,) which columns cost nothing, so that V must be 0 there; None where all cost something."""
        return np.ones(n_columns, dtype=bool) if self.has_free_columns else None

    def are_off_kinks(self, w: FloatArray) -> NDArray[np.bool_]:
        """Which weights may move without meeting a kink of R: under L1 those that are not 0."""
        return np.abs(w) > 0 if self.has_corners else np.ones(w.shape, dtype=bool)

    def violations(self, w: FloatArray, gradient: FloatArray) -> FloatArray:
        """How far the condition 0 in gradient + dR(w) is from holding, weight by weight or group by group."""
        return np.abs(gradient + self.derivative(w))

    def slopes_at_0(self, n_columns: int) -> FloatArray:
        """How steep R is where weights leave 0, column by column or group by group."""
        return self.l1 if isinstance(self.l1, np.ndarray) else np.full(n_columns, self.l1)

    def hessian_product(self, w: FloatArray, m: FloatArray) -> FloatArray:
        """R''(w) m, for weights off their kinks."""
        return self.second_derivative(w) * m

    def add_hessian(self, H: FloatArray, w: FloatArray) -> None:
        """Adds R''(w) to the leading block of a matrix in the weights, row by row."""
        places = np.arange(w.size)
        H[places, places] += self.second_derivative(w).ravel()

    def largest_strength(self, V: FloatArray, loss: float) -> float:
        """See :func:`lineal.objective.strengths.largest_strength`; V = X'S U and F at the best constants."""
        raise ParameterError(f"{self} has no strength to vary: use L2, L1, ElasticNet, Lp or GroupL2.")

    # ---- all weights, however many ------------------------------------------------------------

    def total(self, W: FloatArray) -> float:
        """R(W) in float64, whatever W is."""
        if not self.is_uniform:
            return self.value(W.astype(np.float64, copy=False))
        if W.size <= _PIECE:
            return self.value(W.ravel().astype(np.float64, copy=False))
        return sum(self.value(piece) for piece in pieces(W))

    def conjugate_total(self, V: FloatArray) -> float:
        """R*(V)."""
        if not self.is_uniform:
            return self.conjugate(V)
        if V.size <= _PIECE:
            return self.conjugate(V.ravel())
        return sum(self.conjugate(piece) for piece in pieces(V))

    def worst_residual(self, W: FloatArray, V: FloatArray) -> float:
        """The largest of ``residuals``."""
        if not self.is_uniform or W.size <= _PIECE:
            return float(self.residuals(W.astype(np.float64, copy=False), V).max(initial=0.0))
        both = zip(pieces(W), pieces(V), strict=True)
        return max((float(self.residuals(w, v).max(initial=0.0)) for w, v in both), default=0.0)


class _Elastic(Penalty):
    """The formulas of the parts l1 and l2, which a subclass has."""

    is_elastic: ClassVar[bool] = True

    def violations(self, w: FloatArray, gradient: FloatArray) -> FloatArray:
        l1, l2 = _by_row(self.l1, w), _by_row(self.l2, w)
        slope = gradient if isinstance(l2, float) and l2 == 0.0 else gradient + l2 * w
        size = np.abs(slope + l1 * np.sign(w))
        return np.where(w != 0, size, np.maximum(size - l1, 0.0))


def _by_row(part: Part, w: FloatArray) -> Any:
    """A part beside weights of shape (d, K) or (d,)."""
    return part[:, None] if isinstance(part, np.ndarray) and w.ndim == 2 else part


@dataclass(frozen=True)
class L2(_Elastic):
    """strength / 2 * sum_j w_j^2."""

    strength: float = 1.0
    is_smooth: ClassVar[bool] = True
    is_ridge: ClassVar[bool] = True
    is_strongly_convex: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _positive("L2(strength)", self.strength)

    @property
    def l2(self) -> float:
        """The strength."""
        return self.strength

    def terms(self, w: FloatArray) -> FloatArray:
        return self.strength / 2 * w * w

    def conjugate_terms(self, v: FloatArray) -> FloatArray:
        return v * v / (2 * self.strength)

    def prox(self, w: FloatArray, step: float | FloatArray) -> FloatArray:
        return w / (1 + step * self.strength)

    def derivative(self, w: FloatArray) -> FloatArray:
        return self.strength * w

    def second_derivative(self, w: FloatArray) -> FloatArray:
        return np.full_like(w, self.strength)

    def at_strength(self, strength: float) -> Penalty:
        return replace(self, strength=strength)

    def largest_strength(self, V: FloatArray, loss: float) -> float:
        return _nearly_zero_from(V, loss, 2.0)


@dataclass(frozen=True)
class L1(_Elastic):
    """strength * sum_j |w_j|."""

    strength: float = 1.0
    has_corners: ClassVar[bool] = True
    is_bounded: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _positive("L1(strength)", self.strength)

    @property
    def l1(self) -> float:
        """The strength."""
        return self.strength

    def terms(self, w: FloatArray) -> FloatArray:
        return self.strength * np.abs(w)

    def conjugate_terms(self, v: FloatArray) -> FloatArray:
        # The last bits of a sum may carry v over the edge that scaling() put it on.
        return np.where(np.abs(v) <= self.strength * (1 + 1e-12), 0.0, np.inf)

    def prox(self, w: FloatArray, step: float | FloatArray) -> FloatArray:
        return _soft(w, step * self.strength)

    def derivative(self, w: FloatArray) -> FloatArray:
        return self.strength * np.sign(w)

    def second_derivative(self, w: FloatArray) -> FloatArray:
        return np.zeros_like(w)

    def scaling(self, v: FloatArray) -> float:
        largest = float(np.abs(v).max(initial=0.0))
        return 1.0 if largest <= self.strength else self.strength / largest

    def at_strength(self, strength: float) -> Penalty:
        return replace(self, strength=strength)

    def largest_strength(self, V: FloatArray, loss: float) -> float:
        return float(np.abs(V).max(initial=0.0))


@dataclass(frozen=True)
class ElasticNet(_Elastic):
    """l1 * sum_j |w_j| + l2 / 2 * sum_j w_j^2."""

    l1: float = 0.5  # type: ignore[misc]
    l2: float = 0.5  # type: ignore[misc]
    has_corners: ClassVar[bool] = True
    is_strongly_convex: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _positive("ElasticNet(l1)", self.l1)
        _positive("ElasticNet(l2)", self.l2)

    def terms(self, w: FloatArray) -> FloatArray:
        return self.l1 * np.abs(w) + self.l2 / 2 * w * w

    def conjugate_terms(self, v: FloatArray) -> FloatArray:
        return _soft(v, self.l1) ** 2 / (2 * self.l2)

    def prox(self, w: FloatArray, step: float | FloatArray) -> FloatArray:
        return _soft(w, step * self.l1) / (1 + step * self.l2)

    def derivative(self, w: FloatArray) -> FloatArray:
        return self.l1 * np.sign(w) + self.l2 * w

    def second_derivative(self, w: FloatArray) -> FloatArray:
        return np.full_like(w, self.l2)

    @property
    def strength(self) -> float:
        """l1 + l2."""
        return self.l1 + self.l2

    def at_strength(self, strength: float) -> Penalty:
        """The ratio of l1 to l2 stays."""
        share = self.l1 / self.strength
        return ElasticNet(share * strength, (1 - share) * strength)

    def largest_strength(self, V: FloatArray, loss: float) -> float:
        return float(np.abs(V).max(initial=0.0)) / (self.l1 / self.strength)


@dataclass(frozen=True)
class Lp(Penalty):
    """strength / p * sum_j |w_j|^p for p > 1; equals L2 at p = 2."""

    strength: float = 1.0
    p: float = 1.5
    is_smooth: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _positive("Lp(strength)", self.strength)
        if not 1 < as_number(self.p) < np.inf:
            raise ParameterError(f"Lp needs a finite p > 1, got {self.p!r}. For p = 1 use L1(strength).")

    @property
    def has_bounded_curvature(self) -> bool:  # type: ignore[override]
        """Bounded in effect: for p a little below 2 it explodes only where weights are next to nothing."""
        return self.p >= _LEAST_P_WITH_CURVATURE

    def terms(self, w: FloatArray) -> FloatArray:
        return self.strength / self.p * np.abs(w) ** self.p

    def conjugate_terms(self, v: FloatArray) -> FloatArray:
        q = self.p / (self.p - 1)
        return self.strength ** (1 - q) / q * np.abs(v) ** q

    def prox(self, w: FloatArray, step: float | FloatArray) -> FloatArray:
        """The root x of x + step strength x^(p-1) = |w|, signed."""
        # In x for p >= 2, in y = x^(p-1) below, the equation's left side is t^power + slope t, convex for
        # t >= 0 up to its factors: Newton's steps from the right fall to the root and never pass it.
        target, pull = np.abs(w), np.broadcast_to(step * self.strength, np.shape(w))
        is_steep = self.p >= 2
        power = self.p - 1 if is_steep else 1 / (self.p - 1)
        bend, slope = (pull, np.ones_like(target)) if is_steep else (np.ones_like(target), pull)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            t = np.fmin((target / bend) ** (1 / power), target / slope)
            for _ in range(100):
                excess = bend * t**power + slope * t - target
                following = t - excess / (bend * power * t ** (power - 1) + slope)
                if not np.any(following < t):
                    break
                t = np.fmin(following, t)
        x = np.maximum(t, 0.0) if is_steep else np.maximum(t, 0.0) ** power
        return np.sign(w) * x

    def derivative(self, w: FloatArray) -> FloatArray:
        return self.strength * np.sign(w) * np.abs(w) ** (self.p - 1)

    def second_derivative(self, w: FloatArray) -> FloatArray:
        # Below p = 2 the curvature grows without bound at 0; a floor on |w| keeps it a number.
        size = np.maximum(np.abs(w), 1e-8) if self.p < 2 else np.abs(w)
        return self.strength * (self.p - 1) * size ** (self.p - 2)

    def at_strength(self, strength: float) -> Penalty:
        return replace(self, strength=strength)

    def largest_strength(self, V: FloatArray, loss: float) -> float:
        return _nearly_zero_from(V, loss, self.p)


@dataclass(frozen=True)
class NoPenalty(_Elastic):
    """0: the data alone decide."""

    is_smooth: ClassVar[bool] = True
    is_zero: ClassVar[bool] = True
    has_free_columns: ClassVar[bool] = True

    def terms(self, w: FloatArray) -> FloatArray:
        return np.zeros_like(w)

    def conjugate_terms(self, v: FloatArray) -> FloatArray:
        return np.where(v == 0, 0.0, np.inf)

    def prox(self, w: FloatArray, step: float | FloatArray) -> FloatArray:
        return w

    def derivative(self, w: FloatArray) -> FloatArray:
        return np.zeros_like(w)

    def second_derivative(self, w: FloatArray) -> FloatArray:
        return np.zeros_like(w)

    def violations(self, w: FloatArray, gradient: FloatArray) -> FloatArray:
        return np.abs(gradient)

    def at_strength(self, strength: float) -> Penalty:
        raise ParameterError("NoPenalty() has no strength to vary: use L2, L1, ElasticNet, Lp or GroupL2.")


def _nearly_zero_from(V: FloatArray, loss: float, p: float) -> float:
    """The strength of Lp at which W = 0 is within a hundredth of the optimum, given V and F there."""
    size, q = np.abs(V), p / (p - 1)
    largest, allowed = float(size.max(initial=0.0)), q * _NEAR * loss
    if largest == 0.0 or allowed == 0.0:
        return 0.0
    # The largest entry is taken out of the sum: near p = 1 the power q overflows. (q (p - 1) = p)
    return float(largest**p * (np.sum((size / largest) ** q) / allowed) ** (p - 1))
