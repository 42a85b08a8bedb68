"""One peer, in the peers' interpreter: reads a request from the command line, prints one JSON line.

    python peers.py NAME KIND STEM STRENGTHS BOUNDS GAP REPEATS

``STRENGTHS`` and ``BOUNDS`` are files of numbers: the penalty's factor beside a *sum* of losses, from the
largest down, and what is proved to lie below the optimum at each. The peer's own tolerance is tightened until
its objective is within GAP of every bound; the best CPU time of REPEATS runs at that tolerance is told.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from problems import SIZE, load, objective, targets

TOLERANCES = [10.0**-k for k in range(4, 15)]


def adelie(kind, X, y, strengths, tol):
    """Losses are means; groups weigh the root of their size by themselves."""
    import adelie as ad

    matrix = ad.matrix.sparse(X, method="naive", n_threads=1) if sp.issparse(X) else X
    glm = ad.glm.gaussian(y) if kind == "squared" else ad.glm.binomial((y + 1) / 2)
    state = ad.grpnet(
        matrix, glm, groups=np.arange(0, X.shape[1], SIZE), lmda_path=strengths / len(y), tol=tol,
        irls_tol=tol, early_exit=False, intercept=False, progress_bar=False, n_threads=1,
    )  # fmt: skip
    return state.betas.toarray()


def skglm(kind, X, y, strengths, tol):
    """Losses are means; a path is a warm start after another."""
    from skglm.datafits import LogisticGroup, QuadraticGroup
    from skglm.penalties import WeightedGroupL2
    from skglm.solvers import GroupBCD, GroupProxNewton
    from skglm.utils.jit_compilation import compiled_clone

    d = X.shape[1]
    pointers = np.arange(0, d + 1, SIZE).astype(np.int32)
    columns = np.arange(d).astype(np.int32)
    weights = np.full(d // SIZE, np.sqrt(SIZE))
    make = QuadraticGroup if kind == "squared" else LogisticGroup
    datafit = compiled_clone(make(pointers, columns))
    if kind == "squared":
        solver = GroupBCD(tol=tol, max_iter=1000, max_epochs=10_000)
    else:
        solver = GroupProxNewton(tol=tol, max_iter=200)
    if hasattr(datafit, "initialize_sparse") and sp.issparse(X):
        datafit.initialize_sparse(X.data, X.indptr, X.indices, y)
    w, scores, found = np.zeros(d), np.zeros(len(y)), []
    for strength in strengths:
        penalty = compiled_clone(WeightedGroupL2(strength / len(y), weights, pointers, columns))
        w = solver.solve(X, y, datafit, penalty, w.copy(), scores.copy())[0]
        scores = X @ w
        found.append(w)
    return np.array(found)


def main() -> None:
    """Tighten, measure, print."""
    name, kind, stem, strengths, bounds, gap, repeats = sys.argv[1:]
    warnings.simplefilter("ignore")
    X, y = load(Path(stem))
    # Columns are what both walk over.
    X = sp.csc_matrix(X) if sp.issparse(X) else np.asfortranarray(X)
    lams, floor, t = np.loadtxt(strengths, ndmin=1), np.loadtxt(bounds, ndmin=1), targets(kind, y)
    run = {"adelie": adelie, "skglm": skglm}[name]
    few = sp.csc_matrix(X[:200]) if sp.issparse(X) else np.asfortranarray(X[:200])
    run(kind, few, t[:200], lams[:1], 1e-2)  # compiles what is compiled on first use
    for tol in TOLERANCES:
        times = []
        for _ in range(int(repeats)):
            began = time.process_time()
            W = run(kind, X, t, lams, tol)
            times.append(time.process_time() - began)
            reached = objective(kind, X, y, W, lams) if len(W) == len(lams) else np.full(len(lams), np.inf)
            worst = float(np.max((reached - floor) / np.abs(floor)))
            if worst > float(gap):
                break
        print(f"# tol {tol:g}: {times[0]:.2f} s, {worst:.1e} above", file=sys.stderr, flush=True)
        if worst <= float(gap):
            print(json.dumps({"seconds": min(times), "all": times, "worst": worst, "tol": tol}))
            return
    print(json.dumps({"seconds": None, "worst": worst, "tol": tol, "note": "not reached at any tolerance"}))


if __name__ == "__main__":
    main()
