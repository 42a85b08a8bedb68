"""Scores that are functions of sums over rows, all from one set of resamples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from lineal.evaluation.metrics import Metric
from lineal.evaluation.predictions import Predictions
from lineal.evaluation.records import Interval, Score
from lineal.evaluation.resampling import Resampled, percentile_ends, resample
from lineal.objective.losses import FloatArray


def sum_scores(
    metrics: Sequence[Metric],
    predictions: Predictions,
    confidence: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> dict[str, Score]:
    """Each metric with its bootstrap interval."""
    if not metrics:
        return {}
    blocks = [metric.sums()[0](predictions) for metric in metrics]
    is_sparse = any(sp.issparse(block) for block in blocks)
    parts = sp.hstack(blocks, format="csr") if is_sparse else np.hstack(blocks)
    found = resample(parts, predictions.weights, n_resamples, rng)
    scores, first = {}, 0
    for metric, block in zip(metrics, blocks, strict=True):
        columns = slice(first, first + block.shape[1])
        own = Resampled(found.sums[columns], found.draws[:, columns], found.units[:, columns])
        scores[metric.name] = _score(metric, own, confidence)
        first = columns.stop
    return scores


def _score(metric: Metric, found: Resampled, confidence: float) -> Score:
    statistic = metric.sums()[1]
    value = float(statistic(found.sums[None])[0])
    if metric.name == "calibration_error":
        # Noise adds to a sum of absolute gaps, in the sample and once more in a resample: the second step
        # measures the first, and is taken off.
        low, high = percentile_ends(statistic(found.draws), confidence)
        interval = Interval(
            max(2 * value - high, 0.0), max(2 * value - low, 0.0), confidence, "bootstrap (basic)"
        )
        return Score(metric.name, value, interval, metric.greater_is_better)
    return Score(metric.name, value, found.interval(statistic, confidence), metric.greater_is_better)


def single_score(
    metric: Metric, p: Predictions, confidence: float, n_resamples: int, rng: np.random.Generator
) -> Score:
    """A score that is no function of sums: by its own interval, or by calling it on every resample."""
    if metric.linear is not None:
        found = metric.linear(p)
        return Score(metric.name, found.value, found.interval(confidence), metric.greater_is_better)
    draws = called_on_resamples(metric, [p], n_resamples, rng)[:, 0]
    interval = Interval(*percentile_ends(draws, confidence), confidence, "bootstrap (percentile)")
    return Score(metric.name, metric.value(p), interval, metric.greater_is_better)


def called_on_resamples(
    metric: Metric, predictions: Sequence[Predictions], n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """(B, M) the metric of each model's predictions on the same resamples of their rows."""
    n = len(predictions[0].truth)
    values = np.empty((n_resamples, len(predictions)))
    for row in values:
        drawn = rng.integers(0, n, size=n)
        row[:] = [metric.value(p.take(drawn)) for p in predictions]
    return values


def interval_of(found: FloatArray, confidence: float, method: str) -> tuple[float, Interval]:
    """A value and its interval from (value, low, high)."""
    value, low, high = found.tolist()
    return value, Interval(low, high, confidence, method)
