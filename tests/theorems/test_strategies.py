"""Strategies for many classes: what they are equal to."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB

import lineal
from contract.members import features, labels, same_model
from lineal import (
    FisherDiscriminant,
    GaussianNB,
    KNeighborsClassifier,
    LinearClassifier,
    LinearSVC,
    LogisticRegression,
    MultinomialNB,
    OneVsOne,
    OneVsRest,
    OutputCode,
    SGDClassifier,
)
from lineal.model.answers import possible
from lineal.model.simplex import agreeing, normalised, onto_simplex
from lineal.model.strategies import coupled
from lineal.objective import Hinge

STRATEGIES = [OneVsRest, OneVsOne, OutputCode]
every = pytest.mark.parametrize("kind", STRATEGIES)
TIGHT = LinearClassifier(solver="lbfgs", tol=1e-12)


def data(K=4, n=80):
    X = features(n)
    return X, labels(X, K)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_one_vs_rest_is_k_separate_fits(make):
    """Part k is the learner fitted to "is it class k?", bit for bit, with a certificate of its own."""
    X, y = data()
    model = OneVsRest().fit(make(X), y)
    for k, part in enumerate(model.parts_):
        alone = LinearClassifier().fit(make(X), (y == k).astype(int))
        assert same_model(part, alone)
        np.testing.assert_array_equal(
            model.decision_function(make(X))[:, k], alone.decision_function(make(X))
        )
        assert model.certificates_[k].converged


def test_one_vs_one_is_a_fit_for_each_pair():
    """Part (i, j) is the learner fitted to the rows of i and j alone, bit for bit."""
    X, y = data()
    model = OneVsOne().fit(X, y)
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    assert len(model.parts_) == len(pairs)
    for (i, j), part in zip(pairs, model.parts_, strict=True):
        rows = (y == i) | (y == j)
        assert same_model(part, LinearClassifier().fit(X[rows], (y[rows] == j).astype(int)))


@every
def test_two_classes_are_the_learner_itself(kind):
    """With two classes every strategy is one learner: same scores, labels and probabilities, bit for bit."""
    X, y = data(2)
    model, alone = kind().fit(X, y), LinearClassifier().fit(X, y)
    assert len(model.parts_) == 1
    np.testing.assert_array_equal(model.decision_function(X), alone.decision_function(X))
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))
    np.testing.assert_array_equal(model.predict_proba(X), alone.predict_proba(X))


def test_votes_and_their_ties():
    """Pairs vote for their second class from 0 on; most votes win, ties go to the larger sum of scores."""
    X, y = data(3)
    model = OneVsOne().fit(X, y)

    class Says(BaseEstimator):
        classes_ = np.array([0, 1])

        def __init__(self, z):
            self.z = z

        def decision_function(self, X):
            return np.full(len(X), self.z)

    def answer(z01, z02, z12):
        model.parts_ = [Says(z01), Says(z02), Says(z12)]
        return model.votes(X[:1])[0].tolist(), int(model.predict(X[:1])[0])

    assert answer(-1.0, -1.0, 5.0) == ([2, 0, 1], 0)
    assert answer(0.0, 1.0, -1.0) == ([0, 2, 1], 1)
    # A circle: 0 beats 1, 1 beats 2, 2 beats 0, one vote each; the sums are 3 - 1, 2 - 3 and 1 - 2.
    assert answer(-3.0, 1.0, -2.0) == ([1, 1, 1], 0)
    assert answer(-1.0, 3.0, -1.5) == ([1, 1, 1], 2)
    # All sums equal too: the first.
    assert answer(-1.0, 1.0, -1.0) == ([1, 1, 1], 0)
    # Sums of any size are told apart, also where the scores of classes round to the same number.
    for unit in (1e-200, 1e-17, 1e17, 1e200):
        assert answer(-1.0 * unit, 3.0 * unit, -1.5 * unit) == ([1, 1, 1], 2)
        assert answer(-3.0 * unit, 1.0 * unit, -2.0 * unit) == ([1, 1, 1], 0)


@pytest.mark.parametrize("bayes", [GaussianNB(), TheirGaussianNB()], ids=["ours", "theirs"])
def test_probabilities_that_round_to_one_are_told_apart(bayes):
    """Of learners with probabilities alone the exact log odds are compared."""
    X, y = load_digits(return_X_y=True)
    model = OneVsRest(bayes).fit(X[::2], y[::2])
    logs = [part.predict_log_proba(X[1::2]) for part in model.parts_]
    odds = np.column_stack([pair[:, 1] - pair[:, 0] for pair in logs])
    assert (np.abs(odds) > 40).mean() > 0.5
    np.testing.assert_array_equal(model.decision_function(X[1::2]), odds)
    np.testing.assert_array_equal(model.predict(X[1::2]), odds.argmax(axis=1))


def test_log_odds_of_a_stored_model_are_those_of_the_learner(tmp_path):
    """A model file compares the same numbers, bit for bit, where probabilities round to 0 and 1."""
    X, y = load_digits(return_X_y=True)
    for kind in (OneVsRest, OutputCode):
        model = kind(MultinomialNB()).fit(X[::2], y[::2])
        lineal.save(model, tmp_path / "model.lineal")
        stored = lineal.load(tmp_path / "model.lineal")
        np.testing.assert_array_equal(stored.predict(X), model.predict(X))
        np.testing.assert_array_equal(stored.decision_function(X), model.decision_function(X))


def test_what_is_impossible_is_below_all_that_is_not():
    """A probability of 0 has log odds of 2^-53 of the least that is possible, and no infinity.

    Where logarithms are exact it is below all that is improbable, in any row and part.
    """
    logs = np.log(np.array([[0.5, 0.25, 0.25], [1e-300, 1.0, 1.0]]))
    np.testing.assert_array_equal(possible(logs, are_exact=False), logs)
    with np.errstate(divide="ignore"):
        logs = np.log(np.array([[1.0, 0.0], [0.25, 0.0]]))
    found, exact = (possible(logs, are_exact=are_exact) for are_exact in (False, True))
    np.testing.assert_allclose(found[:, 0] - found[:, 1], 53 * np.log(2))
    np.testing.assert_allclose(exact[:, 0] - exact[:, 1], 1e6)
    counts = [[5, 5, 90], [5, 5, 90], [10, 0, 1], [10, 0, 1], [0, 10, 1], [0, 10, 1]]
    bayes = MultinomialNB(smoothing=0)
    model = OneVsRest(bayes).fit(counts, list("aabbcc"))
    for row in ([200.0, 1, 0], [1, 200, 0], [100, 100, 0]):  # which b and c cannot give
        assert model.predict([row]).tolist() == ["a"]


@pytest.mark.parametrize("K", [2, 3])
def test_logarithms_of_probabilities_go_on_where_those_end(K):
    """log p of linear learners is exact where p rounds to 0 or 1, and the logarithm of p elsewhere."""
    X, y = data(K)
    for learner in (
        LogisticRegression(),
        SGDClassifier(loss="log_loss", random_state=0),
        FisherDiscriminant(),
    ):
        model = learner.fit(X, y)
        np.testing.assert_allclose(model.predict_log_proba(X), np.log(model.predict_proba(X)), rtol=1e-9)
        far = 1e5 * X
        logs = model.predict_log_proba(far)
        assert np.isfinite(logs).all()
        assert logs.min() < -1000
        Z = model.decision_function(far)
        if K == 2:
            np.testing.assert_allclose(logs[:, 1] - logs[:, 0], Z, rtol=1e-9)


@pytest.mark.parametrize(
    ("kind", "theirs"), [(OneVsRest, OneVsRestClassifier), (OneVsOne, OneVsOneClassifier)]
)
def test_strategies_agree_with_scikit_learn(kind, theirs):
    """The same learner under scikit-learn's strategy gives the same scores and labels."""
    X, y = data(5, 150)
    ours, other = kind(TIGHT).fit(X, y), theirs(TIGHT).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), other.decision_function(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), other.predict(X))
    if kind is OneVsRest:
        np.testing.assert_allclose(ours.predict_proba(X), other.predict_proba(X), rtol=1e-9, atol=1e-9)


class OnlyLabels(ClassifierMixin, BaseEstimator):
    """A learner that says nothing but a label."""

    def fit(self, X, y):
        self.inner_ = GaussianNB().fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    def predict(self, X):
        return self.inner_.predict(X)


@every
@pytest.mark.parametrize(
    "learner",
    [None, LinearSVC(), LinearSVC(probability=True), GaussianNB(), KNeighborsClassifier(), OnlyLabels()],
    ids=lambda learner: type(learner).__name__,
)
def test_any_learner_of_two_classes_will_do(kind, learner):
    """Scores, probabilities, or labels alone: predict is the best score, and the largest probability."""
    X, y = data(4, 120)
    model = kind(learner).fit(X, y)
    far = np.concatenate([X, 50 * X, 1e6 * X])
    chosen = model.predict(far)
    np.testing.assert_array_equal(model.decision_function(far).argmax(axis=1), chosen)
    assert hasattr(model, "predict_proba") == hasattr(model.parts_[0], "predict_proba")
    if hasattr(model, "predict_proba"):
        p = model.predict_proba(far)
        np.testing.assert_array_equal(p.argmax(axis=1), chosen)
        np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
        assert (p >= 0).all()
    assert (model.predict(X) == y).mean() > 0.3


@every
def test_weights_are_repetitions(kind):
    """A weight of 2 is the row twice, a weight of 0 no row, where the learner has weights of rows."""
    X, y = data(3, 60)
    s = np.random.default_rng(0).integers(0, 3, size=60)
    weighted = kind(TIGHT).fit(X, y, sample_weight=s)
    repeated = kind(TIGHT).fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), rtol=1e-6, atol=1e-6
    )


@every
def test_a_warm_start_begins_where_the_last_fit_ended(kind):
    """Refitted with warm_start the parts need fewer epochs than cold ones; other classes start anew."""
    X, y = data(3)
    model = kind(LinearClassifier(warm_start=True, tol=1e-6, solver="lbfgs")).fit(X, y)
    cold = [part.n_iter_ for part in model.parts_]
    parts = model.parts_
    model.fit(X, y)
    assert sum(part.n_iter_ for part in model.parts_) < sum(cold)
    assert all(new is not old for new, old in zip(model.parts_, parts, strict=True))
    again = model.fit(X, np.array(["a", "b", "c"])[y])
    assert [part.n_iter_ for part in again.parts_] == cold
    assert [part.n_iter_ for part in kind(TIGHT).fit(X, y).fit(X, y).parts_] == [
        part.n_iter_ for part in kind(TIGHT).fit(X, y).parts_
    ]


def test_coupled_pairs_that_agree_give_their_probabilities_back():
    """Where r_kl = p_k / (p_k + p_l) for one p, coupling finds that p."""
    p = np.random.default_rng(0).dirichlet(np.full(6, 0.7), size=30) + 1e-3
    p /= p.sum(axis=1, keepdims=True)
    pairs = p[:, :, None] / (p[:, :, None] + p[:, None, :])
    np.testing.assert_allclose(coupled(pairs), p, atol=1e-9)


def test_probabilities_that_agree_are_the_nearest_that_do():
    """agreeing projects onto p_winner >= p_k: nothing that agrees is nearer, and rows that agree stay."""
    rng = np.random.default_rng(0)
    P, best = rng.dirichlet(np.ones(5), size=60), rng.integers(0, 5, size=60)
    Q = agreeing(P, best)
    rows = np.arange(60)
    np.testing.assert_array_equal(Q.argmax(axis=1), best)
    np.testing.assert_allclose(Q.sum(axis=1), 1.0, atol=1e-12)
    same = P.argmax(axis=1) == best
    np.testing.assert_array_equal(Q[same], P[same])
    distance = np.linalg.norm(Q - P, axis=1)
    for _ in range(300):
        R = rng.dirichlet(np.ones(5), size=60)
        R = np.where(rng.random((60, 1)) < 0.5, R, Q + 0.05 * (R - Q))
        is_fit = R[rows, best] >= R.max(axis=1)
        assert (np.linalg.norm(R - P, axis=1)[is_fit] >= distance[is_fit] - 1e-12).all()


def test_the_simplex():
    """onto_simplex leaves probabilities alone and finds the nearest ones to others; normalised divides."""
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(4), size=20)
    np.testing.assert_allclose(onto_simplex(p), p, atol=1e-15)
    X = rng.normal(size=(20, 4))
    nearest = onto_simplex(X)
    np.testing.assert_allclose(nearest.sum(axis=1), 1.0, atol=1e-12)
    assert (np.linalg.norm(X - nearest, axis=1) <= np.linalg.norm(X - p, axis=1)).all()
    np.testing.assert_array_equal(normalised(np.array([[0.0, 0.0], [1.0, 3.0]])), [[0.5, 0.5], [0.25, 0.75]])


def test_the_loss_of_the_learner_decodes():
    """decoding="loss" takes the loss that the learner minimises."""
    X, y = data(3)
    hinged = LinearClassifier(loss=Hinge())
    told, found = OutputCode(hinged, decoding=Hinge()).fit(X, y), OutputCode(hinged).fit(X, y)
    np.testing.assert_array_equal(told.decision_function(X), found.decision_function(X))
