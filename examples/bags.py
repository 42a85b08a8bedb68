"""Which molecules smell of musk, and by which of their shapes? There are labels of molecules, none of shapes.

    python examples/bags.py

Shapes are made up: a molecule smells if one of its shapes fits a receptor.
"""

import numpy as np

from lineal import LinearSVC, MultipleInstanceSVM
from lineal.kernels import Gaussian


def molecules(n, seed, d=12):
    """Molecules as matrices of shapes, whether they smell, and which shapes fit."""
    rng = np.random.default_rng(seed)
    receptor = np.resize([1.0, -1.0, 0.5], d)
    smells, shapes, fits = rng.random(n) < 0.45, [], []
    for is_musk in smells:
        fitting = np.zeros(rng.integers(2, 10), dtype=bool)
        if is_musk:
            fitting[rng.integers(len(fitting))] = True
        noise = rng.normal(size=(len(fitting), d))
        shapes.append(np.where(fitting[:, None], receptor + 0.4 * noise, noise))
        fits.append(fitting)
    return shapes, np.where(smells, "musk", "none"), np.concatenate(fits)


def main():
    shapes, labels, fits = molecules(120, seed=0)
    new, truth, new_fits = molecules(400, seed=1)
    print(f"{len(shapes)} molecules with {len(fits)} shapes to learn from, {len(new)} to judge by")

    sizes = [len(each) for each in shapes]
    naive = LinearSVC(loss="hinge").fit(np.vstack(shapes), np.repeat(labels, sizes))
    guess = ["musk" if "musk" in naive.predict(each) else "none" for each in new]
    print(f"every shape of a musk taken for musk: {np.mean(np.array(guess) == truth):.1%} of molecules right")

    machines = {
        "a witness for each molecule": MultipleInstanceSVM("MI", positive="musk"),
        "a label for each shape": MultipleInstanceSVM("mi", 0.1, positive="musk"),
        "a witness, in a Gaussian's space": MultipleInstanceSVM(
            "MI", positive="musk", kernel=Gaussian(gamma=0.05)
        ),
    }
    for name, machine in machines.items():
        machine.fit(shapes, labels)
        of_shapes = np.mean((machine.predict_instances(new) == "musk") == new_fits)
        print(f"{name}: {machine.score(new, truth):.1%} of molecules, {of_shapes:.1%} of shapes right")
        found = fits[machine.witnesses_[labels == "musk"]].mean()
        ends = [round(each, 2) for each in {r.start: r.objective for r in machine.history_}.values()]
        print(f"  {found:.0%} of the witnesses are shapes that fit; four starts ended at {ends}")
        gap = machine.certificate_.relative_gap
        print(f"  for its witnesses or labels the machine is proved to be within {gap:.1e} of the best")


if __name__ == "__main__":
    main()
