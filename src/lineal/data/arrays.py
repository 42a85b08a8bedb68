"""Arrays from outside become rows for the core: checked, sorted, borrowed where they can be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from lineal.errors import InputError
from lineal.objective.rows import NativeRows, native_csr, native_dense

_MOST_COLUMNS = 2**31 - 1


def checked_rows(X: Any, n_threads: int, names: Sequence[str] | None = None) -> NativeRows:
    """A float array or SciPy matrix as rows for the core.

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
    if not sp.issparse(X):
        rows = native_dense(np.ascontiguousarray(X), n_threads)
        _refuse(rows.matrix.check(n_threads), names)
        return rows
    _check_before_conversion(X)
    csr = X if type(X) is sp.csr_array else sp.csr_array(X)
    if (
        csr.indices.dtype != np.int32
        and len(csr.indices)
        and (csr.indices.max() > _MOST_COLUMNS or csr.indices.min() < 0)
    ):
        raise InputError("X is a corrupt sparse matrix: a column index is out of range. Build it again.")
    rows = native_csr(csr, n_threads)
    flaw = rows.matrix.check(n_threads)
    if flaw[0] == "unsorted":
        csr = csr.copy()
        csr.sum_duplicates()
        rows = native_csr(csr, n_threads)
        flaw = rows.matrix.check(n_threads)
    _refuse(flaw, names)
    return rows


def _check_before_conversion(X: Any) -> None:
    """SciPy converts layouts without looking at indices: one out of range would be a write out of bounds."""
    pairs: tuple[tuple[Any, int], ...]
    if X.format == "coo":
        pairs = ((X.row, X.shape[0]), (X.col, X.shape[1]))
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
