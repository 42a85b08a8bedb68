"""Learners and their twins of scikit-learn: shapes of what is learned, and what options mean."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import kernel_ridge, linear_model, neighbors, svm

import lineal
from lineal import SVC, LinearSVC, RidgeClassifier, SGDClassifier
from lineal.objective import Hinge, SquaredHinge

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
T = X @ RNG.normal(size=4) + 0.1 * RNG.normal(size=60) + 3
COLUMNS = [
    (linear_model, "LinearRegression"),
    (linear_model, "Ridge"),
    (linear_model, "Lasso"),
    (linear_model, "ElasticNet"),
    (kernel_ridge, "KernelRidge"),
    (neighbors, "KNeighborsRegressor"),
]


@pytest.mark.parametrize(("theirs", "name"), COLUMNS)
@pytest.mark.parametrize("targets", [T, T[:, None], np.column_stack([T, -T])], ids=["y", "column", "two"])
def test_shapes_for_a_column_of_targets(theirs, name, targets):
    """What is learned from (n,), (n, 1) and (n, 2) targets has the twin's shapes, and the same numbers."""
    ours, twin = getattr(lineal, name)().fit(X, targets), getattr(theirs, name)().fit(X, targets)
    for attribute in ("coef_", "intercept_", "dual_coef_"):
        if hasattr(twin, attribute):
            assert np.shape(getattr(ours, attribute)) == np.shape(getattr(twin, attribute)), attribute
    assert ours.predict(X).shape == twin.predict(X).shape
    np.testing.assert_allclose(ours.predict(X), twin.predict(X), rtol=1e-3, atol=1e-3)  # their tol


def test_a_model_of_one_column_is_saved_and_verified(tmp_path):
    """Its file answers in the same shape, and its certificate is checked with targets of that shape."""
    model = lineal.LinearRegression().fit(X, T[:, None])
    lineal.save(model, tmp_path / "model.lineal")
    answers = lineal.load(tmp_path / "model.lineal").predict(X)
    np.testing.assert_allclose(answers, model.predict(X))
    assert answers.shape == (60, 1)
    assert lineal.verify(model, X, T[:, None]).converged


def three_classes():
    """Three classes that overlap a little."""
    y = np.repeat([0, 1, 2], 20)
    Z = X.copy()
    Z[np.arange(60), y] += 1.5
    return Z, y


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_weights_of_the_machines_of_pairs(layout):
    """SVC.coef_ with a linear kernel: a row a pair, in scikit-learn's order, that gives the pair's scores."""
    Z, y = three_classes()
    y = np.where(np.arange(60) % 7 == 0, 3, y)  # six pairs, whose number is not that of the classes
    ours = SVC(kernel="linear", decision_function_shape="ovo", tol=1e-8).fit(layout(Z), y)
    twin = svm.SVC(kernel="linear", decision_function_shape="ovo", tol=1e-8).fit(Z, y)
    coef = ours.coef_.toarray() if sp.issparse(ours.coef_) else ours.coef_
    assert coef.shape == twin.coef_.shape == (6, 4)
    np.testing.assert_allclose(coef, twin.coef_, atol=1e-4)
    np.testing.assert_allclose(Z @ coef.T + ours.intercept_, ours.decision_function(layout(Z)), atol=1e-9)


def test_weights_of_the_machines_against_the_rest():
    """With multi_class="ovr" there is a row a class."""
    Z, y = three_classes()
    model = SVC(kernel="linear", multi_class="ovr").fit(Z, y)
    np.testing.assert_allclose(Z @ model.coef_.T + model.intercept_, model.decision_function(Z), atol=1e-9)


# ---- class_weight ----------------------------------------------------------------------------------------

WEIGHTS = {0: 0.3, 1: 5.0, 2: 1.5}


def objective(coef, intercept, Z, signs, s, loss, penalized):
    """sum_i s_i loss(y_i z_i) + |w|^2 / 2 of one output, the intercept penalised or not."""
    z = Z @ coef + intercept
    return float(s @ loss.value(signs, z)) + (coef @ coef + penalized * intercept**2) / 2


def test_class_weights_of_liblinear_are_those_of_the_class_alone():
    """Theirs weigh a class in its own problem and not among the rest of the others; so do fits a class with
    such weights of rows, as docs/scikit-learn.md says."""
    Z, y = three_classes()
    twin = svm.LinearSVC(class_weight=WEIGHTS, tol=1e-9, max_iter=100_000).fit(Z, y)
    for k in range(3):
        signs, s = np.where(y == k, 1.0, -1.0), np.where(y == k, WEIGHTS[k], 1.0)
        ours = LinearSVC(penalize_intercept=True, tol=1e-9).fit(Z, signs, sample_weight=s)
        judged = (Z, signs, s, SquaredHinge(), True)
        best = objective(ours.coef_[0], ours.intercept_[0], *judged)
        assert objective(twin.coef_[k], twin.intercept_[k], *judged) == pytest.approx(best, rel=1e-7)


@pytest.mark.parametrize(("kind", "loss"), [(LinearSVC, SquaredHinge()), (SGDClassifier, Hinge())])
def test_class_weights_against_the_rest_are_weights_of_rows(kind, loss):
    """Ours weigh the rows of a class wherever they stand: a weight of 2 is the class's rows twice, in every
    problem of one class against the rest."""
    Z, y = three_classes()
    weighted = kind(class_weight={1: 2.0}, tol=1e-9).fit(Z, y)
    again = np.concatenate([np.arange(60), np.flatnonzero(y == 1)])
    twice = kind(tol=1e-9).fit(Z[again], y[again])
    np.testing.assert_allclose(weighted.coef_, twice.coef_, rtol=1e-5, atol=1e-5)
    s = np.where(y == 1, 2.0, 1.0)
    for k in range(3):  # each output is the minimum of its own weighted problem
        signs = np.where(y == k, 1.0, -1.0)
        strength = 1.0 if kind is LinearSVC else 1e-4 * s.sum()
        judged = (Z, signs, s / strength, loss, False)
        alone = lineal.LinearClassifier(loss, lineal.objective.L2(strength), tol=1e-9).fit(Z, signs, s)
        found = objective(weighted.coef_[k], weighted.intercept_[k], *judged)
        assert found == pytest.approx(objective(alone.coef_[0], alone.intercept_[0], *judged), rel=1e-6)


@pytest.mark.parametrize("weight", [WEIGHTS, "balanced"])
def test_class_weights_of_ridge_and_softmax_are_the_twins(weight):
    """RidgeClassifier and LogisticRegression weigh rows in both libraries."""
    Z, y = three_classes()
    ours = RidgeClassifier(class_weight=weight, tol=1e-10).fit(Z, y)
    twin = linear_model.RidgeClassifier(class_weight=weight).fit(Z, y)
    np.testing.assert_allclose(ours.coef_, twin.coef_, atol=1e-8)
    softmax = lineal.LogisticRegression(class_weight=weight, tol=1e-10).fit(Z, y)
    peer = linear_model.LogisticRegression(class_weight=weight, tol=1e-10, max_iter=10_000).fit(Z, y)
    np.testing.assert_allclose(softmax.coef_, peer.coef_, atol=1e-4)


def test_class_weights_inside_one_vs_rest_are_of_the_two_labels():
    """In OneVsRest(LogisticRegression(class_weight="balanced")) each problem is balanced for itself, as in
    scikit-learn's."""
    from sklearn.multiclass import OneVsRestClassifier

    Z, y = three_classes()
    ours = lineal.OneVsRest(lineal.LogisticRegression(class_weight="balanced", tol=1e-10)).fit(Z, y)
    twin = OneVsRestClassifier(linear_model.LogisticRegression(class_weight="balanced", tol=1e-10)).fit(Z, y)
    for part, peer in zip(ours.parts_, twin.estimators_, strict=True):
        np.testing.assert_allclose(part.coef_, peer.coef_, atol=1e-4)
