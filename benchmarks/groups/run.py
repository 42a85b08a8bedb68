"""The group lasso against adelie and skglm: CPU time on one thread to a relative gap of 1e-6.

Run it with the interpreter that holds lineal; the peers, one of which wants an older NumPy than the rest of
those we measure against, live in an environment of their own, ``benchmarks/groups/.venv``. All minimise the
same objective without an intercept, at a twentieth of the strength from which all weights are 0, and on a
path of 30 strengths down to it. Ours proves the gap at every point. A peer proves nothing: its own tolerance
is tightened until its objective is within the gap of bounds that are proved a hundred times more closely,
outside the clock, and its time at that tolerance counts. Records go to ``results/groups.json``, the table to
docs/groups.md.
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
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "benchmarks" / "versus")]

from data import CACHE  # noqa: E402
from environment import machine, threads  # noqa: E402
from problems import SHAPES, SIZE, load, save, targets  # noqa: E402

import lineal  # noqa: E402
from lineal.objective import GroupL2, Log, Squared  # noqa: E402
from lineal.objective.strengths import largest_strength  # noqa: E402

GAP, SHARE, N_STRENGTHS = 1e-6, 1 / 20, 30
KINDS = {"squared": "least squares", "logistic": "logistic"}
TASKS = {"one": "one strength", "path": "path of 30"}
PEERS = ("adelie", "skglm")
PAGE, BEGIN, END = ROOT / "docs" / "groups.md", "<!-- groups:begin -->", "<!-- groups:end -->"


def main() -> None:
    """Measure everything asked for, keep the records, fill the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="what a contender may take (600)")
    parser.add_argument("--repeats", type=int, default=3, help="of which the best counts (3)")
    parser.add_argument(
        "--shapes", default=",".join(SHAPES), help="some of them: the others keep what was measured"
    )
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--peers", type=Path, help="another interpreter that has adelie and skglm")
    parser.add_argument(
        "--ours",
        action="store_true",
        help="ours alone, nothing is kept: times of several sessions do not compare",
    )
    options = parser.parse_args()
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **threads(1)})
    results = HERE / "results" / "groups.json"
    records = json.loads(results.read_text()) if results.exists() else {"found": {}}
    records["machine"] = machine()
    results.parent.mkdir(exist_ok=True)
    for shape in options.shapes.split(","):
        for kind in options.kinds.split(","):
            for task in TASKS:
                key = f"{shape}/{kind}/{task}"
                before = records["found"].get(key, {})
                records["found"][key] = measured(shape, kind, task, options, before)
                if not options.ours:
                    results.write_text(json.dumps(records, indent=1) + "\n")
    if not options.ours:
        text = PAGE.read_text()
        PAGE.write_text(re.sub(f"(?s){BEGIN}.*{END}", lambda _: f"{BEGIN}\n{table(records)}\n{END}", text))
    print(table(records))


def learner(kind: str, n_columns: int, tol: float) -> Any:
    """What all contenders minimise."""
    penalty = GroupL2(np.repeat(np.arange(n_columns // SIZE), SIZE))
    options: dict[str, Any] = {"fit_intercept": False, "tol": tol, "n_threads": 1}
    if kind == "squared":
        return lineal.LinearRegressor(Squared(), penalty, **options)
    return lineal.LinearClassifier(Log(), penalty, **options)


def measured(shape: str, kind: str, task: str, options: Any, before: dict[str, Any]) -> dict[str, Any]:
    """Every contender's seconds, and by how much its objectives exceed proved bounds, at worst."""
    stem = save(shape, CACHE)
    X, y = load(stem)
    X, t = (sp.csr_array(X) if sp.issparse(X) else X), targets(kind, y)
    few = slice(0, 200)
    lineal.path(learner(kind, X.shape[1], 1e-2), X[few], t[few], n_strengths=2, ratio=0.5)
    top = largest_strength(learner(kind, X.shape[1], GAP)._task(X, t, None).problem)
    strengths = np.geomspace(top, SHARE * top, N_STRENGTHS) if task == "path" else np.array([SHARE * top])
    print(f"{shape}, {kind}, {task}: ours", end=" ", flush=True)
    times = []
    for _ in range(options.repeats):
        began = time.process_time()
        points = lineal.path(learner(kind, X.shape[1], GAP), X, t, strengths=strengths)
        times.append(time.process_time() - began)
        if times[-1] > 60:
            break
    print(f"{min(times):.2f} s", flush=True)
    worst = max(proof.relative_gap for proof in points.certificates)
    n_nonzero = int(points.n_nonzero[-1])
    found = {"lineal": {"seconds": min(times), "all": times, "worst": worst, "n_nonzero": n_nonzero}}
    if options.ours:
        return {**before, **found}
    closer = lineal.path(learner(kind, X.shape[1], GAP / 100), X, t, strengths=strengths)
    bounds = np.array([proof.dual for proof in closer.certificates])
    files = [CACHE / f"groups-{shape}-{kind}-{task}.{end}" for end in ("strengths.txt", "bounds.txt")]
    for file, numbers in zip(files, (strengths, bounds), strict=True):
        np.savetxt(file, numbers)
    for name in PEERS:
        print(f"  {name}", end=" ", flush=True)
        found[name] = asked([name, kind, str(stem), *map(str, files), str(GAP)], options)
        print(found[name], flush=True)
    return found


def peers_python() -> Path:
    """The interpreter of the peers, installed on first use."""
    home = HERE / ".venv"
    python = home / "bin" / "python"
    if not python.exists():
        print("installing the peers into benchmarks/groups/.venv ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PEERS, "scipy"], check=True)
    return python


def asked(request: list[str], options: Any) -> dict[str, Any]:
    """A peer's answer, or that it did not end in time."""
    python = options.peers or peers_python()
    command = [str(python), "-W", "ignore", str(HERE / "peers.py"), *request, str(options.repeats)]
    environment = {**os.environ, **threads(1)}
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, timeout=options.seconds, env=environment
        )
    except subprocess.TimeoutExpired:
        return {"seconds": None, "note": f"not there in {options.seconds:.0f} s"}
    if answer.returncode:
        return {"seconds": None, "note": answer.stderr.strip().splitlines()[-1][:200]}
    reply: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    return reply


def table(records: dict[str, Any]) -> str:
    """The markdown table: seconds, and how many times ours a peer took."""
    lines = [
        "| data | loss | task | weights in play | lineal | " + " | ".join(PEERS) + " |",
        "|---|---|---|---|---|---|---|",
    ]
    for key, found in records["found"].items():
        shape, kind, task = key.split("/")
        ours = found["lineal"]
        cells = [
            SHAPES[shape].title,
            KINDS[kind],
            TASKS[task],
            f"{ours['n_nonzero']:,}",
            f"{ours['seconds']:.2f} s",
        ]
        for name in PEERS:
            one = found.get(name, {"seconds": None, "note": ""})
            if one["seconds"] is None:
                cells.append(one["note"])
            else:
                cells.append(f"{one['seconds']:.2f} s ({one['seconds'] / ours['seconds']:.1f})")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
