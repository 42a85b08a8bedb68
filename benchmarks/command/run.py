"""The command line against its peers: file to model to test accuracy, start-up, and default accuracies.

Run it with the interpreter that holds lineal (``make bench-command``); the peers have an environment of their
own. Contenders take turns, each in a fresh process that is timed as a whole from outside. Accuracies are
those of ``lineal train`` with no options but what says which rows to judge by. Everything is kept in
``results/command.json`` and shown in ``docs/command-line.md``.

Python keeps compiled modules for all contenders, as it does for packages that pip has installed, and each of
our commands is run once on a few rows before it is timed, so that they are there.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path += [str(HERE), str(ROOT / "benchmarks" / "versus"), str(ROOT / "benchmarks" / "text")]

from environment import machine, peers_python  # noqa: E402
from page import page  # noqa: E402
from sets import AbsentError, path_of  # noqa: E402

RESULTS = HERE / "results"
PARTS = ("versus", "startup", "accuracy")
LINEAL = [sys.executable, "-m", "lineal"]
OURS = {
    "lineal train --learner svm --no-report": ["--learner", "svm", "--no-report"],
    "lineal train --learner svm": ["--learner", "svm"],
    "lineal train": [],
}
THEIRS = ("scikit-learn script", "Vowpal Wabbit", "fastText")
# What a good default must reach, and how each set is judged.
ACCURACIES = {
    "IMDB": ("imdb/train.jsonl", ["--test", "imdb/test.jsonl"], "accuracy", 0.915),
    "20 Newsgroups, by date, with headers": (
        "20newsgroups/train.jsonl", ["--test", "20newsgroups/test.jsonl"], "accuracy", 0.865),
    "SMS spam, 5 folds": ("sms_spam/sms_spam.tsv", ["--cv", "5"], "spam f1", 0.97),
    "Rotten Tomatoes sentences, 10 folds": ("rt_polarity/rt-polarity.tsv", ["--cv", "10"], "accuracy", 0.79),
    "deceptive reviews, 5 folds by hotel": (
        "op_spam/deceptive-opinion.csv", ["--label", "deceptive", "--group", "hotel", "--cv", "5"],
        "accuracy", 0.89),
}  # fmt: skip


# Compiled modules are kept, whatever the shell says, and not beside the sources of this tree.
CACHE = TemporaryDirectory()
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
ENVIRONMENT["PYTHONPYCACHEPREFIX"] = CACHE.name


def main() -> None:
    """Runs the parts that were asked for, keeps the records of a whole run, fills the page."""
    options = _options()
    try:
        data = path_of("imdb", "train.jsonl").parents[1]
        for file, *_ in ACCURACIES.values():
            path_of(*file.split("/"))
    except AbsentError as reason:
        print(f"skipped: {reason}", flush=True)
        return
    about = machine()
    records: dict[str, Any] = {"machine": about, "lineal": version("lineal")}
    if "versus" in options.parts:
        records["versus"] = versus(data, options)
    if "startup" in options.parts:
        records["startup"] = startup(options.repeats)
    if "accuracy" in options.parts:
        records["accuracy"] = {name: accuracy(data, name) for name in ACCURACIES}
    print(page(records))
    kept = options.keep or RESULTS / "command.json"
    before = json.loads(kept.read_text()) if kept.exists() else {}
    # Parts that were not run keep their figures and the day they were measured on.
    dates = {part: before["machine"]["date"] for part in PARTS if part in before} | before.get("dates", {})
    records["dates"] = dates | dict.fromkeys(options.parts, about["date"])
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps({**before, **records}, indent=1) + "\n")
    if options.keep:
        return
    fill(ROOT / "docs" / "command-line.md", page({**before, **records}))


def versus(data: Path, options: argparse.Namespace) -> dict[str, Any]:
    """File to model to test accuracy on IMDB."""
    python = options.peers or str(peers_python())
    found: dict[str, Any] = {}
    with TemporaryDirectory() as name:
        folder = Path(name)
        prepare(data / "imdb", folder)
        warm_up(folder, python)
        for repeat in range(options.repeats):
            for contender in (*OURS, *THEIRS):
                if repeat and contender in ("scikit-learn script", "lineal train") and repeat > 1:
                    continue  # long ones are run twice
                run = _ours(contender, folder) if contender in OURS else _theirs(contender, folder, python)
                found.setdefault(contender, []).append(run)
                print(
                    f"  {contender}: {run['process_seconds']:.2f} s, accuracy {run['accuracy']:.4f}",
                    flush=True,
                )
    return found


def warm_up(folder: Path, python: str) -> None:
    """Runs everything once on few rows: modules are compiled, files and libraries are in memory."""
    few = folder / "few"
    few.mkdir()
    for path in folder.glob("*.*"):
        lines = path.read_text(encoding="utf-8").split("\n")[:2000]
        (few / path.name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    for contender in (*OURS, *THEIRS):
        _ours(contender, few) if contender in OURS else _theirs(contender, few, python)


def _ours(contender: str, folder: Path) -> dict[str, Any]:
    files = [
        "--test",
        str(folder / "test.jsonl"),
        "-o",
        str(folder / "m.lineal"),
        "--report",
        str(folder / "r.html"),
    ]
    command = [*LINEAL, "train", str(folder / "train.jsonl"), *files, *OURS[contender], "--json"]
    began = time.perf_counter()
    answer = subprocess.run(command, capture_output=True, text=True, check=True, env=ENVIRONMENT)
    seconds = time.perf_counter() - began
    document = json.loads(answer.stdout)
    return {
        "process_seconds": seconds,
        "accuracy": document["evaluation"]["scores"]["accuracy"]["value"],
        "steps": document["seconds"],
        "plan": document["plan"],
    }


def _theirs(contender: str, folder: Path, python: str) -> dict[str, Any]:
    began = time.perf_counter()
    answer = subprocess.run(
        [python, str(HERE / "peers.py"), contender, str(folder)],
        capture_output=True,
        text=True,
        check=True,
        env=ENVIRONMENT,
    )
    seconds = time.perf_counter() - began
    return {"process_seconds": seconds, **json.loads(answer.stdout.splitlines()[-1])}


def prepare(source: Path, folder: Path) -> None:
    """The reviews in a shuffled order, the same for all, and the lines that the peers want."""
    import numpy as np

    for part, seed in (("train", 0), ("test", 1)):
        lines = (source / f"{part}.jsonl").read_text(encoding="utf-8").removesuffix("\n").split("\n")
        order = np.random.default_rng(seed).permutation(len(lines))
        lines = [lines[k] for k in order]
        (folder / f"{part}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        rows = [json.loads(line) for line in lines]
        words = [" ".join(re.findall(r"\w+", row["text"].lower())) for row in rows]
        is_positive = [row["label"] == "pos" for row in rows]
        with (folder / f"{part}.vw").open("w", encoding="utf-8") as file:
            for yes, text in zip(is_positive, words, strict=True):
                file.write(f"{1 if yes else -1} | {text}\n")
        with (folder / f"{part}.ft").open("w", encoding="utf-8") as file:
            for yes, text in zip(is_positive, words, strict=True):
                file.write(f"__label__{'pos' if yes else 'neg'} {text}\n")


def startup(repeats: int) -> dict[str, Any]:
    """Seconds of processes that do next to nothing: best and median of several."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        rows = [{"text": f"{word} film number {k}", "label": label} for k in range(200)
                for word, label in (("good", "pos"), ("bad", "neg"))]  # fmt: skip
        (folder / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
        train = [
            *LINEAL,
            "train",
            str(folder / "t.jsonl"),
            "-o",
            str(folder / "m.lineal"),
            "--no-report",
            "--json",
        ]
        subprocess.run(train, check=True, capture_output=True, env=ENVIRONMENT)
        (folder / "line.txt").write_text("a good film\n")
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "import numpy": [sys.executable, "-c", "import numpy"],
            "import numpy, lineal": [sys.executable, "-c", "import numpy, lineal"],
            "lineal --help": [*LINEAL, "--help"],
            "lineal predict, one line": [
                *LINEAL,
                "predict",
                str(folder / "m.lineal"),
                str(folder / "line.txt"),
            ],
        }
        return {name: _seconds(command, max(repeats, 7)) for name, command in commands.items()}


def _seconds(command: list[str], repeats: int) -> list[float]:
    found = []
    for _ in range(repeats):
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env=ENVIRONMENT)
        found.append(time.perf_counter() - began)
    return sorted(found)


def accuracy(data: Path, name: str) -> dict[str, Any]:
    """``lineal train`` with no options but how to judge."""
    file, judging, score, bar = ACCURACIES[name]
    options = [str(data / option) if (data / option).is_file() else option for option in judging]
    with TemporaryDirectory() as folder:
        command = [
            *LINEAL,
            "train",
            str(data / file),
            *options,
            "-o",
            f"{folder}/m.lineal",
            "--no-report",
            "--json",
        ]
        began = time.perf_counter()
        answer = subprocess.run(command, capture_output=True, text=True, check=True, env=ENVIRONMENT)
        seconds = time.perf_counter() - began
    evaluation = json.loads(answer.stdout)["evaluation"]
    found = evaluation["scores"]["accuracy"]
    if score != "accuracy":
        label, measure = score.split()
        (found,) = (one[measure] for one in evaluation["per_class"] if str(one["label"]) == label)
    print(
        f"  {name}: {score} {found['value']:.4f} ({found['low']:.4f} .. {found['high']:.4f}), bar {bar}",
        flush=True,
    )
    return {"score": score, "bar": bar, "seconds": seconds, **{k: found[k] for k in ("value", "low", "high")}}


def fill(path: Path, table: str) -> None:
    """Puts the tables between the marks of the page."""
    if not path.exists():
        return
    begin, end = "<!-- measured:begin -->", "<!-- measured:end -->"
    text = path.read_text(encoding="utf-8")
    head, _, rest = text.partition(begin)
    _, _, tail = rest.partition(end)
    path.write_text(f"{head}{begin}\n{table}\n{end}{tail}", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peers", help="interpreter that has the peers (one of its own is made)")
    parser.add_argument("--keep", type=Path, help="keep the records in this file, and write on no page")
    options = parser.parse_args()
    options.parts = options.parts.split(",")
    return options


if __name__ == "__main__":
    main()
