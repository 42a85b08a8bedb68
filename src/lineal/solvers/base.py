"""What a solver is: a stream of iterates.

A solver knows a :class:`~lineal.objective.problem.Problem` and the native core. It yields iterates,
epoch after epoch, and never decides when to stop: the driver certifies them, keeps the best weights and
the best bound, and stops on the certified gap, a budget, an interruption or a callback.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from lineal.objective.certificate import Bound, Certificate
from lineal.objective.joint import CrammerSinger
from lineal.objective.losses import FloatArray
from lineal.objective.penalties import Lp
from lineal.objective.problem import Problem

Weights = tuple[FloatArray, FloatArray]

# Below this p the curvature of |w|^p at 0 explodes, and newton's steps with it.
NEWTON_LEAST_P = 1.2


@dataclass(frozen=True)
class Iterate:
    """Where a solver stands after an epoch.

    Attributes
    ----------
    weights : callable
        Gives (W, b), float64 or float32; they may be the solver's own and hold until the next iterate.
    dual : callable or None
        Gives a dual point worth trying; None leaves it to the slopes of the losses.
    expected_gap : float or None
        A cheap guess of the relative gap, so that not every epoch is certified; None asks for a certificate.
    value : float or None
        The objective that the solver minimises, at these weights, where it knows it.
    bound : Bound or None
        What the dual point proves for this very problem, where the solver has met V anyway.
    residue : float or None
        Under L2, a bound on |V + strength W| for the dual point as it is given, where the solver keeps count
        of it: then the scores alone tell how large V is (``lower_bound_by_scores``).
    """

    weights: Callable[[], Weights]
    dual: Callable[[], FloatArray] | None = None
    expected_gap: float | None = None
    value: float | None = None
    bound: Bound | None = None
    residue: float | None = None


@dataclass(frozen=True)
class Start:
    """Where to begin: earlier weights and, for dual solvers, an earlier dual point."""

    W: FloatArray
    b: FloatArray
    U: FloatArray | None = None


@dataclass(frozen=True)
class Progress:
    """How far a fit is after an epoch: what callbacks get and, where it is proved, a point of ``trace_``.

    Attributes
    ----------
    epoch : int
    primal, dual, gap : float
        The best that is proved so far; inf, -inf and inf before the first certificate.
    seconds : float
        Since the fit began.
    is_proved : bool
        Whether this very epoch was certified.
    estimate : float or None
        The solver's own guess of the relative gap, which proves nothing.
    solver : str
        Which one is at work.
    """

    epoch: int
    primal: float
    dual: float
    gap: float
    seconds: float
    is_proved: bool = True
    estimate: float | None = None
    solver: str = ""


@dataclass(frozen=True)
class Solution:
    """What minimising returns: weights, the dual point of the proof, the proof, and the way there."""

    W: FloatArray
    b: FloatArray
    U: FloatArray
    certificate: Certificate
    trace: tuple[Progress, ...] = field(default=())


# Said where numbers overflow or vanish.
BEYOND = (
    "X, y, the weights of rows or the strength lead to numbers that float64 cannot hold: squares must lie "
    "between 1e-308 and 1e308. Rescale the data, X for example with ColumnScaler, or take another strength."
)


class Solver(ABC):
    """One algorithm. Solvers are stateless values; all state lives in the stream."""

    name: ClassVar[str]

    @abstractmethod
    def refusal(self, problem: Problem) -> str | None:
        """Why this solver cannot take the problem (and what can), or None if it can."""

    @abstractmethod
    def iterates(self, problem: Problem, start: Start | None, tol: float, seed: int) -> Iterator[Iterate]:
        """Yields an iterate per epoch; ends when nothing more can be gained."""

    def is_patient(self, problem: Problem) -> bool:
        """Whether a slow run goes on to its floor, though another solver stands behind it."""
        return False


def instead(problem: Problem) -> str:
    """The solvers to send someone to: those that take every loss with this penalty."""
    penalty, loss = problem.penalty, problem.loss
    if not penalty.is_smooth:
        # Before the labels are read, a hinge may still become the joint one, which prox_cd does not take.
        is_hinge = isinstance(loss, CrammerSinger) or loss.joint is CrammerSinger
        return "lbfgs" if is_hinge or problem.X.n_scores > 1 else "prox_cd or lbfgs"
    return "lbfgs" if isinstance(penalty, Lp) and penalty.p < NEWTON_LEAST_P else "newton or lbfgs"


def joint_map_refusal(name: str, problem: Problem) -> str | None:
    """Why a solver that walks over the rows of X itself cannot take scores that share weights."""
    if not problem.has_shared_weights:
        return None
    how = "a joint map phi(x, y)" if problem.loss.is_joint else "thresholds that share weights"
    return f"{name} needs weights of its own for each label, not {how}: use {instead(problem)}"


def zeros(problem: Problem) -> Weights:
    """W = 0, b = 0."""
    return np.zeros(problem.weight_shape), np.zeros(problem.n_outputs)
