"""Sums over losses: the core's are those of the objective, for every loss, and threads change no bit."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from lineal import LinearClassifier, verify
from lineal.objective import L2, Log
from lineal.objective.linear_maps import NumpyRows, native_dense
from lineal.objective.loss_sums import NativeRowLosses
from lineal.objective.problem import Intercept, Problem
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
    plain = Problem.of_rows(X, y, s, loss, L2(1.0), Intercept.NONE, K)
    Z, M = rng.uniform(-size, size, size=(n, K)), rng.normal(size=(n, K))
    U = loss.derivative(y, rng.uniform(-size, size, size=(n, K)))
    return plain, plain.in_core(), Z, M, U


@native_loss
@given(seed=seeds(), K=st.integers(1, 4))
def test_sums_equal_numpy(loss, seed, K):
    """value, slopes, conjugate and worst agree to rounding, weights of 0 included."""
    plain, native, Z, _, U = posed(loss, seed, K=K)
    assert isinstance(native.losses, NativeRowLosses)
    assert native.losses.value(Z) == pytest.approx(plain.losses.value(Z), rel=1e-13)
    np.testing.assert_allclose(native.losses.slopes(Z), plain.losses.slopes(Z), rtol=1e-14, atol=1e-300)
    # A conjugate's terms cancel: it is near in the size of its terms, not in its own.
    scale = 1 + np.abs(U).max() * (1 + np.abs(U).max() + np.abs(plain.losses.y).max())
    assert native.losses.conjugate(U) == pytest.approx(plain.losses.conjugate(U), abs=1e-13 * len(Z) * scale)
    assert native.losses.worst(Z, U) == pytest.approx(plain.losses.worst(Z, U), rel=1e-12, abs=1e-13 * scale)


@smooth_loss
@given(seed=seeds(), K=st.integers(1, 4), t=st.floats(0, 3))
def test_curvatures_equal_numpy(loss, seed, K, t):
    """curvatures, and the first two derivatives along a line, agree to rounding."""
    plain, native, Z, M, _ = posed(loss, seed, K=K)
    np.testing.assert_allclose(
        native.losses.curvatures(Z), plain.losses.curvatures(Z), rtol=1e-14, atol=1e-300
    )
    # A score on the edge of a bend may fall to either side of it: z + t m is rounded once or twice.
    edges = (
        np.abs(plain.losses.curvatures(Z + t * M + 1e-12) - plain.losses.curvatures(Z + t * M - 1e-12)) > 1e-9
    )
    if not edges.any():
        value, slope, bend = plain.losses.along(Z, M, t)
        scale = (
            plain.losses.s[:, None]
            * (1 + np.abs(plain.losses.slopes(Z + t * M)) + plain.losses.curvatures(Z))
        ).sum() * 20
        assert native.losses.along(Z, M, t) == pytest.approx(
            (value, slope, bend), rel=1e-12, abs=1e-13 * scale
        )


@smooth_loss
@pytest.mark.parametrize("K", [1, 3])
def test_threads_change_no_bit(loss, K):
    """Enough rows for several threads: the same bits with one and with three."""
    _, one, Z, M, U = posed(loss, 1, n=90_000 // K, K=K)
    _, many, *_ = posed(loss, 1, n=90_000 // K, K=K, n_threads=3)
    assert one.losses.value(Z) == many.losses.value(Z)
    assert one.losses.conjugate(U) == many.losses.conjugate(U)
    assert one.losses.worst(Z, U) == many.losses.worst(Z, U)
    assert one.losses.along(Z, M, 0.7) == many.losses.along(Z, M, 0.7)
    assert one.losses.slopes(Z).tobytes() == many.losses.slopes(Z).tobytes()
    assert one.losses.curvatures(Z).tobytes() == many.losses.curvatures(Z).tobytes()
    for get in (
        lambda losses: (losses.refit(Z).shift, losses.refit(Z).U),
        lambda losses: (losses.balance(U), *losses.balance_left(U)),
    ):
        for a, b in zip(get(one.losses), get(many.losses), strict=True):
            assert a.tobytes() == b.tobytes()


@smooth_loss
@given(seed=seeds(), K=st.integers(1, 4))
def test_refitted_constants_equal_numpy(loss, seed, K):
    """The core's constants make the losses as small as NumPy's do, and its dual point is the slopes there."""
    plain, native, Z, *_ = posed(loss, seed, K=K)
    found, wanted = native.losses.refit(Z), plain.losses.refit(Z)
    moved = Z + found.shift
    assert plain.losses.value(moved) == pytest.approx(
        plain.losses.value(Z + wanted.shift), rel=1e-12, abs=1e-12
    )
    np.testing.assert_allclose(found.U, plain.losses.slopes(moved), rtol=1e-14, atol=1e-300)


@native_loss
@given(seed=seeds(), K=st.integers(1, 4))
def test_balanced_points_equal_numpy(loss, seed, K):
    """balance and what is left of it agree to rounding; sums become 0, and no entry grows or changes sign."""
    plain, native, _, _, U = posed(loss, seed, K=K)
    balanced = native.losses.balance(U)
    np.testing.assert_allclose(balanced, plain.losses.balance(U), rtol=1e-13, atol=1e-300)
    assert np.all(np.abs(balanced) <= np.abs(U))
    assert np.all(balanced * U >= 0)
    for point in (U, balanced):
        for got, wanted in zip(
            native.losses.balance_left(point), plain.losses.balance_left(point), strict=True
        ):
            np.testing.assert_allclose(got, wanted, rtol=1e-13, atol=1e-13 * np.abs(point).sum())
    sums, sizes = native.losses.balance_left(balanced)
    assert np.all(np.abs(sums) <= 1e-14 * len(U) * sizes)


@smooth_loss
def test_constants_that_run_away_are_followed_as_by_numpy(loss):
    """Targets of one kind, and scores far off: the core ends where NumPy does, in finitely many steps."""
    if not loss.is_margin:
        return
    for y, Z in ((1.0, np.full((5, 1), -700.0)), (1.0, np.zeros((5, 1))), (-1.0, np.full((5, 1), 30.0))):
        X = native_dense(np.zeros((5, 1)), 1)
        plain = Problem.of_rows(X, np.full((5, 1), y), np.ones(5), loss, L2(1.0), Intercept.NONE, 1)
        found, wanted = plain.in_core().losses.refit(Z), plain.losses.refit(Z)
        np.testing.assert_allclose(found.shift, wanted.shift, rtol=1e-6)


@native_loss
def test_extreme_scores_give_no_nan(loss):
    """Scores of +-800 and +-1e300: slopes in the domain, values and curvatures that are numbers."""
    Z = np.array([[z] for z in (-1e300, -1e154, -800.0, -709.0, 0.0, 709.0, 800.0, 1e154, 1e300)])
    for sign in (-1.0, 1.0):
        y = np.full_like(Z, sign)
        X = native_dense(np.zeros((len(Z), 1)), 1)
        native = Problem.of_rows(X, y, np.ones(len(Z)), loss, L2(1.0), Intercept.NONE, 1).in_core()
        U, (low, high) = native.losses.slopes(Z), loss.domain(y)
        assert np.all((low <= U) & (high >= U))
        with np.errstate(over="ignore"):  # a square of 1e300 is infinite, as it should be
            assert native.losses.value(Z) == pytest.approx(float(loss.value(y, Z).sum()), rel=1e-14)
            assert not np.isnan(native.losses.conjugate(U))
        if loss.is_smooth:
            assert np.all(native.losses.curvatures(Z) >= 0)


@native_loss
def test_outside_the_domain_a_conjugate_is_infinite(loss):
    """A bound can never come from a dual point that is not feasible."""
    plain, native, _, _, U = posed(loss, 3)
    low, high = loss.domain(plain.losses.y)
    for beyond in (low - 1e-9, high + 1e-9):
        if np.isfinite(beyond).all():
            assert native.losses.conjugate(beyond) == plain.losses.conjugate(beyond) == np.inf
    assert np.isfinite(native.losses.conjugate(U))


def test_wrong_shapes_are_errors():
    """No pass over scores reads beyond an array of the wrong shape, and kinks have no curvature."""
    _, native, Z, M, U = posed(Log(), 0)
    for call in (
        lambda: native.losses.value(Z[:-1]),
        lambda: native.losses.slopes(np.hstack([Z, Z])),
        lambda: native.losses.curvatures(Z[1:]),
        lambda: native.losses.along(Z, M[1:], 1.0),
        lambda: native.losses.conjugate(U[1:]),
        lambda: native.losses.worst(Z, U[1:]),
    ):
        with pytest.raises(ValueError, match="differ in shape"):
            call()


def test_only_native_rows_are_taken_to_the_core():
    """What verify computes stays NumPy: its rows are NumPy's, so its problem stays as it is."""
    plain, *_ = posed(Log(), 0)
    aside = Problem.of_rows(
        NumpyRows(np.zeros((50, 2))), plain.losses.y, plain.losses.s, Log(), L2(1.0), Intercept.NONE, 1
    )
    assert aside.in_core() is aside
    assert type(plain.in_core().losses.smoothed(0.1)) is NativeRowLosses


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
