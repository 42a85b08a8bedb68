"""A primal-dual interior-point method for losses that are piecewise linear or quadratic.

Such a loss has a conjugate c u + e |u| + q u^2 / 2 on an interval l <= u <= h. A tube e > 0 is two
variables, u = u1 + u2 with u1 >= 0 >= u2, each with a linear cost, and a part l1 |w_j| of the penalty is one
more row, a loss l1 |z| of the score z = w_j. So the dual is a quadratic programme over intervals, whatever
the loss; ``epoch/interior_point.h`` has its equations and the steps. A step's linear system has as many
unknowns as there are columns, or rows where those are fewer (Woodbury).

Steps end near the optimum, and not on it: of a distance to an end of the interval and its multiplier both are
tiny. Where the gap has become small, the smaller of the two is 0 in what is returned, so that rows off the
margin have a dual variable of 0, and weights that L1 holds at 0 are 0.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.cancellation import break_off_if_over
from lineal.objective.dual_points import aligned
from lineal.objective.linear_maps import NativeRows
from lineal.objective.losses import FloatArray
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.base import LOSS_A_ROW, OWN_WEIGHTS, ROWS, Iterate, Need, Solver, Start, State, state_of
from lineal.solvers.costs import Cost, factor, gram, passes

# As many unknowns a system may have.
LIMIT = 2000
# Steps that are enough on nearly all tables, and the most that are taken.
_STEPS, _MOST_STEPS = 25, 120
# Near the optimum a step gains a factor of ten or more: where one takes at most so many seconds, steps go on
# to this gap, and the answer is exact to all the digits that others state.
_CHEAP, _EXACT = 2e-3, 1e-9
# Where that is not enough for a proof, steps go on to this share of it.
_FURTHER = 1e-3
# From this gap on it is decided which variables are at an end of their interval.
_NEAR = 1e-3

# Seconds that the arithmetic of a step takes for a row, beside its passes over X.
_ROW = 2.5e-8

_NEEDS = (
    LOSS_A_ROW,
    Need(
        "a loss that is piecewise linear or quadratic",
        "loss",
        lambda p: p.losses.has_quadratic_conjugate and p.losses.is_by_score,
    ),
    OWN_WEIGHTS,
    ROWS,
    Need(
        "a penalty of parts l1 and l2",
        "penalty",
        lambda p: p.penalty.is_elastic and p.constants_penalty.is_elastic,
    ),
    Need(f"at most {LIMIT:,} columns, or rows where each column has a penalty", "", lambda p: fits(p)),
)


def fits(problem: Problem) -> bool:
    """Whether the smaller system has at most ``LIMIT`` unknowns."""
    return system_size(problem) <= LIMIT


def system_size(problem: Problem) -> int:
    """How many unknowns a step's linear system has."""
    n, d = problem.X.n_rows, problem.X.n_columns + (problem.intercept is not Intercept.NONE)
    return n if _is_by_rows(problem) else d


def _is_by_rows(problem: Problem) -> bool:
    """Whether the system is one of rows: they must be fewer, and every column must cost something."""
    return problem.X.n_rows < problem.X.n_columns and not problem.penalty.has_free_columns


class InteriorPoint(Solver):
    """Mehrotra's predictor-corrector steps on the optimality conditions.

    Notes
    -----
    Needs a loss that is piecewise linear or quadratic (hinge, absolute, quantile, epsilon-insensitive, Huber
    and their squares), a penalty of parts l1 and l2, and at most 2,000 columns, or rows. Guarantees: a step
    does not depend on the units of the columns; dual points lie inside the losses' domain, so that each can
    be certified. 10 to 40 steps are enough for nearly all tables, whatever the strength; where they cost
    little they go on to a relative gap of 1e-9. A step costs one weighted Gram matrix for each output, its
    Cholesky factor and a few passes over X. A cancelled fit waits for the Gram matrix or the pass at hand.
    Published: Mehrotra 1992; Fine and Scheinberg 2001; Ferris and Munson 2002; Gertz and Wright 2003.
    """

    name = "interior"

    @property
    def needs(self) -> tuple[Need, ...]:
        """A piecewise linear or quadratic loss, an elastic penalty, few columns or rows."""
        return _NEEDS

    def cost(self, problem: Problem) -> Cost:
        """Its steps are few whatever the data."""
        return Cost.of_steps(_step_cost(problem), _STEPS)

    def is_patient(self, problem: Problem) -> bool:
        """Its steps are few, and what they have not gained yet they gain at the end."""
        return True

    def iterates(self, problem: Problem, start: Start | None, tol: float, seed: int) -> Iterator[Iterate]:
        """What it was given, which may be good enough, and one iterate a step of all outputs that still move.

        Steps begin in the middle of the domain in any case: from its edge they would be short.
        """
        kept = state_of(start) or {}
        if start is not None and not kept:
            U = start.U
            yield Iterate(lambda: (start.W, start.b), None if U is None else lambda: U, state=lambda: {})
        goal = min(tol / 2, _EXACT) if _step_cost(problem) <= _CHEAP else tol / 2
        goal = kept.get("goal", goal)
        each = kept.get("outputs", (None,) * problem.n_outputs)
        outputs = [_Output(problem, k, point) for k, point in enumerate(each)]
        for n_steps in range(kept.get("n_steps", 0), _MOST_STEPS):
            yield _iterate(problem, outputs, goal, n_steps)
            if all(output.is_done(goal) for output in outputs):
                goal *= _FURTHER  # the proof asked for more
            moving = [output for output in outputs if not output.is_done(goal)]
            if not moving:
                return
            for output in moving:
                break_off_if_over()
                output.step()


def _step_cost(problem: Problem) -> float:
    n, d = problem.X.n_rows, problem.X.n_columns
    matrix = gram(problem) * (n / d if _is_by_rows(problem) else 1.0)
    each = matrix + factor(system_size(problem)) + _ROW * n
    return passes(problem, 8) + problem.n_outputs * each


def _iterate(problem: Problem, outputs: list[_Output], goal: float, n_steps: int) -> Iterate:
    """Where all outputs stand: what they are in the limit, once they are near it."""
    d = problem.X.n_columns
    values, gaps = np.array([(abs(output.state.value), output.state.gap) for output in outputs]).T
    relative = float(gaps.sum() / values.sum()) if values.sum() > 0 else None
    is_near = relative is not None and relative <= _NEAR
    read = [output.state.read(is_near) for output in outputs]
    W, b = np.stack([w[:d] for w, _ in read], axis=1), np.zeros(len(outputs))
    if problem.intercept is not Intercept.NONE:
        b = np.array([w[d] for w, _ in read])
    U = np.stack([u for _, u in read], axis=1)
    is_end = all(output.is_done(goal) for output in outputs)
    # What was decided has moved V: it is brought back by the variables that are inside their intervals.
    dual = (lambda: aligned(problem, U, W, b)) if is_near else (lambda: U)

    def state() -> State:
        return {"outputs": tuple(each.state.state() for each in outputs), "goal": goal, "n_steps": n_steps}

    return Iterate(lambda: (W, b), dual, relative, is_worth_a_proof=is_end, state=state)


class _Output:
    """One output's run: its steps are the core's, its linear systems the map's."""

    def __init__(self, problem: Problem, k: int, kept: FloatArray | None) -> None:
        rows, X = problem.losses.rows, problem.X.native_rows
        assert rows is not None
        assert X is not None
        self._X: NativeRows = X
        self._has_constant = problem.intercept is not Intercept.NONE
        self._by_rows = _is_by_rows(problem)
        used = np.flatnonzero(rows.s > 0)
        s, form = rows.s[used], rows.loss.quadratic_conjugate(np.asarray(rows.y[used, k], dtype=np.float64))
        d, own = X.n_columns, problem.constants_penalty
        l1, l2 = (
            np.append(np.broadcast_to(part, d), np.ravel(constant)[:1] if self._has_constant else [])
            for part, constant in ((problem.penalty.l1, own.l1), (problem.penalty.l2, own.l2))
        )
        corners = np.flatnonzero(l1 > 0)
        low, high, place = form.low, form.high, form.place
        n_parts = 2 if form.tube > 0 else 1
        if n_parts == 2:
            nothing = np.zeros_like(low)
            low, high = np.append(nothing, low), np.append(high, nothing)
            place = np.append(place + form.tube, place - form.tube)
        # Unit rows weigh as much together as the data, whatever the weights are counted in.
        total = float(s.sum())
        each = total / max(len(corners), 1)
        box, none = l1[corners] / each, np.zeros(len(corners))
        squares = np.append(X.squared_adjoint(rows.s[:, None])[:, 0] / total, 1.0) if len(corners) else none
        self.state = _core.InteriorPoint.make(
            X.matrix,
            used if len(used) < X.n_rows else np.zeros(0, dtype=np.int64),
            n_parts,
            np.append(low, -box),
            np.append(high, box),
            np.append(place, none),
            np.append(np.full(len(place), form.bend), none),
            np.append(np.tile(s, n_parts), np.full(len(corners), each)),
            l2,
            corners,
            squares[corners] if len(corners) else none,
            self._has_constant,
            X.n_threads,
        )
        self._used, self._corners = used, corners
        self._products: FloatArray | None = None  # X X' / l2, where no corner changes it
        if kept is None:
            self._advance()  # to the start
        else:
            self.state.restore(kept)

    def is_done(self, goal: float) -> bool:
        """Whether nothing can be gained, or the gap is small enough."""
        state = self.state
        return state.is_done or state.gap <= goal * abs(state.value)

    def step(self) -> None:
        """One step."""
        self._advance()

    def _advance(self) -> None:
        h = self.state.curvatures()
        if not self._by_rows:
            self.state.step(self._X.gram(h, self._has_constant), False)
            return
        if self._products is None or len(self._corners):
            diagonal = self.state.diagonal()[: self._X.n_columns]
            self._products = _row_products(self._X, self._used, diagonal)
        self.state.step(self._products.copy(), True)


def _row_products(X: NativeRows, used: NDArray[np.intp], diagonal: FloatArray) -> FloatArray:
    """Products of every two rows that count, in the metric 1 / diagonal."""
    if X.dense is not None:
        rows = np.asarray(X.dense, dtype=np.float64)[used]
        return np.ascontiguousarray((rows / diagonal) @ rows.T)
    stored = X.csr()[used]
    scaled = stored.multiply(1 / diagonal[None, :]).tocsr()
    return np.ascontiguousarray((scaled @ stored.T).toarray(), dtype=np.float64)
