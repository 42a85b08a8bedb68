"""Curves: polynomials of a column, fitted by least squares with an L2 penalty.

    1/2 sum_i s_i (y_i - w_0 - sum_m w_m x_i^m)^2 + strength / 2 sum_m w_m^2,        m = 1 .. degree

It is ``Ridge`` on powers of x, without what makes that fail: without a penalty, or with a tiny one,
the equations are written in polynomials that are orthonormal on the data (``orthogonal``) and solved by
singular values, so degree 9 through 10 points is exact to rounding and degree 60 is no problem. The answer is
still told as coefficients of powers, with a warning if rounding makes those worthless; predictions then do
without them. Several columns give the sum of one
curve for each, without products. Costs n p^2 operations and n p numbers, p = columns x degree.
"""

from __future__ import annotations

import numbers
import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lineal.data import checked_rows, thread_count
from lineal.deferred import linalg
from lineal.errors import InputError, InputTypeError, ParameterError, PrecisionWarning
from lineal.learners.orthogonal import Basis, Powers
from lineal.learners.reading import read_matrix
from lineal.learners.targets import numbers_of_rows, require_targets, weights_of_rows
from lineal.learners.whole_fits import all_or_nothing
from lineal.objective.losses import FloatArray
from lineal.protocol import BaseEstimator, RegressorMixin, check_is_fitted

_HIGHEST = 200
# Coefficients that reproduce the curve worse than this, beside the size of y, are not worth telling.
_FAITHFUL = 1e-6
# How much larger than a penalty's equations those of the data may be, or the other way round: eight digits
# of sixteen are left.
_TAME = 1e8


class PolynomialRegression(RegressorMixin, BaseEstimator):
    """Least squares with a polynomial of each column: curve fitting.

    Parameters
    ----------
    degree : int
        M, from 0 (the mean) to 200.
    strength : float
        The factor of half the sum of squared coefficients; the constant is free.
    scaled : bool
        Whether the penalty is on coefficients of powers of u, x brought to [-1, 1], instead of powers of x as
        it came. Powers of a year or of a price are so different in size that a penalty on them means little.
    n_threads : int, optional
        Changes the time of checking data, never a bit.

    Attributes
    ----------
    coef_ : (n_columns * degree,) coefficients of x, x^2 ..., column by column
    intercept_ : float, w_0
    degrees_ : (n_columns,) ints
        The degree of each curve: less than ``degree`` where a column has too few different numbers.
    coef_error_ : float
        The largest difference between the curve and ``coef_`` on the training rows, beside the size of y.

    Notes
    -----
    A weight of 2 is the row twice. If the columns' curves are collinear without a penalty, the solution of
    least norm in the orthonormal basis is taken.

    Examples
    --------
    >>> import numpy as np
    >>> from lineal import PolynomialRegression
    >>> x = np.arange(10.0)[:, None]
    >>> y = 1 + 2 * x[:, 0] - 0.5 * x[:, 0] ** 3
    >>> model = PolynomialRegression(degree=3).fit(x, y)
    >>> model.coef_.round(8) + 0.0, round(model.intercept_, 8)
    (array([ 2. ,  0. , -0.5]), 1.0)
    """

    def __init__(
        self, degree: int = 3, strength: float = 0.0, *, scaled: bool = False, n_threads: int | None = None
    ) -> None:
        self.degree = degree
        self.strength = strength
        self.scaled = scaled
        self.n_threads = n_threads

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fits the curves.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
            One column for one curve.
        y : (n_rows,) numbers
        sample_weight : sequence of n_rows numbers >= 0, optional
            A weight of 2 means the row twice.

        Returns
        -------
        self
        """
        require_targets(self, y)
        self._check_options()
        A = self._read(X, reset=True)
        targets = numbers_of_rows(y, len(A), type(self).__name__)
        if targets.ndim != 1:
            raise InputError(f"y must be one number for each row, got an array of shape {targets.shape}.")
        s = weights_of_rows(sample_weight, len(A))
        A, targets, s = A[s > 0], targets[s > 0], s[s > 0]
        self._bases = self._chosen(A, s)
        self.degrees_ = np.array([basis.degree for basis in self._bases])
        self._solve(A, targets, s)
        self._tell(A, targets)
        return self

    def _chosen(self, A: FloatArray, s: FloatArray) -> list[Basis | Powers]:
        """Orthonormal polynomials, or powers where a penalty makes those well conditioned."""
        M = int(self.degree)
        if self.strength > 0:
            powers: list[Basis | Powers] = [Powers.of(x, M, scaled=bool(self.scaled)) for x in A.T]
            with np.errstate(over="ignore"):
                size = max(float(np.abs(p.at(x)).max()) for p, x in zip(powers, A.T, strict=True))
            if size * np.sqrt(float(s.sum()) * max(M, 1) / float(self.strength)) <= _TAME:
                return powers
        return [Basis.of(x, s, M) for x in A.T]

    def _solve(self, A: FloatArray, y: FloatArray, s: FloatArray) -> None:
        """Weighted least squares in the chosen basis, the means apart."""
        root, features = np.sqrt(s), self._features(A)
        self._mean, self._offsets = float(np.average(y, weights=s)), s @ features / s.sum()
        unit = float(np.abs(y - self._mean).max()) or 1.0  # squares of y must not overflow
        equations, right = (features - self._offsets) * root[:, None], (y - self._mean) / unit * root
        if self.strength > 0:
            # Powers of one column only meet those of the same column: a block for each.
            with np.errstate(over="ignore", invalid="ignore"):
                blocks = [basis.powers(of_scaled=bool(self.scaled))[1:, 1:] for basis in self._bases]
                penalty = np.sqrt(float(self.strength)) * linalg.block_diag(*blocks)
            if isinstance(self._bases[0], Basis) and not np.abs(penalty).max(initial=0.0) <= _TAME:
                remedy = "Lower the degree." if self.scaled else "Use scaled=True, which brings x to [-1, 1]."
                raise InputError(
                    f"powers of x differ too much in size for a penalty on their coefficients. {remedy}"
                )
            equations = np.vstack([equations, penalty])
            right = np.concatenate([right, np.zeros(len(penalty))])
        self._weights = _least_squares(equations, right) * unit

    def _tell(self, A: FloatArray, y: FloatArray) -> None:
        """The coefficients of powers, and warnings where they or the degree are not what one would think."""
        M, start = int(self.degree), 0
        self.coef_ = np.zeros(A.shape[1] * M)
        self.intercept_ = self._mean - float(self._offsets @ self._weights)
        with np.errstate(over="ignore", invalid="ignore"):
            for j, basis in enumerate(self._bases):
                own = np.concatenate([[0.0], self._weights[start : start + basis.degree]])
                told = basis.powers(of_scaled=False) @ own
                self.intercept_ += float(told[0])
                self.coef_[j * M : j * M + basis.degree] = told[1:]
                start += basis.degree
            powers = self._by_powers(A)
            size = float(np.max(np.abs(y))) or 1.0
            self.coef_error_ = float(np.max(np.abs(powers - self._curve(A)))) / size
        self._warn(int(self.degrees_.min(initial=M)))

    def _warn(self, least: int) -> None:
        if least < self.degree and self.strength == 0:
            j = int(self.degrees_.argmin())
            warnings.warn(
                f"column {j} has {least + 1} different numbers, so many curves of degree {self.degree} fit "
                f"alike: that of degree {least} was taken. Lower the degree, or give a strength.",
                PrecisionWarning,
                stacklevel=5,
            )
        if not self.coef_error_ <= _FAITHFUL:
            warnings.warn(
                f"coef_ reproduces the curve only to {self.coef_error_:.1e} of the size of y, because powers "
                "of x cancel. Predictions do not use it. To have it, move x near 0 and scale it to [-1, 1].",
                PrecisionWarning,
                stacklevel=5,
            )

    def _by_powers(self, A: FloatArray) -> FloatArray:
        """What the coefficients of powers say, by Horner's rule."""
        total = np.full(len(A), self.intercept_)
        for j, coefficients in enumerate(self.coef_.reshape(A.shape[1], -1) if self.degree else []):
            value = np.zeros(len(A))
            for coefficient in coefficients[::-1]:
                value = (value + coefficient) * A[:, j]
            total += value
        return total

    def _features(self, A: FloatArray) -> FloatArray:
        """The basis without its constants, column by column."""
        return np.hstack([basis.at(x)[:, 1:] for basis, x in zip(self._bases, A.T, strict=True)])

    def _curve(self, A: FloatArray) -> FloatArray:
        return self._mean + (self._features(A) - self._offsets) @ self._weights

    def predict(self, X: Any) -> FloatArray:
        """The curve at other numbers; far from those of the fit a polynomial is rarely a good guess."""
        check_is_fitted(self)
        return self._curve(self._read(X, reset=False))

    def _read(self, X: Any, *, reset: bool) -> FloatArray:
        array = read_matrix(self, X, reset=reset)
        if hasattr(array, "tocsr"):
            raise InputTypeError(
                "Sparse data were passed, but powers of moved columns are dense: use PolynomialFeatures "
                "with Ridge, or X.toarray()."
            )
        names = getattr(self, "feature_names_in_", None)
        checked_rows(array, thread_count(self.n_threads), names)
        return np.asarray(array, dtype=np.float64)

    def _check_options(self) -> None:
        _ = thread_count(self.n_threads)
        is_whole = isinstance(self.degree, numbers.Integral) and not isinstance(self.degree, bool)
        if not (is_whole and 0 <= self.degree <= _HIGHEST):
            raise ParameterError(f"degree must be a whole number from 0 to {_HIGHEST}, got {self.degree!r}.")
        is_number = isinstance(self.strength, numbers.Real) and not isinstance(self.strength, bool)
        if not (is_number and 0 <= self.strength < np.inf):
            raise ParameterError(f"strength must be a number >= 0, got {self.strength!r}.")


def _least_squares(A: FloatArray, b: FloatArray) -> FloatArray:
    """argmin |A c - b|, of least norm where there are several."""
    if A.shape[1] == 0:
        return np.zeros(0)
    answer = linalg.lstsq(A, b, cond=1e-13, check_finite=False)[0]
    return np.asarray(answer, dtype=np.float64)
