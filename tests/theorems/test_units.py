"""Columns in any units, from 1e-8 to 1e8 side by side: no scaler is needed to reach a certificate."""

import numpy as np
import pytest
import scipy.sparse as sp

import lineal
from lineal.data import checked_rows
from lineal.objective import L1, L2, Absolute, ElasticNet, Hinge, Huber, Log, NoPenalty, Squared, SquaredHinge
from lineal.objective.problem import Intercept, Problem
from lineal.solvers import closed_form
from lineal.solvers.planner import plan
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


def _silent_column(name, rng):
    """Columns of which one says nothing that the others and the intercept do not say."""
    Z = rng.normal(size=(60, 3))
    celsius = rng.normal(20, 5, size=60)
    return {
        "constant": np.c_[Z, np.full(60, 0.1)],
        "large constant beside many columns": np.c_[rng.normal(size=(60, 80)), np.full(60, 1e6)],
        "sum with an offset": np.c_[Z, Z @ [0.1, 0.2, 0.3] + 1000],
        "another origin": np.c_[celsius, celsius + 273.15],
        "one of each group": np.eye(5)[rng.integers(0, 5, 60)],
    }[name]


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("is_small", [True, False], ids=["few", "many"])
@pytest.mark.parametrize(
    "name",
    [
        "constant",
        "large constant beside many columns",
        "sum with an offset",
        "another origin",
        "one of each group",
    ],
)
def test_least_squares_with_silent_columns_has_least_norm(name, is_small, layout, monkeypatch):
    """The shortest of all minimisers, by columns and by their products; weights are repeated rows."""
    if not is_small:
        monkeypatch.setattr(closed_form, "_SMALL", 0)
    rng = np.random.default_rng(3)
    X = _silent_column(name, rng)
    y = X[:, 0] / np.abs(X[:, 0]).max() + rng.normal(size=60)
    s = rng.integers(1, 4, 60)
    centred = np.repeat(X - np.average(X, axis=0, weights=s), s, axis=0)
    target = np.repeat(y - np.average(y, weights=s), s)
    # 1e-9 is far above rounding, which offsets of 1000 make 1e-13, and below what these columns say.
    wanted = np.linalg.pinv(centred, rcond=1e-9) @ target
    weighted = lineal.LinearRegression().fit(layout(X), y, sample_weight=s)
    repeated = lineal.LinearRegression().fit(layout(np.repeat(X, s, axis=0)), np.repeat(y, s))
    # Products of sparse columns with an offset of 1000 keep 16 - 2 * 3 digits.
    for model in (weighted, repeated):
        np.testing.assert_allclose(model.coef_, wanted, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(
            model.intercept_, np.average(y - X @ wanted, weights=s), rtol=1e-7, atol=1e-6
        )


def test_an_offset_does_not_make_a_column_constant():
    """Seconds since 1970 that differ by one: seven digits are left of them, and used."""
    rng = np.random.default_rng(0)
    seconds = rng.normal(size=80)
    y = seconds + 0.1 * rng.normal(size=80)
    model = lineal.LinearRegressor(penalty=NoPenalty()).fit(np.c_[1.7e9 + seconds], y)
    np.testing.assert_allclose(model.coef_, np.polyfit(seconds, y, 1)[:1], rtol=1e-5)


@pytest.mark.parametrize("penalty", [NoPenalty(), L2(1.0)], ids=named)
def test_least_squares_is_factorised_where_that_is_less_work(penalty):
    """Dense columns past a thousand still are; as many sparse ones with hardly a number in them are not."""

    def chosen(X):
        rows = checked_rows(X, 1)
        y, s = np.ones((rows.n_rows, 1)), np.ones(rows.n_rows)
        return plan(Problem.of_rows(rows, y, s, Squared(), penalty, Intercept.FREE, 1)).solvers[0].name

    assert chosen(np.ones((1500, 1100))) == "closed_form"
    assert chosen(sp.eye_array(4000, format="csr")) != "closed_form"
