"""Bags and stacks: what they are equal to, and what no model in them may have seen."""

from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from contract.members import features, labels, numbers, same_model
from lineal import (
    Bagging,
    BaggingRegressor,
    Calibrated,
    GaussianNB,
    LinearClassifier,
    LinearRegressor,
    Stacking,
    Voting,
)
from lineal.compose.outputs import bin_places
from lineal.errors import InputError, ParameterError


def data(K=3, n=90):
    X = features(n)
    return X, labels(X, K)


class Memory(ClassifierMixin, BaseEstimator):
    """Knows the labels of rows that it has seen, and says "never seen" of others."""

    def fit(self, X, y):
        self.seen_ = {tuple(row): label for row, label in zip(np.asarray(X).tolist(), y, strict=True)}
        self.classes_ = np.unique([*y, "never seen"])
        return self

    def predict(self, X):
        return np.array([self.seen_.get(tuple(row), "never seen") for row in np.asarray(X).tolist()])


def test_no_model_judges_a_row_that_it_has_learnt_from():
    """Out of bag, a learner that knows every row it has seen has not seen any; in bag it knows all."""
    X, y = features(60, 2), np.array(["a", "b"] * 29 + ["never seen"] * 2)
    model = Bagging(Memory(), 8, rule="plurality", random_state=3).fit(X, y)
    is_judged = ~np.isnan(model.oob_decision_function_[:, 0])
    never = model.classes_.tolist().index("never seen")
    assert (model.oob_decision_function_[is_judged][:, never] == 1).all()
    assert model.oob_judged_ == is_judged.sum()
    assert 0 < model.oob_judged_ <= 60
    assert model.oob_right_ == is_judged[-2:].sum()
    assert model.oob_score_ == model.oob_right_ / model.oob_judged_
    for part, bag in zip(model.parts_, model.bags_, strict=True):
        assert set(part.seen_) == {tuple(row) for row in X[bag.rows].tolist()}
        assert bag.times.sum() == 60


class Recall(RegressorMixin, BaseEstimator):
    """Answers 1 for rows that it has seen, 0 for others."""

    def fit(self, X, y):
        self.seen_ = {tuple(row) for row in np.asarray(X).tolist()}
        return self

    def predict(self, X):
        return np.array([float(tuple(row) in self.seen_) for row in np.asarray(X).tolist()])


def test_no_regressor_judges_a_row_that_it_has_learnt_from():
    """The same for numbers; a row that all have seen is not judged, and oob_score_ is R^2 of the others."""
    X = features(30, 2)
    y = numbers(X)
    model = BaggingRegressor(Recall(), 4).fit(X, y)
    is_judged = ~np.isnan(model.oob_prediction_)
    assert (model.oob_prediction_[is_judged] == 0).all()
    seen_by_all = set.intersection(*(set(bag.rows.tolist()) for bag in model.bags_))
    assert set(np.flatnonzero(~is_judged).tolist()) == seen_by_all
    t = y[is_judged]
    assert model.oob_score_ == pytest.approx(1 - (t**2).sum() / ((t - t.mean()) ** 2).sum())


def test_one_bag_of_all_rows_is_the_learner():
    """Without replacement, all rows and columns: the learner itself, and nobody left to judge."""
    X, y = data()
    model = Bagging(n_models=1, replace=False).fit(X, y)
    alone = LinearClassifier(random_state=model.bags_[0].seed).fit(X, y)
    assert same_model(model.parts_[0], alone)
    np.testing.assert_array_equal(model.predict_proba(X), alone.predict_proba(X))
    assert np.isnan(model.oob_score_)
    target = numbers(X)
    regressor = BaggingRegressor(n_models=1, replace=False).fit(X, target)
    np.testing.assert_array_equal(regressor.predict(X), LinearRegressor().fit(X, target).predict(X))


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_bag_is_what_its_model_learns_from(make):
    """A part is the learner fitted to its rows, as often as they were drawn, and its columns."""
    X, y = data()
    learner = LinearClassifier(tol=1e-12, solver="lbfgs", random_state=0)
    model = Bagging(learner, 3, columns=0.6, rows=50).fit(make(X), y)
    for part, bag in zip(model.parts_, model.bags_, strict=True):
        assert len(bag.columns) == 3
        rows = np.repeat(bag.rows, bag.times.astype(int))
        assert len(rows) == 50
        alone = learner.fit(X[rows][:, bag.columns], y[rows])
        np.testing.assert_allclose(part.coef_, alone.coef_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kind", [Bagging, BaggingRegressor])
def test_a_row_of_weight_two_is_drawn_like_two_rows(kind):
    """Bags drawn by weights are, bit for bit, those of the rows repeated side by side."""
    X, y = data(2, 40)
    s = np.random.default_rng(0).integers(0, 4, size=40)
    weighted = kind(n_models=4).fit(X, y, sample_weight=s)
    repeated = kind(n_models=4).fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    source = np.repeat(np.arange(40), s)
    for ours, theirs in zip(weighted.bags_, repeated.bags_, strict=True):
        drawn = np.bincount(source[theirs.rows], theirs.times, minlength=40)
        np.testing.assert_array_equal(np.flatnonzero(drawn), ours.rows)
        np.testing.assert_array_equal(drawn[ours.rows], ours.times)


def test_rows_of_weight_0_keep_their_places():
    """Answers to rows of the fit, and rows of bags, go by the rows that came; NaN where the weight is 0."""
    X, y = data(2, 60)
    y = (y == y[0]).astype(int)
    s = np.where(np.arange(60) % 12 == 3, 0, 1)
    here = np.flatnonzero(s)
    for kind, name in ((Bagging, "oob_decision_function_"), (BaggingRegressor, "oob_prediction_")):
        whole = kind(n_models=5, random_state=0).fit(X, y, sample_weight=s)
        part = kind(n_models=5, random_state=0).fit(X[here], y[here], sample_weight=s[here])
        answers = getattr(whole, name)
        assert len(answers) == 60
        np.testing.assert_array_equal(answers[here], getattr(part, name))
        assert np.isnan(answers[s == 0]).all()
        for bag, same in zip(whole.bags_, part.bags_, strict=True):
            np.testing.assert_array_equal(bag.rows, here[same.rows])
        assert whole.oob_score_ == part.oob_score_


@pytest.mark.parametrize("kind", [Bagging, BaggingRegressor])
def test_weights_may_be_in_units_of_their_sum(kind):
    """Weights that sum to 1 draw as many rows as there are, as weights of 1 do; huge sums are refused."""
    X, y = data(2, 64)
    plain, shares = (kind(n_models=3).fit(X, y, sample_weight=w) for w in (np.ones(64), np.full(64, 2.0**-6)))
    for ours, theirs in zip(shares.bags_, plain.bags_, strict=True):
        np.testing.assert_array_equal(ours.rows, theirs.rows)
        np.testing.assert_array_equal(ours.times, theirs.times)
    with pytest.raises(InputError, match=r"Divide the weights by 1e\+12"):
        kind().fit(X, y, sample_weight=np.full(64, 1e12))


class Dice(ClassifierMixin, BaseEstimator):
    """Remembers its seed."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


def test_open_seeds_are_drawn_wherever_they_are():
    """Each model has a seed of its own for every random_state that was left open, inside a pipeline too."""
    X, y = data(2, 40)
    for learner in (Dice(), make_pipeline(StandardScaler(), Dice())):
        first, second = (Bagging(learner, n_models=3).fit(X, y) for _ in range(2))
        seeds = [getattr(part, "steps", [("", part)])[-1][1].random_state for part in first.parts_]
        assert len({*seeds, None}) == 4
        assert seeds == [getattr(part, "steps", [("", part)])[-1][1].random_state for part in second.parts_]
        assert learner.get_params().get("random_state") is None


def test_bags_have_two_classes_where_there_is_a_chance():
    """However rare a class is, rows are drawn again where all of them are of the other one."""
    X, y = features(40, 2), np.array([0] * 38 + [1] * 2)
    model = Bagging(n_models=25, rows=0.2, replace=False).fit(X, y)
    assert all(len(part.classes_) == 2 for part in model.parts_)


def test_impossible_bags_are_refused():
    """Shares beyond 1, counts of 0, more rows than there are, columns of texts: refused in words."""
    for options in ({"n_models": 0}, {"rows": 1.5}, {"rows": 0}, {"columns": 0.0}, {"rule": "loud"}):
        with pytest.raises(ParameterError, match=next(iter(options))):
            Bagging(**options).fit(object(), object())
    X, y = data()
    with pytest.raises(ParameterError, match="rows=91"):
        Bagging(rows=91, replace=False).fit(X, y)
    with pytest.raises(ParameterError, match="columns=6"):
        Bagging(columns=6).fit(X, y)
    with pytest.raises(InputError, match="Memory has no weights of rows"):
        Bagging(Memory(), replace=False).fit(X, y, sample_weight=np.ones(90))


def test_the_answer_to_a_row_is_of_a_model_that_has_not_seen_it():
    """A learner that knows every row it has seen answers "never seen" to all that the final one learns."""
    X, y = features(30, 2), np.array(["a", "b", "never seen"] * 10)

    class Watching(LinearClassifier):
        def fit(self, X, y, sample_weight=None):
            Watching.met = np.asarray(X)
            return super().fit(X, y, sample_weight)

    model = Stacking([("B", Memory())], Watching(), folds=6).fit(X, y)
    names = model.get_feature_names_out().tolist()
    assert names == ["x0", "x1", "y_B=a", "y_B=b", "y_B=never seen"]
    np.testing.assert_array_equal(Watching.met[:, :2], X)
    np.testing.assert_array_equal(Watching.met[:, 2:], np.tile([0, 0, 1], (30, 1)))
    # New rows are answered by the model of all rows, which knows them.
    np.testing.assert_array_equal(model.features(X)[:, 2:].argmax(axis=1), np.array([0, 1, 2] * 10))
    assert sorted(np.bincount(model.folds_).tolist()) == [5] * 6


@pytest.mark.parametrize("outputs", ["labels", "probabilities", "binned"])
@pytest.mark.parametrize("passthrough", [True, False])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_what_the_final_model_sees(make, outputs, passthrough):
    """Original columns as they are, sparse where they were, then the outputs of every model, by name.

    Without the original ones, labels and bins stay sparse for a final model that takes them so.
    """
    X, y = data()
    learners = [("B", LinearClassifier()), ("C", GaussianNB())]
    options = {"outputs": outputs, "passthrough": passthrough, "folds": 3}
    dense = Stacking(learners, GaussianNB(), **options).fit(X, y)
    model = Stacking(learners, GaussianNB(), **options).fit(make(X), y)
    seen = model.features(make(X))
    assert sp.issparse(seen) == (sp.issparse(make(X)) if passthrough else outputs != "probabilities")
    picky = Stacking(learners, TheirGaussianNB(), **options).fit(X, y)
    assert not sp.issparse(picky.features(X))
    seen, plain = (each.toarray() if sp.issparse(each) else each for each in (seen, dense.features(X)))
    own = 5 if passthrough else 0
    assert seen.shape[1] == len(model.get_feature_names_out()) == own + (60 if outputs == "binned" else 6)
    np.testing.assert_array_equal(seen[:, :own], X[:, :own])
    np.testing.assert_allclose(seen, plain, atol=1e-9)
    p = LinearClassifier().fit(make(X), y).predict_proba(make(X))
    block = seen[:, own : own + (seen.shape[1] - own) // 2]
    if outputs == "probabilities":
        np.testing.assert_allclose(block, p, atol=1e-12)
    elif outputs == "labels":
        np.testing.assert_array_equal(block, np.eye(3)[p.argmax(axis=1)])
    else:
        wanted = np.eye(10)[np.minimum((p * 10).astype(int), 9)].reshape(len(X), 30)
        np.testing.assert_array_equal(block, wanted)
    np.testing.assert_array_equal(model.predict(make(X)), model.predict_proba(make(X)).argmax(axis=1))


def test_bins_are_closed_on_the_left_and_the_last_on_both_sides():
    """0 is in the first of ten bins, k / 10 in the one it begins, 1 in the last, however k / 10 rounds."""
    assert bin_places([k / 10 for k in range(11)], 10).tolist() == [*range(10), 9]
    assert bin_places([0.0, 0.5, 1.0], 1).tolist() == [0, 0, 0]
    below = np.nextafter([k / 10 for k in range(1, 11)], 0)
    assert bin_places(below, 10).tolist() == list(range(10))


def test_impossible_stacks_are_refused():
    """Options, folds that hold rows out twice or never, learners without probabilities: refused in words."""
    for options in ({"outputs": "scores"}, {"n_bins": 0}, {"folds": "five"}, {"final": LinearClassifier}):
        with pytest.raises(ParameterError, match=next(iter(options))):
            Stacking(**options).fit(object(), object())
    with pytest.raises(ParameterError, match="Memory has no predict_proba"):
        Stacking([Memory()], outputs="binned").fit(object(), object())
    X, y = data()

    class Half(KFold):
        def split(self, X, y=None, groups=None):
            yield np.arange(45, 90), np.arange(45)

    with pytest.raises(InputError, match="row 45 is held out 0 times"):
        Stacking([GaussianNB()], folds=Half(2)).fit(X, y)

    class Peeping(KFold):
        def split(self, X, y=None, groups=None):
            yield np.arange(40, 90), np.arange(45)
            yield np.arange(45), np.arange(45, 90)

    with pytest.raises(InputError, match="held out and learnt from"):
        Stacking([GaussianNB()], folds=Peeping(2)).fit(X, y)
    by_row = PredefinedSplit(np.arange(90) % 3)
    with pytest.raises(InputError, match="holds out row 89, but there are 80 rows"):
        Stacking([GaussianNB()], folds=by_row).fit(X, y, sample_weight=np.arange(90) >= 10)
    with pytest.raises(InputError, match="of one class alone"):
        Stacking([GaussianNB()], folds=3).fit(X, np.arange(90) == 7)


# ---- groups ---------------------------------------------------------------------------------------


class Watched(GaussianNB):
    """Tells which rows it has been given; the number of a row is its last column."""

    seen: ClassVar[list] = []

    def fit(self, X, y, sample_weight=None):
        Watched.seen.append(frozenset(X[:, -1].astype(int).tolist()))
        return super().fit(X, y, sample_weight)


WITH_FOLDS = {
    "Stacking": lambda folds: Stacking([Watched()], folds=folds),
    "Voting": lambda folds: Voting([Watched()], "weighted", folds=folds),
    "Calibrated": lambda folds: Calibrated(Watched(), folds=folds),
}


@pytest.mark.parametrize("folds", [3, GroupKFold(3)], ids=str)
@pytest.mark.parametrize("make", WITH_FOLDS.values(), ids=WITH_FOLDS)
def test_groups_are_held_out_whole(make, folds):
    """No model that answers for a row has learnt from a row of its group; also where rows have weight 0."""
    X, y = data(2, 60)
    X[:, -1] = np.arange(60)
    groups = np.arange(60) // 5
    names = [("day", k) if k % 2 else k for k in groups.tolist()]
    for s in (None, np.where(np.arange(60) % 7 == 2, 0, 1)):
        Watched.seen.clear()
        make(folds).fit(X, y, sample_weight=s, groups=names)
        there = np.arange(60) if s is None else np.flatnonzero(s)
        learnt = [rows for rows in Watched.seen if len(rows) < len(there)]
        assert len(learnt) == 3
        for rows in learnt:
            held_out = set(there.tolist()) - rows
            assert not set(groups[list(held_out)]) & set(groups[list(rows)])
    with pytest.raises(InputError, match="groups contains NaN or a null, first at row 2"):
        make(folds).fit(X, y, groups=[None if k == 2 else "a" for k in range(60)])
    with pytest.raises(InputError, match="there are 60 rows, got 3 groups"):
        make(folds).fit(X, y, groups=[1, 2, 3])
    if folds == 3:
        with pytest.raises(InputError, match="3 folds need as many groups, got 2"):
            make(folds).fit(X, y, groups=np.arange(60) % 2)
    else:
        with pytest.raises(InputError, match="pass groups= to fit"):
            make(folds).fit(X, y)


@pytest.mark.parametrize("make", WITH_FOLDS.values(), ids=WITH_FOLDS)
def test_folds_may_be_listed(make):
    """As pairs of rows to learn from and to hold out, by the rows that came; nothing long is printed."""
    X, y = data(2, 60)
    X[:, -1] = np.arange(60)
    listed = list(KFold(3, shuffle=True, random_state=0).split(X))
    s = np.where(np.arange(60) % 7 == 2, 0, 1)
    for weights in (None, s):
        Watched.seen.clear()
        make(listed).fit(X, y, sample_weight=weights)
        there = set(range(60)) if weights is None else set(np.flatnonzero(weights).tolist())
        for train, _ in listed:
            assert frozenset(train.tolist()) & there in Watched.seen
    with pytest.raises(InputError, match="is held out 0 times") as said:
        make(listed[:2]).fit(X, y)
    assert len(str(said.value)) < 200
    with pytest.raises(InputError, match=r"names row \d+, but there are 60 rows"):
        make([(listed[0][0], listed[0][1] + 60)]).fit(X, y)
    with pytest.raises(InputError, match="numbers of rows"):
        make([("ab", "c")]).fit(X, y)
    with pytest.raises(ParameterError, match="folds must be") as said:
        make([np.arange(60)] * 3).fit(X, y)
    assert len(str(said.value)) < 250
