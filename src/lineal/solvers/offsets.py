"""Columns far from 0: a year, a time in seconds, a number of an order.

With a free intercept a column may be moved by any amount: X W + b and (X - 1 m') W + (b + m' W) are the same
scores, nothing else in the objective sees b, and sum_i s_i u_i = 0 makes V the same too. Solvers cannot do
without it: where a column is c of its deviations away from 0, products of columns agree in all but the last
1 / c^2 of their digits, and what tells the column from the constant is lost.

A column moves by its value in the first row: what is left is exact, whole numbers stay whole, and a column
that hardly changes is 0 nearly everywhere.

Cost: a look at some rows. Where there is such a column, a copy of X.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.objective.certificate import Stop
from lineal.objective.losses import FloatArray
from lineal.objective.problem import Intercept, Problem
from lineal.objective.rows import NativeRows, NumpyRows, native_dense
from lineal.solvers.base import Solution, Start

# So many deviations from 0 are far, among so many rows at first.
_FAR, _GLANCE = 1e4, 64
_ROUNDED = "scores of columns so far from 0 are rounded by more than that. Subtract the offsets"


@dataclass(frozen=True)
class Moved:
    """A problem whose columns lie near 0, and how its weights are those of the one it was made from."""

    origin: Problem
    problem: Problem
    by: FloatArray

    def intercept(self, W: FloatArray, b: FloatArray) -> FloatArray:
        """That of this problem which gives the scores of b in the one it was made from."""
        return b + self.by @ W

    def primal(self, W: FloatArray, b: FloatArray) -> float:
        """The objective of weights of the problem this one was made from.

        Their scores are rounded there as predictions will be; that may make it larger, not smaller.
        """
        return max(self.origin.primal(W, b), self.problem.primal(W, self.intercept(W, b)))

    def start(self, start: Start | None) -> Start | None:
        """Where a solver of this problem starts."""
        return None if start is None else replace(start, b=self.intercept(start.W, start.b))

    def solution(self, found: Solution, tol: float) -> Solution:
        """The same for the problem this one was made from."""
        W = np.asarray(found.W, dtype=np.float64)
        b = found.b - self.by @ W
        known, primal = found.certificate, self.primal(W, b)
        relative = self.origin.relative_gap(primal, known.dual)
        is_done = bool(relative <= tol)
        is_lost = known.converged and not is_done
        certificate = replace(
            known,
            primal=primal,
            gap=primal - known.dual,
            relative_gap=relative,
            converged=is_done,
            reason=Stop.STALLED.sentence(_ROUNDED) if is_lost else known.reason,
            stop=Stop.STALLED if is_lost else known.stop,
        )
        return replace(found, b=b, certificate=certificate)


def near_zero(problem: Problem) -> Moved | None:
    """The problem with columns near 0; None where they are, or where they cannot be moved."""
    X = problem.X
    if problem.intercept is not Intercept.FREE:
        return None
    if isinstance(X, NativeRows) and X.dense is not None:
        dense, n_threads = X.dense, X.n_threads
    elif isinstance(X, NumpyRows) and not X.is_sparse:
        dense, n_threads = np.asarray(X.X), None
    else:
        return None
    far = _far(dense[:: max(1, len(dense) // _GLANCE)], np.arange(dense.shape[1]))
    far = _far(dense, far) if len(far) else far
    if not len(far):
        return None
    by = np.zeros(dense.shape[1])
    by[far] = dense[0, far]
    near = np.ascontiguousarray(dense - by.astype(dense.dtype))
    rows = NumpyRows(near) if n_threads is None else native_dense(near, n_threads)
    return Moved(problem, replace(problem, X=rows), by)


def _far(rows: NDArray[np.floating[Any]], columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """Those of the columns that are far from 0 in these rows."""
    some = rows[:, columns].astype(np.float64)
    first = some[0].copy()
    with np.errstate(over="ignore", invalid="ignore"):
        some -= first
        spread = np.sqrt(np.mean(np.square(some - some.mean(axis=0)), axis=0))
        # A constant is no column to tell from the intercept, and moved only where it is large.
        return columns[np.abs(first + some.mean(axis=0)) > _FAR * np.where(spread > 0, spread, 1.0)]
