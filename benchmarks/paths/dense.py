"""L1 paths over dense columns against adelie and scikit-learn: CPU time of one thread to a gap of 1e-4.

Run it with the interpreter that holds lineal; the peers live where those of ``benchmarks/groups`` do. All
minimise the same objective with a free intercept, from the strength at which all weights are 0 down to a
hundredth of it. Ours proves the relative gap at every point. A peer proves nothing: its own tolerance is
tightened until its objective is within the gap of bounds that are proved ten times more closely, outside the
clock, and its time at that tolerance counts. Records go to ``results/dense.json``, the table to docs/path.md.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
import warnings
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "benchmarks" / "versus"), str(ROOT / "benchmarks" / "groups")]

from data import CACHE  # noqa: E402
from environment import machine, threads  # noqa: E402

import lineal  # noqa: E402
from lineal.objective import L1, Log, Squared  # noqa: E402

GAP, RATIO, SEED = 1e-4, 1e-2, 0
PEERS = ("adelie", "scikit-learn")
PAGE, BEGIN, END = ROOT / "docs" / "path.md", "<!-- dense:begin -->", "<!-- dense:end -->"


class Task(NamedTuple):
    """A loss, a shape and how many strengths."""

    kind: str
    n_rows: int
    n_columns: int
    n_strengths: int


TASKS = {
    "squared-wide": Task("squared", 2_000, 5_000, 100),
    "squared-wider": Task("squared", 500, 20_000, 100),
    "squared-tall": Task("squared", 20_000, 500, 100),
    "logistic-wide": Task("logistic", 2_000, 5_000, 50),
    "logistic-tall": Task("logistic", 20_000, 200, 50),
}


def main() -> None:
    """Measure everything asked for, keep the records, fill the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", default=",".join(TASKS), help="some: the others keep what was measured")
    parser.add_argument("--repeats", type=int, default=3, help="of which the best counts (3)")
    parser.add_argument("--seconds", type=float, default=900.0, help="what a peer may take in all (900)")
    parser.add_argument("--peers", type=Path, help="another interpreter that has adelie and scikit-learn")
    options = parser.parse_args()
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **threads(1)})
    results = HERE / "results" / "dense.json"
    records = json.loads(results.read_text()) if results.exists() else {"found": {}}
    records["machine"] = machine()
    for name in options.tasks.split(","):
        records["found"][name] = measured(name, TASKS[name], options)
        results.parent.mkdir(exist_ok=True)
        results.write_text(json.dumps(records, indent=1) + "\n")
    text = PAGE.read_text()
    PAGE.write_text(re.sub(f"(?s){BEGIN}.*{END}", lambda _: f"{BEGIN}\n{table(records)}\n{END}", text))
    print(table(records))


def made(task: Task) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns, a twentieth of them telling, and as much noise as they tell; signs for classes."""
    rng = np.random.default_rng(SEED)
    n, d = task.n_rows, task.n_columns
    X, w = rng.normal(size=(n, d)), np.zeros(d)
    n_telling = max(10, d // 20)
    w[:n_telling] = rng.normal(size=n_telling)
    z = X @ w
    z += rng.normal(size=n) * z.std()
    return X, z if task.kind == "squared" else np.where(z > 0, 1.0, -1.0)


def learner(task: Task, tol: float) -> Any:
    """What all contenders minimise."""
    if task.kind == "squared":
        return lineal.LinearRegressor(Squared(), L1(1.0), tol=tol, n_threads=1)
    return lineal.LinearClassifier(Log(), L1(1.0), tol=tol, n_threads=1)


def measured(name: str, task: Task, options: Any) -> dict[str, Any]:
    """Every contender's seconds, and by how much its objectives exceed proved bounds, at worst."""
    X, y = made(task)
    print(f"{name}: ours", end=" ", flush=True)
    lineal.path(learner(task, GAP), X[:200], y[:200], n_strengths=2)  # imports what is imported on first use
    times = []
    for _ in range(options.repeats):
        began = time.process_time()
        points = lineal.path(learner(task, GAP), X, y, n_strengths=task.n_strengths, ratio=RATIO)
        times.append(time.process_time() - began)
    print(f"{min(times):.2f} s", flush=True)
    closer = lineal.path(learner(task, GAP / 10), X, y, strengths=points.strengths)
    bounds = np.array([proof.dual for proof in closer.certificates])
    reached = np.array([proof.primal for proof in points.certificates])
    found: dict[str, Any] = {
        "lineal": {
            "seconds": min(times),
            "all": times,
            "worst": float(np.max((reached - bounds) / bounds)),
            "gap": max(proof.relative_gap for proof in points.certificates),
            "n_nonzero": int(points.n_nonzero[-1]),
        }
    }
    CACHE.mkdir(parents=True, exist_ok=True)
    stem = CACHE / f"dense-{name}"
    np.save(f"{stem}.X.npy", X)
    np.save(f"{stem}.y.npy", y)
    files = [Path(f"{stem}.{end}.txt") for end in ("strengths", "bounds")]
    for file, numbers in zip(files, (points.strengths, bounds), strict=True):
        np.savetxt(file, numbers)
    for peer in PEERS:
        print(f"  {peer}", end=" ", flush=True)
        found[peer] = asked([peer, task.kind, str(stem), *map(str, files), str(GAP)], options)
        print(found[peer], flush=True)
    return found


def asked(request: list[str], options: Any) -> dict[str, Any]:
    """A peer's answer, or that it did not end in time."""
    if options.peers is None:
        groups = spec_from_file_location("groups", ROOT / "benchmarks" / "groups" / "run.py")
        assert groups is not None
        assert groups.loader is not None
        module = module_from_spec(groups)
        groups.loader.exec_module(module)
        options.peers = module.peers_python()
    command = [
        str(options.peers),
        "-W",
        "ignore",
        str(HERE / "dense_peers.py"),
        *request,
        str(options.repeats),
    ]
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, timeout=options.seconds, env={**os.environ, **threads(1)}
        )
    except subprocess.TimeoutExpired:
        return {"seconds": None, "note": f"not there in {options.seconds:.0f} s"}
    if answer.returncode:
        return {"seconds": None, "note": answer.stderr.strip().splitlines()[-1][:200]}
    reply: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    return reply


def table(records: dict[str, Any]) -> str:
    """The markdown table: seconds, and how many times ours a peer took."""
    lines = ["| loss | data | strengths | weights at the end | lineal | " + " | ".join(PEERS) + " |"]
    lines.append("|---|---|---|---|---|---|---|")
    for name, found in records["found"].items():
        task, ours = TASKS[name], found["lineal"]
        cells = [
            {"squared": "least squares", "logistic": "logistic"}[task.kind],
            f"{task.n_rows:,} × {task.n_columns:,}",
            str(task.n_strengths),
            f"{ours['n_nonzero']:,}",
            f"{ours['seconds']:.2f} s",
        ]
        for peer in PEERS:
            one = found[peer]
            known = one["seconds"] is not None
            cells.append(
                f"{one['seconds']:.2f} s ({one['seconds'] / ours['seconds']:.1f})" if known else one["note"]
            )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
