"""Columns of dates and times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lineal.data.columns import Column
from lineal.features.kinds.base import Kind, one_of
from lineal.model.encodings.base import Encoding
from lineal.model.encodings.dates import CYCLES, TRENDS, WAYS, DatesEncoding, read_dates


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
    scaled : bool
        Whether year and epoch_day are shifted and divided to mean 0 and variance 1 of the training data.
    missing : "indicate" or "refuse"
        A missing date has the mean of year and epoch_day and 0 elsewhere. If the training data had some, a
        column ``name is missing`` is added.
    """

    word: ClassVar[str] = "date"

    parts: tuple[str, ...] | None = None
    cycles: str = "circle"
    scaled: bool = False
    missing: str = "indicate"

    def __post_init__(self) -> None:
        for part in self.parts or ():
            one_of("parts", part, (*TRENDS, *CYCLES))
        one_of("cycles", self.cycles, WAYS)
        one_of("missing", self.missing, ("indicate", "refuse"))

    def read(self, column: Column) -> Column:
        return read_dates(column)

    def learn(self, column: Column) -> Encoding:
        dates = column.present
        parts = self.parts
        if parts is None:
            has_time = bool((dates != dates.astype("datetime64[D]")).any())
            parts = ("year", "month", "day", "weekday") + (("hour",) if has_time else ())
        trends = {part: TRENDS[part](dates) for part in parts if part in TRENDS}
        means = {part: float(values.mean()) for part, values in trends.items()}
        # A constant has no deviation to be measured in; it is shifted to 0.
        sizes = {part: float(values.std()) or 1.0 for part, values in trends.items() if self.scaled}
        return DatesEncoding(*self._usual(column), tuple(parts), self.cycles, means, sizes)
