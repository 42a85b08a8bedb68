"""One line of the table of bars: what was measured, of whom, and whether it is enough. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median
from typing import Any

# What each bar is about; P1..P14 are the speed bars, "accuracy" what a default must reach.
TITLES = {
    "P1": "texts to tf-idf and hashed features",
    "P2": "IMDB, hinge",
    "P3": "IMDB, logistic",
    "P4": "IMDB, L1 logistic",
    "P5": "20 Newsgroups, softmax",
    "P6": "many classes, and few columns",
    "P7": "IMDB, file to model to test accuracy",
    "P8": "kernel machines",
    "P9": "one document at a time",
    "P10": "one pass online",
    "P11": "start-up",
    "P12": "growth when data are doubled",
    "P13": "exact neighbours",
    "P14": "naive Bayes",
    "accuracy": "accuracy of `lineal train` without options",
}
TIMES, SHARE, SECONDS, SCORE = "times", "share", "seconds", "score"
MET, MISSED, AHEAD, UNEQUAL, NO_BAR = "yes", "no", "no: the peer is ahead", "does not count", "–"


@dataclass(frozen=True)
class Row:
    """One comparison.

    ``found`` is held against ``goal`` as ``kind`` says: how many times our speed is the peer's (at least),
    which share of something else ours is (at most), seconds (at most), or a score (at least). ``counts`` is
    whether our objective, our answers or our accuracy are at least as good: no speed counts without.
    """

    bar: str
    work: str
    kind: str
    found: float | None
    goal: float | None
    ours: list[float] = field(default_factory=list)  # least, median, most
    peer: str = ""
    theirs: list[float] = field(default_factory=list)
    unit: str = "s"
    quality: str = ""
    our_quality: float | None = None
    their_quality: float | None = None
    counts: bool = True
    our_bytes: int | None = None
    their_bytes: int | None = None
    date: str = ""
    where: str = ""
    busy: float | None = None
    note: str = ""

    @property
    def key(self) -> tuple[Any, ...]:
        """What stays the same from run to run: the fastest of several peers may not."""
        return (self.bar, self.work, self.kind, self.goal)


def spread(values: Iterable[float]) -> list[float]:
    """Least, median and most."""
    known = sorted(values)
    return [known[0], median(known), known[-1]] if known else []


def times(ours: list[float], theirs: list[float]) -> float | None:
    """How many times faster the best of ours is than the best of theirs."""
    return theirs[0] / ours[0] if ours and theirs else None


def verdict(row: Row) -> str:
    """Whether the bar is met; a peer that is ahead is named as such, with a bar or without."""
    if not row.counts:
        return UNEQUAL
    if row.found is None:
        return "not measured"
    is_behind = row.kind == TIMES and row.found < 1.0
    if row.goal is None:
        return "the peer is ahead" if is_behind else NO_BAR
    is_met = row.found >= row.goal if row.kind in (TIMES, SCORE) else row.found <= row.goal
    return MET if is_met else AHEAD if is_behind else MISSED


def reach(row: Row) -> float:
    """How far a row is on the way to its bar: 1 is there, below 1 is missed, whatever its kind."""
    if row.found is None or not row.counts or not row.goal:
        return 0.0
    return row.found / row.goal if row.kind in (TIMES, SCORE) else row.goal / max(row.found, 1e-12)
