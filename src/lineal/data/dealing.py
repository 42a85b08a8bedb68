"""Rows dealt into folds as scikit-learn deals them, without scikit-learn, which takes long to import."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.errors import InputError

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


def dealer(n_folds: int, seed: int, *, are_classes: bool, has_groups: bool) -> Any:
    """scikit-learn's own splitter of shuffled rows: classes in their shares, and groups whole."""
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    plain, whole = (StratifiedKFold, StratifiedGroupKFold) if are_classes else (KFold, GroupKFold)
    return (whole if has_groups else plain)(n_folds, shuffle=True, random_state=seed)


def require_groups(n_folds: int, groups: NDArray[Any] | None) -> None:
    """Refuses fewer groups than folds."""
    if groups is not None and (n := len(np.unique(groups))) < n_folds:
        raise InputError(f"{n_folds} folds need as many groups, got {n}: every group is held out whole.")


def _generator(seed: Any) -> Any:
    """The generator that scikit-learn makes of a seed, so that folds are the same."""
    return np.random.mtrand._rand if seed is None else np.random.RandomState(seed)
