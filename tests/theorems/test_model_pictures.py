"""What pictures of models show is true: margins, losses, confusions, weights, words and scores."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix, precision_recall_curve, roc_auc_score, roc_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import SVC

from lineal import LinearClassifier, LogisticRegression, MultinomialNB, Ridge, TextClassifier, TextRegressor
from lineal.evaluation import compare, evaluate
from lineal.objective import L2, Hinge, SquaredHinge
from lineal.plot import (
    Margin,
    calibration,
    confusion,
    decision_regions,
    model_scores,
    precision_recall,
    roc,
    surrogate_losses,
    weights_by_class,
    word_contributions,
)

rng = np.random.default_rng(0)
SIGNS = np.repeat([-1, 1], 30)
PLANE = rng.normal(size=(60, 2)) + SIGNS[:, None] * [1.0, 0.6]
numbers = st.floats(-3, 3).map(lambda v: round(v, 3))


# ---- losses ---------------------------------------------------------------------------------------


def test_convex_surrogates_of_the_usual_kinds_bound_the_errors():
    """Hinge, its square and modified Huber are never below 0/1, the others somewhere; sign(0) = +1."""
    shapes = surrogate_losses()
    bounds = {name for name in shapes.by_margin if shapes.bounds_zero_one(name)}
    assert bounds == {"Hinge", "SquaredHinge", "ModifiedHuber"}
    np.testing.assert_array_equal(shapes.zero_one, shapes.margins < 0)
    assert {"Log", "Perceptron", "Squared"} < set(shapes.by_margin)
    assert set(shapes.by_residual) >= {"Squared", "Huber", "Absolute", "Quantile", "EpsilonInsensitive"}


def test_a_loss_by_margin_is_the_loss_of_either_label():
    """What is drawn at the margin m is loss(-1, -m) too; a regression loss is 0 at the residual 0."""
    shapes = surrogate_losses(n_points=41)
    for name, drawn in shapes.by_margin.items():
        loss = shapes.losses[name]
        np.testing.assert_allclose(drawn, loss(-np.ones(41), -shapes.margins), atol=1e-15)
    for name in shapes.by_residual:
        assert shapes.losses[name](3.0, 3.0) == 0


# ---- margins --------------------------------------------------------------------------------------


@given(numbers, numbers, numbers, st.sampled_from([-1.0, 0.0, 1.0]))
def test_ends_of_a_line_have_its_score_and_lie_on_the_window(w1, w2, b, score):
    """w . x + b is the score at both ends, which lie on the sides; a line that is missed parts no corners."""
    margin = Margin(np.array([w1, w2]), b, 1.0, np.zeros(0, dtype=bool))
    ends = margin.line(score, (-2.0, 2.0), (-1.0, 3.0))
    corners = np.array([[x, y] for x in (-2.0, 2.0) for y in (-1.0, 3.0)]) @ margin.w + b - score
    if not len(ends):
        assert not (corners.min() < -1e-9 and corners.max() > 1e-9)
        return
    # A point of the line may be far away in a window that it only touches: the score has the size of w there.
    np.testing.assert_allclose(ends @ margin.w + b, score, atol=1e-9)
    on_side = np.isclose(np.abs(ends[:, 0]), 2.0) | np.isclose(np.abs(ends[:, 1] - 1.0), 2.0)
    assert on_side.all()


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), Hinge(2.0)])
def test_the_margin_lines_are_where_the_model_scores_plus_and_minus_its_margin(loss):
    """decision_function is ±margin on the lines and 0 between; they are 2 margin / ||w|| apart."""
    learner = LinearClassifier(loss, L2(1.0), tol=1e-4)
    found = decision_regions({"m": learner}, PLANE, SIGNS, n_points=5, margins=True)
    margin, model = found.margins["m"], learner.fit(PLANE, SIGNS)
    window = (found.x[0], found.x[-1]), (found.y[0], found.y[-1])
    for score in (-loss.margin, 0.0, loss.margin):
        np.testing.assert_allclose(model.decision_function(margin.line(score, *window)), score, atol=1e-9)
    normal = margin.w / np.linalg.norm(margin.w)
    apart = (margin.line(loss.margin, *window)[0] - margin.line(-loss.margin, *window)[0]) @ normal
    assert apart == pytest.approx(margin.width) == pytest.approx(2 * loss.margin / np.linalg.norm(margin.w))


def test_support_vectors_alone_give_the_same_machine():
    """A fit to the ringed points alone finds the same w; they are LIBSVM's, on or inside the margin."""
    learner = LinearClassifier(Hinge(), L2(1.0), tol=1e-7)
    margin = decision_regions({"m": learner}, PLANE, SIGNS, n_points=5, margins=True).margins["m"]
    held = margin.is_support
    assert 2 < held.sum() < len(PLANE)
    again = learner.fit(PLANE[held], SIGNS[held])
    np.testing.assert_allclose(again.coef_.ravel(), margin.w, rtol=1e-4)
    theirs = SVC(kernel="linear", C=1.0, tol=1e-8).fit(PLANE, SIGNS)
    np.testing.assert_array_equal(np.flatnonzero(held), np.sort(theirs.support_))
    assert (SIGNS * (PLANE @ margin.w + margin.b))[held].max() <= 1 + 1e-4
    # Without dual variables, the points with y z <= 1 are taken: the same ones.
    by_score = decision_regions({"m": SVC(kernel="linear", tol=1e-8)}, PLANE, SIGNS, n_points=5, margins=True)
    np.testing.assert_array_equal(by_score.margins["m"].is_support, held)


# ---- confusions -----------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=4, max_size=30))
def test_confusions_are_scikit_learns_and_rates_sum_to_one(pairs):
    """Counts by truth and prediction; the rates of a class that occurs sum to 1, those of another are NaN."""
    truth, said = np.array(pairs).T

    class Said:
        classes_ = np.arange(4)

        def predict(self, X):
            return said

    found = confusion(Said(), truth, truth)
    np.testing.assert_array_equal(found.counts, confusion_matrix(truth, said, labels=found.classes))
    sums = found.rates.sum(axis=1)
    is_met = np.isin(found.classes, truth)
    np.testing.assert_allclose(sums[is_met], 1.0)
    assert np.isnan(sums[~is_met]).all()
    errors = [count for _, _, count in found.worst(12)]
    assert errors == sorted(errors, reverse=True)
    assert sum(errors) == (truth != said).sum()


def test_an_evaluation_has_the_confusion_of_its_model():
    """confusion(evaluate(model, X, y)) and confusion(model, X, y) are the same, also with weights."""
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 60)]
    model, s = LogisticRegression().fit(PLANE, y), rng.uniform(0, 2, 60)
    judged = confusion(evaluate(model, PLANE, y, sample_weight=s, n_resamples=50))
    straight = confusion(model, PLANE, y, sample_weight=s)
    np.testing.assert_array_equal(judged.counts, straight.counts)
    np.testing.assert_allclose(judged.rate_intervals, straight.rate_intervals)
    assert judged.classes.tolist() == model.classes_.tolist()


# ---- weights --------------------------------------------------------------------------------------


@given(st.integers(0, 1000), st.integers(1, 12))
def test_the_strongest_columns_are_the_strongest(seed, k):
    """No column that is left out has a larger |weight| than one that is shown; names keep their weights."""
    made = np.random.default_rng(seed)
    model = LogisticRegression()
    model.classes_, model.coef_ = np.arange(3), made.normal(size=(3, 9)) * made.integers(0, 2, (3, 9))
    names = [f"n{j}" for j in range(9)]
    for is_sparse in (False, True):
        model.coef_ = sp.csr_array(model.coef_) if is_sparse else model.coef_
        found = weights_by_class(model, names, k=k)
        for label, row in enumerate(np.asarray(model.coef_.todense() if is_sparse else model.coef_)):
            shown = dict(found.weights[label])
            assert list(shown.values()) == sorted(shown.values(), reverse=True)
            assert all(row[names.index(name)] == weight for name, weight in shown.items())
            left = [abs(row[j]) for j in range(9) if names[j] not in shown]
            assert len(shown) == min(k, np.count_nonzero(row))
            assert max(left, default=0.0) <= min(map(abs, shown.values()), default=0.0) or len(shown) < k


def test_one_score_shows_both_sides():
    """With two classes, and in a regression, the k largest and the k least weights, from the largest down."""
    X = rng.normal(size=(80, 7))
    y = X @ [3.0, -2.0, 1.0, 0.0, -1.0, 0.5, 0.0]
    for model, label in ((Ridge(), "score"), (LogisticRegression(), True)):
        fitted = model.fit(X, y if label == "score" else y > 0)
        w = np.ravel(fitted.coef_)
        found = weights_by_class(fitted, k=2)
        order = np.argsort(-w)
        assert [name for name, _ in found.weights[label]] == [f"x{j}" for j in (*order[:2], *order[-2:])]
        assert found.versus is (None if label == "score" else False)


def test_pipelines_and_texts_name_their_columns():
    """A pipeline's last model is read, with the names that its steps give; text learners know their words."""
    pipeline = make_pipeline(PolynomialFeatures(2, include_bias=False), LogisticRegression()).fit(
        PLANE, SIGNS
    )
    assert {name for name, _ in weights_by_class(pipeline).weights[1]} <= {
        "x0",
        "x1",
        "x0^2",
        "x0 x1",
        "x1^2",
    }
    texts, labels = ["good film", "bad film", "good cast", "bad cast"] * 5, ["pos", "neg"] * 10
    best = weights_by_class(TextClassifier().fit(texts, labels), k=3).weights["pos"]
    assert "good" in best[0].name
    assert "bad" in best[-1].name


def test_naive_bayes_weights_are_differences():
    """Two classes: log odds of each word; three: logarithms less their mean, so they sum to 0."""
    counts = rng.integers(0, 9, (30, 4))
    two = MultinomialNB().fit(counts, SIGNS[15:45])
    (columns,) = weights_by_class(two, k=4).weights.values()
    W = two.coef_
    expected = W[0] if len(W) == 1 else W[1] - W[0]
    assert sorted(dict(columns).values()) == pytest.approx(sorted(expected[expected != 0]))
    three = weights_by_class(MultinomialNB().fit(counts, np.arange(30) % 3), k=4)
    total = sum(weight for columns in three.weights.values() for _, weight in columns)
    assert total == pytest.approx(0.0, abs=1e-12)


# ---- thresholds -----------------------------------------------------------------------------------


@given(st.integers(0, 1000))
def test_curves_are_scikit_learns(seed):
    """ROC points and area, precisions and recalls are those of sklearn.metrics; bands hold their curves."""
    made = np.random.default_rng(seed)
    y = np.r_[0, 1, made.integers(0, 2, 38)]
    P = np.round(made.uniform(0, 1, 40), 1)  # ties
    said = _Said(np.column_stack([1 - P, P]))
    (curve,) = roc(said, y, y).curves.values()
    false, true, _ = roc_curve(y, P)
    np.testing.assert_array_equal(curve.false_positive_rate, false)
    np.testing.assert_array_equal(curve.true_positive_rate, true)
    assert curve.area.value == pytest.approx(roc_auc_score(y, P))
    assert (curve.true_low <= true).all()
    assert (true <= curve.true_high).all()
    found = precision_recall(said, y, y)
    ((name, curve),) = found.curves.items()
    precision, recall, _ = precision_recall_curve(y, P, drop_intermediate=True)
    np.testing.assert_array_equal(curve.precision, precision[:-1])
    np.testing.assert_array_equal(curve.recall, recall[:-1])
    assert found.base_rate(name) == pytest.approx(y.mean())
    (curve,) = calibration(said, y, y, n_bins=3).curves.values()
    assert curve.counts @ curve.observed == pytest.approx(y.sum())
    assert curve.counts @ curve.predicted == pytest.approx(P.sum())


def test_each_of_many_classes_is_set_against_the_rest():
    """Curves by class are those of the class's probability; positive= chooses one, also of two the first."""
    y = np.arange(60) % 3
    P = rng.dirichlet(np.ones(3), 60)
    found = roc(_Said(P), y, y)
    assert list(found.curves) == ["0", "1", "2"]
    for k, curve in enumerate(found.curves.values()):
        assert curve.area.value == pytest.approx(roc_auc_score(y == k, P[:, k]))
    (only,) = roc(_Said(P), y, y, positive=1).curves.values()
    assert only.area.value == found.curves["1"].area.value
    two = _Said(np.column_stack([P[:, 0], 1 - P[:, 0]]))
    (first,) = roc(two, y > 0, y > 0, positive=0).curves.values()
    assert first.area.value == pytest.approx(found.curves["0"].area.value)


class _Said:
    """A classifier that says these probabilities."""

    def __init__(self, P):
        self.P, self.classes_ = P, np.arange(P.shape[1])

    def predict(self, X):
        return self.P.argmax(axis=1)

    def predict_proba(self, X):
        return self.P


# ---- words and models -----------------------------------------------------------------------------


def test_the_parts_of_a_score_are_the_score():
    """What is shown, what is summed up and the intercept add up to decision_function, for either label."""
    texts = ["good film", "bad film", "a good cast", "a bad cast", "good", "bad"] * 4
    model = TextClassifier().fit(texts, ["pos", "neg"] * 12)
    text = "a good cast in a bad film"
    score = model.decision_function([text])[0]
    for label, sign in (("pos", 1), ("neg", -1)):
        for k in (1, 3, 100):
            found = word_contributions(model, text, label, k=k)
            assert sum(share for _, share in found.parts()) == pytest.approx(sign * score)
            assert len(found.parts()) <= k + 2
    assert [word for word, _ in found.tokens] == text.split()
    numbered = TextRegressor().fit(texts, [2.0, -1.0] * 12)
    parts = word_contributions(numbered, text).parts()
    assert sum(share for _, share in parts) == pytest.approx(numbered.predict([text])[0])


def test_models_are_ordered_and_marked_as_their_comparison_says():
    """The best is first; a model is marked as worse where its corrected p says so; runs keep their model."""
    y = np.where(PLANE[:, 0] + PLANE[:, 1] > 0, 1, 0)
    noise = LogisticRegression(C=1e-9, fit_intercept=False)
    models = {"poor": noise, "good": LogisticRegression(), "ridge": LogisticRegression(C=10.0)}
    X = np.column_stack([PLANE, rng.normal(size=(60, 3))])
    found = model_scores(compare({**models, "blind": _Blind()}, X, y, cv=5))
    comparison = found.comparison
    assert found.names == comparison.ranking()
    assert found.names[-1] == "blind"
    assert found.is_worse.tolist()[0] is False
    for name, value, p, is_worse in zip(
        found.names, found.values, found.p_values, found.is_worse, strict=True
    ):
        assert value == comparison[name].value
        if name != found.names[0]:
            pair = comparison.pair(found.names[0], name)
            assert p == pair.p_value
            assert is_worse == ("is better than" in pair.verdict)
    place = list(comparison.scores).index("blind")
    np.testing.assert_array_equal(found.runs[:, -1], comparison.runs[:, place])


class _Blind(LogisticRegression):
    """Sees nothing of the columns."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(0 * np.asarray(X), y, sample_weight)

    def predict(self, X):
        return super().predict(0 * np.asarray(X))
