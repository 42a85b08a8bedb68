"""Rows held out in turn, in the proportions of labels, and whole groups together."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.data.dealing import dealt, dealt_by_label, parted
from lineal.errors import InputError
from lineal.learners.targets import classes_and_codes, plain_array

Fold = tuple[NDArray[Any], NDArray[Any]]


def folds_of_labels(y: NDArray[Any], groups: NDArray[Any] | None, n_folds: int, seed: Any) -> list[Fold]:
    """Pairs of train and test rows; none where no part can be held out."""
    _, codes = classes_and_codes(y)
    counts = np.bincount(codes)
    # Labels of fewer rows than folds are never held out alone; at least two folds need two rows each.
    n_folds = min(n_folds, int(np.median(counts)), len(y) // 2, _n_distinct(groups, len(y)))
    if n_folds < 2 or len(counts) < 2:
        return []
    if groups is None:
        made = parted(dealt_by_label(codes, n_folds, seed), n_folds)
    else:
        made = _whole_groups(codes, groups, n_folds, seed)
    return [(train, test) for train, test in made if len(np.unique(codes[train])) > 1 and len(test)]


def part_of_labels(y: NDArray[Any], n_parts: int, seed: Any) -> list[Fold]:
    """One part of so many held out, of every label with two rows or more; none where nothing can be."""
    _, codes = classes_and_codes(y)
    counts = np.bincount(codes)
    wanted = np.where(counts > 1, np.maximum(counts // n_parts, 1), 0)
    if not wanted.any() or len(counts) < 2:
        return []
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]
    rank = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    is_held = np.zeros(len(codes), dtype=bool)
    is_held[order] = rank < np.repeat(wanted, counts)
    return [(np.flatnonzero(~is_held), np.flatnonzero(is_held))]


def folds_of_numbers(y: NDArray[Any], groups: NDArray[Any] | None, n_folds: int, seed: Any) -> list[Fold]:
    """Pairs of train and test rows; none where no part can be held out."""
    n_folds = min(n_folds, len(y) // 2, _n_distinct(groups, len(y)))
    if n_folds < 2:
        return []
    if groups is None:
        return parted(dealt(len(y), n_folds, seed), n_folds)
    found = np.arange(groups.max() + 1)  # codes without gaps in the whole data, perhaps with some in a part
    met = found[np.bincount(groups, minlength=len(found)) > 0]
    parts = parted(dealt(len(met), n_folds, seed), n_folds)
    return [
        (np.flatnonzero(np.isin(groups, met[train])), np.flatnonzero(np.isin(groups, met[test])))
        for train, test in parts
    ]


def _whole_groups(codes: NDArray[Any], groups: NDArray[Any], n_folds: int, seed: Any) -> list[Fold]:
    from sklearn.model_selection import StratifiedGroupKFold

    dealer = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of labels with fewer rows than folds
        return list(dealer.split(codes, codes, groups))


def codes_of_groups(groups: Any, n_rows: int) -> NDArray[np.int32] | None:
    """The group of each row as a whole number; None without groups."""
    if groups is None:
        return None
    named = plain_array(groups)
    if named.shape != (n_rows,):
        raise InputError(
            f"groups must name the group of each of the {n_rows} rows, got an array of shape {named.shape}."
        )
    return classes_and_codes(named)[1]


def _n_distinct(groups: NDArray[Any] | None, n_rows: int) -> int:
    return n_rows if groups is None else len(np.unique(groups))
