"""Rows taken a few at a time, for stochastic epochs; all arithmetic with rows is the core's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.objective.loss_sums import RowLosses
from lineal.objective.losses import FloatArray, Squared
from lineal.solvers.primal import Objective


@dataclass(frozen=True)
class Batches:
    """All rows of a problem in batches of one size, in a new order each epoch.

    ``order`` and ``size`` are what the core's own epochs want (sgd, svrg and gd, for losses that the core
    knows and penalties made of one l1 and one l2); all else runs in NumPy and meets the rows batch by batch
    (``epoch``), at some thirty microseconds a batch and a pass over all of W beside the rows themselves.
    """

    objective: Objective
    losses: RowLosses
    size: int
    matrix: _core.Matrix
    slopes: _core.RowSlopes
    is_known: bool  # whether the core has the loss's slopes

    @staticmethod
    def of(objective: Objective, size: int) -> Batches:
        """The batches of a problem."""
        problem = objective.problem
        losses, rows = problem.losses.rows, problem.X.native_rows
        assert losses is not None
        assert rows is not None
        known = losses.loss.row_slopes(losses.y, losses.n_outputs)
        # The slope of z^2 / 2 is the score itself.
        slopes = (
            _core.RowSlopes.of_scores(Squared().native, np.zeros(losses.shape)) if known is None else known
        )
        return Batches(objective, losses, min(size, rows.n_rows), rows.matrix, slopes, known is not None)

    @property
    def has_native_epochs(self) -> bool:
        """Whether the core can run a whole epoch of plain steps."""
        penalty = self.objective.problem.penalty
        return self.is_known and penalty.is_elastic and penalty.is_uniform

    @property
    def n_batches(self) -> int:
        """How many batches an epoch has."""
        return -(-self.objective.problem.X.n_rows // self.size)

    def order(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Every row once."""
        return rng.permutation(self.objective.problem.X.n_rows)

    def epoch(self, rng: np.random.Generator) -> Iterator[Batch]:
        """Every row once; the last batch may be smaller."""
        order = self.order(rng)
        for first in range(0, len(order), self.size):
            yield Batch(self, order[first : first + self.size])

    def largest_row(self, scale: FloatArray) -> float:
        """The largest s_i |x_i|^2 over rows, the intercept's 1 included, in coordinates theta / scale."""
        squares, constant = (part[..., 0] for part in self.objective.split(scale * scale))
        norms = np.empty(self.objective.problem.X.n_rows)
        _core.squared_dot(self.matrix, np.ascontiguousarray(squares), norms)
        return float((self.losses.s * (norms + float(constant))).max(initial=0.0))

    def smoothness(self, whole: float, scale: FloatArray, curvature: float) -> float:
        """The curvature that steps on batches meet in expectation (Gower et al. 2019).

        It runs from the largest row's, n max_i s_i |x_i|^2, for single rows to that of P for all rows.
        """
        n, k = self.objective.problem.X.n_rows, self.size
        if n == 1:
            return whole
        alone = n * curvature * self.largest_row(scale)
        return (n * (k - 1) * whole + (n - k) * alone) / (k * (n - 1))


@dataclass(frozen=True)
class Batch:
    """Some rows of a problem; n / |batch| makes their sum stand for all rows."""

    batches: Batches
    index: NDArray[np.int64]

    def slopes(self, theta: FloatArray) -> FloatArray:
        """u_i at the rows of the batch, (|batch|, K)."""
        losses = self.batches.losses
        U = np.empty((len(self.index), losses.n_outputs))
        _core.batch_slopes(self.batches.slopes, self.batches.matrix, self.index, theta, U)
        return U if self.batches.is_known else losses.loss.derivative(losses.y[self.index], U)

    def back(self, U: FloatArray) -> FloatArray:
        """(n / |batch|) sum_{i in batch} s_i x_i u_i', flat."""
        s = self.batches.losses.s
        share = len(s) / len(self.index) * s[self.index]
        gradient = np.empty(self.batches.objective.n_parameters)
        _core.batch_adjoint(self.batches.matrix, self.index, share[:, None] * U, gradient)
        return gradient
