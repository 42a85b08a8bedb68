"""A kernel machine by one library: ``worker.py CONTENDER FOLDER C GAMMA REPEATS``.

Reads rows, labels and queries from the folder, times fit and predict apart, writes what was learned beside
them and prints one line of JSON. Rows are brought to the contender's layout before the clock starts.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

PACKAGES = {"lineal": "lineal", "scikit-learn": "scikit-learn", "intelex": "scikit-learn-intelex"}


def machine(library: str, C: float, gamma: float) -> Any:
    """The library's machine, with its own tolerance and cache; equal votes go to the first class."""
    if library == "lineal":
        from lineal import SVC

        return SVC(C=C, gamma=gamma, kernel="rbf", break_ties=False)
    if library == "intelex":
        from sklearnex.svm import SVC
    else:
        from sklearn.svm import SVC
    return SVC(C=C, gamma=gamma, kernel="rbf")


def read(folder: Path, name: str, layout: str) -> Any:
    """Rows of float64 in C order, or CSR with indices of 32 bits, which LIBSVM wants."""
    X = sp.load_npz(folder / f"{name}.npz").tocsr()
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X if layout == "sparse" else np.ascontiguousarray(X.toarray())


def dense(matrix: Any) -> np.ndarray:
    """Coefficients of machines of sparse rows are sparse."""
    return np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix, dtype=np.float64)


def main(contender: str, folder: Path, C: float, gamma: float, n_repeats: int) -> None:
    """Fit, predict, tell."""
    library, _, layout = contender.partition(", ")
    X, Q, y = read(folder, "rows", layout), read(folder, "queries", layout), np.load(folder / "labels.npy")
    few = np.unique(y, return_index=True)[1]
    some = np.sort(np.concatenate([few, np.arange(min(200, len(y)))]))
    machine(library, C, gamma).fit(X[some], y[some]).predict(Q[:5])  # imports and thread pools
    fits, predictions = [], []
    for _ in range(n_repeats):
        began = time.perf_counter()
        model = machine(library, C, gamma).fit(X, y)
        fitted = time.perf_counter()
        labels = model.predict(Q)
        predictions.append(time.perf_counter() - fitted)
        fits.append(fitted - began)
    np.savez(
        folder / "learned.npz", dual=dense(model.dual_coef_), support=np.asarray(model.support_),
        n_support=np.asarray(model.n_support_), labels=labels,
    )  # fmt: skip
    told: dict[str, Any] = {"fit": fits, "predict": predictions, "n_support": len(model.support_)}
    told["version"] = f"{PACKAGES[library]} {version(PACKAGES[library])}"
    certificate = getattr(model, "certificate_", None)
    if certificate is not None:
        told["gap"] = max(each.relative_gap for each in model.certificates_)
        told["is_certified"] = bool(certificate.converged)
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]))
