"""Matrices of numbers as learners are given them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from lineal.errors import InputError, InputTypeError

# What data make of a learner.
SHAPE = ("n_features_in_", "feature_names_in_")


def read_matrix(learner: Any, X: Any, *, reset: bool) -> Any:
    """X as a float array or SciPy matrix; scikit-learn's refusals become this library's.

    The learner gets ``n_features_in_`` and ``feature_names_in_``, or is held to them; whether numbers are
    finite is for :func:`lineal.data.checked_rows` to say.
    """
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
    is_longer = n >= known and (
        not has_names or found[SHAPE[1]][:known].tolist() == before[SHAPE[1]].tolist()
    )
    is_shorter = n < known and sp.issparse(array) and names is None
    if not (is_longer or is_shorter) or n == known:
        read_matrix(learner, X, reset=False)  # which refuses it in scikit-learn's words, or warns
    if n > known and names_before is not None and names is None:
        raise InputError(f"The first {known} columns of the stream have names: new columns need names too.")
    return array, found if has_names and n > known else {**before, SHAPE[0]: max(known, n)}


def read_grown(learner: Any, X: Any) -> Any:
    """X to predict from what a stream has learned.

    Nothing tells how wide a sparse matrix is meant to be; what is dense must have the columns so far.
    """
    array, shape = read_growing(learner, X)
    if shape[SHAPE[0]] > learner.__dict__[SHAPE[0]] and not sp.issparse(array):
        read_matrix(learner, X, reset=False)  # which refuses it
    return array
