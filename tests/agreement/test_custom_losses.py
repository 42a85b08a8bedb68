"""A custom loss is fitted as its twin in the library is, by every solver that takes it; compiled too."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy import LowLevelCallable

from custom_losses import CustomLog, DistanceWeighted, Poisson, Restated, targets_for
from lineal import LinearClassifier, LinearRegressor, verify
from lineal.objective import L1, L2, CompiledLoss, Hinge, Huber, Log, Quantile, SquaredHinge
from lineal.objective.loss_sums import NativeRowLosses
from lineal.objective.problem import Intercept, Problem
from lineal.solvers import minimise, plan
from strategies import every_solver, first_order, named, sample, seeds, stated

LOG = Restated(Log())
SLOW = {solver.name for solver in first_order()}
# Gradient methods meet each layout and each number of outputs once, not all four pairs.
CASES = [
    (solver, penalty, kind, is_sparse)
    for solver in every_solver()
    for penalty in (L2(1.0), L1(2.0))
    for kind in ("binary", "classes")
    for is_sparse in (False, True)
    if solver.refusal(stated(*sample("binary", 0), LOG, penalty)) is None
    and (solver.name not in SLOW or is_sparse == (kind == "classes"))
]


@pytest.mark.parametrize(("solver", "penalty", "kind", "is_sparse"), CASES)
def test_every_solver_finds_the_same_minimum(solver, penalty, kind, is_sparse):
    """The restated logistic loss has the optimum of Log, within the tolerance that both certify."""
    X, y = sample(kind, 3)
    X = sp.csr_array(X * (np.abs(X) > 0.3)) if is_sparse else X
    tol = 2e-2 if solver.name == "sgd" else 1e-3 if solver.name in SLOW else 1e-8
    custom, own = (stated(X, y, loss, penalty) for loss in (LOG, Log()))
    found = minimise(custom, [solver], tol=tol).certificate
    best = minimise(own, plan(own).solvers, tol=1e-10).certificate.primal
    assert found.converged, found
    # The dual is a true lower bound, whatever the tolerance: rounding alone may lift it above the optimum.
    assert found.dual <= best * (1 + 1e-12)
    assert best * (1 - 1e-9) <= found.primal <= best * (1 + tol)


@pytest.mark.parametrize("loss", [Hinge(), Quantile(0.3)], ids=named)
def test_kinks_are_smoothed_like_the_library_s(loss):
    """With kinks the same optimum is certified, by way of the numerical envelope."""
    X, y = sample("binary" if loss.is_margin else "regression", 1, n=25, d=2)
    model = LinearClassifier if loss.is_margin else LinearRegressor
    own = model(loss=loss, tol=1e-8).fit(X, y).certificate_
    custom = model(loss=Restated(loss), tol=1e-3, solver="lbfgs").fit(X, y)
    assert custom.certificate_.converged
    assert custom.certificate_.dual <= own.primal * (1 + 1e-9)
    assert custom.certificate_.primal <= own.primal * (1 + 1e-3)
    assert verify(custom, X, y).converged


@pytest.mark.parametrize("loss", [DistanceWeighted(), Poisson()], ids=named)
@pytest.mark.parametrize("penalty", [L2(0.5), L1(1.0)], ids=named)
@pytest.mark.parametrize("intercept", list(Intercept), ids=lambda intercept: intercept.value)
def test_losses_that_the_library_lacks(loss, penalty, intercept):
    """Tails that die away and slopes that overflow: the plan's solver certifies eight digits."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 4))
    y = (
        rng.poisson(np.exp(0.5 * X[:, 0]))
        if isinstance(loss, Poisson)
        else (X[:, 0] + rng.normal(size=60) > 0)
    )
    options = {
        "fit_intercept": intercept is not Intercept.NONE,
        "penalize_intercept": intercept is Intercept.PENALIZED,
    }
    model = LinearRegressor if isinstance(loss, Poisson) else LinearClassifier
    fitted = model(loss=loss, penalty=penalty, tol=1e-8, **options).fit(X, y)
    assert fitted.certificate_.converged, fitted.certificate_
    assert verify(fitted, X, y, use_dual=False).converged


# ---- compiled -----------------------------------------------------------------------------------

SOURCE = """
#include <math.h>
double log_value(double y, double z) {
  double m = y * z;
  return (m < 0 ? -m : 0.0) + log1p(exp(-fabs(m)));
}
double log_slope(double y, double z) { return -y / (1.0 + exp(y * z)); }
double log_bend(double y, double z) {
  double e = exp(-fabs(z));
  return e / ((1.0 + e) * (1.0 + e));
}
double poisson_value(double y, double z) { return exp(z) - y * z; }
double poisson_slope(double y, double z) { return exp(z) - y; }
double huber_value(double y, double z, void *delta) {
  double r = fabs(z - y), d = *(double *)delta;
  return r <= d ? r * r / 2 : d * (r - d / 2);
}
double huber_slope(double y, double z, void *delta) {
  double r = z - y, d = *(double *)delta;
  return r < -d ? -d : r > d ? d : r;
}
double hinge_value(double y, double z) { return y * z < 1 ? 1 - y * z : 0.0; }
double hinge_slope(double y, double z) { return y * z < 1 ? -y : 0.0; }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The functions above in a shared object, compiled by the system's compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler (cc, gcc, clang) on the path, so there is nothing compiled to test")
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "losses.c").write_text(SOURCE)
    target = folder / "losses.so"
    command = [compiler, "-O2", "-fPIC", "-shared", str(folder / "losses.c"), "-o", str(target), "-lm"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(target))


def function(library, name, n_data=0):
    made = library[name]
    made.restype = ctypes.c_double
    made.argtypes = (ctypes.c_double, ctypes.c_double, *[ctypes.c_void_p] * n_data)
    return made


@pytest.fixture(scope="module")
def compiled(library):
    """Each compiled loss beside its twin in Python."""
    delta = ctypes.c_double(0.7)
    data = ctypes.cast(ctypes.pointer(delta), ctypes.c_void_p)
    log = [function(library, f"log_{part}") for part in ("value", "slope", "bend")]
    huber = [LowLevelCallable(function(library, f"huber_{part}", 1), data) for part in ("value", "slope")]
    poisson = [LowLevelCallable(function(library, f"poisson_{part}")) for part in ("value", "slope")]
    return {
        "log": (CompiledLoss(*log, curvature=0.25, is_margin=True), LOG),
        "huber": (CompiledLoss(*huber), Restated(Huber(0.7))),
        "poisson": (CompiledLoss(*poisson), Poisson()),
    }


@pytest.mark.parametrize("name", ["log", "huber", "poisson"])
@given(seed=seeds(), K=st.integers(1, 3), t=st.floats(0, 2))
def test_compiled_equals_python(compiled, name, seed, K, t):
    """Sums, slopes, curvatures, lines, conjugates and residuals of the core are those of the NumPy twin."""
    loss, twin = compiled[name]
    rng = np.random.default_rng(seed)
    y = targets_for(twin, rng, (40, K))
    problem = stated(rng.normal(size=(40, 2)), np.zeros((40, K)), Poisson(), L2(1.0), Intercept.NONE)
    s = rng.random(40) * (rng.random(40) < 0.8)
    plain, native = (
        Problem.of_rows(problem.X, y, s, each, problem.penalty, problem.intercept, K) for each in (twin, loss)
    )
    native = native.in_core()
    assert isinstance(native.losses, NativeRowLosses)
    Z, M = rng.uniform(-5, 5, (40, K)), rng.normal(size=(40, K))
    U = twin.derivative(y, rng.uniform(-5, 5, (40, K))) * rng.random((40, K))
    U = np.clip(U, *plain.losses.domain)
    np.testing.assert_allclose(native.losses.slopes(Z), plain.losses.slopes(Z), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(native.losses.curvatures(Z), plain.losses.curvatures(Z), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(loss.value(y, Z), twin.value(y, Z), rtol=1e-13, atol=1e-14)
    assert native.losses.value(Z) == pytest.approx(plain.losses.value(Z), rel=1e-13, abs=1e-12)
    assert native.losses.conjugate(U) == pytest.approx(plain.losses.conjugate(U), rel=1e-12, abs=1e-11)
    assert native.losses.worst(Z, U) == pytest.approx(plain.losses.worst(Z, U), rel=1e-11, abs=1e-11)
    assert native.losses.along(Z, M, t) == pytest.approx(plain.losses.along(Z, M, t), rel=1e-6, abs=1e-6)
    for end in (-np.inf, np.inf):
        outside = np.full_like(U, end)
        assert native.losses.conjugate(outside) == plain.losses.conjugate(outside)


@pytest.mark.parametrize("solver", ["auto", "lbfgs", "newton", "svrg"])
def test_compiled_log_is_log(compiled, solver):
    """A compiled logistic loss is fitted to the optimum of the library's, and verified in NumPy."""
    X, y = sample("binary", 3)
    tol = 1e-4 if solver == "svrg" else 1e-9
    loss, _ = compiled["log"]
    model = LinearClassifier(loss=loss, solver=solver, tol=tol).fit(X, y)
    own = LinearClassifier(tol=1e-10).fit(X, y)
    assert model.certificate_.converged
    assert own.certificate_.dual * (1 - 1e-9) <= model.certificate_.primal
    assert model.certificate_.primal <= own.certificate_.primal * (1 + tol)
    assert verify(model, X, y).converged
    if solver == "auto":
        np.testing.assert_allclose(model.coef_, own.coef_, atol=1e-4)


def test_threads_change_no_bit(compiled):
    """The functions are called from several threads; the model is the same."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70_000, 3))
    y = rng.poisson(np.exp(0.3 * X[:, 0]))
    loss, _ = compiled["poisson"]
    one, two = (LinearRegressor(loss=loss, solver="lbfgs", n_threads=k).fit(X, y) for k in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert one.certificate_.dual == two.certificate_.dual


def test_compiled_kinks_are_smoothed_in_python(library):
    """A compiled hinge is certified too."""
    hinge = CompiledLoss(
        function(library, "hinge_value"), function(library, "hinge_slope"), has_kinks=True, is_margin=True
    )
    X, y = sample("binary", 1, n=25, d=2)
    model = LinearClassifier(loss=hinge, tol=1e-2).fit(X, y)
    best = LinearClassifier(loss=Hinge(), tol=1e-8).fit(X, y).certificate_.primal
    assert model.certificate_.converged
    assert model.certificate_.dual <= best * (1 + 1e-9)
    assert model.certificate_.primal <= best * 1.01


def test_numba_functions():
    """A numba cfunc is taken as it is."""
    numba = pytest.importorskip("numba", reason="numba is not installed; its cfuncs go untested here")

    @numba.cfunc("double(double, double)")
    def value(y, z):
        return max(0.0, 1 - y * z) ** 2

    @numba.cfunc("double(double, double)")
    def derivative(y, z):
        return -2 * y * max(0.0, 1 - y * z)

    X, y = sample("binary", 3)
    model = LinearClassifier(loss=CompiledLoss(value, derivative), tol=1e-8).fit(X, y)
    own = LinearClassifier(loss=SquaredHinge(), tol=1e-8).fit(X, y)
    assert model.certificate_.primal == pytest.approx(own.certificate_.primal, rel=1e-7)


def test_python_custom_log_in_a_classifier():
    """The user's class, with no attribute but the two methods, in the learner: two and more classes."""
    for kind in ("binary", "classes"):
        X, y = sample(kind, 3)
        model = LinearClassifier(loss=CustomLog(), tol=1e-8).fit(X, y)
        assert model.certificate_.converged
        assert model.coef_.shape == ((1 if kind == "binary" else 5), X.shape[1])
        assert not hasattr(model, "predict_proba")
        assert verify(model, X, y).converged
