"""Neighbours by another library: ``peers.py CONTENDER FOLDER K REPEATS``.

Reads points and queries from the folder, times fit and search together and apart, writes what it found beside
them and prints one line of JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

Search = Callable[[Any], tuple[np.ndarray, np.ndarray]]


def read(folder: Path, name: str) -> Any:
    sparse = folder / f"{name}.npz"
    return sp.load_npz(sparse).tocsr() if sparse.exists() else np.load(folder / f"{name}.npy")


def scikit_learn(X: Any, k: int, algorithm: str, metric: str, n_jobs: int) -> Search:
    from sklearn.neighbors import NearestNeighbors

    return (
        NearestNeighbors(n_neighbors=k, algorithm=algorithm, metric=metric, n_jobs=n_jobs).fit(X).kneighbors
    )


def faiss_flat(X: Any, k: int) -> Search:
    """Every point, in single precision; squared distances."""
    import faiss

    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X.astype(np.float32))

    def search(Q: Any) -> tuple[np.ndarray, np.ndarray]:
        squares, rows = index.search(Q.astype(np.float32), k)
        return np.sqrt(np.maximum(squares, 0.0)), rows

    return search


def builder(contender: str, metric: str, k: int) -> tuple[Callable[[Any], Search], str]:
    """How a contender makes its index, and the package it comes from."""
    library, _, option = contender.partition(", ")
    if library == "faiss":
        return lambda X: faiss_flat(X, k), "faiss-cpu"
    algorithm, _, jobs = option.partition(", ")
    n_jobs = int(jobs.removeprefix("n_jobs="))
    return lambda X: scikit_learn(X, k, algorithm, metric, n_jobs), "scikit-learn"


def main(contender: str, folder: Path, metric: str, k: int, n_repeats: int) -> None:
    X, Q = read(folder, "points"), read(folder, "queries")
    make, package = builder(contender, metric, k)
    make(X[:50])(Q[:5])  # imports
    fit, search = [], []
    for _ in range(n_repeats):
        began = time.perf_counter()
        find = make(X)
        fitted = time.perf_counter()
        distances, rows = find(Q)
        search.append(time.perf_counter() - fitted)
        fit.append(fitted - began)
    np.savez(folder / "found.npz", distances=distances, rows=rows)
    print(json.dumps({"fit": fit, "search": search, "version": f"{package} {version(package)}"}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
