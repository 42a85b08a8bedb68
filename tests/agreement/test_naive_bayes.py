"""Naive Bayes beside scikit-learn's: the same numbers wherever the definitions are the same."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.naive_bayes as theirs
from sklearn.datasets import load_svmlight_file

import lineal
from lineal.learners.catalogue import Catalogue

DATA = Path(os.environ.get("LINEAL_DATA", "~/.cache/lineal-data")).expanduser()

# Options that make the definitions one: ours, theirs.
SAME = {
    "MultinomialNB": ({}, {}),
    "MultinomialNB, smoothed": ({"smoothing": 0.3}, {"alpha": 0.3}),
    "MultinomialNB, uniform": ({"class_prior": "uniform"}, {"fit_prior": False}),
    "ComplementNB": ({}, {}),
    "ComplementNB, normalised": ({"norm": True, "smoothing": 0.5}, {"norm": True, "alpha": 0.5}),
    "BernoulliNB": ({"smooth_prior": False}, {}),
    "BernoulliNB, above 1": (
        {"smooth_prior": False, "threshold": 1.0, "smoothing": 2.0},
        {"binarize": 1.0, "alpha": 2.0},
    ),
    "CategoricalNB": ({"smooth_prior": False}, {}),
    "CategoricalNB, smoothed": ({"smooth_prior": False, "smoothing": 0.1}, {"alpha": 0.1}),
    "GaussianNB": ({"var_smoothing": 1e-9}, {}),
    "GaussianNB, their options": (
        {"var_smoothing": 1e-3, "priors": [0.2, 0.3, 0.5]},
        {"var_smoothing": 1e-3, "priors": [0.2, 0.3, 0.5]},
    ),
}
cases = pytest.mark.parametrize("case", SAME)


def both(case, X, y, sample_weight=None):
    """The two models of a case, fitted."""
    kind, (ours, others) = case.partition(",")[0], SAME[case]
    mine = getattr(lineal, kind)(**ours).fit(X, y, sample_weight)
    return mine, getattr(theirs, kind)(**others).fit(X, y, sample_weight)


def assert_agree(mine, others, X):
    """Log joints and their winners agree; posteriors too, where a softmax keeps the digits of its scores."""
    A = mine.log_joint(X)
    np.testing.assert_allclose(A, others.predict_joint_log_proba(X), rtol=1e-10)
    # exp turns the rounding of a large score into the same absolute error of a probability.
    room = 1e-15 * np.abs(A).max() * 10 + 1e-10
    np.testing.assert_allclose(mine.predict_proba(X), others.predict_proba(X), atol=room)
    differ = mine.predict(X) != others.predict(X)
    top = np.sort(A, axis=1)
    assert (top[differ, -1] - top[differ, -2] <= 1e-9 * np.abs(top[differ, -1])).all()  # ties alone


def made(seed, n=400, d=12):
    """Counts 0 .. 4, each of them in every column, and three classes that differ."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = np.minimum(rng.poisson(0.4 + np.abs(np.subtract.outer(y, np.arange(d) % 4))), 4)
    X[:5] = np.arange(5)[:, None]
    return X, y


@cases
@pytest.mark.parametrize("seed", [0, 1])
def test_generated_data(case, seed):
    """On made counts all cases agree, attributes included, and score rows that were not fitted alike."""
    X, y = made(seed)
    mine, others = both(case, X, y)
    assert_agree(mine, others, made(seed + 10)[0])
    np.testing.assert_array_equal(mine.class_count_, others.class_count_)
    for name in ("class_log_prior_", "feature_log_prob_", "feature_count_", "theta_", "var_", "class_prior_"):
        if hasattr(others, name) and not (name == "class_log_prior_" and not hasattr(mine, "class_prior")):
            for a, b in zip(getattr(mine, name), getattr(others, name), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("case", [c for c in SAME if not c.startswith("GaussianNB")])
def test_generated_weights(case):
    """Weights agree too; of Gaussian ones theirs leave them out of what var_smoothing multiplies."""
    X, y = made(2)
    mine, others = both(case, X, y, np.random.default_rng(0).random(len(y)) * 3)
    assert_agree(mine, others, made(12)[0])


def test_gaussian_weights():
    """Without smoothing of variances, weighted means and variances are the same."""
    X, y = made(3)
    s = np.random.default_rng(0).random(len(y)) * 3
    mine, others = (
        lineal.GaussianNB(smoothing=0).fit(X, y, s),
        theirs.GaussianNB(var_smoothing=0).fit(X, y, s),
    )
    np.testing.assert_allclose(mine.theta_, others.theta_, rtol=1e-12)
    np.testing.assert_allclose(mine.var_, others.var_, rtol=1e-12)


@pytest.mark.parametrize("case", [c for c in SAME if c[:2] in ("Mu", "Co", "Be")])
def test_sparse_generated_data(case):
    """Sparse rows agree as dense ones do."""
    X, y = made(4)
    mine, others = both(case, sp.csr_matrix(X), y)
    assert_agree(mine, others, sp.csr_matrix(made(14)[0]))


def test_the_default_gaussian_is_maximum_likelihood_to_nine_digits():
    """Our smoothing of 1e-9 rows changes a variance by less than that part of it."""
    X, y = made(5)
    mine, plain = lineal.GaussianNB().fit(X, y), lineal.GaussianNB(smoothing=0).fit(X, y)
    np.testing.assert_allclose(mine.var_, plain.var_, rtol=1e-9)


# ---- real data ------------------------------------------------------------------------------------


def _there(*parts):
    path = DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{'/'.join(parts)} is not there: unpack the real data, or set LINEAL_DATA")
    return path


@cache
def newsgroups():
    """Counts of the words of every 8th post."""
    with _there("20newsgroups", "train.jsonl").open(encoding="utf-8") as lines:
        posts = [json.loads(line) for line in lines][::8]
    counts = lineal.TextVectorizer(ngrams=(1, 1), min_df=2, weighting="counts", norm=None)
    return counts.fit_transform([post["text"] for post in posts]), np.array([post["label"] for post in posts])


@cache
def messages():
    """Counts of the words and pairs of words of short messages."""
    with _there("sms_spam", "sms_spam.tsv").open(encoding="utf-8", newline="\n") as lines:
        next(lines)
        rows = [line.rstrip("\n").split("\t", 1) for line in lines]
    counts = lineal.TextVectorizer(ngrams=(1, 2), min_df=2, weighting="counts", norm=None)
    return counts.fit_transform([text for _, text in rows]), np.array([label for label, _ in rows])


@pytest.mark.parametrize("texts", [newsgroups, messages], ids=lambda f: f.__name__)
@pytest.mark.parametrize("case", ["MultinomialNB", "MultinomialNB, smoothed", "ComplementNB", "BernoulliNB"])
def test_real_texts(case, texts):
    """On real counts the three kinds for text agree with theirs to 1e-10."""
    X, y = texts()
    mine, others = both(case, X[::2], y[::2])
    assert_agree(mine, others, X[1::2])


@pytest.mark.parametrize("name", ["ijcnn1.svm", "letter.scale.svm"])
def test_real_numbers(name):
    """On numeric data the Gaussian kind agrees with theirs, under their rule for small variances."""
    X, y = load_svmlight_file(str(_there("libsvm", name)))
    X = X[:6000].toarray()
    mine, others = both("GaussianNB", X[::2], y[:6000:2])
    assert_agree(mine, others, X[1::2])


# ---- catalogues -----------------------------------------------------------------------------------

WHOLE = [np.int8, np.uint8, np.int16, np.int64, np.uint64]


@pytest.mark.parametrize("asked", [*WHOLE, np.float64, object])
@pytest.mark.parametrize("held", [*WHOLE, np.float64, object])
@pytest.mark.parametrize("values", [[3, 5, 5, 0, 100], [0, 127], [7]])
def test_places_are_those_of_a_dictionary(values, held, asked):
    """By table, by search or by hashing: a value is where a dictionary of the sorted ones has it."""
    catalogue = Catalogue.of(np.array(values, dtype=held))
    wanted = sorted(set(values))
    assert catalogue.values.tolist() == wanted
    some = [0, 1, 3, 4, 5, 7, 99, 100, 101, 127]
    if np.dtype(asked).kind in "iu":
        some += [np.iinfo(asked).max, np.iinfo(asked).min]
    place = {value: k for k, value in enumerate(wanted)}
    places = catalogue.places(np.array(some, dtype=asked))
    assert places.tolist() == [place.get(int(value), len(wanted)) for value in some]


def test_catalogues_of_wide_and_negative_numbers():
    """Differences beyond the type that holds the numbers do not overflow."""
    for values, dtype in (
        ([-100, 100], np.int8),
        ([-(2**63), 2**63 - 1], np.int64),
        ([2**64 - 1], np.uint64),
    ):
        catalogue = Catalogue.of(np.array(values, dtype=dtype))
        assert catalogue.values.tolist() == values
        assert (
            catalogue.places(np.array(values[::-1], dtype=dtype)).tolist() == list(range(len(values)))[::-1]
        )
        assert catalogue.places(np.array([3], dtype=dtype)).tolist() == [len(values)]


def test_joined_catalogues_hold_both():
    """Joining keeps what is there, sorts what is new among it, and returns itself where nothing is."""
    words = Catalogue.of(np.array(["b", "d"]))
    assert words.joined(Catalogue.of(np.array(["d"]))) is words
    assert words.joined(Catalogue.of(np.array(["c", "longer"]))).values.tolist() == ["b", "c", "d", "longer"]
    mixed = words.joined(Catalogue.of(np.array([3, 1])))
    assert mixed.values.tolist() == [1, 3, "b", "d"]
    assert mixed.places(np.array(["b", 3, "3"], dtype=object)).tolist() == [2, 1, 4]
