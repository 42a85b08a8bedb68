"""What is true of searches: the best of many is too good, halving keeps what is best, intervals are t's."""

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin

from contract.members import features, labels
from lineal import SVC, Lasso, LinearClassifier, LinearSVC, LogisticRegression, Ridge, tune
from lineal.objective import L1, L2
from lineal.selection import Trial, libsvm_grid, strengths
from lineal.selection.search.halving import n_rungs_of


class OneColumn(ClassifierMixin, BaseEstimator):
    """The sign of one column; there is nothing to learn but which."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.n_rows_ = len(y)
        return self

    def predict(self, X):
        return (X[:, self.column] > 0).astype(int)

    def score(self, X, y):
        return float(np.mean(self.predict(X) == y))


def test_the_best_of_many_is_optimistic_and_outer_folds_are_not():
    """On pure noise the best trial looks better than chance; the nested score does not."""
    optimism, honest = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 30)), rng.integers(0, 2, size=60)
        found = tune(OneColumn(), X, y, {"column": list(range(30))}, cv=2, outer=3, random_state=seed)
        assert found.is_honest
        assert found.score == np.mean([fold.score for fold in found.outer])
        optimism.append(found.best.mean)
        honest.append(found.score)
    # 30 columns of 60 coin tosses: the best agrees with y in about 63 % of the rows.
    assert min(optimism) > 0.55
    assert abs(np.mean(honest) - 0.5) < 4 * stats.sem(honest)
    assert np.mean(optimism) - np.mean(honest) > 0.08


def test_without_outer_folds_the_score_says_that_it_is_optimistic():
    """The record names what its score is, and the outer one has its own interval."""
    X = features(60)
    y = labels(X)
    plain = tune(LogisticRegression(), X, y, {"C": [0.1, 1.0]}, cv=3)
    nested = tune(LogisticRegression(), X, y, {"C": [0.1, 1.0]}, cv=3, outer=4)
    assert not plain.is_honest
    assert "optimistic, since it is the best of 2 trials" in str(plain)
    assert (plain.score, plain.interval) == (plain.best.mean, plain.best.interval)
    assert "honest, from 4 outer folds" in str(nested)
    assert "optimistic" not in str(nested)
    assert nested.params == plain.params


def test_outer_folds_play_no_part():
    """An outer score is that of a search on the other rows alone, refitted to them."""
    X = features(90)
    y = labels(X)
    from sklearn.model_selection import StratifiedKFold

    outer = StratifiedKFold(3)
    space = {"C": [0.01, 1.0, 100.0]}
    found = tune(LogisticRegression(), X, y, space, cv=3, outer=outer)
    for fold, (train, test) in zip(found.outer, outer.split(X, y), strict=True):
        alone = tune(LogisticRegression(), X[train], y[train], space, cv=3)
        assert alone.params == fold.params
        assert alone.model.score(X[test], y[test]) == fold.score


@pytest.mark.parametrize("k", [2, 3, 10])
def test_intervals_are_students(k):
    """mean -+ t s / sqrt(k), as SciPy computes it; one fold says nothing."""
    scores = np.random.default_rng(k).normal(size=k)
    low, high = stats.t.interval(0.95, k - 1, loc=scores.mean(), scale=stats.sem(scores))
    assert Trial({}, tuple(scores)).interval == pytest.approx((low, high), rel=1e-9)
    assert Trial({}, (0.5,)).interval == (-math.inf, math.inf)


# ---- halving --------------------------------------------------------------------------------------


class Known(OneColumn):
    """A model that is as good as its parameter says, whatever the rows."""

    def __init__(self, quality=0.0):
        self.quality = quality

    def score(self, X, y):
        return self.quality


@pytest.mark.parametrize("n", [1, 2, 9, 30])
def test_halving_keeps_the_best_of_a_known_ranking(n):
    """Rung by rung ceil(n / 3) stay, the best ones, with three times the rows; the last has all rows."""
    X = features(1000)
    qualities = np.random.default_rng(n).permutation(n).astype(float).tolist()
    found = tune(Known(), X, labels(X), {"quality": qualities}, method="halving", cv=3)
    assert found.params == {"quality": n - 1.0}
    assert found.best.share == 1.0
    n_rungs = n_rungs_of(n, 666, 50)
    left, expected = sorted(qualities), {}
    for rung in range(n_rungs):
        expected |= dict.fromkeys(left, 3.0 ** (-(n_rungs - 1 - rung)))
        left = left[-math.ceil(len(left) / 3) :]
    assert {trial.params["quality"]: trial.share for trial in found.trials} == pytest.approx(expected)


class Watched(LogisticRegression):
    """Keeps what it was fitted with."""

    fits: list = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.fits.append((len(y), np.sum(sample_weight), tuple(np.bincount(y) / len(y))))
        return super().fit(X, y, sample_weight)


def test_parts_of_halving_weigh_as_much_as_the_whole():
    """On a part of the rows weights make up for those left out, so a strength means the same; shares stay."""
    X = features(900)
    y = labels(X, 3)
    Watched.fits.clear()
    tune(Watched(), X, y, {"class_weight": [None, "balanced", {0: 2.0}]}, method="halving", cv=3)
    part = [fit for fit in Watched.fits if fit[0] < 300]
    assert len(part) == 9  # three settings, three folds
    for n, weight, shares in part:
        assert n == 200
        assert weight == pytest.approx(600)
        np.testing.assert_allclose(shares, np.bincount(y) / 900, atol=0.01)


# ---- spaces ---------------------------------------------------------------------------------------


def test_the_grid_of_the_guide():
    """C is 2^-5, 2^-3 ... 2^15 and gamma 2^-15, 2^-13 ... 2^3, exactly; strengths are 1 / C."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    exponents = range(-5, 16, 2)
    assert libsvm_grid(LinearSVC()) == {"C": [2.0**k for k in exponents]}
    assert strengths(LogisticRegression()) == {"C": [2.0**k for k in exponents]}
    assert strengths(LinearClassifier(penalty=L1(3.0)))["penalty"] == [L1(2.0**-k) for k in exponents]
    assert strengths(Ridge()) == {"alpha": [2.0**-k for k in exponents]}
    assert libsvm_grid(Lasso(), n_rows=64) == {"alpha": [2.0**-k / 64 for k in exponents]}
    pipeline = make_pipeline(StandardScaler(), SVC())
    assert libsvm_grid(pipeline) == {
        "svc__C": [2.0**k for k in exponents],
        "svc__gamma": [2.0**k for k in range(-15, 4, 2)],
    }
    assert list(strengths(make_pipeline(StandardScaler(), LinearSVC()))) == ["linearsvc__C"]


def test_without_a_space_the_strength_is_searched():
    """tune(model, X, y) tries the strengths of the model's penalty, each fold along one path."""
    X = features(80)
    found = tune(LinearClassifier(penalty=L2(5.0)), X, labels(X), cv=3)
    assert [trial.params["penalty"].strength for trial in found.trials] == [2.0**-k for k in range(-5, 16, 2)]
    assert all(trial.is_warm for trial in found.trials)


def test_halving_keeps_the_meaning_of_a_strength_for_kernel_machines(monkeypatch):
    """On part of the rows their weights add up to those of all, as for linear learners."""
    seen = []
    fit = SVC.fit

    def watched(self, X, y, sample_weight=None):
        seen.append((len(y), len(y) if sample_weight is None else float(np.sum(sample_weight))))
        return fit(self, X, y, sample_weight=sample_weight)

    watched.__module__ = SVC.fit.__module__
    monkeypatch.setattr(SVC, "fit", watched)
    X = features(600)
    tune(SVC(), X, labels(X, 2), {"C": [0.1, 1.0, 10.0]}, method="halving", cv=2)
    assert min(n for n, _ in seen) == 100
    assert all(weight == pytest.approx(300) for n, weight in seen if n <= 300)
