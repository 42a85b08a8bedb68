"""False alarms of every test, under a null hypothesis that is true by construction."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from lineal.evaluation import (
    bootstrap_test,
    corrected_resampled_t_test,
    delong_test,
    friedman,
    holm,
    mcnemar,
    nemenyi,
    paired_t_test,
    permutation_test,
    sign_test,
    t_test,
    wilcoxon,
)

LEVEL = 0.05
N_DRAWS = 399  # resamples and permutations of one test: p is a multiple of 1/400


def levels(n: int, rng: np.random.Generator) -> list[dict]:
    """Every test, n times each."""
    found = []

    def note(test: str, situation: str, p_of: Callable[[], float]) -> None:
        alarms = sum(p_of() <= LEVEL for _ in range(n))
        found.append({"test": test, "situation": situation, "n": n, "alarms": int(alarms)})
        print(f"{test}, {situation}: {alarms / n:.4f}", flush=True)

    samples(note, rng)
    rows(note, rng)
    found += folds(n, rng)
    several(note, rng)
    return found


def samples(note: Callable, rng: np.random.Generator) -> None:
    """Tests of numbers, by normal ones."""
    note("t-test", "2 × 10 runs", lambda: t_test(*rng.normal(size=(2, 10))).p_value)
    welch = lambda: t_test(rng.normal(size=10), 3 * rng.normal(size=20), equal_variances=False)  # noqa: E731
    note("Welch's t-test", "10 and 20 runs, deviations 1 and 3", lambda: welch().p_value)
    note("paired t-test", "10 independent pairs", lambda: paired_t_test(*rng.normal(size=(2, 10))).p_value)
    note("Wilcoxon", "12 data sets", lambda: wilcoxon(*rng.normal(size=(2, 12))).p_value)
    note("sign test", "12 data sets", lambda: sign_test(*rng.normal(size=(2, 12))).p_value)


def rows(note: Callable, rng: np.random.Generator) -> None:
    """Tests on the same held-out rows."""

    def right(n: int) -> np.ndarray:
        """Which rows two models of accuracy 0.85 have right; they share most errors."""
        hard = rng.random(n) < 0.2
        return np.where(hard, rng.random((2, n)) < 0.25, True)

    for n in (50, 200, 1000):
        note("McNemar, mid-p", f"{n} rows", lambda n=n: mcnemar(*right(n)).p_value)
        note("McNemar, exact", f"{n} rows", lambda n=n: mcnemar(*right(n), method="exact").p_value)

    def skewed(n: int) -> np.ndarray:
        """Losses of two models: skewed, correlated, of one distribution."""
        return rng.exponential(size=n) * rng.exponential(size=(2, n))

    for n in (20, 50, 100, 200):
        note(
            *("permutation", f"{n} rows, skewed losses"),
            lambda n=n: permutation_test(*skewed(n), n_permutations=N_DRAWS, random_state=rng).p_value,
        )
    for n in (20, 50, 100, 200):
        note(
            *("paired bootstrap", f"{n} rows, normal losses"),
            lambda n=n: (
                bootstrap_test(*rng.normal(size=(2, n)), n_resamples=N_DRAWS, random_state=rng).p_value
            ),
        )

    def areas(n: int) -> float:
        y = np.arange(n) % 2
        common = rng.normal(size=n)
        return delong_test(y, *(y + common + rng.normal(size=(2, n)))).p_value

    for n in (50, 100, 300):
        note("DeLong", f"{n} rows, AUC 0.76", lambda n=n: areas(n))


def folds(n: int, rng: np.random.Generator) -> list[dict]:
    """The t-tests on cross-validated accuracies, corrected and not.

    Two nearest-mean classifiers, each on one of two columns that are equally informative: a data set of 100
    rows favours one of them by chance, their expected accuracies are the same.
    """
    found = []
    for title, splitter, n_test in (
        ("10-fold cross-validation", ten_folds, 10),
        ("10-fold cross-validation, 5 times", lambda rng: np.vstack([ten_folds(rng) for _ in range(5)]), 10),
        ("30 random splits 90 : 10", thirty_splits, 10),
    ):
        naive = corrected = 0
        for _ in range(n):
            y = np.arange(100) % 2
            X = 0.8 * y[:, None] + rng.normal(size=(100, 2))
            scores = nearest_means(X, y, splitter(rng))
            naive += paired_t_test(*scores.T).p_value <= LEVEL
            corrected += (
                corrected_resampled_t_test(*scores.T, n_train=100 - n_test, n_test=n_test).p_value <= LEVEL
            )
        for test, alarms in (("paired t-test, naive", naive), ("corrected resampled t", corrected)):
            found.append({"test": test, "situation": title, "n": n, "alarms": int(alarms)})
            print(f"{test}, {title}: {alarms / n:.4f}", flush=True)
    return found


def ten_folds(rng: np.random.Generator) -> np.ndarray:
    """(10, 100) which rows are tested on; five of each class in each fold."""
    tested = np.zeros((10, 100), dtype=bool)
    for k in range(2):
        fold = rng.permutation(np.repeat(np.arange(10), 5))
        tested[fold, np.arange(k, 100, 2)] = True
    return tested


def thirty_splits(rng: np.random.Generator) -> np.ndarray:
    """(30, 100) the same for random splits."""
    tested = np.zeros((30, 100), dtype=bool)
    for row in tested:
        for k in range(2):
            row[rng.choice(np.arange(k, 100, 2), size=5, replace=False)] = True
    return tested


def nearest_means(X: np.ndarray, y: np.ndarray, tested: np.ndarray) -> np.ndarray:
    """(J, 2) accuracies of the nearest mean on each column alone."""
    train = (~tested).astype(float)
    means = [(train * (y == k)) @ X / (train * (y == k)).sum(axis=1, keepdims=True) for k in (0, 1)]
    middle, sign = (means[0] + means[1]) / 2, np.sign(means[1] - means[0])
    said = (X[None] - middle[:, None]) * sign[:, None] > 0
    is_right = said == (y == 1)[None, :, None]
    return (is_right * tested[:, :, None]).sum(axis=1) / tested.sum(axis=1, keepdims=True)


def several(note: Callable, rng: np.random.Generator) -> None:
    """Several models at once: the chance of any false alarm."""

    def table() -> np.ndarray:
        return rng.normal(size=(12, 4)) + rng.normal(size=(12, 1))

    note("Friedman, F", "4 models, 12 data sets", lambda: friedman(table()).p_value)
    note("Friedman, chi²", "4 models, 12 data sets", lambda: friedman(table()).chi_squared_p)
    # The critical difference depends on the numbers of models and data sets alone.
    limit = nemenyi(table()).critical_difference
    note(
        *("Nemenyi, any pair", "4 models, 12 data sets"),
        lambda: 0.0 if np.ptp(friedman(table()).mean_ranks) > limit else 1.0,
    )

    def any_of_six(correct: Callable) -> float:
        scores = table()
        p = [paired_t_test(scores[:, i], scores[:, j]).p_value for i, j in combinations(range(4), 2)]
        return float(np.min(correct(p)))

    note("6 paired t-tests, any", "4 models", lambda: any_of_six(np.array))
    note("the same with Holm", "4 models", lambda: any_of_six(holm))
