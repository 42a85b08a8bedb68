"""Self-training and co-training are the printed loops, and what they add obeys its rules."""

import signal

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC as TheirLinearSVC

from contract.members import features, labels, same_model
from lineal import (
    CoTraining,
    KNeighborsClassifier,
    LinearSVC,
    LogisticRegression,
    MultinomialNB,
    SelfTraining,
    TextClassifier,
    TextVectorizer,
    Voting,
)
from lineal.compose import Margin, Threshold, TopK
from lineal.errors import InputError, ParameterError
from reference.weak_supervision import co_training, self_training


def hidden(n=60, n_classes=2, n_given=4, seed=0, d=4):
    """Rows, all their labels, and the labels of which all but a few of each class are None."""
    X = features(n, d, seed)
    full = np.array(["abc"[code] for code in labels(X, n_classes, seed + 1)])
    y = np.full(n, None, dtype=object)
    for label in np.unique(full):
        given = np.flatnonzero(full == label)[:n_given]
        y[given] = full[given]
    return X, full, y


def are_given(y):
    """Which labels are no marks."""
    return np.array([label is not None for label in y])


def never(proposals):
    return np.zeros(len(proposals.rows), dtype=bool)


def always(proposals):
    return np.ones(len(proposals.rows), dtype=bool)


# ---- the printed loops ----------------------------------------------------------------------------


class Midpoint(ClassifierMixin, BaseEstimator):
    """The nearer of two means on a line; the first at a tie."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == label, 0].mean() for label in self.classes_])
        return self

    def distances(self, X):
        return np.abs(np.asarray(X)[:, :1] - self.means_)

    def predict(self, X):
        return self.classes_[self.distances(X).argmin(axis=1)]

    def decision_function(self, X):
        distances = self.distances(X)
        return distances[:, 0] - distances[:, 1]


def near(proposals):
    """Within 1.5 of the mean of its class."""
    return proposals.model.distances(proposals.X)[np.arange(len(proposals.rows)), proposals.codes] <= 1.5


def test_self_training_by_hand():
    """Means 0 and 10 take 1 and 9; means 0.5 and 9.5 take 2; means 1 and 9.5 take nothing."""
    X = np.array([[0.0], [10.0], [1.0], [2.0], [3.0], [9.0], [5.0]])
    y = ["a", "b", None, None, None, None, None]
    model = SelfTraining(Midpoint(), near, growth=None).fit(X, y)
    assert [(added.round, added.rows.tolist(), added.labels.tolist()) for added in model.history_] == [
        (1, [2, 5], ["a", "b"]),
        (2, [3], ["a"]),
    ]
    assert model.learner_.means_.tolist() == [1.0, 9.5]
    assert model.transduction_.tolist() == ["a", "b", "a", "a", None, "b", None]
    assert model.since_.tolist() == [0, 0, 1, 2, -1, 1, -1]
    assert (model.n_rounds_, model.stopped_) == (3, "no further row was confident")


def test_co_training_by_hand():
    """(1, 1) and (9, 9) come in first, then (2, 2); the models never agree on (1, 9), nor B dare (1, 3)."""
    X = np.array([[0, 0], [10, 10], [1, 1], [1, 9], [2, 2], [1, 3], [9, 9]], dtype=float)
    y = ["a", "b", None, None, None, None, None]
    model = CoTraining(Midpoint(), confident=near, growth=None).fit(X, y)
    assert [(added.round, added.rows.tolist(), added.labels.tolist()) for added in model.history_] == [
        (1, [2, 6], ["a", "b"]),
        (2, [4], ["a"]),
    ]
    assert [learner.means_.tolist() for learner in model.learners_] == [[1.0, 9.5], [1.0, 9.5]]
    assert model.transduction_.tolist() == ["a", "b", "a", None, "a", None, "b"]
    assert model.view_predictions(X[3:4]).tolist() == [["a", "b"]]


def test_exchange_by_hand():
    """Under "exchange" what A dares B learns, and the other way round: (1, 9) is an a for B and a b for A."""
    X = np.array([[0, 0], [10, 10], [1, 1], [1, 9], [1, 3]], dtype=float)
    model = CoTraining(Midpoint(), confident=near, growth=None, rule="exchange", rounds=1)
    model.fit(X, ["a", "b", None, None, None])
    found = [(added.learner, added.rows.tolist(), added.labels.tolist()) for added in model.history_]
    assert found == [(1, [2, 3, 4], ["a", "a", "a"]), (0, [2, 3], ["a", "b"])]
    a, b = model.learners_
    assert a.means_.tolist() == [0.5, 5.5]
    assert b.means_.tolist() == [(0 + 1 + 9 + 3) / 4, 10.0]
    assert model.transduction_.tolist() == ["a", "b", "a", None, "a"]


@pytest.mark.parametrize("rounds", [1, 2, 10])
@pytest.mark.parametrize("confident", [Threshold(0.7), Margin(0.9)], ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_self_training_is_the_printed_loop(n_classes, confident, rounds):
    """Without a limit of growth, D and U are those of the pseudo-code run row by row for all T rounds."""
    X, _, y = hidden(n_classes=n_classes)
    learner = LogisticRegression(tol=1e-8)
    given = {row: y[row] for row in range(len(y)) if y[row] is not None}
    D, U = self_training(
        given,
        [row for row in range(len(y)) if y[row] is None],
        lambda D: clone(learner).fit(X[sorted(D)], np.array([D[row] for row in sorted(D)])),
        lambda A, x: A.predict(X[x : x + 1])[0],
        lambda A, x, z: sure(confident, A, X[x : x + 1], z),
        rounds,
    )
    model = SelfTraining(learner, confident, growth=None, rounds=rounds).fit(X, y)
    known = model.since_ >= 0
    assert np.flatnonzero(~known).tolist() == U
    assert {row: model.transduction_[row] for row in np.flatnonzero(known).tolist()} == D
    final = clone(learner).fit(X[sorted(D)], np.array([D[row] for row in sorted(D)]))
    assert same_model(model.learner_, final)


@pytest.mark.parametrize("rounds", [1, 3, 10])
@pytest.mark.parametrize("confident", [Threshold(0.55), Margin(0.3)], ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_co_training_is_the_printed_loop(n_classes, confident, rounds):
    """Without a limit of growth, D and U are those of the pseudo-code run row by row for all T rounds."""
    X, _, y = hidden(80, n_classes=n_classes, seed=1)
    X[:, [1, 3]] = 0.7 * X[:, [0, 2]] + 0.3 * X[:, [1, 3]]  # so that they agree at times
    views = ([0, 2], [1, 3])
    learner = LogisticRegression(tol=1e-8)

    def trainer(view):
        def train(D):
            return clone(learner).fit(X[sorted(D)][:, view], np.array([D[row] for row in sorted(D)]))

        return train

    def predictor(view):
        return lambda model, x: model.predict(X[x : x + 1, view])[0]

    def judge(view):
        return lambda model, x, z: sure(confident, model, X[x : x + 1, view], z)

    D, U = co_training(
        {row: y[row] for row in range(len(y)) if y[row] is not None},
        [row for row in range(len(y)) if y[row] is None],
        *(make(view) for make in (trainer, predictor, judge) for view in views),
        rounds,
    )
    model = CoTraining(learner, views, confident, growth=None, rounds=rounds).fit(X, y)
    known = model.since_ >= 0
    assert len(D) > are_given(y).sum()  # something was added
    assert np.flatnonzero(~known).tolist() == U
    assert {row: model.transduction_[row] for row in np.flatnonzero(known).tolist()} == D
    for part, view in zip(model.learners_, views, strict=True):
        assert same_model(part, trainer(view)(D))


def sure(rule, model, x, label):
    """CONFIDENT of one row, by the rule's definition."""
    place = model.classes_.tolist().index(label)
    if isinstance(rule, Threshold):
        return model.predict_proba(x)[0, place] >= rule.probability
    Z = model.decision_function(x)
    scores = np.array([-Z[0] / 2, Z[0] / 2]) if Z.ndim == 1 else Z[0]
    return scores[place] - np.delete(scores, place).max() >= rule.margin


# ---- theorems -------------------------------------------------------------------------------------


def test_without_confidence_it_is_the_learner_of_the_labelled_rows():
    """If nothing is ever confident, the models are those of the labelled rows, bit for bit."""
    X, _, y = hidden()
    is_given = are_given(y)
    alone = LogisticRegression().fit(X[is_given], y[is_given].astype(str))
    model = SelfTraining(confident=never).fit(X, y)
    assert same_model(model.learner_, alone)
    assert model.history_ == []
    np.testing.assert_array_equal(model.predict_proba(X), alone.predict_proba(X))
    halves = CoTraining(confident=never).fit(X, y)
    for part, columns in zip(halves.learners_, (slice(0, 2), slice(2, 4)), strict=True):
        assert same_model(part, LogisticRegression().fit(X[is_given][:, columns], y[is_given].astype(str)))


@pytest.mark.parametrize("rule", ["self", "agreement", "exchange"])
@pytest.mark.parametrize(
    "confident",
    [always, Threshold(0.6), TopK(3), Threshold(0.55) & TopK(2)],
    ids=lambda it: getattr(it, "__name__", repr(it)),
)
@pytest.mark.parametrize("seed", range(3))
def test_no_row_is_added_twice_or_relabelled(rule, confident, seed):
    """Each set gets a row at most once, never a row that came with a label, and its label stays."""
    X, _, y = hidden(n_classes=3, seed=seed)
    model = (
        SelfTraining(confident=confident) if rule == "self" else CoTraining(confident=confident, rule=rule)
    )
    model.fit(X, y)
    given = np.flatnonzero(are_given(y))
    for learner in (None, 0, 1):
        rows = [row for added in model.history_ if added.learner == learner for row in added.rows]
        assert len(rows) == len(set(rows))
        assert not set(rows) & set(given)
    assert model.transduction_[given].tolist() == y[given].tolist()
    if rule != "exchange":
        for added in model.history_:
            assert model.transduction_[added.rows].tolist() == added.labels.tolist()
            assert (model.since_[added.rows] == added.round).all()


@pytest.mark.parametrize("growth", [0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("confident", [always, Threshold(0.6)], ids=["always", "threshold"])
def test_growth_is_a_limit_for_each_class_and_the_surest_come_first(growth, confident):
    """A round adds the surest of a class until it holds (1 + growth) |D| share, or all that are confident."""
    X, _, y = hidden(90, n_classes=3)
    y[np.flatnonzero(y == "a")[2:]] = None  # shares 1/5, 2/5, 2/5
    shares = {"a": 0.2, "b": 0.4, "c": 0.4}
    asked = []

    def watched(proposals):
        asked.append((proposals, confident(proposals)))
        return asked[-1][1]

    model = SelfTraining(confident=watched, growth=growth, rounds=3).fit(X, y)
    held = {"a": 2, "b": 4, "c": 4}
    for t, (proposals, is_confident) in enumerate(asked, start=1):
        added = [each for each in model.history_ if each.round == t]
        size = sum(held.values())
        for label, share in shares.items():
            rows = {row for each in added for row in each.rows[each.labels == label].tolist()}
            is_candidate = is_confident & (proposals.labels == label)
            room = int(np.ceil((1 + growth) * size * share - held[label] - 1e-9))
            assert len(rows) == min(max(room, 0), is_candidate.sum())
            held[label] += len(rows)
            is_added = np.isin(proposals.rows, list(rows))
            left_out = proposals.confidence[is_candidate & ~is_added]
            assert (proposals.confidence[is_added].min(initial=np.inf) >= left_out).all()


def test_a_class_alone_does_not_crowd_out_the_others():
    """Where rows are confident of one class only, it stops at (1 + growth) times its share and a row."""
    X = np.r_[[[-1.0], [1.0]], np.full((500, 1), 3.0)]
    y = np.r_[0, 1, np.full(500, -1)]
    model = SelfTraining(confident=Threshold(0), growth=0.5, unlabelled=-1).fit(X, y)
    assert sum(len(added.rows) for added in model.history_) == 2
    assert "growth let no further row in" in model.stopped_
    whole = SelfTraining(confident=Threshold(0), growth=None, unlabelled=-1).fit(X, y)
    assert sum(len(added.rows) for added in whole.history_) == 500
    assert model.history_[0].n_held_back == 499


@pytest.mark.parametrize("growth", [None, 0.1])
def test_the_surest_come_first_where_probabilities_round_to_one(growth):
    """Rows are ordered by their log odds, of which probabilities of 1.0 say nothing."""
    rng = np.random.default_rng(3)
    X = rng.poisson(200.0 * np.array([[2.0, 1.0, 1.0]]), size=(400, 3)).astype(float)
    y = np.where(rng.random(400) < 0.5, "a", "b")
    X[y == "b"] = X[y == "b"][:, ::-1]
    marked = np.where(np.arange(400) < 20, y, "?")
    asked = []

    def watched(proposals):
        asked.append(proposals)
        return TopK(7)(proposals)

    model = SelfTraining(MultinomialNB(), confident=watched, growth=growth, unlabelled="?", rounds=1)
    (added,) = model.fit(X, marked).history_
    (made,) = asked
    assert (made.probability == 1.0).sum() > 100
    L = made.model.predict_log_proba(made.X)
    for code, label in enumerate("ab"):
        odds = np.where(made.codes == code, L[:, code] - L[:, 1 - code], -np.inf)
        is_added = np.isin(made.rows, added.rows[added.labels == label])
        assert odds[is_added].min() >= odds[~is_added].max()


@pytest.mark.parametrize("learner", [LogisticRegression(C=1e6), TheirLogistic(C=1e6)], ids=["ours", "theirs"])
@pytest.mark.parametrize("side", [1, -1])
def test_the_surest_row_is_the_furthest_out(learner, side):
    """Also where probabilities round to 1, and where those of the other class underflow, of either class."""
    far = np.array([3.0, 4.0, 5.0, 20.0, 60.0, 100.0])
    X = np.r_[-1.0, 1.0, side * far][:, None]
    y = [0, 1, *[None] * len(far)]
    for rule in (TopK(1), always):
        model = SelfTraining(learner, rule, growth=0.1, rounds=1).fit(X, y)
        assert model.history_[0].rows.tolist() == [7]


def test_functions_and_rules_combine():
    """``rule & function`` and ``function & rule`` believe what both do."""
    X, _, y = hidden()

    def first_half(proposals):
        return proposals.rows < 30

    for rule in (Threshold(0.6) & first_half, first_half & Threshold(0.6)):
        model = SelfTraining(confident=rule, growth=None).fit(X, y)
        assert model.history_
        assert all((added.rows < 30).all() and (added.confidences >= 0.6).all() for added in model.history_)
    with pytest.raises(TypeError):
        Threshold(0.6) & 3
    with pytest.raises(ParameterError, match="needs probabilities"):
        SelfTraining(LinearSVC(), first_half & Threshold(0.6)).fit(X, y)


def test_a_refusal_is_no_label():
    """Rows that a vote refuses to label stay unlabelled; a label from nowhere is an error."""
    X, truth, y = hidden()
    for refusal in (None, "unsure"):
        voters = Voting([LogisticRegression(), KNeighborsClassifier(1)], "majority", refusal=refusal)
        asked = []

        def always_asked(proposals, asked=asked):
            asked.append(proposals.codes)
            return np.ones(len(proposals.rows), dtype=bool)

        model = SelfTraining(voters, always_asked, growth=None, rounds=3).fit(X, y)
        assert (asked[0] == -1).any()
        assert {label for added in model.history_ for label in added.labels.tolist()} <= set(truth)
        CoTraining(voters, confident=always_asked).fit(X, y)


def test_labels_that_are_tuples_are_counted_in_the_history():
    """The line of a round names labels of any type."""
    X, _, y = hidden()
    pairs = [None if label is None else (label, 1) for label in y]
    assert "('a', 1): " in str(SelfTraining(confident=Threshold(0.6)).fit(X, pairs).history_[0])


def test_added_rows_obey_their_rule():
    """Added rows have a probability, margin or rank as the rule demands, by the model of their round."""
    X, _, y = hidden(n_classes=3)
    models = []

    def keep(proposals):
        models.append(proposals)
        return np.ones(len(proposals.rows), dtype=bool)

    for rule in (Threshold(0.5), Margin(0.3), TopK(2)):
        models.clear()
        model = SelfTraining(confident=lambda p, rule=rule: rule(p) & keep(p), growth=None, rounds=4).fit(
            X, y
        )
        assert model.history_
        for added, proposals in zip(model.history_, models, strict=False):
            at = np.isin(proposals.rows, added.rows)
            np.testing.assert_array_equal(proposals.labels[at], added.labels)
            np.testing.assert_array_equal(proposals.model.predict(X[added.rows]), added.labels)
            if isinstance(rule, Threshold):
                assert (proposals.model.predict_proba(X[added.rows]).max(axis=1) >= 0.5).all()
            if isinstance(rule, Margin):
                Z = np.sort(proposals.model.decision_function(X[added.rows]), axis=1)
                assert (Z[:, -1] - Z[:, -2] >= 0.3).all()
            if isinstance(rule, TopK):
                assert all((added.labels == label).sum() <= 2 for label in "abc")


def test_two_views_are_combined_as_independent_given_the_label():
    """p(z | x) is p_A p_B / p(z), scaled to sum to 1; predict is its largest entry."""
    for n_classes in (2, 3):
        X, _, y = hidden(90, n_classes)
        y[np.flatnonzero(y == "a")[1:]] = None
        model = CoTraining(confident=TopK(3)).fit(X, y)
        given = y[are_given(y)]
        prior = np.array([np.mean(given == label) for label in model.classes_])
        a, b = (
            part.predict_proba(X[:, half])
            for part, half in zip(model.learners_, ([0, 1], [2, 3]), strict=True)
        )
        expected = a * b / prior
        expected /= expected.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-9)
        np.testing.assert_array_equal(model.predict(X), model.classes_[expected.argmax(axis=1)])


def test_learners_without_probabilities_add_their_scores():
    """Of two LinearSVC the decision values are added, and there is no predict_proba."""
    X, _, y = hidden(90, 3)
    model = CoTraining(LinearSVC(), confident=Margin(0.5)).fit(X, y)
    parts = [
        part.decision_function(X[:, half])
        for part, half in zip(model.learners_, ([0, 1], [2, 3]), strict=True)
    ]
    np.testing.assert_allclose(model.decision_function(X), parts[0] + parts[1])
    assert not hasattr(model, "predict_proba")
    assert not hasattr(SelfTraining(LinearSVC(), Margin()), "predict_proba")


# ---- data of all kinds ----------------------------------------------------------------------------


def test_marks_of_rows_without_a_label():
    """None, NaN, -1 and a mark of one's own say the same; -1 is a label unless it is asked for."""
    X, _, y = hidden()
    codes = np.array([-1 if label is None else "ab".index(label) for label in y])
    reference = SelfTraining(confident=Threshold(0.7)).fit(X, y)
    names = [label or "?" for label in y]
    for given, unlabelled in (
        (list(y), None),
        (names, "?"),
        (np.array(names), "?"),
        ([-1 if label is None else label for label in y], -1),
        (codes, -1),
        (codes.tolist(), -1),
        (np.where(codes < 0, np.nan, codes), None),
        ([float("nan") if label is None else label for label in y], None),
        ([np.float32("nan") if label is None else label for label in y], None),
        ([pd.NaT if label is None else label for label in y], None),
        (pd.Series(y, dtype="string"), None),
    ):
        model = SelfTraining(confident=Threshold(0.7), unlabelled=unlabelled).fit(X, given)
        assert same_model(model.learner_, reference.learner_)
        np.testing.assert_array_equal(model.since_, reference.since_)
    with pytest.warns(UserWarning, match="unlabelled=-1"):
        assert SelfTraining().fit(X, codes).classes_.tolist() == [-1, 0, 1]


@pytest.mark.parametrize("kind", [SelfTraining, CoTraining])
def test_sparse_is_dense(kind):
    """The same rows are added, and the same labels predicted, for CSR, CSC and dense X."""
    X, _, y = hidden(80, 3)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense = kind(confident=Threshold(0.55)).fit(X, y)
    for layout in (sp.csr_array, sp.csc_matrix, sp.coo_array):
        model = kind(confident=Threshold(0.55)).fit(layout(X), y)
        np.testing.assert_array_equal(model.since_, dense.since_)
        np.testing.assert_array_equal(model.predict(layout(X)), dense.predict(X))


def test_texts():
    """Learners of texts and pipelines take lists of texts; two functions of a text are two views."""
    texts = [
        "good joy",
        "bad pain",
        "good delight",
        "bad bore",
        "fine joy",
        "poor pain",
        "fine delight",
        "poor bore",
    ]
    y, truth = ["pos", "neg", *[None] * 6], ["pos", "neg"] * 4
    words = TextVectorizer(ngrams=(1, 1))
    learner = TextClassifier(vectorizer=words, learner=LogisticRegression(C=100))
    pipeline = make_pipeline(words, LogisticRegression(C=100))
    for each in (learner, pipeline):
        assert SelfTraining(each, TopK(1)).fit(texts, y).transduction_.tolist() == truth
    views = (lambda X: [text.split()[0] for text in X], lambda X: [text.split()[1] for text in X])
    # A knows good and bad, so B hears of delight and bore; B knows joy and pain, so A hears of fine and poor.
    model = CoTraining(pipeline, views, Threshold(0.7), rule="exchange", growth=None).fit(texts, y)
    assert model.transduction_.tolist() == truth
    assert model.view_predictions(["fine bore"]).tolist() == [["pos", "neg"]]
    pair = tuple(view(texts) for view in views)
    again = CoTraining(pipeline, "pair", Threshold(0.7), rule="exchange", growth=None).fit(pair, y)
    np.testing.assert_array_equal(again.since_, model.since_)
    agreed = CoTraining(pipeline, views, Threshold(0.7), growth=None).fit(texts, y)
    assert agreed.history_ == []  # no text is known to both


def test_views_of_every_kind_are_the_same_views():
    """Lists, slices, masks, names, functions and a pair of matrices say the same."""
    pd = pytest.importorskip("pandas")
    X, _, y = hidden(80)
    reference = CoTraining(confident=Threshold(0.6)).fit(X, y)
    frame = pd.DataFrame(X, columns=list("pqrs"))
    mask = [True, True, False, False]
    for data, views in (
        (X, ([0, 1], [2, 3])),
        (X, (slice(0, 2), slice(2, None))),
        (X, (mask, [not each for each in mask])),
        (frame, (["p", "q"], ["r", "s"])),
        (X, (lambda X: X[:, :2], lambda X: X[:, 2:])),
        ((X[:, :2], sp.csr_array(X[:, 2:])), None),
    ):
        model = CoTraining(views=views, confident=Threshold(0.6)).fit(data, y)
        np.testing.assert_array_equal(model.since_, reference.since_)
        np.testing.assert_array_equal(model.predict(data), reference.predict(X))


def test_two_models_of_the_same_view():
    """With None for both views A and B may be different models of all columns."""
    X, _, y = hidden(80)
    model = CoTraining((LogisticRegression(), GaussianNB()), (None, None), Threshold(0.6)).fit(X, y)
    assert [type(part) for part in model.learners_] == [LogisticRegression, GaussianNB]
    assert model.n_features_in_ == 4


def test_weights():
    """Weight 0 is no row, and weight 2 is the row twice, among labelled rows."""
    X, _, y = hidden()
    given = np.flatnonzero(are_given(y))
    s = np.ones(len(y))
    s[given[0]], s[given[1]] = 0.0, 2.0
    options = {"confident": Threshold(0.7), "growth": None}
    learner = LogisticRegression(solver="lbfgs", tol=1e-13)
    weighted = SelfTraining(learner, **options).fit(X, y, s)
    rows = np.sort(np.append(np.delete(np.arange(len(y)), given[0]), given[1]))
    repeated = SelfTraining(learner, **options).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-5)
    with pytest.raises(InputError, match="sample_weight"):
        SelfTraining(NoWeights(), Margin()).fit(X, y, s)


@pytest.mark.parametrize("rule", [Threshold(0.6), Margin(0.2), TopK(3)])
@pytest.mark.parametrize("kind", [SelfTraining, CoTraining])
def test_a_class_of_weight_zero_is_no_class(kind, rule):
    """Labelled rows of weight 0 change nothing, though no other row has their label."""
    X, _, y = hidden(60, 3)
    is_out = y == "a"
    weighted = kind(confident=rule).fit(X, y, np.where(is_out, 0.0, 1.0))
    without = kind(confident=rule).fit(X[~is_out], y[~is_out], np.ones((~is_out).sum()))
    assert weighted.classes_.tolist() == ["b", "c"]
    np.testing.assert_array_equal(weighted.predict_proba(X), without.predict_proba(X))
    np.testing.assert_array_equal(weighted.transduction_[~is_out], without.transduction_)
    np.testing.assert_array_equal(weighted.transduction_[is_out], y[is_out])


class NoWeights(Midpoint):
    pass


# ---- ends -----------------------------------------------------------------------------------------


def test_callbacks_and_budgets_end_the_loop():
    """A callback sees what each round added and may stop; no round begins after max_seconds."""
    X, _, y = hidden()
    seen = []
    model = SelfTraining(
        confident=always, growth=0.1, callbacks=[lambda found: seen.extend(found) or len(seen) == 2]
    )
    model.fit(X, y)
    assert seen == model.history_
    assert (model.n_rounds_, model.stopped_) == (2, "a callback asked to stop")
    model = CoTraining(confident=always, growth=0.1, max_seconds=1e-9).fit(X, y)
    assert model.n_rounds_ == 1
    assert "max_seconds" in model.stopped_


def test_ctrl_c_ends_the_loop_with_the_present_model():
    """A SIGINT between trainings leaves a model that predicts, its history, and the usual handler."""
    X, _, y = hidden()
    model = SelfTraining(
        confident=always, growth=0.1, callbacks=[lambda found: signal.raise_signal(signal.SIGINT)]
    )
    model.fit(X, y)
    assert (model.n_rounds_, model.stopped_) == (1, "interrupted")
    assert model.predict(X).shape == (60,)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (SelfTraining(LinearSVC()), "needs probabilities"),
        (CoTraining((LogisticRegression(), TheirLinearSVC())), "needs probabilities"),
        (SelfTraining(confident=0.9), "confident must be a rule"),
        (SelfTraining(confident=Threshold), "confident must be a rule"),
        (SelfTraining(rounds=0), "rounds"),
        (SelfTraining(growth=0.0), "growth"),
        (CoTraining(max_seconds=-1), "max_seconds"),
        (CoTraining(callbacks=[3]), "callbacks"),
        (CoTraining(rule="both"), "rule"),
        (CoTraining([LogisticRegression()]), "learners"),
        (CoTraining(views=[0, 1]), "views"),
        (CoTraining(views=([0], [9])), "views"),
    ],
    ids=repr,
)
def test_impossible_options_are_refused(model, words):
    """An option that cannot be is refused by name."""
    X, _, y = hidden()
    with pytest.raises(ParameterError, match=words):
        model.fit(X, y)


@pytest.mark.parametrize("kind", [lambda: Threshold(1.5), lambda: TopK(0), lambda: Margin(np.nan)])
def test_impossible_rules_are_refused(kind):
    """A rule with a level that cannot be is refused where it is made."""
    with pytest.raises(ParameterError):
        kind()


@pytest.mark.parametrize("kind", [SelfTraining, CoTraining])
def test_impossible_data_are_refused(kind):
    """No labels at all, one class, wrong lengths, NaN in unlabelled rows and bad answers are refused."""
    X, _, y = hidden()
    with pytest.raises(InputError, match="all are marked"):
        kind().fit(X, [None] * 60)
    with pytest.raises(InputError, match="unlabelled="):
        kind(unlabelled=-1).fit(X, [-1, 1] * 30)
    with pytest.raises(InputError, match="inconsistent"):
        kind().fit(X, y[:-1])
    bad = X.copy()
    bad[np.flatnonzero(~are_given(y))[3], 1] = np.nan
    with pytest.raises(InputError, match="NaN"):
        kind().fit(bad, y)
    with pytest.raises(InputError, match="truth values"):
        kind(confident=lambda proposals: proposals.rows).fit(X, y)
    with pytest.raises(InputError, match="as many rows"):
        CoTraining().fit((X[:, :2], X[1:, 2:]), y)


@pytest.mark.parametrize("kind", [SelfTraining, CoTraining])
def test_columns_are_those_of_the_fit(kind):
    """A frame gives the answers of its numbers, without a warning; columns in another order are refused."""
    X, _, y = hidden()
    frame = pd.DataFrame(X, columns=list("wxyz"))
    model = kind().fit(frame, y)
    np.testing.assert_array_equal(model.predict(frame), kind().fit(X, y).predict(X))
    for answer in (model.predict, model.predict_proba, model.predict_log_proba, model.decision_function):
        with pytest.raises(ValueError, match="feature names"):
            answer(frame[list("zyxw")])


@pytest.mark.parametrize("kind", [SelfTraining, CoTraining])
def test_a_fit_that_fails_changes_nothing(kind):
    """A rule that fails, after models were trained, leaves those of an earlier fit."""

    def failing(proposals):
        raise RuntimeError(f"round {proposals.round}")

    X, _, y = hidden(60, 3)
    model = kind().fit(X[:, :2], np.where(y == "c", None, y))
    before = model.predict(X[:, :2])
    with pytest.raises(RuntimeError, match="round 1"):
        model.set_params(confident=failing).fit(X, y)
    np.testing.assert_array_equal(model.predict(X[:, :2]), before)
    assert model.n_features_in_ == 2


def test_the_same_call_gives_the_same_bits():
    """Nothing is random: a second fit has the same history and the same weights."""
    X, _, y = hidden(80, 3)
    first, second = (SelfTraining(confident=Threshold(0.6)).fit(X, y) for _ in range(2))
    assert same_model(first.learner_, second.learner_)
    np.testing.assert_array_equal(first.since_, second.since_)
