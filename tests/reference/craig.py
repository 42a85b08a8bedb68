"""Craig's method, as its recurrences are written."""

import numpy as np


def craig_step(X, root, level, s, p, t, length, strength):
    """(t, A't) after t -= length (A A' + strength I) s; A is diag(root) X without its part along level."""
    A = root[:, None] * X
    moved = t - length * (A @ p - level * (level @ (A @ p)) + strength * s)
    return moved, A.T @ moved


def craig(X, y, root, level, strength, n_steps):
    """The residuals of (A A' + strength I) a = A's share of root * y, step by step, and A'a at the end."""
    A = root[:, None] * X
    A = A - np.outer(level, level @ A)
    t = root * y - level * (level @ (root * y))
    s, a, residuals = t.copy(), np.zeros_like(t), []
    for _ in range(n_steps):
        p, square = A.T @ s, t @ t
        length = square / (p @ p + strength * (s @ s))
        a, t = a + length * s, t - length * (A @ p + strength * s)
        s = t + (t @ t) / square * s
        residuals.append(t)
    return residuals, A.T @ a
