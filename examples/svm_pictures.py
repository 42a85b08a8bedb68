"""XOR, a circle and a hyperbola: no line separates them, machines with kernels do, and one map shows why.

    python examples/svm_pictures.py [FOLDER]

prints what was learned and proved; with a folder, draws it there, too (``pip install lineal[plot]``).
"""

import sys
from pathlib import Path

import numpy as np

from lineal import SVC, verify
from lineal.kernels import Gaussian, Linear, Quadratic
from lineal.plot import decision_regions


def points(n=120, seed=0):
    """Points of a square, and what is on either side of three curves with a little room between."""
    X = np.random.default_rng(seed).uniform(-2, 2, size=(n, 2))
    curves = {
        "XOR": X[:, 0] * X[:, 1],
        "circle": X[:, 0] ** 2 + X[:, 1] ** 2 - 2,
        "hyperbola": X[:, 0] ** 2 - X[:, 1] ** 2 - 0.5,
    }
    apart = {name: np.abs(f) > 0.25 for name, f in curves.items()}
    return {name: (X[apart[name]], np.where(f > 0, "+", "-")[apart[name]]) for name, f in curves.items()}


def quadratic_map(X):
    """The space of (x.z + 1)^2, column by column."""
    return np.column_stack([X**2, np.sqrt(2) * X[:, 0] * X[:, 1], np.sqrt(2) * X, np.ones(len(X))])


def main(folder=None):
    for name, (X, y) in points().items():
        line = SVC(kernel=Linear()).fit(X, y)
        hard = SVC(C=np.inf, kernel=Quadratic(1), tol=1e-6).fit(X, y)
        mapped = SVC(C=np.inf, kernel=Linear(), tol=1e-6).fit(quadratic_map(X), y)
        differ = np.abs(mapped.decision_function(quadratic_map(X)) - hard.decision_function(X)).max()
        print(f"{name}: {len(y)} points; a line is right on {line.score(X, y):.0%}, {hard.kernel_} on all")
        print(f"  {len(hard.support_)} support vectors; scores by the explicit map differ by {differ:.0e}")
        print(f"  {verify(hard, X, y).kkt}")
        if folder is not None:
            draw(name, X, y, Path(folder))


def draw(name, X, y, folder):
    import matplotlib

    matplotlib.use("Agg")  # no screen is needed
    folder.mkdir(parents=True, exist_ok=True)
    hard, soft = SVC(C=np.inf, kernel=Quadratic(1)), SVC(C=10, kernel=Gaussian(sigma=1))
    learners = {"(x.z + 1)^2, hard": hard, "Gaussian, C = 10": soft}
    picture = decision_regions(learners, X, y, margins=True)
    picture.plot()[0].figure.savefig(folder / f"svm-{name.lower()}.png", dpi=110, bbox_inches="tight")


if __name__ == "__main__":
    main(*sys.argv[1:2])
