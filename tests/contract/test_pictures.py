"""Results behind pictures work without matplotlib; with it, the drawn lines are the numbers."""

import signal
import sys
import time
from itertools import pairwise

import numpy as np
import pytest

from contract.members import features, labels, numbers
from lineal import Lasso, LinearClassifier, LinearRegressor, LogisticRegression
from lineal.canvas import look
from lineal.errors import CombinationError, InputError, NoMinimumError, ParameterError
from lineal.objective import L1, L2, Certificate, Hinge, NoPenalty
from lineal.plot import Comparison, SolverTrace, compare_solvers, contour, ravine, step_sizes, trajectory
from lineal.solvers import GD, SOLVERS, Adam
from lineal.solvers.proving import LinearProver

X = features(80, 4)
Y = labels(X)
LEARNER = LogisticRegression(C=1.0)
LEAST_SQUARES = LinearRegressor(penalty=NoPenalty(), fit_intercept=False)


def made_trace(label, seconds, gaps, epochs=None):
    """A trace whose objective is 1 + gap and whose bound is 1, relative gaps as they are given."""
    gaps = np.array(gaps, dtype=float)
    certificate = Certificate(
        1 + gaps[-1], 1.0, gaps[-1], gaps[-1], 0.0, label, 9, 9.0, False, "why: because"
    )
    epochs = np.arange(1, len(gaps) + 1) if epochs is None else np.array(epochs)
    return SolverTrace(
        label, epochs, np.array(seconds, float), 1 + gaps, np.ones(len(gaps)), gaps, certificate
    )


MADE = Comparison(
    (
        made_trace("quick", [0.1, 0.2, 0.3], [0.5, 0.05, 0.01]),
        made_trace("deep", [0.4, 0.5, 0.9], [0.3, 1e-3, 1e-7], [1, 20, 30]),
        made_trace("lost", [0.1, 5.0], [0.9, 0.8]),
    ),
    {"other": "other needs L1: use deep."},
    1e-6,
    "Made, 3 rows",
)


# ---- the table ------------------------------------------------------------------------------------


def test_first_at_a_hand_made_trace():
    """The first to certify a gap, by time or by epochs; equal gaps count; None where nobody got there."""
    assert [MADE.first_at(gap) for gap in (0.1, 1e-3, 1e-6, 1e-9)] == ["quick", "deep", "deep", None]
    assert MADE.first_at(0.4, by="seconds") == "quick"
    assert MADE.first_at(0.4, by="epochs") == "deep"
    assert MADE.seconds_to(0.1) == {"quick": 0.2, "deep": 0.5, "lost": np.inf}
    assert MADE.epochs_to(1e-6) == {"quick": np.inf, "deep": 30, "lost": np.inf}
    assert MADE.ranking() == ["deep", "quick", "lost"]
    with pytest.raises(ParameterError, match="'seconds' or 'epochs'"):
        MADE.first_at(0.1, by="minutes")
    with pytest.raises(KeyError, match="quick, deep, lost"):
        MADE["slow"]


def test_table_of_a_hand_made_trace():
    """A line for each solver, arrows at the first, the reason of an end, and what was not run."""
    lines = [" ".join(line.split()) for line in str(MADE).splitlines()]
    assert lines == [
        "Made, 3 rows: 3 solvers, time and (epochs) to certified relative gaps",
        "",
        "solver gap 1e-01 gap 1e-03 gap 1e-06 ended at",
        "deep 0.5 s (20) → 0.5 s (20) → 0.9 s (30) 1e-07: why",
        "quick → 0.2 s (2) – – 1e-02: why",
        "lost – – – 8e-01: why",
        "not run: other needs L1: use deep.",
    ]
    assert "gap 5e-02" in MADE.table([0.05])


def test_suboptimality_is_above_the_best_bound_of_all():
    """P minus the best bound of any solver: a solver is not blamed for its own poor bound."""
    poor = made_trace("poor", [1.0], [0.5])
    good = SolverTrace("good", *(getattr(poor, n) for n in ("epochs", "seconds", "primal")), np.array([1.4]),
                       np.array([0.1]), poor.certificate)  # fmt: skip
    both = Comparison((poor, good), {}, 1e-3, "two")
    assert both.bound == 1.4
    np.testing.assert_allclose(both.suboptimality("poor"), [0.1])


# ---- comparing ------------------------------------------------------------------------------------


def test_every_solver_is_run_or_refused():
    """Without a choice each solver runs or says why not; a trace is monotone and ends in its certificate."""
    result = compare_solvers(LEARNER, X, Y, tol=1e-4, max_seconds=0.4)
    ran = [trace.label for trace in result.traces]
    assert sorted([*ran, *result.refused]) == sorted(SOLVERS)
    assert set(result.refused) == {"closed_form", "interior", "prox_cd", "iterative_scaling"}
    assert result.is_complete
    assert not hasattr(LEARNER, "classes_")
    for trace in result.traces:
        assert np.all(np.diff(trace.epochs) > 0)
        assert np.all(np.diff(trace.seconds) >= 0)
        assert np.all(np.diff(trace.primal) <= 0)
        assert np.all(np.diff(trace.dual) >= 0)
        # Where D < 0 the relative gap is above 1 and rises with a falling P; from D >= 0 on it only falls.
        assert np.all(np.diff(trace.relative_gap[trace.dual >= 0]) <= 1e-15)
        assert trace.primal[-1] == trace.certificate.primal
        assert trace.relative_gap[-1] == trace.certificate.relative_gap
        assert trace.certificate.solver == trace.label
        assert np.all(result.suboptimality(trace.label) >= -1e-9 * abs(result.bound))
    # What is shown is what a fit gives.
    fitted = LogisticRegression(C=1.0, solver="newton", tol=1e-4).fit(X, Y).certificate_
    assert result["newton"].certificate.primal == pytest.approx(fitted.primal, rel=1e-4)


def test_certificates_become_rarer_and_their_time_is_not_the_solvers(monkeypatch):
    """The first 40 epochs are certified, then ever fewer; certifying is counted once, not at each point."""
    prove, pause = LinearProver.prove, 0.004

    def slowly(*arguments):
        time.sleep(pause)
        return prove(*arguments)

    monkeypatch.setattr(LinearProver, "prove", slowly)
    solvers = {"creeping": GD(learning_rate=1e-6)}
    result = compare_solvers(LEARNER, X, Y, solvers=solvers, tol=1e-9, max_epochs=100)
    trace = result["creeping"]
    assert list(trace.epochs[:40]) == list(range(1, 41))
    assert trace.epochs[-1] == 100
    assert len(trace.epochs) < 70
    assert trace.certificate.seconds >= pause * len(trace.epochs)
    assert pause <= trace.seconds[-1] <= trace.certificate.seconds - pause * (len(trace.epochs) - 2)


def test_a_plan_of_two_solvers_is_one_line():
    """'auto' runs the plan; the certificate names the solvers that ran."""
    result = compare_solvers(LEARNER, X, Y, solvers=["auto"], tol=1e-5)
    assert result["auto"].certificate.solver == "newton"
    assert result["auto"].certificate.converged


def test_joint_losses_are_compared_too():
    """Three classes pose one problem of three outputs."""
    result = compare_solvers(LEARNER, X, labels(X, 3), solvers=["newton", "lbfgs"], tol=1e-4)
    assert result["newton"].primal[-1] == pytest.approx(result["lbfgs"].primal[-1], rel=1e-4)
    assert all(trace.certificate.converged for trace in result.traces)


def test_labels_say_what_differs():
    """Objects are named by the parameters that were changed; a dict gives names; a name twice is refused."""
    solvers = [GD(), GD(learning_rate=1e-3), Adam(batch_size=20)]
    result = compare_solvers(LEARNER, X, Y, solvers=solvers, tol=0.1, max_epochs=3)
    assert [t.label for t in result.traces] == ["gd", "gd(learning_rate=0.001)", "adam(batch_size=20)"]
    named = compare_solvers(LEARNER, X, Y, solvers={"mine": "gd"}, tol=0.1, max_epochs=3)
    assert named["mine"].certificate.solver == "gd"


class _Interrupted(GD):
    """Ctrl-C after its third epoch."""

    def iterates(self, problem, start, tol, seed):
        for count, iterate in enumerate(super().iterates(problem, start, tol, seed)):
            if count == 3:
                signal.raise_signal(signal.SIGINT)
            yield iterate


def test_ctrl_c_returns_what_there_is():
    """The solver that was stopped keeps its points, the next ones do not run, and the table says so."""
    solvers = {"newton": "newton", "stopped": _Interrupted(learning_rate=1e-6), "never": "lbfgs"}
    result = compare_solvers(LEARNER, X, Y, solvers=solvers)
    assert [trace.label for trace in result.traces] == ["newton", "stopped"]
    assert not result.is_complete
    assert "stopped by Ctrl-C" in str(result)
    assert len(result["stopped"].epochs) == 3  # the epoch in progress is broken off


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"solvers": "gd"}, "must be a list"),
        ({"solvers": []}, "is empty"),
        ({"solvers": ["gd", "gd"]}, "'gd' twice"),
        ({"solvers": ["gradient"]}, "is not known"),
        ({"solvers": ["prox_cd"]}, "needs L1"),
        ({"solvers": [7]}, "must be 'auto', one of"),
        ({"tol": 0}, "tol > 0"),
        ({"max_seconds": np.inf}, "finite number max_seconds"),
        ({"max_epochs": 0}, "max_epochs >= 1"),
    ],
)
def test_impossible_comparisons_are_refused(wrong, message):
    """Each refusal says what was needed."""
    with pytest.raises(ParameterError, match=message):
        compare_solvers(LEARNER, X, Y, **wrong)


def test_a_chosen_solver_that_refuses_the_numbers_is_an_error():
    """Unlike one that nobody asked for."""
    with pytest.raises(InputError, match="features >= 0"):
        compare_solvers(LEARNER, X, Y, solvers=["iterative_scaling"])


# ---- landscapes and rates -------------------------------------------------------------------------


@pytest.mark.parametrize("function", [compare_solvers, contour, step_sizes])
def test_a_learner_is_needed(function):
    """Something that cannot say what is minimised is refused by name."""
    with pytest.raises(ParameterError, match=f"{function.__name__} needs a learner"):
        function("logistic", X, Y)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: contour(LEARNER, X, Y), InputError, "the data pose 5 .*fit_intercept=False"),
        (lambda: contour(LEARNER, X[:, :1], labels(X, 3)), InputError, "the data pose 3"),
        (lambda: contour(LEARNER, X[:, :1], Y, start=[1.0]), ParameterError, "2 finite numbers"),
        (lambda: contour(LEARNER, X[:, :1], Y, start="ab"), ParameterError, "2 numbers"),
        (lambda: contour(LEARNER, X[:, :1], Y, n_steps=0), ParameterError, "n_steps >= 1"),
        (lambda: contour(Lasso(), X[:, :1], Y, solvers=["newton"]), CombinationError, "prox_cd"),
        (lambda: step_sizes(LEARNER, X, Y, rates=[]), ParameterError, "at least one rate"),
        (lambda: step_sizes(LEARNER, X, Y, rates=[-1.0]), ParameterError, "rate > 0"),
        (lambda: step_sizes(LinearClassifier(Hinge()), X, Y), CombinationError, "along a gradient"),
        (lambda: step_sizes(LinearClassifier(penalty=L1(1.0)), X, Y), CombinationError, "along a gradient"),
        (lambda: step_sizes(LEAST_SQUARES, 0 * X, numbers(X)), InputError, "flat"),
        (lambda: step_sizes(LEAST_SQUARES, np.ones((2, 601)), [0.0, 1.0]), InputError, "at most 600"),
        (lambda: trajectory(LEARNER, X, Y, solver="prox_cd"), CombinationError, "needs L1"),
        (lambda: ravine(0.5), ParameterError, "condition >= 1"),
        (lambda: ravine(optimum=(1.0,)), ParameterError, "two finite numbers"),
    ],
)  # fmt: skip
def test_impossible_landscapes_are_refused(call, error, message):
    """Each refusal says what was needed and what to use."""
    with pytest.raises(error, match=message):
        call()


def test_separable_classes_without_a_penalty_have_no_landscape():
    """There is no minimum to mark."""
    learner = LinearClassifier(penalty=NoPenalty())
    with pytest.raises(NoMinimumError, match="no minimum to draw"):
        contour(learner, [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], solvers=["gd"])


def test_usual_solvers_are_those_that_take_the_problem():
    """Without a choice, a penalty with kinks is left to those that know it; kinks of a loss are smoothed."""
    x = X[:, :2]
    by_l1 = contour(LinearClassifier(penalty=L1(1.0), fit_intercept=False), x, Y, n_steps=20)
    assert [way.label for way in by_l1.trajectories] == ["gd", "nesterov", "lbfgs"]
    by_hinge = contour(LinearClassifier(Hinge(), fit_intercept=False), x, Y, n_steps=20, solvers=["lbfgs"])
    for result in (by_l1, by_hinge):
        assert result.excess("lbfgs")[-1] < 0.05
    with pytest.raises(KeyError, match="gd, nesterov, lbfgs"):
        by_l1.excess("adam")


def test_contour_prints_how_far_each_came():
    """A line for each solver, and a window that holds start and optimum."""
    result = contour(LEAST_SQUARES, *ravine(10), solvers=["newton", "gd"], n_steps=4)
    lines = str(result).splitlines()
    assert lines[0].startswith("least objective 0.5 at weight of x0 1, weight of x1 0.3")
    assert [line.split()[0] for line in lines[1:]] == ["newton", "gd"]
    (left, right), (low, high) = result.window()
    for point in (result.start, result.optimum):
        assert left < point[0] < right
        assert low < point[1] < high


def test_step_sizes_print_their_verdicts_and_take_many_columns():
    """Four rates by default; a landscape only where two parameters make one."""
    many = step_sizes(LinearClassifier(penalty=L2(1.0)), X, Y, n_steps=10)
    assert many.landscape is None
    assert many.names() == ["0.05 / L", "1 / L", "1.9 / L", "2.1 / L"]
    two = step_sizes(LEAST_SQUARES, *ravine(10), n_steps=60)
    assert two.landscape is not None
    assert two.verdicts() == ["slow", "good", "zig-zags", "diverges"]
    assert "undone" in str(two).splitlines()[4]


def test_a_rate_that_explodes_ends_in_numbers():
    """The printed rule is followed as far as float64 goes."""
    result = step_sizes(LEAST_SQUARES, *ravine(10), rates=[1e3], n_steps=400)
    assert np.isfinite(result.printed[0].parameters).all()
    assert 0 < result.printed[0].n_steps < 400
    assert result.verdicts() == ["diverges"]


# ---- drawing --------------------------------------------------------------------------------------


def _small():
    comparison = compare_solvers(LEARNER, X, Y, solvers=["gd", "newton", "dual_cd"], tol=1e-4)
    landscape = contour(LEAST_SQUARES, *ravine(10), solvers=["gd", "newton"], n_steps=8)
    return comparison, landscape, step_sizes(LEAST_SQUARES, *ravine(10), n_steps=8)


def test_plot_without_matplotlib_says_how_to_get_it(monkeypatch):
    """Everything is computed and printed without it; plot() names the extra to install."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for result in _small():
        assert str(result)
        with pytest.raises(ImportError, match=r"pip install lineal\[plot\]"):
            result.plot()


def _traces(ax):
    """The lines that stand for data."""
    return [line for line in ax.lines if not line.get_label().startswith("_")]


def test_lines_of_a_comparison_are_its_traces(plt, tmp_path):
    """Four logarithmic panels; each line holds a trace; each solver is named in each panel."""
    comparison = _small()[0]
    axes = comparison.plot()
    assert len(axes) == 4
    heights = {"gap": lambda t: t.relative_gap, "sub": lambda t: comparison.suboptimality(t.label)}
    order = [("gap", "seconds"), ("gap", "epochs"), ("sub", "seconds"), ("sub", "epochs")]
    for ax, (what, against) in zip(axes, order, strict=True):
        assert ax.get_xscale() == ax.get_yscale() == "log"
        for line, trace in zip(_traces(ax), comparison.traces, strict=True):
            np.testing.assert_array_equal(line.get_xdata(), getattr(trace, against))
            np.testing.assert_array_equal(line.get_ydata(), heights[what](trace))
            assert line.get_label() == trace.label
        assert sorted(text.get_text() for text in ax.texts) == ["dual_cd", "gd", "newton"]
    axes[0].figure.savefig(tmp_path / "comparison.png")
    assert (tmp_path / "comparison.png").stat().st_size > 10_000


def test_given_axes_are_used_and_keep_their_labels(plt):
    """One Axes takes the gap against seconds; no figure is made, and the axes come back."""
    comparison, landscape, sizes = _small()
    figure, (above, below) = plt.subplots(2, 1)
    assert comparison.plot(above) == [above]
    assert above.get_xlabel().startswith("seconds")
    assert "gap" in above.get_ylabel()
    assert landscape.plot(below) == [below]
    assert below.get_xlabel() == "weight of x0"
    # One Axes for two solvers: both ways, and a legend that says how far they came.
    assert len(below.get_legend().get_texts()) == 2
    assert sizes.plot(plt.figure().subplots())[0].get_yscale() == "log"
    assert plt.get_fignums() == [figure.number, figure.number + 1]


def test_names_do_not_overlap(plt):
    """With every solver there is, no two names in a panel touch."""
    rng = np.random.default_rng(0)
    traces = [
        made_trace(f"solver {i}", np.geomspace(0.01, 0.5 + 0.1 * (i % 3), 30), np.geomspace(1, end, 30))
        for i, end in enumerate([*rng.uniform(1e-8, 1e-7, 8), *rng.uniform(0.01, 0.02, 8)])
    ]
    (ax, *_) = Comparison(tuple(traces), {}, 1e-6, "sixteen").plot()
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) == 16
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            assert not (one.overlaps(other)), (one, other)
    assert len({str(look(place)) for place in range(21)}) == 21


def test_gaps_of_zero_and_without_a_bound_can_be_drawn(plt):
    """Where a logarithm has no number the picture has no line, and no warning."""
    exact = made_trace("exact", [0.1], [0.0])
    empty = np.array([-np.inf])
    bare = SolverTrace("bare", exact.epochs, exact.seconds, exact.primal, empty, -empty, exact.certificate)
    for traces in ((exact, bare), (bare,)):
        axes = Comparison(traces, {}, 1e-6, "odd").plot()
        axes[0].figure.canvas.draw()
        names = {text.get_text() for text in axes[0].texts}
        assert names == {trace.label for trace in traces if trace is exact}
        plt.close(axes[0].figure)


def test_contour_lines_lie_where_the_objective_says(plt, tmp_path):
    """Each drawn level is a set of points of that objective; the ways are the trajectories."""
    landscape = _small()[1]
    X_, y_ = ravine(10)
    axes = landscape.plot()
    assert len(axes) == 2
    for ax, way in zip(axes, landscape.trajectories, strict=True):
        np.testing.assert_array_equal(ax.lines[-1].get_xdata(), way.parameters[:, 0])
        np.testing.assert_array_equal(ax.lines[-1].get_ydata(), way.parameters[:, 1])
        np.testing.assert_array_equal(
            np.ravel([ax.lines[0].get_xdata(), ax.lines[0].get_ydata()]), landscape.optimum
        )
        assert ax.get_title(loc="left").startswith(way.label)
        drawn = ax.collections[1]
        for level, path in list(zip(drawn.levels, drawn.get_paths(), strict=True))[-6:-1]:
            excess = ((path.vertices @ X_.T - y_) ** 2).sum(axis=1) / 2 - 0.5
            # Lines between grid points are straight, and the logarithm is not.
            np.testing.assert_allclose(np.log10(excess), level, atol=0.02)
    axes[0].figure.savefig(tmp_path / "contour.png")


@pytest.mark.parametrize("start", [(0.0, 0.3), (1.0, 0.3), (1.0, -1e-3)], ids=["along", "there", "across"])
@pytest.mark.parametrize("units", [1.0, 1e6])
def test_degenerate_ways_have_a_landscape(plt, start, units):
    """A start on an axis of the ravine or at its optimum, columns of any units: a window with an inside."""
    X_, y_ = ravine(10)
    landscape = contour(
        LEAST_SQUARES, X_ * [1, units], y_, start=np.array(start) / [1, units], solvers=["gd"]
    )
    (ax,) = landscape.plot()
    ax.figure.canvas.draw()
    for (low, high), value in zip(landscape.window(), landscape.optimum, strict=True):
        assert low < value < high
    assert ax.collections[1].get_paths()


def test_step_size_curves_are_the_trajectories(plt, tmp_path):
    """Curves first, then a landscape for each rate with the printed rule's way; undone steps are marked."""
    sizes = _small()[2]
    curves, *ways = sizes.plot()
    assert len(ways) == 4
    drawn = iter(curves.lines)
    for printed, run in zip(sizes.printed, sizes.run, strict=True):
        np.testing.assert_allclose(next(drawn).get_ydata(), run.objectives - sizes.least)
        np.testing.assert_allclose(next(drawn).get_ydata(), printed.objectives - sizes.least)
        assert len(next(drawn).get_xdata()) == run.is_undone.sum()
    for ax, printed in zip(ways, sizes.printed, strict=True):
        np.testing.assert_array_equal(ax.lines[2].get_xdata(), printed.parameters[:, 0])
    curves.figure.savefig(tmp_path / "rates.png")
    assert all(a.get_xlim() == b.get_xlim() for a, b in pairwise(ways))
