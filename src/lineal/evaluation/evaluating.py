"""How good a model is on rows it has not seen, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lineal.data.targets import plain_array
from lineal.errors import InputError, ParameterError
from lineal.evaluation.classification import evaluate_classes
from lineal.evaluation.doubts import doubts_of
from lineal.evaluation.evaluation import Evaluation
from lineal.evaluation.fits import Table, is_fitted
from lineal.evaluation.inputs import (
    checked_confidence,
    checked_count,
    generator,
    groups_of_rows,
    one_sample,
)
from lineal.evaluation.out_of_fold import predictions_out_of_fold
from lineal.evaluation.predictions import (
    Classified,
    Predictions,
    predictions_of,
    read_predictions,
    task_of,
)
from lineal.evaluation.ranking import evaluate_ranking
from lineal.evaluation.regression import evaluate_numbers


def evaluate(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    weights: str = "counts",
    groups: ArrayLike | None = None,
    cv: Any = None,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    n_bins: int = 10,
    task: str | None = None,
    random_state: Any = 0,
) -> Evaluation:
    """Judges a model by rows that it has not learned from; every number has an interval.

    A fitted model is asked about the rows as it is. A learner that is not fitted is judged by
    cross-validation: clones of it are fitted, and each row is judged by the one that has not learned from it.

    Parameters
    ----------
    model : anything with ``predict``
        ``predict_proba``, else ``decision_function``, is used if it is there and ``classes_`` says whose the
        columns are. It is left as it is.
    X : whatever the model takes: a matrix, a table, texts
    y : labels or numbers
    sample_weight : (n,) numbers >= 0, optional
    weights : "counts" or "importance"
        What a weight means: so many rows, or one row that counts for so much. Values are the same, intervals
        are not.
    groups : (n,) labels, optional
        Rows of one group, such as the visits of one patient, resemble each other: intervals are then about
        other groups, not about other rows of the same ones. For a model that puts rows in order, such as
        ``RankSVM``, groups are the queries, and the measures those of ``evaluate_ranking``. Rows of one group
        are in one fold.
    cv : int, splitter or list of (train, test) rows, optional
        The folds, each row held out once; 10 for a learner that is not fitted: shuffled, stratified by label.
        Given beside a fitted model it is judged by clones, too.
    confidence : float
        The share of intervals that hold the true value.
    n_resamples : int
        Of the bootstrap, for the scores that need it.
    n_bins : int
        Of the calibration error.
    task : "classification" or "regression", optional
        What the model says it is if not given.
    random_state : seed

    Returns
    -------
    Evaluation
        ``print`` shows a table; ``evaluation["accuracy"].interval`` and ``to_dict()`` give numbers.

    Notes
    -----
    Intervals are about the rows: what other rows from the same source would give, with this model. They do
    not say what another training set would give; ``compare`` with ``cv=`` does. By folds it is as many models
    that are judged together, each fitted to somewhat fewer rows than there are.

    Examples
    --------
    >>> import lineal
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = lineal.LogisticRegression().fit(X[:400], y[:400])
    >>> evaluation = lineal.evaluate(model, X[400:], y[400:])
    >>> print(evaluation["accuracy"])
    accuracy 0.9349 (95 %: 0.8872 .. 0.9633)
    """
    if task_of(model, task) == "ranking":
        return _order_of(
            model, X, y, groups, sample_weight,
            confidence=confidence, n_resamples=n_resamples, random_state=random_state,
        )  # fmt: skip
    options = _options(confidence, n_resamples, n_bins, random_state)
    if cv is not None or not is_fitted(model):
        table = Table.of(X, y, sample_weight, groups)
        found, n_folds = predictions_out_of_fold(
            model, table, cv, task=task, weights=weights, rng=options["rng"]
        )
        evaluation = _by_groups(judged(found, **options), found, groups, sample_weight)
        note = f"{n_folds} folds: each row is judged by a fit to the other {n_folds - 1}"
        return replace(evaluation, notes=(note, *evaluation.notes))
    found = predictions_of(model, X, y, sample_weight=sample_weight, weights=weights, task=task)
    evaluation = _by_groups(judged(found, **options), found, groups, sample_weight)
    return replace(evaluation, notes=(*evaluation.notes, *_never_met(model, found)))


def _order_of(model: Any, X: Any, y: Any, groups: Any, sample_weight: Any, **options: Any) -> Evaluation:
    """A model that puts rows in order, judged query by query."""
    if groups is None:
        raise InputError(
            f"{type(model).__name__} puts the rows of a query in order: pass groups=, the query of each row."
        )
    if sample_weight is not None:
        raise ParameterError("rankings are means over queries, and have no sample_weight. Leave it out.")
    grades = one_sample("y", plain_array(y), 1)
    least = min(float(grades.min()), 0.0)
    found = evaluate_ranking(model.predict(X), grades - least, groups, **options)
    note = f"grades begin at {least:g}, which is worth 0 here"
    return replace(found, notes=(*found.notes, note)) if least < 0 else found


def _never_met(model: Any, found: Predictions) -> tuple[str, ...]:
    """A note on true labels that the model cannot know: a slip in the rows, or a class that came later."""
    if not isinstance(found, Classified) or not hasattr(model, "classes_"):
        return ()
    known = set(plain_array(model.classes_).tolist())
    labels = found.classes[np.unique(found.truth)].tolist()
    unmet = [repr(label) for label in labels if label not in known]
    more = f" and {len(unmet) - 5} more" if len(unmet) > 5 else ""
    return (f"true labels that the model has never met: {', '.join(unmet[:5])}{more}",) if unmet else ()


def evaluate_predictions(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    probabilities: ArrayLike | None = None,
    scores: ArrayLike | None = None,
    classes: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
    weights: str = "counts",
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    n_bins: int = 10,
    task: str | None = None,
    random_state: Any = 0,
) -> Evaluation:
    """The same from predictions alone.

    Parameters
    ----------
    y_true, y_pred : (n,) labels or numbers
    probabilities : (n, K), or (n,) for the second of two classes, optional
    scores : the same, but any numbers whose order says which rows are likelier, optional
    classes : K labels, optional
        Whose the columns are; not given, the labels found, sorted.
    task : "classification" or "regression", optional
        Not given: regression if there are numbers with a fraction and no probabilities, else classification.
    sample_weight, weights, groups, confidence, n_resamples, n_bins, random_state
        As for ``evaluate``.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from lineal.evaluation import evaluate_predictions
    >>> evaluation = evaluate_predictions(["ham", "spam", "ham", "spam"], ["ham", "spam", "spam", "spam"])
    >>> print(evaluation["accuracy"])
    accuracy 0.7500 (95 %: 0.3006 .. 0.9544)
    """
    options = _options(confidence, n_resamples, n_bins, random_state)
    found = read_predictions(
        *(y_true, y_pred, probabilities, scores, classes),
        sample_weight=sample_weight,
        weights=weights,
        task=task,
    )
    return _by_groups(judged(found, **options), found, groups, sample_weight)


def _by_groups(evaluation: Evaluation, found: Predictions, groups: Any, sample_weight: Any) -> Evaluation:
    """Intervals by groups, where there are some, and which of them are in doubt."""
    own = None if groups is None else groups_of_rows(groups, len(found.truth), sample_weight)
    if own is not None:
        from lineal.evaluation.by_groups import evaluated_by_groups

        evaluation = evaluated_by_groups(evaluation, found, own)
    return replace(evaluation, doubts=doubts_of(evaluation.scores, found, own))


def _options(confidence: Any, n_resamples: Any, n_bins: Any, random_state: Any) -> dict[str, Any]:
    return {
        "confidence": checked_confidence(confidence),
        "n_resamples": checked_count("n_resamples", n_resamples, 10),
        "n_bins": checked_count("n_bins", n_bins, 2),
        "rng": generator(random_state),
    }


def judged(found: Predictions, *, confidence: float, n_resamples: int, n_bins: int, rng: Any) -> Evaluation:
    """The table of the task."""
    if isinstance(found, Classified):
        return evaluate_classes(found, confidence=confidence, n_resamples=n_resamples, n_bins=n_bins, rng=rng)
    return evaluate_numbers(found, confidence=confidence, n_resamples=n_resamples, rng=rng)
