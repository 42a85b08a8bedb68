"""What every naive Bayes learner obeys: containers, weights, pieces, labels, threads, refusals."""

from __future__ import annotations

import datetime as dt
import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import lineal
from contract.members import naive_bayes, named
from contract.test_inputs import DENSE, as_sparse
from lineal import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, TextVectorizer
from lineal.errors import InputError, InputTypeError, ParameterError

every = pytest.mark.parametrize("kind", naive_bayes(), ids=named)
of_matrices = pytest.mark.parametrize("kind", [k for k in naive_bayes() if k is not CategoricalNB], ids=named)
with_smoothing = pytest.mark.parametrize("kind", [MultinomialNB, BernoulliNB, CategoricalNB], ids=named)
LABELS = np.array(["a", "b", "c"])


def case(n=60, d=5, seed=0, n_classes=3):
    """Small counts, exact in every dtype, and labels; every class has members."""
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    X = rng.poisson(0.5 + np.abs(np.subtract.outer(codes, np.arange(d))))
    return np.minimum(X, 6), LABELS[codes]


def state(model):
    """All that a fit learned, as plain arrays in a fixed order."""
    public = {name: value for name, value in vars(model).items() if name.endswith("_")}
    assert public
    return {name: value if isinstance(value, list) else [value] for name, value in sorted(public.items())}


def assert_same(a, b, tolerance=0.0):
    """Two models are one: the same bits, or nearly."""
    ours, theirs = state(a), state(b)
    names = {"n_features_in_", "feature_names_in_"}
    assert ours.keys() - names == theirs.keys() - names
    for name in ours.keys() - names:
        for x, y in zip(ours[name], theirs[name], strict=True):
            if tolerance and np.asarray(x).dtype.kind == "f":
                np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)
            else:
                np.testing.assert_array_equal(x, y)


def test_all_five_are_found():
    """The members that the contracts quantify over are the five kinds."""
    found = {kind.__name__ for kind in naive_bayes()}
    assert found == {"BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB"}


# ---- scikit-learn's world -------------------------------------------------------------------------


@every
def test_options_are_the_arguments(kind):
    """get_params names every argument of __init__; fit changes none; clone and pickle keep the model."""
    X, y = case()
    model = kind()
    before = model.get_params()
    assert set(before) == set(inspect.signature(kind).parameters)
    model.fit(X, y)
    assert all(model.get_params()[name] is before[name] for name in before)
    with pytest.raises(NotFittedError):
        clone(model).predict(X)
    assert_same(clone(model).fit(X, y), model)
    copy = pickle.loads(pickle.dumps(model))
    assert_same(copy, model)
    np.testing.assert_array_equal(copy.log_joint(X), model.log_joint(X))


@every
def test_searches_and_pipelines(kind):
    """GridSearchCV over smoothing, and over scikit-learn's name for it, scores every setting."""
    X, y = case()
    search = GridSearchCV(kind(), {"smoothing": [0.1, 1.0]}, cv=3).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    name = "var_smoothing" if kind is GaussianNB else "alpha"
    assert np.isfinite(GridSearchCV(kind(), {name: [0.1, 1.0]}, cv=3).fit(X, y).best_score_)


@pytest.mark.parametrize("kind", [MultinomialNB, ComplementNB, BernoulliNB], ids=named)
def test_behind_the_text_vectoriser(kind):
    """Texts to counts to labels, in a pipeline."""
    texts = ["cheap pills", "buy cheap pills", "lunch today", "meeting today", "lunch meeting"] * 3
    y = ["spam", "spam", "ham", "ham", "ham"] * 3
    model = make_pipeline(TextVectorizer(weighting="counts", norm=None), kind())
    assert model.fit(texts, y).predict(["pills", "today"]).tolist() == ["spam", "ham"]
    assert cross_val_score(model, texts, y, cv=3).mean() == 1.0


# ---- containers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("container", DENSE)
@every
def test_dense_containers_give_one_model(kind, container):
    """Any dense container of the same whole numbers gives the same model, bit for bit, and its answers."""
    X, y = case()
    data = DENSE[container](X.astype(float))
    reference, model = kind().fit(X, y), kind().fit(data, y)
    if model_has_names := hasattr(model, "feature_names_in_"):
        assert list(model.feature_names_in_) == [f"x{j}" for j in range(5)]
    assert model_has_names == (container in ("pandas", "pandas of mixed types", "polars", "pyarrow"))
    assert_same(model, reference)
    # float32 rows are multiplied by another loop, which adds up in another order.
    np.testing.assert_allclose(model.predict_proba(data), reference.predict_proba(X), rtol=1e-13)


@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
@of_matrices
def test_sparse_is_dense(kind, layout, index_dtype):
    """Sparse layouts with 32- or 64-bit indices give one model, bit for bit, and it is the dense one's."""
    X, y = case()
    A = as_sparse(X.astype(float), layout, index_dtype)
    sparse, reference = kind().fit(A, y), kind().fit(sp.csr_array(X.astype(float)), y)
    assert_same(sparse, reference)
    np.testing.assert_array_equal(sparse.log_joint(A), reference.log_joint(sp.csr_array(X.astype(float))))
    # Sums of counts are exact; squares of distances from a mean are not.
    assert_same(sparse, kind().fit(X, y), tolerance=1e-13 if kind is GaussianNB else 0.0)
    np.testing.assert_allclose(sparse.log_joint(A), kind().fit(X, y).log_joint(X), rtol=1e-11)


@of_matrices
def test_stored_zeros_and_duplicates_mean_nothing(kind):
    """Zeros that are stored, entries in any order and entries in two halves give the same model."""
    X, y = case()
    reference = kind().fit(sp.csr_array(X.astype(float)), y)
    full = sp.csr_array(np.ones(X.shape))
    full.data[:] = X.ravel()
    halved = sp.coo_array(
        (np.tile(X.ravel() / 2, 2), np.tile(np.indices(X.shape).reshape(2, -1), (1, 2))), shape=X.shape
    )
    for A in (full, halved):
        before = A.data.copy()
        assert_same(kind().fit(A, y), reference, tolerance=1e-13 if kind is GaussianNB else 0.0)
        np.testing.assert_array_equal(A.data, before)


@pytest.mark.parametrize("threshold", [-1.0, -0.5, 0.0, 0.5, 2.0])
@pytest.mark.parametrize("smoothing", [0.0, 1.0])
def test_the_threshold_of_sparse_rows(threshold, smoothing):
    """Zeros that are not stored stand where 0 stands, also above a negative threshold."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((40, 6)) < 0.5, 0.0, rng.normal(size=(40, 6)))
    y = rng.integers(0, 2, 40)
    dense = BernoulliNB(smoothing, threshold=threshold).fit(X, y)
    sparse = BernoulliNB(smoothing, threshold=threshold).fit(sp.csr_array(X), y)
    ones = BernoulliNB(smoothing).fit(threshold < X, y)
    assert_same(sparse, dense)
    assert_same(ones, dense)
    np.testing.assert_allclose(sparse.log_joint(sp.csr_array(X)), dense.log_joint(X), rtol=1e-12)
    np.testing.assert_array_equal(ones.log_joint(threshold < X), dense.log_joint(X))


@pytest.mark.parametrize(
    "container",
    [list, tuple, pd.Series, pl.Series, pa.array, lambda v: pd.Series(v, index=range(len(v))[::-1])],
    ids=["list", "tuple", "pandas", "polars", "pyarrow", "an odd index"],
)
@every
def test_labels_and_weights_in_any_container(kind, container):
    """y and sample_weight may come from any library; rows are matched by position."""
    X, y = case()
    weights = np.linspace(0.5, 2, len(y))
    assert_same(kind().fit(X, container(y.tolist()), container(weights.tolist())), kind().fit(X, y, weights))


@every
@pytest.mark.parametrize(
    "names", [[3, 1, 2], [0.5, 1.0, 7.0], [False, True], ["x", "yy", "z"], ["x", 1, None], [(1,), (1, 2), ()]]
)
def test_labels_of_any_type(kind, names):
    """Labels come back as they were given, whatever they are."""
    X, y = case(n_classes=len(names))
    mine = np.empty(len(y), dtype=object)
    mine[:] = [names[LABELS.tolist().index(label)] for label in y]
    model = kind().fit(X, mine)
    assert set(model.classes_.tolist()) == set(names)
    assert set(model.predict(X).tolist()) <= set(names)
    assert np.mean([a == b for a, b in zip(model.predict(X), mine, strict=True)]) > 0.5


# ---- weights, pieces, threads ---------------------------------------------------------------------


@every
def test_weights_are_repetitions(kind):
    """A row of weight k is the row k times and a row of weight 0 no row, to the bit where sums are exact."""
    X, y = case()
    times = np.random.default_rng(3).integers(0, 4, size=len(y))
    times[:3] = 1
    X[5], y[5], times[5] = 99, "never", 0  # a label and numbers that no row with weight has
    rows = np.repeat(np.arange(len(y)), times)
    heavy, repeated = kind().fit(X, y, sample_weight=times), kind().fit(X[rows], y[rows])
    assert_same(heavy, repeated, tolerance=1e-13 if kind is GaussianNB else 0.0)
    assert "never" not in heavy.classes_


@every
@pytest.mark.parametrize("size", [1, 7, 25])
def test_pieces_are_one_fit(kind, size):
    """partial_fit on pieces is fit on all, to the bit where sums are exact; labels come as they come."""
    X, y = case()
    order = np.argsort(y, kind="stable")  # so that later labels are new
    X, y = X[order], y[order]
    whole, pieces = kind().fit(X, y), kind()
    for first in range(0, len(y), size):
        assert pieces.partial_fit(X[first : first + size], y[first : first + size]) is pieces
    tolerance = 1e-12 if kind is GaussianNB else 0.0
    assert_same(pieces, whole, tolerance=tolerance)
    announced = kind().partial_fit(X[:30], y[:30], classes=LABELS).partial_fit(X[30:], y[30:])
    assert_same(announced, whole, tolerance=tolerance)
    # A fit forgets what was before.
    assert_same(pieces.fit(X, y), whole)


@every
def test_a_label_that_comes_before_the_others_moves_them(kind):
    """classes_ stays sorted when labels arrive late, and every count stays with its label."""
    X, y = case()
    late = kind().partial_fit(X[y != "a"], y[y != "a"]).partial_fit(X[y == "a"], y[y == "a"])
    assert late.classes_.tolist() == ["a", "b", "c"]
    assert_same(late, kind().fit(X, y), tolerance=1e-12 if kind is GaussianNB else 0.0)


def test_new_categories_arrive():
    """A category that is new in a later piece joins the others in order; the model is that of one fit."""
    first, second = [["m", 1], ["z", 2]], [["a", 1], ["m", 3], ["z", 0]]
    pieces = CategoricalNB().partial_fit(first, ["u", "v"]).partial_fit(second, ["u", "v", "w"])
    assert [values.tolist() for values in pieces.categories_] == [["a", "m", "z"], [0, 1, 2, 3]]
    assert_same(pieces, CategoricalNB().fit([*first, *second], ["u", "v", "u", "v", "w"]))


@of_matrices
def test_threads_change_no_bit(kind):
    """1, 2, 3 and 7 threads give the same bits, on sparse rows long enough to be shared and on dense ones."""
    rng = np.random.default_rng(0)
    X = sp.random_array((2000, 400), density=0.3, rng=rng, format="csr")
    y = rng.integers(0, 5, 2000)
    wide = sp.random_array(
        (200, 50_001), density=0.01, rng=rng, format="csr"
    )  # worth threads for weights too
    for data in (X, wide, X.toarray(), X.toarray()[:, :6].repeat(4, axis=0)):
        labels = np.resize(y, data.shape[0])
        one = kind(n_threads=1).fit(data, labels)
        for n_threads in (2, 3, 7):
            many = kind(n_threads=n_threads).fit(data, labels)
            assert_same(many, one)
            np.testing.assert_array_equal(many.log_joint(data), one.log_joint(data))


# ---- priors and names of others -------------------------------------------------------------------


@pytest.mark.parametrize("kind", [MultinomialNB, BernoulliNB, CategoricalNB, GaussianNB], ids=named)
def test_priors_can_be_given(kind):
    """None takes shares, 'uniform' 1/K, an array is taken as it is, in the order of classes_."""
    X, y = case()
    shares = np.unique(y, return_counts=True)[1] / len(y)
    plain = kind(smooth_prior=False) if "smooth_prior" in kind().get_params() else kind()
    np.testing.assert_allclose(np.exp(plain.fit(X, y).class_log_prior_), shares, rtol=1e-14)
    np.testing.assert_allclose(np.exp(kind(class_prior="uniform").fit(X, y).class_log_prior_), 1 / 3)
    given = kind(class_prior=[0.2, 0.0, 0.8]).fit(X, y)
    np.testing.assert_allclose(np.exp(given.class_log_prior_), [0.2, 0.0, 0.8], rtol=1e-14)
    assert "b" not in given.predict(X)
    assert (given.predict_proba(X)[:, 1] == 0).all()
    with pytest.raises(ParameterError, match="for 2 classes, but the data have 3"):
        kind(class_prior=[0.5, 0.5]).fit(X, y)


@every
def test_names_of_scikit_learn(kind):
    """alpha, fit_prior, binarize and priors say what smoothing, class_prior and threshold say."""
    X, y = case()
    same = {
        MultinomialNB: [("alpha", 0.3, "smoothing", 0.3), ("fit_prior", False, "class_prior", "uniform")],
        CategoricalNB: [("alpha", 0.3, "smoothing", 0.3), ("fit_prior", False, "class_prior", "uniform")],
        ComplementNB: [("alpha", 0.3, "smoothing", 0.3)],
        BernoulliNB: [("binarize", 1.0, "threshold", 1.0), ("alpha", 0.3, "smoothing", 0.3)],
        GaussianNB: [("priors", [0.2, 0.3, 0.5], "class_prior", [0.2, 0.3, 0.5])],
    }
    for theirs, value, ours, meaning in same[kind]:
        assert_same(kind(**{theirs: value}).fit(X, y), kind(**{ours: meaning}).fit(X, y))


# ---- refusals -------------------------------------------------------------------------------------

BAD_OPTIONS = [
    *[({"smoothing": value}, "smoothing") for value in (-1.0, np.inf, np.nan, "1", None)],
    *[({"n_threads": value}, "n_threads") for value in (0, -1, 1.5)],
    *[({"class_prior": value}, "class_prior") for value in ([0.5, 0.6], [-0.5, 1.5], "even", [[1.0]], 3)],
    *[({"threshold": value}, "threshold") for value in (np.nan, "0", None)],
    *[({"var_smoothing": value}, "var_smoothing") for value in (-1.0, np.nan)],
    *[({"shared_variance": value}, "shared_variance") for value in ("yes", 1)],
    *[({"categories": value}, "categories") for value in ("ab", 3, [["a"]])],
]


@pytest.mark.parametrize(
    ("kind", "options", "name"),
    [(k, options, name) for k in naive_bayes() for options, name in BAD_OPTIONS if name in k().get_params()],
    ids=str,
)
def test_impossible_options_are_refused(kind, options, name):
    """An option that cannot be is refused by name, as a ParameterError."""
    with pytest.raises(ParameterError, match=name):
        kind(**options).fit(*case())


def test_the_complement_refuses_no_smoothing():
    """Without smoothing a word of one class alone would be infinite evidence."""
    with pytest.raises(ParameterError, match="smoothing > 0"):
        ComplementNB(smoothing=0).fit(*case())


@every
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_are_refused(kind, bad):
    """NaN and infinity are refused with row, column and name, when fitting and when predicting."""
    X, y = case()
    model, frame = kind().fit(X, y), pd.DataFrame(X.astype(float), columns=list("uvwxy"))
    frame.loc[4, "w"] = bad
    with pytest.raises(InputError, match=r"row 4, column 2 \('w'\)"):
        kind().fit(frame, y)
    with pytest.raises(InputError, match="row 4, column 2"):
        model.predict(frame.to_numpy())


@pytest.mark.parametrize("kind", [MultinomialNB, ComplementNB], ids=named)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array, sp.csc_array, pd.DataFrame])
def test_negative_counts_are_refused(kind, layout):
    """A count below 0 is refused with its row, its column and its value."""
    X, y = case()
    X = X.astype(float)
    X[7, 3] = -2.5
    words = r"(?s)Negative values.*row 7, column 3.*-2\.5"
    with pytest.raises(InputError, match=words):
        kind().fit(layout(X), y)
    with pytest.raises(InputError, match=words):
        kind().fit(np.abs(X), y).predict(X)


@every
def test_shapes_that_do_not_fit_are_refused(kind):
    """No rows, no columns, too few labels, another number of columns, no y: each in words, as InputError."""
    X, y = case()
    for data, labels, words in (
        (np.empty((0, 5)), [], "0 sample"),
        (np.empty((3, 0)), ["a", "b", "a"], "0 feature"),
        (X, y[:-1], "inconsistent numbers of samples"),
        (X, np.column_stack([y, y]), "1d array"),
        (X, None, "requires y"),
        (X[0], y[:1], "Reshape your data"),
    ):
        with pytest.raises(InputError, match=words):
            kind().fit(data, labels)
    with pytest.raises(InputError, match=r"4 features.*5 features"):
        kind().fit(X, y).predict(X[:, :4])
    with pytest.raises(InputError, match=r"4 features.*5 features"):
        kind().fit(X, y).partial_fit(X[:, :4], y)
    with pytest.raises(InputError, match="zero"):
        kind().fit(X, y, sample_weight=np.zeros(len(y)))


@every
def test_columns_in_another_order_are_refused(kind):
    """Frames are held to the names of the fit."""
    X, y = case()
    model = kind().fit(pd.DataFrame(X, columns=list("abcde")), y)
    with pytest.raises(InputError, match="feature names"):
        model.predict(pd.DataFrame(X, columns=list("edcba")))


@every
def test_a_refused_piece_changes_nothing(kind):
    """partial_fit that refuses leaves the model as it was, with the counts of the rows before."""
    X, y = case()
    model = kind().fit(X, y)
    kept, answers = pickle.dumps(model), model.predict_proba(X)
    for data, labels in ((X, y[:-1]), (np.where(X.max() == X, np.nan, X), y)):
        with pytest.raises(InputError):
            model.partial_fit(data, labels)
        with pytest.raises(InputError):
            model.fit(data[:, :3], [*labels, "one", "too many"])
        assert pickle.dumps(model) == kept
    if "class_prior" in model.get_params():
        model = kind(class_prior=[0.2, 0.3, 0.5]).fit(X, y)
        answers = model.predict_proba(X)
        with pytest.raises(ParameterError, match="class_prior"):
            model.partial_fit(X[:1], ["new"])
    np.testing.assert_array_equal(model.predict_proba(X), answers)


@of_matrices
def test_corrupt_sparse_matrices_are_refused(kind):
    """An index out of range is an error, not a write out of bounds."""
    X, y = case()
    A = sp.csr_array(X.astype(float))
    A.indices[3] = 1000
    with pytest.raises(InputError, match="corrupt"):
        kind().fit(A, y)


@pytest.mark.parametrize("kind", [MultinomialNB, ComplementNB, BernoulliNB], ids=named)
def test_huge_counts_stay_numbers(kind):
    """Counts near the largest double give finite or infinite scores, never NaN, and probabilities."""
    X, y = case()
    model = kind().fit(X * 1e300, y)
    for rows in (X * 1e300, np.full((1, 5), 1.7e308)):
        p = model.predict_proba(rows)
        np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
        np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(rows))


@every
def test_sums_beyond_float64_are_refused(kind):
    """Weights, or counts, that add up to infinity are refused in words, not turned into NaN."""
    X, y = case()
    with pytest.raises(InputError, match="float64"):
        kind().fit(X, y, sample_weight=np.full(len(y), 1e308))
    if kind in (MultinomialNB, ComplementNB):
        with pytest.raises(InputError, match="float64"):
            kind().fit(np.full((60, 5), 1e308), y)


@of_matrices
def test_numbers_behind_the_last_row_mean_nothing(kind):
    """SciPy allows arrays longer than their rows; what lies behind is neither counted nor checked."""
    X, y = case()
    A = sp.csr_array(X.astype(float))
    longer = sp.csr_array(X.astype(float))
    longer.indices = np.append(A.indices, [4, 3]).astype(np.int32)
    longer.data = np.append(A.data, [-7.0, 1e300])
    assert_same(kind().fit(longer, y), kind().fit(A, y))
    np.testing.assert_array_equal(kind().fit(A, y).log_joint(longer), kind().fit(A, y).log_joint(A))


# ---- categories -----------------------------------------------------------------------------------


@with_smoothing
def test_one_class_is_enough(kind):
    """One class always wins, and its evidence is that of the rows."""
    model = kind().fit([[1, 0], [1, 1]], ["only", "only"])
    assert model.predict([[0, 1]]).tolist() == ["only"]
    assert model.predict_proba([[0, 1]]).tolist() == [[1.0]]
    assert np.isfinite(model.log_evidence([[0, 1]])).all()


def test_categories_of_any_type():
    """Text, whole numbers, booleans, dates, mixtures: every column by itself, in every container."""
    columns = {
        "colour": ["red", "blue", "red", "green"],
        "legs": [2, 4, 2, 0],
        "flies": [True, False, True, False],
        "seen": [dt.date(2020, 1, day) for day in (1, 2, 1, 9)],
    }
    y = ["bird", "dog", "bird", "fish"]
    frames = [pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)]
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    reference = CategoricalNB().fit(rows, y)
    assert reference.predict([["red", 2, True, columns["seen"][0]]]).tolist() == ["bird"]
    for frame in frames:
        model = CategoricalNB().fit(frame, y)
        assert model.feature_names_in_.tolist() == list(columns)
        assert model.coef_names_[:3] == ["colour=blue", "colour=green", "colour=red"]
        assert_same(model, CategoricalNB().fit(frames[0], y))
        np.testing.assert_array_equal(model.predict_proba(frame), reference.predict_proba(rows))
    mixed = CategoricalNB().fit([["a"], [1], [("x", 2)]], [0, 1, 2])
    assert mixed.predict([[("x", 2)], [1], ["a"]]).tolist() == [2, 1, 0]


def test_dicts_and_records_go_by_name():
    """Columns of dicts are found by name, in any order; other names are refused."""
    columns = {"size": ["s", "l", "l"], "speed": ["s", "s", "f"]}
    y = [0, 1, 1]
    model = CategoricalNB().fit(columns, y)
    assert model.feature_names_in_.tolist() == ["size", "speed"]
    assert_same(model, CategoricalNB().fit(pd.DataFrame(columns), y))
    records = [{"speed": b, "size": a} for a, b in zip(*columns.values(), strict=True)]
    turned = {"speed": columns["speed"], "size": columns["size"]}
    for same in (columns, turned, records, pd.DataFrame(columns)):
        np.testing.assert_array_equal(model.predict_proba(same), model.predict_proba(pd.DataFrame(columns)))
    for other in ({"size": ["s"]}, {"size": ["s"], "weight": ["s"]}):
        with pytest.raises(InputError, match="feature names"):
            model.predict(other)


def test_a_category_that_was_never_seen():
    """It has l / (N_k + l V_i) in class k: never a crash, whatever its type."""
    model = CategoricalNB(smoothing=1, smooth_prior=False).fit([["a"], ["b"], ["a"]], [0, 0, 1])
    joint = np.exp(model.log_joint([["unheard of"], [3], [2.5], [True]]))
    np.testing.assert_allclose(joint, [[2 / 3 * 1 / 4, 1 / 3 * 1 / 3]] * 4, rtol=1e-14)
    numbers = CategoricalNB().fit([[1], [2], [1]], [0, 0, 1])
    assert np.isfinite(numbers.log_joint([["text"], [9], [1.5]])).all()


def test_categories_that_are_announced():
    """categories= names values that no row has; they count in V_i and keep their columns of coef_."""
    model = CategoricalNB(smooth_prior=False, categories=[["a", "b", "c"]]).fit([["a"], ["b"]], [0, 1])
    assert model.categories_[0].tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(
        np.exp(model.feature_log_prob_[0]), [[2 / 4, 1 / 4, 1 / 4], [1 / 4, 2 / 4, 1 / 4]]
    )


def test_cells_that_cannot_be_categories_are_refused():
    """Missing values and lists are refused with row and column; sparse matrices with what to do."""
    for missing in (None, float("nan")):
        with pytest.raises(InputError, match=r"row 1, column 1 \('x1'\).*\"missing\""):
            CategoricalNB().fit([["a", "b"], ["a", missing]], [0, 1])
    with pytest.raises(InputTypeError, match="row 0, column 0"):
        CategoricalNB().fit([[["a", "list"]], [["another"]]], [0, 1])
    with pytest.raises(InputTypeError, match="sparse"):
        CategoricalNB().fit(sp.csr_array(np.eye(3)), [0, 1, 2])


def test_public_names():
    """The five kinds are names of the package."""
    assert {kind.__name__ for kind in naive_bayes()} <= set(lineal.__all__)
