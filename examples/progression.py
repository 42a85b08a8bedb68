"""Progression: how far will a disease be in a year, in grades from slight to grave?

    python examples/progression.py

The data are real: 442 diabetes patients, in the table that comes with scikit-learn. How far the disease went
is cut into four grades, which have an order that plain classes know nothing of.
"""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyClassifier

from lineal import ColumnScaler, LogisticRegression, OrdinalClassifier, compare, verify
from lineal.plot import ordinal_scores

GRADES = ["1 slight", "2 mild", "3 marked", "4 grave"]


def main():
    data = load_diabetes(scaled=False)
    test = np.random.default_rng(0).random(len(data.data)) < 0.5
    cuts = np.quantile(data.target[~test], [0.25, 0.5, 0.75])
    grades = np.array(GRADES)[np.searchsorted(cuts, data.target)]
    scaler = ColumnScaler("variance", shift=True).fit(data.data[~test])
    (X, y), (Z, truth) = ((scaler.transform(data.data[part]), grades[part]) for part in (~test, test))
    print(f"{len(y)} real patients to learn from, {len(truth)} to judge by")
    models = {
        "always one": DummyClassifier(),
        "plain classes": LogisticRegression(),
        "ordinal": OrdinalClassifier(order=GRADES),
        "immediate": OrdinalClassifier("immediate", order=GRADES),
    }
    result = compare(models, X, y, X_test=Z, y_test=truth)
    print(*(f"  {name:<14}{result[name]}" for name in result.ranking()), sep="\n")
    print(result.pair("ordinal", "always one"))
    place = {grade: k for k, grade in enumerate(GRADES)}
    print("\nBy how many grades a prediction is off, on average")
    for name, model in result.models.items():
        off = [abs(place[a] - place[b]) for a, b in zip(model.predict(Z), truth, strict=True)]
        print(f"  {name:<14}{np.mean(off):.3f}, by two or more for {np.mean(np.array(off) > 1):.1%}")
    model = result.models["ordinal"]
    n_weights = [each.coef_.size for each in (model, result.models["plain classes"])]
    print(f"\n{n_weights[0]} weights and 3 thresholds, where plain classes take {n_weights[1]} weights")
    print(ordinal_scores(model, Z, truth))
    proof = verify(model, X, y)
    print(f"certificate: proved to be within {proof.relative_gap:.1e} of the least objective")
    patient = int(np.argmin(np.abs(model.decision_function(Z) - model.thresholds_[-1])))
    print(f"\nA patient between grades (in truth: {truth[patient]})")
    for grade, chance in zip(model.classes_, model.predict_proba(Z[[patient]])[0], strict=True):
        print(f"  {grade:<10}{chance:.0%}")
    shares = model.coef_[0] * Z[patient]
    for i in np.argsort(-np.abs(shares))[:4]:
        print(f"  {shares[i]:+.2f}  {data.feature_names[i]}, {Z[patient, i]:+.1f} deviations from the mean")


if __name__ == "__main__":
    main()
