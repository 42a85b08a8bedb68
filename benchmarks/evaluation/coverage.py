"""How often intervals hold the true value, which a very large sample tells."""

from __future__ import annotations

from typing import Any

import numpy as np

from lineal.evaluation import Evaluation, evaluate_predictions, evaluate_ranking

N_LARGE = 1_000_000
N_RESAMPLES = 999


def coverages(n: int, rng: np.random.Generator) -> list[dict]:
    """Every score in every situation, n times each."""
    found = []
    for situation, draw, judge, size in (
        ("2 classes, 100 rows", two_classes, classes, 100),
        ("2 classes, 1,000 rows", two_classes, classes, 1000),
        ("4 uneven classes, 300 rows", four_classes, classes, 300),
        ("2 classes, 99 % right, 200 rows", nearly_right, classes, 200),
        ("calibrated, 500 rows", calibrated, classes, 500),
        ("normal errors, 100 rows", normal_errors, regression, 100),
        ("normal errors, 1,000 rows", normal_errors, regression, 1000),
        ("skewed errors, 1,000 rows", skewed_errors, regression, 1000),
        ("rankings, 100 queries", queries, ranking, 100),
    ):
        truth = true_values(draw, judge)
        held: dict[str, int] = {}
        for _ in range(n):
            once = judge(*draw(size, rng), n_resamples=N_RESAMPLES, random_state=rng)
            for name in once:
                held[name] = held.get(name, 0) + int(truth[name] in once[name].interval)
        for name, times in held.items():
            if name.endswith("_micro"):
                continue
            how = once[name].interval.method.partition(" (")[0]
            found.append({"score": name, "interval": how, "situation": situation, "n": n, "held": times})
        print(situation, {name: round(times / n, 3) for name, times in held.items()}, flush=True)
    return found


def by_rows(n: int, rng: np.random.Generator) -> list[dict]:
    """The scores that hang on few rows, in samples of 100 to 5,000 rows, n times each."""
    found = []
    for situation, draw, judge, names in (
        ("99 % right", nearly_right, classes, ("log_loss", "brier")),
        ("skewed errors", skewed_errors, regression, ("r2", "mse", "mae")),
    ):
        truth = true_values(draw, judge)
        for size in (100, 200, 500, 1000, 5000):
            once = [judge(*draw(size, rng), n_resamples=10, random_state=rng) for _ in range(n)]
            for name in names:
                ends = np.array([(scores[name].low, scores[name].high) for scores in once])
                entry = {"score": name, "situation": situation, "rows": size, "n": n}
                entry["below"] = int((truth[name] < ends[:, 0]).sum())
                entry["above"] = int((truth[name] > ends[:, 1]).sum())
                entry["median_width"] = float(np.median(ends[:, 1] - ends[:, 0]))
                found.append(entry)
                print(entry, flush=True)
    return found


def true_values(draw: Any, judge: Any) -> dict[str, float]:
    """What a very large sample says, but for the calibration error 0, to which noise adds even there."""
    large = judge(*draw(N_LARGE, np.random.default_rng(99)), n_resamples=10)
    values = {name: large[name].value for name in large}
    return values | ({"calibration_error": 0.0} if draw is calibrated else {})


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
