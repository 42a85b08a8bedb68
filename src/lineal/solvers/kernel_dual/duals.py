"""Duals of kernel machines, written as one problem.

    maximise  sum_v c_v beta_v - beta'K beta / 2,   lo <= beta <= hi,   the sum of beta fixed in every group,

where a variable v stands on an item. With f = K beta and v = c - f, thresholds b (one a group) give

    P - D = sum_v (beta_v - lo_v) max(b - v_v, 0) + (hi_v - beta_v) max(v_v - b, 0).

Every machine below says what its P is, in units in which the penalty is |w|^2 / 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.objective.losses import FloatArray

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Dual:
    """A dual problem: variables that stand on items.

    Attributes
    ----------
    item : (m,) int64
    group : (m,) int32
        Whose sum of coefficients is kept.
    c, lo, hi : (m,)
        One of lo and hi is 0.
    start : (m,)
        Coefficients with the right sums.
    """

    item: IntArray
    group: NDArray[np.int32]
    c: FloatArray
    lo: FloatArray
    hi: FloatArray
    start: FloatArray

    def free(self, beta: FloatArray) -> NDArray[np.bool_]:
        """Which coefficients are at neither bound, by more than rounding."""
        room = self.hi - self.lo
        speck = np.where(np.isfinite(room), 1e-12 * room, 0.0)
        return np.asarray((beta - self.lo > speck) & (self.hi - beta > speck))

    def terms(self, beta: FloatArray, f: FloatArray, b: FloatArray, doubt: float = 0.0) -> FloatArray:
        """(m,) of the gap, at thresholds b, one a group, where an f may be off by so much; 0 times an
        infinite room is 0.
        """
        ahead = np.asarray(b)[self.group] - (self.c - f)
        down, up = np.maximum(ahead + doubt, 0.0), np.maximum(doubt - ahead, 0.0)
        return np.asarray(
            np.where((beta > self.lo) & (down > 0), beta - self.lo, 0.0) * down
            + np.where((beta < self.hi) & (up > 0), self.hi - beta, 0.0) * up
        )

    def scaled(self, factor: float) -> Dual:
        """The same problem with other bounds, begun from coefficients in proportion."""
        return Dual(self.item, self.group, self.c, factor * self.lo, factor * self.hi, factor * self.start)


def sums_by(places: NDArray[Any], values: FloatArray, n: int) -> FloatArray:
    """(n,) sums of the values at each place."""
    return np.asarray(np.bincount(places, weights=values, minlength=n), dtype=np.float64)


def _one_group(m: int) -> NDArray[np.int32]:
    return np.zeros(m, dtype=np.int32)


def classification(y: FloatArray, bound: FloatArray, item: IntArray | None = None) -> Dual:
    """P = |w|^2 / 2 + sum_i bound_i max(0, 1 - y_i (f_i + b)), y in {-1, +1}.

    beta_i = y_i alpha_i. An infinite bound is a hard margin.
    """
    n = len(y)
    lo, hi = np.where(y > 0, 0.0, -bound), np.where(y > 0, bound, 0.0)
    place = np.arange(n, dtype=np.int64) if item is None else item
    return Dual(place, _one_group(n), y.astype(np.float64), lo, hi, np.zeros(n))


def regression(t: FloatArray, epsilon: float, bound: FloatArray) -> Dual:
    """P = |w|^2 / 2 + sum_i bound_i max(0, |t_i - f_i - b| - epsilon).

    Two variables a row: one pulls it up, the other down.
    """
    n = len(t)
    zeros, rows = np.zeros(n), np.arange(n, dtype=np.int64)
    return Dual(
        np.concatenate([rows, rows]),
        _one_group(2 * n),
        np.concatenate([t - epsilon, t + epsilon]),
        np.concatenate([zeros, -bound]),
        np.concatenate([bound, zeros]),
        np.zeros(2 * n),
    )


def tube_regression(t: FloatArray, nu: float, bound: FloatArray) -> Dual:
    """P = |w|^2 / 2 + nu B epsilon + sum_i bound_i max(0, |t_i - f_i - b| - epsilon), B the sum of bounds.

    The tube's width epsilon is found too (Schoelkopf et al. 2000): what pulls up and what pulls down have
    each a fixed sum, nu B / 2, so they are groups with thresholds b + epsilon and b - epsilon.
    """
    n = len(t)
    zeros, rows = np.zeros(n), np.arange(n, dtype=np.int64)
    start = _filled(bound, 0.5 * nu * float(bound.sum()))
    return Dual(
        np.concatenate([rows, rows]),
        np.repeat(np.array([0, 1], dtype=np.int32), n),
        np.concatenate([t, t]),
        np.concatenate([zeros, -bound]),
        np.concatenate([bound, zeros]),
        np.concatenate([start, -start]),
    )


def one_class(nu: float, s: FloatArray) -> Dual:
    """P = |w|^2 / 2 - rho nu S + sum_i s_i max(0, rho - f_i), S the sum of s; rho = -b.

    In units of the textbooks' problem divided by (nu S)^2, so that coefficients are between 0 and s.
    """
    n = len(s)
    start = _filled(s, nu * float(s.sum()))
    return Dual(
        np.arange(n, dtype=np.int64), _one_group(n), np.zeros(n), np.zeros(n), s.astype(np.float64), start
    )


def _filled(bound: FloatArray, total: float) -> FloatArray:
    """Coefficients at their bounds from the first on, until their sum is the total."""
    before = np.concatenate([[0.0], np.cumsum(bound)[:-1]])
    filled: FloatArray = np.clip(total - before, 0.0, bound)
    return filled


def dealt(beta: FloatArray, owner: IntArray, room: FloatArray) -> FloatArray:
    """Coefficients, (..., m), dealt to all that share an owner, each filled up to its room before the next.

    What the first of them has, in order, is what there is to deal.
    """
    is_shared = np.bincount(owner)[owner] > 1
    if not is_shared.all():  # most have nobody to share with
        out = beta.copy()
        if is_shared.any():
            out[..., is_shared] = dealt(beta[..., is_shared], owner[is_shared], room[is_shared])
        return out
    order = np.argsort(owner, kind="stable")
    sorted_owner = owner[order]
    begins = np.flatnonzero(np.concatenate([[True], sorted_owner[1:] != sorted_owner[:-1]]))
    length = np.diff(np.append(begins, len(owner)))
    cup = np.where(np.isfinite(room), room, 0.0)[order]
    before = np.cumsum(cup) - cup
    before -= np.repeat(before[begins], length)
    # Without a bound the first one takes all.
    is_first = np.zeros(len(owner), dtype=bool)
    is_first[begins] = True
    cup = np.where(np.isfinite(room[order]), cup, np.where(is_first, np.inf, 0.0))
    whole = np.repeat(beta[..., order][..., begins], length, axis=-1)
    out = np.empty_like(beta)
    out[..., order] = np.sign(whole) * np.clip(np.abs(whole) - before, 0.0, cup)
    return out
