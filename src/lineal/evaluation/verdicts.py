"""From p-values to sentences."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lineal.evaluation.comparison import Pair
from lineal.evaluation.inputs import differences
from lineal.evaluation.metrics import Metric
from lineal.evaluation.records import Score, Significance
from lineal.evaluation.wording import brief, p_text
from lineal.objective.losses import FloatArray

Tests = dict[tuple[str, str], Significance]


@dataclass(frozen=True, eq=False)
class Sets:
    """Scores of models on the same data sets, of which tests look at ranks alone.

    Attributes
    ----------
    names : M names
    runs : (N, M) array
    mean_ranks : (M,) array, or None where signed ranks of two models were tested
    """

    names: list[str]
    runs: FloatArray
    mean_ranks: FloatArray | None = None

    def evidence(self, metric: Metric, test: Significance, best: str, other: str) -> tuple[str, str]:
        """What speaks for the best, and a sentence where the means do not."""
        places = self.names.index(best), self.names.index(other)
        first, second = (self.runs[:, place] for place in places)
        sign = 1 if metric.greater_is_better else -1
        apart = differences(first, second)
        wins = f"{metric.title} better on {int(np.sum(sign * apart > 0))} of them"
        if self.mean_ranks is None:
            median, effect = brief(float(np.median(apart))), brief(abs(test.effect or 0.0))
            told = f"{wins}, median difference {median}, {test.effect_name} {effect}"
        else:
            ranks = " against ".join(f"{self.mean_ranks[place]:.2f}" for place in places)
            told = f"mean ranks {ranks}, {wins}"
        if sign * apart.mean() >= 0:
            return told, ""
        means = f"{brief(float(first.mean()))} against {brief(float(second.mean()))}"
        return told, f" Mean {metric.title} points the other way: {means}."


def outcome(
    metric: Metric,
    scores: dict[str, Score],
    tests: Tests,
    where: str,
    confidence: float,
    is_corrected: bool = False,
    sets: Sets | None = None,
) -> tuple[str, bool, dict[str, Score], tuple[Pair, ...], float, str]:
    """Metric, direction, scores, pairs with verdicts, confidence and correction."""
    p = np.array([test.p_value for test in tests.values()])
    corrected = p if is_corrected or len(p) < 2 else _corrected(p)
    pairs = tuple(
        Pair(
            a, b, test, float(q), *_verdict(metric, scores, a, b, test, float(q), where, 1 - confidence, sets)
        )
        for ((a, b), test), q in zip(tests.items(), corrected, strict=True)
    )
    correction = (
        ""
        if is_corrected or len(p) < 2
        else f"p corrected for {len(p)} pairs (Holm), intervals of each pair alone"
    )
    return metric.name, bool(metric.greater_is_better), scores, pairs, confidence, correction


def _corrected(p: FloatArray) -> FloatArray:
    from lineal.evaluation.several import holm

    return holm(p)


def _verdict(
    metric: Metric,
    scores: dict[str, Score],
    a: str,
    b: str,
    test: Significance,
    p: float,
    where: str,
    level: float,
    sets: Sets | None,
) -> tuple[str, str | None]:
    """The sentence, and who is better."""
    between = "" if test.interval is None else f", difference {test.interval}"
    # Told apart at level α means p < α; rounding of 1 - confidence must not decide.
    if p > level + 1e-12:
        return f"{a} and {b} cannot be told apart {where}: {p_text(p)}{between}.", None
    best, other = (a, b) if _is_first_better(metric, test, scores[a].value - scores[b].value) else (b, a)
    if test.interval is not None and best == b:  # what is said is about the better one less the other
        between = f", difference {replace(test.interval, low=-test.interval.high, high=-test.interval.low)}"
    told, but = f"{metric.title} {brief(scores[best].value)} against {brief(scores[other].value)}", ""
    if sets is not None:
        told, but = sets.evidence(metric, test, best, other)
    return f"{best} is better than {other} {where}: {told}, {p_text(p)}{between}.{but}", best


def _is_first_better(metric: Metric, test: Significance, apart: float) -> bool:
    """By what was tested: ranks may favour one of two models, and the mean of their scores the other."""
    if test.statistic_name == "ranks apart":
        return test.statistic < 0
    if test.effect_name == "rank correlation":
        apart = test.effect or 0.0
    return (apart > 0) == bool(metric.greater_is_better)
