"""Separability is proved, never guessed; mistakes stay within Novikoff's bound."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from lineal import Perceptron, mistake_bound
from lineal.learners.perceptron.separability import ConvexCombination, SeparatingWeights

seeds = st.integers(0, 2**31)
n_classes = st.sampled_from([2, 2, 3, 4])


def separable_set(seed, K, n=40, d=4):
    """Rows labelled by a linear rule of K scores; None where only one label came out."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rng.integers(K, n), rng.integers(1, d + 1)))
    y = (X @ rng.normal(size=(X.shape[1], K)) + 0.5 * rng.normal(size=K)).argmax(axis=1)
    return (X, y) if len(set(y.tolist())) > 1 else None


def never_separable(seed, K, fit_intercept):
    """Rows such that a convex combination of some of them is 0, exactly: whole numbers, then scaled by 2^k.

    With an intercept, z + u and z - u with one label and z + v and z - v with another have the same middle.
    """
    rng = np.random.default_rng(seed)
    d, n = int(rng.integers(1, 6)), int(rng.integers(0, 40))
    z, u, v = rng.integers(-8, 9, size=(3, d))
    if fit_intercept:
        core, labels = np.array([z + u, z - u, z + v, z - v]), [0, 0, 1, 1]
    else:
        core, labels = np.array([z, -z]), [0, 0]
    X = np.vstack([core, rng.integers(-8, 9, size=(n, d))]) * 2.0 ** rng.integers(-20, 20)
    y = np.r_[labels, rng.integers(0, K, size=n)]
    y = np.r_[y, 1] if len(set(y.tolist())) < 2 else y
    X = np.vstack([X, X[-1:]])[: len(y)]
    order = rng.permutation(len(y))
    return X[order], y[order]


def check_witness(X, y, result, fit_intercept):
    """The proof, checked again here in exact arithmetic."""
    _, codes = np.unique(y, return_inverse=True)
    rows = [[Fraction(float(value)) for value in x] + [Fraction(1)] * fit_intercept for x in X]
    if isinstance(result.witness, SeparatingWeights):
        table = np.column_stack([result.witness.coef, result.witness.intercept])
        W = [[Fraction(float(value)) for value in w[: len(rows[0])]] for w in table]
        for x, code in zip(rows, codes, strict=True):
            scores = [sum(a * b for a, b in zip(x, w, strict=True)) for w in W]
            if len(W) == 1:
                assert (scores[0] > 0) == (code == 1)
                assert scores[0] != 0
            else:
                assert all(scores[code] > other for k, other in enumerate(scores) if k != code)
    elif isinstance(result.witness, ConvexCombination):
        shares = result.witness.shares
        assert (shares >= 0).all()
        assert shares.sum() == pytest.approx(1)
        A = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
        if shares.ndim == 1:
            total = (shares * np.where(codes == 1, 1, -1)) @ A
        else:
            assert (shares[np.arange(len(y)), codes] == 0).all()
            own = np.eye(shares.shape[1])[codes] * shares.sum(axis=1, keepdims=True)
            total = (own - shares).T @ A
        np.testing.assert_allclose(total, 0, atol=1e-12 * result.radius)


def one_case(seed, K):
    data = separable_set(seed, K)
    if data is None:
        return
    X, y = data
    fit_intercept = seed % 2 == 0 or K > 2
    result = mistake_bound(X, y, fit_intercept=fit_intercept)
    check_witness(X, y, result, fit_intercept)
    if not result.separable:
        return
    assert 0 < result.margin <= result.margin_at_most
    for order in range(2):
        # A cap on the work: a margin of 1e-4 allows a hundred million mistakes.
        model = Perceptron(epochs=300, fit_intercept=fit_intercept, random_state=order).fit(X, y)
        assert model.updates_ <= result.bound
        assert model.radius_ == pytest.approx(result.radius)
        assert model.margin_ <= result.margin_at_most * (1 + 1e-12)


def one_refusal(seed, K, fit_intercept):
    X, y = never_separable(seed, K, fit_intercept)
    result = mistake_bound(X, y, fit_intercept=fit_intercept)
    assert result.separable is False
    assert result.bound == np.inf
    assert result.margin == 0
    check_witness(X, y, result, fit_intercept)


@given(seeds, n_classes)
def test_mistakes_are_within_the_bound(seed, K):
    """On a separable set, in any order: mistakes <= R^2 / gamma^2; and the witness separates, exactly."""
    one_case(seed, K)


@given(seeds, n_classes, st.booleans())
def test_nothing_is_called_separable_that_is_not(seed, K, fit_intercept):
    """Where a convex combination is exactly 0 the answer is False, with a combination that is."""
    one_refusal(seed, K, fit_intercept)


@pytest.mark.slow
def test_a_thousand_separable_sets():
    """The same for a thousand sets."""
    for seed in range(1000):
        one_case(seed, 2 + seed % 3)


@pytest.mark.slow
def test_a_thousand_that_are_not():
    """The same for a thousand sets of each kind."""
    for seed in range(1000):
        for fit_intercept in (False, True):
            one_refusal(seed, 2 + seed % 3, fit_intercept)


@given(st.lists(st.integers(0, 1), min_size=4, max_size=4))
def test_all_functions_of_two_bits(truth):
    """Of the sixteen, XOR and its negation alone cannot be separated; constants have one class."""
    if len(set(truth)) < 2:
        return
    X = list(itertools.product([0, 1], repeat=2))
    result = mistake_bound(X, truth)
    assert result.separable == (truth not in ([0, 1, 1, 0], [1, 0, 0, 1]))


def test_margins_of_sets_that_are_solved_by_hand():
    """(3, 4) and -(3, -1): the hull's nearest point is (3, 0). AND: 1 / sqrt(17) inside radius sqrt(3)."""
    by_sign = mistake_bound([[3.0, 4.0], [-3.0, 1.0]], [1, 0], fit_intercept=False)
    assert by_sign.margin == pytest.approx(3, rel=1e-6)
    assert by_sign.radius == pytest.approx(5)
    conjunction = mistake_bound([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    assert conjunction.margin == pytest.approx(1 / np.sqrt(17), rel=1e-6)
    assert conjunction.bound == pytest.approx(51, rel=1e-6)


@given(seeds)
def test_two_classes_are_the_joint_case(seed):
    """R / gamma is the same for one score of two classes and for the joint map's difference of two scores."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 3))
    y = (X[:, 0] > 0.1).astype(int)
    if len(set(y.tolist())) < 2:
        return
    one = mistake_bound(X, y)
    W, b = one.witness.coef[0], one.witness.intercept[0]
    # W_1 = -W_0 = w / sqrt(2) has norm 1, and (W_1 - W_0).x = sqrt(2) w.x, for R that is sqrt(2) larger.
    W_joint, b_joint = np.vstack([-W, W]) / np.sqrt(2), np.array([-b, b]) / np.sqrt(2)
    Z = X @ W_joint.T + b_joint
    margin = (Z[np.arange(12), y] - Z[np.arange(12), 1 - y]).min() / np.sqrt(
        (W_joint**2).sum() + b_joint @ b_joint
    )
    radius = np.sqrt(2 * ((X**2).sum(axis=1).max() + 1))
    assert (radius / margin) ** 2 == pytest.approx(one.bound, rel=1e-9)


# ---- near the edge ------------------------------------------------------------------------------


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9, 1e-12, 2.0**-50, 2.0**-52])
def test_nearly_touching_points(gap):
    """Two points a hair apart: never called inseparable while the hair is wider than rounding."""
    result = mistake_bound([[1.0], [1.0 + gap]], [0, 1])
    if gap >= 1e-12:
        assert result.separable
        assert result.bound < np.inf
    if result.separable:
        check_witness(np.array([[1.0], [1.0 + gap]]), [0, 1], result, True)
    else:
        assert result.margin_at_most < 1e-13


def test_a_bound_beyond_float64_is_infinite():
    """Separable all the same, and so it is said."""
    found = mistake_bound([[1e120, 1e-60], [1e120, -1e-60]], [0, 1], fit_intercept=False)
    assert found.separable
    assert found.margin > 0
    assert found.bound == np.inf
    assert "finitely many mistakes" in str(found)


@pytest.mark.parametrize("scale", [1e-100, 1e-8, 1.0, 1e8, 1e100])
def test_units_change_no_answer(scale):
    """Without an intercept, X -> cX scales margin and radius and leaves the bound alone."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(20, 3))
    y = (X @ [1.0, -1.0, 0.5] > 0).astype(int)
    one, other = (mistake_bound(factor * X, y, fit_intercept=False) for factor in (1.0, scale))
    assert other.separable
    assert other.bound == pytest.approx(one.bound, rel=1e-2)
    assert other.radius == pytest.approx(scale * one.radius)


def test_columns_of_very_different_units():
    """A column of 1e-6 that decides beside one of 1e6 that does not."""
    rng = np.random.default_rng(5)
    X = np.column_stack([1e-6 * rng.choice([-1.0, 1.0], 30), 1e6 * rng.normal(size=30)])
    y = (X[:, 0] > 0).astype(int)
    result = mistake_bound(X, y)
    assert result.separable
    check_witness(X, y, result, True)


def test_one_row_with_two_labels_is_enough():
    """The same row under two labels: half of each is the proof, in many columns too."""
    rng = np.random.default_rng(6)
    X = sp.random_array((60, 5000), density=0.01, rng=rng, format="csr")
    X = sp.vstack([X, X[:1]], format="csr")
    y = np.r_[np.arange(60) % 2, 1]
    result = mistake_bound(X, y)
    assert result.separable is False
    np.testing.assert_allclose(result.witness.shares[[0, 60]], 0.5)


@pytest.mark.parametrize("K", [2, 3])
def test_many_columns_are_separable(K):
    """With more columns than rows, in general position, every labelling can be separated; sparse too."""
    rng = np.random.default_rng(7)
    X = sp.random_array((300, 4000), density=0.02, rng=rng, format="csr")
    y = rng.integers(0, K, 300)
    result = mistake_bound(X, y)
    assert result.separable
    assert result.margin_at_most <= 1.01 * result.margin
    assert Perceptron(until_convergence=True).fit(X, y).updates_ <= result.bound


def test_larger_sets_take_the_other_ways():
    """More rows than the exact way takes: machines prove what is separable, the programme what is not."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(4000, 5))
    direction = np.array([1.0, 0.5, -1.0, 0.0, 2.0])
    X = X[np.abs(X @ direction) > 0.3]
    y = (X @ direction > 0).astype(int)
    result = mistake_bound(X, y)
    assert result.separable
    assert result.margin_at_most <= 1.01 * result.margin
    y[:5] = 1 - y[:5]
    assert mistake_bound(X, y).separable is False


def test_with_few_columns_the_margin_is_exact():
    """Whatever the number of rows and classes: both sides of it meet."""
    rng = np.random.default_rng(11)
    y = rng.integers(0, 3, 4000)
    X = np.column_stack([np.eye(3)[y] + 1e-4 * rng.normal(size=(4000, 3)), 100 * rng.normal(size=(4000, 5))])
    for labels in (y, y == 1):
        result = mistake_bound(X, labels)
        assert result.separable
        assert result.margin_at_most <= result.margin * (1 + 1e-6)


def test_no_time_is_undecided():
    """A search that is cut short says so and claims nothing."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(5000, 40))
    y = rng.integers(0, 2, 5000)
    result = mistake_bound(X, y, max_seconds=1e-6)
    assert result.separable is None
    assert result.witness is None
    assert result.bound == np.inf
    assert "undecided" in str(result)


def test_zero_rows_cannot_be_separated_without_an_intercept():
    """A row of zeros has no margin; its share alone is the proof."""
    result = mistake_bound([[0.0], [1.0]], [0, 1], fit_intercept=False)
    assert result.separable is False
    np.testing.assert_allclose(result.witness.shares, [1, 0])
    assert mistake_bound([[0.0], [1.0]], [0, 1]).separable
    for K in (2, 3):
        nothing = mistake_bound(np.zeros((5000, 4)), np.arange(5000) % K, fit_intercept=False)
        assert nothing.separable is False
        assert nothing.radius == 0
        check_witness(np.zeros((5000, 4)), np.arange(5000) % K, nothing, False)
