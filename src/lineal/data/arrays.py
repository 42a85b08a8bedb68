"""Arrays from outside become rows for the objective: checked, borrowed where they can be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lineal.data.matrices import checked_matrix
from lineal.objective.linear_maps import NativeRows


def checked_rows(
    X: Any, n_threads: int, names: Sequence[str] | None = None, *, as_stored: bool = False
) -> NativeRows:
    """A float array or SciPy matrix as rows for the core, as :func:`lineal.data.matrices.checked_matrix`.

    Rows whose columns do not increase stay as they are until somebody needs them in order; a few numbers are
    put in order at once, unless rows are wanted ``as_stored``: pieces of them are then what the whole is.
    """
    matrix, dense = checked_matrix(X, n_threads, names, in_order=False, as_stored=as_stored)
    return NativeRows(matrix, n_threads, dense)
