"""The scatter within classes and their means, read from data that fit a factorisation.

Columns are centred and divided by their deviations first, so units and offsets do not matter. Rows are read
in blocks; sparse ones are made dense a block at a time. What is kept is a root of the scatter, R'R = S_W, by
Householder reflections: forming S_W itself would square its condition number.

With more columns than rows all of it happens in the space that the rows span: no d x d matrix is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.deferred import linalg
from lineal.deferred import sparse as sp
from lineal.features.moments import moments
from lineal.objective.linear_maps import NativeRows
from lineal.objective.losses import FloatArray

# A column whose deviation within classes is below this share of its whole deviation does not vary there:
# less is the rounding of its class means.
STILL = 1e-7
_BLOCK = 2048


@dataclass(frozen=True)
class Classes:
    """Rows of data, each with its class and a positive weight."""

    codes: NDArray[np.int32]  # (n,)
    s: FloatArray  # (n,)
    n_classes: int

    @property
    def counts(self) -> FloatArray:
        """(K,) the weight of each class."""
        return np.asarray(np.bincount(self.codes, weights=self.s, minlength=self.n_classes), np.float64)

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.s.sum())

    def means(self, rows: NativeRows) -> FloatArray:
        """(K, d) means of the classes."""
        return self.sums(rows.matrix, n_threads=rows.n_threads) / self.counts[:, None]

    def sums(self, X: _core.Matrix, rows: slice = slice(None), n_threads: int = 1) -> FloatArray:
        """(K, d) sums of the rows of each class, times their weights; X is these rows of the data."""
        V = np.empty((self.n_classes, X.n_columns))
        _core.class_sums(X, self.codes[rows], self.s[rows], V, n_threads)
        return V

    def indicator(self) -> sp.csr_array:
        """(K, n) weights: its product with X sums the rows of each class."""
        return sp.csr_array((self.s, (self.codes, np.arange(len(self.s)))), (self.n_classes, len(self.s)))


@dataclass(frozen=True)
class Scatter:
    """Means and within-class scatter in working coordinates.

    Attributes
    ----------
    root : (m, q) array
        root'root = S_W.
    means : (K, q) array
        Of the classes, seen from the mean of all rows.
    size : (q,) array
        How large a working unit is beside the largest one: all 1 where all columns share a unit.
    columns : (d, r) from (q, r)
        Takes weights of working coordinates to weights of the columns.
    fourth_moment : () -> float
        sum_i s_i |a_i|^4 over the rows a_i of the scatter, in working units.
    n_live : int
        How many columns are not constant.
    """

    root: FloatArray
    means: FloatArray
    size: FloatArray
    columns: Callable[[FloatArray], FloatArray]
    fourth_moment: Callable[[], float]
    n_live: int

    @property
    def trace(self) -> float:
        """tr S_W in the largest unit."""
        return float(np.sum((self.root * self.size) ** 2))


def read_scatter(X: Any, of: Classes, *, in_own_units: bool) -> Scatter:
    """The scatter of an array, or of a sparse matrix that is read by blocks.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
    of : Classes
    in_own_units : bool
        With more columns than rows: whether columns keep their units, so that a multiple of the identity
        stays one. Otherwise each column is measured by its deviation within classes.
    """
    reader = _Reader.over(X, of)
    if X.shape[1] <= X.shape[0]:
        return _narrow(reader)
    return _wide(reader, in_own_units)


@dataclass(frozen=True)
class _Reader:
    """Columns that vary, each with mean 0 and deviation 1."""

    X: Any
    of: Classes
    live: NDArray[np.intp]  # the places of columns that are not constant
    unit: FloatArray  # (q,) powers of two
    shift: FloatArray  # (q,) the mean in units
    deviation: FloatArray  # (q,) in units
    held: list[FloatArray]  # the only block, once it was made

    @classmethod
    def over(cls, X: Any, of: Classes) -> _Reader:
        seen = moments(X, of.s)
        live = np.flatnonzero(seen.deviation > 0)
        return cls(X, of, live, seen.unit[live], seen.mean[live], seen.deviation[live], [])

    def blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Parts of the rows, centred and scaled, to look at."""
        n, step = self.X.shape[0], max(_BLOCK, 2 * len(self.live))
        for start in range(0, n, step):
            rows = slice(start, min(start + step, n))
            part = self.held[0] if self.held else self._scaled(rows)
            if n <= step:
                self.held[:] = [part]
            yield rows, part

    def _scaled(self, rows: slice) -> FloatArray:
        part = self.X[rows]
        part = part.toarray() if sp.issparse(part) else part
        part = part if len(self.live) == part.shape[1] else part[:, self.live]
        part = part * self.unit
        part -= self.shift
        part /= self.deviation
        return np.ascontiguousarray(part)

    def means(self) -> FloatArray:
        """(K, q) means of the classes."""
        sums = np.zeros((self.of.n_classes, len(self.live)))
        for rows, part in self.blocks():
            sums += self.of.sums(_core.Matrix.from_dense(part, part), rows)
        return sums / self.of.counts[:, None]

    def residuals(self, means: FloatArray) -> Iterator[FloatArray]:
        """Parts of the rows, seen from the means of their classes, times the roots of their weights."""
        for rows, block in self.blocks():
            part = means.take(self.of.codes[rows], axis=0)
            np.subtract(block, part, out=part)
            part *= np.sqrt(self.of.s[rows])[:, None]
            yield part

    def fourth_moment(self, means: FloatArray, within: FloatArray) -> float:
        """sum_i s_i |a_i|^4 in deviations within classes."""
        total, start = 0.0, 0
        for part in self.residuals(means):
            s = self.of.s[start : start + len(part)]
            part /= within
            total += float(np.sum(np.einsum("ij,ij->i", part, part) ** 2 / s))
            start += len(part)
        return total

    def spread_out(self, weights: FloatArray) -> FloatArray:
        """Weights of live columns, in deviations, as weights of all columns in their own units."""
        answer = np.zeros((self.X.shape[1], weights.shape[1]))
        answer[self.live] = weights * (self.unit / self.deviation)[:, None]
        return answer

    def sizes(self, within: FloatArray) -> FloatArray:
        """Working units, beside the largest."""
        with np.errstate(over="ignore", under="ignore"):
            exponents = np.log(within) + np.log(self.deviation) - np.log(self.unit)
            return np.exp(exponents - exponents.max(initial=-np.inf))


def _narrow(reader: _Reader) -> Scatter:
    means, q = reader.means(), len(reader.live)
    root = np.zeros((0, q))
    for part in reader.residuals(means):
        stacked = np.vstack([root, part]) if len(root) else part
        root = linalg.qr(stacked, mode="r", overwrite_a=True, check_finite=False)[0][:q]
    root, within = _standardised(root, reader.of.total)
    return Scatter(
        root,
        means / within,
        reader.sizes(within),
        lambda weights: reader.spread_out(weights / within[:, None]),
        lambda: reader.fourth_moment(means, within),
        q,
    )


def _wide(reader: _Reader, in_own_units: bool) -> Scatter:
    means = reader.means()
    (parts,) = reader.residuals(means)  # more columns than rows are one block
    n = len(parts)
    if in_own_units:
        within = 1 / reader.sizes(np.ones(len(reader.live)))
        parts = parts / within
    else:
        parts, within = _standardised(parts, reader.of.total)
    # The rows and the means in a basis of their own span: at most n + K coordinates, distances kept. The
    # basis is left as the reflections that it is made of: writing it out takes as long as finding it.
    spanning = np.vstack([parts, means / within]).T
    (reflections, tau), coordinates = linalg.qr(spanning, mode="raw", overwrite_a=True, check_finite=False)
    coordinates = coordinates[: len(tau)]
    return Scatter(
        np.ascontiguousarray(coordinates.T[:n]),
        np.ascontiguousarray(coordinates.T[n:]),
        np.ones(len(coordinates)),
        lambda weights: reader.spread_out(_reflected(reflections, tau, weights) / within[:, None]),
        lambda: reader.fourth_moment(means, within),
        len(reader.live),
    )


def _reflected(reflections: FloatArray, tau: FloatArray, weights: FloatArray) -> FloatArray:
    """Q times weights, for the basis Q that a factorisation left as reflections."""
    padded = np.zeros((len(reflections), weights.shape[1]), order="F")
    padded[: len(weights)] = weights
    (multiply,) = linalg.get_lapack_funcs(("ormqr",), (reflections,))
    size = int(multiply("L", "N", reflections[:, : len(tau)], tau, padded, -1)[1][0])
    answer, _, _ = multiply("L", "N", reflections[:, : len(tau)], tau, padded, size)
    return np.asarray(answer)


def _standardised(root: FloatArray, total: float) -> tuple[FloatArray, FloatArray]:
    """A root in deviations within classes, and those; a column that is still keeps its whole deviation."""
    within = np.sqrt(np.sum(root * root, axis=0) / total)
    is_still = within <= STILL
    within = np.where(is_still, 1.0, within)
    return np.where(is_still, 0.0, root / within), within
