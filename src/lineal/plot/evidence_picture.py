"""Histograms of typicality."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lineal.canvas import COLOURS, INK, as_list, new_axes

if TYPE_CHECKING:
    from lineal.plot.evidence import Novelty


def draw(rows: Novelty, ax: Any = None) -> list[Any]:
    """See :meth:`lineal.plot.evidence.Novelty.plot`."""
    axes = new_axes(1, 1, figsize=(8, 4.2)) if ax is None else as_list(ax)
    panel, edges = axes[0], rows.edges()
    names = (f"ordinary rows ({len(rows.ordinary)})", f"new rows ({len(rows.new)})")
    for place, (share, name) in enumerate(zip(rows.shares(), names, strict=True)):
        color = COLOURS[place]
        panel.stairs(share, edges, fill=True, color=color, alpha=0.25)
        panel.stairs(share, edges, color=color, linewidth=1.4, label=name)
    if np.isfinite(rows.threshold):
        panel.axvline(rows.threshold, color=INK, linewidth=1.1, linestyle=(0, (4, 2)), label="_threshold")
        panel.annotate(
            "← novel", (rows.threshold, 1.0), xycoords=("data", "axes fraction"), xytext=(-4, -3),
            textcoords="offset points", ha="right", va="top", fontsize=9, color=INK,
        )  # fmt: skip
    panel.set_title(str(rows), fontsize=10.5, loc="left")
    panel.set_xlabel("typicality: log evidence, per word where rows have lengths", color=INK)
    panel.set_ylabel("share of rows", color=INK)
    panel.set_ylim(bottom=0)
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(frameon=False, loc="center left", fontsize=9)
    return axes
