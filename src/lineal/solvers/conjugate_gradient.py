"""Non-linear conjugate gradients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lineal.objective.losses import FloatArray
from lineal.objective.problem import Problem
from lineal.solvers.base import DIFFERENTIABLE_PENALTY, SMOOTHABLE, Iterate, Need, Start, State, state_of
from lineal.solvers.lbfgs import expected_gap, wolfe
from lineal.solvers.primal import Objective, SmoothSolver, primal_iterate

# Directions stay conjugate only along lines that are searched well.
_FLAT = 0.1


@dataclass(frozen=True)
class CG(SmoothSolver):
    """Each direction is conjugate to the last: d <- -M g + beta d, with a Wolfe line search in score space.

    Notes
    -----
    beta = max(0, g+'M (g+ - g) / g'M g) (Polak and Ribiere, with Powell's restarts), M the inverse of the
    Hessian bound's diagonal, so that the scale of a column does not matter. Needs a differentiable penalty
    (L2, Lp, none); losses with kinks are smoothed in stages. Guarantees: the objective falls at every step.
    A step costs two passes over X. Published: Polak and Ribiere 1969; Gilbert and Nocedal 1992.
    """

    name = "cg"

    @property
    def needs(self) -> tuple[Need, ...]:
        """A differentiable penalty."""
        return (SMOOTHABLE, DIFFERENTIABLE_PENALTY)

    def smooth_iterates(
        self, problem: Problem, start: Start | None, tol: float, seed: int
    ) -> Iterator[Iterate]:
        """One iterate per line search."""
        objective = Objective(problem)
        point = objective.start(start)
        inverse = objective.column_scales() ** 2
        direction: FloatArray | None = None
        first, slope = 1.0, 0.0
        if (kept := state_of(start)) is not None:
            direction, first, slope = kept["direction"], kept["first"], kept["slope"]

        def state() -> State:
            return {"direction": direction, "first": first, "slope": slope}

        while True:
            yield primal_iterate(objective, point, expected_gap(problem, point.gradient, point.value), state)
            steepest = -inverse * point.gradient
            is_restart = direction is None or not float(direction @ point.gradient) < 0
            if direction is None or is_restart:
                direction, first = steepest, 1.0
            before, slope = slope, float(direction @ point.gradient)
            if not slope < 0:
                return
            if not is_restart:
                # The first trial gains as much to first order as the last step did.
                first = min(first * before / slope, 1e3 * first)
            line = objective.line(point, direction)
            found = wolfe(line, point.value, slope, first, _FLAT)
            if found is None:
                if is_restart:
                    return
                direction = None
                continue
            following = line.step(*found)
            first = found[0]
            change = inverse * (following.gradient - point.gradient)
            size = float(point.gradient @ (inverse * point.gradient))
            beta = max(0.0, float(following.gradient @ change) / size)
            direction = beta * direction - inverse * following.gradient
            point = following
