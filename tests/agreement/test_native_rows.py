"""Passes over data: the core equals NumPy, for every layout, and threads do not change a bit."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from lineal import _core
from lineal.objective.linear_maps import FLOAT32_ROUNDING, NumpyRows
from strategies import rows, seeds

LAYOUTS = ["csr64", "csr32", "dense64", "dense32"]
every_layout = pytest.mark.parametrize("layout", LAYOUTS)


def made(layout, seed, n=None, d=None, density=0.3):
    """The same numbers as rows of the core and as a float64 ndarray; some rows and columns are empty."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40)) if n is None else n
    d = int(rng.integers(1, 30)) if d is None else d
    X = np.where(rng.random((n, d)) < density, rng.normal(size=(n, d)), 0.0)
    X = X.astype(np.float32 if layout.endswith("32") else np.float64)
    return rows(sp.csr_array(X) if layout.startswith("csr") else X), X.astype(np.float64)


def passes(native, W, U, h):
    """Every pass over the rows, by name; gram is the core's own, which dense rows leave to BLAS."""
    matrix, n_threads = native.matrix, native.n_threads
    return {
        "dot": native.dot(W),
        "adjoint": native.adjoint(U),
        "squared_adjoint": native.squared_adjoint(U),
        "squared_norms": native.squared_norms,
        "gram": matrix.gram(h, False, n_threads),
        "gram with a constant": matrix.gram(h, True, n_threads),
    }


def factors(X, seed, K):
    """Random W, U and h for the passes; some of h is 0, as the curvatures of flat losses are."""
    rng = np.random.default_rng(seed)
    h = rng.random(X.shape[0])
    h[::3] = 0.0
    return rng.normal(size=(X.shape[1], K)), rng.normal(size=(X.shape[0], K)), h


@every_layout
@given(seed=seeds(), K=st.integers(1, 9))
def test_passes_equal_numpy(layout, seed, K):
    """dot, adjoint, squared_adjoint, squared_norms, gram: the sums that NumPy makes."""
    native, X = made(layout, seed)
    W, U, h = factors(X, seed, K)
    ones = np.hstack([X, np.ones((len(X), 1))])
    expected = {
        "dot": X @ W,
        "adjoint": X.T @ U,
        "squared_adjoint": (X * X).T @ U,
        "squared_norms": (X * X).sum(axis=1),
        "gram": X.T @ (h[:, None] * X),
        "gram with a constant": ones.T @ (h[:, None] * ones),
    }
    for name, found in passes(native, W, U, h).items():
        # At most 40 terms of size 10: another order of summation moves the last digits.
        np.testing.assert_allclose(found, expected[name], rtol=1e-12, atol=1e-13, err_msg=name)
    assert (native.n_rows, native.n_columns) == X.shape
    assert native.is_sparse == layout.startswith("csr")
    assert native.matrix.is_float32 == layout.endswith("32")


@every_layout
@settings(max_examples=10)
@given(seed=seeds(), n_threads=st.integers(2, 4), K=st.integers(1, 6))
def test_threads_change_no_bit(layout, seed, n_threads, K):
    """Any number of threads gives identical bits, pass by pass; the rows are worth four threads."""
    native, X = made(layout, seed, 1500, 100, 0.9)
    many = replace(native, n_threads=n_threads)
    wanted = np.flatnonzero(np.random.default_rng(seed).random(X.shape[1]) < 0.5)
    one, other = passes(native, *factors(X, seed, K)), passes(many, *factors(X, seed, K))
    for name in one:
        assert one[name].tobytes() == other[name].tobytes(), name
    taken = (
        native.matrix.take_columns(wanted).arrays(),
        native.matrix.take_columns(wanted, n_threads).arrays(),
    )
    assert all(a.tobytes() == b.tobytes() for a, b in zip(*taken, strict=True))


@every_layout
@given(seed=seeds())
def test_taken_columns_are_those_columns(layout, seed):
    """take_columns keeps the numbers and renumbers the columns; the core's own are sparse float64."""
    native, X = made(layout, seed)
    wanted = np.flatnonzero(np.random.default_rng(seed).random(X.shape[1]) < 0.5)
    start, index, value = native.matrix.take_columns(wanted).arrays()
    taken = sp.csr_array((value, index, start), shape=(X.shape[0], len(wanted)))
    np.testing.assert_array_equal(taken.toarray(), X[:, wanted])
    assert native.matrix.take_columns(wanted).check()[0] == ""
    np.testing.assert_array_equal(native.take_columns(wanted).dot(np.eye(len(wanted))), X[:, wanted])


@settings(max_examples=20)
@given(seed=seeds(), size=st.sampled_from([1e-12, 1.0, 1e12]))
def test_float32_rows_are_the_rows_rounded(seed, size):
    """In the same places, no row further away than is said; none beyond float32, and none of dense rows."""
    _, X = made("csr64", seed)
    X *= size
    for n_threads in (1, 3):
        given = rows(sp.csr_array(X), n_threads)
        copy = given.in_float32()
        start, index, value = copy.given.arrays()
        assert value.dtype == np.float32
        np.testing.assert_array_equal(value, sp.csr_array(X).data.astype(np.float32))
        for ours, theirs in zip((start, index), given.given.arrays(), strict=False):
            np.testing.assert_array_equal(ours, theirs)
    away = np.linalg.norm(copy.csr().toarray().astype(np.float64) - X, axis=1)
    assert (away <= FLOAT32_ROUNDING * np.linalg.norm(X, axis=1)).all()
    if X.any():
        assert rows(sp.csr_array(X * (1e35 / size))).in_float32() is None
        assert rows(sp.csr_array(X * (1e-35 / size))).in_float32() is None
    assert rows(X).in_float32() is None
    assert rows(sp.csr_array(X.astype(np.float32))).in_float32() is None


def test_columns_to_take_must_exist_and_increase():
    """A wrong list of columns is an error, not a read out of bounds."""
    matrix = made("csr64", 0, 5, 4)[0].matrix
    for wrong in ([0, 4], [-1], [2, 1], [1, 1]):
        with pytest.raises(ValueError, match="column"):
            matrix.take_columns(np.array(wrong))


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
        (("repeated", 0, -1), [0, 2, 3, 3], [1, 1, 0]),
        (("", -1, -1), [0, 0, 2, 3], [0, 2, 1]),
    ],
)
def test_broken_sparse_arrays_are_found(flaw, start, index):
    """Pointers out of range, columns out of range and unsorted or repeated columns are named."""
    arrays = np.array(start, dtype=np.int64), np.array(index, dtype=np.int32), np.ones(3)
    found = _core.Matrix.from_csr(*arrays, 3, arrays).check()
    assert found[0] == flaw[0]
    assert flaw[0] == "" or found[1] == flaw[1]
    assert flaw[0] != "bad_column" or found == flaw


@pytest.mark.parametrize("layout", ["csr64", "dense64"])
def test_wrong_shapes_are_errors(layout):
    """No pass reads beyond an array of the wrong length."""
    native, _ = made(layout, 1, 6, 5)
    for call, wrong in [
        (native.dot, np.ones((4, 2))),
        (native.adjoint, np.ones((5, 2))),
        (native.squared_adjoint, np.ones((7, 1))),
        (lambda h: native.matrix.gram(h, True), np.ones(5)),
    ]:
        with pytest.raises(ValueError, match="needs one"):
            call(wrong)


@every_layout
@settings(max_examples=10)
@given(seed=seeds())
def test_numpy_rows_are_the_same_protocol(layout, seed):
    """NumpyRows, which verification reads, answers as the core does, sparse or dense."""
    native, X = made(layout, seed)
    W, U, h = factors(X, seed, 3)
    twin = NumpyRows(sp.csr_array(X) if layout.startswith("csr") else X)
    for ours, theirs in [
        (native.dot(W), twin.dot(W)),
        (native.adjoint(U), twin.adjoint(U)),
        (native.squared_adjoint(U), twin.squared_adjoint(U)),
        (native.gram(h, True), twin.gram(h, True)),
        (native.gram(h, False), twin.gram(h, False)),
    ]:
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("shape", [(1, 1), (3, 1), (1, 5)])
@every_layout
def test_matrices_without_numbers(layout, shape):
    """Rows and columns of zeros alone give zeros, and as many threads as one likes."""
    native = replace(made(layout, 0, *shape, density=0.0)[0], n_threads=4)
    assert not native.dot(np.ones((shape[1], 2))).any()
    assert not native.adjoint(np.ones((shape[0], 2))).any()
    assert not native.matrix.gram(np.ones(shape[0]), False, 4).any()
    assert native.matrix.gram(np.ones(shape[0]), True, 4)[-1, -1] == shape[0]
    assert native.matrix.check(4)[0] == ""
