"""What learners of matrices share, whatever they learn."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from lineal.data import checked_rows, thread_count
from lineal.data.compressed import CompressedRows
from lineal.errors import ParameterError
from lineal.learners.reading import read_matrix
from lineal.objective.linear_maps import LinearMap, NumpyRows
from lineal.objective.losses import FloatArray
from lineal.protocol import BaseEstimator, check_is_fitted


class MatrixModel(BaseEstimator):
    """What learners of matrices share, whatever they learn: X from outside, a seed, and linear scores."""

    coef_: FloatArray
    intercept_: Any
    n_threads: int | None = None
    random_state: Any = None

    def _seed(self) -> int:
        return seed_of(self.random_state)

    def _rows(self, X: Any, *, reset: bool) -> LinearMap:
        return self._built(self._read(X, reset=reset), reset=reset)

    def _built(self, array: Any, *, reset: bool) -> LinearMap:
        """Rows for the core, from data that were read."""
        names = getattr(self, "feature_names_in_", None)
        return checked_rows(array, thread_count(self.n_threads), names)

    def _numpy_rows(self, X: Any) -> LinearMap:
        """Rows over NumPy and SciPy alone, for a proof that owes nothing to the core."""
        array = self._read(X, reset=False)
        # SciPy follows an index wherever it points: what is refused elsewhere is refused here, first.
        checked_rows(array, thread_count(self.n_threads), getattr(self, "feature_names_in_", None))
        return NumpyRows(array.to_scipy() if isinstance(array, CompressedRows) else array)

    def _read(self, X: Any, *, reset: bool) -> Any:
        """X as a float array or SciPy matrix."""
        return read_matrix(self, X, reset=reset)

    def _scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        W, b = np.atleast_2d(self.coef_).T, np.atleast_1d(self.intercept_)
        if W.dtype.kind != "f" or W.itemsize not in (4, 8):  # weights that someone set by hand
            W = W.astype(np.float64)
        return self._rows(X, reset=False).dot(W) + b

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def seed_of(random_state: Any) -> int:
    """A seed from what a learner was given: the same data give the same model unless told otherwise."""
    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral):
        return int(random_state) % 2**63
    if isinstance(random_state, (np.random.RandomState, np.random.Generator)):
        draw = "integers" if isinstance(random_state, np.random.Generator) else "randint"
        return int(getattr(random_state, draw)(2**31 - 1))
    raise ParameterError(f"random_state must be None, a whole number or a generator, got {random_state!r}.")
