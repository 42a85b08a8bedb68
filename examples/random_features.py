"""A kernel machine for more rows than a Gram matrix has room for: random features, then a linear learner.

    python examples/random_features.py [ROWS [FOLDER]]

makes up rows whose classes no plane separates (20,000; a million take minutes and 9 GB), learns them by a
line in 4 columns and by one in 400 cosines and sines, and prints what is proved; with a folder, also draws
there how errors of kernel values fall with the number of features (``pip install lineal[plot]``).
"""

import sys
import time
from pathlib import Path

import numpy as np

from lineal import LinearClassifier, Nystroem, RandomBinningFeatures, RandomFourierFeatures
from lineal.objective import L2
from lineal.plot import kernel_errors

GAMMA, N_FEATURES = 0.5, 400


def made_up(n_rows, seed):
    """Inside a ring of two columns or in a quarter of two others, not both; one label in 20 is wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)).astype(np.float32)
    is_inside = (X[:, :2] ** 2).sum(axis=1) < 1.4
    y = is_inside ^ (X[:, 2] * X[:, 3] > 0)
    return X, y ^ (rng.random(n_rows) < 0.05)


def learn(name, X, y, X_test, y_test):
    """Fits, and prints how well and how surely."""
    began = time.perf_counter()
    model = LinearClassifier(penalty=L2(0.01)).fit(X, y)
    proof = model.certificate_
    print(f"  {name:<26} accuracy {model.score(X_test, y_test):.3f}, {time.perf_counter() - began:.1f} s")
    print(f"    proved to be within {proof.relative_gap:.1e} of the least objective, by {proof.solver}")


def main(rows="20000", folder=None):
    X, y = made_up(int(rows), seed=0)
    X_test, y_test = made_up(5000, seed=1)
    print(f"{len(X):,} rows, of which 95 % can be learned:")
    learn("a line", X, y, X_test, y_test)
    phi = RandomFourierFeatures(gamma=GAMMA, n_features=N_FEATURES, random_state=0).fit(X)
    learn(f"a line in {N_FEATURES} features", phi.transform(X), y, phi.transform(X_test), y_test)
    pair = phi.transform(X[:2])
    print(f"k(x, z) = {phi.kernel_} of two rows: {phi.kernel_(X[0], X[1]):.3f}; by features "
          f"{pair[0] @ pair[1]:.3f}, off by {phi.error_bound():.3f} at most in 95 of 100 draws")  # fmt: skip
    maps = {"Fourier": phi, "binning": RandomBinningFeatures(GAMMA), "Nyström": Nystroem(gamma=GAMMA)}
    print(errors := kernel_errors(maps, X[:150].astype(float), sizes=(30, 100, 300), n_draws=3))
    if folder is not None:
        __import__("matplotlib").use("Agg")  # no screen is needed
        Path(folder).mkdir(parents=True, exist_ok=True)
        errors.plot()[0].figure.savefig(Path(folder) / "kernel_errors.png", dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:3])
