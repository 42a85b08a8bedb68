"""Learning with phi(x, y) example by example, as the lectures and Crammer et al. (2006) print it.

Every function yields the weights after each example, by the names of the features.
"""

from __future__ import annotations


def score(w, features):
    """w . phi(x, y)."""
    return sum(w.get(name, 0.0) * value for name, value in features.items())


def difference(phi, x, y, other):
    """phi(x, y) - phi(x, other)."""
    made = dict(phi(x, y))
    for name, value in phi(x, other).items():
        made[name] = made.get(name, 0.0) - value
    return made


def moved(w, amount, direction):
    """w + amount * direction."""
    return w | {name: w.get(name, 0.0) + amount * value for name, value in direction.items()}


def highest(w, phi, x, labels):
    """The first of the labels whose score is the highest."""
    scores = [score(w, phi(x, label)) for label in labels]
    return labels[scores.index(max(scores))]


def perceptron(phi, xs, ys, labels, epochs=1):
    """y' = argmax w . phi(x, y'); if y' != y then w = w + phi(x, y) - phi(x, y')."""
    w = {}
    for _ in range(epochs):
        for x, y in zip(xs, ys, strict=True):
            predicted = highest(w, phi, x, labels)
            if predicted != y:
                w = moved(w, 1.0, difference(phi, x, y, predicted))
            yield w


def passive_aggressive(phi, xs, ys, labels, variant, C, epochs=1):
    """l = max(0, 1 - w . d), d = phi(x, y) - phi(x, r) for the highest wrong r; w = w + tau d."""
    w = {}
    for _ in range(epochs):
        for x, y in zip(xs, ys, strict=True):
            rival = highest(w, phi, x, [label for label in labels if label != y])
            d = difference(phi, x, y, rival)
            loss = max(0.0, 1.0 - score(w, d))
            squared = sum(value**2 for value in d.values())
            if loss > 0 and squared > 0:
                tau = {"PA": loss / squared, "PA-I": min(C, loss / squared)}.get(
                    variant, loss / (squared + 1 / (2 * C))
                )
                w = moved(w, tau, d)
            yield w


def averaged(trace):
    """(sum_i w_i) / (N T), after each example."""
    total = {}
    for seen, w in enumerate(trace, start=1):
        total = {name: total.get(name, 0.0) + value for name, value in w.items()}
        yield {name: value / seen for name, value in total.items()}


def stream(phi, xs, ys):
    """A perceptron that learns of labels as they come: (weights, whether it was a mistake)."""
    w, known = {}, []
    for x, y in zip(xs, ys, strict=True):
        predicted = highest(w, phi, x, known) if known else None
        if predicted is not None and predicted != y:
            w = moved(w, 1.0, difference(phi, x, y, predicted))
        known = sorted({*known, y})
        yield w, predicted != y
