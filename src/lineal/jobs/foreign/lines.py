"""Model files that are text: lines of a key and values, then numbers. Read with suspicion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from lineal.errors import ModelFileError


class ModelLines:
    """A model file of LIBLINEAR or LIBSVM: its header, and then its lines one by one."""

    def __init__(self, path: Path, name: str, body: str, keys: Sequence[str]) -> None:
        """Reads the header, up to the line ``body``; other keys than ``keys`` are refused."""
        self.path, self.name = path, name
        self._lines = path.read_bytes().split(b"\n")
        if self._lines.pop():
            self.refuse("its last line does not end: was it cut off?")
        self.header: dict[str, list[str]] = {}
        for number, line in enumerate(self._lines):
            key, *values = line.decode("ascii", "replace").split() or [""]
            if key == body and not values:
                self._place = number + 1
                break
            if key not in keys:
                self.refuse(f"line {number + 1} begins with {key[:40]!r}, which is no key of its header")
            if key in self.header:
                self.refuse(f"line {number + 1} has {key} for the second time")
            self.header[key] = values
        else:
            self.refuse(f"there is no line {body!r} after its header")

    def refuse(self, flaw: str) -> NoReturn:
        """Says what is wrong with the file."""
        raise ModelFileError(f"{self.path} is no model of {self.name}, or is damaged: {flaw}.")

    def rows(self) -> list[tuple[int, list[bytes]]]:
        """The lines behind the header, by number, in pieces between spaces; empty lines are left out."""
        lines = enumerate(self._lines[self._place :], start=self._place + 1)
        return [(number, pieces) for number, line in lines if (pieces := line.split())]

    def word(self, key: str) -> str:
        """A value that must be there, alone."""
        values = self.header.get(key, [])
        if len(values) != 1:
            self.refuse(f"{key} must have one value, but has {len(values)}")
        return values[0]

    def whole(self, key: str, least: int, most: int) -> int:
        """A whole number in a range."""
        (number,) = self.wholes(key, 1)
        if not least <= number <= most:
            self.refuse(f"{key} must be from {least} to {most}, but is {number}")
        return number

    def wholes(self, key: str, count: int) -> list[int]:
        """So many whole numbers of 32 bits, as C reads them."""
        values = self.header.get(key, [])
        try:
            found = [int(value) for value in values if len(value) < 12]
        except ValueError:
            found = []
        if len(found) != count or any("_" in value for value in values):
            self.refuse(f"{key} must have {count} whole numbers, but has {' '.join(values)[:60]!r}")
        return found

    def numbers(self, key: str, count: int) -> list[float]:
        """So many finite numbers."""
        values = self.header.get(key, [])
        found = [self.number(value.encode(), key) for value in values]
        if len(found) != count:
            self.refuse(f"{key} must have {count} numbers, but has {len(values)}")
        return found

    def number(self, text: bytes, where: str) -> float:
        """A finite number."""
        try:
            number = float(text) if b"_" not in text else math.nan
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            self.refuse(f"{where} holds {text[:40]!r} where a number is needed")
        return number
