"""A column may be moved by any amount where the intercept is free: nothing but the intercept changes."""

import numpy as np
import pytest
import scipy.sparse as sp

from lineal import LinearClassifier, LinearRegressor, verify
from lineal.data import checked_rows
from lineal.objective import (
    L1,
    L2,
    Absolute,
    ElasticNet,
    Hinge,
    Huber,
    Intercept,
    Log,
    NoPenalty,
    Problem,
    Quantile,
    Squared,
    SquaredHinge,
)
from lineal.objective.linear_maps import NumpyRows, far_from_zero, may_be_far
from lineal.solvers.offsets import near_zero

NUMBERS = (Squared(), Huber(), Absolute(), Quantile(0.3))
LOSSES = [*NUMBERS, Log(), Hinge(), SquaredHinge()]
PENALTIES = [L2(1.0), L1(2.0), ElasticNet(1.0, 1.0), NoPenalty()]


def data(offset, seed=0, n=120):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = X @ [2.0, -1.0, 0.5, 0.0] + rng.normal(size=n)
    far = X.copy()
    far[:, 0] += offset
    far[:, 2] -= 3 * offset
    return far, far - far[0] * [1, 0, 1, 0], y  # the second: what is left of them


def learner(loss, penalty, **options):
    kind = LinearRegressor if loss in NUMBERS else LinearClassifier
    return kind(loss=loss, penalty=penalty, max_seconds=20, **options)


def problem_of(X, y, penalty=L1(1.0), intercept=Intercept.FREE):
    return Problem.of_rows(checked_rows(X, 1), y[:, None], np.ones(len(y)), Squared(), penalty, intercept, 1)


@pytest.mark.parametrize("offset", [3e5, 1e7, 1e9])
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_the_model_is_that_of_columns_near_0(loss, penalty, offset):
    far, near, y = data(offset)
    y = y if loss in NUMBERS else y > 0
    model, plain = (learner(loss, penalty, tol=1e-5).fit(X, y) for X in (far, near))
    said, known = model.certificate_, plain.certificate_
    assert said.converged
    assert verify(model, far, y).converged
    assert said.primal <= known.primal * (1 + 1e-5)
    assert known.primal <= said.primal * (1 + 1e-5)


def test_scores_and_bounds_are_the_same_whatever_columns_are_moved_by():
    far, _, y = data(1e5)
    problem = problem_of(far, y)
    moved = near_zero(problem)
    rng = np.random.default_rng(1)
    W, b = rng.normal(size=(4, 1)), rng.normal(size=1)
    np.testing.assert_allclose(
        moved.problem.scores(W, b + moved.by @ W), problem.scores(W, b), rtol=0, atol=1e-8
    )
    U = rng.normal(size=(len(y), 1))
    U -= U.mean(axis=0)
    np.testing.assert_allclose(moved.problem.pull(U), problem.pull(U), rtol=0, atol=1e-6)
    np.testing.assert_array_equal(moved.by[[1, 3]], 0.0)


def test_whole_numbers_stay_whole_and_float32_stays_float32():
    seconds = 1_700_000_000 + np.arange(50.0) * 60
    moved = near_zero(problem_of(seconds[:, None], seconds))
    np.testing.assert_array_equal(moved.problem.X.dense[:, 0], np.arange(50.0) * 60)
    few = near_zero(problem_of((5e5 + np.arange(50))[:, None].astype(np.float32), seconds))
    assert few.problem.X.dense.dtype == np.float32
    np.testing.assert_array_equal(few.problem.X.dense[:, 0], np.arange(50))


@pytest.mark.parametrize(
    ("X", "intercept"),
    [
        (np.c_[np.ones(40), np.arange(40.0)], Intercept.FREE),  # a constant of moderate size
        (np.c_[np.full(40, 2000.0) + np.arange(40.0)], Intercept.FREE),  # years
        (np.c_[1e9 + np.arange(40.0)], Intercept.NONE),
        (np.c_[1e9 + np.arange(40.0)], Intercept.PENALIZED),
        (sp.csr_matrix(np.c_[np.r_[0.0, 1e9 + np.arange(39.0)]]), Intercept.FREE),  # far, but for a 0
        (sp.csr_matrix((40, 2)), Intercept.FREE),
    ],
)
def test_columns_stay_where_they_are_near_0_or_cannot_be_moved(X, intercept):
    assert near_zero(problem_of(X, np.arange(40.0), intercept=intercept)) is None


@pytest.mark.parametrize("rows", [lambda X: checked_rows(X, 1), NumpyRows], ids=["core", "numpy"])
def test_sparse_columns_move_as_dense_ones_do(rows):
    """A column that every row stores moves exactly; what is 0 elsewhere stays unstored."""
    X = np.zeros((200, 3))
    X[:, 1] = 1_700_000_000 + 60 * np.arange(200.0)
    X[::7, 2] = 1.0
    near, by = rows(sp.csr_array(X)).near_zero()
    np.testing.assert_array_equal(by, [0.0, X[0, 1], 0.0])
    np.testing.assert_array_equal(near.csr().toarray(), X - by)
    assert near.csr().nnz == sp.csr_array(X).nnz


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_a_fit_of_sparse_far_columns_is_that_of_dense_ones(loss):
    far, _, y = data(1e8)
    y = y if loss in NUMBERS else y > 0
    dense, sparse = (learner(loss, L2(1.0), tol=1e-5).fit(X, y) for X in (far, sp.csr_array(far)))
    assert dense.certificate_.converged
    assert sparse.certificate_.converged
    assert sparse.certificate_.primal == pytest.approx(dense.certificate_.primal, rel=2e-5)
    assert verify(sparse, sp.csr_array(far), y).converged


def test_a_rare_change_in_a_column_that_looks_constant_is_seen():
    X = np.ones((5000, 1))
    X[1] = 0.0  # between the rows that are glanced at
    assert near_zero(problem_of(X, np.arange(5000.0))) is None


def test_a_warm_start_is_moved_along():
    far, _, y = data(1e7)
    model = LinearRegressor(penalty=L1(2.0), tol=1e-6, warm_start=True).fit(far, y)
    assert model.certificate_.converged
    again = model.fit(far, y).certificate_
    assert again.converged
    assert again.epochs <= 2


@pytest.mark.filterwarnings("ignore::lineal.errors.NotCertifiedWarning")
@pytest.mark.parametrize("offset", [1e12, 1e14])
def test_what_rounding_of_scores_leaves_unproved_is_not_called_certified(offset):
    far, _, y = data(offset)
    said = LinearRegressor(Absolute(), L2(1.0), tol=1e-9, max_seconds=20).fit(far, y).certificate_
    assert not said.converged
    assert said.relative_gap > 1e-9
    assert "certified" not in said.reason
    assert "Subtract" in said.reason


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("seed", range(20))
def test_the_core_overlooks_no_far_column(dtype, seed):
    """Where NumPy finds a column far from 0, so does the core's glance, whatever row it measures from."""
    rng = np.random.default_rng(seed)
    n, d = (1, 3, 64, 500)[seed % 4], (1, 5, 70)[seed % 3]
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-9, 9, d)
    # On both sides of the border, some constant, some with an outlier in the first row.
    X += X.std(axis=0) * 10.0 ** rng.uniform(2.0, 6.0, d) * (rng.random(d) < 0.3)
    X[:, rng.random(d) < 0.1] = 10.0 ** rng.uniform(3.0, 5.0)
    X[0, rng.random(d) < 0.1] *= 1e6
    X = np.ascontiguousarray(X, dtype=dtype)
    found = far_from_zero(X)
    assert may_be_far(X) or found is None
    glance = X[:: max(1, n // 64)]
    some = glance.astype(np.float64) - glance[0].astype(np.float64)
    mean, spread = glance[0].astype(np.float64) + some.mean(axis=0), some.std(axis=0)
    ratio = np.abs(mean) / np.where(spread > 0, spread, 1.0) / 1e4
    if np.all(np.abs(ratio - 1) > 1e-6):  # beside the border rounding may decide
        assert may_be_far(X) == bool((ratio > 1).any())
