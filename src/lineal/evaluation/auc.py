"""The area under the ROC curve, its variance and its test by DeLong's placements, in O(n log n).

The placement of a positive row is the share of negatives that score below it, ties counting a half; that of a
negative is the share of positives above it. The area is the mean of either. Positives and negatives vary
independently, so var(AUC) is the variance of each kind of placement over its number, added up. With weights
all shares are weighted.

The interval is Wilson's, at the number of independent rows that would have this variance (Korn and Graubard
1998). A sample in which all rows but a few are in order says little of how far out the next row will be, and
one such row moves the area more than the variance shows. So each end allows for a part of one row more of
each kind, half way between the furthest that was seen and the furthest that can be, as ends of means with a
bound do (``skewed_means``).

For K > 2 classes the area is the mean of the K areas of one class against the rest. A row has a placement in
each of them, and the sum of all these, class by class, has the variance: for K = 2 this is DeLong's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.errors import InputError
from lineal.evaluation.influence import Linearised, difference_test
from lineal.evaluation.inputs import checked_confidence, one_sample
from lineal.evaluation.intervals import wilson_ends
from lineal.evaluation.predictions import checked_labels
from lineal.evaluation.records import Interval, Significance
from lineal.evaluation.resampling import RowWeights
from lineal.evaluation.skewed_means import UNSEEN_BOUNDED
from lineal.evaluation.wording import counted
from lineal.objective.losses import FloatArray


def placements(scores: FloatArray, is_positive: NDArray[np.bool_], s: FloatArray) -> FloatArray:
    """(n,) for each row the weighted share of the other kind that it is ordered rightly against."""
    values, code = np.unique(scores, return_inverse=True)
    heights = [
        np.bincount(code, weights=s * kind, minlength=len(values)) for kind in (~is_positive, is_positive)
    ]
    below, above = ((np.cumsum(h) - 0.5 * h)[code] / h.sum() for h in heights)
    return np.where(is_positive, below, 1 - above)


@dataclass(frozen=True, eq=False)
class Area(Linearised):
    """An area; ``terms`` have mean 0 within each class.

    Attributes
    ----------
    sizes : (2,) floats
        Informative rows of the rarer and of the other kind.
    below, above : (K,) arrays
        For each class, by how much one row more would lower the area, or raise it, that is half way between
        the furthest of its rows and the bound.
    lone : tuple of floats
        For each kind that has one row: A, or 1 - A if it is the positive one. Of a mean of areas each counts
        for ``share``.
    """

    sizes: tuple[float, float]
    below: FloatArray
    above: FloatArray
    lone: tuple[float, ...] = ()
    share: float = 1.0

    def unseen(self, other: Linearised) -> float:
        """The variance of the placements of rows that are the only ones of their kind.

        Two rows would show it. With scores that are exponential (Hanley and McNeil 1982) it is Q - A² with
        Q = 2A²/(1 + A) for a negative row, and the same with 1 - A for a positive one. Where two areas differ
        and no row varies in either, 1 and 0, all of the variance is theirs.
        """
        if not isinstance(other, Area):
            return 0.0
        if abs(self.value - other.value) > 1e-12 and max(self.seen, other.seen) < 1e-24:
            return _deviation(0.5 * (self.value + other.value), *self.sizes) ** 2
        area = 0.5 * (np.array(self.lone) + np.array(other.lone))
        return float(self.share**2 * np.sum(area**2 * (1 - area) / (1 + area)))

    def interval(self, confidence: float) -> Interval:
        """Wilson's, where each end has a variance of its own."""
        low, high = (
            wilson_ends(np.array(self.value), np.array(self._size(moves)), confidence)[side]
            for side, moves in enumerate((-self.below, self.above))
        )
        return Interval(float(low), float(high), confidence, "DeLong (Wilson)")

    def _size(self, moves: FloatArray) -> float:
        """How many independent rows would have the variance, with part of a row that moves the area so."""
        near = self.value + UNSEEN_BOUNDED * float(moves.sum())
        variance = self.variance + UNSEEN_BOUNDED * float(np.sum(moves**2))
        return near * (1 - near) / variance if variance > 1e-24 else np.inf


def binary_area(scores: FloatArray, is_positive: NDArray[np.bool_], weights: RowWeights) -> Area:
    """The area of one score that should be high for positives."""
    return _area(placements(scores, is_positive, weights.s), is_positive, weights)


def _area(placed: FloatArray, is_positive: NDArray[np.bool_], weights: RowWeights) -> Area:
    s = weights.s
    value = float(np.average(placed[is_positive], weights=s[is_positive]))
    terms, lone, further = np.zeros(len(s)), [], []
    for kind, area in ((is_positive, 1 - value), (~is_positive, value)):
        own = weights.take(kind)
        terms[kind] = _deviations(placed[kind], own)
        further.append(_further(placed[kind], own, 1.0))
        lone += [area] if _is_lone(own.size()) else []
    few, many = sorted((weights.size(is_positive), weights.size(~is_positive)))
    below, above = np.transpose(further)
    return Area(value, terms, (few, many), below, above, tuple(lone))


def _is_lone(size: float) -> bool:
    return size <= 1 + 1e-9


def _deviations(values: FloatArray, weights: RowWeights) -> FloatArray:
    """Terms whose sum of squares is the variance of a weighted mean, with n - 1 as DeLong has it."""
    total = weights.s.sum()
    apart = values - np.average(values, weights=weights.s)
    size = weights.size()
    return np.sqrt(weights.variances()) * apart / total * np.sqrt(size / max(size - 1, 0.5))


def _further(values: FloatArray, weights: RowWeights, most: float) -> tuple[float, float]:
    """How far below and above their mean one row more moves it, half way to 0 and to the most possible."""
    mean, size = float(np.average(values, weights=weights.s)), weights.size()
    counted = values[weights.s > 0]
    lowest, highest = 0.5 * counted.min(), 0.5 * (counted.max() + most)
    return (mean - lowest) / size, (highest - mean) / size


def macro_area(scores: FloatArray, codes: NDArray[Any], weights: RowWeights) -> Area:
    """The mean area of one class against the rest, over the classes that occur; scores is (n, K)."""
    present = np.unique(codes)
    sums, value, lone, s = np.zeros(len(codes)), 0.0, [], weights.s
    total = s.sum()
    for k in present.tolist():
        is_k = codes == k
        placed = placements(scores[:, k], is_k, s)
        mine = s[is_k].sum()
        area = float(np.average(placed[is_k], weights=s[is_k]))
        value += area / len(present)
        lone += [1 - area] if _is_lone(weights.size(is_k)) else []
        sums += placed / np.where(is_k, mine, total - mine) / len(present)
    terms, further = np.zeros(len(codes)), []
    # A row counts as one of its class in one area, and as one of the rest in all others.
    rest = np.array([1 / (total - s[codes == k].sum()) for k in present.tolist()])
    for k, own_rest in zip(present.tolist(), rest.tolist(), strict=True):
        is_k = codes == k
        own, mine = weights.take(is_k), s[is_k].sum()
        terms[is_k] = _deviations(sums[is_k], own) * mine
        most = (1 + mine * (rest.sum() - own_rest)) / len(present)
        further.append(_further(sums[is_k] * mine, own, most))
    rarest = min(weights.size(codes == k) for k in present.tolist())
    sizes = rarest, weights.size() - rarest
    below, above = np.transpose(further)
    return Area(value, terms, sizes, below, above, tuple(lone), share=1 / len(present))


def _deviation(area: float, m: float, n: float) -> float:
    """Of an area from m and n rows, if the scores are exponential (Hanley and McNeil 1982)."""
    pairs = (m + n) / 2 - 1
    inner = 1 + pairs * ((1 - area) / (2 - area) + area / (1 + area))
    return float(np.sqrt(max(area * (1 - area) * inner, 0.0) / (m * n)))


def delong_test(
    y_true: ArrayLike,
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    *,
    positive: Any = None,
    confidence: float = 0.95,
) -> Significance:
    """Whether two areas under the ROC curve on the same rows differ (DeLong, DeLong and Clarke-Pearson 1988).

    Parameters
    ----------
    y_true : (n,) labels of two kinds
    scores_a, scores_b : (n,) numbers
        Larger for rows that are more likely positive. The two need not be on one scale.
    positive : label, optional
        The positive label; not given, the last in sorted order.
    confidence : float

    Returns
    -------
    Significance

    Examples
    --------
    >>> from lineal.evaluation import delong_test
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> print(delong_test(y, [1, 2, 3, 5, 4, 6, 7, 8], [3, 1, 6, 5, 2, 7, 8, 4]))
    DeLong's test on 8 rows: z = 1.414, p = 0.16; difference 0.2500 (95 % interval -0.0965 .. 0.5965); \
Cohen's d 0.5000.
    """
    confidence = checked_confidence(confidence)
    is_positive = two_kinds("DeLong's test", y_true, positive)
    pair = []
    for name, scores in (("scores_a", scores_a), ("scores_b", scores_b)):
        values = one_sample(name, scores)
        if len(values) != len(is_positive):
            raise InputError(f"{name} has {len(values)} numbers for {len(is_positive)} labels.")
        pair.append(binary_area(values, is_positive, RowWeights.of(None, len(values))))
    return difference_test(
        pair[0], pair[1], confidence, f"DeLong's test on {counted(len(is_positive), 'row')}"
    )


def two_kinds(what: str, y_true: Any, positive: Any = None) -> NDArray[np.bool_]:
    """Which rows are positive; both kinds must occur."""
    labels = checked_labels("y_true", y_true)
    kinds = sorted(set(labels.tolist()), key=lambda label: (str(type(label)), label))
    if len(kinds) != 2:
        found = ", ".join(map(repr, kinds[:5]))
        raise InputError(
            f"{what} needs rows of two kinds, but y_true has {len(kinds)}: {found}. "
            "Pass y_true == label for one kind against the others."
        )
    if positive is not None and positive not in kinds:
        raise InputError(f"positive={positive!r} is not among the labels {kinds}.")
    return np.asarray(labels == (kinds[1] if positive is None else positive))
