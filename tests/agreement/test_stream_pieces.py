"""Streams are one whatever their layout, their pieces, and the way that texts take into them."""

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from lineal import (
    HuberRegressor,
    LogisticRegression,
    OnlineClassifier,
    OnlineRegressor,
    PassiveAggressiveClassifier,
    SGDClassifier,
    TextClassifier,
    TextRegressor,
    _core,
)
from lineal.data import stream_texts
from lineal.objective import L1, L2, Absolute, ElasticNet, Hinge, Perceptron, SquaredHinge
from lineal.objective.linear_maps import native_dense
from lineal.text import TextVectorizer
from strategies import losses, named, seeds

LABELS = ("m", "x", "c", "a")  # in the order of their arrival


def assert_close(found, wanted, rtol):
    """Rounding grows with the size of the weights and not with each one's own."""
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol * np.abs(wanted).max())


# ---- layouts ------------------------------------------------------------------------------------


def wide(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def with_zeros(X):
    made = sp.csr_array(np.where(X == 0, np.inf, X))
    made.data[np.isinf(made.data)] = 0.0
    return made


LAYOUTS = {
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "coo": sp.coo_array,
    "csr, 64-bit indices": lambda X: wide(sp.csr_array(X)),
    "csr with stored zeros": with_zeros,
    "Fortran": np.asfortranarray,
    "a view": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "lists": lambda X: X.tolist(),
}


LEARNERS = {
    "two classes": (OnlineClassifier, 2),
    "two classes, hinge, averaged": (lambda: OnlineClassifier(Hinge(), average=True), 2),
    "softmax": (OnlineClassifier, 4),
    "Crammer-Singer, decaying": (lambda: OnlineClassifier(Hinge(), steps="decaying"), 4),
    "one-vs-rest, L2": (lambda: OnlineClassifier(SquaredHinge(), L2(0.1)), 4),
    "one-vs-rest, L1": (lambda: OnlineClassifier(SquaredHinge(), L1(0.1)), 4),
    "softmax, elastic net": (lambda: OnlineClassifier(penalty=ElasticNet(0.1, 0.1)), 4),
    "PA-II": (lambda: PassiveAggressiveClassifier("PA-II"), 4),
    "grows": (lambda: SGDClassifier(alpha=0.01), 2),
    "preset": (LogisticRegression, 4),
    "numbers": (OnlineRegressor, 0),
    "absolute errors, constant": (lambda: OnlineRegressor(Absolute(), steps="constant", average=True), 0),
    "several numbers": (HuberRegressor, -3),
}
every_learner = pytest.mark.parametrize(("make", "n_classes"), LEARNERS.values(), ids=LEARNERS)


def data_of(n_classes, d=6, n=40, seed=0):
    """Rows with zeros and their labels, or numbers; the fourth label and the last column come late."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    X[: n // 2, -1] = 0.0
    if n_classes <= 0:
        return X, rng.normal(size=n) if not n_classes else rng.normal(size=(n, -n_classes))
    y = rng.choice(LABELS[: min(n_classes, 3)], size=n)
    y[n // 2 :] = rng.choice(LABELS[:n_classes], size=n - n // 2)
    return X, y


def everything(model):
    """All that a stream has become, as numbers."""
    told = [model.online_loss_, model.n_seen_, getattr(model, "online_accuracy_", 0.0)]
    return np.concatenate([np.ravel(model.coef_), np.ravel(model.intercept_), told])


@every_learner
def test_layouts_are_one(make, n_classes):
    """Sparse and dense, of any layout and index, are one model; float32 is its numbers in float64."""
    for d in (6, 80):
        X, y = data_of(n_classes, d)
        dense = everything(make().partial_fit(X, y))
        for layout in LAYOUTS.values():
            assert_close(everything(make().partial_fit(layout(X), y)), dense, rtol=1e-12)
        narrow = X.astype(np.float32)
        wanted = everything(make().partial_fit(narrow.astype(np.float64), y))
        for found in (narrow, sp.csr_array(narrow)):
            assert_close(everything(make().partial_fit(found, y)), wanted, rtol=1e-12)
        assert_close(wanted, dense, rtol=1e-4)  # 24 bits, and steps that forget what went before them slowly


# ---- pieces -------------------------------------------------------------------------------------

cuts = st.lists(st.integers(1, 39), unique=True, max_size=8).map(sorted)


@every_learner
@pytest.mark.parametrize("d", [6, 80])
@settings(max_examples=10)
@given(cuts=cuts, seed=seeds())
def test_pieces_of_any_size_give_the_model_of_one_pass(make, n_classes, d, cuts, seed):
    """Bit for bit; pickled in between or not, with columns that come late or were there as zeros."""
    X, y = data_of(n_classes, d, seed=seed)
    s = np.random.default_rng(seed).choice([0.5, 1.0, 3.0], size=len(X))
    whole = make().partial_fit(X, y, sample_weight=s)
    pieces = make()
    for first, last in itertools.pairwise([0, *cuts, len(X)]):
        rows = X[first:last, : d - 1] if last <= len(X) // 2 else X[first:last]
        pieces.partial_fit(rows, y[first:last], sample_weight=s[first:last])
        pieces = pickle.loads(pickle.dumps(pieces)) if first % 2 else pieces
    np.testing.assert_array_equal(everything(pieces), everything(whole))
    np.testing.assert_array_equal(pieces.predict(X), whole.predict(X))


def in_any_order(X, rng, *, twice):
    """CSR rows whose columns stand in any order; with ``twice``, some of them store a number in two parts."""
    indices, data, indptr = [], [], [0]
    for row in sp.csr_array(X):
        columns, values = row.indices, row.data
        if twice and rng.random() < 0.3:
            columns, values = np.append(columns, columns[:2]), np.append(values, [0.5, 0.25][: len(columns)])
        order = rng.permutation(len(columns))
        indices += columns[order].tolist()
        data += values[order].tolist()
        indptr.append(len(indices))
    made = sp.csr_matrix(X.shape)
    # Set, not passed: nobody is to look at them before the library does.
    made.indptr, made.indices = np.array(indptr, dtype=np.int32), np.array(indices, dtype=np.int32)
    made.data = np.array(data)
    return made


def rows_of(X, first, last):
    """Some of the rows, in the order in which they are stored: SciPy may sort the rows that it takes."""
    begin, end = X.indptr[first], X.indptr[last]
    made = sp.csr_matrix((last - first, X.shape[1]))
    made.indptr, made.indices = X.indptr[first : last + 1] - begin, X.indices[begin:end]
    made.data = X.data[begin:end]
    return made


@every_learner
@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize(("n", "d"), [(40, 80), (700, 300)])
def test_pieces_of_rows_in_any_order_give_the_model_of_one_pass(make, n_classes, twice, n, d):
    """Bit for bit, few numbers and many, with rows that store a column twice or without; sums of sorted rows
    are those sums but for rounding.
    """
    X, y = data_of(n_classes, d, n)
    given = in_any_order(X, np.random.default_rng(3), twice=twice)
    before = given.indices.copy(), given.data.copy()
    whole, pieces = make().partial_fit(given, y), make()
    for first, last in itertools.pairwise([0, n // 7, n // 7 + 1, n // 2, n]):
        pieces.partial_fit(rows_of(given, first, last), y[first:last])
    np.testing.assert_array_equal(everything(pieces), everything(whole))
    np.testing.assert_array_equal(pieces.predict(given), whole.predict(given))
    np.testing.assert_array_equal(given.indices, before[0])
    np.testing.assert_array_equal(given.data, before[1])
    if n == 40:  # longer ones carry rounding on and on
        given.sum_duplicates()
        assert_close(everything(make().partial_fit(given, y)), everything(whole), rtol=1e-11)


def is_even(loss):
    """Whether a loss treats both labels alike."""
    z = np.linspace(-3.0, 3.0, 20)
    return np.array_equal(loss.value(1.0, z), loss.value(-1.0, -z))


@pytest.mark.parametrize(
    "loss", [loss for loss in losses() if not isinstance(loss, Perceptron) and is_even(loss)], ids=named
)
def test_two_labels_that_come_late_are_those_that_were_named(loss):
    """Their weights are the same, bit for bit, where the loss treats both labels alike."""
    for d in (6, 80):
        X, y = data_of(2, d, seed=3)
        y[:10] = y[0]
        for options in ({}, {"average": True}, {"penalty": L1(0.1)}, {"steps": "constant", "rate": 0.2}):
            late = OnlineClassifier(loss, **options).partial_fit(X, y)
            known = OnlineClassifier(loss, **options).partial_fit(X, y, classes=LABELS[:2])
            np.testing.assert_array_equal(everything(late)[:-3], everything(known)[:-3])


# ---- texts --------------------------------------------------------------------------------------

WORDS = [
    "good",
    "bad",
    "film",
    "plot",
    "",
    "İstanbul",
    "naïve",
    "\ud800x",
    "n\0ul",
    "x-y",
    "1999",
    "it's",
    "中文",
]
VECTORIZERS = {
    "words": {"ngrams": (1, 2)},
    "words, signed": {"signed": True},
    "murmur": {"compat": "sklearn", "signed": True, "weighting": "counts"},
    "characters": {"analyzer": "char", "ngrams": (2, 3), "weighting": "counts"},
    "characters of words": {"analyzer": "char_wb", "ngrams": (1, 3), "norm": "l2"},
    "float64": {"dtype": np.float64, "weighting": "counts", "norm": "l2"},
}


def texts_of(n=2000, seed=0):
    """Several blocks of texts, some of them empty or odd."""
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, size=size)) for size in rng.integers(0, 30, size=n)]
    return texts, rng.choice(LABELS, size=n, p=[0.6, 0.38, 0.01, 0.01])


@pytest.mark.parametrize("options", VECTORIZERS.values(), ids=VECTORIZERS)
def test_texts_are_learned_as_their_matrix_is(options):
    """The stream of the vectorizer's matrix, whatever the threads and the pieces, which change no bit.

    Where only occurrence counts, a text's columns are met in the order of its words and not in their own:
    then sums of a row are rounded differently.
    """
    texts, y = texts_of()
    s = np.random.default_rng(1).choice([0.5, 1.0], size=len(texts))
    vectorizer = TextVectorizer(n_features=2**9, **{"weighting": "occurrence", "norm": None} | options).fit(
        []
    )
    matrix = everything(OnlineClassifier().partial_fit(vectorizer.transform(texts), y, sample_weight=s))
    is_set = options.get("weighting", "occurrence") == "occurrence" and not {"signed", "norm"} & set(options)
    wanted = None if is_set else matrix
    for n_threads, size in ((1, 2000), (2, 2000), (3, 2000), (2, 700)):
        model = TextClassifier(vectorizer=vectorizer.set_params(n_threads=n_threads))
        for first in range(0, len(texts), size):
            piece = slice(first, first + size)
            model.partial_fit(texts[piece], y[piece], sample_weight=s[piece])
        wanted = everything(model) if wanted is None else wanted
        np.testing.assert_array_equal(everything(model), wanted)
        assert_close(everything(model), matrix, rtol=1e-12)
        model = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(everything(model), wanted)


def test_numbers_of_texts_are_learned_as_their_matrix_is():
    """The same for TextRegressor, and for a learner of the user's own."""
    texts, _ = texts_of(500)
    y = np.array([float(len(text)) for text in texts])
    vectorizer = TextVectorizer(n_features=2**9, weighting="occurrence", norm=None)
    X = vectorizer.transform(texts)
    for learner in (None, OnlineRegressor(Absolute(), average=True), HuberRegressor(alpha=0.1)):
        made = OnlineRegressor() if learner is None else learner
        found = TextRegressor(vectorizer=vectorizer, learner=learner).partial_fit(texts, y)
        assert_close(everything(found), everything(made.partial_fit(X, y)), rtol=1e-12)


def test_vectorizers_that_know_their_columns_take_part():
    """A vocabulary that was fitted before, and two vectorizers side by side: the stream of their matrix."""
    texts, y = texts_of(300)
    known = TextVectorizer(weighting="tfidf").fit(texts)
    both = [known, TextVectorizer(n_features=64, weighting="occurrence", norm=None, analyzer="char").fit([])]
    for vectorizer, X in (
        (known, known.transform(texts)),
        (both, sp.hstack([each.transform(texts) for each in both], format="csr")),
    ):
        found = TextClassifier(vectorizer=vectorizer).partial_fit(texts[:99], y[:99])
        found.partial_fit(texts[99:], y[99:])
        wanted = OnlineClassifier().partial_fit(X, y)
        assert_close(everything(found), everything(wanted), rtol=1e-12)
        np.testing.assert_array_equal(found.predict(texts), wanted.predict(X))


@pytest.mark.parametrize("n_bytes", [200, 10**6])
def test_a_file_is_the_list_of_its_texts(tmp_path, n_bytes):
    """stream_texts piece by piece, of any size: the model of the list, bit for bit."""
    texts, y = texts_of(400)
    texts = [text.replace("\ud800", "").replace("\0", "") or "-" for text in texts]
    path = tmp_path / "reviews.tsv"
    path.write_text(
        "text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in zip(texts, y, strict=True))
    )
    vectorizer = TextVectorizer(n_features=2**9, weighting="occurrence", norm=None)
    listed = TextClassifier(vectorizer=vectorizer).partial_fit(texts, y)
    filed = TextClassifier(vectorizer=vectorizer)
    for piece, labels in stream_texts(path, n_bytes=n_bytes):
        filed.partial_fit(piece, labels)
    np.testing.assert_array_equal(everything(filed), everything(listed))
    np.testing.assert_array_equal(filed.decision_function(texts), listed.decision_function(texts))


# ---- orders -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: OnlineRegressor(random_state=3), id="adaptive"),
        pytest.param(lambda: OnlineRegressor(random_state=3, steps="decaying", rate=0.1), id="decaying"),
        pytest.param(lambda: PassiveAggressiveClassifier(random_state=3), id="passive-aggressive"),
    ],
)
@pytest.mark.parametrize("d", [5, 90])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_shuffled_rows_are_the_rows_in_that_order(make, d, dtype):
    """Dense rows that are met where they stand give the bits of those that were put in order first."""
    rng = np.random.default_rng(d)
    X, y = rng.normal(size=(150, d)).astype(dtype), rng.integers(3, size=150)
    found = make().fit(X, y)
    places = np.random.default_rng(3).permutation(len(X))
    more = {"classes": np.unique(y)} if isinstance(found, PassiveAggressiveClassifier) else {}
    wanted = make().partial_fit(X[places], y[places], **more)
    np.testing.assert_array_equal(found.coef_, wanted.coef_)
    np.testing.assert_array_equal(found.intercept_, wanted.intercept_)


@pytest.mark.parametrize(
    ("order", "message"),
    [([0, 1, 3], "no such row"), ([0, -1, 2], "no such row"), ([0, 1], "a target and a weight")],
)
def test_an_order_names_rows_that_there_are(order, message):
    """One that does not, or is not as long as the targets, is refused before a row is met."""
    model = OnlineRegressor().partial_fit(np.eye(3), np.arange(3.0))
    stream = model._stream
    steps = _core.RowSteps.of_numbers(stream.recipe.native_loss, np.ones((3, 1)))
    before = stream.records.copy()
    with pytest.raises(ValueError, match=message):
        stream.learn(native_dense(np.eye(3), 1), steps, np.ones(3), np.array(order))
    np.testing.assert_array_equal(stream.records, before)
