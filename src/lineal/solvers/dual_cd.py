"""Dual coordinate ascent over rows: the solver for many columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.objective.dual_points import feasible, gradient_point
from lineal.objective.joint import one_hot
from lineal.objective.linear_maps import FLOAT32_ROUNDING, NativeRows
from lineal.objective.loss_sums import RowLosses
from lineal.objective.losses import FloatArray
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.base import LOSS_A_ROW, OWN_WEIGHTS, ROWS, Iterate, Need, Solver, Start, State, state_of
from lineal.solvers.costs import Cost, row_steps

# From this tolerance on many weights, more than a cache holds, are float32 (half the bytes); the certificate
# is about these very weights and the caller's own numbers.
SINGLE_PRECISION_TOL, _MANY_WEIGHTS = 1e-5, 50_000
# From so many numbers of sparse rows on, which no cache near a core holds, epochs of one output walk over a
# float32 copy: it takes a third of an epoch to make, and a quarter of each epoch less to read.
_MANY_NUMBERS = 1_000_000
# Squared size of a free intercept's constant feature, relative to the mean squared row norm. It decides
# speed alone; 0.1 .. 0.5 for its root is a flat optimum.
_BIAS = 0.3**2

# Where logistic slopes start unless the penalty is weak (|x|^2 / strength large): far enough from 0 to
# save an epoch.
_FIRST_SLOPE, _WEAK_PENALTY = 0.02, 20.0
# What a step may round, relative to the way so far (``DualState`` in epoch/dual_cd.h).
_ROUNDING = 1.01 * float(np.finfo(np.float64).eps) / 2

# Epochs that are usual, and further ones for each unit of the condition number, by the kind of loss.
_USUAL_EPOCHS, _BY_LOGARITHMS, _BY_SQUARES, _BY_KINKS = 8.0, 0.07, 0.7, 3.0
# With at most so many rows a column, data themselves bound the condition number: by this at most.
_WELL_SPREAD, _CONDITION = 2.0, 400.0
_HOPELESS = 1e5  # no prediction needs to tell larger ones apart

_NEEDS = (
    LOSS_A_ROW,
    OWN_WEIGHTS,
    ROWS,
    Need(
        "L2 or an elastic net, the same for all columns",
        "penalty",
        lambda p: p.penalty.is_strongly_convex and p.penalty.is_uniform,
    ),
    Need("a loss with a dual step in the core", "loss", lambda p: p.losses.has_dual_step),
    Need(
        "a loss of one output, and a free intercept or none, where the penalty has an L1 part",
        "loss and penalty",
        lambda p: (
            p.penalty.is_ridge
            or (p.losses.is_by_score and p.n_outputs == 1 and p.intercept is not Intercept.PENALIZED)
        ),
    ),
    Need(
        "the penalty of the weights for the intercept, too",
        "penalty",
        lambda p: p.intercept_penalty is None,
    ),
)


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

    @property
    def needs(self) -> tuple[Need, ...]:
        """A strongly convex penalty that is the same for all columns, and dual steps in the core."""
        return _NEEDS

    def cost(self, problem: Problem) -> Cost:
        """A step on every row, in epochs that grow with the condition number."""
        losses = problem.losses
        rate = _BY_LOGARITHMS if losses.is_likelihood else _BY_SQUARES if losses.is_smooth else _BY_KINKS
        return Cost.of_epochs(row_steps(problem), _USUAL_EPOCHS + rate * _condition(problem))

    def is_patient(self, problem: Problem) -> bool:
        """Newton, behind it, soon helps with logarithms; around kinks it creeps where columns are many.

        Blocks of joint hinges creep themselves, and L-BFGS behind them does not.
        """
        return not problem.losses.is_likelihood and problem.losses.is_by_score

    def iterates(self, problem: Problem, start: Start | None, tol: float, seed: int) -> Iterator[Iterate]:
        """One iterate per epoch, endlessly."""
        single = tol >= SINGLE_PRECISION_TOL and problem.X.n_columns * problem.n_outputs > _MANY_WEIGHTS
        X, losses = problem.X.native_rows, problem.losses.rows
        assert X is not None
        assert losses is not None
        norm2 = X.squared_norms
        l1, l2 = problem.penalty.l1, problem.penalty.l2
        bias2 = {
            Intercept.NONE: 0.0,
            Intercept.PENALIZED: 1.0,
            Intercept.FREE: _BIAS * max(float(norm2.mean()), 1e-300),
        }[problem.intercept]
        settings = _core.DualSettings(l2, l1, bias2, problem.intercept is Intercept.FREE)
        is_single_output = problem.n_outputs == 1 and losses.is_by_score
        rounding = 0.0
        if is_single_output and tol >= SINGLE_PRECISION_TOL and X.n_stored >= _MANY_NUMBERS:
            copy = X.in_float32()
            if copy is not None:
                X, rounding = copy, FLOAT32_ROUNDING
        # For one output, putting rows in order takes longer than two threads save that share ordered ones.
        matrix = X.given if is_single_output else X.matrix
        run = _core.DualRun(matrix, problem.n_outputs, seed, X.n_threads)
        kept = state_of(start)
        U, b = None, np.zeros(problem.n_outputs)
        if kept is None:
            U, b = self._begin(problem, losses, start, float(norm2.mean()) / l2)
        else:
            run.restore(**kept["run"])
        if is_single_output:
            return self._single(problem, losses, X, norm2, settings, run, U, b, l1 / l2, tol, kept, rounding)
        dtype = np.float32 if single else np.float64
        return self._block(problem, losses, X, norm2, settings, run, U, b, dtype, tol, kept)

    def _begin(
        self, problem: Problem, losses: RowLosses, start: Start | None, typical_q: float
    ) -> tuple[FloatArray | None, FloatArray]:
        """The dual point to start from (None stands for 0) and the intercept that belongs to it."""
        b = np.zeros(problem.n_outputs)
        if start is not None:
            b = start.b.copy()
            U = start.U
            if U is None:
                U = gradient_point(problem, problem.scores(start.W, start.b))
            U = feasible(problem, U, start.W, start.b).U
        elif losses.is_likelihood and losses.is_by_score and typical_q <= _WEAK_PENALTY:
            U = -_FIRST_SLOPE * np.asarray(losses.y, dtype=np.float64)
        else:
            return None, b
        if problem.intercept is Intercept.PENALIZED:
            # A penalised intercept is a weight, and weights belong to U: b = -sum(s u) / l2.
            b = -losses.sums(U) / problem.penalty.l2
        return U, b

    def _single(
        self,
        problem: Problem,
        losses: RowLosses,
        X: NativeRows,
        norm2: FloatArray,
        settings: _core.DualSettings,
        run: _core.DualRun,
        U: FloatArray | None,
        b: FloatArray,
        threshold: float,
        tol: float,
        kept: State | None,
        rounding: float,
    ) -> Iterator[Iterate]:
        lengths = np.sqrt(norm2)
        u = np.zeros(X.n_rows) if U is None else np.ascontiguousarray(U[:, 0])
        t = _core.large_array(X.n_columns, 1)[:, 0]
        path, n_moves = 0.0, 0  # the start as so many steps more
        if U is None:
            t[:] = 0.0
        else:
            np.divide(X.adjoint(losses.pull(U))[:, 0], -settings.l2, out=t)
            path, n_moves = float((lengths * np.abs(losses.s * u)).sum()) / settings.l2, X.n_rows
        y, bias = np.ascontiguousarray(losses.y[:, 0]), float(b[0])
        if kept is not None:
            u, t, bias, path, n_moves = (kept[name] for name in ("u", "t", "bias", "path", "n_moves"))
        native: Any = losses.loss.native

        def weights() -> tuple[FloatArray, FloatArray]:
            w = t if threshold == 0 else np.sign(t) * np.maximum(np.abs(t) - threshold, 0.0)
            return w[:, None], np.array([bias])

        def state() -> State:
            return {"run": run.state(), "u": u, "t": t, "bias": bias, "path": path, "n_moves": n_moves}

        if kept is not None:
            yield Iterate(weights)
        while True:
            bias, gap = _core.dual_cd_epoch(native, X.given, y, losses.s, norm2, settings, run, u, t, bias)
            expected = _relative(problem, gap, u[:, None], t, tol)
            drift = _ROUNDING * (run.n_moves + n_moves + 5) * (run.path + path)
            residue = settings.l2 * drift
            if rounding:  # rows that differ so much from those that the weights are to be made of
                residue += rounding * float((lengths * np.abs(losses.s * u)).sum())
            yield Iterate(weights, lambda: u[:, None].copy(), expected, residue=residue, state=state)

    def _block(
        self,
        problem: Problem,
        losses: RowLosses,
        X: NativeRows,
        norm2: FloatArray,
        settings: _core.DualSettings,
        run: _core.DualRun,
        U: FloatArray | None,
        b: FloatArray,
        dtype: type[np.floating],
        tol: float,
        kept: State | None,
    ) -> Iterator[Iterate]:
        n, K, d = X.n_rows, problem.n_outputs, X.n_columns
        is_joint = not losses.is_by_score
        lanes = 32 // np.dtype(dtype).itemsize
        n_groups = 1 if is_joint or d == 0 else _n_groups(K, lanes)
        width = -(-K // (n_groups * lanes)) * lanes
        W = _in_lines((n_groups * d, width), dtype)
        gold = one_hot(losses.y, K) if is_joint else 0.0
        # P: joint losses carry p = u + e_y; u = 0 is the certainty of the right class.
        P = np.zeros((n, K), dtype=dtype)
        P += gold if U is None else U + gold
        drift = 0.0  # how far W may be from what the state says
        if U is not None:
            start = -X.adjoint(losses.pull(P - gold)) / settings.l2
            for group, (first, last) in zip(np.split(W, n_groups), _outputs_of(K, n_groups), strict=True):
                group[:, : last - first] = start[:, first:last]
            drift = 2 * float(np.finfo(dtype).eps) * float(np.linalg.norm(start))
        keeps_logs = losses.loss.keeps_logs
        logs = np.log(np.maximum(P, 1e-9)).astype(dtype) if keeps_logs else np.zeros((0, 0), dtype=dtype)
        epoch = losses.loss.block_epoch
        assert epoch is not None

        def dual() -> FloatArray:
            p = P.astype(np.float64)
            return p / p.sum(axis=1, keepdims=True) - gold if is_joint else p

        def weights() -> tuple[FloatArray, FloatArray]:
            if n_groups == 1:
                return W[:, :K], b
            together = np.empty((d, K), dtype=dtype)
            _core.side_by_side(W, together, X.n_threads)
            return together, b

        scale = 0.0

        def state() -> State:
            return {
                "run": run.state(), "P": P, "logs": logs, "W": W, "b": b, "drift": drift, "scale": scale
            }  # fmt: skip

        if kept is not None:
            P, logs, b, drift, scale = (kept[name] for name in ("P", "logs", "b", "drift", "scale"))
            W[:] = kept["W"]
            yield Iterate(weights)
        while True:
            gap = epoch(X.matrix, losses.y, losses.s, norm2, settings, run, P, logs, W, b)
            if settings.recentre:
                b[:] -= settings.bias2 / settings.l2 * (losses.s @ (P - gold))
            # The dual hardly falls, so an old yardstick tells what is still far off.
            expected = np.inf
            if gap <= 2 * tol * scale or (scale == 0.0 and gap <= tol * losses.at_zero):
                expected = _relative(problem, gap, P - gold, W, tol)
                scale = gap / expected if expected > 0 else scale
            residue = None if is_joint else settings.l2 * (drift + run.drift)
            yield Iterate(weights, dual, expected, residue=residue, state=state)


def _condition(problem: Problem) -> float:
    """What a column's sum of squares is in units of the penalty: how many epochs in a row go the same way.

    Where there are not many more rows than columns, it is the spread of the squared singular values, if that
    is less: as if the columns had nothing to do with one another (Marchenko and Pastur 1967).
    """
    X, rows = problem.X.native_rows, problem.losses.rows
    if X is None or rows is None or not X.n_columns:
        return 0.0
    n, d = X.n_rows, X.n_columns
    # No product of vectors: threads of BLAS that such a one starts spin for longer than a plan takes.
    curvature = min(float((rows.s * X.squared_norms).sum()) / d / problem.penalty.l2, _HOPELESS)
    if n > _WELL_SPREAD * d:
        return curvature
    share = np.sqrt(min(n / d, 1.0))
    spread = ((1 + share) / (1 - share)) ** 2 if share < 1.0 else np.inf
    return min(curvature, spread, _CONDITION)


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


def _relative(problem: Problem, gap: float, U: FloatArray, t: FloatArray, tol: float) -> float:
    """An epoch's estimated gap over the objective it belongs to; the yardstick is only built when near."""
    losses = problem.losses
    if gap > tol * losses.at_zero:
        return np.inf
    square = problem.X.sum_of_squares(t if t.ndim == 2 else t[:, None])
    dual = -losses.conjugate(losses.into_domain(U)) - problem.penalty.l2 / 2 * square
    return gap / max(problem.yardstick(max(dual + gap, 0.0)), 1e-300)
