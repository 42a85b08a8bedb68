"""Densities of ordered classes along a score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lineal.canvas import COLOURS, INK, as_list, literal, look, new_axes

if TYPE_CHECKING:
    from lineal.plot.ordinal_axis import OrdinalScores


def draw(shown: OrdinalScores, ax: Any = None) -> list[Any]:
    """See :meth:`lineal.plot.ordinal_axis.OrdinalScores.plot`."""
    axes = new_axes(1, 1, figsize=(8, 4)) if ax is None else as_list(ax)
    panel = axes[0]
    for k, (label, density) in enumerate(zip(shown.classes.tolist(), shown.densities, strict=True)):
        panel.plot(shown.x, density, linewidth=1.7, label=literal(label), **look(k))
        panel.fill_between(shown.x, density, color=COLOURS[k % len(COLOURS)], alpha=0.15, linewidth=0)
    for threshold in shown.thresholds:
        panel.axvline(threshold, color=INK, linewidth=1.1, linestyle=(0, (4, 2)), label="_threshold")
    panel.set_xlim(shown.x[0], shown.x[-1])
    panel.set_ylim(0, 1.08 * float(shown.densities.max()))
    panel.set_yticks([])
    panel.set_xlabel("score", color=INK)
    panel.set_title("Classes along the score; dashed: thresholds between them", fontsize=11, loc="left")
    panel.spines[["top", "right", "left"]].set_visible(False)
    panel.legend(frameon=False, fontsize=9, ncols=1 + len(shown.classes) // 8)
    return axes
