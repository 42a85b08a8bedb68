"""Files that are read while something else is done."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from lineal.data.records import Records, read_records


class ReadAhead:
    """Begins to read files, each in a thread; called like ``read_records``, it waits for what it has begun.

    The core reads without holding Python up, so that what is imported meanwhile costs no time. What cannot
    be read is raised when it is asked for.
    """

    def __init__(self, paths: Sequence[str], **options: Any) -> None:
        self._options = options
        self._pool = ThreadPoolExecutor(len(paths))
        self._found: dict[str, Future[Records]] = {
            path: self._pool.submit(read_records, path, **options) for path in paths
        }
        self._pool.shutdown(wait=False)

    def __call__(self, path: str, **options: Any) -> Records:
        """The records of a file: those that were begun to be read, or others."""
        if path in self._found and options == self._options:
            return self._found[path].result()
        return read_records(path, **options)
