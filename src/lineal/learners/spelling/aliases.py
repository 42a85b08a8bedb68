"""Short names of learners, for people at a command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lineal.errors import ParameterError
from lineal.learners.spelling.names import nearest, public_class
from lineal.learners.spelling.reading import build


@dataclass(frozen=True)
class Alias:
    """A short name: the text of its learner and a line that says what that is."""

    text: str
    description: str


_CLASSIFICATION = {
    "svm": Alias("LinearSVC()", "support vector machine: squared hinge, L2 penalty"),
    "hinge-svm": Alias("LinearClassifier(loss=Hinge())", "support vector machine with the plain hinge"),
    "kernel-svm": Alias("SVC()", "support vector machine with a Gaussian kernel"),
    "logistic": Alias("LogisticRegression()", "logistic regression: probabilities of its own"),
    "lasso": Alias("LogisticRegression(penalty='l1')", "logistic regression that keeps few columns"),
    "elastic-net": Alias(
        "LinearClassifier(penalty=objective.ElasticNet())", "logistic regression between lasso and ridge"
    ),
    "ridge": Alias("RidgeClassifier()", "least squares to labels of -1 and 1"),
    "sgd": Alias("SGDClassifier()", "scikit-learn's SGDClassifier, solved to a certificate"),
    "perceptron": Alias("Perceptron()", "averaged perceptron"),
    "online": Alias("OnlineClassifier()", "one pass with steps that need no tuning"),
    "passive-aggressive": Alias("PassiveAggressiveClassifier()", "one pass, one margin at a time"),
    "bayes": Alias("MultinomialNB()", "naive Bayes of word counts"),
    "complement-bayes": Alias("ComplementNB()", "naive Bayes for classes of unequal size"),
    "bernoulli-bayes": Alias("BernoulliNB()", "naive Bayes of what is there and what is not"),
    "gaussian-bayes": Alias("GaussianNB()", "naive Bayes of numbers with bell curves"),
    "fisher": Alias("FisherDiscriminant()", "Fisher's discriminant, shrunk"),
    "neighbors": Alias("KNeighborsClassifier()", "votes of the five nearest rows"),
}
_REGRESSION = {
    "linear": Alias("LinearRegression()", "least squares"),
    "ridge": Alias("Ridge()", "least squares with an L2 penalty"),
    "lasso": Alias("Lasso()", "least squares that keeps few columns"),
    "elastic-net": Alias("ElasticNet()", "least squares between lasso and ridge"),
    "huber": Alias("HuberRegressor()", "least squares that outliers do not bend"),
    "quantile": Alias("QuantileRegressor()", "the median, or another quantile"),
    "svm": Alias("LinearSVR()", "support vector regression"),
    "kernel-svm": Alias("SVR()", "support vector regression with a Gaussian kernel"),
    "sgd": Alias("SGDRegressor()", "scikit-learn's SGDRegressor, solved to a certificate"),
    "online": Alias("OnlineRegressor()", "one pass with steps that need no tuning"),
    "passive-aggressive": Alias("PassiveAggressiveRegressor()", "one pass, one error at a time"),
    "polynomial": Alias("PolynomialRegression()", "a curve in one column"),
    "neighbors": Alias("KNeighborsRegressor()", "the mean of the five nearest rows"),
}
# No model file holds these: the command line refuses them.
_UNSTORED = ("gaussian-bayes", "neighbors", "polynomial")
_BY_TASK = {"classification": _CLASSIFICATION, "regression": _REGRESSION}


def aliases(task: str) -> dict[str, Alias]:
    """The short names for ``"classification"`` or ``"regression"``."""
    if task not in _BY_TASK:
        raise ParameterError(f"task must be one of {', '.join(map(repr, _BY_TASK))}, got {task!r}.")
    return dict(_BY_TASK[task])


def _unstored(known: dict[str, Alias]) -> str:
    """Which of the names are of learners that no model file holds."""
    found = [name for name in known if name in _UNSTORED]
    return f" ({' and '.join(found)} in Python alone: no model file holds them)" if found else ""


def learner_named(text: str, task: str) -> Any:
    """The learner of a short name, or of a text as :func:`build` reads it.

    Examples
    --------
    >>> learner_named("svm", "classification")
    LinearSVC()
    >>> learner_named("LinearSVC(C=10)", "classification")
    LinearSVC(C=10)
    """
    known = aliases(task)
    if not isinstance(text, str):
        raise ParameterError(f"a learner is named by text, but a {type(text).__name__} came.")
    name = text.strip()
    short = name.lower().replace("_", "-")
    if short in known:
        return build(known[short].text)
    is_word = name.replace("-", "").replace("_", "").replace(".", "").isalnum()
    if is_word and public_class(name) is None:
        elsewhere = [other for other in _BY_TASK if other != task and short in _BY_TASK[other]]
        hint = f" It is a learner for {elsewhere[0]}." if elsewhere else nearest(name, known)
        raise ParameterError(
            f"there is no learner {name!r} for {task}.{hint} There are {', '.join(known)}, and every "
            "public class of lineal, such as LinearSVC(C=10)"
            f"{_unstored(known)}."
        )
    return build(name)
