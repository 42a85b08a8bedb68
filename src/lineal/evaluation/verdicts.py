"""From p-values to sentences."""

from __future__ import annotations

import numpy as np

from lineal.evaluation.comparison import Pair
from lineal.evaluation.metrics import Metric
from lineal.evaluation.records import Score, Significance
from lineal.evaluation.wording import brief, p_text
from lineal.objective.losses import FloatArray

Tests = dict[tuple[str, str], Significance]


def outcome(
    metric: Metric,
    scores: dict[str, Score],
    tests: Tests,
    where: str,
    confidence: float,
    is_corrected: bool = False,
) -> tuple[str, bool, dict[str, Score], tuple[Pair, ...], float, str]:
    """Metric, direction, scores, pairs with verdicts, confidence and correction."""
    p = np.array([test.p_value for test in tests.values()])
    corrected = p if is_corrected or len(p) < 2 else _corrected(p)
    pairs = tuple(
        Pair(a, b, test, float(q), *_verdict(metric, scores, a, b, test, float(q), where, 1 - confidence))
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
) -> tuple[str, str | None]:
    """The sentence, and who is better."""
    between = "" if test.interval is None else f", difference {test.interval}"
    # Told apart at level α means p < α; rounding of 1 - confidence must not decide.
    if p > level + 1e-12:
        return f"{a} and {b} cannot be told apart {where}: {p_text(p)}{between}.", None
    best, other = (a, b) if _is_first_better(metric, test, scores[a].value - scores[b].value) else (b, a)
    values = f"{metric.title} {brief(scores[best].value)} against {brief(scores[other].value)}"
    return f"{best} is better than {other} {where}: {values}, {p_text(p)}{between}.", best


def _is_first_better(metric: Metric, test: Significance, apart: float) -> bool:
    """By what was tested: ranks may favour one of two models, and the mean of their scores the other."""
    if test.statistic_name == "ranks apart":
        return test.statistic < 0
    if test.effect_name == "rank correlation":
        apart = test.effect or 0.0
    return (apart > 0) == bool(metric.greater_is_better)
