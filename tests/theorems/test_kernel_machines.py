"""Support vector machines with kernels are what they claim: every theorem is checked on Gram matrices."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from lineal import SVC, SVR, NuSVR, OneClassSVM, PolynomialFeatures, verify
from lineal.errors import NotSeparableError
from lineal.kernels import Gaussian, Linear, Polynomial, Quadratic, Spectrum
from reference.kernel_machines import coefficients, region, separation, tube

KERNELS = [Linear(), Quadratic(1), Polynomial(3, c=0.5, gamma=0.3), Gaussian(gamma=0.4)]
kernels = pytest.mark.parametrize("kernel", KERNELS, ids=str)
TOL = 1e-4


def plane(n=80, d=3, seed=0):
    """Points, noisy labels that no line separates, and noisy targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] * X[:, 1] + 0.4 * rng.normal(size=n) > 0, 1.0, -1.0)
    t = np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=n)
    return X, y, t


def machines(kernel):
    """Each machine, fitted on weighted rows, with P and D from the definition in its certificate's units."""
    X, y, t = plane()
    s = np.random.default_rng(1).integers(0, 4, size=len(y)).astype(float)
    K, n = kernel.gram(X), len(y)
    made = []
    for C in (0.3, 20.0):
        model = SVC(kernel=kernel, C=C, tol=TOL).fit(X, y, s)
        beta = coefficients(model, n)[0]
        made.append((model, y, s, separation(K, y, C * s, beta, model.intercept_[0]), 1 / C))
    model = SVR(kernel=kernel, C=2.0, epsilon=0.3, tol=TOL).fit(X, t, s)
    pair = tube(K, t, 2 * s, coefficients(model, n)[0], model.intercept_[0], 0.3)
    made.append((model, t, s, pair, 0.5))
    model = NuSVR(kernel=kernel, C=2.0, nu=0.4, tol=TOL).fit(X, t, s)
    price = 0.4 * 2 * s.sum()
    pair = tube(K, t, 2 * s, coefficients(model, n)[0], model.intercept_[0], model.epsilon_, price)
    made.append((model, t, s, pair, 0.5))
    model = OneClassSVM(kernel=kernel, nu=0.3, tol=TOL).fit(X, None, s)
    total = 0.3 * s.sum()
    pair = region(K, s, total, coefficients(model, n)[0], model.offset_)
    made.append((model, None, s, pair, 1 / total**2))
    return X, made


# ---- certificates ---------------------------------------------------------------------------------


@kernels
def test_the_certificate_is_true(kernel):
    """P and D of the certificate are those of the definition, from the model's own attributes alone; D is
    that of a feasible point; and the gap is within the tolerance."""
    _, made = machines(kernel)
    for model, _, _, (primal, dual), unit in made:
        certificate = model.certificate_
        scale = max(abs(unit * primal), abs(unit * dual), 1e-5)  # one class may have an optimum of 0
        assert certificate.converged
        assert certificate.relative_gap <= TOL
        assert certificate.primal == pytest.approx(unit * primal, abs=1e-7 * scale)
        assert certificate.dual == pytest.approx(unit * dual, abs=1e-7 * scale)
        assert certificate.gap == pytest.approx(certificate.primal - certificate.dual, abs=1e-9 * scale)
        assert dual <= primal + 1e-9 * abs(primal)


@kernels
def test_verify_confirms_it_without_the_core(kernel):
    """verify, in NumPy, finds the same P and D, and a tampered machine out."""
    X, made = machines(kernel)
    for model, y, s, (primal, dual), unit in made:
        again = verify(model, X, y, s)
        scale = max(abs(unit * primal), abs(unit * dual), 1e-5)
        assert again.converged
        assert again.primal == pytest.approx(unit * primal, abs=1e-7 * scale)
        assert again.dual >= unit * dual - 1e-7 * scale
        kkt = again.kkt
        assert kkt.at_zero + kkt.on_margin + kkt.at_bound == np.count_nonzero(s)
        assert kkt.on_margin + kkt.at_bound == len(model.support_)
        honest, model.dual_coef_ = model.dual_coef_, 1.2 * model.dual_coef_
        assert verify(model, X, y, s).gap > 10 * again.gap or abs(unit * dual) < 1e-5
        model.dual_coef_ = honest


@given(st.integers(0, 2**31), st.floats(0.01, 10), st.sampled_from(KERNELS))
def test_weak_duality(seed, C, kernel):
    """D at any feasible point is below P at any model whatever."""
    rng = np.random.default_rng(seed)
    X, y, t = plane(12, 2, seed)
    K, ones = kernel.gram(X), np.ones(12)
    alpha, other = C * rng.random(12), rng.normal(size=12)
    up, down = alpha[y > 0].sum(), alpha[y < 0].sum()
    if up > 0 and down > 0:
        beta = y * alpha * np.where(y > 0, min(1, down / up), min(1, up / down))
        dual = separation(K, y, C * ones, beta, 0)[1]
        assert np.isfinite(dual)
        assert dual <= separation(K, y, C * ones, other, rng.normal())[0] * (1 + 1e-12)
    free = rng.normal(size=12)
    free = C * (free - free.mean()) / np.abs(free - free.mean()).max()
    primal = tube(K, t, C * ones, other, rng.normal(), 0.2)[0]
    assert tube(K, t, C * ones, free, 0, 0.2)[1] <= primal * (1 + 1e-12)


@kernels
def test_conditions_of_optimality(kernel):
    """Rows at 0 are beyond the margin, free ones on it, those at the bound short of it."""
    X, y, _ = plane()
    model = SVC(kernel=kernel, C=1.0, tol=1e-9).fit(X, y)
    alpha, reached = y * coefficients(model, len(y))[0], y * model.decision_function(X)
    assert (reached[alpha == 0] >= 1 - 1e-3).all()
    assert (np.abs(reached - 1)[(alpha > 0) & (alpha < 1)] <= 1e-3).all()
    assert (reached[alpha == 1] <= 1 + 1e-3).all()
    assert verify(model, X, y).kkt.worst <= 1e-3
    np.testing.assert_allclose(model.slack_, np.maximum(0, 1 - reached), atol=1e-9)


@kernels
def test_the_threshold_is_the_mean_over_margin_vectors(kernel):
    """b = mean of y - f over 0 < alpha < C, as the lecture has it."""
    X, y, _ = plane()
    model = SVC(kernel=kernel, C=1.0, tol=1e-6).fit(X, y)
    beta = coefficients(model, len(y))[0]
    on_margin = (np.abs(beta) > 0) & (np.abs(beta) < 1)
    assert on_margin.any()
    f = kernel.gram(X) @ beta
    assert model.intercept_[0] == pytest.approx(np.mean((y - f)[on_margin]), abs=1e-9)


def test_scores_are_the_expansion():
    """f(x) + b is the sum over support vectors, for vectors, texts and anything else a kernel compares."""
    X, y, _ = plane()
    model = SVC(gamma=0.3).fit(X, y)
    K = Gaussian(gamma=0.3).gram(X[:7] + 0.1, model.support_vectors_)
    wanted = K @ model.dual_coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X[:7] + 0.1), wanted, atol=1e-12)
    words = ["banana", "bandana", "cabana", "kernel", "colonel", "kennel"]
    model = SVC(kernel=Spectrum(2), C=10).fit(words, list("aaabbb"))
    wanted = Spectrum(2).gram(words, model.support_vectors_) @ model.dual_coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(words), wanted, atol=1e-12)
    assert model.predict(["bananas", "kernels"]).tolist() == ["a", "b"]


def test_linear_weights():
    """With the linear kernel coef_ = sum beta_i x_i, and scores are x.w + b."""
    X, y, t = plane()
    for A in (X, sp.csr_array(X)):
        model = SVC(kernel="linear").fit(A, y)
        np.testing.assert_allclose(model.decision_function(A), X @ model.coef_[0] + model.intercept_[0])
        regression = SVR(kernel="linear").fit(A, t)
        np.testing.assert_allclose(regression.predict(A), X @ regression.coef_[0] + regression.intercept_[0])


# ---- the same problem, written otherwise ----------------------------------------------------------


def settled(model, X, *data):
    """Scores of a fit that is all but exact."""
    model.set_params(tol=1e-8).fit(X, *data)
    return model.predict(X) if isinstance(model, (SVR, NuSVR)) else model.decision_function(X)


@pytest.mark.parametrize(
    "model", [SVC(C=3.0), SVR(C=3.0), NuSVR(C=3.0), OneClassSVM(nu=0.3)], ids=lambda m: type(m).__name__
)
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "laplacian", "precomputed"])
def test_a_weight_of_two_is_the_row_twice(model, kernel):
    """Weights 0, 1 and 2 are rows left out, as they are, and twice; gamma='scale' counts them, too."""
    X, y, t = plane(40)
    X = X + 1.0  # one class: the origin is outside
    s = np.random.default_rng(3).integers(0, 3, size=40)
    often = np.repeat(np.arange(40), s)
    target = {SVC: y, SVR: t, NuSVR: t, OneClassSVM: None}[type(model)]
    model.set_params(kernel=kernel)
    G = (Gaussian(gamma=0.3).gram(X), Gaussian(gamma=0.3).gram(X[often])) if kernel == "precomputed" else None
    weighted = settled(model, X if G is None else G[0], target, s.astype(float))[often]
    repeated = settled(model, X[often] if G is None else G[1], None if target is None else target[often])
    np.testing.assert_allclose(weighted, repeated, atol=1e-3 * np.abs(repeated).max())


@kernels
def test_sparse_is_dense(kernel):
    """Sparse rows and dense rows are the same machine."""
    X, y, t = plane()
    X = np.where(np.abs(X) < 0.7, 0.0, X + 2)  # one class: the origin is outside
    for model, target in (
        (SVC(kernel=kernel), y),
        (SVR(kernel=kernel), t),
        (OneClassSVM(kernel=kernel), None),
    ):
        dense, sparse = settled(model, X, target), settled(model, sp.csr_array(X), target)
        np.testing.assert_allclose(sparse, dense, atol=2e-3 * np.abs(dense).max())
        np.testing.assert_allclose(
            model.predict(sp.csr_array(X)).astype(float), model.predict(X).astype(float), atol=1e-9
        )


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
def test_threads_change_no_bit(is_sparse):
    """1, 2 and 3 threads give the same coefficients, thresholds, certificates and predictions."""
    X, y, t = plane(700, 5)
    y3 = np.digitize(t, [-0.5, 0.5])
    A = sp.csr_array(np.where(np.abs(X) < 0.7, 0.0, X)) if is_sparse else X
    for model, target in (
        (SVC(C=10), y),
        (SVC(), y3),
        (SVC(multi_class="ovr"), y3),
        (SVR(), t),
        (NuSVR(), t),
    ):
        made = []
        for n_threads in (1, 2, 3):
            model.set_params(n_threads=n_threads).fit(A, target)
            made.append((model.dual_coef_, model.intercept_, model.support_, model.predict(A)))
        for other in made[1:]:
            for first, second in zip(made[0], other, strict=True):
                np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("factor", [1e-6, 1e-3, 1e4, 1e20, 1e100])
def test_units_do_not_matter(factor):
    """X -> c X with gamma -> gamma / c^2 (or C -> C / c^2 for the linear kernel), and t -> c t with C and
    epsilon as many times, are the same machine, however large c."""
    X, y, t = plane()
    square = factor * factor
    pairs = [
        (SVC(gamma=0.4), SVC(gamma=0.4 / square), X, y, y, 1.0),
        (SVC(kernel="linear", C=2.0), SVC(kernel="linear", C=2.0 / square), X, y, y, 1.0),
        (
            SVR(gamma=0.4, epsilon=0.2, C=2.0),
            SVR(gamma=0.4 / square, epsilon=0.2 * factor, C=2.0 * factor),
            X,
            t,
            factor * t,
            factor,
        ),
        (OneClassSVM(gamma=0.4), OneClassSVM(gamma=0.4 / square), X, None, None, 1.0),
    ]
    for plain, scaled, A, target, scaled_target, unit in pairs:
        wanted, got = settled(plain, A, target), settled(scaled, factor * A, scaled_target) / unit
        assert scaled.certificate_.converged
        np.testing.assert_allclose(got, wanted, atol=2e-3 * np.abs(wanted).max())


def test_permuting_rows_changes_nothing():
    """The order of rows is not part of the problem."""
    X, y, _ = plane()
    order = np.random.default_rng(4).permutation(len(y))
    np.testing.assert_allclose(settled(SVC(), X, y)[order], settled(SVC(), X[order], y[order]), atol=2e-3)


def test_the_explicit_map_and_the_kernel_give_the_same_machine():
    """All products of two columns, constant and columns included, scaled as the kernel has them, under the
    linear kernel: the machine of Quadratic(1), dual by dual."""
    X, y, _ = plane(n=60, d=2)
    phi = np.column_stack(
        [X[:, 0] ** 2, X[:, 1] ** 2, np.sqrt(2) * X[:, 0] * X[:, 1], np.sqrt(2) * X, np.ones(len(X))]
    )
    np.testing.assert_allclose(phi @ phi.T, Quadratic(1).gram(X), atol=1e-12)
    mapped = SVC(kernel="linear", C=1.0, tol=1e-10).fit(phi, y)
    direct = SVC(kernel=Quadratic(1), C=1.0, tol=1e-10).fit(X, y)
    assert mapped.certificate_.dual == pytest.approx(direct.certificate_.dual, rel=1e-9)
    np.testing.assert_allclose(mapped.decision_function(phi), direct.decision_function(X), atol=1e-4)
    assert mapped.support_.tolist() == direct.support_.tolist()
    # Without the factors it is another kernel of the same conics; PolynomialFeatures has those columns.
    columns = PolynomialFeatures(2).fit_transform(X)
    unscaled = SVC(kernel="linear", C=1e4, tol=1e-6).fit(columns, y)
    assert np.mean(unscaled.predict(columns) == SVC(kernel=Quadratic(1), C=1e4).fit(X, y).predict(X)) > 0.95


def test_equal_rows_of_two_classes():
    """The same rows in both classes, as often in each: f = 0, every coefficient at its bound, P = n."""
    X = np.repeat(plane(10)[0], 2, axis=0)
    y = np.tile([0, 1], 10)
    model = SVC(C=2.0).fit(X, y)
    assert model.certificate_.primal == pytest.approx(20.0, rel=1e-6)
    np.testing.assert_allclose(model.decision_function(X), model.intercept_[0], atol=1e-6)


# ---- pairs of classes ----------------------------------------------------------------------------


def letters(n=700, n_classes=5, seed=3):
    """Classes that overlap; some rows are there twice in a class, some in two classes."""
    X, _, t = plane(n, seed=seed)
    y = np.digitize(t, np.quantile(t, np.arange(1, n_classes) / n_classes))
    return np.vstack([X, X[:30], X[40:60]]), np.concatenate([y, y[:30], (y[40:60] + 1) % n_classes])


@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplacian"])
def test_pairs_at_once_are_the_pairs_one_by_one(kernel, monkeypatch):
    """Machines that are solved each for itself are the same machines."""
    X, y = letters()
    at_once = SVC(C=3.0, kernel=kernel, tol=1e-6).fit(X, y)
    monkeypatch.setattr(SVC, "_is_plain", lambda self, data: False)
    one_by_one = SVC(C=3.0, kernel=kernel, tol=1e-6).fit(X, y)
    for mine, other in zip(at_once.certificates_, one_by_one.certificates_, strict=True):
        assert mine.converged
        assert mine.relative_gap <= 1e-6
        assert mine.dual == pytest.approx(other.dual, rel=2e-6)
        assert mine.epochs >= 1
    assert verify(at_once, X, y).converged
    wanted = one_by_one.set_params(decision_function_shape="ovo").decision_function(X)
    got = at_once.set_params(decision_function_shape="ovo").decision_function(X)
    np.testing.assert_allclose(got, wanted, atol=5e-3 * np.abs(wanted).max())


def test_pairs_without_equal_rows_are_the_same_to_rounding(monkeypatch):
    """Steps are the same; only the mean that b is may be summed in another order."""
    X, _, t = plane(900, seed=8)
    y = np.digitize(t, [-0.6, 0.0, 0.6])
    at_once = SVC(C=5.0).fit(X, y)
    monkeypatch.setattr(SVC, "_is_plain", lambda self, data: False)
    one_by_one = SVC(C=5.0).fit(X, y)
    np.testing.assert_array_equal(at_once.dual_coef_, one_by_one.dual_coef_)
    np.testing.assert_allclose(at_once.intercept_, one_by_one.intercept_, atol=1e-12)
    for mine, other in zip(at_once.certificates_, one_by_one.certificates_, strict=True):
        np.testing.assert_allclose(
            [mine.primal, mine.dual, mine.kkt_violation, mine.epochs],
            [other.primal, other.dual, other.kkt_violation, other.epochs],
            rtol=1e-8,
        )


def test_listening_to_pairs_changes_no_bit():
    """Callbacks hear of every pair, and the machines are those that nobody listens to."""
    X, y = letters(300, 4)
    heard = []
    listened, alone = SVC(callbacks=[heard.append]).fit(X, y), SVC().fit(X, y)
    np.testing.assert_array_equal(listened.dual_coef_, alone.dual_coef_)
    np.testing.assert_array_equal(listened.intercept_, alone.intercept_)
    assert len(heard) >= 6
    assert all(event.gap <= 1e-3 * abs(event.primal) for event in heard[:6])


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("break_ties", [False, True])
def test_labels_are_the_votes_of_scores(layout, break_ties):
    """The first of the classes with most pairs; scores decide between them only where they are to."""
    X, y = letters(300, n_classes=6)
    Q = layout(np.random.default_rng(2).normal(size=(333, X.shape[1])))
    model = SVC(gamma=2.0, break_ties=break_ties, decision_function_shape="ovo").fit(layout(X), y)
    Z = model.decision_function(Q)
    votes = np.zeros((len(Z), 6))
    for z, i, j in zip(Z.T, *np.triu_indices(6, 1), strict=True):
        votes[np.arange(len(Z)), np.where(z >= 0, i, j)] += 1
    best = votes == votes.max(axis=1, keepdims=True)
    labels = model.predict(Q)
    assert best[np.arange(len(Z)), labels].all()
    assert (best.sum(axis=1) > 1).any()
    if not break_ties:
        np.testing.assert_array_equal(labels, votes.argmax(axis=1))
    for some in (slice(0, 1), slice(5, 38)):  # rows do not depend on the rows beside them
        np.testing.assert_array_equal(model.predict(Q[some]), labels[some])
        np.testing.assert_array_equal(model.decision_function(Q[some]), Z[some])


# ---- hard margins ---------------------------------------------------------------------------------


def apart(seed=0, gap=0.6):
    """Two clouds with a gap between them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    X = X[np.abs(X @ [0.8, 0.6]) > gap]
    return X, np.where(X @ [0.8, 0.6] > 0, 1.0, -1.0)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_hard_margin_is_the_limit_of_a_large_price(kernel):
    """C=inf: every y f >= 1, |w|^2 / 2 certified, and the machine that finite C reach."""
    X, y = apart()
    hard = SVC(C=np.inf, kernel=kernel, tol=1e-8).fit(X, y)
    assert hard.certificate_.converged
    assert (y * hard.decision_function(X)).min() >= 1 - 1e-9
    beta = coefficients(hard, len(y))[0]
    K = hard.kernel_.gram(X)
    assert hard.certificate_.primal == pytest.approx(0.5 * beta @ K @ beta, rel=1e-9)
    for C in (1e6, 1e10):
        soft = SVC(C=C, kernel=kernel, tol=1e-8).fit(X, y)
        assert soft.certificate_.converged
        np.testing.assert_allclose(
            soft.decision_function(X),
            hard.decision_function(X),
            atol=1e-3 * np.abs(soft.decision_function(X)).max(),
        )
    again = verify(hard, X, y)
    assert again.converged
    assert again.primal == pytest.approx(hard.certificate_.primal, rel=1e-8)


def test_the_widest_street():
    """Two points: the margin is half their distance on each side."""
    model = SVC(C=np.inf, kernel="linear", tol=1e-10).fit([[0.0, 0.0], [3.0, 4.0]], ["a", "b"])
    assert 1 / np.linalg.norm(model.coef_) == pytest.approx(2.5)
    assert model.decision_function([[1.5, 2.0]])[0] == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize("kernel", [Linear(), Quadratic(0.5)], ids=str)
def test_a_refusal_is_a_proof(kernel):
    """Classes that cannot be separated: the error's weights are convex combinations of either class whose
    images are as far apart as it says, next to nothing; any separation would keep them apart."""
    X, y, _ = plane(60, 2)
    with pytest.raises(NotSeparableError) as refused:
        SVC(C=np.inf, kernel=kernel).fit(X, y)
    a = refused.value.weights
    assert (a >= 0).all()
    assert a[y > 0].sum() == pytest.approx(1)
    assert a[y < 0].sum() == pytest.approx(1)
    signed = a * y
    distance = np.sqrt(max(signed @ kernel.gram(X) @ signed, 0.0))
    radius = np.sqrt(kernel.diagonal(X).max())
    assert distance == pytest.approx(refused.value.distance, abs=1e-6 * radius)
    assert distance <= 2e-5 * radius


# ---- shares ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("nu", [0.05, 0.2, 0.5, 0.9])
def test_nu_of_one_class(nu):
    """At most a share nu of the rows is outside, and at least a share nu are support vectors."""
    X, _, _ = plane(200)
    model = OneClassSVM(nu=nu, tol=1e-8).fit(X)
    assert np.mean(model.predict(X) == -1) <= nu
    assert len(model.support_) >= nu * len(X) - 1e-9
    assert model.dual_coef_.sum() == pytest.approx(nu * len(X))
    np.testing.assert_allclose(model.score_samples(X) - model.offset_, model.decision_function(X))


@pytest.mark.parametrize("nu", [0.1, 0.4, 0.8])
def test_nu_of_a_regression(nu):
    """At most a share nu of the rows is outside the tube, at least a share nu are support vectors; and SVR
    with the width that was found is the same regression."""
    X, _, t = plane(150)
    model = NuSVR(nu=nu, C=5.0, tol=1e-9).fit(X, t)
    miss = np.abs(t - model.predict(X))
    assert np.mean(miss > model.epsilon_ + 1e-4) <= nu
    assert len(model.support_) >= nu * len(X) - 1e-9
    same = SVR(epsilon=model.epsilon_, C=5.0, tol=1e-9).fit(X, t)
    np.testing.assert_allclose(same.predict(X), model.predict(X), atol=1e-3)
