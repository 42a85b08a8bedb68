"""What is proved of learners over a joint map: Novikoff's bound, Crammer's, and what no unit changes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineal import JointPassiveAggressive, JointPerceptron, mistake_bound
from lineal.errors import NotConvergedWarning
from lineal.features import block_map
from strategies import seeds

LABELS = list("abc")
n_labels = st.sampled_from([2, 3])


def separable(seed, K, n=25, d=6):
    """Shared features of n things and K labels; labels by known weights of norm 1, and their margin."""
    rng = np.random.default_rng(seed)
    values = np.where(rng.random((n, K, d)) < 0.3, 0.0, rng.normal(size=(n, K, d)))
    u = rng.normal(size=d)
    u /= np.linalg.norm(u)
    scores = np.sort(values @ u, axis=1)
    kept = scores[:, -1] - scores[:, -2] > 0.05
    values = values[kept]
    codes = (values @ u).argmax(axis=1)
    gold = values[np.arange(len(values)), codes]
    differences = gold[:, None] - values
    wrong = np.arange(K) != codes[:, None]
    margin = (differences @ u)[wrong].min(initial=np.inf)
    radius = np.linalg.norm(differences, axis=2).max(initial=0.0)

    def phi(x, y):
        return dict(enumerate(values[x, LABELS.index(y)].tolist()))

    return phi, [LABELS[k] for k in codes], margin, radius


@given(seeds(), n_labels, st.booleans())
def test_mistakes_stay_within_the_bound_of_a_known_separator(seed, K, shuffle):
    """mistakes <= R^2 / gamma^2 for the separator that made the labels, in any order; then there are none."""
    phi, y, margin, radius = separable(seed, K)
    if not y:
        return
    model = JointPerceptron(phi, "plain", labels=LABELS[:K], until_convergence=True, epochs=100_000,
                            shuffle=shuffle, random_state=seed).fit(range(len(y)), y)  # fmt: skip
    assert model.converged_
    assert model.updates_ <= (radius / margin) ** 2 * (1 + 1e-12)
    assert model.radius_ == pytest.approx(radius)
    assert model.predict(range(len(y))).tolist() == y
    if model.margin_ > 0:
        assert model.updates_ <= (model.radius_ / model.margin_) ** 2


@given(seeds(), n_labels)
def test_the_bound_of_the_map_is_proved(seed, K):
    """mistake_bound finds a margin no smaller than the separator's, and its weights have it."""
    phi, y, margin, radius = separable(seed, K)
    if not y:
        return
    proved = mistake_bound(range(len(y)), y, phi=phi, labels=LABELS[:K])
    assert proved.separable
    assert proved.margin_at_most >= margin * (1 - 1e-9)
    assert proved.margin >= margin * 0.99
    assert proved.radius == pytest.approx(radius)
    names = JointPerceptron(phi, labels=LABELS[:K], epochs=1).fit(range(len(y)), y).feature_names_
    w = dict(zip(names, proved.witness.coef[0], strict=True))
    for x, label in enumerate(y):
        scores = {k: sum(w[j] * value for j, value in phi(x, k).items()) for k in LABELS[:K]}
        assert all(scores[label] - scores[k] >= proved.margin * (1 - 1e-9) for k in scores if k != label)


@given(seeds(), st.sampled_from([3, 4]))
def test_the_bound_of_a_block_map_is_that_of_the_classes(seed, K):
    """With more than two classes and no intercept."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 3))
    y = (X @ rng.normal(size=(3, K))).argmax(axis=1)
    y[:K] = np.arange(K)  # which may make it inseparable
    joint = mistake_bound(X, y, phi=block_map)
    block = mistake_bound(X, y, fit_intercept=False)
    assert joint.separable == block.separable
    assert joint.radius == pytest.approx(block.radius)
    if joint.separable:
        assert joint.margin == pytest.approx(block.margin, rel=2e-3)


def test_labels_that_phi_cannot_tell_apart_are_not_separable():
    """Their difference is 0, which is a convex combination of one; the perceptron never ends."""
    same = {"phi": lambda x, y: {"all": 1.0}}
    bound = mistake_bound(["a", "b"], [0, 1], **same)
    assert (bound.separable, bound.radius) == (False, 0.0)
    with pytest.warns(NotConvergedWarning, match=r"mistake_bound\(X, y, phi=phi\)"):
        JointPerceptron(**same, until_convergence=True, epochs=5).fit(["a", "b"], [0, 1])


@given(seeds(), n_labels)
def test_passive_aggressive_losses_are_bounded(seed, K):
    """PA: the squared losses sum to R^2 / gamma^2 at most (Crammer et al. 2006, theorem 2)."""
    phi, y, margin, radius = separable(seed, K)
    if not y:
        return
    model = JointPassiveAggressive(phi, "PA", labels=LABELS[:K])
    squares = 0.0
    for _ in range(5):
        for x, label in enumerate(y):
            before, n = getattr(model, "online_loss_", 0.0), getattr(model, "n_seen_", 0)
            model.partial_fit([x], [label])
            squares += (model.online_loss_ * (n + 1) - before * n) ** 2
    assert squares <= (radius / margin) ** 2 * (1 + 1e-6) + 1e-9


@given(seeds(), n_labels)
def test_a_passive_aggressive_step_gives_the_label_its_lead(seed, K):
    """After PA the example's label leads by 1 at least; no change of PA-I is longer than C |d|."""
    phi, y, _, radius = separable(seed, K)
    for variant in ("PA", "PA-I"):
        model, before = JointPassiveAggressive(phi, variant, C=0.1, labels=LABELS[:K]), {}
        for x, label in enumerate(y):
            model.partial_fit([x], [label])
            after = model.weights_
            change = np.array([after[name] - before.get(name, 0.0) for name in after])
            if variant == "PA-I":
                assert np.linalg.norm(change) <= 0.1 * radius * (1 + 1e-9)
            elif K == 2:
                scores = model.decision_function([x])[0]
                own = LABELS.index(label)
                assert scores[own] - scores[1 - own] >= 1 - 1e-9
            before = after


@given(seeds(), n_labels, st.sampled_from([2.0**-600, 2.0**-40, 2.0**40, 2.0**600]))
def test_units_change_no_mistake(seed, K, factor):
    """A power of 2 as a factor of all features: the same mistakes, weights, radius and margin scaled."""
    phi, y, _, _ = separable(seed, K)
    if not y:
        return

    def scaled(x, y):
        return {name: factor * value for name, value in phi(x, y).items()}

    one, other = (
        JointPerceptron(f, labels=LABELS[:K], epochs=3).fit(range(len(y)), y) for f in (phi, scaled)
    )
    np.testing.assert_array_equal(other.mistakes_, one.mistakes_)
    np.testing.assert_array_equal(other.coef_, factor * one.coef_)
    assert other.radius_ == pytest.approx(factor * one.radius_, rel=1e-12)
    assert other.margin_ == pytest.approx(factor * one.margin_, rel=1e-9)


def test_the_learning_rate_changes_no_prediction():
    """Weights start at 0, so that it is a factor of all of them."""
    phi, y, _, _ = separable(3, 3)
    one, two = (JointPerceptron(phi, learning_rate=rate).fit(range(len(y)), y) for rate in (1.0, 4.0))
    np.testing.assert_array_equal(two.coef_, 4 * one.coef_)
    np.testing.assert_array_equal(two.mistakes_, one.mistakes_)
