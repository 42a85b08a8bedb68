"""Matrices of numbers as learners are given them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lineal.data.compressed import CompressedRows
from lineal.deferred import is_sparse
from lineal.deferred import sparse as sp
from lineal.errors import InputError, InputTypeError

# What data make of a learner.
SHAPE = ("n_features_in_", "feature_names_in_")
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def read_matrix(learner: Any, X: Any, *, reset: bool) -> Any:
    """X as a float array or SciPy matrix; scikit-learn's refusals become this library's.

    The learner gets ``n_features_in_`` and ``feature_names_in_``, or is held to them; whether numbers are
    finite is for :func:`lineal.data.checked_rows` to say.
    """
    if _is_ready(X) and _is_taken(learner, X.shape[1], reset=reset):
        return X
    if isinstance(X, CompressedRows):
        X = X.to_scipy()  # whole numbers, or rows to refuse
    from sklearn.utils.validation import validate_data

    try:
        return validate_data(
            learner, X, reset=reset, accept_sparse=("csr", "csc", "coo"), accept_large_sparse=True,
            dtype=(np.float64, np.float32), ensure_all_finite=False, order="C",
        )  # fmt: skip
    except InputError:
        raise
    except ValueError as error:
        is_kind = any(words in str(error) for words in ("could not convert", "Complex data"))
        kind = InputTypeError if is_kind else InputError
        raise kind(str(error)) from error
    except TypeError as error:
        raise InputTypeError(str(error)) from error


def _is_ready(X: Any) -> bool:
    """Whether scikit-learn would look at X for long and give it back as it is."""
    if type(X) is np.ndarray:
        is_laid_out = X.ndim == 2 and X.flags.c_contiguous
    else:
        is_known = isinstance(X, CompressedRows) or (
            is_sparse(X) and type(X) in (sp.csr_array, sp.csr_matrix)
        )
        is_laid_out = is_known and X.ndim == 2
    return is_laid_out and X.dtype in _FLOATS and X.shape[0] > 0 and X.shape[1] > 0


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
