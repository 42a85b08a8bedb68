"""Means and squares of each column in a class and in all others, without cancellation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.features import moments
from lineal.features.labelled import Labelled
from lineal.objective.linear_maps import native_dense

FloatArray = NDArray[np.float64]
# Squares about the first row tell those about the means where each class is left with this share of them, and
# where a column's spread is at least this share of where it lies.
_KEPT, _LEAST_SPREAD = 1e-3, 2.0**-24


@dataclass(frozen=True)
class Group:
    """Some rows: their weight, and the means and squares about them of a block of columns."""

    weight: float
    mean: FloatArray
    squares: FloatArray

    def joined(self, other: Group) -> Group:
        """Both together (Chan, Golub and LeVeque 1983); nothing is subtracted from squares."""
        weight = self.weight + other.weight
        if weight == 0:
            return self
        apart, share = other.mean - self.mean, other.weight / weight
        squares = self.squares + other.squares + (self.weight * share) * (apart * apart)
        return Group(weight, self.mean + share * apart, squares)


@dataclass(frozen=True)
class ClassMoments:
    """Of each class and column."""

    weight: FloatArray  # (n_classes,)
    mean: FloatArray  # (n_classes, n_columns)
    squares: FloatArray  # (n_classes, n_columns) sums of s (x - mean)^2

    def groups(self, columns: slice) -> list[Group]:
        """One for each class."""
        return [
            Group(float(weight), self.mean[k, columns], self.squares[k, columns])
            for k, weight in enumerate(self.weight)
        ]

    def against_others(self, columns: slice) -> list[tuple[Group, Group]]:
        """Each class that has rows, and all others joined, where those have rows too."""
        groups = self.groups(columns)
        nothing = Group(0.0, np.zeros_like(groups[0].mean), np.zeros_like(groups[0].squares))
        before, behind = [nothing], [nothing]
        for group in groups[:-1]:
            before.append(before[-1].joined(group))
        for group in groups[:0:-1]:
            behind.append(behind[-1].joined(group))
        others = [a.joined(b) for a, b in zip(before, behind[::-1], strict=True)]
        pairs = zip(groups, others, strict=True)
        return [(group, rest) for group, rest in pairs if group.weight > 0 and rest.weight > 0]

    def all_rows(self, columns: slice) -> Group:
        """All classes joined."""
        first, *rest = self.groups(columns)
        for group in rest:
            first = first.joined(group)
        return first


def moments_in_units(
    data: Labelled, numbers: FloatArray | None = None
) -> tuple[ClassMoments, NDArray[np.bool_], FloatArray]:
    """Of each column times a power of two that brings it to about 1, seen from a number of its own.

    Also which columns have but one value, and the columns' products with ``s numbers``, which add up to 0;
    none without numbers.
    """
    found = _in_one_pass(data, numbers)
    if found is not None:
        return found
    data, has_one_value = in_units(data)
    of, product = class_moments(data), np.zeros(0)
    if numbers is not None:
        product = data.rows.adjoint((data.s * numbers)[:, None])[:, 0]
        product -= of.all_rows(slice(None)).mean * float(data.s @ numbers)  # which is rounding
    return of, has_one_value, product


def _in_one_pass(
    data: Labelled, numbers: FloatArray | None
) -> tuple[ClassMoments, NDArray[np.bool_], FloatArray] | None:
    """The same of ordinary dense columns; None where squares about the first row would lose digits."""
    if (X := data.rows.dense) is None or not len(X):
        return None
    shape = (data.n_classes, data.n_columns)
    sums, squares = np.empty(shape), np.empty(shape)
    t = np.zeros(0) if numbers is None else numbers
    product = np.empty(0 if numbers is None else data.n_columns)
    _core.column_moments(data.rows.matrix, data.codes, data.s, t, sums, squares, product, data.rows.n_threads)
    n = data.totals[:, None]
    mean = np.divide(sums, n, out=np.zeros(shape), where=n > 0)
    with np.errstate(over="ignore", invalid="ignore"):
        origin, about = np.abs(X[0].astype(np.float64)), squares.sum(axis=0)
        size = np.sqrt(about / n.sum())
        inside = squares - sums * mean
    varies = about > 0
    is_ordinary = (size >= _LEAST_SPREAD * origin) & (size > 1e-100) & (size < 1e100)
    if not (is_ordinary | ~varies).all() or not (inside >= _KEPT * squares).all():
        return None
    unit = np.ldexp(1.0, -np.frexp(np.maximum(origin, size))[1])
    return ClassMoments(n[:, 0], mean * unit, inside * unit**2), ~varies, product * unit[: len(product)]


def in_units(data: Labelled) -> tuple[Labelled, NDArray[np.bool_]]:
    """Each column times a power of two that brings it to about 1, and which columns have but one value.

    A column without zeros begins at 0, since nothing here asks where it lies: an offset that is far larger
    than what varies would leave no digits for that.
    """
    if (X := data.rows.dense) is not None:
        of = moments.ranges(X, data.s)
        units = native_dense(X * of.unit - of.least, data.rows.n_threads)
        return replace(data, rows=units), of.least == of.greatest
    # ufunc.at is fast only where types need no conversion.
    column, value = data.matrix.indices.astype(np.intp), data.matrix.data.astype(np.float64)
    least, greatest = np.full(data.n_columns, np.inf), np.full(data.n_columns, -np.inf)
    np.minimum.at(least, column, value)
    np.maximum.at(greatest, column, value)
    n_stored = np.bincount(column, minlength=data.n_columns)
    is_full = n_stored == data.matrix.shape[0]
    size = np.where(n_stored > 0, np.maximum(np.abs(least), np.abs(greatest)), 1.0)
    unit = np.ldexp(1.0, -np.clip(np.frexp(size)[1], -1000, 1000))
    offset = np.where(is_full, least, 0.0) * unit
    is_constant = (n_stored == 0) | (is_full & (least == greatest))
    return data.with_values(value * unit[column] - offset[column]), is_constant


def class_moments(data: Labelled) -> ClassMoments:
    """Three passes over what is stored; the numbers should be in units."""
    n = data.totals[:, None]
    mean, _ = data.sums()
    np.divide(mean, n, out=mean, where=n > 0)
    squares = data.deviations(mean)
    if data.rows.is_sparse:  # what is not stored is 0
        squares += np.maximum(n - data.stored(), 0.0) * mean**2
    return ClassMoments(n[:, 0], mean, squares)
