"""What kernels are: dot products of maps, the same from every road."""

import numpy as np
import pytest
import scipy.sparse as sp

from kernel_samples import bracketed, strings, tree, trees, vectors
from lineal import PolynomialFeatures
from lineal.kernels import (
    Gaussian,
    Laplacian,
    Linear,
    Paired,
    Pairs,
    Polynomial,
    Precomputed,
    Quadratic,
    Spectrum,
    Subsequence,
    SubsetTree,
    SubTree,
)
from reference import kernels as slow


def table(function, X, Z):
    return np.array([[function(x, z) for z in Z] for x in X])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_subsequences_are_spelled_out(length, seed):
    """The subsequence kernel is the dot product over all subsequences with their decayed weights."""
    rng = np.random.default_rng(seed)
    X, Z = strings(rng, 9, longest=9), strings(rng, 6, longest=9)
    wanted = table(lambda x, z: slow.subsequence(x, z, length, 0.7), X, Z)
    np.testing.assert_allclose(Subsequence(length, 0.7).gram(X, Z), wanted, rtol=1e-12)


def test_subsequences_without_decay_are_counted():
    """With decay 1 the kernel counts common subsequences: "aa...a" of n letters has (n over l)."""
    from math import comb

    assert Subsequence(3, 1.0)("a" * 12, "a" * 9) == comb(12, 3) * comb(9, 3)


@pytest.mark.parametrize("decay", [0.1, 0.5, 0.9])
def test_cat_and_car(decay):
    """By hand: k(cat, car) = decay^4, k(cat, cat) = 2 decay^4 + decay^6, their cosine 1 / (2 + decay^2)."""
    k = Subsequence(2, decay)
    assert k("cat", "car") == pytest.approx(decay**4, rel=1e-14)
    assert k("cat", "cat") == pytest.approx(2 * decay**4 + decay**6, rel=1e-14)
    assert k.normalized()("cat", "car") == pytest.approx(1 / (2 + decay**2), rel=1e-14)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", range(1, 8))
def test_spectrum_is_the_product_of_counts(n, seed):
    """The spectrum kernel is the dot product of counts of runs, which features() shows."""
    rng = np.random.default_rng(seed)
    X, Z = strings(rng, 9), strings(rng, 6)
    k = Spectrum(n)
    assert np.array_equal(k.gram(X, Z), table(lambda x, z: slow.spectrum(x, z, n), X, Z))
    features = k.features(X)
    assert np.array_equal(k.gram(X), (features @ features.T).toarray())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("kernel", "sigma"), [(SubTree(0.6), 0.0), (SubsetTree(0.6), 1.0)])
def test_tree_kernels_are_the_recursion(kernel, sigma, seed):
    """Both tree kernels are the sum of Collins and Duffy's C over all pairs of nodes."""
    rng = np.random.default_rng(seed)
    X, Z = [tree(rng) for _ in range(8)], [tree(rng) for _ in range(5)]
    wanted = table(lambda x, z: slow.tree_kernel(x, z, 0.6, sigma), X, Z)
    np.testing.assert_allclose(kernel.gram(X, Z), wanted, rtol=1e-12)
    # Brackets and tuples are the same trees, also in one comparison.
    np.testing.assert_array_equal(kernel.gram([bracketed(x) for x in X], Z), kernel.gram(X, Z))
    assert [slow.parse(bracketed(x)) for x in X] == X


def test_fragments_of_a_noun_phrase():
    """Collins and Duffy's example: (NP (D the) (N apple)) has six fragments, and as many with itself."""
    x = "(NP (D the) (N apple))"
    assert SubsetTree(1.0)(x, x) == 6
    assert SubTree(1.0)(x, x) == 3
    assert SubsetTree(1.0)(x, "(NP (D the) (N pear))") == 3


@pytest.mark.parametrize("seed", range(5))
def test_quadratic_map_and_kernel_agree(seed):
    """phi(x).phi(z) = (x.z)^2 for the map of all products, and (x.z + c)^2 with a column of sqrt(c)."""
    rng = np.random.default_rng(seed)
    X, Z = rng.normal(size=(12, 4)), rng.normal(size=(7, 4))
    quadratic = PolynomialFeatures(2, homogeneous=True, weighted=True).fit(X)
    np.testing.assert_allclose(
        Linear().map(quadratic).gram(X, Z), Quadratic().gram(X, Z), rtol=1e-12, atol=1e-13
    )
    with_constant = [np.column_stack([part, np.full(len(part), np.sqrt(1.7))]) for part in (X, Z)]
    mapped = [quadratic.fit(part).transform(part) for part in with_constant]
    np.testing.assert_allclose(mapped[0] @ mapped[1].T, Quadratic(c=1.7).gram(X, Z), rtol=1e-12, atol=1e-13)


def test_the_map_of_the_lecture():
    """(1 + x.z)^2 = phi(x).phi(z) with phi(x) = [1, √2 x1, √2 x2, x1², √2 x1 x2, x2²]."""

    def phi(x):
        r = np.sqrt(2)
        return [1, r * x[0], r * x[1], x[0] ** 2, r * x[0] * x[1], x[1] ** 2]

    X = np.random.default_rng(0).normal(size=(10, 2))
    np.testing.assert_allclose(Linear().map(phi).gram(X), Quadratic(c=1).gram(X), rtol=1e-12, atol=1e-13)


VECTOR_KERNELS = [Linear(), Quadratic(1.0), Polynomial(3, 0.5, 0.2), Gaussian(sigma=1.3), Laplacian(0.2)]


@pytest.mark.parametrize("kernel", VECTOR_KERNELS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_sparse_is_dense(kernel, seed):
    """Sparse rows have the values of dense ones, in every layout, with one set and with two."""
    rng = np.random.default_rng(seed)
    X, Z = vectors(rng, 40, 11), vectors(rng, 90, 11)
    for layout in (sp.csr_array, sp.csc_matrix, sp.coo_array):
        np.testing.assert_allclose(kernel.gram(layout(X)), kernel.gram(X), rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(
            kernel.gram(layout(X), layout(Z)), kernel.gram(X, Z), rtol=1e-11, atol=1e-12
        )
    np.testing.assert_allclose(kernel.gram(sp.csr_array(X), Z), kernel.gram(X, Z), rtol=1e-11, atol=1e-12)
    K = kernel.gram(sp.csr_array(X))
    assert np.array_equal(K, K.T)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e8])
def test_gaussian_distances_do_not_cancel(offset, layout):
    """Far from 0 the Gaussian kernel has its value from differences; equal rows give exactly 1."""
    rng = np.random.default_rng(0)
    X = offset + np.round(rng.normal(size=(60, 5)), 6)
    X[7], X[31] = X[3], X[3]
    Z = X[::-1].copy()
    gamma = 0.8
    K = Gaussian(gamma=gamma).gram(layout(X))
    exact = table(lambda x, z: slow.gaussian(x, z, gamma), X, X)
    # Distances keep 12 digits (a share of 1e-3 of the lengths may be left by their difference), exponents
    # below 40 have an absolute error of some 1e-11.
    np.testing.assert_allclose(K, exact, rtol=1e-10, atol=1e-300)
    assert (np.diag(K) == 1).all()
    assert K[7, 3] == K[31, 3] == K[3, 7] == 1
    assert (np.diag(Gaussian(gamma=gamma).gram(layout(X), layout(Z))[:, ::-1]) == 1).all()


def test_two_tight_clusters_far_apart():
    """Where half of all pairs are near each other and far from the centre, digits are kept too."""
    rng = np.random.default_rng(1)
    X = np.concatenate([1e6 + rng.normal(size=(30, 3)), -1e6 + rng.normal(size=(30, 3))])
    exact = table(lambda x, z: slow.gaussian(x, z, 0.5), X, X)
    K = Gaussian(gamma=0.5).gram(X)
    np.testing.assert_allclose(K, exact, rtol=1e-12, atol=1e-300)
    assert np.array_equal(K, K.T)


@pytest.mark.parametrize(
    ("kernel", "items"),
    [(Subsequence(4, 0.5), strings), (Spectrum(2), strings), (SubTree(0.9), trees), (SubsetTree(0.4), trees)],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_threads_change_no_bit(kernel, items):
    """One thread and three give the same bits, with one set and with two."""
    rng = np.random.default_rng(3)
    X, Z = items(rng, 150), items(rng, 70)
    assert np.array_equal(kernel.gram(X, n_threads=1), kernel.gram(X, n_threads=3))
    assert np.array_equal(kernel.gram(X, Z, n_threads=1), kernel.gram(X, Z, n_threads=3))


def test_a_value_does_not_depend_on_its_neighbours():
    """Native kernels compute several pairs at once; a pair alone has the same bits."""
    rng = np.random.default_rng(4)
    X = strings(rng, 30, longest=40)
    for kernel, items in ((Subsequence(3, 0.5), X), (SubsetTree(0.4), trees(rng, 30))):
        K = kernel.gram(items, items)
        assert all(kernel(items[i], items[j]) == K[i, j] for i in range(0, 30, 4) for j in range(30))


def test_words_are_symbols_too():
    """A list of words is compared word by word, like a string letter by letter."""
    texts = ["the cat sat", "the dog sat", "cat the"]
    letters = {"the": "t", "cat": "c", "dog": "d", "sat": "s"}
    coded = ["".join(letters[w] for w in text.split()) for text in texts]
    for kernel in (Subsequence(2, 0.5), Spectrum(2)):
        assert np.array_equal(kernel.gram([t.split() for t in texts]), kernel.gram(coded))


def test_strings_are_compared_by_code_point():
    """Letters beyond ASCII, beyond 16 bits, NUL and lone surrogates are one symbol each."""
    for letter in ("é", "日", "😀", "\0", "\ud800", "\U0010ffff"):
        assert Subsequence(1, 1.0)(letter * 3, letter * 2) == 6
        assert Spectrum(2)(letter * 3, letter * 3) == 4
    assert Subsequence(1, 1.0)("é", "e\u0301") == 0


@pytest.mark.parametrize(
    "kernel", [Subsequence(2, 0.5), SubsetTree(0.4), Gaussian(), Linear() + Gaussian()], ids=str
)
def test_taken_items_have_the_values_of_all(kernel):
    """take(items, places) are items: their values are those of the whole matrix, at these places."""
    rng = np.random.default_rng(5)
    items = strings if "subsequences" in str(kernel) else trees if "trees" in str(kernel) else vectors
    X = items(rng, 12)
    K, checked = kernel.gram(X), kernel.checked(X)
    places = np.array([7, 0, 7, 3])
    some = kernel.take(checked, places)
    assert kernel.size(some) == 4
    np.testing.assert_allclose(kernel.compute(some, None, 1), K[np.ix_(places, places)], rtol=1e-12)
    np.testing.assert_allclose(kernel.compute(checked, some, 1), K[:, places], rtol=1e-12)
    mask = np.arange(12) % 3 == 0
    assert kernel.size(kernel.take(checked, mask)) == 4


def test_given_values_are_items():
    """Precomputed: new rows against training rows, and any part of the training rows."""
    rng = np.random.default_rng(6)
    X, new = rng.normal(size=(8, 3)), rng.normal(size=(5, 3))
    k = Gaussian()
    given = Precomputed()
    train = given.checked(k.gram(X))
    places = np.array([1, 6, 2])
    assert np.array_equal(
        given.compute(given.checked(k.gram(new, X)), given.take(train, places), 1), k.gram(new, X)[:, places]
    )
    np.testing.assert_array_equal(
        given.compute(given.take(train, places), None, 1), k.gram(X)[np.ix_(places, places)]
    )
    np.testing.assert_array_equal((2 * given + given).diagonal(k.gram(X)), np.full(8, 3.0))


def test_pairs_with_equality_are_the_block_map():
    """K((x, y), (x', y')) = phi(x, y).phi(x', y') for the map that puts x into the block of y."""
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(10, 3)), rng.integers(0, 3, size=10)
    phi = np.zeros((10, 9))
    for row, (x, label) in enumerate(zip(X, y, strict=True)):
        phi[row, 3 * label : 3 * label + 3] = x
    k = Pairs(Linear())
    np.testing.assert_allclose(k.gram(Paired(X, y)), phi @ phi.T, rtol=1e-12)
    np.testing.assert_array_equal(k.gram(list(zip(X, y, strict=True))), k.gram(Paired(X, y)))
    both = Pairs(Linear(), Spectrum(1), combine="sum")
    assert both(([1.0, 2.0], "ab"), ([3.0, 4.0], "bb")) == 11 + 2


def test_cosine_of_equal_items_is_one():
    """normalized() gives exactly 1 for equal items, also where squares overflow, and 0 without length."""
    k = Subsequence(2, 0.3).normalized()
    X = ["abc", "abc", "", "aabbcc"]
    K = k.gram(X)
    assert np.diag(K).tolist() == [1, 1, 0, 1]
    assert K[0, 1] == 1
    assert K[2].tolist() == [0, 0, 0, 0]
    large = Linear().normalized().gram([[1e150, 0.0], [1e150, 0.0], [1e-150, 0.0]])
    assert large[0, 1] == large[2, 2] == 1
    np.testing.assert_allclose(large, np.ones((3, 3)), rtol=1e-15)
