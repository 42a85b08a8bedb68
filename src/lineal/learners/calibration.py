"""From scores to probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from lineal.objective.losses import FloatArray


def winners(Z: FloatArray) -> NDArray[np.intp]:
    """The class of the highest score; at a tie two classes take the second, more take the first."""
    return (Z[:, 0] >= 0).astype(np.intp) if Z.shape[1] == 1 else Z.argmax(axis=1)


def probabilities(Z: FloatArray, temperature: float) -> FloatArray:
    """Softmax of scores over a temperature; two classes from their one score."""
    if Z.shape[1] == 1:
        p = expit(Z[:, 0] / temperature)
        return np.column_stack([1.0 - p, p])
    return np.asarray(softmax(Z / temperature, axis=1))


def crowned(p: FloatArray, best: NDArray[np.intp]) -> FloatArray:
    """The probabilities, in place, with the winner's at least as large as any before it."""
    # Rounding, or a tie, must not let another label stand where the winner stands.
    lost = np.flatnonzero(p.argmax(axis=1) != best)
    p[lost, best[lost]] = np.nextafter(p.max(axis=1)[lost], 2.0)
    return p


def fitted_temperature(Z: FloatArray, codes: NDArray[np.int32], s: FloatArray) -> float:
    """The temperature of least log loss, found on a logarithmic scale."""
    from scipy.optimize import minimize_scalar

    rows = np.arange(len(codes))
    size = float(np.abs(Z).max(initial=0.0))
    unit = size if 0 < size < np.inf else 1.0  # scores may come in any units

    def log_loss(log_temperature: float) -> float:
        p = probabilities(Z / unit, float(np.exp(log_temperature)))[rows, codes]
        return float(-np.dot(s, np.log(np.maximum(p, 1e-300))))

    return unit * float(np.exp(minimize_scalar(log_loss, bounds=(-10.0, 10.0), method="bounded").x))
