"""Comparisons at their edges: arguments without meaning, matrices and labels of any kind, weights, ranks."""

import time
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

import lineal
from lineal.errors import InputError, ParameterError
from lineal.evaluation import (
    evaluate_predictions,
    friedman,
    nemenyi,
    wilcoxon,
)
from lineal.plot import model_scores

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
TWO = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
CLASSIFIERS = {"full": LogisticRegression(), "mean": DummyClassifier()}


# ---- arguments without meaning --------------------------------------------------------------------

SETS = {"first": (X, TWO), "second": (X[:40], TWO[:40])}


@pytest.mark.parametrize(
    ("where", "extra"),
    [
        ({"X": SETS}, {"sample_weight": np.ones(60)}),
        ({"X": SETS}, {"groups": np.arange(60)}),
        ({"X": SETS}, {"y": TWO}),
        ({"X": SETS}, {"refit": False}),
        ({"X": SETS}, {"test": "mcnemar"}),
        ({"X": X, "y": TWO}, {"test": "mcnemar"}),
        ({"X": X, "y": TWO}, {"sample_weight_test": np.ones(60)}),
        ({"X": X, "y": TWO, "X_test": X, "y_test": TWO}, {"cv": 5}),
        ({"X": X, "y": TWO, "X_test": X, "y_test": TWO}, {"groups": np.arange(60)}),
        ({"X_test": X, "y_test": TWO}, {"sample_weight": np.ones(60)}),
    ],
)
def test_what_would_not_be_looked_at_is_refused(where, extra):
    """An argument that plays no part in a situation is an error, not silence."""
    with pytest.raises(ParameterError, match=f"{next(iter(extra))}= has no meaning with"):
        lineal.compare(CLASSIFIERS, **where, **extra)


@pytest.mark.parametrize("kind", [sp.coo_matrix, sp.dia_array, sp.csc_array, np.asarray])
def test_rows_of_any_matrix_in_folds(kind):
    """Formats whose rows cannot be picked, and y as a column, give the scores of a plain matrix."""
    usual = lineal.compare(CLASSIFIERS, X, TWO, cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = lineal.compare(CLASSIFIERS, kind(X), TWO[:, None], cv=3)
    assert np.array_equal(found.runs, usual.runs)


class Own:
    """A model of no library: least squares, with fit and predict alone."""

    def fit(self, X, y):
        self.w = np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), y, rcond=None)[0]
        return self

    def predict(self, X):
        return (np.column_stack([X, np.ones(len(X))]) @ self.w > 0.5).astype(int)


def test_models_of_no_library():
    """Models with fit and predict alone are compared, fitted or in folds."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=120) > 0).astype(int)
    models = {"own": Own().fit(X, y), "ours": lineal.LogisticRegression().fit(X, y)}
    for refit in (None, False):
        assert lineal.compare(models, X_test=X, y_test=y, refit=refit).scores["own"].value > 0.8
    fresh = {"own": Own(), "ours": lineal.LogisticRegression()}
    assert lineal.compare(fresh, X, y, cv=3).scores["own"].value > 0.8
    assert not hasattr(fresh["own"], "w")


@pytest.mark.parametrize("K", [3, 4])
def test_scores_of_pairs_are_nobodys(K):
    """Three pairs look like three classes: scores of pairs are left out, and the rest is judged."""
    rng = np.random.default_rng(K)
    X, y = rng.normal(size=(150, 4)), rng.integers(0, K, 150)
    for wrap in (lambda model: model, lambda model: make_pipeline(StandardScaler(), model)):
        by_class, by_pair = (
            lineal.evaluate(wrap(SVC(decision_function_shape=shape)).fit(X, y), X, y)
            for shape in ("ovr", "ovo")
        )
        assert "roc_auc" in by_class
        assert "roc_auc" in by_pair.omitted
        assert by_class["accuracy"].value == by_pair["accuracy"].value


def test_a_brier_score_of_two_classes_is_at_most_one():
    """Also by few groups, where little is known."""
    P = np.array([[0.2, 0.8], [0.9, 0.1], [0.4, 0.6], [0.7, 0.3]])
    found = evaluate_predictions([1, 0, 0, 1], [1, 0, 1, 0], probabilities=P, groups=[0, 0, 1, 1])
    assert found["brier"].high <= 1


def test_labels_of_any_type_in_folds():
    """Labels that cannot be sorted, None among them, are stratified as their codes are; NaN is refused."""
    models = {"a": lineal.LogisticRegression(), "b": lineal.RidgeClassifier()}
    usual = lineal.compare(models, X, TWO, cv=3)
    odd = np.array([None, "x"], dtype=object)[TWO]
    assert np.array_equal(lineal.compare(models, X, odd, cv=3).runs, usual.runs)
    with pytest.raises(InputError, match="y contains NaN, first at place"):
        lineal.compare(models, X, np.where(TWO, 1.0, np.nan), cv=3)


class Counting(ClassifierMixin, BaseEstimator):
    """Learns nothing, slowly or not; counts how often."""

    fits = 0

    def __init__(self, pause=0.0):
        self.pause = pause

    def fit(self, X, y, sample_weight=None):
        type(self).fits += 1
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        time.sleep(self.pause)
        return np.full(len(X), self.classes_[0])


def test_a_data_set_that_is_too_small_is_refused_first():
    """Folds are made for all data sets before anything is fitted."""
    Counting.fits = 0
    with pytest.raises(InputError, match="cv=5 folds need as many rows, got 4"):
        lineal.compare(
            {"a": Counting(), "b": Counting()}, {"large": (X, TWO), "small": (X[:4], TWO[:4])}, cv=5
        )
    assert Counting.fits == 0


@pytest.mark.parametrize("where", [{"cv": 2}, {"X_test": X, "y_test": TWO}])
def test_weights_that_a_model_cannot_take_are_refused_first(where):
    """Nothing is fitted before all models are known to take sample_weight."""
    Counting.fits = 0
    models = {"counting": Counting(), "pipe": make_pipeline(LogisticRegression())}
    with pytest.raises(ParameterError, match=r"'pipe' \(Pipeline\) takes no sample_weight"):
        lineal.compare(models, X, TWO, sample_weight=np.ones(60), **where)
    assert Counting.fits == 0


@pytest.mark.parametrize(
    "where",
    [{"X": X, "y": TWO, "cv": 2}, {"X": X, "y": TWO, "X_test": X, "y_test": TWO}, {"X": SETS, "cv": 2}],
)
def test_seconds_are_those_of_fitting(where):
    """A model that predicts slowly does not look slow to fit."""
    found = lineal.compare({"slow": Counting(0.1), "quick": Counting()}, **where)
    assert found.seconds["slow"] < 0.1


# ---- weights --------------------------------------------------------------------------------------


def share_right(y_true, y_pred, sample_weight=None):
    return np.average(y_true == y_pred, weights=sample_weight)


@pytest.mark.parametrize(
    ("metric", "test"),
    [
        (share_right, "bootstrap"),
        ("roc_auc", "bootstrap"),
        ("f1_macro", "permutation"),
        ("accuracy", "permutation"),
    ],
)
def test_a_row_that_counts_for_nine_is_nine_rows(metric, test):
    """Intervals and p of a comparison by lot are those of the longer table, but for chance."""
    rng = np.random.default_rng(8)
    rows = rng.normal(size=(60, 2))
    y = (rows[:, 0] + 0.8 * rows[:, 1] + rng.normal(size=60) > 0).astype(int)
    models = {
        name: make_pipeline(
            FunctionTransformer(partial(np.take, indices=[k], axis=1)), LogisticRegression()
        ).fit(rows, y)
        for k, name in enumerate("ab")
    }
    options = {"metric": metric, "test": test, "n_resamples": 1000}
    weighted = lineal.compare(models, X_test=rows, y_test=y, sample_weight_test=np.full(60, 9), **options)
    longer = lineal.compare(models, X_test=np.repeat(rows, 9, axis=0), y_test=np.repeat(y, 9), **options)
    one, other = weighted.pairs[0].test, longer.pairs[0].test
    assert one.difference == pytest.approx(other.difference)
    assert one.interval.width == pytest.approx(other.interval.width, rel=0.2)
    assert one.p_value == pytest.approx(other.p_value, rel=0.3, abs=0.03)


def plain_share(y_true, y_pred):
    return float(np.mean(y_true == y_pred))


def test_a_function_without_weights_is_given_none():
    """By groups too, which come without weights; where weights differ it cannot say what it was asked."""
    models = {"full": LogisticRegression().fit(X, TWO), "part": LogisticRegression().fit(X[:9], TWO[:9])}
    held_out = {"X_test": X, "y_test": TWO}
    groups = np.arange(60) // 4
    plain, weighted = (
        lineal.compare(models, **held_out, groups=groups, metric=metric)
        for metric in (plain_share, share_right)
    )
    for name in models:
        assert plain[name].value == weighted[name].value
        assert plain[name].interval == weighted[name].interval
    assert plain.pairs[0].p_value == weighted.pairs[0].p_value
    for weights in (
        held_out | {"sample_weight_test": 1 + groups},
        {"X": X, "y": TWO, "sample_weight": groups},
    ):
        with pytest.raises(ParameterError, match="metric 'plain_share' has no argument sample_weight"):
            lineal.compare(models, metric=plain_share, **weights)


FITTED = {
    name: model.fit(X, TWO) for name, model in (("full", LogisticRegression()), ("mean", DummyClassifier()))
}
GROUPED = {
    "evaluate": lambda groups: lineal.evaluate(FITTED["full"], X, TWO, groups=groups)["accuracy"],
    "rows": lambda groups: lineal.compare(FITTED, X_test=X, y_test=TWO, groups=groups)["full"],
    "folds": lambda groups: lineal.compare(CLASSIFIERS, X, TWO, cv=3, groups=groups)["full"],
    "tune": lambda groups: (
        lineal.tune(LogisticRegression(), X, TWO, {"C": [1.0]}, cv=3, groups=groups).trials[0].scores
    ),
}


@pytest.mark.parametrize("use", GROUPED.values(), ids=GROUPED)
def test_groups_of_any_type(use):
    """Names of several types, and tuples, are groups as numbers are; NaN, None and NA are none, by row."""
    numbers = (np.arange(60) // 6).tolist()
    for odd in ([("day", k) for k in numbers], [k if k < 5 else str(k) for k in numbers]):
        assert use(odd) == use(numbers)
    for missing in (np.nan, None, pd.NA):
        with pytest.raises(InputError, match="groups contains NaN or a null, first at row 7"):
            use([missing if row == 7 else k for row, k in enumerate(numbers)])


# ---- tests of ranks -------------------------------------------------------------------------------


def test_the_verdict_follows_the_ranks():
    """a is a little worse on seven data sets and far better on one: by ranks b wins, by the mean a does."""
    signs = np.where(np.arange(40) % 2, 1.0, -1.0)

    class Fixed(ClassifierMixin, BaseEstimator):
        def __init__(self, is_first=True):
            self.is_first = is_first

        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return X[:, 0 if self.is_first else 1]

    sets = {}
    for k in range(8):
        y = signs.copy()
        first, second = y.copy(), y.copy()
        first[: 1 + k] *= -1
        if k == 7:
            first, second = y.copy(), -y
        sets[k] = (np.column_stack([first, second]), y, np.column_stack([first, second]), y)
    found = lineal.compare({"a": Fixed(), "b": Fixed(False)}, sets)
    assert found["a"].value > found["b"].value
    assert found.pairs[0].test.effect < 0
    forced = lineal.compare({"a": Fixed(), "b": Fixed(False)}, sets, confidence=0.5)
    assert forced.pairs[0].verdict.startswith("b is better than a")
    assert forced.pairs[0].better == "b"
    assert found.pairs[0].better is None
    shown = model_scores(forced)
    assert shown.names == forced.ranking() == ["b", "a"]
    assert shown.is_worse.tolist() == [False, True]
    assert "accuracy better on 7 of them, median difference 0.0875" in forced.pairs[0].verdict
    assert forced.pairs[0].verdict.endswith("Mean accuracy points the other way: 0.8750 against 0.9125.")


def test_a_verdict_by_mean_ranks_quotes_them():
    """b is first on five of six data sets; c is so far ahead on the sixth that its mean is best."""
    y = np.tile([-1.0, 1.0], 50)

    def with_errors(n):
        said = y.copy()
        said[:n] *= -1
        return said

    class Column(ClassifierMixin, BaseEstimator):
        def __init__(self, place=0):
            self.place = place

        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return X[:, self.place]

    errors = [(30, 10, 20)] * 5 + [(99, 98, 0)]
    tables = [np.column_stack([with_errors(n) for n in each]) for each in errors]
    sets = {k: (X, y, X, y) for k, X in enumerate(tables)}
    found = lineal.compare({"a": Column(0), "b": Column(1), "c": Column(2)}, sets, confidence=0.5)
    assert found["c"].value > found["b"].value > found["a"].value
    assert found.ranking() == ["b", "c", "a"]
    assert found.best == "b"
    pair = found.pair("b", "c")
    assert pair.better == "b"
    assert "mean ranks 1.17 against 1.83, accuracy better on 5 of them" in pair.verdict
    assert "Mean accuracy points the other way: 0.7533 against 0.8333." in pair.verdict
    assert "points" not in found.pair("a", "b").verdict
    assert pair.test.difference == pytest.approx(0.1)
    assert "mean rank" in str(found)


def test_rounding_makes_no_ranks():
    """Means of the same numbers in another order are tied, for Friedman, Nemenyi and Wilcoxon."""
    runs = np.random.default_rng(5).random((9, 10))
    a, b = (np.array([row.sum() / 10 for row in table]) for table in (runs, runs[:, ::-1]))
    b = np.where(a == b, np.nextafter(b, 2), b)
    assert (a != b).all()
    assert wilcoxon(a, b).p_value == 1
    table = np.column_stack([a, b, a - 0.1])
    assert friedman(table).mean_ranks.tolist() == [1.5, 1.5, 3]
    assert nemenyi(table).mean_ranks.tolist() == [1.5, 1.5, 3]
    assert nemenyi(-1e-9 * table).mean_ranks.tolist() == [2.5, 2.5, 1]


def test_data_sets_that_agree_wholly():
    """p is then the chance of it: 1/k! for each set after the first, by counting; ties make it larger."""
    assert friedman([[3, 2, 1], [3, 2, 1]]).p_value == pytest.approx(1 / 6)
    assert friedman([[3, 2, 1]] * 3).p_value == pytest.approx(1 / 36)
    assert friedman([[3, 1, 1]] * 3).p_value == pytest.approx(1 / 9)
