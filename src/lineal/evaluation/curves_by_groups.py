"""Intervals at every point of a curve where rows come in groups (see ``by_groups``).

A rate at a threshold is A / B, sums over groups g of A_g and B_g, and its variance is that of the sum of
A_g - rate B_g. As the threshold falls, rows join one by one, and the sums of A_g², A_g B_g and B_g² over
groups follow from what each row's group had before: all points in O(n log n).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lineal.evaluation.auc import Area
from lineal.evaluation.by_groups import (
    Groups,
    blocks_left_out,
    jackknife_ends,
    share_by_groups,
    terms_left_out,
    wilson_by_groups,
)
from lineal.evaluation.records import Interval
from lineal.evaluation.thresholds import average_precision
from lineal.objective.losses import FloatArray

Ends = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class GroupedCurve:
    """Rows with a number each, in groups.

    Attributes
    ----------
    groups : Groups
    values, s : (n,) arrays
        Rows are called positive from the highest value on; how much they count.
    is_positive : (n,) array
    confidence : float
    """

    groups: Groups
    values: FloatArray
    s: FloatArray
    is_positive: NDArray[np.bool_]
    confidence: float

    def shares_called(self, kind: NDArray[np.bool_], rates: FloatArray, thresholds: FloatArray) -> Ends:
        """For the share of rows of a kind that is at or above each threshold."""
        own = self.s * kind
        heights = np.bincount(self.groups.codes, weights=own, minlength=self.groups.n_groups)
        order, place = self._called(thresholds)
        squares = _running(self.groups.codes[order], own[order], own[order])[place]
        crossed = np.r_[0.0, np.cumsum(own[order] * heights[self.groups.codes[order]])][place]
        n_groups = np.full(len(place), np.count_nonzero(heights))
        return self._ends(
            rates, squares, crossed, float(heights @ heights), np.array(heights.sum()), n_groups
        )

    def shares_right(self, rates: FloatArray, thresholds: FloatArray) -> Ends:
        """For the share of positives among the rows at or above each threshold."""
        order, place = self._called(thresholds)
        codes, whole = self.groups.codes[order], self.s[order]
        right = whole * self.is_positive[order]
        squares, crossed, both = (
            _running(codes, x, y)[place] for x, y in ((right, right), (right, whole), (whole, whole))
        )
        counted = np.flatnonzero(whole > 0)
        is_new = np.zeros(len(codes))
        is_new[counted[np.unique(codes[counted], return_index=True)[1]]] = 1
        n_groups = np.r_[0.0, np.cumsum(is_new)][place].astype(np.int64)
        return self._ends(rates, squares, crossed, both, np.r_[0.0, np.cumsum(whole)][place], n_groups)

    def _called(self, thresholds: FloatArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        order = np.argsort(-self.values, kind="stable")
        return order, np.searchsorted(-self.values[order], -thresholds, side="right")

    def _ends(
        self,
        rates: FloatArray,
        squares: FloatArray,
        crossed: FloatArray,
        both: FloatArray | float,
        total: FloatArray,
        n_groups: NDArray[np.int64],
    ) -> Ends:
        """From the sums of A_g², A_g B_g and B_g², the sum of B_g and the number of groups."""
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = np.maximum(squares - 2 * rates * crossed + rates**2 * both, 0.0)
            # What rounding leaves of 0 is no variance.
            apart = np.where(apart > 1e-12 * np.maximum(squares, rates**2 * both), apart, 0.0)
            variances = apart / total**2 * n_groups / np.maximum(n_groups - 1, 1)
            return wilson_by_groups(
                rates, variances, n_groups - 1, np.nan_to_num(total**2 / both), self.confidence
            )

    def area(self, found: Area) -> Interval:
        """Of the area under the ROC curve."""
        changes = terms_left_out([found.terms], self.groups)
        return jackknife_ends(found.value, changes, self.groups.size(self.s), (0.0, 1.0), self.confidence)

    def average_precision(self, value: float) -> Interval:
        """Of the average precision, computed anew without each block of groups."""
        changes = []
        for rows in blocks_left_out(self.groups):
            if self.s[rows] @ self.is_positive[rows] > 0:
                left = average_precision(self.is_positive[rows], self.values[rows], self.s[rows])
                changes.append(left - value)
        n_units = self.groups.size(self.s * self.is_positive)
        return jackknife_ends(value, np.array(changes), n_units, (0.0, 1.0), self.confidence)

    def bins(self, place: NDArray[np.intp], used: NDArray[np.intp]) -> Ends:
        """For the share of positives in each of the bins used."""
        found = []
        for bin_ in used.tolist():
            rows = np.flatnonzero((place == bin_) & (self.s > 0))
            own = self.groups.take(rows)
            found.append(share_by_groups(own, self.s[rows], self.is_positive[rows], self.confidence))
        return np.array([ends.low for ends in found]), np.array([ends.high for ends in found])


def _running(codes: NDArray[np.int64], x: FloatArray, y: FloatArray) -> FloatArray:
    """(n + 1,) the sum over groups of X_g Y_g of the first 0, 1, ..., n rows."""
    added = _before(codes, x) * y + _before(codes, y) * x + x * y
    return np.concatenate([[0.0], np.cumsum(added)])


def _before(codes: NDArray[np.int64], x: FloatArray) -> FloatArray:
    """(n,) what the rows of the same group before each row add up to."""
    order = np.argsort(codes, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(x[order])])
    first = np.searchsorted(codes[order], codes[order], side="left")
    found = np.empty(len(x))
    found[order] = sums[:-1] - sums[first]
    return found
