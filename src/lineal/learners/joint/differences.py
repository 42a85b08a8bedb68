"""The vectors phi(x, y) - phi(x, k) for the labels k that are wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.deferred import sparse as sp
from lineal.learners.perceptron.sizes import longest
from lineal.objective.linear_maps import native_csr

_ROWS = 1 << 16  # of a joint map, for which differences are made at a time


def differences(stack: Any, codes: NDArray[np.int32], n_labels: int) -> sp.csr_array:
    """One row for each x and wrong label, in their order; ``stack`` has phi(x_i, label k) in row i K + k."""
    label = np.arange(len(codes) * n_labels)
    gold = label // n_labels * n_labels + np.repeat(codes, n_labels)
    is_wrong = label != gold
    made = sp.csr_array(stack[gold[is_wrong]] - stack[is_wrong])
    made.eliminate_zeros()
    made.sort_indices()
    return made


def longest_difference(stack: Any, codes: NDArray[np.int32], n_labels: int) -> float:
    """The largest norm of a difference."""
    return max(longest(native_csr(part, 1), np.arange(part.shape[0]), 0.0)
               for part in _in_parts(stack, codes, n_labels))  # fmt: skip


def _in_parts(stack: Any, codes: NDArray[np.int32], n_labels: int) -> Iterator[sp.csr_array]:
    step = max(1, _ROWS // n_labels)
    for first in range(0, len(codes), step):
        part = codes[first : first + step]
        yield differences(stack[first * n_labels : (first + len(part)) * n_labels], part, n_labels)
