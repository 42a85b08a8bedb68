"""From raw runs to rows of the table: pure functions, so a result can be judged again from its JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from task import Setting
from works import Peer, Work

_ROUNDING = 1e-10  # two exact float64 evaluations of one objective differ by less


@dataclass(frozen=True)
class Run:
    """One fit, its time and what the referee made of its weights."""

    name: str  # the peer's name, or "lineal"
    setting: Setting
    seconds: float | None = None
    objective: float | None = None
    extra_bytes: int | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    error: str | None = None

    @property
    def gap(self) -> float | None:
        """Our certified relative gap; a peer has none."""
        return self.facts.get("relative_gap")


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    work: str
    ours: float | None
    peer: str
    theirs: float | None
    ratio: float | None
    bar: str
    met: str
    our_objective: float | None = None
    peer_objective: float | None = None
    our_gap: float | None = None
    our_spread: Sequence[float] = ()
    peer_spread: Sequence[float] = ()
    note: str = ""
    unit: str = "s"


def done(runs: Iterable[Run], name: str, setting: Setting | None = None) -> list[Run]:
    """The runs of one contender that ended well, of one setting if it is given."""
    return [
        run
        for run in runs
        if run.name == name and run.error is None and (setting is None or run.setting == setting)
    ]


def best_objective(runs: Iterable[Run]) -> float:
    """The lowest objective anyone reached: every sub-optimality is counted from it."""
    return min((run.objective for run in runs if run.objective is not None), default=float("inf"))


def suboptimality(run: Run, best: float) -> float:
    """(P - best) / best, which is at most the relative gap of the same weights."""
    return float("inf") if run.objective is None else (run.objective - best) / abs(best)


def adequate(work: Work, peer: Peer, settings: Sequence[Setting], runs: list[Run]) -> Setting | None:
    """The loosest setting with which the peer reaches the accuracy asked, if it has run one."""
    best = best_objective(runs)
    for setting in settings:
        tried = done(runs, peer.name, setting)
        if tried and max(suboptimality(run, best) for run in tried) <= work.target:
            return setting
    return None


def match(work: Work, objective: float, runs: list[Run]) -> Setting | None:
    """Our loosest tolerance that keeps both promises: the certified gap and an objective <= theirs."""
    for tolerance in work.our_tolerances:
        setting = {"tol": tolerance}
        tried = done(runs, "lineal", setting)
        if tried and all(_is_equal_work(work, run, objective) for run in tried):
            return setting
    return None


def _is_equal_work(work: Work, run: Run, objective: float) -> bool:
    certified = run.gap is not None and run.gap <= work.gap
    assert run.objective is not None
    return certified and run.objective <= objective * (1.0 + _ROUNDING)


def compare(work: Work, peer: Peer, setting: Setting, runs: list[Run], *, label: str = "") -> Row:
    """Us against one setting of one peer, at equal or better objective."""
    theirs = done(runs, peer.name, setting)
    objective = best_objective(theirs)
    peer_spread = spread(theirs)
    reached = suboptimality(theirs[0], best_objective(runs))
    notes = [f"peer's sub-optimality {reached:.0e}"]
    if label:
        notes.insert(0, label)
    elif reached > work.target:
        notes.append("above what was asked")
    bar = "" if peer.bar is None or label else f"≥ {peer.bar:g}×"
    ours_setting = match(work, objective, runs)
    if ours_setting is None:
        reason = "not measured" if not done(runs, "lineal") else "no run of ours was as good"
        row = Row(work.title, None, peer.name, peer_spread[0], None, bar, reason if bar else "–")
        return _with(row, peer_objective=objective, peer_spread=peer_spread, note="; ".join(notes))
    ours = done(runs, "lineal", ours_setting)
    our_spread = spread(ours)
    ratio = peer_spread[0] / our_spread[0]
    return Row(
        work.title,
        our_spread[0],
        peer.name,
        peer_spread[0],
        ratio,
        bar,
        verdict(ratio, peer.bar if bar else None),
        ours[0].objective,
        objective,
        ours[0].gap,
        our_spread,
        peer_spread,
        "; ".join([*notes, f"ours at tol={ours_setting['tol']:g}"]),
    )


def verdict(ratio: float, bar: float | None) -> str:
    """Whether a bar was met; a peer that is ahead is named as such with or without a bar."""
    if ratio < 1.0:
        return "no: the peer is ahead" if bar else "the peer is ahead"
    if bar is None:
        return "–"
    return "yes" if ratio >= bar else "no"


def spread(runs: Sequence[Run]) -> list[float]:
    """Shortest, median and longest time."""
    times = [run.seconds for run in runs if run.seconds is not None]
    return [min(times), median(times), max(times)]


def doubts(runs: list[Run]) -> list[str]:
    """Certificates that the referee contradicts: a wrong primal, or a dual above a primal."""
    best, found = best_objective(runs), []
    for run in done(runs, "lineal"):
        primal, dual = run.facts.get("primal"), run.facts.get("dual")
        assert run.objective is not None
        if primal is not None and abs(primal - run.objective) > 1e-6 * abs(run.objective):
            found.append(f"tol={run.setting['tol']:g}: states {primal!r}, is {run.objective!r}")
        if dual is not None and dual > best * (1.0 + 1e-9):
            found.append(f"tol={run.setting['tol']:g}: bound {dual!r} above a reached {best!r}")
    return found


def _with(row: Row, **changes: Any) -> Row:
    return Row(**{**asdict(row), **changes})
