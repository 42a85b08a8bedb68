"""Least squares of many rows, told by about as many rows as there are columns.

The objective of least squares knows the data by products of columns alone. With A = [X y], centred where an
intercept is free, and R'R = A'SA, the rows of R are data of the same objective at the same weights::

    (1/2) |S^(1/2) (X W + b - y)|^2  =  (1/2) |R_X W - R_y|^2          at the best b

so that a path over n rows costs one matrix of products, and then what a path over d rows costs. Everything
else is as it was: solvers, dual points and proofs meet a problem like any other.

Products are rounded, and rounding is charged: no entry of A'SA is off by more than ``rounding`` times the
lengths of its two columns as they came, so that no objective at weights W is off by more than half of
``rounding`` times (|y| + sum_j |w_j| |x_j|)^2. What is said of a solution is said of the rows as they came.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lineal.deferred import linalg
from lineal.objective.dual_points import units
from lineal.objective.linear_maps import native_dense
from lineal.objective.loss_sums import RowLosses
from lineal.objective.losses import FloatArray
from lineal.objective.penalties import Penalty
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.base import Solution
from lineal.solvers.offsets import near_zero

# So many rows for each column make the detour worth it, and so many columns for each fit: a fit takes two
# passes or more, and products of columns come so many for the price of one number in a pass.
_ROWS_FOR_A_COLUMN, _COLUMNS_FOR_A_FIT = 2, 8
# A score is rounded a few times on its way.
_ROUNDINGS = 8
_SAID = "products of the columns are rounded by more than that"


@dataclass(frozen=True)
class Condensed:
    """A problem of least squares with few rows, and what its solutions say of the one it was made from.

    Attributes
    ----------
    origin, problem : Problem
    centre : (d,) array
        Of the columns, and
    level : (K,) array
        of the targets; 0 without an intercept.
    lengths, target_lengths : arrays
        |S^(1/2) x_j| and |S^(1/2) y_k| of columns and targets before they were centred.
    far_lengths : (d,) array
        Those of what columns were moved by, to lie near 0: scores are rounded by as much.
    rounding : float
        What a product may be off by, relative to the lengths of its two columns.
    """

    origin: Problem
    problem: Problem
    centre: FloatArray
    level: FloatArray
    lengths: FloatArray
    target_lengths: FloatArray
    far_lengths: FloatArray
    rounding: float

    def at(self, penalty: Penalty) -> Problem:
        """The problem under another penalty."""
        return replace(self.problem, penalty=penalty)

    def charge(self, W: FloatArray, primal: float) -> float:
        """What the objective at weights W may be off by: by its products, and by scores of far columns."""
        reach = self.target_lengths + self.lengths @ np.abs(W)
        charge = self.rounding / 2 * float(reach @ reach)
        if self.far_lengths.any():
            far = float(np.linalg.norm(self.far_lengths @ np.abs(W)))
            charge += _ROUNDINGS * float(np.finfo(np.float64).eps) * np.sqrt(2 * max(primal, 0.0)) * far
        return charge

    def solution(self, found: Solution, tol: float) -> Solution:
        """The same for the problem this one was made from; its dual point is not unfolded."""
        W = np.asarray(found.W, dtype=np.float64)
        proof = found.certificate
        primal = proof.primal + self.charge(W, proof.primal)
        # The optimal weights are unknown: twice the present ones stand in for them.
        dual = proof.dual - self.charge(2 * W, proof.primal)
        gap = primal - dual
        certificate = proof.proved_again(
            primal, dual, size=self.origin.yardstick(primal), tol=tol, worst=gap, detail=_SAID
        )
        b = self.level - self.centre @ W if self.origin.intercept is Intercept.FREE else found.b
        return Solution(W, b, None, certificate, found.trace)

    def unexplained(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """For each target the weighted squares that scores of few rows leave, and those about its mean."""
        losses = self.problem.losses.rows
        assert losses is not None
        whole = np.square(losses.y).sum(axis=0)
        if self.origin.intercept is not Intercept.FREE:
            rows = self.origin.losses.rows
            assert rows is not None
            whole = rows.s @ np.square(rows.y - np.average(rows.y, axis=0, weights=rows.s))
        return np.square(Z - losses.y).sum(axis=0), whole


def condense(problem: Problem, n_fits: int) -> Condensed | None:
    """The problem with few rows, where it has one and so many fits are worth it."""
    rows, losses = problem.X.native_rows, problem.losses.rows
    if rows is None or rows.dense is None or rows is not problem.X or losses is None:
        return None
    n, d, K = rows.n_rows, rows.n_columns, problem.n_outputs
    is_plain = losses.is_quadratic and problem.intercept is not Intercept.PENALIZED
    is_worth_it = d <= _COLUMNS_FOR_A_FIT * n_fits and n >= _ROWS_FOR_A_COLUMN * (d + K)
    if not (is_plain and is_worth_it and d > 0):
        return None
    moved = near_zero(problem)
    near = problem if moved is None else moved.problem
    X, near_losses = near.X, near.losses.rows
    assert near_losses is not None
    y, s = near_losses.y, near_losses.s
    is_free = problem.intercept is Intercept.FREE
    G = X.gram(s, is_free)
    Sy = s[:, None] * y
    M = np.empty((d + K, d + K))
    M[:d, :d], M[:d, d:], M[d:, d:] = G[:d, :d], X.adjoint(Sy), y.T @ Sy
    M[d:, :d] = M[:d, d:].T
    lengths = np.sqrt(np.diag(M))
    middle = np.zeros(d + K)
    if is_free:
        total = np.append(G[:d, d], Sy.sum(axis=0))
        if not G[d, d] > 0:
            return None
        middle = total / G[d, d]
        M -= np.outer(middle, total)
    if not np.isfinite(M).all():
        return None
    R = _root(M)
    few = native_dense(np.ascontiguousarray(R[:, :d]), rows.n_threads).keeping_columns()
    targets = np.ascontiguousarray(R[:, d:])
    told = Problem(few, RowLosses(losses.loss, targets, np.ones(len(R)), K), problem.penalty, Intercept.NONE)
    centre, level = middle[:d], middle[d:]
    if moved is not None:
        centre, level = centre + moved.by, level + moved.targets_by
    rounding = (n + 4 * (d + K)) * float(np.finfo(np.float64).eps)
    far = np.zeros(d) if moved is None else np.abs(moved.by) * np.sqrt(s.sum())
    return Condensed(problem, told, centre, level, lengths[:d], lengths[d:], far, rounding)


def _root(M: FloatArray) -> FloatArray:
    """R with R'R = M, for a positive semi-definite M; columns that are constant to rounding are 0."""
    size = np.sqrt(np.maximum(np.diag(M), 0.0))
    unit = units(np.square(size))
    scaled = M * unit[:, None] * unit
    try:
        R = np.asarray(linalg.cholesky(scaled, check_finite=False))
    except linalg.LinAlgError:
        values, vectors = linalg.eigh(scaled, check_finite=False)
        R = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    return R / unit
