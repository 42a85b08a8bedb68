"""Options of the naive Bayes learners: pseudo-counts and the probabilities of classes."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lineal.errors import ParameterError
from lineal.learners.presets.dialect import not_negative
from lineal.objective.losses import FloatArray


def pseudo_count(owner: str, smoothing: float, alpha: float | None) -> float:
    """``smoothing``, or scikit-learn's name for it where that is given."""
    if alpha is None:
        return not_negative(owner, "smoothing", smoothing)
    return not_negative(owner, "alpha", alpha)


def real(owner: str, name: str, value: Any) -> float:
    """The option, which must be a finite number."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or not np.isfinite(float(value)):
        raise ParameterError(f"{owner} needs a finite number as {name}, got {value!r}.")
    return float(value)


def check_prior(owner: str, class_prior: Any) -> None:
    """Refuses what can be no distribution over any number of classes."""
    if class_prior is None or (isinstance(class_prior, str) and class_prior == "uniform"):
        return
    try:
        given = np.asarray(class_prior, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.empty(0)
    # 1e-9 forgives the rounding of decimal fractions, not a forgotten class.
    if given.ndim != 1 or not (given >= 0).all() or not abs(given.sum() - 1.0) <= 1e-9:
        raise ParameterError(
            f"{owner} needs class_prior as None, 'uniform' or one probability for each class, in the order "
            f"of classes_, that sum to 1; got {class_prior!r}."
        )


def log_prior(
    owner: str, class_prior: str | ArrayLike | None, class_count: FloatArray, smoothing: float
) -> FloatArray:
    """ln p(C_k): given, uniform, or (N_k + smoothing) / (N + smoothing K)."""
    K = len(class_count)
    if class_prior is None:
        p = (class_count + smoothing) / (class_count.sum() + smoothing * K)
    elif isinstance(class_prior, str):
        p = np.full(K, 1.0 / K)
    else:
        p = np.asarray(class_prior, dtype=np.float64)
        if len(p) != K:
            raise ParameterError(
                f"{owner} was given class_prior for {len(p)} classes, but the data have {K}."
            )
    with np.errstate(divide="ignore"):  # a class without rows has the logarithm of 0
        return np.log(p)
