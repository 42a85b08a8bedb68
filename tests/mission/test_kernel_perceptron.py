"""The kernel perceptron of the lectures: both dual forms, two classes and more, XOR, explicit maps."""

import numpy as np
import pytest

from lineal import KernelPerceptron, Perceptron, PolynomialFeatures
from lineal.errors import NotConvergedWarning
from lineal.kernels import Gaussian, Linear, Paired, Pairs, Polynomial, Quadratic, Spectrum, SubsetTree
from reference import kernel_perceptron as printed

rng = np.random.default_rng(0)
# Small whole numbers: sums are exact, so that ties are ties on every road.
ROWS = rng.integers(-3, 4, size=(60, 3)).astype(float)
SIGNS = np.where(rng.random(60) < 0.5, -1, 1)
KINDS = rng.integers(0, 4, size=60)
KERNELS = [Linear(), Linear() + 1, Quadratic(), Quadratic(c=1), Polynomial(3)]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("epochs", [1, 3])
def test_both_forms_of_two_classes_as_printed(kernel, epochs):
    """A trace of the printed pseudo-code gives the same coefficients: alpha += 1, and alpha += t."""
    K = kernel.gram(ROWS).tolist()
    for form in ("counts", "signed"):
        model = KernelPerceptron(kernel, "plain", form=form, epochs=epochs, shuffle=False).fit(ROWS, SIGNS)
        assert model.alpha_.tolist() == getattr(printed, form)(K, SIGNS.tolist(), epochs)
        assert model.alpha_.dtype == np.int64


@pytest.mark.parametrize("kernel", KERNELS[:4], ids=str)
def test_more_classes_as_printed(kernel):
    """alpha_ij counts how often row i was taken for class j; scores are sums over pairs of x and class."""
    model = KernelPerceptron(kernel, "plain", epochs=2, shuffle=False).fit(ROWS, KINDS)
    alpha = printed.k_classes(kernel.gram(ROWS).tolist(), KINDS.tolist(), 4, 2)
    np.testing.assert_array_equal(model.alpha_, alpha)
    signed = KernelPerceptron(kernel, "plain", epochs=2, shuffle=False, form="signed").fit(ROWS, KINDS)
    np.testing.assert_array_equal(signed.alpha_, np.eye(4)[KINDS] * alpha.sum(axis=1)[:, None] - alpha)
    np.testing.assert_array_equal(signed.decision_function(ROWS), kernel.gram(ROWS) @ signed.alpha_)


def test_a_trace_by_hand():
    """Four rows on a line: f = 0 at row 0 says +1, so it is a mistake, and so on for one epoch."""
    x, t = [[1.0], [2.0], [-1.0], [3.0]], [-1, 1, 1, -1]
    # row 0: f = 0 -> +1, wrong: alpha_0 = 1, f(x) = -x. row 1: -2 -> -1, wrong: alpha_1 = 1, f(x) = x.
    # row 2: -1 -> -1, wrong: alpha_2 = 1, f(x) = 0. row 3: 0 -> +1, wrong: alpha_3 = 1.
    model = KernelPerceptron(Linear(), "plain", epochs=1, shuffle=False).fit(x, t)
    assert model.alpha_.tolist() == [1, 1, 1, 1]
    assert model.decision_function([[1.0]]).tolist() == [-3.0]


@pytest.mark.parametrize("labels", [SIGNS, KINDS], ids=["two classes", "four classes"])
@pytest.mark.parametrize("variant", ["plain", "averaged", "voted"])
def test_the_linear_kernel_is_the_perceptron(variant, labels):
    """With x.z (+ 1) it is Perceptron without (with) an intercept: mistake for mistake, score for score."""
    for kernel, has_intercept in ((Linear(), False), (Linear() + 1, True)):
        options = {"epochs": 4, "random_state": 7}
        dual = KernelPerceptron(kernel, variant, **options).fit(ROWS, labels)
        primal = Perceptron(variant, fit_intercept=has_intercept, **options).fit(ROWS, labels)
        assert dual.mistakes_.tolist() == primal.mistakes_.tolist()
        assert (dual.updates_, dual.n_iter_) == (primal.updates_, primal.n_iter_)
        assert dual.radius_ == pytest.approx(primal.radius_)
        np.testing.assert_allclose(
            dual.decision_function(ROWS), primal.decision_function(ROWS), rtol=1e-12, atol=1e-12
        )
        np.testing.assert_array_equal(dual.predict(ROWS), primal.predict(ROWS))


@pytest.mark.parametrize("labels", [SIGNS, KINDS], ids=["two classes", "four classes"])
def test_the_explicit_quadratic_map_is_the_same_machine(labels):
    """Perceptron on phi(x), all ordered products of two columns, is KernelPerceptron with (x.z)^2."""
    phi = PolynomialFeatures(2, ordered=True, homogeneous=True).fit_transform(ROWS)
    for variant in ("plain", "averaged"):
        explicit = Perceptron(variant, fit_intercept=False, epochs=3, shuffle=False).fit(phi, labels)
        kernel = KernelPerceptron(Quadratic(), variant, epochs=3, shuffle=False).fit(ROWS, labels)
        assert explicit.mistakes_.tolist() == kernel.mistakes_.tolist()
        np.testing.assert_allclose(
            kernel.decision_function(ROWS), explicit.decision_function(phi), rtol=1e-12, atol=1e-9
        )


def test_xor():
    """AND and OR converge with a line; XOR never does, and does with a quadratic kernel."""
    corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    until = {"until_convergence": True, "shuffle": False}
    for truth in ([-1, -1, -1, 1], [-1, 1, 1, 1]):
        line = KernelPerceptron(Linear() + 1, "plain", **until).fit(corners, truth)
        assert line.converged_
        assert line.predict(corners).tolist() == truth
    xor = [-1, 1, 1, -1]
    with pytest.warns(NotConvergedWarning, match="richer kernel"):
        stuck = KernelPerceptron(Linear() + 1, "plain", epochs=200, **until).fit(corners, xor)
    assert not stuck.converged_
    for kernel in (Quadratic(c=1), Polynomial(2), Gaussian(sigma=0.5)):
        learnt = KernelPerceptron(kernel, "plain", **until).fit(corners, xor)
        assert learnt.converged_
        assert learnt.mistakes_[-1] == 0
        assert learnt.predict(corners).tolist() == xor
    plus_minus = [[1, 1], [1, -1], [-1, 1], [-1, -1]]
    pure = KernelPerceptron(Quadratic(), "plain", **until).fit(plus_minus, xor)
    assert pure.predict(plus_minus).tolist() == xor


def test_circles_and_hyperbolas():
    """(1 + x.z)^2 separates the inside of a circle, (x.z)^2 the quarters of the plane, without mistakes."""
    points = np.random.default_rng(3).uniform(-2, 2, size=(300, 2))
    distance, product = (points**2).sum(axis=1), points[:, 0] * points[:, 1]
    for kernel, clear, inside in (
        (Quadratic(c=1), np.abs(distance - 1.5) > 0.3, distance < 1.5),
        (Quadratic(), np.abs(product) > 0.15, product > 0),
    ):
        learnt = KernelPerceptron(kernel, "plain", until_convergence=True).fit(points[clear], inside[clear])
        assert learnt.converged_
        assert learnt.score(points[clear], inside[clear]) == 1.0


def test_strings_and_trees():
    """Rows may be what a kernel compares: texts by their n-grams, trees by their fragments."""
    texts = ["abab", "baba", "ababab", "cdcd", "dcdc", "cdcdcd"]
    model = KernelPerceptron(Spectrum(2), until_convergence=True).fit(texts, ["x"] * 3 + ["y"] * 3)
    assert model.predict(["bababa", "dcdcdc"]).tolist() == ["x", "y"]
    assert not hasattr(model, "n_features_in_")
    trees = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(Q (W a) (VP b))", "(Q (W d) (VP c))"]
    model = KernelPerceptron(SubsetTree(0.5), "plain", until_convergence=True).fit(trees, [1, 1, 0, 0])
    assert model.predict(["(S (NP d) (VP c))", "(Q (W d) (VP b))"]).tolist() == [1, 0]


def test_scores_of_kernels_over_pairs():
    """f(x, t) = sum alpha_ij (K((x_i, t_i), (x, t)) - K((x_i, c_j), (x, t))) with a kernel of pairs."""
    kernel = Quadratic(c=1)
    model = KernelPerceptron(kernel, "plain", epochs=2, shuffle=False).fit(ROWS, KINDS)
    scores = np.zeros((60, 4))
    for i, j in np.argwhere(model.alpha_):
        x = ROWS[[i]]
        for t in range(4):
            told = Paired(ROWS, [t] * 60)
            own, taken = (Pairs(kernel).gram(Paired(x, [label]), told)[0] for label in (KINDS[i], j))
            scores[:, t] += model.alpha_[i, j] * (own - taken)
    np.testing.assert_array_equal(model.decision_function(ROWS), scores)
