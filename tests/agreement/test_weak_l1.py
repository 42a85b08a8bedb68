"""L1 and elastic net where they are hard: weak penalties, collinear columns, many columns."""

import warnings
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import ElasticNet as TheirElasticNet
from sklearn.linear_model import Lasso as TheirLasso

from lineal import _core
from lineal.objective.dual_points import feasible
from lineal.objective.joint import Softmax
from lineal.objective.linear_maps import NumpyRows
from lineal.objective.losses import Log, Squared, SquaredHinge
from lineal.objective.penalties import L1, ElasticNet
from lineal.objective.problem import Intercept
from lineal.solvers import quadratic_models
from lineal.solvers.driver import Budget, minimise
from lineal.solvers.prox_cd import ProxCD
from strategies import named, stated

NONE, FREE, PENALIZED = Intercept.NONE, Intercept.FREE, Intercept.PENALIZED
every_intercept = pytest.mark.parametrize("intercept", list(Intercept), ids=lambda each: each.value)


def collinear(seed, n=60, d=240):
    """Columns that are a dozen directions and a little noise, so that d > n and G is nearly singular."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 12)) @ rng.normal(size=(12, d)) + 0.1 * rng.normal(size=(n, d))
    return X, X[:, :8] @ rng.normal(size=8) + 0.1 * rng.normal(size=n)


def sparse_classes(seed, n_classes, n=300, d=200, density=0.1):
    """A random sparse matrix whose classes a weak penalty can almost separate."""
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, density, format="csr", random_state=seed, data_rvs=rng.standard_normal)
    return X, np.argmax(X @ rng.normal(size=(d, n_classes)) + rng.normal(size=(n, n_classes)), axis=1)


def objective(X, y, model, l1, l2):
    residue = y - X @ model.coef_ - model.intercept_
    return residue @ residue / 2 + l1 * np.abs(model.coef_).sum() + l2 / 2 * model.coef_ @ model.coef_


@every_intercept
@pytest.mark.parametrize("share", [1.0, 0.5, 0.1])
def test_a_weak_penalty_on_collinear_columns_is_proved_in_a_few_rounds(intercept, share):
    """Coordinate descent alone creeps here; the active set makes it exact, and no peer is below the bound."""
    X, y = collinear(1)
    l1, l2 = 1e-4 * len(y) * share, 1e-4 * len(y) * (1 - share)
    problem = stated(X, y, Squared(), ElasticNet(l1, l2) if l2 else L1(l1), intercept)
    solution = minimise(problem, [ProxCD()], tol=1e-9, budget=Budget(max_epochs=15))
    assert solution.certificate.converged, solution.certificate
    if share == 1.0:
        assert np.count_nonzero(solution.W) <= len(y)
    if intercept is PENALIZED:
        return
    kind = TheirElasticNet(alpha=1e-4, l1_ratio=share) if l2 else TheirLasso(alpha=1e-4)
    kind.set_params(fit_intercept=intercept is FREE, max_iter=200, tol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they do not converge here, which is their own affair
        theirs = objective(X, y, kind.fit(X, y), l1, l2)
    assert solution.certificate.primal <= theirs * (1 + 1e-9)


@pytest.mark.parametrize("intercept", [NONE, FREE], ids=lambda each: each.value)
@pytest.mark.parametrize(
    ("loss", "penalty", "n_classes"),
    [
        (SquaredHinge(), L1(0.01), 2),
        (SquaredHinge(), L1(0.01), 4),
        (SquaredHinge(), ElasticNet(0.01, 0.01), 5),
        (Log(), L1(0.01), 2),
        (Softmax(), L1(0.01), 4),
        (Softmax(), ElasticNet(0.01, 0.01), 5),
    ],
    ids=named,
)
def test_weak_penalties_on_sparse_classes_are_proved(loss, penalty, n_classes, intercept):
    """Losses that are flat for most rows leave the model little curvature; the fit must not stall on it."""
    X, y = sparse_classes(0, n_classes, n=150, d=100)
    problem = stated(X, y, loss, penalty, intercept)
    solution = minimise(problem, [ProxCD()], tol=1e-4, budget=Budget(max_epochs=150))
    assert solution.certificate.converged, solution.certificate


@every_intercept
@pytest.mark.parametrize("penalty", [L1(0.5), ElasticNet(0.3, 0.3)], ids=named)
@pytest.mark.parametrize("loss", [Log(), SquaredHinge()], ids=named)
def test_the_bound_of_a_round_is_what_numpy_computes(loss, penalty, intercept):
    """An iterate's own bound is D at its dual point, and below the optimum, whatever the round."""
    X, y = sparse_classes(2, 2, n=200, d=900)
    problem = stated(X, y, loss, penalty, intercept)
    independent = replace(problem, X=NumpyRows(X))
    best = minimise(problem, [ProxCD()], tol=1e-7).certificate
    assert best.converged
    for iterate in islice(ProxCD().iterates(problem, None, 1e-7, 0), 6):
        W, b = iterate.weights()
        again = feasible(independent, iterate.bound.U, W, b).dual
        # Sums of a few hundred terms in another order.
        assert iterate.bound.dual == pytest.approx(again, rel=1e-10, abs=1e-10)
        assert iterate.bound.dual <= best.primal * (1 + 1e-12)
        assert best.dual <= independent.primal(W, b) * (1 + 1e-12)


@pytest.mark.parametrize("loss", [Log(), SquaredHinge(), Softmax()], ids=named)
def test_working_sets_have_the_same_bits_for_any_number_of_threads(loss):
    """Columns are taken, multiplied and summed by threads; who does it leaves no trace."""
    X, y = sparse_classes(4, 3, n=300, d=1500)
    solutions = [
        minimise(stated(X, y, loss, L1(0.2), n_threads=k), [ProxCD()], tol=1e-6, budget=Budget(max_epochs=4))
        for k in (1, 2, 3)
    ]
    for other in solutions[1:]:
        assert other.W.tobytes() == solutions[0].W.tobytes()
        assert other.b.tobytes() == solutions[0].b.tobytes()
        assert other.certificate.dual == solutions[0].certificate.dual


@every_intercept
@pytest.mark.parametrize("penalty", [L1(0.3), ElasticNet(0.2, 0.1)], ids=str)
@pytest.mark.parametrize("limit", ["GRAM_LIMIT", "_GRAM_FILL"])
def test_columns_and_gram_matrices_meet(limit, penalty, intercept, monkeypatch):
    """A working set too wide or too full for a Gram matrix is solved on its columns, to the same optimum."""
    X, y = sparse_classes(6, 2)
    problem = stated(X, y, Log(), penalty, intercept)
    by_gram = minimise(problem, [ProxCD()], tol=1e-9)
    monkeypatch.setattr(quadratic_models, limit, 5)
    monkeypatch.setattr(_core, "gram_cd", None)  # not to be called
    by_columns = minimise(problem, [ProxCD()], tol=1e-9)
    assert by_columns.certificate.converged
    assert by_columns.certificate.primal == pytest.approx(by_gram.certificate.primal, rel=1e-9)
