"""A joint map: scores w . phi(x, y), one weight per feature, shared by the labels for which it fires."""

import numpy as np
import pytest
import scipy.sparse as sp

from lineal import JointClassifier, LinearClassifier, check_gradient, verify
from lineal.features import block_map
from lineal.objective import L1, L2, ElasticNet, Hinge, Log, Lp, NoPenalty
from lineal.objective.dual_points import joint_hessian
from lineal.objective.joint import CrammerSinger, SmoothedCrammerSinger, Softmax
from lineal.objective.linear_maps import JointRows, NumpyRows, native_csr
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.primal import Objective

LABELS = ("a", "b", "c")
PENALTIES = [L2(0.7), L1(0.8), ElasticNet(0.5, 0.5), Lp(0.7, 1.5), NoPenalty()]
penalised = pytest.mark.parametrize("penalty", PENALTIES, ids=str)
either_loss = pytest.mark.parametrize("loss", [Log(), Hinge()], ids=str)
any_intercept = pytest.mark.parametrize(
    "fit_intercept", [False, True], ids=["no intercept", "free intercept"]
)


def shared(x, y):
    """Features of their own for each label, one that two labels share, and one of a pair of labels' order."""
    return {
        (0, y): x[0],
        (1, y): x[1],
        "vowel": x[2] if y == "a" else 0.0,
        "late": x[2] * LABELS.index(y),
    }


def sample(n=40, seed=0):
    """Rows of 3 numbers with noisy labels, none of them separable."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    codes = (X @ rng.normal(size=(3, 3)) + 1.5 * rng.gumbel(size=(n, 3))).argmax(axis=1)
    codes[:6] = np.arange(6) % 3
    return X, np.array(LABELS)[codes]


def stacked(loss=Softmax(), penalty=L2(0.7), intercept=Intercept.FREE, n=12, K=3, d=4, native=True):
    """A problem over random features of rows and labels, and the features as an (n, K, d) array."""
    rng = np.random.default_rng(1)
    phi = np.where(rng.random((n, K, d)) < 0.4, 0.0, rng.normal(size=(n, K, d)))
    matrix = sp.csr_array(phi.reshape(n * K, d))
    rows = JointRows(native_csr(matrix, 1) if native else NumpyRows(matrix), K)
    y, s = rng.integers(0, K, n).astype(np.int32), rng.uniform(0.5, 2.0, n)
    return Problem.of_rows(rows, y, s, loss, penalty, intercept, K), phi


@pytest.mark.parametrize("native", [True, False], ids=["native", "numpy"])
def test_products_are_those_of_the_array(native):
    """z_ik = phi_ik . w, V = sum_ik u_ik phi_ik, and the diagonal sum_ik h_ik phi_ik^2."""
    problem, phi = stacked(native=native)
    rng = np.random.default_rng(2)
    w, U = rng.normal(size=(4, 1)), rng.normal(size=(12, 3))
    X = problem.X
    np.testing.assert_allclose(X.dot(w), np.einsum("ikj,j->ik", phi, w[:, 0]), atol=1e-13)
    V = np.einsum("ikj,ik->j", phi, U)[:, None]
    np.testing.assert_allclose(X.adjoint(U), V, atol=1e-13)
    np.testing.assert_allclose(
        X.adjoint_summary(U, w, 0.3), (np.vdot(V, V), np.abs(V + 0.3 * w).max()), rtol=1e-12
    )
    np.testing.assert_allclose(X.squared_adjoint(U), np.einsum("ikj,ik->j", phi**2, U)[:, None], atol=1e-13)
    np.testing.assert_allclose(X.squared_adjoint(U[:, :1]), np.einsum("ikj,i->j", phi**2, U[:, 0])[:, None])
    np.testing.assert_allclose(X.gram(U[:, 0], False), np.einsum("ikj,i,ikl->jl", phi, U[:, 0], phi))
    kept = np.array([1, 3])
    np.testing.assert_allclose(
        X.take_columns(kept).dot(w[kept]), X.dot(np.where(np.isin(range(4), kept)[:, None], w, 0))
    )


@pytest.mark.parametrize("loss", [Softmax(), SmoothedCrammerSinger(0.5)], ids=str)
@pytest.mark.parametrize("has_constant", [False, True])
def test_the_hessian_is_the_slope_of_the_gradient(loss, has_constant):
    """sum_i s_i Phi_i'H_i Phi_i, with a constant for each label, is the Jacobian of the gradient."""
    problem, _ = stacked(loss, NoPenalty(), Intercept.FREE if has_constant else Intercept.NONE)
    objective = Objective(problem)
    theta = 0.3 * np.random.default_rng(3).normal(size=problem.n_parameters)
    G = joint_hessian(problem, problem.X, objective.scores(theta), has_constant)
    steps = 1e-6 * np.eye(len(theta))
    slopes = [objective.point(theta + e).gradient - objective.point(theta - e).gradient for e in steps]
    np.testing.assert_allclose(G, np.array(slopes) / 2e-6, atol=1e-6)


@penalised
def test_the_gradient_passes_the_check(penalty):
    """The gradient that solvers use is the slope of the objective they report."""
    objective = Objective(stated := stacked(penalty=penalty)[0])
    theta = np.random.default_rng(4).normal(size=stated.n_parameters)
    check = check_gradient(
        lambda t: objective.value(t, objective.scores(t)), lambda t: objective.point(t).gradient, theta
    )
    assert check.passed


@any_intercept
@penalised
@either_loss
def test_every_fit_is_certified_and_verified(loss, penalty, fit_intercept):
    """Each joint loss under each penalty ends certified, and NumPy alone proves it again."""
    X, y = sample()
    model = JointClassifier(shared, loss, penalty, fit_intercept=fit_intercept, tol=1e-4).fit(X, y)
    assert model.certificate_.converged
    again = verify(model, X, y)
    assert again.converged
    assert again.primal == pytest.approx(model.certificate_.primal, rel=1e-10)
    assert again.dual == pytest.approx(model.certificate_.dual, rel=1e-3)


@either_loss
def test_a_shared_feature_is_the_sum_of_tied_ones(loss):
    """A feature that fires for two labels is two features with one weight: the block map on a subspace."""
    X, y = sample()
    tied = JointClassifier(shared, loss, L2(1.0), tol=1e-10).fit(X, y)
    weights = tied.weights_
    W = np.array([[weights[0, k], weights[1, k], 0.0] for k in LABELS])
    W[:, 2] = [weights["vowel"], weights["late"], 2 * weights["late"]]
    np.testing.assert_allclose(tied.decision_function(X), X @ W.T, atol=1e-12)


def test_a_feature_of_all_labels_learns_nothing():
    """What fires alike for every label moves no difference of scores, so a penalty keeps its weight at 0."""
    X, y = sample()
    model = JointClassifier(lambda x, y: {**shared(x, y), "all": 5.0}, tol=1e-12).fit(X, y)
    assert abs(model.weights_["all"]) < 1e-6


def test_maxent_without_a_penalty_matches_the_counts():
    """At the unpenalised optimum expected feature counts equal empirical ones."""
    X, y = sample()
    model = JointClassifier(shared, Log(), NoPenalty(), tol=1e-12).fit(X, y)
    empirical, expected = counts(model, X, y)
    np.testing.assert_allclose(expected, empirical, atol=1e-5)


def test_maxent_under_l2_misses_the_counts_by_lambda_w():
    """Under L2 they differ by lambda w."""
    X, y = sample()
    model = JointClassifier(shared, Log(), L2(0.7), tol=1e-13).fit(X, y)
    empirical, expected = counts(model, X, y)
    np.testing.assert_allclose(empirical - expected, 0.7 * model.coef_, atol=1e-5)


def counts(model, X, y):
    """The sums of phi(x_i, y_i), and of phi(x_i, k) weighted by p(k | x_i)."""
    empirical, expected = np.zeros(len(model.coef_)), np.zeros(len(model.coef_))
    place = {name: j for j, name in enumerate(model.feature_names_)}
    for x, label, p in zip(X, y, model.predict_proba(X), strict=True):
        for name, value in shared(x, label).items():
            empirical[place[name]] += value
        for k, share in zip(LABELS, p, strict=True):
            for name, value in shared(x, k).items():
                expected[place[name]] += share * value
    return empirical, expected


@either_loss
def test_weight_2_is_the_row_twice(loss):
    """A row of weight k and the row k times have the same optimum."""
    X, y = sample()
    times = np.random.default_rng(3).integers(0, 4, size=len(y))
    heavy = JointClassifier(shared, loss, tol=1e-6).fit(X, y, sample_weight=times)
    rows = np.repeat(np.arange(len(y)), times)
    repeated = JointClassifier(shared, loss, tol=1e-6).fit(X[rows], y[rows])
    assert heavy.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=2e-6)
    np.testing.assert_allclose(heavy.decision_function(X), repeated.decision_function(X), atol=2e-2)


def test_renaming_labels_permutes_columns_and_nothing_else():
    """Labels in another order give the same weights by name, and the columns of scores in that order."""
    X, y = sample()
    other = {"a": "z", "b": "y", "c": "x"}
    back = {new: old for old, new in other.items()}
    model = JointClassifier(shared, tol=1e-12).fit(X, y)
    renamed = JointClassifier(lambda x, y: shared(x, back[y]), tol=1e-12).fit(
        X, [other[label] for label in y]
    )
    assert [back[label] for label in renamed.classes_] == ["c", "b", "a"]
    np.testing.assert_allclose(renamed.decision_function(X)[:, ::-1], model.decision_function(X), atol=1e-5)
    for name, weight in model.weights_.items():
        assert renamed.weights_[name] == pytest.approx(weight, abs=1e-5)


def test_ties_go_to_the_first_label():
    """Among equal scores the lowest-numbered label wins."""
    X, y = sample()
    model = JointClassifier(shared).fit(X, y)
    assert model.predict([np.zeros(3)]).tolist() == ["a"]
    np.testing.assert_allclose(model.predict_proba([np.zeros(3)]), 1 / 3)


def test_two_labels_have_two_scores():
    """With two labels the block map under L2(c) is the one-row model under L2(c / 2): w = +-w_1 / 2."""
    X, y = sample()
    X, y = X[y != "c"], y[y != "c"]
    joint = JointClassifier(block_map, Log(), L2(2.0), tol=1e-12).fit(X, y)
    single = LinearClassifier(Log(), L2(1.0), fit_intercept=False, tol=1e-12).fit(X, y)
    Z = joint.decision_function(X)
    assert Z.shape == (len(X), 2)
    np.testing.assert_allclose(Z[:, 1] - Z[:, 0], single.decision_function(X), atol=1e-5)
    assert joint.certificate_.primal == pytest.approx(single.certificate_.primal, rel=1e-11)


def test_labels_beside_those_in_y_are_scored_too():
    """A label that no example has is chosen where shared features speak for it."""

    def phi(x, y):
        return {"match": float(x == y)}

    model = JointClassifier(phi, labels=["a", "b", "c"]).fit(["a", "b", "a"], ["a", "b", "a"])
    assert model.predict(["c", "a"]).tolist() == ["c", "a"]
    assert verify(model, ["a", "b", "a"], ["a", "b", "a"]).converged


@pytest.mark.parametrize("loss", [Softmax(), CrammerSinger()], ids=str)
def test_the_gap_is_a_sum_of_terms_none_of_them_negative(loss):
    """Weak duality: whatever w and whatever feasible U, P(w) >= D(U)."""
    from lineal.objective.dual_points import feasible

    problem, _ = stacked(loss)
    rng = np.random.default_rng(5)
    for _ in range(50):
        W, b = rng.normal(size=(4, 1)), rng.normal(size=3)
        bound = feasible(problem, 2 * rng.normal(size=(12, 3)), W, b)
        assert problem.primal(W, b) >= bound.dual - 1e-12
