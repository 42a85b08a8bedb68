"""Options that scenarios share, checked."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from lineal.errors import ParameterError


def checked_cost(name: str, value: Any) -> float:
    """A finite number > 0."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < float(value) < np.inf:
        raise ParameterError(f"{name} must be a finite number > 0, got {value!r}.")
    return float(value)


def checked_amount(name: str, value: Any) -> float:
    """A finite number >= 0."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 <= float(value) < np.inf:
        raise ParameterError(f"{name} must be a finite number >= 0, got {value!r}.")
    return float(value)


def checked_count(name: str, value: Any) -> int:
    """A whole number >= 1."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise ParameterError(f"{name} must be a whole number >= 1, got {value!r}.")
    return int(value)


def checked_share(name: str, value: Any) -> float:
    """A number between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 <= float(value) <= 1:
        raise ParameterError(f"{name} must be a number between 0 and 1, got {value!r}.")
    return float(value)


def checked_seconds(value: Any) -> None:
    """A number > 0, or None."""
    if value is not None and not (isinstance(value, numbers.Real) and float(value) > 0):
        raise ParameterError(f"max_seconds must be a number > 0 or None, got {value!r}.")


def checked_tolerance(value: Any) -> float:
    """The relative gap to certify; 1e-3 for None."""
    if value is None:
        return 1e-3
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not float(value) > 0:
        raise ParameterError(f"tol is a relative duality gap and must be > 0, got {value!r}.")
    return float(value)
