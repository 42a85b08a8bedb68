"""What is true of the uncertainty of least squares."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from lineal import LinearRegression, LinearRegressor, Ridge, least_squares_summary
from lineal.errors import InputError, ParameterError
from lineal.objective import NoPenalty

# Longley (1967): employment and six nearly collinear columns; the answers are the certified ones of the
# statistical reference data sets of the (American) National Institute of Standards and Technology.
LONGLEY_Y = [60323, 61122, 60171, 61187, 63221, 63639, 64989, 63761, 66019, 67857, 68169, 66513, 68655, 69564,
             69331, 70551]  # fmt: skip
LONGLEY_X = np.array([
    [83.0, 88.5, 88.2, 89.5, 96.2, 98.1, 99.0, 100.0, 101.2, 104.6, 108.4, 110.8, 112.6, 114.2, 115.7, 116.9],
    [234289, 259426, 258054, 284599, 328975, 346999, 365385, 363112, 397469, 419180, 442769, 444546, 482704,
     502601, 518173, 554894],
    [2356, 2325, 3682, 3351, 2099, 1932, 1870, 3578, 2904, 2822, 2936, 4681, 3813, 3931, 4806, 4007],
    [1590, 1456, 1616, 1650, 3099, 3594, 3547, 3350, 3048, 2857, 2798, 2637, 2552, 2514, 2572, 2827],
    [107608, 108632, 109773, 110929, 112075, 113270, 115094, 116219, 117388, 118734, 120445, 121950, 123366,
     125368, 127852, 130081],
    list(range(1947, 1963)),
]).T  # fmt: skip
COEFFICIENTS = [-3482258.63459582, 15.0618722713733, -0.358191792925910e-01, -2.02022980381683,
                -1.03322686717359, -0.511041056535807e-01, 1829.15146461355]  # fmt: skip
ERRORS = [890420.383607373, 84.9149257747669, 0.334910077722432e-01, 0.488399681651699,
          0.214274163161675, 0.226073200069370, 455.478499142212]  # fmt: skip


def data(n=30, d=3, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ np.arange(1, d + 1) + 2 + noise * rng.normal(size=n)


def summary(X, y, fit_intercept=True, sample_weight=None, **options):
    model = LinearRegression(fit_intercept=fit_intercept).fit(X, y, sample_weight)
    return least_squares_summary(model, X, y, sample_weight=sample_weight, **options)


def test_longley_to_ten_digits():
    """The certified coefficients, standard errors, sigma, R^2 and F of an ill-conditioned design."""
    told = summary(LONGLEY_X, LONGLEY_Y)
    np.testing.assert_allclose(told.coefficients, COEFFICIENTS, rtol=1e-10)
    np.testing.assert_allclose(told.standard_errors, ERRORS, rtol=1e-10)
    assert told.sigma == pytest.approx(304.854073561965, rel=1e-11)
    assert told.r_squared == pytest.approx(0.995479004577296, rel=1e-13)
    assert told.f == pytest.approx(330.285339234588, rel=1e-10)
    assert told.degrees_of_freedom == 9


def test_one_column_is_linregress():
    """Slope, intercept, their standard errors and p are those of scipy.stats.linregress."""
    X, y = data(d=1)
    theirs = stats.linregress(X[:, 0], y)
    told = summary(X, y)
    np.testing.assert_allclose(told.coefficients, [theirs.intercept, theirs.slope], rtol=1e-12)
    np.testing.assert_allclose(told.standard_errors, [theirs.intercept_stderr, theirs.stderr], rtol=1e-12)
    assert told.p[1] == pytest.approx(theirs.pvalue, rel=1e-9)
    assert told.r_squared == pytest.approx(theirs.rvalue**2, rel=1e-12)
    assert told.f == pytest.approx(told.t[1] ** 2, rel=1e-10)  # one slope: F is t squared
    assert told.f_p == pytest.approx(told.p[1], rel=1e-8)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weights", ["counts", "precisions"])
def test_the_printed_formulas(weights, fit_intercept):
    """sigma^2 (A'SA)^-1, HC3's sandwich, R^2 and prediction intervals, as textbooks print them."""
    X, y = data()
    s = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    A = np.column_stack([np.ones(len(y)), X]) if fit_intercept else X
    inverse = np.linalg.inv((A * s[:, None]).T @ A)
    w = inverse @ A.T @ (s * y)
    r = y - A @ w
    freedom = (s.sum() if weights == "counts" else len(y)) - A.shape[1]
    variance = s @ r**2 / freedom
    told = summary(X, y, fit_intercept, s, weights=weights)
    np.testing.assert_allclose(told.coefficients, w, rtol=1e-10)
    np.testing.assert_allclose(told.standard_errors, np.sqrt(variance * np.diag(inverse)), rtol=1e-10)
    np.testing.assert_allclose(told.p, 2 * stats.t.sf(np.abs(told.t), freedom), rtol=1e-12)
    reach = stats.t.ppf(0.975, freedom) * told.standard_errors
    np.testing.assert_allclose(told.intervals, np.column_stack([w - reach, w + reach]), rtol=1e-9)
    h = np.einsum("ij,jk,ik->i", A, inverse, A)
    factor = s * r**2 / (1 - h) ** 2 if weights == "counts" else s**2 * r**2 / (1 - s * h) ** 2
    sandwich = inverse @ (A * factor[:, None]).T @ A @ inverse
    robust = summary(X, y, fit_intercept, s, weights=weights, errors="HC3")
    np.testing.assert_allclose(robust.standard_errors, np.sqrt(np.diag(sandwich)), rtol=1e-9)
    around = y - np.average(y, weights=s) if fit_intercept else y
    assert told.r_squared == pytest.approx(1 - s @ r**2 / (s @ around**2), rel=1e-12)
    new = told.predict(X[:5], of="new", level=0.9)
    width = stats.t.ppf(0.95, freedom) * np.sqrt(variance * (1 + h[:5]))
    np.testing.assert_allclose(new.upper - new.fit, width, rtol=1e-10)
    np.testing.assert_allclose(new.fit, A[:5] @ w, rtol=1e-10)


def test_counts_are_repeated_rows():
    """A count of k is the row k times in everything that is told, HC3 included."""
    X, y = data()
    times = np.random.default_rng(1).integers(0, 4, len(y))
    for errors in ("classical", "HC3"):
        a = summary(X, y, sample_weight=times, errors=errors)
        b = summary(np.repeat(X, times, axis=0), np.repeat(y, times), errors=errors)
        np.testing.assert_allclose(a.standard_errors, b.standard_errors, rtol=1e-10)
        assert (a.sigma, a.f, a.adjusted_r_squared) == pytest.approx((b.sigma, b.f, b.adjusted_r_squared))


def test_precisions_have_no_unit():
    """Weights as precisions times any factor change sigma alone."""
    X, y = data()
    s = np.random.default_rng(1).uniform(0.5, 2, len(y))
    a, b = (summary(X, y, sample_weight=f * s, weights="precisions") for f in (1.0, 0.01))
    np.testing.assert_allclose(a.standard_errors, b.standard_errors, rtol=1e-10)
    assert b.sigma == pytest.approx(0.1 * a.sigma)


@pytest.mark.parametrize(("errors", "spread"), [("classical", 0.0), ("HC3", 2.0)])
def test_intervals_hold_the_truth_as_often_as_they_say(errors, spread):
    """Of 300 samples, 90 % of intervals hold the true slope, mean and new value, within 3 deviations."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    held = np.zeros(3)
    for _ in range(300):
        # HC3 is tried where the noise grows with x, which classical errors do not know.
        noise = rng.normal(size=60) * (1 + spread * np.abs(X[:, 0]))
        y = 1 + X @ [2.0, -1.0] + noise
        told = least_squares_summary(LinearRegression().fit(X, y), X, y, errors=errors, level=0.9)
        at = np.array([[0.5, 0.5]])
        mean, new = told.predict(at), told.predict(at, of="new")
        seen = 1.5 + rng.normal() if spread == 0 else 1.5
        held += [
            told.intervals[1, 0] <= 2.0 <= told.intervals[1, 1],
            mean.lower[0] <= 1.5 <= mean.upper[0],
            new.lower[0] <= seen <= new.upper[0] if spread == 0 else True,
        ]
    room = 3 * np.sqrt(0.9 * 0.1 / 300) + (
        0.02 if errors == "HC3" else 0.0
    )  # HC3 is exact only for many rows
    assert np.all(np.abs(held[: 3 if spread == 0 else 2] / 300 - 0.9) < room)


def test_what_collinear_columns_leave_free_is_said():
    """Repeated and constant columns: their coefficients are not told, the others are those without them."""
    X, y = data()
    doubled = np.column_stack([X, X[:, 0] + X[:, 1]])
    told, plain = summary(doubled, y), summary(X, y)
    assert told.unidentified == ["x0", "x1", "x3"]
    np.testing.assert_allclose(told.coefficients[[0, 3]], plain.coefficients[[0, 3]], rtol=1e-9)
    np.testing.assert_allclose(told.standard_errors[[0, 3]], plain.standard_errors[[0, 3]], rtol=1e-9)
    assert (told.sigma, told.f) == pytest.approx((plain.sigma, plain.f))
    assert told.degrees_of_freedom == plain.degrees_of_freedom
    assert str(told).count("not identified") == 3
    inside, outside = told.predict(doubled[:3]), told.predict([[1.0, 0.0, 0.0, 0.0]])
    np.testing.assert_allclose(inside.upper, plain.predict(X[:3]).upper, rtol=1e-9)
    assert np.isnan(outside.fit).all()
    constant = summary(np.column_stack([X, np.full(len(y), 3.0)]), y)
    assert constant.unidentified == ["intercept", "x3"]


def test_units_and_offsets_do_not_matter():
    """Columns times 1e8 and moved by 1e6: the same t and p."""
    X, y = data()
    moved = X * [1e8, 1e-8, 1.0] + [0, 0, 1e6]
    np.testing.assert_allclose(summary(moved, y).t[1:], summary(X, y).t[1:], rtol=1e-8)


def test_the_table():
    """table() has a column for everything; sparse and named data are taken."""
    X, y = data()
    told = summary(sp.csr_array(X), y)
    table = told.table()
    assert list(table) == ["name", "coefficient", "standard_error", "t", "p", "lower", "upper"]
    assert table["name"] == ["intercept", "x0", "x1", "x2"]
    assert "26 degrees of freedom" in str(told)
    framed = pytest.importorskip("pandas").DataFrame(X, columns=["a", "b", "c"])
    assert summary(framed, y).names == ["intercept", "a", "b", "c"]


def test_refusals():
    """Penalties, other losses, other data, too few rows and bad options: refused in words."""
    X, y = data()
    model = LinearRegression().fit(X, y)
    with pytest.raises(ParameterError, match="without a penalty"):
        least_squares_summary(Ridge().fit(X, y), X, y)
    with pytest.raises(InputError, match="fitted to other data"):
        least_squares_summary(model, X, y[::-1])
    with pytest.raises(InputError, match="one target"):
        least_squares_summary(LinearRegression().fit(X, np.column_stack([y, y])), X, np.column_stack([y, y]))
    with pytest.raises(InputError, match="3 rows for 3 coefficients"):
        summary(X[:3], y[:3])
    with pytest.raises(ParameterError, match="'counts' or 'precisions'"):
        least_squares_summary(model, X, y, weights="both")
    with pytest.raises(ParameterError, match="'classical' or 'HC3'"):
        least_squares_summary(model, X, y, errors="HC9")
    for level in (0, 1, 95, "high"):
        with pytest.raises(ParameterError, match="level"):
            least_squares_summary(model, X, y, level=level)
    with pytest.raises(InputError, match="3 columns"):
        least_squares_summary(model, X, y).predict([[1.0]])
    assert least_squares_summary(LinearRegressor(penalty=NoPenalty()).fit(X, y), X, y).n_slopes == 3
