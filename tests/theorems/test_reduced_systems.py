"""Interior-point systems from the Gram matrices of few rows: they lead where those of all rows do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from lineal import LinearClassifier, LinearRegressor
from lineal.objective import (
    L1,
    L2,
    ElasticNet,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Intercept,
    NoPenalty,
    Problem,
    Quantile,
)
from lineal.objective.linear_maps import native_dense
from lineal.solvers import interior


def _columns(n: int = 700, d: int = 44) -> tuple[np.ndarray, np.ndarray]:
    """Columns in different units, a few rows far out, and scores with noise."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, d))
    z = X[:, :6] @ rng.normal(size=6) + rng.normal(size=n)
    X[:5] *= 50.0
    return X * 10.0 ** rng.integers(-2, 3, size=d), z


def _codes(n: int = 700, n_levels: int = 4) -> tuple[csr_array, np.ndarray]:
    """Rows of fourteen ones: categories as columns of their own, some of them rare."""
    rng = np.random.default_rng(2)
    levels = np.minimum(rng.geometric(0.5, size=(n, 14)) - 1, n_levels - 1)
    columns = (np.arange(14) * n_levels + levels).ravel()
    X = csr_array((np.ones(14 * n), columns, 14 * np.arange(n + 1)), shape=(n, 14 * n_levels))
    return X, X @ rng.normal(size=14 * n_levels) + rng.normal(size=n)


def _fit(loss: Any, penalty: Any, X: Any, z: np.ndarray, n_classes: int, **options: Any) -> Any:
    options = {"penalty": penalty, "solver": "interior", "tol": 1e-8, **options}
    if n_classes == 0:
        return LinearRegressor(loss=loss, **options).fit(X, z)
    levels = np.quantile(z, np.linspace(0, 1, n_classes + 1)[1:-1])
    return LinearClassifier(loss=loss, **options).fit(X, np.searchsorted(levels, z))


PENALTIES = (NoPenalty(), L2(1e-3), L2(1.0), L1(0.5), ElasticNet(0.5, 0.5))
LOSSES = ((Hinge(), 2), (Hinge(), 4), (Quantile(0.3), 0), (EpsilonInsensitive(0.2), 0), (Huber(0.7), 0))


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize(("loss", "n_classes"), LOSSES, ids=str)
@pytest.mark.parametrize("table", [_columns, _codes])
def test_systems_of_few_rows_lead_where_those_of_all_rows_do(
    table: Any, loss: Any, n_classes: int, penalty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, z = table()
    made: list[Any] = []
    plain = interior._plain_gram

    def make(problem: Any) -> Any:
        made.append(plain(problem))
        return made[-1]

    monkeypatch.setattr(interior, "_plain_gram", make)
    few = _fit(loss, penalty, X, z, n_classes)
    assert made
    is_none = n_classes > 2 and (table is _codes or penalty == NoPenalty())  # a joint loss of rare levels
    assert (made[0] is None) == is_none
    monkeypatch.setattr(interior, "_plain_gram", lambda problem: None)
    every = _fit(loss, penalty, X, z, n_classes)
    assert few.certificate_.converged
    assert every.certificate_.converged
    assert few.certificate_.primal == pytest.approx(every.certificate_.primal, rel=2e-8)
    if penalty == L2(1.0):
        np.testing.assert_allclose(few.predict(X), every.predict(X), atol=1e-3 * np.abs(z).max())


@pytest.mark.parametrize("n_classes", [2, 4])
def test_threads_change_no_bit_and_weight_2_is_the_row_twice(n_classes: int) -> None:
    X, z = _columns(n=1500)
    one, three = (_fit(Hinge(), L2(0.1), X, z, n_classes, n_threads=threads) for threads in (1, 3))
    np.testing.assert_array_equal(one.coef_, three.coef_)
    s = np.arange(1500) % 3.0
    twice, y = np.repeat(np.arange(1500), s.astype(int)), z > 0
    model = LinearClassifier(loss=Hinge(), penalty=L2(0.1), solver="interior", tol=1e-9)
    weighted = model.fit(X, y, sample_weight=s).certificate_.primal
    assert weighted == pytest.approx(model.fit(X[twice], y[twice]).certificate_.primal, rel=1e-7)


def test_a_run_goes_on_from_its_state() -> None:
    """Nine steps, and the last five of them in a run that was restored, are the same bits."""
    X, z = _columns()
    target = np.where(z > 0, 1.0, -1.0)[:, None]
    rows = native_dense(np.ascontiguousarray(X), 1)
    problem = Problem.of_rows(rows, target, np.ones(len(X)), Hinge(), L2(0.1), Intercept.FREE, 1)
    programme = interior._Programme(problem)
    assert programme.plain is not None
    whole, cut, restored = (programme.begin(0) for _ in range(3))
    whole.run(9)
    cut.run(4)
    restored.restore(cut.state())
    restored.run(5)
    np.testing.assert_array_equal(whole.state(), restored.state())
