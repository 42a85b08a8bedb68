"""Domains: what a kernel compares, and how data from outside become it.

A domain reads data once (``checked``) into items that need no second look; kernels compute on items. Kernels
with equal domains share what was read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lineal.data.matrices import checked_matrix, is_sparse
from lineal.errors import InputError, InputTypeError

Places = NDArray[np.int64]


class Domain(ABC):
    """What every domain has. Domains are values: equal ones read alike.

    Attributes
    ----------
    takes_tables : bool
        Whether an item may be a row of several columns.
    """

    takes_tables: ClassVar[bool] = False

    @abstractmethod
    def checked(self, X: Any) -> Any:
        """The items of X; raises InputError for anything else."""

    def one(self, x: Any) -> Any:
        """The items of a set with x alone."""
        return self.checked([x])

    def size(self, items: Any) -> int:
        """How many items."""
        return len(items)

    @abstractmethod
    def take(self, items: Any, places: Places) -> Any:
        """The items at these places."""

    @abstractmethod
    def each(self, items: Any) -> Iterator[Any]:
        """One item after the other, as a function of yours sees it."""

    def compare(self, items: Any, others: Any) -> None:  # noqa: B027 (as a rule all can)
        """Raises InputError where two sets of items cannot be compared."""


@dataclass(frozen=True)
class Vectors(Domain):
    """Rows of numbers: a float64 array in C order, or a CSR array with sorted rows."""

    takes_tables = True

    def checked(self, X: Any) -> Any:
        if is_sparse(X):
            _need_numbers(X.dtype, "X")
            matrix = sp.csr_array(X, dtype=np.float64)
            checked_matrix(matrix, 1)
            if not matrix.has_canonical_format:
                matrix = matrix.copy()
                matrix.sum_duplicates()
            return matrix
        dense = _numbers(X)
        if dense.ndim != 2:
            raise InputError(
                f"A kernel of vectors needs a table, (n_rows, n_columns), but X has {dense.ndim} "
                "dimension(s): expected 2D array. Use X.reshape(-1, 1) for one column, "
                "X.reshape(1, -1) for one row."
            )
        if dense.shape[0] and dense.shape[1]:
            checked_matrix(dense, 1)
        return dense

    def one(self, x: Any) -> Any:
        if is_sparse(x):
            return self.checked(sp.csr_array(x).reshape(1, -1))
        return self.checked(np.asarray(x)[None, :] if np.ndim(x) == 1 else x)

    def size(self, items: Any) -> int:
        return int(items.shape[0])

    def take(self, items: Any, places: Places) -> Any:
        return items[places]

    def each(self, items: Any) -> Iterator[Any]:
        for i in range(items.shape[0]):
            yield items[[i]].toarray()[0] if sp.issparse(items) else items[i]

    def compare(self, items: Any, others: Any) -> None:
        if items.shape[1] != others.shape[1]:
            raise InputError(
                f"A kernel compares vectors of one length, but X has {items.shape[1]} columns and Z has "
                f"{others.shape[1]}. Give both the same columns."
            )


def _need_numbers(dtype: Any, name: str) -> None:
    if np.dtype(dtype).kind not in "fiub":
        raise InputTypeError(f"{name} must hold real numbers, but holds {dtype}. Convert it to float.")


def _numbers(X: Any) -> NDArray[np.float64]:
    """X as float64 in C order; what holds no numbers is refused."""
    if isinstance(X, str):
        raise InputTypeError(
            "A kernel of vectors needs numbers, but X is a str. Use Subsequence or Spectrum."
        )
    try:
        array = np.asarray(X)
        if array.dtype.kind not in "fiub":
            if array.dtype.kind != "O":
                _need_numbers(array.dtype, "X")
            array = array.astype(np.float64)
        return np.ascontiguousarray(array, dtype=np.float64)
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputTypeError(
            f"A kernel of vectors needs numbers in rows of one length, but X cannot be read so: {error}. "
            "Use lineal.TableVectorizer for tables with text, or a kernel of strings."
        ) from error


@dataclass(frozen=True)
class Anything(Domain):
    """Items of any kind: the rows of an array or table, or what a sequence holds."""

    takes_tables = True

    def checked(self, X: Any) -> Any:
        if is_sparse(X):
            return sp.csr_array(X)
        if isinstance(X, np.ndarray):
            return X if X.ndim == 2 else list(X)
        if isinstance(X, (str, bytes, dict, set, frozenset)):
            raise InputTypeError(
                f"A kernel compares the items of a sequence, but X is of type {type(X).__name__}."
            )
        if hasattr(X, "columns") or hasattr(X, "__dataframe__"):
            return np.asarray(X)
        try:
            return list(X)
        except TypeError as error:
            raise InputTypeError(
                f"A kernel compares the items of a sequence, but X is of type {type(X).__name__}."
            ) from error

    def size(self, items: Any) -> int:
        return int(items.shape[0]) if hasattr(items, "shape") else len(items)

    def take(self, items: Any, places: Places) -> Any:
        return items[places] if hasattr(items, "shape") else [items[i] for i in places]

    def each(self, items: Any) -> Iterator[Any]:
        if sp.issparse(items):
            return Vectors().each(items)
        return iter(items)


@dataclass(frozen=True)
class Derived:
    """Items that were made of others: what was given, and what is compared."""

    given: Any
    inner: Any


class DerivedDomain(Domain):
    """A domain whose items are made of the items of another one."""

    takes_tables = True

    inner: Domain
    given: Domain = Anything()

    @abstractmethod
    def derive(self, X: Any, given: Any) -> Any:
        """What the inner domain reads, from X and from its items as they were given."""

    def checked(self, X: Any) -> Derived:
        given = self.given.checked(X)
        inner = self.inner.checked(self.derive(X, given))
        if self.inner.size(inner) != self.given.size(given):
            raise InputError(
                f"A map must give one item for each item, but made {self.inner.size(inner)} of "
                f"{self.given.size(given)}."
            )
        return Derived(given, inner)

    def one(self, x: Any) -> Derived:
        return self.checked(self.given.one(x))

    def size(self, items: Derived) -> int:
        return self.given.size(items.given)

    def take(self, items: Derived, places: Places) -> Derived:
        return Derived(self.given.take(items.given, places), self.inner.take(items.inner, places))

    def each(self, items: Derived) -> Iterator[Any]:
        return self.given.each(items.given)

    def compare(self, items: Derived, others: Derived) -> None:
        self.inner.compare(items.inner, others.inner)


@dataclass(frozen=True)
class Views(Domain):
    """The same items as several domains read them."""

    domains: tuple[Domain, ...]

    @property
    def takes_tables(self) -> bool:  # type: ignore[override]
        """Whether all do."""
        return all(domain.takes_tables for domain in self.domains)

    def checked(self, X: Any) -> tuple[Any, ...]:
        if not is_sparse(X) and not hasattr(X, "__len__"):
            X = list(X)  # an iterator can be read once
        views = tuple(domain.checked(X) for domain in self.domains)
        sizes = {domain.size(view) for domain, view in zip(self.domains, views, strict=True)}
        if len(sizes) > 1:
            raise InputError(
                f"The parts of a kernel read different numbers of items from X: {sorted(sizes)}."
            )
        return views

    def one(self, x: Any) -> tuple[Any, ...]:
        return tuple(domain.one(x) for domain in self.domains)

    def size(self, items: tuple[Any, ...]) -> int:
        return self.domains[0].size(items[0])

    def take(self, items: tuple[Any, ...], places: Places) -> tuple[Any, ...]:
        return tuple(domain.take(view, places) for domain, view in zip(self.domains, items, strict=True))

    def each(self, items: tuple[Any, ...]) -> Iterator[Any]:
        return self.domains[0].each(items[0])

    def compare(self, items: tuple[Any, ...], others: tuple[Any, ...]) -> None:
        for domain, one, other in zip(self.domains, items, others, strict=True):
            domain.compare(one, other)


def joint_domain(domains: Sequence[Domain]) -> Domain:
    """The domain that serves all of these: what is equal is read once."""
    distinct = list(dict.fromkeys(domains))
    return distinct[0] if len(distinct) == 1 else Views(tuple(distinct))


def view_of(items: Any, whole: Domain, part: Domain) -> Any:
    """What a part of a kernel sees of the items of the whole."""
    if whole == part or items is None:
        return items
    assert isinstance(whole, Views)
    return items[whole.domains.index(part)]
