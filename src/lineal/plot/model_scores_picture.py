"""Scores of models as dots with whiskers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lineal.canvas import COLOURS, FAINT, INK, as_list, dress, literal, new_axes
from lineal.evaluation.wording import p_text, percent

if TYPE_CHECKING:
    from lineal.plot.model_scores import ModelScores


def draw(found: ModelScores, ax: Any = None) -> list[Any]:
    """See :meth:`lineal.plot.model_scores.ModelScores.plot`."""
    n, comparison = len(found.names), found.comparison
    # Long names must not squeeze the scores.
    width = 7.5 + 0.085 * min(max(max(map(len, found.names)) - 14, 0), 60)
    axes = new_axes(1, 1, figsize=(width, 1.5 + 0.45 * n)) if ax is None else as_list(ax)
    panel = axes[0]
    heights = np.arange(n)
    if found.runs is not None:
        for y, column in zip(heights, found.runs.T, strict=True):
            panel.plot(column, np.full(len(column), y + 0.22), "|", color=FAINT, markersize=6)
    panel.axvline(found.values[0], color=FAINT, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    panel.hlines(heights, found.low, found.high, color=COLOURS[0], linewidth=2.2, zorder=2)
    for y, value, is_worse in zip(heights, found.values, found.is_worse, strict=True):
        face = "white" if is_worse else COLOURS[0]
        panel.plot(value, y, "o", markersize=8, color=COLOURS[0], markerfacecolor=face, zorder=3)
    notes = ["best", *(p_text(p) for p in found.p_values[1:])]
    for y, note in zip(heights, notes, strict=True):
        panel.annotate(
            note, (1.01, y), xycoords=("axes fraction", "data"), va="center", fontsize=8.5, color=INK
        )
    interval = f"{percent(comparison.confidence)} intervals"
    few = "; small strokes: single runs" if found.runs is not None else ""
    level = f"{1 - comparison.confidence:.2g}"
    worse = f"\nhollow: worse than the best at the level {level}" if found.is_worse.any() else ""
    across = f"{literal(comparison.metric)}, with {interval}{few}{worse}"
    dress(panel, literal(comparison.title), across, "")
    panel.set_yticks(heights, [literal(name) for name in found.names])
    panel.set_ylim(n - 0.4, -0.6)
    panel.grid(False, axis="y")
    panel.tick_params(axis="y", length=0)
    panel.spines["left"].set_visible(False)
    return axes
