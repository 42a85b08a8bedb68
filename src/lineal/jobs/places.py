"""Where results may be written, and where flaws are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lineal.errors import CellError, InputError, LinealError, ParameterError
from lineal.jobs.lines import first_line, place_of


@contextmanager
def told_of_cells(
    path: str, reading: dict[str, Any] | None, row_of: Callable[[int], int] | None = None
) -> Iterator[None]:
    """Puts the file before what is said of a cell, and its line, as an editor counts, in place of the row.

    ``row_of`` gives the row of the whole file where rows are those of a piece of it.
    """
    try:
        yield
    except CellError as flaw:
        if flaw.row is None:
            raise InputError(f"{_shown(path)}: {flaw}") from None
        row = flaw.row if row_of is None else row_of(flaw.row)
        said = flaw.said_of(place_of(row, _first_line_of(path, reading or {})))
        raise InputError(f"{_shown(path)}: {said}") from None


@contextmanager
def told_of_file(
    path: str, reading: dict[str, Any] | None, row_of: Callable[[int], int] | None = None
) -> Iterator[None]:
    """The same, and puts the file before whatever else is said of its rows."""
    with told_of_cells(path, reading, row_of):
        try:
            yield
        except CellError:
            raise
        except InputError as flaw:
            raise InputError(f"{_shown(path)}: {flaw}") from None


def _shown(path: str) -> str:
    return "standard input" if path == "-" else path


def _first_line_of(path: str, reading: dict[str, Any]) -> int | None:
    """The line of row 0, by reading the file again; None where that is not known, or no longer to be read."""
    from lineal.data.records import read_records

    if path == "-":
        return None
    try:
        return first_line(read_records(path, **reading), path, reading)
    except (LinealError, OSError):
        return None


def check_places(*paths: str | None, inputs: Sequence[str | None] = ()) -> None:
    """Refuses places where nothing can be written, or where something would be lost, before any work is done.

    Parameters
    ----------
    *paths
        Where results will go; None for one that is not wanted.
    inputs
        Files that are read, and must not be written over.
    """
    wanted = [path for path in paths if path is not None]
    for place, path in enumerate(wanted):
        if path == "-":
            raise ParameterError("this cannot go to the standard output: name a file to write it to.")
        if any(_is_same(path, given) for given in inputs if given is not None):
            raise ParameterError(f"{path} is read, and would be written over: write to another file.")
        if any(_is_same(path, other) for other in wanted[:place]):
            raise ParameterError(f"{path} cannot hold two results: write one of them to another file.")
        folder = Path(path).parent
        if not folder.is_dir():
            raise ParameterError(f"{path} cannot be written: there is no folder {folder}. Make it first.")
        if not os.access(folder, os.W_OK):
            raise ParameterError(f"{path} cannot be written: the folder {folder} is not yours to write to.")
        if Path(path).is_dir():
            raise ParameterError(f"{path} cannot be written: it is a folder.")


def _is_same(path: str, other: str) -> bool:
    """Whether two names are of one file; devices may be read and written at once."""
    first, second = Path(os.path.realpath(path)), Path(os.path.realpath(other))
    if first.exists() and second.exists():
        return first.samefile(second) and (first.is_file() or first.is_dir())
    return first == second
