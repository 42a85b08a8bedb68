"""Numbers of at least 0, added up by class and column: what the kinds for counts learn from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.data import checked_rows, thread_count
from lineal.data.matrices import csr_matrix
from lineal.deferred import sparse as sp
from lineal.errors import InputError
from lineal.learners.bayes.base import BaseNaiveBayes
from lineal.learners.reading import read_matrix
from lineal.model.linear import LinearScores
from lineal.objective.linear_maps import NativeRows
from lineal.objective.losses import FloatArray


def grown(counts: FloatArray, places: NDArray[np.intp], n_classes: int) -> FloatArray:
    """Counts with a row for each class, zeros for those that are new."""
    if len(counts) == n_classes:  # places only ever spread, so they are as they were
        return counts
    larger = np.zeros((n_classes, *counts.shape[1:]))
    larger[places] = counts
    return larger


def stored(rows: NativeRows) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]:
    """(start, index, value) of sparse rows, as they are given and without what may lie behind the last."""
    start, index, value = rows.given.arrays()
    return start, index[: start[-1]], value[: start[-1]]


def with_values(rows: NativeRows, value: NDArray[Any]) -> NativeRows:
    """Sparse rows with other numbers in the same places."""
    start, index, _ = stored(rows)
    matrix = csr_matrix(start, index, value, rows.n_columns, is_ordered=rows.given.is_ordered)
    return NativeRows(matrix, rows.n_threads)


def refuse_negative(owner: Any, rows: NativeRows) -> None:
    """Counts cannot be below 0; the first that is, by row and column."""
    values = rows.dense if rows.dense is not None else stored(rows)[2]
    if not values.size or values.min() >= 0:
        return
    at = int(np.flatnonzero(values.ravel() < 0)[0])
    if rows.dense is not None:
        row, column = divmod(at, rows.n_columns)
    else:
        start, index, _ = stored(rows)
        row, column = int(np.searchsorted(start, at, side="right")) - 1, int(index[at])
    names = getattr(owner, "feature_names_in_", None)
    name = f" ({names[column]!r})" if names is not None else ""
    raise InputError(
        f"Negative values in data: {type(owner).__name__} counts, so numbers must be at least 0, but "
        f"row {row}, column {column}{name} has {values.ravel()[at]:g}. GaussianNB takes numbers of any sign."
    )


def refuse_overflow(owner: Any, totals: FloatArray) -> None:
    """Sums of counts must be numbers; those of at least 0 are, if their total is."""
    if not np.isfinite(totals).all():
        raise InputError(
            f"the counts of {type(owner).__name__} add up to more than float64 can hold. "
            "Scale X or sample_weight."
        )


class MatrixNaiveBayes(BaseNaiveBayes):
    """A kind whose rows are rows of a matrix, dense or sparse."""

    def _read(self, X: Any, *, reset: bool) -> NativeRows:
        array = read_matrix(self, X, reset=reset)
        names = getattr(self, "feature_names_in_", None)
        return checked_rows(array, thread_count(self.n_threads), names)

    def _some(self, rows: NativeRows, places: NDArray[np.intp]) -> Any:
        if rows.dense is not None:
            return rows.dense[places]
        start, index, value = stored(rows)
        sizes = start[places + 1] - start[places]
        ends = np.concatenate([[0], np.cumsum(sizes)])
        # Where each number lies: its place in the copy, moved by where its row begins here and there.
        kept = np.arange(ends[-1]) + np.repeat(start[places] - ends[:-1], sizes)
        return sp.csr_array((value[kept], index[kept], ends), shape=(len(places), rows.n_columns))

    def _placed(self, some: Any) -> NativeRows:
        return checked_rows(some, thread_count(self.n_threads))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class CountingNaiveBayes(MatrixNaiveBayes):
    """A kind that needs one number for each class and column, and scores linearly.

    Attributes
    ----------
    feature_count_ : (K, n_columns)
    coef_ : (K, n_columns)
    intercept_ : (K,)
    """

    def _merge(
        self, counts: FloatArray, places: NDArray[np.intp], more: FloatArray, n: FloatArray, m: FloatArray
    ) -> FloatArray:
        return grown(counts, places, len(more)) + more

    @property
    def feature_count_(self) -> FloatArray:
        """(K, n_columns) what was counted."""
        return self._counts

    def _show(self, scores: LinearScores, W: FloatArray) -> None:
        """Keeps the scores, and shows their weights, infinite ones included."""
        self._linear = scores
        self.coef_: FloatArray = W.T

    def _scores(self, rows: NativeRows) -> FloatArray:
        return self._linear(rows)
