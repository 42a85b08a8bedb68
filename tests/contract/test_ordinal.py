"""What OrdinalClassifier takes, refuses and says."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import lineal
from lineal.errors import CombinationError, InputError, NoMinimumError, ParameterError
from lineal.objective import L1, L2, CustomLoss, Hinge, Log, Perceptron
from theorems.test_ordinal import in_a_row, quiet

X, y, _ = in_a_row(0)
NAMES = np.array(["low", "middle", "high", "top"])


@pytest.mark.parametrize(
    ("error", "words", "options"),
    [
        (ParameterError, "thresholds must be 'all' or 'immediate'", {"thresholds": "some"}),
        (ParameterError, "loss must be a loss of one score", {"loss": "log"}),
        (ParameterError, "penalty must be a Penalty", {"penalty": 1.0}),
        (ParameterError, "order must list labels", {"order": "low"}),
        (ParameterError, "order must list at least two labels, each once", {"order": [0, 1, 1]}),
        (ParameterError, "order must list at least two labels, each once", {"order": [0]}),
        (ParameterError, "can be told apart", {"order": [[0], [1]]}),
        (ParameterError, "tol is a relative duality gap", {"tol": 0}),
        (ParameterError, "max_seconds must be", {"max_seconds": -1}),
        (ParameterError, "epochs must be", {"max_epochs": 0}),
        (ParameterError, "callbacks must be", {"callbacks": 3}),
        (
            CombinationError,
            "dual_cd needs .* thresholds that share weights: use newton or lbfgs",
            {"solver": "dual_cd"},
        ),
        (CombinationError, "prox_cd .* use lbfgs", {"solver": "prox_cd", "penalty": L1(1.0)}),
        (NoMinimumError, "minimised by w = 0", {"loss": Perceptron()}),
    ],
)
def test_impossible_options_are_refused_before_data_are_read(error, words, options):
    """What cannot be is refused by name, whatever the data."""
    with pytest.raises(error, match=words):
        lineal.OrdinalClassifier(**options).fit(object(), [1, 2, 3])


@pytest.mark.parametrize(
    ("words", "labels", "options"),
    [
        ("have no order of their own.*order=", NAMES[y], {}),
        ("have no order of their own", pd.Categorical(NAMES[y]), {}),
        ("not among the model's.*Add them to order=", NAMES[y], {"order": ["low", "middle", "high"]}),
        ("only one class with weight: 1", np.ones(len(y), dtype=int), {}),
        ("Unknown label type: continuous", X[:, 0], {}),
        ("requires y", None, {}),
        ("inconsistent numbers of samples", y[:-1], {}),
    ],
)
def test_labels_without_an_order_are_refused(words, labels, options):
    """Labels that no order is known for, or that cannot be classes, are refused with what to do."""
    with pytest.raises((InputError, ValueError), match=words):
        lineal.OrdinalClassifier(**options).fit(X, labels)


def test_only_weight_makes_a_class():
    """A class whose rows have no weight is not there: one that is left alone is refused."""
    with pytest.raises(InputError, match="only one class with weight: 2"):
        lineal.OrdinalClassifier().fit(X, y, (y == 2).astype(float))


def test_a_class_without_rows_keeps_its_place():
    """A class that order names and y lacks is never predicted, and counts where mistakes are counted."""
    order = ["none", "low", "middle", "high", "top"]
    has_middle = NAMES[y] != "middle"
    model = lineal.OrdinalClassifier(order=order).fit(X[has_middle], NAMES[y][has_middle])
    assert model.classes_.tolist() == ["low", "high", "top"]
    assert model.order_.tolist() == order
    assert model.thresholds_.shape == (2,)
    assert set(model.predict(X)) <= {"low", "high", "top"}
    place = {name: k for k, name in enumerate(order)}
    off = [abs(place[a] - place[b]) for a, b in zip(model.predict(X), NAMES[y], strict=True)]
    assert np.isclose(model.mean_absolute_error(X, NAMES[y]), np.mean(off))
    with pytest.raises(InputError, match="not among the model's"):
        model.mean_absolute_error(X[:1], ["unheard of"])


def test_mean_absolute_error_counts_classes():
    """It is the mean distance of places, with weights; accuracy is the share of distance 0."""
    model = lineal.OrdinalClassifier().fit(X, 10 * y)
    off = np.abs(model.predict(X) - 10 * y) / 10
    s = np.arange(len(y), dtype=float)
    assert model.mean_absolute_error(X, 10 * y) == off.mean()
    assert np.isclose(model.mean_absolute_error(X, 10 * y, s), np.average(off, weights=s))
    assert model.score(X, 10 * y) == np.mean(off == 0)


def test_probabilities_need_the_log_loss():
    """Other losses have scores, not probabilities."""
    assert hasattr(lineal.OrdinalClassifier(), "predict_proba")
    assert not hasattr(lineal.OrdinalClassifier(loss=Hinge()).fit(X, y), "predict_proba")


def test_scores_lie_on_the_axis_of_the_thresholds():
    """A label is the number of thresholds at or below the score; the middle threshold is 0."""
    model = lineal.OrdinalClassifier().fit(X, y)
    assert model.thresholds_[1] == 0.0
    z = model.decision_function(X)
    assert z.shape == (len(y),)
    np.testing.assert_array_equal(model.predict(X), (z[:, None] >= model.thresholds_).sum(axis=1))


@quiet
def test_a_loss_of_ones_own():
    """A custom loss fits, held to all thresholds or to neighbours, and one with a fault is refused."""

    class Cosh(CustomLoss):
        is_margin = True

        def value(self, y, z):
            return np.logaddexp(0.0, -2 * y * z)

        def derivative(self, y, z):
            return -2 * y / (1 + np.exp(2 * y * z))

    class Wrong(Cosh):
        def derivative(self, y, z):
            return -y / (1 + np.exp(2 * y * z))

    for kind in ("all", "immediate"):
        assert lineal.OrdinalClassifier(kind, Cosh()).fit(X, y).certificate_.converged
        with pytest.raises(ParameterError):
            lineal.OrdinalClassifier(kind, Wrong()).fit(X, y)


def test_budgets_and_callbacks():
    """A fit that runs out of epochs warns and has its proof; a callback sees the gap and can stop."""
    model = lineal.OrdinalClassifier(tol=1e-15, max_epochs=1)
    with pytest.warns(lineal.errors.NotCertifiedWarning, match="OrdinalClassifier is not certified"):
        model.fit(X, y)
    assert model.certificate_.epochs == 1
    seen = []
    lineal.OrdinalClassifier(callbacks=[seen.append]).fit(X, y)
    assert seen[-1].gap >= 0
    assert clone(model).get_params() == model.get_params()


def test_verify_owes_nothing_to_the_fit():
    """verify proves an ordinal model anew from its weights alone; the risk of another loss is not told."""
    model = lineal.OrdinalClassifier(penalty=L2(0.5), tol=1e-6).fit(X, y)
    proof = lineal.verify(model, X, y, use_dual=False)
    assert proof.converged
    assert np.isclose(proof.primal, model.certificate_.primal, rtol=1e-12)
    assert lineal.empirical_risk(model, X, y) > 0
    with pytest.raises(ParameterError, match="its own loss"):
        lineal.empirical_risk(model, X, y, loss=Log())
