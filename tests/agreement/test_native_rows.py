"""Passes over data: the core equals NumPy, for every layout, and threads do not change a bit."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import rows, seeds

from lineal import _core
from lineal.objective.rows import NumpyRows

LAYOUTS = ["csr64", "csr32", "dense64", "dense32"]
every_layout = pytest.mark.parametrize("layout", LAYOUTS)


def made(layout, seed, n=None, d=None, density=0.3):
    """The same numbers as a core matrix and as a float64 ndarray; some rows and columns are empty."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40)) if n is None else n
    d = int(rng.integers(1, 30)) if d is None else d
    X = np.where(rng.random((n, d)) < density, rng.normal(size=(n, d)), 0.0)
    X = X.astype(np.float32 if layout.endswith("32") else np.float64)
    return rows(sp.csr_array(X) if layout.startswith("csr") else X).matrix, X.astype(np.float64)


@every_layout
@given(seed=seeds(), K=st.integers(1, 9))
def test_passes_equal_numpy(layout, seed, K):
    """dot, adjoint, squared_adjoint, squared_norms, gram: the sums that NumPy makes."""
    matrix, X = made(layout, seed)
    rng = np.random.default_rng(seed)
    W, U, h = rng.normal(size=(X.shape[1], K)), rng.normal(size=(X.shape[0], K)), rng.random(X.shape[0])
    h[::3] = 0.0
    ones = np.hstack([X, np.ones((len(X), 1))])
    # At most 40 terms of size 10: another order of summation moves the last digits.
    close = {"rtol": 1e-12, "atol": 1e-13}
    np.testing.assert_allclose(matrix.dot(W), X @ W, **close)
    np.testing.assert_allclose(matrix.adjoint(U), X.T @ U, **close)
    np.testing.assert_allclose(matrix.squared_adjoint(U), (X * X).T @ U, **close)
    np.testing.assert_allclose(matrix.squared_norms(), (X * X).sum(axis=1), **close)
    np.testing.assert_allclose(matrix.gram(h, False), X.T @ (h[:, None] * X), **close)
    np.testing.assert_allclose(matrix.gram(h, True), ones.T @ (h[:, None] * ones), **close)
    np.testing.assert_allclose(matrix.dot(W.astype(np.float32)), X @ W.astype(np.float32), **close)
    assert (matrix.n_rows, matrix.n_columns) == X.shape
    assert matrix.is_float32 == layout.endswith("32") and matrix.is_sparse == layout.startswith("csr")


@every_layout
@given(seed=seeds(), n_threads=st.integers(2, 4), K=st.integers(1, 6))
def test_threads_change_no_bit(layout, seed, n_threads, K):
    """Any number of threads gives identical bits, pass by pass."""
    matrix, X = made(layout, seed)
    rng = np.random.default_rng(seed)
    W, U, h = rng.normal(size=(X.shape[1], K)), rng.normal(size=(X.shape[0], K)), rng.random(X.shape[0])
    wanted = np.flatnonzero(rng.random(X.shape[1]) < 0.5)
    for one, many in [
        (matrix.dot(W), matrix.dot(W, n_threads)),
        (matrix.adjoint(U), matrix.adjoint(U, n_threads)),
        (matrix.squared_adjoint(U), matrix.squared_adjoint(U, n_threads)),
        (matrix.squared_norms(), matrix.squared_norms(n_threads)),
        (matrix.gram(h, True), matrix.gram(h, True, n_threads)),
        (matrix.gram(h, False), matrix.gram(h, False, n_threads)),
        *zip(matrix.take_columns(wanted).arrays(), matrix.take_columns(wanted, n_threads).arrays(), strict=True),
    ]:
        assert one.tobytes() == many.tobytes()


@every_layout
@given(seed=seeds())
def test_taken_columns_are_those_columns(layout, seed):
    """take_columns keeps the numbers and renumbers the columns, as sparse float64."""
    matrix, X = made(layout, seed)
    wanted = np.flatnonzero(np.random.default_rng(seed).random(X.shape[1]) < 0.5)
    start, index, value = matrix.take_columns(wanted).arrays()
    taken = sp.csr_array((value, index, start), shape=(X.shape[0], len(wanted)))
    np.testing.assert_array_equal(taken.toarray(), X[:, wanted])
    assert matrix.take_columns(wanted).check()[0] == ""


def test_columns_to_take_must_exist_and_increase():
    """A wrong list of columns is an error, not a read out of bounds."""
    matrix, _ = made("csr64", 0, 5, 4)
    for wrong in ([0, 4], [-1], [2, 1], [1, 1]):
        with pytest.raises(ValueError, match="column"):
            matrix.take_columns(np.array(wrong))


@given(seed=seeds())
def test_narrowing_rounds_values_once(seed):
    """to_float32 stores the nearest float32 of every value and shares the rest."""
    matrix, X = made("csr64", seed)
    narrow = matrix.to_float32()
    assert narrow.is_float32 and narrow.n_stored == matrix.n_stored
    np.testing.assert_array_equal(narrow.dot(np.eye(X.shape[1])), X.astype(np.float32))


@every_layout
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_the_first_number_that_is_none_is_found(layout, bad, n_threads):
    """check names the first row, in order, with NaN or infinity, and its column."""
    _, X = made(layout, 3, 20, 7, density=1.0)
    X = X.astype(np.float32 if layout.endswith("32") else np.float64)
    X[11, 5] = X[11, 6] = X[17, 0] = bad
    matrix = rows(sp.csr_array(X) if layout.startswith("csr") else X).matrix
    assert matrix.check(n_threads) == ("not_finite", 11, 5)


@pytest.mark.parametrize(
    ("flaw", "start", "index"),
    [
        (("bad_column", 1, 3), [0, 1, 2, 3], [0, 3, 1]),
        (("bad_column", 0, -1), [0, 1, 2, 3], [-1, 0, 1]),
        (("bad_pointer", 1, -1), [0, 2, 1, 3], [0, 1, 2]),
        (("bad_pointer", 2, -1), [0, 1, 2, 9], [0, 1, 2]),
        (("unsorted", 1, -1), [0, 1, 3, 3], [0, 2, 1]),
        (("unsorted", 0, -1), [0, 2, 3, 3], [1, 1, 0]),
        (("", -1, -1), [0, 0, 2, 3], [0, 2, 1]),
    ],
)
def test_broken_sparse_arrays_are_found(flaw, start, index):
    """Pointers out of range, columns out of range and unsorted or double columns are named."""
    arrays = np.array(start, dtype=np.int64), np.array(index, dtype=np.int32), np.ones(3)
    found = _core.Matrix.from_csr(*arrays, 3, arrays).check()
    assert found[0] == flaw[0] and (flaw[0] == "" or found[1] == flaw[1])
    assert flaw[0] != "bad_column" or found == flaw


@pytest.mark.parametrize("layout", ["csr64", "dense64"])
def test_wrong_shapes_are_errors(layout):
    """No pass reads beyond an array of the wrong length."""
    matrix, X = made(layout, 1, 6, 5)
    for wrong in (lambda: matrix.dot(np.ones((4, 2))), lambda: matrix.adjoint(np.ones((5, 2))),
                  lambda: matrix.squared_adjoint(np.ones((7, 1))), lambda: matrix.gram(np.ones(5), True)):  # fmt: skip
        with pytest.raises(ValueError, match="needs one"):
            wrong()


@every_layout
@settings(max_examples=10)
@given(seed=seeds())
def test_numpy_rows_are_the_same_protocol(layout, seed):
    """NumpyRows, which verification reads, answers as the core does, sparse or dense."""
    matrix, X = made(layout, seed)
    rng = np.random.default_rng(seed)
    U, h = rng.normal(size=(X.shape[0], 3)), rng.random(X.shape[0])
    twin = NumpyRows(sp.csr_array(X) if layout.startswith("csr") else X)
    for ours, theirs in [
        (matrix.adjoint(U), twin.adjoint(U)),
        (matrix.squared_adjoint(U), twin.squared_adjoint(U)),
        (matrix.gram(h, True), twin.gram(h, True)),
        (matrix.gram(h, False), twin.gram(h, False)),
        (matrix.dot(np.eye(X.shape[1])), twin.dot(np.eye(X.shape[1]))),
    ]:
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("shape", [(1, 1), (3, 1), (1, 5)])
@every_layout
def test_matrices_without_numbers(layout, shape):
    """Rows and columns of zeros alone give zeros, and as many threads as one likes."""
    matrix, _ = made(layout, 0, *shape, density=0.0)
    assert not matrix.dot(np.ones((shape[1], 2)), 4).any()
    assert not matrix.adjoint(np.ones((shape[0], 2)), 4).any()
    assert not matrix.gram(np.ones(shape[0]), False, 4).any()
    assert matrix.gram(np.ones(shape[0]), True, 4)[-1, -1] == shape[0]
    assert matrix.check(4)[0] == ""
