"""Scores that are functions of sums over rows, all from one set of resamples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from lineal.evaluation.metrics import Metric, side_by_side
from lineal.evaluation.predictions import Predictions
from lineal.evaluation.records import Interval, Score
from lineal.evaluation.resampling import Resampled, RowWeights, percentile_ends, resample
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
    found = resample(side_by_side(blocks), predictions.weights, n_resamples, rng)
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
        interval = Interval(*_gap_ends(found, confidence), confidence, "bootstrap (inverted)")
        return Score(metric.name, value, interval, metric.greater_is_better)
    return Score(metric.name, value, found.interval(statistic, confidence), metric.greater_is_better)


def _gap_ends(found: Resampled, confidence: float) -> tuple[float, float]:
    """The ends of a sum of absolute gaps, to which noise adds even where all true gaps are 0.

    The true gaps are taken as t times those seen. The ends are the t at which the resampled noise, on top of
    the true gaps, gives a sum as large as the one seen, and as small, with a chance of (1 - confidence) / 2.
    """
    if len(found.units) < 2:
        return float("nan"), float("nan")
    gaps = found.sums[1:] / found.sums[0]
    noise = found.draws[:, 1:] / found.draws[:, :1] - gaps
    seen, tail = float(np.abs(gaps).sum()), (1 - confidence) / 2

    def share_above(t: float) -> float:
        return float(np.mean(np.abs(t * gaps + noise).sum(axis=1) >= seen))

    low = 0.0 if share_above(0.0) > tail else _crossing(share_above, tail)
    return seen * low, seen * _crossing(share_above, 1 - tail)


def _crossing(rising: Callable[[float], float], level: float, most: float = 8.0) -> float:
    """Where a rising function of a number in [0, most] reaches a level, by halving."""
    low, high = 0.0, most
    for _ in range(14):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < level else (low, middle)
    return high


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
