"""Solvers as falling lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lineal.canvas import FAINT, INK, End, as_list, look, name_ends, new_axes
from lineal.objective.losses import FloatArray

if TYPE_CHECKING:
    from lineal.plot.comparison import Comparison, SolverTrace

# The panels in the order in which axes are filled.
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
    lines = [_line(comparison, trace, what, against) for trace in comparison.traces]
    floor = comparison.tol * (1.0 if what == "gap" else _size(comparison.bound))
    # Limits come before lines: a logarithmic axis must not be asked to fit a gap of 0.
    _set_axes(ax, lines, floor)
    ends = []
    for place, (trace, (along, height)) in enumerate(zip(comparison.traces, lines, strict=True)):
        style = look(place)
        ax.plot(along, height, label=trace.label, linewidth=1.6, **style)
        seen = np.isfinite(height)
        if seen.any():
            ends.append(End(float(along[seen][-1]), float(height[seen][-1]), trace.label, style["color"]))
    spots = [(end.x, max(end.y, floor)) for end in ends]
    ax.scatter(*np.array(spots).reshape(-1, 2).T, c=[end.color for end in ends], s=14, zorder=5)
    _label(ax, what, against, comparison.tol)
    name_ends(ax, ends, floor)


def _line(
    comparison: Comparison, trace: SolverTrace, what: str, against: str
) -> tuple[FloatArray, FloatArray]:
    height = trace.relative_gap if what == "gap" else comparison.suboptimality(trace.label)
    return np.asarray(getattr(trace, against), dtype=np.float64), height


def _set_axes(ax: Any, lines: list[tuple[FloatArray, FloatArray]], floor: float) -> None:
    """Logarithmic scales, with room for names below the floor."""
    heights = np.concatenate([height[np.isfinite(height)] for _, height in lines])
    top = 1.5 * max(floor, float(heights.max(initial=floor)))
    # In logarithms, the floor lies _ROOM above the bottom.
    bottom = floor * (floor / top) ** (_ROOM / (1 - _ROOM))
    along = np.concatenate([along for along, _ in lines])
    ax.set_xscale("log")
    ax.set_yscale("log", nonpositive="clip")  # a gap of 0 lies below every floor
    ax.set_xlim(float(along.min()) / 1.15, float(along.max()) * 1.15)
    ax.set_ylim(bottom, top)
    ax.set_yticks([tick for tick in ax.get_yticks() if floor <= tick <= top])
    ax.minorticks_off()
    # Below the floor there are names and no lines.
    ax.axhspan(bottom, floor, color="white", zorder=3)
    ax.axhline(floor, color=FAINT, linewidth=0.8, zorder=3, label="_floor")


def _size(bound: float) -> float:
    return abs(bound) if 0 < abs(bound) < np.inf else 1.0


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
