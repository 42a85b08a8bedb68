"""Unlabelled: find malignant cells when forty malignant ones are known, and not a single benign one.

    python examples/unlabelled.py

The data are real: 569 patients from Wisconsin, in the table that comes with scikit-learn. All diagnoses but
forty are hidden from the learners, and judge them at the end.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier

from lineal import ColumnScaler, LogisticRegression, PUClassifier, evaluate, verify
from lineal.objective import L2, Hinge, ZeroOne

N_KNOWN = 40


def main():
    data = load_breast_cancer()
    order = np.random.default_rng(0).permutation(len(data.data))
    X = ColumnScaler("variance", shift=True).fit_transform(data.data[order])
    truth = data.target_names[data.target][order]
    is_known = (truth == "malignant") & (np.cumsum(truth == "malignant") <= N_KNOWN)
    hidden = np.flatnonzero(~is_known)
    y = np.where(is_known, "malignant", "unknown")
    taken = np.where(is_known, "malignant", "benign")
    prior = np.mean(truth[hidden] == "malignant")
    print(
        f"{N_KNOWN} real patients known to be malignant; {len(hidden)} unknown, {prior:.1%} of them malignant"
    )
    options = {"positive": "malignant", "negative": "benign", "penalty": L2(10.0)}
    models = {
        "always benign": DummyClassifier().fit(X, taken),
        "unknown is benign": LogisticRegression(C=0.1).fit(X, taken),
        "prior estimated": PUClassifier(**options).fit(X, y),
        "prior known": PUClassifier(prior, **options).fit(X, y),
        "unbiased": PUClassifier(prior, "unbiased", **options).fit(X, y),
        "hinge": PUClassifier(prior, loss=Hinge(), **options).fit(X, y),
        "all labels": LogisticRegression(C=0.1).fit(X[hidden], truth[hidden]),
    }
    for name, model in models.items():
        found = evaluate(model, X[hidden], truth[hidden])
        print(f"  {name:<18}{found['accuracy']}")
    print("\nOf malignant patients found:")
    for name in list(models)[1:]:
        recall = evaluate(models[name], X[hidden], truth[hidden]).per_class["malignant"]["recall"]
        print(f"  {name:<18}{recall}")
    model = models["prior known"]
    print(f"\n{models['prior estimated'].prior_estimate_}")
    wrong = model.estimated_risk(X, y, loss=ZeroOne()).unbiased
    print(f"errors on these rows when the prior is known, told without any diagnosis: {wrong:.1%}")
    proof = verify(model, X, y)
    print(f"certificate: proved to be within {proof.relative_gap:.1e} of the least risk and penalty")
    print(f"hinge: its risk is not convex, its certificate is {models['hinge'].certificate_}")


if __name__ == "__main__":
    main()
