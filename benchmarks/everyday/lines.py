"""The lines of the everyday table: learners of this library beside their twins, with what both minimise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn.discriminant_analysis as discriminant
import sklearn.ensemble as ensemble
import sklearn.feature_selection as selection
import sklearn.kernel_approximation as approximation
import sklearn.kernel_ridge as kernel_ridge
import sklearn.linear_model as linear
import sklearn.multiclass as multiclass
import sklearn.naive_bayes as bayes
import sklearn.neighbors as neighbors
import sklearn.preprocessing as preprocessing
import sklearn.svm as svm
from sets import CLASSES, DENSE_CLASSES, NUMBERS, SMALL
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import rbf_kernel

import lineal

Objective = Callable[[Any, Any, np.ndarray], float]
Answer = Callable[[Any, Any], Any]


# ---- what is timed: (learner, X, y) -> a function without arguments --------------------------------------


def fit(learner: Any, X: Any, y: np.ndarray) -> Callable[[], Any]:
    """A fit."""
    return lambda: learner.fit(X, y)


def fit_predict(learner: Any, X: Any, y: np.ndarray) -> Callable[[], Any]:
    """A fit, and the labels or numbers of all its rows."""
    return lambda: learner.fit(X, y).predict(X)


def fit_transform(learner: Any, X: Any, y: np.ndarray) -> Callable[[], Any]:
    """A fit, and all its rows transformed."""
    return lambda: learner.fit_transform(X, y)


def predict_100(learner: Any, X: Any, y: np.ndarray) -> Callable[[], Any]:
    """Labels of 100 rows."""
    learner.fit(X, y)
    return lambda: learner.predict(X[:100])


def predict_proba_100(learner: Any, X: Any, y: np.ndarray) -> Callable[[], Any]:
    """Probabilities of 100 rows."""
    learner.fit(X, y)
    return lambda: learner.predict_proba(X[:100])


# ---- what both minimise, or answer -----------------------------------------------------------------------


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


def absolute(model: Any) -> float:
    """R of L1."""
    return float(np.abs(model.coef_).sum())


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


def expansion(model: Any, X: Any) -> tuple[np.ndarray, float]:
    """Scores of a machine of one output with the RBF or the linear kernel, and the square of its norm."""
    gamma = 1.0 / (X.shape[1] * X.var())
    is_linear = model.kernel == "linear"
    K = X @ X[model.support_].T if is_linear else rbf_kernel(X, X[model.support_], gamma=gamma)
    beta = np.asarray(model.dual_coef_)[0]
    return K @ beta + model.intercept_[0], float(beta @ K[model.support_] @ beta)


def kernel_hinge(model: Any, X: Any, y: np.ndarray) -> float:
    """The primal objective of two classes, C = 1."""
    f, square = expansion(model, X)
    return float(np.maximum(0, 1 - np.where(y == model.classes_[1], 1.0, -1.0) * f).sum()) + square / 2


def kernel_tube(model: Any, X: Any, y: np.ndarray) -> float:
    """The primal objective of SVR, C = 1 and epsilon = 0.1."""
    f, square = expansion(model, X)
    return float(np.maximum(0, np.abs(y - f) - 0.1).sum()) + square / 2


def one_class(model: Any, X: Any, y: np.ndarray) -> float:
    """nu n times Schoelkopf's primal objective, nu = 1/2, negated and so below 0: larger is nearer 0."""
    f, square = expansion(model, X)
    rho = -float(model.intercept_[0])
    return float(np.maximum(0, -f).sum()) + square / 2 - 0.5 * len(X) * rho


def predictions(model: Any, X: Any) -> Any:
    """Of up to 2,000 rows."""
    return model.predict(X[:2000])


def transformed(model: Any, X: Any) -> Any:
    """Up to 2,000 rows."""
    Z = model.transform(X[:2000])
    return Z.toarray() if sp.issparse(Z) else Z


@dataclass(frozen=True)
class Line:
    """A learner and its twin, on some sets.

    Attributes
    ----------
    objective : what both minimise, None where there is nothing or no way to tell from outside
    answer : what they should agree about where they minimise nothing; None where chance decides
    job : what is timed
    """

    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    sets: tuple[str, ...]
    objective: Objective | None = None
    answer: Answer | None = predictions
    job: Callable[[Any, Any, np.ndarray], Callable[[], Any]] = fit


def pair(name: str, package: Any, **options: Any) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """A learner and the twin of the same name, with the same options."""
    return lambda: getattr(lineal, name)(**options), lambda: getattr(package, name)(**options)


def _voters(library: Any, is_ours: bool) -> list[tuple[str, Any]]:
    fisher = lineal.FisherDiscriminant() if is_ours else discriminant.LinearDiscriminantAnalysis()
    return [("logistic", library[0]()), ("bayes", library[1]()), ("fisher", fisher)]


OURS, THEIRS = (lineal.LogisticRegression, lineal.GaussianNB), (linear.LogisticRegression, bayes.GaussianNB)
MACHINES = ("iris", "wine", "breast cancer", "digits", "2,000 x 20 x 2")
COUNTS = ("digits, raw", "counts of words", "IMDB")
GAMMA = 0.01

LINES: dict[str, Line] = {
    "LogisticRegression": Line(*pair("LogisticRegression", linear), CLASSES, logistic),
    "LogisticRegression: predict of 100 rows": Line(
        *pair("LogisticRegression", linear), (*SMALL, "a9a"), job=predict_100
    ),
    "LogisticRegression: predict_proba of 100 rows": Line(
        *pair("LogisticRegression", linear), (*SMALL, "a9a"), job=predict_proba_100
    ),
    "LinearSVC": Line(
        *pair("LinearSVC", svm), CLASSES, lambda m, X, y: (margins(m, X, y) ** 2).sum() + half_square(m)
    ),
    'LinearSVC(loss="hinge")': Line(
        *pair("LinearSVC", svm, loss="hinge"),
        CLASSES,
        lambda m, X, y: margins(m, X, y).sum() + half_square(m),
    ),
    "SGDClassifier": Line(
        *pair("SGDClassifier", linear),
        CLASSES,
        lambda m, X, y: margins(m, X, y).sum() / len(y) + 1e-4 * half_square(m),
    ),
    "RidgeClassifier": Line(
        *pair("RidgeClassifier", linear),
        CLASSES,
        lambda m, X, y: ((signs(m, y) - scores(m, X)) ** 2).sum() / 2 + half_square(m),
    ),
    "Perceptron, one epoch": Line(
        lambda: lineal.Perceptron("plain", epochs=1),
        lambda: linear.Perceptron(max_iter=1, tol=None),
        CLASSES,
        answer=None,
    ),
    "PassiveAggressiveClassifier, one epoch": Line(
        lambda: lineal.PassiveAggressiveClassifier(epochs=1),
        lambda: linear.PassiveAggressiveClassifier(max_iter=1, tol=None),
        CLASSES,
        answer=None,
    ),
    "GaussianNB": Line(*pair("GaussianNB", bayes), DENSE_CLASSES),
    "MultinomialNB": Line(*pair("MultinomialNB", bayes), COUNTS),
    "ComplementNB": Line(*pair("ComplementNB", bayes), COUNTS),
    "BernoulliNB": Line(*pair("BernoulliNB", bayes), (*COUNTS, "a9a")),
    "CategoricalNB": Line(*pair("CategoricalNB", bayes), ("digits, whole numbers", "20,000 x 20 categories")),
    "FisherDiscriminant": Line(
        lineal.FisherDiscriminant, discriminant.LinearDiscriminantAnalysis, DENSE_CLASSES
    ),
    "LinearRegression": Line(*pair("LinearRegression", linear), NUMBERS, half_squares),
    "Ridge": Line(*pair("Ridge", linear), NUMBERS, lambda m, X, y: half_squares(m, X, y) + half_square(m)),
    "Lasso": Line(
        *pair("Lasso", linear), NUMBERS, lambda m, X, y: half_squares(m, X, y) / len(y) + absolute(m)
    ),
    "ElasticNet": Line(
        *pair("ElasticNet", linear),
        NUMBERS,
        lambda m, X, y: half_squares(m, X, y) / len(y) + 0.5 * absolute(m) + 0.5 * half_square(m),
    ),
    "LinearSVR": Line(
        *pair("LinearSVR", svm),
        NUMBERS,
        lambda m, X, y: np.abs(residuals(m, X, y)).sum() + half_square(m),
    ),
    "SGDRegressor": Line(
        *pair("SGDRegressor", linear),
        NUMBERS,
        lambda m, X, y: half_squares(m, X, y) / len(y) + 1e-4 * half_square(m),
    ),
    "PassiveAggressiveRegressor, one epoch": Line(
        lambda: lineal.PassiveAggressiveRegressor(epochs=1),
        lambda: linear.PassiveAggressiveRegressor(max_iter=1, tol=None),
        NUMBERS,
        answer=None,
    ),
    # Its twin estimates a scale of the errors as well: there is no common objective.
    "HuberRegressor": Line(
        *pair("HuberRegressor", linear), ("diabetes", "California", "20,000 x 100"), answer=None
    ),
    "QuantileRegressor": Line(
        *pair("QuantileRegressor", linear),
        ("diabetes",),
        lambda m, X, y: np.abs(residuals(m, X, y)).mean() / 2 + absolute(m),
    ),
    "SVC, RBF": Line(*pair("SVC", svm), ("breast cancer", "2,000 x 20 x 2"), kernel_hinge),
    "SVC, RBF, pairs": Line(*pair("SVC", svm), ("iris", "wine", "digits")),
    "SVC, linear": Line(
        *pair("SVC", svm, kernel="linear"), ("breast cancer", "2,000 x 20 x 2"), kernel_hinge
    ),
    "SVC, linear, pairs": Line(*pair("SVC", svm, kernel="linear"), ("iris", "wine", "digits")),
    "SVC: predict": Line(
        *pair("SVC", svm), MACHINES, job=lambda m, X, y: m.fit(X, y) and (lambda: m.predict(X))
    ),
    "SVR": Line(*pair("SVR", svm), ("diabetes", "2,000 x 20"), kernel_tube),
    "NuSVR": Line(*pair("NuSVR", svm), ("diabetes", "2,000 x 20")),
    "OneClassSVM": Line(*pair("OneClassSVM", svm), ("breast cancer", "2,000 x 20 x 2"), one_class),
    "KernelRidge, linear": Line(*pair("KernelRidge", kernel_ridge), ("diabetes", "2,000 x 20")),
    "KernelRidge, RBF": Line(
        *pair("KernelRidge", kernel_ridge, kernel="rbf", gamma=GAMMA), ("diabetes", "2,000 x 20")
    ),
    "KNeighborsClassifier: fit and predict": Line(
        *pair("KNeighborsClassifier", neighbors), (*SMALL, "20,000 x 10 x 5"), job=fit_predict
    ),
    "KNeighborsRegressor: fit and predict": Line(
        *pair("KNeighborsRegressor", neighbors), ("diabetes", "California", "20,000 x 10"), job=fit_predict
    ),
    "ColumnScaler, variance": Line(
        lambda: lineal.ColumnScaler("variance", shift=True),
        preprocessing.StandardScaler,
        (*SMALL, "20,000 x 100", "1,000 x 5,000"),
        answer=transformed,
        job=fit_transform,
    ),
    "ColumnScaler, [0, 1]": Line(
        lambda: lineal.ColumnScaler("[0,1]", shift=True),
        preprocessing.MinMaxScaler,
        (*SMALL, "20,000 x 100", "1,000 x 5,000"),
        answer=transformed,
        job=fit_transform,
    ),
    "PolynomialFeatures": Line(
        *pair("PolynomialFeatures", preprocessing),
        ("iris", "diabetes", "20,000 x 50", "California"),
        answer=transformed,
        job=fit_transform,
    ),
    "Nystroem": Line(
        *pair("Nystroem", approximation, gamma=GAMMA),
        ("diabetes", "20,000 x 50"),
        answer=None,
        job=fit_transform,
    ),
    "RandomFourierFeatures": Line(
        lambda: lineal.RandomFourierFeatures(gamma=GAMMA, n_features=100),
        lambda: approximation.RBFSampler(gamma=GAMMA),
        ("diabetes", "20,000 x 50"),
        answer=None,
        job=fit_transform,
    ),
    "TextVectorizer": Line(
        lambda: lineal.TextVectorizer(compat="sklearn", ngrams=(1, 1), sublinear=False),
        TfidfVectorizer,
        ("5,000 texts",),
        answer=transformed,
        job=fit_transform,
    ),
    "TextVectorizer, pairs of words": Line(
        lambda: lineal.TextVectorizer(compat="sklearn"),
        lambda: TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True),
        ("5,000 texts",),
        answer=None,
        job=fit_transform,
    ),
    "SelectBest, chi2": Line(
        lambda: lineal.SelectBest("chi2", k=10),
        lambda: selection.SelectKBest(selection.chi2, k=10),
        COUNTS,
        answer=lambda m, X: m.get_support(),
    ),
    "SelectBest, t": Line(
        lambda: lineal.SelectBest("t", k=10),
        lambda: selection.SelectKBest(selection.f_classif, k=10),
        ("breast cancer", "20,000 x 100 x 2", "1,000 x 5,000 x 2"),
        answer=lambda m, X: m.get_support(),
    ),
    "SelectBest, Pearson": Line(
        lambda: lineal.SelectBest("pearson", k=5, target="numbers"),
        lambda: selection.SelectKBest(selection.f_regression, k=5),
        ("diabetes", "20,000 x 100", "1,000 x 5,000"),
        answer=lambda m, X: m.get_support(),
    ),
    "RecursiveElimination": Line(
        lambda: lineal.RecursiveElimination(lineal.LogisticRegression(), n_columns=5),
        lambda: selection.RFE(linear.LogisticRegression(), n_features_to_select=5),
        ("wine", "breast cancer"),
        answer=None,
    ),
    "OneVsRest": Line(
        lambda: lineal.OneVsRest(lineal.LogisticRegression()),
        lambda: multiclass.OneVsRestClassifier(linear.LogisticRegression()),
        ("iris", "wine", "digits"),
    ),
    "OneVsOne": Line(
        lambda: lineal.OneVsOne(lineal.LogisticRegression()),
        lambda: multiclass.OneVsOneClassifier(linear.LogisticRegression()),
        ("iris", "wine", "digits"),
    ),
    "OutputCode": Line(
        lambda: lineal.OutputCode(lineal.LogisticRegression(), "random", n_columns=15),
        lambda: multiclass.OutputCodeClassifier(linear.LogisticRegression()),
        ("digits",),
        answer=None,
    ),
    "Bagging": Line(
        lambda: lineal.Bagging(lineal.LogisticRegression()),
        lambda: ensemble.BaggingClassifier(linear.LogisticRegression()),
        SMALL,
        answer=None,
    ),
    "BaggingRegressor": Line(
        lambda: lineal.BaggingRegressor(lineal.Ridge()),
        lambda: ensemble.BaggingRegressor(linear.Ridge()),
        ("diabetes", "California"),
        answer=None,
    ),
    "Voting": Line(
        lambda: lineal.Voting(_voters(OURS, True)),
        lambda: ensemble.VotingClassifier(_voters(THEIRS, False)),
        SMALL,
    ),
    "Stacking": Line(
        lambda: lineal.Stacking(
            _voters(OURS, True), lineal.LogisticRegression(), outputs="probabilities", passthrough=False
        ),
        lambda: ensemble.StackingClassifier(_voters(THEIRS, False)),
        SMALL,
        answer=None,
    ),
}
