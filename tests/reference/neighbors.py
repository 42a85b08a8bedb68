"""Nearest neighbours the slow way: every distance, then a stable sort."""

import numpy as np


def euclidean(X, Q):
    """Distances of queries to points, summed over the columns in order."""
    S = np.zeros((len(Q), len(X)))
    for j in range(X.shape[1]):
        S += (Q[:, j, None] - X[None, :, j]) ** 2
    return np.sqrt(S)


def unit_rows(X):
    """Rows of length 1, and zeros; squares are summed in order."""
    squares = np.zeros(len(X))
    for j in range(X.shape[1]):
        squares += X[:, j] ** 2
    return X / np.where(squares > 0, np.sqrt(squares), 1.0)[:, None]


def cosine(X, Q):
    """1 - cos, 1 for rows of zeros."""
    X, Q = unit_rows(X), unit_rows(Q)
    products = np.zeros((len(Q), len(X)))
    for j in range(X.shape[1]):
        products += Q[:, j, None] * X[None, :, j]
    return np.clip(1.0 - products, 0.0, 2.0)


def hamming(X, Q, weights=None):
    """Columns that differ, or their weights."""
    w = np.ones(X.shape[1]) if weights is None else weights
    D = np.zeros((len(Q), len(X)))
    for j in range(X.shape[1]):
        D += np.where(Q[:, j, None] != X[None, :, j], w[j], 0.0)
    return D


def levenshtein(a, b):
    """The table of Wagner and Fischer."""
    above = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        here = [i]
        for j, y in enumerate(b, 1):
            here.append(min(above[j] + 1, here[-1] + 1, above[j - 1] + (x != y)))
        above = here
    return above[-1]


def edit_distances(X, Q):
    """Levenshtein distances of all pairs."""
    return np.array([[levenshtein(q, x) for x in X] for q in Q], dtype=float)


def nearest(D, k):
    """(distances, rows) of the k nearest, equal distances by row."""
    rows = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, rows, axis=1), rows
