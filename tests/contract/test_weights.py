"""Weights of rows and of classes mean what they say."""

import inspect

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.utils.class_weight import compute_class_weight

import lineal
from contract.members import (
    classifiers,
    data_for,
    estimators,
    features,
    labels,
    named,
    predictors,
    same_model,
    whole_features,
)
from lineal import LinearClassifier, verify
from lineal.errors import InputError
from lineal.objective import L1, L2, NoPenalty

every = pytest.mark.parametrize("kind", estimators(), ids=named)
every_classifier = pytest.mark.parametrize("kind", classifiers(), ids=named)
TOL = 1e-9


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@every
def test_weight_2_is_the_row_twice(kind, layout):
    """A row of weight k and the row k times have the same optimum."""
    X, y = data_for(kind)
    times = np.random.default_rng(3).integers(1, 4, size=len(y))
    rows = np.repeat(np.arange(len(y)), times)
    shaped = sp.csr_array if layout == "sparse" else np.asarray
    heavy = kind(tol=TOL).fit(shaped(X), y, sample_weight=times)
    repeated = kind(tol=TOL).fit(shaped(X[rows]), y[rows])
    assert heavy.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=2 * TOL)
    # Each is within the gap of the optimum, and strong convexity turns that into its square root.
    ours = heavy.decision_function(X) if kind in classifiers() else heavy.predict(X)
    theirs = repeated.decision_function(X) if kind in classifiers() else repeated.predict(X)
    np.testing.assert_allclose(ours, theirs, atol=5e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
@every_classifier
def test_balanced_classes_are_explicit_weights(kind, n_classes):
    """class_weight='balanced' multiplies each row by n / (K n_class), to the bit."""
    X = features(60)
    y = labels(X, n_classes)
    factors = compute_class_weight("balanced", classes=np.arange(n_classes), y=y)
    expected = 60 / (n_classes * np.bincount(y))
    np.testing.assert_allclose(factors, expected)
    assert same_model(kind(class_weight="balanced").fit(X, y), kind().fit(X, y, sample_weight=factors[y]))


@pytest.mark.parametrize("n_classes", [2, 3])
@every_classifier
def test_a_dictionary_of_class_weights_is_explicit_weights(kind, n_classes):
    """class_weight={label: factor} multiplies that label's rows; labels that are not named keep weight 1."""
    X = features(60)
    codes = labels(X, n_classes)
    y = np.array(["a", "b", "c"])[codes]
    weights = np.where(codes == 1, 2.5, 1.0)
    assert same_model(kind(class_weight={"b": 2.5}).fit(X, y), kind().fit(X, y, sample_weight=weights))


@every_classifier
def test_class_and_row_weights_multiply(kind):
    """Both kinds of weight at once are their product."""
    X, y = data_for(kind)
    rows = np.linspace(0.5, 2.0, len(y))
    both = kind(class_weight={0: 1.0, 1: 3.0}).fit(X, y, sample_weight=rows)
    assert same_model(both, kind().fit(X, y, sample_weight=rows * np.where(y == 1, 3.0, 1.0)))


def test_class_weight_keys_are_the_labels_whatever_their_type():
    """Keys of booleans, numbers and text find their class."""
    X = features()
    codes = labels(X)
    reference = LinearClassifier().fit(X, codes, sample_weight=np.where(codes == 1, 4.0, 1.0))
    for names in (np.array([False, True]), np.array([3, 5]), np.array([1.0, 2.0]), np.array(["n", "y"])):
        key = names[1].item()
        assert same_model(LinearClassifier(class_weight={key: 4.0}).fit(X, names[codes]), reference)


@pytest.mark.parametrize("penalty", [L2(1.0), L1(0.3)], ids=repr)
@pytest.mark.parametrize("factor", [0.25, 8.0])
def test_weights_scale_against_the_penalty(penalty, factor):
    """Multiplying every weight by c is dividing the strength by c: a penalty faces a sum, not a mean."""
    X = features()
    y = labels(X)
    heavy = LinearClassifier(penalty=penalty, tol=1e-10).fit(X, y, sample_weight=np.full(40, factor))
    lighter = LinearClassifier(penalty=type(penalty)(penalty.strength / factor), tol=1e-10).fit(X, y)
    assert heavy.certificate_.primal == pytest.approx(factor * lighter.certificate_.primal, rel=1e-9)
    np.testing.assert_allclose(heavy.coef_, lighter.coef_, atol=1e-4)


def test_weights_that_leave_one_class_are_refused():
    """Through rows or through classes; the label is shown as it was given."""
    X = features()
    y = labels(X) == 1
    with pytest.raises(InputError, match="one class with weight: False"):
        LinearClassifier(class_weight={True: 0}).fit(X, y)
    with pytest.raises(InputError, match="one class with weight: False"):
        LinearClassifier().fit(X, y, sample_weight=np.where(y, 0.0, 1.0))


# What they draw depends on how many rows there are.
DRAWN = (
    lineal.Bagging, lineal.Stacking, lineal.Voting, lineal.Calibrated, lineal.OnlineClassifier,
    lineal.PassiveAggressiveClassifier, lineal.CoTraining, lineal.OutputCode, lineal.TableClassifier,
)  # fmt: skip


@pytest.mark.parametrize("kind", [kind for kind in predictors() if is_classifier(kind())])
def test_a_class_whose_rows_weigh_nothing_is_no_class(kind):
    """A row of weight 0 is no row: classes_ and all answers are those of a fit without the class's rows."""
    if "sample_weight" not in inspect.signature(kind.fit).parameters:
        pytest.skip("takes no weights of rows")
    X = np.abs(whole_features())
    y = labels(X)
    if kind in (lineal.PUClassifier, lineal.MultipleInstanceSVM):
        pytest.skip("knows two labels, which say different things")
    rng = np.random.default_rng(0)
    rows = rng.integers(0, len(y), size=len(y) // 2)
    more, others = [X[i] for i in rows.tolist()], [7] * len(rows)
    whole = np.concatenate([X, np.array(more, dtype=X.dtype)])
    s = np.concatenate([np.ones(len(y)), np.zeros(len(rows))])
    model = kind().fit(whole, [*y.tolist(), *others], sample_weight=s)
    without = kind().fit(X, y, sample_weight=np.ones(len(y)))
    assert model.classes_.tolist() == without.classes_.tolist() == np.unique(y).tolist()
    if kind not in DRAWN:
        assert model.predict(X).tolist() == without.predict(X).tolist()


@pytest.mark.parametrize("kind", [LinearClassifier, lineal.LinearSVC, lineal.RidgeClassifier, lineal.SVC])
def test_a_class_whose_factor_is_0_is_no_class(kind):
    """class_weight={label: 0} is a weight of 0 for its rows; probabilities and verify know that, too."""
    X = features()
    y = labels(X, 3)
    options = {"kernel": "linear"} if kind is lineal.SVC else {}  # gamma="scale" looks at rows, not classes
    options |= {"probability": True} if kind in (LinearClassifier, lineal.LinearSVC) else {}
    model = kind(class_weight={1: 0.0, 2: 3.0}, tol=1e-9, **options).fit(X, y)
    without = kind(class_weight={2: 3.0}, tol=1e-9, **options).fit(X[y != 1], y[y != 1])
    assert model.classes_.tolist() == [0, 2]
    np.testing.assert_allclose(model.decision_function(X), without.decision_function(X), atol=1e-6)
    if "probability" in options:
        np.testing.assert_allclose(model.predict_proba(X), without.predict_proba(X), atol=1e-3)
    assert verify(model, X, y).converged


@pytest.mark.parametrize("kind", [lineal.OnlineClassifier, lineal.PassiveAggressiveClassifier])
def test_a_class_whose_factor_is_0_is_no_class_of_a_stream(kind):
    """In a fit and piece by piece: its rows are not met, not counted, and name no label."""
    X = features(120)
    y = labels(X, 3)
    weighted, without = (
        kind(class_weight={1: 0.0, 2: 3.0}, shuffle=False),
        kind(class_weight={2: 3.0}, shuffle=False),
    )
    weighted.fit(X, y)
    without.fit(X[y != 1], y[y != 1])
    assert same_model(weighted, without)
    assert weighted.classes_.tolist() == [0, 2]
    assert weighted.online_accuracy_ == without.online_accuracy_
    pieces = kind(class_weight={1: 0.0, 2: 3.0})
    with pytest.raises(InputError, match="no label to learn yet"):
        pieces.partial_fit(X[y == 1], y[y == 1])
    for piece in (slice(0, 70), slice(70, 120)):
        pieces.partial_fit(X[piece], y[piece])
    pieces.partial_fit(X[y == 1], y[y == 1])  # teaches nothing
    assert same_model(pieces, kind(class_weight={2: 3.0}).partial_fit(X[y != 1], y[y != 1]))
    with pytest.raises(InputError, match="y has no weight"):
        kind(class_weight={0: 0, 1: 0, 2: 0}).fit(X, y)


def test_softmax_of_a_class_without_weight():
    """It has no scores that could fall for ever: without a penalty, too, the others are what is fitted."""
    X = features()
    y = labels(X, 3)
    rng = np.random.default_rng(0)
    y = np.where(rng.random(40) < 0.4, rng.integers(0, 3, size=40), y)  # no plane parts them
    s = np.where(y < 2, 1.0, 0.0)
    model = LinearClassifier(penalty=NoPenalty(), tol=1e-9).fit(X, y, sample_weight=s)
    without = LinearClassifier(penalty=NoPenalty(), tol=1e-9).fit(X[y < 2], y[y < 2])
    assert model.certificate_.converged
    np.testing.assert_allclose(model.coef_, without.coef_, rtol=1e-6)
