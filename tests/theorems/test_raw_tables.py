"""Columns as tables have them, of any unit and with few rows far out: fits are certified, bounds true."""

import numpy as np
import pytest

from lineal import LinearClassifier, LinearRegressor, verify
from lineal.data import checked_rows
from lineal.objective import (
    L1,
    L2,
    Absolute,
    ElasticNet,
    EpsilonInsensitive,
    GroupL2,
    Hinge,
    Intercept,
    Log,
    NoPenalty,
    Problem,
    Quantile,
    Squared,
    SquaredHinge,
)
from lineal.objective.bounds import Bound, bound_within_rounding
from lineal.objective.certificate import ALL_ROUNDING
from lineal.objective.joint import Softmax
from lineal.solvers import minimise
from lineal.solvers.planner import plan
from lineal.solvers.proving import Best, Proof


def certified(model, X, y):
    """The certificate of a fit that is certified, as ``verify`` says too."""
    model = model.set_params(max_seconds=20).fit(X, y)
    said, again = model.certificate_, verify(model, X, y)
    assert said.converged, said
    assert again.converged, again
    return said


def incomes(n, seed):
    """Columns of sums of money: most are small, few are larger by many powers of ten; and their region."""
    rng = np.random.default_rng(seed)
    size = 10 ** rng.normal(9.0, 1.2, n)
    shares = rng.dirichlet([2.0, 3.0, 5.0], n)
    region = np.eye(3)[rng.integers(0, 3, n)]
    return np.column_stack([region, size[:, None] * shares, size]), size, rng


def in_groups(strength):
    """Regions, shares and the whole, each together."""
    return GroupL2([0, 0, 0, 1, 1, 1, 2], strength)


@pytest.mark.parametrize("loss", [Absolute(), Quantile(0.9)], ids=str)
@pytest.mark.parametrize("offset", [0.0, 2000.0])
def test_targets_that_columns_explain_are_certified_as_far_as_scores_are_known(loss, offset):
    """P is a few roundings of the scores, and so is its distance from the bound, which is 0."""
    rng = np.random.default_rng(0)
    X = np.column_stack([offset + rng.integers(0, 30, 80), rng.normal(size=(80, 3))])
    y = X @ [1.0, 2.0, -0.5, 0.25] + 7.0
    said = certified(LinearRegressor(loss, NoPenalty()), X, y)
    assert said.primal <= 1e-13 * np.abs(y).sum()
    assert said.relative_gap <= 1e-4 or said.reason == ALL_ROUNDING


def test_weights_whose_scores_are_off_by_more_than_rounding_are_not_certified_for_it():
    """A residual of 1e-9 is small beside the targets, and no rounding."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 3))
    y = (X @ [1.0, 2.0, 3.0])[:, None]
    problem = Problem.of_rows(checked_rows(X, 1), y, np.ones(50), Absolute(), NoPenalty(), Intercept.FREE, 1)
    W, b = np.array([[1.0], [2.0], [3.0 + 1e-9]]), np.zeros(1)
    primal = problem.primal(W, b)
    assert not problem.is_rounding(primal, 0.0, W, b)
    W = np.array([[1.0], [2.0], [3.0]])
    assert problem.is_rounding(problem.primal(W, b), 0.0, W, b)


@pytest.mark.parametrize("strength", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("make", [L2, L1, in_groups], ids=["L2", "L1", "groups"])
def test_a_penalty_far_below_the_rounding_of_columns_is_no_hindrance(make, strength):
    """The optimum lies between that of least squares, and what that costs with the penalty."""
    X, size, rng = incomes(150, 2)
    y = 0.3 * size + 10 ** rng.normal(9.0, 1.0, 150)
    said = certified(LinearRegressor(Squared(), make(strength)), X, y)
    unit = np.abs(X).max(axis=0)
    plain = LinearRegressor(Squared(), NoPenalty(), tol=1e-9).fit(X / unit, y)
    least = plain.certificate_.primal
    assert plain.certificate_.converged
    assert least * (1 - 1e-9) <= said.primal
    assert said.dual <= least * (1 + 1e-9) + make(strength)(plain.coef_ / unit)


@pytest.mark.parametrize("loss", [Absolute(), EpsilonInsensitive(), Hinge(), SquaredHinge()], ids=str)
@pytest.mark.parametrize("penalty", [L2(0.01), L1(1.0), ElasticNet()], ids=str)
def test_losses_with_kinks_over_columns_of_any_size_are_certified(loss, penalty):
    X, size, rng = incomes(150, 3)
    y = np.log10(size) + 0.3 * rng.normal(size=150)
    if loss in (Hinge(), SquaredHinge()):
        certified(LinearClassifier(loss, penalty), X, y > np.median(y))
    else:
        certified(LinearRegressor(loss, penalty), X, y)


@pytest.mark.parametrize("out", [1e2, 1e4, 1e5])
def test_steps_from_the_inside_reach_weights_that_few_far_rows_keep_small_at_first(out):
    """The optimum has scores of thousands at the far rows; the unit of the column says nothing about it."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(120, 3))
    y = X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=120) > 0
    X[:8, 0] = np.where(y[:8], out, -out) * (1 + rng.random(8))
    found = [
        certified(LinearClassifier(Hinge(), NoPenalty(), tol=1e-6), X * unit, y)
        for unit in (1.0, [1e-5, 1, 1])
    ]
    assert found[0].primal == pytest.approx(found[1].primal, rel=2e-6)
    assert found[0].solver == "interior"


@pytest.mark.parametrize("strength", [0.01, 1.0, 100.0])
def test_softmax_of_sums_of_money_of_many_years_is_certified(strength):
    """Each year repeats the last, nearly, and few rows are thousands of times larger than most."""
    rng = np.random.default_rng(5)
    growth = np.cumsum(0.02 + 0.001 * rng.normal(size=(200, 10)), axis=1)
    X = 10 ** rng.normal(6.0, 1.0, (200, 1)) * np.exp(growth)
    y = np.digitize(np.log10(X[:, 0]) + rng.normal(size=200), [5.0, 6.0, 7.0])
    certified(LinearClassifier(Log(), L2(strength)), X, y)


def test_a_row_told_apart_costs_the_little_it_costs_to_all_digits():
    """log(1 + 3 e^-m) of softmax and its conjugate: their sum is u.z, to the digits of the smaller."""
    loss, y = Softmax(), np.zeros(4, dtype=np.int32)
    margins = np.array([3.0, 20.0, 40.0, 300.0])
    z = np.column_stack([margins, np.zeros((4, 3))]) + 5.0
    np.testing.assert_allclose(loss.value(y, z), np.log1p(3 * np.exp(-margins)), rtol=1e-13)
    u = loss.derivative(y, z)
    assert np.all(u[:, 0] == -u[:, 1:].sum(axis=1))
    residual = loss.value(y, z) + loss.conjugate(y, u) - (u * z).sum(axis=1)
    assert np.all(np.abs(residual) <= 1e-13 * np.abs(u * z).sum(axis=1))


@pytest.mark.parametrize("penalty", [L2(1.0), L1(2.0), ElasticNet(1.0, 1.0)], ids=str)
@pytest.mark.parametrize("loss", [Squared(), Absolute(), EpsilonInsensitive()], ids=str)
@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_a_bound_that_is_charged_for_rounding_is_below_the_optimum(loss, penalty, scale):
    """From whatever point it comes."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60, 4)) * [scale, 1.0, 1.0, 1 / scale]
    y = X @ (np.array([1.0, -1.0, 0.5, 0.2]) / [scale, 1.0, 1.0, 1 / scale]) + rng.normal(size=60)
    problem = Problem.of_rows(checked_rows(X, 1), y[:, None], np.ones(60), loss, penalty, Intercept.FREE, 1)
    best = minimise(problem, plan(problem).solvers, tol=1e-10)
    n_known = 0
    for noise in (0.0, 1e-15, 1e-9, 1e-3, 1.0):
        U = best.U + noise * rng.normal(size=best.U.shape)
        U -= U.mean(axis=0)
        bound = bound_within_rounding(problem, U, best.W, best.b)
        if bound is not None:
            n_known += 1
            assert bound.dual <= best.certificate.primal * (1 + 1e-14)
    assert n_known > 0


def test_a_bound_above_a_later_objective_is_void():
    """It was charged for rounding by weights that were far from the optimal ones."""
    W, b, U = np.zeros((1, 1)), np.zeros(1), np.zeros((1, 1))
    best = Best(W, b)
    best.take(Proof(2.0, Bound(U, None, 1.5), W, b))
    best.take(Proof(1.0, Bound(U, None, 0.9), W, b))
    assert (best.primal, best.dual) == (1.0, 0.9)
    best.take(Proof(1.0 - 1e-12, Bound(U, None, 1.0), W, b))  # rounding refutes nothing
    assert best.dual == 1.0


@pytest.mark.parametrize("n_classes", [2, 6])
def test_without_a_penalty_newton_comes_first_where_its_system_is_small(n_classes):
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(3000, 200)), rng.integers(0, n_classes, 3000)
    model = LinearClassifier(Log(), NoPenalty()).fit(X, y)
    assert model.certificate_.converged
    assert model.plan_.solvers[0].name == "newton"
