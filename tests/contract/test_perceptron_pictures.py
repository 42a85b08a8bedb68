"""Results behind pictures of perceptrons are true without matplotlib; with it, the lines are the numbers."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

from lineal import LogisticRegression, Perceptron, mistake_bound
from lineal.errors import InputError, ParameterError
from lineal.plot import perceptron_averaging, perceptron_mistakes, perceptron_updates

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
X = X[np.abs(X @ [1.0, 0.5]) > 0.3]
Y = np.where(X @ [1.0, 0.5] > 0, "yes", "no")
LEARNER = Perceptron(until_convergence=True, shuffle=False)


def test_updates_are_the_mistakes_of_the_steps():
    """Each is a step at which the weights changed, the first ones of the run."""
    wrong = [step for step in LEARNER.steps(X, Y) if step.is_mistake]
    found = perceptron_updates(LEARNER, X, Y, n_updates=2)
    assert len(found.steps) == min(2, len(wrong))
    for ours, theirs in zip(found.steps, wrong, strict=False):
        np.testing.assert_array_equal(ours.coef, theirs.coef)
        assert ours.row == theirs.row
    assert len(str(found).splitlines()) == 1 + len(found.steps)


def test_the_curve_is_the_fit_and_its_bound():
    """Mistakes so far are the sums of mistakes_, and the last is at most the bound."""
    curve = perceptron_mistakes(LEARNER, X, Y)
    model = Perceptron("plain", until_convergence=True, shuffle=False).fit(X, Y)
    np.testing.assert_array_equal(np.diff(curve.mistakes), model.mistakes_)
    assert curve.mistakes[-1] <= curve.bound.bound == mistake_bound(X, Y).bound


def test_averaging_is_two_fits_after_each_epoch():
    """The accuracies are those of plain and averaged models fitted for as many epochs."""
    curve = perceptron_averaging(Perceptron(), X[:20], Y[:20], X[20:], Y[20:], epochs=4)
    for epochs in range(1, 5):
        plain, averaged = (
            Perceptron(variant, epochs=epochs).fit(X[:20], Y[:20]).score(X[20:], Y[20:])
            for variant in ("plain", "averaged")
        )
        assert (plain, averaged) == (curve.plain[epochs - 1], curve.averaged[epochs - 1])
    assert len(str(curve).splitlines()) == 5


def test_what_cannot_be_drawn_is_refused():
    """Three columns, another learner, no updates."""
    with pytest.raises(InputError, match="two columns"):
        perceptron_updates(LEARNER, np.ones((4, 3)), [0, 1, 0, 1])
    with pytest.raises(ParameterError, match="Perceptron"):
        perceptron_mistakes(LogisticRegression(), X, Y)
    with pytest.raises(ParameterError, match="n_updates"):
        perceptron_updates(LEARNER, X, Y, n_updates=0)
    with pytest.raises(ParameterError, match="epochs"):
        perceptron_averaging(LEARNER, X, Y, X, Y, epochs=0)


def test_results_need_no_matplotlib():
    """Without it all is computed and printed, and plot() says what to install."""
    program = """
        import sys
        sys.modules["matplotlib"] = None
        from lineal import Perceptron
        from lineal.plot import perceptron_mistakes
        curve = perceptron_mistakes(Perceptron(), [[0.0], [1.0]], [0, 1])
        print(curve)
        try:
            curve.plot()
        except ImportError as error:
            print(error)
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-500:]
    assert "mistakes in 10 epochs" in run.stdout
    assert "pip install lineal[plot]" in run.stdout


def test_drawn_lines_are_the_numbers(plt, tmp_path):
    """Panels ring the wrong row; curves are the mistakes and accuracies; given axes are used."""
    three = RNG.normal(size=(30, 2))
    for points, names in ((X, Y), (three, RNG.integers(0, 3, 30))):
        updates = perceptron_updates(LEARNER.set_params(epochs=3), points, names, n_updates=5)
        axes = updates.plot()
        assert len(axes) == len(updates.steps)
        for ax, step in zip(axes, updates.steps, strict=True):
            np.testing.assert_array_equal(np.ravel(ax.lines[-1].get_data()), points[step.row])
        axes[0].figure.savefig(tmp_path / "updates.png")
    curve = perceptron_mistakes(Perceptron("plain", epochs=5), X, Y)
    (ax,) = curve.plot()
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), curve.mistakes)
    assert ax.lines[1].get_ydata()[0] == curve.bound.bound
    ax.figure.savefig(tmp_path / "mistakes.png")
    noise = perceptron_mistakes(Perceptron(), [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    (ax,) = noise.plot(plt.figure().subplots())
    assert "Not separable" in ax.get_title(loc="left")
    averaging = perceptron_averaging(Perceptron(), X, Y, X, Y, epochs=3)
    (ax,) = averaging.plot()
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), averaging.plain)
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), averaging.averaged)
