"""What a custom loss is promised: its numerical conjugate is a bound and tight, its envelope exact."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import xlogy

from custom_losses import (
    RESTATED,
    CarelessLog,
    CustomLog,
    DistanceWeighted,
    Exponential,
    Poisson,
    Restated,
    targets_for,
)
from lineal.objective import (
    L2,
    EpsilonInsensitive,
    Hinge,
    Log,
    ModifiedHuber,
    Quantile,
    SquaredEpsilonInsensitive,
)
from lineal.objective.dual_points import feasible
from lineal.objective.problem import Intercept
from lineal.objective.tangents import conjugate_bound, slope_range
from strategies import named, seeds, stated

EVERY = [*RESTATED, CustomLog(), CarelessLog(), Poisson(), Exponential(), DistanceWeighted()]
every_loss = pytest.mark.parametrize("loss", EVERY, ids=named)


def conjugate_of_poisson(y, u):
    """max_z u z - exp(z) + y z."""
    return xlogy(u + y, u + y) - (u + y)


CLOSED_FORMS = {
    **{loss: loss.loss.conjugate for loss in RESTATED},
    Restated(ModifiedHuber()): ModifiedHuber().conjugate,
    Restated(EpsilonInsensitive(0.2)): EpsilonInsensitive(0.2).conjugate,
    Restated(SquaredEpsilonInsensitive(0.2)): SquaredEpsilonInsensitive(0.2).conjugate,
    CustomLog(): Log().conjugate,
    CarelessLog(): Log().conjugate,
    Poisson(): conjugate_of_poisson,
    Exponential(): lambda y, u: xlogy(-y * u, -y * u) - (-y * u),
    DistanceWeighted(): lambda y, u: -np.sqrt(-y * u),
}


def inside(loss, rng, n, reach=8.0):
    """Targets, and dual variables of all kinds: slopes, points between slopes, 0, the finite ends."""
    y = targets_for(loss, rng, n)
    u = loss.derivative(y, rng.uniform(-reach, reach, n))
    v = loss.derivative(y, rng.uniform(-reach, reach, n))
    u = np.where(rng.random(n) < 0.5, u, u + rng.random(n) * (v - u))
    u[:5] = 0.0
    low, high = loss.domain(y)
    for place, end in ((slice(5, 10), low), (slice(10, 15), high)):
        small = np.abs(end[place]) < 100
        u[place] = np.where(small, end[place], u[place])
    return y, np.clip(u, low, high)


@pytest.mark.parametrize("loss", CLOSED_FORMS, ids=named)
@given(seed=seeds())
def test_conjugate_is_the_closed_form_rounded_up(loss, seed):
    """The numerical conjugate is at least the true one, and within 1e-9 of its terms' size."""
    y, u = inside(loss, np.random.default_rng(seed), 60)
    found, exact = loss.conjugate(y, u), CLOSED_FORMS[loss](y, u)
    size = 1 + np.abs(exact) + np.abs(u)
    assert np.all(found >= exact - 1e-15 * size)
    assert np.all(found <= exact + 1e-9 * size)


@every_loss
@given(seed=seeds())
def test_fenchel_young(loss, seed):
    """loss(z) + loss*(u) >= u z for every z, and equality to rounding at u = loss'(z)."""
    rng = np.random.default_rng(seed)
    y, u = inside(loss, rng, 40)
    z = rng.uniform(-20, 20, size=(200, 1))
    assert np.all(loss.value(y, z) + loss.conjugate(y, u) >= u * z - 1e-14 * (1 + np.abs(u * z)))
    z = rng.uniform(-8, 8, 40)
    slope = np.clip(loss.derivative(y, z), *loss.domain(y))
    residual = loss.value(y, z) + loss.conjugate(y, slope) - slope * z
    assert np.all(residual <= 1e-13 * (1 + np.abs(slope * z) + np.abs(loss.value(y, z))))


@every_loss
@settings(max_examples=10)
@given(seed=seeds(), steps=st.integers(0, 3))
def test_bound_holds_however_wide_the_bracket(loss, seed, steps):
    """Two tangents bound the conjugate wherever they touch: fewer steps make it looser, never lower."""
    y, u = inside(loss, np.random.default_rng(seed), 30)
    loose = conjugate_bound(loss.value, loss.derivative, y, u, slope_range(loss.derivative, y), steps)
    tight = loss.conjugate(y, u)
    assert np.all(loose >= tight - 1e-13 * (1 + np.abs(tight)))


@every_loss
def test_conjugate_is_infinite_outside_the_domain(loss):
    """The domain contains 0, the conjugate is finite on it and infinite beyond it."""
    y = np.unique(targets_for(loss, np.random.default_rng(0), 50))
    low, high = loss.domain(y)
    assert np.all((low <= 0) & (high >= 0))
    for end, beyond in ((low, -np.inf), (high, np.inf)):
        bounded = np.abs(end) < 1e6
        assert np.all(np.isfinite(loss.conjugate(y[bounded], end[bounded])))
        assert np.all(loss.conjugate(y[bounded], np.nextafter(end[bounded], beyond)) == np.inf)
    assert np.all(np.isnan(loss.conjugate(y, np.full(len(y), np.nan))) == 0)


@every_loss
@settings(max_examples=10)
@given(seed=seeds())
def test_weak_duality(loss, seed):
    """No feasible dual point is worth more than any weights."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(15, 3)), targets_for(loss, rng, 15)
    labels = y if not loss.is_margin else (y > 0).astype(int)
    if loss.is_margin:
        labels[:2] = [0, 1]
    problem = stated(X, labels, loss, L2(0.5), Intercept.FREE)
    W, b = rng.normal(size=(3, 1)), rng.normal(size=1)
    bound = feasible(problem, rng.normal(size=(15, 1)) * 2, W, b)
    assert bound.dual > -np.inf
    for _ in range(5):
        W, b = rng.normal(size=(3, 1)), rng.normal(size=1)
        assert bound.dual <= problem.primal(W, b) * (1 + 1e-12)


@pytest.mark.parametrize("loss", [Hinge(), Quantile(0.3), EpsilonInsensitive(0.2)], ids=named)
@given(seed=seeds(), width=st.floats(1e-4, 2.0))
def test_envelope_is_the_library_s(loss, seed, width):
    """A custom loss with kinks is rounded as the library's own is: value, slope, curvature, conjugate."""
    rng = np.random.default_rng(seed)
    y, z = targets_for(loss, rng, 40), rng.uniform(-4, 4, 40)
    ours, exact = Restated(loss).smoothed(width), loss.smoothed(width)
    # (z - x) / width: rounding of the scores, over the width.
    np.testing.assert_allclose(ours.derivative(y, z), exact.derivative(y, z), atol=1e-14 / width + 1e-14)
    np.testing.assert_allclose(ours.value(y, z), exact.value(y, z), atol=1e-13)
    bends, near = exact.second_derivative(y, z), 2e-3 * width
    settled = np.isclose(exact.second_derivative(y, z + near), bends) & np.isclose(
        exact.second_derivative(y, z - near), bends
    )
    np.testing.assert_allclose(ours.second_derivative(y, z)[settled], bends[settled], rtol=0.02, atol=1e-9)
    u = exact.derivative(y, z)
    np.testing.assert_allclose(ours.conjugate(y, u), exact.conjugate(y, u), atol=1e-12)


@given(seed=seeds())
def test_second_derivative_by_differences(seed):
    """Central differences of the derivative give the curvature to seven digits."""
    rng = np.random.default_rng(seed)
    y, z = rng.choice([-1.0, 1.0], 50), rng.uniform(-6, 6, 50)
    np.testing.assert_allclose(CustomLog().second_derivative(y, z), Log().second_derivative(y, z), atol=1e-7)
