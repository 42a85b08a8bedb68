"""The options of the text vectoriser, checked before any text is read."""

from __future__ import annotations

import numbers
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from lineal.errors import ParameterError
from lineal.text.analysis import Analysis, negators_of, stop_words_of
from lineal.text.given_words import warn_of_unmatched

if TYPE_CHECKING:
    from lineal.text.vectorizer import TextVectorizer

_UNITS = {"word": "words", "char": "characters", "char_wb": "spaced"}
_WEIGHTINGS = ("tfidf", "counts", "occurrence", "bm25", "nb")


def checked_analysis(options: TextVectorizer) -> Analysis:
    """The options as an analysis; a ParameterError for what cannot be."""
    ngrams = options.ngrams
    if not (
        isinstance(ngrams, (tuple, list))
        and len(ngrams) == 2
        and all(isinstance(n, numbers.Integral) and not isinstance(n, bool) for n in ngrams)
        and 1 <= ngrams[0] <= ngrams[1]
    ):
        raise ParameterError(f"ngrams must be two whole numbers, 1 <= shortest <= longest; got {ngrams!r}.")
    if not callable(options.analyzer) and options.analyzer not in _UNITS:
        raise ParameterError(
            f'analyzer must be "word", "char", "char_wb" or a function; got {options.analyzer!r}.'
        )
    _one_of("weighting", options.weighting, _WEIGHTINGS)
    _one_of("norm", options.norm, ("l1", "l2", None))
    _one_of("compat", options.compat, ("sklearn", None))
    if out_dtype(options).kind not in "fiu":
        raise ParameterError(f"dtype must be a type of numbers, got {options.dtype!r}.")
    is_whole = options.weighting == "occurrence" or (options.weighting == "counts" and not options.sublinear)
    if out_dtype(options).kind in "iu" and not (is_whole and options.norm is None):
        raise ParameterError(
            f"dtype={options.dtype!r} would cut fractions off. Whole numbers come from "
            "weighting='occurrence', or 'counts' with sublinear=False, and norm=None."
        )
    min_characters = options.min_characters
    if min_characters is None:
        min_characters = 1 if options.compat is None else 2
    _whole("min_characters", min_characters)
    if options.chunk_bytes is not None:
        _whole("chunk_bytes", options.chunk_bytes)
    if options.max_features is not None:
        _whole("max_features", options.max_features)
    if options.n_features is not None:
        _whole("n_features", options.n_features, most=2**31 - 1)
        if options.vocabulary is not None:
            raise ParameterError("n_features hashes terms and vocabulary names them: give one of the two.")
    elif options.signed:
        raise ParameterError("signed is for hashed terms: give n_features, or leave it out.")
    if options.signed and options.weighting == "nb":
        raise ParameterError('weighting="nb" counts occurrences, which signed lets cancel: leave one out.')
    unit = "words" if callable(options.analyzer) else _UNITS[options.analyzer]
    if unit != "words" and (options.stop_words is not None or options.stem is not None or options.negation):
        raise ParameterError(
            f'stop_words, stem and negation are for words, but analyzer is "{options.analyzer}".'
        )
    if options.fold_accents and callable(options.analyzer):
        raise ParameterError("fold_accents is for texts that are split here: fold them in the analyzer.")
    analysis = Analysis(
        unit,
        lowercase=bool(options.lowercase),
        fold_accents=bool(options.fold_accents),
        min_characters=int(min_characters) if unit == "words" else 1,
        tokenizer=options.analyzer if callable(options.analyzer) else None,
        stop_words=stop_words_of(options.stop_words),
        stem=options.stem,
        negators=negators_of(options.negation),
    )
    _check_given_words(options, analysis)
    return analysis


def out_dtype(options: TextVectorizer) -> np.dtype[Any]:
    """Of the numbers of the matrix: as asked for, else float32 or what scikit-learn would give."""
    if options.dtype is not None:
        return np.dtype(options.dtype)
    if options.compat is None:
        return np.dtype(np.float32)
    is_count = (
        options.weighting in ("counts", "occurrence") and options.norm is None and options.n_features is None
    )
    return np.dtype(np.int64 if is_count and not options.sublinear else np.float64)


def _check_given_words(options: TextVectorizer, analysis: Analysis) -> None:
    if not isinstance(options.stop_words, str):
        warn_of_unmatched("stop_words", analysis.stop_words or (), analysis)
    warn_of_unmatched("negation", analysis.negators or (), analysis)
    warn_of_unmatched("emphasis", options.emphasis or (), analysis)
    for name, words in (options.lexicons or {}).items():
        if isinstance(words, Collection) and not isinstance(words, str):
            warn_of_unmatched(f"lexicons[{name!r}]", words, analysis)


def _one_of(name: str, given: Any, known: tuple[Any, ...]) -> None:
    if given not in known:
        raise ParameterError(f"{name} must be one of {', '.join(map(repr, known))}; got {given!r}.")


def _whole(name: str, given: Any, most: int | None = None) -> None:
    if isinstance(given, bool) or not isinstance(given, numbers.Integral) or int(given) < 1:
        raise ParameterError(f"{name} must be a whole number from 1 on, got {given!r}.")
    if most is not None and int(given) > most:
        raise ParameterError(f"{name} can be at most {most}, got {given!r}.")
