"""Weights as bars, a panel for each class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lineal.canvas import as_list, bars, new_axes

if TYPE_CHECKING:
    from lineal.plot.weights import ClassWeights


def draw(found: ClassWeights, ax: Any = None) -> list[Any]:
    """See :meth:`lineal.plot.weights.ClassWeights.plot`."""
    n = len(found.weights)
    if ax is None:
        n_columns = min(n, 4 if n > 6 else 3)
        n_rows = -(-n // n_columns)
        longest = max(1, *(len(columns) for columns in found.weights.values()))
        size = (max(3.3 * n_columns, 5.5), (0.75 + 0.21 * longest) * n_rows)
        axes = new_axes(n_rows, n_columns, figsize=size)
        for spare in axes[n:]:
            spare.remove()
        axes = axes[:n]
    else:
        axes = as_list(ax)
    for panel, (label, columns) in zip(axes, found.weights.items(), strict=False):
        bars(panel, columns, found.title(label), "weight")
    return axes
