"""What every threshold of a score calls positive, as scikit-learn counts it, which takes long to import.

``tests/agreement`` holds these functions to scikit-learn's of the same names.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lineal.objective.losses import FloatArray

Curve = tuple[FloatArray, FloatArray, FloatArray]


def roc_points(is_positive: NDArray[np.bool_], scores: FloatArray, s: FloatArray) -> Curve:
    """False and true positive rates at falling thresholds, without points on straight lines.

    The first threshold is infinite: nothing is called positive.
    """
    false, true, thresholds = _counts(is_positive, scores, s)
    if len(false) > 2:
        is_corner = (np.diff(false, 2) != 0) | (np.diff(true, 2) != 0)
        kept = np.concatenate([[True], is_corner, [True]])
        false, true, thresholds = false[kept], true[kept], thresholds[kept]
    false, true = np.concatenate([[0.0], false]), np.concatenate([[0.0], true])
    return false / false[-1], true / true[-1], np.concatenate([[np.inf], thresholds])


def precision_recall_points(is_positive: NDArray[np.bool_], scores: FloatArray, s: FloatArray) -> Curve:
    """Precision and recall at rising thresholds, without points between which only precision changes."""
    false, true, thresholds = _counts(is_positive, scores, s)
    if len(false) > 2:
        is_step = (np.diff(true[:-1]) != 0) | (np.diff(true[1:]) != 0)
        kept = np.concatenate([[True], is_step, [True]])
        false, true, thresholds = false[kept], true[kept], thresholds[kept]
    return (true / (true + false))[::-1], (true / true[-1])[::-1], thresholds[::-1]


def average_precision(is_positive: NDArray[np.bool_], scores: FloatArray, s: FloatArray) -> float:
    """The mean of precision over the steps of recall."""
    false, true, _ = _counts(is_positive, scores, s)
    steps = np.diff(np.concatenate([[0.0], true / true[-1]]))
    return max(0.0, float(np.sum(steps * (true / (true + false)))))


def _counts(is_positive: NDArray[np.bool_], scores: FloatArray, s: FloatArray) -> Curve:
    """The weights of negatives and of positives at or above each score, from the highest on."""
    counted = s != 0
    is_positive, scores, s = is_positive[counted], scores[counted], s[counted]
    order = np.argsort(scores, kind="stable")[::-1]
    is_positive, scores, s = is_positive[order], scores[order], s[order]
    last = np.concatenate([np.flatnonzero(np.diff(scores)), [len(scores) - 1]])
    true, false = (np.cumsum(np.where(kind, s, 0.0))[last] for kind in (is_positive, ~is_positive))
    return false, true, scores[last]
