"""Blocks of rows, worked on at the same time; what comes out does not depend on how many threads did it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

# So many numbers of a block are worked on at a time: they stay in a processor's cache.
_BLOCK_NUMBERS = 1 << 15


def row_blocks(n_rows: int, numbers_per_row: int) -> Iterator[slice]:
    """All rows, in blocks whose size depends on the width of a row and on nothing else."""
    size = max(1, _BLOCK_NUMBERS // max(1, numbers_per_row))
    for first in range(0, n_rows, size):
        yield slice(first, min(first + size, n_rows))


def for_each_block(work: Callable[[slice], None], blocks: Iterator[slice], n_threads: int) -> None:
    """Does the work of every block; NumPy and SciPy let other threads run while they compute."""
    todo = list(blocks)
    if len(todo) <= 1 or n_threads == 1:
        for block in todo:
            work(block)
        return
    from threadpoolctl import threadpool_limits

    # Threads of BLAS beside ours would fight for the same cores.
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(min(n_threads, len(todo))) as pool:
        for done in [pool.submit(work, block) for block in todo]:
            done.result()
