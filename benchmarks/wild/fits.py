"""The default fits that are tried on each table, and what is kept of one.

A loss of the library meets the penalties below on tables of its task; presets are fitted beside their twins
in scikit-learn. Of a fit is kept: its certificate, whether ``verify`` agrees with it, the time, and P of the
twin, which may not lie below the bound that we state.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn.linear_model as linear
import sklearn.svm as svm
from tables import Table

import lineal
from lineal.errors import LinealError
from lineal.objective import (
    L1,
    L2,
    Absolute,
    ElasticNet,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Log,
    ModifiedHuber,
    NoPenalty,
    Quantile,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)

# Seconds that a fit is given; and of them, how much later than asked it may come back.
LIMIT, GRACE = 20.0, 40.0
OF_CLASSES = (Log(), Hinge(), SquaredHinge(), ModifiedHuber())
OF_NUMBERS = (
    Squared(), Huber(), Absolute(), EpsilonInsensitive(), SquaredEpsilonInsensitive(), Quantile(0.9),
)  # fmt: skip
PENALTIES = {
    "none": NoPenalty(),
    "L2(0.01)": L2(0.01),
    "L2(1)": L2(1.0),
    "L2(100)": L2(100.0),
    "L1(1)": L1(1.0),
    "ElasticNet": ElasticNet(),
}


@dataclass(frozen=True)
class Fit:
    """A learner to try: its name and, of a preset, its twin in scikit-learn and the P of both."""

    name: str
    make: Callable[[], Any]
    twin: Callable[[], Any] | None = None
    primal: Callable[[Any, Table], float] | None = None


def fits(task: str) -> list[Fit]:
    """All that are tried on tables of a task."""
    learner = lineal.LinearClassifier if task == "classes" else lineal.LinearRegressor
    found = [
        Fit(f"{type(loss).__name__} {name}", lambda l=loss, p=penalty: learner(l, p, max_seconds=LIMIT))
        for loss in (OF_CLASSES if task == "classes" else OF_NUMBERS)
        for name, penalty in PENALTIES.items()
    ]
    limit = {"max_seconds": LIMIT}
    if task == "classes":
        return [
            *found,
            Fit(
                "LogisticRegression()",
                lambda: lineal.LogisticRegression(**limit),
                linear.LogisticRegression,
                _log,
            ),
            Fit("LinearSVC()", lambda: lineal.LinearSVC(**limit), svm.LinearSVC, _squared_hinge),
            Fit(
                "LinearSVC(hinge)",
                lambda: lineal.LinearSVC(loss="hinge", **limit),
                lambda: svm.LinearSVC(loss="hinge"),
                _hinge,
            ),
            Fit("SVC()", lambda: lineal.SVC(**limit), svm.SVC),
        ]
    return [
        *found,
        Fit("LinearRegression()", lineal.LinearRegression, linear.LinearRegression, _least_squares),
        Fit("Ridge()", lineal.Ridge, linear.Ridge, lambda m, t: _least_squares(m, t) + _half_square(m)),
        Fit("Lasso()", lambda: lineal.Lasso(**limit), linear.Lasso),
        Fit("ElasticNet()", lambda: lineal.ElasticNet(**limit), linear.ElasticNet),
        Fit("QuantileRegressor()", lambda: lineal.QuantileRegressor(**limit), linear.QuantileRegressor),
        Fit("LinearSVR()", lambda: lineal.LinearSVR(**limit), svm.LinearSVR, _absolute),
        Fit("SVR()", lambda: lineal.SVR(**limit), svm.SVR),
    ]


def tried(fit: Fit, table: Table) -> dict[str, Any]:
    """What came of it."""
    n, d = table.X.shape
    record: dict[str, Any] = {
        "fit": fit.name,
        "table": table.name,
        "rows": n,
        "columns": d,
        "K": table.n_classes,
    }
    try:
        model, record["seconds"], record["cpu"] = _timed(fit.make, table)
    except LinealError as error:
        return record | {"refused": f"{type(error).__name__}: {str(error)[:200]}"}
    proof = model.certificate_
    again = lineal.verify(model, table.X, table.y)
    stop = None if proof.stop is None else proof.stop.name
    record |= {
        "certified": bool(proof.converged),
        "stop": stop,
        "gap": float(proof.relative_gap),
        "solver": proof.solver,
        "epochs": proof.epochs,
        "primal": float(proof.primal),
        "dual": float(proof.dual),
        "verified": bool(again.converged),
    }
    if fit.twin is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            twin, record["their_seconds"], record["their_cpu"] = _timed(fit.twin, table)
        if fit.primal is not None:
            record["their_primal"] = fit.primal(twin, table)
            record["is_false"] = bool(_is_below(record["their_primal"], record["dual"]))
    return record


def _timed(make: Callable[[], Any], table: Table) -> tuple[Any, float, float]:
    """A model, and the wall and CPU seconds of its fit; of quick ones the best of three."""
    walls, cpus = [], []
    while not walls or (len(walls) < 3 and sum(walls) < 0.1):
        model = make()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wall, cpu = time.perf_counter(), time.process_time()
            model.fit(table.X, table.y)
            walls.append(time.perf_counter() - wall)
            cpus.append(time.process_time() - cpu)
    return model, min(walls), min(cpus)


def _is_below(primal: float, dual: float) -> bool:
    """Whether somebody's P lies below our bound by more than rounding."""
    return primal < dual - 1e-7 * max(abs(dual), abs(primal))


def _scores(model: Any, table: Table) -> np.ndarray:
    """In extended precision: raw columns cancel."""
    X, W = table.X.astype(np.longdouble), np.atleast_2d(model.coef_).T.astype(np.longdouble)
    return np.asarray(X @ W + np.atleast_1d(model.intercept_))


def _signs(model: Any, table: Table) -> np.ndarray:
    classes = model.classes_
    return np.where(table.y[:, None] == (classes[1:] if len(classes) == 2 else classes), 1.0, -1.0)


def _half_square(model: Any) -> float:
    return 0.5 * float((np.asarray(model.coef_) ** 2).sum())


def _log(model: Any, table: Table) -> float:
    Z = _scores(model, table)
    if Z.shape[1] == 1:
        Z = np.hstack([np.zeros_like(Z), Z])
    Z = Z - Z.max(axis=1, keepdims=True)
    right = Z[np.arange(len(Z)), np.searchsorted(model.classes_, table.y)]
    return float((np.log(np.exp(Z).sum(axis=1)) - right).sum()) + _half_square(model)


def _margins(model: Any, table: Table) -> np.ndarray:
    return np.maximum(0.0, 1.0 - _signs(model, table) * _scores(model, table))


def _hinge(model: Any, table: Table) -> float:
    return float(_margins(model, table).sum()) + _half_square(model)


def _squared_hinge(model: Any, table: Table) -> float:
    return float((_margins(model, table) ** 2).sum()) + _half_square(model)


def _residuals(model: Any, table: Table) -> np.ndarray:
    return np.asarray(table.y - _scores(model, table)[:, 0])


def _least_squares(model: Any, table: Table) -> float:
    return 0.5 * float((_residuals(model, table) ** 2).sum())


def _absolute(model: Any, table: Table) -> float:
    return float(np.abs(_residuals(model, table)).sum()) + _half_square(model)
