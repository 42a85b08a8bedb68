"""Learners for a picture of what they learnt: named, copied and fitted on one set of data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from lineal.errors import InputError, ParameterError
from lineal.objective.losses import FloatArray

Learners = Any  # a learner, or a mapping of names to learners


def fitted(caller: str, learners: Learners, X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
    """Copies of the learners by their names, fitted; the given ones stay as they are."""
    named = dict(learners) if isinstance(learners, Mapping) else {type(learners).__name__: learners}
    if not named or not all(hasattr(each, "fit") and hasattr(each, "predict") for each in named.values()):
        raise ParameterError(
            f"{caller} needs a learner, or a dict of names to learners, such as "
            f"{{'k = 9': KNeighborsRegressor(9)}}; got {learners!r}."
        )
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    return {str(name): clone(learner).fit(X, y, **weights) for name, learner in named.items()}


def plane(caller: str, X: Any, n_columns: int) -> FloatArray:
    """X as finite numbers in that many columns."""
    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != n_columns or not np.isfinite(points).all():
        raise InputError(
            f"{caller} draws data with {n_columns} column{'s' if n_columns > 1 else ''} of finite numbers, "
            f"got shape {points.shape}."
        )
    return points


def spanned(values: NDArray[Any], n_points: int, margin: float) -> FloatArray:
    """Evenly spaced numbers from a little below the least to a little above the greatest."""
    low, high = float(values.min()), float(values.max())
    room = margin * (high - low) if high > low else 1.0
    return np.linspace(low - room, high + room, n_points)
