"""Sparse rows that are made and joined without SciPy are those that SciPy makes."""

import numpy as np
import pytest
import scipy.sparse as sp

from lineal import LinearClassifier, TextClassifier, _core
from lineal.data.documents import documents
from lineal.data.rows import side_by_side
from lineal.text import TextVectorizer

TEXTS = [
    "a good film",
    "a bad film",
    "good",
    "",
    "bad, bad acting",
    "not so bad",
    "so good a cast",
    "the end",
]
LABELS = ["pos", "neg", "pos", "neg", "neg", "pos", "pos", "neg"]


def dense(X):
    return X.to_scipy().toarray() if hasattr(X, "to_scipy") else X.toarray()


@pytest.mark.parametrize("dtypes", [("f4", "f4"), ("f8", "f4", "f8"), ("f4", "f8", "f4", "f4")], ids=len)
@pytest.mark.parametrize("n_rows", [0, 1, 40])
def test_blocks_side_by_side(dtypes, n_rows):
    """Columns, numbers and their type are those of ``hstack``, whatever the starts of rows are counted in."""
    rng = np.random.default_rng(n_rows)
    blocks = [
        sp.random(n_rows, 1 + 7 * k, density=0.3, format="csr", dtype=dtype, random_state=rng)
        for k, dtype in enumerate(dtypes)
    ]
    starts, columns, values = side_by_side([((X.indptr, X.indices, X.data), X.shape[1]) for X in blocks])
    wanted = sp.hstack(blocks, format="csr")
    np.testing.assert_array_equal(starts, wanted.indptr)
    np.testing.assert_array_equal(columns, wanted.indices)
    np.testing.assert_array_equal(values, wanted.data)
    assert values.dtype == wanted.dtype


@pytest.mark.parametrize(
    ("start", "begin"), [([0, 3], [0]), ([0, 2], [-1]), ([0, 2], [1]), ([2, 1], [0]), ([-1, 0], [0])]
)
def test_rows_outside_their_arrays_are_refused(start, begin):
    """Nothing is read or written outside of them."""
    starts, begins = np.array(start), np.array(begin)
    columns, values = np.zeros(2, dtype=np.int32), np.zeros(2)
    with pytest.raises(ValueError, match="outside"):
        _core.put_rows(starts, columns, values, begins, 0, np.zeros(2, dtype=np.int32), np.zeros(2))


@pytest.mark.parametrize("options", [{}, {"n_features": 64}, {"lexicons": {"warm": ["good"]}}], ids=str)
def test_rows_are_what_transform_returns(options):
    """Of a vectoriser, with extra columns as well."""
    vectorizer = TextVectorizer(**options).fit(TEXTS)
    np.testing.assert_array_equal(dense(vectorizer.rows(TEXTS)), dense(vectorizer.transform(TEXTS)))


@pytest.mark.parametrize("n", [1, 2])
def test_rows_of_the_model_inside(n):
    """With one vectoriser and with several."""
    vectorizers = [TextVectorizer(), TextVectorizer(analyzer="char_wb", ngrams=(2, 3))][:n]
    model = TextClassifier(vectorizer=vectorizers, learner=LinearClassifier()).fit(TEXTS, LABELS)
    rows = model.inner_rows(TEXTS)
    np.testing.assert_array_equal(dense(rows), dense(model.transform(TEXTS)))
    np.testing.assert_array_equal(model.model_.predict(rows), model.predict(TEXTS))


def test_letter_hashes_are_of_folded_beginnings():
    """Two texts have one hash if their first letters, without space and in small letters, are the same."""
    texts = [
        "Call  now",
        "call\tNOW",
        "call nov",
        "",
        " \n",
        "ä",
        "Ä",
        "callnow!",
        "a" * 50,
        "a" * 41,
        "a" * 39,
    ]
    hashes = documents(texts).letter_hashes(40)
    keys = [text.encode().translate(bytes(range(256)).lower(), b" \t\r\n\v\f")[:40] for text in texts]
    for a, one in zip(keys, hashes, strict=True):
        for b, other in zip(keys, hashes, strict=True):
            assert (a == b) == (one == other)
    assert hashes[3] == hashes[4] == 0
    assert hashes.dtype == np.int64
    assert len(documents([]).letter_hashes(40)) == 0
