"""Curves and regions: numbers without matplotlib; with it, what is drawn are the numbers."""

import numpy as np
import pytest

from lineal import KNeighborsClassifier, KNeighborsRegressor, LogisticRegression, Ridge
from lineal.errors import InputError, ParameterError
from lineal.plot import decision_regions, regression_curves

rng = np.random.default_rng(0)
LINE = np.sort(rng.uniform(0, 10, 30))[:, None]
HEIGHTS = np.sin(LINE[:, 0])
PLANE = rng.normal(size=(40, 2))
COLOURS = np.array(["red", "green", "blue"])[rng.integers(0, 3, 40)]


def test_curves_are_predictions_and_one_neighbour_goes_through_the_points():
    """Every curve is its learner's predict; 1-NN has no error on the points; the given one stays unfitted."""
    learner = KNeighborsRegressor(1)
    found = regression_curves({"one": learner, "line": Ridge()}, LINE, HEIGHTS, n_points=50)
    assert found.error("one") == 0.0
    assert not hasattr(learner, "index_")
    line = Ridge().fit(LINE, HEIGHTS)
    np.testing.assert_array_equal(found.curves["line"], line.predict(found.x[:, None]))
    assert found.x[0] < LINE.min() < LINE.max() < found.x[-1]
    assert "30 points" in str(found)


def test_regions_of_one_neighbour_are_voronoi_cells():
    """Every place has the class of its nearest point, and the shares of the classes sum to 1."""
    found = decision_regions({"one": KNeighborsClassifier(1)}, PLANE, COLOURS, n_points=31)
    for i in (0, 7, 30):
        for j in (0, 12, 30):
            nearest = np.hypot(PLANE[:, 0] - found.x[j], PLANE[:, 1] - found.y[i]).argmin()
            assert found.classes[found.regions["one"][i, j]] == COLOURS[nearest]
    assert found.shares("one").sum() == pytest.approx(1.0)
    assert found.right == {"one": 1.0}


def test_any_learner_of_scikit_learns_kind_can_be_drawn():
    """A linear classifier by itself is named by its class."""
    found = decision_regions(LogisticRegression(), PLANE, COLOURS, n_points=20)
    assert list(found.regions) == ["LogisticRegression"]


def test_refusals():
    """Other numbers of columns, and what is no learner, are refused in words."""
    with pytest.raises(InputError, match="1 column of finite numbers"):
        regression_curves(KNeighborsRegressor(1), PLANE, np.zeros(40))
    with pytest.raises(InputError, match="2 columns"):
        decision_regions(KNeighborsClassifier(1), LINE, np.zeros(30))
    with pytest.raises(ParameterError, match="dict of names to learners"):
        decision_regions({}, PLANE, COLOURS)
    with pytest.raises(ParameterError, match="n_points"):
        regression_curves(KNeighborsRegressor(1), LINE, HEIGHTS, n_points=0)


def test_drawings_are_the_numbers(plt):
    """Lines hold the curves, images the regions, on new axes and on given ones."""
    learners = {f"k = {k}": KNeighborsRegressor(k) for k in (1, 9)}
    curves = regression_curves(learners, LINE, HEIGHTS, n_points=40)
    panels = curves.plot()
    assert [panel.get_title(loc="left") for panel in panels] == ["k = 1", "k = 9"]
    np.testing.assert_array_equal(panels[1].get_lines()[-1].get_ydata(), curves.curves["k = 9"])
    _, ax = plt.subplots()
    assert curves.plot(ax) == [ax]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["k = 1", "k = 9"]
    regions = decision_regions({"k = 1": KNeighborsClassifier(1)}, PLANE, COLOURS, n_points=25)
    (panel,) = regions.plot()
    np.testing.assert_array_equal(panel.get_images()[0].get_array(), regions.regions["k = 1"])
