"""The objective, stated once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

import numpy as np

from lineal.objective.losses import FloatArray, Loss, Targets
from lineal.objective.penalties import L2, Penalty
from lineal.objective.rows import NativeRows, Rows

# Penalty sums walk over weights in pieces that stay in cache.
_PIECE = 1 << 15
# |P| alone is no yardstick when the optimum is 0 (interpolation, separable hinge).
_FLOOR = 1e-12
# How far D may be above P, relative to P, when both are sums of many numbers.
_ABOVE = 1e-9
# Combinations of unit columns whose square is below this share of theirs are faint; among more columns than
# so many their search would take seconds.
_FAINT, _MANY_COLUMNS = 1e-7, 600


class Intercept(Enum):
    """What the constant term is: absent, free of penalty, or penalised like a weight."""

    NONE = "none"
    FREE = "free"
    PENALIZED = "penalized"


@dataclass(frozen=True)
class Problem:
    r"""A regularised sum of losses, its dual, and the gap between them.

    For scores ``z_i = W'x_i + b`` (K of them), weights of rows ``s_i`` and a penalty R with its strength
    inside::

        P(W, b) =  sum_i s_i loss(y_i, z_i) + R(W)
        D(U)    = -sum_i s_i loss*(y_i, u_i) - R*(-V),      V = sum_i s_i x_i u_i'
        P - D  >=  0  for every W, b and every feasible U, and = 0 at the optimum.

    A free intercept adds the constraint ``sum_i s_i u_i = 0`` to the dual; a penalised one is a constant
    column of X. A loss of one score is applied to each of the K targets of a row (one-vs-rest classes,
    or several regressions); a joint loss takes the K scores together.

    A joint map phi(x, y) has one weight per feature, shared by the K labels of a joint loss::

        z_ik = w . phi(x_i, k) + b_k,      V = sum_ik s_i u_ik phi(x_i, k)

    and all else stands as above. A penalised intercept is one of its features, not an intercept.

    Attributes
    ----------
    X : Rows
        (n, d): X W is x_i . W for each row, or w . phi(x_i, k) for each row and label.
    y : array
        (n, K) targets for a loss of one score, (n,) class codes for a joint loss.
    s : array
        (n,) weights of the rows, >= 0.
    n_outputs : int
        K.
    """

    X: Rows
    y: Targets
    s: FloatArray
    loss: Loss
    penalty: Penalty
    intercept: Intercept
    n_outputs: int

    # ---- weights ----------------------------------------------------------------------------

    @property
    def weight_shape(self) -> tuple[int, int]:
        """The shape of W: (d, K), or (d, 1) with a joint map."""
        return self.X.n_columns, self.n_outputs // self.X.n_scores

    @property
    def has_shared_weights(self) -> bool:
        """Whether one column of W gives a row several scores, which then meet in the Hessian."""
        return self.X.n_scores > 1

    @property
    def n_parameters(self) -> int:
        """How many numbers W and b hold."""
        d, width = self.weight_shape
        return d * width + (self.n_outputs if self.intercept is not Intercept.NONE else 0)

    # ---- primal -----------------------------------------------------------------------------

    def scores(self, W: FloatArray, b: FloatArray) -> FloatArray:
        """Z = X W + b, (n, K)."""
        return self.X.dot(W) + b

    def loss_sum(self, Z: FloatArray) -> float:
        """sum_i s_i loss(y_i, z_i)."""
        values = self.loss.value(self.y, Z)
        return float(np.dot(self.s, values if self.loss.is_joint else values.sum(axis=1)))

    def slopes(self, Z: FloatArray) -> FloatArray:
        """U with u_i a subgradient of the loss at z_i."""
        return self.loss.derivative(self.y, Z)

    def curvatures(self, Z: FloatArray) -> FloatArray:
        """The second derivatives of the losses, score by score, (n, K)."""
        return self.loss.curvature_diagonal(self.y, Z)

    def model_curvatures(self, Z: FloatArray) -> FloatArray:
        """The same with a floor where rounded kinks leave almost all of them flat."""
        return self.floored_curvatures(Z) if self.loss.is_rounded else self.curvatures(Z)

    def floored_curvatures(self, Z: FloatArray) -> FloatArray:
        """The same with a floor: a quadratic model of flat losses alone would know no bound."""
        H = self.curvatures(Z)
        floor = 1e-3 * float(H.mean())
        return np.maximum(H, floor if floor > 0 else self.curvature or 1.0)

    @cached_property
    def curvature(self) -> float | None:
        """The Lipschitz constant of the slopes; None with kinks.

        A smooth loss need not state one. Then it is the largest second derivative at scores 0: a guess that
        sets the first step of solvers which cut the steps that fail.
        """
        if self.loss.curvature is not None or not self.loss.is_smooth:
            return self.loss.curvature
        largest = float(self.curvatures(np.zeros((self.X.n_rows, self.n_outputs))).max(initial=0.0))
        return largest if 0 < largest < np.inf else 1.0

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
        G = self.X.gram(self.s, with_constant)
        size = np.sqrt(np.diag(G))
        inverse = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)
        values, vectors = np.linalg.eigh(G * inverse * inverse[:, None])
        return vectors[:, values < _FAINT]

    def along(self, Z: FloatArray, M: FloatArray, t: float) -> tuple[float, float, float]:
        """sum_i s_i loss(y_i, z_i + t m_i) with its first two derivatives in t."""
        moved = Z + t * M
        bent = self.loss.curvature_product(self.y, moved, M)
        return (
            self.loss_sum(moved),
            float(np.vdot(self.weighted(self.slopes(moved)), M)),
            float(np.vdot(self.weighted(bent), M)),
        )

    def penalised(self, W: FloatArray, b: FloatArray) -> FloatArray:
        """The weights that the penalty sees."""
        return np.vstack([W, b]) if self.intercept is Intercept.PENALIZED else W

    def primal(self, W: FloatArray, b: FloatArray, Z: FloatArray | None = None) -> float:
        """P(W, b)."""
        Z = self.scores(W, b) if Z is None else Z
        return self.loss_sum(Z) + self.penalty_value(W, b)

    def penalty_value(self, W: FloatArray, b: FloatArray) -> float:
        """R(W), with b where that is penalised."""
        if type(self.penalty) is L2 and isinstance(self.X, NativeRows):
            square = self.X.sum_of_squares(W)
            if self.intercept is Intercept.PENALIZED:
                square += float(b @ b)
            return self.penalty.strength / 2 * square
        return sum(self.penalty.value(piece) for piece in pieces(self.penalised(W, b)))

    @cached_property
    def primal_at_zero(self) -> float:
        """P(0, 0)."""
        return self.loss_sum(np.zeros((self.X.n_rows, self.n_outputs)))

    # ---- dual -------------------------------------------------------------------------------

    @cached_property
    def domain(self) -> tuple[FloatArray, FloatArray]:
        """The intervals that the dual variables of a loss of one score live in."""
        return self.loss.domain(self.y)

    def weighted(self, U: FloatArray) -> FloatArray:
        """S U."""
        return self.s[:, None] * U

    def pull(self, U: FloatArray) -> FloatArray:
        """V = X'S U, with the row of the intercept below it when that is penalised."""
        SU = self.weighted(U)
        V = self.X.adjoint(SU)
        return np.vstack([V, SU.sum(axis=0)]) if self.intercept is Intercept.PENALIZED else V

    def pulled(self, U: FloatArray, W: FloatArray, b: FloatArray) -> tuple[float, float]:
        """The penalty's conjugate at -V under L2, and the largest term of the gap among the weights.

        A term is (strength / 2) (w + v / strength)^2; V itself is never held.
        """
        assert isinstance(self.penalty, L2)
        strength, SU = self.penalty.strength, self.weighted(U)
        square, largest = self.X.adjoint_summary(SU, W, strength)
        if self.intercept is Intercept.PENALIZED:
            v = SU.sum(axis=0)
            square, largest = square + float(v @ v), max(largest, float(np.abs(v + strength * b).max()))
        # A product overflows to infinity where a power of a float raises.
        return square / (2 * strength), largest * largest / (2 * strength)

    def conjugate_sum(self, U: FloatArray) -> float:
        """sum_i s_i loss*(y_i, u_i); rows of weight 0 count nothing, whatever their u."""
        values = self.loss.conjugate(self.y, U)
        values = values if self.loss.is_joint else values.sum(axis=1)
        return float(np.dot(self.s[self.s > 0], values[self.s > 0]))

    def worst_row(self, Z: FloatArray, U: FloatArray) -> float:
        """The largest s_i (loss(y_i, z_i) + loss*(y_i, u_i) - z_i u_i), >= 0: one row's part of the gap."""
        products = (Z * U).sum(axis=1) if self.loss.is_joint else Z * U
        terms = self.loss.value(self.y, Z) + self.loss.conjugate(self.y, U) - products
        s = self.s if self.loss.is_joint else self.s[:, None]
        return float((s * np.where(s > 0, terms, 0.0)).max(initial=0.0))

    # ---- gap --------------------------------------------------------------------------------

    def relative_gap(self, primal: float, dual: float) -> float:
        """(P - D) / max(|P|, 1e-12 P(0)), what ``tol`` is compared with.

        Infinite where D is above P by more than rounding: something went wrong, and it proves nothing.
        """
        scale = max(abs(primal), _FLOOR * self.primal_at_zero)
        if scale == 0.0:
            return 0.0 if primal <= dual else np.inf
        relative = (primal - dual) / scale
        return relative if relative > -_ABOVE else np.inf

    def with_loss(self, loss: Loss) -> Problem:
        """The same data and penalty under another loss."""
        return replace(self, loss=loss)

    @property
    def total_weight(self) -> float:
        """sum_i s_i."""
        return float(self.s.sum())


def pieces(array: FloatArray) -> Iterator[FloatArray]:
    """An array's entries in float64, in flat pieces that fit a cache."""
    array = np.atleast_2d(array)
    n_rows = max(1, _PIECE // max(1, array.shape[1]))
    for first in range(0, max(1, len(array)), n_rows):
        yield np.ravel(array[first : first + n_rows]).astype(np.float64, copy=False)
