"""Checks of the options that solvers are made with."""

from __future__ import annotations

import numpy as np

from lineal.errors import ParameterError


def require(holds: bool, message: str) -> None:
    """Raises ParameterError with the message unless the condition holds."""
    if not holds:
        raise ParameterError(message)


def is_number(value: object) -> bool:
    """Whether it is a real number; True and False are not."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def is_whole(value: object) -> bool:
    """Whether it is a whole number; True and False are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def require_share(solver: str, name: str, value: float) -> None:
    """Raises ParameterError outside [0, 1)."""
    require(is_number(value) and 0 <= value < 1, f"{solver} needs 0 <= {name} < 1, got {value!r}.")


def require_positive(solver: str, name: str, value: float) -> None:
    """Raises ParameterError unless positive and finite."""
    require(
        is_number(value) and 0 < value < np.inf, f"{solver} needs a positive finite {name}, got {value!r}."
    )
