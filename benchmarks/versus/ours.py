"""Our side: the one file of the harness that knows lineal's interface."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from task import Contender, Setting, Task, Weights

CERTIFICATE = (
    *("primal", "dual", "gap", "relative_gap", "kkt_violation"),
    *("solver", "epochs", "seconds", "converged", "reason"),
)


def lineal(X: sp.csr_matrix, y: np.ndarray, task: Task, setting: Setting) -> Contender:
    """The learner a user would write for this task; certificate and input handling are timed."""
    model = _learner(task, len(np.unique(y)), setting)

    def run() -> tuple[Any, float]:
        began = time.perf_counter()
        return model.fit(X, y), time.perf_counter() - began

    def read(fitted: tuple[Any, float]) -> Weights:
        model, seconds = fitted
        found = _read(model)
        # All that comes before minimising: X and y read, checked, and posed as a problem.
        began = time.perf_counter()
        model._task(X, y, None)
        found.facts["input_share"] = (time.perf_counter() - began) / seconds
        return found

    return Contender(run=run, read=read)


def _learner(task: Task, n_classes: int, setting: Setting) -> Any:
    from lineal import LinearClassifier, LinearSVC
    from lineal.objective import L1, L2, Hinge, Log, SquaredHinge

    if task.loss == "hinge" and n_classes > 2:  # LinearClassifier's own is Crammer-Singer
        return LinearSVC(loss="hinge", C=task.C, fit_intercept=task.intercept, random_state=0, **setting)
    loss = {"hinge": Hinge, "squared_hinge": SquaredHinge, "log": Log, "softmax": Log}[task.loss]
    penalty = L1 if task.penalty == "l1" else L2
    return LinearClassifier(
        loss=loss(),
        penalty=penalty(1.0 / task.C),
        fit_intercept=task.intercept,
        random_state=0,
        **setting,
    )


def _read(model: Any) -> Weights:
    certificate = model.certificate_
    facts = {name: _plain(getattr(certificate, name, None)) for name in CERTIFICATE}
    facts["plan"] = str(getattr(model, "plan_", ""))
    coef = np.atleast_2d(model.coef_)
    intercept = np.broadcast_to(np.atleast_1d(model.intercept_), coef.shape[:1])
    return Weights(coef, intercept, facts)


def _plain(value: Any) -> Any:
    """A number, a truth value or a text that JSON can hold."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, bool | int | float | str | None) else str(value)


CONTENDERS = {"lineal": lineal}
COMPILED: tuple[str, ...] = ()
PACKAGES = ("lineal", "numpy", "scipy", "scikit-learn")
