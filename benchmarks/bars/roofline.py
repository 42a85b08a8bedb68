"""Bytes a second of our passes beside a plain loop over the same memory, on the matrix of IMDB.

    python benchmarks/bars/roofline.py

A pass over a CSR matrix moves an index and a value for each stored number; weights, which are met at random
places, are not counted. The plain loop adds up the same arrays as whole numbers, which is as fast as memory
is; the gather fetches the weight of every stored column and does nothing with it. Where IMDB is absent a
stand-in of its shape is measured, which is said. Records go to ``results/roofline.json``, the table to
docs/performance.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path += [str(HERE), str(ROOT / "benchmarks" / "versus"), str(ROOT / "benchmarks" / "text")]

from data import load, prepare  # noqa: E402
from environment import machine  # noqa: E402

from lineal import TextVectorizer, _core  # noqa: E402

RESULTS, PAGE = HERE / "results" / "roofline.json", ROOT / "docs" / "performance.md"
N_REPEATS = 7
THREADS = (1, 2)


def passes(dtype: Any) -> dict[str, Any]:
    """Bytes and seconds of every pass over the matrix with values of this type."""
    about = prepare("imdb")
    X, y = load("imdb", about.origin)
    X.sort_indices()  # the passes are looked at alone, without what comes before them
    start, index, value = X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data.astype(dtype)
    n, d = X.shape
    matrix = _core.Matrix.from_csr(start, index, value, d, X)
    n_bytes = index.nbytes + value.nbytes + start.nbytes
    w, z, u, v = (np.zeros((size, 1)) for size in (d, n, n, d))
    w[:], u[:] = 0.5, 0.5
    runs: dict[str, dict[int, Callable[[], Any]]] = {
        "plain loop": {k: lambda k=k: plain((index, value), k) for k in THREADS},
        "gather of weights": {1: lambda: np.take(w[:, 0], index, out=room, mode="clip")},
        "X w": {k: lambda k=k: matrix.dot(w, z, k) for k in THREADS},
        "X'u": {k: lambda k=k: matrix.adjoint(u, v, k) for k in THREADS},
        "epoch of dual_cd, hinge": {k: epoch_of(matrix, y, k) for k in THREADS},
    }
    room = np.zeros(len(index))
    found = {name: {str(k): timed(run) for k, run in each.items()} for name, each in runs.items()}
    return {"n_bytes": n_bytes, "n_stored": int(X.nnz), "origin": about.origin, "seconds": found}


def plain(arrays: tuple[np.ndarray, ...], n_threads: int) -> None:
    """Adds up the bytes of arrays, eight at a time; threads share each array."""
    numbers = [a[: len(a) // 2 * 2].view(np.int64) for a in arrays]
    if n_threads == 1:
        for each in numbers:
            each.sum()
        return
    parts = [part for each in numbers for part in np.array_split(each, n_threads)]
    list(_POOL.map(np.sum, parts))


_POOL = ThreadPoolExecutor(max(THREADS))


def epoch_of(matrix: Any, y: np.ndarray, n_threads: int) -> Callable[[], Any]:
    """The first epoch from nothing, which visits every row; what it begins with is made outside the clock."""
    n, d = matrix.n_rows, matrix.n_columns
    norms = matrix.squared_norms(n_threads)
    settings = _core.DualSettings(1.0, 0.0, 0.0, False)
    labels, weights = y.astype(np.float64), np.ones(n)

    def prepared() -> Callable[[], Any]:
        run = _core.DualRun(matrix, 1, 0, n_threads)
        u, t = np.zeros(n), np.zeros(d)
        return lambda: _core.dual_cd_epoch(
            _core.Hinge(1.0), matrix, labels, weights, norms, settings, run, u, t, 0.0
        )

    prepared.is_prepared = True  # type: ignore[attr-defined]
    return prepared


def timed(run: Callable[[], Any]) -> list[float]:
    """Seconds of several repeats."""
    seconds = []
    for _ in range(N_REPEATS):
        work = run() if getattr(run, "is_prepared", False) else run
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return seconds


def texts() -> dict[str, Any]:
    """Bytes of text a second: hashed, and to tf-idf."""
    from sets import AbsentError, read

    try:
        given, origin = read("imdb").texts, "real"
    except AbsentError:
        from generated import texts as generated

        given, origin = [text for text, _ in generated(25_000, 230.0)], "stand-in"
    encoded = np.frombuffer("".join(given).encode(), dtype=np.uint8)
    encoded = encoded[: len(encoded) // 8 * 8].view(np.int64)
    hashed = {"n_features": 2**20, "weighting": "counts", "sublinear": False}
    runs: dict[str, dict[int, Callable[[], Any]]] = {
        "plain loop over the text": {1: encoded.sum},
        "words and pairs, hashed": {
            k: lambda k=k: TextVectorizer(**hashed, n_threads=k).transform(given) for k in THREADS
        },
        "words and pairs, tf-idf": {
            k: lambda k=k: TextVectorizer(ngrams=(1, 2), min_df=2, n_threads=k).fit_transform(given)
            for k in THREADS
        },
    }
    found = {name: {str(k): timed(run) for k, run in each.items()} for name, each in runs.items()}
    return {"n_bytes": sum(len(text.encode()) for text in given), "origin": origin, "seconds": found}


def table(record: dict[str, Any]) -> str:
    """GB a second, and which share of the plain loop's that is."""
    lines = [
        "| over | pass | bytes | 1 thread | of the plain loop | 2 threads | of the plain loop |",
        "|---" * 7 + "|",
    ]
    for title, part in record["parts"].items():
        plain_loop = next(iter(part["seconds"].values()))
        for name, by_threads in part["seconds"].items():
            cells = [title, name, f"{part['n_bytes'] / 1e6:.0f} MB"]
            for k in ("1", "2"):
                if k not in by_threads:
                    cells += ["–", "–"]
                    continue
                best = min(by_threads[k])
                base = min(plain_loop[k]) if k in plain_loop else None
                cells += [_rate(part["n_bytes"] / best), "–" if base is None else f"{base / best:.0%}"]
            lines.append(f"| {' | '.join(cells)} |")
    about = record["machine"]
    made_up = any(part["origin"] != "real" for part in record["parts"].values())
    return "\n".join(lines) + (
        f"\n\nBest of {N_REPEATS}. {'**Random stand-ins, not the data.** ' if made_up else ''}"
        f"Written by `make bench-roofline` on {about['cpu']}, {about['n_cores']} cores, "
        f"{about['date']}; raw figures in "
        "[roofline.json](../benchmarks/bars/results/roofline.json)."
    )


def _rate(bytes_a_second: float) -> str:
    return f"{bytes_a_second / 1e9:.2f} GB/s"


def main() -> None:
    """Measure, keep, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keep", type=Path, help="keep the records in this file, and write on no page")
    options = parser.parse_args()
    record = {
        "machine": machine(),
        "lineal": version("lineal"),
        "parts": {
            "IMDB, float64": passes(np.float64),
            "IMDB, float32": passes(np.float32),
            "IMDB, texts": texts(),
        },
    }
    print(table(record))
    is_real = all(part["origin"] == "real" for part in record["parts"].values())
    kept = options.keep or (RESULTS if is_real else ROOT / "build" / "bench" / "roofline.json")
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(record, indent=1) + "\n")
    if kept == RESULTS:
        from tables import between

        PAGE.write_text(
            between(PAGE.read_text(encoding="utf-8"), "roofline", table(record)), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
