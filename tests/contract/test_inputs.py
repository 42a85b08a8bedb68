"""The container that numbers come in changes nothing about the model."""

from functools import cache, partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from contract.members import (
    classifiers,
    estimators,
    labels,
    named,
    numbers,
    of_matrices,
    same_model,
    whole_features,
)
from lineal import (
    BernoulliNB,
    ComplementNB,
    GaussianNB,
    LinearClassifier,
    LinearRegressor,
    MultinomialNB,
    Ridge,
    SelectBest,
    verify,
)
from lineal.data.matrices import _FEW
from lineal.data.targets import classes_and_codes
from lineal.errors import InputError, InputTypeError
from lineal.learners.freezing import freeze
from lineal.objective import L1, Hinge, Log
from strategies import woven

every = pytest.mark.parametrize("kind", of_matrices(estimators()), ids=named)
LAYOUTS = ["csr", "csc", "coo"]
layout = pytest.mark.parametrize("layout", LAYOUTS)


def _names(X):
    return [f"x{j}" for j in range(X.shape[1])]


DENSE = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "a strided view": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "reversed strides": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": lambda X: _frozen(X),
    "float32": lambda X: X.astype(np.float32),
    "int64": lambda X: X.astype(np.int64),
    "int8": lambda X: X.astype(np.int8),
    "big-endian float": lambda X: X.astype(">f8"),
    "object": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
    "pandas": lambda X: pd.DataFrame(X, columns=_names(X)),
    "pandas of mixed types": lambda X: pd.DataFrame(X, columns=_names(X)).astype(
        {"x0": "int32", "x1": "float32"}
    ),
    "polars": lambda X: pl.DataFrame({n: X[:, j] for j, n in enumerate(_names(X))}),
    "pyarrow": lambda X: pa.table({n: X[:, j] for j, n in enumerate(_names(X))}),
}


def _frozen(X):
    X = X.copy()
    X.setflags(write=False)
    return X


def as_sparse(X, layout, index_dtype=np.int32):
    """X in a SciPy layout with indices of a width."""
    A = getattr(sp, f"{layout}_array")(X)
    if layout == "coo":
        A.coords = tuple(c.astype(index_dtype) for c in A.coords)
    else:
        A.indices, A.indptr = A.indices.astype(index_dtype), A.indptr.astype(index_dtype)
    return A


def arrays_of(A):
    """Copies of all that a sparse matrix consists of."""
    parts = (A.data, *A.coords) if A.format == "coo" else (A.data, A.indices, A.indptr)
    return [part.copy() for part in parts]


def case(kind, n=40, d=5):
    """Whole numbers as features, so that every dtype holds them exactly, and a target."""
    X = whole_features(n, d)
    return X, labels(X) if kind in classifiers() else numbers(X)


@cache
def certified_to_1e10(kind):
    """The model that all dense containers are compared with."""
    X, y = case(kind)
    return kind(tol=1e-10).fit(X.astype(float), y)


@pytest.mark.parametrize(
    ("kind", "container"), woven(of_matrices(estimators()), list(DENSE), one_in=3, ids=named)
)
def test_dense_containers_give_one_model(kind, container):
    """Any dense container of the same numbers gives the model of the C-ordered float64 array."""
    X, y = case(kind)
    data = DENSE[container](X.astype(float))
    reference, model = certified_to_1e10(kind), kind(tol=1e-10).fit(data, y)
    # float32 sums round differently, and a relative gap of 1e-10 leaves weights free by its square root.
    room = 1e-5 if container == "float32" else 1e-12
    np.testing.assert_allclose(model.coef_, reference.coef_, atol=room)
    np.testing.assert_allclose(model.intercept_, reference.intercept_, atol=room)
    ours, theirs = model.predict(data), reference.predict(X.astype(float))
    assert (
        np.array_equal(ours, theirs) if kind in classifiers() else np.allclose(ours, theirs, atol=10 * room)
    )


@every
def test_booleans_are_zeros_and_ones(kind):
    """True is 1.0 and False is 0.0, dense and sparse."""
    X, y = case(kind)
    B = X > 0
    reference = kind(tol=1e-8).fit(B.astype(float), y)
    assert same_model(kind(tol=1e-8).fit(B, y), reference)
    sparse = kind(tol=1e-8).fit(sp.csr_array(B.astype(float)), y)
    assert same_model(kind(tol=1e-8).fit(sp.csr_array(B), y), sparse)


@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
@layout
@every
def test_sparse_layouts_give_the_same_bits(kind, layout, index_dtype):
    """CSR, CSC and COO with 32- or 64-bit indices give one model, bit for bit."""
    X, y = case(kind)
    reference = kind().fit(sp.csr_array(X.astype(float)), y)
    A = as_sparse(X.astype(float), layout, index_dtype)
    assert same_model(kind().fit(A, y), reference)
    np.testing.assert_array_equal(reference.predict(A), reference.predict(sp.csr_array(X.astype(float))))


@layout
def test_sparse_matrix_and_sparse_array_agree(layout):
    """SciPy's older matrix classes are read like its arrays."""
    X, y = case(LinearClassifier)
    old = getattr(sp, f"{layout}_matrix")(X.astype(float))
    assert same_model(
        LinearClassifier().fit(old, y), LinearClassifier().fit(sp.csr_array(X.astype(float)), y)
    )


@every
def test_sparse_is_dense(kind):
    """Sparse and dense forms of the same numbers give the same weights, to the tolerance."""
    X, y = case(kind)
    dense, sparse = (
        kind(tol=1e-12).fit(X.astype(float), y),
        kind(tol=1e-12).fit(sp.csr_array(X.astype(float)), y),
    )
    # sqrt(1e-12) is what the gap leaves free.
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-6)
    np.testing.assert_allclose(sparse.intercept_, dense.intercept_, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int32, np.uint8])
@layout
def test_sparse_dtypes(layout, dtype):
    """Sparse values of any number type give the model of float64 values."""
    X, y = case(LinearClassifier)
    X = np.abs(X)
    A = getattr(sp, f"{layout}_array")(X.astype(dtype))
    reference = LinearClassifier(tol=1e-10).fit(sp.csr_array(X.astype(float)), y)
    np.testing.assert_allclose(LinearClassifier(tol=1e-10).fit(A, y).coef_, reference.coef_, atol=1e-5)


def _scrambled(A, rng):
    """The same CSR or CSC matrix with the entries of each line in another order."""
    A = A.copy()
    for k in range(len(A.indptr) - 1):
        order = rng.permutation(A.indptr[k + 1] - A.indptr[k]) + A.indptr[k]
        span = slice(A.indptr[k], A.indptr[k + 1])
        A.indices[span], A.data[span] = A.indices[order], A.data[order]
    A.has_sorted_indices = False
    return A


def _halved(A):
    """The same matrix with every entry stored twice, as two halves."""
    if A.format == "coo":
        row, column = A.coords
        twice = (np.tile(A.data / 2, 2), (np.tile(row, 2), np.tile(column, 2)))
        return sp.coo_array(twice, shape=A.shape)
    parts = (np.repeat(A.data / 2, 2), np.repeat(A.indices, 2), 2 * A.indptr)
    return type(A)(parts, shape=A.shape)


@pytest.mark.parametrize("claim", [False, True], ids=["undeclared", "declared sorted"])
@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
@pytest.mark.parametrize("layout", ["csr", "csc"])
def test_unsorted_entries_mean_the_same(layout, index_dtype, claim):
    """Entries in any order give the same bits, even under a false flag; the caller's arrays stay."""
    X, y = case(LinearClassifier)
    A = _scrambled(as_sparse(X.astype(float), layout, index_dtype), np.random.default_rng(0))
    A.has_sorted_indices = claim
    before = arrays_of(A)
    model = LinearClassifier().fit(A, y)
    model.predict(A)
    assert same_model(model, LinearClassifier().fit(sp.csr_array(X.astype(float)), y))
    for now, then in zip(arrays_of(A), before, strict=True):
        np.testing.assert_array_equal(now, then)
        assert now.dtype == then.dtype


# ---- matrices too large to be put in order in passing ---------------------------------------------


@cache
def _large():
    """More numbers than are put in order at once; values are eighths, whose halves add up exactly."""
    rng = np.random.default_rng(5)
    A = sp.random_array((1000, 3000), density=0.03, format="csr", rng=rng)
    A.data = rng.integers(1, 9, A.nnz) / 8.0
    y = np.where(A @ rng.normal(size=3000) > 0, "yes", "no")
    assert A.nnz > _FEW
    return A, y


def _mapped(A, folder):
    """The same CSR arrays in files, read-only."""
    arrays = []
    for name in ("data", "indices", "indptr"):
        np.save(folder / f"{name}.npy", getattr(A, name))
        arrays.append(np.load(folder / f"{name}.npy", mmap_mode="r"))
    return sp.csr_array(tuple(arrays), shape=A.shape)


def _shuffled_coo(A):
    order = np.random.default_rng(1).permutation(A.nnz)
    A = A.tocoo()
    return sp.coo_array((A.data[order], (A.row[order], A.col[order])), shape=A.shape)


def _read_only(A):
    A = A.copy()
    for array in arrays_of(A):
        array.setflags(write=False)
    return A


FORMS = {
    "64-bit indices": lambda A, _: as_sparse(A.toarray(), "csr", np.int64),
    "an older matrix": lambda A, _: sp.csr_matrix(A),
    "read-only": lambda A, _: _read_only(A),
    "memory-mapped": _mapped,
    "CSC": lambda A, _: A.tocsc(),
    "CSC with 64-bit indices": lambda A, _: as_sparse(A.toarray(), "csc", np.int64),
    "CSC out of order": lambda A, _: _scrambled(A.tocsc(), np.random.default_rng(2)),
    "COO in any order": lambda A, _: _shuffled_coo(A),
    "stored twice": lambda A, _: _halved(A),
    "stored twice out of order": lambda A, _: _scrambled(_halved(A), np.random.default_rng(3)),
    "COO stored twice": lambda A, _: _halved(_shuffled_coo(A)),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_a_large_matrix_give_the_same_bits(form, tmp_path):
    """Any form of a matrix whose rows are read in order has the bits of sorted CSR; nothing is written to."""
    A, y = _large()
    given = FORMS[form](A, tmp_path)
    before = [array.copy() for array in arrays_of(given)]
    model = LinearClassifier(loss=Hinge(), solver="dual_cd").fit(given, y)
    reference = LinearClassifier(loss=Hinge(), solver="dual_cd").fit(A, y)
    assert same_model(model, reference)
    np.testing.assert_array_equal(model.decision_function(given), reference.decision_function(A))
    for now, then in zip(arrays_of(given), before, strict=True):
        np.testing.assert_array_equal(now, then)


@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("solver", "is_walker"), [("dual_cd", True), ("newton", False), ("lbfgs", False), ("sgd", False)]
)
def test_large_rows_out_of_order_are_solved_as_they_are(solver, is_walker, index_dtype):
    """Rows of CSR out of order are certified like sorted ones; scores differ by no more than rounding.

    No bit depends on threads, and weights are those of sorted rows, to the gap.
    """
    A, y = _large()
    given = _scrambled(as_sparse(A.toarray(), "csr", index_dtype), np.random.default_rng(0))
    before = [array.copy() for array in arrays_of(given)]
    tol = 1e-3 if solver == "sgd" else 1e-7
    settings = {"loss": Log(), "solver": solver, "tol": tol}
    model, other = (LinearClassifier(**settings, n_threads=n).fit(given, y) for n in (1, 2))
    reference = LinearClassifier(**settings).fit(A, y)
    assert same_model(model, other)
    assert model.certificate_.converged
    # P is strongly convex: gaps of at most tol P each leave weights this far apart.
    P = reference.certificate_.primal
    assert np.linalg.norm(model.coef_ - reference.coef_) <= 2 * np.sqrt(2 * tol * P)
    # Some 90 numbers a row, each product rounded once in any order.
    scores = model.decision_function(A)
    np.testing.assert_allclose(model.decision_function(given), scores, atol=1e-13 * np.abs(scores).max())
    assert is_walker or verify(model, given, y).converged
    for now, then in zip(arrays_of(given), before, strict=True):
        np.testing.assert_array_equal(now, then)


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize(
    "kind",
    [MultinomialNB, ComplementNB, BernoulliNB, GaussianNB, partial(SelectBest, "chi2", k=5)],
    ids=named,
)
def test_sums_by_class_do_not_ask_for_order(kind, n_threads):
    """What is added up column by column has the bits of sorted rows; a stored model has the learner's."""
    A, y = _large()
    y = np.where(np.arange(len(y)) % 9 == 0, "maybe", np.where(y == "no", "no", "yes"))
    given = _scrambled(A, np.random.default_rng(0))
    model, reference = (kind(n_threads=n_threads).fit(X, y) for X in (given, A))
    for name in ("feature_count_", "coef_", "intercept_", "theta_", "var_", "scores_"):
        if hasattr(reference, name):
            np.testing.assert_array_equal(getattr(model, name), getattr(reference, name), err_msg=name)
    if hasattr(model, "predict"):
        scores, wanted = model.log_joint(given), reference.log_joint(A)
        np.testing.assert_allclose(scores, wanted, atol=1e-12 * np.abs(wanted).max())
        if kind is not GaussianNB:  # which no file holds
            np.testing.assert_array_equal(freeze(model).predict_proba(given), model.predict_proba(given))


def test_large_rows_out_of_order_with_a_flaw_name_it():
    """NaN is found in rows out of order, and so are numbers whose sum is beyond their type."""
    A, y = _large()
    given = _scrambled(A, np.random.default_rng(0))
    place = given.indptr[700] + 1
    given.data[place] = np.nan
    with pytest.raises(InputError, match=f"first at row 700, column {given.indices[place]}"):
        LinearClassifier().fit(given, y)
    twice = _halved(A.astype(np.float32))
    twice.data[:2] = np.float32(3e38)
    with pytest.raises(InputError, match=f"first at row 0, column {twice.indices[0]}"):
        LinearClassifier().fit(twice, y)


@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
@layout
@pytest.mark.parametrize("kind", [LinearClassifier, LinearRegressor], ids=named)
def test_duplicate_entries_are_summed(kind, layout, index_dtype):
    """Entries stored more than once count as their sum, and the caller's arrays stay as they are."""
    X, y = case(kind)
    A = _halved(as_sparse(X.astype(float), layout, index_dtype))
    before = arrays_of(A)
    model = kind().fit(A, y)
    scores = model.predict(A)
    reference = kind().fit(sp.csr_array(X.astype(float)), y)
    assert same_model(model, reference)
    np.testing.assert_array_equal(scores, reference.predict(sp.csr_array(X.astype(float))))
    for now, then in zip(arrays_of(A), before, strict=True):
        np.testing.assert_array_equal(now, then)


@pytest.mark.parametrize("penalty", [None, L1(0.5)], ids=["L2", "L1"])
def test_stored_zeros_mean_nothing(penalty):
    """Zeros that are stored give the model of zeros that are not, to the tolerance."""
    X, y = case(LinearClassifier)
    options = {"tol": 1e-10} | ({} if penalty is None else {"penalty": penalty})
    full = sp.csr_array(np.ones_like(X, dtype=float))
    full.data[:] = X.ravel()
    a, b = (
        LinearClassifier(**options).fit(full, y),
        LinearClassifier(**options).fit(sp.csr_array(X.astype(float)), y),
    )
    np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-5)


@pytest.mark.parametrize("kind", [LinearClassifier, Ridge], ids=named)
@pytest.mark.parametrize("container", ["C", "F", "float32", "csr", "csc", "coo", "pandas"])
def test_fit_and_predict_leave_the_callers_data_alone(kind, container):
    """Neither fit nor predict writes to X, y or sample_weight."""
    X, y = case(kind)
    X = X.astype(float)
    made = {
        "C": lambda: X.copy(),
        "F": lambda: np.asfortranarray(X),
        "float32": lambda: X.astype(np.float32),
        "pandas": lambda: pd.DataFrame(X, columns=_names(X)),
    }
    data = made[container]() if container in made else as_sparse(X, container)
    weights = np.linspace(0.5, 2, len(y))
    kept = (y.copy(), weights.copy())
    model = kind().fit(data, y, weights)
    model.predict(data)
    np.testing.assert_array_equal(data.toarray() if sp.issparse(data) else np.asarray(data), X)
    np.testing.assert_array_equal(y, kept[0])
    np.testing.assert_array_equal(weights, kept[1])


@pytest.mark.parametrize(
    "container",
    [list, tuple, pd.Series, pl.Series, pa.array, lambda y: pd.Series(y, index=np.arange(len(y))[::-1])],
    ids=["list", "tuple", "pandas", "polars", "pyarrow", "pandas with an odd index"],
)
@pytest.mark.parametrize("kind", [LinearClassifier, LinearRegressor], ids=named)
def test_targets_in_any_container(kind, container):
    """y and sample_weight may come from any library; rows are matched by position, never by index."""
    X, y = case(kind)
    weights = np.linspace(0.5, 2, len(y))
    reference = kind().fit(X, y, weights)
    assert same_model(kind().fit(X, container(y.tolist()), container(weights.tolist())), reference)


def test_text_labels_in_any_container():
    """Text labels from a list, NumPy, pandas (also categorical), polars and Arrow give the same classes_."""
    X, y = case(LinearClassifier)
    words = np.array(["no", "yes"])[y].tolist()
    reference = LinearClassifier().fit(X, words)
    assert reference.classes_.tolist() == ["no", "yes"]
    containers = [
        np.array(words),
        np.array(words, dtype=object),
        pd.Series(words),
        pd.Series(words, dtype="category"),
        pl.Series(words),
        pa.array(words),
    ]
    for container in containers:
        model = LinearClassifier().fit(X, container)
        assert same_model(model, reference)
        assert model.classes_.tolist() == ["no", "yes"]
        assert model.predict(X).tolist() == reference.predict(X).tolist()


def test_fewer_rows_than_columns_and_very_wide():
    """A wide sparse matrix, with columns up to a large number, keeps its column numbers."""
    rng = np.random.default_rng(0)
    n, d = 40, 100_000
    columns = np.concatenate([rng.integers(0, d, 5 * n), np.full(n, d - 1)])
    rows = np.concatenate([np.repeat(np.arange(n), 5), np.arange(n)])
    A = sp.coo_array((np.ones(6 * n), (rows, columns)), shape=(n, d))
    y = np.arange(n) % 2
    wide = LinearClassifier(loss=Hinge()).fit(A, y)
    used, packed = np.unique(columns, return_inverse=True)
    narrow = LinearClassifier(loss=Hinge(), tol=1e-8).fit(sp.coo_array((np.ones(6 * n), (rows, packed))), y)
    assert wide.coef_.shape == (1, d)
    assert not np.delete(wide.coef_[0], used).any()
    assert wide.certificate_.primal == pytest.approx(narrow.certificate_.primal, rel=2e-3)


@pytest.mark.parametrize(
    "given",
    [[1, "a"], [(1, 2), (3, 4)], [(1, 2), "a"], [True, "True"], [2.5, "2.5"], [b"a", "a"]],
    ids=repr,
)
def test_labels_in_lists_come_back_as_they_went_in(given):
    """Anything hashable is a label: no number becomes text, and a tuple is one label; by type, then text."""
    X = whole_features()
    y = [given[code] for code in labels(X)]
    model = LinearClassifier().fit(X, y)
    known = model.classes_.tolist()
    assert known == sorted(given, key=lambda label: (type(label).__name__, repr(label)))
    assert [type(label) for label in known] == [type(given[given.index(label)]) for label in known]
    assert set(model.predict(X).tolist()) <= set(given)


MISSING = {
    "NaN in a list": [float("nan"), "a", "b", "a"],
    "NaT": np.array(["NaT", "2020-01-01", "2020-01-02", "2020-01-01"], dtype="M8[D]"),
    "null of pyarrow": pa.array([None, 1, 2, 1]),
    "null of polars": pl.Series([None, "a", "b", "a"]),
    "NA of pandas": pd.Series([pd.NA, "a", "b", "a"], dtype="string"),
}


@pytest.mark.parametrize("name", MISSING)
def test_a_missing_label_is_no_class(name):
    """Rows without a label are refused, with their place."""
    with pytest.raises(InputError, match="no label at row 0"):
        LinearClassifier().fit(whole_features(n=4), MISSING[name])


@pytest.mark.parametrize(
    "make", [iter, set, sp.csr_array, lambda y: {1: 2}], ids=["iterator", "set", "sparse", "dict"]
)
@pytest.mark.parametrize("kind", [LinearClassifier, LinearRegressor], ids=named)
def test_targets_without_an_order_are_refused(kind, make):
    """What is not a sequence is named."""
    y = np.arange(4) % 2
    given = make(y[None, :] if make is sp.csr_array else y)
    with pytest.raises(InputError, match=f"1d array of .* got {type(given).__name__}"):
        kind().fit(whole_features(n=4), given)


DAYS = pd.date_range("2020-01-01", periods=40)
TABLE = pd.DataFrame({"size": np.arange(40.0), "when": DAYS, "city": ["York", "Bath"] * 20})


@pytest.mark.parametrize(
    "library", [lambda X: X, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "pyarrow"]
)
@pytest.mark.parametrize("column", ["when", "city"])
def test_a_column_that_is_no_number_is_named(library, column):
    """Times are not read as whole numbers, nor text as anything: the column's name, and what takes it."""
    X = library(TABLE[["size", column]])
    with pytest.raises(InputTypeError, match=f"column '{column}'.*TableClassifier"):
        LinearClassifier().fit(X, np.arange(40) % 2)


def test_other_things_that_are_no_matrix_are_said():
    """Times without names, rows of several lengths, frames that were not computed, times to predict."""
    y = np.arange(40) % 2
    with pytest.raises(InputTypeError, match="times"):
        LinearClassifier().fit(DAYS.to_numpy()[:, None], y)
    with pytest.raises(InputError, match="2 in row 0, 1 in row 1"):
        LinearClassifier().fit([[1, 2], [3]] * 20, y)
    with pytest.raises(InputTypeError, match="collect"):
        LinearClassifier().fit(pl.from_pandas(TABLE[["size"]]).lazy(), y)
    with pytest.raises(InputError, match="times"):
        LinearRegressor().fit(whole_features(), DAYS)
    with pytest.raises(InputError, match="real"):
        LinearRegressor().fit(whole_features(), y, sample_weight=np.ones(40) + 2j)


# ---- labels -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64, bool, float])
@pytest.mark.parametrize("span", [1, 2, 50, 10**12])
def test_whole_labels_are_those_that_numpy_finds(dtype, span):
    """Sorted, in their own type, with each row's place: near each other, far apart, at the ends of a type."""
    rng = np.random.default_rng(0)
    whole = np.dtype(dtype).kind in "iu"
    ends = (np.iinfo(dtype).min, np.iinfo(dtype).max) if whole else (-1000, 1000)
    for low in (ends[0], max(ends[0], -1), ends[1] - min(span, ends[1] - ends[0]) + 1):
        high = min(low + span - 1, ends[1])
        y = np.array([rng.integers(low, high, endpoint=True, dtype=np.int64 if low < 0 else np.uint64)
                      for _ in range(200)]).astype(dtype)  # fmt: skip
        classes, codes = classes_and_codes(y)
        wanted, places = np.unique(y, return_inverse=True)
        np.testing.assert_array_equal(classes, wanted)
        assert classes.dtype == wanted.dtype
        np.testing.assert_array_equal(codes, places)
