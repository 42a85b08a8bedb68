"""Records to a page of Markdown: a pure function of the JSON, so that it says nothing that was not kept."""

from __future__ import annotations

from statistics import fmean, median
from typing import Any

TITLES = {
    "tf-idf": "rows of tf-idf, float64",
    "hashed": "rows of 2^22 hashed 0s and 1s, float64",
    "text": "texts in memory",
}
OURS, RIVER = "lineal", "river"
# What Vowpal Wabbit may begin with under the bar: its words still have to be read and hashed, as ours have.
FROM_WORDS = ("Vowpal Wabbit, file of lines", "Vowpal Wabbit, strings")
LEAST_ACCURACY, TIMES_VOWPAL_WABBIT, TIMES_RIVER = 0.902, 4.0, 50.0


def page(records: dict[str, Any]) -> str:
    """A table for all works, the bars, and what it was measured on."""
    parts = ["# One pass online over IMDB\n", _introduction(records), _table(records["works"])]
    text = records["works"].get("text", {})
    if _is_measured(text, OURS):
        parts += [_bars(text)]
    return "\n".join([*parts, _where(records)])


def rate(one: dict[str, Any]) -> float:
    """Examples a second, of the best repeat, as everywhere in the record of the bars."""
    return max(run["n_learned"] / run["seconds"] for run in one["runs"])


def accuracy(one: dict[str, Any]) -> float:
    """The mean over all orders."""
    return fmean(run["accuracy"] for run in one["runs"])


def _is_measured(found: dict[str, Any], contender: str) -> bool:
    return bool(found.get(contender, {}).get("runs"))


def _introduction(records: dict[str, Any]) -> str:
    about = records["data"]
    sizes = "; ".join(
        f"{work}: {about[work]['n_columns']:,} columns, {about[work]['n_stored']:,} stored numbers"
        for work in ("tf-idf", "hashed")
    )
    megabytes = about["n_bytes"] / 1e6
    return (
        "Written by `make bench-online` from the JSON beside this file. "
        f"{about['n_train']:,} reviews to learn from, {megabytes:.1f} MB of text, each seen once, and "
        f"{about['n_test']:,} to be tested on; {sizes}. Every repeat goes through the reviews in another "
        "order, the same for all. Times and rates are the best of the repeats, with median and longest time "
        "behind them, accuracies means, with least and most. "
        "All take the steps of their defaults. Seconds are of learning alone. Vowpal Wabbit's words come "
        "tokenised and in lower case and its files lie in memory; cache and parsed examples hold what "
        "is already hashed; rows become dictionaries for river outside the clock. Lineal reads the texts "
        "themselves, or parses the JSON too, and hashes them to the 2^20 columns of its default; the others "
        "have 2^22, with fewer of which Vowpal Wabbit is less accurate.\n"
    )


def _table(works: dict[str, Any]) -> str:
    head = ["from", "by", "seconds", "examples/s", "test accuracy", "Lineal's speed over it"]
    lines = [_row(head), "|---" * len(head) + "|"]
    for work, found in works.items():
        for contender, one in found.items():
            lines.append(_row([TITLES[work], contender, *_cells(found, contender, one)]))
    return "\n".join(lines) + "\n"


def _cells(found: dict[str, Any], contender: str, one: dict[str, Any]) -> list[str]:
    if not one["runs"]:
        return [f"not measured: {one.get('note', '')}", "", "", ""]
    seconds = [run["seconds"] for run in one["runs"]]
    right = [run["accuracy"] for run in one["runs"]]
    n_learned = min(run["n_learned"] for run in one["runs"])
    is_all = n_learned == max(run["n_learned"] for other in found.values() for run in other["runs"])
    times = ""
    if contender != OURS and _is_measured(found, OURS):
        times = f"{rate(found[OURS]) / rate(one):.1f}×"
    return [
        f"{min(seconds):.3f} ({median(seconds):.3f}, {max(seconds):.3f})"
        + ("" if is_all else f", {n_learned:,} reviews only"),
        f"{rate(one):,.0f}",
        f"{accuracy(one):.4f} ({min(right):.4f}–{max(right):.4f})",
        times,
    ]


def _bars(found: dict[str, Any]) -> str:
    """What was aimed at, from texts in memory."""
    ours = found[OURS]
    right = f"{accuracy(ours):.4f}"
    lines = [_row(["aim, from texts in memory", "found", "met?"]), "|---|---|---|"]
    fed = [name for name in FROM_WORDS if _is_measured(found, name)]
    if fed:
        best = max(fed, key=lambda name: rate(found[name]))
        times, theirs = rate(ours) / rate(found[best]), accuracy(found[best])
        is_met = times >= TIMES_VOWPAL_WABBIT and accuracy(ours) >= max(LEAST_ACCURACY, theirs)
        aim = f"≥ {TIMES_VOWPAL_WABBIT:g}× the fastest Vowpal Wabbit from words, "
        aim += f"accuracy ≥ {LEAST_ACCURACY} and its own"
        lines.append(_row([aim, f"{times:.1f}×, {right} against {theirs:.4f}", _yes(is_met)]))
    if _is_measured(found, RIVER):
        times = rate(ours) / rate(found[RIVER])
        lines.append(_row([f"≥ {TIMES_RIVER:g}× river", f"{times:.0f}×", _yes(times >= TIMES_RIVER)]))
    return "\n".join(lines) + "\n"


def _yes(is_met: bool) -> str:
    return "yes" if is_met else "no"


def _where(records: dict[str, Any]) -> str:
    about = records["machine"]
    contenders = [one for found in records["works"].values() for one in found.values() if one["runs"]]
    versions = sorted({one["version"] for one in contenders})
    counts = [len(one["runs"]) for one in contenders]
    repeats = (
        f"{max(counts)} repeats, {min(counts)} of the slowest"
        if min(counts) < max(counts)
        else f"{max(counts)} repeats"
    )
    shares = [share for share in about["others_busy"] if share is not None]
    busy = f", at most {max(shares):.0%} busy with other work as repeats began" if shares else ""
    return _memory(records["works"].get("tf-idf", {})) + (
        f"{about['cpu']}, {about['n_cores']} cores{busy}; {about['date']}; "
        f"{repeats}; {', '.join(versions)}. Everyone has the threads of its "
        "default; Vowpal Wabbit reads a file with one and learns with another.\n"
    )


def _memory(found: dict[str, Any]) -> str:
    if not _is_measured(found, OURS):
        return ""
    runs = found[OURS]["runs"]
    ours, look = (
        median(run["n_bytes"] / run[name] for run in runs) / 1e9 for name in ("seconds", "look_seconds")
    )
    return (
        f"Lineal goes through the rows of tf-idf at {ours:.2f} GB/s; a plain sum over the same numbers and "
        f"columns, by one thread, at {look:.2f} GB/s.\n\n"
    )


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
