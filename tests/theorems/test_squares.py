"""Least squares and its relatives: what shifts, units and repeated rows may not change."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from lineal import (
    ElasticNet,
    Lasso,
    LinearRegression,
    LinearRegressor,
    LinearSVC,
    LinearSVR,
    Ridge,
    _core,
    path,
    verify,
)
from lineal.objective import L1, L2, Squared, Stop
from lineal.objective.linear_maps import NumpyRows, native_dense
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.condensed import condense

LEARNERS = [
    pytest.param(lambda: LinearRegression(), id="LinearRegression"),
    pytest.param(lambda: Ridge(alpha=2.0), id="Ridge"),
    pytest.param(lambda: Lasso(alpha=0.1, tol=1e-10), id="Lasso"),
    pytest.param(lambda: ElasticNet(alpha=0.1, tol=1e-10), id="ElasticNet"),
]
seeds = st.integers(0, 2**32 - 1)


def data_of(seed, n=60, d=7):
    """Columns in whole numbers of 2^-20, so that whole shifts are exact; y follows three of them."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)) * 2**20) / 2**20
    y = 2 * X[:, 0] - X[:, 1] + 0.5 * X[:, 2] + np.round(rng.normal(size=n) * 2**20) / 2**20
    return X, y


def assert_close(one, other, size=1.0, tol=1e-5):
    """Weights of strongly convex problems whose gaps are proved to 1e-10 differ by the root of that."""
    np.testing.assert_allclose(one, other, rtol=0, atol=tol * max(size, 1.0))


# ---- what may not change the answer -----------------------------------------------------------------


@pytest.mark.parametrize("make", LEARNERS)
@settings(max_examples=10)
@given(seed=seeds)
def test_a_billion_more_on_every_target_moves_the_intercept_alone(make, seed):
    """y + 10^9 has the weights of y, certified, and 10^9 more of an intercept."""
    X, y = data_of(seed)
    y = np.round(y * 2**12) / 2**12  # exact beside 10^9, too
    one, other = make().fit(X, y), make()
    # Scores of 10^9 are rounded to 10^-7: no objective is known to 10^-10 there, nor weights to its root.
    other.set_params(tol=1e-7).fit(X, y + 1e9)
    assert one.certificate_.converged
    assert other.certificate_.converged
    assert_close(one.coef_, other.coef_, tol=1e-3)
    assert other.intercept_ - 1e9 == pytest.approx(one.intercept_, abs=1e-3)


@pytest.mark.parametrize("make", LEARNERS)
@settings(max_examples=10)
@given(seed=seeds)
def test_columns_a_million_deviations_away_certify_the_same_weights(make, seed):
    """X + 10^6 has the weights of X and the scores of X: the intercept takes the shift back."""
    X, y = data_of(seed)
    one, other = make().fit(X, y), make().fit(X + 1e6, y)
    assert other.certificate_.converged
    assert_close(one.coef_, other.coef_)
    # Scores of such columns are sums of numbers of 10^6, rounded to 10^-10 each.
    assert_close(one.predict(X), other.predict(X + 1e6))


@settings(max_examples=10)
@given(seed=seeds, powers=st.lists(st.integers(-12, 12), min_size=7, max_size=7))
def test_units_of_columns_divide_the_weights_of_least_squares(seed, powers):
    """X diag(c) has the weights w / c: least squares knows no unit, from 2^-12 to 2^12 apart."""
    X, y = data_of(seed)
    c = 2.0 ** np.array(powers)
    one, other = LinearRegression().fit(X, y), LinearRegression().fit(X * c, y)
    assert other.certificate_.converged
    assert_close(one.coef_, other.coef_ * c, tol=1e-9)


@pytest.mark.parametrize("make", LEARNERS[1:])
@settings(max_examples=10)
@given(seed=seeds, power=st.integers(-8, 8))
def test_one_unit_for_all_is_a_strength(make, seed, power):
    """X c and y c have the weights of X and y, with each part of the penalty in the unit that it is in."""
    X, y = data_of(seed)
    c = 2.0**power
    squares = {"Ridge": c * c, "Lasso": c * c, "ElasticNet": c * c}
    one = make()
    other = make().set_params(alpha=one.alpha * squares[type(one).__name__])
    assert_close(one.fit(X, y).coef_, other.fit(X * c, y * c).coef_)


@pytest.mark.parametrize("make", LEARNERS)
@settings(max_examples=10)
@given(seed=seeds)
def test_the_order_of_rows_and_columns_does_not_show(make, seed):
    """Rows in any order have the same weights, columns in any order the same in that order."""
    X, y = data_of(seed)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    one = make().fit(X, y)
    assert_close(one.coef_, make().fit(X[rows], y[rows]).coef_)
    assert_close(one.coef_[columns], make().fit(X[:, columns], y).coef_)


@pytest.mark.parametrize("make", LEARNERS)
@settings(max_examples=10)
@given(seed=seeds)
def test_weight_two_is_the_row_twice(make, seed):
    """A row of weight 2 and the row twice, a row of weight 0 and no row, are the same fit."""
    X, y = data_of(seed)
    s = np.random.default_rng(seed).integers(0, 3, len(X)).astype(float)
    one = make().fit(X, y, sample_weight=s)
    other = make().fit(np.repeat(X, s.astype(int), axis=0), np.repeat(y, s.astype(int)))
    assert_close(one.coef_, other.coef_)
    assert one.intercept_ == pytest.approx(other.intercept_, abs=1e-5)


# ---- without a penalty --------------------------------------------------------------------------------


@settings(max_examples=20)
@given(
    seed=seeds,
    shape=st.sampled_from([(40, 6), (6, 40), (12, 12), (30, 1), (2, 9)]),
    has_intercept=st.booleans(),
    n_targets=st.sampled_from([1, 3]),
    kind=st.sampled_from(["plain", "collinear", "repeated rows", "weights 0"]),
)
def test_least_squares_is_the_shortest_of_the_best(seed, shape, has_intercept, n_targets, kind):
    """Whatever road is taken, weights are those of NumPy's lstsq on centred columns: of least norm."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=shape), rng.normal(size=(shape[0], n_targets))
    s = np.ones(shape[0])
    if kind == "collinear" and shape[1] > 1:
        X[:, -1] = 2 * X[:, 0]
    if kind == "repeated rows":
        X[1], Y[1] = X[0], Y[0]
    if kind == "weights 0" and shape[0] > 4:
        s[:2] = 0.0
    targets = Y[:, 0] if n_targets == 1 else Y
    model = LinearRegression(fit_intercept=has_intercept).fit(X, targets, sample_weight=s)
    root = np.sqrt(s)[:, None]
    middle = [np.average(each, axis=0, weights=s) if has_intercept else 0.0 for each in (X, Y)]
    W = np.linalg.lstsq(root * (X - middle[0]), root * (Y - middle[1]), rcond=1e-10)[0]
    assert model.certificate_.converged
    condition = np.linalg.norm(W) + 1.0
    np.testing.assert_allclose(np.atleast_2d(model.coef_).T, W, rtol=0, atol=1e-7 * condition)


@pytest.mark.parametrize("solver", ["auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga"])
@pytest.mark.parametrize("has_intercept", [True, False])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_ridge_of_strength_0_is_the_shortest_of_the_best_by_every_name(solver, has_intercept, layout):
    """More columns than rows, and columns twice: whatever scikit-learn's name of the solver, least norm."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 30)), rng.normal(size=20)
    X = np.hstack([X, X])
    model = Ridge(alpha=0, solver=solver, fit_intercept=has_intercept).fit(layout(X), y)
    wanted = np.linalg.lstsq(X - has_intercept * X.mean(axis=0), y - has_intercept * y.mean(), rcond=1e-10)[0]
    np.testing.assert_allclose(model.coef_, wanted, rtol=0, atol=1e-10)


# ---- many rows as few ---------------------------------------------------------------------------------


def problem_of(X, y, s, intercept):
    """Least squares under L1."""
    Y = y.reshape(len(y), -1)
    return Problem.of_rows(native_dense(X, 1), Y, s, Squared(), L1(1.0), intercept, Y.shape[1])


@settings(max_examples=20)
@given(
    seed=seeds,
    intercept=st.sampled_from([Intercept.FREE, Intercept.NONE]),
    n_targets=st.sampled_from([1, 2]),
    kind=st.sampled_from(["plain", "collinear", "constant", "far"]),
)
def test_few_rows_have_the_objective_of_many(seed, intercept, n_targets, kind):
    """At any weights, the best constants told, the two objectives agree to what rounding is charged."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 4))
    X[:, 3] = {"collinear": X[:, 0], "constant": 3.0, "far": 1e7 + X[:, 3]}.get(kind, X[:, 3])
    y, s = rng.normal(size=(50, n_targets)), rng.integers(0, 3, 50).astype(float)
    problem = problem_of(X, y, s, intercept)
    few = condense(problem, 100)
    assert few is not None
    assert few.problem.X.n_rows == 4 + n_targets
    for _ in range(5):
        W = rng.normal(size=(4, n_targets))
        b = few.level - few.centre @ W if intercept is Intercept.FREE else np.zeros(n_targets)
        exact = problem.primal(W, b)
        told = few.problem.primal(W, np.zeros(n_targets))
        assert abs(told - exact) <= few.charge(W, told) + 1e-14 * exact


@pytest.mark.parametrize("penalty", [L1(1.0), L2(1.0)], ids=str)
def test_a_path_over_many_rows_is_that_of_cold_fits(penalty):
    """Each point is certified, what ``verify`` proves from all rows agrees, and so does R^2."""
    X, y = data_of(3, n=400, d=12)
    points = path(LinearRegressor(Squared(), penalty, tol=1e-7), X, y, n_strengths=8)
    for i, strength in enumerate(points.strengths):
        cold = LinearRegressor(Squared(), penalty.at_strength(strength), tol=1e-7).fit(X, y)
        model, proof = points.model(i), points.certificates[i]
        assert proof.converged
        assert max(proof.dual, cold.certificate_.dual) <= min(proof.primal, cold.certificate_.primal)
        assert verify(model, X, y).primal == pytest.approx(proof.primal, rel=1e-10)
        assert points.train_scores[i] == pytest.approx(model.score(X, y), abs=1e-10)
        assert model.intercept_ == pytest.approx(cold.intercept_, abs=1e-3)


def test_where_products_lose_too_much_a_path_meets_all_rows():
    """A column 10^7 deviations from 0 without an intercept: products alone could not prove 1e-9, rows do."""
    X, y = data_of(5, n=200, d=4)
    X[:, 3] += 1e7
    points = path(LinearRegressor(Squared(), L1(1.0), tol=1e-9, fit_intercept=False), X, y, n_strengths=4)
    assert all(proof.converged for proof in points.certificates)
    for i in range(4):
        again = verify(points.model(i), X, y)
        assert again.primal == pytest.approx(points.certificates[i].primal, rel=1e-9)


# ---- columns of dense rows ----------------------------------------------------------------------------


@settings(max_examples=20)
@given(seed=seeds, single=st.booleans(), with_constant=st.booleans())
def test_columns_that_are_taken_are_those_of_the_rows(seed, single, with_constant):
    """Products of columns that were copied, in two rounds, and of NumPy's are the same, under any weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 9)).astype(np.float32 if single else np.float64)
    rows = native_dense(X, 1).keeping_columns()
    even, uneven, signed = np.full(30, 2.0), rng.uniform(size=30), rng.normal(size=30)
    rows.kept.weigh(uneven)
    for wanted in ([4, 1], [1, 4, 7], [0, 8], []):
        columns = np.array(wanted, dtype=np.int64)
        columns = rows.kept.with_others(X, columns)
        assert set(wanted) <= set(columns.tolist())
        own = X[:, columns].astype(np.float64)
        for taken in (rows.take_columns(columns), native_dense(X, 1).take_columns(columns)):
            plain = NumpyRows(own)
            for h in (even, uneven, signed):
                np.testing.assert_allclose(
                    taken.gram(h, with_constant), plain.gram(h, with_constant), rtol=1e-12, atol=1e-12
                )
            W, U = rng.normal(size=(len(columns), 2)), rng.normal(size=(30, 2))
            np.testing.assert_allclose(taken.dot(W), own @ W, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(taken.adjoint(U), own.T @ U, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(taken.squared_adjoint(U), (own**2).T @ U, rtol=1e-12, atol=1e-12)
            np.testing.assert_array_equal(taken.csr().toarray(), own)


def test_descent_on_dense_columns_is_descent_on_sparse_ones():
    """Column by column the same weights, whether zeros are left out or not."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(20, 6)) * (rng.random((20, 6)) < 0.5)
    dense = native_dense(X, 1)
    found = []
    for columns in (dense.as_columns(), dense.transposed()):
        w, residual = np.zeros(6), -np.ones(20)
        b, _, violation = _core.column_cd(
            columns.matrix, np.ones(20), True, np.full(7, 0.3), np.zeros(7), (X**2).sum(axis=0), residual,
            w, 0.0, 1e-12, 1000,
        )  # fmt: skip
        assert violation <= 1e-12
        found.append(np.append(w, b))
    np.testing.assert_allclose(found[0], found[1], atol=1e-10)


# ---- ends ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.0, 0.1, 3.0, 1e9 + 0.3])
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: Ridge(alpha=1e-16, solver="newton", tol=1e-12), id="Ridge"),
        pytest.param(lambda: LinearSVR(tol=1e-10), id="LinearSVR"),
    ],
)
@pytest.mark.parametrize("shape", [(30, 4), (40, 500), (400, 60)], ids=str)
@pytest.mark.filterwarnings("ignore::lineal.errors.NotCertifiedWarning")
def test_targets_that_are_all_the_same_are_a_constant_at_once(make, level, shape):
    """No weights, that intercept, and no more epochs than a glance takes; what is left is rounding."""
    X = np.random.default_rng(0).normal(size=shape)
    model = make().fit(X, np.full(shape[0], level))
    np.testing.assert_array_equal(model.coef_, 0.0)
    assert model.intercept_ == pytest.approx(level, rel=1e-14)
    assert model.certificate_.epochs <= 2
    assert model.certificate_.converged or "rounding" in model.certificate_.reason


@pytest.mark.parametrize("density", [0.01, 0.05])
@pytest.mark.filterwarnings("ignore::lineal.errors.NotCertifiedWarning")
def test_a_strength_below_the_rounding_of_slopes_ends_and_says_so(density):
    """Strength 1e-16 over wide rows: all residuals are 0 to rounding, and P is next to nothing.

    A strength that slopes can tell from 0 is certified by the same solver.
    """
    X = sp.random(200, 2000, density=density, format="csr", random_state=0)
    y = np.random.default_rng(0).normal(size=200)
    faint = Ridge(alpha=1e-16, solver="newton", tol=1e-12, max_iter=2000).fit(X, y).certificate_
    assert faint.stop is Stop.STALLED
    assert "rounding" in faint.reason
    assert faint.epochs <= 100
    assert 0 <= faint.gap <= 1e-14 * (y @ y)
    assert Ridge(alpha=1e-2, solver="newton", tol=1e-10).fit(X, y).certificate_.converged


@pytest.mark.parametrize("level", [0.0, 1.3])
@pytest.mark.parametrize("shape", [(50, 3), (30, 100)], ids=str)
@pytest.mark.parametrize("has_intercept", [False, True])
@pytest.mark.filterwarnings("ignore::lineal.errors.NotCertifiedWarning")
def test_targets_that_differ_by_next_to_nothing_end_soon(level, shape, has_intercept):
    """A spread of 1e-300 under absolute losses: certified, or no further after few epochs."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=shape), level + 1e-300 * rng.normal(size=shape[0])
    found = LinearSVR(tol=1e-10, fit_intercept=has_intercept, max_iter=2000).fit(X, y).certificate_
    assert found.stop in (Stop.CERTIFIED, Stop.STALLED)
    assert found.epochs <= 200
    assert found.converged or found.primal <= 1e-297


@pytest.mark.parametrize(
    "make", [lambda: Lasso(alpha=0.1), lambda: ElasticNet(alpha=0.1)], ids=["L1", "both"]
)
@pytest.mark.filterwarnings("ignore::lineal.errors.NotCertifiedWarning")
def test_fits_of_one_epoch_go_on_where_the_last_one_ended(make):
    """``warm_start=True, max_iter=1``: ten calls are at the optimum that one fit finds."""
    X, y = data_of(1)
    creeping = make().set_params(warm_start=True, max_iter=1)
    for _ in range(10):
        creeping.fit(X, y)
        assert creeping.certificate_.epochs <= 1
    assert creeping.certificate_.primal == pytest.approx(make().fit(X, y).certificate_.primal, rel=1e-4)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: LinearSVC(loss="hinge"), id="LinearSVC"),
        pytest.param(lambda: LinearSVR(), id="LinearSVR"),
    ],
)
@pytest.mark.parametrize("shape", [(300, 10), (60, 300)], ids=str)
@pytest.mark.filterwarnings("ignore::lineal.errors.NotCertifiedWarning")
def test_fits_of_one_epoch_get_somewhere_around_kinks_too(make, shape):
    """Call after call P does not rise and D does not fall; many are as good as one whole fit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape)
    y = X[:, 0] + 0.5 * rng.normal(size=shape[0])
    y = np.where(y > 0, 1.0, -1.0) if isinstance(make(), LinearSVC) else y
    creeping, told = make().set_params(warm_start=True, max_iter=1), []
    for _ in range(300):
        told.append(creeping.fit(X, y).certificate_)
        assert told[-1].epochs <= 1
        if told[-1].converged:
            break
    gaps = [each.gap for each in told]
    # A small one is over with the first epoch.
    assert told[0].converged or gaps[min(10, len(gaps)) - 1] < 0.8 * gaps[0]
    for before, after in pairwise(told):
        assert after.primal <= before.primal * (1 + 1e-12)
        assert after.dual >= before.dual - 1e-12 * abs(before.primal)
    assert told[-1].primal <= 1.02 * make().fit(X, y).certificate_.primal


@settings(max_examples=20)
@given(seed=seeds, n_last=st.integers(0, 1), changes_l2=st.booleans())
def test_an_active_set_goes_on_where_the_model_grows(seed, n_last, changes_l2):
    """Columns join before the last ones, strengths fall: weights are those of a fresh set, and optimal."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 12)), rng.normal(size=40)
    if n_last:
        X[:, -1] = 1.0
    kept, w, size = _core.ActiveSet(), np.zeros(0), 0
    for wanted, strength in ((5, 8.0), (5, 4.0), (9, 2.0), (12, 0.5)):
        columns = np.append(np.arange(wanted - n_last), np.arange(12 - n_last, 12))
        A = X[:, columns]
        G, l1, l2 = A.T @ A, np.full(wanted, strength), np.full(wanted, strength if changes_l2 else 0.5)
        l1[wanted - n_last :] = l2[wanted - n_last :] = 0.0
        grown = np.zeros(wanted)
        if size:
            grown[: size - n_last], grown[wanted - n_last :] = w[: size - n_last], w[size - n_last :]
        fresh = grown.copy()
        for active, v in ((kept, grown), (_core.ActiveSet(), fresh)):
            gradient = A.T @ (A @ v - y)
            active.run(G, l1, l2, gradient, v, n_last, 1e-9, 1000)
            slopes = A.T @ (A @ v - y) + l2 * v
            violations = np.where(v == 0, np.abs(slopes) - l1, np.abs(slopes + l1 * np.sign(v)))
            assert violations.max() <= 1e-7
        np.testing.assert_allclose(grown, fresh, atol=1e-7)
        w, size = grown, wanted
