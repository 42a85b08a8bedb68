"""How many of the unlabelled rows are positive, told from scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lineal.errors import InputError
from lineal.objective.losses import FloatArray

_FOLDS = 5
# Bounds hold in nine samples of ten.
_RISK = 0.1
# How much more than its bound the slack of the best bin counts (Garg et al. 2021).
_MORE = 1.01

# (rows to fit, rows to score) -> scores.
Scored = Callable[[NDArray[np.intp], NDArray[np.intp]], FloatArray]


@dataclass(frozen=True)
class PriorEstimate:
    """The share of positives among the unlabelled rows, from the best bin of scores.

    Of any set of scores, the unlabelled rows must have at least pi times the share that the positives have,
    since a share pi of them is positive. So the smallest ratio of the two bounds pi from above, and is pi
    itself if some scores are reached by positives alone.

    Attributes
    ----------
    prior : float
        The ratio in the best bin, {score >= threshold}.
    upper : float
        No larger prior is compatible with the scores, at 90 %.
    threshold : float
    share_of_positives, share_of_unlabelled : float
        What lies in the best bin.
    """

    prior: float
    upper: float
    threshold: float
    share_of_positives: float
    share_of_unlabelled: float

    def __str__(self) -> str:
        return (
            f"{self.prior:.4g} of the unlabelled rows are positive (at most {self.upper:.4g} at 90 %): "
            f"scores from {self.threshold:.4g} up have {self.share_of_positives:.4g} of the positives and "
            f"{self.share_of_unlabelled:.4g} of the unlabelled"
        )


def estimate_prior(is_positive: NDArray[np.bool_], s: FloatArray, scored: Scored, seed: int) -> PriorEstimate:
    """Scores every row by a model of the other folds, and takes the best bin of scores.

    Costs five fits of labelled against unlabelled rows. Assumes that labelled rows are drawn from all
    positives at random, and that unlabelled rows are a sample of all; without scores that positives alone
    reach, the estimate is too high.
    """
    z = _held_out(is_positive & (s > 0), ~is_positive & (s > 0), scored, seed)
    return best_bin(z[is_positive], z[~is_positive], s[is_positive], s[~is_positive])


def best_bin(
    positives: FloatArray, unlabelled: FloatArray, s_positives: FloatArray, s_unlabelled: FloatArray
) -> PriorEstimate:
    """The estimate from scores and weights of both kinds of rows (Garg et al. 2021, best bin estimation)."""
    thresholds = np.unique(positives[s_positives > 0])
    p = _share_from(thresholds, positives, s_positives)
    u = _share_from(thresholds, unlabelled, s_unlabelled)
    slack_p, slack_u = (np.sqrt(np.log(4 / _RISK) / (2 * _size(s))) for s in (s_positives, s_unlabelled))
    best = int(np.argmin((u + _MORE * (slack_p + slack_u)) / p))
    known = p > slack_p
    upper = float(np.min((u + slack_u)[known] / (p - slack_p)[known], initial=1.0))
    # A prior of 0 or 1 leaves nothing to learn: half a row stands for none.
    edge = 0.5 / (_size(s_unlabelled) + 1)
    prior = float(np.clip(u[best] / p[best], edge, 1 - edge))
    return PriorEstimate(prior, max(upper, prior), float(thresholds[best]), float(p[best]), float(u[best]))


def _share_from(thresholds: FloatArray, z: FloatArray, s: FloatArray) -> FloatArray:
    """The share of the weight at or above each threshold."""
    order = np.argsort(z, kind="stable")
    below = np.concatenate([[0.0], np.cumsum(s[order])])
    return np.asarray(1 - below[np.searchsorted(z[order], thresholds, side="left")] / below[-1])


def _size(s: FloatArray) -> float:
    """How many equal rows weigh in like these (Kish)."""
    return float(s.sum() ** 2 / (s @ s))


def _held_out(
    is_positive: NDArray[np.bool_], is_unlabelled: NDArray[np.bool_], scored: Scored, seed: int
) -> FloatArray:
    counts = [int(np.count_nonzero(kind)) for kind in (is_positive, is_unlabelled)]
    n_folds = min(_FOLDS, *counts)
    if n_folds < 2:
        raise InputError(
            f"to estimate the prior takes at least 2 labelled and 2 unlabelled rows, got {counts[0]} and "
            f"{counts[1]}: give prior=."
        )
    rng = np.random.default_rng(seed)
    fold = np.zeros(len(is_positive), dtype=np.intp)  # rows without weight go anywhere
    for kind in (is_positive, is_unlabelled):
        places = rng.permutation(np.flatnonzero(kind))
        fold[places] = np.arange(len(places)) % n_folds
    z = np.empty(len(fold))
    for k in range(n_folds):
        z[fold == k] = scored(np.flatnonzero(fold != k), np.flatnonzero(fold == k))
    return z
