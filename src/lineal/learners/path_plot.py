"""A path as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lineal.canvas import COLOURS, FAINT, INK, End, as_list, dress, literal, look, name_ends, new_axes
from lineal.deferred import sparse as sp
from lineal.objective.losses import FloatArray

if TYPE_CHECKING:
    from lineal.learners.path import Path

# A picture shows so many weights and names so many of them: more would be a grey area.
_DRAWN, _NAMED = 300, 20


def draw(path: Path, ax: Any = None) -> list[Any]:
    """See :meth:`lineal.learners.path.Path.plot`."""
    axes = as_list(ax)
    if ax is None:
        axes = new_axes(2, 1, sharex=True, height_ratios=(3, 1), figsize=(8, 7))
    for panel, draw_panel in zip(axes, (_draw_weights, _draw_scores), strict=False):
        panel.set_xscale("log")
        # A path is read as it was made: from the strong penalty to the weak one.
        room = (path.strengths[0] / path.strengths[-1]) ** 0.02
        panel.set_xlim(path.strengths[0] * room * 1.001, path.strengths[-1] / room / 1.001)
        draw_panel(path, panel)
    axes[-1].set_xlabel("strength of the penalty", color=INK)
    return axes


def _draw_weights(path: Path, ax: Any) -> None:
    curves, names = _curves(path)
    unproved = _unproved(path)
    ends = []
    for i, (curve, name) in enumerate(zip(curves.T, names, strict=True)):
        if i >= _NAMED:
            ax.plot(path.strengths, curve, color="0.75", linewidth=0.7, zorder=1)
            continue
        style = look(i)
        ax.plot(path.strengths, curve, linewidth=1.3, label=literal(name), **style)
        ax.plot(path.strengths[unproved], curve[unproved], "x", color=style["color"], label="_not certified")
        ends.append(End(path.strengths[-1], curve[-1], literal(name), style["color"]))
    ax.axhline(0.0, color="0.4", linewidth=0.6)
    dress(ax, _proof(path, unproved), "", "weight")
    name_ends(ax, ends)


def _unproved(path: Path) -> NDArray[np.intp]:
    """The places of points whose certificate did not close."""
    return np.flatnonzero([not certificate.converged for certificate in path.certificates])


def _proof(path: Path, unproved: NDArray[np.intp]) -> str:
    """How far from the optimum the points are at most."""
    gaps = np.array([max(certificate.relative_gap, 0.0) for certificate in path.certificates])
    n, n_left = len(gaps), len(gaps) - len(unproved)
    if not len(unproved):
        return f"{n} points, each certified: largest relative gap {gaps.max():.0e}"
    proved = f"largest certified gap {np.delete(gaps, unproved).max():.0e}" if n_left else "none is certified"
    return (
        f"{proved}; × at {len(unproved)} of {n} points: not certified, gap up to {gaps[unproved].max():.0e}"
    )


def _curves(path: Path) -> tuple[FloatArray, list[str]]:
    """(n, at most 300) weights, those that grow largest first, and their names."""
    every = sp.csc_array(sp.vstack([sp.csr_array(coef.reshape(1, -1)) for coef in path.coefs]))
    size = abs(every).max(axis=0).toarray().ravel()
    drawn = np.argsort(-size, kind="stable")[: min(_DRAWN, np.count_nonzero(size))]
    return every[:, drawn].toarray(), [path.weight_name(int(place)) for place in drawn]


def _draw_scores(path: Path, ax: Any) -> None:
    unproved = _unproved(path)
    kinds = [("train", path.train_scores, FAINT), ("test", path.test_scores, COLOURS[0])]
    for name, scores, color in kinds:
        if scores is not None:
            ax.plot(path.strengths, scores, ".-", color=color, label=name)
    for _, scores, color in kinds:
        if scores is not None:
            ax.plot(path.strengths[unproved], scores[unproved], "x", color=color, label="_not certified")
    if path.test_scores is not None:
        best = path.best()
        ax.plot(path.strengths[best], path.test_scores[best], "o", color=COLOURS[1], label="best")
    dress(ax, "", "", path.score_name)
    ax.legend(fontsize=8, frameon=False)
