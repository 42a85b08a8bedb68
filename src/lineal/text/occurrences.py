"""Where in a text its terms are: for explanations that go back to what a reader sees."""

from __future__ import annotations

from lineal import _core
from lineal.text.analysis import Analysis

Places = dict[str, list[tuple[int, ...]]]


def occurrences(tokens: list[str], analysis: Analysis, ngrams: tuple[int, int]) -> Places:
    """Of each term the tokens (pieces between white space, by number) that each of its occurrences touches.

    The pieces are analysed one by one, so steps that look across them (negation) are not followed.
    """
    pieces = _core.Documents.from_sequence(tokens)
    min_n, max_n = ngrams
    places: Places = {}
    if analysis.unit == "spaced":
        for place, name in enumerate(tokens):
            piece = _core.Documents.from_sequence([name])
            grams = _core.Tokens.read(piece, analysis.splitting((min_n, max_n)), 1)
            names, (ids, _) = grams.words(), grams.sequence()
            for k in ids.tolist():
                places.setdefault(names[k], []).append((place,))
        return places
    if analysis.unit != "words":
        return places
    found = analysis.tokens(pieces, 1)
    names, (ids, ends) = found.words(), found.sequence()
    words = [names[k] for k in ids.tolist()]
    homes: list[int] = []
    for place, end in enumerate(ends.tolist()):
        homes += [place] * (end - len(homes))
    for n in range(min_n, max_n + 1):
        for k in range(len(words) - n + 1):
            places.setdefault(" ".join(words[k : k + n]), []).append(tuple(homes[k : k + n]))
    return places
