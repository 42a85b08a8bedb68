"""The dual of kernel machines from the inside, in float64: few steps, each a factorisation.

::

    maximise  c'beta - beta'K beta / 2,   lo <= beta <= hi,   the sum of beta fixed in every group

Pairs of coefficients creep, and float32 has no digits left, where kernel values are large beside 1 / bound:
columns as they were measured, polynomials, high prices of slack. Newton's method on the conditions of
optimality, with products of distances to bounds and their multipliers pushed to 0, does not care.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.deferred import linalg
from lineal.objective.losses import FloatArray
from lineal.solvers.kernel_dual.duals import IntArray, sums_by

_MOST_STEPS = 100
# A gap of this share of the tolerance ends steps; one of that share is still good with coefficients at their
# bounds instead of near them.
_WELL, _ENOUGH = 0.01, 0.3
# How far to the next bound a step goes, and how near a bound is met, as a share of the room.
_REACH, _NEAR = 0.995, 1e-5
# So many steps in a row without a smaller gap: as close as the arithmetic comes.
_PATIENCE = 25
# A bound that is so many times where one row by itself would end is far: steps start there. A coefficient
# that stays has this stiffness.
_FAR, _STIFF, _CORRECTIONS = 1e13, 1e200, 5


@dataclass(frozen=True, eq=False)
class InteriorProblem:
    """Variables that stand on rows; all have lo < hi.

    Attributes
    ----------
    K : (n, n) kernel matrix of the rows, or None where ``V`` says it
    V : (n, r) with K = V V', r well below n, or None
    place : (m,) rows of the variables
    group : (m,) from 0 on
    c, lo, hi : (m,)
    sums : one a group
    """

    K: FloatArray | None
    V: FloatArray | None
    place: IntArray
    group: NDArray[np.int32]
    c: FloatArray
    lo: FloatArray
    hi: FloatArray
    sums: FloatArray

    @cached_property
    def members(self) -> list[NDArray[np.intp]]:
        """The variables of each group."""
        return [np.flatnonzero(self.group == g) for g in range(len(self.sums))]

    @property
    def n_rows(self) -> int:
        """How many rows."""
        matrix = self.V if self.K is None else self.K
        assert matrix is not None
        return len(matrix)

    def of_rows(self, values: FloatArray) -> FloatArray:
        """(n,) sums over the variables of each row."""
        return sums_by(self.place, values, self.n_rows)

    def of_groups(self, values: FloatArray) -> FloatArray:
        """Sums over the variables of each group."""
        return sums_by(self.group, values, len(self.sums))

    def scores(self, beta: FloatArray) -> FloatArray:
        """(m,) K beta at the variables."""
        t = self.of_rows(beta)
        if self.K is not None:
            return np.asarray((self.K @ t)[self.place])
        assert self.V is not None
        return np.asarray((self.V @ (self.V.T @ t))[self.place])

    def largest(self) -> float:
        """k(x, x), at most."""
        if self.K is not None:
            return float(self.K.diagonal().max(initial=0.0))
        assert self.V is not None
        return float(np.einsum("ij,ij->i", self.V, self.V).max(initial=0.0))


def interior_point(problem: InteriorProblem, *, tol: float, is_over: Callable[[], bool]) -> FloatArray:
    """Coefficients within bounds and with the right sums, well within ``tol`` (relative) of the maximum if
    the arithmetic allows it.

    Notes
    -----
    Guarantees nothing by itself: the caller certifies. A step factorises an n x n matrix, or one as wide as
    V; some 10 to 40 are needed whatever the data. Where it is over the best so far is returned, after the
    factorisation that is under way. Published: Mehrotra 1992; for low ranks Fine and Scheinberg 2001.
    """
    state = best = _State.begun(problem)
    least, waited = np.inf, 0
    for _ in range(_MOST_STEPS):
        relative = state.relative_gap()
        waited = waited + 1 if not relative < least else 0
        if relative < least:
            best, least = state, relative
        if least <= _WELL * tol or waited >= _PATIENCE or is_over():
            break
        further = state.stepped()
        if further is None:
            break
        state = further
    if is_over():
        return best.balanced().inside()
    met = best.snapped(is_over)
    return (met if met.relative_gap() <= max(_ENOUGH * tol, 2 * least) else best.balanced()).inside()


@dataclass(frozen=True, eq=False)
class _State:
    """Distances x from lo and y from hi, and their multipliers; slopes agree with ``level`` in the end."""

    problem: InteriorProblem
    x: FloatArray
    y: FloatArray
    z: FloatArray
    w: FloatArray
    level: FloatArray

    @classmethod
    def begun(cls, problem: InteriorProblem) -> _State:
        """In the middle, unless that is far beyond where one row by itself would end."""
        room, is_up = problem.hi - problem.lo, problem.hi > 0
        size = float(np.abs(problem.c).max(initial=0.0))
        largest = max(problem.largest(), 1e-300)
        # A group with a sum to keep starts with equal shares of it.
        sums = (problem.sums - problem.of_groups(problem.lo)) / problem.of_groups(room)
        share = np.where(is_up, sums[problem.group], 1.0 - sums[problem.group])
        alone = np.where(room * largest < _FAR * size, 0.5 * room, size / largest)
        near = np.where(problem.sums[problem.group] == 0, alone, np.clip(share, 1e-3, 1 - 1e-3) * room)
        x, y = np.where(is_up, near, room - near), np.where(is_up, room - near, near)
        begun = cls(problem, x, y, x, y, np.zeros(len(problem.sums)))
        force = np.minimum(x, y) * max(size, float(np.abs(begun.slopes()).max(initial=0.0)))
        return replace(begun, z=force / x, w=force / y)

    @property
    def beta(self) -> FloatArray:
        """Coefficients: counted from the bound that is nearer, so that no digit of the distance is lost."""
        near_lo = self.x <= self.y
        return np.where(near_lo, self.problem.lo + self.x, self.problem.hi - self.y)

    def slopes(self) -> FloatArray:
        """c - K beta."""
        return self.problem.c - self.problem.scores(self.beta)

    def relative_gap(self) -> float:
        """At the best thresholds; sums that are off count, too."""
        p, v, beta = self.problem, self.slopes(), self.beta
        b = np.array([_threshold(v[k], self.x[k], self.y[k]) for k in p.members])
        ahead = b[p.group] - v
        gap = float(self.x @ np.maximum(ahead, 0.0) + self.y @ np.maximum(-ahead, 0.0))
        gap += float(np.abs(p.sums - p.of_groups(beta)) @ np.abs(b))
        dual = 0.5 * float((p.c + v) @ beta)
        size = max(abs(dual + gap), abs(dual))
        return gap / size if size > 0 else float(gap > 0)

    def stepped(self) -> _State | None:
        """After a step of predictor and corrector; None where there is none."""
        slack, missing = self._residues()
        try:
            system = _System(self.problem, self.z / self.x + self.w / self.y)
        except np.linalg.LinAlgError:
            return None
        m2 = 2 * len(self.x)
        mu = float(self.x @ self.z + self.y @ self.w) / m2

        def direction(at_lo: FloatArray, at_hi: FloatArray) -> _Direction:
            """Changes after which x z = at_lo and y w = at_hi, to first order."""
            dx, level = system.solved(slack + at_lo / self.x - at_hi / self.y, missing)
            return _Direction(
                dx, at_lo / self.x - self.z - self.z / self.x * dx,
                at_hi / self.y - self.w + self.w / self.y * dx, level,
            )  # fmt: skip

        zeros = np.zeros(len(self.x))
        guess = direction(zeros, zeros)
        if not guess.is_finite():
            return None
        there = self._moved(guess, self._length(guess))
        after = float(there.x @ there.z + there.y @ there.w) / m2
        centre = mu * (after / mu) ** 3 if mu > 0 else 0.0
        step = direction(centre - guess.x * guess.z, centre + guess.x * guess.w)
        if not step.is_finite():
            return None
        return self._moved(step, _REACH * self._length(step))

    def _moved(self, step: _Direction, t: float) -> _State:
        return _State(
            self.problem, self.x + t * step.x, self.y - t * step.x, self.z + t * step.z,
            self.w + t * step.w, self.level + t * step.level,
        )  # fmt: skip

    def _length(self, step: _Direction) -> float:
        """How far one can go, at most 1 / reach, until a distance or a multiplier is 0."""
        point = np.concatenate([self.x, self.y, self.z, self.w])
        change = np.concatenate([step.x, -step.x, step.z, step.w])
        falls = change < 0
        return min(1.0 / _REACH, float((-point[falls] / change[falls]).min(initial=np.inf)))

    def snapped(self, is_over: Callable[[], bool]) -> _State:
        """With what is nearly at a bound at it, and the others put right for it."""
        room = self.x + self.y
        force = max(float(np.abs(self.z - self.w).max(initial=0.0)), 1e-300)
        at_lo = (self.x < _NEAR * room) & (self.x / room < self.z / force)
        at_hi = (self.y < _NEAR * room) & (self.y / room < self.w / force)
        state, stiffness = self, self.z / self.x + self.w / self.y
        for _ in range(_CORRECTIONS):
            x = np.where(at_lo, 0.0, np.where(at_hi, room, state.x))
            y = np.where(at_hi, 0.0, np.where(at_lo, room, state.y))
            state = replace(state, x=x, y=y)
            is_met = at_lo | at_hi
            if is_over():
                break
            try:
                change, level = _System(self.problem, np.where(is_met, _STIFF, stiffness)).solved(
                    *state._residues()
                )
            except np.linalg.LinAlgError:
                break
            if not np.isfinite(change).all():
                break
            x, y = x + np.where(is_met, 0.0, change), y - np.where(is_met, 0.0, change)
            at_lo, at_hi = at_lo | (x <= 0), at_hi | (y <= 0)
            state = replace(
                state, x=np.clip(x, 0.0, room), y=np.clip(y, 0.0, room), level=state.level + level
            )
        return state.balanced()

    def balanced(self) -> _State:
        """With the right sums: what is missing is dealt out by where there is room."""
        state = self
        for _ in range(3):
            p, missing = state.problem, state._residues()[1]
            give = np.minimum(state.x, state.y)
            total = p.of_groups(give)
            share = np.divide(missing, total, out=np.zeros_like(total), where=total > 0)
            change = np.clip(share, -0.5, 0.5)[p.group] * give
            state = replace(state, x=state.x + change, y=state.y - change)
        return state

    def inside(self) -> FloatArray:
        """Coefficients, whatever rounding did within their bounds."""
        return np.clip(self.beta, self.problem.lo, self.problem.hi)

    def _residues(self) -> tuple[FloatArray, FloatArray]:
        """Slopes less the level, w - z in the end; and what sums lack."""
        p = self.problem
        return self.slopes() - self.level[p.group], p.sums - p.of_groups(self.beta)


def _threshold(v: FloatArray, left: FloatArray, right: FloatArray) -> float:
    """The b of the least sum of left max(b - v, 0) + right max(v - b, 0)."""
    order = np.argsort(v)
    behind = np.cumsum(left[order])
    ahead = np.cumsum(right[order][::-1])[::-1] - right[order]
    return float(v[order][min(int(np.argmax(behind >= ahead)), len(v) - 1)])


@dataclass(frozen=True, eq=False)
class _Direction:
    """Changes of x (and of y, the other way), z, w and the level."""

    x: FloatArray
    z: FloatArray
    w: FloatArray
    level: FloatArray

    def is_finite(self) -> bool:
        return bool(np.isfinite(self.x).all() and np.isfinite(self.z).all() and np.isfinite(self.w).all())


class _System:
    """(diag(theta) + E K E') x + A'level = r, A x = s: E puts variables on their rows, A sums up groups.

    Variables of a row are eliminated first: with h = 1 / theta and S the sum of h in a row, sums t of rows
    solve (1 / S + K) t = the mean of r in the row by h.
    """

    def __init__(self, problem: InteriorProblem, theta: FloatArray) -> None:
        self._problem, self._theta, self._h = problem, theta, 1.0 / theta
        self._S = problem.of_rows(self._h)
        if problem.K is not None:
            self._root = np.sqrt(self._S)
            B = self._root[:, None] * problem.K * self._root
        else:
            assert problem.V is not None
            scaled = np.sqrt(self._S)[:, None] * problem.V
            B = scaled.T @ scaled
        B[np.diag_indices(len(B))] += 1.0
        self._factor: Any = linalg.cho_factor(B, lower=True, overwrite_a=True, check_finite=False)
        G = len(problem.sums)
        ones = np.eye(G)[problem.group]
        self._by_group = np.stack([self._inverse(ones[:, g]) for g in range(G)], axis=1)
        self._schur = np.stack([problem.of_groups(self._by_group[:, g]) for g in range(G)], axis=1)

    def solved(self, r: FloatArray, missing: FloatArray) -> tuple[FloatArray, FloatArray]:
        """x and the level."""
        x = self._inverse(r)
        level = np.linalg.lstsq(self._schur, self._problem.of_groups(x) - missing, rcond=None)[0]
        return x - self._by_group @ level, np.asarray(level, dtype=np.float64)

    def _inverse(self, r: FloatArray) -> FloatArray:
        """The solution without sums, corrected once by what rounding left."""
        x = self._once(r)
        return x + self._once(r - self._theta * x - self._problem.scores(x))

    def _once(self, r: FloatArray) -> FloatArray:
        p = self._problem
        # Rows that no variable stands on have nothing to solve.
        mean = np.divide(p.of_rows(self._h * r), self._S, out=np.zeros(p.n_rows), where=self._S > 0)
        if p.K is not None:
            t = self._root * linalg.cho_solve(self._factor, self._root * mean, check_finite=False)
        else:
            assert p.V is not None
            weighted = self._S * mean
            t = weighted - self._S * (
                p.V @ linalg.cho_solve(self._factor, p.V.T @ weighted, check_finite=False)
            )
        share = self._h / self._S[p.place]
        return np.asarray(self._h * (r - mean[p.place]) + share * t[p.place])
