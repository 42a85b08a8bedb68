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
# So few numbers are put in order at once, whoever asks: it takes a third of a millisecond, and no bit of what
# is made of them depends on the order they came in.
_FEW = 2**16


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix, of SciPy or like one of SciPy's."""
    return hasattr(X, "tocsr") and hasattr(X, "shape")


def checked_matrix(
    X: Any,
    n_threads: int,
    names: Sequence[str] | None = None,
    *,
    in_order: bool = True,
    as_stored: bool = False,
) -> tuple[_core.Matrix, NDArray[Any] | None]:
    """A float array or sparse matrix for the core, and the array itself where it is dense.

    One native pass over the rows as they come finds what is out of range, not finite or stored twice, without
    sorting. CSR values and 32-bit indices, and C-ordered dense arrays, are borrowed. Rows are made of CSC and
    COO in the core, by dealing numbers out; numbers of a column that a row stores twice are added up. Rows
    whose columns do not increase are put in order, unless whoever asks can do without (``in_order=False``)
    and there are more than a few. With ``as_stored`` rows keep the order they are stored in, few or many,
    and one that stores a column twice is put in order by itself: what becomes of a row depends on no other
    row. All of it takes time in proportion to the numbers; X is never written to.

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
    rows = _arrays_of(X, n_threads)
    matrix = csr_matrix(*rows, X.shape[1])
    flaw = matrix.check(n_threads)
    is_kept = as_stored or (not in_order and X.format == "csr" and matrix.n_stored > _FEW)
    if flaw[0] == "repeated" and as_stored:
        matrix = csr_matrix(*rows, X.shape[1], is_ordered=False).summed(n_threads)
        rows, flaw = matrix.arrays(), matrix.check(n_threads)
        matrix = csr_matrix(*rows, X.shape[1])
    elif flaw[0] == "repeated" or (flaw[0] == "unsorted" and not is_kept):
        matrix = csr_matrix(*rows, X.shape[1], is_ordered=False).ordered(n_threads)
        flaw = matrix.check(n_threads)  # sums may be beyond the type of their terms
    if flaw[0] == "unsorted":
        return csr_matrix(*rows, X.shape[1], is_ordered=False), None
    _refuse(flaw, names)
    return matrix, None


def csr_matrix(
    starts: Any, columns: Any, values: Any, n_columns: int, *, is_ordered: bool = True
) -> _core.Matrix:
    """Rows that are ordered, or said not to be; float values are borrowed, indices too when of 32 bits."""
    start = np.ascontiguousarray(starts, dtype=np.int64)
    index = np.ascontiguousarray(columns, dtype=np.int32)
    value = np.ascontiguousarray(values)
    return _core.Matrix.from_csr(start, index, value, n_columns, (start, index, value), is_ordered)


def _arrays_of(X: Any, n_threads: int) -> tuple[Any, Any, Any]:
    """(starts, columns, values) of rows, whose columns nobody has looked at where X is CSR."""
    if X.format not in ("csr", "csc", "coo"):
        X = X.tocsr()  # from a layout without index arrays, which SciPy looks at itself
    n_rows, n_columns = X.shape
    rows: Any
    value = np.ascontiguousarray(X.data)
    if X.format == "coo":
        row, column = _alike(X.row, X.col)
        _require(row.shape == column.shape == value.shape, "its arrays do not fit each other")
        rows = _core.rows_of_coordinates(row, column, value, n_rows, n_columns, n_threads)
    else:
        start, (index,) = np.ascontiguousarray(X.indptr, dtype=np.int64), _alike(X.indices)
        fits = len(start) == (n_rows if X.format == "csr" else n_columns) + 1 and index.shape == value.shape
        _require(fits and start[0] == 0 and start[-1] <= len(index), "its arrays do not fit each other")
        if X.format == "csr":
            narrow = index if index.dtype == np.int32 else _core.narrow(index, n_columns, n_threads)
            return start, narrow, value
        rows = _core.rows_of_columns(start, index, value, n_rows, n_threads)
    _require(rows is not None, "an index is out of range")
    starts, columns, values = rows
    return starts, columns, values


def _alike(*indices: Any) -> tuple[NDArray[Any], ...]:
    """Index arrays of whole numbers, all of 32 bits or all of 64."""
    _require(all(index.dtype.kind in "iu" for index in indices), "its indices are no whole numbers")
    dtype = np.int32 if all(index.dtype == np.int32 for index in indices) else np.int64
    return tuple(np.ascontiguousarray(index, dtype=dtype) for index in indices)


def require_sound(X: Any) -> Any:
    """X itself; a sparse one whose index arrays point outside it is refused, before SciPy follows them.

    For whoever hands X to others: ``checked_matrix`` looks for itself.

    Raises
    ------
    InputError
        For index arrays that do not fit each other, or have an entry out of range.
    """
    if not is_sparse(X) or X.format not in ("csr", "csc", "coo"):
        return X
    n_rows, n_columns = X.shape
    if X.format == "coo":
        places = [(np.asarray(X.row), n_rows), (np.asarray(X.col), n_columns)]
    else:
        start, n_lines = np.asarray(X.indptr), n_rows if X.format == "csr" else n_columns
        is_rising = len(start) == n_lines + 1 and start[0] == 0 and bool(np.all(start[1:] >= start[:-1]))
        _require(is_rising and start[-1] <= len(X.indices), "its arrays do not fit each other")
        places = [(np.asarray(X.indices), n_columns if X.format == "csr" else n_rows)]
    for index, end in places:
        _require(index.dtype.kind in "iu" and index.shape == X.data.shape, "its arrays do not fit each other")
        _require(not len(index) or (index.min() >= 0 and index.max() < end), "an index is out of range")
    return X


def _require(is_so: bool, complaint: str) -> None:
    if not is_so:
        raise InputError(f"X is a corrupt sparse matrix: {complaint}. Build it again.")


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
