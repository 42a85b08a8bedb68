"""Weights of terms: how much a column counts, from the documents it is in or from their labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def smooth_idf(n_documents: NDArray[Any], n_all: int) -> FloatArray:
    """log((1 + n) / (1 + df)) + 1, as if one more document held every term (scikit-learn's)."""
    return np.log((1.0 + n_all) / (1.0 + n_documents)) + 1.0


def bm25_idf(n_documents: NDArray[Any], n_all: int) -> FloatArray:
    """log(1 + (n - df + 1/2) / (df + 1/2)), which is never negative (Robertson and Zaragoza 2009)."""
    return np.log1p((n_all - n_documents + 0.5) / (n_documents + 0.5))


def log_count_ratios(X: Any, codes: NDArray[Any], n_classes: int, smoothing: float = 1.0) -> FloatArray:
    """Wang and Manning's (2012) naive-Bayes weights of the columns of X.

    With p = smoothing + sum of the rows of a class and q the same of all other rows, the ratio of a column is
    log((p / |p|) / (q / |q|)), |.| the sum of all columns. Two classes: that of the second class. More: of
    all classes' ratios the one farthest from 0, without its sign, since one number must serve every class.
    """
    members = sp.csr_matrix(
        (np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(n_classes, len(codes))
    )
    sums = np.asarray((members @ X).todense(), dtype=np.float64)
    p = smoothing + sums
    q = smoothing + (sums.sum(axis=0) - sums)
    ratios: FloatArray = np.log(p / p.sum(axis=1, keepdims=True)) - np.log(q / q.sum(axis=1, keepdims=True))
    return ratios[1] if n_classes == 2 else np.abs(ratios).max(axis=0)
