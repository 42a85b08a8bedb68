"""What a solver is: a stream of iterates.

A solver knows a :class:`~lineal.objective.problem.Problem` and the native core. It yields iterates,
epoch after epoch, and never decides when to stop: the driver certifies them, keeps the best weights and
the best bound, and stops on the certified gap, a budget, an interruption or a callback.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from lineal.objective.bounds import Bound
from lineal.objective.certificate import Certificate
from lineal.objective.losses import FloatArray
from lineal.objective.problem import Problem
from lineal.solvers.costs import Cost, losses, passes

if TYPE_CHECKING:
    from lineal.solvers.separation import Separation

Weights = tuple[FloatArray, FloatArray]
# What a stream goes on from: numbers, strings, None and arrays by name, and dicts and tuples of them.
State = dict[str, Any]

# Epochs that methods of first order usually take, and how many times that where kinks, of one score or of
# several at once, are rounded in stages.
_USUAL_EPOCHS, _KINKS, _JOINT_KINKS = 100, 10, 100

# Where an epoch takes at most so many seconds and convergence is quadratic, a fit goes on to this relative
# gap: the answer then agrees with every other exact one to the digits that people print.
CHEAP, EXACT = 2e-3, 1e-12


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
    is_worth_a_proof : bool or None
        Where the solver knows better than its guess whether a certificate is worth its price.
    value : float or None
        The objective that the solver minimises, at these weights, where it knows it.
    primal : float or None
        P of the very problem at these weights and their ``scores``, where the solver has computed it.
    bound : Bound or None
        What the dual point proves for this very problem, where the solver has met V anyway.
    residue : float or None
        Under L2, a bound on |V + strength W| for the dual point as it is given, where the solver keeps count
        of it: then the scores alone tell how large V is (``lower_bound_by_scores``).
    is_by_slopes : bool
        Whether ``dual`` is made of the losses' slopes at the scores, which are rounded as these are.
    has_own_intercept : bool
        Whether a free intercept is as near to where it belongs as the weights are, so that it is left there.
    state : callable or None
        Gives what a new stream (``Start.state``) begins again from, with this very iterate, so that all that
        follow are the same to the bit. It holds until the next iterate; its arrays may be the solver's own.
    scores : callable or None
        Gives the scores of these weights, where the solver has them; the caller's own.
    """

    weights: Callable[[], Weights]
    dual: Callable[[], Any] | None = None
    expected_gap: float | None = None
    value: float | None = None
    primal: float | None = None
    bound: Bound | None = None
    residue: float | None = None
    is_worth_a_proof: bool | None = None
    is_by_slopes: bool = False
    has_own_intercept: bool = False
    state: Callable[[], State] | None = None
    scores: Callable[[], FloatArray] | None = None


@dataclass(frozen=True)
class Start:
    """Where to begin: earlier weights and, for dual solvers, an earlier dual point.

    A state is of the same solver: where there is one, the stream begins with the iterate that it was taken
    at, once more. Its arrays may be written to.

    Where the map, the losses and the intercept are the same, the scores Z of the weights and V = X'G of U may
    be told: they save two passes over X. Of columns that are priced (``objective.priced_columns``) V is what
    the last point's proof needed.
    """

    W: FloatArray
    b: FloatArray
    U: Any = None
    state: State | None = None
    Z: FloatArray | None = None
    V: FloatArray | None = None

    def beyond(self, before: Start, share: float, problem: Problem) -> Start:
        """Farther on the line from an earlier start through this one: by ``share`` of their distance.

        Along a path optima and their dual points move nearly on lines, between kinks exactly for least
        squares. Weights that would change their sign stop at 0, where they would turn. V moves as U does.
        """
        if any(each is None for start in (self, before) for each in (start.Z, start.V, start.U)):
            return self
        assert self.Z is not None
        assert before.Z is not None
        assert self.V is not None
        assert before.V is not None
        W = self.W + share * (self.W - before.W)
        has_turned = self.W * W <= 0
        Z = self.Z + share * (self.Z - before.Z)
        held = np.flatnonzero((has_turned & (W != 0)).any(axis=1))
        if len(held):
            Z -= problem.X.take_columns(held).dot(np.where(has_turned[held], W[held], 0.0))
            W[has_turned] = 0.0
        U = self.U + share * (self.U - before.U)
        is_feasible = np.isfinite(problem.losses.conjugate(U))
        V = self.V + share * (self.V - before.V) if is_feasible else self.V
        return Start(W, self.b + share * (self.b - before.b), U if is_feasible else self.U, Z=Z, V=V)


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
    """What minimising returns: weights, the dual point of the proof, the proof, and the way there.

    The scores of the weights and V of the dual point are there where the run had them.
    """

    W: FloatArray
    b: FloatArray
    U: Any
    certificate: Certificate
    trace: tuple[Progress, ...] = field(default=())
    separation: Separation | None = None  # the proof that there is no minimiser, where that was found
    Z: FloatArray | None = None
    V: FloatArray | None = None

    def as_start(self) -> Start:
        """Where the same map, losses and intercept begin with another penalty."""
        W = self.W.astype(np.float64, copy=False)
        return Start(W, self.b, self.U, Z=self.Z, V=self.V)


# Said where numbers overflow or vanish.
BEYOND = (
    "X, y, the weights of rows or the strength lead to numbers that float64 cannot hold: squares must lie "
    "between 1e-308 and 1e308. Rescale the data, X for example with ColumnScaler, or take another strength."
)


@dataclass(frozen=True)
class Need:
    """Something that a solver needs of a problem, told from declarations alone: no data are touched.

    Attributes
    ----------
    what : str
        In words that follow "needs".
    of : str
        What of the problem is named where it is missing: "loss", "penalty", "loss and penalty", or nothing.
    holds : callable
    """

    what: str
    of: str
    holds: Callable[[Problem], bool]


# What several solvers need.
DIFFERENTIABLE_PENALTY = Need("a differentiable penalty", "penalty", lambda p: p.penalty.is_smooth)
ROWS = Need("rows to walk over, in the core", "", lambda p: p.X.native_rows is not None)
OWN_WEIGHTS = Need(
    "weights of its own for each label, not a joint map phi(x, y) or thresholds that share weights",
    "",
    lambda p: not p.has_shared_weights,
)
SMOOTHABLE = Need(
    "losses without kinks, or such that can be rounded",
    "loss",
    lambda p: p.losses.is_smooth or p.losses.can_be_smoothed,
)
LOSS_A_ROW = Need("a loss for each row by itself", "loss", lambda p: p.losses.rows is not None)


class Solver(ABC):
    """One algorithm. Solvers are stateless values; all state lives in the stream."""

    name: ClassVar[str]

    @property
    def needs(self) -> tuple[Need, ...]:
        """What a problem must have."""
        return ()

    def refusal(self, problem: Problem) -> str | None:
        """Why this solver cannot take the problem, and which can; None if it can."""
        lack = _lack(self, problem)
        if lack is None:
            return None
        came = {"loss": f"{problem.losses.names}", "penalty": f"{problem.penalty}"}
        given = " and ".join(came[part] for part in lack.of.split(" and ") if part)
        return f"{self.name} needs {lack.what}{f', not {given}' if given else ''}: use {takers(problem)}"

    @abstractmethod
    def iterates(self, problem: Problem, start: Start | None, tol: float, seed: int) -> Iterator[Iterate]:
        """Yields an iterate per epoch; ends when nothing more can be gained."""

    def cost(self, problem: Problem) -> Cost:
        """What an epoch and a run are predicted to take, from sizes and, at most, norms of the rows."""
        usual = _USUAL_EPOCHS
        if not problem.losses.is_smooth:
            usual *= _KINKS if problem.losses.is_by_score else _JOINT_KINKS
        return Cost.of_epochs(passes(problem, 2) + losses(problem, 2), usual)

    def aim(self, problem: Problem, tol: float) -> float:
        """The relative gap that it is run to: ``EXACT`` where steps cost next to nothing and gain digits."""
        return tol

    def goes_on(self, problem: Problem) -> bool:
        """Whether it goes on from the weights and the dual point of another fit; else it begins anew."""
        return True

    def is_patient(self, problem: Problem) -> bool:
        """Whether a slow run goes on to its floor, though another solver stands behind it."""
        return False


def takers(problem: Problem) -> str:
    """The solvers to send someone to: those whose needs a problem meets, the most capable first."""
    from lineal.solvers.catalogue import SOLVERS

    capable = ("newton", "prox_cd", "lbfgs", "dual_cd", "closed_form")
    forms = [problem]
    rows = problem.losses.rows
    if rows is not None and rows.loss.joint is not None and rows.loss.joint() != rows.loss:
        # Before the labels are read, a loss of one score may still become the joint one.
        forms.append(replace(problem, losses=rows.with_loss(rows.loss.joint())))
    able = [name for name in capable if all(takes(SOLVERS[name](), form) for form in forms)]
    if not able and takes(SOLVERS["nesterov"](), problem):
        return "nesterov"
    return " or ".join(able[:2]) if able else "another loss or penalty: no solver takes this one"


def takes(solver: Solver, problem: Problem) -> bool:
    """Whether a problem has all that a solver needs."""
    return _lack(solver, problem) is None


def _lack(solver: Solver, problem: Problem) -> Need | None:
    """The first thing that a solver needs and the problem does not have."""
    for need in solver.needs:
        if not need.holds(problem):
            return need
    return None


def state_of(start: Start | None) -> State | None:
    """What a stream goes on from, if anything."""
    return None if start is None else start.state


def zeros(problem: Problem) -> Weights:
    """W = 0, b = 0."""
    return np.zeros(problem.weight_shape), np.zeros(problem.n_outputs)
