"""Products of columns: the kernel behind the map, its size, and its sparse form."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lineal import LinearClassifier, PolynomialFeatures
from lineal.errors import InputError, ParameterError
from lineal.objective import L2, Hinge


def whole_rows(max_columns=5):
    """Two rows or more of small whole numbers, a good part of them 0: their products are exact in doubles."""
    shapes = st.tuples(st.integers(2, 6), st.integers(1, max_columns))
    cells = st.integers(-3, 3).map(float) | st.just(0.0)
    return shapes.flatmap(lambda shape: hnp.arrays(np.float64, shape, elements=cells))


@given(whole_rows(), st.integers(1, 4))
def test_ordered_monomials_are_the_kernel(X, degree):
    """phi(x) . phi(z) = (x . z)^d exactly, phi being all ordered products of d entries."""
    phi = PolynomialFeatures(degree, ordered=True, homogeneous=True).fit_transform(X)
    assert phi.shape[1] == X.shape[1] ** degree
    np.testing.assert_array_equal(phi @ phi.T, (X @ X.T) ** degree)


@given(whole_rows(), st.integers(1, 4))
def test_weighted_monomials_are_the_kernel(X, degree):
    """Unordered products times sqrt(multinomial) have the same dot products, up to rounding of the root."""
    phi = PolynomialFeatures(degree, homogeneous=True, weighted=True).fit_transform(X)
    kernel = (X @ X.T) ** degree
    np.testing.assert_allclose(phi @ phi.T, kernel, rtol=1e-13, atol=1e-12 * np.abs(kernel).max())


def test_the_lecture_s_quadratic_map():
    """(x1, x2) becomes (x1^2, sqrt(2) x1 x2, x2^2), or ordered (x1^2, x1 x2, x2 x1, x2^2)."""
    x = [[3.0, 5.0]]
    unordered = PolynomialFeatures(2, homogeneous=True, weighted=True).fit_transform(x)
    np.testing.assert_allclose(unordered, [[9.0, np.sqrt(2) * 15.0, 25.0]])
    ordered = PolynomialFeatures(2, ordered=True, homogeneous=True).fit(x)
    np.testing.assert_array_equal(ordered.transform(x), [[9.0, 15.0, 15.0, 25.0]])
    assert ordered.get_feature_names_out().tolist() == ["x0 x0", "x0 x1", "x1 x0", "x1 x1"]


@given(whole_rows(), st.integers(0, 4), st.booleans(), st.booleans(), st.booleans())
def test_degrees_add_up(X, degree, weighted, ordered, constant):
    """Without homogeneous=True the map is the constant and the maps of each degree side by side."""
    options = {"weighted": weighted, "ordered": ordered}
    if degree == 0 and not constant:
        constant = True
    whole = PolynomialFeatures(degree, include_constant=constant, **options).fit_transform(X)
    parts = [np.ones((len(X), 1))] if constant else []
    parts += [
        PolynomialFeatures(k, homogeneous=True, **options).fit_transform(X) for k in range(1, degree + 1)
    ]
    np.testing.assert_array_equal(whole, np.hstack(parts))


@given(
    whole_rows(),
    st.integers(1, 4),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["csr", "csc"]),
)
def test_sparse_is_dense(X, degree, ordered, distinct, weighted, layout):
    """A sparse matrix gives, bit for bit, the products of the dense one, as CSR without stored zeros."""
    phi = PolynomialFeatures(degree, ordered=ordered, interaction_only=distinct, weighted=weighted).fit(X)
    made = phi.transform(getattr(sp, f"{layout}_array")(X))
    made.check_format(full_check=True)
    assert made.format == "csr"
    assert made.has_canonical_format
    assert made.data.all()
    np.testing.assert_array_equal(made.toarray(), phi.transform(X))


@given(whole_rows(4), st.integers(0, 4), st.booleans(), st.booleans())
def test_a_name_is_its_column(X, degree, ordered, distinct):
    """Read as a product, every name gives the column it stands over."""
    phi = PolynomialFeatures(degree, ordered=ordered, interaction_only=distinct).fit(X)
    made, names = phi.transform(X), phi.get_feature_names_out()
    assert len(set(names)) == len(names) == phi.n_output_features_ == made.shape[1]
    for j, name in enumerate(names):
        product = np.ones(len(X))
        for factor in [] if name == "1" else name.split(" "):
            column, _, power = factor.partition("^")
            product = product * X[:, int(column[1:])] ** int(power or 1)
        np.testing.assert_array_equal(made[:, j], product)


def test_duplicates_of_a_sparse_matrix_are_summed():
    """A cell that is stored in two parts is their sum, before it is multiplied; the input is left alone."""
    X = sp.csr_array((np.array([1.0, 2.0, 4.0]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2))
    made = PolynomialFeatures(2).fit_transform(X)
    np.testing.assert_array_equal(made.toarray(), [[1.0, 4.0, 3.0, 16.0, 12.0, 9.0]])
    assert X.nnz == 3


def test_wide_sparse_matrices_stay_small():
    """100,000 columns have 5,000,150,001 products up to degree 2; three numbers make ten of them."""
    X = sp.csr_array((np.ones(3), np.array([5, 70_000, 99_999]), np.array([0, 3])), shape=(1, 100_000))
    made = PolynomialFeatures().fit_transform(X)
    assert made.shape[1] == 5_000_150_001
    assert made.nnz == 10
    assert made.indices[-1] == 5_000_150_000


def test_what_does_not_fit_is_refused_before_the_work():
    """An answer beyond max_bytes is refused with its size, dense, sparse and as names."""
    X = np.ones((10, 3000))
    with pytest.raises(InputError, match=r"4,509,005,501 products .* GiB, more than max_bytes"):
        PolynomialFeatures(3).fit(X).transform(X)
    phi = PolynomialFeatures(3).fit(X)
    with pytest.raises(InputError, match="the answer would take"):
        phi.transform(sp.csr_array(X))
    with pytest.raises(InputError, match="their names would take"):
        phi.get_feature_names_out()
    with pytest.raises(InputError, match="more than can be numbered"):
        PolynomialFeatures(30).fit(X).transform(sp.csr_array((10, 3000)))
    with pytest.raises(InputError, match=r"about 10\^347 products of degree 100"):
        PolynomialFeatures(100, ordered=True).fit(X).get_feature_names_out()
    assert PolynomialFeatures(3, max_bytes=10**4).fit_transform([[1.0, 2.0]]).shape == (1, 10)


def test_overflow_is_refused():
    """A product beyond the precision is refused with its place, not returned as infinity."""
    with pytest.raises(InputError, match="a product is beyond float64, first at row 1, column 2"):
        PolynomialFeatures().fit_transform([[1.0], [1e200]])
    with pytest.raises(InputError, match="beyond float32"):
        PolynomialFeatures().fit_transform(sp.csr_array(np.array([[1e30]], dtype=np.float32)))


@pytest.mark.parametrize("degree", [-1, 1.5, "2", True, 101])
def test_degrees_that_cannot_be(degree):
    """A degree is a whole number from 0 to 100."""
    with pytest.raises(ParameterError, match="degree must be a whole number"):
        PolynomialFeatures(degree).fit([[1.0]])


def test_the_highest_degree():
    """x^100 has weight 1 and x^99 z has sqrt(100): no factorial is too large for a double."""
    phi = PolynomialFeatures(100, homogeneous=True, weighted=True).fit_transform([[1.0, 1.0]])
    np.testing.assert_allclose(phi[0, :2], [1.0, 10.0])
    np.testing.assert_allclose(phi @ phi.T, 2.0**100, rtol=1e-12)


def test_products_that_do_not_exist():
    """No columns at all are refused rather than returned."""
    with pytest.raises(InputError, match="2 columns have no products of 3 different ones"):
        PolynomialFeatures(3, interaction_only=True, homogeneous=True).fit([[1.0, 2.0]])
    with pytest.raises(ParameterError, match="makes no columns"):
        PolynomialFeatures(0, include_constant=False).fit([[1.0]])


def test_exclusive_or_is_linear_in_the_quadratic_map():
    """No line separates the corners of a square crosswise; a line through x1 x2 does."""
    X, y = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]), [0, 1, 1, 0]
    model = LinearClassifier(Hinge(), L2(0.1))
    assert (model.fit(X, y).predict(X) == y).mean() <= 0.75
    phi = PolynomialFeatures(2, homogeneous=True, weighted=True).fit_transform(X)
    assert (model.fit(phi, y).predict(phi) == y).all()
