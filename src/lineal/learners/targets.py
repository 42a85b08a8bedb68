"""Labels, numbers and weights of rows, as they come from outside."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.data.targets import (
    classes_and_codes,
    first_missing,
    labels_as_given,
    plain_array,
    weights_of_rows,
)
from lineal.deferred import is_sparse
from lineal.errors import InputError
from lineal.objective.losses import FloatArray

__all__ = [
    "classes_and_codes",
    "codes_among",
    "labels_as_given",
    "labels_of_rows",
    "numbers_of_rows",
    "one_column",
    "plain_array",
    "require_targets",
    "weights_of_rows",
]


def require_targets(learner: Any, y: Any) -> None:
    """Refuses to learn without labels or numbers, before X is looked at."""
    if y is None:
        raise InputError(f"{type(learner).__name__} requires y to be passed, but the target y is None.")


def codes_among(classes: NDArray[Any], y: NDArray[Any], advice: str = "") -> NDArray[np.int32]:
    """Each row's place among known labels."""
    place = {label: i for i, label in enumerate(classes.tolist())}
    unknown = sorted({str(label) for label in y.tolist() if label not in place})
    if unknown:
        raise InputError(f"y has labels that are not among the model's: {unknown[:5]}. {advice}")
    return np.array([place[label] for label in y.tolist()], dtype=np.int32)


def labels_of_rows(y: Any, n_rows: int) -> NDArray[Any]:
    """(n,) labels of a classifier: none missing, and classes rather than measurements."""
    _require_sequence(y, "labels")
    labels = labels_as_given(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = one_column(labels)
    if labels.ndim != 1:
        raise InputError(f"y should be a 1d array of labels, got an array of shape {labels.shape} instead.")
    if len(labels) != n_rows:
        raise InputError(
            f"X and y have inconsistent numbers of samples: {n_rows} rows and {len(labels)} labels."
        )
    if labels.dtype.kind == "f":
        if not np.isfinite(labels).all():
            raise InputError(
                f"y contains NaN or infinity at row {int(np.flatnonzero(~np.isfinite(labels))[0])}."
            )
        from sklearn.utils.multiclass import check_classification_targets

        check_classification_targets(labels)
    # pyarrow and polars write None where there is no value; elsewhere it is an object like any other.
    if (missing := first_missing(labels, has_nulls=hasattr(y, "null_count"))) is not None:
        raise InputError(
            f"y has no label at row {missing}: it contains NaN or a null. Drop those rows, or name the label."
        )
    return labels


def _require_sequence(y: Any, what: str) -> None:
    """Refuses what NumPy would take for one single thing."""
    is_whole = isinstance(y, (str, bytes, dict, set, frozenset)) or is_sparse(y)
    if is_whole or not (hasattr(y, "__len__") or hasattr(y, "__array__")):
        advice = "y.toarray().ravel()" if is_sparse(y) else "a list in the order of the rows"
        raise InputError(
            f"y should be a 1d array of {what}, one for each row, got {type(y).__name__}. Give it {advice}."
        )


def named_labels(classes: Any) -> NDArray[Any]:
    """Labels that are named before they are met."""
    labels = labels_as_given(classes)
    if labels.ndim != 1 or not len(labels):
        raise InputError(f"classes must be a sequence of labels, got {classes!r}.")
    return labels


def numbers_of_rows(y: Any, n_rows: int, learner: str, *, keeps_column: bool = False) -> FloatArray:
    """(n,) or (n, K) finite targets of a regressor; one column is flattened, unless it is to be kept."""
    _require_sequence(y, "numbers")
    raw = plain_array(y)
    if raw.dtype.kind == "c":
        raise InputError("Complex data not supported as y.")
    if raw.dtype.kind in "mM":
        raise InputError(
            f"y must be numbers for {learner}, got times ({raw.dtype}). Make numbers of them, such as days "
            "since a date."
        )
    if raw.dtype.kind == "O" and raw.ndim == 1 and (missing := first_missing(raw)) is not None:
        raise InputError(f"y contains NaN or a null, first at row {missing}. Drop those rows.")
    try:
        targets = raw.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"y must be numbers for {learner}, got {raw.dtype}: {error}.") from error
    if targets.ndim == 2 and targets.shape[1] == 1 and not (keeps_column or hasattr(y, "columns")):
        targets = one_column(targets)
    if targets.ndim not in (1, 2) or len(targets) != n_rows:
        raise InputError(
            f"X and y have inconsistent numbers of samples: {n_rows} rows, y of shape {targets.shape}."
        )
    if not np.isfinite(targets).all():
        bad = int(np.flatnonzero(~np.isfinite(targets.reshape(n_rows, -1)).all(axis=1))[0])
        raise InputError(f"y contains NaN or infinity, first at row {bad}. Drop those rows.")
    return targets


def one_column(y: NDArray[Any]) -> NDArray[Any]:
    """The only column of y as a vector, with a warning: it usually was not meant to be a matrix."""
    from sklearn.exceptions import DataConversionWarning

    message = "A column-vector y was passed when a 1d array was expected; it is flattened."
    warnings.warn(message, DataConversionWarning, stacklevel=5)
    return y[:, 0]
