"""A primal-dual interior-point method for losses that are piecewise linear or quadratic.

Such a loss has a conjugate c u + e |u| + q u^2 / 2 on an interval l <= u <= h. A tube e > 0 is two
variables, u = u1 + u2 with u1 >= 0 >= u2, each with a linear cost, and a part l1 |w_j| of the penalty is one
more row, a loss l1 |z| of the score z = w_j. So the dual is a quadratic programme over intervals, whatever
the loss; ``epoch/interior_point.h`` has its equations and the steps. A step's linear system has as many
unknowns as there are columns, or rows where those are fewer (Woodbury). A joint hinge adds that the K dual
variables of a row sum to 0, and has one system for all outputs, of K unknowns a column; so have groups of
weights, which hold all outputs together. A group's norm is a unit row for each of its weights, whose dual
variables lie in a ball: second-order cones in place of intervals.

Steps end near the optimum, and not on it: of a distance to an end of the interval and its multiplier both are
tiny. Where the gap has become small, the smaller of the two is 0 in what is returned, so that rows off the
margin have a dual variable of 0, and weights that L1 holds at 0 are 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from lineal import _core
from lineal.cancellation import break_off_if_over
from lineal.objective.certificate import FLOOR
from lineal.objective.dual_points import align, feasible
from lineal.objective.linear_maps import native_dense
from lineal.objective.losses import FloatArray
from lineal.objective.penalties import Penalty
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.base import LOSS_A_ROW, OWN_WEIGHTS, ROWS, Iterate, Need, Solver, Start, State, state_of
from lineal.solvers.costs import Cost, factor, gram, passes

# As many unknowns a system may have.
LIMIT = 2000
# Steps that are usual, those that are enough on nearly all tables, and the most that are taken: where few
# rows lie thousands of times further out than others it takes hundreds until their weights are found.
_USUAL_STEPS, _STEPS, _MOST_STEPS = 15, 30, 600
# Near the optimum a step gains a factor of ten or more: where one takes at most so many seconds, steps go on
# to this gap, and the answer is exact to all the digits that others state. Elsewhere they end where it can be
# told which variables are at an end of their interval.
_CHEAP, _EXACT, _DECIDED = 2e-3, 1e-9, 1e-7
# An epoch is as many steps as take so many seconds, and one at least.
_BURST = 5e-3
# Up to so many columns the core makes a weighted Gram matrix sooner than BLAS.
_NARROW = 256
# Gram matrices are made of few rows where all rows have so many times as many numbers as one system, and a
# row has so many: of shorter ones a pass over X costs as much.
_MANY_ROWS, _LONG, _LONG_SPARSE = 8, 40, 12
# Where that is not enough for a proof, steps go on to this share of it.
_FURTHER = 1e-3

# The share of the tolerance that exact zeros may cost, and the share of the largest part of the penalty below
# which a weight is taken for one.
_LITTLE, _VANISHING = 0.05, 1e-6
# The share of P that a point inside is to prove before it is preferred.
_WORTH = 0.5
# Columns are made orthonormal where that takes at most so many multiplications, ten times over; combinations
# of unit columns that are so small are rounding.
_MOST_ROTATED, _VANISHED = 1e8, 1e-13

# Seconds that the arithmetic of a step takes for a row, beside its passes over X.
_ROW = 1.2e-7

_NEEDS = (
    LOSS_A_ROW,
    Need(
        "a loss that is piecewise linear or quadratic",
        "loss",
        lambda p: p.losses.has_quadratic_conjugate,
    ),
    OWN_WEIGHTS,
    ROWS,
    Need(
        "a penalty of parts l1 and l2, or groups",
        "penalty",
        lambda p: (p.penalty.is_elastic and p.constants_penalty.is_elastic) or p.penalty.has_groups,
    ),
    Need(
        f"at most {LIMIT:,} columns (times outputs that meet), or rows where each column has its own part",
        "",
        lambda p: fits(p),
    ),
)


def fits(problem: Problem) -> bool:
    """Whether the smaller system has at most ``LIMIT`` unknowns."""
    return system_size(problem) <= LIMIT


def system_size(problem: Problem) -> int:
    """How many unknowns a step's linear system has."""
    n, d = problem.X.n_rows, problem.X.n_columns + (problem.intercept is not Intercept.NONE)
    return n if _is_by_rows(problem) else d * _n_together(problem)


def _n_together(problem: Problem) -> int:
    """How many outputs one system has: all that meet in the loss or in the penalty, or one."""
    return problem.n_outputs if problem.penalty.has_groups or not problem.losses.is_by_score else 1


def _is_by_rows(problem: Problem) -> bool:
    """Whether the system is one of rows: they must be fewer, and every column must cost something."""
    is_wide = problem.X.n_rows < problem.X.n_columns
    is_diagonal = problem.losses.is_by_score and not problem.penalty.has_groups
    return is_wide and is_diagonal and not problem.penalty.has_free_columns


class InteriorPoint(Solver):
    """Mehrotra's predictor-corrector steps on the optimality conditions.

    Notes
    -----
    Needs a loss that is piecewise linear or quadratic (hinge, also the joint one of K classes, absolute,
    quantile, epsilon-insensitive, Huber and their squares), a penalty of parts l1 and l2 or of groups, and at
    most 2,000 columns, or rows; K times its columns where K outputs meet. Guarantees: a step does not depend
    on the units of the columns; dual points lie inside the losses' domain, so that each can be certified. 10
    to 40 steps are enough for nearly all tables, whatever the strength; where they cost little they go on to
    a relative gap of 1e-9. A step costs one weighted Gram matrix for each output, or for each two outputs
    that are joint, their Cholesky factor and a few passes over X; of long rows the matrix is made of the few
    that are near a kink, and conjugate gradients do the rest. A cancelled fit waits for the Gram matrix
    or the pass at hand.
    Published: Mehrotra 1992; Gondzio 1996; Nesterov and Todd 1997; Crammer and Singer 2001; Fine and
    Scheinberg 2001; Ferris and Munson 2002; Gertz and Wright 2003; Jung, O'Leary and Tits 2008.
    """

    name = "interior"

    @property
    def needs(self) -> tuple[Need, ...]:
        """A piecewise linear or quadratic loss, an elastic penalty or groups, few columns or rows."""
        return _NEEDS

    def cost(self, problem: Problem) -> Cost:
        """Its steps are few whatever the data."""
        step, burst = _step_cost(problem), _steps_an_epoch(problem)
        return Cost(burst * step, _USUAL_STEPS * step, _STEPS * step)

    def goes_on(self, problem: Problem) -> bool:
        """From the edge of the domain, where optima are, steps would be short."""
        return False

    def is_patient(self, problem: Problem) -> bool:
        """Its steps are few, and what they have not gained yet they gain at the end."""
        return True

    def iterates(self, problem: Problem, start: Start | None, tol: float, seed: int) -> Iterator[Iterate]:
        """What it was given, which may be good enough, and one iterate an epoch of outputs that still move.

        Steps begin in the middle of the domain in any case: from its edge they would be short.
        """
        kept = state_of(start) or {}
        if start is not None and not kept:
            U = start.U
            yield Iterate(lambda: (start.W, start.b), None if U is None else lambda: U, state=lambda: {})
        basis = _orthonormal_basis(problem)
        if basis is None:
            yield from self._steps(problem, kept, tol)
            return
        for iterate in self._steps(basis.problem, kept, tol):
            yield basis.brought_back(iterate)

    def _steps(self, problem: Problem, kept: State, tol: float) -> Iterator[Iterate]:
        goal = min(tol / 2, _EXACT if _step_cost(problem) <= _CHEAP else _DECIDED)
        goal = kept.get("goal", goal)
        each = kept.get("outputs", (None,) * (problem.n_outputs // _n_together(problem)))
        programme = _Programme(problem)
        outputs = [_Output(programme, k, point) for k, point in enumerate(each)]
        burst, least = _steps_an_epoch(problem), FLOOR * problem.losses.at_zero
        if not kept:
            _run(outputs, 1, goal, least)  # to the start
            if burst >= _STEPS:  # the end is near: twice, since the size of P is known there only
                for _ in range(2):
                    _run(outputs, burst, goal, max(_size(outputs) / len(outputs), least))
        for n_steps in range(kept.get("n_steps", 0), _MOST_STEPS, burst):
            floor = max(_size(outputs) / len(outputs), least)
            is_end = all(output.state.is_within(goal, floor) for output in outputs)
            yield _iterate(problem, outputs, goal, n_steps, is_end, tol)
            if is_end:
                goal *= _FURTHER  # the proof asked for more
            if all(output.state.is_within(goal, floor) for output in outputs):
                return
            _run(outputs, burst, goal, floor)


@dataclass(frozen=True)
class _Basis:
    """A problem without a penalty in orthonormal columns, and the way back to weights of X."""

    problem: Problem
    back: FloatArray
    mean: FloatArray

    def brought_back(self, iterate: Iterate) -> Iterate:
        """The same with weights of X."""

        def weights() -> tuple[FloatArray, FloatArray]:
            W, b = iterate.weights()
            W = self.back @ W
            return W, b - self.mean @ W

        return replace(iterate, weights=weights)


def _orthonormal_basis(problem: Problem) -> _Basis | None:
    """Orthonormal columns in place of X, where some combinations of its columns nearly vanish in every row.

    Weights may be large along those, and a Gram matrix knows them only by the square of what is left. Scores
    and dual variables stay what they are, which no penalty but none allows. None where X will do.
    """
    n, d = problem.X.n_rows, problem.X.n_columns
    if not (problem.penalty.is_zero and problem.constants_penalty.is_zero) or n * d * d > _MOST_ROTATED:
        return None
    X = problem.X.dense_array(_MOST_ROTATED) if problem.faint_directions.size else None
    if X is None:
        return None
    X = X.astype(np.float64)
    whole = np.sqrt(np.square(X).sum(axis=0))
    mean = X.mean(axis=0) if problem.intercept is not Intercept.NONE else np.zeros(d)
    X = X - mean
    size = np.sqrt(np.square(X).sum(axis=0))
    inverse = np.divide(1.0, size, out=np.zeros(d), where=size > _VANISHED * whole)
    Q, values, V = np.linalg.svd(X * inverse, full_matrices=False)
    kept = values > _VANISHED * values.max(initial=0.0)
    if not kept.any():
        return None
    back = inverse[:, None] * (V[kept].T / values[kept])
    rows = native_dense(np.ascontiguousarray(Q[:, kept]), problem.X.n_threads or 1)
    return _Basis(replace(problem, X=rows), back, mean)


def _step_cost(problem: Problem) -> float:
    n, d, K = problem.X.n_rows, problem.X.n_columns, problem.n_outputs
    if _n_together(problem) > 1:
        n_matrices = K if problem.losses.is_by_score else K * (K - 1) / 2
        return passes(problem, 12) + n_matrices * gram(problem) + factor(system_size(problem)) + _ROW * n * K
    matrix = gram(problem) * (n / d if _is_by_rows(problem) else 1.0)
    each = matrix + factor(system_size(problem)) + _ROW * n
    return passes(problem, 8) + problem.n_outputs * each


def _steps_an_epoch(problem: Problem) -> int:
    """More than one where a step takes less than what comes between two epochs."""
    return int(min(max(_BURST / _step_cost(problem), 1), _STEPS))


def _run(outputs: list[_Output], n_steps: int, goal: float, floor: float) -> None:
    for output in outputs:
        break_off_if_over()
        output.run(n_steps, goal, floor)


def _size(outputs: list[_Output]) -> float:
    """About P."""
    return sum(abs(output.state.value) for output in outputs)


def _iterate(
    problem: Problem, outputs: list[_Output], goal: float, n_steps: int, is_end: bool, tol: float
) -> Iterate:
    """Where all outputs stand; at the end, what they are in the limit. Read when asked for."""
    size = _size(outputs)
    relative = sum(output.state.gap for output in outputs) / size if size > 0 else None

    known: dict[bool, tuple[FloatArray, FloatArray, FloatArray]] = {}

    def read(is_decided: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
        if is_decided in known:
            return known[is_decided]
        parts = [output.read(is_decided) for output in outputs]
        d, W = problem.X.n_columns, np.concatenate([w for w, _ in parts], axis=1)
        b = W[d] if len(W) > d else np.zeros(problem.n_outputs)
        known[is_decided] = W[:d], b, np.concatenate([u for _, u in parts], axis=1)
        return known[is_decided]

    def weights() -> tuple[FloatArray, FloatArray]:
        is_near = relative is not None and relative <= tol / 2
        if not (is_end or is_near) or not (problem.penalty.has_corners or problem.penalty.has_groups):
            return read(False)[:2]
        W, b, _ = read(True)
        inside, constants, _ = read(False)
        # What seems to be 0 may still be worth more than what is asked for: too early to decide. Where
        # rounding ends the steps before their goal, a little of the tolerance is worth zeros.
        may_cost, primal = goal if is_end else _LITTLE * tol, problem.primal(inside, constants)
        is_wide = np.count_nonzero(W, axis=0).max(initial=0) > problem.X.n_rows
        if is_wide and is_near and problem.penalty.is_elastic:
            # More than at any corner of the optimum: rounding hides which of them are on their way to 0.
            terms = problem.penalty.terms(W)
            fewer = np.where(terms <= _VANISHING * terms.max(initial=0.0), 0.0, W)
            if problem.primal(fewer, b) <= primal + _LITTLE * tol * size:
                return fewer, b
        is_too_early = problem.primal(W, b) > primal + may_cost * size
        return (inside, constants) if is_too_early else (W, b)

    def dual() -> FloatArray:
        if not is_end:
            return read(False)[2]
        (W, b), decided = weights(), read(True)[2]
        if problem.penalty.has_corners and np.count_nonzero(W, axis=0).max(initial=0) > problem.X.n_rows:
            return read(False)[2]  # more weights than at any corner of the optimum: nothing was decided yet
        # What was decided has moved V: it is brought back by the variables that are inside their intervals.
        decided = align(problem, decided, W, b)
        primal, proved = problem.primal(W, b), feasible(problem, decided, W, b).dual
        if primal - proved <= goal * abs(primal):
            return decided
        # Points inside prove early, decided ones are exact: they are taken where they prove as much.
        inside = read(False)[2]
        is_proof = feasible(problem, inside, W, b).dual > max(proved, _WORTH * primal)
        return inside if is_proof else decided

    def state() -> State:
        return {"outputs": tuple(each.state.state() for each in outputs), "goal": goal, "n_steps": n_steps}

    return Iterate(
        weights,
        dual,
        relative,
        is_worth_a_proof=is_end,
        has_own_intercept=is_end and relative is not None and relative <= goal,
        state=state,
    )


class _Programme:
    """What the programmes of all outputs, or of all together where they meet, have in common."""

    def __init__(self, problem: Problem) -> None:
        rows, X, penalty = problem.losses.rows, problem.X.native_rows, problem.penalty
        assert rows is not None
        assert X is not None
        self.rows, self.X, own = rows, X, problem.constants_penalty
        self.has_constant = problem.intercept is not Intercept.NONE
        self.is_by_rows = _is_by_rows(problem)
        self.n_outputs = _n_together(problem)
        # Of few columns, or sparse rows, the core makes its Gram matrices; others are a case for BLAS.
        self.is_native = self.n_outputs > 1 or X.dense is None or X.n_columns <= _NARROW
        self.plain = _plain_gram(problem) if self.is_native and not self.is_by_rows else None
        self.used = np.flatnonzero(rows.s > 0)
        self.is_whole = len(self.used) == X.n_rows
        self.s = rows.s if self.is_whole else rows.s[self.used]
        self.form = rows.quadratic_conjugate(self.used)
        total = float(self.s.sum())
        self.radius, self.ball_start = np.zeros(0), np.zeros(0, dtype=np.int64)
        self.at_zero = problem.losses.at_zero
        if penalty.has_groups:
            self.l2 = self._by_weight(0.0, 0.0)
            self._lay_groups(penalty, own if problem.intercept is Intercept.PENALIZED else None)
        else:
            l1 = self._by_weight(penalty.l1, own.l1)
            self.l2 = self._by_weight(penalty.l2, own.l2)
            self.corners = np.flatnonzero(l1 > 0)
        # Unit rows weigh as much together as the data, whatever the weights are counted in.
        self.unit_weight = total / max(len(self.corners), 1)
        self.radius /= self.unit_weight
        self.box = np.full(len(self.corners), np.inf) if penalty.has_groups else l1[self.corners]
        self.box /= self.unit_weight
        self.squares = np.zeros(0)
        if len(self.corners):
            columns = X.squared_adjoint(rows.s[:, None])[:, 0] / total
            self.squares = self._by_weight(columns, 1.0)[self.corners]

    def _lay_groups(self, penalty: Penalty, on_constants: Penalty | None) -> None:
        """The weights group by group, of all outputs, and the radius of each group's ball."""
        d, K = self.X.n_columns, self.n_outputs
        grouping, width = penalty.grouping(d), d + self.has_constant
        outputs = width * np.arange(K)
        self.corners = (grouping.order[:, None] + outputs).ravel()
        self.ball_start = grouping.start * K
        self.radius = penalty.slopes_at_0(d).copy()
        if on_constants is not None:
            self.corners = np.append(self.corners, d + outputs)
            self.ball_start = np.append(self.ball_start, len(self.corners))
            self.radius = np.append(self.radius, on_constants.slopes_at_0(K)[:1])

    def _by_weight(self, of_columns: FloatArray | float, of_constant: FloatArray | float) -> FloatArray:
        """A number for each weight and intercept, output by output."""
        d = self.X.n_columns
        out = np.empty(d + self.has_constant)
        out[:d] = of_columns
        if self.has_constant:
            out[d] = np.ravel(of_constant)[0]
        return out if self.n_outputs == 1 else np.tile(out, self.n_outputs)

    def begin(self, k: int) -> _core.InteriorPoint:
        """The run of output k, or of all together, before its start."""
        form, n = self.form, len(self.used)
        part = slice(None) if self.n_outputs > 1 else slice(k * n, (k + 1) * n)
        low, high, place = form.low[part], form.high[part], form.place[part]
        n_parts = self.n_outputs
        if form.tube > 0:
            n_parts, nothing = 2 * n_parts, np.zeros_like(low)
            low, high = np.concatenate([nothing, low]), np.concatenate([high, nothing])
            place = np.concatenate([place + form.tube, place - form.tube])
        bend = np.full(len(place), form.bend)
        weight = self.s if n_parts == 1 else np.tile(self.s, n_parts)
        if len(self.corners):
            none = np.zeros(len(self.corners))
            low, high, place = np.append(low, -self.box), np.append(high, self.box), np.append(place, none)
            bend, weight = np.append(bend, none), np.append(weight, none + self.unit_weight)
        return _core.InteriorPoint.make(
            self.X.matrix,
            np.zeros(0, dtype=np.int64) if self.is_whole else self.used,
            n_parts,
            self.n_outputs,
            not self.rows.is_by_score,
            low=low,
            high=high,
            place=place,
            bend=bend,
            weight=weight,
            l2=self.l2,
            corners=self.corners,
            corner_square=self.squares,
            radius=self.radius,
            ball_start=self.ball_start,
            value_at_zero=self.at_zero,
            has_constant=self.has_constant,
            n_threads=self.X.n_threads,
            plain=self.plain,
        )


def _plain_gram(problem: Problem) -> _core.PlainGram | None:
    """What steps need to make systems of few rows, for all outputs; None where all rows are as soon met."""
    rows, X = problem.losses.rows, problem.X
    assert rows is not None
    size, n_numbers = X.n_columns + (problem.intercept is not Intercept.NONE), X.n_stored / max(X.n_rows, 1)
    is_long = n_numbers >= (_LONG_SPARSE if X.is_sparse else _LONG)
    if problem.penalty.has_groups or not is_long or np.count_nonzero(rows.s) < _MANY_ROWS * size:
        return None
    native = X.native_rows
    assert native is not None
    if not problem.losses.is_by_score and (problem.penalty.is_zero or not _is_full(native.dense)):
        return None  # rows of rare levels are far on all edges, and passes are many
    s = np.ascontiguousarray(rows.s, dtype=np.float64)
    return _core.PlainGram.of(native.matrix, s, problem.intercept is not Intercept.NONE, native.n_threads)


def _is_full(X: FloatArray | None) -> bool:
    """Whether most numbers of dense rows are not 0."""
    return X is not None and bool(2 * np.count_nonzero(X) > X.size)


class _Output:
    """One output's run, or that of all which meet: its steps are the core's."""

    def __init__(self, programme: _Programme, k: int, kept: FloatArray | None) -> None:
        self._programme, self.state = programme, programme.begin(k)
        self._products: FloatArray | None = None  # X X' / l2, where no corner changes it
        if kept is not None:
            self.state.restore(kept)

    def read(self, is_decided: bool) -> tuple[FloatArray, FloatArray]:
        """Weights, those of an intercept last, and dual variables, a column for each output."""
        w, u = self.state.read(is_decided)
        n_outputs = self._programme.n_outputs
        return w.reshape(n_outputs, -1).T, u.reshape(-1, n_outputs)

    def run(self, n_steps: int, goal: float, floor: float) -> None:
        """Up to so many steps, until the gap is at most the goal times the value or, if larger, the floor."""
        if self._programme.is_native and not self._programme.is_by_rows:
            self.state.run(n_steps, goal, floor)
            return
        for _ in range(n_steps):
            if self.state.is_within(goal, floor):
                return
            break_off_if_over()
            self._step()

    def _step(self) -> None:
        """A step whose system is made of products by BLAS."""
        programme, h = self._programme, self.state.curvatures()
        X = programme.X
        if not programme.is_by_rows:
            self.state.step(X.gram(h, programme.has_constant), False)
            return
        if self._products is None or len(programme.corners):
            products = X.row_products(1 / self.state.diagonal()[: X.n_columns])
            if not programme.is_whole:
                products = products[np.ix_(programme.used, programme.used)]
            self._products = np.ascontiguousarray(products)
        self.state.step(self._products.copy(), True)
