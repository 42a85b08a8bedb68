"""Laws that relate the solutions of two problems, and moments at the optimum."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from lineal.objective.joint import Softmax, one_hot
from lineal.objective.losses import Hinge, Log, Squared
from lineal.objective.penalties import L1, L2, ElasticNet, Lp, NoPenalty
from lineal.objective.problem import Intercept
from lineal.solvers.driver import Budget, minimise
from lineal.solvers.planner import plan
from strategies import kinds_of, named, objectives, sample, seeds, stated

SMOOTH = [loss for loss in objectives() if loss.is_smooth]
smooth_loss = pytest.mark.parametrize("loss", SMOOTH, ids=named)
TIGHT = 1e-10
intercepts = st.sampled_from([Intercept.NONE, Intercept.FREE])


def solved(problem, tol=TIGHT):
    solution = minimise(problem, plan(problem).solvers, tol=tol, budget=Budget(max_seconds=10))
    assert solution.certificate.converged, solution.certificate
    return solution


def near(problem, strength=1.0, tol=TIGHT):
    """Two solutions of gap g differ by at most 2 sqrt(2 g / strength) in w, by strong convexity."""
    return 2 * np.sqrt(2 * tol * problem.losses.at_zero / strength)


@smooth_loss
@settings(max_examples=5)
@given(seed=seeds(), intercept=intercepts)
def test_weight_2_is_the_row_twice(loss, seed, intercept):
    """Doubling s_i and repeating row i are the same problem."""
    X, y = sample(kinds_of(loss)[-1], seed, n=50, d=4)
    chosen = np.random.default_rng(seed).integers(0, 2, len(y))
    twice = np.repeat(np.arange(len(y)), 1 + chosen)
    heavy = stated(X, y, loss, L2(0.7), intercept, s=1.0 + chosen)
    repeated = stated(X[twice], y[twice], loss, L2(0.7), intercept)
    a, b = solved(heavy), solved(repeated)
    assert a.certificate.primal == pytest.approx(b.certificate.primal, rel=2 * TIGHT)
    np.testing.assert_allclose(a.W, b.W, atol=near(heavy, 0.7))


@smooth_loss
@settings(max_examples=5)
@given(seed=seeds(), intercept=intercepts)
def test_weight_0_is_the_row_absent(loss, seed, intercept):
    """A row of weight 0 may as well not be there, whatever it says."""
    X, y = sample(kinds_of(loss)[-1], seed, n=50, d=4)
    kept = np.random.default_rng(seed).random(len(y)) < 0.7
    kept[:10] = True  # every class stays
    X[~kept] *= 100.0
    some = stated(X, y, loss, L2(0.7), intercept, s=kept.astype(float))
    fewer = stated(X[kept], y[kept], loss, L2(0.7), intercept)
    a, b = solved(some), solved(fewer)
    assert a.certificate.primal == pytest.approx(b.certificate.primal, rel=2 * TIGHT)
    np.testing.assert_allclose(a.W, b.W, atol=near(fewer, 0.7))


@pytest.mark.parametrize("penalty", [L2(0.7), L1(0.8), ElasticNet(0.5, 0.5), Lp(0.7, 3.0)], ids=named)
def test_weight_0_is_the_row_absent_for_every_penalty(penalty):
    """The same under penalties that other solvers serve, with a loss that has kinks and one that has none."""
    X, y = sample("binary", 4, n=50, d=4)
    kept = np.arange(50) % 3 > 0
    for loss, tol in ((Log(), 1e-8), (Hinge(), 1e-4)):
        some = stated(np.where(kept[:, None], X, 1e3), y, loss, penalty, s=kept.astype(float))
        fewer = stated(X[kept], y[kept], loss, penalty)
        a, b = solved(some, tol).certificate, solved(fewer, tol).certificate
        rounding = 1e-14 * b.primal  # of sums of 50 rows: both may be certified with a gap of 0
        assert abs(a.primal - b.primal) <= max(a.gap, b.gap) + rounding


@smooth_loss
@settings(max_examples=5)
@given(seed=seeds(), c=st.sampled_from([0.1, 0.5, 3.0]), intercept=intercepts)
def test_scaling_the_columns_under_l2(loss, seed, c, intercept):
    """X -> cX and strength -> c^2 strength gives W / c, the same intercept and the same objective."""
    X, y = sample(kinds_of(loss)[-1], seed, n=50, d=4)
    plain, scaled = stated(X, y, loss, L2(0.7), intercept), stated(c * X, y, loss, L2(c * c * 0.7), intercept)
    a, b = solved(plain), solved(scaled)
    assert a.certificate.primal == pytest.approx(b.certificate.primal, rel=2 * TIGHT)
    np.testing.assert_allclose(a.W, c * b.W, atol=near(plain, 0.7))


@smooth_loss
@settings(max_examples=5)
@given(seed=seeds(), c=st.sampled_from([0.1, 0.5, 3.0]), intercept=intercepts)
def test_scaling_the_columns_under_l1(loss, seed, c, intercept):
    """X -> cX and strength -> c strength gives W / c: each solves the other's problem."""
    X, y = sample(kinds_of(loss)[-1], seed, n=50, d=4)
    plain, scaled = stated(X, y, loss, L1(1.5), intercept), stated(c * X, y, loss, L1(c * 1.5), intercept)
    a, b = solved(plain, 1e-8), solved(scaled, 1e-8)
    assert a.certificate.primal == pytest.approx(b.certificate.primal, rel=2e-8)
    # L1 solutions need not be unique, so weights are compared by the objective they reach.
    assert plain.primal(c * b.W, b.b) == pytest.approx(a.certificate.primal, rel=2e-8)


@smooth_loss
@pytest.mark.parametrize("penalty", [L2(0.7), L1(0.8), ElasticNet(0.5, 0.5)], ids=named)
def test_permuting_columns_permutes_the_weights(loss, penalty):
    """The order of the columns is a matter of names."""
    X, y = sample(kinds_of(loss)[-1], 9, n=50, d=4)
    order = np.array([2, 0, 3, 1])
    plain, moved = stated(X, y, loss, penalty), stated(np.ascontiguousarray(X[:, order]), y, loss, penalty)
    a, b = solved(plain, 1e-9), solved(moved, 1e-9)
    assert a.certificate.primal == pytest.approx(b.certificate.primal, rel=2e-9)
    assert plain.primal(b.W[np.argsort(order)], b.b) == pytest.approx(a.certificate.primal, rel=2e-9)
    if not isinstance(penalty, L1):
        np.testing.assert_allclose(a.W[order], b.W, atol=near(plain, 0.5, 1e-9))


def test_two_joint_rows_of_twice_the_strength_are_one_row():
    """K = 2: softmax under L2(2 lam) is Log under L2(lam), w = w_+ - w_-; under L1 strengths are equal."""
    X, y = sample("binary", 2, n=50, d=4)
    for two, one in ((L2(1.4), L2(0.7)), (L1(0.7), L1(0.7)), (ElasticNet(0.5, 0.8), ElasticNet(0.5, 0.4))):
        joint, single = stated(X, y, Softmax(), two), stated(X, y, Log(), one)
        a, b = solved(joint, 1e-9), solved(single, 1e-9)
        assert a.certificate.primal == pytest.approx(b.certificate.primal, rel=2e-9)
        np.testing.assert_allclose(a.W[:, 1] - a.W[:, 0], b.W[:, 0], atol=1e-3)


def test_a_constant_column_is_a_penalised_intercept():
    """Intercept.PENALIZED and a column of ones are the same problem."""
    X, y = sample("classes", 2, n=50, d=4)
    ones = np.hstack([X, np.ones((50, 1))])
    for loss in (Log(), Softmax()):
        for penalty in (L2(0.7), L1(0.8)):
            a = solved(stated(X, y, loss, penalty, Intercept.PENALIZED), 1e-9)
            b = solved(stated(ones, y, loss, penalty, Intercept.NONE), 1e-9)
            assert a.certificate.primal == pytest.approx(b.certificate.primal, rel=2e-9)


# ---- moments ------------------------------------------------------------------------------------


def counts(problem, X, solution):
    """Empirical and expected feature counts, (d, K)."""
    p = softmax(problem.scores(solution.W, solution.b), axis=1)
    gold = one_hot(problem.losses.y, problem.n_outputs)
    return X.T @ (problem.losses.s[:, None] * gold), X.T @ (problem.losses.s[:, None] * p), p, gold


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("penalty", [NoPenalty(), L2(0.6), L1(1.2)], ids=named)
def test_moments_of_maximum_entropy(penalty, seed):
    """Softmax: empirical - expected counts are 0 without penalty, lam W under L2, within lam under L1.

    A free intercept makes the expected number of each class the empirical one.
    """
    X, y = sample("classes", seed, n=80, d=3)
    s = np.random.default_rng(seed).choice([0.5, 1.0, 2.0], 80)
    problem = stated(X, y, Softmax(), penalty, Intercept.FREE, s)
    solution = solved(problem, 1e-12)
    empirical, expected, p, gold = counts(problem, X, solution)
    off = empirical - expected
    # A gap g bounds the gradient by sqrt(2 L g), L <= sum s |x|^2 / 2, about 300 here: 1e-4 at 1e-12 of P.
    noise = np.sqrt(2 * (s @ (X * X).sum(axis=1)) * 1e-12 * solution.certificate.primal)
    if isinstance(penalty, L1):
        assert np.abs(off).max() <= penalty.strength + noise
        on = solution.W != 0
        np.testing.assert_allclose(off[on], penalty.strength * np.sign(solution.W[on]), atol=noise)
    else:
        np.testing.assert_allclose(off, penalty.derivative(solution.W), atol=noise)
    np.testing.assert_allclose(s @ p, s @ gold, atol=noise)


def test_rows_of_softmax_weights_sum_to_0_under_l2():
    """The gauge: under L2 the K weights of a column sum to 0 at the optimum."""
    X, y = sample("classes", 3)
    solution = solved(stated(X, y, Softmax(), L2(0.6)), 1e-12)
    np.testing.assert_allclose(solution.W.sum(axis=1), 0.0, atol=1e-5)


def test_least_squares_residuals_are_orthogonal_to_the_columns():
    """Squared without penalty: X'(Xw + b - y) = 0 and residuals sum to 0, collinear columns or not."""
    X, y = sample("regression", 5)
    for data in (X, np.hstack([X, X[:, :2]])):
        problem = stated(data, y, Squared(), NoPenalty())
        solution = solved(problem)
        residual = data @ solution.W + solution.b - y[:, None]
        np.testing.assert_allclose(data.T @ residual, 0.0, atol=1e-10)
        assert residual.sum() == pytest.approx(0.0, abs=1e-11)
    # Least norm: equal columns share their weight equally.
    np.testing.assert_allclose(solution.W[:2], solution.W[-2:], atol=1e-12)
