"""The gradient check of the course: |Gnum - Gimp| / |Gnum + Gimp| <= 1e-6 at epsilon = 1e-4."""

import numpy as np
import pytest

from lineal.objective.joint import Softmax
from lineal.objective.losses import Log
from lineal.objective.penalties import L1, L2, ElasticNet, Lp, NoPenalty
from lineal.objective.problem import Intercept
from lineal.solvers.primal import Objective
from strategies import grid, joint_losses, kinds_of, losses, named, sample, small, stated

EPSILON = 1e-4
CASES = grid([*losses(), *joint_losses()], [L2(0.7)], (Intercept.FREE,))
CASES += grid(
    [Log(), Softmax()], [L2(0.7), L1(0.8), ElasticNet(0.5, 0.5), Lp(0.7, 1.5), Lp(0.7, 3.0), NoPenalty()]
)


def away_from_kinks(problem, objective, theta):
    """Whether no score crosses a kink while one weight moves by epsilon."""
    Z = objective.scores(theta)
    reach = 2 * EPSILON * (1 + np.abs(problem.X.dense).max())
    if problem.losses.loss.is_joint:
        moves = [
            objective.problem.losses.slopes(Z + shift)
            for shift in reach * np.random.default_rng(0).normal(size=(20, *Z.shape))
        ]
        return problem.losses.loss.is_smooth or all(
            np.array_equal(move, problem.losses.slopes(Z)) for move in moves
        )
    return all(np.abs(Z - place).min() > reach for place, _, _ in problem.losses.loss.kinks(problem.losses.y))


@pytest.mark.parametrize(("loss", "penalty", "intercept"), CASES, ids=map(named, CASES))
def test_gradients_pass_the_check(loss, penalty, intercept):
    """The gradient that solvers use is the slope of the objective they report."""
    for kind in kinds_of(loss):
        problem = small(loss, penalty, intercept, kind, n=20, d=3)
        objective, rng = Objective(problem), np.random.default_rng(4)
        size = (3 + (intercept is not Intercept.NONE)) * problem.n_outputs
        theta = next(t for t in rng.normal(size=(200, size)) if away_from_kinks(problem, objective, t))
        implemented = objective.point(theta).gradient
        numerical = np.empty(size)
        for j, e in enumerate(EPSILON * np.eye(size)):
            above, below = (objective.value(t, objective.scores(t)) for t in (theta + e, theta - e))
            numerical[j] = (above - below) / (2 * EPSILON)
        ratio = np.linalg.norm(numerical - implemented) / np.linalg.norm(numerical + implemented)
        # A bend inside the step (no third derivative) adds its curvature times epsilon to one term.
        assert ratio <= (1e-6 if loss.curvature is None or not loss.is_rounded else 1e-5)


@pytest.mark.parametrize("K", [2, 5])
def test_softmax_gradient_is_the_decks(K):
    """grad_k = -sum_n (delta_k(t_n) - p(C_k | x_n)) x_n + alpha w_k (times N, for the deck's mean)."""
    rng = np.random.default_rng(0)
    X, t, W, alpha = rng.normal(size=(30, 3)), np.arange(30) % K, rng.normal(size=(3, K)), 0.7
    objective = Objective(stated(X, t, Softmax(), L2(alpha), Intercept.NONE))
    scores = X @ W
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    expected = alpha * W
    for n in range(30):
        for k in range(K):
            expected[:, k] -= (float(k == t[n]) - p[n, k]) * X[n]
    np.testing.assert_allclose(objective.point(W.ravel()).gradient.reshape(3, K), expected, atol=1e-12)


def test_logistic_gradient_is_the_decks():
    """grad E = sum_n (h_n - t_n) x_n + alpha w, h = sigma(w.x), t in {0, 1}."""
    X, t = sample("binary", 2, n=30, d=3)
    w, alpha = np.array([0.5, -1.0, 2.0]), 0.7
    h = 1 / (1 + np.exp(-X @ w))
    objective = Objective(stated(X, t, Log(), L2(alpha), Intercept.NONE))
    np.testing.assert_allclose(objective.point(w).gradient, X.T @ (h - t) + alpha * w, atol=1e-12)
