"""Columns in any units, from 1e-8 to 1e8 side by side: no scaler is needed to reach a certificate."""

import numpy as np
import pytest
import scipy.sparse as sp

import lineal
from lineal.objective import L1, L2, Absolute, ElasticNet, Hinge, Huber, Log, NoPenalty, Squared, SquaredHinge
from strategies import named

UNITS = 10.0 ** np.linspace(-8, 8, 9)
LOSSES = [Log(), Hinge(), SquaredHinge(), Squared(), Huber(), Absolute()]
TOL = 1e-3


def data(n=400, n_classes=2, seed=0):
    """Rows in one unit for all columns, noisy labels, and targets."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, len(UNITS)))
    t = Z @ rng.normal(size=len(UNITS)) + 2 * rng.normal(size=n)
    return Z, np.digitize(t, np.quantile(t, np.arange(1, n_classes) / n_classes)), t


def fitted(X, loss, penalty, solver, n_classes=2):
    _, labels, t = data(n_classes=n_classes)
    kind, y = (lineal.LinearClassifier, labels) if loss.is_margin else (lineal.LinearRegressor, t)
    return kind(loss=loss, penalty=penalty, solver=solver, tol=TOL, max_seconds=20).fit(X, y).certificate_


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("solver", ["auto", "newton", "lbfgs", "cg"])
@pytest.mark.parametrize("loss", LOSSES, ids=named)
def test_without_a_penalty_units_do_not_change_the_optimum(loss, solver, layout):
    """w_j / unit_j gives the same scores: both proofs are of one number."""
    Z, _, _ = data()
    plain, stretched = (fitted(layout(X), loss, NoPenalty(), solver) for X in (Z, Z * UNITS))
    assert plain.converged, plain
    assert stretched.converged, stretched
    assert stretched.dual <= plain.primal * (1 + 1e-9)
    assert plain.dual <= stretched.primal * (1 + 1e-9)


@pytest.mark.parametrize("penalty", [L2(1e-6), L2(1.0), L1(1.0), ElasticNet(0.5, 0.5)], ids=repr)
@pytest.mark.parametrize("loss", LOSSES, ids=named)
def test_penalised_columns_of_any_unit_are_certified(loss, penalty):
    """The planner's choice needs no scaler under any penalty."""
    Z, _, _ = data()
    proof = fitted(Z * UNITS, loss, penalty, "auto")
    assert proof.converged, proof


@pytest.mark.parametrize("penalty", [NoPenalty(), L2(1e-6), L2(1.0), L1(1.0), ElasticNet(0.5, 0.5)], ids=repr)
def test_classes_together_in_any_unit(penalty):
    """Softmax couples all weights of all classes."""
    Z, _, _ = data(n_classes=3)
    proof = fitted(Z * UNITS, Log(), penalty, "auto", n_classes=3)
    assert proof.converged, proof


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_collinear_columns_are_told_apart_from_small_ones(layout):
    """Least squares keeps what a tiny column says, and shares equal columns evenly."""
    Z, _, t = data()
    X = np.column_stack([Z[:, 0], Z[:, 0], 1e-8 * Z[:, 1], 1e6 * Z[:, 2]])
    model = lineal.LinearRegressor(penalty=NoPenalty(), solver="closed_form").fit(layout(X), t)
    A = np.column_stack([np.ones(len(Z)), Z[:, :3]])
    wanted = np.linalg.lstsq(A, t, rcond=None)[0][1:]
    found = model.coef_.ravel() * [1, 1, 1e-8, 1e6]
    np.testing.assert_allclose(found, [wanted[0] / 2, wanted[0] / 2, wanted[1], wanted[2]], rtol=1e-6)
