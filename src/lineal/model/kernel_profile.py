"""Kernels that follow from dot products, as the core computes them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

from lineal import _core
from lineal.model.record import Spec

Kind = Literal["linear", "polynomial", "gaussian"]

# Powers are taken by multiplication: a file may not ask for a billion of them for every value.
MOST_DEGREE = 1000


@dataclass(frozen=True)
class Profile:
    """How a kernel follows from a dot product, for engines that compute dot products themselves.

    linear ``x.z``; polynomial ``(gamma x.z + c)^degree``; gaussian ``exp(-gamma |x - z|^2)``.
    """

    kind: Kind
    gamma: float = 1.0
    c: float = 0.0
    degree: int = 1

    def native(self, matrix: _core.Matrix, scale: float = 1.0, unit: float = 1.0) -> _core.KernelValues:
        """Values of the kernel divided by ``unit``, of rows that were multiplied by ``scale``.

        Both are powers of two that keep numbers in the range of float32 and change no bit of what follows.
        """
        kind, gamma, c = self._scaled(scale, unit)
        return _core.KernelValues.from_rows(matrix, kind, gamma, c, max(self.degree, 1))

    def _scaled(self, scale: float, unit: float) -> tuple[str, float, float]:
        gamma = (self.gamma if self.kind != "linear" else 1.0) / scale / scale
        if self.kind == "gaussian":
            return self.kind, gamma, self.c
        factor = unit ** (-1.0 / max(self.degree, 1))
        gamma, c = gamma * factor, self.c * factor
        is_plain = self.kind == "linear" and gamma == 1.0
        return "linear" if is_plain else "polynomial", gamma, c  # gamma x.z

    def __str__(self) -> str:
        if self.kind == "linear":
            return "x.z"
        if self.kind == "gaussian":
            return f"exp(-{self.gamma:g} |x - z|^2)"
        return f"({self.gamma:g} x.z + {self.c:g})^{self.degree}"

    # ---- record -------------------------------------------------------------------------------

    def put(self) -> dict[str, Any]:
        """As JSON."""
        return {"kind": self.kind, "gamma": self.gamma, "c": self.c, "degree": self.degree}

    @classmethod
    def read(cls, spec: Spec, scale: float, unit: float) -> Profile:
        """What ``put`` kept; values that cannot be computed with in these units are refused."""
        kind: Any = spec.text("kind", get_args(Kind))
        least = 0.0 if kind == "gaussian" else -math.inf
        gamma, c = spec.number("gamma", least), spec.number("c")
        made = cls(kind, gamma, c, spec.whole("degree", 1, MOST_DEGREE))
        if not all(map(math.isfinite, made._scaled(scale, unit)[1:])):
            spec.refuse("gamma", f"finite in units of {scale} and {unit}", gamma)
        return made
