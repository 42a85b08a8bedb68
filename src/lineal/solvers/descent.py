"""Gradient descent and its relatives: one engine, one small rule each.

Every rule reads a gradient g of P (or an estimate from a batch) and says how far to move::

    gd         theta <- theta - eta g
    momentum   v <- gamma v + eta g;  theta <- theta - v
    nesterov   v <- gamma v + eta g(theta - gamma v);  theta <- theta - v
    adagrad    a <- a + g^2;  theta <- theta - eta g / sqrt(a + eps)
    rmsprop    a <- rho a + (1 - rho) g^2;  theta <- theta - eta g / sqrt(a + eps)
    adadelta   a <- rho a + (1 - rho) g^2;  d = sqrt(c + eps) / sqrt(a + eps) g
               c <- rho c + (1 - rho) d^2;  theta <- theta - eta d
    adam       m <- beta1 m + (1 - beta1) g;  a <- beta2 a + (1 - beta2) g^2
               theta <- theta - eta m / (1 - beta1^t) / (sqrt(a / (1 - beta2^t)) + eps)

P is a sum over rows, so a batch B stands for it as ``g = (n / |B|) sum_{i in B} s_i loss_i' x_i + R'(w)``.
The form ``w <- w - alpha (loss_i' x_i + lam w)`` for one row is this one with alpha = n eta and
lam = strength / n.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from lineal import _core
from lineal.objective.losses import FloatArray
from lineal.objective.penalties import Penalty
from lineal.objective.problem import Problem
from lineal.solvers.base import (
    DIFFERENTIABLE_PENALTY,
    LOSS_A_ROW,
    OWN_WEIGHTS,
    ROWS,
    SMOOTHABLE,
    Iterate,
    Need,
    Start,
    State,
    state_of,
)
from lineal.solvers.batches import Batch, Batches
from lineal.solvers.lbfgs import expected_gap
from lineal.solvers.options import is_number, is_whole, require, require_positive, require_share
from lineal.solvers.primal import Objective, Point, SmoothSolver, primal_iterate

# Steps of the power method that estimate the largest curvature, and the room left for what they missed.
_POWER_STEPS, _ROOM = 20, 1.1
# A step that fails is cut to this share, and to the second one where the objective has exploded.
_CUT, _DEEP_CUT = 0.5, 0.1
# Where the gap has no cheap estimate, every so many epochs ask for a certificate.
_LOOK = 10
# Where the Lipschitz bound says little, each step that succeeds makes the next one so much longer.
_GROWTH = 1.1
# Trials of a backtracking line search.
_TRIALS = 60

_PROVABLE = Need(
    "a joint loss without kinks where some columns cost nothing beside others",
    "loss and penalty",
    lambda p: (
        p.losses.is_by_score or p.losses.is_smooth or p.penalty.is_zero or not p.penalty.has_free_columns
    ),
)
_SMOOTH_LOSS = Need(
    "a smooth loss where it has a batch_size, which is too noisy for the stages that round kinks",
    "loss",
    lambda p: p.losses.is_smooth,
)


@dataclass(frozen=True)
class Schedule:
    """How the step changes from epoch to epoch."""

    def factor(self, epoch: int) -> float:
        """What the learning rate is multiplied by in an epoch (0, 1, ...)."""
        return 1.0


@dataclass(frozen=True)
class Constant(Schedule):
    """The same step throughout."""


@dataclass(frozen=True)
class Annealed(Schedule):
    """learning_rate / (1 + decay epoch)."""

    decay: float = 0.1

    def __post_init__(self) -> None:
        require(0 < self.decay < np.inf, f"Annealed needs decay > 0, got {self.decay!r}.")

    def factor(self, epoch: int) -> float:
        return 1 / (1 + self.decay * epoch)


@dataclass(frozen=True)
class Backtracking(Schedule):
    """The step is cut by ``shrink`` until P falls by ``decrease`` times its slope (Armijo 1966).

    The next search begins one cut above the step that was taken. Full batches only.
    """

    shrink: float = 0.5
    decrease: float = 0.5

    def __post_init__(self) -> None:
        require(0 < self.shrink < 1, f"Backtracking needs 0 < shrink < 1, got {self.shrink!r}.")
        require(0 < self.decrease < 1, f"Backtracking needs 0 < decrease < 1, got {self.decrease!r}.")


@dataclass(frozen=True)
class Memory:
    """What a rule keeps from step to step: their count and up to two running vectors."""

    count: int
    first: FloatArray
    second: FloatArray


@dataclass
class _Walk:
    """Where a run stands: the best point, the rule's memory, the step, and the units it is measured in."""

    best: Point
    memory: Memory
    step: float
    scale: FloatArray
    batches: Batches | None
    by_prox: bool
    epoch: int = 0
    n_cuts: int = 0

    def cut(self, is_wild: bool) -> None:
        """A smaller step; for batches as 1, 1/2, 1/3 ...: noise stops them, and steps must not run out."""
        if is_wild or self.batches is None:
            self.step *= _DEEP_CUT if is_wild else _CUT
        else:
            self.step *= (self.n_cuts + 1) / (self.n_cuts + 2)
            self.n_cuts += 1

    def state(self) -> State:
        """What ``Descent._begin`` makes the same walk of, beside the best point."""
        memory = (self.memory.count, self.memory.first, self.memory.second)
        place = {"step": self.step, "epoch": self.epoch, "n_cuts": self.n_cuts}
        return {**place, "scale": self.scale, "memory": memory}

    def forget(self) -> None:
        """The rule begins anew."""
        nothing = np.zeros_like(self.scale)
        self.memory = Memory(0, nothing, nothing)


@dataclass(frozen=True, kw_only=True)
class Descent(SmoothSolver):
    """The engine: epochs of steps, each epoch's objective checked.

    Parameters
    ----------
    learning_rate : float or None
        eta, for the gradient of P itself. None takes a safe one from the Lipschitz bound of the loss, in
        coordinates in which every column has the same curvature, so that unscaled columns do no harm.
    batch_size : int or None
        Rows per step; None takes all.
    schedule : Schedule
        Constant(), Annealed() or, with full batches, Backtracking().

    Notes
    -----
    Needs a differentiable penalty, or one with a proximal step where the rule has no memory of gradients
    (gd, nesterov, svrg); losses with kinks are smoothed in stages. Guarantees: an epoch that ends above the
    best objective, or at infinity, is undone and the rule begins anew from the best point; one that fails
    from there cuts the step. So no learning rate ends in NaN, and the objectives of the iterates never rise.
    A full batch costs two passes over X (nesterov: three). Smaller ones cost two for the check and one over
    the batches: gd and svrg run it in the core, at the cost of the rows; rules with a memory move all of W
    a step, in NumPy, at some thirty microseconds a batch besides. Published: Cauchy 1847; Robbins and
    Monro 1951; each rule's own source is with it.
    """

    learning_rate: float | None = None
    batch_size: int | None = None
    schedule: Schedule = field(default_factory=Constant)

    has_memory: ClassVar[bool] = True
    takes_prox: ClassVar[bool] = False

    def __post_init__(self) -> None:
        rate, size = self.learning_rate, self.batch_size
        require(
            rate is None or (is_number(rate) and 0 < rate < np.inf),
            f"{self.name} needs a positive finite learning_rate, or None for a safe one, got {rate!r}.",
        )
        require(
            size is None or (is_whole(size) and size > 0),
            f"{self.name} needs a positive whole batch_size, or None for all rows, got {size!r}.",
        )
        require(
            isinstance(self.schedule, Schedule),
            f"{self.name} needs schedule=Constant(), Annealed() or Backtracking(), got {self.schedule!r}.",
        )
        require(
            size is None or not isinstance(self.schedule, Backtracking),
            f"Backtracking() compares objectives, so it needs batch_size=None, got {size!r}: use Annealed().",
        )

    @property
    def needs(self) -> tuple[Need, ...]:
        """A differentiable penalty or, for some rules, one with a proximal step; for batches rows."""
        on_rows = () if self.batch_size is None else (LOSS_A_ROW, OWN_WEIGHTS, ROWS)
        on_penalty = () if self.takes_prox else (DIFFERENTIABLE_PENALTY,)
        on_penalty = on_penalty if self.has_memory or not self.takes_prox else (_PROVABLE,)
        return (SMOOTHABLE, *on_rows, *on_penalty) + ((_SMOOTH_LOSS,) if self._is_noisy else ())

    @property
    def _is_noisy(self) -> bool:
        """Whether the steps do not vanish at the optimum."""
        return self.batch_size is not None

    def smooth_iterates(
        self, problem: Problem, start: Start | None, tol: float, seed: int
    ) -> Iterator[Iterate]:
        """One iterate per pass over the rows: the best point so far."""
        objective = Objective(problem)
        rng = np.random.default_rng(seed)
        walk = self._begin(objective, start)
        if (kept := state_of(start)) is not None:
            rng.bit_generator.state = kept["rng"]

        def state() -> State:
            return walk.state() | {"rng": rng.bit_generator.state}

        while True:
            yield primal_iterate(objective, walk.best, _guess(objective, walk), state)
            # A step that may have grown too long is suspected before the memory is.
            is_fresh = walk.memory.count == 0 or not self.has_memory or self._may_grow(problem)
            reached = self._advance(objective, walk, rng)
            walk.epoch += 1
            if reached.value < walk.best.value:
                walk.best = reached
                if self._may_grow(problem):
                    walk.step *= _GROWTH
                continue
            if np.array_equal(reached.theta, walk.best.theta):
                return
            walk.forget()
            if is_fresh:
                walk.cut(is_wild=not reached.value <= 2 * abs(walk.best.value))

    # ---- the rule ---------------------------------------------------------------------------

    def _ahead(self, memory: Memory, theta: FloatArray) -> FloatArray:
        """Where the gradient is wanted."""
        return theta

    def _shift(self, memory: Memory, gradient: FloatArray, step: float) -> tuple[FloatArray, Memory]:
        """How far to move against the axes, and what to remember."""
        raise NotImplementedError(f"{type(self).__name__} must state its rule")

    def _after(self, memory: Memory, moved: FloatArray) -> Memory:
        """What to remember once the move is known, the proximal step included."""
        return memory

    def _first_step(self, largest: float, value: float, n_parameters: int) -> float:
        """The default learning rate where P curves by at most ``largest`` and can fall by ``value``."""
        return 1 / largest

    def _estimate(self, batch: Batch, theta: FloatArray, anchor: Point) -> FloatArray:
        """The gradient of the losses from a batch; ``anchor`` is where the epoch began."""
        return batch.back(batch.slopes(theta))

    # ---- the engine -------------------------------------------------------------------------

    def _is_proximal(self, problem: Problem) -> bool:
        """Whether the penalty is met by proximal steps: where its slope is not Lipschitz, if the rule can."""
        return self.takes_prox and not (problem.penalty.is_smooth and problem.penalty.is_elastic)

    def _begin(self, objective: Objective, start: Start | None) -> _Walk:
        problem = objective.problem
        by_prox = self._is_proximal(problem)
        batches = None if self.batch_size is None else Batches.of(objective, int(self.batch_size))
        best = objective.start(start, by_prox)
        if (kept := state_of(start)) is not None:
            memory, numbers = Memory(*kept["memory"]), (kept["epoch"], kept["n_cuts"])
            return _Walk(best, memory, kept["step"], kept["scale"], batches, by_prox, *numbers)
        theta = best.theta
        if self.learning_rate is not None:
            scale, step = np.ones_like(theta), float(self.learning_rate)
        else:
            scale = objective.column_scales()
            largest = _largest_curvature(objective, scale)
            if batches is not None:
                largest = batches.smoothness(largest, scale, problem.losses.curvature or 0.0)
            is_usable = 0 < largest < np.inf
            step = self._first_step(largest if is_usable else 1.0, problem.losses.at_zero, len(theta))
        walk = _Walk(best, Memory(0, best.theta, best.theta), step, scale, batches, by_prox)
        walk.forget()
        return walk

    def _advance(self, objective: Objective, walk: _Walk, rng: np.random.Generator) -> Point:
        """The point after one pass over the rows."""
        if (rule := self._line_search(objective.problem)) is not None:
            theta = self._search(objective, walk, rule)
        elif walk.batches is None:
            at = self._point_ahead(objective, walk)
            theta, walk.memory = self._move(
                objective, walk, walk.best.theta, at.theta, at.gradient, self._step(walk)
            )
        else:
            theta = self._epoch(walk.batches, walk, rng)
        return objective.point(theta, by_prox=walk.by_prox)

    def _is_too_careful(self, problem: Problem) -> bool:
        """Whether the safe step is too short: few rows sit in the bends that a rounded loss counts."""
        is_chosen_here = self.learning_rate is None and self.batch_size is None
        return is_chosen_here and problem.losses.is_rounded

    def _line_search(self, problem: Problem) -> Backtracking | None:
        """The search for each step: the one asked for, or one that replaces a safe step that is too short.

        Steps along the gradient can be judged one by one, so that a step too long costs nesterov a trial and
        not its momentum.
        """
        if isinstance(self.schedule, Backtracking):
            return self.schedule
        is_unsaid = self.takes_prox and isinstance(self.schedule, Constant)
        return Backtracking() if is_unsaid and self._is_too_careful(problem) else None

    def _may_grow(self, problem: Problem) -> bool:
        """Whether a step that is too short grows until an epoch fails."""
        return self._is_too_careful(problem) and self._line_search(problem) is None

    def _epoch(self, batches: Batches, walk: _Walk, rng: np.random.Generator) -> FloatArray:
        """Where a step on each batch leads."""
        objective, theta = batches.objective, walk.best.theta
        for batch in batches.epoch(rng):
            ahead = self._ahead(walk.memory, theta)
            gradient = self._estimate(batch, ahead, walk.best)
            if not walk.by_prox:
                gradient += objective.penalty_gradient(ahead)
            theta, walk.memory = self._move(objective, walk, theta, ahead, gradient, self._step(walk))
        return theta

    def _step(self, walk: _Walk) -> float:
        return walk.step * self.schedule.factor(walk.epoch)

    def _point_ahead(self, objective: Objective, walk: _Walk) -> Point:
        ahead = self._ahead(walk.memory, walk.best.theta)
        return walk.best if ahead is walk.best.theta else objective.point(ahead, by_prox=walk.by_prox)

    def _move(
        self,
        objective: Objective,
        walk: _Walk,
        theta: FloatArray,
        ahead: FloatArray,
        gradient: FloatArray,
        step: float,
    ) -> tuple[FloatArray, Memory]:
        """One step of the rule, in coordinates theta / scale, and its memory."""
        shift, memory = self._shift(walk.memory, walk.scale * gradient, step)
        moved = ahead - walk.scale * shift
        if walk.by_prox:
            moved = objective.proximal(moved, step * walk.scale * walk.scale)
        return moved, self._after(memory, theta - moved)

    def _search(self, objective: Objective, walk: _Walk, rule: Backtracking) -> FloatArray:
        """The first of a falling row of steps whose decrease is what its slope promises."""
        while True:
            at, step = self._point_ahead(objective, walk), walk.step
            for _ in range(_TRIALS):
                moved, memory = self._move(objective, walk, walk.best.theta, at.theta, at.gradient, step)
                back = at.theta - moved
                if walk.by_prox:
                    promised = float(np.sum((back / walk.scale) ** 2)) / step
                else:
                    promised = float(at.gradient @ back)
                value = objective.value(moved, objective.scores(moved))
                if promised > 0 and value <= at.value - rule.decrease * promised:
                    walk.memory, walk.step = memory, step / rule.shrink
                    return moved
                step *= rule.shrink
            if walk.memory.count == 0:
                return walk.best.theta
            # What the rule remembers leads uphill, and a shorter step does not change that.
            walk.forget()


def _guess(objective: Objective, walk: _Walk) -> float | None:
    """The best point's gap under L2; otherwise now and then the question."""
    if objective.problem.penalty.is_ridge:
        return expected_gap(objective.problem, walk.best.gradient, walk.best.value)
    return None if walk.epoch % _LOOK == 0 else np.inf


def _largest_curvature(objective: Objective, scale: FloatArray) -> float:
    """The largest eigenvalue of the Hessian's bound in coordinates theta / scale, by the power method."""
    losses = objective.problem.losses
    bend = objective.penalty_part("l2") if objective.problem.penalty.is_smooth else np.zeros_like(scale)
    vector = scale * np.random.default_rng(0).standard_normal(len(scale))
    largest = 0.0
    for _ in range(_POWER_STEPS):
        size = float(np.linalg.norm(vector / scale))
        if not 0 < size < np.inf:
            return largest
        vector = vector / size
        curved = losses.weighted(objective.scores(vector))
        bent = (losses.curvature or 0.0) * objective.back(curved) + bend * vector
        vector = scale * scale * bent
        largest = max(largest, float(np.linalg.norm(vector / scale)))
    return _ROOM * largest


# ---- the rules ----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class GD(Descent):
    """Gradient descent, stochastic with a batch_size; with L1 and elastic net, proximal (ISTA).

    Notes
    -----
    See :class:`Descent`; the proximal form: Daubechies, Defrise and De Mol 2004.
    """

    name = "gd"
    has_memory = False
    takes_prox = True

    def _shift(self, memory: Memory, gradient: FloatArray, step: float) -> tuple[FloatArray, Memory]:
        return step * gradient, memory

    def _anchored(self, batches: Batches, anchor: Point) -> tuple[FloatArray | None, FloatArray | None]:
        """What every step adds to a batch's gradient, and the slopes that are taken from its own."""
        return None, None

    def _epoch(self, batches: Batches, walk: _Walk, rng: np.random.Generator) -> FloatArray:
        problem = batches.objective.problem
        if not batches.has_native_epochs:
            return super()._epoch(batches, walk, rng)
        theta = walk.best.theta.copy()
        # The outputs of a column share its scale: their curvatures have one bound.
        scales, scale_of_b = (part[..., 0] for part in batches.objective.split(walk.scale))
        rates = self._step(walk) * np.append(scales, scale_of_b) ** 2
        _core.svrg_epoch(
            batches.slopes, batches.matrix, batches.losses.s, batches.order(rng), batches.size, rates,
            _step_penalty(problem.penalty), _step_penalty(problem.constants_penalty),
            *self._anchored(batches, walk.best), theta,
        )  # fmt: skip
        return theta


def _step_penalty(penalty: Penalty) -> _core.StepPenalty:
    return _core.StepPenalty(float(penalty.l2), float(penalty.l1), penalty.has_corners)


@dataclass(frozen=True, kw_only=True)
class Momentum(Descent):
    """A share of the last update is added to the present one (Polyak 1964)."""

    name = "momentum"
    momentum: float = 0.9

    def __post_init__(self) -> None:
        super().__post_init__()
        require_share(self.name, "momentum", self.momentum)

    def _shift(self, memory: Memory, gradient: FloatArray, step: float) -> tuple[FloatArray, Memory]:
        velocity = self.momentum * memory.first + step * gradient
        return velocity, Memory(memory.count + 1, velocity, memory.second)


@dataclass(frozen=True, kw_only=True)
class Nesterov(Descent):
    """Momentum, its gradient taken where it leads (Nesterov 1983); with L1, FISTA (Beck and Teboulle 2009).

    ``momentum=None`` lets it grow as k / (k + 3) after k steps, which is optimal among first-order methods
    for smooth convex problems; restarts on a rise (O'Donoghue and Candes 2015) serve strongly convex ones.
    """

    name = "nesterov"
    takes_prox = True
    momentum: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.momentum is not None:
            require_share(self.name, "momentum", self.momentum)

    def _gamma(self, memory: Memory) -> float:
        return memory.count / (memory.count + 3) if self.momentum is None else self.momentum

    def _ahead(self, memory: Memory, theta: FloatArray) -> FloatArray:
        return theta if memory.count == 0 else theta - self._gamma(memory) * memory.first

    def _shift(self, memory: Memory, gradient: FloatArray, step: float) -> tuple[FloatArray, Memory]:
        return step * gradient, memory

    def _after(self, memory: Memory, moved: FloatArray) -> Memory:
        return Memory(memory.count + 1, moved, memory.second)


@dataclass(frozen=True, kw_only=True)
class _Adaptive(Descent):
    """Rules whose steps are lengths, whatever the size of the gradient."""

    reach: ClassVar[float] = 0.1

    def _first_step(self, largest: float, value: float, n_parameters: int) -> float:
        # With unit curvature along every axis, a fall of P(0) spans sqrt(2 P(0)) in all.
        return self.reach * float(np.sqrt(2 * value / n_parameters)) or 1.0


@dataclass(frozen=True, kw_only=True)
class Adagrad(_Adaptive):
    """Steps per parameter fall with the root of its summed squared gradients (Duchi, Hazan, Singer 2011)."""

    name = "adagrad"
    reach = 1.0
    epsilon: float = 1e-8

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(self.name, "epsilon", self.epsilon)

    def _shift(self, memory: Memory, gradient: FloatArray, step: float) -> tuple[FloatArray, Memory]:
        squares = memory.second + gradient * gradient
        return step * gradient / np.sqrt(squares + self.epsilon), Memory(
            memory.count + 1, memory.first, squares
        )


@dataclass(frozen=True, kw_only=True)
class RMSprop(_Adaptive):
    """Adagrad with a running mean in place of the sum (Tieleman and Hinton 2012)."""

    name = "rmsprop"
    decay: float = 0.9
    epsilon: float = 1e-8

    def __post_init__(self) -> None:
        super().__post_init__()
        require_share(self.name, "decay", self.decay)
        require_positive(self.name, "epsilon", self.epsilon)

    def _shift(self, memory: Memory, gradient: FloatArray, step: float) -> tuple[FloatArray, Memory]:
        squares = self.decay * memory.second + (1 - self.decay) * gradient * gradient
        return step * gradient / np.sqrt(squares + self.epsilon), Memory(
            memory.count + 1, memory.first, squares
        )


@dataclass(frozen=True, kw_only=True)
class Adadelta(_Adaptive):
    """Steps in the units of the last updates, without a learning rate of their own (Zeiler 2012)."""

    name = "adadelta"
    decay: float = 0.9
    epsilon: float = 1e-6

    def __post_init__(self) -> None:
        super().__post_init__()
        require_share(self.name, "decay", self.decay)
        require_positive(self.name, "epsilon", self.epsilon)

    def _first_step(self, largest: float, value: float, n_parameters: int) -> float:
        # The first update has length sqrt(epsilon), whatever the units.
        return super()._first_step(largest, value, n_parameters) / float(np.sqrt(self.epsilon))

    def _shift(self, memory: Memory, gradient: FloatArray, step: float) -> tuple[FloatArray, Memory]:
        squares = self.decay * memory.second + (1 - self.decay) * gradient * gradient
        update = np.sqrt(memory.first + self.epsilon) / np.sqrt(squares + self.epsilon) * gradient
        updates = self.decay * memory.first + (1 - self.decay) * update * update
        return step * update, Memory(memory.count + 1, updates, squares)


@dataclass(frozen=True, kw_only=True)
class Adam(_Adaptive):
    """Running means of the gradient and its square, corrected for their start at 0 (Kingma and Ba 2015)."""

    name = "adam"
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8

    def __post_init__(self) -> None:
        super().__post_init__()
        require_share(self.name, "beta1", self.beta1)
        require_share(self.name, "beta2", self.beta2)
        require_positive(self.name, "epsilon", self.epsilon)

    def _shift(self, memory: Memory, gradient: FloatArray, step: float) -> tuple[FloatArray, Memory]:
        count = memory.count + 1
        mean = self.beta1 * memory.first + (1 - self.beta1) * gradient
        squares = self.beta2 * memory.second + (1 - self.beta2) * gradient * gradient
        size = np.sqrt(squares / (1 - self.beta2**count)) + self.epsilon
        return step * mean / (1 - self.beta1**count) / size, Memory(count, mean, squares)
