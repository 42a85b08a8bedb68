"""Newton's method: direct for few parameters, Hessian-free in a trust region for many."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy.linalg

from lineal.objective.joint import Softmax
from lineal.objective.losses import FloatArray
from lineal.objective.penalties import Lp
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.base import Iterate, Solver, Start
from lineal.solvers.lbfgs import expected_gap
from lineal.solvers.primal import Objective, Point, primal_iterate, through_smoothing

Product = Callable[[FloatArray], FloatArray]

# Up to so many parameters in one block the Hessian is built and factorised.
DIRECT_LIMIT = 600


class Newton(Solver):
    """Second-order steps.

    Notes
    -----
    Needs a differentiable penalty (L2, Lp, none); losses with kinks are smoothed in stages. Guarantees:
    the objective falls at every step; quadratic convergence near the optimum. With few columns an
    iteration costs one weighted Gram matrix; with many, two passes over X per conjugate-gradient step,
    in a trust region, preconditioned by the Hessian's diagonal. Published: Lin, Weng and Keerthi 2008;
    Steihaug 1983.
    """

    name = "newton"

    def refusal(self, problem: Problem) -> str | None:
        """Needs a differentiable penalty."""
        if not problem.penalty.is_smooth:
            return f"newton needs a differentiable penalty, not {problem.penalty}: use prox_cd"
        if isinstance(problem.penalty, Lp) and problem.penalty.p < 1.2:
            return f"newton is unreliable for {problem.penalty}, whose curvature explodes at 0: use lbfgs"
        return None

    def iterates(self, problem: Problem, start: Start | None, tol: float, seed: int) -> Iterator[Iterate]:
        """One iterate per accepted step."""
        if not problem.loss.is_smooth:
            yield from through_smoothing(self, problem, start, tol, seed)
            return
        objective = Objective(problem)
        if is_direct(problem):
            yield from _direct(objective, objective.start(start))
        else:
            yield from _trust_region(objective, objective.start(start))


def is_direct(problem: Problem) -> bool:
    """Whether the Hessian is small enough to factorise: per output, or for all of a joint loss together."""
    block = problem.X.n_columns + (problem.intercept is not Intercept.NONE)
    if problem.loss.is_joint:
        return isinstance(problem.loss, Softmax) and block * problem.n_outputs <= DIRECT_LIMIT
    return block <= DIRECT_LIMIT


# ---- few parameters -----------------------------------------------------------------------------


def _direct(objective: Objective, point: Point) -> Iterator[Iterate]:
    problem = objective.problem
    while True:
        yield primal_iterate(objective, point, expected_gap(problem, point.gradient, point.value))
        following = _direct_step(objective, point)
        if following is None:
            return
        # At the floor of rounding, steps move sideways: the driver is told by the end of the stream.
        if following.value >= point.value and not _is_flatter(following, point):
            yield primal_iterate(objective, following)
            return
        point = following


def _direct_step(objective: Objective, point: Point) -> Point | None:
    """A Newton step with backtracking; where too few losses are curved, one with a floor under them."""
    if objective.problem.loss.is_joint:
        return _backtrack(objective, point, _joint_step(objective, point), 1e-10)
    H = objective.problem.model_curvatures(point.Z)
    taken = _backtrack(objective, point, _separate_steps(objective, point, H), 1e-3)
    if taken is None:
        floored = np.maximum(H, 1e-2 * (objective.problem.loss.curvature or 1.0))
        taken = _backtrack(objective, point, _separate_steps(objective, point, floored), 1e-10)
    return taken


def _backtrack(objective: Objective, point: Point, step: FloatArray, shortest: float) -> Point | None:
    slope = float(step @ point.gradient)
    if not slope < 0:
        return None
    line = objective.line(point, step)
    t, noise = 1.0, 1e-15 * abs(point.value)
    while (value := line.value(t)) > point.value + 1e-4 * t * slope + noise:
        t /= 2
        if t < shortest:
            return None
    return line.step(t, value)


def _is_flatter(following: Point, point: Point) -> bool:
    return float(np.abs(following.gradient).max()) < 0.5 * float(np.abs(point.gradient).max())


def _separate_steps(objective: Objective, point: Point, curvatures: FloatArray) -> FloatArray:
    """Outputs do not meet in the Hessian: one small system for each."""
    problem = objective.problem
    K = problem.n_outputs
    has_intercept = objective.has_intercept
    H = problem.weighted(curvatures)
    bend = objective.pad(problem.penalty.second_derivative(objective.penalised(point.theta))).reshape(-1, K)
    gradient = point.gradient.reshape(-1, K)
    step = np.empty_like(gradient)
    for k in range(K):
        G = problem.X.gram(np.ascontiguousarray(H[:, k]), has_intercept)
        step[:, k] = -solve_positive(G, bend[:, k], gradient[:, k])
    return step.ravel()


def _joint_step(objective: Objective, point: Point) -> FloatArray:
    """Softmax: the Hessian's (k, l) block is [X 1]'diag(s p_k ([k=l] - p_l))[X 1]."""
    problem, K = objective.problem, objective.problem.n_outputs
    p = point.slopes.copy()
    p[np.arange(len(p)), problem.y] += 1.0
    size = problem.X.n_columns + objective.has_intercept
    G = np.empty((size, K, size, K))
    for k in range(K):
        for l in range(k + 1):
            h = problem.s * p[:, k] * ((k == l) - p[:, l])
            G[:, k, :, l] = G[:, l, :, k] = problem.X.gram(h, objective.has_intercept)
    bend = objective.pad(problem.penalty.second_derivative(objective.penalised(point.theta)))
    return -solve_positive(G.reshape(size * K, size * K), bend, point.gradient)


def solve_positive(G: FloatArray, bend: FloatArray, right: FloatArray) -> FloatArray:
    """(G + diag(bend))^-1 right for a positive semi-definite G, scaled to a unit diagonal first."""
    A = G.copy()
    A[np.diag_indices_from(A)] += bend
    diagonal = np.diag(A).copy()
    # A direction without curvature (a zero column, losses that are all flat) takes no step of its own.
    scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    A *= scale[:, None] * scale[None, :]
    A[np.diag_indices_from(A)] = 1.0
    for damping in (0.0, 1e-13, 1e-10, 1e-7, 1e-4):
        try:
            A[np.diag_indices_from(A)] = 1.0 + damping
            factor = scipy.linalg.cho_factor(A, check_finite=False)
            return np.asarray(scale * scipy.linalg.cho_solve(factor, scale * right, check_finite=False))
        except np.linalg.LinAlgError:
            continue
    return scale * scale * right


# ---- many parameters ----------------------------------------------------------------------------


def _trust_region(objective: Objective, point: Point) -> Iterator[Iterate]:
    problem = objective.problem
    radius: float | None = None
    while True:
        yield primal_iterate(objective, point, expected_gap(problem, point.gradient, point.value))
        product, diagonal = _curvature(objective, point)
        scale = 1.0 / np.sqrt(np.maximum(diagonal, 1e-12 * diagonal.max(initial=1e-300)))
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
    problem = objective.problem
    bend = objective.pad(problem.penalty.second_derivative(objective.penalised(point.theta)))
    H = problem.curvatures(point.Z)
    SH = problem.weighted(H)
    diagonal = objective.flat(problem.X.squared_adjoint(SH), SH.sum(axis=0)) + bend

    def product(v: FloatArray) -> FloatArray:
        curved = problem.loss.curvature_product(problem.y, point.Z, objective.scores(v))
        return objective.back(curved) + bend * v

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
