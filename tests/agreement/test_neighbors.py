"""Nearest neighbours and scores of columns against scikit-learn and SciPy."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from sklearn import feature_selection, neighbors

from lineal import KNeighborsClassifier, KNeighborsRegressor
from lineal.features import chi2, information_gain, pearson, signal_to_noise, t_statistic

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 5))
Q = rng.normal(size=(80, 5))
LABELS = rng.integers(0, 3, size=300)
NUMBERS = rng.normal(size=(300, 2))


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("k", [1, 7])
def test_classifier(k, weights):
    """Shares of votes are scikit-learn's on data without ties."""
    ours = KNeighborsClassifier(k, weights=weights).fit(X, LABELS)
    theirs = neighbors.KNeighborsClassifier(k, weights=weights).fit(X, LABELS)
    np.testing.assert_allclose(ours.predict_proba(Q), theirs.predict_proba(Q), atol=1e-12)
    np.testing.assert_array_equal(ours.predict(Q), theirs.predict(Q))


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("algorithm", ["auto", "kd_tree", "brute"])
def test_regressor(algorithm, weights):
    """So are means, of several targets at once."""
    ours = KNeighborsRegressor(4, weights=weights, algorithm=algorithm).fit(X, NUMBERS)
    theirs = neighbors.KNeighborsRegressor(4, weights=weights).fit(X, NUMBERS)
    np.testing.assert_allclose(ours.predict(Q), theirs.predict(Q), atol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "mahalanobis", "hamming"])
def test_distances(metric):
    """Distances are SciPy's to rounding, its share of columns for Hamming."""
    A, B = (X.round(), Q.round()) if metric == "hamming" else (X, Q)
    params = {"VI": np.linalg.inv(np.cov(A.T))} if metric == "mahalanobis" else None
    theirs = neighbors.NearestNeighbors(
        n_neighbors=300, algorithm="brute", metric=metric, metric_params=params
    )
    wanted = theirs.fit(A).kneighbors(B)[0] * (5 if metric == "hamming" else 1)
    ours = KNeighborsRegressor(1, metric=metric).fit(A, NUMBERS).kneighbors(B, 300)[0]
    np.testing.assert_allclose(ours, wanted, atol=1e-7)


def test_sparse_text():
    """Cosine neighbours of sparse rows, without themselves."""
    A = sp.random(400, 900, density=0.03, random_state=0, format="csr")
    theirs = neighbors.NearestNeighbors(n_neighbors=5, metric="cosine").fit(A).kneighbors()
    ours = KNeighborsRegressor(5, metric="cosine").fit(A, np.zeros(400)).kneighbors()
    np.testing.assert_allclose(ours[0], theirs[0], atol=1e-12)
    is_clear = np.diff(theirs[0], axis=1).min(axis=1) > 1e-9
    np.testing.assert_array_equal(ours[1][is_clear], theirs[1][is_clear])


# ---- scores of columns ----------------------------------------------------------------------------

COUNTS = rng.poisson(np.linspace(0.05, 2.0, 12), size=(200, 12)).astype(float)
COUNTS[:, 3] += 2 * (np.arange(200) % 2)
TWO = np.arange(200) % 2
MANY = rng.integers(0, 4, size=200)
TIMES = rng.integers(0, 4, size=200)
FUNCTIONS = [information_gain, chi2, pearson, signal_to_noise, t_statistic]


@pytest.mark.parametrize("y", [TWO, MANY], ids=["2 classes", "4 classes"])
def test_scores_that_scikit_learn_has(y):
    """chi2 and the mutual information of counts are scikit-learn's, for any number of classes."""
    np.testing.assert_allclose(chi2(COUNTS, y), feature_selection.chi2(COUNTS, y)[0], rtol=1e-12)
    mutual = feature_selection.mutual_info_classif(COUNTS, y, discrete_features=True)
    np.testing.assert_allclose(information_gain(COUNTS, y), mutual, atol=1e-12)


def test_t_is_that_of_scipy_and_its_square_scikit_learns_f():
    """Student's t of two samples; with 4 classes the largest of one against the rest."""
    t = stats.ttest_ind(COUNTS[TWO == 1], COUNTS[TWO == 0]).statistic
    np.testing.assert_allclose(t_statistic(COUNTS, TWO), np.abs(t), rtol=1e-10)
    F = feature_selection.f_classif(COUNTS, TWO)[0]
    np.testing.assert_allclose(t_statistic(COUNTS, TWO) ** 2, F, rtol=1e-9)
    each = [np.abs(stats.ttest_ind(COUNTS[c == MANY], COUNTS[c != MANY]).statistic) for c in range(4)]
    np.testing.assert_allclose(t_statistic(COUNTS, MANY), np.max(each, axis=0), rtol=1e-10)


@pytest.mark.parametrize("y", [TWO, MANY], ids=["2 classes", "4 classes"])
def test_pearson_and_signal_to_noise_are_their_formulas(y):
    """Correlation with a class, and Golub's ratio, each class against the rest."""
    correlations = [
        [abs(stats.pearsonr(column, y == c).statistic) for column in COUNTS.T] for c in np.unique(y)
    ]
    np.testing.assert_allclose(pearson(COUNTS, y), np.max(correlations, axis=0), rtol=1e-10, atol=1e-14)
    ratios = []
    for c in np.unique(y):
        a, b = COUNTS[y == c], COUNTS[y != c]
        ratios.append(np.abs(a.mean(axis=0) - b.mean(axis=0)) / (a.std(axis=0) + b.std(axis=0)))
    np.testing.assert_allclose(signal_to_noise(COUNTS, y), np.max(ratios, axis=0), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("y", [TWO, MANY], ids=["2 classes", "4 classes"])
def test_weights_repeat_and_sparse_is_dense(function, y):
    """Weight w is the row w times, and layouts change nothing, for counts and for continuous numbers."""
    rows = np.repeat(np.arange(200), TIMES)
    for table in (COUNTS, np.abs(X[:200]) * (X[:200] > -0.5)):
        heavy = function(table, y, TIMES)
        np.testing.assert_allclose(heavy, function(table[rows], y[rows]), rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(heavy, function(sp.csr_array(table), y, TIMES))
        np.testing.assert_array_equal(heavy, function(sp.csc_array(table), y, TIMES))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_scores_of_columns_that_say_nothing_or_all(function):
    """A constant column scores 0, a column that is the class scores most, and all scores are finite."""
    table = np.column_stack([np.full(200, 3.0), TWO, COUNTS[:, 0], np.zeros(200)])
    scores = function(table, TWO)
    assert np.isfinite(scores).all()
    assert scores[0] == pytest.approx(0.0, abs=1e-9)
    assert scores[3] == 0.0
    assert scores.argmax() == 1
    assert (function(table, np.zeros(200)) == 0).all()


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_scores_do_not_depend_on_units(function):
    """Multiplying a column changes no score but chi2, which then grows in proportion."""
    factors = np.array([1e-200, 1e-3, 1.0, 1e3, 1e150, 8, 1, 2, 3, 4, 5, 1e200])
    expected = function(COUNTS, MANY) * (factors if function is chi2 else 1.0)
    np.testing.assert_allclose(function(COUNTS * factors, MANY), expected, rtol=1e-8)


def test_information_gain_of_continuous_columns():
    """Many values are cut at deciles: a threshold on a uniform column keeps the gain of its exact half."""
    x = np.linspace(0, 1, 1000)[:, None]
    assert information_gain(x, x[:, 0] > 0.5)[0] == pytest.approx(np.log(2), abs=1e-9)
    rare = np.where(np.arange(1000) < 30, rng.random(1000) + 0.1, 0.0)[:, None]
    y = np.arange(1000) < 60
    present = information_gain((rare > 0).astype(float), y)
    assert information_gain(rare, y)[0] == pytest.approx(present[0], abs=1e-12)
