"""Columns of dates and times."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lineal.data.columns import Column, clock
from lineal.data.rows import Arrays, from_dense, one_hot, side_by_side
from lineal.model.encodings.base import Encoding, parsed, put_each, read_each, refuse
from lineal.model.record import Draft, Spec

_Numbers = NDArray[np.floating[Any]]


def _since(dates: NDArray[Any], coarse: str, fine: np.timedelta64) -> _Numbers:
    """How many fine units have passed since the last coarse one began."""
    begun = dates.astype(f"datetime64[{coarse}]").astype("datetime64[us]")
    return np.floor((dates - begun) / fine)


# Each part as a whole number from 0, and how many there are before it begins again.
CYCLES: dict[str, tuple[int, Callable[[NDArray[Any]], _Numbers]]] = {
    "month": (12, lambda dates: dates.astype("datetime64[M]").astype(np.int64) % 12.0),
    "day": (31, lambda dates: _since(dates, "M", np.timedelta64(1, "D"))),
    "weekday": (7, lambda dates: (dates.astype("datetime64[D]").astype(np.int64) + 3) % 7.0),
    "hour": (24, lambda dates: _since(dates, "D", np.timedelta64(1, "h"))),
}
# Without end: they grow with time.
TRENDS: dict[str, Callable[[NDArray[Any]], _Numbers]] = {
    "year": lambda dates: dates.astype("datetime64[Y]").astype(np.int64) + 1970.0,
    "epoch_day": lambda dates: (dates - np.datetime64(0, "us")) / np.timedelta64(1, "D"),
}
WAYS = ("circle", "one_hot", "number")
_FIRST = {"month": 1, "day": 1, "weekday": 0, "hour": 0}


@dataclass(frozen=True, eq=False)
class DatesEncoding(Encoding):
    """Parts of dates.

    Attributes
    ----------
    calendar : the parts, in the order of their features
    cycles : "circle", "one_hot" or "number": what becomes of parts that begin again
    means : of the parts that do not, for missing dates
    deviations : of the same parts where they are scaled: less their mean, over this
    """

    kind: ClassVar[str] = "dates"

    calendar: tuple[str, ...]
    cycles: str
    means: dict[str, float]
    deviations: dict[str, float] = field(default_factory=dict)

    @property
    def n_parts(self) -> int:
        return sum(map(self._width, self.calendar))

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(f"{self.column} {name}" for part in self.calendar for name in self._names(part))

    def _width(self, part: str) -> int:
        if part in TRENDS or self.cycles == "number":
            return 1
        return 2 if self.cycles == "circle" else CYCLES[part][0]

    def _names(self, part: str) -> list[str]:
        if part in TRENDS or self.cycles == "number":
            return [part]
        if self.cycles == "circle":
            return [f"{part} sin", f"{part} cos"]
        return [f"{part}={_FIRST[part] + value}" for value in range(CYCLES[part][0])]

    def read(self, column: Column) -> Column:
        return read_dates(column)

    def block(self, column: Column, n_threads: int) -> Arrays:
        there, dates = ~column.missing, column.present
        return side_by_side([(self._part(part, dates, there), self._width(part)) for part in self.calendar])

    def _part(self, part: str, dates: NDArray[Any], there: NDArray[np.bool_]) -> Arrays:
        if part in TRENDS:
            trend = _spread(TRENDS[part](dates), there, self.means[part])
            if part in self.deviations:
                trend = (trend - self.means[part]) / self.deviations[part]
            return from_dense(trend)
        period, value_of = CYCLES[part]
        values = value_of(dates)
        if self.cycles == "number":
            return from_dense(_spread(values + _FIRST[part], there, 0.0))
        if self.cycles == "one_hot":
            codes = np.full(len(there), -1)
            codes[there] = values
            return one_hot(codes)
        turn = 2 * np.pi * values / period
        return from_dense(np.hstack([_spread(f(turn), there, 0.0) for f in (np.sin, np.cos)]))

    def made_up(self, turn: int) -> Any:
        return f"{2001 + 3 * turn}-{1 + turn:02}-{28 - turn:02}T{(5 * turn) % 24:02}:30:00"

    def put_own(self, draft: Draft, place: str) -> dict[str, Any]:
        told: dict[str, Any] = {"calendar": list(self.calendar), "cycles": self.cycles, "means": self.means}
        return told | ({"deviations": self.deviations} if self.deviations else {})

    @classmethod
    def put_many(cls, draft: Draft, place: str, encodings: Sequence[Encoding]) -> dict[str, Any]:
        return put_each(draft, place, encodings)

    @classmethod
    def read_many(cls, spec: Spec, columns: Sequence[str]) -> Sequence[Encoding]:
        return read_each(cls, spec, columns)

    @classmethod
    def read_own(cls, spec: Spec, column: str, has_indicator: bool, refuses_missing: bool) -> Self:
        calendar = spec.texts("calendar")
        if not calendar or not all(part in CYCLES or part in TRENDS for part in calendar):
            spec.refuse("calendar", f"some of {[*TRENDS, *CYCLES]}", calendar)
        means = spec.child("means")
        found = {part: means.number(part) for part in calendar if part in TRENDS}
        sizes = {}
        if spec.has("deviations"):
            deviations = spec.child("deviations")
            sizes = {part: deviations.number(part) for part in found}
            if not all(size > 0 for size in sizes.values()):
                spec.refuse("deviations", "numbers above 0", sizes)
        usual = (column, has_indicator, refuses_missing)
        return cls(*usual, tuple(calendar), spec.text("cycles", WAYS), found, sizes)


def _spread(values: Any, there: NDArray[np.bool_], elsewhere: float) -> NDArray[np.float64]:
    """(n_rows, 1): the values at the rows that have one."""
    column = np.full((len(there), 1), elsewhere)
    column[there, 0] = values
    return column


def read_dates(column: Column) -> Column:
    """A column of dates; text in ISO 8601 is parsed."""
    if column.values.dtype.kind == "M":
        return column
    if column.values.dtype.kind != "O":
        row = int(np.argmin(column.missing))
        refuse(column, row, column.values[row].item(), "dates")
    return parsed(column, "dates or text in ISO 8601", _date, "datetime64[us]")


def _date(value: Any) -> np.datetime64:
    if isinstance(value, str):
        return clock(dt.datetime.fromisoformat(value.strip()))
    if not isinstance(value, (dt.date, np.datetime64)):
        raise TypeError(value)
    return clock(value)
