"""Texts that can be read only once: pieces of them, and vocabularies of more text than memory holds.

The terms of each piece are counted, and written in order to a temporary file. At the end all these runs are
merged, and what is counted is the same as if all texts had been there at once.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, BinaryIO, Self, cast

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.data.documents import chunks, speaks_arrow
from lineal.errors import InputTypeError

# Runs that are merged at once; each needs a buffer of 256 kB.
MOST_RUNS = 128


def is_stream(source: Any) -> bool:
    """Whether texts can be read only once: an iterator, or an Arrow stream without a length."""
    if speaks_arrow(source):
        return hasattr(source, "__arrow_c_stream__") and not hasattr(source, "__len__")
    return isinstance(source, Iterator)


def pieces(source: Any, n_bytes: int, missing: str) -> Iterator[_core.Documents]:
    """Documents of about so many bytes; of an iterator over documents, each of them or its parts."""
    if isinstance(source, Iterator) and not speaks_arrow(source):
        nothing = object()
        first = next(source, nothing)
        source = chain(() if first is nothing else (first,), source)
        if isinstance(first, _core.Documents):
            del first  # what is read may be given back
            for documents in source:
                if not isinstance(documents, _core.Documents):
                    raise InputTypeError(
                        f"An iterator over documents gave a {type(documents).__name__}. Give one kind only."
                    )
                yield from documents.split(n_bytes)
            return
        del first
    yield from chunks(source, n_bytes=n_bytes, missing=missing)


class _Scratch:
    """A file that has no name and is gone when it is closed, or when the process ends in whatever way."""

    def __init__(self) -> None:
        self._file = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115 (closed by close)
        self.n_bytes = 0

    def write(self, data: bytes) -> None:
        try:
            self._file.write(data)
            self._file.flush()
        except OSError as error:
            raise OSError(
                error.errno,
                f"The terms of the texts did not go into a temporary file in {tempfile.gettempdir()}, behind "
                f"{self.n_bytes} bytes of them: {error.strerror}. Make room there, or set TMPDIR to another "
                "folder.",
            ) from error
        self.n_bytes += len(data)

    def read(self, at: int, n_bytes: int) -> bytes:
        self._file.seek(at)
        return self._file.read(n_bytes)

    def close(self) -> None:
        self._file.close()


class TermRuns:
    """Counted terms of many pieces of text, on disk.

    After ``merge`` it answers as ``_core.Terms`` and ``_core.GramTerms`` do, for the terms that were left.
    """

    def __init__(self, vocabulary: Callable[..., Any]) -> None:
        self._vocabulary = vocabulary  # (read, n_bytes, columns) -> arrays
        self._file = _Scratch()
        self._places: list[tuple[int, int]] = []

    @classmethod
    def of_ngrams(cls, max_n: int) -> Self:
        """Of n-grams of words or characters, as ``_core.Terms`` counts them."""
        return cls(lambda read, n_bytes, columns: _core.run_vocabulary(read, n_bytes, columns, max_n))

    @classmethod
    def of_names(cls) -> Self:
        """Of character n-grams inside words, as ``_core.GramTerms`` counts them."""
        return cls(_core.run_names)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._file.close()

    def add(self, terms: _core.Terms | _core.GramTerms) -> None:
        """Writes the terms of one more piece."""
        self._places.append((self._file.n_bytes, terms.write_run(self._file.write)))

    def merge(self, least: float, most: float) -> None:
        """Makes one run of all, of the terms that are in ``least`` to ``most`` documents."""
        while len(self._places) > MOST_RUNS:
            groups = [
                self._places[first : first + MOST_RUNS] for first in range(0, len(self._places), MOST_RUNS)
            ]
            self._rewrite(groups, 0.0, math.inf, wants_numbers=False)
        self._n_documents, self._totals = self._rewrite([self._places], least, most, wants_numbers=True)

    def _rewrite(
        self, groups: list[list[tuple[int, int]]], least: float, most: float, wants_numbers: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        before, self._file = self._file, _Scratch()
        try:
            self._places = []
            for group in groups:
                first = self._file.n_bytes
                n_bytes, n_documents, totals = _core.merge_runs(
                    before.read, group, self._file.write, least, most, wants_numbers
                )
                self._places.append((first, n_bytes))
        finally:
            before.close()
        return n_documents, totals

    def n_documents(self) -> NDArray[np.int64]:
        return self._n_documents

    def totals(self) -> NDArray[np.int64]:
        return self._totals

    def vocabulary(self, columns: NDArray[np.int32]) -> Any:
        return self._vocabulary(self._file.read, self._file.n_bytes, columns)
