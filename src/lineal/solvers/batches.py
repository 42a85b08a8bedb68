"""Rows taken a few at a time, for stochastic epochs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lineal.objective.losses import FloatArray, Targets
from lineal.objective.problem import Problem
from lineal.objective.rows import NativeRows, NumpyRows
from lineal.solvers.primal import Objective


@dataclass(frozen=True)
class Batch:
    """Some rows of a problem; ``share`` is n / |batch|, which makes their sum stand for all rows."""

    objective: Objective
    index: NDArray[np.int64]
    rows: Any
    y: Targets
    s: FloatArray
    share: float

    def slopes(self, theta: FloatArray) -> FloatArray:
        """u_i at the rows of the batch, (|batch|, K)."""
        W, b = self.objective.split(theta)
        Z = np.asarray(self.rows @ W, dtype=np.float64) + b
        return self.objective.problem.loss.derivative(self.y, Z)

    def back(self, U: FloatArray) -> FloatArray:
        """(n / |batch|) sum_{i in batch} s_i x_i u_i', flat."""
        SU = (self.share * self.s)[:, None] * U
        return self.objective.flat(np.asarray(self.rows.T @ SU, dtype=np.float64), SU.sum(axis=0))

    def gradient(self, theta: FloatArray) -> FloatArray:
        """An unbiased estimate of the gradient of the losses."""
        return self.back(self.slopes(theta))


@dataclass(frozen=True)
class Batches:
    """All rows of a problem in batches of one size, in a new order each epoch.

    The rows are met through NumPy and SciPy, so that an epoch of small batches costs thirty
    microseconds or more a batch beside its arithmetic, which includes all columns of W.
    """

    objective: Objective
    size: int
    table: Any

    @staticmethod
    def of(objective: Objective, size: int) -> Batches:
        """The batches of a problem; a sparse matrix is read from the core once."""
        return Batches(objective, min(size, objective.problem.X.n_rows), _table(objective.problem))

    @property
    def n_batches(self) -> int:
        """How many batches an epoch has."""
        return -(-self.objective.problem.X.n_rows // self.size)

    def epoch(self, rng: np.random.Generator) -> Iterator[Batch]:
        """Every row once; the last batch may be smaller."""
        problem = self.objective.problem
        n = problem.X.n_rows
        order = rng.permutation(n)
        # Sparse rows are put in order once; dense ones are gathered batch by batch, without a copy of X.
        shuffled = self.table[order] if problem.X.is_sparse else None
        for first in range(0, n, self.size):
            index = order[first : first + self.size]
            rows = self.table[index] if shuffled is None else shuffled[first : first + self.size]
            yield Batch(self.objective, index, rows, problem.y[index], problem.s[index], n / len(index))

    def largest_row(self, scale: FloatArray) -> float:
        """The largest s_i |x_i|^2 over rows, the intercept's 1 included, in coordinates theta / scale."""
        squares, constant = (part[..., 0] for part in self.objective.split(scale * scale))
        table = self.table.power(2) if self.objective.problem.X.is_sparse else self.table * self.table
        norms = np.asarray(table @ squares, dtype=np.float64) + float(constant)
        return float((self.objective.problem.s * norms).max(initial=0.0))

    def smoothness(self, whole: float, scale: FloatArray, curvature: float) -> float:
        """The curvature that steps on batches meet in expectation (Gower et al. 2019).

        It runs from the largest row's, n max_i s_i |x_i|^2, for single rows to that of P for all rows.
        """
        n, k = self.objective.problem.X.n_rows, self.size
        if n == 1:
            return whole
        alone = n * curvature * self.largest_row(scale)
        return (n * (k - 1) * whole + (n - k) * alone) / (k * (n - 1))


def _table(problem: Problem) -> Any:
    X = problem.X
    if isinstance(X, NumpyRows):
        return sp.csr_array(X.X) if X.is_sparse else X.X
    assert isinstance(X, NativeRows)
    if X.dense is not None:
        return X.dense
    start, index, value = X.matrix.arrays()
    return sp.csr_array((value, index, start), shape=(X.n_rows, X.n_columns))
