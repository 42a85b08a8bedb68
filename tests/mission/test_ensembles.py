"""Many models, slide by slide: votes, stacking by jackknifing, bags, and strategies for many classes."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import KFold

from contract.members import features, labels
from lineal import (
    Bagging,
    LinearClassifier,
    OneVsOne,
    OneVsRest,
    OutputCode,
    Stacking,
    TextVectorizer,
    Voting,
)

REPORT = "Ronaldo donated € 600,000 to charity"


class Recorder(ClassifierMixin, BaseEstimator):
    """Model B, which writes down what it is trained on and tested on."""

    log: ClassVar[list] = []

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.trained_on_ = frozenset(np.asarray(X)[:, 0].astype(int).tolist())
        return self

    def predict(self, X):
        Recorder.log.append((self.trained_on_, frozenset(np.asarray(X)[:, 0].astype(int).tolist())))
        return self.classes_[np.asarray(X)[:, 0].astype(int) % len(self.classes_)]


@pytest.mark.parametrize("k", [3, 4, 5])
def test_the_jackknife_table(k):
    """B_1 is trained on D_2 ... D_k and tested on D_1; B_2 on D_1, D_3 ... D_k and D_2; ... B_k on the others
    and D_k. A is trained after that; test data are answered by B, trained on all of D."""
    n = 4 * k
    X, y = np.arange(n, dtype=float)[:, None], np.array(["sports", "finance"] * (n // 2))
    D = [frozenset(range(4 * i, 4 * i + 4)) for i in range(k)]
    Recorder.log = []
    model = Stacking([("B", Recorder())], folds=KFold(k), n_threads=1).fit(X, y)
    table = [(frozenset().union(*(D[j] for j in range(k) if j != i)), D[i]) for i in range(k)]
    assert Recorder.log == table
    Recorder.log = []
    model.predict(X[:2])
    assert Recorder.log == [(frozenset(range(n)), frozenset({0, 1}))]


class Newsroom(ClassifierMixin, BaseEstimator):
    """Model B of the table: 0.65 for sports, 0.25 for finance, 0.1 for weather, whatever the text."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.array(["sports"] * len(X))

    def predict_proba(self, X):
        return np.tile([0.25, 0.65, 0.1], (len(X), 1))


def features_of_a(outputs):
    """The features that model A has of the report, by name."""
    texts = [REPORT, "markets fell", "rain in spain"] * 4
    y = ["sports", "finance", "weather"] * 4
    words = TextVectorizer(ngrams=(1, 1), weighting="occurrence", norm=None)
    model = Stacking([("B", Newsroom())], folds=2, outputs=outputs, vectorizer=words).fit(texts, y)
    row = model.features([REPORT])
    names = model.get_feature_names_out()
    return {str(names[j]): float(value) for j, value in zip(row.indices, row.data, strict=True)}


def test_the_table_of_features():
    """A: bag of words + B's output label y_B = sports; or + P(y_B = sports) in [0.6, 0.7], P(y_B = finance)
    in [0.2, 0.3]; beside the words, which stay as they are."""
    words = {"ronaldo", "donated", "to", "charity"}
    by_label = features_of_a("labels")
    assert words <= set(by_label)
    assert {name for name in by_label if "y_B" in name} == {"y_B=sports"}
    binned = features_of_a("binned")
    assert {name for name in binned if "y_B" in name} == {
        "P(y_B=sports) in [0.6, 0.7)",
        "P(y_B=finance) in [0.2, 0.3)",
        "P(y_B=weather) in [0.1, 0.2)",
    }
    assert set(by_label) - {"y_B=sports"} == {name for name in binned if "y_B" not in name}
    assert set(by_label.values()) == set(binned.values()) == {1.0}
    chances = features_of_a("probabilities")
    assert chances["P(y_B=sports)"] == 0.65
    assert chances["P(y_B=finance)"] == 0.25


def test_voting_by_counting():
    """v_i = sum_j b1(y(m_j), c_i): majority is more than half of the total votes, plurality the most."""
    X = features(90)
    y = np.array(["a", "b", "c"])[labels(X, 3)]
    models = [LinearClassifier(random_state=k).fit(X[k::5], y[k::5]) for k in range(5)]
    v = np.stack([(np.stack([m.predict(X) for m in models]) == c).sum(axis=0) for c in "abc"], axis=1)
    team = Voting([LinearClassifier()] * 5, "majority", refusal="?").fit(X, y)
    team.parts_ = models
    np.testing.assert_array_equal(team.votes(X), v)
    wanted = np.where(v.max(axis=1) > 2.5, np.array(["a", "b", "c"])[v.argmax(axis=1)], "?")
    np.testing.assert_array_equal(team.predict(X), wanted)
    np.testing.assert_array_equal(
        team.set_params(rule="plurality").predict(X), np.array(["a", "b", "c"])[v.argmax(axis=1)]
    )


def test_bagging_uses_different_subsets_and_votes():
    """Every model has a subset of D of its own; their votes decide a test case."""
    X = features(60)
    y = labels(X, 2)
    model = Bagging(n_models=7, rule="plurality").fit(X, y)
    assert len({tuple(bag.rows.tolist()) for bag in model.bags_}) == 7
    ballots = np.stack([part.predict(X) for part in model.parts_])
    np.testing.assert_array_equal(model.predict(X), (ballots.mean(axis=0) > 0.5).astype(int))


@pytest.mark.parametrize("K", [3, 4, 6])
def test_reductions_to_two_classes(K):
    """One-vs-all: K classifiers, the highest score. One-vs-one: K (K - 1) / 2 pairwise, majority voting.
    Binary coding: a classifier for each bit."""
    X = features(40 + 10 * K)
    y = labels(X, K)
    rest, pairs, bits = OneVsRest().fit(X, y), OneVsOne().fit(X, y), OutputCode().fit(X, y)
    assert [len(model.parts_) for model in (rest, pairs)] == [K, K * (K - 1) // 2]
    assert len(bits.parts_) == bits.code_.shape[1]
    scores = np.column_stack([part.decision_function(X) for part in rest.parts_])
    np.testing.assert_array_equal(rest.predict(X), scores.argmax(axis=1))
    votes = pairs.votes(X)
    chosen = pairs.predict(X)
    assert (votes[np.arange(len(X)), chosen] == votes.max(axis=1)).all()
    assert (votes.sum(axis=1) == K * (K - 1) // 2).all()
