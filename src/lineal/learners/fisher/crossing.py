"""Two Gaussians on a line, and the threshold where they meet.

With shares p, means m and variances v, the log-odds of the upper class against the lower are

    l(t) = ln p_1/p_0 + ln N(t; m_1, v_1) - ln N(t; m_0, v_0),

a parabola, or a line if the variances are equal. Its roots are where the weighted densities meet: one if the
variances are equal, two or none if not, and always two or one if the shares are equal too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.objective.losses import FloatArray

# Variances that differ by less than this share are equal: the second root is beyond 1e12 deviations.
_EQUAL = 1e-12


@dataclass(frozen=True)
class Gaussians:
    """Two classes on a line: the lower one first, the upper one, on the side of larger numbers, second.

    Attributes
    ----------
    means, variances : two numbers each
    log_odds : float
        ln p_1 / p_0, of the shares alone.
    """

    means: tuple[float, float]
    variances: tuple[float, float]
    log_odds: float = 0.0

    def evidence(self, t: FloatArray) -> FloatArray:
        """l(t): how much likelier the upper class is, as a logarithm."""
        (m0, m1), (v0, v1) = self.means, self.variances
        return self.log_odds + 0.5 * np.log(v0 / v1) - (t - m1) ** 2 / (2 * v1) + (t - m0) ** 2 / (2 * v0)

    def slope(self, t: float) -> float:
        """l'(t)."""
        (m0, m1), (v0, v1) = self.means, self.variances
        return (m1 - t) / v1 - (m0 - t) / v0

    def pooled(self, weights: NDArray[Any]) -> Gaussians:
        """The same means with one variance: the mean of the two, by the weights of the classes."""
        v = float(np.average(self.variances, weights=weights))
        return replace(self, variances=(v, v))

    def roots(self) -> tuple[float, ...]:
        """Where l is 0, in increasing order."""
        (m0, m1), (v0, v1) = self.means, self.variances
        # Seen from between the means and in units of a deviation, so that nothing cancels or overflows.
        centre, unit = 0.5 * (m0 + m1), np.sqrt(max(v0, v1))
        m, v = (m1 - m0) / (2 * unit), (v0 / unit**2, v1 / unit**2)
        a = (1 / v[0] - 1 / v[1]) / 2
        b = m / v[1] + m / v[0]
        c = (m * m / v[0] - m * m / v[1]) / 2 + self.log_odds + 0.5 * np.log(v[0] / v[1])
        return tuple(float(centre + unit * root) for root in _real_roots(a, b, c, 1 / min(v)))


def _real_roots(a: float, b: float, c: float, size: float) -> list[float]:
    """The roots of a t^2 + b t + c, without the cancellation of the schoolbook formula."""
    if abs(a) <= _EQUAL * size:
        return [-c / b] if b else []
    discriminant = b * b - 4 * a * c
    if discriminant < 0:
        return []
    q = -(b + np.copysign(np.sqrt(discriminant), b)) / 2
    return sorted({q / a, c / q if q else 0.0})


@dataclass(frozen=True)
class Crossing:
    """A threshold, the roots it was chosen from, and a sentence that says why.

    Attributes
    ----------
    threshold : float
        Numbers at or above it are of the upper class.
    slope : float
        > 0: the slope there of the log-odds, which a linear rule has everywhere.
    roots : tuple of floats
        All places where the two densities, times their shares, are equal.
    reason : str
    """

    threshold: float
    slope: float
    roots: tuple[float, ...]
    reason: str


def crossing(pair: Gaussians, t: FloatArray, codes: NDArray[np.int32], s: FloatArray) -> Crossing:
    """The root between the means; without one, the root with fewer errors; without any, equal variances'.

    Parameters
    ----------
    pair : Gaussians
        m_1 > m_0 and positive variances.
    t, codes, s
        The projected rows, their classes 0 and 1, and their weights, to count errors.
    """
    roots = pair.roots()
    low, high = pair.means
    between = [root for root in roots if low <= root <= high]
    if between:
        others = [root for root in roots if root != between[0]]
        rest = f"; they meet again at {others[0]:.6g}, beyond a mean" if others else ""
        reason = f"the Gaussians meet at {between[0]:.6g}, between the means{rest}"
        return Crossing(between[0], _rising(pair, between[0], s, codes), roots, reason)
    if roots:
        errors = [float(s @ ((t >= root) != (codes == 1))) for root in roots]
        best = int(np.argmin(errors))
        shown = " and ".join(f"{root:.6g}" for root in roots)
        reason = (
            f"the Gaussians do not meet between the means; of {shown}, {roots[best]:.6g} "
            f"misplaces less of the training data ({errors[best]:.6g} of {float(s.sum()):.6g})"
        )
        return Crossing(roots[best], _rising(pair, roots[best], s, codes), roots, reason)
    shared = pair.pooled(np.bincount(codes, weights=s, minlength=2))
    (threshold,) = shared.roots()
    reason = f"with these priors the Gaussians never meet; those of equal variances do at {threshold:.6g}"
    return Crossing(threshold, shared.slope(threshold), roots, reason)


def _rising(pair: Gaussians, root: float, s: FloatArray, codes: NDArray[np.int32]) -> float:
    """The slope of the log-odds at a root, or of equal variances' where it does not rise."""
    slope = pair.slope(root)
    if slope > 0:
        return slope
    return pair.pooled(np.bincount(codes, weights=s, minlength=2)).slope(root)
