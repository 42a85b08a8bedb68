"""Whatever ends a long fit, from wherever: it ends soon, and what it returns is honest."""

import os
import signal
import sys
import threading
import time
from contextlib import contextmanager, suppress

import numpy as np
import pytest
import scipy.sparse as sp

import lineal
from contract.long_fits import LONG_FITS, points, texts
from lineal import (
    SVC,
    SVR,
    CancellationToken,
    KernelRidge,
    LinearClassifier,
    LinearRegressor,
    NuSVR,
    OneClassSVM,
    OnlineClassifier,
    Ridge,
    _core,
    cancellation,
)
from lineal.cancellation import (
    BrokenOff,
    break_off_if_over,
    cancellable,
    current_token,
    following,
    is_over,
    raise_if_over,
    shielded,
    unless_over,
)
from lineal.errors import CancelledError, InputError, NotCertifiedWarning
from lineal.objective import L2, Hinge, Log, Squared, Stop
from lineal.objective.linear_maps import native_csr, native_dense
from lineal.objective.problem import Intercept
from lineal.solvers import kernel_ridge
from lineal.solvers.base import Start
from lineal.solvers.catalogue import SOLVERS
from lineal.solvers.driver import Budget, minimise
from lineal.solvers.kernel_dual import KernelMachine, machine
from strategies import every_solver, small, stated, takes

pytestmark = [
    pytest.mark.filterwarnings("ignore::lineal.errors.NotCertifiedWarning"),
    pytest.mark.filterwarnings("ignore::lineal.errors.PrecisionWarning"),
]
needs_timers = pytest.mark.skipif(sys.platform == "win32", reason="needs timers that send signals")

# A fit is ended after so long, and must be back so soon after that: the machine may be busy, and a pass, a
# block of a kernel machine and the certificate are awaited.
SOON, PATIENCE = 0.3, 8.0


@pytest.fixture(autouse=True)
def nothing_left_behind():
    """No token stays in force, and Ctrl-C is Python's own again."""
    yield
    assert current_token() is None
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@contextmanager
def cancelled_after(seconds):
    """A token in force, which another thread cancels."""
    token = CancellationToken()
    timer = threading.Timer(seconds, token.cancel)
    timer.start()
    try:
        with token:
            yield token
    finally:
        timer.cancel()


@contextmanager
def ctrl_c_after(seconds):
    """While open, Ctrl-C is pressed once, after so many seconds."""
    before = signal.signal(signal.SIGALRM, lambda number, frame: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def honest(model, stop=Stop.CANCELLED, reason="interrupted"):
    """The certificate is a true bound, and says why the fit was ended."""
    certificate = model.certificate_
    assert certificate.dual <= certificate.primal * (1 + 1e-12)
    if hasattr(model, "stopped_"):  # a search, whose last machine may have been certified in time
        assert reason in model.stopped_
    else:
        assert certificate.stop is stop
        assert not certificate.converged
        assert reason in certificate.reason


# ---- long fits of every kind ------------------------------------------------------------------------


@pytest.mark.parametrize("fit", LONG_FITS, ids=repr)
def test_another_thread_ends_a_fit(fit):
    """It comes back soon after the cancel, with a model that says so; or with what was done, or an error."""
    with cancelled_after(SOON) as token:
        began = time.perf_counter()
        try:
            found = fit.run()
        except CancelledError:
            assert not fit.has_model
            found = None
        took = time.perf_counter() - began
    assert token.is_cancelled, "too fast to show anything"
    assert took < SOON + PATIENCE
    if fit.has_model:
        honest(found)


@needs_timers
@pytest.mark.parametrize("fit", LONG_FITS, ids=repr)
def test_ctrl_c_ends_a_fit(fit):
    """The same by Ctrl-C; where there is no result, it raises as usual."""
    with CancellationToken(seconds=0.0), suppress(CancelledError):
        fit.run()  # the data are made
    with ctrl_c_after(SOON):
        began = time.perf_counter()
        try:
            found = fit.run()
        except KeyboardInterrupt:
            assert not fit.has_model
            found = None
        took = time.perf_counter() - began
    assert SOON <= took < SOON + PATIENCE
    if fit.has_model:
        honest(found)


@pytest.mark.parametrize("fit", [fit for fit in LONG_FITS if fit.has_seconds and fit.has_model], ids=repr)
def test_max_seconds_ends_a_fit(fit):
    """The certificate says which budget it was, and is true."""
    began = time.perf_counter()
    model = fit.run(max_seconds=0.05)
    assert time.perf_counter() - began < PATIENCE
    honest(model, Stop.SECONDS, "max_seconds=")


@pytest.mark.parametrize("fit", [fit for fit in LONG_FITS if fit.has_callbacks], ids=repr)
def test_an_error_in_a_callback_comes_out_as_it_is(fit):
    """Also from threads of a pool; nothing stays in force (see the fixture)."""

    class OfTheCallerError(Exception):
        pass

    def fail(event):
        raise OfTheCallerError

    # A search records what settings fail with, and refuses if all of them do.
    with pytest.raises((OfTheCallerError, InputError)) as raised:
        fit.run(callbacks=[fail])
    assert raised.type is OfTheCallerError or "OfTheCallerError" in str(raised.value)


@pytest.mark.parametrize("fit", LONG_FITS, ids=repr)
def test_a_token_that_is_over_lets_nothing_begin(fit):
    """What is called under it returns at once: the start, certified, or CancelledError."""
    token = CancellationToken()
    token.cancel()
    began = time.perf_counter()
    with token:
        try:
            found = fit.run()
        except CancelledError:
            found = None
    assert time.perf_counter() - began < PATIENCE
    if found is not None and fit.has_model:
        honest(found)


# ---- solvers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", every_solver(), ids=lambda solver: solver.name)
def test_no_seconds_give_the_start_with_its_certificate(solver):
    """A budget of 0 seconds: the weights are those of the start, and the bound under them is true."""
    for loss in (Log(), Squared()):
        problem = small(loss, L2(0.1), Intercept.FREE, solver=solver)
        if not takes(solver, problem):
            continue
        for start in (None, Start(np.full(problem.weight_shape, 0.1), np.zeros(problem.n_outputs))):
            found = minimise(problem, [solver], tol=1e-6, budget=Budget(max_seconds=0.0), start=start)
            np.testing.assert_array_equal(found.W, 0.0 if start is None else 0.1)
            best = minimise(problem, [SOLVERS["newton"]()], tol=1e-9).certificate
            assert found.certificate.stop is Stop.SECONDS
            assert found.certificate.epochs == 0
            assert found.certificate.dual <= best.primal <= found.certificate.primal


def test_a_start_that_is_good_enough_needs_no_time():
    """A budget of 0 seconds from the optimum: certified."""
    problem = small(Log(), L2(0.1), Intercept.FREE)
    best = minimise(problem, [SOLVERS["newton"]()], tol=1e-9)
    found = minimise(
        problem, [SOLVERS["newton"]()], tol=1e-6, budget=Budget(max_seconds=0.0), start=Start(best.W, best.b)
    )
    assert found.certificate.stop is Stop.CERTIFIED
    assert found.certificate.converged


def test_a_native_epoch_is_cut_at_the_deadline_and_is_an_iterate():
    """A tenth of the time that an epoch and its proof take: the epoch is short, its rows count."""
    X, y = texts(8000, 4000, 400)
    model = LinearClassifier(loss=Hinge(), penalty=L2(1.0), solver="dual_cd", tol=1e-9, n_threads=2)
    with pytest.warns(NotCertifiedWarning):
        whole = model.set_params(max_epochs=1).fit(X, y).certificate_
    with pytest.warns(NotCertifiedWarning):
        model.set_params(max_epochs=None, max_seconds=whole.seconds / 10).fit(X, y)
    assert model.certificate_.epochs == 1
    assert model.certificate_.primal < float(len(y)) * 400  # better than the start, where every hinge costs 1
    assert np.any(model.coef_ != 0)


def test_least_squares_are_left_between_two_calls_of_lapack():
    """closed_form looks after the Gram matrix and before each factorisation; it then leaves its start."""
    X, _ = points(500, 20)
    problem = stated(X, X[:, 0], Squared(), L2(1.0))
    token = CancellationToken()
    token.cancel()
    with token:
        found = minimise(problem, [SOLVERS["closed_form"]()], tol=1e-6)
        assert found.certificate.stop is Stop.CANCELLED
        with pytest.raises(CancelledError):
            KernelRidge().fit(X, X[:, 0])
        assert Ridge().fit(X, X[:, 0]).certificate_.stop is Stop.CANCELLED


def long_sweeps():
    """Days of coordinate descent on a Gram matrix."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 600))
    gradient, w = rng.normal(size=600), np.zeros(600)
    _core.gram_cd(X.T @ X, np.full(600, 1e-3), np.zeros(600), gradient, w, 0.0, 10**12)


def long_column_sweeps():
    """The same on columns."""
    rng = np.random.default_rng(0)
    columns = native_csr(sp.csr_array(rng.normal(size=(600, 300))), 1)
    curvature, residual, w = columns.matrix.squared_norms(1), rng.normal(size=300), np.zeros(600)
    l1, l2 = np.full(600, 1e-3), np.zeros(600)
    _core.column_cd(columns.matrix, np.ones(300), False, l1, l2, curvature, residual, w, 0.0, 0.0, 10**12)


@pytest.mark.parametrize("where", ["main", "worker"])
@pytest.mark.parametrize("loop", [long_sweeps, long_column_sweeps], ids=["gram_cd", "column_cd"])
def test_native_loops_end_with_their_token(loop, where):
    """A loop of days returns when its token is over, whichever thread it runs on."""
    token = CancellationToken(seconds=0.1)
    began = time.perf_counter()
    if where == "main":
        with token:
            loop()
    else:
        thread = threading.Thread(target=token.apply, args=[loop])
        thread.start()
        thread.join()
    assert 0.1 <= time.perf_counter() - began < PATIENCE


def test_a_pass_is_whole_or_given_up():
    """Under a token that is over, a pass goes on to its end; in a solver it is given up, never half done."""
    X = np.random.default_rng(0).normal(size=(400, 30))
    kernel, token = lineal.kernels.Laplacian(gamma=0.3), CancellationToken()
    whole = kernel.compute(X, None, 2)
    token.cancel()
    with token:
        np.testing.assert_array_equal(kernel.compute(X, None, 2), whole)

    def solver():
        inner.cancel()
        yield kernel.compute(np.tile(X, (4, 1)), None, 2)

    inner = CancellationToken()
    assert following(solver(), inner) is None


def test_a_block_that_is_given_up_leaves_the_machine_as_it_was():
    """A block of a kernel machine, F anew and its correction: each is done, or coefficients and F stay."""
    X, y = points(6000, 4)
    signs, n = 2.0 * y - 1, len(y)
    rows, zeros = np.arange(n), np.zeros(n)
    values = _core.KernelValues.from_rows(native_dense(X, 2).matrix, "gaussian", 2.0)
    made = _core.KernelDual.make(
        values, rows, rows, np.zeros(n, dtype=np.int32), signs, np.minimum(signs, 0), np.maximum(signs, 0),
        zeros, 1024,
    )  # fmt: skip
    made.step(0.1, 1000, 2)
    before = made.beta, made.F, made.n_values
    calls = [lambda: made.step(0.1, 1000, 2), lambda: made.refresh(True, 2), lambda: made.correct(2)]
    calls.append(lambda: made.exact_dual(2))
    for call in calls:
        token = CancellationToken()

        def solver(call=call, token=token):
            token.cancel()
            yield call()

        assert following(solver(), token) is None
        np.testing.assert_array_equal(made.beta, before[0])
        np.testing.assert_array_equal(made.F, before[1])
        assert made.n_values == before[2]  # no work is counted that was thrown away
    assert made.step(0.1, 1000, 2)[2] > 0


@pytest.mark.parametrize("limit", [machine._AFTER_THE_END, 0.0], ids=["in float64", "at once"])
def test_a_machine_that_is_cancelled_in_a_block_says_what_it_had(limit, monkeypatch):
    """The block in which the token ends is thrown away; what comes back is true, and no worse than 0."""
    monkeypatch.setattr(machine, "_AFTER_THE_END", limit)
    X, y = points(6000, 4)
    token, moved, step = CancellationToken(), [], KernelMachine.step

    def step_and_cancel(cut):
        if len(moved) == 2:
            token.cancel()
        moved.append(None)
        moved[-1] = step(cut)
        return moved[-1]

    monkeypatch.setattr(KernelMachine, "step", step_and_cancel)
    with token, pytest.warns(NotCertifiedWarning):
        model = SVC(C=10.0, gamma=2.0, tol=1e-9).fit(X, y)
    assert moved[1] is not None
    assert moved[2:] == [None]  # given up
    assert model.certificate_.stop is Stop.CANCELLED
    again = lineal.verify(model, X, y)
    assert again.primal <= model.certificate_.primal * (1 + 1e-9)
    assert model.certificate_.dual >= 0
    if limit:
        assert again.primal == pytest.approx(model.certificate_.primal, rel=1e-6)
        assert again.dual == pytest.approx(model.certificate_.dual, rel=1e-6)
    assert again.primal <= 2 * min(y.sum(), len(y) - y.sum())  # of the best constant


def cut_fits():
    """Machines of every kind with their data; rows with twins, and some far from 0."""
    X, y = points(300, 4)
    rng = np.random.default_rng(1)
    t = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=300)
    twice, sides = np.concatenate([X[:150], X[:150]]), np.concatenate([y[:150], 1 - y[:150]])
    apart = X[:, :2] + np.where(y == 1, 4.0, -4.0)[:, None] * np.array([1.0, 0.0])
    return {
        "svc": (SVC(C=30.0, gamma=1.0, tol=1e-7), X, y),
        "twins": (SVC(C=3.0, gamma=1.0, tol=1e-7), twice, sides),
        "linear": (SVC(C=1.0, kernel="linear", tol=1e-7), X, y),
        "linear, far": (SVC(C=1.0, kernel="linear", tol=1e-7), X + 100.0, y),
        "linear, sparse": (SVC(C=1.0, kernel="linear", tol=1e-7), sp.csr_array(X), y),
        "poly": (SVC(C=0.1, kernel="poly", degree=2, tol=1e-6), X, y),
        "gram": (SVC(C=3.0, kernel="laplacian", gamma=0.3, tol=1e-7), X, y),
        "hard": (SVC(C=np.inf, gamma=0.5, tol=1e-5), apart, y),
        "rest": (SVC(C=3.0, gamma=1.0, tol=1e-6, multi_class="ovr"), X, rng.integers(0, 3, 300)),
        "svr": (SVR(C=3.0, gamma=1.0, tol=1e-7), X, t),
        "svr, far": (SVR(C=1.0, kernel="linear", tol=1e-7), X + 100.0, t),
        "nu": (NuSVR(C=3.0, gamma=1.0, tol=1e-7), X, t),
        "nu, linear": (NuSVR(C=1.0, kernel="linear", tol=1e-7), X, t),
        "one class": (OneClassSVM(nu=0.3, gamma=1.0, tol=1e-7), X, None),
    }


def true_of(model, X, y, best):
    """D is at most the optimum, P at least that, and no less than what the coefficients cost."""
    cut, rounding = model.certificate_, 1e-9 * abs(best.primal)
    assert cut.dual <= best.primal + rounding
    assert cut.primal >= best.dual - rounding
    assert cut.stop in (Stop.CANCELLED, Stop.CERTIFIED)
    assert cut.converged == (cut.stop is Stop.CERTIFIED)
    assert np.isfinite(model.dual_coef_).all()
    assert np.isfinite(model.intercept_).all()
    again = lineal.verify(model, X, y)
    assert again.primal <= cut.primal + 1e-7 * abs(cut.primal) + rounding


@pytest.mark.parametrize("limit", [0.0, machine._AFTER_THE_END], ids=["at once", "in float64"])
@pytest.mark.parametrize("name", list(cut_fits()))
def test_a_machine_that_is_cut_anywhere_says_what_is_true(name, limit, monkeypatch):
    """In its first F, between blocks, in a proof, after it: the finished fit and ``verify`` bear witness."""
    monkeypatch.setattr(machine, "_AFTER_THE_END", limit)
    monkeypatch.setattr(machine, "SMALLEST_BLOCK", 32)
    monkeypatch.setattr(machine, "_FEW", 32)
    learner, X, y = cut_fits()[name]
    best, seen = learner.set_params(n_threads=1).fit(X, y).certificate_, set()
    assert best.converged
    for last in (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 45):
        token, n_calls = CancellationToken(), []

        def counted(work, in_force, token=token, n_calls=n_calls, last=last):
            n_calls.append(None)
            if len(n_calls) == last:
                token.cancel()
            return unless_over(work, in_force)

        with monkeypatch.context() as patched:
            for module in (cancellation, machine):
                patched.setattr(module, "unless_over", counted)
            with token, suppress(CancelledError):  # before there were values of a kernel
                true_of(learner.fit(X, y), X, y, best)
                seen.add(learner.certificate_.stop)
        if not token.is_cancelled:
            break
    assert Stop.CANCELLED in seen


@pytest.mark.parametrize("n_threads", [1, 2])
def test_pairs_that_are_cut_anywhere_say_what_is_true(n_threads):
    """All pairs are one native call: what was not begun is told at 0, the others as they stand."""
    X, _ = points(1200, 4)
    y = np.random.default_rng(1).integers(0, 4, 1200)
    learner = SVC(C=10.0, gamma=1.0, tol=1e-6, n_threads=n_threads)
    began = time.perf_counter()
    best = learner.fit(X, y).certificate_
    took = time.perf_counter() - began
    bests = learner.certificates_
    for share in (0.0, 0.2, 0.4, 0.6, 0.8):
        with cancelled_after(share * took):
            learner.fit(X, y)
        true_of(learner, X, y, best)
        for cut, known in zip(learner.certificates_, bests, strict=True):
            assert cut.dual <= known.primal * (1 + 1e-9)
            assert cut.primal >= known.dual * (1 - 1e-9)
        with CancellationToken(seconds=0.0):
            assert learner.fit(X, y).certificate_.dual == 0
        true_of(learner, X, y, best)
    learner.set_params(max_seconds=1e-6).fit(X, y)
    assert learner.certificate_.stop is Stop.SECONDS
    assert "max_seconds=" in learner.certificate_.reason


def test_what_kernel_ridge_factorises_by_panels_is_the_same_matrix(monkeypatch):
    """Factor and diagonal of the inverse are LAPACK's, to rounding; an indefinite matrix has none."""
    rng = np.random.default_rng(0)
    V = rng.normal(size=(230, 40))
    K, shift, B = V @ V.T, rng.uniform(0.5, 1, 230), rng.normal(size=(230, 2))
    whole, found = kernel_ridge.SymmetricMatrix(K.copy()), kernel_ridge.SymmetricMatrix(K.copy())
    assert whole.factorize(shift)
    for name, value in (("_AT_ONCE", 0), ("_PANEL", 50), ("_INVERSE_PANEL", 30), ("_PIECE", 50 * 40)):
        monkeypatch.setattr(kernel_ridge, name, value)
    assert not found.factorize(-shift)
    assert found.factorize(shift)
    # Sums of 230 products are rounded by so much of what is summed, in whatever order BLAS does.
    rounding = 230 * np.finfo(float).eps * (np.abs(K) @ np.abs(B))
    assert (np.abs(found.product(B) - K @ B) <= rounding).all()
    # The condition number is below 1e3.
    np.testing.assert_allclose(found.solve(B), whole.solve(B), rtol=1e-9, atol=1e-12)
    inverse = found.inverse_diagonal()
    np.testing.assert_allclose(inverse, np.linalg.inv(K + np.diag(shift)).diagonal(), rtol=1e-9)


def test_a_factorisation_is_left_between_two_panels(monkeypatch):
    """Also that of a matrix that is to be refused if it is no kernel's: there is no result, and an error."""
    X, y = points(300, 4)
    for name, value in (("_AT_ONCE", 0), ("_PANEL", 50)):
        monkeypatch.setattr(kernel_ridge, name, value)
    looks = []
    raise_if = kernel_ridge.raise_if_over

    def cancel_and_raise():
        looks.append(None)
        if len(looks) == 4:
            token.cancel()
        raise_if()

    monkeypatch.setattr(kernel_ridge, "raise_if_over", cancel_and_raise)
    fits = [lambda: KernelRidge(kernel="rbf").fit(X, y), lambda: SVC(kernel="precomputed").fit(X @ X.T, y)]
    for fit in fits:
        token = CancellationToken()
        looks.clear()
        with token, pytest.raises(CancelledError):
            fit()
        assert len(looks) == 4


def test_a_stream_of_rows_says_that_it_was_cancelled():
    """partial_fit has no model to finish: what was met is kept, and the error says that it was not all."""
    X, y = texts()
    model = OnlineClassifier().partial_fit(X[:100], y[:100], classes=[0, 1])
    token = CancellationToken()
    token.cancel()
    with token, pytest.raises(CancelledError):
        model.partial_fit(X, y)
    model.partial_fit(X[:10], y[:10])


def test_no_ensemble_is_made_of_members_that_were_not_fitted():
    """A cancel in the first of several fits leaves no model, one by one and side by side."""
    X, y = texts(400, 300, 5)
    for n_threads in (1, 2):
        token = CancellationToken()
        inner = LinearClassifier(solver="lbfgs", callbacks=[lambda event, token=token: token.cancel()])
        with token, pytest.raises(CancelledError):
            lineal.OneVsRest(inner, n_threads=n_threads).fit(X, y)


# ---- tokens -----------------------------------------------------------------------------------------


def test_a_token_is_over_with_those_above_it():
    """Cancelled, or past a deadline; a child's end says nothing of its parent."""
    parent = CancellationToken()
    child = CancellationToken(parent=parent)
    late = CancellationToken(seconds=0.0, parent=parent)
    assert (child.is_over, late.is_over, late.is_cancelled) == (False, True, False)
    assert late.seconds_left <= 0
    assert child.seconds_left is None
    child.cancel()
    assert (child.is_cancelled, parent.is_over) == (True, False)
    parent.cancel()
    assert late.is_cancelled


def test_scopes_nest_and_end():
    """The innermost token is in force; the same one may be entered again, and by several threads."""
    outer, inner = CancellationToken(), CancellationToken()
    with outer:
        with inner, outer:
            assert current_token() is outer
        assert current_token() is outer
        with shielded():
            assert current_token() is None
        with cancellable() as token:
            assert current_token() is token
            outer.cancel()
            assert token.is_over
        seen = []
        thread = threading.Thread(target=lambda: seen.append(current_token()))
        thread.start()
        thread.join()
        assert seen == [None]
    assert current_token() is None


def test_only_a_solver_is_broken_off():
    """break_off_if_over raises where a driver catches it; raise_if_over elsewhere, too."""
    token = CancellationToken()
    token.cancel()
    with token:
        assert is_over()
        break_off_if_over()
        with pytest.raises(CancelledError):
            raise_if_over()
    raise_if_over()

    def solver():
        later.cancel()
        for check in (break_off_if_over, raise_if_over):
            with pytest.raises(BrokenOff):
                check()
        with shielded():
            raise_if_over()
        yield "an iterate"

    later = CancellationToken()
    assert following(solver(), later) == "an iterate"
    assert following(solver(), later) is None  # it is over: nothing begins


def test_one_ctrl_c_is_for_all_below_the_outermost_call():
    """The first cancels every token below; the second raises; then Python's own handler is back."""
    with cancellable() as outer, cancellable() as inner:
        signal.raise_signal(signal.SIGINT)
        assert outer.is_cancelled
        assert inner.is_cancelled
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_under_a_token_of_the_callers_ctrl_c_is_the_callers():
    """Nothing is tied to it there."""
    with CancellationToken() as token:
        with cancellable(), pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert not token.is_over


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_of_fork_still_answers_signals():
    """The thread that forks is the main one of the child, whatever it was before."""

    def forked():
        child = os.fork()
        if not child:
            status = 1
            try:
                signal.signal(signal.SIGALRM, signal.default_int_handler)
                signal.setitimer(signal.ITIMER_REAL, 0.1)
                long_sweeps()
            except KeyboardInterrupt:
                status = 0
            finally:
                os._exit(status)
        deadline = time.perf_counter() + 30
        while time.perf_counter() < deadline:
            done, code = os.waitpid(child, os.WNOHANG)
            if done:
                codes.append(os.waitstatus_to_exitcode(code))
                return
            time.sleep(0.01)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)

    codes = []
    thread = threading.Thread(target=forked)
    thread.start()
    thread.join()
    assert codes == [0]


def test_certificates_of_earlier_versions_say_what_they_can():
    """Without ``stop``: certified if they converged, and else unknown; pickles and records alike."""
    model = LinearRegressor().fit(*points(60, 3))
    kept = {**vars(model.certificate_)}
    assert kept.pop("stop") is Stop.CERTIFIED
    kind = type(model.certificate_)
    for converged, stop in ((True, Stop.CERTIFIED), (False, None)):
        old = {**kept, "converged": converged}
        assert kind.of_record(old).stop is stop
        unpickled = kind.__new__(kind)
        unpickled.__setstate__(old)
        assert unpickled.stop is stop
    assert kind.of_record({**kept, "stop": "seconds"}).stop is Stop.SECONDS
