"""Dual ascent over one output and many, and certificates that take the scores' word for V."""

from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp

from lineal import LinearClassifier, LinearSVC
from lineal.objective import L2, Hinge, Log, Squared, SquaredHinge
from lineal.objective.bounds import lower_bound_by_scores
from lineal.objective.dual_points import feasible
from lineal.objective.linear_maps import native_csr
from lineal.objective.problem import Intercept, Problem
from lineal.solvers import proving
from lineal.solvers.base import Start
from lineal.solvers.driver import minimise
from lineal.solvers.dual_cd import DualCD

# One group of outputs, two that are not equal, and more than registers hold.
OUTPUTS = [3, 21, 37, 130]
GROUPED = [37, 130]
LOSSES = [Hinge(), SquaredHinge(), Log(), Squared()]


def sample(K, loss=Hinge(), intercept=Intercept.NONE, seed=0, n_columns=3000):
    """Few rows with many columns, K labels: weights in float32, and rows that rest."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((120, n_columns), density=0.02, format="csr", rng=rng)
    code = np.arange(120) % K
    y = (
        np.where(code[:, None] == np.arange(K), 1.0, -1.0)
        if K > 1
        else 1.0 - 2.0 * (np.arange(120)[:, None] % 2)
    )
    s = rng.uniform(0.5, 2.0, 120)
    s[7] = 0.0
    rows = native_csr(sp.csr_array(X), 2)
    return X, code, Problem.of_rows(rows, y, s, loss, L2(0.3), intercept, K).in_core()


@pytest.mark.parametrize("K", OUTPUTS)
def test_threads_change_no_bit(K):
    """One, two and three threads give the same weights and the same certificate."""
    X, code, _ = sample(K)
    models = [
        LinearSVC(loss="hinge", C=2.0, tol=1e-4, n_threads=n, random_state=1).fit(X, code) for n in (1, 2, 3)
    ]
    for model in models[1:]:
        assert np.array_equal(model.coef_, models[0].coef_)
        assert np.array_equal(model.intercept_, models[0].intercept_)
        assert np.array_equal(model.dual_, models[0].dual_)
        assert model.certificate_.gap == models[0].certificate_.gap


@pytest.mark.parametrize("intercept", [Intercept.NONE, Intercept.PENALIZED])
@pytest.mark.parametrize("K", [1, *GROUPED])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("tol", [1e-3, 1e-9])  # many outputs: float32 and float64
def test_scores_prove_what_a_pass_over_the_data_proves(loss, K, intercept, tol):
    """The bound by scores lies below the exact D(U) of the same point, by no more than it charges."""
    _, _, problem = sample(K, loss, intercept)
    size = problem.losses.at_zero
    for count, iterate in enumerate(islice(DualCD().iterates(problem, None, tol, 0), 12)):
        W, b = iterate.weights()
        U, Z = iterate.dual(), problem.scores(W, b)
        assert W.dtype == (np.float32 if tol == 1e-3 and K > 1 else np.float64)
        quick = lower_bound_by_scores(problem, U, b, Z, problem.penalty_value(W, b), iterate.residue)
        exact = feasible(problem, U, W, b)
        # Both are sums of some thousand terms in float64.
        assert quick.dual <= exact.dual + 1e-12 * size
        assert quick.dual >= exact.dual - quick.worst_weight - 1e-12 * size
        assert quick.worst_weight >= exact.worst_weight - 1e-12 * size
        # A charge nobody could pay would be a bound too.
        assert quick.worst_weight <= (1e-6 if tol == 1e-3 else 1e-14) * size * (count + 1) ** 2


def test_a_start_is_part_of_the_count():
    """Weights rebuilt from a dual point in float32 are as near to it as the residue says."""
    _, _, problem = sample(37, SquaredHinge())
    first = minimise(problem, [DualCD()], tol=1e-2)
    start = Start(first.W.astype(np.float64), first.b, first.U + 1e-9)
    for iterate in islice(DualCD().iterates(problem, start, 1e-3, 0), 3):
        W, _ = iterate.weights()
        SU = problem.losses.weighted(iterate.dual())
        assert np.linalg.norm(problem.X.adjoint(SU) + 0.3 * W) <= iterate.residue


def test_points_that_need_repair_are_left_to_the_pass():
    """A free intercept, or a U outside its domain, has no bound by scores."""
    _, _, free = sample(37, intercept=Intercept.FREE)
    _, _, none = sample(37)
    for problem, U in [(free, np.zeros((120, 37))), (none, np.ones((120, 37)))]:
        Z = np.zeros((120, 37))
        assert lower_bound_by_scores(problem, U, np.zeros(37), Z, 0.0, 0.0) is None


def test_a_residue_that_is_too_dear_is_not_paid(monkeypatch):
    """Where the residue would be a tenth of the gap, V is built: the certificate is then as tight as ever."""
    _, _, problem = sample(37, SquaredHinge())
    quick = minimise(problem, [DualCD()], tol=1e-4, seed=3).certificate
    monkeypatch.setattr(proving, "_CHARGE", -1.0)
    slow = minimise(problem, [DualCD()], tol=1e-4, seed=3).certificate
    assert quick.primal == slow.primal
    assert slow.dual - 0.1 * quick.gap <= quick.dual <= slow.dual + 1e-12 * slow.primal
    assert quick.kkt_violation >= slow.kkt_violation
    assert quick.converged
    assert slow.converged


@pytest.mark.parametrize("K", OUTPUTS)
def test_every_class_is_a_problem_of_its_own(K):
    """One-vs-rest weights of many classes are those of each class alone, to the tolerance."""
    X, code, _ = sample(K)
    together = LinearClassifier(SquaredHinge(), L2(1.0), tol=1e-9, fit_intercept=False).fit(X, code)
    n_classes = len(together.classes_)  # not more than rows
    for k in {0, n_classes // 2, n_classes - 1}:
        alone = LinearClassifier(SquaredHinge(), L2(1.0), tol=1e-9, fit_intercept=False).fit(X, code == k)
        # A gap g bounds strength/2 |w - w*|^2; both gaps are below 1e-9 of P(0).
        assert np.linalg.norm(together.coef_[k] - alone.coef_[0]) <= 2 * np.sqrt(2e-9 * 120 * K)
