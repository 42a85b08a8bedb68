"""Learning rates side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lineal.canvas import COLOURS, INK, End, as_list, name_ends, new_axes
from lineal.plot.landscape_picture import draw_landscape, draw_way, panel_size

if TYPE_CHECKING:
    from lineal.plot.rates import StepSizes

# What is drawn, in multiples of the start's height above the optimum.
_SKY, _DEPTH = 1e3, 1e-8


def draw(sizes: StepSizes, ax: Any = None) -> list[Any]:
    """See :meth:`lineal.plot.rates.StepSizes.plot`."""
    axes = _panels(sizes) if ax is None else as_list(ax)
    _draw_curves(sizes, axes[0])
    for place, panel in enumerate(axes[1 : 1 + len(sizes.rates)]):
        _draw_ways(sizes, panel, place)
    return axes


def _panels(sizes: StepSizes) -> list[Any]:
    """A new figure: the ways above, the curves below all of them."""
    if sizes.landscape is None:
        return new_axes(1, 1, figsize=(8, 5.5))
    n = len(sizes.rates)
    width, height = panel_size(sizes.landscape)
    width *= 0.85
    (first,) = new_axes(1, 1, figsize=(max(9.0, width * n), height + 4.2))
    figure = first.get_figure()
    first.remove()
    grid = figure.add_gridspec(2, n, height_ratios=(height, 4.2))
    ways = [figure.add_subplot(grid[0, 0])]
    ways += [figure.add_subplot(grid[0, place], sharex=ways[0], sharey=ways[0]) for place in range(1, n)]
    for panel in ways[1:]:
        panel.tick_params(labelleft=False)
    return [figure.add_subplot(grid[1, :]), *ways]


def _draw_curves(sizes: StepSizes, ax: Any) -> None:
    ends = []
    bottom, top = _heights(sizes)
    for place, (name, printed, run) in enumerate(zip(sizes.names(), sizes.printed, sizes.run, strict=True)):
        color = COLOURS[place % len(COLOURS)]
        excess, raw = run.objectives - sizes.least, printed.objectives - sizes.least
        ax.plot(np.arange(run.n_steps + 1), excess, color=color, linewidth=1.6)
        ax.plot(np.arange(printed.n_steps + 1), raw, color=color, linewidth=1.2, linestyle=(0, (4, 2)))
        undone = np.flatnonzero(run.is_undone) + 1
        ax.plot(undone, excess[undone], "x", color=color, markersize=7, markeredgewidth=1.8)
        end = max(float(excess[-1]), bottom)
        ends.append(End(float(run.n_steps), end, f"η = {name}" + ", cut" * bool(len(undone)), color))
        if len(undone):
            inside = np.flatnonzero(raw <= top)[-1]
            ends.append(End(float(inside), max(float(raw[inside]), bottom), f"η = {name}, printed", color))
    ax.set_yscale("log")
    ax.set_ylim(bottom, top)
    ax.set_xlim(0, max(way.n_steps for way in (*sizes.printed, *sizes.run)))
    ax.set_title(
        "Dashed: the rule as printed. Solid: gd, which undoes a step that rises (×) and cuts the rate",
        fontsize=11, loc="left",
    )  # fmt: skip
    ax.set_xlabel("step", color=INK)
    ax.set_ylabel("objective − least objective", color=INK)
    ax.grid(True, color="0.92", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    name_ends(ax, ends)


def _heights(sizes: StepSizes) -> tuple[float, float]:
    """The limits of the curves: neither rounding at the bottom nor the sky is worth looking at."""
    start = float(sizes.run[0].objectives[0]) - sizes.least
    start = start if start > 0 else 1.0
    lows = [float(way.objectives.min()) - sizes.least for way in sizes.run]
    highest = max(float(way.objectives.max()) for way in sizes.printed) - sizes.least
    return max(min(lows), _DEPTH * start) / 3, 2 * max(start, min(highest, _SKY * start))


def _draw_ways(sizes: StepSizes, ax: Any, place: int) -> None:
    assert sizes.landscape is not None
    color = COLOURS[place % len(COLOURS)]
    draw_landscape(sizes.landscape, ax)
    printed, run = sizes.printed[place], sizes.run[place]
    draw_way(ax, printed, color=color)
    title = f"η = {sizes.names()[place]}: {sizes.verdicts()[place]}"
    if run.is_undone.any():
        draw_way(ax, run, color="black")
        title += "; in black gd, which cut it"
    ax.set_title(title, fontsize=10.5, loc="left")
    if place:
        ax.set_ylabel("")
