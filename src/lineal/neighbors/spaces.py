"""Spaces: how data become what distances are measured between.

A space learns what it needs from the training data and then places any data, one row at a time: the same row
has the same place whatever stands beside it.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.deferred import is_a
from lineal.deferred import sparse as sp
from lineal.errors import InputError, InputTypeError, ParameterError
from lineal.objective.linear_maps import native_csr, native_dense
from lineal.objective.losses import FloatArray

METRICS = ("euclidean", "mahalanobis", "hamming", "cosine", "levenshtein")
Metric = str | Callable[[Any, Any], float]

# Squares of numbers within these powers of two neither overflow nor vanish.
_SAFE, _FARTHEST = 300, 450


class Space:
    """What every space has.

    Attributes
    ----------
    name : str
        The metric's name, or "callable".
    """

    name: str

    def learn(self, X: Any, s: FloatArray) -> None:
        """Learns from training data and the weights of their rows."""

    def place(self, X: Any) -> Any:
        """X as an index of this space takes it."""
        raise NotImplementedError

    def distances(self, found: FloatArray) -> FloatArray:
        """Distances between places in the units of the data."""
        return found


def space_of(metric: Metric, column_weights: FloatArray | None = None) -> Space:
    """The space of a metric, with weights of columns where it takes them."""
    if is_a(metric, "lineal.kernels.base:Kernel"):
        raise ParameterError(
            f"metric={metric!r} is a kernel, which is large where rows are alike, and no distance. Rows of "
            "any kernel k are sqrt(k(x, x) + k(z, z) - 2 k(x, z)) apart: give a function of two rows that "
            "says so, or 'euclidean', which has the same neighbours as a Gaussian kernel, or 'cosine'."
        )
    if metric == "euclidean":
        return EuclideanSpace(column_weights)
    if metric == "cosine":
        return CosineSpace(column_weights)
    if metric == "hamming":
        return HammingSpace(column_weights)
    if column_weights is not None:
        name = "your own metric" if callable(metric) else repr(metric)
        raise ParameterError(
            f"feature_weights stretch the axes of 'euclidean', 'cosine' and 'hamming', but metric is {name}"
            f"{', which undoes any stretch' if metric == 'mahalanobis' else ''}. Leave feature_weights out."
        )
    if metric == "mahalanobis":
        return MahalanobisSpace()
    if metric == "levenshtein":
        return StringSpace()
    if callable(metric):
        return PairSpace(metric)
    raise ParameterError(
        f"metric must be one of {', '.join(map(repr, METRICS))}, or a function of two rows; got {metric!r}."
    )


def _stretched(X: Any, column_weights: FloatArray | None) -> Any:
    """A copy of X in float64, its columns multiplied by the roots of their weights."""
    factors = None if column_weights is None else np.sqrt(column_weights)
    if sp.issparse(X):
        X = sp.csr_array(X, dtype=np.float64, copy=True)
        X.sum_duplicates()
        if factors is not None:
            X.data *= factors[X.indices]
        return X
    X = np.array(X, dtype=np.float64, order="C")
    return X if factors is None else X * factors


def _largest(X: Any) -> float:
    values = X.data if sp.issparse(X) else X
    return float(np.abs(values).max(initial=0.0))


def _refuse_far(placed: Any) -> None:
    """Refuses rows whose squares would overflow: beside them all training rows are one."""
    values = sp.coo_array(placed) if sp.issparse(placed) else placed
    beyond = np.abs(values.data if sp.issparse(placed) else values) > 2.0**_FARTHEST
    if beyond.any():
        row = values.row[beyond][0] if sp.issparse(placed) else np.argwhere(beyond)[0, 0]
        raise InputError(
            f"Row {row} of X is so far beyond the training data that its distances to all of them are one "
            "number. Check its units."
        )


@dataclass
class EuclideanSpace(Space):
    """sqrt(sum_j w_j (a_j - b_j)^2): rows as they are, stretched by the roots of the weights.

    Data whose squares would overflow or vanish are measured in a unit that is a power of two, which rounds
    nothing.
    """

    column_weights: FloatArray | None
    unit: float = 1.0
    name = "euclidean"

    def learn(self, X: Any, s: FloatArray) -> None:
        exponent = int(np.frexp(_largest(_stretched(X, self.column_weights)))[1])
        self.unit = 1.0 if abs(exponent) <= _SAFE else float(np.ldexp(1.0, -np.clip(exponent, -1000, 1000)))

    def place(self, X: Any) -> Any:
        placed = _stretched(X, self.column_weights)
        if self.unit != 1.0:
            placed = placed * self.unit
        _refuse_far(placed)
        return placed

    def distances(self, found: FloatArray) -> FloatArray:
        return found if self.unit == 1.0 else found / self.unit


@dataclass
class CosineSpace(Space):
    """1 - a.b / (|a| |b|), with sum_j w_j a_j b_j as the product: rows of length 1.

    A row of zeros has no direction: it is at distance 1 from every row, itself included.
    """

    column_weights: FloatArray | None
    name = "cosine"

    def place(self, X: Any) -> Any:
        placed = _stretched(X, self.column_weights)
        if not sp.issparse(placed):
            placed *= _units(np.abs(placed).max(axis=1, initial=0.0))[:, None]
            return placed / _nonzero(_core.row_lengths(native_dense(placed, 1).matrix))[:, None]
        stored = np.diff(placed.indptr)
        largest = np.zeros(placed.shape[0])
        filled = np.flatnonzero(stored)
        if len(filled):
            largest[filled] = np.maximum.reduceat(np.abs(placed.data), placed.indptr[filled])
        placed.data *= np.repeat(_units(largest), stored)
        placed.data /= np.repeat(_nonzero(_core.row_lengths(native_csr(placed, 1).matrix)), stored)
        return placed


def _units(largest: FloatArray) -> FloatArray:
    """Powers of two that bring these sizes to about 1: they round nothing, and no square overflows."""
    exponent = np.frexp(largest)[1]
    return np.ldexp(1.0, -np.clip(exponent, -1000, 1000))


def _nonzero(lengths: FloatArray) -> FloatArray:
    return np.where(lengths > 0, lengths, 1.0)


@dataclass
class MahalanobisSpace(Space):
    """sqrt((a - b)' S^+ (a - b)) with the sample covariance S of the training data: whitened rows.

    S is divided by the sum of weights less 1. Directions in which the training data do not vary count nothing
    (S^+ is the pseudo-inverse of the correlations between standardised columns).
    """

    unit: FloatArray = field(default_factory=lambda: np.ones(0))
    centre: FloatArray = field(default_factory=lambda: np.zeros(0))
    deviation: FloatArray = field(default_factory=lambda: np.ones(0))
    whitening: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    name = "mahalanobis"

    def learn(self, X: Any, s: FloatArray) -> None:
        _refuse_sparse(X, "mahalanobis")
        X = np.asarray(X, dtype=np.float64)
        total = float(s.sum())
        if total <= 1:
            raise InputError(
                "metric='mahalanobis' needs a sample covariance, so rows of weight 2 at least, but "
                f"n_samples = {len(X)} rows weigh {total:g}. Give more rows, or weights that count rows."
            )
        self.unit = _units(np.abs(X).max(axis=0))
        Z = X * self.unit
        self.centre = Z[0] + np.average(Z - Z[0], axis=0, weights=s)  # exactly Z[0] in a constant column
        Z = Z - self.centre
        deviation = np.sqrt(np.average(Z**2, axis=0, weights=s) * (total / (total - 1)))
        self.deviation = np.where(deviation > 0, deviation, 1.0)
        Z = Z / self.deviation
        roots, directions = np.linalg.eigh((Z * s[:, None]).T @ Z / (total - 1))
        varies = roots > len(roots) * np.finfo(float).eps * max(roots[-1], np.finfo(float).tiny)
        self.whitening = np.ascontiguousarray(directions[:, varies] / np.sqrt(roots[varies]))
        if not varies.any():
            self.whitening = np.zeros((X.shape[1], 1))

    def place(self, X: Any) -> Any:
        _refuse_sparse(X, "mahalanobis")
        Z = (np.asarray(X, dtype=np.float64) * self.unit - self.centre) / self.deviation
        # Row by row in the core: a product by BLAS may round a row by what stands beside it.
        placed = native_dense(np.ascontiguousarray(Z), 1).dot(self.whitening)
        _refuse_far(placed)
        return placed


@dataclass
class HammingSpace(Space):
    """In how many columns two rows differ, or the sum of those columns' weights: codes of categories.

    Values are categories: numbers or, in an object array, anything hashable. A value that the training data
    do not have in its column differs from all of theirs.
    """

    column_weights: FloatArray | None
    numbers: list[NDArray[Any]] = field(default_factory=list)
    names: list[dict[Hashable, int]] = field(default_factory=list)
    dtype: Any = np.uint8
    name = "hamming"

    def learn(self, X: Any, s: FloatArray) -> None:
        _refuse_sparse(X, "hamming")
        if X.dtype.kind == "O":
            self._refuse_unhashable(X)
            self.names = [
                {v: code for code, v in enumerate(dict.fromkeys(column))} for column in X.T.tolist()
            ]
            largest = max(len(names) for names in self.names)
        else:
            self.numbers = [np.unique(column) for column in X.T]
            largest = max(len(values) for values in self.numbers)
        # One code more stands for values that are not known.
        self.dtype = np.uint8 if largest < 2**8 else np.uint16 if largest < 2**16 else np.int32

    @staticmethod
    def _refuse_unhashable(X: NDArray[Any]) -> None:
        for (row, column), value in np.ndenumerate(X):
            if not isinstance(value, Hashable):
                raise InputTypeError(
                    f"A category must be hashable: argument must be a string or a number, but row {row}, "
                    f"column {column} is a {type(value).__name__}."
                )

    def place(self, X: Any) -> Any:
        _refuse_sparse(X, "hamming")
        if X.dtype.kind == "O":
            self._refuse_unhashable(X)
        codes = np.empty(X.shape, dtype=self.dtype)
        for j in range(X.shape[1]):
            codes[:, j] = self._codes_by_name(j, X[:, j]) if self.names else self._codes(j, X[:, j])
        return codes

    def _codes(self, j: int, column: NDArray[Any]) -> NDArray[Any]:
        values = self.numbers[j]
        if column.dtype.kind == "O":
            raise InputTypeError("The training data were numbers, but X has other categories now.")
        places = np.searchsorted(values, column).clip(max=len(values) - 1)
        return np.where(values[places] == column, places, len(values))

    def _codes_by_name(self, j: int, column: NDArray[Any]) -> list[int]:
        names = self.names[j]
        return [names.get(value, len(names)) for value in column.tolist()]


def _refuse_sparse(X: Any, metric: str) -> None:
    if sp.issparse(X):
        raise InputError(
            f"metric={metric!r} needs a dense table, but X is a sparse matrix. Use X.toarray(), or "
            "metric='cosine' or 'euclidean'."
        )


@dataclass(frozen=True)
class Strings:
    """Strings one after another, as code points."""

    symbols: NDArray[np.uint32]
    start: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, rows: slice) -> Strings:
        first, last, _ = rows.indices(len(self))
        start = self.start[first : last + 1]
        return Strings(self.symbols[start[0] : start[-1]], start - start[0])


@dataclass
class StringSpace(Space):
    """The Levenshtein distance: the fewest insertions, deletions and substitutions of code points."""

    name = "levenshtein"

    def place(self, X: Any) -> Strings:
        """X is a list of str."""
        start = np.zeros(len(X) + 1, dtype=np.int64)
        np.cumsum([len(text) for text in X], out=start[1:])
        return Strings(np.frombuffer("".join(X).encode("utf-32-le", "surrogatepass"), dtype=np.uint32), start)


@dataclass
class PairSpace(Space):
    """A function of two rows, asked for every pair."""

    metric: Callable[[Any, Any], float]
    name = "callable"

    def learn(self, X: Any, s: FloatArray) -> None:
        if sp.issparse(X):
            raise InputError("A metric of your own gets dense rows, but X is sparse. Use X.toarray().")

    def place(self, X: Any) -> FloatArray:
        self.learn(X, np.ones(0))
        return np.array(X, dtype=np.float64, order="C")

    def between(self, a: FloatArray, b: FloatArray) -> float:
        """The metric's answer, if it is a distance."""
        answer = self.metric(a, b)
        if not isinstance(answer, numbers.Real) or not 0 <= float(answer) < np.inf:
            raise InputError(f"A metric must return a finite number >= 0, but yours returned {answer!r}.")
        return float(answer)
