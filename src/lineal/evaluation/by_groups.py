"""Intervals and tests where rows come in groups: the patients behind visits, the authors behind posts.

Rows of one group resemble each other, so that groups, not rows, are the independent draws. Every variance
is the jackknife's over groups (each left out once; Efron and Stein 1981), with Student's quantile for their
number. What lies between two bounds, such as an accuracy, has Wilson's interval at the number of independent
rows that would have this variance (Korn and Graubard 1998), so that an accuracy of 1 is not certain; where
nothing varies, each group is one row. Two models are told apart by swapping their outputs in whole groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.deferred import is_sparse, stats
from lineal.deferred import sparse as sp
from lineal.evaluation.evaluation import Evaluation
from lineal.evaluation.intervals import wilson_ends, z_value
from lineal.evaluation.lots import as_far, swapped_sums
from lineal.evaluation.metrics import METRICS, Metric
from lineal.evaluation.predictions import Classified, Predictions
from lineal.evaluation.records import Interval, Score, Significance
from lineal.evaluation.resampling import RowWeights
from lineal.evaluation.wording import counted
from lineal.objective.losses import FloatArray

# What must be computed anew without each group is so at most so often, without several groups at a time.
_CALLS = 200
_METHOD = "groups"


@dataclass(frozen=True, eq=False)
class Groups:
    """Which group each row belongs to: ``codes``, (n,), in 0 .. ``n_groups`` - 1."""

    codes: NDArray[np.int64]
    n_groups: int

    @classmethod
    def of(cls, labels: Any) -> Groups:
        """From labels of any kind."""
        names, codes = np.unique(np.asarray(labels), return_inverse=True)
        return cls(codes.astype(np.int64), len(names))

    def take(self, rows: Any) -> Groups:
        """Those of some rows; groups without a row are gone."""
        return Groups.of(self.codes[rows])

    def sums(self, parts: Any) -> FloatArray:
        """(G, d) sums over each group's rows of (n, d) numbers, dense or sparse."""
        n = len(self.codes)
        gather = sp.csr_array((np.ones(n), (self.codes, np.arange(n))), shape=(self.n_groups, n))
        found = gather @ parts
        return np.asarray(found.toarray() if is_sparse(found) else found, dtype=np.float64)

    def size(self, s: FloatArray) -> float:
        """How many groups of one weight would be as informative (Kish's effective size)."""
        heights = np.bincount(self.codes, weights=s)
        return float(heights.sum() ** 2 / np.sum(heights**2))


def evaluated_by_groups(evaluation: Evaluation, p: Predictions, labels: Any) -> Evaluation:
    """The same values with intervals that are about other groups, not other rows of the same ones."""
    groups, p = Groups.of(labels), _weighted(p)
    scores = {
        name: replace(score, interval=_interval(METRICS[name], p, groups, evaluation.confidence, score))
        for name, score in evaluation.scores.items()
        if name in METRICS
    }
    scores |= {
        name: replace(score, interval=scores["accuracy"].interval)
        for name, score in evaluation.scores.items()
        if name not in METRICS  # micro averages, which are the accuracy
    }
    changed: dict[str, Any] = {"scores": {name: scores[name] for name in evaluation.scores}}
    if isinstance(p, Classified):
        changed["per_class"] = {
            label: _of_class(p, groups, k, evaluation.per_class[label], evaluation.confidence)
            for k, label in enumerate(p.classes.tolist())
            if label in evaluation.per_class
        }
    note = f"rows come in {counted(groups.n_groups, 'group')}: intervals are about other groups"
    return replace(evaluation, notes=(*evaluation.notes, note), **changed)


def score_by_groups(score: Score, metric: Metric, p: Predictions, labels: Any) -> Score:
    """A score with the interval by groups."""
    groups, p = Groups.of(labels), _weighted(p)
    return replace(score, interval=_interval(metric, p, groups, score.interval.confidence, score))


def _weighted(p: Predictions) -> Predictions:
    """Weights as parts of a group's sum, whether or not they count rows: the rows of a group are no draws."""
    return replace(p, weights=RowWeights(p.weights.s, "importance"))


def _interval(metric: Metric, p: Predictions, groups: Groups, confidence: float, score: Score) -> Interval:
    changes = _changes(metric.value, metric, [p], groups)
    bias = _noise_of_gaps(p, metric, groups) if metric.name == "calibration_error" else 0.0
    n_units = groups.size(p.weights.s)
    return jackknife_ends(score.value, changes, n_units, metric.limits(p), confidence, bias)


def jackknife_ends(
    value: float,
    changes: FloatArray,
    n_units: float,
    bounds: tuple[float, float],
    confidence: float,
    bias: float = 0.0,
) -> Interval:
    """Wilson's ends between two bounds, Student's elsewhere; ``bias`` is what noise alone adds.

    ``changes`` are those of the value without each group; ``n_units`` is how many groups of one weight would
    be as informative.
    """
    variance, freedom = _variance(changes)
    low, high = bounds
    if not np.isfinite(high - low):
        if freedom < 1:
            return Interval(np.nan, np.nan, confidence, _METHOD)
        half = float(stats.t.ppf((1 + confidence) / 2, freedom)) * np.sqrt(variance)
        return Interval(max(value - half, low), min(value + half, high), confidence, _METHOD)
    share = np.clip((value - low) / (high - low), 0.0, 1.0)
    spread = variance / (high - low) ** 2
    bottom, top = wilson_by_groups(
        np.array(share), np.array(spread), np.array(freedom), np.array(n_units), confidence
    )
    bottom = np.clip(bottom - bias / (high - low), 0.0, 1.0)
    return Interval(
        float(low + (high - low) * bottom), float(low + (high - low) * top), confidence, f"{_METHOD}, Wilson"
    )


def wilson_by_groups(
    share: FloatArray, variance: FloatArray, freedom: Any, n_units: FloatArray, confidence: float
) -> tuple[FloatArray, FloatArray]:
    """Wilson's ends at as many rows as would have these variances; at ``n_units`` where nothing varies."""
    kinds, place = np.unique(freedom, return_inverse=True)
    reach = np.where(kinds > 0, stats.t.ppf((1 + confidence) / 2, np.maximum(kinds, 1)), np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        seen = np.where(variance > 0, share * (1 - share) / variance, np.inf)
        # Of a few groups the variance itself is not sure: fewer rows, as Student is wider than the normal.
        seen = seen * (z_value(confidence) / reach[place.reshape(np.shape(freedom))]) ** 2
    return wilson_ends(share, np.where((seen > 0) & (seen < np.inf), seen, n_units), confidence)


def share_by_groups(groups: Groups, s: FloatArray, is_hit: Any, confidence: float) -> Interval:
    """Of the weighted share of rows that are hits."""
    both = groups.sums(np.column_stack([s, s * is_hit]))
    total = both.sum(axis=0)
    with np.errstate(all="ignore"):
        left = (total[1] - both[:, 1]) / (total[0] - both[:, 0])
    share = float(total[1] / total[0])
    return jackknife_ends(share, left - share, groups.size(s), (0.0, 1.0), confidence)


def _changes(
    value: Callable[..., float], metric: Metric, models: list[Predictions], groups: Groups
) -> FloatArray:
    """(m,) how far the value moves when each group, or each of m blocks of groups, is left out."""
    s = models[0].weights.s
    if metric.parts is not None and metric.name != "calibration_error":
        parts, statistic = metric.sums()
        found = []
        for p in models:
            units = groups.sums(_times(parts(p), s))
            total = units.sum(axis=0)
            with np.errstate(all="ignore"):
                found.append(statistic(total - units) - statistic(total[None]))
        return np.asarray(found[0] if len(found) == 1 else found[0] - found[1])
    if metric.linear is not None:
        return terms_left_out([metric.linear(p).terms for p in models], groups)
    whole = value(*models)
    changes = []
    for rows in blocks_left_out(groups):
        left = [p.take(rows) for p in models]
        if all(metric.missing(p) is None for p in left):
            changes.append(value(*left) - whole)
    return np.array(changes)


def terms_left_out(terms: list[FloatArray], groups: Groups) -> FloatArray:
    """(G,) the same for a value, or a difference of two, that is a sum of these terms near it."""
    sums = [groups.sums(own[:, None])[:, 0] for own in terms]
    apart = sums[0] if len(sums) == 1 else sums[0] - sums[1]
    # The terms are what each row adds to the value near it: without a group, the others make up for it.
    return np.asarray(-apart * groups.n_groups / max(groups.n_groups - 1, 1))


def blocks_left_out(groups: Groups) -> Iterator[NDArray[np.intp]]:
    """The rows that are left without each group, or without each of a number of blocks of groups."""
    block = np.random.default_rng(0).permutation(groups.n_groups) % min(groups.n_groups, _CALLS)
    for k in range(block.max() + 1):
        rows = np.flatnonzero(block[groups.codes] != k)
        if len(rows):
            yield rows


def _variance(changes: FloatArray) -> tuple[float, int]:
    """The jackknife's variance, and its degrees of freedom."""
    known = changes[np.isfinite(changes)]
    m = len(known)
    if m < 2:
        return 0.0, 0
    return float((m - 1) / m * np.sum((known - known.mean()) ** 2)), m - 1


def _times(parts: Any, s: FloatArray) -> Any:
    return parts.multiply(s[:, None]).tocsr() if is_sparse(parts) else parts * s[:, None]


def _noise_of_gaps(p: Predictions, metric: Metric, groups: Groups) -> float:
    """What a sum of absolute gaps would be if all true gaps were 0: sqrt(2 / pi) of their deviations."""
    units = groups.sums(_times(metric.sums()[0](p), p.weights.s))
    total = units.sum(axis=0)
    with np.errstate(all="ignore"):
        left = (total[1:] - units[:, 1:]) / (total[0] - units[:, :1])
    deviations = [np.sqrt(_variance(column)[0]) for column in left.T]
    return float(np.sqrt(2 / np.pi) * np.sum(deviations))


def _of_class(
    p: Classified, groups: Groups, k: int, scores: dict[str, Score], confidence: float
) -> dict[str, Score]:
    """Precision, recall, F1 and area of one class."""
    is_true, is_said = p.truth == k, p.predicted == k
    found = {}
    for name, score in scores.items():
        if name == "roc_auc":
            ranks = p.scores if p.probabilities is None else p.probabilities
            one = replace(
                p,
                classes=np.array([0, 1]),
                truth=is_true.astype(np.int64),
                probabilities=None,
                scores=ranks[:, k],  # type: ignore[index]
            )
            found[name] = replace(score, interval=_interval(METRICS[name], one, groups, confidence, score))
            continue
        rows = np.flatnonzero({"precision": is_said, "recall": is_true, "f1": is_true | is_said}[name])
        if not len(rows):
            found[name] = score
            continue
        ends = share_by_groups(groups.take(rows), p.weights.s[rows], p.is_right[rows], confidence)
        if name == "f1":  # 2j / (1 + j) of the share j of rows that are both among those that are either
            ends = replace(ends, low=2 * ends.low / (1 + ends.low), high=2 * ends.high / (1 + ends.high))
        found[name] = replace(score, interval=ends)
    return found


def compared_by_groups(
    metric: Metric,
    a: Predictions,
    b: Predictions,
    labels: Any,
    *,
    confidence: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> Significance:
    """Two models on the same groups: outputs swapped in whole groups by lot, or Student's test by groups."""
    groups, a, b = Groups.of(labels), _weighted(a), _weighted(b)

    def apart(first: Predictions, second: Predictions) -> float:
        return metric.value(first) - metric.value(second)

    difference = apart(a, b)
    variance, freedom = _variance(_changes(apart, metric, [a, b], groups))
    deviation = float(np.sqrt(variance))
    half = float(stats.t.ppf((1 + confidence) / 2, freedom)) * deviation if freedom else np.nan
    on = f"of {counted(groups.n_groups, 'whole group')} on {counted(len(a.truth), 'row')}"
    common: dict[str, Any] = {
        "difference": difference,
        "interval": Interval(difference - half, difference + half, confidence, "groups, t"),
    }
    if metric.parts is not None and metric.name != "calibration_error":
        p = _swapped(metric, a, b, groups, difference, n_resamples, rng)
        return Significance(f"permutation test {on}", difference, p, "d", **common)
    if not freedom or deviation == 0:
        is_same = difference == 0
        return Significance(f"t-test {on}", 0.0 if is_same else np.inf, 1.0, "t", (float(freedom),), **common)
    t = difference / deviation
    p = float(2 * stats.t.sf(abs(t), freedom))
    return Significance(f"t-test {on}", t, p, "t", (float(freedom),), **common)


def _swapped(
    metric: Metric,
    a: Predictions,
    b: Predictions,
    groups: Groups,
    difference: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> float:
    """The share of swaps of whole groups that set the models as far apart as they are."""
    parts, statistic = metric.sums()
    first, second = (groups.sums(_times(parts(p), p.weights.s)) for p in (a, b))
    middle = 0.5 * (first + second).sum(axis=0)
    moved = swapped_sums(0.5 * (first - second), n_resamples, rng)
    draws = np.asarray(statistic(middle + moved) - statistic(middle - moved))
    return float((1 + np.sum(as_far(draws, difference))) / (1 + len(draws)))
