"""A record of CSV or TSV becomes fields, and fields a record."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass
class Cut:
    """A record as it was cut: its fields, those with stray quotes, and the field of a quote that is open."""

    fields: list[str]
    stray: list[int]
    open_field: int | None = None


def cut(text: str, delimiter: str) -> Cut:
    """The fields of a record that may have quotes."""
    found = Cut([], [])
    place, end = 0, len(text)
    while True:
        if text.startswith('"', place):
            close = _closing(text, place + 1)
            if close < 0:
                found.open_field = len(found.fields)
                found.fields.append(text[place + 1 :].replace('""', '"'))
                return found
            value = text[place + 1 : close].replace('""', '"')
            after = text.find(delimiter, close + 1)
            after = end if after < 0 else after
            if close + 1 != after:
                found.stray.append(len(found.fields))
                value = text[place:after]
        else:
            after = text.find(delimiter, place)
            after = end if after < 0 else after
            value = text[place:after]
            if '"' in value:
                found.stray.append(len(found.fields))
        found.fields.append(value)
        if after >= end:
            return found
        place = after + 1


def _closing(text: str, place: int) -> int:
    """Where the quote closes that opened before ``place``; -1 if it does not."""
    while True:
        close = text.find('"', place)
        if close < 0 or text[close + 1 : close + 2] != '"':
            return close
        place = close + 2


def joined(fields: Sequence[str | None], delimiter: str, longest: int = 100) -> str:
    """Fields as a line that is right, cut if it is long."""
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="").writerow(["" if f is None else f for f in fields])
    line = out.getvalue()
    return line if len(line) <= longest else f"{line[: longest // 2]} ... {line[-longest // 4 :]}"
