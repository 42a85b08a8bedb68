"""What the pictures draw is true: ways, landscapes and learning rates against closed forms."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineal import LinearClassifier, LinearRegressor
from lineal.canvas import spread
from lineal.objective import L2, Lp, NoPenalty, Squared
from lineal.plot import contour, ravine, step_sizes, textbook_descent, trajectory
from lineal.solvers import GD, SOLVERS

LEAST_SQUARES = LinearRegressor(penalty=NoPenalty(), fit_intercept=False)
conditions = st.floats(2, 50)
angles = st.floats(-90, 90)
places = st.tuples(st.floats(-3, 3), st.floats(-3, 3)).map(np.array)


def _directions(angle):
    """Along and across a ravine."""
    turn = np.deg2rad(angle)
    return np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])


@given(conditions, angles, places)
def test_ravine_has_its_condition_and_its_optimum(condition, angle, optimum):
    """X'X has eigenvalues 1 (along the angle) and condition; w* solves the normal equations with P = 1/2."""
    X, y = ravine(condition, angle=angle, optimum=optimum)
    A = X.T @ X
    along, _ = _directions(angle)
    np.testing.assert_allclose(np.linalg.eigvalsh(A), [1, condition], rtol=1e-12)
    np.testing.assert_allclose(A @ along, along, atol=1e-12 * condition)
    residual = y - X @ optimum
    np.testing.assert_allclose(X.T @ residual, 0, atol=1e-12 * condition)
    assert residual @ residual / 2 == pytest.approx(0.5)


@given(conditions, angles, places)
def test_gd_on_a_quadratic_follows_its_closed_form(condition, angle, start):
    """With step 1 / L, x_k - x* = (I - A / L)^k (x_0 - x*)."""
    best = np.array([1.0, 0.3])
    X, y = ravine(condition, angle=angle, optimum=best)
    way = trajectory(LEAST_SQUARES, X, y, solver=GD(learning_rate=1 / condition), n_steps=8, start=start)
    shrink = np.eye(2) - X.T @ X / condition
    for k, theta in enumerate(way.parameters):
        expected = best + np.linalg.matrix_power(shrink, k) @ (start - best)
        # P is known to its rounding only, so a step that gains less than that is undone.
        np.testing.assert_allclose(theta, expected, atol=1e-6)
        assert way.objectives[k] == pytest.approx(((y - X @ expected) ** 2).sum() / 2, abs=1e-12)


@given(conditions, st.floats(0.01, 2.5), places)
def test_textbook_descent_is_the_printed_rule(condition, share, start):
    """theta_k = (I - eta A)^k theta_0, whether that falls or explodes."""
    A = np.diag([1.0, condition])
    eta = share / condition
    for k, theta in enumerate(islice(textbook_descent(lambda t: A @ t, start, eta), 12)):
        np.testing.assert_allclose(theta, (1 - eta * np.diag(A)) ** k * start, rtol=1e-9, atol=1e-12)


@given(conditions, angles)
def test_rates_below_two_over_l_fall_and_above_it_diverge(condition, angle):
    """P of the printed rule never rises with eta <= 2 / L and ends above its start beyond; gd never rises."""
    X, y = ravine(condition, angle=angle)
    L = condition
    result = step_sizes(LEAST_SQUARES, X, y, rates=[0.3 / L, 1.9 / L, 2.6 / L], n_steps=20, start=(0.0, -2.0))
    assert result.curvature == pytest.approx(L)
    rounding = 1e-12 * result.printed[0].objectives[0]
    for way in result.printed[:2]:
        assert np.all(np.diff(way.objectives) <= rounding)
    assert result.printed[2].objectives[-1] > result.printed[2].objectives[0]
    assert result.verdicts()[2] == "diverges"
    assert result.run[2].is_undone.any()
    for way in result.run:
        assert np.all(np.diff(way.objectives) <= rounding)


def test_newton_solves_a_quadratic_in_one_step():
    """However ill-conditioned, the first step is the last; gd with 1 / L leaves (1 - 1/condition)^2k."""
    X, y = ravine(1000.0, angle=20)
    result = contour(
        LEAST_SQUARES, X, y, solvers={"newton": "newton", "gd": GD(learning_rate=1e-3)}, n_steps=5
    )
    assert result.steps_to(1e-12) == {"newton": 1, "gd": None}
    np.testing.assert_allclose(result.optimum, [1.0, 0.3], rtol=1e-9)
    # The first step takes all of what lies across; along the bottom 1 - 1/condition is left each time.
    along, across = (part @ result.optimum for part in _directions(20))
    left = along**2 * (1 - 1e-3) ** 10 / (along**2 + 1000 * across**2)
    assert result.excess("gd")[-1] == pytest.approx(left, rel=1e-6)


def _one_column(n=30):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 1))
    return x, (2 * x[:, 0] + rng.normal(size=n) > 0.5).astype(int), rng.uniform(0.5, 2.0, n)


@pytest.mark.parametrize("penalize_intercept", [False, True])
def test_the_landscape_is_the_objective(penalize_intercept):
    """Values of a logistic landscape are sum_i s_i log(1 + exp(-y z)) + strength/2 (penalised squares)."""
    x, label, s = _one_column()
    learner = LinearClassifier(penalty=L2(0.7), penalize_intercept=penalize_intercept)
    result = contour(learner, x, label, solvers=["newton"], sample_weight=s)
    w, b = np.meshgrid(np.linspace(-2, 3, 7), np.linspace(-1, 1, 5))
    expected = np.empty_like(w)
    for place in np.ndindex(w.shape):
        z = x[:, 0] * w[place] + b[place]
        squares = w[place] ** 2 + (b[place] ** 2 if penalize_intercept else 0.0)
        expected[place] = s @ np.log1p(np.exp(-np.where(label == 1, 1, -1) * z)) + 0.35 * squares
    np.testing.assert_allclose(result.values(w, b), expected, rtol=1e-12)
    np.testing.assert_allclose(result.values(w[0][None, :], b[:, 0][:, None]), expected, rtol=1e-12)
    assert result.names == ("weight of x0", "intercept")
    # No point of the landscape is below the marked optimum, and a small step away is above it.
    assert result.values(*result.optimum) == pytest.approx(result.least, rel=1e-12)
    assert np.all(expected >= result.least)


# All but those that take no least squares under L2.
@pytest.mark.parametrize("name", sorted(set(SOLVERS) - {"prox_cd", "iterative_scaling"}))
def test_every_way_begins_at_the_start_and_carries_its_objectives(name):
    """Points of a trajectory have the objective that is said; primal solvers begin where they are told."""
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(40, 2))
    y = X @ [1.0, -2.0] + rng.normal(size=40)
    penalty = Lp(0.1, 1.5) if name == "cg" else L2(0.1)
    learner = LinearRegressor(loss=Squared(), penalty=penalty, fit_intercept=False)
    way = trajectory(learner, X, y, solver=name, n_steps=6, start=(0.5, 0.5))
    np.testing.assert_array_equal(way.parameters[0], [0.5, 0.5])
    assert way.n_steps <= 6
    assert way.parameters.shape == (way.n_steps + 1, 2)
    for theta, value in zip(way.parameters, way.objectives, strict=True):
        squares = ((X @ theta - y) ** 2).sum() / 2
        assert value == pytest.approx(squares + penalty.value(theta), rel=1e-12)
    assert way.objectives[-1] < way.objectives[0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(0.01, 0.2))
def test_names_are_spread_in_order_and_no_further_than_needed(wanted, distance):
    """Spread places lie in [0, 1], keep the order and the distance, and do not move without a reason."""
    places = spread(wanted, distance)
    room = min(distance, 1 / max(len(wanted) - 1, 1))
    order = np.argsort(wanted, kind="stable")
    assert np.all((places >= -1e-12) & (places <= 1 + 1e-12))
    assert np.all(np.diff(places[order]) >= room - 1e-12)
    if np.all(np.diff(np.sort(wanted)) >= distance):
        np.testing.assert_allclose(places, wanted, atol=1e-12)
