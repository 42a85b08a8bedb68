"""Mercer's condition: kernels have positive semi-definite Gram matrices, and ten rules keep them so."""

import numpy as np
import pytest

from kernel_samples import pairs, strings, trees, vectors
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
)

N_SETS = 200
A = np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, 1.0], [0.0, 1.0, 1.0]])  # eigenvalues 0.20, 1.55, 3.25


def first_letters(x):
    """A number for an item of any kind: neither constant nor of one sign."""
    return float(len(x)) - 2.5 if isinstance(x, str) else float(x[0]) - 0.3


def folded(x):
    """A map that is not linear, to more columns than there were."""
    return np.concatenate([np.abs(x), np.sin(x)])


KERNELS = {
    "linear": (Linear(), vectors),
    "quadratic": (Quadratic(), vectors),
    "quadratic with c": (Quadratic(c=1.5), vectors),
    "polynomial": (Polynomial(degree=3, c=0.5, gamma=0.1), vectors),
    "gaussian": (Gaussian(sigma=0.7), vectors),
    "laplacian": (Laplacian(gamma=0.4), vectors),
    "subsequence": (Subsequence(length=3, decay=0.6), strings),
    "subsequence without decay": (Subsequence(length=2, decay=1.0), strings),
    "spectrum": (Spectrum(n=2), strings),
    "subtrees": (SubTree(decay=0.7), trees),
    "subset trees": (SubsetTree(decay=0.5), trees),
    "equality": (Equality(), strings),
    "pairs": (Pairs(Gaussian()), pairs),
    "function": (FunctionKernel(lambda x, z: float(len(set(x) & set(z)))), strings),
}

# Each construction rule of the lecture, from kernels k1 and k2 over the same items.
RULES = {
    "6.13": lambda k1, k2: 0.3 * k1,
    "6.14": lambda k1, k2: k1.scaled_by(first_letters),
    "6.15": lambda k1, k2: k1.polynomial([0.5, 0.0, 2.0, 0.1]),
    "6.16": lambda k1, k2: exp(k1.normalized()),  # which overflows for no data
    "6.17": lambda k1, k2: k1 + k2,
    "6.18": lambda k1, k2: k1 * k2,
    "6.18 again": lambda k1, k2: k1**3,
    "cosine": lambda k1, k2: k1.normalized(),
}
PARTS = {
    "vectors": (Polynomial(degree=2, gamma=0.1), Gaussian(), vectors),
    "strings": (Subsequence(length=2, decay=0.5), Spectrum(n=1), strings),
    "trees": (SubsetTree(decay=0.3), SubTree(decay=0.8), trees),
}
# The rules about what vectors are made of.
VECTOR_RULES = {
    "6.19": Gaussian().map(folded),
    "6.20": Linear().quadratic_form(A),
    "6.20, in a Gaussian": Gaussian().quadratic_form(A),
    "6.21": Linear().on([0, 1]) + Gaussian().on([1, 2]),
    "6.22": Quadratic().on(0) * Laplacian().on(slice(1, 3)),
    "all": exp(0.1 * Gaussian().map(folded) + Linear().quadratic_form(A).on([2, 0, 1]).normalized()) ** 2,
}


def smallest_eigenvalue(K):
    """In units of the largest entry: rounding moves an eigenvalue by some n eps of that."""
    return np.linalg.eigvalsh(K).min() / max(np.abs(K).max(), np.finfo(float).tiny)


def check_sets(kernel, items):
    for seed in range(N_SETS):
        X = items(np.random.default_rng(seed), 7)
        K = kernel.gram(X, n_threads=1)
        assert K.shape == (7, 7)
        assert np.array_equal(K, K.T)
        # 7 items, and values right to some 20 units in the last place: 7 * 20 * 2.2e-16 = 3e-14.
        assert smallest_eigenvalue(K) > -3e-14, (seed, kernel)
        if seed % 20 == 0:
            assert kernel.is_psd(X)
            assert kernel.is_symmetric(X)
            np.testing.assert_allclose(kernel.diagonal(X), np.diag(K), rtol=1e-13)


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_is_positive_semi_definite(name):
    """a'Ka >= 0 on 200 random sets, and K is symmetric to the bit."""
    check_sets(*KERNELS[name])


@pytest.mark.parametrize("kind", PARTS)
@pytest.mark.parametrize("rule", RULES)
def test_every_rule_keeps_kernels_positive_semi_definite(rule, kind):
    """Rules 6.13 to 6.18 make kernels of kernels, of vectors, strings and trees, on 200 random sets."""
    k1, k2, items = PARTS[kind]
    check_sets(RULES[rule](k1, k2), items)


@pytest.mark.parametrize("rule", VECTOR_RULES)
def test_rules_about_vectors_keep_kernels_positive_semi_definite(rule):
    """Rules 6.19 to 6.22: maps, quadratic forms, sums and products over parts, on 200 random sets."""
    check_sets(VECTOR_RULES[rule], vectors)


@pytest.mark.parametrize("seed", range(5))
def test_each_rule_is_its_formula(seed):
    """The value of a made kernel is the formula of the rule, applied to values of the kernels in it."""
    rng = np.random.default_rng(seed)
    X = vectors(rng, 6)
    k1, k2 = Polynomial(degree=2, gamma=0.1), Gaussian()
    K1, K2 = k1.gram(X), k2.gram(X)
    f = np.array([first_letters(x) for x in X])
    Phi = np.array([folded(x) for x in X])
    root = np.sqrt(np.diag(K1))
    expected = [
        (2.5 * k1, 2.5 * K1),
        (k1 / 2, K1 / 2),
        (k1.scaled_by(first_letters), f[:, None] * K1 * f),
        (k1.polynomial([0.5, 0, 2]), 0.5 + 2 * K1**2),
        (k1 + 3, K1 + 3),
        (exp(0.001 * k1), np.exp(0.001 * K1)),
        (k1 + k2, K1 + K2),
        (k1 * k2, K1 * K2),
        (k1**3, K1**3),
        (Linear().map(folded), Phi @ Phi.T),
        (Linear().quadratic_form(A), X @ A @ X.T),
        (k1.normalized(), K1 / root[:, None] / root),
        (k2.on([0, 2]), k2.gram(X[:, [0, 2]])),
        (Linear().on(0) + Gaussian().on(slice(1, None)), np.outer(X[:, 0], X[:, 0]) + k2.gram(X[:, 1:])),
    ]
    for kernel, wanted in expected:
        np.testing.assert_allclose(kernel.gram(X), wanted, rtol=1e-12, atol=1e-13 * np.abs(wanted).max())
        np.testing.assert_allclose(
            kernel.gram(X, X[:2]), wanted[:, :2], rtol=1e-12, atol=1e-13 * np.abs(wanted).max()
        )
        # One pair is computed on its own, with other roundings.
        assert kernel(X[1], X[2]) == pytest.approx(wanted[1, 2], rel=1e-11, abs=1e-12 * np.abs(wanted).max())


def test_what_is_no_kernel_has_a_witness():
    """tanh(x.z - 3) is not positive semi-definite: the witness a has a'Ka < 0, for anyone to check."""
    X = np.random.default_rng(0).normal(size=(20, 4))
    sigmoid = FunctionKernel(lambda x, z: np.tanh(x @ z - 3))
    found = sigmoid.is_psd(X)
    assert not found
    assert not found.holds
    a = found.witness
    assert np.linalg.norm(a) == pytest.approx(1.0)
    assert a @ sigmoid.gram(X) @ a == pytest.approx(found.smallest_eigenvalue)
    assert found.smallest_eigenvalue < -found.tolerance < 0
    assert "not positive semi-definite" in str(found)


def test_what_is_not_symmetric_has_a_pair():
    """x[0] z[1] is not symmetric; the rows where it is least so are named, and gram refuses it."""
    X = np.array([[1.0, 2.0], [0.0, 5.0], [3.0, 3.0]])
    lopsided = FunctionKernel(lambda x, z: x[0] * z[1])
    found = lopsided.is_symmetric(X)
    assert not found
    assert found.pair == (1, 2)
    assert found.difference == 15.0
    assert not lopsided.is_psd(X)
    assert "rows 1, 2" in str(lopsided.is_psd(X))
    with pytest.raises(ValueError, match="symmetric"):
        lopsided.gram(X)


def test_a_matrix_that_is_given_is_judged_by_its_eigenvalues():
    """is_psd of Precomputed() is about the matrix: [[0, 1], [1, 0]] has the eigenvalue -1."""
    found = Precomputed().is_psd([[0.0, 1.0], [1.0, 0.0]])
    assert not found
    assert found.smallest_eigenvalue == pytest.approx(-1.0)
    assert Precomputed().is_psd([[1.0, 1.0], [1.0, 1.0]])
