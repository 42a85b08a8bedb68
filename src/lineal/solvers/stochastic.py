"""Stochastic gradients: Pegasos, averaged or not, and variance reduction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from lineal import _core
from lineal.objective.losses import FloatArray
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.base import (
    DIFFERENTIABLE_PENALTY,
    LOSS_A_ROW,
    OWN_WEIGHTS,
    ROWS,
    Iterate,
    Need,
    Solver,
    Start,
    State,
    state_of,
)
from lineal.solvers.batches import Batch, Batches
from lineal.solvers.descent import GD
from lineal.solvers.options import is_number, is_whole, require
from lineal.solvers.primal import Objective, Point

# An epoch that ends so many times above its start is undone, and its steps are made so many times smaller.
_EXPLODED, _COOLER = 1e6, 16.0

_SGD_NEEDS = (
    LOSS_A_ROW,
    OWN_WEIGHTS,
    ROWS,
    DIFFERENTIABLE_PENALTY,
    Need(
        "a smooth loss, or L2 for one with kinks",
        "loss and penalty",
        lambda p: p.losses.is_smooth or p.penalty.is_ridge,
    ),
)


@dataclass(frozen=True, kw_only=True)
class SGD(Solver):
    """Subgradient steps on single rows or small batches, with Pegasos' step sizes.

    Parameters
    ----------
    batch_size : int
        Rows per step.
    averaged : bool
        Whether the model is the mean of the iterates since the last power of two among the epochs (in the
        first epoch: of all) or the last iterate.
    offset : float or None
        The steps are 1 / (strength (t + offset)) for t = 1, 2, ... 0 is Pegasos as published; None takes
        n max_i s_i |x_i|^2 / strength (times the loss's curvature), so that no first step overshoots.

    Notes
    -----
    ``theta <- theta - eta_t ((n / |B|) sum_{i in B} s_i u_i x_i + R'(w))``, u_i a subgradient. Needs L2
    or, for a smooth loss, any differentiable penalty or none; without strong convexity (Lp, none) the steps
    fall with the root of the epochs.
    Guarantees: an error of order 1 / t in expectation under L2, for losses with kinks too; the dual
    point is the mean of the slopes met. So two or three digits, no more: dual_cd's epochs cost as much and
    prove them sooner. An epoch costs two or three passes over the stored numbers, single-threaded, and one
    over W, whatever the batch (under Lp: one over W a step, in NumPy). Published: Shalev-Shwartz, Singer,
    Srebro and Cotter 2011; the averages: Rakhlin, Shamir and Sridharan 2012.
    """

    name = "sgd"
    batch_size: int = 1
    averaged: bool = True
    offset: float | None = None

    def __post_init__(self) -> None:
        size, offset = self.batch_size, self.offset
        require(is_whole(size) and size > 0, f"sgd needs a positive whole batch_size, got {size!r}.")
        require(
            isinstance(self.averaged, (bool, np.bool_)),
            f"sgd needs averaged=True or False, got {self.averaged!r}.",
        )
        require(
            offset is None or (is_number(offset) and 0 <= offset < np.inf),
            f"sgd needs a finite offset >= 0, or None for a safe one, got {offset!r}.",
        )

    @property
    def needs(self) -> tuple[Need, ...]:
        """A differentiable penalty."""
        return _SGD_NEEDS

    def iterates(self, problem: Problem, start: Start | None, tol: float, seed: int) -> Iterator[Iterate]:
        """The start, then one iterate per pass over the rows."""
        objective = Objective(problem)
        batches = Batches.of(objective, int(self.batch_size))
        steps = _Steps.of(batches, self.offset)
        rng = np.random.default_rng(seed)
        if (kept := state_of(start)) is None:
            theta = objective.start_vector(start)
            mean, slopes = _Mean(theta), _Mean(np.zeros((problem.X.n_rows, problem.n_outputs)))
            highest = _EXPLODED * max(problem.losses.at_zero, objective.value(theta, objective.scores(theta)))
            safe, epoch = theta, 0
        else:
            theta, safe, epoch, highest = (kept[name] for name in ("theta", "safe", "epoch", "highest"))
            mean, slopes = _Mean(*kept["mean"]), _Mean(*kept["slopes"])
            steps = replace(steps, **kept["steps"])
            rng.bit_generator.state = kept["rng"]

        def state() -> State:
            place = {"theta": theta, "safe": safe, "epoch": epoch, "highest": highest}
            means = {"mean": mean.state(), "slopes": slopes.state()}
            return {**place, **means, "steps": vars(steps), "rng": rng.bit_generator.state}

        W, b = objective.split(theta)
        yield Iterate(lambda: (W, b), None, np.inf if start is None else None, state=state)
        while True:
            epoch += 1
            if epoch & (epoch - 1) == 0:
                mean, slopes = mean.cleared(), slopes.cleared()
            theta, met = _epoch(batches, steps, rng, theta, mean if self.averaged else None)
            is_look = _is_look(epoch)
            if not _is_sane(objective, theta, highest, thoroughly=is_look):
                theta, mean = safe, _Mean(safe)
                steps.cool()
                continue
            safe = theta if is_look else safe
            slopes.add(met)
            there = mean.value if self.averaged else theta
            yield _iterate(objective, there, slopes, self._is_due(problem, epoch), state)

    def _is_due(self, problem: Problem, epoch: int) -> bool:
        """Whether a certificate is worth its price."""
        return _is_look(epoch) if problem.penalty.is_ridge else epoch % 10 == 0


def _is_look(epoch: int) -> bool:
    """1, 2, 3, 5, 7, 11, 15, 23 ...: a look costs an epoch or two, and a mean is best before it is cut."""
    following = epoch + 1
    return following % max(1, (1 << following.bit_length()) // 4) == 0


def _is_sane(objective: Objective, theta: FloatArray, highest: float, thoroughly: bool) -> bool:
    """Whether the steps have not exploded; short of a pass over X, whether they ended at numbers."""
    if not np.isfinite(theta).all():
        return False
    return not thoroughly or objective.value(theta, objective.scores(theta)) <= highest


def _epoch(
    batches: Batches, steps: _Steps, rng: np.random.Generator, theta: FloatArray, mean: _Mean | None
) -> tuple[FloatArray, FloatArray]:
    """One pass over the rows: where it ends and the slopes it met; the mean gains every iterate."""
    objective = batches.objective
    problem = objective.problem
    met = np.empty((problem.X.n_rows, problem.n_outputs))
    sizes = steps.following(batches.n_batches)
    if not batches.has_native_epochs:
        for step, batch in zip(sizes, batches.epoch(rng), strict=True):
            met[batch.index] = U = batch.slopes(theta)
            theta = theta - step * (batch.back(U) + objective.penalty_gradient(theta))
            if mean is not None:
                mean.total += theta
    else:
        theta = theta.copy()
        # Of a penalty without curvature there is nothing to step along: only a ridge is met in the core.
        on_intercept = 0.0 if problem.intercept is Intercept.FREE else float(problem.constants_penalty.l2)
        _core.sgd_epoch(
            batches.slopes, batches.matrix, batches.losses.s, batches.order(rng), batches.size, sizes,
            objective.ridge, on_intercept, theta, None if mean is None else mean.total, met,
        )  # fmt: skip
    if mean is not None:
        mean.count += batches.n_batches
    return theta, met


@dataclass
class _Steps:
    """eta_t: 1 / (strength (t + offset)) under L2, else 1 / (curvature sqrt(1 + t / n_batches))."""

    strength: float
    offset: float
    curvature: float
    n_batches: int
    t: int = 0

    @staticmethod
    def of(batches: Batches, offset: float | None) -> _Steps:
        """The steps of a problem."""
        objective = batches.objective
        n = objective.problem.X.n_rows
        # A loss with kinks turns within about one unit of its score.
        curvature = n * (objective.problem.losses.curvature or 1.0)
        curvature *= batches.largest_row(np.ones_like(objective.start_vector(None)))
        strength = objective.ridge
        if offset is None:
            offset = curvature / strength if strength > 0 else 0.0
        return _Steps(strength, offset, curvature or 1.0, batches.n_batches)

    def following(self, count: int) -> FloatArray:
        """The next steps."""
        t = self.t + np.arange(1.0, count + 1)
        self.t += count
        if self.strength > 0:
            return 1 / (self.strength * (t + self.offset))
        return 1 / (self.curvature * np.sqrt(1 + t / self.n_batches))

    def cool(self) -> None:
        """Steps from here on begin smaller: these exploded."""
        self.offset = _COOLER * (self.offset + self.t)
        self.curvature *= _COOLER
        self.t = 0


class _Mean:
    """A running mean; before anything is added, where it began."""

    def __init__(self, first: FloatArray, total: FloatArray | None = None, count: int = 0) -> None:
        self.first, self.total, self.count = first, np.zeros_like(first) if total is None else total, count

    def state(self) -> tuple[FloatArray, FloatArray, int]:
        """What makes the same mean."""
        return self.first, self.total, self.count

    def add(self, value: FloatArray) -> None:
        self.total += value
        self.count += 1

    def cleared(self) -> _Mean:
        """The mean of what comes."""
        return _Mean(self.value)

    @property
    def value(self) -> FloatArray:
        return self.total / self.count if self.count else self.first


def _iterate(
    objective: Objective, theta: FloatArray, slopes: _Mean, is_due: bool, state: Callable[[], State]
) -> Iterate:
    problem = objective.problem
    W, b = objective.split(theta.copy())
    # Steps that cancel say that the mean of their slopes meets R': that holds at kinks too, and for noisy
    # iterates better than for the slopes at their mean.
    dual = None if problem.penalty.has_free_columns else lambda: slopes.value
    return Iterate(lambda: (W, b), dual, None if is_due else np.inf, state=state)


@dataclass(frozen=True, kw_only=True)
class SVRG(GD):
    """Stochastic gradients whose noise vanishes at the optimum.

    Notes
    -----
    From the point where an epoch begins, with its full gradient, steps on batches B follow
    ``g = g_B(theta) - g_B(begin) + g(begin)``, then the penalty's proximal step where it has a kink. Needs
    any penalty; losses with kinks are smoothed in stages. Guarantees: a linear rate for smooth losses under
    strong convexity, and all that :class:`~lineal.solvers.descent.Descent` says; its parameters are the
    same. An epoch costs two threaded passes over X and a single-threaded one over the batches, in which a
    stored number costs some ten times as much: weights that no row of a batch meets are moved when one does,
    by all their steps at once (under Lp: all of W a step, in NumPy).
    Published: Johnson and Zhang 2013; proximal: Xiao and Zhang 2014.
    """

    name = "svrg"
    batch_size: int | None = 8

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.batch_size is not None, "svrg needs a batch_size; for all rows at once use gd.")

    @property
    def _is_noisy(self) -> bool:
        return False

    def _first_step(self, largest: float, value: float, n_parameters: int) -> float:
        return 0.5 / largest

    def _estimate(self, batch: Batch, theta: FloatArray, anchor: Point) -> FloatArray:
        return batch.back(batch.slopes(theta) - anchor.slopes[batch.index]) + self._drift(
            batch.batches, anchor
        )

    def _drift(self, batches: Batches, anchor: Point) -> FloatArray:
        if self._is_proximal(batches.objective.problem):
            return anchor.gradient
        return anchor.gradient - batches.objective.penalty_gradient(anchor.theta)

    def _anchored(self, batches: Batches, anchor: Point) -> tuple[FloatArray | None, FloatArray | None]:
        return self._drift(batches, anchor), anchor.slopes
