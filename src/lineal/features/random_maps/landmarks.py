"""Landmarks: a few rows that stand for all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.kernels import Kernel
from lineal.kernels.blocks import value_blocks, values
from lineal.objective.losses import FloatArray

RULES = ("uniform", "kmeans++", "leverage")
Places = NDArray[np.int64]


def chosen(
    rule: str, kernel: Kernel, items: Any, n_landmarks: int, rng: np.random.Generator, n_threads: int
) -> Places:
    """Different rows, in the order in which they were drawn; fewer where the kernel tells fewer apart."""
    n = kernel.size(items)
    if rule == "kmeans++":
        return _far_apart(kernel, items, min(n, n_landmarks), rng, n_threads)
    if rule == "leverage" and n_landmarks < n:
        scores = _leverages(kernel, items, n_landmarks, rng, n_threads)
        return _drawn(scores, n_landmarks, rng)
    return rng.choice(n, min(n, n_landmarks), replace=False).astype(np.int64)


def _far_apart(
    kernel: Kernel, items: Any, n_landmarks: int, rng: np.random.Generator, n_threads: int
) -> Places:
    """k-means++ (Arthur and Vassilvitskii 2007) in the kernel's space.

    Each is drawn with a probability in proportion to the squared distance from the nearest one before it.
    """
    lengths = kernel.compute_diagonal(items)
    places = [int(rng.integers(len(lengths)))]
    nearest = np.full(len(lengths), np.inf)
    for _ in range(n_landmarks - 1):
        last = places[-1]
        one = kernel.take(items, np.array([last]))
        K = np.concatenate([block[:, 0] for _, block in value_blocks(kernel, items, one, n_threads)])
        nearest = np.minimum(nearest, np.maximum(lengths + lengths[last] - 2 * K, 0.0))
        nearest[places] = 0.0
        total = nearest.sum()
        # What is left is rounding: every row equals a landmark.
        if not total > 1e-14 * max(float(lengths.sum()), 1e-300):
            break
        places.append(int(rng.choice(len(lengths), p=nearest / total)))
    return np.array(places, dtype=np.int64)


def _leverages(
    kernel: Kernel, items: Any, n_landmarks: int, rng: np.random.Generator, n_threads: int
) -> FloatArray:
    """Ridge leverage scores k_i'(K + lam I)^-1 e_i, estimated from a uniform pilot sample.

    (k(x, x) - k_xS (K_SS + lam p / n I)^-1 k_Sx) / lam over p pilots S (Alaoui and Mahoney 2015); lam is the
    mean of the eigenvalues that so many landmarks leave out, estimated from the pilots too.
    """
    n = kernel.size(items)
    size = min(n, 2 * n_landmarks)
    pilots = kernel.take(items, rng.choice(n, size, replace=False))
    K = values(kernel, pilots, None, n_threads)
    share = size / n
    spectrum = np.linalg.eigvalsh(K)[::-1] / share
    ridge = max(float(spectrum[n_landmarks:].sum()) / n_landmarks, 1e-10 * float(spectrum[0]), 1e-300)
    inverse = np.linalg.inv(K + share * ridge * np.eye(size))
    lengths = kernel.compute_diagonal(items)
    scores = np.empty(n)
    for rows, block in value_blocks(kernel, items, pilots, n_threads):
        scores[rows] = lengths[rows] - np.einsum("ij,ij->i", block @ inverse, block)
    return np.clip(scores / ridge, 0.0, 1.0)


def _drawn(scores: FloatArray, n_landmarks: int, rng: np.random.Generator) -> Places:
    """Different rows with probabilities in proportion to their scores; those without a score come last."""
    n_positive = int(np.count_nonzero(scores))
    first = rng.choice(len(scores), min(n_landmarks, n_positive), replace=False, p=scores / scores.sum())
    if len(first) == n_landmarks:
        return first.astype(np.int64)
    others = np.flatnonzero(scores == 0)
    return np.concatenate([first, rng.choice(others, n_landmarks - len(first), replace=False)]).astype(
        np.int64
    )
