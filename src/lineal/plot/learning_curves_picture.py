"""Scores as lines over the number of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lineal.canvas import as_list, dotted, dress, legend_below, literal, new_axes
from lineal.evaluation.wording import percent

if TYPE_CHECKING:
    from lineal.plot.learning_curves import LearningCurves


def draw(found: LearningCurves, ax: Any = None) -> list[Any]:
    """See :meth:`lineal.plot.learning_curves.LearningCurves.plot`."""
    axes = new_axes(1, 1, figsize=(7.5, 4.6)) if ax is None else as_list(ax)
    panel = axes[0]
    panel.set_xscale("log")
    for place, (name, curve) in enumerate(found.curves.items()):
        shared = {**dotted(place), "markersize": 5}
        panel.fill_between(
            curve.sizes, curve.test_low, curve.test_high, color=shared["color"], alpha=0.15, linewidth=0
        )
        panel.plot(curve.sizes, curve.test, linewidth=1.8, label=f"{literal(name)}, held out", **shared)
        panel.plot(
            curve.sizes, curve.train, linewidth=1.1, linestyle=(0, (4, 2)), markerfacecolor="white",
            label=f"{literal(name)}, learned from", **shared,
        )  # fmt: skip
    first = next(iter(found.curves.values()))
    folds = f"mean over {len(first.test_runs)} folds; bands: {percent(first.confidence)} intervals"
    title = "Learning curve" if len(found.curves) == 1 else "Learning curves"
    dress(panel, title, "rows learned from", literal(first.metric))
    sizes = sorted({int(size) for curve in found.curves.values() for size in curve.sizes})
    panel.set_xticks(sizes, [f"{size:,}" for size in sizes])
    panel.minorticks_off()
    legend_below(panel, is_new=ax is None, title=folds)
    return axes
