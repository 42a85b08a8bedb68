"""From scores to labels and probabilities, with NumPy alone: for learners and for stored models."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

# Half a unit in the last place of 1: the nearest to certainty that log odds can be finite at.
_SURE = 2.0**-53


def winners(Z: FloatArray) -> NDArray[np.intp]:
    """The class of the highest score; at a tie two classes take the second, more take the first."""
    return (Z[:, 0] >= 0).astype(np.intp) if Z.shape[1] == 1 else Z.argmax(axis=1)


def probabilities(Z: FloatArray, temperature: float) -> FloatArray:
    """Softmax of scores over a temperature; two classes from their one score."""
    if Z.shape[1] == 1:
        p = expit(Z[:, 0] / temperature)
        return np.column_stack([1.0 - p, p])
    return softmax(Z / temperature)


def own_probabilities(Z: FloatArray) -> FloatArray:
    """Each class's own probability, of it against the rest, divided by their sum."""
    return softmax(log_expit(Z))  # in logarithms, for they may all underflow


def crowned(p: FloatArray, best: NDArray[np.intp]) -> FloatArray:
    """The probabilities, in place, with the winner's at least as large as any before it."""
    # Rounding, or a tie, must not let another label stand where the winner stands.
    lost = np.flatnonzero(p.argmax(axis=1) != best)
    p[lost, best[lost]] = np.nextafter(p.max(axis=1)[lost], 2.0)
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


def score_columns(Z: FloatArray | None, P: FloatArray | None, n_classes: int) -> FloatArray:
    """(n, 1) for two classes, (n, K) for more: decision values Z, else logarithms of probabilities P.

    Of probabilities two classes have log odds, more have log probabilities.
    """
    if Z is not None:
        return Z[:, None] if Z.ndim == 1 else Z if Z.shape[1] != 2 else _margin(Z)
    assert P is not None
    logs: FloatArray = np.log(np.clip(P, _SURE, 1.0 - _SURE))
    return logs if n_classes > 2 else _margin(logs)


def _margin(Z: FloatArray) -> FloatArray:
    """(n, 1) by how much the second of two scores is higher."""
    margin = Z[:, 1:] - Z[:, :1]
    # Equal scores mean the first class, a margin of 0 the second: it is made to say the first too.
    margin[Z[:, 1] == Z[:, 0]] = -5e-324
    return margin
