"""Two exact ways to weights that separate, or to shares that prove that none do.

The hard-margin dual: the point of the convex hull of the a that is nearest to 0, by least squares with shares
>= 0 (Lawson and Hanson 1974). It is v, its shares are alpha, and both sides of the margin meet in it. A tiny
one is known badly: v is found instead from the rows that share in it, whose margins are all equal.

The linear programme:

    maximise t   subject to   a_i . v >= t,  |v_j| <= 1,

with rows and columns scaled to a largest number near 1, which changes neither answer. t > 0: v separates.
t = 0: the multipliers of the rows are shares alpha with sum alpha_i a_i = 0 (Gordan 1873).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lineal.deferred import optimize
from lineal.deferred import sparse as sp
from lineal.learners.perceptron.margins import Differences
from lineal.objective.losses import FloatArray

# Shares of at most so many rows are found once more by least squares, to the last digit.
_POLISHED = 1500


@dataclass(frozen=True)
class Candidates:
    """What was found; both are candidates that prove nothing before they are checked.

    Attributes
    ----------
    coef, intercept : arrays or None
        Weights that may separate.
    shares : array or None
        (n,) or (n, K) shares whose combination may be 0.
    """

    coef: FloatArray | None
    intercept: FloatArray | None
    shares: FloatArray | None


def nearest(differences: Differences) -> Candidates:
    """The nearest point of the hull: dense, and for few rows or few columns."""
    A = differences.stacked().toarray()
    size = float(np.abs(A).max()) or 1.0
    try:
        shares, _ = optimize.nnls(np.vstack([A.T / size, np.ones(len(A))]), np.r_[np.zeros(A.shape[1]), 1.0])
    except RuntimeError:  # too many iterations
        return Candidates(None, None, None)
    if not shares.any():
        return Candidates(None, None, None)
    v = np.linalg.lstsq(A[shares > 0], np.ones(np.count_nonzero(shares)), rcond=None)[0]
    coef, intercept = _as_weights(differences, v)
    return Candidates(coef, intercept, _as_shares(differences, shares / shares.sum()))


def solved(differences: Differences, seconds: float | None) -> Candidates:
    """Solves it with HiGHS, for at most so many seconds."""
    A = differences.stacked()
    by_column = _largest(A, 0)
    A = sp.csr_array(A @ sp.diags_array(1.0 / by_column))
    by_row = _largest(A, 1)
    A = sp.csr_array(sp.diags_array(1.0 / by_row) @ A)
    n, d = A.shape
    options = {} if seconds is None else {"time_limit": max(seconds, 0.01)}
    answer = optimize.linprog(
        np.r_[np.zeros(d), -1.0],
        A_ub=sp.hstack([-A, np.ones((n, 1))], format="csr"),
        b_ub=np.zeros(n),
        bounds=[*[(-1.0, 1.0)] * d, (None, 1.0)],
        method="highs",
        options=options,
    )
    if answer.x is None or answer.status not in (0, 1):
        return Candidates(None, None, None)
    coef, intercept = _as_weights(differences, answer.x[:d] / by_column)
    multipliers = np.maximum(-np.asarray(answer.ineqlin.marginals), 0.0)
    if not multipliers.any():
        return Candidates(coef, intercept, None)
    shares = _polished(A, multipliers / multipliers.sum()) / by_row
    return Candidates(coef, intercept, _as_shares(differences, shares / shares.sum()))


def _largest(A: sp.csr_array, axis: int) -> FloatArray:
    """About the largest size in each row or column: a power of 2, to scale without rounding; 1 for 0."""
    largest = abs(A).max(axis=axis).toarray().ravel()
    return np.where(largest > 0, 2.0 ** np.round(np.log2(np.where(largest > 0, largest, 1.0))), 1.0)


def _as_weights(differences: Differences, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    table = v.reshape(differences.n_scores, -1)
    if not differences.constant:
        return table, np.zeros(differences.n_scores)
    return table[:, :-1], table[:, -1]


def _as_shares(differences: Differences, shares: FloatArray) -> FloatArray:
    if differences.n_scores == 1:
        return shares
    full = np.zeros((len(differences.codes), differences.n_classes))
    full[differences.pairs()] = shares
    return full


def _polished(A: sp.csr_array, shares: FloatArray) -> FloatArray:
    """The same support, with its combination brought to 0 as well as float64 can."""
    support = np.flatnonzero(shares > 0)
    if len(support) > _POLISHED:
        return shares
    part = A[support]
    used = np.unique(part.indices)
    system = np.vstack([part[:, used].toarray().T, np.ones(len(support))])
    try:
        found, _ = optimize.nnls(system, np.r_[np.zeros(len(used)), 1.0])
    except RuntimeError:  # too many iterations: the shares are good as they are
        return shares
    polished = np.zeros_like(shares)
    polished[support] = found
    return polished if found.any() else shares
