"""Machines whose rows share slacks: pairs, interior points and a general solver find the same optimum."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineal.solvers.group_interior import interior_point
from lineal.solvers.group_smo import Groups, best_intercept, feasible, solve
from reference.hinge_groups import group_dual


def problem(seed, n_groups=10, largest=4, rank=3):
    """A kernel matrix of low rank, groups of one sign each, and costs."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, largest + 1, size=n_groups)
    sign = np.where(np.arange(n_groups) % 2 == 0, 1.0, -1.0)
    first = np.cumsum([0, *sizes[:-1]])
    X = rng.normal(size=(sizes.sum(), rank)) + 0.7 * np.repeat(sign, sizes)[:, None]
    return X @ X.T, Groups(first, sign, rng.uniform(0.2, 4.0, size=n_groups), int(sizes.sum()))


def parts(groups):
    return groups.spread(groups.sign), groups.spread(np.arange(len(groups.first)))


@pytest.mark.parametrize("seed", range(12))
def test_pairs_find_the_optimum_of_a_general_solver(seed):
    """The dual of pairs meets that of SLSQP, to which ftol = 1e-13 leaves about 1e-8."""
    K, groups = problem(seed)
    found = solve(K, groups, tol=1e-10)
    _, value = group_dual(K, *parts(groups), groups.cost)
    assert found.certificate.dual == pytest.approx(value, rel=1e-7, abs=1e-8)
    assert found.certificate.relative_gap <= 1e-10


@pytest.mark.parametrize("seed", range(6))
def test_an_interior_point_is_the_optimum_too(seed):
    """After it is made feasible, the dual of an interior point is the dual of pairs."""
    K, groups = problem(seed)
    a = feasible(interior_point(K, *parts(groups), groups.cost, tol=1e-10), groups)
    y = groups.spread(groups.sign)
    dual = a.sum() - 0.5 * (a * y) @ K @ (a * y)
    assert dual == pytest.approx(solve(K, groups, tol=1e-10).certificate.dual, rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_returned_is_feasible_and_what_is_proved_is_true(seed):
    """a is in its domain to rounding, and primal and dual are those of a and b computed anew."""
    K, groups = problem(seed, largest=6)
    found = solve(K, groups, tol=1e-6)
    y, group = parts(groups)
    assert (found.a >= 0).all()
    assert (np.bincount(group, weights=found.a) <= groups.cost * (1 + 1e-12)).all()
    assert abs(found.a @ y) <= 1e-10 * found.a.sum()
    f = K @ (found.a * y)
    worst = np.zeros(len(groups.cost))
    np.maximum.at(worst, group, 1 - y * (f + found.b))
    primal = 0.5 * (found.a * y) @ f + groups.cost @ worst
    assert found.certificate.primal == pytest.approx(primal, rel=1e-10)
    assert found.certificate.gap >= -1e-10 * primal


def test_pairs_that_creep_are_helped():
    """A nearly separable problem of low rank and high costs, where pairs alone take minutes, is solved."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(160) % 2 == 0, 1.0, -1.0)
    X = rng.normal(size=(160, 4)) + 0.3 * y[:, None]
    found = solve(X @ X.T, Groups.of_rows(y, np.full(160, 1e3)), tol=1e-6)
    assert found.certificate.converged


def test_a_start_at_the_optimum_needs_no_steps():
    """Begun from its own result, a solution comes back."""
    K, groups = problem(3)
    first = solve(K, groups, tol=1e-9)
    again = solve(K, groups, tol=1e-9, start=first.a, max_steps=1)
    assert again.certificate.dual == pytest.approx(first.certificate.dual, rel=1e-9)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.floats(-5, 5), st.booleans(), st.floats(0.01, 10)), min_size=1, max_size=12))
def test_the_best_intercept_is_best(rows):
    """No b, least of all one where a row meets its margin, has a smaller sum of slacks."""
    margins, cost = np.array([row[0] for row in rows]), np.array([row[2] for row in rows])
    sign = np.array([1.0 if row[1] else -1.0 for row in rows])

    def total(b):
        return cost @ np.maximum(0, 1 - margins - sign * b)

    b = best_intercept(margins, sign, cost)
    assert total(b) <= min(total(each) for each in sign * (1 - margins)) + 1e-9


@pytest.mark.parametrize("unit", [2.0**-400, 2.0**400])
def test_kernel_values_may_have_any_size(unit):
    """K unit and cost / unit is the same problem: a and its objective are divided by the unit."""
    K, groups = problem(4)
    other = Groups(groups.first, groups.sign, groups.cost / unit, groups.n_rows)
    found, scaled = solve(K, groups, tol=1e-9), solve(K * unit, other, tol=1e-9)
    assert np.allclose(scaled.a * unit, found.a, rtol=1e-12, atol=0)
    assert scaled.certificate.primal * unit == pytest.approx(found.certificate.primal, rel=1e-12)


def test_a_budget_of_steps_is_kept():
    """A solver that may not go on says so, with a bound that holds."""
    K, groups = problem(1)
    found = solve(K, groups, tol=1e-12, max_steps=1)
    assert not found.certificate.converged
    assert "max_steps" in found.certificate.reason
    assert found.certificate.dual <= solve(K, groups, tol=1e-10).certificate.primal
