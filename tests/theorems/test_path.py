"""What a regularisation path must be: where it begins, how it moves, and that each point is a fit."""

import numpy as np
import pytest
import scipy.sparse as sp

import lineal
from lineal import LinearClassifier, LinearRegressor, path, verify
from lineal.objective import (
    L1,
    L2,
    Absolute,
    ElasticNet,
    Hinge,
    Huber,
    Intercept,
    Log,
    Lp,
    Quantile,
    Squared,
    SquaredHinge,
)
from lineal.objective.strengths import largest_strength
from reference.strengths import constant_pull
from strategies import sample, small

SPARSE = [L1(3.0), ElasticNet(0.2, 0.6)]
ROUND = [L2(3.0), Lp(0.5, 1.5), Lp(0.5, 3.0)]
SMOOTH = [Log(), SquaredHinge(), Squared(), Huber(0.5)]
KINKED = [Hinge(), Quantile(0.3), Absolute()]


def learner_for(loss, penalty, **options):
    kind = LinearClassifier if loss.is_margin else LinearRegressor
    return kind(loss, penalty, **options)


def data_for(loss, seed=0, classes=False):
    X, y = sample("regression" if not loss.is_margin else "classes" if classes else "binary", seed)
    return X, y, np.random.default_rng(seed + 1).choice([0.5, 1.0, 2.0], size=len(y))


# ---- where it begins ----------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"penalize_intercept": True}], ids=str)
@pytest.mark.parametrize("penalty", SPARSE, ids=repr)
@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
def test_all_weights_are_zero_at_the_first_strength_and_not_below(loss, penalty, options):
    """At the largest strength every penalised weight is 0; a little below it some weight is not."""
    X, y, s = data_for(loss)
    learner = learner_for(loss, penalty, tol=1e-10, **options)
    points = path(learner, X, y, n_strengths=2, ratio=0.98, sample_weight=s)
    is_penalised = "penalize_intercept" in options
    assert points.n_nonzero[0] == 0
    assert not is_penalised or points.intercepts[0] == 0
    assert points.n_nonzero[1] > 0 or (is_penalised and points.intercepts[1] != 0)
    assert all(certificate.converged for certificate in points.certificates)


@pytest.mark.parametrize("penalty", SPARSE, ids=repr)
@pytest.mark.parametrize("loss", KINKED, ids=repr)
def test_the_constant_model_is_optimal_at_the_first_strength_of_losses_with_kinks(loss, penalty):
    """There no bound is above the best constant's objective by more than the tolerance; below, one is."""
    X, y, s = data_for(loss)
    points = path(learner_for(loss, penalty, tol=1e-3), X, y, n_strengths=3, ratio=0.1, sample_weight=s)
    target = np.where(y == 1, 1.0, -1.0) if loss.is_margin else y
    # A piecewise-linear sum has its minimum at a kink.
    constant = min(float(s @ loss.value(target, np.full(len(y), b))) for b in (*target, -1.0, 1.0))
    first, last = points.certificates[0], points.certificates[-1]
    assert constant - first.dual <= 2e-3 * constant
    assert last.primal < 0.98 * constant
    assert points.n_nonzero[-1] > 0


@pytest.mark.parametrize("penalty", [*SPARSE, *ROUND], ids=repr)
@pytest.mark.parametrize("intercept", [Intercept.FREE, Intercept.NONE], ids=str)
@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
def test_the_largest_strength_is_the_one_of_its_formula(loss, intercept, penalty):
    """R*(-V) at the best constant is 0 from there on (L1 part), or 1 % of the objective (L2, Lp)."""
    problem = small(loss, penalty, intercept)
    X, y = problem.X.dense, problem.losses.y[:, 0]
    value, pull = constant_pull(loss, X, y, problem.losses.s, intercept is Intercept.FREE)
    top = largest_strength(problem)
    at, below = penalty.at_strength(top), penalty.at_strength(0.999 * top)
    if penalty in SPARSE:
        assert at.conjugate(-pull * (1 - 1e-6)) == 0
        assert below.conjugate(-pull) > 0
    else:
        assert at.conjugate(-pull) == pytest.approx(0.01 * value, rel=1e-5)


def test_the_first_strength_ignores_the_learners_own():
    """Two learners that differ in strength alone have one path."""
    X, y, _ = data_for(Log())
    for weak, strong in [
        (L1(0.01), L1(70.0)),
        (ElasticNet(0.1, 0.3), ElasticNet(10.0, 30.0)),
        (L2(1), L2(9)),
    ]:
        ours, theirs = (path(LinearClassifier(Log(), p), X, y, n_strengths=3) for p in (weak, strong))
        np.testing.assert_allclose(ours.strengths, theirs.strengths, rtol=1e-12)
        np.testing.assert_allclose(ours.coef_array(), theirs.coef_array(), atol=1e-9)


def test_default_strengths_are_even_on_a_logarithmic_scale():
    """n strengths, decreasing, with one ratio between neighbours and ``ratio`` between the ends."""
    X, y, _ = data_for(Squared())
    strengths = path(lineal.Lasso(), X, y, n_strengths=7, ratio=1e-2).strengths
    assert len(strengths) == 7
    assert strengths[-1] / strengths[0] == pytest.approx(1e-2)
    np.testing.assert_allclose(strengths[1:] / strengths[:-1], 10 ** (-2 / 6))


# ---- each point is a fit ------------------------------------------------------------------------

FITS = [
    (Log(), L1(1.0), False),
    (Log(), L1(1.0), True),
    (Log(), L2(1.0), False),
    (Log(), L2(1.0), True),
    (Log(), ElasticNet(0.3, 0.7), False),
    (Log(), Lp(1.0, 1.5), False),
    (SquaredHinge(), L1(1.0), True),
    (Hinge(), L2(1.0), False),
    (Hinge(), L2(1.0), True),
    (Squared(), L1(1.0), False),
    (Squared(), L2(1.0), False),
    (Quantile(0.3), L1(1.0), False),
    (Huber(0.5), ElasticNet(0.3, 0.7), False),
]


@pytest.mark.parametrize(("loss", "penalty", "classes"), FITS, ids=str)
def test_every_point_is_the_fit_at_its_strength(loss, penalty, classes):
    """The warm point and a cold fit bound each other's objective; the point's weights have its primal."""
    X, y, s = data_for(loss, classes=classes)
    tol = 1e-6 if loss.is_smooth else 1e-3
    points = path(learner_for(loss, penalty, tol=tol), X, y, n_strengths=5, ratio=0.01, sample_weight=s)
    for i, (strength, warm) in enumerate(zip(points.strengths, points.certificates, strict=True)):
        cold = learner_for(loss, penalty.at_strength(strength), tol=tol).fit(X, y, s)
        proof = cold.certificate_
        assert warm.converged
        assert max(warm.dual, proof.dual) <= min(warm.primal, proof.primal) * (1 + 1e-9)
        again = verify(points.model(i), X, y, s)
        # float32 weights of several outputs are the weights of the certificate, summed in another order.
        assert again.primal == pytest.approx(warm.primal, rel=1e-9)
        assert points.model(i).coef_.shape == cold.coef_.shape
        assert np.shape(points.model(i).intercept_) == np.shape(cold.intercept_)


@pytest.mark.parametrize(("loss", "penalty", "classes"), [f for f in FITS if f[0].is_smooth], ids=str)
def test_a_weaker_penalty_lets_the_weights_grow(loss, penalty, classes):
    """As the strength falls the size that is penalised never falls, and the sum of losses never grows."""
    X, y, s = data_for(loss, classes=classes)
    points = path(learner_for(loss, penalty, tol=1e-9), X, y, n_strengths=8, sample_weight=s)
    unit = penalty.at_strength(1.0)
    sizes = np.array([unit(coef) for coef in points.coef_array()])
    losses = np.array([c.primal for c in points.certificates]) - points.strengths * sizes
    # Weights within a gap g of the optimum are sqrt(g) from the best ones.
    assert np.all(np.diff(sizes) >= -1e-4 * sizes.max())
    assert np.all(np.diff(losses) <= 1e-4 * losses.max())
    assert sizes[-1] > 2 * sizes[1]


@pytest.mark.parametrize("learner", [LinearClassifier(Log(), L1()), LinearClassifier(Log(), L2())], ids=str)
def test_a_weight_of_two_is_the_row_twice(learner):
    """A path with weights is the path on repeated rows; rows of weight 0 are not there."""
    X, y, _ = data_for(Log())
    counts = np.random.default_rng(5).integers(0, 3, size=len(y))
    twice = np.repeat(np.arange(len(y)), counts)
    learner.set_params(tol=1e-10)
    ours = path(learner, X, y, n_strengths=4, sample_weight=counts)
    theirs = path(learner, X[twice], y[twice], n_strengths=4)
    np.testing.assert_allclose(ours.strengths, theirs.strengths, rtol=1e-9)
    np.testing.assert_allclose(ours.coef_array(), theirs.coef_array(), atol=1e-4)
    np.testing.assert_allclose(ours.train_scores, theirs.train_scores, atol=1e-12)


def test_class_weights_are_part_of_the_path():
    """Balanced classes begin at the strength of the weighted rows, and every point is their fit."""
    X, y, _ = data_for(Log(), classes=True)
    learner = LinearClassifier(Log(), L1(), class_weight="balanced", tol=1e-7)
    points = path(learner, X, y, n_strengths=3)
    assert points.n_nonzero[0] == 0
    for i in range(3):
        assert verify(points.model(i), X, y, tol=1e-5).converged


# ---- presets ------------------------------------------------------------------------------------

PRESETS = [
    lineal.LogisticRegression(),
    lineal.LogisticRegression("l1"),
    lineal.LogisticRegression("elasticnet", l1_ratio=0.3),
    lineal.LinearSVC(),
    lineal.LinearSVC("l1"),
    lineal.LinearSVR(epsilon=0.1),
    lineal.Ridge(),
    lineal.RidgeClassifier(),
    lineal.Lasso(),
    lineal.ElasticNet(l1_ratio=0.8),
    lineal.HuberRegressor(),
    lineal.QuantileRegressor(quantile=0.4),
    lineal.SGDClassifier(),
    lineal.SGDClassifier(penalty="elasticnet", loss="log_loss"),
    lineal.SGDRegressor(),
]


@pytest.mark.parametrize("preset", PRESETS, ids=str)
def test_a_presets_own_parameter_says_the_strength(preset):
    """``model(i)`` has the C or alpha whose own fit has the same objective, and predicts like it."""
    is_classifier = hasattr(preset, "predict_proba") or hasattr(preset, "class_weight")
    X, y, s = data_for(Log() if is_classifier else Squared())
    preset.set_params(tol=1e-4)
    points = path(preset, X, y, n_strengths=3, ratio=0.02, sample_weight=s)
    for i, strength in enumerate(points.strengths):
        model = points.model(i)
        assert type(model) is type(preset)
        _, penalty = model._objective(float(s.sum()), 2)
        assert penalty.strength == pytest.approx(strength, rel=1e-12)
        fit = type(preset)(**model.get_params()).fit(X, y, s)
        assert fit.certificate_.primal == pytest.approx(points.certificates[i].primal, rel=1.1e-4)
        assert model.score(X, y, s) == pytest.approx(points.train_scores[i], abs=1e-12)


def test_several_regressions_at_once():
    """Two targets share a path; (K, d) weights, K intercepts, predictions of two columns."""
    X, y, _ = data_for(Squared())
    Y = np.column_stack([y, -2 * y + X[:, 0]])
    points = path(lineal.Lasso(tol=1e-8), X, Y, n_strengths=3, X_test=X, y_test=Y)
    assert points.coef_array().shape == (3, 2, X.shape[1])
    assert points.intercepts.shape == (3, 2)
    assert points.model(2).predict(X).shape == Y.shape
    assert points.test_scores[2] == pytest.approx(points.model(2).score(X, Y))


# ---- warm starts --------------------------------------------------------------------------------


def test_a_path_costs_fewer_epochs_than_its_points_alone():
    """A warm start is worth rounds of the solver: the path needs clearly fewer than cold fits do."""
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 2000), density=0.03, rng=rng, format="csr")
    y = X[:, :20] @ rng.normal(size=20) + 0.1 * rng.normal(size=300) > 0
    points = path(LinearClassifier(Log(), L1()), X, y, n_strengths=12, ratio=0.02)
    cold = [LinearClassifier(Log(), L1(strength)).fit(X, y).n_iter_ for strength in points.strengths]
    assert sum(c.epochs for c in points.certificates) < 0.8 * sum(cold)
