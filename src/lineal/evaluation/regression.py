"""Numbers judged: the scores of a regression, each with its interval.

The median has the interval of its order statistics, the rank correlation that of its derivative in the
weights, and means over rows and their ratio, R², one that knows of skewed errors (``skewed_means``).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lineal.evaluation.evaluation import Evaluation
from lineal.evaluation.intervals import median_ends
from lineal.evaluation.metrics import METRICS, Metric
from lineal.evaluation.predictions import Measured
from lineal.evaluation.records import Interval, Score
from lineal.evaluation.resampled_scores import single_score

_TITLES = {name: metric.title for name, metric in METRICS.items() if metric.task == "regression"}


def evaluate_numbers(
    p: Measured, *, confidence: float, n_resamples: int, rng: np.random.Generator
) -> Evaluation:
    """The table of a regression."""
    omitted = {name: reason for name in _TITLES if (reason := METRICS[name].missing(p)) is not None}
    if (p.truth <= 0).any():
        omitted["mape"] = "relative errors are for positive values, and some true values are not"
    metrics = [METRICS[name] for name in _TITLES if name not in omitted]
    scores = number_scores(p, metrics, confidence, n_resamples, rng)
    return Evaluation("regression", scores, len(p.truth), confidence, omitted=omitted, titles=_TITLES)


def number_scores(
    p: Measured, metrics: Sequence[Metric], confidence: float, n_resamples: int, rng: np.random.Generator
) -> dict[str, Score]:
    """Some scores, in the order given, each with the interval that suits it."""
    found = {}
    for metric in metrics:
        if metric.name == "median_absolute_error":
            absolute = np.abs(p.predicted - p.truth)
            ends = median_ends(absolute, p.weights.s, p.weights.size(), confidence)
            interval = Interval(*ends, confidence, "order statistics")
            found[metric.name] = Score(metric.name, metric.value(p), interval, False)
        else:
            found[metric.name] = single_score(metric, p, confidence, n_resamples, rng)
    return found
