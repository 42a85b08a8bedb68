"""Matrices of numbers as learners are given them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from lineal.data.compressed import CompressedRows
from lineal.deferred import is_a, is_sparse
from lineal.deferred import sparse as sp
from lineal.errors import InputError, InputTypeError

# What data make of a learner.
SHAPE = ("n_features_in_", "feature_names_in_")
# How the names of dtypes begin that are points in time or spans of it, in any library.
_TIMES = ("datetime", "timedelta", "timestamp", "date", "time", "duration", "period", "interval[")
_TABLES = "TableClassifier or TableRegressor, which take columns of any kind"
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def read_matrix(learner: Any, X: Any, *, reset: bool) -> Any:
    """X as a float array or SciPy matrix; scikit-learn's refusals become this library's.

    The learner gets ``n_features_in_`` and ``feature_names_in_``, or is held to them; whether numbers are
    finite is for :func:`lineal.data.checked_rows` to say.
    """
    ready = _ready(X)
    if ready is not None and _is_taken(learner, X.shape[1], reset=reset):
        return ready
    if isinstance(X, CompressedRows):
        X = X.to_scipy()  # whole numbers, or rows to refuse
    _refuse_kinds(X)
    from sklearn.utils.validation import validate_data

    try:
        return validate_data(
            learner, X, reset=reset, accept_sparse=("csr", "csc", "coo"), accept_large_sparse=True,
            dtype=(np.float64, np.float32), ensure_all_finite=False, order="C",
        )  # fmt: skip
    except InputError:
        raise
    except ValueError as error:
        if "inhomogeneous" in str(error):
            raise InputError(_ragged(X)) from error
        if "could not convert" in str(error):
            raise InputTypeError(_no_number(X, error)) from error
        raise (InputTypeError if "Complex data" in str(error) else InputError)(str(error)) from error
    except TypeError as error:
        raise InputTypeError(_no_number(X, error)) from error


def _refuse_kinds(X: Any) -> None:
    """Refuses what NumPy would read as numbers, or as one thing, though it means something else."""
    if is_a(X, "polars:LazyFrame"):
        raise InputTypeError("a polars LazyFrame has no rows yet. Call .collect() first.")
    names, dtypes = _dtypes(X)
    found = {id(dtype): dtype for dtype in dtypes}  # not by hash: that of categories looks at all of them
    times = {key for key, dtype in found.items() if str(dtype).lower().startswith(_TIMES)}
    if not times:
        return
    name, kind = next((name, dtype) for name, dtype in zip(names, dtypes, strict=False) if id(dtype) in times)
    where = "X" if name is None else f"column {name!r}"
    raise InputTypeError(
        f"{where} holds times ({str(kind).lower()}), which are no numbers until a unit and an origin are "
        f"chosen. Make numbers of them, such as days since a date, or use {_TABLES}."
    )


def _dtypes(X: Any) -> tuple[Any, list[Any]]:
    """Names of columns and their dtypes; an array has one dtype, and no names."""
    if isinstance(X, np.ndarray):
        return [None], [X.dtype]
    names = getattr(X, "column_names", getattr(X, "columns", None))  # of pyarrow; of pandas and polars
    dtypes = getattr(X, "dtypes", None)
    if dtypes is None:
        dtypes = getattr(getattr(X, "schema", None), "types", None)
    return (names, []) if names is None or dtypes is None else (names, list(dtypes))


def _no_number(X: Any, error: Exception) -> str:
    """Where numbers are needed and something else came."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    if names is not None:
        columns = [(f"column {name!r}", X[name]) for name in names]
    else:
        try:
            cells = np.array(X, dtype=object)
        except ValueError:
            return str(error)
        columns = [(f"column {j}", cells[:, j]) for j in range(cells.shape[1])] if cells.ndim == 2 else []
    for where, column in columns:
        values = column.to_pylist() if hasattr(column, "to_pylist") else np.asarray(column).tolist()
        for value in values:
            try:
                float(value)
            except (TypeError, ValueError):
                if value is not None:
                    return (
                        f"{where} of X holds {value!r}, where a number is needed ({error}). Leave it out, "
                        f"make numbers of it, or use {_TABLES}."
                    )
    return str(error)


def _ragged(X: Any) -> str:
    """Which row has another length than the first."""
    lengths = [len(row) if hasattr(row, "__len__") else 1 for row in X]
    other = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
    if other is None:
        return "the rows of X have different shapes. Give every row a number for every column."
    return (
        f"the rows of X have different lengths: {lengths[0]} in row 0, {lengths[other]} in row {other}. "
        "Give every row a number for every column."
    )


def _ready(X: Any) -> Any:
    """What scikit-learn would make of X after a long look, where that is known; None elsewhere."""
    if type(X) is np.ndarray:
        if X.ndim != 2 or X.dtype.kind not in "fiub" or not X.size:
            return None
        return np.ascontiguousarray(X, dtype=X.dtype if X.dtype in _FLOATS else np.float64)
    if not isinstance(X, CompressedRows) and not (is_sparse(X) and type(X) in _layouts() and X.ndim == 2):
        return None
    return X if X.dtype in _FLOATS and X.shape[0] > 0 and X.shape[1] > 0 else None


@cache
def _layouts() -> tuple[type, ...]:
    """SciPy's matrices that rows are made of in the core."""
    return (sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.csc_array, sp.coo_matrix, sp.coo_array)


def _is_taken(learner: Any, n_columns: int, *, reset: bool) -> bool:
    """Gives a learner so many columns without names, or tells whether it has as many of them."""
    if reset:
        learner.__dict__.pop(SHAPE[1], None)
        learner.__dict__[SHAPE[0]] = n_columns
        return True
    return SHAPE[1] not in learner.__dict__ and learner.__dict__.get(SHAPE[0]) == n_columns


def read_growing(learner: Any, X: Any) -> tuple[Any, dict[str, Any]]:
    """X as a float array or SciPy matrix, which may have more columns than those before it.

    New columns come behind the known ones; a sparse matrix may also have fewer, since nothing tells how wide
    one is meant to be. Returns what ``n_features_in_`` and ``feature_names_in_`` become with X, and changes
    nothing.
    """
    before = {name: learner.__dict__[name] for name in SHAPE if name in learner.__dict__}
    try:
        array = read_matrix(learner, X, reset=True)
        found = {name: learner.__dict__[name] for name in SHAPE if name in learner.__dict__}
    finally:
        for name in SHAPE:
            learner.__dict__.pop(name, None)
        learner.__dict__.update(before)
    if not before:
        return array, found
    known, n = before[SHAPE[0]], array.shape[1]
    names_before, names = before.get(SHAPE[1]), found.get(SHAPE[1])
    has_names = names_before is not None and names is not None
    is_named = names_before is not None or names is not None
    is_longer = n >= known and (
        not has_names or found[SHAPE[1]][:known].tolist() == before[SHAPE[1]].tolist()
    )
    is_shorter = n < known and is_sparse(array) and names is None
    if not (is_longer or is_shorter) or (n == known and is_named):
        read_matrix(learner, X, reset=False)  # which refuses it in scikit-learn's words, or warns
    if n > known and names_before is not None and names is None:
        raise InputError(f"The first {known} columns of the stream have names: new columns need names too.")
    return array, found if has_names and n > known else {**before, SHAPE[0]: max(known, n)}


def read_grown(learner: Any, X: Any) -> Any:
    """X to predict from what a stream has learned.

    Nothing tells how wide a sparse matrix is meant to be; what is dense must have the columns so far.
    """
    array, shape = read_growing(learner, X)
    if shape[SHAPE[0]] > learner.__dict__[SHAPE[0]] and not is_sparse(array):
        read_matrix(learner, X, reset=False)  # which refuses it
    return array
