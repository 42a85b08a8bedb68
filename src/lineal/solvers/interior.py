"""A primal-dual interior-point method for losses that are piecewise linear or quadratic.

Such a loss has a conjugate c u + e |u| + q u^2 / 2 on an interval l <= u <= h. A tube e > 0 is two
variables, u = u1 + u2 with u1 >= 0 >= u2, each with a linear cost, and a part l1 |w_j| of the penalty is one
more row, a loss l1 |z| of the score z = w_j. So the dual is always, with A the rows, a constant and such
unit rows, S their weights and L the l2 of each weight,

    min  sum_i s_i (c_i u_i + q_i u_i^2 / 2) + |A'S u|^2 / 2 in the metric 1 / L,    l <= u <= h,

and its optimum is where, with multipliers alpha, beta >= 0 of the ends of the intervals and z = A w,

    c + q u - z - alpha + beta = 0,    A'S u + L w = 0,    alpha (u - l) = 0,    beta (h - u) = 0.

Newton's method on these equations, with mu > 0 instead of the last two zeros, needs one linear system a step:
with theta = 1 / (q + alpha / (u - l) + beta / (h - u)),

    (A'S theta A + L) dw = right,     du = theta (A dw + g).

It is solved twice (Mehrotra's predictor, then his corrector) with one Cholesky factor, of as many unknowns as
there are columns, or rows where those are fewer (Woodbury).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lineal.cancellation import break_off_if_over
from lineal.deferred import linalg
from lineal.objective.dual_points import units
from lineal.objective.linear_maps import LinearMap
from lineal.objective.losses import FloatArray
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.base import LOSS_A_ROW, OWN_WEIGHTS, Iterate, Need, Solver, Start
from lineal.solvers.costs import Cost, factor, gram, passes

# As many unknowns a system may have.
LIMIT = 2000
# Steps that are enough on nearly all tables, and the most that are taken.
_STEPS, _MOST_STEPS = 25, 120
# How far a step goes towards the end of an interval, and the share of the objective below which the sum of
# all products alpha (u - l) is rounding.
_CLOSE, _FLOOR = 0.995, 1e-15
# Steps this short, so many in a row, gain nothing more.
_SHORT, _PATIENCE = 1e-6, 3
# What is added to a unit diagonal where a factor fails: rounding, at first.
_DAMPINGS = (0.0, 1e-15, 1e-13, 1e-11, 1e-9, 1e-7)
# Rounds of refinement for the residue that a damped or rounded factor leaves.
_REFINEMENTS = 2

# Seconds that the arithmetic of a step takes for a row, beside its passes over X.
_ROW = 1.5e-7

Solve = Callable[[FloatArray], FloatArray]

_NEEDS = (
    LOSS_A_ROW,
    Need(
        "a loss that is piecewise linear or quadratic",
        "loss",
        lambda p: p.losses.has_quadratic_conjugate and p.losses.is_by_score,
    ),
    OWN_WEIGHTS,
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
    has_entries = problem.X.native_rows is not None
    return has_entries and problem.X.n_rows < problem.X.n_columns and not problem.penalty.has_free_columns


class InteriorPoint(Solver):
    """Mehrotra's predictor-corrector steps on the optimality conditions.

    Notes
    -----
    Needs a loss that is piecewise linear or quadratic (hinge, absolute, quantile, epsilon-insensitive, Huber
    and their squares), a penalty of parts l1 and l2, and at most 2,000 columns, or rows. Guarantees: a step
    does not depend on the units of the columns; dual points lie inside the losses' domain, so that each can
    be certified. 10 to 40 steps are enough for nearly all tables, whatever the strength. A step costs
    one weighted Gram matrix for each output, its Cholesky factor and a few passes over X. A cancelled
    fit waits for the Gram matrix or the factor at hand. Published: Mehrotra 1992; Fine and Scheinberg 2001;
    Ferris and Munson 2002; Gertz and Wright 2003.
    """

    name = "interior"

    @property
    def needs(self) -> tuple[Need, ...]:
        """A piecewise linear or quadratic loss, an elastic penalty, few columns or rows."""
        return _NEEDS

    def cost(self, problem: Problem) -> Cost:
        """Its steps are few whatever the data."""
        n, d = problem.X.n_rows, problem.X.n_columns
        matrix = gram(problem) * (n / d if _is_by_rows(problem) else 1.0)
        each = matrix + factor(system_size(problem)) + _ROW * n
        return Cost.of_steps(passes(problem, 8) + problem.n_outputs * each, _STEPS)

    def is_patient(self, problem: Problem) -> bool:
        """Its steps are few, and what they have not gained yet they gain at the end."""
        return True

    def iterates(self, problem: Problem, start: Start | None, tol: float, seed: int) -> Iterator[Iterate]:
        """The start, which may be good enough, and one iterate for each step of all outputs that still move.

        Steps begin in the middle of the domain in any case: from its edge they would be short.
        """
        if start is not None:
            U = start.U
            yield Iterate(lambda: (start.W, start.b), None if U is None else lambda: U)
        states = [_State(_Quadratic.of_output(problem, k)) for k in range(problem.n_outputs)]
        for _ in range(_MOST_STEPS):
            moving = [state for state in states if not state.is_done]
            if not moving:
                return
            for state in moving:
                break_off_if_over()
                state.step()
            yield _iterate(problem, states)


def _iterate(problem: Problem, states: list[_State]) -> Iterate:
    W = np.stack([state.weights[: problem.X.n_columns] for state in states], axis=1)
    b = np.array([state.constant for state in states])
    U = np.zeros(problem.losses.shape)
    for k, state in enumerate(states):
        U[state.program.used, k] = state.row_duals()
    size = sum(abs(state.value()) for state in states)
    gap = sum(state.gap() for state in states)
    expected = gap / size if size > 0 else None
    return Iterate(lambda: (W, b), lambda: U, expected)


@dataclass(frozen=True)
class _Quadratic:
    """One output's programme: its rows of positive weight, then a unit row for each weight with an l1.

    Attributes
    ----------
    used : (n,) places of the rows of positive weight
    n_parts : int
        1, or 2 with a tube.
    low, high, place, bend, weight : (N,) arrays
        Of the dual variables: n_parts times the rows, then the unit rows.
    l2 : (p,) array
        Of the weights and, at the end, of an intercept.
    corners : (m,) places of the weights with an l1
    """

    X: LinearMap
    used: NDArray[np.intp]
    s: FloatArray
    n_parts: int
    low: FloatArray
    high: FloatArray
    place: FloatArray
    bend: FloatArray
    weight: FloatArray
    l2: FloatArray
    corners: NDArray[np.intp]
    has_constant: bool
    by_rows: bool

    @classmethod
    def of_output(cls, problem: Problem, k: int) -> _Quadratic:
        """The programme of output k."""
        rows = problem.losses.rows
        assert rows is not None
        used = np.flatnonzero(rows.s > 0)
        s, form = rows.s[used], rows.loss.quadratic_conjugate(np.asarray(rows.y[used, k], dtype=np.float64))
        has_constant = problem.intercept is not Intercept.NONE
        d, own = problem.X.n_columns, problem.constants_penalty
        l1, l2 = (
            np.append(np.broadcast_to(part, d), np.ravel(constant)[:1] if has_constant else [])
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
        each = float(s.sum()) / max(len(corners), 1)
        box, none = l1[corners] / each, np.zeros(len(corners))
        return cls(
            problem.X,
            used,
            rows.s,
            n_parts,
            np.append(low, -box),
            np.append(high, box),
            np.append(place, none),
            np.append(np.full(len(place), form.bend), none),
            np.append(np.tile(s, n_parts), np.full(len(corners), each)),
            l2,
            corners,
            has_constant,
            _is_by_rows(problem),
        )

    def scores(self, w: FloatArray) -> FloatArray:
        """A w."""
        d = self.X.n_columns
        z = self.X.dot(np.ascontiguousarray(w[:d, None]))[self.used, 0]
        if self.has_constant:
            z = z + w[d]
        return np.concatenate([*[z] * self.n_parts, w[self.corners]])

    def back(self, g: FloatArray) -> FloatArray:
        """A'g."""
        rows = self.by_row(g)
        spread = np.zeros((self.X.n_rows, 1))
        spread[self.used, 0] = rows
        v = self.X.adjoint(spread)[:, 0]
        if self.has_constant:
            v = np.append(v, rows.sum())
        v[self.corners] += g[len(rows) * self.n_parts :]
        return v

    def by_row(self, g: FloatArray) -> FloatArray:
        """What the parts of a row are together; unit rows are left out."""
        n = len(self.used)
        return g[:n] if self.n_parts == 1 else g[:n] + g[n : 2 * n]

    def solver(self, theta: FloatArray) -> Solve:
        """Solves (A'S theta A + L) x = right for any right side, by one factor."""
        h = self.weight * theta
        diagonal = self.l2.copy()
        diagonal[self.corners] += h[len(self.used) * self.n_parts :]
        rows = np.zeros(self.X.n_rows)
        rows[self.used] = self.by_row(h)
        if self.by_rows:
            return _row_solver(self, rows, diagonal)
        G = self.X.gram(rows, self.has_constant)
        G.ravel()[:: len(G) + 1] += diagonal
        return _refined(G)


def _factored(A: FloatArray) -> Solve | None:
    """A^-1 by its Cholesky factor, scaled to a unit diagonal; None where it has none."""
    unit = units(np.diag(A))
    scaled = np.ascontiguousarray(A * unit[:, None] * unit)
    if not np.isfinite(scaled).all():
        return None
    for damping in _DAMPINGS:
        scaled.ravel()[:: len(A) + 1] = 1.0 + damping
        # LAPACK itself: for systems this small the checks around it take longer than the factorisation.
        triangle, failure = linalg.lapack.dpotrf(scaled.T, lower=False, clean=False)
        if failure == 0:

            def solve(right: FloatArray, triangle: FloatArray = triangle) -> FloatArray:
                return np.asarray(unit * linalg.lapack.dpotrs(triangle, unit * right, lower=False)[0])

            return solve
    return None


def _refined(A: FloatArray) -> Solve:
    """A^-1 with refinement: what damping and rounding take away is given back."""
    rough = _factored(A)
    if rough is None:
        return lambda right: np.full_like(right, np.nan)

    def solve(right: FloatArray) -> FloatArray:
        x = rough(right)
        for _ in range(_REFINEMENTS):
            x = x + rough(right - A @ x)
        return x

    return solve


def _row_solver(program: _Quadratic, h: FloatArray, diagonal: FloatArray) -> Solve:
    """The same by a system of as many unknowns as rows.

    x = M^-1 (right - A'q) with (H^-1 + A M^-1 A') q = A M^-1 right.

    A free constant, whose M is 0, is eliminated from the rows by itself.
    """
    native = program.X.native_rows
    assert native is not None
    used, d = program.used, program.X.n_columns
    on_columns = diagonal[:d]
    dense = native.dense
    if dense is not None:
        rows = np.asarray(dense, dtype=np.float64)[used]
        K = (rows / on_columns) @ rows.T
    else:
        stored = native.csr()[used]
        scaled = stored.multiply(1 / on_columns[None, :]).tocsr()
        K = np.asarray((scaled @ stored.T).toarray(), dtype=np.float64)
    K.ravel()[:: len(K) + 1] += 1 / h[used]
    is_free = program.has_constant and diagonal[d] == 0
    if program.has_constant and not is_free:
        K += 1 / diagonal[d]
    rough = _factored(K)
    if rough is None:
        return lambda right: np.full_like(right, np.nan)
    ones = np.ones(len(used))
    along = rough(ones)

    def once(right: FloatArray) -> FloatArray:
        is_held = program.has_constant and not is_free
        step = np.append(right[:d] / on_columns, right[d] / diagonal[d] if is_held else [])
        seen = program.X.dot(np.ascontiguousarray(step[:d, None]))[used, 0]
        if program.has_constant and not is_free:
            seen = seen + step[d]
        q = rough(seen)
        constant = 0.0
        if is_free:
            # 1'q = right_b, with q = K^-1 (seen + constant).
            constant = (right[d] - q.sum()) / along.sum()
            q = q + constant * along
        spread = np.zeros((program.X.n_rows, 1))
        spread[used, 0] = q
        pulled = program.X.adjoint(spread)[:, 0]
        x = step[:d] - pulled / on_columns
        if not program.has_constant:
            return x
        return np.append(x, constant if is_free else step[d] - q.sum() / diagonal[d])

    def product(x: FloatArray) -> FloatArray:
        z = program.X.dot(np.ascontiguousarray(x[:d, None])) + (x[d] if program.has_constant else 0.0)
        z = h[:, None] * z
        v = program.X.adjoint(z)[:, 0]
        return diagonal * x + (np.append(v, z.sum()) if program.has_constant else v)

    def solve(right: FloatArray) -> FloatArray:
        x = once(right)
        return x + once(right - product(x))

    return solve


class _State:
    """Where one output stands: weights, dual variables by their distances to both ends, multipliers."""

    def __init__(self, program: _Quadratic) -> None:
        self.program = p = program
        self.is_done, self._short = False, 0
        self.has_low, self.has_high = np.isfinite(p.low), np.isfinite(p.high)
        self._begin()
        # Without curvature anywhere the steps of (w, alpha, beta) and of u do not meet: each has its length.
        self._is_linear = not p.bend.any() and not p.l2.any()

    def _begin(self) -> None:
        """Weights that fit the places of the kinks by least squares; u in the middle of its interval."""
        p = self.program
        n = len(p.used)
        centre = p.place[:n] if p.n_parts == 1 else (p.place[:n] + p.place[n : 2 * n]) / 2
        s = p.weight[:n]
        right = np.concatenate([np.tile(centre, p.n_parts), np.zeros(len(p.corners))]) * p.weight
        share = np.append(np.ones(n * p.n_parts), np.zeros(len(p.corners)))
        # Unit rows need a positive weight where their column is empty or there are fewer rows than columns.
        tiny = 1e-6 * p.X.squared_adjoint(p.s[:, None])[:, 0] / float(s.sum())
        if len(p.corners):
            on = np.append(tiny, 1e-6)[p.corners]
            share[n * p.n_parts :] = np.where(on > 0, on, 1.0)
        w = p.solver(share)(p.back(right))
        self.weights = w if np.isfinite(w).all() else np.zeros_like(p.l2)
        self.z = p.scores(self.weights)
        ends = np.where(self.has_low, p.low, 0.0) + np.where(self.has_high, p.high, 0.0)
        middle = np.where(self.has_low & self.has_high, ends / 2, 0.0)
        off = p.place - self.z
        spread = float(s @ np.abs(centre - s @ centre / s.sum()) / s.sum())
        on_rows = p.weight[: n * p.n_parts]
        typical = float(on_rows @ np.abs(off[: n * p.n_parts]) / on_rows.sum())
        size = max(typical, 1e-3 * spread) or 1.0
        with np.errstate(divide="ignore", invalid="ignore"):
            # On an unbounded side u stands where its slope leaves a multiplier of that size.
            up = np.maximum((self.z - p.place + size) / p.bend, size / p.bend)
            down = np.minimum((self.z - p.place - size) / p.bend, -size / p.bend)
            both = (self.z - p.place) / p.bend
        u = middle
        u = np.where(self.has_low & ~self.has_high, np.where(p.bend > 0, p.low + up, u), u)
        u = np.where(~self.has_low & self.has_high, np.where(p.bend > 0, p.high + down, u), u)
        u = np.where(~self.has_low & ~self.has_high, both, u)
        self.u = u
        self.above = np.where(self.has_low, u - np.where(self.has_low, p.low, 0.0), 1.0)
        self.below = np.where(self.has_high, np.where(self.has_high, p.high, 0.0) - u, 1.0)
        slope = p.place + p.bend * u - self.z
        width = np.where(self.has_low & self.has_high, self.above + self.below, 1.0)
        # The products of unit rows begin where those of the data are.
        data = slice(0, n * p.n_parts)
        each = np.where(self.has_low | self.has_high, np.minimum(self.above, self.below), 0.0)[data]
        product = size * float(p.weight[data] @ each / p.weight[data].sum()) or size
        add = np.full(len(u), size)
        if len(p.corners):
            add[n * p.n_parts :] = 2 * product / width[n * p.n_parts :]
        self.alpha = np.where(self.has_low, np.maximum(slope, 0.0) + add, 0.0)
        self.beta = np.where(self.has_high, np.maximum(-slope, 0.0) + add, 0.0)
        self._measure()

    @property
    def constant(self) -> float:
        """b."""
        return float(self.weights[-1]) if self.program.has_constant else 0.0

    def _measure(self) -> None:
        """The residues of the conditions at the present point."""
        p = self.program
        self.dual_residue = p.place + p.bend * self.u - self.z - self.alpha + self.beta
        self.pulled = p.back(p.weight * self.u)
        self.primal_residue = self.pulled + p.l2 * self.weights

    def products(self) -> float:
        """sum s (alpha (u - l) + beta (h - u))."""
        return float(self.program.weight @ (self.alpha * self.above + self.beta * self.below))

    def row_duals(self) -> FloatArray:
        """u of the rows."""
        return self.program.by_row(self.u)

    def value(self) -> float:
        """About P: the value of the dual, with the products between the two added."""
        p = self.program
        dual = float(p.weight @ (p.place * self.u + p.bend / 2 * self.u**2))
        return -dual - float(p.l2 @ self.weights**2) / 2 + self.products()

    def gap(self) -> float:
        """About P - D: the products, and what the residues of the conditions are worth."""
        p = self.program
        reach = np.abs(self.u) + np.minimum(self.above, self.below)
        off = float(p.weight @ (np.abs(self.dual_residue) * reach))
        return self.products() + off + float(np.abs(self.weights) @ np.abs(self.primal_residue))

    def step(self) -> None:
        """One predictor-corrector step; the state is done where it gains nothing."""
        p = self.program
        with np.errstate(all="ignore"):
            ratio = self.alpha / self.above + self.beta / self.below
            theta = 1 / (p.bend + ratio)
            solve = p.solver(theta)
            n_products = float(p.weight @ self.has_low + p.weight @ self.has_high)
            mu = self.products() / n_products if n_products else 0.0
            affine = self._direction(solve, theta, -self.alpha * self.above, -self.beta * self.below)
            if affine is None:
                self.is_done = True
                return
            t_u, t_m = self._lengths(affine, 1.0)
            moved = self._products_at(affine, t_u, t_m) / n_products if n_products else 0.0
            target = mu * (moved / mu) ** 3 if mu > 0 else 0.0
            _, du, da, db = affine
            both = self._direction(
                solve,
                theta,
                np.where(self.has_low, target - self.alpha * self.above - da * du, 0.0),
                np.where(self.has_high, target - self.beta * self.below + db * du, 0.0),
            )
            if both is None:
                self.is_done = True
                return
            t_u, t_m = self._lengths(both, _CLOSE)
            self._move(both, t_u, t_m)
        # Where every step is short, or all products are rounding, there is nothing left to gain.
        self._short = self._short + 1 if max(t_u, t_m) < _SHORT else 0
        size = abs(self.value())
        is_flat = self.gap() <= _FLOOR * size
        self.is_done = is_flat or self._short >= _PATIENCE or n_products == 0

    def _direction(
        self, solve: Solve, theta: FloatArray, on_low: FloatArray, on_high: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray] | None:
        """(dw, du, dalpha, dbeta) that change products by ``on_low``, ``on_high``, residues to 0."""
        p = self.program
        g = on_low / self.above - on_high / self.below - self.dual_residue
        dw = solve(-self.primal_residue - p.back(p.weight * theta * g))
        if not np.isfinite(dw).all():
            return None
        du = theta * (p.scores(dw) + g)
        da = np.where(self.has_low, (on_low - self.alpha * du) / self.above, 0.0)
        db = np.where(self.has_high, (on_high + self.beta * du) / self.below, 0.0)
        return dw, du, da, db

    def _lengths(
        self, direction: tuple[FloatArray, FloatArray, FloatArray, FloatArray], close: float
    ) -> tuple[float, float]:
        """How far u, and (w, alpha, beta), may go; the same for both where they meet in a quadratic term."""
        _, du, da, db = direction
        t_u = min(
            _room(self.above, np.where(self.has_low, du, 0.0)),
            _room(self.below, np.where(self.has_high, -du, 0.0)),
        )
        t_m = min(_room(self.alpha, da), _room(self.beta, db))
        t_u, t_m = min(1.0, close * t_u), min(1.0, close * t_m)
        return (t_u, t_m) if self._is_linear else (min(t_u, t_m), min(t_u, t_m))

    def _products_at(
        self, direction: tuple[FloatArray, FloatArray, FloatArray, FloatArray], t_u: float, t_m: float
    ) -> float:
        """``products`` after a step."""
        _, du, da, db = direction
        low = (self.alpha + t_m * da) * (self.above + np.where(self.has_low, t_u * du, 0.0))
        high = (self.beta + t_m * db) * (self.below - np.where(self.has_high, t_u * du, 0.0))
        return float(self.program.weight @ (low + high))

    def _move(
        self, direction: tuple[FloatArray, FloatArray, FloatArray, FloatArray], t_u: float, t_m: float
    ) -> None:
        p = self.program
        dw, du, da, db = direction
        self.weights = self.weights + t_m * dw
        self.alpha, self.beta = self.alpha + t_m * da, self.beta + t_m * db
        self.above = self.above + np.where(self.has_low, t_u * du, 0.0)
        self.below = self.below - np.where(self.has_high, t_u * du, 0.0)
        # u by its nearer end: a difference of numbers near h would lose what is left of it.
        near_low = self.has_low & (~self.has_high | (self.above <= self.below))
        u = np.where(self.has_high, np.where(self.has_high, p.high, 0.0) - self.below, self.u + t_u * du)
        self.u = np.where(near_low, np.where(self.has_low, p.low, 0.0) + self.above, u)
        self.z = p.scores(self.weights)
        self._measure()


def _room(distance: FloatArray, move: FloatArray) -> float:
    """The factor of a move that brings the first distance to 0."""
    falling = move < 0
    return float(np.min(-distance[falling] / move[falling], initial=np.inf))
