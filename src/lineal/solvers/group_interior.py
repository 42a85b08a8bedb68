"""The dual of :mod:`lineal.solvers.group_smo` from the inside: few steps, each a factorisation.

::

    min  a'Q a / 2 - sum a     over a >= 0,   sum_{i in g} a_i <= cost_g,   sum_i a_i y_i = 0,    Q = yy' * K

Pairs of variables creep where K has a low rank and costs are high; Newton's method on the optimality
conditions, with products of constraints and multipliers pushed to 0, does not care.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.cancellation import is_over
from lineal.deferred import linalg
from lineal.objective.losses import FloatArray

_MOST_STEPS = 60
# How far to the next bound a step goes.
_REACH = 0.995


def interior_point(
    K: FloatArray, y: FloatArray, group: NDArray[np.intp], cost: FloatArray, *, tol: float
) -> FloatArray:
    """A point inside the dual's domain within about ``tol`` (relative) of its maximum.

    Notes
    -----
    Needs costs > 0. Guarantees nothing by itself: the caller certifies. A step factorises an n x n matrix;
    some 10 to 30 are needed whatever the data. Published: Mehrotra 1992.
    """
    n, G = len(y), len(cost)
    Q = K * np.outer(y, y)
    is_same = group[:, None] == group[None, :]
    # Half of what is allowed, unless that is far beyond where one row by itself would end.
    allowed = cost[group] / (2.0 * np.bincount(group, minlength=G)[group])
    a = np.minimum(allowed, 1.0 / max(float(np.diagonal(K).max()), 1e-300))
    s = cost - np.bincount(group, weights=a, minlength=G)
    z, lam, nu = np.ones(n), np.ones(G), 0.0
    for _ in range(_MOST_STEPS):
        if is_over():
            break
        gradient, leak = Q @ a - 1 - z + lam[group] + nu * y, float(y @ a)
        mu, scale = (float(a @ z) + float(s @ lam)) / (n + G), max(float(a.sum()), 1e-300)
        if mu * (n + G) <= tol * scale and np.abs(gradient).max() <= 1e-6 and abs(leak) <= tol * scale:
            break
        H = Q + is_same * (lam / s)[group][:, None]
        H[np.diag_indices(n)] += z / a
        try:
            factor = linalg.cho_factor(H, lower=True)
        except np.linalg.LinAlgError:
            break  # as close as the arithmetic comes
        newton = _Newton(factor, y, group, gradient, leak, a, s, z, lam)
        guess = newton.step(np.zeros(n), np.zeros(G))
        there = guess.moved(newton, _length(newton, guess))
        centre = mu * ((float(there.a @ there.z) + float(there.s @ there.lam)) / ((n + G) * mu)) ** 3
        step = newton.step(centre - guess.a * guess.z, centre - guess.s * guess.lam)
        t = _REACH * _length(newton, step)
        there = step.moved(newton, t)
        a, s, z, lam, nu = there.a, there.s, there.z, there.lam, nu + t * step.nu
    return a


@dataclass(frozen=True, eq=False)
class _Move:
    """a, what is left of the costs, and multipliers; or changes of these."""

    a: FloatArray
    s: FloatArray
    z: FloatArray
    lam: FloatArray
    nu: float

    def moved(self, start: _Newton, t: float) -> _Move:
        """Where t times these changes lead."""
        return _Move(
            start.a + t * self.a, start.s + t * self.s, start.z + t * self.z, start.lam + t * self.lam, 0.0
        )


@dataclass(frozen=True, eq=False)
class _Newton:
    """The optimality conditions, linearised at a point."""

    factor: Any
    y: FloatArray
    group: NDArray[np.intp]
    gradient: FloatArray
    leak: float
    a: FloatArray
    s: FloatArray
    z: FloatArray
    lam: FloatArray

    def step(self, bound: FloatArray, side: FloatArray) -> _Move:
        """Changes after which a z = bound and s lam = side, to first order."""
        push, pull = bound - self.a * self.z, side - self.s * self.lam
        first = linalg.cho_solve(self.factor, push / self.a - self.gradient - (pull / self.s)[self.group])
        by_y = linalg.cho_solve(self.factor, self.y)
        nu = (float(self.y @ first) + self.leak) / float(self.y @ by_y)
        a = first - nu * by_y
        s = np.asarray(-np.bincount(self.group, weights=a, minlength=len(self.s)), dtype=np.float64)
        return _Move(a, s, (push - self.z * a) / self.a, (pull - self.lam * s) / self.s, nu)


def _length(start: _Newton, step: _Move) -> float:
    """How far one can go, at most 1, until an entry is 0."""
    point = np.concatenate([start.a, start.s, start.z, start.lam])
    direction = np.concatenate([step.a, step.s, step.z, step.lam])
    falls = direction < 0
    return min(1.0, float((-point[falls] / direction[falls]).min(initial=1.0 / _REACH)))
