"""Scores that are linear in the row, and rows that a class makes impossible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lineal.objective.losses import FloatArray
from lineal.objective.rows import Rows


@dataclass(frozen=True)
class LinearScores:
    """a_k(x) = x . w_k + b_k, or -inf where class k cannot give x.

    Maximum likelihood estimates probabilities of exactly 0, whose logarithms are infinite, and 0 * -inf, a
    thing that cannot happen and did not, must be 0. So infinite weights stand apart as a barrier: class k is
    impossible where x . B_k + c_k > 0, a sum of numbers of one sign or of whole numbers, which rounds to 0
    only if it is 0.

    Attributes
    ----------
    W : (n_columns, K) finite
    b : (K,) below +inf
    barrier : (B, c) of the shapes of W and b, or None
    """

    W: FloatArray
    b: FloatArray
    barrier: tuple[FloatArray, FloatArray] | None = None

    def __call__(self, rows: Rows) -> FloatArray:
        """(n_rows, K) scores."""
        A = rows.dot(self.W)
        A += self.b
        if self.barrier is not None:
            B, c = self.barrier
            A[rows.dot(B) + c > 0] = -np.inf
        return A

    def from_ones(self) -> LinearScores:
        """The same scores of rows that are given by what they lack: of x = 1 + r, as scores of r."""
        barrier = None
        if self.barrier is not None:
            B, c = self.barrier
            barrier = (B, c + B.sum(axis=0))
        return LinearScores(self.W, self.b + self.W.sum(axis=0), barrier)
