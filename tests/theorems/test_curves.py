"""What is true of polynomial curves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from lineal import PolynomialFeatures, PolynomialRegression, Ridge
from lineal.errors import InputError, ParameterError, PrecisionWarning
from lineal.learners.orthogonal import Basis


def noisy_sine(n=10, seed=0):
    rng = np.random.default_rng(seed)
    x = np.linspace(0, 1, n)
    return x[:, None], np.sin(2 * np.pi * x) + 0.3 * rng.normal(size=n)


@given(st.integers(0, 12), st.integers(0, 5))
def test_the_basis_is_orthonormal_on_the_data(degree, seed):
    """sum_i s_i q_j(x_i) q_k(x_i) = [j = k], and the recurrence elsewhere gives the same polynomials."""
    rng = np.random.default_rng(seed)
    x, s = 1e3 + 7 * rng.normal(size=40), rng.integers(1, 4, 40).astype(float)
    basis = Basis.of(x, s, degree)
    Q = basis.at(x)
    np.testing.assert_allclose((Q * s[:, None]).T @ Q, np.eye(degree + 1), atol=1e-11)
    u = (x - basis.centre) / basis.half
    powers = np.vander(u, degree + 1, increasing=True) @ basis.powers(of_scaled=True)
    np.testing.assert_allclose(powers, Q, atol=1e-7)  # powers of u up to 12 cancel


@pytest.mark.parametrize("degree", range(10))
def test_residuals_are_orthogonal_to_powers(degree):
    """Least squares: the errors have no part along 1, x .. x^M."""
    x, y = noisy_sine(30)
    error = y - PolynomialRegression(degree).fit(x, y).predict(x)
    for m in range(degree + 1):
        assert np.sum(error * x[:, 0] ** m) == pytest.approx(0.0, abs=1e-12)


def test_degree_9_through_10_points_interpolates():
    """M + 1 coefficients pass through M + 1 points, to rounding; the powers say the same."""
    x, y = noisy_sine()
    model = PolynomialRegression(9).fit(x, y)
    np.testing.assert_allclose(model.predict(x), y, atol=1e-13)
    told = model.intercept_ + np.vander(x[:, 0], 10, increasing=True)[:, 1:] @ model.coef_
    np.testing.assert_allclose(told, y, atol=1e-9)
    assert np.abs(model.coef_).max() > 1000  # what overfitting looks like


@pytest.mark.parametrize("strength", [1e-6, 1e-3, 1.0, 1e3, 1e9])
@pytest.mark.parametrize("degree", [1, 3, 6, 12])
def test_a_curve_is_ridge_on_powers(degree, strength):
    """The objective is Ridge's on x, x^2 .. x^M, the constant free, with weights of rows."""
    x, y = noisy_sine(25)
    s = np.random.default_rng(1).integers(1, 4, 25).astype(float)
    powers = PolynomialFeatures(degree, include_constant=False).fit_transform(x)
    ridge = Ridge(strength, tol=1e-14).fit(powers, y, s)
    curve = PolynomialRegression(degree, strength).fit(x, y, s)
    np.testing.assert_allclose(curve.coef_, ridge.coef_, rtol=1e-6, atol=1e-7)
    assert curve.intercept_ == pytest.approx(ridge.intercept_, abs=1e-7)


@pytest.mark.parametrize("strength", [1e-25, 1e-19, 1e-17])
def test_penalties_too_small_for_powers(strength):
    """A tiny strength is fitted in the orthonormal basis, and tends to the curve without one."""
    x, y = noisy_sine(30)
    free = PolynomialRegression(7).fit(x, y)
    model = PolynomialRegression(7, strength).fit(x, y)
    np.testing.assert_allclose(model.predict(x), free.predict(x), atol=1e-8)
    assert np.sum(model.coef_**2) <= np.sum(free.coef_**2) * (1 + 1e-9)


def test_scaled_penalties_do_not_know_units():
    """scaled=True: x in any unit and from any origin gives the same curve."""
    x, y = noisy_sine(40)
    years = 1900 + 123 * x
    a = PolynomialRegression(9, 0.01, scaled=True).fit(x, y).predict(x)
    with pytest.warns(PrecisionWarning, match="coef_ reproduces"):
        model = PolynomialRegression(9, 0.01, scaled=True).fit(years, y)
    np.testing.assert_allclose(model.predict(years), a, atol=1e-9)
    with pytest.raises(InputError, match="scaled=True"):
        PolynomialRegression(9, 0.01).fit(years, y)


def test_several_columns_add_up():
    """The model of two columns is a sum of curves, and finds one that is."""
    X = np.random.default_rng(0).uniform(-2, 3, size=(60, 2))
    y = 1 - X[:, 0] + X[:, 0] ** 3 + 0.5 * X[:, 1] ** 2
    model = PolynomialRegression(3).fit(X, y)
    np.testing.assert_allclose(model.coef_, [-1, 0, 1, 0, 0.5, 0], atol=1e-12)
    assert model.intercept_ == pytest.approx(1.0)


def test_more_degrees_than_points_is_said():
    """Degree 12 through 10 points: the curve of degree 9 and a warning, not one of many without a word."""
    x, y = noisy_sine()
    with pytest.warns(PrecisionWarning, match="column 0 has 10 different numbers"):
        model = PolynomialRegression(12).fit(x, y)
    assert model.degrees_.tolist() == [9]
    np.testing.assert_allclose(model.predict(x), y, atol=1e-12)
    assert not model.coef_[9:].any()


def test_high_degrees_predict_and_confess():
    """Degree 60 on 400 points of a smooth function: exact, while its coefficients of powers are disowned."""
    x = 5 + np.cos(np.linspace(0, np.pi, 400))[:, None]
    y = np.sin(20 * x[:, 0])
    with pytest.warns(PrecisionWarning, match="coef_ reproduces the curve only"):
        model = PolynomialRegression(60).fit(x, y)
    between = np.linspace(4.01, 5.99, 777)
    np.testing.assert_allclose(model.predict(between[:, None]), np.sin(20 * between), atol=1e-11)
    assert model.coef_error_ > 1e-6


@pytest.mark.parametrize("size", [1e300, 1e100, 1e-100, 1e-300])
@pytest.mark.filterwarnings("ignore::lineal.errors.PrecisionWarning")  # x^2 is beyond float64
def test_numbers_of_any_size(size):
    """x and y in units of 1e300 and 1e-300 give the same curve."""
    x, y = noisy_sine(20)
    curve = PolynomialRegression(3).fit(x, y).predict(x)
    np.testing.assert_allclose(PolynomialRegression(3).fit(size * x, y).predict(size * x), curve, atol=1e-10)
    np.testing.assert_allclose(PolynomialRegression(3).fit(x, size * y).predict(x) / size, curve, atol=1e-10)
    scaled = PolynomialRegression(3, 0.1, scaled=True)
    np.testing.assert_allclose(
        clone(scaled).fit(size * x, y).predict(size * x), scaled.fit(x, y).predict(x), atol=1e-10
    )


def test_weight_2_is_the_row_twice():
    """Weights are counts, with and without a penalty; weight 0 is no row."""
    x, y = noisy_sine(20)
    times = np.random.default_rng(0).integers(0, 3, 20)
    for strength in (0.0, 0.1):
        a = PolynomialRegression(3, strength).fit(x, y, times)
        b = PolynomialRegression(3, strength).fit(np.repeat(x, times, axis=0), np.repeat(y, times))
        np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-10)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"degree": -1}, "degree"), ({"degree": 2.5}, "degree"), ({"degree": 999}, "degree"),
     ({"strength": -1.0}, "strength"), ({"strength": np.nan}, "strength"), ({"degree": True}, "degree")],
)  # fmt: skip
def test_options_are_refused_before_the_data(options, words):
    """A degree or strength that cannot be is refused by name."""
    with pytest.raises(ParameterError, match=words):
        PolynomialRegression(**options).fit(object(), object())
