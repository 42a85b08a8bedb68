"""A fit that is refused or broken off leaves a learner as it was."""

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import lineal
from contract.members import data_for, named, of_matrices, predictors
from lineal.errors import InputError, NotCertifiedWarning
from lineal.features import Nystroem, PolynomialFeatures, RandomBinningFeatures, RandomFourierFeatures
from lineal.text import TextVectorizer

BROKEN = ["other width, NaN", "names, infinity", "labels too few", "negative weights"]


def _broken(name, X, y):
    """Data that no fit takes, of another shape and with other labels than before."""
    other = y + 7
    if name == "other width, NaN":
        return (np.full((len(X), 7), np.nan), other), {}
    if name == "names, infinity":
        return (pd.DataFrame(X[:, :2] * np.inf, columns=["a", "b"]), other), {}
    if name == "labels too few":
        return (X[:, :2], other[:-1]), {}
    return (X[:, :2], other), {"sample_weight": -np.ones(len(X))}


@pytest.mark.parametrize("kind", of_matrices(predictors()), ids=named)
def test_a_refused_fit_changes_nothing(kind):
    """Whatever is refused, and however late: the old model stays, attribute by attribute."""
    X, y = data_for(kind)
    X = np.abs(X)  # naive Bayes counts
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kind().fit(X, y)
        before = {name: pickle.dumps(value) for name, value in vars(model).items()}
        for name in BROKEN:
            data, more = _broken(name, X, y)
            if more and "sample_weight" not in inspect.signature(kind.fit).parameters:
                continue
            if kind is lineal.OneClassSVM and name == "labels too few":
                continue  # it has no labels
            with pytest.raises(InputError):
                model.fit(*data, **more)
            assert {key: pickle.dumps(value) for key, value in vars(model).items()} == before, name


TRANSFORMERS = [
    lineal.ColumnScaler("[0,1]"),
    Nystroem(n_components=3),
    RandomFourierFeatures(n_features=4),
    RandomBinningFeatures(n_grids=2),
    PolynomialFeatures(),
]


@pytest.mark.parametrize("given", TRANSFORMERS, ids=lambda given: type(given).__name__)
def test_a_refused_fit_leaves_a_transformer_as_it_was(given):
    """Its width and its names, too: what it has learned goes on being of use."""
    X = np.abs(np.random.default_rng(0).normal(size=(20, 3)))
    transformer = clone(given).fit(X)
    before = {name: pickle.dumps(value) for name, value in vars(transformer).items()}
    wanted = transformer.transform(X)
    broken = [np.full((20, 7), np.nan), pd.DataFrame(np.full((20, 2), np.inf), columns=["a", "b"])]
    if isinstance(given, lineal.ColumnScaler):
        broken.append(-X[:, :2])  # refused when all of it was read
    for other in broken:
        with pytest.raises(ValueError, match=r"NaN|infinity|at least 0"):
            transformer.fit(other)
        assert {name: pickle.dumps(value) for name, value in vars(transformer).items()} == before
    assert (transformer.transform(X) != wanted).sum() == 0


def test_a_refused_fit_leaves_vectorizers_as_they_were():
    """Of texts and of tables."""
    words = TextVectorizer().fit(["one text", "and another"])
    table = lineal.TableVectorizer().fit(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}))
    for vectorizer, other in ((words, ["one", None]), (table, pd.DataFrame({"c": [np.inf, 1.0]}))):
        before = {name: id(value) for name, value in vars(vectorizer).items()}
        vectorizer.set_params(**({"stem": "english"} if vectorizer is words else {}))
        with pytest.raises(InputError):
            vectorizer.fit(other)
        after = {name: id(value) for name, value in vars(vectorizer).items()}
        assert {name for name in after if before.get(name) != after[name]} <= {"stem"}
        assert before.keys() == after.keys()


def test_what_lapack_says_is_told_as_overflow_only_where_it_is():
    """A failure of linear algebra for another reason comes out as it is."""
    X, y = data_for(lineal.LinearClassifier)

    def fail(progress):
        raise np.linalg.LinAlgError("for another reason")

    with pytest.raises(np.linalg.LinAlgError, match="for another reason"):
        lineal.LinearClassifier(callbacks=[fail]).fit(X, y)
    with pytest.raises(InputError, match="Rescale"):
        lineal.LogisticRegression().fit(X * 1e200, np.arange(len(X)) % 3)


@pytest.mark.parametrize("C", [1e-308, 1e308])
def test_a_strength_at_the_end_of_float64_is_fitted(C):
    """A penalty next to nothing, and one that leaves nothing: certified, as ``verify`` says too."""
    X, _ = data_for(lineal.LinearClassifier)
    y = np.arange(len(X)) % 3
    model = lineal.LogisticRegression(C=C).fit(X, y)
    assert model.certificate_.converged
    assert lineal.verify(model, X, y).converged


@pytest.mark.parametrize("kind", [lineal.LinearClassifier, lineal.LinearRegressor], ids=named)
def test_a_callback_that_raises_changes_nothing(kind):
    """An exception from inside the solver comes out as it is, and the old model answers."""
    X, y = data_for(kind)
    model = kind().fit(X, y)
    old = model.predict(X)

    def fail(progress):
        raise ZeroDivisionError

    model.set_params(callbacks=[fail])
    with pytest.raises(ZeroDivisionError):
        model.fit(X[:, :2], y + 7)
    np.testing.assert_array_equal(model.predict(X), old)


def test_warnings_of_fits_name_the_line_that_fitted():
    """Not a line of the library."""
    X, y = data_for(lineal.LinearClassifier)
    with pytest.warns(NotCertifiedWarning) as told:
        lineal.LinearClassifier(max_epochs=1, tol=1e-14).fit(X, y)
    assert told[0].filename == __file__
