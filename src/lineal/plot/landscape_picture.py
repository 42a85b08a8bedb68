"""A landscape of two parameters, and ways through it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lineal.canvas import COLOURS, INK, as_list, look, new_axes

if TYPE_CHECKING:
    from lineal.plot.landscape import Contour
    from lineal.plot.trajectories import Trajectory

_GRID, _LEVELS, _DEPTH = 201, 15, 1e-4
# Axes whose spans differ by less than this get equal units, so that right angles look right.
_ALIKE = 5.0
# A solver has arrived when this share of the start's excess is left.
_ARRIVED = 1e-4
_COLUMNS = 3


def draw(contour: Contour, ax: Any = None) -> list[Any]:
    """See :meth:`lineal.plot.landscape.Contour.plot`."""
    ways = contour.trajectories
    axes = _panels(contour) if ax is None else as_list(ax)
    is_shared = len(axes) == 1 and len(ways) > 1
    for place, way in enumerate(ways):
        if place >= len(axes) and not is_shared:
            break
        panel = axes[0] if is_shared else axes[place]
        if place == 0 or not is_shared:
            draw_landscape(contour, panel)
        style = look(place) if is_shared else {"color": COLOURS[1]}
        draw_way(panel, way, label=caption(contour, way), **style)
        if not is_shared:
            panel.set_title(caption(contour, way).replace(": ", "\n", 1), fontsize=10, loc="left")
        if ax is None:
            panel.label_outer()
    if is_shared:
        axes[0].legend(fontsize=8.5, loc="best", framealpha=0.9)
    return axes


def _panels(contour: Contour) -> list[Any]:
    """A new figure with a panel for each way."""
    n_ways = len(contour.trajectories)
    n_columns = min(_COLUMNS, n_ways)
    n_rows = -(-n_ways // n_columns)
    width, height = panel_size(contour)
    axes = new_axes(n_rows, n_columns, figsize=(width * n_columns, height * n_rows), sharex=True, sharey=True)
    for unused in axes[n_ways:]:
        unused.remove()
    # Where a panel has none below it, it shows the axis of its column.
    for panel in axes[max(0, n_ways - n_columns) : n_ways]:
        panel.tick_params(labelbottom=True)
    return axes[:n_ways]


def panel_size(contour: Contour) -> tuple[float, float]:
    """Inches for one panel, in the shape of the window where units are equal."""
    (left, right), (low, high) = contour.window()
    ratio = (high - low) / (right - left)
    return 4.8, 1.0 + (4.0 * ratio if 1 / _ALIKE < ratio < 1.2 else 4.0)


def draw_landscape(contour: Contour, ax: Any) -> None:
    """Filled contours of P above its least value, evenly in its logarithm, with the optimum and the start."""
    (left, right), (low, high) = contour.window()
    x, y = np.linspace(left, right, _GRID), np.linspace(low, high, _GRID)
    excess = contour.values(x[None, :], y[:, None]) - contour.least
    top = float(excess.max())
    levels = np.geomspace(_DEPTH * top, top, _LEVELS)
    depth = np.log10(np.clip(excess, levels[0], None))
    bands = np.log10(levels)
    # Dark colours would hide the ways: the scale ends where they begin.
    ax.contourf(
        x,
        y,
        depth,
        levels=bands,
        cmap="Blues",
        vmin=bands[0],
        vmax=bands[-1] + 1.5 * (bands[-1] - bands[0]),
        extend="min",
    )
    ax.contour(x, y, depth, levels=bands, colors="white", linewidths=0.5, linestyles="solid")
    ax.plot(*contour.optimum, marker="*", markersize=12, color="black", markeredgecolor="white", zorder=5)
    ax.plot(*contour.start, marker="o", markersize=6, color="white", markeredgecolor="black", zorder=5)
    ax.set(xlim=(left, right), ylim=(low, high))
    if 1 / _ALIKE < (high - low) / (right - left) < _ALIKE:
        ax.set_aspect("equal")
    ax.set_xlabel(contour.names[0], color=INK)
    ax.set_ylabel(contour.names[1], color=INK)


def draw_way(ax: Any, way: Trajectory, **style: Any) -> None:
    """A solver's way, a dot for each step."""
    settings = {"linewidth": 1.3, "marker": "o", "markersize": 2.8, "zorder": 4, **style}
    ax.plot(way.parameters[:, 0], way.parameters[:, 1], **settings)


def caption(contour: Contour, way: Trajectory) -> str:
    """How far a solver came, in words."""
    steps = contour.steps_to(_ARRIVED)[way.label]
    n_undone = int(way.is_undone[:steps].sum())
    undone = f", {n_undone} of them undone" if n_undone else ""
    if steps is not None:
        return f"{way.label}: there in {steps} {'step' if steps == 1 else 'steps'}{undone}"
    left = 100 * float(contour.excess(way.label)[-1])
    return f"{way.label}: {left:.2g} % left after {way.n_steps} steps{undone}"
