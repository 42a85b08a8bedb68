"""Conjugates and envelopes of convex functions of which only values and slopes can be asked.

A convex loss lies above its tangents. If its slope at a is at most u and its slope at b is at least u, then
``u z - loss(z)`` lies below two lines, one that rises and one that falls, and their crossing is above the
conjugate, however far apart a and b are. Bringing them together makes the bound tight; stopping early makes
it loose, never wrong. So a dual value built from it is a true lower bound.

The native twin is ``PointerLoss`` in native/include/lineal/pointer_loss.h.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lineal.objective.losses import FloatArray

# A function of (y, z), entry by entry.
Elementwise = Callable[[FloatArray, FloatArray], FloatArray]
# A function of z for the entries that an index names.
Indexed = Callable[[NDArray[np.intp], FloatArray], FloatArray]

# Slopes are looked at up to scores of size FAR (1 + |y|); a tail that decays to 0 is followed to FARTHEST.
FAR, FARTHEST = 2.0**30, 2.0**1000
# How often a score at which the derivative is no number is brought nearer to 0 by a factor of 4.
_RETREATS = 20
# A bound is tight when it is within this share of |u z| and of the loss at score 0; values that are rounded
# are allowed for by the same few units in the last place.
_ROUNDING = 4 * float(np.finfo(float).eps)
# Steps that narrow a bracket, and until when they may be secants, all but every fourth: where those have not
# converged by then, the derivative jumps or spans many powers of ten.
_STEPS, _SECANTS = 250, 30


@dataclass
class Brackets:
    """Intervals [a, b] with f(a) <= 0 <= f(b) for increasing functions f, one for each entry."""

    a: FloatArray
    b: FloatArray
    fa: FloatArray
    fb: FloatArray


def slope_range(derivative: Elementwise, y: FloatArray) -> Brackets:
    """The far scores on either side (a, b), and the slopes there (fa, fb), for flat targets y.

    The slopes between them are the part of the conjugate's domain that can be used. Any part of a domain
    gives true lower bounds, as long as it is convex and contains 0.
    """
    with np.errstate(all="ignore"):
        (a, fa), (b, fb) = (_far_end(derivative, y, sign) for sign in (-1.0, 1.0))
    return Brackets(a, b, fa, fb)


def _far_end(derivative: Elementwise, y: FloatArray, sign: float) -> tuple[FloatArray, FloatArray]:
    z = sign * FAR * (1 + np.abs(y))
    slope = np.array(derivative(y, z), dtype=float)
    for _ in range(_RETREATS):
        lost = np.flatnonzero(np.isnan(slope))  # infinity over infinity, in formulas that are not careful
        if len(lost) == 0:
            break
        z[lost] /= 4
        slope[lost] = derivative(y[lost], z[lost])
    tail = np.flatnonzero(sign * slope < 0)  # still falling: perhaps towards a slope of 0
    if len(tail):
        end = np.array(derivative(y[tail], np.full(len(tail), sign * FARTHEST)), dtype=float)
        ended = tail[end == 0]
        z[ended], slope[ended] = sign * FARTHEST, 0.0
    return z, slope


def conjugate_bound(
    value: Elementwise,
    derivative: Elementwise,
    y: FloatArray,
    u: FloatArray,
    ends: Brackets,
    n_steps: int = _STEPS,
) -> FloatArray:
    """An upper bound of max_z u z - value(y, z), tight to rounding; +inf for u outside the ends' slopes.

    All arrays are flat. Entry by entry the bound is an exact statement about the tangents at two scores.
    """
    bound = np.full(u.shape, np.inf)
    used = np.flatnonzero((ends.fa <= u) & (u <= ends.fb))
    y, u = y[used], u[used]

    def excess(index: NDArray[np.intp], z: FloatArray) -> FloatArray:
        return np.asarray(derivative(y[index], z) - u[index], dtype=float)

    with np.errstate(all="ignore"):
        near = _expanded(excess, ends.a[used], ends.b[used], ends.fa[used] - u, ends.fb[used] - u)
        at_zero = np.abs(value(y, np.zeros_like(y)))

        def is_tight(index: NDArray[np.intp]) -> NDArray[np.bool_]:
            a, b = near.a[index], near.b[index]
            size = np.maximum(np.abs(a), np.abs(b))
            error = np.minimum(-near.fa[index], near.fb[index]) * (b - a)
            return np.asarray(error <= _ROUNDING * (at_zero[index] + np.abs(u[index]) * size))

        narrow(excess, near, is_tight, n_steps)
        bound[used] = _crossing(value, y, u, near)
    return bound


def _expanded(f: Indexed, a: FloatArray, b: FloatArray, fa: FloatArray, fb: FloatArray) -> Brackets:
    """Brackets near 0, where scores are as a rule, inside wide ones: 0, 1, 4, 16 ... on the root's side."""
    everyone = np.arange(len(a))
    at_zero = f(everyone, np.zeros(len(a)))
    is_right = at_zero <= 0
    a, fa = np.where(is_right, 0.0, a), np.where(is_right, at_zero, fa)
    b, fb = np.where(is_right, b, 0.0), np.where(is_right, fb, at_zero)
    open_, size = everyone[at_zero != 0], 1.0
    while len(open_):
        open_ = open_[size < np.where(is_right[open_], b[open_], -a[open_])]
        right = is_right[open_]
        z = np.where(right, size, -size)
        fz = f(open_, z)
        for side, other, there in ((a, fa, fz <= 0), (b, fb, fz >= 0)):
            side[open_[there]], other[open_[there]] = z[there], fz[there]
        open_ = open_[np.where(right, fz < 0, fz > 0)]
        size = size * 4 if size < FAR else size * size
    return Brackets(a, b, fa, fb)


def narrow(
    f: Indexed,
    at: Brackets,
    is_tight: Callable[[NDArray[np.intp]], NDArray[np.bool_]],
    n_steps: int = _STEPS,
) -> None:
    """Narrows brackets in place until ``is_tight`` of them, or until no number lies between their ends.

    By secants that pull an end in when it stays behind (Anderson and Bjorck 1973), with a halving in every
    fourth step, then by halving alone.
    """
    pull_a, pull_b = at.fa.copy(), at.fb.copy()
    moved = np.zeros(len(at.a))  # which end moved last: -1 or +1
    active = np.arange(len(at.a))
    for step in range(n_steps):
        a, b = at.a[active], at.b[active]
        middle = a + (b - a) / 2
        wanted = ~is_tight(active) & (a < middle) & (middle < b)
        active, a, b, middle = active[wanted], a[wanted], b[wanted], middle[wanted]
        if len(active) == 0:
            return
        secant = a - pull_a[active] * ((b - a) / (pull_b[active] - pull_a[active]))
        is_bold = step < _SECANTS and step % 4 != 3
        z = np.where((a < secant) & (secant < b) & is_bold, secant, middle)
        fz = f(active, z)
        for side, end, f_end, pull, other in (
            (-1, at.a, at.fa, pull_a, pull_b),
            (1, at.b, at.fb, pull_b, pull_a),
        ):
            there = fz <= 0 if side < 0 else fz > 0
            index, f_new = active[there], fz[there]
            share = 1 - f_new / f_end[index]
            other[index] *= np.where(moved[index] == side, np.where(share > 0, share, 0.5), 1.0)
            end[index], f_end[index], pull[index], moved[index] = z[there], f_new, f_new, side
        active = active[~np.isnan(fz)]


def _crossing(value: Elementwise, y: FloatArray, u: FloatArray, at: Brackets) -> FloatArray:
    """Where the lines u z - tangent at a and u z - tangent at b cross."""
    up, down = -at.fa, at.fb  # the slopes of the rising line and, negated, of the falling one
    share = np.where(up + down > 0, up / (up + down), 0.0)
    bound = up * (1 - share) * (at.b - at.a)
    for z, part in ((at.a, 1 - share), (at.b, share)):
        at_z = value(y, z)
        term = u * z - at_z + _ROUNDING * (np.abs(u * z) + np.abs(at_z))
        bound = bound + np.where(part > 0, part * term, 0.0)
    return np.where(np.isnan(bound), np.inf, bound)


def proximal(derivative: Elementwise, y: FloatArray, z: FloatArray, width: float) -> FloatArray:
    """x that minimises loss(y, x) + (x - z)^2 / (2 width), for flat arrays."""

    def slope(index: NDArray[np.intp], x: FloatArray) -> FloatArray:
        return np.asarray(derivative(y[index], x) + (x - z[index]) / width, dtype=float)

    with np.errstate(all="ignore"):
        everyone = np.arange(len(z))
        other = z - width * derivative(y, z)  # the minimiser lies between: slopes rise
        a, b = np.minimum(z, other), np.maximum(z, other)
        at = Brackets(a, b, np.minimum(slope(everyone, a), 0.0), np.maximum(slope(everyone, b), 0.0))

        def is_tight(index: NDArray[np.intp]) -> NDArray[np.bool_]:
            error = np.minimum(-at.fa[index], at.fb[index])
            return np.asarray(error <= _ROUNDING * np.abs(z[index]) / width)

        narrow(slope, at, is_tight)
    return np.where(-at.fa <= at.fb, at.a, at.b)
