"""HTML made of elements: what is not ``Markup`` is text, and text is always escaped.

A page is put together by ``tag`` alone, so words out of data files cannot become elements or attributes,
whoever writes a new section. Characters that would be invisible, or would reorder the line they stand in,
are shown by their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from html import escape
from typing import Any, TypeAlias

TEXT_LIMIT = 2000
NAME_LIMIT = 80

_VOID = frozenset({"meta", "br", "hr"})
_LEAVES = frozenset({"rect", "line", "path", "circle"})  # of SVG, unless a title is in them

# Controls but tab and newline, marks of direction, characters of no width that join nothing, surrogates
# (which UTF-8 does not have), characters that Unicode keeps for programs, and tags, which spell in secret.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
    "|[\U0001fffe\U0001ffff\U0002fffe\U0002ffff\U0003fffe\U0003ffff\U0004fffe\U0004ffff\U0005fffe\U0005ffff"
    "\U0006fffe\U0006ffff\U0007fffe\U0007ffff\U0008fffe\U0008ffff\U0009fffe\U0009ffff\U000afffe\U000affff"
    "\U000bfffe\U000bffff\U000cfffe\U000cffff\U000dfffe\U000dffff\U000efffe\U000effff\U000ffffe\U000fffff"
    "\U0010fffe\U0010ffff]"
)


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Child: TypeAlias = "Markup | str | Iterable[Child] | None"


def cut(words: str, limit: int = TEXT_LIMIT) -> str:
    """``words``, or their beginning and an ellipsis where they are longer than ``limit`` characters."""
    return words if len(words) <= limit else words[: limit - 1].rstrip() + "…"


def visible(words: str) -> str:
    """``words`` with every unseen character as ⟨U+202E⟩."""
    return _UNSEEN.sub(lambda found: f"⟨U+{ord(found.group()):04X}⟩", words.replace("\r\n", "\n"))


def text(words: str, limit: int = TEXT_LIMIT) -> Markup:
    """Words of any origin as HTML: cut, visible and escaped. The cost is bounded by ``limit``."""
    return Markup(escape(visible(cut(words, limit)), quote=True))


def name(words: str, limit: int = NAME_LIMIT) -> Markup:
    """A label, a word or the name of a column, whose direction does not touch what stands beside it."""
    whole = " ".join(words[: 4 * limit].split())
    if not whole:
        return tag("i", "(empty)" if not words else "(blank)")
    return tag("bdi", cut(whole, limit), title=cut(whole, 4 * limit) if len(whole) > limit else None)


def feature_name(words: str, limit: int = 40) -> Markup:
    """The name of a feature, whose spaces at the ends count: runs of letters may begin or end a word."""
    words = words[: 4 * limit]
    inner = words.strip(" ")
    if not inner:
        return name(words, limit)
    before, after = len(words) - len(words.lstrip(" ")), len(words) - len(words.rstrip(" "))
    return name("␣" * min(before, 8) + inner + "␣" * min(after, 8), limit)


def tag(element: str, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """An element. Attributes lose a trailing ``_`` and have ``-`` for ``_``; None or False leaves one out."""
    head = element + "".join(_attribute(key, value) for key, value in attributes.items())
    if element in _VOID:
        return Markup(f"<{head}>")
    body = join(children)
    if not body and element in _LEAVES:
        return Markup(f"<{head}/>")
    return Markup(f"<{head}>{body}</{element}>")


def join(children: Child, between: str = "") -> Markup:
    """Pieces one after another; those that are no Markup are escaped."""
    return Markup(between.join(_pieces(children)))


def _pieces(child: Child) -> Iterable[str]:
    if child is None:
        return
    if isinstance(child, Markup):
        yield child
    elif isinstance(child, str):
        yield text(child)
    else:
        for piece in child:
            yield from _pieces(piece)


def _attribute(key: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    key = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {key}"
    if isinstance(value, Markup):  # the lines of a drawing, made here: as long as they are
        return f' {key}="{escape(value, quote=True)}"'
    return f' {key}="{text(value) if isinstance(value, str) else coordinate(value)}"'


def coordinate(value: float) -> str:
    """A number for a drawing: one decimal is a tenth of a pixel."""
    written = f"{value:.1f}"
    return "0" if written in ("0.0", "-0.0") else written.removesuffix(".0")


paragraph = partial(tag, "p")
