"""How good a model is, as a report shows it: scores, verdict, labels, confusion, curves, calibration."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal import report
from lineal.evaluation import records as evaluation_records
from lineal.evaluation.comparison import ModelComparison, Pair
from lineal.evaluation.curves import calibration_curve, precision_recall_curve, roc_curve
from lineal.evaluation.evaluation import Evaluation
from lineal.evaluation.wording import brief, counted
from lineal.jobs.scoring import WEIGHTS_MEAN
from lineal.jobs.training import Training

# Shares of rows, shown as percentages.
_PERCENT = ("accuracy", "precision", "recall", "f1")
_NAMES = {"f1": "F1", "roc_auc": "ROC AUC", "r2": "R²"}
_CURVES_SHOWN = 6


def headline(evaluation: Evaluation) -> evaluation_records.Score:
    """The score that a reader wants first."""
    names = ("accuracy",) if evaluation.task == "classification" else ("r2", "rmse")
    return next(evaluation.scores[name] for name in names if name in evaluation)


def scores_of(
    evaluation: Evaluation,
    comparison: ModelComparison | None = None,
    baseline_name: str = "",
    baseline: Evaluation | None = None,
) -> report.Scores:
    """Every score with its interval, beside the baseline's."""
    rows = []
    for name, score in evaluation.scores.items():
        if name not in evaluation.titles:
            continue  # the same number under another name
        other = None if baseline is None else baseline.scores.get(name)
        rows.append(
            report.Score(
                **_plain(name, score, evaluation.titles[name]),
                baseline=None if other is None else other.value,
                baseline_low=None if other is None else other.low,
                baseline_high=None if other is None else other.high,
            )
        )
    if comparison is None:
        return report.Scores(rows=rows, confidence=evaluation.confidence, n_rows=evaluation.n_rows)
    pair = comparison.pairs[0]
    outcome = "undecided" if pair.better is None else "better" if pair.better == "model" else "worse"
    return report.Scores(
        rows=rows,
        verdict=_verdict(pair, comparison, evaluation.n_rows),
        outcome=outcome,
        p_value=pair.p_value,
        test=pair.test.test,
        baseline_name=baseline_name,
        confidence=evaluation.confidence,
        n_rows=evaluation.n_rows,
    )


def _verdict(pair: Pair, comparison: ModelComparison, n_rows: int) -> str:
    """Who is better, in words; the p-value has its own place."""
    on = f"on {counted(n_rows, 'row')}"
    if pair.better is None:
        return f"{pair.first} and {pair.second} cannot be told apart {on}."
    other = pair.second if pair.better == pair.first else pair.first
    best, rest = (brief(comparison[name].value) for name in (pair.better, other))
    metric = _NAMES.get(comparison.metric, comparison.metric.replace("_", " "))
    return f"{pair.better} is better than {other} {on}: {metric} {best} against {rest}."


def _plain(name: str, score: evaluation_records.Score, title: str | None = None) -> dict[str, Any]:
    return {
        "name": title or _NAMES.get(name, name.replace("_", " ")),
        "value": score.value,
        "low": score.low,
        "high": score.high,
        "greater_is_better": score.greater_is_better,
        "unit": "%" if any(word in name for word in _PERCENT) else "",
        "method": score.interval.method,
    }


def class_scores_of(evaluation: Evaluation) -> list[report.ClassScores]:
    """Precision, recall and the like of every label."""
    sizes = {} if evaluation.confusion is None else dict(
        zip(evaluation.confusion.classes.tolist(), evaluation.confusion.counts.sum(axis=1), strict=True)
    )  # fmt: skip
    return [
        report.ClassScores(
            label=str(label),
            scores=[report.Score(**_plain(name, score)) for name, score in scores.items()],
            n_rows=int(sizes[label]) if label in sizes else None,
        )
        for label, scores in evaluation.per_class.items()
    ]


def confusion_of(evaluation: Evaluation) -> report.Confusion | None:
    """What was taken for what."""
    found = evaluation.confusion
    if found is None:
        return None
    labels = [str(label) for label in found.classes.tolist()]
    if len(labels) <= 60:
        return report.Confusion(labels=labels, counts=found.counts.tolist())
    counts = found.counts.copy()
    np.fill_diagonal(counts, 0)
    worst = np.argsort(-counts, axis=None, kind="stable")[:40]
    places = [np.unravel_index(place, counts.shape) for place in worst if counts.flat[place] > 0]
    return report.Confusion(
        labels=labels, pairs=[(labels[i], labels[j], float(counts[i, j])) for i, j in places]
    )


def curves_of(training: Training) -> report.Curves | None:
    """ROC and precision against recall, of the positive label or of the most frequent ones."""
    answers, y = training.answers, training.test.y
    if answers.probabilities is None or answers.classes_ is None:
        return None
    classes = answers.classes_
    wanted = [1] if len(classes) == 2 else list(np.argsort([-(y == label).sum() for label in classes]))
    s = training.test.sample_weight
    s = np.ones(len(y)) if s is None else s
    options: dict[str, Any] = {
        "positive": True,
        "sample_weight": training.test.sample_weight,
        "weights": WEIGHTS_MEAN,
        "groups": training.test.groups,
        "confidence": training.evaluation.confidence,
    }
    rocs, pairs = [], []
    for k in wanted[:_CURVES_SHOWN]:
        is_positive = y == classes[k]
        if not (s[is_positive].any() and s[~is_positive].any()):
            continue
        p = answers.probabilities[:, k]
        roc = roc_curve(is_positive, p, **options)
        both = precision_recall_curve(is_positive, p, **options)
        area = _area(training, classes, k) or roc.area
        called = answers.labels == classes[k]
        false = float(s[called & ~is_positive].sum() / s[~is_positive].sum())
        recall = float(s[called & is_positive].sum() / s[is_positive].sum())
        n_called = float(s[called].sum())
        precision = float(s[called & is_positive].sum() / n_called) if n_called else 0.0
        name = str(classes[k])
        rocs.append(
            report.Curve(
                name=name,
                **_thinned(roc.false_positive_rate, roc.true_positive_rate),
                area=roc.area.value,
                low=area.low,
                high=area.high,
                point=(false, recall),
            )
        )
        pairs.append(
            report.Curve(
                name=name,
                **_thinned(both.recall, both.precision),
                area=both.average_precision.value,
                low=both.average_precision.low,
                high=both.average_precision.high,
                point=(recall, precision),
            )
        )
    if not rocs:
        return None
    positive = str(classes[1]) if len(classes) == 2 else ""
    share = float(np.average(y == classes[1], weights=s)) if len(classes) == 2 else None
    return report.Curves(roc=rocs, precision_recall=pairs, positive=positive, share=share)


def _area(training: Training, classes: NDArray[Any], k: int) -> evaluation_records.Score | None:
    """The area as it was judged, which knows of groups; None where it was not."""
    evaluation = training.evaluation
    scores = evaluation.scores if len(classes) == 2 else evaluation.per_class.get(classes.tolist()[k], {})
    return scores.get("roc_auc")


def _thinned(x: NDArray[Any], y: NDArray[Any], most: int = 300) -> dict[str, Any]:
    """At most so many points of a curve, its ends included."""
    places = np.unique(np.linspace(0, len(x) - 1, min(most, len(x))).round().astype(int))
    return {"x": x[places].tolist(), "y": y[places].tolist()}


def calibration_of(training: Training) -> report.Calibration | None:
    """How often predictions of a certain probability are right."""
    answers = training.answers
    sure = answers.confidence()
    if sure is None:
        return None
    is_right = answers.labels == training.test.y
    if not 0 < is_right.sum() < len(is_right):
        return None
    curve = calibration_curve(
        is_right,
        sure,
        positive=True,
        sample_weight=training.test.sample_weight,
        weights=WEIGHTS_MEAN,
        groups=training.test.groups,
        confidence=training.evaluation.confidence,
    )
    error = training.evaluation.scores.get("calibration_error")
    bins = [
        report.CalibrationBin(
            predicted=float(a), observed=float(b), low=float(c), high=float(d), count=float(e)
        )
        for a, b, c, d, e in zip(
            curve.predicted, curve.observed, curve.low, curve.high, curve.counts, strict=True
        )
    ]
    return report.Calibration(
        bins=bins,
        error=None if error is None else error.value,
        low=None if error is None else error.low,
        high=None if error is None else error.high,
    )
