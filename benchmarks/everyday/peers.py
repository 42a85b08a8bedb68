"""Lines of squares and logistic losses in adelie and glum: the objectives of scikit-learn's defaults.

Runs in the environment of the peers (``benchmarks/.venv``), one thread, CPU time, the best of five, at the
tolerance that each comes with; ``run.py --peers`` starts it. Prints a JSON record: seconds, and how far the
objective is above scikit-learn's.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import adelie
import glum
import numpy as np
import scipy.sparse as sp
import sklearn.linear_model as linear
from sets import NUMBERS, SETS, AbsentError

BINARY = ("breast cancer", "20,000 x 100 x 2", "1,000 x 5,000 x 2", "a9a")
# Twins in scikit-learn, the share of L1, and the sets.
LINES = {
    "Lasso": (linear.Lasso, 1.0, NUMBERS),
    "ElasticNet": (linear.ElasticNet, 0.5, NUMBERS),
    "LogisticRegression": (linear.LogisticRegression, 0.0, BINARY),
}


def fitted_by_adelie(X: Any, y: np.ndarray, strength: float, share: float, is_binary: bool) -> Any:
    """(w, b)."""
    loss = adelie.glm.binomial(y=y.astype(float)) if is_binary else adelie.glm.gaussian(y=y)
    is_sparse = sp.issparse(X)
    X = adelie.matrix.sparse(sp.csc_matrix(X), n_threads=1) if is_sparse else np.asfortranarray(X)
    state = adelie.grpnet(
        X=X, glm=loss, alpha=share, lmda_path=np.array([strength]), early_exit=False,
        progress_bar=False, n_threads=1,
    )  # fmt: skip
    return state.betas.toarray()[-1], float(np.ravel(state.intercepts)[-1])


def fitted_by_glum(X: Any, y: np.ndarray, strength: float, share: float, is_binary: bool) -> Any:
    """(w, b)."""
    model = glum.GeneralizedLinearRegressor(
        family="binomial" if is_binary else "gaussian", alpha=strength, l1_ratio=share
    ).fit(X, y.astype(float))
    return model.coef_, float(model.intercept_)


def objective(
    X: Any, y: np.ndarray, w: np.ndarray, b: float, strength: float, share: float, is_binary: bool
) -> float:
    """The mean loss and the penalty."""
    z = np.asarray(X @ w) + b
    loss = np.logaddexp(0, np.where(y > 0, -z, z)).mean() if is_binary else ((y - z) ** 2).mean() / 2
    return float(loss + strength * (share * np.abs(w).sum() + (1 - share) / 2 * (w @ w)))


def best_of(fit: Any, repeats: int = 5, limit: float = 10.0) -> tuple[float, Any]:
    """The least CPU time, and what was fitted."""
    times: list[float] = []
    while not times or (len(times) < repeats and sum(times) < limit):
        began = time.process_time()
        found = fit()
        times.append(time.process_time() - began)
    return min(times), found


def main() -> None:
    """All lines, as JSON on the standard output."""
    warnings.simplefilter("ignore")
    found: dict[str, Any] = {"versions": {"adelie": adelie.__version__, "glum": glum.__version__}}
    for name, (twin, share, sets) in LINES.items():
        for which in sets:
            try:
                X, y = SETS[which]()
            except AbsentError:
                continue
            is_binary = name == "LogisticRegression"
            y = (y == y.max()).astype(int) if is_binary else y
            strength = 1.0 / len(y) if is_binary else 1.0
            model = twin().fit(X, y)
            its = objective(
                X, y, np.ravel(model.coef_), float(np.ravel(model.intercept_)[0]), strength, share, is_binary
            )
            record: dict[str, Any] = {}
            for peer, fit in (("adelie", fitted_by_adelie), ("glum", fitted_by_glum)):
                try:
                    seconds, (w, b) = best_of(partial(fit, X, y, strength, share, is_binary))
                except Exception as error:  # a peer that gives up is told as such
                    record[peer] = {"error": f"{type(error).__name__}: {error}"[:200]}
                    continue
                excess = (objective(X, y, w, b, strength, share, is_binary) - its) / abs(its)
                record[peer] = {"seconds": seconds, "excess": excess}
            found[f"{name} | {which}"] = record
            print(name, which, record, file=sys.stderr, flush=True)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
