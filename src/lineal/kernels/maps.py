"""Kernels of what is made of items: maps, quadratic forms, columns (rules 6.19 to 6.22)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from lineal.data.matrices import is_sparse
from lineal.errors import InputError, InputTypeError, ParameterError
from lineal.kernels.base import Kernel
from lineal.kernels.domains import Anything, Derived, DerivedDomain, Domain, Vectors
from lineal.kernels.formulas import ATOM, name_of
from lineal.objective.losses import FloatArray


class OfDerived(Kernel):
    """A kernel of items that are made of the given ones."""

    kernel: Kernel

    def compute(self, items: Derived, others: Derived | None, n_threads: int) -> FloatArray:
        return self.kernel.compute(items.inner, None if others is None else others.inner, n_threads)

    def compute_diagonal(self, items: Derived) -> FloatArray:
        return self.kernel.compute_diagonal(items.inner)

    @property
    def level(self) -> int:
        """As tight as the kernel inside."""
        return self.kernel.level


@dataclass(frozen=True)
class MappedItems(DerivedDomain):
    """phi(x) for every x."""

    phi: Any
    inner: Domain

    def derive(self, X: Any, given: Any) -> Any:
        if hasattr(self.phi, "transform"):
            return self.phi.transform(X)
        mapped = [self.phi(x) for x in self.given.each(given)]
        if mapped and isinstance(self.inner, Vectors) and any(is_sparse(v) for v in mapped):
            return sp.vstack([sp.csr_array(v).reshape(1, -1) for v in mapped], format="csr")
        return mapped


@dataclass(frozen=True, repr=False)
class Mapped(OfDerived):
    """k(phi(x), phi(z)) (rule 6.19)."""

    kernel: Kernel
    phi: Callable[[Any], Any] | Any

    def __post_init__(self) -> None:
        if not callable(self.phi) and not hasattr(self.phi, "transform"):
            raise ParameterError(
                f"map needs a function of one item, or a fitted transformer with transform; got {self.phi!r}."
            )

    @property
    def domain(self) -> Domain:
        """What phi takes."""
        return MappedItems(self.phi, self.kernel.domain)

    def formula(self, x: str = "x", z: str = "z") -> str:
        phi = "phi" if hasattr(self.phi, "transform") else name_of(self.phi, "phi")
        return self.kernel.formula(f"{phi}({x})", f"{phi}({z})")

    def __repr__(self) -> str:
        phi = repr(self.phi) if hasattr(self.phi, "transform") else name_of(self.phi, "phi")
        return f"{self.kernel._code(ATOM)}.map({phi})"


@dataclass(frozen=True)
class Bytes:
    """An array as a value: compared and hashed by its numbers."""

    shape: tuple[int, ...]
    content: bytes

    @classmethod
    def of(cls, array: FloatArray) -> Bytes:
        """The array as it is now."""
        return cls(array.shape, np.ascontiguousarray(array, dtype=np.float64).tobytes())

    def array(self) -> FloatArray:
        """The array, which cannot be written to."""
        return np.frombuffer(self.content).reshape(self.shape)


@dataclass(frozen=True)
class StretchedVectors(DerivedDomain):
    """L'x for every x."""

    factor: Bytes
    inner: Domain
    given = Vectors()

    def derive(self, X: Any, given: Any) -> Any:
        L = self.factor.array()
        if given.shape[1] != len(L):
            raise InputError(f"A is {len(L)} x {len(L)}, but X has {given.shape[1]} columns.")
        return given @ L


@dataclass(frozen=True, repr=False, eq=False)
class QuadraticForm(OfDerived):
    """The kernel with x'Az for every x.z: k(L'x, L'z) with A = LL' (rule 6.20)."""

    kernel: Kernel
    A: FloatArray
    factor: Bytes = field(init=False)

    def __init__(self, kernel: Kernel, A: ArrayLike) -> None:
        if not isinstance(kernel.domain, Vectors):
            raise ParameterError(f"quadratic_form needs a kernel of vectors, got {kernel!r}.")
        matrix = _square(A)
        values, directions = np.linalg.eigh(matrix)
        largest = float(np.abs(values).max())
        if values[0] < -1e-10 * largest:
            a = np.array2string(directions[:, 0], precision=3, threshold=6)
            raise ParameterError(
                f"A must be positive semi-definite, but a'Aa = {values[0]:.6g} for a = {a}: x'Az would be no "
                "kernel."
            )
        L = directions * np.sqrt(np.clip(values, 0.0, None))
        matrix.flags.writeable = False
        for name, value in (("kernel", kernel), ("A", matrix), ("factor", Bytes.of(L))):
            object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, QuadraticForm):
            return NotImplemented
        return self.kernel == other.kernel and np.array_equal(self.A, other.A)

    def __hash__(self) -> int:
        return hash((self.kernel, Bytes.of(self.A)))

    @property
    def domain(self) -> Domain:
        """Vectors of A's length."""
        return StretchedVectors(self.factor, self.kernel.domain)

    def formula(self, x: str = "x", z: str = "z") -> str:
        from lineal.kernels.vectors import Linear

        if isinstance(self.kernel, Linear):
            return f"{x}'A {z}"
        return self.kernel.formula(f"L'{x}", f"L'{z}")

    def __repr__(self) -> str:
        return f"{self.kernel._code(ATOM)}.quadratic_form({self.A.tolist()!r})"


def _square(A: ArrayLike) -> FloatArray:
    try:
        matrix = np.array(A, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"A must be a symmetric matrix of numbers: {error}.") from error
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ParameterError(f"A must be a symmetric matrix, but its shape is {matrix.shape}.")
    if not np.isfinite(matrix).all():
        raise ParameterError("A must be finite.")
    apart = np.abs(matrix - matrix.T)
    if apart.max() > 1e-12 * np.abs(matrix).max():
        i, j = np.unravel_index(int(apart.argmax()), apart.shape)
        raise ParameterError(
            f"A must be symmetric, but A[{i}, {j}] = {matrix[i, j]:.6g} and A[{j}, {i}] = {matrix[j, i]:.6g}."
        )
    return np.asarray((matrix + matrix.T) / 2)


Columns = tuple[int | str, ...] | slice | int | str


@dataclass(frozen=True)
class SomeColumns(DerivedDomain):
    """Some columns of a table: a smaller table, or one column of whatever the inner domain reads."""

    columns: Any  # a tuple of columns; ("slice", start, stop, step); one column
    inner: Domain

    def derive(self, X: Any, given: Any) -> Any:
        wanted = self.columns
        is_table = self.inner.takes_tables
        if _is_slice(wanted):
            wanted = slice(*wanted[1:])
        elif not isinstance(wanted, tuple) and is_table:
            wanted = (wanted,)
        if isinstance(wanted, tuple) and not is_table:
            if len(wanted) != 1:
                raise InputError(f"This kernel takes one column, but on() names {len(wanted)}: {wanted}.")
            wanted = wanted[0]
        return _selected(X, given, wanted)


def _is_slice(columns: Any) -> bool:
    return isinstance(columns, tuple) and bool(columns) and columns[0] is slice


def _selected(X: Any, given: Any, wanted: Any) -> Any:
    """A table of the wanted columns for a tuple or slice, else the values of one column."""
    one = not isinstance(wanted, (tuple, slice))
    names = [wanted] if one else [] if isinstance(wanted, slice) else list(wanted)
    if any(isinstance(name, str) for name in names):
        return _named(X, names, one)
    if isinstance(given, list):
        try:
            return [x[wanted] if one or isinstance(wanted, slice) else [x[j] for j in names] for x in given]
        except (IndexError, KeyError, TypeError) as error:
            raise InputError(f"Items of X have no columns {wanted!r}: {error}.") from error
    n_columns = given.shape[1]
    for name in names:
        if not -n_columns <= name < n_columns:
            raise InputError(f"X has {n_columns} columns, so none at {name}.")
    if one and not sp.issparse(given):
        return given[:, wanted]
    return given[:, wanted if isinstance(wanted, slice) else names]


def _named(X: Any, names: list[Any], one: bool) -> Any:
    known = getattr(X, "columns", None)
    if known is None:
        raise InputTypeError(
            f"Columns {names} are chosen by name, but X is of type {type(X).__name__} without names. "
            "Give a data frame."
        )
    missing = [name for name in names if name not in list(known)]
    if missing:
        raise InputError(f"X has no column {missing[0]!r}. It has {', '.join(map(repr, list(known)[:30]))}.")
    return X[names[0]] if one else np.asarray(X[names])


@dataclass(frozen=True, repr=False)
class OnColumns(OfDerived):
    """k of some columns (rules 6.21 and 6.22)."""

    kernel: Kernel
    columns: Any

    def __post_init__(self) -> None:
        columns = self.columns
        if isinstance(columns, slice):
            columns = (slice, columns.start, columns.stop, columns.step)
        elif isinstance(columns, (list, tuple, np.ndarray, range)) and not _is_slice(columns):
            columns = tuple(self._column(c) for c in columns)
            if not columns:
                raise ParameterError("on() needs at least one column.")
        elif not _is_slice(columns):
            columns = self._column(columns)
        object.__setattr__(self, "columns", columns)

    @staticmethod
    def _column(column: Any) -> int | str:
        if isinstance(column, str):
            return column
        if isinstance(column, (int, np.integer)) and not isinstance(column, (bool, np.bool_)):
            return int(column)
        raise ParameterError(f"on() needs numbers of columns, names or a slice, got {column!r}.")

    @property
    def domain(self) -> Domain:
        """A table with these columns."""
        return SomeColumns(self.columns, self.kernel.domain)

    def _shown(self) -> str:
        if _is_slice(self.columns):
            return ":".join("" if part is None else str(part) for part in self.columns[1:3]) + (
                "" if self.columns[3] is None else f":{self.columns[3]}"
            )
        columns = self.columns if isinstance(self.columns, tuple) else (self.columns,)
        return ", ".join(map(str, columns))

    def formula(self, x: str = "x", z: str = "z") -> str:
        return self.kernel.formula(f"{x}[{self._shown()}]", f"{z}[{self._shown()}]")

    def __repr__(self) -> str:
        columns = self.columns
        shown = repr(slice(*columns[1:])) if _is_slice(columns) else repr(columns)
        if isinstance(columns, tuple) and not _is_slice(columns):
            shown = repr(list(columns))
        return f"{self.kernel._code(ATOM)}.on({shown})"


__all__ = ["Anything", "Mapped", "OnColumns", "QuadraticForm"]
