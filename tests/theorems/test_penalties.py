"""Penalties: proximal steps, conjugates, slopes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from lineal.errors import ParameterError
from lineal.objective.penalties import L1, L2, ElasticNet, Lp, NoPenalty
from strategies import named, penalties, reals

every_penalty = pytest.mark.parametrize("penalty", penalties(), ids=named)
steps = st.floats(1e-3, 1e3)


def one(x):
    return np.array([x], dtype=float)


@every_penalty
@given(w=reals(), step=steps)
def test_prox_minimises(penalty, w, step):
    """prox(w) minimises R(x) + (x - w)^2 / (2 step): no scalar search does better."""

    def objective(x):
        return penalty.value(one(x)) + (x - w) ** 2 / (2 * step)

    x = penalty.prox(one(w), step)[0]
    searched = minimize_scalar(
        objective, bounds=(-abs(w) - 1, abs(w) + 1), method="bounded", options={"xatol": 1e-12}
    )
    scale = 1 + abs(w) ** 2 / step
    for other in (searched.fun, objective(0.0), objective(w)):
        assert objective(x) <= other + 1e-14 * scale


@every_penalty
@given(w=reals(), step=steps)
def test_prox_leaves_the_slope_it_stopped_at(penalty, w, step):
    """(w - prox(w)) / step is a slope of R at prox(w): Fenchel and Young meet there."""
    x = penalty.prox(one(w), step)
    v = (w - x) / step
    noise = 1e-15 * abs(w) / step  # v carries the rounding of w - x, magnified
    factor = penalty.scaling(v)
    assert factor >= 1 - 2 * noise / min(1.0, abs(v[0]) + 1e-300)
    gap = penalty.terms(x) + penalty.conjugate_terms(factor * v) - x * factor * v
    assert gap[0] <= 4 * abs(x[0]) * noise + 1e-14 * (1 + abs(x[0] * v[0]))


@every_penalty
@given(v=reals(2.0))
def test_conjugate_is_the_largest_value_of_v_w_minus_penalty(penalty, v):
    """R*(v) = max_w v w - R(w), by search; +inf where the search runs away."""
    search = minimize_scalar(
        lambda w: penalty.value(one(w)) - v * w,
        bounds=(-1e3, 1e3),
        method="bounded",
        options={"xatol": 1e-11},
    )
    best = max(-search.fun, 0.0)
    ours = penalty.conjugate_terms(one(v))[0]
    if np.isinf(ours):
        assert best > 0
        assert max(v * w - penalty.value(one(w)) for w in (-1e6, 1e6)) > 100 * best
    else:
        assert ours == pytest.approx(best, abs=1e-8 * (1 + best))  # the search's own accuracy


@every_penalty
@given(w=reals(), v=reals())
def test_fenchel_young(penalty, w, v):
    """R(w) + R*(v) >= v w, with equality at v = R'(w)."""
    assert penalty.value(one(w)) + penalty.conjugate(one(v)) >= v * w - 1e-12 * (1 + abs(v * w))
    slope = penalty.derivative(one(w))
    meeting = penalty.value(one(w)) + penalty.conjugate(slope)
    assert meeting == pytest.approx(float(slope[0] * w), rel=1e-13, abs=1e-13)


@every_penalty
@given(w=reals(20))
def test_derivatives_are_slopes(penalty, w):
    """R' and R'' are central differences of R and R', away from 0."""
    if abs(w) < 0.1:
        return
    h = 1e-6
    slope = (penalty.terms(one(w + h)) - penalty.terms(one(w - h))) / (2 * h)
    bend = (penalty.derivative(one(w + h)) - penalty.derivative(one(w - h))) / (2 * h)
    noise = 1e-15 * (1 + abs(w) ** 3) / h
    assert penalty.derivative(one(w)) == pytest.approx(slope, abs=noise)
    assert penalty.second_derivative(one(w)) == pytest.approx(bend, abs=noise)


@every_penalty
@given(st.lists(reals(), min_size=1, max_size=5))
def test_scaling_brings_v_into_the_domain_and_no_further(penalty, v):
    """The factor is in (0, 1], the scaled conjugate is finite, and 1 % more would leave the domain."""
    v = np.array(v)
    if isinstance(penalty, NoPenalty):
        return  # its domain is the point 0, which no scaling reaches
    factor = penalty.scaling(v)
    assert 0 < factor <= 1
    assert np.isfinite(penalty.conjugate(factor * v))
    assert factor == 1 or np.isinf(penalty.conjugate(1.01 * factor * v))


@given(w=reals(), step=steps, strength=st.floats(0.01, 100))
def test_lp_at_2_is_l2(w, step, strength):
    """(strength / 2) sum |w|^2 either way, in every method."""
    lp, l2, w = Lp(strength, 2.0), L2(strength), one(w)
    for method in ("terms", "conjugate_terms", "derivative", "second_derivative"):
        assert getattr(lp, method)(w) == pytest.approx(getattr(l2, method)(w), rel=1e-12)
    assert lp.prox(w, step) == pytest.approx(l2.prox(w, step), rel=1e-12)


@given(w=reals(), step=steps)
def test_lp_has_closed_proximal_steps_at_3_and_3_halves(w, step):
    """p = 3 and p = 3/2 are quadratic equations in |x| and in its root."""
    size, pull = abs(w), step * 0.7
    cubic = np.sign(w) * 2 * size / (1 + np.sqrt(1 + 4 * pull * size))  # the stable form of the root
    root = 2 * size / (pull + np.sqrt(pull**2 + 4 * size)) if size else 0.0
    assert Lp(0.7, 3.0).prox(one(w), step)[0] == pytest.approx(cubic, rel=1e-12, abs=1e-300)
    assert Lp(0.7, 1.5).prox(one(w), step)[0] == pytest.approx(np.sign(w) * root**2, rel=1e-9, abs=1e-14)


@given(w=reals(), v=reals(), l1=st.floats(0.01, 10))
def test_elastic_net_tends_to_l1(w, v, l1):
    """With a vanishing l2 the elastic net is L1, in value, step and domain."""
    net, lasso = ElasticNet(l1, 1e-12), L1(l1)
    assert net.value(one(w)) == pytest.approx(lasso.value(one(w)), abs=1e-8)
    assert net.prox(one(w), 1.0) == pytest.approx(lasso.prox(one(w), 1.0), abs=1e-9)
    if abs(v) <= l1 or abs(v) > l1 + 1e-3:
        assert (net.conjugate(one(v)) > 1e5) == np.isinf(lasso.conjugate(one(v)))


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), float("inf")])
@pytest.mark.parametrize("make", [L2, L1, Lp, lambda x: ElasticNet(x, 1.0), lambda x: ElasticNet(1.0, x)])
def test_impossible_strengths_are_refused(make, bad):
    """A penalty needs a positive finite strength; no penalty has a name of its own."""
    with pytest.raises(ParameterError, match="NoPenalty"):
        make(bad)


@pytest.mark.parametrize("p", [1.0, 0.5, float("inf"), float("nan")])
def test_impossible_powers_are_refused(p):
    """Lp is convex and has a conjugate of its own kind for 1 < p < inf only."""
    with pytest.raises(ParameterError):
        Lp(1.0, p)
