"""From scores to labels and probabilities, with NumPy alone: for learners and for stored models."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

# How far below the others what has probability 0 stands: half a unit in the last place of 1, or further than
# products of probabilities go.
_ROUNDED, _NEVER = float(np.log(2.0**-53)), -1e6


def winners(Z: FloatArray) -> NDArray[np.intp]:
    """The class of the highest score; at a tie two classes take the second, more take the first."""
    return (Z[:, 0] >= 0).astype(np.intp) if Z.shape[1] == 1 else Z.argmax(axis=1)


def probabilities(Z: FloatArray, temperature: float) -> FloatArray:
    """Softmax of scores over a temperature; two classes from their one score."""
    if Z.shape[1] == 1:
        p = expit(Z[:, 0] / temperature)
        return np.column_stack([1.0 - p, p])
    return softmax(Z / temperature)


def log_probabilities(Z: FloatArray, temperature: float) -> FloatArray:
    """The logarithms of ``probabilities``, also of what those round to 0."""
    if Z.shape[1] == 1:
        z = Z[:, 0] / temperature
        return np.column_stack([log_expit(-z), log_expit(z)])
    return log_softmax(Z / temperature)


def own_probabilities(Z: FloatArray) -> FloatArray:
    """Each class's own probability, of it against the rest, divided by their sum."""
    return softmax(log_expit(Z))  # in logarithms, for they may all underflow


def crowned(p: FloatArray, best: NDArray[np.intp]) -> FloatArray:
    """Probabilities or scores, in place, with the winner's at least as large as any before it."""
    # Rounding, or a tie, must not let another label stand where the winner stands.
    lost = np.flatnonzero(p.argmax(axis=1) != best)
    p[lost, best[lost]] = np.nextafter(p.max(axis=1)[lost], np.inf)
    return p


def expit(z: FloatArray) -> FloatArray:
    """1 / (1 + exp(-z))."""
    e = np.exp(-np.abs(z))  # never above 1, so nothing overflows, and small probabilities keep their digits
    return np.where(z >= 0, 1.0, e) / (1.0 + e)


def log_expit(z: FloatArray) -> FloatArray:
    """The logarithm of ``expit``."""
    return -np.logaddexp(0.0, -z)


def softmax(Z: FloatArray) -> FloatArray:
    """exp(z) of each row over their sum."""
    e = np.exp(Z - Z.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))


def log_softmax(A: FloatArray) -> FloatArray:
    """The logarithms of ``softmax``, also of what that rounds to 0."""
    A = A - A.max(axis=1, keepdims=True)
    return np.asarray(A - np.log(np.exp(A).sum(axis=1, keepdims=True)))


def logs_of(P: FloatArray) -> FloatArray:
    """The logarithms of probabilities, -inf for 0."""
    with np.errstate(divide="ignore"):
        return np.log(P)


def score_columns(Z: FloatArray) -> FloatArray:
    """(n, 1) for two classes, (n, K) for more, of decision values or of logarithms of probabilities."""
    return Z[:, None] if Z.ndim == 1 else Z if Z.shape[1] != 2 else _margin(Z)


def possible(logs: FloatArray, *, are_exact: bool) -> FloatArray:
    """Logarithms of probabilities, all finite: 0 becomes a small part of the least that is not.

    Where logarithms are exact, 0 is what cannot be, and stands below all that can; elsewhere it may be a
    share of few rows, or rounded, and is 2^-53 of the least.
    """
    is_possible = np.isfinite(logs)
    if is_possible.all():
        return logs
    least = np.min(logs, axis=1, where=is_possible, initial=0.0)
    return np.where(is_possible, logs, least[:, None] + (_NEVER if are_exact else _ROUNDED))


def _margin(Z: FloatArray) -> FloatArray:
    """(n, 1) by how much the second of two scores is higher."""
    margin = Z[:, 1:] - Z[:, :1]
    # Equal scores mean the first class, a margin of 0 the second: it is made to say the first too.
    margin[Z[:, 1] == Z[:, 0]] = -5e-324
    return margin
