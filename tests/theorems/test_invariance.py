"""Small tables are solved exactly by default: what does not change a problem does not change its answer.

Seven digits of the predictions, with the default ``tol``: solvers converge quadratically there and go on
until steps gain nothing, so the order of rows, of columns, and whether a row of weight 2 is written twice
leave no trace that is printed.
"""

import numpy as np
import pytest

import lineal
from lineal.objective import (
    L2,
    Absolute,
    EpsilonInsensitive,
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
from strategies import named

N_ROWS, N_COLUMNS, DIGITS = 120, 5, 1e-7
MARGIN_LOSSES = [Log(), Hinge(), SquaredHinge(), ModifiedHuber()]
NUMBER_LOSSES = [
    Squared(), Huber(), Absolute(), Quantile(0.3), EpsilonInsensitive(0.1), SquaredEpsilonInsensitive(0.1),
]  # fmt: skip
every_loss = pytest.mark.parametrize("loss", MARGIN_LOSSES + NUMBER_LOSSES, ids=named)
number_loss = pytest.mark.parametrize("loss", NUMBER_LOSSES, ids=named)


def data(loss, n_classes=2):
    """Noisy numbers, or classes that overlap, so that a minimiser exists without a penalty."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(N_ROWS, N_COLUMNS))
    t = X @ rng.normal(size=N_COLUMNS) + rng.normal(size=N_ROWS)
    if not loss.is_margin:
        return X, t
    return X, np.digitize(t, np.quantile(t, np.arange(1, n_classes) / n_classes))


def scores(loss, X, y, X_new=None, penalty=None, sample_weight=None):
    """Of a default fit, on the rows of ``data``."""
    kind = lineal.LinearClassifier if loss.is_margin else lineal.LinearRegressor
    model = kind(loss, L2(0.5) if penalty is None else penalty).fit(X, y, sample_weight=sample_weight)
    assert model.certificate_.converged
    X_new = X if X_new is None else X_new
    return model.decision_function(X_new) if loss.is_margin else model.predict(X_new)


def assert_same(found, expected):
    """Seven digits, of the spread of what is predicted."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=DIGITS * np.abs(expected).max())


@pytest.mark.parametrize("n_classes", [2, 3])
@every_loss
def test_the_order_of_rows_leaves_no_trace(loss, n_classes):
    """A permutation of the rows gives the same model."""
    X, y = data(loss, n_classes)
    order = np.random.default_rng(1).permutation(N_ROWS)
    assert_same(scores(loss, X[order], y[order], X), scores(loss, X, y))


@pytest.mark.parametrize("n_classes", [2, 3])
@every_loss
def test_the_order_of_columns_leaves_no_trace(loss, n_classes):
    """A permutation of the columns gives the same scores."""
    X, y = data(loss, n_classes)
    turned = np.ascontiguousarray(X[:, ::-1])
    assert_same(scores(loss, turned, y), scores(loss, X, y))


@pytest.mark.parametrize("n_classes", [2, 3])
@every_loss
def test_a_row_of_weight_2_is_the_row_twice(loss, n_classes):
    """Weights of 0, 1 and 2 are rows left out, kept and repeated."""
    X, y = data(loss, n_classes)
    times = np.random.default_rng(2).integers(0, 3, N_ROWS)
    rows = np.repeat(np.arange(N_ROWS), times)
    assert_same(scores(loss, X, y, sample_weight=times), scores(loss, X[rows], y[rows], X))


@number_loss
def test_shifted_targets_shift_the_intercept(loss):
    """y + c gives the same weights and an intercept that is c larger, up to the digits of y + c."""
    X, y = data(loss)
    expected = scores(loss, X, y)
    for shift in (1e3, -1e6):
        found = scores(loss, X, y + shift) - shift
        np.testing.assert_allclose(found, expected, rtol=0, atol=DIGITS + 1e-14 * abs(shift) * 1e3)


@number_loss
def test_scaled_targets_scale_the_predictions(loss):
    """Without a penalty, and the unit of the loss scaled with them, c y gives c times the predictions."""
    X, y = data(loss)
    for c in (1e-3, 1e4):
        scaled = {
            "Huber": lambda c: Huber(delta=c),
            "EpsilonInsensitive": lambda c: EpsilonInsensitive(0.1 * c),
            "SquaredEpsilonInsensitive": lambda c: SquaredEpsilonInsensitive(0.1 * c),
        }.get(type(loss).__name__, lambda _, loss=loss: loss)(c)
        found = scores(scaled, X, c * y, penalty=NoPenalty()) / c
        assert_same(found, scores(loss, X, y, penalty=NoPenalty()))


@every_loss
def test_shifted_columns_change_the_intercept_alone(loss):
    """Columns that lie 1e4 deviations from 0 give the same scores: a free intercept absorbs the shift."""
    X, y = data(loss)
    far = X + 1e4 * np.arange(1, N_COLUMNS + 1)
    np.testing.assert_allclose(scores(loss, far, y), scores(loss, X, y), rtol=0, atol=1e-6)


@every_loss
def test_units_of_columns_do_not_matter_without_a_penalty(loss):
    """Columns in other units give the same scores."""
    X, y = data(loss)
    units = 10.0 ** np.array([-6, -3, 0, 3, 6])
    assert_same(scores(loss, X * units, y, penalty=NoPenalty()), scores(loss, X, y, penalty=NoPenalty()))
