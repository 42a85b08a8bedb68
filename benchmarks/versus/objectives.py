"""The referee: every contender's objective, in float64, from its weights alone.

Nothing here is shared with lineal or with a peer, so no one is judged by their own arithmetic.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp
from task import Task


def objective(task: Task, X: sp.csr_matrix, y: np.ndarray, coef: np.ndarray, intercept: np.ndarray) -> float:
    """``sum_i loss(y_i, x_i . w + b) + (1/C) R(w)``, one-vs-rest problems added up."""
    coef = np.asarray(coef, dtype=np.float64)
    score = X @ coef.T + np.asarray(intercept, dtype=np.float64)
    return loss_sum(task.loss, score, y) + penalty(task.penalty, coef) / task.C


def penalty(name: str, coef: np.ndarray) -> float:
    """R(w), the intercept left out."""
    if name == "l1":
        return float(np.abs(coef).sum())
    return 0.5 * float(np.vdot(coef, coef))


def loss_sum(name: str, score: np.ndarray, y: np.ndarray) -> float:
    """Sum of the losses of all rows; ``score`` has one column for two classes, else one a class."""
    if name == "softmax":
        return float((logsumexp(score, axis=1) - score[np.arange(len(y)), y]).sum())
    margin = _signs(y, score.shape[1]) * score
    if name == "log":
        return float(np.logaddexp(0.0, -margin).sum())
    slack = np.maximum(0.0, 1.0 - margin)
    return float(np.vdot(slack, slack) if name == "squared_hinge" else slack.sum())


def _signs(y: np.ndarray, n_columns: int) -> np.ndarray:
    if n_columns == 1:
        return y[:, None].astype(np.float64)
    return np.where(y[:, None] == np.arange(n_columns), 1.0, -1.0)
