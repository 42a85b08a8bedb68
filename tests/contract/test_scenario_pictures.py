"""Pictures of ordinal and positive-unlabelled models: numbers first, then a drawing."""

import numpy as np
import pytest

import lineal
from lineal.errors import InputError, ParameterError
from lineal.plot import decision_regions, ordinal_scores
from theorems.test_ordinal import in_a_row
from theorems.test_positive_unlabelled import positive_unlabelled


def test_ordinal_scores_are_the_models():
    """Scores, thresholds and rows found are the model's; densities integrate to the shares of classes."""
    X, y, rng = in_a_row(0, n=200)
    s = rng.uniform(0.5, 2.0, size=len(y))
    model = lineal.OrdinalClassifier().fit(X, y)
    shown = ordinal_scores(model, X, y, sample_weight=s, n_points=4000)
    np.testing.assert_array_equal(shown.scores, model.decision_function(X))
    np.testing.assert_array_equal(shown.thresholds, model.thresholds_)
    shares = np.bincount(y, weights=s) / s.sum()
    # The window cuts off a little of the outermost kernels.
    np.testing.assert_allclose(np.trapezoid(shown.densities, shown.x, axis=1), shares, rtol=0.02)
    found = model.predict(X) == y
    expected = [np.average(found[y == k], weights=s[y == k]) for k in range(4)]
    np.testing.assert_allclose(shown.right, expected)
    assert "thresholds" in str(shown)
    assert "200 rows in 4 classes" in repr(shown)


def test_ordinal_scores_are_drawn():
    """One panel: a curve for each class and a line for each threshold; axes that are given are used."""
    plt = pytest.importorskip("matplotlib.pyplot")
    X, y, _ = in_a_row(1, n=100)
    shown = ordinal_scores(lineal.OrdinalClassifier().fit(X, y), X, y)
    figure, given = plt.subplots()
    assert shown.plot(given) == [given]
    assert len(given.lines) == 4 + 3
    assert [text.get_text() for text in given.get_legend().get_texts()] == ["0", "1", "2", "3"]
    assert shown.plot()[0].figure is not figure
    plt.close("all")


def test_ordinal_scores_of_other_things_are_refused():
    """Another model, or labels that it does not know, are refused; a class without rows has no share."""
    X, y, _ = in_a_row(2)
    with pytest.raises(ParameterError, match="shows an OrdinalClassifier"):
        ordinal_scores(lineal.LinearClassifier().fit(X, y), X, y)
    model = lineal.OrdinalClassifier().fit(X, y)
    with pytest.raises(InputError, match="not among the model's"):
        ordinal_scores(model, X, y + 1)
    some = ordinal_scores(model, X[y < 3], y[y < 3])
    assert np.isnan(some.right[3])
    assert not some.densities[3].any()


def test_regions_of_positive_and_unlabelled_rows():
    """To a PUClassifier more of the plane is positive than to one that takes unlabelled for negative."""
    X, y, _ = positive_unlabelled(0, 60, 200, 0.5, d=2)
    shown = decision_regions(
        {"naive": lineal.LinearClassifier(), "both": lineal.PUClassifier(0.5)}, X, y, n_points=51
    )
    assert shown.regions["both"].mean() > shown.regions["naive"].mean()
