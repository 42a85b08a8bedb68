"""Kernels as they are defined: sums over features spelled out, and recursions as they are written."""

from collections import Counter
from itertools import combinations

import numpy as np


def gaussian(x, z, gamma):
    """exp(-gamma |x - z|^2), from differences."""
    return float(np.exp(-gamma * np.sum((np.asarray(x, float) - np.asarray(z, float)) ** 2)))


def subsequences(x, length, decay):
    """The weight of every subsequence: decay to the span, summed over its places."""
    weights = Counter()
    for places in combinations(range(len(x)), length):
        weights[tuple(x[i] for i in places)] += decay ** (places[-1] - places[0] + 1)
    return weights


def subsequence(x, z, length, decay):
    """The dot product of the weights of all subsequences."""
    first, second = subsequences(x, length, decay), subsequences(z, length, decay)
    return sum(weight * second[u] for u, weight in first.items() if u in second)


def spectrum(x, z, n):
    """The dot product of the counts of all runs."""
    first, second = (Counter(tuple(s[i : i + n]) for i in range(len(s) - n + 1)) for s in (x, z))
    return sum(count * second[u] for u, count in first.items())


def parse(text):
    """A tree in brackets as nested tuples, by recursion."""
    tokens = text.replace("(", " ( ").replace(")", " ) ").split()

    def node(at):
        children = [tokens[at + 1]]
        at += 2
        while tokens[at] != ")":
            if tokens[at] == "(":
                child, at = node(at)
            else:
                child, at = tokens[at], at + 1
            children.append(child)
        return tuple(children), at + 1

    return node(0)[0]


def nodes(tree):
    """Every node that has brackets."""
    yield tree
    for child in tree[1:]:
        if not isinstance(child, str):
            yield from nodes(child)


def _production(node):
    return node[0], tuple((c, True) if isinstance(c, str) else (c[0], False) for c in node[1:])


def common(u, v, decay, sigma):
    """C(u, v) of Collins and Duffy."""
    if _production(u) != _production(v):
        return 0.0
    pairs = zip(u[1:], v[1:], strict=True)
    return decay * float(
        np.prod([sigma + common(a, b, decay, sigma) for a, b in pairs if not isinstance(a, str)])
    )


def tree_kernel(x, z, decay, sigma):
    """The sum of C over all pairs of nodes."""
    return sum(common(u, v, decay, sigma) for u in nodes(x) for v in nodes(z))
