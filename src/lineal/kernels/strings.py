"""Kernels of strings, and of other sequences of symbols."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lineal import _core
from lineal.data.threads import thread_count
from lineal.errors import InputError, InputTypeError
from lineal.kernels.base import Kernel
from lineal.kernels.domains import Anything, Domain, Places
from lineal.kernels.formulas import number
from lineal.kernels.products import dots, squared_lengths
from lineal.kernels.vectors import finite_number, whole_number
from lineal.objective.losses import FloatArray

_LONGEST = 2**31 - 1  # symbols of a set


@dataclass(frozen=True, eq=False)
class Sequences:
    """Checked sequences: all ``str``, or all lists or tuples of hashable symbols."""

    given: list[Any]
    are_texts: bool

    def __len__(self) -> int:
        return len(self.given)


@dataclass(frozen=True)
class Strings(Domain):
    """Strings, compared by code points (a lone surrogate is one), or lists and tuples of hashable symbols."""

    def checked(self, X: Any) -> Sequences:
        if isinstance(X, Sequences):
            return X
        if isinstance(X, np.ndarray) and X.ndim != 1:
            raise InputTypeError(
                f"A kernel of strings needs a list of strings, but X has {X.ndim} dimensions. Choose a "
                "column: X[:, 0], or k.on(0)."
            )
        given = [x.decode("utf-8") if isinstance(x, bytes) else x for x in Anything().checked(X)]
        for i, x in enumerate(given):
            if not isinstance(x, (str, list, tuple)):
                raise InputTypeError(
                    f"A kernel of strings compares strings, or lists or tuples of symbols, but item {i} is "
                    f"of type {type(x).__name__}. Convert it by str(), or fill it in where it is missing."
                )
        are_texts = not given or isinstance(given[0], str)
        for i, x in enumerate(given):
            if isinstance(x, str) != are_texts:
                raise InputTypeError(
                    f"Items must be all strings, or all lists or tuples of symbols, but item {i} is "
                    f"of type {type(x).__name__} and item 0 is not."
                )
        return Sequences(given, are_texts)

    def take(self, items: Sequences, places: Places) -> Sequences:
        return Sequences([items.given[i] for i in places], items.are_texts)

    def each(self, items: Sequences) -> Iterator[Any]:
        return iter(items.given)

    def compare(self, items: Sequences, others: Sequences) -> None:
        if len(items) and len(others) and items.are_texts != others.are_texts:
            raise InputTypeError("X and Z must both be strings, or both be lists of symbols.")


Coded = tuple[NDArray[np.uint32], NDArray[np.int64]]


def coded(*sets: Sequences) -> list[Coded]:
    """Symbols as numbers, one set's after another's, and where each sequence begins."""
    names: dict[Hashable, int] = {}
    return [code_points(s.given) if s.are_texts else _numbered(s.given, names) for s in sets]


def _starts(given: list[Any]) -> NDArray[np.int64]:
    start = np.zeros(len(given) + 1, dtype=np.int64)
    np.cumsum([len(x) for x in given], out=start[1:])
    if start[-1] > _LONGEST:
        raise InputError(
            f"X has {start[-1]:,} symbols; at most {_LONGEST:,} can be compared. Give less at once."
        )
    return start


def code_points(texts: list[str]) -> Coded:
    """Texts as code points, one after another, and where each begins; a lone surrogate is a code point."""
    encoded = "".join(texts).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(encoded, dtype=np.uint32), _starts(texts)


def _numbered(sequences: list[Any], names: dict[Hashable, int]) -> Coded:
    start = _starts(sequences)
    symbols = np.empty(int(start[-1]), dtype=np.uint32)
    at = 0
    for i, sequence in enumerate(sequences):
        for symbol in sequence:
            try:
                symbols[at] = names.setdefault(symbol, len(names))
            except TypeError as error:
                raise InputTypeError(
                    f"Symbols must be hashable, but item {i} has one that is not: {error}."
                ) from None
            at += 1
    return symbols, start


class StringKernel(Kernel):
    """A kernel of strings or of other sequences of symbols."""

    remedy = "Use a smaller decay, or shorter strings."

    @property
    def domain(self) -> Domain:
        """Strings."""
        return Strings()


@dataclass(frozen=True)
class Subsequence(StringKernel):
    """Subsequences of some length that two strings share, with gaps: Lodhi's string kernel.

    ``k(x, z) = sum_u sum_i sum_j decay^(span(i) + span(j))`` over strings u of the length and all places i in
    x and j in z that spell u; a span is how far the places reach, gaps included. With decay 1 it is the
    number of common subsequences. Use ``.normalized()`` for strings of different lengths.

    Parameters
    ----------
    length
        How many symbols a subsequence has, >= 1.
    decay
        What a symbol or a gap costs, in (0, 1].

    Notes
    -----
    O(length |x| |z|) for a pair, native, in threads, eight pairs at a time; the same bits for any number of
    threads.

    References
    ----------
    Lodhi, Saunders, Shawe-Taylor, Cristianini and Watkins (2002), Text classification using string kernels.

    Examples
    --------
    >>> from lineal.kernels import Subsequence
    >>> Subsequence(length=2, decay=0.5).gram(["cat", "car"])
    array([[0.140625, 0.0625  ],
           [0.0625  , 0.140625]])
    """

    length: int = 3
    decay: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", whole_number(self.length, "length", 1))
        object.__setattr__(self, "decay", decay_of(self.decay))

    def compute(self, items: Sequences, others: Sequences | None, n_threads: int) -> FloatArray:
        if self._is_nothing(items, items if others is None else others):
            return np.zeros((len(items), len(items if others is None else others)))
        if others is None:
            symbols, start = coded(items)[0]
            return _core.subsequence_table(symbols, start, None, None, self.length, self.decay, n_threads)
        mine, theirs = coded(items, others)
        return _core.subsequence_table(*mine, *theirs, self.length, self.decay, n_threads)

    def compute_diagonal(self, items: Sequences) -> FloatArray:
        if self._is_nothing(items, items):
            return np.zeros(len(items))
        return _core.subsequence_diagonal(*coded(items)[0], self.length, self.decay, thread_count(None))

    def formula(self, x: str = "x", z: str = "z") -> str:
        return f"subsequences({x}, {z}; length={self.length}, decay={number(self.decay)})"

    def _is_nothing(self, items: Sequences, others: Sequences) -> bool:
        """Whether no two have a subsequence of the length; where they have, values must be in float64."""
        longest = (max((len(each) for each in of.given), default=0) for of in (items, others))
        if self.length > min(longest):
            return True
        if self.decay ** (2 * self.length) < np.finfo(np.float64).tiny:
            raise InputError(
                f"{self} vanishes in float64, since decay^(2 length) does: use a decay nearer to 1, or "
                "shorter subsequences."
            )
        return False


def decay_of(value: Any) -> float:
    """The value as a float, if it is in (0, 1]."""
    return finite_number(value, "decay", "with 0 < decay <= 1", lambda v: 0 < v <= 1)


@dataclass(frozen=True)
class Spectrum(StringKernel):
    """Runs of n symbols that two strings share: ``sum_u count_u(x) count_u(z)`` over strings u of length n.

    The kernel of character n-grams (or of word n-grams, for lists of words): its map is the vector of counts,
    :meth:`features`.

    Notes
    -----
    Runs are named exactly, not hashed, in O(symbols log n); then it is a product of sparse rows.

    References
    ----------
    Leslie, Eskin and Noble (2002), The spectrum kernel.

    Examples
    --------
    >>> from lineal.kernels import Spectrum
    >>> Spectrum(n=2).gram(["banana", "ananas"])
    array([[9., 8.],
           [8., 9.]])
    """

    n: int = 3

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", whole_number(self.n, "n", 1))

    def compute(self, items: Sequences, others: Sequences | None, n_threads: int) -> FloatArray:
        if others is None:
            return dots(self._counts(items)[0], None, n_threads)
        mine, theirs = self._counts(items, others)
        return dots(mine, theirs, n_threads)

    def compute_diagonal(self, items: Sequences) -> FloatArray:
        return squared_lengths(self._counts(items)[0])

    def features(self, X: Any) -> sp.csr_array:
        """The map: how often each string of X has each run that occurs in X, (n, runs), sparse."""
        return self._counts(self.checked(X))[0]

    def _counts(self, *sets: Sequences) -> list[Any]:
        """Counts of each set, in columns that they share."""
        parts = coded(*sets)
        symbols = np.concatenate([part[0] for part in parts])
        offsets = np.cumsum([0, *(len(part[0]) for part in parts)])
        start = np.concatenate(
            [[0], *(part[1][1:] + offset for part, offset in zip(parts, offsets, strict=False))]
        ).astype(np.int64)
        indptr, column, count, n_columns = _core.run_counts(symbols, start, self.n)
        rows = sp.csr_array((count, column, indptr), shape=(len(start) - 1, n_columns))
        bounds = np.cumsum([0, *map(len, sets)])
        return [rows[first:last] for first, last in pairwise(bounds)]

    def formula(self, x: str = "x", z: str = "z") -> str:
        return f"spectrum({x}, {z}; n={self.n})"
