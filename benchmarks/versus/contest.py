"""One piece of work, fought out: sweep settings, choose, repeat in turns, judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import data
import numpy as np
from objectives import objective
from pipe import Side
from task import Setting, Task
from verdict import Row, Run, adequate, best_objective, compare, done, doubts, match, suboptimality
from works import Peer, Work


@dataclass(frozen=True)
class Rules:
    """How long and how often."""

    quick: bool
    n_rounds: int
    our_seconds: float  # a fit of ours is ended after this
    peer_seconds: float  # and a peer's after this
    repeat_seconds: float  # a setting is not repeated once its runs have taken this


class Contest:
    """All runs of one piece of work."""

    def __init__(self, work: Work, ours: Side | None, peers: Side, rules: Rules) -> None:
        self.work, self.ours, self.peers, self.rules = work, ours, peers, rules
        self.about = data.prepare(work.data)
        self.task = Task(work.data, self.about.origin, work.loss, work.C, work.penalty, work.intercept)
        self.runs: list[Run] = []
        self._referee = referee_of(self.task)

    def hold(self) -> dict[str, Any]:
        """Run everything and return the record that is kept."""
        self._sweep()
        for number in range(1, self.rules.n_rounds):
            # Back and forth: a fit inherits warm memory from the one before it.
            self._round(self.work.peers[:: -1 if number % 2 else 1])
        rows = self._rows()
        best = best_objective(self.runs)
        return {
            "title": self.work.title,
            "data": asdict(self.about),
            "task": asdict(self.task),
            "target": self.work.target,
            "gap": self.work.gap,
            "best_objective": best,
            "rows": [asdict(row) for row in rows],
            "doubts": doubts(self.runs),
            "runs": [
                {**asdict(run), "suboptimality": _finite(suboptimality(run, best))} for run in self.runs
            ],
        }

    def _settings(self, peer: Peer) -> list[Setting]:
        return [peer.settings[peer.quick]] if self.rules.quick else list(peer.settings)

    def _sweep(self) -> None:
        """Tighten each peer until it reaches the target, and us until we are as good as each of them.

        Turn by turn, because the best known objective, from which the target counts, may sink.
        """
        ours: list[Setting] = [{"tol": tolerance} for tolerance in self.work.our_tolerances]
        if self.ours is None or self._ours(ours.pop(0)).error:
            ours.clear()
        if not self.rules.quick:
            for peer in self.work.peers:
                if peer.default is not None:
                    self._peer(peer, peer.default)
        waiting = {
            peer.name: [s for s in self._settings(peer) if not done(self.runs, peer.name, s)]
            for peer in self.work.peers
        }
        n_before = -1
        while len(self.runs) > n_before:
            n_before = len(self.runs)
            for peer in self.work.peers:
                left = waiting[peer.name]
                if left and self._may_choose(peer, left[0]) and self._peer(peer, left.pop(0)).error:
                    left.clear()  # a tighter setting takes longer still
            if ours and self._is_behind() and self._ours(ours.pop(0)).error:
                ours.clear()

    def _is_behind(self) -> bool:
        """Whether some peer's shown run has an objective that none of ours reaches yet."""
        shown = [(peer.name, setting) for peer in self.work.peers for setting, _ in self._shown(peer)]
        goals = [best_objective(done(self.runs, name, setting)) for name, setting in shown]
        return any(match(self.work, goal, self.runs) is None for goal in goals)

    def _may_choose(self, peer: Peer, setting: Setting) -> bool:
        """Whether the setting is looser than the one that is good enough so far, if there is one."""
        order, chosen = self._settings(peer), self._chosen(peer)
        return chosen is None or order.index(setting) < order.index(chosen)

    def _chosen(self, peer: Peer) -> Setting | None:
        return adequate(self.work, peer, self._settings(peer), self.runs)

    def _shown(self, peer: Peer) -> list[tuple[Setting, str]]:
        """The settings that get a row: the one that reaches the target, and the default."""
        shown: list[tuple[Setting, str]] = []
        tried = [s for s in self._settings(peer) if done(self.runs, peer.name, s)]
        if tried:
            shown.append((self._chosen(peer) or tried[-1], ""))
        if peer.default is not None and done(self.runs, peer.name, peer.default):
            shown.append((peer.default, "default setting"))
        return shown

    def _round(self, peers: Sequence[Peer]) -> None:
        """Every setting that is shown once more, ours and theirs in turn, ours never more often."""
        ours_done: list[Setting] = []
        for peer in peers:
            for setting, _ in self._shown(peer):
                goal = best_objective(done(self.runs, peer.name, setting))
                matched = match(self.work, goal, self.runs)
                if matched is not None and matched not in ours_done and self._may_repeat("lineal", matched):
                    ours_done.append(matched)
                    self._ours(matched)
                if self._may_repeat(peer.name, setting):
                    self._peer(peer, setting)

    def _may_repeat(self, name: str, setting: Setting) -> bool:
        times = [run.seconds or 0.0 for run in done(self.runs, name, setting)]
        return len(times) < self.rules.n_rounds and sum(times) < self.rules.repeat_seconds

    def _rows(self) -> list[Row]:
        rows = []
        for peer in self.work.peers:
            for setting, label in self._shown(peer):
                rows.append(compare(self.work, peer, setting, self.runs, label=label))
            if not done(self.runs, peer.name):
                error = next(run.error for run in self.runs if run.name == peer.name)
                rows.append(Row(self.work.title, None, peer.name, None, None, "", "–", note=error or ""))
        return rows

    def _ours(self, setting: Setting) -> Run:
        assert self.ours is not None
        return self._fit(self.ours, "lineal", "lineal", setting, self.rules.our_seconds)

    def _peer(self, peer: Peer, setting: Setting) -> Run:
        return self._fit(self.peers, peer.name, peer.contender, setting, self.rules.peer_seconds)

    def _fit(self, side: Side, name: str, contender: str, setting: Setting, seconds: float) -> Run:
        run = fit(side, name, contender, self.task, setting, self._referee, seconds)
        self.runs.append(run)
        return run


def fit(
    side: Side,
    name: str,
    contender: str,
    task: Task,
    setting: Setting,
    referee: Callable[[], float],
    seconds: float,
) -> Run:
    """Ask one side for one fit and let the referee weigh what came back."""
    request = {
        "contender": contender,
        "task": asdict(task),
        "setting": setting,
        "output": str(_weights_path()),
    }
    reply = side.fit(request, seconds)
    if "error" in reply:
        print(f"    {name} {_words(setting)}: {reply['error']}", flush=True)
        return Run(name, setting, error=reply["error"])
    value = referee()
    share = reply["facts"].get("input_share")
    told = "" if share is None else f", {share:.1%} of it input"
    print(f"    {name} {_words(setting)}: {reply['seconds']:.3f} s{told}, {value:.6g}", flush=True)
    return Run(name, setting, reply["seconds"], value, reply["extra_bytes"], reply["facts"])


def referee_of(task: Task) -> Callable[[], float]:
    """A function that weighs the weights last written, on its own copy of the data."""
    X, y = data.load(task.data, task.origin, task.fraction)

    def weigh() -> float:
        with np.load(_weights_path()) as found:
            return objective(task, X, y, found["coef"], found["intercept"])

    return weigh


def _weights_path() -> Path:
    return data.CACHE / "weights.npz"


def _words(setting: Setting) -> str:
    return " ".join(f"{key}={value}" for key, value in setting.items()) or "default"


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
