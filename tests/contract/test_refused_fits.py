"""A fit that is refused or broken off leaves a learner as it was."""

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

import lineal
from contract.members import data_for, named, of_matrices, predictors
from lineal.errors import InputError, NotCertifiedWarning

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
