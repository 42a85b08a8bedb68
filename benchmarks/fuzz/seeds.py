"""Small models of every kind that can be stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline

import lineal
from lineal.learners.freezing import model_of
from lineal.model.features.fasttext import FastTextFeatures
from lineal.model.heads import ClassesHead
from lineal.model.linear import LinearScores, Scores
from lineal.objective import L1

TEXTS = ["good film", "bad film", "really good, good plot", "not good", "what a bad plot", "ünïcode film 12"]
LABELS = ["+", "-", "+", "-", "-", "?"]


def save_models(folder: Path) -> None:
    """Writes them, the same bytes every time."""
    _fasttext(folder / "fasttext.lineal")
    for name, model in _models().items():
        lineal.save(model, folder / f"{name}.lineal", about={"notes": {"seed": [1, 2.5, None]}, "n_rows": 6})


def _fasttext(path: Path) -> None:
    """As they are imported."""
    words = (b"</s>", b"good", b"bad", "ünï".encode())
    features = FastTextFeatures(words, frozenset([b"__label__+"]), 20, 2, (2, 3))
    W = np.random.default_rng(0).normal(size=(features.n_columns, 3))
    head = ClassesHead(Scores(LinearScores(W, np.zeros(3))), np.array(["+", "-", "?"]), "softmax")
    model_of(features, head, about={"learner": "fastText softmax"}).save(path)


def _models() -> dict[str, Any]:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(30, 4))
    three, two, number = np.arange(30) % 3, X[:, 0] > 0, X @ [1.0, -2.0, 0.0, 0.5]
    counts = generator.poisson(1.0, size=(30, 5)).astype(float)
    words = lineal.TextVectorizer(stop_words=["a"], lexicons={"praise": ["good", "great"]})
    hashed = lineal.TextVectorizer(n_features=64, analyzer="char_wb", ngrams=(2, 3), signed=True)
    spelled = lineal.TextVectorizer(analyzer="char", ngrams=(1, 3), weighting="bm25", fold_accents=True)
    inner = lineal.TextVectorizer(analyzer="char_wb", ngrams=(2, 3), weighting="counts", norm=None)
    table = {"age": [20, 30, 40, None] * 6, "town": ["Rome", "Oslo", "Rome"] * 8, "review": TEXTS * 4}
    logistic = lineal.LogisticRegression()
    return {
        "table": lineal.TableClassifier(strengths=1.0).fit(table, ["a", "b"] * 12),
        "pairs": lineal.OneVsOne(logistic).fit(X, three),
        "rest": lineal.OneVsRest(logistic).fit(X, three),
        "code": lineal.OutputCode(logistic).fit(X, np.arange(30) % 4),
        "calibrated": lineal.Calibrated(lineal.LinearSVC()).fit(X, three),
        "scaled": make_pipeline(lineal.ColumnScaler(), logistic).fit(X, two),
        "text": lineal.TextClassifier(strengths=1.0).fit(TEXTS * 2, LABELS * 2),
        "words": make_pipeline(words, lineal.LogisticRegression()).fit(TEXTS, LABELS),
        "hashed": make_pipeline(hashed, lineal.LinearSVC()).fit(TEXTS, LABELS),
        "spelled": make_pipeline(spelled, lineal.Ridge()).fit(TEXTS, range(6)),
        "inner": make_pipeline(inner, lineal.MultinomialNB()).fit(TEXTS, LABELS),
        "classes": lineal.LinearClassifier().fit(X, three),
        "spread": lineal.LinearClassifier(penalty=L1(strength=8.0)).fit(np.hstack([X, X * 1e-9]), two),
        "numbers": lineal.Ridge().fit(X, np.column_stack([number, -number])),
        "bernoulli": lineal.BernoulliNB().fit(counts, three),
        "online": lineal.OnlineClassifier().fit(X, three),
        "radial": lineal.SVC().fit(X, two),
        "radial pairs": lineal.SVC(probability=True).fit(sp.csr_array(counts), three),
        "polynomial rest": lineal.SVC(kernel="poly", multi_class="ovr").fit(X, three),
        "kernel numbers": lineal.SVR(kernel="linear").fit(X, number),
        "one class": lineal.OneClassSVM().fit(counts),
    }
