"""The data that contenders meet: made from a seed, in groups of five columns that resemble each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

SIZE = 5
SEED = 20


class Shape(NamedTuple):
    """How large, and how full."""

    title: str
    n_rows: int
    n_columns: int
    density: float


SHAPES = {
    "wide": Shape("dense, 2,000 x 5,000", 2_000, 5_000, 1.0),
    "tall": Shape("dense, 20,000 x 500", 20_000, 500, 1.0),
    "sparse": Shape("sparse, 20,000 x 20,000, 0.2 %", 20_000, 20_000, 0.002),
}


def make(name: str) -> tuple[Any, np.ndarray]:
    """X and numbers to be explained; one group in twenty has a part in them."""
    shape, rng = SHAPES[name], np.random.default_rng(SEED)
    n, d = shape.n_rows, shape.n_columns
    n_groups = d // SIZE
    if shape.density < 1:
        X = sp.random_array((n, d), density=shape.density, format="csc", rng=rng, data_sampler=rng.normal)
    else:
        # Half of a column's variance is its group's.
        X = np.sqrt(0.5) * rng.normal(size=(n, d))
        X += np.repeat(np.sqrt(0.5) * rng.normal(size=(n, n_groups)), SIZE, axis=1)
    w = np.zeros(d)
    chosen = rng.choice(n_groups, n_groups // 20, replace=False)
    w[(chosen[:, None] * SIZE + np.arange(SIZE)).ravel()] = rng.normal(size=SIZE * len(chosen))
    signal = X @ w
    return X, signal + rng.normal(size=n) * signal.std()


def save(name: str, folder: Path) -> Path:
    """The same in files that every interpreter reads; returns their stem."""
    stem = folder / f"groups-{name}"
    if not stem.with_suffix(".y.npy").exists():
        folder.mkdir(parents=True, exist_ok=True)
        X, y = make(name)
        sp.save_npz(stem.with_suffix(".npz"), X) if sp.issparse(X) else np.save(stem.with_suffix(".npy"), X)
        np.save(stem.with_suffix(".y.npy"), y)
    return stem


def load(stem: Path) -> tuple[Any, np.ndarray]:
    """What was saved: an array or a sparse matrix, and the numbers."""
    y = np.load(stem.with_suffix(".y.npy"))
    if stem.with_suffix(".npz").exists():
        return sp.load_npz(stem.with_suffix(".npz")), y
    return np.load(stem.with_suffix(".npy")), y


def targets(kind: str, y: np.ndarray) -> np.ndarray:
    """Numbers for least squares, signs for the logistic loss."""
    return y if kind == "squared" else np.where(y > 0, 1.0, -1.0)


def objective(kind: str, X: Any, y: np.ndarray, W: np.ndarray, strengths: np.ndarray) -> np.ndarray:
    """(n,) the sum of losses and strength * sqrt(5) * sum of norms, a row of W for each strength."""
    Z, t = X @ W.T, targets(kind, y)[:, None]
    losses = 0.5 * (Z - t) ** 2 if kind == "squared" else np.logaddexp(0, -t * Z)
    norms = np.sqrt((W.reshape(len(W), -1, SIZE) ** 2).sum(axis=2)).sum(axis=1)
    return losses.sum(axis=0) + strengths * np.sqrt(SIZE) * norms
