"""Rows dealt into folds as scikit-learn deals them, without scikit-learn, which takes long to import."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]


def dealt_by_label(codes: NDArray[Any], n_folds: int, seed: Any) -> NDArray[np.int64]:
    """The fold of each row, as scikit-learn's ``StratifiedKFold`` deals them."""
    n_labels = int(codes.max()) + 1
    first = np.full(n_labels, len(codes))
    np.minimum.at(first, codes, np.arange(len(codes)))
    counts = np.bincount(codes, minlength=n_labels)
    order = np.argsort(first, kind="stable")  # labels take turns in the order in which they are met
    sorted_rows = np.repeat(np.arange(n_labels), counts[order])
    shares = [np.bincount(sorted_rows[fold::n_folds], minlength=n_labels) for fold in range(n_folds)]
    rng = _generator(seed)
    folds = np.empty(len(codes), dtype=np.int64)
    for turn, label in enumerate(order.tolist()):
        own = np.arange(n_folds).repeat([share[turn] for share in shares])
        rng.shuffle(own)
        folds[codes == label] = own
    return folds


def dealt(n_rows: int, n_folds: int, seed: Any) -> NDArray[np.int64]:
    """The fold of each row, as scikit-learn's ``KFold`` deals them."""
    rows = np.arange(n_rows)
    _generator(seed).shuffle(rows)
    folds = np.empty(n_rows, dtype=np.int64)
    for fold, own in enumerate(np.array_split(rows, n_folds)):
        folds[own] = fold
    return folds


def parted(folds: NDArray[np.int64], n_folds: int) -> list[Fold]:
    """For each fold the rows to learn from and the rows held out."""
    return [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(n_folds)]


def _generator(seed: Any) -> Any:
    """The generator that scikit-learn makes of a seed, so that folds are the same."""
    return np.random.mtrand._rand if seed is None else np.random.RandomState(seed)
