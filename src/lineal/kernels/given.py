"""Kernels that are given: as numbers, or as a function of yours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lineal.errors import InputError, ParameterError
from lineal.kernels.base import Kernel
from lineal.kernels.domains import Anything, Domain, Places, Vectors
from lineal.kernels.formulas import name_of
from lineal.objective.losses import FloatArray

_UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class GivenItems:
    """Rows of kernel values against a set of items, and the places of the items in that set."""

    values: FloatArray
    place: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.place)


@dataclass(frozen=True)
class GivenValues(Domain):
    """Kernel values that were computed before."""

    def checked(self, X: Any) -> GivenItems:
        if isinstance(X, GivenItems):
            return X
        values = Vectors().checked(X)
        if not isinstance(values, np.ndarray):
            values = values.toarray()
        n, m = values.shape
        return GivenItems(values, np.arange(n) if n == m else np.full(n, _UNKNOWN))

    def one(self, x: Any) -> GivenItems:
        raise InputError("Precomputed() knows matrices, not items. Give the matrix to gram.")

    def take(self, items: GivenItems, places: Places) -> GivenItems:
        return GivenItems(items.values[places], items.place[places])

    def each(self, items: GivenItems) -> Iterator[Any]:
        return iter(items.values)

    def compare(self, items: GivenItems, others: GivenItems) -> None:
        if items.values.shape[1] != others.values.shape[1] or (others.place == _UNKNOWN).any():
            raise InputError(
                f"Precomputed values have a column for each item of Z, but X is {items.values.shape} and Z "
                f"{others.values.shape}: Z must be square, with as many columns as X."
            )


@dataclass(frozen=True)
class Precomputed(Kernel):
    """Values that are given: X is the Gram matrix itself.

    A square X are values among the items of one set; with ``gram(X, Z)``, where Z is such a square, row i of
    X holds the values of item i with every item of Z's set.

    Examples
    --------
    >>> from lineal.kernels import Precomputed
    >>> (2 * Precomputed()).gram([[1, 0.5], [0.5, 1]])
    array([[2., 1.],
           [1., 2.]])
    """

    @property
    def domain(self) -> Domain:
        """Rows of kernel values."""
        return GivenValues()

    def compute(self, items: GivenItems, others: GivenItems | None, n_threads: int) -> FloatArray:
        of = items if others is None else others
        if (of.place == _UNKNOWN).any():
            raise InputError(
                "Precomputed values among the items of one set are a square matrix, but X is "
                f"{of.values.shape}. Give k(x, z) for every two items."
            )
        K = items.values[:, of.place]
        if others is None:
            apart = np.abs(K - K.T)
            if apart.max(initial=0.0) > 1e-8 * np.abs(K).max(initial=0.0):
                i, j = np.unravel_index(int(apart.argmax()), apart.shape)
                raise InputError(
                    f"Kernel values must be symmetric, but K[{i}, {j}] = {K[i, j]:.6g} and "
                    f"K[{j}, {i}] = {K[j, i]:.6g}."
                )
            K = (K + K.T) / 2
        return K

    def compute_diagonal(self, items: GivenItems) -> FloatArray:
        if (items.place == _UNKNOWN).any():
            raise InputError(
                "Precomputed values say k(x, x) for the items of a square matrix only, but X is "
                f"{items.values.shape}."
            )
        return items.values[np.arange(len(items)), items.place]

    def formula(self, x: str = "x", z: str = "z") -> str:
        return f"K[{x}, {z}]"


@dataclass(frozen=True)
class FunctionKernel(Kernel):
    """A function of yours as a kernel.

    Parameters
    ----------
    function
        ``function(x, z)`` -> number, for two items of any kind: rows of a matrix, or what a list holds.
        With ``whole=True`` ``function(X, Z)`` -> matrix (n, m), for two matrices.
    whole
        Whether the function takes whole sets.

    Notes
    -----
    Nothing makes a function positive semi-definite: ask ``is_psd(X)``. A set with itself costs
    n (n + 1) / 2 + n calls; that the function is symmetric is checked against the first item.

    Examples
    --------
    >>> from lineal.kernels import FunctionKernel
    >>> common = FunctionKernel(lambda x, z: len(set(x) & set(z)))
    >>> common.gram(["abc", "bcd"])
    array([[3., 2.],
           [2., 3.]])
    >>> bool(common.is_psd(["abc", "bcd", "xyz"]))
    True
    """

    fault: ClassVar[str] = "is not a finite number"
    remedy: ClassVar[str] = "It is what your function returned."

    function: Callable[[Any, Any], Any]
    whole: bool = False

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ParameterError(f"FunctionKernel needs a function of two items, got {self.function!r}.")

    @property
    def domain(self) -> Domain:
        """Anything; matrices for a function of whole sets."""
        return Vectors() if self.whole else Anything()

    def compute(self, items: Any, others: Any | None, n_threads: int) -> FloatArray:
        if self.whole:
            K = self._matrix(items, items if others is None else others)
            return Precomputed().compute(GivenValues().checked(K), None, 1) if others is None else K
        xs = list(self.domain.each(items))
        if others is not None:
            zs = list(self.domain.each(others))
            return np.array([[self._value(x, z) for z in zs] for x in xs]).reshape(len(xs), len(zs))
        K = np.empty((len(xs), len(xs)))
        for i, x in enumerate(xs):
            self._same(x, xs[0], i)
            for j in range(i, len(xs)):
                K[i, j] = K[j, i] = self._value(x, xs[j])
        return K

    def _matrix(self, X: Any, Z: Any) -> FloatArray:
        K = np.asarray(self.function(X, Z), dtype=np.float64)
        if K.shape != (X.shape[0], Z.shape[0]):
            raise InputError(
                f"A kernel function of whole sets must return {(X.shape[0], Z.shape[0])} values, but yours "
                f"returned {K.shape}."
            )
        return self._finite(K)

    def _value(self, x: Any, z: Any) -> float:
        value = self.function(x, z)
        try:
            return float(value)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"A kernel function must return a number, but yours returned {value!r}."
            ) from error

    def _same(self, x: Any, first: Any, i: int) -> None:
        one, other = self._value(first, x), self._value(x, first)
        if abs(one - other) > 1e-8 * max(abs(one), abs(other)):
            raise InputError(
                f"A kernel is symmetric, but the function gives {one!r} for items 0 and {i}, and {other!r} "
                "the other way round. See is_symmetric(X)."
            )

    def compute_diagonal(self, items: Any) -> FloatArray:
        if self.whole:
            n = items.shape[0]
            return np.array([self._matrix(items[[i]], items[[i]])[0, 0] for i in range(n)], dtype=np.float64)
        return np.array([self._value(x, x) for x in self.domain.each(items)], dtype=np.float64)

    def formula(self, x: str = "x", z: str = "z") -> str:
        return f"{name_of(self.function, 'k')}({x}, {z})"


def is_given(kernel: Kernel) -> bool:
    """Whether a kernel, or a part of it, comes from outside, so that nobody knows that it is one."""
    if isinstance(kernel, (Precomputed, FunctionKernel)) or not is_dataclass(kernel):
        return True
    if not type(kernel).__module__.startswith("lineal.kernels."):
        return True
    parts = [getattr(kernel, field.name) for field in fields(kernel)]
    inside = [part for each in parts for part in (each if isinstance(each, tuple) else (each,))]
    return any(is_given(part) for part in inside if isinstance(part, Kernel))
