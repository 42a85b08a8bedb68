"""Small tables are solved exactly by default: what does not change a problem does not change its answer.

Seven digits of the predictions, with the default ``tol``: solvers converge quadratically there and go on
until steps gain nothing, so the order of rows, of columns, and whether a row of weight 2 is written twice
leave no trace that is printed.
"""

import numpy as np
import pytest

import lineal
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
from strategies import named

N_ROWS, N_COLUMNS, DIGITS = 120, 5, 1e-7
MARGIN_LOSSES = [Log(), Hinge(), SquaredHinge(), ModifiedHuber()]
NUMBER_LOSSES = [
    Squared(), Huber(), Absolute(), Quantile(0.3), EpsilonInsensitive(0.1), SquaredEpsilonInsensitive(0.1),
]  # fmt: skip
PENALTIES = {
    "L2": L2(0.5),
    "L1": L1(0.5),
    "ElasticNet": ElasticNet(0.3, 0.3),
    "GroupL2": GroupL2([0, 1, 1, 1, 0], 0.5),  # which reads the same from behind
    "none": NoPenalty(),
}
every_penalty = pytest.mark.parametrize("penalty", PENALTIES.values(), ids=PENALTIES)
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
    if not loss.is_margin:
        return model.predict(X_new)
    found = model.decision_function(X_new)
    # Of joint scores only differences say anything: columns moved far move all of them by the same.
    return found - found.mean(axis=1, keepdims=True) if found.ndim == 2 and loss.joint is not None else found


def assert_same(found, expected):
    """Seven digits, of the spread of what is predicted."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=DIGITS * np.abs(expected).max())


@pytest.mark.parametrize("n_classes", [2, 3])
@every_penalty
@every_loss
def test_the_order_of_rows_leaves_no_trace(loss, penalty, n_classes):
    """A permutation of the rows gives the same model."""
    X, y = data(loss, n_classes)
    order = np.random.default_rng(1).permutation(N_ROWS)
    assert_same(scores(loss, X[order], y[order], X, penalty), scores(loss, X, y, penalty=penalty))


@pytest.mark.parametrize("n_classes", [2, 3])
@every_penalty
@every_loss
def test_the_order_of_columns_leaves_no_trace(loss, penalty, n_classes):
    """A permutation of the columns gives the same scores."""
    X, y = data(loss, n_classes)
    turned = np.ascontiguousarray(X[:, ::-1])
    assert_same(scores(loss, turned, y, penalty=penalty), scores(loss, X, y, penalty=penalty))


@pytest.mark.parametrize("n_classes", [2, 3])
@every_penalty
@every_loss
def test_a_row_of_weight_2_is_the_row_twice(loss, penalty, n_classes):
    """Weights of 0, 1 and 2 are rows left out, kept and repeated."""
    X, y = data(loss, n_classes)
    times = np.random.default_rng(2).integers(0, 3, N_ROWS)
    rows = np.repeat(np.arange(N_ROWS), times)
    weighted = scores(loss, X, y, penalty=penalty, sample_weight=times)
    assert_same(weighted, scores(loss, X[rows], y[rows], X, penalty))


@every_penalty
@number_loss
def test_shifted_targets_shift_the_intercept(loss, penalty):
    """y + c gives the same weights and an intercept that is c larger, 1e9 away as well."""
    X, y = data(loss)
    y = np.round(y * 2**10) / 2**10  # has all its digits beside 2^30, too
    expected = scores(loss, X, y, penalty=penalty)
    for shift in (2.0**10, -(2.0**20), 2.0**30):
        found = scores(loss, X, y + shift, penalty=penalty) - shift
        # Predictions near 2^30 are multiples of 2^-23.
        np.testing.assert_allclose(found, expected, rtol=0, atol=4 * DIGITS + abs(shift) * 2.0**-52)


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


@every_penalty
@every_loss
def test_shifted_columns_change_the_intercept_alone(loss, penalty):
    """Columns that lie 1e6 deviations from 0 give the same scores: a free intercept absorbs the shift."""
    X, y = data(loss)
    X = np.round(X * 2**10) / 2**10
    far = X + 2.0**20 * np.arange(1, N_COLUMNS + 1)
    # Scores are sums of products of some 10^7, whose last digits are 10^-9.
    found, expected = scores(loss, far, y, penalty=penalty), scores(loss, X, y, penalty=penalty)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


@every_loss
def test_units_of_columns_do_not_matter_without_a_penalty(loss):
    """Columns in other units give the same scores."""
    X, y = data(loss)
    units = 10.0 ** np.array([-8, -4, 0, 4, 8])
    assert_same(scores(loss, X * units, y, penalty=NoPenalty()), scores(loss, X, y, penalty=NoPenalty()))
