"""Small figures in SVG, drawn by hand.

Colours are classes that the page's style sheet names, so one drawing serves light and dark screens and
paper; that, and the few kilobytes a figure takes, is why no plotting library is used. A figure is 360 units
wide: legible on a phone as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from lineal.report.markup import Child, Markup, coordinate, cut, join, tag, visible
from lineal.report.scales import Scale

WIDTH, HEIGHT = 360.0, 260.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 14.0, 26.0, 40.0
Point = tuple[float, float]


@dataclass(frozen=True)
class Frame:
    """The axes of a figure: scales, and what they measure."""

    x: Scale
    y: Scale
    x_title: str
    y_title: str
    x_label: Callable[[float], str] | None = None
    y_label: Callable[[float], str] | None = None
    has_x_ticks: bool = True

    def place(self, x: float, y: float) -> Point:
        """The pixel of a pair of numbers."""
        return self.x(x), self.y(y)

    def axes(self) -> Markup:
        """Lines across at the ticks of y, ticks of x, titles; the one of y stands on top, level to read."""
        parts = []
        for tick, label in _ticks(self.y, self.y_label):
            at = self.y(tick)
            parts.append(tag("line", class_="grid", x1=self.x.start, x2=self.x.end, y1=at, y2=at))
            parts.append(tag("text", label, class_="tick end", x=self.x.start - 6, y=at + 4))
        for tick, label in _ticks(self.x, self.x_label) if self.has_x_ticks else ():
            at = self.x(tick)
            parts.append(tag("line", class_="grid", x1=at, x2=at, y1=self.y.start, y2=self.y.start + 4))
            parts.append(tag("text", label, class_="tick mid", x=at, y=self.y.start + 16))
        bottom, middle = self.y.start, (self.x.start + self.x.end) / 2
        parts.append(tag("line", class_="axis", x1=self.x.start, x2=self.x.end, y1=bottom, y2=bottom))
        parts.append(tag("text", _short(self.y_title), class_="axis-title", x=4, y=self.y.end - 12))
        parts.append(tag("text", _short(self.x_title), class_="axis-title mid", x=middle, y=bottom + 34))
        return join(parts)


def _ticks(scale: Scale, written: Callable[[float], str] | None) -> list[tuple[float, str]]:
    ticks = scale.ticks()
    return list(zip(ticks, scale.labels() if written is None else map(written, ticks), strict=True))


def _short(title: str) -> str:
    """Words that fit over a figure's width."""
    return cut(visible(cut(title)), 48)


def across(low: float = 0.0, high: float = 1.0) -> Scale:
    """A scale over the width of a figure, for numbers from low to high."""
    return Scale(low, high, LEFT, WIDTH - RIGHT)


def upward(low: float = 0.0, high: float = 1.0) -> Scale:
    """A scale over the height of a figure, from the bottom up."""
    return Scale(low, high, HEIGHT - BOTTOM, TOP)


def figure(
    title: str, description: str, drawing: Child, caption: Child = None, height: float = HEIGHT
) -> Markup:
    """A drawing with its title and description for those who do not see it, and a caption for all."""
    drawn = tag(
        "svg",
        tag("title", title),
        tag("desc", description),
        drawing,
        viewBox=f"0 0 {coordinate(WIDTH)} {coordinate(height)}",
        role="img",
        class_="chart",
    )
    return tag("figure", drawn, tag("figcaption", tag("b", title), ". ", caption))


def line(points: Sequence[Point], class_: str) -> Markup:
    """A line through pixels."""
    return tag("path", class_=f"line {class_}", d=_path(thinned(points)))


def dots(points: Iterable[Point], class_: str) -> Markup:
    """Dots at pixels, as one path of round ends, which takes ten bytes a dot."""
    where = sorted({(round(x, 1), round(y, 1)) for x, y in points})
    drawn = Markup("".join(f"M{coordinate(x)} {coordinate(y)}h0" for x, y in where))
    return tag("path", class_=f"dots {class_}", d=drawn)


def circle(at: Point, class_: str, radius: float = 4.0) -> Markup:
    """A mark."""
    return tag("circle", class_=class_, cx=at[0], cy=at[1], r=radius)


def whisker(x: float, low: float, high: float, class_: str = "") -> Markup:
    """An interval, upright, with ends."""
    drawn = f"M{coordinate(x)} {coordinate(low)}V{coordinate(high)}"
    ends = "".join(f"M{coordinate(x - 2.5)} {coordinate(y)}h5" for y in (low, high))
    return tag("path", class_=f"whisker {class_}".strip(), d=drawn + ends)


def band(lower: Sequence[Point], upper: Sequence[Point], class_: str) -> Markup:
    """The space between two lines."""
    return tag("path", class_=f"band {class_}", d=Markup(_path([*upper, *reversed(lower)]) + "Z"))


def label(words: str, at: Point, class_: str = "") -> Markup:
    """Words in the figure."""
    return tag("text", words, class_=f"label {class_}".strip(), x=at[0], y=at[1])


def finite(points: Iterable[Point]) -> list[Point]:
    """The points both of whose numbers are finite."""
    return [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)]


def coarse(points: Iterable[Point], step: float = 1 / 1500) -> list[Point]:
    """The points of a curve between 0 and 1 that lie ``step`` apart, a fifth of a pixel, and its last."""
    kept: list[Point] = []
    last: Point | None = None
    x, y = -1.0, -1.0
    for last in points:
        if abs(last[0] - x) + abs(last[1] - y) >= step:
            kept.append(last)
            x, y = last
    return kept if last is None or last == kept[-1] else [*kept, last]


def thinned(points: Sequence[Point], tolerance: float = 0.3) -> list[Point]:
    """A line with few points that is nowhere further than ``tolerance`` pixels from the given one.

    Douglas and Peucker (1973), after each half pixel of x has kept its first, lowest, highest and last point
    alone, which bounds the cost.
    """
    distinct = _extremes(points)
    if len(distinct) < 3:
        return distinct
    kept, spans = {0, len(distinct) - 1}, [(0, len(distinct) - 1)]
    while spans:
        first, last = spans.pop()
        far, at = max(
            (
                (_distance(distinct[place], distinct[first], distinct[last]), place)
                for place in range(first + 1, last)
            ),
            default=(0.0, 0),
        )
        if far > tolerance:
            kept.add(at)
            spans += [(first, at), (at, last)]
    return [distinct[place] for place in sorted(kept)]


def _extremes(points: Sequence[Point]) -> list[Point]:
    """First, lowest, highest and last point of each run of points in the same half pixel of x."""
    kept: list[Point] = []
    for _, run in groupby(
        ((round(x, 1), round(y, 1)) for x, y in points), key=lambda point: round(2 * point[0])
    ):
        column = list(run)
        ends = {0, len(column) - 1}
        ends |= {pick(range(len(column)), key=lambda place: column[place][1]) for pick in (min, max)}
        kept += [column[place] for place in sorted(ends) if not kept or column[place] != kept[-1]]
    return kept


def _distance(point: Point, first: Point, last: Point) -> float:
    """From a point to the stretch between two others."""
    dx, dy = last[0] - first[0], last[1] - first[1]
    length = dx * dx + dy * dy
    share = ((point[0] - first[0]) * dx + (point[1] - first[1]) * dy) / length if length else 0.0
    share = min(1.0, max(0.0, share))
    return math.hypot(point[0] - first[0] - share * dx, point[1] - first[1] - share * dy)


def _path(points: Sequence[Point]) -> Markup:
    steps = (f"{'L' if place else 'M'}{coordinate(x)} {coordinate(y)}" for place, (x, y) in enumerate(points))
    return Markup("".join(steps))
