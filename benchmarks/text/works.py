"""Who makes what of texts: scikit-learn's vectorisers and ours, told to do the same work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from pipeline import PEER
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer

from lineal import TextVectorizer

Run = Callable[[list[str]], Any]


@dataclass(frozen=True)
class Work:
    """Texts to a matrix: scikit-learn's way and ours. Those named in ``equal`` must make what it makes."""

    title: str
    contenders: Mapping[str, Run]
    equal: tuple[str, ...]


def _learned(make: Callable[[], Any]) -> Run:
    return lambda texts: make().fit_transform(texts)


def _hashed(make: Callable[[], Any]) -> Run:
    return lambda texts: make().transform(texts)


def _tfidf(title: str, analyzer: str, ngrams: tuple[int, int]) -> Work:
    def peer() -> Any:
        return TfidfVectorizer(analyzer=analyzer, ngram_range=ngrams, min_df=2, sublinear_tf=True)

    def ours(n_threads: int, dtype: Any) -> Callable[[], Any]:
        return lambda: TextVectorizer(
            analyzer=analyzer, ngrams=ngrams, min_df=2, compat="sklearn", dtype=dtype, n_threads=n_threads
        )

    contenders = {PEER: _learned(peer)}
    for name, dtype in (("float64", np.float64), ("float32", np.float32)):
        for n in (1, 2):
            contenders[f"lineal, {name}, {_threads(n)}"] = _learned(ours(n, dtype))
    return Work(title, contenders, tuple(f"lineal, float64, {_threads(n)}" for n in (1, 2)))


def _hashing(title: str, analyzer: str, ngrams: tuple[int, int]) -> Work:
    counts = {"analyzer": analyzer, "ngrams": ngrams, "n_features": 2**20}
    counts |= {"weighting": "counts", "sublinear": False}

    def peer() -> Any:
        return HashingVectorizer(analyzer=analyzer, ngram_range=ngrams, n_features=2**20)

    def compatible(n_threads: int) -> Callable[[], Any]:
        return lambda: TextVectorizer(**counts, compat="sklearn", signed=True, n_threads=n_threads)

    def own(n_threads: int) -> Callable[[], Any]:
        # Words of one character are dropped as scikit-learn drops them: the same terms are hashed.
        return lambda: TextVectorizer(**counts, min_characters=2, n_threads=n_threads)

    contenders = {PEER: _hashed(peer)}
    for n in (1, 2):
        contenders[f"lineal, scikit-learn's hash, {_threads(n)}"] = _hashed(compatible(n))
    for n in (1, 2):
        contenders[f"lineal, own hash, float32, {_threads(n)}"] = _hashed(own(n))
    return Work(title, contenders, tuple(f"lineal, scikit-learn's hash, {_threads(n)}" for n in (1, 2)))


def _threads(n: int) -> str:
    return "1 thread" if n == 1 else f"{n} threads"


WORKS = {
    "tf-idf": _tfidf("tf-idf of words 1-2", "word", (1, 2)),
    "hashing": _hashing("hashing of words 1-2 to 2^20", "word", (1, 2)),
    "tf-idf of characters": _tfidf("tf-idf of characters in words 2-5", "char_wb", (2, 5)),
    "hashing of characters": _hashing("hashing of characters in words 2-5 to 2^20", "char_wb", (2, 5)),
}
