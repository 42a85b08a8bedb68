"""What path promises its callers: refusals, an untouched learner, scores, models, interruption, a table."""

import pickle
import signal
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression as SklearnLogistic

import lineal
from contract.members import features, labels, numbers
from lineal import LinearClassifier, LinearRegressor, path
from lineal.errors import CombinationError, InputError, NotCertifiedWarning, ParameterError
from lineal.objective import L1, L2, Hinge, Log, NoPenalty

X = features(60)
Y = labels(X)
NUMBERS = numbers(X)
LEARNER = LinearClassifier(Log(), L1())


# ---- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("strengths", "words"),
    [
        ([], "at least one"),
        (3.0, "sequence"),
        ([[1.0, 2.0]], "sequence"),
        ([1.0, -2.0], "-2.0 at place 1"),
        ([0.0], "> 0"),
        ([1.0, np.nan], "finite"),
        ([np.inf], "finite"),
        (["strong"], "numbers"),
        ([None], "strengths must be"),
    ],
)
def test_strengths_that_cannot_be(strengths, words):
    """Strengths that are not positive finite numbers are refused, with the one that is wrong."""
    with pytest.raises(ParameterError, match=words):
        path(LEARNER, X, Y, strengths=strengths)


@pytest.mark.parametrize(
    "options",
    [{"n_strengths": 0}, {"n_strengths": 2.5}, {"n_strengths": "many"}]
    + [{"ratio": ratio} for ratio in (0, 1, -0.1, 2.0, np.nan, "small")]
    + [{"X_test": X}, {"y_test": Y}],
    ids=lambda options: str(*options),
)
def test_options_that_cannot_be(options):
    """A grid without points, or half a test set, is refused before any data are read."""
    with pytest.raises(ParameterError):
        path(LEARNER, None, None, **options)


@pytest.mark.parametrize(
    "learner",
    [
        LinearClassifier(penalty=NoPenalty()),
        LinearRegressor(penalty=NoPenalty()),
        lineal.LogisticRegression(penalty=None),
        lineal.LogisticRegression(C=np.inf),
        lineal.LinearRegression(),
        lineal.Ridge(alpha=0),
        lineal.LinearSVC(probability=True),
        LinearClassifier,
        SklearnLogistic(),
        "lasso",
    ],
    ids=str,
)
def test_learners_without_a_strength(learner):
    """What has no penalty, or is no learner of this library, is refused before any data are read."""
    with pytest.raises(ParameterError, match=r"path|penalty"):
        path(learner, None, None)


def test_pairs_that_do_not_go_together_are_refused_as_in_fit():
    """The solver's refusal is the one that ``fit`` gives."""
    with pytest.raises(CombinationError, match="closed_form"):
        path(LinearClassifier(Log(), L2(), solver="closed_form"), X, Y)


def test_targets_that_a_constant_explains():
    """Without anything to gain there is no first strength: said, with what to do; given ones are fitted."""
    constant = np.full(len(X), 3.0)
    for learner in (lineal.Lasso(), lineal.Ridge()):
        with pytest.raises(InputError, match="strengths="):
            path(learner, X, constant)
        assert np.abs(path(learner, X, constant, strengths=[1.0]).coef_array()).max() < 1e-12


def test_bad_data_are_refused_as_in_fit_and_the_test_set_is_named():
    """NaN in X is refused with its place; in the test set the message says so."""
    broken = X.copy()
    broken[3, 2] = np.nan
    with pytest.raises(InputError, match="row 3"):
        path(LEARNER, broken, Y)
    with pytest.raises(InputError, match=r"test set.*row 3"):
        path(LEARNER, X, Y, X_test=broken, y_test=Y)
    with pytest.raises(InputError, match=r"test set.*features"):
        path(LEARNER, X, Y, X_test=X[:, :2], y_test=Y)


# ---- what comes back ----------------------------------------------------------------------------


def test_the_learner_is_not_changed():
    """Neither its options nor anything fitted: path works on a copy."""
    learner = LinearClassifier(Log(), L1(0.3))
    before = dict(vars(learner))
    path(learner, X, Y, n_strengths=3)
    assert vars(learner) == before
    assert not hasattr(learner, "coef_")


def test_strengths_are_taken_from_the_largest_down_each_once():
    """The order of the strengths does not matter."""
    points = path(LEARNER, X, Y, strengths=[1.0, 5.0, 0.2, 5.0])
    assert points.strengths.tolist() == [5.0, 1.0, 0.2]
    assert len(points) == 3
    assert points.is_complete


def test_weights_are_sparse_where_the_penalty_is():
    """CSR under L1, NumPy under L2, the same numbers in one dense array."""
    for penalty, is_sparse in ((L1(), True), (L2(), False)):
        points = path(LinearClassifier(Log(), penalty), X, labels(X, 3), n_strengths=4)
        assert all(sp.issparse(coef) == is_sparse for coef in points.coefs)
        assert all(coef.shape == (3, X.shape[1]) for coef in points.coefs)
        array = points.coef_array()
        assert array.shape == (4, 3, X.shape[1])
        np.testing.assert_array_equal(points.n_nonzero, np.count_nonzero(array, axis=(1, 2)))
        np.testing.assert_array_equal(points.model(3).coef_, array[3])


def test_models_are_independent():
    """Changing a model changes neither the path nor another model; models can be fitted again."""
    points = path(LinearClassifier(Log(), L2(), warm_start=True), X, Y, n_strengths=3)
    first = points.model(1)
    first.coef_[:] = 7.0
    assert not np.any(points.model(1).coef_ == 7.0)
    again = points.model(1).fit(X, Y)
    np.testing.assert_allclose(again.coef_, points.model(1).coef_, atol=1e-2)
    assert points.model(-1).penalty.strength == points.strengths[-1]
    with pytest.raises(IndexError):
        points.model(3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_the_models_own(n_classes):
    """Train and test scores are what ``model(i).score`` gives; text labels, unseen ones count as wrong."""
    y = np.array(["ant", "bee", "cow", "dog"])[labels(X, n_classes)]
    unseen = y[40:].copy()
    unseen[0] = "dog"
    points = path(LEARNER, X[:40], y[:40], n_strengths=4, X_test=X[40:], y_test=unseen)
    for i in range(4):
        assert points.train_scores[i] == pytest.approx(points.model(i).score(X[:40], y[:40]))
        assert points.test_scores[i] == pytest.approx(np.mean(points.model(i).predict(X[40:]) == unseen))
    assert points.test_scores[points.best()] == points.test_scores.max()
    assert points.best() == int(np.flatnonzero(points.test_scores == points.test_scores.max())[0])


def test_best_needs_a_test_set():
    """Without a test set there is no best point, and the error says what to pass."""
    points = path(LEARNER, X, Y, n_strengths=2)
    assert points.test_scores is None
    with pytest.raises(ParameterError, match="X_test"):
        points.best()


def test_probabilities_come_with_a_likelihood_only():
    """A logistic point has probabilities, an SVM point has none."""
    assert path(LEARNER, X, Y, n_strengths=2).model(1).predict_proba(X).shape == (60, 2)
    assert not hasattr(path(lineal.LinearSVC(), X, Y, n_strengths=2).model(1), "predict_proba")


def test_a_path_survives_pickle():
    """Nothing of the native core is kept in a path."""
    points = path(LEARNER, X, Y, n_strengths=3)
    copy = pickle.loads(pickle.dumps(points))
    np.testing.assert_array_equal(copy.coef_array(), points.coef_array())
    np.testing.assert_array_equal(copy.model(2).predict(X), points.model(2).predict(X))


def test_sparse_and_dense_data_give_one_path():
    """CSR and dense rows: the same strengths and, within the tolerance, the same weights."""
    dense, sparse = (path(LEARNER, data, Y, n_strengths=4) for data in (X, sp.csr_array(X)))
    np.testing.assert_allclose(dense.strengths, sparse.strengths, rtol=1e-12)
    np.testing.assert_allclose(dense.coef_array(), sparse.coef_array(), atol=1e-2)


def test_points_that_are_not_certified_are_said_once():
    """One warning for the whole path, with the number of points and the first strength."""
    learner = LinearClassifier(Hinge(), L2(), solver="dual_cd", max_epochs=1, tol=1e-12)
    with pytest.warns(NotCertifiedWarning, match="of 4 points") as record:
        points = path(learner, X, Y, n_strengths=4)
    assert len(record) == 1
    assert " !" in str(points)


# ---- Ctrl-C -------------------------------------------------------------------------------------


class CtrlC:
    """Raises the signal in the n-th fit's first certified epoch."""

    def __init__(self, n):
        self.n_fits, self.n = 0, n

    def __call__(self, point):
        self.n_fits += point.epoch == 1
        if point.epoch == 1 and self.n_fits == self.n:
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("tol", [1.0, 1e-9])
def test_ctrl_c_returns_the_points_that_are_done(tol):
    """Interrupted in the third fit, the path keeps two points, or three if the third was certified."""
    learner = LinearClassifier(Log(), L1(), tol=tol, callbacks=[CtrlC(3)])
    points = path(learner, X, Y, n_strengths=9)
    assert len(points) == (3 if tol == 1.0 else 2)
    assert all(certificate.converged for certificate in points.certificates)
    assert not points.is_complete
    assert "stopped by Ctrl-C" in str(points)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_before_the_first_point_raises():
    """With nothing done there is nothing to return."""
    learner = LinearClassifier(Log(), L1(), tol=1e-9, callbacks=[CtrlC(1)])
    with pytest.raises(KeyboardInterrupt):
        path(learner, X, Y, strengths=[0.5, 0.1])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


# ---- for people ---------------------------------------------------------------------------------


def test_the_table_has_a_line_for_each_point():
    """A title, a header, and n lines; the best one is marked; presets show their own parameter."""
    points = path(lineal.Lasso(), X, NUMBERS, n_strengths=6, X_test=X, y_test=NUMBERS)
    title, empty, header, *lines = str(points).split("\n")
    assert title.startswith("Lasso: 6 strengths, all certified to 1e-04")
    assert empty == ""
    assert header.split() == ["strength", "alpha", "weights", "train", "R²", "test", "R²", "gap", "seconds"]
    assert len(lines) == 6
    assert [line.endswith("best") for line in lines] == [i == points.best() for i in range(6)]
    assert repr(points) == "<Path of Lasso: 6 strengths>"
    plain = str(path(LEARNER, X, Y, n_strengths=2)).split("\n")[2]
    assert plain.split() == ["strength", "weights", "train", "accuracy", "gap", "seconds"]


def test_plot_without_matplotlib_says_how_to_get_it(monkeypatch):
    """The error names the extra to install."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install lineal\[plot\]"):
        path(LEARNER, X, Y, n_strengths=2).plot()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_plot_shows_weights_and_scores(n_classes):
    """Two panels on one logarithmic axis from strong to weak; the 20 largest weights are named."""
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt
    import pandas as pd

    wide = features(60, 30)
    table = pd.DataFrame(wide, columns=[f"word{j}" for j in range(30)])
    points = path(LEARNER, table, labels(wide, n_classes), n_strengths=6, X_test=table, y_test=labels(wide))
    weights, scores = points.plot()
    assert weights.get_xscale() == scores.get_xscale() == "log"
    assert weights.get_xlim()[0] >= points.strengths[0] > points.strengths[-1] >= weights.get_xlim()[1]
    named = [text.get_text() for text in weights.texts]
    assert len(named) == 20
    size = np.abs(points.coef_array()).max(axis=0)
    output, column = np.unravel_index(size.argmax(), size.shape)
    assert named[0] == f"word{column}" + (f" ({output})" if n_classes > 2 else "")
    curve = weights.lines[0]
    np.testing.assert_allclose(curve.get_ydata(), points.coef_array()[:, output, column])
    np.testing.assert_allclose(scores.lines[1].get_ydata(), points.test_scores)
    (alone,) = points.plot(plt.figure().subplots())
    assert len(alone.texts) == 20
    plt.close("all")


def test_a_picture_shows_what_is_proved(plt):
    """The title has the largest gap; points that are not certified are crossed, in both panels."""
    points = path(lineal.Lasso(), X, NUMBERS, n_strengths=6, X_test=X, y_test=NUMBERS)
    largest = max(certificate.relative_gap for certificate in points.certificates)
    weights, scores = points.plot()
    assert weights.get_title(loc="left") == f"6 points, each certified: largest relative gap {largest:.0e}"
    assert not any(len(line.get_xdata()) for line in [*weights.lines, *scores.lines] if _is_cross(line))
    hasty = lineal.Lasso(tol=1e-13, max_iter=2)
    with pytest.warns(NotCertifiedWarning):
        points = path(hasty, X, NUMBERS, n_strengths=6, X_test=X, y_test=NUMBERS)
    failed = points.strengths[[not certificate.converged for certificate in points.certificates]]
    assert 0 < len(failed) < 6
    weights, scores = points.plot()
    assert f"× at {len(failed)} of 6 points: not certified" in weights.get_title(loc="left")
    assert weights.get_title(loc="left").startswith("largest certified gap")
    for panel in (weights, scores):
        crossed = [line for line in panel.lines if _is_cross(line)]
        assert len(crossed) > 1
        for line in crossed:
            np.testing.assert_array_equal(line.get_xdata(), failed)


def test_names_of_weights_stand_apart(plt):
    """Weights that end alike have names that can be read: none covers another."""
    wide = features(60, 30)
    weights, _ = path(LEARNER, wide, labels(wide), n_strengths=4).plot()
    weights.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in weights.texts]
    assert len(boxes) == 20
    heights = sorted((box.y0 + box.y1) / 2 for box in boxes)
    assert np.diff(heights).min() > 0.75 * boxes[0].height


def _is_cross(line):
    return line.get_marker() == "x"
