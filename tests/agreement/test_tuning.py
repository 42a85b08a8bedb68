"""tune and scikit-learn's grid search meet, and so do warm paths and cold fits, stages and whole models."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.linear_model import LogisticRegression as TheirLogisticRegression
from sklearn.metrics import make_scorer, recall_score
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline

from contract.members import features, labels, numbers
from lineal import (
    ElasticNet,
    JointClassifier,
    Lasso,
    LinearClassifier,
    LinearSVC,
    LogisticRegression,
    Ridge,
    SGDClassifier,
    TextClassifier,
    TextVectorizer,
    tune,
)
from lineal.objective import L1, L2, Hinge
from lineal.objective import ElasticNet as ElasticNetPenalty
from lineal.selection.search.stages import Part, Stages, fitted

FOLDS = StratifiedKFold(4, shuffle=True, random_state=3)
NUMBER_FOLDS = KFold(4, shuffle=True, random_state=3)
STRENGTHS = [0.02, 0.3, 2.0, 20.0]


def classification(n_classes=3):
    X = features(90, 6)
    return X, np.array(list("abcde"))[labels(X, n_classes)]


def regression():
    X = features(90, 6)
    return X, numbers(X)


CASES = [
    (LogisticRegression("l1", tol=1e-9), {"C": STRENGTHS}, None, classification),
    (LogisticRegression(tol=1e-9), {"C": STRENGTHS, "fit_intercept": [True, False]}, "neg_log_loss",
     classification),
    (LinearSVC(tol=1e-9), {"C": STRENGTHS, "class_weight": [None, "balanced"]}, "f1_macro", classification),
    (LinearClassifier(tol=1e-9), {"penalty": [L2(s) for s in STRENGTHS] + [L1(s) for s in STRENGTHS]}, None,
     lambda: classification(2)),
    (LinearClassifier(tol=1e-9), {"penalty": [ElasticNetPenalty(0.3 * s, 0.7 * s) for s in STRENGTHS]}, None,
     classification),
    (SGDClassifier("log_loss", tol=1e-9), {"alpha": [0.001, 0.01, 0.1]}, None, lambda: classification(2)),
    (Ridge(tol=1e-12), {"alpha": STRENGTHS}, None, regression),
    (Lasso(tol=1e-9), {"alpha": [0.001, 0.03, 0.3]}, "neg_mean_squared_error", regression),
    (ElasticNet(tol=1e-9), [{"alpha": [0.01, 0.1], "l1_ratio": [0.2, 0.9]}, {"alpha": [1.0]}], None,
     regression),
    (TheirLogisticRegression(), {"C": STRENGTHS}, None, classification),
]  # fmt: skip


@pytest.mark.parametrize(("model", "space", "metric", "data"), CASES, ids=lambda v: type(v).__name__)
def test_grid_is_scikit_learns(model, space, metric, data):
    """On the same folds settings have GridSearchCV's scores, the choice is the same, and so is the model."""
    X, y = data()
    folds = NUMBER_FOLDS if data is regression else FOLDS
    ours = tune(model, X, y, space, cv=folds, metric=metric)
    theirs = GridSearchCV(clone(model), space, cv=folds, scoring=metric).fit(X, y)
    expected = np.column_stack([theirs.cv_results_[f"split{k}_test_score"] for k in range(4)])
    assert [trial.params for trial in ours.trials] == theirs.cv_results_["params"]
    np.testing.assert_allclose([trial.scores for trial in ours.trials], expected, rtol=1e-4)
    assert ours.params == theirs.best_params_
    assert ours.score == pytest.approx(theirs.best_score_, rel=1e-4)
    np.testing.assert_array_equal(ours.model.predict(X), theirs.best_estimator_.predict(X))


def test_trials_of_a_path_are_cold_fits_within_their_certificates():
    """A warm-started point and a cold fit are both certified: neither is above the other's bound."""
    X, y = classification()
    for model, option in (
        (LogisticRegression("l1"), lambda s: {"C": 1 / s}),
        (LinearClassifier(loss=Hinge()), lambda s: {"penalty": L2(s)}),
        (SGDClassifier("log_loss"), lambda s: {"alpha": s / len(y)}),
    ):
        stages = [Stages.of(clone(model).set_params(**option(s))) for s in (10.0, 0.1, 1.0)]
        assert len({each.family() for each in stages}) == 1
        warm = fitted(stages, Part(X, y, None))
        for point, stage in zip(warm, stages, strict=True):
            cold = clone(stage.learner).fit(X, y).certificate_
            assert point.certificate_.converged
            assert point.certificate_.dual <= cold.primal * (1 + 1e-9)
            assert cold.dual <= point.certificate_.primal * (1 + 1e-9)


def test_penalties_of_other_shapes_are_on_other_paths():
    """L1 and L2, elastic nets of other ratios, and learners with other options share no path."""
    models = [
        LinearClassifier(penalty=L1(1.0)),
        LinearClassifier(penalty=L2(1.0)),
        LinearClassifier(penalty=ElasticNetPenalty(1.0, 2.0)),
        LinearClassifier(penalty=ElasticNetPenalty(1.0, 3.0)),
        LinearClassifier(penalty=L2(1.0), fit_intercept=False),
        LinearClassifier(loss=Hinge(), penalty=L2(1.0)),
        LogisticRegression(),
    ]
    assert len({Stages.of(model).family() for model in models}) == len(models)
    assert Stages.of(LinearClassifier(penalty=L2(7.0))).family() == Stages.of(models[1]).family()
    assert (
        Stages.of(LinearClassifier(penalty=ElasticNetPenalty(2.0, 4.0))).family()
        == Stages.of(models[2]).family()
    )
    assert Stages.of(LinearSVC(probability=True)).family() is None


class Counting(TransformerMixin, BaseEstimator):
    """Columns times a factor; every fit is counted."""

    n_fits = 0

    def __init__(self, factor=1.0):
        self.factor = factor

    def fit(self, X, y=None):
        type(self).n_fits += 1
        return self

    def transform(self, X):
        return self.factor * X


def test_features_are_computed_once_for_a_fold():
    """A pipeline's transformers are fitted once for a fold and a setting of theirs, not for each trial."""
    X, y = classification()
    space = {
        "counting__factor": [1.0, 2.0],
        "logisticregression__C": [0.3, 1.0],  # at 0.1 two classes have only constants left, and tie
        "logisticregression__penalty": ["l1", "l2"],
    }
    pipeline = make_pipeline(Counting(), LogisticRegression(tol=1e-9))
    Counting.n_fits = 0
    ours = tune(pipeline, X, y, space, cv=FOLDS)
    assert len(ours.trials) == 8
    assert Counting.n_fits == 4 * 2 + 1  # folds x settings, and the last fit
    theirs = GridSearchCV(pipeline, space, cv=FOLDS).fit(X, y)
    assert ours.params == theirs.best_params_
    means = [trial.mean for trial in ours.trials]
    np.testing.assert_allclose(means, theirs.cv_results_["mean_test_score"], rtol=1e-9)


TEXTS = [
    "good film",
    "bad film",
    "a good cast",
    "a bad cast",
    "good, not bad",
    "bad, not good",
    "fine",
    "poor",
] * 5
KINDS = np.array(["pos", "neg"] * 20)


@pytest.mark.parametrize("metric", [None, "neg_log_loss"])
def test_text_learners_in_stages_are_the_whole_ones(metric):
    """TextClassifier with a given vectoriser reads a fold once, and scores as GridSearchCV scores it.

    Where probabilities are asked for it stays whole, since it holds rows out for them.
    """
    model = TextClassifier(vectorizer=TextVectorizer(ngrams=(1, 1)))
    space = {"strengths": [0.1, 1.0, 10.0], "vectorizer__ngrams": [(1, 1), (1, 2)]}
    ours = tune(model, TEXTS, KINDS, space, cv=FOLDS, metric=metric)
    assert all(trial.is_warm == (metric is None) for trial in ours.trials)
    theirs = GridSearchCV(model, space, cv=FOLDS, scoring=metric).fit(TEXTS, KINDS)
    means = [trial.mean for trial in ours.trials]
    np.testing.assert_allclose(means, theirs.cv_results_["mean_test_score"], rtol=1e-2)
    assert ours.model.predict(["such a good idea"]) == ["pos"]
    whole = tune(TextClassifier(), TEXTS, KINDS, {"strengths": [0.1, 1.0]}, cv=3)
    assert not whole.trials[0].is_warm


def test_things_of_any_kind():
    """A learner of a joint map is tuned over a list of things."""
    things = [{"word": text} for text in TEXTS]
    model = JointClassifier(lambda x, y: {(word, y): 1 for word in x["word"].split()})
    found = tune(model, things, KINDS, {"penalty": [L2(0.1), L2(1.0)]}, cv=3)
    assert found.best.is_warm
    assert found.model.predict([{"word": "good"}]) == ["pos"]


@pytest.mark.parametrize("layout", [sp.csr_array, sp.csc_matrix])
def test_sparse_is_dense(layout):
    """Scores are those of the dense rows."""
    X, y = classification()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense = tune(LogisticRegression(tol=1e-9), X, y, {"C": STRENGTHS}, cv=3)
    sparse = tune(LogisticRegression(tol=1e-9), layout(X), y, {"C": STRENGTHS}, cv=3)
    assert [trial.scores for trial in dense.trials] == [trial.scores for trial in sparse.trials]


def test_weights_hold_in_fits_and_in_scores():
    """A fold's score is that of a weighted fit, with the weights of the held-out rows."""
    X, y = classification()
    s = np.random.default_rng(0).integers(0, 4, size=len(y)).astype(float)
    found = tune(LogisticRegression(tol=1e-9), X, y, {"C": [0.1, 10.0]}, cv=FOLDS, sample_weight=s)
    for trial in found.trials:
        for score, (train, test) in zip(trial.scores, FOLDS.split(X, y), strict=True):
            model = LogisticRegression(C=trial.params["C"], tol=1e-9).fit(X[train], y[train], s[train])
            assert score == pytest.approx(model.score(X[test], y[test], s[test]), rel=1e-9)
    pipeline = make_pipeline(Counting(), LogisticRegression(tol=1e-9))
    staged = tune(pipeline, X, y, {"logisticregression__C": [0.1, 10.0]}, cv=FOLDS, sample_weight=s)
    assert [trial.scores for trial in staged.trials] == [trial.scores for trial in found.trials]


def test_metrics_of_ones_own():
    """A scorer sees predictions; a plain function is given the whole model and the rows as they came."""
    X, y = classification(2)
    pipeline = make_pipeline(Counting(3.0), LogisticRegression())
    recall = make_scorer(recall_score, pos_label="a")
    seen = []

    def mine(model, rows, targets):
        seen.append(rows)
        return recall(model, rows, targets)

    space = {"logisticregression__C": STRENGTHS}
    named, own = (tune(pipeline, X, y, space, cv=FOLDS, metric=metric) for metric in (recall, mine))
    assert [trial.scores for trial in named.trials] == [trial.scores for trial in own.trials]
    _, test = next(iter(FOLDS.split(X, y)))
    np.testing.assert_array_equal(seen[0], X[test])
    assert own.metric == "mine"


def test_groups_are_kept_together():
    """Splitters that heed groups are given them, in outer folds too."""
    X, y = classification(2)
    groups = np.arange(len(y)) // 10
    folds = GroupKFold(3)
    ours = tune(
        LogisticRegression(tol=1e-9), X, y, {"C": STRENGTHS}, cv=folds, groups=groups, outer=GroupKFold(4)
    )
    theirs = GridSearchCV(LogisticRegression(tol=1e-9), {"C": STRENGTHS}, cv=folds).fit(X, y, groups=groups)
    np.testing.assert_allclose([t.mean for t in ours.trials], theirs.cv_results_["mean_test_score"])
    assert len(ours.outer) == 4


@pytest.mark.parametrize("method", ["grid", "halving"])
def test_any_number_of_threads_gives_the_same_result(method):
    """One thread and three find the same scores, bit for bit, and the same weights."""
    X, y = classification()
    space = {"C": np.geomspace(0.001, 100, 6).tolist(), "penalty": ["l1", "l2"]}
    one, three = (tune(LogisticRegression(), X, y, space, method=method, n_threads=n) for n in (1, 3))
    assert [trial.scores for trial in one.trials] == [trial.scores for trial in three.trials]
    np.testing.assert_array_equal(one.model.coef_, three.model.coef_)
