"""The problems of kernel machines as they are printed: P, D and the conditions that tie them, in NumPy.

Solvers know one dual problem (:mod:`lineal.solvers.kernel_dual.duals`); here every machine has its own
formulas, so that what is proved with them owes nothing to the solver. Coefficients are beta, one for each
row: f = K beta, and ``squared`` is |f|^2 = beta'K beta. P and D are in units in which the penalty is
|f|^2 / 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lineal.objective.losses import FloatArray

Mask = NDArray[np.bool_]

# Coefficients are at their bound when this near, as a share of it: those of equal rows were dealt out.
_AT_THE_BOUND = 1e-9
# What sums in another order may do to a score at a margin of 1.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Conditions:
    """Which rows are where, and by how much the conditions of Karush, Kuhn and Tucker are missed there.

    Attributes
    ----------
    at_zero, on_margin, at_bound : int
        Rows whose coefficient is 0, between its bounds, and at its bound; those without weight are left out.
    worst_at_zero, worst_on_margin, worst_at_bound : float
        The most by which a score is on the wrong side of its margin (its tube's edge, the border) there, in
        units of scores: rows at 0 should be beyond it, free ones on it, those at the bound short of it.
    outside : float
        The most by which a coefficient is beyond its bounds.
    imbalance : float
        By how much the sum of coefficients is not what it should be.
    """

    at_zero: int
    on_margin: int
    at_bound: int
    worst_at_zero: float
    worst_on_margin: float
    worst_at_bound: float
    outside: float
    imbalance: float

    @property
    def worst(self) -> float:
        """The worst of the three kinds."""
        return max(self.worst_at_zero, self.worst_on_margin, self.worst_at_bound)

    def __str__(self) -> str:
        return (
            f"{self.at_zero} rows at 0 (worst {self.worst_at_zero:.2e}), {self.on_margin} on the margin "
            f"(worst {self.worst_on_margin:.2e}), {self.at_bound} at the bound (worst "
            f"{self.worst_at_bound:.2e}); coefficients are {self.outside:.2e} beyond their bounds and their "
            f"sum is {self.imbalance:.2e} off"
        )


class MachineProblem(Protocol):
    """What a proof asks of a machine's problem."""

    def primal(self, squared: float, f: FloatArray) -> float:
        """P at a model with these scores, thresholds left out of them."""

    def feasible(self, beta: FloatArray) -> FloatArray:
        """The coefficients, put right where they are out of bounds or do not sum up."""

    def dual(self, beta: FloatArray, squared: float) -> float:
        """D at the best multiple of feasible coefficients that is feasible."""

    def conditions(self, beta: FloatArray, f: FloatArray) -> Conditions:
        """What holds of the model's own coefficients and scores."""


@dataclass(frozen=True, eq=False)
class Separation:
    """|f|^2 / 2 + sum_i bound_i max(0, 1 - y_i (f_i + b)): two classes, y = -1 and +1.

    D = sum_i y_i beta_i - |f|^2 / 2, 0 <= y_i beta_i <= bound_i, sum beta = 0. With infinite bounds P is
    |f|^2 / 2 where every y (f + b) >= 1, which stretching f and b sees to.
    """

    y: FloatArray
    bound: FloatArray
    b: float

    def primal(self, squared: float, f: FloatArray) -> float:
        reached = self.y * (f + self.b)
        least = min(float(reached.min()), 1.0)
        stretched = 0.5 * squared / least**2 if least > 0 else np.inf
        if np.isinf(self.bound).all():
            return stretched
        primal = 0.5 * squared + float(self.bound @ np.maximum(0.0, 1.0 - reached))
        # Where no row has slack but by rounding, a large price would make much of that.
        return min(primal, stretched) if least > 1.0 - _ROUNDING else primal

    def feasible(self, beta: FloatArray) -> FloatArray:
        return balanced(self.y * np.clip(self.y * beta, 0.0, self.bound))

    def dual(self, beta: FloatArray, squared: float) -> float:
        return best_multiple(float(self.y @ beta), squared, room(beta, self.bound))

    def conditions(self, beta: FloatArray, f: FloatArray) -> Conditions:
        alpha, short = self.y * beta, 1.0 - self.y * (f + self.b)
        outside = max(0.0, float(np.max(alpha - self.bound)), float(np.max(-alpha)))
        return told(alpha, self.bound, short, outside, abs(float(beta.sum())))


@dataclass(frozen=True, eq=False)
class Tube:
    """|f|^2 / 2 + price epsilon + sum_i bound_i max(0, |t_i - f_i - b| - epsilon): a regression.

    D = sum_i t_i beta_i - epsilon |beta|_1 - |f|^2 / 2, |beta_i| <= bound_i, sum beta = 0, for a given
    epsilon (price 0). Where epsilon is found, too, its term in D gives way to |beta|_1 <= price.
    """

    t: FloatArray
    bound: FloatArray
    b: float
    epsilon: float
    price: float = 0.0

    def primal(self, squared: float, f: FloatArray) -> float:
        beyond = np.maximum(0.0, np.abs(self.t - f - self.b) - self.epsilon)
        return 0.5 * squared + self.price * self.epsilon + float(self.bound @ beyond)

    def feasible(self, beta: FloatArray) -> FloatArray:
        inside = balanced(np.clip(beta, -self.bound, self.bound))
        total = float(np.abs(inside).sum())
        return inside * (self.price / total) if 0 < self.price < total else inside

    def dual(self, beta: FloatArray, squared: float) -> float:
        size, most = float(np.abs(beta).sum()), room(beta, self.bound)
        if self.price == 0:
            return best_multiple(float(self.t @ beta) - self.epsilon * size, squared, most)
        return best_multiple(float(self.t @ beta), squared, min(most, self.price / size if size > 0 else 0.0))

    def conditions(self, beta: FloatArray, f: FloatArray) -> Conditions:
        left = self.t - f - self.b
        side = np.where(beta != 0, np.sign(beta), np.sign(left))
        outside = max(0.0, float(np.max(np.abs(beta) - self.bound)))
        return told(np.abs(beta), self.bound, side * left - self.epsilon, outside, abs(float(beta.sum())))


@dataclass(frozen=True, eq=False)
class Region:
    """|f|^2 / 2 - rho total + sum_i s_i max(0, rho - f_i): one class.

    D = -|f|^2 / 2, 0 <= beta_i <= s_i, sum beta = total.
    """

    s: FloatArray
    total: float
    rho: float

    def primal(self, squared: float, f: FloatArray) -> float:
        return 0.5 * squared - self.rho * self.total + float(self.s @ np.maximum(0.0, self.rho - f))

    def feasible(self, beta: FloatArray) -> FloatArray:
        inside = np.clip(beta, 0.0, self.s)
        missing, space = self.total - float(inside.sum()), self.s - inside
        if missing <= 0:
            return np.asarray(inside * (self.total / float(inside.sum())))
        return np.asarray(inside + missing * space / float(space.sum()))

    def dual(self, beta: FloatArray, squared: float) -> float:
        return -0.5 * squared

    def conditions(self, beta: FloatArray, f: FloatArray) -> Conditions:
        outside = max(0.0, float(np.max(beta - self.s)), float(np.max(-beta)))
        return told(beta, self.s, self.rho - f, outside, abs(float(beta.sum()) - self.total))


def balanced(beta: FloatArray) -> FloatArray:
    """Coefficients whose sum is 0, up to one rounding: the heavier side is scaled down."""
    up, down = float(beta[beta > 0].sum()), -float(beta[beta < 0].sum())
    if up == down or up == 0 or down == 0:
        return beta if up == down else np.zeros_like(beta)
    light, is_heavy = min(up, down), beta > 0 if up > down else beta < 0
    return np.where(is_heavy, beta * (light / max(up, down)), beta)


def room(beta: FloatArray, bound: FloatArray) -> float:
    """The largest multiple of coefficients that is within bounds."""
    used = beta != 0
    return float(np.min(bound[used] / np.abs(beta[used]), initial=np.inf))


def best_multiple(linear: float, squared: float, most: float) -> float:
    """The largest c linear - c^2 squared / 2 for 0 <= c <= most."""
    if linear <= 0:
        return 0.0
    factor = min(linear / squared if squared > 0 else np.inf, most)
    return factor * linear - 0.5 * factor**2 * squared if np.isfinite(factor) else 0.0


def told(
    size: FloatArray, bound: FloatArray, short: FloatArray, outside: float, imbalance: float
) -> Conditions:
    """Rows by the size of their coefficient; ``short`` is by how much each misses its margin."""
    at_zero = (size <= 0) & (bound > 0)  # rows without weight have no say
    at_bound = (size > 0) & (size >= bound * (1 - _AT_THE_BOUND))
    free = (size > 0) & ~at_bound

    def worst(rows: Mask, miss: FloatArray) -> float:
        return float(np.max(miss[rows], initial=0.0))

    return Conditions(
        int(at_zero.sum()), int(free.sum()), int(at_bound.sum()), worst(at_zero, short),
        worst(free, np.abs(short)), worst(at_bound, -short), outside, imbalance,
    )  # fmt: skip
