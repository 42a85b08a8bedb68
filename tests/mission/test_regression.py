"""The decks on regression: least squares, ridge, and the prior that ridge is."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

from lineal import LinearRegression, LinearRegressor
from lineal.objective.losses import Absolute, EpsilonInsensitive, Huber, Log, Squared
from lineal.objective.penalties import L2, NoPenalty
from lineal.objective.problem import Intercept
from lineal.solvers.closed_form import ClosedForm
from lineal.solvers.driver import minimise
from lineal.solvers.planner import plan
from strategies import sample, stated


def fitted(X, y, loss, penalty, intercept, tol=1e-12):
    problem = stated(X, y, loss, penalty, intercept)
    return minimise(problem, plan(problem).solvers, tol=tol)


@pytest.mark.parametrize(("sigma", "tau"), [(1.0, 1.0), (0.5, 2.0), (2.0, 0.3)])
def test_ridge_is_the_mode_of_a_gaussian_posterior(sigma, tau):
    """w ~ N(0, tau^2 I), y ~ N(Xw, sigma^2 I): argmax P(w | y) is ridge with lam = sigma^2 / tau^2."""
    X, y = sample("regression", 1, n=40, d=3)

    def negative_log_posterior(w):
        return -norm.logpdf(y, X @ w, sigma).sum() - norm.logpdf(w, 0.0, tau).sum()

    mode = minimize(negative_log_posterior, np.zeros(3), method="BFGS", options={"gtol": 1e-9})
    closed = np.linalg.solve(X.T @ X + sigma**2 / tau**2 * np.eye(3), X.T @ y)
    ours = fitted(X, y, Squared(), L2(sigma**2 / tau**2), Intercept.NONE).W[:, 0]
    np.testing.assert_allclose(ours, closed, rtol=1e-10)
    np.testing.assert_allclose(ours, mode.x, atol=1e-5)  # finite-difference gradients on their side


@pytest.mark.parametrize("alpha", [0.5, 4.0])
def test_regularised_logistic_regression_is_map(alpha):
    """w ~ N(0, I / alpha): the mode of the posterior is Log under L2(alpha), the intercept penalised too."""
    X, y = sample("binary", 1, n=40, d=3)
    ones = np.hstack([np.ones((40, 1)), X])

    def negative_log_posterior(w):
        h = 1 / (1 + np.exp(-ones @ w))
        return -(y * np.log(h) + (1 - y) * np.log(1 - h)).sum() - norm.logpdf(w, 0.0, alpha**-0.5).sum()

    mode = minimize(negative_log_posterior, np.zeros(4), method="BFGS", options={"gtol": 1e-9}).x
    solution = fitted(X, y, Log(), L2(alpha), Intercept.PENALIZED)
    np.testing.assert_allclose([solution.b[0], *solution.W[:, 0]], mode, atol=1e-5)


def test_the_line_through_points_solves_two_equations():
    """w0 N + w1 sum x = sum t and w0 sum x + w1 sum x^2 = sum t x: univariate least squares."""
    x, t = np.array([1.0, 2.0, 3.0, 4.0, 6.0]), np.array([1.5, 1.0, 3.5, 4.0, 5.5])
    system = np.array([[len(x), x.sum()], [x.sum(), (x * x).sum()]])
    w0, w1 = np.linalg.solve(system, [t.sum(), t @ x])
    solution = fitted(x[:, None], t, Squared(), NoPenalty(), Intercept.FREE)
    assert (solution.b[0], solution.W[0, 0]) == pytest.approx((w0, w1), rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_line_in_closed_form(seed):
    """w1 = sum (x - x_mean)(t - t_mean) / sum (x - x_mean)^2, w0 = t_mean - w1 x_mean; J is flat there."""
    rng = np.random.default_rng(seed)
    x, t = rng.uniform(500, 4000, 50), rng.normal(size=50)
    t += 1e-3 * x
    w1 = np.sum((x - x.mean()) * (t - t.mean())) / np.sum((x - x.mean()) ** 2)
    model = LinearRegression().fit(x[:, None], t)
    assert (model.coef_[0], model.intercept_) == pytest.approx((w1, t.mean() - w1 * x.mean()), rel=1e-10)
    h = model.predict(x[:, None])
    assert np.sum(h - t) == pytest.approx(0.0, abs=1e-10)
    assert np.sum((h - t) * x) == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("seed", range(10))
def test_robust_losses_stay_with_the_line(seed):
    """One point in seven is far below the line: three losses stay near it, squares do not."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 10, 70)
    t = 2 * x + 1 + rng.normal(size=70)
    t[np.argsort(x)[-20::2]] -= 30.0

    def away(loss):
        model = LinearRegressor(loss, NoPenalty()).fit(x[:, None], t)
        return np.sqrt(np.mean((model.predict(x[:, None]) - 2 * x - 1) ** 2))

    for robust in (Absolute(), Huber(1.0), EpsilonInsensitive(0.5)):
        assert away(robust) < away(Squared()) / 4


def test_polynomials_are_linear_regression():
    """A cubic is recovered exactly from its powers, because the model is linear in w."""
    x = np.linspace(-1, 1, 9)
    powers = np.column_stack([x, x**2, x**3])
    solution = fitted(powers, 0.5 - 2 * x + 3 * x**3, Squared(), NoPenalty(), Intercept.FREE)
    np.testing.assert_allclose([solution.b[0], *solution.W[:, 0]], [0.5, -2.0, 0.0, 3.0], atol=1e-12)


@pytest.mark.parametrize("shape", [(40, 5), (5, 40)])
def test_ridge_inverts_what_least_squares_cannot(shape):
    """Collinear columns: X'X is singular, (X'X + lam I)^-1 X'y is not; both shapes of the formula agree."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape)
    X[:, -1] = X[:, 0]
    y = rng.normal(size=shape[0])
    primal = np.linalg.solve(X.T @ X + 0.8 * np.eye(shape[1]), X.T @ y)
    dual = X.T @ np.linalg.solve(X @ X.T + 0.8 * np.eye(shape[0]), y)
    np.testing.assert_allclose(primal, dual, atol=1e-12)
    problem = stated(X, y, Squared(), L2(0.8), Intercept.NONE)
    np.testing.assert_allclose(minimise(problem, [ClosedForm()], tol=1e-12).W[:, 0], primal, atol=1e-11)


@pytest.mark.parametrize("shape", [(30, 4), (4, 30)])
def test_collinear_least_squares_has_the_least_norm(shape):
    """Without a penalty the closed form is the pseudo-inverse's answer, centred by the intercept."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=shape)
    X[:, -1] = X[:, 0] + X[:, 1]
    y = rng.normal(size=shape[0])
    problem = stated(X, y, Squared(), NoPenalty(), Intercept.FREE)
    solution = minimise(problem, [ClosedForm()], tol=1e-9)
    least = np.linalg.pinv(X - X.mean(axis=0)) @ (y - y.mean())
    np.testing.assert_allclose(solution.W[:, 0], least, atol=1e-10)
    assert solution.b[0] == pytest.approx(y.mean() - X.mean(axis=0) @ least, abs=1e-10)


def test_huber_has_slope_clipped_at_1():
    """Huber with delta 1: r^2/2 for |r| <= 1, |r| - 1/2 beyond."""
    r = np.array([-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0])
    np.testing.assert_array_equal(Huber().value(0.0, r), [2.5, 0.5, 0.125, 0.0, 0.125, 0.5, 2.5])
    np.testing.assert_array_equal(Huber().derivative(0.0, r), [-1.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.0])
