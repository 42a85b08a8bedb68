"""Random items for kernels: vectors, strings, trees, pairs. Every one comes from a seed."""


def vectors(rng, n, d=3):
    """Rows of a random scale, some of them equal, some of them 0."""
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-2, 1)
    X[rng.random(X.shape) < 0.3] = 0.0
    X[n // 2] = X[0]
    return X


def strings(rng, n, longest=14):
    """Strings of few letters, so that they share many parts; some are empty."""
    return ["".join(rng.choice(list("abc"), size=rng.integers(0, longest + 1))) for _ in range(n)]


def tree(rng, depth=4):
    """A tree as nested tuples, of few labels and words."""
    label = "SAB"[rng.integers(3)]
    children = []
    for _ in range(rng.integers(1, 3)):
        if depth == 0 or rng.random() < 0.35:
            children.append("xy"[rng.integers(2)])
        else:
            children.append(tree(rng, depth - 1))
    return (label, *children)


def bracketed(node):
    """A tree of nested tuples in brackets."""
    return node if isinstance(node, str) else f"({' '.join([node[0], *map(bracketed, node[1:])])})"


def trees(rng, n):
    """Trees in brackets."""
    return [bracketed(tree(rng)) for _ in range(n)]


def pairs(rng, n):
    """Pairs of a vector and a label."""
    return [(x, "ab"[rng.integers(2)]) for x in vectors(rng, n)]
