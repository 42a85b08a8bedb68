"""Bars and intervals inside tables: drawings in percent of their cell, so that they fit every width."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lineal.report.markup import Markup, tag
from lineal.report.result_content import Score
from lineal.report.scales import bounded


def bar(value: float, largest: float, *, is_mirrored: bool = False) -> Markup:
    """A bar of |value| / largest of the width; values below 0 have the other colour, with stripes."""
    share = min(1.0, abs(value) / largest) if largest > 0 and math.isfinite(value) else 0.0
    side = "bar-for" if value >= 0 else "bar-against"
    start = 1 - share if is_mirrored else 0.0
    return _strip("bar", tag("rect", class_=side, x=_percent(start), width=_percent(share), height="100%"))


def double_bar(first: float, second: float | None, largest: float) -> Markup:
    """Two counts, one behind the other: training rows, and behind them test rows."""
    largest = largest if largest > 0 else 1.0
    parts = [tag("rect", class_="bar-for", x="0%", width=_percent(first / largest), height="100%")]
    if second:
        start, width = _percent(first / largest), _percent(second / largest)
        parts.append(tag("rect", class_="bar-muted", x=start, width=width, height="100%"))
    return _strip("bar", *parts)


def diverging(value: float, largest: float) -> Markup:
    """A bar to the right of the middle for values above 0, to its left for those below."""
    share = min(1.0, abs(value) / largest) / 2 if largest > 0 and math.isfinite(value) else 0.0
    start = 0.5 if value >= 0 else 0.5 - share
    side = "bar-for" if value >= 0 else "bar-against"
    return _strip(
        "bar",
        tag("rect", class_=side, x=_percent(start), width=_percent(share), height="100%"),
        tag("line", class_="axis", x1="50%", x2="50%", y1="0", y2="100%"),
    )


def score_strip(score: Score, low: float, high: float) -> Markup:
    """The intervals of model (above) and baseline (below) on an axis from low to high."""

    def place(value: float) -> str:
        return _percent(0.02 + 0.96 * min(1.0, max(0.0, (value - low) / (high - low or 1.0))))

    parts = [tag("line", class_="grid", x1=place(low), x2=place(high), y1="12", y2="12")]
    rows = (
        (score.baseline, score.baseline_low, score.baseline_high, "base", 17),
        (score.value, score.low, score.high, "model", 6),
    )
    for value, lower, upper, style, height in rows:
        if value is None or not math.isfinite(value):
            continue
        if lower is not None and upper is not None and math.isfinite(lower) and math.isfinite(upper):
            parts.append(tag("line", class_=style, x1=place(lower), x2=place(upper), y1=height, y2=height))
        at, half = place(value), 5 if style == "model" else 4
        parts.append(tag("line", class_=f"{style} tick", x1=at, x2=at, y1=height - half, y2=height + half))
    return _strip("strip", *parts)


def axis_of(scores: Sequence[Score], *, with_zero: bool = True) -> tuple[float, float]:
    """Ends of an axis that holds all intervals: 0 to 1 where they fit in, or from 0, or as they are."""
    values = bounded(
        value
        for score in scores
        for value in (
            score.value,
            score.low,
            score.high,
            score.baseline,
            score.baseline_low,
            score.baseline_high,
        )
    )
    if not values:
        return 0.0, 1.0
    low, high = min(values), max(values)
    if with_zero:
        return (0.0, 1.0) if low >= 0 and high <= 1 else (min(0.0, low), max(0.0, high) * 1.05)
    room = 0.08 * (high - low) or 0.05 * abs(high) or 0.5
    return low - room, high + room


def _strip(kind: str, *parts: Markup) -> Markup:
    return tag("svg", *parts, class_=kind, aria_hidden="true")


def _percent(share: float) -> str:
    share = min(1.0, max(0.0, share)) if math.isfinite(share) else 0.0
    return f"{100 * share:.4g}%"
