"""Losses as curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lineal.canvas import as_list, dashed, dress, literal, new_axes
from lineal.objective.losses import FloatArray

if TYPE_CHECKING:
    from lineal.plot.losses import LossShapes

_TOP = 5.0  # of the heights that are shown


def draw(shapes: LossShapes, ax: Any = None) -> list[Any]:
    """See :meth:`lineal.plot.losses.LossShapes.plot`."""
    panels = [draw_one for draw_one, curves in _panels(shapes) if curves]
    axes = new_axes(1, len(panels), figsize=(6.2 * len(panels), 4.8)) if ax is None else as_list(ax)
    for panel, draw_one in zip(axes, panels, strict=False):
        draw_one(shapes, panel)
    return axes


def _panels(shapes: LossShapes) -> list[tuple[Any, dict[str, FloatArray]]]:
    return [(_draw_margins, shapes.by_margin), (_draw_residuals, shapes.by_residual)]


def _draw_margins(shapes: LossShapes, ax: Any) -> None:
    ax.plot(shapes.margins, shapes.zero_one, color="0.8", linewidth=6, zorder=1, label="0/1 loss")
    _draw_curves(ax, shapes.margins, shapes.by_margin)
    dress(ax, "Surrogates of the 0/1 loss", "margin y·z: wrong below 0, right above", "loss")
    ax.legend(fontsize=8.5, frameon=False, loc="upper right", handlelength=4)


def _draw_residuals(shapes: LossShapes, ax: Any) -> None:
    _draw_curves(ax, shapes.residuals, shapes.by_residual)
    dress(ax, "Losses of regression", "residual z − y", "loss")
    ax.legend(fontsize=8.5, frameon=False, loc="upper center", handlelength=4)


def _draw_curves(ax: Any, along: FloatArray, curves: dict[str, FloatArray]) -> None:
    # Thinner and thinner: where curves are one, the first can be seen behind the last.
    widths = np.linspace(2.8, 1.4, max(len(curves), 1))
    for place, (name, heights) in enumerate(curves.items()):
        ax.plot(along, heights, label=literal(name), linewidth=widths[place], zorder=2, **dashed(place))
    ax.set_xlim(along[0], along[-1])
    ax.set_ylim(-0.1, _TOP)
