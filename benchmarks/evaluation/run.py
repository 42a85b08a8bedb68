"""Do tests keep their level, and intervals their confidence? Simulated where the truth is known.

Every simulated comparison is of two models that are equally good, so a test at the 5 % level should say
otherwise in 5 % of them. Every simulated evaluation has a known true value, so a 95 % interval should hold it
in 95 %. Records go to ``results/evaluation.json``, the tables to docs/comparing.md.

    python benchmarks/evaluation/run.py [--share S] [--only coverages]

S < 1: so much of the simulations, which keeps nothing. --only: that part, the other as it is in the records.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path += [str(HERE), str(ROOT / "benchmarks" / "versus")]

from coverage import by_rows, coverages  # noqa: E402
from environment import machine  # noqa: E402
from levels import levels  # noqa: E402

from lineal.evaluation import wilson_interval  # noqa: E402

RESULTS, PAGE = HERE / "results" / "evaluation.json", ROOT / "docs" / "comparing.md"
N_LEVELS, N_COVERAGES, N_BY_ROWS = 10_000, 2000, 1000


def main() -> None:
    """Simulate, keep the records, fill the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--only", choices=("levels", "coverages"))
    given = parser.parse_args()
    share = given.share
    began = time.perf_counter()
    records = json.loads(RESULTS.read_text()) if given.only else {}
    records["machine"] = machine()
    records["versions"] = {
        "python": platform.python_version(),
        **{package: version(package) for package in ("lineal", "scipy", "numpy")},
    }
    if given.only != "coverages":
        records["levels"] = levels(max(20, int(share * N_LEVELS)), np.random.default_rng(0))
    if given.only != "levels":
        records["coverages"] = coverages(max(20, int(share * N_COVERAGES)), np.random.default_rng(1))
        records["by_rows"] = by_rows(max(20, int(share * N_BY_ROWS)), np.random.default_rng(2))
    records["seconds"] = round(time.perf_counter() - began, 1)
    tables = {
        "levels": level_table(records["levels"]),
        "coverages": coverage_table(records["coverages"]),
        "by-rows": by_rows_table(records["by_rows"]),
    }
    for table in tables.values():
        print(table, end="\n\n")
    print(f"{records['seconds']} s")
    if share == 1:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(records, indent=1) + "\n")
        page = PAGE.read_text(encoding="utf-8")
        for name, table in tables.items():
            begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
            page = re.sub(f"(?s){begin}.*{end}", lambda _, b=begin, t=table, e=end: f"{b}\n{t}\n{e}", page)
        PAGE.write_text(page, encoding="utf-8")


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
    names = list(dict.fromkeys((entry["score"], entry["interval"]) for entry in found))
    cells = {(entry["score"], entry["situation"]): entry["held"] / entry["n"] for entry in found}
    lines = [f"| score | interval | {' | '.join(situations)} |", f"|---|---|{'---|' * len(situations)}"]
    for score, interval in names:
        row = [f"{100 * cells[score, s]:.1f} %" if (score, s) in cells else "" for s in situations]
        lines.append(f"| {score} | {interval} | {' | '.join(row)} |")
    return "\n".join(lines)


def by_rows_table(found: list[dict]) -> str:
    """Shares that hold the truth by the number of rows, and which end missed it in the others."""
    sizes = list(dict.fromkeys(entry["rows"] for entry in found))
    lines = [
        f"| situation | score | {' | '.join(f'{size:,} rows' for size in sizes)} |",
        f"|---|---|{'---|' * len(sizes)}",
    ]
    cells: dict[tuple[str, str], list[str]] = {}
    for entry in found:
        below, above = (100 * entry[side] / entry["n"] for side in ("below", "above"))
        text = f"{100 - below - above:.1f} % ({below:.1f}, {above:.1f})"
        cells.setdefault((entry["situation"], entry["score"]), []).append(text)
    lines += [f"| {situation} | {score} | {' | '.join(row)} |" for (situation, score), row in cells.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
