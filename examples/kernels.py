"""Kernels of things that are no vectors: words of two made-up languages, and questions among sentences.

    python examples/kernels.py

Words are compared by the parts they share, trees by their common fragments; a machine that knows nothing but
these numbers (least squares in the kernel's space) tells them apart.
"""

import numpy as np

from lineal.kernels import Equality, Spectrum, Subsequence, SubsetTree, SubTree

NORTH, SOUTH, BOTH = (
    ["sk", "or", "ald", "ur", "ing"],
    ["ma", "lo", "ri", "no", "ela"],
    ["an", "es", "to", "or"],
)


def words(rng, n):
    """Words of two languages with sounds in common; the label is the language."""
    languages = rng.choice(["northern", "southern"], size=n)
    sounds = {"northern": NORTH + BOTH, "southern": SOUTH + BOTH}
    return ["".join(rng.choice(sounds[k], size=rng.integers(2, 6))) for k in languages], languages


def sentences(rng, n):
    """Trees of statements and questions with words rarely seen twice: their shape tells them apart."""
    trees, kinds = [], rng.choice(["question", "statement"], size=n)
    for kind in kinds:
        subject = f"(NP (D the) (N noun{rng.integers(100)}))" if rng.random() < 0.5 else "(NP she)"
        verb, place = f"(V verb{rng.integers(100)})", " (PP here)" if rng.random() < 0.5 else ""
        statement = f"(S {subject} (VP (V does) {verb}{place}))"
        trees.append(f"(S (V does) {subject} (VP {verb}{place}))" if kind == "question" else statement)
    return trees, kinds


def accuracy(kernel, X, y, n_train):
    """Share of right answers of sign(K a), with (K + I) a = the labels as +1 and -1."""
    signs = np.where(y == np.unique(y)[0], 1.0, -1.0)
    a = np.linalg.solve(kernel.gram(X[:n_train]) + np.eye(n_train), signs[:n_train])
    scores = kernel.gram(X[n_train:], X[:n_train]) @ a
    return float(np.mean((scores > 0) == (signs[n_train:] > 0)))


def main():
    rng = np.random.default_rng(0)
    strings = [Equality(), Spectrum(1), Spectrum(2), Subsequence(3, 0.5), Spectrum(2) * Subsequence(2, 0.5)]
    trees = [Equality(), SubTree(0.4), SubsetTree(0.4)]
    for (X, y), kernels in ((words(rng, 600), strings), (sentences(rng, 300), trees)):
        print(f"{X[0]!r} is {y[0]}, {X[1]!r} is {y[1]}")
        for kernel in kernels:
            print(f"  {accuracy(kernel.normalized(), X, y, 150):.3f} right with the cosine of {kernel}")


if __name__ == "__main__":
    main()
