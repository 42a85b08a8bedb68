"""Truths against predictions, as shaded fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lineal.canvas import INK, as_list, literal, new_axes, size_in_points
from lineal.evaluation.wording import brief

if TYPE_CHECKING:
    from lineal.plot.confusions import ConfusionMatrix

# Letters that can be read, in points: with less room a field has its count alone, then its shade alone.
_ROOMY, _LEAST = 6.5, 4.5


def draw(matrix: ConfusionMatrix, ax: Any = None) -> list[Any]:
    """See :meth:`lineal.plot.confusions.ConfusionMatrix.plot`."""
    K = len(matrix.classes)
    side = float(np.clip(2.6 + 0.62 * K, 4.2, 13.0))
    axes = new_axes(1, 1, figsize=(side + 0.6, side)) if ax is None else as_list(ax)
    panel = axes[0]
    shares = np.nan_to_num(matrix.rates)
    panel.imshow(shares, cmap="Greys", vmin=0.0, vmax=1.0, aspect="equal", interpolation="nearest")
    names = [literal(label) for label in matrix.classes.tolist()]
    room = min(size_in_points(panel)) / (4.5 * K)
    _write(matrix, shares, panel, room)
    font = float(np.clip(room, 6.0, 9.5))
    is_long = max(map(len, names)) > 5
    turn = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if is_long else {}
    panel.set_xticks(range(K), names, fontsize=font, **turn)
    panel.set_yticks(range(K), names, fontsize=font)
    panel.set_xticks(np.arange(K + 1) - 0.5, minor=True)
    panel.set_yticks(np.arange(K + 1) - 0.5, minor=True)
    panel.grid(True, which="minor", color="0.85", linewidth=0.7)
    panel.tick_params(which="both", length=0, colors=INK)
    panel.spines[:].set_visible(False)
    panel.set_xlabel("prediction", color=INK)
    panel.set_ylabel("truth", color=INK)
    total = matrix.counts.sum()
    right = f"{np.trace(matrix.counts) / total:.1%}" if total > 0 else "none"
    panel.set_title(f"{right} of {brief(float(total))} rows are right", fontsize=11, loc="left")
    return axes


def _write(matrix: ConfusionMatrix, shares: Any, ax: Any, room: float) -> None:
    """The count in each field that has one, and its share of the row."""
    if room < _LEAST:
        return
    for i, j in np.argwhere(matrix.counts > 0).tolist():
        words = brief(float(matrix.counts[i, j]))
        if room >= _ROOMY:
            words += f"\n{_percent(float(shares[i, j]))}"
        style = {
            "color": "white" if shares[i, j] > 0.45 else INK,
            "fontweight": "bold" if i == j else "normal",
        }
        ax.text(j, i, words, ha="center", va="center", fontsize=min(room, 9.5), **style)


def _percent(share: float) -> str:
    """A share that is neither none nor all does not look so."""
    whole = f"{share:.0%}"
    return "<1%" if whole == "0%" and share > 0 else ">99%" if whole == "100%" and share < 1 else whole
