"""Fisher's discriminant against scikit-learn's linear discriminant analysis, where both are the same."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_svmlight_file, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_extraction.text import TfidfVectorizer

from lineal import FisherDiscriminant

DATA = Path(os.environ.get("LINEAL_DATA", "~/.cache/lineal-data")).expanduser()
BUNDLED = {"iris": load_iris, "wine": load_wine, "breast_cancer": load_breast_cancer, "digits": load_digits}


def libsvm(name, rows=None):
    """A set of the real data as an array, or a skip that says what is missing."""
    path = DATA / "libsvm" / f"{name}.svm"
    if not path.exists():
        pytest.skip(f"libsvm/{name}.svm is not there: unpack the real data, or set LINEAL_DATA")
    X, y = load_svmlight_file(str(path))
    return (X.toarray(), y) if rows is None else (X[:rows].toarray(), y[:rows])


def assert_same_scores(ours, theirs, room=1e-10):
    """Equal up to what no label sees: with K > 2, a shift of all scores of a row."""
    if ours.ndim == 2:
        ours, theirs = (Z - Z.mean(axis=1, keepdims=True) for Z in (ours, theirs))
    np.testing.assert_allclose(ours, theirs, atol=room * np.abs(theirs).max())


def lda(**options):
    return FisherDiscriminant(rule="pooled", priors="data", **options)


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
@pytest.mark.parametrize("name", BUNDLED)
def test_pooled_variances_and_priors_of_the_data_are_lda(name, solver):
    """The same scores, labels and probabilities, and directions that differ in sign and length alone."""
    X, y = BUNDLED[name](return_X_y=True)
    X = X[:, X.std(axis=0) > 0]  # eigen and lsqr do not take constant columns
    if name == "digits" and solver == "eigen":
        X = X[:, np.linalg.norm(X, axis=0) > 30]  # and eigen no nearly constant ones
    ours, theirs = lda(shrinkage=None).fit(X, y), LinearDiscriminantAnalysis(solver=solver).fit(X, y)
    room = 1e-10 if solver == "svd" else 1e-7  # the others square the condition number
    assert_same_scores(ours.decision_function(X), theirs.decision_function(X), room)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=room * 100)
    if solver != "lsqr":
        np.testing.assert_allclose(ours.explained_ratio_, theirs.explained_variance_ratio_, rtol=1e-6)
        for a, b in zip(ours.transform(X).T, theirs.transform(X).T, strict=True):
            assert abs(np.corrcoef(a, b)[0, 1]) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("shrinkage", [0.01, 0.3, 1.0])
@pytest.mark.parametrize("name", BUNDLED)
def test_a_number_shrinks_as_theirs_does(name, shrinkage):
    """A number means (1 - g) S_W + g tr(S_W) / d I in both libraries."""
    X, y = BUNDLED[name](return_X_y=True)
    theirs = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(X, y)
    ours = lda(shrinkage=shrinkage).fit(X, y)
    assert_same_scores(ours.decision_function(X), theirs.decision_function(X))
    wide = lda(shrinkage=shrinkage).fit(
        np.hstack([X[:30], X[:30] ** 2, np.ones((30, 40))]), np.arange(30) % 3
    )
    other = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(
        np.hstack([X[:30], X[:30] ** 2, np.ones((30, 40))]), np.arange(30) % 3
    )
    rows = np.hstack([X, X**2, np.ones((len(X), 40))])
    assert_same_scores(wide.decision_function(rows), other.decision_function(rows))


@pytest.mark.parametrize(("name", "rows"), [("heart_scale", None), ("letter.scale", None), ("ijcnn1", 20000)])
def test_real_sets_agree(name, rows):
    """On real data: the pseudo-inverse and the singular-value solver to 1e-10; ijcnn1's S_W is singular."""
    X, y = libsvm(name, rows)
    ours, theirs = lda(shrinkage=None).fit(X, y), LinearDiscriminantAnalysis(solver="svd").fit(X, y)
    assert_same_scores(ours.decision_function(X), theirs.decision_function(X))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize(("name", "rows"), [("a9a", 6000), ("w8a", 4000)])
def test_singular_real_sets_agree_with_a_number(name, rows):
    """Sets of indicator columns have a singular S_W: shrunk by a number both give one model, sparse too."""
    X, y = libsvm(name, rows)
    ours = lda(shrinkage=0.01).fit(sp.csr_array(X), y)
    theirs = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.01).fit(X, y)
    assert_same_scores(ours.decision_function(X), theirs.decision_function(X))
    auto = lda().fit(X, y)
    assert 0 < auto.shrinkage_ < 0.5
    assert np.mean(auto.predict(X) == theirs.predict(X)) > 0.95


@pytest.mark.parametrize("shape", [(200, 8), (40, 90)], ids=["narrow", "wide"])
def test_the_intensity_is_ledoit_and_wolfs(shape):
    """The estimated shrinkage is scikit-learn's on residuals in deviations within classes."""
    rng = np.random.default_rng(0)
    y = np.arange(shape[0]) % 3
    X = rng.normal(size=shape) @ rng.normal(size=(shape[1], shape[1])) + 3 * y[:, None]
    model = FisherDiscriminant(shrinkage="ledoit_wolf").fit(X, y)
    residuals = X - model.means_[y]
    residuals /= np.sqrt(np.mean(residuals**2, axis=0))
    assert model.shrinkage_ == pytest.approx(ledoit_wolf_shrinkage(residuals, assume_centered=True), rel=1e-9)


@pytest.mark.slow
def test_newsgroups_stay_sparse():
    """130,000 sparse columns: the equations of the shrunk S_W hold for each class pair's direction."""
    path = DATA / "20newsgroups" / "train.jsonl"
    if not path.exists():
        pytest.skip("20newsgroups/train.jsonl is not there: unpack the real data, or set LINEAL_DATA")
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    y = np.array([row["label"] for row in rows])
    X = TfidfVectorizer(sublinear_tf=True).fit_transform([row["text"] for row in rows])
    two = np.isin(y, np.unique(y)[:2])
    A, codes = X[two], (y[two] == np.unique(y)[1]).astype(int)
    model = FisherDiscriminant(shrinkage=0.01).fit(A, codes)
    w, gap = model.direction_, model.means_[1] - model.means_[0]
    deep = A @ w - (model.means_ @ w)[codes]
    trace = A.multiply(A).sum() - np.sum(model.counts_[:, None] * model.means_**2)
    left = 0.99 * (A.T @ deep) + 0.01 * trace / A.shape[1] * w
    np.testing.assert_allclose(left, gap, atol=1e-8 * np.abs(gap).max())
    all_of_them = FisherDiscriminant().fit(X, y)
    assert all_of_them.scalings_.shape == (X.shape[1], 19)
    places = all_of_them.transform(X)
    around = [places[y == label] - places[y == label].mean(axis=0) for label in np.unique(y)]
    spread = sum(part.T @ part for part in around) / len(y)
    assert np.linalg.eigvalsh(spread).max() < 1.0 / (1 - all_of_them.shrinkage_)  # the rest is the target's
