"""Objectives of kernel machines as textbooks print them, from a Gram matrix K and coefficients beta."""

import numpy as np


def separation(K, y, bound, beta, b):
    """(P, D) of sum bound hinge(y (f + b)) + |f|^2 / 2; D is -inf where beta is not feasible."""
    f = K @ beta
    primal = 0.5 * beta @ f + bound @ np.maximum(0, 1 - y * (f + b))
    dual = y @ beta - 0.5 * beta @ f
    inside = (y * beta >= 0).all() and (y * beta <= bound * (1 + 1e-9)).all()
    return primal, dual if inside and abs(beta.sum()) <= 1e-9 * max(1, np.abs(beta).sum()) else -np.inf


def tube(K, t, bound, beta, b, epsilon, price=0.0):
    """(P, D) of price epsilon + sum bound max(0, |t - f - b| - epsilon) + |f|^2 / 2."""
    f = K @ beta
    primal = 0.5 * beta @ f + price * epsilon + bound @ np.maximum(0, np.abs(t - f - b) - epsilon)
    size = np.abs(beta).sum()
    dual = t @ beta - 0.5 * beta @ f - (epsilon * size if price == 0 else 0.0)
    inside = (np.abs(beta) <= bound * (1 + 1e-9)).all() and (price == 0 or size <= price * (1 + 1e-9))
    return primal, dual if inside and abs(beta.sum()) <= 1e-9 * max(1, size) else -np.inf


def region(K, s, total, beta, rho):
    """(P, D) of |f|^2 / 2 - rho total + sum s max(0, rho - f)."""
    f = K @ beta
    primal = 0.5 * beta @ f - rho * total + s @ np.maximum(0, rho - f)
    inside = (beta >= 0).all() and (beta <= s * (1 + 1e-9)).all() and abs(beta.sum() - total) <= 1e-9 * total
    return primal, -0.5 * beta @ f if inside else -np.inf


def coefficients(model, n):
    """(n_machines, n) dual_coef_ by row of the data."""
    dual = model.dual_coef_.toarray() if hasattr(model.dual_coef_, "toarray") else model.dual_coef_
    every = np.zeros((len(dual), n))
    every[:, model.support_] = dual
    return every
