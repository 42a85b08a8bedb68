"""The raw JSON of every benchmark to rows of one kind: one small function a file, nothing measured anew."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from bar import SCORE, SECONDS, SHARE, TIMES, Row, spread, times

BENCHMARKS = Path(__file__).resolve().parents[1]
PEER = "scikit-learn"
SETS = {"imdb": "IMDB", "20newsgroups": "20 Newsgroups"}
DOUBLING = 2.2

Raw = dict[str, Any]


def about(machine: Raw, date: str | None = None) -> dict[str, Any]:
    """Day, place and how busy the place was."""
    busy = machine.get("others_busy")
    if isinstance(busy, list):
        busy = max((share for share in busy if share is not None), default=None)
    where = f"{machine['cpu']}, {machine['n_cores']} cores"
    return {"date": date or machine["date"], "where": where, "busy": busy}


# ---- P2..P6, P11, P12: benchmarks/versus ----------------------------------------------------------


def versus(raw: Raw) -> Iterator[Row]:
    """Of the peers under one bar of one work, the one that is hardest to beat."""
    if raw["bar"] == "P11":
        return _imports(raw)
    return _grown(raw) if raw["bar"] == "P12" else _fits(raw)


def _fits(raw: Raw) -> Iterator[Row]:
    facts = about(raw["machine"])
    for work in raw["works"]:
        held = [row for row in work["rows"] if row["bar"]]
        for bar in dict.fromkeys(row["bar"] for row in held):
            goal = float(bar.strip("≥ ×"))
            row = min((r for r in held if r["bar"] == bar), key=_hardest)
            origin = work["data"]["origin"]
            yield Row(
                raw["bar"], work["title"], TIMES, row["ratio"], goal,
                row["our_spread"], row["peer"], row["peer_spread"],
                quality="objective", our_quality=row["our_objective"], their_quality=row["peer_objective"],
                counts=row["ratio"] is not None,
                our_bytes=_least_bytes(work, "lineal"), their_bytes=_least_bytes(work, row["peer"]),
                note=row["note"] + ("" if origin == "real" else "; random stand-in data"), **facts,
            )  # fmt: skip


def _hardest(row: Raw) -> tuple[bool, float]:
    return (row["ratio"] is not None, row["ratio"] or 0.0)  # a peer that we did not match comes first


def _least_bytes(work: Raw, name: str) -> int | None:
    known = [r["extra_bytes"] for r in work["runs"] if r["name"] == name and r["extra_bytes"] is not None]
    return min(known, default=None)


def _imports(raw: Raw) -> Iterator[Row]:
    for work in raw["works"]:
        for row in work["rows"]:
            if row["bar"]:
                yield Row(
                    "P11", row["work"], SECONDS, row["ours"], 0.1, row["our_spread"],
                    **about(raw["machine"]),
                )  # fmt: skip


def _grown(raw: Raw) -> Iterator[Row]:
    for work in raw["works"]:
        for row in work["rows"]:
            yield Row(
                "P12", row["work"], SHARE, row["ratio"], DOUBLING,
                row["our_spread"] or [row["ours"]] * 3, row["peer"],
                row["peer_spread"] or [row["theirs"]] * 3,
                unit=row["unit"], **about(raw["machine"]),
            )  # fmt: skip


# ---- P1, P7, P9, P12: benchmarks/text -------------------------------------------------------------

# Work, contender and what it must reach: times scikit-learn's speed.
_TEXT_GOALS = (
    ("tf-idf", "lineal, float64, 1 thread", 27.0),
    ("tf-idf", "lineal, float64, 2 threads", 40.0),
    ("hashing", "lineal, scikit-learn's hash, 2 threads", 25.0),
    ("hashing", "lineal, own hash, float32, 2 threads", 40.0),
)


def text(raw: Raw) -> Iterator[Row]:
    """The parts that there are, each of its own day."""
    for part, read in _TEXT_PARTS.items():
        if part in raw:
            yield from read(raw[part]["found"], about(raw[part]["machine"]))


def _text_speed(found: Raw, facts: Raw) -> Iterator[Row]:
    for name, title in SETS.items():
        for work, contender, goal in _TEXT_GOALS if name in found else ():
            race = found[name]["works"][work]
            ours, theirs = (spread(race["seconds"][who]) for who in (contender, PEER))
            same = race["differences"].get(contender)
            yield Row(
                "P1", f"{title}, {work}: {contender.removeprefix('lineal, ')}", TIMES, times(ours, theirs),
                goal,
                ours, PEER, theirs, quality="entries that differ" if same else "",
                our_quality=same and same["n_different"], counts=not (same and same["n_different"]), **facts,
            )  # fmt: skip


def _text_memory(found: Raw, facts: Raw) -> Iterator[Row]:
    for name, title in SETS.items():
        contenders = found.get(name, {})
        ours = [_peaks(runs) for who, runs in contenders.items() if who.startswith("lineal, float64")]
        theirs = _peaks(contenders.get(PEER, []))
        if theirs and all(ours) and ours:
            worst = max(ours)
            yield Row(
                "P1", f"{title}, tf-idf: peak memory above the texts", SHARE, worst[0] / theirs[0], 0.45,
                worst,
                PEER, theirs, unit="MB", our_bytes=int(worst[0] * 1e6), their_bytes=int(theirs[0] * 1e6),
                **facts,
            )  # fmt: skip


def _peaks(runs: list[Raw]) -> list[float]:
    return spread(run["peak_bytes"] / 1e6 for run in runs if run["peak_bytes"] is not None)


def _text_growth(found: Raw, facts: Raw) -> Iterator[Row]:
    for contender, sizes in found.items():
        name = f"P1 on 89 languages, {contender.rpartition(', ')[2]}"
        yield from worst_doublings(name, [(runs[0]["n_texts"], runs) for runs in sizes.values()], facts)


def worst_doublings(name: str, sizes: list[tuple[int, list[Raw]]], facts: Raw) -> Iterator[Row]:
    """Time and memory of the step from half to whole that cost the most."""
    measures = {
        "time": ("s", [(n, spread(run["seconds"] for run in runs)) for n, runs in sizes]),
        "memory": ("MB", [(n, _peaks(runs)) for n, runs in sizes]),
    }
    for what, (unit, points) in measures.items():
        steps = [(b[0] / a[0], a, b, n, m) for (n, a), (m, b) in pairwise(points) if a and b]
        if steps:
            ratio, before, after, n, m = max(steps, key=lambda step: step[0])
            yield Row(
                "P12", f"{name}: {what}, worst doubling", SHARE, ratio, DOUBLING, after, f"itself on {n:,}",
                before, unit=unit, note=f"{m:,} against {n:,}", **facts,
            )  # fmt: skip


def _text_latency(found: Raw, facts: Raw) -> Iterator[Row]:
    ours, theirs = (spread(found[who]["median"]) for who in ("lineal", PEER))
    yield Row(
        "P9", "`predict([text])` of single reviews, median", TIMES, times(ours, theirs), 120.0, ours, PEER,
        theirs, unit="µs", quality="accuracy", our_quality=found["lineal"]["accuracy"],
        their_quality=found[PEER]["accuracy"],
        counts=found["lineal"]["accuracy"] >= found[PEER]["accuracy"] - 1e-9, **facts,
    )  # fmt: skip


def _text_pipeline(found: Raw, facts: Raw) -> Iterator[Row]:
    """The same from Python, for information: the bar is of the command."""
    theirs = found[PEER]
    for name, runs in found.items():
        if name != PEER:
            yield _accurate(
                "P7", f"from Python: {name.removeprefix('lineal, ')}", None, runs, PEER, theirs, facts
            )


def _accurate(
    bar: str,
    work: str,
    goal: float | None,
    ours: list[Raw],
    peer: str,
    theirs: list[Raw],
    facts: Raw,
    note: str = "",
) -> Row:
    """Whole processes that end with an accuracy."""
    left, right = (spread(run["process_seconds"] for run in runs) for runs in (ours, theirs))
    qualities = ours[0]["accuracy"], theirs[0]["accuracy"]
    return Row(
        bar, work, TIMES, times(left, right), goal, left, peer, right, quality="accuracy",
        our_quality=qualities[0], their_quality=qualities[1], counts=qualities[0] >= qualities[1], note=note,
        **facts,
    )  # fmt: skip


_TEXT_PARTS: dict[str, Callable[[Raw, Raw], Iterator[Row]]] = {
    "speed": _text_speed,
    "memory": _text_memory,
    "growth": _text_growth,
    "latency": _text_latency,
    "pipeline": _text_pipeline,
}


# ---- P7, P11, accuracies: benchmarks/command ------------------------------------------------------

_FIXED, _FREE = "lineal train --learner svm --no-report", "lineal train"
_COMMAND_GOALS = (
    (_FIXED, "Vowpal Wabbit", 1.0),
    (_FIXED, "scikit-learn script", 15.0),
    (_FIXED, "fastText", 6.0),
    (_FREE, "scikit-learn script", 4.0),
)
_LEAST_ACCURACY = {_FIXED: 0.906, _FREE: 0.915}
_STARTUP_GOALS = {"lineal --help": 0.15, "lineal predict, one line": 0.3}


def command(raw: Raw) -> Iterator[Row]:
    """Whole commands against whole processes of peers; start-up; accuracies without options."""

    def facts(part: str) -> dict[str, Any]:
        return about(raw["machine"], raw.get("dates", {}).get(part))

    found = raw.get("versus", {})
    with_report = spread(run["process_seconds"] for run in found.get("lineal train --learner svm", []))
    note = f"with the report {with_report[0]:.2f} s" if with_report else ""
    for ours, peer, goal in _COMMAND_GOALS:
        if ours in found and peer in found:
            told = note if ours == _FIXED else ""
            yield _accurate("P7", f"`{ours}`", goal, found[ours], peer, found[peer], facts("versus"), told)
    for ours, goal in _LEAST_ACCURACY.items():
        if ours in found:
            score = found[ours][0]["accuracy"]
            yield Row("P7", f"`{ours}`: test accuracy", SCORE, score, goal, unit="", **facts("versus"))
    for name, goal in _STARTUP_GOALS.items():
        if seconds := spread(raw.get("startup", {}).get(name, [])):
            yield Row("P11", f"`{name}`", SECONDS, seconds[0], goal, seconds, **facts("startup"))
    for name, one in raw.get("accuracy", {}).items():
        yield Row(
            "accuracy", f"{name}: {one['score']}", SCORE, one["value"], one["bar"], unit="",
            note=f"95 % interval {one['low']:.4f} .. {one['high']:.4f}, {one['seconds']:.1f} s",
            **facts("accuracy"),
        )  # fmt: skip


# ---- P8: benchmarks/kernel_machines ---------------------------------------------------------------

_LIBRARIES = {"scikit-learn": "LIBSVM", "intelex": "scikit-learn-intelex"}


def kernel_machines(raw: Raw) -> Iterator[Row]:
    """The best layout of each, of those whose dual objective is as good."""
    facts = about(raw["machine"])
    for name, work in raw["works"].items():
        if not work["goals"]:
            continue
        for (library, title), goal in zip(_LIBRARIES.items(), work["goals"], strict=True):
            yield _machine(work, f"{name}: fit", "fit", library, title, goal, facts)
        wanted = raw["goal_of_prediction"]
        yield _machine(work, f"{name}: predict", "predict", "scikit-learn", "LIBSVM", wanted, facts)


def _machine(work: Raw, title: str, what: str, library: str, peer: str, goal: float, facts: Raw) -> Row:
    best = {}
    for who in ("lineal", library):
        known = [
            one for name, one in work["found"].items() if name.startswith(f"{who},") and one.get("counts")
        ]
        best[who] = min(known, key=lambda one: min(one[what]), default=None)
    ours, theirs = best["lineal"], best[library]
    if ours is None or theirs is None:
        return Row("P8", f"{title} against {peer}", TIMES, None, goal, peer=peer, counts=False, **facts)
    left, right = spread(ours[what]), spread(theirs[what])
    return Row(
        "P8", f"{title} against {peer}", TIMES, times(left, right), goal, left, peer, right,
        quality="dual objective",
        our_quality=ours["dual"], their_quality=theirs["dual"], note=f"our certified gap {ours['gap']:.1e}",
        **facts,
    )  # fmt: skip


# ---- P10: benchmarks/online -----------------------------------------------------------------------

_ONLINE_GOALS = (
    (("Vowpal Wabbit, file of lines", "Vowpal Wabbit, strings"), 4.0, 0.902),
    (("river",), 50.0, 0.0),
)


def online(raw: Raw) -> Iterator[Row]:
    """From texts in memory; of the ways in which words are given to Vowpal Wabbit, the fastest."""
    found, n = raw["works"].get("text", {}), raw["data"]["n_train"]
    ours = found.get("lineal", {}).get("runs")
    for names, goal, least in _ONLINE_GOALS:
        peers = {name: found[name]["runs"] for name in names if found.get(name, {}).get("runs")}
        if not ours or not peers:
            continue
        speeds = {
            name: spread(n * run["seconds"] / run["n_learned"] for run in runs)
            for name, runs in peers.items()
        }
        peer = min(speeds, key=lambda name: speeds[name][0])
        left = spread(n * run["seconds"] / run["n_learned"] for run in ours)
        right, wrong = _mean_accuracy(ours), _mean_accuracy(peers[peer])
        yield Row(
            "P10", "IMDB, texts in memory", TIMES, times(left, speeds[peer]), goal, left, peer, speeds[peer],
            quality="accuracy", our_quality=right, their_quality=wrong, counts=right >= max(least, wrong),
            **about(raw["machine"]),
        )  # fmt: skip


def _mean_accuracy(runs: list[Raw]) -> float:
    return sum(run["accuracy"] for run in runs) / len(runs)


# ---- P13, P14, growth of P7 -----------------------------------------------------------------------


def neighbors(raw: Raw) -> Iterator[Row]:
    """Index and search together, against the faster of scikit-learn's."""
    title = "20 Newsgroups, tf-idf, cosine"
    found = raw["works"].get(title, {}).get("found", {})
    whole = {
        name: spread(a + b for a, b in zip(one["fit"], one["search"], strict=True))
        for name, one in found.items()
        if "fit" in one
    }
    peers = [name for name in whole if name.startswith(PEER)]
    if "lineal, auto" in whole and peers:
        peer, ours = min(peers, key=lambda name: whole[name][0]), whole["lineal, auto"]
        same = found[peer]["same_or_tied"]
        yield Row(
            "P13", title, TIMES, times(ours, whole[peer]), 5.0, ours, peer, whole[peer],
            quality="same neighbours or ties", our_quality=same, counts=same == 1.0, **about(raw["machine"]),
        )  # fmt: skip


def bayes(raw: Raw) -> Iterator[Row]:
    """Fits on the matrices of tf-idf."""
    for name, one in raw["sets"].items():
        for run in one["runs"]:
            if run["data"] != "tf-idf":
                continue
            ours, theirs = (spread(run["seconds"][who]["fit"]) for who in ("lineal", PEER))
            right, wrong = (run["accuracy"][who] for who in ("lineal", PEER))
            yield Row(
                "P14", f"{SETS[name]}, `{run['kind']}`, fit", TIMES, times(ours, theirs), 3.0, ours, PEER,
                theirs,
                quality="accuracy", our_quality=right, their_quality=wrong, counts=right >= wrong - 1e-9,
                **about(raw["machine"]),
            )  # fmt: skip


def growth(raw: Raw) -> Iterator[Row]:
    """Of what was doubled, the command of P7 has a bar."""
    part = raw.get("command")
    if part:
        sizes = [(point["n"], point["runs"]) for point in part["points"]]
        yield from worst_doublings("P7 on IMDB, the whole command", sizes, about(part["machine"]))


# ---- all of it ------------------------------------------------------------------------------------

SOURCES: dict[str, Callable[[Raw], Iterator[Row]]] = {
    **{f"versus/results/{bar}.json": versus for bar in ("P2", "P3", "P4", "P5", "P6", "P11", "P12")},
    "text/results/text.json": text,
    "command/results/command.json": command,
    "kernel_machines/results/kernel_machines.json": kernel_machines,
    "online/results/online.json": online,
    "neighbors/results/neighbors.json": neighbors,
    "bayes/results/bayes.json": bayes,
    "bars/results/growth.json": growth,
}


def libraries() -> list[str]:
    """What was run, with versions, as the raw JSON tells: the library's, and where two were run both."""
    found = set()
    for name in SOURCES:
        path = BENCHMARKS / name
        if path.exists():
            found |= set(_versions(json.loads(path.read_text(encoding="utf-8"))))
    return sorted(found, key=str.lower)


def _versions(raw: Any, holder: str = "") -> Iterator[str]:
    if isinstance(raw, list):
        for one in raw:
            yield from _versions(one, holder)
    elif isinstance(raw, dict):
        for key, value in raw.items():
            if key == "versions":
                yield from (f"{name} {number}" for name, number in value.items() if number)
            elif key == "version":
                yield value if " " in value else f"{_NAMES.get(holder, holder)} {value}"
            else:
                yield from _versions(value, key)


_NAMES = {
    "scikit-learn script": "scikit-learn",
    "Vowpal Wabbit": "vowpalwabbit",
    "fastText": "fasttext-wheel",
}
_ORDER = [*(f"P{k}" for k in range(1, 15)), "accuracy"]


def collect(paths: dict[str, Path] | None = None) -> list[Row]:
    """All rows that the raw JSON holds, in the order of the bars; other files may replace the kept ones."""
    rows = []
    for name, read in SOURCES.items():
        path = BENCHMARKS / name if paths is None else paths.get(name)
        if path is not None and path.exists():
            rows += list(read(json.loads(path.read_text(encoding="utf-8"))))
    return sorted(rows, key=lambda row: _ORDER.index(row.bar))
