"""Where results may be written, and where flaws are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lineal.errors import CellError, InputError, ParameterError


@contextmanager
def told_of_file(path: str, row_of: Callable[[int], int]) -> Iterator[None]:
    """Puts the file before what a model says of a piece of it, and its own row in place of the piece's."""
    place = "standard input" if path == "-" else path
    try:
        yield
    except CellError as flaw:
        said = str(flaw) if flaw.row is None else flaw.of_row(row_of(flaw.row))
        raise InputError(f"{place}: {said}") from None
    except InputError as flaw:
        raise InputError(f"{place}: {flaw}") from None


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
