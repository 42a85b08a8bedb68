"""Kernels made of kernels by arithmetic: Bishop (2006), rules 6.13 to 6.18, and the cosine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lineal.errors import InputError, ParameterError
from lineal.kernels.base import Kernel
from lineal.kernels.domains import Domain, joint_domain, view_of
from lineal.kernels.formulas import ATOM, POWER, PRODUCT, SUM, enclosed, name_of, number
from lineal.kernels.vectors import finite_number, whole_number
from lineal.objective.losses import FloatArray


class OfOne(Kernel):
    """A kernel made of one other over the same items."""

    kernel: Kernel

    @property
    def remedy(self) -> str:  # type: ignore[override]
        """As of the kernel inside."""
        return self.kernel.remedy

    @property
    def domain(self) -> Domain:
        """As of the kernel inside."""
        return self.kernel.domain

    def _inside(self, x: str, z: str, outer: int) -> str:
        return enclosed(self.kernel.formula(x, z), self.kernel.level, outer)


@dataclass(frozen=True, repr=False)
class Scaled(OfOne):
    """c k, c > 0 (rule 6.13)."""

    kernel: Kernel
    factor: float

    def __post_init__(self) -> None:
        need = "> 0: with a negative one c k is not positive semi-definite, with 0 it says nothing"
        object.__setattr__(
            self, "factor", finite_number(self.factor, "The factor of a kernel", need, _positive)
        )

    def compute(self, items: Any, others: Any | None, n_threads: int) -> FloatArray:
        with np.errstate(over="ignore"):
            return self.factor * self.kernel.compute(items, others, n_threads)

    def compute_diagonal(self, items: Any) -> FloatArray:
        with np.errstate(over="ignore"):
            return self.factor * self.kernel.compute_diagonal(items)

    def formula(self, x: str = "x", z: str = "z") -> str:
        return f"{number(self.factor)} * {self._inside(x, z, PRODUCT)}"

    def __repr__(self) -> str:
        return f"{self.factor!r} * {self.kernel._code(POWER)}"

    @property
    def level(self) -> int:
        """A product."""
        return PRODUCT

    code_level = level


def _positive(value: Any) -> bool:
    return bool(value > 0)


class OfMany(Kernel):
    """A kernel made of several others, each of which reads the items in its way."""

    parts: tuple[Kernel, ...]
    sign: str

    @classmethod
    def of(cls, *kernels: Kernel) -> Kernel:
        """The kernel of these, with the parts of such kernels among them."""
        return cls(tuple(p for k in kernels for p in (k.parts if isinstance(k, cls) else (k,))))  # type: ignore[call-arg]

    @property
    def domain(self) -> Domain:
        """As all parts read the items."""
        return joint_domain([part.domain for part in self.parts])

    def _joined(self, tables: Any) -> FloatArray:
        tables = iter(tables)
        whole: FloatArray = next(tables)
        with np.errstate(over="ignore", invalid="ignore"):
            for table in tables:
                whole = self._join(whole, table)
        return whole

    def _join(self, one: FloatArray, other: FloatArray) -> FloatArray:
        raise NotImplementedError

    def compute(self, items: Any, others: Any | None, n_threads: int) -> FloatArray:
        domain = self.domain
        return self._joined(
            p.compute(view_of(items, domain, p.domain), view_of(others, domain, p.domain), n_threads)
            for p in self.parts
        )

    def compute_diagonal(self, items: Any) -> FloatArray:
        domain = self.domain
        return self._joined(p.compute_diagonal(view_of(items, domain, p.domain)) for p in self.parts)

    def formula(self, x: str = "x", z: str = "z") -> str:
        return f" {self.sign} ".join(enclosed(p.formula(x, z), p.level, self.level) for p in self.parts)

    def __repr__(self) -> str:
        return f" {self.sign} ".join(p._code(self.code_level + 1) for p in self.parts)


@dataclass(frozen=True, repr=False)
class Sum(OfMany):
    """k1 + k2 + ... (rules 6.17 and 6.21)."""

    parts: tuple[Kernel, ...]
    sign = "+"

    def _join(self, one: FloatArray, other: FloatArray) -> FloatArray:
        return one + other

    @property
    def level(self) -> int:
        """A sum."""
        return SUM

    code_level = level


@dataclass(frozen=True, repr=False)
class Product(OfMany):
    """k1 k2 ... (rules 6.18 and 6.22)."""

    parts: tuple[Kernel, ...]
    sign = "*"

    def _join(self, one: FloatArray, other: FloatArray) -> FloatArray:
        return one * other

    @property
    def level(self) -> int:
        """A product."""
        return PRODUCT

    code_level = level


@dataclass(frozen=True, repr=False)
class Power(OfOne):
    """k^n for a whole n >= 1: rule 6.18, again and again."""

    kernel: Kernel
    exponent: int

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "exponent", whole_number(self.exponent, "The power of a kernel", 1))
        except ParameterError as error:
            raise ParameterError(
                f"{error} Other powers of a kernel need not be positive semi-definite."
            ) from None

    def compute(self, items: Any, others: Any | None, n_threads: int) -> FloatArray:
        with np.errstate(over="ignore"):
            return self.kernel.compute(items, others, n_threads) ** self.exponent

    def compute_diagonal(self, items: Any) -> FloatArray:
        with np.errstate(over="ignore"):
            return self.kernel.compute_diagonal(items) ** self.exponent

    def formula(self, x: str = "x", z: str = "z") -> str:
        return f"{self._inside(x, z, ATOM)}^{self.exponent}"

    def __repr__(self) -> str:
        return f"{self.kernel._code(ATOM)}**{self.exponent}"

    @property
    def level(self) -> int:
        """A power."""
        return POWER

    code_level = level


@dataclass(frozen=True, repr=False)
class PolynomialOf(OfOne):
    """c0 + c1 k + c2 k^2 + ..., all coefficients >= 0 (rule 6.15)."""

    kernel: Kernel
    coefficients: tuple[float, ...]

    def _values(self, K: FloatArray) -> FloatArray:
        values = np.full_like(K, self.coefficients[-1])
        with np.errstate(over="ignore", invalid="ignore"):
            for c in reversed(self.coefficients[:-1]):
                values *= K
                values += c
        return values

    def compute(self, items: Any, others: Any | None, n_threads: int) -> FloatArray:
        return self._values(self.kernel.compute(items, others, n_threads))

    def compute_diagonal(self, items: Any) -> FloatArray:
        return self._values(self.kernel.compute_diagonal(items))

    def formula(self, x: str = "x", z: str = "z") -> str:
        terms = []
        for power in range(len(self.coefficients) - 1, -1, -1):
            c = self.coefficients[power]
            if c == 0:
                continue
            if power == 0:
                terms.append(number(c))
                continue
            term = self._inside(x, z, PRODUCT) if power == 1 else f"{self._inside(x, z, ATOM)}^{power}"
            terms.append(term if c == 1 else f"{number(c)} * {term}")
        return " + ".join(terms)

    def __repr__(self) -> str:
        return f"{self.kernel._code(ATOM)}.polynomial({list(self.coefficients)!r})"

    @property
    def level(self) -> int:
        """A sum, unless it has one term."""
        return SUM


def polynomial(kernel: Kernel, coefficients: Sequence[float]) -> PolynomialOf:
    """The polynomial with these coefficients, that of k^0 first; all must be >= 0."""
    checked = []
    for power, c in enumerate(coefficients):
        need = ">= 0, since a polynomial with a negative one need not keep a kernel positive semi-definite"
        checked.append(finite_number(c, f"The coefficient of k^{power}", need, lambda v: v >= 0))
    while checked and checked[-1] == 0:
        checked.pop()
    if not checked:
        raise ParameterError("A polynomial of a kernel needs a coefficient > 0.")
    return PolynomialOf(kernel, tuple(checked))


@dataclass(frozen=True, repr=False)
class Exponential(OfOne):
    """exp(k) (rule 6.16)."""

    kernel: Kernel

    def compute(self, items: Any, others: Any | None, n_threads: int) -> FloatArray:
        with np.errstate(over="ignore"):
            return np.exp(self.kernel.compute(items, others, n_threads))

    def compute_diagonal(self, items: Any) -> FloatArray:
        with np.errstate(over="ignore"):
            return np.exp(self.kernel.compute_diagonal(items))

    def formula(self, x: str = "x", z: str = "z") -> str:
        return f"exp({self.kernel.formula(x, z)})"

    def __repr__(self) -> str:
        return f"exp({self.kernel!r})"


@dataclass(frozen=True, repr=False)
class ScaledBy(OfOne):
    """f(x) k(x, z) f(z) (rule 6.14)."""

    kernel: Kernel
    function: Callable[[Any], float]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ParameterError(f"scaled_by needs a function of one item, got {self.function!r}.")

    def _factors(self, items: Any) -> FloatArray:
        factors = np.empty(self.domain.size(items))
        for i, x in enumerate(self.domain.each(items)):
            value = self.function(x)
            try:
                factors[i] = float(value)
            except (TypeError, ValueError) as error:
                raise InputError(
                    f"scaled_by needs a function that returns a number, but yours returned {value!r} for "
                    f"item {i}."
                ) from error
            if not np.isfinite(factors[i]):
                raise InputError(f"scaled_by: the function returned {value!r} for item {i}.")
        return factors

    def compute(self, items: Any, others: Any | None, n_threads: int) -> FloatArray:
        f = self._factors(items)
        g = f if others is None else self._factors(others)
        with np.errstate(over="ignore", invalid="ignore"):
            return (f[:, None] * g) * self.kernel.compute(items, others, n_threads)

    def compute_diagonal(self, items: Any) -> FloatArray:
        f = self._factors(items)
        with np.errstate(over="ignore", invalid="ignore"):
            return f * f * self.kernel.compute_diagonal(items)

    def formula(self, x: str = "x", z: str = "z") -> str:
        f = name_of(self.function, "f")
        return f"{f}({x}) * {self._inside(x, z, PRODUCT)} * {f}({z})"

    def __repr__(self) -> str:
        return f"{self.kernel._code(ATOM)}.scaled_by({name_of(self.function, 'f')})"

    @property
    def level(self) -> int:
        """A product."""
        return PRODUCT


@dataclass(frozen=True, repr=False)
class Normalized(OfOne):
    """k(x, z) / sqrt(k(x, x) k(z, z)): rule 6.14 with f(x) = k(x, x)^(-1/2); equal items give exactly 1."""

    kernel: Kernel

    def _lengths(self, items: Any) -> tuple[FloatArray, Any]:
        """k(x, x) as m 4^e with m in [0.25, 1), so that products of two neither overflow nor vanish."""
        diagonal = self.kernel.compute_diagonal(items)
        if (diagonal < 0).any():
            i = int(np.flatnonzero(diagonal < 0)[0])
            raise InputError(
                f"k(x, x) = {diagonal[i]:.6g} for item {i}: this is no kernel, so nothing has a length."
            )
        half = (np.frexp(diagonal)[1] + 1) // 2
        return np.ldexp(diagonal, -2 * half), half

    def compute(self, items: Any, others: Any | None, n_threads: int) -> FloatArray:
        a, e = self._lengths(items)
        b, f = (a, e) if others is None else self._lengths(others)
        K = self.kernel.compute(items, others, n_threads)
        product = a[:, None] * b
        has_length = product > 0
        K = np.ldexp(K, -(e[:, None] + f)) / np.sqrt(np.where(has_length, product, 1.0))
        return np.where(has_length, K, 0.0)

    def compute_diagonal(self, items: Any) -> FloatArray:
        return (self._lengths(items)[0] > 0).astype(np.float64)

    def formula(self, x: str = "x", z: str = "z") -> str:
        k = self.kernel
        return f"{self._inside(x, z, PRODUCT)} / sqrt({enclosed(k.formula(x, x), k.level, PRODUCT)} * " + (
            f"{enclosed(k.formula(z, z), k.level, PRODUCT)})"
        )

    def __repr__(self) -> str:
        return f"{self.kernel._code(ATOM)}.normalized()"

    @property
    def level(self) -> int:
        """A product."""
        return PRODUCT


__all__ = [
    "Exponential",
    "Normalized",
    "PolynomialOf",
    "Power",
    "Product",
    "Scaled",
    "ScaledBy",
    "Sum",
]
