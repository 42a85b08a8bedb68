"""Manifold regularisation: convex and certified, the plain machine without it, smooth functions with it."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.neighbors import kneighbors_graph

from contract.members import features, labels
from lineal import SVC, LaplacianSVM
from lineal.kernels import Gaussian, Linear, Spectrum
from lineal.learners.scenarios.manifold import deformed, laplacian

LOSSES = ["hinge", "squared"]


def moons(n=120, n_given=2, noise=0.05, seed=0):
    """Two half circles that reach into each other, all labels, and labels of which most are None."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 2
    angle = np.pi * rng.random(n)
    X = np.where(
        truth[:, None] == 0,
        np.stack([np.cos(angle), np.sin(angle)], axis=1),
        np.stack([1 - np.cos(angle), 0.5 - np.sin(angle)], axis=1),
    ) + noise * rng.normal(size=(n, 2))
    y = np.full(n, None, dtype=object)
    for label in (0, 1):
        rows = rng.choice(np.flatnonzero(truth == label), n_given, replace=False)
        y[rows] = label
    return X, truth, y


def objective(model, X, y, C, gamma_manifold):
    """What is minimised, from the expansion and the graph alone."""
    K = model.kernel_.gram(X)
    a = np.zeros(len(X))
    a[model.support_] = model.dual_coef_[0]
    f = K @ a
    given = np.array([label is not None for label in y])
    sign = np.where(y[given] == model.classes_[1], 1.0, -1.0)
    margin = sign * (f[given] + model.intercept_[0])
    losses = np.maximum(0, 1 - margin) if model.loss == "hinge" else (1 - margin) ** 2 / 2
    edges = sp.triu(model.graph_).tocoo()
    rough = float(edges.data @ (f[edges.row] - f[edges.col]) ** 2)
    return 0.5 * a @ f + C * losses.sum() + 0.5 * gamma_manifold * rough, rough


# ---- certificate ----------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("gamma_manifold", [0.0, 0.1, 10.0, 1000.0])
def test_the_gap_is_certified_and_the_objective_is_what_is_said(loss, gamma_manifold):
    """primal is the stated sum over losses and edges, computed anew, and within tol of its bound."""
    X, _, y = moons()
    model = LaplacianSVM(2.0, gamma_manifold, gamma=4.0, loss=loss, tol=1e-7).fit(X, y)
    value, rough = objective(model, X, y, 2.0, gamma_manifold)
    assert model.objective_ == pytest.approx(value, rel=1e-8)
    assert model.roughness_[0] == pytest.approx(rough, rel=1e-7)
    assert model.certificate_.converged
    # Rounding of sums that an O(n^3) solution went into.
    assert -1e-9 <= model.certificate_.relative_gap <= 1e-7


@pytest.mark.parametrize("loss", LOSSES)
def test_nothing_nearby_is_better(loss):
    """No random change of the coefficients of any row, or of b, lowers the objective."""
    X, _, y = moons(n=40)
    model = LaplacianSVM(2.0, 3.0, gamma=4.0, loss=loss, tol=1e-9).fit(X, y)
    best, _ = objective(model, X, y, 2.0, 3.0)
    full = np.zeros((1, len(X)))
    full[0, model.support_] = model.dual_coef_[0]
    model.support_ = np.arange(len(X))
    rng = np.random.default_rng(0)
    b = model.intercept_
    for size in (1e-4, 1e-3, 1e-2, 0.1):
        for _ in range(10):
            model.dual_coef_ = full + size * rng.normal(size=full.shape)
            model.intercept_ = b + size * rng.normal(size=1)
            assert objective(model, X, y, 2.0, 3.0)[0] >= best * (1 - 1e-8)


def test_a_general_solver_finds_the_same_minimum():
    """Minimised over the coefficients of all rows, without any duality, squares give the same scores."""
    X, _, y = moons(n=24)
    model = LaplacianSVM(2.0, 3.0, gamma=4.0, loss="squared").fit(X, y)
    K, L = Gaussian(gamma=4.0).gram(X), laplacian(model.graph_).toarray()
    given = np.array([label is not None for label in y])
    sign = np.where(y[given] == 1, 1.0, -1.0)

    def value(parameters):
        f, b = K @ parameters[:-1], parameters[-1]
        r = f[given] + b - sign
        slope = np.zeros(len(X))
        slope[given] = 2.0 * r
        gradient = K @ (parameters[:-1] + slope + 3.0 * L @ f)
        return (
            0.5 * parameters[:-1] @ f + r @ r + 1.5 * f @ L @ f,
            np.append(gradient, 2.0 * r.sum()),
        )

    found = minimize(value, np.zeros(25), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000})
    assert model.objective_ <= found.fun * (1 + 1e-9)
    scores = K @ found.x[:-1] + found.x[-1]
    assert np.abs(scores - model.decision_function(X)).max() < 1e-3


# ---- reductions -----------------------------------------------------------------------------------


def test_without_the_manifold_it_is_the_plain_machine():
    """gamma_manifold = 0 leaves SVC of the labelled rows."""
    X, _, y = moons(n_given=20)
    given = np.array([label is not None for label in y])
    ours = LaplacianSVM(2.0, 0.0, gamma=2.0, tol=1e-8).fit(X, y)
    theirs = SVC(C=2.0, gamma=2.0, tol=1e-7).fit(X[given], y[given].astype(int))
    # A gap of 1e-7 leaves scores free by about its root.
    assert np.abs(ours.decision_function(X) - theirs.decision_function(X)).max() < 5e-3
    assert ours.objective_ == pytest.approx(2.0 * theirs.certificate_.primal, rel=1e-6)


def test_a_graph_without_edges_is_no_manifold():
    """Edges of weight 0 cost nothing, whatever gamma_manifold is."""
    X, _, y = moons(n_given=10)
    none = sp.csr_array((len(X), len(X)))
    ours = LaplacianSVM(1.0, 100.0, gamma=2.0, tol=1e-8).fit(X, y, graph=none)
    plain = LaplacianSVM(1.0, 0.0, gamma=2.0, tol=1e-8).fit(X, y)
    assert np.abs(ours.decision_function(X) - plain.decision_function(X)).max() < 1e-3


@pytest.mark.parametrize("loss", LOSSES)
def test_a_higher_cost_makes_smoother_functions(loss):
    """The optimum's roughness never rises with gamma_manifold, and its other terms never fall."""
    X, _, y = moons()
    costs = [0.0, 0.1, 1.0, 10.0, 100.0]
    models = [LaplacianSVM(2.0, cost, gamma=4.0, loss=loss, tol=1e-9).fit(X, y) for cost in costs]
    rough = np.array([model.roughness_[0] for model in models])
    rest = np.array(
        [model.objective_ - 0.5 * c * r for model, c, r in zip(models, costs, rough, strict=True)]
    )
    assert (np.diff(rough) <= 1e-6 * rough[:-1]).all()
    assert (np.diff(rest) >= -1e-6 * rest[:-1]).all()


def test_the_deformed_kernel_is_the_kernel_of_its_space():
    """In it the squared norm of a function is |f|^2 + gamma f'L f, and it is positive semi-definite."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    G = Gaussian(gamma=0.5).gram(X)
    W = np.triu(rng.random((30, 30)) < 0.2, 1) * rng.random((30, 30))
    L = laplacian(sp.csr_array(W + W.T))
    labelled = np.arange(5, 15)
    space = deformed(G, L, 2.0, labelled)
    assert np.linalg.eigvalsh(space.K).min() > -1e-12
    beta = rng.normal(size=10)
    a, f, norm, rough = space.expanded(beta)
    assert beta @ space.K @ beta == pytest.approx(norm + 2.0 * rough, rel=1e-10)
    assert np.abs(f[labelled] - space.K @ beta).max() < 1e-10
    assert np.abs(a + 2.0 * (L @ f) - np.eye(30)[:, labelled] @ beta).max() < 1e-10


@pytest.mark.parametrize("wrong", [0.0, 1e-6, 1e-2, 1.0])
def test_the_bound_of_the_norm_holds_for_any_coefficients(wrong):
    """Where A beta is not exact, the bound is above the true norm, by the square of what is wrong."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(25, 3))
    W = np.triu(rng.random((25, 25)) < 0.2, 1) * 1.0
    space = deformed(Gaussian(gamma=0.5).gram(X), laplacian(sp.csr_array(W + W.T)), 2.0, np.arange(8))
    beta = rng.normal(size=8)
    a = space.expanded(beta)[0] + wrong * rng.normal(size=25)
    exact = beta @ space.K @ beta
    bound = space.norm_bound(beta, a, space.G @ a)
    assert bound >= exact * (1 - 1e-12)
    assert bound - exact <= 1e-10 + 1e7 * wrong**2


# ---- graph ----------------------------------------------------------------------------------------


def test_the_graph_is_that_of_nearest_neighbours():
    """An edge joins a row to its nearest others, and is there both ways; scikit-learn finds the same."""
    X, _, y = moons()
    graph = LaplacianSVM(n_neighbors=5).fit(X, y).graph_.toarray()
    theirs = kneighbors_graph(X, 5).toarray()
    assert (graph == np.maximum(theirs, theirs.T)).all()
    assert np.diagonal(graph).max() == 0


def test_copies_of_a_row_do_not_hide_it():
    """A row that is there many times has neighbours, none of them itself."""
    X = np.array([[0.0], [0.0], [0.0], [0.0], [0.0], [1.0], [2.0]])
    y = ["a", None, None, None, None, None, "b"]
    graph = LaplacianSVM(n_neighbors=2).fit(X, y).graph_.toarray()
    assert np.diagonal(graph).max() == 0
    assert (graph.sum(axis=1) >= 2).all()
    assert (graph == graph.T).all()


def test_neighbours_in_the_space_of_a_kernel_of_strings():
    """Things that are no vectors are near where the kernel says so."""
    texts = ["abab", "baba", "abba", "xyxy", "yxyx", "xyyx"]
    model = LaplacianSVM(kernel=Spectrum(2), n_neighbors=2).fit(texts, ["ab", None, None, "xy", None, None])
    assert model.transduction_.tolist() == ["ab"] * 3 + ["xy"] * 3
    assert model.predict(["ababab", "xxyy"]).tolist() == ["ab", "xy"]


# ---- what it is for -------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_two_labels_a_moon_are_enough(loss, seed):
    """Labels spread along the moons, to rows in the data and to new ones."""
    X, truth, y = moons(n=200, seed=seed)
    model = LaplacianSVM(1.0, 10.0, gamma=10.0, loss=loss).fit(X, y)
    assert np.mean(model.transduction_ == truth) > 0.97
    new, right, _ = moons(n=200, seed=seed + 100)
    assert np.mean(model.predict(new) == right) > 0.95
    plain = LaplacianSVM(1.0, 0.0, gamma=10.0, loss=loss).fit(X, y)
    assert np.mean(plain.transduction_ == truth) < 0.95


def test_more_than_two_classes():
    """Each class has a machine of its own; all are certified together."""
    X = features(60, 3)
    y = [label if row < 24 else None for row, label in enumerate(labels(X, 3))]
    model = LaplacianSVM(kernel=Linear()).fit(X, y)
    assert model.dual_coef_.shape[0] == 3
    assert model.decision_function(X).shape == (60, 3)
    assert model.certificate_.converged


def test_sparse_rows_are_the_same():
    """The layout of X changes nothing but rounding."""
    X, _, y = moons(n=60)
    dense, sparse = (LaplacianSVM(gamma=4.0, tol=1e-8).fit(each, y) for each in (X, sp.csr_array(X)))
    assert np.abs(dense.decision_function(X) - sparse.decision_function(X)).max() < 1e-3
