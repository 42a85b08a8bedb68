"""The problems of kernel machines as ``verify`` reads them: a map of kernel rows, losses, |w|^2, in NumPy.

Weights are coefficients beta of the rows: w = sum_i beta_i phi(x_i) in the kernel's space, where scores are
K beta, |w|^2 is beta'K beta, and the adjoint of slopes G is sum_i g_i phi(x_i), which has the coefficients G.
The conditions of Karush, Kuhn and Tucker that tie beta to the scores are told beside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.kernels import Kernel
from lineal.learners.kernel.kernel_values import kernel_values
from lineal.objective.dual_points import repaired
from lineal.objective.hard_margin import HardMargin
from lineal.objective.linear_maps import LinearMap
from lineal.objective.loss_sums import LossSum, RowLosses
from lineal.objective.losses import EpsilonInsensitive, FloatArray, Hinge
from lineal.objective.penalties import L2
from lineal.objective.problem import Intercept, Problem

IntArray = NDArray[np.int64]
Mask = NDArray[np.bool_]

# Coefficients are at their bound when this near, as a share of it: those of equal rows were dealt out.
_AT_THE_BOUND = 1e-9
# What sums in another order may do to a score at a margin of 1.
_ROUNDING = 1e-6
# Kernel values that are held at once: so many numbers.
_PIECE = 4_000_000


# ---- the map ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class KernelProducts:
    """K times columns of coefficients; what was computed once is kept, since a pass takes n^2 values."""

    kernel: Kernel
    items: Any
    _known: dict[bytes, FloatArray] = field(default_factory=dict)

    def of(self, columns: FloatArray) -> FloatArray:
        """K columns, (n, m)."""
        keys = [column.tobytes() for column in columns.T]
        fresh = {key: column for key, column in zip(keys, columns.T, strict=True) if key not in self._known}
        if fresh:
            found = self._computed(np.stack(list(fresh.values()), axis=1))
            self._known.update(zip(fresh, found.T, strict=True))
        return np.stack([self._known[key] for key in keys], axis=1)

    def _computed(self, columns: FloatArray) -> FloatArray:
        n, used = len(columns), np.flatnonzero(columns.any(axis=1))
        support, out = self.kernel.take(self.items, used), np.empty(columns.shape)
        if self.kernel.profile is not None and self.kernel.profile.kind == "linear":
            # Weights of columns first: what cancels in them is lost once, and not in every row.
            return np.asarray(self.items @ (support.T @ columns[used]))
        step = max(1, _PIECE // max(len(used), 1))
        for start in range(0, n, step):
            piece = np.arange(start, min(start + step, n))
            out[piece] = (
                kernel_values(self.kernel, self.kernel.take(self.items, piece), support) @ columns[used]
            )
        return out


@dataclass(frozen=True, eq=False)
class KernelRows(LinearMap):
    """Some of the rows in the kernel's space, a coefficient each; see the head of this file."""

    products: KernelProducts
    rows: IntArray

    is_dear = True

    @property
    def n_rows(self) -> int:
        return len(self.rows)

    @property
    def n_columns(self) -> int:
        return len(self.rows)

    def spread(self, W: FloatArray) -> FloatArray:
        """Coefficients of all items, 0 for those of other machines."""
        every = np.zeros((self.products.kernel.size(self.products.items), W.shape[1]))
        every[self.rows] = W
        return every

    def dot(self, W: FloatArray) -> FloatArray:
        """K W."""
        return self.products.of(self.spread(W))[self.rows]

    def adjoint(self, U: FloatArray) -> FloatArray:
        """The coefficients of V are the slopes themselves."""
        return U

    def sum_of_squares(self, W: FloatArray) -> float:
        """W'K W."""
        return max(float(np.vdot(W, self.dot(W))), 0.0)

    def adjoint_summary(self, U: FloatArray, W: FloatArray, strength: float) -> tuple[float, float]:
        """|V|^2 and |V + strength W|: in the kernel's space weights are one term of the gap."""
        E, KU = U + strength * W, self.dot(U)
        square = float(np.vdot(E, KU + strength * self.dot(W)))
        return max(float(np.vdot(U, KU)), 0.0), float(np.sqrt(max(square, 0.0)))


# ---- losses with prices ---------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PricedTube(LossSum):
    """min over epsilon >= 0 of price epsilon + sum_i s_i max(0, |z_i - t_i| - epsilon).

    F*(g) = t.g where |g_i| <= s_i and |g|_1 <= price. ``value`` is taken at the epsilon of the model.
    """

    t: FloatArray
    s: FloatArray
    price: float
    epsilon: float

    is_smooth = False
    refits_constants = False

    @property
    def shape(self) -> tuple[int, int]:
        return self.t.shape[0], 1

    def value(self, Z: FloatArray) -> float:
        beyond = np.maximum(0.0, np.abs(Z - self.t) - self.epsilon)
        return self.price * self.epsilon + float(np.vdot(self.s, beyond))

    def slopes(self, Z: FloatArray) -> FloatArray:
        r = Z - self.t
        return self.s * np.where(np.abs(r) > self.epsilon, np.sign(r), 0.0)

    def conjugate(self, U: FloatArray) -> float:
        sizes, more = np.abs(U), 1 + _AT_THE_BOUND
        is_inside = (sizes <= more * self.s).all() and float(sizes.sum()) <= more * self.price
        return float(np.vdot(self.t, U)) if is_inside else np.inf

    def into_domain(self, U: FloatArray) -> FloatArray:
        inside = np.clip(U, -self.s, self.s)
        total = float(np.abs(inside).sum())
        return inside * (self.price / total) if total > self.price else inside

    def balance(self, U: FloatArray) -> FloatArray:
        return _balanced(U)

    def worst(self, Z: FloatArray, U: FloatArray) -> float:
        r = Z - self.t
        beyond = np.maximum(0.0, np.abs(r) - self.epsilon)
        return float(np.max(self.s * beyond + self.epsilon * np.abs(U) - r * U, initial=0.0))


@dataclass(frozen=True, eq=False)
class Region(LossSum):
    """min over rho of sum_i s_i max(0, rho - z_i) - rho total; ``value`` is taken at the rho of the model.

    F*(g) = 0 where 0 <= -g_i <= s_i and -g sums to the total, which 0 does not: the anchor is in proportion.
    """

    s: FloatArray
    total: float
    rho: float
    floor: float

    is_smooth = False
    refits_constants = False

    @property
    def shape(self) -> tuple[int, int]:
        return self.s.shape[0], 1

    def value(self, Z: FloatArray) -> float:
        return float(np.vdot(self.s, np.maximum(0.0, self.rho - Z))) - self.rho * self.total

    def slopes(self, Z: FloatArray) -> FloatArray:
        return np.where(self.rho > Z, -self.s, 0.0)

    def conjugate(self, U: FloatArray) -> float:
        is_inside = ((U <= 0) & ((1 + _AT_THE_BOUND) * self.s >= -U)).all()
        is_whole = abs(float(U.sum()) + self.total) <= _AT_THE_BOUND * self.total
        return 0.0 if is_inside and is_whole else np.inf

    def anchor(self) -> FloatArray:
        return self.into_domain(np.zeros(self.shape))

    def into_domain(self, U: FloatArray) -> FloatArray:
        inside = np.clip(-U, 0.0, self.s)
        missing, space = self.total - float(inside.sum()), self.s - inside
        if missing <= 0:
            return np.asarray(inside * (-self.total / float(inside.sum())))
        return np.asarray(-(inside + missing * space / float(space.sum())))

    def worst(self, Z: FloatArray, U: FloatArray) -> float:
        ahead = self.rho - Z
        return float(np.max(self.s * np.maximum(0.0, ahead) + U * ahead, initial=0.0))


def _balanced(U: FloatArray) -> FloatArray:
    """A sum of 0, up to one rounding: the heavier side is scaled down."""
    up, down = float(U[U > 0].sum()), -float(U[U < 0].sum())
    light = min(up, down)
    if light == 0:
        return np.zeros_like(U)
    return U * np.where(U > 0, light / up, light / down)


# ---- conditions ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Conditions:
    """Which rows are where, and by how much the conditions of Karush, Kuhn and Tucker are missed there.

    Attributes
    ----------
    at_zero, on_margin, at_bound : int
        Rows whose coefficient is 0, between its bounds, and at its bound; those without weight are left out.
    worst_at_zero, worst_on_margin, worst_at_bound : float
        The most by which a score is on the wrong side of its margin (its tube's edge, the border) there, in
        units of scores: rows at 0 should be beyond it, free ones on it, those at the bound short of it.
    outside : float
        The most by which a coefficient is beyond its bounds.
    imbalance : float
        By how much the sum of coefficients is not what it should be.
    """

    at_zero: int
    on_margin: int
    at_bound: int
    worst_at_zero: float
    worst_on_margin: float
    worst_at_bound: float
    outside: float
    imbalance: float

    @property
    def worst(self) -> float:
        """The worst of the three kinds."""
        return max(self.worst_at_zero, self.worst_on_margin, self.worst_at_bound)

    def __str__(self) -> str:
        return (
            f"{self.at_zero} rows at 0 (worst {self.worst_at_zero:.2e}), {self.on_margin} on the margin "
            f"(worst {self.worst_on_margin:.2e}), {self.at_bound} at the bound (worst "
            f"{self.worst_at_bound:.2e}); coefficients are {self.outside:.2e} beyond their bounds and their "
            f"sum is {self.imbalance:.2e} off"
        )

    def __add__(self, other: Conditions) -> Conditions:
        """Of two machines: counts add up, and the worst is told."""
        counts = (getattr(self, name) + getattr(other, name) for name in ("at_zero", "on_margin", "at_bound"))
        worst = ("worst_at_zero", "worst_on_margin", "worst_at_bound", "outside", "imbalance")
        return Conditions(*counts, *(max(getattr(self, name), getattr(other, name)) for name in worst))


def _conditions(size: FloatArray, bound: FloatArray, short: FloatArray, imbalance: float) -> Conditions:
    """Rows by the size of their coefficient; ``short`` is by how much each misses its margin."""
    at_zero = (size <= 0) & (bound > 0)  # rows without weight have no say
    at_bound = (size > 0) & (size >= bound * (1 - _AT_THE_BOUND))
    free = (size > 0) & ~at_bound

    def worst(rows: Mask, miss: FloatArray) -> float:
        return float(np.max(miss[rows], initial=0.0))

    outside = max(0.0, float(np.max(size - bound)), float(np.max(-size)))
    return Conditions(
        int(at_zero.sum()), int(free.sum()), int(at_bound.sum()), worst(at_zero, short),
        worst(free, np.abs(short)), worst(at_bound, -short), outside, imbalance,
    )  # fmt: skip


# ---- machines -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Claim:
    """Weights that are said to minimise a problem.

    Attributes
    ----------
    problem : Problem
    W, b : the weights
    dual : a dual point that comes with them, or None
    source : what that point is called
    kkt : from the scores, without b, to what holds of the rows; None where that is not told
    columns : what proofs will ask the products of a kernel for
    settle : what is to be done to the weights once products are there, if anything
    """

    problem: Problem
    W: FloatArray
    b: FloatArray
    dual: Any = None
    source: str = "kept by the fit"
    kkt: Callable[[FloatArray], Conditions] | None = None
    columns: FloatArray | None = None
    settle: Callable[[Claim], Claim] | None = None


def _claim(
    X: KernelRows, losses: LossSum, strength: float, intercept: Intercept, beta: FloatArray, b: float,
    kkt: Callable[[FloatArray], Conditions], settle: Callable[[Claim], Claim] | None = None,
) -> Claim:  # fmt: skip
    """Coefficients are a dual point, too: G = -strength beta, for a loss a row in units of its weight."""
    G = -strength * beta[:, None]
    rows = losses.rows
    U = G if rows is None else np.divide(G, rows.s[:, None], out=np.zeros_like(G), where=rows.s[:, None] > 0)
    problem, W = Problem(X, losses, L2(strength), intercept), beta[:, None]
    U = repaired(problem, U)
    columns = X.spread(np.hstack([W, losses.pull(U)]))
    return Claim(problem, W, np.array([b]), U, "the coefficients", kkt, columns, settle)


def separation(X: KernelRows, y: FloatArray, s: FloatArray, C: float, beta: FloatArray, b: float) -> Claim:
    """Two classes, y = -1 and +1: sum_i s_i hinge_i + |w|^2 / (2 C); |w|^2 / 2 without slack at C = inf."""
    is_hard = np.isinf(C)
    bound = np.full(len(y), np.inf) if is_hard else C * s

    def kkt(f: FloatArray) -> Conditions:
        return _conditions(y * beta, bound, 1.0 - y * (f + b), abs(float(beta.sum())))

    if is_hard:
        return _claim(X, HardMargin(y[:, None]), 1.0, Intercept.FREE, beta, b, kkt, _without_slack)
    losses = RowLosses(Hinge(), y[:, None], s, 1)
    return _claim(X, losses, 1.0 / C, Intercept.FREE, beta, b, kkt, _without_slack)


def _without_slack(claim: Claim) -> Claim:
    """Weights stretched until every row reaches its margin, where they are to or where that is rounding.

    Without slack P is |w|^2 / 2 after that; with it, a large C would make much of rounding. The dual point is
    the best multiple of the coefficients.
    """
    problem, losses = claim.problem, claim.problem.losses
    y = losses.y if isinstance(losses, HardMargin) else losses.rows.y  # type: ignore[union-attr]
    f = problem.X.dot(claim.W)
    least = min(float((y * (f + claim.b)).min()), 1.0)
    if not least > (0.0 if isinstance(losses, HardMargin) else 1.0 - _ROUNDING):
        return claim
    stretched = replace(claim, W=claim.W / least, b=claim.b / least)
    if isinstance(losses, HardMargin):
        linear, squared = float(np.vdot(y, claim.W)), float(np.vdot(claim.W, f))
        return replace(stretched, dual=claim.dual * (linear / squared) if squared > 0 else claim.dual)
    before, after = (0.5 * float(np.vdot(each.W, problem.X.dot(each.W))) for each in (claim, stretched))
    is_better = problem.penalty.l2 * after < problem.penalty.l2 * before + losses.value(f + claim.b)
    return stretched if is_better else claim


def tube(
    X: KernelRows, t: FloatArray, s: FloatArray, C: float, beta: FloatArray, b: float, epsilon: float,
    nu: float | None = None,
) -> Claim:  # fmt: skip
    """A regression: sum_i s_i max(0, |t_i - z_i| - epsilon) + |w|^2 / (2 C), and nu S epsilon for a nu."""

    def kkt(f: FloatArray) -> Conditions:
        left = t - f - b
        side = np.where(beta != 0, np.sign(beta), np.sign(left))
        return _conditions(np.abs(beta), C * s, side * left - epsilon, abs(float(beta.sum())))

    losses: LossSum = RowLosses(EpsilonInsensitive(epsilon), t[:, None], s, 1)
    if nu is not None:
        losses = PricedTube(t[:, None], s[:, None], nu * float(s.sum()), epsilon)
    return _claim(X, losses, 1.0 / C, Intercept.FREE, beta, b, kkt)


def region(X: KernelRows, s: FloatArray, total: float, beta: FloatArray, rho: float, floor: float) -> Claim:
    """One class, in the textbooks' units: with w / total for weights and rho / total for a threshold.

    |w|^2 / 2 - rho + sum_i s_i max(0, rho - f_i) / total.
    """

    def kkt(f: FloatArray) -> Conditions:
        return _conditions(beta, s, rho - total * f, abs(float(beta.sum()) - total))

    losses = Region(s[:, None] / total, 1.0, rho / total, floor)
    return _claim(X, losses, 1.0, Intercept.NONE, beta / total, 0.0, kkt)
