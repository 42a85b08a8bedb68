"""Evaluation refuses what it cannot judge, takes what people have, and says what it did."""

import io
import json
import os
import signal
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from rich.console import Console
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.linear_model import Ridge as TheirRidge
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC as TheirSVC

import lineal
from lineal.errors import InputError, ParameterError
from lineal.evaluation import (
    METRICS,
    bootstrap_interval,
    corrected_resampled_t_test,
    delong_test,
    evaluate_predictions,
    evaluate_ranking,
    friedman,
    holm,
    mcnemar,
    nemenyi,
    paired_t_test,
    t_test,
    wilcoxon,
    wilson_interval,
)


def rows(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, np.where(X[:, 0] + X[:, 1] + rng.normal(size=n) > 0, "yes", "no")


MODELS = {"ours": lineal.LogisticRegression(), "theirs": TheirLogistic(C=0.01)}

# ---- tests ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: paired_t_test([1, 2, 3], [1, 2]), "one length, got 3 and 2"),
        (lambda: t_test([1, np.nan, 3], [1, 2]), "NaN or infinity, first at place 1"),
        (lambda: t_test([1], [1, 2]), "at least 2 numbers, got 1"),
        (lambda: t_test(["a", "b"], [1, 2]), "must be numbers"),
        (lambda: t_test([[1, 2]], [1, 2]), "shape"),
        (lambda: mcnemar([1, 0], [1, 2]), "True or False"),
        (lambda: mcnemar([1, 0, 1], [1, 0]), "3 rows and correct_b 2"),
        (lambda: delong_test([1, 1, 1], [1, 2, 3], [1, 2, 3]), "two kinds"),
        (lambda: delong_test([0, 1, 1], [1, 2], [1, 2, 3]), "2 numbers for 3"),
        (lambda: delong_test([0, 1], [1, 2], [1, 2], positive=7), "not among"),
        (lambda: friedman([[1, 2]]), "two or more data sets"),
        (lambda: friedman([[1, 2], [np.nan, 1]]), "row 1, column 0"),
        (lambda: nemenyi([[1, 2], [2, 1]], names=["a"]), "1 names"),
        (lambda: holm([0.1, 1.2]), "between 0 and 1"),
        (lambda: wilson_interval(3, 2), "successes"),
    ],
)
def test_bad_samples_are_refused(call, words):
    """Lengths, NaN, kinds and shapes are named in the error, before any work."""
    with pytest.raises(InputError, match=words):
        call()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: t_test([1, 2], [1, 2], confidence=95), "confidence"),
        (lambda: mcnemar([1, 0], [1, 0], method="fisher"), "method"),
        (lambda: corrected_resampled_t_test([1, 2], [1, 3], n_train=0, n_test=1), "n_train"),
        (lambda: bootstrap_interval([1, 2, 3], n_resamples=0), "n_resamples"),
        (lambda: bootstrap_interval([1, 2, 3], random_state="seed"), "random_state"),
        (lambda: bootstrap_interval([1, 2, 3], method="basic"), "method"),
        (lambda: evaluate_predictions([1, 2], [1, 2], task="guess"), "task"),
        (lambda: evaluate_predictions([1, 2], [1, 2], weights="mass"), "weights"),
        (lambda: evaluate_ranking([1, 2], [1, 0], [0, 0], gain="square"), "gain"),
    ],
)
def test_bad_options_are_refused(call, words):
    """An option that cannot be is named with what it may be."""
    with pytest.raises(ParameterError, match=words):
        call()


def test_samples_that_do_not_vary():
    """Equal constants: p = 1. Constants apart: p = 0 and a word of warning. Never NaN."""
    assert t_test([1, 1, 1], [1, 1]).p_value == 1
    assert paired_t_test([1, 2, 3], [1, 2, 3]).p_value == 1
    apart = paired_t_test([2, 3, 4], [1, 2, 3])
    assert (apart.p_value, apart.statistic) == (0, np.inf)
    assert "do not vary" in str(apart)
    assert wilcoxon([1, 2], [1, 2]).p_value == 1
    assert friedman(np.ones((4, 3))).p_value == 1
    assert delong_test([0, 0, 1, 1], [1, 2, 3, 4], [2, 4, 6, 8]).p_value == 1


# ---- evaluate -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (([1, 0], [1]), {}, "2 true values and 1 predictions"),
        (([], []), {}, "no rows"),
        (([1.5, np.nan], [1.0, 2.0]), {}, "NaN"),
        (([[1, 2], [3, 4]], [1, 2]), {"task": "classification"}, "shape"),
        ((np.array(["a", np.nan], dtype=object), ["a", "a"]), {}, "NaN"),
        (([1, 0], [1, 0]), {"probabilities": [0.2, 1.7]}, "add up to 1"),
        (([1, 0], [1, 0]), {"probabilities": [[0.2, 0.8]]}, "one row for each of 2"),
        (([1, 0, 2], [1, 0, 2]), {"probabilities": [0.1, 0.2, 0.3]}, "column for each of 3"),
        (([1, 0], [1, 0]), {"scores": [0.1, np.inf]}, "NaN or infinity"),
        (([1, 0], [1, 0]), {"sample_weight": [1, -1]}, "sample_weight"),
    ],
)
def test_bad_predictions_are_refused(arguments, options, words):
    """What does not fit together is named."""
    with pytest.raises(InputError, match=words):
        evaluate_predictions(*arguments, **options)


def test_any_fitted_model_can_be_evaluated():
    """Ours and theirs, with probabilities, with scores, with neither; what is missing is said."""
    X, y = rows()
    full = lineal.evaluate(TheirLogistic().fit(X, y), X, y, n_resamples=50)
    assert {"log_loss", "roc_auc"} <= set(full)
    scored = lineal.evaluate(TheirSVC().fit(X, y), X, y, n_resamples=50)
    assert "roc_auc" in scored
    assert "needs probabilities" in scored.omitted["log_loss"]
    with pytest.raises(KeyError, match="needs probabilities"):
        scored["log_loss"]

    class Constant:
        def predict(self, X):
            return np.full(len(X), "yes")

    plain = lineal.evaluate(Constant(), X, y, n_resamples=50)
    assert plain["accuracy"].value == np.mean(y == "yes")
    with pytest.raises(ParameterError, match="predict"):
        lineal.evaluate(object(), X, y)


def test_texts_tables_and_sparse_rows():
    """X may be whatever the model takes."""
    texts, labels = ["good film", "bad film", "good", "bad"] * 6, ["pos", "neg"] * 12
    model = lineal.TextClassifier().fit(texts, labels)
    assert lineal.evaluate(model, texts, labels, n_resamples=20)["accuracy"].value == 1
    X, y = rows()
    model = lineal.LogisticRegression().fit(X, y)
    want = lineal.evaluate(model, X, y, n_resamples=20)["log_loss"].value
    for rows_of, labels in ((sp.csr_array(X), pl.Series(y)), (X, pd.Series(y)), (X.tolist(), y.tolist())):
        found = lineal.evaluate(model, rows_of, labels, n_resamples=20)
        assert found["log_loss"].value == pytest.approx(want, rel=1e-12)


def test_labels_the_model_does_not_know():
    """A new label in y is an error of the model, with probability 0, and does not break the table."""
    X, y = rows()
    model = lineal.LogisticRegression().fit(X, y)
    y = y.astype(object)
    y[:5] = "maybe"
    found = lineal.evaluate(model, X, y, n_resamples=20)
    assert found.per_class["maybe"]["recall"].value == 0
    assert np.isfinite(found["log_loss"].value)


def test_one_class_and_few_rows():
    """One class, one row: areas are left out with a reason, the rest has intervals that are not points."""
    found = evaluate_predictions(["a"], ["a"], probabilities=[[1.0]], n_resamples=20)
    assert "two classes" in found.omitted["roc_auc"]
    assert found["accuracy"].interval.width > 0.5
    found = evaluate_predictions([2.0, 2.0, 2.0], [1.0, 2.5, 3.0], task="regression", n_resamples=20)
    assert {"r2", "spearman"} <= set(found.omitted)
    assert "mape" in found
    assert "mape" in evaluate_predictions([0.0, 1.5, 2.0], [1.0, 2.5, 3.0], n_resamples=20).omitted


def test_records_print_and_become_json():
    """str() is a table with every score; to_dict() goes through JSON; rich takes it."""
    X, y = rows()
    found = lineal.evaluate(lineal.LogisticRegression().fit(X, y), X, y, n_resamples=50)
    text = str(found)
    for words in (
        "accuracy",
        "95 % interval",
        "Wilson",
        "DeLong",
        "confusion",
        "bins of rows of equal weight",
    ):
        assert words in text
    assert json.loads(json.dumps(found.to_dict()))["scores"]["accuracy"]["value"] == found["accuracy"].value
    console = Console(record=True, width=100, file=io.StringIO())
    console.print(found)
    console.print(lineal.compare(MODELS, X, y, cv=3))
    assert "accuracy" in console.export_text()


def test_the_same_seed_gives_the_same_intervals():
    """Intervals depend on the data and the seed alone."""
    X, y = rows()
    model = lineal.LogisticRegression().fit(X, y)
    first, again, other = (lineal.evaluate(model, X, y, random_state=s, n_resamples=50) for s in (1, 1, 2))
    assert first.to_dict() == again.to_dict()
    assert first["calibration_error"].interval != other["calibration_error"].interval
    assert first["log_loss"].interval == other["log_loss"].interval  # in closed form


def test_bad_rankings_are_refused():
    """Lengths, negative relevance, and no relevant row at all."""
    with pytest.raises(InputError, match="2 scores, 1 relevances"):
        evaluate_ranking([1, 2], [1], [0, 0])
    with pytest.raises(InputError, match=">= 0"):
        evaluate_ranking([1, 2], [1, -1], [0, 0])
    with pytest.raises(InputError, match="no query"):
        evaluate_ranking([1, 2], [0, 0], [0, 0])


# ---- compare --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (({"one": TheirLogistic()},), {}, "at least two models, got 1"),
        (([TheirLogistic()],), {}, "dict of name to model"),
        (({"a": TheirLogistic(), "b": 3},), {}, "no predict"),
        (({"a": TheirLogistic(), "b": TheirRidge()},), {}, "one task"),
        ((MODELS,), {"metric": "r2"}, "is for regression"),
        ((MODELS,), {"metric": "goodness"}, "metric must be"),
        (({"a": TheirLogistic(), "b": TheirSVC()},), {"metric": "log_loss"}, "model 'b'.*does not have"),
        ((MODELS,), {"cv": 1}, "cv must be"),
        ((MODELS,), {"test": "sign"}, "test must be"),
        ((MODELS,), {"refit": False}, "X_test"),
        ((MODELS,), {"X_test": [[0.0] * 4]}, "both X_test and y_test"),
    ],
)
def test_bad_comparisons_are_refused(arguments, options, words):
    """One model, strangers, a metric that a model cannot have: refused before anything is fitted."""
    X, y = rows()
    with pytest.raises(ParameterError, match=words):
        lineal.compare(*arguments, X, y, **options)


def test_lengths_are_checked():
    """X and y of different lengths, and too few rows for the folds, are refused with both numbers."""
    X, y = rows()
    with pytest.raises(InputError, match="120 rows, but its y has 119"):
        lineal.compare(MODELS, X, y[1:])
    with pytest.raises(InputError, match="as many rows, got 5"):
        lineal.compare(MODELS, X[:5], y[:5])
    with pytest.raises(InputError, match="3 groups"):
        lineal.compare(MODELS, X, y, groups=[1, 2, 3])


def test_who_is_fitted():
    """With a test set: refit=None fits the unfitted ones, True all (clones), False none."""
    X, y = rows()
    held = {"X_test": X[80:], "y_test": y[80:]}
    odd = lineal.LogisticRegression().fit(X[:20], y[:20])
    mixed = {"odd": odd, "new": TheirLogistic()}
    result = lineal.compare(mixed, X[:80], y[:80], **held)
    assert result.models["odd"] is odd
    assert "already fitted: odd" in str(result)
    assert not hasattr(mixed["new"], "coef_")
    again = lineal.compare(mixed, X[:80], y[:80], refit=True, **held)
    assert not np.array_equal(again.models["odd"].coef_, odd.coef_)
    with pytest.raises(ParameterError, match="'new' not fitted"):
        lineal.compare(mixed, refit=False, **held)
    with pytest.raises(ParameterError, match="X and y are needed"):
        lineal.compare(mixed, **held)
    ready = {"odd": odd, "new": TheirLogistic().fit(X, y)}
    assert lineal.compare(ready, **held).seconds == {"odd": 0, "new": 0}


def test_the_test_follows_the_situation():
    """McNemar, DeLong, bootstrap, permutation below 100 rows, corrected t in folds, ranks over data sets."""
    X, y = rows(400)
    train, held = (X[:200], y[:200]), {"X_test": X[200:], "y_test": y[200:]}
    few = {"X_test": X[200:280], "y_test": y[200:280]}

    def kind(*arguments, **options):
        found = lineal.compare(MODELS, *arguments, n_resamples=200, **options)
        return found.pairs[0].test.test

    assert "McNemar" in kind(*train, **held)
    assert "McNemar" in kind(*train, **few)
    assert "DeLong" in kind(*train, metric="roc_auc", **held)
    assert "permutation" in kind(*train, metric="roc_auc", **few)
    assert "bootstrap" in kind(*train, metric="log_loss", **held)
    assert "permutation" in kind(*train, metric="f1_macro", **few)
    assert "McNemar" in kind(*train, sample_weight_test=np.full(200, 2), **held)
    assert "bootstrap" in kind(*train, sample_weight_test=np.full(200, 0.5), **held)
    assert "bootstrap" in kind(*train, sample_weight_test=np.ones(200), weights="importance", **held)
    assert "bootstrap" in kind(*train, test="bootstrap", **few)
    assert "corrected" in kind(X, y, cv=3)
    sets = {"first": train, "second": (X[200:], y[200:]), "third": (*train, X[200:], y[200:])}
    assert "Wilcoxon" in kind(sets, cv=3)
    more = lineal.compare(MODELS | {"third": lineal.GaussianNB()}, sets, cv=3)
    assert more.friedman is not None
    assert more.runs.shape == (3, 3)


@pytest.mark.parametrize("metric", [name for name, m in METRICS.items() if m.greater_is_better is not None])
@pytest.mark.parametrize("n_test", [60, 150])
def test_every_metric_can_be_compared(metric, n_test):
    """Each has evaluate's score, an interval around it, and a p in (0, 1], for any number of rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    if METRICS[metric].task == "classification":
        y = (X[:, 0] + rng.normal(size=300) > 0).astype(int) + (X[:, 1] > 1)
        models = {"a": lineal.LogisticRegression(), "b": lineal.GaussianNB()}
    else:
        y = np.exp(0.3 * X[:, 0] + 0.3 * rng.normal(size=300))
        models = {"a": lineal.Ridge(), "b": lineal.Ridge(alpha=300.0)}
    held = (X[300 - n_test :], y[300 - n_test :])
    found = lineal.compare(
        models, X[:150], y[:150], X_test=held[0], y_test=held[1], metric=metric, n_resamples=100
    )
    for name, model in found.models.items():
        own = lineal.evaluate(model, *held, n_resamples=100)[metric]
        assert found[name].value == pytest.approx(own.value)
        assert found[name].interval.method == own.interval.method
    assert 0 < found.pairs[0].p_value <= 1
    assert found.pairs[0].test.difference == pytest.approx(found["a"].value - found["b"].value)


def test_a_metric_of_ones_own():
    """A function of (y_true, y_pred) is resampled like any other; it gets the labels as they are."""
    X, y = rows(200)

    def recall_of_yes(y_true, y_pred):
        return np.mean(y_pred[y_true == "yes"] == "yes")

    found = lineal.compare(
        MODELS, X[:80], y[:80], X_test=X[80:], y_test=y[80:], metric=recall_of_yes, n_resamples=50
    )
    assert found.metric == "recall_of_yes"
    assert found["ours"].low <= found["ours"].value <= found["ours"].high
    assert lineal.compare(MODELS, X, y, cv=3, metric=recall_of_yes).runs.shape == (3, 2)


def test_folds_are_the_same_for_all_and_keep_groups():
    """A model and its clone differ nowhere; no group is on both sides of a fold; threads change nothing."""
    X, y = rows()
    same = lineal.compare({"a": lineal.GaussianNB(), "b": lineal.GaussianNB()}, X, y)
    np.testing.assert_array_equal(same.runs[:, 0], same.runs[:, 1])
    assert same.pairs[0].p_value == 1
    seen = []

    class Spy(lineal.GaussianNB):
        def fit(self, X, y, sample_weight=None):
            seen.append(set(X[:, -1]))
            return super().fit(X, y)

        def predict(self, X):
            assert not seen[-1] & set(X[:, -1])
            return super().predict(X)

    groups = np.repeat(np.arange(12), 10)
    marked = np.c_[X, groups]
    lineal.compare({"a": Spy(), "b": Spy()}, marked, y, groups=groups, cv=4)
    one, two = (lineal.compare(MODELS, X, y, cv=3, n_threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one.runs, two.runs)


def test_texts_can_be_compared():
    """Texts go to learners of texts as they are, in folds and on a test set."""
    texts, labels = ["good film", "bad film", "good", "bad", "fine", "poor"] * 8, ["pos", "neg"] * 24
    models = {
        "words": lineal.TextClassifier(),
        "others": make_pipeline(lineal.TextVectorizer(), lineal.LogisticRegression()),
    }
    assert lineal.compare(models, texts, labels, cv=3).runs.shape == (3, 2)
    assert len(lineal.compare(models, texts, labels, X_test=texts, y_test=labels).pairs) == 1


def test_ctrl_c_keeps_what_is_done():
    """After Ctrl-C the folds that all models have done are compared; before two of them it is raised."""
    X, y = rows()

    class Stops(TheirLogistic):
        fits = 0
        at = 0

        def fit(self, X, y):
            type(self).fits += 1
            if type(self).fits == type(self).at:
                os.kill(os.getpid(), signal.SIGINT)
                threading.Event().wait(0.05)
            return super().fit(X, y)

    Stops.at = 4
    found = lineal.compare({"a": TheirLogistic(), "b": Stops()}, X, y)
    assert not found.is_complete
    assert len(found.runs) == 3
    assert "stopped by Ctrl-C" in str(found)
    Stops.fits, Stops.at = 0, 2
    with pytest.raises(KeyboardInterrupt):
        lineal.compare({"a": TheirLogistic(), "b": Stops()}, X, y)


def test_labels_of_another_type_are_refused():
    """1 and "1" are different labels: a table of errors would be a silent mistake."""
    with pytest.raises(InputError, match="another type"):
        evaluate_predictions([0, 1, 1], ["0", "1", "1"])
    X, y = rows()
    with pytest.raises(InputError, match="another type"):
        lineal.evaluate(lineal.LogisticRegression().fit(X, y), X, (y == "yes").astype(int))


def test_columns_belong_to_the_classes_given():
    """Scores and probabilities follow classes=, in whatever order these come."""
    y, scores = np.array(["ham", "spam", "spam", "ham"]), np.array([0.1, 0.4, 0.9, 0.2])
    for name, columns in (("scores", scores), ("probabilities", np.c_[1 - scores, scores])):
        straight = evaluate_predictions(y, y, classes=["ham", "spam"], **{name: columns})
        turned = columns[:, ::-1] if columns.ndim == 2 else -columns
        other = evaluate_predictions(y, y, classes=["spam", "ham"], **{name: turned})
        assert straight["roc_auc"].value == other["roc_auc"].value == 1


def test_a_failing_fit_is_raised_from_threads_too():
    """An error in one fit ends the comparison with that error, also with several threads."""
    X, y = rows()

    class Fails(TheirLogistic):
        def fit(self, X, y):
            raise RuntimeError("no luck")

    for n_threads in (1, 2):
        with pytest.raises(RuntimeError, match="no luck"):
            lineal.compare({"a": TheirLogistic(), "b": Fails()}, X, y, n_threads=n_threads)


def test_progress_is_shown_on_a_terminal_only(monkeypatch, capsys):
    """progress=True counts fits on a terminal's error stream; elsewhere nothing is written."""
    X, y = rows()
    lineal.compare(MODELS, X, y, cv=3, progress=True)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("FORCE_COLOR", "1")
    lineal.compare(MODELS, X, y, cv=3, progress=True)
    out, shown = capsys.readouterr()
    assert out == ""
    assert "of 6 fits" in shown


# ---- learners that are not fitted ------------------------------------------------------------------


FOLDS = [(np.flatnonzero(np.arange(120) % 4 != k), np.flatnonzero(np.arange(120) % 4 == k)) for k in range(4)]


@pytest.mark.parametrize("learner", [lineal.LogisticRegression(), lineal.LinearSVC(), TheirSVC()])
def test_a_learner_that_is_not_fitted_is_judged_by_folds(learner):
    """Every score is that of what clones predict of their held-out rows; nobody fits the learner."""
    X, y = rows()
    found = lineal.evaluate(learner, X, y, cv=FOLDS, n_resamples=50)
    assert not hasattr(learner, "classes_")
    said, scores, P = np.empty(120, dtype="<U3"), np.empty(120), np.empty((120, 2))
    has_probabilities = hasattr(learner, "predict_proba")
    for train, test in FOLDS:
        part = clone(learner).fit(X[train], y[train])
        said[test], scores[test] = part.predict(X[test]), part.decision_function(X[test])
        P[test] = part.predict_proba(X[test]) if has_probabilities else 0
    columns = {"probabilities": P} if has_probabilities else {"scores": scores}
    wanted = evaluate_predictions(y, said, **columns, classes=["no", "yes"], n_resamples=50)
    assert {name: score.value for name, score in found.scores.items()} == {
        name: score.value for name, score in wanted.scores.items()
    }
    assert found["accuracy"].interval == wanted["accuracy"].interval
    assert found.notes[0] == "4 folds: each row is judged by a fit to the other 3"


def test_folds_of_numbers_texts_classes_and_weights():
    """Regressors, texts, classes that a fold has not met, weights of 0, groups, folds that are asked for."""
    X, y = rows()
    t = X @ [1.0, 2.0, 0.0, 0.0]
    assert lineal.evaluate(lineal.Ridge(), X, t)["r2"].value > 0.99
    model = lineal.Ridge().fit(X, t)
    before = model.coef_.copy()
    assert lineal.evaluate(model, X, t, cv=3).notes[0].startswith("3 folds")
    np.testing.assert_array_equal(model.coef_, before)
    texts = [f"{label} {k % 5}" for k, label in enumerate(y)]
    assert lineal.evaluate(lineal.TextClassifier(strengths=1.0), texts, y, cv=3)["accuracy"].value == 1.0
    rare = np.where(np.arange(120) % 4 == 0, np.where(np.arange(120) < 60, "rare", y), y)
    judged = lineal.evaluate(lineal.LogisticRegression(), X, rare, cv=FOLDS, n_resamples=50)
    assert judged["accuracy"].value == np.mean(
        [clone(MODELS["ours"]).fit(X[a], rare[a]).predict(X[b]) == rare[b] for a, b in FOLDS]
    )
    s = np.where(np.arange(120) % 3 == 0, 0.0, 1.0)
    weighted = lineal.evaluate(lineal.LogisticRegression(), X, y, sample_weight=s, cv=FOLDS, n_resamples=50)
    right = [(clone(MODELS["ours"]).fit(X[a], y[a], s[a]).predict(X[b]) == y[b])[s[b] > 0] for a, b in FOLDS]
    assert weighted["accuracy"].value == pytest.approx(np.mean(np.concatenate(right)))
    groups = np.repeat(np.arange(12), 10)
    assert lineal.evaluate(lineal.LogisticRegression(), X, y, groups=groups).notes[0].startswith("10 folds")


def test_folds_that_do_not_judge_each_row_once_are_refused():
    """Rows that are held out twice would count twice; compare takes such folds."""
    X, y = rows()
    with pytest.raises(ParameterError, match=r"never or several times.*lineal\.compare"):
        lineal.evaluate(lineal.LogisticRegression(), X, y, cv=FOLDS[:3])
    with pytest.raises(ParameterError, match="takes no sample_weight"):
        lineal.evaluate(lineal.Perceptron(), X, y, sample_weight=np.ones(120))
