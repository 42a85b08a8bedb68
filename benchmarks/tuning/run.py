"""One grid of strengths over real texts: ``lineal.tune`` and scikit-learn's GridSearchCV on the same folds.

Words and pairs of words of IMDB reviews, tf-idf, a linear SVM, C from 2^-5 to 2^3, five folds. Three
contenders: tune; GridSearchCV over the same pipeline, which reads the texts again for every fit; GridSearchCV
over scikit-learn's own vectoriser and LinearSVC. Seconds are those of the processors, of all threads
together, which other work on the machine changes little; best of two, in turns. The clock's seconds are kept
too. Records go to ``results/tuning.json``, the table to docs/tuning.md.

    python benchmarks/tuning/run.py [--texts N]      other than 5000 reviews: a try, which keeps nothing
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
from typing import Any

import sklearn.svm
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path += [str(ROOT / "benchmarks" / "text"), str(ROOT / "benchmarks" / "versus")]

from environment import machine  # noqa: E402
from sets import AbsentError, read  # noqa: E402

from lineal import LinearSVC, TextVectorizer, tune  # noqa: E402

RESULTS, PAGE = HERE / "results" / "tuning.json", ROOT / "docs" / "tuning.md"
BEGIN, END = "<!-- tuning:begin -->", "<!-- tuning:end -->"
N_TEXTS, N_REPEATS = 5000, 2
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
SPACE = {"linearsvc__C": [2.0**k for k in range(-5, 4, 2)]}


def ours(texts: list[str], y: list[str]) -> tuple[dict[str, Any], float]:
    """Features once a fold, strengths along a path."""
    found = tune(_pipeline(), texts, y, SPACE, cv=FOLDS)
    return found.params, found.score


def same_pipeline(texts: list[str], y: list[str]) -> tuple[dict[str, Any], float]:
    """Each fit by itself."""
    found = GridSearchCV(_pipeline(), SPACE, cv=FOLDS).fit(texts, y)
    return found.best_params_, float(found.best_score_)


def scikit_learn(texts: list[str], y: list[str]) -> tuple[dict[str, Any], float]:
    """Theirs alone."""
    theirs = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), min_df=2), sklearn.svm.LinearSVC())
    found = GridSearchCV(theirs, SPACE, cv=FOLDS).fit(texts, y)
    return found.best_params_, float(found.best_score_)


def _pipeline() -> Any:
    return make_pipeline(TextVectorizer(ngrams=(1, 2), min_df=2), LinearSVC())


CONTENDERS: dict[str, Callable[..., Any]] = {
    "`lineal.tune`": ours,
    "`GridSearchCV`, the same pipeline": same_pipeline,
    "`GridSearchCV`, scikit-learn's vectoriser and SVM": scikit_learn,
}


def main() -> None:
    """Measure, keep the records, fill the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=int, default=N_TEXTS, help="other than 5000 keeps nothing")
    options = parser.parse_args()
    try:
        texts, y, _ = read("imdb", "train", options.texts)
    except AbsentError as reason:
        print(f"skipped: {reason}")
        return
    found: dict[str, Any] = {name: {"seconds": [], "clock": []} for name in CONTENDERS}
    for _ in range(N_REPEATS):
        for name, work in CONTENDERS.items():
            began, clock = time.process_time(), time.perf_counter()
            params, score = work(texts, y)
            found[name]["seconds"].append(time.process_time() - began)
            found[name]["clock"].append(time.perf_counter() - clock)
            found[name] |= {"C": params["linearsvc__C"], "accuracy": score}
            print(name, found[name], flush=True)
    packages = ("lineal", "scikit-learn", "scipy", "numpy")
    records = {
        "machine": machine(),
        "versions": {"python": platform.python_version()} | {p: version(p) for p in packages},
        "n_texts": len(texts),
        "contenders": found,
    }
    print(table(records))
    if options.texts == N_TEXTS:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(records, indent=1) + "\n")
        page = PAGE.read_text(encoding="utf-8")
        filled = re.sub(f"(?s){BEGIN}.*{END}", lambda _: f"{BEGIN}\n{table(records)}\n{END}", page)
        PAGE.write_text(filled, encoding="utf-8")


def table(records: dict[str, Any]) -> str:
    """The markdown table, and where it was measured."""
    lines = ["| | processor seconds | C chosen | accuracy of the best trial |", "|---|---|---|---|"]
    for name, one in records["contenders"].items():
        lines.append(f"| {name} | {min(one['seconds']):.1f} | {one['C']:g} | {one['accuracy']:.4f} |")
    where, versions = records["machine"], records["versions"]
    lines += [
        "",
        f"{records['n_texts']:,} IMDB reviews, words and pairs of words, {len(SPACE['linearsvc__C'])} "
        f"strengths, 5 folds; best of {N_REPEATS}, in turns, by `make bench-tuning` on {where['cpu']}, "
        f"{where['n_cores']} cores; {where['date']}; scikit-learn {versions['scikit-learn']}, Python "
        f"{versions['python']}.",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
