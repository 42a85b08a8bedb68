"""Evaluation at its edges: few rows of a kind, scores that are not defined, arguments without meaning."""

import time
import tracemalloc
import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import LeaveOneOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import lineal
from lineal.errors import InputError, ParameterError
from lineal.evaluation import (
    METRICS,
    bootstrap_interval,
    delong_test,
    evaluate_predictions,
    friedman,
    nemenyi,
    wilcoxon,
)
from lineal.evaluation.curves import calibration_curve, learning_curve, precision_recall_curve, roc_curve
from lineal.plot import calibration, model_scores, precision_recall, roc

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
NUMBERS = X[:, 0] + RNG.normal(size=60)
LABELS = np.array(["a", "b", "c"])[np.arange(60) % 3]
TWO = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
REGRESSORS = {"line": LinearRegression(), "mean": DummyRegressor()}
CLASSIFIERS = {"full": LogisticRegression(), "mean": DummyClassifier()}


# ---- scores that are not defined ------------------------------------------------------------------


@pytest.mark.parametrize("where", [{"cv": 3}, {"X_test": X, "y_test": NUMBERS}])
def test_a_score_that_a_model_does_not_have_is_refused(where):
    """A model that predicts one number has no rank correlation: said so, in folds and on rows, not NaN."""
    with pytest.raises(InputError, match=r"'mean' has no spearman .* predictions are all the same"):
        lineal.compare(REGRESSORS, X, NUMBERS, metric="spearman", **where)


def test_true_values_that_are_all_the_same_have_no_r2():
    """compare refuses what evaluate leaves out, for the same reason."""
    same = {"X_test": X[:5], "y_test": np.ones(5)}
    with pytest.raises(InputError, match="no r2 on 5 rows: the true values are all the same"):
        lineal.compare(REGRESSORS, X, NUMBERS, **same)
    omitted = evaluate_predictions(np.ones(5), np.arange(5) / 2).omitted
    assert omitted["r2"] == "the true values are all the same"


@pytest.mark.parametrize("where", [{"cv": 3}, {"X_test": X, "y_test": NUMBERS}, None])
def test_a_function_that_gives_no_number_is_refused(where):
    """A metric of one's own that gives NaN is an error that names it, not Ctrl-C."""

    def odd(y_true, y_pred):
        return float("nan")

    look, models = (learning_curve, LinearRegression()) if where is None else (lineal.compare, REGRESSORS)
    with pytest.raises(InputError, match=r"metric 'odd' of model .* is nan"):
        look(models, X, NUMBERS, metric=odd, **(where or {}))


def test_one_row_at_a_time():
    """Leaving out one row has errors, whose mean is that of all rows; one row has no bootstrap interval."""
    found = lineal.compare(REGRESSORS, X[:12], NUMBERS[:12], metric="mae", cv=LeaveOneOut())
    assert len(found.runs) == 12
    for j in range(12):
        rest = np.arange(12) != j
        assert found.runs[j, 1] == pytest.approx(abs(NUMBERS[:12][rest].mean() - NUMBERS[j]))
    single = evaluate_predictions([1.5], [2.0])
    assert single["mae"].value == 0.5
    assert np.isnan(single["mae"].low)


# ---- classes --------------------------------------------------------------------------------------


def test_a_class_that_is_predicted_and_never_true_is_printed():
    """It has no area, and its row of the table is empty there."""
    rows = LABELS != "c"
    model = LogisticRegression().fit(X, LABELS)
    found = lineal.evaluate(model, X[rows], LABELS[rows])
    assert "roc_auc" in found.per_class["a"]
    assert "roc_auc" not in found.per_class["c"]
    table = str(found)
    assert "roc_auc" in table
    assert "\nc " in table


def test_columns_are_named_once():
    """Two columns of one class are refused."""
    with pytest.raises(InputError, match="each column once"):
        evaluate_predictions([0, 1, 1], [0, 1, 0], probabilities=[[0.2, 0.8]] * 3, classes=[1, 1])


@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy", "f1_macro", "precision_macro", "mcc"])
def test_the_unit_of_importance_does_not_matter(name):
    """Weights a million million times as small give the same value."""
    rng = np.random.default_rng(1)
    truth, said, s = rng.integers(0, 3, 50), rng.integers(0, 3, 50), rng.random(50)
    values = [
        evaluate_predictions(truth, said, sample_weight=unit * s, weights="importance")[name].value
        for unit in (1.0, 1e-12)
    ]
    assert values[0] != 0
    assert values[1] == pytest.approx(values[0], rel=1e-9)


def test_many_classes_need_no_matrix_of_cells_by_classes():
    """Macro F1 of 1,000 classes whose errors fill 30,000 cells takes little memory."""
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 1000, 30_000)
    said = np.where(rng.random(30_000) < 0.3, truth, rng.integers(0, 1000, 30_000))
    tracemalloc.start()
    evaluate_predictions(truth, said, n_resamples=10)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 300e6


def test_permutations_of_many_classes_stay_sparse():
    """Macro F1 of 400 classes on 20,000 rows is permuted without a dense table of rows by classes."""
    from lineal.evaluation.heldout import PairedRows
    from lineal.evaluation.predictions import read_predictions

    rng = np.random.default_rng(7)
    truth = rng.integers(0, 400, 20_000)
    said = [np.where(rng.random(20_000) < 0.5, truth, rng.integers(0, 400, 20_000)) for _ in range(2)]
    rows = [read_predictions(truth, each) for each in said]
    paired = PairedRows(
        METRICS["f1_macro"],
        rows,
        "permutation",
        confidence=0.95,
        n_resamples=10,
        rng=np.random.default_rng(0),
    )
    tracemalloc.start()
    draws = paired._swapped_parts(0, 1)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.abs(draws).max() < 0.05
    assert most < 50e6


# ---- one row of a kind ----------------------------------------------------------------------------


def test_one_positive_row_says_little_about_the_area():
    """With one positive its placement is uniform under no skill: the interval at an area near 1/2 is wide.

    Either of two scores without skill may win by far; the test must not be sure of it.
    """
    rng = np.random.default_rng(3)
    y = np.r_[1, np.zeros(200, dtype=int)]
    alarms = 0
    for _ in range(200):
        a, b = rng.random(201), rng.random(201)
        alarms += delong_test(y, a, b).p_value < 0.05
    assert alarms <= 20
    area = roc_curve(y, np.r_[100.5, np.arange(200)]).area
    assert area.interval.width > 0.7


def test_a_few_rows_in_reverse_are_no_proof():
    """Areas of 1 and 0 from two rows of each kind, where no row varies, do not differ for certain."""
    found = delong_test([0, 0, 1, 1], [1, 2, 3, 4], [4, 3, 2, 1])
    assert found.difference == 1
    assert 0.01 < found.p_value < 0.2
    many = np.arange(200)
    assert delong_test(many >= 100, many, -many).p_value < 1e-6
    assert delong_test([0, 0, 1, 1], [1, 2, 3, 4], [1, 2, 3, 4]).p_value == 1


def test_one_row_of_a_class_among_several():
    """Of three areas, one of a single row: a third of its deviation, sqrt(1/12), is in the mean's."""
    rng = np.random.default_rng(4)
    codes = np.r_[np.arange(2000) % 2, 2]
    Z = rng.normal(size=(2001, 3)) + np.eye(3)[codes]
    Z[2000, 2] = np.median(Z[:2000, 2])
    found = evaluate_predictions(codes, codes, scores=Z, classes=[0, 1, 2])["roc_auc"]
    assert found.interval.width == pytest.approx(2 * 1.96 / 3 / np.sqrt(12), rel=0.1)


def test_resamples_without_positives_are_left_out():
    """The bootstrap of an area skips them, without a warning, and does not count them against chance."""
    y = np.r_[np.ones(2, dtype=int), np.zeros(118, dtype=int)]
    rows = np.column_stack([y + np.linspace(0, 3, 120), np.linspace(1, 0, 120)])
    models = {
        "a": LogisticRegression().fit(rows, y),
        "b": LogisticRegression().fit(rows[:, ::-1] ** 2, y),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = lineal.compare(
            models, X_test=rows, y_test=y, metric="roc_auc", test="bootstrap", n_resamples=60
        )
    assert np.isfinite(found.pairs[0].test.interval.low)
    assert 1 / 61 <= found.pairs[0].p_value <= 1


# ---- curves and pictures --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (roc_curve, "an ROC curve"),
        (precision_recall_curve, "a precision-recall curve"),
        (calibration_curve, "a calibration curve"),
    ],
)
def test_a_curve_says_which_curve_needs_two_kinds(make, name):
    """One kind of label, or three, or weight on one kind alone: the message names the curve asked for."""
    for y in ([1, 1, 1], ["a", "b", "c"]):
        with pytest.raises(InputError, match=f"^{name} needs rows of two kinds, but y_true has"):
            make(y, [0.1, 0.5, 0.7])
    with pytest.raises(InputError, match=f"^{name} needs rows of two kinds"):
        make([0, 1, 1], [0.1, 0.5, 0.7], sample_weight=[0, 1, 1])
    with pytest.raises(InputError, match="y_true contains NaN"):
        make([0.0, 1.0, np.nan], [0.1, 0.5, 0.7])


@pytest.mark.parametrize("picture", [roc, precision_recall, calibration])
def test_a_picture_says_which_class_is_missing(picture):
    """Rows of one class: the message names the picture, the class and how many rows are of it."""
    model = LogisticRegression().fit(X, LABELS)
    here = LABELS == "a"
    with pytest.raises(
        InputError, match=f"^{picture.__name__} needs rows of class 'a' .* all of the 20 rows"
    ):
        picture(model, X[here], LABELS[here])
    with pytest.raises(
        InputError, match=f"^{picture.__name__} needs rows of class 'c' .* none of the 20 rows"
    ):
        picture(model, X[here], LABELS[here], positive="c")


def test_a_long_name_leaves_room_for_the_scores(plt):
    """The words below the axis stay inside the picture."""
    name = "a very long name of a model, as people give them: strength 0.001"
    found = lineal.compare({name: LogisticRegression(), "mean": DummyClassifier()}, X, TWO, cv=3)
    (axes,) = model_scores(found).plot()
    axes.figure.canvas.draw()
    box = axes.xaxis.label.get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= axes.figure.bbox.x1


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
    assert shown.names == ["a", "b"]
    assert not shown.is_worse.any()  # what is hollow is worse than the first, and here it is the other way


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


# ---- many rows ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["BCa", "percentile"])
def test_the_bootstrap_of_a_mean_takes_many_numbers(method):
    """A million numbers take seconds; the interval is the normal one there."""
    sample = np.random.default_rng(6).exponential(size=1_000_000)
    began = time.perf_counter()
    found = bootstrap_interval(sample, method=method, n_resamples=500)
    assert time.perf_counter() - began < 20
    half = 1.96 * sample.std() / 1000
    assert found.width == pytest.approx(2 * half, rel=0.15)
    assert sample.mean() in found
    assert found.method == f"bootstrap ({method})"


def test_every_metric_has_a_reason_or_a_number():
    """Of two rows that are all right, each metric is finite or says why it is missing."""
    classified = evaluate_predictions(["a", "b"], ["a", "b"], probabilities=[[1, 0], [0, 1]])
    numbers = evaluate_predictions([1.5, 1.5], [1.5, 1.5])
    for name, metric in METRICS.items():
        found = classified if metric.task == "classification" else numbers
        assert name in found.omitted or np.isfinite(found[name].value)
