"""Four losses on points with outliers: which lines they pull, and how sure least squares is of its own.

    python examples/outliers.py FOLDER

prints a table, and writes outliers.png and curves.png to the folder if one is named, which needs
``pip install lineal[plot]``.
"""

import sys
from pathlib import Path

import numpy as np

from lineal import LinearRegression, LinearRegressor, least_squares_summary
from lineal.objective import Absolute, EpsilonInsensitive, Huber, NoPenalty, Squared
from lineal.plot import compare_curves, compare_lines, noisy_sine

SLOPE, INTERCEPT = 2.0, 1.0


def points(n=60, share=0.15, seed=0):
    """A line with noise; of the points on the right, some were read from the wrong column."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0, 10, n))
    y = SLOPE * x + INTERCEPT + rng.normal(size=n)
    wrong = rng.choice(np.arange(n // 2, n), int(share * n), replace=False)
    y[wrong] -= rng.uniform(15, 25, len(wrong))
    return x, y


def learners():
    losses = {"squared": Squared(), "absolute": Absolute(), "Huber": Huber(1.0)}
    losses["ε-insensitive"] = EpsilonInsensitive(0.5)
    return {name: LinearRegressor(loss, NoPenalty(), tol=1e-6) for name, loss in losses.items()}


def main(folder=None):
    x, y = points()
    lines = compare_lines(learners(), x, y, truth=(SLOPE, INTERCEPT))
    print(lines, end="\n\n")
    model = LinearRegression().fit(x[:, None], y)
    print("Least squares, with the intervals it believes in:")
    print(least_squares_summary(model, x[:, None], y))
    if folder is not None:
        import matplotlib

        matplotlib.use("Agg")  # no screen is needed
        Path(folder).mkdir(parents=True, exist_ok=True)

        def truth(t):
            return np.sin(2 * np.pi * t)

        lines.plot()[0].figure.savefig(Path(folder) / "outliers.png", dpi=110)
        curves = compare_curves(*noisy_sine(10, seed=4), *noisy_sine(100, seed=1), truth=truth)
        curves.plot()[0].figure.savefig(Path(folder) / "curves.png", dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:2])
