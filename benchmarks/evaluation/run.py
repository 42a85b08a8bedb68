"""Do tests keep their level, and intervals their confidence? Simulated where the truth is known.

Every simulated comparison is of two models that are equally good, so a test at the 5 % level should say
otherwise in 5 % of them. Every simulated evaluation has a known true value, so a 95 % interval should hold it
in 95 %. Records go to ``results/evaluation.json``, the tables to docs/comparing.md.

    python benchmarks/evaluation/run.py [--share S] [--only coverages [--situation WORDS]] [--processes N]

S < 1: so much of the simulations, which keeps nothing. --only: that part (levels, coverages, by_rows), the
others as they are in the records. --situation: of coverages or by_rows, the situations with these words in
their names; --samples: so many of each. --tables: simulates nothing, and writes the tables from the records.
Every 250 samples have a seed of their own, so that parts and processes do not change what is found.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path += [str(HERE), str(ROOT / "benchmarks" / "versus")]

from coverage import HARD, SITUATIONS, by_rows, coverages  # noqa: E402
from environment import machine  # noqa: E402
from levels import levels  # noqa: E402

from lineal.evaluation import wilson_interval  # noqa: E402

RESULTS, PAGE = HERE / "results" / "evaluation.json", ROOT / "docs" / "comparing.md"
N_LEVELS, N_COVERAGES, N_BY_ROWS = 10_000, 10_000, 5000
PARTS = ("levels", "coverages", "by_rows")


def main() -> None:
    """Simulate, keep the records, fill the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--situation", action="append", default=[])
    parser.add_argument("--samples", type=int)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--tables", action="store_true")
    given = parser.parse_args()
    if given.situation and given.only not in ("coverages", "by_rows"):
        parser.error("--situation goes with --only coverages or --only by_rows")
    share = given.share
    records = json.loads(RESULTS.read_text()) if given.only or given.tables else {}
    if not given.tables:
        parts = (given.only,) if given.only else PARTS
        simulate(records, share, parts, given.situation, given.samples, given.processes)
    tables = {
        "levels": level_table(records["levels"]),
        "coverages": coverage_table(records["coverages"]),
        "by-rows": by_rows_table(records["by_rows"]),
    }
    for table in tables.values():
        print(table, end="\n\n")
    if share == 1:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(records, indent=1) + "\n")
        page = PAGE.read_text(encoding="utf-8")
        for name, table in tables.items():
            begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
            page = re.sub(f"(?s){begin}.*{end}", lambda _, b=begin, t=table, e=end: f"{b}\n{t}\n{e}", page)
        PAGE.write_text(page, encoding="utf-8")


def simulate(
    records: dict,
    share: float,
    parts: tuple[str, ...],
    wanted: list[str],
    n_samples: int | None,
    n_processes: int,
) -> None:
    """The parts wanted, into the records."""
    began = time.perf_counter()
    records["machine"] = machine()
    records["versions"] = {
        "python": platform.python_version(),
        **{package: version(package) for package in ("lineal", "scipy", "numpy")},
    }
    if "levels" in parts:
        records["levels"] = levels(max(20, int(share * N_LEVELS)), np.random.default_rng(0))
    with ProcessPoolExecutor(n_processes) as pool:
        for part, run, n in (("coverages", coverages, N_COVERAGES), ("by_rows", by_rows, N_BY_ROWS)):
            if part in parts:
                found = run(n_samples or max(20, int(share * n)), pool.map, wanted)
                records[part] = merged(records.get(part, []), found)
    name = " ".join([*parts, *wanted])
    # Times of parts that were run again as a whole are those of other simulations.
    seconds = {key: spent for key, spent in records.get("seconds", {}).items() if not key.startswith(name)}
    records["seconds"] = seconds
    seconds[name] = round(time.perf_counter() - began, 1)
    print(f"{name}: {seconds[name]} s in {n_processes} processes")


def merged(old: list[dict], new: list[dict]) -> list[dict]:
    """The records with those found anew in the places of the old ones, and in the order of the tables."""
    names = [situation for situation, *_ in (*SITUATIONS, *HARD)]
    is_new = {entry["situation"] for entry in new}
    kept = [entry for entry in old if entry["situation"] not in is_new]
    return sorted([*kept, *new], key=lambda entry: names.index(entry["situation"]))


def level_table(found: list[dict]) -> str:
    """Rates of false alarms, with their own intervals."""
    lines = ["| test | situation | false alarms at 5 % | |", "|---|---|---|---|"]
    for entry in found:
        interval = wilson_interval(entry["alarms"], entry["n"])
        off = "too many" if interval.low > 0.05 else "careful"
        mark = "keeps 5 %" if 0.05 in interval else off
        rate = entry["alarms"] / entry["n"]
        lines.append(
            f"| {entry['test']} | {entry['situation']} | {100 * rate:.1f} % "
            f"({100 * interval.low:.1f} .. {100 * interval.high:.1f}) | {mark} |"
        )
    return "\n".join(lines)


def coverage_table(found: list[dict]) -> str:
    """Shares of intervals that hold the truth: a row for each score, a column for each situation."""
    situations = list(dict.fromkeys(entry["situation"] for entry in found))
    names: dict[str, str] = {}
    for entry in found:
        names.setdefault(entry["score"], entry["interval"])
    cells = {(e["score"], e["situation"]): _held(e) for e in found}
    lines = [f"| score | interval | {' | '.join(situations)} |", f"|---|---|{'---|' * len(situations)}"]
    for score, interval in names.items():
        row = [f"{100 * cells[score, s]:.1f} %" if (score, s) in cells else "" for s in situations]
        lines.append(f"| {score} | {interval} | {' | '.join(row)} |")
    return "\n".join([_of_how_many(found), "", *lines, "", _outside(found)])


def _held(entry: dict) -> float:
    return 1 - (entry["below"] + entry["above"]) / entry["n"]


def _of_how_many(found: list[dict]) -> str:
    """What chance alone makes of a rate of 95 %."""
    n = max((entry["n"] for entry in found), default=1)
    fewer: dict[int, list[str]] = {}
    for entry in found:
        # Some samples lack a score, such as relative errors of numbers that are not all positive.
        if entry["n"] < 0.99 * n and entry["score"] not in fewer.setdefault(entry["n"], []):
            fewer[entry["n"]].append(entry["score"])
    others = "".join(f"; {', '.join(scores)}: {own:,}" for own, scores in fewer.items())
    apart = 196 * (0.95 * 0.05 / n) ** 0.5
    usual = f"{95 - apart:.1f} to {95 + apart:.1f}"
    return f"Each number is {n:,} samples, where a rate of 95 % would show as {usual}{others}."


def _outside(found: list[dict]) -> str:
    """The numbers that are further than 1.5 points from 95 %, and whether chance may have put them there."""
    told = []
    for entry in found:
        rate = _held(entry)
        if 0.935 <= round(rate, 3) <= 0.965:
            continue
        own = wilson_interval(rate * entry["n"], entry["n"])
        is_sure = own.low > 0.965 or own.high < 0.935
        told.append(
            f"{entry['score']} ({entry['situation']}): {100 * rate:.1f} %, "
            f"{'too careful' if rate > 0.95 else 'too short'}{'' if is_sure else ', or by chance'}"
        )
    return f"Outside 93.5 to 96.5 %: {'; '.join(told) if told else 'none of them'}."


def by_rows_table(found: list[dict]) -> str:
    """Shares that hold the truth by the number of rows, and which end missed it in the others."""
    sizes = list(dict.fromkeys(entry["rows"] for entry in found))
    lines = [
        f"| situation | score | {' | '.join(f'{size:,} rows' for size in sizes)} |",
        f"|---|---|{'---|' * len(sizes)}",
    ]
    n = min((entry["n"] for entry in found), default=1)
    lines.insert(
        0, f"{n:,} samples of each; in brackets how often the truth was below and above, in percent.\n"
    )
    cells: dict[tuple[str, str], list[str]] = {}
    for entry in found:
        below, above = (100 * entry[side] / entry["n"] for side in ("below", "above"))
        text = f"{100 - below - above:.1f} % ({below:.1f}, {above:.1f})"
        cells.setdefault((entry["situation"], entry["score"]), []).append(text)
    lines += [f"| {situation} | {score} | {' | '.join(row)} |" for (situation, score), row in cells.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
