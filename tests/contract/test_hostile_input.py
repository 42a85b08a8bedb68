"""Data that cannot be learned from are refused in words; data that are merely odd give finite weights."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.exceptions import DataConversionWarning

import lineal
from contract.members import (
    classifiers,
    data_for,
    estimators,
    features,
    labels,
    named,
    numbers,
    of_matrices,
    predictors,
    regressors,
    same_model,
    whole_features,
)
from lineal import LinearClassifier, LinearRegression, LinearRegressor, LogisticRegression, Ridge
from lineal.data import read_texts
from lineal.errors import InputError, InputTypeError, NotCertifiedWarning, ParameterError
from lineal.objective import L1, L2, Hinge, NoPenalty, Squared
from strategies import woven

every = pytest.mark.parametrize("kind", of_matrices(estimators()), ids=named)
every_classifier = pytest.mark.parametrize("kind", of_matrices(classifiers()), ids=named)
every_regressor = pytest.mark.parametrize("kind", regressors(), ids=named)
bad_number = pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])


def is_finite(model):
    """Whether a model holds numbers only, in its weights and in what it claims about them."""
    numbers_of = (model.coef_, model.intercept_, model.certificate_.primal)
    return all(np.isfinite(part).all() for part in numbers_of)


# ---- NaN and infinity -----------------------------------------------------------------------------


@bad_number
@every
def test_dense_nan_is_refused_with_its_place(kind, bad):
    """NaN and infinity in an array are refused with the first row and column, and with what to do."""
    X, y = data_for(kind)
    X[7, 2], X[9, 1] = bad, bad
    with pytest.raises(InputError, match=r"row 7, column 2\b.*(Fill|drop)"):
        kind().fit(X, y)


@bad_number
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
def test_sparse_nan_is_refused_with_its_place(layout, dtype, bad):
    """The same for each sparse layout: row and column of the matrix, not places in its arrays."""
    X = features()
    X[:, 0] = 0.0
    X[7, 2], X[9, 1] = bad, bad
    A = getattr(sp, f"{layout}_array")(X.astype(dtype))
    with pytest.raises(InputError, match=r"row 7, column 2\b"):
        LinearClassifier().fit(A, labels(features()))


@bad_number
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_nan_in_a_frame_is_refused_with_the_columns_name(frame, bad):
    """In a data frame the column is named."""
    X = features()
    X[7, 2] = bad
    data = frame({name: X[:, j] for j, name in enumerate(["age", "size", "the price", "x", "y"])})
    with pytest.raises(InputError, match=r"row 7, column 2.*'the price'"):
        LinearClassifier().fit(data, labels(features()))


@every
def test_nan_is_refused_by_predict_too(kind):
    """predict refuses NaN rather than answer NaN or a class."""
    X, y = data_for(kind)
    model = kind().fit(X, y)
    X[3, 1] = np.nan
    with pytest.raises(InputError, match="row 3, column 1"):
        model.predict(X)


def test_the_first_of_many_is_the_same_with_any_threads():
    """Which bad value is reported does not depend on the number of threads."""
    X = features(5000, 20)
    X[[4000, 1200, 1201, 4999], [3, 7, 0, 0]] = np.nan
    messages = []
    for n_threads in (1, 2, 3):
        with pytest.raises(InputError) as error:
            LinearClassifier(n_threads=n_threads).fit(X, np.arange(5000) % 2)
        messages.append(str(error.value))
    assert "row 1200, column 7" in messages[0]
    assert len(set(messages)) == 1


# ---- shapes ---------------------------------------------------------------------------------------

SHAPES = {
    "no rows": (np.empty((0, 3)), [], "0 sample"),
    "no rows, sparse": (sp.csr_array((0, 3)), [], "0 sample"),
    "no columns": (np.empty((4, 0)), [0, 1, 0, 1], "0 feature"),
    "no columns, sparse": (sp.csr_array((4, 0)), [0, 1, 0, 1], "0 feature"),
    "one dimension": (np.arange(4.0), [0, 1, 0, 1], "2D array"),
    "three dimensions": (np.zeros((4, 2, 2)), [0, 1, 0, 1], "dim"),
    "a number": (3.0, [0], "2D array"),
    "ragged lists": ([[1.0, 2.0], [3.0]], [0, 1], None),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", [LinearClassifier, Ridge], ids=named)
def test_impossible_shapes_are_refused(kind, shape):
    """X without rows, without columns or of another dimension is refused with an InputError that says so."""
    X, y, words = SHAPES[shape]
    with pytest.raises(InputError, match=words):
        kind().fit(X, y)


@pytest.mark.parametrize("kind", [LinearClassifier, Ridge], ids=named)
def test_wrong_feature_count_is_an_input_error(kind):
    """Who catches LinealError also catches data with the wrong number of columns."""
    X, y = data_for(kind)
    with pytest.raises(InputError, match="features"):
        kind().fit(X, y).predict(X[:, :3])


@pytest.mark.parametrize(
    "X",
    [
        np.array([["a", "b"], ["c", "d"]] * 10),
        np.array([["a", "b"], ["c", "d"]] * 10, dtype=object),
        np.ones((20, 2), dtype=complex),
        np.array([[None, 1.0], [2.0, {}]] * 10, dtype=object),
    ],
    ids=["text", "text objects", "complex", "objects"],
)
def test_what_is_not_a_number_is_refused(X):
    """Features that cannot be read as numbers are an InputTypeError, which is also a TypeError."""
    with pytest.raises(InputTypeError):
        LinearClassifier().fit(X, [0, 1] * 10)


@pytest.mark.parametrize("extra", [-1, 1])
@every
def test_mismatched_lengths_are_refused_with_both(kind, extra):
    """X and y of different lengths are refused, and both lengths are told."""
    X, y = data_for(kind)
    with pytest.raises(InputError, match=rf"40.*{40 + extra}"):
        kind().fit(X, np.resize(y, 40 + extra))


@every
def test_missing_y_is_refused(kind):
    """y=None is refused in words."""
    with pytest.raises(InputError, match="y"):
        kind().fit(features(), None)


# ---- corrupt sparse arrays ------------------------------------------------------------------------


def _corrupt(what, index_dtype):
    """A CSR matrix of 4 x 3 whose arrays are wrong in one way."""
    A = sp.csr_array(np.array([[1.0, 0, 2], [0, 3, 0], [4, 5, 6], [0, 0, 7]]))
    A.indices, A.indptr = A.indices.astype(index_dtype), A.indptr.astype(index_dtype)
    if what == "index too large":
        A.indices[3] = 3
    elif what == "index far too large":
        A.indices[3] = np.iinfo(index_dtype).max
    elif what == "negative index":
        A.indices[3] = -1
    elif what == "pointer beyond the end":
        A.indptr[2] = 1000
    elif what == "last pointer beyond the end":
        A.indptr[-1] = 1000
    elif what == "pointers decrease":
        A.indptr[1], A.indptr[2] = A.indptr[2], A.indptr[1]
    elif what == "negative pointer":
        A.indptr[1] = -5
    elif what == "first pointer not 0":
        A.indptr[0] = 1
    elif what == "too few pointers":
        A.indptr = A.indptr[:-1]
    elif what == "fewer indices than values":
        A.indices = A.indices[:-2]
    return A


CORRUPT = [
    "index too large", "index far too large", "negative index", "pointer beyond the end",
    "last pointer beyond the end", "pointers decrease", "negative pointer", "first pointer not 0",
    "too few pointers", "fewer indices than values",
]  # fmt: skip


@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
@pytest.mark.parametrize("what", CORRUPT)
def test_corrupt_csr_is_refused(what, index_dtype):
    """Index arrays that lie are an InputError in fit and in predict, never a crash or a wrong model."""
    model = LinearClassifier().fit(np.eye(4)[:, :3], [0, 1, 0, 1])
    with pytest.raises(InputError, match="corrupt"):
        LinearClassifier().fit(_corrupt(what, index_dtype), [0, 1, 0, 1])
    with pytest.raises(InputError, match="corrupt"):
        model.predict(_corrupt(what, index_dtype))


@pytest.mark.parametrize(
    "learner",
    [
        lineal.OnlineClassifier(),
        lineal.OnlineRegressor(),
        lineal.PassiveAggressiveClassifier(),
        lineal.PassiveAggressiveRegressor(),
    ],
    ids=repr,
)
def test_rows_are_looked_at_before_they_change_places(learner):
    """Learners that shuffle refuse a corrupt matrix, and name a bad cell by its row in X."""
    X = sp.random_array((50, 30), density=0.1, format="csr", rng=1)
    y = np.arange(50) % 2
    broken = X.copy()
    broken.indptr[5] = 10**6
    with pytest.raises(InputError, match="corrupt"):
        learner.fit(broken, y)
    dense = X.toarray()
    dense[1, 2] = np.nan
    for bad in (dense, sp.csr_array(dense), dense.astype(np.float32)):
        with pytest.raises(InputError, match="row 1, column 2"):
            learner.fit(bad, y)


FOLLOWED = """
import warnings
import numpy as np, scipy.sparse as sp
import lineal
from lineal.errors import InputError
warnings.simplefilter("ignore")
sound = sp.random_array((40, 6), density=0.5, format="csr", rng=1)
y = np.arange(40) % 2
wrongs = [("indices", 5, -1), ("indices", 5, 10**6), ("indptr", 3, -5), ("indptr", 3, 10**8)]
wrongs.append(("indptr", -1, 10**8))

def broken():
    for layout in ("csr", "csc"):
        for part, place, wrong in wrongs:
            A = sound.asformat(layout).copy()
            getattr(A, part)[place] = wrong
            yield layout, part, wrong, A
    for axis in (0, 1):
        for wrong in (-1, 10**6):
            A = sound.tocoo().copy()
            A.coords[axis][3] = wrong
            yield "coo", axis, wrong, A

made = lambda: lineal.MADE
fitted = made().fit(sound, y)
others = [getattr(fitted, name) for name in ("predict", "transform") if hasattr(fitted, name)]
for *what, A in broken():
    for use in [lambda A: made().fit(A, y), *others]:
        try:
            use(A)
        except InputError:
            continue
        print("taken:", what)
print("lives")
"""
TAKE_MATRICES = [
    "LinearClassifier()", "LinearSVC(loss='hinge')", "OnlineClassifier()", "GaussianNB()", "MultinomialNB()",
    "BernoulliNB()", "FisherDiscriminant()", "Perceptron()", "SVC()", "KernelPerceptron()", "Ridge()",
    "KNeighborsClassifier()", "OneVsRest(lineal.LogisticRegression())", "Bagging(lineal.GaussianNB())",
    "Voting([lineal.GaussianNB(), lineal.LinearSVC()])", "Calibrated(lineal.LinearSVC())", "ColumnScaler()",
    "PolynomialFeatures()", "RandomFourierFeatures()", "Nystroem()", "SVR()", "KernelRidge()",
    "RecursiveElimination(lineal.RidgeClassifier())", "LinearRegression()",
]  # fmt: skip


@pytest.mark.parametrize("made", TAKE_MATRICES)
def test_no_one_follows_corrupt_indices(made):
    """In any layout, in fit, predict and transform: the process lives, and all of them are an InputError."""
    # In a process of its own, because SciPy's conversion of a corrupt matrix writes out of bounds.
    program = FOLLOWED.replace("MADE", made)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr[-500:]
    assert run.stdout == "lives\n"


# ---- odd but legal --------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["dense", "csr"])
@every
def test_empty_rows_and_dead_columns(kind, layout):
    """Rows of zeros, of columns too, and constant columns give finite weights; a zero column weighs 0."""
    X, y = data_for(kind)
    X[[0, 5, 39]] = 0.0
    X[:, 1] = 0.0
    X[:, 3] = 2.0
    model = kind().fit(sp.csr_array(X) if layout == "csr" else X, y)
    assert is_finite(model)
    np.testing.assert_allclose(
        np.atleast_2d(model.coef_)[:, 1], 0.0, atol=1e-12
    )  # 0, to the rounding of a solve
    assert np.isfinite(model.decision_function(X) if kind in classifiers() else model.predict(X)).all()


@every
def test_all_zero_features_leave_the_intercept(kind):
    """When X says nothing, all weights are 0 and the intercept does what it can."""
    _, y = data_for(kind)
    model = kind().fit(np.zeros((40, 3)), y)
    assert is_finite(model)
    assert not model.coef_.any()


def test_collinear_columns_share_the_weight():
    """Least squares on equal columns takes the weights of least norm: equal ones."""
    x = features(40, 1)
    model = LinearRegression().fit(np.hstack([x, x, x]), 3 * x[:, 0] + 1)
    np.testing.assert_allclose(model.coef_, [1.0, 1.0, 1.0], atol=1e-9)
    assert model.intercept_ == pytest.approx(1.0, abs=1e-9)


def test_interpolation_is_certified():
    """Least squares that fits every row exactly has the optimum 0, and D(0) = 0 proves it."""
    X = features(10, 30)
    model = LinearRegression().fit(X, numbers(X))
    assert model.certificate_.converged
    assert np.isfinite(model.certificate_.gap)
    np.testing.assert_allclose(model.predict(X), numbers(X), atol=1e-8)


def test_a_constant_target_is_the_intercept():
    """Regression of a constant is that constant, certified although the optimum is 0."""
    for kind in regressors():
        model = kind().fit(features(), np.full(40, 3.25))
        assert is_finite(model)
        np.testing.assert_allclose(model.predict(features()), 3.25, atol=1e-6)
        assert model.certificate_.converged


def test_one_row():
    """One row is enough for a regression and too little for a classifier."""
    assert is_finite(Ridge().fit([[1.0, 2.0]], [3.0]))
    with pytest.raises(InputError, match="one class"):
        LinearClassifier().fit([[1.0, 2.0]], [3])


SIZES = [1e150, 1e100, 1e20, 1e-20, 1e-100, 1e-150, 1e-300]


@pytest.mark.parametrize(
    ("kind", "size", "mixed"), woven(of_matrices(estimators()), SIZES, [False, True], one_in=2, ids=named)
)
def test_huge_and_tiny_features(kind, size, mixed):
    """Features of any size give finite weights or an error of Lineal's own, never NaN."""
    X, y = data_for(kind)
    X[:, slice(0, 1) if mixed else slice(None)] *= size
    _finite_or_refused(kind, X, y)


@pytest.mark.parametrize("size", [1e150, 1e20, 1e-20, 1e-150])
@every_regressor
def test_huge_and_tiny_targets(kind, size):
    """Targets of any size give finite weights or an error of Lineal's own, never NaN."""
    X, y = data_for(kind)
    _finite_or_refused(kind, X, y * size)


@pytest.mark.parametrize("size", [1e150, 1e20, 1e-20, 1e-150])
@every
def test_huge_and_tiny_weights(kind, size):
    """Weights of rows of any size give finite weights or an error of Lineal's own, never NaN."""
    X, y = data_for(kind)
    _finite_or_refused(kind, X, y, np.full(40, size))


def _finite_or_refused(kind, X, y, weights=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCertifiedWarning)  # one of the honest answers
        options = {"max_seconds": 0.5} if "max_seconds" in kind().get_params() else {}
        try:
            model = kind(**options).fit(X, y, weights)
        except InputError:
            return
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()
    # A primal that overflowed must not pass for a certified one.
    assert not model.certificate_.converged or np.isfinite(model.certificate_.primal)


# ---- labels ---------------------------------------------------------------------------------------


def _objects(*items):
    out = np.empty(len(items), dtype=object)
    out[:] = items
    return out


LABELS = {
    "text": np.array(["ham", "spam"]),
    "np.str_ objects": _objects(np.str_("ham"), np.str_("spam")),
    "int": np.array([3, 8]),
    "negative int": np.array([-1, 1]),
    "uint8": np.array([0, 255], dtype=np.uint8),
    "bool": np.array([False, True]),
    "whole floats": np.array([1.0, 2.0]),
    "bytes": np.array([b"ham", b"spam"]),
    "dates": np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"),
    "None and text": _objects(None, "spam"),
    "tuples": _objects((1, 2), (3, 4)),
    "int and text": _objects(1, "one"),
    "three of mixed types": _objects(None, (1, "a"), "text"),
    "five of mixed types": _objects(None, (1, 2), "text", 7, 2.5),
}


@pytest.mark.parametrize("labels_of", LABELS)
@every_classifier
def test_labels_of_any_type(kind, labels_of):
    """Labels of any hashable type are classes; predict answers with the very labels."""
    names = LABELS[labels_of]
    X = features()
    codes = labels(X, len(names))
    y = names[codes]
    model = kind().fit(X, y)
    assert len(model.classes_) == len(names)
    assert {repr(label) for label in model.classes_.tolist()} == {repr(label) for label in names.tolist()}
    place = {repr(label): k for k, label in enumerate(model.classes_.tolist())}
    again = kind().fit(X, np.array([place[repr(label)] for label in y.tolist()]))
    assert same_model(model, again)
    assert [place[repr(label)] for label in model.predict(X).tolist()] == again.predict(X).tolist()


def test_labels_in_a_plain_list_of_mixed_things():
    """A list that mixes None, tuples and text is read label by label."""
    X = features()
    things = [None, (1, 2), "text"]
    y = [things[k] for k in labels(X, 3)]
    model = LinearClassifier().fit(X, y)
    assert len(model.classes_) == 3
    assert set(model.predict(X)) <= set(things)


NUL_FORMS = {
    "list": list,
    "objects": lambda names: np.array(names, dtype=object),
    "bytes": lambda names: [name.encode() for name in names],
    "column": lambda names: [[name] for name in names],
    "Arrow": pa.array,
    "pandas": pd.Series,
}
# These know one label of two, or an order of labels, which is to be said.
STATED = (lineal.PUClassifier, lineal.MultipleInstanceSVM, lineal.OrdinalClassifier)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@pytest.mark.parametrize("form", NUL_FORMS)
@pytest.mark.parametrize(
    "kind", [k for k in predictors() if is_classifier(k()) and k not in STATED], ids=named
)
def test_labels_that_end_in_nul_stay_apart(kind, form):
    """NumPy cuts NUL off the end of text: "a" and "a\\0" are two labels all the same."""
    X = np.abs(whole_features())
    y = labels(X)
    as_bytes = form == "bytes"
    names = [b"a", b"a\0"] if as_bytes else ["a", "a\0"]
    if kind is lineal.SelfTraining and form == "column":
        pytest.skip("marks stand in a plain list")
    model = kind().fit(X, NUL_FORMS[form](["a\0" if label else "a" for label in y.tolist()]))
    plain = kind().fit(X, y)
    assert model.classes_.tolist() == names
    assert model.predict(X).tolist() == [names[k] for k in plain.predict(X).tolist()]


def test_labels_of_files_that_end_in_nul_stay_apart(tmp_path):
    """A file's labels are as they stand there, in text that is read and in models that are stored."""
    names = ["a", "a\0", "b"]
    lines = [json.dumps({"text": f"w{k % 3} x", "label": names[k % 3]}) for k in range(30)]
    (tmp_path / "texts.jsonl").write_text("\n".join(lines) + "\n")
    texts, found = read_texts(tmp_path / "texts.jsonl")
    assert found.tolist() == [names[k % 3] for k in range(30)]
    model = lineal.TextClassifier().fit(texts, found)
    lineal.save(model, tmp_path / "model.lineal")
    assert lineal.load(tmp_path / "model.lineal").predict(["w0 x", "w1 x", "w2 x"]).tolist() == names
    assert lineal.evaluate(model, texts, found)["accuracy"].value == 1.0
    refusing = lineal.Voting([lineal.TextClassifier()] * 2, "majority", refusal="c\0").fit(texts, found)
    assert set(refusing.predict(texts).tolist()) <= {*names, "c\0"}


@every_classifier
def test_one_class_is_refused_by_name(kind):
    """A single class is refused, and named."""
    with pytest.raises(InputError, match=r"one class.*spam.*[Cc]heck"):
        kind().fit(features(), ["spam"] * 40)


@every_classifier
def test_one_class_with_weight_is_refused(kind):
    """A second class whose rows all weigh 0 is not a class to learn from."""
    X, y = data_for(kind)
    with pytest.raises(InputError, match="one class"):
        kind().fit(X, y, sample_weight=(y == 1).astype(float))


@bad_number
@every
def test_targets_that_are_not_numbers_are_refused_with_their_row(kind, bad):
    """NaN or infinity in y is refused with its row."""
    X, y = data_for(kind)
    y = y.astype(float)
    y[4] = bad
    with pytest.raises(InputError, match=r"y contains NaN or infinity.*row 4\b"):
        kind().fit(X, y)


def test_nan_among_object_labels_is_refused():
    """NaN that hides in an object array is no label: it equals nothing, itself included."""
    X = features()
    y = labels(X).astype(object)
    y[4] = float("nan")
    with pytest.raises(InputError, match="NaN"):
        LinearClassifier().fit(X, y)


@every_classifier
def test_continuous_targets_are_refused(kind):
    """Fractions are not labels; the refusal says that they are continuous."""
    X = features()
    with pytest.raises(ValueError, match="continuous"):
        kind().fit(X, numbers(X))


@every_regressor
def test_text_targets_are_refused(kind):
    """Text is no target of a regression."""
    with pytest.raises(InputError, match="y must be numbers"):
        kind().fit(features(), ["a", "b"] * 20)


@every
def test_a_column_vector_is_flattened_with_a_warning(kind):
    """y of shape (n, 1) is read as (n,), with scikit-learn's warning; where their twins take it as it is it
    is one column of targets, without a warning (agreement/test_twins.py has the shapes).
    """
    X, y = data_for(kind)
    if getattr(kind, "_one_column", "flat") != "flat":
        model, flat = kind().fit(X, y[:, None]), kind().fit(X, y)
        np.testing.assert_array_equal(np.ravel(model.coef_), flat.coef_)
        np.testing.assert_array_equal(np.ravel(model.predict(X)), flat.predict(X))
        return
    with pytest.warns(DataConversionWarning, match="column-vector"):
        model = kind().fit(X, y[:, None])
    assert same_model(model, kind().fit(X, y))


@every_classifier
def test_a_table_of_labels_is_refused(kind):
    """Several label columns are refused with their shape."""
    X = features()
    with pytest.raises(InputError, match=r"\(40, 2\)"):
        kind().fit(X, np.column_stack([labels(X), labels(X)]))


# ---- weights of rows ------------------------------------------------------------------------------


@every
def test_weight_zero_is_the_row_absent(kind):
    """Rows of weight 0 may hold anything finite; the objective and the predictions do not know them."""
    X, y = data_for(kind)
    weights = np.ones(40)
    weights[20:] = 0.0
    X[20:] *= 50.0
    some, fewer = kind(tol=1e-10).fit(X, y, weights), kind(tol=1e-10).fit(X[:20], y[:20])
    assert some.certificate_.primal == pytest.approx(fewer.certificate_.primal, rel=1e-8)
    assert is_finite(some)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.r_[np.ones(39), -1.0], "row 39"),
        (np.r_[np.nan, np.ones(39)], "row 0"),
        (np.r_[1.0, np.inf, np.ones(38)], "row 1"),
        (np.zeros(40), "zero"),
        (np.ones(39), "39"),
        (np.ones((40, 2)), "1D"),
    ],
    ids=["negative", "nan", "inf", "all zero", "too few", "two columns"],
)
@every
def test_impossible_weights_are_refused(kind, weights, words):
    """Weights that are negative, not finite, all 0 or of the wrong shape are refused with the place."""
    X, y = data_for(kind)
    with pytest.raises(InputError, match=words):
        kind().fit(X, y, sample_weight=weights)


def test_weights_that_are_no_numbers_are_refused():
    """Text as a weight is an InputError."""
    X = features()
    with pytest.raises(InputError):
        LinearClassifier().fit(X, labels(X), sample_weight=["heavy"] * 40)


@every
def test_one_number_weighs_every_row(kind):
    """A scalar weight is the weight of every row."""
    X, y = data_for(kind)
    assert same_model(kind().fit(X, y, 2.0), kind().fit(X, y, np.full(40, 2.0)))


# ---- class weights --------------------------------------------------------------------------------


@every_classifier
def test_class_weight_of_an_unknown_label_is_refused(kind):
    """A class_weight for a label that is not in y names that label."""
    X, y = data_for(kind)
    with pytest.raises(ParameterError, match="eggs"):
        kind(class_weight={0: 1.0, "eggs": 2.0}).fit(X, y)


@pytest.mark.parametrize("weight", [{0: -1.0}, {0: np.nan}, {0: np.inf}, "heavy", 3.0], ids=str)
def test_impossible_class_weights_are_refused(weight):
    """Class weights that are negative, not finite or of no known kind are a ParameterError."""
    X = features()
    with pytest.raises(ParameterError, match="class_weight"):
        LinearClassifier(class_weight=weight).fit(X, labels(X))


# ---- separable without a penalty ------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_separable_without_a_penalty_says_so(n_classes, intercept):
    """A likelihood of separable classes has no minimiser: not certified, with that reason."""
    X = np.vstack([np.eye(3)[k] * 3 + features(10, 3, k) * 0.1 for k in range(n_classes)])
    y = np.repeat(np.arange(n_classes), 10)
    model = LinearClassifier(penalty=NoPenalty(), fit_intercept=intercept)
    with pytest.warns(NotCertifiedWarning, match="separable"):
        model.fit(X, y)
    assert not model.certificate_.converged
    assert "separable" in model.certificate_.reason
    assert model.certificate_.dual <= model.certificate_.primal
    assert is_finite(model)
    assert (model.predict(X) == y).all()


def test_separable_logistic_regression_without_penalty():
    """The preset says the same."""
    with pytest.warns(NotCertifiedWarning, match="separable"):
        model = LogisticRegression(penalty=None).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    assert "separable" in model.certificate_.reason


@pytest.mark.parametrize("penalty", [L2(1e-8), L2(1e8), L1(1e-8), L1(1e8)], ids=repr)
def test_extreme_strengths_stay_finite(penalty):
    """Strengths from 1e-8 to 1e8 give finite weights; an overwhelming L1 gives exactly 0."""
    X = features()
    y = labels(X)
    for loss in (Hinge(), Squared()):
        model = LinearClassifier(loss=loss, penalty=penalty, tol=1e-3).fit(X, y)
        assert is_finite(model)
        assert penalty != L1(1e8) or not model.coef_.any()


def test_regressor_refuses_a_three_dimensional_y():
    """y of three dimensions is refused with its shape."""
    with pytest.raises(InputError, match=r"\(40, 1, 1\)"):
        LinearRegressor().fit(features(), np.ones((40, 1, 1)))


BEYOND = {
    "y": lambda X, y: LinearRegressor().fit(X, y * 1e160),
    "X": lambda X, y: Ridge().fit(X * 1e155, y),
    "small X": lambda X, y: LinearRegression().fit(X * 1e-310, y),
    "X, classes": lambda X, y: LogisticRegression().fit(X * 1e200, labels(X, 3)),
}


@pytest.mark.parametrize("name", BEYOND)
def test_numbers_beyond_float64_are_said(name):
    """Where squares overflow or vanish there is no objective: rescale."""
    X = features()
    with pytest.raises(InputError, match="Rescale"):
        BEYOND[name](X, numbers(X))


@pytest.mark.parametrize("solver", ["auto", "lbfgs", "dual_cd"])
def test_a_warm_start_from_no_numbers_is_a_cold_one(solver):
    """Weights that became NaN do not stay so."""
    X = features()
    y = labels(X)
    model = LinearClassifier(solver=solver, warm_start=True).fit(X, y)
    model.coef_ = np.full_like(model.coef_, np.nan)
    assert model.fit(X, y).certificate_.converged
    assert is_finite(model)
