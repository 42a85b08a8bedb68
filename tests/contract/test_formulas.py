"""Predictors whose weights are a formula keep the promises that certified ones keep."""

import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from contract.members import data_for, features, formulas, labels, named, same_model, whole_features
from lineal import FisherDiscriminant
from lineal.errors import InputError, ParameterError

every = pytest.mark.parametrize("kind", formulas(), ids=named)
every_classifier = pytest.mark.parametrize(
    "kind", [kind for kind in formulas() if is_classifier(kind())], ids=named
)
sparse_ones = pytest.mark.parametrize(
    "kind", [kind for kind in formulas() if kind().__sklearn_tags__().input_tags.sparse], ids=named
)


@every
def test_options_and_copies(kind):
    """get_params names every argument; clone and pickle give the same model; fit rewrites no option."""
    X, y = data_for(kind)
    model = kind()
    before = model.get_params()
    assert set(before) == set(inspect.signature(kind).parameters)
    model.fit(X, y)
    assert all(model.get_params()[name] is before[name] for name in before)
    assert same_model(clone(model).fit(X, y), model)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    with pytest.raises(ParameterError, match="n_threads"):
        kind(n_threads=0).fit(object(), object())


@every
def test_it_lives_in_pipelines(kind):
    """A pipeline, cross-validation, and predictions that do not depend on the container."""
    X, y = data_for(kind)
    assert np.isfinite(cross_val_score(make_pipeline(StandardScaler(), kind()), X, y, cv=3)).all()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
@every
def test_frames(kind, frame):
    """A frame gives the model of its numbers, and its names where scikit-learn reads them."""
    X, y = data_for(kind)
    framed = frame({f"x{j}": X[:, j] for j in range(X.shape[1])})
    model = kind().fit(framed, y)
    assert same_model(model, kind().fit(X, y))
    np.testing.assert_array_equal(model.predict(framed), model.predict(framed))


@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
@sparse_ones
def test_sparse_layouts(kind, layout, index_dtype):
    """Any sparse layout gives the same bits, and the dense model to rounding."""
    X = whole_features().astype(float)
    y = labels(X) if is_classifier(kind()) else X[:, 0]
    A = getattr(sp, f"{layout}_array")(X)
    if layout == "coo":
        A.coords = tuple(c.astype(index_dtype) for c in A.coords)
    else:
        A.indices, A.indptr = A.indices.astype(index_dtype), A.indptr.astype(index_dtype)
    model = kind().fit(A, y)
    assert same_model(model, kind().fit(sp.csr_array(X), y))
    np.testing.assert_allclose(model.coef_, kind().fit(X, y).coef_, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@every
def test_numbers_that_are_none_are_refused_with_their_place(kind, bad):
    """NaN and infinity name row and column, in fit and in predict."""
    X, y = data_for(kind)
    model = kind().fit(X, y)
    X[7, 2] = bad
    with pytest.raises(InputError, match=r"row 7, column 2\b"):
        kind().fit(X, y)
    with pytest.raises(InputError, match=r"row 7, column 2\b"):
        model.predict(X)


@every
def test_data_that_do_not_fit_together(kind):
    """No rows, no columns, other lengths, no y, bad weights: refused in words."""
    X, y = data_for(kind)
    for data, targets, weights in [
        (X[:0], y[:0], None),
        (X[:, :0], y, None),
        (X, y[:-1], None),
        (X, None, None),
        (X, y, np.ones(3)),
        (X, y, -np.ones(len(y))),
        (X, y, np.zeros(len(y))),
    ]:
        with pytest.raises(InputError):
            kind().fit(data, targets, sample_weight=weights)


@pytest.mark.parametrize("n_threads", [2, 5])
@every
def test_threads_change_no_bit(kind, n_threads):
    """One thread and several give the same model."""
    X, y = data_for(kind, n=500)
    assert same_model(kind(n_threads=n_threads).fit(X, y), kind(n_threads=1).fit(X, y))


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@every_classifier
def test_probabilities_agree_with_predict(kind, n_classes):
    """Rows sum to 1 and the largest is the prediction's, also far out and at exact ties."""
    X = features(80)
    model = kind().fit(X, labels(X, n_classes))
    for scale in (1e-12, 1.0, 1e9):
        p = model.predict_proba(scale * X)
        np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
        np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(scale * X))
    model.coef_, model.intercept_ = np.zeros_like(model.coef_), np.zeros_like(model.intercept_)
    np.testing.assert_array_equal(model.classes_[model.predict_proba(X).argmax(axis=1)], model.predict(X))


@every_classifier
def test_labels_of_any_type(kind):
    """Text, booleans, tuples and mixed labels come back as they went in; one class is refused."""
    X = features()
    codes = labels(X)
    for names in (["no", "yes"], [False, True], [(0, 1), (1, 0)], ["one", 2], [None, "some"]):
        y = np.empty(len(codes), dtype=object)
        y[:] = [names[code] for code in codes]
        model = kind().fit(X, y)
        assert set(model.predict(X).tolist()) <= set(names)
        assert len(model.classes_) == 2
    with pytest.raises(InputError, match="one class"):
        kind().fit(X, np.zeros(40))
    with pytest.raises(InputError, match="one class"):
        kind().fit(X, codes, sample_weight=codes)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"shrinkage": "much"}, "shrinkage must be"),
        ({"shrinkage": 1.5}, "shrinkage must be"),
        ({"shrinkage": True}, "shrinkage must be"),
        ({"shrinkage": float("nan")}, "shrinkage must be"),
        ({"rule": "first"}, "rule must be one of 'crossing', 'both', 'pooled'"),
        ({"priors": "fair"}, "priors must be 'equal'"),
        ({"n_components": 0}, "n_components must be"),
        ({"n_components": 1.5}, "n_components must be"),
    ],
)
def test_options_of_fisher_are_refused_before_the_data(options, words):
    """An option that cannot be is refused by name, and the data are not looked at."""
    with pytest.raises(ParameterError, match=words):
        FisherDiscriminant(**options).fit(object(), object())


def test_options_of_fisher_that_do_not_suit_the_data():
    """Priors for other classes and more directions than there are: refused with what there is."""
    X = features()
    y = np.array(["a", "b", "c"])[labels(X, 3)]
    for priors in (
        [0.5, 0.5],
        [0.5, 0.5, 0.0],
        {"a": 1.0, "b": 1.0},
        {"a": 1.0, "b": 1.0, "d": 1.0},
        [1, 1, np.nan],
    ):
        with pytest.raises(ParameterError, match="priors must"):
            FisherDiscriminant(priors=priors).fit(X, y)
    with pytest.raises(ParameterError, match="at most 2"):
        FisherDiscriminant(n_components=3).fit(X, y)
    model = FisherDiscriminant(n_components=1, priors={"a": 2.0, "b": 1.0, "c": 1.0}).fit(X, y)
    assert model.transform(X).shape == (40, 1)
    np.testing.assert_allclose(model.priors_, [0.5, 0.25, 0.25])
    assert model.get_feature_names_out().tolist() == ["fisherdiscriminant0"]
    np.testing.assert_array_equal(
        model.set_params(n_components=None).fit(X, y).transform(X)[:, :1], model.fit(X, y).transform(X)[:, :1]
    )
    framed = FisherDiscriminant().set_output(transform="pandas").fit(X, y).transform(X)
    assert list(framed.columns) == ["fisherdiscriminant0", "fisherdiscriminant1"]
