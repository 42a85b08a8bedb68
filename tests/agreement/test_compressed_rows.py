"""Rows without SciPy are SciPy's rows."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from lineal import LinearClassifier
from lineal.data.compressed import CompressedRows


def some_rows(seed, n_rows=12, n_columns=7):
    return sp.random_array((n_rows, n_columns), density=0.4, format="csr", rng=seed)


@given(st.integers(0, 1000), st.lists(st.integers(0, 11), max_size=30))
def test_rows_are_taken_as_scipy_takes_them(seed, wanted):
    """X[rows] are SciPy's, for rows in any order, more than once, or none."""
    X, rows = some_rows(seed), np.array(wanted, dtype=np.intp)
    own = CompressedRows.of(X)[rows]
    assert own.shape == (len(rows), X.shape[1])
    assert_array_equal(own.to_scipy().toarray(), X.toarray()[rows])
    assert len(own.indices) == len(own.data) == own.indptr[-1]


@given(st.integers(0, 20))
def test_a_linear_model_takes_both_alike(seed):
    """Fitted to rows without SciPy, a linear model has the same bits, and predicts the same scores."""
    X, y = some_rows(seed), np.arange(12) % 2
    plain = LinearClassifier().fit(CompressedRows.of(X), y)
    usual = LinearClassifier().fit(X, y)
    assert_array_equal(plain.coef_, usual.coef_)
    assert_array_equal(plain.decision_function(CompressedRows.of(X)), usual.decision_function(X))


def test_numbers_change_their_type_and_nothing_else():
    """astype gives the same rows in another precision, and itself where there is nothing to do."""
    X = CompressedRows.of(some_rows(0))
    assert X.astype(np.float64) is X
    narrow = X.astype(np.float32)
    assert narrow.dtype == np.float32
    assert_array_equal(narrow.to_scipy().toarray(), X.to_scipy().toarray().astype(np.float32))
