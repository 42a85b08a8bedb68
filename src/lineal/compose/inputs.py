"""X as it comes to a learner made of others: read and checked once, whatever kind of rows the others take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import validate_data

from lineal.data import checked_rows, thread_count
from lineal.data.matrices import require_sound
from lineal.deferred import sparse as sp
from lineal.errors import InputError
from lineal.learners.bayes.base import BaseNaiveBayes
from lineal.learners.fisher.discriminant import FisherDiscriminant
from lineal.learners.matrix import MatrixModel
from lineal.learners.neighbors.base import BaseNeighbors
from lineal.learners.reading import read_matrix
from lineal.protocol import get_tags


def reads_numbers(learner: Any) -> bool:
    """Whether a learner is known to take a matrix of numbers and nothing else.

    Of learners from elsewhere nothing is known: a pipeline may want the names of columns, or texts.
    """
    of_parts = getattr(learner, "_reads_numbers", None)
    if of_parts is not None:
        return bool(of_parts())
    if not isinstance(learner, (MatrixModel, BaseNaiveBayes, BaseNeighbors, FisherDiscriminant)):
        return False
    tags = get_tags(learner).input_tags
    return bool(tags.two_d_array and not tags.string and not tags.categorical)


def read_once(owner: Any, X: Any, learners: Sequence[Any], *, reset: bool) -> Any:
    """X such that every one of the learners takes it as it is, and rows of it can be taken.

    Numbers for learners of this library become a float array or CSR matrix, sorted and finite: bad cells are
    named by their place in X, not in the part of it that some learner met first. Anything else is passed on:
    texts, frames, rows of any kind.
    """
    if all(reads_numbers(learner) for learner in learners):
        array = read_matrix(owner, X, reset=reset)
        names = getattr(owner, "feature_names_in_", None)
        rows = checked_rows(array, thread_count(owner.n_threads), names)
        return rows.csr() if rows.dense is None else rows.dense
    if not (hasattr(X, "__len__") or hasattr(X, "shape")):
        X = np.asarray(X) if hasattr(X, "__array__") else list(X)
    X = require_sound(_as_matrix(X))
    validate_data(owner, X, reset=reset, skip_check_array=True)
    return X.tocsr() if sp.issparse(X) else X


def _as_matrix(X: Any) -> Any:
    """Lists of as many numbers each as an array, of which columns can be taken; anything else as it is."""
    if not isinstance(X, (list, tuple)) or not all(isinstance(row, (list, tuple, np.ndarray)) for row in X):
        return X
    try:
        array = np.asarray(X)
    except ValueError:  # rows of several lengths
        return X
    return array if array.ndim == 2 and array.dtype.kind in "biuf" else X


def count_rows(X: Any) -> int:
    """How many rows X has."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if n == 0:
        raise InputError("X has 0 rows: there is nothing to learn from.")
    return int(n)


def take(X: Any, rows: NDArray[Any]) -> Any:
    """Some rows of X, of the same kind."""
    if type(X) is np.ndarray and rows.dtype.kind == "i":
        return X.take(rows, axis=0)  # whole rows are copied at once, which an index of rows does not
    return _safe_indexing(X, rows)


def take_columns(X: Any, columns: NDArray[Any]) -> Any:
    """Some columns of a matrix or frame."""
    return _safe_indexing(X, columns, axis=1)
