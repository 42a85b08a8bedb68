"""Every learner of streams: what may come, what is refused, what is left behind, and when it forgets."""

import ctypes
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from contract.members import data_for, features, half_met, labels, named, numbers, same_model, state, streams
from lineal import (
    LinearRegressor,
    LinearSVC,
    LogisticRegression,
    OnlineClassifier,
    OnlineRegressor,
    PassiveAggressiveClassifier,
    SGDClassifier,
    verify,
)
from lineal.errors import InputError
from lineal.learners.model import LinearModel
from lineal.objective import CompiledLoss, Hinge, Squared

every = pytest.mark.parametrize("kind", streams(), ids=named)
every_classifier = pytest.mark.parametrize("kind", [k for k in streams() if is_classifier(k())], ids=named)
every_regressor = pytest.mark.parametrize("kind", [k for k in streams() if not is_classifier(k())], ids=named)


# ---- what may come ------------------------------------------------------------------------------


@every
def test_pieces_come_as_they_are(kind):
    """No classes need be named; one row is a piece; what was met can be predicted, and is counted."""
    X, y = data_for(kind)
    model = kind()
    with pytest.raises(NotFittedError):
        model.predict(X)
    for first, last in ((0, 1), (1, 30), (30, 40)):
        assert model.partial_fit(X[first:last], y[first:last]) is model
        assert model.predict(X).shape == (40,)
        assert model.n_seen_ == last
    assert np.isfinite(model.coef_).all()
    assert model.online_loss_ > 0
    assert hasattr(model, "online_accuracy_") == is_classifier(model)


@every
def test_columns_come_at_any_time(kind):
    """Behind the known ones, dense or sparse; to a prediction a column that was never met counts nothing."""
    X, y = data_for(kind)
    model = kind().partial_fit(X[:10, :2], y[:10])
    assert model.n_features_in_ == np.shape(model.coef_)[-1] == 2
    unseen = sp.csr_array(X)  # nothing tells how wide a sparse matrix is meant to be
    np.testing.assert_allclose(model.predict(unseen), model.predict(X[:, :2]))
    model.partial_fit(sp.csr_array(X[10:20, :4]), y[10:20]).partial_fit(X[20:], y[20:])
    assert model.n_features_in_ == np.shape(model.coef_)[-1] == 5
    wide = np.column_stack([X[:, :3], np.zeros((40, 2))])
    np.testing.assert_allclose(model.predict(sp.csr_array(X[:, :3])), model.predict(wide))
    for width in (3, 6):
        with pytest.raises(InputError, match=f"{width} features"):
            model.predict(np.ones((2, width)))


@every_classifier
def test_labels_come_at_any_time(kind):
    """Of any type, one, two and more of them; shapes follow."""
    X = features(60)
    y = labels(X, 4)
    for names in (
        list("dbca"),
        [3, 1, 2, 0],
        [True, False, 2, -1],
        ["b", 1, (2, 3), None],
        [2.0, 1.0, 7.0, -3.0],
    ):
        own = np.empty(60, dtype=object)
        own[:] = [names[label] for label in y]
        own = own if len({type(name) for name in names}) > 1 else np.array(own.tolist())
        model = kind()
        for n_classes in (1, 2, 3, 4):
            piece = np.flatnonzero(y < n_classes)
            model.partial_fit(X[piece], own[piece])
            shape = (n_classes if n_classes > 2 else 1, 5)
            assert set(model.classes_.tolist()) == set(names[:n_classes])
            assert model.coef_.shape == shape
            assert model.intercept_.shape == shape[:1]
            assert model.decision_function(X).shape == ((60, n_classes) if n_classes > 2 else (60,))
            assert set(model.predict(X).tolist()) <= set(names[:n_classes])
            if hasattr(model, "predict_proba"):
                P = model.predict_proba(X)
                assert P.shape == (60, n_classes)
                np.testing.assert_allclose(P.sum(axis=1), 1.0)
                np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))


@every_classifier
def test_one_label_so_far_is_what_is_predicted(kind):
    """Whatever the score; its probability is 1; a label that was named is a label."""
    X = np.vstack([features(20), np.zeros(5)])
    model = kind(fit_intercept=False).partial_fit(X, ["only"] * 21)
    assert model.predict(X).tolist() == ["only"] * 21
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_[0], atol=1e-12)
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(model.predict_proba(X), 1.0)
    model = kind().partial_fit(X, ["only"] * 21, classes=["only", "other", "third"])
    assert model.classes_.tolist() == ["only", "other", "third"]
    assert model.coef_.shape == (3, 5)


@every_regressor
def test_targets_keep_their_shape(kind):
    """(n,) or (n, K) from the first piece on; no change of mind."""
    X = features()
    one, three = kind().partial_fit(X, numbers(X)), kind().partial_fit(X, numbers(X, 3))
    assert (np.shape(one.coef_), np.shape(one.intercept_), one.predict(X).shape) == ((5,), (), (40,))
    assert (np.shape(three.coef_), np.shape(three.intercept_), three.predict(X).shape) == (
        (3, 5),
        (3,),
        (40, 3),
    )
    before = state(one), state(three)
    for model, other in ((one, numbers(X, 3)), (three, numbers(X)), (three, numbers(X, 2))):
        with pytest.raises(InputError, match="but the stream began with"):
            model.partial_fit(X, other)
    assert (state(one), state(three)) == before


@every
def test_names_of_columns_are_kept(kind):
    """New columns need names where the others have them; other names, or another order, are refused."""
    X, y = data_for(kind)
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = kind().partial_fit(frame[["a", "b", "c"]], y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    model.partial_fit(frame, y)
    assert model.feature_names_in_.tolist() == list("abcde")
    plain = kind().partial_fit(X[:, :3], y).partial_fit(X, y)
    assert same_model(model, plain)
    before = state(model)
    for wrong in (frame[list("bacde")], frame[list("abcd")], frame.rename(columns={"e": "f"})):
        for use in (lambda X: model.partial_fit(X, y), model.predict):
            with pytest.raises(InputError, match="feature names should match"):
                use(wrong)
    with pytest.raises(InputError, match="new columns need names too"):
        model.partial_fit(np.column_stack([X, X]), y)
    assert state(model) == before


# ---- fits and streams ---------------------------------------------------------------------------


@every
def test_a_stream_goes_on_from_a_fit(kind):
    """It starts from the fitted weights; the fit's proof is gone, and any model can still be verified."""
    X, y = data_for(kind)
    if not issubclass(kind, LinearModel):
        model = kind(shuffle=False).fit(X, y)
        twice = kind(shuffle=False).partial_fit(X, y, **({"classes": [0, 1]} if is_classifier(model) else {}))
        assert same_model(model.partial_fit(X, y), twice.partial_fit(X, y))
        assert model.n_seen_ == 80
        return
    model = kind().fit(X, y)
    before = model.coef_.copy()
    model.partial_fit(np.zeros((1, 5)), y[:1])
    np.testing.assert_array_equal(model.coef_, before)
    assert model.n_seen_ == 1
    for name in ("certificate_", "dual_", "trace_", "plan_"):
        assert not hasattr(model, name)
    proof = verify(model.partial_fit(X, y), X, y)
    assert not np.array_equal(model.coef_, before)
    assert proof.dual <= proof.primal < np.inf


@every
def test_a_fit_forgets_the_stream(kind):
    """Bit for bit the fit of a new model, and nothing is told of the stream."""
    X, y = data_for(kind)
    model = kind().partial_fit(X[:, :3], y).fit(X, y)
    fresh = kind().fit(X, y)
    assert same_model(model, fresh)
    assert set(vars(model)) == set(vars(fresh))
    assert model.n_features_in_ == 5


@every
def test_copies_are_independent(kind):
    """clone begins anew, pickle goes on, and parameters are never touched."""
    model, X, y = half_met(kind)
    given = model.get_params()
    fresh = clone(model)
    assert not hasattr(fresh, "n_seen_")
    copy, before = pickle.loads(pickle.dumps(model)), state(model)
    copy.partial_fit(X, y)
    assert state(model) == before
    assert same_model(copy, model.partial_fit(X, y))
    assert all(model.get_params()[name] is given[name] for name in given)


def test_epochs_are_passes():
    """fit is partial_fit over and over, in any order; the first pass tells how new rows are predicted."""
    X, y = features(), labels(features())
    model = OnlineClassifier(epochs=3, shuffle=False).fit(X, y)
    passes = OnlineClassifier().partial_fit(X, y, classes=[0, 1])
    honest = passes.online_accuracy_
    assert same_model(model, passes.partial_fit(X, y).partial_fit(X, y))
    assert (model.online_accuracy_, model.n_seen_, model.n_iter_) == (honest, 120, 3)
    shuffled = [OnlineClassifier(epochs=2, random_state=seed).fit(X, y) for seed in (1, 1, 2)]
    assert same_model(shuffled[0], shuffled[1])
    assert not same_model(shuffled[0], shuffled[2])


# ---- weights, searches, losses of one's own -----------------------------------------------------


@every_classifier
def test_class_weights_are_weights_of_rows(kind):
    """A dict multiplies the weights of a label's rows; labels may be missing there, or never come."""
    X = features()
    y = labels(X, 3)
    weighted = kind(class_weight={0: 2.0, 2: 0.5, 9: 7.0}).partial_fit(X, y, sample_weight=np.full(40, 3.0))
    direct = kind().partial_fit(X, y, sample_weight=np.array([6.0, 3.0, 1.5])[y])
    assert same_model(weighted, direct)
    assert weighted.online_accuracy_ == direct.online_accuracy_
    without = kind(class_weight={2: 0.0}).partial_fit(X, y)
    assert without.n_seen_ == np.count_nonzero(y != 2)


def test_the_share_that_was_right_counts_rows_by_their_weights():
    """Of samples and of classes; a label that was never seen is predicted wrong, one alone is predicted."""
    X, y, s = np.ones((4, 1)), [0, 0, 0, 1], [1.0, 2.0, 3.0, 4.0]
    assert OnlineClassifier().partial_fit(X, y).online_accuracy_ == 2 / 4
    assert OnlineClassifier().partial_fit(X, y, sample_weight=s).online_accuracy_ == (2 + 3) / 10
    weighted = OnlineClassifier(class_weight={1: 5.0}).partial_fit(X, y, sample_weight=s)
    assert weighted.online_accuracy_ == (2 + 3) / (1 + 2 + 3 + 5 * 4)


def test_searches_and_pipelines():
    """Online learners in scikit-learn's pipelines and searches."""
    X = features()
    for model, y in ((OnlineClassifier(), labels(X)), (OnlineRegressor(), numbers(X))):
        pipeline = make_pipeline(StandardScaler(), model)
        name = type(model).__name__.lower()
        search = GridSearchCV(pipeline, {f"{name}__average": [True, False], f"{name}__epochs": [1, 2]}, cv=2)
        assert search.fit(X, y).predict(X).shape == (40,)
    stream = make_pipeline(StandardScaler().fit(X), OnlineClassifier())
    stream[-1].partial_fit(stream[0].transform(X), labels(X))
    assert stream.predict(X).shape == (40,)


def test_a_compiled_loss_learns_from_streams():
    """Half the squared error by a user's own functions: the steps of Squared()."""
    plain = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)
    loss = CompiledLoss(plain(lambda y, z: 0.5 * (z - y) ** 2), plain(lambda y, z: z - y))
    X = features()
    own = OnlineRegressor(loss).partial_fit(X[:20], numbers(X)[:20]).partial_fit(X[20:], numbers(X)[20:])
    wanted = OnlineRegressor(Squared()).partial_fit(X, numbers(X))
    np.testing.assert_allclose(own.coef_, wanted.coef_, rtol=1e-9)


def test_probabilities_come_with_likelihoods_only():
    """predict_proba is there for Log, also one-vs-rest, and is no attribute of other losses."""
    X = features()
    for model in (OnlineClassifier(), LogisticRegression(), SGDClassifier("log_loss")):
        assert model.partial_fit(X, labels(X, 3)).predict_proba(X).shape == (40, 3)
        assert model.predict_log_proba(X).shape == (40, 3)
    for model in (OnlineClassifier(Hinge()), LinearSVC(), PassiveAggressiveClassifier()):
        assert not hasattr(model.partial_fit(X, labels(X, 3)), "predict_proba")


def test_memory_is_that_of_columns_and_labels():
    """16 bytes a column for two labels; 8 for each of more and 8 for the metric. Rows leave nothing."""
    rng = np.random.default_rng(0)
    for n_classes, n_bytes in ((2, 16), (5, 48)):
        model, sizes = OnlineClassifier(), []
        for _ in range(5):
            X = sp.random_array((50, 2**14), density=1e-3, rng=rng, format="csr")
            model.partial_fit(X, np.arange(50) % n_classes)
            sizes.append(len(pickle.dumps(model)))
        assert len(set(sizes)) == 1
        assert sizes[0] == pytest.approx(n_bytes * 2**14, rel=0.2)
    assert LinearRegressor().partial_fit(X, np.arange(50.0))._stream.records.nbytes == 16 * 2**14
