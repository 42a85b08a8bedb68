"""The constants that suit given scores: a free intercept, moved to where the losses are least.

No pass over X: scores alone decide. At the minimum the slopes sum to 0, which a free intercept asks of every
dual point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lineal.deferred import linalg
from lineal.objective.losses import FloatArray

if TYPE_CHECKING:
    from lineal.objective.loss_sums import LossSum, RowLosses

_BLOCK = 1 << 17  # scores that are looked at together: a megabyte
_MANY_OUTPUTS = 100


@dataclass(frozen=True)
class Refit:
    """The shift of the intercept that minimises the sum of losses, and the slopes there.

    ``before`` and ``after`` are the sums without it and with it, where they are known.
    """

    shift: FloatArray
    U: Any
    before: float | None = None
    after: float | None = None


def refit_rows(losses: RowLosses, Z: FloatArray) -> Refit:
    """Minimises sum s loss(y, z + shift) over the shift; at the minimum the slopes sum to 0."""
    if not losses.refits_constants:
        return Refit(np.zeros(losses.n_outputs), losses.slopes(Z))
    if not losses.is_by_score:
        return refit_constants(losses, Z)
    # A custom loss does not list its kinks: there the bracket closes around the best shift.
    is_piecewise = not losses.is_smooth and len(losses.loss.kinks(losses.y)) > 0
    return _refit_piecewise(losses, Z) if is_piecewise else _refit_smooth(losses, Z)


def _refit_smooth(losses: RowLosses, Z: FloatArray) -> Refit:
    """Some outputs at a time, so that what their steps go over again and again stays in the cache."""
    n_rows, n_outputs = Z.shape
    width = max(1, _BLOCK // max(n_rows, 1))
    if n_outputs <= width:
        return _refit_block(losses, Z)
    shift, U = np.empty(n_outputs), np.empty_like(Z)
    for first in range(0, n_outputs, width):
        own = slice(first, min(first + width, n_outputs))
        found = _refit_block(losses.of_outputs(own), np.ascontiguousarray(Z[:, own]))
        shift[own], U[:, own] = found.shift, found.U
    return Refit(shift, U)


def _refit_block(losses: RowLosses, Z: FloatArray) -> Refit:
    """Newton on each output's monotone sum of slopes, inside a bracket that shrinks."""
    s = losses.s
    shift = np.zeros(losses.n_outputs)
    low, high = np.full_like(shift, -np.inf), np.full_like(shift, np.inf)
    reach, moved = np.ones_like(shift), Z
    U = losses.slopes(Z)
    for _ in range(100):
        slope = s @ U
        settled = np.abs(slope) <= 1e-14 * (s @ np.abs(U)) + 1e-300
        if settled.all():
            break
        low, high = np.where(slope < 0, shift, low), np.where(slope > 0, shift, high)
        bend = s @ losses.curvatures(moved)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(bend > 0, -slope / bend, np.inf)
        # Where the losses are flat Newton knows nothing: walk, doubling, until the bracket closes.
        walk = shift - np.sign(slope) * reach
        with np.errstate(invalid="ignore"):
            middle = np.where(np.isfinite(low) & np.isfinite(high), (low + high) / 2, walk)
        bold = np.abs(step) <= 4 * reach + 4 * np.abs(shift)
        newton = shift + np.where(bold, step, 0.0)
        inside = bold & (newton > low) & (newton < high)
        following = np.where(settled, shift, np.where(inside, newton, middle))
        reach = np.where(inside, reach, 2 * reach)
        if np.all(np.abs(following - shift) <= 1e-16 * np.abs(shift)) or not np.isfinite(following).all():
            break
        shift, moved = following, Z + following
        U = losses.slopes(moved)
    return Refit(shift, U)


def _refit_piecewise(losses: RowLosses, Z: FloatArray) -> Refit:
    """Exact for piecewise-linear losses: walk over the kinks in order until the slopes sum to 0."""
    y, s = losses.y, losses.s
    kinks = losses.loss.kinks(y)
    low, _ = losses.domain
    shift, U = np.zeros(losses.n_outputs), low.copy()
    for k in range(losses.n_outputs):
        place = np.concatenate([at[:, k] - Z[:, k] for at, _, _ in kinks])
        rise = np.concatenate([top[:, k] - bottom[:, k] for _, bottom, top in kinks])
        row = np.tile(np.arange(len(s)), len(kinks))
        order = np.argsort(place, kind="stable")
        climbed = float(s @ low[:, k]) + np.cumsum((s[row] * rise)[order])
        stop = min(int(np.searchsorted(climbed, 0.0)), len(order) - 1)
        shift[k] = place[order[stop]]
        np.add.at(U[:, k], row[order[:stop]], rise[order[:stop]])
        last = order[stop]
        missing = -float(s @ U[:, k])
        if s[row[last]] > 0:
            U[row[last], k] += np.clip(missing / s[row[last]], 0.0, rise[last])
    return Refit(shift, U)


def refit_constants(losses: LossSum, Z: FloatArray) -> Refit:
    """Damped Newton in the K constants of any smooth sum; the Hessian is K x K and costs no pass over X."""
    shift = np.zeros(losses.shape[1])
    value, U = losses.value(Z), losses.slopes(Z)
    before = value
    for _ in range(30):
        slope = losses.sums(U)
        # What is left, balancing takes away; below this the steps are rounding.
        if np.abs(slope).max() <= 1e-10 * losses.total_weight:
            break
        H = losses.constants_hessian(Z + shift, U)
        step = -_solved_apart_from_a_shift(H, slope)
        if losses.has_common_shift:
            step -= step.mean()
        length = 1.0
        while length > 1e-4:
            following = losses.value(Z + shift + length * step)
            if following <= value + 1e-4 * length * float(slope @ step) + 1e-14 * abs(value):
                break
            length /= 2
        else:
            break
        shift = shift + length * step
        value, U = following, losses.slopes(Z + shift)
    return Refit(shift, U, before, value)


def _solved_apart_from_a_shift(H: FloatArray, right: FloatArray) -> FloatArray:
    """H^+ right, where a common shift may have no curvature, and right then has no part in it.

    Least squares by singular values take any H, in a time that grows fifty times as fast with many outputs.
    """
    size = float(np.trace(H)) / len(H)
    if len(H) > _MANY_OUTPUTS and size > 0:
        curved = H + size / len(H)  # the shift gets a curvature of its own
        curved.ravel()[:: len(H) + 1] += 1e-12 * size
        try:
            return np.asarray(linalg.cho_solve(linalg.cho_factor(curved, check_finite=False), right))
        except np.linalg.LinAlgError:
            pass  # labels without any chance: flat in more than one direction
    if not np.isfinite(H).all():  # LAPACK would print what it thinks of them
        raise np.linalg.LinAlgError("the curvatures overflow")
    return np.asarray(np.linalg.lstsq(H, right, rcond=1e-12)[0])
