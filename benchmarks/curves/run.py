"""Every solver on IMDB and a9a, logistic loss with L2: the certified gap against time, and who is first.

Run it with the interpreter that holds lineal and matplotlib. Each data set is kept as soon as it is done, as
``results/NAME.json``; from all that are kept come ``build/curves/curves.png`` and the table in
docs/pictures.md. The matrices are those of ``benchmarks/versus``; a machine without the data gets its
stand-ins, whose results go to ``build/curves`` and into no table.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "benchmarks" / "versus"))

from data import Description, load, prepare  # noqa: E402
from environment import machine  # noqa: E402

from lineal import LinearClassifier  # noqa: E402
from lineal.objective import L2, Certificate, Log  # noqa: E402
from lineal.plot import Comparison, SolverTrace, compare_solvers  # noqa: E402
from lineal.solvers import SOLVERS  # noqa: E402

STRENGTH = {"imdb": 0.1, "a9a": 1.0}  # 1 / C of the same work in benchmarks/versus
TITLE = {"imdb": "IMDB", "a9a": "a9a"}
GAPS = (1e-1, 1e-3, 1e-6)
RESULTS, SCRATCH, PAGE = HERE / "results", ROOT / "build" / "curves", ROOT / "docs" / "pictures.md"
BEGIN, END = "<!-- curves:begin -->", "<!-- curves:end -->"


def main() -> None:
    """Measure what is asked for, then draw and tabulate all that is kept."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", default=list(STRENGTH), help="imdb, a9a (both)")
    parser.add_argument("--seconds", type=float, default=10.0, help="budget of each solver (10)")
    parser.add_argument(
        "--solvers", nargs="+", help="measure these alone, and keep what there is of the others"
    )
    parser.add_argument("--draw", action="store_true", help="measure nothing, only draw what is kept")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(STRENGTH))
    if unknown:
        parser.error(f"{unknown[0]!r} is not one of {', '.join(STRENGTH)}")
    for folder in (RESULTS, SCRATCH):
        folder.mkdir(parents=True, exist_ok=True)
    for name in [] if options.draw else options.names:
        about = prepare(name)
        path = (RESULTS if about.origin == "real" else SCRATCH) / f"{name}.json"
        record = measure(about, options.seconds, options.solvers)
        if options.solvers and path.exists():
            record = joined(json.loads(path.read_text()), record)
        write(path, as_text(record))
    kept = {name: RESULTS / f"{name}.json" for name in STRENGTH if (RESULTS / f"{name}.json").exists()}
    records = {name: json.loads(path.read_text()) for name, path in kept.items()}
    if records:
        draw(records)
        page = PAGE.read_text()
        before, rest = page.split(BEGIN)
        write(PAGE, before + BEGIN + "\n" + table(records) + END + rest.split(END)[1])


def measure(about: Description, seconds: float, solvers: list[str] | None) -> dict[str, Any]:
    """A comparison as plain numbers."""
    X, y = load(about.name, about.origin)
    before = machine()
    learner = LinearClassifier(Log(), L2(STRENGTH[about.name]), fit_intercept=False, random_state=0)
    result = compare_solvers(learner, X, y, solvers=solvers, tol=min(GAPS), max_seconds=seconds)
    print(f"{about.name} ({about.origin})\n{result}\n", flush=True)
    return {
        "data": asdict(about),
        "strength": STRENGTH[about.name],
        "seconds": seconds,
        "tol": result.tol,
        "machine": before,
        "versions": {name: version(name) for name in ("lineal", "numpy", "scipy")},
        "is_complete": result.is_complete,
        "refused": result.refused,
        "traces": [_plain(trace) for trace in result.traces],
    }


def joined(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """The later record, with those traces of the earlier one that were not measured again."""
    traces = {trace["label"]: trace for trace in (*before["traces"], *after["traces"])}
    refused = {**before["refused"], **after["refused"]}
    # What was measured beside the most other work sets how far all of it is to be trusted.
    busiest = max(before["machine"], after["machine"], key=lambda machine: machine["others_busy"] or 0.0)
    kept = [traces[name] for name in SOLVERS if name in traces]
    return {**after, "machine": busiest, "refused": refused, "traces": kept}


def as_text(record: dict[str, Any]) -> str:
    """JSON with an array a line: a record that people can scroll through and git can compare."""
    text = json.dumps(record, indent=1)
    return re.sub(r"\[[^\[\]{}]*\]", lambda array: " ".join(array.group().split()), text) + "\n"


def _plain(trace: SolverTrace) -> dict[str, Any]:
    arrays = {name: getattr(trace, name) for name in ("epochs", "seconds", "primal", "dual", "relative_gap")}
    # Seven digits draw any picture; the objectives are told apart by more.
    digits = {"seconds": 7, "relative_gap": 7, "primal": 15, "dual": 15, "epochs": 15}
    columns = {name: [float(f"{v:.{digits[name]}g}") for v in array] for name, array in arrays.items()}
    return {"label": trace.label, **columns, "certificate": asdict(trace.certificate)}


def comparison(record: dict[str, Any]) -> Comparison:
    """The comparison that a record holds."""
    traces = tuple(
        SolverTrace(
            kept["label"],
            *(np.array(kept[name]) for name in ("epochs", "seconds", "primal", "dual", "relative_gap")),
            Certificate.of_record(kept["certificate"]),
        )
        for kept in record["traces"]
    )
    return Comparison(traces, record["refused"], record["tol"], record["data"]["name"], record["is_complete"])


def draw(records: dict[str, Any]) -> None:
    """One figure: a row for each data set, gaps by seconds and by epochs."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    size = (15, 6.2 * len(records))
    figure, axes = plt.subplots(len(records), 2, figsize=size, layout="constrained", squeeze=False)
    for row, (name, record) in zip(axes, records.items(), strict=True):
        about = record["data"]
        comparison(record).plot(row)
        where = f"{TITLE[name]} ({about['n_rows']:,} rows, {about['n_columns']:,} columns), logistic, L2"
        for ax, against in zip(row, ("seconds", "epochs"), strict=True):
            ax.set_title(f"{where}: certified gap by {against}", fontsize=11, loc="left")
    beside = SCRATCH / ".curves.png"
    figure.savefig(beside, dpi=100)
    os.replace(beside, SCRATCH / "curves.png")
    print(f"wrote {(SCRATCH / 'curves.png').relative_to(ROOT)}")


def table(records: dict[str, Any]) -> str:
    """Seconds (epochs) to each gap, the first in bold; the solvers in the order of the first data set."""
    results = {name: comparison(record) for name, record in records.items()}
    labels = list(dict.fromkeys(label for result in results.values() for label in result.ranking()))
    heads = [f"{TITLE[name]}, {gap:.0e}" for name in results for gap in GAPS]
    lines = ["| solver | " + " | ".join(heads) + " |", "|---" * (1 + len(heads)) + "|"]
    for label in labels:
        cells = [_cell(result, label, gap) for result in results.values() for gap in GAPS]
        lines.append(f"| `{label}` | " + " | ".join(cells) + " |")
    machines = {f"{r['machine']['cpu']}, {r['machine']['n_cores']} cores" for r in records.values()}
    dates = sorted({r["machine"]["date"] for r in records.values()})
    busy = max(r["machine"]["others_busy"] or 0.0 for r in records.values())
    sizes = "; ".join(
        f"{TITLE[n]}: {r['data']['n_rows']:,} rows, {r['data']['n_columns']:,} columns, "
        f"strength {r['strength']}, {r['seconds']:.0f} s each"
        for n, r in records.items()
    )
    note = (
        f"Seconds (epochs) to a certified relative gap; bold: the first; –: not within the budget. {sizes}. "
        f"Measured once by `make curves` on {' and '.join(sorted(machines))}, {' and '.join(dates)}, "
        f"a shared machine ({busy:.0%} busy with other work as it began)."
    )
    return "\n".join([*lines, "", note, ""])


def _cell(result: Comparison, label: str, gap: float) -> str:
    if label not in {trace.label for trace in result.traces}:
        return "refused" if label in result.refused else "not measured"
    seconds, epochs = result.seconds_to(gap)[label], result.epochs_to(gap)[label]
    if not np.isfinite(seconds):
        return "–"
    text = f"{seconds:.2g} ({epochs:.0f})"
    return f"**{text}**" if result.first_at(gap) == label else text


def write(path: Path, text: str) -> None:
    """The whole file or none."""
    beside = path.with_name(f".{path.name}")
    beside.write_text(text)
    os.replace(beside, path)


if __name__ == "__main__":
    main()
