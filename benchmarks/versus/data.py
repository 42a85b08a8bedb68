"""The matrices every contender is given: made once, cached, the same bytes for all, and as users have them.

Nothing is put right before the clock starts. scikit-learn's vectoriser leaves the columns of a row in the
order in which a text first used them, and ``load_svmlight_file`` gives 64-bit indices; whoever minds pays.

Real data comes from the shared folder through its own ``unpack``; a machine without it gets random
matrices of the same shape, so that the harness runs everywhere. A stand-in is marked as such in every
result: its times say something about sizes and nothing about the published figures.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

HERE = Path(__file__).resolve().parent
CACHE = HERE / "cache"
UNPACK = HERE.parents[2] / "shared" / "data" / "unpack"
SEED = 20_240_601


@dataclass(frozen=True)
class Source:
    """Where a matrix comes from, and the shape a stand-in must have."""

    folder: str
    file: str
    n_rows: int
    n_columns: int
    per_row: int
    n_classes: int


SOURCES = {
    "imdb": Source("imdb", "train.jsonl", 25_000, 438_636, 308, 2),
    "20newsgroups": Source("20newsgroups", "train.jsonl", 11_314, 385_513, 345, 20),
    "sector": Source("libsvm", "sector.scale.svm", 6_412, 55_197, 163, 105),
    "a9a": Source("libsvm", "a9a.svm", 32_561, 123, 14, 2),
    "ijcnn1": Source("libsvm", "ijcnn1.svm", 49_990, 22, 13, 2),
}


@dataclass(frozen=True)
class Description:
    """What the results say about a matrix."""

    name: str
    origin: str  # "real" or "stand-in"
    n_rows: int
    n_columns: int
    n_nonzeros: int
    n_classes: int


def prepare(name: str) -> Description:
    """Make sure the cache holds the matrix, and describe it."""
    found = _find(SOURCES[name])
    origin = "real" if found else "stand-in"
    matrix_path, labels_path, about_path = _paths(name, origin)
    if not about_path.exists():
        X, y = _read(found) if found else _stand_in(SOURCES[name])
        CACHE.mkdir(parents=True, exist_ok=True)
        np.savez(matrix_path, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape)
        np.save(labels_path, y)
        about = Description(name, origin, X.shape[0], X.shape[1], X.nnz, len(np.unique(y)))
        about_path.write_text(json.dumps(asdict(about)))
    return Description(**json.loads(about_path.read_text()))


def load(name: str, origin: str, fraction: float = 1.0) -> tuple[sp.csr_matrix, np.ndarray]:
    """The cached matrix and labels; a fraction takes a random part of the rows in their own order.

    Random because IMDB's file is sorted by class: its first quarter has one class only.
    """
    matrix_path, labels_path, _ = _paths(name, origin)
    with np.load(matrix_path) as kept:
        X, y = _as_given(kept["data"], kept["indices"], kept["indptr"], kept["shape"]), np.load(labels_path)
    if fraction < 1.0:
        order = np.random.default_rng(SEED).permutation(X.shape[0])
        rows = np.sort(order[: round(fraction * X.shape[0])])
        part = X[rows]
        X = _as_given(
            part.data, *(array.astype(X.indices.dtype) for array in (part.indices, part.indptr)), part.shape
        )
        y = y[rows]
    return X, y


def _as_given(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: tuple) -> sp.csr_matrix:
    """These very arrays; SciPy's constructor would make 32 bits of the indices."""
    X = sp.csr_matrix(tuple(int(extent) for extent in shape), dtype=data.dtype)
    X.data, X.indices, X.indptr = data, indices, indptr
    return X


def _paths(name: str, origin: str) -> tuple[Path, Path, Path]:
    stem = CACHE / f"{name}-{origin}-as-given"
    return stem.with_suffix(".npz"), stem.with_suffix(".npy"), stem.with_suffix(".json")


def _find(source: Source) -> Path | None:
    default = Path.home() / ".cache" / "lineal-data"
    folder = Path(os.environ.get("LINEAL_DATA") or default)
    if UNPACK.exists():
        command = [sys.executable, str(UNPACK), source.folder, "--to", str(folder)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    path = folder / source.folder / source.file
    return path if path.exists() else None


def _read(path: Path) -> tuple[sp.csr_matrix, np.ndarray]:
    # scikit-learn is slow to import and needed only when the cache is cold.
    if path.suffix == ".jsonl":
        from sklearn.feature_extraction.text import TfidfVectorizer

        with path.open(encoding="utf-8") as lines:
            records = [json.loads(line) for line in lines]
        vectorizer = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
        X = vectorizer.fit_transform(record["text"] for record in records)
        labels = np.array([record["label"] for record in records])
    else:
        from sklearn.datasets import load_svmlight_file

        X, labels = load_svmlight_file(str(path))
    return X, _encode(labels)


def _stand_in(source: Source) -> tuple[sp.csr_matrix, np.ndarray]:
    """Rows of unit length with Zipf columns, labelled by a noisy random linear teacher."""
    rng = np.random.default_rng(SEED)
    weight = 1.0 / np.arange(1, source.n_columns + 1)
    n_entries = source.n_rows * source.per_row
    column = rng.choice(source.n_columns, size=n_entries, p=weight / weight.sum())
    row = np.repeat(np.arange(source.n_rows), source.per_row)
    X = sp.csr_matrix((rng.uniform(0.1, 1.0, n_entries), (row, column)))
    X.resize(source.n_rows, source.n_columns)
    length = np.sqrt(X.multiply(X).sum(axis=1)).A1
    X = sp.csr_matrix(sp.diags(1.0 / length) @ X)
    score = X @ rng.normal(size=(source.n_columns, source.n_classes))
    score = (score - score.mean(axis=0)) / score.std(axis=0)  # else the first columns decide alone
    score += 0.3 * rng.normal(size=score.shape)
    return _like_real(X, source, rng), _encode(score.argmax(axis=1))


def _like_real(X: sp.csr_matrix, source: Source, rng: np.random.Generator) -> sp.csr_matrix:
    """In the form that real data have: texts in no order, or 64-bit indices from a file."""
    X.sum_duplicates()
    if not source.file.endswith(".jsonl"):
        return _as_given(X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64), X.shape)
    order = np.lexsort((rng.random(X.nnz), np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))))
    indices, indptr = X.indices[order].astype(np.int32), X.indptr.astype(np.int32)
    return _as_given(X.data[order], indices, indptr, X.shape)


def _encode(labels: np.ndarray) -> np.ndarray:
    """-1 and +1 for two classes, 0..K-1 for more: the numbers every peer accepts."""
    classes, code = np.unique(labels, return_inverse=True)
    return 2 * code - 1 if len(classes) == 2 else code
