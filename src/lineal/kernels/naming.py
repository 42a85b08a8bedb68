"""Kernels by the names and options that scikit-learn's users know."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from lineal.errors import InputError, ParameterError
from lineal.kernels.base import Kernel
from lineal.kernels.domains import Vectors
from lineal.kernels.given import FunctionKernel, Precomputed
from lineal.kernels.vectors import Gaussian, Laplacian, Linear, Polynomial, positive
from lineal.objective.losses import FloatArray


def resolved(
    kernel: Any,
    X: Any = None,
    *,
    gamma: float | str = "scale",
    degree: int = 3,
    c: float = 0.0,
    sample_weight: FloatArray | None = None,
) -> Kernel:
    """A kernel from a name, an object or a function.

    Parameters
    ----------
    kernel
        "linear", "poly", "rbf", "laplacian", "precomputed"; a :class:`Kernel`, which is returned as it is; or
        a function (X, Z) -> Gram matrix.
    X
        The training data, for gamma "scale" and "auto".
    gamma
        A number > 0, "scale" for 1 / (n_columns variance of X), or "auto" for 1 / n_columns. "laplacian",
        whose distances are not squared, scales by the deviation instead, so that units play no part.
    degree, c
        Of "poly": (gamma x.z + c)^degree.
    sample_weight
        Weights of the rows of X, which count in the variance: a weight of 2 is the row twice.

    Examples
    --------
    >>> from lineal.kernels import resolved
    >>> print(resolved("rbf", [[0.0, 1.0], [1.0, 0.0]]))
    exp(-2 |x - z|^2)
    """
    if isinstance(kernel, Kernel):
        return kernel
    if not isinstance(kernel, str):
        if callable(kernel):
            return FunctionKernel(kernel, whole=True)
    elif kernel == "linear":
        return Linear()
    elif kernel == "precomputed":
        return Precomputed()
    elif kernel == "poly":
        return Polynomial(degree=degree, c=c, gamma=_gamma(gamma, X, sample_weight))
    elif kernel == "rbf":
        return Gaussian(gamma=_gamma(gamma, X, sample_weight))
    elif kernel == "laplacian":
        return Laplacian(gamma=_gamma(gamma, X, sample_weight, is_squared=False))
    elif kernel == "sigmoid":
        raise ParameterError(
            "kernel='sigmoid' is no kernel: tanh(gamma x.z + c) is not positive semi-definite, so the "
            "problem has no dual and no certificate. Use kernel='rbf'."
        )
    raise ParameterError(
        "kernel must be 'linear', 'poly', 'rbf', 'laplacian', 'precomputed', a kernel of lineal.kernels, or "
        f"a function (X, Z) -> matrix; got {kernel!r}."
    )


def _gamma(gamma: Any, X: Any, weights: FloatArray | None, *, is_squared: bool = True) -> float:
    if gamma not in ("scale", "auto"):
        if isinstance(gamma, str):
            raise ParameterError(f"gamma must be 'scale', 'auto' or a number > 0, got {gamma!r}.")
        return positive(gamma, "gamma")
    if X is None:
        raise ParameterError(f"gamma={gamma!r} is found from data, but there are none. Give a number.")
    items = Vectors().checked(X)
    n_columns = max(items.shape[1], 1)
    if gamma == "auto":
        return 1.0 / n_columns
    with np.errstate(over="ignore", invalid="ignore"):
        variance = _variance(items, weights)
    if not np.isfinite(variance):
        raise InputError(f"gamma={gamma!r} needs the variance of X, which is beyond float64. {Kernel.remedy}")
    size = variance if is_squared else float(np.sqrt(variance))
    return 1.0 / (n_columns * size) if size > 0 else 1.0


def _variance(items: Any, weights: FloatArray | None) -> float:
    """Of all entries, zeros that are not stored included."""
    if weights is not None and len(weights) and (weights != weights[0]).any():
        return _weighted_variance(items, weights)
    if not sp.issparse(items):
        return float(items.var()) if items.size else 0.0
    size = items.shape[0] * items.shape[1]
    mean = float(items.data.sum()) / max(size, 1)
    apart = float(np.square(items.data - mean).sum()) + (size - items.nnz) * mean * mean
    return apart / max(size, 1)


def _weighted_variance(items: Any, weights: FloatArray) -> float:
    size = float(weights.sum()) * items.shape[1]
    mean = float(weights @ np.asarray(items.sum(axis=1)).ravel()) / size
    if not sp.issparse(items):
        return float(weights @ np.square(items - mean).sum(axis=1)) / size
    weight_of_entry = np.repeat(weights, np.diff(items.indptr))
    apart = float(weight_of_entry @ np.square(items.data - mean))
    return (apart + (size - float(weight_of_entry.sum())) * mean * mean) / size
