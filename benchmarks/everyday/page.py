"""The everyday records: a line on a terminal, a table on docs/performance.md between its marks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
KEPT, PAGE = HERE / "results" / "everyday.json", HERE.parents[1] / "docs" / "performance.md"
PEERS = HERE / "results" / "peers.json"
BEGIN, END = "<!-- everyday:begin -->", "<!-- everyday:end -->"
# Objectives, and numbers of answers, that differ by less are as good.
SAME = 1e-6


def line(name: str, which: str, record: dict[str, Any]) -> str:
    """One comparison for a terminal: ``!`` where ours is slower or less good."""
    ours, theirs = record["seconds"]
    said = f"{name:46}{which:23}{1e3 * ours:9.2f} {1e3 * theirs:9.2f} ms {ours / theirs:7.2f}"
    if "gap" in record:
        said += f" {'ok ' if record['certified'] else 'NOT'} gap {record['gap']:7.1e}"
    if "excess" in record:
        said += f" P/P-1 {record['excess']:8.1e}"
    if "unlike" in record:
        said += f" unlike {record['unlike']:7.1e}"
    said += f" {record['solver']}" if "solver" in record else ""
    if "tight" in record:
        tight = record["tight"]
        said += f"; at tol {tight['tol']:.0e} {1e3 * tight['seconds']:.2f} ms, P/P-1 {tight['excess']:8.1e}"
    return ("! " if is_slower(record) or not is_good(record) else "  ") + said


def is_slower(record: dict[str, Any]) -> bool:
    """Whether theirs takes less time, with the defaults or, where that was needed, at an equal objective."""
    ours, theirs = record["seconds"]
    return bool(max(ours, record.get("tight", {}).get("seconds", 0.0)) > theirs)


def is_good(record: dict[str, Any]) -> bool:
    """Whether what is convex is certified, at an objective that is as good, be it with a smaller ``tol``."""
    is_level = record.get("excess", 0.0) <= SAME or "tight" in record
    return bool(record.get("certified", True) and is_level)


def keep(
    records: dict[str, Any], order: list[str], machine: dict[str, Any], versions: dict[str, str]
) -> None:
    """Lines that were measured replace those of before; the page's table is made of all there are to be."""
    held = json.loads(KEPT.read_text()) if KEPT.exists() else {"lines": {}}
    for record in records.values():
        record["date"] = machine["date"]
    known = held["lines"] | records
    lines = {name: known[name] for name in order if name in known}
    held = {"machine": machine, "versions": versions, "lines": lines}
    KEPT.parent.mkdir(exist_ok=True)
    KEPT.write_text(json.dumps(held, indent=1) + "\n")
    write(held)


def write(held: dict[str, Any]) -> None:
    """The page's table anew, and below it that of other peers where they were measured."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{table(held)}{beside_peers(held)}\n{END}{after}", encoding="utf-8")


def table(held: dict[str, Any]) -> str:
    """All lines, the order of the list, with what they add up to."""
    lines = held["lines"]
    slower = [name for name, record in lines.items() if is_slower(record)]
    lacking = [name for name, record in lines.items() if not is_good(record)]
    rows = [
        "| what, on what | CPU ms, one thread: ours | its | ratio | wall ms, two threads: ours | its | ratio "
        "| certified, gap | objective above its, or answers unlike |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, record in lines.items():
        work, which = name.split(" | ")
        proof = "–"
        if "gap" in record:
            proof = f"{'yes' if record['certified'] else '**no**'}, {record['gap']:.1e}"
        beside = "–"
        if "excess" in record:
            beside = f"{record['excess']:.1e}"
            if "tight" in record:
                tight = record["tight"]
                beside += f"; `tol={tight['tol']:.0e}` {tight['excess']:.1e}, {1e3 * tight['seconds']:.3g} ms"
        elif "unlike" in record:
            beside = f"unlike {record['unlike']:.1e}"
        cells = [f"{work}, {which}", *_times(record["seconds"]), *_times(record.get("wall")), proof, beside]
        rows.append(f"| {' | '.join(cells)} |")
    days = sorted({record["date"] for record in lines.values()})
    said = [
        f"{len(lines)} lines, {len(slower)} of them slower than scikit-learn's by CPU time of one thread, "
        f"{len(lacking)} not certified or, whatever `tol`, at a worse objective. "
        f"Measured on {held['machine']['cpu']}, {held['machine']['n_cores']} cores, {days[0]} to {days[-1]}, "
        f"with {', '.join(f'{name} {version}' for name, version in held['versions'].items())}."
    ]
    return "\n".join([*said, "", *rows])


def beside_peers(held: dict[str, Any]) -> str:
    """Lines of squares and logistic losses beside adelie and glum."""
    if not PEERS.exists():
        return ""
    peers = json.loads(PEERS.read_text())
    versions = " and ".join(f"{name} {version}" for name, version in peers.pop("versions").items())
    rows = [
        f"Squares and logistic losses in {versions}, at the tolerance that each comes with: CPU ms "
        "of one thread, and in brackets the objective relative to scikit-learn's, less 1.",
        "",
        "| what, on what | ours | scikit-learn | adelie | glum |",
        "|---|---|---|---|---|",
    ]
    for name, found in peers.items():
        record = held["lines"].get(name)
        if record is None:
            continue
        ours, theirs = record["seconds"]
        cells = [
            name.replace(" | ", ", "),
            f"{1e3 * ours:.3g} ({record['excess']:.0e})",
            f"{1e3 * theirs:.3g}",
        ]
        for each in found.values():
            given_up = "error" in each
            cells.append("gave up" if given_up else f"{1e3 * each['seconds']:.3g} ({each['excess']:.0e})")
        rows.append(f"| {' | '.join(cells)} |")
    return "\n\n" + "\n".join(rows)


def _times(seconds: list[float] | None) -> list[str]:
    """Ours, its, and their ratio, bold where ours takes longer."""
    if seconds is None:
        return ["–", "–", "–"]
    ours, theirs = seconds
    ratio = f"{ours / theirs:.2f}"
    return [f"{1e3 * ours:.3g}", f"{1e3 * theirs:.3g}", f"**{ratio}**" if ours > theirs else ratio]
