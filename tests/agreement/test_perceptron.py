"""The perceptron meets scikit-learn's where the two are the same algorithm, and its own other layouts."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Perceptron as TheirPerceptron

from lineal import Perceptron

seeds = st.integers(0, 2**31)


@given(seeds, st.booleans())
def test_two_classes_are_scikit_learns_but_for_ties(seed, fit_intercept):
    """They update at every score of 0, we unless the second class is right: the first row is of the first."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 4))
    y = rng.integers(0, 2, 40)
    y[:2] = 0, 1
    theirs = TheirPerceptron(max_iter=5, tol=None, shuffle=False, fit_intercept=fit_intercept).fit(X, y)
    ours = Perceptron("plain", epochs=5, shuffle=False, fit_intercept=fit_intercept).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9, atol=1e-12)


@given(seeds, st.sampled_from([2, 3, 6]))
def test_sparse_is_dense(seed, n_classes):
    """Rows of real numbers: the same mistakes and the same weights but for the order of sums."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 12)) * (rng.random((50, 12)) < 0.4)
    y = np.arange(50) % n_classes
    for variant in ("plain", "averaged"):
        dense, sparse = (Perceptron(variant).fit(A, y) for A in (X, sp.csr_array(X)))
        np.testing.assert_array_equal(sparse.mistakes_, dense.mistakes_)
        np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_voted_follows_its_survivors(n_classes):
    """The vote is that of the survivors as whole vectors, one by one."""
    rng = np.random.default_rng(1)
    X, y = rng.integers(-3, 4, size=(40, 3)).astype(float), np.arange(40) % n_classes
    model = Perceptron("voted", epochs=3).fit(X, y)
    votes = np.zeros((40, n_classes))
    for (coef, intercept), count in zip(model.survivors_, model.counts_, strict=True):
        Z = X @ coef.T + intercept
        chosen = (Z[:, 0] >= 0).astype(int) if n_classes == 2 else Z.argmax(axis=1)
        votes[np.arange(40), chosen] += count
    votes /= votes.sum(axis=1, keepdims=True)
    wanted = votes[:, 1] - votes[:, 0] if n_classes == 2 else votes
    np.testing.assert_allclose(model.decision_function(X), wanted, atol=1e-15)
    last_coef, last_intercept = model.survivors_[-1]
    plain = Perceptron("plain", epochs=3).fit(X, y)
    np.testing.assert_array_equal(last_coef, plain.coef_)
    np.testing.assert_array_equal(last_intercept, plain.intercept_)
