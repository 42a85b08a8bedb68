"""Their side: each peer called as its own manual says, on the same CSR matrix.

Input checks and conversions are inside the clock for everyone, because they are inside ours; where a
peer's conversion is a separate step, a second entry leaves it out, to its favour. Indices of 64 bits, which
LIBLINEAR inside scikit-learn refuses, are made 32 for all peers before the clock, to their favour, too.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import scipy.sparse as sp
from task import Contender, Setting, Task, Weights

_LIBLINEAR_SOLVERS = {
    ("hinge", "l2", "dual"): 3,
    ("squared_hinge", "l2", "dual"): 1,
    ("log", "l2", "primal"): 0,
    ("log", "l2", "dual"): 7,
    ("log", "l1", "primal"): 6,
}


def _accepted(X: sp.csr_matrix) -> sp.csr_matrix:
    """A copy, which nobody after this peer will meet, in the same order and with indices of 32 bits."""
    accepted = sp.csr_matrix(X.shape, dtype=X.dtype)
    accepted.data, accepted.indices = X.data.copy(), X.indices.astype(np.int32)
    accepted.indptr = X.indptr.astype(np.int32)
    return accepted


def linear_svc(X: sp.csr_matrix, y: np.ndarray, task: Task, setting: Setting) -> Contender:
    """scikit-learn's LinearSVC, which is LIBLINEAR's dual solver."""
    from sklearn.svm import LinearSVC

    X = _accepted(X)
    options = {"max_iter": 100_000, **setting}
    model = LinearSVC(loss=task.loss, C=task.C, fit_intercept=task.intercept, random_state=0, **options)
    return Contender(run=lambda: model.fit(X, y), read=_read_estimator)


def logistic_regression(X: sp.csr_matrix, y: np.ndarray, task: Task, setting: Setting) -> Contender:
    """scikit-learn's LogisticRegression with the solver that the setting names."""
    from sklearn.linear_model import LogisticRegression

    X = _accepted(X)
    model = LogisticRegression(
        C=task.C,
        l1_ratio=1.0 if task.penalty == "l1" else 0.0,
        fit_intercept=task.intercept,
        random_state=0,
        **setting,
    )
    return Contender(run=lambda: model.fit(X, y), read=_read_estimator)


def liblinear(X: sp.csr_matrix, y: np.ndarray, task: Task, setting: Setting) -> Contender:
    """The stand-alone LIBLINEAR; ``convert=False`` takes its copy of the matrix off the clock."""
    from liblinear.liblinearutil import problem, train

    X = _accepted(X)
    ctypes.CDLL(None).srand(1)  # it draws its order from the C library, never seeded by the package
    code = _LIBLINEAR_SOLVERS[task.loss, task.penalty, setting.get("form", "dual")]
    options = f"-s {code} -c {task.C!r} -B -1 -q"
    if "tol" in setting:
        options += f" -e {setting['tol']!r}"
    target = y.astype(np.float64)
    if setting.get("convert", True):
        return Contender(lambda: train(problem(target, X), options), _read_liblinear)
    ready = problem(target, X)
    return Contender(lambda: train(ready, options), _read_liblinear)


def celer(X: sp.csr_matrix, y: np.ndarray, task: Task, setting: Setting) -> Contender:
    """celer's working sets for L1 logistic regression."""
    from celer import LogisticRegression

    X = _accepted(X)
    model = LogisticRegression(C=task.C, fit_intercept=task.intercept, **setting)
    return Contender(run=lambda: model.fit(X, y), read=_read_estimator)


def skglm(X: sp.csr_matrix, y: np.ndarray, task: Task, setting: Setting) -> Contender:
    """skglm's proximal Newton for L1 logistic regression; it divides the losses by n."""
    from skglm import SparseLogisticRegression

    X = _accepted(X)
    alpha = 1.0 / (task.C * X.shape[0])
    model = SparseLogisticRegression(alpha=alpha, fit_intercept=task.intercept, **setting)
    return Contender(run=lambda: model.fit(X, y), read=_read_estimator)


def _read_estimator(model: Any) -> Weights:
    coef = np.atleast_2d(model.coef_)
    intercept = np.broadcast_to(np.atleast_1d(model.intercept_), coef.shape[:1])
    iterations = getattr(model, "n_iter_", None)  # celer keeps none
    facts = {} if iterations is None else {"n_iter": np.max(iterations).item()}
    return Weights(coef, intercept, facts)


def _read_liblinear(model: Any) -> Weights:
    n_columns, labels = model.get_nr_feature(), np.asarray(model.get_labels())
    n_rows = 1 if len(labels) == 2 else len(labels)
    # Column-major in LIBLINEAR, classes in its own order; +1 comes first for two classes.
    flat = np.ctypeslib.as_array(model.w, shape=(n_columns * n_rows,))
    coef = flat.reshape(n_columns, n_rows).T.copy()
    coef = coef * labels[0] if n_rows == 1 else coef[np.argsort(labels)]
    return Weights(coef, np.zeros(n_rows))


CONTENDERS = {
    "LinearSVC": linear_svc,
    "LogisticRegression": logistic_regression,
    "liblinear": liblinear,
    "celer": celer,
    "skglm": skglm,
}
# Compiled while they run, some parts only on large problems: warmed by a whole fit.
COMPILED = ("skglm",)
PACKAGES = ("scikit-learn", "liblinear-official", "celer", "skglm", "numba", "numpy", "scipy")
