"""Kernel ridge regression: its optimum, its proof, rows left out, and the roads that meet there."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge as TheirKernelRidge

from lineal import KernelRidge, Nystroem, PolynomialFeatures, Ridge
from lineal.errors import InputError, NotCertifiedWarning, ParameterError, PrecisionWarning
from lineal.kernels import FunctionKernel, Gaussian, Linear, Polynomial, Quadratic, Spectrum
from lineal.solvers import kernel_ridge

rng = np.random.default_rng(0)
X = rng.normal(size=(50, 4))
y = np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=50)
Y = np.column_stack([y, X @ [1, -1, 0, 2], rng.normal(size=50)])
S = rng.integers(0, 4, size=50).astype(float)
KERNELS = ("linear", "rbf", "poly", "laplacian")


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("targets", [y, Y], ids=["one target", "three targets"])
@pytest.mark.parametrize("weights", [None, S], ids=["alike", "weighted"])
def test_scikit_learn_agrees(kernel, targets, weights):
    """Coefficients and predictions are those of scikit-learn's class of the same name."""
    ours = KernelRidge(0.3, kernel=kernel).fit(X, targets, weights)
    theirs = TheirKernelRidge(alpha=0.3, kernel=kernel).fit(X, targets, weights)
    # Both solve a system with a condition number below 1e5.
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-9)
    np.testing.assert_allclose(ours.predict(X + 0.1), theirs.predict(X + 0.1), atol=1e-9)
    assert ours.certificate_.converged
    assert ours.jitter_ == 0


def test_a_strength_for_each_target():
    """Targets with strengths of their own are fits of their own."""
    together = KernelRidge([0.1, 3.0, 0.1], kernel="rbf", leave_one_out=True).fit(X, Y, S)
    for j, alpha in enumerate((0.1, 3.0, 0.1)):
        alone = KernelRidge(alpha, kernel="rbf", leave_one_out=True).fit(X, Y[:, j], S)
        np.testing.assert_allclose(together.dual_coef_[:, j], alone.dual_coef_, atol=1e-11)
        np.testing.assert_allclose(together.loo_predictions_[:, j], alone.loo_predictions_, atol=1e-11)
    with pytest.raises(ParameterError, match="3 targets"):
        KernelRidge([1.0, 2.0]).fit(X, Y)


def test_the_linear_kernel_is_ridge():
    """x.z gives Ridge without an intercept: predictions, objective and lower bound."""
    dual = KernelRidge(0.7).fit(X, y, S)
    primal = Ridge(0.7, fit_intercept=False, tol=1e-14).fit(X, y, S)
    np.testing.assert_allclose(dual.predict(X), primal.predict(X), atol=1e-10)
    np.testing.assert_allclose(X.T @ dual.dual_coef_, primal.coef_, atol=1e-10)
    assert dual.certificate_.primal == pytest.approx(primal.certificate_.primal, rel=1e-12)


def test_explicit_maps_are_the_same_machine():
    """Ridge on phi(x) is KernelRidge with phi(x).phi(z): monomials, and all rows as landmarks."""
    phi = PolynomialFeatures(2, homogeneous=True, weighted=True).fit_transform(X)
    explicit = Ridge(0.5, fit_intercept=False, tol=1e-14).fit(phi, y).predict(phi)
    np.testing.assert_allclose(KernelRidge(0.5, kernel=Quadratic()).fit(X, y).predict(X), explicit, atol=1e-9)
    seen = Nystroem("rbf", gamma=0.3).fit(X)
    mapped = Ridge(0.5, fit_intercept=False, tol=1e-14).fit(seen.transform(X), y)
    kernel = KernelRidge(0.5, kernel="rbf", gamma=0.3).fit(X, y)
    np.testing.assert_allclose(mapped.predict(seen.transform(X)), kernel.predict(X), atol=1e-6)


@given(st.integers(0, 10**6), st.floats(1e-3, 1e3))
def test_weak_duality(seed, strength):
    """D(b) <= P* <= P(a) for any coefficients a, b; and P(a) - D(a) is the sum of squares that is told."""
    local = np.random.default_rng(seed)
    K = Gaussian(gamma=0.5).gram(X)
    s = local.uniform(0.1, 3, size=50)
    best = np.linalg.solve(K + np.diag(strength / s), y)
    values = []
    for a in (best, best + 0.1 * local.normal(size=50), local.normal(size=50)):
        column = a[:, None]
        primal, dual, gap, worst = kernel_ridge.objective_parts(y[:, None], s, strength, column, K @ column)
        f = K @ a
        assert primal == pytest.approx(0.5 * s @ (y - f) ** 2 + 0.5 * strength * a @ f, rel=1e-12)
        assert gap == pytest.approx(primal - dual, rel=1e-6, abs=1e-9 * abs(primal))
        assert 0 <= worst <= gap
        values.append((primal, dual))
    least = values[0][0]
    for primal, dual in values:
        assert dual <= least * (1 + 1e-9) <= primal * (1 + 2e-9)


@pytest.mark.parametrize("weights", [None, S], ids=["alike", "weighted"])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_rows_left_out(weights, kernel):
    """loo_predictions_ are those of 50 fits without the row, in one."""
    options = {"kernel": kernel, "gamma": 0.25}
    found = KernelRidge(0.2, leave_one_out=True, **options).fit(X, Y, weights).loo_predictions_
    for i in range(50):
        others = np.arange(50) != i
        s = None if weights is None else weights[others]
        without = KernelRidge(0.2, **options).fit(X[others], Y[others], s)
        np.testing.assert_allclose(found[i], without.predict(X[[i]])[0], atol=1e-8)
    assert not hasattr(KernelRidge(0.2, **options).fit(X, y), "loo_predictions_")


def test_a_weight_is_so_many_rows():
    """A row of weight 3 is three rows, of weight 0 none; k -> c k with alpha -> c alpha changes no f."""
    counts = S.astype(int)
    for gamma in ("scale", 0.3):
        weighted = KernelRidge(0.4, kernel="rbf", gamma=gamma).fit(X, y, S)
        repeated = KernelRidge(0.4, kernel="rbf", gamma=gamma)
        repeated.fit(np.repeat(X, counts, 0), np.repeat(y, counts))
        np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-10)
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal)
    assert (weighted.dual_coef_[counts == 0] == 0).all()
    scaled = KernelRidge(2.0, kernel=5 * Gaussian(gamma=0.3)).fit(X, y, S)
    np.testing.assert_allclose(scaled.predict(X), weighted.predict(X), atol=1e-10)


def test_one_matrix_of_memory():
    """K is in one triangle and its factor in the other: products, solutions and inverses are right."""
    K = Polynomial(2).gram(X) / 20
    assert kernel_ridge.SymmetricMatrix(np.asfortranarray(K)).factorize(np.ones(50))
    whole = kernel_ridge.SymmetricMatrix(np.asfortranarray(K))
    for shift in (np.full(50, 0.5), np.linspace(0.1, 2, 50)):
        assert whole.factorize(shift)
        np.testing.assert_allclose(whole.product(Y), K @ Y, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(whole.solve(Y), np.linalg.solve(K + np.diag(shift), Y), atol=1e-10)
        np.testing.assert_allclose(
            whole.inverse_diagonal(), np.diag(np.linalg.inv(K + np.diag(shift))), rtol=1e-9
        )
    assert not whole.factorize(np.full(50, -10.0))
    assert whole.factorize(np.full(50, 0.5))
    np.testing.assert_allclose(whole.product(Y), K @ Y, rtol=1e-12, atol=1e-12)


def test_containers_and_items_of_any_kind():
    """Sparse = dense = frame = Gram matrix = function; strings are rows too."""
    model = KernelRidge(0.3, kernel="rbf", gamma=0.25).fit(X, y)
    expected = model.predict(X[:9])
    kernel = Gaussian(gamma=0.25)
    frame = pd.DataFrame(X, columns=list("abcd"))
    for data, new, k in (
        (sp.csr_array(X), sp.csr_array(X[:9]), "rbf"),
        (frame, frame[:9], "rbf"),
        (kernel.gram(X), kernel.gram(X[:9], X), "precomputed"),
        (X, X[:9], lambda A, B: kernel.gram(A, B)),
        (X, X[:9], FunctionKernel(lambda a, b: float(np.exp(-0.25 * ((a - b) ** 2).sum())))),
    ):
        other = KernelRidge(0.3, kernel=k, gamma=0.25).fit(data, y)
        np.testing.assert_allclose(other.predict(new), expected, atol=1e-9)
    words = ["abab", "baba", "cdcd", "dcdc"]
    lengths = KernelRidge(1e-6, kernel=Spectrum(2)).fit(words, [1.0, 1.0, 5.0, 5.0])
    np.testing.assert_allclose(lengths.predict(["ab", "dc"]) > 1.0, [False, True])


def test_rounding_is_said():
    """Where K + alpha I is indefinite by rounding, what was added is told, and what is not proved."""
    alike = np.repeat(X, 5, axis=0)
    noisy = np.repeat(y, 5) + rng.normal(size=250)
    with pytest.warns((PrecisionWarning, NotCertifiedWarning)) as met:
        model = KernelRidge(1e-17, kernel="poly", degree=2).fit(alike, noisy)
    assert model.jitter_ > 0
    assert not model.certificate_.converged
    assert any("larger alpha" in str(one.message) for one in met)


def test_refusals():
    """No penalty, kernels that are none, and matrices beyond memory are refused in words."""
    for alpha in (0, -1.0, np.nan, "much"):
        with pytest.raises(ParameterError, match="alpha"):
            KernelRidge(alpha).fit(X, y)
    with pytest.raises(InputError, match="positive semi-definite"):
        KernelRidge(10.0, kernel="precomputed").fit([[1.0, 2.0], [2.0, 1.0]], [0.0, 1.0])
    with pytest.raises(InputError, match="positive semi-definite"):
        KernelRidge(100.0, kernel=2 * FunctionKernel(lambda a, b: -float(a @ b))).fit(X, y)
    with pytest.raises(InputError, match="Nystroem"):
        KernelRidge(max_bytes=1000).fit(X, y)
    with pytest.raises(InputError, match="Scale the targets"):
        KernelRidge().fit(X, y * 1e200)
    with pytest.raises(ParameterError, match="tol"):
        KernelRidge(tol=0).fit(X, y)
    with pytest.raises(InputError, match="square"):
        KernelRidge(kernel="precomputed").fit(X, y)
    with pytest.raises(ValueError, match="features"):
        KernelRidge(kernel=Linear()).fit(X, y).predict(X[:, :2])
