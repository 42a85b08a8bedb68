"""Curves of regressors through their points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lineal.canvas import COLOURS, FAINT, INK, as_list, look, new_axes

if TYPE_CHECKING:
    from lineal.plot.regression_curves import RegressionCurves


def draw(curves: RegressionCurves, ax: Any = None) -> list[Any]:
    """See :meth:`lineal.plot.regression_curves.RegressionCurves.plot`."""
    n = len(curves.curves)
    size = {"figsize": (4.2 * n, 3.6), "sharex": True, "sharey": True}
    axes = new_axes(1, n, **size) if ax is None else as_list(ax)
    is_shared = len(axes) == 1 and n > 1
    for place, (name, values) in enumerate(curves.curves.items()):
        if place >= len(axes) and not is_shared:
            break
        panel = axes[0] if is_shared else axes[place]
        if place == 0 or not is_shared:
            panel.plot(
                curves.data_x, curves.data_y, "o", color=FAINT, markersize=4, label="_points", zorder=2
            )
        style = look(place) if is_shared else {"color": COLOURS[0]}
        panel.plot(curves.x, values, linewidth=1.6, label=name, zorder=3, **style)
        if not is_shared:
            panel.set_title(name, fontsize=10, loc="left")
        panel.set_xlabel("x", color=INK)
    axes[0].set_ylabel("y", color=INK)
    if is_shared:
        axes[0].legend(fontsize=8.5, loc="best", framealpha=0.9)
    return axes
