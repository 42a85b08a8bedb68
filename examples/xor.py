"""AND and OR are learnt by a perceptron; XOR is proved out of reach, and learnt with products of features.

    python examples/xor.py [FOLDER]

prints what was learnt and proved; with a folder, also draws the boundary after each update of OR there
(``pip install lineal[plot]``).
"""

import sys
from pathlib import Path

from lineal import Perceptron, PolynomialFeatures, mistake_bound
from lineal.plot import perceptron_updates

CORNERS = [[0, 0], [0, 1], [1, 0], [1, 1]]
FUNCTIONS = {"AND": [0, 0, 0, 1], "OR": [0, 1, 1, 1], "XOR": [0, 1, 1, 0]}


def learn(name, X, truth):
    """Until an epoch without a mistake, where the proof says that there will be one."""
    proof = mistake_bound(X, truth)
    print(f"{name}: {proof}")
    if not proof.separable:
        return
    model = Perceptron("plain", until_convergence=True, shuffle=False).fit(X, truth)
    print(f"  learnt with {model.updates_} mistakes in {model.n_iter_} epochs: {model.predict(X).tolist()}")


def main(folder=None):
    for name, truth in FUNCTIONS.items():
        learn(name, CORNERS, truth)
    products = PolynomialFeatures(2).fit(CORNERS)
    print("with", ", ".join(products.get_feature_names_out()))
    learn("XOR", products.transform(CORNERS), FUNCTIONS["XOR"])
    if folder is not None:
        import matplotlib

        matplotlib.use("Agg")  # no screen is needed
        Path(folder).mkdir(parents=True, exist_ok=True)
        updates = perceptron_updates(Perceptron(shuffle=False), CORNERS, FUNCTIONS["OR"])
        updates.plot()[0].figure.savefig(Path(folder) / "or.png", dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:2])
