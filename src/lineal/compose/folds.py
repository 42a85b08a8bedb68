"""Rows dealt into parts that are held out in turn."""

from __future__ import annotations

import numbers
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from lineal.compose.seeds import generator_of
from lineal.errors import InputError, ParameterError

Split = tuple[NDArray[np.intp], NDArray[np.intp]]


def require_folds(folds: Any) -> None:
    """Refuses what cannot deal rows into parts."""
    is_count = isinstance(folds, numbers.Integral) and not isinstance(folds, bool)
    if isinstance(folds, str) or not (hasattr(folds, "split") or (is_count and folds >= 2)):
        raise ParameterError(
            f"folds must be a whole number from 2 on, or a splitter with split(X, y), got {folds!r}."
        )


def splits_of(folds: Any, X: Any, labels: NDArray[Any], codes: NDArray[np.int32], seed: Any) -> list[Split]:
    """(rows to learn from, rows held out) for each part; every row is held out once.

    A number of parts gives every one its share of each class, in an order drawn by the seed; of a class with
    fewer rows than parts, not every part has one.
    """
    if hasattr(folds, "split"):
        splits = list(folds.split(X, labels))
    else:
        if len(codes) < folds:
            raise InputError(f"{folds} folds need at least {folds} rows, but there are {len(codes)} samples.")
        most = int(np.bincount(codes).max())
        shuffled = int(generator_of(seed).integers(2**31 - 1))
        parts = StratifiedKFold(min(int(folds), max(most, 2)), shuffle=True, random_state=shuffled)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of classes with fewer rows than parts
            splits = list(parts.split(codes, codes))
    _require_once(splits, len(codes), folds)
    for train, test in splits:
        if np.isin(test, train).any():
            raise InputError(f"a row is held out and learnt from in the same fold of {folds!r}.")
        if len(train) == 0 or (codes[train] == codes[train[0]]).all():
            raise InputError(
                "a fold holds out all rows of a class, and those that are left are of one class alone. Give "
                "more rows of the rare class, or folds that leave some of each."
            )
    return splits


def _require_once(splits: list[Split], n_rows: int, folds: Any) -> None:
    held_out = np.concatenate([test for _, test in splits]) if splits else np.empty(0, dtype=np.intp)
    if held_out.max(initial=0) >= n_rows:
        raise InputError(
            f"{folds!r} holds out row {held_out.max()}, but there are {n_rows} rows (those of weight 0 are "
            "left out before they are dealt)."
        )
    times = np.bincount(held_out, minlength=n_rows)
    if (times != 1).any():
        row = int(np.flatnonzero(times != 1)[0])
        raise InputError(
            f"every row must be held out once, but row {row} is held out {times[row]} times by {folds!r}."
        )


def fold_numbers(splits: list[Split]) -> NDArray[np.intp]:
    """(n,) in which part each row is held out."""
    numbers_ = np.empty(sum(len(test) for _, test in splits), dtype=np.intp)
    for fold, (_, test) in enumerate(splits):
        numbers_[test] = fold
    return numbers_
