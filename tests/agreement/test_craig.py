"""Wide least squares by conjugate gradients are those of the closed form, and are left where they creep."""

import numpy as np
import pytest
from tests.reference.craig import craig, craig_step

from lineal import LinearRegressor, Ridge, _core
from lineal.objective.losses import Squared
from lineal.objective.penalties import L2
from lineal.solvers import closed_form
from lineal.solvers import craig as module

# Rows and columns whose products are dear enough.
N, D = 900, 6000


def wide(seed=0, n=N, d=D):
    """Normal rows, targets, and weights of which some are 0."""
    rng = np.random.default_rng(seed)
    weights = rng.choice([0.0, 1.0, 1.5], n)
    return rng.normal(size=(n, d)), rng.normal(size=n) + 3.0, weights


def exact(X, y, weights, strength, has_intercept):
    """The minimiser by the normal equations of all rows, in the dual."""
    root = np.sqrt(weights)
    centre = weights @ X / weights.sum() if has_intercept else np.zeros(X.shape[1])
    mean = weights @ y / weights.sum() if has_intercept else 0.0
    A = root[:, None] * (X - centre)
    w = A.T @ np.linalg.solve(A @ A.T + strength * np.eye(len(y)), root * (y - mean))
    return w, mean - centre @ w


@pytest.mark.parametrize("n", [1, 5, 67, 400])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_step_is_its_formula(n, kind):
    """The pass moves the residual and sums the next direction as the reference does, on any threads."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 133)).astype(kind)
    root, s, t = rng.random(n), rng.normal(size=n), rng.normal(size=n)
    level = root / np.linalg.norm(root)
    p = rng.normal(size=133)
    A = root[:, None] * X.astype(np.float64)
    found = []
    for n_threads in (1, 2, 7):
        moved = t.copy()
        v = _core.craig_step(
            _core.Matrix.from_dense(X, X), root, level, s, p, moved, 0.3, float(level @ A @ p), 0.7, n_threads
        )
        found.append((moved, v))
    wanted = craig_step(X.astype(np.float64), root, level, s, p, t, 0.3, 0.7)
    for each, other in zip(found[0], wanted, strict=True):
        np.testing.assert_allclose(each, other, rtol=1e-12, atol=1e-12)
    for others in found[1:]:
        for each, other in zip(found[0], others, strict=True):
            np.testing.assert_array_equal(each, other)


def test_residuals_are_the_gap():
    """A step's residual t has the gap |t|^2 / 2 between w = A'a and the dual point -strength a."""
    X, y, weights = wide(1, 40, 90)
    root = np.sqrt(weights)
    level = root / np.linalg.norm(root)
    residuals, _ = craig(X, y, root, level, 2.0, 12)
    A = root[:, None] * X
    A -= np.outer(level, level @ A)
    right = root * y - level * (level @ (root * y))
    system = A @ A.T + 2.0 * np.eye(40)
    for t in residuals:
        a = np.linalg.solve(system, right - t)
        primal = 0.5 * np.sum((right - A @ (A.T @ a)) ** 2) + 1.0 * np.sum((A.T @ a) ** 2)
        dual = 2.0 * (a @ right) - 2.0 * a @ a - 1.0 * np.sum((A.T @ a) ** 2)
        np.testing.assert_allclose(primal - dual, 0.5 * t @ t, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("has_intercept", [False, True])
@pytest.mark.parametrize("strength", [0.05, 30.0])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_it_is_the_closed_form(monkeypatch, has_intercept, strength, kind):
    """Weights agree with the normal equations' to six digits, whatever the weights of rows."""
    X, y, weights = wide()
    X = X.astype(kind)
    found = []
    monkeypatch.setattr(
        closed_form, "by_craig", lambda *args: found.append(module.by_craig(*args)) or found[-1]
    )
    model = LinearRegressor(Squared(), L2(strength), fit_intercept=has_intercept).fit(X, y, weights)
    assert found[0] is not None
    assert model.certificate_.converged
    assert model.certificate_.relative_gap <= 1e-11
    w, b = exact(X.astype(np.float64), y, weights, strength, has_intercept)
    # A gap of 1e-12 leaves weights a millionth of their size.
    np.testing.assert_allclose(model.coef_, w, atol=3e-6 * np.linalg.norm(w))
    np.testing.assert_allclose(model.intercept_, b, rtol=1e-5)


def test_it_is_left_where_it_creeps(monkeypatch):
    """Rows that are nearly combinations of others: a counted part of the work, then the factor as ever."""
    X, y, weights = wide()
    rng = np.random.default_rng(5)
    X = X @ np.diag(10.0 ** rng.uniform(-4, 2, D))
    steps, core_step = [], _core.craig_step

    def counted(*args):
        steps.append(1)
        return core_step(*args)

    monkeypatch.setattr(module._core, "craig_step", counted)
    model = Ridge(alpha=1e-3).fit(X, y, sample_weight=weights)
    assert 2 < len(steps) <= 2 + N // 32
    assert model.certificate_.converged
    w, _ = exact(X, y, weights, 1e-3, True)
    np.testing.assert_allclose(model.coef_, w, atol=1e-7 * np.linalg.norm(w))


def test_less_is_enough_for_those_who_ask_for_less():
    """A coarse tolerance has its square as the gap."""
    X, y, _ = wide(3, 640, 2400)
    model = Ridge(tol=1e-3).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-6


def test_targets_that_are_constant_have_no_weights():
    """There is nothing left to explain beside the intercept."""
    X, _, _ = wide()
    model = Ridge().fit(X, np.full(N, 2.5))
    assert model.certificate_.converged
    np.testing.assert_array_equal(model.coef_, 0.0)
    np.testing.assert_allclose(model.intercept_, 2.5)
