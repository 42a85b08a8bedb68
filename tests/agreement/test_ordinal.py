"""Two roads to one ordinal model: repeated rows, SciPy's minimiser, the binary classifier."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

import lineal
from lineal.objective import L2, Hinge, Log, Squared, SquaredHinge
from lineal.objective.linear_maps import NumpyRows, SharedRows, native_csr, native_dense
from theorems.test_ordinal import KINDS, fitted, in_a_row, objective, quiet

BUILDERS = {
    "numpy": NumpyRows,
    "dense": lambda X: native_dense(X, 1),
    "sparse": lambda X: native_csr(sp.csr_array(X), 1),
}


@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
def test_shared_rows_are_the_rows_repeated(build):
    """Every product of shared rows is that of the n (K - 1) rows (x, e_k), which are never made."""
    rng = np.random.default_rng(0)
    n, d, K = 7, 4, 3
    X, U, w, b = rng.normal(size=(n, d)), rng.normal(size=(n, K)), rng.normal(size=(d, 1)), rng.normal(size=K)
    rows, big = SharedRows(build(X), K), np.hstack([np.repeat(X, K, axis=0), np.tile(np.eye(K), (n, 1))])
    np.testing.assert_allclose(rows.dot(w) + b, (big @ np.r_[w[:, 0], b]).reshape(n, K))
    V = (big.T @ U.ravel())[:d, None]
    np.testing.assert_allclose(rows.adjoint(U), V)
    square, largest = rows.adjoint_summary(U, w, 0.3)
    np.testing.assert_allclose([square, largest], [(V * V).sum(), np.abs(V + 0.3 * w).max()])
    np.testing.assert_allclose(rows.squared_adjoint(U * U), ((big * big).T @ (U * U).ravel())[:d, None])
    blocks = rng.normal(size=(n, K, K))
    blocks = blocks @ blocks.transpose(0, 2, 1)
    whole = sum(big[i * K : i * K + K].T @ blocks[i] @ big[i * K : i * K + K] for i in range(n))
    np.testing.assert_allclose(rows.joint_gram(lambda l: blocks[:, :, l], K, True), whole)
    np.testing.assert_allclose(rows.joint_gram(lambda l: blocks[:, :, l], K, False), whole[:d, :d])
    h = rng.uniform(size=n)
    np.testing.assert_allclose(rows.gram(h, True), big.T @ (np.repeat(h, K)[:, None] * big))
    np.testing.assert_allclose(
        rows.take_columns(np.array([0, 2])).dot(w[:2]), (X[:, [0, 2]] @ w[:2]) * np.ones(K)
    )


@quiet
@pytest.mark.parametrize("loss", [Log(), SquaredHinge(), Squared()], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_scipy_finds_the_same_minimum(kind, loss):
    """A general minimiser of the objective as it is defined ends at the certified value and weights."""
    X, y, rng = in_a_row(5)
    s = rng.uniform(0.2, 2.0, size=len(y))
    model, w, thresholds = fitted(kind, loss, L2(0.5), X, y, s, tol=1e-12)

    def value(theta):
        return objective(kind, loss, L2(0.5), X, y, s, theta[:3], theta[3:])

    found = minimize(value, np.zeros(6), method="BFGS", options={"gtol": 1e-6})
    assert np.isclose(found.fun, model.certificate_.primal, rtol=1e-8)
    # BFGS with numerical slopes stops about 1e-5 from the minimiser.
    np.testing.assert_allclose(found.x, np.r_[w, thresholds], atol=1e-3)


def test_a_direct_search_does_not_get_below_the_bound_of_a_hinge():
    """Corners are out of reach of BFGS; Powell's search from the model gets nowhere below its bound."""
    X, y, _ = in_a_row(6, n=40)
    model, w, thresholds = fitted("all", Hinge(), L2(0.5), X, y, tol=1e-7)
    ones = np.ones(len(y))

    def value(theta):
        return objective("all", Hinge(), L2(0.5), X, y, ones, theta[:3], theta[3:])

    found = minimize(value, np.r_[w, thresholds], method="Powell", options={"xtol": 1e-7, "ftol": 1e-10})
    assert found.fun >= model.certificate_.dual - 1e-12 * model.certificate_.primal


@quiet
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(60, 3), (30, 200)], ids=str)
def test_the_dual_agrees_with_smoothed_hinges(kind, shape):
    """Blocks of the dual, which hinges are solved by, end at the value of newton's stages or below it."""
    X, y, rng = in_a_row(10, n=shape[0], d=shape[1])
    s = rng.integers(0, 3, size=len(y)).astype(float)
    s[:4] = 1.0
    model, *_ = fitted(kind, Hinge(0.7), L2(0.5), X, y, s, tol=1e-9)
    assert model.plan_.solvers[0].name == "smo"
    assert model.certificate_.relative_gap <= 1e-9
    assert lineal.verify(model, X, y, s).relative_gap <= 1e-8
    if shape[1] == 3:
        other, *_ = fitted(kind, Hinge(0.7), L2(0.5), X, y, s, tol=1e-6, solver="newton")
        assert model.certificate_.primal <= other.certificate_.primal + 1e-9 * other.certificate_.primal
        assert other.certificate_.dual <= model.certificate_.primal


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", [Log(), Hinge(), SquaredHinge(), Squared()], ids=str)
def test_two_classes_are_the_linear_classifier(kind, loss):
    """With two classes model, proof and answers are those of LinearClassifier, bit for bit."""
    X, y, rng = in_a_row(7, K=2)
    names, s = np.array(["no", "yes"])[y], rng.uniform(0.2, 2.0, size=len(y))
    one = lineal.OrdinalClassifier(kind, loss, L2(0.5)).fit(X, names, s)
    other = lineal.LinearClassifier(loss, L2(0.5)).fit(X, names, s)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(one.intercept_, other.intercept_)
    assert one.thresholds_.tolist() == [0.0]
    assert one.certificate_.gap == other.certificate_.gap
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    if loss == Log():
        np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


@quiet
@pytest.mark.parametrize("kind", KINDS)
def test_containers_agree(kind):
    """Sparse, dense, and frames of pandas and polars give one model; labels of any ordered kind too."""
    X, y, _ = in_a_row(8)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    names = ["none", "some", "more", "most"]
    words = np.array(names)[y]
    _, w, t = fitted(kind, Log(), L2(1.0), X, y, tol=1e-12)
    categorical = pd.Categorical(words, categories=names, ordered=True)
    for other_X, other_y, options in (
        (sp.csr_array(X), y, {}),
        (sp.coo_array(X), 10.0 * y, {}),
        (pd.DataFrame(X, columns=list("abc")), words, {"order": names}),
        (X, categorical, {}),
        (X, pd.Series(categorical), {}),
        (X, pl.Series(words, dtype=pl.Enum(names)), {}),
        (X, np.array(["2020", "2021", "2022", "2023"], dtype="datetime64[Y]")[y], {}),
    ):
        model, other_w, other_t = fitted(kind, Log(), L2(1.0), other_X, other_y, tol=1e-12, **options)
        np.testing.assert_allclose(other_w, w, atol=1e-6)
        np.testing.assert_allclose(other_t, t, atol=1e-6)
        assert len(model.classes_) == 4


@quiet
@pytest.mark.parametrize("kind", KINDS)
def test_a_weight_is_a_repetition(kind):
    """Weight 2 is the row twice, and weight 0 is no row: its class is then not known either."""
    X, y, _ = in_a_row(9)
    s = np.where(y == 1, 0.0, 1.0 + (np.arange(len(y)) % 2))
    model, w, t = fitted(kind, Log(), L2(1.0), X, y, s, tol=1e-12)
    again, other_w, other_t = fitted(
        kind, Log(), L2(1.0), np.repeat(X, s.astype(int), axis=0), np.repeat(y, s.astype(int)), tol=1e-12
    )
    np.testing.assert_allclose(other_w, w, atol=1e-6)
    np.testing.assert_allclose(other_t, t, atol=1e-6)
    assert model.classes_.tolist() == again.classes_.tolist() == [0, 2, 3]
    assert model.order_.tolist() == [0, 1, 2, 3]
    assert lineal.verify(model, X, y, s).converged
