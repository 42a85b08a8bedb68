"""What transductive, manifold and bag machines refuse, with what was needed and what to do."""

import datetime
import pickle
import signal
import warnings

import numpy as np
import pandas as pd
import pytest

import lineal
from contract.members import features
from lineal import LaplacianSVM, MultipleInstanceSVM, TransductiveSVM
from lineal.errors import InputError, NotCertifiedWarning, ParameterError
from lineal.kernels import Gaussian
from lineal.learners.scenarios import manifold

SEMI = [TransductiveSVM, LaplacianSVM]
ALL = [*SEMI, MultipleInstanceSVM]
X = features(40, 3)
Y = [("no", "yes")[int(row[0] > 0)] if place < 12 else None for place, row in enumerate(X)]
FULL = np.where(X[:, 0] > 0, "yes", "no")


def target(kind):
    return FULL if kind is MultipleInstanceSVM else Y


# ---- marks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SEMI)
def test_marks_of_unlabelled_rows_are_one(kind):
    """None, NaN and what unlabelled= says mark rows alike, as in SelfTraining."""
    numbers = np.array([np.nan if label is None else float(label == "yes") for label in Y])
    coded = np.where(np.isnan(numbers), -1, numbers).astype(int)
    by_none = kind().fit(X, Y).transduction_ == "yes"
    assert (by_none == (kind().fit(X, numbers).transduction_ == 1)).all()
    assert (by_none == (kind(unlabelled=-1).fit(X, coded).transduction_ == 1)).all()
    texts = [each or "?" for each in Y]
    for mark, y in (
        ("?", texts),
        ("?", np.array(texts)),
        ("?", list(np.array(texts))),
        (np.str_("?"), texts),
        (b"?", np.array(texts).astype(bytes)),
    ):
        found = kind(unlabelled=mark).fit(X, y).transduction_
        assert (by_none == (found.astype(str) == "yes")).all()
    days = np.array([np.datetime64("NaT" if each is None else "2020-01-01", "D") for each in Y])
    days[np.array(texts) == "yes"] += 1
    assert (by_none == (kind().fit(X, days).transduction_ == np.datetime64("2020-01-02"))).all()
    marked = np.where(np.isnat(days), np.datetime64("1970-01-01"), days)
    for mark in (datetime.date(1970, 1, 1), np.datetime64("1970-01-01"), pd.Timestamp("1970-01-01")):
        found = kind(unlabelled=mark).fit(X, marked).transduction_
        assert (by_none == (found == np.datetime64("2020-01-02"))).all()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = kind().fit(frame, pd.Series(Y, dtype=object))
    assert (by_none == (model.transduction_ == "yes")).all()
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("kind", SEMI)
@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([None] * 40, "rows with a label"),
        (["a"] * 3 + [None] * 37, "at least 2 classes"),
        (Y[:30], "30 labels"),
    ],
    ids=["none", "one class", "too few"],
)
def test_labels_that_cannot_be(kind, y, words):
    """Labels of which nothing can be learned are refused."""
    with pytest.raises(InputError, match=words):
        kind().fit(X, y)


# ---- options --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (TransductiveSVM(C=0), "C must be"),
        (TransductiveSVM(C=float("inf")), "C must be"),
        (TransductiveSVM(C_unlabelled=-1), "C_unlabelled must be"),
        (TransductiveSVM(positive_share=1.5), "positive_share must be"),
        (TransductiveSVM(positive_share={"no": 0.5, "maybe": 0.5}), "a share for each of the labels"),
        (TransductiveSVM(positive_share={"no": 0.5, "yes": 0.6}), "must sum to 1"),
        (TransductiveSVM(levels=0), "levels must be"),
        (TransductiveSVM(switches=0), "switches must be"),
        (TransductiveSVM(tol=0), "tol is a relative duality gap"),
        (TransductiveSVM(max_seconds=-1), "max_seconds must be"),
        (TransductiveSVM(kernel="sigmoid"), "no kernel"),
        (LaplacianSVM(gamma_manifold=-1), "gamma_manifold must be"),
        (LaplacianSVM(loss="log"), "'hinge' or 'squared'"),
        (LaplacianSVM(n_neighbors=0), "n_neighbors must be"),
        (MultipleInstanceSVM("both"), "variant must be"),
        (MultipleInstanceSVM(n_starts=0), "n_starts must be"),
        (MultipleInstanceSVM(positive="maybe"), "not among the labels"),
    ],
    ids=str,
)
def test_options_that_cannot_be(model, words):
    """An impossible option is named, and nothing is left behind."""
    with pytest.raises(ParameterError, match=words):
        model.fit(X, target(type(model)))
    assert not hasattr(model, "classes_")


def test_one_share_does_not_do_for_three_classes():
    """A share of one class of two says nothing of three."""
    y = ["a", "b", "c"] * 4 + [None] * 28
    with pytest.raises(ParameterError, match="mapping"):
        TransductiveSVM(positive_share=0.5).fit(X, y)


def test_more_rows_than_can_be_factorised_are_refused_before_work(monkeypatch):
    """LaplacianSVM says its limit and what to use."""
    monkeypatch.setattr("lineal.learners.scenarios.laplacian.MANIFOLD_LIMIT", 30)
    assert manifold.MANIFOLD_LIMIT == 8000
    with pytest.raises(InputError, match=r"up to 30 of them.*TransductiveSVM"):
        LaplacianSVM().fit(X, Y)


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (np.ones((3, 3)), "40 rows and columns"),
        (np.triu(np.ones((40, 40))), "symmetric"),
        (-np.ones((40, 40)), ">= 0"),
    ],
    ids=["shape", "symmetry", "sign"],
)
def test_graphs_that_cannot_be(graph, words):
    """A graph has non-negative weights that are the same both ways."""
    with pytest.raises(InputError, match=words):
        LaplacianSVM().fit(X, Y, graph=graph)


@pytest.mark.parametrize("kernel", ["linear", "poly"])
@pytest.mark.parametrize("kind", ALL)
def test_rows_too_far_out_are_refused(kind, kernel):
    """Numbers whose squares leave no digit of a score are refused before work starts."""
    with pytest.raises(InputError, match="Scale the columns"):
        kind(kernel=kernel, gamma=1.0).fit(1e20 * X, target(kind))


# ---- bags -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "y", "bags", "words"),
    [
        (X, FULL, np.arange(39), "each of the 40 rows"),
        (X, FULL, [None] * 40, "without a bag"),
        (X, ["yes"] * 5, np.arange(40) // 4, "5 values for 10 bags or 40 rows"),
        (X, {0: "yes"}, np.arange(40) // 4, "nothing for 9 bags"),
        (X, ["yes", "no"] * 20, np.arange(40) // 4, "two values"),
        ([X[:3], X[3:]], ["yes", "no"], [0, 1], "leave bags= out"),
        ([X[:3], X[:0]], ["yes", "no"], None, "bag 1 of X has no rows"),
        ([X[:3], X[3:, :2]], ["yes", "no"], None, "same columns"),
        ([X[:3], X[3:]], ["yes", "yes"], None, "only one class"),
        (X, ["a", "b", "c", "c"] * 10, None, "Only binary classification"),
    ],
    ids=[
        "names",
        "nameless",
        "labels",
        "mapping",
        "disagree",
        "twice",
        "empty",
        "columns",
        "one-class",
        "many",
    ],
)
def test_bags_that_cannot_be(data, y, bags, words):
    """Bags and labels that do not fit are refused with what was found."""
    with pytest.raises(InputError, match=words):
        MultipleInstanceSVM().fit(data, y, bags=bags)


# ---- ending early, keeping ------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", Gaussian(gamma=0.5)], ids=str)
@pytest.mark.parametrize("kind", [TransductiveSVM, MultipleInstanceSVM])
def test_time_that_runs_out_leaves_a_model(kind, kernel):
    """A fit that may not go on warns, says why, and can predict."""
    with pytest.warns(NotCertifiedWarning, match="cut short"):
        model = kind(kernel=kernel, max_seconds=1e-9).fit(X, target(kind))
    assert "max_seconds" in model.stopped_
    assert len(model.predict(X)) == 40


def test_an_interruption_ends_the_annealing(monkeypatch):
    """Ctrl-C leaves the labels so far."""
    from lineal.learners.scenarios import transduction

    original, calls = transduction.improved, []

    def improved(*args):
        calls.append(1)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return original(*args)

    monkeypatch.setattr(transduction, "improved", improved)
    with pytest.warns(NotCertifiedWarning, match="interrupted"):
        model = TransductiveSVM().fit(X, Y)
    assert model.n_rounds_ == 3
    assert model.stopped_ == "interrupted"


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("kind", ALL)
def test_models_survive_pickle(kind, kernel):
    """A model comes back with its scores."""
    model = kind(kernel=kernel).fit(X, target(kind))
    again = pickle.loads(pickle.dumps(model))
    assert (again.decision_function(X) == model.decision_function(X)).all()


@pytest.mark.parametrize("kind", ALL)
def test_kernels_are_not_stored_in_model_files(kind, tmp_path):
    """A model file holds linear scores; a machine of a kernel is refused by name."""
    model = kind(kernel="rbf").fit(X, target(kind))
    with pytest.raises(ParameterError, match=f"{kind.__name__}.*pickle"):
        lineal.save(model, tmp_path / "model.lineal")


@pytest.mark.parametrize("kind", SEMI)
def test_a_label_of_minus_one_is_suspected(kind):
    """Where -1 is one of three labels and nothing is marked, it may be a mark."""
    y = np.array([-1, 0, 1] * 13 + [0])
    with pytest.warns(UserWarning, match="unlabelled=-1"):
        kind().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kind(unlabelled=-1).fit(X, y)
