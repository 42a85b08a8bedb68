"""Kernels of differences, exp(-gamma |x - z|^2) and exp(-gamma |x - z|_1), and how wide they are."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lineal.deferred import sparse as sp
from lineal.errors import ParameterError
from lineal.kernels import Gaussian, Kernel, Laplacian

_NAMES = {"gaussian": "gaussian", "rbf": "gaussian", "laplacian": "laplacian"}


@dataclass(frozen=True)
class Difference:
    """A kernel of x - z.

    Attributes
    ----------
    kind : "gaussian" or "laplacian"
        exp(-gamma |x - z|^2), or exp(-gamma |x - z|_1) with the sum of absolute differences.
    gamma : float
    """

    kind: Literal["gaussian", "laplacian"]
    gamma: float

    @property
    def kernel(self) -> Kernel:
        """The same as a kernel of the library."""
        return Gaussian(gamma=self.gamma) if self.kind == "gaussian" else Laplacian(self.gamma)


def kind_of(owner: str, kernel: Any, gamma: Any) -> tuple[Literal["gaussian", "laplacian"], float | str]:
    """The kind of kernel that options name, and its gamma: a number, "scale" or "auto"."""
    if isinstance(kernel, (Gaussian, Laplacian)):
        if gamma != "scale":
            raise ParameterError(f"{owner} was given kernel={kernel!r}, which has a gamma: leave gamma out.")
        return ("gaussian" if isinstance(kernel, Gaussian) else "laplacian"), float(kernel.gamma)
    if not isinstance(kernel, str) or kernel not in _NAMES:
        raise ParameterError(
            f"{owner} knows 'gaussian' and 'laplacian', by name or as lineal.kernels.Gaussian(...)"
            f" and Laplacian(...), got {kernel!r}. For any other kernel use lineal.Nystroem."
        )
    is_number = isinstance(gamma, numbers.Real) and not isinstance(gamma, bool)
    if not (
        gamma in ("scale", "auto") if isinstance(gamma, str) else is_number and 0 < float(gamma) < np.inf
    ):
        raise ParameterError(f"gamma must be 'scale', 'auto' or a finite number > 0, got {gamma!r}.")
    kind: Literal["gaussian", "laplacian"] = "gaussian" if _NAMES[kernel] == "gaussian" else "laplacian"
    return kind, gamma if isinstance(gamma, str) else float(gamma)


def difference(kind: Literal["gaussian", "laplacian"], gamma: float | str, X: Any) -> Difference:
    """The kernel itself: "auto" is 1 / d; "scale" is that in units of all numbers' variance or deviation."""
    if not isinstance(gamma, str):
        return Difference(kind, gamma)
    n_columns = X.shape[1]
    if gamma == "auto":
        return Difference(kind, 1.0 / n_columns)
    variance = _variance(X)
    unit = variance if kind == "gaussian" else np.sqrt(variance)
    return Difference(kind, 1.0 / (n_columns * unit) if unit > 0 else 1.0)


def _variance(X: Any) -> float:
    """Of all numbers of X, the zeros that are not stored included."""
    if not sp.issparse(X):
        return float(np.var(X, dtype=np.float64))
    n = float(X.shape[0]) * X.shape[1]
    values = X.data.astype(np.float64)
    mean = values.sum() / n
    return float((((values - mean) ** 2).sum() + (n - len(values)) * mean**2) / n)
