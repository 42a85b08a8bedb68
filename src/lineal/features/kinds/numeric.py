"""Columns of numbers and of booleans."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from lineal.errors import ParameterError
from lineal.features.columns import Column
from lineal.features.kinds.base import Encoding, Kind, indicator_of, one_hot, one_of, parsed, refuse
from lineal.features.kinds.bins import Bins, FloatArray, bin_names


@dataclass(frozen=True)
class Numbers(Kind):
    """A column of numbers: as they are, scaled, or in bins. Durations are seconds, booleans 0 and 1.

    Parameters
    ----------
    scale : a transformer of one column, optional
        For example ``ColumnScaler("variance", shift=True)``.
    bins : Quantiles, EqualWidths or None
        One-hot bins instead of the number.
    missing : "mean", "median", a number or "refuse"
        What stands in for a missing value, before it is scaled or binned. If the training data had some, a
        column ``name is missing`` of zeros and ones is added.
    """

    word: ClassVar[str] = "number"

    scale: Any = None
    bins: Bins | None = None
    missing: str | float = "mean"

    def __post_init__(self) -> None:
        if self.scale is not None and self.bins is not None:
            raise ParameterError("bins are ones and zeros, which need no scale: choose one of the two.")
        if not isinstance(self.missing, Real):
            one_of("missing", self.missing, ("mean", "median", "refuse"))
        elif not np.isfinite(self.missing):
            raise ParameterError(f"missing must be a finite number, got {self.missing!r}.")

    def read(self, column: Column) -> Column:
        if column.values.dtype.kind == "M":
            row = int(np.argmin(column.missing))
            refuse(column, row, str(column.values[row]), "numbers")
        if column.values.dtype.kind == "O":
            column = parsed(column, "numbers", float, np.float64)
            column = replace(column, missing=column.missing | np.isnan(column.values))
        values = column.values.astype(np.float64)
        infinite = np.isinf(values) & ~column.missing
        if infinite.any():
            row = int(np.argmax(infinite))
            refuse(column, row, float(values[row]), "finite numbers")
        return replace(column, values=values)

    def learn(self, column: Column) -> Encoding:
        fill, borders, scale = self._fill(column.present), None, None
        parts: tuple[str, ...] = (column.name,)
        filled = np.where(column.missing, fill, column.values)
        if self.bins is not None:
            borders = self.bins.inner_borders(column.present)
            parts = bin_names(column.name, borders)
        elif self.scale is not None:
            scale = clone(self.scale).fit(filled[:, None])
        return _Numbers(self, parts, indicator_of(column), fill, borders, scale)

    def _fill(self, present: FloatArray) -> float:
        if self.missing == "mean":
            unit = float(np.abs(present).max()) or 1.0
            return float(np.mean(present / unit) * unit)  # a sum of huge numbers would overflow
        if self.missing == "median":
            return float(2 * np.median(present / 2))
        return 0.0 if self.missing == "refuse" else float(self.missing)


@dataclass(frozen=True)
class _Numbers(Encoding):
    fill: float
    borders: FloatArray | None
    scale: Any

    def block(self, column: Column) -> Any:
        filled = np.where(column.missing, self.fill, column.values)
        if self.borders is not None:
            return one_hot(np.searchsorted(self.borders, filled, side="right"), len(self.parts))
        as_they_are = self.scale is None or not len(filled)
        return filled[:, None] if as_they_are else self.scale.transform(filled[:, None])


_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True)
class Booleans(Kind):
    """A column of booleans, as 0 and 1.

    Asked for by name, it reads 0 and 1, "true" and "false", "yes" and "no" too.

    Parameters
    ----------
    missing : "indicate" or "refuse"
        A missing value is 0. If the training data had some, a column ``name is missing`` is added.
    """

    word: ClassVar[str] = "boolean"

    missing: str = "indicate"

    def __post_init__(self) -> None:
        one_of("missing", self.missing, ("indicate", "refuse"))

    def read(self, column: Column) -> Column:
        if column.values.dtype.kind == "b":
            return column
        objects = replace(column, values=column.values.astype(object))
        return parsed(objects, "booleans", _boolean, np.bool_)

    def learn(self, column: Column) -> Encoding:
        return _Booleans(self, (column.name,), indicator_of(column))


class _Booleans(Encoding):
    def block(self, column: Column) -> Any:
        return np.where(column.missing, 0.0, column.values)[:, None]


def _boolean(value: Any) -> bool:
    if isinstance(value, str):
        if value.strip().lower() not in _WORDS:
            raise ValueError(value)
        return _WORDS[value.strip().lower()]
    if value not in (0, 1):
        raise ValueError(value)
    return bool(value)
