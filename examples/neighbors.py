"""Three pictures of nearest neighbours on generated data: one against nine, widths of a kernel, regions.

    python examples/neighbors.py FOLDER

writes one_and_nine.png, bandwidths.png and regions.png there (the present folder if none is named) and prints
the tables behind them. Needs ``pip install lineal[plot]``.
"""

import sys
from pathlib import Path

import numpy as np

from lineal import KNeighborsClassifier, KNeighborsRegressor
from lineal.plot import decision_regions, regression_curves


def noisy_wave():
    """Sixty points of a sine with noise."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 100, 60))
    return x[:, None], np.sin(x / 15) + 0.3 * rng.normal(size=60)


def one_and_nine():
    """1-NN goes through every point; 9-NN averages their noise away, in steps."""
    return regression_curves({f"k = {k}": KNeighborsRegressor(k) for k in (1, 9)}, *noisy_wave())


def bandwidths():
    """Nadaraya-Watson at three widths: a wider kernel lets distant points have their say."""
    learners = {
        f"2σ² = {twice:g}": KNeighborsRegressor("all", weights="gaussian", bandwidth=np.sqrt(twice / 2))
        for twice in (10, 80, 1000)
    }
    return regression_curves(learners, *noisy_wave())


def regions():
    """k = 1 joins the Voronoi cells of each class; more neighbours smooth their border."""
    rng = np.random.default_rng(1)
    centres = np.array([[0.0, 0.0], [2.0, 1.0], [0.5, 2.2]])
    y = np.repeat([0, 1, 2], 30)
    X = centres[y] + 0.75 * rng.normal(size=(90, 2))
    learners = {f"k = {k}": KNeighborsClassifier(k) for k in (1, 15)}
    return decision_regions(learners, X, np.array(["a", "b", "c"])[y])


def main(folder="."):
    import matplotlib

    matplotlib.use("Agg")  # no screen is needed
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, result in {
        "one_and_nine": one_and_nine(),
        "bandwidths": bandwidths(),
        "regions": regions(),
    }.items():
        result.plot()[0].figure.savefig(folder / f"{name}.png", dpi=110)
        print(f"{folder / name}.png\n\n{result}\n")


if __name__ == "__main__":
    main(*sys.argv[1:2])
