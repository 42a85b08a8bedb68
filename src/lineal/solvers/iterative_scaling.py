"""Generalised and improved iterative scaling: maximum entropy by matching expected feature counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lineal.deferred import sparse as sp
from lineal.deferred import special
from lineal.errors import InputError, ParameterError
from lineal.objective.dual_points import likely_point
from lineal.objective.joint import one_hot
from lineal.objective.losses import FloatArray
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.base import (
    LOSS_A_ROW,
    OWN_WEIGHTS,
    ROWS,
    Iterate,
    Need,
    Solver,
    Start,
    State,
    Weights,
    state_of,
    zeros,
)
from lineal.solvers.lbfgs import expected_gap

# No step changes a weight by more than this over the largest row sum: a feature that never meets a class
# asks for minus infinity, and any part of the way there is a gain.
_FARTHEST = 30.0
# Newton on an equation of one unknown, from the side where it cannot overshoot: one unit of a score a step
# at first, then quadratic.
_NEWTON_STEPS, _SETTLED = 100, 1e-13
# The improved kind meets stored numbers x classes at once, in pieces of so many.
_PIECE = 1 << 20

_NEEDS = (
    LOSS_A_ROW,
    OWN_WEIGHTS,
    ROWS,
    Need("loss=Log()", "loss", lambda p: p.losses.is_likelihood),
    Need("L2 or NoPenalty", "penalty", lambda p: p.penalty.is_ridge or p.penalty.is_zero),
    Need(
        "the penalty of the weights for the intercept, too", "penalty", lambda p: p.intercept_penalty is None
    ),
)

_Counts = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True)
class IterativeScaling(Solver):
    """Scales weights until the expected count of each feature in each class is the observed one.

    A feature j of a class k is x_j in the rows of that class; row i has the sum t_i of its features, the
    constant 1 of an intercept among them. Each epoch solves, for all weights at once and each by itself::

        sum_i s_i x_ij p_ik exp(delta_jk t_i) + lam (w_jk + delta_jk) = sum_{i in k} s_i x_ij

    Parameters
    ----------
    kind : "gis" or "iis"
        "gis" puts the largest t in place of every t_i, so that without a penalty delta has a closed form,
        log(observed / expected) / t; "iis" keeps the t_i, which makes longer steps where rows differ.

    Notes
    -----
    Needs ``Log``, one-vs-rest or softmax, under L2 (a Gaussian prior) or no penalty, and features >= 0.
    Guarantees: the objective falls at every step, because the equations minimise an upper bound of it; the
    rate is linear and slow, the slower the more features a row has. An epoch costs two passes over X, and
    for "iis" an exponential per stored number, class and Newton step besides. Two classes are a softmax of
    w/2 and -w/2: a change that is common to all classes is taken out, since no probability feels it.
    Published: Darroch and Ratcliff 1972; Della Pietra, Della Pietra and Lafferty 1997; Chen and Rosenfeld
    1999 for the prior; Curran and Clark 2003 for why no correction feature is needed.
    """

    name = "iterative_scaling"

    kind: str = "gis"

    def __post_init__(self) -> None:
        if self.kind not in ("gis", "iis"):
            raise ParameterError(f'IterativeScaling(kind) must be "gis" or "iis", got {self.kind!r}.')

    @property
    def needs(self) -> tuple[Need, ...]:
        """A likelihood, under L2 or no penalty."""
        return _NEEDS

    def iterates(self, problem: Problem, start: Start | None, tol: float, seed: int) -> Iterator[Iterate]:
        """One iterate per step of all weights."""
        _check_signs(problem)
        model = _Maxent(problem)
        kept = state_of(start) or {}
        begin = zeros(problem) if start is None else (start.W, start.b)
        M = kept["M"] if kept else model.spread(*begin)
        row_sums = model.row_sums()
        longest = float(row_sums[model.losses.s > 0].max(initial=0.0))
        improved = _Improved(problem, model, row_sums) if self.kind == "iis" else None
        values: list[float] = list(kept.get("values", ()))

        def state() -> State:
            return {"M": M, "values": tuple(values[:-1])}

        while True:
            W, b = model.weights(M)
            Z = problem.scores(W, b)
            values = [*values[-2:], problem.primal(W, b, Z)]
            P = model.probabilities(Z)
            expected = model.totals(P)
            gap = _expected_gap(problem, model.gradient(M, expected), values)
            yield _iterate(problem, W, b, Z, gap, values[-1], state)
            if longest == 0.0:
                return
            counts = _scaled_by(expected, longest) if improved is None else improved.counts(P)
            step = _solve(counts, expected, model.observed, M, model.strength, _FARTHEST / longest)
            if not step.any():
                return
            M = _centred(M + step)


def _iterate(
    problem: Problem,
    W: FloatArray,
    b: FloatArray,
    Z: FloatArray,
    gap: float | None,
    value: float,
    state: Callable[[], State],
) -> Iterate:
    return Iterate(lambda: (W, b), lambda: likely_point(problem, W, b, Z), gap, value, state=state)


def _check_signs(problem: Problem) -> None:
    """Refuses negative features: their expected counts cannot be scaled."""
    X = problem.X.native_rows
    assert X is not None
    if X.dense is not None:
        least = X.dense.min(axis=0, initial=0.0)
    else:
        _, index, value = X.matrix.arrays()
        least = np.zeros(X.n_columns)
        np.minimum.at(least, index[value < 0], value[value < 0])
    if (least < 0).any():
        column = int(np.argmax(least < 0))
        raise InputError(
            f"iterative_scaling needs features >= 0, and column {column} goes down to {least[column]:g}: "
            f"shift it, split it into its positive and its negative part, or use newton or lbfgs."
        )


def _centred(M: FloatArray) -> FloatArray:
    """What is common to all classes taken out: no probability changes and an L2 penalty can only fall."""
    return M - M.mean(axis=2, keepdims=True)


def _expected_gap(problem: Problem, gradient: FloatArray, values: list[float]) -> float | None:
    """A guess of the relative gap: known under L2, else the sum of gains that shrink as the last ones did."""
    if problem.penalty.is_ridge:
        return expected_gap(problem, gradient, values[-1])
    if len(values) < 3:
        return None
    before, gain = values[0] - values[1], values[1] - values[2]
    if not 0 < gain < before:
        return None
    return gain * gain / (before - gain) / max(abs(values[-1]), 1e-300)


# ---- classes as the features see them -----------------------------------------------------------


class _Maxent:
    """The problem as G models of K classes: weights are (columns and intercept, G, K).

    Softmax is one model of its K classes; a ``Log`` of several outputs is as many models of two classes,
    with w/2 and -w/2 for w, so that the strength doubles: 2 lam (w/2)^2 / 2 twice is lam w^2 / 2.
    """

    def __init__(self, problem: Problem) -> None:
        losses = problem.losses.rows
        assert losses is not None
        self.problem, self.losses = problem, losses
        self.is_joint = not losses.is_by_score
        self.has_constant = problem.intercept is not Intercept.NONE
        self.strength = np.full((problem.X.n_columns + self.has_constant, 1, 1), float(problem.penalty.l2))
        if not self.is_joint:
            self.strength *= 2
        if problem.intercept is Intercept.FREE:
            self.strength[-1] = 0.0
        if self.is_joint:
            gold = one_hot(losses.y, problem.n_outputs)[:, None, :]
        else:
            gold = np.stack([losses.y > 0, losses.y < 0], axis=2).astype(np.float64)
        self.observed = self.totals(gold)

    def spread(self, W: FloatArray, b: FloatArray) -> FloatArray:
        """(W, b) as the models' weights, centred."""
        rows = np.vstack([W, b]) if self.has_constant else W
        return _centred(rows[:, None, :]) if self.is_joint else np.stack([rows / 2, -rows / 2], axis=2)

    def weights(self, M: FloatArray) -> Weights:
        """The problem's own (W, b)."""
        rows = M[:, 0, :] if self.is_joint else M[:, :, 0] - M[:, :, 1]
        if self.has_constant:
            return np.ascontiguousarray(rows[:-1]), rows[-1].copy()
        return np.ascontiguousarray(rows), np.zeros(self.problem.n_outputs)

    def probabilities(self, Z: FloatArray) -> FloatArray:
        """(n, G, K)."""
        return (
            special.softmax(Z, axis=1)[:, None, :]
            if self.is_joint
            else np.stack([special.expit(Z), special.expit(-Z)], axis=2)
        )

    def totals(self, P: FloatArray) -> FloatArray:
        """sum_i s_i x_ij p_igk, the constant last."""
        SP = self.losses.weighted(P.reshape(len(P), -1))
        V = self.problem.X.adjoint(SP)
        V = np.vstack([V, SP.sum(axis=0)]) if self.has_constant else V
        return V.reshape(len(V), *P.shape[1:])

    def gradient(self, M: FloatArray, expected: FloatArray) -> FloatArray:
        """The gradient of P in the problem's own weights, flat."""
        slope = expected - self.observed + self.strength * M
        return np.ravel(slope if self.is_joint else slope[:, :, 0])

    def row_sums(self) -> FloatArray:
        """t_i: the sum of a row's features, the constant among them."""
        ones = np.ones((self.problem.X.n_columns, 1))
        return self.problem.X.dot(ones)[:, 0] + float(self.has_constant)


# ---- one equation per weight --------------------------------------------------------------------


def _solve(
    counts: _Counts,
    expected: FloatArray,
    observed: FloatArray,
    M: FloatArray,
    strength: FloatArray,
    farthest: float,
) -> FloatArray:
    """The deltas: counts(delta) + strength (M + delta) = observed, within +-farthest.

    The left side is convex and increasing, so Newton comes down to the root from any point above it. By
    Jensen's inequality counts(delta) >= expected exp(delta t) with t the mean of the row sums, weighted as
    counted: the root of that equation, or a bound of it, is such a point.
    """
    wanted = observed - strength * M
    _, steepness = counts(np.zeros_like(M))
    with np.errstate(divide="ignore", invalid="ignore"):
        by_ratio = np.log(np.maximum(wanted, 0.0) / expected) * expected / steepness
        by_penalty = (wanted - expected) / strength
    more = np.fmin(by_ratio, by_penalty)
    delta = np.where(strength == 0, by_ratio, np.where(wanted > expected, more, 0.0))
    # A column without a number in it has nothing to say.
    delta = np.clip(np.where(np.isnan(delta), 0.0, delta), -farthest, farthest)
    for _ in range(_NEWTON_STEPS):
        count, steepness = counts(delta)
        bend = steepness + strength
        excess = count + strength * delta - wanted
        moved = np.divide(excess, bend, out=np.zeros_like(excess), where=bend > 0)
        following = np.clip(delta - moved, -farthest, farthest)
        is_settled = np.abs(following - delta).max(initial=0.0) <= _SETTLED * farthest
        delta = following
        if is_settled:
            break
    return delta


def _scaled_by(expected: FloatArray, t: float) -> _Counts:
    """Counts under the generalised kind: expected exp(delta t) and its derivative."""

    def counts(delta: FloatArray) -> tuple[FloatArray, FloatArray]:
        count = expected * np.exp(delta * t)
        return count, t * count

    return counts


class _Improved:
    """Counts under the improved kind: sum_i s_i x_ij p_igk exp(delta_jgk t_i) and its derivative."""

    def __init__(self, problem: Problem, model: _Maxent, row_sums: FloatArray) -> None:
        rows = problem.X.native_rows
        assert rows is not None
        start, index, value = rows.transposed().matrix.arrays()
        columns = sp.csr_array((value, index, start), shape=(problem.X.n_columns, problem.X.n_rows))
        if model.has_constant:
            columns = sp.vstack([columns, sp.csr_array(np.ones((1, problem.X.n_rows)))], format="csr")
        self.n_features = columns.shape[0]
        self.row: NDArray[np.int64] = columns.indices.astype(np.int64)
        self.weight = columns.data * model.losses.s[self.row]
        self.t = row_sums[self.row]
        self.feature = np.repeat(np.arange(self.n_features), np.diff(columns.indptr))

    def counts(self, P: FloatArray) -> _Counts:
        """The counts as a function of delta, at given probabilities."""
        n_classes = P.shape[1] * P.shape[2]
        flat = P.reshape(len(P), n_classes)
        piece = max(1, _PIECE // n_classes)

        def counts(delta: FloatArray) -> tuple[FloatArray, FloatArray]:
            D = delta.reshape(self.n_features, n_classes)
            count, steepness = np.zeros_like(D), np.zeros_like(D)
            for first in range(0, len(self.row), piece):
                part = slice(first, first + piece)
                feature, t = self.feature[part], self.t[part, None]
                terms = self.weight[part, None] * flat[self.row[part]] * np.exp(D[feature] * t)
                edges = np.flatnonzero(np.diff(feature, prepend=-1))
                count[feature[edges]] += np.add.reduceat(terms, edges, axis=0)
                steepness[feature[edges]] += np.add.reduceat(terms * t, edges, axis=0)
            return count.reshape(delta.shape), steepness.reshape(delta.shape)

        return counts
