"""Directions that part classes best: S_B w = mu S_W w, and how S_W is shrunk where it must be.

The scatter within classes, S = S_W / N, may be shrunk towards a matrix T of full rank: (1 - g) S + g T. A
given g takes T = (tr S / d) I in the units of the data. Ledoit and Wolf's g (2004) minimises the expected
squared error of the estimate; it takes T = the mean variance in units of the deviations within classes, so
that it does not depend on the units of the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from lineal.deferred import linalg
from lineal.errors import InputError
from lineal.learners.fisher.scatter import Classes, Scatter
from lineal.objective.losses import FloatArray

# Shares of the largest below which a number is rounding: of singular values per column, and of directions.
_RANK, _FLAT = 32 * np.finfo(np.float64).eps, 1e-10
# The least shrinkage that makes a singular scatter regular.
LEAST = 1e-6


@dataclass(frozen=True)
class Directions:
    """What was found, with what shrinkage and why.

    Attributes
    ----------
    scalings : (d, r) array
        Weights of the columns for each direction; the projected scatter within classes is the identity.
    eigenvalues : (r,) array
        mu, falling: how far the class means scatter along each direction, beside the classes themselves.
    shrinkage : float
    reason : str
    """

    scalings: FloatArray
    eigenvalues: FloatArray
    shrinkage: float
    reason: str


def factorised(scatter: Scatter, of: Classes, shrinkage: str | float | None, n_columns: int) -> Directions:
    """The directions from a scatter's root, by singular values."""
    q = scatter.root.shape[1]
    gains, axes = _decomposed(scatter.root)
    rank = int(np.sum(gains > _RANK * max(q, 1) * gains.max(initial=0.0)))
    state = f"S_W has rank {rank} of {scatter.n_live}"
    is_singular = rank < scatter.n_live
    intensity = 0.0
    if isinstance(shrinkage, float):
        intensity, reason = shrinkage, f"shrunk by {shrinkage:g}, as asked for"
        ridge = np.sqrt(intensity * scatter.trace / n_columns) / scatter.size
    elif shrinkage == "ledoit_wolf" or (shrinkage == "auto" and is_singular):
        intensity = _ledoit_wolf(scatter, of, gains)
        intensity = max(intensity, LEAST) if is_singular else intensity
        reason = f"{state}; shrunk by {intensity:.4g} (Ledoit and Wolf)"
        level = float(np.sum(gains**2)) / max(scatter.n_live, 1) or of.total
        ridge = np.full(q, np.sqrt(intensity * level))
    elif is_singular:
        reason = f"{state}: directions in which no class varies play no part"
    else:
        reason = "S_W has full rank and is not shrunk"
    beyond = 0.0
    if intensity > 0:
        if q and np.ptp(ridge) == 0:  # a multiple of the identity turns no axis
            gains, beyond = np.hypot(np.sqrt(1 - intensity) * gains, ridge[0]), float(ridge[0])
        else:
            gains, axes = _decomposed(np.vstack([np.sqrt(1 - intensity) * scatter.root, np.diag(ridge)]))
        rank = int(np.sum(gains > 0))
    return _directions(scatter, of, _Whitening(axes[:rank], gains[:rank], beyond), intensity, reason)


@dataclass(frozen=True)
class _Whitening:
    """The symmetric root of the inverse of a scatter with these axes and gains.

    ``beyond`` is its gain in all directions that are none of the axes; 0 leaves those out.
    """

    axes: FloatArray
    gains: FloatArray
    beyond: float

    def of(self, A: FloatArray) -> FloatArray:
        """(k, q) rows, in coordinates in which the scatter is round."""
        along = A @ self.axes.T
        if not self.beyond:
            return (along / self.gains) @ self.axes
        return (along / self.gains) @ self.axes + (A - along @ self.axes) / self.beyond


def _directions(
    scatter: Scatter, of: Classes, whitening: _Whitening, intensity: float, reason: str
) -> Directions:
    """Where the class means scatter most, once the classes themselves are round."""
    means = np.sqrt(of.counts)[:, None] * scatter.means
    lengths, axes = _decomposed(np.sqrt(of.total) * whitening.of(means))
    lengths, axes = lengths[: of.n_classes - 1], axes[: of.n_classes - 1]
    if not lengths.max(initial=0.0) > _FLAT * _size(means):
        lengths = lengths[:0]
        if _size(means) > np.sqrt(of.total) * _FLAT:
            refuse_still_classes()
    r = int(np.sum(lengths > _FLAT * lengths.max(initial=0.0)))
    weights = np.sqrt(of.total) * whitening.of(axes[:r]).T
    weights = weights * signs(scatter.means @ weights)
    return Directions(scatter.columns(weights), lengths[:r] ** 2 / of.total, intensity, reason)


def refuse_still_classes() -> NoReturn:
    """Means differ, but no class varies in those directions, and nothing was put in S_W's place there."""
    raise InputError(
        "the class means differ only where no class varies: S_W is 0 there, and shrinkage=None "
        "or towards tr S_W = 0 does not change that. Use shrinkage='auto'."
    )


def signs(projected: FloatArray) -> FloatArray:
    """+-1 for each direction: of two classes the second is positive, of more the one farthest out."""
    if len(projected) == 2:
        return np.where(projected[1] >= projected[0], 1.0, -1.0)
    farthest = np.abs(projected).argmax(axis=0)
    return np.where(projected[farthest, np.arange(projected.shape[1])] >= 0, 1.0, -1.0)


def _decomposed(A: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Singular values and right singular vectors; none of a matrix without columns."""
    if 0 in A.shape:
        return np.zeros(0), np.zeros((0, A.shape[1]))
    _, gains, axes = linalg.svd(A, full_matrices=False, check_finite=False)
    return gains, axes


def _size(A: FloatArray) -> float:
    return float(np.linalg.norm(A))


def _ledoit_wolf(scatter: Scatter, of: Classes, gains: FloatArray) -> float:
    squares = float(np.sum(gains**4)) / of.total**2
    level = float(np.sum(gains**2)) / of.total / max(scatter.n_live, 1)
    return ledoit_wolf(scatter.fourth_moment(), squares, level, scatter.n_live, of.total)


def ledoit_wolf(fourth: float, squares: float, level: float, n_columns: int, total: float) -> float:
    """The shrinkage of least expected squared error.

    Parameters
    ----------
    fourth : sum_i s_i |a_i|^4
    squares : |S|_F^2, of the covariance S
    level : tr S / n_columns
    n_columns, total : the number of columns, and of rows by weight
    """
    error = (fourth / total - squares) / total
    distance = squares - n_columns * level**2
    if level == 0:
        return 1.0
    return float(min(max(error, 0.0) / distance, 1.0)) if distance > 0 else float(error > 0)
