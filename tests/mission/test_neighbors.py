"""The lecture on nearest neighbours, slide by slide."""

import numpy as np
import pytest

from lineal import KNeighborsClassifier, KNeighborsRegressor

X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [4.0, 3.0], [5.0, 5.0]])
T = np.array([1, -1, -1, 1, 1])


def distance(a, b, metric, X=None, **options):
    """The distance of two rows, with X as the training data where the metric learns from them."""
    rows = [a] if X is None else X
    model = KNeighborsRegressor(1, metric=metric, **options).fit(rows, np.zeros(len(rows)))
    return model.index_.distances(model._placed([b]), 1)[0, [list(map(tuple, rows)).index(tuple(a))]][0]


def test_athens_is_four_edits_from_hints():
    """Levenshtein distance: x = "athens", y = "hints", d(x, y) = 4."""
    model = KNeighborsClassifier(1, metric="levenshtein").fit(["athens"], ["x"])
    assert model.kneighbors(["hints"])[0].tolist() == [[4.0]]


def test_euclidean_distance():
    """d(x, y) = sqrt((x - y)'(x - y)): 3, 4, 5."""
    assert distance([0.0, 0.0], [3.0, 4.0], "euclidean") == 5.0


def test_hamming_distance():
    """The number of discrete features that have different values."""
    model = KNeighborsClassifier(1, metric="hamming").fit([["red", "small", "yes"]], ["x"])
    assert model.kneighbors([["red", "large", "no"]])[0].tolist() == [[2.0]]


def test_mahalanobis_distance():
    """sqrt((x - y)' S^-1 (x - y)) with the sample covariance; for uncorrelated columns of variance s_j^2 it
    is the normalised Euclidean distance, and for S = I the Euclidean one."""
    a, b = X[0], np.array([2.0, -1.0])
    inverse = np.linalg.inv(np.cov(X.T))
    assert distance(a, b, "mahalanobis", X) == pytest.approx(np.sqrt((a - b) @ inverse @ (a - b)), rel=1e-12)
    cross = np.array([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    deviations = np.sqrt(np.diag(np.cov(cross.T)))
    wanted = np.linalg.norm((cross[0] - b) / deviations)
    assert distance(cross[0], b, "mahalanobis", cross) == pytest.approx(wanted, rel=1e-12)
    white = cross / deviations
    assert distance(white[0], b, "mahalanobis", white) == pytest.approx(
        np.linalg.norm(white[0] - b), rel=1e-12
    )


def test_cosine_distance():
    """1 - x'y / (|x| |y|): 0 for one direction, 1 for a right angle, 2 for opposite ones."""
    assert distance([1.0, 0.0], [1.0, 1.0], "cosine") == pytest.approx(1 - np.sqrt(0.5), rel=1e-15)
    assert distance([1.0, 2.0], [2.0, 4.0], "cosine") == pytest.approx(0.0, abs=1e-15)
    assert distance([1.0, 0.0], [0.0, 7.0], "cosine") == 1.0
    assert distance([1.0, 0.0], [-3.0, 0.0], "cosine") == 2.0


def test_majority_of_the_k_nearest():
    """y(x) = argmax_t sum_i delta_t(t_i): the query's 1 nearest is +1, of its 3 nearest most are -1."""
    query = [[0.1, 0.1]]
    assert KNeighborsClassifier(1).fit(X, T).predict(query).tolist() == [1]
    assert KNeighborsClassifier(3).fit(X, T).predict(query).tolist() == [-1]


def test_posterior_is_the_share_of_neighbours():
    """p(C_j | x) = K_j / K."""
    shares = KNeighborsClassifier(4).fit(X, T).predict_proba([[0.1, 0.1]])
    assert shares.tolist() == [[0.5, 0.5]]


def test_distance_weighted_votes():
    """argmax_t sum_i w_i delta_t(t_i) with w_i = |x - x_i|^-2: the near one outvotes two that are far."""
    query = np.array([[0.1, 0.1]])
    d2 = ((X - query) ** 2).sum(axis=1)
    votes = {t: sum(1 / d2[i] for i in np.argsort(d2)[:3] if T[i] == t) for t in (-1, 1)}
    shares = KNeighborsClassifier(3, weights="inverse_square").fit(X, T).predict_proba(query)[0]
    assert shares == pytest.approx(
        [votes[-1] / sum(votes.values()), votes[1] / sum(votes.values())], rel=1e-12
    )
    assert KNeighborsClassifier(3, weights="inverse_square").fit(X, T).predict(query).tolist() == [1]


def test_kernel_weighted_sign():
    """y(x) = sign(sum_i K(x, x_i) t_i) over all points, K(x, x_i) = exp(-|x - x_i|^2 / 2 sigma^2)."""
    queries = np.random.default_rng(0).uniform(-1, 6, size=(50, 2))
    d2 = ((queries[:, None] - X) ** 2).sum(axis=2)
    for sigma in (0.5, 1.0, 3.0):
        sign = np.sign((np.exp(-d2 / (2 * sigma**2)) * T).sum(axis=1))
        model = KNeighborsClassifier("all", weights="gaussian", bandwidth=sigma).fit(X, T)
        np.testing.assert_array_equal(model.predict(queries), sign)


def test_mean_of_the_k_nearest():
    """y(x) = (1 / k) sum_i t_i."""
    t = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    assert KNeighborsRegressor(3).fit(X, t).predict([[0.1, 0.1]])[0] == pytest.approx(7 / 3)


def test_nine_neighbours_vary_less_than_one():
    """1-NN has high variance: over fresh noise its estimates spread about 3 times as far as those of 9-NN."""
    rng = np.random.default_rng(0)
    x = np.linspace(0, 1, 200)[:, None]
    estimates = {1: [], 9: []}
    for _ in range(60):
        t = np.sin(3 * x[:, 0]) + rng.normal(size=200)
        for k, found in estimates.items():
            found.append(KNeighborsRegressor(k).fit(x, t).predict(x[50:150:10]))
    spread = {k: np.std(found, axis=0).mean() for k, found in estimates.items()}
    assert spread[1] / spread[9] == pytest.approx(3.0, rel=0.15)


def test_distance_weighted_regression_and_shepard():
    """sum w t / sum w with w = |x - x_i|^-2, over k neighbours and, for k = N, over all (Shepard)."""
    t = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    query = np.array([[2.0, 1.0]])
    w = 1 / ((X - query) ** 2).sum(axis=1)
    shepard = KNeighborsRegressor("all", weights="inverse_square").fit(X, t)
    assert shepard.predict(query)[0] == pytest.approx((w * t).sum() / w.sum(), rel=1e-14)
    every = KNeighborsRegressor(len(X), weights="inverse_square").fit(X, t)
    assert every.predict(query)[0] == pytest.approx(shepard.predict(query)[0], rel=1e-14)
    np.testing.assert_array_equal(shepard.predict(X), t)


@pytest.mark.parametrize("twice_variance", [10.0, 20.0, 80.0])
def test_kernel_regression_at_the_lectures_widths(twice_variance):
    """sum K t / sum K with K = exp(-|x - x_i|^2 / 2 sigma^2), 2 sigma^2 = 10, 20, 80."""
    x = np.arange(0.0, 100.0, 5.0)[:, None]
    t = np.sin(x[:, 0] / 15)
    queries = np.linspace(0, 95, 40)[:, None]
    K = np.exp(-((queries - x.T) ** 2) / twice_variance)
    model = KNeighborsRegressor("all", weights="gaussian", bandwidth=np.sqrt(twice_variance / 2)).fit(x, t)
    np.testing.assert_allclose(model.predict(queries), (K * t).sum(axis=1) / K.sum(axis=1), rtol=1e-10)


@pytest.mark.parametrize("score", ["information_gain", "chi2", "pearson", "signal_to_noise", "t"])
def test_weights_of_features_lift_the_curse(score):
    """With 2 columns that matter among 40, every way to weigh them is right far more often than none."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 40)).clip(-3, 3) + 3
    y = (X[:, 0] + X[:, 1] > 6).astype(int)
    plain = KNeighborsClassifier(9).fit(X[:300], y[:300])
    model = KNeighborsClassifier(9, feature_weights=score).fit(X[:300], y[:300])
    assert set(np.argsort(model.feature_weights_)[-2:]) == {0, 1}
    assert model.feature_weights_.mean() == pytest.approx(1.0)
    # Chi-squared of sums and correlations are steeper or flatter; the flattest still gains 6 points.
    assert model.score(X[300:], y[300:]) > plain.score(X[300:], y[300:]) + 0.05
