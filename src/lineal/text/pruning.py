"""Which terms get a column: by the documents they are in, and how often they occur."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.errors import InputError, ParameterError


def document_limits(min_df: Any, max_df: Any, n_documents: int) -> tuple[float, float]:
    """Bounds of df in documents; a whole number is a count, a fraction a share of the documents."""
    low = _limit("min_df", min_df, n_documents)
    high = _limit("max_df", max_df, n_documents)
    if n_documents == 0:
        raise InputError("No term was found: there are no documents.")
    if high < low:
        raise ParameterError(
            f"max_df={max_df!r} is fewer documents ({high:g}) than min_df={min_df!r} ({low:g}) "
            f"of {n_documents}."
        )
    return low, high


def check_limits(min_df: Any, max_df: Any) -> None:
    """A ParameterError for what can be no limit, however many documents there will be."""
    low, high = _limit("min_df", min_df, 1), _limit("max_df", max_df, 1)
    is_count = isinstance(min_df, numbers.Integral), isinstance(max_df, numbers.Integral)
    if is_count[0] == is_count[1] and high < low:
        raise ParameterError(f"max_df={max_df!r} is less than min_df={min_df!r}.")


def _limit(name: str, given: Any, n_documents: int) -> float:
    if isinstance(given, numbers.Integral) and not isinstance(given, bool) and int(given) >= 1:
        return float(given)
    if (
        isinstance(given, numbers.Real)
        and not isinstance(given, numbers.Integral)
        and 0.0 <= float(given) <= 1.0
    ):
        return float(given) * n_documents
    raise ParameterError(
        f"{name} must be a whole number of documents from 1 on, or a share between 0.0 and 1.0; "
        f"got {given!r}."
    )


def chosen_columns(
    n_documents: NDArray[np.int64],
    totals: NDArray[np.int64],
    low: float,
    high: float,
    max_features: int | None,
) -> NDArray[np.int32]:
    """The column of each term, in order, or -1.

    Kept are terms in at least ``low`` and at most ``high`` documents; of these, the ``max_features`` that
    occur most often (ties as scikit-learn breaks them).
    """
    is_kept = (n_documents >= low) & (n_documents <= high)
    if max_features is not None:
        kept = np.flatnonzero(is_kept)
        most = kept[(-totals[kept]).argsort()[:max_features]]
        is_kept = np.zeros_like(is_kept)
        is_kept[most] = True
    if not is_kept.any():
        if len(n_documents) == 0 and low <= 1.0:  # else rare terms may have been left out before
            raise InputError(
                "No term was found: the documents are empty, or hold only stop words and words that are too "
                "short. Look at the options that drop words."
            )
        raise InputError(
            f"No term is left: none is in {low:g} to {high:g} documents. Lower min_df or raise max_df."
        )
    columns = np.full(len(is_kept), -1, dtype=np.int32)
    columns[is_kept] = np.arange(np.count_nonzero(is_kept), dtype=np.int32)
    return columns
