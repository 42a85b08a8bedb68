"""Sparse rows beside their classes and weights, read once: what every score of columns is computed from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array, column_or_1d

from lineal import _core
from lineal.data import checked_rows, thread_count
from lineal.data.targets import classes_and_codes
from lineal.deferred import sparse as sp
from lineal.errors import InputError
from lineal.features.matrices import weights_of_rows
from lineal.objective.linear_maps import NativeRows, native_csr, native_dense

FloatArray = NDArray[np.float64]
_BLOCK = 16384  # columns at a time: what is summed by class then stays in a cache


@dataclass(frozen=True)
class Labelled:
    """Rows of positive weight without their zeros, each with the place of its class.

    Data are held by what they are and not by how they came, so that dense and sparse ones have the same
    scores, bit for bit: as an array if no number is 0, else as sparse rows.
    """

    rows: NativeRows  # dense with every cell stored, or sparse, in any order, without stored zeros
    codes: NDArray[np.int32]
    s: FloatArray
    n_classes: int

    @cached_property
    def matrix(self) -> sp.csr_array:
        """The same rows for SciPy."""
        X = self.rows.dense
        if X is None:
            return self.rows.csr()
        n, d = X.shape
        return sp.csr_array((X.ravel(), np.tile(np.arange(d), n), np.arange(0, n * d + 1, d)), shape=(n, d))

    @property
    def n_columns(self) -> int:
        """How many columns."""
        return self.rows.n_columns

    @property
    def totals(self) -> FloatArray:
        """(n_classes,) weights of the classes."""
        return np.bincount(self.codes, self.s, self.n_classes).astype(np.float64)

    def sums(self) -> tuple[FloatArray, bool]:
        """(n_classes, n_columns) weighted sums of numbers, and whether one of them is below 0."""
        V = np.empty((self.n_classes, self.n_columns))
        is_below = _core.class_sums(self.rows.given, self.codes, self.s, V, self.rows.n_threads)
        return V, is_below

    def stored(self) -> FloatArray:
        """(n_classes, n_columns) weights of the rows that are not 0 in a column."""
        V = np.empty((self.n_classes, self.n_columns))
        _core.class_counts_above(self.rows.given, self.codes, self.s, -np.inf, V, self.rows.n_threads)
        return V

    def deviations(self, centre: FloatArray) -> FloatArray:
        """(n_classes, n_columns) weighted squares of numbers that are not 0 about a centre for each sum."""
        V = np.empty((self.n_classes, self.n_columns))
        _core.class_deviations(self.rows.given, self.codes, self.s, centre, V, self.rows.n_threads)
        return V

    def with_values(self, values: FloatArray) -> Labelled:
        """Other numbers in the same places."""
        X = sp.csr_array((values, self.matrix.indices, self.matrix.indptr), shape=self.matrix.shape)
        return Labelled(native_csr(X, self.rows.n_threads), self.codes, self.s, self.n_classes)


def labelled(
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    n_classes: int | None = None,
    n_threads: int | None = None,
    names: Any = None,
) -> Labelled:
    """X and y, checked; a row of weight 0 leaves, its class stays.

    With ``n_classes`` y holds the places of classes already, as int32.

    Raises
    ------
    InputError
        For NaN, infinity, corrupt matrices, weights below 0, and rows and labels that are not as many.
    """
    X = check_array(
        X, accept_sparse=("csr", "csc", "coo"), dtype=(np.float64, np.float32), ensure_all_finite=False
    )
    threads = thread_count(n_threads)
    rows = checked_rows(X, threads, names)
    labels = column_or_1d(y)
    if len(labels) != X.shape[0]:
        raise InputError(f"X has {X.shape[0]} rows, but y has {len(labels)} labels.")
    codes = labels
    if n_classes is None:
        classes, codes = classes_and_codes(labels)
        n_classes = len(classes)
    s = weights_of_rows(sample_weight, X.shape[0])
    is_counted = s > 0
    if rows.dense is not None and is_counted.all() and rows.dense.all():
        return Labelled(rows, codes, s, n_classes)
    if not rows.is_sparse or not is_counted.all() or not rows.given.arrays()[2].all():
        matrix = rows.csr()
        if not is_counted.all():
            matrix, codes, s = matrix[is_counted], codes[is_counted], s[is_counted]
        if rows.is_sparse:
            matrix.eliminate_zeros()
        rows = native_csr(matrix, threads)
    n_rows, n_columns = rows.n_rows, rows.n_columns
    if rows.n_stored == n_rows * n_columns:
        rows = native_dense(rows.matrix.arrays()[2].reshape(n_rows, n_columns), threads)
    return Labelled(rows, codes, s, n_classes)


def by_columns(work: Callable[[slice], FloatArray | tuple[FloatArray, ...]], n_columns: int) -> Any:
    """What ``work`` makes of one block of columns after another, joined along the last axis.

    One thread: the steps are so short that several would wait for each other's turn longer than they work.
    """
    blocks = [slice(first, min(first + _BLOCK, n_columns)) for first in range(0, n_columns, _BLOCK)]
    parts = [work(block) for block in blocks]
    if isinstance(parts[0], tuple):
        return tuple(np.concatenate(several, axis=-1) for several in zip(*parts, strict=True))
    return np.concatenate(parts, axis=-1)
