"""Strategies for many classes on real data: who is right how often, and what it costs.

One two-class learner, logistic regression with an L2 penalty, under every strategy, beside the joint fit of
all classes. 20 Newsgroups (texts with their headers, which give much away: compare strategies, not papers);
letters (16 dense columns, too few for a linear model: strategies matter most there). Records go to
``results/strategies.json``, the table to docs/strategies.md.

    python benchmarks/strategies/run.py [--rows N]      N: a try on about so many rows, which keeps nothing
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binomtest
from sklearn.datasets import load_svmlight_file

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path += [str(ROOT / "benchmarks" / "text"), str(ROOT / "benchmarks" / "versus")]

from environment import machine  # noqa: E402
from sets import AbsentError, path_of, read  # noqa: E402

from lineal import LinearClassifier, OneVsOne, OneVsRest, OutputCode, TextVectorizer  # noqa: E402
from lineal.objective import L2  # noqa: E402

RESULTS, PAGE = HERE / "results" / "strategies.json", ROOT / "docs" / "strategies.md"
BEGIN, END = "<!-- strategies:begin -->", "<!-- strategies:end -->"
LEARNER = LinearClassifier(penalty=L2(0.1))
STRATEGIES = {
    "joint (softmax)": LEARNER,
    "`OneVsRest`": OneVsRest(LEARNER),
    "`OneVsOne`": OneVsOne(LEARNER),
    '`OutputCode(code="hadamard")`': OutputCode(LEARNER, "hadamard"),
    '`OutputCode(code="bch")`': OutputCode(LEARNER, "bch"),
    '`OutputCode(code="random")`': OutputCode(LEARNER, "random"),
    '`OutputCode(code="bch", decoding="hamming")`': OutputCode(LEARNER, "bch", decoding="hamming"),
}


class Data(NamedTuple):
    """Rows to learn from and rows to be judged by."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any


def newsgroups(limit: int | None) -> Data:
    """Words with tf-idf, in at least two texts."""
    train, test = read("20newsgroups", "train", limit), read("20newsgroups", "test", limit)
    words = TextVectorizer(ngrams=(1, 1), min_df=2)
    X = words.fit_transform(train.texts)
    return Data(X, np.array(train.labels), words.transform(test.texts), np.array(test.labels))


def letters(limit: int | None) -> Data:
    """Sixteen measurements of printed letters, dense."""
    parts = [load_svmlight_file(str(path_of("libsvm", f"letter.scale{part}.svm"))) for part in ("", ".t")]
    (X, y), (X_test, y_test) = ((X.toarray(), y.astype(int)) for X, y in parts)
    return Data(X[:limit], y[:limit], X_test, y_test)


SETS = {"20 Newsgroups": newsgroups, "letters": letters}


def main() -> None:
    """Measure, keep the records, fill the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, help="try it with about so many rows; keeps nothing")
    options = parser.parse_args()
    found: dict[str, Any] = {}
    for name, load in SETS.items():
        print(f"== {name}", flush=True)
        try:
            found[name] = measured(load(options.rows))
        except (AbsentError, FileNotFoundError) as reason:
            print(f"skipped: {reason}", flush=True)
    if len(found) < len(SETS):
        return
    versions = {package: version(package) for package in ("lineal", "scikit-learn", "scipy", "numpy")}
    records = {"machine": machine(), "versions": versions, "python": platform.python_version(), "sets": found}
    print(table(records))
    if not options.rows:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(records, indent=1) + "\n")
        page = PAGE.read_text(encoding="utf-8")
        filled = re.sub(f"(?s){BEGIN}.*{END}", lambda _: f"{BEGIN}\n{table(records)}\n{END}", page)
        PAGE.write_text(filled, encoding="utf-8")


def measured(data: Data) -> dict[str, Any]:
    """Accuracy with its interval, and seconds, of every strategy."""
    runs = {}
    for name, model in STRATEGIES.items():
        fit, _ = timed(lambda model=model: model.fit(data.X, data.y))
        predict, answers = timed(lambda model=model: model.predict(data.X_test))
        right = int(np.sum(answers == data.y_test))
        interval = binomtest(right, len(answers)).proportion_ci(method="wilson")
        runs[name] = {
            "right": right,
            "accuracy": right / len(answers),
            "interval": [float(interval.low), float(interval.high)],
            "fit": fit,
            "predict": predict,
            "n_learners": len(getattr(model, "parts_", [model])),
            "distance": getattr(model, "distance_", None),
        }
        print(f"{name}: {right / len(answers):.4f}, fit {fit}, predict {predict}", flush=True)
    return {
        "n_rows": len(data.y),
        "n_columns": data.X.shape[1],
        "n_test": len(data.y_test),
        "n_classes": len(set(data.y.tolist())),
        "runs": runs,
    }


def timed(work: Callable[[], Any]) -> tuple[dict[str, float], Any]:
    """Seconds of the clock and of all cores together, and what came of them."""
    clock, cpu = time.perf_counter(), time.process_time()
    made = work()
    return {"seconds": time.perf_counter() - clock, "cpu_seconds": time.process_time() - cpu}, made


def table(records: dict[str, Any]) -> str:
    """The markdown table, and where it was measured."""
    head = ["strategy"]
    for name in records["sets"]:
        head += [f"{name}: learners", "distance", "accuracy (95 %)", "fit", "predict"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for strategy in STRATEGIES:
        cells = [strategy]
        for one in records["sets"].values():
            run = one["runs"][strategy]
            low, high = run["interval"]
            cells += [
                str(run["n_learners"]),
                "" if run["distance"] is None else str(run["distance"]),
                f"{run['accuracy']:.3f} ({low:.3f}–{high:.3f})",
                f"{run['fit']['cpu_seconds']:.1f} s",
                f"{run['predict']['cpu_seconds']:.2f} s",
            ]
        lines.append(f"| {' | '.join(cells)} |")
    sizes = "; ".join(
        f"{name}: {one['n_rows']:,} rows and {one['n_columns']:,} columns to learn from, {one['n_test']:,} "
        f"rows to be judged by, {one['n_classes']} classes"
        for name, one in records["sets"].items()
    )
    where = records["machine"]
    busy = where.get("others_busy")
    other = "" if busy is None else f", others busy with {busy:.0%} of them at the end"
    lines += [
        "",
        f"{sizes}. One run each; times are those of all cores together; Wilson intervals; by "
        f"`make bench-strategies` on {where['cpu']}, {where['n_cores']} cores{other}; {where['date']}; "
        f"Python {records['python']}.",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
