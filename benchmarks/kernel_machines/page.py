"""What was measured as a table, and where it stands on the page about kernel machines."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- kernel-machines:begin -->", "<!-- kernel-machines:end -->"
HEADING = "## Against LIBSVM and scikit-learn-intelex"
NAMES = {"lineal": "Lineal", "scikit-learn": "LIBSVM (scikit-learn)", "intelex": "scikit-learn-intelex"}


def put_on_page(page: Path, records: dict[str, Any]) -> None:
    """Between its marks; at the end of the page, with a heading, where there are none yet."""
    if not page.exists():
        print(f"{page.name} is not there: the table was printed, and is nowhere else.")
        return
    text, made = page.read_text(), f"{BEGIN}\n{table(records)}\n{END}"
    if BEGIN in text:
        page.write_text(re.sub(f"(?s){BEGIN}.*{END}", lambda _: made, text))
    else:
        page.write_text(f"{text.rstrip()}\n\n{HEADING}\n\n{made}\n")


def table(records: dict[str, Any]) -> str:
    """The markdown table, what it comes to, and what it was measured on."""
    lines = [
        "| data | contender | fit | predict | times ours: fit | predict | dual objective | accuracy |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, work in records["works"].items():
        for contender, one in work["found"].items():
            library, _, layout = contender.partition(", ")
            head = f"| {name} | {NAMES[library]}, {layout} |"
            if "note" in one:
                lines.append(f"{head} {one['note'].replace('|', '/')} | | | | | |")
                continue
            lines.append(f"{head} {_times(work, library, layout, one)} | {_learned(one)} |")
    verdicts = "\n".join(f"- {_verdict(name, work, records)}" for name, work in records["works"].items())
    return "\n".join(lines) + f"\n\n{verdicts}\n\n{_about(records)}"


def _times(work: dict[str, Any], library: str, layout: str, one: dict[str, Any]) -> str:
    seconds = f"{min(one['fit']):.3f} s | {min(one['predict']):.3f} s"
    ours = work["found"].get(f"lineal, {layout}", {})
    if library == "lineal" or "fit" not in ours:
        return f"{seconds} | | "
    if not (one["counts"] and ours["counts"]):
        return f"{seconds} | does not count | "
    ratios = [min(one[what]) / min(ours[what]) for what in ("fit", "predict")]
    return f"{seconds} | {ratios[0]:.1f} | {ratios[1]:.1f}"


def _learned(one: dict[str, Any]) -> str:
    gap = f", gap {one['gap']:.1e}" if "gap" in one else f", {one['short']:.1e} short of the best"
    return f"{one['dual']:.6g}{gap} | {one['accuracy']:.4f}"


def _best(work: dict[str, Any], library: str, what: str) -> float | None:
    """The least time of a library in any layout, of those that count."""
    own = [
        min(one[what])
        for contender, one in work["found"].items()
        if contender.startswith(f"{library},") and one.get("counts")
    ]
    return min(own, default=None)


def _verdict(name: str, work: dict[str, Any], records: dict[str, Any]) -> str:
    """The best layout of each against the best of ours, and what was to be reached."""
    goals = work["goals"] or (None, None)
    said = []
    for library, goal in zip(("scikit-learn", "intelex"), goals, strict=True):
        for what, wanted in (("fit", goal), ("predict", records["goal_of_prediction"])):
            ours, theirs = _best(work, "lineal", what), _best(work, library, what)
            if ours is None or theirs is None:
                said.append(f"{what} against {NAMES[library]}: nothing that counts")
                continue
            is_wanted = wanted is not None and (what == "fit" or library == "scikit-learn")
            goal_text = f" (goal {wanted:g})" if is_wanted else ""
            said.append(f"{what} {theirs / ours:.1f}× {NAMES[library]}{goal_text}")
    return f"{name}, best layout of each: {'; '.join(said)}."


def _about(records: dict[str, Any]) -> str:
    versions = sorted({
        one["version"]
        for work in records["works"].values()
        for one in work["found"].values()
        if "version" in one
    })  # fmt: skip
    sizes = "; ".join(
        f"{name}: {work['n_rows']:,} rows, {work['n_columns']:,} columns, {work['n_classes']} classes, "
        f"C = {work['C']:g}, gamma = {work['gamma']:g}, {work['n_queries']:,} "
        f"{'test rows' if work['is_test'] else 'rows predicted, those that were learned from'}"
        for name, work in records["works"].items()
    )
    about, n = records["machine"], records["repeats"]
    busy = f", {about['others_busy']:.0%} busy with other work as it began" if about["others_busy"] else ""
    held = "as many threads as each takes" if records["threads"] is None else f"{records['threads']} threads"
    return (
        f"Seconds, best of {n['lineal']} (Lineal), {n['intelex']} (scikit-learn-intelex) and "
        f"{n['scikit-learn']} (LIBSVM), of `SVC` with the Gaussian kernel, each with its own tolerance; "
        f"{held}. "
        f"Times count where the dual objective, computed in float64 from the coefficients, is within "
        f"{records['equal']:g} of the best; our gap is the certified relative duality gap. {sizes}. "
        f"{', '.join(versions)}; {about['cpu']}, {about['n_cores']} cores, {about['date']}{busy}."
    )
