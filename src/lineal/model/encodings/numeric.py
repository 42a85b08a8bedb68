"""Columns of numbers and of booleans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from lineal.data.columns import Column
from lineal.data.rows import Arrays, from_dense
from lineal.model.answers import FloatArray
from lineal.model.encodings.base import Encoding, checked, parsed, put_flags, read_usual, refuse
from lineal.model.record import Draft, Spec

CELLS = 1 << 18  # of a matrix that is worked on at once: it stays in a cache


@dataclass(frozen=True)
class Affine:
    """x -> (x unit - offset) / scale; the unit is a power of two that keeps huge numbers inside float64."""

    unit: Any  # numbers, or columns of them
    offset: Any
    scale: Any

    @property
    def numbers(self) -> tuple[Any, Any, Any]:
        """Unit, offset and scale."""
        return self.unit, self.offset, self.scale

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
        alone = NumbersBlock((replace(self, has_indicator=False, refuses_missing=False),))
        return alone.encode([column])

    def made_up(self, turn: int) -> Any:
        return float(NumbersBlock((self,)).made_up()[turn, 0])

    @classmethod
    def put_many(cls, draft: Draft, place: str, encodings: Sequence[Encoding]) -> dict[str, Any]:
        NumbersBlock(cast("tuple[NumbersEncoding, ...]", tuple(encodings))).put(draft, place)
        return {}

    @classmethod
    def read_many(cls, spec: Spec, columns: Sequence[str]) -> Sequence[Encoding]:
        return NumbersBlock.read(spec, columns).encodings

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
class NumbersBlock:
    """Columns of numbers that stand side by side, read and encoded together.

    A call of NumPy costs more than a short column: thousands of columns are read as one matrix, in which a
    row is a column of the table. What is learned of them stands side by side, too.
    """

    encodings: tuple[NumbersEncoding, ...]

    def __len__(self) -> int:
        return len(self.encodings)

    @cached_property
    def n_columns(self) -> int:
        """How many features there are."""
        return int(self._first[-1])

    @cached_property
    def _first(self) -> NDArray[np.int64]:
        """(m + 1,) the first feature of each column, and the end."""
        parts = np.where(self._has_borders, self._n_borders + 1, 1) + self._has_indicator
        return np.concatenate(([0], np.cumsum(parts)))

    @cached_property
    def _fill(self) -> FloatArray:
        return np.array([own.fill for own in self.encodings])

    @cached_property
    def _has_indicator(self) -> NDArray[np.bool_]:
        return np.array([own.has_indicator for own in self.encodings], dtype=bool)

    @cached_property
    def _refuses_missing(self) -> NDArray[np.bool_]:
        return np.array([own.refuses_missing for own in self.encodings], dtype=bool)

    @cached_property
    def _has_borders(self) -> NDArray[np.bool_]:
        return np.array([own.borders is not None for own in self.encodings], dtype=bool)

    @cached_property
    def _n_borders(self) -> NDArray[np.int64]:
        return np.array([0 if own.borders is None else len(own.borders) for own in self.encodings])

    @cached_property
    def _borders(self) -> FloatArray:
        """Those of all columns, one after the other."""
        return np.concatenate([np.empty(0), *(o.borders for o in self.encodings if o.borders is not None)])

    @cached_property
    def _has_scale(self) -> NDArray[np.bool_]:
        return np.array([own.scale is not None for own in self.encodings], dtype=bool)

    @cached_property
    def _scales(self) -> Affine:
        """Of each column; a number that is not scaled is x 1 - 0 over 1, which has its bits."""
        rows = [(1.0, 0.0, 1.0) if own.scale is None else own.scale.numbers for own in self.encodings]
        return Affine(*np.array(rows).reshape(-1, 3, 1).transpose(1, 0, 2))

    # ---- encoding -----------------------------------------------------------------------------

    def encode(self, columns: Sequence[Column]) -> Arrays:
        """(starts, columns, values) of the rows."""
        n_rows, step = len(columns[0]), max(1, CELLS // len(self))
        read = NumberMatrix.of(columns, self._refuses_missing)
        made = [self._encoded(*read.rows(first, first + step)) for first in range(0, max(n_rows, 1), step)]
        if len(made) == 1:
            sizes, places, values = made[0]
        else:
            sizes, places, values = (np.concatenate(parts) for parts in zip(*made, strict=True))
        return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))), places, values

    def _encoded(self, values: FloatArray, missing: NDArray[np.bool_]) -> Arrays:
        """How many numbers each of some rows has, and their columns and values."""
        filled = np.where(missing, self._fill[:, None], values) if missing.any() else values
        made = self._scales(filled) if self._has_scale.any() else filled
        places = np.broadcast_to(self._first[:-1, None], made.shape)
        there = made != 0
        if self._has_borders.any():
            rows = np.flatnonzero(self._has_borders)
            made, places = made.copy(), places.copy()
            made[rows], there[rows] = 1.0, True
            places[rows] += self._bins(rows, filled[rows])
        if self._has_indicator.any() and missing.any():
            # Beside each column a second one of ones, where values are missing.
            there = np.stack([there, missing & self._has_indicator[:, None]], axis=1).reshape(-1, len(made.T))
            last = np.broadcast_to(self._first[1:, None] - 1, made.shape)
            places = np.stack([places, last], axis=1).reshape(there.shape)
            made = np.stack([made, np.ones_like(made)], axis=1).reshape(there.shape)
        by_row = np.ascontiguousarray(there.T)
        columns = np.ascontiguousarray(places.T, dtype=np.int32)[by_row]
        return by_row.sum(axis=1), columns, np.ascontiguousarray(made.T)[by_row]

    def _bins(self, rows: NDArray[np.intp], numbers: FloatArray) -> NDArray[np.int64]:
        """How many borders of its column are not above each number: a binary search in all at once."""
        left = self._n_borders[rows][:, None]
        start = (np.cumsum(self._n_borders) - self._n_borders)[rows][:, None]
        place = np.broadcast_to(start, numbers.shape).copy()
        while left.any():
            half = (left + 1) // 2
            probe = np.maximum(place + half - 1, 0)  # of columns without borders: anything
            place += np.where((self._borders[probe] <= numbers) & (half > 0), half, 0)
            left = left - half
        return place - start

    # ---- golden predictions -------------------------------------------------------------------

    def made_up(self) -> FloatArray:
        """(8, m) cells for golden predictions."""
        turns = np.arange(8)[:, None]
        scale = self._scales
        size = np.where(self._has_scale, (scale.scale / scale.unit)[:, 0], np.maximum(abs(self._fill), 1.0))
        with np.errstate(over="ignore"):
            made = self._fill + (turns - 3) * 0.5 * size
        made = np.where(np.isfinite(made) & (np.abs(made) < 1e300), made, turns)
        cut = np.flatnonzero(self._n_borders)
        if len(cut):
            start = (np.cumsum(self._n_borders) - self._n_borders)[cut]
            made[:, cut] = self._borders[start + turns % self._n_borders[cut]] + (turns % 3 - 1) * 0.5
        return made

    # ---- record -------------------------------------------------------------------------------

    def put(self, draft: Draft, place: str) -> None:
        """Keeps all of it in arrays, however many columns there are."""
        scale = self._scales
        draft.put(place, "fill", self._fill)
        put_flags(draft, place, self.encodings)
        draft.put(place, "has_scale", self._has_scale)
        draft.put(place, "scale", np.hstack([scale.unit, scale.offset, scale.scale])[self._has_scale])
        draft.put(place, "has_borders", self._has_borders)
        draft.put(place, "n_borders", self._n_borders[self._has_borders])
        draft.put(place, "borders", self._borders)

    @classmethod
    def read(cls, spec: Spec, columns: Sequence[str]) -> Self:
        """What ``put`` kept."""
        m = (len(columns),)
        fill = spec.tensor("fill", (np.float64,), m)
        has_scale, has_borders = (spec.tensor(f"has_{what}", (np.bool_,), m) for what in ("scale", "borders"))
        scale = spec.tensor("scale", (np.float64,), (int(has_scale.sum()), 3))
        counts = spec.tensor("n_borders", (np.int64,), (int(has_borders.sum()),))
        borders = spec.tensor("borders", (np.float64,), (None,))
        if not np.isfinite(fill).all():
            spec.refuse("fill", "finite numbers", "others")
        if not (np.isfinite(scale).all() and (scale[:, 2] > 0).all()):
            spec.refuse("scale", "units, offsets and scales above 0", "others")
        # Bounded one by one, so that their sum does not overflow.
        if (counts < 0).any() or (counts > len(borders)).any() or counts.sum() != len(borders):
            spec.refuse("n_borders", f"numbers of borders, {len(borders)} in all", "others")
        ends = np.cumsum(counts)
        is_end = np.zeros(len(borders) + 1, dtype=bool)
        is_end[ends] = True
        if not (np.isfinite(borders).all() and (is_end[1:-1] | (np.diff(borders) > 0)).all()):
            spec.refuse("borders", "increasing in each column", "not")
        scales, cuts = iter(scale.tolist()), iter(np.split(borders, ends[:-1]) if len(ends) else ())
        own = zip(
            read_usual(spec, columns), fill.tolist(), has_borders.tolist(), has_scale.tolist(), strict=True
        )
        return cls(
            tuple(
                NumbersEncoding(
                    *usual,
                    stand_in,
                    next(cuts) if is_cut else None,
                    Affine(*next(scales)) if is_scaled else None,
                )
                for usual, stand_in, is_cut, is_scaled in own
            )
        )


@dataclass(frozen=True, eq=False)
class NumberMatrix:
    """Columns of numbers that were read and checked, with their rows in steps that fit a cache."""

    columns: Sequence[Column]

    @classmethod
    def of(cls, columns: Sequence[Column], refuses_missing: NDArray[np.bool_]) -> Self:
        """The columns as numbers; what is no finite number is refused with its place, the first first."""
        read = list(columns)
        for k, column in enumerate(columns):
            if column.values.dtype.kind not in "fiub" or refuses_missing[k]:
                read = [
                    checked(one, read_numbers, refuses_missing=bool(refuses))
                    for one, refuses in zip(columns, refuses_missing, strict=True)
                ]
                break
        return cls(read)

    def rows(self, first: int, end: int) -> tuple[FloatArray, NDArray[np.bool_]]:
        """(m, n) values and where they are missing."""
        values = np.array([column.values[first:end] for column in self.columns], dtype=np.float64)
        missing = np.array([column.missing[first:end] for column in self.columns], dtype=bool)
        if (np.isinf(values) & ~missing).any():
            for column in self.columns:
                read_numbers(column)
        return values, missing


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

    @classmethod
    def put_many(cls, draft: Draft, place: str, encodings: Sequence[Encoding]) -> dict[str, Any]:
        put_flags(draft, place, encodings)
        return {}

    @classmethod
    def read_many(cls, spec: Spec, columns: Sequence[str]) -> Sequence[Encoding]:
        return [cls(*usual) for usual in read_usual(spec, columns)]

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
