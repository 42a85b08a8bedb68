"""The dual of a hinge machine whose rows share slacks in groups, by a general solver."""

import numpy as np
from scipy.optimize import minimize


def group_dual(K, y, group, cost):
    """a and max of sum a - (a y)'K (a y) / 2 over a >= 0, group sums <= cost, sum a y = 0."""
    n, G = len(y), len(cost)
    member = (group[:, None] == np.arange(G)).astype(float)
    found = minimize(
        lambda a: 0.5 * (a * y) @ K @ (a * y) - a.sum(), np.zeros(n), jac=lambda a: y * (K @ (a * y)) - 1,
        bounds=[(0, None)] * n, method="SLSQP", options={"ftol": 1e-13, "maxiter": 2000},
        constraints=[
            {"type": "eq", "fun": lambda a: a @ y, "jac": lambda a: y},
            {"type": "ineq", "fun": lambda a: cost - member.T @ a, "jac": lambda a: -member.T},
        ],
    )  # fmt: skip
    return found.x, -found.fun


def machine(K, y, cost):
    """The smallest |f|^2 / 2 + sum cost max(0, 1 - y (f + b)), and f + b there."""
    a, value = group_dual(K, y, np.arange(len(y)), cost)
    f = K @ (a * y)
    places = np.unique(y - f)
    losses = [cost @ np.maximum(0, 1 - y * (f + b)) for b in places]
    return value, f + places[int(np.argmin(losses))]
