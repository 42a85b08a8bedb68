"""Kernels of differences, exp(-gamma |x - z|^2) and exp(-gamma |x - z|_1), and how wide they are."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lineal.errors import ParameterError
from lineal.kernels import Gaussian, Kernel, Laplacian, resolved

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
    """The kernel itself, with the gamma that "scale" and "auto" are for X."""
    found = resolved("rbf" if kind == "gaussian" else "laplacian", X, gamma=gamma)
    assert isinstance(found, (Gaussian, Laplacian))
    return Difference(kind, found.gamma)
