"""Run every loss x penalty x solver triple on three small tasks; exit with 1 if one of them fails.

Records go to ``results/grid.json`` and, as a page, to ``docs/grid.md``. A partial run (``--only``) prints its
counts and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from cases import N_COLUMNS, N_ROWS, columns, losses, penalties, tasks
from page import render
from trial import Outcome, attempt, contradictions

HERE = Path(__file__).parent
# A fit that is not done by then has failed. Most take a hundredth of it, sgd under Lp up to half.
MAX_SECONDS = 60.0


def main() -> int:
    """Go through the grid, two problems at a time, and keep what came of it."""
    options = _options()
    # One thread for each fit, so that neighbours do not share a core; workers read this when they start.
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    problems = [
        (task.name, place, rank)
        for task in tasks()
        for place in range(len(losses(task)))
        for rank in range(len(penalties()))
        if task.name in options.only
    ]
    began = time.perf_counter()
    outcomes: list[Outcome] = []
    for number, found in enumerate(_run(problems, options.workers), 1):
        outcomes += found
        for outcome in found:
            if outcome.kind == "failed":
                print(f"FAILED {_name(outcome)}: {outcome.sentence}", flush=True)
        if number % 20 == 0 or number == len(problems):
            print(f"{number} of {len(problems)} problems, {_counts(outcomes)}", flush=True)
    record = _record(outcomes, time.perf_counter() - began)
    print(f"{_counts(outcomes)} in {record['seconds']:.0f} s")
    if set(options.only) == {task.name for task in tasks()}:
        (HERE / "results").mkdir(exist_ok=True)
        (HERE / "results" / "grid.json").write_text(_as_lines(record))
        (HERE.parents[1] / "docs" / "grid.md").write_text(render(record))
    return 1 if any(outcome.kind == "failed" for outcome in outcomes) else 0


def solve(problem: tuple[str, int, int]) -> list[Outcome]:
    """All solvers on one loss and penalty, held against each other."""
    name, place, rank = problem
    task = next(task for task in tasks() if task.name == name)
    loss, penalty = losses(task)[place], penalties()[rank]
    outcomes = [attempt(task, loss, penalty, column, MAX_SECONDS) for column in columns()]
    wrong = contradictions(outcomes)
    return [
        replace(outcome, kind="failed", sentence=wrong[outcome.solver])
        if outcome.solver in wrong
        else outcome
        for outcome in outcomes
    ]


def _run(problems: list[tuple[str, int, int]], workers: int) -> Iterator[list[Outcome]]:
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(solve, problems)


def _record(outcomes: list[Outcome], seconds: float) -> dict[str, Any]:
    return {
        "seconds": round(seconds, 1),
        "n_cores": os.cpu_count(),
        "date": datetime.now(UTC).date().isoformat(),
        "version": version("lineal"),
        "max_seconds": MAX_SECONDS,
        "n_rows": N_ROWS,
        "n_columns": N_COLUMNS,
        "tolerances": {column.label: column.tol for column in columns()},
        "counts": dict(Counter(outcome.kind for outcome in outcomes)),
        "outcomes": [
            {name: value for name, value in asdict(outcome).items() if value not in (None, "")}
            | {"seconds": round(outcome.seconds, 4)}
            for outcome in outcomes
        ],
    }


def _as_lines(record: dict[str, Any]) -> str:
    """JSON with one outcome a line, so that two runs can be compared."""
    outcomes = ",\n".join(json.dumps(outcome) for outcome in record["outcomes"])
    head = json.dumps({**record, "outcomes": []}, indent=1)
    return head.replace('"outcomes": []', f'"outcomes": [\n{outcomes}\n ]') + "\n"


def _counts(outcomes: list[Outcome]) -> str:
    counts = Counter(outcome.kind for outcome in outcomes)
    return ", ".join(f"{kind} {counts[kind]}" for kind in ("certified", "refused", "failed"))


def _name(outcome: Outcome) -> str:
    return f"{outcome.task} {outcome.loss} {outcome.penalty} {outcome.solver}"


def _options() -> argparse.Namespace:
    names = [task.name for task in tasks()]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="the tasks to run")
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1), help="fits at a time")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
