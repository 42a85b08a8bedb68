"""A search refuses what cannot be before it works, and ends early with what it has."""

import dataclasses
import math
import signal
import sys
import time

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform, norm, randint, uniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import DataConversionWarning, FitFailedWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge as TheirRidge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from contract.members import features, labels
from lineal import (
    ForwardSelection,
    LinearClassifier,
    LogisticRegression,
    OneVsRest,
    Ridge,
    TextClassifier,
    compare,
    tune,
)
from lineal.errors import InputError, LinealError, ParameterError
from lineal.objective import L2, NoPenalty
from lineal.selection import strengths
from lineal.selection.search.stages import mark


def data(n=60, n_classes=2):
    X = features(n)
    return X, labels(X, n_classes)


# ---- what cannot be -------------------------------------------------------------------------------


class Untouched(LogisticRegression):
    """Must not be fitted."""

    def _task(self, X, y, sample_weight):
        raise AssertionError("work has begun")


BAD = [
    ({"space": {}}, "space must be"),
    ({"space": []}, "space must be"),
    ({"space": "C"}, "space must be"),
    ({"space": {"C": []}}, "at least one value"),
    ({"space": {"C": 1.0}}, "at least one value"),
    ({"space": {"C": "abc"}}, "at least one value"),
    ({"space": {3: [1.0]}}, "by text"),
    ({"space": {"D": [1.0]}}, "cannot have"),
    ({"space": {"C": [1.0], "solver__x": [1]}}, "cannot have"),
    ({"space": {"C": [1.0, -1.0]}}, "C > 0"),
    ({"space": {"penalty": ["l2", "l7"]}}, "penalty"),
    ({"space": {"C": loguniform(0.1, 1)}}, "grid cannot enumerate"),
    ({"space": {"D": loguniform(0.1, 1)}, "method": "random"}, "cannot have"),
    ({"space": {"C": norm(1, 2)}, "method": "optuna"}, "optuna"),
    ({"space": [{"C": [1.0]}, {"C": [2.0]}], "method": "optuna"}, "one dict"),
    ({"method": "bayes"}, "method"),
    ({"metric": "goodness"}, "metric"),
    ({"metric": 3}, "metric"),
    ({"cv": 1}, "at least 2"),
    ({"cv": 2.5}, "cv"),
    ({"cv": []}, "no folds"),
    ({"cv": [(np.arange(30), np.arange(30, 60))], "outer": 3}, "outer"),
    ({"outer": 1}, "outer must be at least 2"),
    ({"outer": []}, "outer gives no folds"),
    ({"cv": StratifiedKFold}, r"Write StratifiedKFold\(\)"),
    ({"metric": ["accuracy", "f1"]}, "metric must be one score"),
    ({"max_trials": 0}, "max_trials"),
    ({"max_seconds": 0}, "max_seconds"),
    ({"random_state": None}, "random_state"),
    ({"n_threads": 0}, "thread"),
]


@pytest.mark.parametrize(("options", "words"), BAD, ids=lambda value: str(value)[:40])
def test_impossible_searches_are_refused_before_work(options, words):
    """A space, method, metric, split or budget that cannot be is refused by name before any fit."""
    X, y = data()
    with pytest.raises(LinealError, match=words):
        tune(Untouched(), X, y, **{"space": {"C": [1.0, 2.0]}} | options)


def test_impossible_data_are_refused_before_work():
    """Lengths that differ, folds without rows, weights for learners that take none."""
    X, y = data()
    with pytest.raises(InputError, match="inconsistent"):
        tune(Untouched(), X, y[1:], {"C": [1.0]})
    with pytest.raises(InputError, match="split"):
        tune(Untouched(), X, y, {"C": [1.0]}, cv=50)
    with pytest.raises(ParameterError, match=r"write LogisticRegression\(\)"):
        tune(LogisticRegression, X, y, {"C": [1.0]})
    with pytest.raises(InputError, match="groups"):
        tune(Untouched(), X, y, {"C": [1.0]}, groups=[1, 2])
    with pytest.raises(InputError, match="y"):
        tune(Untouched(), X, None, {"C": [1.0]})
    with pytest.raises(InputError, match="sample_weight"):
        tune(Untouched(), X, y, {"C": [1.0]}, sample_weight=-np.ones(60))
    with pytest.raises(ParameterError, match="sample_weight"):
        tune(Fragile(), X, y, {"weakness": [0]}, sample_weight=np.ones(60))


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (DecisionTreeClassifier(), {}),
        (LinearClassifier(penalty=NoPenalty()), {}),
        (LogisticRegression(), {"low": 0.0}),
        (LogisticRegression(), {"n": 0}),
    ],
)
def test_strengths_that_cannot_be(model, options):
    """A model without a penalty has no strengths, and strengths are positive."""
    with pytest.raises(ParameterError):
        strengths(model, **options)


def test_optuna_is_asked_for_only_when_it_is_needed(monkeypatch):
    """Without optuna its method says how to get it, and the others work."""
    X, y = data()
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match="pip install optuna"):
        tune(Untouched(), X, y, {"C": [1.0]}, method="optuna")
    assert tune(LogisticRegression(), X, y, {"C": [1.0]}, cv=3).params == {"C": 1.0}


# ---- draws ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["random", "halving", "optuna"])
def test_the_same_seed_gives_the_same_search(method):
    """Draws, folds, parts and scores follow from random_state alone; another one gives others."""
    if method == "optuna":
        pytest.importorskip("optuna")
    X, y = data(300)
    space = {"C": loguniform(1e-3, 1e3), "penalty": ["l1", "l2"]}

    def search(seed):
        found = tune(LogisticRegression(), X, y, space, method=method, max_trials=6, random_state=seed)
        return [(trial.params, trial.scores) for trial in found.trials]

    first = search(1)
    assert len(first) == 6
    assert first == search(1)
    assert first != search(2)


def test_draws_are_from_their_distributions():
    """max_trials settings are drawn, each inside its distribution; a small grid is drawn without repeats."""
    X, y = data()
    space = {"max_depth": randint(1, 4), "ccp_alpha": uniform(0, 0.1), "criterion": ["gini", "entropy"]}
    found = tune(DecisionTreeClassifier(random_state=0), X, y, space, method="random", max_trials=7, cv=3)
    assert len(found.trials) == 7
    assert {trial.params["max_depth"] for trial in found.trials} <= {1, 2, 3}
    assert all(0 <= trial.params["ccp_alpha"] <= 0.1 for trial in found.trials)
    few = tune(LogisticRegression(), X, y, {"C": [1.0, 2.0, 3.0]}, method="random", cv=3)
    assert sorted(trial.params["C"] for trial in few.trials) == [1.0, 2.0, 3.0]


def test_optuna_is_given_lists_and_distributions():
    """Values come from the lists and ranges of the space, objects among them."""
    optuna = pytest.importorskip("optuna")
    X, y = data()
    with pytest.raises(ParameterError, match="for method='optuna' alone"):
        tune(Untouched(), X, y, {"C": optuna.distributions.FloatDistribution(0.1, 1)}, method="random")
    space = {
        "penalty": [L2(0.1), L2(1.0)],
        "tol": optuna.distributions.FloatDistribution(1e-4, 1e-2, log=True),
        "max_epochs": randint(50, 60),
    }
    found = tune(LinearClassifier(), X, y, space, method="optuna", max_trials=4, cv=3)
    assert len(found.trials) == 4
    for trial in found.trials:
        assert trial.params["penalty"] in (L2(0.1), L2(1.0))
        assert 1e-4 <= trial.params["tol"] <= 1e-2
        assert 50 <= trial.params["max_epochs"] < 60


# ---- ends -----------------------------------------------------------------------------------------


def test_max_trials_is_a_budget_of_a_grid():
    """The first settings of the grid are tried, and the record says that there were more."""
    X, y = data()
    found = tune(LogisticRegression(), X, y, {"C": [1.0, 2.0, 3.0]}, max_trials=2, cv=3)
    assert [trial.params["C"] for trial in found.trials] == [1.0, 2.0]
    assert found.stopped == "max_trials=2 of a grid of 3"
    assert "max_trials=2" in str(found)


class Slow(LogisticRegression):
    def fit(self, X, y, sample_weight=None):
        time.sleep(0.05)
        return super().fit(X, y, sample_weight)


def test_max_seconds_ends_a_search_with_the_best_of_the_folds_done():
    """After max_seconds the fold in progress is finished, and settings of most folds are judged."""
    X, y = data()
    options = {"class_weight": [None, "balanced", {0: 2.0}]}
    found = tune(Slow(), X, y, options, cv=4, max_seconds=1e-9)
    assert "seconds" in found.stopped
    assert [len(trial.scores) for trial in found.trials] == [1]
    assert found.model.predict(X).shape == (60,)
    found = tune(Slow(), X, y, options, cv=4, max_seconds=0.3)
    counts = [len(trial.scores) for trial in found.trials]
    assert sum(counts) < 12
    assert len(found.best.scores) == max(counts)


def interrupting(after):
    """Accuracy, with Ctrl-C at one of its calls."""
    calls = []

    def metric(model, X, y):
        calls.append(1)
        if len(calls) == after:
            signal.raise_signal(signal.SIGINT)
        return float(np.mean(model.predict(X) == y))

    return metric


def test_ctrl_c_gives_the_best_so_far():
    """SIGINT in the third setting ends the search; the two that are done are judged, and one is fitted."""
    X, y = data()
    space = {"class_weight": [None, "balanced", {0: 2.0}, {0: 3.0}]}
    found = tune(LogisticRegression(), X, y, space, cv=3, metric=interrupting(after=8), outer=3)
    assert found.stopped == "stopped by Ctrl-C"
    assert "stopped by Ctrl-C" in str(found)
    assert [len(trial.scores) for trial in found.trials] == [3, 3, 1]
    assert found.params in ({"class_weight": None}, {"class_weight": "balanced"})
    assert found.model.certificate_.converged
    assert not found.is_honest
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_on_a_path_keeps_the_folds_that_are_done():
    """Strengths of one path are judged on the folds before the interruption."""
    X, y = data()
    found = tune(LogisticRegression(), X, y, {"C": [0.1, 1.0, 10.0]}, cv=5, metric=interrupting(after=8))
    assert [len(trial.scores) for trial in found.trials] == [2, 2, 2]


def test_ctrl_c_inside_a_fit_discards_it():
    """A path that is broken off leaves no scores; its setting is refitted without the interruption."""
    X, y = data(300)
    calls = []

    def interrupt(point):
        calls.append(point)
        if len(calls) == 40:
            signal.raise_signal(signal.SIGINT)

    model = LogisticRegression(solver="lbfgs", tol=1e-10, callbacks=[interrupt])
    found = tune(model, X, y, {"C": [0.1, 1.0, 10.0]}, cv=5)
    assert found.stopped == "stopped by Ctrl-C"
    assert 1 <= len(found.best.scores) < 5
    assert found.model.certificate_.converged


def test_ctrl_c_among_the_outer_folds_is_told_of():
    """The search is done; the honest score comes from the outer folds before it, and the record says so."""
    X, y = data()
    found = tune(LogisticRegression(), X, y, {"C": [1.0]}, cv=3, metric=interrupting(after=9), outer=3)
    assert len(found.outer) == 1
    assert found.stopped == "stopped by Ctrl-C"


def test_ctrl_c_before_anything_is_done_raises():
    """With nothing to choose from there is nothing to return."""
    X, y = data()
    with pytest.raises(KeyboardInterrupt):
        tune(LogisticRegression(), X, y, {"C": [0.1, 1.0]}, cv=3, metric=interrupting(after=1))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


class Fragile(ClassifierMixin, BaseEstimator):
    """Breaks where its weakness says so."""

    def __init__(self, weakness=0):
        self.weakness = weakness

    def fit(self, X, y):
        if self.weakness > 1:
            raise ValueError("too weak")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.mark.parametrize(
    "names", [["b", 2], [("a", 1), ("b", 2)], [(1, 2), (3, 4)], [b"x", b"y"], [None, "a"]], ids=str
)
@pytest.mark.parametrize("metric", [None, "accuracy"])
def test_labels_of_any_type_are_searched(names, metric):
    """With the scores that plain labels have; a selection by accuracy too."""
    X, y = data()
    codes = (y == y[0]).astype(int)
    odd = [names[k] for k in codes]
    space = {"C": [0.01, 1.0]}
    found, plain = (tune(LogisticRegression(), X, each, space, metric=metric) for each in (odd, codes))
    assert [trial.scores for trial in found.trials] == [trial.scores for trial in plain.trials]
    assert found.model.score(X, odd) == plain.model.score(X, codes)
    chosen = [
        ForwardSelection(scoring=metric, n_columns=1, cv=StratifiedKFold(2)).fit(X, each).score_
        for each in (np.array(codes), odd)
    ]
    assert chosen[0] == chosen[1]


@pytest.mark.parametrize(
    ("own", "theirs"), [("log_loss", "neg_log_loss"), ("mae", "neg_mean_absolute_error")]
)
def test_metrics_of_comparisons_are_metrics_of_searches(own, theirs):
    """A name of METRICS is the scorer of scikit-learn's that means the same; wrong tasks are refused."""
    X, y = data()
    model, y = (LogisticRegression(), y) if own == "log_loss" else (Ridge(), X[:, 0] + 0.1 * X[:, 1])
    (name,) = {"C", "alpha"} & set(model.get_params())
    found, same = (tune(model, X, y, {name: [0.1, 10.0]}, metric=metric, cv=3) for metric in (own, theirs))
    for a, b in zip(found.trials, same.trials, strict=True):
        assert a.scores == pytest.approx(b.scores)
    assert f"neg_{own}" in str(found)
    chosen = [
        ForwardSelection(model, scoring=metric, n_columns=2, cv=3).fit(X, y) for metric in (own, theirs)
    ]
    assert chosen[0].score_ == pytest.approx(chosen[1].score_)
    other = {"log_loss": "mae", "mae": "log_loss"}[own]
    with pytest.raises(ParameterError, match=f"metric='{other}' is for"):
        tune(model, X, y, metric=other)


def test_functions_of_other_arguments_are_refused_first():
    """One of (y_true, y_pred) is for comparisons, one of (model, X, y) for searches: said before any fit."""
    X, y = data()
    with pytest.raises(ParameterError, match=r"function of \(model, X, y\).*make_scorer"):
        tune(Untouched(), X, y, metric=lambda y_true, y_pred: 0.0)
    with pytest.raises(ParameterError, match=r"function of \(y_true, y_pred\)"):
        compare({"a": Untouched(), "b": Untouched()}, X, y, metric=lambda model, X, y: 0.0)


@pytest.mark.parametrize("error", [RuntimeError, TypeError, KeyError, AttributeError, MemoryError])
@pytest.mark.parametrize("where", ["fit", "predict"])
def test_any_failure_of_a_setting_is_recorded(error, where):
    """Whatever it raises, in its fit or when it is scored: the others are tried."""

    class Fragile(DecisionTreeClassifier):
        def fit(self, X, y):
            if where == "fit" and self.max_depth == 2:
                raise error("too deep")
            return super().fit(X, y)

        def predict(self, X):
            if where == "predict" and self.max_depth == 2:
                raise error("too deep")
            return super().predict(X)

    with pytest.warns(FitFailedWarning, match="1 of 2 settings failed"):
        found = tune(Fragile(random_state=0), *data(), {"max_depth": [1, 2]})
    assert found.params == {"max_depth": 1}
    assert found.trials[1].error.startswith(f"{error.__name__}: ")


def test_settings_that_fail_are_recorded_and_not_chosen():
    """A fit that raises is told of and loses; if all do, the search says with what."""
    X, y = data()
    with pytest.warns(FitFailedWarning, match=r"1 of 3 settings failed.*too weak"):
        found = tune(Fragile(), X, y, {"weakness": [2, 0, 1]}, cv=3)
    assert found.params == {"weakness": 0}
    assert "too weak" in found.trials[0].error
    assert np.isnan(found.trials[0].mean)
    assert "failed" in str(found)
    with pytest.raises(InputError, match=r"all 2 settings failed.*too weak"):
        tune(Fragile(), X, y, {"weakness": [2, 3]}, cv=3)


class Fussy(Fragile):
    """Learns from half of the rows, but not from half of the half that an outer fold leaves."""

    def fit(self, X, y):
        self.weakness = 2 if len(X) < 20 else 0
        return super().fit(X, y)


def test_an_outer_fold_without_a_choice_is_told():
    """One in which every setting fails is not passed over: it is warned of, the score is of the others."""
    X, y = data()
    with pytest.warns(FitFailedWarning, match="2 of 2 outer folds have no score; .* all 1 settings failed"):
        tuned = tune(Fussy(), X, y, {"weakness": [0]}, cv=2, outer=2, metric=lambda model, X, y: 1.0)
    assert math.isnan(tuned.score)
    assert all("too weak" in fold.error for fold in tuned.outer)
    assert "no outer fold has a score" in str(tuned)


def test_functions_score_with_weights_if_they_ask_for_them():
    """A function with sample_weight scores as the metric of that name; one without is given none."""
    X, y = data()
    s = np.linspace(0.1, 3, 60)

    def weighted(model, X, y, sample_weight=None):
        return float(np.average(model.predict(X) == y, weights=sample_weight))

    def plain(model, X, y):
        return float(np.mean(model.predict(X) == y))

    model = make_pipeline(StandardScaler(), LogisticRegression())
    space = {"logisticregression__C": [0.01, 1.0]}
    by_name, by_weight, without = (
        tune(model, X, y, space, cv=3, sample_weight=s, metric=metric)
        for metric in ("accuracy", weighted, plain)
    )
    for ours, theirs, other in zip(by_weight.trials, by_name.trials, without.trials, strict=True):
        np.testing.assert_allclose(ours.scores, theirs.scores)
        assert not np.allclose(ours.scores, other.scores)


class Column:
    """A function of rows that is an object: one of their columns."""

    def __init__(self, place):
        self.place = place

    def __call__(self, X):
        return X[:, [self.place]]


def test_features_of_different_functions_are_different():
    """Objects that are called are told apart by what they are, equal ones alike, wherever they lie."""
    assert mark(Column(1)) == mark(Column(1))
    assert mark(Column(1)) != mark(Column(2))
    X, y = data(120)
    model = make_pipeline(FunctionTransformer(), LogisticRegression())
    columns = [Column(k) for k in range(X.shape[1])]
    found = tune(model, X, y, {"functiontransformer__func": columns}, cv=3)
    for trial in found.trials:
        one = X[:, [trial.params["functiontransformer__func"].place]]
        alone = tune(LogisticRegression(), one, y, {"C": [1.0]}, cv=3)
        assert trial.scores == alone.best.scores


def test_a_score_that_is_no_number_is_a_failure():
    """NaN never wins."""
    X, y = data()

    def metric(model, X, y):
        return np.nan if model.weakness == 1 else 0.1

    with pytest.warns(FitFailedWarning, match="nan"):
        found = tune(Fragile(), X, y, {"weakness": [1, 0]}, cv=3, metric=metric)
    assert found.params == {"weakness": 0}


# ---- the record -----------------------------------------------------------------------------------


def test_the_record():
    """It is frozen, prints a line for each trial with the best marked, and gives rows for a frame."""
    X, y = data()
    model = LogisticRegression(C=7.0)
    found = tune(model, X, y, {"C": [0.1, 1.0, 10.0]}, cv=3)
    assert model.get_params() == LogisticRegression(C=7.0).get_params()
    assert not hasattr(model, "coef_")
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.params = {}
    lines = str(found).splitlines()
    assert lines[0].startswith("LogisticRegression by grid: 3 trials on 3 folds, accuracy")
    assert sum(line.startswith("→") for line in lines) == 1
    rows = found.rows()
    assert [row["C"] for row in rows] == [0.1, 1.0, 10.0]
    assert {"mean", "low", "high", "n_folds", "share", "seconds", "error"} < set(rows[0])
    assert repr(found).startswith("<Tuning of LogisticRegression: 3 trials")
    assert found.best.mean == max(row["mean"] for row in rows)


def test_equal_scores_choose_the_earlier_setting():
    """Among equals the order of the space decides."""
    X, y = data()
    found = tune(LogisticRegression(), X, y, {"C": [1.0, 1.0 + 1e-12, 1.0 - 1e-12]}, cv=3)
    assert found.best is found.trials[0]


def test_nested_parameters_and_whole_steps():
    """Steps of a pipeline may themselves be values, beside parameters of theirs."""
    X, y = data()
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    learners = [LogisticRegression("l1"), LogisticRegression()]
    space = [
        {"logisticregression": learners, "logisticregression__C": [0.1, 1]},
        {"standardscaler": ["passthrough"]},
    ]
    found = tune(pipeline, X, y, space, cv=3)
    assert len(found.trials) == 5
    assert [learner.C for learner in learners] == [1.0, 1.0]
    assert found.model.predict(X).shape == (60,)


def test_splits_may_come_from_a_generator():
    """Splits that can be gone through once are those of the list."""
    X, y = data()
    folds = list(StratifiedKFold(3).split(X, y))
    listed, generated = (tune(LogisticRegression(), X, y, {"C": [1.0]}, cv=cv) for cv in (folds, iter(folds)))
    assert generated.best.scores == listed.best.scores


def test_a_column_of_labels_is_dealt_like_the_labels():
    """Folds have the classes in their shares, whether labels came as a vector or as a column; one warning."""
    X, y = data()
    plain = tune(LogisticRegression(), X, y, {"C": [0.1, 1.0]}, cv=3)
    with pytest.warns(DataConversionWarning) as met:
        column = tune(LogisticRegression(), X, y[:, None], {"C": [0.1, 1.0]}, cv=3)
    assert len(met) == 1
    assert [trial.scores for trial in column.trials] == [trial.scores for trial in plain.trials]


def test_regressors_and_texts_have_folds_of_their_own():
    """Numbers are split without classes, and texts by their labels."""
    X = features(60)
    found = tune(Ridge(), X, X[:, 0], {"alpha": [0.1, 1.0]}, cv=3)
    assert found.metric == "R²"
    texts = ["good", "bad", "good film", "bad film"] * 6
    found = tune(TextClassifier(), texts, ["p", "n"] * 12, {"strengths": [0.1, 1.0]}, cv=2)
    assert found.score == 1.0


@pytest.mark.parametrize("has_classes", [True, False], ids=["labels", "numbers"])
def test_groups_are_held_out_whole(has_classes):
    """Where rows of a group are copies, copies help nobody: folds and outer folds keep them whole."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 4)
    X = rng.normal(size=(40, 60))[groups]  # more columns than groups: copies can be learned by heart
    y = rng.integers(0, 2, 40)[groups] if has_classes else rng.normal(size=40)[groups]
    model, space = (LogisticRegression(), {"C": [100.0]}) if has_classes else (Ridge(), {"alpha": [1e-3]})
    apart = tune(model, X, y, space, cv=4, outer=4, groups=groups)
    mixed = tune(model, X, y, space, cv=4, outer=4)
    assert mixed.score > 0.95
    assert apart.score < 0.75
    assert apart.best.mean < 0.75


# ---- anybody's models -----------------------------------------------------------------------------


class Balanced(LogisticRegression):
    """A subclass that fits in a way of its own."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y, sample_weight=np.where(y == 1, 10.0, 1.0))


class Doubled(Pipeline):
    """A pipeline that learns from every row of the second class twice."""

    def fit(self, X, y, **options):
        rows = np.r_[np.arange(len(y)), np.flatnonzero(y == 1)]
        return super().fit(X[rows], y[rows], **options)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (Balanced(tol=1e-9), "C"),
        (Doubled([("scale", StandardScaler()), ("last", LogisticRegression(tol=1e-9))]), "last__C"),
        (make_pipeline(StandardScaler(), Balanced(tol=1e-9)), "balanced__C"),
    ],
    ids=["learner", "pipeline", "in a pipeline"],
)
def test_a_fit_of_ones_own_is_what_is_searched(model, name):
    """Neither a path nor shared features go around the fit of a subclass: scores are GridSearchCV's."""
    X, y = data(120)
    space, folds = {name: [0.01, 0.1, 1.0]}, StratifiedKFold(3)
    theirs = GridSearchCV(model, space, cv=folds, scoring="neg_log_loss").fit(X, y)
    ours = tune(model, X, y, space, cv=folds, metric="neg_log_loss")
    np.testing.assert_allclose(
        [trial.mean for trial in ours.trials], theirs.cv_results_["mean_test_score"], rtol=1e-6
    )


def test_shared_features_are_not_written_into():
    """A learner that works in place spoils nothing for those after it."""
    X = features(90)
    y = X[:, 0] + 3.0
    model = make_pipeline(MinMaxScaler(), TheirRidge(copy_X=False))
    space = {"ridge__alpha": [0.1, 0.2, 0.3]}
    theirs = GridSearchCV(model, space, cv=KFold(3)).fit(X, y).cv_results_["mean_test_score"]
    np.testing.assert_allclose([t.mean for t in tune(model, X, y, space, cv=KFold(3)).trials], theirs)


def test_a_metric_is_given_the_pipeline_with_its_own_names():
    """Steps are called as they were, those that pass through among them."""
    X, y = data()
    model = Pipeline(
        [("nothing", "passthrough"), ("scale", StandardScaler()), ("last", LogisticRegression())]
    )

    def named(model, X, y):
        assert list(model.named_steps) == ["nothing", "scale", "last"]
        return model.score(X, y) + 0 * model.named_steps["last"].C

    tuned = tune(model, X, y, {"last__C": [0.1, 1.0]}, metric=named)
    assert not any(trial.error for trial in tuned.trials)


@pytest.mark.filterwarnings("ignore:Only one class")
def test_an_outer_fold_without_a_score_costs_that_fold_alone():
    """One group has one class, so it has no ROC area: the model stays, and it is said."""
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(120, 3)), np.repeat(np.arange(6), 20)
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    y[groups == 3] = 1
    with pytest.warns(FitFailedWarning, match="1 of 6 outer folds have no score"):
        tuned = tune(
            LogisticRegression(), X, y, {"C": [0.1, 1]}, metric="roc_auc",
            outer=GroupKFold(6), groups=groups, cv=3,
        )  # fmt: skip
    (failed,) = [fold for fold in tuned.outer if fold.error]
    assert math.isnan(failed.score)
    assert tuned.score == np.mean([fold.score for fold in tuned.outer if not fold.error])
    assert "from 5 outer folds" in str(tuned)
    assert tuned.model.predict(X).shape == (120,)


def test_a_bad_cell_is_named_by_its_row_in_x():
    """Not by its row in a fold."""
    X, y = data(200)
    X[140, 2] = np.nan
    with pytest.raises(InputError, match="row 140, column 2"):
        tune(LogisticRegression(), X, y, {"C": [0.1, 1.0]})
    frame = pd.DataFrame(X, columns=[f"size {k}" for k in range(X.shape[1])])
    with pytest.raises(InputError, match=r"row 140, column 2 \('size 2'\)"):
        tune(LogisticRegression(), frame, y, {"C": [0.1, 1.0]})
    for fills in (
        make_pipeline(SimpleImputer(), LogisticRegression()),
        OneVsRest(make_pipeline(SimpleImputer(), LogisticRegression())),
    ):
        name = next(name for name in fills.get_params() if name.endswith("__C"))
        assert tune(fills, frame, y, {name: [0.1, 1.0]}).score > 0.5
    # A model that takes NaN is given it.
    assert tune(HistGradientBoostingClassifier(max_iter=5), X, y, {"max_depth": [1, 2]}).score > 0


class Counted(StandardScaler):
    """Knows how often it was fitted."""

    n_fits = 0

    def __init__(self, offset=0):
        super().__init__()
        self.offset = offset

    def fit(self, X, y=None):
        Counted.n_fits += 1
        return super().fit(X, y)


def test_optuna_tries_no_setting_twice_and_records_what_fails():
    """A grid is searched once, features are made once for each fold and setting; bad values are trials."""
    pytest.importorskip("optuna")
    X, y = data()
    model = Pipeline([("scale", Counted()), ("last", LogisticRegression())])
    Counted.n_fits = 0
    tuned = tune(model, X, y, {"scale__offset": [1, 2], "last__C": [0.1, 1.0]}, method="optuna", cv=3)
    assert len({str(trial.params) for trial in tuned.trials}) == len(tuned.trials) == 4
    assert Counted.n_fits == 2 * 3 + 1
    with pytest.warns(FitFailedWarning):
        tuned = tune(LogisticRegression(), X, y, {"C": uniform(-0.5, 1.0)}, method="optuna", max_trials=8)
    assert len(tuned.trials) == 8
    assert 0 < sum(bool(trial.error) for trial in tuned.trials) < 8
