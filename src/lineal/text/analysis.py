"""From texts to tokens: what splits them, and what happens to the distinct words then.

Words are split natively. Everything that looks at a word as a whole (stop words, stems, negation) is done
once for each distinct word, not for each token, so it may be done in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lineal import _core
from lineal.errors import InputError, InputTypeError, ParameterError

Tokenizer = Callable[[str], Sequence[str]]

# What comes before a negated word. A word of a text has no NUL in it.
_NEGATED = "\0"
NEGATORS = frozenset(
    "not no never nor cannot without ain aren couldn didn doesn don hadn hasn haven isn mightn mustn needn "  # noqa: SIM905
    "shan shouldn wasn weren won wouldn".split()
)
_NEGATORS_WITH_T = frozenset({"can"})  # of "can't"


@dataclass(frozen=True)
class Analysis:
    """How a text becomes tokens; the fields are the options of ``TextVectorizer``, checked."""

    unit: str
    lowercase: bool = True
    fold_accents: bool = False
    min_characters: int = 2
    tokenizer: Tokenizer | None = None
    stop_words: frozenset[str] | None = None
    stem: str | None = None
    negators: frozenset[str] | None = None

    def splitting(self, grams: tuple[int, int] = (0, 0)) -> _core.Splitting:
        return _core.Splitting(self.unit, self.lowercase, self.fold_accents, self.min_characters, grams)

    def as_split(self) -> Analysis:
        """The same without what is done to words once they are split; none is too short."""
        return replace(self, min_characters=1, stop_words=None, stem=None, negators=None)

    @property
    def is_native(self) -> bool:
        """Whether tokens are what the native splitting finds, and nothing else is done to them."""
        return (
            self.tokenizer is None and self.stop_words is None and self.stem is None and self.negators is None
        )

    def tokens(self, documents: _core.Documents, n_threads: int) -> _core.Tokens:
        """The tokens of documents, all steps done."""
        if self.tokenizer is None:
            tokens = _core.Tokens.read(documents, self.splitting(), n_threads)
        else:
            tokens = _given(documents, self.tokenizer, n_threads)
        if self.negators is not None:
            words = tokens.words()
            if self.tokenizer is not None and any(word.startswith(_NEGATED) for word in words):
                raise InputError("negation takes no tokens that begin with NUL: drop it in the analyzer.")
            with_t = _NEGATORS_WITH_T if self.negators == NEGATORS else frozenset()
            is_negator, is_with_t = (
                np.fromiter((word in known for word in words), bool, len(words))
                for known in (self.negators, with_t)
            )
            tokens.join_behind(is_negator, is_with_t, "t", _NEGATED)
        if not (self.negators is None and self.stop_words is None and self.stem is None):
            tokens.rename(self._renamed(tokens.words()))
        return tokens

    def _renamed(self, words: list[str]) -> list[str | None]:
        stems = dict(zip(words, self._stems(words), strict=True)) if self.stem is not None else None

        def one(word: str) -> str | None:
            is_negated = word.startswith(_NEGATED) and self.negators is not None
            plain = word[1:] if is_negated else word
            if self.stop_words is not None and plain in self.stop_words:
                return None
            if stems is not None:
                plain = stems[word]
            return f"not_{plain}" if is_negated else plain

        return [one(word) for word in words]

    def _stems(self, words: list[str]) -> list[str]:
        assert self.stem is not None
        return list(stemmer(self.stem).stemWords([word.removeprefix(_NEGATED) for word in words]))


def stemmer(language: str) -> Any:
    """Snowball's stemmer of a language, from the optional package PyStemmer."""
    if not isinstance(language, str):
        raise ParameterError(f'stem must be a language such as "english", got {language!r}.')
    try:
        import Stemmer
    except ImportError as error:
        raise ParameterError(
            f'stem="{language}" needs the package PyStemmer. Install it with: pip install "lineal[text]".'
        ) from error
    try:
        return Stemmer.Stemmer(language)
    except (KeyError, UnicodeEncodeError) as error:
        known = ", ".join(sorted(Stemmer.algorithms()))
        raise ParameterError(f"stem must be one of {known}; got {language!r}.") from error


def stop_words_of(given: Any) -> frozenset[str] | None:
    """The ``stop_words`` option as a set: "english" is scikit-learn's list."""
    if given is None:
        return None
    if isinstance(given, str):
        if given != "english":
            raise ParameterError(
                f'stop_words must be "english", a collection of words or None, got {given!r}.'
            )
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    return words_of(given, "stop_words")


def negators_of(given: Any) -> frozenset[str] | None:
    """The ``negation`` option as a set of negating words."""
    if given is None or given is False:
        return None
    return NEGATORS if given is True else words_of(given, "negation")


def words_of(given: Any, option: str) -> frozenset[str]:
    """Words that an option names. What can be read only once is refused: there may be a second fit."""
    if isinstance(given, (str, Iterator)) or not isinstance(given, Iterable):
        raise ParameterError(f"{option} must be a collection of words, got {given!r}.")
    words = frozenset(given)
    for word in words:
        if not isinstance(word, str):
            raise ParameterError(f"{option} must hold words, got {word!r} of type {type(word).__name__}.")
    return words


def _given(documents: _core.Documents, tokenizer: Tokenizer, n_threads: int) -> _core.Tokens:
    words: list[str] = []
    ends = np.empty(len(documents), dtype=np.int64)
    for row in range(len(documents)):
        found = tokenizer(documents[row])
        if isinstance(found, str) or not isinstance(found, Iterable):
            raise InputTypeError(
                f"The analyzer must return a list of tokens, but for document {row} it returned "
                f"{type(found).__name__}. Split the text, for example with str.split."
            )
        for token in found:
            if not isinstance(token, str):
                raise InputTypeError(
                    f"The analyzer must return text, but for document {row} it returned a token "
                    f"of type {type(token).__name__}: {token!r}."
                )
            words.append(token)
        ends[row] = len(words)
    return _core.Tokens.of_words(_core.Documents.from_sequence(words), ends, n_threads)
