"""Columns of numbers and of booleans."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lineal.data.columns import Column
from lineal.data.rows import Arrays, from_dense, one_hot
from lineal.model.answers import FloatArray
from lineal.model.encodings.base import Encoding, parsed, refuse
from lineal.model.record import Draft, Spec


@dataclass(frozen=True)
class Affine:
    """x -> (x unit - offset) / scale; the unit is a power of two that keeps huge numbers inside float64."""

    unit: float
    offset: float
    scale: float

    def __call__(self, x: FloatArray) -> FloatArray:
        """Scaled numbers."""
        with np.errstate(over="ignore"):  # what overflows is refused with its place
            return (x * self.unit - self.offset) / self.scale


@dataclass(frozen=True, eq=False)
class NumbersEncoding(Encoding):
    """Numbers as they are, scaled, or in bins.

    Attributes
    ----------
    fill : what stands in for a missing value
    borders : between bins, increasing, or None
    scale : or None
    """

    kind: ClassVar[str] = "numbers"

    fill: float
    borders: NDArray[np.float64] | None = None
    scale: Affine | None = None

    @property
    def n_parts(self) -> int:
        return 1 if self.borders is None else len(self.borders) + 1

    @property
    def parts(self) -> tuple[str, ...]:
        return (self.column,) if self.borders is None else bin_names(self.column, self.borders)

    def read(self, column: Column) -> Column:
        return read_numbers(column)

    def block(self, column: Column, n_threads: int) -> Arrays:
        filled = np.where(column.missing, self.fill, column.values)
        if self.borders is not None:
            return one_hot(np.searchsorted(self.borders, filled, side="right"))
        return from_dense((filled if self.scale is None else self.scale(filled))[:, None])

    def made_up(self, turn: int) -> Any:
        if self.borders is not None and len(self.borders):
            return float(self.borders[turn % len(self.borders)]) + (turn % 3 - 1) * 0.5
        size = self.scale.scale / self.scale.unit if self.scale is not None else max(abs(self.fill), 1.0)
        made = self.fill + (turn - 3) * 0.5 * size
        return made if np.isfinite(made) and abs(made) < 1e300 else float(turn)

    def put_own(self, draft: Draft, place: str) -> dict[str, Any]:
        if self.borders is not None:
            draft.put(place, "borders", self.borders)
        scale = None if self.scale is None else [self.scale.unit, self.scale.offset, self.scale.scale]
        return {"fill": self.fill, "scale": scale}

    @classmethod
    def read_own(cls, spec: Spec, column: str, has_indicator: bool, refuses_missing: bool) -> Self:
        borders = spec.tensor("borders", (np.float64,), (None,)) if spec.has_tensor("borders") else None
        if borders is not None and not ((np.diff(borders) > 0).all() and np.isfinite(borders).all()):
            spec.refuse("borders", "increasing", "not")
        scale = None
        if spec.has("scale"):
            given: Any = spec.value["scale"]
            is_three = isinstance(given, list) and len(given) == 3
            if not is_three or not all(type(n) in (int, float) for n in given) or not given[2] > 0:
                spec.refuse("scale", "a unit, an offset and a scale above 0", given)
            scale = Affine(*map(float, given))
        return cls(column, has_indicator, refuses_missing, spec.number("fill"), borders, scale)


@dataclass(frozen=True, eq=False)
class BooleansEncoding(Encoding):
    """Booleans as 0 and 1; a missing one is 0."""

    kind: ClassVar[str] = "booleans"

    @property
    def n_parts(self) -> int:
        return 1

    @property
    def parts(self) -> tuple[str, ...]:
        return (self.column,)

    def read(self, column: Column) -> Column:
        return read_booleans(column)

    def block(self, column: Column, n_threads: int) -> Arrays:
        return from_dense(np.where(column.missing, 0.0, column.values)[:, None])

    def made_up(self, turn: int) -> Any:
        return turn % 2 == 0

    def put_own(self, draft: Draft, place: str) -> dict[str, Any]:
        return {}

    @classmethod
    def read_own(cls, spec: Spec, column: str, has_indicator: bool, refuses_missing: bool) -> Self:
        return cls(column, has_indicator, refuses_missing)


def read_numbers(column: Column) -> Column:
    """A column of float64; text is parsed, and infinity refused."""
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


_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def read_booleans(column: Column) -> Column:
    """A column of booleans; 0 and 1, "true" and "false", "yes" and "no" are such too."""
    if column.values.dtype.kind == "b":
        return column
    objects = replace(column, values=column.values.astype(object))
    return parsed(objects, "booleans", _boolean, np.bool_)


def _boolean(value: Any) -> bool:
    if isinstance(value, str):
        if value.strip().lower() not in _WORDS:
            raise ValueError(value)
        return _WORDS[value.strip().lower()]
    if value not in (0, 1):
        raise ValueError(value)
    return bool(value)


def bin_names(column: str, borders: FloatArray) -> tuple[str, ...]:
    """``age < 20``, ``20 <= age < 40``, ``40 <= age``."""
    if not len(borders):
        return (f"{column} at all",)
    at = [f"{border:.12g}" for border in borders]
    at = at if len(set(at)) == len(at) else [repr(float(border)) for border in borders]
    between = (f"{low} <= {column} < {high}" for low, high in pairwise(at))
    return (f"{column} < {at[0]}", *between, f"{at[-1]} <= {column}")
