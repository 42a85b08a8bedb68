"""Errors of random maps as lines that fall with their sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lineal.canvas import COLOURS, FAINT, MARKERS, as_list, dress, legend_below, literal, new_axes
from lineal.evaluation.wording import percent

if TYPE_CHECKING:
    from lineal.plot.kernel_errors import KernelErrors


def draw(found: KernelErrors, ax: Any = None) -> list[Any]:
    """See :meth:`lineal.plot.kernel_errors.KernelErrors.plot`."""
    axes = new_axes(1, 1, figsize=(9, 5.2)) if ax is None else as_list(ax)
    panel = axes[0]
    panel.set_xscale("log")
    panel.set_yscale("log")
    start = max(float(errors.typical[0]) for errors in found.curves.values())
    guide = start * np.sqrt(found.sizes[0] / found.sizes)
    panel.plot(found.sizes, guide, color=FAINT, linewidth=1.0, linestyle=(0, (1, 2)), label="1 / √size")
    bounds = [errors.bound for errors in found.curves.values() if np.isfinite(errors.bound).all()]
    for place, (name, errors) in enumerate(found.curves.items()):
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        shown = {"color": colour, "marker": marker, "linewidth": 1.8, "label": literal(name)}
        panel.plot(found.sizes, errors.typical, **shown)
        if np.isfinite(errors.bound).all():
            panel.plot(found.sizes, errors.bound, color=colour, linewidth=1.1, linestyle=(0, (5, 2)))
    title = "Errors of kernel values: roots of mean squares"
    title += f"; dashed: Hoeffding's bounds, {percent(found.confidence)}" if bounds else ""
    dress(panel, title, "size: features, grids or landmarks", "error")
    # Where landmarks are exact there is rounding alone, far below.
    panel.set_ylim(float(guide.min()) / 30, 2 * max([start, *(float(bound.max()) for bound in bounds)]))
    panel.set_xticks(found.sizes, [f"{size:,}" for size in found.sizes])
    panel.minorticks_off()
    legend_below(panel, is_new=ax is None)
    return axes
