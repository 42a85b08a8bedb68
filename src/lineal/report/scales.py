"""Where numbers lie in a picture, and which of them are written at its axes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from lineal.report.numerals import aligned, number, power

_DECADES = 150  # numbers beyond this power of ten are drawn at the edge


@dataclass(frozen=True)
class Scale:
    """A map from numbers, ``low`` to ``high``, to pixels, ``start`` to ``end``; logarithmic if ``is_log``."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def __call__(self, value: float) -> float:
        """The pixel of a number; numbers outside are put at the edge."""
        low, high, value = self._bent(self.low), self._bent(self.high), self._bent(value)
        share = (value - low) / (high - low)
        return self.start + min(1.0, max(0.0, share)) * (self.end - self.start)

    def _bent(self, value: float) -> float:
        return math.log10(max(value, 5e-324)) if self.is_log else value

    def labels(self, n: int = 5) -> list[str]:
        """The ticks as they are written: with as many decimals as their distance needs."""
        ticks = self.ticks(n)
        return [_as_power(tick) for tick in ticks] if self.is_log else aligned(ticks)

    def ticks(self, n: int = 5) -> list[float]:
        """About ``n`` round numbers from low to high."""
        return _powers(self.low, self.high, n) if self.is_log else round_numbers(self.low, self.high, n)


def fitted(
    values: Iterable[float | None], start: float, end: float, *, is_log: bool = False, is_round: bool = False
) -> Scale:
    """A scale for all finite values, with a little room; ``is_round`` widens it to round numbers."""
    known = bounded(values)
    if is_log:
        known = [max(-_DECADES, math.log10(value)) for value in known if value > 0]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        room = 0.5 if is_log else max(abs(low), 1e-3) * 0.1
        low, high = low - room, high + room
    if is_log:
        room = 0.04 * (high - low)
        return Scale(10 ** (low - room), 10 ** (high + room), start, end, is_log=True)
    if is_round:
        step = _step((high - low) / 4)
        low, high = math.floor(low / step) * step, math.ceil(high / step) * step
    return Scale(low, high, start, end)


def bounded(values: Iterable[float | None]) -> list[float]:
    """The finite values, of a size whose differences do not overflow."""
    bound = 10.0**_DECADES
    return [min(bound, max(-bound, value)) for value in values if value is not None and math.isfinite(value)]


def _step(about: float) -> float:
    """The next number of 1, 2, 5 times a power of ten."""
    base = 10.0 ** math.floor(math.log10(max(about, 1e-300)))
    return next(base * digit for digit in (1, 2, 5, 10) if base * digit >= about * (1 - 1e-9))


def round_numbers(low: float, high: float, n: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten from low to high, about ``n``."""
    step = _step((high - low) / n)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    digits = max(0, -math.floor(math.log10(step)))
    return [round(place * step, digits) if digits < 300 else place * step for place in range(first, last + 1)]


def _as_power(value: float) -> str:
    """A tick of a logarithmic axis."""
    exponent = math.log10(value)
    if abs(exponent) <= 3.001 or abs(exponent - round(exponent)) > 1e-6:
        return f"{value:g}" if 1e-3 <= value < 1e4 else number(value)
    return power(value).rpartition("×")[2].strip()


def _powers(low: float, high: float, n: int) -> list[float]:
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last - first < 1:  # within one power of ten: multiples of it
        return [value for value in round_numbers(low, high, n) if value > 0]
    stride = max(1, math.ceil((last - first + 1) / n))
    return [10.0**place for place in range(first, last + 1, stride)]
