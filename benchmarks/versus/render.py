"""Records to Markdown: a pure function of the JSON, so the table never says what was not kept."""

from __future__ import annotations

from typing import Any

_HEAD = (
    "| work | ours (s) | peer | peer (s) | ratio | bar | met? | our objective | peer objective "
    "| our certified gap |\n|---|---|---|---|---|---|---|---|---|---|\n"
)


def render(records: list[dict[str, Any]]) -> str:
    """The whole page, one section a bar."""
    parts = ["# Lineal and its peers, measured\n", _introduction()]
    parts += [_section(record) for record in sorted(records, key=lambda r: int(r["bar"][1:]))]
    return "\n".join(parts)


def _introduction() -> str:
    return (
        "Written by `benchmarks/versus/run.py` from the JSON beside this file. A time counts only where our\n"
        "objective is at most the peer's, both computed from the weights by the harness in float64; ratio =\n"
        "peer's time / ours. Each peer is shown at its loosest tolerance that reaches the accuracy asked,\n"
        "and at its default setting for information. Input handling is inside every clock, the certificate\n"
        "inside ours. Times are the best of the runs; their spread is in the notes.\n"
    )


def _section(record: dict[str, Any]) -> str:
    lines = [f"## {record['bar']}\n", _conditions(record), ""]
    rows = [row for work in record["works"] for row in work["rows"]]
    lines.append(_HEAD + "\n".join(_line(row) for row in rows) + "\n")
    lines += [*_input_shares(record), *_warnings(record)]
    lines += ["<details><summary>Notes and spread</summary>\n", _details(rows), "\n</details>\n"]
    return "\n".join(lines)


def _conditions(record: dict[str, Any]) -> str:
    machine = record["machine"]
    versions = {}
    for side in record["sides"].values():
        versions.update({name: number for name, number in side.get("versions", {}).items() if number})
    load = ", ".join(f"{value:.1f}" for value in machine["load_average"])
    if machine["others_busy"] is not None:
        load += f" (other jobs held {machine['others_busy']:.0%} of the machine just before)"
    quick = " **Quick, for a look only: what is slow ran once.**" if record["quick"] else ""
    return (
        f"{machine['cpu']}, {machine['n_cores']} cores, threads: {record['threads']}, load average {load}, "
        f"{machine['date']}, best of {record['n_rounds']}; "
        + ", ".join(f"{name} {number}" for name, number in sorted(versions.items()))
        + f".{quick}"
    )


def _input_shares(record: dict[str, Any]) -> list[str]:
    """What share of our fastest fit of each work went to reading and checking X and y."""
    shares = []
    for work in record["works"]:
        ours = [run for run in work.get("runs", []) if run["name"] == "lineal" and run["seconds"]]
        fastest = min(ours, key=lambda run: run["seconds"], default={}).get("facts") or {}
        if "input_share" in fastest:
            shares.append(f"{work['title']}: {fastest['input_share']:.1%}")
    return (
        [f"Of our time, reading and checking the matrix as it came: {'; '.join(shares)}.", ""]
        if shares
        else []
    )


def _warnings(record: dict[str, Any]) -> list[str]:
    lines = []
    for work in record["works"]:
        if work.get("data", {}).get("origin") == "stand-in":
            lines.append(
                f"- **{work['data']['name']} is a random stand-in of the same shape**, not the data."
            )
        lines += [
            f"- **Certificate contradicted**, {work['title']}: {doubt}" for doubt in work.get("doubts", [])
        ]
    return [*lines, ""] if lines else []


def _line(row: dict[str, Any]) -> str:
    suffix = "" if row["unit"] == "s" else f" {row['unit']}"
    cells = [
        row["work"],
        _number(row["ours"], suffix),
        row["peer"] + (" (default setting)" if row["note"].startswith("default setting") else ""),
        _number(row["theirs"], suffix),
        "–" if row["ratio"] is None else f"{row['ratio']:.2f}×",
        row["bar"] or "–",
        row["met"],
        _objective(row["our_objective"]),
        _objective(row["peer_objective"]),
        "–" if row["our_gap"] is None else f"{row['our_gap']:.1e}",
    ]
    return "| " + " | ".join(cells) + " |"


def _details(rows: list[dict[str, Any]]) -> str:
    head = "| work | peer | ours, min / median / max | peer, min / median / max | notes |\n"
    head += "|---|---|---|---|---|\n"
    return head + "\n".join(
        f"| {row['work']} | {row['peer']} | {_spread(row['our_spread'])} | {_spread(row['peer_spread'])} "
        f"| {row['note'] or '–'} |"
        for row in rows
    )


def _spread(times: list[float]) -> str:
    return " / ".join(f"{value:.3g}" for value in times) or "–"


def _number(value: float | None, suffix: str) -> str:
    return "–" if value is None else f"{value:.3g}{suffix}"


def _objective(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
