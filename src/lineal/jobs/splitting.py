"""Which rows a model is judged by."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lineal.errors import InputError, ParameterError
from lineal.evaluation.fits import Table, splits_of
from lineal.jobs.dataset import Dataset

Split = tuple[NDArray[np.intp], NDArray[np.intp]]
# A share of rows is met to one part in so many.
_MOST_PARTS = 100


@dataclass(frozen=True)
class Plan:
    """Pairs of rows to learn from and rows to judge by, and a sentence about them."""

    splits: list[Split]
    sentence: str


def held_out(data: Dataset, task: str, share: float, seed: int) -> Plan:
    """One part held out: shuffled, in the proportions of the labels, whole groups on one side.

    Rows are dealt into equal parts, of which some are held out, so that the share is met to a hundredth.
    """
    if not 0.0 < share < 1.0:
        raise ParameterError(f"the share of rows to hold out must be between 0 and 1, got {share!r}.")
    units = len(data) if data.groups is None else len(set(data.groups.tolist()))
    if units < 2:
        what = "row" if data.groups is None else "group"
        raise InputError(f"there is one {what}: nothing can be held out. Give a test file with --test.")
    n_held, n_parts = _parts(share, units)
    splits = _folds(data, task, n_parts, seed)[:n_held]
    test = np.sort(np.concatenate([part for _, part in splits]))
    is_held = np.zeros(len(data), dtype=bool)
    is_held[test] = True
    train = np.flatnonzero(~is_held)
    _check_labels(data, task, train)
    kind = "groups" if data.groups is not None else "rows"
    return Plan(
        [(train, test)], f"{len(test):,} of {len(data):,} rows held out ({kind} at random, seed {seed})"
    )


def _parts(share: float, units: int) -> tuple[int, int]:
    """How many of how many equal parts are a share: at least one on either side."""
    nearest = Fraction(share).limit_denominator(min(_MOST_PARTS, units))
    if nearest <= 0:
        return 1, min(_MOST_PARTS, units)
    if nearest >= 1:
        return min(_MOST_PARTS, units) - 1, min(_MOST_PARTS, units)
    return nearest.numerator, nearest.denominator


def folds(data: Dataset, task: str, n_folds: int, seed: int) -> Plan:
    """Every row held out once."""
    kind = "whole groups" if data.groups is not None else "rows"
    splits = _folds(data, task, n_folds, seed)
    for train, _ in splits:
        _check_labels(data, task, train)
    return Plan(splits, f"{n_folds} folds: every row held out once ({kind}, seed {seed})")


def _folds(data: Dataset, task: str, n_folds: int, seed: int) -> list[Split]:
    # The rows themselves play no part in how they are dealt.
    table = Table(np.empty((len(data), 0)), data.y, None, data.groups)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of labels with fewer rows than folds
        try:
            splits: list[Split] = splits_of(table, n_folds, task, np.random.default_rng(seed))
        except InputError:
            raise
        except ValueError:  # no label at all has as many rows as there are folds
            splits = _dealt(data, n_folds, seed)
    return splits


def _dealt(data: Dataset, n_folds: int, seed: int) -> list[Split]:
    """Rows in the order of their labels, dealt like cards; groups in any order, as whole cards."""
    shuffled = np.random.default_rng(seed).permutation(len(data))
    units = data.y if data.groups is None else data.groups
    _, codes = np.unique(units[shuffled], return_inverse=True)
    if data.groups is None:
        part = np.empty(len(data), dtype=np.intp)
        part[shuffled[np.argsort(codes, kind="stable")]] = np.arange(len(data)) % n_folds
    else:
        cards = np.random.default_rng(seed).permutation(codes.max() + 1) % n_folds
        part = np.empty(len(data), dtype=np.intp)
        part[shuffled] = cards[codes]
    return [(np.flatnonzero(part != k), np.flatnonzero(part == k)) for k in range(n_folds)]


def _check_labels(data: Dataset, task: str, train: NDArray[np.intp]) -> None:
    if task == "classification" and len(set(data.y[train].tolist())) < 2:
        raise InputError(
            "all rows to learn from would have one label. Give more rows, or a test file with --test."
        )
