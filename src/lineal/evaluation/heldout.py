"""Models on the same held-out rows: the paired test that suits the metric and the number of rows.

Accuracy has McNemar's test. The area under the ROC curve has DeLong's, and the rank correlation its like.
The rest have the paired bootstrap; below 100 rows, where the bootstrap finds too much, everything but
accuracy has a permutation test, in which a row's outputs are swapped between two models by lot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from lineal.deferred import is_sparse
from lineal.errors import ParameterError
from lineal.evaluation.distributions import ranks as ranks_of
from lineal.evaluation.influence import difference_test
from lineal.evaluation.lots import as_far, bootstrap_p, swapped_sums
from lineal.evaluation.metrics import Metric, side_by_side
from lineal.evaluation.pairs import mcnemar
from lineal.evaluation.predictions import Classified, Predictions
from lineal.evaluation.records import Interval, Significance
from lineal.evaluation.resampled_scores import called_on_resamples
from lineal.evaluation.resampling import Resampled, percentile_ends, resample
from lineal.evaluation.wording import counted
from lineal.objective.losses import FloatArray

FEW = 100  # rows below which the bootstrap's level is off
_CALLS = 2000  # permutations, where each is two calls of the metric
TESTS = ("auto", "mcnemar", "bootstrap", "permutation", "delong")


def choose(test: str, metric: Metric, predictions: Predictions) -> str:
    """The kind of test, from what was asked for or from the metric and the rows."""
    is_weighted = not predictions.weights.are_rows
    if test == "auto":
        if metric.name == "accuracy" and not is_weighted:
            return "mcnemar"
        if predictions.weights.size() < FEW:
            return "permutation"
        return "linear" if metric.linear is not None else "bootstrap"
    if test == "mcnemar" and (metric.name != "accuracy" or is_weighted):
        raise ParameterError(
            "test='mcnemar' is for metric='accuracy', and takes no weights but numbers of rows. Use "
            "test='auto'."
        )
    if test == "delong" and metric.linear is None:
        raise ParameterError(f"test='delong' is for metric='roc_auc', not {metric.name!r}. Use test='auto'.")
    return "linear" if test == "delong" else test


class PairedRows:
    """Predictions of several models for the same rows; resampled once for all pairs."""

    def __init__(
        self,
        metric: Metric,
        predictions: Sequence[Predictions],
        kind: str,
        *,
        confidence: float,
        n_resamples: int,
        rng: np.random.Generator,
    ) -> None:
        self.metric, self.predictions, self.kind = metric, list(predictions), kind
        self.confidence, self.n_resamples, self.rng = confidence, n_resamples, rng
        self.parts: list[Any] = []
        self.draws: FloatArray | None = None
        self.found: Resampled | None = None
        if kind in ("mcnemar", "linear"):
            return
        if metric.parts is not None:
            self.parts = [metric.parts(p) for p in self.predictions]
            self.found = resample(side_by_side(self.parts), self.predictions[0].weights, n_resamples, rng)
        elif metric.linear is None or kind == "bootstrap":
            self.draws = called_on_resamples(metric, self.predictions, n_resamples, rng)

    def test(self, i: int, j: int) -> Significance:
        """Model i against model j."""
        a, b = self.predictions[i], self.predictions[j]
        on = f"on {counted(len(a.truth), 'row')}"
        if self.kind == "mcnemar":
            first, second = cast(Classified, a), cast(Classified, b)
            times = first.weights.s.astype(np.int64)
            pair = (np.repeat(p.is_right, times) for p in (first, second))
            return mcnemar(*pair, confidence=self.confidence)
        if self.metric.linear is not None and self.kind != "bootstrap":
            name = "DeLong's test" if self.metric.name == "roc_auc" else "normal test"
            found = difference_test(
                self.metric.linear(a), self.metric.linear(b), self.confidence, f"{name} {on}"
            )
            return found if self.kind == "linear" else self._permuted(i, j, found)
        difference, draws, interval = self._resampled(i, j)
        # One row's deviation is that of the metric times the root of their number.
        spread = float(np.nanstd(draws)) * np.sqrt(len(a.truth))
        found = Significance(
            *(f"paired bootstrap {on}", difference, bootstrap_p(draws, difference), "d"),
            difference=difference,
            interval=interval,
            effect=difference / spread if spread > 0 else None,
            effect_name="Cohen's d",
        )
        return self._permuted(i, j, found) if self.kind == "permutation" else found

    def _resampled(self, i: int, j: int) -> tuple[float, FloatArray, Interval]:
        """The difference, its resamples and its interval."""
        if self.found is None:
            assert self.draws is not None
            difference = self.metric.value(self.predictions[i]) - self.metric.value(self.predictions[j])
            draws = self.draws[:, i] - self.draws[:, j]
            ends = percentile_ends(draws, self.confidence)
            return difference, draws, Interval(*ends, self.confidence, "bootstrap (percentile)")
        widths = np.cumsum([0, *(part.shape[1] for part in self.parts)])
        first, second = (np.arange(widths[k], widths[k + 1]) for k in (i, j))
        columns, split = np.concatenate([first, second]), len(first)
        own = Resampled(self.found.sums[columns], self.found.draws[:, columns], self.found.units[:, columns])
        statistic = self.metric.sums()[1]

        def apart(S: FloatArray) -> FloatArray:
            return statistic(S[:, :split]) - statistic(S[:, split:])

        difference = float(apart(own.sums[None])[0])
        return difference, apart(own.draws), own.interval(apart, self.confidence)

    def _permuted(self, i: int, j: int, found: Significance) -> Significance:
        """The p of swapping the outputs of the two, row by row, by lot; the rest as it was found."""
        difference = cast(float, found.difference)
        # The bins of a calibration error are the model's own, so it is computed anew after each swap.
        is_summed = bool(self.parts) and self.metric.name != "calibration_error"
        draws = self._swapped_parts(i, j) if is_summed else self._swapped_outputs(i, j)
        p = float((1 + np.sum(as_far(draws, difference))) / (1 + len(draws)))
        test = f"permutation test on {counted(len(self.predictions[i].truth), 'row')}"
        return replace(found, test=test, statistic=difference, statistic_name="d", p_value=p)

    def _swapped_parts(self, i: int, j: int) -> FloatArray:
        weights, statistic = self.predictions[i].weights, self.metric.sums()[1]
        parts = self.parts[i], self.parts[j]
        middle = 0.5 * np.ravel((parts[0] + parts[1]).T @ weights.s)
        # Rows that count for w are w swaps of their own, which add up to one of sqrt(w).
        unit = np.sqrt(weights.variances())[:, None]
        half = 0.5 * (parts[0] - parts[1])
        half = half.multiply(unit).tocsr() if is_sparse(half) else half * unit
        moved = swapped_sums(half, self.n_resamples, self.rng)
        return np.asarray(statistic(middle + moved) - statistic(middle - moved))

    def _swapped_outputs(self, i: int, j: int) -> FloatArray:
        a, b = (_on_one_scale(self.predictions[k], self.metric) for k in (i, j))
        draws = np.empty(min(self.n_resamples, _CALLS))
        for k in range(len(draws)):
            swap = self.rng.random(len(a.truth)) < 0.5
            draws[k] = self.metric.value(_mixed(a, b, swap)) - self.metric.value(_mixed(b, a, swap))
        return draws


def _on_one_scale(p: Predictions, metric: Metric) -> Predictions:
    """What ranks rows as ranks, so that two models' scores can be swapped."""
    if not isinstance(p, Classified) or metric.needs != "ranks":
        return p
    values = cast(FloatArray, p.scores if p.probabilities is None else p.probabilities)
    values = values[:, 1] if values.ndim == 2 and len(p.classes) == 2 else values
    return replace(p, scores=ranks_of(values), probabilities=None)


def _mixed(a: Predictions, b: Predictions, swap: Any) -> Predictions:
    """The outputs of a, with those of b in some rows."""

    def chosen(first: Any, second: Any) -> Any:
        if first is None or second is None:
            return None
        return np.where(swap if first.ndim == 1 else swap[:, None], second, first)

    if isinstance(a, Classified) and isinstance(b, Classified):
        return replace(
            a,
            predicted=chosen(a.predicted, b.predicted),
            probabilities=chosen(a.probabilities, b.probabilities),
            scores=chosen(a.scores, b.scores),
        )
    return replace(a, predicted=chosen(a.predicted, b.predicted))
