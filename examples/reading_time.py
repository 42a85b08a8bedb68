"""Reading time: how many minutes for an article of so many words, and how sure is the answer?

    python examples/reading_time.py

The articles are made up: 230 words a minute, a look at every picture, and readers who differ.
"""

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyRegressor
from sklearn.pipeline import make_pipeline

from lineal import LinearRegression, PolynomialRegression, compare, evaluate, least_squares_summary, verify

NAMES = ["words", "pictures", "letters in the title"]


def articles(n, seed=0):
    """Three columns, of which the last has nothing to do with it, and the minutes that were measured."""
    rng = np.random.default_rng(seed)
    words, pictures, title = rng.gamma(4, 250, n).round() + 50, rng.poisson(3, n), rng.integers(10, 80, n)
    minutes = (words / 230 + 0.2 * pictures) * rng.lognormal(0, 0.15, n)
    return np.column_stack([words, pictures, title]).astype(float), minutes


def main(n=150):
    X, y = articles(3 * n)
    words = make_column_transformer(("passthrough", [0]))
    models = {
        "always the mean": DummyRegressor(),
        "words": make_pipeline(words, LinearRegression()),
        "words, degree 9": make_pipeline(words, PolynomialRegression(9, scaled=True, strength=1e-9)),
        "three columns": LinearRegression(),
    }
    result = compare(models, X[:n], y[:n], X_test=X[n:], y_test=y[n:], metric="mae")
    print(f"{n} made-up articles to learn from, {2 * n} to judge by; minutes")
    print(*(f"  {name:<16}{result[name]}" for name in result.ranking()), sep="\n")
    print(result.pair("words", "always the mean"), result.pair("words", "three columns"), sep="\n")
    line, model = result.models["words"][1], result.models["three columns"]
    w, b = line.coef_[0], line.intercept_
    print(f"\nminutes = {w:.5f} words + {b:.2f}: {1 / w:.0f} words a minute")
    gap = verify(model, X[:n], y[:n]).relative_gap
    print(f"certificate: proved to be within {gap:.1e} of the least objective")
    print(f"three columns: {evaluate(model, X[n:], y[n:])['r2']}\n")
    summary = least_squares_summary(model, X[:n], y[:n], errors="HC3")
    print(summary, "x0, x1, x2: " + ", ".join(NAMES), sep="\n")
    article = [[1600.0, 4.0, 33.0]]
    band = summary.predict(article, of="new")
    shares = zip(NAMES, article[0], model.coef_ * article[0], strict=True)
    parts = ", ".join(f"{value:g} {name} {share:+.2f}" for name, value, share in shares)
    print(f"\nThis one takes {model.predict(article)[0]:.1f} minutes: {model.intercept_:.2f}, {parts};")
    print(f"a reader takes {band.lower[0]:.1f} to {band.upper[0]:.1f} minutes, 95 % of the time")


if __name__ == "__main__":
    main()
