"""Kernel values between items that were read before: all at once, or in blocks of bounded size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from lineal.kernels.base import Kernel
from lineal.objective.losses import FloatArray

# So many values at a time: 32 MB.
_BLOCK_NUMBERS = 1 << 22


def values(kernel: Kernel, items: Any, others: Any | None, n_threads: int) -> FloatArray:
    """k between checked items, all of them finite; with None, of the items with themselves."""
    return kernel._finite(kernel.compute(items, others, n_threads))


def value_blocks(
    kernel: Kernel, items: Any, others: Any, n_threads: int, n_numbers: int = _BLOCK_NUMBERS
) -> Iterator[tuple[slice, FloatArray]]:
    """k between items and others, row by row of the items, in blocks of about ``n_numbers`` values.

    The blocks do not depend on ``n_threads``.
    """
    n_rows = kernel.size(items)
    size = max(1, n_numbers // max(1, kernel.size(others)))
    for first in range(0, n_rows, size):
        rows = slice(first, min(first + size, n_rows))
        part = items if size >= n_rows else kernel.take(items, np.arange(rows.start, rows.stop))
        yield rows, values(kernel, part, others, n_threads)
