"""Fitted estimators of every kind that a model file holds, and data for them."""

from __future__ import annotations

import datetime as dt
from functools import cache

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import lineal
from lineal.features import Categories, Dates, Numbers, Quantiles
from lineal.objective import Hinge

N = 120
WORDS = np.array(
    ["good", "bad", "fine", "awful", "film", "very", "not", "boring", "naïve", "12", "Straße", "über"]
)


@cache
def texts():
    """Made-up texts."""
    rng = np.random.default_rng(0)
    return [" ".join(WORDS[rng.integers(0, len(WORDS), rng.integers(3, 25))]) for _ in range(N)]


@cache
def two_labels():
    """Labels of texts."""
    return np.array(["pos" if "good" in text else "neg" for text in texts()])


def three_labels():
    """Numbers as labels."""
    return np.random.default_rng(1).integers(0, 3, N)


def numbers():
    """Targets of regressions."""
    return np.random.default_rng(2).normal(size=N)


@cache
def table():
    """Columns of every kind, some cells missing."""
    rng = np.random.default_rng(3)
    begin = dt.datetime(2020, 1, 1)
    return {
        "age": [None if rng.random() < 0.1 else float(rng.integers(10, 90)) for _ in range(N)],
        "city": [["Bath", "York", "Rome", None][k] for k in rng.integers(0, 4, N)],
        "member": [bool(k) for k in rng.integers(0, 2, N)],
        "when": [begin + dt.timedelta(hours=int(h)) for h in rng.integers(0, 20000, N)],
        "note": texts(),
        "empty": [None] * N,
    }


def matrix():
    """Dense rows."""
    return np.random.default_rng(4).normal(size=(N, 6))


V, T = lineal.TextVectorizer, lineal.TableVectorizer
OF_TEXTS = {
    "chosen, two labels": (lineal.TextClassifier(), two_labels),
    "chosen, three labels": (lineal.TextClassifier(), three_labels),
    "numbers": (lineal.TextRegressor(), numbers),
    "hashed and signed": (lineal.TextClassifier(vectorizer=V(n_features=300, signed=True)), two_labels),
    "characters": (lineal.TextClassifier(vectorizer=V(analyzer="char", ngrams=(1, 3))), two_labels),
    "side by side": (
        lineal.TextClassifier(vectorizer=[V(), V(analyzer="char_wb", ngrams=(2, 4))]),
        three_labels,
    ),
    "lexicons, stop words, negation": (
        lineal.TextClassifier(
            vectorizer=V(
                lexicons={"nice": ["good"]}, stop_words=["the"], negation=True, emphasis={"good": 3.0}
            )
        ),
        two_labels,
    ),
    "counts of scikit-learn": (
        lineal.TextClassifier(vectorizer=V(compat="sklearn", weighting="counts", sublinear=False, norm=None)),
        two_labels,
    ),
    "BM25": (lineal.TextClassifier(vectorizer=V(weighting="bm25")), two_labels),
    "pipeline": (make_pipeline(V(dtype=np.float64), lineal.LinearSVC()), two_labels),
    "pipeline, selected": (make_pipeline(V(), lineal.SelectBest(k=9), lineal.MultinomialNB()), two_labels),
}
OF_TABLES = {
    "chosen": (lineal.TableClassifier(), two_labels),
    "numbers": (lineal.TableRegressor(), numbers),
    "pipeline": (make_pipeline(T(), lineal.LogisticRegression()), two_labels),
    "bins, one-hot dates, rare levels": (
        make_pipeline(
            T(
                {"age": Numbers(bins=Quantiles(4)), "when": Dates(cycles="one_hot")},
                numbers=Numbers(scale=lineal.ColumnScaler("variance", shift=True)),
                categories=Categories(max_levels=2),
            ),
            lineal.RidgeClassifier(),
        ),
        two_labels,
    ),
    "scaled and selected": (
        make_pipeline(T(), lineal.ColumnScaler(), lineal.SelectBest(k=6), lineal.LinearClassifier(Hinge())),
        three_labels,
    ),
    "float32": (make_pipeline(T(dtype=np.float32), lineal.Ridge()), numbers),
    "dense": (
        make_pipeline(
            T(sparse_output=False), lineal.ColumnScaler("variance", shift=True), lineal.LogisticRegression()
        ),
        two_labels,
    ),
}


def of_texts(name):
    """A fitted estimator of texts."""
    estimator, target = OF_TEXTS[name]
    return clone(estimator).fit(texts(), target())


def of_tables(name):
    """A fitted estimator of tables."""
    estimator, target = OF_TABLES[name]
    return clone(estimator).fit(table(), target())


ANSWERS = ("predict", "decision_function", "predict_proba")


def same_answers(one, other, X):
    """Whether two models have the same methods, and give the same bits, types and shapes."""
    for name in ANSWERS:
        if hasattr(one, name) != hasattr(other, name):
            return f"only one has {name}"
        if hasattr(one, name):
            a, b = getattr(one, name)(X), getattr(other, name)(X)
            if a.dtype != b.dtype or a.shape != b.shape or a.tobytes() != b.tobytes():
                return f"{name} differs"
    return ""
