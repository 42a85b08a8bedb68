"""Sums over losses: the core's are those of the objective, for every loss, and threads change no bit."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from lineal import LinearClassifier, verify
from lineal.objective import L2, Log
from lineal.objective.problem import Intercept, Problem
from lineal.objective.rows import NumpyRows, native_dense
from lineal.solvers.native_problem import NativeProblem, native_problem
from strategies import losses, named, seeds, target_of

NATIVE = [loss for loss in losses() if loss.native is not None]
native_loss = pytest.mark.parametrize("loss", NATIVE, ids=named)
smooth_loss = pytest.mark.parametrize("loss", [loss for loss in NATIVE if loss.is_smooth], ids=named)


def posed(loss, seed, n=50, K=1, n_threads=1, size=8.0):
    """A problem twice, in NumPy and in the core, with scores, a direction in them and feasible U."""
    rng = np.random.default_rng(seed)
    y = np.vectorize(lambda number: target_of(loss, number))(rng.normal(size=(n, K)))
    s = rng.random(n) * (rng.random(n) < 0.8)
    X = native_dense(rng.normal(size=(n, 2)), n_threads)
    plain = Problem(X, y, s, loss, L2(1.0), Intercept.NONE, K)
    Z, M = rng.uniform(-size, size, size=(n, K)), rng.normal(size=(n, K))
    U = loss.derivative(y, rng.uniform(-size, size, size=(n, K)))
    return plain, native_problem(plain), Z, M, U


@native_loss
@given(seed=seeds(), K=st.integers(1, 4))
def test_sums_equal_numpy(loss, seed, K):
    """loss_sum, slopes, conjugate_sum and worst_row agree to rounding, weights of 0 included."""
    plain, native, Z, _, U = posed(loss, seed, K=K)
    assert isinstance(native, NativeProblem)
    assert native.loss_sum(Z) == pytest.approx(plain.loss_sum(Z), rel=1e-13)
    np.testing.assert_allclose(native.slopes(Z), plain.slopes(Z), rtol=1e-14, atol=1e-300)
    # A conjugate's terms cancel: it is near in the size of its terms, not in its own.
    scale = 1 + np.abs(U).max() * (1 + np.abs(U).max() + np.abs(plain.y).max())
    assert native.conjugate_sum(U) == pytest.approx(plain.conjugate_sum(U), abs=1e-13 * len(Z) * scale)
    assert native.worst_row(Z, U) == pytest.approx(plain.worst_row(Z, U), rel=1e-12, abs=1e-13 * scale)


@smooth_loss
@given(seed=seeds(), K=st.integers(1, 4), t=st.floats(0, 3))
def test_curvatures_equal_numpy(loss, seed, K, t):
    """curvatures, and the first two derivatives along a line, agree to rounding."""
    plain, native, Z, M, _ = posed(loss, seed, K=K)
    np.testing.assert_allclose(native.curvatures(Z), plain.curvatures(Z), rtol=1e-14, atol=1e-300)
    # A score on the edge of a bend may fall to either side of it: z + t m is rounded once or twice.
    edges = np.abs(plain.curvatures(Z + t * M + 1e-12) - plain.curvatures(Z + t * M - 1e-12)) > 1e-9
    if not edges.any():
        value, slope, bend = plain.along(Z, M, t)
        scale = (plain.s[:, None] * (1 + np.abs(plain.slopes(Z + t * M)) + plain.curvatures(Z))).sum() * 20
        assert native.along(Z, M, t) == pytest.approx((value, slope, bend), rel=1e-12, abs=1e-13 * scale)


@smooth_loss
@pytest.mark.parametrize("K", [1, 3])
def test_threads_change_no_bit(loss, K):
    """Enough rows for several threads: the same bits with one and with three."""
    _, one, Z, M, U = posed(loss, 1, n=90_000 // K, K=K)
    _, many, *_ = posed(loss, 1, n=90_000 // K, K=K, n_threads=3)
    assert one.loss_sum(Z) == many.loss_sum(Z)
    assert one.conjugate_sum(U) == many.conjugate_sum(U)
    assert one.worst_row(Z, U) == many.worst_row(Z, U)
    assert one.along(Z, M, 0.7) == many.along(Z, M, 0.7)
    assert one.slopes(Z).tobytes() == many.slopes(Z).tobytes()
    assert one.curvatures(Z).tobytes() == many.curvatures(Z).tobytes()


@native_loss
def test_extreme_scores_give_no_nan(loss):
    """Scores of +-800 and +-1e300: slopes in the domain, values and curvatures that are numbers."""
    Z = np.array([[z] for z in (-1e300, -1e154, -800.0, -709.0, 0.0, 709.0, 800.0, 1e154, 1e300)])
    for sign in (-1.0, 1.0):
        y = np.full_like(Z, sign)
        X = native_dense(np.zeros((len(Z), 1)), 1)
        native = native_problem(Problem(X, y, np.ones(len(Z)), loss, L2(1.0), Intercept.NONE, 1))
        U, (low, high) = native.slopes(Z), loss.domain(y)
        assert np.all((low <= U) & (high >= U))
        with np.errstate(over="ignore"):  # a square of 1e300 is infinite, as it should be
            assert native.loss_sum(Z) == pytest.approx(float(loss.value(y, Z).sum()), rel=1e-14)
            assert not np.isnan(native.conjugate_sum(U))
        if loss.is_smooth:
            assert np.all(native.curvatures(Z) >= 0)


@native_loss
def test_outside_the_domain_a_conjugate_is_infinite(loss):
    """A bound can never come from a dual point that is not feasible."""
    plain, native, _, _, U = posed(loss, 3)
    low, high = loss.domain(plain.y)
    for beyond in (low - 1e-9, high + 1e-9):
        if np.isfinite(beyond).all():
            assert native.conjugate_sum(beyond) == plain.conjugate_sum(beyond) == np.inf
    assert np.isfinite(native.conjugate_sum(U))


def test_wrong_shapes_are_errors():
    """No pass over scores reads beyond an array of the wrong shape, and kinks have no curvature."""
    _, native, Z, M, U = posed(Log(), 0)
    for call in (
        lambda: native.loss_sum(Z[:-1]),
        lambda: native.slopes(np.hstack([Z, Z])),
        lambda: native.curvatures(Z[1:]),
        lambda: native.along(Z, M[1:], 1.0),
        lambda: native.conjugate_sum(U[1:]),
        lambda: native.worst_row(Z, U[1:]),
    ):
        with pytest.raises(ValueError, match="differ in shape"):
            call()


def test_only_native_rows_are_taken_to_the_core():
    """What verify computes stays NumPy: its rows are NumPy's, so its problem stays as it is."""
    plain, *_ = posed(Log(), 0)
    aside = Problem(NumpyRows(np.zeros((50, 2))), plain.y, plain.s, Log(), L2(1.0), Intercept.NONE, 1)
    assert native_problem(aside) is aside
    assert type(native_problem(plain).with_loss(Log())) is NativeProblem


@pytest.mark.parametrize("loss", [loss for loss in NATIVE if loss.is_margin], ids=named)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_fits_do_not_depend_on_threads_and_hold_before_numpy(loss, layout):
    """A newton fit over several shares of rows: the same bits with 1 and 2 threads; verify agrees."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(3000, 9)) * (rng.random((3000, 9)) < 0.5)
    y = X @ rng.normal(size=9) + rng.normal(size=3000) > 0.3
    fits = [LinearClassifier(loss, solver="newton", tol=1e-4, n_threads=n).fit(layout(X), y) for n in (1, 2)]
    assert fits[0].coef_.tobytes() == fits[1].coef_.tobytes()
    assert fits[0].dual_.tobytes() == fits[1].dual_.tobytes()
    assert fits[0].certificate_.converged
    checked = verify(fits[0], layout(X), y)
    assert checked.converged
    assert checked.primal == pytest.approx(fits[0].certificate_.primal, rel=1e-12)
