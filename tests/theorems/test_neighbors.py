"""Nearest neighbours: every index is brute force, and the estimators that the lectures derive from them."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lineal import KNeighborsClassifier, KNeighborsRegressor
from reference.neighbors import cosine, edit_distances, euclidean, hamming, levenshtein, nearest

# Small whole numbers make ties, equal rows and rows of zeros; the others, differences of every size.
coarse = st.integers(-2, 2).map(float)
numbers = st.one_of(coarse, st.floats(-1e6, 1e6).filter(lambda x: x == 0 or abs(x) > 1e-100))


@st.composite
def tables(draw, elements=numbers, max_rows=40, max_columns=6):
    """Training rows and queries, some of which are training rows."""
    d = draw(st.integers(1, max_columns))
    X = draw(hnp.arrays(np.float64, (draw(st.integers(1, max_rows)), d), elements=elements))
    Q = draw(hnp.arrays(np.float64, (draw(st.integers(1, 6)), d), elements=elements))
    return X, np.concatenate([Q, X[:3]])


def neighbors(X, Q, k, **options):
    model = KNeighborsRegressor(1, **options).fit(X, np.zeros(X.shape[0]))
    return model.kneighbors(Q, k)


def assert_same(found, wanted):
    np.testing.assert_array_equal(found[0], wanted[0])
    np.testing.assert_array_equal(found[1], wanted[1])


@given(tables(), st.integers(1, 40), st.sampled_from([1, 3]))
@settings(max_examples=150)
def test_euclidean_indexes_are_brute_force(data, k, n_threads):
    """kd-tree, matrix product, inverted index and sparse scan: the neighbours and distances, bit for bit."""
    X, Q = data
    k = min(k, len(X))
    wanted = nearest(euclidean(X, Q), k)
    for algorithm in ("auto", "kd_tree", "brute"):
        assert_same(neighbors(X, Q, k, algorithm=algorithm, n_threads=n_threads), wanted)
    for algorithm in ("inverted", "brute"):
        found = neighbors(sp.csr_array(X), sp.csr_array(Q), k, algorithm=algorithm, n_threads=n_threads)
        assert_same(found, wanted)


@given(tables(max_columns=12), st.integers(1, 40), st.sampled_from([1, 3]))
@settings(max_examples=150)
def test_cosine_indexes_are_brute_force(data, k, n_threads):
    """The same for the cosine; rows of zeros are at distance 1 from everything."""
    X, Q = data
    k = min(k, len(X))
    wanted = nearest(cosine(X, Q), k)
    assert_same(neighbors(X, Q, k, metric="cosine", n_threads=n_threads), wanted)
    for algorithm in ("inverted", "brute"):
        options = {"metric": "cosine", "algorithm": algorithm, "n_threads": n_threads}
        assert_same(neighbors(sp.csr_array(X), sp.csr_array(Q), k, **options), wanted)
    zero = np.zeros((1, X.shape[1]))
    assert (neighbors(np.concatenate([X, zero]), zero, 1, metric="cosine")[0] == 1).all()


@pytest.mark.parametrize("shape", [(5000, 3), (5000, 30), (3000, 300)])
@pytest.mark.parametrize("kind", ["normal", "coarse", "far away", "one point"])
def test_large_indexes_are_brute_force(shape, kind):
    """Where trees have depth, panels are full and filters leave rows out, nothing is lost."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape) if kind != "coarse" else rng.integers(0, 3, size=shape).astype(float)
    X = {"far away": X + 1e7, "one point": np.zeros(shape)}.get(kind, X)
    Q = np.concatenate([X[:10], X[:10] + 0.5])
    for metric, distances in (("euclidean", euclidean), ("cosine", cosine)):
        wanted = nearest(distances(X, Q), 20)
        for algorithm in ("auto", "brute", "kd_tree") if metric == "euclidean" else ("auto",):
            assert_same(neighbors(X, Q, 20, metric=metric, algorithm=algorithm), wanted)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_an_inverted_index_that_stops_early_is_brute_force(metric):
    """Text-like rows, with columns from rare to nearly full: the sparse scan's neighbours, bit for bit."""
    rng = np.random.default_rng(1)
    share = np.geomspace(0.7, 0.001, 300)
    X = sp.csr_array((rng.random((4000, 300)) < share) * rng.gamma(1.0, 1.0, (4000, 300)) / share**0.5)
    Q = X[:50]
    options = {"metric": metric}
    wanted = neighbors(X, Q, 10, algorithm="brute", **options)
    assert_same(neighbors(X, Q, 10, algorithm="inverted", **options), wanted)
    assert_same(neighbors(X.toarray(), Q.toarray(), 10, **options), wanted)


@given(tables(coarse, max_columns=8), st.integers(1, 40), st.booleans())
def test_hamming_is_brute_force(data, k, is_weighted):
    """The columns that differ, or the sum of their weights; a value that was never seen differs from all."""
    X, Q = data
    Q = np.where(Q == 2, 77.0, Q)
    k = min(k, len(X))
    weights = np.linspace(0.5, 2.0, X.shape[1]) if is_weighted else None
    found = neighbors(X, Q, k, metric="hamming", feature_weights=weights)
    assert_same(found, nearest(hamming(X, Q, weights), k))
    names = np.array(["a", "b", "c", "d", "e"], dtype=object)
    words = names[X.astype(int) + 2]
    unknown = np.where(Q == 77, "?", names[np.clip(Q, -2, 2).astype(int) + 2])
    assert_same(neighbors(words, unknown, k, metric="hamming", feature_weights=weights), found)


texts = st.text(alphabet="abé\U0001f600", max_size=12) | st.text(alphabet="ab", min_size=60, max_size=140)


@given(st.lists(texts, min_size=1, max_size=12), st.lists(texts, min_size=1, max_size=4), st.integers(1, 12))
@settings(max_examples=60)
def test_levenshtein_is_brute_force(X, Q, k):
    """Bit-parallel in blocks of 64, by length and with early ends: the textbook's table."""
    k = min(k, len(X))
    assert_same(neighbors_of_texts(X, Q, k), nearest(edit_distances(X, Q), k))


def neighbors_of_texts(X, Q, k):
    return KNeighborsRegressor(1, metric="levenshtein").fit(X, np.zeros(len(X))).kneighbors(Q, k)


@given(texts, texts, texts)
def test_levenshtein_is_a_metric(a, b, c):
    """d(a, a) = 0; d = 0 for equal strings alone; symmetric; the triangle holds; one edit is one."""

    def d(x, y):
        return neighbors_of_texts([x], [y], 1)[0][0, 0]

    assert d(a, a) == 0
    assert (d(a, b) == 0) == (a == b)
    assert d(a, b) == d(b, a) == levenshtein(a, b)
    assert d(a, c) <= d(a, b) + d(b, c)
    assert d(a, a + "x") == 1
    assert abs(len(a) - len(b)) <= d(a, b) <= max(len(a), len(b))


@given(tables(max_rows=20))
def test_an_own_metric_is_brute_force(data):
    """A function of two rows is asked for every pair."""
    X, Q = data
    k = len(X)
    found = neighbors(X, Q, k, metric=lambda a, b: float(np.abs(a - b).max()))
    D = np.abs(Q[:, None, :] - X[None, :, :]).max(axis=2)
    assert_same(found, nearest(D, k))


@given(tables(coarse), st.integers(1, 10))
def test_training_points_are_not_their_own_neighbours(data, k):
    """kneighbors() leaves each row out of its own neighbours, also among equal rows."""
    X, _ = data
    if len(X) < 2:
        return
    k = min(k, len(X) - 1)
    found = KNeighborsRegressor(1).fit(X, np.zeros(len(X))).kneighbors(n_neighbors=k)
    D = euclidean(X, X)
    np.fill_diagonal(D, np.inf)
    assert_same(found, nearest(D, k))


def test_units_that_overflow_change_nothing():
    """Powers of two scale distances and move no neighbour, also where squares leave the range of doubles."""
    rng = np.random.default_rng(2)
    X, Q = rng.normal(size=(60, 3)), rng.normal(size=(9, 3))
    D, R = neighbors(X, Q, 5)
    for exponent in (-900, -500, 500, 900):
        scaled = neighbors(np.ldexp(X, exponent), np.ldexp(Q, exponent), 5)
        assert_same(scaled, (np.ldexp(D, exponent), R))
        assert_same(
            neighbors(np.ldexp(X, exponent), Q, 5, metric="cosine"), neighbors(X, Q, 5, metric="cosine")
        )


# ---- what is made of neighbours -------------------------------------------------------------------


@given(tables(max_rows=20), st.data())
def test_shepard_interpolates(data, more):
    """1/d^2 over all points goes through the training points; equal ones share their mean."""
    X, _ = data
    y = more.draw(hnp.arrays(np.float64, len(X), elements=st.floats(-100, 100)))
    fitted = KNeighborsRegressor("all", weights="inverse_square").fit(X, y).predict(X)
    D = euclidean(X, X)
    means = [y[D[i] == 0].mean() for i in range(len(X))]
    np.testing.assert_allclose(fitted, means, rtol=1e-12, atol=1e-10)


@given(tables(max_rows=20), st.data())
def test_nadaraya_watson_goes_from_the_nearest_to_the_mean(data, more):
    """As the bandwidth grows the Gaussian estimate tends to the mean; as it shrinks, to the nearest's."""
    X, Q = data
    y = more.draw(hnp.arrays(np.float64, len(X), elements=st.floats(-100, 100)))
    wide = KNeighborsRegressor("all", weights="gaussian", bandwidth=1e12).fit(X, y).predict(Q)
    np.testing.assert_allclose(wide, y.mean(), atol=1e-8)
    D = euclidean(X, Q)
    narrow = KNeighborsRegressor("all", weights="gaussian", bandwidth=1e-160).fit(X, y).predict(Q)
    at_least = [y[row == row.min()].mean() for row in D]
    np.testing.assert_allclose(narrow, at_least, atol=1e-8)


@pytest.mark.parametrize("weights", ["gaussian", "epanechnikov", "tricube", "inverse_square", "distance"])
def test_kernels_are_their_formulas(weights):
    """The estimate is sum K y / sum K with the kernel as it is printed."""
    rng = np.random.default_rng(3)
    X, y, Q = rng.normal(size=(30, 2)), rng.normal(size=30), rng.normal(size=(10, 2))
    h = 2.5
    D = euclidean(X, Q)
    u = np.minimum(D / h, 1.0)
    kernels = {
        "gaussian": np.exp(-(D**2) / (2 * h**2)),
        "epanechnikov": 0.75 * (1 - u**2),
        "tricube": 70 / 81 * (1 - u**3) ** 3,
        "inverse_square": D**-2,
        "distance": 1 / D,
    }
    K = kernels[weights]
    found = KNeighborsRegressor("all", weights=weights, bandwidth=h).fit(X, y).predict(Q)
    np.testing.assert_allclose(found, (K * y).sum(axis=1) / K.sum(axis=1), rtol=1e-12)
    labels = np.where(y > 0, 1, -1)
    signs = np.where((K * labels).sum(axis=1) > 0, 1, -1)
    votes = KNeighborsClassifier("all", weights=weights, bandwidth=h).fit(X, labels).predict(Q)
    np.testing.assert_array_equal(votes, signs)
    asked = KNeighborsRegressor("all", weights=lambda d: _same_kernel(weights, d, h)).fit(X, y).predict(Q)
    np.testing.assert_allclose(asked, found, rtol=1e-12)


def _same_kernel(weights, d, h):
    u = np.minimum(d / h, 1.0)
    return {
        "gaussian": np.exp(-(d**2) / (2 * h**2)),
        "epanechnikov": 1 - u**2,
        "tricube": (1 - u**3) ** 3,
        "inverse_square": d**-2.0,
        "distance": 1 / d,
    }[weights]


@given(tables(coarse, max_rows=15), st.data())
@settings(max_examples=150)
def test_weight_2_is_the_row_twice(data, more):
    """A row of weight w takes w of the k places and votes w times; weight 0 is no row at all."""
    X, Q = data
    n = len(X)
    times = np.array(more.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    times[0] = max(times[0], 1)
    rows = np.repeat(np.arange(n), times)
    y = np.arange(n) % 3
    k = more.draw(st.one_of(st.integers(1, len(rows)), st.just("all")))
    options = {"weights": more.draw(st.sampled_from(["uniform", "inverse_square", "gaussian", "tricube"]))}
    heavy = KNeighborsClassifier(k, **options).fit(X, y, sample_weight=times)
    repeated = KNeighborsClassifier(k, **options).fit(X[rows], y[rows])
    np.testing.assert_array_equal(heavy.predict_proba(Q) > 0, heavy_classes(heavy, repeated, Q) > 0)
    np.testing.assert_allclose(heavy_classes(heavy, repeated, Q), heavy.predict_proba(Q), atol=1e-12)
    numbers = np.sqrt(np.arange(n))
    one = KNeighborsRegressor(k, **options).fit(X, numbers, sample_weight=times)
    other = KNeighborsRegressor(k, **options).fit(X[rows], numbers[rows])
    np.testing.assert_allclose(one.predict(Q), other.predict(Q), atol=1e-12)


def heavy_classes(heavy, repeated, Q):
    """The repeated model's shares in the columns of the weighted one, which knows classes of weight 0 too."""
    shares = np.zeros((len(Q), len(heavy.classes_)))
    shares[:, np.searchsorted(heavy.classes_, repeated.classes_)] = repeated.predict_proba(Q)
    return shares


@given(tables(coarse), st.integers(1, 40), st.data())
def test_predict_is_the_first_largest_share(data, k, more):
    """predict agrees with predict_proba; equal votes go to the first class, shares sum to 1."""
    X, Q = data
    k = min(k, len(X))
    y = np.array(more.draw(st.lists(st.sampled_from("abc"), min_size=len(X), max_size=len(X))))
    model = KNeighborsClassifier(k).fit(X, y)
    shares = model.predict_proba(Q)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-12)
    rows = nearest(euclidean(X, Q), k)[1]
    counts = np.array([[np.sum(y[r] == c) for c in model.classes_] for r in rows])
    np.testing.assert_array_equal(model.predict(Q), model.classes_[counts.argmax(axis=1)])
    np.testing.assert_array_equal(shares, counts / k)


@given(tables(max_columns=4), st.data())
def test_stretched_axes_are_a_diagonal_mahalanobis(data, more):
    """feature_weights w measure sqrt(sum_j w_j (a_j - b_j)^2)."""
    X, Q = data
    w = more.draw(hnp.arrays(np.float64, X.shape[1], elements=st.sampled_from([0.25, 1.0, 4.0, 0.0])))
    if not w.any():
        return
    found = neighbors(X, Q, len(X), feature_weights=w)
    assert_same(found, nearest(euclidean(X * np.sqrt(w), Q * np.sqrt(w)), len(X)))
