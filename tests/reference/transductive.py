"""Joachims (1999), algorithm TSVM, without its unequal costs: one switch at a time, costs doubled."""

import numpy as np

from reference.hinge_groups import machine


def transduce(K, y, unknown, C, C_unlabelled, n_positive, levels):
    """Signs of all rows, and F in the end."""
    known = np.setdiff1d(np.arange(len(y)), unknown)
    y = y.astype(float).copy()
    K_known = K[np.ix_(known, known)]
    _, z = machine(K_known, y[known], np.full(len(known), C))
    z = _scores(K, known, y, z, C)
    y[unknown] = -1
    y[unknown[np.argsort(-z[unknown], kind="stable")[:n_positive]]] = 1
    for level in range(levels):
        cost = np.full(len(y), C)
        cost[unknown] = C_unlabelled * 2.0 ** (level + 1 - levels)
        while True:
            value, z = machine(K, y, cost)
            slack = np.maximum(0, 1 - y * z)
            plus, minus = unknown[y[unknown] > 0], unknown[y[unknown] < 0]
            if not len(plus) or not len(minus):
                break
            m, l = plus[slack[plus].argmax()], minus[slack[minus].argmax()]
            if not (slack[m] > 0 and slack[l] > 0 and slack[m] + slack[l] > 2 + 1e-6):
                break
            y[m], y[l] = -1, 1
    return y, value


def _scores(K, known, y, z_known, C):
    """Scores of all rows by the machine of the known ones."""
    from reference.hinge_groups import group_dual

    a, _ = group_dual(K[np.ix_(known, known)], y[known], np.arange(len(known)), np.full(len(known), C))
    f = K[:, known] @ (a * y[known])
    return f + np.median(z_known - f[known])
