"""MQ2008 ranked: RankSVM, the same machine with a logistic loss, and a pointwise ridge, on LETOR's folds.

Scores are those of LETOR 4.0's own script (``lineal.evaluation.evaluate_letor``). C is chosen on the
validation part of each fold by MAP, from powers of ten. Fold 1 is as it was published; its files hold all
queries, in the order of LETOR's five parts, so that the other folds are made of them: parts k, k + 1 and
k + 2 to learn from, k + 3 to choose C on, k + 4 to test. Records go to ``results/ranking.json``, the table to
docs/ranking.md.

    python benchmarks/ranking/run.py [--folds N]      N < 5: a try, which keeps nothing
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path += [str(ROOT / "benchmarks" / "versus")]

from environment import machine  # noqa: E402

import lineal  # noqa: E402
from lineal.data.records import read_records  # noqa: E402
from lineal.evaluation import evaluate_letor  # noqa: E402
from lineal.objective import Hinge, Log, SquaredHinge  # noqa: E402

DATA = Path(os.environ.get("LINEAL_DATA", Path.home() / ".cache" / "lineal-data")) / "mq2008" / "Fold1"
RESULTS, PAGE = HERE / "results" / "ranking.json", ROOT / "docs" / "ranking.md"
BEGIN, END = "<!-- ranking:begin -->", "<!-- ranking:end -->"
PART = 157  # queries in each of LETOR's five parts; the last has 156
GRID = [10.0**k for k in range(-5, 4)]
MEASURES = ("map", "ndcg_at_k", "mean_ndcg", "precision_at_k")

CONTENDERS: dict[str, Callable[[float], Any]] = {
    "RankSVM": lambda C: lineal.RankSVM(C, loss=Hinge()),
    "RankSVM, every query the same": lambda C: lineal.RankSVM(100 * C, loss=Hinge(), weighting="queries"),
    "pairwise squared hinge": lambda C: lineal.RankSVM(C, loss=SquaredHinge()),
    "pairwise logistic": lambda C: lineal.RankSVM(C, loss=Log()),
    "pointwise ridge": lambda C: lineal.Ridge(alpha=1 / C),
}


def main() -> None:
    """Measure, keep the records, fill the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folds", type=int, default=5, help="so many folds; fewer than 5 keep nothing")
    options = parser.parse_args()
    X, y, queries = read()
    records = {
        "machine": machine(),
        "versions": {"python": platform.python_version()}
        | {package: version(package) for package in ("lineal", "numpy", "scipy")},
        "shape": [*X.shape, len(np.unique(queries))],
        "grid": GRID,
        "results": {
            name: [judged(make, X, y, queries, fold) for fold in range(options.folds)]
            for name, make in CONTENDERS.items()
        },
    }
    print(table(records))
    if options.folds == 5:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(records, indent=1) + "\n")
        page = PAGE.read_text(encoding="utf-8")
        filled = re.sub(f"(?s){BEGIN}.*{END}", lambda _: f"{BEGIN}\n{table(records)}\n{END}", page)
        PAGE.write_text(filled, encoding="utf-8")


def read() -> tuple[Any, Any, Any]:
    """All rows, grades and queries, in the order of LETOR's parts."""
    rows = [read_records(DATA / f"{part}.txt", n_columns=46).rows for part in ("train", "vali", "test")]
    X = np.vstack([one.to_scipy().toarray() for one in rows])
    return X, *(np.concatenate([getattr(one, name) for one in rows]) for name in ("labels", "queries"))


def judged(make: Callable[[float], Any], X: Any, y: Any, queries: Any, fold: int) -> dict[str, Any]:
    """C chosen on the validation part, and the scores of that model on the test part."""
    names = np.unique(queries)
    parts = [np.isin(queries, names[k * PART : (k + 1) * PART]) for k in range(5)]
    learn = parts[fold] | parts[(fold + 1) % 5] | parts[(fold + 2) % 5]
    choose, test = parts[(fold + 3) % 5], parts[(fold + 4) % 5]
    found = []
    for C in GRID:
        model = make(C)
        data = {"groups": queries[learn]} if isinstance(model, lineal.RankSVM) else {}
        model.fit(X[learn], y[learn], **data)
        scored = evaluate_letor(model.predict(X[choose]), y[choose], queries[choose], n_resamples=10)
        found.append((scored["map"].value, C, model))
    best, C, model = max(found, key=lambda one: one[0])
    scored = evaluate_letor(model.predict(X[test]), y[test], queries[test])
    gaps = [float(one[2].certificate_.relative_gap) for one in found]
    return {
        "C": C,
        "validation_map": best,
        "scores": {name: [scored[name].value, scored[name].low, scored[name].high] for name in MEASURES},
        "largest_gap": max(gaps),
    }


def table(records: dict[str, Any]) -> str:
    """The page's table."""
    lines = [
        "| | C, fold 1 | MAP, fold 1 | NDCG@10, fold 1 | MAP, mean | NDCG@10, mean |",
        "|---|---|---|---|---|---|",
    ]
    for name, folds in records["results"].items():
        first = folds[0]
        cells = [name, f"{first['C']:g}"]
        for measure in ("map", "ndcg_at_k"):
            value, low, high = first["scores"][measure]
            cells.append(f"{value:.4f} ({low:.3f} .. {high:.3f})")
        cells += [
            f"{np.mean([fold['scores'][measure][0] for fold in folds]):.4f}"
            for measure in ("map", "ndcg_at_k")
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines.append("| published RankSVM | | | | 0.47 | 0.23 |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
