"""Other people's solvers, in their dialects: lam = 1/C, lam = alpha, lam = alpha sum_i s_i."""

import numpy as np
import pytest
from sklearn import linear_model, svm

from lineal.objective.joint import CrammerSinger, Softmax
from lineal.objective.losses import (
    EpsilonInsensitive,
    Hinge,
    Log,
    Quantile,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from lineal.objective.penalties import L1, L2, ElasticNet, NoPenalty
from lineal.objective.problem import Intercept
from lineal.solvers.driver import Budget, minimise
from lineal.solvers.planner import plan
from strategies import sample, stated

FREE, NONE, PENALIZED = Intercept.FREE, Intercept.NONE, Intercept.PENALIZED
S = np.random.default_rng(0).choice([0.5, 1.0, 2.0], 60)
constant = pytest.mark.parametrize("intercept", [FREE, NONE])


def ours(X, y, loss, penalty, intercept, s=None, tol=1e-9):
    problem = stated(X, y, loss, penalty, intercept, s)
    solution = minimise(problem, plan(problem).solvers, tol=tol, budget=Budget(max_seconds=5))
    assert solution.certificate.converged, solution.certificate
    return problem, solution


def assert_same(problem, solution, coef, intercept, rtol=1e-7, atol=1e-3):
    """Their objective, in our words, is our optimum; so are the weights, where the optimum is unique."""
    W = np.atleast_2d(coef).T
    b = np.broadcast_to(np.asarray(intercept, dtype=float), (W.shape[1],)).copy()
    theirs = problem.primal(np.ascontiguousarray(W), b)
    assert solution.certificate.dual <= theirs * (1 + 1e-12)
    assert theirs == pytest.approx(solution.certificate.primal, rel=rtol)
    np.testing.assert_allclose(solution.W, W, atol=atol)


@constant
@pytest.mark.parametrize("C", [0.1, 3.0])
def test_binary_logistic_regression(C, intercept):
    """C = 1 / lam."""
    X, y = sample("binary", 1)
    them = linear_model.LogisticRegression(C=C, fit_intercept=intercept is FREE, tol=1e-9, max_iter=2000).fit(
        X, y, S
    )
    assert_same(*ours(X, y, Log(), L2(1 / C), intercept, S), them.coef_, them.intercept_)


@constant
def test_softmax_regression(intercept):
    """The joint objective over five classes, C = 1 / lam."""
    X, y = sample("classes", 1)
    them = linear_model.LogisticRegression(
        C=0.5, fit_intercept=intercept is FREE, tol=1e-9, max_iter=5000
    ).fit(X, y, S)
    assert_same(*ours(X, y, Softmax(), L2(2.0), intercept, S), them.coef_, them.intercept_)


def test_logistic_regression_without_a_penalty():
    """C = inf."""
    X, y = sample("binary", 1)
    them = linear_model.LogisticRegression(C=np.inf, tol=1e-10, max_iter=5000).fit(X, y, S)
    assert_same(*ours(X, y, Log(), NoPenalty(), FREE, S), them.coef_, them.intercept_)


@constant
def test_ridge(intercept):
    """alpha = lam, because Squared carries the half."""
    X, y = sample("regression", 1)
    them = linear_model.Ridge(alpha=3.0, fit_intercept=intercept is FREE).fit(X, y, S)
    assert_same(*ours(X, y, Squared(), L2(3.0), intercept, S), them.coef_, them.intercept_, 1e-12, 1e-9)


def test_least_squares():
    """No penalty, weighted."""
    X, y = sample("regression", 1)
    them = linear_model.LinearRegression().fit(X, y, S)
    assert_same(*ours(X, y, Squared(), NoPenalty(), FREE, S), them.coef_, them.intercept_, 1e-12, 1e-9)


@constant
@pytest.mark.parametrize("alpha", [0.05, 0.5])
def test_lasso(alpha, intercept):
    """lam = alpha sum_i s_i."""
    X, y = sample("regression", 1)
    them = linear_model.Lasso(alpha=alpha, fit_intercept=intercept is FREE, tol=1e-12, max_iter=100_000)
    them.fit(X, y, sample_weight=S)
    assert_same(*ours(X, y, Squared(), L1(alpha * S.sum()), intercept, S), them.coef_, them.intercept_)


@constant
@pytest.mark.parametrize("ratio", [0.2, 0.8])
def test_elastic_net(ratio, intercept):
    """l1 = alpha r sum s, l2 = alpha (1 - r) sum s."""
    X, y = sample("regression", 1)
    them = linear_model.ElasticNet(alpha=0.3, l1_ratio=ratio, fit_intercept=intercept is FREE, tol=1e-12)
    them.fit(X, y, sample_weight=S)
    penalty = ElasticNet(0.3 * ratio * S.sum(), 0.3 * (1 - ratio) * S.sum())
    assert_same(*ours(X, y, Squared(), penalty, intercept, S), them.coef_, them.intercept_)


@pytest.mark.parametrize("q", [0.2, 0.5, 0.9])
def test_quantile_regression(q):
    """lam = alpha sum_i s_i; a linear programme on their side."""
    X, y = sample("regression", 1)
    them = linear_model.QuantileRegressor(quantile=q, alpha=0.02).fit(X, y, S)
    problem, solution = ours(X, y, Quantile(q), L1(0.02 * S.sum()), FREE, S, tol=1e-4)
    assert_same(problem, solution, them.coef_, them.intercept_, rtol=2e-4, atol=0.05)


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
def test_linear_support_vectors(loss):
    """LinearSVC penalises its intercept like a weight; C = 1 / lam."""
    X, y = sample("binary", 1)
    name = "hinge" if isinstance(loss, Hinge) else "squared_hinge"
    them = svm.LinearSVC(C=0.5, loss=name, dual=True, tol=1e-9, max_iter=1_000_000, random_state=0).fit(
        X, y, S
    )
    found = ours(X, y, loss, L2(2.0), PENALIZED, S, 1e-6)
    # A gap of 1e-6 of 27 allows |w - w*| up to sqrt(2 gap / lam) = 5e-3.
    assert_same(*found, them.coef_, them.intercept_, rtol=1e-5, atol=1e-2)


def test_support_vectors_with_a_free_intercept():
    """SVC with a linear kernel leaves its intercept free."""
    X, y = sample("binary", 1)
    them = svm.SVC(kernel="linear", C=0.5, tol=1e-10).fit(X, y, S)
    assert_same(*ours(X, y, Hinge(), L2(2.0), FREE, S, 1e-7), them.coef_, them.intercept_, rtol=1e-6)


def test_crammer_singer():
    """LinearSVC's multi-class form, without an intercept."""
    X, y = sample("classes", 1)
    them = svm.LinearSVC(C=0.5, multi_class="crammer_singer", fit_intercept=False, tol=1e-9, max_iter=100_000)
    them.fit(X, y)
    problem, solution = ours(X, y, CrammerSinger(), L2(2.0), NONE, tol=1e-4)
    assert_same(problem, solution, them.coef_, 0.0, rtol=2e-4, atol=0.05)


@pytest.mark.parametrize("loss", [EpsilonInsensitive(0.2), SquaredEpsilonInsensitive(0.2)], ids=repr)
def test_support_vector_regression(loss):
    """LinearSVR, C = 1 / lam, its intercept penalised."""
    X, y = sample("regression", 1)
    name = "epsilon_insensitive" if isinstance(loss, EpsilonInsensitive) else "squared_epsilon_insensitive"
    them = svm.LinearSVR(
        epsilon=0.2, C=0.5, loss=name, dual=True, tol=1e-9, max_iter=1_000_000, random_state=0
    )
    them.fit(X, y, S)
    assert_same(*ours(X, y, loss, L2(2.0), PENALIZED, S, 1e-8), them.coef_, them.intercept_, rtol=1e-5)
