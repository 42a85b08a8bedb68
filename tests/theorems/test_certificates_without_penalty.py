"""Without a penalty a dual point must be feasible to the last bit that counts, or nothing is proved."""

import numpy as np
import pytest

from lineal import LinearClassifier, LinearRegressor, verify
from lineal.objective import Absolute, Hinge, Huber, Log, ModifiedHuber, NoPenalty, Squared, SquaredHinge

LOSSES = [Log(), SquaredHinge(), ModifiedHuber(), Hinge(), Squared(), Huber(), Absolute()]


def learner(loss, tol):
    kind = LinearRegressor if isinstance(loss, (Squared, Huber, Absolute)) else LinearClassifier
    return kind(loss=loss, penalty=NoPenalty(), tol=tol, max_seconds=2)


def problem(seed=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 3))
    y = X @ [1.0, -1.0, 0.5] + rng.normal(size=90)
    return X, y


@pytest.mark.filterwarnings("ignore::lineal.errors.NotCertifiedWarning")
@pytest.mark.parametrize("offset", [1e6, 1e9, 1.7e9, 1e10])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_what_is_certified_is_near_the_optimum_whatever_is_added_to_a_column(loss, offset):
    """The intercept takes up what is added, so the optimum is that of the columns as they were."""
    X, y = problem()
    y = y if isinstance(loss, (Squared, Huber, Absolute)) else y > 0
    best = learner(loss, 1e-6).fit(X, y).certificate_
    assert best.converged
    move = np.array([offset, 0.0, 0.0])
    shifted = X + move
    shifted_back = shifted - move  # what is left of the column
    best = learner(loss, 1e-6).fit(shifted_back, y).certificate_
    model = learner(loss, 1e-3).fit(shifted, y)
    for said in (model.certificate_, verify(model, shifted, y)):
        if said.converged:
            assert said.primal <= best.primal * (1 + 1.1e-3)
            assert said.dual <= best.primal * (1 + 1e-9)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("kind", ["constant", "dummies", "twice", "powers"])
def test_columns_that_depend_on_each_other_are_certified_all_the_same(loss, kind):
    X, y = problem()
    rng = np.random.default_rng(5)
    X = {
        "constant": np.c_[X, np.full(90, 0.1)],
        "dummies": np.c_[X, np.eye(3)[rng.integers(0, 3, 90)]],
        "twice": np.c_[X, 3 * X[:, :1]],
        "powers": np.vander(np.linspace(0, 1, 90), 8),
    }[kind]
    y = y if isinstance(loss, (Squared, Huber, Absolute)) else y > 0
    said = learner(loss, 1e-4).fit(X, y).certificate_
    assert said.converged
    assert said.gap >= -1e-12 * said.primal


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("loss", [SquaredHinge(), Hinge(), Log()], ids=str)
def test_weights_that_are_no_numbers_are_never_certified(loss):
    X, y = problem()
    model = LinearClassifier(loss=loss).fit(1e155 * X, y > 0)
    assert np.isfinite(model.intercept_).all()
    assert not model.certificate_.converged
