"""What one model shows of itself to another: labels, probabilities, or the bins that they fall into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.compose.answers import places_of, probabilities_of
from lineal.deferred import sparse as sp
from lineal.learners.catalogue import Catalogue

OUTPUTS = ("labels", "probabilities", "binned")


def output_columns(outputs: str, part: Any, X: Any, known: Catalogue, n_bins: int) -> Any:
    """(n, K) or (n, K bins) columns that say what a part answers; sparse where most of them are 0."""
    K = len(known)
    if outputs == "probabilities":
        return probabilities_of(part, X, known)
    if outputs == "labels":
        return _ones(places_of(part, X, known)[:, None], K + 1)[:, :K]  # without those that it refused
    bins = bin_places(probabilities_of(part, X, known), n_bins)
    return _ones(bins + n_bins * np.arange(K), K * n_bins)


def bin_places(p: Any, n_bins: int) -> NDArray[np.intp]:
    """Which of the bins [0, 1/b), [1/b, 2/b) ... [1 - 1/b, 1] each probability lies in."""
    edges = np.arange(1, n_bins) / n_bins
    return np.searchsorted(edges, p, side="right")


def named_outputs(outputs: str, models: Sequence[str], classes: NDArray[Any], n_bins: int) -> list[str]:
    """The names of the columns: ``y_B=sports``, ``P(y_B=sports)``, ``P(y_B=sports) in [0.6, 0.7)``."""
    names = []
    for model in models:
        for label in classes.tolist():
            whole = f"y_{model}={label}"
            if outputs == "binned":
                names += [f"P({whole}) in {_interval(k, n_bins)}" for k in range(n_bins)]
            else:
                names.append(whole if outputs == "labels" else f"P({whole})")
    return names


def _interval(k: int, n_bins: int) -> str:
    return f"[{k / n_bins:g}, {(k + 1) / n_bins:g}{']' if k + 1 == n_bins else ')'}"


def _ones(places: NDArray[np.intp], width: int) -> sp.csr_array:
    """Rows with a 1 in each of their places, which are in order."""
    n, each = places.shape
    starts = np.arange(0, n * each + 1, each)
    return sp.csr_array((np.ones(n * each), places.ravel(), starts), shape=(n, width))
