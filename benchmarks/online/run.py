"""One pass online over IMDB against Vowpal Wabbit, scikit-learn and river: the same reviews, in one run.

Run it with the interpreter that holds lineal; the peers have an environment of their own. Each contender
learns in a fresh process and is tested on the 25,000 reviews of the test file. They take turns, and every
repeat goes through the reviews in another fixed order, the same for all, since the accuracy of one pass
depends on it. All repeats are kept in ``results/online.json``, the table in ``results/table.md``; a run in
which a contender is missing replaces neither.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path += [str(HERE), str(ROOT / "benchmarks" / "versus"), str(ROOT / "benchmarks" / "text")]

from environment import machine, peers_python  # noqa: E402
from page import page  # noqa: E402
from prepare import prepare  # noqa: E402
from sets import AbsentError  # noqa: E402

RESULTS, CACHE = HERE / "results", HERE / "cache"
FED = ("Vowpal Wabbit, file of lines", "Vowpal Wabbit, its cache", "Vowpal Wabbit, parsed examples")
WORKS = {
    "tf-idf": ("lineal", "scikit-learn", *FED, "river"),
    "hashed": ("lineal", "scikit-learn", *FED, "river"),
    "text": ("lineal", "lineal, file of JSON", "scikit-learn", *FED, "Vowpal Wabbit, strings", "river"),
}
REPEAT_SECONDS = 60.0  # whoever has had so many, with the test, is not asked again


def main() -> None:
    """Prepare what all are given, let them take turns, keep the records, fill the table."""
    options = _options()
    try:
        about = prepare(CACHE, options.texts)
    except AbsentError as reason:
        print(f"skipped: {reason}", flush=True)
        return
    python = {"ours": sys.executable, "peers": options.peers or str(peers_python())}
    wanted = [
        (work, contender)
        for work in options.works
        for contender in WORKS[work]
        if any(name in contender for name in options.by)
    ]
    machine_before, busy = machine(), []
    found: dict[str, Any] = {work: {} for work in options.works}
    for seed in range(options.repeats):
        print(f"== order {seed}", flush=True)
        busy.append(machine()["others_busy"])
        for work, contender in wanted:
            one = found[work].setdefault(contender, {"runs": [], "process_seconds": 0.0})
            if "note" not in one and one["process_seconds"] < REPEAT_SECONDS:
                learn(one, python, work, contender, seed)
    records = {"machine": machine_before | {"others_busy": busy}, "data": about, "works": found}
    table = page(records)
    print(f"\n{table}")
    is_complete = not any("note" in one for work in found.values() for one in work.values())
    if kept := options.keep or (RESULTS / "online.json" if options.is_whole and is_complete else None):
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(records, indent=1) + "\n")
    if kept == RESULTS / "online.json":
        (RESULTS / "table.md").write_text(table)


def learn(one: dict[str, Any], python: dict[str, str], work: str, contender: str, seed: int) -> None:
    """One pass in a process of its own; what failed says so and is not asked again."""
    side = "ours" if contender.startswith("lineal") else "peers"
    request = [work, contender, str(CACHE), str(seed)]
    began = time.perf_counter()
    answer = subprocess.run(
        [python[side], str(HERE / f"{side}.py"), *request], capture_output=True, text=True
    )
    one["process_seconds"] += time.perf_counter() - began
    if answer.returncode:
        one["note"] = (answer.stderr.strip().splitlines() or ["no answer"])[-1][:200]
        print(f"  {work}: {contender}: {one['note']}", flush=True)
        return
    run = json.loads(answer.stdout.splitlines()[-1]) | {"seed": seed}
    one["version"] = run.pop("version")
    one["runs"].append(run)
    print(f"  {work}: {contender}: {run['seconds']:.3f} s, accuracy {run['accuracy']:.4f}", flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=5, help="orders of the reviews (5)")
    parser.add_argument("--texts", type=int, help="try it with about so many reviews; keeps nothing")
    parser.add_argument("--works", default=",".join(WORKS), help=f"of {','.join(WORKS)}; fewer keep nothing")
    parser.add_argument(
        "--by", default="", help="contenders whose names hold one of these; fewer keep nothing"
    )
    parser.add_argument("--peers", help="interpreter that has the peers (one of its own is made)")
    parser.add_argument("--keep", type=Path, help="keep the records in this file, and write on no page")
    options = parser.parse_args()
    options.works, options.by = options.works.split(","), options.by.split(",")
    if unknown := [work for work in options.works if work not in WORKS]:
        parser.error(f"there is no work {unknown[0]!r}: choose of {', '.join(WORKS)}")
    if options.repeats < 1:
        parser.error(f"--repeats needs at least 1, not {options.repeats}")
    options.is_whole = not options.texts and options.works == list(WORKS) and options.by == [""]
    return options


if __name__ == "__main__":
    main()
