"""How much a model gains from more rows, at the cost of about one more fit."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from lineal import report
from lineal.errors import LinealError, NotCertifiedWarning
from lineal.evaluation.intervals import wilson_ends
from lineal.jobs.training import Training
from lineal.protocol import clone

_SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2)
_MOST_ROWS = 200_000
_MOST_JUDGED = 5000  # rows that a model has seen and is judged by


def learning_points(training: Training) -> report.LearningCurve | None:
    """The last stage of the model, fitted to parts of its rows: features and strength stay as chosen.

    So what is seen is what more rows give the weights; the features know all rows. None where the model
    has no such stage, or with folds, whose models are gone.
    """
    estimator = training.estimator
    inner = getattr(estimator, "model_", None)
    if inner is None or training.judging.n_folds is not None or len(training.train) > _MOST_ROWS:
        return None
    if training.train.sample_weight is not None:
        return None
    y, y_test = training.train.y, training.test.y
    is_classes = training.model.task == "classification"
    order = np.random.default_rng(training.judging.seed).permutation(len(y))
    # Rows of the largest part that is fitted, and those by which all rows are judged: others are not read.
    needed = np.union1d(order[: int(max(_SHARES) * len(y))], np.arange(min(_MOST_JUDGED, len(y))))
    read = getattr(estimator, "inner_rows", None) or estimator.transform
    X, X_test = read(training.train.take(needed).X), read(training.test.X)
    points = []
    for share in (*_SHARES, 1.0):
        rows = np.sort(order[: int(share * len(y))])
        if len(rows) < 8 or (is_classes and len(np.unique(y[rows])) < len(np.unique(y))):
            continue
        model = inner if share == 1.0 else _fitted(inner, X[np.searchsorted(needed, rows)], y[rows])
        if model is None:
            continue
        seen = rows[:_MOST_JUDGED]
        own = X[np.searchsorted(needed, seen)]
        points.append(_point(len(rows), model, own, y[seen], X_test, y_test, training))
    if len(points) < 2:
        return None
    return report.LearningCurve(points=points, score="accuracy" if is_classes else "R²")


def _fitted(inner: Any, X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCertifiedWarning)
        try:
            return clone(inner).set_params(**_quick(inner)).fit(X, y)
        except LinealError:  # too few rows for this learner
            return None


def _quick(inner: Any) -> dict[str, Any]:
    """A curve is read with the eye: two digits are enough."""
    return {
        name: value for name, value in {"tol": 1e-2, "progress": False}.items() if name in inner.get_params()
    }


def _point(
    size: int, model: Any, X: Any, y: Any, X_test: Any, y_test: Any, training: Training
) -> report.LearningPoint:
    if training.model.task != "classification":
        return report.LearningPoint(
            size=size, test=float(model.score(X_test, y_test)), train=float(model.score(X, y))
        )
    right = float(np.mean(model.predict(X_test) == y_test))
    low, high = wilson_ends(np.array([right]), np.array([float(len(y_test))]), training.judging.confidence)
    return report.LearningPoint(
        size=size,
        test=right,
        test_low=float(low[0]),
        test_high=float(high[0]),
        train=float(np.mean(model.predict(X) == y)),
    )
