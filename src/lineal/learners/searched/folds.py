"""Rows held out in turn, in the proportions of labels, and whole groups together."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedGroupKFold, StratifiedKFold

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
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    folds = kind(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of labels with fewer rows than folds
        made = list(folds.split(codes, codes, groups))
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
    folds = KFold(n_folds, shuffle=True, random_state=seed)
    if groups is None:
        return list(folds.split(y))
    found = np.arange(groups.max() + 1)  # codes without gaps in the whole data, perhaps with some in a part
    met = found[np.bincount(groups, minlength=len(found)) > 0]
    dealt = ((met[train], met[test]) for train, test in folds.split(met))
    return [
        (np.flatnonzero(np.isin(groups, train)), np.flatnonzero(np.isin(groups, test)))
        for train, test in dealt
    ]


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
