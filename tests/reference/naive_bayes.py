"""Naive Bayes in exact fractions: probabilities are multiplied as the formulas say, without logarithms."""

from __future__ import annotations

from fractions import Fraction
from math import prod


def prior(y, classes, l=0, smooth=False):
    """p(C_k) = N_k / N, or (N_k + l) / (N + l K)."""
    more = Fraction(l) if smooth else Fraction(0)
    return [(y.count(c) + more) / (len(y) + more * len(classes)) for c in classes]


def categorical(X, y, classes, row, l=0, smooth=False):
    """p(C_k) prod_i (N_kiv + l) / (N_k + l V_i) for each class."""
    joint = []
    for c, p in zip(classes, prior(y, classes, l, smooth), strict=True):
        mine = [x for x, label in zip(X, y, strict=True) if label == c]
        for i, value in enumerate(row):
            n_values = len({x[i] for x in X})
            p *= (sum(x[i] == value for x in mine) + Fraction(l)) / (len(mine) + Fraction(l) * n_values)
        joint.append(p)
    return joint


def multinomial(X, y, classes, row, l=0, smooth=False):
    """p(C_k) prod_i [(n_ki + l) / (n_k + l d)]^x_i for each class."""
    d, joint = len(X[0]), []
    for c, p in zip(classes, prior(y, classes, l, smooth), strict=True):
        n = [sum(x[i] for x, label in zip(X, y, strict=True) if label == c) for i in range(d)]
        joint.append(
            p * prod(((n[i] + Fraction(l)) / (sum(n) + Fraction(l) * d)) ** row[i] for i in range(d))
        )
    return joint


def bernoulli(X, y, classes, row, l=0, smooth=False):
    """p(C_k) prod_i mu^x (1 - mu)^(1 - x), mu = (N_ki + l) / (N_k + 2 l), for each class."""
    joint = []
    for c, p in zip(classes, prior(y, classes, l, smooth), strict=True):
        mine = [x for x, label in zip(X, y, strict=True) if label == c]
        for i, value in enumerate(row):
            mu = (sum(x[i] for x in mine) + Fraction(l)) / (len(mine) + 2 * Fraction(l))
            p *= mu if value else 1 - mu
        joint.append(p)
    return joint


def complement(X, y, classes, row, l=1):
    """prod_i [(n_~k,i + l) / (n_~k + l d)]^-x_i for each class: the exponential of its score."""
    d, scores = len(X[0]), []
    for c in classes:
        n = [sum(x[i] for x, label in zip(X, y, strict=True) if label != c) for i in range(d)]
        shares = [(n[i] + Fraction(l)) / (sum(n) + Fraction(l) * d) for i in range(d)]
        scores.append(prod(shares[i] ** -row[i] for i in range(d)))
    return scores
