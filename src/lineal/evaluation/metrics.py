"""The metrics by name: what each needs, what it adds up over rows, and how its value follows.

Most are functions of sums over rows, so that differences of models are resampled in one product (see
``resampling``); means and their ratios have an interval in closed form (see ``skewed_means``). The area under
the ROC curve and the rank correlation are sums near their values (see ``influence``); the median is neither.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from lineal.deferred import is_sparse
from lineal.deferred import sparse as sp
from lineal.errors import ParameterError
from lineal.evaluation.auc import Area, binary_area, macro_area
from lineal.evaluation.gap_sums import Bins, gap_sum_ends
from lineal.evaluation.influence import Correlation, Linearised, rank_correlation
from lineal.evaluation.inputs import takes_arguments, takes_weights
from lineal.evaluation.predictions import Classified, Measured, Predictions
from lineal.evaluation.records import Interval
from lineal.evaluation.skewed_means import mean_ends, ratio_ends
from lineal.objective.losses import FloatArray

_MOST_DENSE = 16  # classes up to which a column for each is kept whole


@dataclass(frozen=True)
class Metric:
    """A number about predictions.

    Attributes
    ----------
    name, title : str
        For machines and for people.
    task : "classification" or "regression"
    greater_is_better : bool or None
    needs : "predictions", "probabilities" or "ranks"
        Ranks may be probabilities or scores.
    function : Predictions -> float, optional
        Where it is neither of the next.
    parts, statistic : optional
        What is summed, (n, d), dense or sparse, and the value from (B, d) sums.
    linear : Predictions -> Linearised, optional
    interval : (Predictions, confidence, random generator) -> Interval, optional
        Where it has one of its own.
    bounds : (float, float)
        Between which it must lie.
    """

    name: str
    title: str
    task: str
    greater_is_better: bool | None = True
    needs: str = "predictions"
    function: Callable[[Any], float] | None = None
    parts: Callable[[Any], Any] | None = None
    statistic: Callable[[FloatArray], FloatArray] | None = None
    linear: Callable[[Any], Linearised] | None = None
    interval: Callable[[Any, float, np.random.Generator], Interval] | None = None
    bounds: tuple[float, float] = (0.0, 1.0)

    def limits(self, predictions: Predictions) -> tuple[float, float]:
        """Between which it lies for these predictions: a Brier score of two classes is at most 1."""
        if self.name == "brier" and isinstance(predictions, Classified) and len(predictions.classes) == 2:
            return 0.0, 1.0
        return self.bounds

    def value(self, predictions: Predictions) -> float:
        """The metric of these predictions."""
        if self.function is not None:
            return float(self.function(predictions))
        if self.linear is not None:
            return self.linear(predictions).value
        parts, statistic = self.sums()
        return float(statistic((parts(predictions).T @ predictions.weights.s)[None])[0])

    def sums(self) -> tuple[Callable[[Any], Any], Callable[[FloatArray], FloatArray]]:
        """parts and statistic, of a metric that has them."""
        assert self.parts is not None
        assert self.statistic is not None
        return self.parts, self.statistic

    def missing(self, predictions: Predictions) -> str | None:
        """Why these predictions do not have it; None if they do."""
        if isinstance(predictions, Measured):
            return self._sameness(predictions) if self.task == "regression" else f"{self.name} is for labels"
        if self.task == "regression":
            return f"{self.name} is for regression"
        if self.needs == "probabilities" and predictions.probabilities is None:
            return f"{self.name} needs probabilities"
        if self.needs == "ranks":
            if predictions.probabilities is None and predictions.scores is None:
                return f"{self.name} needs probabilities or scores"
            if len(np.unique(predictions.truth)) < 2:
                return f"{self.name} needs rows of two classes"
        return None

    def _sameness(self, p: Measured) -> str | None:
        if self.name in ("r2", "spearman") and np.ptp(p.truth) == 0:
            return "the true values are all the same"
        if self.name == "spearman" and np.ptp(p.predicted) == 0:
            return "the predictions are all the same"
        return None


# ---- classification -------------------------------------------------------------------------------


def _one_hot(codes: Any, n_classes: int, heights: Any = None) -> Any:
    """(n, n_classes) each row's height in the column of its code; sparse where there are many columns."""
    n = len(codes)
    values = np.ones(n) if heights is None else np.asarray(heights, dtype=np.float64)
    if n_classes <= _MOST_DENSE:
        dense = np.zeros((n, n_classes))
        dense[np.arange(n), codes] = values
        return dense
    return sp.csr_array((values, (np.arange(n), codes)), shape=(n, n_classes))


def side_by_side(blocks: Sequence[Any]) -> Any:
    """Columns of all blocks, sparse if one of them is."""
    is_any_sparse = any(is_sparse(block) for block in blocks)
    return sp.hstack(blocks, format="csr") if is_any_sparse else np.hstack(blocks)


def _with_ones(values: FloatArray) -> FloatArray:
    return np.column_stack([np.ones(len(values)), values])


def _mean(S: FloatArray) -> FloatArray:
    return _ratio(S[:, 1], S[:, 0])


def _mean_interval(
    parts: Callable[[Any], FloatArray], most: Callable[[Any], float] = lambda _: np.inf
) -> Callable[..., Interval]:
    """Of the mean of the second column, of which no row can be above ``most``."""

    def interval(p: Predictions, confidence: float, _: np.random.Generator) -> Interval:
        ends = mean_ends(parts(p)[:, 1], p.weights, confidence, most=most(p))
        return Interval(*ends, confidence, "Hall's t")

    return interval


def _ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """top / bottom, and 0 where the bottom is."""
    return np.divide(top, bottom, out=np.zeros_like(top), where=_is_there(bottom))


def _is_there(sums: FloatArray) -> NDArray[np.bool_]:
    """Which sums are more than what rounding leaves of 0, in whatever unit the weights are."""
    return np.asarray(sums > 1e-12 * np.max(sums, initial=0.0))


def _confused(p: Classified) -> Any:
    """Rows of each class, rows called so, and rows of both: (n, 3K)."""
    K = len(p.classes)
    return side_by_side([_one_hot(p.truth, K), _one_hot(p.predicted, K), _one_hot(p.truth, K, p.is_right)])


def _thirds(S: FloatArray) -> list[FloatArray]:
    return np.split(S, 3, axis=1)


def _over_classes(values: FloatArray, is_present: NDArray[np.bool_]) -> FloatArray:
    """The mean over the classes that are there."""
    return _ratio((values * is_present).sum(axis=1), is_present.sum(axis=1).astype(np.float64))


def balanced_accuracy(S: FloatArray) -> FloatArray:
    """The mean recall of the classes that occur."""
    true, _, both = _thirds(S)
    return _over_classes(_ratio(both, true), _is_there(true))


def precision_macro(S: FloatArray) -> FloatArray:
    """The mean precision of the classes that occur or are predicted."""
    true, said, both = _thirds(S)
    return _over_classes(_ratio(both, said), _is_there(true + said))


def recall_macro(S: FloatArray) -> FloatArray:
    """The mean recall of the classes that occur or are predicted."""
    true, said, both = _thirds(S)
    return _over_classes(_ratio(both, true), _is_there(true + said))


def f1_macro(S: FloatArray) -> FloatArray:
    """The mean F1 of the classes that occur or are predicted."""
    true, said, both = _thirds(S)
    return _over_classes(_ratio(2 * both, true + said), _is_there(true + said))


def mcc(S: FloatArray) -> FloatArray:
    """Matthews' correlation, for any number of classes (Gorodkin 2004)."""
    true, said, both = _thirds(S)
    total = true.sum(axis=1)
    top = both.sum(axis=1) * total - (true * said).sum(axis=1)
    square = (total**2 - (true**2).sum(axis=1)) * (total**2 - (said**2).sum(axis=1))
    return _ratio(top, np.sqrt(np.maximum(square, 0.0)))


def _log_losses(p: Classified) -> FloatArray:
    P = cast(FloatArray, p.probabilities)
    # As scikit-learn has it: rows add up to 1, and an impossible event costs 36 nats, not infinity.
    P = np.clip(P, np.finfo(P.dtype).eps, 1 - np.finfo(P.dtype).eps)
    return _with_ones(-np.log(P[np.arange(len(P)), p.truth]))


def _brier(p: Classified) -> FloatArray:
    P = cast(FloatArray, p.probabilities)
    squares = ((P - np.eye(len(p.classes))[p.truth]) ** 2).sum(axis=1)
    return _with_ones(0.5 * squares if len(p.classes) == 2 else squares)


def confidence_bins(p: Classified, n_bins: int) -> tuple[FloatArray, Any, Any]:
    """Confidence in the predicted class, whether it was right, and the bin: of rows of equal weight."""
    P = cast(FloatArray, p.probabilities)
    confidence = P[np.arange(len(P)), p.predicted]
    edges = p.weights.quantiles(confidence, np.linspace(0, 1, n_bins + 1)[1:-1])
    return confidence, p.is_right, np.searchsorted(np.unique(edges), confidence, side="right")


def filled_bins(p: Classified, n_bins: int) -> Bins:
    """The bins that hold rows."""
    confidence, is_right, bins = confidence_bins(p, n_bins)
    s = p.weights.s
    weight, confident, right, variance = (
        np.bincount(bins, weights=w, minlength=n_bins)
        for w in (s, s * confidence, s * is_right, p.weights.variances())
    )
    kept = weight > 0
    weight, variance = weight[kept], variance[kept]
    return Bins(weight / weight.sum(), confident[kept] / weight, right[kept] / weight, weight**2 / variance)


def calibration_error(n_bins: int = 10) -> Metric:
    """The expected calibration error by so many bins."""

    def parts(p: Classified) -> Any:
        confidence, is_right, bins = confidence_bins(p, n_bins)
        gaps = _one_hot(bins, n_bins, confidence - is_right)
        return side_by_side([np.ones((len(bins), 1)), gaps])

    def statistic(S: FloatArray) -> FloatArray:
        return np.asarray(np.abs(S[:, 1:]).sum(axis=1) / S[:, 0])

    def value(p: Classified) -> float:
        confidence, is_right, bins = confidence_bins(p, n_bins)
        gaps = np.bincount(bins, weights=p.weights.s * (confidence - is_right))
        return float(np.abs(gaps).sum() / p.weights.s.sum())

    def interval(p: Classified, level: float, rng: np.random.Generator) -> Interval:
        return Interval(*gap_sum_ends(filled_bins(p, n_bins), level, rng), level, "bins drawn anew")

    return Metric(
        *("calibration_error", "calibration error", "classification", False, "probabilities"),
        function=value,
        parts=parts,
        statistic=statistic,
        interval=interval,
    )


def roc_area(p: Classified) -> Area:
    """Of two classes the second against the first; of more, the mean of each against the rest."""
    ranks = cast(FloatArray, p.scores if p.probabilities is None else p.probabilities)
    if len(p.classes) == 2:
        return binary_area(ranks if ranks.ndim == 1 else ranks[:, 1], p.truth == 1, p.weights)
    return macro_area(ranks, p.truth, p.weights)


# ---- regression -----------------------------------------------------------------------------------


def _errors(power: Callable[[FloatArray], FloatArray]) -> Callable[[Measured], FloatArray]:
    return lambda p: _with_ones(power(p.predicted - p.truth))


def _r2_parts(p: Measured) -> FloatArray:
    centred = p.truth - np.average(p.truth, weights=p.weights.s)
    return np.column_stack([np.ones(len(centred)), centred, centred**2, (p.predicted - p.truth) ** 2])


def _r2(S: FloatArray) -> FloatArray:
    total = S[:, 2] - S[:, 1] ** 2 / S[:, 0]
    return 1 - np.divide(S[:, 3], total, out=np.full(len(S), np.nan), where=total > 0)


def _r2_interval(p: Measured, confidence: float, _: np.random.Generator) -> Interval:
    """1 less the ends of mean squared error / variance."""
    parts = _r2_parts(p)
    low, high = ratio_ends(parts[:, 3], parts[:, 2], p.weights, confidence)
    return Interval(1 - high, 1 - low, confidence, "Hall's t, of a ratio")


def _rmse_interval(p: Measured, confidence: float, rng: np.random.Generator) -> Interval:
    """The roots of the ends of the mean squared error."""
    squared = _mean_interval(_errors(np.square))(p, confidence, rng)
    low, high = np.sqrt(np.maximum([squared.low, squared.high], 0.0)).tolist()
    return Interval(low, high, confidence, squared.method)


def _relative(p: Measured) -> FloatArray:
    # The smallest denominator is scikit-learn's, for y = 0.
    size = np.maximum(np.abs(p.truth), np.finfo(np.float64).eps)
    return _with_ones(np.abs(p.predicted - p.truth) / size)


def _median(p: Measured) -> float:
    from sklearn.metrics import median_absolute_error

    return float(median_absolute_error(p.truth, p.predicted, sample_weight=_own(p)))


def _own(p: Predictions) -> FloatArray | None:
    return None if p.weights.kind == "none" else p.weights.s


def _spearman(p: Measured) -> Correlation:
    return rank_correlation(p.truth, p.predicted, p.weights)


# ---- the table ------------------------------------------------------------------------------------

_C, _R, _POSITIVE = "classification", "regression", (0.0, np.inf)


def _mean_metric(name: str, title: str, parts: Callable[[Measured], FloatArray]) -> Metric:
    return Metric(
        *(name, title, _R, False),
        parts=parts,
        statistic=_mean,
        interval=_mean_interval(parts),
        bounds=_POSITIVE,
    )


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            *("accuracy", "accuracy", _C),
            parts=lambda p: _with_ones(p.is_right.astype(np.float64)),
            statistic=_mean,
        ),
        Metric("balanced_accuracy", "balanced accuracy", _C, parts=_confused, statistic=balanced_accuracy),
        Metric("precision_macro", "precision (macro)", _C, parts=_confused, statistic=precision_macro),
        Metric("recall_macro", "recall (macro)", _C, parts=_confused, statistic=recall_macro),
        Metric("f1_macro", "F1 (macro)", _C, parts=_confused, statistic=f1_macro),
        Metric("mcc", "Matthews correlation", _C, parts=_confused, statistic=mcc, bounds=(-1.0, 1.0)),
        Metric("roc_auc", "ROC AUC", _C, needs="ranks", linear=roc_area),
        Metric(
            *("log_loss", "log loss", _C, False, "probabilities"),
            parts=_log_losses,
            statistic=_mean,
            interval=_mean_interval(_log_losses),
            bounds=_POSITIVE,
        ),
        Metric(
            *("brier", "Brier score", _C, False, "probabilities"),
            parts=_brier,
            statistic=_mean,
            interval=_mean_interval(_brier, most=lambda p: 1.0 if len(p.classes) == 2 else 2.0),
            bounds=(0.0, 2.0),
        ),
        calibration_error(),
        Metric(
            *("r2", "R²", _R),
            parts=_r2_parts,
            statistic=_r2,
            interval=_r2_interval,
            bounds=(-np.inf, 1.0),
        ),
        _mean_metric("mse", "mean squared error", _errors(np.square)),
        Metric(
            *("rmse", "root mean squared error", _R, False),
            parts=_errors(np.square),
            statistic=lambda S: np.sqrt(_mean(S)),
            interval=_rmse_interval,
            bounds=_POSITIVE,
        ),
        _mean_metric("mae", "mean absolute error", _errors(np.abs)),
        Metric(
            *("median_absolute_error", "median absolute error", _R, False),
            function=_median,
            bounds=_POSITIVE,
        ),
        Metric(
            *("mean_error", "mean error (bias)", _R, None),
            parts=_errors(np.positive),
            statistic=_mean,
            interval=_mean_interval(_errors(np.positive)),
            bounds=(-np.inf, np.inf),
        ),
        _mean_metric("mape", "mean absolute error, relative", _relative),
        Metric("spearman", "Spearman correlation", _R, linear=_spearman, bounds=(-1.0, 1.0)),
    )
}


def named_metric(metric: Any, task: str) -> Metric:
    """A metric by its name, or a function of (y_true, y_pred) whose larger values are better."""
    if metric is None:
        metric = "accuracy" if task == _C else "r2"
    if isinstance(metric, Metric):
        return metric
    if callable(metric):
        return _custom(metric, task)
    known = [name for name, entry in METRICS.items() if entry.greater_is_better is not None]
    if not isinstance(metric, str) or metric not in known:
        raise ParameterError(
            f"metric must be a function of (y_true, y_pred) or one of {', '.join(known)}, got {metric!r}."
        )
    if METRICS[metric].task != task:
        raise ParameterError(f"metric {metric!r} is for {METRICS[metric].task}, but the models do {task}.")
    return METRICS[metric]


def _custom(function: Callable[..., float], task: str) -> Metric:
    if not takes_arguments(function, 2):
        raise ParameterError(f"metric must be a function of (y_true, y_pred), which {function!r} is not.")
    name, hears_weights = getattr(function, "__name__", "metric"), takes_weights(function)

    def value(p: Predictions) -> float:
        pair = (p.truth, p.predicted)
        if isinstance(p, Classified):
            pair = (p.classes[p.truth], p.classes[p.predicted])
        own = _own(p)
        if own is None or not hears_weights:
            if own is not None and np.ptp(own) > 0:
                raise ParameterError(
                    f"rows have weights, but metric {name!r} has no argument sample_weight. Give it one, or "
                    "leave the weights out."
                )
            return float(function(*pair))
        return float(function(*pair, sample_weight=own))

    return Metric(name, name.replace("_", " "), task, function=value, bounds=(-np.inf, np.inf))
