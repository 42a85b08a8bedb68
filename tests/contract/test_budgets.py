"""A fit that is stopped gives its best model and an honest certificate; the same seed gives the same bits."""

import signal
import subprocess
import sys
import textwrap
import time
import warnings
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
import scipy.sparse as sp

from contract.members import data_for, features, labels, named, numbers, same_model
from lineal import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearClassifier,
    LinearRegressor,
    LinearSVC,
    LogisticRegression,
    QuantileRegressor,
    _core,
    verify,
)
from lineal.errors import NotCertifiedWarning
from lineal.objective import L1, L2, Absolute, Hinge, Log, Softmax, Squared, SquaredHinge
from lineal.objective import ElasticNet as ElasticNetPenalty
from lineal.objective.linear_maps import native_csr
from lineal.objective.problem import Intercept
from lineal.solvers.base import Iterate, Solver
from lineal.solvers.catalogue import SOLVERS
from lineal.solvers.driver import Budget, minimise
from strategies import every_solver, small, stated, takes

LOSSES = [Log(), Hinge(), SquaredHinge()]
PENALTIES = [L2(0.01), L1(2.0)]


def words(n=2000, d=3000, n_classes=2, seed=0):
    """Sparse rows like a bag of words, with noisy labels."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.01, rng=rng, format="csr")
    scores = X @ rng.normal(size=(d, n_classes)) + 0.3 * rng.gumbel(size=(n, n_classes))
    return X, scores.argmax(axis=1)


# ---- epochs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@pytest.mark.parametrize("loss", [Log(), SquaredHinge()], ids=repr)
def test_one_epoch_gives_an_honest_model(loss, penalty, n_classes):
    """max_epochs=1 returns a model with a true certificate that does not claim the tolerance and says why."""
    X, y = words(300, 200, n_classes)
    model = LinearClassifier(loss=loss, penalty=penalty, tol=1e-9, max_epochs=1)
    with pytest.warns(NotCertifiedWarning, match="not certified"):
        model.fit(X, y)
    certificate = model.certificate_
    assert not certificate.converged
    assert certificate.epochs == model.n_iter_ == 1
    assert "max_epochs=1" in certificate.reason
    assert certificate.dual <= certificate.primal
    assert np.isfinite([certificate.primal, certificate.dual]).all()
    again = verify(model, X, y)
    assert again.primal == pytest.approx(certificate.primal, rel=1e-9)
    assert again.dual <= again.primal
    # The bound is true: the optimum is not below it.
    best = LinearClassifier(loss=loss, penalty=penalty, tol=1e-6).fit(X, y).certificate_
    assert certificate.dual <= best.primal * (1 + 1e-12)
    assert certificate.primal >= best.dual * (1 - 1e-12)


@pytest.mark.parametrize(
    "kind", [LogisticRegression, LinearSVC, Lasso, ElasticNet, HuberRegressor], ids=named
)
def test_max_iter_is_a_budget_of_epochs(kind):
    """In the presets max_iter bounds the passes over the data; one may be enough for a squared loss."""
    X, y = data_for(kind, 200, 30)
    options = {"alpha": 0.01} if kind in (Lasso, ElasticNet) else {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = kind(max_iter=1, tol=1e-13, **options).fit(X, y)
    assert model.n_iter_ == 1
    assert model.certificate_.converged == (not caught)
    assert not caught or issubclass(caught[0].category, NotCertifiedWarning)
    assert caught or kind in (Lasso, ElasticNet)


def test_the_budget_is_not_overrun():
    """No fit takes more epochs than it is allowed."""
    X, y = words(300, 200)
    for max_epochs in (1, 2, 3, 5, 8):
        with pytest.warns(NotCertifiedWarning, match="max_epochs"):
            model = LinearClassifier(solver="lbfgs", tol=1e-12, max_epochs=max_epochs).fit(X, y)
        assert model.certificate_.epochs == max_epochs


# ---- seconds --------------------------------------------------------------------------------------


def test_max_seconds_ends_a_long_fit():
    """A fit whose tolerance is out of reach ends soon after max_seconds, with its best model."""
    X, y = words(3000, 3000, 5)
    began = time.perf_counter()
    with pytest.warns(NotCertifiedWarning, match="max_seconds"):
        model = LinearClassifier(penalty=L2(1e-6), solver="lbfgs", tol=1e-15, max_seconds=0.3).fit(X, y)
    # An epoch in progress is finished, and the machine may be busy.
    assert time.perf_counter() - began < 5
    assert model.certificate_.seconds >= 0.3
    assert not model.certificate_.converged
    assert model.certificate_.dual <= model.certificate_.primal
    assert verify(model, X, y).primal == pytest.approx(model.certificate_.primal, rel=1e-9)


# ---- callbacks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", [L2(0.01), L1(0.5)], ids=repr)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_callbacks_see_the_gap_fall(loss, penalty):
    """Callbacks get one event each epoch; what is proved never gets worse, and is in the trace."""
    X, y = words(100, 60)
    seen = []
    model = LinearClassifier(loss=loss, penalty=penalty, tol=1e-4, callbacks=[seen.append]).fit(X, y)
    assert [event.epoch for event in seen] == list(range(1, model.certificate_.epochs + 1))
    for event in seen:
        assert event.gap == event.primal - event.dual
        assert event.dual <= event.primal
        assert event.solver in model.certificate_.solver
    for before, after in pairwise(seen):
        assert after.seconds >= before.seconds
        assert after.gap <= before.gap
        # An epoch that was not certified knows no more than the one before.
        assert after.is_proved or after.gap == before.gap
    if not seen[0].is_proved:
        assert (seen[0].primal, seen[0].dual, seen[0].gap) == (np.inf, -np.inf, np.inf)
    assert seen[-1].gap == model.certificate_.gap
    assert all(point.is_proved for point in model.trace_)
    assert {event for event in seen if event.is_proved} == set(model.trace_)


def test_every_epoch_is_certified_on_request():
    """certify_every=1 proves each epoch, for curves; 3 proves every third at least."""
    problem = small(Log(), L2(0.1), Intercept.FREE)
    for every in (1, 3):
        found = minimise(
            problem, [SOLVERS["gd"]()], tol=1e-9, budget=Budget(max_epochs=12, certify_every=every)
        )
        assert [point.epoch for point in found.trace] == list(range(every, 13, every))


def test_a_callback_that_returns_true_stops_the_fit():
    """True stops, with that reason; any other answer does not."""
    X, y = words(300, 200)
    model = LinearClassifier(solver="lbfgs", tol=1e-12, callbacks=[lambda point: point.epoch >= 3])
    with pytest.warns(NotCertifiedWarning, match="callback"):
        model.fit(X, y)
    assert model.certificate_.epochs == 3
    assert "callback" in model.certificate_.reason
    polite = LinearClassifier(solver="lbfgs", callbacks=[lambda point: None, lambda point: "go on"]).fit(X, y)
    assert polite.certificate_.converged


def test_an_error_in_a_callback_is_the_callers():
    """An exception of a callback comes out as it is, and Ctrl-C works as before."""

    def broken(point):
        raise KeyError("mine")

    X, y = words(300, 200)
    with pytest.raises(KeyError, match="mine"):
        LinearClassifier(callbacks=[broken]).fit(X, y)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def told(solution):
    """What a solution says, but the time it took."""
    points = [replace(point, seconds=0.0) for point in solution.trace]
    return replace(solution.certificate, seconds=0.0), points


@pytest.mark.parametrize("solver", every_solver(), ids=lambda solver: solver.name)
def test_callbacks_change_no_bit(solver):
    """Being watched changes nothing: weights, dual point, certificate and trace are the same."""
    losses, penalties = (Log(), Hinge(), Softmax(), Squared()), (L2(0.1), L1(0.5))
    posed = [small(*each, Intercept.FREE, solver=solver) for each in product(losses, penalties)]
    posed = [problem for problem in posed if takes(solver, problem)]
    assert posed
    for problem in posed:
        budgets = [Budget(max_epochs=60), Budget(max_epochs=60, callbacks=[lambda event: None])]
        alone, watched = (minimise(problem, [solver], tol=1e-7, budget=budget, seed=3) for budget in budgets)
        for one, other in zip((alone.W, alone.b, alone.U), (watched.W, watched.b, watched.U), strict=True):
            np.testing.assert_array_equal(one, other)
        assert told(alone) == told(watched)


@pytest.mark.parametrize("options", [{"progress": True}, {"callbacks": [print]}], ids=str)
@pytest.mark.parametrize("solver", ["auto", "dual_cd", "lbfgs", "svrg"])
def test_a_watched_learner_learns_the_same(solver, options):
    """The same for learners, with a bar and with callbacks."""
    X, y = words(300, 200)
    alone, watched = (
        LinearClassifier(solver=solver, tol=1e-5, max_seconds=20, **each).fit(X, y) for each in ({}, options)
    )
    np.testing.assert_array_equal(alone.coef_, watched.coef_)
    np.testing.assert_array_equal(alone.dual_, watched.dual_)
    assert replace(alone.certificate_, seconds=0.0) == replace(watched.certificate_, seconds=0.0)


# ---- Ctrl-C ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to one process on Windows")
@pytest.mark.parametrize("solver", ["dual_cd", "lbfgs"])
def test_ctrl_c_gives_the_best_model_so_far(solver):
    """SIGINT during a long fit ends it with a model whose certificate says that it was interrupted."""
    program = f"""
        import sys, warnings
        import numpy as np, scipy.sparse as sp
        from lineal import LinearClassifier
        from lineal.objective import L2
        warnings.simplefilter("ignore")
        rng = np.random.default_rng(0)
        X = sp.random_array((20000, 20000), density=0.005, rng=rng, format="csr")
        y = rng.integers(0, 2, 20000)
        told = []
        def tell(point):
            if not told:
                told.append(print("running", flush=True))
        model = LinearClassifier(penalty=L2(1e-6), solver={solver!r}, tol=1e-15, max_seconds=60)
        model.set_params(callbacks=[tell])
        model.fit(X, y)
        c = model.certificate_
        print(c.converged, c.dual <= c.primal, bool(np.isfinite(model.coef_).all()), c.reason)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "running\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=50)
    finally:
        process.kill()
    assert process.returncode == 0, err[-1000:]
    assert out.startswith("False True True interrupted")


def test_a_signal_in_this_process_interrupts_and_the_handler_comes_back():
    """A SIGINT that arrives in an epoch ends the fit there; afterwards Ctrl-C raises as usual."""
    X, y = words(500, 300)

    def interrupt(point):
        if point.epoch == 2:
            signal.raise_signal(signal.SIGINT)

    model = LinearClassifier(solver="lbfgs", tol=1e-14, callbacks=[interrupt])
    with pytest.warns(NotCertifiedWarning, match="interrupted"):
        model.fit(X, y)
    assert model.certificate_.epochs <= 3
    assert "interrupted" in model.certificate_.reason
    assert model.certificate_.dual <= model.certificate_.primal
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@contextmanager
def signal_after(seconds, handler):
    """While open, a handler runs after so many seconds, wherever the program is."""
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Endless(Solver):
    """Weights near the optimum, then an epoch without an end."""

    name = "endless"

    def refusal(self, problem):
        return None

    def iterates(self, problem, start, tol, seed):
        W = np.full((problem.X.n_columns, problem.n_outputs), 0.4)
        yield Iterate(lambda: (W, np.zeros(problem.n_outputs)), expected_gap=np.inf)
        while True:
            time.sleep(1e-3)


@pytest.mark.skipif(sys.platform == "win32", reason="needs timers that send signals")
def test_ctrl_c_breaks_off_an_epoch():
    """The epoch in progress is not awaited: the iterate before it comes back, certified."""
    problem = stated(np.eye(4), np.ones(4), Squared(), L2(1.0), Intercept.NONE)
    with signal_after(0.1, lambda number, frame: signal.raise_signal(signal.SIGINT)):
        solution = minimise(problem, [Endless()], tol=1e-9, budget=Budget(max_seconds=60))
    assert "interrupted" in solution.certificate.reason
    assert solution.certificate.gap <= 0.1
    np.testing.assert_array_equal(solution.W, 0.4)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


class AlarmError(Exception):
    pass


def alarm(number, frame):
    raise AlarmError


def long_sweeps():
    """Coordinate descent on a model whose tolerance is out of reach: days of sweeps."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 600))
    gradient, w = rng.normal(size=600), np.zeros(600)
    _core.gram_cd(X.T @ X, np.full(600, 1e-3), np.zeros(600), gradient, w, 0.0, 10**12)


def long_column_sweeps():
    """The same on columns."""
    rng = np.random.default_rng(0)
    columns = native_csr(sp.csr_array(rng.normal(size=(600, 300))), 1)
    h = np.ones(300)
    curvature = columns.matrix.squared_norms(1)
    residual, w = rng.normal(size=300), np.zeros(600)
    l1, l2 = np.full(600, 1e-3), np.zeros(600)
    _core.column_cd(columns.matrix, h, False, l1, l2, curvature, residual, w, 0.0, 0.0, 10**12)


@pytest.mark.skipif(sys.platform == "win32", reason="needs timers that send signals")
@pytest.mark.parametrize("loop", [long_sweeps, long_column_sweeps], ids=["gram_cd", "column_cd"])
def test_signals_end_native_loops(loop):
    """What a signal handler raises comes out of a native loop that would run for days."""
    with signal_after(0.1, alarm), pytest.raises(AlarmError):
        loop()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs timers that send signals")
@pytest.mark.parametrize("loss", [Hinge(), Log()], ids=repr)
def test_ctrl_c_breaks_off_a_native_epoch(loss):
    """Many classes take long epochs; the model comes back from inside it, threads joined."""
    rng = np.random.default_rng(0)
    X = sp.random_array((10000, 5000), density=0.02, rng=rng, format="csr")
    y = rng.integers(0, 300, 10000)
    model = LinearClassifier(loss=loss, penalty=L2(1.0), solver="dual_cd", tol=1e-9, n_threads=2)
    with (
        signal_after(0.5, lambda number, frame: signal.raise_signal(signal.SIGINT)),
        pytest.warns(NotCertifiedWarning, match="interrupted"),
    ):
        model.fit(X, y)
    assert model.certificate_.epochs <= 5
    assert model.certificate_.dual <= model.certificate_.primal


def test_a_handler_of_the_callers_own_is_left_alone():
    """A program with its own SIGINT handler keeps it during and after the fit."""
    calls = []

    def handler(number, frame):
        calls.append(number)

    before = signal.signal(signal.SIGINT, handler)
    try:
        X, y = words(300, 200)
        LinearClassifier(solver="lbfgs", callbacks=[lambda p: signal.raise_signal(signal.SIGINT)]).fit(X, y)
        assert signal.getsignal(signal.SIGINT) is handler
        assert calls
    finally:
        signal.signal(signal.SIGINT, before)


# ---- progress -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [LinearClassifier, LinearRegressor], ids=named)
def test_progress_is_silent_off_a_terminal(kind, capfd):
    """progress=True writes nothing to a stderr that is no terminal, nothing to stdout, and changes no bit."""
    X, y = data_for(kind)
    model = kind(progress=True, solver="lbfgs").fit(X, y)
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")
    plain = kind(solver="lbfgs").fit(X, y)
    assert model.certificate_.primal == plain.certificate_.primal
    np.testing.assert_array_equal(model.coef_, plain.coef_)


# ---- warm start -----------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["dual_cd", "lbfgs", "newton"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_warm_refit_takes_fewer_epochs(solver, n_classes):
    """Fitted again on the same data, a warm start needs fewer epochs and certifies the same optimum."""
    X, y = words(300, 200, n_classes)
    model = LinearClassifier(penalty=L2(0.1), solver=solver, tol=1e-6, warm_start=True).fit(X, y)
    cold = model.certificate_
    warm = model.fit(X, y).certificate_
    assert warm.epochs < cold.epochs
    assert warm.converged
    assert warm.primal == pytest.approx(cold.primal, rel=2e-6)


def test_a_warm_l1_refit_takes_no_more_epochs():
    """The same under L1, where working sets start from the last support."""
    X, y = words(300, 200)
    model = LinearClassifier(penalty=L1(0.3), tol=1e-6, warm_start=True).fit(X, y)
    cold = model.certificate_
    warm = model.fit(X, y).certificate_
    assert warm.epochs <= cold.epochs
    assert warm.converged


def test_a_warm_start_along_a_path():
    """A change of strength is a good start too: the path's certificates all hold."""
    X, y = words(300, 200)
    model = LogisticRegression(warm_start=True, tol=1e-6)
    for C in (0.1, 1.0, 10.0):
        model.set_params(C=C).fit(X, y)
        cold = LogisticRegression(C=C, tol=1e-6).fit(X, y)
        assert model.certificate_.converged
        assert model.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=2e-6)


def test_a_warm_start_survives_other_data():
    """Other shapes, other labels, other rows: a warm start that does not fit is left aside."""
    X, y = words(300, 200)
    model = LinearClassifier(warm_start=True).fit(X, y)
    model.fit(X[:100], y[:100])
    assert model.certificate_.converged
    model.fit(X[:, :50], y)
    assert model.coef_.shape == (1, 50)
    assert model.certificate_.converged
    model.fit(X, words(300, 200, 3)[1])
    assert model.coef_.shape == (3, 200)
    assert model.certificate_.converged


# ---- the same bits --------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["auto", "dual_cd", "lbfgs", "newton"])
@pytest.mark.parametrize("seed", [None, 0, 7])
def test_the_same_seed_gives_the_same_bits(solver, seed):
    """Two fits with one seed, or with none, are one model."""
    X, y = words(300, 200)
    fits = [LinearClassifier(solver=solver, random_state=seed).fit(X, y) for _ in range(2)]
    assert same_model(*fits)


def test_generators_are_seeds():
    """Generators of NumPy, old and new, are accepted; equal ones give equal models."""
    X, y = words(300, 200)
    for make in (np.random.RandomState, np.random.default_rng):
        fits = [LinearClassifier(solver="dual_cd", random_state=make(3)).fit(X, y) for _ in range(2)]
        assert same_model(*fits)


def test_another_seed_is_another_order_and_the_same_optimum():
    """Seeds order the rows of coordinate descent, so bits differ and objectives do not."""
    X, y = words(300, 200)
    a, b = (LinearClassifier(solver="dual_cd", random_state=seed, tol=1e-6).fit(X, y) for seed in (1, 2))
    assert not np.array_equal(a.coef_, b.coef_)
    assert a.certificate_.primal == pytest.approx(b.certificate_.primal, rel=2e-6)


@pytest.mark.parametrize("layout", ["sparse", "dense"])
@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("penalty", [L2(1.0), L1(1.0), ElasticNetPenalty(0.5, 0.5)], ids=repr)
@pytest.mark.parametrize("loss", [Log(), SquaredHinge()], ids=repr)
def test_threads_change_no_bit_of_a_classifier(loss, penalty, n_classes, layout):
    """n_threads=1, 2 and 3 give the same bits of weights, intercepts and certificate."""
    X, y = words(1000, 200, n_classes)
    X = X.toarray()[:, :15] * 5 if layout == "dense" else X
    _same_with_any_threads(LinearClassifier(loss=loss, penalty=penalty, max_seconds=10), X, y)


@pytest.mark.parametrize("solver", ["dual_cd", "lbfgs", "newton"])
def test_threads_change_no_bit_of_a_solver(solver):
    """The same, solver by solver."""
    X, y = words(1000, 200)
    _same_with_any_threads(LinearClassifier(solver=solver), X, y)


@pytest.mark.parametrize("layout", ["sparse", "dense"])
@pytest.mark.parametrize("penalty", [L2(1.0), L1(1.0)], ids=repr)
@pytest.mark.parametrize("loss", [Squared(), Absolute()], ids=repr)
def test_threads_change_no_bit_of_a_regressor(loss, penalty, layout):
    """The same for regression."""
    X, _ = words(300, 30)
    X = X.toarray() if layout == "dense" else X
    y = X @ np.random.default_rng(1).normal(size=30) + 0.1 * np.random.default_rng(2).normal(size=300)
    _same_with_any_threads(LinearRegressor(loss=loss, penalty=penalty, tol=1e-3), X, y)


def _same_with_any_threads(model, X, y):
    fits = [type(model)(**{**model.get_params(), "n_threads": n}).fit(X, y) for n in (1, 2, 3)]
    for other in fits[1:]:
        np.testing.assert_array_equal(other.coef_, fits[0].coef_)
        np.testing.assert_array_equal(other.intercept_, fits[0].intercept_)
        assert other.certificate_.primal == fits[0].certificate_.primal
        assert other.certificate_.dual == fits[0].certificate_.dual
        assert other.certificate_.epochs == fits[0].certificate_.epochs


def test_a_fit_off_the_main_thread():
    """A fit in a worker thread works: only the main thread can listen for Ctrl-C."""
    from concurrent.futures import ThreadPoolExecutor

    X = features()
    with ThreadPoolExecutor(2) as pool:
        fits = list(pool.map(lambda _: LinearClassifier().fit(X, labels(X)), range(4)))
    assert all(same_model(fit, fits[0]) for fit in fits)


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("loss", [Log(), SquaredHinge()], ids=repr)
def test_a_weak_l1_penalty_is_certified(loss, n_classes):
    """A penalty so weak that most weights stay is still certified, in seconds, not called a floor."""
    X, y = words(300, 200, n_classes)
    model = LinearClassifier(loss=loss, penalty=L1(0.01), tol=1e-4, max_seconds=5).fit(X, y)
    assert model.certificate_.converged


def test_quantile_certificate_is_reached_on_an_even_number_of_rows():
    """A median that is not unique is still certified."""
    X = features(60)
    model = QuantileRegressor(max_seconds=5).fit(X, numbers(X))
    assert model.certificate_.converged


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()])
def test_a_slow_dual_run_around_kinks_is_not_given_away(loss):
    """Rows that nearly repeat each other make dual ascent slow, and newton would be far slower.

    Steps from the inside are few: where the system is small enough they stand behind it.
    """
    rng = np.random.default_rng(0)
    kinds = sp.random(40, 2000, density=0.05, random_state=rng, format="csr")
    X = kinds[rng.integers(0, 40, 200)] + 0.2 * sp.random(200, 2000, density=0.02, random_state=rng)
    model = LinearClassifier(loss=loss, penalty=L2(0.01)).fit(X.tocsr(), rng.integers(0, 4, 200))
    assert model.certificate_.converged
    assert model.certificate_.solver in ("dual_cd", "dual_cd+interior")
    assert model.certificate_.epochs > 150, "too easy to show anything"
