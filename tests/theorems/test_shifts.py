"""Nothing but the intercept changes when targets are shifted: not the weights, not what is proved."""

import numpy as np
import pytest

from lineal import Lasso, LinearRegressor, verify
from lineal.objective import (
    L1,
    L2,
    Absolute,
    ElasticNet,
    EpsilonInsensitive,
    Huber,
    NoPenalty,
    Quantile,
    Squared,
    SquaredEpsilonInsensitive,
)

LOSSES = [
    Squared(),
    Huber(),
    Absolute(),
    Quantile(0.3),
    EpsilonInsensitive(0.1),
    SquaredEpsilonInsensitive(0.1),
]
PENALTIES = [L2(1.0), L1(5.0), ElasticNet(1.0, 1.0), NoPenalty()]


def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 5))
    return X, X @ rng.normal(size=5) + rng.normal(size=100)


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_certificates_do_not_change_when_y_is_shifted(loss, penalty):
    """y + 1e6 and y + 1e9 are certified at the objective of y, up to the tolerance and the digits of y."""
    X, y = data()
    known = LinearRegressor(loss, penalty).fit(X, y)
    for offset, digits in ((1e6, 1e-8), (1e9, 1e-5)):
        model = LinearRegressor(loss, penalty).fit(X, y + offset)
        said = model.certificate_
        assert said.converged, said
        assert said.primal == pytest.approx(known.certificate_.primal, rel=2e-4 + digits)
        assert verify(model, X, y + offset).converged
        assert model.intercept_ - offset == pytest.approx(known.intercept_, abs=0.2)


def test_far_targets_do_not_make_zeros_certified():
    """What explains next to nothing of y beside its offset still is not called nearly optimal."""
    X, y = data()
    near, far = (Lasso(alpha=0.01).fit(X, each) for each in (y, y + 1e9))
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-3)
    assert far.certificate_.relative_gap <= 1e-4


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_a_constant_target_is_certified_wherever_it_lies(loss):
    """Where a constant explains all, rounding of it is the least that there is to compare with."""
    X, _ = data()
    # Inside a tube many constants cost nothing, and the edge of it, once rounded, a little.
    for constant in (0.0, 3.25) if hasattr(loss, "epsilon") and loss.epsilon else (0.0, 3.25, -1e9):
        model = LinearRegressor(loss, L2(1.0)).fit(X, np.full(100, constant))
        assert model.certificate_.converged, model.certificate_
        np.testing.assert_allclose(model.coef_, 0.0, atol=1e-6 * max(1.0, abs(constant)))
