"""Perceptrons as the lectures print them: traces, Boolean functions, the mistake bound, what is kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineal import Perceptron, PolynomialFeatures, mistake_bound
from lineal.errors import NotConvergedWarning
from reference.perceptron import (
    averaged_k_classes,
    averaged_two_classes,
    k_classes,
    kernel_two_classes,
    two_classes,
    vote,
    voted,
)

CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
AND, OR, XOR = (np.array(truth) for truth in ([-1, -1, -1, 1], [-1, 1, 1, 1], [-1, 1, 1, -1]))


def with_constant(X):
    """The lectures' x = [x_1, ..., x_k, 1]."""
    return np.column_stack([X, np.ones(len(X))])


def whole_numbers(seed, n=15, d=3):
    """Small whole numbers: every sum is exact, so ties are ties and equality is equality."""
    return np.random.default_rng(seed).integers(-3, 4, size=(n, d)).astype(float)


def weights_of(step):
    return np.column_stack([step.coef, step.intercept])


seeds = st.integers(0, 2**31)


# ---- traces -------------------------------------------------------------------------------------


def test_the_first_epoch_of_and_by_hand():
    """x = (x1, x2, 1): sgn(0) = +1 is wrong for (0,0), then (1,1) is missed; the rest follows."""
    steps = Perceptron(epochs=2, shuffle=False).steps(CORNERS, AND)
    traced = [(tuple(weights_of(step)[0]), step.is_mistake) for step in steps]
    assert traced == [
        ((0, 0, -1), True),
        ((0, 0, -1), False),
        ((0, 0, -1), False),
        ((1, 1, 0), True),
        ((1, 1, -1), True),
        ((1, 0, -2), True),
        ((1, 0, -2), False),
        ((2, 1, -1), True),
    ]


@given(seeds)
def test_two_classes_follow_the_printed_algorithm(seed):
    """After every example the weights, and the running average, are those of the pseudo-code."""
    X = whole_numbers(seed)
    t = np.where(np.random.default_rng(seed + 1).random(len(X)) < 0.5, -1, 1)
    t[:2] = -1, 1
    steps = list(Perceptron(epochs=3, shuffle=False).steps(X, t))
    plain = list(two_classes(with_constant(X), t, 3))
    averages = list(averaged_two_classes(with_constant(X), t, 3))
    assert len(steps) == len(plain)
    for step, w, w_bar in zip(steps, plain, averages, strict=True):
        np.testing.assert_array_equal(weights_of(step)[0], w)
        np.testing.assert_allclose(
            np.r_[step.average_coef[0], step.average_intercept], w_bar, rtol=1e-13, atol=1e-13
        )


@given(seeds, st.integers(3, 5))
def test_k_classes_follow_the_printed_algorithm(seed, n_classes):
    """The same for the block map and the first argmax."""
    X = whole_numbers(seed)
    t = np.random.default_rng(seed + 1).integers(0, n_classes, len(X))
    t[:n_classes] = np.arange(n_classes)
    labels = list(range(n_classes))
    steps = list(Perceptron(epochs=3, shuffle=False).steps(X, t))
    plain = list(k_classes(with_constant(X), t, labels, 3))
    averages = list(averaged_k_classes(with_constant(X), t, labels, 3))
    for step, W, W_bar in zip(steps, plain, averages, strict=True):
        np.testing.assert_array_equal(weights_of(step), W)
        np.testing.assert_allclose(
            np.column_stack([step.average_coef, step.average_intercept]), W_bar, rtol=1e-13, atol=1e-13
        )


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("shuffle", [False, True])
def test_fit_keeps_what_the_steps_end_with(n_classes, shuffle):
    """plain is the last step's weights; averaged is the sum over all N T examples divided by N T."""
    X = whole_numbers(3, 30)
    y = np.arange(30) % n_classes
    options = {"epochs": 4, "shuffle": shuffle, "random_state": 5}
    last = list(Perceptron(**options).steps(X, y))[-1]
    plain, averaged = (Perceptron(variant, **options).fit(X, y) for variant in ("plain", "averaged"))
    assert last.example == 4 * 30
    np.testing.assert_array_equal(plain.coef_, last.coef)
    np.testing.assert_array_equal(plain.intercept_, last.intercept)
    np.testing.assert_array_equal(averaged.coef_, last.average_coef)
    np.testing.assert_array_equal(averaged.intercept_, last.average_intercept)
    assert plain.updates_ == sum(step.is_mistake for step in Perceptron(**options).steps(X, y))


def test_dividing_by_one_more_changes_no_prediction():
    """One lecture divides the sum of the weights by N T, another by N T + 1: the same model but for scale."""
    X, t = whole_numbers(7, 20), np.where(np.arange(20) % 3 == 0, 1, -1)
    model = Perceptron(epochs=5, shuffle=False).fit(X, t)
    total = sum(two_classes(with_constant(X), t, 5))
    ours = np.r_[model.coef_[0], model.intercept_]
    np.testing.assert_allclose(ours, total / 100, rtol=1e-13)
    np.testing.assert_array_equal(np.sign(with_constant(X) @ ours), np.sign(with_constant(X) @ total / 101))


@given(seeds)
def test_two_rows_of_weights_recover_one(seed):
    """With ties to +1 the two-class joint perceptron makes the same mistakes, and w = (w_+ - w_-) / 2."""
    X = with_constant(whole_numbers(seed))
    t = np.where(np.random.default_rng(seed + 1).random(len(X)) < 0.5, -1, 1)
    t[:2] = -1, 1
    one = list(two_classes(X, t, 3))
    two = list(k_classes(X, t, [1, -1], 3))  # the first argmax is +1
    for w, W in zip(one, two, strict=True):
        np.testing.assert_array_equal(W[0] - W[1], 2 * w)


@given(seeds)
def test_the_vote_is_freund_and_schapires(seed):
    """survivors_ and counts_ are their list of (v, c), and predict is their sign of a sum of signs."""
    X = whole_numbers(seed)
    t = np.where(np.random.default_rng(seed + 1).random(len(X)) < 0.5, -1, 1)
    t[:2] = -1, 1
    model = Perceptron("voted", epochs=3, shuffle=False).fit(X, t)
    v, c = voted(with_constant(X), t, 3)
    np.testing.assert_array_equal(model.counts_, c)
    assert len(model.survivors_) == len(v) == model.updates_ + 1
    for place, weights in enumerate(v):
        coef, intercept = model.survivors_[place]
        np.testing.assert_array_equal(np.r_[coef[0], intercept], weights)
    new = whole_numbers(seed + 2)
    np.testing.assert_array_equal(model.predict(new), [vote(v, c, x) for x in with_constant(new)])
    assert model.counts_.sum() == 3 * len(X)


# ---- Boolean functions --------------------------------------------------------------------------


@pytest.mark.parametrize(("truth", "n_mistakes"), [(AND, 11), (OR, 5)], ids=["and", "or"])
def test_and_and_or_are_learnt(truth, n_mistakes):
    """They converge to weights that are right everywhere, within the bound."""
    model = Perceptron("plain", until_convergence=True, shuffle=False).fit(CORNERS, truth)
    assert model.converged_
    assert model.reason_ == "an epoch without a mistake"
    assert model.updates_ == n_mistakes
    assert model.mistakes_[-1] == 0
    np.testing.assert_array_equal(model.predict(CORNERS), truth)
    bound = mistake_bound(CORNERS, truth)
    assert bound.separable
    assert model.updates_ <= bound.bound
    assert 0 <= model.margin_ <= bound.margin_at_most


def test_xor_is_not_learnt_and_the_warning_says_where_to_look():
    """No epoch is without a mistake, and a convex combination of the four corners proves that none can be."""
    with pytest.warns(NotConvergedWarning, match="mistake_bound"):
        model = Perceptron("plain", until_convergence=True, epochs=500).fit(CORNERS, XOR)
    assert not model.converged_
    assert (model.mistakes_ > 0).all()
    bound = mistake_bound(CORNERS, XOR)
    assert bound.separable is False
    assert bound.bound == np.inf
    np.testing.assert_allclose(bound.witness.shares, 0.25, rtol=1e-12)
    assert "not separable" in str(bound)


def test_xor_is_learnt_with_the_quadratic_map():
    """Products of two features make XOR separable, and the perceptron finds it."""
    X = PolynomialFeatures(2).fit_transform(CORNERS)
    model = Perceptron("plain", until_convergence=True, shuffle=False).fit(X, XOR)
    assert model.converged_
    np.testing.assert_array_equal(model.predict(X), XOR)
    assert model.updates_ <= mistake_bound(X, XOR).bound


def test_the_quadratic_map_is_the_quadratic_kernel():
    """On phi_2 the perceptron makes the mistakes of the kernel perceptron with (x.y)^2, row by row."""
    rng = np.random.default_rng(0)
    X = with_constant(rng.integers(-2, 3, size=(12, 2)).astype(float))
    t = np.where(rng.random(12) < 0.5, -1, 1)
    alphas = list(kernel_two_classes(X, t, lambda a, b: (a @ b) ** 2, 4))
    phi = PolynomialFeatures(2, homogeneous=True, ordered=True).fit_transform(X)  # whole numbers: exact
    learner = Perceptron(epochs=4, shuffle=False, fit_intercept=False)
    wrong = np.zeros(12)
    for step, alpha in zip(learner.steps(phi, t), alphas, strict=True):
        wrong[step.row] += step.is_mistake
        np.testing.assert_array_equal(wrong, alpha)


# ---- what is kept -------------------------------------------------------------------------------


def test_random_weights_are_those_before_some_example():
    """In one epoch each of the n vectors before an example is as likely as any other."""
    X = whole_numbers(11, 6)
    t = np.array([1, -1, 1, -1, -1, 1])
    before = [np.zeros(4), *two_classes(with_constant(X), t, 1)][:-1]
    found = np.zeros(6)
    for seed in range(600):
        model = Perceptron("random", epochs=1, shuffle=False, random_state=seed).fit(X, t)
        same = [np.array_equal(np.r_[model.coef_[0], model.intercept_], w) for w in before]
        assert any(same)
        found += np.array(same) / sum(same)
    # Equal vectors share what they get: each group's share is its size, within 5 standard deviations.
    np.testing.assert_allclose(found / 600, 1 / 6, atol=5 * np.sqrt(1 / 6 * 5 / 6 / 600))


def test_best_is_the_epoch_of_highest_held_out_accuracy():
    """Its weights are those at the end of the first best epoch."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 5))
    t = np.where(X[:, 0] + rng.normal(size=120) > 0, 1, -1)
    train, held = slice(80), slice(80, None)
    model = Perceptron("best", epochs=8, shuffle=False, validation=(X[held], t[held])).fit(X[train], t[train])
    scores = []
    for epoch in range(1, 9):
        plain = Perceptron("plain", epochs=epoch, shuffle=False).fit(X[train], t[train])
        scores.append(plain.score(X[held], t[held]))
        if epoch == model.best_epoch_:
            np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_allclose(model.validation_scores_, scores)
    assert model.best_epoch_ == 1 + int(np.argmax(scores))


def test_the_online_bound_is_its_formula():
    """Mean online loss + sqrt(2 ln(1/delta) / n), of the first epoch only; the vote doubles it."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 3))
    t = np.where(X[:, 0] > 0, 1, -1)
    model = Perceptron("random", epochs=1).fit(X, t)
    bound = model.generalization_bound(0.9)
    assert bound.n == 400
    assert bound.mean_loss == model.mistakes_[0] / 400
    assert bound.bound == pytest.approx(bound.mean_loss + np.sqrt(2 * np.log(10) / 400))
    assert bound.caveat == ""
    vote_bound = Perceptron("voted", epochs=1).fit(X, t).generalization_bound(0.9)
    assert vote_bound.bound == pytest.approx(2 * (bound.bound + 1 / 400))
    for variant, why in (("averaged", "convex"), ("plain", "had not learnt from")):
        more = Perceptron(variant, epochs=3).fit(X, t).generalization_bound(0.9)
        assert more.bound == pytest.approx(bound.bound)  # the first epoch is the same one
        assert why in more.caveat
        assert why in str(more)
    assert "met rows again" in Perceptron("random", epochs=3).fit(X, t).generalization_bound().caveat


def test_the_online_bound_holds():
    """At confidence 0.8 the mean error of an epoch's weights exceeds the bound once in five draws at most."""
    rng = np.random.default_rng(3)
    direction = np.array([1.0, -0.5, 0.2])
    fresh = rng.normal(size=(4000, 3))
    truth = np.where(fresh @ direction + 0.3 * rng.normal(size=4000) >= 0, 1, -1)
    exceeded = 0
    for _ in range(40):
        X = rng.normal(size=(60, 3))
        t = np.where(X @ direction + 0.3 * rng.normal(size=60) >= 0, 1, -1)
        model = Perceptron("random", epochs=1, shuffle=False).fit(X, t)
        before = [np.zeros(4), *two_classes(with_constant(X), t, 1)][:-1]
        errors = [np.mean(np.where(with_constant(fresh) @ w >= 0, 1, -1) != truth) for w in before]
        exceeded += np.mean(errors) > model.generalization_bound(0.8).bound
    assert exceeded <= 8
