"""What maps of features by chance share: reading, seeds, precision, pieces."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from lineal.data import checked_rows, thread_count
from lineal.errors import InputError, ParameterError
from lineal.protocol import BaseEstimator, TransformerMixin, check_is_fitted


class BaseRandomMap(TransformerMixin, BaseEstimator):
    """A map that is drawn once, by ``fit``, and then the same for all rows."""

    dtype: Any
    n_threads: int | None
    random_state: Any
    n_output_features_: int

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draws the map."""
        raise NotImplementedError

    def transform(self, X: Any) -> Any:
        """The features of every row."""
        check_is_fitted(self)
        return self._features(*self._read(X))

    def transform_blocks(self, X: Any, n_rows: int = 10_000) -> Iterator[Any]:
        """The same features piece by piece, for learners with ``partial_fit`` and for rows beyond memory.

        Parameters
        ----------
        X : as for ``transform``
        n_rows : int
            The most rows in a piece.

        Yields
        ------
        What ``transform`` returns for one piece of rows after the other.
        """
        check_is_fitted(self)
        whole_number("n_rows", n_rows)
        items, dtype = self._read(X)
        n = self._count(items)
        starts = range(0, n, n_rows)
        return (self._features(self._part(items, slice(first, first + n_rows)), dtype) for first in starts)

    # ---- what subclasses say ------------------------------------------------------------------

    def _features(self, items: Any, dtype: np.dtype[Any]) -> Any:
        """The features of items that were read, in this precision."""
        raise NotImplementedError

    # ---- what comes from outside ------------------------------------------------------------------

    def _items(self, X: Any, *, reset: bool) -> Any:
        """X as a float array or CSR array of finite numbers."""
        array = validate_data(
            self, X, reset=reset, accept_sparse=("csr", "csc", "coo"), accept_large_sparse=True,
            dtype=(np.float64, np.float32), ensure_all_finite=False, order="C",
        )  # fmt: skip
        rows = checked_rows(array, thread_count(self.n_threads), getattr(self, "feature_names_in_", None))
        return rows.csr() if rows.dense is None else rows.dense

    def _read(self, X: Any) -> tuple[Any, np.dtype[Any]]:
        """Rows to transform, and the precision of their features."""
        items = self._items(X, reset=False)
        return items, self._precision(items.dtype)

    def _count(self, items: Any) -> int:
        return int(items.shape[0])

    def _part(self, items: Any, rows: slice) -> Any:
        return items[rows]

    def _generator(self) -> np.random.Generator:
        """The same seed draws the same map; without one, the same every time."""
        state = self.random_state
        if state is None or (isinstance(state, numbers.Integral) and not isinstance(state, bool)):
            return np.random.default_rng(0 if state is None else int(state) % 2**63)
        if isinstance(state, np.random.Generator):
            return state
        if isinstance(state, np.random.RandomState):
            return np.random.default_rng(int(state.randint(2**31 - 1)))
        raise ParameterError(f"random_state must be None, a whole number or a generator, got {state!r}.")

    def _precision(self, given: Any) -> np.dtype[Any]:
        """float32 or float64: what was asked for, else that of the data."""
        if self.dtype is None:
            return np.dtype(np.float32 if given == np.float32 else np.float64)
        try:
            asked = np.dtype(self.dtype)
        except TypeError as error:
            raise ParameterError(
                f"dtype must be None, 'float32' or 'float64', got {self.dtype!r}."
            ) from error
        if asked not in (np.float32, np.float64):
            raise ParameterError(f"dtype must be None, 'float32' or 'float64', got {self.dtype!r}.")
        return asked

    def _names(self, names: list[str], input_features: Any) -> NDArray[np.object_]:
        """Names of features that come from all columns at once; ``input_features`` must be the known ones."""
        check_is_fitted(self)
        known = getattr(self, "feature_names_in_", None)
        if input_features is not None:
            given = np.asarray(input_features, dtype=object)
            if known is not None and not np.array_equal(known, given):
                raise InputError("input_features is not equal to feature_names_in_. Leave it out.")
            if len(given) != getattr(self, "n_features_in_", len(given)):
                raise InputError(
                    f"input_features should have length equal to number of features ({self.n_features_in_}), "
                    f"got {len(given)}."
                )
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"] if self.dtype is None else []
        return tags


def whole_number(name: str, value: Any, least: int = 1) -> int:
    """The value, if it is a whole number that is large enough."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
        raise ParameterError(f"{name} must be a whole number >= {least}, got {value!r}.")
    return int(value)


def refuse_too_large(n_bytes: int, max_bytes: Any, what: str, remedy: str) -> None:
    """Refuses what would not fit, before the work starts."""
    if not (isinstance(max_bytes, numbers.Real) and not isinstance(max_bytes, bool) and float(max_bytes) > 0):
        raise ParameterError(f"max_bytes must be a positive number, got {max_bytes!r}.")
    if n_bytes > float(max_bytes):
        raise InputError(
            f"{what} would take {n_bytes / 2**30:,.1f} GiB, more than max_bytes = "
            f"{float(max_bytes) / 2**30:,.1f} GiB. {remedy}"
        )
