"""Words that an option names, held against how texts are read.

Stop words, vocabularies, lexicons and emphasised words are compared with what texts become: "Good" is never
found where texts are lower-cased. Such words are told of, since nothing else would show it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace
from typing import Any

from lineal import _core
from lineal.errors import ParameterError, UnmatchedWordsWarning
from lineal.text.analysis import Analysis


def given_terms(vocabulary: Any) -> list[str]:
    """The terms of a ``vocabulary``, in the order of their columns."""
    if isinstance(vocabulary, (str, Iterator)) or not isinstance(vocabulary, Iterable):
        raise ParameterError(f"vocabulary must be a collection of terms, got {vocabulary!r}.")
    names = list(vocabulary)
    if not names:
        raise ParameterError("vocabulary is empty.")
    for name in names:
        if not isinstance(name, str):
            raise ParameterError(f"vocabulary must hold terms, got {name!r} of type {type(name).__name__}.")
    if isinstance(vocabulary, Mapping):
        names.sort(key=vocabulary.__getitem__)
        if [vocabulary[name] for name in names] != list(range(len(names))):
            raise ParameterError("vocabulary must number its terms 0, 1, 2, ..., each once.")
    # The order of a set is another in each process.
    return sorted(names) if isinstance(vocabulary, Set) else names


def warn_of_unmatched(
    option: str, names: Iterable[str], analysis: Analysis, *, is_single: bool = False
) -> None:
    """Warns if no text can contain one of these words or n-grams, as the analysis reads texts.

    ``is_single``: they are held against single words, and n-grams are never found.
    """
    if analysis.tokenizer is not None:
        return  # who splits texts by a function may make any tokens
    given = [name for name in names if isinstance(name, str)]
    read = _as_read(given, analysis)
    is_apart = [is_single and " " in found.strip(" ") for found in read]
    unmatched = [
        (name, "several words" if apart else repr(found))
        for name, found, apart in zip(given, read, is_apart, strict=True)
        if apart or found != name
    ]
    if not unmatched:
        return
    name, found = min(unmatched)
    warnings.warn(
        f"{option} has {len(unmatched)} of {len(given)} words that no text can contain, such as {name!r}: "
        f"texts are read as {found}. Spell them so, or change lowercase, fold_accents, min_characters, stem "
        "or analyzer.",
        UnmatchedWordsWarning,
        stacklevel=2,
    )


def _as_read(names: list[str], analysis: Analysis) -> list[str]:
    """What each name would be if it stood in a text; negations apart, which look at more than a name."""
    tokens = replace(analysis, negators=None).tokens(_core.Documents.from_sequence(names), 1)
    words, (numbers, ends) = tokens.words(), tokens.sequence()
    separator = "" if analysis.unit == "characters" else " "
    found, first = [], 0
    for name, end in zip(names, ends.tolist(), strict=True):
        joined = separator.join(words[k] for k in numbers[first:end].tolist())
        # N-grams inside words may begin or end with the space around the word.
        is_padded = analysis.unit == "spaced" and joined == name.strip(" ")
        found.append(name if is_padded else joined)
        first = end
    return found
