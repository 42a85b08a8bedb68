"""How often intervals hold the true value, which a very large sample tells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lineal.evaluation import Evaluation, evaluate_predictions, evaluate_ranking
from lineal.evaluation.classification import class_scores
from lineal.evaluation.metrics import METRICS
from lineal.evaluation.predictions import Classified, read_predictions
from lineal.evaluation.records import Score
from lineal.evaluation.regression import number_scores

N_LARGE, N_TRUTHS = 1_000_000, 10
N_RESAMPLES = 999
SLOW = ("calibration_error",)
CHUNK = 250  # samples that one process draws at a time, with a seed of their own


def coverages(n: int, map_chunks: Any, wanted: Sequence[str] = ()) -> list[dict]:
    """Every score in every situation that is wanted by a part of its name, or in all, n times each.

    Scores whose intervals are drawn, and take ten times as long as all others, have half of the samples.
    """
    found = []
    for place, (situation, name, size) in enumerate(SITUATIONS):
        if wanted and not any(words in situation for words in wanted):
            continue
        draw, judge = SOURCES[name]
        truth = true_values(draw, judge)
        quick = () if judge is ranking else tuple(score for score in truth if score not in SLOW)
        counts = _counts(n)
        half = (len(counts) + 1) // 2
        # Chunks of all scores come first, so that more samples do not change those that were drawn.
        chunks = [
            (name, size, count, (1, place, k), () if k < half else quick)
            for k, count in enumerate(counts if quick else counts[:half])
        ]
        ends, methods = _gathered(map_chunks(simulated, chunks))
        now = [
            {"score": score, "interval": methods[score], "situation": situation, "n": len(pairs)}
            | _sides(pairs, truth[score])
            for score, pairs in ends.items()
            if not score.endswith("_micro")
        ]
        found += now
        print(
            situation,
            {e["score"]: (e["n"], e["below"] / e["n"], e["above"] / e["n"]) for e in now},
            flush=True,
        )
    return found


def by_rows(n: int, map_chunks: Any, wanted: Sequence[str] = ()) -> list[dict]:
    """The scores that hang on few rows, in samples of 100 to 5,000 rows, n times each."""
    found = []
    for place, (situation, name, scores) in enumerate(HARD):
        if wanted and not any(words in situation for words in wanted):
            continue
        truth = true_values(*SOURCES[name])
        for size in (100, 200, 500, 1000, 5000):
            chunks = [(name, size, count, (2, place, size, k), scores) for k, count in enumerate(_counts(n))]
            ends, _ = _gathered(map_chunks(simulated, chunks))
            for score in scores:
                pairs = ends[score]
                entry = {"score": score, "situation": situation, "rows": size, "n": n}
                entry |= _sides(pairs, truth[score])
                entry["median_width"] = float(np.median(pairs[:, 1] - pairs[:, 0]))
                found.append(entry)
                print(entry, flush=True)
    return found


def simulated(
    chunk: tuple[str, int, int, tuple[int, ...], tuple[str, ...]],
) -> dict[str, tuple[str, list]]:
    """The method and the ends of the scores that are named, or of every one, in some samples."""
    name, size, count, seed, scores = chunk
    draw, judge = SOURCES[name]
    rng = np.random.default_rng(seed)
    found: dict[str, tuple[str, list]] = {}
    for _ in range(count):
        drawn = draw(size, rng)
        if scores:
            once = named(drawn, scores, rng)
        else:
            once = judge(*drawn, n_resamples=N_RESAMPLES, random_state=rng)
        for score in once:
            method = once[score].interval.method.partition(" (")[0]
            found.setdefault(score, (method, []))[1].append((once[score].low, once[score].high))
    return found


def named(drawn: tuple[Any, ...], scores: tuple[str, ...], rng: np.random.Generator) -> dict[str, Score]:
    """Some scores, as the whole table has them, at a part of its cost."""
    predictions, metrics = read_predictions(*drawn), [METRICS[name] for name in scores]
    if isinstance(predictions, Classified):
        return class_scores(predictions, metrics, 0.95, N_RESAMPLES, rng)
    return number_scores(predictions, metrics, 0.95, N_RESAMPLES, rng)


def _counts(n: int) -> list[int]:
    return [min(CHUNK, n - first) for first in range(0, n, CHUNK)]


def _gathered(chunks: Any) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """(n, 2) ends of each score, and the method of the first of them."""
    chunks = list(chunks)
    ends = {
        score: np.array([p for chunk in chunks if score in chunk for p in chunk[score][1]])
        for score in chunks[0]
    }
    return ends, {score: method for score, (method, _) in chunks[0].items()}


def _sides(pairs: np.ndarray, truth: float) -> dict[str, int]:
    """How often the truth is below the interval, and how often above it."""
    return {"below": int((truth < pairs[:, 0]).sum()), "above": int((truth > pairs[:, 1]).sum())}


def true_values(draw: Any, judge: Any) -> dict[str, float]:
    """What very large samples say, but for the calibration error 0, to which noise adds even there."""
    large = [_values(judge, draw(N_LARGE, np.random.default_rng((99, k)))) for k in range(N_TRUTHS)]
    values = {name: float(np.mean([one[name] for one in large])) for name in large[0]}
    return values | ({"calibration_error": 0.0} if draw is calibrated else {})


def _values(judge: Any, drawn: tuple[Any, ...]) -> dict[str, float]:
    if judge is ranking:
        found = judge(*drawn, n_resamples=10)
        return {name: found[name].value for name in found}
    predictions = read_predictions(*drawn)  # without intervals, which take longest
    return {
        name: metric.value(predictions)
        for name, metric in METRICS.items()
        if metric.missing(predictions) is None
    }


def two_classes(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    """Scores that tell 30 % positives apart with an area of 0.86, and probabilities that are too bold."""
    y = (rng.random(n) < 0.3).astype(int)
    z = 1.5 * y + rng.normal(size=n)
    p = 1 / (1 + np.exp(-(2.0 * z - 3.0)))
    return y, (p > 0.5).astype(int), np.column_stack([1 - p, p])


def four_classes(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    """Classes of 40, 30, 20 and 10 %."""
    y = np.searchsorted([0.4, 0.7, 0.9], rng.random(n))
    Z = rng.normal(size=(n, 4)) + 1.6 * np.eye(4)[y]
    P = np.exp(1.3 * Z)
    P /= P.sum(axis=1, keepdims=True)
    return y, P.argmax(axis=1), P


def nearly_right(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    """One row in a hundred is wrong, so that many samples have no error at all."""
    y = np.arange(n) % 2
    z = (2 * y - 1) * 2.33 + rng.normal(size=n)
    p = 1 / (1 + np.exp(-4.0 * z))
    return y, (p > 0.5).astype(int), np.column_stack([1 - p, p])


def classes(y: Any, said: Any, P: Any, **options: Any) -> Evaluation:
    """The table of a classification."""
    return evaluate_predictions(y, said, probabilities=P, classes=np.arange(P.shape[1]), **options)


def calibrated(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    """Probabilities that are true, so that the true calibration error is 0."""
    p = rng.beta(1, 2, size=n)
    y = (rng.random(n) < p).astype(int)
    return y, (p > 0.5).astype(int), np.column_stack([1 - p, p])


def normal_errors(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    """Numbers around 5, errors of the same size everywhere."""
    y = 5 + rng.normal(size=n)
    return y, y + 0.5 * rng.normal(size=n)


def skewed_errors(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    """Log-normal numbers with errors that grow with them: a few rows hold most of the squared error."""
    y = np.exp(0.6 * rng.normal(size=n))
    return y, y * np.exp(0.3 * rng.normal(size=n))


def regression(y: Any, said: Any, **options: Any) -> Evaluation:
    """The table of a regression."""
    return evaluate_predictions(y, said, **options)


def queries(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    """Ten rows to a query, a quarter of them relevant."""
    n = min(n, 100_000)
    relevance = (rng.random(10 * n) < 0.25).astype(int)
    scores = relevance + rng.normal(size=10 * n)
    return scores, relevance, np.repeat(np.arange(n), 10)


def ranking(scores: Any, relevance: Any, groups: Any, **options: Any) -> Evaluation:
    """The table of a ranking."""
    return evaluate_ranking(scores, relevance, groups, k=5, **options)


SOURCES: dict[str, tuple[Any, Any]] = {
    "two": (two_classes, classes),
    "four": (four_classes, classes),
    "nearly right": (nearly_right, classes),
    "calibrated": (calibrated, classes),
    "normal": (normal_errors, regression),
    "skewed": (skewed_errors, regression),
    "queries": (queries, ranking),
}
SITUATIONS = (
    ("2 classes, 100 rows", "two", 100),
    ("2 classes, 1,000 rows", "two", 1000),
    ("4 uneven classes, 300 rows", "four", 300),
    ("2 classes, 99 % right, 200 rows", "nearly right", 200),
    ("calibrated, 500 rows", "calibrated", 500),
    ("normal errors, 100 rows", "normal", 100),
    ("normal errors, 1,000 rows", "normal", 1000),
    ("skewed errors, 1,000 rows", "skewed", 1000),
    ("rankings, 100 queries", "queries", 100),
)
HARD = (
    ("99 % right", "nearly right", ("log_loss", "brier")),
    ("skewed errors", "skewed", ("r2", "mse", "mae")),
)
