"""How values are spelled: capitals and space, typing mistakes, words for nothing, numbers and dates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# Words, not signs: "-", "?" and "." may be labels.
MISSING_WORDS = frozenset({"n/a", "#n/a", "n.a.", "null", "none", "nan", "nil", "missing", "<na>", "na"})
MISSING_SIGNS = frozenset({"-", "--", "?", ".", "", "*"})
INFINITE = frozenset({"inf", "+inf", "-inf", "infinity", "+infinity", "-infinity", "1.#inf", "∞"})

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_THOUSANDS = re.compile(
    r"[+-]?[1-9]\d{0,2}((,\d{3})+(\.\d+)?|([ \u00a0\u202f']\d{3})+([.,]\d+)?|(\.\d{3}){2,})"
)
_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+),\d+")
_UNIT = re.compile(r"[+-]?\d+([.,]\d+)?\s*([A-Za-zµ°²³%€$£]{1,6})|[$€£]\s?\d+([.,]\d+)*")

# Name of the format, what it looks like, and where year, month and day are in it.
DATES = (
    ("year-month-day", re.compile(r"(\d{4})-(\d\d?)-(\d\d?)([T ]\d\d?:\d\d.*)?"), (1, 2, 3)),
    ("year/month/day", re.compile(r"(\d{4})/(\d\d?)/(\d\d?)( \d\d?:\d\d.*)?"), (1, 2, 3)),
    ("day.month.year", re.compile(r"(\d\d?)\.(\d\d?)\.(\d{4})( \d\d?:\d\d.*)?"), (3, 2, 1)),
    ("month/day/year", re.compile(r"(\d\d?)/(\d\d?)/(\d{4})( \d\d?:\d\d.*)?"), (3, 1, 2)),
    ("day-month-year", re.compile(r"(\d\d?)-(\d\d?)-(\d{4})( \d\d?:\d\d.*)?"), (3, 2, 1)),
)
DATE_NAMES = tuple(name for name, _, _ in DATES)


def plain(text: str) -> str:
    """Without space around it, runs of space as one, and small letters."""
    return " ".join(text.split()).casefold()


def shape(text: str) -> str:
    """What a value looks like: number, thousands, comma, unit, infinite, missing, a date's name, or other."""
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return "number"
    low = text.casefold()
    if low in MISSING_WORDS or low in MISSING_SIGNS:
        return "missing"
    if low in INFINITE:
        return "infinite"
    if not any(map(str.isdigit, text)):
        return "other"
    for name, pattern in (("thousands", _THOUSANDS), ("comma", _COMMA), ("unit", _UNIT)):
        if pattern.fullmatch(text):
            return name
    return next((name for name, pattern, _ in DATES if pattern.fullmatch(text)), "other")


def iso(text: str, date: str) -> str:
    """A date of a known format as year-month-day."""
    for name, pattern, (year, month, day) in DATES:
        match = pattern.fullmatch(text.strip())
        if name == date and match:
            return f"{match[year]}-{int(match[month]):02d}-{int(match[day]):02d}"
    return text


def closest(names: Mapping[int, str], counts: Any) -> dict[int, int]:
    """For each name that looks like a misspelt one: the frequent name that is meant.

    A name is suspected if it is at most a twentieth as frequent and one step away (a letter more, less,
    changed, or two exchanged; two steps from 8 letters on). Digits are not letters: ``q1`` is not ``q2``
    misspelt.
    """
    found: dict[int, int] = {}
    order = sorted(names, key=lambda level: -int(counts[level]))
    # Past so many names, they are no names of classes, and comparing all pairs would take long.
    frequent = order[:500]
    rare = [level for level in order if counts[level] * 20 <= counts[order[0]]][:5000]
    for level in rare:
        name = plain(names[level])
        for other in frequent:
            meant = plain(names[other])
            if counts[level] * 20 > counts[other]:
                break
            if name == meant or min(len(name), len(meant)) < 4:
                continue
            reach = 2 if min(len(name), len(meant)) >= 8 else 1
            if _without_letters(name) == _without_letters(meant) and steps(name, meant, reach) <= reach:
                found[level] = other
                break
    return found


def _without_letters(text: str) -> str:
    """Digits and punctuation, in which classes differ on purpose; spaces and hyphens are letters here."""
    return "".join(sign for sign in text if not sign.isalpha() and sign not in " -_")


def steps(first: str, second: str, most: int) -> int:
    """Damerau's distance (optimal string alignment), or ``most + 1`` if it is more."""
    if abs(len(first) - len(second)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        before, last, row = row, before, [i]
        for j, b in enumerate(second, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == second[j - 2] and first[i - 2] == b:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]
