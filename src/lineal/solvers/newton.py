"""Newton's method: a small Hessian is factorised; of larger ones, products are enough (``newton_cg``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.cancellation import break_off_if_over
from lineal.objective.dual_points import joint_hessian, units
from lineal.objective.losses import FloatArray
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.base import (
    CHEAP,
    DIFFERENTIABLE_PENALTY,
    EXACT,
    SMOOTHABLE,
    Iterate,
    Need,
    Start,
    State,
    state_of,
)
from lineal.solvers.costs import Cost, factor, gram, losses, passes
from lineal.solvers.lbfgs import expected_gap
from lineal.solvers.newton_cg import Sampled, sampled_cost, trust_region
from lineal.solvers.newton_line import TRIALS, Step, early_iterate, search, search_by_output, with_model
from lineal.solvers.primal import Line, Objective, Point, SmoothSolver, primal_iterate
from lineal.solvers.row_space import RowSpace, basis_cost, gram_in_row_space, is_in_row_space

# Up to so many parameters in one block the Hessian is built and factorised.
DIRECT_LIMIT = 600
# The same where outputs meet in one matrix; a product with it takes K passes of one column, so that conjugate
# gradients creep long before a factor is dear.
_JOINT_LIMIT = 2000
# Where columns nearly are combinations of others, factors of rows may take so many multiplications.
_MOST_BY_ROWS = 1e8
# Combinations of unit columns that are so small are rounding.
_VANISHED = 1e-14
# An output rests while its gradient can be worth at most this share of its part of the tolerance.
_SETTLED = 1e-3
# The numbers of the matrices that are factorised together: 64 megabytes.
_TOGETHER = 8_000_000
# Steps that are usual and those that are enough, for smooth losses and through the stages that round kinks.
_STEPS, _STEPS_OF_STAGES = (7, 12), (40, 100)
# Steps of conjugate gradients in one, for a guess, and steps that are usual then: for likelihoods, for losses
# whose curvature jumps, and through stages.
_CG_GUESS, _CG_STEPS, _CG_STEPS_OF_JUMPS, _CG_STEPS_OF_STAGES = 15, 12, 60, 200

_NEEDS = (
    SMOOTHABLE,
    DIFFERENTIABLE_PENALTY,
    Need(
        "a penalty whose curvature does not explode at 0",
        "penalty",
        lambda p: p.penalty.has_bounded_curvature,
    ),
)


class Newton(SmoothSolver):
    """Second-order steps.

    Notes
    -----
    Needs a differentiable penalty (L2, Lp, none); losses with kinks are smoothed in stages. Guarantees: the
    objective falls at every step; quadratic convergence near the optimum. With few parameters an iteration
    costs a weighted Gram matrix for each output, or for each pair of classes that meet; where rows are fewer
    than columns, under L2, that of their coordinates (``row_space``). Where that is more than some passes,
    under L2, the system is solved by conjugate gradients, two passes over X each, that are preconditioned by
    the Hessians of single outputs on a sample of rows. With many columns they work in a trust region,
    preconditioned by the Hessian's diagonal. Outputs that do not meet take steps of lengths of their own. A
    cancelled fit waits for the Gram matrix, the factorisation or the pass at hand.
    Published: Lin, Weng and Keerthi 2008; Steihaug 1983; Xu, Yang, Roosta, Re and Mahoney 2016 for sampled
    Hessians.
    """

    name = "newton"

    @property
    def needs(self) -> tuple[Need, ...]:
        """A differentiable penalty whose curvature does not explode."""
        return _NEEDS

    def cost(self, problem: Problem) -> Cost:
        """Steps of a factorised Hessian are few whatever the data; of conjugate gradients nobody knows."""
        is_smooth, is_likelihood = problem.losses.is_smooth, problem.losses.is_likelihood
        usual, most = _STEPS if is_smooth else _STEPS_OF_STAGES
        direct = _direct_epoch(problem)
        if (sampled := _sampled_epoch(problem, direct)) is not None:
            return Cost.of_epochs(sampled, usual, most)
        if direct == np.inf:
            epoch = _line_cost(problem) + passes(problem, 2 * _CG_GUESS) + losses(problem, _CG_GUESS)
            on_curves = _CG_STEPS if is_likelihood else _CG_STEPS_OF_JUMPS
            return Cost.of_epochs(epoch, on_curves if is_smooth else _CG_STEPS_OF_STAGES)
        first = basis_cost(problem) if is_in_row_space(problem) else 0.0
        return Cost(direct, first + usual * direct, first + most * direct)

    def aim(self, problem: Problem, tol: float) -> float:
        """A step of a small factorised Hessian doubles the digits."""
        return min(tol, EXACT) if problem.losses.is_smooth and _direct_epoch(problem) <= CHEAP else tol

    def is_patient(self, problem: Problem) -> bool:
        """Its steps are few, and what they have not gained yet they gain at the end."""
        return is_direct(problem) or is_sampled(problem)

    def smooth_iterates(
        self, problem: Problem, start: Start | None, tol: float, seed: int
    ) -> Iterator[Iterate]:
        """One iterate per accepted step."""
        if is_direct(problem) and is_in_row_space(problem):
            space = RowSpace.of(problem)
            yield from map(
                space.brought_back, self.smooth_iterates(space.problem, space.start(start), tol, seed)
            )
            return
        objective, kept = Objective(problem), state_of(start) or {}
        if is_sampled(problem):
            steps = Sampled(objective, tol, seed, *_way_out(objective, tol), kept)
            yield from _walk(objective, objective.start(start), steps.step, tol, kept, steps.state)
        elif is_direct(problem):
            step = _direct_step if objective.small is None else _whole_step
            yield from _walk(objective, objective.start(start), partial(step, objective, tol), tol, kept)
        else:
            yield from trust_region(objective, objective.start(start), kept.get("radius"))


def is_direct(problem: Problem) -> bool:
    """Whether the Hessian is small enough to factorise: per output, or for all that meet together."""
    if problem.is_by_output:
        return problem.X.n_columns + (problem.intercept is not Intercept.NONE) <= DIRECT_LIMIT
    losses = problem.losses
    # Joint hinges bend in few places at once: their Hessian, rounded, is singular nearly everywhere.
    is_curved = losses.is_by_score or (losses.is_smooth and not losses.is_rounded)
    return is_curved and losses.is_by_row and problem.n_parameters <= _JOINT_LIMIT


def is_sampled(problem: Problem) -> bool:
    """Whether its systems are solved by conjugate gradients, with the Hessian of a sample of rows."""
    return _sampled_epoch(problem, _direct_epoch(problem)) is not None


def _way_out(objective: Objective, tol: float) -> tuple[float, Callable[[Point], Step | None] | None]:
    """What conjugate gradients may cost before the Hessian is factorised instead, and a step that does so."""
    problem = objective.problem
    if not is_direct(problem):
        return np.inf, None
    return _direct_epoch(problem), partial(_direct_step, objective, tol)


def _line_cost(problem: Problem) -> float:
    return passes(problem, 2) + losses(problem, 2 + TRIALS)


def _direct_epoch(problem: Problem) -> float:
    """Seconds of a step that factorises its Hessian; infinite where that is too large."""
    if not is_direct(problem):
        return np.inf
    K, line = problem.n_outputs, _line_cost(problem)
    size, matrix = problem.X.n_columns, gram(problem)
    if is_in_row_space(problem):
        size, matrix = problem.X.n_rows, gram_in_row_space(problem)
    if problem.is_by_output:
        return line + K * (matrix + factor(size))
    return line + K * (K + 1) / 2 * matrix + factor(size * problem.weight_shape[1])


def _sampled_epoch(problem: Problem, direct: float) -> float | None:
    """Seconds of a step by conjugate gradients with a sampled Hessian; None where another form is sooner."""
    cost = None if direct <= CHEAP else sampled_cost(problem, DIRECT_LIMIT, _TOGETHER)
    if cost is None or cost + _line_cost(problem) >= direct:
        return None
    return cost + _line_cost(problem)


def _walk(
    objective: Objective,
    point: Point,
    step_from: Callable[[Point], Step | None],
    tol: float,
    kept: State,
    state_of_steps: Callable[[bool], State] = lambda is_early: {},
) -> Iterator[Iterate]:
    """Steps until they are rounding; ``state_of_steps`` tells what they begin with, or began if early."""
    problem = objective.problem
    is_last = kept.get("is_last", False)

    def state() -> State:
        return {"is_last": is_last} | state_of_steps(False)

    # Where outputs meet and nothing is penalised, a proof takes the system that the next step takes, and its
    # answer: the slopes that the step's model foresees.
    has_foresight = problem.penalty.is_zero and not problem.is_by_output and problem.losses.has_array_duals
    step = step_from(point) if has_foresight and not is_last else None
    if "is_early" not in kept:  # there the step is taken once more
        expected = None if is_last else expected_gap(problem, point.gradient, point.value)
        yield _foreseen(primal_iterate(objective, point, expected, state), step)
    if is_last:
        return
    while (step := step_from(point) if step is None else step) is not None:
        early = early_iterate(objective, point, step, tol)
        if early is not None:
            yield replace(early, state=_joined(early.state, state_of_steps(True)))
        following = step.line.step(step.t, step.value)
        # At the floor of rounding, steps move sideways: the driver is told by the end of the stream.
        is_last = following.value >= point.value and not _is_flatter(following, point)
        point = following
        step = step_from(point) if has_foresight and not is_last else None
        if early is None:
            expected = None if is_last else expected_gap(problem, point.gradient, point.value)
            yield _foreseen(primal_iterate(objective, point, expected, state), step)
        if is_last:
            return


def _joined(state: Callable[[], State] | None, more: State) -> Callable[[], State] | None:
    return None if state is None else lambda: state() | more


def _foreseen(iterate: Iterate, step: Step | None) -> Iterate:
    """An iterate with the dual point that the model of the next step has, where that is known."""
    ahead = None if step is None else step.ahead
    return iterate if ahead is None else replace(iterate, dual=lambda: ahead)


def _is_flatter(following: Point, point: Point) -> bool:
    return float(np.abs(following.gradient).max()) < 0.5 * float(np.abs(point.gradient).max())


# ---- few parameters -----------------------------------------------------------------------------


def _direct_step(objective: Objective, tol: float, point: Point) -> Step | None:
    """A Newton step with a line search; where too few losses are curved, one with a floor under them."""
    problem = objective.problem
    losses = problem.losses
    if not losses.is_by_score:
        direction, bent = _joint_step(objective, point)
        line = objective.line(point, direction)
        return with_model(
            search(line, 1e-10), point.slopes + losses.bending(point.Z, point.slopes)(line.moved), bent
        )
    H = losses.model_curvatures(point.Z)
    if problem.n_outputs > 1 and problem.is_by_output and losses.rows is not None:
        return _step_by_output(objective, point, H, _unsettled(objective, tol, point))
    steps = _shared_step if problem.has_shared_weights else _separate_steps
    for curvatures, shortest in ((H, 1e-3), (_floored(problem, H), 1e-10)):
        break_off_if_over()
        direction, bent = steps(objective, point, curvatures)
        line = objective.line(point, direction)
        taken = search(line, shortest)
        if taken is not None:
            return with_model(taken, point.slopes + curvatures * line.moved, bent)
    return None


def _whole_step(objective: Objective, tol: float, point: Point) -> Step | None:
    """``_direct_step`` in one call of the core; where an output finds no step it is left to the other."""
    break_off_if_over()
    small = objective.small
    assert small is not None
    found = small.newton_step(point, _settled(objective, tol, point), 1e-3)
    if found is None:
        return _direct_step(objective, tol, point)
    theta, Z, direction, moved, ahead, bent, value = found
    return Step(Line(objective, point, direction, moved, (1.0, theta, Z)), 1.0, value, ahead, bent)


def _floored(problem: Problem, H: FloatArray) -> FloatArray:
    return np.maximum(H, 1e-2 * (problem.losses.curvature or 1.0))


def _unsettled(objective: Objective, tol: float, point: Point) -> NDArray[np.intp]:
    """The outputs whose gradients can be worth something beside a gap of ``tol``; all, where none can."""
    K = objective.problem.n_outputs
    worth = np.square(point.gradient.reshape(-1, K)).sum(axis=0)
    wanted = np.flatnonzero(worth > _settled(objective, tol, point))
    return wanted if len(wanted) else np.arange(K)


def _settled(objective: Objective, tol: float, point: Point) -> float:
    """The square of an output's gradient that is worth next to nothing beside a gap of ``tol``."""
    problem = objective.problem
    return 2 * objective.ridge * _SETTLED * tol * problem.yardstick(point.value) / problem.n_outputs


def _step_by_output(
    objective: Objective, point: Point, H: FloatArray, outputs: NDArray[np.intp]
) -> Step | None:
    """The same where outputs meet nowhere: each has a length of its own, and a floor where it needs one."""
    direction, bent = _separate_steps(objective, point, H, outputs)
    line = objective.line(point, direction)
    taken, missing = search_by_output(line, 1e-3)
    if not missing.any():
        return with_model(taken, point.slopes + H * line.moved, bent)
    floored = np.where(missing, _floored(objective.problem, H), H)
    direction, _ = _separate_steps(objective, point, floored, np.flatnonzero(missing))
    if taken is not None:
        direction += taken.line.direction  # 0 for those that are missing, as theirs is for the others
    return search_by_output(objective.line(point, direction), 1e-10)[0]


def _separate_steps(
    objective: Objective, point: Point, curvatures: FloatArray, outputs: NDArray[np.intp] | None = None
) -> tuple[FloatArray, FloatArray]:
    """(step, the losses' Hessian times it). Outputs do not meet in the Hessian: one small system for each."""
    problem, K = objective.problem, objective.problem.n_outputs
    H = problem.losses.weighted(curvatures)
    bend = objective.penalty_curvature(point.theta).reshape(-1, K)
    gradient = point.gradient.reshape(-1, K)
    step, bent = np.zeros_like(gradient), np.zeros_like(gradient)
    wanted = np.arange(K) if outputs is None else outputs
    width = max(1, _TOGETHER // len(gradient) ** 2)
    for part in (wanted[first : first + width] for first in range(0, len(wanted), width)):
        G = problem.X.grams(H[:, part], objective.has_intercept)
        A = G.copy()
        A.reshape(len(part), -1)[:, :: len(gradient) + 1] += bend[:, part].T
        step[:, part] = -_core.BlockFactors.of(A).solve(np.ascontiguousarray(gradient[:, part]))
        bent[:, part] = np.matmul(G, step[:, part].T[:, :, None])[:, :, 0].T
    return step.ravel(), bent.ravel()


def _shared_step(objective: Objective, point: Point, curvatures: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The same where scores share weights: each loss sees one score, but all meet in the one system."""
    problem = objective.problem
    K, H = problem.n_outputs, problem.losses.weighted(curvatures)
    G = problem.X.joint_gram(lambda l: H[:, l : l + 1] * np.eye(K)[l], K, objective.has_intercept)
    bend = objective.penalty_curvature(point.theta)
    step = -solve_positive(G, bend, point.gradient)
    return step, G @ step


def _joint_step(objective: Objective, point: Point) -> tuple[FloatArray, FloatArray]:
    """All outputs that meet in one system."""
    problem, bend = objective.problem, objective.penalty_curvature(point.theta)
    if (sheet := _sheet(objective, point)) is not None:
        step = -_solve_by_rows(sheet, bend, point.gradient)
        return step, sheet.T @ (sheet @ step)
    G = joint_hessian(problem, problem.X, point.Z, objective.has_intercept)
    step = -solve_positive(G, bend, point.gradient)
    return step, G @ step


def _sheet(objective: Objective, point: Point) -> FloatArray | None:
    """A matrix whose products are the losses' Hessian, of few columns that nearly are combinations of others.

    Their Hessian knows those combinations by the square of what is left, which rounding takes away: steps
    along them would be none. None elsewhere, and where the factor of a row's Hessian is not known.
    """
    problem, K = objective.problem, objective.problem.n_outputs
    size = problem.X.n_columns + objective.has_intercept
    is_likely = problem.losses.is_likelihood and problem.losses.is_by_row and not problem.has_shared_weights
    if not is_likely or problem.X.n_rows * K * (size * K) ** 2 > _MOST_BY_ROWS:
        return None
    X = problem.X.dense_array(_MOST_BY_ROWS) if problem.has_faint_scores else None
    if X is None:
        return None
    # diag(p) - p p' = F F' with F = diag(r) (1 - r r') and r = sqrt(p).
    p = np.exp(point.Z - point.Z.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    r, places = np.sqrt(p), np.arange(K)
    within = -r[:, :, None] * r[:, None, :]
    within[:, places, places] = p @ (1.0 - np.eye(K))  # 1 - p, without what that loses where p is nearly 1
    F = r[:, :, None] * within
    A = np.column_stack([X.astype(np.float64), np.ones((len(X), size - X.shape[1]))])
    A *= np.sqrt(problem.losses.weighted(np.ones((len(A), 1))))
    return np.einsum("ilk,ij->ikjl", F, A).reshape(len(A) * K, -1)


def _solve_by_rows(sheet: FloatArray, bend: FloatArray, right: FloatArray) -> FloatArray:
    """(sheet'sheet + diag(bend))^-1 right, the shortest in units of the columns where that is singular."""
    unit = units(np.square(sheet).sum(axis=0) + bend)
    whole = np.vstack([sheet, np.diag(np.sqrt(bend))]) * unit
    if not np.isfinite(whole).all():  # LAPACK would print what it thinks of them
        raise np.linalg.LinAlgError("the Hessian overflows")
    _, sizes, V = np.linalg.svd(np.linalg.qr(whole, mode="r"))
    inverse = np.divide(
        1.0, sizes, out=np.zeros_like(sizes), where=sizes > _VANISHED * sizes.max(initial=0.0)
    )
    step, left = np.zeros_like(right), unit * right
    for _ in range(3):  # again for what rounding left
        step = step + V.T @ (inverse**2 * (V @ (left - whole.T @ (whole @ step))))
    return np.asarray(unit * step)


def solve_positive(G: FloatArray, bend: FloatArray, right: FloatArray) -> FloatArray:
    """(G + diag(bend))^-1 right for a positive semi-definite G."""
    A = G.copy()
    A.ravel()[:: len(A) + 1] += bend
    found = _core.solve_positive(A, right)
    if found.any():
        return found
    # Nothing can be factorised: the steepest way down, in units of the columns.
    return np.asarray(units(np.diag(A)) ** 2 * right)
