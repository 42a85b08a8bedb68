"""Densities and posteriors of one column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lineal.canvas import COLOURS, FAINT, INK, as_list, look, new_axes

if TYPE_CHECKING:
    from lineal.plot.densities import Posteriors


def draw(curves: Posteriors, ax: Any = None) -> list[Any]:
    """See :meth:`lineal.plot.densities.Posteriors.plot`."""
    axes = new_axes(2, 1, figsize=(8, 6.4), sharex=True) if ax is None else as_list(ax)
    _draw_densities(curves, axes[0])
    for panel in axes[1:2]:
        _draw_posteriors(curves, panel)
    for panel in axes[:2]:
        for x in curves.boundaries[(curves.boundaries >= curves.x[0]) & (curves.boundaries <= curves.x[-1])]:
            panel.axvline(x, color=INK, linewidth=0.9, linestyle=(0, (2, 2)), label="_boundary")
        panel.set_xlim(curves.x[0], curves.x[-1])
        panel.spines[["top", "right"]].set_visible(False)
    axes[min(len(axes), 2) - 1].set_xlabel(curves.name, color=INK)
    return axes


def _draw_densities(curves: Posteriors, ax: Any) -> None:
    for place, (label, joint) in enumerate(zip(curves.classes.tolist(), curves.joint, strict=True)):
        # A label that begins with _ would be left out of the legend.
        name = f"\u200b{label}" if str(label).startswith("_") else str(label)
        ax.plot(curves.x, joint, linewidth=1.7, label=name, **look(place))
        ax.fill_between(curves.x, joint, color=COLOURS[place % len(COLOURS)], alpha=0.12, linewidth=0)
    evidence = curves.joint.sum(axis=0)
    ax.plot(curves.x, evidence, color=FAINT, linewidth=1.0, zorder=0, label="evidence p(x)")
    ax.set_ylim(0, 1.05 * float(evidence.max()))
    ax.legend(frameon=False, fontsize=9, ncols=1 + len(curves.classes) // 8)
    ax.set_ylabel("p(class) p(x | class)", color=INK)
    ax.set_title("How likely each class makes x; the evidence is their sum", fontsize=11, loc="left")


def _draw_posteriors(curves: Posteriors, ax: Any) -> None:
    for place, posterior in enumerate(curves.posterior):
        ax.plot(curves.x, posterior, linewidth=1.7, **look(place))
    ax.set_ylim(0, 1.02)
    ax.set_ylabel("p(class | x)", color=INK)
    ax.set_title("What x says about the class; dashed where the likeliest changes", fontsize=11, loc="left")
