"""Texts to matrices, against scikit-learn's vectorisers and against slow obvious counting."""

from __future__ import annotations

import json
import os
import pickle
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

from lineal.text import TextVectorizer
from reference.words import words

HARD = [
    "",
    "the same, the same; THE SAME",
    "a b c",
    "straße STRASSE ΣΊΣΥΦΟΣ ὈΔΥΣΣΕΎΣ İstanbul KELVIN Å",
    "नमस्ते दुनिया \u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35 漢字 かな 한국어 🙂🙃",
    "x\x00y \ud800 lone\udfff \t\n\x1c\x85\u2028 spaces   more\n\nlines",
    "word" * 40 + " " + "long" * 30 + " word",
    "don't isn't e\u0301te\u0301 ﬁne №5 ½ x² _under_score__ 12.5e3",
]


@cache
def corpus(n=120, seed=0):
    """Texts over few words, so that n-grams repeat, with the hard ones among them."""
    rng = np.random.default_rng(seed)
    common = ["the", "film", "was", "not", "good", "bad", "a", "i", "Very", "GOOD,", "été", "Ωmega", "don't"]
    rare = [f"w{k}" for k in range(200)]
    texts = []
    for _ in range(n):
        size = int(rng.integers(0, 30))
        texts.append(" ".join(rng.choice(common if rng.random() < 0.8 else rare) for _ in range(size)))
    return texts + HARD


def well_formed(texts):
    return [text.replace("\ud800", "").replace("\udfff", "") for text in texts]


@cache
def real(name, n):
    """Every so many-th text of a real data set."""
    path = Path(os.environ.get("LINEAL_DATA", "~/.cache/lineal-data")).expanduser() / name
    if not path.exists():
        pytest.skip(f"{name} is not there: unpack the real data, or set LINEAL_DATA")
    with path.open(encoding="utf-8", newline="\n") as file:
        lines = file.readlines()
    lines = lines[:: max(len(lines) // n, 1)] if n else lines
    if path.suffix == ".jsonl":
        return [json.loads(line)["text"] for line in lines]
    return [line.rstrip("\n").split("\t", 1)[1] for line in lines]


SETS = ["20newsgroups/train.jsonl", "imdb/train.jsonl", "l10n_langid/train.tsv"]

# scikit-learn's options and ours.
OPTIONS = [
    ({}, {}),
    ({"ngram_range": (1, 2), "min_df": 2, "sublinear_tf": True}, {"min_df": 2, "sublinear": True}),
    ({"ngram_range": (1, 3), "max_df": 0.5, "max_features": 100}, {"max_df": 0.5, "max_features": 100}),
    ({"ngram_range": (2, 4), "min_df": 0.05, "norm": "l1"}, {"min_df": 0.05, "norm": "l1"}),
    ({"ngram_range": (1, 2), "stop_words": "english"}, {"stop_words": "english"}),
    ({"lowercase": False, "norm": None}, {"lowercase": False, "norm": None}),
    ({"analyzer": "char_wb", "ngram_range": (2, 5), "min_df": 2}, {"analyzer": "char_wb", "min_df": 2}),
    ({"analyzer": "char_wb", "ngram_range": (4, 9)}, {"analyzer": "char_wb"}),
    ({"analyzer": "char", "ngram_range": (1, 3)}, {"analyzer": "char"}),
    (
        {"analyzer": "char", "ngram_range": (4, 5), "max_features": 500},
        {"analyzer": "char", "max_features": 500},
    ),
]


def ours(theirs, own):
    ngrams = theirs.get("ngram_range", (1, 1))
    return TextVectorizer(**({"ngrams": ngrams, "sublinear": False, "compat": "sklearn"} | own))


def assert_same(wanted, found):
    """The same shape and places to the last one; numbers but for the order of a row's sum."""
    wanted = wanted.copy()
    wanted.sort_indices()
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found.indptr, wanted.indptr)
    np.testing.assert_array_equal(found.indices, wanted.indices)
    np.testing.assert_allclose(found.data, wanted.data, rtol=1e-11)


def agree_on(texts, theirs, own, others):
    peer, vectorizer = TfidfVectorizer(**theirs), ours(theirs, own)
    assert_same(peer.fit_transform(texts), vectorizer.fit_transform(texts))
    assert list(vectorizer.get_feature_names_out()) == list(peer.get_feature_names_out())
    assert vectorizer.vocabulary_ == peer.vocabulary_
    assert_same(peer.transform(others), vectorizer.transform(others))


@pytest.mark.parametrize(("theirs", "own"), OPTIONS)
def test_tfidf_is_that_of_scikit_learn(theirs, own):
    """Columns, names and counts are equal, on fitted texts and on others."""
    agree_on(corpus(), theirs, own, corpus(60, seed=1))


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(("theirs", "own"), OPTIONS[1:3] + OPTIONS[6:7])
def test_tfidf_is_that_of_scikit_learn_on_real_texts(name, theirs, own):
    """The same on a part of three real sets."""
    texts = real(name, 150)
    agree_on(texts, theirs, own, texts[:50])


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_tfidf_and_hashing_are_those_of_scikit_learn_on_all_real_texts(name):
    """No entry differs on all of 20 Newsgroups, IMDB and the strings of 89 languages."""
    texts = real(name, None)
    agree_on(texts, *OPTIONS[1], texts[:1000])
    hashed = TextVectorizer(**HASHED, ngrams=(1, 2), n_features=2**20, norm="l2")
    assert_same(HashingVectorizer(ngram_range=(1, 2)).transform(texts), hashed.transform(texts))
    counted = TextVectorizer(ngrams=(1, 1), weighting="counts", sublinear=False, norm=None, compat="sklearn")
    assert_same(CountVectorizer().fit_transform(texts), counted.fit_transform(texts))


@pytest.mark.parametrize("binary", [False, True])
def test_counts_are_those_of_scikit_learn(binary):
    """Whole numbers, equal to the last one."""
    weighting = "occurrence" if binary else "counts"
    vectorizer = TextVectorizer(
        ngrams=(1, 2), weighting=weighting, sublinear=False, norm=None, compat="sklearn"
    )
    wanted = CountVectorizer(ngram_range=(1, 2), binary=binary).fit_transform(corpus())
    assert_same(wanted, vectorizer.fit_transform(corpus()))


HASHED = {"weighting": "counts", "sublinear": False, "compat": "sklearn", "signed": True}


@pytest.mark.parametrize(
    "theirs",
    [
        {"ngram_range": (1, 2)},
        {"n_features": 77, "norm": "l1"},
        {"n_features": 1000, "norm": None, "alternate_sign": False},
        {"analyzer": "char_wb", "ngram_range": (2, 4), "n_features": 5000},
        {"analyzer": "char", "ngram_range": (1, 3)},
    ],
)
def test_hashing_is_that_of_scikit_learn(theirs):
    """The same columns and signed sums, entries that cancel to 0 included."""
    own = HASHED | {"ngrams": (1, 1), "n_features": 2**20, "norm": "l2"}
    names = {"ngram_range": "ngrams", "alternate_sign": "signed"}
    own |= {names.get(option, option): value for option, value in theirs.items()}
    texts = well_formed(corpus())  # scikit-learn's hashing refuses single surrogates
    assert_same(HashingVectorizer(**theirs).transform(texts), TextVectorizer(**own).transform(texts))


CASES = [
    {"ngrams": (1, 3)},
    {"analyzer": "char_wb", "ngrams": (2, 4)},
    {"analyzer": "char", "ngrams": (1, 4)},
    {"n_features": 512, "ngrams": (1, 2)},
    {"weighting": "bm25"},
    {"stem": "english", "stop_words": ["the"], "negation": True},
    {"functions": {"length": len}, "lexicons": {"praise": ["good", "very"]}},
]


@pytest.mark.parametrize("options", CASES)
def test_threads_change_no_bit_and_transform_repeats_fit_transform(options):
    """One thread, several, in one pass or two, before and after pickling: the same arrays."""
    texts = well_formed(corpus(6000))
    wanted = TextVectorizer(n_threads=1, **options).fit_transform(texts)
    for n_threads in (2, 3):
        vectorizer = TextVectorizer(n_threads=n_threads, **options)
        found = [vectorizer.fit_transform(texts), pickle.loads(pickle.dumps(vectorizer)).transform(texts)]
        for X in found:
            for part in ("indptr", "indices", "data"):
                np.testing.assert_array_equal(getattr(X, part), getattr(wanted, part))


def counted(texts, ngrams, least=1):
    """Counts of word n-grams, by document."""
    low, high = ngrams
    rows = []
    for text in texts:
        found = words(text, min_characters=least)
        rows.append(
            Counter(
                " ".join(found[k : k + n]) for n in range(low, high + 1) for k in range(len(found) - n + 1)
            )
        )
    return rows


def test_bm25_is_robertsons_formula():
    """tf = c (k + 1) / (c + k (1 - b + b |d| / mean |d|)), idf = log(1 + (n - df + 1/2) / (df + 1/2))."""
    texts, k, b = corpus(), 1.5, 0.5
    X = TextVectorizer(weighting="bm25", bm25=(k, b), norm=None, dtype=float)
    found, names = X.fit_transform(texts).toarray(), X.get_feature_names_out()
    rows = counted(texts, (1, 2))
    n, mean = len(texts), np.mean([sum(row.values()) for row in rows])
    for i in range(0, n, 7):
        length = sum(rows[i].values())
        for j in range(0, len(names), 5):
            c = rows[i][names[j]]
            df = sum(names[j] in row for row in rows)
            tf = c * (k + 1) / (c + k * (1 - b + b * length / mean))
            assert found[i, j] == pytest.approx(tf * np.log1p((n - df + 0.5) / (df + 0.5)), rel=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_naive_bayes_weights_are_wang_and_mannings(n_classes):
    """|log((p / |p|) / (q / |q|))| of occurrences, the farthest from 0 of all classes."""
    texts = corpus()
    y = np.arange(len(texts)) % n_classes
    vectorizer = TextVectorizer(weighting="nb", norm=None, dtype=float)
    X = vectorizer.fit_transform(texts, y).toarray()
    rows = counted(texts, (1, 2))
    F = np.array([[name in row for name in vectorizer.get_feature_names_out()] for row in rows], dtype=float)
    ratios = []
    for c in range(n_classes):
        p, q = 1 + F[y == c].sum(axis=0), 1 + F[y != c].sum(axis=0)
        ratios.append(np.log((p / p.sum()) / (q / q.sum())))
    np.testing.assert_allclose(X, F * np.abs(ratios).max(axis=0), rtol=1e-12)


def test_hashed_columns_have_the_names_of_terms_that_fall_into_them_and_collisions_are_counted():
    """The first term met names a column; columns where two or more terms met are counted exactly."""
    texts = well_formed(corpus(60))
    options = {"n_features": 400, "weighting": "counts", "sublinear": False, "norm": None}
    hashed = TextVectorizer(ngrams=(1, 2), **options).fit(texts)
    met: dict[int, list[str]] = {}
    for row in counted(texts, (1, 2)):
        for term in row:
            n = len(words(term, min_characters=1))
            # Alone, with n-grams of its own length, a term has one column.
            (column,) = TextVectorizer(ngrams=(n, n), **options).transform([term]).indices
            met.setdefault(int(column), [])
            if term not in met[int(column)]:
                met[int(column)].append(term)
    assert hashed.n_collisions_ == sum(len(terms) > 1 for terms in met.values()) > 0
    for column, name in enumerate(hashed.get_feature_names_out()):
        inside = met.get(column, [])
        assert name.removesuffix(" (and others)") in inside or name == f"hashed{column}"
        assert name.endswith(" (and others)") == (len(inside) > 1)
    wide = TextVectorizer(n_features=2**30, ngrams=(1, 1), weighting="counts").fit(texts[:20])
    assert wide.n_collisions_ == 0


def test_a_vocabulary_that_is_given_is_the_learned_one():
    """Names in any order become columns in that order; prefixes that are not named have no column."""
    texts = corpus()
    learned = TextVectorizer(ngrams=(1, 3), weighting="counts", max_features=150)
    X, names = learned.fit_transform(texts), learned.get_feature_names_out()
    order = np.random.default_rng(0).permutation(len(names))
    given = TextVectorizer(ngrams=(1, 3), weighting="counts", vocabulary=list(names[order]))
    np.testing.assert_array_equal(given.fit_transform(texts).toarray(), X.toarray()[:, order])
    assert list(given.get_feature_names_out()) == list(names[order])


def test_words_can_be_stemmed_negated_dropped_and_emphasised():
    """Each step is done to words, before n-grams are made of them."""
    plain = {"weighting": "counts", "sublinear": False, "norm": None}

    def terms(text, **options):
        vectorizer = TextVectorizer(**plain | options).fit([text])
        return set(vectorizer.get_feature_names_out())

    assert terms("running runs", stem="english", ngrams=(1, 2)) == {"run", "run run"}
    assert terms("it is not good", negation=True, ngrams=(1, 1)) == {"it", "is", "not_good"}
    assert terms("not not good, never", negation=True, ngrams=(1, 1)) == {"not", "not_good", "never"}
    assert terms("it isn't good", negation=True, ngrams=(1, 1)) == {"it", "not_good"}
    assert terms("not running", negation=True, stem="english", ngrams=(1, 1)) == {"not_run"}
    assert terms("the good the film", stop_words=["the"], ngrams=(2, 2)) == {"good film"}
    assert terms("a-b, c", analyzer=lambda text: text.split(), ngrams=(1, 1)) == {"a-b,", "c"}
    strong = TextVectorizer(**plain | {"emphasis": {"good": 3.0}, "ngrams": (1, 2)})
    values = dict(
        zip(
            strong.fit(["good film"]).get_feature_names_out(),
            strong.transform(["good film"]).toarray()[0],
            strict=True,
        )
    )
    assert values == {"good": 3.0, "good film": 3.0, "film": 1.0}


def test_lexicons_and_functions_stand_beside_the_terms():
    """Counts of listed words; numbers, truth values and categories that functions find, by name."""
    vectorizer = TextVectorizer(
        ngrams=(1, 1),
        weighting="counts",
        norm=None,
        lexicons={"praise": ["good", "great"]},
        functions={"length": len, "shouts": str.isupper, "first": lambda text: text[:1]},
    )
    X = vectorizer.fit_transform(["Good, great, good", "BAD"]).toarray()
    names = list(vectorizer.get_feature_names_out())
    assert names[3:] == ["praise", "length", "shouts", "first=B", "first=G"]
    np.testing.assert_array_equal(X[:, 3:], [[3, 17, 0, 0, 1], [0, 3, 1, 1, 0]])
    unseen = vectorizer.transform(["new"]).toarray()
    np.testing.assert_array_equal(unseen[:, 3:], [[0, 3, 0, 0, 0]])
