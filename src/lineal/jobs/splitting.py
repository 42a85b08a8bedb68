"""Which rows a model is judged by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.errors import InputError, ParameterError
from lineal.evaluation.fits import Table, splits_of
from lineal.jobs.dataset import Dataset

Split = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True)
class Plan:
    """Pairs of rows to learn from and rows to judge by, and a sentence about them."""

    splits: list[Split]
    sentence: str


def held_out(data: Dataset, task: str, share: float, seed: int) -> Plan:
    """One part held out: shuffled, in the proportions of the labels, whole groups on one side."""
    if not 0.0 < share < 1.0:
        raise ParameterError(f"the share of rows to hold out must be between 0 and 1, got {share!r}.")
    n_parts = max(2, round(1.0 / share)) if share <= 0.5 else max(2, round(1.0 / (1.0 - share)))
    units = len(data) if data.groups is None else len(set(data.groups.tolist()))
    if units < 2:
        what = "row" if data.groups is None else "group"
        raise InputError(f"there is one {what}: nothing can be held out. Give a test file with --test.")
    (rest, part), *_ = _folds(data, task, min(n_parts, units), seed)
    train, test = (rest, part) if share <= 0.5 else (part, rest)
    kind = "groups" if data.groups is not None else "rows"
    return Plan(
        [(train, test)], f"{len(test):,} of {len(data):,} rows held out ({kind} at random, seed {seed})"
    )


def folds(data: Dataset, task: str, n_folds: int, seed: int) -> Plan:
    """Every row held out once."""
    kind = "whole groups" if data.groups is not None else "rows"
    return Plan(
        _folds(data, task, n_folds, seed), f"{n_folds} folds: every row held out once ({kind}, seed {seed})"
    )


def _folds(data: Dataset, task: str, n_folds: int, seed: int) -> list[Split]:
    import warnings

    # The rows themselves play no part in how they are dealt.
    table = Table(np.empty((len(data), 0)), data.y, None, data.groups)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of labels with fewer rows than folds
        try:
            splits: list[Any] = splits_of(table, n_folds, task, np.random.default_rng(seed))
        except InputError:
            raise
        except ValueError:
            raise InputError(
                f"the {len(data)} rows cannot be dealt into {n_folds} parts with every label in each: there "
                "are too few. Give more rows, or a test file with --test."
            ) from None
    if task == "classification":
        for train, _ in splits:
            if len(set(data.y[train].tolist())) < 2:
                raise InputError(
                    "all rows to learn from would have one label. Give more rows, or a test file with --test."
                )
    return splits
