"""The everyday table: presets with their defaults, on the tables that people start with, beside scikit-learn.

CPU time of one thread, both libraries in one process, the best of ``--repeats``. Equal work means that our
objective is at least as good as theirs, to a relative 1e-6: a line where it is not says so.

    python benchmarks/everyday/run.py                      all lines
    python benchmarks/everyday/run.py --only SGD,digits    those whose name has all of the words; keeps nothing
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LINEAL_NUM_THREADS"), "1"
)
if __name__ == "__main__" and os.environ.get("OPENBLAS_NUM_THREADS") != "1":
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ONE_THREAD})

import numpy as np  # noqa: E402
import sklearn.datasets as tables  # noqa: E402
import sklearn.discriminant_analysis as discriminant  # noqa: E402
import sklearn.linear_model as linear  # noqa: E402
import sklearn.naive_bayes as bayes  # noqa: E402
import sklearn.preprocessing as preprocessing  # noqa: E402
import sklearn.svm as svm  # noqa: E402

import lineal  # noqa: E402

Objective = Callable[[Any, Any, np.ndarray], float]


def toy(name: str, scaled: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """A table that comes with scikit-learn."""
    X, y = getattr(tables, f"load_{name}")(return_X_y=True)
    return (preprocessing.StandardScaler().fit_transform(X) if scaled else X), y


def made(n: int, d: int, n_classes: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns, a twentieth of them (at least ten) telling; classes by the largest of noisy scores."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    W = np.zeros((d, n_classes if n_classes > 2 else 1))
    W[: max(10, d // 20)] = rng.normal(size=(max(10, d // 20), W.shape[1]))
    Z = X @ W
    Z += rng.normal(size=Z.shape) * Z.std()
    if n_classes == 0:
        return X, Z[:, 0]
    return X, (Z[:, 0] > 0).astype(int) if n_classes == 2 else Z.argmax(axis=1)


SETS: dict[str, Callable[[], tuple[Any, np.ndarray]]] = {
    "iris": lambda: toy("iris"),
    "wine": lambda: toy("wine"),
    "breast cancer": lambda: toy("breast_cancer"),
    "digits": lambda: (toy("digits", scaled=False)[0] / 16, toy("digits")[1]),
    "iris, raw": lambda: toy("iris", scaled=False),
    "wine, raw": lambda: toy("wine", scaled=False),
    "breast cancer, raw": lambda: toy("breast_cancer", scaled=False),
    "digits, raw": lambda: toy("digits", scaled=False),
    "diabetes": lambda: toy("diabetes", scaled=False),
    "100,000 x 50": lambda: made(100_000, 50),
    "20,000 x 50": lambda: made(20_000, 50),
    "20,000 x 100": lambda: made(20_000, 100),
    "20,000 x 100 x 2": lambda: made(20_000, 100, 2),
    "20,000 x 100 x 10": lambda: made(20_000, 100, 10),
    "1,000 x 5,000 x 2": lambda: made(1000, 5000, 2),
    "1,000 x 5,000": lambda: made(1000, 5000),
    "2,000 x 5,000": lambda: made(2000, 5000),
}
CLASSES = (
    "iris", "wine", "breast cancer", "digits", "iris, raw", "wine, raw", "breast cancer, raw", "digits, raw",
    "20,000 x 100 x 2", "20,000 x 100 x 10", "1,000 x 5,000 x 2",
)  # fmt: skip
NUMBERS = ("diabetes", "100,000 x 50", "20,000 x 100", "1,000 x 5,000", "2,000 x 5,000")


def scores(model: Any, X: Any) -> np.ndarray:
    """A column for each output."""
    return np.asarray(X @ np.atleast_2d(model.coef_).T + np.atleast_1d(model.intercept_))


def signs(model: Any, y: np.ndarray) -> np.ndarray:
    """-1 or 1 for each output."""
    classes = model.classes_
    return np.where(y[:, None] == (classes[1:] if len(classes) == 2 else classes), 1.0, -1.0)


def half_square(model: Any) -> float:
    """R of L2."""
    return 0.5 * float((np.asarray(model.coef_) ** 2).sum())


def margins(model: Any, X: Any, y: np.ndarray) -> np.ndarray:
    """1 - yz."""
    return np.maximum(0, 1 - signs(model, y) * scores(model, X))


def logistic(model: Any, X: Any, y: np.ndarray) -> float:
    """Log-loss or softmax, C = 1."""
    Z = scores(model, X)
    if Z.shape[1] == 1:
        return float(np.logaddexp(0, -signs(model, y) * Z).sum()) + half_square(model)
    Z = Z - Z.max(axis=1, keepdims=True)
    right = Z[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return float((np.log(np.exp(Z).sum(axis=1)) - right).sum()) + half_square(model)


def residuals(model: Any, X: Any, y: np.ndarray) -> np.ndarray:
    """Targets less scores."""
    return np.asarray(y - scores(model, X)[:, 0])


def half_squares(model: Any, X: Any, y: np.ndarray) -> float:
    """Least squares."""
    return float((residuals(model, X, y) ** 2).sum()) / 2


def absolute(model: Any) -> float:
    """R of L1."""
    return float(np.abs(model.coef_).sum())


@dataclass(frozen=True)
class Line:
    """A learner, its twin, and what both minimise; None where it is a formula."""

    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    sets: tuple[str, ...]
    objective: Objective | None = None


LINES: dict[str, Line] = {
    "LogisticRegression": Line(lineal.LogisticRegression, linear.LogisticRegression, CLASSES, logistic),
    "LinearSVC": Line(
        lineal.LinearSVC,
        svm.LinearSVC,
        CLASSES,
        lambda m, X, y: (margins(m, X, y) ** 2).sum() + half_square(m),
    ),
    'LinearSVC(loss="hinge")': Line(
        lambda: lineal.LinearSVC(loss="hinge"),
        lambda: svm.LinearSVC(loss="hinge"),
        CLASSES,
        lambda m, X, y: margins(m, X, y).sum() + half_square(m),
    ),
    "SGDClassifier": Line(
        lineal.SGDClassifier,
        linear.SGDClassifier,
        CLASSES,
        lambda m, X, y: margins(m, X, y).sum() / len(y) + 1e-4 * half_square(m),
    ),
    "RidgeClassifier": Line(
        lineal.RidgeClassifier,
        linear.RidgeClassifier,
        CLASSES,
        lambda m, X, y: ((signs(m, y) - scores(m, X)) ** 2).sum() / 2 + half_square(m),
    ),
    "GaussianNB": Line(lineal.GaussianNB, bayes.GaussianNB, CLASSES),
    "FisherDiscriminant": Line(lineal.FisherDiscriminant, discriminant.LinearDiscriminantAnalysis, CLASSES),
    "LinearRegression": Line(lineal.LinearRegression, linear.LinearRegression, NUMBERS, half_squares),
    "Ridge": Line(
        lineal.Ridge, linear.Ridge, NUMBERS, lambda m, X, y: half_squares(m, X, y) + half_square(m)
    ),
    "Lasso": Line(
        lineal.Lasso, linear.Lasso, NUMBERS, lambda m, X, y: half_squares(m, X, y) / len(y) + absolute(m)
    ),
    "ElasticNet": Line(
        lineal.ElasticNet,
        linear.ElasticNet,
        NUMBERS,
        lambda m, X, y: half_squares(m, X, y) / len(y) + 0.5 * absolute(m) + 0.5 * half_square(m),
    ),
    "LinearSVR": Line(
        lineal.LinearSVR,
        svm.LinearSVR,
        NUMBERS,
        lambda m, X, y: np.abs(residuals(m, X, y)).sum() + half_square(m),
    ),
    "SGDRegressor": Line(
        lineal.SGDRegressor,
        linear.SGDRegressor,
        NUMBERS,
        lambda m, X, y: half_squares(m, X, y) / len(y) + 1e-4 * half_square(m),
    ),
    "QuantileRegressor": Line(
        lineal.QuantileRegressor,
        linear.QuantileRegressor,
        ("diabetes",),
        lambda m, X, y: np.abs(residuals(m, X, y)).mean() / 2 + absolute(m),
    ),
    "PolynomialFeatures": Line(
        lineal.PolynomialFeatures, preprocessing.PolynomialFeatures, ("diabetes", "20,000 x 50")
    ),
}


def best_of(
    make: Callable[[], Any], X: Any, y: np.ndarray, repeats: int, limit: float = 10.0
) -> tuple[float, Any]:
    """The least CPU time of a fit of a new learner, and the learner."""
    times: list[float] = []
    while not times or (len(times) < repeats and sum(times) < limit) or (sum(times) < 0.05):
        learner = make()
        fit = learner.fit if hasattr(learner, "predict") else learner.fit_transform
        began = time.process_time()
        fit(X, y)
        times.append(time.process_time() - began)
    return min(times), learner


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    words = [word for word in options.only.split(",") if word]
    warnings.simplefilter("ignore")
    cache: dict[str, Any] = {}
    for name, line in LINES.items():
        for which in line.sets:
            if not all(word in f"{name} {which}" for word in words):
                continue
            if which not in cache:
                cache[which] = SETS[which]()
            X, y = cache[which]
            ours, model = best_of(line.ours, X, y, options.repeats)
            theirs, twin = best_of(line.theirs, X, y, options.repeats)
            said = f"{name:24}{which:19}{1e3 * ours:9.2f} {1e3 * theirs:9.2f} ms {ours / theirs:7.2f}"
            if line.objective is not None:
                worse = line.objective(model, X, y) / line.objective(twin, X, y) - 1
                proof = model.certificate_
                said += f" {'ok ' if proof.converged else 'NOT'} gap {proof.relative_gap:7.1e}"
                said += f" P/P-1 {worse:8.1e} {proof.solver} {proof.epochs}"
            print(("! " if ours > theirs else "  ") + said, flush=True)


if __name__ == "__main__":
    main()
