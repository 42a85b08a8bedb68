"""What the primal solvers share: the objective along a line, at no pass over X.

The parameters of a problem are one flat vector: W, row by row, then b where there is an intercept.
Scores are linear in it, so X is met twice an iteration (once for a direction's scores, once for the
gradient) however many steps a line search tries.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import Any, cast

import numpy as np

from lineal import _core
from lineal.objective.dual_points import closer_point, feasible, likely_point
from lineal.objective.linear_maps import NativeRows
from lineal.objective.loss_sums import NativeRowLosses
from lineal.objective.losses import FloatArray
from lineal.objective.penalties import Penalty
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.base import Iterate, Solver, Start, State, state_of, zeros

# The first stage of a smoothing takes at most so many steps, the next one twice as many, and so on: a blunt
# stage is not worth its own last digits, a sharp one after an unsolved one would be hopeless.
_STAGE_LIMIT = 1000
# A stage's gap is proved at its first steps, then each time their count has grown by this factor.
_PROOF_GROWTH = 1.25
# Up to so many products of a row's numbers and outputs a pass costs no more than some calls; so narrow are
# tables whose Gram matrices the core makes as soon as BLAS.
_SMALL, _NARROW = 200_000, 128
# Targets are far from 0 where the best constant costs less than this share of what 0 does.
_FAR = 1e-3


@dataclass
class Point:
    """Weights with their scores, objective and gradient."""

    theta: FloatArray
    Z: FloatArray
    value: float
    slopes: Any
    gradient: FloatArray


@dataclass(frozen=True)
class Small:
    """What the core does in one call where calls would cost as much as passes.

    Numbers are few, the penalty is made of squares, the loss is smooth, and outputs meet nowhere.
    """

    X: NativeRows
    losses: NativeRowLosses
    ridges: FloatArray

    @classmethod
    def of(cls, objective: Objective) -> Small | None:
        """That of an objective, if it is one."""
        problem = objective.problem
        X, losses, ridges = problem.X, problem.losses, objective.ridges
        if not isinstance(X, NativeRows) or not isinstance(losses, NativeRowLosses) or ridges is None:
            return None
        is_small = X.n_columns <= _NARROW and X.n_stored * problem.n_outputs <= _SMALL
        return cls(X, losses, ridges) if is_small and losses.is_smooth and not losses.is_rounded else None

    def newton_step(self, point: Point, enough: float, shortest: float) -> tuple[Any, ...] | None:
        """(theta, Z, direction, moved, ahead, bent, value) after a step; None, if there is none.

        Outputs whose squared gradient is at most ``enough`` rest. See newton_step.h.
        """
        of, loss = self.losses, cast(Any, self.losses.loss.native)
        at = point.theta, point.Z, point.slopes, point.gradient
        return _core.newton_step(
            loss, of.y, of.s, self.X.matrix, *at, self.ridges, enough, shortest, of.n_threads
        )

    def slopes_and_gradient(self, theta: FloatArray, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(U, P's gradient) at theta."""
        of, loss = self.losses, cast(Any, self.losses.loss.native)
        return _core.slopes_and_gradient(loss, of.y, of.s, self.X.matrix, theta, Z, self.ridges, of.n_threads)


@dataclass(frozen=True)
class Objective:
    """P as a function of the flat parameter vector."""

    problem: Problem

    @cached_property
    def has_intercept(self) -> bool:
        """Whether b is part of the vector."""
        return self.problem.intercept is not Intercept.NONE

    @cached_property
    def n_weights(self) -> int:
        """How many of its numbers are W."""
        d, width = self.problem.weight_shape
        return d * width

    @cached_property
    def n_parameters(self) -> int:
        """The length of the vector."""
        return self.problem.n_parameters

    def flat(self, W: FloatArray, b: FloatArray) -> FloatArray:
        """(W, b) as one vector."""
        return np.concatenate([W.ravel(), b]) if self.has_intercept else W.ravel().copy()

    def split(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The vector as (W, b), W a view."""
        b = theta[self.n_weights :] if self.has_intercept else np.zeros(self.problem.n_outputs)
        return theta[: self.n_weights].reshape(self.problem.weight_shape), b

    def scores(self, theta: FloatArray) -> FloatArray:
        """Z."""
        return self.problem.scores(*self.split(theta))

    def value(self, theta: FloatArray, Z: FloatArray) -> float:
        """P."""
        return self.problem.losses.value(Z) + self.penalty(theta)

    def back(self, G: FloatArray) -> FloatArray:
        """X'G and, for an intercept, the sums of G: from the scores to the parameters."""
        if not self.has_intercept:
            return self.problem.X.adjoint(G).ravel()
        sums = _core.column_sums(np.ascontiguousarray(G)) if G.shape[1] > 1 else G.sum(axis=0)
        return self.flat(self.problem.X.adjoint(G), sums)

    def product(
        self, direction: FloatArray, bent: Callable[[FloatArray], FloatArray], curvatures: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """A direction's scores, and the losses' Hessian times it; in one pass where that has one column.

        ``bent`` maps scores to changes of slopes, and ``curvatures`` are their factors, with the weights of
        rows, where each loss sees one score.
        """
        if curvatures is None or curvatures.shape[1] > 1:
            scores = self.scores(direction)
            return scores, self.back(self.problem.losses.weighted(bent(scores)))
        W, b = self.split(direction)
        z, product, total = self.problem.X.curved(W[:, 0], float(b[0]), curvatures[:, 0])
        return z[:, None], np.append(product, total) if self.has_intercept else product

    # ---- the penalty, block by block ----------------------------------------------------------

    def penalty(self, theta: FloatArray) -> float:
        """R and R_b."""
        W, b = self.split(theta)
        value = self.problem.penalty.value(W)
        return value + self.problem.constants_penalty.value(b) if self._penalises_b else value

    def penalised_blocks(self, theta: FloatArray) -> list[tuple[Penalty, FloatArray]]:
        """W, and b where it is penalised, each with its penalty."""
        W, b = self.split(theta)
        blocks = [(self.problem.penalty, W)]
        return [*blocks, (self.problem.constants_penalty, b)] if self._penalises_b else blocks

    def penalty_gradient(self, theta: FloatArray) -> FloatArray:
        """R'(theta), 0 for a free intercept."""
        W, b = self.split(theta)
        return self._flat(self.problem.penalty.derivative(W), self.problem.constants_penalty.derivative, b)

    def penalty_curvature(self, theta: FloatArray) -> FloatArray:
        """R''(theta), 0 for a free intercept."""
        W, b = self.split(theta)
        own = self.problem.constants_penalty
        return self._flat(self.problem.penalty.second_derivative(W), own.second_derivative, b)

    def penalty_conjugate(self, V: FloatArray) -> float:
        """R* and R_b* at a gradient; what belongs to a free intercept plays no part."""
        W, b = self.split(V)
        value = self.problem.penalty.conjugate(W)
        return value + self.problem.constants_penalty.conjugate(b) if self._penalises_b else value

    def penalty_part(self, name: str) -> FloatArray:
        """The part l1 or l2 of the penalty, parameter by parameter."""
        part, own = (getattr(each, name) for each in (self.problem.penalty, self.problem.constants_penalty))
        found = np.empty(self.n_parameters)
        inner = found[: self.n_weights].reshape(self.problem.weight_shape)
        inner[:] = part[:, None] if isinstance(part, np.ndarray) else part
        found[self.n_weights :] = own
        return found

    def proximal(self, theta: FloatArray, step: FloatArray) -> FloatArray:
        """The penalty's proximal step, a step size for each parameter; a free intercept stays."""
        W, b = self.split(theta)
        steps, on_b = self.split(step)
        moved = self.problem.penalty.prox(W, steps).ravel()
        if not self.has_intercept:
            return moved
        return np.concatenate([moved, self.problem.constants_penalty.prox(b, on_b)])

    @cached_property
    def _penalises_b(self) -> bool:
        return self.problem.intercept is Intercept.PENALIZED

    def _flat(
        self, inner: FloatArray, of_constants: Callable[[FloatArray], FloatArray], b: FloatArray
    ) -> FloatArray:
        """What belongs to W and, by a function of b, to the intercept where there is one; 0 if it is free."""
        if not self.has_intercept:
            return np.ravel(inner)
        flat = np.zeros(self.n_parameters)
        flat[: self.n_weights] = np.ravel(inner)
        if self._penalises_b:
            flat[self.n_weights :] = of_constants(b)
        return flat

    def point(
        self,
        theta: FloatArray,
        Z: FloatArray | None = None,
        value: float | None = None,
        by_prox: bool = False,
    ) -> Point:
        """Everything about a vector; Z and the value are taken when known.

        ``by_prox`` leaves a penalty that is met by proximal steps out of the gradient.
        """
        Z = self.scores(theta) if Z is None else Z
        if self.small is not None and not by_prox:
            U, gradient = self.small.slopes_and_gradient(theta, Z)
            return Point(theta, Z, self.value(theta, Z) if value is None else value, U, gradient)
        U = self.problem.losses.slopes(Z)
        gradient = self.back(self.problem.losses.pull(U))
        if not by_prox:
            gradient = gradient + self.penalty_gradient(theta)
        return Point(theta, Z, self.value(theta, Z) if value is None else value, U, gradient)

    @cached_property
    def ridges(self) -> FloatArray | None:
        """The strength that each parameter is squared with, where the penalty is made of squares alone."""
        problem = self.problem
        parts = (problem.penalty, problem.constants_penalty)
        is_quadratic = all(each.is_elastic and not each.has_corners for each in parts)
        return self.penalty_part("l2") if is_quadratic else None

    @cached_property
    def small(self) -> Small | None:
        """The same in the core, where it is so small."""
        return Small.of(self)

    @property
    def ridge(self) -> float:
        """The strength of a penalty that is a ridge, else 0."""
        return float(self.problem.penalty.l2) if self.problem.penalty.is_ridge else 0.0

    def column_scales(self) -> FloatArray:
        """The lengths per parameter along which P curves by at most 1: 1 / sqrt(its curvature's bound)."""
        problem = self.problem
        S = problem.losses.weighted(np.ones(problem.losses.shape))
        squares = self.flat(problem.X.squared_adjoint(S), S.sum(axis=0))
        bound = (problem.losses.curvature or 1.0) * squares + self.penalty_part("l2")
        # A column of zeros, or one whose squares leave the range of float64, has no length of its own.
        return 1 / np.sqrt(np.where((bound > 0) & np.isfinite(bound), bound, 1.0))

    def start_vector(self, start: Start | None) -> FloatArray:
        """The vector to begin at."""
        return self.flat(*(zeros(self.problem) if start is None else (start.W, start.b)))

    def start(self, start: Start | None, by_prox: bool = False) -> Point:
        """The point to begin at, or to go on from."""
        if (kept := state_of(start)) is not None:
            return self.point(kept["theta"], kept["Z"], kept["value"], by_prox)
        theta = self.start_vector(start)
        Z = None if theta.any() else np.zeros(self.problem.losses.shape)
        return self.point(theta, Z, by_prox=by_prox)

    def line(self, point: Point, direction: FloatArray) -> Line:
        """P restricted to point + t direction."""
        return Line(self, point, direction, self.scores(direction))

    def slope_of(self, Z: FloatArray, theta: FloatArray, moved: FloatArray, direction: FloatArray) -> float:
        """The derivative of P along a direction, from scores alone."""
        losses = self.problem.losses
        slope = float(np.vdot(losses.pull(losses.slopes(Z)), moved))
        blocks = zip(self.penalised_blocks(theta), self.penalised_blocks(direction), strict=True)
        return slope + sum(float(np.vdot(penalty.derivative(w), d)) for (penalty, w), (_, d) in blocks)


@dataclass
class Line:
    """P along a line. ``moved`` are the direction's scores, so no trial touches X."""

    objective: Objective
    origin: Point
    direction: FloatArray
    moved: FloatArray
    _latest: tuple[float, FloatArray, FloatArray] | None = None

    def at(self, t: float) -> tuple[FloatArray, FloatArray]:
        """(theta, Z) at t; the latest ones are kept, for a step usually goes where a value was just asked."""
        if self._latest is None or self._latest[0] != t:
            self._latest = (t, self.origin.theta + t * self.direction, self.origin.Z + t * self.moved)
        return self._latest[1], self._latest[2]

    def value(self, t: float) -> float:
        """P at t."""
        return self.objective.value(*self.at(t))

    def probe(self, t: float) -> tuple[float, float, float]:
        """P at t, dP/dt and its derivative."""
        value, slope, bend = self.objective.problem.losses.along(self.origin.Z, self.moved, t)
        own = self.penalty_along(t)
        return value + own[0], slope + own[1], bend + own[2]

    def penalty_along(self, t: float) -> tuple[float, float, float]:
        """The penalty's part of P at t, with its derivatives in t."""
        objective, value, slope, bend = self.objective, 0.0, 0.0, 0.0
        blocks = zip(
            objective.penalised_blocks(self.origin.theta + t * self.direction),
            objective.penalised_blocks(self.direction),
            strict=True,
        )
        for (penalty, w), (_, towards) in blocks:
            value += penalty.value(w)
            slope += float(np.vdot(penalty.derivative(w), towards))
            bend += float(np.vdot(penalty.second_derivative(w), towards * towards))
        return value, slope, bend

    def probe_by_output(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The same for outputs that meet nowhere, each at a t of its own: arrays (K,).

        Needs a loss of one score a row, and penalties that are sums over weights.
        """
        rows = self.objective.problem.losses.rows
        assert rows is not None
        value, slope, bend = rows.along_by_output(self.origin.Z, self.moved, t)
        own = self.penalty_by_output(t)
        return value + own[0], slope + own[1], bend + own[2]

    def penalty_by_output(self, t: FloatArray) -> FloatArray:
        """(3, K): the penalty's part of P at t, output by output, with its derivatives in t."""
        objective, K = self.objective, len(t)
        found = np.zeros((3, K))
        blocks = zip(
            objective.penalised_blocks(self.origin.theta),
            objective.penalised_blocks(self.direction),
            strict=True,
        )
        for (penalty, w), (_, towards) in blocks:
            towards = towards.reshape(-1, K)
            there = w.reshape(-1, K) + t * towards
            found[0] += penalty.terms(there).sum(axis=0)
            found[1] += (penalty.derivative(there) * towards).sum(axis=0)
            found[2] += (penalty.second_derivative(there) * towards * towards).sum(axis=0)
        return found

    def quadratic(self, n: int) -> FloatArray | None:
        """(3, n): the penalty's part of P, its slope and its curvature at t = 0, where it is quadratic.

        ``n`` is 1 for all parameters together, or K for each output by itself.
        """
        ridges = self.objective.ridges
        if ridges is None:
            return None
        theta, towards = self.origin.theta.reshape(-1, n), self.direction.reshape(-1, n)
        bent = ridges.reshape(-1, n) * theta
        found = np.empty((3, n))
        np.einsum("ij,ij->j", bent, theta, out=found[0])
        np.einsum("ij,ij->j", bent, towards, out=found[1])
        np.einsum("ij,ij,ij->j", ridges.reshape(-1, n), towards, towards, out=found[2])
        found[0] *= 0.5
        return found

    def slope(self, t: float) -> float:
        """dP/dt at t."""
        theta, Z = self.at(t)
        return self.objective.slope_of(Z, theta, self.moved, self.direction)

    def step(self, t: float, value: float) -> Point:
        """The full point at t."""
        return self.objective.point(*self.at(t), value)


def primal_iterate(
    objective: Objective,
    point: Point,
    expected_gap: float | None = None,
    more: Callable[[], State] | None = None,
) -> Iterate:
    """An iterate from a point. A smoothed problem's slopes are feasible for the true one too.

    ``more`` gives what a solver's state has beside the point.
    """
    W, b = objective.split(point.theta)
    return Iterate(
        lambda: (W, b.copy()),
        lambda: likely_point(objective.problem, W, b, point.Z),
        expected_gap,
        point.value,
        is_by_slopes=True,
        state=lambda: state_at(point) | (more() if more else {}),
    )


def state_at(point: Point) -> State:
    """What ``Objective.start`` makes the same point of."""
    return {"theta": point.theta, "Z": point.Z, "value": point.value}


# ---- losses with kinks --------------------------------------------------------------------------


class SmoothSolver(Solver):
    """A solver of smooth losses. One with kinks reaches it rounded, in stages of ever sharper bends."""

    def goes_on(self, problem: Problem) -> bool:
        """Stages begin with wide bends, whose optimum is another one."""
        return problem.losses.is_smooth

    def iterates(self, problem: Problem, start: Start | None, tol: float, seed: int) -> Iterator[Iterate]:
        """The iterates of the problem itself, or of its smoothed stages."""
        if problem.losses.is_smooth:
            return self.smooth_iterates(problem, start, tol, seed)
        return _through_smoothing(self, problem, start, tol, seed)

    @abstractmethod
    def smooth_iterates(
        self, problem: Problem, start: Start | None, tol: float, seed: int
    ) -> Iterator[Iterate]:
        """Yields an iterate per epoch of a problem whose loss is smooth."""


@dataclass(frozen=True)
class _Proof:
    """What a stage's dual point proves about the stage itself."""

    U: Any
    gap: float


def _proved(smooth: Problem, iterate: Iterate, value: float, enough: float) -> _Proof:
    """The stage's gap by the solver's dual point or, where that is not enough, by a dearer one."""
    W, b = iterate.weights()
    Z = smooth.scores(W, b)
    U = smooth.losses.slopes(Z) if iterate.dual is None else iterate.dual()
    bound = feasible(smooth, U, W, b)
    if value - bound.dual > enough:
        ahead = closer_point(smooth, W, b, Z)
        if ahead is not None:
            other = feasible(smooth, ahead, W, b)
            if other.dual > bound.dual:
                return _Proof(ahead, value - other.dual)
    return _Proof(U, value - bound.dual)


def _given(U: Any) -> Callable[[], Any]:
    return lambda: U


@dataclass(frozen=True)
class _Stage:
    """A stage of a smoothing: its width, P where it began, and the iterates until the next proof is due."""

    number: int
    width: float
    value: float
    n_before: int = 0
    due: int = 1

    def within(self, n_before: int, due: int, latest: Iterate) -> Callable[[], State] | None:
        """The state at an iterate; begun again, a stage repeats what it did with that."""
        inner = latest.state
        if inner is None:
            return None
        return lambda: {**vars(self), "n_before": n_before, "due": due, "inner": inner()}


def _weight(problem: Problem) -> float:
    losses = problem.losses
    return losses.total_weight * (problem.n_outputs if losses.is_by_score else 1)


def _following(problem: Problem, stage: _Stage, value: float, U: Any, tol: float) -> _Stage:
    """The stage after one that ended at a value and a dual point."""
    scale = problem.yardstick(value)
    # The gap that the rounding leaves is its width times sum s u^2 / 2: aim at half the tolerance, but not so
    # far ahead that the next stage has to begin anew.
    left = 0.0 if U is None else stage.width * problem.losses.half_square(U)
    ahead = left / (0.5 * tol * scale) if scale > 0.0 else np.inf
    most = scale * 0.2 / max(_weight(problem), 1e-300)
    return _Stage(stage.number + 1, min(stage.width / np.clip(ahead, 4, 8), most), value)


def _between(following: Callable[[], _Stage], latest: Iterate) -> Callable[[], State]:
    """The state at the end of a stage."""

    def state() -> State:
        W, b = latest.weights()
        return {**vars(following()), "inner": None, "W": W, "b": b}

    return state


def _through_smoothing(
    solver: SmoothSolver, problem: Problem, start: Start | None, tol: float, seed: int
) -> Iterator[Iterate]:
    """Minimises a loss with kinks by smooth ones: mu, mu/4, mu/16 ... each from the last.

    The smoothed problem's dual points are feasible for the true one, and the driver certifies against
    the true one, so the smoothing costs time but never truth. A stage ends when its own gap has fallen
    below what its smoothing is worth.
    """
    losses, weight = problem.losses, _weight(problem)
    if (kept := state_of(start)) is None:
        value = losses.at_zero
        if (constants := problem.best_constants).primal < _FAR * value:
            # Targets far from 0: bends as wide as that would be of no use.
            value = constants.primal
            start = Start(np.zeros(problem.weight_shape), constants.b) if start is None else start
        stage = _Stage(0, max(value / max(weight, 1e-300), 1e-8), value)
    else:
        assert start is not None
        stage = _Stage(*(kept[each.name] for each in fields(_Stage)))
        start = replace(start, state=kept["inner"])
        if start.state is None:
            start = Start(kept["W"], kept["b"])
            yield Iterate(lambda: (kept["W"], kept["b"]))
    while stage.number < 40 and stage.width >= np.finfo(np.float64).tiny:  # beyond, curvatures overflow
        width, value, due = stage.width, stage.value, stage.due
        smooth = replace(problem, losses=losses.smoothed(width))
        enough = 0.1 * width * weight / 2
        latest: Iterate | None = None
        stage_tol = enough / max(abs(value), 1e-300)
        U: Any = None
        stream = solver.smooth_iterates(smooth, start, stage_tol, seed)
        for count, latest in enumerate(stream, stage.n_before + 1):
            state = stage.within(count - 1, due, latest)
            value = smooth.primal(*latest.weights()) if latest.value is None else latest.value
            guess, U = latest.expected_gap, None
            is_done = guess is not None and smooth.penalty.is_ridge and guess * abs(value) <= enough
            if count >= due and not is_done:
                due = max(count + 1, int(_PROOF_GROWTH * count))
                proof = _proved(smooth, latest, value, enough)
                is_done, U = proof.gap <= enough, proof.U
            if is_done or count >= _STAGE_LIMIT * 2**stage.number:
                break
            yield Iterate(latest.weights, latest.dual if U is None else _given(U), np.inf, state=state)
        if latest is None:
            return
        if U is None and latest.dual is not None:
            U = latest.dual()
        following = partial(_following, problem, stage, value, U, tol)
        yield Iterate(
            latest.weights, None if U is None else _given(U), None, state=_between(following, latest)
        )
        if problem.yardstick(value) == 0.0:
            return  # P is 0: there is nothing below
        start, stage = Start(*latest.weights()), following()
