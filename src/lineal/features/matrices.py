"""Matrices and weights of rows as the maps of this package need them, and finite numbers as others do."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.deferred import sparse as sp
from lineal.errors import InputError


def canonical(X: Any) -> Any:
    """A CSR or CSC matrix with sound indices, sorted and without duplicates; X itself where it is so."""
    try:
        X.check_format(full_check=True)
    except ValueError as error:
        raise InputError(f"X is a corrupt sparse matrix: {error}. Build it again.") from error
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def weights_of_rows(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    """(n_rows,) weights of at least 0, some of them positive."""
    if sample_weight is None:
        return np.ones(n_rows)
    try:
        s = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"sample_weight must be numbers: {error}.") from error
    s = np.full(n_rows, float(s)) if s.ndim == 0 else s
    if s.shape != (n_rows,):
        raise InputError(
            f"sample_weight must hold one number for each of {n_rows} rows, got shape {s.shape}."
        )
    bad = ~np.isfinite(s) | (s < 0)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise InputError(f"sample_weight must be finite and >= 0, got {s[row]} at row {row}.")
    if not s.any():
        raise InputError("every sample_weight is zero, so there is nothing to learn from.")
    return s


def refuse_overflow(X: Any, what: str, remedy: str) -> None:
    """Refuses numbers beyond what the precision holds, with their row and column."""
    values = X.data if sp.issparse(X) else X
    if np.isfinite(values).all():
        return
    if sp.issparse(X):
        at = X.tocoo()
        first = int(np.flatnonzero(~np.isfinite(at.data))[0])
        row, column = at.row[first], at.col[first]
    else:
        row, column = np.argwhere(~np.isfinite(X))[0]
    raise InputError(f"{what} is beyond {values.dtype}, first at row {row}, column {column}. {remedy}")
