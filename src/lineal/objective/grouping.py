"""Columns in groups: which column is in which, and sums over the columns of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.objective.losses import FloatArray


@dataclass(frozen=True, eq=False)
class Grouping:
    """A partition of columns.

    Attributes
    ----------
    codes : array
        (d,) the group of each column, 0, 1, ...
    weights : array
        (G,) what the norm of each group counts.
    """

    codes: NDArray[np.int64]
    weights: FloatArray

    @property
    def n_columns(self) -> int:
        """d."""
        return len(self.codes)

    @property
    def n_groups(self) -> int:
        """G."""
        return len(self.weights)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """(d,) the columns, group by group."""
        return np.argsort(self.codes, kind="stable").astype(np.int64)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """(G,) how many columns each group has."""
        return np.bincount(self.codes, minlength=self.n_groups).astype(np.int64)

    @cached_property
    def start(self) -> NDArray[np.int64]:
        """(G + 1,) where the columns of each group begin in ``order``."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    @cached_property
    def is_sorted(self) -> bool:
        """Whether the columns of each group lie side by side, group by group."""
        return bool(np.all(self.codes[1:] >= self.codes[:-1]))

    @cached_property
    def is_single(self) -> bool:
        """Whether column j is group j."""
        return self.n_groups == self.n_columns and self.is_sorted

    def sums(self, x: FloatArray) -> FloatArray:
        """(G,) the sums of (d,) or (d, K) numbers over each group."""
        by_column = x if x.ndim == 1 else x[:, 0] if x.shape[1] == 1 else x.sum(axis=1)
        if self.is_single:
            return by_column
        return np.add.reduceat(by_column if self.is_sorted else by_column[self.order], self.start[:-1])

    def norms(self, w: FloatArray) -> FloatArray:
        """(G,) |w_g| of (d,) or (d, K) weights."""
        if self.is_single and w.size == len(w):
            return np.abs(w.reshape(len(w)))
        return np.sqrt(self.sums(w * w))

    def spread(self, x: NDArray[Any], like: FloatArray) -> NDArray[Any]:
        """A number for each group, given to each of its weights: (d, 1) beside (d, K) weights, else (d,)."""
        by_column = x if self.is_single else x[self.codes]
        return by_column[:, None] if like.ndim == 2 else by_column

    def least(self, x: FloatArray) -> FloatArray:
        """Numbers of weights, each replaced by the smallest of its group."""
        by_column = x if x.ndim == 1 else x.min(axis=1)
        if not self.is_single:
            by_column = np.minimum.reduceat(by_column[self.order], self.start[:-1])[self.codes]
        return np.broadcast_to(by_column[:, None] if x.ndim == 2 else by_column, x.shape)
