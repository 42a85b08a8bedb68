"""Limited-memory BFGS."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lineal.objective.losses import FloatArray
from lineal.objective.penalties import L2
from lineal.objective.problem import Problem
from lineal.solvers.base import Iterate, Solver, Start
from lineal.solvers.primal import Line, Objective, primal_iterate, through_smoothing

_MEMORY = 12


class LBFGS(Solver):
    """Quasi-Newton steps from the last few changes of gradient, with a Wolfe line search in score space.

    Notes
    -----
    Needs a differentiable penalty (L2, Lp, none); losses with kinks are smoothed in stages. Guarantees:
    the objective falls at every step. An iteration costs two passes over X. Published: Liu and
    Nocedal 1989.
    """

    name = "lbfgs"

    def refusal(self, problem: Problem) -> str | None:
        """Needs a differentiable penalty."""
        if not problem.penalty.is_smooth:
            return f"lbfgs needs a differentiable penalty, not {problem.penalty}: use prox_cd"
        return None

    def iterates(self, problem: Problem, start: Start | None, tol: float, seed: int) -> Iterator[Iterate]:
        """One iterate per accepted step."""
        if not problem.loss.is_smooth:
            yield from through_smoothing(self, problem, start, tol, seed)
            return
        objective = Objective(problem)
        point = objective.start(start)
        changes: list[tuple[FloatArray, FloatArray, float]] = []
        while True:
            yield primal_iterate(objective, point, expected_gap(problem, point.gradient, point.value))
            direction = -_inverse_hessian(changes, point.gradient)
            slope = float(direction @ point.gradient)
            if not slope < 0:
                if not changes:
                    return
                changes.clear()
                direction, slope = -point.gradient, -float(point.gradient @ point.gradient)
                if not slope < 0:
                    return
            first = 1.0 if changes else 1.0 / max(1.0, float(np.linalg.norm(point.gradient)))
            line = objective.line(point, direction)
            found = wolfe(line, point.value, slope, first)
            if found is None:
                if not changes:
                    return
                changes.clear()
                continue
            following = line.step(*found)
            move, change = following.theta - point.theta, following.gradient - point.gradient
            agreement = float(move @ change)
            if agreement > 1e-14 * float(change @ change) ** 0.5 * float(move @ move) ** 0.5:
                changes.append((move, change, 1.0 / agreement))
                del changes[:-_MEMORY]
            point = following


def expected_gap(problem: Problem, gradient: FloatArray, value: float) -> float | None:
    """|gradient|^2 / (2 strength) over P: under L2, exactly the relative gap of the gradient point."""
    if not isinstance(problem.penalty, L2):
        return None
    gap = float(gradient @ gradient) / (2 * problem.penalty.strength)
    return gap / max(abs(value), 1e-12 * problem.primal_at_zero, 1e-300)


def _inverse_hessian(changes: list[tuple[FloatArray, FloatArray, float]], gradient: FloatArray) -> FloatArray:
    """The two-loop recursion."""
    q = gradient.copy()
    weights = []
    for move, change, rho in reversed(changes):
        weights.append(rho * float(move @ q))
        q -= weights[-1] * change
    if changes:
        move, change, rho = changes[-1]
        q *= 1.0 / (rho * float(change @ change))
    for (move, change, rho), weight in zip(changes, reversed(weights), strict=True):
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
        if high - low <= 1e-14 * high:
            break
    return best if best is not None and best[1] < value else None
