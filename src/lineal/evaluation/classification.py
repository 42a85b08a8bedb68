"""Labels judged: the scores of a classification, each with its interval.

Proportions (accuracy, precision, recall) have Wilson's interval. F1 is 2j/(1 + j) of the proportion j =
TP/(TP + FP + FN), so that its ends are those of j. Means over classes whose parts are independent (recalls,
given the true classes; precisions, given the predicted ones) combine the intervals of the parts. Macro F1
and Matthews' correlation have Wilson's at the number of rows that would have their variance
(``cell_scores``). Log loss and Brier score are means over rows, few of which may be large
(``skewed_means``), the calibration error is a sum of absolute gaps (``gap_sums``). The area under the ROC
curve has DeLong's variance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lineal.evaluation.auc import binary_area
from lineal.evaluation.cell_scores import cell_score_ends, f1_slopes, mcc_slopes
from lineal.evaluation.evaluation import Confusion, Evaluation
from lineal.evaluation.intervals import combined_ends, wilson_ends
from lineal.evaluation.metrics import METRICS, Metric, calibration_error
from lineal.evaluation.predictions import Classified
from lineal.evaluation.records import Interval, Score
from lineal.evaluation.resampled_scores import interval_of, single_score
from lineal.objective.losses import FloatArray

_TITLES = {
    **{name: metric.title for name, metric in METRICS.items() if metric.task == "classification"},
    "accuracy": "accuracy = micro F1",
}


def evaluate_classes(
    p: Classified, *, confidence: float, n_resamples: int, n_bins: int, rng: np.random.Generator
) -> Evaluation:
    """The table of a classification."""
    cells = Cells.of(p)
    metrics = [METRICS[name] for name in _TITLES if name != "calibration_error"]
    metrics.append(calibration_error(n_bins))
    omitted = {metric.name: reason for metric in metrics if (reason := metric.missing(p)) is not None}
    wanted = [metric for metric in metrics if metric.name not in omitted]
    scores = class_scores(p, wanted, confidence, n_resamples, rng)
    scores |= {name: replace(scores["accuracy"], name=name) for name in _MICRO}
    return Evaluation(
        *("classification", scores, len(p.truth), confidence, _per_class(p, cells, confidence)),
        Confusion(p.classes, cells.weight, cells.sizes(axis=1), confidence),
        omitted,
        _notes(p, n_bins),
        _TITLES,
    )


def class_scores(
    p: Classified, metrics: Sequence[Metric], confidence: float, n_resamples: int, rng: np.random.Generator
) -> dict[str, Score]:
    """Some scores, in the order given, each with the interval that suits it."""
    cells = Cells.of(p)
    proportions = _proportions(p, cells, confidence)
    found = {}
    for metric in metrics:
        name = metric.name
        if name in proportions:
            found[name] = proportions[name]
        elif name in _BY_CELLS:
            value = metric.value(p)
            ends = cell_score_ends(
                *(value, _BY_CELLS[name], cells.weight, cells.variance, metric.bounds, confidence)
            )
            found[name] = Score(name, value, Interval(*ends, confidence, "Wilson, delta method"))
        else:
            found[name] = single_score(metric, p, confidence, n_resamples, rng)
    return found


_MICRO = ("precision_micro", "recall_micro", "f1_micro")
_BY_CELLS = {"f1_macro": f1_slopes, "mcc": mcc_slopes}


def _notes(p: Classified, n_bins: int) -> tuple[str, ...]:
    notes = []
    unseen = sorted(str(p.classes[k]) for k in set(p.predicted.tolist()) - set(p.truth.tolist()))
    if unseen:
        notes.append(f"predicted, but not among the true labels: {', '.join(unseen[:5])}")
    if p.probabilities is not None:
        notes.append(
            "calibration error: |confidence in the predicted class − accuracy|, mean over "
            f"{n_bins} bins of rows of equal weight"
        )
    return tuple(notes)


class Cells:
    """The confusion matrix: weight and variance of each cell."""

    def __init__(self, weight: FloatArray, variance: FloatArray) -> None:
        self.weight, self.variance = weight, variance

    @classmethod
    def of(cls, p: Classified) -> Cells:
        """Adds up the rows."""
        K = len(p.classes)
        place = p.truth * K + p.predicted
        sums = [
            np.bincount(place, weights=w, minlength=K * K).astype(np.float64)
            for w in (p.weights.s, p.weights.variances())
        ]
        return cls(sums[0].reshape(K, K), sums[1].reshape(K, K))

    def sizes(self, axis: int) -> FloatArray:
        """(K,) how many rows of weight 1 the classes are worth; axis 1: true classes, 0: predicted."""
        return _sizes(self.weight.sum(axis=axis), self.variance.sum(axis=axis))


def _sizes(weight: FloatArray, variance: FloatArray) -> FloatArray:
    return np.divide(weight**2, variance, out=np.zeros_like(weight), where=variance > 0)


def _proportions(p: Classified, cells: Cells, confidence: float) -> dict[str, Score]:
    """Accuracy; recall, precision and balanced accuracy as means over classes."""
    size = _sizes(np.array([cells.weight.sum()]), np.array([cells.variance.sum()]))[0]
    value = METRICS["accuracy"].value(p)
    low, high = wilson_ends(np.array(value), np.array(size), confidence)
    interval = Interval(float(low), float(high), confidence, "Wilson")
    scores = {"accuracy": Score("accuracy", value, interval)}
    true, said = cells.weight.sum(axis=1), cells.weight.sum(axis=0)
    right = np.diag(cells.weight)
    for name, total, axis, is_counted in (
        ("balanced_accuracy", true, 1, true > 0),
        ("recall_macro", true, 1, true + said > 0),
        ("precision_macro", said, 0, true + said > 0),
    ):
        parts = np.divide(right, total, out=np.zeros_like(right), where=total > 0)[is_counted]
        # A class without rows has the value 0 by convention, and nothing to be unsure of.
        sizes = np.where(total[is_counted] > 0, cells.sizes(axis)[is_counted], np.inf)
        low, high = wilson_ends(parts, sizes, confidence)
        shares = np.full(len(parts), 1 / len(parts))
        value = METRICS[name].value(p)
        both = combined_ends(value, parts, low, high, shares)
        scores[name] = Score(name, value, Interval(*both, confidence, "Wilson, combined"))
    return scores


def _per_class(p: Classified, cells: Cells, confidence: float) -> dict[Any, dict[str, Score]]:
    """Precision, recall, F1 and, with more than two classes, the area against the rest."""
    weight, variance = cells.weight, cells.variance
    right = np.diag(weight)
    columns: dict[str, FloatArray] = {}
    for name, total, spread in (
        ("precision", weight.sum(axis=0), variance.sum(axis=0)),
        ("recall", weight.sum(axis=1), variance.sum(axis=1)),
        ("f1", *(m.sum(axis=0) + m.sum(axis=1) - np.diag(m) for m in (weight, variance))),
    ):
        share = np.divide(right, total, out=np.zeros_like(right), where=total > 0)
        found = np.stack([share, *wilson_ends(share, _sizes(total, spread), confidence)])
        columns[name] = 2 * found / (1 + found) if name == "f1" else found
    ranks = p.scores if p.probabilities is None else p.probabilities
    has_area = ranks is not None and ranks.ndim == 2 and len(p.classes) > 2
    table: dict[Any, dict[str, Score]] = {}
    for k, label in enumerate(p.classes.tolist()):
        if weight[k].sum() + weight[:, k].sum() == 0:
            continue
        table[label] = {
            name: Score(name, *interval_of(found[:, k], confidence, "Wilson"))
            for name, found in columns.items()
        }
        is_k = p.truth == k
        if has_area and 0 < is_k.sum() < len(is_k):
            area = binary_area(ranks[:, k], is_k, p.weights)  # type: ignore[index]
            table[label]["roc_auc"] = Score("roc_auc", area.value, area.interval(confidence))
    return table
