"""Iterative scaling, literally: one feature of one class at a time."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax


def scaling_step(X, codes, s, W, lam, kind):
    """One step for softmax weights W (d, K); lam (d,) is each feature's strength; X counts its constant."""
    t = X.sum(axis=1)
    if kind == "gis":
        t = np.full_like(t, t.max())
    P = softmax(X @ W, axis=1)
    after = W.copy()
    for j in range(W.shape[0]):
        for k in range(W.shape[1]):
            observed = sum(s[i] * X[i, j] for i in range(len(X)) if codes[i] == k)

            def excess(delta, j=j, k=k, observed=observed):
                expected = (s * X[:, j] * P[:, k]) @ np.exp(delta * t)
                return expected + lam[j] * (W[j, k] + delta) - observed

            after[j, k] += brentq(excess, -20 / t.max(), 20 / t.max(), xtol=1e-14)
    return after - after.mean(axis=1, keepdims=True)
