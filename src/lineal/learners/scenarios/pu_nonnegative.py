"""The non-negative risk where it is convex: a saddle in one number.

With A the unbiased risk and B its positive part, both convex and with the penalty in them, the non-negative
risk is max(A, B), and min_w max(A, B) = max_share min_w share A + (1 - share) B. The inner minimum has a
certificate; its slope in the share is the negative part at its weights, which falls as the share grows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from lineal.learners.scenarios.pu_risk import NonNegativeLosses, SharedDual
from lineal.objective.bounds import Bound
from lineal.objective.losses import FloatArray
from lineal.objective.problem import Problem
from lineal.solvers import Iterate, Solution, Solver, Start

# (problem, start, tolerance) -> solution.
Minimise = Callable[[Problem, Start | None, float], Solution]

# The inner problems are solved to this share of the tolerance: their gaps are part of the whole one.
_INNER = 0.25
_ROUNDS = 60


@dataclass(frozen=True, eq=False)
class _Side:
    """A share, the weights that are best for it, and the negative part there."""

    share: float
    W: FloatArray
    b: FloatArray
    negative: float
    solution: Solution


class ShareSearch(Solver):
    """Finds the share of the negative part whose minimum is highest, by fits of one share after another.

    Notes
    -----
    Needs ``NonNegativeLosses`` under L2. An iterate is a fit of one share, or a mixture of the two fits whose
    negative parts have opposite signs; its bound is the fit's own. One fit is enough where the unbiased
    risk's negative part is not negative at its own minimum, else some ten warm-started ones.

    Attributes
    ----------
    last : Solution or None
        The fit of the last share: where the search was cut short, it tells why.
    """

    name = "share_search"

    def __init__(self, minimise: Minimise) -> None:
        self._minimise = minimise
        self.last: Solution | None = None

    def iterates(self, problem: Problem, start: Start | None, tol: float, seed: int) -> Iterator[Iterate]:
        losses = problem.losses
        assert isinstance(losses, NonNegativeLosses)
        low: _Side | None = None
        high = self._side(problem, losses, 1.0, start, tol)
        yield _iterate(high)
        for count in range(_ROUNDS):
            if count == 0 and high.negative >= 0:
                return
            share = 0.5 * high.share if low is None else _between(low, high, is_bold=(count + 1) % 3 != 0)
            near = high if low is None or -high.negative < low.negative else low
            side = self._side(problem, losses, share, Start(near.W, near.b), _INNER * tol)
            low, high = (side, high) if side.negative >= 0 else (low, side)
            yield _iterate(side)
            if low is not None:
                t = low.negative / (low.negative - high.negative)
                yield _iterate(side, (1 - t) * low.W + t * high.W, (1 - t) * low.b + t * high.b)
            if not side.solution.certificate.converged:
                return

    def _side(
        self, problem: Problem, losses: NonNegativeLosses, share: float, start: Start | None, tol: float
    ) -> _Side:
        mixture = replace(problem, losses=losses.mixture(share))
        self.last = found = self._minimise(mixture, start, tol)
        Z = mixture.scores(found.W, found.b)
        return _Side(share, found.W, found.b, losses.data.sums(losses.loss, Z)[1], found)


def _iterate(side: _Side, W: FloatArray | None = None, b: FloatArray | None = None) -> Iterate:
    """The weights of a side, or others, with the side's bound."""
    weights = (side.W if W is None else W, side.b if b is None else b)
    dual = SharedDual(side.share, side.solution.U)
    bound = Bound(dual, None, side.solution.certificate.dual)
    return Iterate(lambda: weights, lambda: dual, bound=bound)


def _between(low: _Side, high: _Side, *, is_bold: bool) -> float:
    """Where a line through both sides meets 0, or the middle now and then: the ends must come together."""
    middle = (low.share + high.share) / 2
    if not is_bold:
        return middle
    t = low.negative / (low.negative - high.negative)
    return low.share + min(max(t, 0.02), 0.98) * (high.share - low.share)
