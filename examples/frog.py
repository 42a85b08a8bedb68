"""What a frog eats: naive Bayes by hand, by maximum likelihood and by Laplace's rule.

    python examples/frog.py

Fourteen things that flew by, how convex they were and how fast they dimmed the light, and whether they were
food (after Lettvin, Maturana, McCulloch and Pitts 1959, What the frog's eye tells the frog's brain).
"""

import numpy as np

from lineal import CategoricalNB

INEDIBLE = """small small, small medium, small medium, medium small,
              large small, small small, small large, small medium"""
EDIBLE = "small large, medium large, medium large, large small, large large, large medium"


def world():
    """Rows of (convex, speed) and their labels."""
    rows, labels = [], []
    for label, things in (("-", INEDIBLE), ("+", EDIBLE)):
        for thing in things.split(","):
            rows.append(thing.split())
            labels.append(label)
    return rows, labels


def show(model):
    """Every probability that the frog has learned."""
    for label, prior in zip(model.classes_, np.exp(model.class_log_prior_), strict=True):
        print(f"p({label}) = {prior:.3f}")
    for name, values, table in zip(
        ("convex", "speed"), model.categories_, model.feature_log_prob_, strict=True
    ):
        for label, shares in zip(model.classes_, np.exp(table), strict=True):
            cells = [f"p({name}={v}|{label}) = {p:.3f}" for v, p in zip(values, shares, strict=True)]
            print("  ".join(cells))


def main():
    """Learn, look, decide."""
    rows, labels = world()
    unseen = [["medium", "medium"]]
    for title, smoothing in (("maximum likelihood", 0), ("Laplace's rule", 1)):
        model = CategoricalNB(smoothing=smoothing).fit(rows, labels)
        print(f"--- {title}")
        show(model)
        edible, inedible = np.exp(model.log_joint(unseen)[0])
        verdict = {"+": "edible", "-": "inedible"}[model.predict(unseen)[0]]
        print(f"(medium, medium): {inedible:.3f} for -, {edible:.3f} for +: {verdict}")
    strange = [["medium", "medium"], ["huge", "medium"]]
    evidence = np.exp(model.log_evidence(strange))
    print(f"p(medium, medium) = {evidence[0]:.3f}; p(huge, medium), never seen, = {evidence[1]:.3f}")


if __name__ == "__main__":
    main()
