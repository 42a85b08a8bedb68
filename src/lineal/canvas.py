"""What the drawings share: a figure, colours that everyone can tell apart, and names beside their lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lineal.objective.losses import FloatArray

# Okabe and Ito 2008, told apart by colour-blind readers too; their yellow is too pale for a line on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#56B4E9", "#E69F00")
_STYLES: tuple[Any, ...] = ("-", (0, (5, 1.6)), (0, (1.2, 1.2)))
_DASHES: tuple[Any, ...] = (
    "-", (0, (6, 2)), (0, (1.2, 1.4)), (0, (6, 2, 1.2, 2)), (0, (3, 1.2)),
    (0, (8, 1.6, 1.2, 1.6, 1.2, 1.6)), (0, (2, 4)),
)  # fmt: skip
# Of classes: shapes that differ where colours do not.
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INK, FAINT = "0.25", "0.6"
_FONT = 8.5
_ABOVE = {"color": COLOURS[0]}
_BELOW = {"facecolor": "white", "edgecolor": COLOURS[1], "hatch": "////"}
_LONGEST = 28  # letters of a name beside a bar
# In points: a letter of a legend, widely taken, and what stands before and between names.
_LETTER, _HANDLE = 0.6 * _FONT, 6.5 * _FONT


def new_axes(n_rows: int, n_columns: int, **options: Any) -> list[Any]:
    """The axes of a new figure, row by row."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plot() needs matplotlib: pip install lineal[plot]") from error
    _, axes = plt.subplots(n_rows, n_columns, squeeze=False, layout="constrained", **options)
    return list(axes.ravel())


def as_list(ax: Any) -> list[Any]:
    """The axes that a caller gave: one, or a sequence or array of them."""
    return list(np.ravel(np.asarray(ax, dtype=object))) if isinstance(ax, (Sequence, np.ndarray)) else [ax]


def look(place: int) -> dict[str, Any]:
    """The colour and the line style of the line at a place: 21 that differ."""
    return {
        "color": COLOURS[place % len(COLOURS)],
        "linestyle": _STYLES[place // len(COLOURS) % len(_STYLES)],
    }


def dashed(place: int) -> dict[str, Any]:
    """The same for lines with a legend and no names: of seven, each has its own style; 49 differ."""
    shift = place + place // len(COLOURS)
    return {"color": COLOURS[place % len(COLOURS)], "linestyle": _DASHES[shift % len(_DASHES)]}


def dotted(place: int) -> dict[str, Any]:
    """The colour and the mark of points: of seven, each has its own; 49 differ."""
    shift = place + place // len(COLOURS)
    return {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[shift % len(MARKERS)]}


def dress(ax: Any, title: str, across: str, up: str) -> None:
    """The title and the names of the axes, a faint grid, and no frame."""
    ax.set_title(title, fontsize=11, loc="left")
    ax.set_xlabel(across, color=INK)
    ax.set_ylabel(up, color=INK)
    ax.tick_params(colors=INK)
    ax.grid(True, color="0.92", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(FAINT)


def legend_below(ax: Any, *, is_new: bool, title: str | None = None, n_columns: int = 6) -> None:
    """A legend that hides nothing: below a new figure, which grows with it; on given axes, where room is."""
    style = {"fontsize": _FONT, "frameon": False, "title": title, "title_fontsize": 8, "handlelength": 3}
    handles, names = ax.get_legend_handles_labels()
    if is_new:
        width, height = ax.figure.get_size_inches()
        room = 72 * width - 2 * _FONT
        names = [cut(name, int((room - _HANDLE) / _LETTER)) for name in names]
        widest = max((_HANDLE + _LETTER * len(name) for name in names), default=room)
        n_columns = max(1, min(len(names), n_columns, int(room / widest)))
        n_lines = -(-len(names) // n_columns)
        ax.figure.set_size_inches(width, height + max(0, n_lines - 3) * 1.45 * _FONT / 72)
        ax.figure.legend(handles, names, loc="outside lower center", ncols=n_columns, **style)
    else:
        ax.legend(handles, names, loc="best", **{**style, "frameon": True, "framealpha": 0.9})


def legend_beside(ax: Any, *, is_new: bool, title: str) -> None:
    """A legend on the right, for many lines; a new figure grows to hold it."""
    handles, names = ax.get_legend_handles_labels()
    names = [cut(name, 60) for name in names]
    if is_new:
        width, height = ax.figure.get_size_inches()
        wanted = _HANDLE + _LETTER * max(map(len, names), default=0)
        tall = (len(names) + 2) * 1.45 * _FONT / 72
        ax.figure.set_size_inches(max(width, height + 1.0 + wanted / 72), max(height, tall))
    style = {"fontsize": _FONT, "title": title, "title_fontsize": 8, "handlelength": 3, "alignment": "left"}
    ax.legend(handles, names, loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False, **style)


def literal(words: Any) -> str:
    """Someone's own words, of which none is mathematics to matplotlib, and none says not to show them."""
    shown = str(words).replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def bars(ax: Any, parts: Sequence[tuple[str, float]], title: str, across: str) -> None:
    """Named numbers from top to bottom: above 0 to the right, below 0 to the left and hatched."""
    ax.set_title(literal(title), fontsize=10, loc="left")
    heights = range(len(parts))
    for y, (_, value) in zip(heights, parts, strict=True):
        ax.barh(y, value, height=0.72, linewidth=0.9, **(_ABOVE if value >= 0 else _BELOW))
    ax.axvline(0.0, color=INK, linewidth=0.8)
    ax.set_yticks(list(heights), [literal(cut(name, _LONGEST)) for name, _ in parts], fontsize=_FONT)
    ax.set_ylim(len(parts) - 0.4, -0.6)
    ax.set_xlabel(across, color=INK, fontsize=_FONT)
    ax.tick_params(axis="x", labelsize=7.5, colors=INK)
    ax.tick_params(axis="y", length=0)
    ax.grid(True, axis="x", color="0.92", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.spines["bottom"].set_color(FAINT)


def cut(name: str, longest: int) -> str:
    """A long name without its middle: names that begin alike often differ at their ends."""
    last = min(10 if longest < 40 else 24, longest // 2)  # of a legend, what it says behind the name
    return name if len(name) <= longest else f"{name[: longest - last - 1]}…{name[-last:]}"


@dataclass(frozen=True)
class End:
    """The end of a line, in data coordinates, and its name."""

    x: float
    y: float
    name: str
    color: str


def name_ends(ax: Any, ends: Sequence[End], floor: float | None = None) -> None:
    """Writes each line's name at its end: upright below the floor where it got there, else on the right.

    The limits of the axes must be set, with room for names below the floor.
    """
    width, height = size_in_points(ax)
    share = ax.transData + ax.transAxes.inverted()
    low = -np.inf if floor is None else floor
    where = [share.transform((end.x, max(end.y, low))) for end in ends]
    done = [i for i, end in enumerate(ends) if end.y <= low]
    left = [i for i, end in enumerate(ends) if end.y > low]
    for i, x in zip(done, spread([where[i][0] for i in done], 1.4 * _FONT / width), strict=True):
        y = where[i][1]
        _name(
            ax, ends[i], [(where[i][0], y), (x, y - 0.02)], (x, y - 0.03), rotation=90, ha="center", va="top"
        )
    for i, y in zip(left, spread([where[i][1] for i in left], 1.4 * _FONT / height), strict=True):
        _name(ax, ends[i], [tuple(where[i]), (1.015, y)], (1.02, y), ha="left", va="center")


def _name(
    ax: Any, end: End, leader: list[tuple[float, float]], place: tuple[float, float], **style: Any
) -> None:
    """A name in shares of the axes, and the thin line that leads to it."""
    shared = {"transform": ax.transAxes, "color": end.color, "clip_on": False, "zorder": 6}
    ax.plot(*zip(*leader, strict=True), linewidth=0.6, alpha=0.6, label="_leader", **shared)
    ax.text(*place, end.name, fontsize=_FONT, **shared, **style)


def size_in_points(ax: Any) -> tuple[float, float]:
    """The width and the height of axes."""
    figure = ax.get_figure()
    box = ax.get_position()
    width, height = figure.get_size_inches()
    return 72 * float(width * box.width), 72 * float(height * box.height)


def spread(wanted: Sequence[float], distance: float) -> FloatArray:
    """Places in [0, 1], in the order of those wanted and near them, no two closer than ``distance``.

    Where there is no room for that, they are as far apart as they can be.
    """
    n = len(wanted)
    if n == 0:
        return np.zeros(0)
    distance = min(distance, 1 / max(n - 1, 1))
    order = np.argsort(wanted, kind="stable")
    # With the steps taken out, the places must only not fall: a regression whose blocks are means.
    steps = distance * np.arange(n)
    blocks: list[list[float]] = []
    for value in np.asarray(wanted, dtype=np.float64)[order] - steps:
        blocks.append([value])
        while len(blocks) > 1 and np.mean(blocks[-2]) > np.mean(blocks[-1]):
            last = blocks.pop()
            blocks[-1] += last
    level = np.concatenate([np.full(len(block), np.mean(block)) for block in blocks])
    places = np.empty(n)
    places[order] = np.clip(level, 0.0, 1.0 - steps[-1]) + steps
    return places
