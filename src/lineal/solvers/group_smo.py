"""The dual of a hinge machine whose rows share slacks in groups, two variables at a time.

For a kernel matrix K, signs y in {-1, +1} that are the same throughout a group, and a cost for each group::

    P(f, b) = |f|^2 / 2 + sum_g cost_g max(0, max_{i in g} 1 - y_i (f_i + b))
    D(a)    = sum_i a_i - (a y)'K (a y) / 2,     a >= 0,   sum_{i in g} a_i <= cost_g,   sum_i a_i y_i = 0

With one row in every group it is the dual of the support vector machine; with the instances of a negative bag
in one group its loss is the hinge of the bag's highest score.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.objective.bounds import Bound
from lineal.objective.certificate import Certificate, Stop, yardstick
from lineal.objective.losses import FloatArray
from lineal.solvers.base import Iterate, Solver, Start
from lineal.solvers.driver import Budget, drive
from lineal.solvers.group_interior import interior_point
from lineal.solvers.kernel_dual.values import power_of_two
from lineal.solvers.proving import Best, Proof, Prover

# Curvature below which a pair counts as one point: its step is then clipped at a bound.
_FLAT = 1e-12
# A pair that violates optimality by less, relative to the largest |y - f|, cannot be told from rounding.
_ROUNDING = 1e-13
# So many stretches in a row that gain less than 1 % of the gap: it is at the floor of the arithmetic.
_PATIENCE = 20
# After so many steps a row, up to so many rows, a method that factorises goes ahead.
_CREEPING, _FACTORISED = 10, 2000
_AT_THE_FLOOR = "no pair is left whose step rounding would not swallow"


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows in groups that lie side by side.

    Attributes
    ----------
    first : (G,) the first row of each group, increasing from 0
    sign : (G,) -1.0 or +1.0
    cost : (G,) what a unit of a group's slack costs, >= 0
    n_rows : int
    """

    first: NDArray[np.intp]
    sign: FloatArray
    cost: FloatArray
    n_rows: int

    @classmethod
    def of_rows(cls, sign: FloatArray, cost: FloatArray) -> Groups:
        """A group for every row: the plain machine."""
        return cls(np.arange(len(sign)), np.asarray(sign, float), np.asarray(cost, float), len(sign))

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """How many rows each group has."""
        return np.diff(np.append(self.first, self.n_rows))

    def yardstick(self, primal: float) -> float:
        """max(|P|, 1e-12 P(0)), what gaps are compared with."""
        return yardstick(primal, float(self.cost.sum()))

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """A value of each group for each of its rows."""
        return np.repeat(values, self.sizes)

    def least_margins(self, f: FloatArray) -> FloatArray:
        """(G,) min_{i in g} y_i f_i."""
        return np.asarray(np.minimum.reduceat(self.spread(self.sign) * f, self.first))


@dataclass(frozen=True, eq=False)
class GroupSolution:
    """a, f = K (a y) on the rows, the intercept, and the proof."""

    a: FloatArray
    f: FloatArray
    b: float
    certificate: Certificate


def solve(
    K: FloatArray,
    groups: Groups,
    *,
    tol: float,
    start: FloatArray | None = None,
    max_steps: int | None = None,
    max_seconds: float | None = None,
) -> GroupSolution:
    """Maximises the dual until the relative gap is at most ``tol``.

    Parameters
    ----------
    K : (n, n) kernel matrix of the rows, positive semi-definite
    groups : Groups
    start : (n,) feasible or nearly feasible a, optional
    max_steps, max_seconds : optional budgets

    Notes
    -----
    Needs K in memory: n^2 numbers. Guarantees: the dual never falls, and every feasible direction is a sum of
    pairs that are looked at, so a point without a violating pair is optimal. A step costs O(n). The pairs are
    those of sequential minimal optimisation (Platt 1998), the second of a pair chosen by curvature (Fan, Chen
    and Lin 2005), and besides them pairs inside groups whose cost is used up. Where pairs creep, up to 2,000
    rows, :mod:`lineal.solvers.group_interior` gives them a point to go on from.
    """
    unit = power_of_two(float(np.abs(np.diagonal(K)).max(initial=0.0)))
    if unit != 1.0:
        # In K / unit the same problem has costs, a, P and D that are ``unit`` times as large, and the same f.
        scaled = replace(groups, cost=groups.cost * unit)
        begin = None if start is None else start * unit
        found = solve(
            K / unit, scaled, tol=tol, start=begin, max_steps=max_steps, max_seconds=max_seconds
        )  # fmt: skip
        return _divided(found, unit)
    pairs = _Pairs(K, groups, start, max_steps)
    ended = drive(
        _GroupProver(groups), None, [pairs], tol=tol, budget=Budget(max_seconds), floor=_AT_THE_FLOOR
    ).certificate
    if pairs.has_used_up and ended.stop is Stop.STALLED:
        ended = replace(ended, stop=Stop.EPOCHS, reason=f"max_steps={max_steps} reached")
    state, (primal, dual, b) = pairs.state, pairs.state.values()
    ended = replace(ended, epochs=-(-pairs.steps // groups.n_rows))
    certificate = ended.proved_again(
        primal, dual, size=groups.yardstick(primal), tol=tol, worst=state.worst_term(b), detail=_AT_THE_FLOOR
    )
    return GroupSolution(state.a, state.f, b, certificate)


class _GroupProver(Prover):
    """The dual of groups proves by itself: f and a are one."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups

    def prove(self, iterate: Iterate) -> Proof:
        primal, dual = (np.inf, -np.inf) if iterate.dual is None else iterate.dual()
        return Proof(primal, Bound(None, None, dual), *iterate.weights(), is_whole=True)

    def yardstick(self, primal: float) -> float:
        return self._groups.yardstick(primal)

    def worst(self, best: Best) -> float:
        return best.gap


class _Pairs(Solver):
    """Stretches of steps on pairs, with a point from a method that factorises where they creep."""

    name = "group_smo"

    def __init__(
        self, K: FloatArray, groups: Groups, start: FloatArray | None, max_steps: int | None
    ) -> None:
        self._groups, self._K, self._limit = groups, K, np.inf if max_steps is None else max_steps
        self.state, self.steps = _State(K, groups, start), 0

    @property
    def has_used_up(self) -> bool:
        """Whether there are no steps left to make."""
        return self.steps >= self._limit

    def iterates(self, problem: Any, start: Start | None, tol: float, seed: int) -> Iterator[Iterate]:
        """One iterate a stretch."""
        state, groups = self.state, self._groups
        stretch = max(200, min(2 * groups.n_rows, 5000))
        best, waited, is_helped = np.inf, 0, bool((groups.cost == 0).any())
        while True:
            done = state.run(int(min(stretch, self._limit - self.steps)))
            self.steps += done
            state.refresh()
            if self.steps >= _CREEPING * groups.n_rows and not is_helped and groups.n_rows <= _FACTORISED:
                state.take(interior_point(self._K, state.y, state.group, groups.cost, tol=0.01 * tol))
                is_helped = True
            primal, dual, _ = state.values()
            gap = primal - dual
            waited = 0 if gap < 0.99 * best else waited + 1
            best = min(best, gap)
            yield _iterate(primal, dual)
            if self.has_used_up or not done or waited >= _PATIENCE:
                return


def _iterate(primal: float, dual: float) -> Iterate:
    """What was proved is all there is to tell."""
    return Iterate(lambda: (np.zeros((0, 0)), np.zeros(0)), lambda: (primal, dual))


def _divided(found: GroupSolution, unit: float) -> GroupSolution:
    """A solution in other units."""
    proof = found.certificate
    told = {name: getattr(proof, name) / unit for name in ("primal", "dual", "gap", "kkt_violation")}
    return replace(found, a=found.a / unit, certificate=replace(proof, **told))


def best_intercept(margins: FloatArray, sign: FloatArray, cost: FloatArray) -> float:
    """The b that minimises sum_g cost_g max(0, 1 - margin_g - sign_g b); the middle of all that do.

    The sum is piecewise linear in b: its slope starts at minus the cost of the positive groups and rises by
    cost_g at b = sign_g (1 - margin_g).
    """
    used = cost > 0
    places, rises = (sign * (1 - margins))[used], cost[used]
    if not len(places):
        return 0.0
    order = np.argsort(places, kind="stable")
    places, slopes = places[order], np.cumsum(rises[order]) - rises[sign[used] > 0].sum()
    flat = 1e-12 * rises.sum()
    low = int(np.searchsorted(slopes, -flat))  # the first place after which the sum no longer falls
    high = int(np.searchsorted(slopes, flat, side="right"))  # the first after which it rises
    last = len(places) - 1
    return float((places[min(low, last)] + places[min(high, last)]) / 2)


class _State:
    """a, f, what is left of each group's cost, and which variables may move."""

    def __init__(self, K: FloatArray, groups: Groups, start: FloatArray | None) -> None:
        self.K, self.groups = K, groups
        self.y = np.asarray(groups.spread(groups.sign), dtype=np.float64)
        self.group = np.asarray(groups.spread(np.arange(len(groups.first))), dtype=np.intp)
        self.diagonal = np.diagonal(K).copy()
        self.a = np.zeros(groups.n_rows) if start is None else feasible(start, groups)
        self.is_shared = bool((groups.sizes > 1).any())
        self.refresh()

    def refresh(self) -> None:
        """All sums anew, so that rounding does not pile up."""
        total = np.add.reduceat(self.a, self.groups.first)
        self.slack = self.groups.cost - total
        # What is left of a group after pairs that used it up is rounding.
        self.slack[self.slack <= 1e-14 * self.groups.cost] = 0.0
        self.f = self.K @ (self.a * self.y)
        self.v = self.y - self.f
        self.up, self.low = np.empty(len(self.a)), np.empty(len(self.a))
        self._open(slice(None))

    def take(self, a: FloatArray) -> None:
        """Goes on from another point, if the dual is higher there."""
        before, kept = self.values()[1], self.a
        a = np.where(a > 1e-9 * self.groups.cost[self.group], a, 0.0)
        self.a = feasible(a, self.groups)
        self.refresh()
        if self.values()[1] < before:
            self.a = kept
            self.refresh()

    def _open(self, rows: slice) -> None:
        """Which of some rows may move a y up, and down: 0 or an infinity to be added to v."""
        y, can_grow, can_shrink = self.y[rows], self.slack[self.group[rows]] > 0, self.a[rows] > 0
        is_plus = y > 0
        self.up[rows] = np.where(np.where(is_plus, can_grow, can_shrink), 0.0, -np.inf)
        self.low[rows] = np.where(np.where(is_plus, can_shrink, can_grow), 0.0, np.inf)

    def run(self, n_steps: int) -> int:
        """So many steps, or all that are left; how many there were."""
        least = _ROUNDING * max(1.0, float(np.abs(self.v).max(initial=0.0)))
        for step in range(n_steps):
            u, l, violation = self._pair()
            if violation <= least:
                return step
            self._move(u, l)
        return n_steps

    def _pair(self) -> tuple[int, int, float]:
        """Rows whose a y should go up and down together, and by how much optimality fails there."""
        above = self.v + self.up
        u = int(above.argmax())
        below = self.v + self.low
        violation = float(above[u] - below.min())
        if self.is_shared:
            inside, worst = self._inside_pair()
            if worst > violation:
                return *inside, worst
        if not violation > 0:
            return u, u, -np.inf
        drop = above[u] - below
        curvature = np.maximum(self.diagonal[u] + self.diagonal - 2 * self.K[u], _FLAT)
        gain = np.where(drop > 0, drop * drop / curvature, -np.inf)
        gain[~np.isfinite(drop)] = -np.inf
        return u, int(gain.argmax()), violation

    def _inside_pair(self) -> tuple[tuple[int, int], float]:
        """The worst pair inside one group whose cost is used up: there a moves from row to row only."""
        is_full = self.slack[self.group] == 0
        holds = self.a > 0
        above = np.where(is_full & ((self.y > 0) | holds), self.v, -np.inf)
        below = np.where(is_full & ((self.y < 0) | holds), self.v, np.inf)
        tops = np.maximum.reduceat(above, self.groups.first)
        bottoms = np.minimum.reduceat(below, self.groups.first)
        with np.errstate(invalid="ignore"):
            worst = np.where(np.isfinite(tops) & np.isfinite(bottoms), tops - bottoms, -np.inf)
        g = int(worst.argmax())
        first, size = int(self.groups.first[g]), int(self.groups.sizes[g])
        part = slice(first, first + size)
        return (first + int(above[part].argmax()), first + int(below[part].argmin())), float(worst[g])

    def _move(self, u: int, l: int) -> None:
        """The best step along e_u - e_l in a y that stays feasible."""
        g, h = self.group[u], self.group[l]
        curvature = max(self.diagonal[u] + self.diagonal[l] - 2 * self.K[u, l], _FLAT)
        if g == h:  # a moves from one row of the group to the other: what is left of the cost stays
            room = self.a[l if self.y[u] > 0 else u]
        else:
            rises = self.slack[g] if self.y[u] > 0 else self.a[u]
            falls = self.slack[h] if self.y[l] < 0 else self.a[l]
            room = min(rises, falls)
        t = min(float((self.v[u] - self.v[l]) / curvature), float(room))
        for row, k, change in ((u, g, t * self.y[u]), (l, h, -t * self.y[l])):
            self.a[row] = self._exact(self.a[row] + change, self.groups.cost[k])
            if g != h:
                self.slack[k] = self._exact(self.slack[k] - change, self.groups.cost[k])
        self.v -= t * (self.K[u] - self.K[l])
        for k in {g, h}:
            first = self.groups.first[k]
            self._open(slice(first, first + self.groups.sizes[k]))

    @staticmethod
    def _exact(value: float, scale: float) -> float:
        """0 where only rounding is left."""
        return 0.0 if value <= 1e-14 * scale else float(value)

    def values(self) -> tuple[float, float, float]:
        """P at the best b, D, and that b."""
        groups = self.groups
        margins = groups.least_margins(self.f)
        b = best_intercept(margins, groups.sign, groups.cost)
        square = float((self.a * self.y) @ self.f)
        slack = np.maximum(0.0, 1 - margins - groups.sign * b)
        return square / 2 + float(groups.cost @ slack), float(self.a.sum()) - square / 2, b

    def worst_term(self, b: float) -> float:
        """The largest part of the gap that one group has."""
        groups = self.groups
        xi = np.maximum(0.0, 1 - groups.least_margins(self.f) - groups.sign * b)
        own = np.add.reduceat(self.a * (1 - self.y * (self.f + b)), groups.first)
        return float((groups.cost * xi - own).max(initial=0.0))


def feasible(a: FloatArray, groups: Groups) -> FloatArray:
    """A point of the dual's domain near a: every group within its cost, the two signs in balance."""
    a = np.maximum(np.asarray(a, dtype=np.float64), 0.0)
    total = np.add.reduceat(a, groups.first)
    shrink = np.divide(groups.cost, total, out=np.ones_like(total), where=total > groups.cost)
    a = a * groups.spread(shrink)
    y = groups.spread(groups.sign)
    plus, minus = float(a[y > 0].sum()), float(a[y < 0].sum())
    lighter = min(plus, minus)
    factors = np.where(y > 0, lighter / plus if plus > 0 else 0.0, lighter / minus if minus > 0 else 0.0)
    return np.asarray(a * factors)
