"""Sparse rows from lines of LIBSVM (SVMlight, SVMrank) and Vowpal Wabbit, read by the core."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.data.blocks import Window
from lineal.errors import InputError, ParameterError

_NO_NUMBERS: NDArray[np.int64] = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class SparseRows:
    """Rows with few columns each, as CSR arrays: row i is ``indices[indptr[i]:indptr[i + 1]]``, rising.

    Attributes
    ----------
    labels : array of float64
        NaN where a line has none.
    indptr, indices, values : arrays of int64, int32 and float64
    n_columns : int
        In a part of a stream: how many were met so far, unless they were given.
    queries : array of int64 or None
        The groups of SVMrank, ``qid:``.
    weights : array of float64 or None
        The importances of VW.
    tags : list of str or None
        The tags of VW.
    n_unknown : int
        How many entries were dropped because their columns are not among those that were asked for.
    first_index : int or None
        What LIBSVM calls the first column, 0 or 1. Another file of the same data, which may lack an index 0,
        must be read with it.
    """

    labels: NDArray[np.float64]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float64]
    n_columns: int
    queries: NDArray[np.int64] | None = None
    weights: NDArray[np.float64] | None = None
    tags: list[str] | None = None
    n_unknown: int = 0
    first_index: int | None = None
    _named_by: Any = field(default=None, repr=False, compare=False)  # a reader, or the names themselves

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.labels)

    @cached_property
    def names(self) -> list[str] | None:
        """``namespace^feature`` by column for VW, spelled when they are first asked for; None for LIBSVM."""
        if isinstance(self._named_by, _core.VwLines):
            return self._named_by.names(self.n_columns)
        return None if self._named_by is None else list(self._named_by)

    def to_scipy(self) -> Any:
        """The rows as a SciPy CSR array of the same memory."""
        import scipy.sparse as sp

        shape = (self.n_rows, self.n_columns)
        return sp.csr_array((self.values, self.indices, self.indptr), shape=shape)

    def __repr__(self) -> str:
        return f"SparseRows({self.n_rows} rows, {self.n_columns} columns, {len(self.values)} values)"


@dataclass(frozen=True, kw_only=True)
class SparseOptions:
    """What is known about the columns before they are read."""

    n_columns: int | None = None
    names: tuple[str, ...] | None = None
    first_index: int | None = None

    def check(self) -> None:
        """Refuses what cannot be."""
        if self.first_index not in (None, 0, 1):
            raise ParameterError(f"first_index must be 0 or 1, got {self.first_index!r}.")
        if self.n_columns is not None and not 0 <= self.n_columns < 2**31:
            raise ParameterError(f"n_columns must be between 0 and 2^31 - 1, got {self.n_columns!r}.")
        if self.names is not None and len(set(self.names)) < len(self.names):
            raise ParameterError("names must differ from each other.")


def sparse_parts(
    window: Window, format: str, options: SparseOptions, *, is_whole: bool
) -> Iterator[tuple[SparseRows, int]]:
    """Rows part by part, or all at once, and how many bytes they were read from.

    LIBSVM counts columns from 1 unless an index 0 is met. A stream decides that by its first part, and an
    index 0 that comes later is refused with its line: ``first_index=0`` says so beforehand.
    """
    if window.is_last and not window.bytes:
        raise InputError("the file is empty: there are no lines in it.")
    reader: Any = _VwReader(options) if format == "vw" else _LibsvmReader(options)
    found: list[SparseRows] = []
    n_bytes, is_first = 0, True
    while True:
        *arrays, n_done = reader.lines.scan(window.bytes, window.is_last)
        part = _rows(arrays)
        n_bytes += n_done
        if is_whole:
            found.append(part)
        elif part.n_rows or (is_first and window.is_last):
            yield reader.finished(part), n_done
            is_first = False
        if window.is_last:
            break
        window.more(n_done)
    if is_whole:
        yield reader.finished(joined(found)), n_bytes


def _rows(arrays: Sequence[Any]) -> SparseRows:
    labels, indptr, indices, values, queries, weights, tags = arrays
    return SparseRows(
        labels,
        indptr,
        indices,
        values,
        0,
        queries if len(queries) else None,
        weights if len(weights) else None,
        tags or None,
    )


class _LibsvmReader:
    def __init__(self, options: SparseOptions) -> None:
        if options.names is not None:
            raise ParameterError("names are those of VW; LIBSVM has numbers. Give n_columns=.")
        self._first = options.first_index
        self._n_columns = options.n_columns
        self.lines = _core.LibsvmLines(options.first_index or 0)

    def finished(self, part: SparseRows) -> SparseRows:
        """The part with columns counted from 0, and without those that nobody asked for."""
        if self._first is None and self.lines.smallest >= 0:
            self._first = 0 if self.lines.smallest == 0 else 1
            self.lines.count_from(self._first)
        first = self._first or 0
        part = replace(part, n_columns=max(0, self.lines.largest + 1 - first), first_index=self._first)
        if first:
            np.subtract(part.indices, first, out=part.indices)
        return part if self._n_columns is None else _cut(part, self._n_columns)


class _VwReader:
    def __init__(self, options: SparseOptions) -> None:
        if options.first_index is not None or options.n_columns is not None:
            raise ParameterError(
                "first_index and n_columns are options of libsvm; VW has names. Give names=."
            )
        self.lines = _core.VwLines(None if options.names is None else list(options.names))
        self._n_unknown = 0

    def finished(self, part: SparseRows) -> SparseRows:
        """The part with its names."""
        n_unknown, self._n_unknown = self.lines.n_unknown - self._n_unknown, self.lines.n_unknown
        return replace(part, n_columns=self.lines.n_names, n_unknown=n_unknown, _named_by=self.lines)


def _cut(part: SparseRows, n_columns: int) -> SparseRows:
    is_kept = part.indices < n_columns
    n_kept = np.concatenate(([0], np.cumsum(is_kept, dtype=np.int64)))
    return replace(
        part,
        indptr=n_kept[part.indptr],
        indices=part.indices[is_kept],
        values=part.values[is_kept],
        n_columns=n_columns,
        n_unknown=len(is_kept) - int(n_kept[-1]),
    )


def joined(parts: Sequence[SparseRows]) -> SparseRows:
    """Parts of one file below each other; what only some of them have is 0, 1 or "" elsewhere."""
    if len(parts) == 1:
        return parts[0]
    offsets = np.cumsum([0, *(part.indptr[-1] for part in parts)])
    indptr = [part.indptr[1:] + offset for part, offset in zip(parts, offsets[:-1], strict=True)]
    last = parts[-1]

    def column(name: str, filler: float) -> Any:
        if all(getattr(part, name) is None for part in parts):
            return None
        return np.concatenate(
            [
                np.full(part.n_rows, filler) if getattr(part, name) is None else getattr(part, name)
                for part in parts
            ]
        )

    has_tags = any(part.tags is not None for part in parts)
    return SparseRows(
        np.concatenate([part.labels for part in parts]),
        np.concatenate([_NO_NUMBERS, [0], *indptr]).astype(np.int64),
        np.concatenate([part.indices for part in parts]),
        np.concatenate([part.values for part in parts]),
        last.n_columns,
        column("queries", 0),
        column("weights", 1.0),
        [tag for part in parts for tag in (part.tags or [""] * part.n_rows)] if has_tags else None,
        sum(part.n_unknown for part in parts),
        last.first_index,
        last._named_by,
    )
