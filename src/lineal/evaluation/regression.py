"""Numbers judged: the scores of a regression, each with its interval.

The median has the interval of its order statistics, the rank correlation that of its derivative in the
weights, and the rest, functions of sums over rows, the bootstrap's.
"""

from __future__ import annotations

import numpy as np

from lineal.evaluation.evaluation import Evaluation
from lineal.evaluation.intervals import median_ends
from lineal.evaluation.metrics import METRICS
from lineal.evaluation.predictions import Measured
from lineal.evaluation.records import Interval, Score
from lineal.evaluation.resampled_scores import sum_scores

_TITLES = {name: metric.title for name, metric in METRICS.items() if metric.task == "regression"}


def evaluate_numbers(
    p: Measured, *, confidence: float, n_resamples: int, rng: np.random.Generator
) -> Evaluation:
    """The table of a regression."""
    omitted = _omitted(p)
    summed = [METRICS[name] for name in _TITLES if METRICS[name].parts is not None and name not in omitted]
    scores = sum_scores(summed, p, confidence, n_resamples, rng)
    absolute = np.abs(p.predicted - p.truth)
    ends = median_ends(absolute, p.weights.s, p.weights.size(), confidence)
    median = METRICS["median_absolute_error"].value(p)
    interval = Interval(*ends, confidence, "order statistics")
    scores["median_absolute_error"] = Score("median_absolute_error", median, interval, False)
    linear = METRICS["spearman"].linear
    if "spearman" not in omitted and linear is not None:
        found = linear(p)
        scores["spearman"] = Score("spearman", found.value, found.interval(confidence))
    ordered = {name: scores[name] for name in _TITLES if name in scores}
    return Evaluation("regression", ordered, len(p.truth), confidence, omitted=omitted, titles=_TITLES)


def _omitted(p: Measured) -> dict[str, str]:
    omitted = {}
    is_used = p.weights.s > 0
    if np.ptp(p.truth[is_used]) == 0:
        omitted["r2"] = omitted["spearman"] = "the true values are all the same"
    elif np.ptp(p.predicted[is_used]) == 0:
        omitted["spearman"] = "the predictions are all the same"
    if (p.truth <= 0).any():
        omitted["mape"] = "relative errors are for positive values, and some true values are not"
    return omitted
