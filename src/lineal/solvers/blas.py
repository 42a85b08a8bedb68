"""BLAS held to one thread while native passes have the cores.

The threads of OpenBLAS wait for their next work by spinning, for tens of milliseconds after each sum of more
than ten thousand numbers. On two cores that takes the second one from every native pass in between: X'u of a
sparse matrix then takes longer with two threads than with one.
"""

from __future__ import annotations

from threading import Lock
from types import TracebackType

from threadpoolctl import threadpool_limits


class OneBlasThread:
    """While at least one is open, in any thread, BLAS has one thread; the last one out restores what was."""

    _lock, _n_open = Lock(), 0
    _limits: threadpool_limits | None = None

    def __enter__(self) -> None:
        with self._lock:
            if OneBlasThread._n_open == 0:
                OneBlasThread._limits = threadpool_limits(1, user_api="blas")
            OneBlasThread._n_open += 1

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            OneBlasThread._n_open -= 1
            if OneBlasThread._n_open == 0 and OneBlasThread._limits is not None:
                OneBlasThread._limits.restore_original_limits()
