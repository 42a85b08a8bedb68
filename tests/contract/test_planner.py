"""The planner: the cheapest solver that suits comes first, and before it one that is sure to end soon."""

import numpy as np
import pytest
import scipy.sparse as sp

import lineal
from lineal.data import checked_rows
from lineal.objective import L1, L2, Absolute, Hinge, Log, NoPenalty, Squared, SquaredHinge
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.costs import Cost
from lineal.solvers.driver import minimise
from lineal.solvers.dual_cd import DualCD
from lineal.solvers.planner import candidates, plan

LOSSES = (Hinge(), SquaredHinge(), Log(), Absolute(), Squared())
PENALTIES = (L2(1e-3), L2(1.0), L2(1e3), L1(1.0), NoPenalty())
SHAPES = ((30, 4), (400, 60), (60, 400), (900, 800), (3000, 20))


def problem(n, d, loss=None, penalty=None, *, scale=1.0, is_sparse=False):
    """Rows of a shape, dense or a tenth full."""
    rng = np.random.default_rng(n + d)
    X = scale * rng.normal(size=(n, d))
    if is_sparse:
        X = sp.csr_array(np.where(rng.random((n, d)) < 0.1, X, 0.0))
    y = np.where(rng.normal(size=n) > 0, 1.0, -1.0)[:, None]
    return Problem.of_rows(
        checked_rows(X, 1), y, np.ones(n), loss or Hinge(), penalty or L2(1.0), Intercept.FREE, 1
    )


def test_a_cost_is_told_in_words():
    """An epoch, a usual run and, where it is known, what is enough."""
    assert str(Cost.of_epochs(2e-3, 10)) == "2 ms an epoch, some 20 ms in all"
    assert str(Cost.of_epochs(2e-6, 10, 100)) == "2 us an epoch, some 20 us in all, at most 200 us"


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_the_first_solver_is_the_cheapest_of_those_that_suit(loss, penalty):
    """Unless another is sure to end within 20 ms; a run that nobody can bound counts three times."""
    for n, d in SHAPES:
        posed = problem(n, d, loss, penalty)
        chosen = plan(posed)
        costs = [each.cost(posed) for each in candidates(posed) if each.refusal(posed) is None]
        first = chosen.costs[0]
        assert first.epoch > 0
        assert first.expected >= first.epoch or first.total is not None
        sure = [cost for cost in costs if cost.total is not None and cost.total <= 0.02]
        if sure:
            assert first.total is not None
            assert first.expected == min(cost.expected for cost in sure)
        else:
            priced = [cost.expected * (1 if cost.total is not None else 3) for cost in costs]
            assert first.expected * (1 if first.total is not None else 3) == min(priced)


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), Log()], ids=str)
def test_a_strong_penalty_makes_dual_ascent_cheaper(loss, is_sparse):
    """Its epochs grow with the mean square of a column beside the strength, whatever the units."""

    def cost(strength, scale=1.0):
        return DualCD().cost(problem(600, 20, loss, L2(strength), scale=scale, is_sparse=is_sparse)).expected

    assert cost(1e-2) > cost(1.0) > cost(1e2) > 0
    assert np.isclose(cost(1.0, scale=10.0), cost(1e-2), rtol=1e-9)


def test_work_grows_with_the_data():
    """More rows, columns or stored numbers never make a prediction cheaper."""
    for loss in LOSSES:
        for each in candidates(problem(50, 20, loss)):
            small, tall, wide = (
                each.cost(problem(n, d, loss)).epoch for n, d in ((50, 20), (500, 20), (50, 200))
            )
            assert tall > small
            assert wide > small


@pytest.mark.parametrize("penalty", [L2(1e-4), L2(1.0), L1(1.0), NoPenalty()], ids=str)
def test_every_plan_ends_where_the_others_do(penalty):
    """Whatever the shape chooses, the certified objective is that of each single solver which certifies."""
    for n, d in ((40, 5), (200, 30)):
        posed = problem(n, d, Hinge(), penalty)
        found = minimise(posed, plan(posed).solvers, tol=1e-6).certificate
        assert found.converged
        for name in ("interior", "newton", "dual_cd", "prox_cd", "lbfgs"):
            try:
                alone = plan(posed, name)
            except ValueError:
                continue
            other = minimise(posed, alone.solvers, tol=1e-6).certificate
            if other.converged:
                # Each is at most 1e-6 above the optimum.
                np.testing.assert_allclose(found.primal, other.primal, rtol=2.1e-6)


def test_a_reason_names_what_the_problem_has():
    """Pairs of a ranking, a joint hinge, few columns and many are each told as what they are."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 3
    ranking = lineal.RankSVM().fit(X, y, groups=np.repeat(np.arange(6), 10))
    assert "pairs of a ranking" in ranking.plan_.reason
    joint = lineal.LinearClassifier(loss=Hinge(), penalty=L2(1.0)).fit(X, y)
    assert joint.plan_.reason.startswith("a joint hinge")
    assert plan(problem(400, 20, Log())).reason.startswith("few columns")
    assert plan(problem(60, 400, Log())).reason.startswith("few rows")
    assert plan(problem(60, 700, Log())).reason.startswith("many columns")
