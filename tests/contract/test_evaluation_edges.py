"""Evaluation at its edges: few rows of a kind, scores that are not defined, many rows."""

import time
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import LeaveOneOut

import lineal
from lineal.canvas import dotted
from lineal.errors import InputError, ParameterError
from lineal.evaluation import (
    METRICS,
    bootstrap_interval,
    delong_test,
    evaluate_predictions,
    evaluate_ranking,
)
from lineal.evaluation.curves import calibration_curve, learning_curve, precision_recall_curve, roc_curve
from lineal.plot import calibration, model_scores, precision_recall, roc

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
NUMBERS = X[:, 0] + RNG.normal(size=60)
LABELS = np.array(["a", "b", "c"])[np.arange(60) % 3]
TWO = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
REGRESSORS = {"line": LinearRegression(), "mean": DummyRegressor()}


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


@pytest.mark.parametrize("n", [2, 3, 7, 20])
def test_legends_stay_inside_the_figure(n):
    """Whatever the names are: long, many, or such as matplotlib would not show."""
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    fitted = {
        f"_model {k} of a name that is rather long": lineal.LogisticRegression(C=10.0**-k).fit(X, TWO)
        for k in range(n)
    }
    fresh = {name: lineal.LogisticRegression() for name in list(fitted)[:7]}
    drawn = [
        lineal.plot.roc(fitted, X, TWO),
        lineal.plot.calibration(fitted, X, TWO),
        lineal.plot.learning_curve(fresh, X, TWO, cv=2, sizes=[20, 30]),
    ]
    for picture in drawn:
        (axes,) = picture.plot()
        axes.figure.canvas.draw()
        legend = axes.get_legend() or axes.figure.legends[0]
        box, page = legend.get_window_extent(), axes.figure.bbox
        assert page.x0 <= box.x0 < box.x1 <= page.x1
        assert page.y0 <= box.y0 < box.y1 <= page.y1
        assert axes.get_tightbbox().x0 >= page.x0 - 1
        assert axes.get_window_extent().height > 150
        assert len(legend.get_texts()) >= min(n, 7)
        plt.close(axes.figure)


def test_marks_of_points_differ():
    """Of 49 classes no two have the same colour and mark."""
    assert len({tuple(dotted(place).values()) for place in range(49)}) == 49


def test_a_confusion_is_of_labels():
    """A regressor has none."""
    with pytest.raises(ParameterError, match="Ridge predicts no labels"):
        lineal.plot.confusion(lineal.Ridge().fit(X, X[:, 0]), X, X[:, 0])


def test_rankings_without_a_number_are_refused():
    """A gain of 2^2000, and rows of the query NaN."""
    with pytest.raises(InputError, match="relevance up to 1000, got 2000"):
        evaluate_ranking([1, 2, 3], [0, 2000, 1], ["q"] * 3, gain="exponential")
    with pytest.raises(InputError, match="groups contains NaN"):
        evaluate_ranking([1, 2, 3], [0, 2, 1], [np.nan, 1, 1])


@pytest.mark.parametrize(
    "use",
    [
        lambda y: lineal.evaluate(LogisticRegression().fit(X, TWO), X, y),
        lambda y: lineal.compare({"a": LogisticRegression(), "b": DummyClassifier()}, X, y, cv=2),
        lambda y: lineal.tune(lineal.LogisticRegression(), X, y),
        lambda y: lineal.rank_features(X, y),
        lambda y: lineal.ForwardSelection().fit(X, y),
    ],
    ids=["evaluate", "compare", "tune", "rank", "search"],
)
def test_missing_labels_are_refused_by_their_place(use):
    """Of NumPy, of pandas' numbers and of pandas' objects."""
    with_nan = np.where(np.arange(60) == 4, np.nan, TWO)
    for y in (
        with_nan,
        pd.array(with_nan, dtype="Int64"),
        pd.Series([pd.NA if v != v else v for v in with_nan]),
    ):
        with pytest.raises(InputError, match=r"y.* (at|first at) (place|row) 4\b"):
            use(y)


def test_labels_that_a_model_has_never_met_are_told():
    """A None among the true labels is an error of the model's, with a note; known labels have none."""
    model = LogisticRegression().fit(X, LABELS)
    assert not any("never met" in note for note in lineal.evaluate(model, X, LABELS).notes)
    odd = LABELS.astype(object)
    odd[3], odd[5] = None, "d"
    found = lineal.evaluate(model, X, odd)
    assert "true labels that the model has never met: None, 'd'" in found.notes


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
