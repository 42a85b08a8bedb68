"""Dual coordinate ascent over rows: the solver for many columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.deferred import is_a
from lineal.objective.dual_points import feasible, gradient_point, into_domain
from lineal.objective.joint import CrammerSinger, Softmax, one_hot
from lineal.objective.losses import FloatArray, Log
from lineal.objective.penalties import L2, ElasticNet
from lineal.objective.problem import Intercept, Problem
from lineal.objective.rows import NativeRows
from lineal.solvers.base import Iterate, Solver, Start, instead, joint_map_refusal

# From this tolerance on many weights, more than a cache holds, are float32 (half the bytes); the certificate
# is about these very weights and the caller's own numbers.
SINGLE_PRECISION_TOL, _MANY_WEIGHTS = 1e-5, 50_000
# Squared size of a free intercept's constant feature, relative to the mean squared row norm. It decides
# speed alone; 0.1 .. 0.5 for its root is a flat optimum.
_BIAS = 0.3**2

# Where logistic slopes start unless the penalty is weak (|x|^2 / strength large): far enough from 0 to
# save an epoch.
_FIRST_SLOPE, _WEAK_PENALTY = 0.02, 20.0
# What a step may round, relative to the way so far (``DualState`` in epoch/dual_cd.h).
_ROUNDING = 1.01 * float(np.finfo(np.float64).eps) / 2


class DualCD(Solver):
    """Exact maximisation of the dual, one row at a time, in a new random order each epoch.

    Notes
    -----
    Needs L2 or an elastic net, and a loss with a one-row dual step (every loss of the library but
    ``Perceptron``). Guarantees: the dual never falls (without an intercept); linear rate for smooth losses.
    An epoch costs one dot and one update per stored number and class; rows that did not move rest for some.
    Published: Hsieh et al. 2008; Shalev-Shwartz and Zhang 2013; Keerthi et al. 2008 for Crammer-Singer.
    The free intercept is an augmented Lagrangian (see ``epoch/dual_cd.h``).
    """

    name = "dual_cd"

    def refusal(self, problem: Problem) -> str | None:
        """Needs a quadratic part in the penalty and a native dual step."""
        if (refusal := joint_map_refusal(self.name, problem)) is not None:
            return refusal
        if not isinstance(problem.penalty, (L2, ElasticNet)):
            return f"dual_cd needs L2 or ElasticNet, not {problem.penalty}: use {instead(problem)}"
        if isinstance(problem.loss, (Softmax, CrammerSinger)):
            if isinstance(problem.penalty, ElasticNet):
                return (
                    f"dual_cd takes joint losses under L2 only, not {problem.penalty}: use {instead(problem)}"
                )
            return None
        if is_a(problem.loss, "lineal.objective.custom:CustomLoss"):
            return f"dual_cd needs a dual step, and a custom loss such as {problem.loss} has none: use lbfgs"
        if problem.loss.native is None or problem.loss.is_rounded:
            return f"dual_cd has no dual step for {problem.loss}: use {instead(problem)}"
        if isinstance(problem.penalty, ElasticNet) and problem.n_outputs > 1:
            return "dual_cd takes an elastic net with one output only: use prox_cd"
        if isinstance(problem.penalty, ElasticNet) and problem.intercept is Intercept.PENALIZED:
            return "dual_cd takes an elastic net with a free intercept or none: use prox_cd"
        return None

    def is_patient(self, problem: Problem) -> bool:
        """Newton, behind it, soon helps with logarithms; around kinks it creeps where columns are many."""
        return not isinstance(problem.loss, (Log, Softmax))

    def iterates(self, problem: Problem, start: Start | None, tol: float, seed: int) -> Iterator[Iterate]:
        """One iterate per epoch, endlessly."""
        single = tol >= SINGLE_PRECISION_TOL and problem.X.n_columns * problem.n_outputs > _MANY_WEIGHTS
        assert isinstance(problem.X, NativeRows)
        X = problem.X
        norm2 = X.squared_norms()
        l1, l2 = _strengths(problem)
        bias2 = {
            Intercept.NONE: 0.0,
            Intercept.PENALIZED: 1.0,
            Intercept.FREE: _BIAS * max(float(norm2.mean()), 1e-300),
        }[problem.intercept]
        settings = _core.DualSettings(l2, l1, bias2, problem.intercept is Intercept.FREE)
        run = _core.DualRun(X.matrix, problem.n_outputs, seed, X.n_threads)
        U, b = self._begin(problem, start, float(norm2.mean()) / l2)
        if problem.n_outputs == 1 and not problem.loss.is_joint:
            return self._single(problem, X, norm2, settings, run, U, b, l1 / l2, tol)
        dtype = np.float32 if single else np.float64
        return self._block(problem, X, norm2, settings, run, U, b, dtype, tol)

    def _begin(
        self, problem: Problem, start: Start | None, typical_q: float
    ) -> tuple[FloatArray | None, FloatArray]:
        """The dual point to start from (None stands for 0) and the intercept that belongs to it."""
        b = np.zeros(problem.n_outputs)
        if start is not None:
            b = start.b.copy()
            U = start.U
            if U is None:
                U = gradient_point(problem, problem.scores(start.W, start.b))
            U = feasible(problem, U, start.W, start.b).U
        elif isinstance(problem.loss, Log) and typical_q <= _WEAK_PENALTY:
            U = -_FIRST_SLOPE * np.asarray(problem.y, dtype=np.float64)
        else:
            return None, b
        if problem.intercept is Intercept.PENALIZED:
            # A penalised intercept is a weight, and weights belong to U: b = -sum(s u) / l2.
            b = -problem.weighted(U).sum(axis=0) / _strengths(problem)[1]
        return U, b

    def _single(
        self,
        problem: Problem,
        X: NativeRows,
        norm2: FloatArray,
        settings: _core.DualSettings,
        run: _core.DualRun,
        U: FloatArray | None,
        b: FloatArray,
        threshold: float,
        tol: float,
    ) -> Iterator[Iterate]:
        u = np.zeros(X.n_rows) if U is None else np.ascontiguousarray(U[:, 0])
        t = _core.large_array(X.n_columns, 1)[:, 0]
        path, n_moves = 0.0, 0  # the start as so many steps more
        if U is None:
            t[:] = 0.0
        else:
            np.divide(X.adjoint(problem.weighted(U))[:, 0], -settings.l2, out=t)
            path, n_moves = float(np.sqrt(norm2) @ np.abs(problem.s * u)) / settings.l2, X.n_rows
        y, bias = np.ascontiguousarray(problem.y[:, 0]), float(b[0])
        native: Any = problem.loss.native

        def weights() -> tuple[FloatArray, FloatArray]:
            w = t if threshold == 0 else np.sign(t) * np.maximum(np.abs(t) - threshold, 0.0)
            return w[:, None], np.array([bias])

        while True:
            bias, gap = _core.dual_cd_epoch(native, X.matrix, y, problem.s, norm2, settings, run, u, t, bias)
            expected = _relative(problem, gap, u[:, None], t, tol)
            drift = _ROUNDING * (run.n_moves + n_moves + 5) * (run.path + path)
            yield Iterate(weights, lambda: u[:, None].copy(), expected, residue=settings.l2 * drift)

    def _block(
        self,
        problem: Problem,
        X: NativeRows,
        norm2: FloatArray,
        settings: _core.DualSettings,
        run: _core.DualRun,
        U: FloatArray | None,
        b: FloatArray,
        dtype: type[np.floating],
        tol: float,
    ) -> Iterator[Iterate]:
        n, K, d = X.n_rows, problem.n_outputs, X.n_columns
        is_joint = problem.loss.is_joint
        lanes = 32 // np.dtype(dtype).itemsize
        n_groups = 1 if is_joint or d == 0 else _n_groups(K, lanes)
        width = -(-K // (n_groups * lanes)) * lanes
        W = _in_lines((n_groups * d, width), dtype)
        gold = one_hot(problem.y, K) if is_joint else 0.0
        # Joint losses carry p = u + e_y; u = 0 is the certainty of the right class.
        state = np.zeros((n, K), dtype=dtype)
        state += gold if U is None else U + gold
        drift = 0.0  # how far W may be from what the state says
        if U is not None:
            start = -X.adjoint(problem.weighted(state - gold)) / settings.l2
            for group, (first, last) in zip(np.split(W, n_groups), _outputs_of(K, n_groups), strict=True):
                group[:, : last - first] = start[:, first:last]
            drift = 2 * float(np.finfo(dtype).eps) * float(np.linalg.norm(start))
        is_softmax = isinstance(problem.loss, Softmax)
        extra = np.log(np.maximum(state, 1e-9)).astype(dtype) if is_softmax else np.zeros((0, 0), dtype=dtype)
        native: Any = problem.loss.native
        shared = (problem.s, norm2, settings, run, state, extra, W, b)

        def epoch() -> float:
            if is_softmax:
                return _core.softmax_dual_cd_epoch(X.matrix, *shared)
            if is_joint:
                return _core.crammer_singer_dual_cd_epoch(X.matrix, problem.y, *shared)
            return _core.elementwise_dual_cd_epoch(native, X.matrix, problem.y, *shared)

        def dual() -> FloatArray:
            p = state.astype(np.float64)
            return p / p.sum(axis=1, keepdims=True) - gold if is_joint else p

        def weights() -> tuple[FloatArray, FloatArray]:
            if n_groups == 1:
                return W[:, :K], b
            together = np.empty((d, K), dtype=dtype)
            _core.side_by_side(W, together, X.n_threads)
            return together, b

        scale = 0.0
        while True:
            gap = epoch()
            if settings.recentre:
                b[:] -= settings.bias2 / settings.l2 * (problem.s @ (state - gold))
            # The dual hardly falls, so an old yardstick tells what is still far off.
            expected = np.inf
            if gap <= 2 * tol * scale or (scale == 0.0 and gap <= tol * problem.primal_at_zero):
                expected = _relative(problem, gap, state - gold, W, tol)
                scale = gap / expected if expected > 0 else scale
            residue = None if is_joint else settings.l2 * (drift + run.drift)
            yield Iterate(weights, dual, expected, residue=residue)


# Outputs of a few lanes stay together: rows are then shared by halves (see ``duet.h``), and their entries are
# walked over once. More fall into groups of at most so many lanes, the sums that registers hold; their number
# is even and depends on nothing else, since a group is a run of its own and threads may not change the bits.
_TOGETHER, _MOST_LANES = 4, 7


def _n_groups(n_outputs: int, lanes: int) -> int:
    if n_outputs <= _TOGETHER * lanes:
        return 1
    return 2 * -(-n_outputs // (2 * _MOST_LANES * lanes))


def _outputs_of(n_outputs: int, n_groups: int) -> list[tuple[int, int]]:
    """The outputs of each group, as the core deals them out."""
    return [(n_outputs * g // n_groups, n_outputs * (g + 1) // n_groups) for g in range(n_groups)]


def _in_lines(shape: tuple[int, int], dtype: type[np.floating]) -> NDArray[Any]:
    """Zeros that begin with a cache line, so that a row of padded weights lies in as few lines as it can."""
    line, size = 64 // np.dtype(dtype).itemsize, shape[0] * shape[1]
    room = np.zeros(size + line, dtype=dtype)
    first = -(room.ctypes.data // room.itemsize) % line
    return room[first : first + size].reshape(shape)


def _strengths(problem: Problem) -> tuple[float, float]:
    penalty = problem.penalty
    assert isinstance(penalty, (L2, ElasticNet))
    return (0.0, penalty.strength) if isinstance(penalty, L2) else (penalty.l1, penalty.l2)


def _relative(problem: Problem, gap: float, U: FloatArray, t: FloatArray, tol: float) -> float:
    """An epoch's estimated gap over the objective it belongs to; the yardstick is only built when near."""
    if gap > tol * problem.primal_at_zero:
        return np.inf
    _, l2 = _strengths(problem)
    assert isinstance(problem.X, NativeRows)
    square = problem.X.sum_of_squares(t if t.ndim == 2 else t[:, None])
    dual = -problem.conjugate_sum(into_domain(problem, U)) - l2 / 2 * square
    return gap / max(dual + gap, 1e-12 * problem.primal_at_zero, 1e-300)
