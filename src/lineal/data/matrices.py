"""Numbers from outside become a matrix of the core: checked, sorted, borrowed where they can be.

Sparse matrices are known by what they offer (``tocsr``, ``indptr``), so SciPy need not be there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.errors import InputError

_MOST_COLUMNS = 2**31 - 1


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix, of SciPy or like one of SciPy's."""
    return hasattr(X, "tocsr") and hasattr(X, "shape")


def checked_matrix(
    X: Any, n_threads: int, names: Sequence[str] | None = None
) -> tuple[_core.Matrix, NDArray[Any] | None]:
    """A float array or sparse matrix for the core, and the array itself where it is dense.

    One native pass checks that every index is in range, every row sorted and every value finite.
    CSR values and 32-bit indices, and C-ordered dense arrays, are borrowed; other layouts are converted,
    never in place.

    Raises
    ------
    InputError
        For NaN or infinity (with row and column), corrupt index arrays, or too many columns.
    """
    if X.shape[1] > _MOST_COLUMNS:
        raise InputError(
            f"X has {X.shape[1]:,} columns; at most {_MOST_COLUMNS:,} can be numbered. Hash the features."
        )
    if not is_sparse(X):
        dense = np.ascontiguousarray(X)
        matrix = _core.Matrix.from_dense(dense, dense)
        _refuse(matrix.check(n_threads), names)
        return matrix, dense
    _check_before_conversion(X)
    csr = X.tocsr()
    if (
        csr.indices.dtype != np.int32
        and len(csr.indices)
        and (csr.indices.max() > _MOST_COLUMNS or csr.indices.min() < 0)
    ):
        raise InputError("X is a corrupt sparse matrix: a column index is out of range. Build it again.")
    matrix = csr_matrix(csr.indptr, csr.indices, csr.data, csr.shape[1])
    flaw = matrix.check(n_threads)
    if flaw[0] == "unsorted":
        csr = csr.copy()
        csr.sum_duplicates()
        matrix = csr_matrix(csr.indptr, csr.indices, csr.data, csr.shape[1])
        flaw = matrix.check(n_threads)
    _refuse(flaw, names)
    return matrix, None


def csr_matrix(starts: Any, columns: Any, values: Any, n_columns: int) -> _core.Matrix:
    """Rows that are sorted; float values are borrowed, indices too when they are 32 bits."""
    start = np.ascontiguousarray(starts, dtype=np.int64)
    index = np.ascontiguousarray(columns, dtype=np.int32)
    value = np.ascontiguousarray(values)
    return _core.Matrix.from_csr(start, index, value, n_columns, (start, index, value))


def _check_before_conversion(X: Any) -> None:
    """SciPy converts layouts without looking at indices: one out of range would be a write out of bounds."""
    pairs: tuple[tuple[Any, int], ...]
    if X.format == "coo":
        pairs = ((X.row, X.shape[0]), (X.col, X.shape[1]))
    elif X.format not in ("csr", "csc"):
        return  # those without index arrays, which SciPy looks at itself
    else:
        extent, across = X.shape if X.format == "csr" else X.shape[::-1]
        fits = len(X.indptr) == extent + 1 and len(X.indices) == len(X.data) and X.indptr[0] == 0
        if not fits or X.indptr[-1] > len(X.indices) or (np.diff(X.indptr) < 0).any():
            raise InputError(
                "X is a corrupt sparse matrix: its arrays do not fit each other. Build it again."
            )
        # Rows are checked in the core; columns must be sound before they are turned into rows.
        pairs = ((X.indices, across),) if X.format == "csc" else ()
    for index, bound in pairs:
        if len(index) and (index.min() < 0 or index.max() >= bound):
            raise InputError("X is a corrupt sparse matrix: an index is out of range. Build it again.")


def _refuse(flaw: tuple[str, int, int], names: Sequence[str] | None) -> None:
    kind, row, column = flaw
    if kind == "":
        return
    if kind == "not_finite":
        name = f" ({names[column]!r})" if names is not None else ""
        raise InputError(
            f"X contains NaN or infinity, first at row {row}, column {column}{name}. "
            "Fill or drop the value, for example with sklearn.impute.SimpleImputer."
        )
    raise InputError(
        f"X is a corrupt sparse matrix: row {row} has a bad pointer or column index. Build it again."
    )
