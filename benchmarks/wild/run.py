"""How often a default fit keeps its promise on real tables that nobody scaled, cleaned or tuned on.

    python benchmarks/wild/run.py                    a random sample, nine minutes
    python benchmarks/wild/run.py --seconds 20000    all of it (hours)
    python benchmarks/wild/run.py --only Hinge --seconds 60      a look, which keeps nothing

One thread each. A worker does the fits; one that does not come back is ended and counted as such. Records go
to ``results/wild.json``, the table to docs/performance.md.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing as mp
import os
import re
import sys
import time
from collections import defaultdict
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "benchmarks" / "versus")]

from environment import machine, threads  # noqa: E402

if __name__ == "__main__" and os.environ.get("OPENBLAS_NUM_THREADS") != "1":
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **threads(1)})

import numpy as np  # noqa: E402
from fits import GRACE, LIMIT, fits, tried  # noqa: E402
from tables import Table, install, tables  # noqa: E402

import lineal  # noqa: E402

PACKAGES = HERE / ".venv" / "tables"
RESULTS = HERE / "results" / "wild.json"
PAGE, BEGIN, END = ROOT / "docs" / "performance.md", "<!-- wild:begin -->", "<!-- wild:end -->"
N_WORST = 8


def main() -> None:
    """Fit until the time is used up; keep the records, fill the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=540.0, help="of the whole run (540)")
    parser.add_argument("--seed", type=int, default=0, help="of the order of tables (0)")
    parser.add_argument("--only", default="", help="fits whose name has this word; nothing is kept")
    parser.add_argument("--records", type=Path, help="a file to which each record is added as a line")
    options = parser.parse_args()
    home, began, records, n_tables = install(PACKAGES), time.perf_counter(), [], 0
    worker = Worker()
    for table in tables(home, options.seed):
        n_tables += 1
        for fit in fits(table.task):
            if options.only not in fit.name:
                continue
            record = worker.tried(fit.name, table)
            records.append(record)
            if options.records is not None:
                with options.records.open("a") as lines:
                    lines.write(json.dumps(record) + "\n")
        if time.perf_counter() - began > options.seconds:
            break
    worker.end()
    made = table_of(records, n_tables)
    if not options.only:
        kept = {
            "machine": machine(),
            "lineal": lineal.__version__,
            "n_problems": n_tables,
            "seed": options.seed,
        }
        kept |= {"summary": summary(records), "worst": worst(records)}
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
        text = PAGE.read_text()
        PAGE.write_text(re.sub(f"(?s){BEGIN}.*{END}", lambda _: f"{BEGIN}\n{made}\n{END}", text))
    print(made)


class Worker:
    """A process that fits what it is asked for; it is begun again where one does not come back."""

    def __init__(self) -> None:
        self._begin()

    def tried(self, name: str, table: Table) -> dict[str, Any]:
        """What came of a fit."""
        self._pipe.send((name, table))
        try:
            if self._pipe.poll(LIMIT + GRACE):
                answer: dict[str, Any] = self._pipe.recv()
                return answer
            failed = f"did not come back within {LIMIT + GRACE:.0f} s"
        except EOFError:
            failed = f"the process ended with {self._process.exitcode}"
        self._process.kill()
        self._process.join()
        self._begin()
        rows, columns = table.X.shape
        return {"fit": name, "table": table.name, "rows": rows, "columns": columns, "failed": failed}

    def end(self) -> None:
        """No more fits."""
        self._pipe.send(None)
        self._process.join()

    def _begin(self) -> None:
        context = mp.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_work, args=(other,), daemon=True)
        self._process.start()
        other.close()


def _work(pipe: Connection) -> None:
    known = {task: {fit.name: fit for fit in fits(task)} for task in ("classes", "numbers")}
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    for warm_up in (Table("", X, np.where(y > 0, "a", "b"), 2), Table("", X, y, 0)):
        for fit in known[warm_up.task].values():  # what is imported late is imported now
            tried(fit, warm_up)
    while (asked := pipe.recv()) is not None:
        name, table = asked
        try:
            pipe.send(tried(known[table.task][name], table))
        except Exception as error:  # a crash of any kind is what is looked for
            rows, columns = table.X.shape
            place = {"fit": name, "table": table.name, "rows": rows, "columns": columns}
            pipe.send(place | {"failed": f"{type(error).__name__}: {str(error)[:300]}"})


def is_kept(record: dict[str, Any]) -> bool:
    """Whether the promise was: certified, or said to have no minimiser."""
    return bool(record.get("certified")) or record.get("stop") == "NO_MINIMUM"


def summary(records: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Of each kind of fit: how many, the share that kept the promise, and times."""
    kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for record in records:
        kinds[record["fit"]].append(record)
    found = {}
    for name, each in kinds.items():
        seconds = np.array([record.get("cpu", LIMIT) for record in each])
        theirs = np.array([record["their_cpu"] for record in each if "their_cpu" in record])
        found[name] = {
            "fits": len(each),
            "kept": sum(is_kept(record) for record in each),
            "no_minimum": sum(record.get("stop") == "NO_MINIMUM" for record in each),
            "verify_agrees": sum(record.get("verified") == record.get("certified") for record in each),
            "false": sum(bool(record.get("is_false")) for record in each),
            "seconds": [float(np.quantile(seconds, q)) for q in (0.5, 0.95, 0.99, 1.0)],
            "their_seconds": [float(np.quantile(theirs, q)) for q in (0.5, 0.95, 0.99, 1.0)]
            if len(theirs)
            else [],
        }
    return found


def worst(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What broke the promise, and what took longest."""
    broken = [record for record in records if not is_kept(record)]
    slow = sorted(records, key=lambda record: -record.get("cpu", LIMIT))[:N_WORST]
    return broken + [record for record in slow if record not in broken]


def table_of(records: list[dict[str, Any]], n_tables: int) -> str:
    """Markdown: a line for each kind of fit, then the worst cases by name."""
    lines = [
        "| fit | fits | certified, or no minimiser | `verify` agrees | "
        "CPU ms: median, 95 %, 99 %, longest | scikit-learn's |",
        "|---|---|---|---|---|---|",
    ]
    for name, found in summary(records).items():
        n = found["fits"]
        times, theirs = (
            ", ".join(f"{1e3 * s:.3g}" for s in found[key]) for key in ("seconds", "their_seconds")
        )
        share = f"{100 * found['kept'] / n:.1f} %" + (
            f" ({found['no_minimum']})" if found["no_minimum"] else ""
        )
        agrees = f"{100 * found['verify_agrees'] / n:.1f} %"
        lines.append(f"| {name} | {n} | {share} | {agrees} | {times} | {theirs or '–'} |")
    n_kept, n_false = sum(map(is_kept, records)), sum(bool(record.get("is_false")) for record in records)
    share = 100 * n_kept / max(len(records), 1)
    lines += [
        "",
        f"{n_tables} problems, {len(records)} fits of at most {LIMIT:.0f} s: {share:.2f} % kept the promise; "
        f"in brackets, how many have no minimiser. Bounds above what scikit-learn reached: {n_false}.",
    ]
    for record in worst(records)[: 2 * N_WORST]:
        told = record.get("failed") or record.get("refused") or f"gap {record['gap']:.1e}, {record['solver']}"
        size = f"{record['rows']} × {record['columns']}"
        lines.append(
            f"- {record['fit']} on {record['table']} ({size}): {told}, {record.get('cpu', LIMIT):.2f} s"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
