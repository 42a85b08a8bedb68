"""Texts from outside become documents for the core: views of UTF-8 where it lies, without a copy."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from lineal import _core
from lineal.errors import InputError, InputTypeError, ParameterError

Column = str | int | None


def documents(source: Any, *, column: Column = None, missing: str = "refuse") -> _core.Documents:
    """The texts of a list, array, series, table column or iterator, borrowed where they can be.

    Parameters
    ----------
    source
        A sequence or iterator of ``str`` (or of UTF-8 ``bytes``), a NumPy array, a pandas or Polars series or
        frame, or anything that speaks Arrow's C stream or array protocol (pyarrow, DuckDB, ...).
    column
        Which column, where the source is a table or a two-dimensional array.
    missing
        ``"refuse"`` raises for ``None``, NaN and null, with the row; ``"empty"`` reads them as empty texts.

    Returns
    -------
    _core.Documents
        What the texts lie in is held by it: later changes of the source do not matter.

    Raises
    ------
    InputError
        For missing texts, text that is not UTF-8, and a column that is not there or not chosen.
    InputTypeError
        For anything that is not text.

    Notes
    -----
    Nothing is copied from Arrow memory (strings with 32- and 64-bit offsets, string views, dictionaries). Of
    a ``str`` with other than ASCII characters Python keeps a UTF-8 copy inside the string itself.

    Examples
    --------
    >>> texts = documents(["Grüße", "and more"])
    >>> len(texts), texts[0], texts.n_bytes
    (2, 'Grüße', 15)
    """
    is_empty = _missing_is_empty(missing)
    source, column = _one_column(source, column)
    if isinstance(source, _core.Documents):
        return source
    if speaks_arrow(source):
        found = _core.ArrowTexts(source, column, is_empty).read()
        return checked(_core.Documents.from_sequence(()) if found is None else found)
    if isinstance(source, (list, tuple)):
        return checked(_core.Documents.from_sequence(source, is_empty))
    return checked(_core.Documents.from_iterator(iter(source), missing_is_empty=is_empty))


def chunks(
    source: Any, *, n_bytes: int = 1 << 22, column: Column = None, missing: str = "refuse"
) -> Iterator[_core.Documents]:
    """The same texts piece by piece, so that a source larger than memory can be read.

    A piece has at least ``n_bytes`` bytes of text, unless it is the last, and ends with the text that reaches
    them. Of an Arrow stream one batch at least is in memory; of an iterator no more than the piece.

    Examples
    --------
    >>> [len(piece) for piece in chunks(("word" for _ in range(5)), n_bytes=8)]
    [2, 2, 1]
    """
    if isinstance(n_bytes, bool) or not isinstance(n_bytes, (int, np.integer)) or n_bytes < 1:
        raise ParameterError(f"n_bytes must be a positive whole number, got {n_bytes!r}.")
    is_empty = _missing_is_empty(missing)
    source, column = _one_column(source, column)
    return _pieces(source, int(n_bytes), column, is_empty)


def _pieces(source: Any, n_bytes: int, column: str | None, is_empty: bool) -> Iterator[_core.Documents]:
    if isinstance(source, _core.Documents):
        yield from source.split(n_bytes)
        return
    first_row = 0
    if speaks_arrow(source):
        stream = _core.ArrowTexts(source, column, is_empty)
        while (batch := stream.read(n_bytes)) is not None:
            yield from checked(batch, first_row).split(n_bytes)
            first_row += len(batch)
        return
    iterator = iter(source)
    while len(piece := _core.Documents.from_iterator(iterator, n_bytes, is_empty, first_row)):
        yield checked(piece, first_row)
        first_row += len(piece)


def checked(texts: _core.Documents, first_row: int = 0) -> _core.Documents:
    """The documents, if all of them are UTF-8; ``first_row`` is the number of the first in its source."""
    flaw = texts.check()
    if flaw is None:
        return texts
    row, byte = flaw
    raise InputError(
        f"The text at row {first_row + row} is not UTF-8: byte {byte} is 0x{texts.raw(row)[byte]:02x}. "
        "Decode it with the encoding it was written in, for example text.decode('latin-1')."
    )


def speaks_arrow(source: Any) -> bool:
    """Whether the source lends its memory by the Arrow PyCapsule protocol."""
    return hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__")


def _missing_is_empty(missing: str) -> bool:
    if missing not in ("refuse", "empty"):
        raise ParameterError(f'missing must be "refuse" or "empty", got {missing!r}.')
    return missing == "empty"


def _one_column(source: Any, column: Column) -> tuple[Any, str | None]:
    """A source that the core can read, and the name of the column if the core is to choose it."""
    if isinstance(source, (str, bytes, bytearray)):
        raise InputTypeError(
            f"A sequence of documents is needed, but one {type(source).__name__} came. "
            "Put a single document into a list: [text]."
        )
    if isinstance(source, os.PathLike):
        raise InputTypeError(
            "Documents are needed, but a path came. "
            f"Read the file first: lineal.data.read_texts({str(source)!r})."
        )
    if isinstance(source, np.ndarray):
        return _of_array(source, column).tolist(), None
    if isinstance(source, Mapping):
        return _one_column(_looked_up(source, column, list(source)), None)
    if hasattr(source, "iloc"):
        return _of_pandas(source, column), None
    if speaks_arrow(source):
        if isinstance(column, int):
            raise ParameterError(
                f"column must be a name for a table of {type(source).__name__}, got {column}."
            )
        return source, column
    if column is not None:
        raise InputError(
            f"column={column!r} was given, but a {type(source).__name__} has no columns. Leave it out."
        )
    if isinstance(source, (set, frozenset)) or not (
        hasattr(source, "__iter__") or hasattr(source, "__getitem__")
    ):
        raise InputTypeError(
            f"A sequence of texts is needed, but an object of type {type(source).__name__} came. "
            "Give a list, an array, a series or an Arrow column of strings."
        )
    return source, None


def _of_array(array: np.ndarray[Any, Any], column: Column) -> np.ndarray[Any, Any]:
    if array.dtype.names is not None:
        array = _looked_up(array, column, list(array.dtype.names))
    elif array.ndim == 2:
        if column is None and array.shape[1] != 1:
            raise InputError(
                f"One column of texts is needed, but the array has shape {array.shape}. "
                "Give one column alone, or say which with column=."
            )
        index = 0 if column is None else column
        if not isinstance(index, (int, np.integer)) or not -array.shape[1] <= index < array.shape[1]:
            raise InputError(f"column={column!r} is not one of the {array.shape[1]} columns. Count from 0.")
        array = array[:, index]
    elif column is not None:
        raise InputError(f"column={column!r} was given, but the array has one column. Leave it out.")
    if array.ndim != 1:
        raise InputError(f"One column of texts is needed, but the array has shape {array.shape}.")
    if array.dtype.kind not in "UOST":
        raise InputTypeError(
            f"Texts are needed, but the array has dtype {array.dtype}. Convert it with array.astype(str)."
        )
    return array


def _of_pandas(frame: Any, column: Column) -> Any:
    if frame.ndim == 2:
        series = _looked_up(frame, column, list(frame.columns))
        if series.ndim != 1:
            raise InputError(f"The table has several columns named {column!r}. Rename them.")
    elif column is not None:
        raise InputError(f"column={column!r} was given, but a series has one column. Leave it out.")
    else:
        series = frame
    # Objects are Python's strings, which are read where they lie; Arrow would copy them.
    return series if speaks_arrow(series) and series.dtype != object else series.tolist()


def _looked_up(table: Any, column: Column, names: list[Any]) -> Any:
    shown = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
    if column is None and len(names) == 1:
        column = names[0]
    elif column is None:
        raise InputError(
            f"A table with {len(names)} columns came where one column of texts was needed. "
            f"Give one of them alone, or say which with column=: {shown}."
        )
    if column not in names:
        raise InputError(f"The table has no column {column!r}. Its columns are {shown}.")
    return table[column]
