"""The perceptron algorithms as the lectures print them, line by line, with plain loops.

A row x already has its constant feature. Every function yields the weights after each example.
"""

from __future__ import annotations

import numpy as np


def sign(z):
    """+1 at 0."""
    return 1 if z >= 0 else -1


def two_classes(X, t, epochs):
    """initialize w = 0; h = sgn(w.x); if h != t then w = w + t x."""
    w = np.zeros(X.shape[1])
    for _ in range(epochs):
        for x, target in zip(X, t, strict=True):
            h = sign(w @ x)
            if h != target:
                w = w + target * x
            yield w


def averaged_two_classes(X, t, epochs):
    """The same with w_bar = w_bar + w after each example; yields w_bar over the examples so far."""
    w_bar = np.zeros(X.shape[1])
    for seen, w in enumerate(two_classes(X, t, epochs), start=1):
        w_bar = w_bar + w
        yield w_bar / seen


def phi(x, label, labels):
    """The block map: x in the block of its label, 0 elsewhere."""
    blocks = [x if other == label else np.zeros_like(x) for other in labels]
    return np.concatenate(blocks)


def k_classes(X, t, labels, epochs):
    """y' = argmax w.phi(x, y'); if y' != y then w = w + phi(x, y) - phi(x, y'); the first argmax."""
    w = np.zeros(X.shape[1] * len(labels))
    for _ in range(epochs):
        for x, target in zip(X, t, strict=True):
            scores = [w @ phi(x, label, labels) for label in labels]
            predicted = labels[scores.index(max(scores))]
            if predicted != target:
                w = w + phi(x, target, labels) - phi(x, predicted, labels)
            yield w.reshape(len(labels), -1)


def averaged_k_classes(X, t, labels, epochs):
    """return (sum_i w_i) / (N T)."""
    total = np.zeros((len(labels), X.shape[1]))
    for seen, w in enumerate(k_classes(X, t, labels, epochs), start=1):
        total = total + w
        yield total / seen


def voted(X, t, epochs):
    """Freund and Schapire 1999, figure 1: the list of (v, c)."""
    v, c, k = [np.zeros(X.shape[1])], [0], 0
    for _ in range(epochs):
        for x, y in zip(X, t, strict=True):
            if sign(v[k] @ x) == y:
                c[k] = c[k] + 1
            else:
                v.append(v[k] + y * x)
                c.append(1)
                k = k + 1
    return np.array(v), np.array(c)


def vote(v, c, x):
    """s = sum_i c_i sign(v_i.x); the prediction is sign(s)."""
    return sign(sum(count * sign(weights @ x) for weights, count in zip(v, c, strict=True)))


def kernel_two_classes(X, t, kernel, epochs):
    """f(x) = sum_n alpha_n t_n K(x_n, x); alpha_n = alpha_n + 1 at a mistake. Yields alpha."""
    alpha = np.zeros(len(X))
    for _ in range(epochs):
        for n, (x, target) in enumerate(zip(X, t, strict=True)):
            f = sum(a * y * kernel(other, x) for a, y, other in zip(alpha, t, X, strict=True))
            if sign(f) != target:
                alpha[n] += 1
            yield alpha.copy()
