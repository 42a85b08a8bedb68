"""Curves and their errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lineal.canvas import COLOURS, FAINT, INK, as_list, new_axes

if TYPE_CHECKING:
    from lineal.objective.losses import FloatArray
    from lineal.plot.curves import CurveComparison

_POINTS, _CURVE, _TRUTH = COLOURS[0], COLOURS[1], COLOURS[2]


def draw(shown: CurveComparison, ax: Any = None) -> list[Any]:
    """See :meth:`lineal.plot.curves.CurveComparison.plot`."""
    n = len(shown.degrees) + 2
    if ax is None:
        width = 3 if n % 3 == 0 else 4 if n % 4 == 0 else 2
        axes = new_axes(-(-n // width), width, figsize=(4.0 * width, 3.3 * -(-n // width)))
    else:
        axes = as_list(ax)
    for degree, panel in zip(shown.degrees, axes, strict=False):
        _draw_curve(shown, degree, panel)
    rest = axes[len(shown.degrees) :]
    if rest:
        along = np.arange(len(shown.by_degree), dtype=np.float64)
        _draw_errors(rest[0], along, shown.train_by_degree, shown.test_by_degree, "degree")
    if len(rest) > 1:
        _draw_errors(
            rest[1], np.log(shown.strengths), shown.train_by_strength, shown.test_by_strength,
            f"ln strength, at degree {len(shown.by_degree) - 1}",
        )  # fmt: skip
    for panel in axes[n:]:
        panel.set_axis_off()
    return axes


def _draw_curve(shown: CurveComparison, degree: int, ax: Any) -> None:
    low, high = float(shown.x.min()), float(shown.x.max())
    t = np.linspace(low, high, 400)
    if shown.truth is not None:
        ax.plot(t, shown.truth(t), color=_TRUTH, linewidth=1.3, linestyle=(0, (4, 2)), label="truth")
    ax.plot(t, shown.by_degree[degree].predict(t[:, None]), color=_CURVE, linewidth=1.8, label="fit")
    ax.plot(shown.x, shown.y, "o", markersize=5, markerfacecolor="white", color=_POINTS, zorder=4)
    room = 0.35 * float(np.ptp(shown.y)) or 1.0
    ax.set_ylim(float(shown.y.min()) - room, float(shown.y.max()) + room)
    ax.set_title(f"degree {degree}", fontsize=11, loc="left")
    ax.spines[["top", "right"]].set_visible(False)
    if degree == shown.degrees[0]:
        ax.legend(frameon=False, fontsize=9, loc="upper right")


def _draw_errors(ax: Any, along: FloatArray, train: FloatArray, test: FloatArray, name: str) -> None:
    marker = {"marker": "o", "markersize": 4} if len(along) <= 20 else {}
    ax.plot(along, train, color=_POINTS, linewidth=1.6, label="training", **marker)
    ax.plot(along, test, color=_CURVE, linewidth=1.6, label="test", **marker)
    best = int(test.argmin())
    ax.axvline(along[best], color=FAINT, linewidth=0.9, linestyle=(0, (2, 2)))
    # Overfitting can be as large as it likes: what is worth seeing is around the best.
    top = max(1.15 * float(train.max()), 2.5 * float(test[best]))
    ax.set_ylim(0.0, min(top, 1.15 * float(max(train.max(), test.max()))) or 1.0)
    ax.set_xlabel(name, color=INK)
    ax.set_ylabel("root mean square error", color=INK)
    ax.set_title(f"errors by {name.split(',')[0]}", fontsize=11, loc="left")
    ax.grid(True, color="0.92", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=9)
