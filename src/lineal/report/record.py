"""What every part of a report is: a frozen record of plain data."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any

from lineal.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Record:
    """A frozen record whose fields are plain: words, numbers, records, tuples of them, or None.

    Lists, arrays and NumPy's numbers are turned into tuples and Python's numbers when the record is made, so
    a report cannot change afterwards, and two reports of the same content are equal.
    """

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, _plain(getattr(self, field.name)))
        self._check()

    def _check(self) -> None:
        """Refuses fields that do not fit together."""

    def _needs(self, is_so: bool, needed: str) -> None:
        """Raises unless ``is_so``: ``needed`` says what the record needs."""
        if not is_so:
            raise InputError(f"{type(self).__name__} needs {needed}.")

    def to_dict(self) -> dict[str, Any]:
        """The fields as ``json`` takes them; numbers that it does not have (NaN, infinite ones) are None."""
        return {field.name: _for_json(getattr(self, field.name)) for field in fields(self)}


def _plain(value: Any) -> Any:
    """``value`` without lists, arrays and types of NumPy."""
    if value is None or isinstance(value, str | bool | Record):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, dict):
        return tuple((_plain(name), _plain(entry)) for name, entry in value.items())
    if hasattr(value, "tolist"):  # arrays, and NumPy's booleans and words, which are no numbers to Python
        listed = value.tolist()
        if getattr(value, "ndim", 0) == 1 and value.dtype.kind in "fiub":  # long curves, quickly
            return tuple(listed)
        return _plain(listed)
    if isinstance(value, bytes) or not hasattr(value, "__iter__"):
        raise InputError(
            f"a report holds words, numbers, records and sequences of them, got {type(value).__name__}: "
            "turn it into one of these first."
        )
    return tuple(_plain(entry) for entry in value)


def _for_json(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_for_json(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
