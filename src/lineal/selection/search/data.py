"""The data of a search: rows that can be taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from lineal.data import checked_rows
from lineal.data.targets import groups_as_given
from lineal.deferred import is_sparse
from lineal.errors import InputError, InputTypeError, ParameterError
from lineal.learners.matrix import MatrixModel
from lineal.learners.targets import (
    classes_and_codes,
    labels_as_given,
    labels_of_rows,
    plain_array,
    require_targets,
    weights_of_rows,
)
from lineal.learners.weighting import weight_argument
from lineal.objective.losses import FloatArray
from lineal.protocol import get_tags, is_classifier


@dataclass(frozen=True)
class Data:
    """X, targets, weights and groups, and the places of classes among them for classifiers."""

    X: Any
    y: NDArray[Any]
    s: FloatArray | None
    groups: NDArray[Any] | None
    codes: NDArray[np.int32] | None

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, sample_weight: Any, groups: Any) -> Data:
        """What came from outside, checked as far as a search needs it."""
        _require_estimator(model)
        require_targets(model, y)
        try:
            targets, n = labels_as_given(y) if is_classifier(model) else plain_array(y), _num_samples(X)
        except TypeError as error:
            raise InputTypeError(f"X and y must be sequences of rows: {error}") from error
        if is_classifier(model) and (targets.ndim == 1 or targets.shape[1:] == (1,)):
            targets = labels_of_rows(y, n)
        if targets.ndim == 0 or len(targets) != n:
            raise InputError(
                f"X and y have inconsistent numbers of samples: {n} rows, y of shape {targets.shape}."
            )
        if sample_weight is not None:
            _require_weights_are_heard(model)
        s = None if sample_weight is None else weights_of_rows(sample_weight, n)
        codes = classes_and_codes(targets)[1] if is_classifier(model) and targets.ndim == 1 else None
        # CSC and COO have no rows to take.
        X = X.tocsr() if hasattr(X, "tocsr") else X
        _require_finite(model, X)
        return cls(X, targets, s, None if groups is None else groups_as_given(groups, n), codes)

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: NDArray[np.intp]) -> Data:
        """Some of the rows."""

        def part(values: Any) -> Any:
            return None if values is None else values[rows]

        return Data(
            _safe_indexing(self.X, rows), self.y[rows], part(self.s), part(self.groups), part(self.codes)
        )


def _require_estimator(model: Any) -> None:
    if isinstance(model, type) or not hasattr(model, "get_params"):
        hint = f"; write {model.__name__}()" if isinstance(model, type) else ""
        raise ParameterError(f"tune needs an estimator with parameters, got {model!r}{hint}.")


def _require_weights_are_heard(model: Any) -> None:
    if weight_argument(model) is None:
        raise ParameterError(
            f"sample_weight was given, but the learner of {type(model).__name__} does not take it in fit: "
            "leave it out."
        )


def _require_finite(model: Any, X: Any) -> None:
    """Names the place of a NaN in X: a fold would name the place among its own rows."""
    is_read = getattr(model, "_reads_numbers", lambda: isinstance(model, MatrixModel))
    if not is_read() or get_tags(model).input_tags.allow_nan:  # others may fill the cell
        return
    table = X.to_numpy() if hasattr(X, "dtypes") and hasattr(X, "to_numpy") else X
    values = table.data if is_sparse(table) else table
    is_matrix = getattr(table, "ndim", 0) == 2 and getattr(values, "dtype", np.dtype(object)).kind == "f"
    if is_matrix and not np.isfinite(values).all():
        names = getattr(X, "columns", None)
        checked_rows(table, 1, None if names is None else [str(name) for name in names])
