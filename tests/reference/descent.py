"""Coordinate descent for penalties with an L1 part, and gradient descent, literally."""

import numpy as np


def lasso(X, y, s, l1, l2, sweeps):
    """min sum s (x.w - y)^2 / 2 + l1 |w|_1 + l2/2 |w|^2, one weight at a time; no intercept."""
    w = np.zeros(X.shape[1])
    for _ in range(sweeps):
        for j, x in enumerate(X.T):
            pull = (s * x) @ (y - X @ w + x * w[j])
            w[j] = np.sign(pull) * max(abs(pull) - l1, 0) / ((s * x) @ x + l2)
    return w


def proximal_descent(problem, steps):
    """W <- prox(W - t X'S loss'(XW)), t = 1 / (curvature * largest eigenvalue of X'SX); no intercept."""
    X, W = problem.X.dense, np.zeros((problem.X.n_columns, problem.n_outputs))
    t = 1 / (problem.losses.loss.curvature * np.linalg.eigvalsh(X.T @ (problem.losses.s[:, None] * X)).max())
    for _ in range(steps):
        U = problem.losses.loss.derivative(problem.losses.y, X @ W)
        W = problem.penalty.prox(W - t * X.T @ (problem.losses.s[:, None] * U), t)
    return W
