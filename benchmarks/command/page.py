"""What was measured of the command line, as tables."""

from __future__ import annotations

from typing import Any


def page(records: dict[str, Any]) -> str:
    """The tables of whatever parts there are."""
    parts = []
    if "versus" in records:
        parts.append(_versus(records["versus"]))
    if "startup" in records:
        parts.append(_startup(records["startup"]))
    if "accuracy" in records:
        parts.append(_accuracy(records["accuracy"]))
    about = records["machine"]
    busy = (
        "" if about.get("others_busy") is None else f"; other processes used {about['others_busy']:.0%} of it"
    )
    parts.append(
        f"{about['cpu']}, {about['n_cores']} cores, {about['date']}, Lineal {records['lineal']}{busy}. "
        "Raw figures: [command.json](../benchmarks/command/results/command.json)."
    )
    return "\n".join(parts)


def _versus(found: dict[str, list[dict[str, Any]]]) -> str:
    lines = [
        "IMDB, 25,000 reviews to learn from and 25,000 to test: the whole command, from start to accuracy.\n",
        "| command | best (s) | all runs (s) | accuracy |",
        "|---|---:|---|---:|",
    ]
    for name, runs in found.items():
        seconds = sorted(run["process_seconds"] for run in runs)
        spread = ", ".join(f"{value:.2f}" for value in seconds)
        lines.append(f"| {name} | {seconds[0]:.2f} | {spread} | {runs[0]['accuracy']:.4f} |")
    best = {name: min(run["process_seconds"] for run in runs) for name, runs in found.items()}
    fixed, default = best.get("lineal train --learner svm --no-report"), best.get("lineal train")
    if fixed and default and "scikit-learn script" in best:
        script = best["scikit-learn script"]
        lines.append(
            f"\nA fixed learner against scikit-learn {script / fixed:.1f}× (goal 15), fastText "
            f"{best['fastText'] / fixed:.1f}× (goal 6), Vowpal Wabbit "
            f"{best['Vowpal Wabbit'] / fixed:.2f}× (goal 1); the default, with its search, "
            f"against scikit-learn {script / default:.1f}× (goal 4).\n"
        )
    return "\n".join(lines)


def _startup(found: dict[str, list[float]]) -> str:
    lines = ["| process | best (s) | median (s) |", "|---|---:|---:|"]
    for name, seconds in found.items():
        lines.append(f"| {name} | {seconds[0]:.3f} | {seconds[len(seconds) // 2]:.3f} |")
    return "\n".join(lines) + "\n"


def _accuracy(found: dict[str, dict[str, Any]]) -> str:
    lines = [
        "`lineal train` with no options but what says which rows to judge by:\n",
        "| data | score | 95 % interval | goal | met? | seconds |",
        "|---|---:|---|---:|---|---:|",
    ]
    for name, one in found.items():
        met = "yes" if one["value"] >= one["bar"] else "no"
        lines.append(
            f"| {name} | {one['score']} {one['value']:.4f} | {one['low']:.4f} .. {one['high']:.4f} | "
            f"{one['bar']} | {met} | {one['seconds']:.1f} |"
        )
    return "\n".join(lines) + "\n"
