"""Rows dealt into parts that are held out in turn."""

from __future__ import annotations

import numbers
import reprlib
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.compose.base import Lesson
from lineal.compose.seeds import generator_of
from lineal.data.dealing import dealer, parted, require_groups
from lineal.errors import InputError, ParameterError

Split = tuple[NDArray[np.intp], NDArray[np.intp]]


def require_folds(folds: Any) -> None:
    """Refuses what cannot deal rows into parts."""
    is_count = isinstance(folds, numbers.Integral) and not isinstance(folds, bool) and int(folds) >= 2
    is_splitter = hasattr(folds, "split") and not isinstance(folds, str)
    if not (is_count or is_splitter or _are_pairs(folds)):
        raise ParameterError(
            "folds must be a whole number from 2 on, a splitter with split(X, y, groups), or a list of (rows "
            f"to learn from, rows to hold out), got {reprlib.repr(folds)}."
        )


def _are_pairs(folds: Any) -> bool:
    return isinstance(folds, (list, tuple)) and all(
        isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in folds
    )


def splits_of(folds: Any, lesson: Lesson, codes: NDArray[np.int32], seed: Any) -> list[Split]:
    """(rows to learn from, rows held out) for each part; every row is held out once.

    A number of parts gives every one its share of each class, in an order drawn by the seed, and keeps groups
    whole; of a class with fewer rows than parts, not every part has one. A list of rows is about those that
    came; a splitter deals those that have a weight.
    """
    name = reprlib.repr(folds) if _are_pairs(folds) else repr(folds)
    if _are_pairs(folds):
        splits = [(_places(train, lesson), _places(test, lesson)) for train, test in folds]
    else:
        splits = _dealt(folds, lesson, codes, seed)
    _require_once(splits, len(codes), name)
    for train, test in splits:
        if np.isin(test, train).any():
            raise InputError(f"a row is held out and learnt from in the same fold of {name}.")
        if len(train) == 0 or (codes[train] == codes[train[0]]).all():
            raise InputError(
                "a fold holds out all rows of a class, and those that are left are of one class alone. Give "
                "more rows of the rare class, or folds that leave some of each."
            )
    return splits


def _dealt(folds: Any, lesson: Lesson, codes: NDArray[np.int32], seed: Any) -> list[Split]:
    splitter = folds
    if not hasattr(folds, "split"):
        if len(codes) < folds:
            raise InputError(f"{folds} folds need at least {folds} rows, but there are {len(codes)} samples.")
        require_groups(folds, lesson.groups)
        has_groups = lesson.groups is not None
        rng = generator_of(seed)
        # With more parts than any class has rows there are no shares to give: a class is dealt one to a part.
        has_shares = int(np.bincount(codes).max()) >= int(folds)
        if not has_shares and not has_groups:
            of_row = np.empty(len(codes), dtype=np.int64)
            of_row[np.lexsort((rng.permutation(len(codes)), codes))] = np.arange(len(codes)) % int(folds)
            return parted(of_row, int(folds))
        shuffled = int(rng.integers(2**31 - 1))
        splitter = dealer(int(folds), shuffled, are_classes=has_shares, has_groups=has_groups)
    try:
        with warnings.catch_warnings():
            if splitter is not folds:
                warnings.simplefilter("ignore", UserWarning)  # of classes with fewer rows than parts
            # Splitters of old take X and y alone.
            given = (lesson.X, codes) if lesson.groups is None else (lesson.X, codes, lesson.groups)
            made = list(splitter.split(*given))
    except ValueError as error:
        advice = "" if lesson.groups is not None else " If it is about groups, pass groups= to fit."
        raise InputError(f"{folds!r} cannot deal {len(codes)} rows: {error}{advice}") from error
    return [(np.asarray(train), np.asarray(test)) for train, test in made if len(test)]


def _places(rows: Any, lesson: Lesson) -> NDArray[np.intp]:
    """Rows of a list among those of the lesson; those of weight 0 are not there."""
    given = np.asarray(rows)
    if given.dtype.kind == "b":
        given = np.flatnonzero(given)
    n = lesson.n_given or lesson.n_rows
    if given.ndim != 1 or (len(given) and given.dtype.kind not in "iu") or (given < 0).any():
        raise InputError("a list of folds must have numbers of rows, from 0 on: (train, test) for each fold.")
    if len(given) and given.max() >= n:
        raise InputError(f"a list of folds names row {given.max()}, but there are {n} rows.")
    if lesson.kept is None:
        return given.astype(np.intp)
    return np.searchsorted(lesson.kept, given[np.isin(given, lesson.kept)])


def _require_once(splits: list[Split], n_rows: int, folds: str) -> None:
    held_out = np.concatenate([test for _, test in splits]) if splits else np.empty(0, dtype=np.intp)
    if held_out.max(initial=0) >= n_rows:
        raise InputError(
            f"{folds} holds out row {held_out.max()}, but there are {n_rows} rows (those of weight 0 are "
            "left out before they are dealt)."
        )
    times = np.bincount(held_out, minlength=n_rows)
    if (times != 1).any():
        row = int(np.flatnonzero(times != 1)[0])
        raise InputError(
            f"every row must be held out once, but row {row} is held out {times[row]} times by {folds}."
        )


def fold_numbers(splits: list[Split]) -> NDArray[np.intp]:
    """(n,) in which part each row is held out."""
    numbers_ = np.empty(sum(len(test) for _, test in splits), dtype=np.intp)
    for fold, (_, test) in enumerate(splits):
        numbers_[test] = fold
    return numbers_
