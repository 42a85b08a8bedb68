"""C=inf is the hard margin: the widest street there is, or a proof that there is none."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from lineal import SVC, CancellationToken, LinearSVC, verify
from lineal.errors import NotCertifiedWarning, NotSeparableError, ParameterError
from lineal.objective.certificate import Stop

IRIS, SPECIES = load_iris(return_X_y=True)
WINE, CULTIVAR = load_wine(return_X_y=True)


def clouds(seed, n_classes=2):
    """Squares around points of a circle, with room between them."""
    rng = np.random.default_rng(seed)
    turn, y = np.arange(n_classes) * 2 * np.pi / n_classes, np.arange(30) % n_classes
    middles = 8 * np.column_stack([np.cos(turn), np.sin(turn)])
    return middles[y] + rng.uniform(-1, 1, size=(30, 2)), y


def by_slsqp(X, y, joint):
    """The least |W|^2 / 2 under the same constraints, by a general programme."""
    codes = np.unique(y, return_inverse=True)[1]
    A, K = np.column_stack([X, np.ones(len(X))]), codes.max() + 1
    width = A.shape[1]
    if not joint:
        rows = A * np.where(codes == 1, 1.0, -1.0)[:, None]
    else:
        rows = []
        for a, own in zip(A, codes, strict=True):
            for k in range(K):
                if k != own:
                    block = np.zeros((K, width))
                    block[own], block[k] = a, -a
                    rows.append(block.ravel())
        rows = np.array(rows)
    weight = np.tile(np.append(np.ones(width - 1), 0.0), K if joint else 1)
    found = minimize(
        lambda v: 0.5 * (weight * v) @ v, np.ones(rows.shape[1]) * 0.1, jac=lambda v: weight * v,
        constraints={"type": "ineq", "fun": lambda v: rows @ v - 1, "jac": lambda v: rows},
        method="SLSQP", options={"maxiter": 1000, "ftol": 1e-14},
    )  # fmt: skip
    return found.fun


def test_two_points_and_the_deck_s_street():
    """Half the distance of two points on each side; four points of which three are on the border."""
    model = LinearSVC(C=np.inf, tol=1e-10).fit([[0.0, 0.0], [3.0, 4.0]], ["a", "b"])
    assert 1 / np.linalg.norm(model.coef_) == pytest.approx(2.5)
    X, y = [[1.0, 1.0], [2.0, 2.0], [0.0, 0.0], [-1.0, 0.0]], [1, 1, 0, 0]
    model = LinearSVC(C=np.inf, tol=1e-10).fit(X, y)
    assert 1 / np.linalg.norm(model.coef_) == pytest.approx(np.sqrt(2) / 2)
    np.testing.assert_allclose(model.decision_function([[0.5, 0.5]]), 0, atol=1e-8)
    # A diagonal street: the corner of a triangle on one side, a side of it on the other.
    X = [[0.0, 0.0], [0.0, 2.0], [2.0, 0.0], [2.0, 2.0], [3.0, 3.0]]
    model = LinearSVC(C=np.inf, tol=1e-10).fit(X, [0, 0, 0, 1, 1])
    assert 1 / np.linalg.norm(model.coef_) == pytest.approx(np.sqrt(2) / 2)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_general_programme_finds_the_same(seed, n_classes):
    X, y = clouds(seed, n_classes)
    model = LinearSVC(C=np.inf, multi_class="crammer_singer", tol=1e-9).fit(X, y)
    assert model.certificate_.converged
    assert model.certificate_.primal == pytest.approx(by_slsqp(X, y, joint=n_classes > 2), rel=1e-5)
    assert verify(model, X, y).converged
    assert (model.predict(X) == y).all()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_it_is_the_linear_machine_of_the_kernels(loss):
    """SVC finds the same street from its own dual; which slack it would have cost does not matter."""
    y = SPECIES == 0
    linear = LinearSVC(C=np.inf, loss=loss, tol=1e-9).fit(IRIS, y)
    machine = SVC(C=np.inf, kernel="linear", tol=1e-9).fit(IRIS, y)
    np.testing.assert_allclose(linear.coef_, machine.coef_, rtol=1e-6)
    np.testing.assert_allclose(linear.intercept_, machine.intercept_, rtol=1e-6)
    assert (np.where(y, 1, -1) * linear.decision_function(IRIS)).min() >= 1 - 1e-9


def test_one_against_the_rest_is_a_street_for_each():
    """Each output is the two-class machine of its class."""
    model = LinearSVC(C=np.inf, tol=1e-9).fit(WINE, CULTIVAR)
    assert model.certificate_.converged
    for k in range(3):
        one = LinearSVC(C=np.inf, tol=1e-9).fit(WINE, k == CULTIVAR)
        np.testing.assert_allclose(model.coef_[k], one.coef_[0], rtol=1e-5, atol=1e-8)
    assert verify(model, WINE, CULTIVAR).converged


@pytest.mark.parametrize(
    "options", [{}, {"penalize_intercept": True}, {"multi_class": "crammer_singer"}], ids=str
)
def test_raw_tables_are_certified(options):
    """Columns whose units differ by five powers of ten, and a street of 4e-5."""
    X, y = load_breast_cancer(return_X_y=True)
    model = LinearSVC(C=np.inf, tol=1e-6, **options).fit(X, y)
    assert model.certificate_.converged
    assert verify(model, X, y, tol=1e-6).converged


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_units_and_weights_of_rows_change_nothing(scale):
    """X -> cX gives w / c; weights say only which rows count; sparse rows are rows."""
    X, y = clouds(3)
    one = LinearSVC(C=np.inf, tol=1e-9).fit(X, y)
    other = LinearSVC(C=np.inf, tol=1e-9).fit(scale * X, y, sample_weight=np.linspace(0.1, 50, len(y)))
    np.testing.assert_allclose(other.coef_ * scale, one.coef_, rtol=1e-6)
    sparse = LinearSVC(C=np.inf, tol=1e-9).fit(sp.csr_array(scale * X), y)
    np.testing.assert_allclose(sparse.coef_ * scale, one.coef_, rtol=1e-6)
    mixed = np.vstack([X, X[:1]])
    label, weight = np.append(y, 1 - y[0]), np.append(np.ones(len(y)), 0.0)
    weighted = LinearSVC(C=np.inf, tol=1e-9).fit(mixed, label, sample_weight=weight)
    np.testing.assert_allclose(weighted.coef_, one.coef_, rtol=1e-6)


def test_more_columns_than_a_system_may_have():
    """Random rows of many columns are separable; the dual of their soft margins finds the street."""
    rng = np.random.default_rng(5)
    X = sp.random_array((60, 5000), density=0.02, rng=rng, format="csr")
    y = np.arange(60) % 2
    model = LinearSVC(C=np.inf, tol=1e-4).fit(X, y)
    assert model.certificate_.converged
    machine = SVC(C=np.inf, kernel="linear", tol=1e-8).fit(X, y)
    assert model.certificate_.primal == pytest.approx(machine.certificate_.primal, rel=2e-4)
    twice = sp.vstack([X, X[:1]], format="csr")
    with pytest.raises(NotSeparableError):
        LinearSVC(C=np.inf).fit(twice, np.append(y, 1 - y[0]))


# ---- no street ----------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
def test_a_refusal_is_a_proof(intercept):
    """The weights are two means, one of each class, that meet; without an intercept one of signed rows."""
    y = SPECIES == 1
    with pytest.raises(NotSeparableError, match="finite C") as refused:
        LinearSVC(C=np.inf, fit_intercept=intercept).fit(IRIS, y)
    a, signs = refused.value.weights, np.where(y, 1.0, -1.0)
    assert (a >= 0).all()
    if intercept:
        assert a[y].sum() == pytest.approx(1)
        assert a[~y].sum() == pytest.approx(1)
    else:
        assert a.sum() == pytest.approx(1)
    assert np.linalg.norm((a * signs) @ IRIS) <= 1e-10
    assert refused.value.distance <= 1e-10


def test_the_class_that_is_in_the_way_is_named():
    names = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
    with pytest.raises(NotSeparableError, match="class 'versicolor' is not separable"):
        LinearSVC(C=np.inf).fit(IRIS, names)
    with pytest.raises(NotSeparableError, match="the classes are not separable"):
        LinearSVC(C=np.inf, multi_class="crammer_singer").fit(IRIS, names)


def test_touching_classes_have_no_street():
    """Quasi-complete separation: a border between them, and nothing beside it."""
    with pytest.raises(NotSeparableError):
        LinearSVC(C=np.inf).fit([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1])


def test_what_no_hard_margin_has():
    with pytest.raises(ParameterError, match="penalty='l2'"):
        LinearSVC(C=np.inf, penalty="l1").fit(IRIS, SPECIES == 0)
    with pytest.raises(ParameterError, match="finite C"):
        LinearSVC(C=np.inf).partial_fit(IRIS, SPECIES == 0, classes=[False, True])


def test_a_fit_that_is_cut_short_claims_nothing():
    """Neither a street nor that there is none: what there is comes back, uncertified."""
    with CancellationToken() as token:
        token.cancel()
        with pytest.warns(NotCertifiedWarning, match="interrupted"):
            model = LinearSVC(C=np.inf).fit(IRIS, SPECIES == 1)
    assert model.certificate_.stop is Stop.CANCELLED
    assert not model.certificate_.converged
    with pytest.warns(NotCertifiedWarning, match="max_seconds"):
        model = LinearSVC(C=np.inf, max_seconds=1e-9).fit(IRIS, SPECIES == 0)
    assert np.isfinite(model.coef_).all()
