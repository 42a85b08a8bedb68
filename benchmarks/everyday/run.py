"""The everyday table: learners with their defaults on the tables that people start with, beside scikit-learn.

CPU time of one thread, both libraries in one process, the best of ``--repeats``, or of as many as ten
seconds have room for; then, in a process of their own, the wall time of two threads, for two. Equal work
means that our objective is at least as good as theirs, to a relative 1e-6: where the default ``tol`` ends
above it, ours is timed again with the first power of ten for a ``tol`` that does not. Where nothing is
minimised answers are to be the same; a line where they are not says so. A line times a fit unless its name
says otherwise.

    python benchmarks/everyday/run.py                      all lines, printed
    python benchmarks/everyday/run.py --only SGD,digits    those whose name and set have all of the words
    python benchmarks/everyday/run.py --keep               and kept: their records and the page's table anew,
                                                           other lines as they were measured before
    python benchmarks/everyday/run.py --one                one thread only: quicker
    python benchmarks/everyday/run.py --peers              adelie and glum alone, kept
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LINEAL_NUM_THREADS")


def threads(n: int) -> dict[str, str]:
    """The environment in which both libraries, and what they stand on, use so many."""
    return {**os.environ, **dict.fromkeys(_VARIABLES, str(n))}


def options() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", default="", help="words, separated by commas")
    parser.add_argument("--keep", action="store_true", help="write the records and the page")
    parser.add_argument("--one", action="store_true", help="leave out the wall time of two threads")
    parser.add_argument("--peers", action="store_true", help="measure adelie and glum alone, and keep them")
    parser.add_argument("--json", type=Path, help="write the records to this file as well")
    parser.add_argument("--wall", type=int, default=0, help=argparse.SUPPRESS)
    return parser.parse_args()


# The libraries read how many threads they have when they are loaded.
if __name__ == "__main__" and os.environ.get("OPENBLAS_NUM_THREADS") != str(options().wall or 1):
    os.execve(sys.executable, [sys.executable, *sys.argv], threads(options().wall or 1))

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent / "versus")]

import numpy as np  # noqa: E402
import page  # noqa: E402
from environment import machine, peers_python  # noqa: E402
from lines import LINES, Line  # noqa: E402
from sets import SETS, AbsentError  # noqa: E402

import lineal  # noqa: E402


def main() -> None:
    """Measure, print and, if asked, keep."""
    asked = options()
    warnings.simplefilter("ignore")
    if asked.peers:
        command = [str(peers_python()), str(HERE / "peers.py")]
        page.PEERS.write_bytes(
            subprocess.run(command, check=True, stdout=subprocess.PIPE, env=threads(1)).stdout
        )
        page.write(json.loads(page.KEPT.read_text()))
        return
    words = [word for word in asked.only.split(",") if word]
    records = measured(words, asked.repeats, wall=bool(asked.wall))
    if not asked.wall and not asked.one and records:
        for name, record in on_two_threads(asked).items():
            records[name] |= {"wall": record["seconds"]}
    if asked.json:
        asked.json.write_text(json.dumps(records, indent=1) + "\n")
    if asked.keep:
        order = [f"{name} | {which}" for name, line in LINES.items() for which in line.sets]
        page.keep(records, order, machine(), versions())


def measured(words: list[str], repeats: int, *, wall: bool) -> dict[str, Any]:
    """A record for each line and set whose names have all of the words, printed as it is made."""
    clock = time.perf_counter if wall else time.process_time
    cache: dict[str, Any] = {}
    records: dict[str, Any] = {}
    absent: dict[str, str] = {}
    for name, line in LINES.items():
        for which in line.sets:
            if not all(word in f"{name} {which}" for word in words) or which in absent:
                continue
            try:
                X, y = cache[which] if which in cache else cache.setdefault(which, SETS[which]())
            except AbsentError as reason:
                absent[which] = str(reason)
                print(f"  {which} is left out: {reason}", flush=True)
                continue
            record = compared(line, X, y, repeats, clock)
            records[f"{name} | {which}"] = record
            if not wall:
                print(page.line(name, which, record), flush=True)
    return records


def compared(line: Line, X: Any, y: np.ndarray, repeats: int, clock: Any) -> dict[str, Any]:
    """Seconds of both, and how good ours is beside theirs."""
    limit = 2.0 if clock is time.perf_counter else 10.0
    ours, model = best_of(line, line.ours, X, y, repeats, clock, limit)
    theirs, twin = best_of(line, line.theirs, X, y, repeats, clock, limit)
    record: dict[str, Any] = {"seconds": [ours, theirs]}
    if line.objective is not None:
        found, its = line.objective(model, X, y), line.objective(twin, X, y)
        record["excess"] = (found - its) / abs(its)
    elif line.answer is not None:
        record["unlike"] = unlike(line.answer(model, X), line.answer(twin, X))
    proof = getattr(model, "certificate_", None)
    if proof is not None:
        record |= {"certified": proof.converged, "gap": proof.relative_gap, "solver": proof.solver}
    if record.get("excess", 0.0) > page.SAME:
        record |= at_equal_work(line, model, its, X, y, repeats, clock, limit)
    return record


def at_equal_work(
    line: Line, model: Any, its: float, X: Any, y: np.ndarray, repeats: int, clock: Any, limit: float
) -> dict[str, Any]:
    """Ours again, ``tol`` the first power of ten below its gap that makes its objective as good."""
    assert line.objective is not None
    for tol in 10.0 ** (math.floor(math.log10(model.certificate_.relative_gap)) - np.arange(6)):
        seconds, tight = best_of(
            line, lambda tol=tol: line.ours().set_params(tol=tol), X, y, repeats, clock, limit
        )
        excess = (line.objective(tight, X, y) - its) / abs(its)
        if excess <= page.SAME:
            return {"tight": {"tol": float(tol), "seconds": seconds, "excess": excess}}
    return {}


def best_of(
    line: Line, make: Any, X: Any, y: np.ndarray, repeats: int, clock: Any, limit: float
) -> tuple[float, Any]:
    """The least time of what a line does with a new learner, and the learner."""
    times: list[float] = []
    while (
        not times or (len(times) < repeats and sum(times) < limit) or (sum(times) < 0.05 and len(times) < 200)
    ):
        learner = make()
        act = line.job(learner, X, y)
        began = clock()
        act()
        times.append(clock() - began)
    return min(times), learner


def unlike(answer: Any, other: Any) -> float:
    """The share of labels that differ, or the largest difference of numbers beside the largest number."""
    answer, other = np.asarray(answer), np.asarray(other)
    if answer.shape != other.shape:
        return float("inf")
    if answer.dtype.kind != "f":
        return float(np.mean(answer != other))
    return float(np.abs(answer - other).max() / max(float(np.abs(other).max()), 1e-300))


def on_two_threads(asked: argparse.Namespace) -> dict[str, Any]:
    """The same lines in a process of their own, by the clock on the wall."""
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "records.json"
        command = [sys.executable, str(HERE / "run.py"), "--only", asked.only, "--json", str(kept)]
        command += ["--repeats", str(asked.repeats), "--wall", "2"]
        subprocess.run(command, check=True, env=threads(2))
        answer: dict[str, Any] = json.loads(kept.read_text())
        return answer


def versions() -> dict[str, str]:
    """Of what was compared, and of what both stand on."""
    import platform

    import scipy
    import sklearn

    return {
        "lineal": lineal.__version__, "scikit-learn": sklearn.__version__, "numpy": np.__version__,
        "scipy": scipy.__version__, "python": platform.python_version(),
    }  # fmt: skip


if __name__ == "__main__":
    main()
