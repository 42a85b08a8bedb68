"""The objective, stated once."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np

from lineal.objective.certificate import FLOOR, relative_gap, yardstick
from lineal.objective.linear_maps import LinearMap
from lineal.objective.loss_sums import LossSum, RowLosses
from lineal.objective.losses import FloatArray, Loss, Targets
from lineal.objective.penalties import NoPenalty, Penalty

# Combinations of unit columns whose square is below this share of theirs are faint; among more columns than
# so many their search would take seconds.
_FAINT, _MANY_COLUMNS = 1e-7, 600
# A share of its columns' squares that is all rounding of their products.
_NOTHING = 1e-13
# Scores are rounded a few times on their way.
_ROUNDINGS = 8

_FREE = NoPenalty()


class Intercept(Enum):
    """What the constant term is: absent, free of penalty, or penalised like a weight."""

    NONE = "none"
    FREE = "free"
    PENALIZED = "penalized"


@dataclass(frozen=True)
class Constants:
    """A model of constants alone: b, its P, and what a few roundings of b add to that."""

    b: FloatArray
    primal: float
    rounding: float


@dataclass(frozen=True)
class Problem:
    r"""A linear map A, a sum of losses F of its scores, a penalty R: P, its dual D, and the gap between them.

    ::

        P(W, b) =  F(Z) + R(W) + R_b(b),          Z = A W + b
        D(U)    = -F*(G) - R*(-V) - R_b*(-v),     G = pull(U),  V = A'G,  v = the sums of G over rows
        P - D  >=  0  for every W, b and every feasible U, and = 0 at the optimum.

    For a loss a row, with weights of rows s_i, F(Z) = sum_i s_i loss(y_i, z_i), G = S U and
    F*(G) = sum_i s_i loss*(y_i, u_i). A loss of one score is applied to each of the K targets of a row
    (one-vs-rest classes, or several regressions); a joint loss takes the K scores together.

    b is a block of its own, added to the scores of each output. Free (R_b = 0), it adds the constraint v = 0
    to the dual; penalised, R_b is R (under groups the intercepts are one more of them), or what
    ``intercept_penalty`` says.

    A joint map phi(x, y) has one weight per feature, shared by the K labels of a joint loss::

        z_ik = w . phi(x_i, k) + b_k,      V = sum_ik g_ik phi(x_i, k)

    and all else stands as above. A penalised intercept is one of its features, not an intercept.

    Attributes
    ----------
    X : LinearMap
        A: X W is x_i . W for each row, or w . phi(x_i, k) for each row and label.
    losses : LossSum
        F.
    penalty : Penalty
        R.
    intercept : Intercept
    intercept_penalty : Penalty or None
        R_b of a penalised intercept where it is not R.
    """

    X: LinearMap
    losses: LossSum
    penalty: Penalty
    intercept: Intercept
    intercept_penalty: Penalty | None = None

    @classmethod
    def of_rows(
        cls,
        X: LinearMap,
        y: Targets,
        s: FloatArray,
        loss: Loss,
        penalty: Penalty,
        intercept: Intercept,
        n_outputs: int,
        intercept_penalty: Penalty | None = None,
    ) -> Problem:
        """The problem of a loss a row: (n, K) targets for a loss of one score, (n,) codes for a joint one."""
        return cls(X, RowLosses(loss, y, s, n_outputs), penalty, intercept, intercept_penalty)

    def in_core(self) -> Problem:
        """The same with its losses evaluated in the core, where rows and losses are there."""
        threads = self.X.n_threads
        if threads is None:
            return self
        losses = self.losses.in_core(threads)
        return Problem(self.X, losses, self.penalty, self.intercept, self.intercept_penalty)

    # ---- weights ----------------------------------------------------------------------------

    @cached_property
    def n_outputs(self) -> int:
        """K."""
        return self.losses.shape[1]

    @cached_property
    def weight_shape(self) -> tuple[int, int]:
        """The shape of W: (d, K), or (d, 1) with a joint map."""
        return self.X.n_columns, self.n_outputs // self.X.n_scores

    @property
    def has_shared_weights(self) -> bool:
        """Whether one column of W gives a row several scores, which then meet in the Hessian."""
        return self.X.n_scores > 1

    @property
    def is_by_output(self) -> bool:
        """Whether outputs meet nowhere: they are as many problems."""
        return self.losses.is_by_output and not self.has_shared_weights

    @property
    def n_parameters(self) -> int:
        """How many numbers W and b hold."""
        d, width = self.weight_shape
        return d * width + (self.n_outputs if self.intercept is not Intercept.NONE else 0)

    @cached_property
    def constants_penalty(self) -> Penalty:
        """R_b."""
        if self.intercept is not Intercept.PENALIZED:
            return _FREE
        own = self.intercept_penalty
        return self.penalty.for_constants(self.n_outputs) if own is None else own

    # ---- primal -----------------------------------------------------------------------------

    def scores(self, W: FloatArray, b: FloatArray) -> FloatArray:
        """Z = X W + b, (n, K)."""
        return self.X.dot(W) + b

    def primal(self, W: FloatArray, b: FloatArray, Z: FloatArray | None = None) -> float:
        """P(W, b)."""
        Z = self.scores(W, b) if Z is None else Z
        return self.losses.value(Z) + self.penalty_value(W, b)

    def penalty_value(self, W: FloatArray, b: FloatArray) -> float:
        """R(W) + R_b(b)."""
        if self.penalty.is_ridge:
            value = self.penalty.l2 / 2 * self.X.sum_of_squares(W)
        else:
            value = self.penalty.total(W)
        return value + self.constants_penalty.value(b) if self.intercept is Intercept.PENALIZED else value

    @cached_property
    def faint_directions(self) -> FloatArray:
        """Combinations of columns, a free intercept's constant behind them, that nearly vanish in every row.

        Each column counts in units of its size; a direction is a column. None are sought among many columns,
        or where rows have several scores of shared weights.
        """
        with_constant = self.intercept is Intercept.FREE
        n = self.X.n_columns + with_constant
        if n > _MANY_COLUMNS or self.has_shared_weights:
            return np.zeros((n, 0))
        G = self.X.gram(self.losses.weighted(np.ones((self.X.n_rows, 1)))[:, 0], with_constant)
        size = np.sqrt(np.diag(G))
        inverse = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)
        cosines = G * inverse * inverse[:, None]
        try:
            # As a rule there are none, which a factor tells in a fraction of the time that eigenvectors take.
            np.linalg.cholesky(cosines - _FAINT * np.eye(n))
            return np.zeros((n, 0))
        except np.linalg.LinAlgError:
            values, vectors = np.linalg.eigh(cosines)
            return vectors[:, values < _FAINT]

    @cached_property
    def has_faint_scores(self) -> bool:
        """Whether a faint direction vanishes, but not to rounding, as levels beside a constant do."""
        directions, d = self.faint_directions, self.X.n_columns
        if not directions.size:
            return False
        rows = self.losses.weighted(np.ones((self.X.n_rows, 1)))
        squares = np.vstack([self.X.squared_adjoint(rows), np.full((1, 1), rows.sum())])
        sizes = np.sqrt(squares[: len(directions)])
        weights = np.divide(directions, sizes, out=np.zeros_like(directions), where=sizes > 0)
        Z = self.X.dot(np.ascontiguousarray(weights[:d])) + weights[d:].sum(axis=0)
        return bool(((rows * Z**2).sum(axis=0) > _NOTHING).any())

    # ---- dual -------------------------------------------------------------------------------

    def pull(self, U: Any) -> FloatArray:
        """V = X'G."""
        return self.X.adjoint(self.losses.pull(U))

    def pulled(self, U: Any, W: FloatArray, b: FloatArray) -> tuple[float, float]:
        """R*(-V) + R_b*(-v) of a ridge, and the largest term of the gap among the weights.

        A term is (strength / 2) (w + v / strength)^2; V itself is never held.
        """
        strength, G = self.penalty.l2, self.losses.pull(U)
        square, largest = self.X.adjoint_summary(G, W, strength)
        # A product overflows to infinity where a power of a float raises.
        conjugate, worst = square / (2 * strength), largest * largest / (2 * strength)
        if self.intercept is Intercept.PENALIZED:
            v = G.sum(axis=0)
            conjugate += self.constants_penalty.conjugate(-v)
            worst = max(worst, float(self.constants_penalty.residuals(b, v).max(initial=0.0)))
        return conjugate, worst

    # ---- gap --------------------------------------------------------------------------------

    def yardstick(self, primal: float) -> float:
        """max(|P|, 1e-12 P_0): what gaps are compared with.

        P_0 is P at weights 0 and the best constants where those are free, so that nothing changes when y or
        a column is shifted; it is asked for only where |P| is that small. What rounding of those constants
        costs is the least there is to compare with.
        """
        if not self.is_next_to_nothing(primal):
            return max(abs(primal), self.losses.floor)
        best = self.best_constants
        return max(yardstick(primal, best.primal), best.rounding, self.losses.floor)

    def is_next_to_nothing(self, primal: float) -> bool:
        """Whether P is so far below that of weights and constants 0 that rounding may be all it is."""
        return not abs(primal) >= FLOOR * self.losses.at_zero or self.losses.at_zero == 0.0

    @cached_property
    def best_constants(self) -> Constants:
        """The constants that suit weights 0 best; 0 where there is no free intercept."""
        losses, nothing = self.losses, np.zeros(self.n_outputs)
        if self.intercept is not Intercept.FREE or not losses.refits_constants:
            return Constants(nothing, losses.at_zero, 0.0)
        b = losses.refit(np.zeros(losses.shape)).shift
        value, moved = (
            losses.value(np.ascontiguousarray(np.broadcast_to(b * factor, losses.shape)))
            for factor in (1.0, 1.0 + _ROUNDINGS * np.finfo(np.float64).eps)
        )
        is_better = value < losses.at_zero
        return Constants(b if is_better else nothing, min(value, losses.at_zero), max(moved - value, 0.0))

    def is_rounding(self, primal: float, dual: float, W: FloatArray, b: FloatArray) -> bool:
        """Whether P is next to nothing, and its distance from D no more than rounding of the scores.

        So it is where weights explain targets exactly, or part classes, and a loss has a corner there.
        """
        if not (self.is_next_to_nothing(primal) and np.isfinite(primal - dual)):
            return False
        return primal - dual <= self._rounding_of(W, b)

    def _rounding_of(self, W: FloatArray, b: FloatArray) -> float:
        """What losses cost more where all scores are off by a few roundings of what they are summed from.

        Terms x_ij w_j count with their mean squares over the rows.
        """
        Z, ones = self.scores(W, b), np.ones((self.X.n_rows, 1))
        weights = self.losses.weighted(ones)
        squares = self.X.squared_adjoint(weights) / max(float(weights.sum()), np.finfo(np.float64).tiny)
        size = np.sqrt(squares)[:, 0] @ np.abs(W).reshape(len(squares), -1) + np.abs(b)
        off = np.broadcast_to(_ROUNDINGS * np.finfo(np.float64).eps * size, Z.shape)
        values = (self.losses.value(np.ascontiguousarray(Z + sign * off)) for sign in (1.0, -1.0))
        return max(*values) - self.losses.value(Z)

    def relative_gap(self, primal: float, dual: float) -> float:
        """(P - D) / max(|P|, 1e-12 P_0), what ``tol`` is compared with."""
        return relative_gap(primal - dual, self.yardstick(primal))
