"""How sure scores are: a temperature that makes probabilities of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lineal.model.answers import probabilities
from lineal.objective.losses import FloatArray


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
