"""Softmax in the core: sums, slopes and products are those of the objective, and threads change no bit."""

from dataclasses import replace
from math import exp, log1p

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineal.objective.joint import Softmax
from lineal.objective.loss_sums import NativeJointLosses, RowLosses
from strategies import seeds

widths = st.sampled_from([2, 3, 5, 10, 31, 40, 300])


def posed(seed, n=40, K=3, size=8.0):
    """Losses in NumPy and in the core, with scores, a direction in them and feasible dual variables."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n).astype(np.int32)
    s = rng.random(n) * (rng.random(n) < 0.8)
    plain = RowLosses(Softmax(), y, s, K)
    Z, M = rng.uniform(-size, size, size=(n, K)), rng.normal(size=(n, K))
    U = plain.slopes(rng.uniform(-size, size, size=(n, K)))
    return plain, plain.in_core(1), Z, M, U


@given(seed=seeds(), K=widths, n=st.sampled_from([1, 7, 40, 130]))
def test_sums_and_slopes_equal_numpy(seed, K, n):
    """value, slopes, curvatures, conjugate and worst agree to rounding, weights of 0 included."""
    plain, native, Z, _, U = posed(seed, n, K)
    assert isinstance(native, NativeJointLosses)
    assert native.value(Z) == pytest.approx(plain.value(Z), rel=1e-13, abs=1e-13)
    np.testing.assert_allclose(native.slopes(Z), plain.slopes(Z), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(native.curvatures(Z), plain.curvatures(Z), rtol=1e-12, atol=1e-15)
    assert native.conjugate(U) == pytest.approx(plain.conjugate(U), rel=1e-12, abs=1e-12)
    assert native.worst(Z, U) == pytest.approx(plain.worst(Z, U), rel=1e-12, abs=1e-12)


@given(seed=seeds(), K=widths, t=st.floats(0, 3))
def test_products_and_lines_equal_numpy(seed, K, t):
    """Hessian times moves, and P's first two derivatives along a line, agree to rounding."""
    plain, native, Z, M, _ = posed(seed, K=K)
    np.testing.assert_allclose(
        native.curvature_product(Z, M), plain.curvature_product(Z, M), rtol=1e-11, atol=1e-14
    )
    assert native.along(Z, M, t) == pytest.approx(plain.along(Z, M, t), rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("K", [3, 10, 300])
def test_threads_change_no_bit(K):
    """Enough rows for several threads: the same bits with one and with three."""
    _, one, Z, M, U = posed(1, 200_000 // K, K)
    many = replace(one, n_threads=3)
    assert one.value(Z) == many.value(Z)
    assert one.conjugate(U) == many.conjugate(U)
    assert one.worst(Z, U) == many.worst(Z, U)
    assert one.along(Z, M, 0.7) == many.along(Z, M, 0.7)
    assert one.slopes(Z).tobytes() == many.slopes(Z).tobytes()
    assert one.curvature_product(Z, M).tobytes() == many.curvature_product(Z, M).tobytes()


@pytest.mark.parametrize("margin", [0.0, 1.0, 30.0, 300.0, 600.0, -30.0, -600.0])
def test_nearly_certain_rows_keep_their_digits(margin):
    """A loss of 1e-260 is told to the last digits, with its slope and its curvature: nothing cancels."""
    losses = RowLosses(Softmax(), np.zeros(1, dtype=np.int32), np.ones(1), 2).in_core(1)
    Z = np.array([[margin, 0.0]])
    far = exp(-abs(margin))
    loss = log1p(far) + max(-margin, 0.0)
    probability = (far if margin > 0 else 1.0) / (1 + far)
    assert losses.value(Z) == pytest.approx(loss, rel=1e-14)
    assert losses.slopes(Z)[0] == pytest.approx([-probability, probability], rel=1e-14)
    _, slope, bend = losses.along(Z, np.array([[1.0, 0.0]]), 0.0)
    assert slope == pytest.approx(-probability, rel=1e-14)
    assert bend == pytest.approx(far / (1 + far) ** 2, rel=1e-14)


def test_extreme_scores_give_no_nan():
    """Scores of +-800 and +-1e300: slopes in the simplex, values that are numbers."""
    Z = np.array([[1e300, -1e300, 0.0], [-800.0, 800.0, 0.0], [-1e300, -1e300, 1e300]])
    for y in range(3):
        losses = RowLosses(Softmax(), np.full(3, y, dtype=np.int32), np.ones(3), 3).in_core(1)
        U = losses.slopes(Z)
        p = U + np.eye(3)[y]
        assert np.all(p >= 0)
        assert np.all(np.abs(p.sum(axis=1) - 1) <= 1e-15)
        assert np.isfinite(losses.value(Z))
        assert np.isfinite(losses.conjugate(U))


@given(seed=seeds(), K=widths)
def test_points_of_the_simplex_stay_and_others_come_near(seed, K):
    """What is inside does not move by a bit; all else goes where NumPy's twin sends it."""
    plain, native, Z, _, U = posed(seed, K=K)
    inside = native.slopes(Z)
    assert native.into_domain(inside).tobytes() == inside.tobytes()
    outside = 3 * U - 0.2
    np.testing.assert_allclose(native.into_domain(outside), plain.into_domain(outside), atol=1e-15)
    assert np.isfinite(native.conjugate(native.into_domain(outside)))


def test_outside_the_simplex_a_conjugate_is_infinite():
    """A bound can never come from a dual point that is not feasible; rows of weight 0 do not count."""
    _, native, _, _, U = posed(3)
    heavy = int(np.flatnonzero(native.s)[0])
    for change in ([1e-9, 0, 0], [-1.0, 1.0, 0.0], [np.nan, 0, 0]):
        beyond = U.copy()
        beyond[heavy] += change
        assert not native.conjugate(beyond) < np.inf
    light = U.copy()
    light[np.flatnonzero(native.s == 0)] += 5.0
    assert native.conjugate(light) == native.conjugate(U)


def test_wrong_shapes_and_classes_are_errors():
    """No pass reads beyond an array of the wrong shape, or a score that a row has not."""
    _, native, Z, M, U = posed(0)
    for call in (
        lambda: native.value(Z[:-1]),
        lambda: native.slopes(Z[1:]),
        lambda: native.along(Z, M[1:], 1.0),
        lambda: native.curvature_product(Z, M[1:]),
        lambda: native.conjugate(U[1:]),
        lambda: native.worst(Z, U[1:]),
        lambda: native.value(np.ascontiguousarray(Z[:, :2])),
    ):
        with pytest.raises(ValueError, match=r"differ in shape|a class for each row|has no score"):
            call()
