"""The non-negative risk where it is convex: a saddle in one number.

With A the unbiased risk and B its positive part, both convex and with the penalty in them, the non-negative
risk is max(A, B), and min_w max(A, B) = max_share min_w share A + (1 - share) B. The inner minimum has a
certificate; its slope in the share is the negative part at its weights, which falls as the share grows.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lineal.learners.scenarios.pu_risk import NonNegativeProblem, PURows
from lineal.objective.certificate import Certificate, Stop
from lineal.objective.losses import FloatArray, Loss
from lineal.objective.problem import Intercept
from lineal.objective.soft import SoftLabel
from lineal.objective.tilted import TiltedProblem
from lineal.solvers import Progress, Solution, Start

# (problem, start, tolerance) -> solution.
Minimise = Callable[[TiltedProblem, Start | None, float], Solution]

# The inner problems are solved to this share of the tolerance: their gaps are part of the whole one.
_INNER = 0.25
_ROUNDS = 60


@dataclass(frozen=True, eq=False)
class _Side:
    """A share, the weights that are best for it, and the negative part there."""

    share: float
    W: FloatArray
    b: FloatArray
    Z: FloatArray
    negative: float


@dataclass
class _Search:
    """The best weights and the best bound so far; they need not come from the same share."""

    data: PURows
    loss: Loss
    soft: SoftLabel
    strength: float
    intercept: Intercept
    primal: float = np.inf
    dual: float = -np.inf
    worst: float = np.inf
    W: FloatArray | None = None
    b: FloatArray | None = None
    U: FloatArray | None = None
    share: float = 1.0

    def try_share(self, share: float, start: Start | None, minimise: Minimise, tol: float) -> _Side:
        """Solves for a share; keeps what is better than before."""
        mixture = self.data.problem(self.soft, self.strength, self.intercept, share)
        solution = minimise(mixture, start, tol)
        self.last = solution
        if solution.certificate.dual > self.dual:
            self.dual, self.U, self.share = solution.certificate.dual, solution.U, share
            self.worst = solution.certificate.kkt_violation
        Z = mixture.scores(solution.W, solution.b)
        self.whole = NonNegativeProblem.of(self.data, self.loss, mixture)
        self.try_weights(solution.W, solution.b, Z)
        return _Side(share, solution.W, solution.b, Z, self.data.sums(self.loss, Z)[1])

    def try_weights(self, W: FloatArray, b: FloatArray, Z: FloatArray) -> None:
        """Keeps weights if they are better than those before."""
        value = self.whole.primal(W, b, Z)
        if value < self.primal:
            self.primal, self.W, self.b = value, W, b

    @property
    def relative_gap(self) -> float:
        """(P - D) over |P|, as everywhere."""
        return self.whole.relative_gap(self.primal, self.dual)


def minimise_nonnegative(
    data: PURows,
    loss: Loss,
    soft: SoftLabel,
    strength: float,
    intercept: Intercept,
    minimise: Minimise,
    tol: float,
) -> tuple[Solution, float]:
    """The solution with a certificate of the non-negative risk, and the share that proves it.

    Costs one fit where the unbiased risk's negative part is not negative at its own minimum, else some ten
    warm-started ones.
    """
    began = time.perf_counter()
    search = _Search(data, loss, soft, strength, intercept)
    epochs, trace, low = 0, [], None
    stop, reason = Stop.STALLED, "no share in reach closes the gap"
    high = search.try_share(1.0, None, minimise, tol)
    for count in range(_ROUNDS):
        epochs += search.last.certificate.epochs
        seconds = time.perf_counter() - began
        trace.append(Progress(epochs, search.primal, search.dual, search.primal - search.dual, seconds))
        if count == 0 and high.negative >= 0:
            break
        if search.relative_gap <= tol:
            break
        if not search.last.certificate.converged:
            break
        share = 0.5 * high.share if low is None else _between(low, high, is_bold=count % 3 != 0)
        near = high if low is None or -high.negative < low.negative else low
        side = search.try_share(share, Start(near.W, near.b), minimise, _INNER * tol)
        low, high = (side, high) if side.negative >= 0 else (low, side)
        if low is not None:
            t = low.negative / (low.negative - high.negative)
            mixed = [(1 - t) * one + t * other for one, other in zip(_point(low), _point(high), strict=True)]
            search.try_weights(mixed[0], mixed[1], mixed[2])
    if not search.last.certificate.converged:
        stop, reason = search.last.certificate.stop or stop, search.last.certificate.reason
    relative = search.relative_gap
    converged = relative <= tol
    certificate = Certificate(
        primal=search.primal,
        dual=search.dual,
        gap=search.primal - search.dual,
        relative_gap=relative,
        kkt_violation=search.worst,
        solver=search.last.certificate.solver,
        epochs=epochs,
        seconds=time.perf_counter() - began,
        converged=bool(converged),
        reason=Stop.CERTIFIED.sentence() if converged else reason,
        stop=Stop.CERTIFIED if converged else stop,
    )
    assert search.W is not None
    assert search.b is not None
    assert search.U is not None
    return Solution(search.W, search.b, search.U, certificate, tuple(trace)), search.share


def _point(side: _Side) -> tuple[FloatArray, FloatArray, FloatArray]:
    return side.W, side.b, side.Z


def _between(low: _Side, high: _Side, *, is_bold: bool) -> float:
    """Where a line through both sides meets 0, or the middle now and then: the ends must come together."""
    middle = (low.share + high.share) / 2
    if not is_bold:
        return middle
    t = low.negative / (low.negative - high.negative)
    return low.share + min(max(t, 0.02), 0.98) * (high.share - low.share)
