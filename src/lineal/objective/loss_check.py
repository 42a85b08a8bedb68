"""Is this a convex loss, and is that its derivative? Asked of a custom loss before it is minimised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lineal.errors import ParameterError
from lineal.objective.losses import FloatArray, Targets

if TYPE_CHECKING:
    from lineal.objective.custom import CustomLoss

# So many targets, and for each of them scores up to this distance from 0 and from the target, and up to twice
# the spread of the targets.
_TARGETS, _SCORES, _FARTHEST = 24, 16, 30.0
# Half the width of a difference, relative to 1 + |z|.
_STEP = 1e-4
# What rounding may cost values, relative to their size, and slopes.
_VALUE_ROUNDING, _SLOPE_ROUNDING = 1e-14, 1e-9
# Halvings that look for a kink, and the share of a slope's rise that must be gone after them: a Lipschitz
# derivative leaves a share like the width's, 1e-9.
_HALVINGS, _GONE = 30, 1e-2


def check_loss(loss: CustomLoss, y: Targets) -> None:
    """Raises ParameterError with target and score where value and derivative are not those of a convex loss.

    For a convex loss the difference quotient of values lies between the slopes at its two ends, whatever
    kinks lie between; so nothing here can refuse a right loss but for rounding.
    """
    targets = _some(np.unique(np.asarray(y, dtype=float)))
    z = _scores(targets)
    t = np.repeat(targets[:, None], z.shape[1], axis=1)
    with np.errstate(all="ignore"):
        _check_form(loss, t, z)
        _check_slopes(loss, t, z)
        _check_options(loss, t, z)
        if not loss.has_kinks:
            _check_bends(loss, t, z)
    _check_bounded(loss, targets)


def _some(targets: FloatArray) -> FloatArray:
    """A few of many, the extreme ones among them."""
    return targets[np.unique(np.linspace(0, len(targets) - 1, _TARGETS).astype(int))]


def _scores(targets: FloatArray) -> FloatArray:
    """(targets, scores): sorted, dense near 0 and near the target, also in units of the targets' spread."""
    spread = np.sinh(np.linspace(0.0, 5.0, _SCORES)) / np.sinh(5.0) * _FARTHEST
    around = np.unique(np.concatenate([spread, -spread, [-1.0, -0.5, 0.5, 1.0]]))
    unit, centre = 2 * np.ptp(targets) / _FARTHEST, targets[:, None]
    return np.sort(np.concatenate([around + 0 * centre, around + centre, unit * around + centre], axis=1))


def _check_form(loss: CustomLoss, y: FloatArray, z: FloatArray) -> None:
    """Arrays in, arrays of the same shape out, entry by entry, never NaN."""
    for name in ("value", "derivative", "second_derivative"):
        out = _asked(loss, name, y, z)
        if (lost := np.isnan(out)).any():
            raise ParameterError(f"{loss}.{name} must be a number everywhere, got NaN at {_at(y, z, lost)}.")
        turned = _asked(loss, name, np.ravel(y)[::-1], np.ravel(z)[::-1])[::-1].reshape(out.shape)
        unlike = ~np.isclose(turned, out, rtol=1e-6, atol=1e-6 * float(np.median(np.abs(out))))
        if unlike.any():
            raise ParameterError(
                f"{loss}.{name} must work entry by entry, but its result at {_at(y, z, unlike)} depends on "
                "the entries around it. Leave sums and means over rows to the fit."
            )


def _asked(loss: CustomLoss, name: str, y: FloatArray, z: FloatArray) -> FloatArray:
    given = y.copy(), z.copy()
    try:
        out = getattr(loss, name)(*given)
    except Exception as error:
        raise ParameterError(
            f"{loss}.{name} must take NumPy arrays y and z, here of shape {z.shape}, but raised "
            f"{type(error).__name__}: {error}. Write it with NumPy's functions (np.exp, np.where, ...), or "
            "wrap a function of two numbers with np.vectorize."
        ) from error
    if not (np.array_equal(given[0], y) and np.array_equal(given[1], z)):
        raise ParameterError(f"{loss}.{name} must leave y and z as they are, but wrote into one of them.")
    if not isinstance(out, np.ndarray) or out.shape != z.shape or out.dtype != np.float64:
        what = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise ParameterError(
            f"{loss}.{name} must return a float64 array of the shape of its arguments, {z.shape}, got {what}."
        )
    return out


def _check_slopes(loss: CustomLoss, y: FloatArray, z: FloatArray) -> None:
    """The difference quotients of the values lie between the slopes, and the slopes rise."""
    step = _STEP * (1 + np.abs(z))
    below, above = loss.value(y, z - step), loss.value(y, z + step)
    slopes = np.stack([loss.derivative(y, z - step), loss.derivative(y, z), loss.derivative(y, z + step)])
    quotient = (above - below) / (2 * step)
    at_zero = loss.value(y, np.zeros_like(y))
    if not np.isfinite(at_zero).all():
        bad = ~np.isfinite(at_zero)
        raise ParameterError(
            f"{loss}.value must be finite at score 0, where a fit begins, "
            f"got {at_zero[bad][0]} for y = {y[bad][0]:g}."
        )
    noise = _VALUE_ROUNDING * (np.abs(below) + np.abs(above) + np.abs(at_zero)) / step
    noise += _SLOPE_ROUNDING * np.abs(slopes).max(axis=0)
    low, high = slopes.min(axis=0), slopes.max(axis=0)
    wrong = np.isfinite(quotient) & ((quotient < low - noise) | (quotient > high + noise))
    if wrong.any():
        raise ParameterError(
            f"{loss}.derivative is not the slope of its value at {_at(y, z, wrong)}: expected "
            f"{quotient[wrong][0]:.7g} (a central difference of the values), got {slopes[1][wrong][0]:.7g}. "
            "Correct one of the two; lineal.check_gradient compares them point by point."
        )
    size = np.abs(slopes).max(axis=0) + np.abs(loss.derivative(y, np.zeros_like(y)))
    for earlier, later, place in (
        (slopes[0], slopes[2], slice(None)),
        (slopes[1][:, :-1], slopes[1][:, 1:], slice(1, None)),
    ):
        falls = later < earlier - _SLOPE_ROUNDING * size[:, place]
        if falls.any():
            raise ParameterError(
                f"{loss} is not convex: at {_at(y[:, place], z[:, place], falls)} its derivative has fallen "
                f"from {earlier[falls][0]:.7g} to {later[falls][0]:.7g}. Only convex losses can be certified."
            )


def _check_options(loss: CustomLoss, y: FloatArray, z: FloatArray) -> None:
    """What is declared beside value and derivative agrees with them."""
    bends = loss.second_derivative(y, z)
    if (bends < 0).any():
        raise ParameterError(
            f"{loss}.second_derivative must not be negative, "
            f"got {bends[bends < 0][0]:g} at {_at(y, z, bends < 0)}."
        )
    curvature = loss.curvature
    if curvature is None:
        return
    if loss.has_kinks:
        raise ParameterError(f"{loss} has kinks, so it has no curvature: leave curvature = None.")
    if not (isinstance(curvature, (int, float, np.number)) and 0 < curvature < np.inf):
        raise ParameterError(f"{loss}.curvature must be a positive number or None, got {curvature!r}.")
    step = _STEP * (1 + np.abs(z))
    ends = loss.derivative(y, z - step), loss.derivative(y, z + step)
    rise = (ends[1] - ends[0]) / (2 * step)
    noise = _SLOPE_ROUNDING * (np.abs(ends[0]) + np.abs(ends[1])) / step
    steep = rise > curvature * (1 + 1e-6) + noise
    if steep.any():
        raise ParameterError(
            f"{loss}.curvature bounds how fast the derivative rises, got {curvature:g}, but it rises by "
            f"{rise[steep][0]:g} per unit at {_at(y, z, steep)}. State a larger one, or None."
        )


def _check_bends(loss: CustomLoss, y: FloatArray, z: FloatArray) -> None:
    """Follows the steeper half of each interval down: a rise that does not vanish with it is a jump."""
    y, left, right = np.ravel(y[:, 1:]), np.ravel(z[:, :-1]), np.ravel(z[:, 1:])
    low, high = loss.derivative(y, left), loss.derivative(y, right)
    whole = high - low
    for _ in range(_HALVINGS):
        middle = (left + right) / 2
        between = loss.derivative(y, middle)
        is_left = between - low > high - between
        left, low = np.where(is_left, left, middle), np.where(is_left, low, between)
        right, high = np.where(is_left, middle, right), np.where(is_left, between, high)
    size = np.abs(low) + np.abs(high) + np.abs(loss.derivative(y, np.zeros_like(y)))
    jump = (high - low > _GONE * whole) & (high - low > _SLOPE_ROUNDING * size)
    jump &= (right > left) & np.isfinite(whole)
    if jump.any():
        raise ParameterError(
            f"{loss} has a kink: at {_at(y, left, jump)} its derivative jumps from {low[jump][0]:.7g} to "
            f"{high[jump][0]:.7g}. Say so with has_kinks = True in the class; it is then smoothed in stages."
        )


def _check_bounded(loss: CustomLoss, targets: FloatArray) -> None:
    low, high = loss.domain(targets)
    unbounded = ~((low <= 0) & (high >= 0))
    if unbounded.any():
        y, slope = targets[unbounded][0], (low if (low[unbounded] > 0).any() else high)[unbounded][0]
        raise ParameterError(
            f"{loss} must be bounded below, but for y = {y:g} its slope is {slope:g} even at the farthest "
            "scores. A loss that falls for ever cannot be certified. (Classifiers pass y in {-1, +1}.)"
        )


def _at(y: FloatArray, z: FloatArray, where: Any) -> str:
    return f"y = {y[where][0]:g}, z = {z[where][0]:.7g}"
