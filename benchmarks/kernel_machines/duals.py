"""Dual objectives of machines in float64, from their coefficients and the rows: who learned the same.

D = sum_i |beta_i| - beta'K beta / 2,   beta_i = y_i alpha_i,   0 <= alpha_i <= C,   sum beta = 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# Kernel values at once: 32 MB.
PIECE = 1 << 22


def dual_objective(X: Any, learned: Any, gamma: float, C: float) -> dict[str, float]:
    """D, summed over the machines of all pairs of classes, and by how much coefficients are not feasible."""
    dual, support, counts = learned["dual"], learned["support"], learned["n_support"]
    rows = X[support].toarray()
    if len(dual) == 1:
        return _told([(rows, dual[0])], gamma, C)
    ends = np.concatenate([[0], np.cumsum(counts)])
    parts = []
    for i in range(len(counts)):
        for j in range(i + 1, len(counts)):
            first, second = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
            # LIBSVM's layout: a support vector of class i has its coefficient against j > i in row j - 1.
            beta = np.concatenate([dual[j - 1, first], dual[i, second]])
            used = beta != 0
            parts.append((np.vstack([rows[first], rows[second]])[used], beta[used]))
    return _told(parts, gamma, C)


def _told(parts: list[tuple[np.ndarray, np.ndarray]], gamma: float, C: float) -> dict[str, float]:
    value = sum(float(np.abs(beta).sum()) - 0.5 * _squared(rows, beta, gamma) for rows, beta in parts)
    beyond = max(float(np.abs(beta).max(initial=0.0)) / C - 1.0 for _, beta in parts)
    unbalanced = max(abs(float(beta.sum())) / max(float(np.abs(beta).sum()), 1e-300) for _, beta in parts)
    return {"dual": value, "beyond": max(beyond, 0.0), "unbalanced": unbalanced}


def _squared(rows: np.ndarray, beta: np.ndarray, gamma: float) -> float:
    """beta'K beta of the Gaussian kernel, a part of the rows after another."""
    rows = rows - rows.mean(axis=0)  # distances stay, and squares lose fewer digits
    squares = np.square(rows).sum(axis=1)
    total, step = 0.0, max(1, PIECE // max(len(rows), 1))
    for first in range(0, len(rows), step):
        part = slice(first, first + step)
        K = squares[part, None] + squares - 2.0 * (rows[part] @ rows.T)
        np.exp(np.multiply(np.maximum(K, 0.0, out=K), -gamma, out=K), out=K)
        total += float(beta[part] @ (K @ beta))
    return total
