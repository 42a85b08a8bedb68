"""Weights of terms: how much a column counts, from the documents it is in or from their labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.data import checked_rows
from lineal.data.compressed import CompressedRows
from lineal.errors import InputError

FloatArray = NDArray[np.float64]


def smooth_idf(n_documents: NDArray[Any], n_all: int) -> FloatArray:
    """log((1 + n) / (1 + df)) + 1, as if one more document held every term (scikit-learn's)."""
    return np.log((1.0 + n_all) / (1.0 + n_documents)) + 1.0


def bm25_idf(n_documents: NDArray[Any], n_all: int) -> FloatArray:
    """log(1 + (n - df + 1/2) / (df + 1/2)), which is never negative (Robertson and Zaragoza 2009)."""
    return np.log1p((n_all - n_documents + 0.5) / (n_documents + 0.5))


def class_codes(y: Any) -> tuple[NDArray[np.int32], int]:
    """A number for each label, anything hashable, as they are first met, and how many there are."""
    if isinstance(y, np.ndarray) and y.ndim != 1:
        raise InputError(f"There must be one label for each text, got labels of shape {y.shape}.")
    met: dict[Any, int] = {}
    labels = y.tolist() if isinstance(y, np.ndarray) else list(y)
    codes = np.fromiter((met.setdefault(label, len(met)) for label in labels), np.int32, len(labels))
    for label, code in met.items():
        if label is None or label != label:
            raise InputError(f"The label of text {int(np.argmax(codes == code))} is missing: {label!r}.")
    return codes, len(met)


def log_count_ratios(
    X: Any,
    rows: NDArray[Any],
    codes: NDArray[Any],
    n_classes: int,
    n_threads: int,
    smoothing: float = 1.0,
) -> FloatArray:
    """Wang and Manning's (2012) naive-Bayes weights of the columns of X, from some of its rows.

    With p = smoothing + in how many rows of a class a column is, and q the same for all other rows, the
    ratio is log((p / |p|) / (q / |q|)), |.| the sum over all columns. Of all classes' ratios the one farthest
    from 0 is taken, without its sign: one number must serve every class, and a linear model behind it has
    signs of its own, so that with two classes it is the paper's model.
    """
    of_rows, is_asked = np.zeros(X.shape[0], dtype=np.int32), np.zeros(X.shape[0])
    of_rows[rows], is_asked[rows] = codes, 1.0
    counts = np.empty((n_classes, X.shape[1]))
    matrix = checked_rows(X, n_threads).matrix
    _core.class_counts_above(matrix, of_rows, is_asked, -np.inf, counts, n_threads)
    total = counts.sum(axis=0)
    n_total = total.sum() + smoothing * X.shape[1]
    farthest = np.zeros(X.shape[1])
    for count in counts if n_classes > 2 else counts[:1]:  # of two classes one is the other's negative
        p = smoothing + count
        q = smoothing + (total - count)
        n_p = float(p.sum())
        ratio = np.log(p / q) - np.log(n_p / (n_total + smoothing * X.shape[1] - n_p))
        np.maximum(farthest, np.abs(ratio), out=farthest)
    return farthest


def weighed(X: Any, weight: FloatArray, norm: str | None) -> CompressedRows:
    """Where X has entries, the weights of their columns, then the rows divided by their norm."""
    weighing = _core.Weighing("occurrence", norm or "none", weight)
    values: Any = np.empty(len(X.indices), np.float32 if X.data.dtype == np.float32 else np.float64)
    _core.weigh_occurrences(X.indptr.astype(np.int64), X.indices, weighing, values)
    return CompressedRows((X.indptr, X.indices, values), X.shape[1])
