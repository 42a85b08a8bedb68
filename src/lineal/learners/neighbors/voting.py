"""How much each neighbour has to say.

A neighbour at distance d weighs K(d); only the proportions between a query's neighbours matter. They are
taken relative to the nearest one, so that neither huge nor tiny distances overflow or vanish.

=====================  ==================================================================================
``weights``            K(d), with u = d / bandwidth
=====================  ==================================================================================
"uniform"              1
"distance"             1 / d
"inverse_square"       1 / d^2 (over all points: Shepard 1968)
"gaussian"             exp(-u^2 / 2) (over all points: Nadaraya 1964, Watson 1964)
"epanechnikov"         1 - u^2 for u < 1, else 0
"tricube"              (1 - u^3)^3 for u < 1, else 0
a function             of an array of distances, which returns weights of the same shape, finite and >= 0
=====================  ==================================================================================

Where d = 0 occurs under 1/d and 1/d^2, the points at distance 0 decide alone, with equal weights. Where every
weight is 0, the points at the least distance decide, with equal weights.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from lineal.errors import InputError, ParameterError
from lineal.objective.losses import FloatArray

WEIGHTS = ("uniform", "distance", "inverse_square", "gaussian", "epanechnikov", "tricube")
Weights = str | Callable[[Any], Any]


def check_weights(weights: Any, bandwidth: Any) -> None:
    """Refuses weights and bandwidths that cannot be."""
    if not callable(weights) and weights not in WEIGHTS:
        raise ParameterError(
            f"weights must be one of {', '.join(map(repr, WEIGHTS))}, or a function of distances; "
            f"got {weights!r}."
        )
    is_number = isinstance(bandwidth, numbers.Real) and not isinstance(bandwidth, bool)
    if not is_number or not 0 < float(bandwidth) < np.inf:
        raise ParameterError(f"bandwidth must be a finite number > 0, got {bandwidth!r}.")


def shares(s: FloatArray, k: float) -> FloatArray:
    """How much of each neighbour's own weight counts, nearest first, until k units are full.

    A row of weight 2 takes two of the k places, as the row twice would.
    """
    before = np.cumsum(s, axis=1) - s
    return np.clip(k - before, 0.0, s)


def votes(D: FloatArray, share: FloatArray, weights: Weights, bandwidth: float) -> FloatArray:
    """(n_queries, k) weights of neighbours at distances D, in proportions; no row is all zeros."""
    nearest = D.min(axis=1, keepdims=True)
    given = _asked(weights, D) if callable(weights) else _kernel(weights, D, nearest, float(bandwidth))
    found = given * share
    is_silent = ~(found > 0).any(axis=1)
    found[is_silent] = ((nearest == D) * share)[is_silent]
    return found


def _kernel(weights: str, D: FloatArray, nearest: FloatArray, bandwidth: float) -> FloatArray:
    if weights == "uniform":
        return np.ones_like(D)
    is_nearest = nearest == D
    with np.errstate(all="ignore"):  # what comes of 0 / 0 and of infinities is chosen away
        if weights in ("distance", "inverse_square"):
            ratio = nearest / D
            return np.where(is_nearest, 1.0, ratio if weights == "distance" else ratio * ratio)
        if weights == "gaussian":
            # d^2 - nearest^2 as a product: the nearest has weight 1, however far away it is.
            gap = (D - nearest) / bandwidth * ((D + nearest) / bandwidth)
            return np.where(is_nearest, 1.0, np.exp(-gap / 2))
        u = np.minimum(D / bandwidth, 1.0)
        return 1.0 - u * u if weights == "epanechnikov" else (1.0 - u**3) ** 3


def _asked(weights: Callable[[Any], Any], D: FloatArray) -> FloatArray:
    given = np.asarray(weights(D.copy()), dtype=np.float64)
    if given.shape != D.shape:
        raise InputError(
            f"weights was given distances of shape {D.shape} and must return as many weights, but returned "
            f"an array of shape {given.shape}."
        )
    if not np.isfinite(given).all() or (given < 0).any():
        raise InputError("weights must return finite numbers >= 0. Where a distance is 0, 1 / d is not one.")
    return given
