"""Four labels on two moons: alone, with a boundary out of dense regions, and smooth along the moons.

    python examples/two_moons.py [FOLDER]

prints how many rows each machine labels as they are and what is proved; with a folder, also draws what they
answer everywhere (``pip install lineal[plot]``).
"""

import sys
from pathlib import Path

import numpy as np

from lineal import LaplacianSVM, TransductiveSVM

ALONE, GAP, SMOOTH = "the four labels alone", "a boundary where rows are few", "smooth along the moons"


def two_moons(n=300, noise=0.07, seed=4):
    """Rows, their moons, and labels of two rows a moon."""
    rng = np.random.default_rng(seed)
    angle, moon = np.pi * rng.random(n), np.arange(n) % 2
    lower = np.stack([1 - np.cos(angle), 0.5 - np.sin(angle)], axis=1)
    upper = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    X = np.where(moon[:, None] == 1, lower, upper) + noise * rng.normal(size=(n, 2))
    return X, moon, np.where(np.arange(n) < 4, moon, -1)


def main(folder=None):
    X, moon, y = two_moons()
    machines = {
        ALONE: LaplacianSVM(10.0, 0.0, gamma=10.0, unlabelled=-1),
        GAP: TransductiveSVM(10.0, 1.0, kernel="rbf", gamma=10.0, unlabelled=-1),
        SMOOTH: LaplacianSVM(10.0, 10.0, gamma=10.0, unlabelled=-1),
    }
    for name, machine in machines.items():
        machine.fit(X, y)
        print(f"{name}: {np.mean(machine.transduction_ == moon):.1%} of {len(X)} rows right")
        print(f"  {type(machine).__name__}: relative gap {machine.certificate_.relative_gap:.1e}")
    switched = [each.switched for each in machines[GAP].history_]
    print(f"annealing took {len(switched)} machines, and {sum(switched)} pairs changed sides")
    print("its gap is proved for the labels it found; the smooth machine's for the whole problem")
    if folder is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        from matplotlib import pyplot

        figure, panels = pyplot.subplots(1, 3, figsize=(13, 3.6), layout="constrained")
        across, up = np.meshgrid(np.linspace(-1.4, 2.4, 200), np.linspace(-0.9, 1.4, 150))
        places = np.stack([across.ravel(), up.ravel()], axis=1)
        for panel, (name, machine) in zip(panels, machines.items(), strict=True):
            panel.contourf(across, up, machine.predict(places).reshape(across.shape), levels=1, alpha=0.25)
            panel.scatter(X[:, 0], X[:, 1], s=6, c="0.4")
            panel.scatter(X[y >= 0, 0], X[y >= 0, 1], s=70, c=y[y >= 0], edgecolors="black")
            panel.set_title(name, fontsize=10)
        figure.savefig(Path(folder) / "two_moons.png", dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:2])
