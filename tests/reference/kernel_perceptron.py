"""The kernel perceptrons as the lectures print them, line by line, with plain loops over a Gram matrix."""

from __future__ import annotations

import numpy as np


def sign(z):
    """+1 at 0."""
    return 1 if z >= 0 else -1


def counts(K, t, epochs):
    """f(x) = sum alpha_n t_n K(x_n, x); if h_n != t_n then alpha_n = alpha_n + 1."""
    alpha = [0] * len(t)
    for _ in range(epochs):
        for n in range(len(t)):
            f = sum(alpha[m] * t[m] * K[m][n] for m in range(len(t)))
            if sign(f) != t[n]:
                alpha[n] += 1
    return alpha


def signed(K, t, epochs):
    """f(x) = sum alpha_n K(x_n, x); if h_n != t_n then alpha_n = alpha_n + t_n."""
    alpha = [0] * len(t)
    for _ in range(epochs):
        for n in range(len(t)):
            f = sum(alpha[m] * K[m][n] for m in range(len(t)))
            if sign(f) != t[n]:
                alpha[n] += t[n]
    return alpha


def k_classes(K, t, n_classes, epochs):
    """f(x, t) = sum alpha_ij (K(x_i, t_i, x, t) - K(x_i, c_j, x, t)); at a mistake alpha_ij = alpha_ij + 1.

    K over pairs is that of the block map: K(x, x') where the classes are equal, else 0.
    """

    def over_pairs(i, one, n, other):
        return K[i][n] if one == other else 0.0

    alpha = [[0] * n_classes for _ in t]
    for _ in range(epochs):
        for n in range(len(t)):
            f = [
                sum(
                    alpha[i][j] * (over_pairs(i, t[i], n, c) - over_pairs(i, j, n, c))
                    for i in range(len(t))
                    for j in range(n_classes)
                )
                for c in range(n_classes)
            ]
            j = f.index(max(f))
            if j != t[n]:
                alpha[n][j] += 1
    return np.array(alpha)


def forgetron(K, t, budget, order):
    """Self-tuned, by the definitions: phi by bisection, and every sum written out; K(x, x) <= R^2."""
    radius = max(K[n][n] for n in order)
    kept, mistakes, deviation, shrinkage = [], 0, 0.0, 0.0  # kept: [row, weight], the oldest first

    def f(n):
        return sum(w * t[m] * K[m][n] for m, w in kept)

    for n in order:
        if sign(f(n)) == t[n]:
            continue
        mistakes += 1
        kept.append([n, 1.0])
        if len(kept) <= budget:
            continue
        r, weight = kept[0]
        margin = t[r] * f(r) / radius

        def psi(phi, r=r, weight=weight, margin=margin):
            lam = phi * weight
            return lam**2 * K[r][r] / radius + 2 * lam - 2 * lam * phi * margin

        low, high = 0.0, 1.0
        if deviation + psi(1.0) <= 15 / 32 * mistakes:
            low = 1.0
        else:
            for _ in range(200):
                middle = (low + high) / 2
                low, high = (middle, high) if deviation + psi(middle) <= 15 / 32 * mistakes else (low, middle)
        deviation += psi(low)
        shrinkage += (1 - low) / (1 + low)
        kept = [[m, low * w] for m, w in kept[1:]]
    return kept, mistakes, deviation, shrinkage
