"""One peer's path over dense columns, in the peers' interpreter; prints one JSON line.

    python dense_peers.py NAME KIND STEM STRENGTHS BOUNDS GAP REPEATS

``STEM`` names two files of arrays, ``STRENGTHS`` and ``BOUNDS`` are files of numbers: the penalty's factor
beside a *sum* of losses, from the largest down, and what is proved to lie below the optimum at each. The
peer's own tolerance is tightened until its objective is within GAP of every bound; the best CPU time of
REPEATS runs at that tolerance is told.
"""

from __future__ import annotations

import json
import sys
import time
import warnings

import numpy as np

TOLERANCES = [10.0**-k for k in range(4, 13)]
ENOUGH = 120.0  # seconds, after which a tighter tolerance is not tried


def adelie(kind, X, y, strengths, tol):
    """Losses are means."""
    import adelie as ad

    glm = ad.glm.gaussian(y) if kind == "squared" else ad.glm.binomial((y + 1) / 2)
    state = ad.grpnet(
        X, glm, lmda_path=strengths / len(y), tol=tol, irls_tol=tol, early_exit=False, intercept=True,
        progress_bar=False, n_threads=1,
    )  # fmt: skip
    return state.betas.toarray(), state.intercepts


def sklearn(kind, X, y, strengths, tol):
    """lasso_path, with a Gram matrix where there are more rows than columns; it has no logistic one."""
    from sklearn.linear_model import lasso_path

    if kind != "squared":
        return None
    middle, level = X.mean(axis=0), y.mean()
    precompute = X.shape[0] > X.shape[1]
    W = lasso_path(X - middle, y - level, alphas=strengths / len(y), tol=tol, precompute=precompute)[1].T
    return W, level - W @ middle


def objective(kind, X, y, W, b, strengths):
    """The sum of losses and the penalty at each point."""
    Z = X @ W.T + b
    losses = 0.5 * (Z - y[:, None]) ** 2 if kind == "squared" else np.logaddexp(0, -y[:, None] * Z)
    return losses.sum(axis=0) + strengths * np.abs(W).sum(axis=1)


def main() -> None:
    """Tighten, measure, print."""
    name, kind, stem, strengths, bounds, gap, repeats = sys.argv[1:]
    warnings.simplefilter("ignore")
    # Columns are what both walk over.
    X, y = np.asfortranarray(np.load(f"{stem}.X.npy")), np.load(f"{stem}.y.npy")
    numbers, floor = np.loadtxt(strengths), np.loadtxt(bounds)
    run = {"adelie": adelie, "scikit-learn": sklearn}[name]
    if run(kind, np.asfortranarray(X[:200]), y[:200], numbers[:1], 1e-2) is None:  # compiles on first use
        print(json.dumps({"seconds": None, "note": "has none"}))
        return
    worst = np.inf
    for tol in TOLERANCES:
        times = []
        for _ in range(int(repeats)):
            began = time.process_time()
            W, b = run(kind, X, y, numbers, tol)
            times.append(time.process_time() - began)
            reached = objective(kind, X, y, W, b, numbers) if len(W) == len(numbers) else np.inf
            worst = float(np.max((reached - floor) / floor))
            if worst > float(gap):
                break
        if worst <= float(gap):
            print(json.dumps({"seconds": min(times), "all": times, "worst": worst, "tol": tol}))
            return
        if times[-1] > ENOUGH:
            break
    note = f"{worst:.0e} above after {times[-1]:.0f} s"
    print(json.dumps({"seconds": None, "worst": worst, "tol": tol, "note": note}))


if __name__ == "__main__":
    main()
