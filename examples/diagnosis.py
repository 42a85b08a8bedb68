"""Diagnosis: benign or malignant, from measurements of cells, and how few of them are enough.

    python examples/diagnosis.py

The data are real: 569 patients from Wisconsin, in the table that comes with scikit-learn.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier

from lineal import ColumnScaler, FisherDiscriminant, GaussianNB, LogisticRegression, compare, evaluate, path


def main():
    data = load_breast_cancer()
    labels, test = data.target_names[data.target], np.random.default_rng(0).random(len(data.data)) < 0.5
    scaler = ColumnScaler("variance", shift=True).fit(data.data[~test])
    (X, y), (Z, truth) = ((scaler.transform(data.data[part]), labels[part]) for part in (~test, test))
    print(f"{len(y)} real patients to learn from, {len(truth)} to judge by")
    models = {
        "always benign": DummyClassifier(),
        "naive Bayes": GaussianNB(),
        "Fisher's line": FisherDiscriminant(),
        "logistic": LogisticRegression(),
        "logistic, L1": LogisticRegression("l1", C=0.2),
    }
    result = compare(models, X, y, X_test=Z, y_test=truth)
    print(*(f"  {name:<14}{result[name]}" for name in result.ranking()), sep="\n")
    print(*(result.pair("logistic, L1", other) for other in models if other != "logistic, L1"), sep="\n")
    print(f"\nFisher's line: {result.models[list(models)[2]].reason_}")
    points = path(LogisticRegression("l1"), X, y, n_strengths=8, ratio=0.01, X_test=Z, y_test=truth)
    print("\nL1 strength  measurements in use  right on other patients")
    for strength, used, right in zip(points.strengths, points.n_nonzero, points.test_scores, strict=True):
        print(f"{strength:>11.3g}  {used:>19}  {right:>23.4f}")
    few = result.models["logistic, L1"]
    found = evaluate(few, Z, truth)
    print(f"\nlogistic, L1: of malignant {found.per_class['malignant']['recall']}, {found['roc_auc']}")
    print(f"certificate: proved to be within {few.certificate_.relative_gap:.1e} of the least objective")
    doubtful = int(np.argmin(np.abs(few.decision_function(Z))))
    shares = few.coef_[0] * Z[doubtful]
    chance = few.predict_proba(Z[[doubtful]])[0, 1]
    print(
        f"The most doubtful patient is malignant with a chance of {chance:.0%} (in truth: {truth[doubtful]}):"
    )
    print(f"  {few.intercept_[0]:+.2f}  intercept")
    for i in np.argsort(-np.abs(shares))[: min(6, np.count_nonzero(shares))]:
        print(f"  {shares[i]:+.2f}  {data.feature_names[i]}, {Z[doubtful, i]:+.1f} deviations from the mean")


if __name__ == "__main__":
    main()
