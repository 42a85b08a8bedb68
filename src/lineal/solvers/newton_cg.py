"""Newton's method by products with the Hessian: with a sampled Hessian beside them, or in a trust region."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np

from lineal import _core
from lineal.cancellation import break_off_if_over
from lineal.objective.losses import FloatArray
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.base import Iterate, State
from lineal.solvers.costs import factor, gram_of, losses, passes
from lineal.solvers.lbfgs import expected_gap
from lineal.solvers.newton_line import Step, search, search_by_output, with_model
from lineal.solvers.primal import Line, Objective, Point, primal_iterate

Product = Callable[[FloatArray], FloatArray]

# Rows of a sample for each column, products in a step that are usual and at most, and the share of the
# residual that a step leaves far from the optimum.
_SAMPLE, _PRODUCTS, _MOST_PRODUCTS, _FORCING = 12, 7, 200, 0.1
# The residual of a system may cost this share of the tolerance in the gap.
_SHARE = 0.1
# A sample's factors serve the next step too where a step took so many products at most, and no longer than
# for so many.
_FEW, _STALE = 3, 7
# Where a sample has less than this share of a column's curvature, as where few rows make up all of it, the
# column has its own entry on the diagonal back.
_MISSED = 0.5
# The share of the largest curvature that a column counts as having, at least, under a rounded loss.
_WALL = 1e-2


# ---- conjugate gradients with a sampled Hessian -------------------------------------------------


def sampled_cost(problem: Problem, n_columns: int, n_numbers: int) -> float | None:
    """Seconds of a step's system; None with more columns, or more numbers in its factors, than these."""
    losses_, K = problem.losses, problem.n_outputs
    size = problem.X.n_columns + (problem.intercept is not Intercept.NONE)
    is_small = size <= n_columns and K * size * size <= n_numbers
    is_curved = losses_.is_by_row and losses_.is_smooth and not losses_.is_rounded
    if not (is_small and is_curved and problem.penalty.is_ridge and losses_.has_array_duals):
        return None
    if problem.X.native_rows is None or problem.has_shared_weights:
        return None
    sample = min(_SAMPLE * size, problem.X.n_rows)
    blocks = K * (gram_of(problem.X, sample) + factor(size))
    return blocks + passes(problem, 2 * _PRODUCTS) + losses(problem, 1)


class Sampled:
    """Steps whose systems are solved by conjugate gradients, preconditioned by the Hessian of some rows.

    Classes that meet are preconditioned as if they did not: each has the Gram matrix of its own curvatures.
    Rows are drawn with chances in proportion to these, some dozens for each column, and count the more the
    smaller their chance was (Xu et al. 2016): where few rows are curved, nearly all of these are taken.

    A system is solved until what is left of it costs the certificate next to nothing, and more roughly far
    from the optimum (Eisenstat and Walker 1996). Where the sample says too little of an ill-conditioned one,
    the step is made ``otherwise`` once its products have cost ``enough`` seconds, by their count.
    """

    def __init__(
        self,
        objective: Objective,
        tol: float,
        seed: int,
        enough: float = np.inf,
        otherwise: Callable[[Point], Step | None] | None = None,
        kept: State | None = None,
    ) -> None:
        self._objective, self._tol, self._seed, self._otherwise = objective, tol, seed, otherwise
        product = passes(objective.problem, 2)
        self._most = max(_PRODUCTS, int(min(enough / product, _MOST_PRODUCTS)))
        # The scores at which the factors were made that the next step begins with, if there are such.
        self._made_at: FloatArray | None = None if kept is None else kept.get("made_at")
        self._before = self._made_at
        self._held: _core.BlockFactors | None = None

    def state(self, is_early: bool = False) -> State:
        """What the next step begins with; where ``is_early``, what the last one did."""
        return {"made_at": self._before if is_early else self._made_at}

    @cached_property
    def _chances(self) -> FloatArray:
        """A number for each row: it is drawn where its share of the curvature is larger."""
        return np.random.default_rng(self._seed).random((self._objective.problem.X.n_rows, 1))

    @property
    def _n_sampled(self) -> int:
        return _SAMPLE * (self._objective.problem.X.n_columns + self._objective.has_intercept)

    def _factors(self, point: Point, whole: FloatArray) -> _core.BlockFactors:
        """Those of each output's own Hessian, of the sample; the curvatures of all rows are ``whole``."""
        objective = self._objective
        problem, K = objective.problem, objective.problem.n_outputs
        bend = objective.penalty_curvature(point.theta).reshape(-1, K)
        size, n = len(bend), problem.X.n_rows
        H = whole
        if self._n_sampled < n:
            least = whole.sum(axis=0) / self._n_sampled
            H = np.where(whole > self._chances * least, np.maximum(whole, least), 0.0)
        is_one = not np.any(H[:, 1:] != H[:, :1])  # as at the start, where all classes are as likely
        A = problem.X.grams(H[:, :1] if is_one else H, objective.has_intercept)
        A = np.repeat(A, K, axis=0) if is_one and K > 1 else A
        diagonal = A.reshape(K, -1)[:, :: size + 1]
        if self._n_sampled < n:
            exact = objective.flat(problem.X.squared_adjoint(whole), whole.sum(axis=0)).reshape(-1, K).T
            diagonal[:] = np.where(diagonal < _MISSED * exact, exact, diagonal)
        diagonal += bend.T
        return _core.BlockFactors.of(A)

    def _made(self, point: Point, weighted: FloatArray) -> _core.BlockFactors:
        self._made_at, self._held = point.Z, self._factors(point, weighted)
        return self._held

    def _at_hand(self, point: Point, weighted: FloatArray) -> tuple[_core.BlockFactors, bool]:
        """Factors to begin with, those of an earlier step where they serve, and whether they are of this one.

        Of a ridge they depend on the scores alone, so a stream that begins again makes the same.
        """
        self._before = self._made_at
        if self._made_at is None:
            return self._made(point, weighted), True
        if self._held is None:
            losses = self._objective.problem.losses
            there = losses.curvatures_at(self._made_at, losses.slopes(self._made_at))
            self._held = self._factors(point, losses.weighted(there))
        return self._held, False

    def step(self, point: Point) -> Step | None:
        """The next one."""
        objective = self._objective
        problem = objective.problem
        K, bend = problem.n_outputs, objective.penalty_curvature(point.theta)
        curvatures = problem.losses.curvatures_at(point.Z, point.slopes)
        weighted = problem.losses.weighted(curvatures)
        factors, is_fresh = self._at_hand(point, weighted)
        is_by_score, n_products = problem.losses.is_by_score, 0

        def times(scores: FloatArray) -> FloatArray:
            return curvatures * scores

        bent = times if is_by_score else problem.losses.bending(point.Z, point.slopes)

        # Outputs that do not meet are as many systems, each with its own lengths.
        m = K if problem.is_by_output else 1

        def preconditioned(residual: FloatArray) -> FloatArray:
            return factors.solve(residual.reshape(-1, K)).reshape(-1, m)

        def inner(a: FloatArray, b: FloatArray) -> FloatArray:
            return np.einsum("ij,ij->j", a, b)

        residual = -point.gradient.reshape(-1, m)
        direction, moved = np.zeros_like(residual), np.zeros_like(point.Z)
        conjugate = preconditioned(residual)
        square = inner(residual, conjugate)
        is_open, scale = square > 0, max(problem.yardstick(point.value), 1e-300)
        rough = np.minimum(_FORCING, (square / scale) ** 0.5) ** 2 * square
        enough = 2 * objective.ridge * _SHARE * self._tol * scale / m
        for n_products in range(1, self._most + 1):
            break_off_if_over()
            scores, product = objective.product(conjugate.ravel(), bent, weighted if is_by_score else None)
            product = (product + bend * conjugate.ravel()).reshape(-1, m)
            curvature = inner(conjugate, product)
            is_open &= curvature > 0
            t = np.divide(square, curvature, out=np.zeros(m), where=is_open)
            direction += t * conjugate
            moved += t * scores
            residual -= t * product
            is_stale = not is_fresh and n_products == _STALE
            if is_stale:
                factors, is_fresh = self._made(point, weighted), True
            following = preconditioned(residual)
            fresh = inner(residual, following)
            is_open &= (fresh > rough) & (inner(residual, residual) > enough)
            if not is_open.any():
                break
            share = np.divide(fresh, square, out=np.zeros(m), where=is_open & (not is_stale))
            conjugate = following + share * conjugate
            square = fresh
        else:
            if self._otherwise is not None:
                return self._otherwise(point)
        if n_products > _FEW:
            self._made_at = self._held = None
        line = Line(objective, point, direction.ravel(), moved)
        is_apart = m > 1 and problem.losses.rows is not None
        taken = search_by_output(line, 1e-10)[0] if is_apart else search(line, 1e-10)
        left = residual.ravel() + bend * line.direction
        return with_model(taken, point.slopes + bent(moved), -point.gradient - left)


# ---- in a trust region --------------------------------------------------------------------------


def trust_region(objective: Objective, point: Point, radius: float | None) -> Iterator[Iterate]:
    """One iterate per accepted step; preconditioned by the Hessian's diagonal."""
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
