"""Naive Bayes for numbers: a normal distribution for each class and column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal import _core
from lineal.errors import InputError, ParameterError
from lineal.learners.bayes.base import class_weights
from lineal.learners.bayes.counts import MatrixNaiveBayes, grown, stored, with_values
from lineal.learners.presets.dialect import not_negative
from lineal.objective.linear_maps import NativeRows, native_dense
from lineal.objective.losses import FloatArray

# Sizes of numbers whose squares neither overflow nor vanish; columns beyond are seen in other units.
_LEAST, _GREATEST = 1e-100, 1e100
_BLOCK = 1 << 16  # numbers at a time, so that differences from means stay in a cache


@dataclass(frozen=True)
class Spread:
    """Means and squared deviations by class, in units, powers of two: value * unit is what is summed."""

    unit: FloatArray  # (n_columns,)
    mean: FloatArray  # (K, n_columns)
    squares: FloatArray  # (K, n_columns) sums of s (x - mean)^2

    def in_units(self, unit: FloatArray) -> Spread:
        """The same in other units; powers of two round nothing."""
        by = unit / self.unit
        return Spread(unit, self.mean * by, self.squares * by * by)


class GaussianNB(MatrixNaiveBayes):
    """Naive Bayes for numbers: in each class every column is normal, with a mean and a variance of its own.

        m_ki = mean of column i in class k,    v_ki = (sum of (x_i - m_ki)^2 in class k + l v_i) / (N_k + l),

    v_i the variance of the column in all rows. l = 0 is maximum likelihood; l > 0 the most probable variance
    under an inverse gamma prior of shape l/2 - 1 and scale l v_i / 2, as if each class had l more rows with
    the spread of all.

    Parameters
    ----------
    smoothing : float
        l, a number of rows. The default changes nothing but a variance of exactly 0, which a class with one
        row, or with one value, would have.
    shared_variance : bool
        Whether all classes share one variance for each column, the mean of theirs. The boundaries are then
        linear, and ``coef_`` and ``intercept_`` hold them.
    class_prior : None, "uniform" or K probabilities in the order of ``classes_``
        None takes the shares of the training rows.
    n_threads : int, optional
        Changes the time, never a bit; ``LINEAL_NUM_THREADS`` or all cores if not given.
    var_smoothing, priors : optional
        scikit-learn's: ``var_smoothing`` is taken instead of ``smoothing`` and adds that part of the largest
        variance of a column to all of them, so that the units of one column change what another one says;
        ``priors`` is taken instead of ``class_prior``.

    Attributes
    ----------
    classes_ : the labels, sorted
    theta_, var_ : (K, d) means and variances
    class_prior_, class_log_prior_, class_count_ : (K,)
    coef_, intercept_ : (K, d) and (K,), with ``shared_variance`` only
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    With a shared variance x . coef_[k] + intercept_[k] is ``log_joint`` less a term that all classes share.

    A column that is constant in all rows has variance 1: it says nothing about classes. With ``smoothing=0``
    a variance of 0 elsewhere is refused, for its density is infinite. Densities are per unit of x, so
    evidence may be positive, and changes with the units. Sums run in units of powers of two, so that neither
    1e300 nor 1e-300 overflows or vanishes. A sparse matrix costs what it stores. Fitting takes two passes.

    Examples
    --------
    >>> from lineal import GaussianNB
    >>> model = GaussianNB().fit([[1.0], [3.0], [7.0], [9.0]], ["low", "low", "high", "high"])
    >>> model.theta_.ravel().tolist(), model.predict([[4.0], [6.0]]).tolist()
    ([8.0, 2.0], ['low', 'high'])
    """

    def __init__(
        self,
        smoothing: float = 1e-9,
        *,
        shared_variance: bool = False,
        class_prior: str | ArrayLike | None = None,
        n_threads: int | None = None,
        var_smoothing: float | None = None,
        priors: ArrayLike | None = None,
    ) -> None:
        self.smoothing = smoothing
        self.shared_variance = shared_variance
        self.class_prior = class_prior
        self.n_threads = n_threads
        self.var_smoothing = var_smoothing
        self.priors = priors

    def _check_options(self) -> None:
        super()._check_options()
        if self.var_smoothing is not None:
            not_negative(type(self).__name__, "var_smoothing", self.var_smoothing)
        if not isinstance(self.shared_variance, (bool, np.bool_)):
            raise ParameterError(f"shared_variance must be True or False, got {self.shared_variance!r}.")

    # ---- learning -----------------------------------------------------------------------------

    def _count(self, rows: NativeRows, codes: NDArray[np.int32], s: FloatArray, n_classes: int) -> Spread:
        unit = _units(rows)
        rows = _in_units(rows, unit)
        n = class_weights(codes, s, n_classes)[:, None]
        mean, squares = np.empty((2, n_classes, rows.n_columns))
        _core.class_sums(rows.given, codes, s, mean, rows.n_threads)
        np.divide(mean, n, out=mean, where=n > 0)
        _core.class_deviations(rows.given, codes, s, mean, squares, rows.n_threads)
        if rows.is_sparse:
            written = np.empty_like(mean)
            _core.class_counts_above(rows.given, codes, s, -np.inf, written, rows.n_threads)
            squares += np.maximum(n - written, 0.0) * mean**2
        return Spread(unit, mean, squares)

    def _merge(
        self, counts: Spread, places: NDArray[np.intp], more: Spread, n: FloatArray, m: FloatArray
    ) -> Spread:
        """Chan, Golub and LeVeque (1983): squares about a common mean."""
        unit = np.minimum(counts.unit, more.unit)  # the one that the larger numbers need
        before, more = counts.in_units(unit), more.in_units(unit)
        mean = grown(before.mean, places, len(n))
        squares = grown(before.squares, places, len(n))
        share = np.divide(m, n + m, out=np.zeros_like(m), where=n + m > 0)[:, None]
        apart = more.mean - mean
        return Spread(unit, mean + share * apart, squares + more.squares + share * n[:, None] * apart**2)

    def _learn(self, counts: Spread) -> None:
        n = self.class_count_[:, None]
        overall = (n * counts.mean).sum(axis=0) / n.sum()
        between = n * (counts.mean - overall) ** 2
        column = (counts.squares + between).sum(axis=0) / n.sum()
        squares, rows = counts.squares, n
        if self.shared_variance:
            squares, rows = squares.sum(axis=0, keepdims=True), n.sum(keepdims=True)
        variance = np.broadcast_to(self._variances(squares, rows, column, counts.unit), counts.mean.shape)
        mean = np.where(n > 0, counts.mean, overall)  # a class without rows is like all
        self._mean, self._variance = mean, variance
        with np.errstate(over="ignore"):  # of numbers beyond 1e154 the variance is shown as inf
            self.theta_ = mean / counts.unit
            self.var_ = variance / counts.unit / counts.unit
        self.class_prior_ = np.exp(self.class_log_prior_)
        self._constant = self.class_log_prior_ + (
            np.log(counts.unit) - 0.5 * np.log(2 * np.pi * variance)
        ).sum(axis=1)
        if self.shared_variance:
            self.coef_ = mean / variance * counts.unit
            self.intercept_ = self.class_log_prior_ - 0.5 * (mean**2 / variance).sum(axis=1)
        else:
            for name in ("coef_", "intercept_"):
                self.__dict__.pop(name, None)

    def _variances(
        self, squares: FloatArray, n: FloatArray, column: FloatArray, unit: FloatArray
    ) -> FloatArray:
        is_constant = column == 0
        if self.var_smoothing is not None:
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                added = float(self.var_smoothing) * (column / unit / unit).max() * unit * unit
            if not np.isfinite(added).all():
                raise InputError(
                    "var_smoothing adds a part of the largest variance of a column, which is beyond float64 "
                    "here. Use smoothing, which looks at each column by itself."
                )
            variance = np.divide(squares, n, out=np.zeros_like(squares), where=n > 0) + added
        else:
            l = self._pseudo_count
            # Without rows, and without smoothing, a class has the spread of all: the limit of l -> 0.
            variance = np.where(n + l > 0, squares + l * column, column) / np.where(n + l > 0, n + l, 1.0)
        variance = np.where(is_constant & (variance == 0), 1.0, variance)
        if not (variance > 0).all():
            k, j = np.argwhere(~(variance > 0))[0]
            who = "all classes" if self.shared_variance else f"class {self.classes_.tolist()[k]!r}"
            raise InputError(
                f"{who} has a variance of 0 in column {j}, where a normal distribution has no density. "
                "Use smoothing > 0 (1e-9 is the default), give more rows, or drop the column."
            )
        return variance

    @property
    def _given_prior(self) -> Any:
        return super()._given_prior if self.priors is None else self.priors

    # ---- prediction ---------------------------------------------------------------------------

    def _scores(self, rows: NativeRows) -> FloatArray:
        rows = _in_units(rows, self._counts.unit)
        m, v = self._mean, self._variance
        with np.errstate(over="ignore", invalid="ignore"):  # a row too far out for a double is impossible
            if rows.dense is None:
                # sum (x - m)^2 / v from what is stored: sum m^2 / v at 0, and x (x - 2 m) / v on top.
                A = self._constant - 0.5 * (m**2 / v).sum(axis=1)
                A = A + rows.dot((m / v).T) - 0.5 * _squared(rows).dot((1.0 / v).T)
                return np.where(np.isnan(A), -np.inf, A)  # infinity less infinity: the square is the larger
            A = np.empty((rows.n_rows, len(m)))
            step = max(_BLOCK // max(rows.n_columns, 1), 1)
            deviation = np.sqrt(v)
            for first in range(0, rows.n_rows, step):
                block = rows.dense[first : first + step]
                for k in range(len(m)):
                    far = (block - m[k]) / deviation[k]
                    A[first : first + step, k] = self._constant[k] - 0.5 * np.einsum("ij,ij->i", far, far)
            return A


def _units(rows: NativeRows) -> FloatArray:
    """1, or a power of two that brings a column of very large or very small numbers to about 1."""
    if rows.dense is not None:
        size = np.abs(rows.dense).max(axis=0, initial=0.0).astype(np.float64)
    else:
        _, index, value = stored(rows)
        size = np.zeros(rows.n_columns)
        np.maximum.at(size, index, np.abs(value))
    _, exponent = np.frexp(size)
    is_extreme = (size > 0) & ((size < _LEAST) | (size > _GREATEST))
    return np.ldexp(1.0, -np.where(is_extreme, np.clip(exponent, -1000, 1000), 0))


def _in_units(rows: NativeRows, unit: FloatArray) -> NativeRows:
    if (unit == 1.0).all():
        return rows
    if rows.dense is not None:
        return native_dense(rows.dense.astype(np.float64) * unit, rows.n_threads)
    _, index, value = stored(rows)
    return with_values(rows, value.astype(np.float64) * unit[index])


def _squared(rows: NativeRows) -> NativeRows:
    return with_values(rows, stored(rows)[2].astype(np.float64) ** 2)
