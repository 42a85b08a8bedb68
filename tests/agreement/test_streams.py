"""Native streams meet their slow twin, scikit-learn's, closed forms, and themselves cut in pieces."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier as TheirClassifier
from sklearn.linear_model import SGDRegressor as TheirRegressor

import lineal
from lineal import (
    Lasso,
    LinearClassifier,
    LinearRegressor,
    OnlineClassifier,
    OnlineRegressor,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Ridge,
    SGDClassifier,
    SGDRegressor,
)
from lineal.objective import (
    L1,
    L2,
    ElasticNet,
    Hinge,
    Log,
    NoPenalty,
    Perceptron,
    Squared,
    SquaredHinge,
)
from reference.online import Stream
from strategies import losses, named, seeds

LOSSES = [loss for loss in losses() if not isinstance(loss, Perceptron)]
LABELS = ("m", "x", "c", "a")  # in the order of their arrival


# ---- the twin -----------------------------------------------------------------------------------

STEPS = {
    "adaptive": {},
    "constant": {"rate": 0.3},
    "decaying": {"rate": 2.0, "power": 0.5},
}
STRENGTHS = {
    NoPenalty(): (0.0, 0.0),
    L2(0.5): (0.0, 0.5),
    L1(0.2): (0.2, 0.0),
    ElasticNet(0.2, 0.5): (0.2, 0.5),
}
INTERCEPTS = ("free", "none", "penalized")


def recipes():
    """Options of an online learner, and the same as the twin knows them: all that go together."""
    turns = itertools.cycle(INTERCEPTS)
    for (steps, own), penalty, average in itertools.product(STEPS.items(), STRENGTHS, (False, True)):
        is_cut = STRENGTHS[penalty][0] > 0
        if is_cut and (average or own):
            continue
        intercept = next(turns)
        theirs = {"steps": steps, "rate": own.get("rate"), "average": average, "penalty": penalty}
        theirs |= {"fit_intercept": intercept != "none", "penalize_intercept": intercept == "penalized"}
        yield theirs, {**own, "is_averaged": average, "strengths": STRENGTHS[penalty], "intercept": intercept}


def rows_of(width, seed, n=10):
    """Rows in mixed units with zeros: of a few columns; of many; of few, and then of many.

    No two of them are multiples of each other: a margin that is met exactly is a tie that rounding decides.
    """
    rng = np.random.default_rng(seed)
    d = 4 if width == "few" else 70
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-2, 3, size=d)
    X[:, d // 2 :] *= rng.random((n, d - d // 2)) < 0.6
    if width == "many":
        X[0] = 1.0
    elif width == "few, then many":
        X[: n // 2, 60:] = 0.0
    return X, rng.choice([0.5, 1.0, 2.0], size=n)


def with_constant(x, options):
    return np.append(x, 1.0) if options["intercept"] != "none" else x


def weights_of(model):
    """coef_ and intercept_ side by side."""
    parts = [np.atleast_2d(model.coef_)]
    if model.fit_intercept:
        parts.append(np.reshape(model.intercept_, (-1, 1)))
    return np.hstack(parts)


def assert_close(found, wanted, rtol=1e-8):
    """Rounding grows with the size of the weights and not with each one's own."""
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol * np.abs(wanted).max(initial=1e-300))


def numbers_agree(model, loss, options, X, Y, s):
    n_targets = Y.shape[1]
    d = X.shape[1] + (options["intercept"] != "none")
    twin = Stream(loss, np.zeros((n_targets, d)), classes=False, **options)
    for x, y, weight in zip(X, Y, s, strict=True):
        model.partial_fit([x], [y] if n_targets > 1 else y, sample_weight=[weight])
        twin.meet(with_constant(x, options), y, weight)
        assert_close(weights_of(model), twin.kept)


def public(W, known):
    """Scores by arrival as users know them: sorted; of two labels the upper one's, of one the other's."""
    if len(known) > 2:
        return W[np.argsort(known)]
    return W if len(known) == 2 and known[0] > known[1] else -W


def classes_agree(model, loss, options, X, y, s):
    d = X.shape[1] + (options["intercept"] != "none")
    twin, known = Stream(loss, np.zeros((1, d)), classes=True, **options), []
    for x, label, weight in zip(X, y, s, strict=True):
        model.partial_fit([x], [label], sample_weight=[weight])
        known += [label] if label not in known else []
        if len(known) > max(2, len(twin.W)):
            twin.part(len(known))
        targets = np.where(np.array(known[: len(twin.W)]) == label, 1.0, -1.0)
        twin.meet(with_constant(x, options), targets, weight)
        assert model.classes_.tolist() == sorted(known)
        assert_close(weights_of(model), public(twin.kept, known))


def cases():
    """Every recipe with few columns; every other with few that become many, or with many from the start."""
    for case, (theirs, own) in enumerate(recipes()):
        for width in ("few", ("few, then many", "many")[case // 2 % 2])[: 2 - case % 2]:
            yield case, theirs, own, *rows_of(width, case)


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if not loss.is_margin], ids=named)
def test_numbers_are_learned_as_the_twin_does(loss):
    """Native weights are the twin's after every row: all steps and penalties, whole and diagonal metrics."""
    for case, theirs, own, X, s in cases():
        Y = np.random.default_rng(case).normal(size=(len(X), 1 + case % 3 // 2)) * 3.0
        Y[: case % 3] = 0.0  # exactly what is predicted
        numbers_agree(OnlineRegressor(loss, **theirs), loss, own, X, Y, s)


@pytest.mark.parametrize("loss", LOSSES, ids=named)
def test_classes_are_learned_as_the_twin_does(loss):
    """The same for labels as they arrive, jointly or each against the rest; for losses of numbers too."""
    joint = {Log(): "softmax", Hinge(): "crammer_singer"}.get(loss, "")
    for case, theirs, own, X, s in itertools.islice(cases(), 0, None, 1 if loss.is_margin else 4):
        for n_classes in (2, 4) if joint else (2 + 2 * (case // 2 % 2),):
            y = np.random.default_rng(case).choice(LABELS[:n_classes], size=len(X))
            y[[0, 2, 4, 7][:n_classes]] = LABELS[:n_classes]
            classes_agree(OnlineClassifier(loss, **theirs), loss, {**own, "joint": joint}, X, y, s)


GROWING = [  # what a row of weight 1 adds to l1 and to l2
    (Lasso(alpha=0.05), Squared(), (0.05, 0.0)),
    (lineal.ElasticNet(alpha=0.1, l1_ratio=0.3), Squared(), (0.03, 0.07)),
    (SGDRegressor(alpha=0.2, fit_intercept=False), Squared(), (0.0, 0.2)),
    (SGDClassifier(alpha=0.2), Hinge(), (0.0, 0.2)),
    (SGDClassifier("log_loss", penalty="elasticnet", alpha=0.04, l1_ratio=0.25), Log(), (0.01, 0.03)),
]


@pytest.mark.parametrize("width", ["few", "many"])
@pytest.mark.parametrize(("model", "loss", "growths"), GROWING, ids=str)
def test_penalties_that_grow_are_followed_as_the_twin_does(model, loss, growths, width):
    """Presets that divide losses by the number of rows: the penalty grows by a row's share with every row."""
    X, s = rows_of(width, 5)
    options = {"growths": growths, "intercept": "free" if model.fit_intercept else "none"}
    rng = np.random.default_rng(6)
    if loss.is_margin:
        y = np.r_[LABELS, rng.choice(LABELS, size=len(X) - 4)]
        classes_agree(clone(model), loss, options, X, y, s)
    else:
        numbers_agree(clone(model), loss, options, X, rng.normal(size=(len(X), 1)), s)


@pytest.mark.parametrize("width", ["few", "many"])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("loss", [Log(), Hinge(), SquaredHinge(), Squared()], ids=named)
def test_a_stream_goes_on_from_a_fit_as_the_twin_does(loss, n_outputs, width):
    """From its weights, each column as if it had been in all rows of the fit, without the penalty."""
    X, s = rows_of(width, 7, n=40)
    X /= np.abs(X).max(axis=0)
    rng = np.random.default_rng(8)
    n_classes = 2 if n_outputs == 1 else n_outputs
    y = rng.normal(size=(len(X), n_outputs)) if not loss.is_margin else np.arange(len(X)) % n_classes
    kind = LinearClassifier if loss.is_margin else LinearRegressor
    model = kind(loss, L2(0.3)).fit(X[:30], y[:30, 0] if y.ndim == n_outputs + 1 else y[:30])
    joint = {Log(): "softmax", Hinge(): "crammer_singer"}.get(loss, "")
    twin = Stream(loss, weights_of(model), classes=loss.is_margin, joint=joint, n_before=30.0)
    for x, target, weight in zip(X[30:], y[30:], s[30:], strict=True):
        model.partial_fit([x], target if target.shape == (1,) else [target], sample_weight=[weight])
        if loss.is_margin:
            target = np.where(np.arange(n_classes) == target, 1.0, -1.0)[-n_outputs:]
        twin.meet(np.append(x, 1.0), target, weight)
        assert_close(weights_of(model), twin.W)


# ---- closed forms -------------------------------------------------------------------------------


@given(seeds(), st.sampled_from([1, 5, 64]), st.sampled_from([1, 3]))
def test_few_columns_are_recursive_least_squares(seed, d, n_targets):
    """After every row the scores are those of the ridge regression on the rows so far, weights included."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, d)) * 10.0 ** rng.integers(-3, 4, size=d)
    Y, s = rng.normal(size=(12, n_targets)), rng.choice([0.5, 1.0, 2.0], size=12)
    Y[: rng.integers(3)] = 0.0  # rows that are predicted exactly count, too
    model = Ridge(alpha=2.0, fit_intercept=False)
    for n in range(1, 13):
        model.partial_fit(
            X[n - 1 : n], Y[n - 1 : n] if n_targets > 1 else Y[n - 1], sample_weight=s[n - 1 : n]
        )
        A, b = X[:n].T * s[:n] @ X[:n] + 2.0 * np.eye(d), X[:n].T * s[:n] @ Y[:n]
        np.testing.assert_allclose(
            X @ np.atleast_2d(model.coef_).T, X @ np.linalg.solve(A, b), rtol=1e-6, atol=1e-8
        )


VARIANTS = ["PA", "PA-I", "PA-II"]
TAU = {
    "PA": lambda loss, norm, C: loss / norm,
    "PA-I": lambda loss, norm, C: min(C, loss / norm),
    "PA-II": lambda loss, norm, C: loss / (norm + 1 / (2 * C)),
}


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("variant", VARIANTS)
@settings(max_examples=15)
@given(seeds(), st.sampled_from([0.01, 0.3, 1.0, 50.0]))
def test_passive_aggressive_steps_are_the_published_ones(variant, fit_intercept, seed, C):
    """w + tau y x for classes, w + tau sign(y - z) x for numbers; an intercept is a column of ones."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(8, 3)) * 10.0 ** rng.integers(-1, 2)
    signs, numbers = rng.choice([-1.0, 1.0], size=8), rng.normal(size=8) * 3
    classifier = PassiveAggressiveClassifier(variant, C=C, fit_intercept=fit_intercept)
    regressor = PassiveAggressiveRegressor(variant, C=C, epsilon=0.2, fit_intercept=fit_intercept)
    w, v = np.zeros((2, 3 + fit_intercept))
    for x, sign, number in zip(X, signs, numbers, strict=True):
        full = np.append(x, 1.0) if fit_intercept else x
        w = w + TAU[variant](max(0.0, 1.0 - sign * w @ full), full @ full, C) * sign * full
        error = number - v @ full
        v = v + TAU[variant](max(0.0, abs(error) - 0.2), full @ full, C) * np.sign(error) * full
        assert_close(weights_of(classifier.partial_fit([x], [sign], classes=[-1, 1]))[0], w, rtol=1e-9)
        assert_close(weights_of(regressor.partial_fit([x], [number]))[0], v, rtol=1e-9)


@pytest.mark.parametrize(
    ("variant", "theirs", "n_classes"), [("PA-I", "pa1", 2), ("PA-II", "pa2", 2), ("PA-II", "pa2", 4)]
)
def test_passive_aggressive_is_scikit_learns(variant, theirs, n_classes):
    """Without an intercept, whose steps are others there; of more classes where each is against the rest."""
    rng = np.random.default_rng(n_classes)
    X, y = (
        rng.normal(size=(60, 5)),
        np.r_[LABELS[:n_classes], rng.choice(LABELS[:n_classes], size=60 - n_classes)],
    )
    options = {
        "penalty": None,
        "learning_rate": theirs,
        "eta0": 0.4,
        "fit_intercept": False,
        "shuffle": False,
    }
    try:
        classifier = TheirClassifier(loss="hinge", **options)
        classifier.partial_fit(X, y, classes=np.unique(y))
    except ValueError:
        pytest.skip("scikit-learn before 1.8 has these steps in other classes")
    ours = PassiveAggressiveClassifier(variant, C=0.4, fit_intercept=False)
    assert_close(ours.partial_fit(X, y, classes=np.unique(y)).coef_, classifier.coef_)
    regressor = TheirRegressor(loss="epsilon_insensitive", epsilon=0.1, **options).partial_fit(X, X[:, 0])
    ours = PassiveAggressiveRegressor(variant, C=0.4, fit_intercept=False).partial_fit(X, X[:, 0])
    assert_close(ours.coef_, regressor.coef_)
