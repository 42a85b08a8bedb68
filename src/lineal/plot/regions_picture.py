"""Regions of classes in the plane, and the points that made them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lineal.canvas import COLOURS, INK, as_list, dotted, legend_below, literal, new_axes

if TYPE_CHECKING:
    from lineal.plot.margins import CurvedMargin, Margin
    from lineal.plot.regions import DecisionRegions


def draw(regions: DecisionRegions, ax: Any = None) -> list[Any]:
    """See :meth:`lineal.plot.regions.DecisionRegions.plot`."""
    n = len(regions.regions)
    size = {"figsize": (4.2 * n, 4.2), "sharex": True, "sharey": True}
    axes = new_axes(1, n, **size) if ax is None else as_list(ax)
    for panel, (name, codes) in zip(axes, regions.regions.items(), strict=False):
        _fill(regions, codes, panel)
        _draw_points(regions, panel)
        if name in regions.margins:
            _draw_margin(regions, regions.margins[name], panel)
        title = f"{literal(name)}: {regions.right[name]:.1%} right on the points"
        panel.set_title(title, fontsize=10, loc="left")
        panel.set_aspect("equal", adjustable="box")
    legend_below(axes[0], is_new=ax is None)
    return axes


def _fill(regions: DecisionRegions, codes: Any, ax: Any) -> None:
    """Pale colours, and a line where they meet."""
    from matplotlib.colors import ListedColormap  # drawing has begun: it is there

    n_classes = len(regions.classes)
    colours = ListedColormap([COLOURS[c % len(COLOURS)] for c in range(n_classes)])
    corners = (regions.x[0], regions.x[-1], regions.y[0], regions.y[-1])
    ax.imshow(
        codes, origin="lower", extent=corners, cmap=colours, vmin=-0.5, vmax=n_classes - 0.5, alpha=0.25,
        interpolation="nearest", aspect="auto",
    )  # fmt: skip
    for c in range(n_classes):
        if (codes == c).any() and not (codes == c).all():
            ax.contour(
                regions.x, regions.y, (codes == c).astype(float), levels=[0.5], colors="white", linewidths=1
            )


def _draw_points(regions: DecisionRegions, ax: Any) -> None:
    for c, label in enumerate(regions.classes.tolist()):
        mine = regions.points[regions.codes == c]
        style = {**dotted(c), "linestyle": "none"}
        ax.plot(
            mine[:, 0],
            mine[:, 1],
            markersize=5.5,
            markeredgecolor="white",
            markeredgewidth=0.6,
            label=literal(label),
            **style,
        )


def _draw_margin(regions: DecisionRegions, margin: Margin | CurvedMargin, ax: Any) -> None:
    """The boundary, what runs beside it, and rings round the support vectors."""
    window = (regions.x[0], regions.x[-1]), (regions.y[0], regions.y[-1])
    for side, style in ((0, "-"), (-1, (0, (5, 3))), (1, (0, (5, 3)))):
        name = {0: "score 0", -1: f"score ±{margin.level:g}"}.get(side, "_other side")
        if hasattr(margin, "scores"):
            _draw_curve(regions, margin.scores, side * margin.level, style, name, ax)
            continue
        ends = margin.line(side * margin.level, *window)
        if len(ends):
            ax.plot(*ends.T, color=INK, linewidth=1.3, linestyle=style, label=name)
    held = regions.points[margin.is_support]
    ax.plot(
        *held.T, marker="o", markersize=10, markerfacecolor="none", markeredgecolor=INK, markeredgewidth=0.9,
        linestyle="none", label="support vector",
    )  # fmt: skip


def _draw_curve(regions: DecisionRegions, scores: Any, level: float, style: Any, name: str, ax: Any) -> None:
    """Where the score is at a level, if it is anywhere."""
    if scores.min() < level < scores.max():
        ax.contour(
            regions.x, regions.y, scores, levels=[level], colors=INK, linewidths=1.3, linestyles=[style]
        )
        ax.plot([], [], color=INK, linewidth=1.3, linestyle=style, label=name)
