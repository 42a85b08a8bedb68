"""Measure lineal and its peers on the same work, in one run on one machine.

Run it with the interpreter that holds lineal; the peers have one environment for all benchmarks. Records go
to ``results/`` as one JSON a bar, the table to ``results/table.md``; a quick run writes to ``cache/quick/``
instead, so that a glance never replaces a measurement, and a run on stand-ins to ``cache/stand-ins/``.
``make bench`` runs this bar by bar and shows all bars together.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import growth
import startup
from contest import Contest, Rules
from data import CACHE, HERE, prepare
from environment import has_lineal, machine, peers_python, threads
from pipe import Side
from render import render
from works import WORKS

BARS = ("P2", "P3", "P4", "P5", "P6", "P11", "P12")


def main() -> None:
    """Measure the bars asked for, one after another, keeping each as soon as it is done."""
    options = _options()
    rules = Rules(
        quick=options.quick,
        n_rounds=min(2, options.rounds) if options.quick else options.rounds,
        our_seconds=min(60.0, options.seconds),
        peer_seconds=min(60.0, options.seconds) if options.quick else options.seconds,
        repeat_seconds=1.5 if options.quick else 60.0,
    )
    variables = threads(options.threads)
    peers = Side("peers", str(peers_python()), variables)
    ours = Side("ours", sys.executable, variables) if has_lineal(sys.executable) else None
    if ours is None:
        print("lineal is not installed in this interpreter: the peers run alone, nothing goes to results/")
    output = _folder(options, alone=ours is None)
    sides = {side.name: side.describe() for side in (ours, peers) if side is not None}
    try:
        for bar in options.only:
            print(f"{bar}", flush=True)
            record = {
                "bar": bar,
                "quick": options.quick,
                "n_rounds": rules.n_rounds,
                "threads": options.threads or "each library's default",
                "machine": machine(),
                "sides": sides,
                "works": measure(bar, ours, peers, rules),
            }
            (output / f"{bar}.json").write_text(json.dumps(record, indent=1) + "\n")
    finally:
        peers.stop()
        if ours is not None:
            ours.stop()
    records = [json.loads(path.read_text()) for path in output.glob("P*.json")]
    table = render(records)
    (output / "table.md").write_text(table)
    print("\n" + table)


def _folder(options: argparse.Namespace, *, alone: bool) -> Path:
    """Only a whole measurement of both sides on real data replaces the results that are kept."""
    works = [
        work for work in WORKS if work.bar in options.only or (work.bar == "P2" and "P12" in options.only)
    ]
    if options.keep:
        folder = options.keep.parent
    elif options.quick or alone:
        folder = CACHE / ("quick" if options.quick else "peers-alone")
    elif any(prepare(work.data).origin != "real" for work in works):
        print("some data are absent: random stand-ins of the same shape, and nothing goes to results/")
        folder = CACHE / "stand-ins"
    else:
        folder = HERE / "results"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def measure(bar: str, ours: Side | None, peers: Side, rules: Rules) -> list[dict[str, Any]]:
    """The records of all the work under one bar."""
    if bar == "P11":
        return [startup.hold(sys.executable, 2 if rules.quick else max(5, rules.n_rounds))] if ours else []
    if bar == "P12":
        return [growth.hold(ours, rules)] if ours else []
    records = []
    for work in WORKS:
        if work.bar == bar:
            print(f"  {work.title}", flush=True)
            records.append(Contest(work, ours, peers, rules).hold())
    return records


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", type=_bars, default=BARS, metavar="P2,P3", help="bars to measure")
    parser.add_argument("--quick", action="store_true", help="a look, in under three minutes")
    parser.add_argument("--rounds", type=int, default=3, help="best of how many (default 3)")
    parser.add_argument("--seconds", type=float, default=240.0, help="a peer's fit is ended after this")
    parser.add_argument("--threads", type=int, help="threads for everyone (default: their own)")
    parser.add_argument("--keep", type=Path, help="keep the records in the folder of this file")
    return parser.parse_args()


def _bars(text: str) -> tuple[str, ...]:
    wanted = tuple(text.split(","))
    unknown = sorted(set(wanted) - set(BARS))
    if unknown:
        raise argparse.ArgumentTypeError(f"no bar {', '.join(unknown)}; there are {', '.join(BARS)}")
    return wanted


if __name__ == "__main__":
    main()
