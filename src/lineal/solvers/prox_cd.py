"""Proximal Newton with coordinate descent on a working set: the solver for L1 and elastic net."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.objective.dual_points import newton_point
from lineal.objective.joint import CrammerSinger
from lineal.objective.losses import FloatArray
from lineal.objective.penalties import L1, ElasticNet
from lineal.objective.problem import Intercept, Problem
from lineal.objective.rows import NativeRows
from lineal.solvers.base import Iterate, Solver, Start, zeros
from lineal.solvers.primal import through_smoothing

# A working set begins with so many columns and is kept at twice the support.
_SMALLEST_SET = 250
# Up to so many columns the quadratic model has an explicit Gram matrix.
_GRAM_LIMIT = 1500
# Proximal Newton steps on one working set, and how many of them may share one Gram matrix.
_STEPS, _REUSE = 8, 4


class ProxCD(Solver):
    """Working sets by gradient, proximal Newton on each, coordinate descent inside.

    Notes
    -----
    Needs L1 or ElasticNet; losses with kinks are smoothed in stages. Guarantees: the objective falls at
    every step; columns outside the working set are checked against the full gradient in every round. A
    round costs two passes over X, one copy of the working set's columns and a few small Gram matrices;
    joint losses take one class after another. Published: Yuan, Ho and Lin 2012; Massias et al. 2018.
    """

    name = "prox_cd"

    def refusal(self, problem: Problem) -> str | None:
        """Needs an L1 part in the penalty."""
        if isinstance(problem.loss, CrammerSinger):
            return "prox_cd does not take the joint hinge: use loss=Log() or SquaredHinge(), or an L2 penalty"
        if not isinstance(problem.penalty, (L1, ElasticNet)):
            return f"prox_cd needs L1 or ElasticNet, not {problem.penalty}: use dual_cd, newton or lbfgs"
        return None

    def iterates(self, problem: Problem, start: Start | None, tol: float, seed: int) -> Iterator[Iterate]:
        """One iterate per round of working sets."""
        if not problem.loss.is_smooth:
            yield from through_smoothing(self, problem, start, tol, seed)
            return
        W, b = zeros(problem) if start is None else (start.W.copy(), start.b.copy())
        l1, _ = _strengths(problem)
        Z = problem.scores(W, b)
        before = np.inf
        while True:
            U = problem.slopes(Z)
            V = problem.pull(U)
            violations = _violations(problem, W, b, V, problem.weighted(U).sum(axis=0))
            worst = float(violations.max(initial=0.0))
            yield _iterate(problem, W, b, Z, (worst / l1) ** 2)
            if worst == 0.0:
                return
            for k in range(problem.n_outputs):
                columns = _working_set(W[:, k], V[: len(W), k])
                _descend(problem, columns, k, W, b, Z, 0.1 * worst)
            # Scores are updated step by step; now and then they are computed afresh.
            if worst < 1e-3 * before:
                Z, before = problem.scores(W, b), worst
            before = max(before, worst) if np.isfinite(before) else worst


def _strengths(problem: Problem) -> tuple[float, float]:
    penalty = problem.penalty
    assert isinstance(penalty, (L1, ElasticNet))
    return (penalty.strength, 0.0) if isinstance(penalty, L1) else (penalty.l1, penalty.l2)


def _iterate(problem: Problem, W: FloatArray, b: FloatArray, Z: FloatArray, expected: float) -> Iterate:
    return Iterate(lambda: (W.copy(), b.copy()), lambda: newton_point(problem, W, b, Z), expected)


def _violations(
    problem: Problem, W: FloatArray, b: FloatArray, V: FloatArray, sums: FloatArray
) -> FloatArray:
    """How far each weight's condition 0 in V + dR(W) is from holding; a free intercept's is its sum."""
    l1, l2 = _strengths(problem)
    w = problem.penalised(W, b)
    slope = V + l2 * w
    violation = np.where(w != 0, np.abs(slope + l1 * np.sign(w)), np.maximum(np.abs(slope) - l1, 0.0))
    if problem.intercept is Intercept.FREE:
        violation = np.vstack([violation, np.abs(sums)])
    return violation


def _working_set(w: FloatArray, v: FloatArray) -> NDArray[np.int64]:
    """The support and the columns whose gradient is largest."""
    support = np.flatnonzero(w)
    size = max(_SMALLEST_SET, 2 * len(support))
    if size >= len(w):
        return np.arange(len(w))
    strength = np.abs(v)
    strength[support] = np.inf
    return np.sort(np.argpartition(-strength, size - 1)[:size])


@dataclass
class _Model:
    """The quadratic model on a working set: its Gram matrix, or the columns themselves."""

    G: FloatArray | None
    columns: NativeRows | None
    h: FloatArray
    age: int = 0


def _descend(
    problem: Problem,
    columns: NDArray[np.int64],
    k: int,
    W: FloatArray,
    b: FloatArray,
    Z: FloatArray,
    tol: float,
) -> None:
    """Proximal Newton steps on output k's working set, until its own violation is below ``tol``; in place."""
    l1, l2 = _strengths(problem)
    has_constant = problem.intercept is not Intercept.NONE
    n_free = int(problem.intercept is Intercept.FREE)
    assert isinstance(problem.X, NativeRows)
    X = problem.X.take_columns(columns) if len(columns) < problem.X.n_columns else problem.X
    w = np.append(W[columns, k], b[k]) if has_constant else W[columns, k].copy()
    penalty = problem.penalty
    penalised = slice(None, -1) if n_free else slice(None)
    value = problem.loss_sum(Z)
    model: _Model | None = None
    for _ in range(_STEPS):
        su = problem.s * problem.slopes(Z)[:, k]
        gradient = X.adjoint(su[:, None])[:, 0]
        if has_constant:
            gradient = np.append(gradient, su.sum())
        if _set_violation(w, gradient, l1, l2, n_free) <= tol:
            break
        if model is None or model.age >= _REUSE:
            model = _build_model(X, problem.s * problem.floored_curvatures(Z)[:, k], has_constant)
        model.age += 1
        following = _minimise_model(model, X, gradient, w, su, l1, l2, n_free, has_constant, 0.3 * tol)
        move = following - w
        moved_scores = X.dot(move[: len(columns), None])[:, 0] + (move[-1] if has_constant else 0.0)
        promised = float(gradient @ move) + penalty.value(following[penalised]) - penalty.value(w[penalised])
        if not promised < 0:
            if model.age > 1:
                model = None
                continue
            break
        t, here = 1.0, penalty.value(w[penalised])
        column = Z[:, k].copy()
        while True:
            Z[:, k] = column + t * moved_scores
            there = problem.loss_sum(Z)
            change = there - value + penalty.value((w + t * move)[penalised]) - here
            if change <= 0.01 * t * promised + 1e-15 * abs(value):
                break
            t /= 2
            if t < 1e-8:
                Z[:, k] = column
                break
        if t < 1e-8:
            if model.age > 1:
                model = None
                continue
            break
        if t < 1.0:
            model.age = _REUSE  # the model was poor: build a new one
        w, value = w + t * move, there
    W[columns, k] = w[: len(columns)]
    if has_constant:
        b[k] = w[-1]


def _set_violation(w: FloatArray, gradient: FloatArray, l1: float, l2: float, n_free: int) -> float:
    slope = gradient + l2 * w
    violation = np.where(w != 0, np.abs(slope + l1 * np.sign(w)), np.maximum(np.abs(slope) - l1, 0.0))
    if n_free:
        violation[-1] = abs(gradient[-1])
    return float(violation.max(initial=0.0))


def _build_model(X: NativeRows, h: FloatArray, has_constant: bool) -> _Model:
    if X.n_columns <= _GRAM_LIMIT:
        G = X.gram(h, has_constant)
        return _Model(G, None, h)
    return _Model(None, X.transposed(), h)


def _minimise_model(
    model: _Model,
    X: NativeRows,
    gradient: FloatArray,
    w: FloatArray,
    su: FloatArray,
    l1: float,
    l2: float,
    n_free: int,
    has_constant: bool,
    tol: float,
) -> FloatArray:
    following = w.copy()
    if model.G is not None:
        _core.gram_cd(model.G, n_free, l1, l2, gradient.copy(), following, tol, 2000)
        return following
    assert model.columns is not None
    d = X.n_columns
    inner = following[:d].copy()
    curvature = X.squared_adjoint(model.h[:, None])[:, 0]
    bias, _, _ = _core.column_cd(
        model.columns.matrix, model.h, n_free, has_constant, l1, l2, curvature, su.copy(), inner,
        float(following[-1]) if has_constant else 0.0, tol, 100,
    )  # fmt: skip
    following[:d] = inner
    if has_constant:
        following[-1] = bias
    return following
