"""Codes of classes: their distances, and the errors that they correct."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.members import features
from lineal import OutputCode
from lineal.compose.codes import (
    bch_basis,
    bch_code,
    column_distance,
    correctable,
    exhaustive_code,
    hadamard_code,
    one_vs_rest_code,
    random_code,
    row_distance,
    words_of,
)
from lineal.errors import InputError, ParameterError
from lineal.model.strategies import one_vs_one_code
from lineal.objective import Hinge, Log

MADE = {
    "exhaustive": lambda K, rng: exhaustive_code(K),
    "hadamard": lambda K, rng: hadamard_code(K),
    "bch": lambda K, rng: bch_code(K, None, rng),
    "random": lambda K, rng: random_code(K, None, rng),
}


def distances(code):
    """The distances of all pairs of rows, one bit at a time."""
    return [int(sum(a != b)) for k, a in enumerate(code) for b in code[:k]]


@pytest.mark.parametrize("K", range(3, 11))
def test_every_two_rows_of_an_exhaustive_code_differ_in_half_of_all_halvings(K):
    """2^(K-1) - 1 distinct columns, no two opposite; every two rows differ in exactly 2^(K-2) bits."""
    code = exhaustive_code(K)
    assert code.shape == (K, 2 ** (K - 1) - 1)
    assert set(distances(code)) == {2 ** (K - 2)}
    assert column_distance(code) >= 1


@pytest.mark.parametrize("K", [3, 4, 5, 8, 9, 16, 20, 33])
def test_rows_of_a_hadamard_code_differ_in_half_of_its_order(K):
    """n - 1 columns for the least power n of 2 from K on, and every two rows differ in exactly n / 2 bits."""
    n = 1 << (K - 1).bit_length()
    code = hadamard_code(K)
    assert code.shape == (K, n - 1)
    assert set(distances(code)) == {n // 2}
    assert column_distance(code) >= 1


@pytest.mark.parametrize(
    ("K", "n", "dimension", "distance"),
    [
        (20, 15, 5, 7),
        (100, 15, 7, 5),
        (2000, 15, 11, 3),
        (60, 31, 6, 15),
        (2000, 31, 11, 11),
        (128, 63, 7, 31),
    ],
)
def test_bch_codes_have_the_distance_of_the_books(K, n, dimension, distance):
    """Codes (15, 5), (15, 7), (15, 11), (31, 6), (31, 11), (63, 7): distances 7, 5, 3, 15, 11, 31."""
    basis = bch_basis(n.bit_length(), K)
    assert basis.shape == (dimension, n)
    words = words_of(basis, np.arange(2**dimension))
    weights = (words < 0).sum(axis=1)
    assert weights.min() == 0  # the word of no message
    assert np.sort(weights)[1] == distance
    sums = np.prod(words[[3, 5]], axis=0)  # the sum of two words, as signs
    assert (words == sums).all(axis=1).any()
    code = bch_code(min(K, 40), n, np.random.default_rng(0))
    assert row_distance(code) >= distance or K > 40


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("K", [3, 4, 6, 10])
def test_codes_ask_sensible_questions(name, K):
    """Bits are -1 and +1; no column is constant, and none is another one or its opposite; rows differ."""
    code = MADE[name](K, np.random.default_rng(K))
    assert set(np.unique(code)) == {-1, 1}
    assert (np.abs(code.sum(axis=0, dtype=int)) < K).all()
    assert column_distance(code) >= 1
    assert row_distance(code) == min(distances(code)) >= 1


def test_one_vs_rest_and_one_vs_one_are_codes():
    """K columns of distance 2, which corrects nothing; K (K - 1) / 2 columns of two classes each."""
    assert row_distance(one_vs_rest_code(6)) == 2
    assert correctable(2) == 0
    pairs = one_vs_one_code(6)
    assert pairs.shape == (6, 15)
    assert ((pairs != 0).sum(axis=0) == 2).all()
    assert (pairs.sum(axis=0) == 0).all()


class Wired:
    """A fitted part whose scores are known."""

    classes_ = np.array([0, 1])

    def __init__(self, z):
        self.z = z

    def decision_function(self, X):
        return self.z[np.asarray(X)[:, 0].astype(int)]


def wired(code, Z, **options):
    """A model of this code whose parts answer the columns of Z for rows 0, 1, 2 ..."""
    model = OutputCode(code=code, **options)
    model.classes_, model.code_, model.n_features_in_ = np.arange(len(code)), code, 1
    model.parts_ = [Wired(z) for z in Z.T]
    return model, np.arange(len(Z), dtype=float)[:, None]


@settings(max_examples=25, deadline=None)
@given(name=st.sampled_from(sorted(MADE)), K=st.integers(3, 8), seed=st.integers(0, 2**31))
def test_wrong_bits_up_to_half_the_distance_are_put_right(name, K, seed):
    """(d - 1) // 2 flipped bits, any of them, leave the label right: by Hamming decoding, and by the loss
    where all scores are equally sure."""
    rng = np.random.default_rng(seed)
    code = MADE[name](K, rng)
    n_wrong = correctable(row_distance(code))
    Z = np.repeat(code, 4, axis=0).astype(float)
    for z in Z:
        z[rng.choice(len(z), size=n_wrong, replace=False)] *= -1
    for decoding in ("hamming", "loss", Hinge()):
        model, rows = wired(code, Z, decoding=decoding)
        np.testing.assert_array_equal(model.predict(rows), np.repeat(np.arange(K), 4))


def test_one_more_wrong_bit_can_be_too_many():
    """With more than (d - 1) // 2 wrong bits some word is answered wrongly: the bound is tight."""
    code = hadamard_code(4)  # distance 2: one wrong bit may tie
    Z = code.astype(float)
    Z[1, np.flatnonzero(code[1] != code[0])[0]] *= -1
    model, rows = wired(code, Z, decoding="hamming")
    assert model.predict(rows)[1] == 0


def test_decoding_by_loss_is_the_sum_of_losses():
    """Class k's score is -sum_l loss(bit_kl, z_l); by Hamming it is minus the number of bits that differ."""
    rng = np.random.default_rng(0)
    code = exhaustive_code(4)
    Z = rng.normal(size=(5, code.shape[1]))
    for loss in (Log(), Hinge()):
        model, rows = wired(code, Z, decoding=loss)
        wanted = [[-loss(bits.astype(float), z).sum() for bits in code] for z in Z]
        np.testing.assert_allclose(model.decision_function(rows), wanted, rtol=1e-12)
    model, rows = wired(code, Z, decoding="hamming")
    wanted = [[-np.sum(bits != np.where(z >= 0, 1, -1)) for bits in code] for z in Z]
    np.testing.assert_array_equal(model.decision_function(rows), wanted)


@pytest.mark.parametrize("name", MADE)
def test_right_probabilities_of_bits_give_right_probabilities_of_classes(name):
    """q = code' p is solved for p exactly, for every p."""
    code = MADE[name](5, np.random.default_rng(1))
    model = OutputCode(code=code).fit(features(15, 1), np.repeat(np.arange(5), 3))
    p = np.random.default_rng(2).dirichlet(np.ones(5), size=40)
    np.testing.assert_allclose(model._combined(p @ (code > 0)), p, atol=1e-12)


def test_given_codes():
    """An array is taken as it is, as signs, bits or booleans; bad ones are refused in words."""
    X, y = features(9, 2), np.repeat([0, 1, 2], 3)
    signs = np.array([[1, 1, -1], [1, -1, 1], [-1, 1, 1]])
    for code in (signs, (signs > 0).astype(int), signs > 0, signs.tolist()):
        model = OutputCode(code=code).fit(X, y)
        np.testing.assert_array_equal(model.code_, signs)
        assert (model.distance_, model.column_distance_, model.n_correctable_) == (2, 1, 0)
    for code, kind, words in [
        (signs[:2], InputError, "row for each of 3 classes"),
        (signs * 2, ParameterError, "-1 and \\+1"),
        ([[1, -1], [1, 0], [1, 1]], ParameterError, "-1 and \\+1"),
        ([[1, 1], [1, -1], [1, -1]], ParameterError, "same for all"),
        ([[1, 1], [-1, -1], [-1, -1]], ParameterError, "two rows"),
        ("hamming", ParameterError, "code must be"),
    ]:
        with pytest.raises(kind, match=words):
            OutputCode(code=code).fit(X, y)


def test_codes_that_cannot_be_are_refused():
    """Exhaustive codes of many classes, and too few columns to tell classes apart, say what to do instead."""
    X, y = features(60, 2), np.arange(60) % 20
    with pytest.raises(ParameterError, match=r"524,287 columns.*at most 12"):
        OutputCode(code="exhaustive").fit(X, y)
    with pytest.raises(ParameterError, match="n_columns from 5 on"):
        OutputCode(code="random", n_columns=3).fit(X, y)
    for options in ({"n_columns": 0}, {"decoding": "votes"}, {"random_state": "x"}, {"n_threads": 0}):
        with pytest.raises(ParameterError, match=next(iter(options))):
            OutputCode(**options).fit(object(), object())
