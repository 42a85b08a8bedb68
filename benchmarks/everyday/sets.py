"""The tables that people start with: scikit-learn's own, real ones from files, and generated shapes."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn.datasets as tables
import sklearn.preprocessing as preprocessing
from sklearn.feature_extraction.text import TfidfVectorizer

DATA = Path(os.environ.get("LINEAL_DATA") or Path.home() / ".cache" / "lineal-data")
Table = tuple[Any, np.ndarray]


class AbsentError(Exception):
    """A real table whose file is not on this machine."""


def toy(name: str, scaled: bool = True) -> Table:
    """A table that comes with scikit-learn."""
    X, y = getattr(tables, f"load_{name}")(return_X_y=True)
    return (preprocessing.StandardScaler().fit_transform(X) if scaled else X), y


def made(n: int, d: int, n_classes: int = 0) -> Table:
    """Normal columns, a twentieth of them (at least ten) telling; classes by the largest of noisy scores."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    W = np.zeros((d, n_classes if n_classes > 2 else 1))
    W[: max(10, d // 20)] = rng.normal(size=(max(10, d // 20), W.shape[1]))
    Z = X @ W
    Z += rng.normal(size=Z.shape) * Z.std()
    if n_classes == 0:
        return X, Z[:, 0]
    return X, (Z[:, 0] > 0).astype(int) if n_classes == 2 else Z.argmax(axis=1)


def california(scaled: bool = True) -> Table:
    """California housing: eight columns of numbers, in deviations or as they are; unknown counts of bedrooms
    are the median.
    """
    path = found("california_housing/housing.csv")
    with path.open(encoding="utf-8", newline="") as lines:
        rows = [[field or "nan" for field in row[:9]] for row in list(csv.reader(lines))[1:]]
    numbers = np.array(rows, dtype=np.float64)
    X, y = numbers[:, :8], numbers[:, 8] / 100_000
    X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    return (preprocessing.StandardScaler().fit_transform(X) if scaled else X), y


def a9a() -> Table:
    """Adult as LIBSVM's page has it: 32,561 rows of fourteen ones in 123 columns."""
    X, y = tables.load_svmlight_file(str(found("libsvm/a9a.svm")))
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # SVC takes no others
    return X, y.astype(int)


def imdb() -> Table:
    """The 25,000 reviews that others train on, as scikit-learn's tf-idf."""
    lines = found("imdb/train.jsonl").read_text(encoding="utf-8").strip().split("\n")
    records = [json.loads(each) for each in lines]
    X = TfidfVectorizer().fit_transform(record["text"] for record in records)
    return X, np.array([record["label"] for record in records])


def found(name: str) -> Path:
    """A file of real data, or a clear word that it is absent."""
    path = DATA / name
    if not path.exists():
        raise AbsentError(f"{path} is absent: unpack it there, or name its folder by LINEAL_DATA")
    return path


def counts_of_words(n: int = 10_000, d: int = 30_000, per_row: int = 60, n_classes: int = 5) -> Table:
    """Sparse counts with Zipf columns; each class prefers words of its own."""
    rng = np.random.default_rng(0)
    share = 1.0 / np.arange(1, d + 1)
    share /= share.sum()
    y = rng.integers(n_classes, size=n)
    word = rng.choice(d, size=(n, per_row), p=share)
    # A third of the words of a row are those its class prefers: every n_classes-th of the list.
    is_own = rng.random((n, per_row)) < 1 / 3
    word = np.where(is_own, np.minimum(word // n_classes * n_classes + y[:, None], d - 1), word)
    X = sp.csr_matrix((np.ones(word.size), (np.repeat(np.arange(n), per_row), word.ravel())), shape=(n, d))
    X.sum_duplicates()
    return X, y


def weighted_words() -> Table:
    """Those counts as tf-idf, rows of length 1."""
    X, y = counts_of_words()
    n_rows_with = np.bincount(X.indices, minlength=X.shape[1])
    X = X.multiply(np.log((1 + X.shape[0]) / (1 + n_rows_with)) + 1).tocsr()
    return preprocessing.normalize(X), y


def texts() -> Table:
    """5,000 texts of about 100 words from a Zipf vocabulary of 20,000."""
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnoprstuvwy"))
    words = np.array(["".join(rng.choice(letters, size=k)) for k in rng.integers(2, 11, size=20_000)])
    share = 1.0 / np.arange(1, len(words) + 1)
    picked = rng.choice(len(words), size=(5000, 100), p=share / share.sum())
    return [" ".join(words[row]) for row in picked], rng.integers(2, size=5000)


def codes(n: int, d: int, n_levels: int = 5) -> Table:
    """Categories written as whole numbers, a few of them telling."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=n)
    X = rng.integers(n_levels, size=(n, d))
    X[:, : d // 5] = (X[:, : d // 5] + y[:, None] * (rng.random((n, d // 5)) < 0.5)) % n_levels
    return X, y


SETS: dict[str, Callable[[], Table]] = {
    "iris": lambda: toy("iris"),
    "wine": lambda: toy("wine"),
    "breast cancer": lambda: toy("breast_cancer"),
    "digits": lambda: (toy("digits", scaled=False)[0] / 16, toy("digits")[1]),
    "iris, raw": lambda: toy("iris", scaled=False),
    "wine, raw": lambda: toy("wine", scaled=False),
    "breast cancer, raw": lambda: toy("breast_cancer", scaled=False),
    "digits, raw": lambda: toy("digits", scaled=False),
    "digits, whole numbers": lambda: (toy("digits", scaled=False)[0].astype(np.int64), toy("digits")[1]),
    "diabetes": lambda: toy("diabetes", scaled=False),
    "California": california,
    "California, raw": lambda: california(scaled=False),
    "a9a": a9a,
    "IMDB": imdb,
    "counts of words": counts_of_words,
    "tf-idf of words": weighted_words,
    "5,000 texts": texts,
    "20,000 x 20 categories": lambda: codes(20_000, 20),
    "2,000 x 20": lambda: made(2000, 20),
    "2,000 x 20 x 2": lambda: made(2000, 20, 2),
    "20,000 x 10": lambda: made(20_000, 10),
    "20,000 x 10 x 5": lambda: made(20_000, 10, 5),
    "100,000 x 50": lambda: made(100_000, 50),
    "20,000 x 50": lambda: made(20_000, 50),
    "20,000 x 100": lambda: made(20_000, 100),
    "20,000 x 100 x 2": lambda: made(20_000, 100, 2),
    "20,000 x 100 x 10": lambda: made(20_000, 100, 10),
    "1,000 x 5,000 x 2": lambda: made(1000, 5000, 2),
    "1,000 x 5,000": lambda: made(1000, 5000),
    "2,000 x 5,000": lambda: made(2000, 5000),
}
SMALL = ("iris", "wine", "breast cancer", "digits")
DENSE_CLASSES = (
    *SMALL, "iris, raw", "wine, raw", "breast cancer, raw", "digits, raw",
    "20,000 x 100 x 2", "20,000 x 100 x 10", "1,000 x 5,000 x 2",
)  # fmt: skip
SPARSE_CLASSES = ("a9a", "tf-idf of words", "IMDB")
CLASSES = (*DENSE_CLASSES, *SPARSE_CLASSES)
NUMBERS = (
    "diabetes", "California", "California, raw", "100,000 x 50", "20,000 x 100", "1,000 x 5,000",
    "2,000 x 5,000",
)  # fmt: skip
