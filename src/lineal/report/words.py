"""Texts whose words are coloured by what they added to a score.

Colour is not alone: words that speak for the label are underlined, those against it have a dotted line, the
thicker the heavier, and pointing at a word tells its share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from lineal.report.content import Token
from lineal.report.markup import Markup, join, tag
from lineal.report.numerals import counted, signed

MOST_WORDS = 70
WORD_LIMIT = 48
_AROUND = 5  # words shown on either side of a heavy one
_LEVELS = (0.12, 0.3, 0.55, 0.8)  # shares of the heaviest word at which a stronger mark begins


def coloured(tokens: Sequence[Token], most: int = MOST_WORDS) -> Markup:
    """The words in their order, marked; of long texts the parts around the heaviest words."""
    heaviest = max((abs(token.share) for token in tokens if math.isfinite(token.share)), default=0.0)
    parts: list[Markup | str] = []
    ranges = excerpt([token.share for token in tokens], most)
    if ranges and ranges[0][0] > 0:
        parts.append(_gap(ranges[0][0]))
    for place, (start, stop) in enumerate(ranges):
        parts += [_word(token, heaviest) for token in tokens[start:stop]]
        after = (ranges[place + 1][0] if place + 1 < len(ranges) else len(tokens)) - stop
        if after:
            parts.append(_gap(after))
    return tag("p", join(parts, " "), class_="words", dir="auto")


def _gap(n: int) -> Markup:
    return tag("span", f"[… {counted(n, 'word')} …]", class_="gap")


def excerpt(shares: Sequence[float], most: int) -> list[tuple[int, int]]:
    """Ranges of about ``most`` words around the heaviest ones, in order; all of a text not much longer.

    The heaviest word comes first, then the next, each with its neighbours, until there are enough.
    """
    n = len(shares)
    if n <= most * 5 // 4:
        return [(0, n)] if n else []
    weights = [abs(share) if math.isfinite(share) else 0.0 for share in shares]
    kept: set[int] = set()
    for place in sorted(range(n), key=lambda place: (-weights[place], place)):
        window = range(max(0, place - _AROUND), min(n, place + _AROUND + 1))
        if kept and len(kept | set(window)) > most:
            break
        kept.update(window)
    starts = [place for place in sorted(kept) if place - 1 not in kept]
    stops = [place + 1 for place in sorted(kept) if place + 1 not in kept]
    return _closed(list(zip(starts, stops, strict=True)), n)


def _closed(ranges: list[tuple[int, int]], n: int) -> list[tuple[int, int]]:
    """Ranges with gaps of up to three words filled: telling of a gap would take longer than the words."""
    joined = [(0, 0)]
    for start, stop in [*ranges, (n, n)]:
        if start - joined[-1][1] <= 3:
            joined[-1] = (joined[-1][0], stop)
        else:
            joined.append((start, stop))
    return [(start, stop) for start, stop in joined if stop > start]


def level(share: float, heaviest: float) -> int:
    """How strongly a word is marked, from 0 (not at all) to 4."""
    if not heaviest or not math.isfinite(share):
        return 0
    return sum(abs(share) >= bound * heaviest for bound in _LEVELS)


def _word(token: Token, heaviest: float) -> Markup | str:
    words = token.text if len(token.text) <= WORD_LIMIT else token.text[: WORD_LIMIT - 1] + "…"
    strength = level(token.share, heaviest)
    if not strength:
        return words
    return marked(words, token.share, strength)


def marked(words: Markup | str, share: float, strength: int) -> Markup:
    """Words with the mark of a share."""
    side = "for" if share > 0 else "against"
    return tag("mark", words, class_=f"{side} level{strength}", title=signed(share))


def legend() -> Markup:
    """What the marks mean."""
    return tag(
        "p",
        "Marked words: ",
        tag("mark", "spoke for the prediction", class_="for level3"),
        " · ",
        tag("mark", "spoke against it", class_="against level3"),
        " · the stronger the mark, the more a word added to the score or took from it. Point at a word to "
        "see how much.",
        class_="legend",
    )
