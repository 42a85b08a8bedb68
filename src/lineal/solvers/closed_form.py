"""Least squares by its normal equations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lineal.deferred import linalg
from lineal.objective.dual_points import units
from lineal.objective.losses import FloatArray, Squared
from lineal.objective.penalties import L2, NoPenalty
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.base import Iterate, Solver, Start, Weights, instead
from lineal.solvers.newton import solve_positive

# From a residual and the present weights to the change that explains the residual.
Solve = Callable[[FloatArray, FloatArray, FloatArray], Weights]

# The smaller of rows and columns that is still factorised.
LIMIT = 5000


class ClosedForm(Solver):
    """(X'S X + strength I)^-1 X'S y, or its dual form when there are fewer rows than columns.

    Notes
    -----
    Needs ``Squared`` and L2 or no penalty. Guarantees: one step, exact to rounding; without a penalty and
    with collinear columns, the solution of least norm. Costs one Gram matrix and one factorisation.
    Published: Gauss 1809; the dual form is Saunders, Gammerman and Vovk 1998.
    """

    name = "closed_form"

    def refusal(self, problem: Problem) -> str | None:
        """Needs least squares and a size that can be factorised."""
        if not isinstance(problem.loss, Squared):
            return f"closed_form needs loss=Squared(), not {problem.loss}: use {instead(problem)}"
        if problem.has_shared_weights:
            return f"closed_form needs a score for each column of weights: use {instead(problem)}"
        if not isinstance(problem.penalty, (L2, NoPenalty)):
            return f"closed_form needs L2 or NoPenalty, not {problem.penalty}: use {instead(problem)}"
        if isinstance(problem.penalty, NoPenalty) and problem.X.is_sparse and problem.X.n_columns > LIMIT:
            return f"closed_form without a penalty takes at most {LIMIT} sparse columns: use lbfgs or newton"
        if min(problem.X.n_rows, problem.X.n_columns) > LIMIT:
            return f"closed_form factorises at most {LIMIT} rows or columns: use newton"
        return None

    def iterates(self, problem: Problem, start: Start | None, tol: float, seed: int) -> Iterator[Iterate]:
        """One solution; by columns, also corrections of it by what rounding left."""
        n, d, K = problem.X.n_rows, problem.X.n_columns, problem.n_outputs
        strength = problem.penalty.strength if isinstance(problem.penalty, L2) else 0.0
        W, b = np.zeros((d, K)), np.zeros(K)
        if d > n and strength > 0.0:
            yield Iterate(_keep(*_by_rows(problem, strength)))
            return
        solve = _by_columns(problem, strength)
        for _ in range(3):
            # Each round solves for what the last one left of the residual: iterative refinement.
            residual = problem.y - problem.scores(W, b)
            dW, db = solve(residual, W, b)
            W, b = W + dW, b + db
            yield Iterate(_keep(W, b))


def _keep(W: FloatArray, b: FloatArray) -> Callable[[], Weights]:
    return lambda: (W, b)


def _by_columns(problem: Problem, strength: float) -> Solve:
    """Normal equations in the columns; without a penalty, by singular values, so that least norm is exact."""
    X, s, has_constant = problem.X, problem.s, problem.intercept is not Intercept.NONE
    penalises_b = problem.intercept is Intercept.PENALIZED
    d = X.n_columns
    dense = getattr(X, "dense", None)
    if strength == 0.0 and dense is not None:
        root = np.sqrt(s)[:, None]
        centre = (s @ dense) / s.sum() if has_constant else np.zeros(d)
        centred = root * (dense - centre)
        # With more columns than rows singular vectors are the rows' own, and the shortest weights theirs.
        is_wide = d > len(s)
        unit = np.ones(d) if is_wide else units(np.einsum("ij,ij->j", centred, centred))
        left, sizes, right = linalg.svd(centred * unit, full_matrices=False, check_finite=False)
        keep = sizes > sizes.max(initial=0.0) * max(dense.shape) * np.finfo(float).eps
        inverse = np.where(keep, 1.0 / np.where(keep, sizes, 1.0), 0.0)
        shorten = _shortening(unit, right[~keep].T if not is_wide else np.empty((d, 0)))

        def by_singular_values(
            residual: FloatArray, W: FloatArray, b: FloatArray
        ) -> tuple[FloatArray, FloatArray]:
            mean = (s @ residual) / s.sum() if has_constant else np.zeros(residual.shape[1])
            dW = unit[:, None] * (right.T @ (inverse[:, None] * (left.T @ (root * (residual - mean)))))
            dW = shorten(W + dW) - W
            return dW, (mean - centre @ dW) if has_constant else np.zeros_like(b)

        return by_singular_values
    G = X.gram(s, has_constant)
    bend = np.full(len(G), strength)
    if has_constant and not penalises_b:
        bend[-1] = 0.0

    def by_gram(residual: FloatArray, W: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        SR = problem.weighted(residual)
        right = X.adjoint(SR) - strength * W
        if has_constant:
            right = np.vstack([right, SR.sum(axis=0) - (strength * b if penalises_b else 0.0)])
        if strength == 0.0:
            step = _least_norm(G, right, has_constant)
        else:
            step = np.column_stack([solve_positive(G, bend, column) for column in right.T])
        return step[:d], step[d] if has_constant else np.zeros_like(b)

    return by_gram


def _least_norm(G: FloatArray, right: FloatArray, has_constant: bool) -> FloatArray:
    """The least-norm weights of singular normal equations, the intercept eliminated first: it is free."""
    if has_constant and G[-1, -1] > 0:
        edge, total = G[:-1, -1], G[-1, -1]
        inner = _least_norm(
            G[:-1, :-1] - np.outer(edge, edge) / total, right[:-1] - np.outer(edge, right[-1]) / total, False
        )
        return np.vstack([inner, (right[-1] - edge @ inner) / total])
    unit = units(np.diag(G))
    values, vectors = linalg.eigh(G * unit[:, None] * unit, check_finite=False)
    keep = values > values.max(initial=0.0) * len(G) * np.finfo(float).eps
    inverse = np.where(keep, 1.0 / np.where(keep, values, 1.0), 0.0)
    step = unit[:, None] * (vectors @ (inverse[:, None] * (vectors.T @ (unit[:, None] * right))))
    return _shortening(unit, vectors[:, ~keep])(step)


def _shortening(unit: FloatArray, silent: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """From weights to the shortest with the same scores.

    The columns of ``silent`` span the weights without a score, in the columns' units.
    """
    if silent.shape[1] == 0:
        return lambda W: W
    # What is rounding in one column's units may be much in another's.
    noise = 8 * len(unit) * np.finfo(float).eps
    basis, _ = np.linalg.qr(unit[:, None] * np.where(np.abs(silent) > noise, silent, 0.0))
    return lambda W: W - basis @ (basis.T @ W)


def _by_rows(problem: Problem, strength: float) -> Weights:
    """W = X'S^(1/2) a with (S^(1/2) X X' S^(1/2) + strength I) a = S^(1/2) y, the intercept bordered on."""
    X, n = problem.X, problem.X.n_rows
    root = np.sqrt(problem.s)
    K = _row_products(X) * root[:, None] * root[None, :]
    if problem.intercept is Intercept.PENALIZED:
        K += np.outer(root, root)
    K[np.diag_indices(n)] += strength
    factor = linalg.cho_factor(K, check_finite=False)
    a = linalg.cho_solve(factor, root[:, None] * problem.y, check_finite=False)
    b = np.zeros(problem.n_outputs)
    if problem.intercept is Intercept.FREE:
        lean = linalg.cho_solve(factor, root, check_finite=False)
        b = (root @ a) / float(root @ lean)
        a = a - np.outer(lean, b)
    SA = root[:, None] * a
    if problem.intercept is Intercept.PENALIZED:
        b = SA.sum(axis=0)
    return X.adjoint(SA), b


def _row_products(X: Any) -> FloatArray:
    if X.dense is not None:
        wide = X.dense.astype(np.float64, copy=False)
        return np.asarray(wide @ wide.T)
    return X.transposed().gram(np.ones(X.n_columns), False)
