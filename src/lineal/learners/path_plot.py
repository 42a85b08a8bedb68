"""A path as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lineal.deferred import sparse as sp
from lineal.objective.losses import FloatArray

if TYPE_CHECKING:
    from lineal.learners.path import Path

# A picture shows so many weights and names so many of them: more would be a grey area.
_DRAWN, _NAMED = 300, 20


def draw(path: Path, ax: Any = None) -> list[Any]:
    """See :meth:`lineal.learners.path.Path.plot`."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plot() needs matplotlib: pip install lineal[plot]") from error
    if ax is None:
        _, ax = plt.subplots(2, 1, sharex=True, height_ratios=(3, 1), figsize=(8, 7), layout="constrained")
    axes = list(ax) if isinstance(ax, (Sequence, np.ndarray)) else [ax]
    for panel, draw_panel in zip(axes, (_draw_weights, _draw_scores), strict=False):
        draw_panel(path, panel)
        panel.set_xscale("log")
        # A path is read as it was made: from the strong penalty to the weak one.
        panel.set_xlim(max(panel.get_xlim()), min(panel.get_xlim()))
    axes[-1].set_xlabel("strength of the penalty")
    return axes


def _draw_weights(path: Path, ax: Any) -> None:
    curves, names = _curves(path)
    for i, (curve, name) in enumerate(zip(curves.T, names, strict=True)):
        if i >= _NAMED:
            ax.plot(path.strengths, curve, color="0.75", linewidth=0.7, zorder=1)
            continue
        (line,) = ax.plot(path.strengths, curve, linewidth=1.3, label=name)
        style = {"va": "center", "fontsize": 8, "color": line.get_color()}
        ax.annotate(name, (path.strengths[-1], curve[-1]), (4, 0), textcoords="offset points", **style)
    ax.axhline(0.0, color="0.4", linewidth=0.6)
    ax.set_ylabel("weight")


def _curves(path: Path) -> tuple[FloatArray, list[str]]:
    """(n, at most 300) weights, those that grow largest first, and their names."""
    every = sp.csc_array(sp.vstack([sp.csr_array(coef.reshape(1, -1)) for coef in path.coefs]))
    size = abs(every).max(axis=0).toarray().ravel()
    drawn = np.argsort(-size, kind="stable")[: min(_DRAWN, np.count_nonzero(size))]
    return every[:, drawn].toarray(), [path.weight_name(int(place)) for place in drawn]


def _draw_scores(path: Path, ax: Any) -> None:
    ax.plot(path.strengths, path.train_scores, ".-", color="0.6", label="train")
    if path.test_scores is not None:
        ax.plot(path.strengths, path.test_scores, ".-", color="C0", label="test")
        best = path.best()
        ax.plot(path.strengths[best], path.test_scores[best], "o", color="C3", label="best")
    ax.set_ylabel(path.score_name)
    ax.legend(fontsize=8)
