"""Directions for sparse data with many columns: conjugate gradients, and nothing dense but a few vectors.

S_W v costs one pass over the stored numbers and back, the means being taken out afterwards, so S^-1 (m_k - m)
is found for all K classes together. The rest is a K x K eigenproblem: with D = [sqrt(N_k) (m_k - m)] and
S Y = D, an eigenvector u of D'Y with eigenvalue mu gives the direction Y u, and S_B Y u = mu S Y u.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from lineal.deferred import linalg
from lineal.deferred import sparse as sp
from lineal.errors import InputError, NotCertifiedWarning, ParameterError
from lineal.learners.fisher.directions import LEAST, Directions, ledoit_wolf, refuse_still_classes, signs
from lineal.learners.fisher.scatter import STILL, Classes
from lineal.objective.linear_maps import NativeRows
from lineal.objective.losses import FloatArray

# Relative residual of the equations, and the most steps to get there.
_TOL, _MOST_STEPS = 1e-11, 5000
# Random signs that |S|_F^2 is estimated with, when it is not worth computing.
_PROBES, _AT_ONCE, _SEED = 32, 8, 20240229
# Numbers in one of the six arrays of conjugate gradients: classes beyond that wait their turn.
_HELD = 2**23
_FLAT = 1e-10


@dataclass(frozen=True)
class _Within:
    """S_W as an operator, in units of the columns."""

    rows: NativeRows
    of: Classes
    means: FloatArray  # (K, d), in the columns' own units
    unit: FloatArray  # (d,) 0 for a constant column: its weight is 0
    averages: sp.csr_array  # (K, n): times X, the means of the classes

    def dot(self, V: FloatArray) -> FloatArray:
        """S_W V for V of shape (d, r)."""
        deep = self.rows.dot(V * self.unit[:, None])
        deep -= (self.averages @ deep)[self.of.codes]
        deep *= self.of.s[:, None]
        # Each class of it sums to 0, so the means need not be taken out again on the way back.
        return self.rows.adjoint(deep) * self.unit[:, None]


def conjugated(rows: NativeRows, of: Classes, shrinkage: str | float | None) -> Directions:
    """The directions of sparse rows; needs shrinkage, without which nothing bounds the number of steps."""
    if shrinkage is None or shrinkage == 0:
        raise ParameterError(
            f"shrinkage={shrinkage!r} needs S_W itself, which {rows.n_columns:,} sparse columns do not fit: "
            "use shrinkage='auto' or a number in (0, 1], select columns, or make X dense."
        )
    averages = of.indicator().multiply(1 / of.counts[:, None]).tocsr()
    means = of.means(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        variances, whole = _variances(rows, of, means)
    if not np.isfinite(whole).all():
        column = int(np.flatnonzero(~np.isfinite(whole))[0])
        raise InputError(f"the squares of column {column} overflow. Scale X, for example by ColumnScaler.")
    live = whole > 0
    if isinstance(shrinkage, float):
        largest = np.sqrt(variances.max(initial=0.0)) or 1.0
        unit = live / largest
        intensity, reason = shrinkage, f"shrunk by {shrinkage:g}, as asked for"
        level = float(np.sum(variances)) / largest**2 / rows.n_columns
        if level == 0 and live.any():
            refuse_still_classes()
    else:
        size = np.sqrt(np.where(variances > STILL**2 * whole, variances, whole))
        unit = np.divide(1.0, size, out=np.zeros_like(size), where=live)
        level = float(np.sum(variances * unit**2)) / max(int(live.sum()), 1)
        intensity = max(_intensity(_Within(rows, of, means, unit, averages), level, int(live.sum())), LEAST)
        level = level or 1.0
        reason = f"too many sparse columns to tell whether S_W is singular; shrunk by {intensity:.4g}"
        reason += " (Ledoit and Wolf)"
    within = _Within(rows, of, means, unit, averages)
    return _solved(within, intensity, level, reason)


def _variances(rows: NativeRows, of: Classes, means: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(d,) variances within classes and of all rows; what is not stored is 0 and counts."""
    X = rows.csr()
    rows_of = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    codes, s = of.codes[rows_of], of.s[rows_of]
    value = X.data.astype(np.float64)
    mean = of.counts @ means / of.total

    def spread(around: FloatArray) -> FloatArray:
        """Of the stored numbers, (K, d) centres given, and of zeros by what they lack of the counts."""
        place = codes * np.int64(X.shape[1]) + X.indices
        size = of.n_classes * X.shape[1]
        stored = np.bincount(place, weights=s, minlength=size).reshape(of.n_classes, -1)
        squares = np.bincount(X.indices, weights=s * (value - around[codes, X.indices]) ** 2,
                              minlength=X.shape[1])  # fmt: skip
        absent = np.maximum(of.counts[:, None] - stored, 0.0)
        return (squares + np.sum(absent * around**2, axis=0)) / of.total

    within, whole = spread(means), spread(np.tile(mean, (of.n_classes, 1)))
    scale = np.sqrt(np.finfo(np.float64).eps) * np.abs(mean)
    return within, np.where(whole > scale**2, whole, 0.0)


def _intensity(within: _Within, level: float, n_live: int) -> float:
    """Ledoit and Wolf's shrinkage; |S|_F^2 is the mean of |S z|^2 over vectors z of random signs."""
    of = within.of
    X = within.rows.csr()
    scaled = within.means * within.unit
    squares_of_rows = X.multiply(X) @ (within.unit**2)
    inner = np.asarray(X @ (scaled * within.unit).T)[np.arange(X.shape[0]), of.codes]
    lengths = np.maximum(squares_of_rows - 2 * inner + np.sum(scaled**2, axis=1)[of.codes], 0.0)
    rng, squares = np.random.default_rng(_SEED), 0.0
    for _ in range(_PROBES // _AT_ONCE):
        z = rng.choice([-1.0, 1.0], size=(within.rows.n_columns, _AT_ONCE)) * (within.unit > 0)[:, None]
        squares += float(np.sum((within.dot(z) / of.total) ** 2)) / _PROBES
    return ledoit_wolf(float(of.s @ lengths**2), squares, level, n_live, of.total)


def _solved(within: _Within, intensity: float, level: float, reason: str) -> Directions:
    of = within.of
    centre = of.counts @ within.means / of.total
    D = (np.sqrt(of.counts / of.total)[:, None] * (within.means - centre) * within.unit).T
    Y, steps, residual = np.empty_like(D), 0, 0.0
    at_once = max(1, _HELD // len(D))
    for first in range(0, of.n_classes, at_once):
        part = slice(first, first + at_once)
        Y[:, part], taken, left = _conjugate_gradients(
            within, intensity, level, np.ascontiguousarray(D[:, part])
        )
        steps, residual = max(steps, taken), max(residual, left)
    if residual > 1e3 * _TOL:
        warnings.warn(
            f"FisherDiscriminant stopped after {steps} steps of conjugate gradients with a relative residual "
            f"of {residual:.1e}. More shrinkage than {intensity:g} makes the equations easier.",
            NotCertifiedWarning,
            stacklevel=4,
        )
    inner = D.T @ Y
    eigenvalues, vectors = linalg.eigh((inner + inner.T) / 2)
    order = np.argsort(-eigenvalues)[: of.n_classes - 1]
    order = order[eigenvalues[order] > _FLAT * max(float(eigenvalues.max()), 0.0)]
    eigenvalues = eigenvalues[order]
    weights = Y @ vectors[:, order] / np.sqrt(eigenvalues) * within.unit[:, None]
    weights *= signs((within.means - centre) @ weights)
    return Directions(weights, eigenvalues, intensity, f"{reason}; {steps} steps of conjugate gradients")


def _conjugate_gradients(
    within: _Within, intensity: float, level: float, D: FloatArray
) -> tuple[FloatArray, int, float]:
    """((1 - g) S_W / N + g level I) Y = D for all columns of D at once, with the number of steps taken."""

    def product(V: FloatArray) -> FloatArray:
        return (1 - intensity) / within.of.total * within.dot(V) + intensity * level * V

    Y, R = np.zeros_like(D), D.copy()
    P, squares = R.copy(), np.sum(R * R, axis=0)
    goal = np.maximum(squares * _TOL**2, np.finfo(np.float64).tiny)
    steps = 0
    while steps < _MOST_STEPS and (squares > goal).any():
        Q = product(P)
        bend = np.sum(P * Q, axis=0)
        step = np.divide(squares, bend, out=np.zeros_like(bend), where=bend > 0)
        Y += step * P
        R -= step * Q
        now = np.sum(R * R, axis=0)
        P = R + np.divide(now, squares, out=np.zeros_like(now), where=squares > 0) * P
        squares, steps = now, steps + 1
    exact = D - product(Y)
    lengths = np.sqrt(np.maximum(np.sum(D * D, axis=0), np.finfo(np.float64).tiny))
    return Y, steps, float(np.max(np.sqrt(np.sum(exact * exact, axis=0)) / lengths, initial=0.0))
