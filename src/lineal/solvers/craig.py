"""Craig's method: least squares of wide dense rows by conjugate gradients on their dual system."""

from __future__ import annotations

import numpy as np

from lineal import _core
from lineal.cancellation import break_off_if_over
from lineal.objective.linear_maps import NativeRows
from lineal.objective.loss_sums import RowLosses
from lineal.objective.losses import FloatArray
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.base import EXACT

# Multiplications of a Gram matrix, below which it takes no time to speak of.
_SMALL = 2e8
# While a pass is made over n rows BLAS has 6 n of their n^2 / 2 products: n / 32 passes take two fifths
# of what these take.
_ROWS_A_PASS = 32
# After so many steps, and again and again, it is asked whether the others will do.
_GLANCE = 8
# Up to this tolerance a fit is asked for whose weights have all digits that people print; whoever asks for
# less has its square, a gap of weights that are right to about the tolerance itself.
_FINE = 1e-4


# Weights, constants and their dual point.
Found = tuple[FloatArray, FloatArray, FloatArray]


def by_craig(problem: Problem, losses: RowLosses, X: NativeRows, strength: float, tol: float) -> Found | None:
    """The minimiser of squares under L2, where steps for a part of the Gram matrix's price come near it.

    Notes
    -----
    (A A' + strength I) a = A b with A = diag(s^(1/2)) X, where a free intercept takes away the part along
    s^(1/2). Then w = A'a, and the dual point -strength a has exactly the gap |t|^2 / 2 for the residual t.
    A step is one pass over X. How many there are follows from the residuals alone: where their fall does not
    promise an end within n / 32 steps, there is no answer. Published: Craig 1955; Paige and Saunders 1982.
    """
    n, d = X.n_rows, X.n_columns
    if X.dense is None or problem.n_outputs > 1 or problem.intercept is Intercept.PENALIZED:
        return None
    if n * n * d < _SMALL:
        return None
    root, target = np.sqrt(losses.s), losses.y[:, 0]
    length = float(np.linalg.norm(root))
    level = root / length if problem.intercept is Intercept.FREE and length > 0 else np.zeros(n)
    t = root * target
    mean = float(level @ t)
    t -= mean * level
    s, a, w = t.copy(), np.zeros(n), np.zeros(d)
    p, lean = (
        _core.craig_step(X.given, root, level, a, w, each, 0.0, 0.0, 0.0, X.n_threads) for each in (t, level)
    )
    square = height = float(t @ t)
    most, aim = n // _ROWS_A_PASS, EXACT if tol <= _FINE else tol * tol
    for count in range(1, most + 1):
        break_off_if_over()
        bend = float(p @ p) + strength * float(s @ s)
        if not 0.0 < bend < np.inf:
            return None
        step = square / bend
        a += step * s
        w += step * p
        v = _core.craig_step(X.given, root, level, s, p, t, step, float(lean @ p), strength, X.n_threads)
        fresh = float(t @ t)
        u = strength * a + t
        value = 0.5 * (float(u @ u) + strength * float(w @ w))
        if 0.5 * fresh <= aim * value:
            b = np.array([(mean - float(lean @ w)) / length if level.any() else 0.0])
            U = np.divide(-strength * a, root, out=np.zeros(n), where=root > 0)
            return w[:, None], b, U[:, None]
        if count % _GLANCE == 0 and not _is_near(height / fresh, count, height / (2 * aim * value), most):
            return None
        s = t + (fresh / square) * s
        p = v + (fresh / square) * p
        square = fresh
    return None


def _is_near(fallen: float, count: int, wanted: float, most: int) -> bool:
    """Whether a residual that fell so far in some steps falls as far as it should in all of them."""
    return bool(np.isfinite(fallen) and np.log(wanted) * count <= np.log(max(fallen, 1.0)) * most)
