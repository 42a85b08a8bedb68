"""Losses of one score: slopes, conjugates, kinks, curvature, smoothing."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lineal.errors import ParameterError
from lineal.objective import losses as module
from lineal.objective.losses import Absolute, EpsilonInsensitive, Loss, Perceptron, Quantile, ZeroOne
from strategies import concrete, losses, named, reals, target_of

STEP = 1e-6
every_loss = pytest.mark.parametrize("loss", losses(), ids=named)
smooth_loss = pytest.mark.parametrize("loss", [loss for loss in losses() if loss.is_smooth], ids=named)
KINKED = [loss for loss in losses() if not loss.is_smooth]
kinked_loss = pytest.mark.parametrize("loss", KINKED, ids=named)
# Nothing minimises the perceptron's loss, so nothing smooths it.
smoothable_loss = pytest.mark.parametrize(
    "loss", [k for k in KINKED if not isinstance(k, Perceptron)], ids=named
)


def distance_to_kink(loss, y, z):
    return min((abs(float(place) - z) for place, _, _ in loss.kinks(np.float64(y))), default=np.inf)


def rounding(*numbers):
    """A few units in the last place of the largest of these."""
    return 8 * np.finfo(float).eps * (1 + max(abs(float(x)) for x in numbers))


def test_every_loss_is_a_member():
    """No loss that the module defines escapes these theorems."""
    assert {type(loss) for loss in losses()} == set(concrete(module, Loss))


@every_loss
@given(y=reals(3), z=reals())
def test_derivative_is_the_slope_of_the_value(loss, y, z):
    """loss'(z) = (loss(z + h) - loss(z - h)) / 2h away from kinks."""
    y = target_of(loss, y)
    assume(distance_to_kink(loss, y, z) > 2 * STEP)
    above, below = loss.value(y, z + STEP), loss.value(y, z - STEP)
    bend = (loss.curvature or 0.0) * STEP  # a bend inside the step turns the slope by this much at most
    noise = rounding(above, z * z) / STEP
    assert loss.derivative(y, z) == pytest.approx((above - below) / (2 * STEP), rel=0, abs=bend + noise)


@every_loss
@given(y=reals(3), z=reals(), u=reals(5))
def test_fenchel_young(loss, y, z, u):
    """loss(z) + loss*(u) >= z u, with equality at u = loss'(z)."""
    y = target_of(loss, y)
    value, slope = loss.value(y, z), loss.derivative(y, z)
    assert value + loss.conjugate(y, u) >= z * u - rounding(value, z * u, u * u)
    # The derivative of Log near a = 1 is 1 - a to one rounding, whose logarithm z multiplies.
    assert value + loss.conjugate(y, slope) == pytest.approx(
        z * slope, rel=0, abs=4 * rounding(value, z * slope, slope * slope, z)
    )


@kinked_loss
@given(y=reals(3), share=st.floats(0, 1))
def test_every_subgradient_at_a_kink_meets_fenchel_young_with_equality(loss, y, share):
    """At a kink, u is a slope exactly when it lies between the slopes of both sides."""
    y = np.float64(target_of(loss, y))
    assert loss.kinks(y)
    for place, low, high in loss.kinks(y):
        left = (loss.value(y, place) - loss.value(y, place - STEP)) / STEP
        right = (loss.value(y, place + STEP) - loss.value(y, place)) / STEP
        assert (low, high) == pytest.approx((left, right), abs=rounding(place) / STEP)
        u = np.clip(low + share * (high - low), low, high)
        gap = loss.value(y, place) + loss.conjugate(y, u) - place * u
        assert gap == pytest.approx(0.0, abs=rounding(y, place))


@kinked_loss
def test_derivative_at_a_kink_is_the_subgradient_nearest_0(loss):
    """At a kink the derivative is the point of [low, high] nearest 0, and it is in the domain."""
    for y in (-1.0, 1.0) if loss.is_margin else (0.0,):  # targets for which z - y and y z are exact
        for place, low, high in loss.kinks(np.float64(y)):
            assert loss.derivative(y, place) == np.clip(0.0, low, high)


@every_loss
@given(y=reals(3), z=reals(1e6))
def test_derivative_lies_in_the_domain(loss, y, z):
    """low <= loss'(z) <= high and loss*(loss'(z)) is finite, to the last bit."""
    y = target_of(loss, y)
    low, high = loss.domain(y)
    slope = loss.derivative(y, z)
    assert low <= slope <= high
    assert np.isfinite(loss.conjugate(y, slope))


@every_loss
@given(y=reals(3), share=st.floats(0, 1))
def test_conjugate_is_finite_exactly_on_the_domain(loss, y, share):
    """loss* is finite on [low, high], which contains 0, and +inf one float beyond."""
    y = target_of(loss, y)
    low, high = loss.domain(y)
    assert low <= 0 <= high
    inner = np.clip(low, -1e3, 1e3) * share + np.clip(high, -1e3, 1e3) * (1 - share)
    for inside in (low, high, np.clip(inner, low, high)):
        assert not np.isfinite(inside) or np.isfinite(loss.conjugate(y, inside))
    assert np.isinf(low) or loss.conjugate(y, np.nextafter(low, -np.inf)) == np.inf
    assert np.isinf(high) or loss.conjugate(y, np.nextafter(high, np.inf)) == np.inf


@every_loss
def test_a_domain_without_ends_is_said_to_be_one(loss):
    """Where a loss says that its conjugate is finite everywhere its domain has no ends, and nowhere else."""
    for y in (-1.0, 1.0):
        low, high = loss.domain(np.float64(target_of(loss, y)))
        assert loss.has_whole_domain == (low == -np.inf and high == np.inf)


@every_loss
@given(y=reals(3), z=reals(), move=st.floats(0, 20))
def test_convex(loss, y, z, move):
    """The derivative never falls."""
    y = target_of(loss, y)
    ahead = z + move
    slope, following = loss.derivative(y, z), loss.derivative(y, ahead)
    assert following >= slope - rounding(slope, following)


@smooth_loss
@given(y=reals(3), z=reals(), move=st.floats(1e-3, 20))
def test_curvature_bounds_the_change_of_the_derivative(loss, y, z, move):
    """|loss'(a) - loss'(b)| <= curvature |a - b|."""
    y = target_of(loss, y)
    change = abs(loss.derivative(y, z + move) - loss.derivative(y, z))
    slack = loss.curvature * rounding(z, move)  # z + move is rounded before it is used
    assert change <= loss.curvature * move + rounding(loss.derivative(y, z)) + slack


@smooth_loss
def test_curvature_is_attained(loss):
    """No smaller constant would do: somewhere the second derivative equals the curvature."""
    z = np.linspace(-4, 4, 8001)
    assert loss.second_derivative(np.ones_like(z), z).max() == pytest.approx(loss.curvature, rel=1e-12)


@smooth_loss
@given(y=reals(3), z=reals())
def test_second_derivative_is_the_slope_of_the_derivative(loss, y, z):
    """loss''(z) = (loss'(z + h) - loss'(z - h)) / 2h away from bends."""
    y = target_of(loss, y)
    below, here, above = (float(loss.derivative(y, z + step)) for step in (-STEP, 0.0, STEP))
    noise = rounding(below, above, z) * max(1.0, loss.curvature) / STEP
    assume(abs((above - here) - (here - below)) / STEP <= 2 * noise)  # else a bend lies in between
    third = loss.curvature * STEP  # what the curvature itself changes over one step
    assert loss.second_derivative(y, z) == pytest.approx(
        (above - below) / (2 * STEP), rel=0, abs=noise + third
    )


@kinked_loss
def test_a_loss_with_kinks_refuses_a_second_derivative(loss):
    """Nothing pretends that a kink has a curvature."""
    with pytest.raises(ParameterError, match="kinks"):
        loss.second_derivative(np.ones(1), np.zeros(1))


@smoothable_loss
@given(y=reals(3), z=reals(10), width=st.floats(1e-4, 10))
def test_smoothing_bound(loss, y, z, width):
    """0 <= loss - loss_mu <= mu L^2 / 2, L the largest |u| of the domain."""
    smooth = loss.smoothed(width)
    y = target_of(loss, y)
    steepest = np.abs(loss.domain(y)).max()
    lost = loss.value(y, z) - smooth.value(y, z)
    noise = rounding(loss.value(y, z), z, y)
    assert -noise <= lost <= width * steepest**2 / 2 + noise
    assert smooth.curvature == 1 / width
    assert smooth.domain(y) == loss.domain(y)


@smoothable_loss
@pytest.mark.parametrize("width", [0.01, 1.0])
def test_smoothed_loss_is_the_moreau_envelope(loss, width):
    """loss_mu(z) = min_v loss(v) + (z - v)^2 / (2 mu)."""
    v = np.linspace(-8, 8, 160_001)
    for y in (-1.0, 1.0):
        for z in np.linspace(-3, 3, 13):
            envelope = (loss.value(y, v) + (z - v) ** 2 / (2 * width)).min()
            # A grid of step h misses the minimum by h^2 / (8 mu) and, at a kink, by a slope times h / 2.
            assert loss.smoothed(width).value(y, z) == pytest.approx(envelope, abs=1e-4)


@given(y=reals(), z=reals(), u=st.floats(-1, 1))
def test_absolute_is_twice_the_median_and_a_tube_of_no_width(y, z, u):
    """Absolute = 2 Quantile(1/2) = EpsilonInsensitive(0), in value, slope and conjugate."""
    for method, point in (("value", z), ("derivative", z), ("conjugate", u)):
        ours = getattr(Absolute(), method)(y, point)
        half = point / 2 if method == "conjugate" else point
        assert ours == pytest.approx(2 * getattr(Quantile(0.5), method)(y, half))
        assert ours == getattr(EpsilonInsensitive(0.0), method)(y, point)


@every_loss
@pytest.mark.parametrize("y", [-1.0, 1.0])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_far_scores_neither_overflow_nor_lose_digits(loss, y, side):
    """loss(z) / |z| tends to the end of the domain on that side; nothing overflows on the way."""
    size = np.array([1e3, 1e10, 1e100, 1e154, 1e300])
    y, z = np.full_like(size, y), side * size
    steepest = side * loss.domain(y)[int(side > 0)]
    if np.isinf(steepest).any():
        # The loss itself grows like z^2: it is representable up to the root of the largest float.
        assert np.isfinite(loss.value(y[:3], z[:3])).all()
        assert np.isfinite(loss.derivative(y, z)).all()
        return
    # Constants (margins, targets) are below 4, and small beside |z|.
    assert np.all(np.abs(loss.value(y, z) / size - steepest) <= 4.1 / size + 1e-14)
    np.testing.assert_allclose(loss.derivative(y, z), side * steepest, atol=1e-14)
    assert np.isfinite(loss.conjugate(y, loss.derivative(y, z))).all()
    if loss.is_smooth:
        np.testing.assert_allclose(loss.second_derivative(y, z), 0.0, atol=1e-14)


def test_zero_one_counts_wrong_signs_with_the_sign_of_0_positive():
    """1 where sign(z) != y, sign(0) = +1."""
    y, z = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0]), np.array([2.0, 0.0, -2.0, 2.0, 0.0, -2.0])
    np.testing.assert_array_equal(ZeroOne().value(y, z), [0, 0, 1, 1, 1, 0])


@pytest.mark.parametrize(
    ("kind", "bad"),
    [
        (module.Hinge, {"margin": 0.0}),
        (module.SquaredHinge, {"margin": -1.0}),
        (module.Huber, {"delta": 0.0}),
        (module.EpsilonInsensitive, {"epsilon": -0.1}),
        (module.SquaredEpsilonInsensitive, {"epsilon": -0.1}),
        (module.Absolute, {"epsilon": 0.1}),
        (module.Quantile, {"q": 0.0}),
        (module.Quantile, {"q": 1.0}),
        (module.Hinge, {"margin": float("nan")}),
        (module.Quantile, {"q": float("nan")}),
    ],
)
def test_impossible_parameters_are_refused(kind, bad):
    """A loss that would not be convex, or not be a loss, cannot be made."""
    with pytest.raises(ParameterError):
        kind(**bad)
