"""Feasible dual points: every bound is a bound, whatever U it was made from."""

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from lineal.objective import intercept_refit
from lineal.objective.dual_points import (
    feasible,
    gradient_point,
    kink_point,
    newton_point,
)
from lineal.objective.joint import JointPerceptron, Softmax, one_hot
from lineal.objective.linear_maps import NumpyRows
from lineal.objective.losses import Huber, Log, Loss, SquaredHinge
from lineal.objective.penalties import L1, L2, ElasticNet, Lp, NoPenalty
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.driver import Budget, minimise
from lineal.solvers.planner import plan
from strategies import grid, joint_losses, kinds_of, losses, named, small

PENALTIES = [L2(0.7), L1(1.3), ElasticNet(0.6, 0.4), Lp(0.8, 1.5)]
every_loss = pytest.mark.parametrize("loss", [*losses(), *joint_losses()], ids=named)
EVERY = grid([*losses(), *joint_losses()], PENALTIES)
# P and D are sums of some hundred terms: 1e-12 of their size is rounding.
ROUNDING = 1e-12


def weights(problem, seed, size=1.0):
    rng = np.random.default_rng(seed)
    b = (
        np.zeros(problem.n_outputs)
        if problem.intercept is Intercept.NONE
        else rng.normal(size=problem.n_outputs)
    )
    return size * rng.normal(size=(problem.X.n_columns, problem.n_outputs)), size * b


def points(problem, seed):
    """Dual points of all sorts: wild, small, 0, the slopes at random weights, and those shifted off."""
    rng = np.random.default_rng(seed)
    shape = (problem.X.n_rows, problem.n_outputs)
    W, b = weights(problem, seed, 0.3)
    slopes = problem.losses.slopes(problem.scores(W, b))
    return [5 * rng.normal(size=shape), 0.01 * rng.normal(size=shape), np.zeros(shape), slopes,
            slopes + 0.3 * rng.normal(size=shape)]  # fmt: skip


@pytest.mark.parametrize(("loss", "penalty", "intercept"), EVERY, ids=map(named, EVERY))
def test_weak_duality_and_feasibility(loss, penalty, intercept):
    """After `feasible` any U has its D below every P, lies in the domain and meets the constraints."""
    problem = small(loss, penalty, intercept, kinds_of(loss)[-1], seed=3, n=25, d=4)
    zero = np.zeros((4, problem.n_outputs)), np.zeros(problem.n_outputs)
    primal = min(problem.primal(W, b) for W, b in [zero, *(weights(problem, k, 10.0**-k) for k in range(4))])
    for U in points(problem, 7):
        bound = feasible(problem, U, *zero)
        assert bound.dual <= primal + ROUNDING * primal
        assert np.isfinite(bound.dual)
        V = problem.pull(bound.U)
        if bound.V is None:  # under L2 its size alone is asked for
            conjugate, worst = problem.pulled(bound.U, *zero)
            extra = [problem.losses.sums(bound.U)] if intercept is Intercept.PENALIZED else []
            whole = np.vstack([V, *extra])
            assert conjugate == pytest.approx(penalty.conjugate(-whole.ravel()), rel=1e-13)
            assert worst == pytest.approx(penalty.conjugate_terms(-whole).max(), rel=1e-13)
        else:
            np.testing.assert_allclose(bound.V, V, atol=1e-12 * (1 + np.abs(V).max()))
        if loss.is_joint:
            p = bound.U + one_hot(problem.losses.y, problem.n_outputs)
            assert p.min() >= -1e-15
            np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-13)
        else:
            low, high = loss.domain(problem.losses.y)
            assert np.all((low <= bound.U) & (high >= bound.U))
        if intercept is Intercept.FREE:
            residue = np.abs(problem.losses.s @ bound.U)
            # One rounding of a sum of 25 terms.
            assert np.all(residue <= 25 * np.finfo(float).eps * (problem.losses.s @ np.abs(bound.U) + 1))
        if isinstance(penalty, L1):
            assert np.abs(bound.V).max() <= penalty.strength * (1 + 1e-12)


@every_loss
def test_into_domain_leaves_feasible_points_alone(loss):
    """A point of the domain is its own nearest point."""
    problem = small(loss, L2(1.0), Intercept.NONE, n=25, d=4)
    U = problem.losses.slopes(problem.scores(*weights(problem, 1)))
    np.testing.assert_allclose(problem.losses.into_domain(U), U, atol=1e-15)


@pytest.mark.parametrize("kind", ["regression", "binary", "classes"])
@pytest.mark.parametrize("penalty", [L2(0.7), L1(1.3), ElasticNet(0.6, 0.4)], ids=named)
@pytest.mark.parametrize("intercept", list(Intercept), ids=named)
def test_no_bound_near_the_optimum_is_above_it(kind, penalty, intercept):
    """D <= P* even where the gap is small: the optimal U, disturbed and repaired, stays below."""
    loss = {"regression": Huber(0.5), "binary": Log(), "classes": Softmax()}[kind]
    problem = small(loss, penalty, intercept, kind)
    solution = minimise(problem, plan(problem).solvers, tol=1e-9)
    best, rng = solution.certificate.primal, np.random.default_rng(0)
    for noise in (1e-1, 1e-3, 1e-6, 1e-9):
        U = solution.U + noise * rng.normal(size=solution.U.shape)
        bound = feasible(problem, U, solution.W, solution.b)
        assert best - (10 * noise + 1e-8) * best - 100 * noise <= bound.dual <= best + ROUNDING * best


@pytest.mark.parametrize("loss", [Softmax(), SquaredHinge()], ids=["joint", "apart"])
def test_many_intercepts_are_refitted_as_few_are(loss, monkeypatch):
    """However many outputs there are, and however they are taken in turn, the slopes sum to 0 in each."""
    rng = np.random.default_rng(0)
    n, K = 600, 150
    codes = np.arange(n) % K
    y = codes if loss.is_joint else np.where(codes[:, None] == np.arange(K), 1.0, -1.0)
    rows = NumpyRows(rng.normal(size=(n, 3)))
    problem = Problem.of_rows(rows, y, np.ones(n), loss, L2(1.0), Intercept.FREE, K)
    Z = rng.normal(size=(n, K))
    usual = problem.losses.refit(Z)
    assert np.abs(usual.U.sum(axis=0)).max() <= 1e-9 * n
    monkeypatch.setattr(intercept_refit, "_BLOCK", 7 * n)
    monkeypatch.setattr(intercept_refit, "_MANY_OUTPUTS", K)
    again = problem.losses.refit(Z)
    np.testing.assert_allclose(again.shift, usual.shift, atol=1e-8)
    np.testing.assert_allclose(again.U, usual.U, atol=1e-8)


@every_loss
def test_refit_intercept_minimises_over_the_shift(loss):
    """No shift of the scores has a smaller sum of losses, and the slopes there sum to 0."""
    if loss.is_joint and not isinstance(loss, Softmax):
        pytest.skip("only softmax refits K intercepts at once; the others are left as they are")
    problem = small(loss, L2(1.0), Intercept.FREE, kinds_of(loss)[-1], seed=5)
    Z = problem.scores(*weights(problem, 2))
    refit = problem.losses.refit(Z)
    ours = problem.losses.value(Z + refit.shift)
    if loss.is_joint:
        searched = minimize(lambda shift: problem.losses.value(Z + shift), np.zeros(problem.n_outputs)).fun
    else:
        searched = 0.0
        for k in range(problem.n_outputs):
            y, z = problem.losses.y[:, k], Z[:, k]
            found = minimize_scalar(
                lambda shift, y=y, z=z: problem.losses.s @ loss.value(y, z + shift),
                bounds=(-30, 30), method="bounded", options={"xatol": 1e-10},
            )  # fmt: skip
            searched += found.fun
    assert ours <= searched + 1e-9 * (1 + searched)
    # One score: Newton stops at 1e-14 of the slopes or one float from the root. Joint: a line search compares
    # sums of losses, whose last bits hide slopes below the root of eps squared over the curvature.
    tolerance = 1e-10 if loss.is_joint else 1e-12
    assert np.all(np.abs(problem.losses.s @ refit.U) <= tolerance * (problem.losses.s @ np.abs(refit.U) + 1))


@every_loss
def test_refit_slopes_are_slopes(loss):
    """The refitted U are subgradients at the refitted scores: Fenchel and Young meet in every row."""
    problem = small(loss, L2(1.0), Intercept.FREE, kinds_of(loss)[-1], seed=6)
    Z = problem.scores(*weights(problem, 4))
    refit = problem.losses.refit(Z)
    there = Z + refit.shift
    meeting = (refit.U * there).sum(axis=1) if loss.is_joint else refit.U * there
    residual = loss.value(problem.losses.y, there) + loss.conjugate(problem.losses.y, refit.U) - meeting
    np.testing.assert_allclose(residual, 0.0, atol=1e-11)


def test_refit_survives_rows_of_weight_0_and_a_far_start():
    """Weights of 0 and scores far from any bend do not keep the intercept from its minimum."""
    for loss in losses():
        problem = small(loss, L2(1.0), Intercept.FREE, seed=8)
        problem.losses.s[::3] = 0.0
        near = problem.scores(*weights(problem, 2))
        base = problem.losses.value(near + problem.losses.refit(near).shift)
        for far in (1e3, -1e6):
            refit = problem.losses.refit(near + far)
            assert problem.losses.value(near + far + refit.shift) == pytest.approx(
                base, rel=1e-8, abs=1e-8
            ), loss


def test_gradient_point_gives_the_exact_gap_under_l2():
    """P - D(loss'(z)) = |lam w + v|^2 / (2 lam) without an intercept."""
    for loss in [*losses(), *joint_losses()]:
        problem = small(loss, L2(0.7), Intercept.NONE, kinds_of(loss)[-1])
        W, b = weights(problem, 3)
        Z = problem.scores(W, b)
        bound = feasible(problem, gradient_point(problem, Z), W, b)
        gap = ((0.7 * W + problem.pull(bound.U)) ** 2).sum() / 1.4
        primal = problem.primal(W, b)
        assert primal - bound.dual == pytest.approx(gap, rel=1e-9, abs=ROUNDING * primal), loss


@pytest.mark.parametrize("penalty", [L2(0.7), L1(1.3), ElasticNet(0.6, 0.4), NoPenalty()], ids=named)
@pytest.mark.parametrize("intercept", [Intercept.NONE, Intercept.FREE], ids=named)
@pytest.mark.parametrize("loss", [Log(), Softmax()], ids=named)
def test_newton_point_is_as_tight_as_the_weights_are_good(loss, penalty, intercept):
    """Near the optimum the certified gap is at most a few times the true suboptimality."""
    problem = small(loss, penalty, intercept, kinds_of(loss)[-1])
    solution = minimise(problem, plan(problem).solvers, tol=1e-11, budget=Budget(max_seconds=5))
    rng = np.random.default_rng(1)
    W = solution.W + 1e-3 * rng.normal(size=solution.W.shape) * (solution.W != 0)
    shift = np.zeros_like(solution.b)
    Z = problem.scores(W, solution.b)
    if intercept is Intercept.FREE:
        shift = problem.losses.refit(Z).shift
    b, Z = solution.b + shift, Z + shift
    primal = problem.primal(W, b, Z)
    bound = feasible(problem, newton_point(problem, W, b, Z), W, b)
    true = primal - solution.certificate.primal
    assert true > 1e-8 * primal  # the disturbance is well above rounding
    assert primal - bound.dual <= 3 * true


@pytest.mark.parametrize("loss", [k for k in losses() if not k.is_smooth and k.native is not None], ids=named)
@pytest.mark.parametrize("intercept", [Intercept.NONE, Intercept.FREE], ids=named)
def test_kink_point_certifies_a_loss_with_kinks_from_weights_alone(loss, intercept):
    """At good weights the slopes alone leave a wide gap; with the rows on kinks free it closes."""
    problem = small(loss, L2(0.7), intercept)
    solution = minimise(problem, plan(problem, "dual_cd").solvers, tol=1e-7, budget=Budget(max_epochs=3000))
    W, b = solution.W, solution.b
    Z = problem.scores(W, b)
    primal = problem.primal(W, b, Z)
    rough = feasible(problem, gradient_point(problem, Z), W, b).dual
    U = kink_point(problem, W, b, Z, primal, rough)
    tight = feasible(problem, U, W, b).dual
    assert tight <= primal + ROUNDING * primal
    assert primal - tight <= max(1e-2 * (primal - rough), 1e-5 * primal)


@pytest.mark.parametrize(
    "loss", [k for k in [*losses(), *joint_losses()] if k.is_smooth and not k.is_rounded], ids=named
)
def test_without_a_penalty_a_bound_needs_no_pull_at_all(loss):
    """NoPenalty: a random U proves nothing, or 0 if it shrinks to 0; the optimum's U has V = 0 and D = P*."""
    problem = small(loss, NoPenalty(), Intercept.FREE, kinds_of(loss)[-1], n=120)
    rng = np.random.default_rng(0)
    W, b = weights(problem, 1)
    assert feasible(problem, rng.normal(size=(120, problem.n_outputs)), W, b).dual in (-np.inf, 0.0)
    solution = minimise(problem, plan(problem).solvers, tol=1e-8, budget=Budget(max_seconds=5))
    assert np.abs(problem.pull(solution.U)).max() <= 1e-7 * 120
    assert solution.certificate.dual <= solution.certificate.primal * (1 + ROUNDING)
    assert solution.certificate.converged


def test_members_of_this_file_are_complete():
    """Joint perceptrons and smoothed losses are bounded too: duality asks for convexity alone."""
    kinds = {type(case[0]) for case in EVERY}
    assert JointPerceptron in kinds
    assert {type(k) for k in losses()} <= kinds
    assert all(isinstance(k, Loss) or k.is_joint for k in [*losses(), *joint_losses()])
