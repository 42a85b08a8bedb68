"""Perceptrons drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lineal.canvas import COLOURS, FAINT, INK, End, as_list, name_ends, new_axes
from lineal.objective.losses import FloatArray

if TYPE_CHECKING:
    from lineal.learners.perceptron.online import Step
    from lineal.plot.perceptrons import AveragingCurve, MistakeCurve, Updates

_MARKS = ("o", "s", "^", "D", "v", "P", "X")
_GRID = 240  # points of a region's raster, a side


def draw_updates(updates: Updates, ax: Any = None) -> list[Any]:
    """See :meth:`lineal.plot.perceptrons.Updates.plot`."""
    n = max(1, len(updates.steps))
    if ax is None:
        n_columns = min(4, n)
        n_rows = -(-n // n_columns)
        axes = new_axes(n_rows, n_columns, figsize=(2.9 * n_columns, 2.9 * n_rows), sharex=True, sharey=True)
        for spare in axes[n:]:
            spare.remove()
        axes = axes[:n]
    else:
        axes = as_list(ax)
    low, high = _window(updates.X)
    for place, (panel, step) in enumerate(zip(axes, updates.steps, strict=False), start=1):
        _draw_regions(updates, panel, step, low, high)
        _draw_rows(updates, panel, step)
        panel.set_xlim(low[0], high[0])
        panel.set_ylim(low[1], high[1])
        panel.set_title(f"update {place}, example {step.example}", fontsize=9, loc="left")
        panel.spines[["top", "right"]].set_visible(False)
    if len(axes):
        axes[0].legend(
            [f"{label!s}" for label in updates.classes[: len(_MARKS)]], fontsize=8, frameon=False, loc="best"
        )
    return axes


def _window(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    low, high = X.min(axis=0), X.max(axis=0)
    room = 0.2 * np.where(high > low, high - low, 1.0)
    return low - room, high + room


def _leads(step: Step, points: FloatArray) -> FloatArray:
    """(n, K): by how much each class's score is above the highest of the others."""
    Z = points @ step.coef.T + step.intercept
    if Z.shape[1] == 1:
        return np.column_stack([-Z[:, 0], Z[:, 0]])
    second, first = np.partition(Z, -2, axis=1)[:, -2:].T
    return Z - np.where(first[:, None] > Z, first[:, None], second[:, None])


def _draw_regions(updates: Updates, ax: Any, step: Step, low: FloatArray, high: FloatArray) -> None:
    across, up = (np.linspace(low[j], high[j], _GRID) for j in range(2))
    points = np.column_stack([side.ravel() for side in np.meshgrid(across, up)])
    for k, lead in enumerate(_leads(step, points).T):
        raster, colour = lead.reshape(_GRID, _GRID), COLOURS[k % len(COLOURS)]
        if lead.max() > 0:
            ax.contourf(
                across, up, raster, levels=[0.0, 2 * lead.max()], colors=[colour], alpha=0.13, zorder=0
            )
        if lead.min() < 0 < lead.max():
            ax.contour(across, up, raster, levels=[0.0], colors=INK, linewidths=1.0, zorder=1)


def _draw_rows(updates: Updates, ax: Any, step: Step) -> None:
    for k in range(len(updates.classes)):
        mine = updates.X[updates.codes == k]
        ax.plot(mine[:, 0], mine[:, 1], _MARKS[k % len(_MARKS)], color=COLOURS[k % len(COLOURS)],
                markersize=5, linestyle="none", zorder=3)  # fmt: skip
    wrong = updates.X[step.row]
    ax.plot(*wrong, "o", markersize=13, markerfacecolor="none", markeredgecolor=INK, zorder=4)


def draw_mistakes(curve: MistakeCurve, ax: Any = None) -> list[Any]:
    """See :meth:`lineal.plot.perceptrons.MistakeCurve.plot`."""
    axes = new_axes(1, 1, figsize=(7, 4.2)) if ax is None else as_list(ax)
    panel = axes[0]
    epochs = np.arange(len(curve.mistakes))
    panel.plot(epochs, curve.mistakes, "o-", color=COLOURS[0], linewidth=1.8, markersize=4)
    ends = [End(float(epochs[-1]), float(curve.mistakes[-1]), f"{curve.mistakes[-1]:,} made", COLOURS[0])]
    top = max(1.0, float(curve.mistakes[-1]))
    if curve.bound.separable:
        top = curve.bound.bound
        panel.axhline(top, color=COLOURS[1], linewidth=1.4, linestyle=(0, (5, 2)))
        ends.append(End(float(epochs[-1]), top, f"R²/γ² = {int(top):,}", COLOURS[1]))
        if top > 50 * max(1, curve.mistakes[-1]):
            panel.set_yscale("symlog", linthresh=max(1.0, float(curve.mistakes[-1])))
    title = "No order of the rows makes more mistakes than R²/γ²"
    panel.set_title(title if curve.bound.separable else _without_bound(curve), fontsize=11, loc="left")
    panel.set_xlim(0, max(1, epochs[-1]))
    panel.set_ylim(0, 1.12 * top)
    panel.xaxis.get_major_locator().set_params(integer=True)
    panel.set_xlabel("epoch", color=INK)
    panel.set_ylabel("mistakes so far", color=INK)
    panel.grid(True, color="0.92", linewidth=0.6)
    panel.spines[["top", "right"]].set_visible(False)
    name_ends(panel, ends)
    return axes


def _without_bound(curve: MistakeCurve) -> str:
    return "Not separable: mistakes never end" if curve.bound.separable is False else "No bound was proved"


def draw_averaging(curve: AveragingCurve, ax: Any = None) -> list[Any]:
    """See :meth:`lineal.plot.perceptrons.AveragingCurve.plot`."""
    axes = new_axes(1, 1, figsize=(7, 4.2)) if ax is None else as_list(ax)
    panel = axes[0]
    epochs = np.arange(1, len(curve.plain) + 1)
    panel.plot(epochs, curve.plain, "o-", color=COLOURS[1], linewidth=1.2, markersize=3.5)
    panel.plot(epochs, curve.averaged, "o-", color=COLOURS[0], linewidth=1.8, markersize=3.5)
    panel.set_xlim(1, max(2, epochs[-1]))
    panel.margins(y=0.1)
    panel.autoscale_view(scalex=False)
    panel.set_title("The last weights jump; their average does not", fontsize=11, loc="left")
    panel.xaxis.get_major_locator().set_params(integer=True)
    panel.set_xlabel("epoch", color=INK)
    panel.set_ylabel("accuracy on other data", color=INK)
    panel.grid(True, color="0.92", linewidth=0.6)
    panel.spines[["top", "right"]].set_visible(False)
    panel.tick_params(colors=INK)
    panel.spines[["left", "bottom"]].set_color(FAINT)
    last = float(epochs[-1])
    name_ends(panel, [End(last, float(curve.plain[-1]), "plain", COLOURS[1]),
                      End(last, float(curve.averaged[-1]), "averaged", COLOURS[0])])  # fmt: skip
    return axes
