"""What every learner made of learners promises, whatever it makes of them."""

import pickle
import signal
import threading
import time
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from contract.members import features, labels, named, numbers, whole_features
from lineal import (
    Bagging,
    BaggingRegressor,
    Calibrated,
    CoTraining,
    GaussianNB,
    JointClassifier,
    KNeighborsClassifier,
    LinearClassifier,
    LinearRegressor,
    LinearSVC,
    MultinomialNB,
    OneVsOne,
    OneVsRest,
    OutputCode,
    Perceptron,
    SelfTraining,
    Stacking,
    TextClassifier,
    TextVectorizer,
    Voting,
)
from lineal.compose import Margin
from lineal.errors import InputError, NotCertifiedWarning, ParameterError
from lineal.objective import NoPenalty

CLASSIFIERS = [OneVsRest, OneVsOne, OutputCode, Voting, Bagging, Stacking, Calibrated]
every = pytest.mark.parametrize("kind", [*CLASSIFIERS, BaggingRegressor], ids=named)
every_classifier = pytest.mark.parametrize("kind", CLASSIFIERS, ids=named)


def made(kind, learner=None, **options):
    """One of them over a learner, with as few models as it can have."""
    learner = learner or (LinearClassifier() if is_classifier(kind()) else LinearRegressor())
    few = {Bagging: {"n_models": 3}, BaggingRegressor: {"n_models": 3}}.get(kind, {})
    few = {"folds": 3} if kind in (Stacking, Calibrated) else few
    return kind([learner] if kind in (Voting, Stacking) else learner, **few, **options)


def data(kind, K=3, n=60):
    X = features(n)
    return X, labels(X, K) if is_classifier(kind()) else numbers(X)


def answers(model, X):
    """All that it says about X."""
    return [
        getattr(model, name)(X)
        for name in ("predict", "decision_function", "predict_proba")
        if hasattr(model, name)
    ]


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


@pytest.fixture(params=[0, 10**9], ids=["threads at once", "threads for long parts"])
def small(request, monkeypatch):
    """Threads begin at once, or when parts have turned out to be long."""
    monkeypatch.setattr("lineal.compose.threads._SMALL", request.param)
    return request.param


@pytest.mark.parametrize("n_threads", [2, 5])
@every
@pytest.mark.usefixtures("small")
def test_threads_change_no_bit(kind, n_threads):
    """One thread and several give the same answers, and parts keep the options they were given."""
    X, y = data(kind)
    one, many = (made(kind, n_threads=n).fit(X, y) for n in (1, n_threads))
    assert same(answers(one, X), answers(many, X))
    parts = many.parts_ if hasattr(many, "parts_") else [many.learner_]
    assert all(part.n_threads is None for part in parts)
    with pytest.raises(ParameterError, match="n_threads"):
        made(kind, n_threads=0).fit(object(), object())


@every
def test_copies_and_seeds(kind):
    """clone and pickle give the same model, the same seed too; fit rewrites no option."""
    X, y = data(kind)
    model = made(kind)
    before = model.get_params(deep=False)
    model.fit(X, y)
    assert all(model.get_params(deep=False)[name] is before[name] for name in before)
    assert same(answers(clone(model).fit(X, y), X), answers(model, X))
    assert same(answers(pickle.loads(pickle.dumps(model)), X), answers(model, X))


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
@every
def test_sparse_layouts(kind, layout):
    """Any sparse layout gives the same bits, and what dense data give to rounding."""
    X = whole_features(60).astype(float)
    y = labels(X, 3) if is_classifier(kind()) else numbers(X)
    A = getattr(sp, f"{layout}_array")(X)
    model, rows = made(kind).fit(A, y), made(kind).fit(sp.csr_array(X), y)
    assert same(answers(model, A), answers(rows, sp.csr_array(X)))
    assert np.mean(model.predict(A) == made(kind).fit(X, y).predict(X)) > 0.9 or kind is BaggingRegressor


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@every
def test_frames(kind, frame):
    """A frame gives the model of its numbers; its names are kept, and others are refused."""
    X, y = data(kind)
    framed = frame({f"x{j}": X[:, j] for j in range(5)})
    model = made(kind).fit(framed, y)
    assert same(answers(model, framed), answers(made(kind).fit(X, y), X))
    assert model.feature_names_in_.tolist() == [f"x{j}" for j in range(5)]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame({f"z{j}": X[:, j] for j in range(5)}))


@every
def test_bad_cells_are_named_by_their_place_in_x(kind):
    """NaN is refused with its row and column in X, not in the part of X that some part would have met."""
    X, y = data(kind)
    model = made(kind).fit(X, y)
    X[57, 2] = np.nan
    for action in (lambda: made(kind).fit(X, y), lambda: model.predict(X)):
        with pytest.raises(InputError, match=r"row 57, column 2\b"):
            action()


@every
def test_data_that_do_not_fit_together(kind):
    """No rows, other lengths, no y, bad weights, one class: refused in words."""
    X, y = data(kind)
    for rows, targets, weights in [
        (X[:0], y[:0], None),
        (X, y[:-1], None),
        (X, None, None),
        (X, y, np.ones(3)),
        (X, y, -np.ones(len(y))),
        (X, y, np.zeros(len(y))),
    ]:
        with pytest.raises(InputError):
            made(kind).fit(rows, targets, sample_weight=weights)
    if is_classifier(made(kind)):
        with pytest.raises(InputError, match="only one class: 'a'"):
            made(kind).fit(X, ["a"] * len(X))
        with pytest.raises(InputError, match="only one class"):
            made(kind).fit(X, y, sample_weight=(y == 1).astype(float))


@every_classifier
def test_a_fit_that_is_refused_changes_nothing(kind):
    """After a fit that fails, before its parts are fitted or while they are, the model answers as it did."""
    X, y = data(kind)
    model = made(kind, MultinomialNB()).fit(np.abs(X), y)
    before = answers(model, np.abs(X))
    with pytest.raises(InputError, match="inconsistent numbers"):
        model.fit(X[:, :3], y[:-1])
    with pytest.raises(InputError, match=r"below 0|at least 0|negative"):
        model.fit(X[:, :3], y)
    assert same(answers(model, np.abs(X)), before)


@every_classifier
def test_labels_of_any_type(kind):
    """Text, booleans, tuples and mixed labels come back as they went in, sorted in classes_."""
    X = features(60)
    for names in (["no", "yes"], [False, True], [3, 1, 2], [(0, 1), (1, 0), (2, 2)], ["one", 2, None]):
        codes = labels(X, len(names))
        y = np.empty(len(codes), dtype=object)
        y[:] = [names[code] for code in codes]
        model = made(kind, GaussianNB()).fit(X, y)
        assert set(model.predict(X).tolist()) <= set(names)
        assert set(model.classes_.tolist()) == set(names)
        assert len(model.classes_) == len(names)
        is_right = [a == b for a, b in zip(model.predict(X).tolist(), y.tolist(), strict=True)]
        assert model.score(X, y) == model.score(X, y.tolist()) == np.mean(is_right)


@every_classifier
def test_texts(kind):
    """Texts go to learners of texts and to pipelines as they are."""
    texts = ["good film", "bad film", "so so film", "good cast", "bad cast", "so so cast"] * 4
    y = ["pos", "neg", "mid"] * 8
    words = TextVectorizer(ngrams=(1, 1))
    for learner in (
        TextClassifier(vectorizer=words, strengths=1.0),
        make_pipeline(words, LinearClassifier()),
    ):
        model = made(kind, learner).fit(texts, y)
        assert model.predict(["a good plot", "a bad plot", "so so"]).tolist() == ["pos", "neg", "mid"]
        np.testing.assert_array_equal(model.fit(iter(texts), y).predict(texts), y)
        assert not hasattr(model, "n_features_in_")


@every_classifier
def test_rows_of_any_kind(kind):
    """A learner of things, such as dictionaries, gets them one by one as they are."""
    things = [{"small": 1.0}, {"large": 1.0, "red": 1.0}, {"red": 1.0}] * 8
    y = ["small", "large", "red"] * 8
    options = {"passthrough": False} if kind is Stacking else {}
    model = made(kind, JointClassifier(), **options).fit(things, y)
    assert model.predict(things[:3]).tolist() == y[:3]
    if kind is Stacking:
        with pytest.raises(ParameterError, match="vectorizer"):
            made(kind, JointClassifier()).fit(things, y)
        assert made(kind, JointClassifier(), vectorizer=DictVectorizer()).fit(things, y).score(things, y) == 1


@every_classifier
def test_learners_from_elsewhere(kind):
    """scikit-learn's learners and pipelines that want the names of columns work as parts."""
    X, y = data(kind)
    frame = pd.DataFrame(X, columns=list("abcde"))
    learner = make_pipeline(StandardScaler().set_output(transform="pandas"), LogisticRegression())
    model = made(kind, learner).fit(frame, y)
    assert (model.predict(frame) == y).mean() > 0.5
    weighted = made(kind, learner).fit(frame, y, sample_weight=np.arange(len(y)) % 3)
    assert not same(answers(weighted, frame), answers(model, frame))
    assert (
        made(kind, LogisticRegression()).fit(X.tolist(), y.tolist()).predict(X.tolist()) == y
    ).mean() > 0.5


@pytest.mark.parametrize("kind", [OneVsRest, OneVsOne, OutputCode, Voting, Stacking, Calibrated], ids=named)
def test_weights_that_a_learner_would_not_hear_of_are_refused(kind):
    """A learner whose fit has no sample_weight: refused before any fit, by name."""
    X, y = data(kind)
    for learner in (Perceptron(), make_pipeline(StandardScaler(), Perceptron())):
        with pytest.raises(
            InputError, match=r"sample_weight, but (Perceptron|Pipeline) has no weights of rows"
        ):
            made(kind, learner).fit(X, y, sample_weight=np.ones(60))
    with pytest.raises(InputError, match="has no weights"):
        Stacking([GaussianNB()], Perceptron()).fit(X, y, sample_weight=np.ones(60))


@every_classifier
def test_compositions_compose(kind):
    """One of them is a learner like any other: inside each of the others, and under a grid search."""
    X, y = data(kind, n=45)
    inner = {Bagging: Bagging(GaussianNB(), 2), Voting: Voting([GaussianNB()])}.get(
        kind, made(kind, GaussianNB())
    )
    for outer in CLASSIFIERS:
        model = made(outer, inner).fit(X, y)
        assert model.predict(X).shape == (45,)
    name = "learners" if kind in (Voting, Stacking) else "learner"
    choices = [GaussianNB(), KNeighborsClassifier()]
    grid = {name: [[c] for c in choices] if name == "learners" else choices}
    assert GridSearchCV(made(kind), grid, cv=2).fit(X, y).best_score_ > 0.3


class Watched(GaussianNB):
    """Takes its time, and knows where it was fitted."""

    def __init__(self, seconds=0.0):
        super().__init__()
        self.seconds = seconds

    def fit(self, X, y, sample_weight=None):
        time.sleep(self.seconds)
        self.is_in_main_ = threading.current_thread() is threading.main_thread()
        return super().fit(X, y, sample_weight)


def test_threads_begin_where_parts_are_long():
    """Short fits to a few numbers wait for no thread; once one was long, the others are shared out.

    Where there are more numbers all are.
    """
    few, many = data(OneVsRest, 4), data(OneVsRest, 4, 20_000)

    def places(seconds, X, y):
        parts = OneVsRest(Watched(seconds), n_threads=2).fit(X, y).parts_
        return [part.is_in_main_ for part in parts]

    assert places(0.05, *few) == [True, False, False, False]
    assert places(0.0, *many) == [False] * 4
    for _ in range(20):  # another process may take the processor away
        if places(0.0, *few) == [True] * 4:
            return
    pytest.fail("short fits are shared out")


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.usefixtures("small")
def test_warnings_of_many_parts_are_one(n_threads):
    """Parts that stop early warn once for all of them, and the filters of warnings are as they were."""
    X, y = data(OneVsRest, 5, 100)
    before = warnings.filters[:]
    with pytest.warns(NotCertifiedWarning, match="5 warnings like this from 5 parts") as met:
        OneVsRest(LinearSVC(max_iter=1, tol=1e-12), n_threads=n_threads).fit(X, y)
    assert len(met) == 1
    assert warnings.filters == before
    with pytest.raises(NotCertifiedWarning):  # warnings are errors in these tests
        OneVsRest(LinearSVC(max_iter=1, tol=1e-12), n_threads=n_threads).fit(X, y)
    with pytest.warns(ConvergenceWarning):
        OneVsRest(LogisticRegression(max_iter=1), n_threads=n_threads).fit(X, y)


class Interrupted(GaussianNB):
    """Someone presses Ctrl-C while the second part is being fitted."""

    n_fits = 0

    def fit(self, X, y, sample_weight=None):
        Interrupted.n_fits += 1
        if Interrupted.n_fits == 2:
            signal.raise_signal(signal.SIGINT)
        if Interrupted.n_fits > 2:
            time.sleep(0.05)
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.usefixtures("small")
def test_an_interrupted_fit_is_no_model(n_threads):
    """Ctrl-C ends the fit of all parts: half of them are no model. Nothing is fitted that had not begun."""
    X, y = data(OneVsOne, 6, 100)
    Interrupted.n_fits = 0
    model = OneVsOne(Interrupted(), n_threads=n_threads)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert Interrupted.n_fits < 15
    assert not hasattr(model, "classes_")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(
    "model", [Calibrated(method="platt"), Calibrated(method="isotonic"), Voting(rule="weighted"), Bagging()]
)
def test_weights_in_units_of_their_sum_count_rows(model):
    """Weights 1 / n are as many rows as weights 1, wherever numbers of rows matter."""
    X = features(64)
    y = labels(X, 2)
    learner = LinearClassifier(penalty=NoPenalty(), tol=1e-10)  # whose weights have no units
    inner = {"learners": [learner, GaussianNB()]} if isinstance(model, Voting) else {"learner": learner}
    y[:6] = 1 - y[:6]  # so that no plane parts the classes
    ones, shares = (
        clone(model).set_params(**inner).fit(X, y, sample_weight=np.full(64, w)) for w in (1.0, 2.0**-6)
    )
    np.testing.assert_allclose(shares.predict_proba(X), ones.predict_proba(X), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("K", [3, 4])
def test_scores_of_pairs_are_not_taken_for_scores_of_classes(K):
    """Three classes have three pairs: scores of pairs are refused, whatever their number, with what to do."""
    X = features(60)
    y = labels(X, K)
    learner = SVC(decision_function_shape="ovo")
    for pairs in (learner, make_pipeline(StandardScaler(), learner)):
        for model, targets in (
            (Calibrated(pairs, folds=3), y),
            (SelfTraining(pairs, Margin(0.1)), np.where(np.arange(60) < 30, y.astype(object), None)),
        ):
            with pytest.raises(InputError, match="decision_function_shape='ovr'"):
                model.fit(X, targets)
    assert OneVsRest(learner).fit(X, y).score(X, y) > 1 / K


@every
def test_learners_of_the_other_kind_are_refused(kind):
    """A regressor is no part of a classifier, and no classifier one of a regressor; data are not read."""
    wrong = LinearRegressor() if is_classifier(kind()) else LinearClassifier()
    with pytest.raises(ParameterError, match=f"{kind.__name__} is made of"):
        made(kind, wrong).fit(*data(kind))


def test_the_final_model_of_a_stack_is_a_classifier():
    """As are the models before it, and those that learn from few labels."""
    X, y = data(Stacking)
    for model in (
        Stacking([LinearClassifier()], final=LinearRegressor()),
        SelfTraining(LinearRegressor()),
        CoTraining(LinearRegressor()),
    ):
        with pytest.raises(ParameterError, match="made of classifiers, but LinearRegressor is a regressor"):
            model.fit(X, y)


@pytest.mark.parametrize("refusal", [None, "unsure", np.nan], ids=str)
def test_refusals_inside_are_no_votes(refusal):
    """A vote that refuses votes for nobody: not in a vote, not in bags, and shows the final model zeros."""
    X = features(80)
    y = np.where(X[:, 0] + 0.8 * features(80, seed=1)[:, 0] > 0, "a", "b")
    torn = Voting([LinearClassifier(), KNeighborsClassifier(1)], "majority", refusal=refusal)
    is_refused = np.array([answer not in ("a", "b") for answer in torn.fit(X, y).predict(X)])
    assert is_refused.any()
    votes = Voting([torn, torn]).fit(X, y).votes(X)
    np.testing.assert_array_equal(votes.sum(axis=1), np.where(is_refused, 0, 2))
    shown = Stacking([("B", torn)], passthrough=False, folds=3).fit(X, y).features(X)
    np.testing.assert_array_equal(shown.sum(axis=1), ~is_refused)
    assert Bagging(torn, 3, rule="plurality").fit(X, y).score(X, y) > 0.5
    with pytest.raises(InputError, match="not one of the labels"):
        Voting([Stranger()]).fit(X, y).predict(X)


class Stranger(ClassifierMixin, BaseEstimator):
    """Predicts what it was never taught."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), "c")


def test_a_bag_that_cannot_be_learnt_from_is_named():
    """Whoever holds rows out inside a bag hears how many rows the bag had, and where to put it instead."""
    X = features(100)
    y = np.where(X[:, 0] > 0, "a", "b")
    y[:2] = "c"
    for model in (Bagging(Calibrated(LinearSVC()), random_state=0), Bagging(rows=1, random_state=0)):
        with pytest.raises(InputError, match="of 100 rows: draw more of them by rows="):
            model.fit(X, y)
    assert Calibrated(Bagging(LinearSVC())).fit(X, y).score(X, y) > 0.8
    with pytest.raises(ParameterError, match=r"got -1\.$"):  # which is not about rows
        Bagging(LinearSVC(C=-1)).fit(X, y)


def test_as_many_folds_as_rows_leave_one_out():
    """A number of folds is kept, also where no class has as many rows: classes are spread over the folds."""
    X = features(12)
    y = np.repeat([0, 1, 2], 4)
    for folds in (5, 6, 12):
        model = Stacking([LinearClassifier()], folds=folds).fit(X, y)
        assert np.bincount(model.folds_).tolist() == np.bincount(np.arange(12) % folds).tolist()
        for label in range(3):
            assert len(set(model.folds_[y == label])) == 4


def test_frames_of_several_types_stand_beside_outputs():
    """Numbers, whole numbers and truth values in one frame are columns of numbers for any stack."""
    X = features(60)
    frame = pd.DataFrame({"size": X[:, 0], "count": np.arange(60), "is_new": X[:, 1] > 0})
    y = labels(X, 2)
    found = Stacking([LogisticRegression()], folds=3).fit(frame, y).features(frame)
    np.testing.assert_array_equal(found[:, :3], frame.to_numpy(dtype=float))
    with pytest.raises(ParameterError, match="no columns of numbers"):
        Stacking([make_pipeline(TextVectorizer(), LogisticRegression())], folds=3).fit(
            np.array([["a b"], ["c d"]] * 30, dtype=object), y
        )


def test_rows_in_lists_have_columns():
    """Lists of numbers are a matrix for learners from elsewhere too; sparse views may be of any layout."""
    X = features(60)
    y = labels(X, 2)
    bagged = Bagging(LogisticRegression(), 3, columns=2, random_state=0)
    np.testing.assert_array_equal(bagged.fit(X.tolist(), y).predict(X.tolist()), bagged.fit(X, y).predict(X))
    marked = [label if k < 20 else None for k, label in enumerate(y.tolist())]
    model = CoTraining(LogisticRegression())
    np.testing.assert_array_equal(
        model.fit(X.tolist(), marked).predict(X.tolist()), model.fit(X, marked).predict(X)
    )
    views = (sp.coo_matrix(X), sp.coo_matrix(X))
    assert len(CoTraining(LinearClassifier(), views="pair").fit(views, marked).predict(views)) == 60


@every_classifier
def test_sets_are_labels(kind):
    """Labels that are sets, of which < is no order, are told apart, and ordered alike in every process."""
    X = features(60)
    y = [frozenset({name, "word"}) for name in np.where(labels(X, 2) == 1, "red", "blue").tolist()]
    model = made(kind).fit(X, y)
    assert [sorted(label) for label in model.classes_] == [["blue", "word"], ["red", "word"]]
    assert model.score(X, y) > 0.6


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_whole_numbers_beside_nulls_keep_their_digits(library):
    """Nulls among whole numbers mark rows without a label, and make no floats of the others."""
    X = features(90)
    names = np.array([2**53, 2**53 + 1, 7])[labels(X, 3)]
    marked = [int(name) if k < 60 else None for k, name in enumerate(names)]
    y = pd.Series(marked, dtype="Int64") if library is pd else pl.Series(marked)
    assert SelfTraining().fit(X, y).classes_.tolist() == [7, 2**53, 2**53 + 1]
    with pytest.raises(InputError, match="no label at row 60"):
        LinearClassifier().fit(X, y)


def test_certificates_of_parts():
    """Parts with a certificate show it; there is no such attribute where they have none."""
    X, y = data(OneVsOne)
    assert all(certificate.converged for certificate in OneVsOne().fit(X, y).certificates_)
    assert not hasattr(OneVsOne(GaussianNB()).fit(X, y), "certificates_")


@every
def test_what_is_no_learner_is_refused(kind):
    """A class instead of an instance, or something that cannot fit: refused before data are looked at."""
    for learner in (GaussianNB, "svm", 3):
        with pytest.raises(ParameterError):
            (kind([learner]) if kind in (Voting, Stacking) else kind(learner)).fit(object(), object())
