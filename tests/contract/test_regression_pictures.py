"""Pictures of curves, lines and projections: numbers first, then a drawing that leaves matplotlib alone."""

import numpy as np
import pytest

from lineal import FisherDiscriminant, LinearRegression, LinearRegressor
from lineal.errors import InputError, ParameterError
from lineal.objective import Absolute, NoPenalty
from lineal.plot import compare_curves, compare_lines, noisy_sine, projections


def clouds(n_classes, d):
    rng = np.random.default_rng(0)
    y = np.arange(120) % n_classes
    return rng.normal(size=(120, d)) + 2 * rng.normal(size=(n_classes, d))[y], np.array(["a", "b", "c", "d"])[
        y
    ]


def made():
    """One result of each kind, and how many axes it draws on."""
    X, y = clouds(2, 2)
    flat = projections(FisherDiscriminant().fit(X, y), X, y)
    X, y = clouds(2, 5)
    deep = projections(FisherDiscriminant().fit(X, y), X, y)
    X, y = clouds(4, 5)
    many = projections(FisherDiscriminant().fit(X, y), X, y)
    x = np.arange(12.0)[:, None]
    thin = projections(FisherDiscriminant().fit(x, np.repeat([0, 1, 2], 4)), x, np.repeat([0, 1, 2], 4))
    curves = compare_curves(*noisy_sine(10), *noisy_sine(50, seed=1), truth=np.sin)
    lines = compare_lines({"a line": LinearRegression()}, [0, 1, 2], [0.0, 1.0, 3.0])
    return [(flat, 3), (deep, 2), (many, 1), (thin, 1), (curves, 6), (lines, 1)]


@pytest.mark.parametrize("place", range(6))
def test_pictures_are_drawn_where_asked(plt, place):
    """plot() makes a figure with its panels, plot(ax) draws on what it is given; settings stay."""
    result, n_panels = made()[place]
    axes = result.plot()
    assert len(axes) == n_panels
    assert all(panel.has_data() for panel in axes)
    axes[0].figure.canvas.draw()
    _, given = plt.subplots(1, n_panels, squeeze=False)
    assert [a is b for a, b in zip(result.plot(given.ravel()), given.ravel(), strict=True)] == [
        True
    ] * n_panels
    assert len(str(result).splitlines()) >= 2
    assert repr(result).startswith("<")


def test_fishers_line_has_the_largest_criterion():
    """Its between / within is the eigenvalue mu, at least that of the line that joins the means."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [80, 40])
    X = rng.normal(size=(120, 3)) @ rng.normal(size=(3, 3)) + np.outer(y, [1.0, 0.5, -1.0])
    s = rng.integers(1, 4, 120).astype(float)
    model = FisherDiscriminant().fit(X, y, s)
    joined, fisher = projections(model, X, y, sample_weight=s).lines
    assert fisher.criterion == pytest.approx(model.eigenvalues_[0], rel=1e-10)
    assert joined.criterion < fisher.criterion
    assert fisher.error == pytest.approx(1 - model.score(X, y, s))
    np.testing.assert_allclose(fisher.values, X @ fisher.direction, atol=1e-10)


def test_places_are_transforms():
    """The discriminant space of the picture is that of the model."""
    X, y = clouds(4, 5)
    model = FisherDiscriminant().fit(X, y)
    result = projections(model, X, y)
    np.testing.assert_allclose(result.places, model.transform(X), atol=1e-12)
    np.testing.assert_allclose(
        result.means(), [model.transform(X)[y == label].mean(axis=0) for label in "abcd"], atol=1e-12
    )


def test_errors_fall_on_training_points_alone():
    """Training error falls with the degree and rises with the strength; the best degree is neither end."""
    result = compare_curves(*noisy_sine(10, seed=4), *noisy_sine(200, seed=1))
    assert np.all(np.diff(result.train_by_degree) <= 1e-12)
    assert np.all(np.diff(result.train_by_strength) >= -1e-9)
    assert 3 <= result.best_degree <= 5
    assert result.test_by_degree[9] > 2 * result.test_by_degree[3]
    assert result.test_by_strength.min() < 0.5 * result.test_by_degree[9]
    assert result.strengths.min() < result.best_strength < result.strengths.max()


def test_distances_of_lines():
    """A line's distance is the root of its mean squared distance from the truth, at the points' x."""
    learners = {"squared": LinearRegression(), "absolute": LinearRegressor(Absolute(), NoPenalty(), tol=1e-8)}
    x = np.arange(10.0)
    y = 3 * x - 1
    y[9] = 200.0
    result = compare_lines(learners, x, y, truth=(3.0, -1.0))
    slope, intercept = result.lines["squared"]
    assert result.distance("squared") == pytest.approx(
        np.sqrt(np.mean((slope * x + intercept - 3 * x + 1) ** 2))
    )
    assert result.distance("absolute") < 1e-3
    assert result.nearest() == "absolute"
    assert not hasattr(learners["squared"], "coef_")


def test_refusals():
    """Data and learners that a picture cannot be made of are refused in words."""
    X, y = clouds(2, 3)
    model = FisherDiscriminant().fit(X, y)
    with pytest.raises(InputError, match="every class"):
        projections(model, X[y == "a"], y[y == "a"])
    with pytest.raises(InputError, match="not among"):
        projections(model, X, np.repeat("z", len(y)))
    with pytest.raises(InputError, match="no direction"):
        projections(FisherDiscriminant().fit(np.zeros((4, 1)), [0, 0, 1, 1]), np.zeros((4, 1)), [0, 0, 1, 1])
    with pytest.raises(InputError, match="different x"):
        compare_curves(*noisy_sine(5), *noisy_sine(5))
    with pytest.raises(ParameterError, match="degree"):
        compare_curves(*noisy_sine(5), *noisy_sine(5), degrees=[1.5])
    with pytest.raises(ParameterError, match="at least one"):
        compare_curves(*noisy_sine(5), *noisy_sine(5), degrees=[])
    with pytest.raises(ParameterError, match="labels to regressors"):
        compare_lines({"a": FisherDiscriminant()}, [0, 1], [0, 1])
    with pytest.raises(InputError, match="finite numbers"):
        compare_lines({"a": LinearRegression()}, [0.0, np.nan], [0, 1])
    with pytest.raises(ParameterError, match="truth"):
        compare_lines({"a": LinearRegression()}, [0, 1], [0, 1]).nearest()
