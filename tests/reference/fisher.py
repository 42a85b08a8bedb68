"""Fisher's discriminant as it is printed: scatters as matrices, inverses and eigenvectors as they come."""

import numpy as np
import scipy.linalg


def scatters(X, y, s):
    """S_W, S_B, the class means and counts, for labels 0 .. K - 1."""
    mean = np.average(X, axis=0, weights=s)
    within, between, means, counts = 0.0, 0.0, [], []
    for k in range(y.max() + 1):
        rows, weights = X[y == k], s[y == k]
        means.append(np.average(rows, axis=0, weights=weights))
        counts.append(weights.sum())
        within = within + (weights[:, None] * (rows - means[k])).T @ (rows - means[k])
        between = between + counts[k] * np.outer(means[k] - mean, means[k] - mean)
    return within, between, np.array(means), np.array(counts)


def shrunk(within, g):
    """(1 - g) S_W + g (tr S_W / d) I."""
    d = len(within)
    return (1 - g) * within + g * np.trace(within) / d * np.eye(d)


def eigenvalues(within, between):
    """mu of S_B w = mu S_W w, falling."""
    return scipy.linalg.eigh(between, within, eigvals_only=True)[::-1]
