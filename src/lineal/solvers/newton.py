"""Newton's method: direct for few parameters, Hessian-free in a trust region for many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

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
from lineal.solvers.primal import Line, Objective, Point, SmoothSolver, primal_iterate, state_at

Product = Callable[[FloatArray], FloatArray]

# Up to so many parameters in one block the Hessian is built and factorised.
DIRECT_LIMIT = 600
# The share of the largest curvature that a column counts as having, at least, under a rounded loss.
_WALL = 1e-2
# A line search is content when the slope has fallen to this share, or after so many trials.
_FLAT_ENOUGH, _TRIALS = 0.05, 4
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
    Needs a differentiable penalty (L2, Lp, none); losses with kinks are smoothed in stages. Guarantees:
    the objective falls at every step; quadratic convergence near the optimum. With few columns an
    iteration costs one weighted Gram matrix; with many, two passes over X per conjugate-gradient step,
    in a trust region, preconditioned by the Hessian's diagonal. A cancelled fit waits for the
    Gram matrix, the factorisation or the pass at hand. Published: Lin, Weng and Keerthi 2008; Steihaug 1983.
    """

    name = "newton"

    @property
    def needs(self) -> tuple[Need, ...]:
        """A differentiable penalty whose curvature does not explode."""
        return _NEEDS

    def cost(self, problem: Problem) -> Cost:
        """Steps of a factorised Hessian are few whatever the data; of conjugate gradients nobody knows."""
        line = passes(problem, 2) + losses(problem, 2 + _TRIALS)
        is_smooth, is_likelihood = problem.losses.is_smooth, problem.losses.is_likelihood
        usual, most = _STEPS if is_smooth else _STEPS_OF_STAGES
        if not is_direct(problem):
            epoch = line + passes(problem, 2 * _CG_GUESS) + losses(problem, _CG_GUESS)
            on_curves = _CG_STEPS if is_likelihood else _CG_STEPS_OF_JUMPS
            return Cost.of_epochs(epoch, on_curves if is_smooth else _CG_STEPS_OF_STAGES)
        K = problem.n_outputs
        if problem.is_by_output:
            epoch = line + K * (gram(problem) + factor(problem.X.n_columns))
        else:
            epoch = line + K * (K + 1) / 2 * gram(problem) + factor(problem.n_parameters)
        return Cost.of_epochs(epoch, usual, most)

    def aim(self, problem: Problem, tol: float) -> float:
        """A step of a small factorised Hessian doubles the digits."""
        is_quadratic = problem.losses.is_smooth and is_direct(problem)
        return min(tol, EXACT) if is_quadratic and self.cost(problem).epoch <= CHEAP else tol

    def is_patient(self, problem: Problem) -> bool:
        """Its steps are few, and what they have not gained yet they gain at the end."""
        return is_direct(problem)

    def smooth_iterates(
        self, problem: Problem, start: Start | None, tol: float, seed: int
    ) -> Iterator[Iterate]:
        """One iterate per accepted step."""
        objective, kept = Objective(problem), state_of(start) or {}
        if is_direct(problem):
            yield from _direct(objective, objective.start(start), tol, kept)
        else:
            yield from _trust_region(objective, objective.start(start), kept.get("radius"))


def is_direct(problem: Problem) -> bool:
    """Whether the Hessian is small enough to factorise: per output, or for all that meet together."""
    if problem.is_by_output:
        return problem.X.n_columns + (problem.intercept is not Intercept.NONE) <= DIRECT_LIMIT
    losses = problem.losses
    # Joint hinges bend in few places at once: their Hessian, rounded, is singular nearly everywhere.
    is_curved = losses.is_by_score or (losses.is_smooth and not losses.is_rounded)
    return is_curved and losses.is_by_row and problem.n_parameters <= DIRECT_LIMIT


# ---- few parameters -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Step:
    """An accepted step: where on which line, P there, and the model that chose it.

    The model is quadratic: ``curvatures`` are its second derivatives in the scores, and ``bent`` its Hessian
    times the line's direction. A joint loss leaves them out.
    """

    line: Line
    t: float
    value: float
    curvatures: FloatArray | None = None
    bent: FloatArray | None = None


def _direct(objective: Objective, point: Point, tol: float, kept: State) -> Iterator[Iterate]:
    problem = objective.problem
    is_last = kept.get("is_last", False)

    def state() -> State:
        return {"is_last": is_last}

    if "is_early" not in kept:  # there the step is taken once more
        expected = None if is_last else expected_gap(problem, point.gradient, point.value)
        yield primal_iterate(objective, point, expected, state)
    if is_last:
        return
    while (step := _direct_step(objective, point)) is not None:
        early = _early_iterate(objective, point, step, tol)
        if early is not None:
            yield early
        following = step.line.step(step.t, step.value)
        # At the floor of rounding, steps move sideways: the driver is told by the end of the stream.
        is_last = following.value >= point.value and not _is_flatter(following, point)
        point = following
        if early is None:
            expected = None if is_last else expected_gap(problem, point.gradient, point.value)
            yield primal_iterate(objective, point, expected, state)
        if is_last:
            return


def _early_iterate(objective: Objective, point: Point, step: _Step, tol: float) -> Iterate | None:
    """The iterate with the model's own dual point, where that promises a gap of ``tol``.

    At the model's minimiser its slopes are u + h (X c), and their V is known without a pass over X unless
    some of them leave the domain. Near the optimum their bound is as tight as the weights are good, while
    the gap of the true slopes is larger by up to the Hessian's condition number: a step or two is saved.
    """
    problem, line = objective.problem, step.line
    if step.curvatures is None or step.bent is None or not problem.penalty.is_ridge:
        return None
    if problem.losses.is_rounded:  # pieces and bends: the model's slopes are no better than the true ones
        return None
    ahead = point.slopes + step.curvatures * line.moved
    U = problem.losses.into_domain(ahead)
    V = point.gradient - objective.penalty_gradient(point.theta) + step.bent

    def gap() -> float:
        return problem.relative_gap(step.value, -conjugates - objective.penalty_conjugate(-V))

    conjugates = problem.losses.conjugate(U)
    # What leaves the domain is missing from V: a gap far below 0 says that it is much.
    if not -10 * tol <= gap() <= 10 * tol:
        return None
    if not np.array_equal(U, ahead):
        V = V + objective.back(problem.losses.weighted(U - ahead))
    if not gap() <= tol:
        return None
    W, b = objective.split(line.at(step.t)[0])

    def state() -> State:
        return state_at(point) | {"is_early": True}

    return Iterate(lambda: (W, b.copy()), lambda: U, gap(), step.value, state=state)


def _direct_step(objective: Objective, point: Point) -> _Step | None:
    """A Newton step with a line search; where too few losses are curved, one with a floor under them."""
    losses = objective.problem.losses
    if not losses.is_by_score:
        return _search(objective, point, _joint_step(objective, point), 1e-10)
    H = losses.model_curvatures(point.Z)
    steps = _shared_step if objective.problem.has_shared_weights else _separate_steps
    for curvatures, shortest in (
        (H, 1e-3),
        (np.maximum(H, 1e-2 * (losses.curvature or 1.0)), 1e-10),
    ):
        break_off_if_over()
        direction, bent = steps(objective, point, curvatures)
        taken = _search(objective, point, direction, shortest)
        if taken is not None:
            return replace(taken, curvatures=curvatures, bent=bent)
    return None


def _search(objective: Objective, point: Point, direction: FloatArray, shortest: float) -> _Step | None:
    """The lowest of a few points on the line, by Newton in one dimension from t = 1 inside a bracket.

    A trial costs no pass over X, and far from the optimum the best length is often nearer 2 than 1.
    """
    incline = float(direction @ point.gradient)
    if not incline < 0:
        return None
    line = objective.line(point, direction)
    t, low, high, noise = 1.0, 0.0, np.inf, 1e-15 * abs(point.value)
    best: _Step | None = None
    for trial in range(_TRIALS + 40):
        value, slope, bend = line.probe(t)
        is_lower = value <= point.value + 1e-4 * t * incline + noise
        if is_lower and (best is None or value < best.value):
            best = _Step(line, t, value)
        if best is not None and (abs(slope) <= _FLAT_ENOUGH * abs(incline) or trial >= _TRIALS):
            return best
        low, high = (t, high) if is_lower and slope < 0 else (low, t)
        if high < shortest:
            return None
        newton = t - slope / bend if bend > 0 else np.nan
        t = newton if low < newton < min(high, 4 * t) else 2 * t if high == np.inf else (low + high) / 2
    return best


def _is_flatter(following: Point, point: Point) -> bool:
    return float(np.abs(following.gradient).max()) < 0.5 * float(np.abs(point.gradient).max())


def _separate_steps(
    objective: Objective, point: Point, curvatures: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """(step, the losses' Hessian times it). Outputs do not meet in the Hessian: one small system for each."""
    problem = objective.problem
    K = problem.n_outputs
    has_intercept = objective.has_intercept
    H = problem.losses.weighted(curvatures)
    bend = objective.penalty_curvature(point.theta).reshape(-1, K)
    gradient = point.gradient.reshape(-1, K)
    step, bent = np.empty_like(gradient), np.empty_like(gradient)
    for k in range(K):
        break_off_if_over()
        G = problem.X.gram(np.ascontiguousarray(H[:, k]), has_intercept)
        step[:, k] = -solve_positive(G, bend[:, k], gradient[:, k])
        bent[:, k] = G @ step[:, k]
    return step.ravel(), bent.ravel()


def _shared_step(objective: Objective, point: Point, curvatures: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The same where scores share weights: each loss sees one score, but all meet in the one system."""
    problem = objective.problem
    K, H = problem.n_outputs, problem.losses.weighted(curvatures)
    G = problem.X.joint_gram(lambda l: H[:, l : l + 1] * np.eye(K)[l], K, objective.has_intercept)
    bend = objective.penalty_curvature(point.theta)
    step = -solve_positive(G, bend, point.gradient)
    return step, G @ step


def _joint_step(objective: Objective, point: Point) -> FloatArray:
    """All outputs that meet in one system."""
    problem = objective.problem
    G = joint_hessian(problem, problem.X, point.Z, objective.has_intercept)
    return -solve_positive(G, objective.penalty_curvature(point.theta), point.gradient)


def solve_positive(G: FloatArray, bend: FloatArray, right: FloatArray) -> FloatArray:
    """(G + diag(bend))^-1 right for a positive semi-definite G."""
    A = G.copy()
    A.ravel()[:: len(A) + 1] += bend
    found = _core.solve_positive(A, right)
    if found.any():
        return found
    # Nothing can be factorised: the steepest way down, in units of the columns.
    return np.asarray(units(np.diag(A)) ** 2 * right)


# ---- many parameters ----------------------------------------------------------------------------


def _trust_region(objective: Objective, point: Point, radius: float | None) -> Iterator[Iterate]:
    problem = objective.problem
    # Where all rows are off the bends of a rounded loss there is no curvature now, and a wall close by.
    floor = _WALL / objective.column_scales() ** 2 if problem.losses.is_rounded else np.zeros(1)

    def state() -> State:
        return {"radius": radius}

    while True:
        yield primal_iterate(objective, point, expected_gap(problem, point.gradient, point.value), state)
        product, diagonal = _curvature(objective, point)
        scale = 1.0 / np.sqrt(np.maximum(diagonal, floor + 1e-12 * diagonal.max(initial=1e-300)))
        scaled = scale * point.gradient
        size = float(np.linalg.norm(scaled))
        if size == 0.0:
            return
        radius = size if radius is None else radius
        scaled_product = _between(scale, product)
        for _ in range(40):
            # Eisenstat and Walker: solve roughly while far away, exactly when near.
            forcing = min(0.1, size**0.5 * 0.1) * size
            move, model = _steihaug(scaled_product, scaled, radius, forcing)
            step = scale * move
            line = objective.line(point, step)
            value = line.value(1.0)
            ratio = (value - point.value) / model if model < 0 else -1.0
            length = float(np.linalg.norm(move))
            if ratio > 0.75 and length > 0.99 * radius:
                radius *= 3
            elif ratio < 0.25:
                radius = 0.25 * length
            if ratio > 1e-4 and value < point.value:
                break
            if radius < 1e-15 * (1 + float(np.linalg.norm(point.theta / scale))):
                return
        else:
            return
        point = line.step(1.0, value)


def _between(scale: FloatArray, product: Product) -> Product:
    """The Hessian in coordinates in which its diagonal is 1."""
    return lambda v: scale * product(scale * v)


def _curvature(objective: Objective, point: Point) -> tuple[Product, FloatArray]:
    """Hessian-vector products at a point, and the Hessian's diagonal."""
    losses, bend = objective.problem.losses, objective.penalty_curvature(point.theta)
    SH = losses.weighted(losses.curvatures(point.Z))
    diagonal = objective.flat(objective.problem.X.squared_adjoint(SH), SH.sum(axis=0)) + bend
    bent = losses.bending(point.Z)

    def product(v: FloatArray) -> FloatArray:
        return objective.back(losses.weighted(bent(objective.scores(v)))) + bend * v

    return product, diagonal


def _steihaug(
    product: Product, gradient: FloatArray, radius: float, forcing: float
) -> tuple[FloatArray, float]:
    """Conjugate gradients on the quadratic model, stopped at the edge of the trust region; (step, model)."""
    step = np.zeros_like(gradient)
    residual = -gradient
    direction = residual.copy()
    square = float(residual @ residual)
    for _ in range(250):
        if square**0.5 <= forcing:
            break
        break_off_if_over()
        bent = product(direction)
        curvature = float(direction @ bent)
        t = square / curvature if curvature > 0 else np.inf
        following = step + t * direction if np.isfinite(t) else step
        if not np.isfinite(t) or float(np.linalg.norm(following)) >= radius:
            dd, sd, ss = float(direction @ direction), float(step @ direction), float(step @ step)
            root = np.sqrt(max(sd * sd + dd * (radius * radius - ss), 0.0))
            t = (radius * radius - ss) / (sd + root) if sd >= 0 else (root - sd) / dd
            step = step + t * direction
            residual = residual - t * bent
            break
        step = following
        residual = residual - t * bent
        fresh = float(residual @ residual)
        direction = residual + (fresh / square) * direction
        square = fresh
    # model(step) = g.step + step'H step / 2, with H step = -residual - g.
    return step, 0.5 * float(gradient @ step) - 0.5 * float(residual @ step)
