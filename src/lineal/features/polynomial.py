"""Monomials of the columns as new columns: the map behind the polynomial kernel."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_feature_names_in, validate_data

from lineal import _core
from lineal.data import thread_count
from lineal.data.matrices import require_sound
from lineal.deferred import sparse as sp
from lineal.errors import InputError, ParameterError
from lineal.features.matrices import canonical, refuse_overflow
from lineal.features.monomials import Monomials
from lineal.protocol import BaseEstimator, TransformerMixin, check_is_fitted
from lineal.protocol.whole_fits import all_or_nothing

_HIGHEST = 100  # a factorial beyond 170 is beyond doubles


class PolynomialFeatures(TransformerMixin, BaseEstimator):
    """Products of columns up to a degree, or of that degree alone.

    With ``homogeneous=True``, and with ``ordered=True`` or ``weighted=True``, the map is that of the
    polynomial kernel: ``phi(x) . phi(z) = (x . z) ** degree``.

    Parameters
    ----------
    degree : int from 0 to 100
        The highest number of factors.
    ordered : bool
        Whether x0 x1 and x1 x0 are two features (every tuple of columns) or one.
    interaction_only : bool
        Whether to leave out products that take a column twice.
    include_constant : bool, optional
        Whether there is a column of ones; by default there is, unless ``homogeneous``.
    homogeneous : bool
        Whether to make products of exactly ``degree`` factors, and no shorter ones.
    weighted : bool
        Whether to multiply each unordered product by the square root of the number of ordered ones that it
        stands for, degree! / (k1! k2! ...), so that both forms have the same dot products.
    max_bytes : int
        The largest answer to make; a larger one is refused before the work starts.

    Attributes
    ----------
    n_output_features_ : int
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    With default options, columns and their order are those of scikit-learn's class of the same name. Sparse
    matrices are never made dense: the time is proportional to the products of stored numbers, and the answer
    is CSR. Without ``homogeneous`` the dot product is the sum of (x . z)^k over the degrees k that are made.

    Examples
    --------
    >>> from lineal import PolynomialFeatures
    >>> quadratic = PolynomialFeatures(2, homogeneous=True, weighted=True)
    >>> quadratic.fit_transform([[1.0, 2.0]]).round(3)
    array([[1.   , 2.828, 4.   ]])
    >>> quadratic.get_feature_names_out()
    array(['x0^2', 'x0 x1', 'x1^2'], dtype=object)
    """

    def __init__(
        self,
        degree: int = 2,
        *,
        ordered: bool = False,
        interaction_only: bool = False,
        include_constant: bool | None = None,
        homogeneous: bool = False,
        weighted: bool = False,
        max_bytes: int = 2**32,
    ) -> None:
        self.degree = degree
        self.ordered = ordered
        self.interaction_only = interaction_only
        self.include_constant = include_constant
        self.homogeneous = homogeneous
        self.weighted = weighted
        self.max_bytes = max_bytes

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Counts the columns that will come out.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
        y : ignored

        Returns
        -------
        self
        """
        self._check_options()
        X = self._checked(X, reset=True)
        self.n_output_features_ = self._width(X.shape[1])
        if self.n_output_features_ == 0:
            raise InputError(
                f"{X.shape[1]} columns have no products of {self.degree} different ones. "
                "Use a lower degree, or interaction_only=False."
            )
        return self

    def transform(self, X: Any) -> Any:
        """(n_rows, n_output_features_) products: CSR for a sparse X, else an array; float32 stays float32."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        if sp.issparse(X):
            X = canonical(X).tocsr()
            if not X.data.all():
                X = X.copy()
                X.eliminate_zeros()
        self._check_size(X)
        is_finite = False
        if sp.issparse(X):
            with np.errstate(over="ignore", under="ignore"):
                answer = self._sparse(X)
        else:
            answer, is_finite = self._dense(X)
        if not is_finite:
            advice = "Scale the columns first, for example with lineal.ColumnScaler."
            refuse_overflow(answer, "a product", advice)
        return answer

    def _dense(self, X: NDArray[Any]) -> tuple[NDArray[Any], bool]:
        """The products of dense rows, and whether all are finite."""
        if self.degree == 0:
            return np.ones((len(X), 1), dtype=X.dtype), True
        d, blocks = X.shape[1], self._blocks()
        sizes = [replace(blocks[-1], degree=k).count(d) for k in range(1, self.degree + 1)]
        runs: list[tuple[int, int, int]] = []
        for k in range(2, self.degree + 1):
            runs += replace(blocks[-1], degree=k).runs(d, sum(sizes[: k - 2]))
        weights = np.concatenate([block.weights(d) for block in blocks]) if self.weighted else np.empty(0)
        answer = np.empty((len(X), self.n_output_features_), dtype=X.dtype)
        is_finite = _core.monomials(
            np.ascontiguousarray(X),
            np.array(runs, dtype=np.int64).reshape(-1, 3),
            sum(sizes[:-1]) if self.homogeneous else 0,
            self._has_constant(),
            weights.astype(X.dtype),
            answer,
            thread_count(None),
        )
        return answer, is_finite

    def _sparse(self, X: Any) -> Any:
        ones = [sp.csr_array(np.ones((X.shape[0], 1), dtype=X.dtype))] if self._has_constant() else []
        blocks = ones + [monomials.sparse(X) for monomials in self._blocks()]
        return blocks[0] if len(blocks) == 1 else sp.hstack(blocks, format="csr")

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names such as ``1``, ``x0``, ``x0^2`` and ``x0 x1``; ordered products name every factor."""
        check_is_fitted(self, "n_output_features_")
        inputs = _check_feature_names_in(self, input_features)
        self._refuse_above_limit(100 * self.n_output_features_, "their names")
        names = ["1"] if self._has_constant() else []
        for monomials in self._blocks():
            names += [self._name(one, inputs) for one in monomials.tuples(len(inputs))]
        return np.asarray(names, dtype=object)

    def _name(self, columns: tuple[int, ...], inputs: Any) -> str:
        if self.ordered:
            return " ".join(inputs[j] for j in columns)
        powers = Counter(columns)
        return " ".join(f"{inputs[j]}^{k}" if k > 1 else f"{inputs[j]}" for j, k in powers.items())

    # ---- what there is to make, and whether it fits -----------------------------------------------

    def _has_constant(self) -> bool:
        if self.include_constant is None:
            return not self.homogeneous or self.degree == 0
        return bool(self.include_constant)

    def _blocks(self) -> list[Monomials]:
        degrees = [self.degree] if self.homogeneous else range(1, self.degree + 1)
        return [
            Monomials(degree, self.ordered, self.interaction_only, self.weighted)
            for degree in degrees
            if degree > 0
        ]

    def _width(self, n_columns: int) -> int:
        return int(self._has_constant()) + sum(block.count(n_columns) for block in self._blocks())

    def _check_options(self) -> None:
        is_whole = isinstance(self.degree, Integral) and not isinstance(self.degree, bool)
        if not (is_whole and 0 <= self.degree <= _HIGHEST):
            raise ParameterError(f"degree must be a whole number from 0 to {_HIGHEST}, got {self.degree!r}.")
        if self.degree == 0 and not self._has_constant():
            raise ParameterError("degree=0 without a constant makes no columns. Set include_constant=True.")
        if not self.max_bytes > 0:
            raise ParameterError(f"max_bytes must be positive, got {self.max_bytes!r}.")

    def _check_size(self, X: Any) -> None:
        width, one = self.n_output_features_, X.dtype.itemsize
        if not sp.issparse(X):
            self._refuse_above_limit((X.shape[0] * one + 8 * self.degree) * width, "the answer")
            return
        n_stored = 0
        for m, n_rows in zip(*np.unique(np.diff(X.indptr), return_counts=True), strict=True):
            n_stored += int(n_rows) * self._width(int(m))
        self._refuse_above_limit(n_stored * (one + (8 if width > 2**31 - 1 else 4)), "the answer")

    def _refuse_above_limit(self, n_bytes: int, what: str) -> None:
        # The ranks of sparse products are made of terms that are up to so many times larger.
        if self.n_output_features_ * (self.n_features_in_ + self.degree) >= 2**63:
            raise InputError(
                f"{self.n_features_in_:,} columns have about 10^{len(str(self.n_output_features_)) - 1} "
                f"products of degree {self.degree}, more than can be numbered. Lower the degree."
            )
        if n_bytes > self.max_bytes:
            raise InputError(
                f"{self.n_features_in_:,} columns have {self.n_output_features_:,} products up to degree "
                f"{self.degree}; {what} would take {n_bytes / 2**30:,.1f} GiB, more than max_bytes = "
                f"{self.max_bytes / 2**30:,.1f} GiB. Lower the degree, select columns, or raise max_bytes."
            )

    def _checked(self, X: Any, *, reset: bool) -> Any:
        accepted = ("csr", "csc")
        kinds = (np.float64, np.float32)
        return validate_data(self, require_sound(X), reset=reset, accept_sparse=accepted, dtype=kinds)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
