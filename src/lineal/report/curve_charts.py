"""Figures of curves: thresholds, calibration, learning, strengths, the falling gap."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lineal.report.charts import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Frame,
    Point,
    across,
    band,
    circle,
    coarse,
    figure,
    finite,
    label,
    line,
    upward,
    whisker,
)
from lineal.report.content import StrengthPath, TracePoint
from lineal.report.markup import Child, Markup, tag
from lineal.report.numerals import count, number, power
from lineal.report.result_content import Calibration, Curve, LearningCurve
from lineal.report.scales import Scale, fitted

N_STYLES = 4  # curves that are told apart by colour and dashes; others are drawn thin


def styles_of(curves: Sequence[Curve]) -> list[str]:
    """The class of each curve: one of its own for a few; of many, the best and the worst stand out."""
    if len(curves) <= N_STYLES:
        return [f"curve{place}" for place in range(len(curves))]
    best, worst = extremes(curves)
    return [
        "curve0" if place == best else "curve1" if place == worst else "faint" for place in range(len(curves))
    ]


def extremes(curves: Sequence[Curve]) -> tuple[int, int]:
    """The places of the curves with the largest and the smallest area."""
    areas = [curve.area if curve.area is not None else math.nan for curve in curves]
    known = [place for place, area in enumerate(areas) if math.isfinite(area)] or [0]
    return max(known, key=lambda place: areas[place]), min(known, key=lambda place: areas[place])


def threshold_chart(
    curves: Sequence[Curve],
    title: str,
    axes: tuple[str, str],
    guess: tuple[float, float] | None,
    caption: Child,
) -> Markup:
    """Curves between 0 and 1, the line of guessing, and where the model's own threshold lies.

    ``guess`` are the heights of guessing at both ends, if they are known.
    """
    frame = Frame(across(), upward(), *axes)
    parts = [frame.axes()]
    if guess is not None:
        parts.append(line([frame.place(0, guess[0]), frame.place(1, guess[1])], "guess"))
        x, y = frame.place(0.02, guess[0]) if guess[0] == guess[1] else frame.place(0.98, 0.88)
        parts.append(label("guessing", (x, y - 5), "muted" if guess[0] == guess[1] else "muted end"))
    drawn = sorted(zip(styles_of(curves), curves, strict=True), key=lambda pair: pair[0] != "faint")
    for style, curve in drawn:
        points = [frame.place(x, y) for x, y in coarse(finite(zip(curve.x, curve.y, strict=True)))]
        if points:
            parts.append(line(points, style))
    marked = [curve.point for curve in curves if curve.point and finite([curve.point])]
    if len(marked) == 1 and len(curves) <= N_STYLES:
        x, y = frame.place(*marked[0])
        is_right = x > (frame.x.start + frame.x.end) / 2
        parts.append(circle((x, y), "point"))
        below = min(y + 18, frame.y.start - 6)
        parts.append(label("used threshold", (x, below), "end" if is_right else ""))
    described = "; ".join(f"{curve.name}: area {number(curve.area)}" for curve in curves[:8])
    return figure(title, described, parts, caption)


def calibration_chart(calibration: Calibration, caption: Child) -> Markup:
    """Predicted against observed shares with intervals; below them how many rows each dot stands for."""
    bins = [b for b in calibration.bins if finite([(b.predicted, b.observed)])]
    ends = [v for b in bins for v in (b.predicted, b.observed, b.low) if v is not None]
    least = 0.5 if ends and min(ends) >= 0.5 else 0.0
    counts = [b.count or 0.0 for b in bins]
    is_even = max(counts, default=0.0) <= 1.5 * min(counts, default=0.0)  # bins of as many rows each
    x, bottom = across(least), HEIGHT - BOTTOM
    frame = Frame(x, Scale(least, 1.0, bottom, TOP), "predicted probability", "observed share")
    parts = [line([frame.place(least, least), frame.place(1, 1)], "guess")]
    if any(counts) and not is_even:
        parts += _columns([(x(b.predicted), n) for b, n in zip(bins, counts, strict=True)], bottom)
        caption = ["Grey columns: how many rows there are. ", caption]
    parts += [
        whisker(frame.x(b.predicted), frame.y(b.low), frame.y(b.high))
        for b in bins
        if b.low is not None and b.high is not None
    ]
    points = [frame.place(b.predicted, b.observed) for b in bins]
    parts += [line(points, "curve0"), *(circle(point, "mark", 3.5) for point in points)]
    x_middle, y_middle = frame.place((1 + least) / 2, (1 + least) / 2)
    is_below = sum(b.observed - b.predicted for b in bins) <= 0  # the words go to the other side of the line
    parts.append(
        label("perfect", (x_middle - 12, y_middle - 4), "muted end")
        if is_below
        else label("perfect", (x_middle + 12, y_middle + 12), "muted")
    )
    described = "; ".join(
        f"predicted {number(b.predicted, '%')}, observed {number(b.observed, '%')}" for b in bins[:12]
    )
    return figure("Calibration", described, [frame.axes(), *parts], caption)


def _columns(counts: Sequence[tuple[float, float]], bottom: float) -> list[Markup]:
    """Low columns at the bottom of a figure: how many rows there are at each place."""
    largest = max(n for _, n in counts)
    heights = [(x, 36 * (n / largest)) for x, n in counts if n > 0]
    return [
        tag("rect", class_="bar-muted", x=x - 4, y=bottom - height, width=8, height=height)
        for x, height in heights
    ]


def learning_chart(curve: LearningCurve, caption: Child) -> Markup:
    """Scores by training rows, on rows not seen and on those seen, with their intervals."""
    points = sorted(curve.points, key=lambda point: point.size)
    ends = [v for p in points for v in (p.test, p.test_low, p.test_high, p.train, p.train_low, p.train_high)]
    is_log = len(points) > 1 and points[0].size > 0 and points[-1].size / points[0].size > 20
    x = fitted([p.size for p in points], LEFT, WIDTH - RIGHT - 30, is_log=is_log)
    y = fitted(ends, HEIGHT - BOTTOM, TOP, is_round=True)
    frame = Frame(x, y, "training rows" + (" (log scale)" if is_log else ""), curve.score, x_label=_rows)
    parts = [frame.axes()]
    series = (
        ("rows seen", "curve1", [(p.size, p.train, p.train_low, p.train_high) for p in points]),
        ("rows not seen", "curve0", [(p.size, p.test, p.test_low, p.test_high) for p in points]),
    )
    heights: list[float] = []
    for words, style, values in series:
        known = [(s, v, low, high) for s, v, low, high in values if v is not None and math.isfinite(v)]
        if not known:
            continue
        spread = [(s, low, high) for s, _, low, high in known if low is not None and high is not None]
        if len(spread) > 1:
            lower = [frame.place(s, low) for s, low, _ in spread]
            upper = [frame.place(s, high) for s, _, high in spread]
            parts.append(band(lower, upper, style))
        drawn = [frame.place(s, v) for s, v, _, _ in known]
        parts.append(line(drawn, style))
        parts += [circle(point, f"mark {style}", 3) for point in drawn]
        at = drawn[-1]
        height = at[1] - 10 if not heights or at[1] < heights[0] else max(at[1] + 16, heights[0] + 14)
        heights.append(height)
        parts.append(label(words, (at[0] + 6, height), f"end {style}"))
    described = "; ".join(f"{count(p.size)} rows: {number(p.test)}" for p in points[:12])
    return figure("Learning curve", described, parts, caption)


def _rows(value: float) -> str:
    return f"{value / 1000:g}k" if value >= 10_000 else count(value)


def strength_chart(path: StrengthPath, caption: Child) -> Markup:
    """Held-out scores by penalty strength, one standard error up and down, and the chosen one."""
    points = sorted((p for p in path.points if p.strength > 0), key=lambda p: p.strength)
    ends = [v for p in points for v in (p.score - (p.error or 0), p.score + (p.error or 0))]
    x = fitted([p.strength for p in points], LEFT, WIDTH - RIGHT, is_log=True)
    y = fitted(ends, HEIGHT - BOTTOM, TOP, is_round=True)
    frame = Frame(x, y, "penalty strength (log scale)", path.score)
    parts = [frame.axes()]
    if path.chosen is not None and path.chosen > 0:
        at = frame.x(path.chosen)
        parts.append(tag("line", class_="chosen", x1=at, x2=at, y1=frame.y.start, y2=frame.y.end))
        is_right = at > (LEFT + WIDTH) / 2
        words = f"chosen: {number(path.chosen)}"
        parts.append(
            label(words, (at + (-5 if is_right else 5), frame.y.start - 8), "end" if is_right else "")
        )
    known = [p for p in points if math.isfinite(p.score)]
    parts += [
        whisker(frame.x(p.strength), frame.y(p.score - p.error), frame.y(p.score + p.error))
        for p in known
        if p.error
    ]
    drawn = [frame.place(p.strength, p.score) for p in known]
    parts.append(line(drawn, "curve0"))
    parts += [
        circle(
            at,
            "mark chosen-mark" if p.strength == path.chosen else "mark",
            5 if p.strength == path.chosen else 3,
        )
        for at, p in zip(drawn, known, strict=True)
    ]
    described = "; ".join(f"strength {number(p.strength)}: {number(p.score)}" for p in points[:12])
    return figure("Scores by strength", described, parts, caption)


def gap_chart(trace: Sequence[TracePoint], tolerance: float | None, caption: Child) -> Markup:
    """The relative gap by epoch on a logarithmic scale, down to what was asked for."""
    points = [p for p in trace if p.relative_gap > 0 and finite([(p.epoch, p.relative_gap)])]
    asked = [tolerance] if tolerance and tolerance > 0 else []
    x = fitted([0.0, *(p.epoch for p in points)], LEFT, WIDTH - RIGHT)
    y = fitted([*(p.relative_gap for p in points), *asked], HEIGHT - BOTTOM, TOP, is_log=True)
    frame = Frame(x, y, "epochs", "proven relative gap (log scale)")
    parts = [frame.axes()]
    for value in asked:
        parts.append(line([(frame.x.start, frame.y(value)), (frame.x.end, frame.y(value))], "guess"))
        parts.append(label("asked for", (frame.x.start + 6, frame.y(value) - 5), "muted"))
    drawn: list[Point] = [frame.place(p.epoch, p.relative_gap) for p in points]
    parts.append(line(drawn, "curve0"))
    if len(drawn) <= 60:
        parts += [circle(point, "mark", 2.5) for point in drawn]
    if points:
        at, words = drawn[-1], power(points[-1].relative_gap)
        parts.append(circle(at, "point"))
        parts.append(label(words, (at[0] - 8, max(at[1] - 8, TOP + 10)), "end"))
    described = f"from {power(points[0].relative_gap)} to {power(points[-1].relative_gap)}" if points else ""
    return figure("The gap falling", described, parts, caption)
