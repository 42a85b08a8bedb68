"""Feature selection as the lecture has it: formulas, greedy searches and their rules, elimination."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import KFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from lineal import (
    BackwardElimination,
    FloatingSelection,
    ForwardSelection,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    PolynomialFeatures,
    RecursiveElimination,
    rank_features,
)

rng = np.random.default_rng(0)


def on_all_rows(model, X, y):
    """A criterion on all rows."""
    return model.score(X, y)


# ---- filters --------------------------------------------------------------------------------------


def test_printed_formulas():
    """|m+ - m-| / (s+ + s-) and |m+ - m-| / sqrt(s+^2 / n+ + s-^2 / n-), of two samples."""
    x = rng.normal(size=40)
    y = rng.random(40) < 0.4
    a, b = x[y], x[~y]
    signal = rank_features(x[:, None], y, "signal_to_noise").scores[0]
    assert signal == pytest.approx(abs(a.mean() - b.mean()) / (a.std() + b.std()))
    t = rank_features(x[:, None], y, "welch").scores[0]
    error = np.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
    assert t == pytest.approx(abs(a.mean() - b.mean()) / error)


def test_many_values_are_no_merit_once_normalised():
    """A column with a value for every row tells all of y, as y does; only y has nothing else to tell."""
    y = np.arange(16) % 2
    X = np.column_stack([np.arange(16), y])
    plain = rank_features(X, y)
    assert plain.scores[0] == pytest.approx(plain.scores[1])
    normalised = rank_features(X, y, "normalized_mutual_information")
    assert normalised.columns.tolist() == [1, 0]
    assert normalised.scores == pytest.approx([1.0, 2 * np.log(2) / (np.log(16) + np.log(2))])


def test_a_pair_that_matters_only_together():
    """Exclusive or: filters and searches that add do not see it; one that removes does; products show it."""
    X = np.array(list(itertools.product([-1, 1], repeat=4)) * 2)
    y = X[:, 2] * X[:, 3]
    assert rank_features(X, y).scores == pytest.approx(0.0, abs=1e-15)
    assert rank_features(X, y, "conditional_mutual_information").scores == pytest.approx(0.0, abs=1e-15)
    tree = DecisionTreeClassifier(random_state=0)
    for kind in (ForwardSelection, FloatingSelection):
        assert kind(tree, criterion=on_all_rows).fit(X, y).columns_.tolist() == [0]
    assert BackwardElimination(tree, criterion=on_all_rows).fit(X, y).columns_.tolist() == [2, 3]
    products = PolynomialFeatures(2).fit(X)
    ranking = rank_features(products.transform(X), y, names=products)
    assert ranking.names[0] == "x2 x3"
    assert ranking.scores[0] == pytest.approx(np.log(2))


# ---- wrappers -------------------------------------------------------------------------------------


def trap():
    """y = a + b, and c, a noisy sum of both: the best single column, in no best pair."""
    a, b, noise, other = rng.normal(size=(4, 200))
    return np.column_stack([a + b + 0.7 * noise, a, b, other]), a + b


def test_two_steps_forward_and_one_back_leave_a_trap():
    """Forward search keeps its first column for ever; floating search finds the pair that is exact."""
    X, y = trap()
    options = {"n_columns": 2, "criterion": on_all_rows}
    forward = ForwardSelection(LinearRegression(), **options).fit(X, y)
    floating = FloatingSelection(LinearRegression(), **options).fit(X, y)
    assert forward.columns_[0] == 0
    assert sorted(floating.columns_) == [1, 2]
    assert floating.score_ == pytest.approx(1.0)
    assert forward.score_ < 0.99
    assert [step.action for step in floating.history_] == ["add", "add", "remove"] * 2
    assert [step.n_columns for step in floating.history_] == [1, 2, 1, 2, 3, 2]


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("kind", [ForwardSelection, BackwardElimination, FloatingSelection])
def test_scores_of_the_history_are_those_of_refits(kind, layout):
    """Each step's score is that of a cold fit to its columns on the same folds."""
    X, y = make_classification(80, 5, n_informative=2, n_redundant=0, class_sep=0.7, random_state=1)
    learner, cv = LogisticRegression(tol=1e-10), KFold(2)
    search = kind(learner, cv=cv).fit(layout(X), y)
    at_hand = set()
    for step in search.history_:
        at_hand = at_hand | set(step.columns) if step.action == "add" else at_hand - set(step.columns)
        assert len(at_hand) == step.n_columns
        columns = sorted(at_hand)
        np.testing.assert_allclose(
            step.fold_scores, cross_val_score(clone(learner), X[:, columns], y, cv=cv), atol=1e-12
        )
        assert step.score == pytest.approx(step.fold_scores.mean())
    best = max(search.history_.scores)
    assert search.score_ == pytest.approx(best)


def test_rule_one_performance_does_not_improve():
    """Each step raises the score by more than the tolerance; what was tried last did not."""
    X = rng.normal(size=(150, 6))
    y = X[:, 2] - 0.8 * X[:, 5] + 0.5 * rng.normal(size=150)
    search = ForwardSelection(tolerance=0.01, cv=3).fit(X, y)
    *taken, tried = search.history_.scores
    assert search.columns_.tolist() == [2, 5]
    assert (np.diff(taken) > 0.01).all()
    assert tried <= taken[-1] + 0.01
    assert search.stopped_ == "no column raises the score by more than 0.01"
    back = BackwardElimination(tolerance=0.01, cv=3).fit(X, y)
    assert sorted(back.columns_) == [2, 5]
    assert back.stopped_ == "every removal lowers the score by more than 0.01"


def test_rule_two_performance_is_good_enough():
    """The search ends at the first score that is good enough, and not before."""
    X = rng.normal(size=(150, 8))
    y = X[:, 2] - 0.8 * X[:, 5] + 0.6 * X[:, 7]
    search = ForwardSelection(LinearRegression(), good_enough=0.8, cv=2).fit(X, y)
    scores = search.history_.scores
    assert scores[-1] >= 0.8
    assert (scores[:-1] < 0.8).all()
    assert search.score_ == scores[-1]
    assert search.stopped_ == "the score is good enough: at least 0.8"


def test_steps_of_several_columns():
    """One or more at a time: two steps of three columns are six, the best by themselves."""
    X = rng.normal(size=(100, 9))
    y = X @ np.arange(9.0)
    search = ForwardSelection(LinearRegression(), step=3, n_columns=6, cv=2).fit(X, y)
    assert [len(step.columns) for step in search.history_] == [3, 3]
    assert set(search.columns_) == set(range(3, 9))
    back = BackwardElimination(LinearRegression(), step=4, n_columns=3, cv=2).fit(X, y)
    assert [len(step.columns) for step in back.history_] == [9, 4, 2]


# ---- recursive elimination ------------------------------------------------------------------------


def planted(n=150, d=40, seed=0):
    """Classes that hang on three columns of many."""
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, d))
    return X, X[:, [4, 17, 31]] @ [2.0, -2.0, 2.0] + 0.3 * draw.normal(size=n) > 0


@pytest.mark.parametrize("step", [1, 7, 0.5])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_elimination_finds_what_was_planted(step, layout):
    """The columns that matter have ranks 1 to 3, one at a time or several."""
    X, y = planted()
    found = RecursiveElimination(n_columns=3, step=step).fit(layout(X), y)
    assert set(found.columns_) == {4, 17, 31}
    assert sorted(found.ranking_) == list(range(1, 41))
    assert np.flatnonzero(found.ranking_ <= 3).tolist() == [4, 17, 31]


def test_elimination_drops_the_smallest_weight_of_each_fit():
    """One at a time, each fit's smallest w^2, summed over classes, goes first."""
    X = rng.normal(size=(80, 6))
    y = (X[:, 4] - X[:, 1] > 0).astype(int) + (X[:, 2] > 0.5)
    learner = LinearSVC(tol=1e-8)
    found = RecursiveElimination(learner, n_columns=1).fit(X, y)
    left = list(range(6))
    for step in found.history_:
        weights = (clone(learner).fit(X[:, left], y).coef_ ** 2).sum(axis=0)
        assert step.columns == (left[int(weights.argmin())],)
        left.remove(step.columns[0])
    assert left == found.columns_.tolist() == [int(np.flatnonzero(found.ranking_ == 1)[0])]


def test_folds_choose_how_many_columns_are_kept():
    """Without n_columns the size with the best held-out score is kept, the smaller one of equals."""
    X, y = planted()
    found = RecursiveElimination(step=0.3).fit(X, y)
    scores = {step.n_columns: step.score for step in found.history_}
    best = max(scores.values())
    assert found.score_ >= best
    assert found.support_.sum() == min(n for n, score in scores.items() if score == found.score_)
    assert {4, 17, 31} <= set(found.columns_)
