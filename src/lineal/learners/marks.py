"""Labels of which some are marks: rows that were not labelled."""

from __future__ import annotations

import datetime
import numbers
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.errors import InputError
from lineal.learners.targets import classes_and_codes, labels_of_rows, one_column, plain_array
from lineal.objective.losses import FloatArray

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class MarkedLabels:
    """Labels and marks, told apart.

    Attributes
    ----------
    marked : (n,) labels and marks as they came
    is_given : (n,) whether a row has a label
    classes : the labels of rows with a weight, sorted
    codes : (n,) places in ``classes``; 0 for rows that have no label or no weight
    """

    marked: NDArray[Any]
    is_given: Mask
    classes: NDArray[Any]
    codes: NDArray[np.int32]

    def filled(self, rows: NDArray[np.intp], labels: NDArray[Any]) -> NDArray[Any]:
        """All labels when some rows have got theirs; the others keep their mark."""
        result = self.marked.copy()
        result[rows] = labels
        is_known = self.is_given.copy()
        is_known[rows] = True
        return natural_labels(result) if is_known.all() else result


def marked_labels(owner: Any, y: Any, unlabelled: Any, s: FloatArray) -> MarkedLabels:
    """Labels and marks of rows with weights s; at least two classes must have a weight.

    None and NaN are marks always; so is what equals ``unlabelled``.
    """
    marked = _as_given(y)
    if marked.ndim != 1 or len(marked) != len(s):
        labels_of_rows(marked, len(s))  # which says what is wrong
    is_given = ~_are_marks(marked, unlabelled)
    mark = "None or NaN" if unlabelled is None else f"{unlabelled!r}, None or NaN"
    if not is_given.any():
        raise InputError(f"{type(owner).__name__} needs rows with a label, but all are marked by {mark}.")
    given = labels_of_rows(natural_labels(marked[is_given]), int(is_given.sum()))
    classes, found = classes_and_codes(given[s[is_given] > 0])
    if len(classes) < 2:
        raise InputError(
            f"{type(owner).__name__} needs at least 2 classes in the data, but y has only one class with "
            f"weight besides the marks of unlabelled rows ({mark}). If a mark is a label, change unlabelled=."
        )
    if is_given.all() and unlabelled is None and -1 in classes.tolist()[:1] and len(classes) > 2:
        message = (
            "every row has a label, and one label is -1: if it marks rows without one, say unlabelled=-1."
        )
        warnings.warn(message, UserWarning, stacklevel=4)
    codes = np.zeros(len(marked), dtype=np.int32)
    codes[is_given & (s > 0)] = found
    return MarkedLabels(marked, is_given, classes, codes)


def natural_labels(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels as NumPy would keep them had there been no marks among them."""
    if labels.dtype.kind != "O":
        return labels
    listed = labels.tolist()
    is_plain = all(isinstance(each, str) for each in listed) or all(
        isinstance(each, numbers.Real) for each in listed
    )
    return plain_array(listed) if is_plain and listed else labels


def _as_given(y: Any) -> NDArray[Any]:
    """Labels and marks side by side: NumPy must not make text of a mark, or a number of a label."""
    if isinstance(y, (list, tuple)) and not any(isinstance(each, list) for each in y):
        return np.fromiter(y, dtype=object, count=len(y))
    array = plain_array(y)
    return one_column(array) if array.ndim == 2 and array.shape[1] == 1 else array


def _are_marks(marked: NDArray[Any], unlabelled: Any) -> Mask:
    if marked.dtype.kind == "O":
        return np.fromiter((_is_mark(each, unlabelled) for each in marked.tolist()), bool, len(marked))
    if marked.dtype.kind in "mM":
        is_date = isinstance(unlabelled, (datetime.date, np.datetime64))  # a datetime, a Timestamp too
        is_mark = marked == np.datetime64(unlabelled) if is_date and marked.dtype.kind == "M" else False
        return np.asarray(np.isnat(marked) | is_mark)
    is_missing = np.isnan(marked) if marked.dtype.kind == "f" else np.zeros(len(marked), dtype=bool)
    # One label tells which of the marks are of its kind: True is no mark where 1 is one.
    if unlabelled is None or not len(marked) or not _are_of_one_kind(marked[0], unlabelled):
        return is_missing
    return np.asarray(is_missing | (marked == unlabelled))


def _is_mark(label: Any, unlabelled: Any) -> bool:
    if label is None or type(label).__name__ == "NAType" or label != label:  # NaN and its like
        return True
    return _are_of_one_kind(label, unlabelled) and bool(label == unlabelled)


def _are_of_one_kind(a: Any, b: Any) -> bool:
    """Whether a label and a mark can be meant to be the same."""
    if isinstance(a, (bool, np.bool_)) or isinstance(b, (bool, np.bool_)):
        return isinstance(a, (bool, np.bool_)) and isinstance(b, (bool, np.bool_))
    are_numbers = isinstance(a, numbers.Real) and isinstance(b, numbers.Real)
    return are_numbers or isinstance(a, type(b)) or isinstance(b, type(a))
