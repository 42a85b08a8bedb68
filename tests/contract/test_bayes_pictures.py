"""Pictures of naive Bayes: the numbers behind them are the model's, and what is drawn is the numbers."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from lineal import ComplementNB, GaussianNB, LinearClassifier, MultinomialNB
from lineal.errors import InputError, ParameterError
from lineal.plot import novelty, posteriors


def gaussian(seed=0, n_columns=1):
    """Three classes of several sizes and widths."""
    rng = np.random.default_rng(seed)
    y = np.repeat(["a", "b", "c"], [60, 30, 30])
    X = rng.normal(size=(120, n_columns)) * np.repeat([1.0, 0.6, 3.0], [60, 30, 30])[:, None]
    X[60:90] += 2.5
    return GaussianNB().fit(X, y), X


# ---- posteriors -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_curves_are_the_models_numbers(seed):
    """With one column the joint is exp(log_joint), the posterior predict_proba, at every point."""
    model, _ = gaussian(seed)
    curves = posteriors(model, n_points=57)
    rows = curves.x[:, None]
    assert curves.x.shape == (57,)
    np.testing.assert_allclose(curves.joint.T, np.exp(model.log_joint(rows)), rtol=1e-10)
    np.testing.assert_allclose(curves.posterior.T, model.predict_proba(rows), atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_boundaries_are_where_the_prediction_changes(seed):
    """Just before and just behind a boundary predict differs; between boundaries it does not change."""
    model, _ = gaussian(seed)
    curves = posteriors(model)
    assert len(curves.boundaries) >= 2
    step = 1e-9
    before, behind = (model.predict((curves.boundaries + d)[:, None]) for d in (-step, step))
    assert (before != behind).all()
    assert [*before, behind[-1]] == curves.winners()
    dense = np.linspace(-30, 30, 20_001)
    labels = model.predict(dense[:, None])
    changes = np.flatnonzero(labels[1:] != labels[:-1])
    inside = curves.boundaries[np.abs(curves.boundaries) < 30]
    np.testing.assert_allclose(dense[changes] + 0.0015, inside, atol=0.0016)


def test_equal_variances_meet_once():
    """Two classes of one width and one size part in the middle of their means."""
    model = GaussianNB(shared_variance=True).fit([[0.0], [2.0], [6.0], [8.0]], ["l", "l", "r", "r"])
    curves = posteriors(model)
    np.testing.assert_allclose(curves.boundaries, [4.0], atol=1e-12)
    assert str(curves) == "x0: 'l' below 4, then 'r'"


def test_a_class_may_win_everywhere():
    """A class with no prior never wins, and there is no boundary with it."""
    model = GaussianNB(class_prior=[1.0, 0.0]).fit([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1])
    curves = posteriors(model)
    assert len(curves.boundaries) == 0
    assert str(curves) == "x0: 0 everywhere"


@pytest.mark.parametrize(
    ("shift", "scale"),
    [(0.0, 1e-9), (0.0, 1.0), (0.0, 1e9), (1e6, 1.0), (1e6, 1e9), (-1e12, 1.0), (-1e12, 1e9)],
)
def test_boundaries_move_with_the_data(shift, scale):
    """x -> scale x + shift moves the boundaries so; far from 0 to the digits that are left there."""
    _, X = gaussian(1)
    y = np.repeat(["a", "b", "c"], [60, 30, 30])
    plain = posteriors(GaussianNB().fit(X, y)).boundaries
    moved = posteriors(GaussianNB().fit(scale * X + shift, y)).boundaries
    # The numbers themselves are rounded to eps |shift|, and boundaries far out move by several times that.
    room = 1e-9 * scale + 30 * np.finfo(float).eps * abs(shift)
    np.testing.assert_allclose(moved, scale * plain + shift, rtol=0, atol=room)


def test_columns_by_place_and_by_name():
    """One column of several, alone: its own density times the prior."""
    model, X = gaussian(2, n_columns=3)
    frame = pd.DataFrame(X, columns=["u", "v", "w"])
    named = GaussianNB().fit(frame, np.repeat(["a", "b", "c"], [60, 30, 30]))
    by_name, by_place = posteriors(named, "v"), posteriors(model, 1)
    assert by_name.name == "v"
    assert by_place.name == "x1"
    np.testing.assert_array_equal(by_name.joint, by_place.joint)
    for column in ("z", 3, -1, 1.0):
        with pytest.raises(ParameterError, match="column"):
            posteriors(named, column)


def test_posteriors_refuse_other_models():
    """Only a fitted GaussianNB has normal densities."""
    with pytest.raises(ParameterError, match="GaussianNB"):
        posteriors(MultinomialNB())
    with pytest.raises(NotFittedError):
        posteriors(GaussianNB())
    with pytest.raises(ParameterError, match="n_points"):
        posteriors(gaussian()[0], n_points=0)


# ---- novelty --------------------------------------------------------------------------------------


def test_novelty_counts_what_is_novel_says():
    """Rows below the threshold are those that is_novel names; shares add up to 1 in bins that hold all."""
    model, X = gaussian(3)
    model.calibrate_novelty(X)
    rows = np.array([[0.0], [50.0], [2.5], [-40.0]])
    result = novelty(model, rows, level=0.1, n_bins=7)
    assert (result.new < result.threshold).sum() == model.is_novel(rows, 0.1).sum() == 2
    assert result.threshold == model.novelty_threshold(0.1)
    np.testing.assert_array_equal(result.ordinary, np.sort(model.typicality(X)))
    assert len(result.edges()) == 8
    for share in result.shares():
        assert share.sum() == pytest.approx(1.0)
    assert str(result).startswith("2 of 4 rows (50%) are novel at level 0.1")


def test_rows_that_are_impossible_are_counted_but_not_drawn():
    """-inf has no place on the axis: such rows are novel and in no bin."""
    model = MultinomialNB(smoothing=0).fit([[3, 1, 0], [1, 3, 0]], [0, 1])
    model.calibrate_novelty([[3, 1, 0], [1, 3, 0], [2, 2, 0]])
    result = novelty(model, [[0, 0, 1], [2, 2, 0]], level=0.3)
    assert np.isneginf(result.new[0])
    assert result.shares()[1].sum() == 0.5
    assert str(result).startswith("1 of 2 rows")


def test_novelty_refuses_what_has_no_evidence():
    """Other learners, ComplementNB, and models that were taught in pieces and have no ordinary rows."""
    with pytest.raises(ParameterError, match="naive Bayes"):
        novelty(LinearClassifier(), [[1.0]])
    with pytest.raises(ParameterError, match="no evidence"):
        novelty(ComplementNB().fit([[1, 0], [0, 1]], [0, 1]), [[1, 0]])
    with pytest.raises(InputError, match="calibrate_novelty"):
        novelty(GaussianNB().partial_fit([[1.0], [2.0]], [0, 0]), [[1.0]])


# ---- drawing --------------------------------------------------------------------------------------


def test_what_is_drawn_is_the_numbers(plt):
    """Lines hold the joint and the posteriors, dashed ones the boundaries, stairs the shares."""
    model, X = gaussian(1)
    curves = posteriors(model)
    above, below = curves.plot()
    for k in range(3):
        np.testing.assert_array_equal(above.lines[k].get_ydata(), curves.joint[k])
        np.testing.assert_array_equal(below.lines[k].get_ydata(), curves.posterior[k])
    drawn = [line.get_xdata()[0] for line in below.lines if line.get_label() == "_boundary"]
    inside = (curves.boundaries > curves.x[0]) & (curves.boundaries < curves.x[-1])
    assert drawn == curves.boundaries[inside].tolist()
    assert [text.get_text() for text in above.get_legend().get_texts()] == ["a", "b", "c", "evidence p(x)"]
    above.figure.canvas.draw()

    result = novelty(model.calibrate_novelty(X), [[0.0], [70.0]])
    (panel,) = result.plot()
    np.testing.assert_array_equal(panel.patches[0].get_data().values, result.shares()[0])
    assert result.threshold in [line.get_xdata()[0] for line in panel.lines]
    panel.figure.canvas.draw()


def test_drawing_on_axes_that_are_given(plt):
    """plot(ax) draws there and returns it; one axes of a pair takes the densities."""
    model, X = gaussian(1)
    _, ax = plt.subplots()
    assert posteriors(model).plot(ax) == [ax]
    assert ax.get_xlabel() == "x0"
    _, pair = plt.subplots(2)
    assert posteriors(model).plot(pair) == list(pair)
    _, ax = plt.subplots()
    assert novelty(model.calibrate_novelty(X), X).plot(ax) == [ax]


def test_odd_labels_are_drawn(plt):
    """Labels that matplotlib would hide or read as mathematics stay labels."""
    model = GaussianNB().fit([[0.0], [1.0], [5.0], [6.0]], ["_x", "_x", "y_1", "y_1"])
    axes = posteriors(model).plot()
    assert "_x" in axes[0].get_legend().get_texts()[0].get_text()
    axes[0].figure.canvas.draw()


def test_without_matplotlib_only_drawing_fails(monkeypatch):
    """The numbers need NumPy alone; plot() says what to install."""
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    model, X = gaussian(1)
    for result in (posteriors(model), novelty(model.calibrate_novelty(X), X)):
        assert str(result)
        with pytest.raises(ImportError, match=r"lineal\[plot\]"):
            result.plot()
