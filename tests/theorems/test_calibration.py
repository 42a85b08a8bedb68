"""Calibrated probabilities: they agree with predict, and are worth more than raw ones."""

import numpy as np
import pytest
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold

from contract.members import features, labels, same_model
from lineal import (
    Calibrated,
    GaussianNB,
    KNeighborsClassifier,
    LinearClassifier,
    LinearSVC,
    Voting,
)
from lineal.errors import InputError, ParameterError
from lineal.objective import L2


def data(K=3, n=90):
    X = features(n)
    return X, labels(X, K)


METHODS = ["temperature", "platt", "isotonic"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize(
    "learner",
    [None, GaussianNB(), KNeighborsClassifier(), Voting([GaussianNB(), KNeighborsClassifier()])],
    ids=["squared hinge", "bayes", "neighbours", "votes"],
)
def test_the_largest_probability_is_the_prediction(learner, K, method):
    """Rows sum to 1, numbers are in [0, 1], and argmax is predict, also far out and at ties."""
    X, y = data(K, 60)
    model = Calibrated(learner, method, folds=3).fit(X, y)
    for rows in (X, 1e3 * X, 0 * X):
        p = model.predict_proba(rows)
        assert ((p >= 0) & (p <= 1)).all()
        np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
        np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(rows))
    if method == "temperature":
        np.testing.assert_array_equal(model.predict(X), model.learner_.predict(X))
        np.testing.assert_array_equal(model.predict(X), model.classes_[winners_of(model, X)])
    assert hasattr(model, "decision_function") == (method == "temperature")


def winners_of(model, X):
    Z = model.decision_function(X)
    return (Z >= 0).astype(int) if Z.ndim == 1 else Z.argmax(axis=1)


@pytest.mark.parametrize("method", METHODS)
def test_calibration_mends_probabilities(method):
    """Naive Bayes on columns that repeat each other is far too sure; calibrated, its log loss falls."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 1))
    y = (x[:, 0] + rng.logistic(size=2000) > 0).astype(int)
    X = np.repeat(x, 20, axis=1)
    raw = GaussianNB().fit(X[:1000], y[:1000]).predict_proba(X[1000:])
    model = Calibrated(GaussianNB(), method).fit(X[:1000], y[:1000])
    mended = np.clip(model.predict_proba(X[1000:]), 1e-3, 1)
    mended /= mended.sum(axis=1, keepdims=True)
    assert log_loss(y[1000:], mended) < 0.7 * log_loss(y[1000:], np.clip(raw, 1e-15, 1))
    truth = 1 / (1 + np.exp(-x[1000:, 0]))
    assert np.abs(mended[:, 1] - truth).mean() < 0.06


def test_a_temperature_is_that_of_the_learner_itself():
    """Calibrated by temperature is what probability=True gives, up to how rows were dealt into folds."""
    X, y = data(3, 400)
    ours = Calibrated(LinearSVC(), random_state=1).fit(X, y)
    theirs = LinearSVC(probability=True).fit(X, y)
    assert ours.temperature_ == pytest.approx(theirs.temperature_, rel=0.05)
    assert same_model(ours.learner_, theirs)


@pytest.mark.parametrize("method", METHODS)
def test_weights_of_rows_reach_the_probabilities(method):
    """With folds that keep copies together, a row of weight 2 is the row twice."""
    X, y = data(2, 60)
    s = np.tile([1, 2, 3], 20)
    fold = np.arange(60) % 4
    learner = LinearClassifier(penalty=L2(1.0), solver="lbfgs", tol=1e-14)

    def folds(numbers):
        class Given(KFold):
            def split(self, X, y=None, groups=None):
                for k in range(4):
                    yield np.flatnonzero(numbers != k), np.flatnonzero(numbers == k)

        return Given(4)

    weighted = Calibrated(learner, method, folds=folds(fold)).fit(X, y, sample_weight=s)
    repeated = Calibrated(learner, method, folds=folds(np.repeat(fold, s)))
    repeated.fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-4)


def test_impossible_calibrations_are_refused():
    """A class of one row, a fold that takes all of a class, an unknown method: refused in words."""
    X, y = data()
    with pytest.raises(ParameterError, match="method"):
        Calibrated(method="beta").fit(object(), object())
    with pytest.raises(InputError, match=r"2 rows of every class.*one of 3"):
        Calibrated().fit(X, np.where(np.arange(90) == 0, 3, y))
    with pytest.raises(InputError, match="stratifies"):
        Calibrated(folds=KFold(3)).fit(X, np.sort(y))
