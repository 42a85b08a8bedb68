"""Kernels of vectors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lineal.errors import ParameterError
from lineal.kernels.base import Kernel
from lineal.kernels.domains import Domain, Vectors
from lineal.kernels.formulas import POWER, PRODUCT, number
from lineal.kernels.products import absolute_distances, dots, squared_distances, squared_lengths
from lineal.model.kernel_profile import Profile
from lineal.objective.losses import FloatArray

_LEAST_GAMMA = 1e-300


def finite_number(value: Any, name: str, need: str, holds: Any) -> float:
    """The value as a float, if it is a finite number for which the need holds."""
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not is_number or not np.isfinite(value) or not holds(value):
        raise ParameterError(f"{name} must be a finite number {need}, got {value!r}.")
    return float(value)


def whole_number(value: Any, name: str, least: int) -> int:
    """The value as an int, if it is a whole number that is large enough."""
    is_whole = isinstance(value, (int, np.integer)) or (isinstance(value, float) and value.is_integer())
    if not is_whole or isinstance(value, bool) or value < least:
        raise ParameterError(f"{name} must be a whole number >= {least}, got {value!r}.")
    return int(value)


def positive(value: Any, name: str) -> float:
    """The value as a float, if it is a finite number > 0."""
    return finite_number(value, name, "> 0", lambda v: v > 0)


def _decayed(D: FloatArray) -> None:
    """exp(-D), in place."""
    np.negative(D, out=D)
    np.exp(D, out=D)


class VectorKernel(Kernel):
    """A kernel of rows of numbers, dense or sparse."""

    @property
    def domain(self) -> Domain:
        """Rows of numbers."""
        return Vectors()


@dataclass(frozen=True)
class Linear(VectorKernel):
    """x.z, the dot product: the space is the data's own.

    Examples
    --------
    >>> from lineal.kernels import Linear
    >>> Linear().gram([[1, 2], [3, 4]])
    array([[ 5., 11.],
           [11., 25.]])
    """

    is_linear = True

    def compute(self, items: Any, others: Any | None, n_threads: int) -> FloatArray:
        return dots(items, others, n_threads)

    def compute_diagonal(self, items: Any) -> FloatArray:
        return squared_lengths(items)

    def formula(self, x: str = "x", z: str = "z") -> str:
        return f"{x}.{z}"

    @property
    def level(self) -> int:
        """A product."""
        return PRODUCT

    @property
    def profile(self) -> Profile:
        """A dot product as it is."""
        return Profile("linear")


@dataclass(frozen=True)
class Polynomial(VectorKernel):
    """(gamma x.z + c)^degree: all products of up to ``degree`` columns, of exactly so many with c = 0.

    Parameters
    ----------
    degree
        A whole number >= 1.
    c
        The weight of lower degrees, >= 0: below 0 this is no kernel.
    gamma
        The weight of the dot product, > 0.

    Examples
    --------
    >>> from lineal.kernels import Polynomial
    >>> print(Polynomial(degree=3))
    (x.z + 1)^3
    >>> Polynomial(degree=3)([1, 2], [0.5, 0.25])
    8.0
    """

    degree: int = 3
    c: float = 1.0
    gamma: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", whole_number(self.degree, "degree", 1))
        need = ">= 0, since (x.z + c)^degree is no kernel below"
        object.__setattr__(self, "c", finite_number(self.c, "c", need, lambda v: v >= 0))
        object.__setattr__(self, "gamma", positive(self.gamma, "gamma"))

    def _powers(self, products: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            products *= self.gamma
            products += self.c
            return np.power(products, self.degree, out=products)

    def compute(self, items: Any, others: Any | None, n_threads: int) -> FloatArray:
        return self._powers(dots(items, others, n_threads))

    def compute_diagonal(self, items: Any) -> FloatArray:
        return self._powers(squared_lengths(items))

    def formula(self, x: str = "x", z: str = "z") -> str:
        product = f"{x}.{z}" if self.gamma == 1 else f"{number(self.gamma)} {x}.{z}"
        return f"({product}{f' + {number(self.c)}' if self.c else ''})^{self.degree}"

    @property
    def level(self) -> int:
        """A power."""
        return POWER

    @property
    def profile(self) -> Profile:
        """A power of a dot product."""
        return Profile("polynomial", self.gamma, self.c, self.degree)


@dataclass(frozen=True)
class Quadratic(Polynomial):
    """(x.z + c)^2: conjunctions of two columns, and with c > 0 the columns themselves and a constant.

    Circles, ellipses and hyperbolas are hyperplanes in its space.

    Examples
    --------
    >>> from lineal.kernels import Quadratic
    >>> print(Quadratic(), "and", Quadratic(c=1))
    (x.z)^2 and (x.z + 1)^2
    """

    degree: int = field(default=2, init=False, repr=False)
    c: float = 0.0
    gamma: float = field(default=1.0, init=False, repr=False)


@dataclass(frozen=True, repr=False)
class Gaussian(VectorKernel):
    """exp(-|x - z|^2 / (2 sigma^2)) = exp(-gamma |x - z|^2): the radial basis function.

    Equal rows give exactly 1. Distances are summed from differences where |x|^2 + |z|^2 - 2 x.z would lose
    digits.

    Parameters
    ----------
    sigma
        The width; 1 unless gamma is given.
    gamma
        1 / (2 sigma^2), instead of sigma.

    Examples
    --------
    >>> from lineal.kernels import Gaussian
    >>> print(Gaussian(sigma=2))
    exp(-0.125 |x - z|^2)
    >>> Gaussian(gamma=1)([0, 0], [0, 0])
    1.0
    """

    sigma: float = None  # type: ignore[assignment]
    gamma: float = None  # type: ignore[assignment]
    _is_by_gamma: bool = field(default=False, init=False, compare=False)

    def __post_init__(self) -> None:
        if self.sigma is not None and self.gamma is not None:
            raise ParameterError(
                f"Gaussian takes sigma or gamma = 1 / (2 sigma^2), got both: {self.sigma!r} and "
                f"{self.gamma!r}."
            )
        by_gamma = self.gamma is not None
        if by_gamma:
            gamma = positive(self.gamma, "gamma")
            sigma = float(np.sqrt(0.5) / np.sqrt(gamma))
        else:
            sigma = positive(1.0 if self.sigma is None else self.sigma, "sigma")
            with np.errstate(over="ignore"):
                gamma = float(0.5 / np.float64(sigma) / np.float64(sigma))
        # Squares of distances that matter would be beyond float64.
        if not _LEAST_GAMMA <= gamma <= 1 / _LEAST_GAMMA:
            raise ParameterError(f"gamma must be between 1e-300 and 1e300, but is {gamma!r}. Scale the data.")
        for name, value in (("sigma", sigma), ("gamma", gamma), ("_is_by_gamma", by_gamma)):
            object.__setattr__(self, name, value)

    def compute(self, items: Any, others: Any | None, n_threads: int) -> FloatArray:
        return squared_distances(items, others, self.gamma, n_threads, _decayed)

    def compute_diagonal(self, items: Any) -> FloatArray:
        return np.ones(items.shape[0])

    def formula(self, x: str = "x", z: str = "z") -> str:
        factor = "" if self.gamma == 1 else number(self.gamma) + " "
        return f"exp(-{factor}|{x} - {z}|^2)"

    @property
    def _follows(self) -> tuple[str]:
        """The parameter that was not given: a text of the kernel leaves it out."""
        return ("sigma",) if self._is_by_gamma else ("gamma",)

    def __repr__(self) -> str:
        given = f"gamma={self.gamma!r}" if self._is_by_gamma else f"sigma={self.sigma!r}"
        return f"Gaussian({given})"

    @property
    def profile(self) -> Profile:
        """A function of the distance."""
        return Profile("gaussian", self.gamma)


@dataclass(frozen=True)
class Laplacian(VectorKernel):
    """exp(-gamma |x - z|_1), with the sum of absolute differences: less smooth than the Gaussian kernel.

    Examples
    --------
    >>> from lineal.kernels import Laplacian
    >>> print(Laplacian(gamma=0.5))
    exp(-0.5 |x - z|_1)
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", positive(self.gamma, "gamma"))

    def compute(self, items: Any, others: Any | None, n_threads: int) -> FloatArray:
        with np.errstate(over="ignore"):
            D = absolute_distances(items, others, n_threads)
            D *= -self.gamma
        return np.exp(D, out=D)

    def compute_diagonal(self, items: Any) -> FloatArray:
        return np.ones(items.shape[0])

    def formula(self, x: str = "x", z: str = "z") -> str:
        factor = "" if self.gamma == 1 else number(self.gamma) + " "
        return f"exp(-{factor}|{x} - {z}|_1)"
