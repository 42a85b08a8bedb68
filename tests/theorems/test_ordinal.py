"""What mathematics says about classes in a row: thresholds, their order, their proof, their probabilities."""

import warnings

import numpy as np
import pytest
from sklearn.isotonic import isotonic_regression

import lineal
from lineal.errors import DisorderedThresholdsWarning
from lineal.learners.scenarios.ordinal import pooled
from lineal.objective import (
    L1,
    L2,
    Absolute,
    ElasticNet,
    Hinge,
    Log,
    ModifiedHuber,
    NoPenalty,
    Squared,
    SquaredHinge,
)
from lineal.objective.masked import Masked

LOSSES = [Log(), Hinge(), SquaredHinge(), ModifiedHuber(), Squared(), Absolute()]
KINDS = ["all", "immediate"]
quiet = pytest.mark.filterwarnings("ignore::lineal.errors.DisorderedThresholdsWarning")


def in_a_row(seed, n=80, d=3, K=4, noise=1.0):
    """Rows whose classes 0 .. K-1 follow a direction, with noise; every class has members."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    z = X @ rng.normal(size=d) + noise * rng.logistic(size=n)
    y = np.searchsorted(np.quantile(z, np.sort(rng.uniform(0.1, 0.9, size=K - 1))), z)
    y[:K] = np.arange(K)
    return X, y, rng


def objective(kind, loss, penalty, X, y, s, w, thresholds):
    """The definition, threshold by threshold."""
    z, K, total = X @ w, len(thresholds) + 1, penalty.value(w)
    for k in range(K - 1):
        held = np.full(len(y), True) if kind == "all" else (y == k) | (y == k + 1)
        total += s[held] @ loss.value(np.where(y > k, 1.0, -1.0)[held], (z - thresholds[k])[held])
    return total


def fitted(kind, loss, penalty, X, y, s=None, **options):
    """A model, its weights and its thresholds in units of w . x."""
    model = lineal.OrdinalClassifier(kind, loss, penalty, **options).fit(X, y, s)
    return model, model.coef_[0], model.thresholds_ - model.intercept_[0]


@quiet
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_the_objective_is_the_sum_over_thresholds(kind, loss):
    """The certified value is the definition's, no point nearby is below the bound, and gap <= tol."""
    X, y, rng = in_a_row(0)
    s = rng.uniform(0.2, 2.0, size=len(y))
    model, w, thresholds = fitted(kind, loss, L2(0.7), X, y, s, tol=1e-5)
    proof = model.certificate_
    value = objective(kind, loss, L2(0.7), X, y, s, w, thresholds)
    assert np.isclose(value, proof.primal, rtol=1e-12)
    assert proof.gap >= -1e-12 * value
    assert proof.relative_gap <= 1e-5
    for size in (1e-6, 1e-3, 0.1):
        for _ in range(20):
            other = objective(
                kind, loss, L2(0.7), X, y, s,
                w + size * rng.normal(size=len(w)), thresholds + size * rng.normal(size=len(thresholds)),
            )  # fmt: skip
            assert other >= proof.dual - 1e-12 * value


@quiet
@pytest.mark.parametrize("penalty", [L2(1.0), L1(2.0), ElasticNet(1.0, 0.5), NoPenalty()], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_the_dual_point_has_a_sum_of_zero_for_each_threshold(kind, penalty):
    """Thresholds are free, so the dual variables of each sum to 0; what a row is not held to has u = 0."""
    X, y, rng = in_a_row(1)
    s = rng.uniform(0.2, 2.0, size=len(y))
    model, *_ = fitted(kind, Log(), penalty, X, y, s, tol=1e-8)
    U = model.dual_
    assert U.shape == (len(y), 3)
    # Sums of terms that cancel are zero to rounding.
    np.testing.assert_allclose(s @ U, 0.0, atol=1e-9 * (s @ np.abs(U)).max())
    if kind == "immediate":
        near = (y[:, None] == np.arange(3)) | (y[:, None] == np.arange(3) + 1)
        assert not U[~near].any()
    assert lineal.verify(model, X, y, s).relative_gap <= 1e-8


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_all_thresholds_come_out_in_order(loss, seed):
    """Held to all thresholds, t_1 <= t_2 <= ...: above t_k+1 there are fewer classes than above t_k.

    It holds whatever the labels mean, so labels here are noise.
    """
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 5, size=40)
    y[:5] = np.arange(5)
    model = lineal.OrdinalClassifier(loss=loss, penalty=L2(0.3)).fit(X, y, rng.uniform(0.1, 3.0, size=40))
    assert model.is_ordered_
    assert np.all(np.diff(model.thresholds_) >= 0)


def test_immediate_thresholds_need_not_be_in_order():
    """Many random labels have immediate thresholds out of order; then it is said, and predictions stand."""
    n_disordered = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(40, 2)), rng.integers(0, 5, size=40)
        y[:5] = np.arange(5)
        model = lineal.OrdinalClassifier("immediate", Log(), L2(0.3))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model.fit(X, y)
        assert model.is_ordered_ == bool(np.all(np.diff(model.thresholds_) >= 0))
        assert [kind.category for kind in said] == [DisorderedThresholdsWarning] * (not model.is_ordered_)
        n_disordered += not model.is_ordered_
        odds = np.cumsum(model.decision_function(X)[:, None] - model.thresholds_, axis=1)
        np.testing.assert_array_equal(model.predict(X), np.c_[np.zeros(40), odds].argmax(axis=1))
    assert n_disordered > 0


@pytest.mark.parametrize("seed", range(20))
def test_pooled_thresholds_are_the_isotonic_ones(seed):
    """Pooling gives the nearest thresholds in order, and keeps those that are."""
    rng = np.random.default_rng(seed)
    thresholds = rng.normal(size=rng.integers(1, 9))
    np.testing.assert_allclose(pooled(thresholds), isotonic_regression(thresholds), rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(pooled(np.sort(thresholds)), np.sort(thresholds))


def test_all_thresholds_have_proportional_odds():
    """P(class > k) = sigma(z - t_k), rows sum to 1, and the predicted class is the distribution's median."""
    X, y, _ = in_a_row(2, n=200)
    model, *_ = fitted("all", Log(), L2(1.0), X, y)
    p, z = model.predict_proba(X), model.decision_function(X)
    assert np.all(p > 0)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-13)
    above = 1 - np.cumsum(p, axis=1)[:, :-1]
    np.testing.assert_allclose(above, 1 / (1 + np.exp(model.thresholds_ - z[:, None])), atol=1e-13)
    np.testing.assert_array_equal((above >= 0.5).sum(axis=1), model.predict(X))
    far = model.predict_proba(X + 1e4 * model.coef_ * [[1.0], [-1.0]][0])
    assert np.isfinite(far).all()
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), p, rtol=1e-12)


@quiet
def test_immediate_thresholds_have_odds_of_neighbours():
    """P(k + 1) / P(k) = exp(z - t_k), and the predicted class is the likeliest, in order or not."""
    for X, y in (in_a_row(3, n=200)[:2], (np.eye(6), np.array([0, 2, 1, 2, 0, 1]))):
        model, *_ = fitted("immediate", Log(), L2(1.0), X, y)
        p, z = model.predict_proba(X), model.decision_function(X)
        np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-13)
        np.testing.assert_allclose(np.log(p[:, 1:] / p[:, :-1]), z[:, None] - model.thresholds_, atol=1e-9)
        np.testing.assert_array_equal(p.argmax(axis=1), model.predict(X))


@quiet
@pytest.mark.parametrize("kind", KINDS)
def test_turning_the_order_round_turns_the_model_round(kind):
    """From the highest to the lowest, weights and thresholds change sign and nothing else."""
    X, y, _ = in_a_row(4)
    _, w, thresholds = fitted(kind, Log(), L2(1.0), X, y, tol=1e-13)
    _, other_w, other = fitted(kind, Log(), L2(1.0), X, y, order=[3, 2, 1, 0], tol=1e-13)
    # A gap of 1e-13 leaves weights free by about its root.
    np.testing.assert_allclose(other_w, -w, atol=1e-6)
    np.testing.assert_allclose(other, -thresholds[::-1], atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_a_masked_loss_is_the_loss_or_nothing(loss):
    """At y = +-1 it is the loss; at y = 0 value and slope are 0, and the conjugate allows u = 0 alone."""
    masked, rng = Masked(loss), np.random.default_rng(0)
    y, z = rng.choice([-1.0, 0.0, 1.0], size=60), 2 * rng.normal(size=60)
    u, used = masked.derivative(y, z), y != 0
    np.testing.assert_array_equal(masked.value(y, z)[used], loss.value(y, z)[used])
    np.testing.assert_array_equal(u[used], loss.derivative(y, z)[used])
    assert not masked.value(y, z)[~used].any()
    assert not u[~used].any()
    np.testing.assert_allclose(masked.value(y, z) + masked.conjugate(y, u), z * u, atol=1e-12)
    assert np.all(masked.conjugate(y[~used], u[~used] + 0.1) == np.inf)
    low, high = masked.domain(y)
    assert np.all((low <= u) & (u <= high))
    assert not low[~used].any()
    assert not high[~used].any()
