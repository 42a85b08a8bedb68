"""Sparse rows that need no SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.data.rows import Arrays
from lineal.deferred import sparse as sp


class CompressedRows:
    """Sorted sparse rows in three arrays, laid out and named as in SciPy's ``csr_matrix``.

    What this library makes and hands to its own linear models; ``to_scipy`` is for everyone else.
    """

    format, ndim = "csr", 2

    def __init__(self, arrays: Arrays, n_columns: int) -> None:
        self.indptr, self.indices, self.data = arrays
        self.shape = (len(self.indptr) - 1, n_columns)

    @classmethod
    def of(cls, X: Any) -> CompressedRows:
        """SciPy's rows, borrowed."""
        return cls((X.indptr, X.indices, X.data), X.shape[1])

    @property
    def arrays(self) -> Arrays:
        """Where rows start, columns, numbers."""
        return self.indptr, self.indices, self.data

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""
        return self.data.dtype

    def tocsr(self) -> CompressedRows:
        """Itself, for whoever takes any sparse matrix."""
        return self

    def astype(self, dtype: Any) -> CompressedRows:
        """With numbers of a type; itself where they have it."""
        if self.dtype == dtype:
            return self
        return CompressedRows((self.indptr, self.indices, self.data.astype(dtype)), self.shape[1])

    def __getitem__(self, rows: NDArray[np.intp]) -> CompressedRows:
        """Some of the rows, by number, in any order; rows that follow each other are copied in one piece."""
        breaks = np.flatnonzero(np.diff(rows) != 1) + 1
        first = rows[np.concatenate([[0], breaks])] if len(rows) else rows
        last = rows[np.concatenate([breaks - 1, [len(rows) - 1]])] if len(rows) else rows
        pieces = list(zip(self.indptr[first].tolist(), self.indptr[last + 1].tolist(), strict=True))
        starts = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(np.diff(self.indptr)[rows], out=starts[1:])
        indices, data = (
            np.concatenate([array[a:b] for a, b in pieces]) if pieces else array[:0]
            for array in (self.indices, self.data)
        )
        return CompressedRows((starts, indices, data), self.shape[1])

    def to_scipy(self) -> sp.csr_matrix:
        """The same arrays as a matrix of SciPy's."""
        X = sp.csr_matrix(self.shape, dtype=self.dtype)
        # Set, not passed: SciPy would look at every index again.
        X.indptr, X.indices, X.data = self.indptr, self.indices, self.data
        X.has_sorted_indices = X.has_canonical_format = True
        return X
