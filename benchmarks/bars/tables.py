"""The record to Markdown, and onto pages between their marks: pure functions of the JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bar import AHEAD, MET, SCORE, SECONDS, SHARE, TIMES, TITLES, Row, reach, verdict
from record import rows_of


def whole_table(record: dict[str, Any]) -> str:
    """Every row of every bar."""
    head = ["bar", "work", "ours", "peer", "its", "found", "the run before", "asked", "met?",
            "as good? ours, its", "memory: ours, its", "day"]  # fmt: skip
    lines = [_line(head), "|---" * len(head) + "|"]
    for one in record["rows"]:
        row, before = Row(**one["last"]), one["previous"]
        earlier = "–" if before is None else f"{_found(row, before['found'])}, {before['date']}"
        cells = [
            row.bar, row.work, _spread(row.ours, row.unit), row.peer or "–", _spread(row.theirs, row.unit),
            _found(row, row.found), earlier, _asked(row), _bold(verdict(row)), _quality(row), _memory(row),
            row.date,
        ]  # fmt: skip
        lines.append(_line(cells))
    return "\n".join([*lines, "", _foot(record), *_failures(record)])


def short_table(record: dict[str, Any]) -> str:
    """The README's: a line a bar, with the comparison that is furthest from what was asked."""
    rows = rows_of(record)
    lines = [
        _line(
            [
                "bar",
                "work",
                "met",
                "the comparison furthest below its bar, or least above it; a peer that is ahead first",
            ]
        ),
        "|---" * 4 + "|",
    ]
    for bar, title in TITLES.items():
        held = [row for row in rows if row.bar == bar and row.goal is not None]
        if not held:
            lines.append(_line([bar, title, "not measured", "–"]))
            continue
        n_met = sum(verdict(row) == MET for row in held)
        worst = min(held, key=lambda row: (verdict(row) != AHEAD, reach(row)))
        met = "yes" if n_met == len(held) else f"{n_met} of {len(held)}" if n_met else "no"
        lines.append(_line([bar, title, met, _sentence(worst)]))
    note = (
        "Written by `make bench` from [its record](benchmarks/bars/results/bars.json); "
        f"{_places(rows)}. "
        "All comparisons, and what stands in the way of the bars that are missed: "
        "[docs/performance.md](docs/performance.md)."
    )
    return "\n".join([*lines, "", note])


def between(text: str, name: str, made: str) -> str:
    """The page with what was made between its two marks; a page without them is refused."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    head, found, rest = text.partition(begin)
    _, closed, tail = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"the page has no marks {begin} and {end}")
    return f"{head}{begin}\n{made}\n{end}{tail}"


def _sentence(row: Row) -> str:
    asked = f"{row.work}: {_found(row, row.found)} ({_asked(row)})"
    if row.peer and row.kind == TIMES and row.ours:
        asked += (
            f", {_number(row.ours[0], row.unit)} against {_number(row.theirs[0], row.unit)} of {row.peer}"
        )
    return asked + (
        ": the peer is ahead" if verdict(row) == AHEAD else "" if row.counts else ": ours was not as good"
    )


def _places(rows: Iterable[Row]) -> str:
    places = sorted({row.where for row in rows if row.where})
    days = sorted({row.date for row in rows if row.date})
    return " and ".join(places) + (f", {days[0]} to {days[-1]}" if days else "")


def _foot(record: dict[str, Any]) -> str:
    rows = rows_of(record)
    busiest = max((row.busy for row in rows if row.busy is not None), default=0.0)
    names = f" with {', '.join(record['libraries'])}" if record["libraries"] else ""
    return (
        "Times are the best of the runs, with median and most behind them; found is the peer's best over "
        "ours (P12 and memory: ours over the other's). A time counts where ours is at least as good: the "
        "objective at most the peer's, the accuracy at least, the matrix or the neighbours the same. "
        f"Measured on {_places(rows)}{names}; at most {busiest:.0%} of it was busy with other work as a part "
        "began."
    )


def _failures(record: dict[str, Any]) -> list[str]:
    return [
        f"\nNot measured on {one['date']}: `{name}` ended with {one['code']}: {one['line']}"
        for name, one in record["failed"].items()
    ]


def _asked(row: Row) -> str:
    if row.goal is None:
        return "–"
    signs = {TIMES: "≥ {:g}×", SHARE: "≤ {:g}×", SECONDS: "≤ {:g} s", SCORE: "≥ {:g}"}
    return signs[row.kind].format(row.goal)


def _found(row: Row, value: float | None) -> str:
    if value is None:
        return "–"
    if row.kind == SCORE:
        return f"{value:.4f}"
    if row.kind == SECONDS:
        return _number(value, "s")
    return f"{value:.2f}×" if value < 10 else f"{value:.1f}×" if value < 100 else f"{value:.0f}×"


def _quality(row: Row) -> str:
    if not row.quality:
        return "–"
    known = [f"{value:.7g}" for value in (row.our_quality, row.their_quality) if value is not None]
    return f"{row.quality} {', '.join(known)}"


def _memory(row: Row) -> str:
    known = [f"{value / 1e6:.0f} MB" for value in (row.our_bytes, row.their_bytes) if value is not None]
    return ", ".join(known) or "–"


def _spread(values: list[float], unit: str) -> str:
    if not values:
        return "–"
    rest = ", ".join(_number(value, "") for value in values[1:])
    return f"{_number(values[0], unit)} ({rest})"


def _number(value: float, unit: str) -> str:
    return f"{f'{value:,.0f}' if value >= 1000 else f'{value:.3g}'} {unit}".rstrip()


def _bold(text: str) -> str:
    return text if text in (MET, "–") else f"**{text}**"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
