"""OWL-QN, literally (Andrew and Gao 2007): every inverse Hessian as a matrix, every weight in a loop.

Two rules are not the paper's. Where its memory begins as a multiple of the identity, this one begins as a
multiple of the inverse of a bound on the Hessian's diagonal: the same in units in which every column curves
alike. And where it cuts the direction down to the signs of steepest descent, the memory here is of the
weights off 0 alone (Schmidt 2010); those at 0 go steepest.
"""

import numpy as np


def owlqn(problem, l1, l2, steps):
    """Weights of one output after each step, without an intercept; the memory holds all steps."""
    X, y, s = problem.X.dense, problem.losses.y, problem.losses.s
    d = X.shape[1]

    def smooth(w):
        Z = (X @ w)[:, None]
        gradient = X.T @ (s * problem.losses.loss.derivative(y, Z)[:, 0]) + l2 * w
        return s @ problem.losses.loss.value(y, Z)[:, 0] + l2 / 2 * w @ w, gradient

    diagonal = np.diag([1 / (problem.losses.loss.curvature * s @ X[:, j] ** 2 + l2) for j in range(d)])
    w, pairs, path = np.zeros(d), [], []
    for _ in range(steps):
        value, g = smooth(w)
        value += l1 * np.abs(w).sum()
        v = np.zeros(d)  # minus the pseudo-gradient
        for j in range(d):
            left, right = (g[j] - l1, g[j] + l1) if w[j] == 0 else (g[j] + l1 * np.sign(w[j]),) * 2
            v[j] = -left if left > 0 else -right if right < 0 else 0.0
        off = np.flatnonzero(w)
        kept = [(move[off], change[off]) for move, change in pairs if move[off] @ change[off] > 0]
        start = diagonal[np.ix_(off, off)]
        H = start.copy()
        if kept:
            move, change = kept[-1]
            H *= (move @ change) / (change @ start @ change)
        for move, change in kept:
            rho = 1 / (move @ change)
            L = np.eye(len(off)) - rho * np.outer(move, change)
            H = L @ H @ L.T + rho * np.outer(move, move)
        direction = diagonal @ v
        direction[off] = H @ v[off]
        orthant = np.where(w != 0, np.sign(w), np.sign(v))
        t = 1.0
        while True:
            ahead = w + t * direction
            ahead[np.sign(ahead) != orthant] = 0.0
            there, slope = smooth(ahead)
            promised = v @ (ahead - w)
            if promised > 0 and there + l1 * np.abs(ahead).sum() <= value - 1e-4 * promised:
                break
            t /= 2
        pairs.append((ahead - w, slope - g))
        w = ahead
        path.append(w)
    return path
