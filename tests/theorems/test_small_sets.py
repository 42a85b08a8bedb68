"""Tables that people try first, raw, at strengths from 1e-4 to 1e4: every fit is certified to 1e-6."""

import warnings

import numpy as np
import pytest
from sklearn import datasets

import lineal
from lineal.errors import NotCertifiedWarning
from lineal.objective import (
    L1,
    L2,
    Absolute,
    ElasticNet,
    EpsilonInsensitive,
    GroupL2,
    Hinge,
    Huber,
    Log,
    ModifiedHuber,
    NoPenalty,
    Quantile,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from lineal.objective.certificate import Stop
from strategies import named, woven

TOL, SECONDS = 1e-6, 200.0  # not a bar: what hangs ends
MARGIN_LOSSES = [Log(), Hinge(), SquaredHinge(), ModifiedHuber()]
NUMBER_LOSSES = [
    Squared(), Huber(), Absolute(), Quantile(0.3), EpsilonInsensitive(), SquaredEpsilonInsensitive(),
]  # fmt: skip
PENALTIES = {
    "L2": lambda strength, _: L2(strength),
    "L1": lambda strength, _: L1(strength),
    "ElasticNet": lambda strength, _: ElasticNet(strength / 2, strength / 2),
    "GroupL2": lambda strength, d: GroupL2(np.arange(d) // 2, strength),  # columns two by two
}
STRENGTHS = 10.0 ** np.arange(-4, 5)
CLASSES, NUMBERS = ("iris", "wine", "breast_cancer", "digits"), ("diabetes", "linnerud")


def load(name, n_classes="two"):
    """Columns as they are; of many classes, or the first against the rest."""
    if name == "diabetes":
        return datasets.load_diabetes(return_X_y=True, scaled=False)
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    if name == "linnerud":
        return X, y[:, 0]
    return X, (y == 0).astype(int) if n_classes == "two" else y


OF_CLASSES = [(name, n_classes) for name in CLASSES for n_classes in ("two", "all")]
OF_CLASSES.remove(("breast_cancer", "all"))  # has two
OF_NUMBERS = [(name, "") for name in NUMBERS]
PARTS = ("name", "n_classes", "loss", "penalty", "strength")


def certify(name, n_classes, loss, penalty, strength):
    X, y = load(name, n_classes)
    kind = lineal.LinearClassifier if loss.is_margin else lineal.LinearRegressor
    made = PENALTIES[penalty](strength, X.shape[1])
    model = kind(loss, made, tol=TOL, max_seconds=SECONDS).fit(X, y)
    assert model.certificate_.converged, model.certificate_
    assert lineal.verify(model, X, y).relative_gap <= 2 * TOL


@pytest.mark.parametrize(PARTS, woven(OF_CLASSES, MARGIN_LOSSES, list(PENALTIES), STRENGTHS, one_in=11))
def test_classes_are_certified_whatever_the_strength(name, n_classes, loss, penalty, strength):
    """Weak and strong penalties of every kind, two classes and many."""
    certify(name, n_classes, loss, penalty, strength)


@pytest.mark.parametrize(PARTS, woven(OF_NUMBERS, NUMBER_LOSSES, list(PENALTIES), STRENGTHS, one_in=7))
def test_numbers_are_certified_whatever_the_strength(name, n_classes, loss, penalty, strength):
    """The same for regression."""
    certify(name, n_classes, loss, penalty, strength)


@pytest.mark.parametrize("loss", MARGIN_LOSSES + NUMBER_LOSSES, ids=named)
def test_without_a_penalty_a_fit_is_certified_or_has_no_end(loss):
    """A likelihood of separated classes has no minimiser, and the direction is told; all else has one."""
    for name, n_classes in OF_CLASSES if loss.is_margin else OF_NUMBERS:
        X, y = load(name, n_classes)
        kind = lineal.LinearClassifier if loss.is_margin else lineal.LinearRegressor
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotCertifiedWarning)
            model = kind(loss, NoPenalty(), tol=TOL, max_seconds=SECONDS).fit(X, y)
        has_end = not (isinstance(loss, Log) and model.certificate_.stop is Stop.NO_MINIMUM)
        assert model.certificate_.converged if has_end else model.separation_ is not None
