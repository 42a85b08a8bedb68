"""L-BFGS under penalties with an L1 part: the published steps, and the optimum of coordinate descent."""

from itertools import islice

import numpy as np
import pytest

from lineal.objective.joint import CrammerSinger, Softmax
from lineal.objective.losses import Hinge, Huber, Log, Squared, SquaredHinge
from lineal.objective.penalties import L1, ElasticNet
from lineal.objective.problem import Intercept
from lineal.solvers import LBFGS, ProxCD, minimise, plan
from reference.orthants import owlqn
from strategies import grid, kinds_of, named, small, stated

PENALTIES = [L1(1.0), L1(8.0), ElasticNet(0.5, 0.5), ElasticNet(6.0, 2.0)]
CASES = grid([Log(), SquaredHinge(), Huber(), Squared(), Softmax()], PENALTIES)


@pytest.mark.parametrize("loss", [Log(), SquaredHinge(), Huber(), Squared()], ids=named)
@pytest.mark.parametrize(("l1", "l2"), [(1.0, 0.0), (8.0, 0.0), (4.0, 0.5)])
def test_steps_are_the_published_ones(loss, l1, l2):
    """As long as the memory holds all steps, two loops over vectors and a matrix recursion are one."""
    problem = small(loss, ElasticNet(l1, l2) if l2 else L1(l1), Intercept.NONE)
    path = owlqn(problem, l1, l2, 6)
    found = islice(LBFGS().iterates(problem, None, 0.0, 0), 1, 7)
    for literal, iterate in zip(path, found, strict=True):
        np.testing.assert_allclose(iterate.weights()[0][:, 0], literal, atol=1e-9)
    assert l1 < 8.0 or (path[-1] == 0).any()


@pytest.mark.parametrize(("loss", "penalty", "intercept"), CASES, ids=map(named, CASES))
def test_orthants_and_coordinates_meet(loss, penalty, intercept):
    """Steps over orthants end at prox_cd's optimum, certified, with its zeros; rows have weights."""
    for kind in kinds_of(loss):
        problem = small(loss, penalty, intercept, kind, seed=2)
        wide, narrow = (minimise(problem, [s], tol=1e-9) for s in (LBFGS(), ProxCD()))
        assert wide.certificate.converged, wide.certificate
        assert wide.certificate.solver == "lbfgs"
        assert wide.certificate.dual <= narrow.certificate.primal * (1 + 1e-12)
        assert narrow.certificate.dual <= wide.certificate.primal * (1 + 1e-12)
        # Weights that are 0 at the optimum without doubt, with room between |v| and l1, are 0 exactly.
        l1 = penalty.strength if isinstance(penalty, L1) else penalty.l1
        V = problem.pull(problem.losses.slopes(problem.scores(narrow.W, narrow.b)))
        resting = np.abs(V) < 0.95 * l1
        assert not wide.W[resting].any()


def test_a_free_intercept_is_not_penalised():
    """Targets far from 0 under a penalty that kills all weights: b is their mean, and W is 0."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = 100.0 + X[:, 0]
    found = minimise(stated(X, y, Squared(), L1(1e4), Intercept.FREE), [LBFGS()], tol=1e-10)
    assert found.certificate.converged
    assert not found.W.any()
    assert found.b[0] == pytest.approx(y.mean(), rel=1e-9)


@pytest.mark.parametrize("penalty", PENALTIES, ids=named)
@pytest.mark.parametrize("intercept", [Intercept.NONE, Intercept.FREE], ids=named)
def test_every_step_falls_and_is_sparse(penalty, intercept):
    """P never rises along the steps, and strong penalties leave weights at 0 on the way."""
    problem = small(Log(), penalty, intercept, "classes")
    path = [(it.value, it.weights()[0].copy()) for it in islice(LBFGS().iterates(problem, None, 0, 0), 40)]
    values = np.array([value for value, _ in path])
    assert np.all(np.diff(values) <= 1e-14 * values[0])
    if problem.penalty in (L1(8.0), ElasticNet(6.0, 2.0)):
        assert (path[-1][1] == 0).any()


def test_kinks_are_smoothed_under_l1_too():
    """The hinge under L1 meets prox_cd's optimum; the joint hinge, which prox_cd refuses, is planned."""
    problem = small(Hinge(), L1(1.0), Intercept.FREE)
    wide, narrow = (minimise(problem, [s], tol=1e-4).certificate for s in (LBFGS(), ProxCD()))
    assert wide.converged
    assert max(wide.dual, narrow.dual) <= min(wide.primal, narrow.primal) * (1 + 1e-12)
    joint = small(CrammerSinger(), L1(1.0), Intercept.FREE)
    assert "prox_cd" not in [solver.name for solver in plan(joint).solvers]
    planned, orthants = (
        minimise(joint, solvers, tol=1e-2).certificate for solvers in (plan(joint).solvers, [LBFGS()])
    )
    assert planned.converged
    assert orthants.converged
    assert max(planned.dual, orthants.dual) <= min(planned.primal, orthants.primal) * (1 + 1e-12)
