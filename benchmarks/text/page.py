"""Records to the tables of docs/text.md."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import fmean
from typing import Any

from pipeline import FREE, PEER
from works import WORKS

BEGIN, END = "<!-- text:begin -->", "<!-- text:end -->"
TITLES = {
    "imdb": "IMDB",
    "imdb, 3,000 texts": "IMDB, 3,000 texts",
    "20newsgroups": "20 Newsgroups",
    "20newsgroups, no headers": "20 Newsgroups without headers",
    "20newsgroups, no headers, quotes, footers": "20 Newsgroups without headers, quotes and footers",
    "sms spam": "SMS spam",
    "rotten tomatoes": "Rotten Tomatoes sentences",
    "deceptive reviews": "deceptive hotel reviews, folds by hotel",
    "89 languages": "89 languages, short strings",
    "89 languages, 1 text in 20": "89 languages, 1 text in 20 to learn from",
}


def fill(path: Path, records: dict[str, Any]) -> None:
    """Writes the tables between the marks of a page."""
    text = path.read_text(encoding="utf-8")
    filled = re.sub(f"(?s){BEGIN}.*{END}", lambda _: f"{BEGIN}\n{tables(records)}\n{END}", text)
    path.write_text(filled, encoding="utf-8")


def tables(records: dict[str, Any]) -> str:
    """All tables there are records for, each with the machine that made it."""
    made = []
    for part, draw in _DRAW.items():
        if part in records:
            made += [draw(records[part]["found"]), _where(records[part])]
    return "\n\n".join(made)


def _where(record: dict[str, Any]) -> str:
    machine, versions = record["machine"], record["versions"]
    busy = machine.get("others_busy")
    other = "" if busy is None else f", others busy with {busy:.0%} of them at the end"
    return (
        f"({machine['cpu']}, {machine['n_cores']} cores{other}; {machine['date']}; "
        f"scikit-learn {versions['scikit-learn']}, Python {versions['python']}.)"
    )


def _table(title: str, head: list[str], rows: list[list[str]]) -> str:
    lines = [f"**{title}**", "", _row(head), "|---" * len(head) + "|"]
    return "\n".join(lines + [_row(row) for row in rows])


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _seconds(seconds: float) -> str:
    return f"{seconds:.3g} s"


def _speed(found: dict[str, Any]) -> str:
    rows, n_different = [], 0
    for name, one in found.items():
        if name == "copy":
            continue
        for work, race in one["works"].items():
            theirs = min(race["seconds"][PEER])
            n_different += sum(d["n_different"] for d in race["differences"].values())
            for contender, seconds in race["seconds"].items():
                best = min(seconds)
                ratio = "" if contender == PEER else f"{theirs / best:.1f}×"
                speed = f"{one['n_bytes'] / best / 1e6:.0f} MB/s"
                title = f"{TITLES[name]}: {WORKS[work].title}"
                rows.append([title, contender, _seconds(best), speed, ratio])
    head = ["texts and work", "by", "best of 3", "text", "times scikit-learn's speed"]
    copy = found["copy"]
    rate = copy["n_bytes"] / min(copy["seconds"]) / 1e9
    return _table("Speed", head, rows) + (
        f"\n\nA plain copy of memory by one thread does {rate:.1f} GB/s here. Entries that differ between "
        f'the matrices of scikit-learn and of `compat="sklearn"` (float64; its hash): {n_different}.'
    )


def _peak(runs: list[dict[str, Any]]) -> int | None:
    peaks = [run["peak_bytes"] for run in runs if run["peak_bytes"] is not None]
    return min(peaks) if peaks else None


def _megabytes(n_bytes: int | None) -> str:
    return "not measured" if n_bytes is None else f"{n_bytes / 1e6:.0f} MB"


def _memory(found: dict[str, Any]) -> str:
    rows = []
    for name, contenders in found.items():
        theirs = _peak(contenders[PEER])
        for contender, runs in contenders.items():
            peak = _peak(runs)
            share = f"{peak / theirs:.2f}×" if peak and theirs and contender != PEER else ""
            rows.append([TITLES[name], contender, _megabytes(peak), share])
    head = ["tf-idf of words 1-2", "by", "peak above the texts", "of scikit-learn's"]
    return _table("Memory", head, rows)


def _growth(found: dict[str, Any]) -> str:
    rows = []
    for contender, sizes in found.items():
        measured = [
            (runs[0]["n_texts"], min(run["seconds"] for run in runs), _peak(runs)) for runs in sizes.values()
        ]
        previous: list[Any] = [None, *measured]
        for before, (n, seconds, peak) in zip(previous, measured, strict=False):
            time = f"{seconds / before[1]:.2f}×" if before else ""
            memory = f"{peak / before[2]:.2f}×" if before and peak and before[2] else ""
            rows.append([contender, f"{n:,}", _seconds(seconds), time, _megabytes(peak), memory])
    head = ["by", "strings", "best of 3", "of half as many", "peak", "of half as many"]
    return _table("Growth: tf-idf of words 1-2 of short strings in 89 languages", head, rows)


def _latency(found: dict[str, Any]) -> str:
    rows = []
    theirs = min(found[PEER]["median"])
    for name in (PEER, "lineal"):
        one = found[name]
        median, late = min(one["median"]), min(one["p99"])
        ratio = "" if name == PEER else f"{theirs / median:.0f}×"
        rows.append([name, f"{median:.1f} µs", f"{late:.1f} µs", f"{one['accuracy']:.3f}", ratio])
    head = ["`predict([text])`", "median", "99th percentile", "right", "times scikit-learn's speed"]
    n, n_bytes = found["n_texts"], found["n_bytes"]
    return _table(f"One text at a time: {n} reviews of {n_bytes / n:.0f} bytes on average", head, rows)


def _pipeline(found: dict[str, Any]) -> str:
    rows = []
    theirs = min(run["process_seconds"] for run in found[PEER])
    for name, runs in found.items():
        whole = min(run["process_seconds"] for run in runs)
        work = min(run["seconds"] for run in runs)
        ratio = "" if name == PEER else f"{theirs / whole:.1f}×"
        rows.append([name, _seconds(whole), _seconds(work), f"{runs[0]['accuracy']:.4f}", ratio])
    head = ["by", "whole process", "without imports", "test accuracy", "whole: times scikit-learn's speed"]
    return _table("From IMDB's files to a model to the accuracy on the test file", head, rows)


def _accuracy(found: dict[str, Any]) -> str:
    rows = []
    for name, one in found.items():
        cells = [TITLES[name], f"{one['measure']}, {one['held_out']}"]
        for contender in (PEER, FREE):
            if contender not in one:
                cells += ["-", "-"]
                continue
            who = one[contender]
            seconds = sum(who["fit_seconds"]) + sum(who["predict_seconds"])
            cells += [f"{fmean(who['scores']):.4f}", _seconds(seconds)]
        rows.append(cells)
    head = ["texts", "measure", PEER, "in", "`TextClassifier()`", "in"]
    return _table("Accuracy without any options, single runs", head, rows) + (
        "\n\nscikit-learn: `TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)` and "
        '`LinearSVC()`, one fit (`analyzer="char_wb", ngram_range=(2, 5)` for languages); ours searches. '
        "Seconds are of all fits and predictions."
    )


_DRAW = {
    "speed": _speed,
    "memory": _memory,
    "growth": _growth,
    "latency": _latency,
    "pipeline": _pipeline,
    "accuracy": _accuracy,
}
