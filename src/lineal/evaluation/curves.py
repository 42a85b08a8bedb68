"""Curves as data, with an interval at every point: what pictures are drawn from.

Intervals are pointwise: each holds its own true value in a share ``confidence`` of samples, not all at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.errors import InputError, ParameterError
from lineal.evaluation.auc import binary_area, two_kinds
from lineal.evaluation.inputs import checked_confidence, checked_count, groups_of_rows, one_sample
from lineal.evaluation.intervals import wilson_ends
from lineal.evaluation.learning import LearningCurve, learning_curve
from lineal.evaluation.records import Interval, Score
from lineal.evaluation.resampling import RowWeights
from lineal.evaluation.tables import Section
from lineal.evaluation.thresholds import average_precision, precision_recall_points, roc_points
from lineal.evaluation.wording import brief, percent
from lineal.objective.losses import FloatArray

if TYPE_CHECKING:
    from lineal.evaluation.curves_by_groups import GroupedCurve

__all__ = [
    "CalibrationCurve",
    "LearningCurve",
    "PrecisionRecallCurve",
    "RocCurve",
    "calibration_curve",
    "learning_curve",
    "precision_recall_curve",
    "roc_curve",
]


@dataclass(frozen=True, eq=False)
class _Binary:
    """Rows of two kinds and a number for each."""

    is_positive: NDArray[np.bool_]
    values: FloatArray
    weights: RowWeights

    @classmethod
    def of(
        cls, what: str, y_true: Any, name: str, values: Any, positive: Any, sample_weight: Any, weights: str
    ) -> _Binary:
        is_positive, numbers = two_kinds(what, y_true, positive), one_sample(name, values)
        if len(numbers) != len(is_positive):
            raise InputError(f"{name} has {len(numbers)} numbers for {len(is_positive)} labels.")
        own = RowWeights.of(sample_weight, len(numbers), weights)
        for kind in (is_positive, ~is_positive):
            if own.s[kind].sum() == 0:
                raise InputError(f"{what} needs rows of two kinds, and all rows of one have weight 0.")
        return cls(is_positive, numbers, own)

    def in_groups(self, groups: Any, confidence: float) -> GroupedCurve | None:
        """The rows with their groups; None without them."""
        if groups is None:
            return None
        from lineal.evaluation.by_groups import Groups
        from lineal.evaluation.curves_by_groups import GroupedCurve

        found = Groups.of(groups_of_rows(groups, len(self.values), None))
        return GroupedCurve(found, self.values, self.weights.s, self.is_positive, confidence)

    def own_weights(self, groups: Any) -> RowWeights:
        """Weights as parts of a group's sum where there are groups: its rows are no draws."""
        return self.weights if groups is None else RowWeights(self.weights.s, "importance")

    def sizes_called(self, thresholds: FloatArray) -> FloatArray:
        """How many rows of weight 1 the rows at or above each threshold are worth."""
        order = np.argsort(-self.values, kind="stable")
        place = np.searchsorted(-self.values[order], -thresholds, side="right")
        weight, variance = (
            np.r_[0.0, np.cumsum(w[order])] for w in (self.weights.s, self.weights.variances())
        )
        return np.divide(
            weight[place] ** 2, variance[place], out=np.zeros(len(place)), where=variance[place] > 0
        )


@dataclass(frozen=True, eq=False)
class RocCurve:
    """True against false positives as the threshold falls.

    Attributes
    ----------
    false_positive_rate, true_positive_rate, thresholds : (m,) arrays
    true_low, true_high, false_low, false_high : (m,) arrays
        Wilson's intervals of the two rates at each threshold, by groups where there are some.
    area : Score
        With DeLong's interval, or the jackknife's over groups.
    confidence : float
    """

    false_positive_rate: FloatArray
    true_positive_rate: FloatArray
    thresholds: FloatArray
    true_low: FloatArray
    true_high: FloatArray
    false_low: FloatArray
    false_high: FloatArray
    area: Score
    confidence: float

    def __str__(self) -> str:
        return f"ROC curve of {len(self.thresholds)} thresholds: {self.area}"


def roc_curve(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    positive: Any = None,
    sample_weight: ArrayLike | None = None,
    weights: str = "counts",
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
) -> RocCurve:
    """The ROC curve, with intervals.

    Parameters
    ----------
    y_true : (n,) labels of two kinds
    scores : (n,) numbers, larger for rows that are likelier positive
    positive : label, optional
        The last in sorted order if not given.
    sample_weight, weights, groups, confidence
        As for ``lineal.evaluate``.

    Returns
    -------
    RocCurve

    Examples
    --------
    >>> from lineal.evaluation.curves import roc_curve
    >>> curve = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.true_positive_rate.tolist(), curve.area.value
    ([0.0, 0.5, 0.5, 1.0, 1.0], 0.75)
    """
    confidence = checked_confidence(confidence)
    rows = _Binary.of("an ROC curve", y_true, "scores", scores, positive, sample_weight, weights)
    false, true, thresholds = roc_points(rows.is_positive, rows.values, rows.weights.s)
    grouped = rows.in_groups(groups, confidence)
    true_ends, false_ends = (
        wilson_ends(rate, np.full(len(rate), rows.weights.size(kind)), confidence)
        if grouped is None
        else grouped.shares_called(kind, rate, thresholds)
        for rate, kind in ((true, rows.is_positive), (false, ~rows.is_positive))
    )
    area = binary_area(rows.values, rows.is_positive, rows.own_weights(groups))
    ends = area.interval(confidence) if grouped is None else grouped.area(area)
    score = Score("roc_auc", area.value, ends)
    return RocCurve(false, true, thresholds, *true_ends, *false_ends, score, confidence)


@dataclass(frozen=True, eq=False)
class PrecisionRecallCurve:
    """Precision against recall as the threshold rises.

    Attributes
    ----------
    precision, recall, thresholds : (m,) arrays
    precision_low, precision_high, recall_low, recall_high : (m,) arrays
        Wilson's intervals at each threshold, by groups where there are some.
    average_precision : Score
        With Wilson's interval, as a share of the positives, or the jackknife's over groups.
    confidence : float
    """

    precision: FloatArray
    recall: FloatArray
    thresholds: FloatArray
    precision_low: FloatArray
    precision_high: FloatArray
    recall_low: FloatArray
    recall_high: FloatArray
    average_precision: Score
    confidence: float

    def __str__(self) -> str:
        return f"precision-recall curve of {len(self.thresholds)} thresholds: {self.average_precision}"


def precision_recall_curve(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    positive: Any = None,
    sample_weight: ArrayLike | None = None,
    weights: str = "counts",
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
) -> PrecisionRecallCurve:
    """The precision-recall curve, with intervals; parameters as for ``roc_curve``.

    Examples
    --------
    >>> from lineal.evaluation.curves import precision_recall_curve
    >>> curve = precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.thresholds.tolist(), curve.recall.tolist()
    ([0.1, 0.35, 0.4, 0.8], [1.0, 1.0, 0.5, 0.5])
    """
    confidence = checked_confidence(confidence)
    rows = _Binary.of("a precision-recall curve", y_true, "scores", scores, positive, sample_weight, weights)
    precision, recall, thresholds = precision_recall_points(rows.is_positive, rows.values, rows.weights.s)
    found = average_precision(rows.is_positive, rows.values, rows.weights.s)
    if (grouped := rows.in_groups(groups, confidence)) is not None:
        own = grouped.average_precision(found)
        precision_ends = grouped.shares_right(precision, thresholds)
        recall_ends = grouped.shares_called(rows.is_positive, recall, thresholds)
    else:
        n_positive = rows.weights.size(rows.is_positive)
        # As if it were a share of the positives: on the logit scale an end runs away as the value nears 1.
        low, high = wilson_ends(np.array(found), np.array(n_positive), confidence)
        own = Interval(float(low), float(high), confidence, "Wilson")
        precision_ends = wilson_ends(precision, rows.sizes_called(thresholds), confidence)
        recall_ends = wilson_ends(recall, np.full(len(recall), n_positive), confidence)
    return PrecisionRecallCurve(
        *(precision, recall, thresholds),
        *precision_ends,
        *recall_ends,
        Score("average_precision", found, own),
        confidence,
    )


@dataclass(frozen=True, eq=False)
class CalibrationCurve:
    """How often rows are positive, against how likely they were said to be.

    Attributes
    ----------
    predicted, observed : (b,) arrays
        The mean probability and the share of positives in each bin.
    low, high : (b,) arrays
        Wilson's intervals of the share, by groups where there are some.
    counts : (b,) array
        The weight of rows in each bin.
    error : float
        The mean of abs(predicted - observed) over rows.
    confidence : float
    """

    predicted: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray
    counts: FloatArray
    error: float
    confidence: float

    def __str__(self) -> str:
        rows = [
            [brief(p), brief(o), f"{brief(low)} .. {brief(high)}", brief(n)]
            for p, o, low, high, n in zip(
                self.predicted, self.observed, self.low, self.high, self.counts, strict=True
            )
        ]
        header = ["predicted", "observed", f"{percent(self.confidence)} interval", "rows"]
        return Section(f"calibration: mean gap {brief(self.error)}", header, rows).plain()


def calibration_curve(
    y_true: ArrayLike,
    probabilities: ArrayLike,
    *,
    positive: Any = None,
    n_bins: int = 10,
    bins: str = "quantile",
    sample_weight: ArrayLike | None = None,
    weights: str = "counts",
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
) -> CalibrationCurve:
    """The reliability diagram, with intervals.

    Parameters
    ----------
    y_true : (n,) labels of two kinds
    probabilities : (n,) numbers in [0, 1], that the row is positive
    positive : label, optional
        The last in sorted order if not given.
    n_bins : int
    bins : "quantile" or "uniform"
        Bins of rows of equal weight, or of equal width. Empty ones are left out.
    sample_weight, weights, groups, confidence
        As for ``lineal.evaluate``.

    Returns
    -------
    CalibrationCurve
    """
    confidence, n_bins = checked_confidence(confidence), checked_count("n_bins", n_bins)
    if bins not in ("quantile", "uniform"):
        raise ParameterError(f"bins must be 'quantile' or 'uniform', got {bins!r}.")
    rows = _Binary.of(
        "a calibration curve", y_true, "probabilities", probabilities, positive, sample_weight, weights
    )
    if rows.values.min() < 0 or rows.values.max() > 1:
        raise InputError("probabilities must be between 0 and 1.")
    levels = np.linspace(0, 1, n_bins + 1)[1:-1]
    edges = np.unique(rows.weights.quantiles(rows.values, levels)) if bins == "quantile" else levels
    place = np.searchsorted(edges, rows.values, side="right")
    s = rows.weights.s
    counts, predicted, positives, variance = (
        np.bincount(place, weights=w, minlength=len(edges) + 1).astype(np.float64)
        for w in (s, s * rows.values, s * rows.is_positive, rows.weights.variances())
    )
    is_used = counts > 0
    counts, variance = counts[is_used], variance[is_used]
    predicted, observed = predicted[is_used] / counts, positives[is_used] / counts
    if (grouped := rows.in_groups(groups, confidence)) is not None:
        low, high = grouped.bins(place, np.flatnonzero(is_used))
    else:
        low, high = wilson_ends(observed, counts**2 / variance, confidence)
    error = float(np.sum(counts * np.abs(predicted - observed)) / counts.sum())
    return CalibrationCurve(predicted, observed, low, high, counts, error, confidence)
