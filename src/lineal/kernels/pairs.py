"""Kernels of pairs (x, y), for learners whose features are of an input and a label together."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lineal.data.matrices import is_sparse
from lineal.errors import InputError, InputTypeError, ParameterError
from lineal.kernels.base import Kernel
from lineal.kernels.domains import Anything, Domain, Places
from lineal.kernels.formulas import ATOM, PRODUCT, SUM, enclosed
from lineal.objective.losses import FloatArray


@dataclass(frozen=True)
class Labels(Domain):
    """Anything hashable."""

    def checked(self, X: Any) -> list[Any]:
        items = Anything().checked(X)
        if not isinstance(items, list):
            if items.shape[1] != 1 or is_sparse(items):
                raise InputError(f"Equality needs a list of labels, but X has {items.shape[1]} columns.")
            items = list(items[:, 0])
        for i, label in enumerate(items):
            if not isinstance(label, Hashable):
                raise InputTypeError(
                    f"A label must be hashable, but item {i} is of type {type(label).__name__}."
                )
        return items

    def take(self, items: list[Any], places: Places) -> list[Any]:
        return [items[i] for i in places]

    def each(self, items: list[Any]) -> Iterator[Any]:
        return iter(items)


@dataclass(frozen=True)
class Equality(Kernel):
    """1 where x = z, else 0: the dot product of labels as unit vectors.

    Examples
    --------
    >>> from lineal.kernels import Equality
    >>> Equality().gram(["spam", "ham", "spam"], ["spam"]).ravel()
    array([1., 0., 1.])
    """

    @property
    def domain(self) -> Domain:
        """Anything hashable."""
        return Labels()

    def compute(self, items: list[Any], others: list[Any] | None, n_threads: int) -> FloatArray:
        names: dict[Any, int] = {}
        codes = [
            np.array([names.setdefault(x, len(names)) for x in part], dtype=np.int64)
            for part in (items, items if others is None else others)
        ]
        return np.asarray(codes[0][:, None] == codes[1], dtype=np.float64)

    def compute_diagonal(self, items: list[Any]) -> FloatArray:
        return np.ones(len(items))

    def formula(self, x: str = "x", z: str = "z") -> str:
        return f"[{x} = {z}]"


@dataclass(frozen=True, eq=False)
class Paired:
    """Inputs and their labels as items that are pairs (x, y), without a tuple for each.

    Examples
    --------
    >>> from lineal.kernels import Linear, Paired, Pairs
    >>> Pairs(Linear()).gram(Paired([[1.0, 2.0], [3.0, 4.0]], ["spam", "ham"]))
    array([[ 5.,  0.],
           [ 0., 25.]])
    """

    first: Any
    second: Any


@dataclass(frozen=True)
class PairsOf(Domain):
    """Pairs of what two domains read."""

    domains: tuple[Domain, Domain]

    def checked(self, X: Any) -> Paired:
        if not isinstance(X, Paired):
            X = _unzipped(X)
        parts = [domain.checked(part) for domain, part in zip(self.domains, (X.first, X.second), strict=True)]
        sizes = [domain.size(part) for domain, part in zip(self.domains, parts, strict=True)]
        if sizes[0] != sizes[1]:
            raise InputError(f"Pairs need as many of both, but there are {sizes[0]} and {sizes[1]}.")
        return Paired(*parts)

    def size(self, items: Paired) -> int:
        return self.domains[0].size(items.first)

    def take(self, items: Paired, places: Places) -> Paired:
        a, b = self.domains
        return Paired(a.take(items.first, places), b.take(items.second, places))

    def each(self, items: Paired) -> Iterator[Any]:
        return zip(self.domains[0].each(items.first), self.domains[1].each(items.second), strict=True)

    def compare(self, items: Paired, others: Paired) -> None:
        self.domains[0].compare(items.first, others.first)
        self.domains[1].compare(items.second, others.second)


def _unzipped(X: Any) -> Paired:
    first, second = [], []
    for i, pair in enumerate(Anything().checked(X)):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise InputTypeError(
                f"A kernel of pairs needs items (x, y), but item {i} is none. Give a list of tuples, or "
                "lineal.kernels.Paired(X, y)."
            )
        first.append(pair[0])
        second.append(pair[1])
    return Paired(first, second)


@dataclass(frozen=True, repr=False)
class Pairs(Kernel):
    """K((x, y), (x', y')) of a kernel for x and one for y: their product, or their sum.

    With :class:`Equality` for y, the default, the product is the kernel of the block map phi(x, y) that has
    phi(x) in the block of y: what a multi-class learner uses. Items are tuples (x, y), or ``Paired(X, y)``.

    Parameters
    ----------
    first, second
        Kernels of x and of y.
    combine
        "product" (rule 6.22) or "sum" (rule 6.21).

    Examples
    --------
    >>> from lineal.kernels import Gaussian, Linear, Pairs
    >>> k = Pairs(Linear())
    >>> print(k)
    x.x' * [y = y']
    >>> k(([1.0, 2.0], "a"), ([3.0, 4.0], "a"))
    11.0
    """

    first: Kernel
    second: Kernel = Equality()
    combine: Literal["product", "sum"] = "product"

    def __post_init__(self) -> None:
        for kernel in (self.first, self.second):
            if not isinstance(kernel, Kernel):
                raise ParameterError(f"Pairs needs a kernel of x and a kernel of y, got {kernel!r}.")
        if self.combine not in ("product", "sum"):
            raise ParameterError(f"combine must be 'product' or 'sum', got {self.combine!r}.")

    @property
    def domain(self) -> Domain:
        """Pairs of what both kernels read."""
        return PairsOf((self.first.domain, self.second.domain))

    def _join(self, one: FloatArray, other: FloatArray) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            return one * other if self.combine == "product" else one + other

    def compute(self, items: Paired, others: Paired | None, n_threads: int) -> FloatArray:
        mine, theirs = (None, None) if others is None else (others.first, others.second)
        return self._join(
            self.first.compute(items.first, mine, n_threads),
            self.second.compute(items.second, theirs, n_threads),
        )

    def compute_diagonal(self, items: Paired) -> FloatArray:
        return self._join(
            self.first.compute_diagonal(items.first), self.second.compute_diagonal(items.second)
        )

    def formula(self, x: str = "x", z: str = "z") -> str:
        # Both sides are pairs: (x, y) and (x', y'), unless a map made them of something else.
        names = (
            ("x", "x'", "y", "y'") if (x, z) == ("x", "z") else (f"{x}[0]", f"{z}[0]", f"{x}[1]", f"{z}[1]")
        )
        sign = " * " if self.combine == "product" else " + "
        return sign.join(
            (
                enclosed(self.first.formula(*names[:2]), self.first.level, self.level),
                enclosed(self.second.formula(*names[2:]), self.second.level, self.level),
            )
        )

    def __repr__(self) -> str:
        more = "" if self.combine == "product" else f", combine={self.combine!r}"
        return f"Pairs({self.first!r}, {self.second!r}{more})"

    @property
    def level(self) -> int:
        """A product or a sum."""
        return PRODUCT if self.combine == "product" else SUM

    @property
    def code_level(self) -> int:
        """A call."""
        return ATOM
