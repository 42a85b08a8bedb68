"""The perceptron's streams: what may come, what is refused, what is left out, and what is left behind."""

import inspect
import pickle
import signal
import sys
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from contract.members import features, labels, same_model, state
from contract.test_budgets import signal_after
from contract.test_stream_refusals import REFUSED
from lineal import Perceptron, TextClassifier
from lineal.errors import InputError, ParameterError, PrecisionWarning
from lineal.text import TextVectorizer

VARIANTS = ["averaged", "plain", "voted"]
every_variant = pytest.mark.parametrize("variant", VARIANTS)
# A perceptron has no weights of rows.
REFUSED_DATA = {name: what for name, what in REFUSED.items() if "weight" not in name}


def same(a, b, X):
    return a.updates_ == b.updates_ and np.array_equal(a.decision_function(X), b.decision_function(X))


# ---- what may come ------------------------------------------------------------------------------


@every_variant
def test_labels_come_at_any_time(variant):
    """Of any type, one, two and more of them; one alone is what is predicted; shapes follow."""
    X = features(60)
    y = labels(X, 4)
    for names in (list("dbca"), [3, 1, 2, 0], [True, False, 2, -1], ["b", 1, (2, 3), None]):
        own = np.empty(60, dtype=object)
        own[:] = [names[label] for label in y]
        model = Perceptron(variant)
        with pytest.raises(NotFittedError):
            model.predict(X)
        for n_classes in (1, 2, 3, 4):
            piece = np.flatnonzero(y < n_classes)
            assert model.partial_fit(X[piece], own[piece]) is model
            K = n_classes if n_classes > 2 else 1
            assert set(model.classes_.tolist()) == set(names[:n_classes])
            assert set(model.predict(X).tolist()) <= set(names[:n_classes])
            assert model.decision_function(X).shape == ((60,) if K == 1 else (60, K))
            assert hasattr(model, "coef_") == hasattr(model, "intercept_") == (variant != "voted")
            assert hasattr(model, "survivors_") == hasattr(model, "counts_") == (variant == "voted")
            coef, intercept = model.survivors_[-1] if variant == "voted" else (model.coef_, model.intercept_)
            assert (coef.shape, intercept.shape) == ((K, 5), (K,))
        for name in ("converged_", "margin_", "reason_"):
            assert not hasattr(model, name)


@every_variant
def test_columns_come_at_any_time(variant):
    """Behind the known ones, dense or sparse, named or not; to a prediction what was never met is nothing."""
    X, y = features(), labels(features(), 3)
    model = Perceptron(variant).partial_fit(X[:10, :2], y[:10])
    np.testing.assert_array_equal(model.predict(sp.csr_array(X)), model.predict(X[:, :2]))
    model.partial_fit(sp.csr_array(X[10:20, :4]), y[10:20]).partial_fit(X[20:], y[20:])
    model.partial_fit(sp.csr_array(X[:, :3]), y)  # nothing tells how wide a sparse matrix is meant to be
    assert model.n_features_in_ == 5
    narrow = np.column_stack([X[:, :3], np.zeros((40, 2))])
    np.testing.assert_array_equal(model.predict(sp.csr_array(X[:, :3])), model.predict(narrow))
    for width in (3, 6):
        with pytest.raises(InputError, match=f"{width} features"):
            model.predict(np.ones((2, width)))
    frame = pd.DataFrame(X, columns=list("abcde"))
    named = Perceptron(variant).partial_fit(frame[["a", "b"]], y).partial_fit(frame, y)
    assert named.feature_names_in_.tolist() == list("abcde")
    with pytest.raises(InputError, match="feature names should match"):
        named.partial_fit(frame[list("bacde")], y)


def test_texts_come_too():
    """A text classifier learns with it, word by word and label by label."""
    pieces = [
        ("good film", "pos"),
        ("bad film", "neg"),
        ("so so", "none"),
        ("a good cast", "pos"),
        ("bad", "neg"),
    ]
    small = TextVectorizer(n_features=2**10, weighting="occurrence", norm=None)
    model = TextClassifier(learner=Perceptron(), vectorizer=small)
    for text, label in pieces * 4:
        model.partial_fit([text], [label])
    assert model.predict(["good", "bad", "so so"]).tolist() == ["pos", "neg", "none"]
    assert model.n_seen_ == 20


def test_memory_is_that_of_columns_and_labels():
    """Rows leave nothing, unless they vote."""
    X, y = features(200), labels(features(200))
    model, sizes = Perceptron(), []
    for first in range(0, 200, 50):
        model.partial_fit(X[first : first + 50], y[first : first + 50])
        sizes.append(len(pickle.dumps(model)))
    assert max(sizes) <= sizes[0] + 50  # counts that grow


@every_variant
def test_a_file_that_is_mapped_goes_on(variant, tmp_path):
    """joblib's maps are read-only; what is learned goes into memory."""
    X, y = features(), labels(features(), 3)
    model = Perceptron(variant).partial_fit(X, y)
    joblib.dump(model, tmp_path / "model")
    mapped = joblib.load(tmp_path / "model", mmap_mode="r")
    assert same(mapped.partial_fit(X, y), model.partial_fit(X, y), X)


# ---- fits and streams ---------------------------------------------------------------------------


@every_variant
def test_a_fit_forgets_the_stream(variant):
    """The fit of a new model, and nothing is told of the stream; clone begins anew."""
    X, y = features(), labels(features(), 3)
    model = Perceptron(variant).partial_fit(X[:, :3], y)
    assert not hasattr(clone(model), "n_seen_")
    fresh = Perceptron(variant).fit(X, y)
    assert same(model.fit(X, y), fresh, X)
    assert set(vars(model)) == set(vars(fresh))
    with pytest.raises(InputError, match="3 features"):
        model.predict(sp.csr_array(X[:, :3]))  # a fit tells how wide a matrix is meant to be


def test_the_second_label_wins_ties_and_a_third_divides():
    """w becomes w and -w for the two, as the algorithm of more classes has them, and 0 for the third."""
    X = [[1.0, 0.0], [0.0, 2.0]]
    model = Perceptron("plain", fit_intercept=False).partial_fit(X, ["b", "a"])
    np.testing.assert_array_equal(model.coef_, [[0.0, -2.0]])
    model.partial_fit([[0.0, 0.0]], ["b"], classes=["c"])
    np.testing.assert_array_equal(model.coef_, [[0.0, 2.0], [0.0, -2.0], [0.0, 0.0]])
    assert (model.updates_, model.mistakes_.tolist()) == (2, [3])


# ---- what is refused ----------------------------------------------------------------------------


@every_variant
def test_refusals_come_before_the_first_row(variant):
    """A piece that is refused changes nothing: not a stream, not a fit, and nothing begins with it."""
    X, y = features(20), labels(features(20))
    streamed, fitted = Perceptron(variant).partial_fit(X, y), Perceptron(variant).fit(X, y)
    for name, (spoil, message) in REFUSED_DATA.items():
        wrong, targets = spoil(X, y)
        for model in (streamed, fitted, Perceptron(variant)):
            if not hasattr(model, "classes_") and name == "fewer columns":
                continue
            before = state(model)
            with pytest.raises(InputError, match=message):
                model.partial_fit(wrong, targets)
            assert state(model) == before
    for wrong in ([], "ab", 3, [[1, 2]]):
        with pytest.raises(InputError, match="classes must be a sequence"):
            streamed.partial_fit(X, y, classes=wrong)
    assert "sample_weight" not in inspect.signature(Perceptron.partial_fit).parameters


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"variant": "best", "validation": 0.5}, "weights of whole epochs.*averaged, plain, voted"),
        ({"variant": "random"}, "weights of whole epochs"),
        ({"until_convergence": True}, "a stream meets a row once"),
        ({"probability": True}, "holds rows out"),
    ],
    ids=str,
)
def test_options_that_need_whole_epochs_have_no_stream(options, words):
    """As an attribute that is not there, which says what to do instead."""
    assert not hasattr(Perceptron(**options), "partial_fit")
    with pytest.raises(AttributeError, match=words):
        Perceptron(**options).partial_fit(features(), labels(features()))


@pytest.mark.parametrize("options", [{"learning_rate": 0.0}, {"variant": "pocket"}], ids=str)
def test_impossible_options_are_refused(options):
    """By name, as in fit."""
    with pytest.raises(ParameterError, match=next(iter(options))):
        Perceptron(**options).partial_fit(features(), labels(features()))


def test_options_are_not_changed_in_the_middle_of_a_stream():
    """Nor between a fit and a stream, which goes on when they are set back."""
    X, y = features(), labels(features())
    for model in (Perceptron().partial_fit(X, y), Perceptron().fit(X, y)):
        before = state(model)
        for options in ({"variant": "plain"}, {"fit_intercept": False}, {"learning_rate": 2.0}):
            with pytest.raises(ParameterError, match="in the middle of a stream"):
                clone_of(model, options).partial_fit(X, y)
        assert state(model) == before
        model.partial_fit(X, y)
    best = Perceptron("best", validation=0.5).fit(X, y).set_params(variant="plain", validation=None)
    with pytest.raises(ParameterError, match="leaves no weights to go on from"):
        best.partial_fit(X, y)


def clone_of(model, options):
    """The same stream under other options."""
    other = clone(model).set_params(**options)
    other.__dict__.update(
        {name: value for name, value in vars(model).items() if name not in other.get_params()}
    )
    return other


@pytest.mark.parametrize("layout", [np.array, sp.csr_array])
def test_rows_that_overflow_are_left_out(layout):
    """With a warning that counts them; the model is that of the others; nothing else is refused."""
    X, y = features(), labels(features(), 3)
    wanted = Perceptron().partial_fit(X, y)
    huge = np.insert(X, [0, 15, 40], np.where(np.arange(5) == 1, -1e200, X[:1]), axis=0)
    with pytest.warns(PrecisionWarning, match="3 rows"):
        model = Perceptron().partial_fit(layout(huge), np.insert(y, [0, 15, 40], 9))
    np.testing.assert_allclose(model.coef_, wanted.coef_, rtol=1e-12, atol=1e-12)
    assert (model.n_seen_, model.classes_.tolist()) == (40, [0, 1, 2])
    with pytest.raises(InputError, match="Scale the columns"):
        Perceptron().partial_fit(layout(huge[:1]), [0])
    fitted = Perceptron(fit_intercept=False).fit(2.0**700 * X, y).partial_fit(layout(2.0**700 * X), y)
    plain = Perceptron(fit_intercept=False).fit(X, y).partial_fit(layout(X), y)
    np.testing.assert_array_equal(fitted.mistakes_, plain.mistakes_)


@pytest.mark.parametrize("rate", [1e-140, 1e-70, 1e70, 1e140])
def test_rates_make_no_weight_overflow(rate):
    """The larger the rate, the smaller the numbers that are left out; the others are learned from."""
    X, y = [[1.0], [-1.0], [2.0], [1e139], [-3.0]], [0, 1, 1, 0, 0]
    model = Perceptron("plain", learning_rate=rate)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecisionWarning)
        for _ in range(3):
            model.partial_fit(X, y)
    assert model.n_seen_ == 3 * (5 if rate < 1 else 4)
    assert np.isfinite(np.append(model.coef_, model.intercept_)).all()


@every_variant
def test_a_piece_that_memory_does_not_hold_leaves_everything_as_it_was(variant):
    """Columns, labels and weights; the stream goes on as if the piece had never come."""
    X, y = features(), labels(features(), 3)
    model, other = (Perceptron(variant).partial_fit(X, y) for _ in range(2))
    wide = sp.csr_array(([1.0], ([0], [2**45 - 1])), shape=(1, 2**45))
    for classes in (None, ["new", "names"]):
        with pytest.raises((MemoryError, InputError)):
            model.partial_fit(wide, [0], classes=classes)
        assert (model.n_features_in_, model.n_seen_, model.classes_.tolist()) == (5, 40, [0, 1, 2])
    for stream in (model, other):
        stream.partial_fit(X[::-1], y[::-1])
    np.testing.assert_array_equal(model.decision_function(X), other.decision_function(X))


@pytest.mark.skipif(sys.platform == "win32", reason="needs timers that send signals")
@every_variant
def test_ctrl_c_leaves_the_model_of_the_rows_that_were_met(variant):
    """n_seen_ says which; labels of rows that were not met are not known; the stream goes on from there."""
    rng = np.random.default_rng(0)
    n = 60000
    X, y = rng.normal(size=(n, 60)), np.arange(n) % 1000
    y[-1] = 99
    model = Perceptron(variant)
    with (
        signal_after(0.1, lambda number, frame: signal.raise_signal(signal.SIGINT)),
        pytest.raises(KeyboardInterrupt),
    ):
        model.partial_fit(X, y)
    n_met = model.n_seen_
    assert 0 < n_met < n
    assert model.classes_.tolist() == list(range(min(n_met, 1000)))
    short = Perceptron(variant).partial_fit(X[:n_met], y[:n_met])
    for stream in (model, short):
        stream.partial_fit(X[n_met : n_met + 20], y[n_met : n_met + 20])
    assert model.mistakes_.tolist() == short.mistakes_.tolist()
    if variant == "voted":
        np.testing.assert_array_equal(model.counts_, short.counts_)
    else:
        assert same_model(model, short)
