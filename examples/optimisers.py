"""Three pictures of optimisers on generated data: a race, ways through a ravine, and learning rates.

    python examples/optimisers.py FOLDER

writes solvers.png, ravine.png and learning_rates.png there (the present folder if none is named) and prints
the tables behind them. Needs ``pip install lineal[plot]``.
"""

import os
import sys
from pathlib import Path

import numpy as np

from lineal import LinearRegressor, LogisticRegression
from lineal.objective import NoPenalty
from lineal.plot import compare_solvers, contour, ravine, step_sizes
from lineal.solvers import GD, Adagrad, Adam, Momentum, Nesterov, RMSprop

CONDITION, ANGLE = 20.0, -20.0


def race(max_seconds):
    """Every solver on counts of words: 3000 rows, 80 columns, frequent ones and rare ones."""
    rng = np.random.default_rng(0)
    X = rng.poisson(np.geomspace(0.02, 2.0, 80), size=(3000, 80)).astype(float)
    y = X @ rng.normal(size=80) + 3 * rng.logistic(size=3000) > 0
    return compare_solvers(LogisticRegression(), X, y, max_seconds=max_seconds)


def downhill():
    """Rules that zig-zag, roll, look ahead, adapt, or jump, from 0 to the bottom of a ravine."""
    solvers = {
        "gd, η = 1.9 / L": GD(learning_rate=1.9 / CONDITION),
        "momentum, γ = 0.7": Momentum(learning_rate=0.8 / CONDITION, momentum=0.7),
        "nesterov": Nesterov(learning_rate=0.8 / CONDITION),
        "adagrad": Adagrad(learning_rate=0.3),
        "rmsprop": RMSprop(learning_rate=0.05),
        "adam": Adam(learning_rate=0.1),
        "conjugate gradients": "cg",
        "lbfgs": "lbfgs",
        "newton": "newton",
    }
    return contour(quadratic(), *ravine(CONDITION, angle=ANGLE), solvers=solvers, n_steps=40)


def quadratic():
    """Least squares alone: the ravine's objective is then exactly a quadratic."""
    return LinearRegressor(penalty=NoPenalty(), fit_intercept=False)


def save(figure, path):
    """The whole picture or none: written beside its place and moved there."""
    beside = path.with_name(f".{path.stem}-{os.getpid()}{path.suffix}")
    try:
        figure.savefig(beside, dpi=110)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def main(folder=".", max_seconds=2.0):
    import matplotlib

    matplotlib.use("Agg")  # no screen is needed
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    rates = step_sizes(quadratic(), *ravine(CONDITION, angle=ANGLE))
    results = {"solvers": race(float(max_seconds)), "ravine": downhill(), "learning_rates": rates}
    for name, result in results.items():
        save(result.plot()[0].figure, folder / f"{name}.png")
        print(f"{folder / name}.png\n\n{result}\n")


if __name__ == "__main__":
    main(*sys.argv[1:3])
