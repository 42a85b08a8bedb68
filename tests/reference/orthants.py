"""OWL-QN, literally (Andrew and Gao 2007): every inverse Hessian as a matrix, every weight in a loop.

Where the paper's memory begins as a multiple of the identity, this one begins as a multiple of the inverse
of a bound on the Hessian's diagonal: the same rule in units in which every column curves alike.
"""

import numpy as np


def owlqn(problem, l1, l2, steps):
    """Weights of one output after each step, without an intercept; the memory holds all steps."""
    X, y, s = problem.X.dense, problem.y, problem.s
    d = X.shape[1]

    def smooth(w):
        Z = (X @ w)[:, None]
        gradient = X.T @ (s * problem.loss.derivative(y, Z)[:, 0]) + l2 * w
        return s @ problem.loss.value(y, Z)[:, 0] + l2 / 2 * w @ w, gradient

    diagonal = np.diag([1 / (problem.loss.curvature * s @ X[:, j] ** 2 + l2) for j in range(d)])
    w, pairs, path = np.zeros(d), [], []
    for _ in range(steps):
        value, g = smooth(w)
        value += l1 * np.abs(w).sum()
        v = np.zeros(d)  # minus the pseudo-gradient
        for j in range(d):
            left, right = (g[j] - l1, g[j] + l1) if w[j] == 0 else (g[j] + l1 * np.sign(w[j]),) * 2
            v[j] = -left if left > 0 else -right if right < 0 else 0.0
        H = diagonal.copy()
        if pairs:
            move, change = pairs[-1]
            H *= (move @ change) / (change @ diagonal @ change)
        for move, change in pairs:
            rho = 1 / (move @ change)
            L = np.eye(d) - rho * np.outer(move, change)
            H = L @ H @ L.T + rho * np.outer(move, move)
        direction = H @ v
        direction[np.sign(direction) != np.sign(v)] = 0.0
        orthant = np.where(w != 0, np.sign(w), np.sign(v))
        t = 1.0
        while True:
            ahead = w + t * direction
            ahead[np.sign(ahead) != orthant] = 0.0
            there, slope = smooth(ahead)
            if there + l1 * np.abs(ahead).sum() <= value - 1e-4 * v @ (ahead - w):
                break
            t /= 2
        pairs.append((ahead - w, slope - g))
        w = ahead
        path.append(w)
    return path
