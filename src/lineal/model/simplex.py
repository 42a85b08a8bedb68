"""Rows of numbers become probabilities that agree with a given winner."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lineal.model.answers import FloatArray, crowned


def onto_simplex(P: FloatArray) -> FloatArray:
    """The nearest probabilities to each row: max(p - t, 0), t such that they sum to 1 (Held et al. 1974)."""
    ordered = -np.sort(-P, axis=1)
    excess = (np.cumsum(ordered, axis=1) - 1.0) / np.arange(1, P.shape[1] + 1)
    last = (ordered > excess).sum(axis=1) - 1
    return np.maximum(P - excess[np.arange(len(P)), last][:, None], 0.0)


def normalised(P: FloatArray) -> FloatArray:
    """Rows of numbers >= 0 over their sums; equal shares where all are 0."""
    total = P.sum(axis=1, keepdims=True)
    return np.where(total > 0, P / np.where(total > 0, total, 1.0), 1.0 / P.shape[1])


def agreeing(P: FloatArray, best: NDArray[np.intp]) -> FloatArray:
    """The nearest probabilities in which the winner's is the largest of its row, the first where several are.

    Where larger ones stand beside the winner's, it and they take their common mean: the projection onto
    p_winner >= p_k. Rows that agree already are left as they are, and sums are kept.
    """
    P = P.copy()
    rows = np.arange(len(P))
    lost = np.flatnonzero(P.max(axis=1) > P[rows, best])
    if len(lost):
        Q, at = P[lost], best[lost]
        own = Q[np.arange(len(lost)), at]
        Q[np.arange(len(lost)), at] = -np.inf
        ordered = -np.sort(-Q, axis=1)[:, :-1]
        # The mean of the winner with its m largest rivals, for m = 1, 2 ...; as many as are above the mean.
        means = (own[:, None] + np.cumsum(ordered, axis=1)) / np.arange(2, P.shape[1] + 1)
        m = (ordered > means).sum(axis=1)
        level = means[np.arange(len(lost)), np.maximum(m - 1, 0)]
        Q = np.minimum(Q, level[:, None])
        Q[np.arange(len(lost)), at] = level
        P[lost] = Q
    return crowned(P, best)
