"""Pictures of models: numbers and refusals without matplotlib; with it, what is drawn are the numbers."""

import sys
from functools import cache

import numpy as np
import pytest

from lineal import SVC, GaussianNB, KNeighborsClassifier, LinearSVC, LogisticRegression, Ridge, TextClassifier
from lineal.errors import InputError, ParameterError
from lineal.evaluation import compare, evaluate, evaluate_predictions
from lineal.evaluation.curves import calibration_curve, roc_curve
from lineal.objective import Hinge, Squared
from lineal.plot import (
    calibration,
    confusion,
    decision_regions,
    learning_curve,
    model_scores,
    precision_recall,
    roc,
    surrogate_losses,
    weights_by_class,
    word_contributions,
)

rng = np.random.default_rng(0)
LABELS = np.array(["ham", "spam", "$eggs$"])[np.arange(90) % 3]
POINTS = rng.normal(size=(90, 2)) + np.array([[0, 0], [3, 1], [1, 3]])[np.arange(90) % 3]
IS_TWO = LABELS != "$eggs$"
X, Y = POINTS[IS_TWO], LABELS[IS_TWO]
TEXTS, MOODS = ["good film $5", "bad film $9", "a good cast", "a bad cast"] * 5, ["pos", "neg"] * 10

FITTED = GaussianNB().fit(POINTS, LABELS)


# One result of each function, by its name.
PICTURES = {
    "surrogate_losses": surrogate_losses,
    "decision_regions": lambda: decision_regions(LinearSVC(), X, Y, n_points=25, margins=True),
    "confusion": lambda: confusion(LogisticRegression().fit(POINTS, LABELS), POINTS, LABELS),
    "weights_by_class": lambda: weights_by_class(LogisticRegression().fit(POINTS, LABELS), ["$a$", "b"]),
    "word_contributions": lambda: word_contributions(
        TextClassifier().fit(TEXTS, MOODS), "a good film for $5 or $6"
    ),
    "roc": lambda: roc(LogisticRegression().fit(POINTS, LABELS), POINTS, LABELS),
    "precision_recall": lambda: precision_recall({"bayes": GaussianNB().fit(X, Y)}, X, Y),
    "calibration": lambda: calibration(GaussianNB().fit(X, Y), X, Y, n_bins=4),
    "learning_curve": lambda: learning_curve(GaussianNB(), X, Y, sizes=[0.5, 1.0], cv=3),
    "model_scores": lambda: model_scores(compare({"svc": LinearSVC(), "bayes": GaussianNB()}, X, Y, cv=3)),
}


@cache
def picture(name):
    """Made once."""
    return PICTURES[name]()


def test_everything_but_drawing_works_without_matplotlib(monkeypatch):
    """Results are computed and printed; plot() names the extra to install."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for make in PICTURES.values():
        result = make()
        assert str(result)
        with pytest.raises(ImportError, match=r"pip install lineal\[plot\]"):
            result.plot()


@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_is_drawn_and_saved(plt, tmp_path, name):
    """plot() makes a figure that can be saved, plot(ax) draws there and nowhere else; both return a list."""
    result = picture(name)
    axes = result.plot()
    assert isinstance(axes, list)
    axes[0].figure.savefig(tmp_path / "new.png")
    n_figures = len(plt.get_fignums())
    _, given = plt.subplots()
    assert result.plot(given)[0] is given
    given.figure.savefig(tmp_path / "given.png")
    assert len(plt.get_fignums()) == n_figures + 1


def test_drawings_are_the_numbers(plt):
    """Lines hold losses and margins, fields the rates, bars the weights and the parts, dots the scores."""
    losses, regions, table = (picture(name) for name in ("surrogate_losses", "decision_regions", "confusion"))
    drawn = {line.get_label(): line for line in losses.plot()[0].lines}
    np.testing.assert_array_equal(drawn["0/1 loss"].get_ydata(), losses.zero_one)
    np.testing.assert_array_equal(drawn["Hinge"].get_ydata(), losses.by_margin["Hinge"])
    drawn = {line.get_label(): line for line in regions.plot()[0].lines}
    margin = regions.margins["LinearSVC"]
    np.testing.assert_array_equal(drawn["support vector"].get_xydata(), X[margin.is_support])
    np.testing.assert_allclose(drawn["score 0"].get_xydata() @ margin.w + margin.b, 0.0, atol=1e-12)
    (field,) = table.plot()[0].get_images()
    np.testing.assert_array_equal(field.get_array(), table.rates)
    bars = [bar.get_width() for bar in picture("weights_by_class").plot()[0].patches]
    assert bars == [weight for _, weight in next(iter(picture("weights_by_class").weights.values()))]
    words = picture("word_contributions").plot()
    assert [bar.get_width() for bar in words[1].patches] == [
        share for _, share in picture("word_contributions").parts()
    ]
    curve = next(iter(picture("roc").curves.values()))
    drawn = picture("roc").plot()[0].lines[1]
    np.testing.assert_array_equal(drawn.get_xdata(), curve.false_positive_rate)
    np.testing.assert_array_equal(drawn.get_ydata(), curve.true_positive_rate)
    np.testing.assert_array_equal(
        picture("learning_curve").plot()[0].lines[0].get_ydata(),
        picture("learning_curve").curves["GaussianNB"].test,
    )
    scores = picture("model_scores")
    dots = [line.get_xdata()[0] for line in scores.plot()[0].lines if line.get_marker() == "o"]
    assert dots == scores.values.tolist()


def test_words_and_labels_are_never_read_as_mathematics(plt):
    """$ stays $ in words, names of columns and labels."""
    words = [text.get_text() for text in picture("word_contributions").plot()[0].texts]
    assert r"\$5" in words
    ticks = [tick.get_text() for tick in picture("weights_by_class").plot()[0].get_yticklabels()]
    assert r"\$a\$" in ticks
    assert r"\$eggs\$" in [tick.get_text() for tick in picture("confusion").plot()[0].get_xticklabels()]


def test_twenty_classes_fit_into_a_confusion(plt):
    """Every count is written, in fields that do not overlap, and the classes keep their order."""
    truth = np.arange(400) % 20
    said = np.where(rng.random(400) < 0.7, truth, rng.integers(0, 20, 400))
    table = confusion(evaluate_predictions(truth, said, n_resamples=20))
    (panel,) = table.plot()
    panel.figure.draw_without_rendering()
    assert [tick.get_text() for tick in panel.get_yticklabels()] == [str(k) for k in range(20)]
    boxes = [text.get_window_extent() for text in panel.texts]
    assert len(boxes) == np.count_nonzero(table.counts)
    field = panel.transData.transform([[0, 0], [1, 1]])
    width, height = np.abs(field[1] - field[0])
    assert max(box.width for box in boxes) < width
    assert max(box.height for box in boxes) < height


def test_words_stay_inside_their_picture(plt):
    """A long text goes on in lines, none of which is cut off, and numbers below words do not touch."""
    model = TextClassifier().fit(TEXTS, MOODS)
    axes = word_contributions(model, "a good film with a bad cast " * 12).plot()
    figure = axes[0].figure
    figure.draw_without_rendering()
    whole = figure.get_window_extent()
    boxes = [text.get_window_extent() for text in axes[0].texts]
    assert all(whole.x0 <= box.x0 and box.x1 <= whole.x1 and box.y0 >= axes[1].bbox.y1 for box in boxes)
    assert not any(a.overlaps(b) for i, a in enumerate(boxes[:40]) for b in boxes[:i])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: surrogate_losses({}), ParameterError, "dict of names to losses"),
        (lambda: surrogate_losses({"joint": Hinge().joint()}), ParameterError, "losses of one score"),
        (lambda: surrogate_losses(n_points=0), ParameterError, "n_points >= 1"),
        (lambda: decision_regions(KNeighborsClassifier(1), X, Y, margins=True), ParameterError, "linear"),
        (lambda: decision_regions(LinearSVC(), POINTS, LABELS, margins=True), ParameterError, "3 classes"),
        (lambda: confusion(LinearSVC()), ParameterError, r"confusion\(model, X, y\)"),
        (lambda: confusion("ham", X, Y), ParameterError, "got str"),
        (
            lambda: confusion(evaluate(Ridge().fit(X, X[:, 0]), X, X[:, 0], n_resamples=20)),
            ParameterError,
            "of a regression",
        ),
        (lambda: weights_by_class(KNeighborsClassifier(1).fit(X, Y)), ParameterError, "coef_"),
        (lambda: weights_by_class(Ridge().fit(X, X[:, 0]), ["a"]), InputError, "each of 2 columns, got 1"),
        (lambda: weights_by_class(Ridge().fit(X, X[:, 0]), k=0), ParameterError, "k >= 1"),
        (lambda: word_contributions(LinearSVC(), "a"), ParameterError, "TextClassifier"),
        (lambda: word_contributions(TextClassifier(), ["a"]), ParameterError, "one text"),
        (lambda: roc(GaussianNB()), ParameterError, r"roc\(model, X, y\)"),
        (lambda: roc({"a": FITTED, "b": FITTED}, POINTS, LABELS), ParameterError, "needs positive="),
        (lambda: roc(FITTED, POINTS, LABELS, positive="soup"), InputError, "'soup' is not among"),
        (lambda: calibration(LinearSVC().fit(X, Y), X, Y), ParameterError, "predict_proba"),
        (lambda: learning_curve("ham", X, Y), ParameterError, "got str"),
        (lambda: model_scores({"a": 1.0}), ParameterError, "lineal.compare"),
    ],
)
def test_refusals(call, error, message):
    """Each says what was needed and what came."""
    with pytest.raises(error, match=message):
        call()


def test_records_of_curves_are_drawn_as_they_are():
    """What lineal.evaluation computed is kept, alone or under a name; another kind of curve is refused."""
    record = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    assert roc(record).curves == {"RocCurve": record}
    assert list(roc({"mine": record, "bayes": GaussianNB().fit(X, Y)}, X, Y).curves) == ["mine", "bayes"]
    with pytest.raises(ParameterError, match="CalibrationCurve"):
        calibration(record)
    assert calibration(calibration_curve([0, 1, 1], [0.2, 0.5, 0.9])).curves
    made = picture("learning_curve").curves["GaussianNB"]
    assert learning_curve({"again": made}).curves == {"again": made}


def test_own_losses_can_be_shown_and_empty_panels_are_not(plt):
    """A dict of regression losses has one panel; the table has its half alone."""
    shapes = surrogate_losses({"half": Hinge(0.5)})
    assert len(shapes.plot()) == 1
    assert "by residual" not in str(shapes)
    assert surrogate_losses({"mine": Squared()}).by_margin.keys() == {"mine"}


def test_the_margin_of_a_kernel_machine(plt):
    """Its support vectors are those of the model, its scores those of decision_function over the places, and
    both are drawn: curves of -1, 0 and 1, and a ring round each."""
    machine = SVC(gamma=1.0, C=5.0)
    picture = decision_regions(machine, X, Y, n_points=31, margins=True)
    margin, fitted = picture.margins["SVC"], SVC(gamma=1.0, C=5.0).fit(X, Y)
    assert np.flatnonzero(margin.is_support).tolist() == sorted(fitted.support_.tolist())
    places = np.stack([each.ravel() for each in np.meshgrid(picture.x, picture.y)], axis=1)
    np.testing.assert_array_equal(margin.scores, fitted.decision_function(places).reshape(31, 31))
    assert f"{len(fitted.support_)} of {len(X)} points are support vectors" in str(picture)
    (panel,) = picture.plot()
    labels = panel.get_legend_handles_labels()[1]
    assert {"score 0", "score ±1", "support vector"} <= set(labels)
    rings = [line for line in panel.lines if line.get_label() == "support vector"]
    assert len(rings[0].get_xdata()) == len(fitted.support_)


@pytest.mark.parametrize("make", [roc, precision_recall, calibration])
def test_legends_of_curves_hide_none_of_them(plt, make):
    """Below the axes of a new figure, inside the picture."""
    models = {
        name: GaussianNB().fit(X[k::7], Y[k::7]) for k, name in enumerate(["one", "another", "a third"])
    }
    (panel,) = make(models, X, Y).plot()
    figure = panel.figure
    figure.canvas.draw()
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert panel.get_legend() is None
    assert box.y1 <= panel.get_tightbbox().y0 + 1
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1
    assert box.y0 >= 0
