"""The certificate: a proof of how far a model is from the optimum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

import numpy as np

from lineal.objective.losses import FloatArray
from lineal.objective.penalties import L2, NoPenalty
from lineal.objective.problem import Intercept, Problem, pieces

# Sums of n terms that cancel are 0 to a few of these, times the terms' size.
_ROUNDING = 1e-9


class Stop(StrEnum):
    """Why a fit ended; files keep the value."""

    CERTIFIED = "certified"
    CANCELLED = "cancelled"
    SECONDS = "seconds"
    EPOCHS = "epochs"
    CALLBACK = "callback"
    NO_MINIMUM = "no_minimum"
    STALLED = "stalled"

    def sentence(self, detail: object = "") -> str:
        """The same in words; ``detail`` is the limit that was reached, or what is in the way of progress."""
        return _SENTENCES[self].format(detail)


_SENTENCES = {
    Stop.CERTIFIED: "the gap is certified",
    Stop.CANCELLED: "interrupted: this is the best model so far",
    Stop.SECONDS: "max_seconds={} reached",
    Stop.EPOCHS: "max_epochs={} reached",
    Stop.CALLBACK: "a callback asked to stop",
    Stop.NO_MINIMUM: (
        "the classes are separable and nothing is penalised, so the objective has no minimiser: "
        "the weights are a separating direction, and the objective falls towards 0 along it"
    ),
    Stop.STALLED: "no further progress: {}",
}


@dataclass(frozen=True)
class Certificate:
    """What was proved about a fit, and how it ended.

    Attributes
    ----------
    primal : float
        P(W, b): the objective at the model's weights.
    dual : float
        D(U) at a feasible dual point: no weights whatever have an objective below it.
    gap : float
        primal - dual, so the model is at most this far above the optimum.
    relative_gap : float
        gap / max(|primal|, 1e-12 P(0)): what ``tol`` was compared with.
    kkt_violation : float
        The largest single term of the gap. The gap is a sum of non-negative terms, one for each row
        (is u_i a slope of the loss at z_i?) and one for each weight (is -v_j a slope of the penalty at
        w_j?); a term is 0 exactly when its optimality condition holds.
    solver : str
        Which algorithm, or chain of algorithms, found the weights.
    epochs : int
        Passes over the data.
    seconds : float
        Wall-clock time of the fit.
    converged : bool
        Whether relative_gap <= tol.
    reason : str
        Why the fit ended, in words.
    stop : Stop or None
        Why the fit ended; None where nothing was fitted, as in ``verify``, or an earlier version did not say.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    kkt_violation: float
    solver: str = ""
    epochs: int = 0
    seconds: float = 0.0
    converged: bool = False
    reason: str = ""
    stop: Stop | None = None

    @classmethod
    def of_record(cls, kept: Mapping[str, Any]) -> Self:
        """A certificate from its fields as text and numbers; earlier versions kept no ``stop``."""
        known = {**kept, "stop": kept.get("stop", Stop.CERTIFIED if kept.get("converged") else None)}
        return cls(**known | {"stop": None if known["stop"] is None else Stop(known["stop"])})

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({"stop": Stop.CERTIFIED if state["converged"] else None} | state)

    def __str__(self) -> str:
        state = "certified" if self.converged else "not certified"
        return (
            f"{state}: objective {self.primal:.10g}, at most {self.gap:.3g} above the optimum "
            f"(relative gap {self.relative_gap:.2e}) by {self.solver} in {self.epochs} epochs, "
            f"{self.seconds:.3g} s; {self.reason}"
        )


@dataclass(frozen=True)
class Bound:
    """A lower bound on the objective: D at a feasible U.

    Attributes
    ----------
    U : array
        The feasible point.
    V : array or None
        X'S U; not kept under L2, where its size says all.
    dual : float
        D(U).
    worst_weight : float or None
        Under L2, the largest term of the gap among the weights that the bound was asked for with, or the sum
        of all of them where only that is known.
    """

    U: FloatArray
    V: FloatArray | None
    dual: float
    worst_weight: float | None = None


def lower_bound(problem: Problem, U: FloatArray, V: FloatArray | None, W: FloatArray, b: FloatArray) -> Bound:
    """D(U) for a U that is feasible up to rounding; V = X'S U is not needed under L2.

    Sums that should be exactly 0 (``sum s u`` under a free intercept, V without a penalty) are 0 to
    rounding only. A residue above rounding gives no bound at all; what a smaller one could be worth at
    the optimum is charged to the bound, with the largest of the present weights, doubled, standing in for
    the optimal ones; weights are compared in units of their columns.
    """
    charge, is_sound = 0.0, True
    if problem.intercept is Intercept.FREE:
        SU = problem.weighted(U)
        residue = np.abs(SU.sum(axis=0))
        is_sound &= bool(np.all(residue <= _ROUNDING * np.abs(SU).sum(axis=0)))
        charge += 2 * float(residue @ np.abs(b))
    worst_weight = None
    if isinstance(problem.penalty, L2):
        conjugate, worst_weight = problem.pulled(U, W, b)
    elif isinstance(problem.penalty, NoPenalty):
        assert V is not None
        # Cauchy and Schwarz bound what |v_j| could be, had its terms nothing to do with each other.
        columns = np.sqrt(problem.X.squared_adjoint(problem.s[:, None]))
        squares = (problem.s @ (U * U)).reshape(W.shape[1], -1)  # by column of W, which may have many scores
        size = np.sqrt(squares.sum(axis=1))
        is_sound &= bool(np.all(np.abs(V) <= _ROUNDING * columns * size))
        is_sound &= _is_faint_part_rounding(problem, U, V, columns, size)
        # v_j w_j does not know the unit of column j: v_j / |x_j| and |x_j| w_j do neither.
        residue = np.divide(np.abs(V), columns, out=np.zeros_like(V), where=columns > 0).sum(axis=0)
        charge += 2 * float(residue @ (columns * np.abs(W)).max(axis=0, initial=0.0))
        conjugate = 0.0
    else:
        assert V is not None
        conjugate = sum(problem.penalty.conjugate(-piece) for piece in pieces(V))
    dual = -problem.conjugate_sum(U) - conjugate - charge
    return Bound(U, V, dual if is_sound and np.isfinite(dual) else -np.inf, worst_weight)


def _is_faint_part_rounding(
    problem: Problem, U: FloatArray, V: FloatArray, columns: FloatArray, size: FloatArray
) -> bool:
    """Whether V is 0 to the last bits along combinations of columns that nearly vanish in every row.

    Weights may be as large there as they please: a column of 10^9 +- 1 beside an intercept tells classes
    apart with weights 10^9 times its own unit. A residue far below that of other directions can be worth all
    of the objective.
    """
    directions = problem.faint_directions
    if not directions.size:
        return True
    sizes, residue = columns, V
    if problem.intercept is Intercept.FREE:
        sizes = np.vstack([columns, np.full((1, 1), np.sqrt(problem.s.sum()))])
        residue = np.vstack([V, problem.weighted(U).sum(axis=0)])
    part = directions.T @ np.divide(residue, sizes, out=np.zeros_like(residue), where=sizes > 0)
    bits = np.finfo(np.float64).eps * (30 + np.sqrt(problem.X.n_rows))
    return bool(np.all(np.abs(part) <= bits * size))


def lower_bound_by_scores(
    problem: Problem, U: FloatArray, b: FloatArray, Z: FloatArray, penalty: float, residue: float
) -> Bound | None:
    """D(U) under L2 without a pass over X: by the scores Z and the penalty of weights W near -V / strength.

    With E = V + strength W, the norm of E at most ``residue``, and V.W = sum s u.z because z = W'x::

        |V|^2 = |E|^2 - 2 strength sum s u.z - strength^2 |W|^2

    so the gap is that of the rows and |E|^2 / (2 strength), which is what is charged and told as
    ``worst_weight``. None where U is not feasible as it is.
    """
    if type(problem.penalty) is not L2 or problem.intercept is Intercept.FREE or problem.loss.is_joint:
        return None
    low, high = problem.domain
    if not np.all((low <= U) & (high >= U)):
        return None
    strength, SU = problem.penalty.strength, problem.weighted(U)
    if problem.intercept is Intercept.PENALIZED:
        residue = float(np.hypot(residue, np.linalg.norm(SU.sum(axis=0) + strength * b)))
    charge = residue * residue / (2 * strength)
    dual = -problem.conjugate_sum(U) + float(np.vdot(SU, Z)) + penalty - charge
    return Bound(U, None, dual, charge) if np.isfinite(dual) else None


def worst_term(problem: Problem, W: FloatArray, b: FloatArray, Z: FloatArray, bound: Bound) -> float:
    """The largest Fenchel-Young residual among rows and weights; see ``Certificate.kkt_violation``."""
    worst = problem.worst_row(Z, bound.U)
    if isinstance(problem.penalty, L2):
        worst_weight = problem.pulled(bound.U, W, b)[1] if bound.worst_weight is None else bound.worst_weight
        return max(worst, worst_weight)
    assert bound.V is not None
    if isinstance(problem.penalty, NoPenalty):
        return max(worst, float(np.abs(bound.V * W).max(initial=0.0)))
    for w, v in zip(pieces(problem.penalised(W, b)), pieces(bound.V), strict=True):
        terms = problem.penalty.terms(w) + problem.penalty.conjugate_terms(-v) + w * v
        worst = max(worst, float(terms.max(initial=0.0)))
    return worst
