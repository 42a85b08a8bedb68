"""P12: the hinge fit of P2 on a quarter, a half and all of the rows; doubling may cost 2.2 times."""

from __future__ import annotations

from dataclasses import asdict, replace
from itertools import pairwise
from typing import Any

import data
from contest import Rules, fit, referee_of
from pipe import Side
from task import Task
from verdict import Row, Run, spread
from works import WORKS

BAR = 2.2
FRACTIONS = (0.25, 0.5, 1.0)


def hold(ours: Side, rules: Rules) -> dict[str, Any]:
    """Each fit in a fresh process, so that the memory of one does not hide in that of another."""
    work = next(work for work in WORKS if work.bar == "P2")
    about = data.prepare(work.data)
    whole = Task(work.data, about.origin, work.loss, work.C, work.penalty, work.intercept)
    runs: dict[float, list[Run]] = {fraction: [] for fraction in FRACTIONS}
    for _ in range(max(2, rules.n_rounds)):
        for fraction in FRACTIONS:
            task = replace(whole, fraction=fraction)
            referee = referee_of(task)
            ours.stop()
            setting = {"tol": work.gap}
            runs[fraction].append(
                fit(
                    ours,
                    f"{fraction:g} of the rows",
                    "lineal",
                    task,
                    setting,
                    referee,
                    rules.our_seconds,
                )
            )
    rows = []
    for half, full in pairwise(FRACTIONS):
        if all(run.error is None for run in runs[half] + runs[full]):
            rows += [_time_row(half, full, runs), _memory_row(half, full, runs)]
    return {
        "title": "growth of P2",
        "data": asdict(about),
        "rows": [asdict(row) for row in rows],
        "runs": [asdict(run) for group in runs.values() for run in group],
    }


def _time_row(half: float, full: float, runs: dict[float, list[Run]]) -> Row:
    small, large = spread(runs[half]), spread(runs[full])
    last = runs[full][-1]
    return Row(
        f"P2 on {full:g} of the rows: time",
        large[0],
        f"itself on {half:g}",
        small[0],
        large[0] / small[0],
        f"≤ {BAR:g}×",
        "yes" if large[0] <= BAR * small[0] else "no",
        our_objective=last.objective,
        our_gap=last.gap,
        our_spread=large,
        peer_spread=small,
    )


def _memory_row(half: float, full: float, runs: dict[float, list[Run]]) -> Row:
    small, large = (min((run.extra_bytes or 0) for run in runs[f]) / 1e6 for f in (half, full))
    ratio = large / small if small else None
    met = "not measured" if ratio is None else "yes" if ratio <= BAR else "no"
    title = f"P2 on {full:g} of the rows: memory above the input"
    return Row(title, large, f"itself on {half:g}", small, ratio, f"≤ {BAR:g}×", met, unit="MB")
