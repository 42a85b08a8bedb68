"""Penalties on the weights, with the strength inside.

Each is a frozen value object: the value, the proximal step, the conjugate ``R*(v) = max_w v.w - R(w)``
(as one number per weight, so that the gap can be told weight by weight), and the derivative where there
is one. Strengths multiply a *sum* of losses, so they do not change meaning with the weights of rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from lineal.errors import ParameterError
from lineal.objective.losses import FloatArray, _soft, as_number


def _positive(name: str, value: float) -> None:
    if not 0 < as_number(value) < np.inf:
        raise ParameterError(
            f"{name} must be a positive finite number, got {value!r}. For no penalty use NoPenalty()."
        )


@dataclass(frozen=True)
class Penalty(ABC):
    """What every penalty states. ``terms`` and ``conjugate_terms`` are per weight; they sum to R and R*."""

    is_smooth: ClassVar[bool] = False

    @abstractmethod
    def terms(self, w: FloatArray) -> FloatArray:
        """R(w), weight by weight."""

    @abstractmethod
    def conjugate_terms(self, v: FloatArray) -> FloatArray:
        """R*(v), weight by weight; +inf outside the domain."""

    @abstractmethod
    def prox(self, w: FloatArray, step: float | FloatArray) -> FloatArray:
        """argmin over x of R(x) + |x - w|^2 / (2 step); a step for each weight, or one for all."""

    @abstractmethod
    def derivative(self, w: FloatArray) -> FloatArray:
        """The slope of R where R has one; 0 at a kink."""

    @abstractmethod
    def second_derivative(self, w: FloatArray) -> FloatArray:
        """The curvature of R where R has one."""

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

    def scaling(self, v: FloatArray) -> float:
        """The largest factor in [0, 1] that brings v into the domain of the conjugate."""
        return 1.0


@dataclass(frozen=True)
class L2(Penalty):
    """strength / 2 * sum_j w_j^2."""

    strength: float = 1.0
    is_smooth: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _positive("L2(strength)", self.strength)

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


@dataclass(frozen=True)
class L1(Penalty):
    """strength * sum_j |w_j|."""

    strength: float = 1.0

    def __post_init__(self) -> None:
        _positive("L1(strength)", self.strength)

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


@dataclass(frozen=True)
class ElasticNet(Penalty):
    """l1 * sum_j |w_j| + l2 / 2 * sum_j w_j^2."""

    l1: float = 0.5
    l2: float = 0.5

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


@dataclass(frozen=True)
class NoPenalty(Penalty):
    """0: the data alone decide."""

    is_smooth: ClassVar[bool] = True

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

    def at_strength(self, strength: float) -> Penalty:
        raise ParameterError("NoPenalty() has no strength to vary: use L2, L1, ElasticNet or Lp.")
