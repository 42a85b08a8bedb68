"""Kernel machines meet LIBSVM, as scikit-learn has it: the same problems, the same solutions."""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm as theirs
from sklearn.datasets import load_svmlight_file

from lineal import SVC, SVR, NuSVR, OneClassSVM, verify
from lineal.kernels import Gaussian, Linear, Polynomial, Quadratic
from reference.kernel_machines import coefficients, separation

DATA = Path(os.environ.get("LINEAL_DATA", "~/.cache/lineal-data")).expanduser() / "libsvm"

# Four kernels in both dialects.
KERNELS = {
    "linear": (Linear(), {"kernel": "linear"}),
    "quadratic": (Quadratic(1), {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}),
    "cubic": (Polynomial(3, c=0.5, gamma=0.2), {"kernel": "poly", "degree": 3, "gamma": 0.2, "coef0": 0.5}),
    "gaussian": (Gaussian(gamma=0.3), {"kernel": "rbf", "gamma": 0.3}),
}
every_kernel = pytest.mark.parametrize("name", KERNELS)


def libsvm(name):
    """A data set of LIBSVM's collection, or a skip."""
    path = DATA / f"{name}.svm"
    if not path.exists():
        pytest.skip(f"{path} is not here; set LINEAL_DATA")
    X, y = load_svmlight_file(str(path))
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # all that theirs takes
    return X, y


def generated(n=300, d=4, seed=0):
    """Points, labels of three classes, and targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    t = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=n)
    return X, np.digitize(t, [-0.5, 0.5]), t


def same(ours, expected, X, of, atol):
    """Scores agree, and support vectors but for those all but 0, where the kernel leaves no choice."""
    wanted = getattr(expected, of)(X)
    np.testing.assert_allclose(getattr(ours, of)(X), wanted, atol=atol * max(1, np.abs(wanted).max()))
    if not isinstance(ours.kernel_, Gaussian):
        return  # more rows than the space has dimensions: coefficients are not unique
    n = X.shape[0]
    mine, their = coefficients(ours, n), coefficients(expected, n)
    size = max(np.abs(their).max(), 1e-300)
    np.testing.assert_array_equal((np.abs(mine) > 1e-2 * size) & (their == 0), False)
    np.testing.assert_array_equal((np.abs(their) > 1e-2 * size) & (mine == 0), False)


# ---- generated data -------------------------------------------------------------------------------


@every_kernel
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_classification(name, C):
    """Two classes: dual objective, support vectors and decision values."""
    X, y, _ = generated()
    y = np.where(y > 0, 1.0, -1.0)
    kernel, options = KERNELS[name]
    if name == "linear":
        C = min(C, 0.2)  # theirs takes minutes above, where ours takes a fifth of a second
    expected = theirs.SVC(C=C, tol=1e-6, **options).fit(X, y)
    ours = SVC(C=C, tol=1e-7, **options).fit(X, y)
    assert ours.kernel_.gram(X[:5]) == pytest.approx(kernel.gram(X[:5]))
    K, bound = kernel.gram(X), np.full(len(y), C)
    theirs_dual = separation(K, y, bound, coefficients(expected, len(y))[0], expected.intercept_[0])[1]
    assert ours.certificate_.dual * C == pytest.approx(theirs_dual, rel=1e-6)
    same(ours, expected, X, "decision_function", 2e-3)
    assert ours.n_support_.sum() == len(ours.support_)


@every_kernel
def test_regressions(name):
    """epsilon and nu: predictions, and the width that nu finds."""
    X, _, t = generated()
    options = KERNELS[name][1]
    expected = theirs.SVR(C=2.0, epsilon=0.2, tol=1e-6, **options).fit(X, t)
    same(SVR(C=2.0, epsilon=0.2, tol=1e-7, **options).fit(X, t), expected, X, "predict", 2e-3)
    expected = theirs.NuSVR(C=2.0, nu=0.3, tol=1e-6, **options).fit(X, t)
    same(NuSVR(C=2.0, nu=0.3, tol=1e-7, **options).fit(X, t), expected, X, "predict", 2e-3)


@every_kernel
@pytest.mark.parametrize("nu", [0.1, 0.5])
def test_one_class(name, nu):
    """Scores, offsets and who is outside. Coefficients are scikit-learn's: they sum to nu n."""
    X, _, _ = generated()
    X = X + 1.5  # the origin is outside: there is something to find
    options = KERNELS[name][1]
    expected = theirs.OneClassSVM(nu=nu, tol=1e-6, **options).fit(X)
    ours = OneClassSVM(nu=nu, tol=1e-8, **options).fit(X)
    same(ours, expected, X, "score_samples", 1e-3)
    if verify(ours, X).kkt.on_margin:  # else any offset between two rows is as good
        assert ours.offset_ == pytest.approx(expected.offset_[0], rel=1e-3)
    far = np.abs(expected.decision_function(X)) > 1e-2 * np.abs(expected.offset_[0])
    np.testing.assert_array_equal(ours.predict(X)[far], expected.predict(X)[far])


@pytest.mark.parametrize("shape", ["ovo", "ovr"])
def test_one_against_one(shape):
    """Three classes: coefficients in the same layout, thresholds, scores of pairs, labels."""
    X, y, _ = generated()
    expected = theirs.SVC(gamma=0.3, tol=1e-6, decision_function_shape=shape).fit(X, y)
    ours = SVC(gamma=0.3, tol=1e-7, decision_function_shape=shape, break_ties=False).fit(X, y)
    np.testing.assert_allclose(ours.intercept_, expected.intercept_, atol=2e-3)
    np.testing.assert_array_equal(ours.n_support_, expected.n_support_)
    np.testing.assert_array_equal(ours.support_, expected.support_)
    np.testing.assert_allclose(ours.dual_coef_, expected.dual_coef_, atol=5e-3)
    if shape == "ovo":
        np.testing.assert_allclose(ours.decision_function(X), expected.decision_function(X), atol=2e-3)
    assert np.mean(ours.predict(X) == expected.predict(X)) > 0.99


def test_one_against_the_rest():
    """multi_class='ovr' is a machine of two classes for each."""
    X, y, _ = generated()
    ours = SVC(gamma=0.3, tol=1e-7, multi_class="ovr").fit(X, y)
    Z = np.column_stack(
        [theirs.SVC(gamma=0.3, tol=1e-6).fit(X, y == k).decision_function(X) for k in range(3)]
    )
    np.testing.assert_allclose(ours.decision_function(X), Z, atol=2e-3)
    np.testing.assert_array_equal(ours.predict(X), ours.decision_function(X).argmax(axis=1))


def test_weights_of_classes_and_rows():
    """class_weight, 'balanced' and sample_weight are factors on C, as there."""
    X, y, t = generated()
    s = np.random.default_rng(1).uniform(0.1, 3.0, size=len(y))
    for weight in ({0: 2.0, 1: 0.5}, "balanced", None):
        expected = theirs.SVC(gamma=0.3, class_weight=weight, tol=1e-6).fit(X, y, s)
        if weight == "balanced":
            continue  # theirs counts rows, ours their weights: compared below, without weights
        ours = SVC(gamma=0.3, class_weight=weight, tol=1e-7).fit(X, y, s)
        np.testing.assert_allclose(ours.intercept_, expected.intercept_, atol=5e-3)
    expected = theirs.SVC(gamma=0.3, class_weight="balanced", tol=1e-6).fit(X, y)
    ours = SVC(gamma=0.3, class_weight="balanced", tol=1e-7).fit(X, y)
    np.testing.assert_allclose(ours.intercept_, expected.intercept_, atol=5e-3)
    expected = theirs.SVR(gamma=0.3, tol=1e-6).fit(X, t, s)
    np.testing.assert_allclose(
        SVR(gamma=0.3, tol=1e-7).fit(X, t, s).predict(X), expected.predict(X), atol=2e-3
    )


def test_precomputed_and_functions():
    """A Gram matrix, a kernel and a function of two matrices are one machine, theirs and ours."""
    X, y, _ = generated(150)
    kernel = Gaussian(gamma=0.3)
    K = kernel.gram(X)
    expected = theirs.SVC(kernel="precomputed", tol=1e-6).fit(K, y).predict(K)
    given = SVC(kernel="precomputed", tol=1e-7).fit(K, y)
    np.testing.assert_array_equal(given.predict(K), expected)
    function = SVC(kernel=lambda A, B: np.exp(-0.3 * ((A[:, None] - B[None]) ** 2).sum(axis=2)), tol=1e-7)
    np.testing.assert_array_equal(function.fit(X, y).predict(X), expected)
    np.testing.assert_array_equal(SVC(kernel=kernel, tol=1e-7).fit(X, y).predict(X), expected)
    Z = generated(20, seed=5)[0]
    np.testing.assert_array_equal(given.predict(kernel.gram(Z, X)), function.predict(Z))


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.2])
def test_gamma(gamma):
    """'scale' and 'auto' are scikit-learn's, dense and sparse."""
    X, y, _ = generated()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    for A in (X, sp.csr_array(X)):
        expected = theirs.SVC(gamma=gamma, tol=1e-6, decision_function_shape="ovo").fit(A, y)
        assert SVC(gamma=gamma).fit(A, y).kernel_.gamma == pytest.approx(expected._gamma, rel=1e-12)


# ---- LIBSVM's own data ----------------------------------------------------------------------------


def meets(X, y, C, name, gamma=None, rel=1e-4, atol=2e-2):
    """Our machine and LIBSVM's on a data set: dual objective, support vectors, decision values."""
    kernel, options = KERNELS[name]
    if gamma is not None:
        kernel, options = Gaussian(gamma=gamma), {"kernel": "rbf", "gamma": gamma}
    ours = SVC(C=C, **options).fit(X, y)
    expected = theirs.SVC(C=C, cache_size=1000, **options).fit(X, y)
    assert ours.certificate_.converged
    both = [coefficients(model, len(y))[0] for model in (ours, expected)]
    used = np.flatnonzero(both[1])
    f = np.concatenate(
        [kernel.gram(X[used[k : k + 2000]], X[used]) @ both[1][used] for k in range(0, len(used), 2000)]
    )
    dual = np.abs(both[1]).sum() - 0.5 * both[1][used] @ f
    # Feasible for the same problem, so neither is above the optimum: both are within our gap and their tol.
    assert ours.certificate_.dual * C == pytest.approx(dual, rel=rel)
    assert ours.certificate_.primal * C >= dual * (1 - 1e-9)
    wanted = expected.decision_function(X)
    np.testing.assert_allclose(ours.decision_function(X), wanted, atol=atol * max(1, np.abs(wanted).max()))
    assert np.mean((both[0] != 0) != (both[1] != 0)) < 0.01
    assert np.mean(ours.predict(X) == expected.predict(X)) > 0.999


@every_kernel
@pytest.mark.parametrize("C", [0.1, 1.0])
def test_heart_scale(name, C):
    """270 patients: the same machines."""
    meets(*libsvm("heart_scale"), C, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["linear", "quadratic", "cubic", "gaussian"])
def test_a9a(name):
    """32,561 people; a fifth of them for the kernels that LIBSVM takes minutes for."""
    X, y = libsvm("a9a")
    rows = np.random.default_rng(0).permutation(len(y))[: len(y) if name == "gaussian" else 6000]
    meets(X[rows], y[rows], {"linear": 0.1, "quadratic": 0.01, "cubic": 0.01, "gaussian": 1.0}[name], name,
          gamma=0.05 if name == "gaussian" else None, rel=1e-3)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", ["linear", "quadratic", "cubic", "gaussian"])
def test_ijcnn1(name):
    """49,990 misfires of an engine; a part of them where LIBSVM takes minutes."""
    X, y = libsvm("ijcnn1")
    rows = np.random.default_rng(0).permutation(len(y))[: len(y) if name == "gaussian" else 8000]
    meets(X[rows], y[rows], 10.0 if name == "gaussian" else 1.0, name,
          gamma=1.0 if name == "gaussian" else None, rel=1e-3)  # fmt: skip
