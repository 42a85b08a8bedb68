"""Words that an option names, held against how texts are read.

Stop words, vocabularies, lexicons and emphasised words are compared with what texts become: "Good" is never
found where texts are lower-cased. Such words are told of, since nothing else would show it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace

from lineal import _core
from lineal.errors import UnmatchedWordsWarning
from lineal.text.analysis import Analysis


def warn_of_unmatched(option: str, names: Iterable[str], analysis: Analysis) -> None:
    """Warns if no text can contain one of these words or n-grams, as the analysis reads texts."""
    if analysis.tokenizer is not None:
        return  # who splits texts by a function may make any tokens
    given = [name for name in names if isinstance(name, str)]
    read = _as_read(given, analysis)
    unmatched = [(name, found) for name, found in zip(given, read, strict=True) if found != name]
    if not unmatched:
        return
    name, found = min(unmatched)
    warnings.warn(
        f"{option} has {len(unmatched)} of {len(given)} words that no text can contain, such as {name!r}: "
        f"texts are read as {found!r}. Spell them so, or change lowercase, fold_accents or analyzer.",
        UnmatchedWordsWarning,
        stacklevel=2,
    )


def _as_read(names: list[str], analysis: Analysis) -> list[str]:
    """What each name would be if it stood in a text; how few characters it has does not matter."""
    splitting = replace(analysis, min_characters=1).splitting()
    tokens = _core.Tokens.read(_core.Documents.from_sequence(names), splitting, 1)
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
