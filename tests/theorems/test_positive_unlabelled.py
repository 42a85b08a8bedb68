"""What mathematics says about learning from positive and unlabelled rows."""

import numpy as np
import pytest

import lineal
from lineal.learners.scenarios.pu_prior import best_bin
from lineal.learners.scenarios.pu_risk import NonNegativeLosses, PURows, SharedDual
from lineal.objective import L2, Hinge, Intercept, Log, ModifiedHuber, Problem, Squared, SquaredHinge, ZeroOne
from lineal.objective.dual_points import feasible
from lineal.objective.linear_maps import NumpyRows
from lineal.objective.soft import softened

LINED = [Log(), Squared(), ModifiedHuber()]
BENT = [Hinge(), SquaredHinge()]
every = pytest.mark.parametrize("loss", LINED, ids=str)


def positive_unlabelled(seed, n_positive, n_unlabelled, prior, d=3, distance=1.5):
    """X, what is known (1 or 0), and the truth: two Gaussians, the unlabelled rows a mixture."""
    rng = np.random.default_rng(seed)
    truth = np.r_[np.ones(n_positive, dtype=int), rng.random(n_unlabelled) < prior].astype(int)
    centre = np.zeros(d)
    centre[0] = distance / 2
    X = rng.normal(size=(len(truth), d)) + np.where(truth[:, None] == 1, centre, -centre)
    return X, np.r_[np.ones(n_positive, dtype=int), np.zeros(n_unlabelled, dtype=int)], truth


def as_rows(seed=0, prior=0.3, n_positive=20, n_unlabelled=40, **options):
    """The same as the learner sees it, with weights."""
    X, y, _ = positive_unlabelled(seed, n_positive, n_unlabelled, prior, **options)
    s = np.random.default_rng(seed + 100).uniform(0.2, 2.0, size=len(y))
    return PURows(NumpyRows(X), y == 1, s, prior), X, y, s


def risk(loss, X, y, s, prior, w, b, *, is_nonnegative=False):
    """The definition."""
    z, P, U = X @ w + b, y == 1, y == 0
    one = np.ones(len(y))
    as_positive, as_negative = loss.value(one, z), loss.value(-one, z)
    negative = np.average(as_negative[U], weights=s[U]) - prior * np.average(as_negative[P], weights=s[P])
    positive = prior * np.average(as_positive[P], weights=s[P])
    return positive + (max(0.0, negative) if is_nonnegative else negative)


# ---- identities -----------------------------------------------------------------------------------


@every
def test_sides_differ_by_a_line(loss):
    """l(z, -) - l(z, +) = slope z, and a soft label is the mixture of both sides, with all its formulas."""
    soft, z = softened(loss), np.linspace(-30, 30, 121)
    one = np.ones_like(z)
    np.testing.assert_allclose(loss.value(-one, z) - loss.value(one, z), soft.slope * z, atol=1e-12)
    for p in (0.0, 0.2, 0.5, 1.0):
        y = p * one
        mixture = p * loss.value(one, z) + (1 - p) * loss.value(-one, z)
        np.testing.assert_allclose(soft.value(y, z), mixture, rtol=1e-13)
        slope = p * loss.derivative(one, z) + (1 - p) * loss.derivative(-one, z)
        np.testing.assert_allclose(soft.derivative(y, z), slope, atol=1e-12)
        step = 1e-5
        bend = (soft.derivative(y, z + step) - soft.derivative(y, z - step)) / (2 * step)
        away = np.abs(np.abs(z) - 1) > 1e-3  # from the bends of ModifiedHuber
        np.testing.assert_allclose(soft.second_derivative(y, z)[away], bend[away], atol=1e-9)
        low, high = soft.domain(y)
        u = np.clip(soft.derivative(y, z), low, high)
        # Fenchel and Young: equal at the slope, and nowhere below.
        np.testing.assert_allclose(soft.value(y, z) + soft.conjugate(y, u), z * u, atol=1e-11)
        assert np.all(soft.value(y, z) + soft.conjugate(y, u[::-1]) >= z * u[::-1] - 1e-11)
    assert softened(Hinge()) is None


@every
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_problem_is_the_risk(loss, share):
    """Its value is (positive part + share * negative part) times the unlabelled weight, + penalty."""
    data, X, y, s = as_rows()
    rng = np.random.default_rng(1)
    for intercept in (Intercept.FREE, Intercept.NONE):
        problem = Problem(data.rows, data.losses(softened(loss), share), L2(0.7), intercept)
        for size in (0.1, 1.0, 10.0):
            w, b = size * rng.normal(size=3), size * float(rng.normal()) * (intercept is Intercept.FREE)
            Z = (X @ w + b)[:, None]
            parts = data.risk(loss, Z)
            assert np.isclose(parts.unbiased, risk(loss, X, y, s, 0.3, w, b), rtol=1e-12, atol=1e-12)
            whole = risk(loss, X, y, s, 0.3, w, b, is_nonnegative=True)
            assert np.isclose(parts.nonnegative, whole, rtol=1e-12, atol=1e-12)
            expected = data.weight * (parts.positive + share * parts.negative) + 0.35 * w @ w
            found = problem.primal(w[:, None], np.array([b]))
            # Parts of both signs cancel: an error relative to the largest of them.
            assert abs(found - expected) <= 1e-12 * data.weight * (1 + np.abs(Z).max() ** 2)


@every
def test_tilted_losses_are_their_own_formulas(loss):
    """Value, pull and conjugate of losses less what is linear: Fenchel's inequality, and equality."""
    data, X, _, _ = as_rows(1)
    losses = data.losses(softened(loss), 0.6)
    rng = np.random.default_rng(0)
    for _ in range(20):
        Z, other = rng.normal(size=(2, len(X), 1))
        U = losses.slopes(Z)
        size = 1 + abs(losses.value(Z))
        assert abs(losses.value(Z) + losses.conjugate(U) - np.vdot(losses.pull(U), Z)) <= 1e-12 * size
        assert losses.value(other) + losses.conjugate(U) >= np.vdot(losses.pull(U), other) - 1e-12 * size
        t = 1e-6
        numerical = (losses.value(Z + t * other) - losses.value(Z - t * other)) / (2 * t)
        assert numerical == pytest.approx(float(np.vdot(losses.pull(U), other)), rel=1e-6, abs=1e-6)


@every
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_every_feasible_dual_point_is_below_every_weight(loss, share):
    """Weak duality with the linear term: D(u) <= P(w, b), whatever u and w, and <= the non-negative risk."""
    data, X, _, _ = as_rows(2)
    soft = softened(loss)
    mixture = Problem(data.rows, data.losses(soft, share), L2(0.7), Intercept.FREE)
    whole = Problem(data.rows, NonNegativeLosses(data, loss, soft), L2(0.7), Intercept.FREE)
    rng = np.random.default_rng(3)
    for _ in range(50):
        U = rng.normal(size=(len(X), 1))
        w, b = rng.normal(size=(3, 1)) * rng.choice([0.1, 1.0, 10.0]), rng.normal(size=1)
        bound = feasible(mixture, U, w, b).dual
        assert np.isfinite(bound)
        assert bound <= mixture.primal(w, b)
        assert mixture.primal(w, b) <= whole.primal(w, b) + 1e-12 * abs(whole.primal(w, b))
        shared = feasible(whole, SharedDual(share, U), w, b).dual
        assert shared == pytest.approx(bound, rel=1e-12)
        shared = feasible(whole, SharedDual(share, U), w, b).dual
        assert shared == pytest.approx(bound, rel=1e-12)


@every
def test_both_risks_are_convex_where_sides_differ_by_a_line(loss):
    """At the middle of two models neither risk is above the mean of its ends."""
    _, X, y, s = as_rows(4)
    rng = np.random.default_rng(5)
    for is_nonnegative in (False, True):
        for _ in range(100):
            a, b = rng.normal(size=(2, 4)) * rng.choice([0.3, 3.0])
            at = [
                risk(loss, X, y, s, 0.3, t[:3], t[3], is_nonnegative=is_nonnegative)
                for t in (a, b, (a + b) / 2)
            ]
            assert at[2] <= (at[0] + at[1]) / 2 + 1e-12 * (abs(at[0]) + abs(at[1]))


@pytest.mark.parametrize("loss", BENT, ids=str)
def test_no_risk_is_convex_where_they_do_not(loss):
    """For other losses some middle lies above the mean of its ends, under either risk.

    One row is positive, with the score a; one is unlabelled, with a score that keeps the negative part > 0.
    """
    X, y, s = np.eye(2), np.array([1, 0]), np.ones(2)
    for is_nonnegative in (False, True):
        at = {
            a: risk(loss, X, y, s, 0.5, np.array([a, 10.0]), 0.0, is_nonnegative=is_nonnegative)
            for a in (-2.0, -1.0, 0.0, 2.0, 3.0, 4.0)
        }
        excess = max(at[middle] - (at[middle - 1] + at[middle + 1]) / 2 for middle in (-1.0, 3.0))
        assert excess > 0.1


# ---- fits -----------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("kind", ["unbiased", "nonnegative"])
@pytest.mark.parametrize("strength", [1.0, 1e-3])
def test_the_certificate_is_of_the_risk(loss, kind, strength):
    """The certified value is the definition's; nothing near is below the bound; verify proves it anew."""
    _, X, y, s = as_rows(6, prior=0.4, n_positive=12, n_unlabelled=30, d=8)
    model = lineal.PUClassifier(0.4, kind, loss, L2(strength), tol=1e-7).fit(X, y, s)
    proof, weight = model.certificate_, s[y == 0].sum()

    def value(w, b):
        part = risk(loss, X, y, s, 0.4, w, b, is_nonnegative=kind == "nonnegative")
        return weight * part + strength / 2 * w @ w

    w, b = model.coef_[0], model.intercept_[0]
    assert np.isclose(value(w, b), proof.primal, rtol=1e-9)
    assert proof.relative_gap <= 1e-7
    rng = np.random.default_rng(7)
    for size in (1e-5, 1e-2, 1.0):
        for _ in range(30):
            assert value(w + size * rng.normal(size=8), b + size * rng.normal()) >= proof.dual
    again = lineal.verify(model, X, y, s)
    assert again.converged
    assert np.isclose(again.primal, proof.primal, rtol=1e-9)


def test_a_weak_penalty_makes_the_two_risks_differ():
    """Where the unbiased risk dives below 0 the other stays above, is proved by a share, and is certified."""
    _, X, y, s = as_rows(8, prior=0.4, n_positive=12, n_unlabelled=30, d=8)
    low = lineal.PUClassifier(0.4, "unbiased", penalty=L2(1e-3), tol=1e-6).fit(X, y, s)
    high = lineal.PUClassifier(0.4, "nonnegative", penalty=L2(1e-3), tol=1e-6).fit(X, y, s)
    assert low.risk_.unbiased < 0
    assert low.share_ == 1.0
    assert 0 < high.share_ < 1
    assert high.certificate_.converged
    assert high.risk_.nonnegative >= 0
    # Both are lower bounds of the same things in the same order.
    assert high.certificate_.primal >= low.certificate_.dual


@pytest.mark.parametrize("kind", ["unbiased", "nonnegative"])
def test_probabilities_average_to_the_prior(kind):
    """At the optimum with an intercept, the mean probability of the unlabelled rows is the prior."""
    _, X, y, s = as_rows(9, prior=0.35, n_positive=60, n_unlabelled=150)
    model = lineal.PUClassifier(0.35, kind, tol=1e-13).fit(X, y, s)
    assert model.share_ == 1.0
    p = model.predict_proba(X)[y == 0, 1]
    # A gap of 1e-13 leaves scores free by about its root.
    assert np.isclose(np.average(p, weights=s[y == 0]), 0.35, atol=1e-6)


@pytest.mark.parametrize("loss", BENT, ids=str)
def test_the_objective_never_rises_where_it_is_not_convex(loss):
    """Stage after stage the true objective falls, ends at the definition's value, and proves nothing."""
    _, X, y, s = as_rows(10, prior=0.4)
    model = lineal.PUClassifier(0.4, loss=loss).fit(X, y, s)
    assert model.certificate_ is None
    values = np.array(model.objective_)
    assert len(values) >= 2
    assert np.all(np.diff(values) <= 0)
    w, b = model.coef_[0], model.intercept_[0]
    end = s[y == 0].sum() * risk(loss, X, y, s, 0.4, w, b, is_nonnegative=True) + 0.5 * w @ w
    assert np.isclose(values[-1], end, rtol=1e-12)


def test_a_weight_is_a_repetition():
    """Weight 2 is the row twice, and weight 0 is no row."""
    _, X, y, _ = as_rows(11)
    k = np.random.default_rng(0).integers(0, 3, size=len(y))
    one = lineal.PUClassifier(0.3, tol=1e-13).fit(X, y, k)
    other = lineal.PUClassifier(0.3, tol=1e-13).fit(np.repeat(X, k, axis=0), np.repeat(y, k))
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-6)


# ---- what it is for -------------------------------------------------------------------------------


def test_the_risk_is_estimated_without_negatives():
    """On many rows the estimates of error rate and log loss are the true ones, without true labels."""
    X, y, truth = positive_unlabelled(0, 20_000, 40_000, 0.3)
    model = lineal.PUClassifier(0.3).fit(X[::20], y[::20])
    U = y == 0
    wrong = np.mean(model.predict(X[U]) != truth[U])
    estimate = model.estimated_risk(X, y, loss=ZeroOne())
    # Shares of 20,000 rows have standard errors below 0.0036; four of them.
    assert abs(estimate.unbiased - wrong) <= 0.015
    assert abs(estimate.positive - 0.3 * np.mean(model.predict(X[truth == 1]) == 0)) <= 0.015
    log_loss = Log().value(2.0 * truth[U] - 1, model.decision_function(X[U])).mean()
    assert abs(model.estimated_risk(X, y).unbiased - log_loss) <= 0.02


@pytest.mark.parametrize("loss", [*LINED, *BENT], ids=str)
def test_no_negative_label_is_needed(loss):
    """With the true prior, held-out accuracy is within three points of a fit to the true labels."""
    X, y, truth = positive_unlabelled(1, 1000, 3000, 0.4, distance=2.5)
    new, _, of_new = positive_unlabelled(2, 0, 5000, 0.4, distance=2.5)
    full = lineal.LinearClassifier().fit(X[y == 0], truth[y == 0]).score(new, of_new)
    model = lineal.PUClassifier(0.4, loss=loss).fit(X, y)
    assert model.score(new, of_new) >= full - 0.03
    naive = lineal.LinearClassifier().fit(X, y)
    assert model.score(new, of_new) > naive.score(new, of_new)


def test_the_best_bin_bounds_the_prior():
    """No bin has a ratio below the prior but by chance; where positives alone reach, it is the prior."""
    rng = np.random.default_rng(0)
    n = 20_000
    is_positive = rng.random(n) < 0.3
    pure = np.where(
        is_positive, rng.uniform(0.5, 1.5, n), rng.uniform(0.0, 1.0, n)
    )  # above 1 positives alone
    found = best_bin(rng.uniform(0.5, 1.5, n), pure, np.ones(n), np.ones(n))
    assert abs(found.prior - 0.3) <= 0.02
    assert found.upper >= 0.3
    assert found.prior <= found.upper
    mixed = np.where(
        is_positive, rng.uniform(0.0, 1.0, n), rng.uniform(0.0, 1.0, n)
    )  # nothing tells them apart
    assert best_bin(rng.uniform(0.0, 1.0, n), mixed, np.ones(n), np.ones(n)).prior > 0.9


def test_the_prior_is_estimated_from_the_data():
    """With well separated classes the estimate is near the truth, whatever the weights' unit."""
    X, y, _ = positive_unlabelled(3, 1000, 3000, 0.35, distance=4.0)
    model = lineal.PUClassifier().fit(X, y)
    assert abs(model.prior_ - 0.35) <= 0.05
    assert model.prior_estimate_.prior == model.prior_
    assert "of the unlabelled rows are positive" in str(model.prior_estimate_)
    again = lineal.PUClassifier().fit(X, y, np.full(len(y), 0.01))
    assert abs(again.prior_ - 0.35) <= 0.05
