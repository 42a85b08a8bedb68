"""Nearest neighbours as people meet them: options, containers, threads, errors."""

import pickle
import signal
import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from contract.members import features, labels, with_checks
from lineal import KNeighborsClassifier, KNeighborsRegressor
from lineal.errors import CombinationError, InputError, InputTypeError, ParameterError
from lineal.kernels import Gaussian, Linear

KINDS = [KNeighborsClassifier, KNeighborsRegressor]
every = pytest.mark.parametrize("kind", KINDS)
X = features(60, 3)
Y = labels(X, 3)
TIES = {
    "check_sample_weight_equivalence_on_dense_data": "continuous numbers all tie; this check reorders rows"
}
WORDS = ["athens", "sparta", "corinth", "thebes", "argos", "delphi"]


@with_checks(
    one_in=3,
    estimators=[
        KNeighborsClassifier(3, metric="cosine", weights="distance"),
        KNeighborsClassifier(metric="mahalanobis", weights="inverse_square"),
        KNeighborsClassifier("all", weights="tricube", feature_weights="t"),
        KNeighborsRegressor("all", weights="gaussian", feature_weights="pearson"),
        KNeighborsClassifier(1, metric="hamming"),
    ],
    expected_failed_checks=lambda model: TIES if model.metric == "hamming" else {},
)
def test_scikit_learn_check(estimator, check):
    """scikit-learn's conventions hold for other options too."""
    check(estimator)


# ---- data -----------------------------------------------------------------------------------------

TABLES = {
    "lists": lambda A: A.tolist(),
    "Fortran order": np.asfortranarray,
    "integers": lambda A: A.astype(int),
    "float32": lambda A: A.astype(np.float32),
    "pandas": lambda A: pd.DataFrame(A, columns=list("abc")),
    "polars": lambda A: pl.DataFrame({name: A[:, j] for j, name in enumerate("abc")}),
    "pyarrow": lambda A: pa.table({name: A[:, j] for j, name in enumerate("abc")}),
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "coo": sp.coo_array,
    "csr with 64-bit indices": lambda A: _wide(sp.csr_array(A)),
    "csr matrix": sp.csr_matrix,
}


def _wide(A):
    A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    return A


DENSE = [name for name in TABLES if not name.startswith("c")]


@every
@pytest.mark.parametrize(
    ("metric", "container"),
    [(metric, name) for metric in ("euclidean", "cosine") for name in TABLES]
    + [(metric, name) for metric in ("mahalanobis", "hamming") for name in DENSE],
)
def test_containers_change_nothing(kind, metric, container):
    """The same numbers in any container have the same neighbours and distances, bit for bit."""
    A = np.round(3 * X)
    reference = kind(4, metric=metric).fit(A, Y)
    model = kind(4, metric=metric).fit(TABLES[container](A), Y)
    for ours, theirs in zip(model.kneighbors(TABLES[container](A)), reference.kneighbors(A), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(model.predict(TABLES[container](A)), reference.predict(A))


@every
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_sparse_queries_meet_dense_points_and_the_other_way_round(kind, metric):
    """Layouts may be mixed."""
    A = np.round(3 * X)
    for train, test in ((A, sp.csr_array(A)), (sp.csr_array(A), A)):
        found = kind(4, metric=metric).fit(train, Y).predict(test)
        np.testing.assert_array_equal(found, kind(4, metric=metric).fit(A, Y).predict(A))


@pytest.mark.parametrize(
    "container",
    [list, tuple, np.array, lambda w: np.array(w, dtype=object), pd.Series, pl.Series, pa.array],
    ids=["list", "tuple", "array", "objects", "pandas", "polars", "pyarrow"],
)
def test_strings_in_any_container(container):
    """Levenshtein distances of strings, wherever they lie."""
    model = KNeighborsClassifier(1, metric="levenshtein").fit(container(WORDS), WORDS)
    assert model.predict(container(["sparto", "delfi", "athena"])).tolist() == ["sparta", "delphi", "athens"]
    tags = model.__sklearn_tags__().input_tags
    assert tags.string
    assert not tags.two_d_array


def test_labels_are_anything_hashable():
    """Tuples, booleans, text and numbers are labels."""
    for names in ([("a", 1), ("b", 2), ("c", 3)], [True, False, True], ["x", "y", "z"], [2.0, 3.0, 5.0]):
        y = np.empty(len(Y), dtype=object)
        y[:] = [names[c] for c in Y]
        model = KNeighborsClassifier(1).fit(X, y)
        assert model.predict(X).tolist() == y.tolist()


@every
def test_data_are_kept_as_they_were(kind):
    """Neither fit nor predict writes to X or y, and later changes of them do not reach the model."""
    A, y = X.copy(), Y.copy()
    model = kind(3).fit(A, y)
    before = model.predict(X)
    np.testing.assert_array_equal(A, X)
    A[:], y[:] = 0, 0
    np.testing.assert_array_equal(model.predict(X), before)


@every
@pytest.mark.parametrize(
    "options", [{}, {"metric": "cosine"}, {"metric": "hamming"}, {"algorithm": "kd_tree"}]
)
def test_pickle_and_clone(kind, options):
    """A model that went through pickle finds the same neighbours; a clone has learnt nothing."""
    model = kind(3, **options).fit(X, Y)
    model.predict(X)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.kneighbors(X)[0], model.kneighbors(X)[0])
    assert not hasattr(clone(model), "index_")
    sparse = kind(3, metric="cosine").fit(sp.csr_array(X), Y)
    again = pickle.loads(pickle.dumps(sparse))
    np.testing.assert_array_equal(again.kneighbors(X)[1], sparse.kneighbors(X)[1])


@every
def test_grid_search(kind):
    """Options can be searched."""
    grid = {"n_neighbors": [1, 5, "all"], "weights": ["uniform", "gaussian"]}
    assert np.isfinite(GridSearchCV(kind(), grid, cv=3).fit(X, Y).cv_results_["mean_test_score"]).all()


@every
@pytest.mark.parametrize(
    "options",
    [{}, {"algorithm": "kd_tree"}, {"metric": "cosine"}, {"n_neighbors": "all", "weights": "gaussian"}],
)
def test_threads_change_no_bit(kind, options):
    """Any number of threads gives the same bits; so does asking for one row at a time."""
    model = kind(**options, n_threads=1).fit(X, Y)
    found = model.predict(X)
    for n_threads in (2, 5):
        np.testing.assert_array_equal(model.set_params(n_threads=n_threads).predict(X), found)
    np.testing.assert_array_equal(np.concatenate([model.predict(x[None]) for x in X]), found)


# ---- definitions ----------------------------------------------------------------------------------


def test_ties():
    """Equal distances go to the lower row, equal votes to the first class."""
    points, names = [[1.0], [-1.0], [1.0], [-1.0]], ["b", "a", "a", "b"]
    model = KNeighborsClassifier(1).fit(points, names)
    assert model.kneighbors([[0.0]], 3)[1].tolist() == [[0, 1, 2]]
    assert model.predict([[0.0]]).tolist() == ["b"]
    assert KNeighborsClassifier(2).fit(points, names).predict([[0.0]]).tolist() == ["a"]


@pytest.mark.parametrize("weights", ["inverse_square", "distance"])
def test_distance_0_decides_alone(weights):
    """A point at distance 0 decides, several share; nothing divides by 0."""
    model = KNeighborsRegressor(3, weights=weights).fit([[0.0], [0.0], [1.0]], [2.0, 4.0, 100.0])
    assert model.predict([[0.0]]).tolist() == [3.0]
    huge = KNeighborsRegressor(2, weights=weights).fit([[1e-300], [1.0]], [2.0, 4.0])
    assert huge.predict([[0.0], [1e-300]]).tolist() == [2.0, 2.0]


@pytest.mark.parametrize("weights", ["epanechnikov", "tricube", lambda d: np.zeros_like(d)])
def test_where_every_weight_is_0_the_nearest_decide(weights):
    """Beyond every kernel's reach the points at the least distance share."""
    points, y = [[0.0], [2.0], [30.0]], [1.0, 3.0, 50.0]
    model = KNeighborsRegressor("all", weights=weights, bandwidth=0.1).fit(points, y)
    assert model.predict([[1.0], [25.0]]).tolist() == [2.0, 50.0]


def test_weights_take_places():
    """With k = 3 a nearest row of weight 2.5 leaves half a place to the next, and k counts weight."""
    model = KNeighborsRegressor(3).fit([[0.0], [1.0], [2.0]], [0.0, 6.0, 60.0], sample_weight=[2.5, 1.0, 4.0])
    assert model.predict([[0.0]])[0] == pytest.approx(0.5 * 6 / 3)
    with pytest.raises(InputError, match=r"weight 3 at least.*weigh 0\.9"):
        KNeighborsRegressor(3).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0], sample_weight=[0.3, 0.3, 0.3])


def test_tenths_of_rows_add_up():
    """Weights of 0.1 are a tenth of a row each: fifty are five places, whatever their sum rounds to."""
    tenths = KNeighborsRegressor(5).fit(
        np.arange(50.0)[:, None], np.arange(50.0), sample_weight=np.full(50, 0.1)
    )
    assert tenths.predict([[3.0]])[0] == pytest.approx(24.5)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "mahalanobis", "hamming", "levenshtein"])
def test_every_metric_finds_neighbours_of_the_training_rows(metric):
    """kneighbors() is kneighbors(X) with one more, less the row itself."""
    data = WORDS if metric == "levenshtein" else X
    model = KNeighborsRegressor(1, metric=metric).fit(data, np.zeros(len(data)))
    D, R = model.kneighbors(n_neighbors=4)
    more = model.kneighbors(data, 5)
    for i in range(len(data)):
        assert R[i].tolist() == [r for r in more[1][i] if r != i][:4]
        assert i not in R[i]
    assert (np.diff(D, axis=1) >= 0).all()


def test_rows_of_weight_0_are_not_there_and_others_keep_their_numbers():
    """kneighbors never returns a row of weight 0, and numbers rows as fit got them."""
    model = KNeighborsRegressor(1).fit([[0.0], [1.0], [2.0]], [5.0, 6.0, 7.0], sample_weight=[0, 1, 1])
    assert model.kneighbors([[0.0]], 2)[1].tolist() == [[1, 2]]
    assert model.kneighbors()[1].tolist() == [[2], [1]]


def test_collinear_columns_do_not_break_mahalanobis():
    """Directions without variance count nothing; a copied or constant column changes no distance."""
    wide = np.column_stack([X, X[:, 0], np.full(len(X), 7.0), 1e-9 * X[:, 1]])
    plain = KNeighborsRegressor(5, metric="mahalanobis").fit(X, Y).kneighbors(X)
    more = KNeighborsRegressor(5, metric="mahalanobis").fit(wide, Y).kneighbors(wide)
    np.testing.assert_allclose(more[0], plain[0], atol=1e-7)
    np.testing.assert_array_equal(more[1], plain[1])


def test_a_tree_is_taken_where_columns_hang_together():
    """Twelve columns near a plane are as good as two, others are too many; neighbours are the same."""
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(6000, 2)) @ rng.normal(size=(2, 12)) + 1e-3 * rng.normal(size=(6000, 12))
    model = KNeighborsRegressor().fit(plane, np.zeros(6000))
    assert model.plan_.startswith("kd_tree: 12 columns hang together: a search visits ")
    brute = KNeighborsRegressor(algorithm="brute").fit(plane, np.zeros(6000))
    for found, wanted in zip(model.kneighbors(plane[:50]), brute.kneighbors(plane[:50]), strict=True):
        np.testing.assert_array_equal(found, wanted)
    # One long direction hides that the others are as many as ever.
    long = rng.normal(size=(6000, 12)) * np.r_[30.0, np.ones(11)]
    for other in (rng.normal(size=(6000, 12)), long, plane[:4000], np.ones((6000, 12))):
        assert KNeighborsRegressor().fit(other, np.zeros(len(other))).plan_.startswith("brute: 12 columns")


def test_plans_say_what_and_why():
    """plan_ is one sentence: the index, and the reason."""
    rng = np.random.default_rng(0)

    def plan(A, **options):
        return (
            KNeighborsRegressor(1, **options)
            .fit(A, np.zeros(A.shape[0] if hasattr(A, "shape") else len(A)))
            .plan_
        )

    assert plan(rng.normal(size=(5000, 2))) == "kd_tree: 2 columns are few for 5000 rows (up to 5)."
    assert plan(rng.normal(size=(500, 40))).startswith("brute: 40 columns are many for a kd-tree of 500 rows")
    assert plan(sp.random(50, 90, density=0.1), metric="cosine").startswith("inverted: sparse rows")
    assert plan(rng.normal(size=(50, 2)), algorithm="kd_tree") == "kd_tree: asked for."
    assert plan(WORDS, metric="levenshtein").startswith("brute: strings by length")
    assert plan(X, metric="hamming").startswith("brute: codes")
    assert plan(X, metric=lambda a, b: abs(a[0] - b[0])).startswith("brute: your own metric")


# ---- refusals -------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be a whole number >= 1 or 'all'"),
        ({"n_neighbors": 2.0}, "n_neighbors"),
        ({"n_neighbors": True}, "n_neighbors"),
        ({"n_neighbors": "every"}, "'all', got 'every'"),
        ({"weights": "1/d"}, "weights must be one of 'uniform'"),
        ({"bandwidth": 0.0}, "bandwidth must be a finite number > 0"),
        ({"bandwidth": np.inf}, "bandwidth"),
        ({"metric": "manhattan"}, "metric must be one of 'euclidean'"),
        ({"algorithm": "ball_tree"}, "algorithm must be one of 'auto'"),
        ({"feature_weights": "gini"}, "feature_weights of .* must be one of"),
        ({"metric": "mahalanobis", "feature_weights": "pearson"}, "undoes any stretch"),
        ({"metric": "levenshtein", "feature_weights": "pearson"}, "Leave feature_weights out"),
        ({"n_threads": 0}, "n_threads"),
    ],
)
def test_impossible_options_are_refused_before_data_are_read(kind, options, words):
    """An option that cannot be is named, with what can be."""
    with pytest.raises(ParameterError, match=words):
        kind(**options).fit(None, Y)


@every
@pytest.mark.parametrize(
    ("options", "data", "words"),
    [
        ({"algorithm": "kd_tree", "metric": "cosine"}, X, "'kd_tree' needs 'euclidean'"),
        ({"algorithm": "kd_tree"}, sp.csr_array(X), "sparse data"),
        ({"algorithm": "inverted"}, X, "'inverted' needs 'cosine' or 'euclidean' distances of sparse"),
    ],
)
def test_indexes_that_do_not_fit(kind, options, data, words):
    """An index that cannot hold the data says which can."""
    with pytest.raises(CombinationError, match=words):
        kind(1, **options).fit(data, Y)


def test_scores_that_need_classes():
    """A regressor takes correlations alone."""
    with pytest.raises(ParameterError, match="'pearson', an array"):
        KNeighborsRegressor(feature_weights="chi2").fit(X, Y)
    with pytest.raises(InputError, match="values >= 0"):
        KNeighborsClassifier(feature_weights="chi2").fit(X, Y)


@every
@pytest.mark.parametrize(
    ("weights", "words"),
    [([1.0, 2.0], "each of 3 columns"), ([1, 1, -1], ">= 0"), ([0, 0, 0], "some of them positive"),
     ([np.nan, 1, 1], "finite"), ([["a"], ["b"], ["c"]], "numbers")],
)  # fmt: skip
def test_weights_of_columns_that_cannot_be(kind, weights, words):
    """An array of weights must fit the columns."""
    with pytest.raises(InputError, match=words):
        kind(feature_weights=weights).fit(X, Y)


@every
def test_data_that_cannot_be(kind):
    """Data are refused with what was needed, what came and where."""
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.raises(InputError, match="row 3, column 1"):
        kind().fit(bad, Y)
    with pytest.raises(InputError, match="row 3, column 1"):
        kind().fit(X, Y).predict(bad)
    with pytest.raises(InputError, match="inconsistent"):
        kind().fit(X, Y[:-1])
    with pytest.raises(InputError, match="0 sample"):
        kind().fit(X[:0], Y[:0])
    with pytest.raises(InputError, match="0 feature"):
        kind().fit(X[:, :0], Y)
    with pytest.raises(InputError, match="n_samples = 4"):
        kind().fit(X[:4], Y[:4])
    with pytest.raises(InputError, match="n_samples_fit=60"):
        kind().fit(X, Y).kneighbors(X, 61)
    with pytest.raises(InputError, match="59 to give besides themselves"):
        kind().fit(X, Y).kneighbors(n_neighbors=60)
    far = [[0.0, 0.0, 0.0], [1e300, 0.0, 0.0]]
    for metric in ("euclidean", "mahalanobis"):
        with pytest.raises(InputError, match="Row 1 of X is so far beyond"):
            kind(metric=metric).fit(X, Y).predict(far)
    with pytest.raises(InputError, match="Row 1 of X is so far beyond"):
        kind().fit(sp.csr_array(X), Y).predict(sp.csr_array(far))
    for metric in ("mahalanobis", "hamming"):
        with pytest.raises(InputError, match="dense table"):
            kind(metric=metric).fit(sp.csr_array(X), Y)
    with pytest.raises(InputError, match="dense rows"):
        kind(metric=lambda a, b: 0.0).fit(sp.csr_array(X), Y)
    with pytest.raises(InputError, match="weight 2 at least"):
        kind(1, metric="mahalanobis").fit(X[:1], Y[:1])


def test_strings_and_categories_that_cannot_be():
    """Numbers are no strings, and missing categories are named."""
    with pytest.raises(InputTypeError):
        KNeighborsClassifier(1, metric="levenshtein").fit([1.0, 2.0], [0, 1])
    with pytest.raises(InputError, match="no strings"):
        KNeighborsClassifier(1, metric="levenshtein").fit([], [])
    with pytest.raises(InputError, match="row 1, column 0"):
        KNeighborsClassifier(1, metric="hamming").fit(np.array([["a"], [None]], dtype=object), [0, 1])
    numbers = KNeighborsClassifier(1, metric="hamming").fit(X, Y)
    with pytest.raises(InputTypeError, match="were numbers"):
        numbers.predict([["a", "b", "c"]])


def test_categories_are_weighed_by_their_information():
    """Of categories only the gain of information can be learnt: the column that is the class has it all."""
    table = np.array([["red", "x"], ["red", "y"], ["blue", "x"], ["blue", "y"]], dtype=object)
    model = KNeighborsClassifier(1, metric="hamming", feature_weights="information_gain").fit(
        table, [0, 0, 1, 1]
    )
    np.testing.assert_allclose(model.feature_weights_, [2.0, 0.0], atol=1e-12)
    with pytest.raises(InputError, match="needs numbers"):
        KNeighborsClassifier(1, metric="hamming", feature_weights="chi2").fit(table, [0, 0, 1, 1])
    with pytest.raises(InputError, match="needs numbers"):
        KNeighborsRegressor(1, metric="hamming", feature_weights="pearson").fit(table, [0, 0, 1, 1])


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_columns_beyond_number(metric):
    """A few rows with two thousand million columns need no memory for the columns."""
    d = 2**31 - 1
    wide = sp.csr_array(([1.0, 2.0, 3.0], ([0, 1, 2], [0, d // 2, d - 1])), shape=(3, d))
    model = KNeighborsRegressor(1, metric=metric).fit(wide, [1.0, 2.0, 3.0])
    assert model.plan_ == f"brute: an inverted index of {d} columns would outgrow the data."
    np.testing.assert_array_equal(model.predict(wide), [1.0, 2.0, 3.0])


@pytest.mark.parametrize("options", [{"metric": "euclidean"}, {"metric": "cosine"}, {"n_neighbors": "all"}])
def test_a_long_search_can_be_interrupted(options):
    """Ctrl-C ends a search within a moment."""

    class AlarmError(Exception):
        pass

    def ring(*_):
        raise AlarmError

    rng = np.random.default_rng(0)
    A = rng.normal(size=(60_000, 60))
    model = KNeighborsRegressor(**options, n_threads=1).fit(A, np.zeros(len(A)))
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    began = time.perf_counter()
    try:
        with pytest.raises(AlarmError):
            model.predict(A)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.perf_counter() - began < 5


@every
def test_functions_that_misbehave(kind):
    """Weights and metrics of one's own are checked."""
    with pytest.raises(InputError, match="as many weights"):
        kind(weights=lambda d: d[0]).fit(X, Y).predict(X)
    with pytest.raises(InputError, match="finite numbers >= 0"):
        kind(weights=lambda d: -d).fit(X, Y).predict(X)
    for answer in (-1.0, np.nan, "far"):
        with pytest.raises(InputError, match="finite number >= 0"):
            kind(metric=lambda a, b, answer=answer: answer).fit(X, Y).predict(X)


def test_single_surrogates_are_characters_like_others():
    """Text that came from broken input is compared code point by code point, and never ends in an encoder."""
    model = KNeighborsClassifier(1, metric="levenshtein").fit(["a\ud800", "\ud800\udfff", "b"], [0, 1, 2])
    distances, rows = model.kneighbors(["a\ud801", "\ud800\udfff", "\U000103ff"])
    assert distances.ravel().tolist() == [1.0, 0.0, 1.0]
    assert rows.ravel().tolist() == [0, 1, 2]


@every
@pytest.mark.parametrize("kernel", [Gaussian(gamma=0.5), Linear() * Linear()])
def test_a_kernel_is_no_distance(kind, kernel):
    """A kernel grows where rows are alike: it is refused as a metric before data are read."""
    with pytest.raises(ParameterError, match=r"is a kernel, .* and no distance\. .* apart: give a function"):
        kind(metric=kernel).fit(None, [])
