"""How kernels feel: formulas, refusals with reasons, tables of any make, Ctrl-C."""

import copy
import os
import pickle
import signal
import threading
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import lineal
from lineal import kernels
from lineal.errors import InputError, InputTypeError, ParameterError
from lineal.kernels import (
    Equality,
    FunctionKernel,
    Gaussian,
    Laplacian,
    Linear,
    Pairs,
    Polynomial,
    Precomputed,
    Quadratic,
    Spectrum,
    Subsequence,
    SubsetTree,
    SubTree,
    exp,
    resolved,
)

FORMULAS = [
    (Linear(), "x.z"),
    (Quadratic(), "(x.z)^2"),
    (Quadratic(c=1), "(x.z + 1)^2"),
    (Polynomial(degree=3, c=0.5, gamma=2), "(2 x.z + 0.5)^3"),
    (Gaussian(sigma=1), "exp(-0.5 |x - z|^2)"),
    (Gaussian(gamma=1), "exp(-|x - z|^2)"),
    (Laplacian(gamma=0.1), "exp(-0.1 |x - z|_1)"),
    (Precomputed(), "K[x, z]"),
    (Subsequence(4, 0.25), "subsequences(x, z; length=4, decay=0.25)"),
    (Spectrum(5), "spectrum(x, z; n=5)"),
    (SubTree(0.5), "subtrees(x, z; decay=0.5)"),
    (SubsetTree(0.5), "subset_trees(x, z; decay=0.5)"),
    (Equality(), "[x = z]"),
    (Pairs(Linear()), "x.x' * [y = y']"),
    (Pairs(Linear() + Quadratic(), combine="sum"), "x.x' + (x.x')^2 + [y = y']"),
    (2 * Linear(), "2 * x.z"),
    (Linear() / 4, "0.25 * x.z"),
    (Linear() + 2 * Gaussian(gamma=1), "x.z + 2 * exp(-|x - z|^2)"),
    ((Linear() + Quadratic()) * Laplacian(), "(x.z + (x.z)^2) * exp(-|x - z|_1)"),
    (Linear() ** 2, "(x.z)^2"),
    (Gaussian(gamma=1) ** 2, "exp(-|x - z|^2)^2"),
    ((Linear() ** 2) ** 3, "((x.z)^2)^3"),
    ((Linear() + 1) ** 2, "(x.z + 1)^2"),
    (Linear().polynomial([1, 2, 0, 3]), "3 * (x.z)^3 + 2 * x.z + 1"),
    (2 * Linear().polynomial([1, 1]), "2 * (x.z + 1)"),
    (exp(Linear() + Linear()), "exp(x.z + x.z)"),
    (Linear().scaled_by(lambda x: x[0]), "f(x) * x.z * f(z)"),
    (Gaussian(gamma=1).map(abs), "exp(-|abs(x) - abs(z)|^2)"),
    (Linear().map(lambda x: x), "phi(x).phi(z)"),
    (Linear().quadratic_form([[2, 0], [0, 1]]), "x'A z"),
    (Gaussian(gamma=1).quadratic_form([[2, 0], [0, 1]]), "exp(-|L'x - L'z|^2)"),
    (Linear().on([0, 2]) + Gaussian(gamma=1).on(slice(3, None)), "x[0, 2].z[0, 2] + exp(-|x[3:] - z[3:]|^2)"),
    (Spectrum(3).on("name"), "spectrum(x[name], z[name]; n=3)"),
    (Linear().normalized(), "x.z / sqrt(x.x * z.z)"),
]


@pytest.mark.parametrize(("kernel", "formula"), FORMULAS, ids=[formula for _, formula in FORMULAS])
def test_a_kernel_prints_as_its_formula(kernel, formula):
    """str is the formula; copies and pickles are equal; repr evaluates back where functions have names."""
    assert str(kernel) == formula
    assert copy.deepcopy(kernel) == kernel
    assert hash(copy.copy(kernel)) == hash(kernel)
    if "<lambda>" not in repr(kernel) and "f(x)" not in formula and "phi(" not in formula:
        assert eval(repr(kernel), {**vars(kernels), "abs": abs}) == kernel
        assert pickle.loads(pickle.dumps(kernel)) == kernel


def test_kernels_are_values():
    """Equal parameters make equal kernels with equal hashes; nothing about one can be changed."""
    assert Gaussian(sigma=1) == Gaussian(gamma=0.5) != Gaussian(gamma=0.6)
    assert len({Linear() + Quadratic(), Linear() + Quadratic(), Quadratic() + Linear()}) == 2
    with pytest.raises(AttributeError):
        Linear().degree = 3
    with pytest.raises(AttributeError):
        Gaussian().gamma = 3.0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: -1 * Linear(), "> 0: with a negative one"),
        (lambda: -Linear(), "not positive semi-definite"),
        (lambda: 0 * Linear(), "> 0"),
        (lambda: np.inf * Linear(), "finite"),
        (lambda: Linear() - Quadratic(), "difference of kernels"),
        (lambda: 1 - Linear(), "difference of kernels"),
        (lambda: Linear() / -2, "> 0"),
        (lambda: Linear() + -1, "k\\^0.*>= 0"),
        (lambda: Linear().polynomial([1, -0.5]), "k\\^1.*negative"),
        (lambda: Linear().polynomial([0, 0]), "coefficient > 0"),
        (lambda: Linear() ** 0.5, "whole number"),
        (lambda: Linear() ** 0, ">= 1"),
        (lambda: Linear().quadratic_form([[1, 2], [2, 1]]), "a'Aa = -1"),
        (lambda: Linear().quadratic_form([[1, 2], [0, 1]]), "symmetric"),
        (lambda: Linear().quadratic_form([[1, 2]]), "shape"),
        (lambda: Spectrum(2).quadratic_form([[1]]), "vectors"),
        (lambda: Polynomial(degree=2, c=-1), "no kernel below"),
        (lambda: Polynomial(degree=1.5), "whole number"),
        (lambda: Gaussian(sigma=1, gamma=1), "both"),
        (lambda: Gaussian(sigma=0), "> 0"),
        (lambda: Gaussian(sigma=1e-200), "between"),
        (lambda: Laplacian(gamma=np.nan), "finite"),
        (lambda: Subsequence(length=0), ">= 1"),
        (lambda: Subsequence(length=True), "whole number"),
        (lambda: SubsetTree(decay=1.5), "decay"),
        (lambda: Linear().on([]), "at least one"),
        (lambda: Linear().on(1.5), "columns"),
        (lambda: Linear().map(3), "function of one item"),
        (lambda: Linear().scaled_by(3), "function of one item"),
        (lambda: FunctionKernel(3), "function of two"),
        (lambda: Pairs(3), "kernel of x"),
        (lambda: exp(3), "kernel"),
        (lambda: resolved("sigmoid", [[1.0]]), "no kernel.*rbf"),
        (lambda: resolved("cosine", [[1.0]]), "must be 'linear'"),
        (lambda: resolved("rbf", [[1.0]], gamma="large"), "scale"),
        (lambda: resolved("rbf", [[1.0]], gamma=-1), "> 0"),
        (lambda: resolved("rbf"), "Give a number"),
    ],
)
def test_what_is_no_kernel_is_refused_when_it_is_made(make, words):
    """A refusal says why, before any data are there."""
    with pytest.raises(ParameterError, match=words):
        make()


@pytest.mark.parametrize(
    ("kernel", "X", "words"),
    [
        (Linear(), [1.0, 2.0], "2D"),
        (Linear(), [["a"]], "real numbers"),
        (Linear(), [[1, 2], [3]], "one length"),
        (Linear(), [[np.nan, 1.0]], "row 0, column 0"),
        (Linear(), np.array([[1j]]), "real numbers"),
        (Linear(), "abc", "numbers"),
        (Linear(), [["1", object()]], "numbers"),
        (Polynomial(degree=9), [[1e50]], "beyond float64"),
        (exp(Linear()), [[100.0]], "beyond float64"),
        (Spectrum(2), "abc", "sequence"),
        (Spectrum(2), ["abc", None], "item 1 is of type NoneType"),
        (Spectrum(2), ["abc", ["a"]], "all strings"),
        (Spectrum(2), np.array([["a"]]), "column"),
        (Subsequence(2), [[[1], [2]]], "hashable"),
        (Subsequence(100, 1.0), ["a" * 1500], "smaller decay"),
        (SubsetTree(), ["(A b"], "Tree 0: '\\(' at character 0 is never closed"),
        (SubsetTree(), ["(A b)", "(A (B c)))"], "Tree 1: '\\)' at character 9 closes nothing"),
        (SubsetTree(), ["(A b) (C d)"], "character 6"),
        (SubsetTree(), ["b"], "begin with '\\('"),
        (SubsetTree(), [" "], "empty"),
        (SubsetTree(), [("A", 3)], "child of type int"),
        (SubsetTree(), [()], "label"),
        (SubsetTree(), [("A",), "(A b)"], "all nested tuples"),
        (SubsetTree(1.0), ["(A " + "(B b) " * 2000 + ")"], "smaller decay"),
        (Precomputed(), [[1.0, 2.0], [3.0, 4.0]], "symmetric"),
        (Precomputed(), [[1.0, 2.0]], "square"),
        (Equality(), [[1], [2]], "hashable"),
        (Pairs(Linear()), [1, 2], "pairs"),
        (FunctionKernel(lambda x, z: "a"), [1, 2], "must return a number"),
        (FunctionKernel(lambda x, z: np.nan), [1, 2], "not a finite number.*your function"),
        (FunctionKernel(lambda X, Z: np.ones(3), whole=True), [[1.0]], "must return"),
        (Linear().scaled_by(lambda x: None), [[1.0]], "returns a number"),
        (Linear().on([5]), np.ones((2, 2)), "2 columns"),
        (Linear().on("a"), np.ones((2, 2)), "without names"),
        (Linear().on("a"), pd.DataFrame({"b": [1.0]}), "no column 'a'"),
        (Spectrum(1).on([0, 1]), [["a", "b"]], "one column"),
        (Linear().quadratic_form(np.eye(3)), np.ones((2, 2)), "3 x 3"),
        (Linear() + Linear().map(lambda x: x[:1]), np.ones(3), "2D"),
    ],
)
def test_items_that_a_kernel_does_not_understand_are_refused(kernel, X, words):
    """A refusal names the item, and where in it."""
    with pytest.raises(InputError, match=words):
        kernel.gram(X)


def test_two_sets_must_fit():
    """Vectors of two lengths are refused with both."""
    with pytest.raises(InputError, match=r"X has 2 columns and Z has 3"):
        Linear().gram(np.ones((1, 2)), np.ones((1, 3)))
    with pytest.raises(InputTypeError, match="both"):
        Spectrum(1).gram(["a"], [["a"]])
    with pytest.raises(InputError, match="square"):
        Precomputed().gram(np.ones((2, 3)), np.ones((2, 2)))


def test_a_tree_that_contains_itself_is_refused():
    """A list can hold itself; a walk through it would never end."""
    loop = ["A"]
    loop.append(loop)
    with pytest.raises(InputError, match="contains itself"):
        SubsetTree().gram([loop])


def test_deep_trees_overflow_nothing():
    """100,000 levels, in brackets and in tuples, are read and compared without recursion."""
    depth = 100_000
    text = "".join(f"(N{k % 4000} " for k in range(depth)) + "w" + ")" * depth
    nested = "w"
    for k in reversed(range(depth)):
        nested = (f"N{k % 4000}", nested)
    K = SubTree(0.5).gram([text], [nested])
    assert K[0, 0] == SubTree(0.5).diagonal([text])[0] > 0


def test_tables_of_any_make():
    """Columns by name, of pandas and of Polars; strings and numbers of one table in one kernel."""
    columns = {"age": [20.0, 30.0, 40.0], "pay": [1.0, 2.0, 4.0], "name": ["anna", "hanna", "bob"]}
    kernel = Gaussian(sigma=10).on(["age", "pay"]) * Spectrum(2).on("name")
    numbers = np.column_stack([columns["age"], columns["pay"]])
    wanted = Gaussian(sigma=10).gram(numbers) * Spectrum(2).gram(columns["name"])
    for table in (pd.DataFrame(columns), pl.DataFrame(columns)):
        np.testing.assert_array_equal(kernel.gram(table), wanted)
        np.testing.assert_array_equal(Linear().gram(table[["age", "pay"]]), numbers @ numbers.T)
    rows = np.array(list(zip(*columns.values(), strict=True)), dtype=object)
    by_place = Gaussian(sigma=10).on([0, 1]) * Spectrum(2).on(2)
    np.testing.assert_array_equal(by_place.gram(rows), wanted)
    np.testing.assert_array_equal(by_place.gram([tuple(row) for row in rows]), wanted)
    np.testing.assert_array_equal(
        Spectrum(2).gram(pd.Series(columns["name"])), Spectrum(2).gram(columns["name"])
    )


def test_profiles_say_how_a_kernel_follows_from_dot_products():
    """An engine that computes dot products needs kind, gamma, c and degree, or nothing."""
    assert Linear().profile == kernels.Profile("linear")
    assert Quadratic(c=2).profile == kernels.Profile("polynomial", 1.0, 2.0, 2)
    assert Polynomial(4, 0.5, 0.1).profile == kernels.Profile("polynomial", 0.1, 0.5, 4)
    assert Gaussian(sigma=1).profile == kernels.Profile("gaussian", 0.5)
    assert Laplacian().profile is None
    assert (2 * Linear()).profile is None


def test_names_are_those_of_scikit_learn():
    """linear, poly, rbf and precomputed with gamma "scale" and "auto", a kernel, or a function."""
    X = np.random.default_rng(0).normal(size=(10, 4))
    assert resolved("linear", X) == Linear()
    assert resolved("precomputed", X) == Precomputed()
    assert resolved("rbf", X, gamma="auto") == Gaussian(gamma=0.25)
    assert resolved("rbf", X).gamma == pytest.approx(1 / (4 * X.var()))
    assert resolved("rbf", np.ones((3, 2))).gamma == 1.0
    assert resolved("poly", X, gamma=2, degree=4, c=1) == Polynomial(4, 1, 2)
    kernel = Linear() + Quadratic()
    assert resolved(kernel, X) is kernel
    given = resolved(lambda A, B: A @ B.T, X)
    np.testing.assert_allclose(given.gram(X, X[:3]), X @ X[:3].T)
    np.testing.assert_allclose(given.diagonal(X), (X * X).sum(axis=1))


def test_numbers_of_numpy_are_numbers():
    """np.float64(2) * k is a kernel, not an array of objects; sum() works from its own 0."""
    assert np.float64(2) * Linear() == 2 * Linear()
    assert sum([Linear(), Quadratic()]) == Linear() + Quadratic()
    with pytest.raises(TypeError):
        Linear() * "2"


def test_items_survive_pickling():
    """What checked() returns goes through pickle: a fitted machine keeps its support items."""
    for kernel, X in (
        (SubsetTree(), ["(A (B c))", "(A d)"]),
        (Spectrum(1), ["ab", "b"]),
        (Gaussian(), np.eye(2)),
    ):
        items = pickle.loads(pickle.dumps(kernel.checked(X)))
        np.testing.assert_array_equal(kernel.compute(items, None, 1), kernel.gram(X))


def test_no_items_are_a_set_too():
    """Empty sets have empty matrices."""
    assert Spectrum(2).gram([]).shape == (0, 0)
    assert Subsequence(2).gram(["ab"], []).shape == (1, 0)
    assert SubsetTree().gram([], ["(A b)"]).shape == (0, 1)
    assert Gaussian().gram(np.empty((0, 3))).shape == (0, 0)
    assert Linear().gram(np.ones((2, 3)), np.empty((0, 3))).shape == (2, 0)
    assert Linear().is_psd(np.empty((0, 3)))


@pytest.mark.parametrize(
    ("kernel", "X"),
    [
        (Subsequence(5, 0.5), ["ab" * 20_000, "ba" * 20_000]),
        (SubsetTree(0.1), ["(A" * 30_000 + " w" + ")" * 30_000] * 2),
    ],
    ids=["strings", "trees"],
)
def test_ctrl_c_ends_a_long_comparison(kernel, X):
    """Ctrl-C is answered inside one pair of long items, in threads."""

    def press():
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press)
    presser.start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        kernel.gram(X, n_threads=2)
    presser.join()
    assert time.monotonic() - started < 5


def test_import_lineal_is_enough():
    """lineal.kernels is there after import lineal alone."""
    assert lineal.kernels is kernels
    assert "kernels" in dir(lineal)


def test_rows_that_share_nothing_have_products_of_0():
    """Strings shorter than what is counted, and sparse rows without columns."""
    assert np.array_equal(Spectrum(3).gram(["ab", "cd"]), np.zeros((2, 2)))
    assert np.array_equal(Spectrum(3).gram(["ab", "cd"], ["x"]), np.zeros((2, 1)))
    assert np.array_equal(Linear().gram(sp.csr_array((3, 0))), np.zeros((3, 3)))
    assert np.array_equal(Gaussian().gram(sp.csr_array((3, 0))), np.ones((3, 3)))


def test_subsequences_longer_than_strings_cost_nothing():
    """However long: they are 0 before anything is allocated."""
    for length in (10**7, 10**9, 10**12):
        kernel = Subsequence(length, 0.5)
        assert kernel("abc", "abc") == 0
        assert np.array_equal(kernel.diagonal(["abc", ""]), [0, 0])
        assert np.array_equal(kernel.normalized().gram(["abc", "abd"]), np.zeros((2, 2)))


def test_subsequences_that_vanish_in_float64_are_refused():
    """decay^(2 length) is what a string has with itself at least."""
    with pytest.raises(InputError, match="vanishes in float64"):
        Subsequence(150, 0.01).normalized()("ab" * 300, "ab" * 299)
    assert Subsequence(70, 0.01)("a" * 70, "a" * 70) > 0
