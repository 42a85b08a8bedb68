"""Limited-memory BFGS, and its orthant-wise form for penalties with an L1 part."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lineal.objective.losses import FloatArray
from lineal.objective.problem import Problem
from lineal.solvers.base import SMOOTHABLE, Iterate, Need, Start, State, state_of
from lineal.solvers.primal import Line, Objective, Point, SmoothSolver, primal_iterate

_MEMORY = 12
# A projected step is halved at most so many times; below that its gain is rounding.
_HALVINGS = 40
# Weights come and go at 0, and with each the guess of the gap. A joint loss's certificate under L1 takes
# hundreds of passes, so there the largest of so many guesses in a row is believed.
_DOUBT = 4

_NEEDS = (
    SMOOTHABLE,
    Need(
        "a penalty that is differentiable or has the corners of |w| alone, as L1 and ElasticNet",
        "penalty",
        lambda p: p.penalty.is_smooth or p.penalty.has_corners,
    ),
)


class LBFGS(SmoothSolver):
    """Quasi-Newton steps from the last few changes of gradient, orthant by orthant under L1.

    Notes
    -----
    Needs a penalty that is differentiable (L2, Lp, none) or has the kinks of |w| (L1, ElasticNet), so every
    one there is; losses with kinks are smoothed in stages. Guarantees: the objective does not rise beyond
    rounding. With a differentiable penalty a Wolfe search works in score space and an iteration costs two
    passes over X. With L1 or an elastic net (OWL-QN) a step follows the pseudo-gradient, stays in one
    orthant, where the penalty is linear, and ends on its faces, so weights become 0 exactly; it costs a pass
    for the gradient and one for each length tried, mostly one. Published: Liu and Nocedal 1989; Andrew and
    Gao 2007 for OWL-QN; Schmidt 2010 for the memory of the weights off 0 alone, which takes from nine tenths
    down to a hundredth of the steps that directions cut down to descent in every coordinate take.
    """

    name = "lbfgs"

    @property
    def needs(self) -> tuple[Need, ...]:
        """A penalty whose kinks, if any, are those of |w|."""
        return _NEEDS

    def smooth_iterates(
        self, problem: Problem, start: Start | None, tol: float, seed: int
    ) -> Iterator[Iterate]:
        """One iterate per accepted step."""
        return _smooth_steps(problem, start) if problem.penalty.is_smooth else _orthant_steps(problem, start)


def _smooth_steps(problem: Problem, start: Start | None) -> Iterator[Iterate]:
    """Plain L-BFGS."""
    objective = Objective(problem)
    point, kept = objective.start(start), state_of(start)
    memory = Memory(_first_inverse(objective, point)) if kept is None else Memory.of_state(kept["memory"])

    def state() -> State:
        return {"memory": memory.state()}

    while True:
        yield primal_iterate(objective, point, expected_gap(problem, point.gradient, point.value), state)
        direction = -memory.newton(point.gradient)
        slope = float(direction @ point.gradient)
        if not slope < 0:
            if not memory:
                return
            memory.clear()
            continue
        line = objective.line(point, direction)
        found = wolfe(line, point.value, slope, 1.0)
        if found is None:
            if not memory:
                return
            memory.clear()
            continue
        following = line.step(*found)
        memory.add(following.theta - point.theta, following.gradient - point.gradient)
        point = following


def _first_inverse(objective: Objective, point: Point) -> FloatArray:
    """The diagonal that the inverse Hessian begins as.

    Lp bends without bound near 0, where weights start: of all its columns' scales the losses' say nothing.
    """
    if not objective.problem.penalty.is_elastic:
        return np.full_like(point.theta, 1 / max(1.0, float(np.linalg.norm(point.gradient))))
    return objective.column_scales() ** 2


# ---- one orthant after another ------------------------------------------------------------------


def _orthant_steps(problem: Problem, start: Start | None) -> Iterator[Iterate]:
    """OWL-QN: the memory knows the smooth part of P alone, the pseudo-gradient all of it."""
    objective = Objective(problem)
    corner = objective.penalty_part("l1")
    point, kept = objective.start(start), state_of(start)
    memory = Memory(objective.column_scales() ** 2) if kept is None else Memory.of_state(kept["memory"])
    guesses = deque(
        () if kept is None else kept["guesses"], maxlen=1 if problem.losses.is_by_score else _DOUBT
    )

    def state() -> State:
        return {"memory": memory.state(), "guesses": tuple(guesses)[:-1]}

    while True:
        steepest = -pseudo_gradient(point.theta, point.gradient, corner)
        direction = memory.diagonal * steepest
        off_zero = np.flatnonzero((point.theta != 0) | (corner == 0))
        direction[off_zero] = memory.within(off_zero).newton(steepest[off_zero])
        guesses.append(_orthant_gap(problem, point, corner, steepest, direction))
        yield primal_iterate(objective, point, max(guesses), state)
        if not steepest.any():
            return
        following = _projected(objective, point, corner, steepest, direction)
        if following is None:
            if not memory:
                return
            memory.clear()
            continue
        bent = following.gradient - point.gradient
        bent -= corner * (np.sign(following.theta) - np.sign(point.theta))
        memory.add(following.theta - point.theta, bent)
        point = following


def pseudo_gradient(theta: FloatArray, gradient: FloatArray, corner: FloatArray) -> FloatArray:
    """The subgradient of P nearest 0: minus the direction of steepest descent (Andrew and Gao, eq. 4).

    ``gradient`` counts no slope of |w| where w is 0; there it may be anything up to ``corner`` either way.
    """
    nearest = np.sign(gradient) * np.maximum(np.abs(gradient) - corner, 0.0)
    return np.where(theta != 0, gradient, nearest)


def projected(theta: FloatArray, moved: FloatArray, steepest: FloatArray, corner: FloatArray) -> FloatArray:
    """``moved``, with 0 for each penalised weight that left the orthant in which P is smooth."""
    orthant = np.where(theta != 0, theta, steepest)
    return np.where((corner > 0) & (moved * orthant <= 0), 0.0, moved)


def _projected(
    objective: Objective,
    point: Point,
    corner: FloatArray,
    steepest: FloatArray,
    direction: FloatArray,
) -> Point | None:
    """The first of the lengths 1, 1/2, 1/4 ... whose projected step gains enough, or None."""
    noise = 1e-15 * abs(point.value)
    t = 1.0
    for _ in range(_HALVINGS):
        theta = projected(point.theta, point.theta + t * direction, steepest, corner)
        Z = objective.scores(theta)
        value = objective.value(theta, Z)
        move = theta - point.theta
        promised = float(steepest @ move)
        if promised > 0 and value <= point.value - 1e-4 * promised:
            return objective.point(theta, Z, value)
        if promised > 0 and value <= point.value + noise:
            # The gain is lost in the sums; the slope still tells (Hager and Zhang 2005).
            there = objective.point(theta, Z, value)
            left = -float(pseudo_gradient(theta, there.gradient, corner) @ move)
            if abs(left) <= 0.9 * promised:
                return there
        t /= 2
    return None


def _orthant_gap(
    problem: Problem, point: Point, corner: FloatArray, steepest: FloatArray, direction: FloatArray
) -> float:
    """A cheap guess of the relative gap.

    An elastic net's is known, as under L2. Under L1 the certificate looks a Newton step ahead: what is left
    is that step's gain and, where a weight at 0 wants to move, the scaling into the dual ball.
    """
    known = expected_gap(problem, steepest, point.value)
    if known is not None:
        return known
    resting = (point.theta == 0) & (corner > 0)
    excess = float(np.abs(steepest[resting]).max(initial=0.0))
    size = float(np.abs(point.theta[corner > 0]).sum())
    gap = float(direction @ steepest) / 2 + excess * size
    return gap / max(problem.yardstick(point.value), 1e-300)


# ---- what both share ----------------------------------------------------------------------------


def expected_gap(problem: Problem, gradient: FloatArray, value: float) -> float | None:
    """|gradient|^2 / (2 l2) over P: where the penalty has an l2, the gradient point's relative gap."""
    penalty = problem.penalty
    if not penalty.is_strongly_convex:
        return None
    least = float(penalty.l2.min()) if isinstance(penalty.l2, np.ndarray) else float(penalty.l2)
    gap = float(gradient @ gradient) / (2 * least)
    return gap / max(problem.yardstick(value), 1e-300)


class Memory:
    """The last few moves with the changes of gradient that they brought: an inverse Hessian, implied.

    It begins as a multiple of ``diagonal``, the inverse of a bound on the Hessian's diagonal, so that the
    columns' units do not matter.
    """

    def __init__(self, diagonal: FloatArray) -> None:
        self.diagonal = diagonal
        self._changes: list[tuple[FloatArray, FloatArray, float]] = []

    @classmethod
    def of_state(cls, kept: State) -> Memory:
        """The same memory again."""
        memory = cls(kept["diagonal"])
        memory._changes = list(kept["changes"])
        return memory

    def state(self) -> State:
        """All that is remembered."""
        return {"diagonal": self.diagonal, "changes": tuple(self._changes)}

    def __len__(self) -> int:
        return len(self._changes)

    def clear(self) -> None:
        """Forgets: the next direction is the gradient's own."""
        self._changes.clear()

    def add(self, move: FloatArray, change: FloatArray) -> None:
        """Remembers a move, unless its curvature is lost in rounding."""
        agreement = float(move @ change)
        sizes = float(change @ (self.diagonal * change)) * float(move @ (move / self.diagonal))
        if agreement > 1e-14 * sizes**0.5:
            self._changes.append((move, change, 1.0 / agreement))
            del self._changes[:-_MEMORY]

    def within(self, places: NDArray[np.intp]) -> Memory:
        """What is known of these parameters while the others hold still."""
        part = Memory(self.diagonal[places])
        for move, change, _ in self._changes:
            part.add(move[places], change[places])
        return part

    def newton(self, gradient: FloatArray) -> FloatArray:
        """The implied inverse Hessian times a gradient, by the two-loop recursion."""
        q = gradient.copy()
        weights = []
        for move, change, rho in reversed(self._changes):
            weights.append(rho * float(move @ q))
            q -= weights[-1] * change
        q *= self.diagonal
        if self._changes:
            move, change, rho = self._changes[-1]
            q *= 1.0 / (rho * float(change @ (self.diagonal * change)))
        for (move, change, rho), weight in zip(self._changes, reversed(weights), strict=True):
            q += move * (weight - rho * float(change @ q))
        return q


def wolfe(
    line: Line, value: float, slope: float, first: float, flat: float = 0.9
) -> tuple[float, float] | None:
    """A step with enough decrease and a slope of at most ``flat`` of the first; (t, P(t)) or None.

    By bracketing and bisection.
    """
    low, high, t = 0.0, np.inf, first
    best: tuple[float, float] | None = None
    noise = 1e-15 * abs(value)
    for _ in range(50):
        there = line.value(t)
        if not there <= value + 1e-4 * t * slope + noise:
            high = t
        else:
            if best is None or there <= best[1]:
                best = (t, there)
            incline = line.slope(t)
            if abs(incline) <= flat * abs(slope):
                return t, there
            if incline < 0:
                low = t
            else:
                high = t
        t = 2 * t if high == np.inf else (low + high) / 2
        if high < np.inf and high - low <= 1e-14 * high:
            break
    return best if best is not None and best[1] < value else None
