"""Kernel machines against LIBSVM (in scikit-learn) and scikit-learn-intelex: same rows, same C and gamma.

    python benchmarks/kernel_machines/run.py              every set, kept in results/ and docs/svm.md
    python benchmarks/kernel_machines/run.py --rows 3000  about so many rows of each, kept nowhere

Run it with the interpreter that holds lineal; the peers have an environment of their own. Every contender has
a process for itself, its own tolerance and all threads that it takes. A time counts when the dual objective,
computed here in float64 from the coefficients, is within 1e-3 of the best contender's.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path += [str(ROOT / "benchmarks" / "versus"), str(ROOT / "benchmarks" / "text")]

from duals import dual_objective  # noqa: E402
from environment import machine, peers_python, threads  # noqa: E402
from page import put_on_page, table  # noqa: E402
from sets import AbsentError, path_of  # noqa: E402

RESULTS = HERE / "results" / "kernel_machines.json"
EQUAL = 1e-3


@dataclass(frozen=True)
class Work:
    """Rows of a file, a machine, and how often its times are to be beaten.

    ``goals`` are those of a fit against LIBSVM and against scikit-learn-intelex, None where there is none.
    """

    name: str
    C: float
    gamma: float
    test: str | None = None
    goals: tuple[float, float] | None = None


WORKS = (
    Work("a9a", 1.0, 0.05, "a9a.t", (40.0, 6.0)),
    Work("ijcnn1", 10.0, 1.0, None, (10.0, 6.0)),
    Work("letter.scale", 10.0, 1.0, "letter.scale.t", (5.0, 6.0)),
    Work("w8a", 1.0, 0.05),
)
LAYOUTS = ("sparse", "dense")
LIBRARIES = ("lineal", "scikit-learn", "intelex")
GOAL_OF_PREDICTION = 20.0


def main() -> None:
    """Measure every work whose data are there, keep the records, fill the page."""
    told = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    told.add_argument("--rows", type=int, help="about so many rows of every file; keeps nothing")
    told.add_argument("--only", action="append", help="a file; may be repeated; keeps nothing")
    told.add_argument("--repeats", type=int, default=5, help="fits of ours; of intelex 3 at most; LIBSVM 1")
    told.add_argument("--threads", type=int, help="for every library; as many as it takes if not given")
    told.add_argument("--keep", type=Path, help="keep the records in this file, and write on no page")
    asked = told.parse_args()
    records: dict[str, Any] = {
        "machine": machine(), "threads": asked.threads, "equal": EQUAL, "repeats": repeats(asked.repeats),
        "goal_of_prediction": GOAL_OF_PREDICTION, "works": {},
    }  # fmt: skip
    for work in WORKS:
        if asked.only and work.name not in asked.only:
            continue
        print(f"{work.name}: C = {work.C:g}, gamma = {work.gamma:g}", flush=True)
        try:
            X, y, Q, truth = data_of(work, asked.rows)
        except AbsentError as reason:
            print(f"  skipped: {reason}", flush=True)
            continue
        records["works"][work.name] = measured(work, X, y, Q, truth, asked)
    print(table(records))
    kept = asked.keep or (None if asked.rows or asked.only else RESULTS)
    if kept is None:
        return
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(records, indent=1) + "\n")
    if kept == RESULTS:
        put_on_page(ROOT / "docs" / "svm.md", records)


def repeats(n: int) -> dict[str, int]:
    """LIBSVM takes a minute where others take a second: once is enough to tell them apart."""
    return {"lineal": n, "intelex": min(n, 3), "scikit-learn": 1}


def data_of(work: Work, n_most: int | None) -> tuple[Any, Any, Any, Any]:
    """Rows, labels, queries and what they are; without a test part the queries are the rows."""
    X, y = load_svmlight_file(str(path_of("libsvm", f"{work.name}.svm")))
    if work.test is not None:
        Q, truth = load_svmlight_file(
            str(path_of("libsvm", f"{work.test}.svm")), n_features=max(X.shape[1], 1)
        )
        Q, truth = evenly(Q, truth, n_most)
    X, y = evenly(X, y, n_most)
    return (X, y, Q, truth) if work.test is not None else (X, y, X, y)


def evenly(X: Any, y: Any, n_most: int | None) -> tuple[Any, Any]:
    step = max(len(y) // n_most, 1) if n_most else 1
    return X[::step], y[::step]


def measured(work: Work, X: Any, y: Any, Q: Any, truth: Any, asked: Any) -> dict[str, Any]:
    folder = HERE / "cache" / re.sub(r"\W+", "-", work.name)
    folder.mkdir(parents=True, exist_ok=True)
    sp.save_npz(folder / "rows.npz", X)
    sp.save_npz(folder / "queries.npz", Q)
    np.save(folder / "labels.npy", y)
    found: dict[str, Any] = {}
    for library in LIBRARIES:
        for layout in LAYOUTS:
            contender = f"{library}, {layout}"
            found[contender] = one = run(work, contender, folder, asked)
            if "note" not in one:
                with np.load(folder / "learned.npz", allow_pickle=False) as learned:
                    one |= dual_objective(X, learned, work.gamma, work.C)
                    one["accuracy"] = float(np.mean(learned["labels"] == truth))
            tell(contender, one)
    judge(found)
    return {
        "C": work.C, "gamma": work.gamma, "goals": work.goals, "n_rows": X.shape[0], "n_columns": X.shape[1],
        "n_classes": len(np.unique(y)), "n_queries": Q.shape[0], "is_test": work.test is not None,
        "found": found,
    }  # fmt: skip


def run(work: Work, contender: str, folder: Path, asked: Any) -> dict[str, Any]:
    library = contender.partition(", ")[0]
    python = sys.executable if library == "lineal" else str(peers_python())
    numbers = [repr(work.C), repr(work.gamma), str(repeats(asked.repeats)[library])]
    command = [python, "-W", "ignore", str(HERE / "worker.py"), contender, str(folder), *numbers]
    (folder / "learned.npz").unlink(missing_ok=True)
    answer = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **threads(asked.threads)}
    )
    if answer.returncode:
        lines = answer.stderr.strip().splitlines() or [f"ended with {answer.returncode}"]
        return {"note": lines[-1][:200]}
    told: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    return told


def judge(found: dict[str, Any]) -> None:
    """Whose dual objective is within the tolerance of the best: feasible points bound the optimum below."""
    values = [one["dual"] for one in found.values() if "dual" in one]
    best = max(values, default=0.0)
    for one in found.values():
        if "dual" in one:
            one["short"] = (best - one["dual"]) / max(abs(best), 1e-300)
            is_feasible = one["beyond"] <= EQUAL and one["unbalanced"] <= EQUAL
            one["counts"] = bool(one["short"] <= EQUAL and is_feasible and one.get("is_certified", True))


def tell(name: str, one: dict[str, Any]) -> None:
    if "note" in one:
        print(f"  {name}: {one['note']}", flush=True)
        return
    print(
        f"  {name}: fit {min(one['fit']):.3f} s, predict {min(one['predict']):.3f} s, "
        f"D {one['dual']:.6g}, accuracy {one['accuracy']:.4f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
