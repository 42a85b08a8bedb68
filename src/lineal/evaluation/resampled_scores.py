"""One score with its interval: its own, that of its derivative, or that of resamples it is called on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lineal.evaluation.metrics import Metric
from lineal.evaluation.predictions import Predictions
from lineal.evaluation.records import Interval, Score
from lineal.evaluation.resampling import RowWeights, percentile_ends
from lineal.objective.losses import FloatArray


def single_score(
    metric: Metric, p: Predictions, confidence: float, n_resamples: int, rng: np.random.Generator
) -> Score:
    """By its own interval, kept within the metric's bounds, or by calling it on every resample."""
    if metric.interval is not None:
        own, (least, most) = metric.interval(p, confidence, rng), metric.limits(p)
        within = replace(own, low=max(own.low, least), high=min(own.high, most))
        return Score(metric.name, metric.value(p), within, metric.greater_is_better)
    if metric.linear is not None:
        found = metric.linear(p)
        return Score(metric.name, found.value, found.interval(confidence), metric.greater_is_better)
    draws = called_on_resamples(metric, [p], n_resamples, rng)[:, 0]
    interval = Interval(*percentile_ends(draws, confidence), confidence, "bootstrap (percentile)")
    return Score(metric.name, metric.value(p), interval, metric.greater_is_better)


def called_on_resamples(
    metric: Metric, predictions: Sequence[Predictions], n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """(B, M) the metric of each model's predictions on the same resamples; NaN where it has none."""
    values = np.empty((n_resamples, len(predictions)))
    for row in values:
        taken = _drawn(predictions, rng)
        row[:] = [metric.value(p) if metric.missing(p) is None else np.nan for p in taken]
    return values


def _drawn(predictions: Sequence[Predictions], rng: np.random.Generator) -> list[Predictions]:
    """A resample of the rows, the same for all; a row that counts for w is drawn as w rows would be."""
    weights = predictions[0].weights
    if weights.kind != "counts":
        n = len(weights.s)
        drawn = rng.integers(0, n, size=n)
        return [p.take(drawn) for p in predictions]
    total = float(weights.s.sum())
    counts = rng.multinomial(max(round(total), 1), weights.s / total)
    drawn = np.flatnonzero(counts)
    own = RowWeights(counts[drawn].astype(np.float64), "counts")
    return [replace(p.take(drawn), weights=own) for p in predictions]


def interval_of(found: FloatArray, confidence: float, method: str) -> tuple[float, Interval]:
    """A value and its interval from (value, low, high)."""
    value, low, high = found.tolist()
    return value, Interval(low, high, confidence, method)
