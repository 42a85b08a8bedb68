"""scikit-learn's vectorisers of texts as readers: the same columns and the same numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)

from lineal.errors import ParameterError
from lineal.model.features.texts import TextFeatures
from lineal.text.analysis import Analysis
from lineal.text.columns import GramColumns, HashedColumns, NGramColumns
from lineal.text.reader import Columns, TextReader, Weights

_UNITS = {"word": "words", "char": "characters", "char_wb": "spaced"}
# Patterns of words by the fewest characters that they match.
_PATTERNS = {r"(?u)\b\w\w+\b": 2, r"(?u)\b\w+\b": 1, r"\b\w\w+\b": 2, r"\b\w+\b": 1}


def text_features(vectorizer: Any, transformer: TfidfTransformer | None) -> TextFeatures:
    """How a fitted vectoriser reads texts, with a TfidfTransformer behind it or without.

    Raises
    ------
    ParameterError
        For options that cannot be honoured exactly, by name.
    """
    _refuse_code(vectorizer)
    unit = _UNITS[vectorizer.analyzer]
    n_least, n_most = vectorizer.ngram_range
    analysis = Analysis(
        unit,
        lowercase=bool(vectorizer.lowercase),
        fold_accents=vectorizer.strip_accents == "unicode",
        min_characters=_shortest_word(vectorizer) if unit == "words" else 1,
        stop_words=_stop_words(vectorizer) if unit == "words" else None,
    )
    columns = _columns(vectorizer, unit, (n_least, n_most))
    weights = _weights(vectorizer, transformer, columns.n_columns)
    return TextFeatures((TextReader(columns, analysis, (n_least, n_most), weights, is_double=True),))


def _refuse(vectorizer: Any, option: str, value: Any, instead: str) -> None:
    name = type(vectorizer).__name__
    raise ParameterError(f"{name}({option}={value!r:.60}) cannot be honoured exactly: {instead}.")


def _refuse_code(vectorizer: Any) -> None:
    for option in ("preprocessor", "tokenizer"):
        if getattr(vectorizer, option) is not None:
            _refuse(vectorizer, option, getattr(vectorizer, option), "it is code, which no model file holds")
    if vectorizer.analyzer not in _UNITS:
        _refuse(vectorizer, "analyzer", vectorizer.analyzer, "it is code, which no model file holds")
    if vectorizer.strip_accents not in (None, "unicode"):
        _refuse(vectorizer, "strip_accents", vectorizer.strip_accents, "None and 'unicode' can be")
    if vectorizer.input != "content":
        _refuse(vectorizer, "input", vectorizer.input, "models read texts; give them the contents of files")


def _shortest_word(vectorizer: Any) -> int:
    if vectorizer.token_pattern not in _PATTERNS:
        _refuse(
            vectorizer,
            "token_pattern",
            vectorizer.token_pattern,
            "words are what \\w matches, of one or two characters at least",
        )
    return _PATTERNS[vectorizer.token_pattern]


def _stop_words(vectorizer: Any) -> frozenset[str] | None:
    words = vectorizer.get_stop_words()
    return None if words is None else frozenset(words)


def _columns(vectorizer: Any, unit: str, ngrams: tuple[int, int]) -> Columns:
    if isinstance(vectorizer, HashingVectorizer):
        is_signed = bool(vectorizer.alternate_sign)
        return HashedColumns(vectorizer.n_features, *ngrams, unit, is_signed=is_signed, is_murmur=True)
    by_column = {column: name for name, column in vectorizer.vocabulary_.items()}
    names = [by_column[column] for column in range(len(by_column))]
    _refuse_unreachable(vectorizer, names, unit, ngrams)
    if unit == "spaced":
        return GramColumns.from_names(names, *ngrams)
    return NGramColumns.from_names(names, " " if unit == "words" else "")


def _refuse_unreachable(vectorizer: Any, names: Sequence[str], unit: str, ngrams: tuple[int, int]) -> None:
    """A vocabulary that was given may hold terms that scikit-learn never finds, and Lineal would."""
    for name in names:
        n = len(name.split(" ")) if unit == "words" else len(name)
        if not ngrams[0] <= n <= ngrams[1] and unit != "spaced":
            _refuse(
                vectorizer, "vocabulary", name, f"ngram_range={ngrams} never finds this term; leave it out"
            )


def _weights(vectorizer: Any, transformer: TfidfTransformer | None, n_columns: int) -> Weights:
    own = vectorizer._tfidf if isinstance(vectorizer, TfidfVectorizer) else None
    if own is not None and transformer is not None:
        raise ParameterError("A TfidfTransformer behind a TfidfVectorizer weighs twice; leave one out.")
    weighing = transformer if own is None else own
    is_binary = bool(vectorizer.binary)
    norm = vectorizer.norm if isinstance(vectorizer, HashingVectorizer) else None
    if weighing is None:
        return Weights("occurrence" if is_binary else "count", norm or "none", None)
    if norm is not None:
        _refuse(vectorizer, "norm", norm, "a TfidfTransformer follows; norm=None can be")
    is_sublinear = bool(weighing.sublinear_tf) and not is_binary
    if is_sublinear and getattr(vectorizer, "alternate_sign", False):
        _refuse(
            vectorizer, "alternate_sign", True, "with sublinear_tf the logarithm of a count below 0 is none"
        )
    tf = "occurrence" if is_binary else "logarithm" if is_sublinear else "count"
    idf: NDArray[np.float64] | None = None
    if weighing.use_idf:
        idf = np.asarray(weighing.idf_, dtype=np.float64)
        if idf.shape != (n_columns,):
            raise ParameterError(f"idf_ has {idf.shape} weights for {n_columns} columns.")
    return Weights(tf, weighing.norm or "none", idf)


VECTORIZERS = (CountVectorizer, HashingVectorizer)  # TfidfVectorizer is a CountVectorizer
