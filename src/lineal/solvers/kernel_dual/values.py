"""Where kernel values come from: the core, for kernels of dot products; a Gram matrix, for all others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.data import checked_rows
from lineal.errors import InputError
from lineal.kernels import Kernel
from lineal.objective.losses import FloatArray
from lineal.objective.rows import NativeRows

IntArray = NDArray[np.int64]

# Rows of kernel values that are computed at once for prediction: so many numbers.
_PIECE = 8_000_000


@dataclass(frozen=True, eq=False)
class KernelValues:
    """A kernel on items that it has checked.

    Kernels with a ``profile`` (linear, polynomial, Gaussian) are computed in the core when they are needed,
    and take no memory to speak of. Every other kernel gives its Gram matrix once: 8 n^2 bytes.
    """

    kernel: Kernel
    items: Any
    n_threads: int

    @property
    def n_rows(self) -> int:
        """How many items."""
        return self.kernel.size(self.items)

    @cached_property
    def matrix(self) -> _core.Matrix | None:
        """The items as the core sees them, where it computes the kernel."""
        return None if self.kernel.profile is None else _core_matrix(self.items, self.n_threads)

    @cached_property
    def native(self) -> _core.KernelValues:
        """The source that the core reads from."""
        profile = self.kernel.profile
        if profile is not None:
            return _core.KernelValues.from_rows(
                self.matrix, profile.kind, profile.gamma, profile.c, profile.degree
            )
        G = self.gram
        return _core.KernelValues.from_gram(G, G)

    @cached_property
    def gram(self) -> FloatArray:
        """All values, in float64."""
        G = self.kernel.compute(self.items, None, self.n_threads)
        if not np.isfinite(G).all():
            i, j = (int(k) for k in np.argwhere(~np.isfinite(G))[0])
            raise InputError(f"{self.kernel} is not finite for items {i} and {j}. Scale the data.")
        return np.ascontiguousarray(G, dtype=np.float64)

    @cached_property
    def first_equal(self) -> IntArray:
        """For each item the first one equal to it, where the core can tell; itself elsewhere."""
        if self.matrix is None:
            return np.arange(self.n_rows, dtype=np.int64)
        return _core.first_equal_rows(self.matrix)

    def diagonal(self) -> FloatArray:
        """k(x, x) of every item."""
        return self.kernel.compute_diagonal(self.items)


def expanded(
    values: KernelValues,
    others: Any,
    rows: IntArray,
    coefficients: FloatArray,
    segments: IntArray | None = None,
) -> FloatArray:
    """(n, n_segments, n_outputs) sums of coefficients times kernel values, in float64.

    ``rows`` are items of ``values``, ``coefficients`` (n_outputs, n) theirs, and ``segments`` says where
    parts of them begin and end that are summed apart. ``others`` are items that the kernel has checked.
    """
    if segments is None:
        segments = np.array([0, len(rows)], dtype=np.int64)
    n, n_outputs = values.kernel.size(others), len(coefficients)
    if not len(rows) or not n:
        return np.zeros((n, len(segments) - 1, n_outputs))
    if values.matrix is not None and hasattr(others, "tocsr") == hasattr(values.items, "tocsr"):
        Z = _core_matrix(others, values.n_threads)
        return values.native.expand(
            Z, rows, np.ascontiguousarray(coefficients, dtype=np.float64), segments, values.n_threads
        )
    support = values.kernel.take(values.items, rows)
    out = np.empty((n, len(segments) - 1, n_outputs))
    step = max(1, _PIECE // len(rows))
    for start in range(0, n, step):
        piece = np.arange(start, min(start + step, n))
        K = values.kernel.compute(values.kernel.take(others, piece), support, values.n_threads)
        for s in range(len(segments) - 1):
            part = slice(segments[s], segments[s + 1])
            out[piece, s] = K[:, part] @ coefficients[:, part].T
    return out


def _core_matrix(items: Any, n_threads: int) -> _core.Matrix:
    rows = checked_rows(items, n_threads)
    assert isinstance(rows, NativeRows)
    return rows.matrix
