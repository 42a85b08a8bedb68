"""Votes of several models: who wins, and what the weights of votes mean."""

import itertools

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from contract.members import features, labels, same_model
from lineal import (
    FisherDiscriminant,
    GaussianNB,
    KNeighborsClassifier,
    LinearClassifier,
    LinearSVC,
    Voting,
)
from lineal.errors import ParameterError


def data(K=3, n=90):
    X = features(n)
    return X, labels(X, K)


class Always(ClassifierMixin, BaseEstimator):
    """Says one label, with a chance."""

    def __init__(self, label="a", chance=1.0):
        self.label = label
        self.chance = chance

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.label)

    def predict_proba(self, X):
        rest = (1.0 - self.chance) / (len(self.classes_) - 1)
        return np.tile(np.where(self.classes_ == self.label, self.chance, rest), (len(X), 1))


THREE = ["a", "b", "c"]


def vote(said, rule, **options):
    """The winner among models that say these labels."""
    X, y = features(9, 1), THREE * 3
    return Voting([Always(*s) for s in said], rule, **options).fit(X, y).predict(X[:1])[0]


def test_most_votes_win_and_more_than_half_are_a_majority():
    """v_i = sum_j [y(m_j) = c_i]: plurality is the largest, the first at a tie; majority is over half."""
    for said in itertools.product("abc", repeat=4):
        v = [said.count(label) for label in THREE]
        assert vote(said, "plurality") == THREE[v.index(max(v))]
        wanted = THREE[v.index(max(v))] if max(v) > 2 else "nobody"
        assert vote(said, "majority", refusal="nobody") == wanted


def test_half_is_no_majority_however_weights_round():
    """Weights 0.1, 0.2 against 0.3 are a tie, which rounding must not break; a little more is a majority."""
    assert vote("aab", "majority", weights=[0.1, 0.2, 0.3]) is None
    assert vote("aab", "majority", weights=[0.1, 0.2, 0.3 - 1e-9]) == "a"
    assert vote("aab", "plurality", weights=[1, 1, 3]) == "b"


def test_a_refusal_may_be_any_label():
    """None, a label of the same type, of another, or a class: refused rows get it, others keep theirs."""
    X, y = features(6, 1), np.array([3, 5, 7] * 2)
    learners = [Always(3), Always(5), Always(7)]
    for refusal in (None, -1, "unsure", 5, (0, 1)):
        answers = Voting(learners, "majority", refusal=refusal).fit(X, y).predict(X)
        assert all(answer == refusal for answer in answers.tolist())
    assert Voting(learners, "majority", refusal=-1).fit(X, y).predict(X).dtype.kind == "i"
    sure = Voting([*learners, Always(5), Always(5)], "majority").fit(X, y)
    assert sure.predict(X).tolist() == [5] * 6
    assert sure.score(X, y) == pytest.approx(1 / 3)


def test_soft_votes_are_mean_probabilities():
    """predict_proba is the (weighted) mean of the learners' own, and predict its first largest."""
    X, y = data()
    learners = [LinearClassifier(), GaussianNB(), KNeighborsClassifier()]
    own = [learner.fit(X, y).predict_proba(X) for learner in learners]
    soft = Voting(learners, "soft").fit(X, y)
    np.testing.assert_allclose(soft.predict_proba(X), np.mean(own, axis=0), rtol=1e-13)
    np.testing.assert_array_equal(soft.predict(X), np.mean(own, axis=0).argmax(axis=1))
    heavy = Voting(learners, "soft", weights=[1, 2, 5]).fit(X, y)
    np.testing.assert_allclose(heavy.predict_proba(X), np.average(own, axis=0, weights=[1, 2, 5]), rtol=1e-13)
    assert vote([("a", 0.6), ("a", 0.6), ("b", 0.99)], "soft") == "b"
    assert vote([("a", 0.6), ("a", 0.6), ("b", 0.99)], "plurality") == "a"


@pytest.mark.parametrize("rule", ["plurality", "majority", "soft", "weighted"])
def test_a_choir_of_one_voice_is_the_voice(rule):
    """Identical learners vote as one of them alone."""
    X, y = data()
    alone = LinearClassifier().fit(X, y)
    model = Voting([LinearClassifier()] * 3, rule, folds=2).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))
    assert all(same_model(part, alone) for part in model.parts_)


def test_learned_weights_are_the_log_odds_of_being_right():
    """a_j = ln((K - 1) p_j / (1 - p_j)) of p_j = (right + 1) / (n + 2), 0 for those no better than chance."""
    X, y = features(40, 1), np.array(["a"] * 20 + ["b"] * 12 + ["c"] * 8)
    model = Voting([Always("a"), Always("b"), Always("c")], "weighted", folds=4).fit(X, y)
    p = (np.array([20, 12, 8]) + 1) / 42
    np.testing.assert_allclose(model.weights_, np.maximum(np.log(2 * p / (1 - p)), 0), rtol=1e-12)
    assert (model.predict(X) == "a").all()


def test_the_weighted_vote_of_independent_voters_is_the_most_probable_class():
    """For every pattern of votes of voters who err independently, log odds choose the likelier class."""
    p = np.array([0.9, 0.6, 0.6, 0.55])
    X, y = features(6, 1), np.array(["a", "b"] * 3)
    weights = np.log(p / (1 - p))
    for said in itertools.product("ab", repeat=4):
        model = Voting([Always(s) for s in said], "weighted", weights=weights).fit(X, y)
        chance = {c: np.prod(np.where(np.array(said) == c, p, 1 - p)) for c in "ab"}
        assert model.predict(X[:1])[0] == max("ab", key=chance.get)


def test_members_have_names_and_options():
    """Names, members and their options can be read and set; impossible teams are refused before data."""
    model = Voting([("svm", LinearSVC(C=2.0)), ("bayes", GaussianNB())])
    assert model.get_params()["svm__C"] == 2.0
    model.set_params(svm__C=3.0, bayes=FisherDiscriminant(), rule="majority")
    assert model.learners[0][1].C == 3.0
    assert isinstance(model.learners[1][1], FisherDiscriminant)
    plain = Voting([LinearSVC(), LinearSVC(), GaussianNB()]).set_params(LinearSVC2__C=7.0)
    assert [learner.C for learner in plain.learners[:2]] == [1.0, 7.0]
    twice, option = [("a", LinearSVC()), ("a", LinearSVC())], [("rule", LinearSVC())]
    for learners in ([], "svm", twice, option, [LinearSVC], [("a", 3)], 5):
        with pytest.raises(ParameterError):
            Voting(learners).fit(object(), object())
    for options in ({"rule": "loud"}, {"weights": [1.0]}, {"weights": [0, 0, 0]}, {"folds": 1}):
        with pytest.raises(ParameterError, match=next(iter(options))):
            Voting(**options).fit(object(), object())
    with pytest.raises(ParameterError, match=r"LinearSVC has no predict_proba.*Calibrated"):
        Voting([LinearSVC()], "soft").fit(object(), object())
