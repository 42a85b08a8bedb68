"""Where a path begins, by search: the constant that fits best, and how hard each column pulls at it."""

import numpy as np
from scipy.optimize import minimize_scalar


def constant_pull(loss, X, y, s, has_intercept):
    """(P(0, b), X'S u) at the best constant b of a smooth loss of one score, or at b = 0 without one."""

    def value(b):
        return float(s @ loss.value(y, np.full(len(y), b)))

    b = minimize_scalar(value, method="brent", options={"xtol": 1e-12}).x if has_intercept else 0.0
    return value(b), X.T @ (s * loss.derivative(y, np.full(len(y), b)))
