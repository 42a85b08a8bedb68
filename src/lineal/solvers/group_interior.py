"""The dual of :mod:`lineal.solvers.group_smo` from the inside: few steps, each a factorisation.

::

    min  a'Q a / 2 - sum a     over a >= 0,   sum_{i in g} a_i <= cost_g,   sum_i a_i y_i = 0,    Q = yy' * K

Pairs of variables creep where K has a low rank and costs are high; Newton's method on the optimality
conditions, with products of constraints and multipliers pushed to 0, does not care.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
    sizes = np.bincount(group, minlength=G)
    is_same = group[:, None] == group[None, :]
    # Half of what is allowed, unless that is far beyond where one row by itself would end.
    a = np.minimum(cost[group] / (2.0 * sizes[group]), 1.0 / max(float(np.diagonal(K).max()), 1e-300))
    s = cost - np.bincount(group, weights=a, minlength=G)
    z, lam, nu = np.ones(n), np.ones(G), 0.0
    for _ in range(_MOST_STEPS):
        gradient = Q @ a - 1 - z + lam[group] + nu * y
        leak = float(y @ a)
        mu = (float(a @ z) + float(s @ lam)) / (n + G)
        scale = max(abs(float(a.sum())), 1e-300)
        if mu * (n + G) <= tol * scale and np.abs(gradient).max() <= 1e-6 and abs(leak) <= tol * scale:
            break
        H = Q + is_same * (lam / s)[group][:, None]
        H[np.diag_indices(n)] += z / a
        try:
            factor = linalg.cho_factor(H, lower=True)
        except np.linalg.LinAlgError:
            break  # as close as the arithmetic comes
        Hy = linalg.cho_solve(factor, y)

        def step(
            bound: FloatArray | float, side: FloatArray | float
        ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, float]:
            """Newton's step for a z = bound and s lam = side."""
            right = -gradient + (bound - a * z) / a - ((side - s * lam) / s)[group]  # noqa: B023
            first = linalg.cho_solve(factor, right)  # noqa: B023
            dnu = (float(y @ first) + leak) / float(y @ Hy)  # noqa: B023
            da = first - dnu * Hy  # noqa: B023
            ds = np.asarray(-np.bincount(group, weights=da, minlength=G), dtype=np.float64)
            dz = (bound - a * z - z * da) / a  # noqa: B023
            dlam = (side - s * lam - lam * ds) / s  # noqa: B023
            return da, ds, dz, dlam, dnu

        da, ds, dz, dlam, _ = step(0.0, 0.0)
        far = _length(np.concatenate([a, s, z, lam]), np.concatenate([da, ds, dz, dlam]))
        ahead = float((a + far * da) @ (z + far * dz)) + float((s + far * ds) @ (lam + far * dlam))
        centre = mu * (ahead / ((n + G) * mu)) ** 3
        da, ds, dz, dlam, dnu = step(centre - da * dz, centre - ds * dlam)
        t = _REACH * _length(np.concatenate([a, s, z, lam]), np.concatenate([da, ds, dz, dlam]))
        a, s, z, lam, nu = a + t * da, s + t * ds, z + t * dz, lam + t * dlam, nu + t * dnu
    return a


def _length(point: FloatArray, direction: FloatArray) -> float:
    """How far one can go, at most 1, until an entry is 0."""
    falls = direction < 0
    return min(1.0, float((-point[falls] / direction[falls]).min(initial=1.0 / _REACH)))
