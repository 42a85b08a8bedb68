"""Sparse rows as three arrays, (starts, columns, values), put side by side; NumPy and the core alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.errors import InputError

Arrays = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def side_by_side(blocks: Sequence[tuple[Arrays, int]]) -> Arrays:
    """The columns of all blocks, each given with how many columns it has; rows stay sorted.

    Numbers get the type that holds those of all blocks, as SciPy's ``hstack`` does.
    """
    if len(blocks) == 1:
        return blocks[0][0]
    sizes = [np.diff(starts) for (starts, _, _), _ in blocks]
    starts = np.concatenate(([0], np.cumsum(np.sum(sizes, axis=0)))).astype(np.int64)
    columns = np.empty(starts[-1], dtype=np.int32)
    dtype = np.result_type(np.float32, *(data for (_, _, data), _ in blocks))
    values = np.empty(starts[-1], dtype=dtype)
    begins, first = starts[:-1].copy(), 0
    for ((own_starts, own_columns, own_values), n_columns), size in zip(blocks, sizes, strict=True):
        own_rows = (
            np.ascontiguousarray(own_starts, dtype=np.int64),
            np.ascontiguousarray(own_columns, np.int32),
        )
        own = np.ascontiguousarray(own_values, dtype=dtype)
        _core.put_rows(*own_rows, own, begins, first, columns, values)
        begins += size
        first += n_columns
    return starts, columns, values


def from_dense(block: NDArray[Any]) -> Arrays:
    """The numbers of an array that are not 0."""
    rows, columns = np.nonzero(block)
    starts = np.zeros(len(block) + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=len(block)), out=starts[1:])
    return starts, columns.astype(np.int32), block[rows, columns]


def one_hot(codes: NDArray[Any]) -> Arrays:
    """A 1 in the column of each row's code, and nothing for codes below 0."""
    there = codes >= 0
    starts = np.concatenate(([0], np.cumsum(there)))
    return starts.astype(np.int64), codes[there].astype(np.int32), np.ones(starts[-1])


def empty_rows(n_rows: int) -> Arrays:
    """Rows without a number."""
    return np.zeros(n_rows + 1, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0)


def in_precision(rows: Arrays, dtype: Any, what: str, remedy: str) -> Arrays:
    """Rows with numbers of a type; those beyond it are refused with their row and column."""
    starts, columns, values = rows
    with np.errstate(over="ignore"):
        values = values.astype(dtype, copy=False)
    if not np.isfinite(values).all():
        first = int(np.flatnonzero(~np.isfinite(values))[0])
        row = int(np.searchsorted(starts, first, side="right")) - 1
        raise InputError(
            f"{what} is beyond {values.dtype}, first at row {row}, column {columns[first]}. {remedy}"
        )
    return starts, columns, values
