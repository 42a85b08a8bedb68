"""Columns of dates and times."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lineal.features.columns import Column, clock
from lineal.features.kinds.base import Encoding, Kind, indicator_of, one_hot, one_of, parsed, refuse

FloatArray = NDArray[np.floating[Any]]


def _since(dates: NDArray[Any], coarse: str, fine: np.timedelta64) -> FloatArray:
    """How many fine units have passed since the last coarse one began."""
    begun = dates.astype(f"datetime64[{coarse}]").astype("datetime64[us]")
    return np.floor((dates - begun) / fine)


# Each part as a whole number from 0, and how many there are before it begins again.
_CYCLES: dict[str, tuple[int, Callable[[NDArray[Any]], FloatArray]]] = {
    "month": (12, lambda dates: dates.astype("datetime64[M]").astype(np.int64) % 12.0),
    "day": (31, lambda dates: _since(dates, "M", np.timedelta64(1, "D"))),
    "weekday": (7, lambda dates: (dates.astype("datetime64[D]").astype(np.int64) + 3) % 7.0),
    "hour": (24, lambda dates: _since(dates, "D", np.timedelta64(1, "h"))),
}
# Without end: they grow with time.
_TRENDS: dict[str, Callable[[NDArray[Any]], FloatArray]] = {
    "year": lambda dates: dates.astype("datetime64[Y]").astype(np.int64) + 1970.0,
    "epoch_day": lambda dates: (dates - np.datetime64(0, "us")) / np.timedelta64(1, "D"),
}
_FIRST = {"month": 1, "day": 1, "weekday": 0, "hour": 0}


@dataclass(frozen=True)
class Dates(Kind):
    """A column of dates or times: the year as a number, and month, day, weekday and hour as cycles.

    Asked for by name, text in ISO 8601 is read too. A time zone is put aside: what counts is the clock on the
    wall.

    Parameters
    ----------
    parts : tuple of "year", "epoch_day", "month", "day", "weekday" and "hour", optional
        By default year, month, day and weekday, and the hour if a training value has one. ``epoch_day`` is
        the number of days since 1970. Monday is weekday 0.
    cycles : "circle", "one_hot" or "number"
        A part that begins again becomes a point on the circle (a sine and a cosine, so December is close to
        January), a column for each of its values, or its number.
    missing : "indicate" or "refuse"
        A missing date has the mean of year and epoch_day and 0 elsewhere. If the training data had some, a
        column ``name is missing`` is added.
    """

    word: ClassVar[str] = "date"

    parts: tuple[str, ...] | None = None
    cycles: str = "circle"
    missing: str = "indicate"

    def __post_init__(self) -> None:
        for part in self.parts or ():
            one_of("parts", part, (*_TRENDS, *_CYCLES))
        one_of("cycles", self.cycles, ("circle", "one_hot", "number"))
        one_of("missing", self.missing, ("indicate", "refuse"))

    def read(self, column: Column) -> Column:
        if column.values.dtype.kind == "M":
            return column
        if column.values.dtype.kind != "O":
            row = int(np.argmin(column.missing))
            refuse(column, row, column.values[row].item(), "dates")
        return parsed(column, "dates or text in ISO 8601", _date, "datetime64[us]")

    def learn(self, column: Column) -> Encoding:
        dates = column.present
        parts = self.parts
        if parts is None:
            has_time = bool((dates != dates.astype("datetime64[D]")).any())
            parts = ("year", "month", "day", "weekday") + (("hour",) if has_time else ())
        means = {part: float(_TRENDS[part](dates).mean()) for part in parts if part in _TRENDS}
        names = tuple(f"{column.name} {name}" for part in parts for name in self._names(part))
        return _Dates(self, names, indicator_of(column), parts, means)

    def _names(self, part: str) -> list[str]:
        if part in _TRENDS or self.cycles == "number":
            return [part]
        if self.cycles == "circle":
            return [f"{part} sin", f"{part} cos"]
        return [f"{part}={_FIRST[part] + value}" for value in range(_CYCLES[part][0])]


@dataclass(frozen=True)
class _Dates(Encoding):
    calendar: tuple[str, ...]
    means: dict[str, float]

    def block(self, column: Column) -> Any:
        there = ~column.missing
        return sp.hstack([self._part(part, column.present, there) for part in self.calendar], format="csr")

    def _part(self, part: str, dates: NDArray[Any], there: NDArray[np.bool_]) -> Any:
        assert isinstance(self.kind, Dates)
        if part in _TRENDS:
            return _spread(_TRENDS[part](dates), there, self.means[part])
        period, value_of = _CYCLES[part]
        values = value_of(dates)
        if self.kind.cycles == "number":
            return _spread(values + _FIRST[part], there, 0.0)
        if self.kind.cycles == "one_hot":
            codes = np.full(len(there), -1)
            codes[there] = values
            return one_hot(codes, period)
        turn = 2 * np.pi * values / period
        return sp.hstack([_spread(np.sin(turn), there, 0.0), _spread(np.cos(turn), there, 0.0)])


def _spread(values: FloatArray, there: NDArray[np.bool_], elsewhere: float) -> Any:
    """(n_rows, 1): the values at the rows that have one."""
    column = np.full((len(there), 1), elsewhere)
    column[there, 0] = values
    return sp.csr_array(column)


def _date(value: Any) -> np.datetime64:
    if isinstance(value, str):
        return clock(dt.datetime.fromisoformat(value.strip()))
    if not isinstance(value, (dt.date, np.datetime64)):
        raise TypeError(value)
    return clock(value)
