"""What is said of columns without a pass over them is true, and a path that says it is certified truly."""

import numpy as np
import pytest

import lineal
from lineal import LinearClassifier, LinearRegressor, _core, path, verify
from lineal.objective import L1, ElasticNet, Log, Problem, Squared
from lineal.objective import priced_columns as module
from lineal.objective.linear_maps import native_dense
from lineal.solvers import Start
from strategies import sample


def rows_of(X):
    return native_dense(np.ascontiguousarray(X), 1).keeping_columns()


@pytest.mark.parametrize("step", [0.0, 1e-3, 0.1, 3.0], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_prices_are_exact_wherever_they_may_matter(step, seed, monkeypatch):
    """V = X'G on columns in play and where |v| may exceed its limit; elsewhere both stay below the limit."""
    monkeypatch.setattr(module, "_LEAST_NUMBERS", 0)
    monkeypatch.setattr(module, "_LEAST_COLUMNS", 0)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 80)) * rng.uniform(0.01, 10, 80)
    X[:, 7] = 0.0
    rows, G = rows_of(X), rng.normal(size=(30, 1))
    priced = module.priced_columns(rows, 1)
    assert priced is module.priced_columns(rows, 1)
    limit = np.abs(X.T @ G)[:, 0] * rng.uniform(0.9, 3.0, 80) + 1e-3
    for _ in range(12):
        in_play = rng.uniform(size=80) < 0.1
        columns = rng.choice(80, 10, replace=False)
        known = (columns, (X.T @ G)[columns, 0]) if rng.uniform() < 0.5 else None
        V, truth = priced.price(rows, G, limit, in_play, known), X.T @ G
        size = np.linalg.norm(X, axis=0)[:, None] * np.linalg.norm(G)
        is_exact = np.abs(V - truth) <= 1e-12 * size  # two orders of the same sums
        assert is_exact[in_play].all()
        assert np.all(is_exact[:, 0] | ((np.abs(V[:, 0]) <= limit) & (np.abs(truth[:, 0]) <= limit)))
        G = G * rng.uniform(0.8, 1.1) + step * rng.normal(size=(30, 1))


def test_columns_far_below_their_limit_are_not_met():
    """Near a dual point that is known a column of small |v| costs no product: it may be anything."""
    rng = np.random.default_rng(0)
    X, G = rng.normal(size=(500, 2_000)), rng.normal(size=(500, 1))
    rows = rows_of(X)
    priced = module.priced_columns(rows, 1)
    limit, nobody = np.full(2_000, 6 * np.linalg.norm(G)), np.zeros(2_000, dtype=bool)
    priced.price(rows, G, limit, nobody)
    rows.dense[:] = np.nan  # whoever met a number now would show it
    V = priced.price(rows, 0.95 * G + 1e-3 * rng.normal(size=G.shape), limit, nobody)
    assert np.isfinite(V).all()


def test_products_of_some_rows():
    """They are NumPy's, for rows that lie apart and in any order; a place that is none is refused."""
    rng = np.random.default_rng(0)
    rows, u, places = rng.normal(size=(9, 21))[:, :13], rng.normal(size=13), np.array([4, 0, 8, 4])
    out = np.empty(4)
    _core.some_products(rows, places, u, out)
    np.testing.assert_allclose(out, rows[places] @ u, rtol=1e-12)
    for wrong in ([-1], [9]):
        with pytest.raises(ValueError, match="out of range"):
            _core.some_products(rows, np.array(wrong), u, np.empty(1))


def test_rows_that_keep_nothing_are_met_in_full():
    """Single fits, sparse rows, several outputs and little data ask for passes."""
    X = np.ones((4, 3))
    assert module.priced_columns(None, 1) is None
    assert module.priced_columns(native_dense(X, 1), 1) is None
    assert module.priced_columns(rows_of(X), 1) is None
    assert module.priced_columns(rows_of(np.ones((1_000, 1_000))), 2) is None
    assert module.priced_columns(rows_of(np.ones((10_000, 100))), 1) is None


@pytest.mark.parametrize("penalty", [L1(1.0), ElasticNet(0.7, 0.3)], ids=repr)
@pytest.mark.parametrize("loss", [Squared(), Log()], ids=repr)
def test_points_of_a_large_path_are_proved(loss, penalty):
    """P - D of each point holds the gap that closer fits leave, and ``verify`` proves its weights, too."""
    rng = np.random.default_rng(1)
    X, w = rng.normal(size=(250, 4_000)), np.zeros(4_000)
    w[:30] = rng.normal(size=30)
    z = X @ w + rng.normal(size=250)
    kind, y = (LinearRegressor, z) if loss == Squared() else (LinearClassifier, np.where(z > 0, 1, -1))
    points = path(kind(loss, penalty, tol=1e-4, n_threads=1), X, y, n_strengths=12, ratio=0.05)
    closer = path(kind(loss, penalty, tol=1e-8, n_threads=1), X, y, strengths=points.strengths)
    assert all(proof.converged for proof in closer.certificates)
    for i, (proof, near) in enumerate(zip(points.certificates, closer.certificates, strict=True)):
        assert proof.converged
        assert proof.dual <= near.primal * (1 + 1e-12)  # a bound is below every objective
        assert near.dual <= proof.primal * (1 + 1e-12)
        if i % 4 == 3:
            assert verify(points.model(i), X, y).primal == pytest.approx(proof.primal, rel=1e-10)
            assert verify(closer.model(i), X, y).relative_gap <= 1e-6


def test_intercepts_find_their_place_beside_columns_of_any_unit():
    """Columns far from 0 and of very different size: every point is certified, closely too, at once."""
    rng = np.random.default_rng(3)
    X, w = rng.normal(size=(300, 3_600)), np.zeros(3_600)
    w[:25] = rng.normal(size=25)
    y = np.where(X @ w + rng.normal(size=300) > 0, 1, -1)
    X[:, ::7] += 1e6
    X *= rng.choice([1e-4, 1.0, 1e3], 3_600)
    for tol in (1e-4, 1e-8):
        learner = LinearClassifier(Log(), L1(1.0), tol=tol, n_threads=1, max_seconds=5.0)
        points = path(learner, X, y, n_strengths=8, ratio=0.05)
        assert all(proof.converged for proof in points.certificates)


def start_of(problem, W, b):
    Z = problem.scores(W, b)
    U = problem.losses.slopes(Z)
    return Start(W, b, U, Z=Z, V=problem.pull(U))


def test_beyond_a_point_nothing_is_said_that_is_not_so():
    """Z = XW + b, V = X'U, no weight changes its sign, and no share of the way is the point itself."""
    X, y = sample("regression", 3)
    problem = LinearRegressor(Squared(), L1(1.0))._task(X, y, None).problem
    rng = np.random.default_rng(0)
    d = problem.X.n_columns
    for share in (0.0, 0.5, 1.0):
        before, at = (
            start_of(problem, rng.normal(size=(d, 1)).round(), rng.normal(size=1)) for _ in range(2)
        )
        there = at.beyond(before, share, problem)
        np.testing.assert_allclose(there.Z, problem.scores(there.W, there.b), atol=1e-10)
        np.testing.assert_allclose(there.V, problem.pull(there.U), atol=1e-10)
        assert np.all(there.W * at.W >= 0)
        if share == 0.0:
            np.testing.assert_array_equal(there.W, at.W)


def test_least_squares_between_kinks_lie_on_a_line():
    """Where no weight comes or goes the line through two optima leads to the third."""
    X, y = sample("regression", 5)
    fits = path(LinearRegressor(Squared(), L1(1.0), tol=1e-13), X, y, strengths=[0.03, 0.02, 0.01])
    first, second, third = fits.coef_array()
    assert np.array_equal(first != 0, third != 0)
    np.testing.assert_allclose(2 * second - first, third, atol=1e-8)


def test_slopes_outside_the_domain_are_left_where_they_are():
    """A line may leave the domain of a loss; its dual point is then the last one, and V its own."""
    X, y = sample("binary", 4)
    problem: Problem = lineal.LogisticRegression("l1")._task(X, y, None).problem
    d = problem.X.n_columns
    before, at = (start_of(problem, np.full((d, 1), size), np.zeros(1)) for size in (0.0, 0.3))
    there = at.beyond(before, 50.0, problem)
    np.testing.assert_array_equal(there.U, at.U)
    np.testing.assert_array_equal(there.V, at.V)
