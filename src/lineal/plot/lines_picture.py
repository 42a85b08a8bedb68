"""Lines through points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lineal.canvas import COLOURS, FAINT, INK, End, as_list, look, name_ends, new_axes

if TYPE_CHECKING:
    from lineal.plot.lines import LineComparison


def draw(shown: LineComparison, ax: Any = None) -> list[Any]:
    """See :meth:`lineal.plot.lines.LineComparison.plot`."""
    axes = new_axes(1, 1, figsize=(8, 5)) if ax is None else as_list(ax)
    panel = axes[0]
    panel.plot(shown.x, shown.y, "o", markersize=4.5, color=FAINT, alpha=0.8, zorder=1)
    room = 0.03 * float(np.ptp(shown.x)) or 1.0
    ends_at = np.array([shown.x.min() - room, shown.x.max() + room])
    ends = []
    if shown.truth is not None:
        heights = shown.truth[0] * ends_at + shown.truth[1]
        panel.plot(ends_at, heights, color="0.8", linewidth=6, zorder=0, solid_capstyle="butt")
        ends.append(End(float(ends_at[1]), float(heights[1]), "truth", "0.5"))
    for place, (label, (slope, intercept)) in enumerate(shown.lines.items()):
        heights = slope * ends_at + intercept
        panel.plot(ends_at, heights, linewidth=1.8, zorder=3, **look(place))
        ends.append(End(float(ends_at[1]), float(heights[1]), label, COLOURS[place % len(COLOURS)]))
    panel.set_xlim(*ends_at)
    panel.set_xlabel("x", color=INK)
    panel.set_ylabel("y", color=INK)
    panel.spines[["top", "right"]].set_visible(False)
    name_ends(panel, ends)
    return axes
