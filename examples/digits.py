"""Digits: ten classes from learners of two (pairs that vote, codes), one joint model, and products of pixels.

    python examples/digits.py

The data are real: the 1,797 scanned digits of 8 × 8 pixels that come with scikit-learn.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import make_pipeline

import lineal
from lineal import LinearSVC, LogisticRegression, OneVsOne, OutputCode, Perceptron, PolynomialFeatures


def main(n=900):
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order] / 16, y[order]
    squares = PolynomialFeatures(2, homogeneous=True, weighted=True)  # (x · z)², written out
    models = {
        "pairs of SVMs": OneVsOne(LinearSVC()),
        "always one digit": DummyClassifier(),
        "codes of SVMs": OutputCode(LinearSVC(), code="bch", n_columns=15, random_state=0),
        "joint, softmax": LogisticRegression(),
        "perceptron": Perceptron(),
        "products of pixels": make_pipeline(squares, Perceptron()),
    }
    result = lineal.compare(models, X[:n], y[:n], X_test=X[n:], y_test=y[n:])
    print(f"{n} real digits to learn from, {len(y) - n} to judge by")
    print(*(f"  {name:<19}{result[name]}" for name in result.ranking()), sep="\n")
    print(*(pair for pair in result.pairs if pair.first == "pairs of SVMs"), sep="\n")
    pairs, code = result.models["pairs of SVMs"], result.models["codes of SVMs"]
    gaps = [certificate.relative_gap for certificate in pairs.certificates_]
    print(
        f"\ncertificates: {len(gaps)} pairs, all proved to be within {max(gaps):.1e} of the least objective"
    )
    print(f"the code has {code.code_.shape[1]} bits and corrects any {code.n_correctable_} wrong ones")
    for a, b in ((3, 8), (0, 1)):
        of = np.isin(y[:n], (a, b))
        print(f"{a} and {b}: {lineal.mistake_bound(X[:n][of], y[:n][of])}")
    wrong = np.flatnonzero(pairs.predict(X[n:]) != y[n:])
    i = n + int(wrong[0])
    votes = ", ".join(f"{digit}: {v}" for digit, v in enumerate(pairs.votes(X[i : i + 1])[0]) if v > 4)
    print(f"\nA mistake: {pairs.predict(X[i : i + 1])[0]}, in truth {y[i]}, by votes ({votes})")
    for row in X[i].reshape(8, 8):
        print("   ", "".join(" .:-=+*#%@"[int(9 * pixel)] * 2 for pixel in row))


if __name__ == "__main__":
    main()
