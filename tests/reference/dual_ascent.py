"""Dual coordinate ascent, literally: one row at a time, one search a row."""

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from lineal.objective.joint import one_hot


def one_coordinate(loss, y, z, u0, q):
    """argmin_u loss*(u) - z (u - u0) + (q/2) (u - u0)^2, by search over the domain."""
    low, high = (float(end) for end in loss.domain(y))
    low, high = max(low, -1e3), min(high, 1e3)

    def dual(u):
        return float(loss.conjugate(y, u)) - z * (u - u0) + q / 2 * (u - u0) ** 2

    inner = minimize_scalar(dual, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x
    return min((inner, low, high, 0.0), key=dual)


def dual_ascent(loss, X, y, s, strength, epochs, step):
    """Maximises D(u) for L2 without an intercept, rows in order; returns (w, u)."""
    u, w = np.zeros(len(y)), np.zeros(X.shape[1])
    for _ in range(epochs):
        for i, x in enumerate(X):
            moved = step(loss, y[i], float(x @ w), u[i], s[i] * float(x @ x) / strength) - u[i]
            u[i] += moved
            w -= s[i] * moved * x / strength
    return w, u


def joint_dual_ascent(loss, X, codes, s, strength, epochs):
    """The same for a joint loss: each row's p moves in the simplex, by a general solver."""
    _n, K = len(codes), int(codes.max()) + 1
    gold = one_hot(codes, K)
    p, W = gold.copy(), np.zeros((X.shape[1], K))
    on_simplex = {"bounds": [(0, 1)] * K, "constraints": {"type": "eq", "fun": lambda q: q.sum() - 1}}
    for _ in range(epochs):
        for i, x in enumerate(X):
            q, z, p0, y = s[i] * float(x @ x) / strength, x @ W, p[i].copy(), codes[i : i + 1]

            def dual(v, q=q, z=z, p0=p0, y=y):
                v = np.clip(v, 0, 1)[None]
                return float(
                    loss.simplex_conjugate(y, v)[0] - z @ (v[0] - p0) + q / 2 * ((v[0] - p0) ** 2).sum()
                )

            p[i] = np.clip(minimize(dual, (p0 + 1 / K) / 2, method="SLSQP", **on_simplex).x, 0, 1)
            p[i] /= p[i].sum()
            W -= s[i] * np.outer(x, p[i] - p0) / strength
    return W, p - gold
