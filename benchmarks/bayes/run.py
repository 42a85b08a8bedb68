"""Naive Bayes on real texts: Lineal and scikit-learn on the same matrices, in one run.

Run it with the interpreter that holds lineal; scikit-learn is the only peer, and is there. Every time is the
best of three, contenders take turns, and all repeats are kept. A fit includes checking its input; each is
made twice in a row, and the faster one counts: who waited for the other has cold caches. Records go to
``results/bayes.json``, the table to docs/naive-bayes.md.

    python benchmarks/bayes/run.py [--texts N]      N: a try on about so many texts, which keeps nothing
"""

from __future__ import annotations

import argparse
import gc
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
import sklearn.naive_bayes

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path += [str(ROOT / "benchmarks" / "text"), str(ROOT / "benchmarks" / "versus")]

from environment import machine  # noqa: E402
from sets import AbsentError, read  # noqa: E402

import lineal  # noqa: E402

RESULTS, PAGE = HERE / "results" / "bayes.json", ROOT / "docs" / "naive-bayes.md"
BEGIN, END = "<!-- bayes:begin -->", "<!-- bayes:end -->"
SETS = {"imdb": "IMDB", "20newsgroups": "20 Newsgroups"}
N_REPEATS = 3
N_DENSE = 200  # columns of the dense matrices: the most frequent words


class Matrices(NamedTuple):
    """Rows to learn from and rows to predict, of one layout."""

    title: str
    train: Any
    test: Any


def main() -> None:
    """Measure, keep the records, fill the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--texts", type=int, help="try it with about so many texts of each set; keeps nothing"
    )
    parser.add_argument("--keep", type=Path, help="keep the records in this file, and write on no page")
    options = parser.parse_args()
    found: dict[str, Any] = {}
    for name, title in SETS.items():
        print(f"== {title}", flush=True)
        try:
            found[name] = measured(name, options.texts)
        except AbsentError as reason:
            print(f"skipped: {reason}", flush=True)
    if not found:
        return
    packages = {package: version(package) for package in ("lineal", "scikit-learn", "scipy", "numpy")}
    records = {
        "machine": machine(),
        "versions": {"python": platform.python_version()} | packages,
        "sets": found,
    }
    print(table(records))
    if kept := options.keep or (None if options.texts else RESULTS):
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(records, indent=1) + "\n")
    if kept == RESULTS:
        page = PAGE.read_text(encoding="utf-8")
        filled = re.sub(f"(?s){BEGIN}.*{END}", lambda _: f"{BEGIN}\n{table(records)}\n{END}", page)
        PAGE.write_text(filled, encoding="utf-8")


def measured(name: str, limit: int | None) -> dict[str, Any]:
    """Seconds and accuracies of every kind on the matrices that suit it."""
    train, test = read(name, "train", limit), read(name, "test", limit)
    y, y_test = np.array(train.labels), np.array(test.labels)
    tfidf, counts, few, levels = matrices(train.texts, test.texts)
    works = [
        *(
            (kind, data)
            for kind in ("MultinomialNB", "ComplementNB", "BernoulliNB")
            for data in (tfidf, counts)
        ),
        ("GaussianNB", few),
        ("CategoricalNB", levels),
    ]
    runs = []
    for kind, data in works:
        print(f"{kind}, {data.title}", flush=True)
        runs.append(raced(kind, data, y, y_test))
    shape = {"n_rows": len(y), "n_columns": tfidf.train.shape[1], "n_stored": int(tfidf.train.nnz)}
    return {**shape, "n_classes": len(set(train.labels)), "runs": runs}


def matrices(train: list[str], test: list[str]) -> list[Matrices]:
    """Words and pairs as tf-idf and as counts; the most frequent words dense, as counts and as levels."""
    plain = {"weighting": "counts", "norm": None, "sublinear": False}
    dense = {"ngrams": (1, 1), "max_features": N_DENSE}
    made = []
    for title, options in (
        ("tf-idf", {}),
        ("counts", plain),
        (f"counts of {N_DENSE} words, dense", plain | dense),
    ):
        vectorizer = lineal.TextVectorizer(**({"ngrams": (1, 2), "min_df": 2} | options))
        made.append(Matrices(title, vectorizer.fit_transform(train), vectorizer.transform(test)))
    tfidf, counts, few = made
    few = few._replace(train=few.train.toarray().astype(float), test=few.test.toarray().astype(float))
    levels = [np.minimum(part, 4).astype(np.int64) for part in (few.train, few.test)]
    levels[0][:5] = np.arange(5)[:, None]  # every level in every column, so that both count five of them
    return [tfidf, counts, few, Matrices(f"levels 0-4 of {N_DENSE} words, dense", *levels)]


def raced(kind: str, data: Matrices, y: Any, y_test: Any) -> dict[str, Any]:
    """Both libraries fit and predict, in turns."""
    who = {"scikit-learn": getattr(sklearn.naive_bayes, kind), "lineal": getattr(lineal, kind)}
    seconds: dict[str, dict[str, list[float]]] = {name: {"fit": [], "predict": []} for name in who}
    accuracy = {}
    for _ in range(N_REPEATS):
        for name, make in who.items():
            fits = [timed(lambda make=make: make().fit(data.train, y)) for _ in range(2)]
            fit, model = min(fits, key=lambda pair: pair[0])
            predict, answers = timed(lambda model=model: model.predict(data.test))
            seconds[name]["fit"].append(fit)
            seconds[name]["predict"].append(predict)
            accuracy[name] = float(np.mean(answers == y_test))
    for name, times in seconds.items():
        print(f"  {name}: fit {min(times['fit']):.4f} s, predict {min(times['predict']):.4f} s", flush=True)
    return {"kind": kind, "data": data.title, "seconds": seconds, "accuracy": accuracy}


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and what came of them."""
    gc.collect()
    began = time.perf_counter()
    made = work()
    return time.perf_counter() - began, made


def table(records: dict[str, Any]) -> str:
    """The markdown table, and where it was measured."""
    head = ["texts", "kind", "matrix"]
    for what in ("fit", "predict"):
        head += [f"{what}: scikit-learn", "lineal", "times its speed"]
    head += ["accuracy: scikit-learn", "lineal"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name, one in records["sets"].items():
        for run in one["runs"]:
            cells = [SETS[name], f"`{run['kind']}`", run["data"]]
            for what in ("fit", "predict"):
                theirs, ours = (min(run["seconds"][who][what]) for who in ("scikit-learn", "lineal"))
                cells += [f"{theirs:.3f} s", f"{ours:.3f} s", f"{theirs / ours:.1f}×"]
            cells += [f"{run['accuracy'][who]:.4f}" for who in ("scikit-learn", "lineal")]
            lines.append(f"| {' | '.join(cells)} |")
    sizes = "; ".join(
        f"{SETS[name]}: {one['n_rows']:,} rows, {one['n_columns']:,} columns, {one['n_stored']:,} stored "
        f"numbers, {one['n_classes']} classes"
        for name, one in records["sets"].items()
    )
    where, versions = records["machine"], records["versions"]
    busy = where.get("others_busy")
    other = "" if busy is None else f", others busy with {busy:.0%} of them at the end"
    lines += [
        "",
        f"Words and pairs of words in at least two texts. {sizes}. Best of {N_REPEATS}, in turns, fits in "
        f"pairs, by `make bench-bayes` on {where['cpu']}, {where['n_cores']} cores{other}; {where['date']}; "
        f"scikit-learn {versions['scikit-learn']}, Python {versions['python']}.",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
