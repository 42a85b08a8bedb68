"""The losses of the core are the losses of the objective, and their dual steps are exact."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.dual_ascent import one_coordinate
from strategies import losses, named, reals, target_of

NATIVE = [loss for loss in losses() if loss.native is not None]
native_loss = pytest.mark.parametrize("loss", NATIVE, ids=named)
# Dual ascent takes the sharp losses themselves.
stepping_loss = pytest.mark.parametrize("loss", [loss for loss in NATIVE if not loss.is_rounded], ids=named)


def inside(loss, y, share):
    """A point of the domain, its ends included."""
    low, high = (np.clip(end, -20.0, 20.0) for end in loss.domain(y))
    return float(np.clip(low + share * (high - low), low, high))


@native_loss
@given(y=reals(3), z=reals(1e3), share=st.floats(0, 1))
def test_native_formulas_are_the_objectives(loss, y, z, share):
    """value, derivative and conjugate agree to rounding."""
    y, native = target_of(loss, y), loss.native
    u = inside(loss, y, share)
    assert native.value(y, z) == pytest.approx(float(loss.value(y, z)), rel=1e-14, abs=1e-14)
    assert native.derivative(y, z) == pytest.approx(float(loss.derivative(y, z)), rel=1e-14, abs=1e-300)
    assert native.conjugate(y, u) == pytest.approx(float(loss.conjugate(y, u)), rel=1e-13, abs=1e-13)


@stepping_loss
@given(y=reals(3), z=reals(20), share=st.floats(0, 1), q=st.floats(1e-3, 1e3))
def test_a_dual_step_is_the_best_of_its_coordinate(loss, y, z, share, q):
    """No u has a smaller loss*(u) - z (u - u0) + (q/2) (u - u0)^2, and the step stays in the domain."""
    y = target_of(loss, y)
    u0 = inside(loss, y, share)
    u = loss.native.dual_step(y, z, u0, q)
    low, high = loss.domain(y)
    assert low <= u <= high

    def dual(v):
        return float(loss.conjugate(y, v)) - z * (v - u0) + q / 2 * (v - u0) ** 2

    best = dual(one_coordinate(loss, y, z, u0, q))
    scale = 1 + abs(z * (u - u0)) + q * (u - u0) ** 2 + abs(float(loss.conjugate(y, u)))
    assert dual(u) <= best + 1e-14 * scale


@stepping_loss
@given(y=reals(3), z=reals(20), share=st.floats(0, 1), q=st.floats(1e-6, 1e6))
def test_a_dual_step_is_a_slope_where_it_lands(loss, y, z, share, q):
    """u is a subgradient at z' = z - q (u - u0): one proximal step of the loss."""
    y = target_of(loss, y)
    u0 = inside(loss, y, share)
    u = loss.native.dual_step(y, z, u0, q)
    landed = z - q * (u - u0)
    residual = float(loss.value(y, landed) + loss.conjugate(y, u)) - landed * u
    # u is exact to one rounding, which q magnifies in z'.
    assert 0 - 1e-12 * (1 + q) <= residual <= 1e-12 * (1 + abs(z) + q) * (1 + abs(u))


@stepping_loss
@given(y=reals(3), z=reals(20), q=st.floats(1e-3, 1e3), share=st.floats(0, 1))
def test_a_dual_step_ends_after_one_step(loss, y, z, q, share):
    """From the best u, with the score it causes, the best u is itself."""
    y = target_of(loss, y)
    u0 = inside(loss, y, share)
    u = loss.native.dual_step(y, z, u0, q)
    again = loss.native.dual_step(y, z - q * (u - u0), u, q)
    # Log's Newton stops at 1e-12 of the margin; the others repeat to rounding over the smallest q.
    assert again == pytest.approx(u, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("z", [-1e8, -1e3, 0.0, 1e3, 1e8])
@pytest.mark.parametrize("q", [1e-12, 1.0, 1e12])
@stepping_loss
def test_dual_steps_survive_extremes(loss, q, z):
    """Huge scores and row norms give a finite step inside the domain."""
    for y in (-1.0, 1.0):
        low, high = loss.domain(y)
        u = loss.native.dual_step(y, z, 0.0, q)
        assert np.isfinite(u)
        assert low <= u <= high
