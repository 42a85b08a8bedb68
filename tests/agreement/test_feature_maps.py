"""The maps of features meet scikit-learn's, option by option, on the same data."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.preprocessing as theirs
from sklearn.feature_extraction.text import TfidfVectorizer

from lineal import ColumnScaler, PolynomialFeatures, Ridge, TableVectorizer
from lineal.features import Categories, EqualWidths, Numbers, Quantiles, Text
from lineal.text import TextVectorizer

DATA = Path(os.environ.get("LINEAL_DATA", "~/.cache/lineal-data")).expanduser()


def numbers(n=60, d=4, seed=0):
    """Numbers of several sizes, a third of them 0."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.67) * [1.0, 10.0, 0.01, 1e5]


def letters(n=80, seed=0):
    """Two columns of letters, some rare."""
    rng = np.random.default_rng(seed)
    return rng.choice(list("aabbbccccdef"), size=(n, 2)).astype(object)


@pytest.mark.parametrize("interaction_only", [False, True])
@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_polynomial_features(degree, constant, interaction_only, layout):
    """The same columns, in the same order, under the same names."""
    X = layout(numbers())
    our = PolynomialFeatures(degree, interaction_only=interaction_only, include_constant=constant).fit(X)
    their = theirs.PolynomialFeatures(degree, interaction_only=interaction_only, include_bias=constant).fit(X)
    ours, expected = our.transform(X), their.transform(X)
    assert sp.issparse(ours) == sp.issparse(expected)
    dense = [A.toarray() if sp.issparse(A) else A for A in (ours, expected)]
    np.testing.assert_allclose(*dense, rtol=1e-14)  # factors are multiplied in another order
    assert our.get_feature_names_out().tolist() == their.get_feature_names_out().tolist()


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize(
    ("our", "their"),
    [
        (ColumnScaler("[-1,1]"), theirs.MaxAbsScaler()),
        (ColumnScaler("variance"), theirs.StandardScaler(with_mean=False)),
    ],
)
def test_scales_that_keep_zero(our, their, layout):
    """Largest size 1 and variance 1, without a shift."""
    X = layout(numbers())
    ours, expected = our.fit_transform(X), their.fit_transform(X)
    dense = [A.toarray() if sp.issparse(A) else A for A in (ours, expected)]
    np.testing.assert_allclose(*dense, rtol=1e-12)


@pytest.mark.parametrize(
    ("our", "their"),
    [
        (ColumnScaler("[0,1]", shift=True), theirs.MinMaxScaler()),
        (ColumnScaler("[-1,1]", shift=True), theirs.MinMaxScaler((-1, 1))),
        (ColumnScaler("variance", shift=True), theirs.StandardScaler()),
    ],
)
def test_scales_that_move(our, their):
    """Ranges and variance 1, with a shift."""
    X = numbers()
    np.testing.assert_allclose(our.fit_transform(X), their.fit_transform(X), rtol=1e-12, atol=1e-13)


def test_weights_of_the_variance():
    """Weights of rows mean what they mean in StandardScaler."""
    X, weight = numbers(), np.random.default_rng(1).uniform(size=60)
    our = ColumnScaler("variance", shift=True).fit(X, sample_weight=weight)
    their = theirs.StandardScaler().fit(X, sample_weight=weight)
    np.testing.assert_allclose(our.scale_, their.scale_, rtol=1e-12)
    np.testing.assert_allclose(our.offset_, their.mean_, rtol=1e-12)


def test_categories():
    """OneHotEncoder(handle_unknown="ignore") has the same columns, also for levels it never saw."""
    X = letters()
    our, their = TableVectorizer().fit(X), theirs.OneHotEncoder(handle_unknown="ignore").fit(X)
    new = np.array([["a", "never"], ["zz", "b"]], dtype=object)
    for table in (X, new):
        np.testing.assert_array_equal(our.transform(table).toarray(), their.transform(table).toarray())
    assert our.get_feature_names_out().tolist() == [
        name.replace("_", "=") for name in their.get_feature_names_out()
    ]


def test_levels_that_are_numbers():
    """Numbers asked to be categories are sorted as numbers, as in OneHotEncoder."""
    X = np.random.default_rng(0).choice([2, 10, -1, 100], size=(50, 1))
    our = TableVectorizer({"x0": "category"}).fit_transform(X)
    np.testing.assert_array_equal(our.toarray(), theirs.OneHotEncoder().fit_transform(X).toarray())


@pytest.mark.parametrize("min_count", [2, 8, 12])
def test_rare_categories(min_count):
    """min_count is min_frequency: rare and unseen levels share the last column."""
    X = letters()
    our = TableVectorizer(categories=Categories(min_count=min_count)).fit(X)
    their = theirs.OneHotEncoder(min_frequency=min_count, handle_unknown="infrequent_if_exist").fit(X)
    new = np.vstack([X, [["never", "never"]]])
    np.testing.assert_array_equal(our.transform(new).toarray(), their.transform(new).toarray())


@pytest.mark.parametrize("n_bins", [2, 3, 7])
@pytest.mark.parametrize(
    ("bins", "strategy"),
    [
        (Quantiles, {"strategy": "quantile", "quantile_method": "linear"}),
        (EqualWidths, {"strategy": "uniform"}),
    ],
)
def test_bins(bins, strategy, n_bins):
    """KBinsDiscretizer puts every number, also those beyond the training range, into the same bin."""
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(200, 2)), 3 * rng.normal(size=(100, 2))
    our = TableVectorizer(numbers=Numbers(bins=bins(n_bins))).fit(X)
    their = theirs.KBinsDiscretizer(n_bins, encode="onehot", **strategy).fit(X)
    for table in (X, new):
        np.testing.assert_array_equal(our.transform(table).toarray(), their.transform(table).toarray())


def test_text():
    """A column of text is what its transformer makes of it."""
    texts = ["the first of the four texts", "and here the second one", "", "a fourth, which ends it"]
    our = TableVectorizer({"body": "text"}).fit_transform({"body": texts})
    alone = TextVectorizer(dtype=np.float64).fit_transform(texts)
    np.testing.assert_array_equal(our.toarray(), alone.toarray())
    given = TableVectorizer({"body": Text(TfidfVectorizer())}).fit_transform({"body": texts})
    np.testing.assert_array_equal(given.toarray(), TfidfVectorizer().fit_transform(texts).toarray())


def housing():
    """California's houses as the file has them: text in every cell."""
    file = DATA / "california_housing" / "housing.csv"
    if not file.exists():
        pytest.skip("california_housing/housing.csv is not there: unpack the real data, or set LINEAL_DATA")
    with file.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_houses_with_blanks_and_a_category():
    """Text cells asked to be numbers give the matrix of the numbers: blanks filled, indicated and fitted."""
    pd = pytest.importorskip("pandas")
    rows = housing()
    frame = pd.read_csv(DATA / "california_housing" / "housing.csv")
    price = frame.pop("median_house_value")
    for row in rows:
        del row["median_house_value"]
    kinds = {name: "number" for name in frame.columns if name != "ocean_proximity"}
    from_text, from_frame = TableVectorizer(kinds).fit(rows), TableVectorizer().fit(frame)
    assert from_frame.kinds_ == {**kinds, "ocean_proximity": "category"}
    A, B = from_text.transform(rows), from_frame.transform(frame)
    assert A.shape == (20640, 8 + 1 + 5)
    assert (A != B).nnz == 0
    names = from_frame.get_feature_names_out().tolist()
    assert (
        B[:, [names.index("total_bedrooms is missing")]].sum() == frame["total_bedrooms"].isna().sum() == 207
    )
    blank = np.flatnonzero(frame["total_bedrooms"].isna())
    filled = B[blank][:, [names.index("total_bedrooms")]].toarray()
    np.testing.assert_allclose(filled, frame["total_bedrooms"].mean(), rtol=1e-12)
    assert Ridge().fit(B, price).certificate_.converged
