"""Where arithmetic is short of digits: certificates stay true, and no machine is worse than none."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from lineal import SVC, SVR, LinearSVC, NuSVR, OneClassSVM, verify
from lineal.kernels import Gaussian, Linear, Polynomial
from reference.kernel_machines import coefficients, separation

TOL = 1e-4


def people(seed=0, n=60):
    """Ages, incomes and years as they are written, labels and targets."""
    rng = np.random.default_rng(seed)
    age, income = rng.uniform(18, 80, n), rng.lognormal(10.3, 0.5, n)
    X = np.c_[age, income, rng.integers(1990, 2024, n)].astype(float)
    t = (age - 50) / 15 + (income - 3e4) / 2e4 + 0.5 * rng.normal(size=n)
    return X, (t > 0).astype(int), t


def noisy(n=40, d=3, seed=0):
    """Points, and labels that no plane separates."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)


def is_certified_truly(model, X, y):
    """Whether a machine is certified, and verify agrees in NumPy."""
    return model.certificate_.converged and verify(model, X, y).converged


# ---- columns as they were measured ----------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_columns_as_they_were_measured(seed):
    """The linear kernel on ages, incomes and years: certified, with the objective of the linear learner."""
    X, y, t = people(seed)
    model = SVC(kernel="linear").fit(X, y)
    assert is_certified_truly(model, X, y)
    assert model.certificate_.seconds < 1
    other = LinearSVC(C=1.0, loss="hinge", tol=1e-5).fit(X, y).certificate_
    assert model.certificate_.dual <= other.primal * (1 + 1e-9)
    assert other.dual <= model.certificate_.primal * (1 + 1e-9)
    for kind in (SVR, NuSVR):
        assert is_certified_truly(kind(kernel="linear").fit(X, t), X, t)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("seed", range(5))
def test_the_stated_bound_is_that_of_exact_arithmetic(seed, layout):
    """D of a linear machine on raw columns, where K beta cancels, is D(beta) in rational numbers."""
    X, y, _ = people(seed)
    model = SVC(kernel="linear").fit(layout(X), y)
    beta = [Fraction(each) for each in coefficients(model, len(y))[0].tolist()]
    w = [sum(b * Fraction(x) for b, x in zip(beta, column.tolist(), strict=True)) for column in X.T]
    exact = float(sum(map(abs, beta)) - sum(each * each for each in w) / 2)
    # Sums of 60 terms that were rounded once each.
    assert model.certificate_.dual == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("factor", "C"), [(1.0, 1e6), (1e4, 1.0), (1e-4, 1e10)])
def test_high_prices_of_slack(factor, C, layout):
    """kernel values times the price are 1e6 to 1e8: pairs of float32 creep, factors of float64 do not."""
    X, y = noisy()
    assert is_certified_truly(SVC(kernel="linear", C=C).fit(layout(factor * X), y), layout(factor * X), y)
    for kind in (SVR, NuSVR):
        t = X[:, 1] + 0.3 * y
        assert is_certified_truly(
            kind(kernel="linear", C=C).fit(layout(factor * X), t), layout(factor * X), t
        )


@pytest.mark.parametrize("kind", [SVC, SVR, NuSVR])
@pytest.mark.parametrize("offset", [30.0, 1e3, 1e5])
def test_the_linear_kernel_does_not_care_where_rows_lie(kind, offset):
    """Coefficients sum to 0: the machine of X + m is that of X, but for its threshold."""
    X, y = noisy()
    near, far = kind(kernel="linear").fit(X, y), kind(kernel="linear").fit(X + offset, y)
    assert is_certified_truly(far, X + offset, y)
    assert far.certificate_.primal == pytest.approx(near.certificate_.primal, rel=2 * TOL)
    scores = [
        m.decision_function(Z) if kind is SVC else m.predict(Z) for m, Z in ((near, X), (far, X + offset))
    ]
    assert np.allclose(*scores, atol=0.05)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_many_classes_far_from_the_origin(multi_class):
    """The same for machines of several classes, with the same bits for any number of threads."""
    X, _ = noisy(90)
    y = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])
    models = [SVC(kernel="linear", multi_class=multi_class, n_threads=k).fit(X + 1e4, y) for k in (1, 2, 3)]
    assert is_certified_truly(models[0], X + 1e4, y)
    for other in models[1:]:
        assert np.array_equal(models[0].dual_coef_, other.dual_coef_)
        assert np.array_equal(models[0].intercept_, other.intercept_)


def test_a_hard_margin_far_from_the_origin():
    """The street is as wide wherever it lies; where predictions lose its digits, that is said."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int)
    X[:, 0] += np.where(y, 0.5, -0.5)
    wanted = SVC(C=np.inf, kernel="linear").fit(X, y).certificate_.primal
    for offset in (1e2, 1e4):
        model = SVC(C=np.inf, kernel="linear").fit(X + offset, y)
        assert is_certified_truly(model, X + offset, y)
        assert model.certificate_.primal == pytest.approx(wanted, rel=1e-4)


@pytest.mark.filterwarnings("ignore::lineal.errors.NotCertifiedWarning")
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), Polynomial(3), Polynomial(5)], ids=str)
@pytest.mark.parametrize("offset", [0.0, 100.0, 1e4])
def test_no_machine_is_worse_than_none(kernel, offset):
    """What is returned has an objective of at most that of f = 0, certified or not; and what the certificate
    says holds of the kernel matrix as it is."""
    for seed in range(3):
        X, y, t = people(seed)
        X = X + offset
        signs = np.where(y == 1, 1.0, -1.0)
        at_zero = 2.0 * min(y.sum(), len(y) - y.sum())
        for C in (1e-6, 1.0, 1e4):
            model = SVC(kernel=kernel, C=C).fit(X, y)
            assert model.certificate_.primal <= at_zero * (1 + 1e-9)
            if model.certificate_.converged:
                K = kernel.gram(X - X.mean(axis=0) if kernel == Linear() else X)
                beta = coefficients(model, len(y))[0]
                shift = 0.0 if kernel != Linear() else float(model.coef_[0] @ X.mean(axis=0))
                primal, dual = separation(K, signs, np.full(len(y), C), beta, model.intercept_[0] + shift)
                assert (primal - dual) <= 2 * TOL * max(abs(primal), abs(dual))
            regression = SVR(kernel=kernel, C=C).fit(X, t)
            middle = np.maximum(np.abs(t - np.median(t)) - 0.1, 0.0).sum()
            assert regression.certificate_.primal <= middle * (1 + 1e-9)


def test_a_linear_kernel_of_few_columns_and_a_high_price_is_quick():
    """500 rows of 8 columns at C = 2^15 crept for seconds and ended uncertified."""
    X, y = noisy(500, 8)
    model = SVC(kernel="linear", C=2.0**15).fit(X, y)
    assert is_certified_truly(model, X, y)
    assert model.certificate_.epochs < 200
    assert model.n_support_.sum() < len(y)


# ---- clusters that are far apart ------------------------------------------------------------------


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("offset", [1e3, 1e4, 1e6])
def test_clusters_that_are_far_apart(offset, layout):
    """A Gaussian kernel sees what is near only: how far clusters are apart changes nothing, neither
    certificates nor scores nor those of a stored model."""
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 20, 60)
    y = (np.sin(t) > 0).astype(int)
    X = layout((t + np.where(np.arange(60) < 30, 0.0, offset))[:, None])
    kernel = Gaussian(gamma=1.0)
    for C in (10.0, 1e3):
        model = SVC(kernel=kernel, C=C).fit(X, y)
        assert is_certified_truly(model, X, y)
        f = kernel.gram(X)[:, model.support_] @ model.dual_coef_[0] + model.intercept_[0]
        assert np.allclose(model.decision_function(X), f, atol=1e-9 * C, rtol=0)
        classes = SVC(kernel=kernel, C=C).fit(X, y + 2 * (t > 15))
        scores = classes.decision_function(X)
        assert is_certified_truly(classes, X, y + 2 * (t > 15))
        assert np.array_equal(classes.predict(X), classes.classes_[scores.argmax(axis=1)])


def test_a_kernel_that_is_the_identity():
    """gamma = 1e12: no two rows are alike. What is certified is true of the matrix itself."""
    X, y = noisy()
    signs = np.where(y == 1, 1.0, -1.0)
    for C in (1.0, 1e3, 1e6):
        model = SVC(gamma=1e12, C=C).fit(X, y)
        beta = coefficients(model, len(y))[0]
        primal, dual = separation(np.eye(len(y)), signs, np.full(len(y), C), beta, model.intercept_[0])
        assert model.certificate_.converged
        assert primal - dual <= 1.1 * TOL * abs(primal)
        again = verify(model, X, y)
        assert again.converged
        assert again.primal * C <= primal * (1 + 1e-9)


# ---- one class ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("factor", "options"),
    [(0.01, {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 1.0}), (0.1, {"gamma": 1e-2}), (1.0, {})],
)
def test_at_most_a_share_nu_is_outside_a_flat_kernel_too(factor, options):
    """Where scores of all rows agree in their first digits the threshold is settled by those that differ."""
    for seed in range(20):
        X = np.round(np.random.default_rng(seed).normal(size=(30, 2)), 2) * factor
        for nu in (0.1, 0.31, 0.7):
            model = OneClassSVM(nu=nu, **options).fit(X)
            assert model.certificate_.converged
            assert np.mean(model.predict(X) == -1) <= nu
            assert len(model.support_) >= nu * len(X)
