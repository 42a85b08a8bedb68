"""Solvers as falling lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lineal.objective.losses import FloatArray
from lineal.plot.canvas import FAINT, INK, End, as_list, look, name_ends, new_axes

if TYPE_CHECKING:
    from lineal.plot.comparison import Comparison

# The panels in the order in which given axes are filled, and where each lies in a figure of its own.
_PANELS = (("gap", "seconds"), ("gap", "epochs"), ("suboptimality", "seconds"), ("suboptimality", "epochs"))
# The share of a panel's height that is kept for names below the floor.
_ROOM = 0.24


def draw(comparison: Comparison, ax: Any = None) -> list[Any]:
    """See :meth:`lineal.plot.comparison.Comparison.plot`."""
    if ax is None:
        axes = new_axes(2, 2, figsize=(14, 10), sharex="col")
        axes[0].get_figure().suptitle(comparison.title, fontsize=13)
    else:
        axes = as_list(ax)
    for panel, (what, against) in zip(axes, _PANELS, strict=False):
        _draw_panel(comparison, panel, what, against)
        if ax is None:
            panel.label_outer()
    return axes


def _draw_panel(comparison: Comparison, ax: Any, what: str, against: str) -> None:
    ends = []
    floor = comparison.tol * (1.0 if what == "gap" else max(abs(comparison.bound), 1e-300))
    top = floor
    for place, trace in enumerate(comparison.traces):
        height = trace.relative_gap if what == "gap" else comparison.suboptimality(trace.label)
        along: FloatArray = np.asarray(getattr(trace, against), dtype=np.float64)
        style = look(place)
        ax.plot(along, height, label=trace.label, linewidth=1.6, **style)
        seen = np.isfinite(height)
        top = max(top, float(height[seen].max(initial=0.0)))
        if seen.any():
            ends.append(End(float(along[seen][-1]), float(height[seen][-1]), trace.label, style["color"]))
    ax.set_xscale("log")
    ax.set_yscale("log")
    top *= 1.5
    # In logarithms, the floor lies _ROOM above the bottom.
    bottom = floor * (floor / top) ** (_ROOM / (1 - _ROOM))
    ax.set_ylim(bottom, top)
    ax.set_yticks([tick for tick in ax.get_yticks() if floor <= tick <= top])
    ax.minorticks_off()
    # Below the floor there are names and no lines.
    ax.axhspan(bottom, floor, color="white", zorder=3)
    ax.axhline(floor, color=FAINT, linewidth=0.8, zorder=3)
    ax.set_xlim(*_span(comparison, against))
    _label(ax, what, against, comparison.tol)
    name_ends(ax, ends, floor)


def _span(comparison: Comparison, against: str) -> tuple[float, float]:
    every = np.concatenate([getattr(trace, against) for trace in comparison.traces]).astype(np.float64)
    return float(every.min()) / 1.15, float(every.max()) * 1.15


def _label(ax: Any, what: str, against: str, tol: float) -> None:
    unit = "seconds: the solver's own, and one certificate" if against == "seconds" else "epochs"
    ax.set_xlabel(unit, color=INK)
    if what == "gap":
        ax.set_ylabel("certified relative gap", color=INK)
        ax.set_title(f"What is proved, by {against} (done at {tol:.0e})", fontsize=11, loc="left")
    else:
        ax.set_ylabel("objective − best bound of all", color=INK)
        ax.set_title(f"How good the weights are, by {against}", fontsize=11, loc="left")
    ax.grid(True, which="major", color="0.92", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
