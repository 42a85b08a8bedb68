"""What the contracts quantify over: every public estimator, discovered, and small data sets for each."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.estimator_checks import parametrize_with_checks

import lineal
from lineal.learners.bayes.base import BaseNaiveBayes
from lineal.learners.model import LinearModel
from lineal.learners.neighbors.base import BaseNeighbors
from lineal.learners.online.model import StreamedModel


def predictors():
    """Every public class that learns to predict; a new one arrives with scikit-learn's checks.

    Learners of texts have contracts of their own, in test_text_learners.
    """
    found = [member for member in _classes_that_fit() if hasattr(member, "predict")]
    return [member for member in found if not member().__sklearn_tags__().input_tags.string]


def estimators():
    """Those predictors that minimise an objective, and so have a tolerance and a certificate."""
    return [member for member in predictors() if issubclass(member, LinearModel)]


def naive_bayes():
    """Those that count; their contracts are in test_naive_bayes."""
    return [member for member in predictors() if issubclass(member, BaseNaiveBayes)]


def formulas():
    """Those whose weights are a formula. All others have contracts in files of their own."""
    others = (StreamedModel, BaseNaiveBayes, BaseNeighbors, lineal.Perceptron)
    elsewhere = (
        "lineal.compose.",
        "lineal.learners.joint.",
        "lineal.learners.kernel.",
        "lineal.learners.scenarios.",
    )
    alone = [member for member in predictors() if not member.__module__.startswith(elsewhere)]
    return [member for member in alone if not issubclass(member, others)]


def streams():
    """Those that learn from streams of rows; a learner that is fitted learns from them, too."""
    return [member for member in of_matrices(predictors()) if issubclass(member, StreamedModel)]


def transformers():
    """Every public class that learns a map of features and nothing else."""
    found = [member for member in _classes_that_fit() if hasattr(member, "transform")]
    return [member for member in found if not hasattr(member, "predict")]


def _classes_that_fit():
    public = (getattr(lineal, name) for name in lineal.__all__)
    return [member for member in public if inspect.isclass(member) and hasattr(member, "fit")]


def classifiers():
    """Every public classifier class that minimises the objective."""
    return [kind for kind in estimators() if is_classifier(kind())]


def of_matrices(kinds):
    """Those whose X is a matrix of numbers; the others take things of any kind."""
    return [kind for kind in kinds if kind().__sklearn_tags__().input_tags.two_d_array]


def regressors():
    """Every public regressor class."""
    return [kind for kind in estimators() if is_regressor(kind())]


def named(kind):
    """A readable test id."""
    return kind.__name__ if inspect.isclass(kind) else str(kind)


def features(n=40, d=5, seed=0):
    """(n, d) numbers of ordinary size."""
    return np.random.default_rng(seed).normal(size=(n, d))


def labels(X, n_classes=2, seed=1):
    """Noisy labels 0 .. n_classes - 1 that depend on X; every class has members and none is separable."""
    rng = np.random.default_rng(seed)
    scores = X @ rng.normal(size=(X.shape[1], n_classes)) + 1.5 * rng.gumbel(size=(len(X), n_classes))
    codes = scores.argmax(axis=1)
    codes[: 3 * n_classes] = np.arange(3 * n_classes) % n_classes
    return codes


def numbers(X, n_targets=None, seed=1):
    """Noisy linear targets, (n,) or (n, n_targets)."""
    rng = np.random.default_rng(seed)
    K = 1 if n_targets is None else n_targets
    y = X @ rng.normal(size=(X.shape[1], K)) + 0.5 * rng.normal(size=(len(X), K)) + 0.7
    return y[:, 0] if n_targets is None else y


def data_for(kind, n=40, d=5, seed=0):
    """(X, y) that suit an estimator."""
    X = features(n, d, seed)
    return X, labels(X) if is_classifier(kind()) else numbers(X)


def whole_features(n=40, d=5, seed=0):
    """(n, d) small whole numbers, a third of them 0: exact in every dtype and worth storing sparsely."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n, d)) < 0.35, 0, rng.integers(-3, 4, size=(n, d))).astype(np.int64)


def same_model(a, b):
    """Whether two fits have the same weights, bit for bit."""
    return np.array_equal(a.coef_, b.coef_) and np.array_equal(a.intercept_, b.intercept_)


def state(model):
    """All there is to a learner of streams, by name."""
    told = vars(model) | getattr(vars(model).get("_stream"), "__dict__", {})
    return {name: pickle.dumps(value) for name, value in told.items() if name != "_stream"}


def half_met(kind):
    """A model that has met half of its data, and the other half."""
    X, y = data_for(kind)
    return kind().partial_fit(X[:20], y[:20]), X[20:], y[20:]


# Checks that say what another one says: of SciPy's older classes beside its arrays, of mapped files beside
# mapped files of float32.
_SAID_TWICE = (
    "check_estimator_sparse_matrix",
    "check_classifiers_train(readonly_memmap=True)",
    "check_regressors_train(readonly_memmap=True)",
)


def with_checks(estimators, one_in=1, elsewhere=None, **options):
    """scikit-learn's ``parametrize_with_checks``, with checks that repeat another one marked slow.

    Other options of estimators that pass all checks with their defaults may have one check in so many by
    default, each another part than the one before it; the rest is slow. ``elsewhere(estimator)`` are names of
    checks that are run with other options.
    """
    mark = parametrize_with_checks(estimators, **options)
    names, cases = mark.args
    places, marked = {}, []
    for case in cases:
        values, marks = (case.values, case.marks) if hasattr(case, "marks") else (case, ())
        name = mark.kwargs["ids"](values[1]).partition("(")[0]
        if elsewhere is not None and name in elsewhere(values[0]):
            continue
        place = places.setdefault(id(values[0]), [len(places), -1])
        place[1] += 1
        is_slow = sum(place) % one_in != 0 or mark.kwargs["ids"](values[1]) in _SAID_TWICE
        marked.append(pytest.param(*values, marks=[*marks, *([pytest.mark.slow] if is_slow else [])]))
    return pytest.mark.parametrize(names, marked, **mark.kwargs)
