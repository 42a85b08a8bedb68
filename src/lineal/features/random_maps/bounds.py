"""Hoeffding's inequality for means of bounded draws."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from lineal.errors import ParameterError
from lineal.features.random_maps.base import whole_number


def deviation(confidence: Any, n_means: Any, *, n_draws: int, width: float) -> float:
    """How far means of independent draws from an interval of this width are from their expectations at most.

    All of ``n_means`` together, with probability ``confidence``: width sqrt(ln(2 n_means / (1 - confidence))
    / (2 n_draws)).
    """
    if not isinstance(confidence, numbers.Real) or not 0 < float(confidence) < 1:
        raise ParameterError(f"confidence must be between 0 and 1, got {confidence!r}.")
    n = whole_number("n_pairs", n_means)
    return float(width * np.sqrt(np.log(2 * n / (1 - float(confidence))) / (2 * n_draws)))
