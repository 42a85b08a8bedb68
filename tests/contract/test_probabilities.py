"""Probabilities: proper, agreeing with predict, and offered only where they mean something."""

import os
import signal
import time

import numpy as np
import pytest

from contract.members import classifiers, features, labels, named
from lineal import LinearClassifier, LinearSVC, LogisticRegression, RidgeClassifier
from lineal.errors import InputError, NotCertifiedWarning
from lineal.objective import L2, Hinge, Log, ModifiedHuber, Squared, SquaredHinge

NO_LIKELIHOOD = [Hinge(), SquaredHinge(), ModifiedHuber(), Squared()]
every_classifier = pytest.mark.parametrize("kind", classifiers(), ids=named)
classes = pytest.mark.parametrize("n_classes", [2, 3, 5])


def with_probabilities(kind):
    """An instance whose predict_proba exists."""
    return kind(probability=True) if "probability" in kind().get_params() else kind()


@classes
@every_classifier
def test_probabilities_are_probabilities(kind, n_classes):
    """(n, K) numbers in [0, 1]; rows sum to 1; predict_log_proba is their logarithm."""
    X = features(80)
    model = with_probabilities(kind).fit(X, labels(X, n_classes))
    p = model.predict_proba(3 * features(200, seed=9))
    assert p.shape == (200, n_classes)
    assert (p >= 0).all()
    assert (p <= 1).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X), atol=1e-12)


@classes
@every_classifier
def test_the_largest_probability_is_the_prediction(kind, n_classes):
    """argmax of predict_proba is predict, also on rows so far out that probabilities saturate."""
    X = features(80)
    model = with_probabilities(kind).fit(X, labels(X, n_classes))
    for scale in (1e-12, 1.0, 1e3, 1e9):
        rows = scale * features(300, seed=4)
        winners = model.classes_[model.predict_proba(rows).argmax(axis=1)]
        np.testing.assert_array_equal(winners, model.predict(rows))


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_exact_ties_agree_with_predict(n_classes):
    """Scores that are exactly equal, 0 included, give argmax and predict the same label; rows sum to 1."""
    X = features(80)
    y = labels(X, n_classes)
    for kind in classifiers():
        model = with_probabilities(kind).fit(X, y)
        model.coef_ = np.zeros_like(model.coef_)
        model.intercept_ = np.zeros_like(model.intercept_)
        p = model.predict_proba(X[:5])
        np.testing.assert_allclose(p, 1 / n_classes, atol=1e-12)
        np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X[:5]))
        if n_classes > 2:  # a tie between the last two alone
            model.intercept_[-2:] = 0.1 + 0.2
            p = model.predict_proba(X[:5])
            np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X[:5]))
            np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)


def test_scores_that_differ_in_the_last_bit_agree_with_predict():
    """Scores one rounding apart, where the exponential cannot tell them apart, still agree."""
    X = features(80)
    model = LogisticRegression().fit(X, labels(X, 3))
    model.coef_ = np.zeros_like(model.coef_)
    for top in range(3):
        model.intercept_ = np.full(3, 0.7)
        model.intercept_[top] = np.nextafter(0.7, 1)
        assert model.predict(X[:1])[0] == top
        assert model.predict_proba(X[:1]).argmax() == top


@pytest.mark.parametrize("intercept", [0.0, -0.0, 5e-324, -5e-324, 1e-17, -1e-17])
def test_two_classes_near_zero_agree_with_predict(intercept):
    """For two classes the score 0 and its neighbours give one answer in predict and in predict_proba."""
    X = features()
    model = LogisticRegression().fit(X, labels(X))
    model.coef_ = np.zeros_like(model.coef_)
    model.intercept_ = np.array([intercept])
    p = model.predict_proba(X[:1])
    assert model.classes_[p.argmax()] == model.predict(X[:1])[0]
    assert model.predict(X[:1])[0] == (1 if intercept >= 0 else 0)


def test_softmax_is_the_models_own():
    """For Log the probabilities are the model's: expit of the score, or softmax of the scores."""
    X = features(80)
    two = LogisticRegression().fit(X, labels(X))
    z = two.decision_function(X)
    np.testing.assert_allclose(two.predict_proba(X)[:, 1], 1 / (1 + np.exp(-z)), atol=1e-12)
    three = LogisticRegression().fit(X, labels(X, 3))
    e = np.exp(three.decision_function(X))
    np.testing.assert_allclose(three.predict_proba(X), e / e.sum(axis=1, keepdims=True), atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("loss", NO_LIKELIHOOD, ids=repr)
def test_scores_are_not_probabilities(loss, n_classes):
    """Losses that are no likelihood have no predict_proba, before and after fit, unless it is asked for."""
    X = features(80)
    model = LinearClassifier(loss=loss)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "predict_log_proba")
    model.fit(X, labels(X, n_classes))
    assert not hasattr(model, "predict_proba")
    asked = LinearClassifier(loss=loss, probability=True)
    assert hasattr(asked, "predict_proba")
    assert hasattr(asked.fit(X, labels(X, n_classes)), "predict_proba")


@pytest.mark.parametrize("kind", [LinearSVC, RidgeClassifier], ids=named)
def test_presets_without_a_likelihood(kind):
    """The same for presets: refitting without probability=True takes predict_proba away again."""
    X = features(80)
    assert not hasattr(kind().fit(X, labels(X)), "predict_proba")
    model = kind(probability=True).fit(X, labels(X))
    assert hasattr(model, "predict_proba")
    assert not hasattr(model.set_params(probability=False).fit(X, labels(X)), "predict_proba")


def log_loss(p, codes):
    return -np.log(p[np.arange(len(codes)), codes]).mean()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("loss", [*NO_LIKELIHOOD, Log()], ids=repr)
def test_probabilities_beat_a_constant(loss, n_classes):
    """On rows that were not fitted the log loss is below that of answering the classes' shares."""
    X = features(600)
    y = labels(X, n_classes)
    model = LinearClassifier(loss=loss, penalty=L2(1.0), probability=True).fit(X[:300], y[:300])
    shares = np.bincount(y[:300]) / 300
    constant = log_loss(np.tile(shares, (300, 1)), y[300:])
    assert log_loss(model.predict_proba(X[300:]), y[300:]) < constant


@pytest.mark.parametrize("n_classes", [2, 3])
def test_calibration_changes_no_weight(n_classes):
    """probability=True fits the same model, bit for bit, and is the same each time."""
    X = features(80)
    y = labels(X, n_classes)
    plain, asked = LinearSVC().fit(X, y), LinearSVC(probability=True).fit(X, y)
    np.testing.assert_array_equal(plain.coef_, asked.coef_)
    again = LinearSVC(probability=True).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), asked.predict_proba(X))


def test_calibration_needs_two_rows_of_each_class():
    """A class with one row cannot be held out: refused in words."""
    X = features()
    y = labels(X)
    y[0] = 2
    with pytest.raises(InputError, match="2 rows of every class"):
        LinearSVC(probability=True).fit(X, y)


def test_rows_without_a_weight_are_in_no_fold():
    """A fit with weights 0 and 1 is calibrated as one on the rows of weight 1 is."""
    X = features(80)
    y = labels(X)
    s = np.zeros(80)
    s[:16] = 1.0
    weighted = LinearSVC(probability=True).fit(X, y, sample_weight=s)
    alone = LinearSVC(probability=True).fit(X[:16], y[:16])
    assert weighted.temperature_ == pytest.approx(alone.temperature_, rel=1e-6)
    s[:16] = 0.0
    s[[np.flatnonzero(y == 0)[0], np.flatnonzero(y == 1)[0]]] = 1.0
    with pytest.raises(InputError, match="2 rows of every class"):
        LinearSVC(probability=True).fit(X, y, sample_weight=s)


def test_what_has_no_probabilities_says_how_to_get_them():
    """The missing method names the option."""
    with pytest.raises(AttributeError, match="probability=True"):
        LinearSVC().predict_proba  # noqa: B018


def slow(n_calls):
    """A callback that takes its time, and counts."""

    def watch(point):
        n_calls.append(point.epoch)
        time.sleep(0.05)

    return watch


@pytest.mark.filterwarnings("ignore::lineal.errors.NotCertifiedWarning")
def test_folds_share_the_seconds_of_the_fit():
    """max_seconds is for the fit and its folds together."""
    X = features(80)
    model = LinearClassifier(
        loss=SquaredHinge(), solver="gd", tol=1e-15, probability=True, max_seconds=1.0, callbacks=[slow([])]
    )
    began = time.perf_counter()
    model.fit(X, labels(X))
    # Six fits of a second each would be six; one second, and the last epoch of each fit.
    assert time.perf_counter() - began < 3.0
    assert model.temperature_ > 0


@pytest.mark.parametrize(("nth", "is_calibrated"), [(1, False), (2, False), (4, True)])
def test_ctrl_c_in_a_fold_ends_all_folds(nth, is_calibrated):
    """The folds that are done calibrate; without any there are no probabilities, and the weights stay."""
    X = features(80)
    fits = []

    def press(point):
        if point.epoch == 1:
            fits.append(point)
            if len(fits) == nth:
                os.kill(os.getpid(), signal.SIGINT)

    model = LinearClassifier(
        loss=SquaredHinge(), solver="lbfgs", tol=1e-8, probability=True, callbacks=[press]
    )
    with pytest.warns(NotCertifiedWarning):
        model.fit(X, labels(X))
    assert len(fits) == nth
    assert hasattr(model, "predict_proba") == is_calibrated
    assert model.predict(X).shape == (80,)
