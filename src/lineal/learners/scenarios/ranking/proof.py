"""The gap of a ranking again, from all its pairs, in NumPy: a road that owes nothing to the core."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lineal.learners.scenarios.ranking.problem import RankingProblem
from lineal.objective.certificate import Certificate
from lineal.objective.losses import FloatArray, Hinge, Loss
from lineal.objective.ranking_pairs import Pairs, Places

# Widths of the bend that a proof from the weights alone tries, in units of the margin.
_WIDTHS = 4.0 ** -np.arange(16)


@dataclass(frozen=True, eq=False)
class _Block:
    """Some pairs: (k, m) weights of k better rows, in the order of the pairs, and the m rows below them."""

    better: Places
    worse: Places
    weight: FloatArray

    def margins(self, z: FloatArray) -> FloatArray:
        return z[self.better][:, None] - z[self.worse]


def verified(
    problem: RankingProblem,
    w: FloatArray,
    dual_point: tuple[FloatArray, float] | None,
    tol: float,
) -> Certificate:
    """P and D from every pair, a few rows at a time: O(pairs) time.

    ``dual_point`` is weights and a width: the slopes of the rounded losses at their scores. Without it,
    slopes at w are tried, over bends of many widths.
    """
    began = time.perf_counter()
    w = w.astype(np.float64)
    points = [dual_point] if dual_point is not None else [(w, problem.margin * scale) for scale in _WIDTHS]
    if dual_point is None and not isinstance(problem.loss, Hinge):
        points = points[:1]
    z = problem.scores(w)[problem.pairs.order]
    primal = 0.5 * problem.strength * float(w @ w)
    primal += sum(
        float(np.vdot(block.weight, problem.loss.value(np.ones(1), block.margins(z))))
        for block in _blocks(problem.pairs)
    )
    bounds = [_bound(problem, w, z, *point) for point in points]
    dual, worst = max(bounds)
    relative = problem.relative_gap(primal, dual)
    return Certificate(
        primal=primal,
        dual=dual,
        gap=primal - dual,
        relative_gap=relative,
        kkt_violation=worst,
        solver="verify",
        epochs=0,
        seconds=time.perf_counter() - began,
        converged=bool(relative <= tol),
        reason="recomputed from every pair; dual point: "
        + ("slopes at the weights" if dual_point is None else "the fit's own"),
    )


def _bound(
    problem: RankingProblem, w: FloatArray, z: FloatArray, slopes_at: FloatArray, width: float
) -> tuple[float, float]:
    """D at the slopes of some weights' scores, and the largest term of the gap to w."""
    loss, target = problem.loss, np.ones(1)
    rounded: Loss = loss.smoothed(width) if isinstance(loss, Hinge) else loss
    placed = problem.scores(slopes_at)[problem.pairs.order]
    slopes, conjugates, worst = np.zeros_like(placed), 0.0, 0.0
    low, high = (float(end[0]) for end in loss.domain(target))
    for block in _blocks(problem.pairs):
        u = np.clip(rounded.derivative(target, block.margins(placed)), low, high)
        conjugate = loss.conjugate(target, u)
        conjugates += float(np.vdot(block.weight, conjugate))
        slopes[block.better] += (block.weight * u).sum(axis=1)
        slopes[block.worse] -= (block.weight * u).sum(axis=0)
        margins = block.margins(z)
        terms = block.weight * (loss.value(target, margins) + conjugate - margins * u)
        worst = max(worst, float(terms.max(initial=0.0)))
    spread = np.empty_like(slopes)
    spread[problem.pairs.order] = slopes
    v = problem.pull(spread)
    lam = problem.strength
    worst = max(worst, float((0.5 * lam * (w + v / lam) ** 2).max(initial=0.0)))
    return -conjugates - float(v @ v) / (2 * lam), worst


def _blocks(pairs: Pairs, most: int = 1 << 20) -> Iterator[_Block]:
    """All pairs, some rows of one grade at a time."""
    for q, (first, last) in enumerate(zip(pairs.query_first[:-1], pairs.query_first[1:], strict=True)):
        begin = pairs.group_first[first]
        for group in range(first + 1, last):
            worse = np.arange(begin, pairs.group_first[group])
            better = np.arange(pairs.group_first[group], pairs.group_first[group + 1])
            for rows in np.array_split(better, -(-len(better) * len(worse) // most)):
                yield _Block(rows, worse, pairs.c[q] * pairs.s[rows][:, None] * pairs.s[worse])
