"""BLAS held to one thread while native passes have the cores.

The threads of OpenBLAS wait for their next work by spinning, for tens of milliseconds after each sum of more
than ten thousand numbers. On two cores that takes the second one from every native pass in between: X'u of a
sparse matrix then takes longer with two threads than with one.
"""

from __future__ import annotations

import sys
from threading import Lock
from types import TracebackType
from typing import Any

from threadpoolctl import ThreadpoolController


class OneBlasThread:
    """While at least one is open, in any thread, BLAS has one thread; the last one out restores what was.

    To find the libraries takes 1 to 3 ms, so they are looked for again only when modules have been imported.
    """

    _lock, _n_open = Lock(), 0
    _limits: Any = None
    _libraries: tuple[int, ThreadpoolController] | None = None

    def __enter__(self) -> None:
        with self._lock:
            if OneBlasThread._n_open == 0:
                OneBlasThread._limits = self._found().limit(limits=1, user_api="blas")
            OneBlasThread._n_open += 1

    @staticmethod
    def _found() -> ThreadpoolController:
        n_modules = len(sys.modules)
        if OneBlasThread._libraries is None or OneBlasThread._libraries[0] != n_modules:
            OneBlasThread._libraries = n_modules, ThreadpoolController()
        return OneBlasThread._libraries[1]

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            OneBlasThread._n_open -= 1
            if OneBlasThread._n_open == 0 and OneBlasThread._limits is not None:
                OneBlasThread._limits.restore_original_limits()
