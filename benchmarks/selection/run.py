"""Columns of 20 Newsgroups, ranked and eliminated: Lineal and scikit-learn on the same matrices, in one run.

Run it with the interpreter that holds lineal; scikit-learn is the only peer, and is there. Every time is the
best of 25, or of 3 where one takes more than a second; contenders take turns, and all repeats are kept.
Scores include reading and checking the data.
scikit-learn's mutual information goes column by column: it is timed on some columns, drawn at random, and the
time of all is in proportion. Records go to ``results/selection.json``, the tables to docs/selection.md.

    python benchmarks/selection/run.py [--texts N]      N: a try on about so many texts, which keeps nothing
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
from typing import Any

import numpy as np
from sklearn import feature_selection

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path += [str(ROOT / "benchmarks" / "text"), str(ROOT / "benchmarks" / "versus")]

from environment import machine  # noqa: E402
from sets import read  # noqa: E402

import lineal  # noqa: E402
from lineal.data import thread_count  # noqa: E402
from lineal.features import information_gain, t_statistic  # noqa: E402

RESULTS, PAGE = HERE / "results" / "selection.json", ROOT / "docs" / "selection.md"
BEGIN, END = "<!-- selection:begin -->", "<!-- selection:end -->"
N_REPEATS, N_QUICK = 3, 25  # of works above and below a second
N_SAMPLED = 1000  # columns of scikit-learn's mutual information
KEPT = (100, 1000, 10_000)
FILTERS = (
    "mutual_information",
    "chi2",
    "chi2_contingency",
    "log_likelihood_ratio",
    "signal_to_noise",
    "conditional_mutual_information",
)


def main() -> None:
    """Measure, keep the records, fill the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=int, help="try it with about so many texts; keeps nothing")
    options = parser.parse_args()
    train, test = (read("20newsgroups", part, options.texts) for part in ("train", "test"))
    y, y_test = np.array(train.labels), np.array(test.labels)
    plain = {"weighting": "counts", "norm": None, "sublinear": False}
    vectorizers = [
        lineal.TextVectorizer(ngrams=(1, 1), min_df=1, **more).fit(train.texts) for more in ({}, plain)
    ]
    tfidf, counts = (vectorizer.transform(train.texts) for vectorizer in vectorizers)
    records = {
        "machine": machine(),
        "n_threads": thread_count(None),
        "versions": {"python": platform.python_version()}
        | {package: version(package) for package in ("lineal", "scikit-learn", "scipy", "numpy")},
        "shape": [*counts.shape, int(counts.nnz), len(set(train.labels))],
        "races": races(tfidf, counts, y),
        "kept": kept(tfidf, y, vectorizers[0].transform(test.texts), y_test),
    }
    print(tables(records))
    if not options.texts:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(records, indent=1) + "\n")
        page = PAGE.read_text(encoding="utf-8")
        filled = re.sub(f"(?s){BEGIN}.*{END}", lambda _: f"{BEGIN}\n{tables(records)}\n{END}", page)
        PAGE.write_text(filled, encoding="utf-8")


def races(tfidf: Any, counts: Any, y: Any) -> list[dict[str, Any]]:
    """Scores of all columns by both libraries, and how far apart they are."""
    some = np.sort(np.random.default_rng(0).choice(counts.shape[1], N_SAMPLED, replace=False))
    sampled = counts.tocsc()[:, some].tocsr()
    every = int(counts.max()) + 1  # no column is cut: each number of occurrences is a category
    found = []
    for title, X in (("tf-idf", tfidf), ("counts", counts)):
        found.append(
            raced(
                "`chi2` and p-values, in order",
                title,
                lambda X=X: in_order(*feature_selection.chi2(X, y)),
                lambda X=X: by_column(lineal.rank_features(X, y, "chi2")),
            )
        )
        found.append(
            raced(
                "`chi2`, the best 1,000",
                title,
                lambda X=X: best_of(feature_selection.SelectKBest(feature_selection.chi2, k=1000).fit(X, y)),
                lambda X=X: best_of(lineal.SelectBest("chi2", k=1000).fit(X, y)),
            )
        )
    theirs = lambda: feature_selection.mutual_info_classif(sampled, y, discrete_features=True)  # noqa: E731
    race = raced(
        "mutual information", "counts", theirs, lambda: information_gain(counts, y, max_values=every), some
    )
    race["sampled"] = N_SAMPLED / counts.shape[1]
    found.append(race)
    exact = counts.astype(np.float64)  # scikit-learn's sums of squares cancel in the precision of the data
    race = raced(
        "t² of one class (`f_classif`)",
        "counts",
        lambda: feature_selection.f_classif(exact, y == y[0])[0],
        lambda: t_statistic(exact, y == y[0]) ** 2,
    )
    return [*found, race]


def in_order(scores: Any, p_values: Any) -> Any:
    """scikit-learn's scores, after what it takes to rank the columns by them."""
    order = np.argsort(-scores, kind="stable")
    _ = scores[order], p_values[order]
    return scores


def by_column(ranking: Any) -> Any:
    """Scores in the order of the columns."""
    scores = np.empty(len(ranking))
    scores[ranking.columns] = ranking.scores
    return scores


def best_of(selector: Any) -> Any:
    """Scores of the columns that are kept, 0 elsewhere."""
    return np.where(selector.get_support(), selector.scores_, 0.0)


def raced(
    what: str, data: str, theirs: Callable[[], Any], ours: Callable[[], Any], columns: Any = slice(None)
) -> dict[str, Any]:
    """Both in turns."""
    print(f"{what}, {data}", flush=True)
    seconds: dict[str, list[float]] = {"scikit-learn": [], "lineal": []}
    scores: dict[str, Any] = {}
    for repeat in range(N_QUICK):
        for name, work in (("scikit-learn", theirs), ("lineal", ours)):
            if repeat >= N_REPEATS and max(times[0] for times in seconds.values()) > 1:
                continue
            taken, scores[name] = timed(work)
            seconds[name].append(taken)
    a, b = scores["scikit-learn"], scores["lineal"][columns]
    is_number = np.isfinite(a)  # scikit-learn gives NaN to columns that are empty or do not vary
    apart = float(np.max(np.abs(a - b)[is_number] / np.maximum(np.abs(a[is_number]), 1e-3)))
    print("  ", {name: min(times) for name, times in seconds.items()}, f"apart {apart:.1e}", flush=True)
    return {"what": what, "data": data, "seconds": seconds, "largest_difference": apart}


def kept(tfidf: Any, y: Any, tfidf_test: Any, y_test: Any) -> list[dict[str, Any]]:
    """Accuracy on the test texts with the best columns by some measures."""
    found = []
    whole, model = timed(lambda: lineal.LinearSVC().fit(tfidf, y))
    found.append(
        {"measure": "all columns", "accuracy": {str(tfidf.shape[1]): model.score(tfidf_test, y_test)}}
    )
    print("all columns", f"{whole:.2f} s", flush=True)
    for measure in FILTERS:
        k = (
            min(KEPT[-1], tfidf.shape[1])
            if measure != "conditional_mutual_information"
            else min(1000, tfidf.shape[1])
        )
        seconds, ranking = timed(lambda measure=measure, k=k: lineal.rank_features(tfidf, y, measure, k=k))
        accuracy = {}
        for n in KEPT:
            if n <= len(ranking):
                columns = np.sort(ranking.columns[:n])
                model = lineal.LinearSVC().fit(tfidf[:, columns], y)
                accuracy[str(n)] = model.score(tfidf_test[:, columns], y_test)
        print(measure, f"{seconds:.2f} s", accuracy, flush=True)
        found.append({"measure": measure, "seconds": seconds, "accuracy": accuracy})
    return found


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and what came of them."""
    gc.collect()
    began = time.perf_counter()
    made = work()
    return time.perf_counter() - began, made


def tables(records: dict[str, Any]) -> str:
    """Both markdown tables, and where they were measured."""
    lines = ["| scores | matrix | scikit-learn | lineal | times its speed |", "|---|---|---|---|---|"]
    for race in records["races"]:
        theirs, ours = (min(race["seconds"][who]) for who in ("scikit-learn", "lineal"))
        theirs /= race.get("sampled", 1.0)
        star = " ¹" if "sampled" in race else ""
        ratio = theirs / ours
        speed = f"{ratio:.1f}×" if ratio < 100 else f"{ratio:,.0f}×"
        lines.append(f"| {race['what']} | {race['data']} | {theirs:.3g} s{star} | {ours:.3f} s | {speed} |")
    n, d, stored, K = records["shape"]
    where, versions = records["machine"], records["versions"]
    threads = "1 thread" if records["n_threads"] == 1 else f"{records['n_threads']} threads"
    busy = where.get("others_busy")
    other = "" if busy is None else f", others busy with {busy:.0%} of them at the end"
    lines += [
        "",
        f"Words of the training texts of 20 Newsgroups: {n:,} rows, {d:,} columns, {stored:,} stored "
        f"numbers, {K} classes. Best of {N_QUICK} ({N_REPEATS} above a second), in turns, one process, "
        f"{threads} for Lineal, by `make bench-selection` on {where['cpu']}, "
        f"{where['n_cores']} cores{other}; {where['date']}; scikit-learn {versions['scikit-learn']}, "
        f"Python {versions['python']}.",
        f"¹ Measured on {N_SAMPLED:,} columns drawn at random and multiplied.",
        "",
        f"| columns kept by | {' | '.join(f'{k:,}' for k in KEPT)} | all | seconds to rank |",
        "|---" * (len(KEPT) + 3) + "|",
    ]
    for one in records["kept"]:
        cells = [f"{one['accuracy'][str(k)]:.3f}" if str(k) in one["accuracy"] else "" for k in (*KEPT, d)]
        seconds = f"{one['seconds']:.2f}" if "seconds" in one else ""
        name = one["measure"] if "seconds" not in one else f"`{one['measure']}`"
        lines.append(f"| {name} | {' | '.join(cells)} | {seconds} |")
    lines += ["", "Accuracy of `LinearSVC()` on the test texts, headers included, by tf-idf columns."]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
