"""Classes on lines, and in the plane of two directions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lineal.canvas import COLOURS, FAINT, INK, as_list, new_axes

if TYPE_CHECKING:
    from lineal.plot.discriminant import Line, Projections

_MARKERS = "os^Dv<>P"


def draw(shown: Projections, ax: Any = None) -> list[Any]:
    """See :meth:`lineal.plot.discriminant.Projections.plot`."""
    if not shown.lines:
        axes = new_axes(1, 1, figsize=(7.5, 5.5)) if ax is None else as_list(ax)
        _draw_space(shown, axes[0])
        return axes
    n = 3 if shown.plane is not None else 2
    axes = new_axes(1, n, figsize=(5.2 * n, 4.2)) if ax is None else as_list(ax)
    for line, panel in zip(shown.lines, axes[n - 2 :], strict=False):
        _draw_line(shown, line, panel)
    if shown.plane is not None:
        _draw_plane(shown, axes[0])
    return axes


def _dots(shown: Projections, ax: Any, points: Any) -> None:
    for k, label in enumerate(shown.classes.tolist()):
        rows = shown.codes == k
        ax.scatter(
            points[rows, 0],
            points[rows, 1],
            s=16,
            alpha=0.65,
            color=COLOURS[k % len(COLOURS)],
            marker=_MARKERS[k % len(_MARKERS)],
            linewidths=0,
            label=str(label),
        )
    ax.spines[["top", "right"]].set_visible(False)


def _draw_space(shown: Projections, ax: Any) -> None:
    places, title = shown.places, "Classes in the discriminant space"
    if places.shape[1] == 1:  # class means on one line: the rows are spread by their order
        places = np.column_stack([places[:, 0], np.linspace(0, 1, len(places))])
    _dots(shown, ax, places)
    ax.set_xlabel("direction 1, in deviations within classes", color=INK)
    if shown.places.shape[1] == 1:
        ax.set_yticks([])
        ax.set_ylabel("order of the rows", color=INK)
    else:
        ax.set_ylabel("direction 2", color=INK)
        ax.set_aspect("equal", adjustable="datalim")
        title += "; stars: their means"
        for k, mean in enumerate(shown.means()):
            style = {"markersize": 15, "markeredgecolor": "white", "markeredgewidth": 1.2, "zorder": 5}
            ax.plot(*mean[:2], marker="*", color=COLOURS[k % len(COLOURS)], **style)
    ax.set_title(title, fontsize=11, loc="left")
    ax.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _draw_line(shown: Projections, line: Line, ax: Any) -> None:
    low, high = float(line.values.min()), float(line.values.max())
    room = 0.05 * (high - low)
    bins, t = np.linspace(low, high, 31), np.linspace(low - room, high + room, 400)
    upper = 1 / (1 + np.exp(-line.gaussians.log_odds))
    # In the shares that the threshold is for, so that the curves meet where it stands.
    for k, (label, share) in enumerate(zip(shown.classes.tolist(), (1 - upper, upper), strict=True)):
        rows, color = shown.codes == k, COLOURS[k % len(COLOURS)]
        weights = share * shown.weights[rows] / shown.weights[rows].sum() / (bins[1] - bins[0])
        ax.hist(line.values[rows], bins=bins, weights=weights, color=color, alpha=0.35, label=str(label))
        m, v = line.gaussians.means[k], line.gaussians.variances[k]
        density = share * np.exp(-((t - m) ** 2) / (2 * v)) / np.sqrt(2 * np.pi * v)
        ax.plot(t, density, color=color, linewidth=1.8)
    ax.set_xlim(low - room, high + room)
    for root in line.roots:
        if root != line.threshold and low <= root <= high:
            ax.axvline(root, color=FAINT, linewidth=1.2, linestyle=(0, (2, 2)))
    ax.axvline(line.threshold, color="black", linewidth=1.4, linestyle=(0, (5, 2)))
    ax.set_title(f"{line.name[0].upper()}{line.name[1:]}: {line.error:.1%} wrong", fontsize=11, loc="left")
    ax.set_xlabel("projection, in deviations within classes", color=INK)
    ax.set_yticks([])
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.legend(frameon=False, fontsize=9)


def _draw_plane(shown: Projections, ax: Any) -> None:
    """The rows, and the two directions through the point between the class means."""
    assert shown.plane is not None
    _dots(shown, ax, shown.plane)
    box = ax.axis()
    centre = np.mean([shown.plane[shown.codes == k].mean(axis=0) for k in (0, 1)], axis=0)
    length = float(np.hypot(box[1] - box[0], box[3] - box[2]))
    for line, style in zip(shown.lines, ((0, (1.2, 1.2)), "-"), strict=True):
        w = line.direction / np.linalg.norm(line.direction)
        ends = centre + length * np.array([[-1.0], [1.0]]) * w
        ax.plot(
            *ends.T,
            color="black",
            linewidth=1.5,
            linestyle=style,
            label=line.name,
            scalex=False,
            scaley=False,
        )
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_title("The rows, and what they are projected onto", fontsize=11, loc="left")
    ax.legend(framealpha=0.9, edgecolor="none", fontsize=8.5, loc="best")
