"""The lectures on naive Bayes: the frog, the estimates, the text algorithm, linearity, logarithms."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from lineal import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB
from reference import naive_bayes as exact

# The frog's world: convex, speed, and whether it can be eaten.
FROG = [
    *[("small", "small", "-"), ("small", "medium", "-"), ("small", "medium", "-"), ("medium", "small", "-")],
    *[("large", "small", "-"), ("small", "small", "-"), ("small", "large", "-"), ("small", "medium", "-")],
    *[("small", "large", "+"), ("medium", "large", "+"), ("medium", "large", "+"), ("large", "small", "+")],
    *[("large", "large", "+"), ("large", "medium", "+")],
]
ROWS, LABELS = [row[:2] for row in FROG], [row[2] for row in FROG]
PRINTED = {
    ("convex", "-"): {"small": (6, 8), "medium": (1, 8), "large": (1, 8)},
    ("speed", "-"): {"small": (4, 8), "medium": (3, 8), "large": (1, 8)},
    ("convex", "+"): {"small": (1, 6), "medium": (2, 6), "large": (3, 6)},
    ("speed", "+"): {"small": (1, 6), "medium": (1, 6), "large": (4, 6)},
}


@pytest.fixture(scope="module")
def frog():
    """The frog by maximum likelihood."""
    return CategoricalNB(smoothing=0).fit(ROWS, LABELS)


def test_the_frogs_priors(frog):
    """p(+) = 6/14 and p(-) = 8/14."""
    assert frog.classes_.tolist() == ["+", "-"]
    np.testing.assert_allclose(np.exp(frog.class_log_prior_), [6 / 14, 8 / 14], rtol=1e-15)


@pytest.mark.parametrize(("feature", "label"), PRINTED)
def test_the_frogs_parameters(frog, feature, label):
    """Every printed p(feature = value | label)."""
    place, k = ("convex", "speed").index(feature), frog.classes_.tolist().index(label)
    values = frog.categories_[place].tolist()
    shares = dict(zip(values, np.exp(frog.feature_log_prob_[place][k]), strict=True))
    assert shares == pytest.approx({v: n / d for v, (n, d) in PRINTED[feature, label].items()}, rel=1e-14)


def test_the_frogs_decision(frog):
    """The unseen (medium, medium) scores 0.027 against 0.024 and is inedible."""
    edible, inedible = np.exp(frog.log_joint([("medium", "medium")])[0])
    assert inedible == pytest.approx(8 / 14 * 1 / 8 * 3 / 8, rel=1e-14)
    assert edible == pytest.approx(6 / 14 * 2 / 6 * 1 / 6, rel=1e-14)
    assert (round(inedible, 3), round(edible, 3)) == (0.027, 0.024)
    assert frog.predict([("medium", "medium")]) == ["-"]


def test_the_frog_is_a_linear_model(frog):
    """w_y = log P(y) and w_(i, v, y) = log P(x_i = v | y): the score of the one-hot row is the log joint."""
    assert frog.coef_names_ == [
        *("x0=large", "x0=medium", "x0=small", "x1=large", "x1=medium", "x1=small"),
    ]
    one_hot = np.array(
        [[float(name in (f"x0={a}", f"x1={b}")) for name in frog.coef_names_] for a, b in ROWS]
    )
    np.testing.assert_allclose(one_hot @ frog.coef_.T + frog.intercept_, frog.log_joint(ROWS), rtol=1e-14)


@pytest.mark.parametrize("l", [0, 1, 2, Fraction(1, 2)])
def test_map_is_the_lectures_formula(l):
    """(N_kiv + l) / (N_k + l V) and, of the class, (N_k + l) / (N + l K): the joint of every row, exactly."""
    model = CategoricalNB(smoothing=float(l)).fit(ROWS, LABELS)
    rows = [(a, b) for a in ("small", "medium", "large") for b in ("small", "medium", "large")]
    wanted = [exact.categorical(ROWS, LABELS, ["+", "-"], row, l, smooth=True) for row in rows]
    np.testing.assert_allclose(np.exp(model.log_joint(rows)), np.array(wanted, dtype=float), rtol=1e-13)


def test_the_prior_of_map_is_an_option():
    """Laplace smooths the class prior to 7/16 and 9/16; without smooth_prior it stays 6/14 and 8/14."""
    smoothed = CategoricalNB(smoothing=1).fit(ROWS, LABELS)
    np.testing.assert_allclose(np.exp(smoothed.class_log_prior_), [7 / 16, 9 / 16], rtol=1e-14)
    plain = CategoricalNB(smoothing=1, smooth_prior=False).fit(ROWS, LABELS)
    np.testing.assert_allclose(np.exp(plain.class_log_prior_), [6 / 14, 8 / 14], rtol=1e-14)


# Documents over the vocabulary (buy, cheap, lunch, meeting), worked by hand below.
DOCUMENTS = [[2, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 2], [0, 0, 1, 0], [1, 0, 1, 1]]
KINDS = ["spam", "spam", "ham", "ham", "ham"]


def test_the_text_algorithm_by_hand():
    """p(C_k) = |D_k| / |D| and p(w_i | C_k) = (n_ki + 1) / (n_k + |V|), as the training algorithm has it.

    ham: 3 of 5 documents, 7 words, of them 1 buy, 0 cheap, 3 lunch, 3 meeting; 7 + 4 = 11 below the line.
    spam: 2 of 5 documents, 5 words, of them 3 buy, 2 cheap; 5 + 4 = 9 below the line.
    """
    model = MultinomialNB().fit(DOCUMENTS, KINDS)
    np.testing.assert_allclose(np.exp(model.class_log_prior_), [3 / 5, 2 / 5], rtol=1e-14)
    by_hand = [[2 / 11, 1 / 11, 4 / 11, 4 / 11], [4 / 9, 3 / 9, 1 / 9, 1 / 9]]
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), by_hand, rtol=1e-14)
    # "buy cheap lunch": 3/5 2/11 1/11 4/11 = 24/6655 against 2/5 4/9 3/9 1/9 = 24/3645.
    joint = np.exp(model.log_joint([[1, 1, 1, 0]]))[0]
    np.testing.assert_allclose(joint, [24 / 6655, 24 / 3645], rtol=1e-13)
    assert model.predict([[1, 1, 1, 0]]) == ["spam"]
    np.testing.assert_allclose(
        model.predict_proba([[1, 1, 1, 0]])[0], [3645 / (3645 + 6655), 6655 / (3645 + 6655)], rtol=1e-13
    )


def test_repeated_words_count_by_occurrence():
    """A document is its words one by one: p(C) times a factor for each of them, repeated or not."""
    model = MultinomialNB().fit(DOCUMENTS, KINDS)
    words = [0, 0, 3, 1, 3, 3]
    one_by_one = model.class_log_prior_ + sum(model.feature_log_prob_[:, w] for w in words)
    counts = np.bincount(words, minlength=4)
    np.testing.assert_allclose(model.log_joint([counts])[0], one_by_one, rtol=1e-13)


def test_gaussian_estimates():
    """mu_ik and sigma_ik^2 are the mean and the mean squared deviation of column i in class k."""
    X = np.array([[1.0, 10.0], [3.0, 14.0], [2.0, 30.0], [6.0, 20.0], [4.0, 22.0]])
    y = ["yes", "yes", "yes", "no", "no"]
    model = GaussianNB(smoothing=0).fit(X, y)
    np.testing.assert_allclose(model.theta_, [[5.0, 21.0], [2.0, 18.0]], rtol=1e-15)
    np.testing.assert_allclose(model.var_, [[1.0, 1.0], [2 / 3, (64 + 16 + 144) / 3]], rtol=1e-15)
    row = np.array([3.0, 20.0])
    wanted = [
        math.log(share) + norm.logpdf(row, m, np.sqrt(v)).sum()
        for share, m, v in zip([2 / 5, 3 / 5], model.theta_, model.var_, strict=True)
    ]
    np.testing.assert_allclose(model.log_joint([row])[0], wanted, rtol=1e-13)


def test_two_classes_are_a_sigmoid_of_the_log_odds():
    """p(C_1 | x) = sigma(a), a the logarithm of the odds."""
    model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1], [0, 0], [1, 0]], [1, 1, 0, 0, 1])
    rows = [[0, 0], [0, 1], [1, 0], [1, 1]]
    A = model.log_joint(rows)
    np.testing.assert_allclose(
        model.predict_proba(rows)[:, 1], 1 / (1 + np.exp(A[:, 0] - A[:, 1])), rtol=1e-13
    )


def test_binary_features_are_a_generalised_linear_model():
    """a_k(x) = sum_i x_i ln mu + (1 - x_i) ln(1 - mu) + ln p(C_k) = w_k . x + b_k."""
    X, y = [[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 1], [1, 0, 1]], [1, 1, 0, 0, 1]
    model = BernoulliNB().fit(X, y)
    mu = np.exp(model.feature_log_prob_)
    np.testing.assert_allclose(mu, [[1 / 4, 2 / 4, 3 / 4], [4 / 5, 2 / 5, 3 / 5]], rtol=1e-14)
    rows = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    stated = rows @ np.log(mu).T + (1 - rows) @ np.log(1 - mu).T + model.class_log_prior_
    np.testing.assert_allclose(rows @ model.coef_.T + model.intercept_, stated, rtol=1e-13)
    np.testing.assert_allclose(model.log_joint(rows), stated, rtol=1e-13)


def test_products_that_underflow():
    """In log space a document of ten thousand words, whose probability no double holds, is still decided."""
    model = MultinomialNB().fit([[5, 1], [1, 5]], ["a", "b"])
    document = [[5001, 5000]]
    assert np.exp(model.log_joint(document)).max() == 0.0
    assert model.predict(document) == ["a"]
    # One word more of the first kind: the odds are 6/8 to 2/8.
    np.testing.assert_allclose(model.predict_proba(document)[0], [0.75, 0.25], rtol=1e-9)
