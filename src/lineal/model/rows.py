"""Rows of numbers as scores are taken from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.data.matrices import csr_matrix
from lineal.data.rows import Arrays
from lineal.model.answers import FloatArray


@dataclass(frozen=True)
class MatrixRows:
    """A matrix of the core, how many threads look at it, and its array where it is dense.

    Columns of the rows as they are given come in any order; in ``matrix`` they increase.
    ``beyond`` is the squared length of what was left out of each row, because the model has no such column:
    weights do without it, distances do not.
    """

    given: _core.Matrix
    n_threads: int
    dense: NDArray[Any] | None = None
    beyond: FloatArray | None = None

    @classmethod
    def of(cls, arrays: Arrays, n_columns: int, n_threads: int) -> MatrixRows:
        """Sparse rows that are sorted and in range."""
        return cls(csr_matrix(*arrays, n_columns), n_threads)

    @classmethod
    def of_dense(cls, array: NDArray[Any], n_threads: int) -> MatrixRows:
        """Dense rows of finite numbers, one behind another."""
        return cls(_core.Matrix.from_dense(array, array), n_threads, array)

    def made_dense(self) -> MatrixRows:
        """The same rows with their zeros."""
        if self.dense is not None:
            return self
        starts, columns, values = self.stored()
        array = np.zeros((self.n_rows, self.n_columns), dtype=values.dtype)
        array[np.repeat(np.arange(self.n_rows), np.diff(starts)), columns] = values
        return MatrixRows.of_dense(array, self.n_threads)

    @cached_property
    def matrix(self) -> _core.Matrix:
        """The same with columns that increase in each row."""
        return self.given if self.given.is_ordered else self.given.ordered(self.n_threads)

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return self.given.n_rows

    @property
    def n_columns(self) -> int:
        """How many columns."""
        return self.given.n_columns

    def dot(self, W: NDArray[Any]) -> FloatArray:
        """X W; the same bits for any number of threads, and the same as a learner's."""
        Z = np.empty((self.n_rows, W.shape[1]))
        self.given.dot(W, Z, self.n_threads)
        return Z

    def stored(self, *, in_order: bool = True) -> Arrays:
        """(starts, columns, values) of sparse rows, without what may lie behind the last of them."""
        starts, columns, values = (self.matrix if in_order else self.given).arrays()
        return starts, columns[: starts[-1]], values[: starts[-1]]

    def with_values(self, values: NDArray[Any]) -> MatrixRows:
        """Sparse rows with other numbers in the places that they are given in."""
        starts, columns, _ = self.stored(in_order=False)
        matrix = csr_matrix(starts, columns, values, self.n_columns, is_ordered=self.given.is_ordered)
        return MatrixRows(matrix, self.n_threads)
