"""Rows and columns of a least-squares problem, and what the data see of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lineal.deferred import linalg
from lineal.learners.model import Task
from lineal.objective import Intercept
from lineal.objective.losses import FloatArray

# A singular value below this share of the largest, times the number of rows, is rounding; so is a part of a
# coefficient that lies in the directions the data do not see.
_RANK, SEEN = 1e-15, 1e-7


@dataclass(frozen=True)
class Design:
    """Columns centred and scaled, and the axes along which the data see them.

    A row's centred and scaled columns z give the coordinates z V / g, in which coefficients are uncorrelated
    with variance sigma^2.
    """

    X: FloatArray
    y: FloatArray
    s: FloatArray
    has_intercept: bool
    mean: FloatArray  # (d,) 0 without an intercept
    size: FloatArray  # (d,)
    axes: FloatArray  # (d, r) V / g
    unseen: FloatArray  # (d, d - r) an orthonormal basis of what the data do not see
    n_counted: float  # rows by weight, or rows

    @classmethod
    def of(cls, task: Task, weights: str, X: FloatArray) -> Design:
        kept = task.s > 0
        X, y, s = X[kept], task.targets[kept], task.s[kept]
        has_intercept = task.problem.intercept is not Intercept.NONE
        mean = np.average(X, axis=0, weights=s) if has_intercept else np.zeros(X.shape[1])
        Z = X - mean
        size = np.sqrt(np.average(Z * Z, axis=0, weights=s))
        is_still = size <= 1e-14 * np.abs(X).max(axis=0, initial=0.0)
        Z[:, is_still], size = 0.0, np.where(is_still, 1.0, size)
        _, gains, axes = linalg.svd(Z / size * np.sqrt(s)[:, None], full_matrices=len(Z) < Z.shape[1])
        rank = int(np.sum(gains > _RANK * max(Z.shape) * gains.max(initial=0.0)))
        n_counted = float(s.sum()) if weights == "counts" else float(len(y))
        seen = axes[:rank].T / gains[:rank]
        return cls(X, y, s, has_intercept, mean, size, seen, axes[rank:].T, n_counted)

    @property
    def n_columns(self) -> int:
        return self.X.shape[1]

    @property
    def rank(self) -> int:
        return self.axes.shape[1]

    def coordinates(self, X: FloatArray) -> FloatArray:
        """(n, r) rows as the data see them."""
        return (X - self.mean) / self.size @ self.axes

    def is_seen(self, X: FloatArray) -> NDArray[np.bool_]:
        """(n,) whether a row's fitted value is determined by the data."""
        Z = (X - self.mean) / self.size
        scale = np.maximum(np.linalg.norm(Z, axis=1), 1.0)
        return np.linalg.norm(Z @ self.unseen, axis=1) <= SEEN * scale
