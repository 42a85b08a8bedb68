"""What is true of every ranking machine."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lineal
from lineal.objective import Hinge, Log, SquaredHinge

LOSSES = (Hinge(), SquaredHinge(), Log())


def some(seed, n=40, d=3):
    """(X, grades, queries) with noise."""
    rng = np.random.default_rng(seed)
    X, queries = rng.normal(size=(n, d)), rng.integers(0, 5, size=n)
    grades = np.digitize(X @ rng.normal(size=d) + rng.normal(size=n), [-0.5, 0.5])
    return X, grades, queries


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(LOSSES), st.floats(-3, 3), st.sampled_from((1e-2, 1e-5, 1e-8)))
def test_the_gap_is_certified_and_proved_again(seed, loss, power, tol):
    """0 <= P - D <= tol P on return, for noise and for pairs that can be ordered; listed pairs agree."""
    X, grades, queries = some(seed, d=1 + seed % 30)
    model = lineal.RankSVM(10.0**power, loss=loss, tol=tol).fit(X, grades, groups=queries)
    certificate = model.certificate_
    assert certificate.converged
    assert certificate.relative_gap <= tol
    again = lineal.verify(model, X, grades, groups=queries)
    # Sums of some hundred pairs; below 1e-12 P(0) a relative gap is one of rounding.
    floor = 1e-12 * model.n_pairs_
    assert again.primal == pytest.approx(certificate.primal, rel=1e-9, abs=floor)
    assert again.dual >= certificate.dual - 1e-9 * abs(certificate.dual) - floor  # or a better point
    assert again.dual <= again.primal + 1e-10 * abs(again.primal) + floor


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_no_weights_are_below_the_bound(loss):
    """The dual value is below the objective of any weights whatever."""
    X, grades, queries = some(3)
    model = lineal.RankSVM(0.5, loss=loss).fit(X, grades, groups=queries)
    i, j = np.nonzero((queries[:, None] == queries) & (grades[:, None] > grades))
    rng = np.random.default_rng(0)
    for scale in (0.0, 1e-3, 0.1, 1.0):
        w = model.coef_ + scale * rng.normal(size=3)
        value = loss.value(np.ones(1), (X[i] - X[j]) @ w).sum() + w @ w / (2 * 0.5)
        assert value >= model.certificate_.dual * (1 - 1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_a_weight_of_two_is_the_row_twice(loss):
    """Repeating rows is weighing them, and a weight of 0 is no row."""
    X, grades, queries = some(5)
    times = np.random.default_rng(0).integers(0, 3, size=len(X))
    weighed = lineal.RankSVM(loss=loss, tol=1e-11).fit(X, grades, queries, times)
    again = np.repeat(np.arange(len(X)), times)
    repeated = lineal.RankSVM(loss=loss, tol=1e-11).fit(X[again], grades[again], queries[again])
    assert weighed.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=1e-10)
    np.testing.assert_allclose(weighed.coef_, repeated.coef_, rtol=1e-4, atol=1e-5)  # sqrt of the gap


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_only_order_within_queries_matters(loss):
    """Other grades in the same order, and anything added to all rows of a query, change nothing."""
    X, grades, queries = some(7)
    plain = lineal.RankSVM(loss=loss, tol=1e-11).fit(X, grades, groups=queries)
    steeper = lineal.RankSVM(loss=loss, tol=1e-11).fit(X, np.exp(3.0 * grades) + 10.0 * queries, queries)
    assert np.array_equal(plain.coef_, steeper.coef_)
    shifts = np.random.default_rng(0).integers(-4, 5, size=(5, X.shape[1]))
    shifted = lineal.RankSVM(loss=loss, tol=1e-11).fit(X + shifts[queries], grades, queries)
    assert shifted.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=1e-10)
    np.testing.assert_allclose(shifted.coef_, plain.coef_, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_units_go_into_the_strength(loss):
    """X -> 4 X with C -> C / 16 gives w / 4, up to rounding."""
    X, grades, queries = some(9)
    model = lineal.RankSVM(0.5, loss=loss).fit(X, grades, groups=queries)
    larger = lineal.RankSVM(0.5 / 16, loss=loss).fit(4 * X, grades, groups=queries)
    np.testing.assert_allclose(4 * larger.coef_, model.coef_, rtol=1e-9)


def test_pairs_that_can_be_ordered_are():
    """With a large C and more columns than rows, every pair gets its margin, and the least |w| is proved."""
    rng = np.random.default_rng(0)
    X, grades = rng.normal(size=(30, 60)), rng.integers(0, 3, size=30)
    model = lineal.RankSVM(1e4, tol=1e-6).fit(X, grades)
    i, j = np.nonzero(grades[:, None] > grades)
    assert ((X[i] - X[j]) @ model.coef_).min() > 1 - 1e-4
    assert model.score(X, grades) == 1.0


def test_many_rows_of_one_query_need_no_list_of_pairs():
    """Twenty thousand rows are two hundred million pairs: certified, in memory for the rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 3))
    y = X @ [1.0, -1.0, 0.5] + rng.normal(size=20_000)
    model = lineal.RankSVM(1e-6, tol=1e-3).fit(X, y)
    assert model.n_pairs_ == 20_000 * 19_999 // 2
    assert model.certificate_.relative_gap <= 1e-3
    direction = model.coef_ / np.linalg.norm(model.coef_)
    np.testing.assert_allclose(direction, np.array([1.0, -1.0, 0.5]) / 1.5, atol=0.02)  # 1 / sqrt(n) is 0.007
