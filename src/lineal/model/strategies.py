"""Answers of two-class learners become answers about many classes: by votes of pairs, or by a code."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lineal.model.answers import FloatArray, crowned
from lineal.model.simplex import onto_simplex

Code = NDArray[np.int8]
BitLoss = Callable[[FloatArray, FloatArray], FloatArray]  # of y = -1 or +1 and z

# So many numbers at a time in systems of equations: 32 MB.
_PIECE = 1 << 22


def one_vs_one_code(K: int) -> Code:
    """A column for each pair i < j of classes: -1 for i, +1 for j, and 0, not asked, for the others."""
    first, second = np.triu_indices(K, 1)
    code = np.zeros((K, len(first)), dtype=np.int8)
    code[first, np.arange(len(first))] = -1
    code[second, np.arange(len(first))] = 1
    return code


def votes_of(Z: FloatArray, code: Code) -> FloatArray:
    """(n, K) pairs won; a score of 0 is a vote for the second class."""
    is_second = (Z >= 0).astype(np.float64)
    return np.asarray(is_second @ (code.T > 0) + (1.0 - is_second) @ (code.T < 0))


def scores_of_votes(Z: FloatArray, code: Code) -> FloatArray:
    """(n, K) votes, and below 1/3 of one by what the scores of a class's pairs sum to.

    Very large and very small sums round to the same part of a vote: a tie between them is settled by one unit
    in the last place.
    """
    votes, sums = votes_of(Z, code), Z @ code.T.astype(np.float64)
    leader = np.where(votes == votes.max(axis=1, keepdims=True), sums, -np.inf).argmax(axis=1)
    return crowned(votes + sums / (3.0 * (np.abs(sums) + 1.0)), leader)


def coupled_pairs(R: FloatArray, K: int) -> FloatArray:
    """(n, K) probabilities from those of the second of each pair of classes."""
    first, second = np.triu_indices(K, 1)
    step = max(1, _PIECE // (K * K))
    pieces = []
    for start in range(0, len(R), step):
        r = R[start : start + step]
        pairs = np.zeros((len(r), K, K))  # pairs[:, k, l] = p(k | k or l)
        pairs[:, first, second] = 1.0 - r
        pairs[:, second, first] = r
        pieces.append(coupled(pairs))
    return np.concatenate(pieces) if pieces else np.empty((0, K))


def coupled(pairs: FloatArray) -> FloatArray:
    """(n, K) probabilities from (n, K, K) numbers p(k | k or l), by the method of Wu, Lin and Weng (2004)."""
    n, K, _ = pairs.shape
    # A pair that is certain would leave the system singular.
    r = np.clip(pairs, 1e-7, 1.0 - 1e-7) * (1.0 - np.eye(K))
    other = r.transpose(0, 2, 1)
    Q = -r * other
    Q[:, np.arange(K), np.arange(K)] = (other**2).sum(axis=2)
    system = np.ones((n, K + 1, K + 1))
    system[:, :K, :K] = Q
    system[:, K, K] = 0.0
    wanted = np.zeros((n, K + 1, 1))
    wanted[:, K] = 1.0
    p = np.linalg.solve(system, wanted)[:, :K, 0]
    p = np.maximum(p, 0.0)  # they are positive, but for rounding
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def scores_of_bits(Z: FloatArray, code: Code, loss: BitLoss | None) -> FloatArray:
    """(n, K) minus the loss of the bits of each class, or minus how many of them are wrong without one."""
    bits = code.astype(np.float64)
    if loss is None:
        return np.asarray((np.where(Z >= 0, 1.0, -1.0) @ bits.T - bits.shape[1]) / 2.0)
    # The loss of a bit has two values, so K x L of them need not be computed for each row.
    ones = np.ones_like(Z)
    against, in_favour = loss(-ones, Z), loss(ones, Z)
    return np.asarray(-(in_favour @ (bits.T > 0) + against @ (bits.T < 0)))


def classes_of_bits(R: FloatArray, code: Code) -> FloatArray:
    """(n, K) probabilities that give each bit its own, in the sense of least squares."""
    K = len(code)
    A = (code.T > 0).astype(np.float64)
    centre = np.full(K, 1.0 / K)
    # p = 1/K + B t keeps the sum; B is a basis of the rows that sum to 0.
    B = np.linalg.svd(np.ones((1, K)))[2][1:].T
    t = (R - A @ centre) @ np.linalg.pinv(A @ B).T
    return onto_simplex(centre + t @ B.T)


# The losses that a stored code is decoded with, by name: as lineal.objective has them.
BIT_LOSSES: dict[str, Callable[[float], BitLoss]] = {
    "log": lambda margin: lambda y, z: np.logaddexp(0.0, -y * z),
    "hinge": lambda margin: lambda y, z: np.maximum(0.0, margin - y * z),
    "squared_hinge": lambda margin: lambda y, z: np.maximum(0.0, margin - y * z) ** 2,
    "squared": lambda margin: lambda y, z: (z - y) ** 2 / 2,
}
