"""Exact nearest neighbours against scikit-learn and faiss: the same points, the same queries, in one run.

Run it with the interpreter that holds lineal; the peers have an environment of their own. Every time is the
best of three, of building the index and of the search for the 10 nearest of every query, with all threads
that a library will take. What others find is compared with ours. Records go to ``results/neighbors.json``,
the table to docs/neighbors.md.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path += [str(ROOT / "benchmarks" / "versus"), str(ROOT / "benchmarks" / "text")]

from environment import machine, peers_python  # noqa: E402
from sets import AbsentError, path_of, read  # noqa: E402

from lineal import KNeighborsRegressor  # noqa: E402

K, N_REPEATS = 10, 3
RESULTS = HERE / "results" / "neighbors.json"
PAGE, BEGIN, END = ROOT / "docs" / "neighbors.md", "<!-- neighbors:begin -->", "<!-- neighbors:end -->"
# Distances that differ by less are ties to a library in single precision.
ROOM = 1e-5


@dataclass(frozen=True)
class Work:
    """Points, queries, a metric, and who is asked."""

    title: str
    metric: str
    data: Callable[[], tuple[Any, Any]]
    ours: tuple[str, ...]
    peers: tuple[str, ...]


def newsgroups() -> tuple[Any, Any]:
    """tf-idf of words, as scikit-learn's vectoriser makes it by default."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer()
    X = vectorizer.fit_transform(read("20newsgroups").texts)
    return X, vectorizer.transform(read("20newsgroups", "test").texts)


def letters() -> tuple[Any, Any]:
    from sklearn.datasets import load_svmlight_file

    X, _ = load_svmlight_file(str(path_of("libsvm", "letter.scale.svm")), n_features=16)
    Q, _ = load_svmlight_file(str(path_of("libsvm", "letter.scale.t.svm")), n_features=16)
    return X.toarray(), Q.toarray()


def normals(n: int, d: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), rng.normal(size=(2000, d))


SCIKIT_LEARN = tuple(f"scikit-learn, {how}" for how in ("brute, n_jobs=1", "brute, n_jobs=-1"))
TREES = ("scikit-learn, kd_tree, n_jobs=-1",)
WORKS = (
    Work("20 Newsgroups, tf-idf, cosine", "cosine", newsgroups, ("auto",), SCIKIT_LEARN),
    Work(
        "letter.scale, 16 columns", "euclidean", letters, ("auto", "kd_tree"),
        (*SCIKIT_LEARN, *TREES, "faiss, flat"),
    ),
    Work(
        "normal numbers, 3 columns", "euclidean", lambda: normals(100_000, 3), ("auto",),
        (*TREES, "faiss, flat"),
    ),
    Work(
        "normal numbers, 128 columns", "euclidean", lambda: normals(20_000, 128), ("auto",),
        (*SCIKIT_LEARN[1:], "faiss, flat"),
    ),
)  # fmt: skip


def main() -> None:
    """Measure every work whose data are there, keep the records, fill the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", type=int, help="the first so many works; keeps nothing")
    parser.add_argument("--rows", type=int, help="about so many points and queries; keeps nothing")
    parser.add_argument("--keep", type=Path, help="keep the records in this file, and write on no page")
    options = parser.parse_args()
    records: dict[str, Any] = {"machine": machine(), "k": K, "lineal": version("lineal"), "works": {}}
    for work in WORKS[: options.only]:
        print(work.title, flush=True)
        try:
            X, Q = work.data()
        except AbsentError as reason:
            print(f"  skipped: {reason}", flush=True)
            continue
        records["works"][work.title] = measured(work, evenly(X, options.rows), evenly(Q, options.rows))
    if kept := options.keep or (None if options.only or options.rows else RESULTS):
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(records, indent=1) + "\n")
    if kept == RESULTS:
        text = PAGE.read_text()
        PAGE.write_text(re.sub(f"(?s){BEGIN}.*{END}", lambda _: f"{BEGIN}\n{table(records)}\n{END}", text))
    print(table(records))


def evenly(X: Any, n_most: int | None) -> Any:
    return X[:: max(X.shape[0] // n_most, 1)] if n_most else X


def measured(work: Work, X: Any, Q: Any) -> dict[str, Any]:
    folder = HERE / "cache" / re.sub(r"\W+", "-", work.title)
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in (("points", X), ("queries", Q)):
        sp.save_npz(folder / f"{name}.npz", data) if sp.issparse(data) else np.save(
            folder / f"{name}.npy", data
        )
    found: dict[str, Any] = {}
    for algorithm in work.ours:
        name = f"lineal, {algorithm}"
        found[name], neighbors = ours(work, algorithm, X, Q)
        tell(name, found[name])
    for contender in work.peers:
        request = [contender, str(folder), work.metric, str(K), str(N_REPEATS)]
        command = [str(peers_python()), "-W", "ignore", str(HERE / "peers.py"), *request]
        answer = subprocess.run(command, capture_output=True, text=True)
        if answer.returncode:
            found[contender] = {"note": answer.stderr.strip().splitlines()[-1][:200]}
            continue
        found[contender] = json.loads(answer.stdout.splitlines()[-1])
        with np.load(folder / "found.npz") as theirs:
            found[contender] |= compared(neighbors, (theirs["distances"], theirs["rows"]))
        tell(contender, found[contender])
    return {"n_points": X.shape[0], "n_columns": X.shape[1], "n_queries": Q.shape[0], "found": found}


def ours(work: Work, algorithm: str, X: Any, Q: Any) -> tuple[dict[str, Any], Any]:
    fit, search = [], []
    model = KNeighborsRegressor(K, metric=work.metric, algorithm=algorithm)
    targets = np.zeros(X.shape[0])
    for _ in range(N_REPEATS):
        began = time.perf_counter()
        model.fit(X, targets)
        model.kneighbors(Q[:1])  # the index is built when it is first asked
        fitted = time.perf_counter()
        neighbors = model.kneighbors(Q)
        search.append(time.perf_counter() - fitted)
        fit.append(fitted - began)
    return {"fit": fit, "search": search, "plan": model.plan_}, neighbors


def compared(ours: Any, theirs: Any) -> dict[str, float]:
    """How many neighbours are the same row, how many are it or tie with it, and how far distances differ."""
    is_row = ours[1] == theirs[1]
    difference = np.abs(ours[0] - theirs[0])
    ties = is_row | (difference <= ROOM)
    return {
        "same": float(is_row.mean()),
        "same_or_tied": float(ties.mean()),
        "difference": float(difference.max()),
    }


def tell(name: str, one: dict[str, Any]) -> None:
    print(f"  {name}: fit {min(one['fit']):.3f} s, search {min(one['search']):.3f} s", flush=True)


def table(records: dict[str, Any]) -> str:
    """The markdown table, and what it was measured on."""
    lines = [
        "| data | contender | build | search | times ours | same rows | or tied |",
        "|---|---|---|---|---|---|---|",
    ]
    versions = {f"lineal {records['lineal']}"}
    for title, work in records["works"].items():
        base = next(min(one["fit"]) + min(one["search"]) for one in work["found"].values())
        for name, one in work["found"].items():
            if "note" in one:
                lines.append(f"| {title} | {name} | {one['note']} | | | | |")
                continue
            whole = min(one["fit"]) + min(one["search"])
            same = f"{one['same']:.2%} | {one['same_or_tied']:.2%}" if "same" in one else "| "
            times = f"{min(one['fit']):.3f} s | {min(one['search']):.3f} s | {whole / base:.1f}"
            lines.append(f"| {title} | {name} | {times} | {same} |")
            versions |= {one["version"]} if "version" in one else set()
    sizes = "; ".join(
        f"{title}: {work['n_points']:,} points, {work['n_columns']:,} columns, {work['n_queries']:,} queries"
        for title, work in records["works"].items()
    )
    about = records["machine"]
    busy = f", {about['others_busy']:.0%} busy with other work as it began" if about["others_busy"] else ""
    return "\n".join(lines) + (
        f"\n\nSeconds, best of {N_REPEATS}, for the {records['k']} nearest of every query. {sizes}. "
        f"{', '.join(sorted(versions))}; {about['cpu']}, {about['n_cores']} cores, {about['date']}{busy}."
    )


if __name__ == "__main__":
    main()
