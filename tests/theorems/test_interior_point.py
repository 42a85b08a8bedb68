"""The interior-point solver: what its programmes are, and that other roads meet it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from lineal import LinearClassifier, LinearRegressor
from lineal.objective import (
    L1,
    L2,
    Absolute,
    ElasticNet,
    EpsilonInsensitive,
    Hinge,
    Huber,
    ModifiedHuber,
    NoPenalty,
    Quantile,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)

MARGIN = (Hinge(), SquaredHinge(0.5), ModifiedHuber())
REGRESSION = (
    Absolute(),
    Quantile(0.2),
    EpsilonInsensitive(0.3),
    SquaredEpsilonInsensitive(0.3),
    Huber(0.7),
    Squared(),
)
PENALTIES = (NoPenalty(), L2(0.1), L1(0.5), ElasticNet(0.5, 0.5))


def _table(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4)) * [1.0, 1e3, 1e-3, 1.0]
    return X, X @ [1.0, 1e-3, 1e3, 0.0] + rng.standard_t(2, size=60)


def _fit(loss: Any, penalty: Any, X: Any, y: np.ndarray, **options: Any) -> Any:
    is_margin = loss.is_margin
    learner = LinearClassifier if is_margin else LinearRegressor
    weight = options.pop("sample_weight", None)
    target = (y > 0).astype(int) if is_margin else y
    made = learner(loss=loss, penalty=penalty, **{"solver": "interior", "tol": 1e-8, **options})
    return made.fit(X, target, sample_weight=weight)


@pytest.mark.parametrize("loss", MARGIN + REGRESSION, ids=str)
def test_a_quadratic_conjugate_is_the_conjugate(loss: Any) -> None:
    """place u + tube |u| + bend u^2 / 2 on the interval is loss*(y, u), and both are +inf outside."""
    y, u = np.meshgrid([-1.0, 1.0], np.linspace(-5, 5, 101))
    np.testing.assert_allclose(loss.quadratic_conjugate(y).value(u), loss.conjugate(y, u), atol=1e-12)


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("loss", MARGIN + REGRESSION, ids=str)
def test_every_loss_and_penalty_is_certified(loss: Any, penalty: Any) -> None:
    """A table whose columns differ by 10^6 in their units is solved to a relative gap of 1e-8."""
    assert _fit(loss, penalty, *_table()).certificate_.converged


def test_least_absolute_deviations_are_a_linear_programme() -> None:
    """Without a penalty the objective is that of the linear programme."""
    X, y = _table()
    n, A = len(y), np.column_stack([X, np.ones(len(y))])
    cost = np.append(np.zeros(5), np.ones(2 * n))
    eye = np.eye(n)
    bounds = [(None, None)] * 5 + [(0, None)] * (2 * n)
    other = linprog(cost, A_eq=np.hstack([A, eye, -eye]), b_eq=y, bounds=bounds)
    ours = _fit(Absolute(), NoPenalty(), X, y).certificate_.primal
    assert ours == pytest.approx(other.fun, rel=1e-7)


@pytest.mark.parametrize("loss", [Hinge(), EpsilonInsensitive(0.3)], ids=str)
def test_rows_and_columns_give_one_system(loss: Any) -> None:
    """With fewer rows than columns the system of rows reaches what dual ascent reaches; sparse as dense."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(20, 50)), rng.normal(size=20)
    ours, sparse = _fit(loss, L2(1.0), X, y), _fit(loss, L2(1.0), csr_array(X), y)
    other = _fit(loss, L2(1.0), X, y, solver="dual_cd")
    assert ours.certificate_.converged
    assert sparse.certificate_.converged
    assert ours.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-7)
    assert sparse.certificate_.primal == pytest.approx(ours.certificate_.primal, rel=1e-7)


@pytest.mark.parametrize("loss", [Hinge(), Quantile(0.2)], ids=str)
def test_weight_2_is_the_row_twice(loss: Any) -> None:
    """A row of weight 2 counts as two, and one of weight 0 not at all."""
    X, y = _table()
    s = np.arange(60) % 3.0
    twice = np.repeat(np.arange(60), s.astype(int))
    weighted, repeated = _fit(loss, L2(0.1), X, y, sample_weight=s), _fit(loss, L2(0.1), X[twice], y[twice])
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=1e-7)
