"""Fitted linear models and pipelines of scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import preprocessing
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from lineal.errors import ModelFileError, ParameterError
from lineal.jobs.foreign.assembling import FloatArray, assemble, many_classes, numbers, two_classes
from lineal.jobs.foreign.vectorizers import VECTORIZERS, text_features
from lineal.model import Model
from lineal.model.features.base import Features
from lineal.model.features.rows import RowFeatures
from lineal.model.heads import Head

_LOGISTIC = {"LogisticRegression", "LogisticRegressionCV"}
_CLASSIFIERS = {
    *_LOGISTIC,
    *("LinearDiscriminantAnalysis", "LinearSVC", "PassiveAggressiveClassifier", "Perceptron"),
    *("RidgeClassifier", "RidgeClassifierCV", "SGDClassifier"),
}
_REGRESSORS = {
    *("ARDRegression", "BayesianRidge", "ElasticNet", "ElasticNetCV", "HuberRegressor", "Lars", "LarsCV"),
    *("Lasso", "LassoCV", "LassoLars", "LassoLarsCV", "LassoLarsIC", "LinearRegression", "LinearSVR"),
    *("MultiTaskElasticNet", "MultiTaskElasticNetCV", "MultiTaskLasso", "MultiTaskLassoCV"),
    *("OrthogonalMatchingPursuit", "OrthogonalMatchingPursuitCV", "PassiveAggressiveRegressor"),
    *("QuantileRegressor", "Ridge", "RidgeCV", "SGDRegressor", "TheilSenRegressor"),
}
_SCALERS = (preprocessing.StandardScaler, preprocessing.MaxAbsScaler)


def read_pickle(path: Path) -> Model:
    """The model in a file that pickle or joblib wrote. Whoever wrote it can run any code here and now."""
    return from_estimator(unpickled(path))


def unpickled(path: Path) -> Any:
    """What is in a file that pickle or joblib wrote."""
    import joblib

    try:
        return joblib.load(path)
    except Exception as flaw:  # whatever the code in it raises
        raise ModelFileError(f"{path} cannot be unpickled: {type(flaw).__name__}: {flaw}"[:500]) from flaw


def from_estimator(estimator: Any) -> Model:
    """The model of a fitted estimator or pipeline, with the same answers but for rounding.

    Raises
    ------
    ParameterError
        For estimators, steps and options that cannot be honoured exactly, by name.
    """
    if not hasattr(estimator, "fit") or isinstance(estimator, type):
        raise ParameterError(f"A fitted estimator is needed, but a {type(estimator).__name__} came.")
    check_is_fitted(estimator)
    steps = _flat(estimator)
    *transformers, learner = steps
    features, scale, shift = _reading(transformers, learner)
    head = _answering(learner, scale, shift)
    names = ", ".join(type(step).__name__ for step in steps)
    return assemble(features, head, learner=f"scikit-learn {names}", notes={"from": "sklearn"})


def _flat(estimator: Any) -> list[Any]:
    """The steps of a pipeline, pipelines inside it taken apart."""
    if not isinstance(estimator, Pipeline):
        return [estimator]
    steps = [step for _, step in estimator.steps if step is not None and step != "passthrough"]
    if not steps:
        raise ParameterError("The pipeline has no steps.")
    return [part for step in steps for part in _flat(step)]


# ---- reading ----------------------------------------------------------------------------------


def _reading(transformers: Sequence[Any], learner: Any) -> tuple[Features, FloatArray, FloatArray]:
    """The features, and what each column is multiplied with and then lowered by before the weights."""
    rest = list(transformers)
    features: Features
    if rest and isinstance(rest[0], VECTORIZERS):
        vectorizer = rest.pop(0)
        tfidf = rest.pop(0) if rest and isinstance(rest[0], TfidfTransformer) else None
        features = text_features(vectorizer, tfidf)
    else:
        first = rest[0] if rest else learner
        names = getattr(first, "feature_names_in_", None)
        width = getattr(first, "n_features_in_", None)
        if width is None:
            raise ParameterError(f"{type(first).__name__} does not say how many features it takes.")
        features = RowFeatures(int(width), None if names is None else tuple(map(str, names)))
    scale, shift = np.ones(features.n_columns), np.zeros(features.n_columns)
    for scaler in rest:
        if not isinstance(scaler, _SCALERS):
            raise ParameterError(
                f"The step {type(scaler).__name__} cannot be imported. CountVectorizer, TfidfVectorizer, "
                "HashingVectorizer, TfidfTransformer, StandardScaler and MaxAbsScaler can."
            )
        scale, shift = _scaled(scaler, scale, shift)
    return features, scale, shift


def _scaled(scaler: Any, scale: FloatArray, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
    """One more step of (scale x - shift - mean) / divisor."""
    if getattr(scaler, "clip", False):
        raise ParameterError("MaxAbsScaler(clip=True) is not linear.")
    divisor = np.ones_like(scale) if scaler.scale_ is None else np.asarray(scaler.scale_)
    mean = getattr(scaler, "mean_", None) if getattr(scaler, "with_mean", False) else None
    return scale / divisor, (shift + (0.0 if mean is None else mean)) / divisor


# ---- answering --------------------------------------------------------------------------------


def _answering(learner: Any, scale: FloatArray, shift: FloatArray) -> Head:
    kind = _kind(learner)
    if kind == "MultinomialNB":
        return _bayes(learner, scale, shift)
    is_pair = kind == "SVC" and learner.kernel == "linear" and len(learner.classes_) == 2
    if kind in _CLASSIFIERS or is_pair:
        return _classifier(learner, scale, shift)
    if kind in _REGRESSORS:
        coef, b = np.asarray(_dense(learner.coef_)), np.asarray(learner.intercept_, dtype=np.float64)
        W, b = _through(np.atleast_2d(coef), b, scale, shift)
        return numbers(W, b, is_one=coef.ndim == 1)
    raise ParameterError(
        f"{type(learner).__name__} cannot be imported. scikit-learn's linear classifiers and regressors can, "
        "MultinomialNB, and SVC(kernel='linear') of two classes."
    )


def _kind(learner: Any) -> str:
    """The name of a class of scikit-learn itself: one made of it may answer otherwise."""
    return type(learner).__name__ if type(learner).__module__.startswith("sklearn.") else ""


def _classifier(learner: Any, scale: FloatArray, shift: FloatArray) -> Head:
    classes = learner.classes_
    if not isinstance(classes, np.ndarray) or classes.ndim != 1:
        raise ParameterError(f"{type(learner).__name__} has several outputs; models have one.")
    coef = np.atleast_2d(_dense(learner.coef_))
    if len(coef) != (1 if len(classes) == 2 else len(classes)):
        raise ParameterError(
            f"{type(learner).__name__} has {len(coef)} rows of weights for {len(classes)} classes: several "
            "labels at once cannot be imported."
        )
    W, b = _through(coef, np.atleast_1d(learner.intercept_), scale, shift)
    link = _link(learner)
    if len(classes) == 2:
        return two_classes(W[:, 0], float(b[0]), classes[1], classes[0], "softmax" if link == "own" else link)
    return many_classes(W, b, classes, link)


def _link(learner: Any) -> str:
    """How scores become probabilities, where they do by a rule that models have."""
    kind, rule = _kind(learner), getattr(learner, "multi_class", "auto")
    if kind in _LOGISTIC:
        if rule == "multinomial" and len(learner.classes_) == 2:
            raise ParameterError(
                f"{kind}(multi_class='multinomial') of two classes counts its score twice. "
                "Fit it without multi_class."
            )
        return "own" if rule == "ovr" or learner.solver == "liblinear" else "softmax"
    if kind == "SGDClassifier" and learner.loss == "log_loss":
        return "own"
    return "softmax" if kind == "LinearDiscriminantAnalysis" else "none"


def _bayes(learner: Any, scale: FloatArray, shift: FloatArray) -> Head:
    """Logarithms of joint probabilities; of two classes their difference."""
    W, b = _through(learner.feature_log_prob_, learner.class_log_prior_, scale, shift)
    classes = learner.classes_
    if len(classes) == 2:
        return two_classes(W[:, 1] - W[:, 0], float(b[1] - b[0]), classes[1], classes[0], "softmax")
    return many_classes(W, b, classes, "softmax")


def _through(
    coef: NDArray[Any], b: NDArray[Any], scale: FloatArray, shift: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Weights and intercepts of columns as they were before they were scaled."""
    coef = np.asarray(coef, dtype=np.float64)
    lowered = np.asarray(np.broadcast_to(np.asarray(b, dtype=np.float64), (len(coef),)) - coef @ shift)
    return np.ascontiguousarray((coef * scale).T), lowered


def _dense(coef: Any) -> Any:
    return coef.toarray() if hasattr(coef, "toarray") else coef
