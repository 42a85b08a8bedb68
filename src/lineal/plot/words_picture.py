"""A text with what each of its words added."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lineal.canvas import COLOURS, INK, as_list, bars, literal, new_axes, size_in_points

if TYPE_CHECKING:
    from lineal.plot.words import WordContributions

# Points: of letters and numbers, and from line to line. In a font of one width a letter is 0.602 of its size.
_WORD, _NUMBER, _LINE, _LETTER = 11.0, 7.0, 32.0, 0.602 * 11.0
_WIDTH = 9.0  # inches of a new figure
_MOST_WORDS = 400
_TOLD = 0.05  # of the largest share: smaller ones have no number


def draw(found: WordContributions, ax: Any = None) -> list[Any]:
    """See :meth:`lineal.plot.words.WordContributions.plot`."""
    tokens = found.tokens[:_MOST_WORDS]
    if ax is None:
        # Names beside the bars take about an inch and a half of the width.
        n_lines = 1 + max((line for line, _ in _places(tokens, 72 * (_WIDTH - 1.5))), default=0)
        heights = (0.75 + _LINE * n_lines / 72, 0.8 + 0.21 * len(found.parts()))
        size = {"figsize": (_WIDTH, sum(heights)), "height_ratios": heights}
        axes = new_axes(2, 1, **size)
    else:
        axes = as_list(ax)
    _draw_words(found, tokens, axes[0])
    if len(axes) > 1:
        bars(axes[1], found.parts(), "", "added to the score")
    return axes


def _draw_words(found: WordContributions, tokens: Sequence[tuple[str, float]], ax: Any) -> None:
    explanation = found.explanation
    ax.set_axis_off()
    title = f"{literal(explanation.label)}: score {explanation.score:+.3g}"
    left = len(found.tokens) - len(tokens)
    note = f"; {left:,} more words are not shown" if left else ""
    ax.set_title(f"{title}, and what each word added{note}", fontsize=11, loc="left")
    most = _most(tokens)
    places = _places(tokens, size_in_points(ax)[0] - 12)
    for (word, share), (line, along) in zip(tokens, places, strict=True):
        strength = abs(share) / most
        spot = {"xy": (0.0, 1.0), "xycoords": "axes fraction", "textcoords": "offset points", "ha": "left",
                "va": "baseline", "family": "monospace", "annotation_clip": False}  # fmt: skip
        down = -_LINE * line - _WORD - 4
        colour = COLOURS[0 if share > 0 else 1]
        box = {
            "boxstyle": "square,pad=0.18",
            "facecolor": colour,
            "alpha": 0.6 * strength,
            "edgecolor": "none",
        }
        weight = "bold" if strength > 0.5 else "normal"
        ax.annotate(literal(word), xytext=(along, down), fontsize=_WORD, fontweight=weight, bbox=box, **spot)
        if strength >= _TOLD:
            ax.annotate(f"{share:+.2g}", xytext=(along, down - 11), fontsize=_NUMBER, color=INK, **spot)


def _most(tokens: Sequence[tuple[str, float]]) -> float:
    return max((abs(share) for _, share in tokens), default=0.0) or 1.0


def _places(tokens: Sequence[tuple[str, float]], width: float) -> list[tuple[int, float]]:
    """The line of each word and how far along it begins, in points; words go on as in a paragraph."""
    found, line, along, most = [], 0, 0.0, _most(tokens)
    for word, share in tokens:
        number = f"{share:+.2g}" if abs(share) / most >= _TOLD else ""
        needed = max(_LETTER * _letters(word), 0.602 * _NUMBER * len(number))
        if along > 0 and along + needed > width:
            line, along = line + 1, 0.0
        found.append((line, along))
        along += needed + 1.4 * _LETTER
    return found


def _letters(word: str) -> int:
    """How many places of one width a word takes: ideographs take two, accents none."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in word
    )
