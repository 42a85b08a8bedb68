"""Figures of many numbers: predictions against truth, residuals, the target."""

from __future__ import annotations

import math
from collections import Counter
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
    dots,
    figure,
    finite,
    label,
    line,
)
from lineal.report.markup import Child, Markup, coordinate, tag
from lineal.report.numerals import count, number
from lineal.report.scales import Scale, bounded, fitted

MOST_DOTS = 600
N_SHADES = 5
_RADIUS = 5.5  # of a hexagon, in pixels
N_BARS = 30


def prediction_chart(
    truth: Sequence[float], predicted: Sequence[float], target: str, caption: Child
) -> Markup:
    """Predictions against true numbers, on the same scale both ways; the diagonal is a perfect model."""
    pairs = finite(zip(truth, predicted, strict=True))
    both = fitted([value for pair in pairs for value in pair], LEFT, WIDTH - RIGHT)
    y = Scale(both.low, both.high, HEIGHT - BOTTOM, TOP)
    frame = Frame(both, y, f"true {target}".strip(), f"predicted {target}".strip())
    ends = [frame.place(value, value) for value in (both.low, both.high)]
    at = ends[1]
    parts = [
        frame.axes(),
        cloud([frame.place(*pair) for pair in pairs]),
        line(ends, "guess"),
        label("perfect", (at[0] - 14, at[1] + 6), "muted end"),
    ]
    return figure("Predicted against true", f"{count(len(pairs))} rows", parts, caption)


def residual_chart(truth: Sequence[float], predicted: Sequence[float], target: str, caption: Child) -> Markup:
    """Errors (true - predicted) by prediction; a good model leaves no pattern."""
    pairs = finite((guess, value - guess) for value, guess in zip(truth, predicted, strict=True))
    x = fitted([guess for guess, _ in pairs], LEFT, WIDTH - RIGHT)
    largest = max((abs(error) for _, error in pairs), default=1.0)
    y = fitted([-largest, largest], HEIGHT - BOTTOM, TOP)
    frame = Frame(x, y, f"predicted {target}".strip(), "error: true − predicted")
    level = frame.y(0)
    parts = [
        frame.axes(),
        cloud([frame.place(*pair) for pair in pairs]),
        line([(frame.x.start, level), (frame.x.end, level)], "guess"),
    ]
    return figure("Errors by prediction", f"{count(len(pairs))} rows", parts, caption)


def error_histogram(truth: Sequence[float], predicted: Sequence[float], caption: Child) -> Markup:
    """How errors (true - predicted) are spread."""
    errors = bounded(value - guess for value, guess in zip(truth, predicted, strict=True))
    scale = fitted(errors, 0, 1, is_round=True)
    width = (scale.high - scale.low) / N_BARS
    tally = Counter(min(N_BARS - 1, max(0, int((error - scale.low) / width))) for error in errors)
    edges = [scale.low + place * width for place in range(N_BARS + 1)]
    counts = [tally.get(place, 0) for place in range(N_BARS)]
    return histogram("How large the errors are", edges, counts, "error: true − predicted", caption)


def histogram(
    title: str, edges: Sequence[float], counts: Sequence[float], measured: str, caption: Child
) -> Markup:
    """Counts as bars from edge to edge."""
    x = fitted(edges, LEFT, WIDTH - RIGHT)
    x = Scale(x.low, x.high, x.start, x.end)
    y = Scale(0.0, max([*counts, 1]) * 1.05, HEIGHT - BOTTOM, TOP)
    frame = Frame(x, y, measured, "rows", y_label=_short)
    bars = []
    for low, high, n in zip(edges, edges[1:], counts, strict=False):
        left, right, top = frame.x(low), frame.x(high), frame.y(n)
        if n:
            width = max(right - left - 1, 1)
            bars.append(tag("rect", class_="bar-for", x=left, y=top, width=width, height=frame.y.start - top))
    described = f"{count(sum(counts))} rows from {number(edges[0])} to {number(edges[-1])}"
    return figure(title, described, [frame.axes(), bars], caption)


def _short(value: float) -> str:
    return f"{value / 1000:g}k" if value >= 10_000 else number(value)


def cloud(points: Sequence[Point]) -> Markup | list[Markup]:
    """Dots, or where they would hide each other, hexagons that are the darker the more points they hold."""
    if len(points) <= MOST_DOTS:
        return dots(points, "dot")
    tally = Counter(_cell(point) for point in points)
    top = math.log1p(max(tally.values()))
    shades: list[list[str]] = [[] for _ in range(N_SHADES)]
    for (row, column), n in sorted(tally.items()):
        shade = min(N_SHADES - 1, int(math.log1p(n) / top * N_SHADES))
        shades[shade].append(_hexagon(*_centre(row, column)))
    return [
        tag("path", class_=f"hex shade{shade}", d=Markup("".join(cells)))
        for shade, cells in enumerate(shades)
        if cells
    ]


def _cell(point: Point) -> tuple[int, int]:
    """The hexagon that a pixel is in: of the two rows around it, the one with the nearer centre."""
    height = 1.5 * _RADIUS
    nearest = (math.inf, 0, 0)
    for row in (math.floor(point[1] / height), math.floor(point[1] / height) + 1):
        column = round(point[0] / (math.sqrt(3) * _RADIUS) - (row % 2) / 2)
        x, y = _centre(row, column)
        nearest = min(nearest, (math.hypot(point[0] - x, point[1] - y), row, column))
    return nearest[1], nearest[2]


def _centre(row: int, column: int) -> Point:
    return (column + (row % 2) / 2) * math.sqrt(3) * _RADIUS, row * 1.5 * _RADIUS


def _hexagon(x: float, y: float) -> str:
    half, wide = coordinate(_RADIUS / 2), coordinate(math.sqrt(3) / 2 * _RADIUS)
    tall = coordinate(_RADIUS)
    start = f"M{coordinate(x)} {coordinate(y - _RADIUS)}"
    return f"{start}l{wide} {half}v{tall}l-{wide} {half}l-{wide} -{half}v-{tall}z"
