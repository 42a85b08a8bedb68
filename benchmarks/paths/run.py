"""A path of 30 strengths on IMDB under L1: ours against 30 cold fits, celer and scikit-learn.

Run it with the interpreter that holds lineal; the peers are those of ``benchmarks/versus``. All minimise the
same objectives without an intercept, from the strength at which all weights are 0 down to a hundredth of it.
Ours proves a relative gap of 1e-3 at every point; a peer is given its own default tolerance. What each
reached is judged against bounds that are proved a thousand times more closely, outside the clock. Records go
to ``results/paths.json``, the table to docs/path.md.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "benchmarks" / "versus"))

from data import CACHE, load, prepare  # noqa: E402
from environment import machine, peers_python  # noqa: E402

import lineal  # noqa: E402
from lineal.objective import L1, Log, Squared  # noqa: E402

TOL, N_STRENGTHS, RATIO = 1e-3, 30, 1e-2
PEERS = (("celer", "1e-4"), ("scikit-learn", "1e-4"))
TITLES = {"lasso": "least squares", "logistic": "logistic"}
PAGE, BEGIN, END = ROOT / "docs" / "path.md", "<!-- paths:begin -->", "<!-- paths:end -->"


def main() -> None:
    """Measure both losses, keep the records, fill the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0, help="what a contender may take (300)")
    options = parser.parse_args()
    about = prepare("imdb")
    records = {
        "machine": machine(),
        "data": {"origin": about.origin, "n_rows": about.n_rows, "n_columns": about.n_columns},
        "kinds": {kind: measured(kind, about.origin, options.seconds) for kind in ("lasso", "logistic")},
    }
    (HERE / "results").mkdir(exist_ok=True)
    if about.origin == "real":
        (HERE / "results" / "paths.json").write_text(json.dumps(records, indent=1) + "\n")
        text = PAGE.read_text()
        PAGE.write_text(re.sub(f"(?s){BEGIN}.*{END}", lambda _: f"{BEGIN}\n{table(records)}\n{END}", text))
    print(table(records))


def learner(kind: str, strength: float = 1.0, tol: float = TOL) -> Any:
    """What all contenders minimise."""
    if kind == "lasso":
        return lineal.LinearRegressor(Squared(), L1(strength), fit_intercept=False, tol=tol)
    return lineal.LinearClassifier(Log(), L1(strength), fit_intercept=False, tol=tol)


def measured(kind: str, origin: str, seconds: float) -> dict[str, Any]:
    """Every contender's seconds, and by how much its objectives exceed our lower bounds, at worst."""
    X, labels = load("imdb", origin)
    y = np.where(labels > labels.mean(), 1.0, -1.0)
    print(f"{kind}: our path", flush=True)
    lineal.path(learner(kind), X[::100], y[::100], n_strengths=2)  # imports what is imported on first use
    began = time.perf_counter()
    points = lineal.path(learner(kind), X, y, n_strengths=N_STRENGTHS, ratio=RATIO)
    warm = time.perf_counter() - began
    closer = lineal.path(learner(kind, tol=TOL / 1000), X, y, strengths=points.strengths)
    bounds = np.array([proof.dual for proof in closer.certificates])
    ours = np.array([proof.primal for proof in points.certificates])
    print(f"  {warm:.2f} s; cold fits", flush=True)
    began, cold = time.perf_counter(), []
    for strength in points.strengths:
        cold.append(learner(kind, float(strength)).fit(X, y).certificate_.primal)
        if time.perf_counter() - began > seconds:
            break
    cold_seconds = time.perf_counter() - began
    found = {
        "lineal, warm": judged(warm, ours, bounds),
        "lineal, 30 cold fits": judged(cold_seconds, np.array(cold), bounds),
    }
    strengths = CACHE / f"strengths-{kind}.txt"
    np.savetxt(strengths, points.strengths)
    for name, tol in PEERS:
        print(f"  {name}", flush=True)
        request = [kind, name, *(str(CACHE / f"imdb-{origin}{end}") for end in (".npz", ".npy"))]
        found[name] = asked([*request, str(strengths), tol], seconds, bounds)
    return found


def asked(request: list[str], seconds: float, bounds: np.ndarray) -> dict[str, Any]:
    """A peer's answer, or that it did not end in time."""
    command = [str(peers_python()), "-W", "ignore", str(HERE / "peers.py"), *request]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60)
    except subprocess.TimeoutExpired:
        return {"seconds": None, "note": f"not done in {seconds:.0f} s"}
    if answer.returncode:
        return {"seconds": None, "note": answer.stderr.strip().splitlines()[-1][:200]}
    reply = json.loads(answer.stdout.splitlines()[-1])
    return judged(reply["seconds"], np.array(reply["objectives"]), bounds)


def judged(seconds: float, objectives: np.ndarray, bounds: np.ndarray) -> dict[str, Any]:
    """Seconds, points done, and the largest relative excess over a proved lower bound."""
    excess = (objectives - bounds[: len(objectives)]) / np.abs(bounds[: len(objectives)])
    return {"seconds": seconds, "n_points": len(objectives), "worst": float(excess.max())}


def table(records: dict[str, Any]) -> str:
    """The markdown table."""
    lines = ["| loss | contender | 30 points | times ours | at most above the optimum, worst point |"]
    lines.append("|---|---|---|---|---|")
    for kind, found in records["kinds"].items():
        base = found["lineal, warm"]["seconds"]
        for name, one in found.items():
            if one["seconds"] is None:
                lines.append(f"| {TITLES[kind]} | {name} | {one['note']} | | |")
                continue
            short = "" if one["n_points"] == N_STRENGTHS else f" ({one['n_points']} points only)"
            lines.append(
                f"| {TITLES[kind]} | {name} | {one['seconds']:.2f} s{short} | {one['seconds'] / base:.1f} | "
                f"{one['worst']:.1e} |"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
