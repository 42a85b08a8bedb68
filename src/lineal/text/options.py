"""The options of the text vectoriser, checked before any text is read."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lineal.errors import ParameterError
from lineal.text.analysis import Analysis, negators_of, stop_words_of, words_of
from lineal.text.given_words import warn_of_unmatched

if TYPE_CHECKING:
    from lineal.text.vectorizer import TextVectorizer

_UNITS = {"word": "words", "char": "characters", "char_wb": "spaced"}
_LONGEST = 1000  # tokens of an n-gram
_WEIGHTINGS = ("tfidf", "counts", "occurrence", "bm25", "nb")


def checked_analysis(options: TextVectorizer) -> Analysis:
    """The options as an analysis; a ParameterError for what cannot be."""
    ngrams = options.ngrams
    if not (
        isinstance(ngrams, (tuple, list))
        and len(ngrams) == 2
        and all(isinstance(n, numbers.Integral) and not isinstance(n, bool) for n in ngrams)
        and 1 <= ngrams[0] <= ngrams[1] <= _LONGEST
    ):
        raise ParameterError(
            f"ngrams must be two whole numbers, 1 <= shortest <= longest <= {_LONGEST}; got {ngrams!r}."
        )
    if not callable(options.analyzer) and options.analyzer not in _UNITS:
        raise ParameterError(
            f'analyzer must be "word", "char", "char_wb" or a function; got {options.analyzer!r}.'
        )
    _one_of("weighting", options.weighting, _WEIGHTINGS)
    _one_of("norm", options.norm, ("l1", "l2", None))
    _one_of("compat", options.compat, ("sklearn", None))
    _check_dtype(options)
    _check_numbers(options)
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
    if options.n_features is not None and options.emphasis:
        raise ParameterError(
            "emphasis is for the columns of words, and a hashed column may hold many: leave out n_features."
        )
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
        try:
            return np.dtype(options.dtype)
        except TypeError:
            raise ParameterError(f"dtype must be a type of numbers, got {options.dtype!r}.") from None
    if options.compat is None:
        return np.dtype(np.float32)
    return np.dtype(np.int64 if _is_whole(options) and options.n_features is None else np.float64)


def _is_whole(options: TextVectorizer) -> bool:
    """Whether all numbers of the matrix are whole."""
    is_count = options.weighting == "occurrence" or (options.weighting == "counts" and not options.sublinear)
    return is_count and options.norm is None and not options.functions


def _check_dtype(options: TextVectorizer) -> None:
    dtype = out_dtype(options)
    if dtype.kind not in "fiu" or dtype == np.float16:
        raise ParameterError(f"dtype must be a type of numbers, float32 at least, got {options.dtype!r}.")
    if dtype.kind in "iu" and not _is_whole(options):
        raise ParameterError(
            f"dtype={options.dtype!r} would cut fractions off. Whole numbers come from "
            "weighting='occurrence', or 'counts' with sublinear=False, norm=None, and no functions."
        )


def _check_numbers(options: TextVectorizer) -> None:
    """What is given as numbers must be numbers that leave the matrix finite."""
    bm25, emphasis = options.bm25, options.emphasis
    if not (isinstance(bm25, (tuple, list)) and len(bm25) == 2 and all(map(_is_finite, bm25))) or not (
        bm25[0] >= 0 and 0 <= bm25[1] <= 1
    ):
        raise ParameterError(f"bm25 must be two numbers, k >= 0 and 0 <= b <= 1; got {bm25!r}.")
    if emphasis is None:
        return
    if not isinstance(emphasis, Mapping):
        raise ParameterError(f"emphasis must tell the factor of each word, a mapping; got {emphasis!r}.")
    for word, factor in emphasis.items():
        if not isinstance(word, str) or not _is_finite(factor):
            raise ParameterError(f"emphasis must tell finite factors of words, got {factor!r} for {word!r}.")


def _is_finite(number: Any) -> bool:
    is_number = isinstance(number, numbers.Real) and not isinstance(number, bool)
    return is_number and abs(number) <= np.finfo(np.float64).max


def _check_given_words(options: TextVectorizer, analysis: Analysis) -> None:
    # Stop words and negations are sought among words as they stand, of any length, and so are lexicons.
    plain = analysis.as_split()
    if not isinstance(options.stop_words, str):
        warn_of_unmatched("stop_words", analysis.stop_words or (), plain, is_single=True)
    warn_of_unmatched("negation", analysis.negators or (), plain, is_single=True)
    warn_of_unmatched("emphasis", options.emphasis or (), analysis, is_single=analysis.unit == "words")
    if options.lexicons is not None and not isinstance(options.lexicons, Mapping):
        raise ParameterError(f"lexicons must be a mapping of names to words, got {options.lexicons!r}.")
    for name, words in (options.lexicons or {}).items():
        warn_of_unmatched(
            f"lexicons[{name!r}]", words_of(words, f"lexicons[{name!r}]"), plain, is_single=True
        )


def _one_of(name: str, given: Any, known: tuple[Any, ...]) -> None:
    if given not in known:
        raise ParameterError(f"{name} must be one of {', '.join(map(repr, known))}; got {given!r}.")


def _whole(name: str, given: Any, most: int | None = None) -> None:
    if isinstance(given, bool) or not isinstance(given, numbers.Integral) or int(given) < 1:
        raise ParameterError(f"{name} must be a whole number from 1 on, got {given!r}.")
    if most is not None and int(given) > most:
        raise ParameterError(f"{name} can be at most {most}, got {given!r}.")
