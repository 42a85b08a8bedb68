"""What a model said about rows whose truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.data.targets import classes_and_codes, first_missing, in_order, plain_array
from lineal.errors import InputError, ParameterError
from lineal.evaluation.inputs import one_sample
from lineal.evaluation.resampling import RowWeights
from lineal.objective.losses import FloatArray
from lineal.protocol import get_tags

TASKS = ("classification", "regression")
# Rows of probabilities may miss 1 by what float32 makes of them.
_SUMS_TO_ONE = 1e-3


@dataclass(frozen=True, eq=False)
class Classified:
    """Labels, predicted labels and what ranks rows.

    Attributes
    ----------
    classes : (K,) labels, sorted
    truth, predicted : (n,) places among the classes
    probabilities : (n, K) array or None
    scores : (n,) array for two classes, (n, K) for more, or None
        Larger for rows that are more likely of the class (of two, of the second one).
    weights : RowWeights
    """

    classes: NDArray[Any]
    truth: NDArray[np.int64]
    predicted: NDArray[np.int64]
    probabilities: FloatArray | None
    scores: FloatArray | None
    weights: RowWeights

    @property
    def is_right(self) -> NDArray[np.bool_]:
        """(n,) where the prediction is the truth."""
        return np.asarray(self.truth == self.predicted)

    def take(self, rows: Any) -> Classified:
        """Some of the rows, in any order, also more than once."""
        return replace(
            self,
            truth=self.truth[rows],
            predicted=self.predicted[rows],
            probabilities=None if self.probabilities is None else self.probabilities[rows],
            scores=None if self.scores is None else self.scores[rows],
            weights=self.weights.take(rows),
        )

    def among(self, classes: NDArray[Any]) -> Classified:
        """The same among more classes, to which the model gives nothing."""
        place = {label: k for k, label in enumerate(classes.tolist())}
        to = np.array([place[label] for label in self.classes.tolist()])
        K, scores, P = len(classes), self.scores, self.probabilities
        if scores is not None and K > 2:
            columns = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
            scores = _widened(columns, to, K, float(columns.min()) - 1)
        P = None if P is None else _widened(P, to, K, 0.0)
        return Classified(classes, to[self.truth], to[self.predicted], P, scores, self.weights)


@dataclass(frozen=True, eq=False)
class Measured:
    """Numbers and predicted numbers: ``truth`` and ``predicted``, (n,), with ``weights``."""

    truth: FloatArray
    predicted: FloatArray
    weights: RowWeights

    def take(self, rows: Any) -> Measured:
        """Some of the rows, in any order, also more than once."""
        return Measured(self.truth[rows], self.predicted[rows], self.weights.take(rows))


Predictions = Classified | Measured


def task_of(model: Any, task: str | None) -> str | None:
    """What was asked for, or what the model is; None if it does not say."""
    if task is not None:
        return checked_task(task)
    if getattr(last_step(model), "_orders_rows", False):
        return "ranking"
    try:
        kind = get_tags(model).estimator_type
    except AttributeError:  # not of scikit-learn's family
        kind = None
    if kind == "classifier" or (kind is None and hasattr(model, "classes_")):
        return "classification"
    return "regression" if kind == "regressor" else None


def last_step(model: Any) -> Any:
    """The last step of a pipeline, or the model itself."""
    return model.steps[-1][1] if getattr(model, "steps", None) and hasattr(model, "named_steps") else model


def are_class_scores(model: Any, Z: NDArray[Any]) -> bool:
    """Whether decision values are one for each class; scores of pairs are nobody's."""
    K = len(model.classes_)
    # Three classes have three pairs: what the scores are of is not to be seen by their number.
    is_of_pairs = K > 2 and getattr(last_step(model), "decision_function_shape", "") == "ovo"
    return not is_of_pairs and (Z.ndim == 1 or Z.shape[1] == K)


def has_fractions(y: Any) -> bool:
    """Whether targets look like measurements: numbers, not all of them whole."""
    array = plain_array(y)
    return array.dtype.kind == "f" and bool(np.any(array != np.round(array)))


def checked_task(task: str) -> str:
    """One of the two."""
    if task not in TASKS:
        raise ParameterError(f"task must be 'classification', 'regression' or None, got {task!r}.")
    return task


def predictions_of(
    model: Any, X: Any, y: Any, *, sample_weight: Any = None, weights: str = "counts", task: str | None = None
) -> Predictions:
    """Asks a fitted model about rows, with probabilities or scores if it has them."""
    if not hasattr(model, "predict"):
        raise ParameterError(f"a model needs a predict method, which {type(model).__name__} has not.")
    task = task_of(model, task)
    predicted = plain_array(model.predict(X))
    if task == "ranking":
        raise ParameterError(
            f"{type(last_step(model)).__name__} puts the rows of a query in order: its numbers are no "
            "grades. Judge it by lineal.evaluate(model, X, y, groups=queries)."
        )
    if task == "regression":
        return measured(y, predicted, sample_weight, weights)
    probabilities = scores = None
    if task == "classification":
        if hasattr(model, "predict_proba"):
            probabilities = model.predict_proba(X)
        elif hasattr(model, "decision_function") and hasattr(model, "classes_"):
            scores = np.asarray(model.decision_function(X))
            scores = scores if are_class_scores(model, scores) else None
    classes = getattr(model, "classes_", None)
    if classes is None:
        probabilities = scores = None  # nobody says which column is whose
    return read_predictions(
        *(y, predicted, probabilities, scores, classes),
        sample_weight=sample_weight,
        weights=weights,
        task=task,
    )


def read_predictions(
    y_true: Any,
    y_pred: Any,
    probabilities: Any = None,
    scores: Any = None,
    classes: Sequence[Any] | None = None,
    *,
    sample_weight: Any = None,
    weights: str = "counts",
    task: str | None = None,
) -> Predictions:
    """Checked predictions; labels or numbers as asked for, or as they look."""
    if task is not None:
        checked_task(task)
    elif probabilities is None and scores is None and classes is None:
        task = "regression" if has_fractions(y_true) or has_fractions(y_pred) else "classification"
    if task == "regression":
        if probabilities is not None or scores is not None:
            raise ParameterError("probabilities and scores are for classification, but task='regression'.")
        return measured(y_true, y_pred, sample_weight, weights)
    return _classified(y_true, y_pred, probabilities, scores, classes, sample_weight, weights)


def measured(y_true: Any, y_pred: Any, sample_weight: Any, weights: str) -> Measured:
    """Checked numbers."""
    columns = (("y_true", one_column(y_true)), ("y_pred", one_column(y_pred)))
    for name, column in columns:
        if column.dtype.kind == "O" and (missing := first_missing(column)) is not None:
            raise InputError(f"{name} contains NaN or a null, first at place {missing}.")
    truth, predicted = (one_sample(*pair, 1) for pair in columns)
    _same_length(truth, predicted)
    found = Measured(truth, predicted, RowWeights.of(sample_weight, len(truth), weights))
    return found.take(found.weights.s > 0)


def one_column(y: Any) -> NDArray[Any]:
    """An array, (n,) also where it came as (n, 1)."""
    array = plain_array(y)
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def _same_length(truth: NDArray[Any], predicted: NDArray[Any]) -> None:
    if len(truth) != len(predicted):
        raise InputError(
            f"there are {len(truth)} true values and {len(predicted)} predictions: they must match."
        )
    if not len(truth):
        raise InputError("there are no rows to evaluate.")


def _classified(
    y_true: Any,
    y_pred: Any,
    probabilities: Any,
    scores: Any,
    classes: Sequence[Any] | None,
    sample_weight: Any,
    weights: str,
) -> Classified:
    truth, predicted = checked_labels("y_true", y_true), checked_labels("y_pred", y_pred)
    _same_length(truth, predicted)
    given = None if classes is None else checked_labels("classes", classes).tolist()
    if given is not None and len(set(given)) < len(given):
        raise InputError(f"classes must name each column once, got {given[:5]}.")
    (true_classes, true_codes), (said_classes, said_codes) = (
        classes_and_codes(truth),
        classes_and_codes(predicted),
    )
    if given is None and (probabilities is not None or scores is not None):
        given = joined_labels(true_classes.tolist(), said_classes.tolist()).tolist()
    _refuse_strangers(true_classes, given if given is not None else said_classes.tolist())
    every = joined_labels(true_classes.tolist(), said_classes.tolist(), given or ())
    place = {label: i for i, label in enumerate(every.tolist())}
    own = [place[label] for label in given or ()]
    found = Classified(
        every,
        np.array([place[label] for label in true_classes.tolist()])[true_codes],
        np.array([place[label] for label in said_classes.tolist()])[said_codes],
        _probabilities(probabilities, len(truth), own, len(every)),
        _scores(scores, len(truth), own, len(every)),
        RowWeights.of(sample_weight, len(truth), weights),
    )
    return found.take(found.weights.s > 0)  # a row of weight 0 is not there


def checked_labels(name: str, y: Any) -> NDArray[Any]:
    """(n,) labels, none of them missing."""
    labels = one_column(y)
    if labels.ndim != 1:
        raise InputError(f"{name} must be a list of labels, got an array of shape {labels.shape}.")
    if (place := first_missing(labels, has_nulls=hasattr(y, "null_count"))) is not None:
        raise InputError(f"{name} contains NaN, first at place {place}.")
    return labels


def _refuse_strangers(true_classes: NDArray[Any], known: Sequence[Any]) -> None:
    """Labels of another type, such as 1 and "1", would make every row an error without a word."""
    true = true_classes.tolist()
    if not set(true) & set(known) and not {type(label) for label in true} & {type(label) for label in known}:
        raise InputError(
            f"the true labels ({true[0]!r}, ...) are of another type than those predicted "
            f"({known[0]!r}, ...): give both as the same type."
        )


def joined_labels(*lists: Sequence[Any]) -> NDArray[Any]:
    """All labels of several lists, each once, sorted; by type and text where they cannot be compared."""
    labels = in_order(label for given in lists for label in given)
    if len({type(label) for label in labels}) == 1 and not isinstance(labels[0], tuple):
        return plain_array(labels)
    joined = np.empty(len(labels), dtype=object)
    joined[:] = labels
    return joined


def _table(name: str, values: Any, n: int, n_classes: int) -> FloatArray:
    """(n, K) finite numbers, a column for each class that the model knows."""
    try:
        table = np.array(plain_array(values), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers: {error}.") from error
    if table.shape[:1] != (n,) or table.ndim not in (1, 2):
        raise InputError(f"{name} must have one row for each of {n} rows, got shape {table.shape}.")
    if not np.isfinite(table).all():
        place = int(np.argwhere(~np.isfinite(table))[0, 0])
        raise InputError(f"{name} contains NaN or infinity, first at row {place}.")
    wanted = 1 if table.ndim == 1 else n_classes
    if (table.ndim == 1 and n_classes != 2) or (table.ndim == 2 and table.shape[1] != wanted):
        raise InputError(
            f"{name} needs a column for each of {n_classes} classes, got shape {table.shape}. "
            "Pass classes= to say whose the columns are."
        )
    return table


def _probabilities(values: Any, n: int, own: list[int], n_classes: int) -> FloatArray | None:
    if values is None:
        return None
    table = _table("probabilities", values, n, len(own))
    if table.ndim == 1:
        table = np.column_stack([1 - table, table])
    if (table < -_SUMS_TO_ONE).any() or (np.abs(table.sum(axis=1) - 1) > _SUMS_TO_ONE).any():
        off = (table < -_SUMS_TO_ONE).any(axis=1) | (np.abs(table.sum(axis=1) - 1) > _SUMS_TO_ONE)
        row = int(np.flatnonzero(off)[0])
        raise InputError(
            f"probabilities must be >= 0 and add up to 1, but row {row} is {table[row].tolist()}. "
            "Pass what is not a probability as scores=."
        )
    return _widened(table, own, n_classes, 0.0)


def _scores(values: Any, n: int, own: list[int], n_classes: int) -> FloatArray | None:
    if values is None:
        return None
    table = _table("scores", values, n, len(own))
    columns = np.column_stack([-table, table]) if table.ndim == 1 else table
    Z = _widened(columns, own, n_classes, float(columns.min()) - 1)
    return Z[:, 1] - Z[:, 0] if n_classes == 2 else Z


def _widened(table: FloatArray, own: Any, n_classes: int, rest: float) -> FloatArray:
    """Columns for all classes; those that the model does not know get ``rest``."""
    wide = np.full((len(table), n_classes), rest)
    wide[:, own] = table
    return wide
