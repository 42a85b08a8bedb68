"""One peer's path, in the peers' interpreter: reads a request from the command line, prints one JSON line.

    python peers.py KIND NAME MATRIX LABELS STRENGTHS TOL

``STRENGTHS`` is a file of numbers, the penalty's factor beside a *sum* of losses, from the largest down.
"""

from __future__ import annotations

import json
import sys
import time
import warnings

import numpy as np
import scipy.sparse as sp


def celer(kind, X, y, strengths, tol):
    """celer's own path, warm-started: losses are sums for logistic regression and means for the lasso."""
    from celer import celer_path

    if kind == "lasso":
        _, coefs, _ = celer_path(X, y, "lasso", alphas=strengths / len(y), tol=tol)
    else:
        _, coefs, _ = celer_path(X, y, "logreg", alphas=strengths, tol=tol)
    return coefs.T


def sklearn(kind, X, y, strengths, tol):
    """scikit-learn: lasso_path; logistic regression has no path, so LIBLINEAR point by point."""
    from sklearn.linear_model import LogisticRegression, lasso_path

    if kind == "lasso":
        return lasso_path(X, y, alphas=strengths / len(y), tol=tol)[1].T
    coefs = []
    for strength in strengths:
        model = LogisticRegression(
            penalty="l1", C=1 / strength, solver="liblinear", fit_intercept=False, tol=tol, max_iter=1000
        )
        coefs.append(model.fit(X, y).coef_[0])
    return np.array(coefs)


def main() -> None:
    """Measure and print."""
    kind, name, matrix, labels, strengths, tol = sys.argv[1:]
    X, y = sp.csc_matrix(sp.load_npz(matrix)), np.load(labels).astype(float)
    y = np.where(y > y.mean(), 1.0, -1.0)
    numbers = np.loadtxt(strengths)
    warnings.simplefilter("ignore")
    run = {"celer": celer, "scikit-learn": sklearn}[name]
    run(kind, X[::100], y[::100], numbers[:1], 1e-2)  # compiles what is compiled on first use
    began = time.perf_counter()
    coefs = run(kind, X, y, numbers, float(tol))
    seconds = time.perf_counter() - began
    Z = X @ np.asarray(coefs).T
    if kind == "lasso":
        losses = 0.5 * ((Z - y[:, None]) ** 2).sum(axis=0)
    else:
        losses = np.logaddexp(0, -y[:, None] * Z).sum(axis=0)
    objectives = losses + numbers * np.abs(coefs).sum(axis=1)
    print(json.dumps({"seconds": seconds, "objectives": objectives.tolist()}))


if __name__ == "__main__":
    main()
