"""Dual points that do not suffer from the conditioning: two roads to them, and what they are good for."""

import numpy as np
import pytest

from lineal.objective import dual_points
from lineal.objective.dual_points import closer_point, feasible, gradient_point, newton_point
from lineal.objective.joint import CrammerSinger, Softmax
from lineal.objective.linear_maps import NumpyRows
from lineal.objective.losses import Hinge, Log
from lineal.objective.penalties import L2, ElasticNet, Lp
from lineal.objective.problem import Intercept, Problem
from lineal.solvers import GD, Newton
from lineal.solvers.driver import Budget, minimise


def collinear(loss, penalty, n_outputs=1, seed=0):
    """Two columns that agree to 1 %."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 6))
    X[:, 1] = X[:, 0] + 0.01 * rng.normal(size=80)
    y = rng.integers(0, n_outputs, 80) if loss.is_joint else np.where(rng.random((80, 1)) < 0.5, -1.0, 1.0)
    return Problem.of_rows(NumpyRows(X), y, np.ones(80), loss, penalty, Intercept.FREE, n_outputs)


# Under L1 alone the system may have no solution, and conjugate gradients leave for infinity.
@pytest.mark.parametrize("penalty", [L2(0.5), ElasticNet(0.3, 0.3), Lp(0.5, 3.0)], ids=str)
@pytest.mark.parametrize("loss", [Softmax(), CrammerSinger().smoothed(0.5)], ids=str)
def test_joint_points_by_two_roads(loss, penalty, monkeypatch):
    """The direct Newton point of a joint loss is the one by conjugate gradients."""
    problem = collinear(loss, penalty, n_outputs=3)
    rng = np.random.default_rng(1)
    W, b = 0.1 * rng.normal(size=(6, 3)) * (rng.random((6, 3)) < 0.7), 0.1 * rng.normal(size=3)
    Z = problem.scores(W, b)
    direct = newton_point(problem, W, b, Z)
    monkeypatch.setattr(dual_points, "_CLOSER_LIMIT", 0)
    # Conjugate gradients stop at 1e-8 of the right side, times the condition number.
    np.testing.assert_allclose(direct, newton_point(problem, W, b, Z), atol=1e-4)


def test_a_closer_point_sees_through_collinear_columns():
    """Weights good to 1e-4 are proved good to 1e-3 by the point ahead, not by their slopes."""
    problem = collinear(Log(), L2(1e-3))
    best = minimise(problem, [Newton()], tol=1e-9)
    W = best.W.copy()
    W[0], W[1] = W[0] + 0.3, W[1] - 0.25
    Z = problem.scores(W, best.b)
    primal = problem.primal(W, best.b, Z)
    assert primal - best.certificate.primal <= 5e-3 * primal
    ahead = closer_point(problem, W, best.b, Z)
    assert problem.relative_gap(primal, feasible(problem, ahead, W, best.b).dual) <= 1e-2
    assert problem.relative_gap(primal, feasible(problem, gradient_point(problem, Z), W, best.b).dual) > 0.1


@pytest.mark.parametrize("loss", [Log(), Hinge()], ids=str)
def test_first_order_solvers_certify_collinear_columns(loss):
    """A weak penalty and collinear columns: the weights are soon good, and the certificate says so."""
    solution = minimise(collinear(loss, L2(1e-3)), [GD()], tol=1e-2, budget=Budget(max_epochs=3000))
    assert solution.certificate.converged
