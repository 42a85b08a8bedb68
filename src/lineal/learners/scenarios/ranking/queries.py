"""Queries and their weights, as they come from outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.data.targets import classes_and_codes, plain_array
from lineal.errors import InputError, ParameterError
from lineal.objective.losses import FloatArray


def queries_of_rows(groups: Any, n_rows: int) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """The queries and each row's place among them; without groups all rows are one query."""
    if groups is None:
        return np.zeros(1, dtype=np.int64), np.zeros(n_rows, dtype=np.int32)
    labels = plain_array(groups)
    if labels.ndim != 1 or len(labels) != n_rows:
        raise InputError(
            f"groups must name one query for each of {n_rows} rows, got an array of shape {labels.shape}."
        )
    is_missing = np.array([label is None or label != label for label in labels.tolist()], dtype=bool)
    if is_missing.any():
        row = int(np.flatnonzero(is_missing)[0])
        raise InputError(
            f"groups has no query at row {row}: {labels.tolist()[row]!r}. Name it or drop the row."
        )
    return classes_and_codes(labels)


def weights_of_queries(query_weight: Mapping[Any, float] | None, queries: NDArray[Any]) -> FloatArray:
    """(Q,) weights >= 0; queries that are not named weigh 1."""
    weights = np.ones(len(queries))
    if query_weight is None:
        return weights
    if not isinstance(query_weight, Mapping):
        raise ParameterError(f"query_weight must be a dict of query to weight, got {query_weight!r}.")
    place = {query: k for k, query in enumerate(queries.tolist())}
    unknown = [query for query in query_weight if query not in place]
    if unknown:
        raise InputError(f"query_weight names queries that are not among the groups: {unknown[:5]}.")
    for query, weight in query_weight.items():
        weights[place[query]] = weight
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise InputError("query_weight must be finite and >= 0.")
    return weights
