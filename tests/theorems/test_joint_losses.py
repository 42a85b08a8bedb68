"""Losses of K scores, and the simplex their duals live on."""

import numpy as np
import pytest
from hypothesis import given

from lineal.objective import joint as module
from lineal.objective.joint import CrammerSinger, JointLoss, Softmax, one_hot, project_simplex
from strategies import concrete, joint_losses, losses, named, seeds

every_loss = pytest.mark.parametrize("loss", joint_losses(), ids=named)
smooth_loss = pytest.mark.parametrize("loss", [loss for loss in joint_losses() if loss.is_smooth], ids=named)
two_faced = pytest.mark.parametrize("loss", [loss for loss in losses() if loss.joint is not None], ids=named)
STEP = 1e-6


def draw(seed, n=50, K=None, size=3.0):
    """Codes, scores and points of the simplex; a third of the scores are whole, so that ties occur."""
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 6)) if K is None else K
    z = size * rng.normal(size=(n, K))
    z[: n // 3] = np.round(z[: n // 3])
    p = rng.dirichlet(np.full(K, 0.5), size=n)
    p[: n // 5] = one_hot(rng.integers(0, K, n // 5), K)
    return rng.integers(0, K, n).astype(np.int32), z, p


def test_every_joint_loss_is_a_member():
    """No joint loss that the module defines escapes these theorems."""
    assert {type(loss) for loss in joint_losses()} == set(concrete(module, JointLoss))


@every_loss
@given(seed=seeds())
def test_fenchel_young(loss, seed):
    """loss(z) + loss*(u) >= z.u for p in the simplex, with equality at the derivative."""
    y, z, p = draw(seed)
    gold = one_hot(y, z.shape[1])
    slack = loss.value(y, z) + loss.conjugate(y, p - gold) - (z * (p - gold)).sum(axis=1)
    assert slack.min() >= -1e-12  # scores up to about 12, products of them 5 units in the 14th place
    u = loss.derivative(y, z)
    np.testing.assert_allclose(loss.value(y, z) + loss.conjugate(y, u) - (z * u).sum(axis=1), 0.0, atol=1e-12)


@every_loss
@given(seed=seeds())
def test_derivative_is_the_slope_of_the_value(loss, seed):
    """Central differences in every score, for rows without ties."""
    y, z, _ = draw(seed)
    y, z = y[len(y) // 3 :], z[len(y) // 3 :]
    step = np.empty_like(z)
    for k in range(z.shape[1]):
        e = STEP * one_hot(np.full(len(y), k), z.shape[1])
        step[:, k] = (loss.value(y, z + e) - loss.value(y, z - e)) / (2 * STEP)
    # A bend inside a step turns the slope by curvature * STEP; a kink inside one is as rare as STEP.
    np.testing.assert_allclose(loss.derivative(y, z), step, atol=1e-8 + (loss.curvature or 0.0) * STEP)


@every_loss
@given(seed=seeds())
def test_conjugate_is_infinite_outside_the_simplex(loss, seed):
    """p below 0 by more than rounding, or not summing to 1: +inf."""
    y, z, p = draw(seed)
    u = p - one_hot(y, z.shape[1])
    for wrong in (np.array([1e-9, -1e-9]), np.array([1e-9, 0.0])):
        moved = u.copy()
        j = p[:, 1:].argmin(axis=1) + 1
        moved[np.arange(len(y)), j] = -one_hot(y, z.shape[1])[np.arange(len(y)), j] + wrong[1]
        moved[:, 0] -= moved.sum(axis=1) - wrong.sum()
        assert np.all(loss.conjugate(y, moved) == np.inf)


@every_loss
@given(seed=seeds())
def test_convex(loss, seed):
    """The derivative is monotone: (u(a) - u(b)).(a - b) >= 0, and at most curvature |a - b|^2."""
    y, a, _ = draw(seed, K=4)
    _, b, _ = draw(seed + 1, K=4)
    turn = ((loss.derivative(y, a) - loss.derivative(y, b)) * (a - b)).sum(axis=1)
    assert turn.min() >= -1e-12
    if loss.is_smooth:
        assert np.all(turn <= loss.curvature * ((a - b) ** 2).sum(axis=1) + 1e-12)


@smooth_loss
@given(seed=seeds())
def test_curvature_product_is_the_slope_of_the_derivative(loss, seed):
    """H d = (u(z + h d) - u(z - h d)) / 2h away from bends; its diagonal is e_k.H e_k."""
    y, z, _ = draw(seed)
    y, z = y[len(y) // 3 :], z[len(y) // 3 :]
    d = np.random.default_rng(seed).normal(size=z.shape)
    below, here, above = (loss.derivative(y, z + step * d) for step in (-STEP, 0.0, STEP))
    straight = np.abs(above - 2 * here + below).max(axis=1) <= 1e-11  # no bend inside the step
    assert straight.mean() > 0.9
    product = loss.curvature_product(y, z, d)
    # Third derivatives times h^2, and rounding of slopes (1e-16) over h.
    np.testing.assert_allclose(product[straight], ((above - below) / (2 * STEP))[straight], atol=1e-8)
    for k in range(z.shape[1]):
        e = one_hot(np.full(len(y), k), z.shape[1])
        diagonal = loss.curvature_product(y, z, e)[:, k]
        np.testing.assert_allclose(
            loss.curvature_diagonal(y, z)[:, k], diagonal, atol=1e-15 * (loss.curvature + 1)
        )


@given(seed=seeds())
@pytest.mark.parametrize("width", [1e-3, 0.1, 2.0])
def test_smoothing_bound_of_the_joint_hinge(width, seed):
    """0 <= loss - loss_mu <= mu, because |p - e_y|^2 <= 2."""
    y, z, _ = draw(seed)
    lost = CrammerSinger().value(y, z) - CrammerSinger().smoothed(width).value(y, z)
    assert lost.min() >= -1e-13 / min(width, 1)  # the projection's arguments are scores over the width
    assert lost.max() <= width + 1e-13 / min(width, 1)


@two_faced
@given(seed=seeds())
def test_two_classes_are_one_score(loss, seed):
    """With K = 2 and z = z_+ - z_-, a joint loss equals the loss of one score it stands for."""
    y, z, _ = draw(seed, K=2)
    joint, sign, score = loss.joint(), np.where(y == 1, 1.0, -1.0), z[:, 1] - z[:, 0]
    np.testing.assert_allclose(joint.value(y, z), loss.value(sign, score), atol=1e-13)
    slope = loss.derivative(sign, score)
    np.testing.assert_allclose(joint.derivative(y, z), np.column_stack([-slope, slope]), atol=1e-13)
    np.testing.assert_allclose(
        joint.conjugate(y, np.column_stack([-slope, slope])), loss.conjugate(sign, slope), atol=1e-13
    )


@given(seed=seeds())
def test_crammer_singer_has_slope_0_exactly_at_margin_1(seed):
    """0 if z_y - max_{k != y} z_k >= 1, else e_k* - e_y with the lowest k* among the largest."""
    y, z, _ = draw(seed)
    for i, (gold, scores, u) in enumerate(zip(y, z, CrammerSinger().derivative(y, z), strict=True)):
        rivals = [(-score, k) for k, score in enumerate(scores) if k != gold]
        score, rival = min(rivals)
        expected = np.zeros(len(scores))
        if scores[gold] + score < 1:
            expected[rival], expected[gold] = 1.0, -1.0
        np.testing.assert_array_equal(u, expected, err_msg=f"row {i}: {scores}, gold {gold}")


@every_loss
@pytest.mark.parametrize("size", [1e3, 1e10, 1e100, 1e300])
def test_far_scores_do_not_overflow(loss, size):
    """loss / |z| tends to its recession max_k z_k - z_y over |z|, and slopes stay in the simplex."""
    pattern = np.array([[1.0, -1.0, 0.5], [-1.0, 1.0, 0.5], [0.0, 0.0, 1.0], [-1.0, -0.5, 0.0]])
    y = np.array([0, 0, 2, 1], dtype=np.int32)
    recession = pattern.max(axis=1) - pattern[np.arange(4), y]
    np.testing.assert_allclose(loss.value(y, size * pattern) / size, recession, atol=2 / size + 1e-14)
    assert np.all(np.isfinite(loss.conjugate(y, loss.derivative(y, size * pattern))))


@given(seed=seeds())
@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_simplex_projection_is_the_nearest_point(shift, seed):
    """p is in the simplex and (v - p).(q - p) <= 0 for every vertex q: the mark of the nearest point."""
    _, v, _ = draw(seed, size=2.0)
    p = project_simplex(v + shift)
    assert p.min() >= 0
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-14)
    away = (v + shift) - shift - p  # what adding the shift rounded away is gone before the projection
    obtuse = away - (away * p).sum(axis=1, keepdims=True)
    assert obtuse.max() <= 1e-13


def test_softmax_of_equal_scores_is_the_logarithm_of_the_classes():
    """logsumexp of K zeros is log K."""
    assert Softmax().value(np.zeros(1, dtype=np.int32), np.zeros((1, 7)))[0] == pytest.approx(np.log(7))
