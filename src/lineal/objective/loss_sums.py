"""The sum of losses F, as a function of the scores, and its conjugate.

``LossSum`` says what the objective, the driver and the solvers ask of it, at the grain of one pass over the
scores a call. One of your own states ``shape``, ``value``, ``slopes`` and ``conjugate``, and
``curvature_product`` for solvers of second order; the rest has defaults.

A dual point U is F's own business: F makes it (``slopes``), brings it into its domain, shrinks it, values it
(``conjugate``) and turns it into the gradient in the scores that it stands for (``pull``). For a loss a row U
is an array like Z, in units of one row of weight 1, and rows of weight 0 count nothing, whatever their u. For
others it may be anything (``objective/pair_losses.py``: scores and the width of a bend).

``RowLosses`` is the sum of a loss over rows in NumPy alone, which is what ``verify`` relies on;
``NativeRowLosses`` and ``NativeJointLosses`` are the same in the core, threaded. The roads agree to rounding,
formula by formula.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.objective.intercept_refit import Refit, refit_constants, refit_rows
from lineal.objective.joint import one_hot
from lineal.objective.linear_maps import far_from_zero, may_be_far
from lineal.objective.losses import FloatArray, Loss, QuadraticConjugate, Targets

if TYPE_CHECKING:
    from lineal.objective.pair_losses import PairLosses

_POWER_STEPS = 20
# Sums of a row's dual variables that are 0 up to so much of their size are 0.
_ROUNDING = 1e-15
# Scores that the second cache holds.
_CACHED = 1 << 15


class LossSum(ABC):
    """F(Z) for scores Z of shape (n, K), convex.

    Attributes
    ----------
    is_smooth : bool
        Whether the slopes are continuous in the scores.
    is_rounded : bool
        Whether F is one with kinks that was made smooth: curved only in narrow bends.
    can_be_smoothed : bool
        Whether ``smoothed`` gives a smooth sum below one with kinks.
    is_quadratic, is_likelihood, is_hinge, has_minimum : bool
        What its losses are (see :class:`~lineal.objective.losses.Loss`).
    is_by_score : bool
        Whether every score has a loss of its own, so that second derivatives between scores are 0.
    is_by_row : bool
        Whether second derivatives between scores of different rows are 0. Where they are not, the Hessian is
        known by its products alone.
    is_by_output : bool
        Whether F is a sum over outputs, the columns of Z, that may be looked at one after another.
    has_array_duals : bool
        Whether dual points are arrays like Z that may be added and scaled.
    has_dual_step : bool
        Whether the core maximises the dual over single rows.
    refits_constants : bool
        Whether the constants that suit given scores can be found: they make the slopes sum to 0.
    has_common_shift : bool
        Whether F stays as it is when all scores of a row move by the same.
    has_quadratic_conjugate : bool
        Whether every score's conjugate is quadratic on an interval.
    rows : RowLosses or None
        The losses of single rows, for solvers that walk over rows; None where F has none.
    floor : float
        No gap is compared with less: of losses whose optimum may be 0 without being perfect.
    """

    is_smooth: bool = True
    is_rounded: bool = False
    can_be_smoothed: bool = False
    is_quadratic: bool = False
    is_likelihood: bool = False
    is_hinge: bool = False
    has_minimum: bool = True
    is_by_score: bool = False
    is_by_row: bool = False
    is_by_output: bool = False
    has_array_duals: bool = True
    has_dual_step: bool = False
    refits_constants: bool = True
    has_common_shift: bool = False
    floor: float = 0.0
    has_quadratic_conjugate: bool = False

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """(n, K) of the scores."""

    @abstractmethod
    def value(self, Z: FloatArray) -> float:
        """F(Z)."""

    @abstractmethod
    def slopes(self, Z: FloatArray) -> Any:
        """The dual point whose ``pull`` is a subgradient of F at Z."""

    @abstractmethod
    def conjugate(self, U: Any) -> float:
        """F*(pull(U)), or an upper bound of it; +inf outside the domain."""

    def curvature_product(self, Z: FloatArray, M: FloatArray) -> FloatArray:
        """How the slopes change when the scores move by M: the Hessian in the scores, times M."""
        raise NotImplementedError(f"{type(self).__name__} states no second derivatives")

    # ---- what can be made of these ------------------------------------------------------------

    def bending(self, Z: FloatArray, U: Any = None) -> Callable[[FloatArray], FloatArray]:
        """``curvature_product`` at scores Z, with slopes U if known: what moves share is computed once."""
        return lambda M: self.curvature_product(Z, M)

    def curvatures_at(self, Z: FloatArray, U: Any) -> FloatArray:
        """``curvatures`` where the slopes are known, too."""
        return self.curvatures(Z)

    def line_lengths(
        self,
        Z: FloatArray,
        M: FloatArray,
        start: FloatArray,
        incline: FloatArray,
        quadratic: FloatArray,
        shortest: float,
    ) -> FloatArray | None:
        """(2, n): how far to go along M, and the values there, where the core knows (``newton_line``)."""
        return None

    @property
    def rows(self) -> RowLosses | None:
        return None

    @property
    def ranking(self) -> PairLosses | None:
        """The losses of the pairs of a ranking, where F is one."""
        return None

    @property
    def total_weight(self) -> float:
        """How many losses are summed, by their weights."""
        return float(self.shape[0])

    @property
    def names(self) -> str:
        """What the losses are called, for people."""
        return type(self).__name__

    def pull(self, U: Any) -> FloatArray:
        """G, (n, K): the gradient in the scores that a dual point stands for."""
        return np.asarray(U)

    def sums(self, U: Any) -> FloatArray:
        """(K,) what a dual point pulls at constants: ``pull`` summed over rows."""
        return self.pull(U).sum(axis=0)

    def weighted(self, H: FloatArray) -> FloatArray:
        """From changes of a dual point to changes of ``pull``."""
        return H

    def curvatures(self, Z: FloatArray) -> FloatArray:
        """The second derivatives, score by score, (n, K): the diagonal of the Hessian, or a bound of it.

        Rows that do not meet show it in one product for each output; else it is bounded by the largest.
        """
        if not self.is_by_row:
            return np.full(Z.shape, self.curvature or 1.0)
        out = np.empty(Z.shape)
        for k in range(Z.shape[1]):
            towards = np.zeros(Z.shape)
            towards[:, k] = 1.0
            out[:, k] = self.curvature_product(Z, towards)[:, k]
        return out

    @cached_property
    def curvature(self) -> float | None:
        """The Lipschitz constant of the slopes, or a guess: the largest second derivative at scores 0."""
        if not self.is_smooth:
            return None
        Z = np.zeros(self.shape)
        largest = float(self.curvatures(Z).max(initial=0.0)) if self.is_by_row else self._largest_curvature(Z)
        return largest if 0 < largest < np.inf else 1.0

    def _largest_curvature(self, Z: FloatArray) -> float:
        """The largest eigenvalue of the Hessian in the scores, by the power method."""
        M, largest = np.random.default_rng(0).standard_normal(Z.shape), 0.0
        for _ in range(_POWER_STEPS):
            size = float(np.linalg.norm(M))
            if not 0 < size < np.inf:
                break
            M = self.curvature_product(Z, M / size)
            largest = float(np.linalg.norm(M))
        return largest

    def along(self, Z: FloatArray, M: FloatArray, t: float) -> tuple[float, float, float]:
        """F(Z + t M) with its first two derivatives in t."""
        moved = Z + t * M
        return (
            self.value(moved),
            float(np.vdot(self.pull(self.slopes(moved)), M)),
            float(np.vdot(self.weighted(self.curvature_product(moved, M)), M)),
        )

    @cached_property
    def at_zero(self) -> float:
        """F(0)."""
        return self.value(np.zeros(self.shape))

    # ---- dual points --------------------------------------------------------------------------

    def anchor(self) -> Any:
        """A dual point that is feasible always: 0 is, of a sum that is bounded below."""
        return np.zeros(self.shape)

    def into_domain(self, U: Any) -> Any:
        """A point near U on which the conjugate is finite."""
        return U

    def factor_into_domain(self, U: Any) -> float:
        """The largest factor in [0, 1] by which ``shrink`` brings U into the domain."""
        return 1.0

    def room(self, U: FloatArray) -> FloatArray:
        """How far each entry of an array of dual variables may move inside the domain, up to a unit."""
        return np.ones(self.shape)

    def shrink(self, U: Any, factor: float) -> Any:
        """The point whose ``pull`` is that of U times a factor in [0, 1]."""
        return U * factor

    def balance(self, U: Any) -> Any:
        """A point near U, in the domain if U is, whose ``pull`` sums to 0 over the rows of each output."""
        return U

    def balance_left(self, U: Any) -> tuple[FloatArray, FloatArray]:
        """What ``pull`` sums to over the rows of each output, and what the sizes of its entries sum to."""
        G = self.pull(U)
        return G.sum(axis=0), np.abs(G).sum(axis=0)

    def refit(self, Z: FloatArray) -> Refit:
        """The constants to be added to the scores of each output that minimise F, and the slopes there."""
        if not self.refits_constants:
            return Refit(np.zeros(self.shape[1]), self.slopes(Z))
        return refit_constants(self, Z)

    def constants_hessian(self, Z: FloatArray, U: Any) -> FloatArray:
        """The Hessian in constants that are added to the outputs, (K, K), at scores Z with slopes U."""
        towards = np.eye(self.shape[1])
        columns = [self.weighted(self.curvature_product(Z, np.broadcast_to(e, Z.shape))) for e in towards]
        return np.stack([column.sum(axis=0) for column in columns], axis=1)

    def worst(self, Z: FloatArray, U: Any) -> float:
        """The largest term of F(Z) + F*(pull(U)) - Z.pull(U), each of which is >= 0; here the sum of all."""
        return max(self.value(Z) + self.conjugate(U) - float(np.vdot(self.pull(U), Z)), 0.0)

    def half_square(self, U: Any) -> float:
        """sum over losses of weight |u|^2 / 2: what rounding the kinks over a width of 1 costs at most."""
        return 0.5 * float(np.vdot(U, self.weighted(U)))

    def smoothed(self, width: float) -> LossSum:
        """The Moreau envelope: smooth, below F by at most the width times ``half_square``.

        Its dual points are feasible for F itself, so what is proved by them is proved of F.
        """
        return self

    def near_zero(self) -> tuple[LossSum, FloatArray] | None:
        """F of scores moved near 0, and by how much, (K,); None where targets do not lie far from it."""
        return None

    def in_core(self, n_threads: int) -> LossSum:
        """The same, evaluated in the core, where it can be."""
        return self

    def check(self) -> None:
        """Raises ParameterError where the losses are not what they say they are."""
        return None

    def dual_candidates(self, Z: FloatArray) -> Iterator[tuple[str, Any]]:
        """Dual points that scores suggest beside their slopes, each with a name; for ``verify``."""
        return iter(())

    def floored_curvatures(self, Z: FloatArray) -> FloatArray:
        """``curvatures`` with a floor: a quadratic model of flat losses alone would know no bound."""
        H = self.curvatures(Z)
        floor = 1e-3 * float(H.mean())
        return np.maximum(H, floor if floor > 0 else self.curvature or 1.0)

    def model_curvatures(self, Z: FloatArray) -> FloatArray:
        """The same where rounded kinks leave almost all of them flat."""
        return self.floored_curvatures(Z) if self.is_rounded else self.curvatures(Z)


@dataclass(frozen=True)
class RowLosses(LossSum):
    """sum_i s_i loss(y_i, z_i), in NumPy.

    Attributes
    ----------
    loss : Loss
        Of one score, and then applied to each of the K targets of a row; or joint, of all K.
    y : array
        (n, K) targets for a loss of one score, (n,) class codes for a joint loss.
    s : array
        (n,) weights of the rows, >= 0.
    n_outputs : int
        K.
    """

    loss: Loss
    y: Targets
    s: FloatArray
    n_outputs: int

    is_by_row = True
    can_be_smoothed = True

    def __post_init__(self) -> None:
        # What the loss declares, once: solvers ask again and again.
        loss = self.loss
        declared = {
            "is_smooth": loss.is_smooth,
            "is_rounded": loss.is_rounded,
            "is_quadratic": loss.is_quadratic,
            "is_likelihood": loss.is_likelihood,
            "is_hinge": loss.is_hinge,
            "has_minimum": loss.has_minimum,
            "is_by_score": not loss.is_joint,
            "is_by_output": not loss.is_joint,
            "has_dual_step": loss.has_dual_step,
            "refits_constants": loss.refits_constants,
            "has_common_shift": loss.is_joint,
            "has_quadratic_conjugate": loss.has_quadratic_conjugate,
        }
        self.__dict__.update(declared)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.s), self.n_outputs

    @property
    def rows(self) -> RowLosses:
        return self

    @property
    def names(self) -> str:
        return str(self.loss)

    @cached_property
    def total_weight(self) -> float:
        """sum_i s_i."""
        return float(self.s.sum())

    # ---- values -------------------------------------------------------------------------------

    def value(self, Z: FloatArray) -> float:
        values = self.loss.value(self.y, Z)
        return float(np.dot(self.s, values if self.loss.is_joint else values.sum(axis=1)))

    def slopes(self, Z: FloatArray) -> FloatArray:
        return self.loss.derivative(self.y, Z)

    def curvatures(self, Z: FloatArray) -> FloatArray:
        return self.loss.curvature_diagonal(self.y, Z)

    def curvature_product(self, Z: FloatArray, M: FloatArray) -> FloatArray:
        return self.loss.curvature_product(self.y, Z, M)

    def floored_curvatures(self, Z: FloatArray) -> FloatArray:
        return self.curvatures(Z) if self.is_quadratic else super().floored_curvatures(Z)

    @cached_property
    def curvature(self) -> float | None:
        """The Lipschitz constant of the slopes; None with kinks.

        A smooth loss need not state one. Then it is the largest second derivative at scores 0: a guess that
        sets the first step of solvers which cut the steps that fail.
        """
        return self.loss.curvature if self.loss.curvature is not None else super().curvature

    def along_by_output(self, Z: FloatArray, M: FloatArray, t: FloatArray) -> FloatArray:
        """(3, K): ``along`` for each output of a loss of one score by itself, at an entry of t for each."""
        moved = Z + t * M
        slopes, bends = self.slopes(moved), self.curvatures(moved)
        terms = (self.loss.value(self.y, moved), slopes * M, bends * M * M)
        return np.stack([self.s @ each for each in terms])

    # ---- duals --------------------------------------------------------------------------------

    @cached_property
    def domain(self) -> tuple[FloatArray, FloatArray]:
        """The intervals that dual variables live in; of a joint loss the box around its simplices."""
        if not self.loss.is_joint:
            return self.loss.domain(self.y)
        gold = one_hot(self.y, self.n_outputs)
        return -gold, 1.0 - gold

    @cached_property
    def _is_unweighted(self) -> bool:
        return bool((self.s == 1.0).all())

    def weighted(self, H: FloatArray) -> FloatArray:
        """S H, not to be written to: H itself where all weights are 1."""
        return H if self._is_unweighted else self.s[:, None] * H

    def pull(self, U: FloatArray) -> FloatArray:
        """S U, not to be written to."""
        return U if self._is_unweighted else self.s[:, None] * U

    def sums(self, U: FloatArray) -> FloatArray:
        """s'U."""
        return self.s @ U

    def conjugate(self, U: FloatArray) -> float:
        """sum_i s_i loss*(y_i, u_i); rows of weight 0 count nothing, whatever their u."""
        values = self.loss.conjugate(self.y, U)
        values = values if self.loss.is_joint else values.sum(axis=1)
        return float(np.dot(self.s[self.s > 0], values[self.s > 0]))

    def worst(self, Z: FloatArray, U: FloatArray) -> float:
        """The largest s_i (loss(y_i, z_i) + loss*(y_i, u_i) - z_i u_i), >= 0: one row's part of the gap."""
        products = (Z * U).sum(axis=1) if self.loss.is_joint else Z * U
        terms = self.loss.value(self.y, Z) + self.loss.conjugate(self.y, U) - products
        s = self.s if self.loss.is_joint else self.s[:, None]
        return float((s * np.where(s > 0, terms, 0.0)).max(initial=0.0))

    def half_square(self, U: FloatArray) -> float:
        return 0.5 * float(self.s @ (U**2).sum(axis=1))

    def into_domain(self, U: FloatArray) -> FloatArray:
        """The nearest U (one score) or a near one (joint) on which the conjugate is finite."""
        if self.loss.has_whole_domain:
            return np.array(U, dtype=np.float64)
        if not self.loss.is_joint:
            return U.clip(*self.domain)
        gold = one_hot(self.y, self.n_outputs)
        p = np.maximum(U + gold, 0.0)
        total = p.sum(axis=1, keepdims=True)
        # Nothing is left of a row that was below the simplex in every class: 0 is feasible.
        inside = np.divide(p, total, out=gold.copy(), where=total > 0) - gold
        # A row that is there already stays: 1 - p of a tiny p has lost most of its digits.
        is_there = np.all(-gold <= U, axis=1) & (np.abs(U.sum(axis=1)) <= _ROUNDING * np.abs(U).sum(axis=1))
        return np.where(is_there[:, None], U, inside)

    def quadratic_conjugate(self, used: NDArray[np.intp]) -> QuadraticConjugate:
        """That of some rows, output after output."""
        if not self.loss.is_joint:
            return self.loss.quadratic_conjugate(self.y[used].astype(np.float64).ravel(order="F"))
        form = self.loss.quadratic_conjugate(one_hot(self.y[used], self.n_outputs))
        low, high, place = (np.ravel(part, order="F") for part in (form.low, form.high, form.place))
        return QuadraticConjugate(low, high, place, form.tube, form.bend)

    def is_inside(self, U: FloatArray) -> bool:
        """Whether U is in the domain as it is."""
        if self.loss.has_whole_domain:
            return not np.isnan(U).any()
        low, high = self.domain
        return bool(((low <= U) & (high >= U)).all())

    def room(self, U: FloatArray) -> FloatArray:
        low, high = self.domain
        return np.minimum(U - low, high - U).clip(0.0, 1.0)

    def factor_into_domain(self, U: FloatArray) -> float:
        if self.is_inside(U):
            return 1.0
        low, high = self.domain
        used = self.s > 0
        below, above = (low > U) & used[:, None], (high < U) & used[:, None]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            factors = np.concatenate([(low / U)[below], (high / U)[above]])
        # One rounding less than the exact factor: the product must not step over the edge again.
        return 1.0 if factors.size == 0 else float(max(factors.min(), 0.0)) * (1 - 4e-16)

    def balance(self, U: FloatArray) -> FloatArray:
        """Brings sum_i s_i u_i to 0: every u_i moves towards 0 (one score) or inside the simplex (joint)."""
        s = self.s
        if not self.loss.is_joint:
            up, down = s @ np.maximum(U, 0.0), s @ np.maximum(-U, 0.0)
            lighter = np.minimum(up, down)
            with np.errstate(invalid="ignore", divide="ignore"):
                keep_up = np.where(up > 0, lighter / up, 1.0)
                keep_down = np.where(down > 0, lighter / down, 1.0)
            return np.where(U > 0, U * keep_up, U * keep_down)
        # Take the excess of each overfull class away in proportion, and hand it to the classes that lack.
        p, sums = U + one_hot(self.y, self.n_outputs), s @ U
        mass, excess, lack = s @ p, np.maximum(sums, 0.0), np.maximum(-sums, 0.0)
        # Sums that are 0 but for rounding would hand crumbs to classes that have nothing of a row.
        if lack.sum() == 0 or np.all(np.abs(sums) <= _ROUNDING * (s @ np.abs(U))):
            return U
        taken = np.divide(excess, mass, out=np.zeros_like(excess), where=mass > 0)
        freed = p @ taken
        return U - p * taken + freed[:, None] * (lack / lack.sum())

    def refit(self, Z: FloatArray) -> Refit:
        return refit_rows(self, Z)

    def constants_hessian(self, Z: FloatArray, U: FloatArray) -> FloatArray:
        found = self.loss.constants_hessian(self.y, U, self.s) if self.loss.is_joint else None
        return super().constants_hessian(Z, U) if found is None else found

    # ---- relatives ----------------------------------------------------------------------------

    def with_loss(self, loss: Loss) -> RowLosses:
        """The same targets and weights under another loss."""
        return RowLosses(loss, self.y, self.s, self.n_outputs)

    def smoothed(self, width: float) -> LossSum:
        return self.with_loss(self.loss.smoothed(width))

    def of_outputs(self, part: slice) -> RowLosses:
        """Some outputs of a loss of one score."""
        y = np.ascontiguousarray(self.y[:, part])
        return replace(self, y=y, n_outputs=y.shape[1])

    def near_zero(self) -> tuple[LossSum, FloatArray] | None:
        if not self.loss.is_of_difference or not may_be_far(np.ascontiguousarray(self.y)):
            return None
        by = far_from_zero(self.y)
        return None if by is None else (replace(self, y=np.ascontiguousarray(self.y - by)), by)

    def in_core(self, n_threads: int) -> LossSum:
        if self.loss.native is None:
            return self
        if self.loss.is_joint:
            code, s = (
                np.ascontiguousarray(self.y, dtype=np.int32),
                np.ascontiguousarray(self.s, dtype=np.float64),
            )
            return NativeJointLosses(self.loss, code, s, self.n_outputs, n_threads)
        y, s = (np.ascontiguousarray(each, dtype=np.float64) for each in (self.y, self.s))
        return NativeRowLosses(self.loss, y, s, self.n_outputs, n_threads)

    def check(self) -> None:
        self.loss.check(self.y)

    def are_separated(self, Z: FloatArray) -> NDArray[np.bool_]:
        """(K,) for losses of one score, or (1,): whether each row that has weight is on its side."""
        heavy = self.s > 0
        if self.is_by_score:
            return np.asarray(np.min(np.where(heavy[:, None], self.y * Z, np.inf), axis=0) > 0)
        rows = np.arange(len(self.y))
        rivals = Z.copy()
        rivals[rows, self.y] = -np.inf
        return np.array([bool(np.all((Z[rows, self.y] - rivals.max(axis=1))[heavy] > 0))])


@dataclass(frozen=True)
class NativeRowLosses(RowLosses):
    """The same with its sums taken in the core, threaded."""

    n_threads: int = 1

    def in_core(self, n_threads: int) -> LossSum:
        return self if n_threads == self.n_threads else super().in_core(n_threads)

    def value(self, Z: FloatArray) -> float:
        return _core.loss_sum(self._native, self.y, self.s, np.ascontiguousarray(Z), self.n_threads)

    def slopes(self, Z: FloatArray) -> FloatArray:
        U = np.empty(Z.shape)
        _core.slopes(self._native, self.y, np.ascontiguousarray(Z), U, self.n_threads)
        return U

    def curvatures(self, Z: FloatArray) -> FloatArray:
        H = np.empty(Z.shape)
        _core.curvatures(self._native, self.y, np.ascontiguousarray(Z), H, self.n_threads)
        return H

    def bending(self, Z: FloatArray, U: FloatArray | None = None) -> Callable[[FloatArray], FloatArray]:
        H = self.curvatures(Z)
        return lambda M: H * M

    def along(self, Z: FloatArray, M: FloatArray, t: float) -> tuple[float, float, float]:
        Z, M = np.ascontiguousarray(Z), np.ascontiguousarray(M)
        return _core.along(self._native, self.y, self.s, Z, M, t, self.n_threads)

    def along_by_output(self, Z: FloatArray, M: FloatArray, t: FloatArray) -> FloatArray:
        Z, M = np.ascontiguousarray(Z), np.ascontiguousarray(M)
        return _core.along_outputs(self._native, self.y, self.s, Z, M, t, self.n_threads)

    def line_lengths(
        self,
        Z: FloatArray,
        M: FloatArray,
        start: FloatArray,
        incline: FloatArray,
        quadratic: FloatArray,
        shortest: float,
    ) -> FloatArray | None:
        Z, M = np.ascontiguousarray(Z), np.ascontiguousarray(M)
        return _core.lengths(
            self._native, self.y, self.s, Z, M, start, incline, quadratic, shortest, self.n_threads
        )

    def conjugate(self, U: FloatArray) -> float:
        return _core.conjugate_sum(self._native, self.y, self.s, np.ascontiguousarray(U), self.n_threads)

    def worst(self, Z: FloatArray, U: FloatArray) -> float:
        Z, U = np.ascontiguousarray(Z), np.ascontiguousarray(U)
        return _core.worst_residual(self._native, self.y, self.s, Z, U, self.n_threads)

    def smoothed(self, width: float) -> LossSum:
        return super().smoothed(width).in_core(self.n_threads)

    def refit(self, Z: FloatArray) -> Refit:
        if not (self.refits_constants and self.is_smooth and self._is_in_few_pieces):
            return super().refit(Z)
        U = np.empty(Z.shape)
        return Refit(_core.refit(self._native, self.y, self.s, np.ascontiguousarray(Z), U, self.n_threads), U)

    def balance(self, U: FloatArray) -> FloatArray:
        if not self._is_in_few_pieces:
            return super().balance(U)
        balanced = np.empty(U.shape)
        _core.balance(np.ascontiguousarray(U), self.s, balanced, self.n_threads)
        return balanced

    def balance_left(self, U: FloatArray) -> tuple[FloatArray, FloatArray]:
        if not self._is_in_few_pieces:
            return super().balance_left(U)
        return _core.balance_left(np.ascontiguousarray(U), self.s, self.n_threads)

    @cached_property
    def _is_in_few_pieces(self) -> bool:
        """Whether outputs may be walked over one by one: there is one, or a cache holds all of them."""
        return self.n_outputs == 1 or len(self.s) * self.n_outputs <= _CACHED

    @cached_property
    def _native(self) -> Any:
        return self.loss.native


@dataclass(frozen=True)
class NativeJointLosses(RowLosses):
    """The same for a joint loss that the core knows (:class:`lineal._core.Softmax`)."""

    n_threads: int = 1

    def in_core(self, n_threads: int) -> LossSum:
        return self if n_threads == self.n_threads else super().in_core(n_threads)

    def value(self, Z: FloatArray) -> float:
        return float(self._native.value(self.y, self.s, np.ascontiguousarray(Z), self.n_threads))

    def slopes(self, Z: FloatArray) -> FloatArray:
        U = np.empty(Z.shape)
        self._native.slopes(self.y, np.ascontiguousarray(Z), U, self.n_threads)
        return U

    def curvatures(self, Z: FloatArray) -> FloatArray:
        return self.curvatures_at(Z, self.slopes(Z))

    def curvatures_at(self, Z: FloatArray, U: FloatArray) -> FloatArray:
        p = np.abs(U)  # of the true class 1 - p
        return p - p * p

    def bending(self, Z: FloatArray, U: FloatArray | None = None) -> Callable[[FloatArray], FloatArray]:
        U = self.slopes(Z) if U is None else U

        def product(M: FloatArray) -> FloatArray:
            out = np.empty(M.shape)
            self._native.curved(self.y, U, np.ascontiguousarray(M), out, self.n_threads)
            return out

        return product

    def curvature_product(self, Z: FloatArray, M: FloatArray) -> FloatArray:
        return self.bending(Z)(M)

    def along(self, Z: FloatArray, M: FloatArray, t: float) -> tuple[float, float, float]:
        Z, M = np.ascontiguousarray(Z), np.ascontiguousarray(M)
        found: tuple[float, float, float] = self._native.along(self.y, self.s, Z, M, t, self.n_threads)
        return found

    def line_lengths(
        self,
        Z: FloatArray,
        M: FloatArray,
        start: FloatArray,
        incline: FloatArray,
        quadratic: FloatArray,
        shortest: float,
    ) -> FloatArray | None:
        Z, M = np.ascontiguousarray(Z), np.ascontiguousarray(M)
        found: FloatArray = self._native.lengths(
            self.y, self.s, Z, M, start, incline, quadratic, shortest, self.n_threads
        )
        return found

    def into_domain(self, U: FloatArray) -> FloatArray:
        out = np.empty(U.shape)
        self._native.into_domain(self.y, np.ascontiguousarray(U), out, self.n_threads)
        return out

    def conjugate(self, U: FloatArray) -> float:
        return float(self._native.conjugate(self.y, self.s, np.ascontiguousarray(U), self.n_threads))

    def worst(self, Z: FloatArray, U: FloatArray) -> float:
        Z, U = np.ascontiguousarray(Z), np.ascontiguousarray(U)
        return float(self._native.worst_residual(self.y, self.s, Z, U, self.n_threads))

    @cached_property
    def _native(self) -> Any:
        return self.loss.native
