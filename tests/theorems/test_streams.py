"""Implicit steps: no row is overshot, no unit matters, and every row is judged before it is learned from."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from lineal import (
    OnlineClassifier,
    OnlineRegressor,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    SGDClassifier,
)
from lineal.objective import L1, L2, ElasticNet, Hinge, Log, Perceptron, Squared, SquaredHinge
from lineal.objective.joint import CrammerSinger, Softmax
from strategies import losses, named, seeds

LOSSES = [loss for loss in losses() if not isinstance(loss, Perceptron)]
REGRESSION = [loss for loss in LOSSES if not loss.is_margin]
MARGIN = [loss for loss in LOSSES if loss.is_margin]
JOINT = {Log(): Softmax(), Hinge(): CrammerSinger()}
STEPS = [{}, {"penalty": L2(0.3)}, {"steps": "constant", "rate": 7.0}, {"steps": "decaying", "rate": 0.1}]
widths = st.sampled_from([3, 70])
few = settings(max_examples=6)  # of each loss: there are many of them


def rows(seed, d, n=10):
    """Rows of all lengths, in columns of all sizes."""
    rng = np.random.default_rng(seed)
    X = (
        rng.normal(size=(n, d))
        * 10.0 ** rng.integers(-3, 4, size=d)
        * 10.0 ** rng.integers(-2, 3, size=(n, 1))
    )
    return X, rng


def falls(values):
    """Whether no value is above the one before it, but for rounding."""
    return (np.diff(values) <= 1e-9 * (1.0 + np.abs(values).max())).all()


# ---- one step -----------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", REGRESSION, ids=named)
@few
@given(seed=seeds(), d=widths, options=st.sampled_from(STEPS))
def test_a_step_never_passes_the_least_loss_of_its_number(loss, seed, d, options):
    """On the way from the score before a row to the one after it, the row's loss only falls."""
    X, rng = rows(seed, d)
    y = 5.0 * rng.normal(size=len(X))
    model = OnlineRegressor(loss, **options).partial_fit(X[:1], y[:1])
    for x, target in zip(X, y, strict=True):
        before = model.predict([x])[0]
        after = model.partial_fit([x], [target]).predict([x])[0]
        assert falls(loss.value(target, np.linspace(before, after, 9)))
        assert abs(after) < np.inf


@pytest.mark.parametrize("loss", MARGIN, ids=named)
@few
@given(seed=seeds(), d=widths, options=st.sampled_from(STEPS), n_classes=st.sampled_from([2, 4]))
def test_a_step_never_passes_the_least_loss_of_its_label(loss, seed, d, options, n_classes):
    """The same for classes: for each score against the rest, or for the joint loss of all."""
    X, rng = rows(seed, d)
    y = rng.integers(0, n_classes, size=len(X))
    model = OnlineClassifier(loss, **options).partial_fit(X[:1], y[:1], classes=range(n_classes))
    for x, label in zip(X, y, strict=True):
        before = model.decision_function([x])
        after = model.partial_fit([x], [label]).decision_function([x])
        way = np.reshape(before + np.linspace(0.0, 1.0, 9)[:, None] * (after - before), (9, -1))
        if n_classes == 2:
            assert falls(loss.value(2.0 * label - 1.0, way[:, 0]))
        elif loss in JOINT:
            assert falls(JOINT[loss].value(np.full(9, label), way))
        else:
            for k in range(n_classes):
                assert falls(loss.value(1.0 if k == label else -1.0, way[:, k]))


@pytest.mark.parametrize("fit_intercept", [False, True])
@settings(max_examples=10)
@given(seeds())
def test_a_passive_aggressive_step_is_the_smallest_that_satisfies(fit_intercept, seed):
    """PA gives a row its margin exactly, or brings it onto the tube, and no smaller change does."""
    X, rng = rows(seed, 4)
    classifier = PassiveAggressiveClassifier("PA", fit_intercept=fit_intercept)
    regressor = PassiveAggressiveRegressor("PA", epsilon=0.3, fit_intercept=fit_intercept)
    for model, targets in (
        (classifier, rng.choice([-1, 1], size=len(X))),
        (regressor, rng.normal(size=len(X))),
    ):
        model.partial_fit(X[:1], targets[:1], **({"classes": [-1, 1]} if model is classifier else {}))
        for x, y in zip(X, targets, strict=True):
            before, z = parameters(model), float(score(model, x))
            model.partial_fit([x], [y])
            change, after = parameters(model) - before, float(score(model, x))
            full = np.append(x, 1.0)[: len(change)]
            # Rounding is that of the sum of the weights' shares, which may be far larger than the score.
            near = 1e-9 * (1.0 + np.abs(parameters(model) * full).sum())
            if model is classifier:
                assert after * y == pytest.approx(max(z * y, 1.0), abs=near)
            else:
                assert after == pytest.approx(np.clip(z, y - 0.3, y + 0.3), abs=near)
            others = rng.normal(size=(50, len(change)))
            others *= ((after - z) / (others @ full))[:, None]  # all of them change the score by as much
            assert np.linalg.norm(change) <= np.linalg.norm(others, axis=1).min() * (1 + 1e-9) + near


def parameters(model):
    return np.append(np.ravel(model.coef_), model.intercept_)[: model.n_features_in_ + model.fit_intercept]


def score(model, x):
    return (getattr(model, "decision_function", None) or model.predict)([x])[0]


# ---- units --------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES, ids=named)
@few
@given(seed=seeds(), d=widths, powers=st.lists(st.integers(-60, 60), min_size=3, max_size=3))
def test_columns_in_other_units_give_the_same_predictions(loss, seed, d, powers):
    """Factors that are powers of two change no bit of a prediction, and weights by their inverse."""
    factors = 2.0 ** np.resize(powers, d)
    X, rng = rows(seed, d)
    kind, y = (
        (OnlineClassifier, rng.integers(0, 3, size=len(X)))
        if loss.is_margin
        else (OnlineRegressor, rng.normal(size=len(X)))
    )
    one, other = kind(loss).partial_fit(X, y), kind(loss).partial_fit(X * factors, y)
    np.testing.assert_array_equal(other.coef_ * factors, one.coef_)
    np.testing.assert_array_equal(other.predict(X * factors), one.predict(X))
    assert other.online_loss_ == one.online_loss_


@pytest.mark.parametrize("loss", [Log(), Hinge(), SquaredHinge(), Squared()], ids=named)
@settings(max_examples=10)
@given(seed=seeds(), d=widths, powers=st.lists(st.floats(-8, 8), min_size=3, max_size=3))
def test_any_units_give_nearly_the_same_predictions(loss, seed, d, powers):
    """Metres or millimetres, from 1e-8 to 1e8: the same scores but for rounding."""
    factors = 10.0 ** np.resize(powers, d)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, d))
    kind, y = (
        (OnlineClassifier, np.arange(30) % 2) if loss.is_margin else (OnlineRegressor, rng.normal(size=30))
    )
    one, other = kind(loss).partial_fit(X, y), kind(loss).partial_fit(X * factors, y)
    scores = [score(model, x) for model, rows in ((one, X), (other, X * factors)) for x in rows[-5:]]
    np.testing.assert_allclose(scores[5:], scores[:5], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("loss", REGRESSION, ids=named)
@few
@given(seed=seeds(), d=widths, power=st.integers(-40, 40), average=st.booleans())
def test_targets_in_other_units_scale_the_predictions(loss, seed, d, power, average):
    """Dollars or cents: y and the loss's own widths times c give predictions times c."""
    c = 2.0**power
    own = {name: getattr(loss, name) * c for name in ("delta", "epsilon", "width") if hasattr(loss, name)}
    X, rng = rows(seed, d)
    y = rng.normal(size=len(X))
    y[: rng.integers(3)] = 0.0  # where there is no error yet, nothing tells the unit
    one = OnlineRegressor(loss, average=average).partial_fit(X, y)
    other = OnlineRegressor(replace(loss, **own), average=average).partial_fit(X, c * y)
    np.testing.assert_allclose(other.predict(X), c * one.predict(X), rtol=1e-9, atol=1e-9 * c)


@pytest.mark.parametrize(
    "options", [{}, {"penalty": L1(0.1)}, {"average": True}, {"steps": "constant"}], ids=str
)
@settings(max_examples=10)
@given(seed=seeds(), d=widths)
def test_permuting_columns_permutes_the_weights(options, seed, d):
    """Columns have no order."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(20, d)), np.arange(20) % 3
    order = rng.permutation(d)
    one = OnlineClassifier(**options).partial_fit(X, y)
    other = OnlineClassifier(**options).partial_fit(X[:, order], y)
    np.testing.assert_allclose(other.coef_, one.coef_[:, order], rtol=1e-8, atol=1e-10)


# ---- what is told -------------------------------------------------------------------------------

LEARNERS = [
    OnlineClassifier(),
    OnlineClassifier(average=True),
    OnlineClassifier(Hinge()),
    OnlineClassifier(SquaredHinge(), L1(0.1)),
    SGDClassifier(alpha=0.05),
]


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("model", LEARNERS, ids=str)
@settings(max_examples=10)
@given(seed=seeds())
def test_rows_are_judged_before_they_are_learned_from(model, n_classes, seed):
    """online_accuracy_ and online_loss_ are those of a loop that predicts, and then learns from one row."""
    X, rng = rows(seed, 3)
    y, s = rng.integers(0, n_classes, size=len(X)), rng.choice([0.5, 1.0, 2.0], size=len(X))
    whole = clone(model).partial_fit(X, y, classes=range(n_classes), sample_weight=s)
    loss = whole._recipe().loss
    joint = JOINT.get(loss) if whole._recipe().joint and n_classes > 2 else None
    signs = np.where(y[:, None] == np.arange(n_classes), 1.0, -1.0)[:, 1 if n_classes == 2 else 0 :]
    loop, right, lost = clone(model), 0.0, 0.0
    for i in range(len(X)):
        Z = np.atleast_2d(loop.decision_function(X[i : i + 1]).T).T if i else np.zeros((1, signs.shape[1]))
        lost += s[i] * float(
            joint.value(y[i : i + 1], Z)[0] if joint else loss.value(signs[i : i + 1], Z).sum()
        )
        predicted = loop.predict(X[i : i + 1])[0] if i else (1 if n_classes == 2 else 0)
        right += s[i] * (predicted == y[i])
        loop.partial_fit(X[i : i + 1], y[i : i + 1], classes=range(n_classes), sample_weight=s[i : i + 1])
    assert whole.online_accuracy_ == pytest.approx(right / s.sum(), abs=1e-12)
    assert whole.online_loss_ == pytest.approx(lost / s.sum(), rel=1e-9)
    assert whole.n_seen_ == len(X)


@given(seeds())
def test_a_label_that_was_never_seen_was_predicted_wrong(seed):
    """Where labels come as they come, the first row of each counts as a mistake."""
    X, rng = rows(seed, 3, n=15)
    y = rng.choice(["d", "a", "c", "b"], size=len(X))
    model, right = OnlineClassifier(), 0
    for x, label in zip(X, y, strict=True):
        right += hasattr(model, "classes_") and model.predict([x])[0] == label
        model.partial_fit([x], [label])
    assert model.online_accuracy_ == pytest.approx(right / len(X))


@pytest.mark.parametrize("loss", REGRESSION, ids=named)
@few
@given(seed=seeds())
def test_numbers_are_judged_before_they_are_learned_from(loss, seed):
    """online_loss_ is the mean loss of predictions by the rows before; of several targets, their sum."""
    X, rng = rows(seed, 3)
    Y = rng.normal(size=(len(X), 2))
    model, lost = OnlineRegressor(loss), 0.0
    for x, y in zip(X, Y, strict=True):
        lost += loss.value(y, model.predict([x])[0] if hasattr(model, "n_seen_") else np.zeros(2)).sum()
        model.partial_fit([x], [y])
    assert model.online_loss_ == pytest.approx(lost / len(X), rel=1e-9)


# ---- weights, averages, zeros -------------------------------------------------------------------


@pytest.mark.parametrize("options", STEPS, ids=str)
@settings(max_examples=10)
@given(seed=seeds(), d=widths, n_classes=st.sampled_from([0, 2, 4]))
def test_averages_are_means_of_the_weights_after_every_row(options, seed, d, n_classes):
    """average=True gives the literal mean, whatever the steps."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(9, d))
    kind, y = (
        (OnlineClassifier, rng.integers(0, n_classes, size=9))
        if n_classes
        else (OnlineRegressor, rng.normal(size=9))
    )
    named_from_start = {"classes": range(n_classes)} if n_classes else {}
    model, after = kind(**options), []
    for x, target in zip(X, y, strict=True):
        model.partial_fit([x], [target], **named_from_start)
        after.append(np.append(np.ravel(model.coef_), model.intercept_))
    mean = kind(**options, average=True).partial_fit(X, y, **named_from_start)
    found = np.append(np.ravel(mean.coef_), mean.intercept_)
    np.testing.assert_allclose(found, np.mean(after, axis=0), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("options", [*STEPS, {"penalty": L1(0.1)}, {"average": True}], ids=str)
@settings(max_examples=10)
@given(seed=seeds(), d=widths, kind=st.sampled_from([OnlineClassifier, OnlineRegressor]))
def test_weight_zero_is_no_row(options, seed, d, kind):
    """Bit for bit, labels and all; even a row that could not have been learned from."""
    X, rng = rows(seed, d)
    y, s = rng.integers(0, 3, size=len(X)), rng.choice([0.0, 1.0, 2.0], size=len(X))
    s[0], s[-1] = rng.choice([0.0, 1.0]), 1.0
    X[s == 0] = 1e200
    one, other = kind(**options), kind(**options)
    one.partial_fit(X, y, sample_weight=s)
    other.partial_fit(X[s > 0], y[s > 0], sample_weight=s[s > 0])
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(one.intercept_, other.intercept_)
    assert (one.n_seen_, one.online_loss_) == (other.n_seen_, other.online_loss_)
    if kind is OnlineClassifier:
        assert one.online_accuracy_ == other.online_accuracy_
        assert one.classes_.tolist() == other.classes_.tolist()


@pytest.mark.parametrize("penalty", [L1(8.0), ElasticNet(8.0, 0.1)], ids=named)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_l1_gives_true_zeros(penalty, n_classes):
    """Columns of noise have weights that are 0 and not merely small; those that matter do not."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 40))
    y = (3.0 * X[:, :n_classes] + rng.gumbel(size=(500, n_classes))).argmax(axis=1)
    coef = OnlineClassifier(penalty=penalty).partial_fit(X, y).coef_
    assert (coef[:, n_classes:] == 0).mean() > 0.5
    assert (coef[:, :n_classes] != 0).any(axis=0).all()
    assert not OnlineClassifier(penalty=L1(1e4)).partial_fit(X, y).coef_.any()
