"""A grid over C and gamma as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from lineal.selection.svm_grid import SvmGrid

_LEVELS = 12


def draw(grid: SvmGrid, ax: Any = None) -> Any:
    """See :meth:`lineal.selection.svm_grid.SvmGrid.plot`."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plot() needs matplotlib: pip install lineal[plot]") from error
    if ax is None:
        _, ax = plt.subplots(figsize=(7, 5), layout="constrained")
    across, up = np.log2(grid.C), np.log2(grid.gamma)
    if min(grid.scores.shape) > 1 and np.ptp(grid.scores[np.isfinite(grid.scores)]) > 0:
        shown = np.ma.masked_invalid(grid.scores)
        filled = ax.contourf(across, up, shown, levels=_LEVELS, cmap="viridis")
        lines = ax.contour(across, up, shown, levels=_LEVELS, colors="white", linewidths=0.6)
        ax.clabel(lines, fontsize=7, fmt="%.3f")
        ax.figure.colorbar(filled, ax=ax, label="accuracy on held-out rows")
    tried = np.isfinite(grid.scores)
    at = np.argwhere(tried)
    ax.plot(across[at[:, 1]], up[at[:, 0]], ".", color="0.85", markersize=3)
    ax.plot(np.log2(grid.best_C), np.log2(grid.best_gamma), "*", color="#D55E00", markersize=16,
            markeredgecolor="white")  # fmt: skip
    ax.set_title(
        f"{grid.best_score:.4f} at C = {grid.best_C:g}, gamma = {grid.best_gamma:g}", fontsize=11, loc="left"
    )
    ax.set_xlabel("log2 C")
    ax.set_ylabel("log2 gamma")
    return ax
