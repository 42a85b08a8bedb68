"""Scales of columns: what they promise, at sizes from 1e-300 to 1e300, dense and sparse."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lineal import ColumnScaler
from lineal.errors import InputError, ParameterError
from strategies import seeds

TARGETS = ["[-1,1]", "[0,1]", "variance"]
target = pytest.mark.parametrize("to", TARGETS)


def tables(low=-1e6, high=1e6):
    """Small tables of numbers; zeros are frequent."""
    shapes = st.tuples(st.integers(1, 8), st.integers(1, 4))
    cells = st.floats(low, high, allow_subnormal=False) | st.just(0.0)
    return shapes.flatmap(lambda shape: hnp.arrays(np.float64, shape, elements=cells))


def sample(to, seed=0, n=40, d=5):
    """Numbers that a target takes without a shift, half of them 0, columns of several sizes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5) * 10.0 ** rng.integers(-3, 4, size=d)
    return np.abs(X) if to == "[0,1]" else X


@given(tables(), st.sampled_from(TARGETS), st.booleans())
def test_a_column_by_itself_is_scaled_as_in_a_table(X, to, shift):
    """The road without checks, which tables take, gives each of many columns the bits of it alone."""
    X = np.abs(X) if to == "[0,1]" and not shift else X
    scaler = ColumnScaler(to, shift=shift)
    together = scaler.of_columns(np.ascontiguousarray(X.T), [f"x{j}" for j in range(X.shape[1])])
    for x, scale in zip(X.T, together, strict=True):
        np.testing.assert_array_equal(scale(x), scaler.fit_transform(x[:, None])[:, 0])


@given(tables(), st.sampled_from(TARGETS), st.booleans())
def test_what_comes_out(X, to, shift):
    """Ranges are reached and never left; deviations are 1; constants make no trouble."""
    X = np.abs(X) if to == "[0,1]" and not shift else X
    Z = ColumnScaler(to, shift=shift).fit_transform(X)
    moves = X.min(axis=0) < X.max(axis=0)
    if to == "variance":
        # As many units of rounding in the mean as the deviation is smaller than the numbers.
        room = 1e-15 * np.abs(X).max(axis=0) / np.where(moves, X.std(axis=0), 1.0) + 1e-9
        sound = moves & (room < 1e-3)
        assert (np.abs(Z.std(axis=0) - 1)[sound] <= room[sound]).all()
        assert not shift or (np.abs(Z.mean(axis=0))[sound] <= 10 * room[sound]).all()
        return
    low = -1.0 if to == "[-1,1]" else 0.0
    assert Z.min() >= low - 1e-12
    assert Z.max() <= 1 + 1e-12
    if shift:
        np.testing.assert_allclose(Z.max(axis=0)[moves], 1.0)
        np.testing.assert_allclose(Z.min(axis=0)[moves], low, atol=1e-12)
    else:
        np.testing.assert_array_equal(np.abs(Z).max(axis=0), (X != 0).any(axis=0).astype(float))


@given(tables(), st.sampled_from(TARGETS), st.booleans())
def test_there_and_back(X, to, shift):
    """inverse_transform(transform(x)) = x, to the rounding of the largest number of the column."""
    X = np.abs(X) if to == "[0,1]" and not shift else X
    scaler = ColumnScaler(to, shift=shift).fit(X)
    back = scaler.inverse_transform(scaler.transform(X))
    assert (np.abs(back - X) <= 4e-16 * 4 * np.abs(X).max(axis=0)).all()


@target
def test_factors_are_those_of_the_fit(to):
    """New rows are scaled by the training rows' factors, row by row as all at once."""
    X = sample(to)
    scaler = ColumnScaler(to).fit(X[:20])
    together = scaler.transform(X[20:])
    np.testing.assert_array_equal(np.vstack([scaler.transform(row[None]) for row in X[20:]]), together)
    np.testing.assert_allclose(together, (X[20:] - scaler.offset_) / scaler.scale_, rtol=1e-15)


@target
@given(seed=seeds())
def test_sparse_is_dense(to, seed):
    """CSR, CSC and dense give the same factors and numbers; what is not stored stays so."""
    X = sample(to, seed)
    dense = ColumnScaler(to).fit(X)
    for layout in (sp.csr_array, sp.csc_matrix):
        A = layout(X)
        scaler = ColumnScaler(to).fit(A)
        np.testing.assert_allclose(scaler.scale_, dense.scale_, rtol=1e-13)
        Z = scaler.transform(A)
        assert Z.format == A.format
        assert Z.nnz == A.nnz
        np.testing.assert_allclose(Z.toarray(), dense.transform(X), rtol=1e-13)
        np.testing.assert_allclose(scaler.inverse_transform(Z).toarray(), X, rtol=1e-13)


def test_a_shift_of_sparse_data_is_refused():
    """Sparse data are never made dense behind one's back."""
    with pytest.raises(InputError, match="Use shift=False"):
        ColumnScaler("variance", shift=True).fit(sp.eye_array(3, format="csr"))


def test_a_range_from_zero_refuses_what_is_below():
    """[0, 1] cannot hold negative numbers unless 0 may move; the message says which column."""
    with pytest.raises(InputError, match=r"column 1 goes down to -3\. Use to='\[-1,1\]', or shift=True"):
        ColumnScaler("[0,1]").fit([[1.0, 2.0], [1.0, -3.0]])


@target
@pytest.mark.parametrize("shift", [False, True])
def test_weights_are_repetitions(to, shift):
    """Weight 2 is the row twice, weight 0 no row, sparse too."""
    X = sample(to)
    weight = np.random.default_rng(1).integers(0, 4, size=len(X))
    repeated = ColumnScaler(to, shift=shift).fit(np.repeat(X, weight, axis=0))
    weighted = ColumnScaler(to, shift=shift).fit(X, sample_weight=weight)
    np.testing.assert_allclose(weighted.scale_, repeated.scale_, rtol=1e-13)
    np.testing.assert_allclose(weighted.offset_, repeated.offset_, rtol=1e-11, atol=1e-14)
    if not shift:
        sparse = ColumnScaler(to).fit(sp.csr_array(X), sample_weight=weight)
        np.testing.assert_allclose(sparse.scale_, repeated.scale_, rtol=1e-13)


@target
@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_units_do_not_matter(to, shift, size):
    """A column in other units, however large, has the same scaled numbers: nothing overflows or vanishes."""
    X = sample(to)
    X = X / np.abs(X).max(axis=0)
    reference = ColumnScaler(to, shift=shift).fit_transform(X)
    np.testing.assert_allclose(
        ColumnScaler(to, shift=shift).fit_transform(X * size), reference, rtol=1e-12, atol=1e-12
    )
    if not shift:
        sparse = ColumnScaler(to).fit_transform(sp.csr_array(X * size))
        np.testing.assert_allclose(sparse.toarray(), reference, rtol=1e-12)


@pytest.mark.parametrize("to", ["[-1,1]", "[0,1]"])
def test_a_range_of_all_doubles(to):
    """From the least double to the greatest: the range is beyond doubles, the scaled numbers are not."""
    huge = np.finfo(float).max
    Z = ColumnScaler(to, shift=True).fit_transform([[-huge], [0.0], [huge]])
    np.testing.assert_array_equal(Z[:, 0], [-1.0, 0.0, 1.0] if to == "[-1,1]" else [0.0, 0.5, 1.0])


@target
@pytest.mark.parametrize("constant", [0.0, 3.0, 0.1, 1e300])
def test_constant_columns(to, constant):
    """A constant without a shift is itself or 1; with one it is exactly 0."""
    X = np.full((7, 1), constant)
    plain = ColumnScaler(to).fit_transform(X)
    assert (plain == (constant if to == "variance" or constant == 0 else 1.0)).all()
    np.testing.assert_array_equal(ColumnScaler(to).fit_transform(sp.csr_array(X)).toarray(), plain)
    assert not ColumnScaler(to, shift=True).fit_transform(X).any()


@target
def test_float32_stays_float32(to):
    """Factors are computed in double precision, the answer has the precision of the question."""
    X = sample(to).astype(np.float32)
    for A in (X, sp.csr_array(X)):
        scaler = ColumnScaler(to).fit(A)
        assert scaler.scale_.dtype == np.float64
        assert scaler.transform(A).dtype == np.float32
        assert scaler.inverse_transform(A).dtype == np.float32


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_what_is_no_number_is_refused(bad, layout):
    """NaN and infinity are refused, in training and afterwards."""
    with pytest.raises(ValueError, match="contains"):
        ColumnScaler().fit(layout([[1.0], [bad]]))
    with pytest.raises(ValueError, match="contains"):
        ColumnScaler().fit([[1.0]]).transform(layout([[bad]]))


def test_overflow_is_refused():
    """New data beyond all measure are refused with their place, not returned as infinity."""
    scaler = ColumnScaler().fit([[1.0, 1e-300]])
    with pytest.raises(InputError, match="a scaled value is beyond float64, first at row 1, column 1"):
        scaler.transform([[1.0, 1e-300], [1.0, 1e10]])


def test_options_and_weights_that_cannot_be():
    """Targets are three words; weights are finite, at least 0, one for each row."""
    with pytest.raises(ParameterError, match="to must be one of"):
        ColumnScaler("[0;1]").fit([[1.0]])
    for weight, said in (
        ([1.0], "one number for each of 2 rows"),
        ([-1.0, 1.0], ">= 0"),
        ([0.0, 0.0], "zero"),
    ):
        with pytest.raises(InputError, match=said):
            ColumnScaler().fit([[1.0], [2.0]], sample_weight=weight)
    with pytest.raises(InputError, match="X has 2 columns, but the fit had 1"):
        ColumnScaler().fit([[1.0]]).inverse_transform([[1.0, 2.0]])
