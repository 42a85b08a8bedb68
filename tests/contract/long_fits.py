"""Fits that take far longer than a test may: what is cancelled, interrupted or out of time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from lineal import (
    SVC,
    SVR,
    LaplacianSVM,
    LinearClassifier,
    LogisticRegression,
    MultipleInstanceSVM,
    OneClassSVM,
    OneVsRest,
    OrdinalClassifier,
    PUClassifier,
    RankSVM,
    TransductiveSVM,
    compare,
    path,
    tune,
)
from lineal.objective import L1, L2, Hinge


@cache
def texts(n: int = 4000, d: int = 6000, n_classes: int = 2) -> tuple[Any, np.ndarray]:
    """Sparse rows with labels that have little to do with them."""
    rng = np.random.default_rng(0)
    return sp.random_array((n, d), density=0.02, rng=rng, format="csr"), rng.integers(0, n_classes, n)


@cache
def points(n: int = 4000, d: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Dense rows with noisy labels, hard for a kernel."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + 2 * rng.normal(size=n) > 0).astype(int)


@dataclass(frozen=True)
class LongFit:
    """What runs, given options of the learner such as ``max_seconds``.

    ``has_model`` says that a fit that is ended leaves a model with a certificate behind; the others give what
    is done, or raise if that is nothing.
    """

    name: str
    run: Callable[..., Any]
    has_model: bool = True
    has_callbacks: bool = True
    has_seconds: bool = True

    def __repr__(self) -> str:
        return self.name


def _linear(solver: str, **more: Any) -> Callable[..., Any]:
    def run(**options: Any) -> Any:
        options = {"penalty": L2(1e-7), "tol": 1e-14, "solver": solver, **more, **options}
        return LinearClassifier(**options).fit(*texts())

    return run


def _noisy(solver: str) -> Callable[..., Any]:
    def run(**options: Any) -> Any:
        options = {"loss": Hinge(), "penalty": L2(1e-5), "tol": 1e-12, "solver": solver, **options}
        return LinearClassifier(**options).fit(*texts(20_000, 500))

    return run


def _many_classes(**options: Any) -> Any:
    X, y = texts(4000, 4000, 300)
    return LinearClassifier(loss=Hinge(), penalty=L2(1e-3), solver="dual_cd", tol=1e-9, **options).fit(X, y)


def _newton(**options: Any) -> Any:
    X, y = points(30_000, 300)
    return LinearClassifier(loss=Hinge(), penalty=L2(1e-4), solver="newton", tol=1e-13, **options).fit(X, y)


def _one_class(**options: Any) -> Any:
    X = points(30_000, 4)[0]
    return OneClassSVM(nu=0.5, gamma=300.0, tol=1e-12, **options).fit(X)


def _svr(**options: Any) -> Any:
    X, _ = points(8000)
    y = np.sin(X[:, 0]) + np.random.default_rng(1).normal(size=len(X))
    return SVR(C=1e3, gamma=0.5, epsilon=0.01, tol=1e-9, **options).fit(X, y)


def _ranking(**options: Any) -> Any:
    X, _ = points(30_000, 100)
    rng = np.random.default_rng(1)
    y = np.floor(3 * rng.random(len(X)))
    return RankSVM(C=1e3, tol=1e-12, **options).fit(X, y, groups=np.arange(len(X)) // 300)


def _ordinal(**options: Any) -> Any:
    X, _ = texts(20_000, 500)
    y = np.random.default_rng(1).integers(0, 5, X.shape[0])
    return OrdinalClassifier(loss=Hinge(), penalty=L2(1e-5), tol=1e-12, **options).fit(X, y)


def _pu(**options: Any) -> Any:
    X, y = texts()
    return PUClassifier(prior=0.5, penalty=L2(1e-6), tol=1e-13, **options).fit(X, y)


def _laplacian(**options: Any) -> Any:
    X, y = points(2000)
    given = np.where(np.arange(len(y)) < 1700, y, -1)
    learner = LaplacianSVM(C=1e6, gamma_manifold=1e-3, gamma=1.0, tol=1e-9, unlabelled=-1, **options)
    return learner.fit(X, given)


def _transductive(**options: Any) -> Any:
    X, y = texts()
    given = np.where(np.arange(len(y)) < 400, y, -1)
    return TransductiveSVM(tol=1e-9, unlabelled=-1, **options).fit(X, given)


def _bags(**options: Any) -> Any:
    X, y = texts()
    bags = np.arange(len(y)) // 10
    return MultipleInstanceSVM(C=100.0, n_starts=50, tol=1e-9, **options).fit(X, y[::10], bags=bags)


def _one_vs_rest(**options: Any) -> Any:
    X, y = texts(4000, 6000, 6)
    inner = LinearClassifier(penalty=L2(1e-7), tol=1e-14, solver="lbfgs", **options)
    return OneVsRest(inner, n_threads=2).fit(X, y)


def _path(**options: Any) -> Any:
    X, y = texts()
    return path(LinearClassifier(penalty=L1(1.0), tol=1e-12, **options), X, y, n_strengths=60, ratio=1e-4)


def _tune(**options: Any) -> Any:
    X, y = texts()
    learner = LogisticRegression(tol=1e-12, solver="lbfgs", max_iter=None, **options)
    return tune(learner, X, y, {"C": [1e4, 1e5, 1e6, 1e7]}, n_threads=2)


def _folds(**options: Any) -> Any:
    X, y = texts()
    learners = {
        str(strength): LinearClassifier(penalty=L2(strength), tol=1e-14, solver="lbfgs", **options)
        for strength in (1e-6, 1e-7)
    }
    return compare(learners, X, y, cv=5, n_threads=2)


LONG_FITS = [
    *(LongFit(f"linear-{name}", _linear(name)) for name in ("svrg", "gd")),
    *(LongFit(f"linear-{name}", _noisy(name)) for name in ("dual_cd", "lbfgs")),
    LongFit("linear-newton", _linear("newton", loss=Hinge())),
    LongFit("linear-prox_cd", _linear("prox_cd", penalty=L1(1e-3))),
    LongFit("linear-many-classes", _many_classes),
    LongFit("linear-newton-direct", _newton),
    LongFit("svc", lambda **more: SVC(C=1e3, gamma=2.0, tol=1e-9, **more).fit(*points(16_000))),
    LongFit("svr", _svr),
    LongFit("one-class", _one_class),
    LongFit("ranking", _ranking),
    LongFit("ordinal", _ordinal),
    LongFit("pu", _pu),
    LongFit("laplacian", _laplacian, has_model=False, has_callbacks=False, has_seconds=False),
    LongFit("transductive", _transductive, has_callbacks=False),
    LongFit("bags", _bags, has_callbacks=False),
    LongFit("one-vs-rest", _one_vs_rest, has_model=False),
    LongFit("path", _path, has_model=False),
    LongFit("tune", _tune, has_model=False),
    LongFit("folds", _folds, has_model=False),
]
